/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the processor that runs the queues: a CUDA GPU, or plain host memory that stands in for
 * one. This is what DPDK's gpudev lacks (dma-buf export, doorbell pages, copies that do not wait
 * for a resident kernel); it needs neither DPDK nor the CUDA toolkit. gpudev.c puts the same
 * devices under rte_gpu_*, drivers/mlx5 takes its rings from here.
 *
 * Threads: every function may be called from any thread; one mutex inside serializes them. Nothing
 * here is for the data path. The caller's current CUDA context is left as it was.
 *
 * Returns: 0 or -errno. Where a struct crl_err is given (NULL is allowed) it names the step that
 * failed, the cause and what to do about it.
 */
#ifndef CRL_GPU_H
#define CRL_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu_queues/err.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct crl_gpu; /* a device; reference counted */

enum crl_gpu_kind {
	CRL_GPU_HOST = 1, /* plain memory of this machine */
	CRL_GPU_CUDA = 2, /* memory of a CUDA GPU */
};

/* In which order a GPU sees what a NIC writes into its memory (CUDA:
 * GPU_DIRECT_RDMA_WRITES_ORDERING). */
enum crl_gpu_order {
	CRL_GPU_ORDER_NONE =
		0, /* a CQE may be seen before its payload: needs a flush by the host */
	CRL_GPU_ORDER_OWNER = 100, /* in order for the GPU that owns the memory */
	CRL_GPU_ORDER_ALL = 200,   /* in order for every GPU */
};

struct crl_gpu_cfg {
	const char *name; /* unique in the process, e.g. gpu_crl_cuda0; copied */
	enum crl_gpu_kind kind;
	const char *pci; /* CUDA: choose by PCI address; NULL: by ordinal */
	int device;	 /* CUDA ordinal */
	int numa_node;	 /* host memory: of which node; -1: wherever the kernel puts it */
};

struct crl_gpu_info {
	enum crl_gpu_kind kind;
	char name[64];	     /* as in crl_gpu_cfg */
	char model[96];	     /* what the driver calls the GPU; "host memory" */
	char pci[24];	     /* lower-case BDF with domain; empty for host memory */
	int numa_node;	     /* nearest, or -1 when not known */
	int device;	     /* CUDA ordinal, -1 for host memory */
	uint32_t processors; /* multiprocessors; host: online processors */
	uint64_t total_bytes;
	uint64_t page_bytes; /* allocations are padded to this */
	uint64_t context;    /* CUcontext (primary), 0 for host memory */
	bool dmabuf;	     /* crl_gpu_mem_dmabuf() can work */
	bool host_flush;     /* crl_gpu_flush() does something */
	enum crl_gpu_order order;
	uint32_t nr_mem; /* allocations and registrations that live */
};

/*
 * Open a device, or take another reference to the one already open under that name.
 * -ENODEV: no such GPU, or no libcuda. -EEXIST: the name is open with another kind or device.
 * -ENOTSUP: libcuda is too old. -ENOMEM, -EINVAL.
 */
int crl_gpu_open(const struct crl_gpu_cfg *cfg, struct crl_gpu **gpu, struct crl_err *err);
/* The open device of that name, with a reference of the caller's own, or NULL. */
struct crl_gpu *crl_gpu_find(const char *name);
/* Give a reference back. The last one: -EBUSY while memory of the device lives (and keeps the
 * reference). */
int crl_gpu_close(struct crl_gpu *gpu, struct crl_err *err);
void crl_gpu_info_get(const struct crl_gpu *gpu, struct crl_gpu_info *info);

/*
 * Memory: zeroed, at a multiple of align (a power of two; 0: the page), padded to whole pages.
 * CUDA: SYNC_MEMOPS is on. Free after every engine that uses it has ended (the CUDA driver waits
 * for kernels). -ENOMEM, -EINVAL; free: -EPERM when ptr is not the start of a live allocation of
 * this device.
 */
int
crl_gpu_mem_alloc(struct crl_gpu *gpu, size_t bytes, size_t align, void **ptr, struct crl_err *err);
int crl_gpu_mem_free(struct crl_gpu *gpu, void *ptr);

/* 0: [ptr, ptr + bytes) lies in one allocation of this device. -EPERM: ptr in none. -ERANGE: runs
 * past its end. */
int crl_gpu_mem_owns(struct crl_gpu *gpu, const void *ptr, size_t bytes);

/*
 * The allocation that holds [ptr, ptr + bytes) as a dma-buf: *fd stays this library's and is valid
 * until the memory is freed; *offset is ptr's place in it. A software ConnectX in this process is
 * told where the fd's memory is.
 * -ENOTSUP: host memory (register it by address), or a driver without dma-buf.
 * -EOPNOTSUPP: GPU that does not order a NIC's writes, and CRL_GPU_I_FLUSH was not given.
 * -EPERM: not memory of this device. -ERANGE: runs past the allocation.
 */
#define CRL_GPU_I_FLUSH 1u /* the caller calls crl_gpu_flush() between a CQE and its payload */
int crl_gpu_mem_dmabuf(struct crl_gpu *gpu, const void *ptr, size_t bytes, unsigned int flags,
	int *fd, uint64_t *offset, struct crl_err *err);

/*
 * Host access to device memory, each bounded by CRL_GPU_COPY_MS_MAX; they do not wait for kernels
 * of other streams, so they may be used beside a resident one. -ETIMEDOUT, -EIO.
 */
#define CRL_GPU_COPY_MS_MAX 5000
int crl_gpu_mem_write(struct crl_gpu *gpu, void *dst, const void *host_src, size_t bytes);
int crl_gpu_mem_read(struct crl_gpu *gpu, void *host_dst, const void *src, size_t bytes);
int crl_gpu_mem_fill(struct crl_gpu *gpu, void *dst, uint8_t value, size_t bytes);

/*
 * Make host memory visible to the GPU; *dev_ptr is the address kernels use. Unregister before the
 * memory goes. -EEXIST: overlaps what is registered already. unregister: -EPERM when ptr was not
 * registered.
 */
int crl_gpu_host_register(
	struct crl_gpu *gpu, void *ptr, size_t bytes, uint64_t *dev_ptr, struct crl_err *err);
int crl_gpu_host_unregister(struct crl_gpu *gpu, void *ptr);

/*
 * A doorbell (UAR) register for kernels: its page is registered once, as I/O memory or as plain
 * memory according to what the mapping is (/proc/self/smaps), and counted. reg may point anywhere
 * in the page.
 */
struct crl_gpu_uar {
	uint64_t dev_reg; /* the register as kernels address it */
	bool io;	  /* the mapping is device memory (MMIO) */
	bool on_gpu;	  /* a software ConnectX's page in this GPU's own memory */
	void *page;	  /* for crl_gpu_uar_unregister() */
};
int
crl_gpu_uar_register(struct crl_gpu *gpu, void *reg, struct crl_gpu_uar *uar, struct crl_err *err);
int crl_gpu_uar_unregister(struct crl_gpu *gpu, const struct crl_gpu_uar *uar);

/* Make the NIC's writes into GPU memory visible to the GPU. 0 also where they are ordered; -ENOTSUP
 * where the GPU cannot. */
int crl_gpu_flush(struct crl_gpu *gpu);

/* Whether the page at addr is device memory, by the io and pf flags of its mapping. -ENOENT: not
 * mapped. */
int crl_gpu_page_is_io(const void *addr, bool *io);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* CRL_GPU_H */
