/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send queues: CREATE_SQ over a ring of 64-byte building blocks, then RST to RDY. Also what send
 * and receive queues have in common: the work queue part of their contexts, and their end. Host
 * only.
 */
#include <errno.h>

#include "internal.h"
#include "wq.h"

_Static_assert(CRL_Q_STATE_RST == 0, "a command's zeros say: from RST");

void
crl_wq_fill(const struct crl_queue *q, const struct crl_wq_obj *obj, uint32_t log_stride, void *wq)
{
	crl_prm_set(wq, CRL_PRM_WQ_WQ_TYPE, CRL_WQ_CYCLIC);
	crl_prm_set(wq, CRL_PRM_WQ_PD, q->ctx->pdn);
	crl_prm_set(wq, CRL_PRM_WQ_LOG_WQ_STRIDE, log_stride);
	crl_prm_set(wq, CRL_PRM_WQ_LOG_WQ_SZ, obj->log_depth);
	crl_prm_set(wq, CRL_PRM_WQ_WQ_UMEM_VALID, 1);
	crl_prm_set(wq, CRL_PRM_WQ_WQ_UMEM_ID, obj->ring.umem->umem_id);
	crl_prm_set(wq, CRL_PRM_WQ_DBR_UMEM_VALID, 1);
	crl_prm_set(wq, CRL_PRM_WQ_DBR_UMEM_ID, obj->ring.umem->umem_id);
	crl_prm_set64(wq, CRL_PRM_WQ_DBR_ADDR, obj->ring.dbrec_off);
}

int
crl_wq_destroy(struct crl_queue *q, struct crl_wq_obj *wq, const char *step, struct crl_err *err)
{
	int ret = crl_devx_destroy(&wq->obj, step, err);

	(void)q;
	if (ret == 0)
		crl_umem_dereg(&wq->ring.umem);
	return ret;
}

static int
to_ready(struct crl_wq_obj *sq, struct crl_err *err)
{
	uint32_t in[CRL_PRM_MODIFY_SQ_IN_BYTES / 4] = {0}, out[CRL_PRM_CMD_OUT_WORDS];

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_MODIFY_SQ);
	crl_prm_set(in, CRL_PRM_MODIFY_SQ_IN_SQN, sq->num);
	crl_prm_set(crl_prm_at(in, CRL_PRM_MODIFY_SQ_IN_CTX), CRL_PRM_SQC_STATE, CRL_Q_STATE_RDY);
	return crl_devx_modify(
		sq->obj, "make send queue ready", in, sizeof(in), out, sizeof(out), err);
}

int
crl_sq_create(struct crl_queue *q, struct crl_err *err)
{
	uint32_t in[CRL_PRM_CREATE_SQ_IN_BYTES / 4] = {0};
	uint32_t out[CRL_PRM_CREATE_SQ_OUT_BYTES / 4];
	void *sqc = crl_prm_at(in, CRL_PRM_CREATE_SQ_IN_CTX), *wq = crl_prm_at(sqc, CRL_PRM_SQC_WQ);
	int ret = crl_ring_reg(q, &q->sq.ring, err);

	if (ret != 0)
		return ret;
	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_CREATE_SQ);
	crl_prm_set(sqc, CRL_PRM_SQC_FLUSH_IN_ERROR_EN, 1);
	crl_prm_set(sqc, CRL_PRM_SQC_ALLOW_MULTI_PKT_SEND_WQE, q->ctx->caps.multi_packet_send);
	crl_prm_set(sqc, CRL_PRM_SQC_MIN_WQE_INLINE_MODE, q->ctx->caps.inline_mode);
	crl_prm_set(sqc, CRL_PRM_SQC_TS_FORMAT, q->ctx->caps.sq_ts_format);
	crl_prm_set(sqc, CRL_PRM_SQC_CQN, q->tx_cq.cqn);
	crl_prm_set(sqc, CRL_PRM_SQC_TIS_LST_SZ, 1);
	crl_prm_set(sqc, CRL_PRM_SQC_TIS_NUM_0, q->ctx->tisn);
	crl_wq_fill(q, &q->sq, 6, wq);
	crl_prm_set(wq, CRL_PRM_WQ_UAR_PAGE, q->uar->page_id);
	ret = crl_devx_create(
		q->ctx, "create send queue", in, sizeof(in), out, sizeof(out), &q->sq.obj, err);
	if (ret != 0)
		return ret;
	q->sq.num = crl_prm_get(out, CRL_PRM_CREATE_SQ_OUT_SQN);
	return to_ready(&q->sq, err);
}
