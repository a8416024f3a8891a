/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread that steps NICs. It must leave the processor to others when there are fewer cores than
 * threads: after the last work it goes on for a while, then offers the processor at every turn,
 * then sleeps in short naps. A nap bounds what a doorbell or a command waits for an idle NIC.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "hca.h"

#define SLACK_NS 1000u
#define NICS_MAX 16u

struct scx_fw_thread {
	pthread_t thread;
	atomic_bool stop;
	unsigned nr;
	struct scx_nic *nic[NICS_MAX];
};

static void *
thread_main(void *arg)
{
	const struct timespec nap = {.tv_nsec = SCX_NAP_NS},
			      idle_nap = {.tv_nsec = SCX_IDLE_NAP_NS};
	struct scx_fw_thread *t = arg;
	uint64_t busy_at = scx_fw_now_ns();

	prctl(PR_SET_NAME, SCX_STEP_THREAD);
	prctl(PR_SET_TIMERSLACK, SLACK_NS);
	/* forever: steps until scx_nic_stop() sets stop */
	while (!atomic_load_explicit(&t->stop, memory_order_acquire)) {
		uint64_t now = scx_fw_now_ns();
		unsigned work = 0;

		for (unsigned i = 0; i < t->nr; i++)
			work += scx_fw_turn(t->nic[i], now);
		if (work > 0)
			busy_at = now;
		else if (now - busy_at > SCX_YIELD_NS)
			nanosleep(now - busy_at > SCX_IDLE_NS ? &idle_nap : &nap, NULL);
		else if (now - busy_at > SCX_SPIN_NS)
			sched_yield();
	}
	return NULL;
}

/* The program's signals are for the program's threads. */
static int
create_without_signals(struct scx_fw_thread *t)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV); /* of the thread's own making; blocked they would kill unheard */
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&t->thread, NULL, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* Locks in the order of the array, control sides first: scx_nic_stop() does the same. */
static void
lock_all(struct scx_nic **nics, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		pthread_mutex_lock(&nics[i]->lock);
	for (unsigned i = 0; i < nr; i++)
		pthread_mutex_lock(&nics[i]->step_lock);
}

/* And let go of them, with a new idea of who steps. */
static void
set_and_unlock_all(struct scx_nic **nics, unsigned nr, struct scx_fw_thread *t)
{
	for (unsigned i = 0; i < nr; i++) {
		nics[i]->thread = t;
		pthread_mutex_unlock(&nics[i]->step_lock);
	}
	for (unsigned i = 0; i < nr; i++)
		pthread_mutex_unlock(&nics[i]->lock);
}

int
scx_nic_start(struct scx_nic **nics, unsigned nr)
{
	struct scx_fw_thread *t;
	int rc;

	if (nr == 0 || nr > NICS_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < nr; i++)
		if (nics[i]->thread != NULL)
			return -EBUSY;
	t = calloc(1, sizeof(*t));
	if (t == NULL)
		return -ENOMEM;
	t->nr = nr;
	memcpy(t->nic, nics, nr * sizeof(nics[0]));
	lock_all(t->nic, nr);
	rc = create_without_signals(t);
	set_and_unlock_all(t->nic, nr, rc == 0 ? t : NULL);
	if (rc != 0)
		free(t);
	return -rc;
}

/* All NICs of one start are stopped together: the thread ends, whichever of them are named. */
void
scx_nic_stop(struct scx_nic **nics, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		struct scx_fw_thread *t = nics[i]->thread;

		if (t == NULL)
			continue;
		/* The thread takes no lock: it is joined while nobody else can step or command. */
		lock_all(t->nic, t->nr);
		atomic_store_explicit(&t->stop, true, memory_order_release);
		pthread_join(t->thread, NULL);
		set_and_unlock_all(t->nic, t->nr, NULL);
		free(t);
	}
}

unsigned
scx_nic_poll(struct scx_nic *nic)
{
	unsigned work = 0;

	pthread_mutex_lock(&nic->step_lock);
	if (nic->thread == NULL)
		work = scx_fw_turn(nic, scx_fw_now_ns());
	pthread_mutex_unlock(&nic->step_lock);
	if (nic->hca != NULL)
		scx_fw_plan_turn(nic);
	return work;
}
