/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage 2 of 4 of a send: write WQEs into reserved room. Runs on the lane that reserved.
 *
 * Every 16-byte segment has one function that makes it, crl_seg_*: whole, reserved fields zero, in
 * registers; it is then stored at once (mem.h). The functions are pure, so that a warp can let each
 * lane make one segment of a WQE. A WQE may run over the end of the ring: segments are placed one
 * by one, and so is inlined packet data.
 *
 * Two kinds of send: SEND (0x0a), one frame, from one or more pieces of memory, with its first
 * bytes or all of it inlined, and enhanced multi-packet send (0x29), many frames under one control
 * segment, each by pointer or inlined. Both write the bytes that net_mlx5 writes for the same
 * frames, which tests/golden holds them to. RDMA writes are qp_post.h's.
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
/* What a SEND carries in itself at most: 62 segments less the 14 bytes before the frame. */
#define CRL_INLINE_SEND_MAX ((CRL_WQE_DS_MAX - 1u) * CRL_WQE_SEG_BYTES - 14u)
CRL_STATIC_ASSERT(CRL_INLINE_SEND_MAX <= CRL_ETH_INLINE_MASK, "the size word has ten bits");

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

/* Bytes [at, at + 8) of a frame of len bytes, zero behind its end; at is even. */
CRL_FN uint64_t
crl_inline_eight(const uint8_t *data, uint32_t len, uint32_t at)
{
	uint64_t v = 0;
	uint32_t i;

	if (at + 8u <= len)
		return crl_ld_pkt64(data + at);
	for (i = 0; i < 8u && at + i < len; i += 2u) {
		if (at + i + 2u <= len)
			v |= (uint64_t)crl_ld16(data + at + i) << 8u * i;
		else
			v |= (uint64_t)crl_ld8(data + at + i) << 8u * i;
	}
	return v;
}

/* Segment k of an inlined frame: a four-byte count, then the bytes, zeros up to the segment's end.
 */
CRL_FN struct crl_seg
crl_seg_inline(const uint8_t *data, uint32_t len, uint32_t k)
{
	uint32_t at = k * CRL_WQE_SEG_BYTES - 4u; /* of the segment's first byte; not for k = 0 */
	struct crl_seg s;

	if (k == 0)
		s.q[0] = crl_bswap32(len | CRL_WQE_INLINE) |
			 (crl_inline_eight(data, len < 4u ? len : 4u, 0)) << 32;
	else
		s.q[0] = crl_inline_eight(data, len, at);
	s.q[1] = crl_inline_eight(data, len, at + 8u);
	return s;
}

/*
 * Segment k of an Ethernet segment that begins a frame: the frame's first hdr bytes, at most
 * CRL_INLINE_SEND_MAX, follow the size word and run on into the next segments. hdr 0:
 * crl_seg_eth().
 */
CRL_FN struct crl_seg
crl_seg_eth_inline(uint32_t cs_flags, const uint8_t *data, uint32_t hdr, uint32_t k)
{
	struct crl_seg s;

	if (k == 0) {
		s = crl_seg_eth(cs_flags);
		s.q[1] = (uint64_t)crl_bswap16((uint16_t)hdr) << 32 |
			 crl_inline_eight(data, hdr < 2u ? hdr : 2u, 0) << 48;
		return s;
	}
	s.q[0] = crl_inline_eight(data, hdr, k * CRL_WQE_SEG_BYTES - 14u);
	s.q[1] = crl_inline_eight(data, hdr, k * CRL_WQE_SEG_BYTES - 6u);
	return s;
}

/* Segments that an Ethernet segment with hdr inlined bytes takes. */
CRL_FN uint32_t
crl_eth_segs(uint32_t hdr)
{
	return (hdr + 14u + CRL_WQE_SEG_BYTES - 1u) / CRL_WQE_SEG_BYTES;
}

/* Bytes of a frame that a SEND on this queue carries itself, when its first piece has len bytes. */
CRL_FN uint32_t
crl_send_hdr(const struct crl_sq *sq, uint32_t len)
{
	return len < sq->inline_hdr ? len : sq->inline_hdr;
}

/* Segments of a SEND of nr pieces whose first, of len bytes, has its first hdr bytes inlined. */
CRL_FN uint32_t
crl_send_ds(uint32_t hdr, uint32_t len, uint32_t nr)
{
	return 1u + crl_eth_segs(hdr) + nr - (hdr != 0 && hdr == len);
}

/* Segment k, at least 1, of a SEND of one piece with its first hdr bytes inlined. */
CRL_FN struct crl_seg
crl_seg_send(const struct crl_piece *frame, uint32_t hdr, uint32_t cs_flags, uint32_t k)
{
	if (k <= crl_eth_segs(hdr))
		return crl_seg_eth_inline(cs_flags, frame->data, hdr, k - 1u);
	return crl_seg_data(frame->len - hdr, frame->lkey, frame->iova + hdr);
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

/* What the two below have in common: hdr bytes of the first piece are inlined. */
CRL_FN void
crl_sq_put_send_hdr(struct crl_sq *sq, uint64_t pi, const struct crl_piece *piece, uint32_t nr,
	uint32_t hdr, uint32_t cs_flags, bool signal, uint64_t cookie)
{
	uint32_t ds = crl_send_ds(hdr, piece[0].len, nr), k, first = ds - (nr - 1u);

	for (k = 1; k < first; k++)
		crl_st_seg(crl_sq_seg(sq, pi, k), crl_seg_send(piece, hdr, cs_flags, k));
	for (k = 1; k < nr; k++)
		crl_st_seg(crl_sq_seg(sq, pi, first + k - 1u),
			crl_seg_data(piece[k].len, piece[k].lkey, piece[k].iova));
	signal = signal || crl_sq_signal_due(sq, 1, crl_wqebbs(ds));
	crl_sq_put_ctrl(sq, pi, CRL_OPCODE_SEND, ds, 1, signal, cookie);
}

/*
 * One frame from nr pieces (1 to CRL_SEND_PIECES_MAX, one less where headers are inlined) into the
 * crl_wqebbs(crl_send_ds()) WQEBBs reserved at pi, which for one piece is one. On a queue with
 * inline_hdr the first piece has data, and at least so many bytes if there are more. signal: ask
 * for a CQE; asked for anyway when the signalling rule says so.
 */
CRL_FN void
crl_sq_put_send(struct crl_sq *sq, uint64_t pi, const struct crl_piece *piece, uint32_t nr,
	uint32_t cs_flags, bool signal, uint64_t cookie)
{
	uint32_t hdr = crl_send_hdr(sq, piece[0].len);

	CRL_ASSERT(hdr == 0 || (piece[0].data && (hdr == sq->inline_hdr || nr == 1u)));
	crl_sq_put_send_hdr(sq, pi, piece, nr, hdr, cs_flags, signal, cookie);
}

/*
 * One frame of up to CRL_INLINE_SEND_MAX bytes that travels in the WQE altogether, behind the
 * Ethernet segment's size word: its memory is free again when this returns. Into the
 * crl_wqebbs(1 + crl_eth_segs(len)) WQEBBs reserved at pi.
 */
CRL_FN void
crl_sq_put_send_inline(struct crl_sq *sq, uint64_t pi, const struct crl_piece *frame,
	uint32_t cs_flags, bool signal, uint64_t cookie)
{
	CRL_ASSERT(frame->len <= CRL_INLINE_SEND_MAX);
	crl_sq_put_send_hdr(sq, pi, frame, 1, frame->len, cs_flags, signal, cookie);
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

/*
 * A WQE that does nothing but fill n WQEBBs and, signalled, report; n up to 15, as ds is six bits.
 * One of several WQEBBs is no invention: DPDK's mlx5_regex and mlx5_crypto pad with such, and
 * mlx5dv_qp_cancel_posted_send_wrs() makes one of any posted WQE.
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
