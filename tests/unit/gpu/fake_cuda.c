// SPDX-License-Identifier: BSD-3-Clause
/*
 * A stand-in for libcuda.so.1 over host memory, so that the CUDA path of drivers/gpu runs on
 * machines without a GPU. "GPU memory" is a mapped memfd, exported memory its fd. Fails on command,
 * and counts what lives. Every entry answers as NVIDIA's reference says for the cases that
 * drivers/gpu can meet: an operation without a current context is refused.
 */
#include "fake_cuda.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, INVALID = 1, NO_MEMORY = 2, NO_DEVICE = 100, BAD_DEVICE = 101, NO_CONTEXT = 201 };
enum { NOT_READY = 600, ALREADY = 712, NOT_REGISTERED = 713, NOT_SUPPORTED = 801, UNKNOWN = 999 };

#define MAX_MEM 8192

static struct fake_cuda st = {.gpus = 1, .ordering = 100, .flush = 1, .dmabuf = 1};

static struct {
	char *addr;
	size_t bytes;
	int fd;
} mem[MAX_MEM];

static struct {
	char *addr;
	size_t bytes;
} reg[MAX_MEM];

EXPORT struct fake_cuda *
fake_cuda(void)
{
	return &st;
}

EXPORT void
fake_cuda_reset(void)
{
	int contexts = st.contexts, depth = st.depth, streams = st.streams;
	int allocs = st.allocs, registered = st.registered;

	memset(&st, 0, sizeof(st));
	st.gpus = 1;
	st.ordering = 100;
	st.flush = 1;
	st.dmabuf = 1;
	st.contexts = contexts;
	st.depth = depth;
	st.streams = streams;
	st.allocs = allocs;
	st.registered = registered;
}

EXPORT void
fake_cuda_forget(void)
{
	for (int i = 0; i < MAX_MEM; i++)
		if (mem[i].addr != NULL) {
			munmap(mem[i].addr, mem[i].bytes);
			close(mem[i].fd);
		}
	memset(mem, 0, sizeof(mem));
	memset(reg, 0, sizeof(reg));
	st.contexts = st.streams = st.allocs = st.registered = 0;
}

/* Counts the call; true when it is the one that must fail. */
static bool
fails(void)
{
	st.calls++;
	return st.fail_at != 0 && --st.fail_at == 0;
}

static int
failure(void)
{
	return st.fail_with != 0 ? st.fail_with : UNKNOWN;
}

/* An entry point: counted, can be made to fail. needs: a context must be current. */
#define ENTRY(name, args, needs, body)                                                             \
	EXPORT int name args;                                                                      \
	EXPORT int name args                                                                       \
	{                                                                                          \
		if (fails())                                                                       \
			return failure();                                                          \
		if ((needs) && st.depth == 0)                                                      \
			return NO_CONTEXT;                                                         \
		body                                                                               \
	}

static int
find(const void *p)
{
	for (int i = 0; i < MAX_MEM; i++)
		if (mem[i].addr != NULL && (const char *)p >= mem[i].addr &&
			(const char *)p < mem[i].addr + mem[i].bytes)
			return i;
	return -1;
}

static int
alloc(uint64_t *out, size_t bytes)
{
	for (int i = 0; i < MAX_MEM; i++) {
		if (mem[i].addr != NULL)
			continue;
		mem[i].fd = memfd_create("fake GPU memory", MFD_CLOEXEC);
		if (mem[i].fd < 0 || ftruncate(mem[i].fd, (off_t)bytes) != 0)
			abort();
		mem[i].addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, mem[i].fd, 0);
		if (mem[i].addr == MAP_FAILED)
			abort();
		memset(mem[i].addr, 0xa5, bytes); /* cuMemAlloc does not clear */
		mem[i].bytes = bytes;
		st.allocs++;
		*out = (uintptr_t)mem[i].addr;
		return OK;
	}
	return NO_MEMORY;
}

static int
release(uint64_t p)
{
	int i = find((void *)(uintptr_t)p);

	if (i < 0 || mem[i].addr != (char *)(uintptr_t)p)
		return INVALID;
	munmap(mem[i].addr, mem[i].bytes);
	close(mem[i].fd);
	memset(&mem[i], 0, sizeof(mem[i]));
	st.allocs--;
	return OK;
}

/* A dma-buf of [p, p + bytes): the memfd itself stands for it, whatever part was asked for. */
static int
export_range(void *handle, uint64_t p, size_t bytes, int type)
{
	int i = find((void *)(uintptr_t)p);

	if (type != 1 || p % 4096 != 0 || bytes % 4096 != 0 || i < 0 ||
		p + bytes > (uintptr_t)mem[i].addr + mem[i].bytes)
		return INVALID;
	st.exports++;
	*(int *)handle = dup(mem[i].fd);
	return OK;
}

static int
host_register(void *p, size_t bytes, unsigned int flags)
{
	char *a = p;
	int slot = -1;

	for (int i = 0; i < MAX_MEM; i++) {
		if (reg[i].addr == NULL)
			slot = slot < 0 ? i : slot;
		else if (a < reg[i].addr + reg[i].bytes && reg[i].addr < a + bytes)
			return ALREADY;
	}
	/* As measured on a machine with a GPU: ordinary memory is no I/O memory. */
	if (slot < 0 || (flags & 4) != 0)
		return INVALID;
	reg[slot].addr = a;
	reg[slot].bytes = bytes;
	st.reg_flags = flags;
	st.registered++;
	return OK;
}

static int
host_unregister(void *p)
{
	for (int i = 0; i < MAX_MEM; i++)
		if (reg[i].addr == p && p != NULL) {
			reg[i].addr = NULL;
			st.registered--;
			return OK;
		}
	return NOT_REGISTERED;
}

static int
attribute(int *value, int attr)
{
	switch (attr) {
	case 16:
		*value = 132;
		return OK;
	case 117:
		*value = st.flush;
		return OK;
	case 118:
		*value = st.ordering;
		return OK;
	case 124:
		*value = st.dmabuf;
		return OK;
	default:
		return INVALID;
	}
}

EXPORT int cuGetErrorName(int res, const char **name);
EXPORT int
cuGetErrorName(int res, const char **name)
{
	*name = res == UNKNOWN	   ? "CUDA_ERROR_UNKNOWN"
		: res == NO_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
				   : "CUDA_ERROR_OTHER";
	return OK;
}

static char context[1], stream[1];

ENTRY(cuInit, (unsigned int flags), 0, return flags == 0 && st.gpus > 0 ? OK : NO_DEVICE;)
ENTRY(cuDriverGetVersion, (int *v), 0, *v = 13000; return OK;)
ENTRY(cuDeviceGetCount, (int *n), 0, *n = st.gpus; return OK;)
ENTRY(cuDeviceGet, (int *dev, int i), 0, *dev = i; return i >= 0 && i < st.gpus ? OK : BAD_DEVICE;)
ENTRY(cuDeviceGetByPCIBusId, (int *dev, const char *pci), 0, *dev = 0;
	return strcasestr(pci, "3b:00.0") != NULL ? OK : INVALID;)
ENTRY(cuDeviceGetPCIBusId, (char *pci, int len, int dev), 0,
	snprintf(pci, (size_t)len, "0000:3B:00.%d", dev);
	return OK;)
ENTRY(cuDeviceGetName, (char *name, int len, int dev), 0,
	snprintf(name, (size_t)len, "Fake GPU %d", dev);
	return OK;)
ENTRY(cuDeviceGetAttribute, (int *value, int attr, int dev), 0, (void)dev;
	return attribute(value, attr);)
ENTRY(cuDeviceTotalMem_v2, (size_t * bytes, int dev), 0, *bytes = (size_t)dev + (1 << 30);
	return OK;)
ENTRY(cuDevicePrimaryCtxRetain, (void **ctx, int dev), 0, (void)dev; *ctx = context; st.contexts++;
	return OK;)
ENTRY(cuDevicePrimaryCtxRelease_v2, (int dev), 0, (void)dev; st.contexts--; return OK;)
ENTRY(cuCtxPushCurrent_v2, (void *ctx), 0, if (ctx != context) return INVALID; st.depth++;
	return OK;)
ENTRY(cuStreamCreate, (void **s, unsigned int flags), 1, if (flags != 1) return INVALID;
	*s = stream; st.streams++; return OK;)
ENTRY(cuStreamDestroy_v2, (void *s), 1, (void)s; st.streams--; return OK;)
ENTRY(cuStreamQuery, (void *s), 1, (void)s; return st.stuck ? NOT_READY : OK;)
ENTRY(cuMemAlloc_v2, (uint64_t * p, size_t bytes), 1, return alloc(p, bytes);)
ENTRY(cuMemFree_v2, (uint64_t p), 1, return release(p);)
ENTRY(cuPointerSetAttribute, (const void *value, int attr, uint64_t p), 1,
	if (attr != 6 || *(const unsigned int *)value != 1 ||
		find((void *)(uintptr_t)p) < 0) return INVALID;
	st.sync_memops++; return OK;)
ENTRY(cuMemcpyHtoDAsync_v2, (uint64_t dst, const void *src, size_t n, void *s), 1, (void)s;
	if (find((void *)(uintptr_t)dst) < 0) return INVALID;
	memcpy((void *)(uintptr_t)dst, src, n); return OK;)
ENTRY(cuMemcpyDtoHAsync_v2, (void *dst, uint64_t src, size_t n, void *s), 1, (void)s;
	if (find((void *)(uintptr_t)src) < 0) return INVALID;
	memcpy(dst, (void *)(uintptr_t)src, n); return OK;)
ENTRY(cuMemsetD8Async, (uint64_t dst, unsigned char v, size_t n, void *s), 1, (void)s;
	if (find((void *)(uintptr_t)dst) < 0) return INVALID; memset((void *)(uintptr_t)dst, v, n);
	return OK;)
ENTRY(cuMemHostRegister_v2, (void *p, size_t n, unsigned int flags), 1,
	return host_register(p, n, flags);)
ENTRY(cuMemHostUnregister, (void *p), 1, return host_unregister(p);)
ENTRY(cuMemHostGetDevicePointer_v2, (uint64_t * dev, void *p, unsigned int flags), 1, (void)flags;
	*dev = (uint64_t)((intptr_t)p + st.shift); return OK;)
ENTRY(cuMemGetHandleForAddressRange,
	(void *h, uint64_t p, size_t n, int type, unsigned long long flags), 1, (void)flags;
	return export_range(h, p, n, type);)
ENTRY(cuFlushGPUDirectRDMAWrites, (int target, int scope), 1,
	if (target != 0 || scope != 100) return INVALID;
	st.flushes++; return OK;)

/* Leaving a context cannot be made to fail: a caller could do nothing about it. */
EXPORT int cuCtxPopCurrent_v2(void **ctx);
EXPORT int
cuCtxPopCurrent_v2(void **ctx)
{
	if (st.depth == 0)
		return NO_CONTEXT;
	st.depth--;
	*ctx = context;
	return OK;
}
