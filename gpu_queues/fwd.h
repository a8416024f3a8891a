/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One iteration of an engine that receives: poll a burst, let the packet function look at each
 * frame, send what it wants sent from the buffer it came in, ring once, take send completions, give
 * slots back in order. Each step is bounded by the burst. An engine is this function with its
 * packet function; both inline into one loop, so there is no call through a pointer on the data
 * path.
 *
 * Only as many packets are taken as the send ring has room for: nothing received is dropped for
 * lack of room here; when the wire is the bottleneck, the NIC's own receive ring runs out, and
 * counts it.
 */
#ifndef CRL_FWD_H
#define CRL_FWD_H

#include "engine_loop.h"
#include "sq_doorbell.h"
#include "sq_post.h"
#include "sq_reserve.h"

enum crl_verdict {
	CRL_DROP = 0, /* done with it: the slot goes back at once */
	CRL_SEND = 1, /* send pkt->len bytes at pkt->data, which the function may have rewritten */
	/* Beside one of these, by a function that knows what should have come: */
	CRL_TORN = 2,	/* its bytes are wrong */
	CRL_MISSED = 4, /* it is another one than was due: some did not come */
};

/*
 * Looks at one frame, may rewrite it in place and change pkt->len up to pkt->room. Called on the
 * engine's processor. Reads and writes packet bytes through mem.h. Several frames may be looked at
 * together, by a lane each: *s is for reading.
 */
typedef enum crl_verdict (*crl_packet_fn)(struct crl_stream *s, struct crl_pkt *pkt);

/* Of run frames in one multi-packet send none is read by the NIC where it came in. */
CRL_FN bool
crl_fwd_all_inlined(const struct crl_sq *sq, const struct crl_piece *piece, uint32_t run)
{
	uint32_t i = 0;

	while (i < run && crl_empw_segs(piece[i].len, sq->inline_max) > 1u)
		i++;
	return i == run;
}

/*
 * Sends the first of n frames, or as many as follow each other in their slots in one multi-packet
 * send. The burst's last WQE is signalled. Slots whose frames travel in the WQE are given back at
 * once. Returns how many frames were sent.
 */
CRL_FN uint32_t
crl_fwd_post(struct crl_stream *s, const struct crl_pkt *pkt, uint32_t n)
{
	struct crl_piece piece[CRL_EMPW_FRAMES_MAX];
	struct crl_sq *sq = &s->tx->sq;
	uint32_t run = 0, ds = 0;
	uint64_t pi, cookie;

	while (run < n && run < CRL_EMPW_FRAMES_MAX && pkt[run].index == pkt[0].index + run) {
		piece[run].data = pkt[run].data;
		piece[run].iova = pkt[run].iova;
		piece[run].len = pkt[run].len;
		piece[run].lkey = s->tx_lkey;
		run++;
	}
	run = crl_empw_fit(sq, piece, run, crl_sq_room(sq), &ds);
	if (run == 0 || (run == 1u && !crl_fwd_all_inlined(sq, piece, 1))) {
		if (crl_sq_reserve(sq, 1, &pi) != CRL_OK)
			return 0;
		crl_sq_put_send(sq, pi, piece, 1, s->opts.cs_flags, n == 1u,
			crl_cookie_slots(pkt[0].index, 1));
		return 1;
	}
	if (crl_sq_reserve(sq, crl_wqebbs(ds), &pi) != CRL_OK)
		return 0;
	cookie = crl_cookie_slots(pkt[0].index, run);
	if (crl_fwd_all_inlined(sq, piece, run)) {
		crl_sq_put_empw(sq, pi, piece, run, s->opts.cs_flags, run == n, 0);
		crl_cookie_release(&s->rx->rq, cookie);
	} else {
		crl_sq_put_empw(sq, pi, piece, run, s->opts.cs_flags, run == n, cookie);
	}
	return run;
}

/* Sends all of pkt, for which crl_fwd_budget() kept room, and rings once. */
CRL_FN void
crl_fwd_send(struct crl_stream *s, const struct crl_pkt *pkt, uint32_t n)
{
	uint32_t i, k, done;

	crl_order_payload_before_wqe();
	for (i = 0; i < n; i += done) {
		done = crl_fwd_post(s, pkt + i, n - i);
		CRL_ASSERT(done != 0);
		if (done == 0) { /* cannot be; in a kernel, where asserts are off, lose the frame,
				    not the slot */
			crl_rq_release(&s->rx->rq, pkt[i].index);
			s->txc.dropped++;
			done = 1;
			continue;
		}
		for (k = i; k < i + done; k++)
			s->txc.bytes += pkt[k].len;
		s->txc.packets += done;
	}
	s->txc.doorbells += crl_sq_ring(&s->tx->sq);
}

/* What the NIC found wrong with a frame's checksums. */
CRL_FN bool
crl_fwd_csum_bad(const struct crl_pkt *pkt)
{
	uint32_t l3 = pkt->types >> CRL_CQE_L3_SHIFT & 3u, l4 = pkt->types >> CRL_CQE_L4_SHIFT & 7u;
	bool bad3 = l3 == CRL_CQE_L3_IPV4 && !(pkt->csum_ok & CRL_CQE_L3_OK);
	bool frag = pkt->types & CRL_CQE_IP_FRAG;

	return bad3 || (l4 != CRL_CQE_L4_NONE && !frag && !(pkt->csum_ok & CRL_CQE_L4_OK));
}

CRL_FN void
crl_fwd_count(struct crl_stream *s, const struct crl_pkt *pkt)
{
	s->rxc.packets++;
	s->rxc.bytes += pkt->len;
	s->rxc.csum_bad += crl_fwd_csum_bad(pkt);
}

CRL_FN uint32_t
crl_fwd_judge(struct crl_stream *s, struct crl_pkt *pkt, crl_packet_fn fn)
{
	uint32_t verdict = (uint32_t)fn(s, pkt);

	s->stamp.torn += (verdict & CRL_TORN) != 0;
	s->stamp.missed += (verdict & CRL_MISSED) != 0;
	return verdict & CRL_SEND;
}

/* The packets that this iteration may take: each fits into the send ring in any form it may take.
 */
CRL_FN uint32_t
crl_fwd_budget(struct crl_stream *s)
{
	uint64_t room;

	if (!s->tx)
		return s->burst;
	room = crl_sq_room(&s->tx->sq) /
	       crl_wqebbs(2u + crl_empw_segs(s->tx->sq.inline_max, s->tx->sq.inline_max));
	s->txc.full_waits += room == 0;
	return room < s->burst ? (uint32_t)room : s->burst;
}

/* Polls, judges, sends. Returns how many packets there were. */
CRL_FN uint32_t
crl_fwd_burst(struct crl_stream *s, crl_packet_fn fn)
{
	struct crl_pkt pkt[CRL_BURST_MAX];
	uint32_t n, i, send = 0, max = crl_fwd_budget(s);

	s->rxc.polls++;
	if (max == 0)
		return 0;
	crl_rq_poll(&s->rx->rq, &s->rx->error[CRL_QERROR_RQ], pkt, max, &n);
	for (i = 0; i < n; i++) {
		crl_fwd_count(s, &pkt[i]);
		if (crl_fwd_judge(s, &pkt[i], fn) && s->tx) {
			if (send != i)
				pkt[send] = pkt[i];
			send++;
		} else {
			crl_rq_release(&s->rx->rq, pkt[i].index);
			s->rxc.dropped += s->tx != NULL;
		}
	}
	if (send != 0)
		crl_fwd_send(s, pkt, send);
	s->rxc.idle_polls += n == 0;
	return n;
}

/* Polls for an engine that sends none of what it receives: fn looks, all goes back. Returns how
 * many. */
CRL_FN uint32_t
crl_fwd_take(struct crl_stream *s, crl_packet_fn fn)
{
	struct crl_pkt pkt[CRL_BURST_MAX];
	uint32_t n, i;

	s->rxc.polls++;
	crl_rq_poll(&s->rx->rq, &s->rx->error[CRL_QERROR_RQ], pkt, s->burst, &n);
	for (i = 0; i < n; i++) {
		crl_fwd_count(s, &pkt[i]);
		crl_fwd_judge(s, &pkt[i], fn);
		crl_rq_release(&s->rx->rq, pkt[i].index);
	}
	s->rxc.idle_polls += n == 0;
	return n;
}

/* The turn function of a receiving engine: an engine's own is one line that names its packet
 * function. */
CRL_FN enum crl_turn
crl_fwd_turn(struct crl_stream *s, crl_packet_fn fn)
{
	enum crl_turn turn;
	uint32_t n, back = 0;
	bool run;

	turn = crl_stream_look(s, &run);
	if (!run)
		return turn;
	n = crl_fwd_burst(s, fn);
	if (s->tx)
		back = crl_stream_reap(s);
	s->rxc.refills += crl_rq_refill(&s->rx->rq, s->tx ? &s->tx->sq : NULL) != 0;
	return n != 0 || back != 0 ? CRL_TURN_BUSY : CRL_TURN_IDLE;
}

#endif /* CRL_FWD_H */
