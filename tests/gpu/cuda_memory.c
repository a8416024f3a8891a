// SPDX-License-Identifier: BSD-3-Clause
/*
 * drivers/gpu on a real GPU: what the stand-in for libcuda in tests/unit/gpu is assumed to do,
 * asked of the real one. Exit status 77 and a reason where there is no GPU.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/gpu/crl_gpu.h"

static int bad;

static void
expect(int ok, const char *what, const struct crl_err *err)
{
	printf("%s: %s%s%s\n", ok ? "ok" : "FAIL", what, ok || err == NULL ? "" : ": ",
		ok || err == NULL ? "" : err->cause);
	bad += !ok;
}

static void
memory(struct crl_gpu *g, const struct crl_gpu_info *info)
{
	char in[32] = "thirty-one letters and a zero..", out[32] = "", *p = NULL;
	struct crl_err err = {0};
	uint64_t offset = 1;
	struct stat st;
	int fd = -1, ret;

	expect(crl_gpu_mem_alloc(g, 100000, 0, (void **)&p, &err) == 0 && (uintptr_t)p % 65536 == 0,
		"allocation on a page of the GPU", &err);
	expect(crl_gpu_mem_read(g, out, p, 32) == 0 && out[0] == 0, "memory is zero", NULL);
	expect(crl_gpu_mem_write(g, p + 4096, in, 32) == 0 &&
			crl_gpu_mem_read(g, out, p + 4096, 32) == 0 && strcmp(in, out) == 0,
		"what was written is read", NULL);
	expect(crl_gpu_mem_fill(g, p, 0xf1, 64) == 0 && crl_gpu_mem_read(g, out, p, 32) == 0 &&
			(unsigned char)out[31] == 0xf1,
		"fill", NULL);
	ret = crl_gpu_mem_dmabuf(g, p + 8192, 4096, 0, &fd, &offset, &err);
	if (info->dmabuf)
		expect(ret == 0 && offset == 8192 && fstat(fd, &st) == 0, "dma-buf", &err);
	else
		expect(ret == -ENOTSUP, "no dma-buf, and it is said", &err);
	expect(crl_gpu_mem_free(g, p + 64) == -EPERM, "a pointer into the middle is refused", NULL);
	expect(crl_gpu_mem_free(g, p) == 0, "free", NULL);
}

static void
registration(struct crl_gpu *g)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct crl_gpu_uar a, b;
	struct crl_err err = {0};
	uint64_t dev = 0;

	expect(crl_gpu_host_register(g, page, 4096, &dev, &err) == 0 && dev == (uintptr_t)page,
		"host memory at the same address", &err);
	expect(crl_gpu_host_unregister(g, page) == 0, "unregister", NULL);
	expect(crl_gpu_uar_register(g, page + 4096 + 0x800, &a, &err) == 0 && !a.io,
		"a doorbell page of plain memory", &err);
	expect(crl_gpu_uar_register(g, page + 4096 + 0xa00, &b, &err) == 0 &&
			b.dev_reg - a.dev_reg == 0x200,
		"the same page again", &err);
	expect(crl_gpu_uar_unregister(g, &a) == 0 && crl_gpu_uar_unregister(g, &b) == 0, "and back",
		NULL);
	munmap(page, 8192);
}

int
main(void)
{
	struct crl_gpu_cfg cfg = {.name = "gpu", .kind = CRL_GPU_CUDA};
	struct crl_gpu_info info;
	struct crl_err err = {0};
	struct crl_gpu *g;

	if (crl_gpu_open(&cfg, &g, &err) == -ENODEV) {
		printf("skipped: %s\n", err.cause);
		return 77;
	}
	expect(err.code == 0, "open", &err);
	if (bad)
		return 1;
	crl_gpu_info_get(g, &info);
	printf("%s at %s, node %d, %u multiprocessors, %llu MiB, dma-buf %d, writes ordering %d, "
	       "flush %d\n",
		info.model, info.pci, info.numa_node, info.processors,
		(unsigned long long)(info.total_bytes >> 20), info.dmabuf, info.order,
		info.host_flush);
	memory(g, &info);
	registration(g);
	expect(crl_gpu_flush(g) == 0 || info.order == CRL_GPU_ORDER_NONE, "flush", NULL);
	expect(crl_gpu_close(g, &err) == 0, "close, with nothing left", &err);
	return bad != 0;
}
