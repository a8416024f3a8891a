/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the data path touches memory that a driver shares with it: rings, records, UAR pages. Loads
 * and stores of whole words only, each as strong as its comment says. Also what differs between the
 * host and a GPU for large functions and prefetching. Only this file of the data path has a
 * compiler #if.
 */
#ifndef SCX_DP_SHARED_H
#define SCX_DP_SHARED_H

#include <string.h>

#include "../../../gpu_queues/port.h"
#include "../../../gpu_queues/tsan.h"
#include "../../../gpu_queues/wire/be.h"

/* SCX_FN: a function of the data path; under nvcc the compiler may keep it a call, for they are
 * large. */
#if defined(__CUDACC__)
#define SCX_FN	 static __host__ __device__
#define SCX_SLOW static __host__ __device__ __noinline__
#else
#define SCX_FN	 static inline
#define SCX_SLOW static __attribute__((noinline, cold, unused))
#endif

#define SCX_LIKELY(x)	__builtin_expect(!!(x), 1)
#define SCX_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Whether the driver's memory is reached by a copy engine only: far.h. Never on a GPU. */
#if defined(__CUDA_ARCH__)
#define SCX_IS_FAR(dp) ((void)(dp), false)
#else
#define SCX_IS_FAR(dp) ((dp)->copy != NULL)
#endif

/* Relaxed: one load of the word, no order with other accesses. */
#if defined(CRL_TSAN)
#define SCX_LD(type, p)	   CRL_TSAN_LOAD((const type *)(p))
#define SCX_ST(type, p, v) CRL_TSAN_STORE((type *)(p), v)
#else
#define SCX_LD(type, p)	   (*(const volatile type *)(p))
#define SCX_ST(type, p, v) (*(volatile type *)(p) = (v))
#endif

CRL_FN uint32_t
scx_ld32(const void *p)
{
	return SCX_LD(uint32_t, p);
}

CRL_FN uint16_t
scx_ld16(const void *p)
{
	return *(const volatile uint16_t *)p;
}

CRL_FN uint64_t
scx_ld64(const void *p)
{
	return SCX_LD(uint64_t, p);
}

CRL_FN uint32_t
scx_ld_be32(const void *p)
{
	return crl_bswap32(scx_ld32(p));
}

/* A word in private or already checked memory, at any alignment. */
CRL_FN uint16_t
scx_get_be16(const uint8_t *p)
{
	return (uint16_t)((uint32_t)p[0] << 8 | p[1]);
}

CRL_FN void
scx_put_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Acquire: what the driver stored before this word is seen by later loads. Pairs with the driver's
 * barrier between WQEs and record, and between record and UAR. */
CRL_FN uint32_t
scx_ld32_acquire(const void *p)
{
#if defined(__CUDA_ARCH__)
	uint32_t v = scx_ld32(p);
	__threadfence_system();
	return v;
#else
	return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
#endif
}

/*
 * Acquire, and the word becomes 0: what a doorbell register was rung with, each value once. A plain
 * load comes first, so that an idle register costs no locked access.
 */
CRL_FN uint64_t
scx_take64(void *p)
{
	if (scx_ld64(p) == 0)
		return 0;
#if defined(__CUDA_ARCH__)
	unsigned long long v = atomicExch_system((unsigned long long *)p, 0ull);
	__threadfence_system();
	return v;
#else
	return __atomic_exchange_n((uint64_t *)p, 0, __ATOMIC_ACQUIRE);
#endif
}

/* Acquire, for words just read: what their writer stored before them is seen by later loads. */
CRL_FN void
scx_fence_acquire(void)
{
#if defined(__CUDA_ARCH__)
	__threadfence_system();
#elif defined(CRL_TSAN)
	CRL_TSAN_ACQUIRE("softcx", CRL_TSAN_LOADS);
#else
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/* Release, for a word about to be stored: who sees it sees all that was stored before. */
CRL_FN void
scx_fence_release(void)
{
#if defined(__CUDA_ARCH__)
	__threadfence_system();
#elif defined(CRL_TSAN)
	CRL_TSAN_RELEASE("softcx");
#else
	__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

/* Both, and a store before a load of something else: two parties that each tell and then look. */
CRL_FN void
scx_fence_both(void)
{
#if defined(__CUDA_ARCH__)
	__threadfence_system();
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Puts is where was stood; acquire, so that a lock's holder sees what the last one did. */
CRL_FN bool
scx_cas32(uint32_t *p, uint32_t was, uint32_t is)
{
#if defined(__CUDA_ARCH__)
	uint32_t old;

	__asm__ volatile("atom.acquire.gpu.cas.b32 %0, [%1], %2, %3;"
			 : "=r"(old)
			 : "l"(p), "r"(was), "r"(is)
			 : "memory");
	return old == was;
#else
	return __atomic_compare_exchange_n(
		p, &was, is, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
#endif
}

/* Counters that several add to. */
CRL_FN void
scx_add64(uint64_t *p, uint64_t v)
{
#if defined(__CUDA_ARCH__)
	atomicAdd((unsigned long long *)p, (unsigned long long)v);
#else
	__atomic_fetch_add(p, v, __ATOMIC_RELAXED);
#endif
}

/* For the loop that follows, on a GPU. */
#if defined(__CUDA_ARCH__)
#define SCX_PRAGMA(x) _Pragma(#x)
#define SCX_UNROLL(n) SCX_PRAGMA(unroll n)
#else
#define SCX_UNROLL(n)
#endif

/* Sixteen bytes in one access on a GPU, at an address that is a multiple of 16; relaxed. */
struct scx_16 {
	CRL_ALIGNAS(16) uint64_t q[2];
};

CRL_FN struct scx_16
scx_ld128(const void *p)
{
	struct scx_16 v;

#if defined(__CUDA_ARCH__)
	__asm__ volatile("ld.volatile.v2.u64 {%0, %1}, [%2];"
			 : "=l"(v.q[0]), "=l"(v.q[1])
			 : "l"(p)
			 : "memory");
#else
	v.q[0] = scx_ld64(p);
	v.q[1] = scx_ld64((const uint8_t *)p + 8);
#endif
	return v;
}

CRL_FN void
scx_st128(void *p, struct scx_16 v)
{
#if defined(__CUDA_ARCH__)
	__asm__ volatile("st.volatile.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(v.q[0]), "l"(v.q[1])
			 : "memory");
#else
	*(volatile uint64_t *)p = v.q[0];
	*(volatile uint64_t *)((uint8_t *)p + 8) = v.q[1];
#endif
}

CRL_FN void
scx_st32(void *p, uint32_t v)
{
	SCX_ST(uint32_t, p, v);
}

CRL_FN void
scx_st64(void *p, uint64_t v)
{
	SCX_ST(uint64_t, p, v);
}

/* Release: payload and the rest of the CQE are visible to whoever sees this word. Pairs with the
 * driver's barrier between reading the owner bit and reading the CQE. */
CRL_FN void
scx_st64_release(void *p, uint64_t v)
{
#if defined(__CUDA_ARCH__)
	__threadfence_system();
	scx_st64(p, v);
#else
	__atomic_store_n((uint64_t *)p, v, __ATOMIC_RELEASE);
#endif
}

CRL_FN void
scx_prefetch_read(const void *p)
{
#if !defined(__CUDA_ARCH__)
	__builtin_prefetch(p, 0, 3);
#else
	(void)p;
#endif
}

/* For a line that will be written: owned, not shared with the driver that read it last. Compilers
 * make the right instruction of the builtin only when told that the processor has it; on x86-64 it
 * is harmless where it is not known. */
CRL_FN void
scx_prefetch_write(const void *p)
{
#if defined(__CUDA_ARCH__)
	(void)p;
#elif defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1, 3);
#endif
}

/*
 * The same on a GPU, where memcpy() goes byte by byte because it cannot assume alignment: in pieces
 * as wide as both addresses allow.
 */
#if defined(__CUDA_ARCH__)
CRL_FN void
scx_copy_wide(uint8_t *d, const uint8_t *s, size_t n)
{
	size_t same = ((uintptr_t)d | (uintptr_t)s) & 15u, i = 0;

	if (same == 0) {
#pragma unroll 4
		for (; i + 16u <= n; i += 16u)
			*(uint4 *)(d + i) = *(const uint4 *)(s + i);
	}
	if ((same & 3u) == 0) {
#pragma unroll 8
		for (; i + 4u <= n; i += 4u)
			*(uint32_t *)(d + i) = *(const uint32_t *)(s + i);
	}
	if ((same & 1u) == 0) {
		for (; i + 2u <= n; i += 2u)
			*(uint16_t *)(d + i) = *(const uint16_t *)(s + i);
	}
	for (; i < n; i++)
		d[i] = s[i];
}
#endif

/*
 * n bytes between memory that does not overlap. Up to 128 bytes by a few moves of fixed size that
 * may overlap each other: a call of memcpy costs more than the frame at 64 bytes.
 */
CRL_FN void
scx_copy(void *dst, const void *src, size_t n)
{
	uint8_t *d = (uint8_t *)dst;
	const uint8_t *s = (const uint8_t *)src;

#if defined(__CUDA_ARCH__)
	scx_copy_wide(d, s, n);
	return;
#endif
	if (n >= 32 && n <= 64) {
		uint64_t a[4], b[4];

		memcpy(a, s, 32);
		memcpy(b, s + n - 32, 32);
		memcpy(d, a, 32);
		memcpy(d + n - 32, b, 32);
	} else if (n > 64 && n <= 128) {
		uint64_t a[8], b[8];

		memcpy(a, s, 64);
		memcpy(b, s + n - 64, 64);
		memcpy(d, a, 64);
		memcpy(d + n - 64, b, 64);
	} else {
		memcpy(d, s, n);
	}
}

#endif /* SCX_DP_SHARED_H */
