/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --nic-step: who steps the data path. For a GPU: loads libsoftcx_cuda, makes a step for every
 * device, and sees to it that the kernel reaches the host memory that drivers register. For a copy
 * engine: one for all devices, and a copy of each dma-buf's memory. Called by device.c, mem.c and
 * dmabuf.c under scxf_lock; what programs call (../dmabuf_registry.h) takes it.
 *
 * Host memory is registered with the GPU in whole pages. Regions overlap (a driver registers a pool
 * and then pages of it), registrations must not: a piece belongs to all regions that touch it, and
 * goes with the last. What the program itself has registered is left to it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../dmabuf_registry.h"
#include "../far/far.h"
#include "../step.h"
#include "front.h"

#define PAGE 4096ull

struct piece {
	struct piece *next;
	uint64_t from, to;
	unsigned users;
	bool foreign; /* registered by the program, not by us */
};

static const struct scx_cuda *cuda; /* NULL: not loaded */
static int gpu = -1;		    /* CUDA ordinal of the steps, -1: they are on this processor */
static struct piece *pieces;	    /* by address, apart from each other */
static struct scx_far *far;	    /* NULL: no copy engine */

static int
load(char *err, size_t bytes)
{
	void *lib = dlopen(SCX_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (lib == NULL) {
		snprintf(err, bytes, "no CUDA kernels: %s", dlerror());
		return -ENOSYS;
	}
	cuda = dlsym(lib, "scx_cuda");
	if (cuda == NULL || cuda->abi != SCX_CUDA_ABI) {
		snprintf(err, bytes, SCX_CUDA_LIBRARY " is of another version");
		cuda = NULL;
		dlclose(lib);
		return -ENOSYS;
	}
	return 0;
}

/* One thread steps all devices, and one engine serves it. */
static int
far_make(const struct scx_conf *conf, uint64_t seed, char *err, size_t bytes)
{
	struct scx_mover *mover = NULL;
	int rc = 0;

	if (far != NULL)
		return 0;
	snprintf(err, bytes, "no memory");
	if (conf->step == SCX_CONF_STEP_COPY_TEST)
		mover = scx_mover_seeded(seed);
	else
		rc = cuda != NULL ? 0 : load(err, bytes);
	if (rc == 0 && conf->step == SCX_CONF_STEP_COPY)
		rc = cuda->mover((int)conf->gpu, &mover, err, bytes);
	if (rc == 0)
		far = mover != NULL ? scx_far_new(mover, NULL) : NULL;
	return rc != 0 || far != NULL ? rc : -ENOMEM;
}

static int
copy_make(struct scxf_dev *dev, const struct scx_conf *conf, uint64_t seed,
	struct scx_nic_cfg *cfg, char *err, size_t bytes)
{
	int rc = far_make(conf, seed, err, bytes);

	if (rc != 0)
		return rc;
	cfg->copy = scx_far_copy(far);
	scx_log(dev->name, "the NIC step runs in a thread of this processor, with %s for dma-bufs",
		scx_far_mover(far)->where);
	return 0;
}

int
scxf_step_make(struct scxf_dev *dev, const struct scx_conf *conf, uint64_t seed,
	struct scx_nic_cfg *nic, char *err, size_t bytes)
{
	struct scx_step_cfg cfg = {
		.seed = seed, .nr_uar_pages = SCXF_UAR_PAGES, .device = (int)conf->gpu};
	int rc;

	if (conf->step == SCX_CONF_STEP_CPU)
		return 0;
	if (conf->step == SCX_CONF_STEP_COPY || conf->step == SCX_CONF_STEP_COPY_TEST)
		return copy_make(dev, conf, seed, nic, err, bytes);
	if (conf->step == SCX_CONF_STEP_REMOTE) {
		nic->step = scx_step_thread(&cfg);
		if (nic->step == NULL)
			snprintf(err, bytes, "no memory or no thread for the step");
		return nic->step != NULL ? 0 : -ENOMEM;
	}
	rc = cuda != NULL ? 0 : load(err, bytes);
	if (rc == 0)
		rc = cuda->step(&cfg, &nic->step, err, bytes);
	if (rc != 0)
		return rc;
	gpu = (int)conf->gpu;
	dev->uar_gpu = conf->host_doorbells ? NULL : cuda->uar(nic->step);
	return 0;
}

bool
scxf_needs_gpu(void)
{
	return gpu >= 0 || (far != NULL && scx_far_mover(far)->device >= 0);
}

void *
scxf_far_add(void *addr, size_t bytes)
{
	return far != NULL ? scx_far_add(far, addr, bytes) : addr;
}

void
scxf_far_del(void *here)
{
	if (far != NULL)
		scx_far_del(far, here);
}

void
scxf_far_end(void)
{
	scx_far_free(far);
	far = NULL;
}

bool
scxf_step_on_gpu(void)
{
	return gpu >= 0;
}

bool
scxf_gpu_holds(const void *addr)
{
	return far != NULL || (gpu >= 0 && cuda->holds(addr));
}

/* A new piece between its neighbours; *at points to the link where it goes. */
static int
piece_add(struct piece **at, uint64_t from, uint64_t to, char *err, size_t bytes)
{
	struct piece *p = calloc(1, sizeof(*p));
	int rc;

	if (p == NULL)
		return -ENOMEM;
	rc = cuda->pin((void *)(uintptr_t)from, to - from, err, bytes);
	if (rc != 0 && rc != -EEXIST) {
		free(p);
		return rc;
	}
	p->foreign = rc == -EEXIST;
	p->from = from;
	p->to = to;
	p->users = 1;
	p->next = *at;
	*at = p;
	return 0;
}

/* Up to to: gaps become pieces, pieces get a user. Returns how far it came. */
static uint64_t
cover(uint64_t from, uint64_t to, int *rc, char *err, size_t bytes)
{
	struct piece **at = &pieces;

	for (*rc = 0; from < to;) {
		while (*at != NULL && (*at)->to <= from)
			at = &(*at)->next;
		if (*at != NULL && (*at)->from <= from) {
			(*at)->users++;
			from = (*at)->to;
		} else {
			uint64_t end = *at != NULL && (*at)->from < to ? (*at)->from : to;

			*rc = piece_add(at, from, end, err, bytes);
			if (*rc != 0)
				return from;
			from = end;
		}
	}
	return to;
}

static void
uncover(uint64_t from, uint64_t to)
{
	struct piece **at = &pieces, *p;

	while ((p = *at) != NULL) {
		if (p->to <= from || p->from >= to || --p->users > 0) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		if (!p->foreign && cuda->unpin((void *)(uintptr_t)p->from) != 0)
			scx_log(NULL, "%llu bytes at 0x%llx stay registered with the GPU",
				(unsigned long long)(p->to - p->from),
				(unsigned long long)p->from);
		free(p);
	}
}

int
scxf_gpu_pin(uint64_t addr, uint64_t bytes, char *err, size_t err_bytes)
{
	uint64_t from = addr & ~(PAGE - 1), to = (addr + bytes + PAGE - 1) & ~(PAGE - 1), got;
	int rc;

	if (gpu < 0)
		return 0;
	got = cover(from, to, &rc, err, err_bytes);
	if (rc != 0)
		uncover(from, got);
	return rc;
}

void
scxf_gpu_unpin(uint64_t addr, uint64_t bytes)
{
	if (gpu >= 0)
		uncover(addr & ~(PAGE - 1), (addr + bytes + PAGE - 1) & ~(PAGE - 1));
}

/* ---- What Carillon's GPU drivers ask (../dmabuf_registry.h) ---- */

__attribute__((visibility("default"))) int
softcx_step_gpu(void)
{
	int g;

	pthread_mutex_lock(&scxf_lock);
	g = gpu;
	pthread_mutex_unlock(&scxf_lock);
	return g;
}

__attribute__((visibility("default"))) int
softcx_copy_gpu(void)
{
	int g;

	pthread_mutex_lock(&scxf_lock);
	g = far != NULL ? scx_far_mover(far)->device : -1;
	pthread_mutex_unlock(&scxf_lock);
	return g;
}

__attribute__((visibility("default"))) int
softcx_reaches_gpu(int device)
{
	bool reaches;

	pthread_mutex_lock(&scxf_lock);
	if (far != NULL)
		reaches = scx_far_mover(far)->device == device;
	else
		reaches = gpu >= 0 && (gpu == device || cuda->peers(gpu, device) == 0);
	pthread_mutex_unlock(&scxf_lock);
	return reaches;
}

/* The mapping of a context's memfd that holds addr: which context, and which page of it. */
static struct scxf_ctx *
uar_find(uintptr_t addr, uint32_t *page)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long a, b, off, ino;
	unsigned major, minor;
	struct scxf_ctx *ctx = NULL;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %*s %lx %x:%x %lu", &a, &b, &off, &major, &minor, &ino) !=
				6 ||
			addr < a || addr >= b)
			continue;
		ctx = scxf_ctx_of_ino((ino_t)ino);
		*page = (uint32_t)((off + (addr - a)) / SCXF_UAR_BYTES);
		break;
	}
	if (f)
		fclose(f);
	return ctx;
}

__attribute__((visibility("default"))) void *
softcx_uar_gpu(void *reg)
{
	uintptr_t addr = (uintptr_t)reg;
	uint8_t *at = NULL;
	uint32_t page = 0;

	pthread_mutex_lock(&scxf_lock);
	if (gpu >= 0) {
		struct scxf_ctx *ctx = uar_find(addr, &page);

		if (ctx != NULL && ctx->dev->uar_gpu != NULL && page < SCXF_UAR_PAGES)
			at = ctx->dev->uar_gpu + (size_t)page * SCXF_UAR_BYTES +
			     addr % SCXF_UAR_BYTES;
	}
	pthread_mutex_unlock(&scxf_lock);
	return at;
}
