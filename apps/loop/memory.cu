/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues of a loopback run: one allocation on the engine's GPU, cut up, filled as drivers/mlx5
 * fills rings before it tells the NIC of them. Host code.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "inside.cuh"

#define HEADROOM 128u

bool
loop_cuda(struct loop *l, cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return true;
	snprintf(l->err, l->err_bytes, "%s: %s", what, cudaGetErrorString(e));
	return false;
}

/* Room for bytes at *at, on a line of its own. */
static size_t
place(size_t *at, size_t bytes)
{
	size_t here = *at;

	*at = (here + bytes + 255u) & ~(size_t)255u;
	return here;
}

/* Where the parts of one queue lie, from the queue's first byte on. */
struct parts {
	size_t sq, tx_cq, rq, rx_cq, records, cookie, end, released, buf, txbuf, all;
};

static struct parts
parts_of(const struct loop *l)
{
	uint32_t log = l->log_depth;
	struct parts p;
	size_t at = 0;

	p.sq = place(&at, crl_sq_ring_bytes(log));
	p.tx_cq = place(&at, crl_cq_ring_bytes(log));
	p.rq = place(&at, crl_rq_ring_bytes(log));
	p.rx_cq = place(&at, crl_cq_ring_bytes(log));
	p.records = place(&at, 4u * CRL_DBREC_ALIGN);
	p.cookie = place(&at, crl_sq_cookie_bytes(log));
	p.end = place(&at, crl_sq_end_bytes(log));
	p.released = place(&at, crl_rq_released_bytes(log));
	p.buf = place(&at, crl_rq_buf_bytes(log, l->stride));
	p.txbuf = place(&at, (size_t)l->stride * CRL_BURST_MAX);
	p.all = at;
	return p;
}

static void
fill_queue(struct loop *l, uint32_t i, const struct parts *p)
{
	struct crl_queue_dev *q = &l->queue[i];
	uint8_t *m = l->mem + i * l->queue_bytes;
	crl_be32 *rec = (crl_be32 *)(m + p->records);

	q->abi = CRL_DEV_ABI;
	q->flags = CRL_Q_TX | CRL_Q_RX;
	q->index = i;
	q->mtu = (uint16_t)(l->stride - HEADROOM);
	q->mac[0] = 2;
	q->sq.wqe = m + p->sq;
	q->sq.dbrec = rec;
	q->sq.uar = (uint64_t *)(l->uar + (size_t)i * CRL_UAR_BYTES + CRL_UAR_BF_REG);
	q->sq.cookie = (uint64_t *)(m + p->cookie);
	q->sq.end = (uint64_t *)(m + p->end);
	q->sq.log_depth = q->rq.log_depth = q->sq.cq.log_depth = q->rq.cq.log_depth = l->log_depth;
	q->sq.sqn = 0x2000u + i;
	q->sq.lkey = q->rq.lkey = q->txbuf.lkey = LOOP_KEY << 8;
	q->sq.signal_every = crl_signal_every(0, l->log_depth, l->log_depth);
	q->sq.flags = CRL_SQ_EMPW;
	q->sq.cq.cqe = (struct crl_cqe64 *)(m + p->tx_cq);
	q->sq.cq.dbrec = rec + CRL_DBREC_ALIGN / 4u;
	q->sq.cq.cqn = 2u * i;
	q->rq.wqe = (struct crl_wqe_data *)(m + p->rq);
	q->rq.dbrec = rec + 2u * CRL_DBREC_ALIGN / 4u;
	q->rq.buf = m + p->buf;
	q->rq.buf_iova = (uint64_t)(uintptr_t)q->rq.buf;
	q->rq.released = m + p->released;
	q->rq.rqn = 0x2000u + i;
	q->rq.stride = l->stride;
	q->rq.headroom = HEADROOM;
	q->rq.cq.cqe = (struct crl_cqe64 *)(m + p->rx_cq);
	q->rq.cq.dbrec = rec + 3u * CRL_DBREC_ALIGN / 4u;
	q->rq.cq.cqn = 2u * i + 1u;
	q->txbuf.addr = m + p->txbuf;
	q->txbuf.iova = (uint64_t)(uintptr_t)q->txbuf.addr;
	q->txbuf.bytes = (uint64_t)l->stride * CRL_BURST_MAX;
	q->stats = &l->stats[i];
	q->error = &l->error[2u * i];
	q->ctl = &l->ctl[i];
	crl_sq_reset(&q->sq);
	crl_rq_reset(&q->rq);
}

/* Rings and tables as they must stand when the NIC is told of them. */
static int
fill_memory(struct loop *l, const struct parts *p)
{
	uint8_t *image = (uint8_t *)calloc(1, p->buf);
	cudaError_t e = cudaSuccess;
	uint32_t i;

	if (!image) {
		snprintf(l->err, l->err_bytes, "no memory");
		return -ENOMEM;
	}
	crl_cq_fill(image + p->tx_cq, l->log_depth);
	crl_cq_fill(image + p->rx_cq, l->log_depth);
	crl_rq_fill_released(image + p->released, l->log_depth);
	for (i = 0; i < l->cfg.queues && e == cudaSuccess; i++) {
		crl_rq_fill(image + p->rq, &l->queue[i].rq);
		e = cudaMemcpy(l->mem + i * l->queue_bytes, image, p->buf, cudaMemcpyHostToDevice);
	}
	free(image);
	return loop_cuda(l, e, "fill the rings") ? 0 : -EIO;
}

/* Host memory that every GPU sees at the same address, zeroed. */
static void *
shared(struct loop *l, size_t bytes)
{
	void *p = NULL;

	if (!loop_cuda(l, cudaHostAlloc(&p, bytes, cudaHostAllocMapped | cudaHostAllocPortable),
		    "cudaHostAlloc"))
		return NULL;
	memset(p, 0, bytes);
	return p;
}

int
loop_memory(struct loop *l)
{
	uint32_t n = l->cfg.queues;
	struct parts p;
	uint32_t i;

	l->stride = (HEADROOM + (l->cfg.frame > 128u ? l->cfg.frame : 128u) + 127u) & ~127u;
	p = parts_of(l);
	l->queue_bytes = p.all;
	l->mem_bytes = p.all * n;
	l->queue = (struct crl_queue_dev *)calloc(n, sizeof(*l->queue));
	if (!l->queue)
		return -ENOMEM;
	l->stats = (struct crl_qstats *)shared(l, n * sizeof(*l->stats));
	l->error = (struct crl_qerror *)shared(l, 2u * n * sizeof(*l->error));
	l->ctl = (struct crl_ctl *)shared(l, n * sizeof(*l->ctl));
	l->words = (struct loop_words *)shared(l, sizeof(*l->words));
	if (!l->stats || !l->error || !l->ctl || !l->words)
		return -ENOMEM;
	if (!loop_cuda(l, cudaSetDevice(l->nic_gpu), "cudaSetDevice") ||
		!loop_cuda(
			l, cudaMalloc((void **)&l->uar, (size_t)n * CRL_UAR_BYTES), "cudaMalloc") ||
		!loop_cuda(l, cudaMemset(l->uar, 0, (size_t)n * CRL_UAR_BYTES), "cudaMemset") ||
		!loop_cuda(l, cudaSetDevice(l->engine_gpu), "cudaSetDevice") ||
		!loop_cuda(l, cudaMalloc((void **)&l->mem, l->mem_bytes), "cudaMalloc") ||
		!loop_cuda(l, cudaMemset(l->mem, 0, l->mem_bytes), "cudaMemset"))
		return -EIO;
	for (i = 0; i < n; i++)
		fill_queue(l, i, &p);
	return fill_memory(l, &p);
}

void
loop_memory_free(struct loop *l)
{
	cudaFree(l->mem);
	cudaFree(l->uar);
	cudaFree(l->streams);
	cudaFree(l->dev_queues);
	cudaFree(l->gone);
	cudaFreeHost(l->stats);
	cudaFreeHost(l->error);
	cudaFreeHost(l->ctl);
	cudaFreeHost(l->words);
	free(l->queue);
}
