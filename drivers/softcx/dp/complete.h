/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last stage of both directions: a CQE into the driver's CQ. The body is written first, the
 * qword with owner bit and opcode last, and the owner bit is the lap of the ring. CQEs become valid
 * in the order in which they were written, and at the latest at the end of a step. Room is judged
 * by the driver's consumer record, read only when the copy of it says that the CQ is full.
 *
 * A CQ whose driver did not read in time fails: an event goes up, and its queues stop at their next
 * completion. Events follow the arm state that doorbell.h keeps.
 */
#ifndef SCX_DP_COMPLETE_H
#define SCX_DP_COMPLETE_H

#include "dump.h"
#include "late.h"
#include "state.h"
#include "syndrome.h"

SCX_SLOW void
scx_cqe_publish_late(struct scx_dp *dp)
{
	uint32_t i;

	for (i = 0; i < dp->pending.nr; i++) {
		struct scx_late_op *op = scx_late_new(dp, SCX_LATE_CQE, dp->pending.cqe[i].cq);

		op->at = dp->pending.cqe[i].at;
		op->tail = dp->pending.cqe[i].tail;
	}
	dp->pending.nr = 0;
}

/*
 * The same through a copy engine: bodies first, then the qwords that make them valid. CQEs that lie
 * together go together; over there their qwords are what they are here until the second push.
 */
SCX_SLOW void
scx_cqe_publish_far(struct scx_dp *dp)
{
	uint32_t from, to, i, pass;

	for (pass = 0; pass < 2u; pass++) {
		for (from = 0; from < dp->pending.nr; from = to) {
			const uint8_t *first = dp->pending.cqe[from].at - 56;

			for (to = from; to < dp->pending.nr &&
					dp->pending.cqe[to].at ==
						first + 56 + (size_t)(to - from) * CRL_CQE_BYTES;
				to++)
				;
			for (i = from; i < to && pass == 1u; i++)
				scx_st64_release(
					dp->pending.cqe[i].at, dp->pending.cqe[i].tail);
			scx_push(dp, first, (size_t)(to - from) * CRL_CQE_BYTES);
		}
		/* the engine has read the old qwords before they change here */
		if (pass == 0 && dp->pending.nr != 0)
			scx_settle(dp);
	}
}

/* Make what was written valid. */
SCX_FN void
scx_cqe_publish(struct scx_dp *dp)
{
	uint32_t i;

	if (SCX_UNLIKELY(dp->late != NULL)) {
		scx_cqe_publish_late(dp);
		return;
	}
	if (SCX_UNLIKELY(SCX_IS_FAR(dp)))
		scx_cqe_publish_far(dp);
	for (i = 0; i < dp->pending.nr; i++)
		scx_st64_release(dp->pending.cqe[i].at, dp->pending.cqe[i].tail);
	dp->stats.cqes += dp->pending.nr;
	dp->stats.pci_written += dp->pending.nr * CRL_CQE_BYTES;
	dp->stats.pci_tlps += dp->pending.nr;
	dp->pending.nr = 0;
}

/* The eight qwords of a CQE as they lie in memory; built in registers, stored once. */
struct scx_cqe {
	uint64_t w[8];
};

/* Bytes b (big-endian 32-bit words hi, lo) of one qword in memory order. */
CRL_FN uint64_t
scx_be_pair(uint32_t hi, uint32_t lo)
{
	return (uint64_t)crl_bswap32(lo) << 32 | crl_bswap32(hi);
}

SCX_SLOW void
scx_cq_overrun(struct scx_dp *dp, struct scx_cq *cq)
{
	struct scx_dp_report *r;

	cq->failed = 1;
	scx_refuse(dp, SCX_DP_R_CQ_OVERRUN, cq->q.cqn, cq->pi, cq->q.dbrec, CRL_DBREC_BYTES,
		cq->pi & CRL_DBREC_CQ_MASK, cq->ci & CRL_DBREC_CQ_MASK);
	r = scx_report(dp, SCX_DP_CQ_ERROR, cq->q.cqn);
	if (r != NULL)
		r->value[0] = 1; /* PRM, CQ error event: syndrome 1, overrun */
}

CRL_FN uint8_t *
scx_cq_slot(const struct scx_cq *cq, uint32_t index)
{
	return cq->q.ring.base + (size_t)(index & cq->mask) * CRL_CQE_BYTES;
}

/* First lap: the driver must have put the invalid opcode there, or it took old bytes for a CQE. */
SCX_SLOW void
scx_cq_check_init(struct scx_dp *dp, struct scx_cq *cq, const uint8_t *cqe)
{
	if (cq->init_told || crl_cqe_opcode(cqe[63]) == CRL_CQE_INVALID)
		return;
	cq->init_told = 1;
	scx_refuse(
		dp, SCX_DP_R_CQ_NOT_INIT, cq->q.cqn, cq->pi, cqe, CRL_CQE_BYTES, cq->pi, cqe[63]);
}

/* The driver is done with entries [from, to): all but the word it polls is filled. */
SCX_SLOW void
scx_cq_overwrite(struct scx_cq *cq, uint32_t from, uint32_t to)
{
	for (; from != to; from++)
		memset(scx_cq_slot(cq, from), SCX_FAULT_FILL,
			offsetof(struct crl_cqe64, wqe_counter));
}

/*
 * How many CQEs fit, by the driver's record if the copy of it says none. Indices are compared
 * modulo twice the depth, which tells full from empty: net_mlx5 writes its send CQs' record from a
 * 16-bit counter.
 */
SCX_FN uint32_t
scx_cq_room(struct scx_dp *dp, struct scx_cq *cq)
{
	uint32_t depth = 1u << cq->q.log_depth, used, was = cq->ci;

	if (cq->q.overrun_ignore) /* collapsed alone is not enough: its CQEs count all the same */
		return depth;
	used = (cq->pi - cq->ci) & (2u * depth - 1u);
	if (used < depth)
		return depth - used;
	scx_look(dp, cq->q.dbrec, CRL_DBREC_BYTES);
	cq->ci = crl_bswap32(scx_ld32_acquire(&cq->q.dbrec[CRL_DBREC_CQ_CI]));
	used = (cq->pi - cq->ci) & (2u * depth - 1u);
	if (SCX_UNLIKELY(dp->fault.plan.overwrite) && used <= depth)
		scx_cq_overwrite(cq, was, was + ((cq->ci - was) & (2u * depth - 1u)));
	return used < depth ? depth - used : 0;
}

/* cq->limit is reached: look closer, and set it anew. False when the CQ has failed. */
SCX_FN bool
scx_cq_prepare(struct scx_dp *dp, struct scx_cq *cq)
{
	bool first_lap = cq->pi >> cq->q.log_depth == 0;
	uint32_t room;

	if (cq->failed || !cq->used)
		return false;
	room = scx_cq_room(dp, cq);
	if (room == 0) {
		scx_cq_overrun(dp, cq);
		return false;
	}
	cq->limit = cq->pi + room;
	if (cq->pi == 0) /* as the driver left it, once: from now on the NIC alone writes there */
		scx_look(dp, cq->q.ring.base, ((size_t)cq->mask + 1u) * CRL_CQE_BYTES);
	if (SCX_UNLIKELY(first_lap) && (!cq->q.collapsed || cq->pi == 0)) {
		scx_cq_check_init(dp, cq, scx_cq_slot(cq, cq->pi));
		cq->limit = cq->pi + 1u;
	}
	return true;
}

SCX_SLOW void
scx_cq_event(struct scx_dp *dp, struct scx_cq *cq)
{
	struct scx_dp_report *r;

	scx_cqe_publish(dp); /* whoever is woken finds the CQE */
	scx_settle(dp);
	cq->armed = 0;
	if (dp->late != NULL) {
		scx_late_new(dp, SCX_LATE_EVENT, cq)->tail = cq->pi;
		return;
	}
	r = scx_report(dp, SCX_DP_CQ_EVENT, cq->q.cqn);
	if (r != NULL)
		r->index = cq->pi;
}

/* The CQE that was written last, made valid and read back from the driver's memory; one that the
 * fault plan holds back is told of as it will be. */
SCX_SLOW void
scx_cqe_dump(struct scx_dp *dp, struct scx_cq *cq)
{
	const uint8_t *e = scx_cq_slot(cq, cq->pi - 1u);
	uint64_t tail = dp->pending.cqe[dp->pending.nr - 1u].tail;
	uint32_t before, last;

	cq->dump--;
	scx_cqe_publish(dp);
	before = dp->nr_reports;
	scx_dump(dp, SCX_DP_DUMP_CQ, cq->q.cqn, cq->pi - 1u, &cq->q.ring, e, CRL_CQE_BYTES);
	last = (dp->report_head + dp->nr_reports - 1u) & (SCX_REPORTS - 1u);
	if (dp->late != NULL && dp->nr_reports != before)
		memcpy(dp->report[last].bytes + 56, &tail, sizeof(tail));
}

/*
 * Write the CQE; op_own's opcode is in the top byte of w[7], the owner bit is added here.
 * solicited: counts for a CQ armed for solicited events only (error CQEs always do).
 */
SCX_FN bool
scx_cqe_write(struct scx_dp *dp, struct scx_cq *cq, const struct scx_cqe *c, bool solicited)
{
	uint8_t *e;

	if (SCX_UNLIKELY(cq->pi == cq->limit) && !scx_cq_prepare(dp, cq))
		return false;
	e = scx_cq_slot(cq, cq->pi);
	/*
	 * Word by word: a copy by wider moves would load what was just stored in halves, which
	 * waits until all earlier stores, the payload's among them, have reached the cache.
	 */
	scx_st64(e, c->w[0]);
	scx_st64(e + 8, c->w[1]);
	scx_st64(e + 16, c->w[2]);
	scx_st64(e + 24, c->w[3]);
	scx_st64(e + 32, c->w[4]);
	scx_st64(e + 40, c->w[5]);
	scx_st64(e + 48, c->w[6]);
	if (SCX_UNLIKELY(dp->pending.nr == SCX_PENDING_MAX))
		scx_cqe_publish(dp);
	dp->pending.cqe[dp->pending.nr].cq = cq;
	dp->pending.cqe[dp->pending.nr].at = e + 56;
	dp->pending.cqe[dp->pending.nr++].tail =
		c->w[7] | (uint64_t)(cq->pi >> cq->q.log_depth & 1u) << 56;
	cq->pi++;
	if (SCX_UNLIKELY(cq->dump != 0))
		scx_cqe_dump(dp, cq);
	if (SCX_UNLIKELY(cq->armed != 0) && (cq->armed == 1 || solicited))
		scx_cq_event(dp, cq);
	return true;
}

/* The last qword: sop_drop_qpn, wqe_counter, signature 0, opcode. */
CRL_FN uint64_t
scx_cqe_tail(uint32_t sop_qpn, uint16_t counter, uint8_t opcode)
{
	return scx_be_pair(sop_qpn, (uint32_t)counter << 16 | (uint32_t)opcode << 4);
}

SCX_SLOW bool
scx_cqe_error(struct scx_dp *dp, struct scx_cq *cq, uint8_t opcode, uint32_t user_index,
	uint32_t op_qpn, uint16_t counter, uint8_t syndrome, uint8_t vendor)
{
	uint32_t hw = scx_hw_syndrome(syndrome, vendor);
	uint64_t owner = (uint64_t)(cq->pi >> cq->q.log_depth & 1u) << 56;
	struct scx_cqe c;

	memset(&c, 0, sizeof(c));
	c.w[4] = scx_be_pair(user_index, 0);
	c.w[6] = scx_be_pair(
		0, (hw & 0xffu) << 24 | (hw >> 8) << 16 | (uint32_t)vendor << 8 | syndrome);
	/* error CQEs are solicited ones: bit 1 of the last byte */
	c.w[7] = scx_cqe_tail(op_qpn, counter, opcode) | 2ull << 56 | owner;
	c.w[7] |= (uint64_t)scx_cqe_signature(c.w, cq->pi) << 48;
	return scx_cqe_write(dp, cq, &c, true);
}

/* A queue went to ERR by itself: the control side learns of it, as firmware would by itself. */
SCX_SLOW void
scx_queue_error(struct scx_dp *dp, uint32_t num, uint16_t index, uint8_t syndrome, bool is_rq)
{
	struct scx_dp_report *r = scx_report(dp, SCX_DP_QUEUE_ERROR, num);

	if (r == NULL)
		return;
	r->index = index;
	r->value[0] = syndrome;
	r->value[1] = is_rq;
}

SCX_SLOW void
scx_complete_failed(struct scx_dp *dp, const struct scx_done *d)
{
	struct scx_sq *sq = d->sq;

	if (d->kind == SCX_DONE_ERROR) {
		dp->stats.tx_errors++;
		scx_queue_error(dp, sq->q.sqn, d->index, d->syndrome, false);
	} else if (!sq->q.flush_in_error) {
		return;
	}
	/* CE 1 asks for a CQE at the first failure only; 0 for one at each. */
	if (d->ce == CRL_WQE_CE_ON_FIRST_ERR && sq->first_err_told)
		return;
	sq->first_err_told = 1;
	(void)scx_cqe_error(dp, sq->cq, CRL_CQE_REQ_ERR, sq->q.user_index,
		(uint32_t)d->opcode << 24 | sq->q.sqn, d->index, d->syndrome, d->vendor);
}

/* The frames of a WQE are gone: its CQE, if it asked for one. */
SCX_FN void
scx_complete_send(struct scx_dp *dp, const struct scx_done *d)
{
	struct scx_sq *sq = d->sq;
	struct scx_cqe c;

	if (SCX_UNLIKELY(d->kind >= SCX_DONE_ERROR)) {
		scx_complete_failed(dp, d);
		return;
	}
	memset(&c, 0, sizeof(c));
	c.w[4] = scx_be_pair(sq->q.user_index, 0);
	c.w[6] = crl_bswap64(dp->clock);
	c.w[7] = scx_cqe_tail((uint32_t)d->opcode << 24 | sq->q.sqn, d->index, CRL_CQE_REQ);
	if (!scx_cqe_write(dp, sq->cq, &c, false)) {
		sq->q.state = SCX_WQ_ERR;
		scx_queue_error(dp, sq->q.sqn, d->index, 0, false);
		return;
	}
	if (d->kind == SCX_DONE_EVENT)
		scx_cq_event(dp, sq->cq);
}

#endif /* SCX_DP_COMPLETE_H */
