/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `carillon-bench rtt` and `poll` on a GPU: one WQE from post to completion against a NIC that is a
 * second kernel or a host thread, beside two kernels that exchange flags with as many fences; and
 * one warp that serves many queues.
 */
#include "cuda_priv.cuh"

#include <thread>

#include "gpu_queues/queue_mem.h"
#include "round.h"

#define LOG_DEPTH 8u

static __global__ void
engine_kernel(struct crl_sq *at, struct crl_qerror *error, bool gpu_scope, uint32_t rounds,
	uint32_t *cycles, uint32_t *done, uint64_t *ticks)
{
	struct crl_sq sq = *at;
	struct crl_burst b = crl_burst_open(&sq, 0, 0);
	uint64_t t, begin = clock64(), begin_ns = crl_now_ns();
	uint32_t i;

	for (i = 0; i < rounds; i++) {
		t = clock64();
		if (!bn_round_engine(&b, &sq, error, gpu_scope))
			break;
		cycles[i] = (uint32_t)(clock64() - t);
	}
	ticks[0] = clock64() - begin;
	ticks[1] = crl_now_ns() - begin_ns;
	*done = i;
}

static __global__ void
nic_kernel(struct bn_round_nic *at, uint32_t rounds)
{
	struct bn_round_nic n = *at;

	while (n.done < rounds && bn_round_turn(&n)) {
	}
	*at = n;
}

static __global__ void
bare_engine_kernel(
	struct bn_bare b, uint32_t rounds, uint32_t *cycles, uint32_t *done, uint64_t *ticks)
{
	uint64_t t, begin = clock64(), begin_ns = crl_now_ns();
	uint32_t i;

	for (i = 0; i < rounds; i++) {
		t = clock64();
		if (!bn_bare_engine(&b, i + 1u))
			break;
		cycles[i] = (uint32_t)(clock64() - t);
	}
	ticks[0] = clock64() - begin;
	ticks[1] = crl_now_ns() - begin_ns;
	*done = i;
}

static __global__ void
bare_nic_kernel(struct bn_bare b, uint32_t rounds)
{
	for (uint32_t i = 1; i <= rounds && bn_bare_nic(&b, i); i++) {
	}
}

/* A queue of depth 1 << LOG_DEPTH, in GPU or host memory; filled as a driver would. */
struct round_queue {
	bn_mem<uint8_t> ring, cqe;
	bn_mem<uint32_t> words; /* record, register, answer: a page each */
	bn_mem<uint64_t> book;
	bn_mem<struct crl_qerror> error;
	bn_mem<struct crl_sq> sq;
	bn_mem<struct bn_round_nic> nic;
	struct bn_bare bare;

	round_queue(bool host, bool gpu_scope)
	    : ring(64u << LOG_DEPTH, host), cqe(64u << LOG_DEPTH, host), words(3072, host),
	      book(2u << LOG_DEPTH), error(1, true), sq(1, true), nic(1, true)
	{
		std::vector<uint8_t> fresh(64u << LOG_DEPTH);
		struct crl_sq *s = sq.p;
		struct bn_round_nic *n = nic.p;

		crl_cq_fill(fresh.data(), LOG_DEPTH);
		cqe.put(fresh.data(), fresh.size());
		s->wqe = ring.p;
		s->dbrec = (crl_be32 *)words.p;
		s->uar = (uint64_t *)(words.p + 1024);
		s->cookie = book.p;
		s->end = book.p + (1u << LOG_DEPTH);
		s->log_depth = s->cq.log_depth = LOG_DEPTH;
		s->sqn = BN_ROUND_SQN;
		s->signal_every = 1;
		s->cq.cqe = (struct crl_cqe64 *)cqe.p;
		s->cq.flags = CRL_CQ_OVERRUN_IGNORE;
		crl_sq_reset(s);
		n->uar = s->uar;
		n->dbrec = s->dbrec;
		n->wqe = ring.p;
		n->cqe = cqe.p;
		n->log_depth = LOG_DEPTH;
		n->gpu_scope = gpu_scope;
		bare = {words.p, words.p + 1024, words.p + 2048, gpu_scope};
	}
};

static void
take_cycles(
	struct bn_result *out, const bn_mem<uint32_t> &cycles, uint32_t n, const uint64_t *ticks)
{
	std::vector<uint32_t> c(n);
	std::vector<uint64_t> v;

	cycles.get(c.data(), n);
	for (uint32_t i = n / 16u; i < n; i++)
		v.push_back(c[i]);
	bn_samples(out, v);
	out->extra[0] = ticks[0] ? (double)ticks[1] / (double)ticks[0] : 0;
}

static void
rtt(const struct bn_rtt_cfg &c, struct bn_result *out)
{
	round_queue q(c.host, c.scope == BN_GPU);
	bn_mem<uint32_t> cycles(c.rounds), done(1, true);
	bn_mem<uint64_t> ticks(2, true);
	bn_stream engine, nic;
	std::thread thread;

	if (c.host && c.scope == BN_GPU)
		throw std::runtime_error("rings in host memory need edges at system scope");
	BN_CK(cudaDeviceSynchronize());
	if (c.host)
		thread = std::thread([&] {
			for (uint32_t i = 0; i < c.rounds; i++) {
				if (c.bare ? !bn_bare_nic(&q.bare, i + 1u)
					   : !bn_round_turn(q.nic.p))
					return;
			}
		});
	else if (c.bare)
		bare_nic_kernel<<<1, 1, 0, nic.s>>>(q.bare, c.rounds);
	else
		nic_kernel<<<1, 1, 0, nic.s>>>(q.nic.p, c.rounds);
	if (c.bare)
		bare_engine_kernel<<<1, 1, 0, engine.s>>>(
			q.bare, c.rounds, cycles.p, done.p, ticks.p);
	else
		engine_kernel<<<1, 1, 0, engine.s>>>(
			q.sq.p, q.error.p, c.scope == BN_GPU, c.rounds, cycles.p, done.p, ticks.p);
	cudaError_t e = cudaGetLastError();

	if (e == cudaSuccess)
		e = cudaStreamSynchronize(engine.s);
	if (thread.joinable())
		thread.join();
	bn_ck(e, "the engine's kernel");
	BN_CK(cudaStreamSynchronize(nic.s));
	out->done = *done.p;
	out->lost = c.rounds - *done.p;
	out->torn = q.nic.p->torn;
	take_cycles(out, cycles, *done.p, ticks.p);
}

extern "C" int
bn_cuda_rtt(const struct bn_rtt_cfg *cfg, struct bn_result *out)
{
	return bn_guard(out, [&] { rtt(*cfg, out); });
}

/* ---- many queues ---- */

struct poll_queue {
	struct crl_cq cq;
	uint32_t *answer;
};

#define LOOK_MAX  8u /* queues of a lane's look: their loads are on the way together */
#define SERVE_MAX 1024u

/* Where the next CQE's tail lies; its low bit: the owner bit that it will have. */
static __device__ uint64_t
watch_word(const struct crl_cq *cq, uint64_t ci)
{
	return (uint64_t)((const uint8_t *)crl_cq_entry(cq, ci) + CRL_CQE_TAIL) |
	       (ci >> cq->log_depth & 1u);
}

/*
 * A warp a block: serves queues [block * each, ..) until it has answered rounds; lanes look at 32
 * queues at once, and each lane at LOOK of its own, by a word each in shared memory. A warp with
 * up to 32 queues needs one load a lane and a turn.
 */
template <uint32_t LOOK>
static __global__ void
server_kernel(struct poll_queue *all, uint32_t each, uint32_t rounds)
{
	__shared__ uint64_t watch[LOOK == 1u ? 32u : SERVE_MAX + 32u * LOOK];
	struct poll_queue *q = all + (uint64_t)blockIdx.x * each;
	uint32_t i, k, tail[LOOK], seen, answered = 0, turn, ready;
	uint64_t end = crl_now_ns() + BN_WAIT_NS;
	uint64_t at[LOOK];

	for (i = threadIdx.x; i < each; i += 32u)
		watch[i] = watch_word(&q[i].cq, q[i].cq.ci);
	for (; i < sizeof(watch) / sizeof(*watch) && i < each + 32u * LOOK; i += 32u)
		watch[i] = watch_word(&q[0].cq, 0) ^ 1u; /* never ready: the owner bit of no lap */
	for (turn = 0; answered < rounds; turn++) {	 /* bound: BN_WAIT_NS */
		for (seen = 0, i = threadIdx.x; i - threadIdx.x < each; i += 32u * LOOK) {
			CRL_UNROLL(8)
			for (k = 0; k < LOOK; k++) {
				at[k] = watch[i + k * 32u];
				tail[k] = crl_ld32((const void *)(at[k] & ~3ull));
			}
			for (ready = 0, k = 0; k < LOOK; k++)
				ready |= (~(tail[k] >> 24 ^ (uint32_t)at[k]) & 1u) << k;
			for (; ready != 0; ready &= ready - 1u) {
				k = i + (uint32_t)(__ffs((int)ready) - 1) * 32u;
				if (k >= each)
					continue;
				crl_order_cqe_before_payload();
				q[k].cq.ci++;
				watch[k] = watch_word(&q[k].cq, q[k].cq.ci);
				crl_st32(q[k].answer, (uint32_t)q[k].cq.ci);
				seen++;
			}
		}
		answered += __any_sync(~0u, seen != 0);
		if (turn % 65536u == 65535u && crl_now_ns() > end)
			return;
	}
}

/* The NIC: a lane a queue; a CQE, then waits for the answer. */
static __global__ void
asker_kernel(struct poll_queue *all, uint32_t first, uint32_t rounds, uint32_t *cycles,
	uint32_t *done, uint64_t *ticks)
{
	struct poll_queue q = all[first + blockIdx.x];
	struct bn_round_nic n = {};
	uint64_t t, begin = clock64(), begin_ns = crl_now_ns();
	uint32_t i;

	n.cqe = (uint8_t *)q.cq.cqe;
	n.log_depth = q.cq.log_depth;
	for (i = 0; i < rounds; i++) {
		t = clock64();
		bn_round_cqe(&n, i);
		if (!bn_bare_see(q.answer, i + 1u))
			break;
		t = clock64() - t;
		if (blockIdx.x == 0)
			cycles[i] = (uint32_t)t;
	}
	if (blockIdx.x == 0) {
		ticks[0] = clock64() - begin;
		ticks[1] = crl_now_ns() - begin_ns;
	}
	atomicAdd_system(done, i);
}

static void
poll(const struct bn_poll_cfg &c, struct bn_result *out)
{
	uint32_t n = c.queues, warps = c.all ? n : 1, asked = c.all ? n : 1;
	bn_mem<uint8_t> cqe((size_t)n * (64u << LOG_DEPTH));
	bn_mem<uint32_t> answer((size_t)n * 16), cycles(c.rounds), done(1, true);
	bn_mem<uint64_t> ticks(2, true);
	bn_mem<struct poll_queue> queues(n);
	std::vector<struct poll_queue> v(n);
	std::vector<uint8_t> fresh(64u << LOG_DEPTH);
	bn_stream server, asker;
	int sms = 0, device = 0;

	BN_CK(cudaGetDevice(&device));
	BN_CK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
	if (n > SERVE_MAX)
		throw std::runtime_error("more queues than one warp's shared memory has room for");
	if (warps + asked > (uint32_t)sms * 32u)
		throw std::runtime_error("more warps than can be resident together");
	crl_cq_fill(fresh.data(), LOG_DEPTH);
	for (uint32_t i = 0; i < n; i++) {
		BN_CK(cudaMemcpy(cqe.p + (size_t)i * fresh.size(), fresh.data(), fresh.size(),
			cudaMemcpyHostToDevice));
		memset(&v[i], 0, sizeof(v[i]));
		v[i].cq.cqe = (struct crl_cqe64 *)(cqe.p + (size_t)i * fresh.size());
		v[i].cq.log_depth = LOG_DEPTH;
		v[i].answer = answer.p + (size_t)i * 16;
	}
	queues.put(v.data(), n);
	BN_CK(cudaDeviceSynchronize());
	if (n / warps <= 32u)
		server_kernel<1><<<warps, 32, 0, server.s>>>(queues.p, n / warps, c.rounds);
	else
		server_kernel<LOOK_MAX><<<warps, 32, 0, server.s>>>(queues.p, n / warps, c.rounds);
	asker_kernel<<<asked, 1, 0, asker.s>>>(
		queues.p, c.all ? 0 : n * 2u / 3u, c.rounds, cycles.p, done.p, ticks.p);
	cudaError_t e = cudaGetLastError();

	if (e == cudaSuccess)
		e = cudaStreamSynchronize(asker.s);
	bn_ck(e, "the NIC's kernel");
	BN_CK(cudaStreamSynchronize(server.s));
	out->done = *done.p;
	out->lost = (uint64_t)c.rounds * asked - *done.p;
	take_cycles(out, cycles, out->lost ? 0 : c.rounds, ticks.p);
}

extern "C" int
bn_cuda_poll(const struct bn_poll_cfg *cfg, struct bn_result *out)
{
	return bn_guard(out, [&] { poll(*cfg, out); });
}
