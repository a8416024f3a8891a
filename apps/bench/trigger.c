// SPDX-License-Identifier: BSD-3-Clause
/* The lines of `carillon-bench trigger`. */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_bool hogs_stop;

static void *
hog(void *arg)
{
	volatile double x = 1;

	while (!atomic_load(&hogs_stop))
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001;
	return arg;
}

struct hogs {
	pthread_t *threads;
	uint32_t nr;
};

/* Two busy threads for every core, kept off those cores (up to three; -1: none). */
static void
hogs_start(struct hogs *h, long cpus, const int off[3])
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < cpus; i++)
		if (i != off[0] && i != off[1] && i != off[2])
			CPU_SET(i, &set);
	atomic_store(&hogs_stop, false);
	h->nr = 0;
	h->threads = calloc((size_t)cpus * 2u, sizeof(*h->threads));
	while (h->threads && h->nr < (uint32_t)cpus * 2u &&
		pthread_create(&h->threads[h->nr], NULL, hog, NULL) == 0) {
		pthread_setaffinity_np(h->threads[h->nr], sizeof(set), &set);
		h->nr++;
	}
}

static void
hogs_end(struct hogs *h)
{
	atomic_store(&hogs_stop, true);
	while (h->nr > 0)
		pthread_join(h->threads[--h->nr], NULL);
	free(h->threads);
}

#define PASSES 5u /* of all paths in turn: what drifts, drifts for all */

/* One path's samples over the passes. */
struct trigger_path {
	struct bn_trigger_cfg c;
	struct bn_result sum;
	int rc;
	bool wanted;
	char what[160];
};

static void
trigger_add(struct bn_run *run, struct trigger_path *p)
{
	struct bn_result r = {0};
	uint64_t *all;

	if (p->rc != 0)
		return; /* with the words of the first time */
	p->rc = run->api.trigger(&p->c, &r);
	if (p->rc != 0) {
		snprintf(p->sum.why, sizeof(p->sum.why), "%s", r.why);
		return;
	}
	all = realloc(p->sum.sample, (p->sum.nr_samples + r.nr_samples + 1u) * sizeof(uint64_t));
	if (all) {
		memcpy(all + p->sum.nr_samples, r.sample, r.nr_samples * sizeof(uint64_t));
		p->sum.sample = all;
		p->sum.nr_samples += r.nr_samples;
	}
	p->sum.done += r.done;
	p->sum.lost += r.lost;
	p->sum.torn += r.torn;
	free(r.sample);
}

static void
trigger_line(struct bn_run *run, struct trigger_path *p)
{
	bool gpu = p->c.path == BN_GPU_POST && p->c.rings_in_gpu;
	struct bn_setting s = {
		.what = p->what,
		.placement = gpu ? "GPU memory" : "host memory",
		.trigger = "UAR in host memory",
		.nic_step = "a host thread that polls the register",
		.fence = p->c.path == BN_ECHO ? "none" : bn_scope_name[p->c.scope],
		.clock = "CLOCK_MONOTONIC",
		.unit = "ns",
	};

	if (p->rc != 0)
		bn_failed(run, &s, &p->sum, p->rc);
	else
		bn_line(run, &s, &p->sum, 1, NULL);
}

/* All paths, so many times in turn. */
static void
trigger_set(struct bn_run *run, struct bn_trigger_cfg c, const char *cpus)
{
	static const struct {
		enum bn_path path;
		enum bn_scope scope;
		bool rings_in_gpu;
	} paths[] = {{BN_ECHO, BN_SYSTEM, false}, {BN_GPU_POST, BN_SYSTEM, false},
		{BN_GPU_POST, BN_SYSTEM, true}, {BN_GPU_POST, BN_GPU, true},
		{BN_LCORE, BN_SYSTEM, false}, {BN_SPIN_SYNC, BN_SYSTEM, false},
		{BN_BLOCK_SYNC, BN_SYSTEM, false}, {BN_LAUNCH, BN_SYSTEM, false}};
	static const char *const name[] = {"kernel echoes, no WQE (floor)", "GPU posts",
		"flag to a spinning lcore, which posts", "kernel ends, spinning sync, CPU posts",
		"kernel ends, blocking sync, CPU posts",
		"kernel launched then, spinning sync, CPU posts"};
	struct trigger_path p[8] = {{.rc = 0}};
	double p50[8] = {0};

	for (uint32_t i = 0; i < 8u; i++) {
		snprintf(
			p[i].what, sizeof(p[i].what), "trigger: %s; %s", name[paths[i].path], cpus);
		p[i].wanted = (run->api.gpu || !paths[i].rings_in_gpu) && bn_wanted(run, p[i].what);
	}
	for (uint32_t pass = 0; pass < PASSES; pass++)
		for (uint32_t i = 0; i < 8u; i++) {
			p[i].c = c;
			p[i].c.path = paths[i].path;
			p[i].c.scope = paths[i].scope;
			p[i].c.rings_in_gpu = paths[i].rings_in_gpu;
			p[i].c.rounds =
				c.rounds / (p[i].c.path >= BN_SPIN_SYNC ? 5u : 1u) / PASSES + 10u;
			if (p[i].wanted)
				trigger_add(run, &p[i]);
		}
	for (uint32_t i = 0; i < 8u; i++) {
		struct bn_quantiles q;

		bn_quantiles(p[i].sum.sample, p[i].sum.nr_samples, 1, &q);
		p50[i] = q.p50;
		if (p[i].wanted)
			trigger_line(run, &p[i]);
	}
	if (p50[2] > 0 && p50[4] > 0)
		bn_note(run,
			"GPU post, rings in GPU memory, over the spinning lcore, at the median; "
			"%s: system scope %.2f, gpu scope %.2f",
			cpus, p50[2] / p50[4], p50[3] / p50[4]);
}

/* The most messages a second that one lcore takes, flags of a kernel that does not wait for it. */
static void
break_even(struct bn_run *run, struct bn_trigger_cfg c)
{
	struct bn_setting s = {
		.what = "trigger: a lcore that takes flags and posts as fast as it can",
		.placement = "host memory",
		.trigger = "UAR in host memory",
		.nic_step = "nobody",
		.fence = "system scope",
		.clock = "CLOCK_MONOTONIC",
		.unit = "ns a message",
	};
	struct bn_quantiles q;
	struct bn_result r;
	int rc;

	if (!bn_wanted(run, s.what))
		return;
	c.path = BN_LCORE_RATE;
	c.rounds = 32000;
	rc = run->api.trigger(&c, &r);
	if (rc != 0) {
		bn_failed(run, &s, &r, rc);
		return;
	}
	bn_quantiles(r.sample, r.nr_samples, 1, &q);
	bn_line(run, &s, &r, 1, NULL);
	bn_note(run, "one lcore is full at %.2f M messages/s", q.p50 > 0 ? 1e3 / q.p50 : 0);
}

void
bn_trigger(struct bn_run *run)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	bool own = cpus >= 12;
	/* Four apart: two in a row can be one core's two threads. */
	struct bn_trigger_cfg c = {
		.rounds = (uint32_t)bn_rounds(run, 20000, 400),
		.cpu_main = own ? (int)cpus - 2 : -1,
		.cpu_nic = own ? (int)cpus - 6 : -1,
		.cpu_lcore = own ? (int)cpus - 10 : -1,
	};
	struct hogs h;

	trigger_set(run, c, own ? "cores of their own, machine idle" : "no cores to pin to");
	if (!own || !run->api.gpu || run->opt->quick)
		return;
	break_even(run, c);
	hogs_start(&h, cpus, (int[]){c.cpu_main, c.cpu_nic, c.cpu_lcore});
	trigger_set(run, c, "cores of their own, all others busy twice over");
	hogs_end(&h);
	hogs_start(&h, cpus, (int[]){c.cpu_main, c.cpu_nic, -1});
	trigger_set(run, c, "NIC and start on their own cores, the lcore's and all others busy");
	hogs_end(&h);
}
