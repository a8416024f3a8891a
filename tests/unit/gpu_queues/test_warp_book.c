/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warp_reap.h call by call against a model, from any state: what a warp finds in its CQs, receive
 * slots that come back in order and out of it, sends that are over, and CQEs that cannot be; and a
 * multi-packet send of fwd_warp.h.
 */
#include "book.h"

#include "gpu_queues/fwd_warp.h"
#include "gpu_queues/warp_reap.h"

#define LOG_SQ 7u
#define LOG_RQ 6u
#define SENDS  (1u << LOG_SQ)
#define SLOTS  (1u << LOG_RQ)

static struct fake_nic n;
static struct crl_stream s;
static struct crl_warp warp;

/* Slots below rq.pi - SLOTS + 1 .. are the NIC's or the application's; the table as it may be. */
static void
open_random(bool released)
{
	struct crl_rq *rq = &n.q.rq;

	fake_open(&n, LOG_SQ, LOG_RQ, 64, false);
	warp = (struct crl_warp){book_below(1000) * 2u + 1u, book_below(1000)};
	memset(&s, 0, sizeof(s));
	s.rx = s.tx = &n.q;
	s.burst = 64;
	book_sq(&n, book_index());
	memset(rq->released, 0, SLOTS);
	rq->ci = book_index();
	rq->pi = rq->pi_told = rq->ci + SLOTS;
	book_cq(&rq->cq, rq->ci + 4096u * SLOTS, CRL_CQE_RESP_SEND, rq->ci);
	n.rcq_pi = rq->cq.ci;
	if (!released)
		return;
	/* so many are the application's, and of those some were given back */
	rq->ci += book_below(SLOTS + 1u);
	for (uint64_t i = rq->pi; i < rq->ci + SLOTS; i++) {
		rq->released[i & (SLOTS - 1u)] = i != rq->pi && book_below(3) == 0;
		s.loose += rq->released[i & (SLOTS - 1u)];
	}
}

static void
test_recount(void **state)
{
	uint32_t want;

	(void)state;
	for (uint32_t i = 0; i < 500u; i++) {
		open_random(false);
		n.q.rq.log_depth = book_below(LOG_RQ + 1u);
		memset(n.q.rq.released, 1,
			SLOTS + 1u); /* what lies behind the table counts for nothing */
		want = 0;
		for (uint32_t k = 0; k < 1u << n.q.rq.log_depth; k++) {
			n.q.rq.released[k] = (uint8_t)book_below(3);
			want += n.q.rq.released[k] != 0;
		}
		s.loose = 99;
		crl_warp_recount(&warp, &s);
		assert_int_equal(s.loose, want);
		s.rx = NULL;
		s.loose = 99;
		crl_warp_recount(&warp, &s);
		assert_int_equal(s.loose, 99);
		fake_close(&n);
	}
}

static void
test_poll(void **state)
{
	struct crl_warp_seen seen;
	uint32_t rx, tx, max, want_rx, want_tx, tail;

	(void)state;
	for (uint32_t i = 0; i < 6000u; i++) {
		open_random(false);
		max = book_below(3) ? book_below(65) : 64u * book_below(2);
		rx = book_below(3) ? book_below(SLOTS + 1u) : 31u + book_below(4);
		tx = book_below(40);
		n.q.sq.pi = n.q.sq.posted = n.q.sq.rung = n.q.sq.completed + book_below(3) * 20u;
		for (uint32_t k = 0; k < rx; k++)
			book_cqe(&n.q.rq.cq, n.q.rq.cq.ci + k, CRL_CQE_RESP_SEND, book_rnd());
		for (uint32_t k = 0; k < tx; k++)
			book_cqe(&n.q.sq.cq, n.q.sq.cq.ci + k, CRL_CQE_REQ, k * 7u);
		n.q.rq.state = book_below(6) ? CRL_QS_READY : CRL_QS_FAILED;
		n.q.sq.state = book_below(6) ? CRL_QS_READY : CRL_QS_FAILED;
		s.rx = book_below(8) ? &n.q : NULL;
		s.tx = book_below(8) ? &n.q : NULL;
		want_rx = s.rx && s.rx->rq.state == CRL_QS_READY ? (rx < max ? rx : max) : 0;
		want_tx = s.tx && s.tx->sq.state == CRL_QS_READY && n.q.sq.completed != n.q.sq.rung
				  ? (tx < 32u ? tx : 32u)
				  : 0;
		crl_warp_poll(&warp, &s, max, &seen);
		assert_int_equal(seen.rx, want_rx);
		assert_int_equal(seen.tx, want_tx);
		for (uint32_t k = 0; k < want_tx; k++) {
			crl_cq_peek(&n.q.sq.cq, n.q.sq.cq.ci + k, &tail);
			assert_int_equal(seen.tail[k], tail);
		}
		fake_close(&n);
	}
}

/* The table, pi and loose after slots came back: all that were, and those that come now. */
static void
check_table(const bool *back, uint64_t pi)
{
	uint64_t loose = 0;

	for (uint64_t i = pi; i < pi + SLOTS; i++) {
		bool set = i < n.q.rq.ci + SLOTS && back[i & (SLOTS - 1u)];

		assert_int_equal(n.q.rq.released[i & (SLOTS - 1u)] != 0, set);
		loose += set;
	}
	assert_true(n.q.rq.pi == pi);
	assert_int_equal(s.loose, loose);
}

/* Which of the slots that the application has are released. */
static void
read_table(bool *back)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		back[i] = n.q.rq.released[i] != 0;
}

static uint64_t
collected(bool *back, uint64_t pi)
{
	for (; pi < n.q.rq.ci + SLOTS && back[pi & (SLOTS - 1u)]; pi++)
		back[pi & (SLOTS - 1u)] = false;
	return pi;
}

static void
test_release(void **state)
{
	bool back[SLOTS];
	uint32_t mask, count, from;
	uint64_t pi, held;

	(void)state;
	for (uint32_t i = 0; i < 8000u; i++) {
		open_random(book_below(2));
		if (book_below(3) == 0) { /* as in a stream that drops nothing */
			memset(n.q.rq.released, 0, SLOTS);
			s.loose = 0;
			n.q.rq.ci = n.q.rq.pi - SLOTS + book_below(SLOTS + 1u);
		}
		read_table(back);
		pi = n.q.rq.pi;
		held = n.q.rq.ci + SLOTS - pi; /* slots that the application has */
		from = book_below(3) ? 0 : book_below(held + 1u);
		mask = (uint32_t)book_rnd() &
		       (book_below(2) ? ~0u : crl_lanes_below(book_below(33)));
		mask = book_below(3) ? mask : crl_lanes_below(book_below(33));
		for (uint32_t k = 0; k < 32u; k++)
			if (from + k >= held || back[(pi + from + k) & (SLOTS - 1u)])
				mask &= ~(1u << k);
		/* in order and nothing loose: the index moves, no byte of the table does */
		count = crl_popcount(mask);
		if (s.loose == 0 && from == 0 && mask == crl_lanes_below(count))
			pi += count;
		else
			for (uint32_t k = 0; k < 32u; k++)
				if (mask >> k & 1u)
					back[(pi + from + k) & (SLOTS - 1u)] = true;
		crl_warp_release(&warp, &s, n.q.rq.pi + from - SLOTS, mask);
		check_table(back, pi);
		if (book_below(8) == 0) {
			n.q.rq.state = CRL_QS_FAILED;
			crl_warp_collect(&warp, &s);
			check_table(back, pi);
			n.q.rq.state = CRL_QS_READY;
		}
		pi = s.loose ? collected(back, pi) : pi;
		crl_warp_collect(&warp, &s);
		check_table(back, pi);
		fake_close(&n);
	}
	s.rx = NULL;
	crl_warp_collect(&warp, &s);
}

/* A fresh queue's slots are all the engine's: the first look hands each to the NIC, once. */
static void
test_fresh(void **state)
{
	(void)state;
	for (uint32_t log = 0; log <= LOG_RQ; log++) {
		open_random(false);
		n.q.rq.log_depth = log;
		crl_rq_reset(&n.q.rq);
		crl_rq_fill_released(n.q.rq.released, log);
		crl_warp_recount(&warp, &s);
		assert_int_equal(s.loose, 1u << log);
		crl_warp_collect(&warp, &s);
		assert_true(n.q.rq.pi == 1u << log && s.loose == 0);
		for (uint32_t k = 0; k < 1u << log; k++)
			assert_int_equal(n.q.rq.released[k], 0);
		fake_close(&n);
	}
}

/* WQEs under way with the slots that they hold, in the order of the slots or not. */
struct held {
	uint32_t nr;
	uint64_t end[SENDS], cookie[SENDS];
};

static void
post_held(struct held *h)
{
	struct crl_sq *sq = &n.q.sq;
	uint64_t at = sq->ci, slot = n.q.rq.pi - SLOTS;

	for (h->nr = 0; h->nr < 100u; h->nr++) {
		uint32_t bbs = 1u + book_below(3), slots = book_below(book_below(8) ? 4 : 40);

		if (at + bbs > sq->ci + SENDS)
			break;
		if (slot + slots > n.q.rq.ci)
			slots = 0;
		for (uint32_t k = 0; k < slots; k++)
			if (n.q.rq.released[(slot + k) & (SLOTS - 1u)])
				slots = 0;
		h->cookie[h->nr] = slots ? slot << 8 | slots : book_below(2) ? 0 : slot << 8;
		sq->cookie[at & (SENDS - 1u)] = h->cookie[h->nr];
		sq->end[at & (SENDS - 1u)] = h->end[h->nr] = at + bbs;
		at += bbs;
		slot += slots + (book_below(9) == 0);
	}
	sq->pi = sq->posted = sq->rung = at;
}

static void
model_sent(const struct held *h, uint32_t sends, bool *back, uint64_t *pi)
{
	uint64_t loose = s.loose;

	for (uint32_t i = 0; i < sends; i++) {
		uint64_t first = h->cookie[i] >> 8, slots = h->cookie[i] & 0xffu;

		if (slots && loose == 0 && first + SLOTS == *pi) {
			*pi += slots;
			continue;
		}
		for (uint64_t k = first; k < first + slots; k++)
			back[k & (SLOTS - 1u)] = true;
		loose += slots;
	}
}

static void
test_take_sent(void **state)
{
	bool back[SLOTS];
	struct held h;
	uint32_t sends;
	uint64_t pi;

	(void)state;
	for (uint32_t i = 0; i < 4000u; i++) {
		open_random(book_below(2));
		if (s.loose == 0)
			n.q.rq.ci = n.q.rq.pi - book_below(2) * book_below(SLOTS);
		post_held(&h);
		sends = book_below(h.nr + 1u);
		n.q.sq.completed = sends ? h.end[sends - 1u] : n.q.sq.ci;
		read_table(back);
		pi = n.q.rq.pi;
		model_sent(&h, sends, back, &pi);
		assert_int_equal(crl_warp_take_sent(&warp, &s), sends);
		assert_true(n.q.sq.ci == n.q.sq.completed && s.txc.completions == sends);
		check_table(back, pi);
		fake_close(&n);
	}
	/* a stream without a receive queue holds no slots, whatever its cookies are */
	open_random(false);
	post_held(&h);
	s.rx = NULL;
	n.q.sq.completed = n.q.sq.rung;
	assert_int_equal(crl_warp_take_sent(&warp, &s), h.nr);
	assert_true(s.loose == 0 && n.q.sq.ci == n.q.sq.rung);
	fake_close(&n);
}

/* Send CQEs that a NIC wrote, and the first of them that is no good one (cqes: none is). */
struct sent {
	struct held h;
	uint32_t cqes, bad, how, which[SENDS]; /* the WQE of each */
	bool collapsed;
};

enum {
	ERROR,
	UNKNOWN, /* another opcode */
	AGAIN,	 /* the same WQE once more */
	FUTURE,	 /* a WQE that was never rung for */
	MIDDLE,	 /* the second WQEBB of one */
	GOOD,
};

static uint64_t
begins(const struct sent *c, uint32_t wqe)
{
	return wqe ? c->h.end[wqe - 1u] : n.q.sq.ci;
}

static void
write_cqes(struct sent *c)
{
	uint32_t k;

	for (c->cqes = k = 0; k < c->h.nr && c->cqes < 32u && book_below(20) != 0; k++)
		if (book_below(3) != 0)
			c->which[c->cqes++] = k;
	c->how = book_below(GOOD + 1u);
	c->bad = c->how != GOOD && c->cqes != 0 ? book_below(c->cqes) : c->cqes;
	if (c->how == AGAIN && c->bad == 0)
		c->bad = c->cqes;
	if (c->how == MIDDLE && c->bad != c->cqes &&
		c->h.end[c->which[c->bad]] - begins(c, c->which[c->bad]) < 2u)
		c->bad = c->cqes;
	for (k = 0; k < c->cqes; k++) {
		uint64_t w = begins(c, c->which[k]);
		uint32_t opcode = CRL_CQE_REQ;

		if (k == c->bad) {
			w = c->how == AGAIN ? begins(c, c->which[k - 1u]) : w;
			w = c->how == FUTURE ? n.q.sq.rung : w;
			w += c->how == MIDDLE;
			opcode = c->how == ERROR ? CRL_CQE_REQ_ERR : opcode;
			opcode = c->how == UNKNOWN ? CRL_CQE_RESP_SEND : opcode;
		}
		book_cqe(&n.q.sq.cq, n.q.sq.cq.ci + k, opcode, w);
	}
	c->collapsed = book_below(10) == 0;
	if (!c->collapsed)
		return;
	n.q.sq.cq.flags = CRL_CQ_COLLAPSED; /* one entry, of the last that is over */
	c->bad = c->cqes = c->cqes != 0;
	c->which[0] = c->h.nr - 1u;
	n.q.sq.cq.cqe[0].wqe_counter =
		crl_to_be16((uint16_t)(c->h.nr ? begins(c, c->h.nr - 1u) : 0));
	n.q.sq.cq.cqe[0].op_own = CRL_CQE_REQ << 4;
}

static void
check_reaped(const struct sent *c, uint32_t got)
{
	const struct crl_qerror *e = &n.error[CRL_QERROR_SQ];
	uint32_t taken = c->bad ? c->which[c->bad - 1u] + 1u : 0;

	assert_true(n.q.sq.cq.ci == n.scq_pi + (c->collapsed ? 0 : c->bad));
	assert_int_equal(e->seq, c->bad != c->cqes);
	assert_int_equal(n.q.sq.state, c->bad != c->cqes ? CRL_QS_FAILED : CRL_QS_READY);
	if (c->bad == c->cqes) {
		assert_int_equal(got, taken);
		assert_true(n.q.sq.ci == n.q.sq.completed);
		assert_true(taken == 0 || n.q.sq.ci == c->h.end[taken - 1u]);
		return;
	}
	assert_int_equal(got, 0);
	assert_int_equal(e->kind, c->how == ERROR     ? CRL_QERR_CQE
				  : c->how == UNKNOWN ? CRL_QERR_OPCODE
						      : CRL_QERR_COUNTER);
	if (c->how == ERROR) /* all before the failed one were sent */
		assert_true(n.q.sq.completed == begins(c, c->which[c->bad]));
	else
		assert_true(n.q.sq.completed == begins(c, taken));
}

static void
test_reap(void **state)
{
	struct crl_warp_seen seen;
	struct sent c;

	(void)state;
	for (uint32_t i = 0; i < 8000u; i++) {
		open_random(false);
		s.rx = book_below(2) ? &n.q : NULL;
		n.q.rq.ci = n.q.rq.pi;
		post_held(&c.h);
		write_cqes(&c);
		crl_warp_poll(&warp, &s, 0, &seen);
		seen.tx = c.collapsed ? c.cqes : seen.tx;
		assert_int_equal(seen.tx, n.q.sq.rung != n.q.sq.ci ? c.cqes : 0);
		check_reaped(&c, crl_warp_reap(&warp, &s, &seen));
		fake_close(&n);
	}
	s.tx = NULL;
	assert_int_equal(crl_warp_reap(&warp, &s, &seen), 0);
}

/* A multi-packet send, segment by segment, and nothing behind its last WQEBB. */
static void
test_pointers(void **state)
{
	struct crl_piece frame[30];
	struct crl_seg want[36];
	uint64_t at = 0;

	(void)state;
	open_random(false);
	n.q.sq.log_depth = 6;
	crl_sq_reset(&n.q.sq);
	n.q.sq.signal_every = 4;
	for (uint32_t i = 0; i < 600u; i++) {
		uint32_t nr = 2u + i % 29u, bbs = (2u + nr + 3u) / 4u, asks;

		memset(n.q.sq.wqe, 0xee, 64u * 64u);
		memset(want, 0, sizeof(want));
		for (uint32_t k = 0; k < nr; k++) {
			frame[k] = (struct crl_piece){
				NULL, book_rnd(), (uint32_t)book_below(2000), (uint32_t)book_rnd()};
			want[2u + k] = crl_seg_data(frame[k].len, frame[k].lkey, frame[k].iova);
		}
		n.q.sq.ci = n.q.sq.completed = n.q.sq.pi;
		asks = n.q.sq.unsignalled + nr >= 4u;
		want[0] = crl_seg_ctrl(CRL_OPCODE_EMPW, at, FAKE_SQN, 2u + nr,
			asks ? CRL_WQE_CE_ALWAYS : CRL_WQE_CE_ON_FIRST_ERR);
		want[1] = crl_seg_eth(i & 0xc0u);
		crl_warp_post_empw(&warp, &n.q.sq, frame, nr, i & 0xc0u, 1000u + i);
		for (uint32_t k = 0; k < 4u * bbs + 4u; k++) {
			const uint8_t *seg = n.q.sq.wqe + (at * 64u + k * 16u) % (64u * 64u);
			static const uint64_t none[2] = {0xeeeeeeeeeeeeeeeeu, 0xeeeeeeeeeeeeeeeeu};

			assert_memory_equal(seg, k < 4u * bbs ? (const void *)&want[k] : none, 16);
		}
		assert_int_equal(n.q.sq.cookie[at % 64u], 1000u + i);
		assert_int_equal(n.q.sq.end[at % 64u], at + bbs);
		at += bbs;
		assert_true(n.q.sq.pi == at && n.q.sq.posted == at);
	}
	fake_close(&n);
}

/* The small functions of a warp, for all that they may be asked. */
static void
test_warp(void **state)
{
	uint32_t v[34];

	(void)state;
	v[32] = v[33] = 1u << 30; /* no lane's */
	for (uint32_t i = 0; i < 2000u; i++) {
		uint32_t mask = 0, sum = 0, max = 0, rank = 0, lane = book_below(32);

		for (uint32_t k = 0; k < 32u; k++) {
			v[k] = book_below(2) * book_below(1000);
			mask |= (uint32_t)(v[k] != 0) << k;
			rank += k < lane && v[k] != 0;
			sum += v[k];
			max = v[k] > max ? v[k] : max;
		}
		assert_int_equal(crl_warp_ballot(v), mask);
		assert_int_equal(crl_warp_sum(v), sum);
		assert_int_equal(crl_warp_max(v), max);
		assert_int_equal(crl_rank(mask, lane), rank);
		assert_int_equal(crl_warp_get32(v, lane), v[lane]);
	}
	for (uint32_t k = 0; k <= 40u; k++) {
		uint32_t below = k < 32u ? (1u << k) - 1u : 0xffffffffu;

		assert_int_equal(crl_lanes_below(k), below);
		assert_int_equal(crl_leading(below), k < 32u ? k : 32u);
		assert_int_equal(crl_lowest(~below), k < 32u ? k : 32u);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recount),
		cmocka_unit_test(test_poll),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_fresh),
		cmocka_unit_test(test_take_sent),
		cmocka_unit_test(test_reap),
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_warp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
