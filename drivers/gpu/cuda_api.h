/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of CUDA's driver interface that cuda.c uses, declared by hand so that no toolkit is
 * needed to build; libcuda is found at run time. tests/unit compares values with the toolkit's
 * cuda.h where that is installed. Names as in NVIDIA's driver API reference, without the CU.
 */
#ifndef CRL_CUDA_API_H
#define CRL_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#include "crl_gpu.h"

typedef uint64_t crl_cu_ptr; /* CUdeviceptr */

enum {
	CRL_CUDA_OK = 0,
	CRL_CUDA_ERROR_INVALID_VALUE = 1,
	CRL_CUDA_ERROR_OUT_OF_MEMORY = 2,
	CRL_CUDA_ERROR_STUB_LIBRARY = 34,
	CRL_CUDA_ERROR_NO_DEVICE = 100,
	CRL_CUDA_ERROR_INVALID_DEVICE = 101,
	CRL_CUDA_ERROR_NOT_READY = 600,
	CRL_CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
	CRL_CUDA_ERROR_NOT_PERMITTED = 800,
	CRL_CUDA_ERROR_NOT_SUPPORTED = 801,
	CRL_CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
};

enum { /* CUdevice_attribute */
	CRL_CUDA_ATTR_MULTIPROCESSOR_COUNT = 16,
	CRL_CUDA_ATTR_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS = 117,
	CRL_CUDA_ATTR_GPU_DIRECT_RDMA_WRITES_ORDERING = 118,
	CRL_CUDA_ATTR_DMA_BUF_SUPPORTED = 124,
};

enum {
	CRL_CUDA_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
	CRL_CUDA_RANGE_HANDLE_DMA_BUF_FD = 1,
	CRL_CUDA_HOSTREGISTER_PORTABLE = 1,
	CRL_CUDA_HOSTREGISTER_DEVICEMAP = 2,
	CRL_CUDA_HOSTREGISTER_IOMEMORY = 4,
	CRL_CUDA_FLUSH_OPTION_HOST = 1,
	CRL_CUDA_FLUSH_TARGET_CURRENT_CTX = 0,
	CRL_CUDA_FLUSH_TO_OWNER = 100,
	CRL_CUDA_STREAM_NON_BLOCKING = 1,
};

/* X(member, symbol in libcuda, arguments): all of these must be there, */
#define CRL_CUDA_REQUIRED(X)                                                                       \
	X(init, cuInit, (unsigned int flags))                                                      \
	X(driver_version, cuDriverGetVersion, (int *version))                                      \
	X(error_name, cuGetErrorName, (int res, const char **name))                                \
	X(device_count, cuDeviceGetCount, (int *count))                                            \
	X(device_get, cuDeviceGet, (int *dev, int ordinal))                                        \
	X(device_by_pci, cuDeviceGetByPCIBusId, (int *dev, const char *pci))                       \
	X(device_pci, cuDeviceGetPCIBusId, (char *pci, int len, int dev))                          \
	X(device_name, cuDeviceGetName, (char *name, int len, int dev))                            \
	X(device_attr, cuDeviceGetAttribute, (int *value, int attr, int dev))                      \
	X(device_mem, cuDeviceTotalMem_v2, (size_t * bytes, int dev))                              \
	X(ctx_retain, cuDevicePrimaryCtxRetain, (void **ctx, int dev))                             \
	X(ctx_release, cuDevicePrimaryCtxRelease_v2, (int dev))                                    \
	X(ctx_push, cuCtxPushCurrent_v2, (void *ctx))                                              \
	X(ctx_pop, cuCtxPopCurrent_v2, (void **ctx))                                               \
	X(stream_create, cuStreamCreate, (void **stream, unsigned int flags))                      \
	X(stream_destroy, cuStreamDestroy_v2, (void *stream))                                      \
	X(stream_query, cuStreamQuery, (void *stream))                                             \
	X(mem_alloc, cuMemAlloc_v2, (crl_cu_ptr * ptr, size_t bytes))                              \
	X(mem_free, cuMemFree_v2, (crl_cu_ptr ptr))                                                \
	X(pointer_set, cuPointerSetAttribute, (const void *value, int attr, crl_cu_ptr ptr))       \
	X(copy_in, cuMemcpyHtoDAsync_v2,                                                           \
		(crl_cu_ptr dst, const void *src, size_t bytes, void *stream))                     \
	X(copy_out, cuMemcpyDtoHAsync_v2, (void *dst, crl_cu_ptr src, size_t bytes, void *stream)) \
	X(fill, cuMemsetD8Async,                                                                   \
		(crl_cu_ptr dst, unsigned char value, size_t bytes, void *stream))                 \
	X(host_register, cuMemHostRegister_v2, (void *ptr, size_t bytes, unsigned int flags))      \
	X(host_unregister, cuMemHostUnregister, (void *ptr))                                       \
	X(host_dev_ptr, cuMemHostGetDevicePointer_v2,                                              \
		(crl_cu_ptr * dev, void *ptr, unsigned int flags))

/* and these are NULL when libcuda is older: CUDA 11.7 and 11.3. */
#define CRL_CUDA_OPTIONAL(X)                                                                       \
	X(range_handle, cuMemGetHandleForAddressRange,                                             \
		(void *handle, crl_cu_ptr ptr, size_t bytes, int type, unsigned long long flags))  \
	X(rdma_flush, cuFlushGPUDirectRDMAWrites, (int target, int scope))

struct crl_cuda_api {
#define CRL_CUDA_MEMBER(member, symbol, args) int(*member) args;
	CRL_CUDA_REQUIRED(CRL_CUDA_MEMBER)
	CRL_CUDA_OPTIONAL(CRL_CUDA_MEMBER)
#undef CRL_CUDA_MEMBER
};

/*
 * libcuda, loaded and initialised; NULL and why when that cannot be. Stays loaded: the CUDA driver
 * has threads and exit handlers of its own.
 */
const struct crl_cuda_api *crl_cuda_api_get(struct crl_err *err);

/* A CUDA result as -errno, and its name. */
int crl_cuda_errno(int res);
const char *crl_cuda_name(const struct crl_cuda_api *cu, int res);

#endif /* CRL_CUDA_API_H */
