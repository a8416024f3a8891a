/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker does alone, by one lane: first it writes what it knows back into the tables and
 * rests as often as others want to be alone, then the scalar data path goes through the queue, and
 * the tables are read anew.
 */
#ifndef SCX_DP_WORKER_ALONE_H
#define SCX_DP_WORKER_ALONE_H

#include "objects.h"
#include "worker_send.h"

#define SCX_WARM 4u /* register number of the arm register, behind the send registers */

CRL_FN uint8_t *
scx_wreg(const struct scx_dp *dp, uint32_t page, uint32_t r)
{
	return dp->uar + (size_t)page * CRL_UAR_BYTES +
	       (r == SCX_WARM ? CRL_UAR_CQ_ARM : CRL_UAR_BF_REG + r * CRL_UAR_BF_REG_BYTES);
}

/* One lane: from here on nobody else works. False: the crew is stuck. */
SCX_SLOW bool
scx_walone(struct scx_worker *k)
{
	if (k->stuck)
		return false;
	scx_worker_write(k);
	/* bound: each rest has one, and somebody becomes alone each time */
	while (!scx_crew_alone(k->crew, k->me) && !k->stuck)
		k->stuck = !scx_crew_rest(k->crew, k->me);
	return !k->stuck;
}

/* One lane, alone: all that queues have posted, by the scalar path, as far as reports have room. */
SCX_SLOW void
scx_walone_step(struct scx_worker *k)
{
	struct scx_dp *dp = k->dp;

	while (dp->run_nr > 0 && dp->nr_reports <= SCX_REPORTS - SCX_REPORTS_KEPT)
		scx_step_turnaround(dp, SCX_BATCH);
	scx_worker_read(k);
	scx_crew_together(k->crew);
}

/* One lane: a page that rang, registers and raws (those taken already), by the scalar path. */
SCX_SLOW void
scx_walone_rung(struct scx_worker *k, uint32_t page, const uint64_t *raw, uint32_t nr)
{
	struct scx_dp *dp = k->dp;
	uint32_t r, s;
	uint64_t v;

	if (!scx_walone(k))
		return;
	for (r = 0; r < nr; r++) {
		if (raw[r] != 0)
			scx_doorbell_check(dp, page, raw[r]);
		dp->stats.doorbells += raw[r] != 0;
		dp->stats.pci_tlps += raw[r] != 0;
	}
	for (r = 0; r <= SCX_WARM; r++) {
		v = scx_take64(scx_wreg(dp, page, r));
		if (v != 0 && r == SCX_WARM)
			scx_arm_rung(dp, page, v);
		else if (v != 0)
			scx_doorbell_check(dp, page, v);
		dp->stats.doorbells += v != 0;
		dp->stats.pci_tlps += v != 0;
	}
	for (s = dp->page[page].sq; s != SCX_NONE; s = dp->sq[s].next)
		scx_sq_sample(dp, &dp->sq[s]);
	scx_walone_step(k);
}

/* One lane: the next WQE of this queue is not plain. */
SCX_SLOW void
scx_walone_queue(struct scx_worker *k, uint32_t sqn)
{
	struct scx_sq *sq;

	if (!scx_walone(k))
		return;
	sq = scx_sq_find(k->dp, sqn);
	if (sq != NULL && sq->ci != sq->pi)
		scx_run_push(k->dp, sq);
	scx_walone_step(k);
}

/* One lane: k->left of a round that begins at WQE from, then the end of that round. */
SCX_SLOW void
scx_walone_left(struct scx_worker *k, uint32_t sqn, const struct scx_wround *r, uint16_t from)
{
	struct scx_dp *dp = k->dp;
	struct scx_done d;
	struct scx_sq *sq;
	uint32_t i;

	if (!scx_walone(k))
		return;
	sq = scx_sq_find(dp, sqn);
	/* whoever was alone before us may have ended or reset it */
	if (sq != NULL && sq->q.state == SCX_WQ_RDY && sq->ci == from) {
		scx_receive(dp, k->left, k->nr_left);
		sq->ci = (uint16_t)(from + r->bbs);
		memset(&d, 0, sizeof(d));
		d.sq = sq;
		d.kind = SCX_DONE_OK;
		d.opcode = (uint8_t)r->opcode;
		d.ce = CRL_WQE_CE_ALWAYS;
		for (i = 0; i < r->wqes; i++) {
			d.index = (uint16_t)(from + i);
			if (r->signals >> i & 1u)
				scx_complete_send(dp, &d);
		}
		scx_cqe_publish(dp);
		if (sq->ci != sq->pi)
			scx_run_push(dp, sq);
	}
	scx_walone_step(k);
}

#endif /* SCX_DP_WORKER_ALONE_H */
