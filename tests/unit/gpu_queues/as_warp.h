/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included before a test of the engines, it makes their turns those of a warp, whose lanes are
 * played in another random order each time: the same judges for both. A queue that a warp cannot
 * run stays as it is.
 */
#ifndef AS_WARP_H
#define AS_WARP_H

#include "gpu_queues/engines/own_warp.h"
#include "gpu_queues/fwd_warp.h"

static struct crl_warp_mem as_warp_mem;
static uint32_t as_warp_seed = 7;

static inline struct crl_warp
as_warp_order(void)
{
	struct crl_warp w;

	as_warp_seed = as_warp_seed * 1664525u + 1013904223u;
	w.mul = as_warp_seed >> 9 | 1u;
	w.add = as_warp_seed >> 17;
	return w;
}

static inline enum crl_turn
as_warp_fwd(struct crl_stream *s, crl_packet_fn fn)
{
	struct crl_warp w = as_warp_order();

	if (!crl_warp_can(s))
		return crl_fwd_turn(s, fn);
	crl_warp_recount(&w, s);
	return crl_fwd_warp_turn(&w, s, &as_warp_mem, fn);
}

static inline enum crl_turn
as_warp_txonly(struct crl_stream *s)
{
	struct crl_warp w = as_warp_order();

	return crl_warp_can(s) ? crl_txonly_warp_turn(&w, s, &as_warp_mem) : crl_txonly_turn(s);
}

static inline enum crl_turn
as_warp_flowgen(struct crl_stream *s)
{
	struct crl_warp w = as_warp_order();

	if (!crl_warp_can(s))
		return crl_flowgen_turn(s);
	crl_warp_recount(&w, s);
	return crl_flowgen_warp_turn(&w, s, &as_warp_mem);
}

#define crl_fwd_turn	 as_warp_fwd
#define crl_txonly_turn	 as_warp_txonly
#define crl_flowgen_turn as_warp_flowgen

#endif /* AS_WARP_H */
