/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines, producers and the host as threads beside a NIC's thread, for ThreadSanitizer, which must
 * report nothing; and with one edge of order.h left out, by name, must report a race, where the
 * edge keeps ordinary accesses apart. The NIC reads records between doorbells as well, as hardware
 * may.
 *
 * usage: tsan_edges [EDGE]; edges.sh runs it for each edge
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "drivers/softcx/fault.h"
#include "gpu_queues/control.h"
#include "gpu_queues/engine.h"
#include "gpu_queues/engines/macswap.h"
#include "gpu_queues/engines/txfirst.h"
#include "gpu_queues/sq_share.h"
#include "tests/soak/rig.h"

#define LOG	   6u
#define FRAMES	   8000u
#define PRODUCERS  3u
#define WAIT_NS	   20000000000u
#define TEST_NS	   60000000000u
#define TX_BYTES   65536u
#define PARKS	   5u
#define SHARE_EACH 1000u

extern const char *tsan_drop;

static struct {
	struct rig *rig;
	struct rig_queue q[2];
	pthread_t nic;
	uint32_t stop;
	uint64_t sum; /* of bytes read, so that reading is not left out */
	struct crl_sq_share share;
	struct crl_share_seat seat[PRODUCERS];
	uint64_t deadline;
} t;

static void
give_up(const char *why)
{
	fprintf(stderr, "tsan_edges: %s\n", why);
	exit(3);
}

static void
nap(void)
{
	const struct timespec ts = {0, 1000000};

	if (crl_now_ns() > t.deadline)
		give_up("no end in sight");
	nanosleep(&ts, NULL);
}

static void *
nic_main(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&t.stop, __ATOMIC_ACQUIRE)) /* forever: leaves on stop */
		if (rig_step(t.rig, NULL, 64) == 0)
			sched_yield();
	return NULL;
}

static void
begin(bool empw)
{
	struct scx_fault_plan plan = {.records = 1};
	uint32_t i;

	t.rig = rig_new(1u << 20, 1);
	scx_dp_faults(t.rig->dp, &plan);
	for (i = 0; i < 2; i++) {
		struct rig_cfg cfg = {
			.index = i, .log_tx = LOG, .log_rx = LOG, .signal_every = 8, .empw = empw};

		rig_queue_open(t.rig, &t.q[i], &cfg, TX_BYTES);
	}
	t.stop = 0;
	t.deadline = crl_now_ns() + TEST_NS;
	if (pthread_create(&t.nic, NULL, nic_main, NULL) != 0)
		give_up("no thread");
}

static void
end(void)
{
	__atomic_store_n(&t.stop, 1, __ATOMIC_RELEASE);
	pthread_join(t.nic, NULL);
	rig_free(t.rig);
}

static struct crl_engine_run *
start(const struct crl_engine *engine, const struct crl_engine_opts *opts, uint32_t first,
	uint32_t nr)
{
	struct crl_stream_cfg streams[2];
	struct crl_engine_cfg cfg = {.size = sizeof(cfg),
		.engine = engine,
		.opts = opts,
		.streams = streams,
		.nr_streams = nr,
		.burst = 8};
	struct crl_engine_run *run;
	struct crl_err err = {0};
	uint32_t i;

	for (i = 0; i < nr; i++)
		streams[i] = (struct crl_stream_cfg){
			.rx = &t.q[first + i].dev, .tx = &t.q[first + i].dev};
	if (crl_engine_start(&cfg, &run, &err) != 0)
		give_up(err.cause);
	return run;
}

static void
stop(struct crl_engine_run *run)
{
	struct crl_err err = {0};

	if (crl_engine_stop(run, TEST_NS, &err) != 0)
		give_up(err.cause);
}

static uint64_t
received(uint32_t i)
{
	struct crl_qstats st;

	crl_stats_read(&t.q[i].stats, &st);
	return st.rx_packets;
}

/* Reads all of a frame, writes a part of it, and sends it on: to itself, as its address says. */
static enum crl_verdict
touch(struct crl_stream *s, struct crl_pkt *pkt)
{
	uint64_t sum = 0;
	uint32_t i;

	(void)s;
	for (i = 0; i + 2u <= pkt->len; i += 2u)
		sum += crl_ld16(pkt->data + i);
	crl_st16(pkt->data + 60, (uint16_t)sum);
	return CRL_SEND;
}

static enum crl_turn
touch_turn(struct crl_stream *s)
{
	return crl_txfirst_due(s) ? crl_txfirst_turn(s) : crl_fwd_turn(s, touch);
}

static enum crl_verdict
look(struct crl_stream *s, struct crl_pkt *pkt)
{
	touch(s, pkt);
	return CRL_DROP;
}

static enum crl_turn
look_turn(struct crl_stream *s)
{
	return crl_fwd_turn(s, look);
}

static const struct crl_engine toucher = {
	"touch", "forwards", CRL_Q_RX | CRL_Q_TX, touch_turn, NULL, 0};
static const struct crl_engine looker = {"look", "reads", CRL_Q_RX, look_turn, NULL, 0};

/* Two engines that forward on two threads. The host parks one, and looks at what is the engine's.
 */
static void
forwarding(void)
{
	struct crl_engine_run *run[2];
	struct crl_watch w[2];
	uint64_t seen = 0, mark;
	uint32_t i;

	begin(false);
	for (i = 0; i < 2; i++) {
		struct crl_engine_opts opts = {.tx_first = 1};

		memcpy(opts.peer_mac, t.q[i].dev.mac, 6);
		run[i] = start(&toucher, &opts, i, 1);
		w[i] = (struct crl_watch){.ctl = &t.q[i].ctl};
	}
	while (received(0) < FRAMES || received(1) < FRAMES)
		nap();
	for (i = 0; i < PARKS; i++) {
		crl_control_park(&w[0], true);
		while (!crl_control_parked(&w[0]))
			nap();
		seen += t.q[0].dev.sq.pi + t.q[0].dev.rq.ci;
		mark = received(0);
		crl_control_park(&w[0], false);
		while (received(0) < mark + 10u)
			nap();
	}
	for (i = 0; i < 2; i++)
		stop(run[i]);
	t.sum += seen;
	end();
}

/* One sends frames that it writes anew each time, one reads what comes. */
static void
one_way(void)
{
	struct crl_engine_opts opts = {.flows = 100};
	struct crl_engine_run *reader, *writer;
	struct scx_dp_cmd rule = {.op = SCX_DP_RULE_ADD};

	begin(true);
	rule.u.rule.id = 0x700; /* flowgen's address is its own */
	rule.u.rule.tirn = t.q[1].tirn;
	rule.u.rule.dest = SCX_FLOW_TIR;
	memset(rule.u.rule.mask + 8, 0xff, 6);
	memcpy(rule.u.rule.match + 8, "\0\1\2\3\4\1", 6);
	__atomic_store_n(&t.stop, 1, __ATOMIC_RELEASE);
	pthread_join(t.nic, NULL);
	if (scx_dp_apply(t.rig->dp, &rule) != 0)
		give_up("no rule");
	__atomic_store_n(&t.stop, 0, __ATOMIC_RELEASE);
	pthread_create(&t.nic, NULL, nic_main, NULL);
	reader = start(&looker, NULL, 1, 1);
	writer = start(crl_engine_find("flowgen"), &opts, 0, 1);
	while (received(1) < FRAMES)
		nap();
	stop(writer);
	stop(reader);
	end();
}

static void
take_completions(void)
{
	uint64_t cookie[32];
	uint32_t i, n;

	if (crl_share_poll(&t.share, &t.q[0].dev.sq, t.q[0].error, cookie, 32, &n) == CRL_AGAIN)
		return;
	for (i = 0; i < n; i++)
		crl_share_seat_back(&t.seat[cookie[i]], 1);
}

static void *
producer(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg, k;
	struct crl_queue_dev *d = &t.q[0].dev;
	struct crl_piece piece = {NULL, 0, RIG_FRAME, d->txbuf.lkey};
	uint64_t pi, at;

	for (k = 0; k < SHARE_EACH;) { /* bound: the test's deadline */
		if (crl_now_ns() > t.deadline)
			give_up("a producer comes to no end");
		take_completions();
		if (crl_share_reserve_seat(&t.share, &d->sq, &t.seat[me], 1, &pi) != CRL_OK) {
			sched_yield();
			continue;
		}
		at = (pi % (1u << LOG)) * RIG_FRAME; /* its slot's own, free since its send ended */
		memset(d->txbuf.addr + at, (int)k, RIG_FRAME);
		piece.iova = d->txbuf.iova + at;
		if (crl_share_enter(&t.share, &d->sq, d->error, pi, 1, WAIT_NS) != CRL_OK)
			give_up("a turn did not come");
		crl_sq_put_send(&d->sq, pi, &piece, 1, 0, false, me);
		crl_share_leave(&t.share, &d->sq, pi + 1u, true);
		k++;
	}
	return NULL;
}

static void
sharing(void)
{
	pthread_t thread[PRODUCERS];
	uint32_t i;

	begin(false);
	crl_share_init(&t.share, &t.q[0].dev.sq);
	for (i = 0; i < PRODUCERS; i++)
		crl_share_seat_init(&t.seat[i], &t.q[0].dev.sq, PRODUCERS);
	for (i = 0; i < PRODUCERS; i++)
		if (pthread_create(&thread[i], NULL, producer, (void *)(uintptr_t)i) != 0)
			give_up("no thread");
	for (i = 0; i < PRODUCERS; i++)
		pthread_join(thread[i], NULL);
	end();
}

int
main(int argc, char **argv)
{
	tsan_drop = argc > 1 ? argv[1] : NULL;
	forwarding();
	one_way();
	sharing();
	printf("tsan_edges: %s\n", t.sum != 0 ? "done" : "nothing was read");
	return t.sum == 0;
}
