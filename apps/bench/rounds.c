// SPDX-License-Identifier: BSD-3-Clause
/* The lines of `carillon-bench litmus`, `rtt` and `poll`. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

const char *const bn_scope_name[] = {"system scope", "gpu scope", "none"};

uint64_t
bn_rounds(const struct bn_run *run, uint64_t gpu, uint64_t host)
{
	uint64_t n = run->opt->rounds ? run->opt->rounds : run->api.gpu ? gpu : host;

	return run->opt->quick && !run->opt->rounds ? n / 20u + 1u : n;
}

/* What cannot be asked of host threads is no failure. */
void
bn_failed(struct bn_run *run, const struct bn_setting *s, struct bn_result *r, int rc)
{
	bn_line_missing(run, s, r->why);
	run->failed += rc != -ENOSYS;
}

/* ---- litmus ---- */

static void
litmus_line(struct bn_run *run, struct bn_litmus_cfg c)
{
	static const char *const edge[] = {"WQE before record", "record before UAR",
		"CQE before payload", "reads before give-back"};
	char what[128];
	struct bn_setting s = {
		.what = what,
		.placement = c.peer ? "GPU 0's memory, read over NVLink" : "host memory",
		.trigger = "the second word itself",
		.nic_step = c.peer ? "a kernel on the second GPU" : "host threads",
		.fence = bn_scope_name[c.scope],
		.clock = "none",
		.unit = "none",
	};
	struct json_object *more;
	struct bn_result r;
	int rc;

	snprintf(what, sizeof(what), "litmus: %s, %u x 64 bytes, %u pairs, seen by %s",
		edge[c.edge], c.wqes, c.pairs, c.peer ? "a second GPU" : "CPUs");
	if (!bn_wanted(run, what))
		return;
	rc = run->api.litmus(&c, &r);
	if (rc != 0) {
		bn_failed(run, &s, &r, rc);
		return;
	}
	more = json_object_new_object();
	json_object_object_add(more, "stale", json_object_new_int64((int64_t)r.torn));
	if (c.scope == BN_NO_FENCE)
		r.torn = 0; /* what the line is about, and no failure */
	bn_line(run, &s, &r, 1, more);
}

void
bn_litmus(struct bn_run *run)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct bn_litmus_cfg c = {
		.pairs = cpus > 8 ? 8 : 1,
		.rounds = bn_rounds(run, 500000, 20000),
	};

	if (run->api.gpu && run->gpu.devices < 2)
		bn_note(run, "one GPU here: what a second GPU sees was not measured");
	for (int peer = 0; peer < (run->api.gpu && run->gpu.devices > 1 ? 2 : 1); peer++)
		for (c.edge = BN_WQE_RECORD; c.edge <= BN_READ_GIVEBACK; c.edge++)
			for (int scope = BN_NO_FENCE; scope >= BN_SYSTEM; scope--) {
				c.scope = (enum bn_scope)scope;
				c.peer = peer;
				c.wqes = 8;
				/* The two edges of a receiver have system scope only. */
				if (c.edge >= BN_CQE_PAYLOAD && c.scope == BN_GPU)
					continue;
				litmus_line(run, c);
			}
}

/* ---- rtt ---- */

static double
rtt_line(struct bn_run *run, struct bn_rtt_cfg c)
{
	bool host = c.host || !run->api.gpu;
	char what[96];
	struct bn_setting s = {
		.what = what,
		.placement = host ? "host memory" : "GPU memory",
		.trigger = c.bare ? "a word"
			   : host ? "UAR in host memory"
				  : "UAR in GPU memory",
		.nic_step = host ? "a host thread" : "second kernel, same GPU",
		.fence = bn_scope_name[c.scope],
		.clock = run->api.gpu ? "SM cycles, scaled by the run's own ns" : "CLOCK_MONOTONIC",
		.unit = "ns",
	};
	struct bn_quantiles q = {0};
	struct bn_result r;
	int rc;

	snprintf(what, sizeof(what), "rtt: %s",
		c.bare ? "flags only, as many fences" : "one WQE, post to completion");
	if (!bn_wanted(run, what))
		return 0;
	rc = run->api.rtt(&c, &r);
	if (rc != 0) {
		bn_failed(run, &s, &r, rc);
		return 0;
	}
	bn_quantiles(r.sample, r.nr_samples, r.extra[0], &q);
	bn_line(run, &s, &r, r.extra[0], NULL);
	return q.p50;
}

void
bn_rtt(struct bn_run *run)
{
	struct bn_rtt_cfg c = {.rounds = (uint32_t)bn_rounds(run, 100000, 2000)};
	double ours, bare;

	for (int host = 0; host < (run->api.gpu ? 2 : 1); host++)
		for (c.scope = BN_SYSTEM; c.scope <= (host ? BN_SYSTEM : BN_GPU); c.scope++) {
			c.host = host;
			c.bare = true;
			bare = rtt_line(run, c);
			c.bare = false;
			ours = rtt_line(run, c);
			if (bare > 0 && ours > 0)
				bn_note(run,
					"rtt over the bare exchange, %s, %s: %.0f / %.0f ns = "
					"%.2f",
					host ? "NIC a host thread" : "same GPU",
					bn_scope_name[c.scope], ours, bare, ours / bare);
		}
}

/* ---- poll ---- */

void
bn_poll(struct bn_run *run)
{
	static const uint32_t n[] = {1, 8, 32, 1024};
	char what[96];
	struct bn_setting s = {
		.what = what,
		.placement = run->api.gpu ? "GPU memory" : "host memory",
		.trigger = "none: receive side",
		.nic_step = run->api.gpu ? "second kernel, same GPU" : "a host thread",
		.fence = "system scope",
		.clock = run->api.gpu ? "SM cycles, scaled by the run's own ns" : "CLOCK_MONOTONIC",
		.unit = "ns from CQE to answer",
	};
	struct bn_poll_cfg c = {.rounds = (uint32_t)bn_rounds(run, 50000, 1000)};
	struct bn_result r;
	int rc;

	for (int all = 0; all < 2; all++)
		for (uint32_t i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
			c.all = all;
			c.queues = n[i];
			snprintf(what, sizeof(what),
				all ? "poll: %u queues, all active, a warp each"
				    : "poll: one warp, %u queues, one active",
				c.queues);
			if (!bn_wanted(run, what) || (all && !run->api.gpu && n[i] > 8))
				continue;
			rc = run->api.poll(&c, &r);
			if (rc != 0)
				bn_failed(run, &s, &r, rc);
			else
				bn_line(run, &s, &r, r.extra[0], NULL);
		}
}
