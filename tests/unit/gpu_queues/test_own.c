/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engines with frames of their own, by one thread: turn by turn against a model of how much
 * there is room for, what is counted and what a turn says; what they begin with, at the edges of
 * what a buffer holds; the first burst of an engine that forwards.
 */
#include "book.h"
#include "bytes.h"

#include "gpu_queues/engines/flowgen.h"
#include "gpu_queues/engines/txfirst.h"

static struct fake_nic n;
static struct crl_stream s, before;
static uint64_t came, left, len_out;
static uint32_t flows_seen[64];

static void
open_own(uint32_t log_sq, uint32_t burst, uint32_t len)
{
	fake_open(&n, log_sq, 5, 256, false);
	memset(&s, 0, sizeof(s));
	s.rx = s.tx = &n.q;
	s.ctl = &n.ctl;
	s.burst = burst;
	s.opts.txpkts_nr = 1;
	s.opts.txpkts[0] = (uint16_t)len;
	s.opts.flows = 5;
	came = left = 0;
	memset(flows_seen, 0, sizeof(flows_seen));
	memset(n.txmem, 0xee, 65536);
	assert_true(crl_stream_begin(&s));
}

static void
on_frame(void *arg, const uint8_t *f, uint32_t len)
{
	(void)arg;
	assert_int_equal(len, len_out);
	assert_int_equal(sum16(0, f + 14, 20), 0xffff);
	assert_int_equal(be16(f + 16), len - 14u);
	flows_seen[f[33] & 63u]++;
	left++;
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One turn; flowgen: of that engine, which also takes what came. */
static void
turn_once(bool flowgen)
{
	uint64_t pi = n.q.sq.pi, room = (1ull << n.q.sq.log_depth) - (pi - n.q.sq.ci), sent, mine;
	uint64_t rung = n.q.sq.rung, told = n.q.rq.pi_told;
	uint32_t rx = flowgen ? (uint32_t)least(came - s.rxc.packets, s.burst) : 0, back;
	enum crl_turn turn;

	before = s;
	turn = flowgen ? crl_flowgen_turn(&s) : crl_txonly_turn(&s);
	if (flowgen)
		room = least(room, s.tx_slots > pi - before.tx->sq.ci ? s.tx_slots : 0);
	sent = s.txc.packets - before.txc.packets;
	back = (uint32_t)(s.txc.completions - before.txc.completions);
	mine = least(before.tx_slots ? before.tx_left : s.opts.tx_frames_max, s.burst);
	if (n.q.sq.flags & CRL_SQ_EMPW)
		assert_true(sent == mine || (sent < mine && room < 18u));
	else if (!flowgen)
		assert_int_equal(sent, least(mine, room));
	assert_int_equal(s.txc.bytes - before.txc.bytes, sent * len_out);
	assert_true(s.tx_left == (before.tx_slots ? before.tx_left : s.opts.tx_frames_max) - sent);
	assert_int_equal(
		s.txc.full_waits - before.txc.full_waits, sent == 0 && (flowgen || mine != 0));
	assert_int_equal(s.txc.doorbells - before.txc.doorbells, n.q.sq.posted != rung);
	assert_true(n.q.sq.rung == n.q.sq.posted && n.q.sq.posted == n.q.sq.pi);
	assert_int_equal(turn, sent || back || rx ? CRL_TURN_BUSY : CRL_TURN_IDLE);
	assert_int_equal(s.rxc.packets - before.rxc.packets, rx);
	assert_int_equal(s.rxc.refills - before.rxc.refills, n.q.rq.pi_told != told);
	assert_int_equal(crl_from_be32(n.scq_rec[0]), n.q.sq.cq.ci & 0xffffffu);
}

/* flowgen, exactly: so many as slots and ring have room for before anything is taken. */
static void
flowgen_room(void)
{
	uint64_t under_way = n.q.sq.pi - n.q.sq.ci, room = (1ull << n.q.sq.log_depth) - under_way;
	uint64_t packets = s.txc.packets, want;

	if (s.tx_slots == 0)
		return;
	room = least(room, s.tx_slots > under_way ? s.tx_slots - under_way : 0);
	want = least(least(room, s.tx_left), s.burst);
	crl_flowgen_burst(&s, s.burst);
	assert_int_equal(s.txc.packets - packets, want);
}

static void
test_turns(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 400u; i++) {
		bool flowgen = i & 1u;

		open_own(book_below(8), 1u + book_below(64), 64);
		n.sink = on_frame;
		len_out = flowgen ? 60 : 64;
		n.q.sq.flags = !flowgen && book_below(2) ? CRL_SQ_EMPW : 0;
		n.q.sq.inline_hdr = n.q.sq.flags || book_below(4) ? 0 : CRL_INLINE_HDR_L2;
		n.q.txbuf.bytes = 64u * (1u + book_below(100));
		s.opts.tx_frames_max = 1u + book_below(900);
		for (uint32_t t = 0; t < 30u; t++) {
			turn_once(flowgen);
			for (uint32_t k = flowgen ? book_below(40) : 0; k > 0; k--)
				came += fake_receive(&n, "0123456789abcdef", 16);
			if (flowgen && book_below(4) == 0)
				flowgen_room();
			n.threaded = true; /* two rings, one look */
			fake_doorbell(&n);
			fake_send(&n, book_below(3) ? book_below(80) : 0);
		}
		fake_send(&n, 1000);
		assert_int_equal(left, s.txc.packets);
		for (uint32_t f = 0; flowgen && f < 64u; f++) /* one after another, and no other */
			assert_true(f < 5u ? flows_seen[f] - left / 5u <= 1u : flows_seen[f] == 0);
		fake_close(&n);
	}
}

/* What can be begun, at the edges: a frame that holds its headers and fits into the buffer. */
static void
test_begin(void **state)
{
	(void)state;
	for (uint32_t len = 40; len < 140u; len++)
		for (uint32_t bytes = 0; bytes < 400u; bytes += len % 3u ? 64u : 31u)
			for (uint32_t flowgen = 0; flowgen < 2u; flowgen++) {
				uint32_t real = len - (flowgen ? 4u : 0),
					 stride = (real + 63u) / 64u * 64u;
				bool can = real >= 42u && stride <= bytes;

				open_own(4, 4, len);
				n.q.txbuf.bytes = bytes;
				s.opts.tx_frames_max = 2;
				len_out = real;
				n.sink = on_frame;
				assert_int_equal(
					flowgen ? crl_flowgen_turn(&s) : crl_txonly_turn(&s),
					can ? CRL_TURN_BUSY : CRL_TURN_IDLE);
				assert_true(can || s.rxc.polls == 0);
				assert_int_equal(s.tx_slots, can ? least(bytes / stride, 64) : 0);
				assert_int_equal(s.txc.packets,
					can ? least(2, flowgen ? s.tx_slots : 2) : 0);
				/* what lies behind the frames is no frame's */
				if (can)
					assert_int_equal(n.txmem[s.tx_slots * stride], 0xee);
				fake_doorbell(&n);
				fake_send(&n, 9);
				fake_close(&n);
			}
	open_own(4, 4, 64);
	n.q.txbuf.addr = NULL;
	assert_int_equal(crl_txonly_turn(&s), CRL_TURN_IDLE);
	assert_int_equal(crl_flowgen_turn(&s), CRL_TURN_IDLE);
	assert_int_equal(s.tx_slots, 0);
	fake_close(&n);
}

/* More frames than a burst takes are not made; a queue's own flow is told by its port. */
static void
test_slots(void **state)
{
	(void)state;
	for (uint32_t own_flow = 0; own_flow < 2u; own_flow++) {
		open_own(4, 4, 64);
		s.opts.own_flow = own_flow;
		s.opts.dst_port = 1000;
		n.q.index = 7;
		crl_txonly_turn(&s);
		assert_int_equal(s.tx_slots, CRL_BURST_MAX);
		assert_int_equal(n.txmem[CRL_BURST_MAX * 64u], 0xee);
		assert_int_equal(be16(n.txmem + 36), own_flow ? 1007 : 1000);
		assert_true(s.tx_left == UINT64_MAX - 4u);
		fake_close(&n);
	}
}

/* The first burst: after the slots are the NIC's, once, and not of a stream that stands. */
static void
test_first(void **state)
{
	(void)state;
	open_own(5, 6, 64);
	s.opts.tx_first = 1;
	s.opts.tx_frames_max = 1000;
	assert_true(crl_txfirst_due(&s));
	n.ctl.park = CRL_PARK_LEAVE;
	assert_int_equal(crl_txfirst_turn(&s), CRL_TURN_IDLE);
	assert_true(n.uar == 0 && s.tx_slots == 0 && n.q.rq.pi == 0 && crl_txfirst_due(&s));
	n.ctl.park = CRL_PARK_NOT;
	assert_int_equal(crl_txfirst_turn(&s), CRL_TURN_BUSY);
	assert_true(s.txc.packets == 6 && s.tx_left == 0 && !crl_txfirst_due(&s));
	assert_int_equal(crl_from_be32(n.rq_rec[CRL_DBREC_RCV_WORD]), 32);
	fake_close(&n);
	open_own(5, 6, 20); /* no frame of that length can be */
	s.opts.tx_first = 1;
	assert_int_equal(crl_txfirst_turn(&s), CRL_TURN_BUSY);
	assert_true(s.txc.packets == 0 && n.uar == 0 && !crl_txfirst_due(&s));
	n.ctl.stop = 1;
	s.turns = 0;
	assert_int_equal(crl_txfirst_turn(&s), CRL_TURN_LEFT);
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_begin),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
