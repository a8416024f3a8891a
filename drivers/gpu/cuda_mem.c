// SPDX-License-Identifier: BSD-3-Clause
/*
 * What can be done with a CUDA GPU's memory, each in the device's own context: allocate with
 * SYNC_MEMOPS, export as a dma-buf, register host memory and doorbell pages, copy. The second half
 * of the back end that cuda.c opens.
 */
#include "cuda_priv.h"

#include <errno.h>
#include <time.h>

/* Wait for the copies queued so far, with a bound. */
static int
stream_drain(struct crl_gpu *gpu)
{
	struct timespec t0, t, nap = {0, 20000};

	clock_gettime(CLOCK_MONOTONIC, &t0);
	for (;;) { /* leaves after CRL_GPU_COPY_MS_MAX */
		int res = crl_cu->stream_query(gpu->stream);

		if (res != CRL_CUDA_ERROR_NOT_READY)
			return crl_cuda_errno(res);
		clock_gettime(CLOCK_MONOTONIC, &t);
		if ((t.tv_sec - t0.tv_sec) * 1000 + (t.tv_nsec - t0.tv_nsec) / 1000000 >
			CRL_GPU_COPY_MS_MAX)
			return -ETIMEDOUT;
		nanosleep(&nap, NULL);
	}
}

static int
fill_in_context(struct crl_gpu *gpu, crl_cu_ptr dst, uint8_t value, size_t bytes)
{
	int res = crl_cu->fill(dst, value, bytes, gpu->stream);

	return res != CRL_CUDA_OK ? crl_cuda_errno(res) : stream_drain(gpu);
}

/* Allocation proper, in the device's context. */
static int
alloc_in_context(struct crl_gpu *gpu, size_t align, struct crl_gpu_mem *m, struct crl_err *err)
{
	size_t page = align > CRL_CUDA_PAGE_BYTES ? align : CRL_CUDA_PAGE_BYTES;
	size_t bytes = (m->bytes + CRL_CUDA_PAGE_BYTES - 1) & ~(size_t)(CRL_CUDA_PAGE_BYTES - 1);
	unsigned int on = 1;
	crl_cu_ptr raw = 0;
	int res, ret;

	/* cuMemAlloc promises 256 bytes of alignment only, a dma-buf needs pages of its own. */
	res = crl_cu->mem_alloc(&raw, bytes + page);
	if (res != CRL_CUDA_OK)
		return crl_cuda_fails(err, res, "cuMemAlloc",
			"ask for less, or see nvidia-smi for who uses the memory", gpu->info.name);
	/* Without it a copy may still be under way when a synchronous call has returned. */
	res = crl_cu->pointer_set(&on, CRL_CUDA_POINTER_ATTRIBUTE_SYNC_MEMOPS, raw);
	if (res != CRL_CUDA_OK) {
		ret = crl_cuda_fails(err, res, "cuPointerSetAttribute", "update the NVIDIA driver",
			"SYNC_MEMOPS");
		goto free_mem;
	}
	m->raw = (uintptr_t)raw;
	m->raw_bytes = bytes + page;
	m->start = (m->raw + page - 1) & ~(uintptr_t)(page - 1);
	m->dev_ptr = m->start;
	ret = fill_in_context(gpu, m->dev_ptr, 0, bytes);
	if (ret != 0) {
		crl_gpu_fail(err, ret, "cuMemsetD8Async", "look at dmesg for Xid messages",
			"zeroing memory of %s failed", gpu->info.name);
		goto free_mem;
	}
	return 0;

free_mem:
	crl_cu->mem_free(raw);
	return ret;
}

int
crl_cuda_alloc(struct crl_gpu *gpu, size_t align, struct crl_gpu_mem *m, struct crl_err *err)
{
	int ret = crl_cuda_enter(gpu, err);

	if (ret != 0)
		return ret;
	ret = alloc_in_context(gpu, align, m, err);
	crl_cuda_leave();
	return ret;
}

int
crl_cuda_free(struct crl_gpu *gpu, struct crl_gpu_mem *m)
{
	int ret = crl_cuda_enter(gpu, NULL);

	if (ret != 0)
		return ret;
	ret = crl_cuda_errno(crl_cu->mem_free(m->raw));
	crl_cuda_leave();
	return ret;
}

int
crl_cuda_dmabuf(struct crl_gpu *gpu, struct crl_gpu_mem *m, int *fd, struct crl_err *err)
{
	size_t bytes = (m->bytes + CRL_CUDA_PAGE_BYTES - 1) & ~(size_t)(CRL_CUDA_PAGE_BYTES - 1);
	int ret = crl_cuda_enter(gpu, err), res, new_fd = -1;

	if (ret != 0)
		return ret;
	res = crl_cu->range_handle(&new_fd, m->dev_ptr, bytes, CRL_CUDA_RANGE_HANDLE_DMA_BUF_FD, 0);
	crl_cuda_leave();
	if (res != CRL_CUDA_OK)
		return crl_cuda_fails(err, res, "cuMemGetHandleForAddressRange",
			"load the open NVIDIA kernel modules (dma-buf export needs them), or use "
			"--rings host",
			"dma-buf export");
	*fd = new_fd;
	return 0;
}

static int
reg_in_context(struct crl_gpu_mem *m, struct crl_err *err)
{
	unsigned int flags = CRL_CUDA_HOSTREGISTER_PORTABLE | CRL_CUDA_HOSTREGISTER_DEVICEMAP;
	crl_cu_ptr dev = 0;
	int res;

	if (m->io)
		flags |= CRL_CUDA_HOSTREGISTER_IOMEMORY;
	res = crl_cu->host_register((void *)m->start, m->bytes, flags);
	if (res != CRL_CUDA_OK && m->io)
		return crl_cuda_fails(err, res, "cuMemHostRegister",
			"as root; load nvidia with NVreg_RegistryDwords=\"PeerMappingOverride=1\"; "
			"IOMMU off or in passthrough",
			"the NIC's doorbell page as I/O memory");
	if (res != CRL_CUDA_OK)
		return crl_cuda_fails(err, res, "cuMemHostRegister",
			"raise the locked memory limit (ulimit -l), and register no page twice",
			"host memory");
	res = crl_cu->host_dev_ptr(&dev, (void *)m->start, 0);
	if (res != CRL_CUDA_OK) {
		crl_cu->host_unregister((void *)m->start);
		return crl_cuda_fails(err, res, "cuMemHostGetDevicePointer",
			"look at dmesg for Xid messages", "registered host memory");
	}
	m->dev_ptr = dev;
	return 0;
}

int
crl_cuda_reg(struct crl_gpu *gpu, struct crl_gpu_mem *m, struct crl_err *err)
{
	int ret = crl_cuda_enter(gpu, err);

	if (ret != 0)
		return ret;
	ret = reg_in_context(m, err);
	crl_cuda_leave();
	return ret;
}

int
crl_cuda_unreg(struct crl_gpu *gpu, struct crl_gpu_mem *m)
{
	int ret = crl_cuda_enter(gpu, NULL);

	if (ret != 0)
		return ret;
	ret = crl_cuda_errno(crl_cu->host_unregister((void *)m->start));
	crl_cuda_leave();
	return ret;
}

int
crl_cuda_write(struct crl_gpu *gpu, void *dst, const void *src, size_t bytes)
{
	int ret = crl_cuda_enter(gpu, NULL);

	if (ret != 0)
		return ret;
	ret = crl_cuda_errno(crl_cu->copy_in((uintptr_t)dst, src, bytes, gpu->stream));
	if (ret == 0)
		ret = stream_drain(gpu);
	crl_cuda_leave();
	return ret;
}

int
crl_cuda_read(struct crl_gpu *gpu, void *dst, const void *src, size_t bytes)
{
	int ret = crl_cuda_enter(gpu, NULL);

	if (ret != 0)
		return ret;
	ret = crl_cuda_errno(crl_cu->copy_out(dst, (uintptr_t)src, bytes, gpu->stream));
	if (ret == 0)
		ret = stream_drain(gpu);
	crl_cuda_leave();
	return ret;
}

int
crl_cuda_fill(struct crl_gpu *gpu, void *dst, uint8_t value, size_t bytes)
{
	int ret = crl_cuda_enter(gpu, NULL);

	if (ret != 0)
		return ret;
	ret = fill_in_context(gpu, (uintptr_t)dst, value, bytes);
	crl_cuda_leave();
	return ret;
}

int
crl_cuda_flush(struct crl_gpu *gpu)
{
	int ret;

	if (gpu->info.order != CRL_GPU_ORDER_NONE)
		return 0; /* the GPU that owns the memory sees the NIC's writes in order */
	if (!gpu->info.host_flush)
		return -ENOTSUP;
	ret = crl_cuda_enter(gpu, NULL);
	if (ret != 0)
		return ret;
	ret = crl_cuda_errno(
		crl_cu->rdma_flush(CRL_CUDA_FLUSH_TARGET_CURRENT_CTX, CRL_CUDA_FLUSH_TO_OWNER));
	crl_cuda_leave();
	return ret;
}
