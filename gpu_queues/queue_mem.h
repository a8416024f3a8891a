/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Before a queue lives: how many bytes each of its tables takes, what must stand in them when the
 * NIC is told of it, and the indices of a fresh queue. Called by drivers/mlx5 (and by tests) on the
 * host.
 *
 * The fill functions write ordinary host memory and no queue struct, so that a driver whose rings
 * lie in memory that the host cannot touch fills a copy and sends it there. They are called before
 * CREATE, when no other party looks, hence plain stores.
 */
#ifndef CRL_QUEUE_MEM_H
#define CRL_QUEUE_MEM_H

#include <string.h>

#include "queue.h"

static inline bool
crl_depth_ok(uint32_t log_depth)
{
	return log_depth <= CRL_LOG_DEPTH_MAX;
}

/* Bytes of each table. Rings are aligned to 4096 by the driver; records to CRL_DBREC_ALIGN. */
static inline size_t
crl_sq_ring_bytes(uint32_t log_depth)
{
	return (size_t)CRL_WQEBB_BYTES << log_depth;
}

static inline size_t
crl_sq_cookie_bytes(uint32_t log_depth)
{
	return sizeof(uint64_t) << log_depth;
}

static inline size_t
crl_sq_end_bytes(uint32_t log_depth)
{
	return sizeof(uint64_t) << log_depth;
}

static inline size_t
crl_rq_ring_bytes(uint32_t log_depth)
{
	return sizeof(struct crl_wqe_data) << log_depth;
}

static inline size_t
crl_rq_released_bytes(uint32_t log_depth)
{
	return sizeof(uint8_t) << log_depth;
}

static inline size_t
crl_rq_buf_bytes(uint32_t log_depth, uint32_t stride)
{
	return (size_t)stride << log_depth;
}

static inline size_t
crl_cq_ring_bytes(uint32_t log_depth)
{
	return (size_t)CRL_CQE_BYTES << log_depth;
}

/*
 * A CQ holds as many entries as WQEs can complete in error, which is all of them. A collapsed CQ
 * needs one entry; it is still given the depth so that the two kinds differ in one flag only.
 */
static inline uint32_t
crl_cq_log_depth(uint32_t log_wq_depth)
{
	return log_wq_depth;
}

/*
 * Selective signalling: at least every so many frames or WQEBBs one send asks for a CQE, or
 * zero-copy forwarding stops with every receive buffer waiting in a send that nobody reports. want
 * 0: 32. Pass a log depth of CRL_LOG_DEPTH_MAX for a side that does not exist.
 */
static inline uint32_t
crl_signal_every(uint32_t want, uint32_t rq_log_depth, uint32_t sq_log_depth)
{
	uint32_t n = want != 0 ? want : 32u;
	uint32_t rx = (1u << rq_log_depth) / 4u, tx = (1u << sq_log_depth) / 4u;

	n = n < rx ? n : rx;
	n = n < tx ? n : tx;
	return n != 0 ? n : 1u;
}

/* Every CQE invalid and owned by the NIC: opcode 0xf, owner bit 1, which is what the lap before 0
 * had. */
static inline void
crl_cq_fill(void *ring, uint32_t log_depth)
{
	uint8_t *p = (uint8_t *)ring;
	size_t i, n = (size_t)1 << log_depth;

	memset(ring, 0, crl_cq_ring_bytes(log_depth));
	for (i = 0; i < n; i++)
		p[i * CRL_CQE_BYTES + offsetof(struct crl_cqe64, op_own)] =
			CRL_CQE_INVALID << 4 | 1u;
}

/* Every WQE names its buffer, once and for all; rq gives log_depth, stride, headroom, lkey,
 * buf_iova. */
static inline void
crl_rq_fill(void *ring, const struct crl_rq *rq)
{
	struct crl_wqe_data *wqe = (struct crl_wqe_data *)ring;
	uint64_t i, n = (uint64_t)1 << rq->log_depth;

	for (i = 0; i < n; i++) {
		wqe[i].byte_count = crl_to_be32(rq->stride - rq->headroom);
		wqe[i].lkey = crl_to_be32(rq->lkey);
		wqe[i].addr = crl_to_be64(rq->buf_iova + i * rq->stride + rq->headroom);
	}
}

/* All slots are the engine's to give: its first refill hands them to the NIC. */
static inline void
crl_rq_fill_released(void *released, uint32_t log_depth)
{
	memset(released, 1, crl_rq_released_bytes(log_depth));
}

#endif /* CRL_QUEUE_MEM_H */
