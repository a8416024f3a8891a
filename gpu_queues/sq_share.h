/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared form of a send: many producers (threads, or lane 0 of warps and blocks) on one send
 * queue. The exclusive form, crl_sq_*, is for a queue with one owner and costs nothing for others;
 * a queue is used in one form at a time, from when crl_share_init() was called.
 *
 * crl_share_reserve(): takes room, or says that there is none: nobody waits for room while holding
 * some, so that two half-full groups cannot stop each other.
 *
 * crl_share_reserve_seat(): the same within the producer's own share, so that nobody starves.
 *
 * crl_share_enter(): waits for the producers before: ranges are written in the order of tickets.
 *
 * crl_sq_put_*(): as in the exclusive form; between enter and leave the queue is the caller's.
 *
 * crl_share_leave(): rings when asked to, and lets the next producer in.
 *
 * crl_share_abandon(): instead, for who has nothing to send after all: NOPs fill the range.
 *
 * crl_share_poll(): whoever finds nobody else at it takes completions.
 *
 * A producer whose turn does not come within wait_ns fails the queue: somebody before it is gone
 * with a range that nobody will write, and no send after it can ever leave. Payload is written
 * before enter, outside of the turn.
 */
#ifndef CRL_SQ_SHARE_H
#define CRL_SQ_SHARE_H

#include "cq_poll.h"
#include "sq_doorbell.h"

#define CRL_SHARE_TRIES_MAX 64u /* at a ticket that others take away, before CRL_AGAIN */
#define CRL_SHARE_NOP_MAX   15u /* WQEBBs of one NOP */

/* Zeroed; in memory of all producers; each word that others write has a cache line of its own. */
struct crl_sq_share {
	CRL_ALIGNAS(64) uint64_t ticket; /* WQEBBs reserved; by compare and swap */
	CRL_ALIGNAS(64) uint64_t turn;	 /* WQEBBs written; whose index it is may enter */
	CRL_ALIGNAS(64) uint64_t ci;	 /* WQEBBs whose room is free again; the poller's */
	CRL_ALIGNAS(64) uint32_t poller; /* 1: somebody polls */
	uint32_t failed;		 /* 1: an error CQE came, or a turn did not */
};

/* The queue is fresh or re-armed, and nobody uses it yet. */
CRL_FN void
crl_share_init(struct crl_sq_share *sh, const struct crl_sq *sq)
{
	sh->ticket = sq->pi;
	sh->turn = sq->posted;
	sh->ci = sq->ci;
	sh->poller = 0;
	sh->failed = 0;
}

/*
 * Takes n WQEBBs; *pi is the first. They must be written or abandoned. CRL_AGAIN: no room now, or
 * others were faster many times: poll, then again. CRL_INVALID: n is 0 or more than the ring has,
 * which no wait would change.
 */
CRL_FN enum crl_st
crl_share_reserve(struct crl_sq_share *sh, const struct crl_sq *sq, uint32_t n, uint64_t *pi)
{
	uint64_t p, used, depth = crl_ring_depth(sq->log_depth);
	uint32_t i;

	if (n == 0 || n > depth)
		return CRL_INVALID;
	for (i = 0; i < CRL_SHARE_TRIES_MAX; i++) {
		if (crl_ld32(&sh->failed))
			return CRL_FAILED;
		p = crl_ld64(&sh->ticket);
		used = p - crl_ld64(&sh->ci);
		if (used > depth)
			continue; /* the ticket is an old one: the poller passed it since */
		if (used + n > depth)
			return CRL_AGAIN;
		if (!crl_cas64(&sh->ticket, p, p + n))
			continue;
		crl_order_send_done_before_reuse(); /* pairs with the poller's before it freed room
						     */
		*pi = p;
		return CRL_OK;
	}
	return CRL_AGAIN;
}

/* First failure: into the mailbox by who finds it, and into the flag that all look at. */
CRL_FN void
crl_share_fail(struct crl_sq_share *sh, const struct crl_sq *sq, struct crl_qerror *error,
	uint32_t kind, uint32_t index, const struct crl_cqe64 *cqe)
{
	if (crl_cas32(&sh->failed, 0, 1))
		crl_qerror_put(error, kind, false, sq->sqn, index, cqe, NULL);
}

/*
 * A producer's seat: its share of the ring. Room goes to who asks first, and the one that finds it
 * free can take all of it, every time: with more threads than cores the same one did, and others
 * sent nothing. Who holds a seat has at most `most` WQEBBs under way; as many seats as fit into the
 * ring never wait for each other's room.
 */
struct crl_share_seat {
	CRL_ALIGNAS(64) uint64_t taken; /* WQEBBs reserved; the producer's */
	CRL_ALIGNAS(64) uint64_t back;	/* of those, completed: by whoever polls */
	uint32_t most;
	uint32_t rsvd;
};

/* One of nr seats; nr up to the ring's depth. */
CRL_FN void
crl_share_seat_init(struct crl_share_seat *seat, const struct crl_sq *sq, uint32_t nr)
{
	uint32_t most = (uint32_t)(crl_ring_depth(sq->log_depth) / nr);

	seat->taken = 0;
	seat->back = 0;
	seat->most = most != 0 ? most : 1u;
}

/* As crl_share_reserve(), by the seat's producer. CRL_INVALID also: n is more than its share. */
CRL_FN enum crl_st
crl_share_reserve_seat(struct crl_sq_share *sh, const struct crl_sq *sq,
	struct crl_share_seat *seat, uint32_t n, uint64_t *pi)
{
	enum crl_st st;

	if (n > seat->most)
		return CRL_INVALID;
	if (seat->taken - crl_ld64(&seat->back) + n > seat->most)
		return CRL_AGAIN;
	st = crl_share_reserve(sh, sq, n, pi);
	if (st == CRL_OK)
		seat->taken += n;
	return st;
}

/*
 * n WQEBBs of the seat's have completed: by whoever took their cookie, which must lead here. NOPs
 * of an abandoned range have no cookie: its producer calls this itself.
 */
CRL_FN void
crl_share_seat_back(struct crl_share_seat *seat, uint32_t n)
{
	uint64_t was;

	do { /* bound: one more for each other poller that is here at this moment */
		was = crl_ld64(&seat->back);
	} while (!crl_cas64(&seat->back, was, was + n));
}

/*
 * Waits up to wait_ns for the turn of the range at pi of n WQEBBs. CRL_OK: the queue is the
 * caller's until crl_share_leave(). CRL_FAILED: the queue is in error, the range is lost with it.
 * CRL_STUCK: the turn did not come, and the queue has failed for that.
 */
CRL_FN enum crl_st
crl_share_enter(struct crl_sq_share *sh, struct crl_sq *sq, struct crl_qerror *error, uint64_t pi,
	uint32_t n, uint64_t wait_ns)
{
	uint64_t end = 0;
	uint32_t tries = 0;

	crl_order_payload_before_wqe();
	while (crl_ld64(&sh->turn) != pi) { /* bound: wait_ns */
		if (crl_ld32(&sh->failed))
			return CRL_FAILED;
		end = end ? end : crl_until(crl_now_ns(), wait_ns);
		if (crl_now_ns() > end) {
			crl_share_fail(sh, sq, error, CRL_QERR_TURN, crl_index16(pi), NULL);
			return CRL_STUCK;
		}
		crl_give_way(tries++);
	}
	crl_order_producer_before_ringer(); /* pairs with the producer's before, who left */
	if (crl_ld32(&sh->failed))
		sq->state = CRL_QS_FAILED; /* nothing is rung any more; the turn goes on */
	sq->pi = pi + n;
	return CRL_OK;
}

/* The range up to pi_end is written. ring: its frames, and all before, go to the NIC now. */
CRL_FN void
crl_share_leave(struct crl_sq_share *sh, struct crl_sq *sq, uint64_t pi_end, bool ring)
{
	CRL_ASSERT(sq->posted == pi_end && sq->pi == pi_end);
	if (ring)
		crl_sq_ring(sq);
	crl_order_producer_before_ringer(); /* pairs with who enters next, and with the poller */
	crl_st64(&sh->turn, pi_end);
}

/* Gives up a reserved range: it is filled with NOPs, whose cookie is 0, and rung. As enter. */
CRL_FN enum crl_st
crl_share_abandon(struct crl_sq_share *sh, struct crl_sq *sq, struct crl_qerror *error, uint64_t pi,
	uint32_t n, uint64_t wait_ns)
{
	enum crl_st st = crl_share_enter(sh, sq, error, pi, n, wait_ns);
	uint32_t part, left = n;

	if (st != CRL_OK)
		return st;
	for (; left > 0; left -= part) {
		part = left < CRL_SHARE_NOP_MAX ? left : CRL_SHARE_NOP_MAX;
		crl_sq_put_nop(sq, pi + (n - left), part, false, 0);
	}
	crl_share_leave(sh, sq, pi + n, true);
	return CRL_OK;
}

/* Send CQEs that were written, for WQEs below upto; false: the queue failed. */
CRL_FN bool
crl_share_look(struct crl_sq_share *sh, struct crl_sq *sq, struct crl_qerror *error, uint64_t upto)
{
	uint64_t w, end;
	uint32_t tail, op;

	while (sq->completed < upto && crl_cq_peek(&sq->cq, sq->cq.ci, &tail)) {
		w = crl_index_from16(sq->completed, crl_tail_counter(tail));
		op = crl_cqe_opcode(crl_tail_op_own(tail));
		if (op == CRL_CQE_REQ && w >= upto)
			return true; /* of a turn that began since: with the next look */
		crl_order_send_done_before_reuse(); /* pairs with the NIC's last read of the WQEs */
		if (op != CRL_CQE_REQ) {
			if (op == CRL_CQE_REQ_ERR && w < upto)
				sq->completed = w; /* all before the failed one were sent */
			crl_share_fail(sh, sq, error,
				op == CRL_CQE_REQ_ERR ? CRL_QERR_CQE : CRL_QERR_OPCODE,
				crl_tail_counter(tail), crl_cq_entry(&sq->cq, sq->cq.ci));
			return false;
		}
		/* For an index in the middle of a WQE the table has an older lap's end. */
		end = sq->end[crl_ring_slot(w, sq->log_depth)];
		if (end <= w || end > upto) {
			crl_share_fail(sh, sq, error, CRL_QERR_COUNTER, crl_tail_counter(tail),
				crl_cq_entry(&sq->cq, sq->cq.ci));
			return false;
		}
		sq->completed = end;
		sq->cq.ci++;
	}
	return true;
}

/*
 * Takes completions, up to max cookies in the order of their ranges; *n how many. CRL_OK: at least
 * one. CRL_AGAIN: none, or somebody else is at it. CRL_FAILED: the queue is in error; *n frames
 * that were sent before it may still be given. An ordinary CQ only.
 */
CRL_FN enum crl_st
crl_share_poll(struct crl_sq_share *sh, struct crl_sq *sq, struct crl_qerror *error,
	uint64_t *cookie, uint32_t max, uint32_t *n)
{
	uint64_t upto, ci;
	bool good;

	*n = 0;
	if (crl_ld32(&sh->poller) || !crl_cas32(&sh->poller, 0, 1))
		return CRL_AGAIN;
	crl_order_poller_before_worker(); /* pairs with the poller before */
	upto = crl_ld64(&sh->turn);
	crl_order_producer_before_ringer(); /* pairs with who left, for cookies and ends */
	good = !crl_ld32(&sh->failed) && crl_share_look(sh, sq, error, upto);
	for (ci = sq->ci; ci < sq->completed && *n < max; (*n)++) {
		cookie[*n] = sq->cookie[crl_ring_slot(ci, sq->log_depth)];
		ci = sq->end[crl_ring_slot(ci, sq->log_depth)];
	}
	crl_order_reads_before_giveback(); /* pairs with the NIC's next write to these CQEs */
	crl_cq_giveback(&sq->cq);
	crl_order_send_done_before_reuse(); /* pairs with who reserves this room next */
	sq->ci = ci;
	crl_st64(&sh->ci, ci);
	crl_order_poller_before_worker(); /* pairs with the next poller */
	crl_st32(&sh->poller, 0);
	return !good ? CRL_FAILED : *n != 0 ? CRL_OK : CRL_AGAIN;
}

#endif /* CRL_SQ_SHARE_H */
