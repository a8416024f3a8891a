/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sq_burst.h does to a queue's book, against a model of it, from any state: completions that
 * are there in any number, an error among them, a counter that cannot be; and the doorbells.
 */
#include "book.h"

#include "gpu_queues/sq_burst.h"

/* What a NIC has put into the CQ. */
struct written {
	uint32_t nr, bad,
		opcode;	 /* entries; which of them is none of a good send (nr: none does) */
	uint64_t w[512]; /* the WQE of each */
};

/* k SENDs under way, nr of them or fewer reported, in order. */
static void
write_cqes(struct crl_sq *sq, struct written *c, uint32_t k)
{
	static const uint32_t wrong[] = {CRL_CQE_REQ_ERR, CRL_CQE_REQ_ERR, CRL_CQE_RESP_SEND, 7};
	uint64_t depth = 1ull << sq->cq.log_depth, w = sq->completed;

	c->nr = k == 0 ? 0 : book_below((k < depth ? k : depth) + 1u);
	c->bad = book_below(3) == 0 ? book_below(c->nr + 1u) : c->nr;
	c->opcode = wrong[book_below(4)];
	for (uint32_t i = 0; i < c->nr; i++) {
		/* never so far that none is left for those after it */
		if (i <= c->bad)
			w += book_below(sq->rung - w - (c->nr - i) + 1u);
		c->w[i] = w++;
		if (i >= c->bad && c->opcode == 7u) /* a good send's, of what was never rung for */
			c->w[i] = w = sq->rung + book_below(3);
		book_cqe(&sq->cq, sq->cq.ci + i,
			i >= c->bad && c->opcode != 7u ? c->opcode : CRL_CQE_REQ, c->w[i]);
	}
}

/* The last entry that a look takes, of the first n that are good; -1: none. */
static int
model_last(uint32_t n)
{
	static const uint8_t probe[] = {0, 1, 2, 3, 5, 7, 9, 11, 15, 23, 31, 47, 63, 79, 95, 111};
	int last = -1;

	for (uint32_t i = 0; i < 16u; i++)
		if (probe[i] < n)
			last = probe[i];
	return last;
}

/* What becomes of the queue: taken CQEs, or where the first of them is bad, its error. */
static enum crl_st
model(struct crl_sq *want, const struct written *c, int last)
{
	if (last >= 0) {
		want->completed = c->w[last] + 1u;
		want->cq.ci += (uint32_t)last + 1u;
		want->ci = want->completed;
		return CRL_OK;
	}
	want->state = CRL_QS_FAILED;
	if (c->opcode == CRL_CQE_REQ_ERR)
		want->completed = c->w[0];
	want->ci = want->completed;
	return CRL_FAILED;
}

static void
check_error(const struct fake_nic *n, const struct written *c, bool failed)
{
	const struct crl_qerror *e = &n->error[CRL_QERROR_SQ];

	assert_int_equal(e->seq, failed);
	if (!failed)
		return;
	assert_int_equal(e->kind, c->opcode == 7u		 ? CRL_QERR_COUNTER
				  : c->opcode == CRL_CQE_REQ_ERR ? CRL_QERR_CQE
								 : CRL_QERR_OPCODE);
	assert_int_equal(e->wqe, (uint16_t)c->w[0]);
	assert_int_equal(e->queue, FAKE_SQN);
}

/* One state; one: crl_burst_poll_one(), else crl_burst_reap(). */
static void
reap_once(bool one, uint32_t log_sq, uint32_t log_cq)
{
	struct fake_nic n;
	struct crl_sq *sq = &n.q.sq, want;
	struct written c;
	enum crl_st st = CRL_AGAIN;
	bool told = book_below(8) != 0, failed = book_below(12) == 0;
	uint32_t good, k;

	fake_open(&n, log_sq > log_cq ? log_sq : log_cq, 3, 64, false);
	sq->log_depth = log_sq;
	sq->cq.log_depth = log_cq;
	sq->cq.flags = told ? 0 : CRL_CQ_OVERRUN_IGNORE;
	book_sq(&n, book_index());
	k = book_below((1ull << log_sq) + 1u);
	sq->pi = sq->posted = sq->rung = sq->pi + k;
	write_cqes(sq, &c, k);
	good = c.bad < c.nr ? c.bad : c.nr;
	if (!one && c.opcode == 7u && model_last(c.nr) >= (int)good)
		good = 0; /* the look saw it, and leaves all to crl_sq_poll(), which knows no such
			     WQE */
	if (failed)
		sq->state = CRL_QS_FAILED;
	want = *sq;
	if (failed)
		st = CRL_FAILED;
	else if (c.nr != 0)
		st = model(&want, &c, one ? (good != 0 ? 0 : -1) : model_last(good));
	if (one && failed && good != 0)
		st = model(&want, &c, 0); /* what was sent before counts, as everywhere */
	if (told && want.cq.ci != sq->cq.ci)
		want.cq.ci_told = want.cq.ci;
	assert_int_equal(one ? crl_burst_poll_one(sq, n.error) : crl_burst_reap(sq, n.error), st);
	assert_memory_equal(sq, &want, sizeof(want));
	assert_int_equal(crl_from_be32(n.scq_rec[CRL_DBREC_CQ_CI]), want.cq.ci_told & 0xffffffu);
	check_error(&n, &c, !failed && st == CRL_FAILED);
	fake_close(&n);
}

static void
test_reap(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4000u; i++)
		reap_once(false, book_below(10), book_below(9));
}

static void
test_poll_one(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2000u; i++)
		reap_once(true, book_below(6), book_below(6));
}

/* Both doorbells: record, register and nothing else; then the book as crl_sq_ring() leaves it. */
static void
test_ring(void **state)
{
	struct fake_nic n;
	struct crl_sq *sq = &n.q.sq;
	struct crl_burst b;
	uint64_t at, db;
	uint32_t k;

	(void)state;
	for (uint32_t i = 0; i < 500u; i++) {
		fake_open(&n, 6, 3, 64, false);
		at = book_index();
		book_sq(&n, at);
		k = 1u + book_below(64);
		b = crl_burst_open(sq, 0, 0);
		assert_true(crl_burst_fits(&b, 64) && !crl_burst_fits(&b, 65));
		assert_true(b.room == (uint32_t)(at + 64u) && b.pi == (uint32_t)at);
		if (i % 2u)
			crl_burst_ring(&b, k);
		else
			crl_burst_ring_gpu(&b, k);
		db = crl_seg_ctrl(CRL_OPCODE_SEND, at + k - 1u, FAKE_SQN, CRL_BURST_DS, 0).q[0];
		assert_int_equal(n.uar, db);
		assert_int_equal(crl_from_be32(n.sq_rec[CRL_DBREC_SND_WORD]), (uint16_t)(at + k));
		assert_int_equal(crl_from_be32(n.sq_rec[CRL_DBREC_RCV_WORD]), 0);
		assert_true(b.pi == (uint32_t)at);
		crl_burst_next(&b, k);
		assert_true(b.pi == (uint32_t)(at + k));
		assert_true(crl_burst_fits(&b, 64u - k) && !crl_burst_fits(&b, 65u - k));
		sq->unsignalled = 5;
		sq->db = 1;
		crl_burst_close(&b, sq);
		assert_true(sq->pi == at + k && sq->posted == at + k && sq->rung == at + k);
		assert_true(
			sq->signalled == at + k && sq->unsignalled == 0 && sq->last == at + k - 1u);
		assert_true(sq->db == db && sq->completed == at && sq->ci == at);
		fake_close(&n);
	}
}

/* Room: what a look at completions finds, told as an index. */
static void
test_room(void **state)
{
	struct fake_nic n;
	struct crl_sq *sq = &n.q.sq;
	struct crl_burst b;
	uint32_t room = 0;
	uint64_t at = (1ull << 32) - 10u;

	(void)state;
	fake_open(&n, 5, 3, 64, false);
	book_sq(&n, at);
	b = crl_burst_open(sq, 0, 0);
	crl_burst_next(&b, 20);
	assert_int_equal(crl_burst_room(&b, sq, n.error, &room), CRL_AGAIN);
	assert_true(room == (uint32_t)(at + 32u) && sq->rung == at + 20u);
	book_cqe(&sq->cq, sq->cq.ci, CRL_CQE_REQ, at + 12u);
	assert_int_equal(crl_burst_room(&b, sq, n.error, &room), CRL_OK);
	assert_true(room == (uint32_t)(at + 13u + 32u) && sq->ci == at + 13u);
	book_cqe(&sq->cq, sq->cq.ci, CRL_CQE_REQ_ERR, at + 15u);
	assert_int_equal(crl_burst_room(&b, sq, n.error, &room), CRL_FAILED);
	assert_int_equal(n.error[CRL_QERROR_SQ].wqe, (uint16_t)(at + 15u));
	fake_close(&n);
}

/* A lane's frames, however its four segments are asked for. */
static void
test_open(void **state)
{
	struct fake_nic n;
	struct crl_frame f = {0x1122334455667788ull, 0x99aabbccu, 0xddeeff00u};
	struct crl_seg want[4], got;

	(void)state;
	fake_open(&n, 4, 3, 64, false);
	for (uint32_t i = 0; i < 64u; i++) {
		uint64_t index = book_index();
		uint32_t cs = book_below(256), lane = i % 32u;
		struct crl_burst b = crl_burst_open(&n.q.sq, cs, lane);

		want[0] = crl_seg_ctrl(CRL_OPCODE_SEND, index, FAKE_SQN, 3,
			i < 32u ? CRL_WQE_CE_ALWAYS : CRL_WQE_CE_ON_FIRST_ERR);
		want[1] = crl_seg_eth(cs);
		want[2] = crl_seg_data(f.len, f.lkey, f.iova);
		want[3] = (struct crl_seg){{0, 0}};
		got = crl_burst_seg(&b, (uint32_t)index, f, i < 32u ? b.asked : b.same[2]);
		assert_memory_equal(&got, &want[lane % 4u], sizeof(got));
		assert_true(b.wqe == n.q.sq.wqe + lane % 4u * 16u && b.bytes == 16u * 64u);
		assert_true(b.dbrec == n.q.sq.dbrec && b.uar == n.q.sq.uar);
	}
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reap),
		cmocka_unit_test(test_poll_one),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
