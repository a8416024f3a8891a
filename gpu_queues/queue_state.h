/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue states: from nothing to a queue whose engine may begin. The NIC's objects are freshly made,
 * and the CQ's memory is filled by crl_cq_fill(), when these run. Called by drivers/mlx5 at
 * creation. From an error: queue_rearm.h.
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

/* Cookies still in flight are forgotten: take them first (crl_sq_take()). */
CRL_FN void
crl_sq_book_reset(struct crl_sq *sq)
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
	sq->state = CRL_QS_READY;
}

/* Constants must be set. */
CRL_FN void
crl_sq_reset(struct crl_sq *sq)
{
	crl_cq_reset(&sq->cq);
	crl_sq_book_reset(sq);
}

/* Indices only: the released table is filled by crl_rq_fill_released() or crl_rq_release_all(). */
CRL_FN void
crl_rq_book_reset(struct crl_rq *rq)
{
	rq->pi = 0;
	rq->pi_told = 0;
	rq->ci = 0;
	rq->state = CRL_QS_READY;
}

CRL_FN void
crl_rq_reset(struct crl_rq *rq)
{
	crl_cq_reset(&rq->cq);
	crl_rq_book_reset(rq);
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
