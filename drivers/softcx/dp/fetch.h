/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The next WQE of a send queue: fetched as contiguous bytes (a WQE that wraps in the ring is
 * copied), its control segment checked. What is wrong fails the WQE with a syndrome and the queue
 * with it; the WQEs after it are then flushed, one CQE each as their CE says.
 */
#ifndef SCX_DP_FETCH_H
#define SCX_DP_FETCH_H

#include "dma.h"
#include "doorbell.h"
#include "syndrome.h"

struct scx_wqe {
	const uint8_t *w; /* ds * 16 bytes; in the ring, or a copy in the stage */
	uint32_t bytes;
	uint16_t index, bbs;
	uint8_t opcode, ce;
};

/* Room for n bytes until the batch has left; the fill loop made sure that one WQE's worth is there.
 */
SCX_FN uint8_t *
scx_stage(struct scx_dp *dp, uint32_t n)
{
	uint8_t *p = dp->stage + dp->batch.staged;

	dp->batch.staged += (n + 63u) & ~63u;
	assert(dp->batch.staged <= SCX_STAGE_BYTES);
	return p;
}

SCX_FN void
scx_done(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q, enum scx_done_kind kind,
	uint8_t syndrome, uint8_t vendor)
{
	struct scx_done *d = &dp->batch.done[dp->batch.nr_done++];

	d->sq = sq;
	d->index = q->index;
	d->kind = (uint8_t)kind;
	d->opcode = q->opcode;
	d->ce = q->ce;
	d->syndrome = syndrome;
	d->vendor = vendor;
}

/* Refuse with the WQE's bytes and fail it; always false, for the callers' sake. */
SCX_SLOW bool
scx_wqe_refuse(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q,
	enum scx_dp_refuse why, uint8_t syndrome, uint64_t v0, uint64_t v1)
{
	/* a WQEBB is there even when ds says less, and a copy is made of longer ones only */
	scx_refuse(dp, why, sq->q.sqn, q->index, q->w, CRL_WQEBB_BYTES, v0, v1);
	sq->q.state = SCX_WQ_ERR;
	scx_done(dp, sq, q, SCX_DONE_ERROR, syndrome,
		why == SCX_DP_R_SEG_BOUNDS	  ? SCX_VENDOR_TX_BOUNDS
		: syndrome == CRL_SYND_LOCAL_PROT ? SCX_VENDOR_TX_KEY
						  : SCX_VENDOR_TX_WQE);
	return false;
}

/* What net_mlx5, libmlx5 and we never set, and what decides how to read on. */
SCX_FN bool
scx_check_ctrl(
	struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q, uint32_t w0, uint32_t w1)
{
	uint32_t ds = w1 & 0x3fu, least = q->opcode == CRL_OPCODE_NOP ? 1u : 2u;
	uint32_t w2 = scx_ld_be32(q->w + 8), w3;

	if (SCX_UNLIKELY((uint16_t)(w0 >> 8) != q->index))
		return scx_wqe_refuse(dp, sq, q, SCX_DP_R_WQE_INDEX, CRL_SYND_LOCAL_QP_OP,
			(uint16_t)(w0 >> 8), q->index);
	if (SCX_UNLIKELY(w1 >> 8 != sq->q.sqn))
		return scx_wqe_refuse(
			dp, sq, q, SCX_DP_R_WQE_QPN, CRL_SYND_LOCAL_QP_OP, w1 >> 8, sq->q.sqn);
	if (SCX_UNLIKELY(w0 >> 24 != 0 ||
			 (q->opcode != CRL_OPCODE_SEND && q->opcode != CRL_OPCODE_EMPW &&
				 q->opcode != CRL_OPCODE_NOP &&
				 (q->opcode != CRL_OPCODE_TSO || !sq->q.allow_tso))))
		return q->opcode == CRL_OPCODE_TSO && w0 >> 24 == 0
			       ? scx_wqe_refuse(dp, sq, q, SCX_DP_R_WQE_TSO, CRL_SYND_LOCAL_QP_OP,
					 q->bytes >= 32 ? scx_get_be16(q->w + 22) : 0, ds)
			       : scx_wqe_refuse(dp, sq, q, SCX_DP_R_WQE_OPCODE,
					 CRL_SYND_LOCAL_QP_OP, q->opcode, w0 >> 24);
	if (SCX_UNLIKELY(ds < least))
		return scx_wqe_refuse(
			dp, sq, q, SCX_DP_R_WQE_SIZE, CRL_SYND_LOCAL_QP_OP, ds, least);
	if (SCX_UNLIKELY((w1 & 0xc0u) != 0 || (w2 & 0xffffff00u) != 0))
		return scx_wqe_refuse(dp, sq, q, SCX_DP_R_WQE_RESERVED, CRL_SYND_LOCAL_QP_OP,
			(w1 & 0xc0u) | (w2 & 0x00ffff00u), w2 >> 24);
	w3 = scx_ld_be32(q->w + 12);
	if (SCX_UNLIKELY(w3 != 0 && !sq->imm_told)) {
		sq->imm_told = 1;
		scx_refuse(dp, SCX_DP_R_REMARK_SQ_IMM, sq->q.sqn, q->index, q->w, CRL_WQEBB_BYTES,
			w3, q->opcode);
	}
	return true;
}

/*
 * Take the WQE at the consumer index, which moves past it. False: it failed, and dp->batch.done
 * says so. The caller has seen that something is posted.
 */
SCX_FN bool
scx_fetch(struct scx_dp *dp, struct scx_sq *sq, struct scx_wqe *q)
{
	uint32_t depth = 1u << sq->q.log_depth, slot = sq->ci & (depth - 1u);
	uint32_t posted = (uint16_t)(sq->pi - sq->ci), w0, w1;
	const uint8_t *w = sq->q.ring.base + (size_t)slot * CRL_WQEBB_BYTES;

	w0 = scx_ld_be32(w);
	w1 = scx_ld_be32(w + 4);
	q->w = w;
	q->index = sq->ci;
	q->opcode = (uint8_t)w0;
	q->ce = w[11] >> CRL_WQE_CE_SHIFT & 3u;
	q->bytes = (w1 & 0x3fu) * CRL_WQE_SEG_BYTES;
	q->bbs = (uint16_t)((q->bytes + CRL_WQEBB_BYTES - 1u) / CRL_WQEBB_BYTES);
	if (SCX_UNLIKELY(q->bytes == 0))
		q->bbs = 1;
	if (SCX_UNLIKELY(q->bbs > posted)) {
		uint32_t bbs = q->bbs;

		q->bbs = (uint16_t)posted;
		q->bytes = slot + posted <= depth ? posted * CRL_WQEBB_BYTES : CRL_WQEBB_BYTES;
		sq->ci = sq->pi;
		return scx_wqe_refuse(
			dp, sq, q, SCX_DP_R_WQE_PAST_RECORD, CRL_SYND_LOCAL_QP_OP, bbs, posted);
	}
	if (SCX_UNLIKELY(sq->dump != 0)) {
		sq->dump--;
		scx_dump(dp, SCX_DP_DUMP_SQ, sq->q.sqn, q->index, &sq->q.ring, w, CRL_WQEBB_BYTES);
	}
	dp->stats.wqes++;
	dp->stats.wqe_bytes += q->bbs * CRL_WQEBB_BYTES;
	scx_pci_read(dp, q->bbs * CRL_WQEBB_BYTES);
	scx_sq_prefetch(sq);
	sq->ci = (uint16_t)(sq->ci + q->bbs);
	if (SCX_UNLIKELY(slot + q->bbs > depth)) {
		uint32_t first = (depth - slot) * CRL_WQEBB_BYTES;
		uint8_t *copy = scx_stage(dp, q->bytes);

		memcpy(copy, w, first);
		memcpy(copy + first, sq->q.ring.base, q->bytes - first);
		q->w = copy;
	}
	return scx_check_ctrl(dp, sq, q, w0, w1);
}

/* A queue in ERR: the next posted WQE is given back unexecuted. */
SCX_SLOW void
scx_flush_one(struct scx_dp *dp, struct scx_sq *sq)
{
	const uint8_t *w = sq->q.ring.base +
			   (size_t)(sq->ci & ((1u << sq->q.log_depth) - 1u)) * CRL_WQEBB_BYTES;
	uint32_t ds = scx_ld_be32(w + 4) & 0x3fu, posted = (uint16_t)(sq->pi - sq->ci);
	uint32_t bbs = ds == 0 ? 1u : (ds + 3u) / 4u;
	struct scx_wqe q;

	q.w = w;
	q.bytes = CRL_WQEBB_BYTES;
	q.index = sq->ci;
	q.bbs = (uint16_t)(bbs < posted ? bbs : posted);
	q.opcode = w[3];
	q.ce = w[11] >> CRL_WQE_CE_SHIFT & 3u;
	sq->ci = (uint16_t)(sq->ci + q.bbs);
	scx_done(dp, sq, &q, SCX_DONE_FLUSH, CRL_SYND_WR_FLUSH, SCX_VENDOR_FLUSH);
}

#endif /* SCX_DP_FETCH_H */
