/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heap of the sources under test: the linker sends their calls here (--wrap), where blocks are
 * counted, one of them can be refused, and each has bytes that are not zero behind its end. To be
 * included by one file of a test. One thread.
 */
#ifndef CRL_TEST_HEAP_H
#define CRL_TEST_HEAP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_GUARD 64u

static long heap_live;
static unsigned heap_fail_at; /* 1: the next */

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *
__wrap_malloc(size_t bytes)
{
	uint8_t *p;

	if (heap_fail_at != 0 && --heap_fail_at == 0)
		return NULL;
	p = __real_malloc(bytes + HEAP_GUARD);
	if (p == NULL)
		abort();
	memset(p, 0xa5, bytes);
	memset(p + bytes, 0x5a, HEAP_GUARD);
	heap_live++;
	return p;
}

void *__wrap_calloc(size_t n, size_t bytes);
void *
__wrap_calloc(size_t n, size_t bytes)
{
	void *p = __wrap_malloc(n * bytes);

	return p != NULL ? memset(p, 0, n * bytes) : NULL;
}

void __real_free(void *p);
void __wrap_free(void *p);
void
__wrap_free(void *p)
{
	heap_live -= p != NULL;
	__real_free(p);
}

#endif /* CRL_TEST_HEAP_H */
