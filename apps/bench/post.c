// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lines of `carillon-bench post`: single posts, rates by SMs, warps and batch, batch sizes, one
 * queue shared by many warps, and the inverse: what it takes for a given rate.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#define GOAL_MWQE 350.0 /* of the inverse */

static const char *const side_name[] = {"ours", "DOCA header"};
static const char *const share_name[] = {"", ", one queue a block", ", one queue for all"};

/* One line. Returns its median rate in Mwqe/s (single: cycles), less than 0 when it was not
 * measured. */
static double
one(struct bn_run *run, struct bn_post_cfg c, const char *group)
{
	bool gpu = run->api.gpu;
	char what[160];
	struct bn_setting s = {
		.what = what,
		.placement = gpu ? "GPU memory" : "host memory",
		.trigger = c.uar_in_gpu ? "UAR in GPU memory" : "UAR in host memory",
		.nic_step = !c.ring_full ? "nobody: ring-full check off"
			    : gpu	 ? "second kernel, same GPU: record to CQE"
					 : "a host thread: record to CQE",
		.fence = bn_scope_name[c.scope],
		.clock = gpu && c.single ? "SM cycles"
			 : gpu		 ? "GPU events"
					 : "CLOCK_MONOTONIC",
		.unit = c.single ? gpu ? "cycles" : "ns" : "ns a WQE",
	};
	struct json_object *more;
	struct bn_quantiles q = {0};
	struct bn_result r;
	double rate;

	if (c.single)
		snprintf(what, sizeof(what), "%s: %s, one thread, one WQE a doorbell%s", group,
			side_name[c.side], c.ring_full ? "" : ", no ring-full check");
	else
		snprintf(what, sizeof(what), "%s: %s, %u %s x %u %s, batch %u%s%s", group,
			side_name[c.side], c.blocks, gpu ? "SM" : "group", c.warps,
			gpu ? "warps" : "threads", c.batch, share_name[c.share],
			c.ring_full ? "" : ", no ring-full check");
	if (!bn_wanted(run, what))
		return -1;
	c.tear = run->opt->tear;
	if (c.side == BN_DOCA && !run->gpu.doca) {
		bn_line_missing(run, &s, gpu ? run->gpu.doca_from : "device code, needs a GPU");
		return -1;
	}
	if (run->api.post(&c, &r) != 0) {
		bn_line_missing(run, &s, r.why);
		run->failed++;
		return -1;
	}
	more = json_object_new_object();
	json_object_object_add(more, "group", json_object_new_string(group));
	json_object_object_add(more, "side", json_object_new_string(side_name[c.side]));
	json_object_object_add(more, "sms", json_object_new_int((int)c.blocks));
	json_object_object_add(more, "warps", json_object_new_int((int)c.warps));
	json_object_object_add(more, "batch", json_object_new_int((int)c.batch));
	json_object_object_add(more, "ring_full", json_object_new_boolean(c.ring_full));
	json_object_object_add(more, "ring_depth", json_object_new_int(1 << c.log_depth));
	if (c.single) {
		bn_quantiles(r.sample, r.nr_samples, 1, &q);
		bn_line(run, &s, &r, 1, more);
		return q.p50;
	}
	bn_quantiles(r.sample, r.nr_samples, 1, &q);
	rate = q.p50 > 0 ? r.extra[0] * 1e3 / q.p50 : 0;
	json_object_object_add(more, "mwqe_s", bn_number(rate));
	json_object_object_add(
		more, "mwqe_s_best", bn_number(q.min > 0 ? r.extra[0] * 1e3 / q.min : 0));
	bn_line(run, &s, &r, 1 / r.extra[0], more);
	return rate;
}

static void
both(struct bn_run *run, struct bn_post_cfg c, const char *group)
{
	double rate[2];

	for (c.side = BN_OURS; c.side <= BN_DOCA; c.side++)
		rate[c.side] = one(run, c, group);
	if (c.single && rate[0] > 0 && rate[1] > 0)
		bn_note(run, "%s, %s%s: %.0f / %.0f cycles = %.2f", group, bn_scope_name[c.scope],
			c.ring_full ? "" : ", no ring-full check", rate[0], rate[1],
			rate[0] / rate[1]);
	else if (rate[0] > 0 && rate[1] > 0)
		bn_note(run, "%s: %u SM x %u warps, batch %u, %s%s: %.1f / %.1f Mwqe/s = %.2f",
			group, c.blocks, c.warps, c.batch, bn_scope_name[c.scope],
			c.ring_full ? "" : ", no ring-full check", rate[0], rate[1],
			rate[0] / rate[1]);
}

/* Launches long enough that starting one does not count. */
static uint32_t
bursts(const struct bn_run *run, uint32_t batch)
{
	return !run->api.gpu || run->opt->quick ? 64 : batch >= 128 ? 2000 : 4000;
}

static void
rates(struct bn_run *run, struct bn_post_cfg c, const uint32_t *blocks, uint32_t nr_blocks)
{
	static const uint32_t warps[] = {1, 4, 8}, batch[] = {32, 256};

	for (uint32_t b = 0; b < nr_blocks; b++)
		for (uint32_t w = 0; w < (run->opt->quick ? 1 : 3); w++)
			for (uint32_t k = 0; k < 2; k++)
				for (c.scope = BN_SYSTEM; c.scope <= BN_GPU; c.scope++) {
					c.blocks = blocks[b];
					c.warps = warps[w];
					c.batch = batch[k];
					c.bursts = bursts(run, c.batch);
					both(run, c, "rate");
				}
}

static void
batches(struct bn_run *run, struct bn_post_cfg c)
{
	c.blocks = 1;
	for (c.batch = 1; c.batch <= 256; c.batch *= 2) {
		c.bursts = bursts(run, c.batch);
		for (c.warps = 1; c.warps <= 8; c.warps += 7)
			for (c.scope = BN_SYSTEM; c.scope <= BN_GPU; c.scope++)
				both(run, c, "batch");
	}
}

static void
shared(struct bn_run *run, struct bn_post_cfg c)
{
	static const uint32_t batch[] = {1, 32, 256};

	c.ring_full = true;
	c.blocks = 1;
	c.warps = run->api.gpu ? 8 : 2;
	for (c.share = BN_SHARED_BLOCK; c.share <= BN_SHARED_GPU; c.share++)
		for (uint32_t k = 0; k < 3; k++)
			for (c.scope = BN_SYSTEM; c.scope <= BN_GPU; c.scope++) {
				c.batch = batch[k];
				c.bursts = bursts(run, c.batch);
				both(run, c, "shared");
			}
}

/* The fewest warps on one SM, then SMs, that reach the rate. */
static void
inverse(struct bn_run *run, struct bn_post_cfg c)
{
	static const uint32_t batch[] = {32, 64, 256};
	double rate;

	c.side = BN_OURS;
	for (uint32_t k = 0; k < 3; k++)
		for (c.scope = BN_SYSTEM; c.scope <= BN_GPU; c.scope++) {
			c.batch = batch[k];
			c.bursts = bursts(run, c.batch);
			c.blocks = 1;
			for (c.warps = 1; c.warps <= 16; c.warps += c.warps < 4 ? 1 : 2) {
				rate = one(run, c, "inverse");
				if (rate < 0 || rate >= GOAL_MWQE)
					break;
			}
			if (c.warps > 16)
				bn_note(run,
					"%.0f Mwqe/s, batch %u, %s: 16 warps of one SM do not "
					"reach it",
					GOAL_MWQE, c.batch, bn_scope_name[c.scope]);
			else if (rate >= GOAL_MWQE)
				bn_note(run, "%.0f Mwqe/s, batch %u, %s: 1 SM, %u warps", GOAL_MWQE,
					c.batch, bn_scope_name[c.scope], c.warps);
		}
}

void
bn_post(struct bn_run *run)
{
	uint32_t all = (uint32_t)run->gpu.sms;
	const uint32_t gpu_blocks[] = {1, 2, 8, all}, host_blocks[] = {1};
	struct bn_post_cfg c =
				   {
					   .blocks = 1,
					   .warps = 1,
					   .batch = 1,
					   .log_depth = 12,
					   .launches = run->opt->samples ? run->opt->samples
						       : run->opt->quick ? 2
									 : 7,
					   .ring_full = true,
				   },
			   one_wqe = c;

	one_wqe.single = true;
	one_wqe.bursts = run->api.gpu ? 8192 : 512;
	for (int full = 1; full >= 0; full--)
		for (one_wqe.scope = BN_SYSTEM; one_wqe.scope <= BN_GPU; one_wqe.scope++) {
			one_wqe.ring_full = full;
			both(run, one_wqe, "single");
		}
	for (int full = 1; full >= 0; full--) {
		c.ring_full = full;
		if (run->api.gpu && !run->opt->quick)
			rates(run, c, gpu_blocks, 4);
		else
			rates(run, c, host_blocks, 1);
	}
	c.ring_full = true;
	shared(run, c);
	if (run->opt->quick || !run->api.gpu)
		return;
	batches(run, c);
	inverse(run, c);
	c.uar_in_gpu = true;
	rates(run, c, &gpu_blocks[3], 1);
}
