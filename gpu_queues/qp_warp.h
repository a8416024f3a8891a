/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage 2 of 4 of RDMA writes by a warp: up to eight, by pointer (four lanes each, eight to a
 * 512-byte store) or inlined, with the plan of sq_warp.h and under its rules. Addresses, keys and
 * lengths come from a table of writes.
 */
#ifndef CRL_QP_WARP_H
#define CRL_QP_WARP_H

#include "qp_post.h"
#include "sq_warp.h"

/* Plans the first of n writes, as many as fit into eight and room WQEBBs; how many. inline_max: as
 * crl_qp_put_write(). */
CRL_FN uint32_t
crl_warp_write_plan(const struct crl_sq *sq, const struct crl_write *w, uint32_t n,
	uint32_t inline_max, uint64_t room, struct crl_warp_plan *plan)
{
	CRL_ASSERT(inline_max <= CRL_INLINE_WRITE_MAX);
	crl_warp_plan_begin(plan, sq);
	while (plan->n < n &&
		crl_warp_plan_add(plan, sq, crl_write_ds(w[plan->n].src.len, inline_max), room))
		continue;
	return plan->n;
}

/* All that lane writes of the planned writes at pi, plan->bbs WQEBBs. */
CRL_FN void
crl_warp_write_lane(struct crl_sq *sq, uint64_t pi, const struct crl_warp_plan *plan,
	const struct crl_write *w, uint32_t inline_max, const uint64_t *cookie, uint32_t lane)
{
	uint32_t at, i, k;
	struct crl_seg s;

	for (at = lane; at < 4u * plan->bbs; at += CRL_WARP_LANES) {
		i = crl_warp_plan_at(plan, at, &k);
		if (k == 0)
			s = crl_warp_plan_ctrl(plan, sq, pi, CRL_OPCODE_RDMA_WRITE, i);
		else if (k < plan->ds[i])
			s = crl_seg_write(&w[i], inline_max, k);
		else
			s = crl_seg_zero();
		crl_st_seg(crl_sq_seg(sq, pi, at), s);
	}
	crl_warp_plan_note(plan, sq, pi, cookie, lane);
}

/* A warp of one thread; in a kernel lane 0 ends with crl_warp_plan_end(). */
CRL_FN void
crl_warp_writes(struct crl_sq *sq, uint64_t pi, const struct crl_warp_plan *plan,
	const struct crl_write *w, uint32_t inline_max, const uint64_t *cookie,
	const uint8_t *order)
{
	uint32_t i;

	for (i = 0; i < CRL_WARP_LANES; i++)
		crl_warp_write_lane(sq, pi, plan, w, inline_max, cookie, order[i]);
	crl_warp_plan_end(plan, sq, pi, CRL_OPCODE_RDMA_WRITE);
}

#endif /* CRL_QP_WARP_H */
