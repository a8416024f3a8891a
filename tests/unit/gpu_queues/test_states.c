/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is written once and relied on for ever: fresh indices, counters as the host reads them, when
 * a stream looks at its control words, and what its turns count. Whole structs are compared, so
 * that a store too few or too many is seen.
 */
#include "book.h"

#include "gpu_queues/mem.h"

static uint64_t ticks_now;

static uint64_t
test_ticks(void)
{
	return ticks_now;
}
#define crl_ticks test_ticks
#include "gpu_queues/engines/io.h"
#include "gpu_queues/fwd_warp.h"

static struct fake_nic n;
static struct crl_stream s;

static void
stream_open(uint32_t burst)
{
	fake_open(&n, 4, 4, 128, false);
	memset(&s, 0, sizeof(s));
	s.rx = s.tx = &n.q;
	s.ctl = &n.ctl;
	s.tx_lkey = FAKE_LKEY;
	s.burst = burst;
	assert_true(crl_stream_begin(&s));
}

/* Every index 0, READY, and no constant touched. */
static void
test_reset(void **state)
{
	struct crl_sq sq, sq_want;
	struct crl_rq rq, rq_want;

	(void)state;
	memset(&sq, 0x5a, sizeof(sq));
	sq_want = sq;
	sq_want.pi = sq_want.posted = sq_want.rung = sq_want.completed = sq_want.ci = 0;
	sq_want.signalled = sq_want.last = sq_want.db = sq_want.cq.ci = sq_want.cq.ci_told = 0;
	sq_want.unsignalled = 0;
	sq_want.state = CRL_QS_READY;
	crl_sq_reset(&sq);
	assert_memory_equal(&sq, &sq_want, sizeof(sq));
	memset(&rq, 0x5a, sizeof(rq));
	rq_want = rq;
	rq_want.pi = rq_want.pi_told = rq_want.ci = rq_want.cq.ci = rq_want.cq.ci_told = 0;
	rq_want.state = CRL_QS_READY;
	crl_rq_reset(&rq);
	assert_memory_equal(&rq, &rq_want, sizeof(rq));
}

static void
test_release_all(void **state)
{
	uint8_t table[34];
	struct crl_rq rq = {.released = table};

	(void)state;
	for (rq.log_depth = 0; rq.log_depth <= 5u; rq.log_depth++) {
		memset(table, 0, sizeof(table));
		crl_rq_release_all(&rq);
		for (uint32_t i = 0; i < sizeof(table); i++)
			assert_int_equal(table[i], i < 1u << rq.log_depth);
	}
}

/* Each counter in its place; nothing of a side that there is not, nothing behind. */
static void
test_publish(void **state)
{
	struct crl_qstats want;

	(void)state;
	for (uint32_t sides = 0; sides < 4u; sides++) {
		stream_open(8);
		s.rx = sides & 1u ? &n.q : NULL;
		s.tx = sides & 2u ? &n.q : NULL;
		for (uint32_t i = 0; i < 8u; i++) {
			(&s.rxc.packets)[i] = 100u + i;
			(&s.txc.packets)[i] = 200u + i;
		}
		s.rtt = (struct crl_rtt_count){300, 301, 302, 303};
		s.stamp = (struct crl_stamp_count){400, 401};
		n.q.rq.pi = 500;
		n.q.rq.ci = 501;
		n.q.sq.pi = 502;
		n.q.sq.ci = 503;
		memset(&n.stats, 0xee, sizeof(n.stats));
		memset(&want, 0xee, sizeof(want));
		if (s.rx) {
			memcpy(&want.rx_packets, &s.rxc, 64);
			memcpy(&want.rtt_count, &s.rtt, 32);
			want.rq_pi = 500;
			want.rq_ci = 501;
			want.torn = 400;
			want.missed = 401;
		}
		if (s.tx) {
			memcpy(&want.tx_packets, &s.txc, 64);
			want.sq_pi = 502;
			want.sq_ci = 503;
		}
		crl_stream_publish(&s);
		assert_memory_equal(&n.stats, &want, sizeof(want));
		n.q.stats = NULL; /* nobody asks */
		crl_stream_publish(&s);
		fake_close(&n);
	}
}

/* Every so many turns, packets or bytes, and at each turn of a stream that does not run. */
static void
test_look_due(void **state)
{
	uint64_t packets, bytes, turns;
	bool due;

	(void)state;
	for (uint32_t i = 0; i < 4000u; i++) {
		memset(&s, 0, sizeof(s));
		s.look_every = 1u << book_below(8);
		s.look_step = 1u + book_below(1000);
		s.turns = turns = book_below(600);
		s.mode = book_below(4) ? CRL_MODE_RUN : book_below(5);
		s.rxc.packets = book_below(1000);
		s.txc.packets = book_below(1000);
		s.rxc.bytes = book_below(1000);
		s.txc.bytes = book_below(1000);
		packets = s.rxc.packets + s.txc.packets;
		bytes = s.rxc.bytes + s.txc.bytes;
		s.look_packets = packets + 2u - book_below(4);
		s.look_bytes = bytes + 2u - book_below(4);
		due = turns % s.look_every == 0 || s.mode != CRL_MODE_RUN ||
		      packets >= s.look_packets || bytes >= s.look_bytes;
		struct crl_stream want = s;

		want.turns++;
		if (due) {
			want.look_packets = packets + s.look_step;
			want.look_bytes = bytes + CRL_LOOK_BYTES;
		}
		assert_int_equal(crl_stream_look_due(&s), due);
		assert_memory_equal(&s, &want, sizeof(s));
	}
}

/* By a clock that moves: a stop is seen between two looks, when so many ticks have passed. */
static void
test_glance(void **state)
{
	bool run;

	(void)state;
	for (uint32_t mode = CRL_MODE_RUN; mode <= CRL_MODE_LEFT; mode++) {
		memset(&s, 0, sizeof(s));
		s.mode = mode;
		s.glanced = 1000;
		ticks_now = 1000u + CRL_GLANCE_TICKS - 1u;
		assert_false(crl_stream_glance_due(&s));
		assert_int_equal(s.glanced, 1000);
		ticks_now++;
		assert_int_equal(crl_stream_glance_due(&s), mode == CRL_MODE_RUN);
		assert_int_equal(s.glanced, ticks_now);
		assert_false(crl_stream_glance_due(&s));
	}
	ticks_now = 0;
	stream_open(8);
	s.look_every = 1u << 20;
	s.look_step = 1u << 20;
	crl_stream_look(&s, &run);
	n.ctl.park = CRL_PARK_LEAVE;
	crl_stream_look(&s, &run);
	assert_true(run && s.mode == CRL_MODE_RUN);
	ticks_now = CRL_GLANCE_TICKS;
	crl_stream_look(&s, &run);
	assert_true(!run && s.mode == CRL_MODE_PARKED);
	ticks_now = 0;
	fake_close(&n);
}

/* A stream whose send queue failed: slots come back, are told of, counters are published. */
static void
test_failing(void **state)
{
	uint8_t f[64] = {0};
	bool run;

	(void)state;
	stream_open(8);
	crl_fwd_turn(&s, crl_io_packet);
	for (uint32_t i = 0; i < 5u; i++)
		assert_true(fake_receive(&n, f, 64));
	crl_fwd_turn(&s, crl_io_packet);
	n.fail_at = 2;
	fake_doorbell(&n);
	fake_send(&n, 5);
	crl_fwd_turn(&s, crl_io_packet); /* sees the error, has all slots back */
	memset(&n.stats, 0xee, sizeof(n.stats));
	crl_stream_look(&s, &run);
	assert_true(!run && s.mode == CRL_MODE_FAILED && n.ctl.parked != 0);
	assert_int_equal(n.stats.tx_errors, 3);
	assert_int_equal(n.stats.tx_completions, 2);
	assert_int_equal(crl_from_be32(n.rq_rec[CRL_DBREC_RCV_WORD]), 16u + 5u);
	fake_close(&n);
	/* the receive queue failed instead, with slots that nobody told the NIC of, in a send */
	stream_open(8);
	crl_fwd_turn(&s, crl_io_packet);
	assert_true(fake_receive(&n, f, 64));
	crl_fwd_turn(&s, crl_io_packet);
	fake_doorbell(&n);
	fake_send(&n, 5);
	n.q.sq.state = CRL_QS_READY;
	n.q.rq.released[1] = 0;
	s.mode = CRL_MODE_FAILING;
	s.deadline_ns = UINT64_MAX;
	crl_stream_look(&s, &run);
	assert_true(s.mode == CRL_MODE_FAILED && s.txc.completions == 1);
	assert_int_equal(crl_from_be32(n.rq_rec[CRL_DBREC_RCV_WORD]), 17);
	assert_int_equal(crl_from_be32(n.scq_rec[0]), 1);
	fake_close(&n);
}

/* The last counts of a stream that fails are those of what came back while it waited. */
static void
test_last_counts(void **state)
{
	uint8_t f[64] = {0};
	bool run;

	(void)state;
	stream_open(8);
	crl_fwd_turn(&s, crl_io_packet);
	for (uint32_t i = 0; i < 5u; i++)
		assert_true(fake_receive(&n, f, 64));
	crl_fwd_turn(&s, crl_io_packet);
	n.fail_at = 2;
	fake_doorbell(&n);
	fake_send(&n, 5);
	assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[CRL_QERROR_SQ], 9), CRL_FAILED);
	crl_stream_look(&s, &run);
	assert_int_equal(s.mode, CRL_MODE_FAILED);
	assert_true(n.stats.tx_errors == 3 && n.stats.tx_completions == 2 && n.stats.sq_ci == 5);
	fake_close(&n);
}

/* A CQE of nothing that is under way: not looked at, or an error that moves no index. */
static void
test_stray(void **state)
{
	struct crl_sq *sq = &n.q.sq;

	(void)state;
	for (uint32_t how = 0; how < 4u; how++) {
		fake_open(&n, 4, 4, 64, false);
		book_sq(&n, 70000);
		sq->posted = sq->rung = sq->pi = 70000u + (how ? 3u : 0);
		sq->cq.flags = how == 3u ? CRL_CQ_COLLAPSED : 0;
		if (how == 3u)
			sq->cq.cqe[0].op_own = CRL_CQE_REQ << 4;
		book_cqe(&sq->cq, how == 3u ? 0 : sq->cq.ci,
			how == 1u ? CRL_CQE_REQ_ERR : CRL_CQE_REQ, sq->rung);
		assert_int_equal(crl_sq_poll(sq, n.error, 4),
			how == 1u || how == 2u ? CRL_FAILED : CRL_AGAIN);
		assert_true(sq->completed == 70000 && sq->ci == 70000);
		assert_int_equal(sq->state, how == 1u || how == 2u ? CRL_QS_FAILED : CRL_QS_READY);
		fake_close(&n);
	}
}

/* Re-arm: what a failed send queue held comes back first, then all begins anew. */
static void
test_rearm(void **state)
{
	uint8_t f[64] = {0};

	(void)state;
	stream_open(8);
	crl_fwd_turn(&s, crl_io_packet);
	for (uint32_t i = 0; i < 5u; i++)
		assert_true(fake_receive(&n, f, 64));
	crl_fwd_turn(&s, crl_io_packet);
	n.q.sq.state = CRL_QS_FAILED;
	crl_stream_rearm(&s);
	assert_true(n.q.sq.state == CRL_QS_READY && n.q.sq.posted == 0 && n.q.sq.ci == 0);
	assert_int_equal(s.txc.errors, 5);
	for (uint32_t i = 0; i < 5u; i++)
		assert_int_equal(n.q.rq.released[i], 1);
	assert_true(n.q.rq.ci == 5 && n.q.rq.pi == 16);
	n.q.rq.state = CRL_QS_FAILED;
	crl_stream_rearm(&s);
	assert_true(n.q.rq.state == CRL_QS_READY && n.q.rq.ci == 0 && n.q.rq.pi == 0);
	for (uint32_t i = 0; i < 16u; i++)
		assert_int_equal(n.q.rq.released[i], 1);
	fake_close(&n);
}

/* Idle polls of the send side count a look that found nothing, and no other. */
static void
test_reap(void **state)
{
	uint8_t f[64] = {0};

	(void)state;
	stream_open(8);
	crl_fwd_turn(&s, crl_io_packet);
	assert_true(fake_receive(&n, f, 64));
	assert_int_equal(s.txc.idle_polls, 0);
	crl_fwd_burst(&s, crl_io_packet);
	crl_stream_reap(&s);
	assert_int_equal(s.txc.idle_polls, 1);
	fake_doorbell(&n);
	fake_send(&n, 5);
	crl_stream_reap(&s);
	assert_true(s.txc.idle_polls == 1 && s.txc.completions == 1);
	crl_stream_reap(&s);
	assert_int_equal(s.txc.idle_polls, 1);
	n.q.sq.rung++;
	n.q.sq.state = CRL_QS_FAILED;
	crl_stream_reap(&s);
	assert_int_equal(s.txc.idle_polls, 1);
	fake_close(&n);
}

static enum crl_verdict
odd(struct crl_stream *st, struct crl_pkt *pkt)
{
	(void)st;
	return pkt->data[0] == 1   ? CRL_DROP | (enum crl_verdict)CRL_TORN
	       : pkt->data[0] == 2 ? (enum crl_verdict)(CRL_SEND | CRL_MISSED)
				   : CRL_SEND;
}

/* What the engines that receive count, frame by frame, in both ways of receiving. */
static void
test_counts(void **state)
{
	uint8_t f[64] = {0};

	(void)state;
	for (uint32_t takes = 0; takes < 2u; takes++) {
		stream_open(3);
		crl_rq_refill(&n.q.rq, NULL);
		for (uint32_t i = 0; i < 7u; i++) {
			f[0] = (uint8_t)(i % 3u);
			assert_true(fake_receive(&n, f, 60u + i % 3u));
		}
		for (uint32_t turn = 0; turn < 4u; turn++)
			if (takes)
				crl_fwd_take(&s, odd);
			else
				crl_fwd_burst(&s, odd);
		assert_true(s.rxc.polls == 4 && s.rxc.idle_polls == 1 && s.rxc.packets == 7);
		assert_true(s.stamp.torn == 2 && s.stamp.missed == 2);
		assert_int_equal(s.rxc.bytes, 7u * 60u + 6u);
		assert_int_equal(s.rxc.dropped, takes ? 0 : 2);
		assert_int_equal(s.txc.packets, takes ? 0 : 5);
		assert_int_equal(s.txc.bytes, takes ? 0 : 5u * 60u + 4u);
		assert_int_equal(s.txc.doorbells, takes ? 0 : 3);
		fake_close(&n);
	}
}

/* So many packets as the send ring has room for; a full ring is counted, and nothing is taken. */
static void
test_budget(void **state)
{
	uint8_t f[64] = {0};

	(void)state;
	for (uint32_t used = 0; used <= 16u; used++) {
		stream_open(5);
		crl_rq_refill(&n.q.rq, NULL);
		for (uint32_t i = 0; i < 8u; i++)
			assert_true(fake_receive(&n, f, 60));
		n.q.sq.pi = n.q.sq.posted = n.q.sq.rung = used;
		n.sq_told = n.sq_at = used;
		assert_int_equal(crl_fwd_burst(&s, odd), used > 11u ? 16u - used : 5u);
		assert_int_equal(s.txc.full_waits, used == 16u);
		assert_true(s.rxc.polls == 1 && s.rxc.idle_polls == 0);
		fake_close(&n);
	}
}

/* Both doorbells alike: one that is due is rung, with the last WQE asking for its CQE. */
static void
test_ring(void **state)
{
	struct crl_piece p = {NULL, 0, 60, FAKE_LKEY};
	struct crl_wqe_ctrl ctrl;
	uint64_t pi = 0;

	(void)state;
	for (uint32_t how = 0; how < 8u; how++) {
		bool gpu = how & 1u, fresh = how & 2u, failed = how & 4u, rang;

		stream_open(5);
		p.iova = n.q.txbuf.iova;
		n.q.sq.signal_every = 100;
		n.q.sq.state = failed ? CRL_QS_FAILED : CRL_QS_READY;
		if (fresh) {
			n.q.sq.pi = 1;
			crl_sq_put_send(&n.q.sq, pi, &p, 1, 0, false, 7);
		}
		rang = gpu ? crl_sq_ring_gpu(&n.q.sq) : crl_sq_ring(&n.q.sq);
		assert_int_equal(rang, fresh && !failed);
		assert_int_equal(n.uar != 0, rang);
		assert_int_equal(n.q.sq.rung, rang);
		assert_int_equal(crl_from_be32(n.sq_rec[CRL_DBREC_SND_WORD]), rang);
		memcpy(&ctrl, n.q.sq.wqe, sizeof(ctrl));
		if (rang)
			assert_int_equal(crl_wqe_ce(&ctrl), CRL_WQE_CE_ALWAYS);
		if (rang)
			assert_memory_equal(&ctrl, &n.uar, 8);
		if (!rang && fresh)
			assert_int_equal(crl_wqe_ce(&ctrl), CRL_WQE_CE_ON_FIRST_ERR);
		fake_close(&n);
	}
}

/* The mailbox of an error without a CQE, and of one whose CQE says no syndrome. */
static void
test_mailbox(void **state)
{
	struct crl_err_cqe cqe;
	struct crl_qerror e;

	(void)state;
	memset(&cqe, 0x33, sizeof(cqe));
	for (uint32_t how = 0; how < 4u; how++) {
		const bool has = how & 1u, is = how & 2u;

		memset(&e, 0, sizeof(e));
		e.syndrome = e.vendor = 0xee;
		crl_qerror_put(&e, is ? CRL_QERR_CQE : CRL_QERR_COUNTER, how & 1u, 5, 6,
			has ? (const struct crl_cqe64 *)&cqe : NULL, NULL);
		assert_true(e.seq == 1 && e.queue == 5 && e.wqe == 6 && e.status == CRL_FAILED);
		assert_int_equal(e.syndrome, has && is ? 0x33 : 0);
		assert_int_equal(e.vendor, has && is ? 0x33 : 0);
		assert_int_equal(e.cqe[0], has ? 0x33 : 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_release_all),
		cmocka_unit_test(test_publish),
		cmocka_unit_test(test_look_due),
		cmocka_unit_test(test_glance),
		cmocka_unit_test(test_failing),
		cmocka_unit_test(test_last_counts),
		cmocka_unit_test(test_stray),
		cmocka_unit_test(test_rearm),
		cmocka_unit_test(test_reap),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_mailbox),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
