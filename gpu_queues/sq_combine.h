/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many producers on one send queue, the fast form: each writes its own burst of SENDs at the same
 * time as the others, and one of them rings for all that are ready. sq_share.h is the general form,
 * in which a producer has the whole queue for its turn; this one is for bursts (sq_burst.h).
 *
 *   crl_combine_reserve()  a range of the ring, by one atomic addition; says when there is no room
 *   crl_burst_write()      all lanes, outside of any turn
 *   crl_combine_publish()  the range is written. Who raises the count of unrung ranges from 0 is
 *                          the ringer until it is 0 again: rings once for all ranges it finds, in
 *                          the order of their tickets, and takes completions
 *   crl_combine_idle()     who found no room looks for completions, if nobody rings
 *
 * Why nothing is forgotten: a range is counted after it was written down; the ringer takes from the
 * count what it rang for, and stays while anything is left. A range that is counted and not yet
 * seen keeps it there; one seen before it is counted makes the count -1, which its producer raises
 * to 0 and so is no ringer.
 *
 * Rules: at most `producers` of them, each with one range at a time, none longer than burst_max; a
 * reserved range is written and published, or no range after it ever leaves (the ringer gives up
 * after wait_ns and fails the queue). The queue's book (struct crl_sq) belongs to the ringer. The
 * struct may lie in a block's shared memory when all producers are of that block; who says so in
 * in_block, after crl_combine_init(), has the cheaper fence among them. They are threads of one
 * GPU, or of the host: what they agree on is ordered among them; what the NIC sees, by the ringer's
 * two edges as in every post.
 */
#ifndef CRL_SQ_COMBINE_H
#define CRL_SQ_COMBINE_H

#include "sq_burst.h"
#include "sq_doorbell.h"

#define CRL_COMBINE_PRODUCERS 64u /* at most; a power of two */
#define CRL_COMBINE_LOOK      8u  /* ranges of one look: their loads are on the way together */
#define CRL_COMBINE_NUMBER    (((uint64_t)1 << 48) - 1u) /* of ranges: for years at any rate */

struct crl_sq_combine {
	CRL_ALIGNAS(64) uint64_t ticket; /* [63:48] WQEBBs reserved, [47:0] ranges reserved */
	CRL_ALIGNAS(64) uint32_t unrung; /* ranges published and not yet rung for; can be -1 */
	CRL_ALIGNAS(64) uint64_t ci;	 /* WQEBBs whose room is free again; the ringer's word */
	uint32_t failed;		 /* 1: an error CQE came, or a range did not */
	uint32_t producers;
	uint32_t burst_max;
	uint32_t gpu_scope; /* 1: the NIC's edges too are at GPU scope, see crl_sq_ring_gpu() */
	uint32_t in_block;  /* 1: all producers are of one block, whose threads alone look here */
	CRL_ALIGNAS(64)
	uint64_t range_next; /* number of the next range to ring for; the ringer's */
	/* By number: [63:16] number + 1, [15:0] index after the range's last WQEBB. */
	CRL_ALIGNAS(64) uint64_t range[CRL_COMBINE_PRODUCERS];
};

/* Before a word that tells another thread here, and after it was seen. */
CRL_FN void
crl_combine_told(const struct crl_sq_combine *c)
{
	if (c->in_block)
		crl_order_producer_before_ringer_block();
	else
		crl_order_producer_before_ringer_gpu();
}

CRL_FN void
crl_combine_seen(const struct crl_sq_combine *c)
{
	if (c->in_block)
		crl_order_producer_before_ringer_block();
	else
		crl_order_ringer_after_producer_gpu();
}

/* The queue is fresh, nobody uses it yet, and the ring takes two bursts of every producer. */
CRL_FN void
crl_combine_init(struct crl_sq_combine *c, const struct crl_sq *sq, uint32_t producers,
	uint32_t burst_max, bool gpu_scope)
{
	uint32_t i;

	CRL_ASSERT(producers <= CRL_COMBINE_PRODUCERS);
	CRL_ASSERT(2u * producers * burst_max <= crl_ring_depth(sq->log_depth));
	c->ticket = (uint64_t)crl_index16(sq->pi) << 48;
	c->unrung = 0;
	c->ci = sq->ci;
	c->failed = 0;
	c->producers = producers;
	c->burst_max = burst_max;
	c->gpu_scope = gpu_scope;
	c->in_block = 0;
	c->range_next = 0;
	for (i = 0; i < CRL_COMBINE_PRODUCERS; i++)
		c->range[i] = 0;
}

/*
 * Takes n WQEBBs; *pi: the first, whose low 16 bits are true, which is what a WQE and a slot need;
 * *number: of the range. *ci_seen is the producer's own word, zero at first. CRL_AGAIN: no room
 * now, in the ring or among the ranges, counted as if every producer took a burst at this moment,
 * so that the addition cannot take what is not there. CRL_INVALID: n is 0 or too many.
 */
CRL_FN enum crl_st
crl_combine_reserve(struct crl_sq_combine *c, uint32_t log_depth, uint32_t n, uint64_t *pi,
	uint64_t *number, uint64_t *ci_seen)
{
	uint64_t t = crl_ld64(&c->ticket), ci = crl_ld64(&c->ci);
	uint64_t unrung = (t & CRL_COMBINE_NUMBER) - crl_ld64(&c->range_next);
	uint32_t used = (uint16_t)((t >> 48) - ci);

	if (n == 0 || n > c->burst_max)
		return CRL_INVALID;
	if (crl_ld32(&c->failed))
		return CRL_FAILED;
	if (used + c->producers * c->burst_max > crl_ring_depth(log_depth) ||
		unrung + c->producers > CRL_COMBINE_PRODUCERS)
		return CRL_AGAIN;
	if (ci != *ci_seen)
		crl_combine_seen(c); /* pairs with the ringer's before it freed this room */
	*ci_seen = ci;
	t = crl_add64(&c->ticket, (uint64_t)n << 48 | 1u);
	*pi = t >> 48;
	*number = t & CRL_COMBINE_NUMBER;
	return CRL_OK;
}

/* Ranges that can be rung for, in order, up to CRL_COMBINE_LOOK; *end: after the last, 16 bits. */
CRL_FN uint32_t
crl_combine_ready(const struct crl_sq_combine *c, uint16_t *end)
{
	uint64_t word[CRL_COMBINE_LOOK], next = c->range_next;
	uint32_t i, n = 0;

	CRL_UNROLL(8)
	for (i = 0; i < CRL_COMBINE_LOOK; i++)
		word[i] = crl_ld64(&c->range[(next + i) & (CRL_COMBINE_PRODUCERS - 1u)]);
	CRL_UNROLL(8)
	for (i = 0; i < CRL_COMBINE_LOOK; i++) {
		if (n == i && word[i] >> 16 == next + i + 1u) {
			*end = (uint16_t)word[i];
			n++;
		}
	}
	return n;
}

/* The ringer's: completions. */
CRL_FN void
crl_combine_reap(struct crl_sq_combine *c, struct crl_sq *sq, struct crl_qerror *error)
{
	uint64_t ci = sq->ci;

	if (crl_burst_reap(sq, error) == CRL_FAILED)
		crl_st32(&c->failed, 1);
	if (sq->ci == ci)
		return;
	crl_combine_told(c); /* pairs with who reserves this room next */
	crl_st64(&c->ci, sq->ci);
}

/* The ringer's: rings for so many ranges, up to the one that ends at end. */
CRL_FN void
crl_combine_ring(struct crl_sq_combine *c, struct crl_sq *sq, uint32_t ranges, uint16_t end)
{
	uint64_t to = crl_index_from16(sq->posted, end);

	crl_combine_seen(c); /* pairs with each producer's before it wrote its range down */
	sq->pi = to;
	sq->posted = to;
	sq->signalled = to;
	sq->last = to - 1u;
	sq->db = crl_seg_ctrl(CRL_OPCODE_SEND, to - 1u, sq->sqn, CRL_BURST_DS, 0).q[0];
	if (c->gpu_scope)
		crl_sq_ring_gpu(sq);
	else
		crl_sq_ring(sq);
	crl_st64(&c->range_next, c->range_next + ranges);
}

/* The ringer's, until nothing is left unrung. Returns as crl_combine_publish(). */
CRL_FN enum crl_st
crl_combine_run(struct crl_sq_combine *c, struct crl_sq *sq, struct crl_qerror *error,
	uint32_t left, uint64_t wait_ns)
{
	uint64_t deadline = 0;
	uint32_t ranges;
	uint16_t end = 0;

	while ((int32_t)left > 0) { /* bound: wait_ns without a range */
		ranges = crl_combine_ready(c, &end);
		if (ranges == 0) {
			deadline = deadline ? deadline : crl_until(crl_now_ns(), wait_ns);
			if (crl_now_ns() <= deadline)
				continue;
			crl_st32(&c->failed, 1);
			crl_qerror_put(error, CRL_QERR_TURN, false, sq->sqn,
				crl_index16(sq->posted), NULL, NULL);
			return CRL_STUCK;
		}
		deadline = 0;
		crl_combine_ring(c, sq, ranges, end);
		if (sq->posted - sq->ci > crl_ring_depth(sq->log_depth) / 4u)
			crl_combine_reap(c, sq, error);
		crl_combine_told(c); /* pairs with who rings next */
		left = crl_add32(&c->unrung, 0u - ranges) - ranges;
	}
	return crl_ld32(&c->failed) ? CRL_FAILED : CRL_OK;
}

/*
 * The range's WQEs are written by all lanes of this warp. One lane. CRL_OK; CRL_STUCK: a range
 * before it was not published within wait_ns, and the queue has failed for that; CRL_FAILED: it had
 * failed before.
 */
CRL_FN enum crl_st
crl_combine_publish(struct crl_sq_combine *c, struct crl_sq *sq, struct crl_qerror *error,
	uint64_t number, uint64_t pi, uint32_t n, uint64_t wait_ns)
{
	crl_combine_told(c); /* pairs with the ringer's after it saw the range */
	crl_st64(&c->range[number & (CRL_COMBINE_PRODUCERS - 1u)],
		(number + 1u) << 16 | crl_index16(pi + n));
	if (crl_add32(&c->unrung, 1) != 0)
		return crl_ld32(&c->failed) ? CRL_FAILED : CRL_OK;
	crl_combine_seen(c); /* pairs with the ringer's before, who left */
	return crl_combine_run(c, sq, error, 1, wait_ns);
}

/* Who found no room: if nobody rings, takes completions in the ringer's place. One lane. */
CRL_FN enum crl_st
crl_combine_idle(
	struct crl_sq_combine *c, struct crl_sq *sq, struct crl_qerror *error, uint64_t wait_ns)
{
	if (!crl_cas32(&c->unrung, 0, 1))
		return CRL_AGAIN;
	crl_combine_seen(c); /* pairs with the ringer's before, who left */
	crl_combine_reap(c, sq, error);
	crl_combine_told(c); /* pairs with who rings next */
	return crl_combine_run(c, sq, error, crl_add32(&c->unrung, 0u - 1u) - 1u, wait_ns);
}

#endif /* CRL_SQ_COMBINE_H */
