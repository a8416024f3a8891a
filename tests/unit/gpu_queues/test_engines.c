/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engines 5tswap, flowgen and pingpong: what becomes of each kind of frame, flows one after
 * another and each slot's frame untouched while it is under way, frames that are lost, late or
 * wrong.
 */
#include "fake_nic.h"

#include "gpu_queues/engine.h"
#include "gpu_queues/engines/5tswap.h"
#include "gpu_queues/engines/flowgen.h"
#include "gpu_queues/engines/pingpong.h"

static void
stream_open(struct crl_stream *s, struct fake_nic *n)
{
	memset(s, 0, sizeof(*s));
	s->rx = s->tx = &n->q;
	s->ctl = &n->ctl;
	s->tx_lkey = FAKE_LKEY;
	s->burst = 32;
	crl_engine_opts_default(&s->opts);
	assert_true(crl_stream_begin(s));
}

/* ---- 5tswap ---- */

static void
swap(const char *in, uint32_t len, const char *out)
{
	CRL_ALIGNAS(2) uint8_t f[128];
	struct crl_pkt pkt = {.data = f, .len = len, .room = sizeof(f)};

	memset(f, 0xee, sizeof(f));
	memcpy(f, in, len);
	assert_int_equal(crl_5tswap_packet(NULL, &pkt), CRL_SEND);
	assert_int_equal(pkt.len, len);
	assert_memory_equal(f, out, len);
	for (uint32_t i = len; i < sizeof(f); i++)
		assert_int_equal(f[i], 0xee); /* nothing behind the frame */
}

#define MACS			  "DDDDDDSSSSSS"
#define SWAPPED			  "SSSSSSDDDDDD"
#define TCP_REST		  "\x00\x00\x00\x01\x00\x00\x00\x02\x50\x10\xff\xff\x12\x34\x00\x00"
#define TCP(ports)		  ports TCP_REST
#define IP6(proto, src, dst)	  "\x60\x00\x00\x00\x00\x08" proto "\x40" src dst
#define IP4_REST		  "\x00\x00\x30\x00\x01\x00\x00\x40"
#define IP4(proto, ihl, src, dst) ihl IP4_REST proto "\x12\x34" src dst

static void
five_layers(void **state)
{
	swap(MACS "\x08\x00" IP4("\x11", "\x45", "aaaa", "bbbb") "12345678xy", 44,
		SWAPPED "\x08\x00" IP4("\x11", "\x45", "bbbb", "aaaa") "34125678xy");
	swap(MACS "\x08\x00" IP4("\x06", "\x45", "aaaa", "bbbb") TCP("1234"), 54,
		SWAPPED "\x08\x00" IP4("\x06", "\x45", "bbbb", "aaaa") TCP("3412"));
	/* IP options; a VLAN tag; two */
	swap(MACS "\x08\x00" IP4("\x11", "\x46", "aaaa", "bbbb") "OPTS12345678", 46,
		SWAPPED "\x08\x00" IP4("\x11", "\x46", "bbbb", "aaaa") "OPTS34125678");
	swap(MACS "\x81\x00"
		  "TC"
		  "\x08\x00" IP4("\x11", "\x45", "aaaa", "bbbb") "12345678",
		46,
		SWAPPED "\x81\x00"
			"TC"
			"\x08\x00" IP4("\x11", "\x45", "bbbb", "aaaa") "34125678");
	swap(MACS "\x88\xa8"
		  "TC"
		  "\x81\x00"
		  "tc"
		  "\x86\xdd" IP6("\x11", "aaaaAAAAaaaaAAAA", "bbbbBBBBbbbbBBBB") "12345678",
		70,
		SWAPPED "\x88\xa8"
			"TC"
			"\x81\x00"
			"tc"
			"\x86\xdd" IP6("\x11", "bbbbBBBBbbbbBBBB", "aaaaAAAAaaaaAAAA") "34125678");
	swap(MACS "\x86\xdd" IP6("\x06", "aaaaAAAAaaaaAAAA", "bbbbBBBBbbbbBBBB") TCP("1234"), 74,
		SWAPPED "\x86\xdd" IP6("\x06", "bbbbBBBBbbbbBBBB", "aaaaAAAAaaaaAAAA") TCP("3412"));
}

/* Where a layer is not understood or not whole, the work ends and the frame leaves. */
static void
fewer_layers(void **state)
{
	struct crl_pkt pkt = {.len = 13};

	swap(MACS "\x08\x06"
		  "ARPARPARP",
		23,
		SWAPPED "\x08\x06"
			"ARPARPARP");
	swap(MACS "\x08\x00" IP4("\x01", "\x45", "aaaa", "bbbb") "12345678", 42,
		SWAPPED "\x08\x00" IP4("\x01", "\x45", "bbbb", "aaaa") "12345678");
	swap(MACS "\x08\x00" IP4("\x11", "\x45", "aaaa", "bbbb") "1234567", 41,
		SWAPPED "\x08\x00" IP4("\x11", "\x45", "bbbb", "aaaa") "1234567");
	swap(MACS "\x08\x00" IP4("\x06", "\x45", "aaaa", "bbbb") TCP("1234"), 53,
		SWAPPED "\x08\x00" IP4("\x06", "\x45", "bbbb", "aaaa") TCP("1234"));
	swap(MACS "\x08\x00" IP4("\x11", "\x4f", "aaaa", "bbbb") "12345678", 42,
		SWAPPED "\x08\x00" IP4("\x11", "\x4f", "bbbb", "aaaa") "12345678");
	swap(MACS "\x08\x00" IP4("\x11", "\x45", "aaaa", "bbbb"), 33,
		SWAPPED "\x08\x00" IP4("\x11", "\x45", "aaaa", "bbbb"));
	swap(MACS "\x86\xdd" IP6("\x11", "aaaaAAAAaaaaAAAA", "bbbbBBBBbbbbBBBB"), 53,
		SWAPPED "\x86\xdd" IP6("\x11", "aaaaAAAAaaaaAAAA", "bbbbBBBBbbbbBBBB"));
	swap(MACS "\x81\x00"
		  "T",
		15,
		SWAPPED "\x81\x00"
			"T");
	swap(MACS "\x81\x00", 14, SWAPPED "\x81\x00");
	assert_int_equal(crl_5tswap_packet(NULL, &pkt), CRL_DROP);
}

/* ---- flowgen ---- */

struct flows {
	uint32_t next, flows, len;
	uint64_t frames;
};

static void
check_flow(void *arg, const uint8_t *f, uint32_t len)
{
	struct flows *w = arg;
	uint32_t sum = 0, i, dst = (uint32_t)f[30] << 24 | f[31] << 16 | f[32] << 8 | f[33];

	assert_int_equal(len, w->len);
	assert_memory_equal(f, "\x00\x01\x02\x03\x04\x01\x00\x01\x02\x03\x04\x00\x08\x00\x45", 15);
	assert_memory_equal(f + 26, "\x0a\xfe\x00\x00", 4);
	assert_int_equal(dst, CRL_FLOWGEN_DST + w->next);
	assert_memory_equal(f + 34, "\x03\xe8\x03\xe9", 4);
	for (i = 14; i < 34; i += 2)
		sum += (uint32_t)f[i] << 8 | f[i + 1];
	assert_int_equal((sum & 0xffffu) + (sum >> 16), 0xffffu);
	w->next = w->next + 1 < w->flows ? w->next + 1 : 0;
	w->frames++;
}

/* pace: WQEs that the NIC does between turns; a slot written anew too early shows as a wrong flow.
 */
static void
generate(uint32_t log, uint32_t pace, uint32_t flows, uint32_t txpkts, uint64_t txbuf)
{
	struct flows w = {0, flows, txpkts - 4u, 0};
	struct crl_stream s;
	struct fake_nic n;
	uint8_t stray[64] = {0};
	uint32_t i;

	fake_open(&n, log, 4, 128, false);
	stream_open(&s, &n);
	n.q.txbuf.bytes = txbuf;
	n.sink = check_flow;
	n.arg = &w;
	s.opts.flows = flows;
	s.opts.txpkts[0] = (uint16_t)txpkts;
	for (i = 0; i < 6000 && w.frames < 3000; i++) {
		crl_flowgen_turn(&s);
		fake_doorbell(&n);
		fake_send(&n, pace);
		if (i % 7u == 0)
			fake_receive(&n, stray, 64);
	}
	assert_true(w.frames >= 3000);
	assert_true(s.rxc.packets > 10 && s.rxc.errors == 0);
	for (i = 0; i < 400; i++) {
		fake_doorbell(&n);
		fake_send(&n, 64);
		crl_stream_reap(&s);
	}
	assert_int_equal(w.frames, s.txc.packets);
	fake_close(&n);
}

static void
many_flows(void **state)
{
	generate(8, 64, 1024, 64, 65536);
	generate(8, 7, 1, 64, 65536);
	generate(3, 3, 100, 128, 65536);
	generate(8, 5, 1000, 64, 192); /* three slots for a ring of 256 */
	generate(8, 64, 1000, 1500, 1500 + 64);
}

/* So many frames and no more, and what is counted of them. */
static void
counted_flows(void **state)
{
	struct flows w = {0, 10, 60, 0};
	struct crl_stream s;
	struct fake_nic n;
	uint64_t waits;
	uint32_t i;

	fake_open(&n, 3, 4, 128, false);
	stream_open(&s, &n);
	n.sink = check_flow;
	n.arg = &w;
	s.opts.flows = 10;
	s.opts.tx_frames_max = 100;
	assert_int_equal(crl_flowgen_turn(&s), CRL_TURN_BUSY);
	assert_int_equal(s.txc.packets, 8);
	waits = s.txc.full_waits; /* a warp, which posts in groups, has met the end already */
	crl_flowgen_turn(&s);
	assert_int_equal(s.txc.packets, 8);
	assert_int_equal(s.txc.full_waits, waits + 1);
	for (i = 0; i < 100; i++) {
		fake_doorbell(&n);
		fake_send(&n, 8);
		crl_flowgen_turn(&s);
	}
	assert_int_equal(w.frames, 100);
	assert_int_equal(s.txc.packets, 100);
	assert_int_equal(s.txc.bytes, 6000);
	assert_int_equal(crl_flowgen_turn(&s), CRL_TURN_IDLE);
	fake_close(&n);
}

/* Flows beyond 2^16 change both words of the address; the checksum follows. */
static void
far_flow(void **state)
{
	CRL_ALIGNAS(2) uint8_t f[64] = {0};
	struct crl_engine_opts o;
	uint32_t sum = 0, i;

	crl_engine_opts_default(&o);
	crl_txonly_frame(f, 64, &o, f);
	crl_flowgen_mark(f, 0x20003);
	assert_memory_equal(f + 30, "\x0a\xff\x00\x03", 4);
	for (i = 14; i < 34; i += 2)
		sum += (uint32_t)f[i] << 8 | f[i + 1];
	assert_int_equal((sum & 0xffffu) + (sum >> 16), 0xffffu);
}

/* Slots as close as cache lines allow, in memory that was not empty, and nothing beside it. */
static void
flow_slots(void **state)
{
	struct crl_stream s;
	struct fake_nic n;

	fake_open(&n, 4, 4, 128, false);
	stream_open(&s, &n);
	s.opts.txpkts[0] = 68;
	memset(n.txmem, 0xee, 65536);
	n.q.txbuf.bytes = 192 + 63;
	assert_int_equal(crl_flowgen_begin(&s), CRL_OK);
	assert_int_equal(s.tx_stride, 64);
	assert_int_equal(s.tx_slots, 3);
	assert_int_equal(n.txmem[63], 0);
	assert_int_equal(n.txmem[192], 0xee);
	n.q.txbuf.bytes = 63;
	s.tx_slots = 0;
	assert_int_equal(crl_flowgen_begin(&s), CRL_INVALID);
	assert_int_equal(crl_flowgen_turn(&s), CRL_TURN_IDLE);
	n.q.txbuf.bytes = 65536;
	s.opts.txpkts[0] = 45;
	assert_int_equal(crl_flowgen_begin(&s), CRL_INVALID);
	s.opts.txpkts[0] = 64;
	n.q.txbuf.addr = NULL;
	assert_int_equal(crl_flowgen_begin(&s), CRL_INVALID);
	assert_int_equal(crl_flowgen_turn(&s), CRL_TURN_IDLE);
	assert_int_equal(s.txc.packets, 0);
	fake_close(&n);
}

/* ---- pingpong ---- */

struct pong {
	struct fake_nic *n;
	uint8_t frame[256];
	uint32_t len, flip, frames;
};

static void
keep_ping(void *arg, const uint8_t *f, uint32_t len)
{
	struct pong *p = arg;

	memcpy(p->frame, f, len);
	p->len = len;
	p->frames++;
}

/* The frame back, with byte at turned over; 0: as it is. */
static void
back(struct pong *p, uint32_t at)
{
	if (at != 0)
		p->frame[at] ^= 0x10;
	fake_receive(p->n, p->frame, p->len);
}

static void
turns(struct crl_stream *s, struct fake_nic *n, uint32_t nr)
{
	while (nr-- > 0) {
		crl_pingpong_turn(s);
		fake_doorbell(n);
		fake_send(n, 4);
	}
}

static void
round_trips(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	struct pong p = {.n = &n};
	uint32_t i;

	fake_open(&n, 4, 4, 256, false);
	stream_open(&s, &n);
	n.sink = keep_ping;
	n.arg = &p;
	s.opts.txpkts[0] = 101;
	for (i = 0; i < 200; i++) {
		turns(&s, &n, 3);
		assert_int_equal(p.frames, i + 1u); /* one under way */
		assert_int_equal(p.len, 101);
		back(&p, 0);
	}
	assert_int_equal(crl_pingpong_turn(&s), CRL_TURN_BUSY);
	turns(&s, &n, 2);
	assert_int_equal(crl_pingpong_turn(&s), CRL_TURN_IDLE);
	assert_int_equal(s.txc.packets, 201);
	assert_int_equal(s.txc.bytes, 201 * 101);
	assert_int_equal(s.rtt.count, 200);
	assert_true(s.rtt.min_ns <= s.rtt.max_ns && s.rtt.sum_ns >= 200 * s.rtt.min_ns);
	assert_int_equal(s.rxc.errors + s.rxc.dropped + s.txc.dropped, 0);
	fake_close(&n);
}

static void
ping_begins(void **state)
{
	struct crl_stream s;
	struct fake_nic n;

	fake_open(&n, 4, 4, 256, false);
	stream_open(&s, &n);
	s.opts.txpkts[0] = 64;
	assert_int_equal(crl_pingpong_begin(&s), CRL_OK);
	n.q.txbuf.addr = NULL;
	assert_int_equal(crl_pingpong_begin(&s), CRL_INVALID);
	n.q.txbuf.addr = n.txmem;
	s.opts.txpkts[0] = CRL_PINGPONG_BYTES - 1;
	assert_int_equal(crl_pingpong_begin(&s), CRL_INVALID);
	s.opts.txpkts[0] = 64;
	n.q.txbuf.bytes = 63;
	assert_int_equal(crl_pingpong_begin(&s), CRL_INVALID);
	fake_close(&n);
}

static void
wrong_late_and_lost(void **state)
{
	static const uint32_t bytes[] = {50, 52, 53, 99};
	uint8_t old[256], other[64] = {0};
	struct crl_stream s;
	struct fake_nic n;
	struct pong p = {.n = &n};
	uint32_t i;

	fake_open(&n, 4, 4, 256, false);
	stream_open(&s, &n);
	n.sink = keep_ping;
	n.arg = &p;
	s.opts.txpkts[0] = 100;
	turns(&s, &n, 3);
	for (i = 0; i < 4; i++) { /* a byte of number or pattern is wrong */
		back(&p, bytes[i]);
		turns(&s, &n, 3);
		assert_int_equal(s.rxc.errors + s.rxc.dropped, i + 1u);
		p.frame[bytes[i]] ^= 0x10;
	}
	p.len = 60; /* cut short */
	back(&p, 0);
	turns(&s, &n, 3);
	assert_int_equal(s.rxc.errors + s.rxc.dropped, 5);
	fake_receive(&n, other, 64); /* nobody's */
	turns(&s, &n, 3);
	assert_int_equal(s.rxc.dropped, 1);
	assert_int_equal(p.frames, 1);
	memcpy(old, p.frame, sizeof(old));
	s.sent_ns -= CRL_PONG_NS_MAX + 1u;
	turns(&s, &n, 3);
	assert_int_equal(p.frames, 2);
	assert_int_equal(s.txc.dropped, 1);
	fake_receive(&n, old, 100); /* late */
	turns(&s, &n, 3);
	assert_int_equal(s.rxc.dropped, 2);
	assert_int_equal(s.rtt.count, 0);
	p.len = 100;
	back(&p, 0);
	turns(&s, &n, 3);
	assert_int_equal(s.rtt.count, 1);
	assert_int_equal(p.frames, 3);
	fake_close(&n);
}

static void
refused(void **state)
{
	const struct crl_engine *flowgen = crl_engine_find("flowgen"),
				*ping = crl_engine_find("pingpong");
	struct crl_stream s;
	struct fake_nic n;
	struct crl_err err;

	fake_open(&n, 4, 4, 256, false);
	stream_open(&s, &n);
	assert_int_equal(flowgen->check(&s, &err), 0);
	assert_int_equal(ping->check(&s, &err), 0);
	n.q.index = 1; /* where its frame would not come back to */
	assert_int_not_equal(ping->check(&s, &err), 0);
	n.q.index = 0;
	s.opts.txpkts[0] = 45; /* with four bytes less no headers */
	assert_int_not_equal(flowgen->check(&s, &err), 0);
	assert_int_not_equal(ping->check(&s, &err), 0);
	s.opts.txpkts[0] = 64;
	s.opts.txpkts_nr = 2;
	assert_int_not_equal(flowgen->check(&s, &err), 0);
	assert_int_not_equal(ping->check(&s, &err), 0);
	s.opts.txpkts_nr = 1;
	n.q.txbuf.bytes = 32;
	assert_int_not_equal(flowgen->check(&s, &err), 0);
	assert_int_not_equal(ping->check(&s, &err), 0);
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(five_layers),
		cmocka_unit_test(fewer_layers),
		cmocka_unit_test(many_flows),
		cmocka_unit_test(counted_flows),
		cmocka_unit_test(far_flow),
		cmocka_unit_test(flow_slots),
		cmocka_unit_test(round_trips),
		cmocka_unit_test(ping_begins),
		cmocka_unit_test(wrong_late_and_lost),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
