/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One batch of frames: filled from the queues that rang, handed to the wire or the receive side,
 * then completed. Many frames a batch, so that their cache misses overlap and the cost of noticing
 * a doorbell is shared.
 */
#ifndef SCX_DP_BATCH_H
#define SCX_DP_BATCH_H

#include "receive.h"
#include "send.h"

/* Fill an empty batch from the queues that rang, in turns. */
SCX_FN void
scx_batch_fill(struct scx_dp *dp)
{
	struct scx_batch *b = &dp->batch;
	uint32_t wqes = 0;

	b->nr = 0;
	b->taken = 0;
	b->nr_done = 0;
	b->staged = 0;
	b->referenced = 0;
	while (dp->run_nr > 0 && b->nr < SCX_BATCH && wqes < SCX_BATCH_WQES &&
		b->staged + b->referenced + SCX_STAGE_WQE_MAX <= SCX_STAGE_BYTES) {
		struct scx_sq *sq = &dp->sq[dp->run[dp->run_head]];

		if (sq->ci != sq->pi) {
			scx_send_next(dp, sq);
			wqes++;
			continue;
		}
		dp->run_head = (dp->run_head + 1u) & (SCX_DP_SQ_MAX - 1u);
		dp->run_nr--;
		sq->runnable = 0;
	}
	scx_await(dp); /* for the frames' bytes */
	/* A queue that has more stands back for the others. */
	if (dp->run_nr > 1) {
		uint32_t slot = dp->run[dp->run_head];

		dp->run_head = (dp->run_head + 1u) & (SCX_DP_SQ_MAX - 1u);
		dp->run[(dp->run_head + dp->run_nr - 1u) & (SCX_DP_SQ_MAX - 1u)] = slot;
	}
}

/* The frames are out of the driver's memory: tell the queues. */
SCX_FN void
scx_batch_done(struct scx_dp *dp)
{
	uint32_t i;

	for (i = 0; i < dp->batch.nr_done; i++)
		scx_complete_send(dp, &dp->batch.done[i]);
	dp->batch.nr_done = 0;
	scx_cqe_publish(dp);
}

SCX_FN void
scx_count_sent(struct scx_dp *dp, uint32_t from, uint32_t to)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = from; i < to; i++)
		bytes += dp->batch.frame[i].len;
	dp->stats.tx_frames += to - from;
	dp->stats.tx_bytes += bytes;
}

/*
 * The wire took only a part: the rest moves into the NIC's own memory, as into a transmit buffer,
 * so that its WQEs complete and no later command finds the NIC holding on to the driver's memory.
 */
SCX_SLOW void
scx_batch_hold(struct scx_dp *dp)
{
	struct scx_batch *b = &dp->batch;
	uint32_t i;

	for (i = b->taken; i < b->nr; i++) {
		struct scx_frame *f = &b->frame[i];
		const uint8_t *data = f->data;
		uint8_t *copy;

		if (data >= dp->stage && data < dp->stage + SCX_STAGE_BYTES)
			continue;
		copy = scx_stage(dp, f->len);
		memcpy(copy, data, f->len);
		f->data = copy;
		dp->stats.copied_bytes += f->len;
	}
}

/* By the fault plan: whether the batch's packets, whose WQEs were read, are left alone for now. */
SCX_SLOW bool
scx_batch_late(struct scx_dp *dp)
{
	uint64_t n = scx_fault_rand(&dp->fault) % (dp->fault.plan.dma_delay + 1u);

	dp->late->held = n != 0;
	dp->late->held_until = dp->late->now + n;
	return n != 0;
}

/* The batch, to the receive side of the same port. */
SCX_FN unsigned
scx_turnaround(struct scx_dp *dp)
{
	struct scx_batch *b = &dp->batch;
	unsigned work;

	if (SCX_LIKELY(dp->link_up)) {
		scx_count_sent(dp, 0, b->nr);
		scx_receive(dp, b->frame, b->nr);
	}
	work = b->nr + b->nr_done + 1u;
	b->nr = 0;
	scx_batch_done(dp);
	return work;
}

/* What is held back of it, at a command or when it is time. */
SCX_SLOW unsigned
scx_turnaround_held(struct scx_dp *dp)
{
	if (!dp->late->held)
		return 0;
	dp->late->held = 0;
	return scx_turnaround(dp);
}

/* All that was rung. */
SCX_FN unsigned
scx_step_turnaround(struct scx_dp *dp, unsigned budget)
{
	unsigned work = 0;

	if (SCX_UNLIKELY(dp->late != NULL) && dp->late->held) {
		if (dp->late->now < dp->late->held_until)
			return 1;
		work += scx_turnaround_held(dp);
	}
	while (dp->run_nr > 0 && work < budget) {
		scx_batch_fill(dp);
		if (SCX_UNLIKELY(dp->late != NULL) && scx_batch_late(dp))
			return work + 1u;
		work += scx_turnaround(dp);
	}
	return work;
}

#endif /* SCX_DP_BATCH_H */
