/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that an engine writes and the host reads. Host code.
 */
#include <string.h>

#include "control.h"
#include "mem.h"

#define COUNTERS                                                                                   \
	(offsetof(struct crl_qstats, sq_pi) / sizeof(uint64_t)) /* before the index copies */
#define INDEX_BYTES (offsetof(struct crl_qstats, rtt_count) - offsetof(struct crl_qstats, sq_pi))
#define WORDS (sizeof(struct crl_qstats) / sizeof(uint64_t))

void
crl_stats_read(const struct crl_qstats *shared, struct crl_qstats *out)
{
	const uint8_t *src = (const uint8_t *)shared;
	size_t i;

	for (i = 0; i < WORDS; i++)
		((uint64_t *)out)[i] = crl_ld64(src + i * sizeof(uint64_t));
}

/* Round trips of both: the shortest of either that has any, and the longest. */
static void
add_rtt(struct crl_qstats *sum, const struct crl_qstats *a)
{
	if (a->rtt_count != 0 && (sum->rtt_count == 0 || a->rtt_min_ns < sum->rtt_min_ns))
		sum->rtt_min_ns = a->rtt_min_ns;
	if (a->rtt_max_ns > sum->rtt_max_ns)
		sum->rtt_max_ns = a->rtt_max_ns;
	sum->rtt_count += a->rtt_count;
	sum->rtt_sum_ns += a->rtt_sum_ns;
}

void
crl_stats_add(struct crl_qstats *sum, const struct crl_qstats *a)
{
	size_t i;

	for (i = 0; i < COUNTERS; i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)a)[i];
	memcpy(&sum->sq_pi, &a->sq_pi, INDEX_BYTES);
	add_rtt(sum, a);
	sum->torn += a->torn;
	sum->missed += a->missed;
}

void
crl_stats_diff(
	const struct crl_qstats *now, const struct crl_qstats *before, struct crl_qstats *out)
{
	size_t i;

	for (i = 0; i < COUNTERS; i++)
		((uint64_t *)out)[i] = ((const uint64_t *)now)[i] - ((const uint64_t *)before)[i];
	memcpy(&out->sq_pi, &now->sq_pi, sizeof(*now) - offsetof(struct crl_qstats, sq_pi));
	out->rtt_count -= before->rtt_count;
	out->rtt_sum_ns -= before->rtt_sum_ns;
	out->torn -= before->torn;
	out->missed -= before->missed;
}
