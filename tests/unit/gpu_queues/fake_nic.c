/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC of the unit tests. Every assert here is a rule that hardware relies on.
 */
#include "fake_nic.h"

#include "gpu_queues/mem.h"
#include "gpu_queues/order.h"

static void *
zalloc(size_t bytes)
{
	void *p = NULL;

	bytes = (bytes + 4095u) & ~(size_t)4095u;
	p = aligned_alloc(4096, bytes);
	assert_non_null(p);
	memset(p, 0, bytes);
	return p;
}

static void
open_cq(struct crl_cq *cq, uint32_t log, crl_be32 *rec)
{
	cq->cqe = zalloc(crl_cq_ring_bytes(log));
	cq->dbrec = rec;
	cq->log_depth = log;
	crl_cq_fill(cq->cqe, log);
}

void
fake_open(struct fake_nic *n, uint32_t log_sq, uint32_t log_rq, uint32_t stride, bool empw)
{
	static const uint8_t mac[8] = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55};
	struct crl_sq *sq = &n->q.sq;
	struct crl_rq *rq = &n->q.rq;

	memset(n, 0, sizeof(*n));
	n->fail_at = UINT64_MAX;
	n->q.abi = CRL_DEV_ABI;
	n->q.flags = CRL_Q_TX | CRL_Q_RX;
	n->q.mtu = 1514;
	memcpy(n->q.mac, mac, sizeof(mac));
	n->q.stats = &n->stats;
	n->q.error = n->error;
	n->q.ctl = &n->ctl;
	sq->wqe = zalloc(crl_sq_ring_bytes(log_sq));
	sq->dbrec = n->sq_rec;
	sq->uar = &n->uar;
	sq->cookie = zalloc(crl_sq_cookie_bytes(log_sq));
	sq->end = zalloc(crl_sq_end_bytes(log_sq));
	sq->log_depth = log_sq;
	sq->sqn = FAKE_SQN;
	sq->lkey = FAKE_LKEY;
	sq->signal_every = crl_signal_every(0, log_rq, log_sq);
	sq->flags = empw ? CRL_SQ_EMPW : 0;
	open_cq(&sq->cq, crl_cq_log_depth(log_sq), n->scq_rec);
	rq->wqe = zalloc(crl_rq_ring_bytes(log_rq));
	rq->dbrec = n->rq_rec;
	rq->buf = zalloc(crl_rq_buf_bytes(log_rq, stride));
	rq->released = zalloc(crl_rq_released_bytes(log_rq));
	rq->buf_iova = (uint64_t)(uintptr_t)rq->buf + FAKE_IOVA;
	rq->log_depth = log_rq;
	rq->rqn = FAKE_RQN;
	rq->stride = stride;
	rq->headroom = FAKE_HEADROOM;
	rq->lkey = FAKE_LKEY;
	open_cq(&rq->cq, crl_cq_log_depth(log_rq), n->rcq_rec);
	crl_rq_fill(rq->wqe, rq);
	crl_rq_fill_released(rq->released, log_rq);
	crl_sq_reset(sq);
	crl_rq_reset(rq);
	n->txmem = zalloc(65536);
	n->q.txbuf.addr = n->txmem;
	n->q.txbuf.iova = (uint64_t)(uintptr_t)n->txmem + FAKE_IOVA;
	n->q.txbuf.bytes = 65536;
	n->q.txbuf.lkey = FAKE_LKEY;
}

void
fake_close(struct fake_nic *n)
{
	free(n->q.sq.wqe);
	free(n->q.sq.cookie);
	free(n->q.sq.end);
	free(n->q.sq.cq.cqe);
	free(n->q.rq.wqe);
	free(n->q.rq.buf);
	free(n->q.rq.released);
	free(n->q.rq.cq.cqe);
	free(n->txmem);
}

/* One CQE; the CQ must have room by the driver's own record. */
void
fake_cqe(struct fake_nic *n, bool rx, uint8_t opcode, uint16_t counter, uint8_t syndrome)
{
	struct crl_cq *cq = rx ? &n->q.rq.cq : &n->q.sq.cq;
	uint64_t *pi = rx ? &n->rcq_pi : &n->scq_pi, depth = 1ull << cq->log_depth;
	uint32_t told = crl_ld_be32(&cq->dbrec[0]);
	struct crl_cqe64 *c = &cq->cqe[*pi % depth];
	struct crl_err_cqe *e = (struct crl_err_cqe *)c;

	if (cq->flags & CRL_CQ_COLLAPSED)
		c = &cq->cqe[0];
	else if (!(cq->flags & CRL_CQ_OVERRUN_IGNORE))
		assert_true(((*pi - told) & 0xffffffu) < depth);
	if (opcode == CRL_CQE_REQ_ERR || opcode == CRL_CQE_RESP_ERR) {
		e->syndrome = syndrome;
		e->vendor_err_synd = 0x77;
	}
	/* Counter, signature, opcode and owner: the last word last, in one store. */
	crl_order_work_before_word();
	crl_st32((uint8_t *)c + offsetof(struct crl_cqe64, wqe_counter),
		crl_bswap16(counter) |
			(uint32_t)(uint8_t)(opcode << 4 | (*pi / depth & 1u)) << 24);
	(*pi)++;
	n->cqes++;
}

bool
fake_doorbell(struct fake_nic *n)
{
	struct crl_sq *sq = &n->q.sq;
	uint64_t uar = crl_ld64(&n->uar), told;
	struct crl_wqe_ctrl c;
	uint16_t rec, reg;

	crl_order_seq_before_error(); /* the register first: its record was stored before it */
	rec = (uint16_t)crl_ld_be32(&sq->dbrec[CRL_DBREC_SND_WORD]);
	told = n->sq_told + (uint16_t)(rec - n->sq_told);
	assert_true(crl_ld_be32(&sq->dbrec[CRL_DBREC_SND_WORD]) <= 0xffffu);
	if (uar == n->uar_seen) {
		assert_true(n->threaded || told == n->sq_told); /* a record that nobody rang for */
		return false;
	}
	n->uar_seen = uar;
	memset(&c, 0, sizeof(c));
	memcpy(&c, &uar, sizeof(uar));
	assert_int_equal(crl_wqe_qpn(&c), sq->sqn);
	/* The register's WQE is the last one that the record counts. */
	reg = (uint16_t)(crl_wqe_index(&c) + (crl_wqe_ds(&c) + 3u) / 4u);
	if (n->threaded)
		told = n->sq_told + (uint16_t)(reg - n->sq_told);
	else
		assert_int_equal(reg, rec);
	assert_true(told > n->sq_told && told - n->sq_at <= 1ull << sq->log_depth);
	n->sq_told = told;
	return true;
}

static const uint8_t *
segment(struct fake_nic *n, uint32_t k)
{
	uint64_t bytes = (uint64_t)CRL_WQEBB_BYTES << n->q.sq.log_depth;

	return n->q.sq.wqe + (n->sq_at * CRL_WQEBB_BYTES + k * 16u) % bytes;
}

/* Takes segments of a frame from k on; returns the segment after it. 0 length: no more. */
static uint32_t
gather(struct fake_nic *n, uint32_t k, uint8_t *frame, uint32_t *len)
{
	struct crl_wqe_data d;
	uint32_t bytes, i;

	memcpy(&d, segment(n, k), sizeof(d));
	bytes = crl_from_be32(d.byte_count);
	if (!(bytes & CRL_WQE_INLINE)) {
		assert_int_equal(crl_from_be32(d.lkey), FAKE_LKEY);
		memcpy(frame + *len, (void *)(uintptr_t)(crl_from_be64(d.addr) - FAKE_IOVA), bytes);
		*len += bytes;
		return k + 1u;
	}
	bytes &= ~CRL_WQE_INLINE;
	for (i = 0; i < bytes; i++)
		frame[*len + i] = segment(n, k + (i + 4u) / 16u)[(i + 4u) % 16u];
	*len += bytes;
	return k + (bytes + 4u + 15u) / 16u;
}

static void
leave(struct fake_nic *n, const uint8_t *frame, uint32_t len)
{
	assert_true(len > 0);
	n->frames++;
	if (n->sink)
		n->sink(n->arg, frame, len);
}

static void
execute(struct fake_nic *n, const struct crl_wqe_ctrl *c)
{
	static uint8_t frame[65536];
	uint32_t k = 2, len = 0, ds = crl_wqe_ds(c), i;
	struct crl_wqe_eth eth;

	if (crl_wqe_opcode(c) == CRL_OPCODE_NOP)
		return;
	memcpy(&eth, segment(n, 1), sizeof(eth));
	len = crl_from_be16(eth.inline_hdr_size);
	assert_true(len == 0 || crl_wqe_opcode(c) == CRL_OPCODE_SEND);
	for (i = 0; i < len; i++)
		frame[i] = segment(n, (30u + i) / 16u)[(30u + i) % 16u];
	k = (30u + len + 15u) / 16u;
	/* as a NIC that wants inlined headers refuses: a frame whose front is not all there */
	assert_true(len >= n->q.sq.inline_hdr || k == ds);
	while (k < ds) {
		if (crl_wqe_opcode(c) == CRL_OPCODE_EMPW)
			len = 0;
		k = gather(n, k, frame, &len);
		if (crl_wqe_opcode(c) == CRL_OPCODE_EMPW)
			leave(n, frame, len);
	}
	assert_int_equal(k, ds);
	if (crl_wqe_opcode(c) == CRL_OPCODE_SEND)
		leave(n, frame, len);
}

uint32_t
fake_send(struct fake_nic *n, uint32_t max)
{
	uint32_t done = 0, op;
	struct crl_wqe_ctrl c;

	for (; done < max && n->sq_at < n->sq_told; done++) {
		memcpy(&c, segment(n, 0), sizeof(c));
		op = crl_wqe_opcode(&c);
		assert_true(op == CRL_OPCODE_SEND || op == CRL_OPCODE_EMPW || op == CRL_OPCODE_NOP);
		assert_int_equal(crl_wqe_index(&c), (uint16_t)n->sq_at);
		assert_int_equal(crl_wqe_qpn(&c), FAKE_SQN);
		if (n->sq_at >= n->fail_at) { /* this one fails, later ones are flushed */
			fake_cqe(n, false, CRL_CQE_REQ_ERR, (uint16_t)n->sq_at,
				n->sq_at == n->fail_at ? CRL_SYND_LOCAL_PROT : CRL_SYND_WR_FLUSH);
		} else {
			execute(n, &c);
			if (crl_wqe_ce(&c) == CRL_WQE_CE_ALWAYS)
				fake_cqe(n, false, CRL_CQE_REQ, (uint16_t)n->sq_at, 0);
		}
		n->sq_at += (crl_wqe_ds(&c) + 3u) / 4u;
		n->wqes++;
	}
	return done;
}

bool
fake_receive_flags(
	struct fake_nic *n, const void *frame, uint32_t len, uint8_t csum_ok, uint8_t types)
{
	struct crl_rq *rq = &n->q.rq;
	uint16_t posted = (uint16_t)crl_ld_be32(&rq->dbrec[CRL_DBREC_RCV_WORD]);
	struct crl_wqe_data *w = &rq->wqe[n->rq_at & ((1u << rq->log_depth) - 1u)];
	struct crl_cqe64 *c = &rq->cq.cqe[n->rcq_pi & ((1u << rq->cq.log_depth) - 1u)];

	assert_true((uint16_t)(posted - n->rq_at) <= 1u << rq->log_depth);
	if ((uint16_t)(posted - n->rq_at) == 0)
		return false;
	assert_true(len <= crl_from_be32(w->byte_count));
	memcpy((void *)(uintptr_t)(crl_from_be64(w->addr) - FAKE_IOVA), frame, len);
	c->byte_cnt = crl_to_be32(len);
	c->hds_ip_ext = csum_ok;
	c->l4_hdr_type_etc = types;
	fake_cqe(n, true, CRL_CQE_RESP_SEND, (uint16_t)n->rq_at, 0);
	n->rq_at++;
	return true;
}

bool
fake_receive(struct fake_nic *n, const void *frame, uint32_t len)
{
	return fake_receive_flags(n, frame, len, CRL_CQE_L2_OK | CRL_CQE_L3_OK | CRL_CQE_L4_OK, 0);
}

void
fake_reset_send(struct fake_nic *n)
{
	memset(n->sq_rec, 0, sizeof(n->sq_rec));
	n->sq_at = n->sq_told = 0;
	n->uar = n->uar_seen = 0;
	n->fail_at = UINT64_MAX;
}

void
fake_reset_receive(struct fake_nic *n)
{
	memset(n->rq_rec, 0, sizeof(n->rq_rec));
	n->rq_at = 0;
}
