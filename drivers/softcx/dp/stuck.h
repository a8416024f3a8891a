/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bound of every wait of a crew (crew.h): a worker that dies holds what it has, and nobody may
 * wait for that without end. Who has waited too long writes down for what, for whom and since when,
 * and from then on nobody of the crew works: each rests at once, for ever, and the host says it.
 *
 * Time counts while the one that waits looks: a processor that was taken from it, or a program that
 * was stopped for a while, is no proof that somebody else died.
 */
#ifndef SCX_DP_STUCK_H
#define SCX_DP_STUCK_H

#include <stdio.h>

#include "../../../config/limits.h"
#include "../../../gpu_queues/mem.h"
#include "shared.h"

#define SCX_NOBODY 0xffffffffu /* no worker: whoever answers the host */

enum scx_wait_what {
	SCX_WAIT_NOTHING,
	SCX_WAIT_REST, /* for a worker to rest, by who wants to be alone */
	SCX_WAIT_GATE, /* for the gate to open, by a worker that rests */
	SCX_WAIT_RQ,   /* for the lock of a receive queue */
};

/* The first wait that was too long. */
struct scx_stuck {
	CRL_ALIGNAS(64) uint32_t taken; /* 1: somebody writes it, or has */
	uint32_t what;			/* enum scx_wait_what, stored last */
	uint32_t which;			/* the receive queue's place in the table */
	uint32_t waiter, holder;	/* workers, SCX_NOBODY */
	uint32_t rsvd;
	uint64_t since_ns, waited_ns; /* the waiter's clock; what counts of the time since */
};

/* One wait. Zero at its start. */
struct scx_wait {
	uint64_t from_ns, last_ns, waited_ns;
	uint32_t looks;
};

/* Between two looks. False: it was too long. */
SCX_SLOW bool
scx_wait_on(struct scx_wait *t, uint64_t max_ns)
{
	uint64_t now, step;

	if ((++t->looks & (SCX_CREW_LOOKS - 1u)) != 0)
		return true;
	now = crl_now_ns();
	if (t->last_ns == 0)
		t->from_ns = t->last_ns = now;
	step = now - t->last_ns;
	t->waited_ns += step < max_ns / SCX_CREW_STEPS ? step : max_ns / SCX_CREW_STEPS;
	t->last_ns = now;
	return t->waited_ns <= max_ns;
}

/* Somebody waited too long, here or elsewhere. */
CRL_FN bool
scx_is_stuck(const struct scx_stuck *s)
{
	return scx_ld32(&s->what) != SCX_WAIT_NOTHING;
}

SCX_SLOW void
scx_stuck_put(struct scx_stuck *s, enum scx_wait_what what, uint32_t which, uint32_t waiter,
	uint32_t holder, const struct scx_wait *t)
{
	if (!scx_cas32(&s->taken, 0, 1))
		return;
	s->which = which;
	s->waiter = waiter;
	s->holder = holder;
	s->since_ns = t->from_ns;
	s->waited_ns = t->waited_ns;
	scx_fence_release(); /* pairs with who reads it after it saw what */
	scx_st32(&s->what, (uint32_t)what);
}

static inline const char *
scx_worker_name(uint32_t worker, char *buf, size_t bytes)
{
	if (worker == SCX_NOBODY)
		snprintf(buf, bytes, "the one who answers the host");
	else
		snprintf(buf, bytes, "worker %u", worker);
	return buf;
}

/* In words; host code. */
static inline const char *
scx_stuck_str(const struct scx_stuck *s, char *buf, size_t bytes)
{
	char waiter[40], holder[40], lock[64];

	scx_fence_acquire(); /* pairs with the release of who wrote it, before what */
	scx_worker_name(s->waiter, waiter, sizeof(waiter));
	scx_worker_name(s->holder, holder, sizeof(holder));
	snprintf(lock, sizeof(lock), "the lock of receive queue %u", s->which);
	snprintf(buf, bytes, "%s waited %llu ms for %s, which %s %s, since %llu ns of its clock",
		waiter, (unsigned long long)(s->waited_ns / 1000000u),
		s->what == SCX_WAIT_RQ	   ? lock
		: s->what == SCX_WAIT_GATE ? "the gate to open"
					   : "the others to rest",
		holder,
		s->what == SCX_WAIT_RQ	   ? "holds"
		: s->what == SCX_WAIT_GATE ? "has closed"
					   : "does not",
		(unsigned long long)s->since_ns);
	return buf;
}

#endif /* SCX_DP_STUCK_H */
