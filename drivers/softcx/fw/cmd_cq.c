/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of completion queues. Called by cmd.c with a checked mailbox; the ring's memory is the
 * driver's, which has filled it with the invalid opcode before (the data path looks).
 */
#include <string.h>

#include "../../../gpu_queues/wire/cqe.h"
#include "ring.h"

/*
 * cqe_comp_en and the mini CQE formats are not here: net_mlx5 sets them on every receive CQ without
 * asking, and they are leave to compress, not a duty. This NIC writes every CQE in full.
 */
static const uint32_t cqc_not_offered[] = {
	CRL_PRM_CQC_STATUS,
	CRL_PRM_CQC_SCQE_BREAK_MODERATION_EN,
	CRL_PRM_CQC_CQ_PERIOD_MODE,
	CRL_PRM_CQC_ST,
	CRL_PRM_CQC_CQ_PERIOD,
	CRL_PRM_CQC_CQ_MAX_COUNT,
	CRL_PRM_CQC_LAST_NOTIFIED_INDEX,
	CRL_PRM_CQC_LAST_SOLICIT_INDEX,
	CRL_PRM_CQC_CONSUMER_COUNTER,
	CRL_PRM_CQC_PRODUCER_COUNTER,
};

static int
check(struct scx_fw_call *c, const void *cqc)
{
	uint32_t log_size = crl_prm_get(cqc, CRL_PRM_CQC_LOG_CQ_SIZE);

	if (!scx_fw_fields_zero(c, SCX_LAYOUT_CQC, cqc, cqc_not_offered,
		    sizeof(cqc_not_offered) / sizeof(cqc_not_offered[0])))
		return -1;
	if (crl_prm_get(cqc, CRL_PRM_CQC_CQE_SZ) != 0)
		return scx_fw_refuse(c, SCX_FW_R_CQE_SIZE, cqc, 4, "cqe_sz is %u",
			crl_prm_get(cqc, CRL_PRM_CQC_CQE_SZ));
	if (log_size > SCX_LOG_CQ_SZ_MAX)
		return scx_fw_refuse(c, SCX_FW_R_CQ_SIZE, NULL, 0,
			"log_cq_size is %u, the most is %u", log_size, SCX_LOG_CQ_SZ_MAX);
	if (c->nic->cfg.guest == NULL && crl_prm_get(cqc, CRL_PRM_CQC_C_EQN) != SCX_EQN)
		return scx_fw_refuse(c, SCX_FW_R_EQN, NULL, 0, "c_eqn is %u, the event queue is %u",
			crl_prm_get(cqc, CRL_PRM_CQC_C_EQN), SCX_EQN);
	return 0;
}

static int
fill(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *cqc, struct scx_dp_cq *cq)
{
	struct scx_fw_ring r = {
		.ring_valid = crl_prm_get(c->in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_VALID),
		.ring_umem = crl_prm_get(c->in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_ID),
		.ring_off = crl_prm_get64(c->in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_OFFSET),
		.page_offset = crl_prm_get(cqc, CRL_PRM_CQC_PAGE_OFFSET),
		.log_page_size = crl_prm_get(cqc, CRL_PRM_CQC_LOG_PAGE_SIZE),
		.record_valid = crl_prm_get(cqc, CRL_PRM_CQC_DBR_UMEM_VALID),
		.record_umem = crl_prm_get(cqc, CRL_PRM_CQC_DBR_UMEM_ID),
		.record_off = crl_prm_get64(cqc, CRL_PRM_CQC_DBR_ADDR),
		.nic_writes = true,
		.pas = c->in + CRL_PRM_CREATE_CQ_IN_BYTES,
	};
	int rc;

	cq->cqn = obj->num;
	cq->log_depth = crl_prm_get(cqc, CRL_PRM_CQC_LOG_CQ_SIZE);
	cq->collapsed = (uint8_t)crl_prm_get(cqc, CRL_PRM_CQC_CC);
	cq->overrun_ignore = (uint8_t)crl_prm_get(cqc, CRL_PRM_CQC_OI);
	cq->uar_page = crl_prm_get(cqc, CRL_PRM_CQC_UAR_PAGE);
	if (scx_fw_get_hold(c, obj, SCX_FW_UAR, cq->uar_page) == NULL)
		return -1;
	if (c->nic->cfg.guest != NULL &&
		scx_fw_get_hold(c, obj, SCX_FW_EQ, crl_prm_get(cqc, CRL_PRM_CQC_C_EQN)) == NULL)
		return -1;
	r.bytes = (uint64_t)CRL_CQE_BYTES << cq->log_depth;
	rc = scx_fw_ring(c, obj, &r);
	cq->ring = r.buf;
	cq->dbrec = r.dbrec;
	return rc;
}

int
scx_cmd_create_cq(struct scx_fw_call *c)
{
	const void *cqc = crl_prm_at(c->in, CRL_PRM_CREATE_CQ_IN_CQ_CONTEXT);
	struct scx_dp_cmd cmd = {.op = SCX_DP_CQ_SET};
	struct scx_fw_obj *obj;
	int rc = check(c, cqc);

	if (rc != 0)
		return rc;
	obj = scx_fw_new(c, SCX_FW_CQ);
	if (obj == NULL)
		return -1;
	memcpy(obj->ctx, cqc, CRL_PRM_CQC_BYTES);
	rc = fill(c, obj, cqc, &cmd.u.cq);
	if (rc == 0)
		rc = scx_fw_tell(c, &cmd);
	if (rc != 0) {
		scx_fw_free(c->nic, obj);
		return rc;
	}
	crl_prm_set(c->out, CRL_PRM_CREATE_CQ_OUT_CQN, obj->num);
	c->made.num = obj->num;
	return 0;
}

int
scx_cmd_query_cq(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_CQ, crl_prm_get(c->in, CRL_PRM_QUERY_CQ_IN_CQN));
	void *cqc = crl_prm_at(c->out, CRL_PRM_QUERY_CQ_OUT_CQ_CONTEXT);
	struct scx_dp_cmd cmd = {.op = SCX_DP_QUERY_CQ};
	int rc;

	if (obj == NULL)
		return -1;
	cmd.num = obj->num;
	rc = scx_fw_tell(c, &cmd);
	if (rc != 0)
		return rc;
	memcpy(cqc, obj->ctx, CRL_PRM_CQC_BYTES);
	crl_prm_set(cqc, CRL_PRM_CQC_STATUS, cmd.result[0] != 0 ? CRL_CQ_STATUS_OVERFLOW : 0);
	crl_prm_set(cqc, CRL_PRM_CQC_PRODUCER_COUNTER, (uint32_t)cmd.result[1] & 0xffffff);
	crl_prm_set(cqc, CRL_PRM_CQC_CONSUMER_COUNTER, (uint32_t)cmd.result[2] & 0xffffff);
	return 0;
}

int
scx_cmd_destroy_cq(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_CQ, CRL_PRM_DESTROY_CQ_IN_CQN);
}
