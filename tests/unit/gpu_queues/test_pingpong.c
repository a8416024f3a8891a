/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pingpong with a clock of the test's own: every byte that leaves, what it says of what comes back,
 * and turn by turn when the next frame leaves.
 */
#include <sys/mman.h>

#include "book.h"
#include "bytes.h"

#include "gpu_queues/mem.h"

static uint64_t clock_ns;

static uint64_t
test_now(void)
{
	return clock_ns;
}
#define crl_now_ns test_now
#include "gpu_queues/engines/pingpong.h"

static struct fake_nic n;
static struct crl_stream s;

static void
ping_open(uint32_t len, uint32_t frames)
{
	fake_open(&n, 2, 4, 512, false);
	memset(&s, 0, sizeof(s));
	s.rx = s.tx = &n.q;
	s.ctl = &n.ctl;
	s.tx_lkey = FAKE_LKEY;
	s.burst = 8;
	s.opts.txpkts_nr = 1;
	s.opts.txpkts[0] = (uint16_t)len;
	s.opts.tx_frames_max = frames;
	memset(n.txmem, 0xee, 1024);
	clock_ns = 1000;
	assert_true(crl_stream_begin(&s));
	assert_int_equal(crl_pingpong_turn(&s), CRL_TURN_IDLE);
}

/* Payload of frame seq, as pingpong.h says: mark, number, pattern; zeros behind an odd end. */
static void
want_payload(uint8_t *p, uint64_t seq, uint32_t len)
{
	memset(p, 0, len);
	put16(p, 0x6372);
	for (uint32_t i = 0; i < 8u; i++)
		p[2u + i] = (uint8_t)(seq >> (56u - 8u * i));
	for (uint32_t k = 5; 2u * k + 1u < len; k++)
		put16(p + 2u * k, (uint32_t)(seq * 40503u + k));
}

static void
test_pingpong_bytes(void **state)
{
	uint8_t payload[400];
	uint32_t len;

	(void)state;
	for (len = 52; len < 300u; len++) {
		ping_open(len, 0);
		s.waiting = 0;
		fake_doorbell(&n);
		assert_int_equal(fake_send(&n, 9), 1);
		s.seq = 0x123456789abcdef0ull * (len & 1u) + len;
		crl_pingpong_turn(&s);
		want_payload(payload, s.seq, len - 42u);
		assert_memory_equal(n.txmem + 42, payload, (len - 42u));
		assert_int_equal(n.txmem[(len + 1u) & ~1u], 0xee);
		assert_int_equal(n.txmem[13], 0); /* of 0x0800 */
		assert_int_equal(be16(n.txmem + 16), len - 14u);
		assert_int_equal(sum16(0, n.txmem + 14, 20), 0xffff);
		assert_true(s.txc.packets == 2 && s.txc.bytes == 2u * len && s.txc.doorbells == 2);
		fake_close(&n);
	}
	/* what cannot be: no room for the number, or a frame that the buffer has not */
	for (len = 51; len < 2000u; len += 1949u) {
		fake_open(&n, 2, 4, 512, false);
		memset(&s, 0, sizeof(s));
		s.rx = s.tx = &n.q;
		s.ctl = &n.ctl;
		s.burst = 8;
		s.opts.txpkts_nr = 1;
		s.opts.txpkts[0] = (uint16_t)len;
		n.q.txbuf.bytes = 1999;
		assert_int_equal(crl_pingpong_turn(&s), CRL_TURN_IDLE);
		assert_true(s.tx_slots == 0 && s.txc.packets == 0 && s.rxc.polls == 0);
		n.q.txbuf.bytes = 2000;
		assert_int_equal(crl_pingpong_turn(&s), CRL_TURN_IDLE);
		assert_int_equal(s.tx_slots, len == 2000u);
		fake_close(&n);
	}
}

/* What comes back: the frame under way, an old one, a wrong byte in any place, a stranger's. */
static void
test_pingpong_judges(void **state)
{
	uint8_t f[128];

	(void)state;
	for (uint32_t i = 0; i < 4000u; i++) {
		uint32_t len = 52u + book_below(60), cut = len, changed = 0;
		uint64_t seq = 5u + book_rnd(), of;
		bool whole, waiting = book_below(6) != 0, mark;
		struct crl_pkt pkt = {.data = f, .room = sizeof(f)};

		memset(&s, 0, sizeof(s));
		s.opts.txpkts_nr = 1;
		s.opts.txpkts[0] = (uint16_t)len;
		s.seq = seq;
		s.waiting = waiting;
		s.sent_ns = 400;
		clock_ns = 900;
		s.rtt = (struct crl_rtt_count){book_below(2), 77, book_below(2) ? 300 : 600, 450};
		of = book_below(4) ? seq : seq - 1u - book_below(5);
		memset(f, 0x11, sizeof(f));
		want_payload(f + 42, of, len - 42u);
		if (book_below(3) == 0) {
			changed = 42u + book_below(len - 42u);
			f[changed] ^= (uint8_t)(1u << book_below(8));
		}
		if (book_below(4) == 0)
			cut = book_below(2) ? len - 1u : book_below(len);
		pkt.len = cut + (book_below(4) == 0 && cut == len);
		mark = pkt.len >= 52u && be16(f + 42) == 0x6372u;
		of = 0;
		for (uint32_t k = 0; k < 8u; k++)
			of = of << 8 | f[44u + k];
		whole = pkt.len >= len && of == seq;
		if (changed >= 42u && !((len & 1u) && changed == len - 1u))
			whole = false;
		struct crl_stream want = s;

		if (!mark || !waiting || of < seq) {
			want.rxc.dropped++;
		} else if (!whole) {
			want.rxc.errors++;
		} else {
			want.rtt.min_ns = want.rtt.count == 0 || want.rtt.min_ns > 500
						  ? 500
						  : want.rtt.min_ns;
			want.rtt.max_ns = 500;
			want.rtt.sum_ns += 500;
			want.rtt.count++;
			want.waiting = 0;
			want.seq++;
		}
		assert_int_equal(crl_pingpong_packet(&s, &pkt), CRL_DROP);
		assert_memory_equal(&s, &want, sizeof(s));
	}
}

/* Turns: one under way at a time, so many in all, and one that is not back in time is lost. */
static void
test_pingpong_turns(void **state)
{
	uint8_t f[60];

	(void)state;
	ping_open(60, 4);
	assert_true(s.waiting && s.tx_left == 3 && s.txc.packets == 1 && s.sent_ns == 1000);
	assert_int_equal(s.rxc.refills, 1);
	assert_int_equal(crl_pingpong_turn(&s), CRL_TURN_IDLE);
	assert_true(s.rxc.refills == 1 && s.txc.packets == 1);
	fake_doorbell(&n);
	fake_send(&n, 1);
	memcpy(f, n.txmem, 60);
	assert_true(fake_receive(&n, f, 60));
	clock_ns = 1700;
	assert_int_equal(crl_pingpong_turn(&s), CRL_TURN_BUSY);
	assert_true(s.rtt.count == 1 && s.rtt.sum_ns == 700 && s.rtt.min_ns == 700);
	assert_true(s.rtt.max_ns == 700 && s.txc.packets == 2 && s.tx_left == 2 && s.seq == 1);
	assert_true(s.rxc.refills == 2 && s.txc.completions == 1);
	fake_doorbell(&n);
	fake_send(&n, 1);
	clock_ns = 1700u + CRL_PONG_NS_MAX;
	assert_int_equal(crl_pingpong_turn(&s), CRL_TURN_BUSY); /* the send's completion */
	assert_true(s.txc.dropped == 0 && s.txc.packets == 2 && s.waiting);
	clock_ns++;
	assert_int_equal(crl_pingpong_turn(&s), CRL_TURN_IDLE);
	assert_true(s.txc.dropped == 1 && s.txc.packets == 3 && s.seq == 2 && s.waiting);
	/* not over: the buffer is the NIC's yet, whoever is waited for */
	s.waiting = 0;
	assert_int_equal(crl_pingpong_turn(&s), CRL_TURN_IDLE);
	assert_int_equal(s.txc.packets, 3);
	fake_doorbell(&n);
	fake_send(&n, 1);
	assert_int_equal(crl_pingpong_turn(&s), CRL_TURN_BUSY);
	assert_true(s.txc.packets == 4 && s.tx_left == 0);
	s.waiting = 0;
	fake_doorbell(&n);
	fake_send(&n, 1);
	assert_int_equal(crl_pingpong_turn(&s), CRL_TURN_BUSY);
	assert_int_equal(s.txc.packets, 4);
	fake_close(&n);
}

/* The send fails: no other follows on that queue. */
static void
test_pingpong_fails(void **state)
{
	(void)state;
	ping_open(60, 0);
	n.fail_at = 0;
	fake_doorbell(&n);
	fake_send(&n, 1);
	s.waiting = 0;
	crl_pingpong_turn(&s);
	assert_true(s.txc.packets == 1 && s.txc.errors == 1 && !s.waiting);
	assert_int_equal(n.q.sq.pi, 1);
	fake_close(&n);
}

/* The frame may fill the buffer; of one that came nothing is read behind its end. */
static void
test_pingpong_room(void **state)
{
	uint8_t *pages =
		mmap(NULL, 2u * 4096u, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct crl_pkt pkt = {.len = 60};

	(void)state;
	assert_true(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0);
	ping_open(60, 0);
	pkt.data = pages + 4096 - 60;
	memcpy(pkt.data, n.txmem, 60);
	crl_pingpong_packet(&s, &pkt);
	assert_true(s.rtt.count == 1 && s.rxc.errors == 0 && !s.waiting);
	n.q.txbuf.bytes = 60;
	assert_int_equal(crl_pingpong_begin(&s), CRL_OK);
	n.q.txbuf.bytes = 59;
	assert_int_equal(crl_pingpong_begin(&s), CRL_INVALID);
	munmap(pages, 2u * 4096u);
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pingpong_bytes),
		cmocka_unit_test(test_pingpong_judges),
		cmocka_unit_test(test_pingpong_turns),
		cmocka_unit_test(test_pingpong_fails),
		cmocka_unit_test(test_pingpong_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
