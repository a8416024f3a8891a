/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage 1 of 4 of a send: take room in the ring. One lane owns a send queue; it reserves, posts,
 * rings and polls, on GPU or host. Nothing here touches shared memory.
 */
#ifndef CRL_SQ_RESERVE_H
#define CRL_SQ_RESERVE_H

#include "queue.h"
#include "ring.h"

/* WQEBBs that can be reserved now. Room comes back when completions are taken (cq_poll.h). */
CRL_FN uint64_t
crl_sq_room(const struct crl_sq *sq)
{
	CRL_ASSERT(sq->pi - sq->ci <= crl_ring_depth(sq->log_depth));
	return crl_ring_room(sq->pi, sq->ci, sq->log_depth);
}

/*
 * Takes n WQEBBs; *pi is the first. All that is reserved must be written (sq_post.h) before the
 * next doorbell. CRL_AGAIN: no room for n now. CRL_FAILED: the queue is not READY. CRL_INVALID: n
 * is 0 or more than the ring has.
 */
CRL_FN enum crl_st
crl_sq_reserve(struct crl_sq *sq, uint32_t n, uint64_t *pi)
{
	if (n == 0 || n > crl_ring_depth(sq->log_depth))
		return CRL_INVALID;
	if (sq->state != CRL_QS_READY)
		return CRL_FAILED;
	if (n > crl_sq_room(sq))
		return CRL_AGAIN;
	*pi = sq->pi;
	sq->pi += n;
	return CRL_OK;
}

#endif /* CRL_SQ_RESERVE_H */
