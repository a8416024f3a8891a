// SPDX-License-Identifier: BSD-3-Clause
/*
 * One round: everything is made, the engines run until each flow's frames are back or nothing moves
 * any more, everything is taken down, and what the round saw is added up. Main thread; the engines
 * have threads of their own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu_queues/control.h"
#include "gpu_queues/mem.h"
#include "soak.h"

#define NAP_NS		5000000
#define SAMPLE_NS	1000000000u /* between two looks at what the process holds */
#define PROGRESS_MAX_NS 60000000000u

static int
start(struct soak *s, uint32_t which, const struct crl_engine *engine, uint32_t first, uint32_t nr,
	uint32_t threads, struct crl_err *err)
{
	struct crl_engine_cfg cfg = {.size = sizeof(cfg),
		.engine = engine,
		.nr_streams = nr,
		.burst = s->opt.burst,
		.nr_threads = threads < nr ? threads : nr};
	struct crl_stream_cfg *streams = calloc(nr, sizeof(*streams));
	int ret;

	if (streams == NULL)
		return crl_err_set(err, -ENOMEM, "begin a round", NULL, "no memory");
	for (uint32_t i = 0; i < nr; i++) {
		struct soak_queue *q = &s->queue[first + i];

		streams[i].rx = engine->needs & CRL_Q_RX ? &q->dev : NULL;
		streams[i].tx = engine->needs & CRL_Q_TX ? &q->dev : NULL;
		streams[i].ctl = which == 1 ? NULL : &q->ctl[which == 2];
	}
	cfg.streams = streams;
	ret = crl_engine_start(&cfg, &s->run[which], err);
	free(streams);
	return ret;
}

/* Senders first, so that what is under way still finds its way. */
static int
stop_all(struct soak *s, struct crl_err *err)
{
	int ret = 0;

	for (int i = 2; i >= 0; i--) {
		if (s->run[i] == NULL)
			continue;
		ret = crl_engine_stop(s->run[i], SOAK_STOP_NS_MAX, err);
		if (ret != 0)
			return ret;
		s->run[i] = NULL;
	}
	return 0;
}

/* Receive slots are the engines' to give: a frame sent before that finds none, and is lost. */
static int
wait_for_slots(struct soak *s, struct crl_err *err)
{
	uint64_t end = crl_now_ns() + (uint64_t)(s->opt.patience * 1e9);
	const struct timespec nap = {0, NAP_NS};
	struct crl_qstats st = {0};

	for (uint32_t i = 0; i < s->nr_queues; i++)
		for (crl_queue_stats(s->queue[i].queue, &st); st.rq_pi == 0;
			crl_queue_stats(s->queue[i].queue, &st)) {
			if (crl_now_ns() > end)
				return crl_err_set(err, -ETIMEDOUT, "begin a round",
					"give it more --patience",
					"queue %u's engine does not start", i);
			nanosleep(&nap, NULL);
		}
	return 0;
}

static int
start_all(struct soak *s, struct crl_err *err)
{
	const struct soak_options *o = &s->opt;
	int ret = start(s, 0, &soak_checker, 0, o->queues, o->threads, err);

	if (ret == 0 && o->forwarders != 0)
		ret = start(s, 1, o->forward, o->queues, o->forwarders, o->threads, err);
	if (ret == 0)
		ret = wait_for_slots(s, err);
	if (ret == 0)
		ret = start(s, 2, &soak_sender, 0, o->queues, o->threads, err);
	return ret;
}

/* Quotas: an equal share for each flow, and where its send error comes. */
static void
plan(struct soak *s, uint64_t packets)
{
	uint32_t n = s->opt.queues;

	for (uint32_t i = 0; i < n; i++) {
		struct soak_flow *f = &s->flow[i];

		f->quota = packets / n + (i < packets % n);
		f->bad_at = UINT64_MAX;
		if (i < s->opt.faults && f->quota > 0) {
			f->bad_at = (s->seed * 2654435761u + i * 40503u) % f->quota;
			s->planned++;
		}
	}
}

/* Whether every flow has sent all it may and each frame is back; *moved: a sum that rises. */
static bool
over(const struct soak *s, uint64_t *moved)
{
	bool all = true;

	*moved = 0;
	for (uint32_t i = 0; i < s->opt.queues; i++) {
		const struct soak_flow *f = &s->flow[i];
		uint32_t failed = __atomic_load_n(&f->failed, __ATOMIC_ACQUIRE);
		uint64_t taken = __atomic_load_n(&f->taken, __ATOMIC_ACQUIRE);
		uint64_t sent = __atomic_load_n(&f->sent, __ATOMIC_RELAXED);

		*moved += sent + taken;
		all &= failed ? taken >= sent - f->flushed : sent == f->quota && taken >= sent;
	}
	return all;
}

static void
progress(struct soak *s, uint64_t now, uint64_t moved)
{
	double t = (double)(now - s->start_ns) / 1e9;
	uint64_t packets = s->good + moved / 2u;

	printf("soak: %.0f s, round %u, %.3f million packets, %.3f a second\n", t, s->round + 1u,
		(double)packets / 1e6, (double)packets / 1e6 / t);
}

/* The NIC's and the queues' own reports; those of planned errors are told apart by their syndrome.
 */
static void
events(struct soak *s)
{
	struct crl_event ev[8];
	char line[512];
	int n = crl_event_next(s->ctx, ev, 8);

	for (int i = 0; i < n; i++) {
		if (ev[i].type == CRL_EVENT_LINK || ev[i].type == CRL_EVENT_WQ_ERROR)
			continue;
		if (ev[i].type == CRL_EVENT_QUEUE_ERROR && s->opt.faults != 0 &&
			ev[i].err.syndrome == CRL_SYND_LOCAL_PROT && !ev[i].err.is_rx) {
			s->errors++;
			continue;
		}
		s->unplanned++;
		fprintf(stderr, "carillon-soak: %s\n", crl_err_str(&ev[i].err, line, sizeof(line)));
	}
}

/* Things that grow while packets flow would not show in a comparison of rounds. */
static void
sample(struct soak *s, struct soak_leaks *base, bool *have)
{
	struct soak_leaks now;

	soak_leaks_count(&now);
	if (!*have)
		*base = now;
	*have = true;
	now.heap_bytes = base->heap_bytes; /* the other threads' is moving */
	s->leaked += soak_leaks_compare(base, &now);
}

static void
wait_for_end(struct soak *s, uint64_t until_ns)
{
	uint64_t now = crl_now_ns(), moved = 0, last = 0, since = now, sample_at = now + SAMPLE_NS;
	static uint64_t every = 1000000000u, tell_at;
	const struct timespec nap = {0, NAP_NS};
	uint64_t patience = (uint64_t)(s->opt.patience * 1e9);
	struct soak_leaks base;
	bool have = false;

	tell_at = tell_at ? tell_at : now + every;
	while (!over(s, &moved)) { /* bound: patience without a packet */
		now = crl_now_ns();
		if (moved != last) {
			last = moved;
			since = now;
		}
		events(s);
		if (now - since > patience || s->stop || now > until_ns)
			break;
		if (now >= sample_at) {
			sample(s, &base, &have);
			sample_at = now + SAMPLE_NS;
		}
		if (now >= tell_at) {
			progress(s, now, moved);
			every = every * 2u < PROGRESS_MAX_NS ? every * 2u : PROGRESS_MAX_NS;
			tell_at = now + every;
		}
		nanosleep(&nap, NULL);
	}
	if (now - since > patience)
		fprintf(stderr, "carillon-soak: round %u: nothing moves\n", s->round);
}

/* Ends early: nothing new is sent, what is under way comes back. */
static void
wind_up(struct soak *s)
{
	uint64_t moved, end = crl_now_ns() + (uint64_t)(s->opt.patience * 1e9);
	const struct timespec nap = {0, NAP_NS};

	for (uint32_t i = 0; i < s->opt.queues; i++)
		crl_control_park(&(struct crl_watch){.ctl = &s->queue[i].ctl[1]}, true);
	for (uint32_t i = 0; i < s->opt.queues; i++) {
		struct crl_watch w = {.ctl = &s->queue[i].ctl[1]};

		while (!crl_control_parked(&w) && crl_now_ns() < end)
			nanosleep(&nap, NULL);
	}
	for (uint32_t i = 0; i < s->opt.queues; i++)
		s->flow[i].quota = s->flow[i].sent;
	while (!over(s, &moved) && crl_now_ns() < end)
		nanosleep(&nap, NULL);
}

static void
add_up(struct soak *s)
{
	for (uint32_t i = 0; i < s->nr_queues; i++) {
		const struct crl_queue_dev *d = &s->queue[i].dev;

		s->laps += (d->sq.pi >> d->sq.log_depth) + (d->rq.pi >> d->rq.log_depth);
		s->wraps16 += (d->sq.pi >> 16) + (d->rq.pi >> 16);
		s->wraps24 += (d->sq.cq.ci >> 24) + (d->rq.cq.ci >> 24);
		s->forwarded += i >= s->opt.queues ? d->rq.ci : 0;
	}
	for (uint32_t i = 0; i < s->opt.queues; i++) {
		const struct soak_flow *f = &s->flow[i];
		uint64_t sent = f->sent - f->flushed;

		s->sent += sent;
		s->bytes += f->bytes;
		s->good += f->good;
		s->torn += f->torn;
		s->dup += f->dup;
		s->flushed += f->flushed;
		s->lost += f->gaps + (sent > f->expect ? sent - f->expect : 0);
	}
}

int
soak_round(struct soak *s, uint64_t packets, uint64_t until_ns, struct crl_err *err)
{
	struct crl_err close_err = {0};
	int ret = soak_open(s, err);

	if (ret != 0)
		return ret;
	plan(s, packets);
	ret = start_all(s, err);
	if (ret == 0) {
		wait_for_end(s, until_ns);
		wind_up(s);
	}
	if (stop_all(s, &close_err) != 0) { /* its memory is in use: nothing more can be done */
		*err = close_err;
		return err->code;
	}
	events(s);
	if (ret == 0)
		add_up(s);
	if (soak_close(s, &close_err) != 0 && ret == 0) {
		*err = close_err;
		ret = err->code;
	}
	return ret;
}
