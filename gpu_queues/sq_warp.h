/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage 2 of 4 of a send by a warp: the same bytes as sq_post.h's writers, each of 32 lanes making
 * 16-byte segments, so that a warp's store is 512 bytes in a row. Addresses and lengths come from a
 * table of frames that all lanes read. Three shapes:
 *
 *   crl_warp_send_*   up to eight SENDs of one WQEBB, four lanes each: by pointer, with the first
 *                     bytes inlined where the NIC wants that
 *   crl_warp_mixed_*  up to eight SENDs of any size: inlined altogether or by pointer, one after
 *                     the other in as many stores as they take (qp_warp.h: RDMA writes likewise)
 *   crl_warp_empw_*   one enhanced multi-packet send of up to 32 frames, by pointer or inlined
 *
 * In a kernel: lane 0 reserves room; where there is a plan or a fit, it is made in memory of the
 * warp's (shared memory), or by each lane for itself. Then each lane calls crl_warp_*_lane() with
 * its number, and when all have (__syncwarp(), which also orders their stores before what lane 0
 * does next) lane 0 alone calls crl_warp_*_end() and rings. What a lane writes depends on its
 * arguments only. A host runs the lanes one after another in any order, crl_warp_sends(),
 * crl_warp_mixed(), crl_warp_empw(), and that is how tests judge them.
 */
#ifndef CRL_SQ_WARP_H
#define CRL_SQ_WARP_H

#include "sq_post.h"
#include "warp.h"

#define CRL_WARP_SENDS 8u /* WQEs of a call; as many of one WQEBB fill a store */

/* ---- What all shapes share ---- */

/* The last of n positions in rising order, of which the first is 0 or below at, that is not above
 * at. n up to 32. */
CRL_FN uint32_t
crl_warp_find(const uint8_t *first, uint32_t n, uint32_t at)
{
	uint32_t i = 0, step;

	for (step = 16u; step != 0; step >>= 1)
		if (i + step < n && first[i + step] <= at)
			i += step;
	return i;
}

CRL_FN struct crl_seg
crl_seg_zero(void)
{
	struct crl_seg zero = {{0, 0}};

	return zero;
}

/* Cookie and end of the WQE at index, of n WQEBBs: by one lane. */
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

CRL_FN uint32_t
crl_warp_ce(bool signal)
{
	return signal ? CRL_WQE_CE_ALWAYS : CRL_WQE_CE_ON_FIRST_ERR;
}

/* ---- Eight SENDs of one WQEBB ---- */

/* Which of the next n SENDs must ask for a CQE by the signalling rule, a bit each. Same in all
 * lanes. */
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
	uint32_t i = lane / 4u, k = lane % 4u, hdr = crl_send_hdr(sq, frame[i].len);
	uint32_t ds = crl_send_ds(hdr, frame[i].len, 1);

	if (k == 0)
		return crl_seg_ctrl(
			CRL_OPCODE_SEND, pi + i, sq->sqn, ds, crl_warp_ce(signals >> i & 1u));
	return k < ds ? crl_seg_send(&frame[i], hdr, cs_flags, k) : crl_seg_zero();
}

/* All that lane writes of the n SENDs at pi. signals: crl_warp_signals(). */
CRL_FN void
crl_warp_send_lane(struct crl_sq *sq, uint64_t pi, const struct crl_piece *frame, uint32_t n,
	uint32_t cs_flags, uint32_t signals, const uint64_t *cookie, uint32_t lane)
{
	if (lane / 4u >= n)
		return;
	crl_st_seg(crl_sq_seg(sq, pi, lane),
		crl_warp_send_seg(sq, pi, frame, cs_flags, signals, lane));
	if (lane % 4u == 0)
		crl_warp_note(sq, pi + lane / 4u, 1, cookie[lane / 4u]);
}

/* Lane 0, after all: the book, and what the signalling rule counts. */
CRL_FN void
crl_warp_send_end(
	struct crl_sq *sq, uint64_t pi, const struct crl_piece *frame, uint32_t n, uint32_t signals)
{
	uint32_t i, len = frame[n - 1u].len;

	CRL_ASSERT(pi == sq->posted);
	for (i = 0; i < n; i++) {
		sq->unsignalled++;
		if (signals >> i & 1u) {
			sq->signalled = pi + i + 1u;
			sq->unsignalled = 0;
		}
	}
	crl_warp_end(sq, pi + n - 1u, pi + n,
		crl_seg_ctrl(CRL_OPCODE_SEND, pi + n - 1u, sq->sqn,
			crl_send_ds(crl_send_hdr(sq, len), len, 1), 0));
}

/* ---- WQEs of any size, one after the other ---- */

/* Where up to eight WQEs lie from one index on, and which of them ask for a CQE. */
struct crl_warp_plan {
	uint32_t n, bbs; /* WQEs; WQEBBs of all of them */
	uint32_t signals;
	uint32_t unsignalled;	       /* sq->unsignalled as it will be */
	uint8_t first[CRL_WARP_SENDS]; /* WQEBBs before each: 7 * 16 at most */
	uint8_t ds[CRL_WARP_SENDS];
};

CRL_FN void
crl_warp_plan_begin(struct crl_warp_plan *plan, const struct crl_sq *sq)
{
	plan->n = 0;
	plan->bbs = 0;
	plan->signals = 0;
	plan->unsignalled = sq->unsignalled;
}

/* One more WQE of ds segments, if it fits into room WQEBBs with those before it. */
CRL_FN bool
crl_warp_plan_add(struct crl_warp_plan *plan, const struct crl_sq *sq, uint32_t ds, uint64_t room)
{
	uint32_t bbs = crl_wqebbs(ds);

	if (plan->n == CRL_WARP_SENDS || plan->bbs + bbs > room)
		return false;
	plan->unsignalled += bbs;
	if (plan->unsignalled >= sq->signal_every) {
		plan->signals |= 1u << plan->n;
		plan->unsignalled = 0;
	}
	plan->first[plan->n] = (uint8_t)plan->bbs;
	plan->ds[plan->n++] = (uint8_t)ds;
	plan->bbs += bbs;
	return true;
}

/* Segment at of all that the plan has at pi is segment *k of WQE i, which is returned. */
CRL_FN uint32_t
crl_warp_plan_at(const struct crl_warp_plan *plan, uint32_t at, uint32_t *k)
{
	uint32_t i = crl_warp_find(plan->first, plan->n, at / 4u);

	*k = at - 4u * plan->first[i];
	return i;
}

CRL_FN struct crl_seg
crl_warp_plan_ctrl(const struct crl_warp_plan *plan, const struct crl_sq *sq, uint64_t pi,
	uint32_t opcode, uint32_t i)
{
	return crl_seg_ctrl(opcode, pi + plan->first[i], sq->sqn, plan->ds[i],
		crl_warp_ce(plan->signals >> i & 1u));
}

/* The tables' entries: lane i of the first n for WQE i. */
CRL_FN void
crl_warp_plan_note(const struct crl_warp_plan *plan, struct crl_sq *sq, uint64_t pi,
	const uint64_t *cookie, uint32_t lane)
{
	if (lane < plan->n)
		crl_warp_note(sq, pi + plan->first[lane], crl_wqebbs(plan->ds[lane]), cookie[lane]);
}

/* Lane 0, after all: the book. opcode: of all of them. */
CRL_FN void
crl_warp_plan_end(const struct crl_warp_plan *plan, struct crl_sq *sq, uint64_t pi, uint32_t opcode)
{
	uint32_t i, last = plan->n - 1u;

	CRL_ASSERT(pi == sq->posted && plan->n != 0);
	for (i = 0; i < plan->n; i++)
		if (plan->signals >> i & 1u)
			sq->signalled = pi + plan->first[i] + crl_wqebbs(plan->ds[i]);
	sq->unsignalled = plan->unsignalled;
	crl_warp_end(sq, pi + plan->first[last], pi + plan->bbs,
		crl_warp_plan_ctrl(plan, sq, pi, opcode, last));
}

/* Bytes that a mixed SEND carries itself: all, up to inline_max; else what the NIC wants. */
CRL_FN uint32_t
crl_warp_mixed_hdr(const struct crl_sq *sq, uint32_t len, uint32_t inline_max)
{
	return len <= inline_max ? len : crl_send_hdr(sq, len);
}

/*
 * Plans SENDs of the first of n frames, as many as fit into eight and room WQEBBs. Frames of up to
 * inline_max bytes, itself at most CRL_INLINE_SEND_MAX, are inlined. Returns how many.
 */
CRL_FN uint32_t
crl_warp_mixed_plan(const struct crl_sq *sq, const struct crl_piece *frame, uint32_t n,
	uint32_t inline_max, uint64_t room, struct crl_warp_plan *plan)
{
	uint32_t len;

	CRL_ASSERT(inline_max <= CRL_INLINE_SEND_MAX);
	crl_warp_plan_begin(plan, sq);
	while (plan->n < n) {
		len = frame[plan->n].len;
		if (!crl_warp_plan_add(plan, sq,
			    crl_send_ds(crl_warp_mixed_hdr(sq, len, inline_max), len, 1), room))
			break;
	}
	return plan->n;
}

/* All that lane writes of the planned SENDs at pi, plan->bbs WQEBBs. */
CRL_FN void
crl_warp_mixed_lane(struct crl_sq *sq, uint64_t pi, const struct crl_warp_plan *plan,
	const struct crl_piece *frame, uint32_t inline_max, uint32_t cs_flags,
	const uint64_t *cookie, uint32_t lane)
{
	uint32_t at, i, k;
	struct crl_seg s;

	for (at = lane; at < 4u * plan->bbs; at += CRL_WARP_LANES) {
		i = crl_warp_plan_at(plan, at, &k);
		if (k == 0)
			s = crl_warp_plan_ctrl(plan, sq, pi, CRL_OPCODE_SEND, i);
		else if (k < plan->ds[i])
			s = crl_seg_send(&frame[i],
				crl_warp_mixed_hdr(sq, frame[i].len, inline_max), cs_flags, k);
		else
			s = crl_seg_zero();
		crl_st_seg(crl_sq_seg(sq, pi, at), s);
	}
	crl_warp_plan_note(plan, sq, pi, cookie, lane);
}

/* ---- One multi-packet send ---- */

/* Where the frames of one multi-packet send lie in it. */
struct crl_warp_fit {
	uint32_t n, ds;			    /* frames; segments of all */
	uint8_t first[CRL_EMPW_FRAMES_MAX]; /* segment at which each begins */
};

/* crl_empw_fit(), and where each frame comes to lie. Returns how many frames. */
CRL_FN uint32_t
crl_warp_empw_fit(const struct crl_sq *sq, const struct crl_piece *frame, uint32_t nr,
	uint64_t room, struct crl_warp_fit *fit)
{
	uint32_t i, at = 2;

	fit->n = crl_empw_fit(sq, frame, nr, room, &fit->ds);
	for (i = 0; i < fit->n; i++) {
		fit->first[i] = (uint8_t)at;
		at += crl_empw_segs(frame[i].len, sq->inline_max);
	}
	return fit->n;
}

/* Whether it asks for a CQE: the caller's wish, or the signalling rule. Same in all lanes. */
CRL_FN bool
crl_warp_empw_signal(const struct crl_sq *sq, const struct crl_warp_fit *fit, bool signal)
{
	return signal || crl_sq_signal_due(sq, fit->n, crl_wqebbs(fit->ds));
}

/* Segment at, at least 1, of it. */
CRL_FN struct crl_seg
crl_warp_empw_seg(const struct crl_sq *sq, const struct crl_warp_fit *fit,
	const struct crl_piece *frame, uint32_t cs_flags, uint32_t at)
{
	uint32_t i;

	if (at == 1u)
		return crl_seg_eth(cs_flags);
	if (at >= fit->ds)
		return crl_seg_zero();
	i = crl_warp_find(fit->first, fit->n, at);
	if (crl_empw_segs(frame[i].len, sq->inline_max) == 1u)
		return crl_seg_data(frame[i].len, frame[i].lkey, frame[i].iova);
	return crl_seg_inline(frame[i].data, frame[i].len, at - fit->first[i]);
}

/* All that lane writes of it at pi, crl_wqebbs(fit->ds) WQEBBs. signal: crl_warp_empw_signal(). */
CRL_FN void
crl_warp_empw_lane(struct crl_sq *sq, uint64_t pi, const struct crl_warp_fit *fit,
	const struct crl_piece *frame, uint32_t cs_flags, bool signal, uint64_t cookie,
	uint32_t lane)
{
	uint32_t at, n = crl_wqebbs(fit->ds);

	for (at = lane; at < 4u * n; at += CRL_WARP_LANES)
		crl_st_seg(crl_sq_seg(sq, pi, at),
			at == 0 ? crl_seg_ctrl(CRL_OPCODE_EMPW, pi, sq->sqn, fit->ds,
					  crl_warp_ce(signal))
				: crl_warp_empw_seg(sq, fit, frame, cs_flags, at));
	if (lane == 0)
		crl_warp_note(sq, pi, n, cookie);
}

/* Lane 0, after all. */
CRL_FN void
crl_warp_empw_end(struct crl_sq *sq, uint64_t pi, const struct crl_warp_fit *fit, bool signal)
{
	uint32_t n = crl_wqebbs(fit->ds);

	CRL_ASSERT(pi == sq->posted && fit->n != 0);
	if (signal) {
		sq->signalled = pi + n;
		sq->unsignalled = 0;
	} else {
		sq->unsignalled += fit->n > n ? fit->n : n;
	}
	crl_warp_end(sq, pi, pi + n, crl_seg_ctrl(CRL_OPCODE_EMPW, pi, sq->sqn, fit->ds, 0));
}

/* ---- A warp of one thread: lane by lane in the order given ---- */

CRL_FN void
crl_warp_sends(struct crl_sq *sq, uint64_t pi, const struct crl_piece *frame, uint32_t n,
	uint32_t cs_flags, const uint64_t *cookie, const uint8_t *order)
{
	uint32_t signals = crl_warp_signals(sq, n), i;

	for (i = 0; i < CRL_WARP_LANES; i++)
		crl_warp_send_lane(sq, pi, frame, n, cs_flags, signals, cookie, order[i]);
	crl_warp_send_end(sq, pi, frame, n, signals);
}

CRL_FN void
crl_warp_mixed(struct crl_sq *sq, uint64_t pi, const struct crl_warp_plan *plan,
	const struct crl_piece *frame, uint32_t inline_max, uint32_t cs_flags,
	const uint64_t *cookie, const uint8_t *order)
{
	uint32_t i;

	for (i = 0; i < CRL_WARP_LANES; i++)
		crl_warp_mixed_lane(sq, pi, plan, frame, inline_max, cs_flags, cookie, order[i]);
	crl_warp_plan_end(plan, sq, pi, CRL_OPCODE_SEND);
}

CRL_FN void
crl_warp_empw(struct crl_sq *sq, uint64_t pi, const struct crl_warp_fit *fit,
	const struct crl_piece *frame, uint32_t cs_flags, bool signal, uint64_t cookie,
	const uint8_t *order)
{
	uint32_t i;

	signal = crl_warp_empw_signal(sq, fit, signal);
	for (i = 0; i < CRL_WARP_LANES; i++)
		crl_warp_empw_lane(sq, pi, fit, frame, cs_flags, signal, cookie, order[i]);
	crl_warp_empw_end(sq, pi, fit, signal);
}

#endif /* CRL_SQ_WARP_H */
