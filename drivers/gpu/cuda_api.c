// SPDX-License-Identifier: BSD-3-Clause
/*
 * Finds libcuda at run time, so that one binary serves machines with and without an NVIDIA driver,
 * and says in words why it cannot be used. Called by cuda.c with gpu.c's mutex held.
 */
#include "cuda_api.h"
#include "gpu_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NO_GPU_FIX "use host memory (gpu_crl_host, --gpu host), or run where nvidia-smi lists a GPU"

struct symbol {
	const char *name;
	size_t offset; /* of the function pointer in struct crl_cuda_api */
	int required;
};

static const struct symbol symbols[] = {
#define REQ(member, symbol, args) {#symbol, offsetof(struct crl_cuda_api, member), 1},
#define OPT(member, symbol, args) {#symbol, offsetof(struct crl_cuda_api, member), 0},
	CRL_CUDA_REQUIRED(REQ) CRL_CUDA_OPTIONAL(OPT)};

static struct crl_cuda_api api;
static int ready;

int
crl_cuda_errno(int res)
{
	switch (res) {
	case CRL_CUDA_OK:
		return 0;
	case CRL_CUDA_ERROR_INVALID_VALUE:
		return -EINVAL;
	case CRL_CUDA_ERROR_OUT_OF_MEMORY:
		return -ENOMEM;
	case CRL_CUDA_ERROR_NO_DEVICE:
	case CRL_CUDA_ERROR_INVALID_DEVICE:
	case CRL_CUDA_ERROR_STUB_LIBRARY:
		return -ENODEV;
	case CRL_CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
		return -EEXIST;
	case CRL_CUDA_ERROR_NOT_PERMITTED:
		return -EACCES;
	case CRL_CUDA_ERROR_NOT_SUPPORTED:
		return -ENOTSUP;
	default:
		return -EIO;
	}
}

const char *
crl_cuda_name(const struct crl_cuda_api *cu, int res)
{
	const char *name = NULL;

	if (cu->error_name(res, &name) != CRL_CUDA_OK || name == NULL)
		return "an error this libcuda has no name for";
	return name;
}

static int
resolve(void *lib, struct crl_err *err)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *fn = dlsym(lib, symbols[i].name);

		if (fn == NULL && symbols[i].required)
			return crl_gpu_fail(err, -ENOTSUP, "libcuda", "update the NVIDIA driver",
				"libcuda.so.1 has no %s: it is too old", symbols[i].name);
		memcpy((char *)&api + symbols[i].offset, &fn, sizeof(fn));
	}
	return 0;
}

static int
init_fails(int res, struct crl_err *err)
{
	if (res == CRL_CUDA_ERROR_NO_DEVICE)
		return crl_gpu_fail(err, -ENODEV, "cuInit", NO_GPU_FIX,
			"libcuda.so.1 is installed, but it sees no GPU (CUDA_VISIBLE_DEVICES and "
			"/dev/nvidia* decide)");
	if (res == CRL_CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
		return crl_gpu_fail(err, -ENODEV, "cuInit",
			"install both from one driver release, or reboot after an update",
			"libcuda.so.1 and the NVIDIA kernel module are of different versions");
	return crl_gpu_fail(err, crl_cuda_errno(res), "cuInit", NO_GPU_FIX, "cuInit() answered %s",
		crl_cuda_name(&api, res));
}

const struct crl_cuda_api *
crl_cuda_api_get(struct crl_err *err)
{
	void *lib;
	int res;

	if (ready)
		return &api;
	lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (lib == NULL) {
		crl_gpu_fail(err, -ENODEV, "dlopen", NO_GPU_FIX, "no NVIDIA driver here (%s)",
			dlerror());
		return NULL;
	}
	if (resolve(lib, err) != 0)
		goto close_lib;
	res = api.init(0);
	if (res != CRL_CUDA_OK) {
		init_fails(res, err);
		goto close_lib;
	}
	ready = 1;
	return &api;

close_lib:
	dlclose(lib);
	return NULL;
}
