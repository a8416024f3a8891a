/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mover for tests without a GPU: see far.h for what any mover may do; this one does all of it, by
 * a seed. A move waits until somebody waits for it or chance has it begin, and its words of eight
 * bytes go over in an order that chance picks, with pauses between them for whoever looks on.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "far.h"

#define MOVES_MAX 4096u
#define CHANCE	  4u  /* one turn in so many moves something */
#define PAUSES	  64u /* one word in so many is followed by a pause */

struct move {
	uint8_t *dst;
	const uint8_t *src;
	size_t bytes;
	bool to_there;
};

struct seeded {
	struct scx_mover mover;
	uint64_t seed;
	void (*seen)(void *arg); /* or NULL */
	void *seen_arg;
	unsigned head, nr;
	struct move move[MOVES_MAX];
};

static uint32_t
rnd(struct seeded *s)
{
	s->seed = s->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(s->seed >> 33);
}

/* One word at a multiple of eight over there, or what of it is part of the move. */
static void
word(const struct move *m, size_t first, size_t k)
{
	size_t from = k == 0 ? 0 : first + (k - 1) * 8, to = first + k * 8, n;

	n = to < m->bytes ? to - from : m->bytes - from;
	if (n == 8 && ((uintptr_t)(m->dst + from) | (uintptr_t)(m->src + from)) % 8 == 0) {
		uint64_t v = __atomic_load_n((const uint64_t *)(m->src + from), __ATOMIC_RELAXED);

		__atomic_store_n((uint64_t *)(m->dst + from), v, __ATOMIC_RELAXED);
		return;
	}
	for (; n > 0; n--, from++)
		__atomic_store_n(m->dst + from, __atomic_load_n(m->src + from, __ATOMIC_RELAXED),
			__ATOMIC_RELAXED);
}

/* The words of a move, each once: k = (start + i * step) mod nr, step and nr without a common
 * divisor. */
static void
do_move(struct seeded *s, const struct move *m)
{
	uintptr_t far = (uintptr_t)(m->to_there ? m->dst : m->src);
	size_t first = far % 8 == 0 ? 0 : 8 - far % 8, nr, step, i, k;

	first = first < m->bytes ? first : m->bytes;
	nr = 1 + (m->bytes - first + 7) / 8;
	k = rnd(s) % nr;
	step = 1 + rnd(s) % nr;
	for (;;) {
		size_t a = nr, b = step % nr, r;

		for (; b != 0; a = b, b = r)
			r = a % b;
		if (a == 1 || nr == 1)
			break;
		step++;
	}
	for (i = 0; i < nr; i++, k = (k + step) % nr) {
		word(m, first, k);
		if (s->seen != NULL)
			s->seen(s->seen_arg);
		if (rnd(s) % PAUSES == 0)
			sched_yield();
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* the next one begins after this one's end */
}

static void
first_of_all(struct seeded *s)
{
	const struct move m = s->move[s->head];

	do_move(s, &m);
	s->head = (s->head + 1) % MOVES_MAX;
	s->nr--;
}

static int
wait_all(void *arg)
{
	struct seeded *s = arg;

	while (s->nr > 0)
		first_of_all(s);
	return 0;
}

static unsigned
turn(void *arg)
{
	struct seeded *s = arg;

	while (s->nr > 0 && rnd(s) % CHANCE == 0)
		first_of_all(s);
	return s->nr;
}

static int
ask(struct seeded *s, void *dst, const void *src, size_t bytes, bool to_there)
{
	if (s->nr == MOVES_MAX)
		first_of_all(s);
	s->move[(s->head + s->nr++) % MOVES_MAX] = (struct move){dst, src, bytes, to_there};
	turn(s);
	return 0;
}

static int
to_here(void *arg, void *here, const void *there, size_t bytes)
{
	return ask(arg, here, there, bytes, false);
}

static int
to_there(void *arg, void *there, const void *here, size_t bytes)
{
	return ask(arg, there, here, bytes, true);
}

/* Filled with what no ring holds, so that what was not brought over is noticed. */
static void *
alloc(void *arg, size_t bytes)
{
	void *p = NULL;

	(void)arg;
	if (posix_memalign(&p, 4096, (bytes + 4095) & ~(size_t)4095) != 0)
		return NULL;
	memset(p, 0xa5, bytes);
	return p;
}

static void
release(void *arg, void *here)
{
	(void)arg;
	free(here);
}

static const char *
why(void *arg)
{
	(void)arg;
	return "it does not fail";
}

static void
end(void *arg)
{
	free(arg);
}

void
scx_mover_seeded_watch(const struct scx_mover *mover, void (*seen)(void *arg), void *arg)
{
	struct seeded *s = mover->arg;

	s->seen = seen;
	s->seen_arg = arg;
}

struct scx_mover *
scx_mover_seeded(uint64_t seed)
{
	struct seeded *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->seed = seed;
	s->mover = (struct scx_mover){
		.where = "a copy engine's stand-in",
		.device = -1,
		.arg = s,
		.to_here = to_here,
		.to_there = to_there,
		.wait = wait_all,
		.turn = turn,
		.alloc = alloc,
		.release = release,
		.why = why,
		.end = end,
	};
	return &s->mover;
}
