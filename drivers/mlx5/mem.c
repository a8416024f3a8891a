/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for rings and buffers: plain pages on the NIC's NUMA node, and the checked way to the
 * allocator that a program hands in. Host only.
 */
#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define HOST_PAGE 4096u
#define GPU_PAGE                                                                                   \
	65536u /* GPU page: what its driver can export and the NIC map without splitting           \
		*/

static int
host_alloc(void *arg, size_t bytes, size_t align, void **addr)
{
	struct crl_ctx *ctx = arg;
	void *p;

	if (align > HOST_PAGE)
		return -EINVAL;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	/*
	 * Preferred, not bound: a full node should cost speed, not the program. A kernel without
	 * the call was found by crl_mem_host_init(), so that a failure here is one of this mapping.
	 */
	if (ctx->numa_node >= 0) {
		unsigned long mask[16] = {0};
		const int bits = 8 * sizeof(mask[0]);

		mask[ctx->numa_node / bits] = 1ul << ctx->numa_node % bits;
		if (mbind(p, bytes, MPOL_PREFERRED, mask, 8 * sizeof(mask), 0) != 0) {
			int code = -errno;

			munmap(p, bytes);
			return code;
		}
	}
	*addr = p;
	return 0;
}

static void
host_free(void *arg, void *addr, size_t bytes)
{
	(void)arg;
	munmap(addr, bytes);
}

void
crl_mem_host_init(struct crl_ctx *ctx)
{
	ctx->host = (struct crl_mem){
		.size = sizeof(ctx->host),
		.place = CRL_PLACE_HOST,
		.name = "host memory",
		.arg = ctx,
		.alloc = host_alloc,
		.free = host_free,
	};
	ctx->numa_node = -1;
	if (ctx->info.numa_node < 0)
		snprintf(ctx->numa_why, sizeof(ctx->numa_why), "the NIC's node is not known");
	else if (numa_available() < 0)
		snprintf(ctx->numa_why, sizeof(ctx->numa_why), "the kernel has no NUMA calls");
	else if (ctx->info.numa_node > numa_max_node())
		snprintf(ctx->numa_why, sizeof(ctx->numa_why), "the NIC's node %d has no memory",
			ctx->info.numa_node);
	else
		ctx->numa_node = ctx->info.numa_node;
}

CRL_PUBLIC const struct crl_mem *
crl_mem_host(const struct crl_ctx *ctx)
{
	return &ctx->host;
}

size_t
crl_mem_page(const struct crl_mem *mem)
{
	return mem->place == CRL_PLACE_GPU ? GPU_PAGE : HOST_PAGE;
}

int
crl_mem_check(const struct crl_mem *mem, struct crl_err *err)
{
	int ret = crl_check_size(err, "memory allocator", mem->size, sizeof(*mem));

	if (ret != 0)
		return ret;
	if (mem->alloc == NULL || mem->free == NULL || mem->name == NULL)
		return crl_err_set(err, -EINVAL, "memory allocator", "fill alloc, free and name",
			"struct crl_mem lacks a function or its name");
	if ((mem->map_host != NULL) != (mem->unmap_host != NULL) ||
		(mem->map_mmio != NULL) != (mem->unmap_mmio != NULL))
		return crl_err_set(err, -EINVAL, "memory allocator", "fill each pair",
			"%s can map but not unmap, or the reverse", mem->name);
	return 0;
}

int
crl_mem_take(
	const struct crl_mem *mem, size_t bytes, size_t align, void **addr, struct crl_err *err)
{
	int ret = mem->alloc(mem->arg, bytes, align, addr);

	if (ret != 0)
		return crl_fail_mem(err, mem, ret, "allocate memory",
			"free some, or use fewer queues", "%zu bytes of %s", bytes, mem->name);
	return 0;
}

void
crl_mem_give(const struct crl_mem *mem, void *addr, size_t bytes)
{
	if (addr != NULL)
		mem->free(mem->arg, addr, bytes);
}

int
crl_mem_put(
	const struct crl_mem *mem, void *dst, const void *src, size_t bytes, struct crl_err *err)
{
	int ret;

	if (mem->write == NULL) {
		memcpy(dst, src, bytes);
		return 0;
	}
	ret = mem->write(mem->arg, dst, src, bytes);
	if (ret != 0)
		return crl_fail_mem(err, mem, ret, "initialise memory", "see the GPU driver's log",
			"copy of %zu bytes to %s", bytes, mem->name);
	return 0;
}
