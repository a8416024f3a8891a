/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every refusal that the firmware defines is raised here, each by one thing that is wrong in a
 * command that is otherwise right; the last test walks the list and fails if one was left out.
 * After each refusal the same command without the mistake goes through, so that the mistake was the
 * cause.
 */
#include "fixture.h"

static void
mailbox(void **state)
{
	struct fx *fx = *state;

	fx_in(fx, 0x0666, 64, 64);
	fx_refused(fx, SCX_FW_R_OPCODE);
	fx_in(fx, 0x0a00, 64, 64); /* CREATE_GENERAL_OBJECT: no type of them is offered */
	fx_refused(fx, SCX_FW_R_OPCODE);

	fx_cmd_td(fx);
	crl_prm_set(fx->in, CRL_PRM_CMD_IN_OP_MOD, 1);
	fx_refused(fx, SCX_FW_R_OP_MOD);

	fx_cmd_td(fx);
	fx->in_bytes -= 4;
	fx_refused(fx, SCX_FW_R_IN_SHORT);
	assert_int_equal(CRL_CMD_STAT_BAD_INP_LEN_ERR, fx->status);
	fx->in_bytes += 8;
	fx_refused(fx, SCX_FW_R_IN_LONG);
	fx->in_bytes -= 4;
	fx->out_bytes -= 4;
	fx_refused(fx, SCX_FW_R_OUT_SHORT);
	assert_int_equal(CRL_CMD_STAT_BAD_OUTP_LEN_ERR, fx->status);
	fx->out_bytes += 4;
	fx_ok(fx);

	fx_cmd_td(fx);
	fx->in[15] = 1;
	fx_refused(fx, SCX_FW_R_RESERVED);
	fx->in[15] = 0;
	fx->in[4] = 0x80; /* between uid and op_mod */
	fx_refused(fx, SCX_FW_R_RESERVED);

	/* Too short to be a command at all, or not aligned: no answer either. */
	assert_int_equal(-EINVAL, scx_cmd(fx->nic, fx->uid, fx->in, 4, fx->out, 16, NULL));
	assert_int_equal(-EINVAL, scx_cmd(fx->nic, fx->uid, fx->in, 16, fx->out, 4, NULL));
	assert_int_equal(-EINVAL, scx_cmd(fx->nic, fx->uid, NULL, 16, fx->out, 16, NULL));
	assert_int_equal(-EINVAL, scx_cmd(fx->nic, fx->uid, fx->in + 1, 16, fx->out, 16, NULL));
}

/* Every command: one byte less or four more than the layout is refused, before anything is looked
 * at. */
static void
lengths_of_all_commands(void **state)
{
#define OP(NAME, value) value,
	static const uint16_t ops[] = {CRL_CMD_USER_OPS(OP)};
	struct fx *fx = *state;
	size_t in, out;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		uint32_t last = 0;

		for (in = 8; in < FX_IN_MAX - 8; in += 4) {
			fx_in(fx, ops[i], in, sizeof(fx->out));
			fx_run(fx);
			assert_int_not_equal(SCX_SYNDROME | SCX_FW_R_OPCODE, fx->syndrome);
			if (fx->syndrome != (SCX_SYNDROME | SCX_FW_R_IN_SHORT))
				break;
			last = (uint32_t)in;
		}
		assert_true(last >= 8 && in >= 16 && in < 1024);
		fx_in(fx, ops[i], in, 8);
		fx_refused(fx, SCX_FW_R_OUT_SHORT);
		fx_in(fx, ops[i], in + 4, sizeof(fx->out));
		if (ops[i] == CRL_CMD_OP_CREATE_RQT || ops[i] == CRL_CMD_OP_MODIFY_RQT)
			continue; /* a list may follow */
		fx_refused(fx, SCX_FW_R_IN_LONG);
		for (out = 8; out <= sizeof(fx->out); out += 4) {
			fx_in(fx, ops[i], in, out);
			fx_run(fx);
			if (fx->syndrome != (SCX_SYNDROME | SCX_FW_R_OUT_SHORT))
				break;
		}
		assert_true(out >= 16);
	}
}

static void
capabilities(void **state)
{
	struct fx *fx = *state;
	uint8_t *in = fx_in(fx, CRL_CMD_OP_QUERY_HCA_CAP, CRL_PRM_QUERY_HCA_CAP_IN_BYTES, 4112);

	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, CRL_HCA_CAP_ROCE << 1);
	fx_refused(fx, SCX_FW_R_CAP_PAGE);
	in = fx_in(fx, CRL_CMD_OP_QUERY_VPORT_STATE, 16, 16);
	crl_prm_set(in, CRL_PRM_QUERY_VPORT_STATE_IN_OTHER_VPORT, 1);
	fx_refused(fx, SCX_FW_R_VPORT);
	in = fx_in(fx, CRL_CMD_OP_QUERY_NIC_VPORT_CONTEXT, 16,
		CRL_PRM_QUERY_NIC_VPORT_CONTEXT_OUT_BYTES);
	crl_prm_set(in, CRL_PRM_QUERY_NIC_VPORT_CONTEXT_IN_VPORT_NUMBER, 3);
	fx_refused(fx, SCX_FW_R_VPORT);
}

/* A field of a context gets a value, the command is refused, with 0 or the right value it is not.
 */
struct wrong {
	uint32_t field, value;
	enum scx_fw_refusal why;
};

static void
try_fields(struct fx *fx, uint8_t *ctx, const struct wrong *w, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t right = crl_prm_get(ctx, w[i].field);

		crl_prm_set(ctx, w[i].field, w[i].value);
		fx_refused(fx, w[i].why);
		crl_prm_set(ctx, w[i].field, right);
	}
	fx_ok(fx);
}

static void
try_fields64(struct fx *fx, uint8_t *ctx, uint32_t field, uint64_t value, enum scx_fw_refusal why)
{
	uint64_t right = crl_prm_get64(ctx, field);

	crl_prm_set64(ctx, field, value);
	fx_refused(fx, why);
	crl_prm_set64(ctx, field, right);
}

#define TRY(ctx, table) try_fields(fx, ctx, table, sizeof(table) / sizeof((table)[0]))

static void
cq(void **state)
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

static void
sq(void **state)
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

static void
rq(void **state)
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

static void
modify(void **state)
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

static void
rqt(void **state)
{
	static const struct wrong rqtc[] = {
		{CRL_PRM_RQTC_LIST_Q_TYPE, 1, SCX_FW_R_RQT_TYPE},
		{CRL_PRM_RQTC_RQ_VHCA_ID_FORMAT, 1, SCX_FW_R_NOT_OFFERED},
		{CRL_PRM_RQTC_RQT_ACTUAL_SIZE, 0, SCX_FW_R_RQT_SIZE},
		{CRL_PRM_RQTC_RQT_ACTUAL_SIZE, 3, SCX_FW_R_RQT_SIZE},
		{CRL_PRM_RQTC_RQT_MAX_SIZE, 2, SCX_FW_R_RQT_SIZE},
		{CRL_PRM_RQTC_RQT_MAX_SIZE, 1024, SCX_FW_R_RQT_SIZE},
		{CRL_PRM_RQTC_RQT_ACTUAL_SIZE, 2, SCX_FW_R_IN_LONG},
		{CRL_PRM_RQTC_RQT_ACTUAL_SIZE, 8, SCX_FW_R_IN_SHORT},
	};
	struct fx *fx = *state;
	uint8_t *ctx;

	fx_queues(fx);
	ctx = fx_cmd_rqt(fx, 4);
	crl_prm_rqt_list(ctx)[2] = crl_to_be32(fx->sq);
	fx_refused(fx, SCX_FW_R_NO_OBJECT);
	crl_prm_rqt_list(ctx)[2] = crl_to_be32(fx->rq | 1u << 24);
	fx_refused(fx, SCX_FW_R_RESERVED);
	crl_prm_rqt_list(ctx)[2] = crl_to_be32(fx->rq);
	TRY(ctx, rqtc);
	fx_cmd_num(fx, CRL_CMD_OP_QUERY_RQT, fx->rqt, CRL_PRM_QUERY_RQT_OUT_BYTES + 12);
	fx_refused(fx, SCX_FW_R_OUT_SHORT); /* the table has four entries */
}

static void
tir_and_tis(void **state)
{
	static const struct wrong tirc[] = {
		{CRL_PRM_TIRC_DISP_TYPE, 2, SCX_FW_R_TIR_TYPE},
		{CRL_PRM_TIRC_DISP_TYPE, CRL_TIR_DIRECT, SCX_FW_R_NO_OBJECT}, /* inline_rqn 0 */
		{CRL_PRM_TIRC_RX_HASH_FN, 3, SCX_FW_R_TIR_HASH},
		{CRL_PRM_TIRC_INDIRECT_TABLE, 1, SCX_FW_R_NO_OBJECT},
		{CRL_PRM_TIRC_TRANSPORT_DOMAIN, 1, SCX_FW_R_NO_OBJECT},
		{CRL_PRM_TIRC_PACKET_MERGE_MASK, 1, SCX_FW_R_NOT_OFFERED},
		{CRL_PRM_TIRC_TUNNELED_OFFLOAD_EN, 1, SCX_FW_R_NOT_OFFERED},
	};
	static const struct wrong outer[] = {
		{CRL_PRM_RX_HASH_FIELDS_SELECTED_FIELDS, CRL_HASH_IPSEC_SPI, SCX_FW_R_TIR_HASH},
	};
	static const struct wrong inner[] = {
		{CRL_PRM_RX_HASH_FIELDS_SELECTED_FIELDS, 1, SCX_FW_R_NOT_OFFERED},
	};
	static const struct wrong tisc[] = {
		{CRL_PRM_TISC_TRANSPORT_DOMAIN, 0, SCX_FW_R_NO_OBJECT},
		{CRL_PRM_TISC_TLS_EN, 1, SCX_FW_R_NOT_OFFERED},
	};
	struct fx *fx = *state;
	uint8_t *ctx;

	fx_queues(fx);
	ctx = fx_cmd_tir(fx);
	TRY(crl_prm_at(ctx, CRL_PRM_TIRC_RX_HASH_FIELD_SELECTOR_OUTER), outer);
	TRY(crl_prm_at(ctx, CRL_PRM_TIRC_RX_HASH_FIELD_SELECTOR_INNER), inner);
	TRY(ctx, tirc);
	ctx = fx_cmd_tis(fx);
	TRY(ctx, tisc);
}

/* Another context: sees none of the first one's objects, whatever it names. */
static void
other_uid(void **state)
{
	static const uint8_t any[64];
	struct fx *fx = *state;
	struct scx_obj obj = {.opcode = CRL_CMD_OP_CREATE_CQ};
	uint16_t other;
	uint32_t id, key;

	fx_queues(fx);
	assert_int_equal(0, scx_uid_alloc(fx->nic, &other));
	assert_int_not_equal(fx->uid, other);
#define OTHER(...)                                                                                 \
	do {                                                                                       \
		uint64_t before = scx_fw_refused(SCX_FW_R_OTHER_UID);                              \
		__VA_ARGS__;                                                                       \
		assert_int_equal(before + 1, scx_fw_refused(SCX_FW_R_OTHER_UID));                  \
	} while (0)
	OTHER(fx_cmd_tis(fx), fx_run_as(fx, other));
	OTHER(fx_cmd_cq(fx), fx_run_as(fx, other));
	OTHER(fx_cmd_sq(fx), fx_run_as(fx, other));
	OTHER(fx_cmd_rq(fx), fx_run_as(fx, other));
	OTHER(fx_cmd_rqt(fx, 1), fx_run_as(fx, other));
	OTHER(fx_cmd_tir(fx), fx_run_as(fx, other));
	OTHER(fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->sq, 1, 3), fx_run_as(fx, other));
	OTHER(fx_cmd_state(fx, CRL_CMD_OP_MODIFY_RQ, fx->rq, 1, 3), fx_run_as(fx, other));
	OTHER(fx_cmd_num(fx, CRL_CMD_OP_QUERY_SQ, fx->sq, 512), fx_run_as(fx, other));
	OTHER(fx_cmd_num(fx, CRL_CMD_OP_DESTROY_TIR, fx->tir, 16), fx_run_as(fx, other));
	OTHER(assert_int_equal(-EINVAL, scx_pd_free(fx->nic, other, fx->pdn)));
	OTHER(assert_int_equal(-EINVAL, scx_uar_free(fx->nic, other, fx->uar)));
	OTHER(assert_int_equal(-EINVAL, scx_umem_dereg(fx->nic, other, fx->umem)));
	OTHER(assert_int_equal(-EINVAL, scx_mr_dereg(fx->nic, other, fx->lkey)));
	OTHER(assert_int_equal(
		-EINVAL, scx_mr_reg(fx->nic, other, fx->pdn, fx->mem, 64, 0, 1, &key, &key)));
	OTHER(assert_int_equal(-EINVAL,
		scx_flow_add(fx->nic, other, 0, any, any, 64, SCX_FLOW_TIR, fx->tir, 0, &id)));
	obj.num = fx->cq;
	OTHER(assert_int_equal(-EINVAL, scx_obj_destroy(fx->nic, other, &obj)));
	/* The kernel itself, uid 0, may. */
	fx_cmd_num(fx, CRL_CMD_OP_QUERY_SQ, fx->sq, 512);
	assert_int_equal(CRL_CMD_STAT_OK, fx_run_as(fx, 0));
	scx_uid_destroy(fx->nic, other);
	fx_cmd_num(fx, CRL_CMD_OP_QUERY_SQ, fx->sq, 512);
	fx_ok(fx); /* the first one's objects are still there */
}

static void
tables_fill_up(void **state)
{
	struct fx *fx = *state;
	unsigned made = 0;

	for (; made < 100000; made++) {
		fx_cmd_td(fx);
		if (fx_run(fx) != CRL_CMD_STAT_OK)
			break;
	}
	assert_int_equal(1024, made);
	fx_refused(fx, SCX_FW_R_FULL);
	assert_int_equal(CRL_CMD_STAT_LIM_ERR, fx->status);
	for (unsigned page = 1; page < FX_UAR_PAGES - 1; page++)
		assert_int_equal(0, scx_uar_alloc(fx->nic, fx->uid, &fx->uar));
	assert_int_equal(-ENOSPC, scx_uar_alloc(fx->nic, fx->uid, &fx->uar));
}

static void
memory(void **state)
{
	struct fx *fx = *state;
	struct scx_nic *nic = fx->nic;
	uint32_t id, key;

	assert_int_equal(-EINVAL, scx_umem_reg(nic, fx->uid, fx->mem, 0, 1, &id));
	assert_int_equal(-EINVAL, scx_umem_reg(nic, fx->uid, fx->mem, UINT64_MAX, 1, &id));
	assert_int_equal(-EINVAL, scx_umem_reg(nic, fx->uid, fx->mem, 64, 1 << 6, &id));
	assert_int_equal(-EINVAL, scx_mr_reg(nic, fx->uid, fx->pdn, fx->mem, 0, 0, 1, &key, &key));
	assert_int_equal(-EINVAL,
		scx_mr_reg(nic, fx->uid, fx->pdn, fx->mem, 64, UINT64_MAX - 8, 1, &key, &key));
	assert_int_equal(-EINVAL, scx_mr_reg(nic, fx->uid, fx->pdn, fx->mem, 64, 0, 2, &key, &key));
	assert_int_equal(-EINVAL, scx_mr_reg(nic, fx->uid, 99, fx->mem, 64, 0, 1, &key, &key));
	assert_int_equal(0, scx_mr_reg(nic, fx->uid, fx->pdn, fx->mem, 64, 0, 3, &key, &key));
	assert_int_equal(-EINVAL, scx_mr_dereg(nic, fx->uid, key ^ 1)); /* another variant */
	assert_int_equal(0, scx_mr_dereg(nic, fx->uid, key));
	assert_int_equal(-EINVAL, scx_mr_dereg(nic, fx->uid, key));
	assert_int_equal(-EBUSY, scx_pd_free(nic, fx->uid, fx->pdn)); /* the fixture's MR */
	assert_true(scx_fw_refused(SCX_FW_R_UMEM_RANGE) >= 2 &&
		    scx_fw_refused(SCX_FW_R_UMEM_ACCESS) >= 1);
	assert_true(
		scx_fw_refused(SCX_FW_R_MR_RANGE) >= 2 && scx_fw_refused(SCX_FW_R_MR_ACCESS) >= 1);
}

static void
flows(void **state)
{
	struct fx *fx = *state;
	uint8_t mask[640] = {0}, match[640] = {0};
	uint32_t id;

#define ADD(bytes, dest)                                                                           \
	scx_flow_add(fx->nic, fx->uid, 0, mask, match, bytes, dest, fx->tir, 0, &id)
	fx_queues(fx);
	assert_int_equal(-EINVAL, ADD(32, SCX_FLOW_DROP));
	assert_int_equal(-EINVAL, ADD(704, SCX_FLOW_DROP));
	assert_int_equal(-EINVAL, ADD(100, SCX_FLOW_DROP));
	assert_int_equal(-EINVAL, ADD(64, 3));
	match[8] = 0x01; /* a destination MAC without a mask */
	assert_int_equal(-EINVAL, ADD(64, SCX_FLOW_DROP));
	mask[8] = 0xff;
	assert_int_equal(0, ADD(64, SCX_FLOW_DROP));
	assert_int_equal(0, scx_flow_del(fx->nic, fx->uid, id));
	assert_int_equal(-EINVAL, scx_flow_del(fx->nic, fx->uid, id));
	mask[64 + 7] = 0xff; /* misc.source_port */
	assert_int_equal(-EOPNOTSUPP, ADD(512, SCX_FLOW_TIR));
	mask[64 + 7] = 0;
	mask[24] = 0xff; /* reserved in the outer headers */
	assert_int_equal(-EOPNOTSUPP, ADD(512, SCX_FLOW_TIR));
	mask[24] = 0;
	assert_int_equal(0, ADD(512, SCX_FLOW_TIR));
	assert_int_equal(0, ADD(64, SCX_FLOW_DEFAULT_MISS));
	for (unsigned i = 0; i < SCX_DP_RULE_MAX; i++)
		if (ADD(64, SCX_FLOW_DROP) != 0)
			return;
	fail_msg("more rules than the table has");
}

static void
every_refusal_was_raised(void **state)
{
	unsigned missing = 0;

	for (unsigned i = 0; i < SCX_FW_R_GUEST; i++) { /* the rest: test_fw_guest.c */
		if (scx_fw_refused(i) == 0) {
			print_error("%s was not raised\n", scx_fw_refusal_name(i));
			missing++;
		}
	}
	assert_int_equal(0, missing);
	scx_nic_report(((struct fx *)*state)->nic);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(mailbox, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(lengths_of_all_commands, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(capabilities, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(cq, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(sq, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(rq, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(modify, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(rqt, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(tir_and_tis, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(other_uid, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(tables_fill_up, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(memory, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(flows, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(every_refusal_was_raised, fx_new, fx_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
