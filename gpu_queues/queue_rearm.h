/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue states: from an error to a queue that begins anew, after the host has moved the NIC's
 * object through RST to RDY and zeroed its doorbell record. No command resets a CQ: the NIC goes on
 * in it where it was, so its memory and its record stay as they are, and its index goes on too.
 * Called by engines.
 */
#ifndef CRL_QUEUE_REARM_H
#define CRL_QUEUE_REARM_H

#include "cq_poll.h"
#include "queue_state.h"

/*
 * Passes over what the NIC wrote before it reset the queue, and tells it so: there must be room
 * again before the first new CQE. The one entry of a collapsed CQ is made invalid instead: it says
 * nothing of the new WQEs.
 */
CRL_FN void
crl_cq_pass(struct crl_cq *cq)
{
	uint64_t end = cq->ci + crl_ring_depth(cq->log_depth);
	uint32_t tail;

	if (cq->flags & CRL_CQ_COLLAPSED) {
		crl_st8(&crl_cq_entry(cq, 0)->op_own, CRL_CQE_INVALID << 4 | 1u);
		return;
	}
	while (cq->ci != end && crl_cq_peek(cq, cq->ci, &tail))
		cq->ci++;
	if (!crl_cq_owes(cq))
		return;
	crl_order_reads_before_giveback(); /* pairs with the NIC's next write to these entries */
	crl_cq_giveback(cq);
}

/* Its cookies have been taken. */
CRL_FN void
crl_sq_rearm(struct crl_sq *sq)
{
	crl_cq_pass(&sq->cq);
	crl_sq_book_reset(sq);
}

/* As crl_rq_reset(): indices only. */
CRL_FN void
crl_rq_rearm(struct crl_rq *rq)
{
	crl_cq_pass(&rq->cq);
	crl_rq_book_reset(rq);
}

#endif /* CRL_QUEUE_REARM_H */
