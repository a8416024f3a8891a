/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC of a loopback run: tables of the software ConnectX's data path, made on the host by its
 * own commands and sent to a GPU, and the kernels that step it: workers alone, or workers and
 * engines in one.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "drivers/softcx/dp/dp_all.h"
#include "gpu_queues/engines/stamp_warp.h"
#include "gpu_queues/kernel.cuh"
#include "inside.cuh"

#define PD	   1u
#define TURNS	   16u /* of a worker between two looks at the word that ends it */
#define IDLE_TURNS 64u /* before it lets others have its issue slots */

/* Host memory is far, and many who look at it keep others from it: one worker looks now and then,
 * and tells the others. */
static __device__ uint32_t
ended(struct loop_words *words, uint32_t *gone, uint32_t all, uint32_t me)
{
	if (words && me == 0 && scx_ld32(&words->leave) != 0)
		scx_st32(gone, all);
	return scx_ld32(gone) == all;
}

/* All lanes: turns until *gone, in GPU memory, is all. */
static __device__ void
work(struct scx_worker *k, struct scx_dp *dp, struct scx_crew *crew, uint32_t me,
	struct loop_words *words, uint32_t *gone, uint32_t all)
{
	const struct crl_warp *w = NULL;
	uint32_t i, idle = 0, end;

	scx_worker_begin(k, dp, crew, me);
	do {
		for (i = 0; i < TURNS; i++) {
			idle = scx_worker_turn(w, k) != 0 ? 0 : idle + 1u;
			if (idle > IDLE_TURNS)
				__nanosleep(100);
		}
		end = ended(words, gone, all, me);
	} while (__shfl_sync(~0u, end, 0) == 0);
	scx_worker_end(k);
}

static __global__ void
nic_kernel(struct scx_dp *dp, struct scx_crew *crew, struct loop_words *words, uint32_t *gone)
{
	__shared__ struct scx_worker worker;

	if (blockIdx.x == 0 && threadIdx.x == 0)
		scx_st32(&words->alive, 1);
	work(&worker, dp, crew, blockIdx.x, words, gone, 1);
}

/* The first blocks are engines, a queue each; the others step the NIC until all of those left. */
static __global__ void
fused_kernel(struct crl_stream *streams, uint32_t nr, struct scx_dp *dp, struct scx_crew *crew,
	uint32_t *gone)
{
	__shared__ union {
		struct crl_room room;
		struct scx_worker worker;
	} u;

	if (blockIdx.x >= nr) {
		work(&u.worker, dp, crew, blockIdx.x - nr, NULL, gone, nr);
		return;
	}
	{CRL_ENGINE_BODY(u.room, &streams[blockIdx.x], crl_warp_can(s),
		!crl_warp_can(s) && crl_stamp_due(s), crl_stamp_first_turn(s),
		crl_fwd_turn(s, crl_stamp_packet), crl_stamp_warp_turn(w, s, m))} __threadfence();
	if (threadIdx.x == 0)
		atomicAdd(gone, 1u);
}

static int
apply(struct loop *l, struct scx_dp *dp, struct scx_dp_cmd *c, const char *what)
{
	int rc = scx_apply(dp, c);

	if (rc != 0)
		snprintf(l->err, l->err_bytes, "%s: %s", what, strerror(-rc));
	return rc;
}

static int
set_cq(struct loop *l, struct scx_dp *dp, const struct crl_cq *cq, uint32_t page)
{
	struct scx_dp_cmd c;

	memset(&c, 0, sizeof(c));
	c.op = SCX_DP_CQ_SET;
	c.u.cq.cqn = cq->cqn;
	c.u.cq.ring.base = (uint8_t *)cq->cqe;
	c.u.cq.ring.bytes = crl_cq_ring_bytes(cq->log_depth);
	c.u.cq.dbrec = (uint32_t *)cq->dbrec;
	c.u.cq.log_depth = cq->log_depth;
	c.u.cq.uar_page = page;
	return apply(l, dp, &c, "make a CQ");
}

static int
set_state(struct loop *l, struct scx_dp *dp, enum scx_dp_op op, uint32_t num)
{
	struct scx_dp_cmd c;

	memset(&c, 0, sizeof(c));
	c.op = op;
	c.num = num;
	c.arg = SCX_WQ_RDY;
	return apply(l, dp, &c, "make a queue ready");
}

static int
set_queues(struct loop *l, struct scx_dp *dp, const struct crl_queue_dev *q)
{
	struct scx_dp_cmd c;
	int rc;

	memset(&c, 0, sizeof(c));
	c.op = SCX_DP_SQ_SET;
	c.u.sq.sqn = q->sq.sqn;
	c.u.sq.cqn = q->sq.cq.cqn;
	c.u.sq.uar_page = q->index;
	c.u.sq.pdn = PD;
	c.u.sq.ring.base = q->sq.wqe;
	c.u.sq.ring.bytes = crl_sq_ring_bytes(q->sq.log_depth);
	c.u.sq.dbrec = (uint32_t *)q->sq.dbrec;
	c.u.sq.log_depth = q->sq.log_depth;
	c.u.sq.allow_mpw = 1;
	rc = apply(l, dp, &c, "make a send queue");
	rc = rc != 0 ? rc : set_state(l, dp, SCX_DP_SQ_STATE, q->sq.sqn);
	memset(&c, 0, sizeof(c));
	c.op = SCX_DP_RQ_SET;
	c.u.rq.rqn = q->rq.rqn;
	c.u.rq.cqn = q->rq.cq.cqn;
	c.u.rq.pdn = PD;
	c.u.rq.ring.base = (uint8_t *)q->rq.wqe;
	c.u.rq.ring.bytes = crl_rq_ring_bytes(q->rq.log_depth);
	c.u.rq.dbrec = (uint32_t *)q->rq.dbrec;
	c.u.rq.log_depth = q->rq.log_depth;
	c.u.rq.log_stride = 4;
	rc = rc != 0 ? rc : apply(l, dp, &c, "make a receive queue");
	return rc != 0 ? rc : set_state(l, dp, SCX_DP_RQ_STATE, q->rq.rqn);
}

/* Frames to UDP port LOOP_PORT + index come back to this queue. */
static int
set_rule(struct loop *l, struct scx_dp *dp, const struct crl_queue_dev *q)
{
	uint16_t port = (uint16_t)(LOOP_PORT + q->index);
	struct scx_dp_cmd c;
	int rc;

	memset(&c, 0, sizeof(c));
	c.op = SCX_DP_TIR_SET;
	c.u.tir.tirn = q->index;
	c.u.tir.rqn = q->rq.rqn;
	rc = apply(l, dp, &c, "make a TIR");
	memset(&c, 0, sizeof(c));
	c.op = SCX_DP_RULE_ADD;
	c.u.rule.id = 1u + q->index;
	c.u.rule.tirn = q->index;
	c.u.rule.dest = SCX_FLOW_TIR;
	c.u.rule.mask[SCX_KEY_UDP + 2u] = c.u.rule.mask[SCX_KEY_UDP + 3u] = 0xff;
	c.u.rule.match[SCX_KEY_UDP + 2u] = (uint8_t)(port >> 8);
	c.u.rule.match[SCX_KEY_UDP + 3u] = (uint8_t)port;
	return rc != 0 ? rc : apply(l, dp, &c, "add a rule");
}

static int
set_all(struct loop *l, struct scx_dp *dp)
{
	struct scx_dp_cmd c;
	uint32_t i;
	int rc;

	memset(&c, 0, sizeof(c));
	c.op = SCX_DP_MKEY_SET;
	c.u.mkey.key = LOOP_KEY << 8;
	c.u.mkey.pdn = PD;
	c.u.mkey.iova = (uint64_t)(uintptr_t)l->mem;
	c.u.mkey.base = l->mem;
	c.u.mkey.bytes = l->mem_bytes;
	c.u.mkey.local_write = 1;
	rc = apply(l, dp, &c, "make a key");
	memset(&c, 0, sizeof(c));
	c.op = SCX_DP_PORT_SET;
	c.arg = 9600;
	rc = rc != 0 ? rc : apply(l, dp, &c, "set the MTU");
	for (i = 0; i < l->cfg.queues && rc == 0; i++) {
		rc = set_cq(l, dp, &l->queue[i].sq.cq, i);
		rc = rc != 0 ? rc : set_cq(l, dp, &l->queue[i].rq.cq, i);
		rc = rc != 0 ? rc : set_queues(l, dp, &l->queue[i]);
		rc = rc != 0 ? rc : set_rule(l, dp, &l->queue[i]);
	}
	return rc;
}

/* Tables that were made at one address, for another. */
static void
move_tables(struct scx_dp *dp, struct scx_dp *to, uint8_t *uar)
{
	uint32_t i;

	for (i = 0; i < SCX_DP_SQ_MAX; i++)
		if (dp->sq[i].used)
			dp->sq[i].cq = to->cq + (dp->sq[i].cq - dp->cq);
	for (i = 0; i < SCX_DP_RQ_MAX; i++)
		if (dp->rq[i].used)
			dp->rq[i].cq = to->cq + (dp->rq[i].cq - dp->cq);
	dp->uar = uar;
}

static int
send_tables(struct loop *l, struct scx_dp *dp)
{
	struct scx_crew *crew = (struct scx_crew *)calloc(1, sizeof(*crew));
	bool ok;

	if (!crew)
		return -ENOMEM;
	scx_crew_init(crew, l->cfg.workers);
	ok = loop_cuda(l, cudaSetDevice(l->nic_gpu), "cudaSetDevice") &&
	     loop_cuda(l, cudaMalloc((void **)&l->dp, sizeof(*dp)), "cudaMalloc") &&
	     loop_cuda(l, cudaMalloc((void **)&l->crew, sizeof(*crew)), "cudaMalloc") &&
	     loop_cuda(l, cudaMalloc((void **)&l->gone, sizeof(*l->gone)), "cudaMalloc") &&
	     loop_cuda(l, cudaMemset(l->gone, 0, sizeof(*l->gone)), "cudaMemset");
	if (ok) {
		move_tables(dp, l->dp, l->uar);
		ok = loop_cuda(l, cudaMemcpy(l->dp, dp, sizeof(*dp), cudaMemcpyHostToDevice),
			     "send the tables") &&
		     loop_cuda(l, cudaMemcpy(l->crew, crew, sizeof(*crew), cudaMemcpyHostToDevice),
			     "send the tables");
	}
	free(crew);
	return ok ? 0 : -EIO;
}

int
loop_tables(struct loop *l)
{
	struct scx_dp *dp = (struct scx_dp *)aligned_alloc(4096, (sizeof(*dp) + 4095u) & ~4095ul);
	void *uar = calloc(l->cfg.queues, CRL_UAR_BYTES);
	int rc = -ENOMEM;

	if (dp && uar) {
		scx_state_init(dp, uar, l->cfg.queues, 1);
		rc = set_all(l, dp);
		rc = rc != 0 ? rc : send_tables(l, dp);
	}
	free(dp);
	free(uar);
	return rc;
}

static int
facts(struct loop *l, const char *name, const void *kernel, int device, struct crl_loop_kernel *k)
{
	struct cudaFuncAttributes a;
	int sms = 0, per_sm = 0;

	if (!loop_cuda(l, cudaFuncGetAttributes(&a, kernel), "cudaFuncGetAttributes") ||
		!loop_cuda(l, cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
			"multiprocessors") ||
		!loop_cuda(l, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, 32, 0),
			"occupancy"))
		return -EIO;
	k->name = name;
	k->registers = (uint32_t)a.numRegs;
	k->shared_bytes = (uint32_t)a.sharedSizeBytes;
	k->per_sm = (uint32_t)per_sm;
	k->sms = (uint32_t)sms;
	return 0;
}

int
loop_nic_facts(struct loop *l, struct crl_loop_kernel *k)
{
	k->blocks = l->cfg.workers;
	return facts(l, "nic_kernel", (const void *)nic_kernel, l->nic_gpu, k);
}

int
loop_nic_start(struct loop *l)
{
	if (!loop_cuda(l, cudaSetDevice(l->nic_gpu), "cudaSetDevice") ||
		!loop_cuda(l, cudaStreamCreateWithFlags(&l->nic_stream, cudaStreamNonBlocking),
			"stream"))
		return -EIO;
	nic_kernel<<<l->cfg.workers, 32, 0, l->nic_stream>>>(l->dp, l->crew, l->words, l->gone);
	return loop_cuda(l, cudaGetLastError(), "launch the NIC's kernel") ? 0 : -EIO;
}

/* After the engines left: the workers too, and what they counted. */
int
loop_nic_end(struct loop *l, struct crl_loop_result *res)
{
	struct scx_stuck stuck = {};
	struct scx_dp_stats st;
	bool ok;

	scx_st32(&l->words->leave, 1);
	ok = loop_cuda(l, cudaSetDevice(l->nic_gpu), "cudaSetDevice") &&
	     loop_cuda(l, cudaStreamSynchronize(l->nic_stream), "the NIC's kernel") &&
	     loop_cuda(l, cudaMemcpy(&st, &l->dp->stats, sizeof(st), cudaMemcpyDeviceToHost),
		     "fetch counters") &&
	     loop_cuda(l,
		     cudaMemcpy(&res->reports, &l->dp->nr_reports, sizeof(res->reports),
			     cudaMemcpyDeviceToHost),
		     "fetch counters") &&
	     loop_cuda(l,
		     cudaMemcpy(&stuck, &l->crew->stuck, sizeof(stuck), cudaMemcpyDeviceToHost),
		     "fetch the record of a wait without end");
	cudaStreamDestroy(l->nic_stream);
	cudaFree(l->dp);
	cudaFree(l->crew);
	if (!ok)
		return -EIO;
	if (scx_is_stuck(&stuck)) {
		char why[192];

		snprintf(l->err, l->err_bytes, "the NIC's workers stand still: %s",
			scx_stuck_str(&stuck, why, sizeof(why)));
		return -EIO;
	}
	res->nic_sent = st.tx_frames;
	res->nic_received = st.rx_frames;
	res->nic_no_buffer = st.rx_no_buffer;
	res->nic_lost = st.rx_no_match + st.rx_dropped + st.rx_too_long + st.tx_too_long;
	res->reports += (uint32_t)(st.tx_errors + st.rx_errors + st.reports_lost);
	res->wqes = st.wqes;
	res->cqes = st.cqes;
	res->doorbells = st.doorbells;
	res->wqe_bytes = st.wqe_bytes;
	res->rq_wqe_bytes = st.rq_wqe_bytes;
	res->payload_read = st.pci_read - st.wqe_bytes - st.rq_wqe_bytes;
	res->payload_written = st.pci_written - st.cqes * CRL_CQE_BYTES;
	return 0;
}

/* One launch for both, all blocks of it resident together or none. */
int
loop_fused_start(struct loop *l, struct crl_loop_result *res)
{
	uint32_t nr = l->cfg.queues, blocks = nr + l->cfg.workers;
	void *args[] = {&l->streams, &nr, &l->dp, &l->crew, &l->gone};
	int coop = 0, rc;

	rc = facts(l, "fused_kernel", (const void *)fused_kernel, l->engine_gpu, &res->engine);

	if (rc != 0 ||
		!loop_cuda(l,
			cudaDeviceGetAttribute(&coop, cudaDevAttrCooperativeLaunch, l->engine_gpu),
			"cooperative launch"))
		return -EIO;
	res->engine.blocks = nr;
	res->nic = res->engine;
	res->nic.blocks = l->cfg.workers;
	if (!coop) {
		snprintf(l->err, l->err_bytes, "GPU %d has no cooperative launch", l->engine_gpu);
		return -ENOTSUP;
	}
	if (blocks > res->engine.per_sm * res->engine.sms) {
		snprintf(l->err, l->err_bytes, "%u blocks, GPU %d holds %u of this kernel", blocks,
			l->engine_gpu, res->engine.per_sm * res->engine.sms);
		return -ENOSPC;
	}
	if (!loop_cuda(l, cudaStreamCreateWithFlags(&l->nic_stream, cudaStreamNonBlocking),
		    "stream") ||
		!loop_cuda(l,
			cudaLaunchCooperativeKernel(
				(const void *)fused_kernel, blocks, 32, args, 0, l->nic_stream),
			"launch"))
		return -EIO;
	return 0;
}
