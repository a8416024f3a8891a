/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a kernel does for one engine stream, a warp a stream: the stream and its queues in shared
 * memory, the persistent loop, the queues back. For run_cuda.cu, and for kernels that do other
 * things beside (apps/loop). CUDA C++ only.
 */
#ifndef CRL_KERNEL_CUH
#define CRL_KERNEL_CUH

#include "fwd_warp.h"

/* What a warp has in shared memory. */
struct crl_room {
	struct crl_stream s;
	struct crl_queue_dev rx, tx;
	struct crl_warp_mem m;
};

/* By all lanes: whole words from or to GPU memory. */
template <typename T>
__device__ void
crl_copy_words(T *to, const T *from)
{
	static_assert(sizeof(T) % 8u == 0, "whole words");
	for (uint32_t i = threadIdx.x; i < sizeof(T) / 8u; i += CRL_WARP_LANES)
		((uint64_t *)to)[i] = ((const uint64_t *)from)[i];
}

/* The stream and its queues into shared memory. */
static __device__ void
crl_room_enter(struct crl_room *r, const struct crl_stream *s)
{
	crl_copy_words(&r->s, s);
	if (s->rx)
		crl_copy_words(&r->rx, s->rx);
	if (s->tx && s->tx != s->rx)
		crl_copy_words(&r->tx, s->tx);
	crl_warp_sync();
	if (crl_warp_first()) {
		r->s.rx = s->rx ? &r->rx : NULL;
		r->s.tx = !s->tx ? NULL : s->tx == s->rx ? &r->rx : &r->tx;
	}
	crl_warp_sync();
}

/* Stream and queues back, for the host to fetch or for another kernel to go on with. */
static __device__ void
crl_room_leave(struct crl_room *r, struct crl_stream *s)
{
	struct crl_queue_dev *rx = s->rx, *tx = s->tx;

	crl_warp_sync();
	if (rx)
		crl_copy_words(rx, &r->rx);
	if (tx && tx != rx)
		crl_copy_words(tx, &r->tx);
	if (crl_warp_first()) {
		r->s.rx = rx;
		r->s.tx = tx;
	}
	crl_warp_sync();
	crl_copy_words(s, &r->s);
}

/*
 * A kernel's work for one stream: turns it until it has left; an idle one lets the SM's other warps
 * have its issue slots. one: a turn by lane 0 alone. all: by all lanes, used when can. first_due,
 * first: turns before those, by lane 0. They name s, m and w. The loop ends when the stream has
 * left, or is parked and shall let go of the GPU.
 */
#define CRL_ENGINE_BODY(room, stream, can, first_due, first, one, all)                             \
	struct crl_stream *s = &(room).s;                                                          \
	[[maybe_unused]] struct crl_warp_mem *m = &(room).m;                                       \
	[[maybe_unused]] const struct crl_warp *w = NULL;                                          \
	enum crl_turn turn = CRL_TURN_BUSY;                                                        \
	CRL_LANE(uint32_t, go) = {1};                                                              \
                                                                                                   \
	crl_room_enter(&(room), stream);                                                           \
	if (crl_warp_first()) {                                                                    \
		go[0] = crl_stream_begin(s) && s->mode != CRL_MODE_LEFT;                           \
		/* at most until it has been told to run, or to leave */                           \
		while (go[0] && first_due && turn != CRL_TURN_LEFT && !crl_stream_is_out(s))       \
			turn = first;                                                              \
		go[0] = go[0] && turn != CRL_TURN_LEFT;                                            \
		/* forever: the persistent loop; leaves on ctl->stop */                            \
		while (go[0] && !(can) && turn != CRL_TURN_LEFT && !crl_stream_is_out(s)) {        \
			turn = one;                                                                \
			if (turn == CRL_TURN_IDLE)                                                 \
				crl_relax();                                                       \
		}                                                                                  \
	}                                                                                          \
	crl_warp_sync();                                                                           \
	go[0] = crl_warp_get32(go, 0) && (can);                                                    \
	turn = CRL_TURN_BUSY;                                                                      \
	if (go[0])                                                                                 \
		crl_warp_begin(w, s);                                                              \
	/* forever: the persistent loop; leaves on ctl->stop */                                    \
	while (go[0] && turn != CRL_TURN_LEFT && !crl_stream_is_out(s)) {                          \
		turn = all;                                                                        \
		if (turn == CRL_TURN_IDLE)                                                         \
			crl_relax();                                                               \
	}                                                                                          \
	crl_room_leave(&(room), stream);

#endif /* CRL_KERNEL_CUH */
