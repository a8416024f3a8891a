/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What others see of a queue: the plain struct of addresses that an engine runs on, counters and
 * control words, numbers, and the path that packets take, in words. Host only.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu_queues/control.h"
#include "gpu_queues/mem.h"
#include "internal.h"

static void *
dbrec(const struct crl_ring_mem *ring)
{
	return ring->addr + ring->dbrec_off;
}

static void
export_cq(const struct crl_cq_obj *obj, struct crl_cq *cq)
{
	cq->cqe = (struct crl_cqe64 *)(void *)obj->ring.addr;
	cq->dbrec = dbrec(&obj->ring);
	cq->log_depth = obj->log_depth;
	cq->cqn = obj->cqn;
	cq->flags = obj->flags;
}

static void
export_sq(const struct crl_queue *q, struct crl_sq *sq)
{
	const struct crl_region *region =
		q->cfg.tx_region != NULL ? q->cfg.tx_region : q->rx_region;
	const size_t n = (size_t)1 << q->sq.log_depth;

	sq->wqe = q->sq.ring.addr;
	sq->dbrec = dbrec(&q->sq.ring);
	sq->uar = q->uar_reg;
	sq->cookie = (uint64_t *)(void *)q->aux.addr;
	sq->end = sq->cookie + n;
	sq->log_depth = q->sq.log_depth;
	sq->sqn = q->sq.num;
	sq->lkey = region != NULL ? crl_region_lkey(region) : CRL_LKEY_INVALID;
	sq->signal_every = q->cfg.signal_every;
	sq->flags = crl_takes_empw(q->ctx) ? CRL_SQ_EMPW : 0;
	sq->inline_max = q->cfg.tx_inline_max;
	sq->inline_hdr = q->ctx->caps.inline_mode == CRL_INLINE_L2 ? CRL_INLINE_HDR_L2 : 0;
	export_cq(&q->tx_cq, &sq->cq);
	crl_sq_reset(sq);
}

void
crl_rq_export(const struct crl_queue *q, struct crl_rq *rq)
{
	const size_t tx = q->cfg.flags & CRL_Q_TX ? crl_sq_cookie_bytes(q->sq.log_depth) +
							    crl_sq_end_bytes(q->sq.log_depth)
						  : 0;

	rq->wqe = (struct crl_wqe_data *)(void *)q->rq.ring.addr;
	rq->dbrec = dbrec(&q->rq.ring);
	rq->buf = crl_region_addr(q->rx_region);
	rq->released = q->aux.addr + tx;
	rq->buf_iova = crl_region_iova(q->rx_region);
	rq->log_depth = q->rq.log_depth;
	rq->rqn = q->rq.num;
	rq->stride = q->cfg.rx_buf_bytes;
	rq->headroom = q->cfg.rx_headroom;
	rq->lkey = crl_region_lkey(q->rx_region);
	export_cq(&q->rx_cq, &rq->cq);
	crl_rq_reset(rq);
}

static void
export_txbuf(const struct crl_region *r, struct crl_txbuf *txbuf)
{
	txbuf->addr = crl_region_addr(r);
	txbuf->iova = crl_region_iova(r);
	txbuf->bytes = crl_region_bytes(r);
	txbuf->lkey = crl_region_lkey(r);
}

/*
 * Whether the NIC was told of anything. An engine's heartbeat tells, and so do the records, which
 * programs with frames of their own write as well; in a GPU's memory only the first is looked at.
 */
static bool
has_run(const struct crl_queue *q)
{
	const struct crl_ring_mem *tx[] = {&q->sq.ring, &q->tx_cq.ring};
	const struct crl_ring_mem *rx[] = {&q->rq.ring, &q->rx_cq.ring};
	bool moved = crl_ld64(&q->shared->ctl.heartbeat) != 0;

	if (q->rings->place != CRL_PLACE_HOST)
		return moved;
	for (unsigned i = 0; i < 2; i++) {
		if (q->cfg.flags & CRL_Q_TX)
			moved |= crl_ld64(dbrec(tx[i])) != 0;
		if (q->cfg.flags & CRL_Q_RX)
			moved |= crl_ld64(dbrec(rx[i])) != 0;
	}
	return moved;
}

CRL_PUBLIC int
crl_queue_export(struct crl_queue *q, struct crl_queue_dev *dev, struct crl_err *err)
{
	if (has_run(q))
		return crl_err_set(err, -EBUSY, "export a queue", "destroy it and create it again",
			"an engine or a program has run queue %u: the NIC's indices have moved",
			q->cfg.index);
	memset(dev, 0, sizeof(*dev));
	dev->abi = CRL_DEV_ABI;
	dev->flags = q->cfg.flags;
	dev->index = q->cfg.index;
	dev->port = q->port;
	dev->mtu = q->mtu;
	memcpy(dev->mac, q->mac, sizeof(q->mac));
	if (q->cfg.flags & CRL_Q_TX)
		export_sq(q, &dev->sq);
	if (q->cfg.flags & CRL_Q_RX)
		crl_rq_export(q, &dev->rq);
	if (q->cfg.tx_region != NULL)
		export_txbuf(q->cfg.tx_region, &dev->txbuf);
	dev->stats = &q->shared_dev->stats;
	dev->error = q->shared_dev->error;
	dev->ctl = &q->shared_dev->ctl;
	return 0;
}

CRL_PUBLIC struct crl_ctl *
crl_queue_ctl(const struct crl_queue *q)
{
	return &q->shared->ctl;
}

CRL_PUBLIC struct crl_qerror *
crl_queue_error(const struct crl_queue *q)
{
	return q->shared->error;
}

CRL_PUBLIC void
crl_queue_stats(const struct crl_queue *q, struct crl_qstats *stats)
{
	crl_stats_read(&q->shared->stats, stats);
}

CRL_PUBLIC uint32_t
crl_queue_index(const struct crl_queue *q)
{
	return q->cfg.index;
}

CRL_PUBLIC uint32_t
crl_queue_sqn(const struct crl_queue *q)
{
	return q->sq.num;
}

CRL_PUBLIC uint32_t
crl_queue_rqn(const struct crl_queue *q)
{
	return q->rq.num;
}

CRL_PUBLIC struct crl_region *
crl_queue_rx_region(const struct crl_queue *q)
{
	return q->rx_region;
}

CRL_PUBLIC int
crl_path(const struct crl_queue *q, struct crl_path *path)
{
	char node[96];

	if (path->size != sizeof(*path))
		return -EINVAL;
	path->rings = q->rings->place;
	path->buffers = q->buffers->place;
	path->uar = q->uar_kind;
	/* a queue whose destruction was refused may have none any more */
	path->uar_page = q->uar != NULL ? q->uar->page_id : 0;
	path->cq_flags = q->cfg.cq_flags;
	path->numa_node = q->ctx->numa_node;
	if (q->ctx->numa_node >= 0)
		snprintf(node, sizeof(node), "NUMA node %d", q->ctx->numa_node);
	else
		snprintf(node, sizeof(node), "any NUMA node (%s)", q->ctx->numa_why);
	snprintf(path->text, sizeof(path->text),
		"queue %u on %s: rings in %s, buffers in %s, doorbell on %s%s, %s CQs, %s",
		q->cfg.index, q->ctx->info.name, q->rings->name, q->buffers->name,
		crl_uar_kind_str(q->uar_kind), q->uar_moved ? " rung in GPU memory" : "",
		q->cfg.cq_flags & CRL_CQ_COLLAPSED ? "collapsed send" : "ordinary", node);
	return 0;
}
