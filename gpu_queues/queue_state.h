/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue states: from nothing (or from an error that the host has cleared up) to a queue whose
 * engine may begin. The NIC's object must be in its own reset state or freshly made, and the CQ's
 * memory filled by crl_cq_fill(), when these run. Called by drivers/mlx5 at creation and by engines
 * at re-arm.
 */
#ifndef CRL_QUEUE_STATE_H
#define CRL_QUEUE_STATE_H

#include "queue.h"
#include "ring.h"

CRL_FN void
crl_cq_reset(struct crl_cq *cq)
{
	cq->ci = 0;
	cq->ci_told = 0;
}

/* Constants must be set. Cookies still in flight are forgotten: take them first (crl_sq_flush). */
CRL_FN void
crl_sq_reset(struct crl_sq *sq)
{
	sq->pi = 0;
	sq->posted = 0;
	sq->rung = 0;
	sq->completed = 0;
	sq->ci = 0;
	sq->signalled = 0;
	sq->last = 0;
	sq->db = 0;
	sq->unsignalled = 0;
	crl_cq_reset(&sq->cq);
	sq->state = CRL_QS_READY;
}

/* Indices only: the released table is filled by crl_rq_fill_released() or crl_rq_release_all(). */
CRL_FN void
crl_rq_reset(struct crl_rq *rq)
{
	rq->pi = 0;
	rq->pi_told = 0;
	rq->ci = 0;
	crl_cq_reset(&rq->cq);
	rq->state = CRL_QS_READY;
}

/* All slots become the engine's; the next crl_rq_refill() hands them to the NIC. */
CRL_FN void
crl_rq_release_all(struct crl_rq *rq)
{
	uint64_t i;

	for (i = 0; i < crl_ring_depth(rq->log_depth); i++)
		rq->released[i] = 1;
}

#endif /* CRL_QUEUE_STATE_H */
