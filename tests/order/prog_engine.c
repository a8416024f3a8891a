/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines under the checker, started, watched and stopped by the calls that host programs use.
 * Frames of queue i leave by queue i + 1, so that both sides of a queue are on different threads.
 */
#include "programs.h"

#include <pthread.h>
#include <string.h>

#include "gpu_queues/control.h"
#include "gpu_queues/engine.h"
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

/* stamp: each queue's frames come back to itself, many at a time. */
static bool
goes_round(const struct crl_engine *e)
{
	return strcmp(e->name, "stamp") == 0;
}

/* The queue by which the frames of stream i leave. */
static struct nic *
leaves_by(const struct program_cfg *cfg, struct nic *nics, const struct crl_engine *e, uint32_t i)
{
	return e->needs & CRL_Q_RX && !goes_round(e) ? &nics[(i + 1u) % cfg->queues] : &nics[i];
}

/* Stream i stands still, or has left: what it had is the host's, to read and to write. */
static void
touch(const struct program_cfg *cfg, struct nic *nics, const struct crl_engine *e, uint32_t i)
{
	if (e->needs & CRL_Q_RX)
		hb_host_write(&nics[i].q->rq, sizeof(nics[i].q->rq));
	if (e->needs & CRL_Q_TX)
		hb_host_write(&leaves_by(cfg, nics, e, i)->q->sq, sizeof(nics[i].q->sq));
}

/* What the control loop does with an error: waits for the stream to stand still, resets, re-arms.
 */
static bool
mend(const struct program_cfg *cfg, struct nic *nics, const struct crl_engine *e, uint32_t i,
	struct crl_watch *w)
{
	struct nic *failed = &nics[0];

	if (!crl_control_parked(w))
		return false;
	touch(cfg, nics, e, i);
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

static void
open_watch(const struct program_cfg *cfg, struct nic *nics, const struct crl_engine *e,
	struct crl_watch *w)
{
	memset(w, 0, PROGRAM_QUEUES_MAX * sizeof(*w));
	for (uint32_t i = 0; i < cfg->queues; i++) {
		w[i].ctl = nics[i].ctl;
		w[i].error[0] = &nics[i].q->error[CRL_QERROR_RQ];
		w[i].error[1] = &leaves_by(cfg, nics, e, i)->q->error[CRL_QERROR_SQ];
	}
}

static void
watch(const struct program_cfg *cfg, struct nic *nics, const struct crl_engine *e,
	struct crl_watch *w)
{
	bool drops = !(e->needs & CRL_Q_TX), failed = false, parked = false;
	bool mended = !cfg->fail;
	struct crl_note note[NOTES];
	uint32_t i, looks, max = 5u * program_spins;
	int n, k;

	for (looks = 0; looks < max && (packets(cfg, nics, drops) < cfg->packets || !mended);
		looks++) {
		n = crl_control_step(w, cfg->queues, looks, max, note, NOTES);
		for (k = 0; k < n; k++)
			failed |= note[k].type == CRL_NOTE_ERROR &&
				  is_true(cfg, &nics[0], &note[k].err);
		if (cfg->fail && !failed && packets(cfg, nics, drops) > cfg->packets / 2u &&
			nics[0].fail_at == NIC_NEVER)
			nics[0].fail_at = nics[0].sq_at;
		i = e->needs & CRL_Q_RX ? cfg->queues - 1u : 0;
		if (failed && nics[0].failed)
			mended |= mend(cfg, nics, e, i, &w[i]);
		i = 1 % cfg->queues;
		if (parked && crl_control_parked(&w[i]))
			touch(cfg, nics, e, i);
		/* now and then let go of for as long as it takes to ask again */
		if (looks % 4096u == 4095u) {
			if (parked && looks % 8192u > 4096u && looks % 3u == 0)
				crl_control_park(&w[i], false);
			else
				parked = !parked;
			crl_control_park(&w[i], parked);
		}
		sched_let_go();
	}
	if (parked)
		crl_control_park(&w[1 % cfg->queues], false);
}

/* Streams that left are the host's, long before their threads are joined. */
static void
see_off(const struct program_cfg *cfg, struct nic *nics, const struct crl_engine *e,
	struct crl_watch *w)
{
	struct crl_note note[NOTES];
	uint32_t i, looks, left = 0;
	int n, k;

	for (i = 0; i < cfg->queues; i++)
		crl_control_stop(&w[i]);
	for (looks = 0; looks < program_spins && left < cfg->queues; looks++) {
		n = crl_control_step(w, cfg->queues, looks, program_spins, note, NOTES);
		for (k = 0; k < n; k++)
			if (note[k].type == CRL_NOTE_LEFT) {
				touch(cfg, nics, e, note[k].watch);
				left++;
			}
		sched_let_go();
	}
}

struct worker {
	struct crl_engine_run *run;
	uint32_t thread;
	pthread_t id;
};

static void *
worker_main(void *arg)
{
	struct worker *w = arg;

	crl_engine_work(w->run, w->thread);
	return NULL;
}

uint64_t
program_start(const struct program_cfg *cfg, struct nic *nics, const struct crl_engine *e,
	const struct crl_engine_opts *opts)
{
	struct crl_engine_opts round = {.in_flight = 1u << (cfg->log_depth - 1u)};
	struct crl_stream_cfg streams[PROGRAM_QUEUES_MAX];
	struct crl_engine_cfg c = {.size = sizeof(c),
		.engine = e,
		.streams = streams,
		.nr_streams = cfg->queues,
		.opts = goes_round(e) ? &round : opts,
		.burst = PROGRAM_BURST,
		.nr_threads = cfg->threads,
		.flags = cfg->own ? CRL_ENGINE_OWN_THREADS : 0};
	struct crl_watch w[PROGRAM_QUEUES_MAX];
	struct worker worker[PROGRAM_QUEUES_MAX];
	struct crl_engine_run *run;
	struct crl_err err = {0};
	char line[256];
	uint32_t i;

	memset(streams, 0, sizeof(streams));
	for (i = 0; i < cfg->queues; i++) {
		streams[i].rx = nics[i].q;
		streams[i].tx = leaves_by(cfg, nics, e, i)->q;
		streams[i].ctl = nics[i].ctl;
	}
	if (crl_engine_start(&c, &run, &err) != 0) {
		hb_refuse("%s", crl_err_str(&err, line, sizeof(line)));
		return 0;
	}
	for (i = 0; i < run->nr_threads; i++)
		hb_word_new(&run->working[i], "working", HB_work_before_word, HB_work_before_word,
			HB_seq_before_error);
	for (i = 0; cfg->own && i < cfg->threads; i++) {
		worker[i] = (struct worker){.run = run, .thread = i};
		pthread_create(&worker[i].id, NULL, worker_main, &worker[i]);
	}
	open_watch(cfg, nics, e, w);
	watch(cfg, nics, e, w);
	see_off(cfg, nics, e, w);
	if (crl_engine_stop(run, 10000000000u, &err) != 0)
		hb_refuse("%s", crl_err_str(&err, line, sizeof(line)));
	for (i = 0; cfg->own && i < cfg->threads; i++)
		pthread_join(worker[i].id, NULL); /* bound: only its return is left */
	for (i = 0; i < cfg->queues; i++)
		if (nics[i].q->stats->torn != 0 || nics[i].q->stats->missed != 0)
			hb_refuse("queue %u: %u frames torn, %u missed", i,
				(unsigned)nics[i].q->stats->torn,
				(unsigned)nics[i].q->stats->missed);
	return packets(cfg, nics, !(e->needs & CRL_Q_TX));
}

uint64_t
program_engine(const struct program_cfg *cfg, struct nic *nics)
{
	return program_start(cfg, nics, crl_engine_find(cfg->engine), NULL);
}

/* Threads of the program's own, which are joined after the run is freed. */
uint64_t
program_own(const struct program_cfg *cfg, struct nic *nics)
{
	struct program_cfg own = *cfg;

	own.own = true;
	return program_start(&own, nics, crl_engine_find(cfg->engine), NULL);
}

/* A burst of txonly's frames goes first. */
uint64_t
program_first(const struct program_cfg *cfg, struct nic *nics)
{
	struct crl_engine_opts opts = {.tx_first = 1};

	for (uint32_t i = 0; i < cfg->queues; i++)
		nics[i].first = PROGRAM_BURST;
	return program_start(cfg, nics, crl_engine_find(cfg->engine), &opts);
}
