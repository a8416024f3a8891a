/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libcuda says of the GPUs: attributes that GPUDirect depends on. It is opened at run time, so
 * that the doctor runs where there is none; no context is made. Host only.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"

/* CUdevice_attribute, of the driver API's stable ABI. */
#define ATTR_GPU_DIRECT_RDMA	116
#define ATTR_RDMA_FLUSH_OPTIONS 117
#define ATTR_RDMA_WRITES_ORDER	118
#define ATTR_DMA_BUF		124

struct cuda {
	int (*init)(unsigned flags);
	int (*driver_version)(int *version);
	int (*count)(int *n);
	int (*attribute)(int *value, int attribute, int device);
	int (*bus_id)(char *text, int bytes, int device);
};

static bool
load(struct cuda *c, void *lib)
{
	*(void **)&c->init = dlsym(lib, "cuInit");
	*(void **)&c->driver_version = dlsym(lib, "cuDriverGetVersion");
	*(void **)&c->count = dlsym(lib, "cuDeviceGetCount");
	*(void **)&c->attribute = dlsym(lib, "cuDeviceGetAttribute");
	*(void **)&c->bus_id = dlsym(lib, "cuDeviceGetPCIBusId");
	return c->init && c->driver_version && c->count && c->attribute && c->bus_id;
}

static void
device(struct doctor *d, const struct cuda *c, int dev)
{
	static const struct {
		int attribute;
		const char *name;
	} wanted[] = {
		{ATTR_GPU_DIRECT_RDMA, "gpu_direct_rdma"},
		{ATTR_RDMA_FLUSH_OPTIONS, "flush_options"},
		{ATTR_RDMA_WRITES_ORDER, "writes_ordering"},
		{ATTR_DMA_BUF, "dma_buf"},
	};
	char bdf[32] = "", key[DR_NAME];

	if (c->bus_id(bdf, sizeof(bdf) - 1, dev) != 0)
		return;
	for (char *s = bdf; *s != '\0'; s++)
		*s = (char)tolower((unsigned char)*s);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		int value;

		snprintf(key, sizeof(key), "cuda.%s.%s", bdf, wanted[i].name);
		if (c->attribute(&value, wanted[i].attribute, dev) == 0)
			dr_fact_set(d, key, "%d", value);
	}
}

void
dr_probe_cuda(struct doctor *d)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	struct cuda c;
	int ret, n = 0, version = 0;

	if (lib == NULL) {
		dr_fact_set(d, "cuda", "%s", dlerror());
		return;
	}
	if (!load(&c, lib)) {
		dr_fact_set(d, "cuda", "libcuda.so.1 lacks functions of CUDA 11");
		return;
	}
	ret = c.init(0);
	if (ret != 0) {
		dr_fact_set(d, "cuda", "cuInit returned %d", ret);
		return;
	}
	dr_fact_set(d, "cuda", "ok");
	if (c.driver_version(&version) == 0)
		dr_fact_set(d, "cuda.version", "%d", version);
	if (c.count(&n) != 0)
		return;
	for (int i = 0; i < n; i++)
		device(d, &c, i);
}
