// SPDX-License-Identifier: BSD-3-Clause
/*
 * `litmus`, `rtt`, `poll` and `trigger` with --on host: the same rounds between two host threads.
 * On one processor architecture's own order they show that the program counts and compares; what a
 * fence of a GPU is for they cannot show.
 */
#include "bench.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_queues/queue_mem.h"
#include "round.h"

#define LOG_DEPTH 8u
#define DEPTH	  (1u << LOG_DEPTH)

struct shared {
	CRL_ALIGNAS(4096) uint8_t wqe[DEPTH * 64u];
	CRL_ALIGNAS(4096) uint8_t cqe[DEPTH * 64u];
	CRL_ALIGNAS(64) uint32_t record[16];
	CRL_ALIGNAS(64) uint64_t uar[8];
	CRL_ALIGNAS(64) uint32_t answer[16];
	CRL_ALIGNAS(64) uint64_t go[8];
	CRL_ALIGNAS(64) uint64_t flag[8];
	CRL_ALIGNAS(64) uint64_t seen[8];
	uint64_t book[2u * DEPTH];
	struct crl_sq sq;
	struct crl_qerror error;
	struct bn_round_nic nic;
	struct bn_bare bare;
	uint64_t rounds, done, torn;
	uint64_t *sample;
	const void *cfg;
};

static struct shared *
shared_new(uint64_t rounds, struct bn_result *out)
{
	struct shared *m = aligned_alloc(4096, (sizeof(*m) + 4095u) & ~4095ul);

	memset(out, 0, sizeof(*out));
	out->sample = calloc(rounds + 1u, sizeof(uint64_t));
	out->extra[0] = 1;
	if (!m || !out->sample) {
		free(m);
		free(out->sample);
		out->sample = NULL;
		snprintf(out->why, sizeof(out->why), "no memory");
		return NULL;
	}
	memset(m, 0, sizeof(*m));
	crl_cq_fill(m->cqe, LOG_DEPTH);
	m->sq.wqe = m->wqe;
	m->sq.dbrec = (crl_be32 *)m->record;
	m->sq.uar = m->uar;
	m->sq.cookie = m->book;
	m->sq.end = m->book + DEPTH;
	m->sq.log_depth = m->sq.cq.log_depth = LOG_DEPTH;
	m->sq.sqn = BN_ROUND_SQN;
	m->sq.signal_every = 1;
	m->sq.cq.cqe = (struct crl_cqe64 *)m->cqe;
	m->sq.cq.flags = CRL_CQ_OVERRUN_IGNORE;
	crl_sq_reset(&m->sq);
	m->nic = (struct bn_round_nic){.uar = m->uar,
		.dbrec = m->sq.dbrec,
		.wqe = m->wqe,
		.cqe = m->cqe,
		.log_depth = LOG_DEPTH};
	m->bare = (struct bn_bare){m->record, (uint32_t *)m->uar, m->answer, 0};
	m->rounds = rounds;
	m->sample = out->sample;
	return m;
}

/* Runs both sides, the other in a thread of its own; fills the counts; frees. */
static int
two(struct shared *m, void *(*other)(void *), void (*here)(struct shared *), struct bn_result *out)
{
	pthread_t t;
	int rc = -pthread_create(&t, NULL, other, m);

	if (rc != 0) {
		snprintf(out->why, sizeof(out->why), "a thread: %s", strerror(-rc));
		free(out->sample);
		out->sample = NULL;
		free(m);
		return rc;
	}
	here(m);
	pthread_join(t, NULL);
	out->done = m->done;
	out->lost = m->rounds - m->done;
	out->torn = m->torn + m->nic.torn;
	out->nr_samples = (uint32_t)m->done;
	free(m);
	return 0;
}

/* ---- rtt ---- */

static void *
rtt_nic(void *arg)
{
	struct shared *m = arg;
	const struct bn_rtt_cfg *c = m->cfg;

	for (uint64_t i = 0; i < m->rounds; i++)
		if (!(c->bare ? bn_bare_nic(&m->bare, (uint32_t)i + 1u) : bn_round_turn(&m->nic)))
			break;
	return NULL;
}

static void
rtt_engine(struct shared *m)
{
	const struct bn_rtt_cfg *c = m->cfg;
	struct crl_burst b = crl_burst_open(&m->sq, 0, 0);
	uint64_t t;

	for (; m->done < m->rounds; m->done++) {
		t = crl_now_ns();
		if (!(c->bare ? bn_bare_engine(&m->bare, (uint32_t)m->done + 1u)
			      : bn_round_engine(&b, &m->sq, &m->error, c->scope == BN_GPU)))
			return;
		m->sample[m->done] = crl_now_ns() - t;
	}
}

int
bn_host_rtt(const struct bn_rtt_cfg *cfg, struct bn_result *out)
{
	struct shared *m = shared_new(cfg->rounds, out);

	if (!m)
		return -ENOMEM;
	m->cfg = cfg;
	return two(m, rtt_nic, rtt_engine, out);
}

/* ---- poll ---- */

struct many {
	struct crl_cq *cq; /* [n] */
	uint32_t *answer;  /* [n * 16] */
	uint8_t *cqe;
	uint32_t n, stop;
};

static void *
poll_server(void *arg)
{
	struct many *p = arg;
	uint32_t i, tail;

	while (!crl_ld32(&p->stop)) /* until the asker is done, whose waits are bounded */
		for (i = 0; i < p->n; i++)
			if (crl_cq_peek(&p->cq[i], p->cq[i].ci, &tail)) {
				crl_order_cqe_before_payload();
				p->cq[i].ci++;
				crl_st32(&p->answer[i * 16u], (uint32_t)p->cq[i].ci);
			}
	return NULL;
}

int
bn_host_poll(const struct bn_poll_cfg *cfg, struct bn_result *out)
{
	struct shared *m = shared_new(cfg->rounds, out);
	uint32_t n = cfg->queues, active = n * 2u / 3u, i;
	struct many p = {.n = n};
	pthread_t t;
	int rc = -ENOMEM;

	if (!m)
		return rc;
	p.cq = calloc(n, sizeof(*p.cq));
	p.answer = calloc((size_t)n * 16u, sizeof(*p.answer));
	p.cqe = aligned_alloc(64, (size_t)n * DEPTH * 64u);
	if (!p.cq || !p.answer || !p.cqe)
		goto out;
	for (i = 0; i < n; i++) {
		p.cq[i].cqe = (struct crl_cqe64 *)(p.cqe + (size_t)i * DEPTH * 64u);
		p.cq[i].log_depth = LOG_DEPTH;
		crl_cq_fill(p.cq[i].cqe, LOG_DEPTH);
	}
	rc = -pthread_create(&t, NULL, poll_server, &p);
	if (rc != 0)
		goto out;
	m->nic.cqe = (uint8_t *)p.cq[active].cqe;
	for (i = 0; i < cfg->rounds; i++) {
		uint64_t at = crl_now_ns();

		bn_round_cqe(&m->nic, i);
		if (!bn_bare_see(&p.answer[active * 16u], i + 1u))
			break;
		out->sample[i] = crl_now_ns() - at;
	}
	crl_st32(&p.stop, 1);
	pthread_join(t, NULL);
	out->nr_samples = i;
	out->done = i;
	out->lost = cfg->rounds - i;
out:
	if (rc != 0) {
		snprintf(out->why, sizeof(out->why), "%s", strerror(-rc));
		free(out->sample);
		out->sample = NULL;
	}
	free(p.cq);
	free(p.answer);
	free(p.cqe);
	free(m);
	return rc;
}

/* ---- litmus: one pair, the first two edges as they are, the other two the other way round ---- */

static void *
litmus_writer(void *arg)
{
	struct shared *m = arg;
	const struct bn_litmus_cfg *c = m->cfg;

	for (uint64_t r = 1; r <= m->rounds; r++) {
		for (uint32_t k = 0; k < c->wqes; k++)
			crl_st64(m->wqe + (r * c->wqes + k) % DEPTH * 64u + 56u, r);
		if (c->edge != BN_WQE_RECORD)
			crl_st32(m->record, (uint32_t)r);
		if (c->scope != BN_NO_FENCE)
			crl_order_wqe_before_record();
		crl_st64(m->uar, r);
		if (!bn_bare_see(m->answer, (uint32_t)r))
			break;
	}
	return NULL;
}

static void
litmus_observer(struct shared *m)
{
	const struct bn_litmus_cfg *c = m->cfg;
	bool bad;

	for (uint64_t r = 1; r <= m->rounds; r++, m->done++) {
		if (!bn_bare_see((uint32_t *)m->uar, (uint32_t)r))
			return;
		crl_order_cqe_before_payload();
		bad = c->edge != BN_WQE_RECORD && crl_ld32(m->record) != (uint32_t)r;
		for (uint32_t k = 0; k < c->wqes; k++)
			bad |= crl_ld64(m->wqe + (r * c->wqes + k) % DEPTH * 64u + 56u) != r;
		m->torn += bad;
		crl_order_reads_before_giveback();
		crl_st32(m->answer, (uint32_t)r);
	}
}

int
bn_host_litmus(const struct bn_litmus_cfg *cfg, struct bn_result *out)
{
	struct shared *m = shared_new(cfg->rounds, out);
	int rc;

	if (!m)
		return -ENOMEM;
	m->cfg = cfg;
	rc = two(m, litmus_writer, litmus_observer, out);
	out->nr_samples = 0;
	return rc;
}

/* ---- trigger: the kernel's part in a host thread ---- */

static void *
trigger_nic(void *arg)
{
	struct shared *m = arg;
	const struct bn_trigger_cfg *c = m->cfg;
	uint64_t before = 0, word, end;
	uint32_t i;

	for (uint64_t r = 1; r <= m->rounds; r++) {
		end = 0;
		for (i = 0; (word = crl_ld64(m->uar)) == before; i++)
			if (bn_spin_over(i, &end))
				return NULL;
		m->sample[r - 1u] = crl_now_ns() - m->sample[r - 1u];
		before = word;
		if (c->path != BN_ECHO)
			m->nic.torn += !bn_round_right(
				bn_round_fetch(m->wqe + (r - 1u) % DEPTH * 64u), r - 1u);
		crl_order_reads_before_giveback();
		crl_st64(m->seen, r);
	}
	return NULL;
}

static void
trigger_post(struct shared *m, uint64_t round)
{
	struct crl_frame f = bn_round_frame(round);
	struct crl_piece piece = {NULL, f.iova, f.len, f.lkey};
	uint64_t pi;

	m->sq.ci = m->sq.completed = m->sq.rung;
	if (crl_sq_reserve(&m->sq, 1, &pi) != CRL_OK)
		return;
	crl_sq_put_send(&m->sq, pi, &piece, 1, 0, true, pi);
	crl_sq_ring(&m->sq);
}

static void *
trigger_worker(void *arg)
{
	struct shared *m = arg;
	const struct bn_trigger_cfg *c = m->cfg;

	for (uint64_t r = 1; r <= m->rounds && bn_bare_see((uint32_t *)m->go, (uint32_t)r); r++) {
		if (c->path == BN_ECHO)
			crl_st64(m->uar, ~r);
		else if (c->path == BN_GPU_POST)
			trigger_post(m, r - 1u);
		else
			crl_st64(m->flag, r);
	}
	return NULL;
}

static void
trigger_main(struct shared *m)
{
	const struct bn_trigger_cfg *c = m->cfg;
	pthread_t worker;

	if (pthread_create(&worker, NULL, trigger_worker, m) != 0)
		return;
	for (uint64_t r = 1; r <= m->rounds; r++, m->done++) {
		m->sample[r - 1u] = crl_now_ns();
		crl_st64(m->go, r);
		if (c->path >= BN_LCORE) {
			if (!bn_bare_see((uint32_t *)m->flag, (uint32_t)r))
				break;
			trigger_post(m, r - 1u);
		}
		if (!bn_bare_see((uint32_t *)m->seen, (uint32_t)r))
			break;
	}
	pthread_join(worker, NULL);
}

int
bn_host_trigger(const struct bn_trigger_cfg *cfg, struct bn_result *out)
{
	struct shared *m;

	if (cfg->path > BN_LCORE) {
		memset(out, 0, sizeof(*out));
		snprintf(out->why, sizeof(out->why),
			"this path needs a kernel: not on host threads");
		return -ENOSYS;
	}
	m = shared_new(cfg->rounds, out);
	if (!m)
		return -ENOMEM;
	m->cfg = cfg;
	return two(m, trigger_nic, trigger_main, out);
}

int
bn_host_tax(const struct bn_tax_cfg *cfg, struct bn_result *out)
{
	(void)cfg;
	memset(out, 0, sizeof(*out));
	snprintf(out->why, sizeof(out->why),
		"what a kernel costs a GPU is not asked of host threads");
	return -ENOSYS;
}
