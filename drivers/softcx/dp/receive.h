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

#include "complete.h"
#include "examine.h"
#include "scatter.h"
#include "steer.h"

#define SCX_RX_GROUP 32u
#define SCX_RX_AHEAD 32u /* receive WQEs from the one in use to the one whose buffer is fetched */

/* What the three passes know of one frame. */
struct scx_rx {
	struct scx_seen seen;
	struct scx_target to;
	uint8_t *dst;	/* where the second pass found that it goes; NULL: find it again */
	uint16_t index; /* of the receive WQE, when dst is set */
};

/* Counted a group at a time. */
struct scx_rx_sum {
	uint64_t frames, bytes;
};

SCX_FN void
scx_complete_receive(struct scx_dp *dp, struct scx_rq *rq, const struct scx_rx *x, uint32_t len,
	bool strip, struct scx_rx_sum *sum)
{
	uint32_t tag = strip ? CRL_CQE_CV << 16 | x->seen.vlan : 0u;
	struct scx_cqe c;

	c.w[0] = 0;
	c.w[1] = scx_be_pair(0, x->to.hash);
	c.w[2] = x->to.hash_type | (uint64_t)x->seen.complete << 32;
	c.w[3] = scx_be_pair(0, x->seen.info | tag);
	c.w[4] = scx_be_pair(rq->q.user_index, 0);
	c.w[5] = scx_be_pair(0, len);
	c.w[6] = crl_bswap64(dp->clock);
	c.w[7] = scx_cqe_tail(x->to.flow_tag, rq->ci, CRL_CQE_RESP_SEND);
	if (SCX_UNLIKELY(!scx_cqe_write(dp, rq->cq, &c, true))) {
		rq->q.state = SCX_WQ_ERR;
		scx_queue_error(dp, rq->q.rqn, rq->ci, 0, true);
		return;
	}
	if (SCX_UNLIKELY(rq->dump != 0)) {
		rq->dump--;
		scx_dump(dp, SCX_DP_DUMP_RQ, rq->q.rqn, rq->ci, &rq->q.ring,
			scx_rq_wqe(rq, rq->ci), 1u << rq->q.log_stride);
	}
	rq->ci++;
	sum->frames++;
	sum->bytes += len;
	scx_pci_write(dp, len);
	scx_pci_read(dp, 1u << rq->q.log_stride); /* the receive WQE */
	dp->stats.rq_wqe_bytes += 1u << rq->q.log_stride;
}

/* No buffer, no rule, no ready queue: counted and gone. */
SCX_SLOW void
scx_receive_lost(struct scx_dp *dp, const struct scx_rx *x)
{
	struct scx_rq *rq = x->to.rq;

	if (x->to.dest == SCX_FLOW_DROP) {
		dp->stats.rx_dropped++;
	} else if (rq == NULL || rq->q.state != SCX_WQ_RDY) {
		dp->stats.rx_no_match++;
	} else {
		dp->stats.rx_no_buffer++;
		dp->out_of_buffer[rq->q.counter_set & (SCX_DP_COUNTER_MAX - 1u)]++;
	}
}

/* A frame that the second pass left open: every case, and every error. */
SCX_SLOW void
scx_receive_any(struct scx_dp *dp, const struct scx_frame *f, const struct scx_rx *x,
	struct scx_rx_sum *sum)
{
	struct scx_rq *rq = x->to.rq;
	const uint8_t *wqe;
	uint32_t len = f->len, room;
	bool strip;
	uint8_t *dst;

	if (rq == NULL || rq->q.state != SCX_WQ_RDY ||
		(rq->ci == rq->pi && !scx_rq_refill(dp, rq))) {
		scx_receive_lost(dp, x);
		return;
	}
	wqe = scx_rq_wqe(rq, rq->ci);
	strip = rq->q.vlan_strip && x->seen.tagged;
	room = scx_ld_be32(wqe);
	if (len <= room && !(room & CRL_WQE_INLINE) && !strip && !rq->q.scatter_fcs) {
		dst = scx_scatter_at(dp, rq, wqe, wqe, len);
		if (dst == NULL)
			return;
		scx_write(dp, rq->cq, dst, f->data, len);
	} else {
		len = scx_deliver_parts(dp, rq, wqe, f, strip);
		if (len == 0)
			return;
	}
	scx_complete_receive(dp, rq, x, len, strip, sum);
}

/*
 * Buffers are used in the order in which they were posted, so that those of frames to come can be
 * brought into the cache now, with their CQEs: while the driver works on this group, mostly.
 */
SCX_FN void
scx_receive_prefetch(struct scx_dp *dp, struct scx_rq *rq, uint16_t index, uint32_t len)
{
	const uint8_t *wqe = scx_rq_wqe(rq, (uint16_t)(index + SCX_RX_AHEAD));
	const struct scx_dp_mkey *m;
	const uint8_t *dst;

	if ((uint16_t)(rq->pi - index) <= SCX_RX_AHEAD)
		return;
	scx_prefetch_write(
		scx_cq_slot(rq->cq, rq->cq->pi + (uint16_t)(index - rq->ci) + SCX_RX_AHEAD));
	scx_prefetch_read(wqe + 256);
	m = scx_mkey(dp, &rq->mkey, scx_ld_be32(wqe + 4), rq->q.pdn);
	if (SCX_UNLIKELY(m == NULL))
		return;
	dst = scx_mkey_at(m, crl_bswap64(scx_ld64(wqe + 8)), len);
	if (SCX_UNLIKELY(dst == NULL))
		return;
	scx_prefetch_write(dst);
	if (len > CRL_WQEBB_BYTES)
		scx_prefetch_write(dst + CRL_WQEBB_BYTES);
}

/*
 * Second pass: the receive WQE of the frame, and its buffer if all is as it should be. Nothing is
 * decided here: dst stays NULL when in doubt.
 */
SCX_FN void
scx_receive_reserve(struct scx_dp *dp, struct scx_rx *x, uint32_t len)
{
	struct scx_rq *rq = x->to.rq;
	const struct scx_dp_mkey *m;
	const uint8_t *wqe;
	uint32_t room;

	x->dst = NULL;
	if (SCX_UNLIKELY(rq == NULL || rq->q.state != SCX_WQ_RDY))
		return;
	if (SCX_UNLIKELY(rq->look == rq->pi) && !scx_rq_refill(dp, rq))
		return;
	x->index = rq->look++;
	wqe = scx_rq_wqe(rq, x->index);
	room = scx_ld_be32(wqe);
	m = scx_mkey(dp, &rq->mkey, scx_ld_be32(wqe + 4), rq->q.pdn);
	if (SCX_UNLIKELY(len > room || (room & CRL_WQE_INLINE) || m == NULL || !m->local_write ||
			 (rq->q.vlan_strip && x->seen.tagged) || rq->q.scatter_fcs))
		return;
	x->dst = scx_mkey_at(m, crl_bswap64(scx_ld64(wqe + 8)), len);
	scx_receive_prefetch(dp, rq, x->index, len);
}

/* The fault plan's turn: true when it failed the receive WQE that this frame would have taken. */
SCX_SLOW bool
scx_receive_fault(struct scx_dp *dp, struct scx_rq *rq)
{
	if (rq == NULL || rq->q.state != SCX_WQ_RDY ||
		(rq->ci == rq->pi && !scx_rq_refill(dp, rq)) ||
		++dp->fault.receives != dp->fault.plan.recv_error)
		return false;
	scx_refuse(dp, SCX_DP_R_REMARK_FAULT_RECEIVE, rq->q.rqn, rq->ci, scx_rq_wqe(rq, rq->ci),
		(size_t)1 << rq->q.log_stride, dp->fault.receives, CRL_SYND_LOCAL_PROT);
	scx_rq_fail(dp, rq, CRL_SYND_LOCAL_PROT, SCX_VENDOR_RX_PROT);
	return true;
}

/* Third pass: the frame is received. Its bytes are in place when the second pass found where. */
SCX_FN void
scx_receive_one(struct scx_dp *dp, const struct scx_frame *f, const struct scx_rx *x,
	struct scx_rx_sum *sum)
{
	struct scx_rq *rq = x->to.rq;

	if (SCX_UNLIKELY(dp->fault.plan.recv_error != 0) && scx_receive_fault(dp, x->to.rq))
		return;
	/* An error in between may have moved the queue: then what was found is worth nothing. */
	if (SCX_UNLIKELY(x->dst == NULL || rq->ci != x->index || rq->q.state != SCX_WQ_RDY)) {
		scx_receive_any(dp, f, x, sum);
		return;
	}
	scx_complete_receive(dp, rq, x, f->len, false, sum);
}

/* nr <= SCX_RX_GROUP frames, each of 14 bytes or more. */
SCX_FN void
scx_receive_group(struct scx_dp *dp, const struct scx_frame *f, uint32_t nr)
{
	uint64_t misses = dp->stats.flow_misses;
	struct scx_rx_sum sum = {0, 0};
	struct scx_rx x[SCX_RX_GROUP];
	uint32_t i;

	for (i = 0; i < nr; i++)
		scx_examine(&x[i].seen, &f[i]);
	for (i = 0; i < nr; i++) {
		x[i].to = *scx_steer(dp, x[i].seen.key);
		scx_receive_reserve(dp, &x[i], f[i].len);
	}
	dp->stats.flow_hits += nr - (dp->stats.flow_misses - misses);
	/*
	 * All payloads, then all CQEs: two short loops keep more cache lines on their way than one
	 * long one, for a store buffer holds so many stores and no more.
	 */
	for (i = 0; i < nr; i++) {
		if (SCX_LIKELY(x[i].dst != NULL))
			scx_write(dp, x[i].to.rq->cq, x[i].dst, f[i].data, f[i].len);
	}
	for (i = 0; i < nr; i++)
		scx_receive_one(dp, &f[i], &x[i], &sum);
	scx_cqe_publish(dp);
	dp->stats.rx_frames += sum.frames;
	dp->stats.rx_bytes += sum.bytes;
	for (i = 0; i < nr; i++) {
		if (x[i].to.rq != NULL)
			x[i].to.rq->look = x[i].to.rq->ci;
	}
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
