/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The coroutines of coop.h and the thread functions that stand in libc's place.
 */
#include "coop.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#include "adv.h"

#define COROUTINES  16
#define STACK_BYTES (256u << 10)
#define RUN_MAX	    96u /* accesses between two changes, at most */

struct co {
	ucontext_t context;
	void *(*fn)(void *arg);
	void *arg;
	char *stack;
	uint8_t actor;
	bool used, done;
};

static struct co co[COROUTINES]; /* 0: whoever called sched_open() */
static int running, nr;
static uint64_t state;
static uint32_t left;
static bool held;

uint64_t
sched_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

void
sched_open(uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15u + 1u;
	nr = 1;
	running = 0;
	co[0].used = true;
	co[0].done = false;
	co[0].actor = hb_self;
	left = 1;
}

void
sched_close(void)
{
	int i;

	assert(running == 0);
	for (i = 1; i < nr; i++) {
		free(co[i].stack);
		co[i].used = false;
	}
	nr = 0;
}

static void
enter(void)
{
	struct co *c = &co[running];

	c->fn(c->arg);
	c->done = true;
	sched_let_go();
}

int
sched_new(uint8_t actor, void *(*fn)(void *), void *arg)
{
	struct co *c = &co[nr];

	assert(nr < COROUTINES);
	c->fn = fn;
	c->arg = arg;
	c->actor = actor;
	c->used = true;
	c->done = false;
	c->stack = malloc(STACK_BYTES);
	assert(c->stack);
	getcontext(&c->context);
	c->context.uc_stack.ss_sp = c->stack;
	c->context.uc_stack.ss_size = STACK_BYTES;
	c->context.uc_link = NULL;
	makecontext(&c->context, enter, 0);
	return nr++;
}

bool
sched_done(int i)
{
	return co[i].done;
}

void
sched_let_go(void)
{
	int from = running, to;

	adv_settle();
	left = 1u + (uint32_t)(sched_random() >> 20) % RUN_MAX;
	if (nr < 2)
		return;
	do
		to = (int)((sched_random() >> 16) % (uint64_t)nr);
	while (co[to].done || (to == from && nr > 2));
	if (to == from)
		return;
	running = to;
	hb_self = co[to].actor;
	swapcontext(&co[from].context, &co[to].context);
}

void
sched_hold(bool hold)
{
	held = hold;
}

void
sched_point(void)
{
	if (nr > 1 && !held && --left == 0)
		sched_let_go();
}

/* ---- In libc's place ---- */

int __wrap_pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_join(pthread_t thread, void **ret);
int __wrap_nanosleep(const struct timespec *req, struct timespec *rem);
int __wrap_sched_yield(void);

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	uint8_t actor = hb_actor_new("engine thread");

	(void)attr;
	hb_fork(hb_self, actor);
	*thread = (pthread_t)sched_new(actor, fn, arg);
	return 0;
}

int
__wrap_pthread_join(pthread_t thread, void **ret)
{
	while (!sched_done((int)thread)) /* bound: the caller has seen its last store */
		sched_let_go();
	if (ret)
		*ret = NULL;
	hb_join(hb_self, co[(int)thread].actor);
	return 0;
}

int
__wrap_nanosleep(const struct timespec *req, struct timespec *rem)
{
	(void)req;
	(void)rem;
	sched_let_go();
	return 0;
}

int
__wrap_sched_yield(void)
{
	sched_let_go();
	return 0;
}
