/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `carillon-bench post` on a GPU: warps that fill send queues as fast as they can, our headers
 * beside NVIDIA's DOCA GPUNetIO device header, on queues of the same place and size, from the same
 * table of random addresses and lengths, with the same scope of fences. Ours writes SENDs, 64 of 64
 * bytes; theirs RDMA WRITEs, 48 of 64, as that header has no Ethernet.
 *
 * ring_full: both wait for the completion that frees the room they take, and a second kernel gives
 * it (nic.h). Otherwise neither looks. After each run the last lap of every ring is compared with
 * what it must hold.
 */
#include "cuda_priv.cuh"

#include "post_kernels.cuh"

/* One run's queues. */
struct queues {
	const struct bn_post_cfg &c;
	uint32_t nr, depth, warps_each;
	bn_mem<uint8_t> ring, cqe;
	bn_mem<uint32_t> dbrec;
	bn_mem<uint64_t> uar, book;
	bn_mem<struct crl_sq> sq;
	bn_mem<struct shared_queue> share;
	bn_mem<struct crl_qerror> error;
	bn_mem<struct bn_nicq> nicq;
	bn_mem<struct crl_frame> table;
	bn_mem<uint32_t> failed, cycles;
	std::vector<struct crl_frame> frames;
#if defined(BN_DOCA_FROM)
	bn_mem<doca_qp> qp;
#endif

	queues(const struct bn_post_cfg &cfg, uint32_t n)
	    : c(cfg), nr(n), depth(1u << cfg.log_depth), warps_each(cfg.blocks * cfg.warps / n),
	      ring((size_t)n * depth * 64), cqe((size_t)n * depth * 64), dbrec((size_t)n * 16),
	      uar((size_t)n * 8, !cfg.uar_in_gpu), book((size_t)n * depth * 2), sq(n), share(1),
	      error(n), nicq(n), table(TABLE * 2), failed(1, true), cycles(SINGLE_POSTS),
	      frames(TABLE * 2)
#if defined(BN_DOCA_FROM)
	      ,
	      qp(n)
#endif
	{
		uint64_t seed = 0x9e3779b97f4a7c15ull;

		/* Twice over, so that a burst never runs over the table's end. */
		for (uint32_t i = 0; i < TABLE; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			frames[i] = {seed & 0xffffffffffc0ull, 60u + (uint32_t)(seed >> 50) % 8941u,
				(uint32_t)(seed >> 20)};
			frames[i + TABLE] = frames[i];
		}
		table.put(frames.data(), TABLE * 2);
	}
	void reset();
	void ours(std::vector<struct crl_sq> &v);
	bool same(const uint8_t *wqe, uint64_t k, uint32_t sqn, const struct crl_frame &f,
		uint32_t ce);
	void check(uint64_t posted, struct bn_result *out);
};

void
queues::ours(std::vector<struct crl_sq> &v)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct crl_sq &s = v[i];

		memset(&s, 0, sizeof(s));
		s.wqe = ring.p + (size_t)i * depth * 64;
		s.dbrec = (crl_be32 *)(dbrec.p + (size_t)i * 16);
		s.uar = uar.p + (size_t)i * 8;
		s.cookie = book.p + (size_t)i * depth * 2;
		s.end = s.cookie + depth;
		s.log_depth = c.log_depth;
		s.sqn = i + 1u;
		s.signal_every = depth / 4u;
		s.cq.cqe = (struct crl_cqe64 *)(cqe.p + (size_t)i * depth * 64);
		s.cq.log_depth = c.log_depth;
		s.cq.flags = CRL_CQ_OVERRUN_IGNORE;
		crl_sq_reset(&s);
	}
}

void
queues::reset()
{
	std::vector<struct crl_sq> v(nr);
	std::vector<struct bn_nicq> n(nr);
	struct shared_queue words;

	BN_CK(cudaMemset(ring.p, 0, ring.n));
	BN_CK(cudaMemset(cqe.p, 0, cqe.n));
	BN_CK(cudaMemset(dbrec.p, 0, dbrec.n * 4));
	BN_CK(cudaMemset(error.p, 0, error.n * sizeof(*error.p)));
	fill_cqs<<<(unsigned)((nr * (uint64_t)depth + 255u) / 256u), 256>>>(
		cqe.p, nr * (uint64_t)depth);
	ours(v);
	sq.put(v.data(), nr);
	if (c.share == BN_SHARED_GPU && c.side == BN_OURS) {
		words.sq = v[0];
		crl_combine_init(
			&words.words, &words.sq, c.blocks * c.warps, c.batch, c.scope == BN_GPU);
		share.put(&words, 1);
	}
	for (uint32_t i = 0; i < nr; i++) {
		memset(&n[i], 0, sizeof(n[i]));
		n[i].dbrec = v[i].dbrec;
		n[i].cqe = (uint8_t *)v[i].cq.cqe;
		n[i].log_depth = c.log_depth;
		n[i].batch = c.batch;
		n[i].by_index = c.side == BN_DOCA;
	}
	nicq.put(n.data(), nr);
#if defined(BN_DOCA_FROM)
	std::vector<doca_qp> q(nr);

	for (uint32_t i = 0; i < nr; i++) {
		memset(&q[i], 0, sizeof(q[i]));
		q[i].sq_num = i + 1u;
		q[i].sq_num_shift8 = (i + 1u) << 8;
		q[i].sq_num_shift8_be = crl_bswap32((i + 1u) << 8);
		q[i].sq_num_shift8_be_1ds = crl_bswap32((i + 1u) << 8 | 1u);
		q[i].sq_num_shift8_be_2ds = crl_bswap32((i + 1u) << 8 | 2u);
		q[i].sq_num_shift8_be_3ds = crl_bswap32((i + 1u) << 8 | 3u);
		q[i].sq_num_shift8_be_4ds = crl_bswap32((i + 1u) << 8 | 4u);
		q[i].sq_wqe_num = (uint16_t)depth;
		q[i].sq_wqe_mask = (uint16_t)(depth - 1u);
		q[i].sq_wqe_daddr = v[i].wqe;
		q[i].sq_dbrec = (__be32 *)&v[i].dbrec[CRL_DBREC_SND_WORD];
		q[i].sq_db = v[i].uar;
		q[i].cq_sq.cqe_daddr = (uint8_t *)v[i].cq.cqe;
		q[i].cq_sq.cqe_num = depth;
		q[i].cq_sq.cqe_mask = depth - 1u;
		q[i].cq_sq.cqe_size = 64;
	}
	qp.put(q.data(), nr);
#endif
	BN_CK(cudaDeviceSynchronize());
}

/* Whether the WQE at index k is right in all bytes that its side defines. */
bool
queues::same(const uint8_t *wqe, uint64_t k, uint32_t sqn, const struct crl_frame &f, uint32_t ce)
{
	struct crl_seg want[4] = {crl_seg_ctrl(CRL_OPCODE_SEND, k, sqn, 3, ce), crl_seg_eth(0),
		crl_seg_data(f.len, f.lkey, f.iova), {{0, 0}}};
	uint8_t got[64];

	memcpy(got, wqe, 64);
	if (c.side == BN_OURS)
		return memcmp(got, want, c.single ? 48 : 64) == 0;
	want[0] = crl_seg_ctrl(CRL_OPCODE_RDMA_WRITE, k, sqn, 3, CRL_WQE_CE_ALWAYS);
	want[1].q[0] = crl_bswap64(~f.iova);
	want[1].q[1] = RKEY; /* that header takes keys as they go to the wire */
	want[2] = crl_seg_data(f.len, crl_bswap32(f.lkey), f.iova);
	memset(got + 8, 0, 3); /* it leaves these as they come: signature, reserved */
	memset(got + 28, 0, 4);
	return memcmp(got, want, 48) == 0;
}

/* The record of every queue, and the last lap of up to CHECKED_MAX rings, against what they hold.
 */
void
queues::check(uint64_t posted, struct bn_result *out)
{
	uint64_t each = posted / nr, lap = each < depth ? each : depth;
	std::vector<struct crl_sq> v(nr);
	std::vector<uint8_t> r((size_t)depth * 64);
	std::vector<uint32_t> d((size_t)nr * 16);

	ours(v);
	dbrec.get(d.data(), d.size());
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t told = crl_index_from16(
			each - lap, (uint16_t)crl_bswap32(d[(size_t)i * 16 + CRL_DBREC_SND_WORD]));

		out->lost += told < each ? each - told : 0;
		if (i % (nr / CHECKED_MAX + 1u) != 0)
			continue;
		ring.get(r.data(), r.size(), (size_t)i * depth * 64);
		if (c.tear && i == 0)
			r[32] ^= 1u;
		for (uint64_t k = each - lap; k < each; k++) {
			const struct crl_frame &f = frames[k & (TABLE - 1u)];
			bool last = (k + 1u) % c.batch == 0;
			uint32_t ce = last ? CRL_WQE_CE_ALWAYS : CRL_WQE_CE_ON_FIRST_ERR;

			out->torn += !same(&r[(k & (depth - 1u)) * 64], k, v[i].sqn, f, ce);
		}
	}
}

/* Completes a launch: the second kernel first, where there is one; times the first on its stream.
 */
template <typename F>
static uint64_t
timed(queues &q, bn_stream &post, bn_stream &nic, uint64_t total_each, F launch)
{
	cudaEvent_t a, b;
	float ms = 0;

	q.reset();
	BN_CK(cudaEventCreate(&a));
	BN_CK(cudaEventCreate(&b));
	if (q.c.ring_full)
		nic_kernel<<<(q.nr + NIC_LANES - 1u) / NIC_LANES, 32, 0, nic.s>>>(
			q.nicq.p, q.nr, total_each);
	BN_CK(cudaEventRecord(a, post.s));
	launch(post.s);
	BN_CK(cudaGetLastError());
	BN_CK(cudaEventRecord(b, post.s));
	BN_CK(cudaStreamSynchronize(post.s));
	BN_CK(cudaStreamSynchronize(nic.s));
	BN_CK(cudaEventElapsedTime(&ms, a, b));
	cudaEventDestroy(a);
	cudaEventDestroy(b);
	return (uint64_t)(ms * 1e6);
}

static uint32_t
registers(const void *kernel)
{
	struct cudaFuncAttributes at;

	BN_CK(cudaFuncGetAttributes(&at, kernel));
	return (uint32_t)at.numRegs;
}

/* Which kernel a line is of; each is one instance of the templates above. */
static void
launch_ours(queues &q, struct post_args a, cudaStream_t s, uint32_t *regs)
{
	const struct bn_post_cfg &c = q.c;
	unsigned threads = c.warps * 32u;

#define OURS(kernel, blocks, n, ...)                                                               \
	do {                                                                                       \
		*regs = registers((const void *)kernel);                                           \
		if (s)                                                                             \
			kernel<<<blocks, n, 0, s>>>(a, ##__VA_ARGS__);                             \
	} while (0)
	if (c.single && c.scope == BN_GPU && c.ring_full)
		OURS((single_ours<BN_GPU, true>), 1, 1, q.cycles.p);
	else if (c.single && c.scope == BN_GPU)
		OURS((single_ours<BN_GPU, false>), 1, 1, q.cycles.p);
	else if (c.single && c.ring_full)
		OURS((single_ours<BN_SYSTEM, true>), 1, 1, q.cycles.p);
	else if (c.single)
		OURS((single_ours<BN_SYSTEM, false>), 1, 1, q.cycles.p);
	else if (c.share == BN_SHARED_BLOCK)
		OURS(post_shared<true>, c.blocks, threads, q.share.p, c.scope == BN_GPU);
	else if (c.share == BN_SHARED_GPU)
		OURS(post_shared<false>, c.blocks, threads, q.share.p, c.scope == BN_GPU);
	else if (c.scope == BN_GPU && c.ring_full)
		OURS((post_ours<BN_GPU, true>), c.blocks, threads);
	else if (c.scope == BN_GPU)
		OURS((post_ours<BN_GPU, false>), c.blocks, threads);
	else if (c.ring_full)
		OURS((post_ours<BN_SYSTEM, true>), c.blocks, threads);
	else
		OURS((post_ours<BN_SYSTEM, false>), c.blocks, threads);
}

#if defined(BN_DOCA_FROM)
template <int SCOPE>
static void
launch_doca(queues &q, struct post_args a, cudaStream_t s, uint32_t *regs)
{
	const int EXCLUSIVE = DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_EXCLUSIVE;
	const int CTA = DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_CTA;
	const int GPU = DOCA_GPUNETIO_VERBS_RESOURCE_SHARING_MODE_GPU;
	const struct bn_post_cfg &c = q.c;
	unsigned threads = c.warps * 32u;

#define DOCA(kernel)                                                                               \
	do {                                                                                       \
		*regs = registers((const void *)kernel);                                           \
		kernel<<<c.blocks, threads, 0, s>>>(                                               \
			q.qp.p, c.share == BN_SHARED_GPU, a.table, a.batch, a.bursts);             \
	} while (0)
	if (c.single) {
		*regs = registers((const void *)single_doca<SCOPE, true>);
		if (c.ring_full)
			single_doca<SCOPE, true>
				<<<1, 1, 0, s>>>(q.qp.p, a.table, a.bursts, q.cycles.p);
		else
			single_doca<SCOPE, false>
				<<<1, 1, 0, s>>>(q.qp.p, a.table, a.bursts, q.cycles.p);
	} else if (c.share == BN_SHARED_BLOCK) {
		DOCA((post_doca<SCOPE, true, CTA>));
	} else if (c.share == BN_SHARED_GPU) {
		DOCA((post_doca<SCOPE, true, GPU>));
	} else if (c.ring_full) {
		DOCA((post_doca<SCOPE, true, EXCLUSIVE>));
	} else {
		DOCA((post_doca<SCOPE, false, EXCLUSIVE>));
	}
}
#endif

static void
launch(queues &q, struct post_args a, cudaStream_t s, uint32_t *regs)
{
	if (q.c.side == BN_OURS)
		launch_ours(q, a, s, regs);
#if defined(BN_DOCA_FROM)
	else if (q.c.scope == BN_GPU)
		launch_doca<BN_GPU>(q, a, s, regs);
	else
		launch_doca<BN_SYSTEM>(q, a, s, regs);
#else
	else
		throw std::runtime_error("built without the DOCA GPUNetIO device header");
#endif
}

static void
post(const struct bn_post_cfg *cfg, struct bn_result *out)
{
	struct bn_post_cfg c = *cfg;
	uint32_t nr = c.share == BN_EXCLUSIVE	   ? c.blocks * c.warps
		      : c.share == BN_SHARED_BLOCK ? c.blocks
						   : 1;
	std::vector<uint64_t> samples;
	std::vector<uint32_t> cycles(SINGLE_POSTS);
	bn_stream post, nic;

	c.ring_full = c.ring_full || c.share != BN_EXCLUSIVE;
	queues q(c, nr);
	struct post_args a = {q.sq.p, q.error.p, q.table.p, c.batch, c.bursts, q.failed.p};
	uint64_t each = (uint64_t)q.warps_each * c.batch * c.bursts;

	for (uint32_t i = 0; i <= c.launches; i++) {
		uint64_t ns = timed(q, post, nic, each,
			[&](cudaStream_t s) { launch(q, a, s, &out->registers); });

		q.check(each * nr, out);
		out->lost += *q.failed.p;
		if (i == 0)
			continue; /* the first loads the kernel */
		out->done += each * nr;
		if (!c.single) {
			samples.push_back(ns);
			continue;
		}
		q.cycles.get(cycles.data(), SINGLE_POSTS);
		for (uint32_t k = 64; k < SINGLE_POSTS && k < c.bursts; k++)
			samples.push_back(cycles[k]);
	}
	out->extra[0] = (double)(each * nr);
	bn_samples(out, samples);
}

extern "C" int
bn_cuda_post(const struct bn_post_cfg *cfg, struct bn_result *out)
{
	return bn_guard(out, [&] { post(cfg, out); });
}

extern "C" int
bn_cuda_open(uint32_t abi, int device, struct bn_gpu *g)
{
	struct cudaDeviceProp prop;
	cudaError_t e;

	memset(g, 0, sizeof(*g));
#if defined(BN_DOCA_FROM)
	g->doca = true;
	snprintf(g->doca_from, sizeof(g->doca_from), "%s", BN_DOCA_FROM);
#else
	snprintf(g->doca_from, sizeof(g->doca_from), "%s",
		"missing: no nccl_device/gin/gdaki/doca_gpunetio in the include folders of CUDA or "
		"NCCL when this was built");
#endif
	if (abi != BN_CUDA_ABI) {
		snprintf(g->doca_from, sizeof(g->doca_from), "the library is of another version");
		return -EINVAL;
	}
	/* A kernel that is loaded only when it is launched would wait for those that wait for it.
	 */
	setenv("CUDA_MODULE_LOADING", "EAGER", 1);
	e = cudaSetDevice(device);
	if (e == cudaSuccess)
		e = cudaGetDeviceProperties(&prop, device);
	if (e == cudaSuccess)
		e = cudaGetDeviceCount(&g->devices);
	if (e != cudaSuccess) {
		snprintf(g->doca_from, sizeof(g->doca_from), "%s", cudaGetErrorString(e));
		return -ENODEV;
	}
	snprintf(g->name, sizeof(g->name), "%.63s", prop.name);
	g->sms = prop.multiProcessorCount;
	cudaDeviceGetAttribute(&g->sm_clock_khz, cudaDevAttrClockRate, device);
	cudaDriverGetVersion(&g->driver);
	cudaRuntimeGetVersion(&g->runtime);
	return 0;
}
