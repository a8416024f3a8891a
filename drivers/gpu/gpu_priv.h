/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between gpu.c, mem.c and reg.c, which keep devices and the table of their memory, and the two
 * back ends host.c and cuda.c, which know one kind of memory each and keep no tables. Back ends are
 * called with gpu.c's mutex held.
 */
#ifndef CRL_GPU_PRIV_H
#define CRL_GPU_PRIV_H

#include "crl_gpu.h"

enum crl_gpu_mem_kind {
	CRL_GPU_MEM_ALLOC = 1, /* allocated here */
	CRL_GPU_MEM_HOST = 2,  /* the caller's host memory, registered */
	CRL_GPU_MEM_UAR = 3,   /* a doorbell page, registered and counted */
};

struct crl_gpu_mem {
	struct crl_gpu_mem *next;
	enum crl_gpu_mem_kind kind;
	uintptr_t start; /* what the caller knows */
	size_t bytes;
	uintptr_t raw; /* what the back end allocated: start lies in it */
	size_t raw_bytes;
	uint64_t dev_ptr; /* start as kernels address it */
	int dmabuf_fd;	  /* -1: not exported */
	bool io;
	bool on_gpu; /* a doorbell page that lies in GPU memory: nothing was registered */
	uint32_t refs; /* users of a doorbell page */
};

struct crl_gpu_ops {
	int (*open)(struct crl_gpu *gpu, const struct crl_gpu_cfg *cfg, struct crl_err *err);
	void (*close)(struct crl_gpu *gpu);
	/* Fills raw, raw_bytes, start and dev_ptr for bytes given in m. */
	int (*alloc)(struct crl_gpu *gpu, size_t align, struct crl_gpu_mem *m, struct crl_err *err);
	int (*free)(struct crl_gpu *gpu, struct crl_gpu_mem *m);
	int (*dmabuf)(struct crl_gpu *gpu, struct crl_gpu_mem *m, int *fd, struct crl_err *err);
	int (*reg)(struct crl_gpu *gpu, struct crl_gpu_mem *m, struct crl_err *err);
	int (*unreg)(struct crl_gpu *gpu, struct crl_gpu_mem *m);
	int (*write)(struct crl_gpu *gpu, void *dst, const void *src, size_t bytes);
	int (*read)(struct crl_gpu *gpu, void *dst, const void *src, size_t bytes);
	int (*fill)(struct crl_gpu *gpu, void *dst, uint8_t value, size_t bytes);
	int (*flush)(struct crl_gpu *gpu);
};

struct crl_gpu {
	struct crl_gpu *next;
	const struct crl_gpu_ops *ops;
	struct crl_gpu_info info;
	struct crl_gpu_mem *mem;
	uint32_t refs;
	int cu_dev;	   /* cuda.c: CUdevice */
	void *stream;	   /* cuda.c: CUstream of the copies */
	void *cuda;	   /* cuda.c: the primary context */
};

extern const struct crl_gpu_ops crl_gpu_host_ops;
extern const struct crl_gpu_ops crl_gpu_cuda_ops;

/*
 * gpu.c: fills err, if there is one, and returns code. Not gpu_queues' function for the same, so
 * that this library stands alone.
 */
int crl_gpu_fail(struct crl_err *err, int code, const char *step, const char *fix,
	const char *cause, ...) __attribute__((format(printf, 5, 6)));

/* gpu.c: the one mutex. */
void crl_gpu_lock(void);
void crl_gpu_unlock(void);

/*
 * mem.c, with the mutex held. _at: the link that points at the entry which starts at start, or
 * NULL; pointers into the middle do not count. _new: NULL when there is no memory; not in the table
 * yet.
 */
struct crl_gpu_mem **
crl_gpu_mem_at(struct crl_gpu *gpu, enum crl_gpu_mem_kind kind, uintptr_t start);
struct crl_gpu_mem *crl_gpu_mem_new(enum crl_gpu_mem_kind kind, uintptr_t start, size_t bytes);
void crl_gpu_mem_link(struct crl_gpu *gpu, struct crl_gpu_mem *m);
void crl_gpu_mem_unlink(struct crl_gpu *gpu, struct crl_gpu_mem **at);

#endif /* CRL_GPU_PRIV_H */
