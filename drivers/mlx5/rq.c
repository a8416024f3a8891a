/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive queues: a cyclic ring of one 16-byte data segment a packet, written once here (slot i
 * names buffer i for good), then CREATE_RQ and RST to RDY. The NIC gets no buffer before the engine
 * writes the record. Host only.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"
#include "wq.h"

#define LOG_STRIDE 4u

_Static_assert(CRL_Q_STATE_RST == 0 && CRL_MEM_RQ_INLINE == 0, "what a command's zeros say");

static int
ring_init(struct crl_queue *q, struct crl_err *err)
{
	const size_t ring = crl_rq_ring_bytes(q->rq.log_depth),
		     released = crl_rq_released_bytes(q->rq.log_depth);
	void *image = malloc(ring);
	struct crl_rq rq = {0};
	int ret;

	if (image == NULL)
		return crl_fail_errno(err, ENOMEM, "initialise a receive queue", "", "no memory");
	crl_rq_export(q, &rq);
	crl_rq_fill(image, &rq);
	ret = crl_mem_put(q->rings, q->rq.ring.addr, image, ring, err);
	if (ret == 0) {
		crl_rq_fill_released(image, q->rq.log_depth);
		ret = crl_mem_put(q->rings, rq.released, image, released, err);
	}
	free(image);
	return ret;
}

static int
to_ready(struct crl_wq_obj *rq, struct crl_err *err)
{
	uint32_t in[CRL_PRM_MODIFY_RQ_IN_BYTES / 4] = {0}, out[CRL_PRM_CMD_OUT_WORDS];

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_MODIFY_RQ);
	crl_prm_set(in, CRL_PRM_MODIFY_RQ_IN_RQN, rq->num);
	crl_prm_set(crl_prm_at(in, CRL_PRM_MODIFY_RQ_IN_CTX), CRL_PRM_RQC_STATE, CRL_Q_STATE_RDY);
	return crl_devx_modify(
		rq->obj, "make receive queue ready", in, sizeof(in), out, sizeof(out), err);
}

int
crl_rq_create(struct crl_queue *q, struct crl_err *err)
{
	uint32_t in[CRL_PRM_CREATE_RQ_IN_BYTES / 4] = {0};
	uint32_t out[CRL_PRM_CREATE_RQ_OUT_BYTES / 4];
	void *rqc = crl_prm_at(in, CRL_PRM_CREATE_RQ_IN_CTX);
	int ret = ring_init(q, err);

	if (ret != 0)
		return ret;
	ret = crl_ring_reg(q, &q->rq.ring, err);
	if (ret != 0)
		return ret;
	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_CREATE_RQ);
	crl_prm_set(rqc, CRL_PRM_RQC_VSD, 1); /* VLAN tags stay in the frame */
	crl_prm_set(rqc, CRL_PRM_RQC_FLUSH_IN_ERROR_EN, 1);
	crl_prm_set(rqc, CRL_PRM_RQC_TS_FORMAT, q->ctx->caps.rq_ts_format);
	crl_prm_set(rqc, CRL_PRM_RQC_CQN, q->rx_cq.cqn);
	crl_prm_set(rqc, CRL_PRM_RQC_COUNTER_SET_ID, q->ctx->counter_set);
	crl_wq_fill(q, &q->rq, LOG_STRIDE, crl_prm_at(rqc, CRL_PRM_RQC_WQ));
	ret = crl_devx_create(
		q->ctx, "create receive queue", in, sizeof(in), out, sizeof(out), &q->rq.obj, err);
	if (ret != 0)
		return ret;
	q->rq.num = crl_prm_get(out, CRL_PRM_CREATE_RQ_OUT_RQN);
	return to_ready(&q->rq, err);
}
