/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a send queue must do, worked out slowly from what lies in its ring: the frames that leave,
 * in order and byte for byte, and the CQEs with their syndromes. One queue with one CQ. `off` says
 * that the input went where this does not follow; then nothing is compared any more.
 */
#ifndef CRL_FUZZ_REFSEND_H
#define CRL_FUZZ_REFSEND_H

#include "dprig.h"
#include "refnet.h"

#define REF_SQN	  0x30007u
#define REF_CQN	  0x10003u
#define REF_PAGE  1u
#define REF_CQES  1024u
#define REF_FRAME (SCX_DP_FRAME_MAX + 4u)

struct ref_cqe {
	uint8_t opcode, wqe_opcode, syndrome;
	uint16_t index;
};

struct ref {
	struct scx_dp_sq q;
	uint8_t state;
	uint16_t ci, pi;
	bool told, off;
	struct rig_sent frame[RIG_WIRE];
	uint32_t nr_frames;
	struct ref_cqe cqe[REF_CQES];
	uint32_t nr_cqes, compared, consumed; /* all since the queue was made */
	uint32_t sent, completed;	      /* compared and the same, for statistics */
};

/* The WQE that is looked at. */
struct ref_wqe {
	uint8_t w[CRL_WQE_DS_MAX * 16];
	uint32_t bytes, index;
	uint8_t op, ce;
};

static inline void
ref_begin(struct ref *f, const struct scx_dp_sq *q)
{
	memset(f, 0, offsetof(struct ref, frame));
	f->q = *q;
	f->state = SCX_WQ_RDY;
	f->nr_frames = f->nr_cqes = f->compared = f->consumed = 0;
}

static inline void
ref_cqe(struct ref *f, uint8_t opcode, const struct ref_wqe *w, uint8_t syndrome)
{
	struct ref_cqe *c = &f->cqe[f->nr_cqes % REF_CQES];

	c->opcode = opcode;
	c->wqe_opcode = w->op;
	c->index = (uint16_t)w->index;
	c->syndrome = syndrome;
	f->nr_cqes++;
}

static inline void
ref_frames_forget(struct ref *f)
{
	for (uint32_t i = 0; i < f->nr_frames; i++)
		free(f->frame[i].data);
	f->nr_frames = 0;
}

static inline void
ref_frame(struct ref *f, struct rig *r, const uint8_t *data, uint32_t len, uint32_t cs)
{
	uint32_t out = len < 60 ? 60 : len;
	struct rig_sent *s = &f->frame[f->nr_frames];

	if (f->nr_frames == RIG_WIRE) {
		f->off = true;
		return;
	}
	s->data = calloc(1, out);
	FZ_MUST(s->data != NULL, "memory");
	memcpy(s->data, data, len);
	ref_insert(s->data, len, cs & 0x40, cs & 0x80);
	s->len = out;
	if (out > r->dp->frame_max)
		free(s->data); /* the port's MTU does not let it pass, the WQE is done */
	else
		f->nr_frames++;
}

/* Bytes by key and address. NULL: not the queue's to read. */
static inline const uint8_t *
ref_bytes(struct rig *r, uint32_t key, uint64_t at, uint32_t len)
{
	for (uint32_t k = 0; k < RIG_KEYS; k++) {
		const struct scx_dp_mkey *m = &r->key[k];

		if (m->key == 0 || m->key != key)
			continue;
		if (at < m->iova || at - m->iova > m->bytes || len > m->bytes - (at - m->iova))
			return NULL;
		return r->region[k] + (at - m->iova);
	}
	return NULL;
}

/* A segment at off, appended at to. 0, or a syndrome; *next is where the one after it starts. */
static inline uint8_t
ref_segment(struct rig *r, const struct ref_wqe *w, uint32_t off, uint8_t *to, uint32_t *len,
	uint32_t most, uint32_t *next)
{
	uint32_t n = ref_be32(w->w + off);
	const uint8_t *data;

	if (n & 0x80000000u) {
		n &= 0x7fffffffu;
		if (n > w->bytes - off - 4)
			return CRL_SYND_LOCAL_QP_OP;
		data = w->w + off + 4;
		*next = off + (4 + n + 15) / 16 * 16;
	} else {
		data = n == 0 ? NULL
			      : ref_bytes(r, ref_be32(w->w + off + 4), ref_be64(w->w + off + 8), n);
		if (data == NULL)
			return CRL_SYND_LOCAL_PROT;
		*next = off + 16;
	}
	*len = n;
	if (n > most)
		return CRL_SYND_LOCAL_LENGTH;
	memcpy(to, data, n);
	return 0;
}

static inline uint8_t
ref_empw(struct ref *f, struct rig *r, const struct ref_wqe *w)
{
	static uint8_t frame[REF_FRAME];
	uint32_t cs = w->w[20], len;

	if (!f->q.allow_mpw || ref_be16(w->w + 28) != 0 || f->q.min_inline_mode != 0)
		return CRL_SYND_LOCAL_QP_OP;
	for (uint32_t off = 32; off < w->bytes;) {
		uint8_t bad = ref_segment(r, w, off, frame, &len, SCX_DP_FRAME_MAX, &off);

		if (bad != 0)
			return bad;
		if (len < 14)
			return CRL_SYND_LOCAL_LENGTH;
		ref_frame(f, r, frame, len, cs);
	}
	return 0;
}

/* Bytes that the mode wants inlined of a packet whose first n are these. */
static inline uint32_t
ref_inline_least(struct ref *f, const uint8_t *h, uint32_t n)
{
	uint32_t l3;
	struct ref_net r;

	if (f->q.min_inline_mode == SCX_INLINE_L2 || n < 14)
		return 14;
	r = ref_parse(h, n);
	f->off |= r.options; /* more than the mode's name says */
	l3 = 14 + r.tags * 4;
	if (r.type == 0x0800)
		l3 += r.ver == 4 ? r.ihl * 4 : 20;
	else if (r.type == 0x86dd)
		l3 += 40;
	if (f->q.min_inline_mode == SCX_INLINE_IP || r.frag || r.ver == 0)
		return l3;
	return l3 + (r.proto == 6 ? 20 : r.proto == 17 ? 8 : 0);
}

static inline uint8_t
ref_send(struct ref *f, struct rig *r, const struct ref_wqe *w)
{
	static uint8_t frame[REF_FRAME];
	uint32_t word = ref_be16(w->w + 28), inl = word & 0x3ff, len = 0, n, off;
	uint8_t bad;

	if (word & 0x8000)
		inl = 0;
	if (14 + inl > w->bytes - 16)
		return CRL_SYND_LOCAL_QP_OP;
	if (f->q.min_inline_mode != 0 && inl < ref_inline_least(f, w->w + 30, inl))
		return CRL_SYND_LOCAL_LENGTH;
	memcpy(frame, w->w + 30, inl);
	len = inl;
	for (off = 16 + (14 + inl + 15) / 16 * 16; off < w->bytes;) {
		bad = ref_segment(r, w, off, frame + len, &n, SCX_DP_FRAME_MAX - len, &off);
		if (bad != 0)
			return bad;
		len += n;
	}
	if (len < 14)
		return CRL_SYND_LOCAL_LENGTH;
	if (word & 0x8000) {
		memmove(frame + 16, frame + 12, len - 12);
		ref_put16(frame + 12, word & 1 ? 0x88a8 : 0x8100);
		memcpy(frame + 14, w->w + 30, 2);
		len += 4;
	}
	ref_frame(f, r, frame, len, w->w[20]);
	return 0;
}

/* Segment i of a TSO: the headers with length, identification, sequence and flags of its own. */
static inline void
ref_tso_frame(struct ref *f, struct rig *r, uint8_t *frame, uint32_t l3, uint32_t l4, uint32_t hdr,
	uint32_t n, uint32_t i, uint32_t mss, bool last)
{
	uint32_t seq;

	if (frame[l3] >> 4 == 4 && ref_be16(frame + l3 - 2) == 0x0800) {
		ref_put16(frame + l3 + 2, hdr + n - l3);
		ref_put16(frame + l3 + 4, ref_be16(frame + l3 + 4) + i);
	} else if (ref_be16(frame + l3 - 2) == 0x0800) {
		f->off = true; /* type and version disagree: who knows */
	} else {
		ref_put16(frame + l3 + 4, hdr + n - l4);
	}
	seq = ref_be32(frame + l4 + 4) + i * mss;
	ref_put16(frame + l4 + 4, seq >> 16);
	ref_put16(frame + l4 + 6, seq);
	if (!last)
		frame[l4 + 13] &= 0xf6;
	if (i > 0)
		frame[l4 + 13] &= 0x7f;
	ref_frame(f, r, frame, hdr + n, 0xc0);
}

static inline uint8_t
ref_tso(struct ref *f, struct rig *r, const struct ref_wqe *w)
{
	static uint8_t frame[REF_FRAME], payload[65536 + 16];
	uint32_t mss = ref_be16(w->w + 22), word = ref_be16(w->w + 28), total = 0, n, off, l3, l4;
	const uint8_t *h = w->w + 30;

	if (word & 0x8000 || 14 + word > w->bytes - 16 || mss == 0 || word < 54)
		return CRL_SYND_LOCAL_QP_OP;
	l3 = ref_be16(h + 12) == 0x8100 ? 18 : 14;
	if (ref_be16(h + l3 - 2) == 0x0800)
		l4 = l3 + (h[l3] & 15u) * 4;
	else if (ref_be16(h + l3 - 2) == 0x86dd)
		l4 = l3 + 40;
	else
		return CRL_SYND_LOCAL_QP_OP;
	if (l4 < l3 + 20 || l4 + 20 > word ||
		h[l3 + (ref_be16(h + l3 - 2) == 0x0800 ? 9 : 6)] != 6 ||
		l4 + (h[l4 + 12] >> 4) * 4u != word)
		return CRL_SYND_LOCAL_QP_OP;
	for (off = 16 + (14 + word + 15) / 16 * 16; off < w->bytes;) {
		uint8_t bad;

		if (w->w[off] & 0x80 || ref_be32(w->w + off) > 65536 - total)
			return CRL_SYND_LOCAL_QP_OP;
		bad = ref_segment(r, w, off, payload + total, &n, 65536, &off);
		if (bad != 0)
			return bad;
		total += n;
	}
	if (total == 0)
		return CRL_SYND_LOCAL_QP_OP;
	if ((total + mss - 1) / mss > 61 || word + mss > SCX_DP_FRAME_MAX)
		return CRL_SYND_LOCAL_LENGTH;
	for (uint32_t i = 0; i * mss < total; i++) {
		n = total - i * mss < mss ? total - i * mss : mss;
		memcpy(frame, h, word);
		memcpy(frame + word, payload + i * mss, n);
		ref_tso_frame(f, r, frame, l3, l4, word, n, i, mss, i * mss + n == total);
	}
	return 0;
}

/* 0, or the syndrome that the WQE fails with. */
static inline uint8_t
ref_execute(struct ref *f, struct rig *r, const struct ref_wqe *w)
{
	uint32_t w0 = ref_be32(w->w), w1 = ref_be32(w->w + 4), ds = w1 & 0x3f;

	if ((w0 >> 8 & 0xffff) != w->index || w1 >> 8 != REF_SQN || w0 >> 24 != 0)
		return CRL_SYND_LOCAL_QP_OP;
	if (w->op != CRL_OPCODE_NOP && w->op != CRL_OPCODE_SEND && w->op != CRL_OPCODE_EMPW &&
		!(w->op == CRL_OPCODE_TSO && f->q.allow_tso))
		return CRL_SYND_LOCAL_QP_OP;
	if (ds < (w->op == CRL_OPCODE_NOP ? 1u : 2u) || w1 & 0xc0 ||
		ref_be32(w->w + 8) & 0xffffff00u)
		return CRL_SYND_LOCAL_QP_OP;
	if (w->op == CRL_OPCODE_NOP)
		return 0;
	if (w->op == CRL_OPCODE_EMPW && !f->q.allow_mpw)
		return CRL_SYND_LOCAL_QP_OP;
	if (ref_be32(w->w + 16) != 0 || w->w[21] != 0 || w->w[20] & 0x3f ||
		(w->op != CRL_OPCODE_TSO && ref_be16(w->w + 22) != 0))
		return CRL_SYND_LOCAL_QP_OP;
	return w->op == CRL_OPCODE_EMPW	  ? ref_empw(f, r, w)
	       : w->op == CRL_OPCODE_SEND ? ref_send(f, r, w)
					  : ref_tso(f, r, w);
}

/* The WQE at ci; moves past it. */
static inline void
ref_next(struct ref *f, struct rig *r, const uint8_t *ring)
{
	uint32_t size = 64u << f->q.log_depth, posted = (uint16_t)(f->pi - f->ci), bbs, nr;
	const uint8_t *at = ring + f->ci * 64u % size;
	struct ref_wqe w;
	uint8_t bad;

	w.index = f->ci;
	w.op = at[3];
	w.ce = at[11] >> 2 & 3;
	w.bytes = (at[7] & 0x3fu) * 16;
	bbs = w.bytes == 0 ? 1 : (w.bytes + 63) / 64;
	if (f->state == SCX_WQ_ERR) {
		f->ci = (uint16_t)(f->ci + (bbs < posted ? bbs : posted));
		if (f->q.flush_in_error && !(w.ce == CRL_WQE_CE_ON_FIRST_ERR && f->told))
			ref_cqe(f, CRL_CQE_REQ_ERR, &w, CRL_SYND_WR_FLUSH), f->told = true;
		return;
	}
	for (uint32_t i = 0; i < w.bytes; i++)
		w.w[i] = ring[(f->ci * 64u + i) % size];
	if (w.bytes < 16)
		memcpy(w.w, at, 16);
	f->ci = (uint16_t)(f->ci + (bbs < posted ? bbs : posted));
	nr = f->nr_frames;
	bad = bbs > posted ? CRL_SYND_LOCAL_QP_OP : ref_execute(f, r, &w);
	if (bad == 0) {
		if (w.ce >= CRL_WQE_CE_ALWAYS)
			ref_cqe(f, CRL_CQE_REQ, &w, 0);
		return;
	}
	while (f->nr_frames > nr)
		free(f->frame[--f->nr_frames].data);
	f->state = SCX_WQ_ERR;
	if (!(w.ce == CRL_WQE_CE_ON_FIRST_ERR && f->told))
		ref_cqe(f, CRL_CQE_REQ_ERR, &w, bad), f->told = true;
}

/* The record, as the NIC takes it when the queue's page was rung. */
static inline void
ref_record(struct ref *f, uint16_t rec)
{
	if (f->state == SCX_WQ_RST || rec == f->pi)
		return;
	if ((uint16_t)(rec - f->ci) > 1u << f->q.log_depth) {
		f->state = SCX_WQ_ERR;
		f->pi = f->ci;
		return;
	}
	f->pi = rec;
}

static inline bool
ref_rung(const struct rig *r)
{
	const uint8_t *page = r->uar + REF_PAGE * CRL_UAR_BYTES;
	uint8_t any = 0;

	for (uint32_t reg = 0; reg < 4; reg++)
		for (uint32_t i = 0; i < 8; i++)
			any |= page[0x800 + reg * 0x100 + i];
	return any != 0;
}

/* What the next steps will do, until nothing is left to do. */
static inline void
ref_run(struct ref *f, struct rig *r, const uint8_t *ring)
{
	if (f->off)
		return;
	if (ref_rung(r))
		ref_record(f, (uint16_t)ref_be32((const uint8_t *)&f->q.dbrec[CRL_DBREC_SND_WORD]));
	while (f->ci != f->pi && f->nr_cqes < REF_CQES)
		ref_next(f, r, ring);
	f->off |= f->nr_cqes >= REF_CQES;
	if (!r->dp->link_up)
		ref_frames_forget(f);
}

static inline void
ref_state(struct ref *f, uint8_t to, uint16_t rec)
{
	if (to == SCX_WQ_RST || f->state == SCX_WQ_RST) {
		f->ci = f->pi = 0;
		f->told = false;
	}
	f->state = to;
	if (to == SCX_WQ_ERR)
		ref_record(f, rec);
}

static inline void
ref_compare_cqe(const struct ref *f, uint32_t i, const uint8_t *ring, uint32_t log)
{
	const uint8_t *e = ring + (size_t)(i & ((1u << log) - 1)) * 64;
	const struct ref_cqe *c = &f->cqe[i];

	FZ_MUST(e[63] >> 4 == c->opcode && (e[63] & 1) == (i >> log & 1), "CQE %u: 0x%02x, want %x",
		i, e[63], c->opcode);
	FZ_MUST(ref_be16(e + 60) == c->index, "CQE %u of WQE %u, want %u", i, ref_be16(e + 60),
		c->index);
	FZ_MUST(ref_be32(e + 56) == ((uint32_t)c->wqe_opcode << 24 | REF_SQN), "CQE %u: %08x", i,
		ref_be32(e + 56));
	FZ_MUST(ref_be32(e + 32) == f->q.user_index, "CQE %u: user index", i);
	if (c->opcode == CRL_CQE_REQ_ERR)
		FZ_MUST(e[55] == c->syndrome, "CQE %u: syndrome %u, want %u", i, e[55],
			c->syndrome);
}

/* What happened against what had to. */
static inline void
ref_compare(struct ref *f, struct rig *r, const uint8_t *cq_ring, uint32_t cq_log)
{
	if (f->nr_cqes - f->consumed > 1u << cq_log)
		f->off = true; /* the CQ overran: what is lost depends on when it was seen */
	if (f->off) {
		ref_frames_forget(f);
		return;
	}
	FZ_MUST(r->wire.nr_sent == f->nr_frames, "%u frames, want %u", r->wire.nr_sent,
		f->nr_frames);
	for (uint32_t i = 0; i < f->nr_frames; i++) {
		FZ_MUST(r->wire.sent[i].len == f->frame[i].len, "frame %u: %u bytes, want %u", i,
			r->wire.sent[i].len, f->frame[i].len);
		FZ_MUST(memcmp(r->wire.sent[i].data, f->frame[i].data, f->frame[i].len) == 0,
			"frame %u of %u bytes", i, f->frame[i].len);
	}
	for (; f->compared < f->nr_cqes; f->compared++)
		ref_compare_cqe(f, f->compared, cq_ring, cq_log);
	ref_frames_forget(f);
	struct scx_dp_cmd c = {.op = SCX_DP_QUERY_SQ, .num = REF_SQN};

	FZ_MUST(scx_dp_apply(r->dp, &c) == 0, "query");
	FZ_MUST(c.result[0] == f->state && (uint16_t)c.result[1] == f->pi &&
			(uint16_t)c.result[2] == f->ci,
		"state %u pi %u ci %u, want %u %u %u", (unsigned)c.result[0], (unsigned)c.result[1],
		(unsigned)c.result[2], f->state, f->pi, f->ci);
}

#endif /* CRL_FUZZ_REFSEND_H */
