/* SPDX-License-Identifier: BSD-3-Clause */
/* What the firmware refuses of CQs, SQs and RQs, and of their changes of state. */
#include "refuse.h"

void
refuse_cq(void **state)
{
	static const struct wrong cqc[] = {
		{CRL_PRM_CQC_CQE_SZ, 1, SCX_FW_R_CQE_SIZE},
		{CRL_PRM_CQC_LOG_CQ_SIZE, 23, SCX_FW_R_CQ_SIZE},
		{CRL_PRM_CQC_LOG_CQ_SIZE, 20, SCX_FW_R_RING_BOUNDS},
		{CRL_PRM_CQC_C_EQN, 9, SCX_FW_R_EQN},
		{CRL_PRM_CQC_CQ_PERIOD_MODE, 1, SCX_FW_R_NOT_OFFERED},
		{CRL_PRM_CQC_CQ_PERIOD, 8, SCX_FW_R_NOT_OFFERED},
		{CRL_PRM_CQC_PRODUCER_COUNTER, 1, SCX_FW_R_NOT_OFFERED},
		{CRL_PRM_CQC_DBR_UMEM_VALID, 0, SCX_FW_R_NO_UMEM},
		{CRL_PRM_CQC_DBR_UMEM_ID, 0x7777, SCX_FW_R_NO_OBJECT},
		{CRL_PRM_CQC_UAR_PAGE, 7, SCX_FW_R_NO_OBJECT},
	};
	struct fx *fx = *state;
	uint8_t *ctx = fx_cmd_cq(fx);

	try_fields64(fx, ctx, CRL_PRM_CQC_DBR_ADDR, FX_MEM - 4, SCX_FW_R_RECORD_BOUNDS);
	try_fields64(fx, ctx, CRL_PRM_CQC_DBR_ADDR, UINT64_MAX - 3, SCX_FW_R_RECORD_BOUNDS);
	try_fields64(fx, ctx, CRL_PRM_CQC_DBR_ADDR, FX_CQ_DBREC + 4, SCX_FW_R_RECORD_ALIGN);
	try_fields64(fx, ctx, CRL_PRM_CQC_DBR_ADDR, FX_CQ_RING + 64, SCX_FW_R_RECORD_IN_RING);
	try_fields64(fx, fx->in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_OFFSET, 64, SCX_FW_R_RING_ALIGN);
	try_fields64(fx, fx->in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_OFFSET, UINT64_MAX - 4095,
		SCX_FW_R_RING_BOUNDS);
	crl_prm_set(fx->in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_ID, fx->umem_ro);
	fx_refused(fx, SCX_FW_R_READ_ONLY);
	crl_prm_set(fx->in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_ID, fx->umem);
	crl_prm_set(fx->in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_VALID, 0);
	fx_refused(fx, SCX_FW_R_NO_UMEM);
	crl_prm_set(fx->in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_VALID, 1);
	TRY(ctx, cqc);
	fx->cq = fx_num(fx);
	fx_destroy(fx, CRL_CMD_OP_DESTROY_CQ, fx->cq);
	fx_cmd_num(fx, CRL_CMD_OP_QUERY_CQ, fx->cq, CRL_PRM_QUERY_CQ_OUT_BYTES);
	fx_refused(fx, SCX_FW_R_NO_OBJECT);
}

static const struct wrong wq_wrong[] = {
	{CRL_PRM_WQ_WQ_TYPE, CRL_WQ_LINKED_LIST, SCX_FW_R_WQ_TYPE},
	{CRL_PRM_WQ_WQ_TYPE, CRL_WQ_CYCLIC_STRIDING, SCX_FW_R_WQ_TYPE},
	{CRL_PRM_WQ_LOG_WQ_STRIDE, 3, SCX_FW_R_WQ_STRIDE},
	{CRL_PRM_WQ_LOG_WQ_STRIDE, 10, SCX_FW_R_WQ_STRIDE},
	{CRL_PRM_WQ_LOG_WQ_SZ, 16, SCX_FW_R_WQ_SIZE},
	{CRL_PRM_WQ_LOG_WQ_SZ, 30, SCX_FW_R_WQ_SIZE},
	{CRL_PRM_WQ_END_PADDING_MODE, 1, SCX_FW_R_NOT_OFFERED},
	{CRL_PRM_WQ_WQ_SIGNATURE, 1, SCX_FW_R_NOT_OFFERED},
	{CRL_PRM_WQ_LWM, 16, SCX_FW_R_NOT_OFFERED},
	{CRL_PRM_WQ_PD, 0x123456, SCX_FW_R_NO_OBJECT},
	{CRL_PRM_WQ_WQ_UMEM_ID, 1, SCX_FW_R_NO_OBJECT},
	{CRL_PRM_WQ_WQ_UMEM_VALID, 0, SCX_FW_R_NO_UMEM},
	{CRL_PRM_WQ_PAGE_OFFSET, 31, SCX_FW_R_RECORD_IN_RING},
};

void
refuse_sq(void **state)
{
	static const struct wrong sqc[] = {
		{CRL_PRM_SQC_STATE, CRL_Q_STATE_RDY, SCX_FW_R_CREATE_STATE},
		{CRL_PRM_SQC_MIN_WQE_INLINE_MODE, 4, SCX_FW_R_INLINE_MODE},
		{CRL_PRM_SQC_TS_FORMAT, CRL_TS_REAL_TIME, SCX_FW_R_TS_FORMAT},
		{CRL_PRM_SQC_TS_FORMAT, 3, SCX_FW_R_TS_FORMAT},
		{CRL_PRM_SQC_TIS_LST_SZ, 0, SCX_FW_R_TIS_LIST},
		{CRL_PRM_SQC_TIS_LST_SZ, 2, SCX_FW_R_TIS_LIST},
		{CRL_PRM_SQC_TIS_NUM_0, 5, SCX_FW_R_NO_OBJECT},
		{CRL_PRM_SQC_CQN, 5, SCX_FW_R_NO_OBJECT},
		{CRL_PRM_SQC_HAIRPIN, 1, SCX_FW_R_NOT_OFFERED},
		{CRL_PRM_SQC_ALLOW_SWP, 1, SCX_FW_R_NOT_OFFERED},
		{CRL_PRM_SQC_RLKY, 1, SCX_FW_R_NOT_OFFERED},
	};
	struct fx *fx = *state;
	uint8_t *ctx, *wq;

	fx_queues(fx);
	ctx = fx_cmd_sq(fx);
	wq = crl_prm_at(ctx, CRL_PRM_SQC_WQ);
	/* The record lies 24 KiB behind the SQ's ring: page_offset 31 of pages of 64 KiB reaches
	 * past it. */
	crl_prm_set64(wq, CRL_PRM_WQ_DBR_ADDR, FX_SQ_RING + 31 * 64);
	fx_refused(fx, SCX_FW_R_RECORD_IN_RING);
	crl_prm_set64(wq, CRL_PRM_WQ_DBR_ADDR, FX_SQ_DBREC);
	crl_prm_set(wq, CRL_PRM_WQ_LOG_WQ_STRIDE, 5);
	fx_refused(fx, SCX_FW_R_WQ_STRIDE);
	crl_prm_set(wq, CRL_PRM_WQ_LOG_WQ_STRIDE, 6);
	crl_prm_set(wq, CRL_PRM_WQ_UAR_PAGE, 0);
	fx_refused(fx, SCX_FW_R_NO_OBJECT);
	crl_prm_set(wq, CRL_PRM_WQ_UAR_PAGE, fx->uar);
	try_fields(fx, wq, wq_wrong, 12);
	TRY(ctx, sqc);

	/* The last place where the ring fits, and the first where it does not. */
	crl_prm_set64(wq, CRL_PRM_WQ_WQ_UMEM_OFFSET, FX_MEM - (64u << FX_LOG_SQ));
	fx_ok(fx);
	try_fields64(fx, wq, CRL_PRM_WQ_WQ_UMEM_OFFSET, FX_MEM, SCX_FW_R_RING_BOUNDS);
}

void
refuse_rq(void **state)
{
	static const struct wrong rqc[] = {
		{CRL_PRM_RQC_STATE, CRL_Q_STATE_ERR, SCX_FW_R_CREATE_STATE},
		{CRL_PRM_RQC_MEM_RQ_TYPE, CRL_MEM_RQ_RMP, SCX_FW_R_RQ_TYPE},
		{CRL_PRM_RQC_TS_FORMAT, CRL_TS_REAL_TIME, SCX_FW_R_TS_FORMAT},
		{CRL_PRM_RQC_COUNTER_SET_ID, 200, SCX_FW_R_NO_OBJECT},
		{CRL_PRM_RQC_CQN, 0xffffff, SCX_FW_R_NO_OBJECT},
		{CRL_PRM_RQC_DELAY_DROP_EN, 1, SCX_FW_R_NOT_OFFERED},
		{CRL_PRM_RQC_HAIRPIN, 1, SCX_FW_R_NOT_OFFERED},
	};
	struct fx *fx = *state;
	uint8_t *ctx;

	fx_queues(fx);
	ctx = fx_cmd_rq(fx);
	try_fields(fx, crl_prm_at(ctx, CRL_PRM_RQC_WQ), wq_wrong, 12);
	TRY(ctx, rqc);
}

void
refuse_modify(void **state)
{
	struct fx *fx = *state;
	uint8_t *in;

	fx_queues(fx);
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->sq, CRL_Q_STATE_RDY, 2);
	fx_refused(fx, SCX_FW_R_STATE_VALUE);
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->sq, CRL_Q_STATE_RST, CRL_Q_STATE_RDY);
	fx_refused(fx, SCX_FW_R_STATE_NOW);
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->rq, CRL_Q_STATE_RDY, CRL_Q_STATE_RST);
	fx_refused(fx, SCX_FW_R_NO_OBJECT); /* an RQ's number is no SQ's */
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->sq, CRL_Q_STATE_RDY, CRL_Q_STATE_ERR);
	fx_ok(fx);
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->sq, CRL_Q_STATE_ERR, CRL_Q_STATE_RDY);
	fx_refused(fx, SCX_FW_R_STATE_STEP);
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->sq, CRL_Q_STATE_ERR, CRL_Q_STATE_RST);
	fx_ok(fx);
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->sq, CRL_Q_STATE_RST, CRL_Q_STATE_RDY);
	fx_ok(fx);
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->sq, CRL_Q_STATE_RDY, CRL_Q_STATE_RDY);
	crl_prm_set64(fx->in, CRL_PRM_MODIFY_SQ_IN_MODIFY_BITMASK, 1);
	fx_refused(fx, SCX_FW_R_MODIFY_BITS);
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_RQ, fx->rq, CRL_Q_STATE_RDY, CRL_Q_STATE_RDY);
	crl_prm_set64(fx->in, CRL_PRM_MODIFY_RQ_IN_MODIFY_BITMASK, CRL_MODIFY_RQ_COUNTER_SET);
	fx_refused(fx, SCX_FW_R_MODIFY_BITS);
	fx_cmd_rqt(fx, 1);
	crl_prm_set(fx->in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_MODIFY_RQT);
	crl_prm_set(fx->in, CRL_PRM_MODIFY_RQT_IN_RQTN, fx->rqt);
	fx_refused(fx, SCX_FW_R_MODIFY_BITS);
	in = fx_in(fx, CRL_CMD_OP_MODIFY_TIR, CRL_PRM_MODIFY_TIR_IN_BYTES, 16);
	crl_prm_set(in, CRL_PRM_MODIFY_TIR_IN_TIRN, fx->tir);
	crl_prm_set(crl_prm_at(in, CRL_PRM_MODIFY_TIR_IN_BITMASK),
		CRL_PRM_MODIFY_TIR_BITMASK_PACKET_MERGE, 1);
	fx_refused(fx, SCX_FW_R_MODIFY_BITS);
}
