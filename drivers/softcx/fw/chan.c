/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the control side and the data path: one command slot with an acknowledgement, and the
 * turn that whoever steps the data path takes again and again. The control side fills the slot
 * under nic->lock and waits; the stepping thread carries the command out between two steps. While
 * no thread steps, the control side does it itself under nic->step_lock.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "remote.h"

#define STEP_BUDGET	64u /* frames each way in one step */
#define REPORTS_A_TURN	64u /* reports taken after one step; the rest waits for the next */
#define ANSWER_YIELDS	64u /* before the wait sleeps */
#define ANSWER_SLEEP_NS 20000

enum {
	CHAN_FREE,
	CHAN_COMMAND,
	CHAN_STATS,
	CHAN_REMOTE_COMMAND, /* the same two, on their way to a data path that steps elsewhere */
	CHAN_REMOTE_STATS,
	CHAN_DONE
};

uint64_t
scx_fw_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* What CQEs carry as time: ticks of the free-running clock, or seconds << 32 | nanoseconds (PRM).
 */
static uint64_t
device_ticks(const struct scx_nic *nic, uint64_t now_ns)
{
	struct timespec ts;

	if (nic->profile->ts_cap != CRL_TS_CAP_REAL_TIME)
		return now_ns / 1000000u * nic->clock_khz +
		       now_ns % 1000000u * nic->clock_khz / 1000000u;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec << 32 | (uint64_t)ts.tv_nsec;
}

static bool
next_report(struct scx_nic *nic, struct scx_dp_report *r)
{
	return nic->remote != NULL ? scx_fw_remote_report(nic, r) : scx_dp_take_report(nic->dp, r);
}

static void
take_reports(struct scx_nic *nic)
{
	struct scx_dp_report r;

	for (unsigned i = 0; i < REPORTS_A_TURN && next_report(nic, &r); i++) {
		struct scx_event ev = {.obj = r.num};

		switch (r.kind) {
		case SCX_DP_REFUSED:
			scx_fw_dp_refused(nic, &r);
			continue;
		case SCX_DP_DUMPED:
			scx_fw_dumped(nic, &r);
			continue;
		case SCX_DP_CQ_EVENT:
			ev.type = SCX_EVENT_COMPLETION;
			break;
		case SCX_DP_CQ_ERROR:
			ev.type = SCX_EVENT_CQ_ERROR;
			break;
		case SCX_DP_QUEUE_ERROR:
			ev.type = SCX_EVENT_WQ_CATAS_ERROR;
			ev.subtype = r.num - nic->table[SCX_FW_SQ].base < nic->table[SCX_FW_SQ].max
					     ? SCX_EVENT_QUEUE_SQ
					     : SCX_EVENT_QUEUE_RQ;
			break;
		}
		scx_fw_event(nic, &ev);
	}
}

/* The same with a data path that steps elsewhere: over, and in a later turn back. */
static unsigned
serve_remote(struct scx_nic *nic)
{
	/* Pairs with the release in post(): the command's bytes are there. */
	int state = atomic_load_explicit(&nic->chan.state, memory_order_acquire);

	if (state == CHAN_COMMAND || state == CHAN_STATS) {
		scx_fw_remote_post(nic, state == CHAN_STATS);
		state = state == CHAN_STATS ? CHAN_REMOTE_STATS : CHAN_REMOTE_COMMAND;
		atomic_store_explicit(&nic->chan.state, state, memory_order_relaxed);
		return 1;
	}
	if (state != CHAN_REMOTE_COMMAND && state != CHAN_REMOTE_STATS)
		return 0;
	if (scx_fw_remote_done(nic, state == CHAN_REMOTE_STATS))
		/* Pairs with the acquire in post(): results are there. */
		atomic_store_explicit(&nic->chan.state, CHAN_DONE, memory_order_release);
	return 1;
}

/* The command in the slot, if there is one. */
static unsigned
serve(struct scx_nic *nic)
{
	/* Pairs with the release in post(): the command's bytes are there. */
	int state = atomic_load_explicit(&nic->chan.state, memory_order_acquire);

	if (state == CHAN_COMMAND)
		nic->chan.rc = scx_dp_apply(nic->dp, &nic->chan.cmd);
	else if (state == CHAN_STATS)
		scx_dp_stats(nic->dp, &nic->chan.stats);
	else
		return 0;
	/* Pairs with the acquire in post(): results are there, and the data path has let go. */
	atomic_store_explicit(&nic->chan.state, CHAN_DONE, memory_order_release);
	return 1;
}

unsigned
scx_fw_turn(struct scx_nic *nic, uint64_t now_ns)
{
	unsigned work;

	if (nic->remote != NULL) {
		work = serve_remote(nic);
		work += scx_fw_remote_turn(nic, device_ticks(nic, now_ns));
		take_reports(nic);
		return work;
	}
	work = serve(nic);

	scx_dp_clock(nic->dp, device_ticks(nic, now_ns));
	work += scx_dp_step(nic->dp, nic->cfg.wire, STEP_BUDGET);
	take_reports(nic);
	return work;
}

/* Without a thread, the caller turns the host's half itself until the step has answered. */
static int
post_unthreaded(struct scx_nic *nic, int what)
{
	uint64_t give_up = scx_fw_now_ns() + SCX_ANSWER_NS_MAX;

	pthread_mutex_lock(&nic->step_lock);
	atomic_store_explicit(&nic->chan.state, what, memory_order_release);
	if (nic->remote == NULL) {
		serve(nic);
		take_reports(nic);
	}
	while (nic->remote != NULL && !nic->chan.stuck &&
		atomic_load_explicit(&nic->chan.state, memory_order_acquire) != CHAN_DONE) {
		scx_fw_turn(nic, scx_fw_now_ns());
		nic->chan.stuck = scx_fw_remote_dead(nic) || scx_fw_now_ns() > give_up;
	}
	pthread_mutex_unlock(&nic->step_lock);
	if (nic->chan.stuck)
		return -EIO;
	atomic_store_explicit(&nic->chan.state, CHAN_FREE, memory_order_relaxed);
	return 0;
}

/* Hand over what is in the slot and wait until it has been done. */
static int
post(struct scx_nic *nic, int what)
{
	const struct timespec nap = {.tv_nsec = ANSWER_SLEEP_NS};
	uint64_t give_up;

	if (nic->chan.stuck)
		return -EIO;
	if (nic->thread == NULL)
		return post_unthreaded(nic, what);
	/* Pairs with the acquire in serve(). */
	atomic_store_explicit(&nic->chan.state, what, memory_order_release);
	give_up = scx_fw_now_ns() + SCX_ANSWER_NS_MAX;
	for (uint64_t n = 0;
		atomic_load_explicit(&nic->chan.state, memory_order_acquire) != CHAN_DONE; n++) {
		if (n < ANSWER_YIELDS) {
			sched_yield();
			continue;
		}
		if (scx_fw_now_ns() > give_up) {
			nic->chan.stuck = true;
			scx_log(nic->name, "the data path's thread has not answered for 10 s; the "
					   "NIC is dead");
			return -EIO;
		}
		nanosleep(&nap, NULL);
	}
	atomic_store_explicit(&nic->chan.state, CHAN_FREE, memory_order_relaxed);
	return 0;
}

int
scx_fw_dp(struct scx_nic *nic, struct scx_dp_cmd *cmd)
{
	int rc;

	if (nic->chan.stuck)
		return -EIO; /* the slot may still be in use */
	nic->chan.cmd = *cmd;
	rc = post(nic, CHAN_COMMAND);
	if (rc != 0)
		return rc;
	memcpy(cmd->result, nic->chan.cmd.result, sizeof(cmd->result));
	return nic->chan.rc;
}

int
scx_fw_stats(struct scx_nic *nic, struct scx_dp_stats *stats)
{
	int rc = post(nic, CHAN_STATS);

	if (rc == 0)
		*stats = nic->chan.stats;
	return rc;
}
