/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of packets in another way than gpu_queues has: a byte at a time, for models of packet
 * functions. */
#ifndef BYTES_H
#define BYTES_H

#include <stdint.h>

static inline uint32_t
be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static inline void
put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* RFC 1071, of bytes in their order, and words before them. */
static inline uint32_t
sum16(uint32_t sum, const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i + 1u < len; i += 2u)
		sum += be16(p + i);
	if (len & 1u)
		sum += (uint32_t)p[len - 1u] << 8;
	while (sum >> 16)
		sum = (sum & 0xffffu) + (sum >> 16);
	return sum;
}

#endif /* BYTES_H */
