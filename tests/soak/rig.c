/* SPDX-License-Identifier: BSD-3-Clause */
/* See rig.h. */
#include "rig.h"

#include "gpu_queues/queue_mem.h"
#include "gpu_queues/queue_state.h"

#define PD     7u
#define KEY    0x00001a2bu
#define STRIDE 128u
#define SLOT   64u /* a record, an array: on cache lines of its own */

static void *
zalloc(size_t bytes)
{
	void *p;

	bytes = (bytes + 4095u) & ~(size_t)4095u;
	p = aligned_alloc(4096, bytes);
	assert_non_null(p);
	memset(p, 0, bytes);
	return p;
}

static void
apply(struct rig *r, struct scx_dp_cmd *c)
{
	assert_int_equal(scx_dp_apply(r->dp, c), 0);
}

struct rig *
rig_new(size_t bytes, uint64_t seed)
{
	struct scx_dp_cmd c = {.op = SCX_DP_MKEY_SET};
	struct rig *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->bytes = bytes;
	r->arena = zalloc(bytes);
	r->uar = zalloc((RIG_QUEUES_MAX + 1u) * 4096u);
	r->dp = zalloc(scx_dp_bytes());
	r->next = 1;
	scx_dp_init(r->dp, r->uar, RIG_QUEUES_MAX + 1u, seed);
	c.u.mkey.key = KEY;
	c.u.mkey.pdn = PD;
	c.u.mkey.iova = RIG_IOVA;
	c.u.mkey.bytes = bytes;
	c.u.mkey.base = r->arena;
	c.u.mkey.local_write = 1;
	apply(r, &c);
	return r;
}

void
rig_free(struct rig *r)
{
	free(r->dp);
	free(r->uar);
	free(r->arena);
	free(r);
}

static void *
take(struct rig *r, size_t bytes, size_t align)
{
	void *p;

	r->used = (r->used + align - 1u) & ~(align - 1u);
	p = r->arena + r->used;
	r->used += bytes;
	assert_true(r->used <= r->bytes);
	memset(p, 0, bytes);
	return p;
}

uint8_t *
rig_take(struct rig *r, size_t bytes)
{
	return take(r, bytes, 4096);
}

void
rig_reset(struct rig *r)
{
	r->used = 0;
}

static void
open_cq(struct rig *r, struct crl_cq *cq, uint32_t log, uint32_t page)
{
	struct scx_dp_cmd c = {.op = SCX_DP_CQ_SET};

	cq->cqn = r->next++;
	cq->log_depth = log;
	cq->cqe = (struct crl_cqe64 *)take(r, crl_cq_ring_bytes(log), SLOT);
	cq->dbrec = take(r, SLOT, SLOT);
	crl_cq_fill(cq->cqe, log);
	c.u.cq.cqn = cq->cqn;
	c.u.cq.ring.base = (uint8_t *)cq->cqe;
	c.u.cq.ring.bytes = crl_cq_ring_bytes(log);
	c.u.cq.dbrec = (uint32_t *)cq->dbrec;
	c.u.cq.log_depth = log;
	c.u.cq.uar_page = page;
	apply(r, &c);
}

static void
open_sq(struct rig *r, struct crl_sq *sq, const struct rig_cfg *cfg)
{
	struct scx_dp_cmd c = {.op = SCX_DP_SQ_SET}, ready = {.op = SCX_DP_SQ_STATE, .arg = 1};
	uint32_t log = cfg->log_tx, page = cfg->index + 1u;

	open_cq(r, &sq->cq, crl_cq_log_depth(log), page);
	sq->wqe = take(r, crl_sq_ring_bytes(log), SLOT);
	sq->dbrec = take(r, SLOT, SLOT);
	sq->uar = (uint64_t *)(void *)(r->uar + page * 4096u + CRL_UAR_BF_REG);
	sq->cookie = take(r, crl_sq_cookie_bytes(log), SLOT);
	sq->end = take(r, crl_sq_end_bytes(log), SLOT);
	sq->log_depth = log;
	sq->sqn = r->next++;
	sq->lkey = KEY;
	sq->signal_every = cfg->signal_every;
	sq->flags = cfg->empw ? CRL_SQ_EMPW : 0;
	c.u.sq.sqn = sq->sqn;
	c.u.sq.cqn = sq->cq.cqn;
	c.u.sq.uar_page = page;
	c.u.sq.pdn = PD;
	c.u.sq.ring.base = sq->wqe;
	c.u.sq.ring.bytes = crl_sq_ring_bytes(log);
	c.u.sq.dbrec = (uint32_t *)sq->dbrec;
	c.u.sq.log_depth = log;
	c.u.sq.flush_in_error = 1;
	c.u.sq.allow_mpw = 1;
	apply(r, &c);
	ready.num = sq->sqn;
	apply(r, &ready);
	crl_sq_reset(sq);
}

static void
open_rq(struct rig *r, struct crl_rq *rq, const struct rig_cfg *cfg)
{
	struct scx_dp_cmd c = {.op = SCX_DP_RQ_SET}, ready = {.op = SCX_DP_RQ_STATE, .arg = 1};
	uint32_t log = cfg->log_rx;

	open_cq(r, &rq->cq, crl_cq_log_depth(log), cfg->index + 1u);
	rq->wqe = take(r, crl_rq_ring_bytes(log), SLOT);
	rq->dbrec = take(r, SLOT, SLOT);
	rq->released = take(r, crl_rq_released_bytes(log), SLOT);
	rq->buf = take(r, crl_rq_buf_bytes(log, STRIDE), SLOT);
	rq->buf_iova = RIG_IOVA + (uint64_t)(rq->buf - r->arena);
	rq->log_depth = log;
	rq->rqn = r->next++;
	rq->stride = STRIDE;
	rq->headroom = 2;
	rq->lkey = KEY;
	crl_rq_fill(rq->wqe, rq);
	crl_rq_fill_released(rq->released, log);
	c.u.rq.rqn = rq->rqn;
	c.u.rq.cqn = rq->cq.cqn;
	c.u.rq.pdn = PD;
	c.u.rq.ring.base = (uint8_t *)rq->wqe;
	c.u.rq.ring.bytes = crl_rq_ring_bytes(log);
	c.u.rq.dbrec = (uint32_t *)rq->dbrec;
	c.u.rq.log_depth = log;
	c.u.rq.log_stride = 4;
	c.u.rq.flush_in_error = 1;
	apply(r, &c);
	ready.num = rq->rqn;
	apply(r, &ready);
	crl_rq_reset(rq);
}

/* What is sent to the queue's address is received by it. */
static void
steer(struct rig *r, struct rig_queue *q)
{
	struct scx_dp_cmd tir = {.op = SCX_DP_TIR_SET}, rule = {.op = SCX_DP_RULE_ADD};

	q->tirn = r->next++;
	q->rule = r->next++;
	tir.u.tir.tirn = q->tirn;
	tir.u.tir.rqn = q->dev.rq.rqn;
	apply(r, &tir);
	rule.u.rule.id = q->rule;
	rule.u.rule.tirn = q->tirn;
	rule.u.rule.dest = SCX_FLOW_TIR;
	memset(rule.u.rule.mask + 8, 0xff, 6);
	memcpy(rule.u.rule.match + 8, q->dev.mac, 6);
	apply(r, &rule);
}

void
rig_queue_open(struct rig *r, struct rig_queue *q, const struct rig_cfg *cfg, size_t tx_bytes)
{
	memset(q, 0, sizeof(*q));
	q->dev.abi = CRL_DEV_ABI;
	q->dev.flags = CRL_Q_TX | CRL_Q_RX;
	q->dev.index = cfg->index;
	q->dev.mtu = 1514;
	q->dev.mac[0] = 0x02;
	q->dev.mac[5] = (uint8_t)(cfg->index + 1u);
	q->dev.stats = &q->stats;
	q->dev.error = q->error;
	q->dev.ctl = &q->ctl;
	open_sq(r, &q->dev.sq, cfg);
	open_rq(r, &q->dev.rq, cfg);
	steer(r, q);
	if (tx_bytes == 0)
		return;
	q->dev.txbuf.addr = take(r, tx_bytes, SLOT);
	q->dev.txbuf.iova = RIG_IOVA + (uint64_t)(q->dev.txbuf.addr - r->arena);
	q->dev.txbuf.bytes = tx_bytes;
	q->dev.txbuf.lkey = KEY;
}

void
rig_queue_close(struct rig *r, struct rig_queue *q)
{
	const struct {
		enum scx_dp_op op;
		uint32_t num;
	} del[] = {{SCX_DP_RULE_DEL, q->rule}, {SCX_DP_TIR_DEL, q->tirn},
		{SCX_DP_RQ_DEL, q->dev.rq.rqn}, {SCX_DP_SQ_DEL, q->dev.sq.sqn},
		{SCX_DP_CQ_DEL, q->dev.rq.cq.cqn}, {SCX_DP_CQ_DEL, q->dev.sq.cq.cqn}};

	for (size_t i = 0; i < sizeof(del) / sizeof(del[0]); i++) {
		struct scx_dp_cmd c = {.op = del[i].op, .num = del[i].num};

		apply(r, &c);
	}
}

unsigned
rig_step(struct rig *r, struct scx_wire *wire, unsigned budget)
{
	unsigned work = scx_dp_step(r->dp, wire, budget);
	struct scx_dp_report rep;

	while (scx_dp_take_report(r->dp, &rep)) /* bound: what one step can report */
		r->reports++;
	return work;
}
