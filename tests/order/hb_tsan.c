/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What gcc's -fsanitize=thread calls before each access, in place of its own library. With --param
 * tsan-distinguish-volatile=1 the accesses of mem.h come as volatile ones. Atomic operations are
 * carried out here, each whole and then ordered by nothing: order.h is what orders.
 */
#include <string.h>

#include "coop.h"
#include "hb.h"

#define HERE __builtin_return_address(0)

#define ACCESS(n)                                                                                  \
	void __tsan_read##n(void *p);                                                              \
	void __tsan_write##n(void *p);                                                             \
	void __tsan_unaligned_read##n(void *p);                                                    \
	void __tsan_unaligned_write##n(void *p);                                                   \
	void __tsan_volatile_read##n(void *p);                                                     \
	void __tsan_volatile_write##n(void *p);                                                    \
	void __tsan_unaligned_volatile_read##n(void *p);                                           \
	void __tsan_unaligned_volatile_write##n(void *p);                                          \
	void __tsan_read##n(void *p)                                                               \
	{                                                                                          \
		hb_access(p, n, false, false, HERE);                                               \
	}                                                                                          \
	void __tsan_write##n(void *p)                                                              \
	{                                                                                          \
		hb_access(p, n, true, false, HERE);                                                \
	}                                                                                          \
	void __tsan_unaligned_read##n(void *p)                                                     \
	{                                                                                          \
		hb_access(p, n, false, false, HERE);                                               \
	}                                                                                          \
	void __tsan_unaligned_write##n(void *p)                                                    \
	{                                                                                          \
		hb_access(p, n, true, false, HERE);                                                \
	}                                                                                          \
	void __tsan_volatile_read##n(void *p)                                                      \
	{                                                                                          \
		hb_access(p, n, false, true, HERE);                                                \
	}                                                                                          \
	void __tsan_volatile_write##n(void *p)                                                     \
	{                                                                                          \
		hb_access(p, n, true, true, HERE);                                                 \
	}                                                                                          \
	void __tsan_unaligned_volatile_read##n(void *p)                                            \
	{                                                                                          \
		hb_access(p, n, false, true, HERE);                                                \
	}                                                                                          \
	void __tsan_unaligned_volatile_write##n(void *p)                                           \
	{                                                                                          \
		hb_access(p, n, true, true, HERE);                                                 \
	}

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_init(void);
void __tsan_func_entry(void *pc);
void __tsan_func_exit(void);
void __tsan_read_range(void *p, unsigned long n);
void __tsan_write_range(void *p, unsigned long n);

void
__tsan_init(void)
{
}

void
__tsan_func_entry(void *pc)
{
	(void)pc;
}

void
__tsan_func_exit(void)
{
}

void
__tsan_read_range(void *p, unsigned long n)
{
	hb_access(p, n, false, false, HERE);
}

void
__tsan_write_range(void *p, unsigned long n)
{
	hb_access(p, n, true, false, HERE);
}

/* Code under test that moves bytes by libc, where no hook sees them, is compiled to call these. */
void *hb_memcpy(void *to, const void *from, size_t n);
void *hb_memset(void *to, int c, size_t n);
/* And its memory is judged too. */
void *hb_calloc(size_t n, size_t bytes);
void *hb_aligned_alloc(size_t align, size_t bytes);
void hb_free(void *p);

void *
hb_memcpy(void *to, const void *from, size_t n)
{
	hb_access(to, n, true, false, HERE);
	hb_access((void *)(uintptr_t)from, n, false, false, HERE); /* last: adv.h's old bytes */
	return memcpy(to, from, n);
}

void *
hb_memset(void *to, int c, size_t n)
{
	hb_access(to, n, true, false, HERE);
	return memset(to, c, n);
}

void *
hb_calloc(size_t n, size_t bytes)
{
	return hb_alloc(HB_DATA, n * bytes, "memory of the engine's run");
}

void *
hb_aligned_alloc(size_t align, size_t bytes)
{
	(void)align; /* 64 */
	return hb_alloc(HB_DATA, bytes, "stream");
}

void
hb_free(void *p)
{
	size_t bytes = hb_region_bytes(p);

	/* Goes with the arena; and is gone for all others: as good as a store to all of it. */
	if (bytes != 0)
		hb_access(p, bytes, true, false, HERE);
}

/* Of an atomic operation that has looked already: nobody runs between look and store. */
static void
exchange(void *p, size_t n, void *pc)
{
	sched_hold(true);
	hb_rmw = true;
	hb_access(p, n, true, true, pc);
	hb_rmw = false;
	sched_hold(false);
}

#define ATOMIC(bits, type)                                                                         \
	type __tsan_atomic##bits##_load(const volatile type *p, int mo);                           \
	void __tsan_atomic##bits##_store(volatile type *p, type v, int mo);                        \
	type __tsan_atomic##bits##_fetch_add(volatile type *p, type v, int mo);                    \
	int __tsan_atomic##bits##_compare_exchange_strong(                                         \
		volatile type *p, type *was, type v, int mo, int fail);                            \
	type __tsan_atomic##bits##_load(const volatile type *p, int mo)                            \
	{                                                                                          \
		(void)mo;                                                                          \
		hb_access((void *)(uintptr_t)p, sizeof(type), false, true, HERE);                  \
		return *p;                                                                         \
	}                                                                                          \
	void __tsan_atomic##bits##_store(volatile type *p, type v, int mo)                         \
	{                                                                                          \
		(void)mo;                                                                          \
		hb_access((void *)(uintptr_t)p, sizeof(type), true, true, HERE);                   \
		*p = v;                                                                            \
	}                                                                                          \
	type __tsan_atomic##bits##_fetch_add(volatile type *p, type v, int mo)                     \
	{                                                                                          \
		type was;                                                                          \
                                                                                                   \
		(void)mo;                                                                          \
		hb_access((void *)(uintptr_t)p, sizeof(type), false, true, HERE);                  \
		exchange((void *)(uintptr_t)p, sizeof(type), HERE);                                \
		was = *p;                                                                          \
		*p = was + v;                                                                      \
		return was;                                                                        \
	}                                                                                          \
	int __tsan_atomic##bits##_compare_exchange_strong(                                         \
		volatile type *p, type *was, type v, int mo, int fail)                             \
	{                                                                                          \
		(void)mo;                                                                          \
		(void)fail;                                                                        \
		hb_access((void *)(uintptr_t)p, sizeof(type), false, true, HERE);                  \
		if (*p != *was) {                                                                  \
			*was = *p;                                                                 \
			return 0;                                                                  \
		}                                                                                  \
		exchange((void *)(uintptr_t)p, sizeof(type), HERE);                                \
		*p = v;                                                                            \
		return 1;                                                                          \
	}

ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
