/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fwd.h by the 32 lanes of a warp: one iteration of an engine that receives. Lanes poll a CQE each,
 * look at a packet each, write a segment each; what there is only one of (indices, counters,
 * records, the register) is lane 0's. Both CQs are polled together, and one edge stands behind the
 * polls, one before all records and one before the register, whatever the burst.
 *
 * Needs a send queue that inlines nothing; crl_warp_can() says so, and fwd.h does it otherwise.
 * Stream and queue structs lie in memory that all lanes see: a GPU's shared memory, the host's any.
 */
#ifndef CRL_FWD_WARP_H
#define CRL_FWD_WARP_H

#include "edges.h"
#include "fwd.h"
#include "sq_warp.h"
#include "warp.h"
#include "warp_long.h"
#include "warp_reap.h"

/* Frames a round: with the head of a multi-packet send they are one store of all lanes. */
#define CRL_WARP_ROUND	    30u
#define CRL_WARP_LOOK_EVERY 128u
#define CRL_WARP_LOOK_STEP  (1u << 20)

/* Frames a round: those of one multi-packet send, which with its head is a store of all lanes. */
CRL_FN uint32_t
crl_warp_burst(uint32_t burst)
{
	return burst < CRL_WARP_ROUND ? burst : burst - burst % CRL_WARP_ROUND;
}

CRL_FN bool
crl_warp_can(const struct crl_stream *s)
{
	return s->tx == NULL || s->tx->sq.inline_max == 0;
}

/* First of all, by all lanes, after crl_stream_begin(). */
CRL_FN void
crl_warp_begin(const struct crl_warp *w, struct crl_stream *s)
{
	if (crl_warp_first()) {
		s->look_every = CRL_WARP_LOOK_EVERY;
		s->look_step = CRL_WARP_LOOK_STEP;
	}
	crl_warp_recount(w, s);
}

/* crl_stream_look() for all lanes. What a look may release is counted again. */
CRL_FN enum crl_turn
crl_warp_look(const struct crl_warp *w, struct crl_stream *s, bool *run)
{
	CRL_LANE(uint32_t, word);
	uint32_t mode = s->mode;
	bool go = false;

	crl_warp_sync();
	word[0] = 0;
	if (crl_warp_first()) {
		word[0] = crl_stream_look(s, &go);
		word[0] |= (uint32_t)go << 8;
	}
	word[0] = crl_warp_get32(word, 0);
	crl_warp_sync();
	*run = word[0] >> 8;
	if ((mode != CRL_MODE_RUN || s->mode != CRL_MODE_RUN) && !crl_stream_stands(s) &&
		s->mode != CRL_MODE_LEFT) /* else they are the host's now */
		crl_warp_recount(w, s);
	return (enum crl_turn)(word[0] & 0xffu);
}

/* Lane's segment of a multi-packet send at pi of nr frames, all by pointer: a lane a segment, so
 * that no table is needed to find it. */
CRL_FN struct crl_seg
crl_warp_pointers_seg(const struct crl_sq *sq, uint64_t pi, const struct crl_piece *frame,
	uint32_t nr, uint32_t cs_flags, bool signal, uint32_t lane)
{
	if (lane == 0)
		return crl_seg_ctrl(CRL_OPCODE_EMPW, pi, sq->sqn, 2u + nr, crl_warp_ce(signal));
	if (lane == 1u)
		return crl_seg_eth(cs_flags);
	if (lane >= 2u + nr)
		return crl_seg_zero();
	frame += lane - 2u;
	return crl_seg_data(frame->len, frame->lkey, frame->iova);
}

/* One multi-packet send of 2 to 30 frames. */
CRL_FN void
crl_warp_post_empw(const struct crl_warp *w, struct crl_sq *sq, const struct crl_piece *frame,
	uint32_t nr, uint32_t cs_flags, uint64_t cookie)
{
	struct crl_warp_fit fit = {.n = nr, .ds = 2u + nr, .first = {0}};
	uint32_t n = crl_wqebbs(2u + nr);
	uint64_t pi = sq->pi;
	bool signal = crl_warp_empw_signal(sq, &fit, false);

	CRL_EACH_LANE(w, lane)
	{
		if (lane < 4u * n)
			crl_st_seg(crl_sq_seg(sq, pi, lane),
				crl_warp_pointers_seg(sq, pi, frame, nr, cs_flags, signal, lane));
	}
	crl_warp_sync();
	if (crl_warp_first()) {
		sq->pi = pi + n;
		crl_warp_note(sq, pi, n, cookie);
		crl_warp_empw_end(sq, pi, &fit, signal);
	}
	crl_warp_sync();
}

/* nr SENDs, cookie[i] of the i-th. */
CRL_FN void
crl_warp_post_sends(const struct crl_warp *w, struct crl_sq *sq, const struct crl_piece *frame,
	uint32_t nr, uint32_t cs_flags, const uint64_t *cookie)
{
	uint32_t at, k, signals;
	uint64_t pi;

	for (at = 0; at < nr; at += k) {
		k = nr - at < CRL_WARP_SENDS ? nr - at : CRL_WARP_SENDS;
		pi = sq->pi;
		signals = crl_warp_signals(sq, k);
		CRL_EACH_LANE(w, lane)
		crl_warp_send_lane(sq, pi, frame + at, k, cs_flags, signals, cookie + at, lane);
		crl_warp_sync();
		if (crl_warp_first()) {
			sq->pi = pi + k;
			crl_warp_send_end(sq, pi, frame + at, k, signals);
		}
		crl_warp_sync();
	}
}

/* Multi-packet sends are for a queue that wants nothing inlined. */
CRL_FN bool
crl_warp_has_empw(const struct crl_sq *sq)
{
	return (sq->flags & CRL_SQ_EMPW) && sq->inline_hdr == 0;
}

/*
 * Sends what stands in m->frame: of the receive slots from first on those whose bit is set in mask,
 * which follow each other in multi-packet sends as far as they do so in their slots.
 */
CRL_FN void
crl_warp_post(const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m, uint32_t mask,
	uint64_t first)
{
	struct crl_sq *sq = &s->tx->sq;
	uint32_t at = 0, from, n;

	crl_order_payload_before_wqe();
	if (!crl_warp_has_empw(sq)) {
		crl_warp_post_sends(
			w, sq, m->frame, crl_popcount(mask), s->opts.cs_flags, m->cookie);
		return;
	}
	for (; mask != 0; mask &= ~(crl_lanes_below(n) << from), at += n) {
		from = crl_lowest(mask);
		n = crl_leading(mask >> from);
		if (n > 1u)
			crl_warp_post_empw(w, sq, m->frame + at, n, s->opts.cs_flags,
				crl_cookie_slots(first + from, n));
		else
			crl_warp_post_sends(
				w, sq, m->frame + at, 1, s->opts.cs_flags, m->cookie + at);
	}
}

/* Entry ci + lane as a packet; false: the NIC cannot have meant it. */
CRL_FN bool
crl_warp_take(const struct crl_rq *rq, uint32_t lane, struct crl_pkt *pkt)
{
	const struct crl_cqe64 *cqe = crl_cq_entry(&rq->cq, rq->cq.ci + lane);
	uint64_t index = rq->ci + lane;
	uint32_t tail;

	crl_cq_peek(&rq->cq, rq->cq.ci + lane, &tail);
	crl_rq_packet(rq, cqe, index, pkt);
	return crl_cqe_opcode(crl_tail_op_own(tail)) == CRL_CQE_RESP_SEND &&
	       crl_tail_counter(tail) == crl_index16(index) && index < rq->pi_told &&
	       pkt->len <= pkt->room;
}

/* What lanes found, added up. */
struct crl_warp_sum {
	uint32_t rx, rx_bytes, bad, tx, tx_bytes, torn, missed;
};

/* Packet functions of n packets, and those to be sent into m->frame; their lanes in the result. */
CRL_FN uint32_t
crl_warp_judge(const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m,
	crl_packet_fn fn, crl_warp_long_fn begin, crl_warp_all_fn all, uint32_t *n,
	struct crl_warp_sum *sum)
{
	CRL_LANE(uint32_t, in);
	CRL_LANE(uint32_t, out);
	CRL_LANE(uint32_t, flags);
	CRL_LANE(uint32_t, ok);
	CRL_LANE(struct crl_pkt, pkt);
	uint32_t mask;

	CRL_EACH_LANE(w, lane)
	{
		in[CRL_AT(lane)] = out[CRL_AT(lane)] = flags[CRL_AT(lane)] = 0;
		ok[CRL_AT(lane)] = lane < *n && crl_warp_take(&s->rx->rq, lane, &pkt[CRL_AT(lane)]);
	}
	*n = crl_leading(crl_warp_ballot(ok));
	CRL_EACH_LANE(w, lane)
	{
		struct crl_pkt *p = &pkt[CRL_AT(lane)];

		ok[CRL_AT(lane)] = 0;
		if (lane >= *n)
			continue;
		in[CRL_AT(lane)] = p->len;
		flags[CRL_AT(lane)] = crl_fwd_csum_bad(p) ? 1u << 8 : 0;
		if (begin)
			flags[CRL_AT(lane)] |= begin(s, p, &m->longs[lane]);
		if (!begin || m->longs[lane].chunks == 0)
			flags[CRL_AT(lane)] |= (uint32_t)fn(s, p);
		ok[CRL_AT(lane)] = (flags[CRL_AT(lane)] & CRL_SEND) && s->tx;
		out[CRL_AT(lane)] = ok[CRL_AT(lane)] ? p->len : 0;
	}
	if (all)
		crl_warp_judge_long(w, s, m, all, *n, flags);
	mask = crl_warp_ballot(ok);
	CRL_EACH_LANE(w, lane)
	{
		const struct crl_pkt *p = &pkt[CRL_AT(lane)];
		uint32_t at = crl_rank(mask, lane);

		if (!(mask >> lane & 1u))
			continue;
		m->frame[at] = (struct crl_piece){p->data, p->iova, p->len, s->tx_lkey};
		m->cookie[at] = crl_cookie_slots(p->index, 1);
	}
	sum->rx = *n;
	sum->tx = crl_popcount(mask);
	sum->rx_bytes = crl_warp_sum(in);
	sum->tx_bytes = crl_warp_sum(out);
	CRL_EACH_LANE(w, lane)
	{
		in[CRL_AT(lane)] = flags[CRL_AT(lane)] >> 8;
		out[CRL_AT(lane)] = flags[CRL_AT(lane)] & CRL_TORN;
		ok[CRL_AT(lane)] = flags[CRL_AT(lane)] & CRL_MISSED;
	}
	sum->bad = crl_popcount(crl_warp_ballot(in));
	sum->torn = crl_popcount(crl_warp_ballot(out));
	sum->missed = crl_popcount(crl_warp_ballot(ok));
	crl_warp_sync();
	return mask;
}

/* Lane 0 alone: the books of one round. */
CRL_FN void
crl_warp_count(struct crl_stream *s, const struct crl_warp_sum *sum)
{
	s->rxc.packets += sum->rx;
	s->rxc.bytes += sum->rx_bytes;
	s->rxc.csum_bad += sum->bad;
	s->rxc.dropped += s->tx ? sum->rx - sum->tx : 0;
	s->txc.packets += sum->tx;
	s->txc.bytes += sum->tx_bytes;
	s->stamp.torn += sum->torn;
	s->stamp.missed += sum->missed;
	s->rx->rq.ci += sum->rx;
	s->rx->rq.cq.ci += sum->rx;
}

/* A CQE that cannot be: into the mailbox, and the queue is in error. */
CRL_FN void
crl_warp_rq_fail(struct crl_stream *s)
{
	struct crl_rq *rq = &s->rx->rq;
	struct crl_pkt pkt;
	uint32_t kind = 0;

	if (crl_rq_take_one(rq, &pkt, &kind))
		return; /* cannot be: a lane said otherwise of the same bytes */
	rq->state = CRL_QS_FAILED;
	crl_qerror_put(&s->rx->error[CRL_QERROR_RQ], kind, true, rq->rqn, crl_index16(rq->ci),
		crl_cq_entry(&rq->cq, rq->cq.ci),
		(const uint8_t *)&rq->wqe[crl_ring_slot(rq->ci, rq->log_depth)]);
}

/* One round: up to 30 packets. False: the queue failed in it. */
CRL_FN bool
crl_warp_round(const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m,
	crl_packet_fn fn, crl_warp_long_fn begin, crl_warp_all_fn all, uint32_t want)
{
	struct crl_warp_sum sum;
	uint64_t first = s->rx->rq.ci;
	uint32_t n = want, mask = crl_warp_judge(w, s, m, fn, begin, all, &n, &sum);

	if (crl_warp_first()) {
		crl_warp_count(s, &sum);
		if (n < want)
			crl_warp_rq_fail(s);
	}
	crl_warp_sync();
	crl_warp_release(w, s, first, crl_lanes_below(n) & ~mask);
	if (mask != 0)
		crl_warp_post(w, s, m, mask, first);
	return n == want;
}

/* Lane 0: one edge, all records, the other edge, the register. */
CRL_FN void
crl_warp_tell(struct crl_stream *s)
{
	struct crl_rq *rq = s->rx ? &s->rx->rq : NULL;
	struct crl_sq *sq = s->tx ? &s->tx->sq : NULL;
	uint32_t n = rq ? (uint32_t)(rq->pi - rq->pi_told) : 0;
	bool ring = sq && crl_sq_ring_due(sq);

	if (!ring && !crl_giveback_due(rq, sq, n))
		return;
	if (ring)
		crl_sq_signal_last(sq);
	crl_edges_before_records(); /* pairs with the NIC's fetch, and its next write to these slots
				     */
	crl_giveback_tell(rq, sq, n);
	s->rxc.refills += n != 0;
	if (ring) {
		crl_sq_tell(sq);
		s->txc.doorbells++;
	}
}

/* crl_fwd_turn() by a warp, of an engine that has work for all lanes; NULL: it has none. */
CRL_FN enum crl_turn
crl_fwd_warp_turn_long(const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m,
	crl_packet_fn fn, crl_warp_long_fn begin, crl_warp_all_fn all)
{
	uint32_t back, n, at, max = crl_warp_burst(s->burst);
	struct crl_warp_seen seen;
	enum crl_turn turn;
	bool run;

	turn = crl_warp_look(w, s, &run);
	if (!run)
		return turn;
	crl_warp_poll(w, s, max, &seen);
	crl_edges_cqes_seen(); /* pairs with the NIC's CQE writes after all it did before */
	back = crl_warp_reap(w, s, &seen);
	n = seen.rx < max ? seen.rx : max;
	if (s->tx && s->tx->sq.state != CRL_QS_READY)
		n = 0; /* it failed in this turn's reap: nothing is posted to it any more */
	if (s->tx && n > crl_sq_room(&s->tx->sq))
		n = (uint32_t)crl_sq_room(&s->tx->sq);
	for (at = 0; at < n; at += CRL_WARP_ROUND) {
		uint32_t round = n - at < CRL_WARP_ROUND ? n - at : CRL_WARP_ROUND;

		if (!crl_warp_round(w, s, m, fn, begin, all, round))
			break;
	}
	crl_warp_collect(w, s);
	if (crl_warp_first()) {
		s->rxc.polls++;
		s->rxc.idle_polls += seen.rx == 0;
		s->txc.full_waits += n < seen.rx;
		crl_warp_tell(s);
	}
	crl_warp_sync();
	return n != 0 || back != 0 ? CRL_TURN_BUSY : CRL_TURN_IDLE;
}

/* crl_fwd_turn() by a warp. */
CRL_FN enum crl_turn
crl_fwd_warp_turn(
	const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m, crl_packet_fn fn)
{
	return crl_fwd_warp_turn_long(w, s, m, fn, NULL, NULL);
}

#endif /* CRL_FWD_WARP_H */
