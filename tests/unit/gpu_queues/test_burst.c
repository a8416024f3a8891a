/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_burst.h: all lengths at all places of a ring, by 32 lanes, against the segments of sq_post.h;
 * a lap and more against a NIC that completes; its errors. sq_combine.h: four threads on one queue
 * against a NIC thread that examines every WQE in order, so that a lost or doubled range, or one
 * that was rung for before it was written, is seen.
 */
#include "fake_nic.h"

#include <pthread.h>
#include <sched.h>

#include "gpu_queues/sq_burst.h"
#include "gpu_queues/sq_combine.h"
#include "gpu_queues/sq_doorbell.h"

#define LOG	 9u
#define DEPTH	 (1u << LOG)
#define TABLE	 1024u
#define THREADS	 4u
#define BURSTS	 3000u
#define BURST	 24u
#define WAIT_NS	 20000000000ull
#define CS_FLAGS 0xc0u

static struct crl_frame frame[2u * TABLE];

static void
fill_table(void)
{
	uint64_t x = 88172645463325252ull;

	for (uint32_t i = 0; i < TABLE; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		frame[i] = frame[i + TABLE] =
			(struct crl_frame){x, (uint32_t)(x >> 40), (uint32_t)(x >> 11)};
	}
}

/* The WQE at index, whose frame is f, as sq_post.h has it. */
static bool
right(const uint8_t *ring, uint64_t index, uint32_t sqn, struct crl_frame f, bool asks, uint32_t cs)
{
	struct crl_seg want[4] = {crl_seg_ctrl(CRL_OPCODE_SEND, index, sqn, CRL_BURST_DS,
					  asks ? CRL_WQE_CE_ALWAYS : CRL_WQE_CE_ON_FIRST_ERR),
		crl_seg_eth(cs), crl_seg_data(f.len, f.lkey, f.iova), {{0, 0}}};

	return memcmp(ring + (index & (DEPTH - 1u)) * CRL_WQEBB_BYTES, want, sizeof(want)) == 0;
}

static void
test_bytes(void **state)
{
	uint8_t *ring = aligned_alloc(64, DEPTH * 64u);
	struct crl_sq sq = {.wqe = ring, .log_depth = LOG, .sqn = 0x654321};

	(void)state;
	for (uint32_t n = 1; n <= 140u; n++)
		for (uint64_t pi = 65536u - DEPTH - 40u; pi < 65536u + 40u; pi += 1u + n % 37u) {
			memset(ring, 0xee, DEPTH * 64u);
			for (uint32_t i = CRL_BURST_LANES; i-- > 0;) {
				struct crl_burst b = crl_burst_open(&sq, CS_FLAGS, i);

				crl_burst_write(&b, (uint32_t)pi, frame, n, i);
			}
			for (uint32_t k = 0; k < n; k++)
				assert_true(right(
					ring, pi + k, sq.sqn, frame[k], k == n - 1u, CS_FLAGS));
			for (uint64_t k = pi + n; k < pi + DEPTH; k++)
				assert_int_equal(ring[(k & (DEPTH - 1u)) * 64u], 0xee);
		}
	free(ring);
}

static void
test_one(void **state)
{
	uint8_t *ring = aligned_alloc(64, DEPTH * 64u);
	struct crl_sq sq = {.wqe = ring, .log_depth = LOG, .sqn = 77, .pi = 65535};
	struct crl_burst b = crl_burst_open(&sq, CS_FLAGS, 0);

	(void)state;
	memset(ring, 0, DEPTH * 64u);
	crl_burst_write_one(&b, frame[5], CS_FLAGS);
	assert_true(right(ring, 65535, 77, frame[5], true, CS_FLAGS));
	assert_int_equal(crl_burst_db(&b, 65536),
		crl_seg_ctrl(CRL_OPCODE_SEND, 65535, 77, CRL_BURST_DS, 0).q[0]);
	free(ring);
}

static void
test_perm(void **state)
{
	(void)state;
	assert_int_equal(crl_perm(0x33221100u, 0x77665544u, 0x7531u), 0x77553311u);
	assert_int_equal(crl_perm(0x12345678u, 0, CRL_BURST_SWAP), 0x78563412u);
	assert_int_equal(crl_perm(1, 0x12345678u, CRL_BURST_KEEP), 0x12345678u);
}

/* Laps against a NIC that completes what was rung, some bursts late; then one that fails. */
static void
test_laps(void **state)
{
	struct fake_nic n;
	struct crl_sq *sq = &n.q.sq;
	struct crl_burst lane[CRL_BURST_LANES];
	uint32_t room, sent = 0;
	enum crl_st st = CRL_OK;

	(void)state;
	fake_open(&n, 6, 4, 256, false);
	for (uint32_t i = 0; i < CRL_BURST_LANES; i++)
		lane[i] = crl_burst_open(sq, 0, i);
	for (uint32_t i = 0; i < 500u && st != CRL_FAILED; i++) {
		struct crl_frame f[10];
		uint32_t len = 1u + i % 10u;

		for (uint32_t k = 0; k < len; k++)
			f[k] = (struct crl_frame){(uintptr_t)n.txmem + FAKE_IOVA, 60, FAKE_LKEY};
		while (!crl_burst_fits(&lane[0], len)) {
			st = crl_burst_room(&lane[0], sq, n.error, &room);
			if (st == CRL_FAILED)
				break;
			lane[0].room = room;
			if (st == CRL_AGAIN)
				fake_send(&n, 1000);
		}
		if (st == CRL_FAILED)
			break;
		for (uint32_t k = 0; k < CRL_BURST_LANES; k++)
			crl_burst_write(&lane[k], lane[0].pi, f, len, k);
		crl_burst_ring(&lane[0], len);
		crl_burst_next(&lane[0], len);
		assert_true(fake_doorbell(&n));
		sent += len;
		n.fail_at = i == 400u ? n.sq_told - 1u : n.fail_at;
	}
	assert_int_equal(st, CRL_FAILED);
	assert_int_equal(n.error[CRL_QERROR_SQ].seq, 1);
	assert_int_equal(n.error[CRL_QERROR_SQ].kind, CRL_QERR_CQE);
	assert_true(sent > 2000);
	fake_close(&n);
}

/* ---- combine ---- */

struct combined {
	struct crl_sq sq;
	struct crl_sq_combine words;
	struct crl_qerror error;
	CRL_ALIGNAS(64) crl_be32 dbrec[16];
	CRL_ALIGNAS(64) uint64_t uar[8];
	CRL_ALIGNAS(64) uint8_t ring[DEPTH * 64u];
	CRL_ALIGNAS(64) uint8_t cqe[DEPTH * 64u];
	uint64_t book[2u * DEPTH];
	struct crl_burst lane[CRL_BURST_LANES]; /* as opened */
	uint64_t wrong, seen;
	uint32_t failed;
	bool leave_out; /* the third thread gives its range up: nobody may go on for ever */
};

static void *
combine_nic(void *arg)
{
	struct combined *c = arg;
	uint64_t want = (uint64_t)THREADS * BURSTS * BURST, end = crl_now_ns() + WAIT_NS, told;
	uint64_t cqes = 0;

	while (c->seen < want && crl_now_ns() < end && !crl_ld32(&c->failed)) {
		told = crl_index_from16(
			c->seen, (uint16_t)crl_bswap32(crl_ld32(&c->dbrec[CRL_DBREC_SND_WORD])));
		crl_order_cqe_before_payload();
		for (; c->seen < told; c->seen++) {
			bool asks = (c->seen + 1u) % BURST == 0;
			uint8_t *at = c->cqe + (cqes & (DEPTH - 1u)) * 64u;

			c->wrong +=
				!right(c->ring, c->seen, 9, frame[c->seen & (TABLE - 1u)], asks, 0);
			if (!asks)
				continue;
			crl_order_reads_before_giveback();
			crl_st32(at + CRL_CQE_TAIL, (uint32_t)crl_bswap16(crl_index16(c->seen)) |
							    (uint32_t)(cqes >> LOG & 1u) << 24);
			cqes++;
		}
		sched_yield();
	}
	return NULL;
}

static void *
combine_producer(void *arg)
{
	struct combined *c = arg;
	uint64_t pi, number, ci_seen = 0, end = crl_now_ns() + WAIT_NS;
	uint64_t wait = c->leave_out ? 20000000u : WAIT_NS;
	enum crl_st st = CRL_OK;

	for (uint32_t i = 0; i < BURSTS; i++) {
		while ((st = crl_combine_reserve(&c->words, LOG, BURST, &pi, &number, &ci_seen)) ==
				CRL_AGAIN &&
			crl_now_ns() < end) {
			crl_combine_idle(&c->words, &c->sq, &c->error, wait);
			sched_yield(); /* fewer cores than threads */
		}
		if (st != CRL_OK)
			break;
		for (uint32_t k = 0; k < CRL_BURST_LANES; k++)
			crl_burst_write(
				&c->lane[k], (uint32_t)pi, frame + (pi & (TABLE - 1u)), BURST, k);
		if (c->leave_out && number == 100u)
			break; /* gone with its range */
		st = crl_combine_publish(&c->words, &c->sq, &c->error, number, pi, BURST, wait);
		if (st != CRL_OK)
			break;
	}
	if (st != CRL_OK)
		crl_st32(&c->failed, 1);
	return NULL;
}

static struct combined *
combine_run(bool leave_out)
{
	struct combined *c = aligned_alloc(64, (sizeof(*c) + 63u) & ~(size_t)63u);
	pthread_t nic, t[THREADS];

	memset(c, 0, sizeof(*c));
	c->leave_out = leave_out;
	c->sq.wqe = c->ring;
	c->sq.dbrec = c->dbrec;
	c->sq.uar = c->uar;
	c->sq.cookie = c->book;
	c->sq.end = c->book + DEPTH;
	c->sq.log_depth = c->sq.cq.log_depth = LOG;
	c->sq.sqn = 9;
	c->sq.signal_every = DEPTH / 4u;
	c->sq.cq.cqe = (struct crl_cqe64 *)c->cqe;
	c->sq.cq.flags = CRL_CQ_OVERRUN_IGNORE;
	crl_cq_fill(c->cqe, LOG);
	crl_sq_reset(&c->sq);
	crl_combine_init(&c->words, &c->sq, THREADS, BURST, false);
	for (uint32_t k = 0; k < CRL_BURST_LANES; k++)
		c->lane[k] = crl_burst_open(&c->sq, 0, k);
	assert_int_equal(pthread_create(&nic, NULL, combine_nic, c), 0);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, combine_producer, c), 0);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	pthread_join(nic, NULL);
	return c;
}

static void
test_combine(void **state)
{
	struct combined *c = combine_run(false);

	(void)state;
	assert_int_equal(c->failed, 0);
	assert_int_equal(c->wrong, 0);
	assert_int_equal(c->seen, (uint64_t)THREADS * BURSTS * BURST);
	assert_int_equal(c->words.unrung, 0);
	free(c);
}

static void
test_combine_gone(void **state)
{
	struct combined *c = combine_run(true);

	(void)state;
	assert_int_equal(c->failed, 1);
	assert_int_equal(c->wrong, 0);
	assert_true(c->seen <= 100u * BURST);
	assert_int_equal(c->error.kind, CRL_QERR_TURN);
	free(c);
}

static void
test_combine_refuses(void **state)
{
	struct crl_sq sq = {.log_depth = LOG};
	struct crl_sq_combine c;
	uint64_t pi, number, seen = 0;
	uint32_t i;

	(void)state;
	crl_combine_init(&c, &sq, 2, 16, false);
	assert_int_equal(crl_combine_reserve(&c, LOG, 0, &pi, &number, &seen), CRL_INVALID);
	assert_int_equal(crl_combine_reserve(&c, LOG, 17, &pi, &number, &seen), CRL_INVALID);
	for (i = 0; crl_combine_reserve(&c, LOG, 16, &pi, &number, &seen) == CRL_OK; i++) {
		assert_int_equal(pi, i * 16u);
		assert_int_equal(number, i);
	}
	/* 32 bursts fill the ring; two could be taken at once by two producers. */
	assert_int_equal(i, DEPTH / 16u - 1u);
	c.failed = 1;
	assert_int_equal(crl_combine_reserve(&c, LOG, 16, &pi, &number, &seen), CRL_FAILED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_perm),
		cmocka_unit_test(test_laps),
		cmocka_unit_test(test_combine),
		cmocka_unit_test(test_combine_gone),
		cmocka_unit_test(test_combine_refuses),
	};

	fill_table();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
