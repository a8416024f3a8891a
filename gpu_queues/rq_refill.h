/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive side's way back: buffers that the application is done with go to the NIC again, in
 * the order of their slots. Slot i's WQE always names buffer i, so that giving back is one counter
 * in the queue's record; a slot released early waits for those before it. An RQ has no register:
 * the NIC looks at the record when the credit it knows of runs out.
 */
#ifndef CRL_RQ_REFILL_H
#define CRL_RQ_REFILL_H

#include "cq_poll.h"
#include "mem.h"
#include "order.h"
#include "queue.h"
#include "ring.h"

/* The application is done with a packet: its bytes were read, or its send completed. */
CRL_FN void
crl_rq_release(struct crl_rq *rq, uint64_t index)
{
	CRL_ASSERT(index < rq->ci && !rq->released[crl_ring_slot(index, rq->log_depth)]);
	rq->released[crl_ring_slot(index, rq->log_depth)] = 1;
}

/* Moves pi over released slots; tells nobody yet. Returns how many. Bound: the ring's depth. */
CRL_FN uint32_t
crl_rq_collect(struct crl_rq *rq)
{
	uint64_t from = rq->pi, end = rq->ci + crl_ring_depth(rq->log_depth);
	uint8_t *r;

	if (rq->state != CRL_QS_READY)
		return 0;
	while (rq->pi < end) {
		r = &rq->released[crl_ring_slot(rq->pi, rq->log_depth)];
		if (!*r)
			break;
		*r = 0;
		rq->pi++;
	}
	return (uint32_t)(rq->pi - from);
}

/* Something was read whose place the NIC may have again; n: slots that crl_rq_collect() moved. */
CRL_FN bool
crl_giveback_due(const struct crl_rq *rq, const struct crl_sq *sq, uint32_t n)
{
	return n != 0 || (rq && crl_cq_owes(&rq->cq)) || (sq && crl_cq_owes(&sq->cq));
}

/*
 * Tells the NIC, after crl_order_reads_before_giveback(). A CQ's record goes first: its entries
 * must be free before the slots that will fill them.
 */
CRL_FN void
crl_giveback_tell(struct crl_rq *rq, struct crl_sq *sq, uint32_t n)
{
	if (rq)
		crl_cq_giveback(&rq->cq);
	if (sq)
		crl_cq_giveback(&sq->cq);
	if (n == 0)
		return;
	crl_st_be32(&rq->dbrec[CRL_DBREC_RCV_WORD], crl_index16(rq->pi));
	rq->pi_told = rq->pi;
}

/*
 * Gives back what was read: this RQ's CQEs, its released slots and, if sq is not NULL, that queue's
 * CQEs, all behind one edge. Returns the number of slots given to the NIC.
 */
CRL_FN uint32_t
crl_rq_refill(struct crl_rq *rq, struct crl_sq *sq)
{
	uint32_t n = rq ? crl_rq_collect(rq) : 0;

	if (!crl_giveback_due(rq, sq, n))
		return 0;
	crl_order_reads_before_giveback(); /* pairs with the NIC's next write to these slots */
	crl_giveback_tell(rq, sq, n);
	return n;
}

#endif /* CRL_RQ_REFILL_H */
