/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame of the soak: Ethernet, IPv4, UDP, then a CRC of all that follows, the number within its
 * flow, flow, length, and words that depend on the number. Made in place by the sender, judged in
 * place by the receiver. Frames begin SOAK_HEADROOM bytes after a multiple of 64.
 */
#ifndef CRL_SOAK_FRAME_H
#define CRL_SOAK_FRAME_H

#include <string.h>

#include <rte_hash_crc.h>

#include "soak.h"

#define SOAK_FILL_MUL  0x9e3779b97f4a7c15ull
#define SOAK_FILL_STEP 0xbf58476d1ce4e5b9ull

struct soak_mark {
	uint32_t crc; /* of the bytes from number to the frame's end */
	uint64_t number;
	uint16_t flow, len;
} __attribute__((packed));

_Static_assert(SOAK_HDR_BYTES + sizeof(struct soak_mark) <= SOAK_FRAME_MIN, "the shortest frame");

static inline void
soak_put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline uint32_t
soak_get16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t
soak_fold(uint32_t sum)
{
	sum = (sum & 0xffffu) + (sum >> 16);
	return (sum & 0xffffu) + (sum >> 16);
}

/* header has zeros for lengths, and for the IP checksum the sum of all its other words. */
static inline void
soak_header(uint8_t *p, const uint8_t *header, uint32_t len)
{
	memcpy(p, header, SOAK_HDR_BYTES);
	soak_put16(p + 16, len - 14u);
	soak_put16(p + 24, ~soak_fold(soak_get16(header + 24) + len - 14u));
	soak_put16(p + 38, len - 34u);
}

static inline uint32_t
soak_crc(const uint8_t *p, uint32_t len)
{
	const uint32_t from = SOAK_HDR_BYTES + offsetof(struct soak_mark, number);

	return rte_hash_crc(p + from, len - from, 0xffffffffu);
}

static inline void
soak_frame_make(uint8_t *p, const uint8_t *header, uint16_t flow, uint64_t number, uint32_t len)
{
	struct soak_mark m = {.number = number, .flow = flow, .len = (uint16_t)len};
	uint64_t v = number * SOAK_FILL_MUL;
	uint32_t at = SOAK_HDR_BYTES + sizeof(m);

	soak_header(p, header, len);
	memcpy(p + SOAK_HDR_BYTES, &m, sizeof(m));
	for (; at + 8u <= len; at += 8u, v += SOAK_FILL_STEP)
		memcpy(p + at, &v, 8);
	memcpy(p + at, &v, len - at);
	m.crc = soak_crc(p, len);
	memcpy(p + SOAK_HDR_BYTES, &m.crc, sizeof(m.crc));
}

/* Whether every byte is as its sender made it; *number: which frame of the flow it is. */
static inline bool
soak_frame_check(
	const uint8_t *p, uint32_t len, const uint8_t *header, uint16_t flow, uint64_t *number)
{
	uint8_t wanted[SOAK_HDR_BYTES];
	struct soak_mark m;

	if (len < SOAK_FRAME_MIN)
		return false;
	memcpy(&m, p + SOAK_HDR_BYTES, sizeof(m));
	*number = m.number;
	soak_header(wanted, header, len);
	return m.len == len && m.flow == flow && memcmp(p, wanted, sizeof(wanted)) == 0 &&
	       soak_crc(p, len) == m.crc;
}

#endif /* CRL_SOAK_FRAME_H */
