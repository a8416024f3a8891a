/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue's work split between threads, which our engines do not do and other programs may: one
 * builds and another rings (queue 0); one builds and a proxy rings that has the register and an
 * index only (queue 1); one polls and another works on the frames, and arms the CQ (queue 2).
 */
#include "programs.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "gpu_queues/cq_poll.h"
#include "gpu_queues/rq_refill.h"
#include "gpu_queues/sq_doorbell.h"
#include "gpu_queues/sq_post.h"
#include "gpu_queues/sq_reserve.h"

#define BATCH 4u

struct words {
	uint32_t built[16], free[16], ready[16], taken[16];
	uint64_t index[8];
};

struct split {
	struct nic *nics;
	uint32_t rounds;
	struct words *w;
	struct crl_pkt *mail; /* poller to worker */
	uint32_t *nr_mail;
};

/* Waits until a word is v; the caller's edge comes next. */
static bool
wait_for(const uint32_t *word, uint32_t v)
{
	for (uint32_t i = 0; i < program_spins; i++) {
		if (crl_ld32(word) == v)
			return true;
		sched_yield();
	}
	hb_refuse("a thread waited in vain");
	return false;
}

static void
build(struct nic *n, uint32_t round)
{
	struct crl_sq *sq = &n->q->sq;
	struct crl_piece piece = {NULL, 0, 64, NIC_LKEY};
	uint64_t pi = 0;
	uint32_t i, k;

	for (i = 0; i < BATCH; i++) {
		uint8_t *f = n->q->txbuf.addr + i * 64u;

		for (k = 0; k < 64u; k += 4u)
			crl_st32(f + k, round);
		crl_order_payload_before_wqe();
		if (crl_sq_reserve(sq, 1, &pi) != CRL_OK)
			hb_refuse("no room for a frame");
		piece.iova = n->q->txbuf.iova + i * 64u;
		crl_sq_put_send(sq, pi, &piece, 1, 0, false, 0);
	}
}

static void
reap(struct crl_queue_dev *q)
{
	struct crl_sq *sq = &q->sq;
	uint64_t cookie;

	for (uint32_t i = 0; sq->ci < sq->rung && i < program_spins; i++) {
		if (crl_sq_poll(sq, &q->error[CRL_QERROR_SQ], 8) == CRL_AGAIN)
			sched_yield();
		while (crl_sq_take(sq, &cookie) == CRL_OK)
			;
	}
	crl_rq_refill(NULL, sq);
}

static void *
builder_main(void *arg)
{
	struct split *s = arg;

	for (uint32_t r = 1; r <= s->rounds; r++) {
		build(&s->nics[0], r);
		crl_order_producer_before_ringer(); /* pairs with ringer_main */
		crl_st32(s->w->built, r);
		if (!wait_for(s->w->free, r))
			break;
		crl_order_producer_before_ringer();
	}
	return NULL;
}

static void *
ringer_main(void *arg)
{
	struct split *s = arg;

	for (uint32_t r = 1; r <= s->rounds; r++) {
		if (!wait_for(s->w->built, r))
			break;
		crl_order_producer_before_ringer(); /* pairs with builder_main */
		crl_sq_ring(&s->nics[0].q->sq);
		reap(s->nics[0].q);
		crl_order_producer_before_ringer();
		crl_st32(s->w->free, r);
	}
	return NULL;
}

/* Queue 1: the builder keeps the queue, the proxy has register, record and what the index says. */
static void *
publisher_main(void *arg)
{
	struct split *s = arg;
	struct crl_queue_dev *q = s->nics[1].q;
	struct crl_sq *sq = &q->sq;

	for (uint32_t r = 1; r <= s->rounds; r++) {
		build(&s->nics[1], r);
		crl_sq_signal_last(sq);
		sq->rung = sq->posted;
		crl_order_wqe_before_published_index(); /* pairs with proxy_main */
		crl_st64(s->w->index, sq->posted);
		reap(q);
	}
	return NULL;
}

static void *
proxy_main(void *arg)
{
	struct split *s = arg;
	struct crl_sq *sq = &s->nics[1].q->sq;
	uint64_t told = 0, index, db;

	for (uint32_t i = 0; told < (uint64_t)s->rounds * BATCH && i < program_spins; i++) {
		index = crl_ld64(s->w->index);
		if (index == told) {
			sched_yield();
			continue;
		}
		crl_order_seq_before_error();
		/* Before the record is stored: the slot may be done and written anew right after.
		 */
		db = crl_ld64(crl_sq_seg(sq, index - 1u, 0));
		crl_order_wqe_before_record();
		crl_st_be32(&sq->dbrec[CRL_DBREC_SND_WORD], crl_index16(index));
		crl_order_record_before_uar();
		crl_st_mmio64(sq->uar, db);
		crl_order_uar_out();
		told = index;
	}
	return NULL;
}

static void
arm(struct nic *n, uint32_t round)
{
	struct crl_cq *cq = &n->q->rq.cq;

	crl_st_be32(
		&cq->dbrec[CRL_DBREC_CQ_ARM], round << CRL_CQ_ARM_SN_SHIFT | crl_index24(cq->ci));
	crl_order_cq_arm();
	crl_st_mmio64(n->arm_page, (uint64_t)round << 32 | cq->cqn);
}

static void *
poller_main(void *arg)
{
	struct split *s = arg;
	struct crl_queue_dev *q = s->nics[2].q;
	uint32_t n, r;

	for (r = 1; r <= s->rounds; r++) {
		crl_rq_refill(&q->rq, NULL);
		arm(&s->nics[2], r);
		while (crl_rq_poll(&q->rq, &q->error[CRL_QERROR_RQ], s->mail, BATCH, &n) ==
			CRL_AGAIN) /* bound: the NIC has frames without end */
			sched_yield();
		*s->nr_mail = n;
		crl_order_poller_before_worker(); /* pairs with worker_main */
		crl_st32(s->w->ready, r);
		if (!wait_for(s->w->taken, r))
			break;
		crl_order_poller_before_worker();
	}
	return NULL;
}

static void *
worker_main(void *arg)
{
	struct split *s = arg;
	uint64_t seq = 0;
	uint32_t i, r;

	for (r = 1; r <= s->rounds; r++) {
		if (!wait_for(s->w->ready, r))
			break;
		crl_order_poller_before_worker(); /* pairs with poller_main */
		for (i = 0; i < *s->nr_mail; i++, seq++) {
			if (crl_ld16(s->mail[i].data + 42) != (uint16_t)seq)
				hb_refuse("frame %u is not number %u",
					crl_ld16(s->mail[i].data + 42), (unsigned)seq);
			crl_rq_release(&s->nics[2].q->rq, s->mail[i].index);
		}
		crl_order_poller_before_worker();
		crl_st32(s->w->taken, r);
	}
	return NULL;
}

uint64_t
program_split(const struct program_cfg *cfg, struct nic *nics)
{
	static void *(*const mains[])(void *) = {
		builder_main, ringer_main, publisher_main, proxy_main, poller_main, worker_main};
	struct split s = {.nics = nics, .rounds = (uint32_t)(cfg->packets / 9u) + 1u};
	uint8_t made = HB_producer_before_ringer, work = HB_poller_before_worker;
	pthread_t thread[6];
	uint32_t i;

	s.w = hb_alloc(HB_WORD, sizeof(*s.w), "words between threads");
	s.mail = hb_alloc(HB_DATA, BATCH * sizeof(s.mail[0]), "poller's list");
	s.nr_mail = hb_alloc(HB_DATA, sizeof(*s.nr_mail), "poller's count");
	hb_word_new(s.w->built, "built", made, made, made);
	hb_word_new(s.w->free, "free", made, made, made);
	hb_word_new(s.w->ready, "ready", work, work, work);
	hb_word_new(s.w->taken, "taken", work, work, work);
	hb_word_new(s.w->index, "published index", HB_wqe_before_published_index,
		HB_wqe_before_published_index, HB_seq_before_error);
	for (i = 0; i < 6u; i++)
		pthread_create(&thread[i], NULL, mains[i], &s);
	for (i = 0; i < 6u; i++)
		pthread_join(thread[i], NULL); /* bound: program_spins of each */
	return nics[0].sent + nics[1].sent + nics[2].received;
}
