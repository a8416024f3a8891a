/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests tell the stand-in for libcuda (fake_cuda.c), and what they ask it. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdint.h>

struct fake_cuda {
	int fail_at;		/* the N-th call from now fails (1: the next), 0: none */
	int fail_with;		/* CUresult of that failure; 0: CUDA_ERROR_UNKNOWN */
	int calls;		/* counted since the last reset */
	int gpus;		/* what cuDeviceGetCount says; 0: cuInit answers NO_DEVICE */
	int ordering;		/* GPU_DIRECT_RDMA_WRITES_ORDERING */
	int flush;		/* ..._FLUSH_WRITES_OPTIONS */
	int dmabuf;		/* DMA_BUF_SUPPORTED */
	int stuck;		/* cuStreamQuery never finishes */
	int64_t shift;		/* device address of host memory = its address + shift */
	unsigned int reg_flags; /* of the last cuMemHostRegister */
	/* What lives: all zero when nothing leaked. */
	int contexts, depth, streams, allocs, registered;
	int flushes, sync_memops, exports; /* counted since the last reset */
};

/* The one state of the library. */
struct fake_cuda *fake_cuda(void);
/* Back to the start: one GPU that orders writes and exports dma-bufs, no failure, nothing counted.
 */
void fake_cuda_reset(void);

/* Drop what lives, as if it had been released. */
void fake_cuda_forget(void);

#endif /* FAKE_CUDA_H */
