/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_share.h: the rules one by one, and four producers as threads against a NIC thread, where every
 * frame leaves and comes back exactly once and in its producer's order.
 */
#include "fake_nic.h"

#include <pthread.h>
#include <sched.h>

#include "gpu_queues/sq_share.h"

#define PRODUCERS 4u
#define FRAMES	  100000u
#define TURN_NS	  20000000000u

static void
put(struct fake_nic *n, uint64_t pi, uint64_t at, uint64_t cookie)
{
	struct crl_piece piece = {NULL, n->q.txbuf.iova + at, 64, FAKE_LKEY};

	crl_sq_put_send(&n->q.sq, pi, &piece, 1, 0, false, cookie);
}

static void
nic_turn(struct fake_nic *n)
{
	fake_doorbell(n);
	fake_send(n, 64);
}

/* Room before ticket; what can never fit; order of ranges; NOPs for a range that is given up. */
static void
rules(void **state)
{
	struct crl_sq_share sh;
	struct fake_nic n;
	uint64_t a = 0, b = 0, c = 0, cookie[8];
	uint32_t nr;

	fake_open(&n, 3, 3, 64, false);
	crl_share_init(&sh, &n.q.sq);
	assert_int_equal(crl_share_reserve(&sh, &n.q.sq, 0, &a), CRL_INVALID);
	assert_int_equal(crl_share_reserve(&sh, &n.q.sq, 9, &a), CRL_INVALID);
	assert_int_equal(crl_share_reserve(&sh, &n.q.sq, 2, &a), CRL_OK);
	assert_int_equal(crl_share_reserve(&sh, &n.q.sq, 5, &b), CRL_OK);
	assert_int_equal(crl_share_reserve(&sh, &n.q.sq, 2, &c), CRL_AGAIN);
	assert_int_equal(sh.ticket, 7); /* a refusal takes nothing */
	assert_int_equal(crl_share_reserve(&sh, &n.q.sq, 1, &c), CRL_OK);
	assert_true(a == 0 && b == 2 && c == 7);
	assert_int_equal(crl_share_enter(&sh, &n.q.sq, n.error, a, 2, 0), CRL_OK);
	put(&n, 0, 0, 1);
	put(&n, 1, 64, 2);
	crl_share_leave(&sh, &n.q.sq, 2, false);
	assert_int_equal(crl_share_abandon(&sh, &n.q.sq, n.error, b, 5, 0), CRL_OK);
	assert_int_equal(crl_share_enter(&sh, &n.q.sq, n.error, c, 1, 0), CRL_OK);
	put(&n, 7, 128, 3);
	crl_share_leave(&sh, &n.q.sq, 8, true);
	n.threaded = true; /* two rings, one look */
	nic_turn(&n);
	assert_int_equal(n.frames, 3);
	assert_int_equal(crl_share_poll(&sh, &n.q.sq, n.error, cookie, 8, &nr), CRL_OK);
	assert_int_equal(nr, 4);
	assert_true(cookie[0] == 1 && cookie[1] == 2 && cookie[2] == 0 && cookie[3] == 3);
	assert_int_equal(crl_share_reserve(&sh, &n.q.sq, 8, &a), CRL_OK);
	assert_int_equal(crl_share_poll(&sh, &n.q.sq, n.error, cookie, 8, &nr), CRL_AGAIN);
	fake_close(&n);
}

/* Two seats on a ring of eight: each has four WQEBBs, whatever the other does with its own. */
static void
seats(void **state)
{
	struct crl_share_seat one, two;
	struct crl_sq_share sh;
	uint64_t pi = 0, cookie[8];
	struct fake_nic n;
	uint32_t i, nr;

	fake_open(&n, 3, 3, 64, false);
	crl_share_init(&sh, &n.q.sq);
	crl_share_seat_init(&one, &n.q.sq, 2);
	crl_share_seat_init(&two, &n.q.sq, 9); /* more seats than WQEBBs: one each */
	assert_int_equal(two.most, 1);
	crl_share_seat_init(&two, &n.q.sq, 2);
	assert_int_equal(crl_share_reserve_seat(&sh, &n.q.sq, &one, 5, &pi), CRL_INVALID);
	assert_int_equal(crl_share_reserve_seat(&sh, &n.q.sq, &one, 0, &pi), CRL_INVALID);
	for (i = 0; i < 4; i++) {
		assert_int_equal(crl_share_reserve_seat(&sh, &n.q.sq, &one, 1, &pi), CRL_OK);
		assert_int_equal(crl_share_enter(&sh, &n.q.sq, n.error, pi, 1, 0), CRL_OK);
		put(&n, pi, 0, 1);
		crl_share_leave(&sh, &n.q.sq, pi + 1, true);
	}
	assert_int_equal(crl_share_reserve_seat(&sh, &n.q.sq, &one, 1, &pi), CRL_AGAIN);
	assert_int_equal(sh.ticket, 4);
	assert_int_equal(crl_share_reserve_seat(&sh, &n.q.sq, &two, 4, &pi), CRL_OK);
	n.threaded = true;
	nic_turn(&n);
	assert_int_equal(crl_share_poll(&sh, &n.q.sq, n.error, cookie, 8, &nr), CRL_OK);
	assert_int_equal(nr, 4);
	assert_int_equal(crl_share_reserve_seat(&sh, &n.q.sq, &one, 1, &pi), CRL_AGAIN);
	crl_share_seat_back(&one, 3);
	assert_int_equal(crl_share_reserve_seat(&sh, &n.q.sq, &one, 3, &pi), CRL_OK);
	assert_int_equal(crl_share_reserve_seat(&sh, &n.q.sq, &one, 1, &pi), CRL_AGAIN);
	fake_close(&n);
}

/* A producer that is gone with a range fails the queue for those behind it, in bounded time. */
static void
lost_turn(void **state)
{
	struct crl_sq_share sh;
	struct fake_nic n;
	uint64_t a = 0, b = 0, c = 0;

	fake_open(&n, 3, 3, 64, false);
	crl_share_init(&sh, &n.q.sq);
	crl_share_reserve(&sh, &n.q.sq, 1, &a);
	crl_share_reserve(&sh, &n.q.sq, 1, &b);
	crl_share_reserve(&sh, &n.q.sq, 1, &c);
	assert_int_equal(crl_share_enter(&sh, &n.q.sq, n.error, b, 1, 1000000), CRL_STUCK);
	assert_int_equal(crl_share_enter(&sh, &n.q.sq, n.error, c, 1, TURN_NS), CRL_FAILED);
	assert_int_equal(crl_share_reserve(&sh, &n.q.sq, 1, &c), CRL_FAILED);
	assert_int_equal(n.error[0].seq, 1);
	assert_int_equal(n.error[0].kind, CRL_QERR_TURN);
	assert_int_equal(n.error[0].wqe, 1);
	/* Late after all: it may write, and nothing is rung. */
	assert_int_equal(crl_share_enter(&sh, &n.q.sq, n.error, a, 1, 0), CRL_OK);
	put(&n, a, 0, 1);
	crl_share_leave(&sh, &n.q.sq, 1, true);
	assert_int_equal(n.uar, 0);
	fake_close(&n);
}

static void
error_cqe(void **state)
{
	struct crl_sq_share sh;
	struct fake_nic n;
	uint64_t pi = 0, cookie[8];
	uint32_t nr;

	fake_open(&n, 3, 3, 64, false);
	crl_share_init(&sh, &n.q.sq);
	n.fail_at = 2;
	crl_share_reserve(&sh, &n.q.sq, 4, &pi);
	crl_share_enter(&sh, &n.q.sq, n.error, pi, 4, 0);
	for (; pi < 4; pi++)
		put(&n, pi, 0, pi + 1u);
	crl_share_leave(&sh, &n.q.sq, 4, true);
	nic_turn(&n);
	assert_int_equal(crl_share_poll(&sh, &n.q.sq, n.error, cookie, 8, &nr), CRL_FAILED);
	assert_int_equal(nr, 2); /* those before the one that failed */
	assert_int_equal(n.error[0].kind, CRL_QERR_CQE);
	assert_int_equal(n.error[0].wqe, 2);
	assert_int_equal(crl_share_reserve(&sh, &n.q.sq, 1, &pi), CRL_FAILED);
	assert_int_equal(crl_share_poll(&sh, &n.q.sq, n.error, cookie, 8, &nr), CRL_FAILED);
	assert_int_equal(nr, 0);
	fake_close(&n);
}

/* A CQE for the middle of a WQE, or for one that nobody posted, is told with its index. */
static void
odd_counter(void **state)
{
	struct crl_sq_share sh;
	struct fake_nic n;
	uint64_t pi = 0, cookie[8];
	uint32_t nr;

	fake_open(&n, 3, 3, 64, false);
	crl_share_init(&sh, &n.q.sq);
	crl_share_reserve(&sh, &n.q.sq, 3, &pi);
	crl_share_enter(&sh, &n.q.sq, n.error, pi, 3, 0);
	crl_sq_put_nop(&n.q.sq, pi, 3, true, 9);
	crl_share_leave(&sh, &n.q.sq, 3, true);
	fake_cqe(&n, false, CRL_CQE_REQ, 1, 0);
	assert_int_equal(crl_share_poll(&sh, &n.q.sq, n.error, cookie, 8, &nr), CRL_FAILED);
	assert_int_equal(nr, 0);
	assert_int_equal(n.error[0].kind, CRL_QERR_COUNTER);
	assert_int_equal(n.error[0].wqe, 1);
	fake_close(&n);
}

/* ---- Threads ---- */

struct stress {
	struct fake_nic n;
	struct crl_sq_share sh;
	uint64_t left[PRODUCERS]; /* frames that left, by producer; the NIC thread's */
	uint64_t back[PRODUCERS * FRAMES / 64u + 1u]; /* a bit a cookie that came back */
	uint64_t nr_back;
	uint32_t stop, wrong;
};

static struct stress st;

static void
on_frame(void *arg, const uint8_t *f, uint32_t len)
{
	uint64_t seq;

	(void)arg;
	memcpy(&seq, f + 8, 8);
	if (len != 64 || f[0] >= PRODUCERS || seq != st.left[f[0]]++)
		st.wrong = 1;
}

static void *
nic_main(void *arg)
{
	(void)arg;
	while (!crl_ld32(&st.stop)) { /* bound: the test's end */
		nic_turn(&st.n);
		sched_yield();
	}
	return NULL;
}

static void
reap(void)
{
	uint64_t cookie[16], bit;
	uint32_t n, i;

	crl_share_poll(&st.sh, &st.n.q.sq, st.n.error, cookie, 16, &n);
	for (i = 0; i < n; i++) {
		if (cookie[i] == 0)
			continue;
		bit = 1ull << (cookie[i] - 1u) % 64u;
		if (__atomic_fetch_or(&st.back[(cookie[i] - 1u) / 64u], bit, __ATOMIC_RELAXED) &
			bit)
			st.wrong = 1; /* twice */
		__atomic_fetch_add(&st.nr_back, 1, __ATOMIC_RELAXED);
	}
}

/* Each frame has memory of its own, written before: reuse is tests/order's subject. */
static void *
producer_main(void *arg)
{
	uint32_t p = (uint32_t)(uintptr_t)arg, n, i;
	uint64_t seq = 0, pi = 0;
	enum crl_st s;

	while (seq < FRAMES) {
		n = 1u + (uint32_t)(seq * 7u + p) % 5u;
		n = n < FRAMES - seq ? n : (uint32_t)(FRAMES - seq);
		while ((s = crl_share_reserve(&st.sh, &st.n.q.sq, n, &pi)) == CRL_AGAIN) {
			reap(); /* bound: the NIC thread sends all that was rung */
			sched_yield();
		}
		if (s != CRL_OK || (seq % 11u == 3u && n == 1u &&
					   crl_share_abandon(&st.sh, &st.n.q.sq, st.n.error, pi, n,
						   TURN_NS) != CRL_OK))
			break;
		if (seq % 11u == 3u && n == 1u)
			while (crl_share_reserve(&st.sh, &st.n.q.sq, n, &pi) == CRL_AGAIN)
				reap();
		if (crl_share_enter(&st.sh, &st.n.q.sq, st.n.error, pi, n, TURN_NS) != CRL_OK)
			break;
		for (i = 0; i < n; i++)
			put(&st.n, pi + i, ((uint64_t)p * FRAMES + seq + i) * 64u,
				(uint64_t)p * FRAMES + seq + i + 1u);
		crl_share_leave(&st.sh, &st.n.q.sq, pi + n, true);
		seq += n;
	}
	return NULL;
}

static void
exactly_once(void **state)
{
	uint64_t bytes = (uint64_t)PRODUCERS * FRAMES * 64u, i;
	pthread_t nic, p[PRODUCERS];
	uint8_t *mem, *own;

	fake_open(&st.n, 6, 3, 64, false);
	own = st.n.txmem;
	mem = aligned_alloc(64, bytes);
	for (i = 0; i < bytes / 64u; i++) {
		uint64_t seq = i % FRAMES;

		memset(mem + i * 64u, (int)(i / FRAMES), 64);
		memcpy(mem + i * 64u + 8, &seq, 8);
	}
	st.n.q.txbuf.iova = (uint64_t)(uintptr_t)mem + FAKE_IOVA;
	st.n.threaded = true;
	st.n.sink = on_frame;
	crl_share_init(&st.sh, &st.n.q.sq);
	pthread_create(&nic, NULL, nic_main, NULL);
	for (i = 0; i < PRODUCERS; i++)
		pthread_create(&p[i], NULL, producer_main, (void *)(uintptr_t)i);
	for (i = 0; i < PRODUCERS; i++)
		pthread_join(p[i], NULL);
	for (i = 0; i < 100000u && st.nr_back < PRODUCERS * FRAMES; i++) {
		reap();
		sched_yield();
	}
	crl_st32(&st.stop, 1);
	pthread_join(nic, NULL);
	assert_int_equal(st.wrong, 0);
	assert_int_equal(st.nr_back, PRODUCERS * FRAMES);
	for (i = 0; i < PRODUCERS; i++)
		assert_int_equal(st.left[i], FRAMES);
	assert_int_equal(st.sh.ticket, st.sh.ci);
	free(mem);
	st.n.txmem = own;
	fake_close(&st.n);
}

struct late {
	struct crl_sq_share sh;
	struct fake_nic n;
	enum crl_st st;
};

static void *
second(void *p)
{
	struct late *l = p;

	l->st = crl_share_enter(&l->sh, &l->n.q.sq, l->n.error, 1, 1, UINT64_MAX);
	return NULL;
}

/* However long a wait may last, it is not over before it begins. */
static void
waits_for_ever(void **state)
{
	struct timespec nap = {0, 5000000};
	static struct late l;
	pthread_t t;
	uint64_t pi;

	fake_open(&l.n, 3, 3, 64, false);
	crl_share_init(&l.sh, &l.n.q.sq);
	assert_int_equal(crl_share_reserve(&l.sh, &l.n.q.sq, 1, &pi), CRL_OK);
	assert_int_equal(crl_share_reserve(&l.sh, &l.n.q.sq, 1, &pi), CRL_OK);
	assert_int_equal(pthread_create(&t, NULL, second, &l), 0);
	nanosleep(&nap, NULL);
	assert_int_equal(crl_share_enter(&l.sh, &l.n.q.sq, l.n.error, 0, 1, 0), CRL_OK);
	put(&l.n, 0, 0, 1);
	crl_share_leave(&l.sh, &l.n.q.sq, 1, true);
	pthread_join(t, NULL);
	assert_int_equal(l.st, CRL_OK);
	fake_close(&l.n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules),
		cmocka_unit_test(seats),
		cmocka_unit_test(lost_turn),
		cmocka_unit_test(waits_for_ever),
		cmocka_unit_test(error_cqe),
		cmocka_unit_test(odd_counter),
		cmocka_unit_test(exactly_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
