/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines under the checker, started, watched and stopped by the calls that host programs use.
 * Frames of queue i leave by queue i + 1, so that both sides of a queue are on different threads.
 */
#include "programs.h"

#include <string.h>

#include "gpu_queues/control.h"
#include "gpu_queues/engine.h"
#include "gpu_queues/engines/io.h"
#include "gpu_queues/engines/macswap.h"
#include "gpu_queues/engines/own_warp.h"
#include "gpu_queues/fwd_warp.h"
#include "gpu_queues/run.h"
#include "coop.h"

#define NOTES 8

uint32_t program_spins = PROGRAM_SPINS;

static uint64_t
packets(const struct program_cfg *cfg, const struct nic *nics, bool drops)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < cfg->queues; i++)
		n += drops ? nics[i].received : nics[i].sent;
	return n;
}

/* What the control loop does with an error: waits for the stream to stand still, resets, re-arms.
 */
static bool
mend(struct crl_watch *w, struct nic *failed)
{
	if (!crl_control_parked(w))
		return false;
	nic_reset_send(failed);
	if (crl_control_rearm(w) != 0)
		hb_refuse("re-arm was refused");
	/* What was in flight is lost; the next frame that leaves is the next that enters. */
	failed->next = NIC_NEVER;
	return true;
}

/* An error that was reported: is it the one that there was, whole? */
static bool
is_true(const struct program_cfg *cfg, const struct nic *failed, const struct crl_err *err)
{
	uint32_t wqe =
		crl_from_be32(*(const crl_be32 CRL_MAY_ALIAS *)(err->wqe_bytes)) >> 8 & 0xffffu;

	if (cfg->fail && failed->failed && !err->is_rx && err->queue == failed->q->sq.sqn &&
		err->syndrome == CRL_SYND_LOCAL_PROT && err->cqe_bytes[55] == err->syndrome &&
		wqe == crl_index16(failed->failed_at) && err->wqe == wqe)
		return true;
	hb_refuse("an error was reported that there was not: %.80s", err->cause);
	return false;
}

/* What only a host may do that has seen a stream stand still or leave: it writes what is the engine's. */
static void
touch(struct nic *tx)
{
	hb_host_write(tx->q->sq.cookie, crl_sq_cookie_bytes(tx->q->sq.log_depth));
}

/* Parks a stream and lets it go on, by turns, and has the queue to itself in between. */
static void
park_now_and_then(struct crl_watch *w, struct nic *tx, uint32_t looks, bool *asked, bool *seen)
{
	if (*asked && !*seen && crl_control_parked(w)) {
		*seen = true;
		touch(tx);
	}
	if (looks % 4096u != 4095u)
		return;
	if (*asked) {
		crl_control_park(w, false);
		*asked = false;
	} else if (!crl_control_parked(w)) { /* or the word may be the last park's */
		crl_control_park(w, true);
		*asked = true;
	}
	*seen = false;
}

/* Stops the streams and takes each one's queue when it has left, while others are still at work. */
static void
leave(const struct program_cfg *cfg, struct nic *nics, struct crl_watch *w, uint32_t step)
{
	uint32_t i, looks;

	for (i = 0; i < cfg->queues; i++)
		crl_control_stop(&w[i]);
	for (i = 0; i < cfg->queues; i++) {
		for (looks = 0; looks < program_spins && crl_ld32(&w[i].ctl->done) == 0; looks++)
			sched_let_go();
		if (crl_ld32(&w[i].ctl->done) == 0)
			continue; /* told by crl_engine_stop() */
		crl_order_seq_before_error(); /* pairs with the engine's last touch of its queues */
		touch(&nics[(i + step) % cfg->queues]);
	}
}

static void
watch(const struct program_cfg *cfg, struct nic *nics)
{
	struct crl_watch w[PROGRAM_QUEUES_MAX];
	const struct crl_engine *e = crl_engine_find(cfg->engine);
	bool drops = !(e->needs & CRL_Q_TX), failed = false, parked = false, seen = false;
	bool mended = !cfg->fail;
	struct crl_note note[NOTES];
	uint32_t i, looks, max = 5u * program_spins, step = e->needs & CRL_Q_RX ? 1u : 0;
	int n, k;

	memset(w, 0, sizeof(w));
	for (i = 0; i < cfg->queues; i++) {
		struct nic *tx = &nics[(i + step) % cfg->queues];

		w[i].ctl = nics[i].ctl;
		w[i].error[0] = &nics[i].q->error[CRL_QERROR_RQ];
		w[i].error[1] = &tx->q->error[CRL_QERROR_SQ];
	}
	for (looks = 0; looks < max && (packets(cfg, nics, drops) < cfg->packets || !mended);
		looks++) {
		n = crl_control_step(w, cfg->queues, looks, max, note, NOTES);
		for (k = 0; k < n; k++)
			failed |= note[k].type == CRL_NOTE_ERROR &&
				  is_true(cfg, &nics[0], &note[k].err);
		if (cfg->fail && !failed && packets(cfg, nics, drops) > cfg->packets / 2u &&
			nics[0].fail_at == NIC_NEVER)
			nics[0].fail_at = nics[0].sq_at;
		if (failed && nics[0].failed)
			mended |= mend(&w[step ? cfg->queues - 1u : 0], &nics[0]);
		park_now_and_then(&w[1], &nics[(1u + step) % cfg->queues], looks, &parked, &seen);
		sched_let_go();
	}
	if (parked)
		crl_control_park(&w[1], false);
	leave(cfg, nics, w, step);
}

static uint64_t
start(const struct program_cfg *cfg, struct nic *nics, const struct crl_engine *e)
{
	struct crl_stream_cfg streams[PROGRAM_QUEUES_MAX];
	struct crl_engine_cfg c = {.size = sizeof(c),
		.engine = e,
		.streams = streams,
		.nr_streams = cfg->queues,
		.burst = 16,
		.nr_threads = cfg->threads};
	struct crl_engine_run *run;
	struct crl_err err = {0};
	char line[256];
	uint32_t i;

	memset(streams, 0, sizeof(streams));
	for (i = 0; i < cfg->queues; i++) {
		streams[i].rx = nics[i].q;
		streams[i].tx = nics[e->needs & CRL_Q_RX ? (i + 1u) % cfg->queues : i].q;
		streams[i].ctl = nics[i].ctl;
	}
	if (crl_engine_start(&c, &run, &err) != 0) {
		hb_refuse("%s", crl_err_str(&err, line, sizeof(line)));
		return 0;
	}
	for (i = 0; i < run->nr_threads; i++)
		hb_word_new(&run->working[i], "working", HB_work_before_word, HB_work_before_word,
			HB_seq_before_error);
	watch(cfg, nics);
	if (crl_engine_stop(run, 10000000000u, &err) != 0)
		hb_refuse("%s", crl_err_str(&err, line, sizeof(line)));
	return packets(cfg, nics, !(e->needs & CRL_Q_TX));
}

uint64_t
program_engine(const struct program_cfg *cfg, struct nic *nics)
{
	return start(cfg, nics, crl_engine_find(cfg->engine));
}

/* ---- The same engines by a warp, whose lanes are played in another order at each turn ---- */

static struct crl_warp
order(struct crl_stream *s)
{
	struct crl_warp w = {(uint32_t)s->turns * 6u + 1u, (uint32_t)s->turns * 7u};

	if (s->turns == 0)
		crl_warp_begin(&w, s);
	return w;
}

static enum crl_turn
warp_io(struct crl_stream *s)
{
	struct crl_warp w = order(s);
	struct crl_warp_mem m;

	return crl_warp_can(s) ? crl_fwd_warp_turn(&w, s, &m, crl_io_packet)
			       : crl_fwd_turn(s, crl_io_packet);
}

static enum crl_turn
warp_macswap(struct crl_stream *s)
{
	struct crl_warp w = order(s);
	struct crl_warp_mem m;

	return crl_warp_can(s) ? crl_fwd_warp_turn(&w, s, &m, crl_macswap_packet)
			       : crl_fwd_turn(s, crl_macswap_packet);
}

static enum crl_turn
warp_flowgen(struct crl_stream *s)
{
	struct crl_warp w = order(s);
	struct crl_warp_mem m;

	return crl_warp_can(s) ? crl_flowgen_warp_turn(&w, s, &m) : crl_flowgen_turn(s);
}

uint64_t
program_warp(const struct program_cfg *cfg, struct nic *nics)
{
	struct crl_engine e = *crl_engine_find(cfg->engine);

	e.turn = strcmp(e.name, "io") == 0	  ? warp_io
		 : strcmp(e.name, "macswap") == 0 ? warp_macswap
						  : warp_flowgen;
	return start(cfg, nics, &e);
}
