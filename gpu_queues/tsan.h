/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The edges of order.h in words that ThreadSanitizer understands. It knows no fences, only atomic
 * accesses; so under -fsanitize=thread the accesses of mem.h are relaxed atomics, and an edge says
 * what those around it carry: an acquire, what was loaded since the acquire before; a release, the
 * stores that follow it up to this thread's next load. That is less than a fence promises, so that
 * an edge left out is not covered by one that stood earlier. Each file has a state of its own,
 * which is enough, as an edge and its accesses stand in one.
 *
 * The happens-before checker (tests/order) compiles with the same option and has its own order.h,
 * which says CRL_NO_TSAN. No GPU code comes here.
 */
#ifndef CRL_TSAN_H
#define CRL_TSAN_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1 /* clang's word for it */
#endif
#endif

#if !defined(__SANITIZE_THREAD__) || defined(CRL_NO_TSAN) || defined(__CUDACC__)
#define CRL_TSAN_ACQUIRE(edge, back) ((void)0)
#define CRL_TSAN_RELEASE(edge)	     ((void)0)
#else
#define CRL_TSAN		     1
#define CRL_TSAN_ACQUIRE(edge, back) crl_tsan_acquire(edge, back)
#define CRL_TSAN_RELEASE(edge)	     crl_tsan_release(edge)

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <sanitizer/tsan_interface.h>

#define CRL_TSAN_LOADS 256u /* since the last acquire; what is older is forgotten */

struct crl_tsan_state {
	const void *loaded[CRL_TSAN_LOADS];
	uint32_t nr;
	bool release;
};

static __thread struct crl_tsan_state crl_tsan __attribute__((unused));

/* The name of an edge that a test leaves out, NULL: none. */
#if defined(CRL_TSAN_DROP)
extern const char *CRL_TSAN_DROP;
#endif

static inline bool
crl_tsan_dropped(const char *edge)
{
#if defined(CRL_TSAN_DROP)
	return CRL_TSAN_DROP && strcmp(CRL_TSAN_DROP, edge) == 0;
#else
	(void)edge;
	return false;
#endif
}

/* back: loads that belong to the edge, the last ones before it; those before them are forgotten. */
static inline void
crl_tsan_acquire(const char *edge, uint32_t back)
{
	uint32_t i, n = crl_tsan.nr < back ? crl_tsan.nr : back;
	uintptr_t at;

	for (i = 0; i < n && !crl_tsan_dropped(edge); i++) {
		at = (uintptr_t)crl_tsan.loaded[--crl_tsan.nr % CRL_TSAN_LOADS];
		__tsan_acquire((void *)at);
		/* A CQE's tail is half of the word that the NIC stores. */
		__tsan_acquire((void *)(at & ~(uintptr_t)7));
	}
	crl_tsan.nr = 0;
}

static inline void
crl_tsan_release(const char *edge)
{
	crl_tsan.release = !crl_tsan_dropped(edge);
}

static inline void
crl_tsan_note(const void *p)
{
	crl_tsan.loaded[crl_tsan.nr++ % CRL_TSAN_LOADS] = p;
	crl_tsan.release = false;
}

/* One access of mem.h, of any width. The widths' own orders are constants for the compiler. */
#define CRL_TSAN_LOAD(p)                                                                           \
	__extension__({                                                                            \
		__typeof__(*(p)) crl_v = __atomic_load_n(p, __ATOMIC_RELAXED);                     \
		crl_tsan_note((const void *)(p));                                                  \
		crl_v;                                                                             \
	})
#define CRL_TSAN_STORE(p, v)                                                                       \
	do {                                                                                       \
		if (crl_tsan.release)                                                              \
			__atomic_store_n(p, v, __ATOMIC_RELEASE);                                  \
		else                                                                               \
			__atomic_store_n(p, v, __ATOMIC_RELAXED);                                  \
	} while (0)
#define CRL_TSAN_CAS(p, was, is)                                                                   \
	(crl_tsan.release ? __atomic_compare_exchange_n(                                           \
				    p, was, is, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)         \
			  : __atomic_compare_exchange_n(                                           \
				    p, was, is, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))

#endif
#endif /* CRL_TSAN_H */
