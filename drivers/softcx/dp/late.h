/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DMA that completes later, by the fault plan (dma-delay=N): what the NIC writes into the driver's
 * memory is kept for up to N steps by chance, and leaves in an order that PCI Express allows. A
 * frame's bytes go in pieces of at most 256 bytes, in any order (relaxed ordering). A CQE becomes
 * valid after all that was written for its CQ before it, and an event after the CQE that caused it.
 * What belongs to different CQs is not ordered at all. WQEs that were rung wait likewise, and on a
 * port that hears itself the packets that they name are read later than they are.
 *
 * A command finds nothing on its way: all of it completes first, so that a destroyed queue writes
 * no more. complete.h and scatter.h put the writes here, dp.c lets them go.
 */
#ifndef SCX_DP_LATE_H
#define SCX_DP_LATE_H

#include "far.h"
#include "state.h"

#define SCX_LATE_OPS   2048u
#define SCX_LATE_PIECE 256u /* a usual maximum payload size of PCI Express */

enum scx_late_kind { SCX_LATE_FREE, SCX_LATE_DATA, SCX_LATE_CQE, SCX_LATE_EVENT };

struct scx_late_op {
	uint8_t kind;
	uint16_t len;
	uint32_t cq; /* slot of the CQ that it is ordered with */
	uint64_t due;
	uint8_t *at;   /* DATA, CQE */
	uint64_t tail; /* CQE; EVENT: the CQ's index */
	uint8_t bytes[SCX_LATE_PIECE];
};

/* The operations in the order in which they came; head of the ring first. */
struct scx_late {
	uint64_t now;	     /* steps */
	uint64_t held_until; /* step at which the held batch is gathered */
	uint32_t nr, held;
	uint64_t blocked[(SCX_DP_CQ_MAX + 63u) / 64u]; /* CQs that have an earlier one waiting */
	struct scx_late_op op[SCX_LATE_OPS];
};

SCX_SLOW void
scx_late_do(struct scx_dp *dp, struct scx_late_op *op)
{
	struct scx_dp_report *r;

	switch (op->kind) {
	case SCX_LATE_DATA:
		memcpy(op->at, op->bytes, op->len);
		break;
	case SCX_LATE_CQE:
		scx_st64_release(op->at, op->tail);
		dp->stats.cqes++;
		scx_pci_write(dp, CRL_CQE_BYTES);
		break;
	case SCX_LATE_EVENT:
		r = scx_report(dp, SCX_DP_CQ_EVENT, dp->cq[op->cq].q.cqn);
		if (r != NULL)
			r->index = (uint32_t)op->tail;
		break;
	}
	op->kind = SCX_LATE_FREE;
}

/* Those that are due, but not before what they are ordered behind; all: whatever they wait for. */
SCX_SLOW unsigned
scx_late_turn(struct scx_dp *dp, bool all)
{
	struct scx_late *l = dp->late;
	uint32_t i, left = 0;
	unsigned done = 0;

	l->now++;
	memset(l->blocked, 0, sizeof(l->blocked));
	for (i = 0; i < l->nr; i++) {
		struct scx_late_op *op = &l->op[i];
		uint64_t *word = &l->blocked[op->cq / 64u], bit = 1ull << op->cq % 64u;

		if (all || (op->due <= l->now && (op->kind == SCX_LATE_DATA || !(*word & bit)))) {
			scx_late_do(dp, op);
			done++;
			continue;
		}
		*word |= bit;
		if (left != i)
			l->op[left] = *op;
		left++;
	}
	l->nr = left;
	return done;
}

SCX_SLOW struct scx_late_op *
scx_late_new(struct scx_dp *dp, enum scx_late_kind kind, const struct scx_cq *cq)
{
	struct scx_late *l = dp->late;
	struct scx_late_op *op;

	if (l->nr == SCX_LATE_OPS)
		(void)scx_late_turn(dp, true);
	op = &l->op[l->nr++];
	op->kind = (uint8_t)kind;
	op->cq = (uint32_t)(cq - dp->cq);
	op->due = l->now + scx_fault_rand(&dp->fault) % (dp->fault.plan.dma_delay + 1u);
	return op;
}

SCX_SLOW void
scx_late_data(
	struct scx_dp *dp, const struct scx_cq *cq, uint8_t *dst, const uint8_t *src, uint32_t n)
{
	while (n > 0) {
		uint32_t part = n < SCX_LATE_PIECE ? n : SCX_LATE_PIECE;
		struct scx_late_op *op = scx_late_new(dp, SCX_LATE_DATA, cq);

		op->at = dst;
		op->len = (uint16_t)part;
		memcpy(op->bytes, src, part);
		dst += part;
		src += part;
		n -= part;
	}
}

/* A frame's bytes into the driver's memory. */
SCX_FN void
scx_write(struct scx_dp *dp, const struct scx_cq *cq, uint8_t *dst, const uint8_t *src, uint32_t n)
{
	if (SCX_UNLIKELY(dp->late != NULL))
		scx_late_data(dp, cq, dst, src, n);
	else
		scx_copy(dst, src, n);
	scx_push(dp, dst, n);
}

#endif /* SCX_DP_LATE_H */
