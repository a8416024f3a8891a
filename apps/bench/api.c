// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where a run's work is done: on a GPU, by libcarillon_bench_cuda, which is loaded here; or by host
 * threads.
 */
#include "bench.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

static const struct bn_api host_api = {
	.post = bn_host_post,
	.litmus = bn_host_litmus,
	.rtt = bn_host_rtt,
	.poll = bn_host_poll,
	.trigger = bn_host_trigger,
	.tax = bn_host_tax,
};

/* Finds a function of the library; its type is the pointer's own. */
#define FIND(pointer, name)                                                                        \
	do {                                                                                       \
		*(void **)&(pointer) = dlsym(lib, name);                                           \
		if (!(pointer)) {                                                                  \
			snprintf(why, bytes, "%s has no %s", BN_CUDA_LIBRARY, name);               \
			return -ENOSYS;                                                            \
		}                                                                                  \
	} while (0)

int
bn_api_open(struct bn_run *run, char *why, size_t bytes)
{
	int (*open_gpu)(uint32_t, int, struct bn_gpu *);
	void *lib;
	int rc;

	if (run->opt->host) {
		run->api = host_api;
		return 0;
	}
	lib = dlopen(BN_CUDA_LIBRARY, RTLD_NOW);
	if (!lib) {
		snprintf(why, bytes, "%s; it is built where there is an nvcc", dlerror());
		return -ENOENT;
	}
	run->api.gpu = true;
	FIND(open_gpu, "bn_cuda_open");
	FIND(run->api.post, "bn_cuda_post");
	FIND(run->api.litmus, "bn_cuda_litmus");
	FIND(run->api.rtt, "bn_cuda_rtt");
	FIND(run->api.poll, "bn_cuda_poll");
	FIND(run->api.trigger, "bn_cuda_trigger");
	FIND(run->api.tax, "bn_cuda_tax");
	rc = open_gpu(BN_CUDA_ABI, run->opt->device, &run->gpu);
	if (rc != 0)
		snprintf(why, bytes, "GPU %d: %s", run->opt->device, run->gpu.doca_from);
	return rc;
}
