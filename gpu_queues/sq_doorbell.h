/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage 3 of 4 of a send: make posted WQEs known to the NIC. One lane, once a burst. Every post has
 * both edges, WQE before record and record before register; a post with one of them would be
 * another protocol. The last WQE before a doorbell is always signalled: whether more will follow is
 * not known here, and an engine that goes idle with an unsignalled send in flight never gets its
 * buffer back.
 */
#ifndef CRL_SQ_DOORBELL_H
#define CRL_SQ_DOORBELL_H

#include "mem.h"
#include "order.h"
#include "queue.h"
#include "sq_post.h"

/* There is something that the NIC has not been told of. */
CRL_FN bool
crl_sq_ring_due(const struct crl_sq *sq)
{
	return sq->posted != sq->rung && sq->state == CRL_QS_READY;
}

/* Tells it, after crl_order_wqe_before_record(). */
CRL_FN void
crl_sq_tell(struct crl_sq *sq)
{
	crl_st_be32(&sq->dbrec[CRL_DBREC_SND_WORD], crl_index16(sq->posted));
	crl_order_record_before_uar(); /* pairs with the NIC's record read at the register write */
	crl_st_mmio64(sq->uar, sq->db);
	crl_order_uar_out();
	sq->rung = sq->posted;
}

/* Returns true when there was something to ring for. All reserved room must be written. */
CRL_FN bool
crl_sq_ring(struct crl_sq *sq)
{
	CRL_ASSERT(sq->posted == sq->pi);
	if (!crl_sq_ring_due(sq))
		return false;
	crl_sq_signal_last(sq);
	crl_order_wqe_before_record(); /* pairs with the NIC's fetch after it reads the record */
	crl_sq_tell(sq);
	return true;
}

/*
 * crl_sq_ring() with both edges at GPU scope: for a ring and a record in this GPU's own memory only
 * (order.h says why).
 */
CRL_FN bool
crl_sq_ring_gpu(struct crl_sq *sq)
{
	CRL_ASSERT(sq->posted == sq->pi);
	if (sq->posted == sq->rung || sq->state != CRL_QS_READY)
		return false;
	crl_sq_signal_last(sq);
	crl_order_wqe_before_record_gpu(); /* pairs with the NIC's fetch after the record */
	crl_st_be32(&sq->dbrec[CRL_DBREC_SND_WORD], crl_index16(sq->posted));
	crl_order_record_before_uar_gpu(); /* pairs with the NIC's record read */
	crl_st_mmio64(sq->uar, sq->db);
	crl_order_uar_out();
	sq->rung = sq->posted;
	return true;
}

#endif /* CRL_SQ_DOORBELL_H */
