/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive WQEs: how many there are by the RQ's record, where their entries point to, and frames
 * that need more than one entry, leave something out (a stripped tag) or add something (the FCS).
 * A WQE that fails completes with its syndrome; the queue and all that is posted go with it.
 */
#ifndef SCX_DP_SCATTER_H
#define SCX_DP_SCATTER_H

#include "complete.h"
#include "dma.h"

#define SCX_FCS_BYTES 4u

/*
 * The record, and whether it can be believed: it takes back nothing that was seen posted before,
 * and the ring holds what it says.
 */
SCX_FN bool
scx_rq_record(struct scx_dp *dp, const struct scx_rq *rq, uint16_t *rec)
{
	scx_look(dp, rq->q.dbrec, CRL_DBREC_BYTES);
	*rec = (uint16_t)crl_bswap32(scx_ld32_acquire(&rq->q.dbrec[CRL_DBREC_RCV_WORD]));
	return (uint16_t)(*rec - rq->pi) <= (1u << rq->q.log_depth) - (uint16_t)(rq->pi - rq->ci);
}

/* All that is posted comes back with a flush error: what the queue holds when it enters ERR. */
SCX_SLOW void
scx_rq_flush(struct scx_dp *dp, struct scx_rq *rq)
{
	uint16_t rec;

	if (scx_rq_record(dp, rq, &rec))
		rq->pi = rec;
	if (!rq->q.flush_in_error)
		return;
	for (; rq->ci != rq->pi; rq->ci++) {
		if (!scx_cqe_error(dp, rq->cq, CRL_CQE_RESP_ERR, rq->q.user_index, 0, rq->ci,
			    CRL_SYND_WR_FLUSH, SCX_VENDOR_FLUSH))
			return;
	}
}

SCX_SLOW void
scx_rq_fail(struct scx_dp *dp, struct scx_rq *rq, uint8_t syndrome, uint8_t vendor)
{
	dp->stats.rx_errors++;
	rq->q.state = SCX_WQ_ERR;
	scx_queue_error(dp, rq->q.rqn, rq->ci, syndrome, true);
	/* an Ethernet RQ's error CQE names no queue; the user index does */
	(void)scx_cqe_error(
		dp, rq->cq, CRL_CQE_RESP_ERR, rq->q.user_index, 0, rq->ci, syndrome, vendor);
	rq->ci++;
	scx_rq_flush(dp, rq);
}

CRL_FN const uint8_t *
scx_rq_wqe(const struct scx_rq *rq, uint16_t index)
{
	return rq->q.ring.base +
	       ((size_t)(index & ((1u << rq->q.log_depth) - 1u)) << rq->q.log_stride);
}

/* The buffers of WQEs [from, to) were given back: nobody may look at what they hold. */
SCX_SLOW void
scx_rq_overwrite(struct scx_dp *dp, struct scx_rq *rq, uint16_t from, uint16_t to)
{
	uint32_t nr = 1u << (rq->q.log_stride - 4u), i, bytes;
	const struct scx_dp_mkey *m;
	const uint8_t *seg;
	uint8_t *at;

	for (; from != to; from++)
		for (i = 0; i < nr; i++) {
			seg = scx_rq_wqe(rq, from) + i * CRL_WQE_SEG_BYTES;
			bytes = scx_ld_be32(seg);
			m = scx_mkey(dp, &rq->mkey, scx_ld_be32(seg + 4), rq->q.pdn);
			if (m == NULL || !m->local_write || (bytes & CRL_WQE_INLINE))
				continue; /* said when a frame comes */
			at = scx_mkey_at(m, crl_bswap64(scx_ld64(seg + 8)), bytes);
			if (at != NULL)
				memset(at, SCX_FAULT_FILL, bytes);
		}
}

/*
 * Sample the record; true when there is a WQE that nobody has. A record that cannot be fails the
 * queue, but not before the WQEs seen posted are used up: those are good, and a look ahead of the
 * frame in turn decides nothing.
 */
SCX_FN bool
scx_rq_refill(struct scx_dp *dp, struct scx_rq *rq)
{
	uint16_t rec, was = rq->pi;

	if (SCX_UNLIKELY(!scx_rq_record(dp, rq, &rec))) {
		if (rq->ci != rq->pi)
			return false;
		scx_refuse(dp, SCX_DP_R_RQ_RECORD_OVERRUN, rq->q.rqn, rq->ci, rq->q.dbrec,
			CRL_DBREC_BYTES, rec, 1u << rq->q.log_depth);
		rq->q.state = SCX_WQ_ERR;
		scx_queue_error(dp, rq->q.rqn, rq->ci, CRL_SYND_LOCAL_QP_OP, true);
		return false;
	}
	if (SCX_UNLIKELY(dp->fault.plan.overwrite))
		scx_rq_overwrite(dp, rq, was, rec);
	scx_look_ring(dp, &rq->q.ring, rq->q.log_depth, rq->q.log_stride, was, rec);
	rq->pi = rec;
	return rec != was;
}

/* Where n bytes of a scatter entry go, or NULL after failing the WQE. */
SCX_FN uint8_t *
scx_scatter_at(
	struct scx_dp *dp, struct scx_rq *rq, const uint8_t *wqe, const uint8_t *seg, uint32_t n)
{
	uint32_t key = scx_ld_be32(seg + 4);
	uint64_t addr = crl_bswap64(scx_ld64(seg + 8));
	struct scx_dp_mkey *m = scx_mkey(dp, &rq->mkey, key, rq->q.pdn);
	size_t bytes = (size_t)1 << rq->q.log_stride;
	uint8_t *dst;

	if (SCX_UNLIKELY(m == NULL)) {
		scx_refuse(dp, SCX_DP_R_RQ_KEY, rq->q.rqn, rq->ci, wqe, bytes, key, rq->q.pdn);
	} else if (SCX_UNLIKELY(!m->local_write)) {
		scx_refuse(dp, SCX_DP_R_RQ_ACCESS, rq->q.rqn, rq->ci, wqe, bytes, key, addr);
	} else {
		dst = scx_mkey_at(m, addr, n);
		if (SCX_LIKELY(dst != NULL))
			return dst;
		scx_refuse(dp, SCX_DP_R_RQ_BOUNDS, rq->q.rqn, rq->ci, wqe, bytes, addr, n);
	}
	scx_rq_fail(dp, rq, CRL_SYND_LOCAL_PROT, SCX_VENDOR_RX_PROT);
	return NULL;
}

/* IEEE 802.3 frame check sequence, four bits at a time: only queues that ask to see it pay. */
SCX_SLOW uint32_t
scx_fcs(const uint8_t *f, uint32_t len)
{
	static const uint32_t nibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8,
		0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
	uint32_t crc = 0xffffffffu, i;

	for (i = 0; i < len; i++) {
		crc = crc >> 4 ^ nibble[(crc ^ f[i]) & 0xf];
		crc = crc >> 4 ^ nibble[(crc ^ (uint32_t)f[i] >> 4) & 0xf];
	}
	return ~crc;
}

/* The pieces of a frame, in order, into the entries of the WQE. False after failing the WQE. */
struct scx_piece {
	const uint8_t *data;
	uint32_t len;
};

SCX_SLOW bool
scx_scatter(struct scx_dp *dp, struct scx_rq *rq, const uint8_t *wqe, struct scx_piece *p,
	uint32_t nr_pieces, uint32_t len)
{
	uint32_t nr = 1u << (rq->q.log_stride - 4u), i, room = 0, left, n;
	uint8_t *dst;

	for (i = 0; i < nr; i++) {
		const uint8_t *seg = wqe + i * CRL_WQE_SEG_BYTES;

		left = scx_ld_be32(seg);
		if (scx_ld_be32(seg + 4) == CRL_LKEY_INVALID && left == 0)
			break; /* the list ends before its last entry */
		if (rq->q.start_padding)
			left &= ~CRL_WQE_INLINE;
		if (left & CRL_WQE_INLINE) {
			scx_refuse(dp, SCX_DP_R_RQ_INLINE, rq->q.rqn, rq->ci, wqe,
				(size_t)1 << rq->q.log_stride, left,
				crl_bswap64(scx_ld64(seg + 8)));
			scx_rq_fail(dp, rq, CRL_SYND_LOCAL_QP_OP, SCX_VENDOR_RX_WQE);
			return false;
		}
		room += left;
		if (left == 0 || nr_pieces == 0)
			continue;
		n = left < len ? left : len;
		dst = scx_scatter_at(dp, rq, wqe, seg, n);
		if (dst == NULL)
			return false;
		len -= n;
		while (n > 0) {
			uint32_t part = n < p->len ? n : p->len;

			scx_write(dp, rq->cq, dst, p->data, part);
			dst += part;
			n -= part;
			p->data += part;
			p->len -= part;
			if (p->len == 0) {
				p++;
				nr_pieces--;
			}
		}
	}
	if (len == 0)
		return true;
	scx_refuse(dp, SCX_DP_R_RQ_TOO_LONG, rq->q.rqn, rq->ci, wqe, (size_t)1 << rq->q.log_stride,
		room + len, room);
	scx_rq_fail(dp, rq, CRL_SYND_LOCAL_LENGTH, SCX_VENDOR_RX_WQE);
	return false;
}

/* Anything but one entry that takes the frame as it is. Returns the bytes delivered, 0 after an
 * error. */
SCX_SLOW uint32_t
scx_deliver_parts(struct scx_dp *dp, struct scx_rq *rq, const uint8_t *wqe,
	const struct scx_frame *f, bool strip)
{
	struct scx_piece p[3];
	uint32_t n = 0, len, fcs;

	if (strip) {
		p[n].data = f->data;
		p[n++].len = 12;
		p[n].data = f->data + 16;
		p[n++].len = f->len - 16;
	} else {
		p[n].data = f->data;
		p[n++].len = f->len;
	}
	len = strip ? f->len - 4 : f->len;
	if (rq->q.scatter_fcs) {
		fcs = scx_fcs(f->data, f->len);
		p[n].data = (const uint8_t *)&fcs; /* sent low byte first, as it lies here */
		p[n++].len = SCX_FCS_BYTES;
		len += SCX_FCS_BYTES;
	}
	return scx_scatter(dp, rq, wqe, p, n, len) ? len : 0;
}

#endif /* SCX_DP_SCATTER_H */
