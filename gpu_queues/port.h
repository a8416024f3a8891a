/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What differs between the compilers that read these headers: gcc and clang as C11, g++ as C++17,
 * nvcc as CUDA C++. Besides mem.h and order.h, this is the only file with a compiler #if.
 *
 * CRL_FN marks a function of the data path: on the host a static inline, under nvcc one body for
 * both processors, so that the code a GPU runs is the code the host tests judge.
 */
#ifndef CRL_PORT_H
#define CRL_PORT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define CRL_FN static __host__ __device__ __forceinline__
#else
#define CRL_FN static inline
#endif

/* Before a loop, in kernels: so many turns at once. A host's compiler knows best. */
#if defined(__CUDA_ARCH__)
#define CRL_UNROLL(n) _Pragma(CRL_WORDS(unroll n))
#define CRL_WORDS(x)  #x
#else
#define CRL_UNROLL(n)
#endif

#if defined(__cplusplus)
#define CRL_STATIC_ASSERT(cond, why) static_assert(cond, why)
#define CRL_ALIGNAS(n)		     alignas(n)
#else
#define CRL_STATIC_ASSERT(cond, why) _Static_assert(cond, why)
#define CRL_ALIGNAS(n)		     _Alignas(n)
#endif

/*
 * Four bytes out of the eight of b:a: byte i of the result is the one that nibble i of sel names, 0
 * to 3 of a, 4 to 7 of b. One instruction of a GPU: swaps bytes and chooses between words at once.
 */
CRL_FN uint32_t
crl_perm(uint32_t a, uint32_t b, uint32_t sel)
{
#if defined(__CUDA_ARCH__)
	return __byte_perm(a, b, sel);
#else
	uint64_t ab = (uint64_t)b << 32 | a;
	uint32_t i, r = 0;

	for (i = 0; i < 4u; i++)
		r |= (uint32_t)(ab >> 8u * (sel >> 4u * i & 7u) & 0xffu) << 8u * i;
	return r;
#endif
}

/* A type whose accesses may touch memory that other types name too: rings are bytes to their owner.
 */
#define CRL_MAY_ALIAS __attribute__((__may_alias__))

/* Both sides of an interface are asserted: on the host always, in kernels only what the compiler
 * sees. */
#if defined(__CUDA_ARCH__)
#define CRL_ASSERT(cond) ((void)0)
#else
#define CRL_ASSERT(cond) assert(cond)
#endif

/* For what both processors compile and only one of them needs. */
#if defined(__CUDA_ARCH__)
#define CRL_ON_GPU 1
#else
#define CRL_ON_GPU 0
#endif

#endif /* CRL_PORT_H */
