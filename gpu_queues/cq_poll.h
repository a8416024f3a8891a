/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage 4 of 4 of a send, and the first of a receive: see what the NIC completed. One lane polls a
 * CQ.
 *
 * A CQE's last four bytes (WQE counter, signature, opcode and owner) are read in one load, so that
 * they belong together even where the NIC rewrites one CQE over and over. The rest is read after
 * the edge, which stands once for all CQEs seen. The NIC is told of consumed entries later,
 * together with receive slots (rq_refill.h): crl_cq_giveback().
 *
 * Errors: the first one of a queue goes to its mailbox, the queue is FAILED, and nothing more is
 * taken from its CQ. The control loop does the rest.
 */
#ifndef CRL_CQ_POLL_H
#define CRL_CQ_POLL_H

#include "mem.h"
#include "order.h"
#include "queue.h"
#include "ring.h"

/* A received frame; the caller's from crl_rq_poll() to crl_rq_release(). */
struct crl_pkt {
	uint8_t *data;	   /* as this processor sees it; on an even address */
	uint64_t iova;	   /* the same, as WQEs name it */
	uint64_t index;	   /* of its receive slot, free-running: names it in crl_rq_release() */
	uint32_t len;	   /* bytes, without FCS */
	uint32_t room;	   /* bytes from data to the end of the buffer */
	uint32_t hash;	   /* RSS hash, 0 none */
	uint32_t metadata; /* flow metadata, 0 none */
	uint8_t csum_ok;   /* CRL_CQE_L3_OK, CRL_CQE_L4_OK ..: what the NIC verified */
	uint8_t types;	   /* L3 and L4 type: CRL_CQE_L3_SHIFT, CRL_CQE_L4_SHIFT */
	uint16_t vlan;	   /* a tag that the NIC stripped, CRL_CQE_CV set in types */
};

#define CRL_CQE_TAIL offsetof(struct crl_cqe64, wqe_counter) /* counter, signature, op_own */

CRL_FN uint16_t
crl_tail_counter(uint32_t tail)
{
	return crl_bswap16((uint16_t)tail);
}

CRL_FN uint8_t
crl_tail_op_own(uint32_t tail)
{
	return (uint8_t)(tail >> 24);
}

CRL_FN struct crl_cqe64 *
crl_cq_entry(const struct crl_cq *cq, uint64_t ci)
{
	return &cq->cqe[cq->flags & CRL_CQ_COLLAPSED ? 0 : crl_ring_slot(ci, cq->log_depth)];
}

/* The tail of entry ci, and whether the NIC wrote it in this lap. */
CRL_FN bool
crl_cq_peek(const struct crl_cq *cq, uint64_t ci, uint32_t *tail)
{
	*tail = crl_ld32((const uint8_t *)crl_cq_entry(cq, ci) + CRL_CQE_TAIL);
	if (cq->flags & CRL_CQ_COLLAPSED)
		return crl_cqe_opcode(crl_tail_op_own(*tail)) != CRL_CQE_INVALID;
	return crl_cqe_is_sw_owned(crl_tail_op_own(*tail), ci, cq->log_depth);
}

/* Puts the first error of a queue into its mailbox; wqe_bytes may be NULL. Call after the CQE edge.
 */
CRL_FN void
crl_qerror_put(struct crl_qerror *e, uint32_t kind, bool is_rx, uint32_t qn, uint32_t wqe,
	const struct crl_cqe64 *cqe, const uint8_t *wqe_bytes)
{
	const struct crl_err_cqe *err = (const struct crl_err_cqe *)cqe;

	if (e == NULL || crl_ld32(&e->seq) != 0)
		return;
	crl_st32(&e->status, CRL_FAILED);
	crl_st32(&e->queue, qn);
	crl_st32(&e->wqe, wqe);
	crl_st8(&e->syndrome, cqe && kind == CRL_QERR_CQE ? crl_ld8(&err->syndrome) : 0);
	crl_st8(&e->vendor, cqe && kind == CRL_QERR_CQE ? crl_ld8(&err->vendor_err_synd) : 0);
	crl_st8(&e->is_rx, is_rx);
	crl_st8(&e->kind, (uint8_t)kind);
	if (cqe)
		crl_copy32(e->cqe, cqe, sizeof(e->cqe));
	if (wqe_bytes)
		crl_copy32(e->wqe_bytes, wqe_bytes, is_rx ? 16u : 64u);
	crl_order_error_before_seq(); /* pairs with the control loop's read after it saw seq */
	crl_st32(&e->seq, 1);
}

/*
 * Looks at one send CQE; *seen: whether there was one. Moves completed and, in an ordinary CQ, ci.
 * CRL_FAILED: an error CQE or one that cannot be; *kind says which.
 */
CRL_FN enum crl_st
crl_sq_poll_one(struct crl_sq *sq, uint32_t *kind, bool *seen)
{
	uint32_t tail, op;
	uint64_t w, end;

	*seen = false;
	if (!crl_cq_peek(&sq->cq, sq->cq.ci, &tail))
		return CRL_AGAIN;
	op = crl_cqe_opcode(crl_tail_op_own(tail));
	w = crl_index_from16(sq->completed, crl_tail_counter(tail));
	if ((sq->cq.flags & CRL_CQ_COLLAPSED) && w >= sq->rung && op == CRL_CQE_REQ)
		return CRL_AGAIN; /* the entry of a WQE we have counted already */
	*seen = true;
	*kind = op == CRL_CQE_REQ_ERR ? CRL_QERR_CQE : CRL_QERR_OPCODE;
	if (op != CRL_CQE_REQ)
		return CRL_FAILED;
	*kind = CRL_QERR_COUNTER;
	if (w >= sq->rung)
		return CRL_FAILED;
	/* For an index in the middle of a WQE the table has what an earlier lap left there. */
	end = sq->end[crl_ring_slot(w, sq->log_depth)];
	if (end <= w || end > sq->rung)
		return CRL_FAILED;
	sq->completed = end;
	sq->cq.ci += !(sq->cq.flags & CRL_CQ_COLLAPSED);
	return CRL_OK;
}

/*
 * Takes up to max send CQEs. CRL_OK: something completed, crl_sq_take() gives the cookies.
 * CRL_AGAIN: nothing did. CRL_FAILED: an error CQE came, now or before; what completed before it
 * can be taken.
 */
CRL_FN enum crl_st
crl_sq_poll(struct crl_sq *sq, struct crl_qerror *error, uint32_t max)
{
	uint64_t before = sq->completed, w;
	enum crl_st st = CRL_AGAIN;
	uint32_t i, kind = 0, tail;
	bool seen = false;

	if (sq->state != CRL_QS_READY)
		return CRL_FAILED;
	for (i = 0; i < max && sq->completed < sq->rung; i++) {
		st = crl_sq_poll_one(sq, &kind, &seen);
		if (st != CRL_OK)
			break;
	}
	if (sq->completed == before && !seen)
		return CRL_AGAIN;
	crl_order_send_done_before_reuse(); /* pairs with the NIC's last read of these WQEs and
					       frames */
	if (st != CRL_FAILED)
		return CRL_OK;
	sq->state = CRL_QS_FAILED;
	crl_cq_peek(&sq->cq, sq->cq.ci, &tail);
	w = crl_index_from16(sq->completed, crl_tail_counter(tail));
	if (kind == CRL_QERR_CQE && w < sq->rung)
		sq->completed = w; /* all before the failed WQE were sent, signalled or not */
	crl_qerror_put(error, kind, false, sq->sqn, crl_tail_counter(tail),
		crl_cq_entry(&sq->cq, sq->cq.ci),
		sq->wqe + (uint64_t)crl_ring_slot(w, sq->log_depth) * CRL_WQEBB_BYTES);
	return CRL_FAILED;
}

/*
 * The next completed WQE's cookie, in the order of posting. CRL_OK: it was sent; its room is free
 * again. CRL_AGAIN: none is complete. CRL_FAILED: the queue failed and this WQE was not sent, or
 * was the one that failed.
 */
CRL_FN enum crl_st
crl_sq_take(struct crl_sq *sq, uint64_t *cookie)
{
	uint32_t slot = crl_ring_slot(sq->ci, sq->log_depth);
	bool sent = sq->ci < sq->completed;

	CRL_ASSERT(sq->ci <= sq->completed && sq->completed <= sq->posted);
	if (!sent && (sq->state == CRL_QS_READY || sq->ci == sq->posted))
		return CRL_AGAIN;
	*cookie = sq->cookie[slot];
	sq->ci = sq->end[slot];
	if (sq->completed < sq->ci)
		sq->completed =
			sq->ci; /* of a failed queue: flushed, whether or not the NIC says so */
	return sent ? CRL_OK : CRL_FAILED;
}

/* What one good receive CQE says, as a packet. */
CRL_FN void
crl_rq_packet(
	const struct crl_rq *rq, const struct crl_cqe64 *cqe, uint64_t index, struct crl_pkt *pkt)
{
	uint64_t at = (uint64_t)crl_ring_slot(index, rq->log_depth) * rq->stride + rq->headroom;

	pkt->data = rq->buf + at;
	pkt->iova = rq->buf_iova + at;
	pkt->index = index;
	pkt->len = crl_ld_be32(&cqe->byte_cnt);
	pkt->room = rq->stride - rq->headroom;
	pkt->hash = crl_ld_be32(&cqe->rx_hash_result);
	pkt->metadata = crl_ld_be32(&cqe->metadata);
	pkt->csum_ok = crl_ld8(&cqe->hds_ip_ext);
	pkt->types = crl_ld8(&cqe->l4_hdr_type_etc);
	pkt->vlan = crl_ld_be16(&cqe->vlan_info);
}

/* CQEs that the NIC has written, up to max. */
CRL_FN uint32_t
crl_cq_count(const struct crl_cq *cq, uint32_t max)
{
	uint32_t n = 0, tail;

	while (n < max && crl_cq_peek(cq, cq->ci + n, &tail))
		n++;
	return n;
}

/* Checks one receive CQE and makes a packet of it; *kind: what is wrong when it returns false. */
CRL_FN bool
crl_rq_take_one(struct crl_rq *rq, struct crl_pkt *pkt, uint32_t *kind)
{
	struct crl_cqe64 *cqe = crl_cq_entry(&rq->cq, rq->cq.ci);
	uint32_t tail, op;

	crl_cq_peek(&rq->cq, rq->cq.ci, &tail);
	op = crl_cqe_opcode(crl_tail_op_own(tail));
	*kind = op == CRL_CQE_RESP_ERR ? CRL_QERR_CQE : CRL_QERR_OPCODE;
	if (op != CRL_CQE_RESP_SEND)
		return false;
	*kind = CRL_QERR_COUNTER;
	if (crl_tail_counter(tail) != crl_index16(rq->ci) || rq->ci == rq->pi_told)
		return false;
	crl_rq_packet(rq, cqe, rq->ci, pkt);
	*kind = CRL_QERR_LENGTH;
	if (pkt->len > pkt->room)
		return false;
	rq->ci++;
	rq->cq.ci++;
	return true;
}

/*
 * Takes up to max received frames; *n how many. CRL_OK: at least one. CRL_AGAIN: none. CRL_FAILED:
 * the queue is in error, now or before; frames that came before the error were given by this or an
 * earlier call (*n may be more than 0).
 */
CRL_FN enum crl_st
crl_rq_poll(
	struct crl_rq *rq, struct crl_qerror *error, struct crl_pkt *pkt, uint32_t max, uint32_t *n)
{
	uint32_t i, kind = 0, seen;

	*n = 0;
	if (rq->state != CRL_QS_READY)
		return CRL_FAILED;
	seen = crl_cq_count(&rq->cq, max);
	if (seen == 0)
		return CRL_AGAIN;
	crl_order_cqe_before_payload(); /* pairs with the NIC's CQE write after its payload write */
	for (i = 0; i < seen; i++) {
		if (!crl_rq_take_one(rq, &pkt[i], &kind))
			break;
	}
	*n = i;
	if (i == seen)
		return CRL_OK;
	rq->state = CRL_QS_FAILED;
	crl_qerror_put(error, kind, true, rq->rqn, crl_index16(rq->ci),
		crl_cq_entry(&rq->cq, rq->cq.ci),
		(const uint8_t *)&rq->wqe[crl_ring_slot(rq->ci, rq->log_depth)]);
	return CRL_FAILED;
}

/* CQEs were read that the NIC is to be told of: never of a CQ whose consumer index it ignores. */
CRL_FN bool
crl_cq_owes(const struct crl_cq *cq)
{
	return cq->ci != cq->ci_told && !(cq->flags & (CRL_CQ_OVERRUN_IGNORE | CRL_CQ_COLLAPSED));
}

/*
 * Tells the NIC which CQEs were read. The caller has called crl_order_reads_before_giveback() since
 * it read them. Returns true when the record was written.
 */
CRL_FN bool
crl_cq_giveback(struct crl_cq *cq)
{
	if (!crl_cq_owes(cq))
		return false;
	crl_st_be32(&cq->dbrec[CRL_DBREC_CQ_CI], crl_index24(cq->ci));
	cq->ci_told = cq->ci;
	return true;
}

#endif /* CRL_CQ_POLL_H */
