// SPDX-License-Identifier: BSD-3-Clause
/* The lines of `carillon-bench tax`. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
tax_lines(struct bn_run *run, struct bn_tax_cfg c)
{
	static const char *const beside[] = {
		"alone", "beside an idle engine", "beside a busy engine"};
	struct bn_quantiles q[3] = {{0}};
	char what[400], by[200];
	struct bn_setting s = {
		.what = what,
		.placement = "GPU memory",
		.trigger = "UAR in host memory",
		.nic_step = "nobody",
		.fence = "system scope",
		.clock = "GPU events",
		.unit = "ns",
	};
	struct bn_result r, part;
	int rc;

	snprintf(what, sizeof(what), "tax: %s", c.load == BN_GEMM ? "matrix product" : "copy");
	if (!bn_wanted(run, what))
		return;
	rc = run->api.tax(&c, &r);
	if (rc != 0) {
		bn_failed(run, &s, &r, rc);
		return;
	}
	snprintf(by, sizeof(by), "%s", r.why);
	for (uint32_t i = 0; i < 3; i++) {
		part = r;
		part.nr_samples = r.nr_samples / 3u;
		part.sample = malloc(part.nr_samples * sizeof(uint64_t) + 1u);
		if (!part.sample)
			break;
		memcpy(part.sample, r.sample + i * part.nr_samples,
			part.nr_samples * sizeof(uint64_t));
		part.done = part.nr_samples;
		snprintf(what, sizeof(what), "tax: %s of %u%s, %s, %s%s",
			c.load == BN_GEMM ? "matrix product" : "copy", c.size,
			c.load == BN_GEMM ? "" : " MiB", by, beside[i],
			c.small && i == 1 ? " of 32 registers" : "");
		bn_quantiles(part.sample, part.nr_samples, 1, &q[i]);
		bn_line(run, &s, &part, 1, NULL);
		if (i > 0 && q[0].p50 > 0)
			bn_note(run, "%s: %+.2f%% at the median", what,
				100 * (q[i].p50 / q[0].p50 - 1));
	}
	free(r.sample);
}

void
bn_tax(struct bn_run *run)
{
	struct bn_tax_cfg c = {
		.repeats = run->opt->samples ? run->opt->samples
			   : run->opt->quick ? 5
					     : 100,
	};

	c.load = BN_GEMM;
	c.size = run->opt->quick ? 1024 : 8192;
	tax_lines(run, c);
	c.small = true;
	tax_lines(run, c);
	c.size = run->opt->quick ? 1024 : 16384;
	c.repeats = c.repeats / 4u + 1u;
	tax_lines(run, c);
	c.repeats = run->opt->samples ? run->opt->samples : c.repeats * 4u - 4u;
	c.load = BN_COPY;
	c.size = run->opt->quick ? 64 : 4096;
	tax_lines(run, c);
}
