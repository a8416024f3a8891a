/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-ins of fake_gpu.h: each notes what it was given, and answers as the test says. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rte_errno.h>
#include <rte_per_lcore.h>

#include "fake_gpu.h"

RTE_DEFINE_PER_LCORE(int, _rte_errno);

struct crl_gpu devs[DEVS];
int nr_devs;
struct fake_call call;
uint8_t memory[8192];

static void
why_set(struct crl_err *why)
{
	if (call.ret != 0)
		crl_err_set(why, call.ret, "ask the stand-in", "ask again", "it said %d", call.ret);
}

int16_t
rte_gpu_find_next(int16_t dev_id, int16_t parent)
{
	assert_int_equal(parent, RTE_GPU_ID_ANY);
	return dev_id < nr_devs ? dev_id : -1;
}

int
rte_gpu_info_get(int16_t dev_id, struct rte_gpu_info *info)
{
	if (dev_id < 0 || dev_id >= nr_devs || devs[dev_id].mute)
		return -ENODEV;
	memset(info, 0, sizeof(*info));
	info->name = devs[dev_id].name;
	return 0;
}

void *
rte_gpu_mem_alloc(int16_t dev_id, size_t size, unsigned int align)
{
	call.dev_id = dev_id;
	call.bytes = size;
	call.align = align;
	if (call.ret == 0)
		return memory;
	if (call.rte_error != 0)
		rte_errno = call.rte_error;
	return NULL;
}

int
rte_gpu_mem_free(int16_t dev_id, void *ptr)
{
	call.dev_id = dev_id;
	call.ptr = ptr;
	return 0;
}

struct crl_gpu *
crl_gpu_find(const char *name)
{
	for (int i = 0; i < nr_devs; i++)
		if (devs[i].known && strcmp(devs[i].name, name) == 0) {
			devs[i].refs++;
			return &devs[i];
		}
	return NULL;
}

int
crl_gpu_close(struct crl_gpu *gpu, struct crl_err *why)
{
	assert_non_null(gpu);
	assert_null(why);
	gpu->refs--;
	return 0;
}

void
crl_gpu_info_get(const struct crl_gpu *gpu, struct crl_gpu_info *info)
{
	memset(info, 0, sizeof(*info));
	info->kind = (gpu - devs) % 2 ? CRL_GPU_CUDA : CRL_GPU_HOST;
}

int
crl_gpu_mem_write(struct crl_gpu *gpu, void *dst, const void *src, size_t bytes)
{
	call.gpu = gpu;
	call.dst = dst;
	call.src = src;
	call.bytes = bytes;
	return call.ret;
}

int
crl_gpu_mem_read(struct crl_gpu *gpu, void *dst, const void *src, size_t bytes)
{
	return crl_gpu_mem_write(gpu, dst, src, bytes) + 1000;
}

int
crl_gpu_mem_dmabuf(struct crl_gpu *gpu, const void *ptr, size_t bytes, unsigned flags, int *fd,
	uint64_t *offset, struct crl_err *why)
{
	assert_int_equal(flags, 0);
	call.gpu = gpu;
	call.src = ptr;
	call.bytes = bytes;
	why_set(why);
	if (call.ret == 0) {
		*fd = call.fd;
		*offset = 77;
	}
	return call.ret;
}

int
crl_gpu_host_register(
	struct crl_gpu *gpu, void *ptr, size_t bytes, uint64_t *dev, struct crl_err *why)
{
	call.gpu = gpu;
	call.ptr = ptr;
	call.bytes = bytes;
	why_set(why);
	if (call.ret == 0) {
		*dev = (uint64_t)(uintptr_t)ptr + call.shift;
		call.registered++;
	}
	return call.ret;
}

int
crl_gpu_host_unregister(struct crl_gpu *gpu, void *ptr)
{
	assert_ptr_equal(gpu, call.gpu);
	assert_ptr_equal(ptr, call.ptr);
	call.registered--;
	return 0;
}

int
crl_gpu_uar_register(struct crl_gpu *gpu, void *reg, struct crl_gpu_uar *uar, struct crl_err *why)
{
	call.gpu = gpu;
	call.ptr = reg;
	why_set(why);
	if (call.ret == 0) {
		uar->dev_reg = (uint64_t)(uintptr_t)reg + call.shift;
		call.uars++;
	}
	return call.ret;
}

int
crl_gpu_uar_unregister(struct crl_gpu *gpu, const struct crl_gpu_uar *uar)
{
	assert_ptr_equal(gpu, call.gpu);
	assert_ptr_equal(uar->page, call.ptr);
	call.uars--;
	return 0;
}
