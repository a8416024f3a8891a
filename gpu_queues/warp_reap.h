/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a warp polls, and what comes back: send completions, the receive slots that they free, and
 * those that a packet function dropped. cq_poll.h and rq_refill.h by 32 lanes; the tables are the
 * same. Slots come back in the order in which they were received as long as nothing is dropped, and
 * then an index moves and no byte of rq.released is touched.
 */
#ifndef CRL_WARP_REAP_H
#define CRL_WARP_REAP_H

#include "stream.h"
#include "warp.h"

/* CQEs that were seen: how many, and of send CQEs lane's tail. */
struct crl_warp_seen {
	uint32_t rx, tx;
	CRL_LANE(uint32_t, tail);
};

/* How many bytes of rq.released are set: after anything but a warp may have set some. */
CRL_FN void
crl_warp_recount(const struct crl_warp *w, struct crl_stream *s)
{
	CRL_LANE(uint32_t, n);
	uint64_t depth, at;
	uint32_t sum;

	if (!s->rx)
		return;
	depth = crl_ring_depth(s->rx->rq.log_depth);
	crl_warp_sync();
	CRL_EACH_LANE(w, lane)
	{
		n[CRL_AT(lane)] = 0;
		for (at = lane; at < depth; at += CRL_WARP_LANES)
			n[CRL_AT(lane)] += s->rx->rq.released[at] != 0;
	}
	sum = crl_warp_sum(n);
	if (crl_warp_first())
		s->loose = sum;
	crl_warp_sync();
}

/* Looks at both CQs at once: up to 64 entries of the one, 32 of the other. */
CRL_FN void
crl_warp_poll(
	const struct crl_warp *w, struct crl_stream *s, uint32_t max, struct crl_warp_seen *seen)
{
	CRL_LANE(uint32_t, low);
	CRL_LANE(uint32_t, high);
	CRL_LANE(uint32_t, sent);
	const struct crl_rq *rq = s->rx && s->rx->rq.state == CRL_QS_READY ? &s->rx->rq : NULL;
	const struct crl_sq *sq =
		s->tx && s->tx->sq.state == CRL_QS_READY && s->tx->sq.completed < s->tx->sq.rung
			? &s->tx->sq
			: NULL;

	CRL_EACH_LANE(w, lane)
	{
		uint32_t tail = 0;

		low[CRL_AT(lane)] =
			rq && lane < max && crl_cq_peek(&rq->cq, rq->cq.ci + lane, &tail);
		high[CRL_AT(lane)] = rq && lane + CRL_WARP_LANES < max &&
				     crl_cq_peek(&rq->cq, rq->cq.ci + CRL_WARP_LANES + lane, &tail);
		sent[CRL_AT(lane)] = sq && crl_cq_peek(&sq->cq, sq->cq.ci + lane, &tail);
		seen->tail[CRL_AT(lane)] = tail;
	}
	seen->rx = crl_leading(crl_warp_ballot(low));
	if (seen->rx == CRL_WARP_LANES)
		seen->rx += crl_leading(crl_warp_ballot(high));
	seen->tx = crl_leading(crl_warp_ballot(sent));
}

/*
 * Slots [first, first + count) may go to the NIC again. *pi and *loose are the queue's, which the
 * caller stores when it is done: in order, or into the table.
 */
CRL_FN void
crl_warp_back(const struct crl_warp *w, struct crl_rq *rq, uint64_t first, uint32_t count,
	uint64_t *pi, uint64_t *loose)
{
	uint32_t at;

	if (*loose == 0 && first + crl_ring_depth(rq->log_depth) == *pi) {
		*pi += count;
		return;
	}
	CRL_EACH_LANE(w, lane)
	{
		for (at = lane; at < count; at += CRL_WARP_LANES)
			rq->released[crl_ring_slot(first + at, rq->log_depth)] = 1;
	}
	*loose += count;
}

/* Of the slots from first on those whose bit is set in mask. */
CRL_FN void
crl_warp_release(const struct crl_warp *w, struct crl_stream *s, uint64_t first, uint32_t mask)
{
	struct crl_rq *rq = &s->rx->rq;
	uint64_t pi = rq->pi, loose = s->loose;

	if (mask == 0)
		return;
	if ((mask & (mask + 1u)) == 0) {
		crl_warp_back(w, rq, first, crl_popcount(mask), &pi, &loose);
	} else {
		CRL_EACH_LANE(w, lane)
		{
			if (mask >> lane & 1u)
				rq->released[crl_ring_slot(first + lane, rq->log_depth)] = 1;
		}
		loose += crl_popcount(mask);
	}
	crl_warp_sync();
	if (crl_warp_first()) {
		rq->pi = pi;
		s->loose = loose;
	}
	crl_warp_sync();
}

/* Moves rq.pi over what the table has, as far as it goes without a gap. */
CRL_FN void
crl_warp_collect(const struct crl_warp *w, struct crl_stream *s)
{
	struct crl_rq *rq = s->rx ? &s->rx->rq : NULL;
	CRL_LANE(uint32_t, set);
	uint64_t pi, loose, end;
	uint32_t n;

	if (!rq || s->loose == 0 || rq->state != CRL_QS_READY)
		return;
	pi = rq->pi;
	loose = s->loose;
	end = rq->ci + crl_ring_depth(rq->log_depth);
	do {
		CRL_EACH_LANE(w, lane)
		set[CRL_AT(lane)] = pi + lane < end &&
				    rq->released[crl_ring_slot(pi + lane, rq->log_depth)] != 0;
		n = crl_leading(crl_warp_ballot(set));
		CRL_EACH_LANE(w, lane)
		{
			if (lane < n)
				rq->released[crl_ring_slot(pi + lane, rq->log_depth)] = 0;
		}
		pi += n;
		loose -= n;
	} while (n == CRL_WARP_LANES); /* bound: the ring's depth */
	crl_warp_sync();
	if (crl_warp_first()) {
		rq->pi = pi;
		s->loose = loose;
	}
	crl_warp_sync();
}

/* All WQEs between sq.ci and sq.completed. Returns how many. */
CRL_FN uint32_t
crl_warp_take_sent(const struct crl_warp *w, struct crl_stream *s)
{
	struct crl_rq *rq = s->rx ? &s->rx->rq : NULL;
	struct crl_sq *sq = &s->tx->sq;
	CRL_LANE(uint64_t, cookie);
	CRL_LANE(uint64_t, end);
	uint64_t ci = sq->ci, done = sq->completed, pi = rq ? rq->pi : 0, loose = s->loose, from, c;
	uint32_t n = 0, k;

	while (ci != done) { /* bound: the ring's depth */
		from = ci;
		CRL_EACH_LANE(w, lane)
		{
			uint32_t slot = crl_ring_slot(from + lane, sq->log_depth);

			cookie[CRL_AT(lane)] = from + lane < done ? sq->cookie[slot] : 0;
			end[CRL_AT(lane)] = from + lane < done ? sq->end[slot] : 0;
		}
		for (; ci < done && ci - from < CRL_WARP_LANES; n++) {
			k = (uint32_t)(ci - from);
			c = crl_warp_get64(cookie, k);
			if (rq && (c & 0xffu) != 0)
				crl_warp_back(w, rq, c >> 8, c & 0xffu, &pi, &loose);
			ci = crl_warp_get64(end, k);
		}
	}
	crl_warp_sync();
	if (crl_warp_first()) {
		sq->ci = ci;
		s->txc.completions += n;
		if (rq)
			rq->pi = pi;
		s->loose = loose;
	}
	crl_warp_sync();
	return n;
}

/*
 * crl_stream_reap() by a warp, of the send CQEs in seen, behind whose poll the edge stands. What is
 * not plain (a collapsed CQ, an error, a CQE that cannot be) lane 0 does as ever.
 */
CRL_FN uint32_t
crl_warp_reap(const struct crl_warp *w, struct crl_stream *s, const struct crl_warp_seen *seen)
{
	struct crl_sq *sq = s->tx ? &s->tx->sq : NULL;
	CRL_LANE(uint64_t, index);
	CRL_LANE(uint64_t, end);
	CRL_LANE(uint32_t, good);
	uint64_t done;
	uint32_t mask;

	if (!sq || seen->tx == 0)
		return 0;
	CRL_EACH_LANE(w, lane)
	{
		uint32_t tail = seen->tail[CRL_AT(lane)];
		uint64_t i = crl_index_from16(sq->completed, crl_tail_counter(tail));
		/* for an index in the middle of a WQE the table has what an earlier lap left */
		uint64_t e = lane < seen->tx ? sq->end[crl_ring_slot(i, sq->log_depth)] : 0;

		index[CRL_AT(lane)] = i;
		end[CRL_AT(lane)] = e;
		good[CRL_AT(lane)] = i < sq->rung && e > i && e <= sq->rung &&
				     crl_cqe_opcode(crl_tail_op_own(tail)) == CRL_CQE_REQ;
	}
	mask = crl_warp_ballot(good);
	CRL_EACH_LANE(w, lane)
	{
		uint64_t before = crl_warp_get64(index, lane != 0 ? lane - 1u : 0);

		good[CRL_AT(lane)] = lane < seen->tx && lane != 0 && before >= index[CRL_AT(lane)];
	}
	mask = crl_warp_ballot(good) != 0 ? 0 : mask;
	if ((sq->cq.flags & CRL_CQ_COLLAPSED) || mask != crl_lanes_below(seen->tx)) {
		crl_warp_sync();
		if (crl_warp_first())
			crl_sq_poll(sq, &s->tx->error[CRL_QERROR_SQ], CRL_WARP_LANES);
		crl_warp_sync();
		return sq->state == CRL_QS_READY ? crl_warp_take_sent(w, s) : 0;
	}
	done = crl_warp_get64(end, seen->tx - 1u);
	crl_warp_sync();
	if (crl_warp_first()) {
		sq->completed = done;
		sq->cq.ci += seen->tx;
	}
	crl_warp_sync();
	return crl_warp_take_sent(w, s);
}

#endif /* CRL_WARP_REAP_H */
