/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC of the round-trip benchmarks: for one queue, sees the register change, reads the record,
 * fetches and examines the WQE, and writes a CQE. No payload moves. In a kernel or a host thread;
 * on one lane. Rounds carry one SEND whose frame is named by the round, so that an old WQE is seen.
 */
#ifndef CRL_BENCH_ROUND_H
#define CRL_BENCH_ROUND_H

#include "gpu_queues/cq_poll.h"
#include "gpu_queues/queue_state.h"
#include "gpu_queues/sq_burst.h"
#include "gpu_queues/sq_doorbell.h"

#define BN_SPIN_NS   20000000000ull /* of looks at what does not change: longer is a failure */
#define BN_ROUND_SQN 77u

/* Whether the i-th look in vain was the last; the clock is read now and then only. */
CRL_FN bool
bn_spin_over(uint32_t i, uint64_t *end)
{
	if (i % 65536u != 65535u)
		return false;
	*end = *end ? *end : crl_now_ns() + BN_SPIN_NS;
	return crl_now_ns() > *end;
}

struct bn_round_nic {
	const uint64_t *uar;
	const crl_be32 *dbrec;
	const uint8_t *wqe;
	uint8_t *cqe;
	uint32_t log_depth; /* of the CQ too */
	uint32_t gpu_scope;
	uint64_t uar_seen, done, torn;
};

CRL_FN struct crl_frame
bn_round_frame(uint64_t round)
{
	struct crl_frame f = {round * 2048u, (uint32_t)(round & 0x1fffu) + 64u, (uint32_t)round};

	return f;
}

/* A WQE as fetched: its three segments, but for the Ethernet one's second half. */
struct bn_wqe {
	uint64_t q[5];
};

/* All loads on their way together. */
CRL_FN struct bn_wqe
bn_round_fetch(const uint8_t *wqe)
{
	struct bn_wqe w;

	w.q[0] = crl_ld64(wqe);
	w.q[1] = crl_ld64(wqe + 8);
	w.q[2] = crl_ld64(wqe + 16);
	w.q[3] = crl_ld64(wqe + 32);
	w.q[4] = crl_ld64(wqe + 40);
	return w;
}

/* Whether the WQE is the round's. */
CRL_FN bool
bn_round_right(struct bn_wqe w, uint64_t round)
{
	struct crl_frame f = bn_round_frame(round);
	struct crl_seg c =
		crl_seg_ctrl(CRL_OPCODE_SEND, round, BN_ROUND_SQN, CRL_BURST_DS, CRL_WQE_CE_ALWAYS);
	struct crl_seg d = crl_seg_data(f.len, f.lkey, f.iova);

	return w.q[0] == c.q[0] && w.q[1] == c.q[1] && w.q[2] == 0 && w.q[3] == d.q[0] &&
	       w.q[4] == d.q[1];
}

CRL_FN void
bn_round_cqe(struct bn_round_nic *n, uint64_t w)
{
	uint8_t *cqe = n->cqe + (uint64_t)crl_ring_slot(w, n->log_depth) * CRL_CQE_BYTES;
	uint32_t owner = (uint32_t)(w >> n->log_depth & 1u);

	crl_st_be32(cqe + offsetof(struct crl_cqe64, sop_drop_qpn),
		CRL_OPCODE_SEND << 24 | BN_ROUND_SQN);
	crl_st32(cqe + CRL_CQE_TAIL,
		(uint32_t)crl_bswap16(crl_index16(w)) | (CRL_CQE_REQ << 4 | owner) << 24);
}

/* Waits for the next doorbell and answers it. False: none came. */
CRL_FN bool
bn_round_turn(struct bn_round_nic *n)
{
	uint64_t told, word, end = 0;
	uint32_t i, record;
	struct bn_wqe w;

	for (i = 0; (word = crl_ld64(n->uar)) == n->uar_seen; i++) {
		if (bn_spin_over(i, &end))
			return false;
	}
	n->uar_seen = word;
	if (n->gpu_scope) /* pairs with the engine's two edges */
		crl_order_ringer_after_producer_gpu();
	else
		crl_order_cqe_before_payload();
	/* The record, and the WQE that it must announce: fetched at once, as a NIC may. */
	record = crl_ld32(&n->dbrec[CRL_DBREC_SND_WORD]);
	w = bn_round_fetch(
		n->wqe + (uint64_t)crl_ring_slot(n->done, n->log_depth) * CRL_WQEBB_BYTES);
	told = crl_index_from16(n->done, (uint16_t)crl_bswap32(record));
	for (; n->done < told; n->done++) {
		n->torn += !bn_round_right(w, n->done);
		if (n->gpu_scope) /* its reads of the WQE, before the CQE says so */
			crl_order_producer_before_ringer_gpu();
		else
			crl_order_reads_before_giveback();
		bn_round_cqe(n, n->done);
		w = n->done + 1u < told
			    ? bn_round_fetch(
				      n->wqe + (uint64_t)crl_ring_slot(n->done + 1u, n->log_depth) *
						       CRL_WQEBB_BYTES)
			    : w;
	}
	return true;
}

/* The engine's round: post one, ring, wait for its completion. False: it did not come. */
CRL_FN bool
bn_round_engine(struct crl_burst *b, struct crl_sq *sq, struct crl_qerror *error, bool gpu_scope)
{
	enum crl_st st;
	uint64_t end = 0;
	uint32_t i;

	crl_burst_write_one(b, bn_round_frame(b->pi), 0);
	if (gpu_scope)
		crl_burst_ring_gpu(b, 1);
	else
		crl_burst_ring(b, 1);
	crl_burst_next(b, 1);
	crl_burst_close(b, sq);
	for (i = 0; (st = crl_burst_poll_one(sq, error)) == CRL_AGAIN; i++) {
		if (bn_spin_over(i, &end))
			return false;
	}
	return st == CRL_OK;
}

/* What two kernels that only exchange flags have: the same fences, one word for each of ours. */
struct bn_bare {
	uint32_t *record, *word, *answer;
	uint32_t gpu_scope;
};

CRL_FN void
bn_bare_fence_in(const struct bn_bare *b)
{
	if (b->gpu_scope)
		crl_order_ringer_after_producer_gpu();
	else
		crl_order_cqe_before_payload();
}

CRL_FN void
bn_bare_fence_out(const struct bn_bare *b)
{
	if (b->gpu_scope)
		crl_order_wqe_before_record_gpu();
	else
		crl_order_wqe_before_record();
}

CRL_FN bool
bn_bare_see(const uint32_t *word, uint32_t round)
{
	uint64_t end = 0;
	uint32_t i;

	for (i = 0; crl_ld32(word) != round; i++) {
		if (bn_spin_over(i, &end))
			return false;
	}
	return true;
}

CRL_FN bool
bn_bare_engine(const struct bn_bare *b, uint32_t round)
{
	bn_bare_fence_out(b);
	crl_st32(b->record, round);
	bn_bare_fence_out(b);
	crl_st32(b->word, round);
	if (!bn_bare_see(b->answer, round))
		return false;
	crl_order_send_done_before_reuse();
	return true;
}

CRL_FN bool
bn_bare_nic(const struct bn_bare *b, uint32_t round)
{
	if (!bn_bare_see(b->word, round))
		return false;
	bn_bare_fence_in(b);
	bn_bare_fence_out(b);
	crl_st32(b->answer, round);
	return true;
}

#endif /* CRL_BENCH_ROUND_H */
