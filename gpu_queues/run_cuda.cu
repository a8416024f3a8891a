/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines as persistent kernels: one block a stream, one lane of it at work, the same functions as
 * on host threads. Built into libcarillon_cuda for sm_80, sm_90, sm_100 and as PTX; loaded by
 * engine.c.
 *
 * Streams and queue structs are copied to GPU memory at start and back at stop. While a kernel
 * runs, the host sees control words, counters and mailboxes only, which lie in host memory.
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
#include "engines/pingpong.h"
#include "engines/rxonly.h"
#include "engines/txfirst.h"
#include "engines/txonly.h"
#include "launch.h"

#define STEP "start CUDA engine"

/* Turns a stream until it has left. An idle stream lets the SM's other warps have its issue slots.
 */
#define CRL_KERNEL(name, turn_call)                                                                \
	extern "C" __global__ void crl_kernel_##name(struct crl_stream *streams)                   \
	{                                                                                          \
		struct crl_stream *s = &streams[blockIdx.x];                                       \
		enum crl_turn turn = CRL_TURN_BUSY;                                                \
                                                                                                   \
		if (threadIdx.x != 0 || !crl_stream_begin(s))                                      \
			return;                                                                    \
		/* at most until it has been told to run, or to leave */                           \
		while (crl_txfirst_due(s) && turn != CRL_TURN_LEFT)                                \
			turn = crl_txfirst_turn(s);                                                \
		/* forever: the persistent loop; leaves on ctl->stop */                            \
		while (turn != CRL_TURN_LEFT) {                                                    \
			turn = turn_call;                                                          \
			if (turn == CRL_TURN_IDLE)                                                 \
				crl_relax();                                                       \
		}                                                                                  \
	}

CRL_KERNEL(5tswap, crl_fwd_turn(s, crl_5tswap_packet))
CRL_KERNEL(flowgen, crl_flowgen_turn(s))
CRL_KERNEL(icmpecho, crl_fwd_turn(s, crl_icmpecho_packet))
CRL_KERNEL(io, crl_fwd_turn(s, crl_io_packet))
CRL_KERNEL(macswap, crl_fwd_turn(s, crl_macswap_packet))
CRL_KERNEL(pingpong, crl_pingpong_turn(s))
CRL_KERNEL(rxonly, crl_fwd_turn(s, crl_rxonly_packet))
CRL_KERNEL(txonly, crl_txonly_turn(s))

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
	{"txonly", crl_kernel_txonly},
};

struct crl_cuda_run {
	int device;
	uint32_t nr;
	cudaStream_t stream;
	struct crl_stream *dev_streams; /* [nr] in GPU memory */
	struct crl_queue_dev
		*dev_queues;	  /* [2 * nr] in GPU memory: rx of stream i at 2i, tx at 2i + 1 */
	struct crl_stream *copy;  /* [nr] host copy of dev_streams */
	struct crl_stream **host; /* [nr] the caller's */
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
 * another engine's, which does not end before it is told to.
 */
static void
run_free(struct crl_cuda_run *r)
{
	if (r->dev_streams)
		cudaFreeAsync(r->dev_streams, r->stream);
	if (r->dev_queues)
		cudaFreeAsync(r->dev_queues, r->stream);
	if (r->stream)
		cudaStreamDestroy(r->stream);
	free(r->copy);
	free(r->host);
	free(r);
}

/* Queue structs to the GPU; a queue that both sides of a stream share is copied once. */
static cudaError_t
send_streams(struct crl_cuda_run *r)
{
	cudaError_t e = cudaSuccess;
	uint32_t i;

	for (i = 0; i < r->nr && e == cudaSuccess; i++) {
		struct crl_queue_dev *rx = r->host[i]->rx, *tx = r->host[i]->tx,
				     *at = r->dev_queues + 2u * i;

		r->copy[i] = *r->host[i];
		r->copy[i].rx = rx ? at : NULL;
		r->copy[i].tx = !tx ? NULL : tx == rx ? at : at + 1;
		if (rx)
			e = cudaMemcpyAsync(
				at, rx, sizeof(*rx), cudaMemcpyHostToDevice, r->stream);
		if (e == cudaSuccess && tx && tx != rx)
			e = cudaMemcpyAsync(
				at + 1, tx, sizeof(*tx), cudaMemcpyHostToDevice, r->stream);
	}
	if (e == cudaSuccess)
		e = cudaMemcpyAsync(r->dev_streams, r->copy, r->nr * sizeof(*r->copy),
			cudaMemcpyHostToDevice, r->stream);
	return e == cudaSuccess ? cudaStreamSynchronize(r->stream) : e;
}

/* Indices and states back: only what belongs to the side that this stream ran. */
static cudaError_t
fetch_streams(struct crl_cuda_run *r)
{
	struct crl_queue_dev q[2];
	cudaError_t e = cudaSuccess;
	uint32_t i;

	for (i = 0; i < r->nr && e == cudaSuccess; i++) {
		struct crl_queue_dev *rx = r->host[i]->rx, *tx = r->host[i]->tx;

		e = cudaMemcpyAsync(q, r->dev_queues + 2u * i, sizeof(q), cudaMemcpyDeviceToHost,
			r->stream);
		if (e == cudaSuccess)
			e = cudaStreamSynchronize(r->stream);
		if (e == cudaSuccess && rx)
			rx->rq = q[0].rq;
		if (e == cudaSuccess && tx)
			tx->sq = q[tx == rx ? 0 : 1].sq;
	}
	return e;
}

static cudaError_t
run_make(struct crl_cuda_run *r, struct crl_stream *const *streams)
{
	size_t queues = 2u * r->nr * sizeof(*r->dev_queues);
	cudaError_t e = cudaSetDevice(r->device);

	r->copy = (struct crl_stream *)calloc(r->nr, sizeof(*r->copy));
	r->host = (struct crl_stream **)calloc(r->nr, sizeof(*r->host));
	if (!r->copy || !r->host)
		return cudaErrorMemoryAllocation;
	memcpy(r->host, streams, r->nr * sizeof(*r->host));
	if (e == cudaSuccess)
		e = cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking);
	if (e == cudaSuccess)
		e = cudaMallocAsync((void **)&r->dev_streams, r->nr * sizeof(*r->dev_streams),
			r->stream);
	if (e == cudaSuccess)
		e = cudaMallocAsync((void **)&r->dev_queues, queues, r->stream);
	if (e == cudaSuccess)
		e = cudaMemsetAsync(r->dev_queues, 0, queues, r->stream);
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

extern "C" int
crl_cuda_start(const char *engine, int device, struct crl_stream *const *streams, uint32_t nr,
	uint32_t spare_sms, struct crl_cuda_run **out, struct crl_err *err)
{
	void (*kernel)(struct crl_stream *) = NULL;
	struct crl_cuda_run *r;
	cudaError_t e;
	int rc;

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		kernel = strcmp(kernels[i].name, engine) == 0 ? kernels[i].kernel : kernel;
	if (!kernel)
		return crl_err_set(err, -ENOSYS, STEP,
			"compile a kernel around your packet function",
			"libcarillon_cuda has no kernel \"%s\"", engine);
	r = (struct crl_cuda_run *)calloc(1, sizeof(*r));
	if (!r)
		return crl_err_set(err, -ENOMEM, STEP, NULL, "no memory");
	r->device = device;
	r->nr = nr;
	e = run_make(r, streams);
	rc = e == cudaSuccess ? check_fit(r, kernel, spare_sms, err)
			      : cuda_err(err, e, "set up streams");
	if (rc == 0) {
		kernel<<<nr, 32, 0, r->stream>>>(r->dev_streams);
		e = cudaGetLastError();
		rc = e == cudaSuccess ? 0 : cuda_err(err, e, "launch");
	}
	if (rc != 0) {
		run_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

extern "C" int
crl_cuda_stop(struct crl_cuda_run *r, uint64_t wait_ns, struct crl_err *err)
{
	uint64_t deadline = crl_now_ns() + wait_ns;
	struct timespec ts = {0, 200000};
	cudaError_t e = cudaSetDevice(r->device);

	while (e == cudaSuccess && (e = cudaStreamQuery(r->stream)) == cudaErrorNotReady) {
		if (crl_now_ns() > deadline)
			return -ETIMEDOUT;
		nanosleep(&ts, NULL);
		e = cudaSuccess;
	}
	if (e == cudaSuccess)
		e = fetch_streams(r);
	run_free(r);
	return e == cudaSuccess ? 0 : cuda_err(err, e, "kernel");
}
