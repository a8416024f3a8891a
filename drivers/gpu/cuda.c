// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of a CUDA GPU, of any generation: allocation with SYNC_MEMOPS, dma-buf export,
 * registration of host memory and doorbell pages, copies on a stream of their own. A back end of
 * gpu.c. Works in the device's primary context, which the CUDA runtime uses too, and puts the
 * caller's context back.
 */
#include "cuda_priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct crl_cuda_api *crl_cu; /* set by the first open */

int
crl_cuda_fails(struct crl_err *err, int res, const char *step, const char *fix, const char *what)
{
	return crl_gpu_fail(err, crl_cuda_errno(res), step, fix, "%s: %s answered %s", what, step,
		crl_cuda_name(crl_cu, res));
}

int
crl_cuda_enter(struct crl_gpu *gpu, struct crl_err *err)
{
	int res = crl_cu->ctx_push(gpu->cuda);

	if (res != CRL_CUDA_OK)
		return crl_cuda_fails(err, res, "cuCtxPushCurrent",
			"look at dmesg for Xid messages", gpu->info.name);
	return 0;
}

void
crl_cuda_leave(void)
{
	void *ctx;

	crl_cu->ctx_pop(&ctx);
}

static int
sysfs_numa_node(const char *pci)
{
	char path[96];
	int node = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", pci);
	f = fopen(path, "re");
	if (f == NULL)
		return -1;
	if (fscanf(f, "%d", &node) != 1)
		node = -1;
	fclose(f);
	return node;
}

static int
choose_device(struct crl_gpu *gpu, const struct crl_gpu_cfg *cfg, struct crl_err *err)
{
	int count = 0, res;

	if (cfg->pci != NULL) {
		res = crl_cu->device_by_pci(&gpu->cu_dev, cfg->pci);
		if (res == CRL_CUDA_OK)
			return 0;
		return crl_gpu_fail(err, -ENODEV, "cuDeviceGetByPCIBusId",
			"nvidia-smi -L and lspci show the addresses there are",
			"no GPU at PCI address %s", cfg->pci);
	}
	res = crl_cu->device_count(&count);
	if (res != CRL_CUDA_OK)
		return crl_cuda_fails(
			err, res, "cuDeviceGetCount", "see nvidia-smi", "counting GPUs");
	if (cfg->device < 0 || cfg->device >= count)
		return crl_gpu_fail(err, -ENODEV, "cuDeviceGet",
			"choose a smaller number (device=N), or use host memory",
			"there is no GPU %d: this machine shows %d", cfg->device, count);
	res = crl_cu->device_get(&gpu->cu_dev, cfg->device);
	if (res != CRL_CUDA_OK)
		return crl_cuda_fails(
			err, res, "cuDeviceGet", "see nvidia-smi", "choosing the GPU");
	gpu->info.device = cfg->device;
	return 0;
}

/* The ordinal of a device that was chosen by address. */
static int
ordinal_of(int dev)
{
	int count = 0, other;

	if (crl_cu->device_count(&count) != CRL_CUDA_OK)
		return -1;
	for (int i = 0; i < count; i++)
		if (crl_cu->device_get(&other, i) == CRL_CUDA_OK && other == dev)
			return i;
	return -1;
}

static int
describe(struct crl_gpu *gpu, struct crl_err *err)
{
	int sm = 0, order = 0, flush = 0, dmabuf = 0, dev = gpu->cu_dev, res;
	struct crl_gpu_info *i = &gpu->info;
	size_t total = 0;

	res = crl_cu->device_name(i->model, sizeof(i->model), dev);
	if (res == CRL_CUDA_OK)
		res = crl_cu->device_pci(i->pci, sizeof(i->pci), dev);
	if (res == CRL_CUDA_OK)
		res = crl_cu->device_mem(&total, dev);
	if (res == CRL_CUDA_OK)
		res = crl_cu->device_attr(&sm, CRL_CUDA_ATTR_MULTIPROCESSOR_COUNT, dev);
	if (res == CRL_CUDA_OK)
		res = crl_cu->device_attr(
			&order, CRL_CUDA_ATTR_GPU_DIRECT_RDMA_WRITES_ORDERING, dev);
	if (res == CRL_CUDA_OK)
		res = crl_cu->device_attr(
			&flush, CRL_CUDA_ATTR_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, dev);
	if (res != CRL_CUDA_OK)
		return crl_cuda_fails(err, res, "cuDeviceGetAttribute", "update the NVIDIA driver",
			"asking what the GPU can do");
	if (crl_cu->device_attr(&dmabuf, CRL_CUDA_ATTR_DMA_BUF_SUPPORTED, dev) != CRL_CUDA_OK)
		dmabuf = 0; /* a driver from before dma-buf does not know the question */
	for (char *c = i->pci; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	if (i->device < 0)
		i->device = ordinal_of(dev);
	i->numa_node = sysfs_numa_node(i->pci);
	i->processors = (uint32_t)sm;
	i->total_bytes = total;
	i->page_bytes = CRL_CUDA_PAGE_BYTES;
	i->dmabuf = dmabuf != 0 && crl_cu->range_handle != NULL;
	i->order = order >= CRL_GPU_ORDER_ALL	  ? CRL_GPU_ORDER_ALL
		   : order >= CRL_GPU_ORDER_OWNER ? CRL_GPU_ORDER_OWNER
						  : CRL_GPU_ORDER_NONE;
	i->host_flush = (flush & CRL_CUDA_FLUSH_OPTION_HOST) != 0 && crl_cu->rdma_flush != NULL;
	return 0;
}

static int
cuda_open(struct crl_gpu *gpu, const struct crl_gpu_cfg *cfg, struct crl_err *err)
{
	int ret, res;

	crl_cu = crl_cuda_api_get(err);
	if (crl_cu == NULL)
		return err != NULL ? err->code : -ENODEV;
	ret = choose_device(gpu, cfg, err);
	if (ret == 0)
		ret = describe(gpu, err);
	if (ret != 0)
		return ret;
	res = crl_cu->ctx_retain(&gpu->cuda, gpu->cu_dev);
	if (res != CRL_CUDA_OK)
		return crl_cuda_fails(err, res, "cuDevicePrimaryCtxRetain",
			"see nvidia-smi: the GPU may be in exclusive use or out of memory",
			gpu->info.name);
	ret = crl_cuda_enter(gpu, err);
	if (ret != 0)
		goto release;
	/* Non-blocking: copies must not wait for a resident kernel on the default stream. */
	res = crl_cu->stream_create(&gpu->stream, CRL_CUDA_STREAM_NON_BLOCKING);
	crl_cuda_leave();
	if (res != CRL_CUDA_OK) {
		ret = crl_cuda_fails(err, res, "cuStreamCreate",
			"see nvidia-smi: the GPU may be out of memory", gpu->info.name);
		goto release;
	}
	gpu->info.context = (uint64_t)(uintptr_t)gpu->cuda;
	return 0;

release:
	crl_cu->ctx_release(gpu->cu_dev);
	return ret;
}

static void
cuda_close(struct crl_gpu *gpu)
{
	if (crl_cuda_enter(gpu, NULL) == 0) {
		crl_cu->stream_destroy(gpu->stream);
		crl_cuda_leave();
	}
	crl_cu->ctx_release(gpu->cu_dev);
}

const struct crl_gpu_ops crl_gpu_cuda_ops = {
	.open = cuda_open,
	.close = cuda_close,
	.alloc = crl_cuda_alloc,
	.free = crl_cuda_free,
	.dmabuf = crl_cuda_dmabuf,
	.reg = crl_cuda_reg,
	.unreg = crl_cuda_unreg,
	.write = crl_cuda_write,
	.read = crl_cuda_read,
	.fill = crl_cuda_fill,
	.flush = crl_cuda_flush,
};
