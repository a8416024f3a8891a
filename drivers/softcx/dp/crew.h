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
 * waits for a worker that has not begun, or has gone. A wait that is too long all the same stops
 * the whole crew and is written down (stuck.h).
 */
#ifndef SCX_DP_CREW_H
#define SCX_DP_CREW_H

#include "../../../gpu_queues/warp.h"
#include "state.h"
#include "stuck.h"

#define SCX_WORKERS_MAX	 512u
#define SCX_WORKER_FLOWS 64u /* flow results that a worker remembers */
#define SCX_GONE	 0xffffffffu

struct scx_rest {
	CRL_ALIGNAS(32) uint32_t gate; /* at which it rests; SCX_GONE: it takes no part */
};

/* Zero at the start but for rest[], which is SCX_GONE. */
struct scx_crew {
	CRL_ALIGNAS(64) uint32_t gate;
	uint32_t closer;	     /* worker that closed it last, SCX_NOBODY */
	CRL_ALIGNAS(64) uint32_t nr; /* workers; constant while any of them works */
	uint64_t wait_ns_max;
	struct scx_stuck stuck;
	struct scx_rest rest[SCX_WORKERS_MAX];
	uint32_t rq_lock[SCX_DP_RQ_MAX]; /* 0: free; else 1 + the worker that holds it */
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
	c->closer = SCX_NOBODY;
	c->nr = nr;
	c->wait_ns_max = SCX_CREW_NS_MAX;
	memset(&c->stuck, 0, sizeof(c->stuck));
	for (i = 0; i < SCX_WORKERS_MAX; i++)
		c->rest[i].gate = SCX_GONE;
	for (i = 0; i < SCX_DP_RQ_MAX; i++)
		c->rq_lock[i] = 0;
}

/* Waits until worker i rests at the gate, or has gone. False: the crew is stuck. */
SCX_SLOW bool
scx_crew_await(struct scx_crew *c, uint32_t me, uint32_t i, uint32_t gate)
{
	struct scx_wait t = {0, 0, 0, 0};
	uint32_t r;

	/* bound: wait_ns_max; a worker rests or goes at the end of its turn */
	while ((r = scx_ld32(&c->rest[i].gate)) != gate && r != SCX_GONE) {
		if (scx_is_stuck(&c->stuck))
			return false;
		scx_pause();
		if (!scx_wait_on(&t, c->wait_ns_max))
			scx_stuck_put(&c->stuck, SCX_WAIT_REST, 0, me, i, &t);
	}
	return true;
}

/*
 * Closes the gate. False: somebody else has, and a worker must rest before it tries again; or the
 * crew is stuck, and the gate stays closed.
 */
SCX_SLOW bool
scx_crew_alone(struct scx_crew *c, uint32_t me)
{
	uint32_t gate = scx_ld32(&c->gate), i;

	if ((gate & 1u) != 0 || scx_is_stuck(&c->stuck) || !scx_cas32(&c->gate, gate, gate + 1u))
		return false;
	scx_st32(&c->closer, me);
	scx_fence_both(); /* pairs with a worker's between its rest word and its look at the gate */
	for (i = 0; i < c->nr; i++)
		if (i != me && !scx_crew_await(c, me, i, gate + 1u))
			return false;
	scx_fence_acquire(); /* pairs with each worker's release before it said that it rests */
	return true;
}

SCX_SLOW void
scx_crew_together(struct scx_crew *c)
{
	scx_fence_release(); /* pairs with the workers' acquire behind the open gate */
	scx_st32(&c->gate, scx_ld32(&c->gate) + 1u);
}

/* A worker's: until the gate is open. False: the crew is stuck. */
SCX_SLOW bool
scx_crew_rest(struct scx_crew *c, uint32_t me)
{
	struct scx_wait t = {0, 0, 0, 0};
	uint32_t gate;

	scx_fence_release(); /* pairs with the acquire of who is alone */
	/* bound: wait_ns_max; who closed the gate opens it, and waits for those who rest alone */
	while (((gate = scx_ld32(&c->gate)) & 1u) != 0) {
		if (scx_is_stuck(&c->stuck))
			return false;
		if (scx_ld32(&c->rest[me].gate) != gate)
			scx_st32(&c->rest[me].gate, gate);
		scx_pause();
		if (!scx_wait_on(&t, c->wait_ns_max))
			scx_stuck_put(&c->stuck, SCX_WAIT_GATE, 0, me, scx_ld32(&c->closer), &t);
	}
	scx_fence_acquire();
	return true;
}

/* The lock of a receive queue, which somebody else has. False: the crew is stuck. */
SCX_SLOW bool
scx_crew_lock(struct scx_crew *c, uint32_t me, uint32_t rq)
{
	struct scx_wait t = {0, 0, 0, 0};
	uint32_t holder;

	/* bound: wait_ns_max; a holder waits for nobody, and lets go at the end of its turn */
	while (!scx_cas32(&c->rq_lock[rq], 0, 1u + me)) {
		if (scx_is_stuck(&c->stuck))
			return false;
		holder = scx_ld32(&c->rq_lock[rq]);
		scx_pause();
		if (!scx_wait_on(&t, c->wait_ns_max))
			scx_stuck_put(&c->stuck, SCX_WAIT_RQ, rq, me,
				holder != 0 ? holder - 1u : SCX_NOBODY, &t);
	}
	return true;
}

/* A worker begins: from now on it is waited for. False: the crew is stuck. */
SCX_SLOW bool
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
