/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engines/txonly.h and the option functions: testpmd's frames, of one segment and of several,
 * counted, limited, and refused where they cannot be.
 */
#include "fake_nic.h"

#include <errno.h>

#include "gpu_queues/engine.h"
#include "gpu_queues/engines/txonly.h"

struct tape {
	uint32_t frames, len;
};

static uint16_t
be(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void
check_frame(void *arg, const uint8_t *f, uint32_t len)
{
	struct tape *t = arg;
	uint32_t sum = 0, i;

	t->frames++;
	assert_int_equal(len, t->len);
	assert_memory_equal(
		f, "\x02\x00\x00\x00\x00\x00\x02\x11\x22\x33\x44\x55\x08\x00\x45\x00", 16);
	assert_int_equal(be(f + 16), len - 14);
	assert_memory_equal(f + 18, "\x00\x00\x00\x00\x40\x11", 6);
	assert_memory_equal(f + 26, "\xc6\x12\x00\x01\xc6\x12\x00\x02\x00\x09\x00\x09", 12);
	assert_int_equal(be(f + 38), len - 34);
	for (i = 0; i < 20; i += 2)
		sum += be(f + 14 + i);
	assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
	for (i = 40; i < len; i++)
		assert_int_equal(f[i], 0);
}

static void
open_stream(struct crl_stream *s, struct fake_nic *n, const char *txpkts, uint64_t total)
{
	struct crl_err err;

	memset(s, 0, sizeof(*s));
	s->tx = &n->q;
	s->ctl = &n->ctl;
	s->burst = 32;
	s->opts.tx_frames_max = total;
	assert_int_equal(crl_engine_opts_txpkts(&s->opts, txpkts, &err), 0);
	crl_engine_opts_default(&s->opts);
}

/* in: without multi-packet sends bytes of headers, with them bytes of frames, that are inlined. */
static void
run(const char *txpkts, uint32_t len, uint32_t log, bool empw, uint32_t in)
{
	struct tape t = {0, len};
	struct crl_stream s;
	struct fake_nic n;
	uint32_t i;

	fake_open(&n, log, 0, 64, empw);
	n.q.sq.signal_every = crl_signal_every(0, CRL_LOG_DEPTH_MAX, log);
	n.q.sq.inline_max = empw ? in : 0;
	n.q.sq.inline_hdr = empw ? 0 : in;
	memset(n.txmem, 0xee, 65536);
	open_stream(&s, &n, txpkts, 1000);
	n.sink = check_frame;
	n.arg = &t;
	for (i = 0; i < 5000 && s.txc.packets < 1000; i++) {
		crl_txonly_turn(&s);
		fake_doorbell(&n);
		fake_send(&n, 64);
	}
	for (i = 0; i < 8; i++) /* no more than asked for */
		crl_txonly_turn(&s);
	assert_int_equal(t.frames, 1000);
	assert_int_equal(s.txc.packets, 1000);
	assert_true(s.txc.bytes == 1000ull * len);
	assert_true(n.q.sq.ci == n.q.sq.pi);
	fake_close(&n);
}

static void
frames(void **state)
{
	run("64", 64, 9, true, 0);
	run("64", 64, 9, true, 128);
	run("64", 64, 9, false, 0);
	run("42", 42, 0, false, 0);
	run("1514", 1514, 4, true, 0);
	run("64,64", 128, 5, true, 0);
	run("42,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", 162, 6, false, 0);
	run("9000", 9000, 4, true, 0);
	run("42", 42, 0, false, CRL_INLINE_HDR_L2); /* for a NIC that wants the headers */
	run("64", 64, 9, false, CRL_INLINE_HDR_L2);
	run("64,64", 128, 5, false, CRL_INLINE_HDR_L2);
	run("42,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", 162, 6, false, CRL_INLINE_HDR_L2);
}

static void
refused(void **state)
{
	struct crl_stream s;
	struct fake_nic n;

	fake_open(&n, 4, 4, 64, false);
	open_stream(&s, &n, "41", 0);
	assert_int_equal(crl_txonly_begin(&s), CRL_INVALID);
	open_stream(&s, &n, "64", 0);
	n.q.txbuf.bytes = 63;
	assert_int_equal(crl_txonly_begin(&s), CRL_INVALID);
	n.q.txbuf.bytes = 64;
	assert_int_equal(crl_txonly_begin(&s), CRL_OK);
	assert_int_equal(s.tx_slots, 1);
	n.q.txbuf.addr = NULL;
	assert_int_equal(crl_txonly_begin(&s), CRL_INVALID);
	fake_close(&n);
}

static void
txpkts(void **state)
{
	static const char *const bad[] = {"", "x", "64,", "64,,64", "0", "-1", "65536", "64 64",
		"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"};
	struct crl_engine_opts o;
	struct crl_err err;
	size_t i;

	memset(&o, 0, sizeof(o));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(crl_engine_opts_txpkts(&o, bad[i], &err), -EINVAL);
		assert_true(err.code == -EINVAL && err.cause[0] && err.fix[0]);
		assert_int_equal(o.txpkts_nr, 0); /* untouched */
	}
	assert_int_equal(crl_engine_opts_txpkts(&o, "64,128,65535", NULL), 0);
	assert_int_equal(o.txpkts_nr, 3);
	assert_int_equal(o.txpkts[2], 65535);
	assert_int_equal(crl_txonly_len(&o), 65727);
}

/* What begin refuses, one thing at a time, whoever checked before. */
static void
begin_refuses(void **state)
{
	struct crl_stream good, s;
	struct fake_nic n;

	fake_open(&n, 4, 4, 128, false);
	memset(&good, 0, sizeof(good));
	good.rx = good.tx = &n.q;
	good.ctl = &n.ctl;
	good.burst = 32;
	crl_engine_opts_default(&good.opts);
	s = good;
	assert_int_equal(crl_txonly_begin(&s), CRL_OK);
	assert_int_equal(s.tx_slots, CRL_BURST_MAX);
	s = good;
	s.opts.txpkts_nr = 0;
	assert_int_equal(crl_txonly_begin(&s), CRL_INVALID);
	s = good;
	s.opts.txpkts_nr = CRL_TXPKTS_MAX + 1;
	assert_int_equal(crl_txonly_begin(&s), CRL_INVALID);
	s = good;
	s.opts.txpkts[0] = CRL_TXONLY_HDR_BYTES - 1;
	assert_int_equal(crl_txonly_begin(&s), CRL_INVALID);
	s = good;
	n.q.txbuf.bytes = 63;
	assert_int_equal(crl_txonly_begin(&s), CRL_INVALID);
	/* Two frames' room, and not a byte behind it. */
	memset(n.txmem, 0xee, 65536);
	n.q.txbuf.bytes = 128 + 63;
	assert_int_equal(crl_txonly_begin(&s), CRL_OK);
	assert_int_equal(s.tx_slots, 2);
	assert_int_equal(n.txmem[127], 0);
	for (uint32_t i = 128; i < 65536; i++)
		assert_int_equal(n.txmem[i], 0xee);
	n.q.txbuf.bytes = 65536;
	n.q.txbuf.addr = NULL;
	assert_int_equal(crl_txonly_begin(&s), CRL_INVALID);
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames),
		cmocka_unit_test(refused),
		cmocka_unit_test(txpkts),
		cmocka_unit_test(begin_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
