/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control loop, with events and naps of this file's own: who is told what, what is counted,
 * when it naps and how long, and when it leaves.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "drivers/mlx5/dpdk_internal.h"

#define LOOKS 4u

static struct crl_ctx ctx[3];
static struct crl_lcore lcore;

/* What each look finds, a context after another, and what was told and napped. */
static struct {
	int found[LOOKS]; /* -errno, or so many events */
	unsigned looks, naps, stop_at_nap;
	struct timespec nap;
	struct {
		const struct crl_ctx *ctx;
		int type;
	} told[64];
	unsigned nr_told;
} w;

int
crl_event_next(struct crl_ctx *c, struct crl_event *events, int max)
{
	int n = w.found[w.looks % LOOKS];

	assert_ptr_equal(c, &ctx[w.looks % lcore.nr_ctxs]);
	assert_int_equal(max, 16);
	w.looks++;
	for (int i = 0; i < n; i++)
		events[i].type = (enum crl_event_type)(10 * w.looks + (unsigned)i);
	return n;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int
__wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	assert_null(left);
	w.nap = *time;
	if (++w.naps == w.stop_at_nap)
		lcore.stop = 1;
	assert_true(w.naps < 100);
	return 0;
}

static void
told(void *arg, struct crl_ctx *c, const struct crl_event *event)
{
	assert_ptr_equal(arg, &w);
	w.told[w.nr_told].ctx = c;
	w.told[w.nr_told++].type = (int)event->type;
}

static struct crl_ctx *const ctxs[] = {&ctx[0], &ctx[1], &ctx[2]};

static int
start(void **state)
{
	memset(&w, 0, sizeof(w));
	memset(&lcore, 0, sizeof(lcore));
	lcore.size = sizeof(lcore);
	lcore.nr_ctxs = 2;
	lcore.event = told;
	lcore.arg = &w;
	lcore.ctxs = ctxs;
	return 0;
}

static void
once(void **state)
{
	w.found[0] = 2;
	w.found[1] = 1;
	assert_int_equal(crl_lcore_once(&lcore), 3);
	assert_int_equal(w.looks, 2);
	assert_int_equal(w.nr_told, 3);
	assert_ptr_equal(w.told[0].ctx, &ctx[0]);
	assert_int_equal(w.told[0].type, 10);
	assert_int_equal(w.told[1].type, 11);
	assert_ptr_equal(w.told[2].ctx, &ctx[1]);
	assert_int_equal(w.told[2].type, 20);
	assert_int_equal(lcore.nr_events, 3);
	assert_int_equal(lcore.nr_loops, 1);
	assert_int_equal(crl_lcore_once(&lcore), 0);
	assert_int_equal(lcore.nr_events, 3);
	assert_int_equal(lcore.nr_loops, 2);
	lcore.event = NULL; /* taken all the same */
	assert_int_equal(crl_lcore_once(&lcore), 3);
	assert_int_equal(w.nr_told, 3);
	assert_int_equal(lcore.nr_events, 6);
}

static void
fails(void **state)
{
	w.found[0] = 1;
	w.found[1] = -ENODEV;
	assert_int_equal(crl_lcore_once(&lcore), -ENODEV);
	w.looks = 0;
	assert_int_equal(crl_lcore_run(&lcore), -ENODEV);
	assert_int_equal(w.naps, 0);
	w.looks = 0;
	lcore.size--;
	assert_int_equal(crl_lcore_once(&lcore), -EINVAL);
	assert_int_equal(crl_lcore_run(&lcore), -EINVAL);
	assert_int_equal(w.looks, 0);
}

/* It naps where a look found nothing, and there alone. */
static void
naps(void **state)
{
	lcore.nr_ctxs = 1;
	w.found[0] = 1;
	w.found[2] = 5;
	w.stop_at_nap = 3;
	assert_int_equal(crl_lcore_run(&lcore), 0);
	assert_int_equal(w.looks, 6); /* 1, none, 5, none, 1, none */
	assert_int_equal(lcore.nr_events, 7);
	assert_int_equal(w.nap.tv_sec, 0);
	assert_int_equal(w.nap.tv_nsec, 1000000);
	assert_int_equal(crl_lcore_run(&lcore), 0); /* it was told to stop */
	assert_int_equal(w.looks, 6);
	lcore.stop = 0;
	lcore.interval_us = 2000003;
	w.stop_at_nap = 4;
	assert_int_equal(crl_lcore_run(&lcore), 0);
	assert_int_equal(w.nap.tv_sec, 2);
	assert_int_equal(w.nap.tv_nsec, 3000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(once, start),
		cmocka_unit_test_setup(fails, start),
		cmocka_unit_test_setup(naps, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
