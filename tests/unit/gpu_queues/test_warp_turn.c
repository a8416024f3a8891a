/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A warp's turns one by one: after each, every counter, record and index is what a model says that
 * knows only how much had come, how much room there was and what the packet function answers. Then
 * CQEs that cannot be, in every place, and what stands still while the host has the queues.
 */
#include "warp_turn.h"

static uint64_t expected[1u << 16]; /* frames that are to leave, in order */

static uint32_t
verdict(uint64_t k)
{
	static const uint32_t answer[] = {CRL_SEND, CRL_SEND, CRL_SEND, CRL_DROP,
		CRL_SEND | CRL_TORN, CRL_DROP | CRL_MISSED, CRL_SEND, CRL_SEND};

	return answer[(k * 2654435761u >> 7) & 7u];
}

static enum crl_verdict
judge(struct crl_stream *st, struct crl_pkt *pkt)
{
	uint64_t k;

	assert_ptr_equal(st, &s);
	memcpy(&k, pkt->data, 8);
	assert_int_equal(pkt->len, len_of[k & 0xffffu]);
	return (enum crl_verdict)verdict(k);
}

static void
on_frame(void *arg, const uint8_t *frame, uint32_t len)
{
	uint64_t k;

	(void)arg;
	memcpy(&k, frame, 8);
	assert_true(left < nr_expected && k == expected[left & 0xffffu]);
	assert_int_equal(len, len_of[k & 0xffffu]);
	assert_int_equal(frame[len - 1u], k & 0xffu);
	left++;
}

/* What the next so many frames add to the counts. */
static void
count(struct crl_stream *want, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++, answered++) {
		uint32_t k = (uint32_t)answered & 0xffffu, v = verdict(answered);
		bool sends = (v & CRL_SEND) && s.tx;

		want->rxc.packets++;
		want->rxc.bytes += len_of[k];
		want->rxc.csum_bad += (csum_of[k] & (CRL_CQE_L3_OK | CRL_CQE_L4_OK)) !=
				      (CRL_CQE_L3_OK | CRL_CQE_L4_OK);
		want->rxc.dropped += s.tx && !sends;
		want->txc.packets += sends;
		want->txc.bytes += sends ? len_of[k] : 0;
		want->stamp.torn += (v & CRL_TORN) != 0;
		want->stamp.missed += (v & CRL_MISSED) != 0;
		if (sends)
			expected[nr_expected++ & 0xffffu] = answered;
	}
}

/* One turn with so much to see; good: of the frames there, those that can be. */
static void
turn_once(uint64_t good, uint32_t seen)
{
	uint64_t pi = n.q.sq.pi, sq_ci = n.q.sq.ci, told = n.q.rq.pi_told, rung = n.q.sq.rung, room;
	uint32_t max = s.burst < 30u ? s.burst : s.burst / 30u * 30u, nr, back, took;
	enum crl_turn turn;

	before = s;
	turn = crl_fwd_warp_turn(&warp, &s, &mem, judge);
	seen = seen < max ? seen : max;
	room = s.tx ? (1ull << n.q.sq.log_depth) - (pi - n.q.sq.ci) : UINT64_MAX;
	back = (uint32_t)(s.txc.completions - before.txc.completions);
	nr = seen < room ? seen : (uint32_t)room;
	took = nr < good ? nr : (uint32_t)good;
	assert_true((back != 0) == (n.q.sq.ci != sq_ci));
	before.rxc.polls++;
	before.rxc.idle_polls += seen == 0;
	before.txc.full_waits += nr < seen;
	count(&before, took);
	assert_int_equal(turn, nr != 0 || back != 0 ? CRL_TURN_BUSY : CRL_TURN_IDLE);
	if (took != nr)
		return; /* the queue failed: check_failed() */
	check_told(told, rung);
	before.rxc.refills = s.rxc.refills;
	before.txc.doorbells = s.txc.doorbells;
	before.txc.completions = s.txc.completions;
	assert_memory_equal(&s.rxc, &before.rxc, sizeof(s.rxc));
	assert_memory_equal(&s.txc, &before.txc, sizeof(s.txc));
	assert_memory_equal(&s.stamp, &before.stamp, sizeof(s.stamp));
	assert_true(n.q.rq.ci == answered && n.q.rq.cq.ci == answered);
}

static void
random_queue(void)
{
	open_all(book_below(8), book_below(8), 1u + book_below(64));
	n.sink = on_frame;
	n.q.sq.flags = book_below(2) ? CRL_SQ_EMPW : 0;
	n.q.sq.inline_hdr = book_below(4) ? 0 : CRL_INLINE_HDR_L2;
	s.opts.cs_flags = book_below(2) ? CRL_ETH_L3_CSUM : 0;
	if (book_below(8) == 0)
		s.tx = NULL;
}

static void
test_turns(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 300u; i++) {
		random_queue();
		for (uint32_t t = 0; t < 60u; t++) {
			turn_once(UINT64_MAX, pending());
			for (uint32_t k = book_below(3) ? book_below(70) : 0; k > 0; k--)
				frame_comes();
			nic_turn(book_below(3) ? book_below(80) : 0);
		}
		nic_turn(1000);
		assert_int_equal(left, nr_expected);
		fake_close(&n);
	}
}

static const struct {
	uint32_t opcode, counter, long_by, kind; /* added to what a good one has */
} impossible[] = {
	{CRL_CQE_RESP_ERR, 0, 0, CRL_QERR_CQE},
	{CRL_CQE_REQ, 0, 0, CRL_QERR_OPCODE},
	{CRL_CQE_RESP_SEND, 1, 0, CRL_QERR_COUNTER},
	{CRL_CQE_RESP_SEND, 0x8000, 0, CRL_QERR_COUNTER},
	{CRL_CQE_RESP_SEND, 0, 1, CRL_QERR_LENGTH},
};

static void
check_failed(uint32_t kind)
{
	const struct crl_qerror *e = &n.error[CRL_QERROR_RQ];
	uint64_t slot = n.q.rq.ci & ((1u << n.q.rq.log_depth) - 1u);

	assert_int_equal(n.q.rq.state, CRL_QS_FAILED);
	assert_true(n.q.rq.ci == answered && s.rxc.packets == before.rxc.packets);
	assert_true(s.txc.packets == before.txc.packets && s.rxc.dropped == before.rxc.dropped);
	assert_true(e->seq == 1 && e->is_rx == 1 && e->kind == kind && e->queue == FAKE_RQN);
	assert_int_equal(e->wqe, (uint16_t)answered);
	assert_memory_equal(e->wqe_bytes, &n.q.rq.wqe[slot], 16);
	assert_memory_equal(e->cqe, &n.q.rq.cq.cqe[slot], sizeof(e->cqe));
	assert_int_equal(n.error[CRL_QERROR_SQ].seq, 0);
}

/* Among frames that are good, one CQE that is not: those before it are as ever, it is told. */
static void
test_impossible(void **state)
{
	uint32_t good, nr;

	(void)state;
	for (uint32_t i = 0; i < 3000u; i++) {
		const uint32_t how = i % 5u;

		open_all(7, 7, 64);
		n.sink = on_frame;
		n.q.rq.cq.cqn = 1;
		came = answered = n.rq_at = n.rcq_pi = book_below(65536);
		n.q.rq.ci = n.q.rq.pi = n.q.rq.pi_told = n.q.rq.cq.ci = came;
		n.q.rq.cq.ci_told = came;
		n.rcq_rec[0] = crl_to_be32((uint32_t)came);
		turn_once(UINT64_MAX, 0);
		good = book_below(62);
		nr = good + 1u + book_below(62u - good);
		for (uint32_t k = 0; k < nr; k++) {
			uint64_t slot = n.rq_at & 127u;

			frame_comes();
			if (k != good)
				continue;
			came--;
			n.rcq_pi--;
			n.q.rq.cq.cqe[slot].byte_cnt =
				crl_to_be32(STRIDE - FAKE_HEADROOM + impossible[how].long_by);
			fake_cqe(&n, true, (uint8_t)impossible[how].opcode,
				(uint16_t)(n.rq_at - 1u + impossible[how].counter), 0x11);
			came++;
		}
		n.q.rq.cq.cqn = 0x99;
		if (good < 60u) {
			turn_once(good, nr);
			check_failed(impossible[how].kind);
			nic_turn(100);
			assert_int_equal(left, nr_expected);
		}
		fake_close(&n);
	}
}

/* A CQE of a buffer that the NIC was never given. */
static void
test_never_given(void **state)
{
	(void)state;
	open_all(4, 4, 64);
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	for (uint32_t k = 0; k < 16u; k++)
		frame_comes();
	n.q.rq.pi_told = 9;
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	assert_true(s.rxc.packets == 9 && n.error[CRL_QERROR_RQ].kind == CRL_QERR_COUNTER);
	fake_close(&n);
}

/*
 * What was released while a stream waits, fails or stops is met again when it goes on: loose is
 * what the table has, in whatever mode the stream was.
 */
static void
test_modes(void **state)
{
	enum crl_turn turn = CRL_TURN_IDLE;

	(void)state;
	for (uint32_t i = 0; i < 60u; i++) {
		open_all(5, 5, 16);
		n.sink = on_frame;
		crl_fwd_warp_turn(&warp, &s, &mem, judge);
		for (uint32_t k = 0; k < 14u; k++)
			frame_comes();
		turn_once(UINT64_MAX, pending());
		n.fail_at = book_below(nr_expected);
		nic_turn(100);
		for (uint32_t k = 0; k < 6u; k++)
			turn = crl_fwd_warp_turn(&warp, &s, &mem, judge);
		assert_true(s.mode == CRL_MODE_FAILED && turn == CRL_TURN_IDLE);
		if (i % 3u == 0) { /* it stands: its books are the host's, who changes them */
			n.q.rq.released[3] ^= 1u;
			s.loose = 77;
			crl_fwd_warp_turn(&warp, &s, &mem, judge);
			assert_int_equal(s.loose, 77);
			n.q.rq.released[3] ^= 1u;
		}
		fake_reset_send(&n);
		n.ctl.rearm++;
		crl_fwd_warp_turn(&warp, &s, &mem, judge);
		assert_true(s.mode == CRL_MODE_RUN && s.loose == loose_there());
		assert_int_equal(n.q.rq.pi - n.q.rq.ci, 32);
		n.ctl.stop = 1;
		s.turns = 0;
		turn = crl_fwd_warp_turn(&warp, &s, &mem, judge);
		assert_int_equal(turn, CRL_TURN_LEFT);
		fake_close(&n);
	}
}

/* A send queue that fails in a turn's reap: the frames of that turn are not posted, nor counted. */
static void
test_tx_fails(void **state)
{
	uint64_t pi, sent;

	(void)state;
	open_all(5, 5, 16);
	n.sink = on_frame;
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	for (uint32_t k = 0; k < 14u; k++)
		frame_comes();
	turn_once(UINT64_MAX, pending());
	n.fail_at = 0;
	nic_turn(100);
	for (uint32_t k = 0; k < 6u; k++)
		frame_comes();
	pi = n.q.sq.pi;
	sent = s.txc.packets;
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	assert_int_equal(n.q.sq.state, CRL_QS_FAILED);
	assert_true(n.q.sq.pi == pi && s.txc.packets == sent && n.q.rq.ci == 14u);
	fake_close(&n);
}

/* A receive queue that fails while its frames are under way: what comes back is in the table. */
static void
test_rx_fails(void **state)
{
	(void)state;
	open_all(5, 5, 16);
	n.sink = on_frame;
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	for (uint32_t k = 0; k < 14u; k++)
		frame_comes();
	turn_once(UINT64_MAX, pending());
	fake_cqe(&n, true, CRL_CQE_RESP_ERR, (uint16_t)n.rq_at, 0x11);
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	nic_turn(7);
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	assert_true(s.mode == CRL_MODE_FAILING && s.loose == loose_there());
	nic_turn(100);
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	assert_true(s.mode == CRL_MODE_FAILED && n.q.sq.ci == n.q.sq.posted);
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_never_given),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_tx_fails),
		cmocka_unit_test(test_rx_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
