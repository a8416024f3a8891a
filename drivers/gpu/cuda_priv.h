/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between cuda.c, which opens a CUDA GPU, and cuda_mem.c, which handles its memory. All of it runs
 * with gpu.c's mutex held.
 */
#ifndef CRL_CUDA_PRIV_H
#define CRL_CUDA_PRIV_H

#include "cuda_api.h"
#include "gpu_priv.h"

/* What the GPU's own page tables use for device memory; dma-bufs start and end on it. */
#define CRL_CUDA_PAGE_BYTES 65536u

extern const struct crl_cuda_api *crl_cu; /* set by the first open */

/* Fill err from a CUDA result and return its -errno. */
int
crl_cuda_fails(struct crl_err *err, int res, const char *step, const char *fix, const char *what);

/* Make the device's context current, and put the caller's back. */
int crl_cuda_enter(struct crl_gpu *gpu, struct crl_err *err);
void crl_cuda_leave(void);

int crl_cuda_alloc(struct crl_gpu *gpu, size_t align, struct crl_gpu_mem *m, struct crl_err *err);
int crl_cuda_free(struct crl_gpu *gpu, struct crl_gpu_mem *m);
int crl_cuda_dmabuf(struct crl_gpu *gpu, struct crl_gpu_mem *m, int *fd, struct crl_err *err);
int crl_cuda_reg(struct crl_gpu *gpu, struct crl_gpu_mem *m, struct crl_err *err);
int crl_cuda_unreg(struct crl_gpu *gpu, struct crl_gpu_mem *m);
int crl_cuda_write(struct crl_gpu *gpu, void *dst, const void *src, size_t bytes);
int crl_cuda_read(struct crl_gpu *gpu, void *dst, const void *src, size_t bytes);
int crl_cuda_fill(struct crl_gpu *gpu, void *dst, uint8_t value, size_t bytes);
int crl_cuda_flush(struct crl_gpu *gpu);

#endif /* CRL_CUDA_PRIV_H */
