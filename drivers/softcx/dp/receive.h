/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame into an RQ. An RQ has no register: its record is read again when the credit seen last has
 * run out, and only then. A receive WQE is a scatter list of 16-byte entries; the frame must fit,
 * or the WQE fails with a local length error and the queue with it. What the NIC learned goes into
 * the CQE: checks, hash, flow tag, stripped tag.
 *
 * Frames are taken in groups, in three passes, so that the cache misses of one frame (its header,
 * the receive WQE, the buffer, the CQE) overlap with those of the others.
 */
#ifndef SCX_DP_RECEIVE_H
#define SCX_DP_RECEIVE_H

#include "checksum.h"
#include "complete.h"
#include "dma.h"
#include "steer.h"

#define SCX_RX_GROUP  32u
#define SCX_FCS_BYTES 4u

/* What the three passes know of one frame. */
struct scx_rx {
	struct scx_headers h;
	struct scx_verdict v;
	struct scx_rq *rq;
	uint32_t hash, flow_tag;
	uint8_t hash_type, dest;
};

/* Vendor syndromes, as real cards' dumps in public reports show them. */
#define SCX_VENDOR_RX_LENGTH 0x69u
#define SCX_VENDOR_RX_PROT   0x52u
#define SCX_VENDOR_FLUSH     0xf9u

/* All that is posted comes back with a flush error: what the queue holds when it enters ERR. */
SCX_SLOW void
scx_rq_flush(struct scx_dp *dp, struct scx_rq *rq)
{
	uint16_t rec = (uint16_t)crl_bswap32(scx_ld32_acquire(&rq->q.dbrec[CRL_DBREC_RCV_WORD]));

	if ((uint16_t)(rec - rq->ci) > 1u << rq->q.log_depth)
		rec = rq->ci;
	rq->pi = rec;
	if (!rq->q.flush_in_error)
		return;
	for (; rq->ci != rq->pi; rq->ci++) {
		if (!scx_cqe_error(dp, rq->cq, CRL_CQE_RESP_ERR, rq->q.user_index, rq->q.rqn,
			    rq->ci, CRL_SYND_WR_FLUSH, SCX_VENDOR_FLUSH))
			return;
	}
}

SCX_SLOW void
scx_rq_fail(struct scx_dp *dp, struct scx_rq *rq, uint8_t syndrome, uint8_t vendor)
{
	dp->stats.rx_errors++;
	rq->q.state = SCX_WQ_ERR;
	scx_queue_error(dp, rq->q.rqn, rq->ci, syndrome, true);
	(void)scx_cqe_error(dp, rq->cq, CRL_CQE_RESP_ERR, rq->q.user_index, rq->q.rqn, rq->ci,
		syndrome, vendor);
	rq->ci++;
	scx_rq_flush(dp, rq);
}

/* Sample the record; true when there is a WQE. */
SCX_FN bool
scx_rq_refill(struct scx_dp *dp, struct scx_rq *rq)
{
	uint16_t rec = (uint16_t)crl_bswap32(scx_ld32_acquire(&rq->q.dbrec[CRL_DBREC_RCV_WORD]));

	if (SCX_UNLIKELY((uint16_t)(rec - rq->ci) > 1u << rq->q.log_depth)) {
		scx_refuse(dp, SCX_DP_R_RQ_RECORD_OVERRUN, rq->q.rqn, rq->ci, rq->q.dbrec,
			CRL_DBREC_BYTES, rec, 1u << rq->q.log_depth);
		rq->q.state = SCX_WQ_ERR;
		scx_queue_error(dp, rq->q.rqn, rq->ci, CRL_SYND_LOCAL_QP_OP, true);
		return false;
	}
	rq->pi = rec;
	return rq->ci != rq->pi;
}

CRL_FN const uint8_t *
scx_rq_wqe(const struct scx_rq *rq, uint16_t index)
{
	return rq->q.ring.base +
	       ((size_t)(index & ((1u << rq->q.log_depth) - 1u)) << rq->q.log_stride);
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
		if (left & CRL_WQE_INLINE) {
			scx_refuse(dp, SCX_DP_R_RQ_INLINE, rq->q.rqn, rq->ci, wqe,
				(size_t)1 << rq->q.log_stride, left,
				crl_bswap64(scx_ld64(seg + 8)));
			scx_rq_fail(dp, rq, CRL_SYND_LOCAL_QP_OP, SCX_VENDOR_RX_PROT);
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

			memcpy(dst, p->data, part);
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
	scx_rq_fail(dp, rq, CRL_SYND_LOCAL_LENGTH, SCX_VENDOR_RX_LENGTH);
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

SCX_FN void
scx_complete_receive(
	struct scx_dp *dp, struct scx_rq *rq, const struct scx_rx *x, uint32_t len, bool strip)
{
	uint32_t l3l4 = (uint32_t)x->h.l3_type << CRL_CQE_L3_SHIFT |
			(uint32_t)x->h.l4_type << CRL_CQE_L4_SHIFT |
			(x->h.frag ? CRL_CQE_IP_FRAG : 0) | (x->h.options ? CRL_CQE_IP_EXT : 0) |
			(strip ? CRL_CQE_CV : 0);
	struct scx_cqe c;

	c.w[0] = 0;
	c.w[1] = scx_be_pair(0, x->hash);
	c.w[2] = x->hash_type | (uint64_t)x->v.complete << 32;
	c.w[3] = scx_be_pair(0, (uint32_t)x->v.ok << 24 | l3l4 << 16 | (strip ? x->h.vlan : 0u));
	c.w[4] = scx_be_pair(rq->q.user_index, 0);
	c.w[5] = scx_be_pair(0, len);
	c.w[6] = crl_bswap64(dp->clock);
	c.w[7] = scx_cqe_tail(x->flow_tag, rq->ci, CRL_CQE_RESP_SEND);
	if (SCX_UNLIKELY(!scx_cqe_write(dp, rq->cq, &c, true))) {
		rq->q.state = SCX_WQ_ERR;
		scx_queue_error(dp, rq->q.rqn, rq->ci, 0, true);
		return;
	}
	rq->ci++;
	dp->stats.rx_frames++;
	dp->stats.rx_bytes += len;
}

/* Third pass: one frame into its RQ. */
SCX_FN void
scx_receive_one(struct scx_dp *dp, const struct scx_frame *f, const struct scx_rx *x)
{
	struct scx_rq *rq = x->rq;
	const uint8_t *wqe;
	uint32_t len = f->len, room;
	bool strip;
	uint8_t *dst;

	if (SCX_UNLIKELY(rq == NULL || rq->q.state != SCX_WQ_RDY)) {
		if (x->dest == SCX_FLOW_DROP)
			dp->stats.rx_dropped++;
		else
			dp->stats.rx_no_match++;
		return;
	}
	if (SCX_UNLIKELY(rq->ci == rq->pi) && !scx_rq_refill(dp, rq)) {
		dp->stats.rx_no_buffer++;
		dp->out_of_buffer[rq->q.counter_set & (SCX_DP_COUNTER_MAX - 1u)]++;
		return;
	}
	wqe = scx_rq_wqe(rq, rq->ci);
	strip = rq->q.vlan_strip && x->h.nr_tags > 0 && scx_get_be16(f->data + 12) == SCX_ETH_VLAN;
	room = scx_ld_be32(wqe);
	if (SCX_LIKELY(len <= room && !(room & CRL_WQE_INLINE) && !strip && !rq->q.scatter_fcs)) {
		dst = scx_scatter_at(dp, rq, wqe, wqe, len);
		if (SCX_UNLIKELY(dst == NULL))
			return;
		scx_copy(dst, f->data, len);
	} else {
		len = scx_deliver_parts(dp, rq, wqe, f, strip);
		if (len == 0)
			return;
	}
	scx_complete_receive(dp, rq, x, len, strip);
}

/* Second pass: where will the frame go; have receive WQE, buffer and CQE on their way into the
 * cache. */
SCX_FN void
scx_receive_prefetch(struct scx_dp *dp, struct scx_rq *rq, uint16_t ahead)
{
	uint16_t index = (uint16_t)(rq->ci + ahead);
	const uint8_t *wqe = scx_rq_wqe(rq, index);
	const struct scx_dp_mkey *m;
	uint8_t *dst;

	scx_prefetch_write(scx_cq_slot(rq->cq, rq->cq->pi + ahead));
	scx_prefetch_read(scx_rq_wqe(rq, (uint16_t)(index + 16u)));
	if ((uint16_t)(rq->pi - rq->ci) <= ahead)
		return; /* not known to be posted */
	m = scx_mkey(dp, &rq->mkey, scx_ld_be32(wqe + 4), rq->q.pdn);
	dst = m == NULL ? NULL : scx_mkey_at(m, crl_bswap64(scx_ld64(wqe + 8)), CRL_WQEBB_BYTES);
	if (dst != NULL)
		scx_prefetch_write(dst);
}

/* nr <= SCX_RX_GROUP frames, each of 14 bytes or more. */
SCX_FN void
scx_receive_group(struct scx_dp *dp, const struct scx_frame *f, uint32_t nr)
{
	struct scx_rx x[SCX_RX_GROUP];
	const struct scx_rq *last = NULL;
	uint16_t ahead = 0;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		scx_parse(&x[i].h, f[i].data, f[i].len);
		scx_verify(&x[i].v, &x[i].h, f[i].data, f[i].len);
		if (SCX_UNLIKELY(f[i].flags & SCX_FRAME_CSUM_VALID))
			x[i].v.ok |= (x[i].h.l3_end != 0 ? CRL_CQE_L3_OK : 0) |
				     (x[i].h.l4 != 0 ? CRL_CQE_L4_OK : 0);
	}
	for (i = 0; i < nr; i++) {
		const struct scx_flow *fl = scx_steer(dp, &x[i].h);

		x[i].rq = fl->rq;
		x[i].hash = fl->hash;
		x[i].hash_type = fl->hash_type;
		x[i].flow_tag = fl->flow_tag;
		x[i].dest = fl->dest;
		if (fl->rq == NULL)
			continue;
		ahead = fl->rq == last ? (uint16_t)(ahead + 1u) : 0;
		last = fl->rq;
		scx_receive_prefetch(dp, fl->rq, ahead);
	}
	for (i = 0; i < nr; i++)
		scx_receive_one(dp, &f[i], &x[i]);
}

SCX_FN void
scx_receive(struct scx_dp *dp, const struct scx_frame *f, uint32_t nr)
{
	uint32_t n;

	dp->stats.rx_wire += nr;
	for (; nr > 0; nr -= n, f += n) {
		n = nr < SCX_RX_GROUP ? nr : SCX_RX_GROUP;
		scx_receive_group(dp, f, n);
	}
}

#endif /* SCX_DP_RECEIVE_H */
