/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every access to memory that another party also touches: the NIC (rings, records, registers, CQEs,
 * packet bytes) or the other processor (control words, counters, mailbox). An access here happens
 * exactly once, whole, where it stands, and orders nothing: ordering is order.h's.
 *
 * Loads are volatile, which in CUDA is a system-scope relaxed access and never takes the read-only
 * path (ld.global.nc), whose copy would not see what the NIC wrote since. Addresses are multiples
 * of the access's width, except in packets, whose fields lie on even addresses: two bytes at most
 * there.
 */
#ifndef CRL_MEM_H
#define CRL_MEM_H

#include <sched.h>
#include <time.h>

#if !defined(__CUDACC__) && !defined(CLOCK_MONOTONIC)
#error "the bounds of waits need POSIX clocks: compile with -std=gnu11, or -D_GNU_SOURCE"
#endif

#include "port.h"
#include "tsan.h"
#include "wire/be.h"

typedef uint16_t CRL_MAY_ALIAS crl_mem16;
typedef uint32_t CRL_MAY_ALIAS crl_mem32;
typedef uint64_t CRL_MAY_ALIAS crl_mem64;

/* Packet bytes as the host loads them: whole, from any even address. */
struct CRL_MAY_ALIAS __attribute__((__packed__, __aligned__(2))) crl_pkt64 {
	uint64_t v;
};

/* Sixteen bytes, what one store to a ring writes. */
struct CRL_MAY_ALIAS crl_seg {
	CRL_ALIGNAS(16) uint64_t q[2];
};
CRL_STATIC_ASSERT(sizeof(struct crl_seg) == 16, "a WQE segment");

#if defined(CRL_TSAN)
#define CRL_LD(type, p)	   CRL_TSAN_LOAD((const type *)(p))
#define CRL_ST(type, p, v) CRL_TSAN_STORE((type *)(p), v)
#define CRL_CAS(type, p, was, is)                                                                  \
	do {                                                                                       \
		bool crl_done = CRL_TSAN_CAS((type *)(p), &(was), is);                             \
                                                                                                   \
		crl_tsan_note(p);                                                                  \
		return crl_done;                                                                   \
	} while (0)
#else
#define CRL_LD(type, p)	   (*(const volatile type *)(p))
#define CRL_ST(type, p, v) (*(volatile type *)(p) = (v))
#define CRL_CAS(type, p, was, is)                                                                  \
	return __atomic_compare_exchange_n(                                                        \
		(type *)(p), &(was), is, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#endif

CRL_FN uint8_t
crl_ld8(const void *p)
{
	return CRL_LD(uint8_t, p);
}

CRL_FN uint16_t
crl_ld16(const void *p)
{
	return CRL_LD(crl_mem16, p);
}

CRL_FN uint32_t
crl_ld32(const void *p)
{
	return CRL_LD(crl_mem32, p);
}

CRL_FN uint64_t
crl_ld64(const void *p)
{
	return CRL_LD(crl_mem64, p);
}

/* Eight bytes of a packet, from an even address: on a GPU four loads, on the host one. */
CRL_FN uint64_t
crl_ld_pkt64(const uint8_t *p)
{
#if defined(__CUDA_ARCH__)
	return (uint64_t)crl_ld16(p) | (uint64_t)crl_ld16(p + 2) << 16 |
	       (uint64_t)crl_ld16(p + 4) << 32 | (uint64_t)crl_ld16(p + 6) << 48;
#else
	return ((const volatile struct crl_pkt64 *)p)->v;
#endif
}

CRL_FN void
crl_st8(void *p, uint8_t v)
{
	CRL_ST(uint8_t, p, v);
}

CRL_FN void
crl_st16(void *p, uint16_t v)
{
	CRL_ST(crl_mem16, p, v);
}

CRL_FN void
crl_st32(void *p, uint32_t v)
{
	CRL_ST(crl_mem32, p, v);
}

CRL_FN void
crl_st64(void *p, uint64_t v)
{
	CRL_ST(crl_mem64, p, v);
}

/* Wire words: in a packet or a CQE as they lie there. */
CRL_FN uint16_t
crl_ld_be16(const void *p)
{
	return crl_bswap16(crl_ld16(p));
}

CRL_FN uint32_t
crl_ld_be32(const void *p)
{
	return crl_bswap32(crl_ld32(p));
}

CRL_FN void
crl_st_be16(void *p, uint16_t v)
{
	crl_st16(p, crl_bswap16(v));
}

CRL_FN void
crl_st_be32(void *p, uint32_t v)
{
	crl_st32(p, crl_bswap32(v));
}

/* One 16-byte store to a ring: dst is aligned to 16. */
CRL_FN void
crl_st_seg(void *dst, struct crl_seg s)
{
#if defined(__CUDA_ARCH__)
	__asm__ volatile("st.v2.b64 [%0], {%1, %2};" ::"l"(dst), "l"(s.q[0]), "l"(s.q[1])
			 : "memory");
#else
	*(struct crl_seg *)dst = s;
#endif
}

/* Sixteen bytes of a packet, aligned to 16. */
CRL_FN struct crl_seg
crl_ld_seg(const void *src)
{
#if defined(__CUDA_ARCH__)
	struct crl_seg s;

	__asm__ volatile("ld.volatile.v2.b64 {%0, %1}, [%2];"
			 : "=l"(s.q[0]), "=l"(s.q[1])
			 : "l"(src)
			 : "memory");
	return s;
#else
	return *(const struct crl_seg *)src;
#endif
}

/*
 * The doorbell: one eight-byte store to a NIC register. In CUDA a .mmio store, which the GPU
 * neither merges nor repeats; on the host an ordinary aligned store to a mapping that is not
 * write-back.
 */
CRL_FN void
crl_st_mmio64(void *reg, uint64_t v)
{
#if defined(__CUDA_ARCH__)
	__asm__ volatile("st.mmio.relaxed.sys.global.u64 [%0], %1;" ::"l"(reg), "l"(v) : "memory");
#else
	CRL_ST(crl_mem64, reg, v);
#endif
}

/* Puts is where was stood, whole; false: something else stood there. Orders nothing either. */
CRL_FN bool
crl_cas32(void *p, uint32_t was, uint32_t is)
{
#if defined(__CUDA_ARCH__)
	return atomicCAS_system((unsigned int *)p, was, is) == was;
#else
	CRL_CAS(crl_mem32, p, was, is);
#endif
}

CRL_FN bool
crl_cas64(void *p, uint64_t was, uint64_t is)
{
#if defined(__CUDA_ARCH__)
	return atomicCAS_system((unsigned long long *)p, was, is) == was;
#else
	CRL_CAS(crl_mem64, p, was, is);
#endif
}

/* Adds; the value before. Orders nothing. */
CRL_FN uint32_t
crl_add32(void *p, uint32_t n)
{
#if defined(__CUDA_ARCH__)
	return atomicAdd_system((unsigned int *)p, n);
#else
	return __atomic_fetch_add((crl_mem32 *)p, n, __ATOMIC_RELAXED);
#endif
}

CRL_FN uint64_t
crl_add64(void *p, uint64_t n)
{
#if defined(__CUDA_ARCH__)
	return atomicAdd_system((unsigned long long *)p, n);
#else
	return __atomic_fetch_add((crl_mem64 *)p, n, __ATOMIC_RELAXED);
#endif
}

/* Copies n bytes, a multiple of 4 on aligned addresses, where at least one side is shared. */
CRL_FN void
crl_copy32(void *dst, const void *src, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i += 4u)
		crl_st32((uint8_t *)dst + i, crl_ld32((const uint8_t *)src + i));
}

/* Steps of a clock that is cheap to read, on a GPU: its multiprocessor's. On a host it stands. */
CRL_FN uint64_t
crl_ticks(void)
{
#if defined(__CUDA_ARCH__)
	return (uint64_t)clock64();
#else
	return 0;
#endif
}

/* Nanoseconds of a clock that only rises; for bounds of waits, on the processor that waits. */
CRL_FN uint64_t
crl_now_ns(void)
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

/* When a wait of so many nanoseconds that begins now is over; however long it is, not before. */
CRL_FN uint64_t
crl_until(uint64_t now, uint64_t wait_ns)
{
	return wait_ns < UINT64_MAX - now ? now + wait_ns : UINT64_MAX;
}

/* Between two looks at memory that has not changed: leaves the core or the SM to its neighbours. */
CRL_FN void
crl_relax(void)
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

/*
 * The same, waiting for another thread, at the tries-th look in a row: that thread may have lost
 * its core to us, and gets it back only when we let go of it. A GPU's warps have theirs for good.
 */
#define CRL_PAUSES 64u
CRL_FN void
crl_give_way(uint32_t tries)
{
#if !defined(__CUDA_ARCH__)
	if (tries >= CRL_PAUSES) {
		sched_yield();
		return;
	}
#endif
	(void)tries;
	crl_relax();
}

#endif /* CRL_MEM_H */
