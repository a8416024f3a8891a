/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `carillon-bench tax`: how much slower a matrix product and a memory copy are beside a resident
 * engine, one that polls and has nothing to do and one that posts all the time. The product is
 * cuBLAS's, bf16 from random numbers, where its library can be loaded; otherwise a tiled kernel of
 * our own, and the line says so. Alone and beside are measured in alternation.
 */
#include "cuda_priv.cuh"

#include <dlfcn.h>

#include "gpu_queues/queue_state.h"
#include "gpu_queues/sq_burst.h"
#include "gpu_queues/sq_doorbell.h"

#define TILE	  32
#define LOG_DEPTH 12u
#define BURST	  32u

/* An engine of one warp: idle, it polls its CQ and looks at its stop word; busy, it posts. */
static __global__ void
engine(struct crl_sq *at, const struct crl_frame *table, bool busy, uint32_t *stop, uint64_t *posts)
{
	struct crl_sq *sq = at;
	uint64_t n = 0, end = crl_now_ns() + BN_WAIT_NS;
	uint32_t lane = threadIdx.x, turn, tail;
	struct crl_burst b = crl_burst_open(sq, 0, lane);

	for (turn = 0;; turn++) { /* bound: the stop word, BN_WAIT_NS */
		if (turn % 256u == 0 && (crl_ld32(stop) || crl_now_ns() > end))
			break;
		if (!busy) {
			if (lane == 0)
				crl_cq_peek(&sq->cq, sq->cq.ci, &tail);
			crl_relax();
			continue;
		}
		crl_burst_write(&b, b.pi, table, BURST, lane);
		__syncwarp();
		if (lane == 0)
			crl_burst_ring(&b, BURST);
		crl_burst_next(&b, BURST);
		n++;
		__syncwarp();
	}
	if (lane == 0)
		*posts = n * BURST;
}

/* The idle engine in as few registers as cuBLAS's largest kernels leave on an SM: 1024. */
static __global__ void __maxnreg__(32)
	small_engine(const struct crl_cqe64 *cqe, const uint32_t *stop)
{
	uint64_t end = crl_now_ns() + BN_WAIT_NS;

	for (uint32_t turn = 0;; turn++) { /* bound: the stop word, BN_WAIT_NS */
		if (turn % 256u == 0 && (crl_ld32(stop) || crl_now_ns() > end))
			return;
		if (threadIdx.x == 0 && crl_ld32((const uint8_t *)cqe + CRL_CQE_TAIL) == ~0u)
			return;
		crl_relax();
	}
}

static __global__ void
own_product(const float *a, const float *b, float *c, int n)
{
	__shared__ float ta[TILE][TILE + 1], tb[TILE][TILE + 1];
	int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * TILE + x,
	    row = blockIdx.y * TILE + y;
	float sum = 0;

	for (int k = 0; k < n; k += TILE) {
		ta[y][x] = a[(size_t)row * n + k + x];
		tb[y][x] = b[(size_t)(k + y) * n + col];
		__syncthreads();
		for (int i = 0; i < TILE; i++)
			sum += ta[y][i] * tb[i][x];
		__syncthreads();
	}
	c[(size_t)row * n + col] = sum;
}

static __global__ void
random_bf16(uint16_t *p, size_t n)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
		i += (size_t)gridDim.x * blockDim.x) {
		uint32_t x = (uint32_t)i * 2654435761u ^ (uint32_t)(i >> 7);

		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		p[i] = (uint16_t)((x & 0x80ffu) | 0x3f00u); /* +-0.5 to 2 */
	}
}

/* cuBLAS by hand: its types are its own header's, which a machine need not have. */
struct blas {
	void *lib, *handle = nullptr;
	int (*create)(void **);
	int (*set_stream)(void *, cudaStream_t);
	int (*gemm)(void *, int, int, int, int, int, const void *, const void *, int, int,
		const void *, int, int, const void *, void *, int, int, int, int);

	blas()
	{
		lib = dlopen("libcublas.so.13", RTLD_NOW);
		lib = lib ? lib : dlopen("libcublas.so.12", RTLD_NOW);
		if (!lib)
			return;
		*(void **)&create = dlsym(lib, "cublasCreate_v2");
		*(void **)&set_stream = dlsym(lib, "cublasSetStream_v2");
		*(void **)&gemm = dlsym(lib, "cublasGemmEx");
		if (!create || !set_stream || !gemm || create(&handle) != 0)
			lib = nullptr;
	}
};

enum { OP_N = 0, R_16BF = 14, COMPUTE_32F = 68, ALGO_DEFAULT = -1 };

/* The work that is taxed. */
struct work {
	const struct bn_tax_cfg &c;
	blas cublas;
	bn_mem<uint16_t> a, b, d;
	size_t n;

	work(const struct bn_tax_cfg &cfg)
	    : c(cfg), a(elements(cfg)), b(elements(cfg)), d(elements(cfg)), n(cfg.size)
	{
		random_bf16<<<1024, 256>>>(a.p, a.n);
		random_bf16<<<1024, 256>>>(b.p, b.n);
		BN_CK(cudaDeviceSynchronize());
	}
	static size_t
	elements(const struct bn_tax_cfg &cfg)
	{
		/* The kernel of our own uses floats: twice the bytes. */
		return cfg.load == BN_GEMM ? (size_t)cfg.size * cfg.size * 2u
					   : (size_t)cfg.size << 19;
	}
	void
	go(cudaStream_t s)
	{
		const float one = 1, zero = 0;
		int k = (int)n;

		if (c.load == BN_COPY) {
			BN_CK(cudaMemcpyAsync(d.p, a.p, n << 20, cudaMemcpyDeviceToDevice, s));
		} else if (cublas.lib) {
			cublas.set_stream(cublas.handle, s);
			if (cublas.gemm(cublas.handle, OP_N, OP_N, k, k, k, &one, a.p, R_16BF, k,
				    b.p, R_16BF, k, &zero, d.p, R_16BF, k, COMPUTE_32F,
				    ALGO_DEFAULT) != 0)
				throw std::runtime_error("cublasGemmEx failed");
		} else {
			own_product<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE), 0, s>>>(
				(float *)a.p, (float *)b.p, (float *)d.p, k);
		}
	}
	uint64_t
	timed(cudaStream_t s)
	{
		cudaEvent_t x, y;
		float ms = 0;

		BN_CK(cudaEventCreate(&x));
		BN_CK(cudaEventCreate(&y));
		BN_CK(cudaEventRecord(x, s));
		go(s);
		BN_CK(cudaEventRecord(y, s));
		BN_CK(cudaEventSynchronize(y));
		BN_CK(cudaEventElapsedTime(&ms, x, y));
		cudaEventDestroy(x);
		cudaEventDestroy(y);
		return (uint64_t)(ms * 1e6);
	}
};

static void
tax(const struct bn_tax_cfg &c, struct bn_result *out)
{
	work w(c);
	bn_mem<uint8_t> ring(64u << LOG_DEPTH), cqe(64u << LOG_DEPTH);
	bn_mem<uint32_t> record(16), stop(1, true);
	bn_mem<uint64_t> uar(8, true), posts(1, true);
	bn_mem<struct crl_sq> sq(1);
	bn_mem<struct crl_frame> table(BURST);
	std::vector<uint64_t> row[3], all;
	struct crl_sq fresh;
	bn_stream s, e;

	memset(&fresh, 0, sizeof(fresh));
	fresh.wqe = ring.p;
	fresh.dbrec = (crl_be32 *)record.p;
	fresh.uar = uar.p;
	fresh.log_depth = fresh.cq.log_depth = LOG_DEPTH;
	fresh.sqn = 1;
	fresh.signal_every = 1u << 10;
	fresh.cq.cqe = (struct crl_cqe64 *)cqe.p;
	crl_sq_reset(&fresh);
	for (int i = 0; i < 4; i++)
		w.timed(s.s); /* loads, plans, warms */
	BN_CK(cudaDeviceSynchronize());
	for (uint32_t i = 0; i < c.repeats; i++) {
		for (int beside = 0; beside < 3; beside++) {
			sq.put(&fresh, 1);
			*stop.p = 0;
			if (beside == 1 && c.small)
				small_engine<<<1, 32, 0, e.s>>>(fresh.cq.cqe, stop.p);
			else if (beside != 0)
				engine<<<1, 32, 0, e.s>>>(
					sq.p, table.p, beside == 2, stop.p, posts.p);
			BN_CK(cudaGetLastError());
			row[beside].push_back(w.timed(s.s));
			crl_st32(stop.p, 1);
			BN_CK(cudaStreamSynchronize(e.s));
			out->done += beside == 2 ? *posts.p : 0;
		}
	}
	struct cudaFuncAttributes at;

	BN_CK(cudaFuncGetAttributes(
		&at, c.small ? (const void *)small_engine : (const void *)engine));
	out->registers = (uint32_t)at.numRegs;
	for (auto &r : row)
		all.insert(all.end(), r.begin(), r.end());
	bn_samples(out, all);
	snprintf(out->why, sizeof(out->why), "%s",
		c.load == BN_COPY ? "cudaMemcpyAsync, device to device"
		: w.cublas.lib	  ? "cuBLAS, bf16, random numbers"
			       : "a tiled fp32 kernel of our own: cuBLAS's library was not found");
}

extern "C" int
bn_cuda_tax(const struct bn_tax_cfg *cfg, struct bn_result *out)
{
	return bn_guard(out, [&] { tax(*cfg, out); });
}
