/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control loop: takes the events of all contexts, in an lcore of its own or step by step in the
 * program's. It posts nothing and polls no queue; the engines do. Any lcore, one at a time.
 */
#include <errno.h>
#include <time.h>

#include "dpdk_internal.h"
#include "gpu_queues/mem.h"

#define EVENTS_A_LOOK	    16
#define DEFAULT_INTERVAL_US 1000u

CRL_PUBLIC int
crl_lcore_once(struct crl_lcore *lcore)
{
	struct crl_event events[EVENTS_A_LOOK];
	int total = 0;

	if (lcore->size != sizeof(*lcore))
		return -EINVAL;
	for (unsigned i = 0; i < lcore->nr_ctxs; i++) {
		int n = crl_event_next(lcore->ctxs[i], events, EVENTS_A_LOOK);

		if (n < 0)
			return n;
		for (int k = 0; k < n && lcore->event != NULL; k++)
			lcore->event(lcore->arg, lcore->ctxs[i], &events[k]);
		total += n;
	}
	lcore->nr_events += (uint64_t)total;
	lcore->nr_loops++;
	return total;
}

CRL_PUBLIC int
crl_lcore_run(void *arg)
{
	struct crl_lcore *lcore = arg;
	const uint32_t us = lcore->interval_us ? lcore->interval_us : DEFAULT_INTERVAL_US;
	const struct timespec pause = {.tv_sec = us / 1000000u, .tv_nsec = us % 1000000u * 1000};

	/* forever: the control loop; leaves on lcore->stop */
	while (!crl_ld32(&lcore->stop)) {
		int ret = crl_lcore_once(lcore);

		if (ret < 0)
			return ret;
		if (ret == 0)
			nanosleep(&pause, NULL);
	}
	return 0;
}
