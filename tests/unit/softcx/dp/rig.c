/* SPDX-License-Identifier: BSD-3-Clause */
/* See rig.h. */
#include "rig.h"

#include <stdlib.h>

static void put32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

uint32_t rig_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint16_t rig_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void *zalloc(size_t n)
{
	void *p = aligned_alloc(4096, (n + 4095) & ~(size_t)4095);

	assert_non_null(p);
	memset(p, 0, n);
	return p;
}

struct rig *rig_new(uint64_t seed)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct scx_dp_cmd c = {.op = SCX_DP_MKEY_SET};

	assert_non_null(r);
	r->dp = zalloc(scx_dp_bytes());
	r->uar = zalloc(RIG_PAGES * 4096);
	r->mem = zalloc(RIG_MEM);
	r->next_cqn = 0x400;
	r->next_rule = 1;
	scx_dp_init(r->dp, r->uar, RIG_PAGES, seed);
	c.u.mkey.key = RIG_KEY;
	c.u.mkey.pdn = RIG_PD;
	c.u.mkey.iova = RIG_IOVA;
	c.u.mkey.bytes = RIG_MEM;
	c.u.mkey.base = r->mem;
	c.u.mkey.local_write = 1;
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
	return r;
}

void rig_free(struct rig *r)
{
	free(r->dp);
	free(r->uar);
	free(r->mem);
	free(r);
}

void rig_cq(struct rig *r, struct rig_cq *cq, uint32_t log, int collapsed, int oi)
{
	struct scx_dp_cmd c = {.op = SCX_DP_CQ_SET};
	uint32_t i;

	memset(cq, 0, sizeof(*cq));
	cq->log = log;
	cq->cqn = r->next_cqn++;
	cq->collapsed = collapsed;
	cq->ring = zalloc((size_t)64 << log);
	for (i = 0; i < 1u << log; i++)
		cq->ring[i * 64 + 63] = 0xf1;
	c.u.cq.cqn = cq->cqn;
	c.u.cq.ring.base = cq->ring;
	c.u.cq.ring.bytes = (uint64_t)64 << log;
	c.u.cq.dbrec = cq->rec;
	c.u.cq.log_depth = log;
	c.u.cq.uar_page = RIG_PAGE;
	c.u.cq.collapsed = (uint8_t)collapsed;
	c.u.cq.overrun_ignore = (uint8_t)oi;
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
}

void rig_sq(struct rig *r, struct rig_sq *sq, struct rig_cq *cq, uint32_t sqn, uint32_t log)
{
	struct scx_dp_cmd c = {.op = SCX_DP_SQ_SET};

	memset(sq, 0, sizeof(*sq));
	sq->log = log;
	sq->sqn = sqn;
	sq->cq = cq;
	sq->ring = zalloc((size_t)64 << log);
	c.u.sq.sqn = sqn;
	c.u.sq.cqn = cq->cqn;
	c.u.sq.uar_page = RIG_PAGE;
	c.u.sq.pdn = RIG_PD;
	c.u.sq.user_index = sqn & 0xfff;
	c.u.sq.ring.base = sq->ring;
	c.u.sq.ring.bytes = (uint64_t)64 << log;
	c.u.sq.dbrec = sq->rec;
	c.u.sq.log_depth = log;
	c.u.sq.flush_in_error = 1;
	c.u.sq.allow_mpw = 1;
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
	assert_int_equal(rig_apply(r, SCX_DP_SQ_STATE, sqn, 1), 0);
}

void rig_rq(struct rig *r, struct rig_rq *rq, struct rig_cq *cq, uint32_t rqn, uint32_t log,
	uint32_t log_stride)
{
	struct scx_dp_cmd c = {.op = SCX_DP_RQ_SET};

	memset(rq, 0, sizeof(*rq));
	rq->log = log;
	rq->log_stride = log_stride;
	rq->rqn = rqn;
	rq->cq = cq;
	rq->ring = zalloc((size_t)1 << (log + log_stride));
	c.u.rq.rqn = rqn;
	c.u.rq.cqn = cq->cqn;
	c.u.rq.pdn = RIG_PD;
	c.u.rq.user_index = rqn & 0xfff;
	c.u.rq.counter_set = 3;
	c.u.rq.ring.base = rq->ring;
	c.u.rq.ring.bytes = (uint64_t)1 << (log + log_stride);
	c.u.rq.dbrec = rq->rec;
	c.u.rq.log_depth = log;
	c.u.rq.log_stride = log_stride;
	c.u.rq.flush_in_error = 1;
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
	assert_int_equal(rig_apply(r, SCX_DP_RQ_STATE, rqn, 1), 0);
}

void rig_cq_free(struct rig_cq *cq)
{
	free(cq->ring);
}

void rig_sq_free(struct rig_sq *sq)
{
	free(sq->ring);
}

void rig_rq_free(struct rig_rq *rq)
{
	free(rq->ring);
}

int rig_apply(struct rig *r, enum scx_dp_op op, uint32_t num, uint32_t arg)
{
	struct scx_dp_cmd c = {.op = op, .num = num, .arg = arg};

	return scx_dp_apply(r->dp, &c);
}

void rig_tir(struct rig *r, uint32_t tirn, uint32_t rqn)
{
	struct scx_dp_cmd c = {.op = SCX_DP_TIR_SET};

	c.u.tir.tirn = tirn;
	c.u.tir.rqn = rqn;
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
}

uint32_t rig_rule(struct rig *r, uint32_t priority, const uint8_t *dmac, enum scx_flow_dest dest,
	uint32_t tirn)
{
	struct scx_dp_cmd c = {.op = SCX_DP_RULE_ADD};

	c.u.rule.id = r->next_rule++;
	c.u.rule.priority = priority;
	c.u.rule.tirn = tirn;
	c.u.rule.flow_tag = 0xab0000 | c.u.rule.id;
	c.u.rule.dest = (uint8_t)dest;
	if (dmac != NULL) {
		memset(c.u.rule.mask + 8, 0xff, 6);
		memcpy(c.u.rule.match + 8, dmac, 6);
	}
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
	return c.u.rule.id;
}

uint8_t *rig_wqebb(struct rig_sq *sq, uint32_t off)
{
	return sq->ring + (((size_t)sq->pi * 64 + off) & (((size_t)64 << sq->log) - 1));
}

void rig_put(struct rig_sq *sq, uint32_t off, const void *bytes, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		*rig_wqebb(sq, off + i) = ((const uint8_t *)bytes)[i];
}

void rig_put32(struct rig_sq *sq, uint32_t off, uint32_t v)
{
	put32(rig_wqebb(sq, off), v);
}

void rig_ctrl(struct rig_sq *sq, uint8_t opcode, uint32_t ds, uint8_t ce)
{
	uint32_t i;

	for (i = 0; i < ((ds + 3) / 4 ? (ds + 3) / 4 : 1); i++)
		memset(rig_wqebb(sq, i * 64), 0, 64);
	rig_put32(sq, 0, (uint32_t)sq->pi << 8 | opcode);
	rig_put32(sq, 4, sq->sqn << 8 | ds);
	rig_put32(sq, 8, (uint32_t)ce << 2);
}

void rig_eth(struct rig_sq *sq, uint8_t cs_flags, uint16_t inline_word)
{
	rig_put32(sq, 20, (uint32_t)cs_flags << 24);
	rig_put32(sq, 28, (uint32_t)inline_word << 16);
}

void rig_dseg(struct rig_sq *sq, uint32_t off, uint32_t len, uint32_t key, uint64_t addr)
{
	rig_put32(sq, off, len);
	rig_put32(sq, off + 4, key);
	rig_put32(sq, off + 8, (uint32_t)(addr >> 32));
	rig_put32(sq, off + 12, (uint32_t)addr);
}

static uint16_t last_index; /* of the WQE posted last, for the doorbell */

void rig_post(struct rig_sq *sq, uint32_t ds)
{
	last_index = sq->pi;
	sq->pi = (uint16_t)(sq->pi + (ds ? (ds + 3) / 4 : 1));
}

void rig_ring(struct rig *r, struct rig_sq *sq)
{
	uint8_t db[8];

	put32((uint8_t *)&sq->rec[1], sq->pi);
	put32(db, (uint32_t)last_index << 8 | 0x0a);
	put32(db + 4, sq->sqn << 8 | 3);
	memcpy(r->uar + RIG_PAGE * 4096 + 0x800, db, 8);
}

void rig_send(struct rig_sq *sq, uint32_t off, uint32_t len, uint8_t ce, uint8_t cs_flags)
{
	rig_ctrl(sq, 0x0a, 3, ce);
	rig_eth(sq, cs_flags, 0);
	rig_dseg(sq, 32, len, RIG_KEY, RIG_IOVA + off);
	rig_post(sq, 3);
}

void rig_empw_inline(struct rig_sq *sq, const uint8_t *frame, uint32_t len, uint8_t ce)
{
	uint32_t ds = 2 + (4 + len + 15) / 16;

	rig_ctrl(sq, 0x29, ds, ce);
	rig_eth(sq, 0, 0);
	rig_put32(sq, 32, 0x80000000u | len);
	rig_put(sq, 36, frame, len);
	rig_post(sq, ds);
}

void rig_rq_post(struct rig_rq *rq, uint32_t base, uint32_t size, uint32_t nr)
{
	uint32_t i, mask = (1u << rq->log) - 1;

	for (i = 0; i < nr; i++, rq->pi++) {
		uint8_t *w = rq->ring + ((size_t)(rq->pi & mask) << rq->log_stride);
		uint64_t at = RIG_IOVA + base + (uint64_t)(rq->pi & mask) * size;

		put32(w, size);
		put32(w + 4, RIG_KEY);
		put32(w + 8, (uint32_t)(at >> 32));
		put32(w + 12, (uint32_t)at);
	}
	put32((uint8_t *)&rq->rec[0], 0x5a0000u | rq->pi); /* high bits as net_mlx5 leaves them */
}

void rig_step(struct rig *r, struct scx_wire *w)
{
	struct scx_dp_report rep;
	unsigned i;

	for (i = 0; i < 10000; i++) {
		unsigned work = scx_dp_step(r->dp, w, 64);

		while (scx_dp_take_report(r->dp, &rep)) {
			if (rep.kind == SCX_DP_REFUSED)
				r->seen[rep.why]++;
			if (r->nr_reports < RIG_REPORTS)
				r->report[r->nr_reports++] = rep;
		}
		if (work == 0)
			return;
	}
	fail_msg("the data path does not come to rest");
}

const uint8_t *rig_cqe(struct rig_cq *cq)
{
	const uint8_t *e =
		cq->ring + (size_t)(cq->collapsed ? 0 : cq->ci & ((1u << cq->log) - 1)) * 64;

	if (e[63] >> 4 == 0xf || (e[63] & 1) != (cq->ci >> cq->log & 1))
		return NULL;
	cq->ci++;
	put32((uint8_t *)&cq->rec[0], cq->ci);
	return e;
}

uint16_t rig_cqe_counter(const uint8_t *cqe)
{
	return rig_be16(cqe + 60);
}

void rig_expect_refusal(struct rig *r, enum scx_dp_refuse why)
{
	unsigned i, refused = 0;

	for (i = 0; i < r->nr_reports; i++) {
		if (r->report[i].kind != SCX_DP_REFUSED)
			continue;
		refused++;
		assert_int_equal(r->report[i].why, why);
	}
	assert_int_equal(refused, 1);
	r->nr_reports = 0;
}

void rig_expect_quiet(struct rig *r)
{
	unsigned i;

	for (i = 0; i < r->nr_reports; i++)
		assert_int_not_equal(r->report[i].kind, SCX_DP_REFUSED);
	r->nr_reports = 0;
}

uint16_t rig_sum16(const uint8_t *p, uint32_t n, uint32_t start)
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

uint8_t *rig_udp4(uint8_t *f, uint32_t len, uint16_t sport, uint16_t dport)
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
