/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps addresses away from libFuzzer. It learns from comparisons: what the code compared goes into
 * later inputs. UBSan's checks compare pointers, too, and those are other ones on each machine and
 * in each run, so that no two runs would try the same inputs. The linker leads the 8-byte
 * comparisons through here (--wrap); what may be an address is not passed on.
 *
 * Nor does the code under test see a clock (meson.build gives it this one): times are compared, and
 * stand in CQEs, whose memory an input may make a command's, too.
 */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Names that the linker makes out of the instrumentation's. */
void __real___sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b);
void __real___sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b);
void __wrap___sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b);
void __wrap___sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b);

/* A user's address, as Linux gives them: programs, heaps and stacks lie far above these 16 TiB. */
static bool
address(uint64_t v)
{
	return v >> 44 != 0 && v >> 48 == 0;
}

void
__wrap___sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b)
{
	if (!address(a) && !address(b))
		__real___sanitizer_cov_trace_cmp8(a, b);
}

void
__wrap___sanitizer_cov_trace_const_cmp8(uint64_t a, uint64_t b)
{
	if (!address(a) && !address(b))
		__real___sanitizer_cov_trace_const_cmp8(a, b);
}

int fz_clock_gettime(clockid_t clock, struct timespec *t);

/* A microsecond later at each look, so that waits end. */
int
fz_clock_gettime(clockid_t clock, struct timespec *t)
{
	static uint64_t us = 1000000;

	(void)clock;
	us++;
	t->tv_sec = (time_t)(us / 1000000);
	t->tv_nsec = (long)(us % 1000000 * 1000);
	return 0;
}
