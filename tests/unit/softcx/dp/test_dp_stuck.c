/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of a crew for somebody who has died: each ends, says for what and for whom it was, and
 * stops the crew; and a holder that is slow only is waited for.
 */
#include "rig.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "drivers/softcx/dp/dp_all.h"

#define LOG    4u
#define MAX_NS 60000000u /* of a wait here */

static struct scx_crew *crew;

static int
setup(void **state)
{
	(void)state;
	crew = aligned_alloc(64, (sizeof(*crew) + 63u) & ~(size_t)63u);
	if (!crew)
		return -1;
	memset(crew, 0, sizeof(*crew));
	scx_crew_init(crew, 8);
	assert_int_equal(crew->wait_ns_max, SCX_CREW_NS_MAX);
	crew->wait_ns_max = MAX_NS;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(crew);
	return 0;
}

static void
expect(enum scx_wait_what what, uint32_t waiter, uint32_t holder, const char *words)
{
	const struct scx_stuck *s = &crew->stuck;
	char text[256];

	assert_true(scx_is_stuck(s));
	assert_int_equal(s->what, what);
	assert_int_equal(s->waiter, waiter);
	assert_int_equal(s->holder, holder);
	assert_in_range(s->waited_ns, MAX_NS, 10u * MAX_NS);
	assert_in_range(s->since_ns, 1, crl_now_ns() - MAX_NS);
	scx_stuck_str(s, text, sizeof(text));
	if (strstr(text, words) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", text, words);
}

/* Whoever comes now does not wait, and works no more. */
static void
expect_all_stop(void)
{
	uint64_t t = crl_now_ns();
	uint32_t gate = crew->gate;

	crew->rq_lock[5] = 1u + 6u;
	assert_false(scx_crew_lock(crew, 3, 5));
	assert_false(scx_crew_alone(crew, 4));
	crew->gate = gate | 1u;
	assert_false(scx_crew_rest(crew, 3));
	assert_false(scx_crew_join(crew, 2));
	assert_in_range(crl_now_ns() - t, 0, MAX_NS / 2u);
}

static void
test_lock(void **state)
{
	(void)state;
	crew->rq_lock[3] = 1u + 7u;
	assert_false(scx_crew_lock(crew, 2, 3));
	assert_int_equal(crew->stuck.which, 3);
	expect(SCX_WAIT_RQ, 2, 7, "for the lock of receive queue 3, which worker 7 holds");
	assert_int_equal(crew->rq_lock[3], 1u + 7u);
	expect_all_stop();
	expect(SCX_WAIT_RQ, 2, 7, "worker 2 waited "); /* the first stays */
}

static void
test_alone(void **state)
{
	(void)state;
	assert_true(scx_crew_join(crew, 1));
	assert_false(scx_crew_alone(crew, SCX_NOBODY));
	expect(SCX_WAIT_REST, SCX_NOBODY, 1, "the others to rest, which worker 1 does not");
	assert_true(crew->gate & 1u);
	expect_all_stop();
}

static void
test_rest(void **state)
{
	(void)state;
	assert_true(scx_crew_alone(crew, 4));
	assert_false(scx_crew_rest(crew, 1));
	expect(SCX_WAIT_GATE, 1, 4, "the gate to open, which worker 4 has closed");
	expect_all_stop();
}

static void *
let_go_later(void *arg)
{
	struct timespec nap = {0, MAX_NS / 2u};

	nanosleep(&nap, NULL);
	scx_st32(arg, 0);
	return NULL;
}

static void
test_slow(void **state)
{
	pthread_t thread;

	(void)state;
	crew->wait_ns_max = 1000ull * MAX_NS;
	crew->rq_lock[3] = 1u + 7u;
	assert_int_equal(pthread_create(&thread, NULL, let_go_later, &crew->rq_lock[3]), 0);
	assert_true(scx_crew_lock(crew, 2, 3));
	pthread_join(thread, NULL);
	assert_int_equal(crew->rq_lock[3], 1u + 2u);
	assert_false(scx_is_stuck(&crew->stuck));
}

/* A waiter that was stopped for an hour has not waited for an hour. */
static void
test_stopped(void **state)
{
	struct scx_wait t = {0, 0, 0, 0};
	uint32_t i;

	(void)state;
	for (i = 0; i < 2u * SCX_CREW_LOOKS; i++)
		assert_true(scx_wait_on(&t, MAX_NS));
	for (i = 0; i < SCX_CREW_STEPS - 1u; i++) {
		t.last_ns -= 3600000000000ull;
		t.looks = SCX_CREW_LOOKS - 1u;
		assert_true(scx_wait_on(&t, MAX_NS));
	}
}

/* A worker with a frame for a queue whose lock a dead one has; then one who answers the host. */
static void
test_worker(void **state)
{
	struct scx_worker *k = aligned_alloc(64, (sizeof(*k) + 63u) & ~(size_t)63u);
	struct scx_remote *r = aligned_alloc(64, (sizeof(*r) + 63u) & ~(size_t)63u);
	struct scx_remote_step *s = aligned_alloc(64, (sizeof(*s) + 63u) & ~(size_t)63u);
	uint8_t mac[6] = {2, 0, 0, 0, 0, 0};
	const struct crl_warp w = {1, 0};
	struct rig *rig = rig_new(3);
	struct rig_cq tx_cq, rx_cq;
	struct rig_sq sq;
	struct rig_rq rq;

	(void)state;
	assert_non_null(k);
	assert_non_null(r);
	assert_non_null(s);
	memset(k, 0, sizeof(*k));
	memset(r, 0, sizeof(*r));
	rig_cq(rig, &tx_cq, LOG, 0, 0);
	rig_cq(rig, &rx_cq, LOG, 0, 0);
	rig_sq(rig, &sq, &tx_cq, 0x1800, LOG);
	rig_rq(rig, &rq, &rx_cq, 0x2800, LOG, 4);
	rig_tir(rig, RIG_TIR, rq.rqn);
	rig_rule(rig, 0, mac, SCX_FLOW_TIR, RIG_TIR);
	rig_rq_post(&rq, 1u << 20, 2048, 4);
	rig_udp4(rig->mem, 64, 9, 7);
	memcpy(rig->mem, mac, sizeof(mac));
	rig_send(&sq, 0, 64, 2, 0);
	rig_ring(rig, &sq);

	for (uint32_t i = 0; i < SCX_DP_RQ_MAX; i++)
		crew->rq_lock[i] = 1u + 7u;
	scx_worker_begin(k, rig->dp, crew, 0);
	for (uint32_t i = 0; i < 4u; i++)
		scx_worker_turn(&w, k);
	expect(SCX_WAIT_RQ, 0, 7, "worker 0 waited ");
	assert_true(k->stuck);
	scx_worker_end(k);
	assert_int_not_equal(crew->rest[0].gate, SCX_GONE);
	assert_null(rig_cqe(&rx_cq));
	assert_null(rig_cqe(&tx_cq));

	scx_remote_init(s, rig->dp, r);
	r->cmd_seq = 1;
	assert_int_equal(scx_remote_crew_turn(s, crew), 0);
	assert_int_equal(r->stuck.what, SCX_WAIT_RQ);
	assert_int_equal(r->stuck.holder, 7);
	assert_int_equal(r->cmd_done, 0);
	rig_cq_free(&tx_cq);
	rig_cq_free(&rx_cq);
	rig_sq_free(&sq);
	rig_rq_free(&rq);
	rig_free(rig);
	free(s);
	free(r);
	free(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lock, setup, teardown),
		cmocka_unit_test_setup_teardown(test_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slow, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_worker, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
