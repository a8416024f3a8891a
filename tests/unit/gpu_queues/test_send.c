/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_reserve.h, sq_post.h, sq_doorbell.h: every return of reserve, every byte of a WQE, the ring's
 * end, the signalling rule, and what the doorbell writes where.
 */
#include "fake_nic.h"

#include "gpu_queues/cq_poll.h"
#include "gpu_queues/sq_doorbell.h"
#include "gpu_queues/sq_post.h"
#include "gpu_queues/sq_reserve.h"

/* A queue whose indices all stand at index, as after that many WQEBBs. */
static void
move_to(struct fake_nic *n, uint64_t index)
{
	struct crl_sq *sq = &n->q.sq;

	sq->pi = sq->posted = sq->rung = sq->completed = sq->ci = sq->signalled = index;
	n->sq_at = n->sq_told = index;
	n->sq_rec[CRL_DBREC_SND_WORD] = crl_to_be32((uint16_t)index);
}

static void
reserve_returns(void **state)
{
	struct fake_nic n;
	uint32_t log, i;
	uint64_t pi = 99;

	for (log = 0; log <= CRL_LOG_DEPTH_MAX; log++) {
		fake_open(&n, log, 0, 64, false);
		move_to(&n, 0xfff8);
		assert_int_equal(crl_sq_reserve(&n.q.sq, 0, &pi), CRL_INVALID);
		assert_int_equal(crl_sq_reserve(&n.q.sq, (1u << log) + 1u, &pi), CRL_INVALID);
		assert_int_equal(pi, 99);
		for (i = 0; i < 1u << log; i++) {
			assert_int_equal(crl_sq_room(&n.q.sq), (1u << log) - i);
			assert_int_equal(crl_sq_reserve(&n.q.sq, 1, &pi), CRL_OK);
			assert_true(pi == 0xfff8 + i);
		}
		assert_int_equal(crl_sq_reserve(&n.q.sq, 1, &pi), CRL_AGAIN);
		n.q.sq.ci = n.q.sq.completed = 0xfff9;
		assert_int_equal(crl_sq_reserve(&n.q.sq, 1, &pi), CRL_OK);
		n.q.sq.state = CRL_QS_FAILED;
		assert_int_equal(crl_sq_reserve(&n.q.sq, 1, &pi), CRL_FAILED);
		n.q.sq.state = CRL_QS_RESET;
		assert_int_equal(crl_sq_reserve(&n.q.sq, 1, &pi), CRL_FAILED);
		fake_close(&n);
		pi = 99;
	}
}

static void
send_bytes(void **state)
{
	static const uint8_t want[64] = {0x00, 0xff, 0xff, 0x0a, 0x00, 0x12, 0x34, 0x04, 0, 0, 0,
		0x08, 0, 0, 0, 0,				   /* control */
		0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* Ethernet */
		0, 0, 0, 0x2a, 0, 0, 0xab, 0xcd, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0,
		0, 0x05, 0xdc, 0x01, 0x02, 0x03, 0x04, 0, 0, 0, 0, 0, 0, 0, 0x10};
	struct crl_piece p[2] = {
		{NULL, 0x1122334455667788ull, 42, 0xabcd}, {NULL, 0x10, 1500, 0x01020304}};
	struct fake_nic n;
	uint64_t pi = 0;

	fake_open(&n, 4, 4, 64, false);
	memset(n.q.sq.wqe, 0xee, 16 * 64); /* what an older WQE left there */
	move_to(&n, 0xffff);
	assert_int_equal(crl_sq_reserve(&n.q.sq, 1, &pi), CRL_OK);
	crl_sq_put_send(&n.q.sq, pi, p, 2, CRL_ETH_L3_CSUM | CRL_ETH_L4_CSUM, true, 77);
	assert_memory_equal(n.q.sq.wqe + 15 * 64, want, 64);
	assert_true(n.q.sq.cookie[15] == 77 && n.q.sq.end[15] == 0x10000);
	assert_true(
		n.q.sq.last == 0xffff && n.q.sq.posted == 0x10000 && n.q.sq.signalled == 0x10000);
	assert_memory_equal(&n.q.sq.db, want, 8);
	/* Unsignalled: net_mlx5's mode 1, a CQE for the first failure only. */
	assert_int_equal(crl_sq_reserve(&n.q.sq, 1, &pi), CRL_OK);
	n.q.sq.signal_every = 32;
	crl_sq_put_send(&n.q.sq, pi, p, 1, 0, false, 78);
	assert_memory_equal(
		n.q.sq.wqe, "\x00\x00\x00\x0a\x00\x12\x34\x03\x00\x00\x00\x04\x00\x00\x00\x00", 16);
	assert_int_equal(n.q.sq.unsignalled, 1);
	fake_close(&n);
}

/* A WQE of many pieces runs over the ring's end at every place where it can. */
static void
gather_round_the_end(void **state)
{
	struct crl_piece p[CRL_SEND_PIECES_MAX];
	uint64_t at, pi = 0;
	struct fake_nic n;
	uint32_t i, nr;

	for (i = 0; i < CRL_SEND_PIECES_MAX; i++) {
		p[i].data = NULL;
		p[i].iova = i * 16u;
		p[i].len = i + 1u;
		p[i].lkey = FAKE_LKEY;
	}
	for (nr = 1; nr <= CRL_SEND_PIECES_MAX; nr += 5) {
		for (at = 0; at < 16; at++) {
			fake_open(&n, 4, 4, 64, false);
			for (i = 0; i < nr; i++)
				p[i].iova = n.q.txbuf.iova + i * 16u;
			move_to(&n, 0x10000 - at);
			assert_int_equal(crl_sq_reserve(&n.q.sq, crl_wqebbs(2 + nr), &pi), CRL_OK);
			crl_sq_put_send(&n.q.sq, pi, p, nr, 0, false, 5);
			assert_true(crl_sq_ring(&n.q.sq));
			assert_true(fake_doorbell(&n));
			assert_int_equal(fake_send(&n, 9), 1);
			assert_int_equal(n.frames, 1);
			assert_int_equal(n.cqes, 1);
			fake_close(&n);
		}
	}
}

struct expect {
	uint32_t at, nr;
	uint32_t len[64];
	const uint8_t *data[64];
};

static void
expect_frame(void *arg, const uint8_t *frame, uint32_t len)
{
	struct expect *e = arg;

	assert_true(e->at < e->nr);
	assert_int_equal(len, e->len[e->at]);
	assert_memory_equal(frame, e->data[e->at], len);
	e->at++;
}

/* Frames of every length round the inline limit, in one multi-packet send, at every offset to the
 * end. */
static void
empw_round_the_end(void **state)
{
	struct crl_piece p[CRL_EMPW_FRAMES_MAX];
	static struct expect e;
	uint32_t first, i, ds = 0, fit;
	struct fake_nic n;
	uint64_t pi = 0, at;

	for (first = 1; first < 80; first += 3) {
		for (at = 0; at < 17; at++) {
			fake_open(&n, 6, 6, 64, true);
			n.q.sq.inline_max = 70;
			move_to(&n, 0x20000 - at);
			n.sink = expect_frame;
			n.arg = &e;
			memset(&e, 0, sizeof(e));
			for (i = 0; i < 8192; i++)
				n.txmem[i] = (uint8_t)(i * 7u + i / 256u);
			for (i = 0; i < CRL_EMPW_FRAMES_MAX; i++) {
				p[i].data = e.data[i] = n.txmem + i * 128u;
				p[i].iova = n.q.txbuf.iova + i * 128u;
				p[i].len = e.len[i] = first + i;
				p[i].lkey = FAKE_LKEY;
			}
			fit = crl_empw_fit(&n.q.sq, p, CRL_EMPW_FRAMES_MAX, 64, &ds);
			assert_true(fit > 0 && ds <= CRL_WQE_DS_MAX);
			e.nr = fit;
			assert_int_equal(crl_sq_reserve(&n.q.sq, crl_wqebbs(ds), &pi), CRL_OK);
			crl_sq_put_empw(&n.q.sq, pi, p, fit, 0, true, 1);
			crl_sq_ring(&n.q.sq);
			assert_true(fake_doorbell(&n));
			assert_int_equal(fake_send(&n, 9), 1);
			assert_int_equal(e.at, fit);
			fake_close(&n);
		}
	}
}

static void
empw_limits(void **state)
{
	struct crl_piece p[64];
	struct fake_nic n;
	uint32_t i, ds = 0;

	fake_open(&n, 6, 6, 64, false);
	for (i = 0; i < 64; i++)
		p[i] = (struct crl_piece){n.txmem, n.q.txbuf.iova, 100, FAKE_LKEY};
	assert_int_equal(crl_empw_fit(&n.q.sq, p, 64, 64, &ds), 0); /* the queue has none */
	n.q.sq.flags = CRL_SQ_EMPW;
	assert_int_equal(crl_empw_fit(&n.q.sq, p, 64, 64, &ds), CRL_EMPW_FRAMES_MAX);
	assert_int_equal(ds, 2 + CRL_EMPW_FRAMES_MAX);
	assert_int_equal(crl_empw_fit(&n.q.sq, p, 3, 64, &ds), 3);
	assert_int_equal(crl_empw_fit(&n.q.sq, p, 64, 1, &ds), 2);
	assert_int_equal(ds, 4);
	assert_int_equal(crl_empw_fit(&n.q.sq, p, 64, 0, &ds), 0);
	n.q.sq.inline_max = 100;
	assert_int_equal(
		crl_empw_fit(&n.q.sq, p, 64, 64, &ds), 8); /* 2 + 8 * 7 segments, 9 would be 65 */
	assert_int_equal(ds, 58);
	assert_int_equal(crl_empw_segs(18, 100), 1); /* too short to inline */
	assert_int_equal(crl_empw_segs(19, 100), 2);
	assert_int_equal(crl_empw_segs(101, 100), 1);
	fake_close(&n);
}

static void
doorbell(void **state)
{
	struct crl_piece p = {NULL, 0, 60, FAKE_LKEY};
	struct fake_nic n;
	uint64_t pi = 0, first;
	int i;

	fake_open(&n, 4, 15, 64, false);
	n.q.sq.signal_every = 16;
	p.iova = n.q.txbuf.iova;
	move_to(&n, 0xfffe);
	assert_false(crl_sq_ring(&n.q.sq));
	for (i = 0; i < 3; i++) {
		assert_int_equal(crl_sq_reserve(&n.q.sq, 1, &pi), CRL_OK);
		crl_sq_put_send(&n.q.sq, pi, &p, 1, 0, false, 0);
	}
	assert_true(n.q.sq.signalled == 0xfffe);
	assert_int_equal(n.uar, 0);
	assert_int_equal(crl_from_be32(n.sq_rec[1]), 0xfffe);
	assert_true(crl_sq_ring(&n.q.sq));
	assert_int_equal(crl_from_be32(n.sq_rec[0]), 0);
	assert_int_equal(crl_from_be32(n.sq_rec[1]), 1); /* 0x10001, cut */
	memcpy(&first, n.q.sq.wqe, 8);			 /* slot of 0x10000 */
	assert_true(n.uar == first);
	assert_true(n.q.sq.signalled == 0x10001 && n.q.sq.rung == 0x10001);
	assert_int_equal(n.q.sq.wqe[11], CRL_WQE_CE_ALWAYS << 2); /* the last asks */
	assert_int_equal(n.q.sq.wqe[15 * 64 + 11], CRL_WQE_CE_ON_FIRST_ERR << 2);
	assert_false(crl_sq_ring(&n.q.sq));
	n.q.sq.state = CRL_QS_FAILED;
	n.q.sq.pi = n.q.sq.posted = 0x10002;
	assert_false(crl_sq_ring(&n.q.sq)); /* a failed queue is not rung */
	fake_close(&n);
}

static void
signalling(void **state)
{
	struct crl_piece p = {NULL, 0, 60, FAKE_LKEY};
	struct fake_nic n;
	uint64_t pi = 0;
	uint32_t every, i;

	for (every = 1; every <= 16; every++) {
		fake_open(&n, 6, 15, 64, false);
		n.q.sq.signal_every = every;
		p.iova = n.q.txbuf.iova;
		for (i = 1; i <= 64; i++) {
			assert_int_equal(crl_sq_reserve(&n.q.sq, 1, &pi), CRL_OK);
			crl_sq_put_send(&n.q.sq, pi, &p, 1, 0, false, 0);
			assert_true((n.q.sq.signalled == i) == (i % every == 0));
		}
		fake_close(&n);
	}
}

static void
nop(void **state)
{
	struct fake_nic n;
	uint64_t pi = 0;

	fake_open(&n, 4, 4, 64, false);
	memset(n.q.sq.wqe, 0xee, 16 * 64);
	move_to(&n, 14);
	assert_int_equal(crl_sq_reserve(&n.q.sq, 3, &pi), CRL_OK);
	crl_sq_put_nop(&n.q.sq, pi, 3, true, 9);
	assert_int_equal(n.q.sq.wqe[64], 0xee);
	assert_memory_equal(
		n.q.sq.wqe + 14 * 64, "\x00\x00\x0e\x00\x00\x12\x34\x0c\x00\x00\x00\x08", 12);
	for (uint32_t i = 16; i < 3 * 64; i++) /* round the end, zeroed */
		assert_int_equal(n.q.sq.wqe[(14 * 64 + i) % (16 * 64)], 0);
	crl_sq_ring(&n.q.sq);
	assert_true(fake_doorbell(&n));
	assert_int_equal(fake_send(&n, 2), 1);
	assert_int_equal(n.frames, 0);
	assert_true(n.q.sq.end[14] == 17);
	fake_close(&n);
}

/* What is reserved in an Ethernet segment is zero, whatever the flags. */
static void
eth_segment(void **state)
{
	struct crl_seg s = crl_seg_eth(CRL_ETH_L3_CSUM | CRL_ETH_L4_CSUM);
	uint8_t want[16] = {0};

	want[4] = CRL_ETH_L3_CSUM | CRL_ETH_L4_CSUM;
	assert_memory_equal(s.q, want, sizeof(want));
	s = crl_seg_eth(0x100);
	want[4] = 0;
	assert_memory_equal(s.q, want, sizeof(want));
}

/* As many as the count of segments has room for, to the last one. */
static void
empw_to_the_brim(void **state)
{
	struct crl_piece frame[CRL_EMPW_FRAMES_MAX];
	struct crl_sq sq = {.flags = CRL_SQ_EMPW, .inline_max = 972};
	uint32_t i, ds = 0;

	for (i = 0; i < CRL_EMPW_FRAMES_MAX; i++)
		frame[i] = (struct crl_piece){NULL, 0, 60, 0}; /* four segments inlined, each */
	assert_int_equal(crl_empw_fit(&sq, frame, CRL_EMPW_FRAMES_MAX, 64, &ds), 15);
	assert_int_equal(ds, 62);
	frame[15].len = 12; /* one */
	assert_int_equal(crl_empw_segs(12, 972), 1);
	assert_int_equal(crl_empw_fit(&sq, frame, CRL_EMPW_FRAMES_MAX, 64, &ds), 16);
	assert_int_equal(ds, 63);
	assert_int_equal(crl_empw_fit(&sq, frame, CRL_EMPW_FRAMES_MAX, 16, &ds), 16);
	assert_int_equal(crl_empw_fit(&sq, frame, CRL_EMPW_FRAMES_MAX, 15, &ds), 14);
	assert_int_equal(ds, 58);
	sq.flags = 0;
	assert_int_equal(crl_empw_fit(&sq, frame, CRL_EMPW_FRAMES_MAX, 64, &ds), 0);
}

/* NOPs count by their WQEBBs: one that brings them to signal_every asks for its CQE. */
static void
nops_ask(void **state)
{
	struct crl_wqe_ctrl c;
	struct fake_nic n;
	uint32_t since = 0;
	uint64_t pi = 0;

	(void)state;
	fake_open(&n, 6, 3, 64, false);
	n.q.sq.signal_every = 8;
	for (uint32_t i = 0; i < 12u; i++) {
		uint32_t bbs = i % 3u + 1u;
		bool asks = since + bbs >= 8u || i == 1u;

		assert_int_equal(crl_sq_reserve(&n.q.sq, bbs, &pi), CRL_OK);
		crl_sq_put_nop(&n.q.sq, pi, bbs, i == 1u, i);
		memcpy(&c, n.q.sq.wqe + pi * CRL_WQEBB_BYTES, sizeof(c));
		assert_int_equal(
			crl_wqe_ce(&c), asks ? CRL_WQE_CE_ALWAYS : CRL_WQE_CE_ON_FIRST_ERR);
		since = asks ? 0 : since + bbs;
		assert_int_equal(n.q.sq.unsignalled, since);
	}
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reserve_returns),
		cmocka_unit_test(send_bytes),
		cmocka_unit_test(gather_round_the_end),
		cmocka_unit_test(empw_round_the_end),
		cmocka_unit_test(empw_limits),
		cmocka_unit_test(doorbell),
		cmocka_unit_test(signalling),
		cmocka_unit_test(nop),
		cmocka_unit_test(eth_segment),
		cmocka_unit_test(empw_to_the_brim),
		cmocka_unit_test(nops_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
