/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage 2 of 4 of a send by a warp: the same bytes as sq_post.h's writers, each of 32 lanes making
 * one 16-byte segment, so that a warp's store is 512 bytes in a row. Two shapes: eight SENDs, four
 * lanes each; one enhanced multi-packet send of up to 30 frames by pointer, a lane a segment.
 *
 * crl_warp_*_seg() are pure: from lane number and a table of frames to 16 bytes. Each lane calls
 * them, then crl_warp_store(), then crl_warp_note(); when all lanes have (__syncwarp(), which also
 * orders their stores before what lane 0 does next), lane 0 alone calls crl_warp_*_end() and rings.
 * A host runs the lanes one after another in any order, crl_warp_sends() and crl_warp_empw(), and
 * that is how tests judge them. Room is reserved by lane 0 before, as ever.
 */
#ifndef CRL_SQ_WARP_H
#define CRL_SQ_WARP_H

#include "sq_post.h"

#define CRL_WARP_LANES	 32u
#define CRL_WARP_SENDS	 8u  /* WQEs of a store: four lanes each */
#define CRL_WARP_EMPW	 30u /* frames of a multi-packet send: two lanes are its head */
#define CRL_WARP_SEND_DS 3u  /* control, Ethernet, data; the fourth lane fills the WQEBB with 0 */

/* Which of the next n SENDs must ask for a CQE by the signalling rule, a bit each. Same in all
 * lanes.
 */
CRL_FN uint32_t
crl_warp_signals(const struct crl_sq *sq, uint32_t n)
{
	uint32_t i, mask = 0, since = sq->unsignalled;

	for (i = 0; i < n; i++) {
		since++;
		if (since >= sq->signal_every) {
			mask |= 1u << i;
			since = 0;
		}
	}
	return mask;
}

/* Lane's segment of the eight SENDs at pi; frame[i]: the i-th one's only piece. */
CRL_FN struct crl_seg
crl_warp_send_seg(const struct crl_sq *sq, uint64_t pi, const struct crl_piece *frame,
	uint32_t cs_flags, uint32_t signals, uint32_t lane)
{
	uint32_t i = lane / 4u, k = lane % 4u;
	struct crl_seg zero = {{0, 0}};

	if (k == 0)
		return crl_seg_ctrl(CRL_OPCODE_SEND, pi + i, sq->sqn, CRL_WARP_SEND_DS,
			signals >> i & 1u ? CRL_WQE_CE_ALWAYS : CRL_WQE_CE_ON_FIRST_ERR);
	if (k == 1u)
		return crl_seg_eth(cs_flags);
	if (k == 2u)
		return crl_seg_data(frame[i].len, frame[i].lkey, frame[i].iova);
	return zero;
}

/* Lane's segment of one multi-packet send at pi of nr frames. */
CRL_FN struct crl_seg
crl_warp_empw_seg(const struct crl_sq *sq, uint64_t pi, const struct crl_piece *frame, uint32_t nr,
	uint32_t cs_flags, bool signal, uint32_t lane)
{
	struct crl_seg zero = {{0, 0}};

	if (lane == 0)
		return crl_seg_ctrl(CRL_OPCODE_EMPW, pi, sq->sqn, 2u + nr,
			signal ? CRL_WQE_CE_ALWAYS : CRL_WQE_CE_ON_FIRST_ERR);
	if (lane == 1u)
		return crl_seg_eth(cs_flags);
	if (lane < 2u + nr)
		return crl_seg_data(
			frame[lane - 2u].len, frame[lane - 2u].lkey, frame[lane - 2u].iova);
	return zero;
}

/* Lane's 16 bytes of what begins at pi, if they lie in the n WQEBBs reserved there. */
CRL_FN void
crl_warp_store(struct crl_sq *sq, uint64_t pi, uint32_t n, uint32_t lane, struct crl_seg s)
{
	if (lane < 4u * n)
		crl_st_seg(crl_sq_seg(sq, pi, lane), s);
}

/* Cookie and end of the WQE at index, of n WQEBBs: by its first lane. */
CRL_FN void
crl_warp_note(struct crl_sq *sq, uint64_t index, uint32_t n, uint64_t cookie)
{
	uint32_t slot = crl_ring_slot(index, sq->log_depth);

	sq->cookie[slot] = cookie;
	sq->end[slot] = index + n;
}

/* Lane 0, after all: the queue's book, for WQEs up to end of which last began at. */
CRL_FN void
crl_warp_end(struct crl_sq *sq, uint64_t last, uint64_t end, struct crl_seg ctrl)
{
	CRL_ASSERT(end <= sq->pi);
	sq->last = last;
	sq->db = ctrl.q[0];
	sq->posted = end;
}

/* The same, and what the signalling rule counts, of n SENDs. */
CRL_FN void
crl_warp_send_end(struct crl_sq *sq, uint64_t pi, uint32_t n, uint32_t signals)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		sq->unsignalled++;
		if (signals >> i & 1u) {
			sq->signalled = pi + i + 1u;
			sq->unsignalled = 0;
		}
	}
	crl_warp_end(sq, pi + n - 1u, pi + n,
		crl_seg_ctrl(CRL_OPCODE_SEND, pi + n - 1u, sq->sqn, CRL_WARP_SEND_DS, 0));
}

CRL_FN void
crl_warp_empw_end(struct crl_sq *sq, uint64_t pi, uint32_t nr, bool signal)
{
	uint32_t n = crl_wqebbs(2u + nr);

	if (signal) {
		sq->signalled = pi + n;
		sq->unsignalled = 0;
	} else {
		sq->unsignalled += nr > n ? nr : n;
	}
	crl_warp_end(sq, pi, pi + n, crl_seg_ctrl(CRL_OPCODE_EMPW, pi, sq->sqn, 2u + nr, 0));
}

/* A warp of one thread: n SENDs into the n WQEBBs at pi, lane by lane in the order given. */
CRL_FN void
crl_warp_sends(struct crl_sq *sq, uint64_t pi, const struct crl_piece *frame, uint32_t n,
	uint32_t cs_flags, const uint64_t *cookie, const uint8_t *order)
{
	uint32_t signals = crl_warp_signals(sq, n), i, lane;

	for (i = 0; i < CRL_WARP_LANES; i++) {
		lane = order[i];
		if (lane / 4u >= n)
			continue;
		crl_warp_store(
			sq, pi, n, lane, crl_warp_send_seg(sq, pi, frame, cs_flags, signals, lane));
		if (lane % 4u == 0)
			crl_warp_note(sq, pi + lane / 4u, 1, cookie[lane / 4u]);
	}
	crl_warp_send_end(sq, pi, n, signals);
}

/* The same for one multi-packet send of nr frames, into the crl_wqebbs(2 + nr) WQEBBs at pi. */
CRL_FN void
crl_warp_empw(struct crl_sq *sq, uint64_t pi, const struct crl_piece *frame, uint32_t nr,
	uint32_t cs_flags, bool signal, uint64_t cookie, const uint8_t *order)
{
	uint32_t n = crl_wqebbs(2u + nr), i;

	signal = signal || crl_sq_signal_due(sq, nr, n);
	for (i = 0; i < CRL_WARP_LANES; i++)
		crl_warp_store(sq, pi, n, order[i],
			crl_warp_empw_seg(sq, pi, frame, nr, cs_flags, signal, order[i]));
	crl_warp_note(sq, pi, n, cookie);
	crl_warp_empw_end(sq, pi, nr, signal);
}

#endif /* CRL_SQ_WARP_H */
