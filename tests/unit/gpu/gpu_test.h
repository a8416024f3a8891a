/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of drivers/gpu share: opening a device, and that nothing is left behind. */
#ifndef GPU_TEST_H
#define GPU_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "drivers/gpu/crl_gpu.h"
#include "fake_cuda.h"

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static inline struct crl_gpu *
open_kind(const char *name, enum crl_gpu_kind kind)
{
	struct crl_gpu_cfg cfg = {.name = name, .kind = kind, .numa_node = -1};
	struct crl_err err = {0};
	struct crl_gpu *g = NULL;
	int ret = crl_gpu_open(&cfg, &g, &err);

	if (ret != 0)
		print_message("%s: %s\n", err.step, err.cause);
	assert_int_equal(ret, 0);
	return g;
}

static inline int
setup(void **state)
{
	fake_cuda_reset();
	return 0;
}

/* Nothing may be left behind by any test. */
static inline int
teardown(void **state)
{
	struct fake_cuda *f = fake_cuda();

	assert_int_equal(f->allocs, 0);
	assert_int_equal(f->registered, 0);
	assert_int_equal(f->streams, 0);
	assert_int_equal(f->contexts, 0);
	assert_int_equal(f->depth, 0);
	return 0;
}

#endif /* GPU_TEST_H */
