/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path on a processor that shares no caches with the control side: a kernel on a GPU, or
 * in tests a host thread that plays one. All that passes between the two lies in struct scx_remote,
 * ordinary memory of the host that both reach: one command and its acknowledgement, doorbells that
 * the host took out of its pages, frames from and to the host's wire, reports.
 *
 * Each word has one writer. A side fills, orders, then raises its index; the other sees the index,
 * orders, then reads. Nobody waits here: a ring that is full is tried again in the next turn, and a
 * frame that finds the ring to the wire full stays in the batch, as with any slow wire.
 */
#ifndef SCX_DP_REMOTE_H
#define SCX_DP_REMOTE_H

#include "batch.h"
#include "control.h"
#include "patient.h"
#include "worker_turn.h"

#define SCX_REMOTE_RINGS   256u /* doorbells on their way; all powers of two */
#define SCX_REMOTE_FRAMES  128u /* frames on their way, each direction */
#define SCX_REMOTE_REPORTS 64u
#define SCX_REMOTE_BUDGET  64u /* frames each way in one turn */

enum scx_remote_what { SCX_REMOTE_COMMAND = 0, SCX_REMOTE_STATS = 1 };

struct scx_remote_ring {
	uint32_t page, arm; /* arm: 1 the CQ register, 0 a send register */
	uint64_t raw;	    /* what the driver stored */
};

struct scx_remote_frame {
	CRL_ALIGNAS(64) uint32_t len;
	uint32_t flags; /* SCX_FRAME_* */
	CRL_ALIGNAS(64) uint8_t data[SCX_DP_FRAME_MAX];
};

struct scx_remote {
	/* Written by the host. */
	CRL_ALIGNAS(64) uint32_t cmd_seq; /* raised by one for each command */
	uint32_t ring_pi, rx_pi, leave;
	uint64_t clock; /* what CQEs carry as time; as old as the host's last turn */
	uint32_t tx_ci, report_ci;
	uint32_t turnaround; /* 1: what is sent is received on this port; constant */
	uint32_t patient;    /* 1: a frame without a place waits; constant */
	uint32_t what;	     /* enum scx_remote_what, of the command */
	uint32_t pages;	     /* doorbell pages that queues have named so far */
	struct scx_dp_cmd cmd;
	struct scx_remote_ring ring[SCX_REMOTE_RINGS];
	struct scx_remote_frame rx[SCX_REMOTE_FRAMES];
	/* Written by the step. */
	CRL_ALIGNAS(64) uint32_t cmd_done; /* the last command carried out */
	uint32_t ring_ci, rx_ci, tx_pi, report_pi;
	int32_t rc; /* of that command */
	uint64_t result[4];
	uint64_t alive; /* rises while it steps */
	uint64_t work;	/* all that was done so far */
	struct scx_stuck stuck; /* why its crew will do nothing any more */
	struct scx_dp_stats stats;
	struct scx_dp_report report[SCX_REMOTE_REPORTS];
	struct scx_remote_frame tx[SCX_REMOTE_FRAMES];
};

/* What the step keeps for itself, in its own memory. */
struct scx_remote_step {
	struct scx_dp *dp;
	struct scx_remote *r;
	uint32_t cmd_done, ring_ci, rx_ci, tx_pi, report_pi;
	uint32_t tx_ci, report_ci; /* the host's, when last looked at */
	uint64_t turns, work;
	struct scx_dp_cmd cmd;
	CRL_ALIGNAS(64) uint8_t rx[SCX_RX_GROUP][SCX_DP_FRAME_MAX];
};

/* n bytes, a multiple of 4 on aligned addresses. */
SCX_FN void
scx_copy_words(void *dst, const void *src, size_t n)
{
	size_t i;

	for (i = 0; i < n / 4u; i++)
		((uint32_t *)dst)[i] = ((const uint32_t *)src)[i];
}

/* The command, if there is a new one. Its acknowledgement says that the data path has let go. */
SCX_SLOW unsigned
scx_remote_command(struct scx_remote_step *s, uint32_t seq)
{
	struct scx_remote *r = s->r;
	uint32_t i;

	if (seq == s->cmd_done)
		return 0;
	if (scx_ld32(&r->what) == SCX_REMOTE_STATS) {
		r->stats = s->dp->stats;
		r->rc = 0;
	} else {
		scx_copy_words(&s->cmd, &r->cmd, sizeof(s->cmd));
		r->rc = scx_apply(s->dp, &s->cmd);
		scx_cqe_publish(s->dp); /* of queues that were flushed */
		for (i = 0; i < 4u; i++)
			r->result[i] = s->cmd.result[i];
	}
	s->cmd_done = seq;
	scx_fence_release(); /* pairs with the host's acquire of cmd_done */
	scx_st32(&r->cmd_done, seq);
	return 1;
}

/* Doorbells that the host found in its pages. */
SCX_SLOW unsigned
scx_remote_rung(struct scx_remote_step *s, uint32_t pi)
{
	struct scx_dp *dp = s->dp;
	unsigned n = 0;
	uint32_t q;

	for (; s->ring_ci != pi; s->ring_ci++, n++) {
		const struct scx_remote_ring *e = &s->r->ring[s->ring_ci % SCX_REMOTE_RINGS];
		uint32_t page = e->page;

		if (page >= dp->nr_uar_pages)
			continue;
		if (e->arm) {
			scx_arm_rung(dp, page, e->raw);
			continue;
		}
		scx_doorbell_check(dp, page, e->raw);
		for (q = dp->page[page].sq; q != SCX_NONE; q = dp->sq[q].next)
			scx_sq_sample(dp, &dp->sq[q]);
	}
	if (n > 0) {
		dp->stats.doorbells += n;
		dp->stats.pci_tlps += n;
		scx_fence_release(); /* pairs with the host's reuse of the slots */
		scx_st32(&s->r->ring_ci, s->ring_ci);
	}
	return n;
}

/* Reports to the host, as far as there is room. */
SCX_FN void
scx_remote_reports(struct scx_remote_step *s)
{
	struct scx_dp *dp = s->dp;
	uint32_t pi = s->report_pi;

	while (dp->nr_reports > 0) {
		if (s->report_pi - s->report_ci == SCX_REMOTE_REPORTS) {
			s->report_ci = scx_ld32_acquire(&s->r->report_ci);
			if (s->report_pi - s->report_ci == SCX_REMOTE_REPORTS)
				break;
		}
		s->r->report[s->report_pi++ % SCX_REMOTE_REPORTS] = dp->report[dp->report_head];
		dp->report_head = (dp->report_head + 1u) & (SCX_REPORTS - 1u);
		dp->nr_reports--;
	}
	if (pi != s->report_pi) {
		scx_fence_release(); /* pairs with the host's acquire of report_pi */
		scx_st32(&s->r->report_pi, s->report_pi);
	}
}

/* Offer what the batch holds to the host's wire; true when all of it went. */
SCX_FN bool
scx_remote_offer(struct scx_remote_step *s)
{
	struct scx_batch *b = &s->dp->batch;
	uint32_t from = b->taken;

	if (b->taken == b->nr)
		return true;
	if (!s->dp->link_up) {
		b->taken = b->nr;
		return true;
	}
	for (; b->taken < b->nr; b->taken++) {
		struct scx_remote_frame *to = &s->r->tx[s->tx_pi % SCX_REMOTE_FRAMES];

		if (s->tx_pi - s->tx_ci == SCX_REMOTE_FRAMES) {
			s->tx_ci = scx_ld32_acquire(&s->r->tx_ci);
			if (s->tx_pi - s->tx_ci == SCX_REMOTE_FRAMES)
				break;
		}
		scx_copy(to->data, b->frame[b->taken].data, b->frame[b->taken].len);
		to->len = b->frame[b->taken].len;
		to->flags = b->frame[b->taken].flags;
		s->tx_pi++;
	}
	if (b->taken == from)
		return false;
	scx_count_sent(s->dp, from, b->taken);
	scx_fence_release(); /* pairs with the host's acquire of tx_pi */
	scx_st32(&s->r->tx_pi, s->tx_pi);
	return b->taken == b->nr;
}

SCX_FN unsigned
scx_remote_send(struct scx_remote_step *s)
{
	struct scx_dp *dp = s->dp;
	unsigned work = 0;
	bool all;

	if (!scx_remote_offer(s))
		return 0; /* still full; more is not fetched */
	while (dp->run_nr > 0 && work < SCX_REMOTE_BUDGET) {
		scx_batch_fill(dp);
		work += dp->batch.nr + dp->batch.nr_done + 1u;
		all = scx_remote_offer(s);
		if (!all)
			scx_batch_hold(dp);
		scx_batch_done(dp);
		if (!all)
			break;
	}
	return work;
}

/*
 * Frames from the host's wire, a group at a time: each is copied into the step's own memory once,
 * where it is looked at from all sides.
 */
SCX_FN unsigned
scx_remote_receive(struct scx_remote_step *s, uint32_t pi)
{
	struct scx_frame f[SCX_RX_GROUP];
	struct scx_dp *dp = s->dp;
	uint32_t from = s->rx_ci, n = 0;

	for (; s->rx_ci != pi && n < SCX_RX_GROUP; s->rx_ci++) {
		const struct scx_remote_frame *in = &s->r->rx[s->rx_ci % SCX_REMOTE_FRAMES];

		f[n].len = in->len;
		f[n].flags = in->flags;
		f[n].data = s->rx[n];
		if (!dp->link_up)
			continue;
		if (f[n].len < SCX_ETH_HLEN || f[n].len > dp->frame_max) {
			dp->stats.rx_too_long += f[n].len > dp->frame_max;
			continue;
		}
		scx_copy(s->rx[n], in->data, f[n].len);
		if (!s->r->patient) {
			n++;
			continue;
		}
		if (!scx_would_place(dp, &f[n]))
			break;
		scx_receive(dp, &f[n], 1);
	}
	if (n > 0)
		scx_receive(dp, f, n);
	if (from == s->rx_ci)
		return 0;
	scx_fence_release(); /* pairs with the host's reuse of the slots */
	scx_st32(&s->r->rx_ci, s->rx_ci);
	return s->rx_ci - from;
}

/* One bounded turn. Returns work done, 0 = idle. */
SCX_FN unsigned
scx_remote_turn(struct scx_remote_step *s)
{
	struct scx_remote *r = s->r;
	struct scx_dp *dp = s->dp;
	uint32_t seq = scx_ld32(&r->cmd_seq), ring = scx_ld32(&r->ring_pi);
	uint32_t rx = scx_ld32(&r->rx_pi);
	unsigned work;

	scx_st64(&dp->clock, scx_ld64(&r->clock));
	if (seq != s->cmd_done || ring != s->ring_ci || rx != s->rx_ci)
		scx_fence_acquire(); /* pairs with the host's fill before it raised the index */
	work = scx_remote_command(s, seq);
	/* Without room for events nothing more is done. */
	scx_remote_reports(s);
	if (dp->nr_reports > SCX_REPORTS - SCX_REPORTS_KEPT)
		return work;
	work += scx_remote_rung(s, ring);
	work += scx_doorbells(dp);
	work += r->turnaround ? scx_step_turnaround(dp, SCX_REMOTE_BUDGET) : scx_remote_send(s);
	if (rx != s->rx_ci)
		work += scx_remote_receive(s, rx);
	scx_remote_reports(s);
	s->work += work;
	if ((s->turns++ & 15u) == 0) {
		scx_st64(&r->work, s->work);
		scx_st64(&r->alive, s->turns);
	}
	return work;
}

/*
 * Beside a crew: send doorbells that the host found in its pages go on to the registers that the
 * workers look at, where a later one may overwrite an earlier one, as in any register. Returns
 * where it stopped: at one that is not a worker's affair.
 */
SCX_SLOW uint32_t
scx_remote_forward(struct scx_remote_step *s, uint32_t pi)
{
	struct scx_dp *dp = s->dp;
	uint32_t from = s->ring_ci, r;

	for (; s->ring_ci != pi; s->ring_ci++) {
		const struct scx_remote_ring *e = &s->r->ring[s->ring_ci % SCX_REMOTE_RINGS];
		uint32_t page = e->page;

		if (page >= dp->nr_uar_pages || e->arm || dp->page[page].sq == SCX_NONE)
			break;
		for (r = 0; r < SCX_SEND_REGS - 1u; r++)
			if (scx_ld64(scx_wreg(dp, page, r)) == 0)
				break;
		scx_st64_release(scx_wreg(dp, page, r), e->raw);
	}
	if (from != s->ring_ci) {
		scx_fence_release(); /* pairs with the host's reuse of the slots */
		scx_st32(&s->r->ring_ci, s->ring_ci);
	}
	return s->ring_ci;
}

/* Why the crew does nothing any more, for the host. */
SCX_SLOW void
scx_remote_stuck(struct scx_remote *r, const struct scx_stuck *s)
{
	scx_fence_acquire(); /* pairs with that of who wrote it */
	r->stuck.which = s->which;
	r->stuck.waiter = s->waiter;
	r->stuck.holder = s->holder;
	r->stuck.since_ns = s->since_ns;
	r->stuck.waited_ns = s->waited_ns;
	scx_fence_release(); /* pairs with the host's acquire after it saw what */
	scx_st32(&r->stuck.what, s->what);
}

/* A turn beside a crew: alone for what is the host's, and not at all when there is nothing. */
SCX_FN unsigned
scx_remote_crew_turn(struct scx_remote_step *s, struct scx_crew *crew)
{
	struct scx_remote *r = s->r;
	uint32_t seq = scx_ld32(&r->cmd_seq), ring = scx_ld32(&r->ring_pi);
	unsigned work = 0;

	scx_st64(&s->dp->clock, scx_ld64(&r->clock));
	if (ring != s->ring_ci) {
		scx_fence_acquire(); /* pairs with the host's fill before it raised the index */
		work = ring - s->ring_ci;
		work -= ring - scx_remote_forward(s, ring);
	}
	if (seq != s->cmd_done || ring != s->ring_ci || scx_ld32(&r->rx_pi) != s->rx_ci ||
		scx_ld32(&s->dp->nr_reports) != 0 || scx_ld32(&s->dp->run_nr) != 0) {
		if (!scx_crew_alone(crew, SCX_NOBODY)) {
			if (scx_is_stuck(&crew->stuck))
				scx_remote_stuck(r, &crew->stuck);
			return work;
		}
		work += scx_remote_turn(s);
		scx_crew_together(crew);
		return work;
	}
	if ((s->turns++ & 15u) == 0) {
		scx_st64(&r->alive, s->turns);
		if (scx_is_stuck(&crew->stuck))
			scx_remote_stuck(r, &crew->stuck);
	}
	return work;
}

/* The start: no objects; r is zero but for its constants. */
SCX_FN void
scx_remote_init(struct scx_remote_step *s, struct scx_dp *dp, struct scx_remote *r)
{
	s->dp = dp;
	s->r = r;
	s->cmd_done = s->ring_ci = s->rx_ci = s->tx_pi = s->report_pi = 0;
	s->tx_ci = s->report_ci = 0;
	s->turns = s->work = 0;
}

#endif /* SCX_DP_REMOTE_H */
