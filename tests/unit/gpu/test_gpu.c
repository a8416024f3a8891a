// SPDX-License-Identifier: BSD-3-Clause
/*
 * drivers/gpu without DPDK: host memory, and the CUDA back end over a stand-in for libcuda. Every
 * CUDA call is made to fail in turn; after each the counters of the stand-in must show that nothing
 * leaked.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu_test.h"

static char page[4096] __attribute__((aligned(4096)));

static void
alloc_and_free(void **state)
{
	const enum crl_gpu_kind kinds[] = {CRL_GPU_HOST, CRL_GPU_CUDA};

	for (int k = 0; k < 2; k++) {
		struct crl_gpu *g = open_kind("g", kinds[k]);
		char *a, *b, zero[64] = {0};

		assert_int_equal(crl_gpu_mem_alloc(g, 100, 0, (void **)&a, NULL), 0);
		assert_int_equal(crl_gpu_mem_alloc(g, 100, 1 << 20, (void **)&b, NULL), 0);
		assert_int_equal((uintptr_t)a % 4096, 0);
		assert_int_equal((uintptr_t)b % (1 << 20), 0);
		assert_memory_equal(a, zero, sizeof(zero));
		assert_int_equal(crl_gpu_mem_owns(g, a + 99, 1), 0);
		assert_int_equal(crl_gpu_mem_owns(g, a + 99, 2), -ERANGE);
		assert_int_equal(crl_gpu_mem_owns(g, page, 1), -EPERM);
		assert_int_equal(crl_gpu_mem_free(g, a + 64), -EPERM);
		assert_int_equal(crl_gpu_mem_free(g, page), -EPERM);
		assert_int_equal(crl_gpu_mem_free(g, a), 0);
		assert_int_equal(crl_gpu_mem_free(g, a), -EPERM);
		assert_int_equal(crl_gpu_mem_free(g, b), 0);
		assert_int_equal(crl_gpu_close(g, NULL), 0);
	}
	assert_int_equal(fake_cuda()->sync_memops, 2);
}

static void
bad_arguments(void **state)
{
	struct crl_gpu_cfg cfg = {.name = "x", .kind = CRL_GPU_HOST, .numa_node = 4000};
	struct crl_gpu *g = open_kind("g", CRL_GPU_HOST), *other;
	struct crl_err err = {0};
	void *p;

	assert_int_equal(crl_gpu_mem_alloc(g, 0, 0, &p, &err), -EINVAL);
	assert_int_equal(crl_gpu_mem_alloc(g, 64, 48, &p, &err), -EINVAL);
	assert_int_equal(crl_gpu_mem_alloc(g, SIZE_MAX / 2, 0, &p, &err), -EINVAL);
	assert_int_equal(crl_gpu_mem_alloc(g, (size_t)1 << 50, 0, &p, &err), -ENOMEM);
	assert_int_equal(crl_gpu_host_register(g, NULL, 1, NULL, &err), -EINVAL);
	assert_int_equal(crl_gpu_open(&cfg, &other, &err), -EINVAL);
	assert_non_null(strstr(err.cause, "NUMA node 4000"));
	cfg.name = "g";
	cfg.kind = CRL_GPU_CUDA;
	assert_int_equal(crl_gpu_open(&cfg, &other, &err), -EEXIST);
	cfg.name = "";
	assert_int_equal(crl_gpu_open(&cfg, &other, &err), -EINVAL);
	assert_null(crl_gpu_find("nobody"));
	assert_null(crl_gpu_find(NULL));
	assert_int_equal(crl_gpu_close(g, NULL), 0);
}

static void
references(void **state)
{
	struct crl_gpu *a = open_kind("g", CRL_GPU_HOST), *b = open_kind("g", CRL_GPU_HOST);
	struct crl_gpu *c = crl_gpu_find("g");
	struct crl_err err = {0};
	void *p;

	assert_ptr_equal(a, b);
	assert_ptr_equal(a, c);
	assert_int_equal(crl_gpu_mem_alloc(a, 1, 0, &p, NULL), 0);
	assert_int_equal(crl_gpu_close(b, NULL), 0);
	assert_int_equal(crl_gpu_close(c, NULL), 0);
	assert_int_equal(crl_gpu_close(a, &err), -EBUSY);
	assert_non_null(strstr(err.cause, "allocated"));
	assert_int_equal(crl_gpu_mem_free(a, p), 0);
	assert_int_equal(crl_gpu_close(a, &err), 0);
	assert_null(crl_gpu_find("g"));
}

static void
registration(void **state)
{
	const enum crl_gpu_kind kinds[] = {CRL_GPU_HOST, CRL_GPU_CUDA};

	for (int k = 0; k < 2; k++) {
		struct crl_gpu *g = open_kind("g", kinds[k]);
		struct crl_err err = {0};
		uint64_t dev = 0;

		fake_cuda()->shift = 0x1000000;
		assert_int_equal(crl_gpu_host_register(g, page, 1024, &dev, &err), 0);
		assert_int_equal(dev, (uintptr_t)page + (kinds[k] == CRL_GPU_CUDA ? 0x1000000 : 0));
		assert_int_equal(crl_gpu_host_register(g, page + 512, 1024, NULL, &err), -EEXIST);
		assert_int_equal(crl_gpu_host_unregister(g, page + 0x700), -EPERM);
		assert_int_equal(crl_gpu_close(g, &err), -EBUSY);
		assert_int_equal(crl_gpu_host_unregister(g, page), 0);
		assert_int_equal(crl_gpu_host_unregister(g, page), -EPERM);
		assert_int_equal(crl_gpu_close(g, NULL), 0);
	}
}

static void
many_registrations(void **state)
{
	/* What dpdk-test-gpudev does to a driver: over a thousand at once. */
	static char block[2000 * 64];
	struct crl_gpu *g = open_kind("g", CRL_GPU_HOST);

	for (int i = 0; i < 2000; i++)
		assert_int_equal(crl_gpu_host_register(g, block + i * 64, 64, NULL, NULL), 0);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(crl_gpu_host_unregister(g, block + i * 64), 0);
	assert_int_equal(crl_gpu_close(g, NULL), 0);
}

static void
doorbell_page(void **state)
{
	struct crl_gpu *g = open_kind("g", CRL_GPU_CUDA);
	struct crl_gpu_uar a, b;
	struct crl_err err = {0};
	bool io = true;
	char *gone;

	assert_int_equal(crl_gpu_page_is_io(page, &io), 0);
	assert_false(io);
	fake_cuda()->shift = 0x2000000;
	assert_int_equal(crl_gpu_uar_register(g, page + 0x800, &a, &err), 0);
	assert_int_equal(crl_gpu_uar_register(g, page + 0xa00, &b, &err), 0);
	assert_int_equal(fake_cuda()->registered, 1); /* once per page */
	assert_int_equal(fake_cuda()->reg_flags, 3);  /* portable and mapped, not I/O memory */
	assert_int_equal(a.dev_reg, (uintptr_t)page + 0x2000800);
	assert_int_equal(b.dev_reg, (uintptr_t)page + 0x2000a00);
	assert_false(a.io);
	assert_int_equal(crl_gpu_uar_unregister(g, &a), 0);
	assert_int_equal(fake_cuda()->registered, 1);
	assert_int_equal(crl_gpu_uar_unregister(g, &b), 0);
	assert_int_equal(crl_gpu_uar_unregister(g, &b), -EPERM);
	gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(gone, 4096);
	assert_int_equal(crl_gpu_uar_register(g, gone, &a, &err), -EFAULT);
	assert_int_equal(crl_gpu_close(g, NULL), 0);
}

static void
copies(void **state)
{
	struct crl_gpu *g = open_kind("g", CRL_GPU_CUDA);
	char in[16] = "fifteen letters", out[16] = "";
	char *p;

	assert_int_equal(crl_gpu_mem_alloc(g, 64, 0, (void **)&p, NULL), 0);
	assert_int_equal(crl_gpu_mem_write(g, p, in, sizeof(in)), 0);
	assert_int_equal(crl_gpu_mem_read(g, out, p, sizeof(out)), 0);
	assert_string_equal(out, in);
	assert_int_equal(crl_gpu_mem_fill(g, p, 0x7e, 64), 0);
	assert_int_equal(p[63], 0x7e);
	assert_int_equal(crl_gpu_mem_write(g, page, in, sizeof(in)), -EINVAL);
	assert_int_equal(crl_gpu_mem_free(g, p), 0);
	assert_int_equal(crl_gpu_close(g, NULL), 0);
}

static void
refusals(void **state)
{
	struct crl_gpu_cfg cfg = {.name = "g", .kind = CRL_GPU_CUDA, .device = 1};
	struct crl_err err = {0};
	struct crl_gpu_info info;
	struct crl_gpu *g;

	assert_int_equal(crl_gpu_open(&cfg, &g, &err), -ENODEV);
	assert_non_null(strstr(err.cause, "no GPU 1"));
	cfg.pci = "0000:99:00.0";
	assert_int_equal(crl_gpu_open(&cfg, &g, &err), -ENODEV);
	cfg.pci = "0000:3b:00.0";
	assert_int_equal(crl_gpu_open(&cfg, &g, &err), 0);
	crl_gpu_info_get(g, &info);
	assert_string_equal(info.pci, "0000:3b:00.0");
	assert_int_equal(info.device, 0);
	assert_int_equal(info.processors, 132);
	assert_int_equal(info.order, CRL_GPU_ORDER_OWNER);
	assert_int_equal(crl_gpu_close(g, NULL), 0);
}

/* All that a queue needs of a GPU; the first failure, and everything undone. */
static int
whole_life(void)
{
	struct crl_gpu_cfg cfg = {.name = "life", .kind = CRL_GPU_CUDA};
	struct crl_gpu_uar uar;
	struct crl_gpu *g;
	uint64_t offset, dev;
	void *p;
	int fd, ret;

	ret = crl_gpu_open(&cfg, &g, NULL);
	if (ret != 0)
		return ret;
	ret = crl_gpu_mem_alloc(g, 4096, 0, &p, NULL);
	if (ret != 0)
		goto close_gpu;
	ret = crl_gpu_mem_dmabuf(g, p, 4096, 0, &fd, &offset, NULL);
	if (ret != 0)
		goto free_mem;
	ret = crl_gpu_host_register(g, page, 64, &dev, NULL);
	if (ret != 0)
		goto free_mem;
	ret = crl_gpu_mem_fill(g, p, 1, 4096);
	if (ret != 0)
		goto unregister;
	ret = crl_gpu_host_unregister(g, page);
	if (ret != 0)
		goto free_mem;
	ret = crl_gpu_uar_register(g, page + 0x800, &uar, NULL);
	if (ret != 0)
		goto free_mem;
	ret = crl_gpu_uar_unregister(g, &uar);
	goto free_mem;

unregister:
	crl_gpu_host_unregister(g, page);
free_mem:
	crl_gpu_mem_free(g, p);
close_gpu:
	assert_int_equal(crl_gpu_close(g, NULL), 0);
	return ret;
}

/* What a failed release leaves in the driver is the driver's; all else must be gone. */
static void
every_call_fails_once(void **state)
{
	struct fake_cuda *f = fake_cuda();
	int calls, failed = 0;

	assert_int_equal(whole_life(), 0);
	f->calls = 0;
	assert_int_equal(whole_life(), 0);
	calls = f->calls;
	assert_true(calls > 25);
	for (int n = 1; n <= calls; n++) {
		int ret;

		fake_cuda_reset();
		f->fail_at = n;
		f->fail_with = n % 2 ? 0 : 2;
		ret = whole_life();
		failed += ret != 0;
		assert_true(ret == 0 || ret == -EIO || ret == -ENOMEM || ret == -ENODEV ||
			    ret == -ENOTSUP);
		assert_int_equal(f->depth, 0);
		assert_true(f->contexts + f->streams + f->allocs + f->registered <= 1);
		/* A release that the driver refused is the one thing that may stay behind. */
		fake_cuda_forget();
		assert_null(crl_gpu_find("life"));
	}
	assert_true(failed > 15);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(alloc_and_free),
		T(bad_arguments),
		T(references),
		T(registration),
		T(many_registrations),
		T(doorbell_page),
		T(copies),
		T(refusals),
		T(every_call_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
