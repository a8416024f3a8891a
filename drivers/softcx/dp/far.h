/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver's memory when only a copy engine reaches it (struct scx_copy, dp.h): the tables name a
 * copy of it here. What is about to be read is pulled and waited for; what was written is pushed,
 * and arrives in the order in which it was pushed. So a record is looked at before the WQEs that it
 * speaks of are pulled, and a CQE is pushed after its payload, its last qword after the rest of it.
 * All of it is nothing where the step reaches the memory itself, and on a GPU.
 */
#ifndef SCX_DP_FAR_H
#define SCX_DP_FAR_H

#include "state.h"

/* Comes over: here after scx_await(). */
SCX_FN void
scx_pull(struct scx_dp *dp, const void *p, size_t bytes)
{
	if (SCX_UNLIKELY(SCX_IS_FAR(dp)) && bytes != 0)
		dp->copy->pull(dp->copy->arg, (void *)(uintptr_t)p, bytes);
}

SCX_FN void
scx_push(struct scx_dp *dp, const void *p, size_t bytes)
{
	if (SCX_UNLIKELY(SCX_IS_FAR(dp)) && bytes != 0)
		dp->copy->push(dp->copy->arg, p, bytes);
}

SCX_FN void
scx_await(struct scx_dp *dp)
{
	if (SCX_UNLIKELY(SCX_IS_FAR(dp)))
		dp->copy->wait(dp->copy->arg, false);
}

/* All that was pushed has arrived too. */
SCX_FN void
scx_settle(struct scx_dp *dp)
{
	if (SCX_UNLIKELY(SCX_IS_FAR(dp)))
		dp->copy->wait(dp->copy->arg, true);
}

/* As it is there now. */
SCX_FN void
scx_look(struct scx_dp *dp, const void *p, size_t bytes)
{
	scx_pull(dp, p, bytes);
	scx_await(dp);
}

/* Entries [from, to) of a ring of 1 << log_depth of them, and waits for them. */
SCX_FN void
scx_look_ring(struct scx_dp *dp, const struct scx_buf *ring, uint32_t log_depth,
	uint32_t log_entry, uint16_t from, uint16_t to)
{
	uint32_t depth = 1u << log_depth, at = from & (depth - 1u), n = (uint16_t)(to - from);
	uint32_t first = n < depth - at ? n : depth - at;

	if (SCX_LIKELY(!SCX_IS_FAR(dp)))
		return;
	scx_pull(dp, ring->base + ((size_t)at << log_entry), (size_t)first << log_entry);
	scx_pull(dp, ring->base, (size_t)(n - first) << log_entry);
	scx_await(dp);
}

#endif /* SCX_DP_FAR_H */
