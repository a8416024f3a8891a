/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pingpong: one frame under way at a time, for round trips. A numbered UDP frame leaves; when it
 * comes back, its number and every byte of its payload are checked, the time is noted and the next
 * leaves. Whoever returns frames may be at the other end: io, macswap, 5tswap, or a loopback wire.
 *
 * A frame that is not back within CRL_PONG_NS_MAX is lost (tx_dropped) and the next one leaves; one
 * with our mark and a wrong byte is an error (rx_errors); what has not our mark, or comes late, is
 * dropped (rx_dropped). Times are in the queue's counters, rtt_*, by the clock of the processor
 * that runs the engine. UDP addresses and length are txonly's options.
 */
#ifndef CRL_ENGINE_PINGPONG_H
#define CRL_ENGINE_PINGPONG_H

#include "../fwd.h"
#include "../pkt.h"
#include "txonly.h"

#define CRL_PINGPONG_MARK  0x6372u
#define CRL_PINGPONG_BYTES (CRL_TXONLY_HDR_BYTES + 10u) /* headers, mark, number */

/* Payload word k of frame number seq: mark, four words of number, then a pattern of both. */
CRL_FN uint16_t
crl_pingpong_word(uint64_t seq, uint32_t k)
{
	if (k == 0)
		return CRL_PINGPONG_MARK;
	if (k <= 4u)
		return (uint16_t)(seq >> (64u - 16u * k));
	return (uint16_t)(seq * 40503u + k);
}

/* Words of payload that a frame of len bytes has; an odd last byte stays 0 and is not looked at. */
CRL_FN uint32_t
crl_pingpong_words(uint32_t len)
{
	return (len - CRL_TXONLY_HDR_BYTES) / 2u;
}

CRL_FN enum crl_st
crl_pingpong_begin(struct crl_stream *s)
{
	const struct crl_txbuf *b = &s->tx->txbuf;
	uint32_t len = crl_txonly_len(&s->opts), i;

	if (b->addr == NULL || len < CRL_PINGPONG_BYTES || len > b->bytes)
		return CRL_INVALID;
	for (i = 0; i < len; i += 2u)
		crl_st16(b->addr + i, 0);
	crl_txonly_frame(b->addr, len, &s->opts, s->tx->mac);
	s->tx_slots = 1;
	s->tx_left = s->opts.tx_frames_max != 0 ? s->opts.tx_frames_max : UINT64_MAX;
	return CRL_OK;
}

/* Number seq leaves. The send before it is over, as is its frame or the wait for it. */
CRL_FN void
crl_pingpong_send(struct crl_stream *s)
{
	const struct crl_txbuf *b = &s->tx->txbuf;
	struct crl_piece piece = {b->addr, b->iova, crl_txonly_len(&s->opts), b->lkey};
	uint32_t k, n = crl_pingpong_words(piece.len);
	uint64_t pi;

	for (k = 0; k < n; k++)
		crl_st_be16(b->addr + CRL_TXONLY_HDR_BYTES + 2u * k, crl_pingpong_word(s->seq, k));
	crl_order_payload_before_wqe();
	if (crl_sq_reserve(&s->tx->sq, 1, &pi) != CRL_OK)
		return;
	crl_sq_put_send(&s->tx->sq, pi, &piece, 1, s->opts.cs_flags, true, 0);
	s->sent_ns = crl_now_ns();
	s->waiting = 1;
	s->tx_left--;
	s->txc.packets++;
	s->txc.bytes += piece.len;
	s->txc.doorbells += crl_sq_ring(&s->tx->sq);
}

CRL_FN void
crl_pingpong_note(struct crl_stream *s)
{
	uint64_t ns = crl_now_ns() - s->sent_ns;

	s->rtt.sum_ns += ns;
	s->rtt.min_ns = s->rtt.count == 0 || ns < s->rtt.min_ns ? ns : s->rtt.min_ns;
	s->rtt.max_ns = ns > s->rtt.max_ns ? ns : s->rtt.max_ns;
	s->rtt.count++;
	s->waiting = 0;
	s->seq++;
}

CRL_FN enum crl_verdict
crl_pingpong_packet(struct crl_stream *s, struct crl_pkt *pkt)
{
	const uint8_t *p = pkt->data + CRL_TXONLY_HDR_BYTES;
	uint32_t k, n, len = crl_txonly_len(&s->opts);
	uint64_t seq = 0;

	if (pkt->len < CRL_PINGPONG_BYTES || crl_ld_be16(p) != CRL_PINGPONG_MARK) {
		s->rxc.dropped++;
		return CRL_DROP;
	}
	for (k = 1; k <= 4u; k++)
		seq = seq << 16 | crl_ld_be16(p + 2u * k);
	if (!s->waiting || seq < s->seq) {
		s->rxc.dropped++; /* given up already */
		return CRL_DROP;
	}
	n = crl_pingpong_words(len);
	for (k = 0; pkt->len >= len && k < n; k++)
		if (crl_ld_be16(p + 2u * k) != crl_pingpong_word(s->seq, k))
			break;
	if (pkt->len < len || k < n)
		s->rxc.errors++;
	else
		crl_pingpong_note(s);
	return CRL_DROP;
}

/* One bounded iteration: look for the frame, take the send's completion, send the next. */
CRL_FN enum crl_turn
crl_pingpong_turn(struct crl_stream *s)
{
	enum crl_turn turn;
	uint32_t n, back;
	bool run;

	turn = crl_stream_look(s, &run);
	if (!run)
		return turn;
	if (s->tx_slots == 0 && crl_pingpong_begin(s) != CRL_OK)
		return CRL_TURN_IDLE;
	n = crl_fwd_take(s, crl_pingpong_packet);
	back = crl_stream_reap(s);
	s->rxc.refills += crl_rq_refill(&s->rx->rq, &s->tx->sq) != 0;
	if (s->waiting && crl_now_ns() - s->sent_ns > CRL_PONG_NS_MAX) {
		s->waiting = 0;
		s->seq++;
		s->txc.dropped++;
	}
	if (!s->waiting && s->tx_left != 0 && crl_stream_drained(s))
		crl_pingpong_send(s);
	return n != 0 || back != 0 ? CRL_TURN_BUSY : CRL_TURN_IDLE;
}

#endif /* CRL_ENGINE_PINGPONG_H */
