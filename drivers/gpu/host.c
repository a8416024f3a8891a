// SPDX-License-Identifier: BSD-3-Clause
/*
 * Plain memory in the place of a GPU's: allocated page by page from the kernel, on the NUMA node
 * asked for. Host threads run the engines on it. A back end of gpu.c; knows neither DPDK nor CUDA.
 */
#include "gpu_priv.h"

#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int
host_open(struct crl_gpu *gpu, const struct crl_gpu_cfg *cfg, struct crl_err *err)
{
	struct crl_gpu_info *i = &gpu->info;
	int max_node = numa_available() < 0 ? 0 : numa_max_node();

	if (cfg->numa_node < -1 || cfg->numa_node > max_node)
		return crl_gpu_fail(err, -EINVAL, "open",
			"give numa=0, another node that exists, or leave it out",
			"this machine has no NUMA node %d (the last is %d)", cfg->numa_node,
			max_node);
	snprintf(i->model, sizeof(i->model), "host memory");
	i->numa_node = cfg->numa_node;
	i->processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	i->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	i->total_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * i->page_bytes;
	i->order = CRL_GPU_ORDER_ALL;
	return 0;
}

static void
host_close(struct crl_gpu *gpu)
{
}

static int
host_alloc(struct crl_gpu *gpu, size_t align, struct crl_gpu_mem *m, struct crl_err *err)
{
	size_t page = gpu->info.page_bytes;
	size_t bytes = (m->bytes + page - 1) & ~(page - 1);
	size_t slack = align > page ? align : 0;
	void *raw;

	raw = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (raw == MAP_FAILED)
		return crl_gpu_fail(err, -errno, "mmap", "ask for less, or free memory",
			"%zu bytes: %s", bytes + slack, strerror(errno));
	if (gpu->info.numa_node >= 0 && numa_available() >= 0) {
		unsigned long mask[16] = {0};
		unsigned int node = (unsigned int)gpu->info.numa_node;

		mask[node / (8 * sizeof(mask[0]))] = 1ul << (node % (8 * sizeof(mask[0])));
		if (mbind(raw, bytes + slack, MPOL_BIND, mask, 8 * sizeof(mask), 0) != 0) {
			int code = errno;

			munmap(raw, bytes + slack);
			return crl_gpu_fail(err, -code, "mbind",
				"leave the node out, or allow this process to use it",
				"memory of NUMA node %u: %s", node, strerror(code));
		}
	}
	m->raw = (uintptr_t)raw;
	m->raw_bytes = bytes + slack;
	m->start = slack != 0 ? (m->raw + align - 1) & ~(uintptr_t)(align - 1) : m->raw;
	m->dev_ptr = m->start;
	return 0;
}

static int
host_free(struct crl_gpu *gpu, struct crl_gpu_mem *m)
{
	return munmap((void *)m->raw, m->raw_bytes) == 0 ? 0 : -errno;
}

static int
host_dmabuf(struct crl_gpu *gpu, struct crl_gpu_mem *m, int *fd, struct crl_err *err)
{
	return crl_gpu_fail(err, -ENOTSUP, "dma-buf export", "register the memory by its address",
		"plain host memory is no dma-buf");
}

static int
host_reg(struct crl_gpu *gpu, struct crl_gpu_mem *m, struct crl_err *err)
{
	m->dev_ptr = m->start; /* threads of this process see it as it is */
	return 0;
}

static int
host_unreg(struct crl_gpu *gpu, struct crl_gpu_mem *m)
{
	return 0;
}

static int
host_write(struct crl_gpu *gpu, void *dst, const void *src, size_t bytes)
{
	memcpy(dst, src, bytes);
	return 0;
}

static int
host_fill(struct crl_gpu *gpu, void *dst, uint8_t value, size_t bytes)
{
	memset(dst, value, bytes);
	return 0;
}

static int
host_flush(struct crl_gpu *gpu)
{
	return 0;
}

const struct crl_gpu_ops crl_gpu_host_ops = {
	.open = host_open,
	.close = host_close,
	.alloc = host_alloc,
	.free = host_free,
	.dmabuf = host_dmabuf,
	.reg = host_reg,
	.unreg = host_unreg,
	.write = host_write,
	.read = host_write,
	.fill = host_fill,
	.flush = host_flush,
};
