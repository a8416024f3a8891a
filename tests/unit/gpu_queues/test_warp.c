/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_warp.h and qp_warp.h against sq_post.h and qp_post.h: two queues in the same state, the same
 * random frames, one written by 32 lanes in a random order and one by the scalar writers. All bytes
 * that a NIC reads, and the whole book of the queue, must be equal. The scalar writers' own bytes
 * are judged by test_post_peers.c and tests/golden.
 */
#include <sys/mman.h>

#include "fake_nic.h"

#include "gpu_queues/qp_warp.h"
#include "gpu_queues/sq_doorbell.h"
#include "gpu_queues/sq_reserve.h"
#include "gpu_queues/sq_warp.h"

#define BYTES_MAX 1200u /* of a frame; longer than any that is inlined */

/* What both queues are given in one round. */
struct round {
	struct crl_piece frame[CRL_BURST_MAX];
	struct crl_write write[CRL_WARP_SENDS];
	uint64_t cookie[CRL_WARP_SENDS];
	uint8_t *order; /* of CRL_WARP_LANES, behind which no memory is */
	uint32_t n, cs, inline_max;
	bool signal;
};

static uint8_t payload[4096];

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

/* Lengths from all corners: none, few and many bytes, about the limits of inlining. */
static uint32_t
random_len(uint32_t about)
{
	uint64_t r = rnd();

	if ((r & 7u) == 0)
		return 1u + (uint32_t)(r >> 20) % BYTES_MAX;
	if ((r & 7u) == 1u && about > 2u)
		return about - 2u + (uint32_t)(r >> 20) % 5u;
	return 1u + (uint32_t)(r >> 20) % 100u;
}

static void
random_piece(struct crl_piece *p, uint32_t about)
{
	*p = (struct crl_piece){payload + 2u * ((uint32_t)(rnd() >> 40) % 1400u), rnd(),
		random_len(about), (uint32_t)(rnd() >> 32)};
}

/* Both queues at the same random index, with the same constants and all room. */
static void
random_state(struct crl_sq *a, struct crl_sq *b, bool header, uint32_t inline_max)
{
	uint32_t every = 1u + (uint32_t)(rnd() >> 20) % 12u;
	uint32_t since = (uint32_t)(rnd() >> 30) % every;
	uint64_t at = rnd() >> (rnd() % 60u);

	a->signal_every = every;
	a->sqn = (uint32_t)(rnd() >> 40);
	a->inline_max = inline_max;
	a->inline_hdr = header ? CRL_INLINE_HDR_L2 : 0;
	b->signal_every = a->signal_every;
	b->sqn = a->sqn;
	b->inline_max = a->inline_max;
	b->inline_hdr = a->inline_hdr;
	forward_to(a, at, since);
	forward_to(b, at, since);
}

static void
random_round(struct round *r, uint32_t max, uint32_t inline_max)
{
	uint32_t i;

	r->n = 1u + (uint32_t)(rnd() >> 33) % max;
	r->cs = (uint32_t)(rnd() >> 50) & 0xc0u;
	r->inline_max = inline_max;
	r->signal = rnd() >> 17 & 1u;
	for (i = 0; i < r->n; i++)
		random_piece(&r->frame[i], inline_max);
	for (i = 0; i < r->n && i < CRL_WARP_SENDS; i++) {
		r->cookie[i] = rnd();
		r->write[i] = (struct crl_write){r->frame[i], rnd(), (uint32_t)(rnd() >> 32), 0};
	}
	shuffle(r->order);
}

static uint64_t
reserve(struct crl_sq *a, struct crl_sq *b, uint32_t bbs)
{
	uint64_t pa = 0, pb = 1;

	assert_int_equal(crl_sq_reserve(a, bbs, &pa), CRL_OK);
	assert_int_equal(crl_sq_reserve(b, bbs, &pb), CRL_OK);
	assert_int_equal(pa, pb);
	return pa;
}

/* SENDs of one WQEBB, four lanes each. */
static void
do_sends(struct crl_sq *a, struct crl_sq *b, struct round *r)
{
	uint64_t pi = reserve(a, b, r->n);
	uint32_t i, hdr;

	crl_warp_sends(a, pi, r->frame, r->n, r->cs, r->cookie, r->order);
	for (i = 0; i < r->n; i++)
		crl_sq_put_send(b, pi + i, &r->frame[i], 1, r->cs, false, r->cookie[i]);
	for (i = 0; i < r->n; i++) {
		hdr = crl_send_hdr(a, r->frame[i].len);
		same_wqe(a, b, pi + i, crl_send_ds(hdr, r->frame[i].len, 1));
	}
}

/* SENDs of any size. */
static void
do_mixed(struct crl_sq *a, struct crl_sq *b, struct round *r)
{
	struct crl_warp_plan plan;
	uint32_t i,
		n = crl_warp_mixed_plan(a, r->frame, r->n, r->inline_max, crl_sq_room(a), &plan);
	uint64_t pi, at;

	if (n == 0) { /* the first is larger than the whole ring */
		assert_true(plan.bbs == 0 && r->frame[0].len > 400u && a->log_depth == 3u);
		return;
	}
	pi = reserve(a, b, plan.bbs);
	crl_warp_mixed(a, pi, &plan, r->frame, r->inline_max, r->cs, r->cookie, r->order);
	for (i = 0; i < n; i++) {
		at = b->posted;
		if (r->frame[i].len <= r->inline_max)
			crl_sq_put_send_inline(b, at, &r->frame[i], r->cs, false, r->cookie[i]);
		else
			crl_sq_put_send(b, at, &r->frame[i], 1, r->cs, false, r->cookie[i]);
		same_wqe(a, b, at, plan.ds[i]);
	}
	assert_true(n == r->n || crl_sq_room(a) < 16u); /* the next one did not fit */
}

static void
do_empw(struct crl_sq *a, struct crl_sq *b, struct round *r)
{
	struct crl_warp_fit fit;
	uint32_t ds = 0, n = crl_empw_fit(b, r->frame, r->n, crl_sq_room(b), &ds);
	uint64_t pi;

	assert_int_equal(crl_warp_empw_fit(a, r->frame, r->n, crl_sq_room(a), &fit), n);
	if (n == 0)
		return;
	assert_int_equal(fit.ds, ds);
	pi = reserve(a, b, crl_wqebbs(ds));
	crl_warp_empw(a, pi, &fit, r->frame, r->cs, r->signal, r->cookie[0], r->order);
	crl_sq_put_empw(b, pi, r->frame, n, r->cs, r->signal, r->cookie[0]);
	same_wqe(a, b, pi, ds);
}

static void
do_writes(struct crl_sq *a, struct crl_sq *b, struct round *r)
{
	struct crl_warp_plan plan;
	uint32_t i,
		n = crl_warp_write_plan(a, r->write, r->n, r->inline_max, crl_sq_room(a), &plan);
	uint64_t pi, at;

	if (n == 0)
		return;
	assert_true(n == r->n || (n < r->n && crl_sq_room(a) - plan.bbs < 16u));
	pi = reserve(a, b, plan.bbs);
	crl_warp_writes(a, pi, &plan, r->write, r->inline_max, r->cookie, r->order);
	for (i = 0; i < n; i++) {
		at = b->posted;
		crl_qp_put_write(b, at, &r->write[i], r->inline_max, false, r->cookie[i]);
		same_wqe(a, b, at, plan.ds[i]);
	}
}

/* What stands before and after each round in both rings is the same, and stays so. */
static void
equal(uint32_t log, uint32_t rounds, uint32_t max, uint32_t inline_most, bool header,
	void (*write)(struct crl_sq *, struct crl_sq *, struct round *))
{
	struct fake_nic a, b;
	struct round r;
	uint32_t i, inline_max, wqes = 0;
	uint8_t *pages =
		mmap(NULL, 2u * 4096u, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0);
	r.order = pages + 4096 - CRL_WARP_LANES;
	for (i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)rnd();
	fake_open(&a, log, 3, 64, true);
	fake_open(&b, log, 3, 64, true);
	while (rounds-- > 0) {
		inline_max = inline_most != 0 ? (uint32_t)(rnd() >> 40) % (inline_most + 1u) : 0;
		random_state(&a.q.sq, &b.q.sq, header && (rnd() & 1u), inline_max);
		random_round(&r, max, inline_max);
		write(&a.q.sq, &b.q.sq, &r);
		same_book(&a.q.sq, &b.q.sq);
		a.uar = b.uar = 0;
		wqes += crl_sq_ring(&a.q.sq);
		crl_sq_ring(&b.q.sq);
		assert_int_equal(a.uar, b.uar);
		assert_int_equal(a.sq_rec[1].be, b.sq_rec[1].be);
		if (a.q.sq.posted != a.q.sq.ci)
			assert_memory_equal(crl_sq_seg(&a.q.sq, a.q.sq.last, 0),
				crl_sq_seg(&b.q.sq, b.q.sq.last, 0), 16);
	}
	assert_true(wqes > 1000u);
	munmap(pages, 2u * 4096u);
	fake_close(&a);
	fake_close(&b);
}

static void
sends(void **state)
{
	seed = 0x9e3779b97f4a7c15ull;
	equal(3, 20000, CRL_WARP_SENDS, 0, true, do_sends);
	equal(10, 20000, CRL_WARP_SENDS, 0, true, do_sends);
}

static void
mixed(void **state)
{
	seed = 0x2545f4914f6cdd1dull;
	equal(3, 10000, CRL_WARP_SENDS, CRL_INLINE_SEND_MAX, true, do_mixed);
	equal(10, 10000, CRL_WARP_SENDS, CRL_INLINE_SEND_MAX, true, do_mixed);
}

static void
multi_packet(void **state)
{
	seed = 0xbf58476d1ce4e5b9ull;
	equal(3, 10000, CRL_BURST_MAX, 0, false, do_empw);
	equal(10, 10000, CRL_BURST_MAX, 0, false, do_empw);
	equal(3, 10000, CRL_BURST_MAX, CRL_INLINE_WRITE_MAX, false, do_empw);
	equal(10, 10000, CRL_BURST_MAX, CRL_INLINE_WRITE_MAX, false, do_empw);
}

static void
writes(void **state)
{
	seed = 0x94d049bb133111ebull;
	equal(3, 10000, CRL_WARP_SENDS, CRL_INLINE_WRITE_MAX, false, do_writes);
	equal(10, 10000, CRL_WARP_SENDS, CRL_INLINE_WRITE_MAX, false, do_writes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends),
		cmocka_unit_test(mixed),
		cmocka_unit_test(multi_packet),
		cmocka_unit_test(writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
