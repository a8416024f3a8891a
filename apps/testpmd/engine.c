// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs the chosen engine over all queues: on worker lcores of EAL, or as a resident kernel when
 * --gpu is a CUDA device. Main lcore. No wait without a bound: an engine that does not leave is
 * reported, and its memory is left to the kernel.
 */
#include "app.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#define LEAVE_NS_MAX                                                                               \
	5000000000u /* an engine's drain is bounded by CRL_DRAIN_NS_MAX, a tenth of it */

struct work {
	struct crl_engine_run *run;
	uint32_t thread;
};

static struct work work[CRL_TP_CORES_MAX];

static int
lcore_main(void *arg)
{
	struct work *w = arg;

	return crl_engine_work(w->run, w->thread);
}

/* Worker lcores: engines take the first, CPU queues one more. */
static uint32_t
lcores_needed(const struct crl_tp_app *app)
{
	return (app->cuda_device < 0 ? app->opt.nb_cores : 0) + (app->opt.cpu_queues != 0);
}

int
crl_tp_engine_check(const struct crl_tp_app *app, struct crl_err *err)
{
	uint32_t have = rte_lcore_count() - 1;

	if (lcores_needed(app) <= have)
		return 0;
	return crl_err_set(err, -EINVAL, "--nb-cores",
		"give EAL more, as --lcores=0@0,1@1,2@1, or a smaller --nb-cores",
		"%u worker lcores are needed and EAL has %u beside the main one (--nb-cores=%u%s)",
		lcores_needed(app), have, app->opt.nb_cores,
		app->opt.cpu_queues ? ", --cpu-queues" : "");
}

static int
nth_worker(uint32_t n)
{
	unsigned lcore;

	RTE_LCORE_FOREACH_WORKER(lcore)
	if (n-- == 0)
		return (int)lcore;
	return -1;
}

/* Where the i-th of n shares of all begins. */
static uint32_t
share(uint32_t all, uint32_t n, uint32_t i)
{
	return (uint32_t)((uint64_t)all * i / n);
}

static uint32_t
fill_streams(struct crl_tp_app *app, struct crl_stream_cfg *s)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < app->nr_ports; i++)
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++, nr++) {
			struct crl_tp_queue *q = &app->ports[i].queues[k];

			s[nr] = (struct crl_stream_cfg){
				.rx = app->opt.engine->needs & CRL_Q_RX ? &q->dev : NULL,
				.tx = app->opt.engine->needs & CRL_Q_TX ? &q->dev : NULL,
				.ctl = q->watch.ctl,
			};
		}
	return nr;
}

/* Which lcore runs each queue: threads of its engine, in turn. */
static void
name_lcores(struct crl_tp_app *app, uint32_t queues)
{
	uint32_t nr = 0, run, first, threads;

	for (uint32_t i = 0; i < app->nr_ports; i++)
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++, nr++) {
			struct crl_tp_queue *q = &app->ports[i].queues[k];

			q->lcore = -1;
			if (app->nr_threads == 0)
				continue;
			for (run = 0; share(queues, app->nr_runs, run + 1) <= nr; run++)
				;
			first = share(app->nr_threads, app->nr_runs, run);
			threads = share(app->nr_threads, app->nr_runs, run + 1) - first;
			nr -= share(queues, app->nr_runs, run);
			q->lcore = nth_worker(first + nr % threads);
			nr += share(queues, app->nr_runs, run);
		}
}

/* Lcores for the i-th engine. */
static int
launch(struct crl_tp_app *app, uint32_t i, struct crl_err *err)
{
	uint32_t first = share(app->nr_threads, app->nr_runs, i);
	uint32_t end = share(app->nr_threads, app->nr_runs, i + 1);

	for (uint32_t t = first; t < end; t++) {
		work[t] = (struct work){app->run[i], t - first};
		if (rte_eal_remote_launch(lcore_main, &work[t], (unsigned)nth_worker(t)) != 0)
			return crl_err_set(err, -EBUSY, "start the engine", "report this",
				"lcore %d is busy", nth_worker(t));
	}
	return 0;
}

/* The engines, each over its share of queues and lcores. */
static int
start_runs(struct crl_tp_app *app, struct crl_engine_cfg *cfg, struct crl_err *err)
{
	const struct crl_stream_cfg *streams = cfg->streams;
	uint32_t queues = cfg->nr_streams, first;
	int ret = 0;

	for (uint32_t i = 0; i < app->nr_runs && ret == 0; i++) {
		first = share(queues, app->nr_runs, i);
		cfg->streams = streams + first;
		cfg->nr_streams = share(queues, app->nr_runs, i + 1) - first;
		cfg->nr_threads = share(app->nr_threads, app->nr_runs, i + 1) -
				  share(app->nr_threads, app->nr_runs, i);
		ret = crl_engine_start(cfg, &app->run[i], err);
		if (ret == 0 && app->nr_threads != 0)
			ret = launch(app, i, err);
	}
	return ret;
}

/* Forwarding goes on from here, or does not. */
static void
count_time(struct crl_tp_app *app, bool runs)
{
	uint64_t now = crl_now_ns();

	if (app->since_ns != 0)
		app->ran_ns += now - app->since_ns;
	app->since_ns = runs ? now : 0;
}

int
crl_tp_engine_start(struct crl_tp_app *app, struct crl_err *err)
{
	static struct crl_stream_cfg streams[CRL_TP_PORTS_MAX * CRL_TP_QUEUES_MAX];
	bool cuda = app->cuda_device >= 0;
	struct crl_engine_cfg cfg = {
		.size = sizeof(cfg),
		.flags = (cuda ? 0 : CRL_ENGINE_OWN_THREADS) |
			 (app->stands ? CRL_ENGINE_PARKED : 0),
		.where = cuda ? CRL_ON_CUDA : CRL_ON_HOST,
		.cuda_device = app->cuda_device,
		/* The NIC's kernel must go on beside the engine's, or neither does. */
		.spare_sms = crl_tp_step_gpu() == app->cuda_device,
		.engine = app->opt.engine,
		.opts = &app->opt.engine_opts,
		.streams = streams,
		.burst = app->opt.burst,
	};
	uint32_t queues, most;
	int ret;

	app->opt.engine_opts.tx_first = app->opt.tx_first;
	cfg.nr_streams = queues = fill_streams(app, streams);
	app->nr_threads = cuda ? 0 : app->opt.nb_cores < queues ? app->opt.nb_cores : queues;
	most = cuda ? queues : app->nr_threads;
	app->nr_runs = app->opt.engines < most ? app->opt.engines : most;
	name_lcores(app, queues);
	ret = start_runs(app, &cfg, err);
	if (ret == 0 && app->nr_runs != 0)
		crl_engine_facts(app->run[0], &app->facts);
	count_time(app, !app->stands);
	if (ret != 0) {
		crl_tp_engine_stop(app, NULL);
		return ret;
	}
	app->cpu_lcore = -1;
	if (app->opt.cpu_queues != 0) {
		app->cpu_lcore = nth_worker(app->nr_threads);
		rte_eal_remote_launch(crl_tp_cpu_loop, app, (unsigned)app->cpu_lcore);
	}
	return 0;
}

void
crl_tp_engine_go(struct crl_tp_app *app)
{
	for (uint32_t i = 0; i < app->nr_ports; i++)
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++)
			crl_control_park(&app->ports[i].queues[k].watch, false);
	__atomic_store_n(&app->stands, false, __ATOMIC_RELAXED);
	count_time(app, true);
}

/* One that failed, or has left, stands as well. */
static bool
all_stand(const struct crl_tp_app *app)
{
	for (uint32_t i = 0; i < app->nr_ports; i++)
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++) {
			const struct crl_watch *w = &app->ports[i].queues[k].watch;

			if (!crl_control_parked(w) && crl_ld32(&w->ctl->done) == 0)
				return false;
		}
	return true;
}

bool
crl_tp_engine_stand(struct crl_tp_app *app)
{
	uint64_t deadline = crl_now_ns() + LEAVE_NS_MAX;
	struct timespec nap = {0, 50000};

	for (uint32_t i = 0; i < app->nr_ports; i++)
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++)
			crl_control_park(&app->ports[i].queues[k].watch, true);
	__atomic_store_n(&app->stands, true, __ATOMIC_RELAXED);
	while (!all_stand(app)) {
		if (crl_now_ns() > deadline)
			return false;
		nanosleep(&nap, NULL);
	}
	count_time(app, false);
	return true;
}

int
crl_tp_engine_leave(struct crl_tp_app *app, bool leave, struct crl_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < app->nr_runs && ret == 0; i++)
		ret = leave ? crl_engine_park(app->run[i], LEAVE_NS_MAX, err)
			    : crl_engine_resume(app->run[i], err);
	if (ret == 0)
		count_time(app, !leave);
	return ret;
}

/* EAL's own wait has no bound. */
static int
lcore_wait(unsigned lcore, uint64_t deadline_ns)
{
	struct timespec nap = {0, 1000000};

	while (rte_eal_get_lcore_state(lcore) == RUNNING) {
		if (crl_now_ns() > deadline_ns)
			return -ETIMEDOUT;
		nanosleep(&nap, NULL);
	}
	rte_eal_wait_lcore(lcore);
	return 0;
}

/* All engines hear it before the first is waited for. */
static void
tell_stop(struct crl_tp_app *app)
{
	for (uint32_t i = 0; i < app->nr_ports; i++)
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++)
			crl_control_stop(&app->ports[i].queues[k].watch);
}

/* One engine, and its part of the times, which count from told. */
static int
stop_one(struct crl_tp_app *app, uint32_t i, uint64_t told, struct crl_err *err)
{
	uint64_t before = crl_now_ns() - told, *sum = app->stop.ns;
	struct crl_stop_times one;
	int ret = crl_engine_stop_timed(app->run[i], LEAVE_NS_MAX, &one, err);

	for (uint32_t k = 0; k < CRL_STOP_PARTS; k++)
		if (one.ns[k] != 0 && before + one.ns[k] > sum[k])
			sum[k] = before + one.ns[k];
	return ret;
}

int
crl_tp_engine_stop(struct crl_tp_app *app, struct crl_err *err)
{
	uint64_t told = crl_now_ns(), deadline = told + LEAVE_NS_MAX;
	struct crl_err e = {0};
	int ret = 0, one;

	if (app->nr_runs == 0)
		return 0;
	tell_stop(app);
	memset(&app->stop, 0, sizeof(app->stop));
	for (uint32_t i = 0; i < app->nr_runs; i++) {
		one = app->run[i] != NULL ? stop_one(app, i, told, &e) : 0;
		if (one == 0)
			app->run[i] = NULL;
		else if (ret == 0 && err != NULL)
			*err = e;
		ret = ret != 0 ? ret : one;
	}
	count_time(app, false);
	app->stop_ns = crl_now_ns() - told;
	if (ret != 0) {
		app->stopped_badly = 1;
		return ret;
	}
	app->nr_runs = 0;
	for (uint32_t i = 0; i < app->nr_threads; i++)
		if (lcore_wait((unsigned)nth_worker(i), deadline) != 0)
			app->stopped_badly = 1;
	if (app->cpu_lcore >= 0) {
		__atomic_store_n(&app->cpu_stop, 1, __ATOMIC_RELAXED);
		if (lcore_wait((unsigned)app->cpu_lcore, deadline) != 0)
			app->stopped_badly = 1;
	}
	if (app->stopped_badly)
		return crl_err_set(
			err, -ETIMEDOUT, "stop", "report this", "an lcore did not come back");
	return 0;
}
