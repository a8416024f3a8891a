/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host thread in the place of a GPU's kernel: the same turns over the same block of memory, so
 * that the protocol of dp/remote.h is tested where there is no GPU. See ../step.h.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "../dp/dp_all.h"
#include "fw.h"
#include "../step.h"

#define IDLE_TURNS 64u /* without work before the thread naps */

struct thread_step {
	struct scx_step step;
	pthread_t thread;
	atomic_bool leave;
	struct scx_remote_step *s;
	void *uar; /* pages of its own: the driver's are the host's half's affair */
};

static void *
thread_main(void *arg)
{
	const struct timespec nap = {.tv_nsec = SCX_NAP_NS};
	struct thread_step *t = arg;
	unsigned idle = 0;

	prctl(PR_SET_NAME, "softcx-step");
	/* forever: steps until thread_end() sets leave */
	while (!atomic_load_explicit(&t->leave, memory_order_acquire)) {
		idle = scx_remote_turn(t->s) > 0 ? 0 : idle + 1u;
		if (idle > IDLE_TURNS)
			nanosleep(&nap, NULL);
		else if (idle > 0)
			sched_yield();
	}
	return NULL;
}

static int
thread_keep(void *arg)
{
	(void)arg;
	return 0;
}

static const char *
thread_why(void *arg)
{
	(void)arg;
	return "it does not fail";
}

static void
thread_free(struct thread_step *t)
{
	if (t->s != NULL)
		free(t->s->dp);
	free(t->s);
	free(t->uar);
	free(t->step.remote);
	free(t);
}

static void
thread_end(void *arg)
{
	struct thread_step *t = arg;

	atomic_store_explicit(&t->leave, true, memory_order_release);
	pthread_join(t->thread, NULL);
	thread_free(t);
}

static void *
zeroed(size_t bytes)
{
	void *p = NULL;

	if (posix_memalign(&p, 4096, bytes) != 0)
		return NULL;
	memset(p, 0, bytes);
	return p;
}

static struct thread_step *
thread_alloc(const struct scx_step_cfg *cfg)
{
	struct thread_step *t = calloc(1, sizeof(*t));
	struct scx_dp *dp = zeroed(sizeof(*dp));

	if (t == NULL || dp == NULL) {
		free(t);
		free(dp);
		return NULL;
	}
	t->s = zeroed(sizeof(*t->s));
	t->uar = zeroed((size_t)cfg->nr_uar_pages * CRL_UAR_BYTES);
	t->step.remote = zeroed(sizeof(*t->step.remote));
	if (t->s == NULL || t->uar == NULL || t->step.remote == NULL) {
		free(dp);
		thread_free(t);
		return NULL;
	}
	scx_state_init(dp, t->uar, cfg->nr_uar_pages, cfg->seed);
	scx_remote_init(t->s, dp, t->step.remote);
	return t;
}

struct scx_step *
scx_step_thread(const struct scx_step_cfg *cfg)
{
	struct thread_step *t = thread_alloc(cfg);
	sigset_t all, before;
	int rc;

	if (t == NULL)
		return NULL;
	t->step.where = "a host thread behind the GPU's protocol";
	t->step.arg = t;
	t->step.keep = thread_keep;
	t->step.why = thread_why;
	t->step.end = thread_end;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&t->thread, NULL, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		return &t->step;
	thread_free(t);
	return NULL;
}
