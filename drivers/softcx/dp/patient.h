/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For wires that lose nothing to a driver that is not ready yet (a capture file): whether a frame
 * has a place now. Such a wire keeps a frame that has none and is asked again.
 */
#ifndef SCX_DP_PATIENT_H
#define SCX_DP_PATIENT_H

#include "receive.h"
#include "steer.h"

/*
 * Has the driver ever posted a receive buffer? Before it has, a rule that drops is one of those
 * that a driver makes and removes to find out what the NIC can do, and not meant for any frame.
 */
SCX_SLOW bool
scx_rx_begun(struct scx_dp *dp)
{
	unsigned i;

	for (i = 0; i < SCX_DP_RQ_MAX && !dp->rx_begun; i++) {
		const struct scx_rq *rq = &dp->rq[i];

		if (!rq->used || rq->q.state != SCX_WQ_RDY)
			continue;
		scx_look(dp, rq->q.dbrec, CRL_DBREC_BYTES);
		dp->rx_begun = (uint16_t)crl_bswap32(scx_ld32_acquire(
				       &rq->q.dbrec[CRL_DBREC_RCV_WORD])) != rq->ci;
	}
	return dp->rx_begun;
}

/* Would the frame find a buffer, or a rule that drops it? */
SCX_SLOW bool
scx_would_place(struct scx_dp *dp, const struct scx_frame *f)
{
	const struct scx_target *to;
	struct scx_seen seen;

	scx_examine(&seen, f);
	to = scx_steer(dp, seen.key);
	if (to->rq == NULL)
		return to->dest == SCX_FLOW_DROP && scx_rx_begun(dp);
	return to->rq->q.state == SCX_WQ_RDY &&
	       (to->rq->ci != to->rq->pi || scx_rq_refill(dp, to->rq));
}

#endif /* SCX_DP_PATIENT_H */
