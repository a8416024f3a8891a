/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of `carillon-bench post`: ours, the DOCA header's beside each, and the NIC that gives
 * both their completions. Included by post.cu alone.
 */
#ifndef CRL_BENCH_POST_KERNELS_H
#define CRL_BENCH_POST_KERNELS_H

#include "gpu_queues/queue_mem.h"
#include "gpu_queues/queue_state.h"
#include "gpu_queues/sq_combine.h"
#include "nic.h"

#if defined(BN_DOCA_FROM)
#include <cuda.h> /* CUDA_VERSION, without which that header takes slower instructions */
#include "nccl_device/gin/gdaki/doca_gpunetio/doca_gpunetio_device.h"
#endif

#define TABLE	     4096u /* frames */
#define NIC_LANES    8u	   /* queues that a block of the second kernel serves */
#define SINGLE_POSTS 8192u
#define RKEY	     7u
#define CHECKED_MAX  64u /* rings whose bytes are compared; of the others, the record is */

struct post_args {
	struct crl_sq *sq;
	struct crl_qerror *error;
	const struct crl_frame *table;
	uint32_t batch, bursts;
	uint32_t *failed; /* host memory; warps whose wait ran out */
};

/* Waits for room for n, by what completes; lane 0. False: it did not come. */
static __device__ bool
wait_room(const struct crl_burst *b, struct crl_sq *sq, struct crl_qerror *error, uint32_t n,
	uint32_t *room)
{
	uint64_t end = crl_now_ns() + BN_WAIT_NS;

	do { /* bound: BN_WAIT_NS */
		if (crl_burst_room(b, sq, error, room) == CRL_FAILED || crl_now_ns() > end)
			return false;
	} while ((int32_t)(*room - b->pi - n) < 0);
	return true;
}

template <int SCOPE, bool FULL>
static __global__ void __launch_bounds__(1024) /* 64 registers */
	post_ours(struct post_args a)
{
	uint32_t w = (blockIdx.x * blockDim.x + threadIdx.x) / 32u, lane = threadIdx.x % 32u, i;
	struct crl_burst b = crl_burst_open(&a.sq[w], 0, lane);
	bool ok = true;

	for (i = 0; i < a.bursts; i++) {
		if (FULL && !crl_burst_fits(&b, a.batch)) {
			if (lane == 0)
				ok = wait_room(&b, &a.sq[w], &a.error[w], a.batch, &b.room);
			if (!__shfl_sync(~0u, ok, 0))
				break;
			b.room = __shfl_sync(~0u, b.room, 0);
		}
		crl_burst_write(&b, b.pi, a.table + (b.pi & (TABLE - 1u)), a.batch, lane);
		__syncwarp();
		if (lane == 0) {
			if (SCOPE == BN_GPU)
				crl_burst_ring_gpu(&b, a.batch);
			else
				crl_burst_ring(&b, a.batch);
		}
		crl_burst_next(&b, a.batch);
	}
	if (lane != 0)
		return;
	/* All of the ring is free: all that was rung for has completed. */
	if (FULL && ok)
		ok = wait_room(&b, &a.sq[w], &a.error[w], b.bytes / CRL_WQEBB_BYTES, &b.room);
	if (!ok)
		atomicAdd_system(a.failed, 1);
	crl_burst_close(&b, &a.sq[w]);
}

/* One thread: one frame, one doorbell. */
template <int SCOPE, bool FULL>
static __global__ void
single_ours(struct post_args a, uint32_t *cycles)
{
	__shared__ uint32_t took[SINGLE_POSTS];
	struct crl_burst b = crl_burst_open(a.sq, 0, 0);
	bool ok = true;
	uint64_t t;
	uint32_t i;

	for (i = 0; i < a.bursts && ok; i++) {
		struct crl_frame f = crl_ld_frame(&a.table[i & (TABLE - 1u)]);

		t = clock64();
		if (FULL && !crl_burst_fits(&b, 1))
			ok = wait_room(&b, a.sq, a.error, 1, &b.room);
		crl_burst_write_one(&b, f, 0);
		if (SCOPE == BN_GPU)
			crl_burst_ring_gpu(&b, 1);
		else
			crl_burst_ring(&b, 1);
		crl_burst_next(&b, 1);
		took[i % SINGLE_POSTS] = (uint32_t)(clock64() - t);
	}
	for (i = 0; i < SINGLE_POSTS && i < a.bursts; i++)
		cycles[i] = took[i];
	if (!ok)
		atomicAdd_system(a.failed, 1);
	crl_burst_close(&b, a.sq);
}

/* One queue of many producers, and the words by which they agree. */
struct shared_queue {
	struct crl_sq_combine words;
	struct crl_sq sq;
};

/* Many warps, one queue a block whose words lie in shared memory, or one for all blocks. */
template <bool IN_BLOCK>
static __global__ void
post_shared(struct post_args a, struct shared_queue *all, bool gpu_scope)
{
	__shared__ struct shared_queue near;
	struct shared_queue *q = IN_BLOCK ? &near : all;
	struct crl_qerror *error = &a.error[IN_BLOCK ? blockIdx.x : 0];
	uint32_t lane = threadIdx.x % 32u, b;
	uint64_t pi = 0, number = 0, ci_seen = 0, end;
	struct crl_burst mine = crl_burst_open(&a.sq[IN_BLOCK ? blockIdx.x : 0], 0, lane);
	enum crl_st st = CRL_OK;

	if (IN_BLOCK && threadIdx.x == 0) {
		q->sq = a.sq[blockIdx.x];
		crl_combine_init(&q->words, &q->sq, blockDim.x / 32u, a.batch, gpu_scope);
		q->words.in_block = 1;
	}
	__syncthreads();
	for (b = 0; b < a.bursts; b++) {
		end = 0;
		/* bound: BN_WAIT_NS */
		while (lane == 0 && (st = crl_combine_reserve(&q->words, q->sq.log_depth, a.batch,
					     &pi, &number, &ci_seen)) == CRL_AGAIN) {
			crl_combine_idle(&q->words, &q->sq, error, BN_WAIT_NS);
			end = end ? end : crl_now_ns() + BN_WAIT_NS;
			if (crl_now_ns() > end)
				break;
		}
		if (__shfl_sync(~0u, st, 0) != CRL_OK)
			break;
		pi = __shfl_sync(~0u, pi, 0);
		crl_burst_write(&mine, (uint32_t)pi, a.table + (pi & (TABLE - 1u)), a.batch, lane);
		__syncwarp();
		if (lane == 0)
			st = crl_combine_publish(
				&q->words, &q->sq, error, number, pi, a.batch, BN_WAIT_NS);
		__syncwarp();
	}
	if (lane == 0 && st != CRL_OK)
		atomicAdd_system(a.failed, 1);
}

#if defined(BN_DOCA_FROM)
typedef struct doca_gpu_dev_verbs_qp doca_qp;

static __device__ void
doca_write(doca_qp *qp, uint64_t idx, const struct crl_frame *f)
{
	doca_gpu_dev_verbs_wqe_prepare_write(qp, doca_gpu_dev_verbs_get_wqe_ptr(qp, (uint16_t)idx),
		(uint16_t)idx, DOCA_GPUNETIO_IB_MLX5_OPCODE_RDMA_WRITE,
		DOCA_GPUNETIO_IB_MLX5_WQE_CTRL_CQ_UPDATE, 0, ~f->iova, RKEY, f->iova, f->lkey,
		f->len);
}

template <int SCOPE, bool FULL, int MODE>
static __global__ void
post_doca(doca_qp *qps, bool one_queue, const struct crl_frame *table, uint32_t batch,
	uint32_t bursts)
{
	const auto mode = (enum doca_gpu_dev_verbs_resource_sharing_mode)MODE;
	const auto scope = SCOPE == BN_GPU ? DOCA_GPUNETIO_VERBS_SYNC_SCOPE_GPU
					   : DOCA_GPUNETIO_VERBS_SYNC_SCOPE_SYS;
	const bool exclusive = mode == DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_EXCLUSIVE;
	uint32_t w = (blockIdx.x * blockDim.x + threadIdx.x) / 32u, lane = threadIdx.x % 32u, b, k;
	doca_qp *qp = &qps[exclusive ? w : one_queue ? 0 : blockIdx.x];
	uint64_t idx = 0;

	for (b = 0; b < bursts; b++) {
		if (lane == 0)
			idx = doca_gpu_dev_verbs_reserve_wq_slots<mode, DOCA_GPUNETIO_VERBS_QP_SQ,
				FULL>(qp, batch);
		idx = __shfl_sync(~0u, idx, 0);
		for (k = lane; k < batch; k += 32u)
			doca_write(qp, idx + k, &table[(idx + k) & (TABLE - 1u)]);
		__syncwarp();
		if (lane == 0) {
			if (!exclusive)
				doca_gpu_dev_verbs_mark_wqes_ready<mode>(qp, idx, idx + batch - 1u);
			doca_gpu_dev_verbs_submit_db<mode, scope>(qp, idx + batch);
		}
		__syncwarp();
	}
}

template <int SCOPE, bool FULL>
static __global__ void
single_doca(doca_qp *qp, const struct crl_frame *table, uint32_t posts, uint32_t *cycles)
{
	const auto mode = DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_EXCLUSIVE;
	const auto scope = SCOPE == BN_GPU ? DOCA_GPUNETIO_VERBS_SYNC_SCOPE_GPU
					   : DOCA_GPUNETIO_VERBS_SYNC_SCOPE_SYS;
	__shared__ uint32_t took[SINGLE_POSTS];
	uint64_t idx, t;
	uint32_t i;

	for (i = 0; i < posts; i++) {
		struct crl_frame f = table[i & (TABLE - 1u)];

		t = clock64();
		idx = doca_gpu_dev_verbs_reserve_wq_slots<mode, DOCA_GPUNETIO_VERBS_QP_SQ, FULL>(
			qp, 1);
		doca_write(qp, idx, &f);
		doca_gpu_dev_verbs_submit_db<mode, scope>(qp, idx + 1u);
		took[i % SINGLE_POSTS] = (uint32_t)(clock64() - t);
	}
	for (i = 0; i < SINGLE_POSTS && i < posts; i++)
		cycles[i] = took[i];
}
#endif

/* The second kernel: until each of its queues has had what is coming, or nothing comes. */
static __global__ void
nic_kernel(struct bn_nicq *queues, uint32_t nr, uint64_t total)
{
	uint32_t i = blockIdx.x * NIC_LANES + threadIdx.x;
	uint64_t end = crl_now_ns() + BN_WAIT_NS;
	struct bn_nicq q;

	if (threadIdx.x >= NIC_LANES || i >= nr)
		return;
	q = queues[i];
	while (q.seen < total && crl_now_ns() < end) /* bound: BN_WAIT_NS */
		bn_nicq_turn(&q);
	queues[i] = q;
}

static __global__ void
fill_cqs(uint8_t *cqe, uint64_t n)
{
	uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;

	if (i < n)
		cqe[i * CRL_CQE_BYTES + offsetof(struct crl_cqe64, op_own)] =
			CRL_CQE_INVALID << 4 | 1u;
}

#endif /* CRL_BENCH_POST_KERNELS_H */
