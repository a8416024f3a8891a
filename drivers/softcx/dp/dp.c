/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path on a CPU: the contract's functions over the parts in dp_all.h, and the step over a
 * wire, which is host only because wires are called through pointers.
 */
#include "dp_all.h"

CRL_STATIC_ASSERT(
	SCX_MATCH_BYTES == sizeof(((struct scx_seen *)0)->key), "rules compare the parser's key");
CRL_STATIC_ASSERT(SCX_DP_SQ_MAX >= SCX_BATCH && SCX_REPORTS_KEPT >= 2 * SCX_BATCH_WQES,
	"events of a batch fit");

size_t
scx_dp_bytes(void)
{
	return sizeof(struct scx_dp);
}

void
scx_dp_init(struct scx_dp *dp, void *uar, uint32_t nr_uar_pages, uint64_t seed)
{
	scx_state_init(dp, uar, nr_uar_pages, seed);
}

void
scx_dp_faults(struct scx_dp *dp, const struct scx_fault_plan *plan)
{
	memset(&dp->fault.plan, 0, sizeof(dp->fault.plan));
	if (plan != NULL)
		dp->fault.plan = *plan;
}

size_t
scx_dp_late_bytes(void)
{
	return sizeof(struct scx_late);
}

void
scx_dp_late(struct scx_dp *dp, void *mem)
{
	dp->late = (struct scx_late *)mem;
	dp->late->now = 0;
	dp->late->nr = 0;
	dp->late->held = 0;
}

void
scx_dp_copy(struct scx_dp *dp, const struct scx_copy *copy)
{
	dp->copy = copy;
}

int
scx_dp_apply(struct scx_dp *dp, struct scx_dp_cmd *cmd)
{
	int rc;

	if (dp->late != NULL) {
		(void)scx_turnaround_held(dp);
		(void)scx_late_turn(dp, true);
	}
	rc = scx_apply(dp, cmd);
	scx_cqe_publish(dp); /* of queues that were flushed */
	if (dp->late != NULL)
		(void)scx_late_turn(dp, true);
	scx_settle(dp); /* what was told to go is gone when this returns */
	return rc;
}

void
scx_dp_clock(struct scx_dp *dp, uint64_t ticks)
{
	dp->clock = ticks;
}

void
scx_dp_stats(const struct scx_dp *dp, struct scx_dp_stats *out)
{
	*out = dp->stats;
}

bool
scx_dp_take_report(struct scx_dp *dp, struct scx_dp_report *r)
{
	if (dp->nr_reports == 0)
		return false;
	*r = dp->report[dp->report_head];
	dp->report_head = (dp->report_head + 1u) & (SCX_REPORTS - 1u);
	dp->nr_reports--;
	return true;
}

/* Offer what the batch holds; true when the wire has all of it. */
static bool
wire_offer(struct scx_dp *dp, struct scx_wire *wire)
{
	struct scx_batch *b = &dp->batch;
	unsigned n;

	if (b->taken == b->nr)
		return true;
	n = dp->link_up ? wire->ops->send(wire, b->frame + b->taken, b->nr - b->taken)
			: b->nr - b->taken;
	assert(n <= b->nr - b->taken);
	if (dp->link_up)
		scx_count_sent(dp, b->taken, b->taken + n);
	b->taken += n;
	return b->taken == b->nr;
}

static unsigned
wire_send(struct scx_dp *dp, struct scx_wire *wire, unsigned budget)
{
	struct scx_batch *b = &dp->batch;
	unsigned work = 0;

	if (!wire_offer(dp, wire))
		return 0; /* still full; more is not fetched */
	while (dp->run_nr > 0 && work < budget) {
		bool all;

		scx_batch_fill(dp);
		work += b->nr + b->nr_done + 1u;
		all = wire_offer(dp, wire);
		if (!all)
			scx_batch_hold(dp);
		scx_batch_done(dp);
		if (!all)
			break;
	}
	return work;
}

/* A wire that takes frames back: one at a time, until the first that has no place yet. */
static unsigned
wire_receive_patiently(struct scx_dp *dp, struct scx_wire *wire, unsigned budget)
{
	struct scx_frame f;
	unsigned work = 0;

	while (work < budget && dp->link_up && wire->ops->recv(wire, &f, 1) == 1) {
		if (f.len < SCX_ETH_HLEN || f.len > dp->frame_max) {
			dp->stats.rx_too_long += f.len > dp->frame_max;
		} else if (scx_would_place(dp, &f)) {
			scx_receive(dp, &f, 1);
		} else {
			wire->ops->back(wire);
			break;
		}
		work++;
	}
	return work;
}

/* Frames that no NIC would accept stay out: runts, and what is longer than the port's MTU allows.
 */
static unsigned
wire_receive(struct scx_dp *dp, struct scx_wire *wire, unsigned budget)
{
	struct scx_frame f[SCX_BATCH];
	unsigned work = 0, n, i, ok;

	while (work < budget) {
		n = wire->ops->recv(wire, f, SCX_BATCH);
		if (n == 0)
			break;
		work += n;
		if (!dp->link_up)
			continue;
		for (i = 0, ok = 0; i < n; i++) {
			if (f[i].len >= SCX_ETH_HLEN && f[i].len <= dp->frame_max)
				f[ok++] = f[i];
			else
				dp->stats.rx_too_long += f[i].len > dp->frame_max;
		}
		scx_receive(dp, f, ok);
	}
	return work;
}

/* Whether what was rung waits another step. */
static bool
late_fetch(struct scx_dp *dp)
{
	return scx_fault_rand(&dp->fault) % (dp->fault.plan.dma_delay + 1u) != 0;
}

unsigned
scx_dp_step(struct scx_dp *dp, struct scx_wire *wire, unsigned budget)
{
	unsigned work;

	/* The control side takes reports after each step; without room for events nothing is done.
	 */
	if (dp->nr_reports > SCX_REPORTS - SCX_REPORTS_KEPT)
		return 1;
	work = scx_doorbells(dp);
	if (SCX_UNLIKELY(dp->copy != NULL))
		work += dp->copy->turn(dp->copy->arg);
	if (SCX_UNLIKELY(dp->late != NULL)) {
		work += scx_late_turn(dp, false) + dp->late->nr;
		if (dp->run_nr > 0 && late_fetch(dp))
			return work + 1;
	}
	if (wire == NULL || (wire->flags & SCX_WIRE_TURNAROUND))
		return work + scx_step_turnaround(dp, budget);
	work += wire_send(dp, wire, budget);
	if (wire->ops->back != NULL)
		return work + wire_receive_patiently(dp, wire, budget);
	return work + wire_receive(dp, wire, budget);
}
