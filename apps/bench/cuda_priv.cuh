/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the CUDA halves of carillon-bench share: checked calls, memory that goes at the end of a
 * scope, a stop word.
 */
#ifndef CRL_BENCH_CUDA_PRIV_H
#define CRL_BENCH_CUDA_PRIV_H

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench_cuda.h"
#include "gpu_queues/mem.h"
#include "gpu_queues/order.h"

#define BN_WAIT_NS 20000000000ull /* of a kernel for another: longer is a failure */

static inline void
bn_ck(cudaError_t e, const char *what)
{
	if (e != cudaSuccess)
		throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e));
}
#define BN_CK(call) bn_ck(call, #call)

/* GPU memory, or pinned host memory that the GPU sees at the same address. */
template <typename T> struct bn_mem {
	T *p = nullptr;
	size_t n;
	bool host;

	bn_mem(size_t count, bool in_host = false) : n(count), host(in_host)
	{
		if (host)
			BN_CK(cudaHostAlloc((void **)&p, n * sizeof(T),
				cudaHostAllocMapped | cudaHostAllocPortable));
		else
			BN_CK(cudaMalloc((void **)&p, n * sizeof(T)));
		if (host)
			memset((void *)p, 0, n * sizeof(T));
		else
			BN_CK(cudaMemset(p, 0, n * sizeof(T)));
	}
	~bn_mem()
	{
		if (host)
			cudaFreeHost(p);
		else
			cudaFree(p);
	}
	bn_mem(const bn_mem &) = delete;
	bn_mem &operator=(const bn_mem &) = delete;
	void
	put(const T *from, size_t count)
	{
		BN_CK(cudaMemcpy(p, from, count * sizeof(T), cudaMemcpyDefault));
	}
	void
	get(T *to, size_t count, size_t from = 0) const
	{
		BN_CK(cudaMemcpy(to, p + from, count * sizeof(T), cudaMemcpyDefault));
	}
};

struct bn_stream {
	cudaStream_t s;
	bn_stream()
	{
		BN_CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	}
	~bn_stream()
	{
		cudaStreamDestroy(s);
	}
};

/* Runs fn; what it throws becomes words and -EIO. */
template <typename F>
static int
bn_guard(struct bn_result *out, F fn)
{
	memset(out, 0, sizeof(*out));
	try {
		fn();
		return 0;
	} catch (const std::exception &e) {
		snprintf(out->why, sizeof(out->why), "%s", e.what());
		cudaGetLastError();
		return -EIO;
	}
}

static inline void
bn_samples(struct bn_result *out, const std::vector<uint64_t> &v)
{
	out->sample = (uint64_t *)malloc((v.size() + 1) * sizeof(uint64_t));
	if (!out->sample)
		throw std::runtime_error("no memory");
	memcpy(out->sample, v.data(), v.size() * sizeof(uint64_t));
	out->nr_samples = (uint32_t)v.size();
}

#endif /* CRL_BENCH_CUDA_PRIV_H */
