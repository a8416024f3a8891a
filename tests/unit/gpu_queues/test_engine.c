/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine.c, run_threads.c, control.c, stats.c, error.c: engines as host threads beside a NIC, more
 * threads than cores; every refusal of start; stop with a bound; the control loop's notes.
 */
#include "engine_rig.h"

#include <errno.h>
#include <pthread.h>

#include "gpu_queues/control.h"
#include "gpu_queues/run.h"

static void
threads(uint32_t nr, uint32_t nr_threads, uint32_t total)
{
	struct crl_stream_cfg s[QUEUES];
	struct crl_engine_run *run;
	struct crl_engine_cfg cfg;
	struct crl_qstats sum, one;
	struct crl_err err;
	uint32_t i;

	open_all(nr);
	config(&cfg, s, nr, "macswap");
	cfg.nr_threads = nr_threads;
	assert_int_equal(crl_engine_start(&cfg, &run, &err), 0);
	assert_int_equal(crl_engine_nr_streams(run), nr);
	assert_non_null(crl_engine_stream(run, nr - 1));
	assert_null(crl_engine_stream(run, nr));
	feed(nr, total);
	assert_int_equal(crl_engine_stop(run, 20 * S_NS, &err), 0);
	memset(&sum, 0, sizeof(sum));
	for (i = 0; i < nr; i++) {
		assert_int_equal(nic[i].ctl.done, 1);
		crl_stats_read(&nic[i].stats, &one);
		crl_stats_add(&sum, &one);
	}
	assert_true(sum.rx_packets == (uint64_t)nr * total && sum.tx_packets == sum.rx_packets);
	assert_true(sum.tx_bytes == 64ull * sum.tx_packets && sum.rx_dropped == 0);
	close_all(nr);
}

static void
host_threads(void **state)
{
	threads(1, 1, 50000);
	threads(4, 1, 5000);
	threads(8, 8, 3000); /* more threads than this machine need have cores */
	threads(3, 2, 5000);
}

static void *
work(void *run)
{
	return (void *)(intptr_t)crl_engine_work(run, 0);
}

/* Threads of the caller's own, as lcores are; counters go on in a second run on the same queue. */
static void
own_threads(void **state)
{
	struct crl_stream_cfg s[1];
	struct crl_engine_run *run;
	struct crl_engine_cfg cfg;
	struct crl_err err;
	pthread_t t;
	void *rc;
	int i;

	open_all(1);
	for (i = 1; i <= 2; i++) {
		config(&cfg, s, 1, "io");
		cfg.flags = CRL_ENGINE_OWN_THREADS;
		assert_int_equal(crl_engine_start(&cfg, &run, &err), 0);
		assert_int_equal(crl_engine_work(run, 1), -EINVAL);
		/* Nobody works: it cannot be stopped, and says so in time. */
		assert_int_equal(crl_engine_stop(run, 1000000, &err), -ETIMEDOUT);
		assert_true(strstr(err.cause, "stream 0") != NULL);
		nic[0].ctl.stop = 0;
		assert_int_equal(pthread_create(&t, NULL, work, run), 0);
		nic[0].frames = 0;
		feed(1, 100);
		assert_int_equal(crl_engine_stop(run, 20 * S_NS, &err), 0);
		pthread_join(t, &rc);
		assert_int_equal((intptr_t)rc, 0);
		assert_int_equal(nic[0].stats.tx_packets, 100 * i);
	}
	close_all(1);
}

static void
refuse(struct crl_engine_cfg *cfg, int code, const char *word)
{
	struct crl_engine_run *run = NULL;
	struct crl_err err;
	char line[600];

	assert_int_equal(crl_engine_start(cfg, &run, &err), code);
	assert_null(run);
	assert_int_equal(err.code, code);
	crl_err_str(&err, line, sizeof(line));
	if (!strstr(line, word))
		fail_msg("\"%s\" is not in: %s", word, line);
	assert_int_equal(crl_engine_start(cfg, &run, NULL), code);
}

#define REFUSED(change, code, word)                                                                \
	do {                                                                                       \
		open_all(2);                                                                       \
		config(&cfg, s, 2, "io");                                                          \
		change;                                                                            \
		refuse(&cfg, code, word);                                                          \
		close_all(2);                                                                      \
	} while (0)

static void
refusals(void **state)
{
	struct crl_stream_cfg s[QUEUES];
	struct crl_engine_opts o;
	struct crl_engine_cfg cfg;
	int cpu = 1023;

	memset(&o, 0, sizeof(o));
	REFUSED(cfg.size--, -EINVAL, "version");
	REFUSED(cfg.engine = NULL, -EINVAL, "no engine");
	REFUSED(cfg.nr_streams = 0, -EINVAL, "no streams");
	REFUSED(cfg.burst = CRL_BURST_MAX + 1, -EINVAL, "burst of 65");
	REFUSED(s[1].rx = NULL, -EINVAL, "stream 1 lacks");
	REFUSED(s[1].ctl = nic[0].q.ctl, -EBUSY, "same control words");
	REFUSED(s[1].tx = NULL, -EINVAL, "stream 1 lacks");
	REFUSED(nic[1].q.abi = 9, -EPROTO, "device ABI 9, this engine is of ABI 3");
	REFUSED(nic[1].q.flags = CRL_Q_TX, -EINVAL, "queue 1 has no receive side");
	REFUSED(nic[1].q.flags = CRL_Q_RX, -EINVAL, "queue 1 has no send side");
	REFUSED(nic[1].q.sq.state = CRL_QS_FAILED, -EINVAL, "not ready");
	REFUSED(nic[1].q.rq.log_depth = 16, -EINVAL, "2^16");
	REFUSED(nic[1].q.stats = NULL, -EINVAL, "no counters");
	REFUSED(nic[1].q.rq.headroom = 1, -EINVAL, "frames at 1");
	REFUSED(nic[1].q.rq.headroom = 128, -EINVAL, "frames at 128");
	REFUSED(nic[1].q.sq.signal_every = 0, -EINVAL, "crl_signal_every");
	REFUSED(nic[1].q.sq.signal_every = 65, -EINVAL, "every 65 sends");
	REFUSED(nic[1].q.sq.inline_max = 8000, -EINVAL, "8000 inlined");
	REFUSED(s[1].rx = s[0].rx, -EBUSY, "receive from the same queue 0");
	REFUSED(s[1].tx = s[0].tx, -EBUSY, "send on the same queue 0");
	REFUSED(nic[1].q.ctl = NULL, -EINVAL, "no control words");
	REFUSED(crl_st32(&nic[1].q.ctl->owned, 1), -EBUSY, "the control words of stream 1");
	REFUSED(cfg.cpus = &cpu; cfg.nr_threads = 1, -EINVAL, "CPU 1023");
	cfg.opts = &o;
	REFUSED(cfg.engine = crl_engine_find("txonly"); cfg.opts = &o; o.txpkts_nr = 1;
		o.txpkts[0] = 41, -EINVAL, "must hold 42");
	REFUSED(cfg.engine = crl_engine_find("txonly"); cfg.opts = &o;
		o.txpkts[0] = 1515, -EINVAL, "up to 1514");
	REFUSED(cfg.engine = crl_engine_find("txonly"); cfg.opts = &o; o.txpkts[0] = 64;
		nic[0].q.txbuf.addr = NULL, -EINVAL, "txbuf");
}

/* What is one run's, no other gets, until it has stopped. */
static void
twice(void **state)
{
	struct crl_engine_run *run = NULL;
	struct crl_stream_cfg s[QUEUES];
	struct crl_engine_cfg cfg;

	open_all(1);
	config(&cfg, s, 1, "io");
	nic[0].stats.torn = 5; /* of a run before: counters do not go back */
	nic[0].stats.rtt_count = 6;
	assert_int_equal(crl_engine_start(&cfg, &run, NULL), 0);
	assert_int_equal(crl_ld32(&nic[0].q.ctl->owned), 1);
	refuse(&cfg, -EBUSY, "an engine runs");
	assert_int_equal(crl_engine_start_as(&cfg, 8, &run, NULL), -EPROTO);
	assert_int_equal(crl_engine_stop(run, UINT64_MAX, NULL), 0);
	assert_int_equal(crl_ld32(&nic[0].q.ctl->owned), 0);
	assert_true(nic[0].stats.torn == 5 && nic[0].stats.rtt_count == 6);
	close_all(1);
}

/* Without the kernels, or without a GPU for them, the reason is said. */
static void
no_cuda(void **state)
{
	struct crl_engine_run *run = NULL;
	struct crl_stream_cfg s[QUEUES];
	struct crl_engine_cfg cfg;
	struct crl_err err;
	int rc;

	open_all(1);
	config(&cfg, s, 1, "io");
	cfg.where = CRL_ON_CUDA;
	cfg.cuda_device = 4711;
	rc = crl_engine_start(&cfg, &run, &err);
	assert_true(rc == -ENOSYS || rc == -EIO);
	assert_true(err.code == rc && err.cause[0] && (rc == -EIO || strstr(err.fix, "nvcc")));
	assert_null(run);
	close_all(1);
}

static void
names(void **state)
{
	char buf[128];
	const struct crl_engine *e;

	assert_string_equal(crl_engine_names(buf, sizeof(buf)),
		"5tswap, flowgen, icmpecho, io, macswap, pingpong, rxonly, stamp, txonly");
	assert_null(crl_engine_find("csum"));
	assert_null(crl_engine_find(NULL));
	for (e = crl_engines; e->name; e++)
		assert_ptr_equal(crl_engine_find(e->name), e);
	crl_engine_names(buf, 5);
	assert_string_equal(buf, "5tsw");
}

static void
control_notes(void **state)
{
	struct crl_watch w[2];
	struct crl_note note[4];

	open_all(2);
	memset(w, 0, sizeof(w));
	w[0].ctl = &nic[0].ctl;
	w[1].ctl = &nic[1].ctl;
	w[1].error[0] = &nic[1].error[0];
	w[1].error[1] = &nic[1].error[1];
	assert_int_equal(crl_control_step(w, 2, S_NS, S_NS, note, 4), 0);
	nic[0].ctl.heartbeat = 1;
	assert_int_equal(crl_control_step(w, 2, 2 * S_NS, S_NS, note, 4), 1);
	assert_int_equal(note[0].type, CRL_NOTE_STALLED);
	assert_int_equal(note[0].watch, 1);
	assert_int_equal(note[0].err.code, -ETIMEDOUT);
	assert_int_equal(crl_control_step(w, 2, 2 * S_NS, S_NS, note, 4), 0); /* told once */
	nic[1].ctl.heartbeat = 1;
	assert_int_equal(crl_control_step(w, 2, 2 * S_NS, S_NS, note, 4), 1);
	assert_int_equal(note[0].type, CRL_NOTE_ALIVE);
	nic[1].error[1].seq = 1;
	nic[1].error[1].is_rx = 1;
	nic[1].error[1].syndrome = CRL_SYND_LOCAL_PROT;
	nic[1].error[0].seq = 1;
	nic[1].error[0].kind = CRL_QERR_COUNTER;
	assert_int_equal(crl_control_rearm(&w[1]), -EAGAIN); /* it does not stand still */
	nic[1].ctl.parked = crl_park_answer(0);
	assert_true(crl_control_parked(&w[1]));
	assert_int_equal(crl_control_rearm(&w[1]), -EBUSY); /* its errors were not taken */
	assert_int_equal(crl_control_step(w, 2, 2 * S_NS, S_NS, note, 1), 1); /* one at a time */
	assert_int_equal(note[0].type, CRL_NOTE_ERROR);
	assert_true(strstr(note[0].err.cause, "not outstanding") != NULL);
	assert_int_equal(crl_control_step(w, 2, 2 * S_NS, S_NS, note, 4), 1);
	assert_int_equal(note[0].err.syndrome, CRL_SYND_LOCAL_PROT);
	assert_int_equal(note[0].err.is_rx, 1);
	assert_int_equal(crl_control_rearm(&w[1]), 0);
	assert_int_equal(nic[1].ctl.rearm, 1);
	assert_false(crl_control_rearmed(&w[1]));
	nic[1].ctl.rearmed = 1;
	assert_true(crl_control_rearmed(&w[1]));
	crl_control_park(&w[0], true);
	assert_int_equal(nic[0].ctl.park & CRL_PARK_WISH, CRL_PARK_STAND);
	crl_control_stop(&w[0]);
	assert_int_equal(nic[0].ctl.stop, 1);
	nic[0].ctl.done = 1;
	assert_int_equal(crl_control_step(w, 2, 9 * S_NS, 100 * S_NS, note, 4), 1);
	assert_int_equal(note[0].type, CRL_NOTE_LEFT);
	assert_int_equal(crl_control_step(w, 2, 9 * S_NS, 100 * S_NS, note, 4), 0);
	close_all(2);
}

static void
stats(void **state)
{
	struct crl_qstats a, b, c;

	memset(&a, 1, sizeof(a));
	memset(&b, 0, sizeof(b));
	crl_stats_read(&a, &c);
	assert_memory_equal(&a, &c, sizeof(a));
	crl_stats_add(&b, &a);
	crl_stats_add(&b, &a);
	assert_true(b.tx_idle_polls == 2 * a.tx_idle_polls && b.rx_packets == 2 * a.rx_packets);
	assert_true(b.sq_pi == a.sq_pi && b.rtt_sum_ns == 2 * a.rtt_sum_ns);
	assert_true(b.torn == 2 * a.torn && b.missed == 2 * a.missed);
	assert_true(b.rtt_min_ns == a.rtt_min_ns && b.rtt_max_ns == a.rtt_max_ns);
	a.rtt_min_ns = 7;
	crl_stats_add(&b, &a);
	a.rtt_count = 0; /* it has none, and its least says nothing */
	a.rtt_min_ns = a.rtt_sum_ns = a.rtt_max_ns = 0;
	crl_stats_add(&b, &a);
	assert_true(b.rtt_min_ns == 7 && b.torn == 4 * a.torn);
	crl_stats_diff(&b, &a, &c);
	assert_true(c.torn == 3 * a.torn && c.rtt_count == b.rtt_count && c.rtt_min_ns == 7);
	memset(&a, 1, sizeof(a));
	memset(&b, 2, sizeof(b));
	crl_stats_diff(&b, &a, &c);
	assert_true(c.rx_packets == a.rx_packets && c.tx_bytes == a.tx_bytes && c.rq_ci == b.rq_ci);
}

/* Each syndrome and each kind has words; nothing is left empty. */
static void
errors(void **state)
{
	struct crl_qerror qe;
	struct crl_err err;
	char line[64];
	uint32_t i;

	memset(&qe, 0, sizeof(qe));
	for (i = 0; i < 256; i++)
		assert_true(crl_syndrome_str((uint8_t)i)[0] != '\0');
	for (i = 0; i <= CRL_QERR_LENGTH; i++) {
		qe.kind = (uint8_t)i;
		crl_err_from_qerror(&err, &qe);
		assert_true(err.code < 0 && err.step[0] && err.cause[0] && err.fix[0]);
	}
	assert_int_equal(crl_err_set(NULL, -EIO, "a", NULL, "b"), -EIO);
	assert_int_equal(crl_err_set(&err, -EIO, "step", NULL, "cause %d", 5), -EIO);
	assert_string_equal(crl_err_str(&err, line, sizeof(line)), "step: cause 5");
	crl_err_set(&err, -EIO, "step", "fix", "cause");
	crl_err_str(&err, line, 8);
	assert_string_equal(line, "step: c");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_threads),
		cmocka_unit_test(own_threads),
		cmocka_unit_test(refusals),
		cmocka_unit_test(twice),
		cmocka_unit_test(no_cuda),
		cmocka_unit_test(names),
		cmocka_unit_test(control_notes),
		cmocka_unit_test(stats),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
