/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What mlx5_ib makes for itself before it starts, and hardly ever uses: XRC domains, shared receive
 * queues (as XRC SRQ and as RMP, in one space of numbers), and one queue pair for its own
 * operations on memory keys (UMR). Rings, records and states are held to the same rules as those of
 * other queues, but no data path runs on them: this NIC has no RDMA transport, and says by
 * umr_modify_entity_size_disabled that keys are made by commands. Called by cmd.c with a checked
 * mailbox, for a guest's kernel only.
 */
#include <string.h>

#include "hca.h"
#include "ring.h"

#define QP_ST_REG_UMR	 0x0cu /* qpc.st */
#define QP_RQ_REGULAR	 0u    /* qpc.rq_type */
#define SRQ_LOG_SZ_MAX	 15u
#define STRIDE_UNITS_LOG 4u /* log_rq_stride counts from 16 bytes on */

enum { QP_RST, QP_INIT, QP_RTR, QP_RTS, QP_ERR }; /* in obj->access */

/* An Ethernet port has no partitions: the one key is the default partition's, for full members. */
int
scx_cmd_query_pkey(struct scx_fw_call *c)
{
	uint32_t other = crl_prm_get(c->in, CRL_PRM_QUERY_HCA_VPORT_PKEY_IN_OTHER_VPORT);
	uint32_t vport = crl_prm_get(c->in, CRL_PRM_QUERY_HCA_VPORT_PKEY_IN_VPORT_NUMBER);

	if (other != 0 || vport != 0)
		return scx_fw_refuse(
			c, SCX_FW_R_VPORT, c->in, 16, "other_vport %u, vport %u", other, vport);
	for (size_t at = CRL_PRM_QUERY_HCA_VPORT_PKEY_OUT_BYTES; at + 4 <= c->out_bytes; at += 4)
		memset(c->out + at + 2, 0xff, 2);
	return 0;
}

int
scx_cmd_alloc_xrcd(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj = scx_fw_new(c, SCX_FW_XRCD);

	if (obj == NULL)
		return -1;
	crl_prm_set(c->out, CRL_PRM_ALLOC_XRCD_OUT_XRCD, obj->num);
	return 0;
}

int
scx_cmd_dealloc_xrcd(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_XRCD, CRL_PRM_DEALLOC_XRCD_IN_XRCD);
}

/* ---- shared receive queues ---- */

static const uint32_t srq_not_offered[] = {
	CRL_PRM_XRC_SRQC_STATE,
	CRL_PRM_XRC_SRQC_WQ_SIGNATURE,
	CRL_PRM_XRC_SRQC_CONT_SRQ,
	CRL_PRM_XRC_SRQC_DBR_UMEM_VALID,
	CRL_PRM_XRC_SRQC_LWM,
};

static int
fill_srq(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *srqc)
{
	struct scx_fw_ring r = {
		.page_offset = crl_prm_get(srqc, CRL_PRM_XRC_SRQC_PAGE_OFFSET),
		.log_page_size = crl_prm_get(srqc, CRL_PRM_XRC_SRQC_LOG_PAGE_SIZE),
		.record_off = (uint64_t)crl_prm_get(srqc, CRL_PRM_XRC_SRQC_DB_RECORD_ADDR_H) << 32 |
			      crl_prm_get(srqc, CRL_PRM_XRC_SRQC_DB_RECORD_ADDR_L) << 2,
		.bytes = 1ull << (crl_prm_get(srqc, CRL_PRM_XRC_SRQC_LOG_XRC_SRQ_SIZE) +
				  crl_prm_get(srqc, CRL_PRM_XRC_SRQC_LOG_RQ_STRIDE) +
				  STRIDE_UNITS_LOG),
		.pas = c->in + CRL_PRM_CREATE_XRC_SRQ_IN_BYTES,
	};

	if (scx_fw_get_hold(c, obj, SCX_FW_PD, crl_prm_get(srqc, CRL_PRM_XRC_SRQC_PD)) == NULL ||
		scx_fw_get_hold(c, obj, SCX_FW_CQ, crl_prm_get(srqc, CRL_PRM_XRC_SRQC_CQN)) ==
			NULL ||
		scx_fw_get_hold(c, obj, SCX_FW_XRCD, crl_prm_get(srqc, CRL_PRM_XRC_SRQC_XRCD)) ==
			NULL)
		return -1;
	return scx_fw_ring(c, obj, &r);
}

int
scx_cmd_create_xrc_srq(struct scx_fw_call *c)
{
	const void *srqc = crl_prm_at(c->in, CRL_PRM_CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY);
	struct scx_fw_obj *obj;
	int rc;

	if (!scx_fw_fields_zero(c, SCX_LAYOUT_XRC_SRQC, srqc, srq_not_offered,
		    sizeof(srq_not_offered) / sizeof(srq_not_offered[0])))
		return -1;
	obj = scx_fw_new(c, SCX_FW_SRQ);
	if (obj == NULL)
		return -1;
	rc = fill_srq(c, obj, srqc);
	if (rc != 0) {
		scx_fw_free(c->nic, obj);
		return rc;
	}
	crl_prm_set(c->out, CRL_PRM_CREATE_XRC_SRQ_OUT_XRC_SRQN, obj->num);
	return 0;
}

int
scx_cmd_destroy_xrc_srq(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_SRQ, CRL_PRM_DESTROY_XRC_SRQ_IN_XRC_SRQN);
}

int
scx_cmd_create_rmp(struct scx_fw_call *c)
{
	const void *rmpc = crl_prm_at(c->in, CRL_PRM_CREATE_RMP_IN_CTX);
	const void *wq = crl_prm_at(rmpc, CRL_PRM_RMPC_WQ);
	uint32_t state = crl_prm_get(rmpc, CRL_PRM_RMPC_STATE);
	struct scx_fw_obj *obj;
	struct scx_fw_ring r;
	int rc;

	if (state != CRL_Q_STATE_RDY)
		return scx_fw_refuse(c, SCX_FW_R_CREATE_STATE, rmpc, 4, "state is %u", state);
	if (crl_prm_get(wq, CRL_PRM_WQ_WQ_TYPE) != CRL_WQ_LINKED_LIST)
		return scx_fw_refuse(c, SCX_FW_R_WQ_TYPE, wq, 4, "wq_type is %u",
			crl_prm_get(wq, CRL_PRM_WQ_WQ_TYPE));
	if (crl_prm_get(wq, CRL_PRM_WQ_LOG_WQ_SZ) > SRQ_LOG_SZ_MAX)
		return scx_fw_refuse(c, SCX_FW_R_WQ_SIZE, NULL, 0, "log_wq_sz is %u, the most %u",
			crl_prm_get(wq, CRL_PRM_WQ_LOG_WQ_SZ), SRQ_LOG_SZ_MAX);
	obj = scx_fw_new(c, SCX_FW_SRQ);
	if (obj == NULL)
		return -1;
	rc = scx_fw_wq_place(c, obj, wq, &r);
	if (rc != 0) {
		scx_fw_free(c->nic, obj);
		return rc;
	}
	crl_prm_set(c->out, CRL_PRM_CREATE_RMP_OUT_RMPN, obj->num);
	return 0;
}

int
scx_cmd_destroy_rmp(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_SRQ, CRL_PRM_DESTROY_RMP_IN_RMPN);
}

/* ---- the queue pair ---- */

static uint64_t
qp_bytes(const void *qpc)
{
	uint64_t bytes = 0;

	if (crl_prm_get(qpc, CRL_PRM_QPC_RQ_TYPE) == QP_RQ_REGULAR)
		bytes = 1ull << (crl_prm_get(qpc, CRL_PRM_QPC_LOG_RQ_SIZE) +
				 crl_prm_get(qpc, CRL_PRM_QPC_LOG_RQ_STRIDE) + STRIDE_UNITS_LOG);
	if (!crl_prm_get(qpc, CRL_PRM_QPC_NO_SQ))
		bytes += 1ull << (crl_prm_get(qpc, CRL_PRM_QPC_LOG_SQ_SIZE) + SCX_LOG_SQ_STRIDE);
	return bytes;
}

static int
fill_qp(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *qpc)
{
	struct scx_fw_ring r = {
		.page_offset = crl_prm_get(qpc, CRL_PRM_QPC_PAGE_OFFSET),
		.log_page_size = crl_prm_get(qpc, CRL_PRM_QPC_LOG_PAGE_SIZE),
		.record_off = crl_prm_get64(qpc, CRL_PRM_QPC_DBR_ADDR),
		.bytes = qp_bytes(qpc),
		.pas = c->in + CRL_PRM_CREATE_QP_IN_BYTES,
	};
	static const struct {
		enum scx_fw_kind kind;
		uint32_t field;
	} uses[] = {
		{SCX_FW_CQ, CRL_PRM_QPC_CQN_SND},
		{SCX_FW_CQ, CRL_PRM_QPC_CQN_RCV},
		{SCX_FW_UAR, CRL_PRM_QPC_UAR_PAGE},
		{SCX_FW_XRCD, CRL_PRM_QPC_XRCD},
		{SCX_FW_SRQ, CRL_PRM_QPC_SRQN_RMPN_XRQN},
	};

	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (scx_fw_get_hold(c, obj, uses[i].kind, crl_prm_get(qpc, uses[i].field)) == NULL)
			return -1;
	return scx_fw_ring(c, obj, &r);
}

int
scx_cmd_create_qp(struct scx_fw_call *c)
{
	const void *qpc = crl_prm_at(c->in, CRL_PRM_CREATE_QP_IN_QPC);
	uint32_t st = crl_prm_get(qpc, CRL_PRM_QPC_ST);
	struct scx_fw_obj *obj;
	int rc;

	if (st != QP_ST_REG_UMR)
		return scx_fw_refuse(c, SCX_FW_R_QP_TYPE, qpc, 32, "st is 0x%x", st);
	if (crl_prm_get(qpc, CRL_PRM_QPC_STATE) != QP_RST)
		return scx_fw_refuse(c, SCX_FW_R_CREATE_STATE, qpc, 4, "state is %u",
			crl_prm_get(qpc, CRL_PRM_QPC_STATE));
	obj = scx_fw_new(c, SCX_FW_QP);
	if (obj == NULL)
		return -1;
	memcpy(obj->ctx, qpc, CRL_PRM_QPC_BYTES);
	obj->access = QP_RST;
	rc = fill_qp(c, obj, qpc);
	if (rc != 0) {
		scx_fw_free(c->nic, obj);
		return rc;
	}
	crl_prm_set(c->out, CRL_PRM_CREATE_QP_OUT_QPN, obj->num);
	return 0;
}

int
scx_cmd_destroy_qp(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_QP, CRL_PRM_DESTROY_QP_IN_QPN);
}

/* From one state to the next; back to RST or to ERR from anywhere. */
static int
step(struct scx_fw_call *c, uint32_t from, uint32_t to)
{
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_QP, crl_prm_get(c->in, CRL_PRM_DESTROY_QP_IN_QPN));

	if (obj == NULL)
		return -1;
	if (to != QP_RST && to != QP_ERR && obj->access != from)
		return scx_fw_refuse(c, SCX_FW_R_STATE_NOW, NULL, 0,
			"queue pair 0x%x is in state %u, not %u", obj->num, obj->access, from);
	obj->access = to;
	return 0;
}

int
scx_cmd_modify_qp(struct scx_fw_call *c)
{
	switch (crl_prm_get(c->in, CRL_PRM_CMD_IN_OPCODE)) {
	case CRL_CMD_OP_RST2INIT_QP:
		return step(c, QP_RST, QP_INIT);
	case CRL_CMD_OP_INIT2RTR_QP:
		return step(c, QP_INIT, QP_RTR);
	case CRL_CMD_OP_RTR2RTS_QP:
		return step(c, QP_RTR, QP_RTS);
	case CRL_CMD_OP_2ERR_QP:
		return step(c, 0, QP_ERR);
	default:
		return step(c, 0, QP_RST);
	}
}

int
scx_cmd_query_qp(struct scx_fw_call *c)
{
	static const uint8_t state[] = {
		[QP_RST] = 0, [QP_INIT] = 1, [QP_RTR] = 2, [QP_RTS] = 3, [QP_ERR] = 6}; /* as
											   qpc.state
											   counts
											   them */
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_QP, crl_prm_get(c->in, CRL_PRM_QUERY_QP_IN_QPN));
	void *qpc = crl_prm_at(c->out, CRL_PRM_QUERY_QP_OUT_QPC);

	if (obj == NULL)
		return -1;
	memcpy(qpc, obj->ctx, CRL_PRM_QPC_BYTES);
	crl_prm_set(qpc, CRL_PRM_QPC_STATE, state[obj->access]);
	return 0;
}
