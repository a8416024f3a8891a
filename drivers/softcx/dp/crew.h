/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many warps that step one data path: workers, each with queues of its own to look after, and
 * whoever needs the tables for itself (a command, a report, anything out of the ordinary), who then
 * is alone. The tables change only while somebody is alone; a worker reads them freely, changes the
 * indices of its own send queues, and those of a receive queue while it holds that queue's lock.
 *
 * The gate is even while all work and odd while somebody is alone. Who wants to be closes it, waits
 * until each worker has said that it rests at this gate, and opens it again with the next even
 * number; what workers remembered of the tables is then old. A worker looks at the gate at the
 * start of each turn and holds no lock then, so that nobody waits longer than for a turn. Nobody
 * waits for a worker that has not begun, or has gone.
 */
#ifndef SCX_DP_CREW_H
#define SCX_DP_CREW_H

#include "../../../gpu_queues/warp.h"
#include "state.h"

#define SCX_WORKERS_MAX	 512u
#define SCX_WORKER_FLOWS 64u /* flow results that a worker remembers */
#define SCX_GONE	 0xffffffffu

struct scx_rest {
	CRL_ALIGNAS(32) uint32_t gate; /* at which it rests; SCX_GONE: it takes no part */
};

/* Zero at the start but for rest[], which is SCX_GONE. */
struct scx_crew {
	CRL_ALIGNAS(64) uint32_t gate;
	CRL_ALIGNAS(64) uint32_t nr; /* workers; constant while any of them works */
	struct scx_rest rest[SCX_WORKERS_MAX];
	uint32_t rq_lock[SCX_DP_RQ_MAX];
	struct scx_flow flow[SCX_WORKERS_MAX][SCX_WORKER_FLOWS];
};

/* An engine's loop, not a driver's: waits for somebody who never waits for us. */
CRL_FN void
scx_pause(void)
{
#if defined(__CUDA_ARCH__)
	__nanosleep(20);
#elif defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

/* One thread, before any worker begins. */
SCX_FN void
scx_crew_init(struct scx_crew *c, uint32_t nr)
{
	uint32_t i;

	c->gate = 0;
	c->nr = nr;
	for (i = 0; i < SCX_WORKERS_MAX; i++)
		c->rest[i].gate = SCX_GONE;
	for (i = 0; i < SCX_DP_RQ_MAX; i++)
		c->rq_lock[i] = 0;
}

/* Closes the gate. False: somebody else has; a worker must rest then before it tries again. */
SCX_SLOW bool
scx_crew_alone(struct scx_crew *c, uint32_t me)
{
	uint32_t gate = scx_ld32(&c->gate), i, r;

	if ((gate & 1u) != 0 || !scx_cas32(&c->gate, gate, gate + 1u))
		return false;
	scx_fence_both(); /* pairs with a worker's between its rest word and its look at the gate */
	for (i = 0; i < c->nr; i++) {
		if (i == me)
			continue;
		/* forever: a worker rests or goes at the end of its turn */
		while ((r = scx_ld32(&c->rest[i].gate)) != gate + 1u && r != SCX_GONE)
			scx_pause();
	}
	scx_fence_acquire(); /* pairs with each worker's release before it said that it rests */
	return true;
}

SCX_SLOW void
scx_crew_together(struct scx_crew *c)
{
	scx_fence_release(); /* pairs with the workers' acquire behind the open gate */
	scx_st32(&c->gate, scx_ld32(&c->gate) + 1u);
}

/* A worker's: until the gate is open; returns what it is then. */
SCX_SLOW uint32_t
scx_crew_rest(struct scx_crew *c, uint32_t me)
{
	uint32_t gate;

	scx_fence_release(); /* pairs with the acquire of who is alone */
	/* forever: who closed the gate opens it, and waits for nobody but those who rest */
	while (((gate = scx_ld32(&c->gate)) & 1u) != 0) {
		if (scx_ld32(&c->rest[me].gate) != gate)
			scx_st32(&c->rest[me].gate, gate);
		scx_pause();
	}
	scx_fence_acquire();
	return gate;
}

/* A worker begins: from now on it is waited for. Returns the gate, which was open. */
SCX_SLOW uint32_t
scx_crew_join(struct scx_crew *c, uint32_t me)
{
	scx_st32(&c->rest[me].gate, 0);
	scx_fence_both(); /* pairs with that of who closes the gate */
	return scx_crew_rest(c, me);
}

SCX_SLOW void
scx_crew_leave(struct scx_crew *c, uint32_t me)
{
	scx_fence_release();
	scx_st32(&c->rest[me].gate, SCX_GONE);
}

#endif /* SCX_DP_CREW_H */
