/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC step as a kernel, beside the engine on the same GPU or on another one: the data path of
 * ../dp over tables in GPU memory. Block 0 answers the host, with one lane; on a loopback port each
 * further block is a worker of ../dp/crew.h, one warp, and there are as many as queues have pages
 * (up to WORKERS). Built into libsoftcx_cuda, which the interposer loads
 * when a GPU is asked for; libsoftcx itself knows no CUDA. See ../step.h.
 *
 * The kernel runs in slices of SLICE_NS; the host's half sees to it that one more waits behind the
 * one that runs, so that the step stands still for some microseconds only, whatever the host's
 * thread is at. A kernel without end would block every CUDA call that waits for the device
 * (cuMemFree, cuMemHostUnregister, the loading of another kernel); so such a call waits for both.
 *
 * Threads: as step.h says; the pins may come from any thread.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <time.h>

#include "../dp/dp_all.h"
#include "../step.h"
#include "mover.h"
#include "peers.h"

#define SLICE_NS    1000000u /* two are a fifth of what an engine may take to stop */
#define AHEAD	    2u	     /* slices on their way */
#define ALIVE_NS    10000000000ull
#define CLOCK_TURNS 16u	 /* between two looks at the clock */
#define WORKERS	    264u /* two a multiprocessor of the largest GPUs */
#define IDLE_TURNS  64u	 /* of a worker before it lets others have its issue slots */

struct cuda_step {
	struct scx_step step;
	int device;
	cudaStream_t stream;
	struct scx_remote_step *s; /* in GPU memory, as are dp and uar */
	struct scx_dp *dp;
	struct scx_crew *crew;
	uint32_t workers; /* of the last launch */
	void *uar;
	cudaEvent_t ended[AHEAD]; /* of slice i at i % AHEAD */
	uint64_t launches, over;  /* slices launched; of those, seen to have ended */
	cudaError_t error; /* the first; nothing is launched after it */
	char where[96], why[320];
};

static int pin_device; /* of the steps: host memory is registered in its context */

__global__ void
init_kernel(struct scx_remote_step *s, struct scx_dp *dp, struct scx_crew *crew,
	struct scx_remote *r, void *uar, uint32_t nr_uar_pages, uint64_t seed)
{
	scx_state_init(dp, uar, nr_uar_pages, seed);
	scx_remote_init(s, dp, r);
	scx_crew_init(crew, 0);
}

/* Between two slices: so many workers from now on. */
__global__ void
crew_kernel(struct scx_crew *crew, uint32_t nr)
{
	crew->nr = nr;
}

__device__ uint64_t
now_ns(void)
{
	uint64_t ns;

	__asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

/* Block 0, one lane: the host's commands, and all that workers leave to it. */
__device__ void
answer(struct scx_remote_step *s, struct scx_crew *crew, uint64_t end)
{
	uint32_t i;

	do {
		for (i = 0; i < CLOCK_TURNS; i++) {
			if (crew->nr == 0)
				scx_remote_turn(s);
			else
				scx_remote_crew_turn(s, crew);
		}
	} while (now_ns() < end && scx_ld32(&s->r->leave) == 0);
	s->r->stats = s->dp->stats; /* whatever comes next, the host knows these */
}

__device__ void
work(struct scx_worker *k, struct scx_remote_step *s, struct scx_crew *crew, uint64_t end)
{
	const struct crl_warp *w = NULL;
	uint32_t i, idle = 0;

	scx_worker_begin(k, s->dp, crew, blockIdx.x - 1u);
	do {
		for (i = 0; i < CLOCK_TURNS; i++) {
			idle = scx_worker_turn(w, k) != 0 ? 0 : idle + 1u;
			if (idle > IDLE_TURNS)
				__nanosleep(100);
		}
		/* lane 0's clock is the warp's */
	} while (__shfl_sync(~0u, now_ns() < end, 0));
	scx_worker_end(k);
}

__global__ void
step_kernel(struct scx_remote_step *s, struct scx_crew *crew, uint64_t slice_ns)
{
	__shared__ struct scx_worker worker;
	uint64_t end = now_ns() + slice_ns;

	if (blockIdx.x != 0)
		work(&worker, s, crew, end);
	else if (threadIdx.x == 0)
		answer(s, crew, end);
}

static cudaError_t
fail(struct cuda_step *c, cudaError_t e, const char *what)
{
	if (e != cudaSuccess && c->error == cudaSuccess) {
		c->error = e;
		snprintf(c->why, sizeof(c->why), "%s: %s", what, cudaGetErrorString(e));
	}
	return e;
}

/* Frames from and to the host's wire are handed over by one lane; workers are for a loopback. */
static uint32_t
workers_wanted(const struct cuda_step *c)
{
	uint32_t n = scx_ld32(&c->step.remote->pages);

	if (!c->step.remote->turnaround)
		return 0;
	return n < WORKERS ? n : WORKERS;
}

static int
step_keep(void *arg)
{
	struct cuda_step *c = (struct cuda_step *)arg;
	cudaError_t e;

	if (c->error != cudaSuccess)
		return -EIO;
	/* The caller's thread may be any: the device is chosen for it once, which is cheap. */
	e = cudaSetDevice(c->device);
	if (e == cudaSuccess && c->launches - c->over == AHEAD)
		e = cudaEventQuery(c->ended[c->over % AHEAD]);
	if (e == cudaErrorNotReady) {
		cudaGetLastError(); /* it is no error, and must not be a launch's */
		return 0;
	}
	if (fail(c, e, "the kernel") != cudaSuccess)
		return -EIO;
	c->over += c->launches - c->over == AHEAD;
	if (scx_is_stuck(&c->step.remote->stuck)) { /* nothing is launched after that */
		c->error = cudaErrorUnknown;
		scx_stuck_str(&c->step.remote->stuck, c->why, sizeof(c->why));
		return -EIO;
	}
	if (workers_wanted(c) != c->workers) {
		c->workers = workers_wanted(c);
		crew_kernel<<<1, 1, 0, c->stream>>>(c->crew, c->workers);
	}
	step_kernel<<<1u + c->workers, 32, 0, c->stream>>>(c->s, c->crew, SLICE_NS);
	if (fail(c, cudaGetLastError(), "launch") != cudaSuccess)
		return -EIO;
	e = cudaEventRecord(c->ended[c->launches++ % AHEAD], c->stream);
	return fail(c, e, "cudaEventRecord") == cudaSuccess ? 0 : -EIO;
}

static const char *
step_why(void *arg)
{
	return ((struct cuda_step *)arg)->why;
}

static void
step_free(struct cuda_step *c)
{
	if (c->step.remote)
		cudaFreeHost(c->step.remote);
	cudaFree(c->s);
	cudaFree(c->dp);
	cudaFree(c->crew);
	cudaFree(c->uar);
	for (uint32_t i = 0; i < AHEAD; i++)
		if (c->ended[i])
			cudaEventDestroy(c->ended[i]);
	if (c->stream)
		cudaStreamDestroy(c->stream);
	free(c);
}

static void
step_end(void *arg)
{
	struct cuda_step *c = (struct cuda_step *)arg;

	if (cudaSetDevice(c->device) == cudaSuccess) {
		scx_st32(&c->step.remote->leave, 1);
		cudaStreamSynchronize(c->stream); /* two slices at most */
	}
	step_free(c);
}

/* The kernel and one engine block of any size must be resident together: an SM is left to each. */
static cudaError_t
check_fit(struct cuda_step *c, int *sms)
{
	int per_sm = 0;
	cudaError_t e = cudaDeviceGetAttribute(sms, cudaDevAttrMultiProcessorCount, c->device);

	/* Loads the kernels now: loading them later could wait for an engine that waits for it. */
	if (e == cudaSuccess)
		e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, step_kernel, 32, 0);
	if (e == cudaSuccess && (per_sm < 1 || *sms < 2))
		e = cudaErrorLaunchOutOfResources;
	return e;
}

static cudaError_t
make(struct cuda_step *c, const struct scx_step_cfg *cfg)
{
	size_t uar = (size_t)cfg->nr_uar_pages * CRL_UAR_BYTES;
	struct cudaDeviceProp prop;
	int sms = 0;

	if (fail(c, cudaSetDevice(c->device), "cudaSetDevice") ||
		fail(c, cudaGetDeviceProperties(&prop, c->device), "cudaGetDeviceProperties") ||
		fail(c, check_fit(c, &sms), "room for the kernel and an engine") ||
		fail(c, cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking), "stream") ||
		fail(c, cudaMalloc((void **)&c->s, sizeof(*c->s)), "cudaMalloc") ||
		fail(c, cudaMalloc((void **)&c->dp, sizeof(*c->dp)), "cudaMalloc") ||
		fail(c, cudaMalloc((void **)&c->crew, sizeof(*c->crew)), "cudaMalloc") ||
		fail(c, cudaMemset(c->crew, 0, sizeof(*c->crew)), "cudaMemset") ||
		fail(c, cudaMalloc(&c->uar, uar), "cudaMalloc") ||
		fail(c, cudaMemset(c->uar, 0, uar), "cudaMemset") ||
		fail(c,
			cudaHostAlloc((void **)&c->step.remote, sizeof(struct scx_remote),
				cudaHostAllocMapped | cudaHostAllocPortable),
			"cudaHostAlloc"))
		return c->error;
	for (uint32_t i = 0; i < AHEAD; i++)
		if (fail(c, cudaEventCreateWithFlags(&c->ended[i], cudaEventDisableTiming),
			    "cudaEventCreate"))
			return c->error;
	memset(c->step.remote, 0, sizeof(*c->step.remote));
	crew_kernel<<<1, 1, 0, c->stream>>>(c->crew, 0);
	init_kernel<<<1, 1, 0, c->stream>>>(
		c->s, c->dp, c->crew, c->step.remote, c->uar, cfg->nr_uar_pages, cfg->seed);
	fail(c, cudaGetLastError(), "launch");
	fail(c, cudaStreamSynchronize(c->stream), "the first kernel");
	snprintf(c->where, sizeof(c->where), "a kernel on GPU %d (%.64s)", c->device, prop.name);
	return c->error;
}

/* Until its word has been seen to rise. */
static int
see_alive(struct cuda_step *c)
{
	struct timespec nap = {0, 50000}, t0, t;

	clock_gettime(CLOCK_MONOTONIC, &t0);
	do {
		if (step_keep(c) != 0)
			return -EIO;
		if (scx_ld64(&c->step.remote->alive) != 0)
			return 0;
		nanosleep(&nap, NULL);
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while ((uint64_t)(t.tv_sec - t0.tv_sec) * 1000000000u < ALIVE_NS);
	snprintf(c->why, sizeof(c->why), "it was launched and gave no sign of life for %llu s",
		ALIVE_NS / 1000000000u);
	return -ETIMEDOUT;
}

static int
cuda_step_new(const struct scx_step_cfg *cfg, struct scx_step **out, char *err, size_t bytes)
{
	struct cuda_step *c = (struct cuda_step *)calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return -ENOMEM;
	c->device = cfg->device;
	pin_device = cfg->device;
	rc = make(c, cfg) == cudaSuccess ? see_alive(c) : -EIO;
	if (rc != 0) {
		snprintf(err, bytes, "GPU %d: %s", cfg->device, c->why);
		step_free(c);
		return rc;
	}
	c->step.where = c->where;
	c->step.arg = c;
	c->step.keep = step_keep;
	c->step.why = step_why;
	c->step.end = step_end;
	*out = &c->step;
	return 0;
}

/* Into the step's device, whatever the caller's thread uses; returns that, for the way back. */
static int
enter(void)
{
	int before = 0;

	cudaGetDevice(&before);
	if (before != pin_device)
		cudaSetDevice(pin_device);
	return before;
}

static void
leave(int before)
{
	if (before != pin_device)
		cudaSetDevice(before);
}

static void *
cuda_uar(struct scx_step *step)
{
	return ((struct cuda_step *)step->arg)->uar;
}

static int
cuda_pin(void *addr, size_t bytes, char *err, size_t err_bytes)
{
	void *dev = NULL;
	int before = enter();
	cudaError_t e =
		cudaHostRegister(addr, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);

	if (e == cudaErrorHostMemoryAlreadyRegistered) {
		cudaGetLastError();
		leave(before);
		return -EEXIST;
	}
	if (e == cudaSuccess)
		e = cudaHostGetDevicePointer(&dev, addr, 0);
	leave(before);
	if (e == cudaSuccess && dev == addr)
		return 0;
	cudaGetLastError();
	snprintf(err, err_bytes, "cudaHostRegister of %zu bytes: %s", bytes,
		e == cudaSuccess ? "the GPU has another address for it" : cudaGetErrorString(e));
	return -EFAULT;
}

static int
cuda_unpin(void *addr)
{
	int before = enter();
	cudaError_t e = cudaHostUnregister(addr);

	leave(before);
	if (e != cudaSuccess)
		cudaGetLastError();
	return e == cudaSuccess ? 0 : -EIO;
}

/* The driver's own table of addresses says it: nothing waits for a kernel here. */
static bool
cuda_holds(const void *addr)
{
	struct cudaPointerAttributes a;
	int before = enter();
	cudaError_t e = cudaPointerGetAttributes(&a, addr);

	leave(before);
	if (e != cudaSuccess)
		cudaGetLastError();
	return e == cudaSuccess && a.type == cudaMemoryTypeDevice;
}

extern "C" __attribute__((visibility("default"))) const struct scx_cuda scx_cuda = {
	SCX_CUDA_ABI, cuda_step_new, cuda_uar, cuda_pin, cuda_unpin, cuda_holds,
	scx_peers_cuda, scx_mover_cuda};
