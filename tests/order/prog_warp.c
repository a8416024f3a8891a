/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engines by a warp, as run_cuda.cu has them: the host plays the 32 lanes one after another, in
 * another order at each turn. Turns before the warp's first, and queues that a warp cannot serve,
 * are one thread's.
 */
#include "programs.h"

#include <string.h>

#include "coop.h"
#include "gpu_queues/engine.h"
#include "gpu_queues/engines/5tswap.h"
#include "gpu_queues/engines/icmpecho.h"
#include "gpu_queues/engines/io.h"
#include "gpu_queues/engines/macswap.h"
#include "gpu_queues/engines/own_warp.h"
#include "gpu_queues/engines/rxonly.h"
#include "gpu_queues/engines/stamp.h"
#include "gpu_queues/fwd_warp.h"

/* A warp's own. */
struct lanes {
	const struct crl_stream *s;
	struct crl_warp_mem mem;
	bool can; /* as a kernel finds it when it begins */
};

static struct lanes lanes[PROGRAM_QUEUES_MAX];
static uint32_t nr_lanes;

static struct lanes *
lanes_of(const struct crl_stream *s)
{
	uint32_t i;

	sched_hold(true); /* the table is the checker's own: no two streams get one row */
	for (i = 0; i < nr_lanes && lanes[i].s != s; i++)
		;
	if (i == nr_lanes) {
		nr_lanes++;
		lanes[i].s = s;
		lanes[i].can = crl_warp_can(s);
	}
	sched_hold(false);
	return &lanes[i];
}

static struct crl_warp
order(struct crl_stream *s)
{
	struct crl_warp w = {(uint32_t)s->turns * 6u + 1u, (uint32_t)s->turns * 7u};

	if (s->look_every != CRL_WARP_LOOK_EVERY)
		crl_warp_begin(&w, s);
	return w;
}

static enum crl_turn
forward(struct crl_stream *s, crl_packet_fn fn)
{
	struct lanes *l = lanes_of(s);
	struct crl_warp w;

	if (!l->can)
		return crl_fwd_turn(s, fn);
	w = order(s);
	return crl_fwd_warp_turn(&w, s, &l->mem, fn);
}

static enum crl_turn
warp_5tswap(struct crl_stream *s)
{
	return forward(s, crl_5tswap_packet);
}

static enum crl_turn
warp_icmpecho(struct crl_stream *s)
{
	return forward(s, crl_icmpecho_packet);
}

static enum crl_turn
warp_io(struct crl_stream *s)
{
	return forward(s, crl_io_packet);
}

static enum crl_turn
warp_macswap(struct crl_stream *s)
{
	return forward(s, crl_macswap_packet);
}

static enum crl_turn
warp_rxonly(struct crl_stream *s)
{
	return forward(s, crl_rxonly_packet);
}

static enum crl_turn
warp_stamp(struct crl_stream *s)
{
	return crl_stamp_due(s) ? crl_stamp_first_turn(s) : forward(s, crl_stamp_packet);
}

static enum crl_turn
warp_flowgen(struct crl_stream *s)
{
	struct lanes *l = lanes_of(s);
	struct crl_warp w;

	if (!l->can)
		return crl_flowgen_turn(s);
	w = order(s);
	return crl_flowgen_warp_turn(&w, s, &l->mem);
}

static enum crl_turn
warp_txonly(struct crl_stream *s)
{
	struct lanes *l = lanes_of(s);
	struct crl_warp w;

	if (!l->can)
		return crl_txonly_turn(s);
	w = order(s);
	return crl_txonly_warp_turn(&w, s, &l->mem);
}

static const struct {
	const char *engine;
	enum crl_turn (*turn)(struct crl_stream *s);
} list[] = {{"5tswap", warp_5tswap}, {"flowgen", warp_flowgen}, {"icmpecho", warp_icmpecho},
	{"io", warp_io}, {"macswap", warp_macswap}, {"rxonly", warp_rxonly}, {"stamp", warp_stamp},
	{"txonly", warp_txonly}};

uint64_t
program_warp(const struct program_cfg *cfg, struct nic *nics)
{
	struct crl_engine e = *crl_engine_find(cfg->engine);
	uint32_t i;

	e.turn = NULL;
	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (strcmp(list[i].engine, e.name) == 0)
			e.turn = list[i].turn;
	if (!e.turn) {
		hb_refuse("%s has no form for a warp", e.name);
		return 0;
	}
	nr_lanes = 0;
	return program_start(cfg, nics, &e, NULL);
}

uint64_t
program_own_warp(const struct program_cfg *cfg, struct nic *nics)
{
	struct program_cfg own = *cfg;

	own.own = true;
	return program_warp(&own, nics);
}
