/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_warp.h against sq_post.h: two queues in the same state, the same random frames, one written by
 * 32 lanes in a random order and one by the scalar writers. All bytes that a NIC reads, and the
 * whole book of the queue, must be equal.
 */
#include "fake_nic.h"

#include "gpu_queues/sq_doorbell.h"
#include "gpu_queues/sq_reserve.h"
#include "gpu_queues/sq_warp.h"

static uint64_t seed;

static uint64_t
rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void
shuffle(uint8_t *order)
{
	uint32_t i, k;
	uint8_t t;

	for (i = 0; i < CRL_WARP_LANES; i++)
		order[i] = (uint8_t)i;
	for (i = CRL_WARP_LANES - 1u; i > 0; i--) {
		k = (uint32_t)(rnd() >> 9) % (i + 1u);
		t = order[i];
		order[i] = order[k];
		order[k] = t;
	}
}

/* Segments of the WQE at pi, and the tables' entries for it. */
static void
same_wqe(const struct crl_sq *a, const struct crl_sq *b, uint64_t pi, uint32_t ds)
{
	uint32_t k, slot = crl_ring_slot(pi, a->log_depth);

	for (k = 0; k < ds; k++)
		assert_memory_equal(crl_sq_seg(a, pi, k), crl_sq_seg(b, pi, k), 16);
	assert_int_equal(a->cookie[slot], b->cookie[slot]);
	assert_int_equal(a->end[slot], b->end[slot]);
}

static void
same_book(const struct crl_sq *a, const struct crl_sq *b)
{
	assert_int_equal(a->posted, b->posted);
	assert_int_equal(a->signalled, b->signalled);
	assert_int_equal(a->unsignalled, b->unsignalled);
	assert_int_equal(a->last, b->last);
	assert_int_equal(a->db, b->db);
}

/* Both queues as they are after any number of WQEs, with room for all. */
static void
forward_to(struct crl_sq *sq, uint64_t at, uint32_t unsignalled)
{
	sq->pi = sq->posted = sq->rung = sq->completed = sq->ci = sq->signalled = at;
	sq->unsignalled = unsignalled;
}

static void
random_frames(struct crl_piece *frame, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		frame[i] = (struct crl_piece){
			NULL, rnd(), 1u + (uint32_t)(rnd() >> 40), (uint32_t)(rnd() >> 32)};
}

static void
equal(uint32_t log, uint32_t rounds, bool empw)
{
	struct crl_piece frame[CRL_WARP_LANES];
	uint64_t cookie[CRL_WARP_SENDS], at, pa = 0, pb = 0;
	uint32_t i, n, bbs, cs, every;
	uint8_t order[CRL_WARP_LANES];
	struct fake_nic a, b;
	bool signal;

	fake_open(&a, log, 3, 64, true);
	fake_open(&b, log, 3, 64, true);
	while (rounds-- > 0) {
		every = 1u + (uint32_t)(rnd() >> 20) % 12u;
		a.q.sq.signal_every = b.q.sq.signal_every = every;
		a.q.sq.sqn = b.q.sq.sqn = (uint32_t)(rnd() >> 40);
		at = rnd() >> (rnd() % 60u);
		i = (uint32_t)(rnd() >> 30) % every;
		forward_to(&a.q.sq, at, i);
		forward_to(&b.q.sq, at, i);
		n = 1u + (uint32_t)(rnd() >> 33) % (empw ? CRL_WARP_EMPW : CRL_WARP_SENDS);
		bbs = empw ? crl_wqebbs(2u + n) : n;
		cs = (uint32_t)(rnd() >> 50) & 0xc0u;
		signal = rnd() >> 17 & 1u;
		random_frames(frame, n);
		for (i = 0; i < CRL_WARP_SENDS; i++)
			cookie[i] = rnd();
		shuffle(order);
		assert_int_equal(crl_sq_reserve(&a.q.sq, bbs, &pa), CRL_OK);
		assert_int_equal(crl_sq_reserve(&b.q.sq, bbs, &pb), CRL_OK);
		if (empw) {
			crl_warp_empw(&a.q.sq, pa, frame, n, cs, signal, cookie[0], order);
			crl_sq_put_empw(&b.q.sq, pb, frame, n, cs, signal, cookie[0]);
			same_wqe(&a.q.sq, &b.q.sq, pa, 2u + n);
		} else {
			crl_warp_sends(&a.q.sq, pa, frame, n, cs, cookie, order);
			for (i = 0; i < n; i++)
				crl_sq_put_send(
					&b.q.sq, pb + i, &frame[i], 1, cs, false, cookie[i]);
			for (i = 0; i < n; i++)
				same_wqe(&a.q.sq, &b.q.sq, pa + i, CRL_WARP_SEND_DS);
		}
		same_book(&a.q.sq, &b.q.sq);
		crl_sq_ring(&a.q.sq);
		crl_sq_ring(&b.q.sq);
		assert_int_equal(a.uar, b.uar);
		assert_int_equal(a.sq_rec[1].be, b.sq_rec[1].be);
		assert_memory_equal(crl_sq_seg(&a.q.sq, a.q.sq.last, 0),
			crl_sq_seg(&b.q.sq, b.q.sq.last, 0), 16);
	}
	fake_close(&a);
	fake_close(&b);
}

static void
sends(void **state)
{
	seed = 0x9e3779b97f4a7c15ull;
	equal(3, 20000, false);
	equal(10, 20000, false);
}

static void
multi_packet(void **state)
{
	seed = 0xbf58476d1ce4e5b9ull;
	equal(3, 20000, true);
	equal(10, 20000, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends),
		cmocka_unit_test(multi_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
