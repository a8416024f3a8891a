/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage 2 of 4 of a send: write WQEs into reserved room. Runs on the lane that reserved.
 *
 * Every 16-byte segment has one function that makes it, crl_seg_*: whole, reserved fields zero, in
 * registers; it is then stored at once (mem.h). The functions are pure, so that a warp can let each
 * lane make one segment of a WQE. A WQE may run over the end of the ring: segments are placed one
 * by one, and so is inlined packet data.
 *
 * Two kinds of send: SEND (0x0a), one frame from one or more pieces of memory, and enhanced
 * multi-packet send (0x29), many frames under one control segment, each by pointer or inlined. Both
 * write the bytes that net_mlx5 writes for the same frames, which tests/golden holds them to.
 */
#ifndef CRL_SQ_POST_H
#define CRL_SQ_POST_H

#include "mem.h"
#include "queue.h"
#include "ring.h"

/* A frame or a part of one. */
struct crl_piece {
	const uint8_t
		*data; /* as this processor sees it; used for inlining only, else may be NULL */
	uint64_t iova; /* as the NIC names it */
	uint32_t len;  /* bytes */
	uint32_t lkey;
};

#define CRL_SEND_PIECES_MAX (CRL_WQE_DS_MAX - 2u) /* control and Ethernet segment take two */
/* Shorter frames go by pointer: a NIC refuses to parse inlined data that ends within 18 bytes. */
#define CRL_INLINE_MIN 19u

/* Control segment. index: of the WQE's first WQEBB. ce: CRL_WQE_CE_*. */
CRL_FN struct crl_seg
crl_seg_ctrl(uint32_t opcode, uint64_t index, uint32_t sqn, uint32_t ds, uint32_t ce)
{
	uint32_t op = (uint32_t)crl_index16(index) << 8 | opcode;
	uint32_t qd = sqn << 8 | ds;
	struct crl_seg s;

	s.q[0] = (uint64_t)crl_bswap32(op) | (uint64_t)crl_bswap32(qd) << 32;
	s.q[1] = (uint64_t)(ce << CRL_WQE_CE_SHIFT)
		 << 24; /* byte 11; signature, reserved and imm 0 */
	return s;
}

/* Ethernet segment without inline header. cs_flags: CRL_ETH_*. */
CRL_FN struct crl_seg
crl_seg_eth(uint32_t cs_flags)
{
	struct crl_seg s;

	s.q[0] = (uint64_t)(cs_flags & 0xffu) << 32; /* byte 4; swp 0, mss 0 */
	s.q[1] = 0;				     /* metadata 0, inline header size 0 */
	return s;
}

/* Data segment: len bytes at iova. */
CRL_FN struct crl_seg
crl_seg_data(uint32_t len, uint32_t lkey, uint64_t iova)
{
	struct crl_seg s;

	s.q[0] = (uint64_t)crl_bswap32(len) | (uint64_t)crl_bswap32(lkey) << 32;
	s.q[1] = crl_bswap64(iova);
	return s;
}

/* Bytes [at, at + 2) of a frame of len bytes, zero behind its end. */
CRL_FN uint64_t
crl_inline_pair(const uint8_t *data, uint32_t len, uint32_t at)
{
	if (at + 2u <= len)
		return crl_ld16(data + at);
	return at < len ? crl_ld8(data + at) : 0;
}

/* Segment k of an inlined frame: a four-byte count, then the bytes, zeros up to the segment's end.
 */
CRL_FN struct crl_seg
crl_seg_inline(const uint8_t *data, uint32_t len, uint32_t k)
{
	struct crl_seg s;
	uint32_t i, at;

	s.q[0] = 0;
	s.q[1] = 0;
	for (i = 0; i < 8u; i++) {
		if (k == 0 && i < 2u)
			continue;
		at = k * CRL_WQE_SEG_BYTES + 2u * i - 4u;
		s.q[i / 4u] |= crl_inline_pair(data, len, at) << 16u * (i % 4u);
	}
	if (k == 0)
		s.q[0] |= crl_bswap32(len | CRL_WQE_INLINE);
	return s;
}

/* Segments that a frame takes in a multi-packet send when frames up to inline_max bytes are
 * inlined. */
CRL_FN uint32_t
crl_empw_segs(uint32_t len, uint32_t inline_max)
{
	if (len < CRL_INLINE_MIN || len > inline_max)
		return 1;
	return (len + 4u + CRL_WQE_SEG_BYTES - 1u) / CRL_WQE_SEG_BYTES;
}

/* WQEBBs that ds segments take. */
CRL_FN uint32_t
crl_wqebbs(uint32_t ds)
{
	return (ds + 3u) / 4u;
}

/* Where segment k of the WQE at index pi lies: the only place that knows of the ring's end. */
CRL_FN uint8_t *
crl_sq_seg(const struct crl_sq *sq, uint64_t pi, uint32_t k)
{
	uint64_t bytes = crl_ring_depth(sq->log_depth) * CRL_WQEBB_BYTES;

	return sq->wqe + ((pi * CRL_WQEBB_BYTES + k * CRL_WQE_SEG_BYTES) & (bytes - 1u));
}

/* True when the next WQE, of so many frames and WQEBBs, must ask for a CQE whatever comes after it.
 */
CRL_FN bool
crl_sq_signal_due(const struct crl_sq *sq, uint32_t frames, uint32_t wqebbs)
{
	return sq->unsignalled + (frames > wqebbs ? frames : wqebbs) >= sq->signal_every;
}

/*
 * Notes a written WQE: what comes back with its completion, where it ends, and whether it asked.
 * Every writer below ends here. The control segment is written last and by this function only.
 */
CRL_FN void
crl_sq_put_ctrl(struct crl_sq *sq, uint64_t pi, uint32_t opcode, uint32_t ds, uint32_t frames,
	bool signal, uint64_t cookie)
{
	uint32_t n = crl_wqebbs(ds), slot = crl_ring_slot(pi, sq->log_depth);
	uint32_t ce = signal ? CRL_WQE_CE_ALWAYS : CRL_WQE_CE_ON_FIRST_ERR;
	struct crl_seg s = crl_seg_ctrl(opcode, pi, sq->sqn, ds, ce);

	CRL_ASSERT(pi == sq->posted && pi + n <= sq->pi && ds <= CRL_WQE_DS_MAX);
	crl_st_seg(crl_sq_seg(sq, pi, 0), s);
	sq->cookie[slot] = cookie;
	sq->end[slot] = pi + n;
	sq->last = pi;
	sq->db = s.q[0];
	sq->posted = pi + n;
	if (signal) {
		sq->signalled = pi + n;
		sq->unsignalled = 0;
	} else {
		sq->unsignalled += frames > n ? frames : n;
	}
}

/*
 * One frame from nr pieces (1 to CRL_SEND_PIECES_MAX) into the crl_wqebbs(2 + nr) WQEBBs reserved
 * at pi. signal: ask for a CQE; asked for anyway when the signalling rule says so.
 */
CRL_FN void
crl_sq_put_send(struct crl_sq *sq, uint64_t pi, const struct crl_piece *piece, uint32_t nr,
	uint32_t cs_flags, bool signal, uint64_t cookie)
{
	uint32_t i;

	crl_st_seg(crl_sq_seg(sq, pi, 1), crl_seg_eth(cs_flags));
	for (i = 0; i < nr; i++)
		crl_st_seg(crl_sq_seg(sq, pi, 2u + i),
			crl_seg_data(piece[i].len, piece[i].lkey, piece[i].iova));
	signal = signal || crl_sq_signal_due(sq, 1, crl_wqebbs(2u + nr));
	crl_sq_put_ctrl(sq, pi, CRL_OPCODE_SEND, 2u + nr, 1, signal, cookie);
}

/*
 * How many of nr frames one multi-packet send can take, within room WQEBBs; *ds: its size. 0: none,
 * or the queue has no such sends.
 */
CRL_FN uint32_t
crl_empw_fit(const struct crl_sq *sq, const struct crl_piece *frame, uint32_t nr, uint64_t room,
	uint32_t *ds)
{
	uint32_t n = 0, segs = 2, more;

	if (!(sq->flags & CRL_SQ_EMPW))
		return 0;
	while (n < nr && n < CRL_EMPW_FRAMES_MAX) {
		more = crl_empw_segs(frame[n].len, sq->inline_max);
		if (segs + more > CRL_WQE_DS_MAX || crl_wqebbs(segs + more) > room)
			break;
		segs += more;
		n++;
	}
	*ds = segs;
	return n;
}

/*
 * nr frames that crl_empw_fit() said fit into one WQE, into the crl_wqebbs(ds) WQEBBs reserved at
 * pi. One cookie for all of them.
 */
CRL_FN void
crl_sq_put_empw(struct crl_sq *sq, uint64_t pi, const struct crl_piece *frame, uint32_t nr,
	uint32_t cs_flags, bool signal, uint64_t cookie)
{
	uint32_t i, k, segs, ds = 2;

	crl_st_seg(crl_sq_seg(sq, pi, 1), crl_seg_eth(cs_flags));
	for (i = 0; i < nr; i++) {
		segs = crl_empw_segs(frame[i].len, sq->inline_max);
		if (segs == 1u)
			crl_st_seg(crl_sq_seg(sq, pi, ds++),
				crl_seg_data(frame[i].len, frame[i].lkey, frame[i].iova));
		else
			for (k = 0; k < segs; k++)
				crl_st_seg(crl_sq_seg(sq, pi, ds++),
					crl_seg_inline(frame[i].data, frame[i].len, k));
	}
	signal = signal || crl_sq_signal_due(sq, nr, crl_wqebbs(ds));
	crl_sq_put_ctrl(sq, pi, CRL_OPCODE_EMPW, ds, nr, signal, cookie);
}

/* A WQE that does nothing but fill n WQEBBs and, signalled, report; n up to 15, as ds is six bits.
 */
CRL_FN void
crl_sq_put_nop(struct crl_sq *sq, uint64_t pi, uint32_t n, bool signal, uint64_t cookie)
{
	struct crl_seg zero = {{0, 0}};
	uint32_t k;

	for (k = 1; k < 4u * n; k++)
		crl_st_seg(crl_sq_seg(sq, pi, k), zero);
	signal = signal || crl_sq_signal_due(sq, 0, n);
	crl_sq_put_ctrl(sq, pi, CRL_OPCODE_NOP, 4u * n, 0, signal, cookie);
}

/*
 * Makes the last written WQE ask for a CQE although it was written without: what is not yet rung
 * can still be changed. One byte of its control segment.
 */
CRL_FN void
crl_sq_signal_last(struct crl_sq *sq)
{
	if (sq->signalled == sq->posted)
		return;
	CRL_ASSERT(sq->last >= sq->rung);
	crl_st8(crl_sq_seg(sq, sq->last, 0) + offsetof(struct crl_wqe_ctrl, fm_ce_se),
		CRL_WQE_CE_ALWAYS << CRL_WQE_CE_SHIFT);
	sq->signalled = sq->posted;
	sq->unsignalled = 0;
}

#endif /* CRL_SQ_POST_H */
