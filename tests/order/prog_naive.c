/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two programs as they are found in papers and blogs, which work on one machine and must be
 * objected to here: a submit whose ringing thread waits for no barrier after the others wrote and
 * whose index is never cut to the bits the record has, and a poll by plain loads without an
 * acquire.
 */
#include "programs.h"

#include <pthread.h>
#include <sched.h>

#include "gpu_queues/cq_poll.h"
#include "gpu_queues/sq_post.h"
#include "gpu_queues/sq_reserve.h"

struct naive {
	struct nic *nic;
	uint32_t *built, *rung;
	uint32_t rounds;
};

static bool
wait_for(const uint32_t *word, uint32_t v)
{
	for (uint32_t i = 0; i < program_spins; i++) {
		if (crl_ld32(word) == v)
			return true;
		sched_yield();
	}
	return false;
}

static void *
other_lane_main(void *arg)
{
	struct naive *s = arg;
	struct crl_queue_dev *q = s->nic->q;
	struct crl_piece piece = {NULL, q->txbuf.iova, 64, NIC_LKEY};
	uint64_t pi = 0;

	for (uint32_t r = 1; r <= s->rounds; r++) {
		crl_order_payload_before_wqe();
		if (crl_sq_reserve(&q->sq, 1, &pi) != CRL_OK)
			break;
		crl_sq_put_send(&q->sq, pi, &piece, 1, 0, true, 0);
		crl_st32(s->built, r); /* and no barrier */
		if (!wait_for(s->rung, r))
			break;
	}
	return NULL;
}

uint64_t
program_naive_submit(const struct program_cfg *cfg, struct nic *nics)
{
	struct naive s = {.nic = &nics[0], .rounds = 0x10000u + 64u};
	struct crl_sq *sq = &nics[0].q->sq;
	uint32_t made = HB_producer_before_ringer;
	uint64_t cookie;
	pthread_t thread;

	(void)cfg;
	s.built = hb_alloc(HB_WORD, 64, "built");
	s.rung = hb_alloc(HB_WORD, 64, "rung");
	hb_word_new(s.built, "built", (uint8_t)made, (uint8_t)made, (uint8_t)made);
	hb_word_new(s.rung, "rung", (uint8_t)made, (uint8_t)made, (uint8_t)made);
	pthread_create(&thread, NULL, other_lane_main, &s);
	for (uint32_t r = 1; r <= s.rounds && wait_for(s.built, r); r++) {
		crl_order_wqe_before_record();
		crl_st_be32(&sq->dbrec[CRL_DBREC_SND_WORD], (uint32_t)sq->posted);
		crl_order_record_before_uar();
		crl_st_mmio64(sq->uar, sq->db);
		crl_order_uar_out();
		sq->rung = sq->posted;
		for (uint32_t i = 0; sq->completed < sq->rung && i < program_spins; i++) {
			crl_sq_poll(sq, nics[0].q->error, 1);
			sched_yield();
		}
		crl_sq_take(sq, &cookie);
		crl_order_reads_before_giveback();
		crl_cq_giveback(&sq->cq);
		crl_st32(s.rung, r);
	}
	pthread_join(thread, NULL); /* bound: program_spins */
	return nics[0].sent;
}

uint64_t
program_naive_poll(const struct program_cfg *cfg, struct nic *nics)
{
	struct crl_rq *rq = &nics[0].q->rq;
	uint64_t taken = 0, sum = 0;

	crl_st_be32(&rq->dbrec[CRL_DBREC_RCV_WORD], crl_index16(crl_ring_depth(rq->log_depth)));
	for (uint32_t i = 0; i < program_spins && taken < crl_ring_depth(rq->log_depth); i++) {
		const struct crl_cqe64 *c = crl_cq_entry(&rq->cq, rq->cq.ci);

		if (crl_cqe_is_sw_owned(c->op_own, rq->cq.ci, rq->cq.log_depth)) {
			sum += *(const uint8_t *)(rq->buf + taken * rq->stride + NIC_HEADROOM);
			rq->cq.ci++;
			taken++;
		}
		sched_yield();
	}
	return sum != 0 ? cfg->packets : 0;
}
