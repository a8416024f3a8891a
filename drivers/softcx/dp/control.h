/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of the control side: what each does to the tables (objects.h), and what it asks.
 */
#ifndef SCX_DP_CONTROL_H
#define SCX_DP_CONTROL_H

#include <errno.h>

#include "batch.h"
#include "objects.h"

SCX_SLOW int
scx_query(struct scx_dp *dp, struct scx_dp_cmd *cmd)
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

SCX_SLOW int
scx_counter_read(struct scx_dp *dp, struct scx_dp_cmd *cmd)
{
	if (cmd->num >= SCX_DP_COUNTER_MAX)
		return -ENOENT;
	cmd->result[0] = dp->out_of_buffer[cmd->num];
	if (cmd->arg & 1u)
		dp->out_of_buffer[cmd->num] = 0;
	return 0;
}

/* An MTU is of layer 3; a port lets two VLAN tags pass on top of it. */
SCX_FN void
scx_port_set(struct scx_dp *dp, uint32_t mtu)
{
	uint32_t max = mtu + SCX_ETH_HLEN + 2 * SCX_VLAN_HLEN;

	dp->link_up = mtu != 0;
	if (mtu != 0)
		dp->frame_max =
			mtu > SCX_DP_FRAME_MAX || max > SCX_DP_FRAME_MAX ? SCX_DP_FRAME_MAX : max;
}

SCX_SLOW int
scx_apply(struct scx_dp *dp, struct scx_dp_cmd *cmd)
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
SCX_FN void
scx_state_init(struct scx_dp *dp, void *uar, uint32_t nr_uar_pages, uint64_t seed)
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
