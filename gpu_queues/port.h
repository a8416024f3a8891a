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

#endif /* CRL_PORT_H */
