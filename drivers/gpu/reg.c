// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory that is not ours but that kernels use: the caller's host memory and the NIC's doorbell
 * pages. Control side only; called by drivers/mlx5, gpudev.c and applications.
 */
#include "drivers/softcx/dmabuf_registry.h"
#include "gpu_priv.h"

#include <errno.h>
#include <stdlib.h>

#define UAR_PAGE_BYTES 4096u

/* Register m and put it in the table; frees m on failure. */
static int
reg_and_link(struct crl_gpu *gpu, struct crl_gpu_mem *m, struct crl_err *err)
{
	int ret = gpu->ops->reg(gpu, m, err);

	if (ret != 0)
		free(m);
	else
		crl_gpu_mem_link(gpu, m);
	return ret;
}

int
crl_gpu_host_register(
	struct crl_gpu *gpu, void *ptr, size_t bytes, uint64_t *dev_ptr, struct crl_err *err)
{
	uintptr_t p = (uintptr_t)ptr;
	struct crl_gpu_mem *m;
	int ret;

	if (ptr == NULL || bytes == 0)
		return crl_gpu_fail(err, -EINVAL, "register",
			"give an address and at least one byte", "nothing to register");
	crl_gpu_lock();
	for (m = gpu->mem; m != NULL; m = m->next)
		if (m->kind == CRL_GPU_MEM_HOST && p < m->start + m->bytes && m->start < p + bytes)
			break;
	if (m != NULL) {
		ret = crl_gpu_fail(err, -EEXIST, "register", "unregister it first",
			"0x%zx overlaps %zu bytes registered at 0x%zx", (size_t)p, m->bytes,
			(size_t)m->start);
	} else {
		m = crl_gpu_mem_new(CRL_GPU_MEM_HOST, p, bytes);
		ret = m == NULL ? crl_gpu_fail(err, -ENOMEM, "register", "free some memory",
					  "no host memory left")
				: reg_and_link(gpu, m, err);
	}
	if (ret == 0 && dev_ptr != NULL)
		*dev_ptr = m->dev_ptr;
	crl_gpu_unlock();
	return ret;
}

int
crl_gpu_host_unregister(struct crl_gpu *gpu, void *ptr)
{
	struct crl_gpu_mem **at;
	int ret = -EPERM;

	crl_gpu_lock();
	at = crl_gpu_mem_at(gpu, CRL_GPU_MEM_HOST, (uintptr_t)ptr);
	if (at != NULL) {
		ret = gpu->ops->unreg(gpu, *at);
		crl_gpu_mem_unlink(gpu, at);
	}
	crl_gpu_unlock();
	return ret;
}

/*
 * A software ConnectX whose step runs on this GPU, or on one that reaches it, has its doorbell
 * pages in GPU memory too: there a ring is seen without a way over PCIe. 0: it has not.
 */
static uint64_t
uar_on_gpu(const struct crl_gpu *gpu, uintptr_t page)
{
	if (gpu->info.kind != CRL_GPU_CUDA || softcx_reaches_gpu == NULL ||
		softcx_uar_gpu == NULL || softcx_reaches_gpu(gpu->info.device) == 0)
		return 0;
	return (uint64_t)(uintptr_t)softcx_uar_gpu((void *)page);
}

int
crl_gpu_uar_register(struct crl_gpu *gpu, void *reg, struct crl_gpu_uar *uar, struct crl_err *err)
{
	uintptr_t page = (uintptr_t)reg & ~(uintptr_t)(UAR_PAGE_BYTES - 1);
	struct crl_gpu_mem *m, **at;
	int ret = 0;

	crl_gpu_lock();
	at = crl_gpu_mem_at(gpu, CRL_GPU_MEM_UAR, page);
	m = at != NULL ? *at : crl_gpu_mem_new(CRL_GPU_MEM_UAR, page, UAR_PAGE_BYTES);
	if (m == NULL) {
		ret = crl_gpu_fail(
			err, -ENOMEM, "doorbell page", "free some memory", "no host memory left");
	} else if (at == NULL && (m->dev_ptr = uar_on_gpu(gpu, page)) != 0) {
		m->on_gpu = true;
		crl_gpu_mem_link(gpu, m);
	} else if (at == NULL && crl_gpu_page_is_io(reg, &m->io) != 0) {
		free(m);
		ret = crl_gpu_fail(err, -EFAULT, "doorbell page",
			"pass the reg_addr of mlx5dv_devx_alloc_uar()",
			"0x%zx is not mapped in this process", (size_t)page);
	} else if (at == NULL) {
		ret = reg_and_link(gpu, m, err);
	}
	if (ret == 0) {
		m->refs++;
		uar->on_gpu = m->on_gpu;
		uar->dev_reg = m->dev_ptr + ((uintptr_t)reg - page);
		uar->io = m->io;
		uar->page = (void *)page;
	}
	crl_gpu_unlock();
	return ret;
}

int
crl_gpu_uar_unregister(struct crl_gpu *gpu, const struct crl_gpu_uar *uar)
{
	struct crl_gpu_mem **at;
	int ret = 0;

	crl_gpu_lock();
	at = crl_gpu_mem_at(gpu, CRL_GPU_MEM_UAR, (uintptr_t)uar->page);
	if (at == NULL) {
		ret = -EPERM;
	} else if (--(*at)->refs == 0) {
		ret = (*at)->on_gpu ? 0 : gpu->ops->unreg(gpu, *at);
		crl_gpu_mem_unlink(gpu, at);
	}
	crl_gpu_unlock();
	return ret;
}

int
crl_gpu_flush(struct crl_gpu *gpu)
{
	int ret;

	crl_gpu_lock();
	ret = gpu->ops->flush(gpu);
	crl_gpu_unlock();
	return ret;
}
