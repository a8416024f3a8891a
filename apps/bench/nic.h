/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC of the post benchmark: looks at a queue's doorbell record and says that all it counts was
 * sent, one CQE a burst. It reads no WQE. What it costs is the same for both sides: one load, and
 * one store a burst, at the place and with the owner bit where the side looks. One lane a queue, in
 * a kernel or a host thread.
 */
#ifndef CRL_BENCH_NIC_H
#define CRL_BENCH_NIC_H

#include "gpu_queues/cq_poll.h"

struct bn_nicq {
	const crl_be32 *dbrec;
	uint8_t *cqe;
	uint32_t log_depth; /* of the CQ too */
	uint32_t batch;	    /* WQEs a burst; a burst asks for one CQE, by its last WQE */
	uint32_t
		by_index; /* 1: the CQE lies where its WQE's index says, as the DOCA header looks */
	uint32_t rsvd;
	uint64_t seen; /* WQEs reported */
	uint64_t cqes;
};

/* Reports what the record counts. Returns how many WQEs that were. */
CRL_FN uint64_t
bn_nicq_turn(struct bn_nicq *q)
{
	uint32_t word = crl_bswap32(crl_ld32(&q->dbrec[CRL_DBREC_SND_WORD]));
	uint64_t at, last, told = crl_index_from16(q->seen, (uint16_t)word), before = q->seen;
	uint32_t owner;

	for (; q->seen + q->batch <= told; q->seen += q->batch) {
		last = q->seen + q->batch - 1u;
		at = q->by_index ? last : q->cqes;
		owner = (uint32_t)(at >> q->log_depth & 1u);
		crl_st32(q->cqe + (uint64_t)crl_ring_slot(at, q->log_depth) * CRL_CQE_BYTES +
				 CRL_CQE_TAIL,
			(uint32_t)crl_bswap16(crl_index16(last)) | (CRL_CQE_REQ << 4 | owner)
									   << 24);
		q->cqes++;
	}
	return q->seen - before;
}

#endif /* CRL_BENCH_NIC_H */
