/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands that change the data path's tables, carried out between two steps. The firmware has
 * checked what they say; here only what would make the data path itself wrong is checked.
 */
#ifndef SCX_DP_CONTROL_H
#define SCX_DP_CONTROL_H

#include <errno.h>

#include "batch.h"

/* Rebuild lists of a page after a queue came or went; pages without queues are not watched. */
SCX_SLOW void scx_pages_rebuild(struct scx_dp *dp)
{
	uint32_t i;

	for (i = 0; i < dp->nr_uar_pages; i++)
		dp->page[i].sq = dp->page[i].cq = SCX_NONE;
	for (i = 0; i < SCX_DP_SQ_MAX; i++) {
		if (!dp->sq[i].used)
			continue;
		dp->sq[i].next = dp->page[dp->sq[i].q.uar_page].sq;
		dp->page[dp->sq[i].q.uar_page].sq = i;
	}
	for (i = 0; i < SCX_DP_CQ_MAX; i++) {
		if (!dp->cq[i].used)
			continue;
		dp->cq[i].next = dp->page[dp->cq[i].q.uar_page].cq;
		dp->page[dp->cq[i].q.uar_page].cq = i;
	}
	for (i = 0, dp->nr_active = 0; i < dp->nr_uar_pages; i++) {
		if (dp->page[i].sq != SCX_NONE || dp->page[i].cq != SCX_NONE)
			dp->active[dp->nr_active++] = i;
	}
}

/* A page that was not watched may hold doorbells of queues long gone. */
SCX_SLOW void scx_page_forget(struct scx_dp *dp, uint32_t nr)
{
	const uint8_t *uar = dp->uar + (size_t)nr * CRL_UAR_BYTES;
	struct scx_page *p = &dp->page[nr];
	uint32_t r;

	if (p->sq != SCX_NONE || p->cq != SCX_NONE)
		return;
	p->arm = scx_ld64(uar + CRL_UAR_CQ_ARM);
	for (r = 0; r < SCX_SEND_REGS; r++)
		p->reg[r] = scx_ld64(uar + CRL_UAR_BF_REG + r * CRL_UAR_BF_REG_BYTES);
}

SCX_FN struct scx_cq *scx_cq_find(struct scx_dp *dp, uint32_t cqn)
{
	struct scx_cq *cq = &dp->cq[cqn & (SCX_DP_CQ_MAX - 1u)];

	return cq->used && cq->q.cqn == cqn ? cq : NULL;
}

SCX_FN struct scx_sq *scx_sq_find(struct scx_dp *dp, uint32_t sqn)
{
	struct scx_sq *sq = &dp->sq[sqn & (SCX_DP_SQ_MAX - 1u)];

	return sq->used && sq->q.sqn == sqn ? sq : NULL;
}

SCX_SLOW int scx_cq_set(struct scx_dp *dp, const struct scx_dp_cq *q)
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
	cq->used = 1;
	scx_pages_rebuild(dp);
	return 0;
}

SCX_SLOW int scx_sq_set(struct scx_dp *dp, const struct scx_dp_sq *q)
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
	sq->used = 1;
	scx_pages_rebuild(dp);
	return 0;
}

/* Take the queue out of the ring of those with work. */
SCX_SLOW void scx_run_remove(struct scx_dp *dp, struct scx_sq *sq)
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

SCX_SLOW int scx_sq_state(struct scx_dp *dp, uint32_t sqn, uint32_t state)
{
	struct scx_sq *sq = scx_sq_find(dp, sqn);

	if (sq == NULL)
		return -ENOENT;
	if (state == SCX_WQ_RST || sq->q.state == SCX_WQ_RST) {
		scx_run_remove(dp, sq);
		sq->pi = sq->ci = 0;
		sq->first_err_told = 0;
	}
	sq->q.state = (uint8_t)state;
	if (state == SCX_WQ_ERR)
		scx_sq_sample(dp, sq); /* posted and not fetched: flushed in the next step */
	return 0;
}

SCX_SLOW int scx_rq_set(struct scx_dp *dp, const struct scx_dp_rq *q)
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
	rq->used = 1;
	scx_steer_changed(dp);
	return 0;
}

SCX_SLOW int scx_rq_state(struct scx_dp *dp, uint32_t rqn, uint32_t state)
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

SCX_SLOW int scx_mkey_set(struct scx_dp *dp, const struct scx_dp_mkey *k)
{
	struct scx_dp_mkey *m = &dp->mkey[k->key >> 8 & (SCX_DP_MKEY_MAX - 1u)];

	if (m->bytes != 0)
		return -EEXIST;
	if (k->bytes == 0)
		return -EINVAL;
	*m = *k;
	return 0;
}

SCX_SLOW int scx_mkey_del(struct scx_dp *dp, uint32_t key)
{
	struct scx_dp_mkey *m = &dp->mkey[key >> 8 & (SCX_DP_MKEY_MAX - 1u)];

	if (m->bytes == 0 || m->key != key)
		return -ENOENT;
	memset(m, 0, sizeof(*m)); /* queues that remember this entry see bytes 0 */
	return 0;
}

/* TIR_SET and RQT_SET of an object that is there replace it: MODIFY_TIR, MODIFY_RQT. */
SCX_SLOW int scx_tir_set(struct scx_dp *dp, const struct scx_dp_tir *t)
{
	uint32_t slot = t->tirn & (SCX_DP_TIR_MAX - 1u);

	if (dp->tir_used[slot] && dp->tir[slot].tirn != t->tirn)
		return -EEXIST;
	dp->tir[slot] = *t;
	dp->tir[slot].fields &= SCX_HASH_ALL;
	dp->tir_used[slot] = 1;
	scx_steer_changed(dp);
	return 0;
}

SCX_SLOW int scx_rqt_set(struct scx_dp *dp, const struct scx_dp_rqt *t)
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
SCX_SLOW int scx_rule_add(struct scx_dp *dp, const struct scx_dp_rule *r)
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
	memmove(&dp->rule_order[at + 1], &dp->rule_order[at],
		(dp->nr_rules - at) * sizeof(dp->rule_order[0]));
	dp->rule_order[at] = slot;
	dp->nr_rules++;
	scx_steer_changed(dp);
	return 0;
}

SCX_SLOW int scx_rule_del(struct scx_dp *dp, uint32_t id)
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
	memmove(&dp->rule_order[at], &dp->rule_order[at + 1],
		(dp->nr_rules - at) * sizeof(dp->rule_order[0]));
	scx_steer_changed(dp);
	return 0;
}

SCX_SLOW int scx_object_del(struct scx_dp *dp, enum scx_dp_op op, uint32_t num)
{
	struct scx_cq *cq = scx_cq_find(dp, num);
	struct scx_sq *sq = scx_sq_find(dp, num);
	struct scx_rq *rq = scx_rq_find(dp, num);
	struct scx_dp_rqt *rqt = &dp->rqt[num & (SCX_DP_RQT_MAX - 1u)];
	uint32_t slot = num & (SCX_DP_TIR_MAX - 1u);

	if (op == SCX_DP_CQ_DEL && cq != NULL) {
		cq->used = 0;
		scx_pages_rebuild(dp);
	} else if (op == SCX_DP_SQ_DEL && sq != NULL) {
		scx_run_remove(dp, sq);
		sq->used = 0;
		scx_pages_rebuild(dp);
	} else if (op == SCX_DP_RQ_DEL && rq != NULL) {
		rq->used = 0;
		scx_steer_changed(dp);
	} else if (op == SCX_DP_TIR_DEL && dp->tir_used[slot] && dp->tir[slot].tirn == num) {
		dp->tir_used[slot] = 0;
		scx_steer_changed(dp);
	} else if (op == SCX_DP_RQT_DEL && rqt->len != 0 && rqt->rqtn == num) {
		rqt->len = 0;
		scx_steer_changed(dp);
	} else {
		return -ENOENT;
	}
	return 0;
}

SCX_SLOW int scx_query(struct scx_dp *dp, struct scx_dp_cmd *cmd)
{
	const struct scx_sq *sq = scx_sq_find(dp, cmd->num);
	const struct scx_rq *rq = scx_rq_find(dp, cmd->num);
	const struct scx_cq *cq = scx_cq_find(dp, cmd->num);

	if (cmd->op == SCX_DP_QUERY_SQ && sq != NULL) {
		cmd->result[0] = sq->q.state;
		cmd->result[1] = sq->pi;
		cmd->result[2] = sq->ci;
		return 0;
	}
	if (cmd->op == SCX_DP_QUERY_CQ && cq != NULL) {
		cmd->result[0] = cq->failed;
		cmd->result[1] = cq->pi;
		cmd->result[2] = cq->ci;
		return 0;
	}
	if (cmd->op == SCX_DP_QUERY_RQ && rq != NULL) {
		cmd->result[0] = rq->q.state;
		cmd->result[1] = rq->pi;
		cmd->result[2] = rq->ci;
		return 0;
	}
	return -ENOENT;
}

SCX_SLOW int scx_counter_read(struct scx_dp *dp, struct scx_dp_cmd *cmd)
{
	if (cmd->num >= SCX_DP_COUNTER_MAX)
		return -ENOENT;
	cmd->result[0] = dp->out_of_buffer[cmd->num];
	if (cmd->arg & 1u)
		dp->out_of_buffer[cmd->num] = 0;
	return 0;
}

/* An MTU is of layer 3; a port lets two VLAN tags pass on top of it. */
SCX_FN void scx_port_set(struct scx_dp *dp, uint32_t mtu)
{
	uint32_t max = mtu + SCX_ETH_HLEN + 2 * SCX_VLAN_HLEN;

	dp->link_up = mtu != 0;
	if (mtu != 0)
		dp->frame_max =
			mtu > SCX_DP_FRAME_MAX || max > SCX_DP_FRAME_MAX ? SCX_DP_FRAME_MAX : max;
}

SCX_SLOW int scx_apply(struct scx_dp *dp, struct scx_dp_cmd *cmd)
{
	switch (cmd->op) {
	case SCX_DP_CQ_SET:
		return scx_cq_set(dp, &cmd->u.cq);
	case SCX_DP_SQ_SET:
		return scx_sq_set(dp, &cmd->u.sq);
	case SCX_DP_SQ_STATE:
		return scx_sq_state(dp, cmd->num, cmd->arg);
	case SCX_DP_RQ_SET:
		return scx_rq_set(dp, &cmd->u.rq);
	case SCX_DP_RQ_STATE:
		return scx_rq_state(dp, cmd->num, cmd->arg);
	case SCX_DP_MKEY_SET:
		return scx_mkey_set(dp, &cmd->u.mkey);
	case SCX_DP_MKEY_DEL:
		return scx_mkey_del(dp, cmd->num);
	case SCX_DP_TIR_SET:
		return scx_tir_set(dp, &cmd->u.tir);
	case SCX_DP_RQT_SET:
		return scx_rqt_set(dp, &cmd->u.rqt);
	case SCX_DP_RULE_ADD:
		return scx_rule_add(dp, &cmd->u.rule);
	case SCX_DP_RULE_DEL:
		return scx_rule_del(dp, cmd->num);
	case SCX_DP_COUNTER_READ:
		return scx_counter_read(dp, cmd);
	case SCX_DP_QUERY_SQ:
	case SCX_DP_QUERY_RQ:
	case SCX_DP_QUERY_CQ:
		return scx_query(dp, cmd);
	case SCX_DP_RQ_VLAN_STRIP:
		return scx_rq_vlan_strip(dp, cmd->num, cmd->arg);
	case SCX_DP_PORT_SET:
		scx_port_set(dp, cmd->arg);
		return 0;
	case SCX_DP_CQ_DEL:
	case SCX_DP_SQ_DEL:
	case SCX_DP_RQ_DEL:
	case SCX_DP_TIR_DEL:
	case SCX_DP_RQT_DEL:
		return scx_object_del(dp, cmd->op, cmd->num);
	}
	return -EINVAL;
}

/* A page nobody uses has nothing on its lists. */
SCX_FN void scx_state_init(struct scx_dp *dp, void *uar, uint32_t nr_uar_pages, uint64_t seed)
{
	uint32_t i;

	memset(dp, 0, offsetof(struct scx_dp, stage));
	dp->uar = (uint8_t *)uar;
	dp->nr_uar_pages = nr_uar_pages < SCX_UAR_PAGES_MAX ? nr_uar_pages : SCX_UAR_PAGES_MAX;
	for (i = 0; i < dp->nr_uar_pages; i++)
		dp->page[i].sq = dp->page[i].cq = SCX_NONE;
	for (i = 0; i < SCX_DP_RULE_MAX; i++)
		dp->rule_free[i] = (uint16_t)i;
	dp->generation = 1; /* cached flows start with 0 */
	scx_fault_seed(&dp->fault, seed);
	scx_port_set(dp, 1500);
}

#endif /* SCX_DP_CONTROL_H */
