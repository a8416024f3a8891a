/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_share.h in one thread: a look at completions against a model of it, from any state; and what
 * others do between two of a producer's own steps, by hooks in its loads, swaps and clock.
 */
#include "book.h"

#include "gpu_queues/mem.h"

static uint64_t clock_ns, clock_asked, cas_asked, loads;
static void (*before_cas)(void), (*before_ld)(void), (*meanwhile)(void);

static uint64_t
test_now(void)
{
	clock_asked++;
	if (meanwhile)
		meanwhile();
	return clock_ns++;
}

static bool
test_cas64(uint64_t *p, uint64_t was, uint64_t now)
{
	cas_asked++;
	if (before_cas)
		before_cas();
	return crl_cas64(p, was, now);
}

static uint64_t
test_ld64(const uint64_t *p)
{
	uint64_t v = crl_ld64(p);

	loads++;
	if (before_ld)
		before_ld();
	return v;
}

static uint32_t gave_way;

static void
test_give_way(uint32_t tries)
{
	assert_int_equal(tries, gave_way); /* so that it grows more patient */
	gave_way++;
}
#define crl_now_ns   test_now
#define crl_cas64    test_cas64
#define crl_ld64     test_ld64
#define crl_give_way test_give_way
#include "gpu_queues/sq_share.h"

#define LOG   5u
#define DEPTH (1u << LOG)

static struct crl_sq_share sh;
static struct fake_nic n;

static void
open_at(uint64_t at)
{
	fake_open(&n, LOG, 3, 64, false);
	n.q.sq.cq.cqn = 0x77;
	book_sq(&n, at);
	memset(&sh, 0xee, sizeof(sh));
	crl_share_init(&sh, &n.q.sq);
	before_cas = before_ld = meanwhile = NULL;
	cas_asked = clock_asked = loads = gave_way = 0;
	clock_ns = 500;
}

/* WQEs under way, and what the NIC says of them. */
struct under_way {
	uint32_t nr, cqes, bad, kind; /* bad: the first CQE that is none of a good WQE below upto */
	uint64_t first[DEPTH], end[DEPTH], w[DEPTH];
	uint64_t upto;
};

enum {
	LATER,	 /* a good one, of a turn that began since */
	ERROR,	 /* an error CQE */
	UNKNOWN, /* another opcode */
	MIDDLE,	 /* not the index of a WQE */
	KINDS,
};

static void
post(struct under_way *u)
{
	struct crl_sq *sq = &n.q.sq;
	uint64_t at = sq->ci;

	for (u->nr = 0; u->nr < DEPTH; u->nr++) {
		uint64_t bbs = 1u + book_below(4);

		if (at + bbs > sq->ci + DEPTH)
			break;
		u->first[u->nr] = at;
		u->end[u->nr] = at + bbs;
		sq->cookie[at & (DEPTH - 1u)] = 1000u + at;
		sq->end[at & (DEPTH - 1u)] = at + bbs;
		at += bbs;
	}
	u->nr = book_below(u->nr + 1u);
	sq->pi = sq->posted = u->nr ? u->end[u->nr - 1u] : sq->ci;
}

static void
report(struct under_way *u)
{
	struct crl_sq *sq = &n.q.sq;
	uint32_t whole = book_below(u->nr + 1u), at = 0, k; /* WQEs below upto */

	u->upto = whole ? u->end[whole - 1u] : sq->ci;
	sh.turn = u->upto;
	u->kind = KINDS;
	for (u->cqes = 0; at < whole && book_below(5) != 0; u->cqes++) {
		at += book_below(whole - at);
		u->w[u->cqes] = u->first[at];
		book_cqe(&sq->cq, sq->cq.ci + u->cqes, CRL_CQE_REQ, u->first[at++]);
	}
	u->bad = u->cqes;
	if (at == u->nr || book_below(3) == 0)
		return;
	u->kind = book_below(KINDS);
	k = u->kind == LATER ? whole + book_below(u->nr - whole + 1u) : at + book_below(u->nr - at);
	if (u->kind == LATER && k == u->nr)
		k--;
	u->w[u->bad] = u->first[k] + (u->kind == MIDDLE);
	if ((u->kind == LATER && k < whole) ||
		(u->kind == MIDDLE && (u->first[k] + 1u == u->end[k] || k >= whole))) {
		u->kind = KINDS;
		return;
	}
	book_cqe(&sq->cq, sq->cq.ci + u->bad,
		u->kind == ERROR     ? CRL_CQE_REQ_ERR
		: u->kind == UNKNOWN ? CRL_CQE_RESP_SEND
				     : CRL_CQE_REQ,
		u->w[u->bad]);
}

/* Cookies of all WQEs below done, up to max; where it stopped in *ci. */
static uint32_t
model_cookies(
	const struct under_way *u, uint64_t done, uint32_t max, uint64_t *cookie, uint64_t *ci)
{
	uint32_t i;

	for (i = 0; i < u->nr && i < max && u->first[i] < done; i++) {
		cookie[i] = 1000u + u->first[i];
		*ci = u->end[i];
	}
	return i;
}

static void
poll_once(void)
{
	uint64_t cookie[DEPTH], want[DEPTH], done, ci;
	struct crl_sq *sq = &n.q.sq;
	struct crl_qerror *e = &n.error[CRL_QERROR_SQ];
	struct under_way u;
	uint32_t max = book_below(DEPTH + 1u), nr, nr_want, taken, k;
	bool failed = book_below(10) == 0, good;
	enum crl_st st;

	open_at(book_index());
	post(&u);
	report(&u);
	sh.failed = failed;
	done = ci = sq->ci;
	taken = failed ? 0 : u.bad;
	for (k = 0; taken != 0 && k < u.nr; k++)
		if (u.first[k] == u.w[taken - 1u])
			done = u.end[k];
	/* nothing is looked at once all below upto are done */
	good = !failed && (u.kind == KINDS || u.kind == LATER || done == u.upto);
	if (!failed && !good && u.kind == ERROR && u.w[u.bad] < u.upto)
		done = u.w[u.bad]; /* all before the failed one were sent */
	nr_want = model_cookies(&u, done, max, want, &ci);
	st = crl_share_poll(&sh, sq, n.error, cookie, max, &nr);
	assert_int_equal(nr, nr_want);
	assert_memory_equal(cookie, want, nr * sizeof(want[0]));
	assert_int_equal(st, !good ? CRL_FAILED : nr ? CRL_OK : CRL_AGAIN);
	assert_true(sq->completed == done && sq->ci == ci && sh.ci == ci);
	assert_true(sq->cq.ci == n.scq_pi + taken && sh.poller == 0 && sh.turn == u.upto);
	assert_int_equal(crl_from_be32(n.scq_rec[CRL_DBREC_CQ_CI]), sq->cq.ci & 0xffffffu);
	assert_int_equal(sh.failed, !good);
	assert_int_equal(e->seq, !good && !failed);
	if (e->seq) {
		assert_int_equal(e->kind, u.kind == ERROR     ? CRL_QERR_CQE
					  : u.kind == UNKNOWN ? CRL_QERR_OPCODE
							      : CRL_QERR_COUNTER);
		assert_true(e->wqe == (uint16_t)u.w[u.bad] && e->queue == FAKE_SQN);
		assert_memory_equal(e->cqe, &sq->cq.cqe[sq->cq.ci & (DEPTH - 1u)], sizeof(e->cqe));
	}
	fake_close(&n);
}

static void
test_poll(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 6000u; i++)
		poll_once();
}

/* Somebody polls: nothing is touched. */
static void
test_poller(void **state)
{
	uint64_t cookie[4];
	uint32_t nr = 9;

	(void)state;
	open_at(100);
	sh.poller = 1;
	assert_int_equal(crl_share_poll(&sh, &n.q.sq, n.error, cookie, 4, &nr), CRL_AGAIN);
	assert_true(nr == 0 && sh.poller == 1 && sh.failed == 0);
	fake_close(&n);
}

/* The middle of a WQE, where a WQE of the whole ring ended just there a lap before. */
static void
test_middle(void **state)
{
	uint64_t cookie[4];
	uint32_t nr;

	(void)state;
	open_at(100);
	n.q.sq.end[100u % DEPTH] = 102;
	n.q.sq.end[101u % DEPTH] = 101;
	sh.turn = 102;
	book_cqe(&n.q.sq.cq, n.q.sq.cq.ci, CRL_CQE_REQ, 101);
	assert_int_equal(crl_share_poll(&sh, &n.q.sq, n.error, cookie, 4, &nr), CRL_FAILED);
	assert_int_equal(n.error[CRL_QERROR_SQ].kind, CRL_QERR_COUNTER);
	fake_close(&n);
}

static uint32_t others;

static void
others_take(void)
{
	if (others != 0 && others--)
		sh.ticket++;
}

/* A ticket that others take away: so many tries, and no room is lost in them. */
static void
test_taken_away(void **state)
{
	uint64_t pi = 0;

	(void)state;
	for (uint32_t k = 0; k <= CRL_SHARE_TRIES_MAX + 1u; k++) {
		open_at(70000);
		n.q.sq.log_depth = 9; /* only counted with here */
		before_cas = others_take;
		others = k;
		assert_int_equal(crl_share_reserve(&sh, &n.q.sq, 3, &pi),
			k < CRL_SHARE_TRIES_MAX ? CRL_OK : CRL_AGAIN);
		assert_int_equal(cas_asked, k < CRL_SHARE_TRIES_MAX ? k + 1u : CRL_SHARE_TRIES_MAX);
		if (k < CRL_SHARE_TRIES_MAX)
			assert_true(pi == 70000u + k && sh.ticket == 70003u + k);
		n.q.sq.log_depth = LOG;
		fake_close(&n);
	}
}

static uint64_t passed_to;

/* Between a producer's load of the ticket and that of ci the ring went round. */
static void
poller_passes(void)
{
	if (loads == 1u) {
		sh.ticket = passed_to + 2u;
		sh.ci = passed_to;
	}
}

static void
test_old_ticket(void **state)
{
	uint64_t pi = 0;

	(void)state;
	for (uint64_t ahead = 1; ahead < 2u * DEPTH; ahead++) {
		open_at(70000);
		before_ld = poller_passes;
		passed_to = 70000u + ahead;
		assert_int_equal(crl_share_reserve(&sh, &n.q.sq, 4, &pi), CRL_OK);
		assert_true(pi == passed_to + 2u && sh.ticket == pi + 4u && loads == 4u);
		fake_close(&n);
	}
	/* a full ring is no old ticket */
	open_at(70000);
	sh.ticket += DEPTH;
	assert_int_equal(crl_share_reserve(&sh, &n.q.sq, 1, &pi), CRL_AGAIN);
	assert_int_equal(loads, 2);
	fake_close(&n);
}

static uint64_t turn_at, turn_to, fail_at;

static void
turn_comes(void)
{
	if (clock_ns == turn_at)
		sh.turn = turn_to;
	if (clock_ns == fail_at)
		sh.failed = 1;
}

/* Waiting for the turn: so long and not longer, and giving way ever more. */
static void
test_turn(void **state)
{
	uint64_t at = 0x1ff90u;

	(void)state;
	for (uint32_t late = 0; late < 20u; late++) {
		open_at(at);
		sh.ticket = at + 9u;
		turn_at = 500u + late;
		turn_to = at + 6u;
		fail_at = 0;
		meanwhile = turn_comes;
		/* asked at 500 for the end, 510, then at 501 .. 511 */
		assert_int_equal(crl_share_enter(&sh, &n.q.sq, n.error, at + 6u, 3, 10),
			late <= 10u ? CRL_OK : CRL_STUCK);
		assert_int_equal(gave_way, late == 0 ? 1u : late <= 10u ? late : 10u);
		assert_true(
			sh.failed == (late > 10u) && n.error[CRL_QERROR_SQ].seq == (late > 10u));
		if (late > 10u) {
			assert_int_equal(n.error[CRL_QERROR_SQ].kind, CRL_QERR_TURN);
			assert_int_equal(n.error[CRL_QERROR_SQ].wqe, (uint16_t)(at + 6u));
			assert_int_equal(n.error[CRL_QERROR_SQ].queue, FAKE_SQN);
			assert_true(n.q.sq.pi == at && n.q.sq.state == CRL_QS_READY);
		} else {
			assert_true(n.q.sq.pi == at + 9u && n.q.sq.state == CRL_QS_READY);
		}
		fake_close(&n);
	}
	open_at(at);
	turn_at = 0;
	fail_at = 505;
	meanwhile = turn_comes;
	assert_int_equal(crl_share_enter(&sh, &n.q.sq, n.error, at + 6u, 3, 100), CRL_FAILED);
	assert_true(clock_ns < 510u && n.error[CRL_QERROR_SQ].seq == 0);
	fake_close(&n);
}

/* A range that is given up: NOPs of up to fifteen WQEBBs, none with a cookie or a CQE but the last.
 */
static void
test_abandon(void **state)
{
	struct crl_wqe_ctrl ctrl;
	uint64_t at = 0x1ff90u, pi;
	uint32_t part;

	(void)state;
	for (uint32_t bbs = 1; bbs <= DEPTH; bbs++) {
		open_at(at);
		sh.ticket = at + bbs;
		n.q.sq.signal_every = 1000;
		memset(n.q.sq.cookie, 0xee, DEPTH * sizeof(uint64_t));
		assert_int_equal(crl_share_abandon(&sh, &n.q.sq, n.error, at, bbs, 0), CRL_OK);
		assert_true(sh.turn == at + bbs && n.q.sq.rung == at + bbs);
		for (pi = at; pi < at + bbs; pi += part) {
			part = at + bbs - pi < 15u ? (uint32_t)(at + bbs - pi) : 15u;
			memcpy(&ctrl, n.q.sq.wqe + (pi & (DEPTH - 1u)) * CRL_WQEBB_BYTES,
				sizeof(ctrl));
			assert_true(crl_wqe_opcode(&ctrl) == CRL_OPCODE_NOP);
			assert_int_equal((crl_wqe_ds(&ctrl) + 3u) / 4u, part);
			assert_int_equal(crl_wqe_ce(&ctrl), pi + part == at + bbs
								    ? CRL_WQE_CE_ALWAYS
								    : CRL_WQE_CE_ON_FIRST_ERR);
			assert_int_equal(n.q.sq.cookie[pi & (DEPTH - 1u)], 0);
			assert_int_equal(n.q.sq.end[pi & (DEPTH - 1u)], pi + part);
		}
		fake_close(&n);
	}
	open_at(at);
	assert_int_equal(crl_share_abandon(&sh, &n.q.sq, n.error, at + 1u, 1, 5), CRL_STUCK);
	assert_true(sh.turn == at && n.q.sq.posted == at && n.uar == 0);
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_poll),
		cmocka_unit_test(test_poller),
		cmocka_unit_test(test_middle),
		cmocka_unit_test(test_taken_away),
		cmocka_unit_test(test_old_ticket),
		cmocka_unit_test(test_turn),
		cmocka_unit_test(test_abandon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
