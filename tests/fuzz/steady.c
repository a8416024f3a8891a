/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps addresses away from libFuzzer. It learns from comparisons: what the code compared goes into
 * later inputs. UBSan's checks compare pointers, too, and those are other ones on each machine and
 * in each run, so that no two runs would try the same inputs. The linker leads the 8-byte
 * comparisons through here (--wrap); what may be an address is not passed on.
 */
#include <stdbool.h>
#include <stdint.h>

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
