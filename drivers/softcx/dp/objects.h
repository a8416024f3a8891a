/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making, changing and deleting the objects in the tables, between two steps. The firmware has
 * checked what it says; here only what would make the data path itself wrong is checked.
 */
#ifndef SCX_DP_OBJECTS_H
#define SCX_DP_OBJECTS_H

#include <errno.h>

#include "doorbell.h"
#include "receive.h"
#include "steer.h"

/*
 * The lists of a page, highest slot first, and the pages that have any, in rising order. Kept as
 * queues come and go, so that a thousand queues do not cost a million steps.
 */
SCX_SLOW void
scx_sq_link(struct scx_dp *dp, uint32_t i)
{
	uint32_t *at = &dp->page[dp->sq[i].q.uar_page].sq;

	while (*at != SCX_NONE && *at > i)
		at = &dp->sq[*at].next;
	dp->sq[i].next = *at;
	*at = i;
}

SCX_SLOW void
scx_sq_unlink(struct scx_dp *dp, uint32_t i)
{
	uint32_t *at = &dp->page[dp->sq[i].q.uar_page].sq;

	while (*at != i) /* it is there */
		at = &dp->sq[*at].next;
	*at = dp->sq[i].next;
}

SCX_SLOW void
scx_cq_link(struct scx_dp *dp, uint32_t i)
{
	uint32_t *at = &dp->page[dp->cq[i].q.uar_page].cq;

	while (*at != SCX_NONE && *at > i)
		at = &dp->cq[*at].next;
	dp->cq[i].next = *at;
	*at = i;
}

SCX_SLOW void
scx_cq_unlink(struct scx_dp *dp, uint32_t i)
{
	uint32_t *at = &dp->page[dp->cq[i].q.uar_page].cq;

	while (*at != i) /* it is there */
		at = &dp->cq[*at].next;
	*at = dp->cq[i].next;
}

/* After a queue came or went: pages without queues are not watched. */
SCX_SLOW void
scx_page_watch(struct scx_dp *dp, uint32_t page)
{
	bool want = dp->page[page].sq != SCX_NONE || dp->page[page].cq != SCX_NONE;
	uint32_t at = dp->nr_active, i;

	while (at > 0 && dp->active[at - 1u] >= page)
		at--;
	if (want == (at < dp->nr_active && dp->active[at] == page))
		return;
	if (want) {
		for (i = dp->nr_active++; i > at; i--)
			dp->active[i] = dp->active[i - 1u];
		dp->active[at] = page;
	} else {
		for (i = at, dp->nr_active--; i < dp->nr_active; i++)
			dp->active[i] = dp->active[i + 1u];
	}
}

/* A page that was not watched may hold doorbells of queues long gone. */
SCX_SLOW void
scx_page_forget(struct scx_dp *dp, uint32_t nr)
{
	uint8_t *uar = dp->uar + (size_t)nr * CRL_UAR_BYTES;
	uint32_t r;

	if (dp->page[nr].sq != SCX_NONE || dp->page[nr].cq != SCX_NONE)
		return;
	(void)scx_take64(uar + CRL_UAR_CQ_ARM);
	for (r = 0; r < SCX_SEND_REGS; r++)
		(void)scx_take64(uar + CRL_UAR_BF_REG + r * CRL_UAR_BF_REG_BYTES);
}

SCX_FN struct scx_cq *
scx_cq_find(struct scx_dp *dp, uint32_t cqn)
{
	struct scx_cq *cq = &dp->cq[cqn & (SCX_DP_CQ_MAX - 1u)];

	return cq->used && cq->q.cqn == cqn ? cq : NULL;
}

SCX_FN struct scx_sq *
scx_sq_find(struct scx_dp *dp, uint32_t sqn)
{
	struct scx_sq *sq = &dp->sq[sqn & (SCX_DP_SQ_MAX - 1u)];

	return sq->used && sq->q.sqn == sqn ? sq : NULL;
}

SCX_SLOW int
scx_cq_set(struct scx_dp *dp, const struct scx_dp_cq *q)
{
	struct scx_cq *cq = &dp->cq[q->cqn & (SCX_DP_CQ_MAX - 1u)];

	if (cq->used)
		return -EEXIST;
	if (q->uar_page >= dp->nr_uar_pages || q->log_depth > 22 ||
		q->ring.bytes < (uint64_t)(q->collapsed ? 1u : 1u << q->log_depth) * CRL_CQE_BYTES)
		return -EINVAL;
	scx_page_forget(dp, q->uar_page);
	memset(cq, 0, sizeof(*cq));
	cq->q = *q;
	cq->mask = q->collapsed ? 0 : (1u << q->log_depth) - 1u;
	cq->dump = q->ring.dump;
	cq->used = 1;
	scx_cq_link(dp, (uint32_t)(cq - dp->cq));
	scx_page_watch(dp, q->uar_page);
	return 0;
}

SCX_SLOW int
scx_sq_set(struct scx_dp *dp, const struct scx_dp_sq *q)
{
	struct scx_sq *sq = &dp->sq[q->sqn & (SCX_DP_SQ_MAX - 1u)];
	struct scx_cq *cq = scx_cq_find(dp, q->cqn);

	if (sq->used)
		return -EEXIST;
	if (cq == NULL || q->uar_page >= dp->nr_uar_pages || q->log_depth > 15 ||
		q->ring.bytes < (uint64_t)CRL_WQEBB_BYTES << q->log_depth)
		return -EINVAL;
	scx_page_forget(dp, q->uar_page);
	memset(sq, 0, sizeof(*sq));
	sq->q = *q;
	sq->cq = cq;
	sq->dump = q->ring.dump;
	sq->used = 1;
	cq->users++;
	scx_sq_link(dp, (uint32_t)(sq - dp->sq));
	scx_page_watch(dp, q->uar_page);
	return 0;
}

/* Take the queue out of the ring of those with work. */
SCX_SLOW void
scx_run_remove(struct scx_dp *dp, struct scx_sq *sq)
{
	uint32_t i, kept = 0;

	for (i = 0; i < dp->run_nr; i++) {
		uint32_t slot = dp->run[(dp->run_head + i) & (SCX_DP_SQ_MAX - 1u)];

		if (slot != (uint32_t)(sq - dp->sq))
			dp->run[(dp->run_head + kept++) & (SCX_DP_SQ_MAX - 1u)] = slot;
	}
	dp->run_nr = kept;
	sq->runnable = 0;
}

SCX_SLOW int
scx_sq_state(struct scx_dp *dp, uint32_t sqn, uint32_t state)
{
	struct scx_sq *sq = scx_sq_find(dp, sqn);

	if (sq == NULL)
		return -ENOENT;
	if (state == SCX_WQ_RST || sq->q.state == SCX_WQ_RST) {
		scx_run_remove(dp, sq);
		sq->pi = sq->ci = sq->ahead = 0;
		sq->first_err_told = 0;
	}
	sq->q.state = (uint8_t)state;
	if (state == SCX_WQ_ERR)
		scx_sq_sample(dp, sq); /* posted and not fetched: flushed in the next step */
	return 0;
}

SCX_SLOW int
scx_rq_set(struct scx_dp *dp, const struct scx_dp_rq *q)
{
	struct scx_rq *rq = &dp->rq[q->rqn & (SCX_DP_RQ_MAX - 1u)];
	struct scx_cq *cq = scx_cq_find(dp, q->cqn);

	if (rq->used)
		return -EEXIST;
	if (cq == NULL || q->log_depth > 15 || q->log_stride < 4 || q->log_stride > 13 ||
		q->ring.bytes < (uint64_t)1 << (q->log_depth + q->log_stride) ||
		q->counter_set >= SCX_DP_COUNTER_MAX)
		return -EINVAL;
	memset(rq, 0, sizeof(*rq));
	rq->q = *q;
	rq->cq = cq;
	rq->dump = q->ring.dump;
	rq->used = 1;
	cq->users++;
	scx_steer_changed(dp);
	return 0;
}

SCX_SLOW int
scx_rq_state(struct scx_dp *dp, uint32_t rqn, uint32_t state)
{
	struct scx_rq *rq = scx_rq_find(dp, rqn);
	uint8_t before;

	if (rq == NULL)
		return -ENOENT;
	before = rq->q.state;
	if (state == SCX_WQ_RST || before == SCX_WQ_RST)
		rq->pi = rq->ci = 0;
	rq->q.state = (uint8_t)state;
	if (state == SCX_WQ_ERR && before == SCX_WQ_RDY)
		scx_rq_flush(dp, rq);
	rq->look = rq->ci;
	return 0;
}

SCX_SLOW int
scx_rq_vlan_strip(struct scx_dp *dp, uint32_t rqn, uint32_t strip)
{
	struct scx_rq *rq = scx_rq_find(dp, rqn);

	if (rq == NULL)
		return -ENOENT;
	rq->q.vlan_strip = strip != 0;
	return 0;
}

SCX_SLOW int
scx_mkey_set(struct scx_dp *dp, const struct scx_dp_mkey *k)
{
	struct scx_dp_mkey *m = &dp->mkey[k->key >> 8 & (SCX_DP_MKEY_MAX - 1u)];

	if (m->bytes != 0)
		return -EEXIST;
	if (k->bytes == 0)
		return -EINVAL;
	*m = *k;
	return 0;
}

SCX_SLOW int
scx_mkey_del(struct scx_dp *dp, uint32_t key)
{
	struct scx_dp_mkey *m = &dp->mkey[key >> 8 & (SCX_DP_MKEY_MAX - 1u)];

	if (m->bytes == 0 || m->key != key)
		return -ENOENT;
	memset(m, 0, sizeof(*m)); /* queues that remember this entry see bytes 0 */
	return 0;
}

/* TIR_SET and RQT_SET of an object that is there replace it: MODIFY_TIR, MODIFY_RQT. */
SCX_SLOW int
scx_tir_set(struct scx_dp *dp, const struct scx_dp_tir *t)
{
	uint32_t slot = t->tirn & (SCX_DP_TIR_MAX - 1u);

	if (dp->tir_used[slot] && dp->tir[slot].tirn != t->tirn)
		return -EEXIST;
	if (dp->tir_used[slot])
		dp->relevant_old = 1; /* it may look at less than before */
	dp->tir[slot] = *t;
	dp->tir[slot].fields &= SCX_HASH_ALL;
	dp->tir_used[slot] = 1;
	scx_steer_new_tir(dp, t);
	return 0;
}

SCX_SLOW int
scx_rqt_set(struct scx_dp *dp, const struct scx_dp_rqt *t)
{
	struct scx_dp_rqt *rqt = &dp->rqt[t->rqtn & (SCX_DP_RQT_MAX - 1u)];

	if (rqt->len != 0 && rqt->rqtn != t->rqtn)
		return -EEXIST;
	if (t->len == 0 || t->len > SCX_DP_RQT_LEN)
		return -EINVAL;
	*rqt = *t;
	scx_steer_changed(dp);
	return 0;
}

/* Into the order of first match: by priority, and the newest before its equals. */
SCX_SLOW int
scx_rule_add(struct scx_dp *dp, const struct scx_dp_rule *r)
{
	uint16_t slot;
	uint32_t at, b;

	if (dp->nr_rules == SCX_DP_RULE_MAX)
		return -ENOSPC;
	for (at = 0; at < dp->nr_rules; at++) {
		if (dp->rule[dp->rule_order[at]].id == r->id)
			return -EEXIST;
	}
	slot = dp->rule_free[SCX_DP_RULE_MAX - 1u - dp->nr_rules];
	dp->rule[slot] = *r;
	for (b = 0; b < SCX_MATCH_BYTES; b++)
		dp->rule[slot].match[b] &= r->mask[b];
	for (at = 0; at < dp->nr_rules; at++) {
		if (dp->rule[dp->rule_order[at]].priority >= r->priority)
			break;
	}
	for (b = dp->nr_rules; b > at; b--)
		dp->rule_order[b] = dp->rule_order[b - 1];
	dp->rule_order[at] = slot;
	dp->nr_rules++;
	scx_steer_new_rule(dp, r);
	return 0;
}

SCX_SLOW int
scx_rule_del(struct scx_dp *dp, uint32_t id)
{
	uint32_t at;

	for (at = 0; at < dp->nr_rules; at++) {
		if (dp->rule[dp->rule_order[at]].id == id)
			break;
	}
	if (at == dp->nr_rules)
		return -ENOENT;
	dp->nr_rules--;
	dp->rule_free[SCX_DP_RULE_MAX - 1u - dp->nr_rules] = dp->rule_order[at];
	for (; at < dp->nr_rules; at++)
		dp->rule_order[at] = dp->rule_order[at + 1];
	scx_steer_gone(dp);
	return 0;
}

SCX_SLOW int
scx_object_del(struct scx_dp *dp, enum scx_dp_op op, uint32_t num)
{
	struct scx_cq *cq = scx_cq_find(dp, num);
	struct scx_sq *sq = scx_sq_find(dp, num);
	struct scx_rq *rq = scx_rq_find(dp, num);
	struct scx_dp_rqt *rqt = &dp->rqt[num & (SCX_DP_RQT_MAX - 1u)];
	uint32_t slot = num & (SCX_DP_TIR_MAX - 1u);

	if (op == SCX_DP_CQ_DEL && cq != NULL) {
		cq->used = 0;
		cq->limit = cq->pi;
		scx_cq_unlink(dp, (uint32_t)(cq - dp->cq));
		scx_page_watch(dp, cq->q.uar_page);
	} else if (op == SCX_DP_SQ_DEL && sq != NULL) {
		scx_run_remove(dp, sq);
		sq->used = 0;
		sq->cq->users--;
		scx_sq_unlink(dp, (uint32_t)(sq - dp->sq));
		scx_page_watch(dp, sq->q.uar_page);
	} else if (op == SCX_DP_RQ_DEL && rq != NULL) {
		rq->used = 0;
		rq->cq->users--;
		scx_steer_changed(dp);
	} else if (op == SCX_DP_TIR_DEL && dp->tir_used[slot] && dp->tir[slot].tirn == num) {
		dp->tir_used[slot] = 0;
		scx_steer_gone(dp);
	} else if (op == SCX_DP_RQT_DEL && rqt->len != 0 && rqt->rqtn == num) {
		rqt->len = 0;
		scx_steer_changed(dp);
	} else {
		return -ENOENT;
	}
	return 0;
}

#endif /* SCX_DP_OBJECTS_H */
