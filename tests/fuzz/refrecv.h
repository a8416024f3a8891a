/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a receive queue must do with a frame, worked out slowly: which bytes of the driver's memory
 * change (in copies of the regions), which CQE is written, what becomes of the queue. `off`: the
 * input went where this does not follow.
 */
#ifndef CRL_FUZZ_REFRECV_H
#define CRL_FUZZ_REFRECV_H

#include "dprig.h"
#include "refnet.h"

#define RR_CQES 2048u

struct rr_cqe {
	uint8_t opcode, syndrome;
	uint16_t index;
	uint32_t len, info, tag;
};

struct rr {
	struct scx_dp_rq q;
	uint8_t state;
	uint16_t ci, pi;
	bool off, failed;
	struct rr_cqe cqe[RR_CQES];
	uint32_t nr_cqes, compared, consumed;
	uint8_t *shadow[RIG_KEYS];
};

static inline void
rr_cqe(struct rr *f, uint8_t opcode, uint8_t syndrome, uint32_t len)
{
	struct rr_cqe *c = &f->cqe[f->nr_cqes++ % RR_CQES];

	memset(c, 0, sizeof(*c));
	c->opcode = opcode;
	c->syndrome = syndrome;
	c->index = f->ci;
	c->len = len;
	f->off |= f->nr_cqes >= RR_CQES;
}

/* Writable memory by key and address: its copy, or NULL. */
static inline uint8_t *
rr_bytes(struct rr *f, struct rig *r, uint32_t key, uint64_t at, uint32_t len)
{
	for (uint32_t k = 0; k < RIG_KEYS; k++) {
		const struct scx_dp_mkey *m = &r->key[k];
		bool there = m->extents == NULL;

		if (m->key == 0 || m->key != key)
			continue;
		if (!m->local_write || at < m->iova || at - m->iova > m->bytes ||
			len > m->bytes - (at - m->iova))
			return NULL;
		for (uint32_t i = 0; !there && i < m->extents->nr; i++)
			there = at >= m->extents->e[i].from &&
				at - m->extents->e[i].from <= m->extents->e[i].bytes &&
				len <= m->extents->e[i].bytes - (at - m->extents->e[i].from);
		return there ? f->shadow[k] + (at - m->iova) : NULL;
	}
	return NULL;
}

/* The record, if it can be believed: no more than the ring, and nothing taken back. False: not. */
static inline bool
rr_record(struct rr *f)
{
	uint16_t rec = (uint16_t)ref_be32((const uint8_t *)&f->q.dbrec[CRL_DBREC_RCV_WORD]);
	uint16_t posted = (uint16_t)(rec - f->ci), seen = (uint16_t)(f->pi - f->ci);

	if (posted > 1u << f->q.log_depth || posted < seen)
		return false;
	f->pi = rec;
	return true;
}

static inline void
rr_fail(struct rr *f, uint8_t syndrome)
{
	rr_cqe(f, CRL_CQE_RESP_ERR, syndrome, 0);
	f->state = SCX_WQ_ERR;
	f->failed = true;
	f->ci++;
	(void)rr_record(f);
	for (; f->q.flush_in_error && f->ci != f->pi; f->ci++)
		rr_cqe(f, CRL_CQE_RESP_ERR, CRL_SYND_WR_FLUSH, 0);
}

/* The CRC of IEEE 802.3, a bit at a time. */
static inline uint32_t
rr_crc(const uint8_t *p, uint32_t n)
{
	uint32_t crc = 0xffffffffu;

	for (uint32_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (uint32_t b = 0; b < 8; b++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* The frame into the list of the WQE. 0, or the syndrome that it fails with. */
static inline uint8_t
rr_scatter(struct rr *f, struct rig *r, const uint8_t *wqe, const uint8_t *frame, uint32_t len,
	bool plain)
{
	uint32_t nr = 1u << (f->q.log_stride - 4), done = 0;

	for (uint32_t i = 0; i < nr; i++, wqe += 16) {
		uint32_t room = ref_be32(wqe), n;
		uint8_t *to;

		if (ref_be32(wqe + 4) == 0x100 && room == 0)
			break;
		if (f->q.start_padding)
			room &= 0x7fffffffu;
		if (room & 0x80000000u)
			return CRL_SYND_LOCAL_QP_OP;
		n = room < len - done ? room : len - done;
		if (n == 0)
			continue;
		to = rr_bytes(f, r, ref_be32(wqe + 4), ref_be64(wqe + 8), n);
		if (to == NULL)
			return CRL_SYND_LOCAL_PROT;
		memcpy(to, frame + done, n);
		done += n;
		if (plain && done == len)
			return 0; /* what follows the entry that took it all is not looked at */
	}
	return done == len ? 0 : CRL_SYND_LOCAL_LENGTH;
}

static inline void
rr_deliver(struct rr *f, struct rig *r, const uint8_t *ring, const uint8_t *data, uint32_t len)
{
	static uint8_t frame[SCX_DP_FRAME_MAX + 8];
	const uint8_t *wqe =
		ring + ((size_t)(f->ci & ((1u << f->q.log_depth) - 1u)) << f->q.log_stride);
	struct ref_net h = ref_parse(data, len);
	bool strip = f->q.vlan_strip && h.tag_type == 0x8100, plain;
	uint32_t n = len, crc = rr_crc(data, f->q.scatter_fcs ? len : 0);
	uint8_t bad;

	memcpy(frame, data, len);
	if (strip) {
		memcpy(frame + 12, data + 16, len - 16);
		n -= 4;
	}
	for (uint32_t i = 0; i < 4 && f->q.scatter_fcs; i++)
		frame[n++] = (uint8_t)(crc >> 8 * i);
	plain = !strip && !f->q.scatter_fcs && len <= ref_be32(wqe) && !(wqe[0] & 0x80);
	bad = rr_scatter(f, r, wqe, frame, n, plain);
	if (bad != 0) {
		rr_fail(f, bad);
		return;
	}
	rr_cqe(f, CRL_CQE_RESP_SEND, 0, n);
	f->cqe[(f->nr_cqes - 1) % RR_CQES].tag = strip ? 1u << 16 | h.tci : 0;
	f->ci++;
}

static inline void
rr_frame(struct rr *f, struct rig *r, const uint8_t *ring, const uint8_t *data, uint32_t len)
{
	if (!r->dp->link_up || len < 14 || len > r->dp->frame_max || f->state != SCX_WQ_RDY)
		return;
	if (f->ci == f->pi && !rr_record(f)) {
		f->state = SCX_WQ_ERR;
		return;
	}
	if (f->ci != f->pi)
		rr_deliver(f, r, ring, data, len);
}

static inline void
rr_compare(struct rr *f, struct rig *r, const uint8_t *ring, uint32_t log, bool memory)
{
	f->off |= f->nr_cqes - f->consumed > 1u << log;
	for (; !f->off && f->compared < f->nr_cqes; f->compared++) {
		const struct rr_cqe *c = &f->cqe[f->compared];
		const uint8_t *e = ring + (size_t)(f->compared & ((1u << log) - 1)) * 64;

		FZ_MUST(e[63] >> 4 == c->opcode && (e[63] & 1) == (f->compared >> log & 1),
			"CQE %u: 0x%02x, want %x", f->compared, e[63], c->opcode);
		FZ_MUST(ref_be16(e + 60) == c->index, "CQE %u: of %u, want %u", f->compared,
			ref_be16(e + 60), c->index);
		if (c->opcode == CRL_CQE_RESP_ERR) {
			FZ_MUST(e[55] == c->syndrome, "CQE %u: syndrome %u, want %u", f->compared,
				e[55], c->syndrome);
			continue;
		}
		FZ_MUST(ref_be32(e + 0x2c) == c->len, "CQE %u: %u bytes, want %u", f->compared,
			ref_be32(e + 0x2c), c->len);
		FZ_MUST((e[0x1d] & 1) == c->tag >> 16 &&
				(c->tag == 0 || ref_be16(e + 0x1e) == (c->tag & 0xffff)),
			"CQE %u: tag", f->compared);
	}
	for (uint32_t k = 0; k < RIG_KEYS; k++) {
		if (memory && !f->off)
			FZ_MUST(memcmp(f->shadow[k], r->region[k], r->bytes[k]) == 0, "region %u",
				k);
		else
			memcpy(f->shadow[k], r->region[k], r->bytes[k]);
	}
}

#endif /* CRL_FUZZ_REFRECV_H */
