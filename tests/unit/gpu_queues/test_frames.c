/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines with frames of their own, a step at a time: what stamp writes and finds wrong, worked out
 * byte by byte in another way; how many frames txonly, flowgen and a first burst put into a ring
 * that has no room; what a turn says, and that a stream that stands sends nothing.
 */
#include "fake_nic.h"

#include "gpu_queues/engine.h"
#include "gpu_queues/engines/flowgen.h"
#include "gpu_queues/engines/stamp.h"
#include "gpu_queues/engines/txfirst.h"
#include "gpu_queues/engines/txonly.h"

#define NUMBER_AT 48u /* 42 bytes of headers, 4 left alone, the mark */

static struct fake_nic n;
static struct crl_stream s;

/* What left, in order. */
static struct {
	uint8_t frame[256][128];
	uint32_t len[256], nr;
} sent;

static void
keep(void *arg, const uint8_t *frame, uint32_t len)
{
	(void)arg;
	assert_true(sent.nr < 256 && len <= 128);
	memcpy(sent.frame[sent.nr], frame, len);
	sent.len[sent.nr++] = len;
}

static void
begin(uint32_t log_sq, bool empw)
{
	fake_open(&n, log_sq, 4, 128, empw);
	n.sink = keep;
	n.q.index = 7;
	memset(&sent, 0, sizeof(sent));
	memset(&s, 0, sizeof(s));
	s.rx = s.tx = &n.q;
	s.ctl = &n.ctl;
	s.tx_lkey = FAKE_LKEY;
	s.burst = 8;
	crl_engine_opts_default(&s.opts);
	assert_true(crl_stream_begin(&s));
}

/* The NIC does all it was told of. */
static void
nic(void)
{
	fake_doorbell(&n);
	fake_send(&n, 1000);
}

static void
park(void)
{
	n.ctl.park = 1;
	s.turns = 0; /* a turn that looks */
	s.look_every = 1;
	s.look_packets = s.look_bytes = 0;
}

/* ---- stamp ---- */

static uint32_t
word_of(uint64_t seq, uint32_t queue, uint32_t k)
{
	uint64_t v = (seq & 0xffffffffu) * 0x9e3779b1u;

	v += seq / 0x100000000ull + 40503ull * queue + (k + 1ull) * 0x9e3779b9u;
	v %= 0x100000000ull;
	return (uint32_t)(v ^ v / 32768u);
}

/* The payload of frame seq from NUMBER_AT on, little end first. */
static void
payload(uint8_t *p, uint32_t len, uint32_t queue, uint64_t seq)
{
	for (uint32_t i = 0; i < 8; i++)
		p[NUMBER_AT + i] = (uint8_t)(seq >> 8 * i);
	for (uint32_t k = 0; NUMBER_AT + 8 + 4 * k + 4 <= len; k++)
		for (uint32_t i = 0; i < 4; i++)
			p[NUMBER_AT + 8 + 4 * k + i] = (uint8_t)(word_of(seq, queue, k) >> 8 * i);
}

static void
words(void **state)
{
	(void)state;
	assert_int_equal(crl_stamp_word(0, 0, 0), 0x9e3645d7);
	assert_int_equal(crl_stamp_word(1, 0, 0), 0x3c6e8bb7);
	assert_int_equal(crl_stamp_word(0x123456789ull, 3, 0), 0x9b959c31);
	assert_int_equal(crl_stamp_word(0x123456789ull, 3, 5), 0xb2ab6ee1);
	assert_int_equal(crl_stamp_word(UINT64_MAX, 65535, 2), 0xdaa4e008);
}

/* One frame of stamp's that comes as index, on an address of either kind. */
static void
comes(uint32_t off, uint32_t len, uint64_t seq, uint64_t index, uint32_t flip, uint32_t verdict)
{
	CRL_ALIGNAS(4) static uint8_t room[132];
	uint8_t *f = room + off, want[128];
	struct crl_pkt pkt = {.data = f, .len = len, .index = index, .room = 128};

	memset(room, 0xee, sizeof(room));
	memset(want, 0xee, sizeof(want));
	f[46] = want[46] = 0x54;
	f[47] = want[47] = 0x53;
	payload(f, len, 7, seq);
	payload(want, len, 7, index + s.opts.in_flight);
	if (flip != 0)
		f[flip] ^= 0x40;
	if (flip >= len - len % 4) /* behind the last whole word: as it came */
		want[flip] ^= 0x40;
	assert_int_equal(crl_stamp_packet(&s, &pkt), verdict);
	if (verdict == CRL_MISSED && seq == index)
		return; /* not stamp's: nothing is written */
	assert_memory_equal(f, want, 128);
}

static void
stamp_verdicts(void **state)
{
	const uint64_t far = 0x300000005ull;

	(void)state;
	begin(4, false);
	for (uint32_t off = 0; off <= 2; off += 2) {
		for (uint32_t len = 60; len < 128; len++)
			comes(off, len, len, len, 0, CRL_SEND);
		comes(off, 100, far, far, 0, CRL_SEND);
		comes(off, 100, 6, 5, 0, CRL_SEND | CRL_MISSED);
		comes(off, 100, far + (1ull << 40), far, 0, CRL_SEND | CRL_MISSED);
		comes(off, 100, far, far, 60, CRL_SEND | CRL_TORN);
		comes(off, 100, far, far, 99, CRL_SEND | CRL_TORN);
		comes(off, 100, far, far, NUMBER_AT, CRL_SEND | CRL_TORN | CRL_MISSED);
		comes(off, 99, far, far, 96, CRL_SEND); /* no whole word */
		comes(off, 59, 5, 5, 0, CRL_MISSED);
		comes(off, 100, 5, 5, 46, CRL_MISSED);
		comes(off, 30, 5, 5, 46, CRL_MISSED);
	}
	/* With a fixed count the last in_flight frames end here. */
	s.opts.tx_frames_max = 100;
	comes(0, 100, 35, 35, 0, CRL_SEND);
	comes(0, 100, 36, 36, 0, CRL_DROP);
	comes(0, 100, 37, 36, 0, CRL_MISSED);
	fake_close(&n);
}

static void
assert_stamped(uint32_t nr)
{
	assert_int_equal(sent.nr, nr);
	for (uint32_t i = 0; i < nr; i++) {
		uint8_t want[128];

		memcpy(want, sent.frame[i], sizeof(want));
		want[36] = 0;
		want[37] = 9 + 7; /* the port says whose it is */
		want[46] = 0x54;
		want[47] = 0x53;
		payload(want, 100, 7, i);
		assert_memory_equal(sent.frame[i], want, 100);
		assert_int_equal(sent.len[i], 100);
	}
}

/* So many under way as the buffer has slots, then the next, until all are; told of once each. */
static void
stamp_begins(void **state)
{
	(void)state;
	begin(4, false);
	s.opts.txpkts[0] = 100;
	s.opts.in_flight = 5;
	n.q.txbuf.bytes = 2 * 128;
	memset(n.txmem, 0xee, 65536);
	assert_true(crl_stamp_due(&s));
	assert_int_equal(crl_stamp_first_turn(&s), CRL_TURN_BUSY);
	assert_int_equal(s.rxc.refills, 1);
	assert_int_equal(crl_from_be32(n.rq_rec[0]) & 0xffffu, 16);
	assert_int_equal(s.seq, 2);
	assert_int_equal(crl_stamp_first_turn(&s), CRL_TURN_IDLE); /* they are in the buffers */
	assert_int_equal(s.seq, 2);
	assert_int_equal(s.rxc.refills, 1);
	nic();
	assert_int_equal(crl_stamp_first_turn(&s), CRL_TURN_BUSY);
	nic();
	assert_true(crl_stamp_due(&s));
	assert_int_equal(crl_stamp_first_turn(&s), CRL_TURN_BUSY);
	assert_false(crl_stamp_due(&s));
	nic();
	assert_stamped(5);
	for (uint32_t i = 256; i < 1024; i++) /* nothing is written behind the slots */
		assert_int_equal(n.txmem[i], 0xee);
	assert_int_equal(s.seq, 5);
	assert_int_equal(s.txc.packets, 5);
	assert_int_equal(s.txc.bytes, 500);
	assert_int_equal(s.txc.doorbells, 3);
	fake_close(&n);
}

/* A ring with room for two: the rest follows, by the same numbers. */
static void
stamp_small_ring(void **state)
{
	uint32_t turns = 0;

	(void)state;
	begin(1, false);
	s.opts.txpkts[0] = 100;
	s.opts.in_flight = 7;
	while (crl_stamp_due(&s)) {
		uint64_t was = s.seq;

		assert_int_equal(crl_stamp_first_turn(&s), CRL_TURN_BUSY);
		assert_int_equal(s.seq, was + (was < 6 ? 2 : 1));
		nic();
		assert_true(turns++ < 10);
	}
	assert_stamped(7);
	fake_close(&n);
}

static void
stamp_cannot(void **state)
{
	(void)state;
	begin(4, false);
	n.q.txbuf.addr = NULL;
	assert_int_equal(crl_stamp_begin(&s), CRL_INVALID);
	assert_int_equal(crl_stamp_first_turn(&s), CRL_TURN_IDLE);
	assert_int_equal(s.seq | s.txc.packets, 0);
	fake_close(&n);
	begin(4, false);
	park();
	assert_int_equal(crl_stamp_first_turn(&s), CRL_TURN_IDLE);
	assert_int_equal(s.seq | s.txc.packets | s.tx_slots | s.rxc.refills, 0);
	fake_close(&n);
	/* What it sent comes back before all are under way: a turn that only takes is busy too. */
	begin(4, false);
	s.opts.in_flight = 1;
	assert_int_equal(crl_stamp_first_turn(&s), CRL_TURN_BUSY);
	nic();
	assert_int_equal(crl_stamp_first_turn(&s), CRL_TURN_BUSY);
	assert_int_equal(crl_stamp_first_turn(&s), CRL_TURN_IDLE);
	fake_close(&n);
}

/* ---- the first burst of an engine that forwards ---- */

static void
first_burst(void **state)
{
	(void)state;
	begin(4, false);
	assert_false(crl_txfirst_due(&s));
	s.opts.tx_first = 1;
	assert_true(crl_txfirst_due(&s));
	s.tx = NULL;
	assert_false(crl_txfirst_due(&s));
	s.tx = &n.q;
	assert_int_equal(crl_txfirst_turn(&s), CRL_TURN_BUSY);
	assert_false(crl_txfirst_due(&s));
	assert_int_equal(crl_from_be32(n.rq_rec[0]) & 0xffffu, 16); /* what comes back finds room */
	nic();
	assert_int_equal(sent.nr, 8);
	assert_int_equal(s.txc.packets, 8);
	assert_int_equal(s.tx_left, 0);
	fake_close(&n);
	begin(4, false);
	s.opts.tx_first = 1;
	n.q.txbuf.addr = NULL; /* it cannot: once is enough */
	assert_int_equal(crl_txfirst_turn(&s), CRL_TURN_BUSY);
	assert_false(crl_txfirst_due(&s));
	assert_int_equal(s.txc.packets, 0);
	fake_close(&n);
	begin(4, false);
	s.opts.tx_first = 1;
	park();
	assert_int_equal(crl_txfirst_turn(&s), CRL_TURN_IDLE);
	assert_true(crl_txfirst_due(&s));
	assert_int_equal(s.txc.packets, 0);
	assert_int_equal(n.rq_rec[0].be, 0);
	fake_close(&n);
}

/* ---- txonly ---- */

static void
own_frames(void **state)
{
	(void)state;
	for (unsigned empw = 0; empw <= 1; empw++) {
		begin(3, empw != 0);
		s.opts.tx_frames_max = 11;
		s.opts.own_flow = 1;
		s.burst = empw ? 40 : 8; /* more than one multi-packet send has */
		assert_int_equal(crl_txonly_turn(&s), CRL_TURN_BUSY);
		assert_int_equal(s.txc.full_waits, 0);
		if (!empw) {
			assert_int_equal(s.txc.packets, 8);
			assert_int_equal(crl_txonly_turn(&s), CRL_TURN_IDLE); /* no room */
			assert_int_equal(s.txc.full_waits, 1);
			nic();
			assert_int_equal(crl_txonly_turn(&s), CRL_TURN_BUSY);
		}
		while (s.tx_left != 0) {
			nic();
			crl_txonly_turn(&s);
		}
		nic();
		assert_int_equal(s.txc.packets, 11);
		assert_int_equal(s.txc.bytes, 11 * 64);
		assert_int_equal(sent.nr, 11);
		for (uint32_t i = 0; i < 11; i++)
			assert_int_equal(sent.frame[i][37], 9 + 7);
		while (crl_txonly_turn(&s) == CRL_TURN_BUSY)
			continue; /* the last completions */
		assert_int_equal(s.txc.full_waits, empw ? s.txc.full_waits : 2);
		assert_int_equal(crl_txonly_turn(&s), CRL_TURN_IDLE); /* at its end it waits not */
		assert_int_equal(s.txc.full_waits, empw ? s.txc.full_waits : 2);
		fake_close(&n);
	}
	begin(4, false);
	n.q.txbuf.addr = NULL;
	assert_int_equal(crl_txonly_turn(&s), CRL_TURN_IDLE);
	assert_int_equal(s.txc.full_waits, 0);
	fake_close(&n);
	begin(4, false);
	park();
	assert_int_equal(crl_txonly_turn(&s), CRL_TURN_IDLE);
	assert_int_equal(s.txc.packets | s.tx_slots, 0);
	fake_close(&n);
}

/* More frames at once than a multi-packet send has, each from its slot. */
static void
large_bursts(void **state)
{
	(void)state;
	begin(7, true);
	s.burst = 64;
	assert_int_equal(crl_txonly_turn(&s), CRL_TURN_BUSY);
	assert_int_equal(s.txc.packets, 64);
	nic();
	assert_int_equal(sent.nr, 64);
	for (uint32_t i = 0; i < 64; i++)
		assert_memory_equal(sent.frame[i], sent.frame[0], 64);
	fake_close(&n);
}

/* ---- flowgen ---- */

static void
flow_frames(void **state)
{
	(void)state;
	begin(4, false);
	n.q.txbuf.bytes = 64; /* one slot, and all of it */
	s.opts.txpkts[0] = 46;
	assert_int_equal(crl_flowgen_begin(&s), CRL_OK); /* headers, and nothing behind them */
	assert_int_equal(s.tx_slots, 1);
	assert_memory_equal(n.txmem, "\0\1\2\3\4\1\0\1\2\3\4\0\x08\0", 14);
	assert_memory_equal(n.txmem + 26, "\x0a\xfe\0\0\x0a\xfd\0\0\x03\xe8\x03\xe9", 12);
	fake_close(&n);
	begin(4, false);
	s.opts.txpkts[0] = 68;
	assert_int_equal(crl_flowgen_turn(&s), CRL_TURN_BUSY);
	assert_int_equal(s.tx_slots, 512);
	assert_int_equal(s.rxc.refills, 1);
	crl_flowgen_turn(&s); /* no buffer has come back */
	assert_int_equal(s.rxc.refills, 1);
	assert_int_equal(crl_flowgen_packet(NULL, NULL), CRL_DROP);
	fake_close(&n);
	/* A NIC that wants the first bytes in the WQE has them from the frame itself. */
	begin(4, false);
	n.q.sq.inline_hdr = CRL_INLINE_HDR_L2;
	assert_int_equal(crl_flowgen_turn(&s), CRL_TURN_BUSY);
	nic();
	assert_int_equal(sent.nr, 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_memory_equal(sent.frame[i], "\0\1\2\3\4\1\0\1\2\3\4\0\x08\0", 14);
	fake_close(&n);
}

/* Where no frames can be made nothing is taken either, and no wait is counted. */
static void
flow_cannot(void **state)
{
	uint8_t frame[64] = {0};

	(void)state;
	begin(4, false);
	crl_rq_refill(&n.q.rq, &n.q.sq);
	assert_true(fake_receive(&n, frame, sizeof(frame)));
	n.q.txbuf.addr = NULL;
	assert_int_equal(crl_flowgen_turn(&s), CRL_TURN_IDLE);
	assert_int_equal(s.rxc.packets | s.txc.full_waits, 0);
	fake_close(&n);
	begin(4, false);
	park();
	assert_int_equal(crl_flowgen_turn(&s), CRL_TURN_IDLE);
	assert_int_equal(s.txc.packets | s.tx_slots, 0);
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(stamp_verdicts),
		cmocka_unit_test(stamp_begins),
		cmocka_unit_test(stamp_small_ring),
		cmocka_unit_test(stamp_cannot),
		cmocka_unit_test(first_burst),
		cmocka_unit_test(own_frames),
		cmocka_unit_test(large_bursts),
		cmocka_unit_test(flow_frames),
		cmocka_unit_test(flow_cannot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
