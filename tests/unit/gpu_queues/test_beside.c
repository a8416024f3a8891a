/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each writer of WQEs writes the segments that its control segment counts, whole, and no byte of
 * the ring beside them, wherever in the ring the WQE begins. A warp's writers also fill the rest of
 * each WQEBB with zeros, and stay within the WQEBBs that are theirs.
 */
#include "fake_nic.h"

#include "gpu_queues/qp_post.h"
#include "gpu_queues/sq_post.h"
#include "gpu_queues/sq_reserve.h"
#include "gpu_queues/sq_warp.h"

#define LOG  4u
#define RING (64u << LOG)

static uint8_t data[2048];

/* The ring after one WQE at index pi: its ds units of 16 bytes were written, all else is 0xee. */
static void
check(struct fake_nic *n, uint64_t pi, uint32_t ds)
{
	const uint8_t *ring = n->q.sq.wqe;
	uint32_t at = (uint32_t)(pi * 64u % RING), i, said = ring[at + 7] & 0x3fu;

	assert_int_equal(said, ds);
	for (i = ds * 16u; i < RING; i++)
		assert_int_equal(ring[(at + i) % RING], 0xee);
	assert_true(n->q.sq.posted == pi + (ds + 3u) / 4u);
	assert_true(n->q.sq.end[pi % (1u << LOG)] == n->q.sq.posted);
}

/* A queue whose next WQE begins at index begin. */
static void
open_at(struct fake_nic *n, uint64_t begin, uint32_t wqebbs, uint64_t *pi)
{
	struct crl_sq *sq = &n->q.sq;

	fake_open(n, LOG, 4, 128, true);
	sq->pi = sq->posted = sq->rung = sq->completed = sq->ci = begin;
	memset(sq->wqe, 0xee, RING);
	assert_int_equal(crl_sq_reserve(sq, wqebbs, pi), CRL_OK);
}

static void
sends(void **state)
{
	struct crl_piece p[16];
	struct fake_nic n;
	uint64_t pi = 0, begin;
	uint32_t nr, i;

	for (nr = 1; nr <= 14; nr++)
		for (begin = 12; begin < 18; begin++) {
			for (i = 0; i < nr; i++)
				p[i] = (struct crl_piece){NULL, FAKE_IOVA, 60, FAKE_LKEY};
			open_at(&n, begin, crl_wqebbs(2 + nr), &pi);
			crl_sq_put_send(&n.q.sq, pi, p, nr, 0, true, 0);
			check(&n, pi, 2 + nr);
			fake_close(&n);
		}
}

static void
multi_packet(void **state)
{
	struct crl_piece p[8];
	struct fake_nic n;
	uint64_t pi = 0, begin;
	uint32_t len, ds = 0, i;

	for (len = 1; len < 90; len++)
		for (begin = 12; begin < 18; begin++) {
			for (i = 0; i < 3; i++)
				p[i] = (struct crl_piece){data, FAKE_IOVA, len + i, FAKE_LKEY};
			open_at(&n, begin, 8, &pi);
			n.q.sq.inline_max = 64;
			assert_int_equal(crl_empw_fit(&n.q.sq, p, 3, 8, &ds), 3);
			crl_sq_put_empw(&n.q.sq, pi, p, 3, 0, true, 0);
			check(&n, pi, ds);
			fake_close(&n);
		}
}

static void
nops(void **state)
{
	struct fake_nic n;
	uint64_t pi = 0, begin;
	uint32_t len;

	for (len = 1; len <= 15; len++)
		for (begin = 12; begin < 18; begin++) {
			open_at(&n, begin, len, &pi);
			crl_sq_put_nop(&n.q.sq, pi, len, true, 0);
			check(&n, pi, 4 * len);
			fake_close(&n);
		}
}

static void
writes(void **state)
{
	struct crl_write w = {.raddr = 0x1234, .rkey = 0x55};
	struct fake_nic n;
	uint64_t pi = 0, begin;
	uint32_t len, ds;

	for (len = 1; len < 90; len++)
		for (begin = 12; begin < 18; begin++) {
			w.src = (struct crl_piece){data, FAKE_IOVA, len, FAKE_LKEY};
			ds = len <= 64 ? 2 + (len + 4 + 15) / 16 : 3;
			open_at(&n, begin, (ds + 3) / 4, &pi);
			crl_qp_put_write(&n.q.sq, pi, &w, 64, true, 0);
			check(&n, pi, ds);
			fake_close(&n);
		}
}

/* Of a warp: zeros behind each WQE's ds segments up to its WQEBB's end, 0xee behind the last. */
static void
check_warp(struct fake_nic *n, uint64_t pi, uint64_t end)
{
	const uint8_t *ring = n->q.sq.wqe;
	uint64_t at = pi;
	uint32_t ds, i;

	assert_true(n->q.sq.posted == end);
	while (at < end) {
		ds = ring[at * 64u % RING + 7] & 0x3fu;
		for (i = ds * 16u; i % 64u != 0; i++)
			assert_int_equal(ring[(at * 64u + i) % RING], 0);
		at += (ds + 3u) / 4u;
	}
	assert_true(at == end);
	for (i = 0; i < RING - (uint32_t)(end - pi) * 64u; i++)
		assert_int_equal(ring[(end * 64u + i) % RING], 0xee);
	assert_true(n->q.sq.cookie[end % (1u << LOG)] == 0);
}

static void
warp_sends(void **state)
{
	struct crl_piece p[CRL_WARP_SENDS];
	uint64_t pi = 0, cookie[CRL_WARP_SENDS];
	uint32_t nr, i, lane, signals;
	struct fake_nic n;

	for (nr = 1; nr <= CRL_WARP_SENDS; nr++) {
		for (i = 0; i < CRL_WARP_SENDS; i++) {
			p[i] = (struct crl_piece){data, FAKE_IOVA, 60, FAKE_LKEY};
			cookie[i] = 7 + i;
		}
		open_at(&n, 13, nr, &pi);
		signals = crl_warp_signals(&n.q.sq, nr);
		for (lane = 0; lane < CRL_WARP_LANES; lane++)
			crl_warp_send_lane(&n.q.sq, pi, p, nr, 0, signals, cookie, lane);
		crl_warp_send_end(&n.q.sq, pi, p, nr, signals);
		check_warp(&n, pi, pi + nr);
		fake_close(&n);
	}
}

/* Frames of all sizes, some inlined; what fits exactly is taken. */
static void
warp_mixed(void **state)
{
	struct crl_piece p[CRL_WARP_SENDS];
	uint64_t pi = 0, cookie[CRL_WARP_SENDS] = {7, 7, 7, 7, 7, 7, 7, 7};
	struct crl_warp_plan plan;
	uint32_t len, i, lane;
	struct fake_nic n;

	for (len = 14; len < 120; len++) {
		for (i = 0; i < CRL_WARP_SENDS; i++)
			p[i] = (struct crl_piece){data, FAKE_IOVA, len + i % 2u, FAKE_LKEY};
		open_at(&n, 14, 8, &pi);
		assert_true(crl_warp_mixed_plan(&n.q.sq, p, 4, 80, 8, &plan) == 4);
		assert_true(crl_warp_mixed_plan(&n.q.sq, p, 4, 80, plan.bbs, &plan) == 4);
		assert_true(crl_warp_mixed_plan(&n.q.sq, p, 4, 80, plan.bbs - 1u, &plan) == 3);
		n.q.sq.pi = pi + plan.bbs;
		for (lane = 0; lane < CRL_WARP_LANES; lane++)
			crl_warp_mixed_lane(&n.q.sq, pi, &plan, p, 80, 0, cookie, lane);
		crl_warp_plan_end(&plan, &n.q.sq, pi, CRL_OPCODE_SEND);
		check_warp(&n, pi, pi + plan.bbs);
		fake_close(&n);
	}
}

static void
warp_multi_packet(void **state)
{
	struct crl_piece p[6];
	struct crl_warp_fit fit;
	uint64_t pi = 0;
	uint32_t len, i, lane;
	struct fake_nic n;

	for (len = 1; len < 90; len++) {
		for (i = 0; i < 6; i++)
			p[i] = (struct crl_piece){data, FAKE_IOVA, len + i, FAKE_LKEY};
		open_at(&n, 12, 12, &pi);
		n.q.sq.inline_max = 64;
		assert_true(crl_warp_empw_fit(&n.q.sq, p, 6, 12, &fit) == 6);
		n.q.sq.pi = pi + crl_wqebbs(fit.ds);
		for (lane = 0; lane < CRL_WARP_LANES; lane++)
			crl_warp_empw_lane(&n.q.sq, pi, &fit, p, 0, true, 7, lane);
		crl_warp_empw_end(&n.q.sq, pi, &fit, true);
		check_warp(&n, pi, pi + crl_wqebbs(fit.ds));
		fake_close(&n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends),
		cmocka_unit_test(multi_packet),
		cmocka_unit_test(nops),
		cmocka_unit_test(writes),
		cmocka_unit_test(warp_sends),
		cmocka_unit_test(warp_mixed),
		cmocka_unit_test(warp_multi_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
