/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a NIC's data path steps when that is not a thread of the control side: a kernel on a GPU
 * (gpu/step.cu, in a library of its own), or a host thread behind the same protocol, dp/remote.h,
 * for tests of it without a GPU. A front makes one and hands it over in struct scx_nic_cfg.
 *
 * Threads: keep() and end() from one thread at a time; the rest of what passes lies in *remote.
 */
#ifndef SCX_STEP_H
#define SCX_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scx_mover;
struct scx_remote;

struct scx_step {
	const char *where;	   /* "a kernel on GPU 0 (NVIDIA H200)" */
	struct scx_remote *remote; /* zero at the start, and the NIC's until end() */
	void *arg;
	/* Called at every turn of the host: sees to it that it steps. 0; -errno: it never will
	 * again. */
	int (*keep)(void *arg);
	const char *(*why)(void *arg); /* why keep() failed, in words */
	void (*end)(void *arg);	       /* ends it and frees all of it, *step too */
};

struct scx_step_cfg {
	uint64_t seed;
	uint32_t nr_uar_pages;
	int device; /* CUDA ordinal; a host thread does not look */
};

/* A host thread. NULL: no memory or no thread. */
struct scx_step *scx_step_thread(const struct scx_step_cfg *cfg);

/* ---- libsoftcx_cuda.so, which the interposer loads when a GPU is asked for ---- */

#define SCX_CUDA_LIBRARY "libsoftcx_cuda.so.0"
#define SCX_CUDA_ABI	 2u

/* What dlsym() finds under the name "scx_cuda". err: bytes for words, when a call fails. */
struct scx_cuda {
	uint32_t abi; /* SCX_CUDA_ABI */
	/* A kernel that steps; it has been seen alive when this returns. */
	int (*step)(const struct scx_step_cfg *cfg, struct scx_step **step, char *err,
		size_t bytes);
	/* Doorbell pages in GPU memory, page i at i * 4096: a kernel may ring there instead. */
	void *(*uar)(struct scx_step *step);
	/* Host memory for the kernel: 0; -EEXIST: somebody registered it before. */
	int (*pin)(void *addr, size_t bytes, char *err, size_t err_bytes);
	int (*unpin)(void *addr);
	/* Whether an address is one of a GPU's memory; asks nothing of the GPU. */
	bool (*holds)(const void *addr);
	/* Two GPUs reach each other's memory from now on: 0, or -ENOTSUP. */
	int (*peers)(int a, int b);
	/* far/far.h: a GPU's copy engine, on a stream of its own. */
	int (*mover)(int device, struct scx_mover **mover, char *err, size_t bytes);
};

#endif /* SCX_STEP_H */
