// SPDX-License-Identifier: BSD-3-Clause
/*
 * Devices by name, and the one mutex. Control side only; called by drivers/mlx5, gpudev.c and
 * applications.
 */
#include "gpu_priv.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct crl_gpu *devices;

void
crl_gpu_lock(void)
{
	pthread_mutex_lock(&lock);
}

void
crl_gpu_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

int
crl_gpu_fail(
	struct crl_err *err, int code, const char *step, const char *fix, const char *cause, ...)
{
	va_list ap;

	if (err == NULL)
		return code;
	err->code = code;
	snprintf(err->step, sizeof(err->step), "%s", step);
	snprintf(err->fix, sizeof(err->fix), "%s", fix);
	va_start(ap, cause);
	vsnprintf(err->cause, sizeof(err->cause), cause, ap);
	va_end(ap);
	return code;
}

static struct crl_gpu *
device_by_name(const char *name)
{
	for (struct crl_gpu *g = devices; g != NULL; g = g->next)
		if (strcmp(g->info.name, name) == 0)
			return g;
	return NULL;
}

static int
device_create(const struct crl_gpu_cfg *cfg, struct crl_gpu **out, struct crl_err *err)
{
	struct crl_gpu *g = calloc(1, sizeof(*g));
	int ret;

	if (g == NULL)
		return crl_gpu_fail(
			err, -ENOMEM, "open", "free some memory", "no host memory left");
	g->ops = cfg->kind == CRL_GPU_CUDA ? &crl_gpu_cuda_ops : &crl_gpu_host_ops;
	g->info.kind = cfg->kind;
	g->info.device = -1;
	snprintf(g->info.name, sizeof(g->info.name), "%s", cfg->name);
	ret = g->ops->open(g, cfg, err);
	if (ret != 0) {
		free(g);
		return ret;
	}
	g->refs = 1;
	g->next = devices;
	devices = g;
	*out = g;
	return 0;
}

int
crl_gpu_open(const struct crl_gpu_cfg *cfg, struct crl_gpu **gpu, struct crl_err *err)
{
	struct crl_gpu *g;
	int ret = 0;

	if (cfg == NULL || gpu == NULL || cfg->name == NULL || cfg->name[0] == '\0' ||
		strlen(cfg->name) >= sizeof(g->info.name) ||
		(cfg->kind != CRL_GPU_HOST && cfg->kind != CRL_GPU_CUDA))
		return crl_gpu_fail(err, -EINVAL, "open",
			"give a name of 1 to 63 characters and a kind",
			"the configuration has no usable name or kind");
	crl_gpu_lock();
	g = device_by_name(cfg->name);
	if (g == NULL) {
		ret = device_create(cfg, gpu, err);
	} else if (g->info.kind != cfg->kind) {
		ret = crl_gpu_fail(err, -EEXIST, "open", "choose another name",
			"%s is open already as another kind of memory", cfg->name);
	} else {
		g->refs++;
		*gpu = g;
	}
	crl_gpu_unlock();
	return ret;
}

struct crl_gpu *
crl_gpu_find(const char *name)
{
	struct crl_gpu *g;

	crl_gpu_lock();
	g = name != NULL ? device_by_name(name) : NULL;
	if (g != NULL)
		g->refs++;
	crl_gpu_unlock();
	return g;
}

int
crl_gpu_close(struct crl_gpu *gpu, struct crl_err *err)
{
	int ret = 0;

	crl_gpu_lock();
	if (gpu->refs > 1) {
		gpu->refs--;
	} else if (gpu->mem != NULL) {
		ret = crl_gpu_fail(err, -EBUSY, "close", "free or unregister it first",
			"%zu bytes at 0x%zx of %s are still %s", gpu->mem->bytes,
			(size_t)gpu->mem->start, gpu->info.name,
			gpu->mem->kind == CRL_GPU_MEM_ALLOC ? "allocated" : "registered");
	} else {
		struct crl_gpu **at = &devices;

		while (*at != gpu)
			at = &(*at)->next;
		*at = gpu->next;
		gpu->ops->close(gpu);
		free(gpu);
	}
	crl_gpu_unlock();
	return ret;
}

void
crl_gpu_info_get(const struct crl_gpu *gpu, struct crl_gpu_info *info)
{
	crl_gpu_lock();
	*info = gpu->info;
	crl_gpu_unlock();
}
