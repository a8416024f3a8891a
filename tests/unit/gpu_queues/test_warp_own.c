/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The turns of txonly and flowgen by a warp, one by one: as many frames as there is room for in
 * each form of a send, every count, and nothing of a stream that can have no frames or stands.
 */
#include "warp_turn.h"

static void
any_frame(void *arg, const uint8_t *frame, uint32_t len)
{
	(void)frame;
	assert_true(len == *(uint32_t *)arg);
	left++;
}

/* Of so many frames those that go into multi-packet sends of up to 30, and one that is left over
 * into a SEND. */
static uint32_t
model_empw(uint32_t frames, uint64_t room)
{
	uint32_t most = (4u << n.q.sq.log_depth) - 2u, at = 0, k, bbs; /* what fits at all */

	most = most < 30u ? most : 30u;
	while (at < frames) {
		k = frames - at < most ? frames - at : most;
		bbs = k > 1u ? (2u + k + 3u) / 4u : 1u;
		if (bbs > room)
			break;
		room -= bbs;
		at += k;
	}
	return at;
}

/* txonly's and flowgen's turns: as much as there is room for, and every count. */
static void
own_turn(bool flowgen, uint32_t frames)
{
	uint64_t pi = n.q.sq.pi, told = n.q.rq.pi_told, rung = n.q.sq.rung, room, sent, mine;
	uint32_t max = s.burst < 30u ? s.burst : s.burst / 30u * 30u, rx = pending(), back;
	static uint8_t was[65536];
	enum crl_turn turn;

	before = s;
	memcpy(was, n.txmem, sizeof(was));
	turn = flowgen ? crl_flowgen_warp_turn(&warp, &s, &mem)
		       : crl_txonly_warp_turn(&warp, &s, &mem);
	rx = !flowgen ? 0 : rx < max ? rx : max;
	room = (1ull << n.q.sq.log_depth) - (pi - n.q.sq.ci);
	if (flowgen && room > s.tx_slots - (pi - n.q.sq.ci))
		room = s.tx_slots > pi - n.q.sq.ci ? s.tx_slots - (pi - n.q.sq.ci) : 0;
	for (uint64_t k = n.q.sq.ci; before.tx_slots != 0 && k < pi; k++) /* the NIC reads these */
		assert_memory_equal(was + k % s.tx_slots * s.tx_stride,
			n.txmem + k % s.tx_slots * s.tx_stride, s.tx_stride);
	sent = s.txc.packets - before.txc.packets;
	back = (uint32_t)(s.txc.completions - before.txc.completions);
	mine = before.tx_slots ? before.tx_left : frames;
	mine = mine < max ? mine : max;
	if (!(n.q.sq.flags & CRL_SQ_EMPW) || flowgen || s.opts.txpkts_nr != 1u)
		assert_int_equal(sent, mine < room ? mine : room);
	else
		assert_int_equal(sent, model_empw((uint32_t)mine, room));
	if (room == 1ull << n.q.sq.log_depth && s.opts.txpkts_nr == 1u)
		assert_true(sent != 0 || mine == 0); /* into an empty ring something goes */
	assert_int_equal(s.txc.bytes - before.txc.bytes, sent * (flowgen ? 60u : 64u));
	assert_true(s.tx_left == (before.tx_slots ? before.tx_left : frames) - sent);
	assert_true(turn == (sent || back || rx || (flowgen && n.q.sq.ci != n.q.sq.pi)
					    ? CRL_TURN_BUSY
					    : CRL_TURN_IDLE));
	if (!flowgen) /* who has no frame left waits for no room */
		assert_int_equal(s.txc.full_waits - before.txc.full_waits, mine != 0 && sent == 0);
	answered += rx;
	assert_int_equal(s.rxc.packets - before.rxc.packets, rx);
	assert_int_equal(s.rxc.polls - before.rxc.polls, flowgen);
	assert_int_equal(s.rxc.idle_polls - before.rxc.idle_polls, flowgen && rx == 0);
	if (flowgen)
		check_told(told, rung);
	assert_true(n.q.sq.rung == n.q.sq.posted && n.q.sq.posted == n.q.sq.pi);
	assert_true((n.q.sq.pi != pi) == (sent != 0));
	assert_int_equal(s.txc.doorbells, before.txc.doorbells + (n.q.sq.posted != rung));
}

static void
test_own(void **state)
{
	uint32_t len, frames;

	(void)state;
	for (uint32_t i = 0; i < 300u; i++) {
		open_all(book_below(8), 5, 1u + book_below(64));
		n.sink = any_frame;
		n.arg = &len;
		len = i & 1u ? 60 : 64; /* flowgen's, txonly's */
		n.q.sq.flags = book_below(2) ? CRL_SQ_EMPW : 0;
		n.q.txbuf.bytes = 64u * (1u + book_below(100));
		frames = 1u + book_below(book_below(2) ? 2000 : 60);
		s.opts.txpkts_nr = (uint16_t)(1u + book_below(2));
		s.opts.txpkts[0] = s.opts.txpkts_nr == 1u ? 64 : 44;
		s.opts.txpkts[1] = 20;
		s.opts.tx_frames_max = frames;
		s.opts.flows = 1u + book_below(50);
		memset(&mem, 0xee, sizeof(mem));
		for (uint32_t t = 0; t < 40u; t++) {
			own_turn(i & 1u, frames);
			for (uint32_t k = i & 1u ? book_below(70) : 0; k > 0; k--)
				frame_comes();
			nic_turn(book_below(3) ? book_below(80) : 0);
		}
		assert_true(came != 0 || !(i & 1u));
		for (uint64_t k = 0; k < 1u << n.q.sq.log_depth; k++)
			assert_int_equal(n.q.sq.cookie[k], 0);
		fake_close(&n);
	}
}

/* A burst of more frames than a warp has lanes, and the WQEs of it that ask for a CQE by the rule.
 */
static void
test_more_than_lanes(void **state)
{
	uint32_t len = 60;

	(void)state;
	open_all(7, 5, 64);
	n.sink = any_frame;
	n.arg = &len;
	n.q.txbuf.bytes = 64u * 100u;
	n.q.sq.signal_every = 4;
	s.opts.txpkts_nr = 1;
	s.opts.txpkts[0] = 64;
	s.opts.tx_frames_max = 1000;
	s.opts.flows = 7;
	memset(&mem, 0xee, sizeof(mem));
	own_turn(true, 1000);
	assert_int_equal(s.txc.packets, 60);
	for (uint32_t i = 0; i < 60u; i++)
		assert_true(
			(n.q.sq.wqe[64u * i + 11u] == CRL_WQE_CE_ALWAYS << 2) == (i % 4u == 3u));
	nic_turn(80);
	fake_close(&n);
}

/* An engine that can have no frames, or is told to stand: nothing is done. */
static void
test_none(void **state)
{
	(void)state;
	open_all(4, 4, 8);
	s.opts.txpkts_nr = 1;
	s.opts.txpkts[0] = 10; /* not even its headers */
	s.opts.flows = 4;
	assert_int_equal(crl_txonly_warp_turn(&warp, &s, &mem), CRL_TURN_IDLE);
	assert_int_equal(crl_flowgen_warp_turn(&warp, &s, &mem), CRL_TURN_IDLE);
	assert_true(n.uar == 0 && s.tx_slots == 0 && s.rxc.polls == 0);
	s.opts.txpkts[0] = 64;
	n.ctl.park = CRL_PARK_WISH & 1u;
	s.turns = 0;
	assert_int_equal(crl_txonly_warp_turn(&warp, &s, &mem), CRL_TURN_IDLE);
	assert_int_equal(crl_flowgen_warp_turn(&warp, &s, &mem), CRL_TURN_IDLE);
	assert_true(n.uar == 0 && s.tx_slots == 0 && s.mode == CRL_MODE_PARKED);
	n.ctl.stop = 1;
	assert_int_equal(crl_txonly_warp_turn(&warp, &s, &mem), CRL_TURN_LEFT);
	fake_close(&n);
	assert_true(crl_warp_can(&(struct crl_stream){.tx = NULL}));
	assert_true(crl_warp_can(&s));
	n.q.sq.inline_max = 1;
	assert_false(crl_warp_can(&s));
}

/* A send queue that fails in a turn's reap: nothing is posted to it in that turn. */
static void
test_tx_fails(void **state)
{
	uint32_t len;
	uint64_t pi;

	(void)state;
	for (uint32_t flowgen = 0; flowgen < 2; flowgen++) {
		open_all(7, 5, 16);
		n.sink = any_frame;
		n.arg = &len;
		n.q.txbuf.bytes = 64u * 100u;
		s.opts.txpkts_nr = 1;
		s.opts.txpkts[0] = 64;
		s.opts.tx_frames_max = 1000;
		s.opts.flows = 7;
		n.fail_at = 0;
		own_turn(flowgen, 1000);
		pi = n.q.sq.pi;
		assert_true(pi != 0);
		nic_turn(100);
		(void)(flowgen ? crl_flowgen_warp_turn(&warp, &s, &mem)
			       : crl_txonly_warp_turn(&warp, &s, &mem));
		assert_int_equal(n.q.sq.state, CRL_QS_FAILED);
		assert_true(n.q.sq.pi == pi && s.txc.packets == 16u && s.tx_left == 984u);
		fake_close(&n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_more_than_lanes),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_tx_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
