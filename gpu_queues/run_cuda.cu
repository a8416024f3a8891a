/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines as persistent kernels: one block of one warp a stream, the same functions as on host
 * threads. Where an engine has a form for 32 lanes (fwd_warp.h) and its queue allows it, all lanes
 * work; else lane 0 does. Built into libcarillon_cuda for sm_80, sm_90, sm_100 and as PTX; loaded
 * by engine.c.
 *
 * Streams and queue structs are copied to GPU memory at start and back at stop; a kernel keeps its
 * own in shared memory, where indices and counters cost some 30 cycles. While it runs, the host
 * sees control words, counters and mailboxes only, which lie in host memory.
 */
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <time.h>

#include "engines/5tswap.h"
#include "engines/flowgen.h"
#include "engines/icmpecho.h"
#include "engines/io.h"
#include "engines/macswap.h"
#include "engines/own_warp.h"
#include "engines/pingpong.h"
#include "engines/rxonly.h"
#include "engines/stamp_warp.h"
#include "engines/txfirst.h"
#include "engines/txonly.h"
#include "kernel.cuh"
#include "launch.h"
#include "layout.h"
#include "run_spare.cuh"
#include "stop.h"

#define STEP "start CUDA engine"

#define CRL_KERNEL(name, can, first_due, first, one, all)                                          \
	extern "C" __global__ void crl_kernel_##name(struct crl_stream *streams)                   \
	{                                                                                          \
		__shared__ struct crl_room room;                                                   \
                                                                                                   \
		CRL_ENGINE_BODY(room, &streams[blockIdx.x], can, first_due, first, one, all)       \
	}

/* Engines that look at what comes, and may begin with a burst of their own. */
#define CRL_FWD_KERNEL(name, fn)                                                                   \
	CRL_KERNEL(name, crl_warp_can(s), crl_txfirst_due(s), crl_txfirst_turn(s),                 \
		crl_fwd_turn(s, fn), crl_fwd_warp_turn(w, s, m, fn))

CRL_FWD_KERNEL(5tswap, crl_5tswap_packet)
CRL_FWD_KERNEL(icmpecho, crl_icmpecho_packet)
CRL_FWD_KERNEL(io, crl_io_packet)
CRL_FWD_KERNEL(macswap, crl_macswap_packet)
CRL_FWD_KERNEL(rxonly, crl_rxonly_packet)
/* Its first frames are lane 0's: within the warp's loop they would cost it 36 registers. */
CRL_KERNEL(stamp, crl_warp_can(s), crl_stamp_due(s), crl_stamp_first_turn(s),
	crl_fwd_turn(s, crl_stamp_packet), crl_fwd_warp_turn(w, s, m, crl_stamp_packet))
CRL_KERNEL(stamp_long, crl_warp_can(s), !crl_warp_can(s) && crl_stamp_due(s),
	crl_stamp_first_turn(s), crl_fwd_turn(s, crl_stamp_packet), crl_stamp_warp_turn(w, s, m))
CRL_KERNEL(flowgen, crl_warp_can(s), false, CRL_TURN_LEFT, crl_flowgen_turn(s),
	crl_flowgen_warp_turn(w, s, m))
CRL_KERNEL(txonly, crl_warp_can(s), false, CRL_TURN_LEFT, crl_txonly_turn(s),
	crl_txonly_warp_turn(w, s, m))
CRL_KERNEL(pingpong, false, false, CRL_TURN_LEFT, crl_pingpong_turn(s), CRL_TURN_LEFT)

static const struct {
	const char *name;
	void (*kernel)(struct crl_stream *);
} kernels[] = {
	{"5tswap", crl_kernel_5tswap},
	{"flowgen", crl_kernel_flowgen},
	{"icmpecho", crl_kernel_icmpecho},
	{"io", crl_kernel_io},
	{"macswap", crl_kernel_macswap},
	{"pingpong", crl_kernel_pingpong},
	{"rxonly", crl_kernel_rxonly},
	{"stamp", crl_kernel_stamp},
	{"stamp_long", crl_kernel_stamp_long},
	{"txonly", crl_kernel_txonly},
};

struct crl_cuda_run {
	int device;
	void (*kernel)(struct crl_stream *);
	uint32_t nr, room; /* streams; how many the memory on the GPU has room for */
	cudaStream_t stream;
	struct crl_stream *dev_streams; /* [nr] in GPU memory */
	struct crl_queue_dev
		*dev_queues;	 /* [2 * nr] in GPU memory: rx of stream i at 2i, tx at 2i + 1 */
	struct crl_stream *copy; /* [nr] host copy of dev_streams */
	struct crl_queue_dev *queues; /* [2 * nr] host copy of dev_queues */
	struct crl_stream **host;     /* [nr] the caller's */
};

static int
cuda_err(struct crl_err *err, cudaError_t e, const char *what)
{
	bool driver = e == cudaErrorInsufficientDriver || e == cudaErrorNoDevice;

	return crl_err_set(err, -EIO, STEP,
		driver ? "install the GPU's driver (nvidia-smi must list it), or use host threads"
		       : "see dmesg and nvidia-smi, or use host threads",
		"%s: %s", what, cudaGetErrorString(e));
}

/*
 * All in the stream's order: cudaFree() and cudaMemcpy() may wait for kernels of others, such as
 * another engine's, which does not end before it is told to. well: the stream is of use to others.
 */
static void
run_free(struct crl_cuda_run *r, bool well)
{
	struct crl_spare spare = {r->device, r->room, r->stream, r->dev_streams, r->dev_queues};

	if (well && crl_spare_keep(&spare)) {
		r->dev_streams = NULL;
		r->dev_queues = NULL;
		r->stream = NULL;
	}
	if (r->dev_streams)
		cudaFreeAsync(r->dev_streams, r->stream);
	if (r->dev_queues)
		cudaFreeAsync(r->dev_queues, r->stream);
	if (r->stream)
		cudaStreamDestroy(r->stream);
	free(r->copy);
	free(r->queues);
	free(r->host);
	free(r);
}

/* Queue structs to the GPU in one copy, as each takes some ten microseconds; a queue that both
 * sides of a stream share is there once. */
static cudaError_t
send_streams(struct crl_cuda_run *r)
{
	cudaError_t e;
	uint32_t i;

	for (i = 0; i < r->nr; i++) {
		struct crl_queue_dev *rx = r->host[i]->rx, *tx = r->host[i]->tx,
				     *at = r->dev_queues + 2u * i;

		r->copy[i] = *r->host[i];
		r->copy[i].rx = rx ? at : NULL;
		r->copy[i].tx = !tx ? NULL : tx == rx ? at : at + 1;
		if (rx)
			r->queues[2u * i] = *rx;
		if (tx && tx != rx)
			r->queues[2u * i + 1u] = *tx;
	}
	e = cudaMemcpyAsync(r->dev_queues, r->queues, 2u * r->nr * sizeof(*r->queues),
		cudaMemcpyHostToDevice, r->stream);
	if (e == cudaSuccess)
		e = cudaMemcpyAsync(r->dev_streams, r->copy, r->nr * sizeof(*r->copy),
			cudaMemcpyHostToDevice, r->stream);
	return e == cudaSuccess ? cudaStreamSynchronize(r->stream) : e;
}

/* Indices and states back: only what belongs to the side that this stream ran. */
static cudaError_t
fetch_streams(struct crl_cuda_run *r)
{
	cudaError_t e = cudaMemcpyAsync(r->queues, r->dev_queues, 2u * r->nr * sizeof(*r->queues),
		cudaMemcpyDeviceToHost, r->stream);
	uint32_t i;

	if (e == cudaSuccess)
		e = cudaStreamSynchronize(r->stream);
	for (i = 0; i < r->nr && e == cudaSuccess; i++) {
		struct crl_queue_dev *rx = r->host[i]->rx, *tx = r->host[i]->tx;
		const struct crl_queue_dev *q = r->queues + 2u * i;

		if (rx)
			rx->rq = q[0].rq;
		if (tx)
			tx->sq = q[tx == rx ? 0 : 1].sq;
	}
	return e;
}

/*
 * Kernels are loaded when they are first used, and that waits for every kernel that is resident:
 * for ever, beside another engine. So all are loaded with the first.
 */
static cudaError_t
load_all(int device)
{
	static uint64_t loaded; /* devices; a race loads twice, which does no harm */
	struct cudaFuncAttributes a;
	cudaError_t e = cudaSetDevice(device);

	if (loaded >> (device & 63) & 1u)
		return e;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]) && e == cudaSuccess; i++)
		e = cudaFuncGetAttributes(&a, kernels[i].kernel);
	loaded |= e == cudaSuccess ? 1ull << (device & 63) : 0;
	return e;
}

static cudaError_t
run_make(struct crl_cuda_run *r, struct crl_stream *const *streams)
{
	size_t queues = 2u * r->nr * sizeof(*r->dev_queues);
	struct crl_spare spare = {r->device, r->nr, NULL, NULL, NULL};
	cudaError_t e = load_all(r->device);

	r->copy = (struct crl_stream *)calloc(r->nr, sizeof(*r->copy));
	r->host = (struct crl_stream **)calloc(r->nr, sizeof(*r->host));
	r->queues = (struct crl_queue_dev *)calloc(2u * r->nr, sizeof(*r->queues));
	if (!r->copy || !r->host || !r->queues)
		return cudaErrorMemoryAllocation;
	memcpy(r->host, streams, r->nr * sizeof(*r->host));
	if (e != cudaSuccess)
		return e;
	if (crl_spare_take(&spare)) {
		r->room = spare.nr;
		r->stream = spare.stream;
		r->dev_streams = spare.streams;
		r->dev_queues = spare.queues;
		return send_streams(r);
	}
	r->room = r->nr;
	e = cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking);
	if (e == cudaSuccess)
		e = cudaMallocAsync(
			(void **)&r->dev_streams, r->nr * sizeof(*r->dev_streams), r->stream);
	if (e == cudaSuccess)
		e = cudaMallocAsync((void **)&r->dev_queues, queues, r->stream);
	return e == cudaSuccess ? send_streams(r) : e;
}

/* All blocks must be resident at once: a stream that waits for another's end would never run. */
static int
check_fit(struct crl_cuda_run *r, void (*kernel)(struct crl_stream *), uint32_t spare_sms,
	struct crl_err *err)
{
	int sms = 0, per_sm = 0;
	cudaError_t e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, r->device);

	if (e == cudaSuccess)
		e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, 32, 0);
	if (e != cudaSuccess)
		return cuda_err(err, e, "occupancy");
	sms = sms > (int)spare_sms ? sms - (int)spare_sms : 0;
	if (r->nr > (uint32_t)(sms * per_sm))
		return crl_err_set(err, -EINVAL, STEP, "use fewer queues",
			"%u streams, GPU %d holds %d blocks beside %u multiprocessors of others",
			r->nr, r->device, sms * per_sm, spare_sms);
	return 0;
}

extern "C" uint32_t
crl_cuda_abi(void)
{
	return CRL_DEV_ABI;
}

extern "C" uint32_t
crl_cuda_layout(void)
{
	return crl_layout();
}

/* *kept: a name that lives as long as the library. */
static void (*kernel_find(const char *name, const char **kept))(struct crl_stream *)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		*kept = kernels[i].name;
		if (strcmp(*kept, name) == 0)
			return kernels[i].kernel;
	}
	return NULL;
}

extern "C" int
crl_cuda_facts(const char *name, int device, struct crl_cuda_facts *facts)
{
	void (*kernel)(struct crl_stream *) = kernel_find(name, &facts->kernel);
	struct cudaFuncAttributes a;
	int sms = 0, per_sm = 0;

	if (!kernel)
		return -ENOSYS;
	if (load_all(device) != cudaSuccess || cudaFuncGetAttributes(&a, kernel) != cudaSuccess ||
		cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) !=
			cudaSuccess ||
		cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, 32, 0) !=
			cudaSuccess)
		return -EIO;
	facts->registers = (uint32_t)a.numRegs;
	facts->shared_bytes = (uint32_t)a.sharedSizeBytes;
	facts->per_sm = (uint32_t)per_sm;
	facts->sms = (uint32_t)sms;
	return 0;
}

extern "C" int
crl_cuda_resume(struct crl_cuda_run *r, struct crl_err *err)
{
	cudaError_t e = cudaSetDevice(r->device);

	if (e == cudaSuccess) {
		r->kernel<<<r->nr, 32, 0, r->stream>>>(r->dev_streams);
		e = cudaGetLastError();
	}
	return e == cudaSuccess ? 0 : cuda_err(err, e, "launch");
}

extern "C" int
crl_cuda_start(const char *name, int device, struct crl_stream *const *streams, uint32_t nr,
	uint32_t spare_sms, struct crl_cuda_run **out, struct crl_err *err)
{
	const char *kept;
	void (*kernel)(struct crl_stream *) = kernel_find(name, &kept);
	struct crl_cuda_run *r;
	cudaError_t e;
	int rc;

	if (!kernel)
		return crl_err_set(err, -ENOSYS, STEP,
			"compile a kernel around your packet function",
			"libcarillon_cuda has no kernel \"%s\"", name);
	r = (struct crl_cuda_run *)calloc(1, sizeof(*r));
	if (!r)
		return crl_err_set(err, -ENOMEM, STEP, NULL, "no memory");
	r->device = device;
	r->kernel = kernel;
	r->nr = nr;
	e = run_make(r, streams);
	rc = e == cudaSuccess ? check_fit(r, kernel, spare_sms, err)
			      : cuda_err(err, e, "set up streams");
	rc = rc == 0 ? crl_cuda_resume(r, err) : rc;
	if (rc != 0) {
		run_free(r, false);
		return rc;
	}
	*out = r;
	return 0;
}

/* Until the kernel has ended, or has not within wait_ns. watch: NULL, or what to look at too. */
static cudaError_t
wait_end(struct crl_cuda_run *r, uint64_t wait_ns, struct crl_stop_watch *watch)
{
	uint64_t deadline = crl_until(crl_now_ns(), wait_ns);
	struct timespec ts = {0, 50000};
	cudaError_t e = cudaSetDevice(r->device);

	while (e == cudaSuccess && (e = cudaStreamQuery(r->stream)) == cudaErrorNotReady) {
		if (crl_now_ns() > deadline)
			return e;
		nanosleep(&ts, NULL);
		e = cudaSuccess;
		if (watch)
			crl_stop_look(watch);
	}
	if (watch)
		crl_stop_look(watch);
	return e;
}

extern "C" int
crl_cuda_park(struct crl_cuda_run *r, uint64_t wait_ns, struct crl_err *err)
{
	cudaError_t e = wait_end(r, wait_ns, NULL);

	if (e == cudaErrorNotReady)
		return -ETIMEDOUT;
	return e == cudaSuccess ? 0 : cuda_err(err, e, "kernel");
}

extern "C" int
crl_cuda_stop(
	struct crl_cuda_run *r, uint64_t wait_ns, struct crl_stop_watch *watch, struct crl_err *err)
{
	cudaError_t e = wait_end(r, wait_ns, watch);

	if (e == cudaErrorNotReady)
		return -ETIMEDOUT;
	watch->times->ns[CRL_STOP_ENDED] = crl_now_ns() - watch->told_ns;
	if (e == cudaSuccess)
		e = fetch_streams(r);
	watch->times->ns[CRL_STOP_FETCHED] = crl_now_ns() - watch->told_ns;
	run_free(r, e == cudaSuccess);
	return e == cudaSuccess ? 0 : cuda_err(err, e, "kernel");
}
