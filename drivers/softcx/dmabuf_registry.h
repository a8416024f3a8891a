/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dma-buf descriptors for the software ConnectX. A real NIC's driver asks the kernel where the
 * memory behind a dma-buf is; the software one lives in the program and needs the address. Who
 * exports a dma-buf (Carillon's gpudev drivers) publishes it here; libsoftcx.so looks it up by the
 * inode, which is the same for every duplicate of the descriptor. Without libsoftcx.so in the
 * process both calls do nothing, so an exporter needs no #ifdef and no link dependency.
 *
 * Threads: any. Publish before the descriptor is handed to verbs; withdraw before the memory goes.
 */
#ifndef SCX_DMABUF_REGISTRY_H
#define SCX_DMABUF_REGISTRY_H

#include <stddef.h>

/* Defined by libsoftcx.so, when it is preloaded; null otherwise. */
extern int softcx_dmabuf_add(int fd, void *addr, size_t bytes) __attribute__((weak));
extern void softcx_dmabuf_del(int fd) __attribute__((weak));

/* The CUDA ordinal of the GPU that steps the software ConnectX's data path; -1: this processor
 * does. */
extern int softcx_step_gpu(void) __attribute__((weak));
/*
 * Whether its data path reaches memory of that GPU (a CUDA ordinal): it steps there, or on a GPU
 * that both reach each other with, or in a thread of this processor with that GPU's copy engine.
 */
extern int softcx_reaches_gpu(int device) __attribute__((weak));
/* The GPU whose copy engine it uses, -1: none. */
extern int softcx_copy_gpu(void) __attribute__((weak));
/* A doorbell register of that NIC in GPU memory, where a kernel rings with the same effect; NULL:
 * there is none, ring the register itself. */
extern void *softcx_uar_gpu(void *reg) __attribute__((weak));

/* addr: where the dma-buf's first byte is in this process. 0; -EBADF, -EEXIST: published already;
 * -ENOSPC: table full. */
static inline int scx_dmabuf_publish(int fd, void *addr, size_t bytes)
{
	return softcx_dmabuf_add ? softcx_dmabuf_add(fd, addr, bytes) : 0;
}

static inline void scx_dmabuf_withdraw(int fd)
{
	if (softcx_dmabuf_del)
		softcx_dmabuf_del(fd);
}

#endif /* SCX_DMABUF_REGISTRY_H */
