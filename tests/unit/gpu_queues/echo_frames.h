/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For the tests of engines/icmpecho.h: a stream to judge frames with, an Ethernet header made by
 * hand, and a checksum that shares nothing with csum.h (big-endian words, one's complement sum in
 * 64 bits).
 */
#ifndef ECHO_FRAMES_H
#define ECHO_FRAMES_H

#include "fake_nic.h"

#include "gpu_queues/engines/icmpecho.h"

#define ROOM 2046u

struct bench {
	struct fake_nic n;
	struct crl_stream s;
	struct crl_pkt pkt;
	CRL_ALIGNAS(16) uint8_t buf[2048];
};

static const uint8_t peer[6] = {0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
static const uint8_t ours[6] = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55};

static inline void
open_bench(struct bench *b)
{
	fake_open(&b->n, 2, 2, 64, false);
	memset(&b->s, 0, sizeof(b->s));
	b->s.rx = b->s.tx = &b->n.q;
	memset(b->buf, 0xa5, sizeof(b->buf));
}

/* Judges a frame; what it became is at b->pkt.data. */
static inline enum crl_verdict
judge(struct bench *b, const uint8_t *frame, uint32_t len)
{
	memset(&b->pkt, 0, sizeof(b->pkt));
	b->pkt.data = b->buf + 2;
	b->pkt.len = len;
	b->pkt.room = ROOM;
	memcpy(b->pkt.data, frame, len);
	return crl_icmpecho_packet(&b->s, &b->pkt);
}

/* The checksum of a message, with an optional IPv6 pseudo header: 0 when it is right. */
static inline uint16_t
check(const uint8_t *p, uint32_t len, const uint8_t *v6)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < len; i++)
		sum += (uint64_t)p[i] << (i % 2 ? 0 : 8);
	for (i = 8; v6 && i < 40; i++)
		sum += (uint64_t)v6[i] << (i % 2 ? 0 : 8);
	if (v6)
		sum += len + 58;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static inline void
put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Ethernet header with tags VLAN tags; returns its length. */
static inline uint32_t
eth(uint8_t *f, const uint8_t *dst, uint32_t tags, uint16_t type)
{
	uint32_t at = 12, i;

	memcpy(f, dst, 6);
	memcpy(f + 6, peer, 6);
	for (i = 0; i < tags; i++) {
		put16(f + at, i + 1 < tags ? 0x88a8 : 0x8100);
		put16(f + at + 2, (uint16_t)(100 + i));
		at += 4;
	}
	put16(f + at, type);
	return at + 2;
}

#endif /* ECHO_FRAMES_H */
