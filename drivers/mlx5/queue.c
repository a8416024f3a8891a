/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building a queue out of its parts, in the order the NIC wants them (page, CQs, SQ, RQ), and
 * taking it apart in the reverse. One allocation holds the rings, their doorbell records and the
 * engine's own arrays; one page of host memory holds what host and engine tell each other. Host
 * only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_queues/mem.h"
#include "internal.h"

#define CREATE_STEP  "create a queue"
#define SHARED_BYTES 4096u

_Static_assert(sizeof(struct crl_shared) <= SHARED_BYTES, "one page");

static size_t
align_up(size_t v, size_t a)
{
	return (v + a - 1) / a * a;
}

int
crl_ring_reg(struct crl_queue *q, struct crl_ring_mem *ring, struct crl_err *err)
{
	return crl_umem_reg(q->ctx, q->rings, ring->addr, ring->bytes, &ring->umem, err);
}

/* Room for a ring of n entries with the record on a 64-byte line of its own behind it. */
static size_t
place_ring(struct crl_ring_mem *ring, size_t off, size_t n, size_t stride, size_t page)
{
	size_t record = align_up(n * stride, CRL_DBREC_ALIGN);

	ring->addr = (uint8_t *)(uintptr_t)off; /* an offset until the memory is there */
	ring->dbrec_off = (uint32_t)record;
	ring->bytes = align_up(record + CRL_DBREC_ALIGN, page);
	return off + ring->bytes;
}

static int
take_rings(struct crl_queue *q, struct crl_err *err)
{
	const size_t page = crl_mem_page(q->rings), n_tx = (size_t)1 << q->sq.log_depth,
		     n_rx = (size_t)1 << q->rq.log_depth;
	const bool tx = q->cfg.flags & CRL_Q_TX, rx = q->cfg.flags & CRL_Q_RX;
	struct crl_ring_mem *rings[] = {
		&q->sq.ring, &q->tx_cq.ring, &q->rq.ring, &q->rx_cq.ring, &q->aux};
	size_t off = 0, arrays;
	void *zeros;
	int ret;

	if (tx) {
		off = place_ring(&q->sq.ring, off, n_tx, CRL_WQEBB_BYTES, page);
		off = place_ring(&q->tx_cq.ring, off, n_tx, CRL_CQE_BYTES, page);
	}
	if (rx) {
		off = place_ring(&q->rq.ring, off, n_rx, sizeof(struct crl_wqe_data), page);
		off = place_ring(&q->rx_cq.ring, off, n_rx, CRL_CQE_BYTES, page);
	}
	/* cookie[n_tx], end[n_tx], released[n_rx] */
	arrays = (tx ? crl_sq_cookie_bytes(q->sq.log_depth) + crl_sq_end_bytes(q->sq.log_depth)
		     : 0) +
		 (rx ? crl_rq_released_bytes(q->rq.log_depth) : 0);
	off = place_ring(&q->aux, off, 1, arrays, page);
	q->mem_bytes = off;
	ret = crl_mem_take(q->rings, q->mem_bytes, page, (void **)&q->mem, err);
	if (ret != 0)
		return ret;
	for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++)
		rings[i]->addr = q->mem + (uintptr_t)rings[i]->addr;
	zeros = calloc(1, q->mem_bytes);
	ret = zeros == NULL ? crl_fail_errno(err, ENOMEM, CREATE_STEP, "", "no memory")
			    : crl_mem_put(q->rings, q->mem, zeros, q->mem_bytes, err);
	free(zeros);
	if (ret != 0)
		crl_mem_give(q->rings, q->mem, q->mem_bytes);
	return ret;
}

static int
take_shared(struct crl_queue *q, struct crl_err *err)
{
	const struct crl_mem *host = &q->ctx->host;
	int ret = crl_mem_take(host, SHARED_BYTES, SHARED_BYTES, (void **)&q->shared, err);

	if (ret != 0)
		return ret;
	q->shared_dev = q->shared;
	if (q->rings->map_host == NULL)
		return 0;
	ret = q->rings->map_host(q->rings->arg, q->shared, SHARED_BYTES, (void **)&q->shared_dev);
	if (ret != 0) {
		crl_mem_give(host, q->shared, SHARED_BYTES);
		q->shared = NULL;
		return crl_fail_mem(err, q->rings, ret, "map control words for the GPU",
			"see the GPU driver's log", "one page on %s", q->rings->name);
	}
	q->shared_mapped = true;
	return 0;
}

static void
give_memory(struct crl_queue *q)
{
	if (q->shared_mapped)
		q->rings->unmap_host(q->rings->arg, q->shared);
	crl_mem_give(&q->ctx->host, q->shared, SHARED_BYTES);
	crl_mem_give(q->rings, q->mem, q->mem_bytes);
}

static int
take_buffers(struct crl_queue *q, struct crl_err *err)
{
	struct crl_region_cfg cfg = {
		.size = sizeof(cfg),
		.flags = CRL_REGION_ALLOC,
		.bytes = (size_t)q->cfg.rx_depth * q->cfg.rx_buf_bytes,
		.mem = q->buffers,
	};
	int ret;

	if (q->cfg.flags & CRL_Q_RX) {
		ret = crl_region_reg(q->ctx, &cfg, &q->rx_region, err);
		if (ret != 0)
			return ret;
		q->rx_region->nr_queues++;
	}
	if (q->cfg.tx_region != NULL)
		q->cfg.tx_region->nr_queues++;
	return 0;
}

/* Receive buffers back, and the hold on tx_region; after a refusal it can be called again. */
static int
give_buffers(struct crl_queue *q, struct crl_err *err)
{
	int ret;

	if (q->rx_region != NULL) {
		q->rx_region->nr_queues = 0;
		ret = crl_region_dereg(q->rx_region, err);
		if (ret != 0) {
			q->rx_region->nr_queues = 1;
			return ret;
		}
	}
	if (q->cfg.tx_region != NULL)
		q->cfg.tx_region->nr_queues--;
	return 0;
}

/* The same where nobody can be told: what the NIC does not let go of stays until the context
 * closes. */
static void
leave_buffers(struct crl_queue *q)
{
	if (give_buffers(q, NULL) == 0)
		return;
	q->rx_region->nr_queues = 0;
	q->rx_region->orphan = true;
	q->rx_region = NULL;
	give_buffers(q, NULL);
}

/* Objects in reverse order; stops at the first the NIC does not let go of, and can be called again.
 */
static int
destroy_objects(struct crl_queue *q, struct crl_err *err)
{
	int ret = crl_wq_destroy(q, &q->rq, "destroy receive queue", err);

	if (ret == 0)
		ret = crl_wq_destroy(q, &q->sq, "destroy send queue", err);
	if (ret == 0)
		ret = crl_cq_destroy(q, &q->rx_cq, err);
	if (ret == 0)
		ret = crl_cq_destroy(q, &q->tx_cq, err);
	if (ret == 0)
		crl_uar_put(q);
	return ret;
}

static int
create_objects(struct crl_queue *q, struct crl_err *err)
{
	const bool tx = q->cfg.flags & CRL_Q_TX, rx = q->cfg.flags & CRL_Q_RX;
	int ret = crl_uar_get(q, err);

	if (ret == 0 && tx)
		ret = crl_cq_create(q, &q->tx_cq, "create send completion queue", err);
	if (ret == 0 && rx)
		ret = crl_cq_create(q, &q->rx_cq, "create receive completion queue", err);
	if (ret == 0 && tx)
		ret = crl_sq_create(q, err);
	if (ret == 0 && rx)
		ret = crl_rq_create(q, err);
	if (ret == 0)
		ret = crl_events_subscribe(q, err);
	if (ret != 0 && destroy_objects(q, NULL) != 0)
		q->ctx->left = true;
	return ret;
}

static void
init(struct crl_queue *q, struct crl_ctx *ctx)
{
	q->ctx = ctx;
	q->id = ++ctx->next_id;
	q->rings = q->cfg.rings != NULL ? q->cfg.rings : &ctx->host;
	q->buffers = q->cfg.buffers != NULL ? q->cfg.buffers : q->rings;
	crl_depth_check("send", q->cfg.tx_depth, &q->sq.log_depth, NULL);
	crl_depth_check("receive", q->cfg.rx_depth, &q->rq.log_depth, NULL);
	q->tx_cq.log_depth = (uint8_t)crl_cq_log_depth(q->sq.log_depth);
	q->rx_cq.log_depth = (uint8_t)crl_cq_log_depth(q->rq.log_depth);
	q->tx_cq.flags = q->cfg.cq_flags;
	/* Its CQEs count as those of any CQ, and nobody tells the NIC of one that is rewritten. */
	if (q->tx_cq.flags & CRL_CQ_COLLAPSED)
		q->tx_cq.flags |= CRL_CQ_OVERRUN_IGNORE;
	q->rx_cq.flags = q->cfg.cq_flags & ~CRL_CQ_COLLAPSED;
}

CRL_PUBLIC int
crl_queue_create(struct crl_ctx *ctx, const struct crl_queue_cfg *cfg, struct crl_queue **queue,
	struct crl_err *err)
{
	struct crl_queue *q = calloc(1, sizeof(*q));
	int ret;

	if (q == NULL)
		return crl_fail_errno(err, ENOMEM, CREATE_STEP, "", "no memory");
	ret = crl_queue_cfg_check(ctx, cfg, &q->cfg, err);
	if (ret != 0)
		goto undo_queue;
	init(q, ctx);
	ret = take_rings(q, err);
	if (ret != 0)
		goto undo_queue;
	ret = take_shared(q, err);
	if (ret != 0)
		goto undo_memory;
	ret = take_buffers(q, err);
	if (ret != 0)
		goto undo_memory;
	ret = create_objects(q, err);
	if (ret != 0)
		goto undo_buffers;
	LIST_INSERT_HEAD(&ctx->queues, q, link);
	*queue = q;
	return 0;

undo_buffers:
	leave_buffers(q);
undo_memory:
	give_memory(q);
undo_queue:
	free(q);
	return ret;
}

CRL_PUBLIC int
crl_queue_destroy(struct crl_queue *q, struct crl_err *err)
{
	int ret;

	if (q == NULL)
		return 0;
	if (q->attached)
		return crl_err_set(err, -EBUSY, "destroy a queue", "crl_port_detach() it first",
			"port %s still maps queue %u", q->ctx->port_name, q->cfg.index);
	if (crl_ld32(&q->shared->ctl.owned))
		return crl_err_set(err, -EBUSY, "destroy a queue", "crl_engine_stop() it first",
			"an engine runs queue %u", q->cfg.index);
	ret = destroy_objects(q, err);
	if (ret == 0)
		ret = give_buffers(q, err);
	if (ret != 0)
		return ret;
	LIST_REMOVE(q, link);
	give_memory(q);
	free(q);
	return 0;
}
