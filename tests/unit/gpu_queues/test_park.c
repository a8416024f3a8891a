/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * park.c, control.c and engine_loop.h: streams that stand still for the host. On threads, as fast
 * as two can; of a kernel that is slow to leave; of a stream that failed. An answer to one wish is
 * never one to the next.
 */
#include "engine_rig.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "gpu_queues/control.h"
#include "gpu_queues/engine_loop.h"
#include "gpu_queues/run.h"

#define ROUNDS 100000u
#define FEW    100u /* rounds, also where others have the cores */

/* Parked streams touch nothing, whatever the NIC does; then they go on where they stood. */
static void
park_and_resume(void **state)
{
	struct crl_stream_cfg s[QUEUES];
	struct crl_engine_run *run;
	struct crl_engine_cfg cfg;
	struct crl_err err;
	uint8_t f[64] = {1, 2, 3};
	uint64_t before, i;

	open_all(3);
	config(&cfg, s, 3, "io");
	cfg.nr_threads = 2;
	assert_int_equal(crl_engine_start(&cfg, &run, &err), 0);
	feed(3, 500);
	assert_int_equal(crl_engine_park(run, 20 * S_NS, &err), 0);
	assert_int_equal(crl_engine_park(run, 20 * S_NS, &err), 0); /* as often as one likes */
	before = nic[0].q.rq.ci;
	for (i = 0; i < 8; i++)
		fake_receive(&nic[0], f, 64);
	for (i = crl_now_ns() + S_NS / 50; crl_now_ns() < i;)
		fake_doorbell(&nic[0]);
	assert_int_equal(nic[0].q.rq.ci, before);
	assert_int_equal(crl_engine_resume(run, &err), 0);
	for (i = crl_now_ns() + 60 * S_NS; nic[0].frames < 508 && crl_now_ns() < i;) {
		fake_doorbell(&nic[0]);
		fake_send(&nic[0], 64);
	}
	assert_int_equal(nic[0].frames, 508);
	assert_int_equal(crl_engine_park(run, 20 * S_NS, &err), 0);
	assert_int_equal(crl_engine_stop(run, 20 * S_NS, &err), 0); /* also from there */
	close_all(3);
}

/* Parked from the start, whatever an earlier run was told: nothing moves before it is let go. */
static void
begin_parked(void **state)
{
	struct crl_stream_cfg s[QUEUES];
	struct crl_engine_run *run;
	struct crl_engine_cfg cfg;
	struct crl_watch w = {0};
	struct crl_err err;
	uint8_t f[64] = {1, 2, 3};
	uint64_t end;

	(void)state;
	open_all(2);
	config(&cfg, s, 2, "io");
	cfg.flags = CRL_ENGINE_PARKED;
	w.ctl = nic[0].q.ctl;
	assert_int_equal(crl_engine_start(&cfg, &run, &err), 0);
	for (end = crl_now_ns() + 20 * S_NS; !crl_control_parked(&w) && crl_now_ns() < end;)
		crl_relax();
	assert_true(crl_control_parked(&w));
	assert_int_equal(nic[0].q.rq.pi, 0); /* not even buffers were given to the NIC */
	for (end = crl_now_ns() + S_NS / 50; crl_now_ns() < end;)
		assert_false(fake_receive(&nic[0], f, 64));
	assert_int_equal(crl_engine_resume(run, &err), 0);
	feed(2, 100);
	assert_int_equal(crl_engine_stop(run, 20 * S_NS, &err), 0);
	close_all(2);
}

/* Once more at once: the streams' words for the first park are none for the second. */
static void
park_again(void **state)
{
	struct crl_stream_cfg s[QUEUES];
	struct crl_engine_run *run;
	struct crl_engine_cfg cfg;
	struct crl_err err;
	uint32_t i, k;

	open_all(QUEUES);
	config(&cfg, s, QUEUES, "io");
	cfg.nr_threads = 2;
	assert_int_equal(crl_engine_start(&cfg, &run, &err), 0);
	for (i = 0; i < 100; i++) {
		assert_int_equal(crl_engine_park(run, 20 * S_NS, &err), 0);
		for (k = 0; k < QUEUES; k++)
			assert_int_equal(crl_ld32(&nic[k].ctl.parked),
				crl_park_answer(crl_ld32(&nic[k].ctl.park)));
		assert_int_equal(crl_engine_resume(run, &err), 0);
	}
	assert_int_equal(crl_engine_stop(run, 20 * S_NS, &err), 0);
	close_all(QUEUES);
}

/* Who may touch the queues, as the engine's thread and the host's believe. */
static struct {
	struct crl_stream s;
	uint64_t turns;	 /* plain: of the engine alone while it runs, of the host while it stands */
	uint32_t leave;
} own;

static void *
engine_thread(void *arg)
{
	bool run;

	(void)arg;
	while (!crl_ld32(&own.leave)) { /* bound: the host's rounds are */
		crl_stream_look(&own.s, &run);
		if (run)
			own.turns++;
		else
			sched_yield();
	}
	return NULL;
}

/*
 * The host takes the queues and lets go of them again and again, as fast as it can: whenever it is
 * told that the stream stands, the stream stands. Many rounds are begun before the stream has seen
 * that the one before was over.
 */
static void
park_fast(void **state)
{
	struct crl_watch w = {.ctl = &nic[0].ctl};
	uint64_t end = crl_now_ns() + 5 * S_NS, late = end + 55 * S_NS, turns;
	uint32_t i, k, rounds = 0;
	bool stands;
	pthread_t thread;

	open_all(1);
	memset(&own, 0, sizeof(own));
	own.s = (struct crl_stream){.rx = &nic[0].q, .tx = &nic[0].q, .ctl = &nic[0].ctl,
		.burst = 8, .look_every = 1};
	assert_true(crl_stream_begin(&own.s));
	assert_int_equal(pthread_create(&thread, NULL, engine_thread, NULL), 0);
	for (i = 0; i < ROUNDS && crl_now_ns() < (i > FEW ? end : late); i++) {
		crl_control_park(&w, true);
		while (!(stands = crl_control_parked(&w)) && crl_now_ns() < late)
			sched_yield();
		if (!stands)
			break; /* time is over */
		turns = crl_ld64(&own.turns);
		for (k = i % 16u; k > 0; k--)
			crl_relax();
		rounds += turns == crl_ld64(&own.turns) && own.s.mode == CRL_MODE_PARKED;
		crl_control_park(&w, false);
		assert_false(crl_control_parked(&w)); /* it may go on any time */
		if (i % 3u == 0)
			sched_yield();
	}
	crl_st32(&own.leave, 1);
	pthread_join(thread, NULL);
	assert_int_equal(rounds, i);
	assert_true(i > FEW); /* of 10^5 on two free cores; fewer where others have them */
	close_all(1);
}

/* A stream that failed stands without being asked; it answers each park, and an old answer does
 * not do for it. Asked to stand, it does not begin again before it is let go. */
static void
park_failed(void **state)
{
	struct crl_watch w = {.ctl = &nic[0].ctl};
	struct crl_stream s = {.rx = &nic[0].q, .tx = &nic[0].q, .ctl = &nic[0].ctl, .burst = 8,
		.look_every = 1};
	bool run;

	open_all(1);
	assert_true(crl_stream_begin(&s));
	nic[0].q.rq.state = CRL_QS_FAILED;
	assert_false(crl_control_parked(&w));
	crl_stream_look(&s, &run);
	assert_int_equal(s.mode, CRL_MODE_FAILED);
	assert_true(crl_control_parked(&w));
	crl_control_park(&w, true);
	assert_false(crl_control_parked(&w));
	crl_control_park(&w, false);
	assert_false(crl_control_parked(&w));
	crl_stream_look(&s, &run);
	assert_true(crl_control_parked(&w));
	crl_control_park(&w, true);
	crl_stream_look(&s, &run);
	assert_true(crl_control_parked(&w));
	assert_int_equal(crl_control_rearm(&w), 0);
	crl_stream_look(&s, &run);
	assert_true(crl_control_parked(&w) && !crl_control_rearmed(&w) && !run);
	crl_control_park(&w, false);
	assert_false(crl_control_parked(&w));
	crl_stream_look(&s, &run);
	assert_true(crl_control_rearmed(&w) && run);
	assert_false(crl_control_parked(&w));
	assert_int_equal(nic[0].ctl.parked, 0);
	/* let go by a re-arm, it may run any time, also before it has said so */
	nic[0].q.rq.state = CRL_QS_FAILED;
	crl_stream_look(&s, &run);
	assert_int_equal(crl_control_rearm(&w), 0);
	assert_false(crl_control_parked(&w));
	assert_int_equal(crl_control_rearm(&w), -EAGAIN);
	crl_stream_look(&s, &run);
	assert_true(run && crl_control_rearmed(&w));
	close_all(1);
}

/* What stands for a kernel: calls are counted, and answered as told. */
static int fake_end, fake_parks, fake_resumes, fake_stops, fake_refusal;

static int
fake_park(struct crl_cuda_run *r, uint64_t wait_ns, struct crl_err *err)
{
	fake_parks++;
	return fake_end;
}

static int
fake_resume(struct crl_cuda_run *r, struct crl_err *err)
{
	fake_resumes++;
	return fake_refusal ? crl_err_set(err, fake_refusal, "fake", NULL, "no kernel") : 0;
}

static int
fake_stop(
	struct crl_cuda_run *r, uint64_t wait_ns, struct crl_stop_watch *watch, struct crl_err *err)
{
	fake_stops++;
	return 0;
}

/* Stream i says that it stands. */
static void
answer(uint32_t i)
{
	nic[i].ctl.parked = crl_park_answer(nic[i].ctl.park);
}

/*
 * A kernel that is slow to leave: some streams have, some have not. It can be neither resumed nor
 * given up before it has ended, and then both work.
 */
static void
park_unfinished(void **state)
{
	struct crl_stream_cfg s[QUEUES];
	struct crl_engine_run *run;
	struct crl_engine_cfg cfg;
	struct crl_err err;
	int turn;

	open_all(2);
	config(&cfg, s, 2, "io");
	cfg.flags = CRL_ENGINE_OWN_THREADS; /* and nobody works: the words below are the streams' */
	assert_int_equal(crl_engine_start(&cfg, &run, &err), 0);
	run->cuda = (struct crl_cuda_run *)&nic[0];
	run->cuda_park = fake_park;
	run->cuda_resume = fake_resume;
	run->cuda_stop = fake_stop;
	for (turn = 0; turn < 2; turn++) {
		nic[1].ctl.parked = 0;
		fake_parks = fake_resumes = 0;
		assert_int_equal(crl_engine_park(run, 1000000, &err), -ETIMEDOUT);
		answer(0);
		assert_int_equal(crl_engine_park(run, 1000000, &err), -ETIMEDOUT);
		assert_int_equal(fake_parks, 0);
		assert_int_equal(crl_engine_resume(run, &err), -EAGAIN);
		assert_true(strstr(err.fix, "crl_engine_park()") != NULL);
		answer(1);
		fake_end = -ETIMEDOUT; /* all stand still, and the kernel is not gone yet */
		assert_int_equal(crl_engine_park(run, 1000000, &err), -ETIMEDOUT);
		assert_int_equal(crl_engine_resume(run, &err), -EAGAIN);
		if (turn == 1)
			assert_int_equal(crl_engine_stop(run, 1000000, &err), -ETIMEDOUT);
		assert_int_equal(nic[0].ctl.park & CRL_PARK_WISH, CRL_PARK_LEAVE);
		assert_int_equal(fake_resumes + fake_stops, 0);
		fake_end = 0;
		if (turn == 1)
			break;
		assert_int_equal(crl_engine_park(run, 1000000, &err), 0);
		assert_int_equal(crl_engine_resume(run, &err), 0);
		assert_int_equal(nic[0].ctl.park & CRL_PARK_WISH, CRL_PARK_NOT);
		assert_int_equal(fake_resumes, 1);
	}
	assert_int_equal(crl_engine_stop(run, 1000000, &err), 0);
	assert_int_equal(fake_resumes, 1); /* streams that left have sends to wait for */
	assert_int_equal(fake_stops, 1);
	close_all(2);
}

/* A kernel that does not start again: the stop says so, and leaves nothing that runs or is held. */
static void
stop_without_kernel(void **state)
{
	struct crl_stream_cfg s[QUEUES];
	struct crl_engine_run *run;
	struct crl_engine_cfg cfg;
	struct crl_err err;

	open_all(1);
	config(&cfg, s, 1, "io");
	cfg.flags = CRL_ENGINE_OWN_THREADS;
	assert_int_equal(crl_engine_start(&cfg, &run, &err), 0);
	run->cuda = (struct crl_cuda_run *)&nic[0];
	run->cuda_park = fake_park;
	run->cuda_resume = fake_resume;
	run->cuda_stop = fake_stop;
	fake_end = fake_stops = 0;
	fake_refusal = -EIO;
	assert_int_equal(crl_engine_park(run, 1000000, &err), -ETIMEDOUT);
	answer(0);
	assert_int_equal(crl_engine_park(run, 1000000, &err), 0);
	assert_int_equal(crl_engine_stop(run, 1000000, &err), -EIO);
	assert_string_equal(err.cause, "no kernel");
	assert_int_equal(fake_stops, 1);
	assert_int_equal(nic[0].ctl.owned, 0);
	fake_refusal = 0;
	close_all(1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(park_and_resume),
		cmocka_unit_test(begin_parked),
		cmocka_unit_test(park_again),
		cmocka_unit_test(park_fast),
		cmocka_unit_test(park_failed),
		cmocka_unit_test(park_unfinished),
		cmocka_unit_test(stop_without_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
