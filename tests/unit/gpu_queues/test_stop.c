/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine.c: how long the parts of a stop take, as it tells; and which kernel it asks for.
 */
#include "engine_rig.h"

#include <errno.h>

#include "gpu_queues/engines/stamp.h"
#include "gpu_queues/launch.h"

/* Long frames have a kernel of their own, and so has no other engine. */
static void
kernel_names(void **state)
{
	struct crl_engine_opts o = {.txpkts_nr = 1, .txpkts = {CRL_STAMP_LONG - 1u}};

	assert_string_equal(crl_engine_kernel("stamp", &o), "stamp");
	o.txpkts[0] = CRL_STAMP_LONG;
	assert_string_equal(crl_engine_kernel("stamp", &o), "stamp_long");
	assert_string_equal(crl_engine_kernel("io", &o), "io");
	o.txpkts[0] = 64;
	o.txpkts[o.txpkts_nr++] = 64;
	assert_string_equal(crl_engine_kernel("stamp", &o), "stamp_long");
}

/* The parts of a stop follow each other, and each is known. */
static void
stop_times(void **state)
{
	struct crl_stream_cfg s[QUEUES];
	struct crl_stop_times t;
	struct crl_engine_run *run;
	struct crl_engine_cfg cfg;
	struct crl_err err;
	uint32_t i;

	open_all(2);
	config(&cfg, s, 2, "io");
	memset(&t, 0xff, sizeof(t));
	assert_int_equal(crl_engine_start(&cfg, &run, &err), 0);
	assert_int_equal(crl_ld32(&nic[1].ctl.stopping), 0);
	assert_int_equal(crl_engine_stop_timed(run, 5000000000u, &t, &err), 0);
	assert_true(nic[0].ctl.stopping == 1 && nic[1].ctl.stopping == 1);
	assert_true(t.ns[0] > 0);
	for (i = 1; i < CRL_STOP_PARTS; i++)
		assert_true(t.ns[i - 1] <= t.ns[i]);
	assert_true(t.ns[CRL_STOP_FREED] < 5000000000u);
	/* nobody works: what is not seen is not given */
	cfg.flags = CRL_ENGINE_OWN_THREADS;
	assert_int_equal(crl_engine_start(&cfg, &run, &err), 0);
	assert_int_equal(crl_ld32(&nic[0].ctl.stopping), 0);
	assert_int_equal(crl_engine_stop_timed(run, 1000000, &t, &err), -ETIMEDOUT);
	for (i = 0; i < CRL_STOP_PARTS; i++)
		assert_int_equal(t.ns[i], 0);
	assert_int_equal(crl_engine_work(run, 0), 0);
	assert_int_equal(crl_engine_work(run, 1), 0);
	assert_int_equal(crl_engine_stop(run, 1000000, &err), 0);
	close_all(2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_names),
		cmocka_unit_test(stop_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
