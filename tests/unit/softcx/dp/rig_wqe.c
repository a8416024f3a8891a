/* SPDX-License-Identifier: BSD-3-Clause */
/* See rig.h: WQEs byte by byte, doorbells, and frames. */
#include "rig.h"

uint8_t *
rig_wqebb(struct rig_sq *sq, uint32_t off)
{
	return sq->ring + (((size_t)sq->pi * 64 + off) & (((size_t)64 << sq->log) - 1));
}

void
rig_put(struct rig_sq *sq, uint32_t off, const void *bytes, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		*rig_wqebb(sq, off + i) = ((const uint8_t *)bytes)[i];
}

void
rig_put32(struct rig_sq *sq, uint32_t off, uint32_t v)
{
	rig_put_be32(rig_wqebb(sq, off), v);
}

void
rig_ctrl(struct rig_sq *sq, uint8_t opcode, uint32_t ds, uint8_t ce)
{
	uint32_t i;

	for (i = 0; i < ((ds + 3) / 4 ? (ds + 3) / 4 : 1); i++)
		memset(rig_wqebb(sq, i * 64), 0, 64);
	rig_put32(sq, 0, (uint32_t)sq->pi << 8 | opcode);
	rig_put32(sq, 4, sq->sqn << 8 | ds);
	rig_put32(sq, 8, (uint32_t)ce << 2);
}

void
rig_eth(struct rig_sq *sq, uint8_t cs_flags, uint16_t inline_word)
{
	rig_put32(sq, 20, (uint32_t)cs_flags << 24);
	rig_put32(sq, 28, (uint32_t)inline_word << 16);
}

void
rig_dseg(struct rig_sq *sq, uint32_t off, uint32_t len, uint32_t key, uint64_t addr)
{
	rig_put32(sq, off, len);
	rig_put32(sq, off + 4, key);
	rig_put32(sq, off + 8, (uint32_t)(addr >> 32));
	rig_put32(sq, off + 12, (uint32_t)addr);
}

static uint16_t last_index; /* of the WQE posted last, for the doorbell */

void
rig_post(struct rig_sq *sq, uint32_t ds)
{
	last_index = sq->pi;
	sq->pi = (uint16_t)(sq->pi + (ds ? (ds + 3) / 4 : 1));
}

void
rig_ring(struct rig *r, struct rig_sq *sq)
{
	uint8_t db[8];

	rig_put_be32((uint8_t *)&sq->rec[1], sq->pi);
	rig_put_be32(db, (uint32_t)last_index << 8 | 0x0a);
	rig_put_be32(db + 4, sq->sqn << 8 | 3);
	memcpy(r->uar + RIG_PAGE * 4096 + 0x800, db, 8);
}

void
rig_send(struct rig_sq *sq, uint32_t off, uint32_t len, uint8_t ce, uint8_t cs_flags)
{
	rig_ctrl(sq, 0x0a, 3, ce);
	rig_eth(sq, cs_flags, 0);
	rig_dseg(sq, 32, len, RIG_KEY, RIG_IOVA + off);
	rig_post(sq, 3);
}

void
rig_empw_inline(struct rig_sq *sq, const uint8_t *frame, uint32_t len, uint8_t ce)
{
	uint32_t ds = 2 + (4 + len + 15) / 16;

	rig_ctrl(sq, 0x29, ds, ce);
	rig_eth(sq, 0, 0);
	rig_put32(sq, 32, 0x80000000u | len);
	rig_put(sq, 36, frame, len);
	rig_post(sq, ds);
}

void
rig_rq_post(struct rig_rq *rq, uint32_t base, uint32_t size, uint32_t nr)
{
	uint32_t i, mask = (1u << rq->log) - 1;

	for (i = 0; i < nr; i++, rq->pi++) {
		uint8_t *w = rq->ring + ((size_t)(rq->pi & mask) << rq->log_stride);
		uint64_t at = RIG_IOVA + base + (uint64_t)(rq->pi & mask) * size;

		rig_put_be32(w, size);
		rig_put_be32(w + 4, RIG_KEY);
		rig_put_be32(w + 8, (uint32_t)(at >> 32));
		rig_put_be32(w + 12, (uint32_t)at);
	}
	rig_put_be32(
		(uint8_t *)&rq->rec[0], 0x5a0000u | rq->pi); /* high bits as net_mlx5 leaves them */
}

uint16_t
rig_sum16(const uint8_t *p, uint32_t n, uint32_t start)
{
	uint32_t s = start, i;

	for (i = 0; i + 1 < n; i += 2)
		s += (uint32_t)p[i] << 8 | p[i + 1];
	if (n & 1)
		s += (uint32_t)p[n - 1] << 8;
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)s;
}

uint8_t *
rig_udp4(uint8_t *f, uint32_t len, uint16_t sport, uint16_t dport)
{
	static const uint8_t eth[14] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
	static const uint8_t ip[20] = {
		0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2};
	uint32_t i, udp = len - 34;
	uint16_t c;

	memcpy(f, eth, 14);
	memcpy(f + 14, ip, 20);
	f[16] = (uint8_t)((len - 14) >> 8);
	f[17] = (uint8_t)(len - 14);
	c = (uint16_t)~rig_sum16(f + 14, 20, 0);
	f[24] = (uint8_t)(c >> 8);
	f[25] = (uint8_t)c;
	f[34] = (uint8_t)(sport >> 8);
	f[35] = (uint8_t)sport;
	f[36] = (uint8_t)(dport >> 8);
	f[37] = (uint8_t)dport;
	f[38] = (uint8_t)(udp >> 8);
	f[39] = (uint8_t)udp;
	f[40] = f[41] = 0;
	for (i = 42; i < len; i++)
		f[i] = (uint8_t)(i * 7 + sport);
	c = (uint16_t)~rig_sum16(f + 34, udp, rig_sum16(f + 26, 8, 17 + udp));
	if (c == 0)
		c = 0xffff;
	f[40] = (uint8_t)(c >> 8);
	f[41] = (uint8_t)c;
	return f;
}
