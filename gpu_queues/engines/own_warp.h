/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * txonly and flowgen by the 32 lanes of a warp: the same frames, WQEs and counts. Where lanes have
 * no part (frames of several segments), lane 0 posts as in txonly.h.
 */
#ifndef CRL_ENGINE_OWN_WARP_H
#define CRL_ENGINE_OWN_WARP_H

#include "../fwd_warp.h"
#include "flowgen.h"
#include "txonly.h"

/* A frame for each lane; they are the same from burst to burst. */
CRL_FN void
crl_txonly_warp_frames(const struct crl_warp *w, const struct crl_stream *s, struct crl_warp_mem *m)
{
	CRL_EACH_LANE(w, lane)
	{
		crl_txonly_pieces(s, lane, &m->frame[lane]);
		m->cookie[lane] = 0;
	}
	crl_warp_sync();
}

/* Up to n frames of one segment. Returns how many the ring had room for. */
CRL_FN uint32_t
crl_txonly_warp_post(
	const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m, uint32_t n)
{
	struct crl_sq *sq = &s->tx->sq;
	bool empw = crl_warp_has_empw(sq);
	/* frames of a multi-packet send that fits into the ring at all */
	uint64_t room, most = 4u * crl_ring_depth(sq->log_depth) - 2u;
	uint32_t at, k;

	for (at = 0; at < n; at += k) {
		room = crl_sq_room(sq);
		k = n - at < CRL_WARP_ROUND ? n - at : CRL_WARP_ROUND;
		k = empw && k > most ? (uint32_t)most : k;
		if (empw && k > 1u && crl_wqebbs(2u + k) <= room) {
			crl_warp_post_empw(w, sq, m->frame, k, s->opts.cs_flags, 0);
			continue;
		}
		if (empw && k > 1u)
			break;
		k = k < room ? k : (uint32_t)room;
		if (k == 0)
			break;
		crl_warp_post_sends(w, sq, m->frame, k, s->opts.cs_flags, m->cookie);
	}
	return at;
}

/* What a burst of own frames adds to the counts, by lane 0. */
CRL_FN void
crl_own_warp_count(struct crl_stream *s, uint32_t n, uint32_t len)
{
	crl_warp_sync();
	if (crl_warp_first()) {
		s->tx_left -= n;
		s->txc.packets += n;
		s->txc.bytes += (uint64_t)n * len;
		s->txc.full_waits += n == 0;
	}
	crl_warp_sync();
}

CRL_FN uint32_t
crl_txonly_warp_burst(const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m)
{
	uint32_t burst = crl_warp_burst(s->burst);
	CRL_LANE(uint32_t, sent);
	uint32_t n = s->tx_left < burst ? (uint32_t)s->tx_left : burst;

	if (n == 0 || s->tx->sq.state != CRL_QS_READY)
		return 0;
	crl_order_payload_before_wqe();
	if (s->opts.txpkts_nr == 1u) {
		n = crl_txonly_warp_post(w, s, m, n);
	} else {
		crl_warp_sync();
		sent[0] = 0;
		if (crl_warp_first())
			sent[0] = crl_txonly_post_gather(s, n);
		n = crl_warp_get32(sent, 0);
	}
	crl_own_warp_count(s, n, crl_txonly_len(&s->opts));
	return n;
}

/* Once: the frames, by lane 0. False: there can be none. */
CRL_FN bool
crl_own_warp_begin(struct crl_stream *s, enum crl_st (*begin)(struct crl_stream *s))
{
	if (s->tx_slots != 0)
		return true;
	crl_warp_sync();
	if (crl_warp_first())
		begin(s);
	crl_warp_sync();
	return s->tx_slots != 0;
}

/* crl_txonly_turn() by a warp. */
CRL_FN enum crl_turn
crl_txonly_warp_turn(const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m)
{
	struct crl_warp_seen seen;
	enum crl_turn turn;
	uint32_t n, back;
	bool run;

	turn = crl_warp_look(w, s, &run);
	if (!run)
		return turn;
	if (s->tx_slots == 0) {
		if (!crl_own_warp_begin(s, crl_txonly_begin))
			return CRL_TURN_IDLE;
		if (s->opts.txpkts_nr == 1u)
			crl_txonly_warp_frames(w, s, m);
	}
	crl_warp_poll(w, s, 0, &seen);
	if (seen.tx != 0)
		crl_order_send_done_before_reuse(); /* pairs with the NIC's last read of these */
	back = crl_warp_reap(w, s, &seen);
	n = crl_txonly_warp_burst(w, s, m);
	if (crl_warp_first())
		crl_warp_tell(s);
	crl_warp_sync();
	return n != 0 || back != 0 ? CRL_TURN_BUSY : CRL_TURN_IDLE;
}

/* A lane a frame, up to n of 32: marks it, and puts it into m->frame. */
CRL_FN uint32_t
crl_flowgen_warp_burst(
	const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m, uint32_t n)
{
	const struct crl_txbuf *b = &s->tx->txbuf;
	struct crl_sq *sq = &s->tx->sq;
	uint64_t pi = sq->pi, under_way = pi - sq->ci, room = crl_sq_room(sq);
	uint32_t flow = s->tx_flow, len = crl_flowgen_len(&s->opts);

	if (room > s->tx_slots - under_way)
		room = under_way < s->tx_slots ? s->tx_slots - under_way : 0;
	n = n < room ? n : (uint32_t)room;
	n = n < s->tx_left ? n : (uint32_t)s->tx_left;
	n = n < CRL_WARP_LANES ? n : CRL_WARP_LANES;
	CRL_EACH_LANE(w, lane)
	{
		uint64_t at = (pi + lane) % s->tx_slots * s->tx_stride;

		if (lane >= n)
			continue;
		crl_flowgen_mark(b->addr + at, (flow + lane) % s->opts.flows);
		m->frame[lane] = (struct crl_piece){b->addr + at, b->iova + at, len, b->lkey};
	}
	CRL_EACH_LANE(w, lane)
	m->cookie[lane] = 0;
	crl_warp_sync();
	if (n != 0)
		crl_order_payload_before_wqe();
	crl_warp_post_sends(w, sq, m->frame, n, s->opts.cs_flags, m->cookie);
	if (crl_warp_first())
		s->tx_flow = (flow + n) % s->opts.flows;
	crl_own_warp_count(s, n, len);
	return n;
}

/* crl_flowgen_turn() by a warp. */
CRL_FN enum crl_turn
crl_flowgen_warp_turn(const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m)
{
	uint32_t n, at, sent, back, max = crl_warp_burst(s->burst);
	struct crl_queue_dev *tx = s->tx;
	struct crl_warp_seen seen;
	enum crl_turn turn;
	bool run;

	turn = crl_warp_look(w, s, &run);
	if (!run)
		return turn;
	if (!crl_own_warp_begin(s, crl_flowgen_begin))
		return CRL_TURN_IDLE;
	crl_warp_poll(w, s, max, &seen);
	crl_edges_cqes_seen(); /* pairs with the NIC's CQE writes after all it did before */
	back = crl_warp_reap(w, s, &seen);
	n = seen.rx < max ? seen.rx : max;
	for (at = 0; at < n; at += CRL_WARP_ROUND) {
		if (!crl_warp_round(w, s, m, crl_flowgen_packet, NULL, NULL,
			    n - at < CRL_WARP_ROUND ? n - at : CRL_WARP_ROUND))
			break;
	}
	sent = tx->sq.state == CRL_QS_READY;
	for (at = 0; at < max && sent != 0; at += sent)
		sent = crl_flowgen_warp_burst(w, s, m, max - at);
	crl_warp_collect(w, s);
	if (crl_warp_first()) {
		s->rxc.polls++;
		s->rxc.idle_polls += seen.rx == 0;
		crl_warp_tell(s);
	}
	crl_warp_sync();
	return n != 0 || at != 0 || back != 0 || tx->sq.ci != tx->sq.pi ? CRL_TURN_BUSY
									: CRL_TURN_IDLE;
}

#endif /* CRL_ENGINE_OWN_WARP_H */
