/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stamp by the 32 lanes of a warp: short frames a lane each as in stamp.h; of long ones a lane has
 * the number, the first two words of the pattern and the last three at most, and all lanes have the
 * 16-byte chunks between them (wide.h). The same frames, bytes and counts.
 */
#ifndef CRL_ENGINE_STAMP_WARP_H
#define CRL_ENGINE_STAMP_WARP_H

#include "../fwd_warp.h"
#include "../wide.h"
#include "stamp.h"

#define CRL_STAMP_CHUNKS (CRL_STAMP_AT + 16u) /* where they begin: behind two words */
#define CRL_STAMP_BESIDE 2u		      /* words before them */
CRL_STATIC_ASSERT(
	CRL_STAMP_CHUNKS % CRL_WIDE_BYTES == 0, "chunks lie on 16 bytes in a frame that does");

/* Words k and k + 1 as eight bytes. */
CRL_FN uint64_t
crl_stamp_pair(uint64_t seq, uint32_t queue, uint32_t k)
{
	return crl_stamp_word(seq, queue, k) | (uint64_t)crl_stamp_word(seq, queue, k + 1u) << 32;
}

/* Number is and the words that are a lane's own into a frame of len bytes; good: was's stood there.
 */
CRL_FN bool
crl_stamp_own(uint8_t *frame, uint32_t len, uint32_t queue, uint64_t was, uint64_t is)
{
	uint32_t n = crl_stamp_words(len), k = n - (n - CRL_STAMP_BESIDE) % 4u;
	struct crl_seg first = {{is, crl_stamp_pair(is, queue, 0)}};
	uint8_t *p = frame + CRL_STAMP_AT + 8u;
	bool good = crl_ld64(p) == crl_stamp_pair(was, queue, 0);

	crl_st_seg(frame + CRL_STAMP_AT, first);
	for (; k < n; k++) {
		good &= crl_ld32(p + 4u * k) == crl_stamp_word(was, queue, k);
		crl_st32(p + 4u * k, crl_stamp_word(is, queue, k));
	}
	return good;
}

/* Whether a frame is worth all lanes, and how many chunks they have. */
CRL_FN uint32_t
crl_stamp_chunks(const uint8_t *frame, uint32_t len)
{
	if (len < CRL_STAMP_LONG || ((uintptr_t)frame & 15u) != 0)
		return 0;
	return (crl_stamp_words(len) - CRL_STAMP_BESIDE) / 4u;
}

/* A lane's part of a packet: crl_stamp_packet() but for the chunks. */
CRL_FN uint32_t
crl_stamp_long(const struct crl_stream *s, const struct crl_pkt *pkt, struct crl_warp_long *l)
{
	uint32_t verdict = CRL_SEND;

	l->bad = 0;
	l->chunks = crl_stamp_chunks(pkt->data, pkt->len);
	if (l->chunks == 0 || crl_ld16(pkt->data + CRL_STAMP_AT - 2u) != CRL_STAMP_MARK) {
		l->chunks = 0;
		return 0;
	}
	l->data = pkt->data + CRL_STAMP_CHUNKS;
	l->was = crl_ld64(pkt->data + CRL_STAMP_AT);
	l->is = pkt->index + s->opts.in_flight;
	if (l->was != pkt->index)
		verdict |= CRL_MISSED;
	if (!crl_stamp_own(pkt->data, pkt->len, s->rx->index, l->was, l->is))
		verdict |= CRL_TORN;
	/* with a fixed count, the last ones end here */
	if (s->opts.tx_frames_max != 0 && l->is >= s->opts.tx_frames_max)
		verdict &= ~(uint32_t)CRL_SEND;
	return verdict;
}

/* Pattern of seq in chunk c. */
CRL_FN struct crl_seg
crl_stamp_chunk(uint64_t seq, uint32_t queue, uint32_t c)
{
	uint32_t k = CRL_STAMP_BESIDE + 4u * c;
	struct crl_seg s = {{crl_stamp_pair(seq, queue, k), crl_stamp_pair(seq, queue, k + 2u)}};

	return s;
}

/* The next steps of all lanes, from g on; with check what stood there is compared. Bit i of a
 * lane's bad: in the i-th step it was another. */
CRL_FN struct crl_wide
crl_stamp_steps(const struct crl_warp *w, struct crl_wide g, uint32_t queue,
	const struct crl_warp_long *l, uint32_t n, bool check, uint32_t *bad)
{
	struct crl_wide at = g;
	uint32_t i;

	CRL_EACH_LANE(w, lane)
	{
		struct crl_seg v[CRL_WIDE_AHEAD], want;

		at = g;
		bad[CRL_AT(lane)] = 0;
		CRL_UNROLL(8)
		for (i = 0; i < CRL_WIDE_AHEAD; i++, crl_wide_next(&at)) {
			uint32_t f = crl_wide_frame(&at, lane), c = crl_wide_chunk(&at, lane);

			v[i].q[0] = v[i].q[1] = 0;
			if (check && f < n && c < l[f].chunks)
				v[i] = crl_ld_seg(l[f].data + (size_t)c * CRL_WIDE_BYTES);
		}
		at = g;
		CRL_UNROLL(8)
		for (i = 0; i < CRL_WIDE_AHEAD; i++, crl_wide_next(&at)) {
			uint32_t f = crl_wide_frame(&at, lane), c = crl_wide_chunk(&at, lane);

			if (f >= n || c >= l[f].chunks)
				continue;
			want = crl_stamp_chunk(l[f].was, queue, c);
			if (check && (v[i].q[0] != want.q[0] || v[i].q[1] != want.q[1]))
				bad[CRL_AT(lane)] |= 1u << i;
			crl_st_seg(l[f].data + (size_t)c * CRL_WIDE_BYTES,
				crl_stamp_chunk(l[f].is, queue, c));
		}
	}
	return at;
}

/* All chunks of n frames. */
CRL_FN void
crl_stamp_all_chunks(const struct crl_warp *w, uint32_t queue, struct crl_warp_long *l, uint32_t n,
	uint32_t chunks, bool check)
{
	struct crl_wide g = crl_wide_begin(chunks), next;
	CRL_LANE(uint32_t, bad);
	uint32_t i;

	for (; g.row < n; g = next) { /* bound: the steps of 32 frames */
		next = crl_stamp_steps(w, g, queue, l, n, check, bad);
		if (!check || crl_warp_ballot(bad) == 0)
			continue;
		/* seldom: whose it was; lanes of a frame store the same */
		for (i = 0; i < CRL_WIDE_AHEAD; i++, crl_wide_next(&g)) {
			CRL_EACH_LANE(w, lane)
			{
				if (bad[CRL_AT(lane)] >> i & 1u)
					l[crl_wide_frame(&g, lane)].bad = 1;
			}
		}
	}
	crl_warp_sync();
}

CRL_FN void
crl_stamp_all(const struct crl_warp *w, const struct crl_stream *s, struct crl_warp_long *l,
	uint32_t n, uint32_t chunks)
{
	crl_stamp_all_chunks(w, s->rx->index, l, n, chunks, true);
}

/* Numbers and patterns of the next n frames into the first n slots. */
CRL_FN void
crl_stamp_warp_slots(
	const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m, uint32_t n)
{
	const struct crl_txbuf *b = &s->tx->txbuf;
	uint32_t at, k, len = crl_txonly_len(&s->opts), chunks;

	for (at = 0; at < n; at += k) {
		k = n - at < CRL_WARP_LANES ? n - at : CRL_WARP_LANES;
		chunks = crl_stamp_chunks(b->addr, len);
		CRL_EACH_LANE(w, lane)
		{
			uint8_t *frame = b->addr + (uint64_t)(at + lane) * s->tx_stride;
			uint64_t is = s->seq + at + lane;

			if (lane >= k)
				continue;
			if (chunks == 0)
				crl_stamp_exchange(frame, len, s->rx->index, 0, is);
			else
				crl_stamp_own(frame, len, s->rx->index, 0, is);
			m->longs[lane].data = frame + CRL_STAMP_CHUNKS;
			m->longs[lane].chunks = chunks;
			m->longs[lane].was = m->longs[lane].is = is;
		}
		crl_warp_sync();
		if (chunks != 0)
			crl_stamp_all_chunks(w, s->rx->index, m->longs, k, chunks, false);
		crl_warp_sync();
	}
}

/* Lane 0: what crl_stamp_first_turn() does before the frames' bytes. How many there are to be. */
CRL_FN uint32_t
crl_stamp_warp_first(struct crl_stream *s, uint32_t *back)
{
	uint64_t left = s->opts.in_flight - s->seq;

	*back = crl_stream_reap(s);
	s->rxc.refills += crl_rq_refill(&s->rx->rq, &s->tx->sq) != 0;
	if ((s->tx_slots == 0 && crl_stamp_begin(s) != CRL_OK) || !crl_stream_drained(s))
		return 0;
	return left < s->tx_slots ? (uint32_t)left : s->tx_slots;
}

/* crl_stamp_first_turn() by a warp. */
CRL_FN enum crl_turn
crl_stamp_warp_first_turn(const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m)
{
	CRL_LANE(uint32_t, word);
	enum crl_turn turn;
	uint32_t n, back = 0;
	bool run;

	turn = crl_warp_look(w, s, &run);
	if (!run)
		return turn;
	word[0] = 0;
	if (crl_warp_first())
		word[0] = crl_stamp_warp_first(s, &back) | (uint32_t)(back != 0) << 31;
	word[0] = crl_warp_get32(word, 0);
	crl_warp_sync();
	n = word[0] & 0x7fffffffu;
	crl_stamp_warp_slots(w, s, m, n);
	if (crl_warp_first() && n != 0)
		crl_stamp_send(s, n);
	crl_warp_sync();
	if (!crl_stamp_due(s))
		crl_warp_recount(w, s);
	return word[0] != 0 ? CRL_TURN_BUSY : CRL_TURN_IDLE;
}

/* A turn of the engine by a warp, whichever is due. */
CRL_FN enum crl_turn
crl_stamp_warp_turn(const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m)
{
	if (crl_stamp_due(s))
		return crl_stamp_warp_first_turn(w, s, m);
	return crl_fwd_warp_turn_long(w, s, m, crl_stamp_packet, crl_stamp_long, crl_stamp_all);
}

#endif /* CRL_ENGINE_STAMP_WARP_H */
