// SPDX-License-Identifier: BSD-3-Clause
/*
 * `carillon-bench post --on host`: the loop of post.cu with a host thread for a warp, which runs
 * the 32 lanes one after another, and one more thread for the NIC. What it shows is that the
 * program works, not what a GPU does.
 */
#include "bench.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_queues/queue_mem.h"
#include "gpu_queues/queue_state.h"
#include "gpu_queues/sq_combine.h"
#include "gpu_queues/sq_doorbell.h"
#include "nic.h"

#define TABLE	4096u
#define WAIT_NS 20000000000ull

struct queue {
	struct crl_sq sq;
	struct crl_sq_combine words;
	struct bn_nicq nic;
	struct crl_qerror error;
	CRL_ALIGNAS(64) crl_be32 dbrec[16];
	CRL_ALIGNAS(64) uint64_t uar[8];
	uint8_t *ring, *cqe;
	uint64_t *book;
};

struct bench {
	const struct bn_post_cfg *c;
	struct crl_frame *table; /* [2 * TABLE]: the second half repeats the first */
	struct queue *queue;
	uint32_t nr, warps;
	uint64_t each; /* WQEs of a queue */
	uint64_t *sample;
	uint32_t failed;
};

struct warp {
	struct bench *b;
	struct queue *q;
	pthread_t thread;
	struct crl_burst open[CRL_BURST_LANES]; /* as the queue was before any of them began */
};

static int
queue_make(struct queue *q, const struct bn_post_cfg *c, uint32_t number)
{
	size_t bytes = (size_t)64 << c->log_depth;

	memset(q, 0, sizeof(*q));
	q->ring = aligned_alloc(64, bytes);
	q->cqe = aligned_alloc(64, bytes);
	q->book = calloc((size_t)2 << c->log_depth, sizeof(uint64_t));
	if (!q->ring || !q->cqe || !q->book)
		return -ENOMEM;
	memset(q->ring, 0, bytes);
	crl_cq_fill(q->cqe, c->log_depth);
	q->sq.wqe = q->ring;
	q->sq.dbrec = q->dbrec;
	q->sq.uar = q->uar;
	q->sq.cookie = q->book;
	q->sq.end = q->book + ((size_t)1 << c->log_depth);
	q->sq.log_depth = q->sq.cq.log_depth = c->log_depth;
	q->sq.sqn = number + 1u;
	q->sq.signal_every = (1u << c->log_depth) / 4u;
	q->sq.cq.cqe = (struct crl_cqe64 *)q->cqe;
	q->sq.cq.flags = CRL_CQ_OVERRUN_IGNORE;
	crl_sq_reset(&q->sq);
	q->nic = (struct bn_nicq){
		.dbrec = q->dbrec, .cqe = q->cqe, .log_depth = c->log_depth, .batch = c->batch};
	if (c->share != BN_EXCLUSIVE)
		crl_combine_init(
			&q->words, &q->sq, c->blocks * c->warps, c->batch, c->scope == BN_GPU);
	return 0;
}

static void
queue_free(struct queue *q)
{
	free(q->ring);
	free(q->cqe);
	free(q->book);
}

static bool
take_room(struct bench *b, struct crl_sq *sq, struct crl_qerror *error, uint32_t n, uint64_t *pi)
{
	uint64_t end = 0;

	if (!b->c->ring_full)
		sq->ci = sq->completed = sq->rung;
	while (crl_sq_reserve(sq, n, pi) != CRL_OK) { /* bound: WAIT_NS */
		if (crl_burst_reap(sq, error) == CRL_FAILED)
			return false;
		end = end ? end : crl_now_ns() + WAIT_NS;
		if (crl_now_ns() > end)
			return false;
		crl_relax();
	}
	return true;
}

/* One SEND, one doorbell. */
static bool
post_one(struct bench *b, struct queue *q)
{
	struct crl_sq *sq = &q->sq;
	const struct crl_frame *f;
	struct crl_piece piece;
	uint64_t pi;

	if (!take_room(b, sq, &q->error, 1, &pi))
		return false;
	f = b->table + (pi & (TABLE - 1u));
	piece = (struct crl_piece){NULL, f->iova, f->len, f->lkey};
	crl_sq_put_send(sq, pi, &piece, 1, 0, true, pi);
	return b->c->scope == BN_GPU ? crl_sq_ring_gpu(sq) : crl_sq_ring(sq);
}

/* The 32 lanes, one after another. */
static void
write_lanes(const struct bench *b, const struct crl_burst *lane, uint32_t pi)
{
	for (uint32_t i = 0; i < CRL_BURST_LANES; i++)
		crl_burst_write(&lane[i], pi, b->table + (pi & (TABLE - 1u)), b->c->batch, i);
}

static bool
burst(struct bench *b, struct queue *q, struct crl_burst *lane)
{
	uint64_t end = crl_now_ns() + WAIT_NS;
	uint32_t n = b->c->batch;

	while (b->c->ring_full && !crl_burst_fits(&lane[0], n)) { /* bound: WAIT_NS */
		if (crl_burst_room(&lane[0], &q->sq, &q->error, &lane[0].room) == CRL_FAILED ||
			crl_now_ns() > end)
			return false;
		crl_relax();
	}
	write_lanes(b, lane, lane[0].pi);
	if (b->c->scope == BN_GPU)
		crl_burst_ring_gpu(&lane[0], n);
	else
		crl_burst_ring(&lane[0], n);
	crl_burst_next(&lane[0], n);
	return true;
}

static bool
burst_shared(struct bench *b, struct queue *q, const struct crl_burst *lane, uint64_t *ci_seen)
{
	uint64_t pi, number, end = crl_now_ns() + WAIT_NS;
	uint32_t n = b->c->batch;

	while (crl_combine_reserve(&q->words, b->c->log_depth, n, &pi, &number, ci_seen) !=
		CRL_OK) {
		enum crl_st st = crl_combine_idle(&q->words, &q->sq, &q->error, WAIT_NS);

		if ((st != CRL_OK && st != CRL_AGAIN) || crl_now_ns() > end)
			return false; /* bound: WAIT_NS */
		crl_relax();
	}
	write_lanes(b, lane, (uint32_t)pi);
	return crl_combine_publish(&q->words, &q->sq, &q->error, number, pi, n, WAIT_NS) == CRL_OK;
}

static void *
warp_main(void *arg)
{
	struct warp *w = arg;
	struct crl_burst lane[CRL_BURST_LANES];
	struct bench *b = w->b;
	uint64_t t, ci_seen = 0;

	for (uint32_t i = 0; i < CRL_BURST_LANES; i++)
		lane[i] = w->open[i];
	for (uint32_t i = 0; i < b->c->bursts; i++) {
		t = crl_now_ns();
		if (!(b->c->single			  ? post_one(b, w->q)
			    : b->c->share != BN_EXCLUSIVE ? burst_shared(b, w->q, lane, &ci_seen)
							  : burst(b, w->q, lane))) {
			__atomic_fetch_add(&b->failed, 1, __ATOMIC_RELAXED);
			break;
		}
		if (b->c->single)
			b->sample[i] = crl_now_ns() - t;
	}
	return NULL;
}

static void *
nic_main(void *arg)
{
	struct bench *b = arg;
	uint64_t end = crl_now_ns() + WAIT_NS, left;

	do { /* bound: WAIT_NS, or that a warp failed */
		left = 0;
		for (uint32_t i = 0; i < b->nr; i++) {
			if (bn_nicq_turn(&b->queue[i].nic) == 0)
				crl_relax();
			left += b->each - b->queue[i].nic.seen;
		}
	} while (left != 0 && crl_now_ns() < end &&
		 __atomic_load_n(&b->failed, __ATOMIC_RELAXED) == 0);
	return NULL;
}

/* The last lap of every ring, and its record, against what they must hold. */
static void
check(struct bench *b, struct bn_result *out)
{
	uint64_t depth = (uint64_t)1 << b->c->log_depth, lap = b->each < depth ? b->each : depth, k;

	for (uint32_t i = 0; i < b->nr; i++) {
		struct queue *q = &b->queue[i];
		uint64_t told = crl_index_from16(
			b->each - lap, (uint16_t)crl_from_be32(q->dbrec[CRL_DBREC_SND_WORD]));

		out->lost += told < b->each ? b->each - told : 0;
		if (b->c->tear && i == 0)
			q->ring[32] ^= 1u;
		for (k = b->each - lap; k < b->each; k++) {
			struct crl_frame f = b->table[k & (TABLE - 1u)];
			bool asks = (k + 1u) % b->c->batch == 0;
			struct crl_seg want[4] = {
				crl_seg_ctrl(CRL_OPCODE_SEND, k, q->sq.sqn, 3,
					asks ? CRL_WQE_CE_ALWAYS : CRL_WQE_CE_ON_FIRST_ERR),
				crl_seg_eth(0), crl_seg_data(f.len, f.lkey, f.iova), {{0, 0}}};

			out->torn += memcmp(q->ring + (k & (depth - 1u)) * 64u, want,
					     b->c->single ? 48 : 64) != 0;
		}
	}
}

/* One launch: threads start and end within it. */
static int
launch(struct bench *b, uint64_t *ns)
{
	uint32_t per = b->warps / b->nr, started = 0;
	struct warp *w = calloc(b->warps, sizeof(*w));
	bool has_nic;
	pthread_t nic;
	uint64_t t;

	if (!w)
		return -ENOMEM;
	has_nic = b->c->ring_full && pthread_create(&nic, NULL, nic_main, b) == 0;
	for (uint32_t i = 0; i < b->warps; i++) {
		w[i].b = b;
		w[i].q = &b->queue[i / per];
		for (uint32_t k = 0; k < CRL_BURST_LANES; k++)
			w[i].open[k] = crl_burst_open(&w[i].q->sq, 0, k);
	}
	t = crl_now_ns();
	for (; started < b->warps; started++) {
		if (pthread_create(&w[started].thread, NULL, warp_main, &w[started]) != 0) {
			b->failed++;
			break;
		}
	}
	for (uint32_t i = 0; i < started; i++)
		pthread_join(w[i].thread, NULL);
	*ns = crl_now_ns() - t;
	if (has_nic)
		pthread_join(nic, NULL);
	free(w);
	return has_nic || !b->c->ring_full ? 0 : -EAGAIN;
}

static int
run_once(struct bench *b, struct bn_result *out, uint64_t *ns)
{
	uint32_t made = 0;
	int rc = 0;

	for (; made < b->nr && rc == 0; made++)
		rc = queue_make(&b->queue[made], b->c, made);
	if (rc == 0)
		rc = launch(b, ns);
	if (rc == 0)
		check(b, out);
	for (uint32_t i = 0; i < made; i++)
		queue_free(&b->queue[i]);
	return rc;
}

int
bn_host_post(const struct bn_post_cfg *cfg, struct bn_result *out)
{
	struct bn_post_cfg c = *cfg;
	struct bench b = {.c = &c};
	uint64_t seed = 0x9e3779b97f4a7c15ull, ns = 0;
	int rc = -ENOMEM;

	memset(out, 0, sizeof(*out));
	c.ring_full = c.ring_full || c.share != BN_EXCLUSIVE;
	c.launches = c.single ? 1 : c.launches;
	b.warps = c.blocks * c.warps;
	b.nr = c.share == BN_EXCLUSIVE ? b.warps : c.share == BN_SHARED_BLOCK ? c.blocks : 1;
	b.each = (uint64_t)(b.warps / b.nr) * c.bursts * c.batch;
	b.queue = aligned_alloc(64, b.nr * sizeof(*b.queue));
	b.table = aligned_alloc(64, 2u * TABLE * sizeof(*b.table));
	b.sample = out->sample = calloc(c.bursts + c.launches, sizeof(uint64_t));
	if (!b.queue || !b.table || !b.sample)
		goto out;
	for (uint32_t i = 0; i < TABLE; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		b.table[i] = b.table[i + TABLE] = (struct crl_frame){seed & 0xffffffffffc0ull,
			60u + (uint32_t)(seed >> 50) % 8941u, (uint32_t)(seed >> 20)};
	}
	for (uint32_t i = 0; i < c.launches; i++) {
		rc = run_once(&b, out, &ns);
		if (rc != 0)
			goto out;
		out->done += b.each * b.nr;
		if (!c.single)
			out->sample[out->nr_samples++] = ns;
	}
	if (c.single)
		out->nr_samples = c.bursts;
	out->lost += b.failed;
	out->extra[0] = (double)(b.each * b.nr);
out:
	if (rc != 0) {
		snprintf(out->why, sizeof(out->why), "%s", strerror(-rc));
		free(out->sample);
		out->sample = NULL;
	}
	free(b.queue);
	free(b.table);
	return rc;
}
