// SPDX-License-Identifier: BSD-3-Clause
/*
 * Quantiles of samples by GSL's histograms: bins that grow by half a percent from 1 to 10^11, so a
 * quantile is right to that. Least and largest are exact.
 */
#include "bench.h"

#include <errno.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_histogram.h>

#define BINS   5100u
#define GROWTH 1.005

int
bn_quantiles(const uint64_t *sample, uint32_t n, double scale, struct bn_quantiles *q)
{
	static double range[BINS + 1];
	gsl_histogram *h;
	gsl_histogram_pdf *p;
	double sum = 0;
	int rc = -ENOMEM;

	*q = (struct bn_quantiles){0};
	if (n == 0)
		return -EINVAL;
	gsl_set_error_handler_off();
	range[0] = 0;
	range[1] = 1;
	for (uint32_t i = 2; i <= BINS; i++)
		range[i] = range[i - 1] * GROWTH;
	h = gsl_histogram_alloc(BINS);
	p = gsl_histogram_pdf_alloc(BINS);
	if (!h || !p || gsl_histogram_set_ranges(h, range, BINS + 1) != GSL_SUCCESS)
		goto out;
	q->min = q->max = (double)sample[0];
	for (uint32_t i = 0; i < n; i++) {
		double x = (double)sample[i];

		if (gsl_histogram_increment(h, x) != GSL_SUCCESS) {
			rc = -ERANGE;
			goto out;
		}
		sum += x;
		q->min = x < q->min ? x : q->min;
		q->max = x > q->max ? x : q->max;
	}
	rc = gsl_histogram_pdf_init(p, h) == GSL_SUCCESS ? 0 : -EINVAL;
	q->p50 = gsl_histogram_pdf_sample(p, 0.5);
	q->p99 = gsl_histogram_pdf_sample(p, 0.99);
	q->p999 = gsl_histogram_pdf_sample(p, 0.999);
	/* A bin's end can lie beyond the largest sample, or its start before the least. */
	q->p50 = q->p50 > q->max ? q->max : q->p50 < q->min ? q->min : q->p50;
	q->p99 = q->p99 > q->max ? q->max : q->p99;
	q->p999 = q->p999 > q->max ? q->max : q->p999;
	q->mean = sum / n * scale;
	q->min *= scale;
	q->p50 *= scale;
	q->p99 *= scale;
	q->p999 *= scale;
	q->max *= scale;
out:
	gsl_histogram_pdf_free(p);
	gsl_histogram_free(h);
	return rc;
}
