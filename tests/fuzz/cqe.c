/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq_poll.h against arbitrary CQEs, right ones among them, from indices that wrap soon. A plain
 * reference, written from the PRM's page on CQEs and a list of what is outstanding, says of each:
 * not ours yet, a completion, an error, or one that cannot be. Cookies come back once and in order,
 * and no index leaves its bounds.
 */
#include "gpu_queues/cq_poll.h"
#include "gpu_queues/queue_mem.h"
#include "gpu_queues/queue_state.h"
#include "gpu_queues/rq_refill.h"
#include "gpu_queues/sq_doorbell.h"
#include "gpu_queues/sq_post.h"
#include "gpu_queues/sq_reserve.h"

#include "fz.h"
#include "refnet.h"

#define STRIDE	 128u
#define HEADROOM 2u
#define POLLS	 9u

struct wqe {
	uint64_t first, end, cookie;
};

struct it {
	struct fz f;
	struct crl_sq sq;
	struct crl_rq rq;
	struct crl_qerror error;
	crl_be32 rec[2], cq_rec[2];
	uint64_t uar, cookies, taken, nic_pi; /* nic_pi: CQEs that a right NIC has written */
	uint64_t start;
	struct wqe out[256]; /* outstanding, a ring */
	uint32_t head, nr;
	bool failed;
	uint64_t completed, cq_ci; /* the reference's */
	uint32_t mails;
};

static void
open_cq(struct it *it, struct crl_cq *cq, uint32_t log, uint64_t start)
{
	cq->cqe = fz_alloc(64, (size_t)64 << log);
	cq->dbrec = it->cq_rec;
	cq->log_depth = log;
	crl_cq_fill(cq->cqe, log);
	cq->ci = cq->ci_told = start;
	it->nic_pi = it->cq_ci = start;
}

/* A CQE where the next one is due, right but for what the input changes. */
static void
write_cqe(struct it *it, struct crl_cq *cq, uint8_t opcode, uint16_t counter, uint32_t len)
{
	uint32_t how = fz_u8(&it->f), at;
	uint64_t slot = cq->flags & CRL_CQ_COLLAPSED ? 0 : it->nic_pi % (1u << cq->log_depth);
	uint8_t *c = (uint8_t *)&cq->cqe[slot];

	if (how < 8) /* all of it arbitrary, anywhere */
		c = (uint8_t *)&cq->cqe[fz_u16(&it->f) % (1u << cq->log_depth)];
	memset(c, 0, 64);
	fz_bytes(&it->f, c + 12, how & 8 ? 20 : 0);
	ref_put16(c + 0x2c, len >> 16);
	ref_put16(c + 0x2e, len);
	ref_put16(c + 0x3c, counter);
	c[0x37] = fz_u8(&it->f);
	c[63] = (uint8_t)(opcode << 4 | (it->nic_pi >> cq->log_depth & 1));
	if (how < 8)
		fz_bytes(&it->f, c, 64);
	if (how >= 248) {
		at = fz_below(&it->f, 64);
		c[at] = fz_u8(&it->f);
	}
	if (how >= 16)
		it->nic_pi++;
}

/* ---- sends ---- */

static void
post(struct it *it)
{
	uint32_t pieces = 1 + fz_below(&it->f, 13), n;
	struct crl_piece p[16];
	struct wqe *w = &it->out[(it->head + it->nr) % 256];
	enum crl_st st;
	uint64_t pi = 0;

	for (uint32_t i = 0; i < pieces; i++)
		p[i] = (struct crl_piece){NULL, 0x1000, 60, 1};
	n = crl_wqebbs(2 + pieces);
	st = crl_sq_reserve(&it->sq, n, &pi);
	if (n > 1u << it->sq.log_depth)
		FZ_MUST(st == CRL_INVALID, "%d", st);
	else if (it->failed)
		FZ_MUST(st == CRL_FAILED, "%d", st);
	if (st != CRL_OK || it->nr == 256)
		return;
	crl_sq_put_send(&it->sq, pi, p, pieces, 0, fz_u8(&it->f) & 1, ++it->cookies);
	*w = (struct wqe){pi, pi + n, it->cookies};
	it->nr++;
}

enum seen { NOTHING, DONE, ERROR, WRONG };

/* What the entry at the consumer's index is, and which WQE it completes or names. */
static enum seen
look(struct it *it, const struct crl_cq *cq, uint64_t rung, uint64_t *to)
{
	uint64_t depth = 1ull << cq->log_depth, lap = it->cq_ci / depth;
	bool collapsed = cq->flags & CRL_CQ_COLLAPSED;
	const uint8_t *c = (const uint8_t *)&cq->cqe[collapsed ? 0 : it->cq_ci % depth];
	uint32_t op = c[63] >> 4, counter = ref_be16(c + 0x3c);
	uint64_t w = it->completed;
	bool in = false;

	if (op == 15 || (!collapsed && (c[63] & 1) != (lap & 1)))
		return NOTHING;
	while ((w & 0xffff) != counter)
		w++; /* the first index from here on that has these bits */
	if (collapsed && op == 0 && w >= rung)
		return NOTHING; /* counted before */
	if (op == 13)
		*to = w < rung ? w : it->completed;
	if (op != 0)
		return op == 13 ? ERROR : WRONG;
	for (uint32_t i = 0; i < it->nr; i++) {
		const struct wqe *q = &it->out[(it->head + i) % 256];

		if (q->first != w || w >= rung)
			continue;
		in = true;
		*to = q->end;
	}
	return in ? DONE : WRONG;
}

static void
take(struct it *it)
{
	uint64_t cookie;
	enum crl_st st;

	while ((st = crl_sq_take(&it->sq, &cookie)) != CRL_AGAIN) {
		const struct wqe *w = &it->out[it->head];

		FZ_MUST(it->nr > 0 && cookie == w->cookie, "cookie %llu, want %llu",
			(unsigned long long)cookie, (unsigned long long)w->cookie);
		FZ_MUST(st == (w->first < it->completed ? CRL_OK : CRL_FAILED), "status %d", st);
		it->head = (it->head + 1) % 256;
		it->nr--;
		it->taken++;
	}
	if (it->failed) {
		FZ_MUST(it->nr == 0, "%u cookies stay", it->nr);
		return;
	}
	FZ_MUST(it->nr == 0 || it->out[it->head].first >= it->completed, "a cookie stays");
}

static void
poll_sends(struct it *it)
{
	uint32_t max = 1 + fz_below(&it->f, POLLS), n = 0;
	uint64_t rung = it->sq.rung, before = it->completed, to = 0;
	enum crl_st want = CRL_AGAIN, st;
	enum seen s = NOTHING;

	if (it->failed) {
		FZ_MUST(crl_sq_poll(&it->sq, &it->error, max) == CRL_FAILED, "failed before");
		return;
	}
	for (; n < max && it->completed < rung; n++) {
		s = look(it, &it->sq.cq, rung, &to);
		if (s == NOTHING)
			break;
		if (s == ERROR)
			it->completed = to;
		if (s != DONE)
			break;
		it->completed = to;
		it->cq_ci += !(it->sq.cq.flags & CRL_CQ_COLLAPSED);
	}
	it->failed = n < max && before <= rung && (s == ERROR || s == WRONG);
	want = it->failed ? CRL_FAILED : it->completed != before ? CRL_OK : CRL_AGAIN;
	st = crl_sq_poll(&it->sq, &it->error, max);
	FZ_MUST(st == want, "status %d, want %d (%d)", st, want, s);
	FZ_MUST(it->sq.completed == it->completed && it->sq.cq.ci == it->cq_ci,
		"completed %llu, CQ at %llu, want %llu, %llu", (unsigned long long)it->sq.completed,
		(unsigned long long)it->sq.cq.ci, (unsigned long long)it->completed,
		(unsigned long long)it->cq_ci);
	FZ_MUST((it->error.seq != 0) == it->failed, "mailbox %u", it->error.seq);
	if (it->failed)
		FZ_MUST(it->error.kind == (s == ERROR ? CRL_QERR_CQE : it->error.kind) &&
				(s == ERROR || it->error.kind != CRL_QERR_CQE),
			"kind %u", it->error.kind);
	take(it);
	if (it->failed) /* what was flushed counts as done with */
		it->completed = it->sq.completed;
}

static void
nic_completes(struct it *it)
{
	uint64_t rung = it->sq.rung;
	uint32_t pick = fz_below(&it->f, it->nr ? it->nr : 1), how = fz_u8(&it->f);
	const struct wqe *w = &it->out[(it->head + pick) % 256];
	uint16_t counter = (uint16_t)(it->nr > 0 && w->first < rung ? w->first : fz_u16(&it->f));

	if (how >= 240)
		counter = (uint16_t)(counter + how - 240); /* the middle of one, or none */
	write_cqe(it, &it->sq.cq,
		how % 16 == 0	? 13
		: how % 16 == 1 ? fz_u8(&it->f) & 15
				: 0,
		counter, 0);
}

static void
sends(struct it *it, uint32_t how)
{
	struct crl_sq *sq = &it->sq;
	uint32_t log = how & 7u;

	sq->log_depth = log;
	sq->wqe = fz_alloc(64, (size_t)64 << log);
	sq->cookie = fz_alloc(8, (size_t)8 << log);
	sq->end = fz_alloc(8, (size_t)8 << log);
	sq->dbrec = it->rec;
	sq->uar = &it->uar;
	sq->sqn = 7;
	sq->signal_every = crl_signal_every(0, 6, log);
	crl_sq_reset(sq);
	sq->pi = sq->posted = sq->rung = sq->completed = sq->ci = sq->signalled = it->start;
	it->completed = it->start;
	open_cq(it, &sq->cq, crl_cq_log_depth(log), it->start);
	sq->cq.flags = how & 8 ? CRL_CQ_COLLAPSED : how & 16 ? CRL_CQ_OVERRUN_IGNORE : 0;
	for (unsigned ops = 0; it->f.n > 0 && ops < 400; ops++) {
		switch (fz_below(&it->f, 6)) {
		case 0:
		case 1:
			post(it);
			break;
		case 2:
			crl_sq_ring(sq);
			break;
		case 3:
			nic_completes(it);
			break;
		case 4:
			poll_sends(it);
			break;
		default:
			crl_rq_refill(NULL, sq);
			break;
		}
		FZ_MUST(sq->ci <= sq->completed && sq->completed <= sq->rung + (it->failed << 8) &&
				sq->rung <= sq->posted && sq->posted <= sq->pi &&
				sq->pi - sq->ci <= 1ull << log,
			"an index left its bounds");
	}
	free(sq->wqe);
	free(sq->cookie);
	free(sq->end);
	free(sq->cq.cqe);
}

/* ---- receives ---- */

static void
check_packet(struct it *it, const struct crl_pkt *p)
{
	const struct crl_rq *rq = &it->rq;
	uint64_t depth = 1ull << rq->log_depth, slot = it->completed % depth;
	const uint8_t *c = (const uint8_t *)&rq->cq.cqe[it->cq_ci % (1ull << rq->cq.log_depth)];

	FZ_MUST(p->index == it->completed, "index");
	FZ_MUST(p->data == rq->buf + slot * STRIDE + HEADROOM &&
			p->iova == rq->buf_iova + slot * STRIDE + HEADROOM,
		"the buffer");
	FZ_MUST(p->room == STRIDE - HEADROOM && p->len == ref_be32(c + 0x2c) && p->len <= p->room,
		"%u bytes of %u", p->len, p->room);
	FZ_MUST(p->hash == ref_be32(c + 12) && p->metadata == ref_be32(c + 0x24) &&
			p->csum_ok == c[0x1c] && p->types == c[0x1d] &&
			p->vlan == ref_be16(c + 0x1e),
		"what the CQE says");
}

/* The entry at the consumer's index: NOTHING, DONE, ERROR or WRONG. */
static enum seen
look_receive(struct it *it)
{
	const struct crl_cq *cq = &it->rq.cq;
	uint64_t depth = 1ull << cq->log_depth;
	const uint8_t *c = (const uint8_t *)&cq->cqe[it->cq_ci % depth];
	uint32_t op = c[63] >> 4;

	if (op == 15 || (c[63] & 1) != (it->cq_ci / depth & 1))
		return NOTHING;
	if (op != 2)
		return op == 14 ? ERROR : WRONG;
	return ref_be16(c + 0x3c) == (it->completed & 0xffff) && it->completed != it->rq.pi_told &&
			       ref_be32(c + 0x2c) <= STRIDE - HEADROOM
		       ? DONE
		       : WRONG;
}

static void
poll_receives(struct it *it)
{
	struct crl_pkt p[POLLS];
	uint32_t max = 1 + fz_below(&it->f, POLLS), n, back = fz_u8(&it->f);
	uint64_t from = it->cq_ci;
	enum seen s = NOTHING;
	enum crl_st st;

	st = crl_rq_poll(&it->rq, &it->error, p, max, &n);
	if (it->failed) {
		FZ_MUST(st == CRL_FAILED && n == 0, "failed before");
		return;
	}
	for (uint32_t i = 0; i < max; i++, it->completed++, it->cq_ci++) {
		s = look_receive(it);
		if (s != DONE)
			break;
		FZ_MUST(i < n, "packet %u of %u is missing", i, n);
		check_packet(it, &p[i]);
	}
	it->failed = it->cq_ci - from < max && (s == ERROR || s == WRONG);
	FZ_MUST(n == it->cq_ci - from, "%u packets, want %u", n, (uint32_t)(it->cq_ci - from));
	FZ_MUST(st == (it->failed ? CRL_FAILED : n > 0 ? CRL_OK : CRL_AGAIN), "status %d", st);
	FZ_MUST((it->error.seq != 0) == it->failed, "mailbox %u", it->error.seq);
	if (it->failed)
		FZ_MUST((it->error.kind == CRL_QERR_CQE) == (s == ERROR), "kind %u",
			it->error.kind);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = back & 1 ? n - 1 - i : i; /* in either order */

		memset(p[k].data, 0x5a, p[k].len);
		crl_rq_release(&it->rq, p[k].index);
	}
}

static void
receives(struct it *it, uint32_t how)
{
	struct crl_rq *rq = &it->rq;
	uint32_t log = how & 7u;

	rq->log_depth = log;
	rq->stride = STRIDE;
	rq->headroom = HEADROOM;
	rq->wqe = fz_alloc(64, crl_rq_ring_bytes(log));
	rq->buf = fz_alloc(64, crl_rq_buf_bytes(log, STRIDE));
	rq->released = fz_alloc(8, crl_rq_released_bytes(log));
	rq->buf_iova = 0x10000;
	rq->dbrec = it->rec;
	rq->rqn = 9;
	crl_rq_fill(rq->wqe, rq);
	crl_rq_fill_released(rq->released, log);
	crl_rq_reset(rq);
	open_cq(it, &rq->cq, crl_cq_log_depth(log), it->start);
	rq->pi = rq->pi_told = rq->ci = it->completed = it->start;
	for (unsigned ops = 0; it->f.n > 0 && ops < 400; ops++) {
		uint32_t what = fz_u8(&it->f);

		if (what % 4 == 0)
			crl_rq_refill(rq, NULL);
		else if (what % 4 == 1)
			poll_receives(it);
		else
			write_cqe(it, &rq->cq,
				what < 4   ? 14
				: what < 8 ? fz_u8(&it->f) & 15
					   : 2,
				(uint16_t)(it->nic_pi + (what >= 252 ? what : 0)),
				fz_len(&it->f, STRIDE));
		FZ_MUST(rq->ci <= rq->pi_told && rq->pi_told <= rq->pi &&
				rq->pi - rq->ci <= 1ull << log,
			"an index left its bounds");
	}
	free(rq->wqe);
	free(rq->buf);
	free(rq->released);
	free(rq->cq.cqe);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t starts[] = {0, 0xfff0, 0xfffff0, 0xfffffff0, 0x7fff0000fff0};
	static struct it it;
	uint32_t how;

	memset(&it, 0, sizeof(it));
	it.f = (struct fz){data, size};
	how = fz_u8(&it.f);
	it.start = starts[fz_below(&it.f, 5)];
	if (how & 0x80)
		receives(&it, how);
	else
		sends(&it, how);
	return 0;
}
