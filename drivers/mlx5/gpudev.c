/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of DPDK's gpudevs for queues: taken through rte_gpu_mem_alloc(), and what that API lacks
 * (dma-buf export, copies, doorbell pages) through drivers/gpu under the device's name. Main lcore.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_errno.h>
#include <rte_gpudev.h>

#include "drivers/gpu/crl_gpu.h"
#include "dpdk_internal.h"

#define GPU_STEP  "use a gpudev"
#define HOST_PAGE 4096u

static int
gpu_alloc(void *arg, size_t bytes, size_t align, void **addr)
{
	struct crl_gpudev *g = arg;

	rte_errno = 0;
	*addr = rte_gpu_mem_alloc(g->dev_id, bytes, (unsigned)align);
	if (*addr == NULL)
		return rte_errno > 0 ? -rte_errno : -ENOMEM;
	return 0;
}

static void
gpu_free(void *arg, void *addr, size_t bytes)
{
	struct crl_gpudev *g = arg;

	(void)bytes;
	rte_gpu_mem_free(g->dev_id, addr);
}

static int
gpu_write(void *arg, void *dst, const void *src, size_t bytes)
{
	struct crl_gpudev *g = arg;

	return crl_gpu_mem_write(g->gpu, dst, src, bytes);
}

static int
gpu_read(void *arg, void *dst, const void *src, size_t bytes)
{
	struct crl_gpudev *g = arg;

	return crl_gpu_mem_read(g->gpu, dst, src, bytes);
}

/* An fd of the caller's own, as struct crl_mem promises. */
static int
gpu_dmabuf(void *arg, void *addr, size_t bytes, uint64_t *offset)
{
	struct crl_gpudev *g = arg;
	int fd, mine, ret = crl_gpu_mem_dmabuf(g->gpu, addr, bytes, 0, &fd, offset, &g->why);

	if (ret != 0)
		return ret;
	mine = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return mine < 0 ? -errno : mine;
}

static int
gpu_map_host(void *arg, void *addr, size_t bytes, void **dev)
{
	struct crl_gpudev *g = arg;
	uint64_t ptr;
	int ret = crl_gpu_host_register(g->gpu, addr, bytes, &ptr, &g->why);

	if (ret == 0)
		*dev = (void *)(uintptr_t)ptr;
	return ret;
}

static int
gpu_map_mmio(void *arg, void *addr, size_t bytes, void **dev)
{
	struct crl_gpudev *g = arg;
	struct crl_gpu_uar uar;
	int ret;

	(void)bytes;
	ret = crl_gpu_uar_register(g->gpu, addr, &uar, &g->why);
	if (ret == 0)
		*dev = (void *)(uintptr_t)uar.dev_reg;
	return ret;
}

static void
gpu_unmap_host(void *arg, void *addr)
{
	struct crl_gpudev *g = arg;

	crl_gpu_host_unregister(g->gpu, addr);
}

static void
gpu_unmap_mmio(void *arg, void *addr)
{
	struct crl_gpudev *g = arg;
	struct crl_gpu_uar uar = {.page = addr};

	crl_gpu_uar_unregister(g->gpu, &uar);
}

/*
 * Host memory that the GPU reaches. Registered with it as one piece, so that a kernel and this
 * processor name every byte by the same address, which struct crl_mem has only one of.
 */
static int
near_alloc(void *arg, size_t bytes, size_t align, void **addr)
{
	struct crl_gpudev *g = arg;
	uint64_t dev = 0;
	void *p;
	int ret;

	if (align > HOST_PAGE)
		return -EINVAL;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return crl_err_set(&g->why, -errno, "mmap", "free some memory", "%zu bytes: %s",
			bytes, strerror(errno));
	ret = crl_gpu_host_register(g->gpu, p, bytes, &dev, &g->why);
	if (ret != 0)
		goto unmap;
	if (dev != (uint64_t)(uintptr_t)p) {
		ret = crl_err_set(&g->why, -ENOTSUP, "register host memory",
			"use a GPU with unified addresses",
			"%s sees the memory at 0x%llx, this processor at %p", g->name,
			(unsigned long long)dev, p);
		goto unregister;
	}
	*addr = p;
	return 0;

unregister:
	crl_gpu_host_unregister(g->gpu, p);
unmap:
	munmap(p, bytes);
	return ret;
}

static void
near_free(void *arg, void *addr, size_t bytes)
{
	struct crl_gpudev *g = arg;

	crl_gpu_host_unregister(g->gpu, addr);
	munmap(addr, bytes);
}

static void
gpu_why(void *arg, struct crl_err *err)
{
	*err = ((struct crl_gpudev *)arg)->why;
}

static int
no_such(int16_t dev_id, struct crl_err *err)
{
	char there[160] = "";
	int16_t id;

	RTE_GPU_FOREACH(id)
	{
		struct rte_gpu_info info;

		if (rte_gpu_info_get(id, &info) == 0)
			crl_append(there, sizeof(there), "%s%d (%s)", there[0] ? ", " : "", id,
				info.name);
	}
	return crl_err_set(err, -ENODEV, GPU_STEP,
		"start one: -d librte_gpu_crl.so --vdev=gpu_crl_cuda0 (or gpu_crl_host0)",
		"no gpudev %d; there is %s", dev_id, there[0] ? there : "none");
}

/* The slot that has dev_id, else a free one; NULL: all are taken. */
static struct crl_gpudev *
find_slot(struct crl_eal *eal, int16_t dev_id)
{
	struct crl_gpudev *unused = NULL;

	for (unsigned i = 0; i < CRL_GPUDEVS_MAX; i++) {
		struct crl_gpudev *g = &eal->gpudev[i];

		if (g->gpu != NULL && g->dev_id == dev_id)
			return g;
		if (g->gpu == NULL && unused == NULL)
			unused = g;
	}
	return unused;
}

static void
fill_maps(struct crl_mem *mem)
{
	mem->map_host = gpu_map_host;
	mem->unmap_host = gpu_unmap_host;
	mem->map_mmio = gpu_map_mmio;
	mem->unmap_mmio = gpu_unmap_mmio;
}

static void
fill_mem(struct crl_gpudev *g, const struct crl_gpu_info *info, struct crl_mem *mem)
{
	const bool cuda = info->kind == CRL_GPU_CUDA;

	*mem = (struct crl_mem){
		.size = sizeof(*mem),
		.place = cuda ? CRL_PLACE_GPU : CRL_PLACE_HOST,
		.name = g->name,
		.arg = g,
		.alloc = gpu_alloc,
		.free = gpu_free,
		.why = gpu_why,
	};
	/* Host memory in the place of a GPU's is reached and registered as what it is. */
	if (!cuda)
		return;
	mem->write = gpu_write;
	mem->read = gpu_read;
	mem->dmabuf = gpu_dmabuf;
	fill_maps(mem);
}

/* The gpudev's slot, with drivers/gpu's device of that name behind it. */
static int
open_slot(struct crl_eal *eal, int16_t dev_id, struct crl_gpudev **out, struct crl_gpu_info *info,
	struct crl_err *err)
{
	struct rte_gpu_info rte;
	struct crl_gpudev *g;

	if (rte_gpu_info_get(dev_id, &rte) != 0)
		return no_such(dev_id, err);
	g = find_slot(eal, dev_id);
	if (g == NULL)
		return crl_err_set(err, -ENOSPC, GPU_STEP, "use fewer", "more than %u gpudevs",
			CRL_GPUDEVS_MAX);
	if (g->gpu == NULL) {
		g->gpu = crl_gpu_find(rte.name);
		if (g->gpu == NULL)
			return crl_err_set(err, -ENOTSUP, GPU_STEP,
				"use Carillon's: -d librte_gpu_crl.so --vdev=gpu_crl_cuda0",
				"gpudev %d (%s) cannot export memory as a dma-buf", dev_id,
				rte.name);
		g->dev_id = dev_id;
		crl_gpu_info_get(g->gpu, info);
		snprintf(g->name, sizeof(g->name), "gpudev %d (%.40s%s)", dev_id, rte.name,
			info->kind == CRL_GPU_HOST ? ", host memory" : "");
		snprintf(g->near_name, sizeof(g->near_name),
			"host memory that %.40s reaches", rte.name);
	}
	crl_gpu_info_get(g->gpu, info);
	*out = g;
	return 0;
}

CRL_PUBLIC int
crl_mem_gpudev(struct crl_eal *eal, int16_t dev_id, struct crl_mem *mem, struct crl_err *err)
{
	struct crl_gpu_info info;
	struct crl_gpudev *g;
	int ret = open_slot(eal, dev_id, &g, &info, err);

	if (ret == 0)
		fill_mem(g, &info, mem);
	return ret;
}

CRL_PUBLIC int
crl_mem_gpudev_host(struct crl_eal *eal, int16_t dev_id, struct crl_mem *mem, struct crl_err *err)
{
	struct crl_gpu_info info;
	struct crl_gpudev *g;
	int ret = open_slot(eal, dev_id, &g, &info, err);

	if (ret != 0)
		return ret;
	*mem = (struct crl_mem){
		.size = sizeof(*mem),
		.place = CRL_PLACE_HOST,
		.name = g->near_name,
		.arg = g,
		.alloc = near_alloc,
		.free = near_free,
		.why = gpu_why,
	};
	fill_maps(mem);
	return 0;
}

void
crl_gpudev_put_all(struct crl_eal *eal)
{
	for (unsigned i = 0; i < CRL_GPUDEVS_MAX; i++) {
		if (eal->gpudev[i].gpu != NULL)
			crl_gpu_close(eal->gpudev[i].gpu, NULL);
		eal->gpudev[i].gpu = NULL;
	}
}
