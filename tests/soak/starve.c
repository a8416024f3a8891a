/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many threads on few cores: eight engines with a queue each, and eight producers on one queue
 * (sq_share.h), with the NIC's thread beside them, on two cores and on one. Nobody may starve:
 * while all together moved a window of frames, each must have moved. The bound is in frames, so
 * that a busy machine makes it slow and not wrong. The share of the slowest in any window is
 * printed.
 *
 * usage: soak_starve [FRAMES [plain]]: of engines with a queue each, 2000000 by default, and a
 * quarter of it on one queue; plain: producers without seats of their own, who do starve
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "gpu_queues/control.h"
#include "gpu_queues/engine.h"
#include "gpu_queues/mem.h"
#include "gpu_queues/sq_share.h"
#include "rig.h"

#define NR	     8u
#define ROUND_FRAMES 16u /* going round on each queue */
#define WINDOWS	     3u
#define WINDOW_NS    250000000u /* at least: a busy system takes turns in hundredths of seconds */
#define LOG	     8u
#define WAIT_NS	     20000000000u /* a producer's turn: many times eight threads' time */
#define TEST_NS_MAX  100000000000u

static struct {
	struct rig *rig;
	struct rig_queue q[NR];
	pthread_t nic;
	uint32_t stop;
	bool seats; /* producers have one each */
	int core;   /* all threads on this one; -1: on both */
	uint64_t frames;
	char wrong[160]; /* what watch() has seen; said when the threads are gone */
	struct crl_sq_share share;
	struct producer {
		struct crl_share_seat seat;
		uint64_t sent; /* its own thread's */
		uint32_t index;
		pthread_t thread;
		enum crl_st st;
	} p[NR];
} t;

static void
nothing_wrong(void)
{
	if (t.wrong[0] != '\0')
		fail_msg("%s", t.wrong);
}

static void
nap(long ns)
{
	const struct timespec ts = {0, ns};

	nanosleep(&ts, NULL);
}

static void
pin(void)
{
	cpu_set_t set;

	if (t.core < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(t.core, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

static void *
nic_main(void *arg)
{
	(void)arg;
	pin();
	while (!__atomic_load_n(&t.stop, __ATOMIC_ACQUIRE)) /* forever: leaves on stop */
		if (rig_step(t.rig, NULL, 64) == 0)
			sched_yield();
	return NULL;
}

static void
nic_start(void)
{
	t.stop = 0;
	assert_int_equal(pthread_create(&t.nic, NULL, nic_main, NULL), 0);
}

static void
nic_stop(void)
{
	__atomic_store_n(&t.stop, 1, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(t.nic, NULL), 0);
}

/*
 * Until all together moved so many frames: in each window everybody must have moved. count():
 * what the i-th has moved so far. The caller asserts that t.wrong is empty.
 */
static void
watch(const char *what, uint64_t frames, uint64_t (*count)(uint32_t i))
{
	uint64_t from[NR] = {0}, now[NR], sum, mark = 0, window = frames / WINDOWS, least;
	uint64_t end = crl_now_ns() + TEST_NS_MAX, since = crl_now_ns();
	double share = 1;
	uint32_t i, nr = 0, idle = NR;

	while (nr < WINDOWS) { /* bound: TEST_NS_MAX */
		for (i = 0, sum = 0; i < NR; i++)
			sum += now[i] = count(i);
		if (idle != 0) { /* the first window begins when all have begun */
			for (i = 0, idle = 0; i < NR; i++)
				idle += (from[i] = now[i]) == 0;
			mark = sum;
		}
		if (crl_now_ns() > end || t.wrong[0] != '\0') {
			snprintf(t.wrong + strlen(t.wrong), sizeof(t.wrong) - strlen(t.wrong),
				" (%llu frames in all)", (unsigned long long)sum);
			return;
		}
		if (sum - mark < window || crl_now_ns() - since < WINDOW_NS) {
			nap(1000000);
			continue;
		}
		for (i = 0, least = UINT64_MAX; i < NR; i++) {
			least = now[i] - from[i] < least ? now[i] - from[i] : least;
			if (now[i] == from[i])
				snprintf(t.wrong, sizeof(t.wrong),
					"number %u moved nothing while all moved %llu (last state "
					"%d)",
					i, (unsigned long long)(sum - mark), (int)t.p[i].st);
			from[i] = now[i];
		}
		if ((double)least * NR / (double)(sum - mark) < share)
			share = (double)least * NR / (double)(sum - mark);
		mark = sum;
		since = crl_now_ns();
		nr++;
	}
	printf("%s, %u threads on %s: the slowest moved %.2f of a fair share in its worst window "
	       "of %llu frames or more\n",
		what, NR, t.core < 0 ? "two cores" : "one core", share, (unsigned long long)window);
}

/* ---- A queue each ---- */

static uint64_t
queue_count(uint32_t i)
{
	struct crl_qstats st;

	crl_stats_read(&t.q[i].stats, &st);
	return st.rx_packets;
}

static struct crl_engine_run *
engine_start(struct rig_queue *q)
{
	struct crl_engine_opts opts = {.tx_first = 1};
	struct crl_stream_cfg stream = {.rx = &q->dev, .tx = &q->dev};
	struct crl_engine_cfg cfg = {.size = sizeof(cfg),
		.engine = crl_engine_find("io"),
		.opts = &opts,
		.streams = &stream,
		.nr_streams = 1,
		.nr_threads = 1,
		.cpus = &t.core,
		.burst = ROUND_FRAMES};
	struct crl_engine_run *run;
	struct crl_err err = {0};
	char line[512];

	memcpy(opts.peer_mac, q->dev.mac, 6);
	if (crl_engine_start(&cfg, &run, &err) != 0)
		fail_msg("%s", crl_err_str(&err, line, sizeof(line)));
	return run;
}

static void
engines_with_a_queue_each(void **state)
{
	struct crl_engine_run *run[NR];
	struct scx_dp_stats st;
	struct crl_err err;
	uint32_t i;

	(void)state;
	for (i = 0; i < NR; i++) {
		struct rig_cfg cfg = {.index = i,
			.log_tx = LOG,
			.log_rx = LOG,
			.signal_every = 32,
			.empw = i & 1u};

		rig_queue_open(t.rig, &t.q[i], &cfg, 65536);
	}
	nic_start();
	for (i = 0; i < NR; i++)
		run[i] = engine_start(&t.q[i]);
	watch("a queue each", t.frames, queue_count);
	for (i = 0; i < NR; i++)
		assert_int_equal(crl_engine_stop(run[i], TEST_NS_MAX, &err), 0);
	nic_stop();
	nothing_wrong();
	scx_dp_stats(t.rig->dp, &st);
	assert_int_equal(st.rx_no_buffer + st.rx_no_match + st.rx_dropped, 0);
	assert_int_equal(t.rig->reports, 0);
	for (i = 0; i < NR; i++) {
		assert_int_equal(t.q[i].error[0].seq + t.q[i].error[1].seq, 0);
		rig_queue_close(t.rig, &t.q[i]);
	}
	rig_reset(t.rig);
}

/* ---- One queue for all ---- */

static uint64_t
producer_count(uint32_t i)
{
	return __atomic_load_n(&t.p[i].sent, __ATOMIC_RELAXED);
}

/* Cookies name the producer. */
static void
take_completions(void)
{
	struct crl_sq *sq = &t.q[0].dev.sq;
	uint64_t cookie[64];
	uint32_t i, n;

	if (crl_share_poll(&t.share, sq, t.q[0].error, cookie, 64, &n) == CRL_AGAIN)
		return;
	for (i = 0; i < n; i++)
		crl_share_seat_back(&t.p[cookie[i]].seat, 1);
}

static enum crl_st
produce_one(struct producer *p, uint64_t number)
{
	struct crl_queue_dev *d = &t.q[0].dev;
	uint64_t at = (p->index * 64u + number % 64u) * RIG_FRAME, pi;
	struct crl_piece piece = {d->txbuf.addr + at, d->txbuf.iova + at, RIG_FRAME, d->txbuf.lkey};
	enum crl_st st;

	st = t.seats ? crl_share_reserve_seat(&t.share, &d->sq, &p->seat, 1, &pi)
		     : crl_share_reserve(&t.share, &d->sq, 1, &pi);
	if (st != CRL_OK)
		return st;
	st = crl_share_enter(&t.share, &d->sq, d->error, pi, 1, WAIT_NS);
	if (st != CRL_OK)
		return st;
	crl_sq_put_send(&d->sq, pi, &piece, 1, 0, false, p->index);
	crl_share_leave(&t.share, &d->sq, pi + 1u, true);
	return CRL_OK;
}

static void *
producer_main(void *arg)
{
	struct producer *p = arg;
	uint64_t number = 0;

	pin();
	while (!__atomic_load_n(&t.stop, __ATOMIC_ACQUIRE)) { /* forever: leaves on stop */
		p->st = produce_one(p, number);
		if (p->st == CRL_OK)
			__atomic_store_n(&p->sent, ++number, __ATOMIC_RELAXED);
		else if (p->st != CRL_AGAIN)
			break;
		take_completions();
		if (p->st == CRL_AGAIN)
			sched_yield();
	}
	return NULL;
}

static void
producers_on_one_queue(void **state)
{
	struct rig_cfg cfg = {.log_tx = LOG, .log_rx = LOG, .signal_every = 32};
	uint64_t end, sent = 0, taken;
	uint32_t i;

	(void)state;
	memset(t.p, 0, sizeof(t.p));
	rig_queue_open(t.rig, &t.q[0], &cfg, NR * 64u * RIG_FRAME);
	memset(t.q[0].dev.txbuf.addr, 0x77, NR * 64u * RIG_FRAME); /* to nobody */
	crl_share_init(&t.share, &t.q[0].dev.sq);
	nic_start();
	for (i = 0; i < NR; i++) {
		t.p[i].index = i;
		crl_share_seat_init(&t.p[i].seat, &t.q[0].dev.sq, NR);
		assert_int_equal(pthread_create(&t.p[i].thread, NULL, producer_main, &t.p[i]), 0);
	}
	watch("one queue for all", t.frames / 4u, producer_count);
	__atomic_store_n(&t.stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i < NR; i++)
		assert_int_equal(pthread_join(t.p[i].thread, NULL), 0);
	assert_int_equal(pthread_join(t.nic, NULL), 0);
	nothing_wrong();
	for (i = 0; i < NR; i++) {
		assert_true(t.p[i].st == CRL_OK || t.p[i].st == CRL_AGAIN);
		sent += t.p[i].sent;
	}
	end = crl_now_ns() + TEST_NS_MAX;
	do { /* bound: TEST_NS_MAX */
		rig_step(t.rig, NULL, 64);
		take_completions();
		for (i = 0, taken = 0; i < NR; i++)
			taken += t.p[i].seat.back;
	} while (taken < sent && crl_now_ns() < end);
	for (i = 0; i < NR; i++)
		assert_int_equal(t.p[i].seat.back, t.p[i].sent);
	assert_int_equal(t.q[0].error[0].seq + t.rig->reports, 0);
	rig_queue_close(t.rig, &t.q[0]);
	rig_reset(t.rig);
}

/* ---- */

static int core[2];

static int
two_cores(void **state)
{
	t.core = -1;
	t.wrong[0] = '\0';
	return state == NULL;
}

static int
one_core(void **state)
{
	t.core = core[0];
	t.wrong[0] = '\0';
	return state == NULL;
}

/* The process keeps the first two of its cores, or its only one. */
static void
choose_cores(void)
{
	cpu_set_t have, set;
	int i, n = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(have), &have), 0);
	CPU_ZERO(&set);
	for (i = 0; i < CPU_SETSIZE && n < 2; i++) {
		if (!CPU_ISSET(i, &have))
			continue;
		core[n++] = i;
		CPU_SET(i, &set);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(engines_with_a_queue_each, two_cores),
		cmocka_unit_test_setup(engines_with_a_queue_each, one_core),
		cmocka_unit_test_setup(producers_on_one_queue, two_cores),
		cmocka_unit_test_setup(producers_on_one_queue, one_core),
	};
	int failed;

	t.frames = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000u;
	t.seats = argc <= 2;
	choose_cores();
	t.rig = rig_new(8u << 20, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rig_free(t.rig);
	return failed;
}
