/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the firmware refuses of RQTs, TIRs and TISes, of another context, of memory, of flows, and
 * when a table is full.
 */
#include "refuse.h"

void
refuse_rqt(void **state)
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

void
refuse_tir_and_tis(void **state)
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
void
refuse_other_uid(void **state)
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

void
refuse_tables_fill_up(void **state)
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

void
refuse_memory(void **state)
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

void
refuse_flows(void **state)
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
