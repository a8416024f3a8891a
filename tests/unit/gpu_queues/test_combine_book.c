/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_combine.h step by step, in one thread: what each call writes, and what it says, in every
 * state that the producers can bring about; test_burst.c has them as threads.
 */
#include "book.h"

#include "gpu_queues/mem.h"

/* The test's own clock: it moves when it is asked, and others act meanwhile. */
static uint64_t clock_ns, clock_asked;
static void (*meanwhile)(void);

static uint64_t
test_now(void)
{
	clock_asked++;
	if (meanwhile)
		meanwhile();
	return clock_ns++;
}
#define crl_now_ns test_now
#include "gpu_queues/sq_combine.h"

#define LOG	 8u
#define DEPTH	 (1u << LOG)
#define MAX	 8u /* of a burst */
#define MANY	 8u /* producers */
#define LIMIT_NS 2000000u

static struct {
	struct crl_sq_combine words;
	uint64_t guard;
} mem;
#define c mem.words
static struct fake_nic n;
static uint64_t base;

static void
open_at(uint64_t at, uint64_t ranges, bool gpu_scope)
{
	fake_open(&n, LOG, 3, 64, false);
	n.q.sq.signal_every = DEPTH / 4u;
	base = at;
	book_sq(&n, at);
	memset(&mem, 0xee, sizeof(mem));
	crl_combine_init(&c, &n.q.sq, MANY, MAX, gpu_scope);
	assert_true(c.range_next == 0 && mem.guard == 0xeeeeeeeeeeeeeeeeull);
	clock_ns = 1000;
	meanwhile = NULL;
	/* and so many ranges ago */
	c.ticket += ranges;
	c.range_next = ranges;
}

static void
test_init(void **state)
{
	(void)state;
	open_at(0x123456789abcull, 0, true);
	assert_true(c.ticket == 0x9abcull << 48 && c.unrung == 0 && c.ci == base && c.failed == 0);
	assert_true(
		c.producers == MANY && c.burst_max == MAX && c.gpu_scope == 1 && c.range_next == 0);
	for (uint32_t i = 0; i < CRL_COMBINE_PRODUCERS; i++)
		assert_int_equal(c.range[i], 0);
	fake_close(&n);
}

/* Against what stands in the head of sq_combine.h: room counted as if all took a burst now. */
static void
test_reserve(void **state)
{
	uint64_t pi, number, seen;

	(void)state;
	for (uint32_t i = 0; i < 20000u; i++) {
		uint64_t at = book_index() & 0xffffffffffffull, ranges = book_index() & 0xffffffffu;
		uint32_t used = book_below(DEPTH + 1u),
			 unrung = book_below(CRL_COMBINE_PRODUCERS + 1u);
		uint32_t len = book_below(MAX + 2u);
		bool failed = book_below(9) == 0;
		enum crl_st want = CRL_OK, st;

		memset(&c, 0, sizeof(c));
		c.producers = MANY;
		c.burst_max = MAX;
		c.failed = failed;
		c.ci = at;
		c.range_next = ranges;
		c.ticket = ((at + used) & 0xffffu) << 48 | (ranges + unrung);
		seen = book_below(2) ? at : at - 7u;
		pi = number = 99;
		if (used + MANY * MAX > DEPTH || unrung + MANY > CRL_COMBINE_PRODUCERS)
			want = CRL_AGAIN;
		if (failed)
			want = CRL_FAILED;
		if (len == 0 || len > MAX)
			want = CRL_INVALID;
		st = crl_combine_reserve(&c, LOG, len, &pi, &number, &seen);
		assert_int_equal(st, want);
		if (st != CRL_OK) {
			assert_true(
				c.ticket == (((at + used) & 0xffffu) << 48 | (ranges + unrung)));
			assert_true(pi == 99 && number == 99);
			continue;
		}
		assert_true(
			pi == ((at + used) & 0xffffu) && number == ranges + unrung && seen == at);
		assert_true(
			c.ticket == (((at + used + len) & 0xffffu) << 48 | (ranges + unrung + 1u)));
	}
}

/* What a ring for the SENDs below to leaves in record, register and book. */
static void
check_rung(uint64_t to, uint64_t ranges)
{
	const struct crl_sq *sq = &n.q.sq;

	assert_int_equal(crl_from_be32(n.sq_rec[CRL_DBREC_SND_WORD]), (uint16_t)to);
	assert_int_equal(
		n.uar, crl_seg_ctrl(CRL_OPCODE_SEND, to - 1u, FAKE_SQN, CRL_BURST_DS, 0).q[0]);
	assert_true(sq->pi == to && sq->posted == to && sq->rung == to && sq->signalled == to);
	assert_true(sq->last == to - 1u && sq->db == n.uar);
	assert_int_equal(c.range_next, ranges);
	/* the SEND asks for its CQE already: the ringer has no business in it */
	for (uint32_t i = 0; i < CRL_WQEBB_BYTES; i++)
		assert_int_equal(sq->wqe[((to - 1u) & (DEPTH - 1u)) * CRL_WQEBB_BYTES + i], 0);
}

/* One producer after another: each is the ringer of its own range. */
static void
test_publish(void **state)
{
	uint64_t pi = 0, number = 0, seen = 0, at, ranges = (1ull << 33) - 40u;
	uint32_t len;

	(void)state;
	for (uint32_t gpu = 0; gpu < 2u; gpu++) {
		open_at((1ull << 33) - 100u, ranges, gpu);
		at = base;
		for (uint32_t i = 0; i < 60u; i++) {
			len = 1u + book_below(MAX);
			assert_int_equal(
				crl_combine_reserve(&c, LOG, len, &pi, &number, &seen), CRL_OK);
			assert_true(pi == (uint16_t)at && number == ranges + i);
			at += len;
			n.q.sq.unsignalled = 9;
			assert_int_equal(crl_combine_publish(
						 &c, &n.q.sq, n.error, number, pi, len, LIMIT_NS),
				CRL_OK);
			assert_true(c.range[number % 64u] == ((number + 1u) << 16 | (uint16_t)at));
			check_rung(at, ranges + i + 1u);
			assert_int_equal(c.unrung, 0);
			book_cqe(&n.q.sq.cq, n.q.sq.cq.ci, CRL_CQE_REQ, at - 1u);
			if (at - c.ci > DEPTH / 2u) { /* whoever finds no room */
				assert_int_equal(
					crl_combine_idle(&c, &n.q.sq, n.error, LIMIT_NS), CRL_OK);
				assert_true(c.ci == at && n.q.sq.ci == at);
			}
			assert_int_equal(c.unrung, 0);
		}
		fake_close(&n);
	}
}

/* Ranges of others, written down and counted: the ringer takes all that follow one another. */
static void
test_many(void **state)
{
	uint32_t count, len, gap;
	uint64_t at, number;

	(void)state;
	for (uint32_t i = 0; i < 400u; i++) {
		open_at(book_index() & 0xffffffffffffull, book_index() & 0xffffffffu, i & 1u);
		count = 1u + book_below(20);
		gap = book_below(2) ? count : book_below(count); /* this one is not there yet */
		at = base;
		number = c.range_next;
		for (uint32_t k = 0; k < count; k++) {
			len = 1u + book_below(MAX);
			if (k < gap)
				base = at + len; /* up to here it can ring */
			if (k != gap)
				c.range[(number + k) % 64u] =
					(number + k + 1u) << 16 | (uint16_t)(at + len);
			else /* what an earlier range left */
				c.range[(number + k) % 64u] =
					(number + k + 1u - 64u) << 16 | (uint16_t)(at + len);
			at += len;
		}
		c.unrung = count;
		assert_int_equal(crl_combine_run(&c, &n.q.sq, n.error, count, 1000u),
			gap == count ? CRL_OK : CRL_STUCK);
		if (gap != 0)
			check_rung(base, number + gap);
		else
			assert_true(n.uar == 0 && n.q.sq.posted == base);
		assert_int_equal(c.unrung, count - gap);
		assert_int_equal(c.failed, gap != count);
		assert_int_equal(n.error[CRL_QERROR_SQ].seq, gap != count);
		if (gap != count) {
			assert_int_equal(n.error[CRL_QERROR_SQ].kind, CRL_QERR_TURN);
			assert_int_equal(n.error[CRL_QERROR_SQ].queue, FAKE_SQN);
			assert_int_equal(n.error[CRL_QERROR_SQ].wqe, (uint16_t)n.q.sq.posted);
		}
		fake_close(&n);
	}
}

static uint64_t late_at[2];

/* Each of two ranges is written down so late. */
static void
write_late(void)
{
	for (uint32_t i = 0; i < 2u; i++)
		if (clock_ns == late_at[i])
			c.range[3u + i] =
				(uint64_t)(4u + i) << 16 | (uint16_t)(base + 5u * (i + 1u));
}

/* The ringer waits for each range by itself, so long and not longer. */
static void
test_wait(void **state)
{
	(void)state;
	for (uint32_t late = 0; late < 9u; late++) {
		open_at(65530, 3, false);
		c.unrung = 2;
		late_at[0] = 1008;
		late_at[1] = 1009u + late;
		clock_asked = 0;
		meanwhile = write_late;
		assert_int_equal(crl_combine_run(&c, &n.q.sq, n.error, 2, 10), CRL_OK);
		check_rung(base + 10u, 5);
		fake_close(&n);
	}
	open_at(65530, 3, false);
	c.unrung = 2;
	clock_asked = 0;
	assert_int_equal(crl_combine_run(&c, &n.q.sq, n.error, 2, 10), CRL_STUCK);
	assert_true(clock_asked == 12u && c.unrung == 2 && c.failed == 1);
	fake_close(&n);
	/* of a queue that failed before, nothing is rung: the error names the first SEND not taken
	 */
	open_at(65530, 3, false);
	n.q.sq.state = CRL_QS_FAILED;
	c.range[3] = 4u << 16 | (uint16_t)(base + 5u);
	c.unrung = 2;
	assert_int_equal(crl_combine_run(&c, &n.q.sq, n.error, 2, 10), CRL_STUCK);
	assert_true(n.uar == 0 && n.error[CRL_QERROR_SQ].wqe == (uint16_t)(base + 5u));
	fake_close(&n);
}

/* Somebody else rings: a range is written down and counted, and nothing more. */
static void
test_beside_ringer(void **state)
{
	(void)state;
	open_at(1000, 7, false);
	c.unrung = 1;
	assert_int_equal(crl_combine_publish(&c, &n.q.sq, n.error, 7, 1000, 5, LIMIT_NS), CRL_OK);
	assert_true(c.unrung == 2 && c.range[7] == (8u << 16 | 1005u) && n.uar == 0);
	assert_int_equal(crl_combine_idle(&c, &n.q.sq, n.error, LIMIT_NS), CRL_AGAIN);
	assert_int_equal(c.unrung, 2);
	c.failed = 1;
	assert_int_equal(
		crl_combine_publish(&c, &n.q.sq, n.error, 8, 1005, 5, LIMIT_NS), CRL_FAILED);
	assert_true(c.unrung == 3 && n.uar == 0);
	/* it was rung for between being written down and being counted */
	c.failed = 0;
	c.unrung = 0xffffffffu;
	assert_int_equal(crl_combine_publish(&c, &n.q.sq, n.error, 9, 1010, 5, LIMIT_NS), CRL_OK);
	assert_true(c.unrung == 0 && n.uar == 0);
	assert_int_equal(crl_combine_run(&c, &n.q.sq, n.error, 0, 0), CRL_OK);
	assert_int_equal(crl_combine_run(&c, &n.q.sq, n.error, 0xffffffffu, 0), CRL_OK);
	fake_close(&n);
}

/* The ringer takes completions once more than a quarter of the ring is under way, and not before.
 */
static void
test_reap_when(void **state)
{
	uint64_t pi = 0, number = 0, seen = 0;

	(void)state;
	for (uint32_t i = 0; i < 2u; i++) {
		open_at(65500, 0, false);
		n.q.sq.posted = n.q.sq.rung = n.q.sq.pi = base + DEPTH / 4u - 4u;
		c.ticket = (uint64_t)(uint16_t)n.q.sq.posted << 48;
		book_cqe(&n.q.sq.cq, n.q.sq.cq.ci, CRL_CQE_REQ, base + 9u);
		assert_int_equal(crl_combine_reserve(&c, LOG, 4u + i, &pi, &number, &seen), CRL_OK);
		assert_int_equal(
			crl_combine_publish(&c, &n.q.sq, n.error, number, pi, 4u + i, LIMIT_NS),
			CRL_OK);
		assert_true(c.ci == (i ? base + 10u : base));
		assert_int_equal(crl_combine_idle(&c, &n.q.sq, n.error, LIMIT_NS), CRL_OK);
		assert_true(c.ci == base + 10u && c.unrung == 0);
		fake_close(&n);
	}
}

/* An error CQE fails the queue for all: what rings says so, and so does what reserves. */
static void
test_error(void **state)
{
	uint64_t pi = 0, number = 0, seen = 0;

	(void)state;
	open_at(65500, 0, false);
	assert_int_equal(crl_combine_reserve(&c, LOG, 8, &pi, &number, &seen), CRL_OK);
	assert_int_equal(
		crl_combine_publish(&c, &n.q.sq, n.error, number, pi, 8, LIMIT_NS), CRL_OK);
	book_cqe(&n.q.sq.cq, n.q.sq.cq.ci, CRL_CQE_REQ_ERR, base + 5u);
	assert_int_equal(crl_combine_idle(&c, &n.q.sq, n.error, LIMIT_NS), CRL_FAILED);
	assert_true(c.failed == 1 && c.ci == base + 5u && c.unrung == 0);
	assert_int_equal(n.error[CRL_QERROR_SQ].kind, CRL_QERR_CQE);
	assert_int_equal(crl_combine_reserve(&c, LOG, 8, &pi, &number, &seen), CRL_FAILED);
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init),
		cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_publish),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_beside_ringer),
		cmocka_unit_test(test_reap_when),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
