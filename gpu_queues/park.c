/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams that stand still for a while and go on where they stood. Threads stay and wait; a kernel
 * has to end, as CUDA calls wait for it, and is started anew.
 */
#include <errno.h>
#include <time.h>

#include "engine.h"
#include "mem.h"
#include "order.h"
#include "run.h"

/* Whether all streams stand still; a stream that failed does as well. */
static bool
all_parked(const struct crl_engine_run *run)
{
	struct crl_ctl *ctl;
	uint32_t i;

	for (i = 0; i < run->nr_streams; i++) {
		ctl = run->stream[i]->ctl;
		if (crl_ld32(&ctl->parked) != crl_park_answer(crl_ld32(&ctl->park)) &&
			crl_ld32(&ctl->done) == 0)
			return false;
	}
	crl_order_seq_before_error(); /* pairs with each engine's last touch of its queues */
	return true;
}

static void
set_park(struct crl_engine_run *run, uint32_t wish)
{
	struct crl_ctl *ctl;
	uint32_t i, next;

	for (i = 0; i < run->nr_streams; i++) {
		ctl = run->stream[i]->ctl;
		next = crl_park_next(crl_ld32(&ctl->park), wish);
		crl_order_work_before_word(); /* pairs with each engine's use of its queues after it
						 saw the word: the host may have touched them */
		crl_st32(&ctl->park, next);
	}
}

int
crl_engine_park(struct crl_engine_run *run, uint64_t wait_ns, struct crl_err *err)
{
	uint64_t deadline = crl_until(crl_now_ns(), wait_ns);
	struct timespec nap = {0, 50000};
	int rc = 0;

	if (run->out)
		return 0;
	run->leaving = run->cuda != NULL;
	set_park(run, run->cuda ? CRL_PARK_LEAVE : CRL_PARK_STAND);
	while (!all_parked(run) && rc == 0) {
		if (crl_now_ns() > deadline)
			rc = -ETIMEDOUT;
		else
			nanosleep(&nap, NULL);
	}
	if (rc == 0 && run->cuda)
		rc = run->cuda_park(run->cuda, wait_ns, err);
	run->out = rc == 0 && run->cuda;
	if (rc == -ETIMEDOUT)
		return crl_err_set(err, rc, "park engine", "call again with more time",
			"not all of %u streams stand still after %llu ms", run->nr_streams,
			(unsigned long long)(wait_ns / 1000000u));
	return rc;
}

int
crl_engine_resume(struct crl_engine_run *run, struct crl_err *err)
{
	int rc = 0;

	/* who has left would not come back: a kernel starts whole */
	if (run->leaving && !run->out)
		return crl_err_set(err, -EAGAIN, "resume engine",
			"call crl_engine_park() until it returns 0, then resume",
			"streams were asked to leave their kernel, which has not ended yet");
	set_park(run, CRL_PARK_NOT);
	if (run->out)
		rc = run->cuda_resume(run->cuda, err);
	run->leaving = run->out = 0;
	return rc;
}
