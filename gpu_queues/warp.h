/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code for the 32 lanes of a warp, written once. On a GPU a warp is 32 threads that run this code
 * together; on the host one thread plays them, one lane after the other in an order that a test
 * chooses. Such code is a sequence of parts:
 *
 *   CRL_EACH_LANE(w, lane) { ... }    what each lane does, with no lane reading another's work
 *   crl_warp_first() ...              what one lane does for all, between two crl_warp_sync()
 *   everything else                   the same in all lanes, from values that are the same
 *
 * What a lane keeps from part to part is CRL_LANE(type, name)[CRL_AT(lane)]: a register on a GPU,
 * an array on the host. What passes between lanes goes through the functions below, or through
 * memory that all of them see with crl_warp_sync() between store and load.
 */
#ifndef CRL_WARP_H
#define CRL_WARP_H

#include "port.h"

#define CRL_WARP_LANES 32u

/* The order in which a host plays the lanes: lane (k * mul + add) % 32 is the k-th; mul is odd. */
struct crl_warp {
	uint32_t mul, add;
};

#if defined(__CUDA_ARCH__)

#define CRL_EACH_LANE(w, lane)                                                                     \
	for (uint32_t lane = threadIdx.x % CRL_WARP_LANES, crl_once = 1;                           \
		crl_once != 0 && lane < CRL_WARP_LANES; crl_once = 0)
#define CRL_LANE(type, name) type name[1]
#define CRL_AT(lane)	     0

#else

#define CRL_EACH_LANE(w, lane)                                                                     \
	for (uint32_t crl_k = 0, lane = (w)->add % CRL_WARP_LANES; crl_k < CRL_WARP_LANES;         \
		lane = (++crl_k * (w)->mul + (w)->add) % CRL_WARP_LANES)
#define CRL_LANE(type, name) type name[CRL_WARP_LANES]
#define CRL_AT(lane)	     (lane)

#endif

/* True in the one lane that acts for all; it is the same one each time. */
CRL_FN bool
crl_warp_first(void)
{
#if defined(__CUDA_ARCH__)
	return threadIdx.x % CRL_WARP_LANES == 0;
#else
	return true;
#endif
}

/* Lanes wait for each other; what one stored before it, the others load after it. */
CRL_FN void
crl_warp_sync(void)
{
#if defined(__CUDA_ARCH__)
	__syncwarp();
#endif
}

/* Bit i: lane i's v is not 0. */
CRL_FN uint32_t
crl_warp_ballot(const uint32_t *v)
{
#if defined(__CUDA_ARCH__)
	return __ballot_sync(~0u, v[0] != 0);
#else
	uint32_t lane, mask = 0;

	for (lane = 0; lane < CRL_WARP_LANES; lane++)
		mask |= (uint32_t)(v[lane] != 0) << lane;
	return mask;
#endif
}

/* Lane's v, in all lanes. */
CRL_FN uint32_t
crl_warp_get32(const uint32_t *v, uint32_t lane)
{
#if defined(__CUDA_ARCH__)
	return __shfl_sync(~0u, v[0], (int)lane);
#else
	return v[lane];
#endif
}

CRL_FN uint64_t
crl_warp_get64(const uint64_t *v, uint32_t lane)
{
#if defined(__CUDA_ARCH__)
	return __shfl_sync(~0u, (unsigned long long)v[0], (int)lane);
#else
	return v[lane];
#endif
}

/* The sum of all lanes' v; what it adds up to fits. */
CRL_FN uint32_t
crl_warp_sum(const uint32_t *v)
{
#if defined(__CUDA_ARCH__)
	return __reduce_add_sync(~0u, v[0]);
#else
	uint32_t lane, sum = 0;

	for (lane = 0; lane < CRL_WARP_LANES; lane++)
		sum += v[lane];
	return sum;
#endif
}

/* The largest of all lanes' v. */
CRL_FN uint32_t
crl_warp_max(const uint32_t *v)
{
#if defined(__CUDA_ARCH__)
	return __reduce_max_sync(~0u, v[0]);
#else
	uint32_t lane, max = 0;

	for (lane = 0; lane < CRL_WARP_LANES; lane++)
		max = v[lane] > max ? v[lane] : max;
	return max;
#endif
}

/* In each lane the sum of v over its group of n lanes in a row; n is a power of two, at least 2. */
CRL_FN void
crl_warp_sum_groups(uint32_t *v, uint32_t n)
{
#if defined(__CUDA_ARCH__)
	if (n == CRL_WARP_LANES) {
		v[0] = __reduce_add_sync(~0u, v[0]);
		return;
	}
	for (uint32_t m = n / 2u; m != 0; m /= 2u)
		v[0] += __shfl_xor_sync(~0u, v[0], (int)m);
#else
	uint32_t at, i, sum;

	for (at = 0; at < CRL_WARP_LANES; at += n) {
		for (i = sum = 0; i < n; i++)
			sum += v[at + i];
		for (i = 0; i < n; i++)
			v[at + i] = sum;
	}
#endif
}

CRL_FN uint32_t
crl_popcount(uint32_t v)
{
#if defined(__CUDA_ARCH__)
	return (uint32_t)__popc(v);
#else
	return (uint32_t)__builtin_popcount(v);
#endif
}

/* The place of the lowest bit that is set; 32: none is. */
CRL_FN uint32_t
crl_lowest(uint32_t v)
{
#if defined(__CUDA_ARCH__)
	return v != 0 ? (uint32_t)__ffs((int)v) - 1u : 32u;
#else
	return v != 0 ? (uint32_t)__builtin_ctz(v) : 32u;
#endif
}

/* How many lanes from lane 0 on have their bit set, without a gap. */
CRL_FN uint32_t
crl_leading(uint32_t mask)
{
	return crl_lowest(~mask);
}

/* Of the lanes in mask, how many come before this one. */
CRL_FN uint32_t
crl_rank(uint32_t mask, uint32_t lane)
{
	return crl_popcount(mask & ((1u << lane) - 1u));
}

/* Lanes 0 to n - 1. */
CRL_FN uint32_t
crl_lanes_below(uint32_t n)
{
	return n >= CRL_WARP_LANES ? ~0u : (1u << n) - 1u;
}

#endif /* CRL_WARP_H */
