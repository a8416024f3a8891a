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
#include <time.h>

#if defined(__CUDACC__)
#define CRL_FN static __host__ __device__ __forceinline__
#else
#define CRL_FN static inline
#endif

#if defined(__cplusplus)
#define CRL_STATIC_ASSERT(cond, why) static_assert(cond, why)
#define CRL_ALIGNAS(n)		     alignas(n)
#else
#define CRL_STATIC_ASSERT(cond, why) _Static_assert(cond, why)
#define CRL_ALIGNAS(n)		     _Alignas(n)
#endif

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

/* Nanoseconds of a clock that only rises; for bounds of waits, on the processor that waits. */
CRL_FN uint64_t crl_now_ns(void)
{
#if defined(__CUDA_ARCH__)
	uint64_t ns;

	__asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
#else
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
#endif
}

/* Between two looks at memory that has not changed: leaves the core or the SM to its neighbours. */
CRL_FN void crl_relax(void)
{
#if defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ >= 700
	__nanosleep(64);
#endif
#elif defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif /* CRL_PORT_H */
