/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first stage: noticing that a driver rang. A UAR page is ordinary memory here: its registers
 * are looked at in turn, and a value found is taken out, so that the same value rung again is
 * noticed. Stores that follow each other fast overwrite each other, and so what comes from one page
 * says only "look at the queues of this page": their doorbell records tell how far each was posted.
 * A record that moved without a ring is never looked at: as with hardware, nothing is sent then.
 *
 * What was rung may be a WQE's first qword (libmlx5, DPDK, Carillon) or an index with opcode 0
 * (NVSHMEM); only its queue number and index are used, and only to find mistakes.
 */
#ifndef SCX_DP_DOORBELL_H
#define SCX_DP_DOORBELL_H

#include "complete.h"

#define SCX_WQEBB_LOG 6u
CRL_STATIC_ASSERT(1u << SCX_WQEBB_LOG == CRL_WQEBB_BYTES, "a WQEBB");
#define SCX_SEND_REGS                                                                              \
	4u /* 0x800, 0x900, 0xa00, 0xb00: libmlx5 alternates between halves of a register */

SCX_FN void
scx_run_push(struct scx_dp *dp, struct scx_sq *sq)
{
	if (sq->runnable)
		return;
	sq->runnable = 1;
	dp->run[(dp->run_head + dp->run_nr++) & (SCX_DP_SQ_MAX - 1u)] = (uint32_t)(sq - dp->sq);
}

/* What one send register holds is checked against the queue it names. */
SCX_FN void
scx_doorbell_check(struct scx_dp *dp, uint32_t page, uint64_t raw)
{
	uint32_t w0 = crl_bswap32((uint32_t)raw), w1 = crl_bswap32((uint32_t)(raw >> 32));
	uint32_t sqn = w1 >> 8;
	uint16_t index = (uint16_t)(w0 >> 8), rec;
	const struct scx_sq *sq = &dp->sq[sqn & (SCX_DP_SQ_MAX - 1u)];

	if (SCX_UNLIKELY(!sq->used || sq->q.sqn != sqn || sq->q.uar_page != page)) {
		scx_refuse(dp, SCX_DP_R_DB_UNKNOWN_SQ, sqn, index, &raw, sizeof(raw), sqn, page);
		return;
	}
	if (SCX_UNLIKELY(sq->q.state == SCX_WQ_RST)) {
		scx_refuse(dp, SCX_DP_R_DB_NOT_READY, sqn, index, &raw, sizeof(raw), sq->q.state,
			page);
		return;
	}
	/* The record was stored before the register, so it is at or past what the register says. */
	scx_look(dp, sq->q.dbrec, CRL_DBREC_BYTES);
	rec = (uint16_t)scx_ld_be32(&sq->q.dbrec[CRL_DBREC_SND_WORD]);
	if (SCX_UNLIKELY((int16_t)(uint16_t)(index - rec) > 0))
		scx_refuse(
			dp, SCX_DP_R_DB_BEFORE_RECORD, sqn, index, &raw, sizeof(raw), index, rec);
}

SCX_SLOW void
scx_sq_record_overrun(struct scx_dp *dp, struct scx_sq *sq, uint32_t rec)
{
	scx_refuse(dp, SCX_DP_R_SQ_RECORD_OVERRUN, sq->q.sqn, sq->ci, sq->q.dbrec, CRL_DBREC_BYTES,
		rec, 1u << sq->q.log_depth);
	sq->q.state = SCX_WQ_ERR;
	sq->pi = sq->ci; /* nothing in the ring can be trusted, so nothing is flushed */
	scx_queue_error(dp, sq->q.sqn, sq->ci, CRL_SYND_LOCAL_QP_OP, false);
}

/*
 * Where a frame of a WQE starts depends on the length of the one before, so that reading on demand
 * would be one cache miss after the other; what is posted is asked for ahead instead.
 */
SCX_FN void
scx_sq_prefetch(struct scx_sq *sq)
{
	uint32_t mask = (1u << sq->q.log_depth) - 1u;

	if ((uint16_t)(sq->ahead - sq->ci) > SCX_FETCH_AHEAD)
		sq->ahead = sq->ci; /* it was overtaken */
	while (sq->ahead != sq->pi && (uint16_t)(sq->ahead - sq->ci) < SCX_FETCH_AHEAD)
		scx_prefetch_read(sq->q.ring.base + (size_t)(sq->ahead++ & mask) * CRL_WQEBB_BYTES);
}

/* Take the queue's record; runnable when something is posted. */
SCX_FN void
scx_sq_sample(struct scx_dp *dp, struct scx_sq *sq)
{
	uint16_t rec;

	if (sq->q.state == SCX_WQ_RST)
		return;
	scx_look(dp, sq->q.dbrec, CRL_DBREC_BYTES);
	rec = (uint16_t)crl_bswap32(scx_ld32_acquire(&sq->q.dbrec[CRL_DBREC_SND_WORD]));
	if (rec == sq->pi)
		return;
	if (SCX_UNLIKELY((uint16_t)(rec - sq->ci) > 1u << sq->q.log_depth)) {
		scx_sq_record_overrun(dp, sq, rec);
		return;
	}
	/* A record that goes back posts nothing; there is no distance to pull. */
	if (SCX_LIKELY((uint16_t)(rec - sq->ci) > (uint16_t)(sq->pi - sq->ci)))
		scx_look_ring(dp, &sq->q.ring, sq->q.log_depth, SCX_WQEBB_LOG, sq->pi, rec);
	sq->pi = rec;
	scx_run_push(dp, sq);
	scx_sq_prefetch(sq);
}

SCX_FN void
scx_cq_sample_arm(struct scx_dp *dp, struct scx_cq *cq, bool named)
{
	uint32_t arm;

	scx_look(dp, cq->q.dbrec, CRL_DBREC_BYTES);
	arm = crl_bswap32(scx_ld32_acquire(&cq->q.dbrec[CRL_DBREC_CQ_ARM]));
	/*
	 * What the register names is armed whatever its record says: mlx5_core's first arm word is
	 * all zeros. Others of the page may have been overwritten in the register; those whose
	 * record has changed were.
	 */
	if (!named && arm == cq->arm_seen)
		return;
	cq->arm_seen = arm;
	cq->armed = arm & CRL_CQ_ARM_SOLICITED ? 2 : 1;
	/* CQEs the driver had not seen when it armed: the event is due at once. */
	if (cq->armed == 1 && ((cq->pi - arm) & CRL_DBREC_CQ_MASK) != 0)
		scx_cq_event(dp, cq);
}

SCX_SLOW void
scx_arm_rung(struct scx_dp *dp, uint32_t page, uint64_t raw)
{
	uint32_t cqn = crl_bswap32((uint32_t)(raw >> 32)) & 0xffffffu;
	const struct scx_cq *named = &dp->cq[cqn & (SCX_DP_CQ_MAX - 1u)];
	uint32_t i;

	if (!named->used || named->q.cqn != cqn || named->q.uar_page != page)
		scx_refuse(dp, SCX_DP_R_CQ_ARM_UNKNOWN, cqn, 0, &raw, sizeof(raw), cqn, page);
	for (i = dp->page[page].cq; i != SCX_NONE; i = dp->cq[i].next)
		scx_cq_sample_arm(dp, &dp->cq[i], dp->cq[i].q.cqn == cqn);
}

/* No register of the page holds anything: five loads that wait for none of the others. */
CRL_FN bool
scx_page_quiet(const uint8_t *uar)
{
	uint64_t any = scx_ld64(uar + CRL_UAR_CQ_ARM);
	uint32_t r;

	for (r = 0; r < SCX_SEND_REGS; r++)
		any |= scx_ld64(uar + CRL_UAR_BF_REG + r * CRL_UAR_BF_REG_BYTES);
	return any == 0;
}

/* As hardware may: records that moved are seen although nobody rang yet. */
SCX_SLOW void
scx_records_unasked(struct scx_dp *dp)
{
	uint32_t i, s;

	if (scx_fault_rand(&dp->fault) % SCX_FAULT_RECORDS != 0)
		return;
	for (i = 0; i < dp->nr_active; i++)
		for (s = dp->page[dp->active[i]].sq; s != SCX_NONE; s = dp->sq[s].next)
			scx_sq_sample(dp, &dp->sq[s]);
}

/* Look at every page in use once; returns how many rang. */
SCX_FN unsigned
scx_doorbells(struct scx_dp *dp)
{
	unsigned rang = 0, here;
	uint32_t i, r, s;

	if (SCX_UNLIKELY(dp->fault.plan.records))
		scx_records_unasked(dp);
	for (i = 0; i < dp->nr_active; i++) {
		uint32_t nr = dp->active[i];
		uint8_t *uar = dp->uar + (size_t)nr * CRL_UAR_BYTES;
		uint64_t v;

		if (scx_page_quiet(uar))
			continue;
		v = scx_take64(uar + CRL_UAR_CQ_ARM);
		if (SCX_UNLIKELY(v != 0)) {
			scx_arm_rung(dp, nr, v);
			rang++;
		}
		for (r = 0, here = 0; r < SCX_SEND_REGS; r++) {
			v = scx_take64(uar + CRL_UAR_BF_REG + r * CRL_UAR_BF_REG_BYTES);
			if (SCX_LIKELY(v == 0))
				continue;
			scx_doorbell_check(dp, nr, v);
			here++;
		}
		if (here == 0)
			continue;
		rang += here;
		for (s = dp->page[nr].sq; s != SCX_NONE; s = dp->sq[s].next)
			scx_sq_sample(dp, &dp->sq[s]);
	}
	dp->stats.doorbells += rang;
	dp->stats.pci_tlps += rang;
	return rang;
}

#endif /* SCX_DP_DOORBELL_H */
