/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues: an ordinary CQ with one entry for every WQE that can be outstanding, so that
 * none can overrun and each error keeps its own CQE. Collapsed CQs are a choice of the caller's,
 * and ignore overruns: the NIC counts their CQEs against the consumer index like all others. The
 * driver writes the whole ring as invalid before the NIC knows of it. Host only.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

static int
ring_init(struct crl_queue *q, struct crl_cq_obj *cq, struct crl_err *err)
{
	const size_t bytes = crl_cq_ring_bytes(cq->log_depth);
	void *image = malloc(bytes);
	int ret;

	if (image == NULL)
		return crl_fail_errno(
			err, ENOMEM, "initialise a completion queue", "", "no memory");
	crl_cq_fill(image, cq->log_depth);
	ret = crl_mem_put(q->rings, cq->ring.addr, image, bytes, err);
	free(image);
	return ret;
}

static void
fill_command(const struct crl_queue *q, const struct crl_cq_obj *cq, void *in)
{
	void *cqc = crl_prm_at(in, CRL_PRM_CREATE_CQ_IN_CQ_CONTEXT);

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_CREATE_CQ);
	crl_prm_set(in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_VALID, 1);
	crl_prm_set(in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_ID, cq->ring.umem->umem_id);
	crl_prm_set(cqc, CRL_PRM_CQC_LOG_CQ_SIZE, cq->log_depth);
	crl_prm_set(cqc, CRL_PRM_CQC_UAR_PAGE, q->uar->page_id);
	crl_prm_set(cqc, CRL_PRM_CQC_C_EQN, q->ctx->eqn);
	crl_prm_set(cqc, CRL_PRM_CQC_DBR_UMEM_VALID, 1);
	crl_prm_set(cqc, CRL_PRM_CQC_DBR_UMEM_ID, cq->ring.umem->umem_id);
	crl_prm_set64(cqc, CRL_PRM_CQC_DBR_ADDR, cq->ring.dbrec_off);
	crl_prm_set(cqc, CRL_PRM_CQC_CC, (cq->flags & CRL_CQ_COLLAPSED) != 0);
	crl_prm_set(cqc, CRL_PRM_CQC_OI, (cq->flags & CRL_CQ_OVERRUN_IGNORE) != 0);
}

int
crl_cq_create(struct crl_queue *q, struct crl_cq_obj *cq, const char *step, struct crl_err *err)
{
	uint32_t in[CRL_PRM_CREATE_CQ_IN_BYTES / 4] = {0};
	uint32_t out[CRL_PRM_CREATE_CQ_OUT_BYTES / 4];
	int ret = ring_init(q, cq, err);

	if (ret != 0)
		return ret;
	ret = crl_ring_reg(q, &cq->ring, err);
	if (ret != 0)
		return ret;
	fill_command(q, cq, in);
	ret = crl_devx_create(q->ctx, step, in, sizeof(in), out, sizeof(out), &cq->obj, err);
	if (ret != 0)
		return ret;
	cq->cqn = crl_prm_get(out, CRL_PRM_CREATE_CQ_OUT_CQN);
	return 0;
}

int
crl_cq_destroy(struct crl_queue *q, struct crl_cq_obj *cq, struct crl_err *err)
{
	int ret = crl_devx_destroy(&cq->obj, "destroy completion queue", err);

	(void)q;
	if (ret == 0)
		crl_umem_dereg(&cq->ring.umem);
	return ret;
}
