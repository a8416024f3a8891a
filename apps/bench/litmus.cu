/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `carillon-bench litmus`: does the other side ever see two accesses the wrong way round? A round
 * is one exchange of a GPU thread and an observer, a host thread or a thread on the second GPU,
 * over memory where a NIC would have it. Every access is mem.h's, every fence the edge of order.h,
 * or left out. Rounds in which an observer saw old bytes are counted. None seen is no proof.
 */
#include "cuda_priv.cuh"

#include <atomic>
#include <thread>

#include "round.h"

#define SLOTS	   512u /* 64-byte pieces of a pair's memory, used in turn */
#define PAIR_BYTES (SLOTS * 64u + 3u * 4096u)

/* One pair's words, each where it lies: on lines, and pages, of their own. */
struct pair_mem {
	uint8_t *slots; /* WQEs or payload */
	uint8_t *first; /* what must be seen first: a record */
	uint8_t *word;	/* what announces it: record, register or CQE */
	uint8_t *ack;	/* the other side's answer */
};

template <int SCOPE>
CRL_FN void
edge_wqe_record(void)
{
	if (SCOPE == BN_GPU)
		crl_order_wqe_before_record_gpu();
	else if (SCOPE == BN_SYSTEM)
		crl_order_wqe_before_record();
}

template <int SCOPE>
CRL_FN void
edge_record_uar(void)
{
	if (SCOPE == BN_GPU)
		crl_order_record_before_uar_gpu();
	else if (SCOPE == BN_SYSTEM)
		crl_order_record_before_uar();
}

CRL_FN uint8_t *
slot(const struct pair_mem &m, uint64_t round, uint32_t k, uint32_t wqes)
{
	return m.slots + ((round * wqes + k) % SLOTS) * 64u;
}

CRL_FN void
fill(uint8_t *at, uint32_t round)
{
	struct crl_seg s = {{(uint64_t)round << 32 | round, (uint64_t)round << 32 | round}};

	for (uint32_t i = 0; i < 4u; i++)
		crl_st_seg(at + i * 16u, s);
}

/* Whether any of it is of another round; reads from its end, which a writer wrote last. */
CRL_FN bool
stale(const struct pair_mem &m, uint64_t round, uint32_t wqes)
{
	bool bad = false;

	for (uint32_t k = wqes; k-- > 0;) {
		const uint8_t *at = slot(m, round, k, wqes);

		for (uint32_t i = 4u; i-- > 0;)
			bad |= crl_ld32(at + i * 16u) != (uint32_t)round;
	}
	return bad;
}

/* The GPU's side of a round. False: the other side is gone. *torn: seen the wrong way round. */
template <int SCOPE>
static __device__ bool
gpu_round(const struct pair_mem &m, int edge, uint32_t wqes, uint64_t r, uint64_t *torn)
{
	uint32_t round = (uint32_t)r, got[8], k;
	bool bad = false;

	switch (edge) {
	case BN_WQE_RECORD:
		for (k = 0; k < wqes; k++)
			fill(slot(m, r, k, wqes), round);
		edge_wqe_record<SCOPE>();
		crl_st32(m.word, round);
		return bn_bare_see((const uint32_t *)m.ack, round);
	case BN_RECORD_UAR:
		crl_st32(m.first, round);
		edge_record_uar<SCOPE>();
		crl_st_mmio64(m.word, round);
		return bn_bare_see((const uint32_t *)m.ack, round);
	case BN_CQE_PAYLOAD:
		if (!bn_bare_see((const uint32_t *)m.word, round))
			return false;
		if (SCOPE != BN_NO_FENCE)
			crl_order_cqe_before_payload();
		*torn += stale(m, r, wqes);
		crl_order_reads_before_giveback();
		crl_st32(m.ack, round);
		return true;
	default:
		if (!bn_bare_see((const uint32_t *)m.word, round))
			return false;
		crl_order_cqe_before_payload();
		for (k = 0; k < 8u; k++)
			got[k] = crl_ld32(slot(m, r, k % wqes, wqes) + k / wqes % 4u * 16u);
		if (SCOPE != BN_NO_FENCE)
			crl_order_reads_before_giveback();
		crl_st32(m.ack, round);
		for (k = 0; k < 8u; k++)
			bad |= got[k] != round;
		*torn += bad;
		return true;
	}
}

/* The observer's side: a host thread, or a thread of another GPU. */
CRL_FN bool
other_round(const struct pair_mem &m, int edge, uint32_t wqes, uint64_t r, uint64_t *torn)
{
	uint32_t round = (uint32_t)r, k;

	switch (edge) {
	case BN_WQE_RECORD:
		if (!bn_bare_see((const uint32_t *)m.word, round))
			return false;
		crl_order_cqe_before_payload();
		*torn += stale(m, r, wqes);
		crl_order_reads_before_giveback(); /* the writer goes on as soon as it sees this */
		crl_st32(m.ack, round);
		return true;
	case BN_RECORD_UAR:
		if (!bn_bare_see((const uint32_t *)m.word, round))
			return false;
		crl_order_cqe_before_payload();
		*torn += crl_ld32(m.first) != round;
		crl_order_reads_before_giveback(); /* the same */
		crl_st32(m.ack, round);
		return true;
	default:
		for (k = 0; k < wqes; k++)
			fill(slot(m, r, k, wqes), round);
		crl_order_wqe_before_record();
		crl_st32(m.word, round);
		if (!bn_bare_see((const uint32_t *)m.ack, round))
			return false;
		if (edge == BN_READ_GIVEBACK) /* as a NIC with the next packet at hand */
			for (k = 0; k < wqes; k++)
				fill(slot(m, r, k, wqes), ~round);
		return true;
	}
}

template <int SCOPE>
static __global__ void
gpu_side(const struct pair_mem *pairs, int edge, uint32_t wqes, uint64_t rounds, uint64_t *torn,
	uint64_t *done)
{
	struct pair_mem m = pairs[blockIdx.x];
	uint64_t r, bad = 0;

	for (r = 1; r <= rounds && gpu_round<SCOPE>(m, edge, wqes, r, &bad); r++) {
	}
	torn[blockIdx.x] = bad;
	done[blockIdx.x] = r - 1u;
}

static __global__ void
other_side(const struct pair_mem *pairs, int edge, uint32_t wqes, uint64_t rounds, uint64_t *torn,
	uint64_t *done)
{
	struct pair_mem m = pairs[blockIdx.x];
	uint64_t r, bad = 0;

	for (r = 1; r <= rounds && other_round(m, edge, wqes, r, &bad); r++) {
	}
	torn[blockIdx.x] = bad;
	done[blockIdx.x] = r - 1u;
}

static void
start_gpu(const struct bn_litmus_cfg &c, cudaStream_t s, const struct pair_mem *pairs,
	uint64_t *torn, uint64_t *done)
{
	if (c.scope == BN_NO_FENCE)
		gpu_side<BN_NO_FENCE>
			<<<c.pairs, 1, 0, s>>>(pairs, c.edge, c.wqes, c.rounds, torn, done);
	else if (c.scope == BN_GPU)
		gpu_side<BN_GPU><<<c.pairs, 1, 0, s>>>(pairs, c.edge, c.wqes, c.rounds, torn, done);
	else
		gpu_side<BN_SYSTEM>
			<<<c.pairs, 1, 0, s>>>(pairs, c.edge, c.wqes, c.rounds, torn, done);
	BN_CK(cudaGetLastError());
}

static void
add_up(struct bn_result *out, const struct bn_litmus_cfg &c, const uint64_t *torn,
	const uint64_t *done)
{
	for (uint32_t i = 0; i < c.pairs; i++) {
		out->torn += torn[i] + torn[c.pairs + i];
		out->done += done[i] < done[c.pairs + i] ? done[i] : done[c.pairs + i];
		out->lost += 2u * c.rounds - done[i] - done[c.pairs + i];
	}
}

static void
lay_out(struct bn_mem<struct pair_mem> &pairs, uint8_t *slots, uint8_t *words)
{
	for (uint32_t i = 0; i < pairs.n; i++) {
		uint8_t *w = words + (size_t)i * PAIR_BYTES + SLOTS * 64u;

		pairs.p[i] = {slots + (size_t)i * PAIR_BYTES, w, w + 4096, w + 8192};
	}
}

static void
with_host(const struct bn_litmus_cfg &c, struct bn_result *out)
{
	bn_mem<uint8_t> mem((size_t)c.pairs * PAIR_BYTES, true);
	bn_mem<struct pair_mem> pairs(c.pairs, true);
	bn_mem<uint64_t> torn(2u * c.pairs, true), done(2u * c.pairs, true);
	std::vector<std::thread> threads;
	bn_stream s;

	lay_out(pairs, mem.p, mem.p);
	start_gpu(c, s.s, pairs.p, torn.p, done.p);
	for (uint32_t i = 0; i < c.pairs; i++)
		threads.emplace_back([&, i] {
			uint64_t r, bad = 0;

			for (r = 1;
				r <= c.rounds && other_round(pairs.p[i], c.edge, c.wqes, r, &bad);
				r++) {
			}
			torn.p[c.pairs + i] = bad;
			done.p[c.pairs + i] = r - 1u;
		});
	for (auto &t : threads)
		t.join();
	BN_CK(cudaStreamSynchronize(s.s));
	add_up(out, c, torn.p, done.p);
}

/* What this GPU writes first lies in its own memory; the word it writes then, in the other's. */
static void
with_peer(const struct bn_litmus_cfg &c, struct bn_result *out)
{
	int device, devices, can = 0;

	BN_CK(cudaGetDevice(&device));
	BN_CK(cudaGetDeviceCount(&devices));
	if (devices < 2)
		throw std::runtime_error("one GPU here, and this needs two");
	int peer = device == 0 ? 1 : 0;

	BN_CK(cudaDeviceCanAccessPeer(&can, peer, device));
	if (!can)
		throw std::runtime_error("the second GPU cannot reach the first one's memory");
	cudaError_t e = cudaDeviceEnablePeerAccess(peer, 0);
	if (e != cudaSuccess && e != cudaErrorPeerAccessAlreadyEnabled)
		bn_ck(e, "cudaDeviceEnablePeerAccess");
	cudaGetLastError();
	bn_mem<uint8_t> near((size_t)c.pairs * PAIR_BYTES);
	bn_mem<struct pair_mem> pairs(c.pairs, true);
	bn_mem<uint64_t> torn(2u * c.pairs, true), done(2u * c.pairs, true);
	bn_stream s;

	BN_CK(cudaSetDevice(peer));
	e = cudaDeviceEnablePeerAccess(device, 0);
	if (e != cudaSuccess && e != cudaErrorPeerAccessAlreadyEnabled)
		bn_ck(e, "cudaDeviceEnablePeerAccess");
	cudaGetLastError();
	{
		bn_mem<uint8_t> far((size_t)c.pairs * PAIR_BYTES);
		bn_stream t;

		lay_out(pairs, near.p, far.p);
		for (uint32_t i = 0; i < c.pairs; i++) {
			uint8_t *w = near.p + (size_t)i * PAIR_BYTES + SLOTS * 64u;

			pairs.p[i].first = w; /* the record; what the GPU polls is near it too */
			if (c.edge == BN_WQE_RECORD || c.edge == BN_RECORD_UAR)
				pairs.p[i].ack = w + 8192;
			else
				pairs.p[i].word = w + 4096;
		}
		BN_CK(cudaDeviceSynchronize()); /* both: what was zeroed is zero before either
						   begins */
		BN_CK(cudaSetDevice(device));
		BN_CK(cudaDeviceSynchronize());
		BN_CK(cudaSetDevice(peer));
		other_side<<<c.pairs, 1, 0, t.s>>>(
			pairs.p, c.edge, c.wqes, c.rounds, torn.p + c.pairs, done.p + c.pairs);
		BN_CK(cudaGetLastError());
		BN_CK(cudaSetDevice(device));
		start_gpu(c, s.s, pairs.p, torn.p, done.p);
		BN_CK(cudaStreamSynchronize(s.s));
		BN_CK(cudaSetDevice(peer));
		BN_CK(cudaStreamSynchronize(t.s));
	}
	BN_CK(cudaSetDevice(device));
	add_up(out, c, torn.p, done.p);
}

extern "C" int
bn_cuda_litmus(const struct bn_litmus_cfg *cfg, struct bn_result *out)
{
	return bn_guard(out, [&] {
		if (cfg->peer)
			with_peer(*cfg, out);
		else
			with_host(*cfg, out);
	});
}
