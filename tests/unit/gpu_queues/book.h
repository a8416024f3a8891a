/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A send queue in the middle of its life, for tests that compare one call with a model of it: any
 * index, rings that older laps have left full, a CQ with what a NIC may have put there.
 */
#ifndef BOOK_H
#define BOOK_H

#include "fake_nic.h"

static uint64_t book_seed = 88172645463325252ull;

static inline uint64_t
book_rnd(void)
{
	book_seed ^= book_seed << 13;
	book_seed ^= book_seed >> 7;
	book_seed ^= book_seed << 17;
	return book_seed >> 11;
}

static inline uint32_t
book_below(uint64_t n)
{
	return (uint32_t)(book_rnd() % n);
}

/* Any index, often one at which 8, 16, 24 or 32 bits wrap. */
static inline uint64_t
book_index(void)
{
	static const uint64_t wrap[] = {256, 65536, 1u << 24, 1ull << 32, 1ull << 40};
	uint64_t at =
		book_rnd() % 3u == 0 ? book_rnd() >> 20 : wrap[book_below(5)] - book_below(70);

	return at + 4096u; /* older laps lie before it */
}

static inline void
book_cqe(struct crl_cq *cq, uint64_t at, uint32_t opcode, uint64_t counter)
{
	struct crl_cqe64 *c = &cq->cqe[at & ((1ull << cq->log_depth) - 1u)];

	c->wqe_counter = crl_to_be16((uint16_t)counter);
	c->op_own = (uint8_t)(opcode << 4 | (at >> cq->log_depth & 1u));
}

/* As after all before ci was consumed and told of: every entry is one of the lap before. */
static inline void
book_cq(struct crl_cq *cq, uint64_t ci, uint32_t opcode, uint64_t counter)
{
	uint64_t depth = 1ull << cq->log_depth;

	cq->ci = cq->ci_told = ci;
	for (uint64_t i = ci - depth; i < ci; i++)
		book_cqe(cq, i, opcode, counter - (ci - i));
	cq->dbrec[CRL_DBREC_CQ_CI] = crl_to_be32((uint32_t)(ci & 0xffffffu));
}

/* The same of a send queue: nothing is under way, WQEs of one WQEBB lie in all slots. */
static inline void
book_sq(struct fake_nic *n, uint64_t at)
{
	struct crl_sq *sq = &n->q.sq;
	uint64_t depth = 1ull << sq->log_depth;

	sq->pi = sq->posted = sq->rung = sq->completed = sq->ci = sq->signalled = at;
	for (uint64_t i = at - depth; i < at; i++) {
		sq->cookie[i & (depth - 1u)] = ~i;
		sq->end[i & (depth - 1u)] = i + 1u;
	}
	sq->last = at - 1u;
	n->sq_told = n->sq_at = at;
	book_cq(&sq->cq, book_index(), CRL_CQE_REQ, at);
	n->scq_pi = sq->cq.ci;
}

#endif /* BOOK_H */
