/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all fuzz targets share: a reader that makes operations out of the fuzzer's bytes, and the
 * way a target says that something is wrong. A target is one file with LLVMFuzzerTestOneInput();
 * clang links it with libFuzzer, gcc with replay.c, which runs the kept inputs.
 */
#ifndef CRL_FUZZ_FZ_H
#define CRL_FUZZ_FZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The oracle's verdict: a crash, which libFuzzer keeps the input of. */
#define FZ_MUST(cond, ...)                                                                         \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #cond);         \
			fprintf(stderr, __VA_ARGS__);                                              \
			fputc('\n', stderr);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* A function of an oracle: what it compares is nothing to learn from, and costs. */
#if defined(__clang__)
#define FZ_BLIND __attribute__((no_sanitize("coverage"), noinline))
#else
#define FZ_BLIND
#endif

/* The rest of the input. Beyond its end there are zeros. */
struct fz {
	const uint8_t *p;
	size_t n;
};

static inline uint8_t
fz_u8(struct fz *f)
{
	if (f->n == 0)
		return 0;
	f->n--;
	return *f->p++;
}

static inline uint16_t
fz_u16(struct fz *f)
{
	uint16_t v = fz_u8(f);

	return (uint16_t)(v << 8 | fz_u8(f));
}

static inline uint32_t
fz_u32(struct fz *f)
{
	uint32_t v = fz_u16(f);

	return v << 16 | fz_u16(f);
}

static inline uint64_t
fz_u64(struct fz *f)
{
	uint64_t v = fz_u32(f);

	return v << 32 | fz_u32(f);
}

/* One of n choices, n <= 256. */
static inline uint32_t
fz_below(struct fz *f, uint32_t n)
{
	return fz_u8(f) % n;
}

/* One chance in n. */
static inline bool
fz_rarely(struct fz *f, uint32_t n)
{
	return fz_below(f, n) == n - 1;
}

/* Up to n bytes into to; what the input does not have is zero. */
static inline void
fz_bytes(struct fz *f, void *to, size_t n)
{
	size_t have = n < f->n ? n : f->n;

	if (have > 0)
		memcpy(to, f->p, have);
	memset((uint8_t *)to + have, 0, n - have);
	f->p += have;
	f->n -= have;
}

/* A length: mostly short, often at an edge, at most max. */
static inline uint32_t
fz_len(struct fz *f, uint32_t max)
{
	uint32_t how = fz_u8(f), v;

	switch (how & 7u) {
	case 0:
		v = 60u + (how >> 3);
		break;
	case 1:
		v = fz_u16(f);
		break;
	case 2:
		v = max - (how >> 3);
		break;
	default:
		v = fz_u8(f);
		break;
	}
	return v <= max ? v : max == 0 ? 0 : v % (max + 1u);
}

/* Memory without a byte to spare, so that the sanitizer sees each access beside it. */
static inline void *
fz_alloc(size_t align, size_t n)
{
	void *p = NULL;

	FZ_MUST(posix_memalign(&p, align, n ? n : 1) == 0, "%zu bytes", n);
	memset(p, 0, n);
	return p;
}

/* Bytes that are the same in every run and differ from place to place. */
static inline void
fz_pattern(uint8_t *p, size_t n, uint32_t seed)
{
	uint32_t x = seed * 2654435761u | 1u;
	size_t i;

	for (i = 0; i < n; i++) {
		x = x * 1664525u + 1013904223u;
		p[i] = (uint8_t)(x >> 24);
	}
}

#endif /* CRL_FUZZ_FZ_H */
