/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two wires without a network: the loopback, whose one end receives what it sent, and a cable,
 * which is two such queues crosswise. Frames are copied into a ring of bytes that one thread writes
 * and one (perhaps the same) reads; a full ring takes no more, and the sender offers the frame
 * again.
 *
 * A NIC on a plain loopback does not come here: its data path hands frames over itself.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../wire.h"

#define PIPE_BYTES    (1u << 20) /* power of two; holds 64 frames of 16 KiB */
#define PIPE_MASK     (PIPE_BYTES - 1u)
#define SKIP_TO_START 0xffffffffu

/* Each frame is a header of 8 bytes and its bytes, both at a multiple of 8 and not split by the
 * end. */
struct head {
	uint32_t len; /* or SKIP_TO_START: the next one is at offset 0 */
	uint32_t flags;
};

struct pipe {
	_Atomic uint32_t refs;		    /* ends that are open */
	_Alignas(64) _Atomic uint64_t tail; /* written; both run freely */
	_Alignas(64) _Atomic uint64_t head; /* given back */
	_Alignas(64) uint8_t bytes[PIPE_BYTES];
};

struct end {
	struct scx_wire wire;
	struct pipe *out, *in;
	uint64_t lent; /* up to here recv() handed frames out, which the next recv() gives back */
};

static uint32_t
frame_room(uint32_t len)
{
	return (uint32_t)sizeof(struct head) + ((len + 7u) & ~7u);
}

static unsigned
end_send(struct scx_wire *w, const struct scx_frame *f, unsigned nr)
{
	struct pipe *p = ((struct end *)w)->out;
	uint64_t tail = atomic_load_explicit(&p->tail, memory_order_relaxed);
	/* pairs with the release of head in end_recv(): the reader is done with those bytes */
	uint64_t head = atomic_load_explicit(&p->head, memory_order_acquire);
	unsigned i;

	for (i = 0; i < nr; i++) {
		uint32_t need = frame_room(f[i].len), at = tail & PIPE_MASK, skip;
		struct head h = {f[i].len, f[i].flags};

		skip = at + need > PIPE_BYTES ? PIPE_BYTES - at : 0;
		if (tail + skip + need - head > PIPE_BYTES)
			break;
		if (skip != 0) {
			struct head s = {SKIP_TO_START, 0};

			memcpy(p->bytes + at, &s, sizeof(s));
			tail += skip;
			at = 0;
		}
		memcpy(p->bytes + at, &h, sizeof(h));
		memcpy(p->bytes + at + sizeof(h), f[i].data, f[i].len);
		tail += need;
	}
	/* release: frames before the index that shows them; pairs with the acquire in end_recv() */
	atomic_store_explicit(&p->tail, tail, memory_order_release);
	return i;
}

static unsigned
end_recv(struct scx_wire *w, struct scx_frame *f, unsigned nr)
{
	struct end *e = (struct end *)w;
	struct pipe *p = e->in;
	uint64_t tail = atomic_load_explicit(&p->tail, memory_order_acquire), head = e->lent;
	unsigned i = 0;

	atomic_store_explicit(&p->head, head, memory_order_release);
	while (i < nr && head != tail) {
		uint32_t at = head & PIPE_MASK;
		struct head h;

		memcpy(&h, p->bytes + at, sizeof(h));
		if (h.len == SKIP_TO_START) {
			head += PIPE_BYTES - at;
			continue;
		}
		f[i].data = p->bytes + at + sizeof(h);
		f[i].len = h.len;
		f[i++].flags = h.flags;
		head += frame_room(h.len);
	}
	e->lent = head;
	return i;
}

static void
pipe_put(struct pipe *p)
{
	if (atomic_fetch_sub(&p->refs, 1) == 1)
		free(p);
}

static void
end_close(struct scx_wire *w)
{
	struct end *e = (struct end *)w;

	pipe_put(e->out);
	pipe_put(e->in);
	free(e);
}

static const struct scx_wire_ops loopback_ops = {
	.name = "loopback",
	.send = end_send,
	.recv = end_recv,
	.close = end_close,
};

static const struct scx_wire_ops cable_ops = {
	.name = "cable",
	.send = end_send,
	.recv = end_recv,
	.close = end_close,
};

static struct pipe *
pipe_new(void)
{
	struct pipe *p = aligned_alloc(64, (sizeof(*p) + 63) & ~(size_t)63);

	if (p == NULL)
		return NULL;
	atomic_init(&p->refs, 2);
	atomic_init(&p->tail, 0);
	atomic_init(&p->head, 0);
	return p;
}

struct scx_wire *
scx_wire_loopback(void)
{
	struct end *e = calloc(1, sizeof(*e));
	struct pipe *p = pipe_new();

	if (e == NULL || p == NULL) {
		free(e);
		free(p);
		return NULL;
	}
	e->wire.ops = &loopback_ops;
	e->wire.flags = SCX_WIRE_TURNAROUND;
	e->out = e->in = p;
	return &e->wire;
}

int
scx_wire_pair(struct scx_wire **a, struct scx_wire **b)
{
	struct end *x = calloc(1, sizeof(*x)), *y = calloc(1, sizeof(*y));
	struct pipe *p = pipe_new(), *q = pipe_new();

	if (x == NULL || y == NULL || p == NULL || q == NULL) {
		free(x);
		free(y);
		free(p);
		free(q);
		return -ENOMEM;
	}
	x->wire.ops = y->wire.ops = &cable_ops;
	x->out = y->in = p;
	x->in = y->out = q;
	*a = &x->wire;
	*b = &y->wire;
	return 0;
}
