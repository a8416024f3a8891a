// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of a device's memory: who holds what, and a check of every pointer that comes back. It
 * is a list, because DPDK makes thousands of registrations for one communication list. Control side
 * only; called by drivers/mlx5, gpudev.c and applications.
 */
#include "drivers/softcx/dmabuf_registry.h"
#include "gpu_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct crl_gpu_mem **
crl_gpu_mem_at(struct crl_gpu *gpu, enum crl_gpu_mem_kind kind, uintptr_t start)
{
	for (struct crl_gpu_mem **at = &gpu->mem; *at != NULL; at = &(*at)->next)
		if ((*at)->kind == kind && (*at)->start == start)
			return at;
	return NULL;
}

struct crl_gpu_mem *
crl_gpu_mem_new(enum crl_gpu_mem_kind kind, uintptr_t start, size_t bytes)
{
	struct crl_gpu_mem *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	m->kind = kind;
	m->start = start;
	m->bytes = bytes;
	m->dmabuf_fd = -1;
	return m;
}

void
crl_gpu_mem_link(struct crl_gpu *gpu, struct crl_gpu_mem *m)
{
	m->next = gpu->mem;
	gpu->mem = m;
	gpu->info.nr_mem++;
}

void
crl_gpu_mem_unlink(struct crl_gpu *gpu, struct crl_gpu_mem **at)
{
	struct crl_gpu_mem *m = *at;

	*at = m->next;
	gpu->info.nr_mem--;
	free(m);
}

int
crl_gpu_mem_alloc(struct crl_gpu *gpu, size_t bytes, size_t align, void **ptr, struct crl_err *err)
{
	struct crl_gpu_mem *m;
	int ret;

	if (ptr == NULL || bytes == 0 || (align & (align - 1)) != 0 || bytes > SIZE_MAX / 4 ||
		align > SIZE_MAX / 4)
		return crl_gpu_fail(err, -EINVAL, "allocate",
			"ask for at least one byte and an alignment of a power of two",
			"%zu bytes at a multiple of %zu cannot be had", bytes, align);
	m = crl_gpu_mem_new(CRL_GPU_MEM_ALLOC, 0, bytes);
	if (m == NULL)
		return crl_gpu_fail(
			err, -ENOMEM, "allocate", "free some memory", "no host memory left");
	crl_gpu_lock();
	ret = gpu->ops->alloc(gpu, align, m, err);
	if (ret == 0) {
		crl_gpu_mem_link(gpu, m);
		*ptr = (void *)m->start;
	} else {
		free(m);
	}
	crl_gpu_unlock();
	return ret;
}

/* Unpublish and close the dma-buf of m, if it has one. */
static void
dmabuf_drop(struct crl_gpu_mem *m)
{
	if (m->dmabuf_fd < 0)
		return;
	scx_dmabuf_withdraw(m->dmabuf_fd);
	close(m->dmabuf_fd);
	m->dmabuf_fd = -1;
}

int
crl_gpu_mem_free(struct crl_gpu *gpu, void *ptr)
{
	struct crl_gpu_mem **at;
	int ret = -EPERM;

	crl_gpu_lock();
	at = crl_gpu_mem_at(gpu, CRL_GPU_MEM_ALLOC, (uintptr_t)ptr);
	if (at != NULL) {
		dmabuf_drop(*at);
		/* The entry goes even when the driver refuses: nobody could free it better later.
		 */
		ret = gpu->ops->free(gpu, *at);
		crl_gpu_mem_unlink(gpu, at);
	}
	crl_gpu_unlock();
	return ret;
}

/* The allocation that holds ptr. */
static struct crl_gpu_mem *
alloc_of(struct crl_gpu *gpu, uintptr_t p)
{
	for (struct crl_gpu_mem *m = gpu->mem; m != NULL; m = m->next)
		if (m->kind == CRL_GPU_MEM_ALLOC && p >= m->start && p - m->start < m->bytes)
			return m;
	return NULL;
}

static int
dmabuf_check(const struct crl_gpu *gpu, const struct crl_gpu_mem *m, uintptr_t p, size_t bytes,
	unsigned int flags, struct crl_err *err)
{
	if (m == NULL)
		return crl_gpu_fail(err, -EPERM, "dma-buf export",
			"allocate it with crl_gpu_mem_alloc()", "0x%zx is not memory of %s",
			(size_t)p, gpu->info.name);
	if (bytes > m->bytes - (p - m->start))
		return crl_gpu_fail(err, -ERANGE, "dma-buf export",
			"ask for what was allocated, or less",
			"%zu bytes at 0x%zx run past the end of their allocation of %zu", bytes,
			(size_t)p, m->bytes);
	if (!gpu->info.dmabuf)
		return crl_gpu_fail(err, -ENOTSUP, "dma-buf export",
			gpu->info.kind == CRL_GPU_HOST ? "register the memory by its address"
						       : "update the NVIDIA driver (CUDA 11.7 or "
							 "newer, open kernel modules)",
			"%s (%s) has no dma-buf export", gpu->info.name, gpu->info.model);
	if (gpu->info.order == CRL_GPU_ORDER_NONE && !(flags & CRL_GPU_I_FLUSH))
		return crl_gpu_fail(err, -EOPNOTSUPP, "dma-buf export",
			"put the rings in host memory (--rings host), or flush on the host between "
			"a CQE and its payload",
			"%s (%s) does not order what a NIC writes, so a kernel could see a CQE "
			"before its payload",
			gpu->info.name, gpu->info.model);
	if (gpu->info.order == CRL_GPU_ORDER_NONE && !gpu->info.host_flush)
		return crl_gpu_fail(err, -EOPNOTSUPP, "dma-buf export",
			"put the rings in host memory (--rings host)",
			"%s (%s) neither orders what a NIC writes nor can be flushed",
			gpu->info.name, gpu->info.model);
	return 0;
}

/* Whether this processor can read the byte, found out without touching it. */
static bool
host_can_read(uintptr_t p)
{
	char byte;
	struct iovec to = {&byte, 1}, from = {(void *)p, 1};

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

/* Whether the software ConnectX of this process can move bytes of m. */
static bool
step_reaches(const struct crl_gpu *gpu, const struct crl_gpu_mem *m)
{
	if (gpu->info.kind == CRL_GPU_CUDA && softcx_reaches_gpu != NULL &&
		softcx_reaches_gpu(gpu->info.device) != 0)
		return true;
	if (softcx_step_gpu != NULL && softcx_step_gpu() >= 0)
		return false;
	return host_can_read(m->start);
}

/*
 * Export m, and tell a software ConnectX in this process where the memory is. Memory that its step
 * does not reach is no use to it, and said to be none.
 */
static int
dmabuf_make(struct crl_gpu *gpu, struct crl_gpu_mem *m, struct crl_err *err)
{
	int ret;

	if (softcx_dmabuf_add != NULL && !step_reaches(gpu, m))
		return crl_gpu_fail(err, -EOPNOTSUPP, "dma-buf export",
			"let that GPU step it (softcx run --nic-step gpu), or its copy engine help "
			"(--nic-step copy), or put rings and buffers in host memory (--rings host)",
			"the software ConnectX runs on a processor that cannot read memory of %s",
			gpu->info.name);
	ret = gpu->ops->dmabuf(gpu, m, &m->dmabuf_fd, err);
	if (ret != 0)
		return ret;
	ret = scx_dmabuf_publish(m->dmabuf_fd, (void *)m->start, m->bytes);
	if (ret == 0)
		return 0;
	close(m->dmabuf_fd);
	m->dmabuf_fd = -1;
	return crl_gpu_fail(err, ret, "dma-buf export", "free dma-bufs that are not needed",
		"the software ConnectX does not take it: %s", strerror(-ret));
}

int
crl_gpu_mem_dmabuf(struct crl_gpu *gpu, const void *ptr, size_t bytes, unsigned int flags, int *fd,
	uint64_t *offset, struct crl_err *err)
{
	uintptr_t p = (uintptr_t)ptr;
	struct crl_gpu_mem *m;
	int ret;

	crl_gpu_lock();
	m = alloc_of(gpu, p);
	ret = dmabuf_check(gpu, m, p, bytes, flags, err);
	if (ret == 0 && m->dmabuf_fd < 0)
		ret = dmabuf_make(gpu, m, err);
	if (ret == 0) {
		*fd = m->dmabuf_fd;
		*offset = p - m->start;
	}
	crl_gpu_unlock();
	return ret;
}

int
crl_gpu_mem_owns(struct crl_gpu *gpu, const void *ptr, size_t bytes)
{
	uintptr_t p = (uintptr_t)ptr;
	struct crl_gpu_mem *m;
	int ret = 0;

	crl_gpu_lock();
	m = alloc_of(gpu, p);
	if (m == NULL)
		ret = -EPERM;
	else if (bytes > m->bytes - (p - m->start))
		ret = -ERANGE;
	crl_gpu_unlock();
	return ret;
}

int
crl_gpu_mem_write(struct crl_gpu *gpu, void *dst, const void *host_src, size_t bytes)
{
	int ret;

	crl_gpu_lock();
	ret = gpu->ops->write(gpu, dst, host_src, bytes);
	crl_gpu_unlock();
	return ret;
}

int
crl_gpu_mem_read(struct crl_gpu *gpu, void *host_dst, const void *src, size_t bytes)
{
	int ret;

	crl_gpu_lock();
	ret = gpu->ops->read(gpu, host_dst, src, bytes);
	crl_gpu_unlock();
	return ret;
}

int
crl_gpu_mem_fill(struct crl_gpu *gpu, void *dst, uint8_t value, size_t bytes)
{
	int ret;

	crl_gpu_lock();
	ret = gpu->ops->fill(gpu, dst, value, bytes);
	crl_gpu_unlock();
	return ret;
}
