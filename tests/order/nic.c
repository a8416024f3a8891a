/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC of the checking build, compiled without hooks: it reports its accesses itself.
 */
#include "nic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adv.h"
#include "coop.h"

#define NICS	       8u
#define ALIAS(type, p) (*(const type CRL_MAY_ALIAS *)(p))
#define SQN(n)	       (0x100u + (n)->index)

static struct nic *nics[NICS]; /* by index, of the program that runs */

static uint32_t
word32(const struct hb_word *w)
{
	uint32_t v;

	memcpy(&v, w->at, sizeof(v));
	return crl_bswap32(v);
}

/* A register is a place where order is asked for at once: what was stored before it counts. True:
 * it was not. */
static bool
judge_before(const struct hb_word *first, const struct hb_word *w, enum hb_edge edge)
{
	uint8_t by = w->writer;

	if (first->writer == HB_NONE || w->front.t[first->writer] >= first->time)
		return false;
	hb_object(w->now.t[first->writer] >= first->time
			  ? (uint8_t)edge
			  : hb_missing(by, first->writer, first->time),
		w->at, (struct hb_side){first->writer, true, first->pc},
		(struct hb_side){by, true, w->pc});
	return true;
}

/* The last store to the register is out of the write-combining buffer. */
static bool
is_out(const struct nic *n)
{
	const struct hb_word *w = &n->uar_was;

	return w->writer == HB_NONE || hb_front(w->writer, HB_uar_out)->t[w->writer] >= w->time;
}

static void
on_word(struct hb_word *w)
{
	uint32_t i;

	for (i = 0; i < NICS; i++) {
		struct nic *n = nics[i];

		if (n && w == n->arm_reg) {
			n->arm_loose = judge_before(n->arm, w, HB_cq_arm);
			n->arm_rang++;
		}
		if (!n || w != n->uar)
			continue;
		n->loose = judge_before(n->sdb, w, HB_record_before_uar);
		if (!is_out(n))
			hb_object(HB_uar_out, w->at,
				(struct hb_side){n->uar_was.writer, true, n->uar_was.pc},
				(struct hb_side){w->writer, true, w->pc});
		n->uar_was = *w;
		n->rang++;
	}
}

static void
open_cq(struct crl_cq *cq, uint32_t log, const char *name)
{
	cq->cqe = hb_alloc(HB_CQE, crl_cq_ring_bytes(log), name);
	cq->dbrec = hb_alloc(HB_WORD, CRL_DBREC_ALIGN, name);
	cq->log_depth = log;
	crl_cq_fill(cq->cqe, log);
}

static void
open_words(struct nic *n)
{
	uint8_t none = HB_NR_EDGES, give = HB_reads_before_giveback, work = HB_work_before_word;
	uint8_t look = HB_seq_before_error;
	struct crl_queue_dev *q = n->q;

	n->sdb = hb_word_new(&q->sq.dbrec[CRL_DBREC_SND_WORD], "send record", HB_wqe_before_record,
		HB_wqe_before_record, none);
	n->uar = hb_word_new(
		q->sq.uar, "register", HB_record_before_uar, HB_record_before_uar, none);
	n->rdb = hb_word_new(&q->rq.dbrec[CRL_DBREC_RCV_WORD], "receive record", give, give, none);
	n->scq_rec = hb_word_new(&q->sq.cq.dbrec[CRL_DBREC_CQ_CI], "CQ record", give, give, none);
	n->rcq_rec = hb_word_new(&q->rq.cq.dbrec[CRL_DBREC_CQ_CI], "CQ record", give, give, none);
	n->arm = hb_word_new(&q->rq.cq.dbrec[CRL_DBREC_CQ_ARM], "arm word", none, none, none);
	n->arm_page = hb_alloc(HB_WORD, 64, "arm register");
	n->arm_reg = hb_word_new(n->arm_page, "arm register", HB_cq_arm, HB_cq_arm, none);
	hb_word_new(&n->ctl->stop, "stop", none, none, look);
	hb_word_new(&n->ctl->park, "park", none, work, look);
	hb_word_new(&n->ctl->rearm, "rearm", none, work, look);
	hb_word_new(&n->ctl->parked, "parked", work, work, look);
	hb_word_new(&n->ctl->done, "done", work, work, look);
	hb_word_new(&n->ctl->rearmed, "rearmed", work, work, look);
	hb_word_new(&q->error[0].seq, "mailbox", HB_error_before_seq, work, look);
	hb_word_new(&q->error[1].seq, "mailbox", HB_error_before_seq, work, look);
}

static void
open_rings(struct nic *n, uint32_t log, bool empw, uint32_t inline_max)
{
	uint32_t stride = (NIC_FRAME + NIC_HEADROOM + 63u) & ~63u;
	struct crl_sq *sq = &n->q->sq;
	struct crl_rq *rq = &n->q->rq;

	sq->wqe = hb_alloc(HB_WQE, crl_sq_ring_bytes(log), "send ring");
	sq->dbrec = hb_alloc(HB_WORD, CRL_DBREC_ALIGN, "send record");
	sq->uar = hb_alloc(HB_WORD, 64, "register");
	sq->cookie = hb_alloc(HB_DATA, crl_sq_cookie_bytes(log), "cookies");
	sq->end = hb_alloc(HB_DATA, crl_sq_end_bytes(log), "end table");
	sq->log_depth = log;
	sq->sqn = SQN(n);
	sq->lkey = NIC_LKEY;
	sq->signal_every = crl_signal_every(0, log, log);
	sq->flags = empw ? CRL_SQ_EMPW : 0;
	sq->inline_max = empw ? inline_max : 0;
	open_cq(&sq->cq, log, "send CQ");
	rq->wqe = hb_alloc(HB_RELAXED, crl_rq_ring_bytes(log), "receive ring");
	rq->dbrec = hb_alloc(HB_WORD, CRL_DBREC_ALIGN, "receive record");
	rq->buf = hb_alloc(HB_DATA, crl_rq_buf_bytes(log, stride), "receive buffers");
	rq->released = hb_alloc(HB_DATA, crl_rq_released_bytes(log), "released table");
	rq->buf_iova = (uint64_t)(uintptr_t)rq->buf + NIC_IOVA;
	rq->log_depth = log;
	rq->rqn = 0x200u + n->index;
	rq->stride = stride;
	rq->headroom = NIC_HEADROOM;
	rq->lkey = NIC_LKEY;
	open_cq(&rq->cq, log, "receive CQ");
	crl_rq_fill(rq->wqe, rq);
	crl_rq_fill_released(rq->released, log);
	crl_sq_reset(sq);
	crl_rq_reset(rq);
}

void
nic_open(struct nic *n, uint32_t index, uint32_t log, bool empw, uint32_t inline_max)
{
	char name[24];

	memset(n, 0, sizeof(*n));
	n->index = index;
	n->fail_at = NIC_NEVER;
	snprintf(name, sizeof(name), "NIC, send queue %u", index % 100u);
	n->tx = hb_actor_new(name);
	snprintf(name, sizeof(name), "NIC, recv queue %u", index % 100u);
	n->rx = hb_actor_new(name);
	n->q = hb_alloc(HB_DATA, sizeof(*n->q), "queue");
	n->ctl = hb_alloc(HB_WORD, sizeof(*n->ctl), "control words");
	n->q->abi = CRL_DEV_ABI;
	n->q->flags = CRL_Q_TX | CRL_Q_RX;
	n->q->index = 0; /* each is the only queue of a port of its own */
	n->q->mtu = NIC_FRAME;
	n->q->mac[0] = 0x02;
	n->q->mac[5] = (uint8_t)index;
	n->q->stats = hb_alloc(HB_RELAXED, sizeof(*n->q->stats), "counters");
	n->q->error = hb_alloc(HB_DATA, 2 * sizeof(n->q->error[0]), "mailbox");
	n->q->ctl = n->ctl;
	n->q->txbuf.bytes = 64u * NIC_FRAME;
	n->q->txbuf.addr = hb_alloc(HB_DATA, n->q->txbuf.bytes, "frames of our own");
	n->q->txbuf.iova = (uint64_t)(uintptr_t)n->q->txbuf.addr + NIC_IOVA;
	n->q->txbuf.lkey = NIC_LKEY;
	open_rings(n, log, empw, inline_max);
	open_words(n);
	n->sdb_seen = *n->sdb;
	n->rdb_seen = *n->rdb;
	n->scq_seen = *n->scq_rec;
	n->rcq_seen = *n->rcq_rec;
	n->uar_was = *n->uar;
	n->scq = hb_cq_new(
		n->q->sq.cq.cqe, 1u << log, &n->q->sq.cq.ci, n->tx, HB_send_done_before_reuse);
	n->rcq = hb_cq_new(
		n->q->rq.cq.cqe, 1u << log, &n->q->rq.cq.ci, n->rx, HB_cqe_before_payload);
	if (index == 0)
		memset(nics, 0, sizeof(nics));
	nics[index] = n;
	hb_word_stored = on_word;
}

/* told: what the NIC got when it read the record. */
static void
sample_send(struct nic *n, uint32_t told)
{
	n->sdb_seen = *n->sdb;
	hb_nic_saw(n->tx, n->sdb);
	if (told > CRL_DBREC_WQ_MASK)
		hb_refuse("a send record of 0x%x: an index that was not cut to 16 bits", told);
	n->sq_told += (uint16_t)((uint16_t)told - (uint16_t)n->sq_told);
	if (n->sq_told - n->sq_at > crl_ring_depth(n->q->sq.log_depth))
		hb_refuse("a send record that counts more than the ring has");
}

/* The sequence in the arm word is the register's, or a later one already. */
static void
look_arm(struct nic *n)
{
	uint32_t word = word32(n->arm), reg = (uint32_t)(*n->arm_page >> 32) & 0xfu;

	n->arm_seen = n->arm_rang;
	if (n->arm_loose && adv_on && adv_coin())
		word = crl_bswap32(n->arm->old);
	if (((reg - (word >> CRL_CQ_ARM_SN_SHIFT)) & 0xfu) - 1u < 7u)
		hb_refuse("a CQ armed by register while its record has the arm word before: an "
			  "event that never comes");
}

/* The register, and at any time the record. */
static void
look(struct nic *n)
{
	bool at_once = sched_random() % 64u == 0 && !n->deaf;
	struct crl_wqe_ctrl c;

	if (n->arm_rang != n->arm_seen)
		look_arm(n);
	if (n->rang != n->rang_seen && (!adv_on || is_out(n))) {
		n->rang_seen = n->rang;
		memcpy(&c, n->q->sq.uar, sizeof(uint64_t));
		if (crl_wqe_qpn(&c) != SQN(n))
			hb_refuse("a doorbell for queue 0x%x", crl_wqe_qpn(&c));
		if (!n->loose || !adv_on || adv_coin())
			sample_send(n, word32(n->sdb)); /* else it read what stood there before */
	} else if (at_once) {
		sample_send(n, word32(n->sdb));
	}
}

static void
complete(struct nic *n, bool rx, uint8_t opcode, uint64_t index, uint32_t bytes, uint8_t syndrome)
{
	struct hb_word *rec = rx ? n->rcq_rec : n->scq_rec,
		       *seen = rx ? &n->rcq_seen : &n->scq_seen;
	struct crl_cq *cq = rx ? &n->q->rq.cq : &n->q->sq.cq;
	uint64_t *pi = rx ? &n->rcq_pi : &n->scq_pi, depth = crl_ring_depth(cq->log_depth);
	struct hb_cq *h = rx ? n->rcq : n->scq;
	struct crl_cqe64 *c = &cq->cqe[*pi % depth];
	struct crl_err_cqe *e = (struct crl_err_cqe *)c;
	struct hb_auth auth = {&seen->front, &seen->now, HB_reads_before_giveback, seen->writer};

	/* The record is read when room runs out, so that one look answers for many entries. */
	if (((*pi - seen->value) & CRL_DBREC_CQ_MASK) >= depth) {
		*seen = *rec;
		seen->value = word32(rec);
	}
	if (((*pi - seen->value) & CRL_DBREC_CQ_MASK) >= depth)
		hb_refuse("a CQ overrun");
	hb_nic_write(h->actor, c, sizeof(*c), HB_OP_CQE, &auth);
	memset(c, 0, sizeof(*c) - 4u);
	if (syndrome)
		e->syndrome = syndrome;
	else
		c->byte_cnt = crl_to_be32(bytes);
	c->hds_ip_ext = CRL_CQE_L2_OK | CRL_CQE_L3_OK | CRL_CQE_L4_OK;
	c->wqe_counter = crl_to_be16(crl_index16(index));
	c->op_own = (uint8_t)(opcode << 4 | (*pi / depth & 1u));
	hb_nic_entry(h, *pi);
	(*pi)++;
}

/* Where segment k of the WQE lies in the ring. */
static const uint8_t *
segment(struct nic *n, uint32_t k)
{
	uint64_t bytes = CRL_WQEBB_BYTES << n->q->sq.log_depth;

	return n->q->sq.wqe + (n->sq_at * CRL_WQEBB_BYTES + k * CRL_WQE_SEG_BYTES) % bytes;
}

/* Reads it. */
static void
fetch(struct nic *n, uint32_t k)
{
	struct hb_word *w = &n->sdb_seen;
	struct hb_auth auth = {&w->front, &w->now, HB_wqe_before_record, w->writer};

	hb_nic_read(n->tx, n->wqe + k * CRL_WQE_SEG_BYTES, segment(n, k), CRL_WQE_SEG_BYTES,
		HB_OP_WQE, &auth);
}

/* The piece that starts at segment k, behind what frame has. Returns the segment after it. */
static uint32_t
gather(struct nic *n, uint32_t k, uint8_t *frame, uint32_t *len)
{
	struct crl_wqe_data d;
	struct hb_auth auth;
	uint32_t bytes;
	uint8_t *from;

	memcpy(&d, n->wqe + k * CRL_WQE_SEG_BYTES, sizeof(d));
	bytes = crl_from_be32(d.byte_count) & ~CRL_WQE_INLINE;
	if (bytes == 0 || *len + bytes > NIC_FRAME) {
		hb_refuse("a piece of %u bytes after %u", bytes, *len);
		return CRL_WQE_DS_MAX;
	}
	if (crl_from_be32(d.byte_count) & CRL_WQE_INLINE) {
		if (k * CRL_WQE_SEG_BYTES + 4u + bytes <= sizeof(n->wqe))
			memcpy(frame + *len, n->wqe + k * CRL_WQE_SEG_BYTES + 4u, bytes);
		*len += bytes;
		return k + (bytes + 4u + 15u) / 16u;
	}
	if (crl_from_be32(d.lkey) != NIC_LKEY)
		hb_refuse("key 0x%x", crl_from_be32(d.lkey));
	from = (uint8_t *)(uintptr_t)(crl_from_be64(d.addr) - NIC_IOVA);
	auth = hb_payload_auth(segment(n, k));
	hb_nic_read(n->tx, frame + *len, from, bytes, HB_OP_PAYLOAD, &auth);
	*len += bytes;
	return k + 1u;
}

static void
leave(struct nic *n, const uint8_t *frame, uint32_t len)
{
	n->sent++;
	if (n->traffic && !n->traffic->check(n, frame, len))
		hb_refuse("frame %llu of send queue %u is not what it should be",
			(unsigned long long)n->next, n->index);
}

static void
execute(struct nic *n, const struct crl_wqe_ctrl *c)
{
	uint8_t frame[NIC_FRAME];
	uint32_t k = 2, len = 0, ds = crl_wqe_ds(c), op = crl_wqe_opcode(c);

	while (op != CRL_OPCODE_NOP && k < ds) {
		k = gather(n, k, frame, &len);
		if (op == CRL_OPCODE_EMPW || k >= ds) {
			leave(n, frame, len);
			len = 0;
		}
	}
	if (op != CRL_OPCODE_NOP && k != ds)
		hb_refuse("a WQE of %u segments that needs %u", ds, k);
}

static void
send_one(struct nic *n)
{
	struct crl_wqe_ctrl c;
	uint32_t k, ds, op;

	if (n->sq_at >= n->sq_told)
		return;
	fetch(n, 0);
	memcpy(&c, n->wqe, sizeof(c));
	op = crl_wqe_opcode(&c);
	ds = crl_wqe_ds(&c);
	if (crl_wqe_index(&c) != crl_index16(n->sq_at) || crl_wqe_qpn(&c) != SQN(n) || ds == 0 ||
		(op != CRL_OPCODE_SEND && op != CRL_OPCODE_EMPW && op != CRL_OPCODE_NOP)) {
		hb_refuse("a WQE at %llu with opcode 0x%x, queue 0x%x, %u segments, index %u",
			(unsigned long long)n->sq_at, op, crl_wqe_qpn(&c), ds, crl_wqe_index(&c));
		n->sq_at = n->sq_told;
		return;
	}
	for (k = 1; k < ds; k++)
		fetch(n, k);
	if (n->sq_at >= n->fail_at) {
		n->failed_at = n->failed ? n->failed_at : n->sq_at;
		complete(n, false, CRL_CQE_REQ_ERR, n->sq_at, 0,
			n->failed ? CRL_SYND_WR_FLUSH : CRL_SYND_LOCAL_PROT);
		n->failed = true;
	} else {
		execute(n, &c);
		if (crl_wqe_ce(&c) == CRL_WQE_CE_ALWAYS)
			complete(n, false, CRL_CQE_REQ, n->sq_at, 0, 0);
	}
	n->sq_at += (ds + 3u) / 4u;
}

static void
receive_one(struct nic *n)
{
	struct crl_rq *rq = &n->q->rq;
	struct hb_word *w = &n->rdb_seen;
	struct hb_auth auth;
	uint8_t frame[NIC_FRAME], *to;
	uint32_t len;

	if (n->rq_at == n->rq_told) { /* credit has run out: the record again */
		*w = *n->rdb;
		hb_nic_saw(n->rx, w);
		if (word32(w) > CRL_DBREC_WQ_MASK)
			hb_refuse("a receive record of 0x%x", word32(w));
		n->rq_told += (uint16_t)((uint16_t)word32(w) - (uint16_t)n->rq_told);
		if (n->rq_told - n->rq_at > crl_ring_depth(rq->log_depth))
			hb_refuse("a receive record that counts more than the ring has");
	}
	if (n->rq_at == n->rq_told || !n->traffic)
		return;
	len = n->traffic->make(n, n->received, frame);
	if (len == 0)
		return;
	to = (uint8_t *)(uintptr_t)(crl_from_be64(
					    rq->wqe[crl_ring_slot(n->rq_at, rq->log_depth)].addr) -
				    NIC_IOVA);
	auth = (struct hb_auth){&w->front, &w->now, HB_reads_before_giveback, w->writer};
	hb_nic_write(n->rx, to, len, HB_OP_FRAME, &auth);
	memcpy(to, frame, len);
	complete(n, true, CRL_CQE_RESP_SEND, n->rq_at, len, 0);
	n->rq_at++;
	n->received++;
}

void
nic_step(struct nic *n)
{
	uint32_t i, tx = (uint32_t)(sched_random() >> 8) % 12u;
	uint32_t rx = (uint32_t)(sched_random() >> 8) % 12u;

	if (n->resetting || (n->slow && (sched_random() >> 12) % (n->slow + 1u) != 0))
		return;
	look(n);
	for (i = 0; i < tx; i++)
		send_one(n);
	for (i = 0; i < rx; i++)
		receive_one(n);
}

void
nic_reset_send(struct nic *n)
{
	struct crl_sq *sq = &n->q->sq;
	crl_be32 zero = {0};

	n->resetting = true;
	hb_host_knows(n->tx);
	hb_host_write(&sq->dbrec[CRL_DBREC_SND_WORD], 4);
	sq->dbrec[CRL_DBREC_SND_WORD] = zero;
	/* The command that resets the queue tells the NIC what the host knows. The CQ goes on. */
	n->sdb_seen = *n->sdb;
	n->sdb_seen.front = n->sdb_seen.now = *hb_now(hb_self);
	n->sq_at = n->sq_told = 0;
	n->rang_seen = n->rang;
	n->fail_at = NIC_NEVER;
	n->failed = false;
	n->resetting = false;
}
