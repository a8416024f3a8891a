/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drivers/gpu and DPDK's gpudev library as a test of gpudev.c has them: devices whose every answer
 * it chooses, and what they were asked for at last. One thread.
 */
#ifndef CRL_TEST_FAKE_GPU_H
#define CRL_TEST_FAKE_GPU_H

#include <rte_gpudev.h>

#include "drivers/gpu/crl_gpu.h"
#include "drivers/mlx5/dpdk_internal.h"

enum { SLOTS = CRL_GPUDEVS_MAX, DEVS = SLOTS + 2 };

/* The devices that are there: even ones are host memory, odd ones GPUs. */
struct crl_gpu {
	char name[64];
	bool known; /* to drivers/gpu */
	bool mute;  /* rte_gpu_info_get() refuses */
	int refs;
};

struct fake_call {
	int ret, rte_error, fd; /* to answer */
	int registered, uars;	/* that live */
	size_t bytes;
	unsigned align;
	int16_t dev_id;
	struct crl_gpu *gpu;
	const void *dst, *src;
	void *ptr;
	uint64_t shift; /* from an address to the GPU's */
};

extern struct crl_gpu devs[DEVS];
extern int nr_devs;
extern struct fake_call call;
extern uint8_t memory[8192];

#endif /* CRL_TEST_FAKE_GPU_H */
