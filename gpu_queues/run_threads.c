/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines as host threads. A thread turns its streams round robin; when none had anything to do it
 * lets go of its core by degrees: pauses, yields, then sleeps. So all works with fewer cores than
 * threads, the software NIC's own among them.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_loop.h"
#include "mem.h"
#include "order.h"
#include "run.h"

#define IDLE_PAUSES 32u	 /* idle rounds with a pause between them */
#define IDLE_YIELDS 512u /* further rounds that offer the core to others */
#define IDLE_SLEEP_NS                                                                              \
	50000 /* then sleeps of this length: latency of the first packet after a lull */
#define JOIN_SLEEP_NS 200000

static void
sleep_ns(long ns)
{
	struct timespec ts = {0, ns};

	nanosleep(&ts, NULL);
}

static void
back_off(uint32_t idle_rounds)
{
	if (idle_rounds < IDLE_PAUSES)
		crl_relax();
	else if (idle_rounds < IDLE_PAUSES + IDLE_YIELDS)
		sched_yield();
	else
		sleep_ns(IDLE_SLEEP_NS);
}

static void
work_loop(struct crl_engine_run *run, uint32_t thread)
{
	uint32_t i, live = 0, idle = 0;
	enum crl_turn turn;
	bool busy;

	for (i = thread; i < run->nr_streams; i += run->nr_threads)
		live += crl_stream_begin(run->stream[i]);
	while (live > 0) { /* forever: the persistent loop; leaves on each stream's ctl->stop */
		busy = false;
		for (i = thread; i < run->nr_streams; i += run->nr_threads) {
			if (run->stream[i]->mode == CRL_MODE_LEFT)
				continue;
			turn = run->engine->turn(run->stream[i]);
			busy |= turn == CRL_TURN_BUSY;
			live -= turn == CRL_TURN_LEFT;
		}
		idle = busy ? 0 : idle + 1u;
		if (!busy && live > 0)
			back_off(idle);
	}
}

int
crl_engine_work(struct crl_engine_run *run, uint32_t thread)
{
	uint32_t *working;

	if (thread >= run->nr_threads)
		return -EINVAL;
	working = &run->working[thread]; /* before the edge: behind it run may be gone */
	work_loop(run, thread);
	crl_order_work_before_word(); /* pairs with the freeing of run after working is 0 */
	crl_st32(working, 0);
	return 0;
}

struct thread_arg {
	struct crl_engine_run *run;
	uint32_t thread;
};

static void *
thread_main(void *p)
{
	struct thread_arg a = *(struct thread_arg *)p;
	char name[16];

	free(p);
	snprintf(name, sizeof(name), "crl-%.8s-%u", a.run->engine->name, a.thread % 100u);
	pthread_setname_np(pthread_self(), name);
	crl_engine_work(a.run, a.thread);
	return NULL;
}

/* One thread, pinned where a CPU was named. */
static int
start_one(struct crl_engine_run *run, uint32_t t, struct crl_err *err)
{
	struct thread_arg *a = malloc(sizeof(*a));
	pthread_attr_t attr;
	cpu_set_t set;
	int rc;

	if (!a)
		return crl_err_set(err, -ENOMEM, "start engine thread", NULL, "no memory");
	a->run = run;
	a->thread = t;
	pthread_attr_init(&attr);
	if (run->cpu[t] >= 0) {
		CPU_ZERO(&set);
		CPU_SET(run->cpu[t], &set);
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	}
	rc = pthread_create(&run->thread[t], &attr, thread_main, a);
	pthread_attr_destroy(&attr);
	if (rc == 0)
		return 0;
	free(a);
	return crl_err_set(err, -rc, "start engine thread", "name a CPU that this process may use",
		"thread %u on CPU %d: %s", t, run->cpu[t], strerror(rc));
}

int
crl_threads_start(struct crl_engine_run *run, struct crl_err *err)
{
	uint32_t i, k;
	int rc = 0;

	for (i = 0; i < run->nr_threads; i++)
		run->working[i] = 1;
	if (run->own)
		return 0;
	for (i = 0; i < run->nr_threads; i++) {
		rc = start_one(run, i, err);
		if (rc != 0)
			break;
		run->nr_started++;
	}
	if (rc == 0)
		return 0;
	for (k = i; k < run->nr_threads; k++)
		run->working[k] = 0;
	for (k = 0; k < run->nr_streams; k++)
		crl_st32(&run->stream[k]->ctl->stop, 1);
	for (k = 0; k < run->nr_started; k++)
		pthread_join(run->thread[k],
			NULL); /* bound: a stream leaves CRL_DRAIN_NS_MAX after stop */
	return rc;
}

static bool
any_working(const struct crl_engine_run *run)
{
	uint32_t i;

	for (i = 0; i < run->nr_threads; i++) {
		if (crl_ld32(&run->working[i]) != 0)
			return true;
	}
	return false;
}

int
crl_threads_join(struct crl_engine_run *run, uint64_t deadline_ns, struct crl_stop_watch *watch)
{
	uint32_t i;

	while (any_working(run)) {
		crl_stop_look(watch);
		if (crl_now_ns() > deadline_ns)
			return -ETIMEDOUT;
		sleep_ns(JOIN_SLEEP_NS);
	}
	crl_stop_look(watch);
	crl_order_seq_before_error(); /* pairs with each thread's last access before working became
					 0 */
	for (i = 0; i < run->nr_started; i++)
		pthread_join(run->thread[i], NULL); /* bound: only its return is left */
	run->nr_started = 0;
	watch->times->ns[CRL_STOP_ENDED] = watch->times->ns[CRL_STOP_FETCHED] =
		crl_now_ns() - watch->told_ns;
	return 0;
}
