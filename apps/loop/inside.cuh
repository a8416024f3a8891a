/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the parts of a loopback run: memory.cu (queues and tables, host), nic.cu (kernels that
 * step the NIC), loop.cu (the run).
 */
#ifndef CRL_LOOP_INSIDE_CUH
#define CRL_LOOP_INSIDE_CUH

#include <cuda_runtime.h>

#include "gpu_queues/queue_mem.h"
#include "gpu_queues/queue_state.h"
#include "gpu_queues/stream.h"
#include "loop.h"

struct scx_dp;
struct scx_crew;

/* Words between host and kernels, in host memory that both see. */
struct loop_words {
	uint32_t leave; /* host: workers shall end */
	uint32_t pad0[31];
	uint32_t alive; /* worker 0: it has begun */
	uint32_t pad1[31];
};

/* What a run holds. */
struct loop {
	struct crl_loop_cfg cfg;
	uint32_t log_depth, stride;
	int engine_gpu, nic_gpu;
	uint8_t *mem; /* on the engine's GPU: rings, records, arrays, buffers of all queues */
	size_t mem_bytes, queue_bytes;
	struct scx_dp *dp; /* on the NIC's GPU, as are crew and uar */
	struct scx_crew *crew;
	uint8_t *uar;
	struct crl_queue_dev *queue; /* [queues] on the host, with the GPU's addresses */
	struct crl_qstats *stats;    /* [queues] host memory that GPUs see, as the next three */
	struct crl_qerror *error;    /* [2 * queues] */
	struct crl_ctl *ctl;	     /* [queues] */
	struct loop_words *words;
	cudaStream_t nic_stream;
	uint32_t *gone; /* on the NIC's GPU: engine blocks that have left, or 1: the host says so */
	/* fused only */
	struct crl_stream *streams; /* [queues] on the GPU */
	struct crl_queue_dev *dev_queues;
	char *err;
	size_t err_bytes;
};

#define LOOP_PORT 9000u /* UDP port of queue 0's packets; a rule leads each to its queue */
#define LOOP_KEY  0x1000u

/* False, and words. */
bool loop_cuda(struct loop *l, cudaError_t e, const char *what);

/* memory.cu */
int loop_memory(struct loop *l);
void loop_memory_free(struct loop *l);

/* nic.cu */
int loop_tables(struct loop *l);
int loop_nic_facts(struct loop *l, struct crl_loop_kernel *k);
int loop_nic_start(struct loop *l);
int loop_nic_end(struct loop *l, struct crl_loop_result *res);
int loop_fused_start(struct loop *l, struct crl_loop_result *res);

#endif /* CRL_LOOP_INSIDE_CUH */
