/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each writer of WQEs writes the segments that its control segment counts, whole, and no byte of
 * the ring beside them, wherever in the ring the WQE begins.
 */
#include "fake_nic.h"

#include "gpu_queues/qp_post.h"
#include "gpu_queues/sq_post.h"
#include "gpu_queues/sq_reserve.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends),
		cmocka_unit_test(multi_packet),
		cmocka_unit_test(nops),
		cmocka_unit_test(writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
