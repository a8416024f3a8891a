/* SPDX-License-Identifier: BSD-3-Clause */
/* See rig.h. */
#include "rig.h"

#include <stdlib.h>

#include "drivers/softcx/far/far.h"

void *
rig_at(struct rig *r, void *p, size_t bytes)
{
	void *here = r->far != NULL ? scx_far_add(r->far, p, bytes) : p;

	assert_non_null(here);
	return here;
}

/* RIG_COPY is the seed of a copy engine's stand-in. */
static void
far_begin(struct rig *r)
{
	const char *env = getenv("RIG_COPY");

	if (env == NULL)
		return;
	r->far = scx_far_new(scx_mover_seeded(strtoull(env, NULL, 0)), "rig");
	assert_non_null(r->far);
	scx_dp_copy(r->dp, scx_far_copy(r->far));
}

void
rig_put_be32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

uint32_t
rig_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint16_t
rig_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void *
zalloc(size_t n)
{
	void *p = aligned_alloc(4096, (n + 4095) & ~(size_t)4095);

	assert_non_null(p);
	memset(p, 0, n);
	return p;
}

struct rig *
rig_new(uint64_t seed)
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
	far_begin(r);
	c.u.mkey.key = RIG_KEY;
	c.u.mkey.pdn = RIG_PD;
	c.u.mkey.iova = RIG_IOVA;
	c.u.mkey.bytes = RIG_MEM;
	c.u.mkey.base = rig_at(r, r->mem, RIG_MEM);
	c.u.mkey.local_write = 1;
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
	rig_crew_forget();
	return r;
}

void
rig_free(struct rig *r)
{
	scx_far_free(r->far);
	free(r->dp);
	free(r->uar);
	free(r->mem);
	free(r);
}

void
rig_cq(struct rig *r, struct rig_cq *cq, uint32_t log, int collapsed, int oi)
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
	c.u.cq.ring.base = rig_at(r, cq->ring, (size_t)64 << log);
	c.u.cq.ring.bytes = (uint64_t)64 << log;
	c.u.cq.dbrec = rig_at(r, cq->rec, sizeof(cq->rec));
	c.u.cq.log_depth = log;
	c.u.cq.uar_page = RIG_PAGE;
	c.u.cq.collapsed = (uint8_t)collapsed;
	c.u.cq.overrun_ignore = (uint8_t)oi;
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
}

void
rig_sq(struct rig *r, struct rig_sq *sq, struct rig_cq *cq, uint32_t sqn, uint32_t log)
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
	c.u.sq.ring.base = rig_at(r, sq->ring, (size_t)64 << log);
	c.u.sq.ring.bytes = (uint64_t)64 << log;
	c.u.sq.dbrec = rig_at(r, sq->rec, sizeof(sq->rec));
	c.u.sq.log_depth = log;
	c.u.sq.flush_in_error = 1;
	c.u.sq.allow_mpw = 1;
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
	assert_int_equal(rig_apply(r, SCX_DP_SQ_STATE, sqn, 1), 0);
}

void
rig_rq(struct rig *r, struct rig_rq *rq, struct rig_cq *cq, uint32_t rqn, uint32_t log,
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
	c.u.rq.ring.base = rig_at(r, rq->ring, (size_t)1 << (log + log_stride));
	c.u.rq.ring.bytes = (uint64_t)1 << (log + log_stride);
	c.u.rq.dbrec = rig_at(r, rq->rec, sizeof(rq->rec));
	c.u.rq.log_depth = log;
	c.u.rq.log_stride = log_stride;
	c.u.rq.flush_in_error = 1;
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
	assert_int_equal(rig_apply(r, SCX_DP_RQ_STATE, rqn, 1), 0);
}

void
rig_cq_free(struct rig_cq *cq)
{
	free(cq->ring);
}

void
rig_sq_free(struct rig_sq *sq)
{
	free(sq->ring);
}

void
rig_rq_free(struct rig_rq *rq)
{
	free(rq->ring);
}

int
rig_apply(struct rig *r, enum scx_dp_op op, uint32_t num, uint32_t arg)
{
	struct scx_dp_cmd c = {.op = op, .num = num, .arg = arg};

	return scx_dp_apply(r->dp, &c);
}

void
rig_tir(struct rig *r, uint32_t tirn, uint32_t rqn)
{
	struct scx_dp_cmd c = {.op = SCX_DP_TIR_SET};

	c.u.tir.tirn = tirn;
	c.u.tir.rqn = rqn;
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
}

uint32_t
rig_rule(struct rig *r, uint32_t priority, const uint8_t *dmac, enum scx_flow_dest dest,
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

void
rig_step(struct rig *r, struct scx_wire *w)
{
	struct scx_dp_report rep;
	unsigned i;

	for (i = 0; i < 10000; i++) {
		unsigned work = w == NULL && rig_has_crew() ? rig_crew_step(r->dp)
							    : scx_dp_step(r->dp, w, 64);

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

const uint8_t *
rig_cqe(struct rig_cq *cq)
{
	const uint8_t *e =
		cq->ring + (size_t)(cq->collapsed ? 0 : cq->ci & ((1u << cq->log) - 1)) * 64;

	if (e[63] >> 4 == 0xf || (e[63] & 1) != (cq->ci >> cq->log & 1))
		return NULL;
	cq->ci++;
	rig_put_be32((uint8_t *)&cq->rec[0], cq->ci);
	return e;
}

uint16_t
rig_cqe_counter(const uint8_t *cqe)
{
	return rig_be16(cqe + 60);
}

void
rig_expect_refusal(struct rig *r, enum scx_dp_refuse why)
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

void
rig_expect_quiet(struct rig *r)
{
	unsigned i;

	for (i = 0; i < r->nr_reports; i++)
		assert_int_not_equal(r->report[i].kind, SCX_DP_REFUSED);
	r->nr_reports = 0;
}
