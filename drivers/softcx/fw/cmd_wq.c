/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of send and receive queues. The states are RST, RDY and ERR; the data path moves a queue
 * to ERR by itself, so the state that a modify command names is compared with the data path's.
 * Called by cmd.c with a checked mailbox.
 */
#include <string.h>

#include "ring.h"

static const uint32_t sqc_not_offered[] = {
	CRL_PRM_SQC_RLKY,
	CRL_PRM_SQC_CD_MASTER,
	CRL_PRM_SQC_REG_UMR,
	CRL_PRM_SQC_ALLOW_SWP,
	CRL_PRM_SQC_HAIRPIN,
	CRL_PRM_SQC_NON_WIRE,
	CRL_PRM_SQC_STATIC_SQ_WQ,
	CRL_PRM_SQC_HAIRPIN_PEER_RQ,
	CRL_PRM_SQC_HAIRPIN_PEER_VHCA,
	CRL_PRM_SQC_TS_CQE_TO_DEST_CQN,
	CRL_PRM_SQC_PACKET_PACING_RATE_LIMIT_INDEX,
	CRL_PRM_SQC_QOS_QUEUE_GROUP_ID,
};

static const uint32_t rqc_not_offered[] = {
	CRL_PRM_RQC_RLKY,
	CRL_PRM_RQC_DELAY_DROP_EN,
	CRL_PRM_RQC_HAIRPIN,
	CRL_PRM_RQC_RMPN,
	CRL_PRM_RQC_HAIRPIN_PEER_SQ,
	CRL_PRM_RQC_HAIRPIN_PEER_VHCA,
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* mlx5_core's queue for its own operations sends no packets. */
static bool
without_tis(const struct scx_fw_call *c, const void *sqc)
{
	return c->nic->cfg.guest != NULL && c->uid == 0 &&
	       crl_prm_get(sqc, CRL_PRM_SQC_TIS_LST_SZ) == 0;
}

static int
check_sq(struct scx_fw_call *c, const void *sqc)
{
	uint32_t state = crl_prm_get(sqc, CRL_PRM_SQC_STATE);
	uint32_t mode = crl_prm_get(sqc, CRL_PRM_SQC_MIN_WQE_INLINE_MODE);
	uint32_t ts = crl_prm_get(sqc, CRL_PRM_SQC_TS_FORMAT);

	if (!scx_fw_fields_zero(c, SCX_LAYOUT_SQC, sqc, sqc_not_offered, NR(sqc_not_offered)))
		return -1;
	if (state != CRL_Q_STATE_RST)
		return scx_fw_refuse(c, SCX_FW_R_CREATE_STATE, sqc, 4, "state is %u", state);
	if (mode > CRL_INLINE_TCP_UDP || mode < c->nic->profile->inline_min)
		return scx_fw_refuse(c, SCX_FW_R_INLINE_MODE, sqc, 4,
			"min_wqe_inline_mode is %u, the vport asks for %u", mode,
			c->nic->profile->inline_min);
	if (!scx_fw_ts_ok(c->nic, ts))
		return scx_fw_refuse(c, SCX_FW_R_TS_FORMAT, sqc, 4,
			"ts_format is %u, sq_ts_format %u", ts, c->nic->profile->ts_cap);
	if (crl_prm_get(sqc, CRL_PRM_SQC_TIS_LST_SZ) != 1 && !without_tis(c, sqc))
		return scx_fw_refuse(c, SCX_FW_R_TIS_LIST, NULL, 0, "tis_lst_sz is %u",
			crl_prm_get(sqc, CRL_PRM_SQC_TIS_LST_SZ));
	return scx_fw_wq_check(
		c, crl_prm_at(sqc, CRL_PRM_SQC_WQ), SCX_LOG_SQ_STRIDE, SCX_LOG_SQ_STRIDE);
}

static int
fill_sq(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *sqc, struct scx_dp_sq *sq)
{
	const void *wq = crl_prm_at(sqc, CRL_PRM_SQC_WQ);
	struct scx_fw_ring r;
	int rc;

	sq->sqn = obj->num;
	sq->cqn = crl_prm_get(sqc, CRL_PRM_SQC_CQN);
	sq->uar_page = crl_prm_get(wq, CRL_PRM_WQ_UAR_PAGE);
	sq->pdn = crl_prm_get(wq, CRL_PRM_WQ_PD);
	sq->user_index = crl_prm_get(sqc, CRL_PRM_SQC_USER_INDEX);
	sq->log_depth = crl_prm_get(wq, CRL_PRM_WQ_LOG_WQ_SZ);
	sq->flush_in_error = (uint8_t)crl_prm_get(sqc, CRL_PRM_SQC_FLUSH_IN_ERROR_EN);
	sq->allow_mpw = (uint8_t)crl_prm_get(sqc, CRL_PRM_SQC_ALLOW_MULTI_PKT_SEND_WQE);
	/* mlx5_core sends enhanced MPW without saying so before; real cards let it. */
	if (c->nic->cfg.guest != NULL && c->uid == 0)
		sq->allow_mpw = sq->allow_tso = 1;
	sq->min_inline_mode = (uint8_t)crl_prm_get(sqc, CRL_PRM_SQC_MIN_WQE_INLINE_MODE);
	if (scx_fw_get_hold(c, obj, SCX_FW_CQ, sq->cqn) == NULL ||
		(!without_tis(c, sqc) &&
			scx_fw_get_hold(c, obj, SCX_FW_TIS,
				crl_prm_get(sqc, CRL_PRM_SQC_TIS_NUM_0)) == NULL) ||
		scx_fw_get_hold(c, obj, SCX_FW_UAR, sq->uar_page) == NULL)
		return -1;
	rc = scx_fw_wq_place(c, obj, wq, &r);
	sq->ring = r.buf;
	sq->dbrec = r.dbrec;
	return rc;
}

/* What both create commands end with; frees obj when something was refused. */
static int
finish(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *ctx, int rc,
	struct scx_dp_cmd *cmd, uint32_t out_field)
{
	if (rc == 0)
		rc = scx_fw_tell(c, cmd);
	if (rc != 0) {
		scx_fw_free(c->nic, obj);
		return rc;
	}
	memcpy(obj->ctx, ctx, CRL_PRM_SQC_BYTES);
	crl_prm_set(c->out, out_field, obj->num);
	c->made.num = obj->num;
	return 0;
}

int
scx_cmd_create_sq(struct scx_fw_call *c)
{
	const void *sqc = crl_prm_at(c->in, CRL_PRM_CREATE_SQ_IN_CTX);
	struct scx_dp_cmd cmd = {.op = SCX_DP_SQ_SET};
	struct scx_fw_obj *obj;
	int rc = check_sq(c, sqc);

	if (rc != 0)
		return rc;
	obj = scx_fw_new(c, SCX_FW_SQ);
	if (obj == NULL)
		return -1;
	rc = fill_sq(c, obj, sqc, &cmd.u.sq);
	return finish(c, obj, sqc, rc, &cmd, CRL_PRM_CREATE_SQ_OUT_SQN);
}

static int
check_rq(struct scx_fw_call *c, const void *rqc)
{
	uint32_t state = crl_prm_get(rqc, CRL_PRM_RQC_STATE);
	uint32_t ts = crl_prm_get(rqc, CRL_PRM_RQC_TS_FORMAT);

	if (!scx_fw_fields_zero(c, SCX_LAYOUT_RQC, rqc, rqc_not_offered, NR(rqc_not_offered)))
		return -1;
	if (state != CRL_Q_STATE_RST)
		return scx_fw_refuse(c, SCX_FW_R_CREATE_STATE, rqc, 4, "state is %u", state);
	if (crl_prm_get(rqc, CRL_PRM_RQC_MEM_RQ_TYPE) != CRL_MEM_RQ_INLINE)
		return scx_fw_refuse(c, SCX_FW_R_RQ_TYPE, rqc, 4, "mem_rq_type is %u",
			crl_prm_get(rqc, CRL_PRM_RQC_MEM_RQ_TYPE));
	if (!scx_fw_ts_ok(c->nic, ts))
		return scx_fw_refuse(c, SCX_FW_R_TS_FORMAT, rqc, 4,
			"ts_format is %u, rq_ts_format %u", ts, c->nic->profile->ts_cap);
	return scx_fw_wq_check(
		c, crl_prm_at(rqc, CRL_PRM_RQC_WQ), SCX_LOG_RQ_STRIDE_MIN, SCX_LOG_RQ_STRIDE_MAX);
}

static int
fill_rq(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *rqc, struct scx_dp_rq *rq)
{
	const void *wq = crl_prm_at(rqc, CRL_PRM_RQC_WQ);
	struct scx_fw_ring r;
	int rc;

	rq->rqn = obj->num;
	rq->cqn = crl_prm_get(rqc, CRL_PRM_RQC_CQN);
	rq->pdn = crl_prm_get(wq, CRL_PRM_WQ_PD);
	rq->user_index = crl_prm_get(rqc, CRL_PRM_RQC_USER_INDEX);
	rq->counter_set = crl_prm_get(rqc, CRL_PRM_RQC_COUNTER_SET_ID);
	rq->log_depth = crl_prm_get(wq, CRL_PRM_WQ_LOG_WQ_SZ);
	rq->log_stride = crl_prm_get(wq, CRL_PRM_WQ_LOG_WQ_STRIDE);
	rq->vlan_strip = !crl_prm_get(rqc, CRL_PRM_RQC_VSD);
	rq->scatter_fcs = (uint8_t)crl_prm_get(rqc, CRL_PRM_RQC_SCATTER_FCS);
	rq->flush_in_error = (uint8_t)crl_prm_get(rqc, CRL_PRM_RQC_FLUSH_IN_ERROR_EN);
	/* mlx5_core sets the bit in every entry that it posts. */
	rq->start_padding = c->nic->cfg.guest != NULL && c->uid == 0;
	if (scx_fw_get_hold(c, obj, SCX_FW_CQ, rq->cqn) == NULL)
		return -1;
	if (rq->counter_set != 0 &&
		scx_fw_get_hold(c, obj, SCX_FW_QCOUNTER, rq->counter_set) == NULL)
		return -1;
	rc = scx_fw_wq_place(c, obj, wq, &r);
	rq->ring = r.buf;
	rq->dbrec = r.dbrec;
	return rc;
}

int
scx_cmd_create_rq(struct scx_fw_call *c)
{
	const void *rqc = crl_prm_at(c->in, CRL_PRM_CREATE_RQ_IN_CTX);
	struct scx_dp_cmd cmd = {.op = SCX_DP_RQ_SET};
	struct scx_fw_obj *obj;
	int rc = check_rq(c, rqc);

	if (rc != 0)
		return rc;
	obj = scx_fw_new(c, SCX_FW_RQ);
	if (obj == NULL)
		return -1;
	rc = fill_rq(c, obj, rqc, &cmd.u.rq);
	return finish(c, obj, rqc, rc, &cmd, CRL_PRM_CREATE_RQ_OUT_RQN);
}

/* What the data path says: state and both indices. */
static int
ask(struct scx_fw_call *c, enum scx_dp_op op, uint32_t num, struct scx_dp_cmd *cmd)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->op = op;
	cmd->num = num;
	return scx_fw_tell(c, cmd);
}

/* Everything from a state to a state is allowed but for two steps that lead around RST or RDY. */
static bool
step_ok(uint32_t from, uint32_t to)
{
	return !(from == CRL_Q_STATE_ERR && to == CRL_Q_STATE_RDY) &&
	       !(from == CRL_Q_STATE_RST && to == CRL_Q_STATE_ERR);
}

static bool
state_ok(uint32_t state)
{
	return state == CRL_Q_STATE_RST || state == CRL_Q_STATE_RDY || state == CRL_Q_STATE_ERR;
}

static int
check_step(struct scx_fw_call *c, uint32_t from, uint32_t to, uint32_t now)
{
	if (!state_ok(from) || !state_ok(to))
		return scx_fw_refuse(
			c, SCX_FW_R_STATE_VALUE, NULL, 0, "from state %u to state %u", from, to);
	if (from != now)
		return scx_fw_refuse(c, SCX_FW_R_STATE_NOW, NULL, 0,
			"the command says that the queue is in state %u, it is in %u", from, now);
	if (!step_ok(from, to))
		return scx_fw_refuse(
			c, SCX_FW_R_STATE_STEP, NULL, 0, "from state %u to state %u", from, to);
	return 0;
}

/* A step that stays where it is only selects fields: the queue's indices are left alone. */
static int
set_state(struct scx_fw_call *c, enum scx_dp_op op, uint32_t num, uint32_t from, uint32_t to)
{
	struct scx_dp_cmd cmd = {.op = op, .num = num, .arg = to};

	return from == to ? 0 : scx_fw_tell(c, &cmd);
}

int
scx_cmd_modify_sq(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_SQ, crl_prm_get(c->in, CRL_PRM_MODIFY_SQ_IN_SQN));
	const void *sqc = crl_prm_at(c->in, CRL_PRM_MODIFY_SQ_IN_CTX);
	uint64_t bits = crl_prm_get64(c->in, CRL_PRM_MODIFY_SQ_IN_MODIFY_BITMASK);
	uint32_t from = crl_prm_get(c->in, CRL_PRM_MODIFY_SQ_IN_SQ_STATE);
	uint32_t to = crl_prm_get(sqc, CRL_PRM_SQC_STATE);
	struct scx_dp_cmd cmd;
	int rc;

	if (obj == NULL)
		return -1;
	if (bits != 0)
		return scx_fw_refuse(c, SCX_FW_R_MODIFY_BITS, c->in + 16, 8,
			"modify_bitmask is 0x%llx", (unsigned long long)bits);
	rc = ask(c, SCX_DP_QUERY_SQ, obj->num, &cmd);
	if (rc == 0)
		rc = check_step(c, from, to, (uint32_t)cmd.result[0]);
	return rc == 0 ? set_state(c, SCX_DP_SQ_STATE, obj->num, from, to) : rc;
}

int
scx_cmd_modify_rq(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_RQ, crl_prm_get(c->in, CRL_PRM_MODIFY_RQ_IN_RQN));
	const void *rqc = crl_prm_at(c->in, CRL_PRM_MODIFY_RQ_IN_CTX);
	uint64_t bits = crl_prm_get64(c->in, CRL_PRM_MODIFY_RQ_IN_MODIFY_BITMASK);
	uint32_t from = crl_prm_get(c->in, CRL_PRM_MODIFY_RQ_IN_RQ_STATE);
	uint32_t to = crl_prm_get(rqc, CRL_PRM_RQC_STATE), vsd = crl_prm_get(rqc, CRL_PRM_RQC_VSD);
	struct scx_dp_cmd cmd;
	int rc;

	if (obj == NULL)
		return -1;
	if ((bits & ~(uint64_t)CRL_MODIFY_RQ_VSD) != 0)
		return scx_fw_refuse(c, SCX_FW_R_MODIFY_BITS, c->in + 16, 8,
			"modify_bitmask is 0x%llx", (unsigned long long)bits);
	rc = ask(c, SCX_DP_QUERY_RQ, obj->num, &cmd);
	if (rc == 0)
		rc = check_step(c, from, to, (uint32_t)cmd.result[0]);
	if (rc == 0 && bits != 0) {
		cmd = (struct scx_dp_cmd){.op = SCX_DP_RQ_VLAN_STRIP, .num = obj->num, .arg = !vsd};
		rc = scx_fw_tell(c, &cmd);
		if (rc == 0)
			crl_prm_set(obj->ctx, CRL_PRM_RQC_VSD, vsd);
	}
	return rc == 0 ? set_state(c, SCX_DP_RQ_STATE, obj->num, from, to) : rc;
}

int
scx_cmd_query_sq(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_SQ, crl_prm_get(c->in, CRL_PRM_QUERY_SQ_IN_SQN));
	void *sqc = crl_prm_at(c->out, CRL_PRM_QUERY_SQ_OUT_SQ_CONTEXT);
	void *wq = crl_prm_at(sqc, CRL_PRM_SQC_WQ);
	struct scx_dp_cmd cmd;
	int rc;

	if (obj == NULL)
		return -1;
	rc = ask(c, SCX_DP_QUERY_SQ, obj->num, &cmd);
	if (rc != 0)
		return rc;
	memcpy(sqc, obj->ctx, CRL_PRM_SQC_BYTES);
	crl_prm_set(sqc, CRL_PRM_SQC_STATE, (uint32_t)cmd.result[0]);
	crl_prm_set(wq, CRL_PRM_WQ_SW_COUNTER, (uint32_t)cmd.result[1]);
	crl_prm_set(wq, CRL_PRM_WQ_HW_COUNTER, (uint32_t)cmd.result[2]);
	return 0;
}

int
scx_cmd_query_rq(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_RQ, crl_prm_get(c->in, CRL_PRM_QUERY_RQ_IN_RQN));
	void *rqc = crl_prm_at(c->out, CRL_PRM_QUERY_RQ_OUT_RQ_CONTEXT);
	void *wq = crl_prm_at(rqc, CRL_PRM_RQC_WQ);
	struct scx_dp_cmd cmd;
	int rc;

	if (obj == NULL)
		return -1;
	rc = ask(c, SCX_DP_QUERY_RQ, obj->num, &cmd);
	if (rc != 0)
		return rc;
	memcpy(rqc, obj->ctx, CRL_PRM_RQC_BYTES);
	crl_prm_set(rqc, CRL_PRM_RQC_STATE, (uint32_t)cmd.result[0]);
	crl_prm_set(wq, CRL_PRM_WQ_SW_COUNTER, (uint32_t)cmd.result[1]);
	crl_prm_set(wq, CRL_PRM_WQ_HW_COUNTER, (uint32_t)cmd.result[2]);
	return 0;
}

int
scx_cmd_destroy_sq(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_SQ, CRL_PRM_DESTROY_SQ_IN_SQN);
}

int
scx_cmd_destroy_rq(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_RQ, CRL_PRM_DESTROY_RQ_IN_RQN);
}
