/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `carillon-bench trigger` on a GPU: from "data ready in a kernel" to "the NIC sees the doorbell".
 * In every path a host thread stores a start word in host memory and a kernel that polls it sees
 * it: that is "data ready"; a second host thread, the NIC, polls a register in host memory. What
 * lies between is the path's. Where the CPU posts, it writes WQE, record and register by the same
 * headers. The NIC compares the register with the round and, in host memory, the record and the
 * WQE; WQEs in GPU memory are compared when all rounds are over, as no CPU can read them.
 */
#include "cuda_priv.cuh"

#include <atomic>
#include <pthread.h>
#include <sched.h>
#include <thread>

#include "round.h"

#define LOG_DEPTH 15u
#define DEPTH	  (1u << LOG_DEPTH)
#define SETTLE_NS 3000u	 /* between two rounds: everybody is back at his post */
#define ARM_NS	  20000u /* for a kernel of one round to run before its start word comes */
#define ROUND_NS  1000000000ull

/* What host and GPU both see; in host memory. */
struct trigger_mem {
	alignas(4096) uint64_t go;
	alignas(4096) uint64_t uar;
	alignas(4096) uint64_t flag;
	alignas(4096) struct crl_sq sq;
};

/* The queue that GPU or CPU posts on, a WQE for each round. */
struct trigger_rings {
	bn_mem<uint8_t> wqe;
	bn_mem<uint32_t> record;
	bn_mem<uint64_t> book;

	explicit trigger_rings(bool host)
	    : wqe(DEPTH * 64u, host), record(16, host), book(2u * DEPTH, host)
	{
	}
	void
	queue(struct crl_sq *sq, uint64_t *uar)
	{
		sq->wqe = wqe.p;
		sq->dbrec = (crl_be32 *)record.p;
		sq->uar = uar;
		sq->cookie = book.p;
		sq->end = book.p + DEPTH;
		sq->log_depth = LOG_DEPTH;
		sq->sqn = BN_ROUND_SQN;
		sq->signal_every = 1;
		crl_sq_reset(sq);
	}
};

CRL_FN void
post_round(struct crl_sq *sq, uint64_t round, bool gpu_scope)
{
	struct crl_frame f = bn_round_frame(round);
	struct crl_piece piece = {NULL, f.iova, f.len, f.lkey};
	uint64_t pi;

	sq->ci = sq->completed = sq->rung; /* the NIC is done with all: it answers each round */
	if (crl_sq_reserve(sq, 1, &pi) != CRL_OK)
		return;
	crl_sq_put_send(sq, pi, &piece, 1, 0, true, pi);
	if (gpu_scope)
		crl_sq_ring_gpu(sq);
	else
		crl_sq_ring(sq);
}

/* Rounds first to last of a path that has its kernel resident. */
static __global__ void
resident(struct trigger_mem *m, int path, bool gpu_scope, uint64_t last)
{
	struct crl_sq sq = m->sq;

	for (uint64_t i = 1; i <= last; i++) {
		if (!bn_bare_see((const uint32_t *)&m->go, (uint32_t)i))
			return;
		if (path == BN_ECHO) {
			crl_st64(&m->uar, ~i);
		} else if (path == BN_GPU_POST) {
			post_round(&sq, i - 1u, gpu_scope);
		} else {
			crl_order_producer_before_ringer();
			crl_st64(&m->flag, i);
		}
	}
}

static void
pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/* Flags of messages, a line each, as fast as they go. */
static __global__ void
flags(uint64_t *flag, uint64_t last)
{
	for (uint64_t i = 1; i <= last; i++) {
		if (i % 32u == 0)
			crl_order_producer_before_ringer();
		crl_st64(&flag[(i - 1u) * 8u], i);
	}
}

/* The lcore alone: takes message after message, posts each. Samples: ns a message, of 1000 each. */
static void
lcore_rate(const struct bn_trigger_cfg &c, struct bn_result *out)
{
	bn_mem<uint64_t> flag((size_t)c.rounds * 8u, true);
	bn_mem<struct trigger_mem> mem(1, true);
	trigger_rings rings(true);
	struct crl_sq *sq = &mem.p->sq;
	std::vector<uint64_t> v;
	bn_stream s;

	rings.queue(sq, &mem.p->uar);
	std::thread lcore([&] {
		uint64_t t = 0, i, end = 0;
		uint32_t k;

		pin(c.cpu_lcore);
		for (i = 1; i <= c.rounds; i++) {
			for (k = 0; crl_ld64(&flag.p[(i - 1u) * 8u]) != i; k++)
				if (bn_spin_over(k, &end))
					return;
			crl_order_producer_before_ringer();
			post_round(sq, i - 1u, false);
			if (i % 1000u == 0) {
				if (t)
					v.push_back((crl_now_ns() - t) / 1000u);
				t = crl_now_ns();
			}
			out->done = i;
		}
	});
	flags<<<1, 1, 0, s.s>>>(flag.p, c.rounds);
	lcore.join();
	BN_CK(cudaStreamSynchronize(s.s));
	out->lost = c.rounds - out->done;
	bn_samples(out, v);
}

static __global__ void
once(struct trigger_mem *m, uint64_t i)
{
	bn_bare_see((const uint32_t *)&m->go, (uint32_t)i);
}

static __global__ void
nothing(void)
{
}

static void
spin_ns(uint64_t ns)
{
	uint64_t end = crl_now_ns() + ns;

	while (crl_now_ns() < end) {
	}
}

/* The three parties of a run. */
struct run {
	const struct bn_trigger_cfg &c;
	struct trigger_mem *m;
	std::vector<uint64_t> start, saw;
	std::atomic<uint64_t> seen{0};
	std::atomic<bool> stop{false};
	uint64_t torn = 0;
	bool host; /* the rings' place */
	cudaEvent_t event;
	bn_stream s;

	run(const struct bn_trigger_cfg &cfg, struct trigger_mem *mem, bool host_rings)
	    : c(cfg), m(mem), start(cfg.rounds + 1u), saw(cfg.rounds + 1u), host(host_rings)
	{
		BN_CK(cudaEventCreateWithFlags(
			&event, cudaEventBlockingSync | cudaEventDisableTiming));
	}
	~run()
	{
		cudaEventDestroy(event);
	}
	bool right(uint64_t word, uint64_t round);
	void nic();
	void lcore();
	bool round(uint64_t i, struct crl_sq *sq);
};

/* Whether a doorbell is the round's, and what it announces is there. */
bool
run::right(uint64_t word, uint64_t round)
{
	const struct crl_sq *q = &m->sq;

	if (word != crl_seg_ctrl(CRL_OPCODE_SEND, round, BN_ROUND_SQN, CRL_BURST_DS, 0).q[0])
		return false;
	if (!host)
		return true;
	return crl_bswap32(crl_ld32(&q->dbrec[CRL_DBREC_SND_WORD])) == ((round + 1u) & 0xffffu) &&
	       bn_round_right(bn_round_fetch(q->wqe + (round & (DEPTH - 1u)) * 64u), round);
}

void
run::nic()
{
	uint64_t before = 0, word = 0;

	pin(c.cpu_nic);
	for (uint64_t i = 1; i <= c.rounds; i++) {
		while ((word = crl_ld64(&m->uar)) == before && !stop) {
		}
		if (stop)
			return;
		saw[i] = crl_now_ns();
		before = word;
		if (c.path != BN_ECHO)
			torn += !right(word, i - 1u);
		seen = i;
	}
}

void
run::lcore()
{
	struct crl_sq sq = m->sq;

	pin(c.cpu_lcore);
	for (uint64_t i = 1; i <= c.rounds; i++) {
		while (crl_ld64(&m->flag) != i && !stop) {
		}
		if (stop)
			return;
		crl_order_producer_before_ringer();
		post_round(&sq, i - 1u, false);
	}
}

/* False: the doorbell of round i did not come. */
bool
run::round(uint64_t i, struct crl_sq *sq)
{
	uint64_t end;

	if (c.path == BN_SPIN_SYNC || c.path == BN_BLOCK_SYNC) {
		once<<<1, 1, 0, s.s>>>(m, i);
		if (c.path == BN_BLOCK_SYNC)
			BN_CK(cudaEventRecord(event, s.s));
		spin_ns(ARM_NS);
	}
	spin_ns(SETTLE_NS);
	start[i] = crl_now_ns();
	if (c.path == BN_LAUNCH)
		nothing<<<1, 1, 0, s.s>>>();
	else
		crl_st64(&m->go, i);
	if (c.path >= BN_SPIN_SYNC) {
		if (c.path == BN_BLOCK_SYNC)
			BN_CK(cudaEventSynchronize(event));
		else
			BN_CK(cudaStreamSynchronize(s.s));
		post_round(sq, i - 1u, false);
	}
	for (end = start[i] + ROUND_NS; seen != i;) {
		if (crl_now_ns() > end)
			return false;
	}
	return true;
}

static void
trigger(const struct bn_trigger_cfg &c, struct bn_result *out)
{
	bool host = c.path != BN_GPU_POST || !c.rings_in_gpu;
	bn_mem<struct trigger_mem> mem(1, true);
	struct trigger_mem *m = mem.p;
	trigger_rings rings(host);
	run r(c, m, host);
	std::thread nic, lcore;
	std::vector<uint64_t> v;
	uint64_t i;

	if (c.rounds > DEPTH)
		throw std::runtime_error("more rounds than the ring has slots");
	rings.queue(&m->sq, &m->uar);
	struct crl_sq sq = m->sq;

	if (c.path < BN_SPIN_SYNC)
		resident<<<1, 1, 0, r.s.s>>>(m, c.path, c.scope == BN_GPU, c.rounds);
	else
		nothing<<<1, 1, 0, r.s.s>>>();
	BN_CK(cudaGetLastError());
	nic = std::thread([&] { r.nic(); });
	if (c.path == BN_LCORE)
		lcore = std::thread([&] { r.lcore(); });
	std::thread main([&] { /* so that pinning is this run's and not the program's */
		pin(c.cpu_main);
		try {
			for (i = 1; i <= c.rounds && r.round(i, &sq); i++) {
			}
		} catch (const std::exception &e) {
			snprintf(out->why, sizeof(out->why), "%s", e.what());
		}
	});
	main.join();
	r.stop = true;
	nic.join();
	if (lcore.joinable())
		lcore.join();
	out->done = i - 1u;
	out->lost = c.rounds - out->done;
	if (out->lost) /* let the kernel out */
		for (uint64_t k = i; k <= c.rounds; k++) {
			crl_st64(&m->go, k);
			spin_ns(5000);
		}
	BN_CK(cudaStreamSynchronize(r.s.s));
	out->torn = r.torn;
	if (!host) {
		std::vector<uint8_t> w(DEPTH * 64u);

		rings.wqe.get(w.data(), w.size());
		for (uint64_t k = 0; k < out->done; k++)
			out->torn += !bn_round_right(bn_round_fetch(&w[k * 64u]), k);
	}
	for (i = c.rounds / 10u + 1u; i <= out->done; i++)
		v.push_back(r.saw[i] - r.start[i]);
	bn_samples(out, v);
}

extern "C" int
bn_cuda_trigger(const struct bn_trigger_cfg *cfg, struct bn_result *out)
{
	return bn_guard(out, [&] {
		if (cfg->path == BN_LCORE_RATE)
			lcore_rate(*cfg, out);
		else
			trigger(*cfg, out);
	});
}
