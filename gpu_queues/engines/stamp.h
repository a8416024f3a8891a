/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stamp: numbered frames go round a wire that leads back to their queue, and each is checked every
 * time it comes by. A queue begins with opts.in_flight frames, numbers 0 and up. The i-th frame
 * that comes must have number i and, in every word of its payload, the pattern of that number and
 * queue; it leaves with number i + in_flight and a new pattern in all words. So a frame that was
 * lost, doubled or overtaken shows as a number that is not its index (missed), and bytes of another
 * time or place show in the pattern (torn). Numbers need no state: a frame's index is its number.
 * With opts.tx_frames_max a queue sends so many (in_flight at least), and all of them end with it.
 *
 * The frames are txonly's, to UDP port opts.dst_port + the queue's index, by which the wire or a
 * rule leads them back.
 */
#ifndef CRL_ENGINE_STAMP_H
#define CRL_ENGINE_STAMP_H

#include "../fwd.h"
#include "txonly.h"

#define CRL_STAMP_MARK	0x5354u
#define CRL_STAMP_AT	(CRL_TXONLY_HDR_BYTES + 6u) /* the number, two words, then the pattern */
#define CRL_STAMP_BYTES (CRL_STAMP_AT + 12u)
#define CRL_STAMP_SLOTS CRL_BURST_MAX
#define CRL_STAMP_LONG	128u /* bytes of a frame from which on all lanes of a warp help */

/* Word k of the pattern. */
CRL_FN uint32_t
crl_stamp_word(uint64_t seq, uint32_t queue, uint32_t k)
{
	uint32_t v = (uint32_t)seq * 2654435761u + (uint32_t)(seq >> 32) + queue * 40503u;

	v += (k + 1u) * 0x9e3779b9u;
	return v ^ v >> 15;
}

/* Words behind the number in a frame of len bytes; up to three last bytes are not looked at. */
CRL_FN uint32_t
crl_stamp_words(uint32_t len)
{
	return (len - CRL_STAMP_AT - 8u) / 4u;
}

/* Four bytes of a packet, on an even address at least. */
CRL_FN uint32_t
crl_stamp_ld(const uint8_t *p, bool by4)
{
	return by4 ? crl_ld32(p) : crl_ld16(p) | (uint32_t)crl_ld16(p + 2) << 16;
}

CRL_FN void
crl_stamp_st(uint8_t *p, uint32_t v, bool by4)
{
	if (by4) {
		crl_st32(p, v);
		return;
	}
	crl_st16(p, (uint16_t)v);
	crl_st16(p + 2, (uint16_t)(v >> 16));
}

/* The number and its pattern into a frame; returns whether was's pattern stood there. */
CRL_FN bool
crl_stamp_exchange(uint8_t *frame, uint32_t len, uint32_t queue, uint64_t was, uint64_t is)
{
	bool by4 = ((uintptr_t)frame & 3u) == 0, good = true;
	uint8_t *p = frame + CRL_STAMP_AT;
	uint32_t k, n = crl_stamp_words(len);

	crl_stamp_st(p, (uint32_t)is, by4);
	crl_stamp_st(p + 4, (uint32_t)(is >> 32), by4);
	for (k = 0, p += 8; k < n; k++, p += 4) {
		good &= crl_stamp_ld(p, by4) == crl_stamp_word(was, queue, k);
		crl_stamp_st(p, crl_stamp_word(is, queue, k), by4);
	}
	return good;
}

CRL_FN enum crl_verdict
crl_stamp_packet(struct crl_stream *s, struct crl_pkt *pkt)
{
	bool by4 = ((uintptr_t)pkt->data & 3u) == 0;
	const uint8_t *p = pkt->data + CRL_STAMP_AT;
	uint32_t verdict = CRL_SEND;
	uint64_t seq;

	if (pkt->len < CRL_STAMP_BYTES || crl_ld16(p - 2) != CRL_STAMP_MARK)
		return (enum crl_verdict)(CRL_DROP | CRL_MISSED);
	seq = crl_stamp_ld(p, by4) | (uint64_t)crl_stamp_ld(p + 4, by4) << 32;
	if (seq != pkt->index)
		verdict |= CRL_MISSED;
	if (!crl_stamp_exchange(
		    pkt->data, pkt->len, s->rx->index, seq, pkt->index + s->opts.in_flight))
		verdict |= CRL_TORN;
	/* with a fixed count, the last ones end here */
	if (s->opts.tx_frames_max != 0 && pkt->index + s->opts.in_flight >= s->opts.tx_frames_max)
		verdict &= ~(uint32_t)CRL_SEND;
	return (enum crl_verdict)verdict;
}

/* Frames are still to be put under way; before that none is taken. */
CRL_FN bool
crl_stamp_due(const struct crl_stream *s)
{
	return s->seq < s->opts.in_flight;
}

CRL_FN enum crl_st
crl_stamp_begin(struct crl_stream *s)
{
	const struct crl_txbuf *b = &s->tx->txbuf;
	enum crl_st st;
	uint32_t i;

	s->opts.dst_port = (uint16_t)(s->opts.dst_port + s->rx->index);
	st = crl_txonly_begin(s);
	for (i = 0; st == CRL_OK && i < s->tx_slots; i++)
		crl_st16(b->addr + (uint64_t)i * s->tx_stride + CRL_STAMP_AT - 2u, CRL_STAMP_MARK);
	return st;
}

/* The frames of the first n slots, whose bytes are there. Returns how many the ring took. */
CRL_FN uint32_t
crl_stamp_send(struct crl_stream *s, uint32_t n)
{
	struct crl_sq *sq = &s->tx->sq;
	struct crl_piece piece;
	uint64_t pi;
	uint32_t i;

	crl_order_payload_before_wqe();
	for (i = 0; i < n && crl_sq_reserve(sq, 1, &pi) == CRL_OK; i++) {
		crl_txonly_pieces(s, i, &piece);
		crl_sq_put_send(sq, pi, &piece, 1, s->opts.cs_flags, false, 0);
	}
	s->seq += i;
	s->txc.packets += i;
	s->txc.bytes += (uint64_t)i * piece.len;
	s->txc.doorbells += crl_sq_ring(sq);
	return i;
}

/* The next frames of those, when the last ones are out of their buffers. Returns how many. */
CRL_FN uint32_t
crl_stamp_fill(struct crl_stream *s)
{
	const struct crl_txbuf *b = &s->tx->txbuf;
	uint64_t left = s->opts.in_flight - s->seq;
	uint32_t n = left < s->tx_slots ? (uint32_t)left : s->tx_slots, i;

	if (!crl_stream_drained(s))
		return 0;
	for (i = 0; i < n; i++)
		crl_stamp_exchange(b->addr + (uint64_t)i * s->tx_stride, crl_txonly_len(&s->opts),
			s->rx->index, 0, s->seq + i);
	return crl_stamp_send(s, n);
}

/* A turn while crl_stamp_due(). Slots are given to the NIC first: what comes back finds one. */
CRL_FN enum crl_turn
crl_stamp_first_turn(struct crl_stream *s)
{
	enum crl_turn turn;
	uint32_t back;
	bool run;

	turn = crl_stream_look(s, &run);
	if (!run)
		return turn;
	back = crl_stream_reap(s);
	s->rxc.refills += crl_rq_refill(&s->rx->rq, &s->tx->sq) != 0;
	if (s->tx_slots == 0 && crl_stamp_begin(s) != CRL_OK)
		return CRL_TURN_IDLE;
	return crl_stamp_fill(s) + back != 0 ? CRL_TURN_BUSY : CRL_TURN_IDLE;
}

#endif /* CRL_ENGINE_STAMP_H */
