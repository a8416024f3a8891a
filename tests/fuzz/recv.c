/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive side of the data path: frames of any size from a wire, scatter lists and records that
 * are arbitrary, keys and maps that vanish between two steps, writes that arrive later. refrecv.h
 * says which bytes of memory change and which CQEs come; no other byte may change.
 */
#include "refrecv.h"

#define RQN  0x20005u
#define TIRN 0x5003u
#define CQN  0x10003u
#define PAGE 1u

struct it {
	struct rig *r;
	struct fz f;
	struct rr ref;
	uint8_t *ring, *cq_ring;
	uint32_t *rec, *cq_rec;
	uint32_t log, stride, cq_log;
	uint16_t pi;
	struct scx_late *late;
	uint8_t *frame[8];
	uint32_t len[8], nr;
};

/* Rarely where a region ends, or a piece of one with holes, or a byte beside. */
static uint64_t
near_end(const struct scx_dp_mkey *m, uint64_t at, uint32_t len, uint32_t how)
{
	const struct scx_extents *x = m->extents;

	if (how >= 30)
		return m->iova + m->bytes - len + (how == 30);
	if (how < 26 || x == NULL)
		return at;
	return x->e[how % x->nr].from + x->e[how % x->nr].bytes - len + (how >= 28);
}

/* One scatter list at pi, mostly right. */
static void
make_wqe(struct it *it)
{
	uint8_t *w = it->ring + ((size_t)(it->pi & ((1u << it->log) - 1u)) << it->stride);
	uint32_t nr = 1u << (it->stride - 4), how = fz_u8(&it->f), left = how & 1 ? nr : 1;

	for (uint32_t i = 0; i < nr; i++, w += 16) {
		uint32_t k = fz_below(&it->f, RIG_KEYS), len;
		const struct scx_dp_mkey *m;
		uint64_t at;

		k = how & 0x40 ? k : 0;
		m = &it->r->key[k];
		if (i >= left) {
			memset(w, 0, 16);
			ref_put16(w + 6, 0x100);
			continue;
		}
		len = how & 2 ? fz_below(&it->f, 100) : fz_len(&it->f, 2100);
		at = m->iova + fz_u16(&it->f) % (m->bytes + 1);
		at = near_end(m, at, len, fz_below(&it->f, 32));
		if (fz_rarely(&it->f, 32))
			at ^= 1ull << fz_below(&it->f, 64);
		if (how & 0x80 && fz_rarely(&it->f, 8))
			len |= 0x80000000u;
		ref_put16(w, len >> 16);
		ref_put16(w + 2, len);
		ref_put16(w + 4, m->key >> 16);
		ref_put16(w + 6, fz_rarely(&it->f, 32) ? fz_u16(&it->f) : m->key);
		for (uint32_t b = 0; b < 4; b++)
			ref_put16(w + 8 + b * 2, (uint32_t)(at >> (48 - b * 16)));
	}
	it->pi++;
}

static void
make_frame(struct it *it)
{
	uint32_t how = fz_u8(&it->f), len = fz_len(&it->f, SCX_DP_FRAME_MAX + 64);
	uint8_t *p;

	if (it->nr == 8)
		return;
	if (how & 1 && len < 60)
		len = 60 + (how >> 1);
	p = fz_alloc(16, len);
	fz_pattern(p, len, how);
	if (len >= 18 && how & 2)
		ref_put16(p + 12, how & 4 ? 0x8100 : 0x88a8);
	fz_bytes(&it->f, p + (len > 34 ? 12 : 0), len > 34 && how & 8 ? 22 : 0);
	it->frame[it->nr] = p;
	it->len[it->nr++] = len;
}

static void
step(struct it *it)
{
	struct rig_wire *w = &it->r->wire;
	/* Late pieces of entries that overlap come in any order. */
	bool exact = it->nr == 0 || (it->nr == 1 && (it->late == NULL || it->stride == 4));

	w->nr_in = w->next_in = 0;
	for (uint32_t i = 0; i < it->nr; i++) {
		w->in[w->nr_in++] = (struct scx_frame){.data = it->frame[i], .len = it->len[i]};
		if (!it->ref.off)
			rr_frame(&it->ref, it->r, it->ring, it->frame[i], it->len[i]);
	}
	rig_drain(it->r, &w->w);
	/* Frames that follow one that fails may have been put into their buffers. */
	rr_compare(&it->ref, it->r, it->cq_ring, it->cq_log, exact);
	for (uint32_t i = 0; i < it->nr; i++)
		free(it->frame[i]);
	it->nr = 0;
	if (it->ref.state != SCX_WQ_ERR || it->ref.off || fz_rarely(&it->f, 4))
		return;
	/* Made ready again, else an input sees one error and no more. */
	*it->rec = 0;
	it->pi = it->ref.ci = it->ref.pi = 0;
	it->ref.state = SCX_WQ_RDY;
	FZ_MUST(rig_apply(it->r, SCX_DP_RQ_STATE, RQN, SCX_WQ_RST) == 0, "reset");
	FZ_MUST(rig_apply(it->r, SCX_DP_RQ_STATE, RQN, SCX_WQ_RDY) == 0, "ready");
}

static void
state(struct it *it)
{
	static const uint8_t states[] = {SCX_WQ_RST, SCX_WQ_RDY, SCX_WQ_ERR, SCX_WQ_RDY};
	uint8_t to = states[fz_below(&it->f, 4)], before;

	step(it);
	before = it->ref.state;
	FZ_MUST(rig_apply(it->r, SCX_DP_RQ_STATE, RQN, to) == 0, "state %u", to);
	if (to == SCX_WQ_RST || before == SCX_WQ_RST) {
		it->ref.ci = it->ref.pi = 0;
		it->pi = 0;
	}
	it->ref.state = to;
	if (to == SCX_WQ_ERR && before == SCX_WQ_RDY) {
		(void)rr_record(&it->ref);
		for (; it->ref.q.flush_in_error && it->ref.ci != it->ref.pi; it->ref.ci++)
			rr_cqe(&it->ref, CRL_CQE_RESP_ERR, CRL_SYND_WR_FLUSH, 0);
	}
	step(it);
}

/* A key whose memory has holes, and holes that move: a guest's maps. */
static void
map(struct it *it)
{
	struct scx_dp_cmd c = {.op = SCX_DP_MKEY_SET};
	struct scx_extents *x = &it->r->extents;
	uint64_t at = 0;

	step(it);
	x->nr = 1 + fz_below(&it->f, 3);
	for (uint32_t i = 0; i < x->nr; i++) {
		at += fz_u8(&it->f) * 16u;
		x->e[i].from = 0x100000 + at;
		x->e[i].bytes = fz_u8(&it->f) * 16u;
		at += x->e[i].bytes;
	}
	rig_key_gone(it->r, 0);
	c.u.mkey = (struct scx_dp_mkey){.key = 0x1021,
		.pdn = RIG_PD,
		.iova = 0x100000,
		.bytes = RIG_REGION,
		.base = it->r->region[0],
		.extents = fz_u8(&it->f) & 1 ? x : NULL,
		.local_write = 1};
	FZ_MUST(scx_dp_apply(it->r->dp, &c) == 0, "key");
	it->r->key[0] = c.u.mkey;
}

static void
other(struct it *it)
{
	uint32_t what = fz_u8(&it->f);

	step(it);
	switch (what & 3u) {
	case 0:
		it->ref.consumed = it->ref.nr_cqes;
		*it->cq_rec = crl_bswap32(it->ref.nr_cqes);
		if (what & 4) {
			*it->cq_rec = fz_u32(&it->f);
			it->ref.off = true;
		}
		break;
	case 1:
		rig_apply(it->r, SCX_DP_PORT_SET, 0, what & 4 ? 0 : 68 + fz_u16(&it->f) % 16362u);
		break;
	case 2:
		if (what & 4)
			rig_key_gone(it->r, what >> 3 & 1);
		else
			rig_key(it->r, what >> 3 & 1, fz_u64(&it->f) % (UINT64_MAX - RIG_REGION),
				what & 16);
		break;
	default:
		it->ref.q.vlan_strip = what >> 2 & 1;
		FZ_MUST(rig_apply(it->r, SCX_DP_RQ_VLAN_STRIP, RQN, what >> 2 & 1) == 0, "strip");
		break;
	}
}

static void
make_queue(struct it *it)
{
	struct scx_dp_cmd c = {.op = SCX_DP_CQ_SET};
	uint32_t how = fz_u16(&it->f);

	it->log = how & 3u;
	it->stride = 4 + (how >> 2 & 3u);
	it->cq_log = how & 16 ? 7 : how >> 5 & 3u;
	it->ring = fz_alloc(4096, (size_t)1 << (it->log + it->stride));
	it->cq_ring = fz_alloc(4096, 64u << it->cq_log);
	it->rec = fz_alloc(8, 8);
	it->cq_rec = fz_alloc(8, 8);
	for (uint32_t i = 0; i < 1u << it->cq_log; i++)
		it->cq_ring[i * 64 + 63] = 0xf1;
	c.u.cq = (struct scx_dp_cq){.cqn = CQN,
		.ring = {it->cq_ring, 64u << it->cq_log},
		.dbrec = it->cq_rec,
		.log_depth = it->cq_log,
		.uar_page = PAGE};
	FZ_MUST(scx_dp_apply(it->r->dp, &c) == 0, "CQ");
	c.op = SCX_DP_RQ_SET;
	c.u.rq = (struct scx_dp_rq){.rqn = RQN,
		.cqn = CQN,
		.pdn = RIG_PD,
		.counter_set = 1,
		.ring = {it->ring, 1ull << (it->log + it->stride)},
		.dbrec = it->rec,
		.log_depth = it->log,
		.log_stride = it->stride,
		.vlan_strip = how >> 7 & 1,
		.scatter_fcs = (how >> 8 & 3u) == 3,
		.start_padding = how >> 10 & 1,
		.flush_in_error = how >> 11 & 1};
	FZ_MUST(scx_dp_apply(it->r->dp, &c) == 0, "RQ");
	it->ref.q = c.u.rq;
	FZ_MUST(rig_apply(it->r, SCX_DP_RQ_STATE, RQN, SCX_WQ_RDY) == 0, "ready");
	it->ref.state = SCX_WQ_RDY;
	c.op = SCX_DP_TIR_SET;
	c.u.tir = (struct scx_dp_tir){.tirn = TIRN, .rqn = RQN};
	FZ_MUST(scx_dp_apply(it->r->dp, &c) == 0, "TIR");
	c.op = SCX_DP_RULE_ADD;
	memset(&c.u.rule, 0, sizeof(c.u.rule));
	c.u.rule.id = 1;
	c.u.rule.tirn = TIRN;
	c.u.rule.dest = SCX_FLOW_TIR;
	FZ_MUST(scx_dp_apply(it->r->dp, &c) == 0, "rule");
	if (how >> 12 == 15) {
		it->late = fz_alloc(64, sizeof(*it->late));
		it->r->dp->fault.plan.dma_delay = 3;
		scx_dp_late(it->r->dp, it->late);
	}
}

static void
end(struct it *it)
{
	step(it);
	FZ_MUST(rig_apply(it->r, SCX_DP_RULE_DEL, 1, 0) == 0, "rule");
	FZ_MUST(rig_apply(it->r, SCX_DP_TIR_DEL, TIRN, 0) == 0, "TIR");
	FZ_MUST(rig_apply(it->r, SCX_DP_RQ_DEL, RQN, 0) == 0, "RQ");
	FZ_MUST(rig_apply(it->r, SCX_DP_CQ_DEL, CQN, 0) == 0, "CQ");
	FZ_MUST(it->late == NULL || it->late->nr == 0, "writes are on their way yet");
	it->r->dp->late = NULL;
	free(it->late);
	rig_end(it->r);
	free(it->ring);
	free(it->cq_ring);
	free(it->rec);
	free(it->cq_rec);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t shadow[RIG_KEYS][RIG_REGION];
	static struct it it;

	memset(&it, 0, sizeof(it));
	it.r = rig_begin();
	it.f = (struct fz){data, size};
	for (uint32_t k = 0; k < RIG_KEYS; k++) {
		memset(it.r->region[k], (int)k + 1, it.r->bytes[k]);
		memcpy(shadow[k], it.r->region[k], it.r->bytes[k]);
		it.ref.shadow[k] = shadow[k];
		rig_key(it.r, k, k == 0 ? 0x100000 : 0x7000, k != 1);
	}
	make_queue(&it);
	if (fz_rarely(&it.f, 4)) { /* a wire that waits for a place */
		it.r->wire.w.ops = &rig_patient_ops;
		it.ref.off = true;
	}
	for (unsigned ops = 0; it.f.n > 0 && ops < 200; ops++) {
		switch (fz_below(&it.f, 8)) {
		case 0:
		case 1:
		case 2:
			make_wqe(&it);
			break;
		case 3:
			*it.rec = crl_bswap32(fz_rarely(&it.f, 16) ? fz_u16(&it.f) : it.pi);
			break;
		case 4:
			make_frame(&it);
			break;
		case 5:
			make_frame(&it);
			step(&it);
			break;
		case 6:
			if (fz_u8(&it.f) & 1)
				state(&it);
			else
				map(&it);
			break;
		default:
			other(&it);
			break;
		}
	}
	end(&it);
	return 0;
}
