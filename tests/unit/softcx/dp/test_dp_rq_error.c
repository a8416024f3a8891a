/* SPDX-License-Identifier: BSD-3-Clause */
/* Each way in which a receive WQE fails, what is flushed, and a record that runs ahead. */
#include "rig.h"

static void
put_seg(uint8_t *w, uint32_t len, uint32_t key, uint64_t addr)
{
	uint32_t v[4] = {__builtin_bswap32(len), __builtin_bswap32(key),
		__builtin_bswap32((uint32_t)(addr >> 32)), __builtin_bswap32((uint32_t)addr)};

	memcpy(w, v, 16);
}

/* A failing WQE: error CQE with its index, then everything posted comes back flushed. */
static void
fail_case(struct rig_port *f, uint32_t len, enum scx_dp_refuse why, uint8_t syndrome)
{
	const uint8_t *e;
	uint32_t i;

	rig_udp4(f->r->mem, len, 5, 6);
	rig_send(&f->sq, 0, len, 1, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	assert_int_equal(f->r->nr_reports, 2);
	assert_int_equal(f->r->report[1].kind, SCX_DP_QUEUE_ERROR);
	assert_int_equal(f->r->report[1].num, f->rq.rqn);
	assert_int_equal(f->r->report[1].value[0], syndrome);
	assert_int_equal(f->r->report[1].value[1], 1);
	assert_memory_equal(f->r->report[0].bytes, f->rq.ring, 16);
	rig_expect_refusal(f->r, why);
	rig_expect_error(&f->rx_cq, 0xe, 0, syndrome);
	for (i = 1; i < 128; i++)
		rig_expect_error(&f->rx_cq, 0xe, (uint16_t)i, 0x05);
	e = rig_cqe(&f->rx_cq);
	assert_null(e);
	/* in ERR it takes nothing */
	rig_send(&f->sq, 0, 64, 1, 0);
	rig_go(f);
	assert_null(rig_cqe(&f->rx_cq));
}

static void
test_too_long(void **state)
{
	struct rig_port *f = *state;

	put_seg(f->rq.ring, 99, RIG_KEY, RIG_IOVA + RIG_RX_BASE);
	fail_case(f, 100, SCX_DP_R_RQ_TOO_LONG, 0x01);
}

static void
test_bad_key(void **state)
{
	struct rig_port *f = *state;

	put_seg(f->rq.ring, 2048, RIG_KEY + 1, RIG_IOVA + RIG_RX_BASE); /* another variant */
	fail_case(f, 100, SCX_DP_R_RQ_KEY, 0x04);
}

static void
test_bounds(void **state)
{
	struct rig_port *f = *state;

	put_seg(f->rq.ring, 2048, RIG_KEY, RIG_IOVA + RIG_MEM - 99);
	fail_case(f, 100, SCX_DP_R_RQ_BOUNDS, 0x04);
}

static void
test_below(void **state)
{
	struct rig_port *f = *state;

	put_seg(f->rq.ring, 2048, RIG_KEY, RIG_IOVA - 1);
	fail_case(f, 100, SCX_DP_R_RQ_BOUNDS, 0x04);
}

static void
test_inline_bit(void **state)
{
	struct rig_port *f = *state;

	put_seg(f->rq.ring, 0x80000000u | 2048, RIG_KEY, RIG_IOVA);
	fail_case(f, 100, SCX_DP_R_RQ_INLINE, 0x02);
}

static void
test_read_only_key(void **state)
{
	struct rig_port *f = *state;
	struct scx_dp_cmd c = {.op = SCX_DP_MKEY_SET};

	c.u.mkey.key = 0x3301;
	c.u.mkey.pdn = RIG_PD;
	c.u.mkey.bytes = RIG_MEM;
	c.u.mkey.base = f->r->mem;
	assert_int_equal(scx_dp_apply(f->r->dp, &c), 0);
	put_seg(f->rq.ring, 2048, 0x3301, 0);
	fail_case(f, 100, SCX_DP_R_RQ_ACCESS, 0x04);
}

static void
test_record_overrun(void **state)
{
	struct rig_port *f = *state;

	rig_udp4(f->r->mem, 64, 5, 6);
	f->rq.rec[0] = __builtin_bswap32(257); /* of 256 */
	rig_send(&f->sq, 0, 64, 1, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	rig_expect_refusal(f->r, SCX_DP_R_RQ_RECORD_OVERRUN);
	assert_null(rig_cqe(&f->rx_cq));
}

/*
 * A record that cannot be, seen in the middle of a group of frames: what was seen posted before is
 * good yet, and the first frame that finds nothing of it fails the queue.
 */
static void
record_case(struct rig_port *f, uint32_t record)
{
	uint8_t *p = rig_udp4(f->r->mem, 64, 5, 6);
	uint32_t i;

	f->rq.rec[0] = __builtin_bswap32(3);
	rig_send(&f->sq, 0, 64, 1, 0);
	rig_go(f);
	rig_expect_frame(f, p, 64);
	f->rq.rec[0] = __builtin_bswap32(record);
	for (i = 0; i < 5; i++)
		rig_send(&f->sq, 0, 64, 1, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	rig_expect_refusal(f->r, SCX_DP_R_RQ_RECORD_OVERRUN);
	for (i = 1; i < 3; i++)
		assert_int_equal(rig_cqe_counter(rig_expect_frame(f, p, 64)), i);
	assert_null(rig_cqe(&f->rx_cq));
}

static void
test_record_back(void **state)
{
	record_case(*state, 2);
}

static void
test_record_back_to_the_next(void **state)
{
	record_case(*state, 1);
}

static void
test_record_ahead_of_the_group(void **state)
{
	record_case(*state, 300);
}

/* The WQE that fails in such a group fails as ever, and what was seen posted is flushed. */
static void
test_record_back_and_flush(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 100, 5, 6);
	uint32_t i;

	put_seg(f->rq.ring + 16, 99, RIG_KEY, RIG_IOVA + RIG_RX_BASE);
	f->rq.rec[0] = __builtin_bswap32(4);
	rig_send(&f->sq, 0, 100, 1, 0);
	rig_go(f);
	rig_expect_frame(f, p, 100);
	f->rq.rec[0] = __builtin_bswap32(1);
	for (i = 0; i < 5; i++)
		rig_send(&f->sq, 0, 100, 1, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	rig_expect_refusal(f->r, SCX_DP_R_RQ_TOO_LONG);
	rig_expect_error(&f->rx_cq, 0xe, 1, 0x01);
	rig_expect_error(&f->rx_cq, 0xe, 2, 0x05);
	rig_expect_error(&f->rx_cq, 0xe, 3, 0x05);
	assert_null(rig_cqe(&f->rx_cq));
}

/* What was flushed was given back: no later frame touches those buffers. */
static void
test_flushed_are_let_go(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 64, 5, 6), *buffers = f->r->mem + RIG_RX_BASE;
	uint32_t i;

	memset(buffers, 0x5a, 4 * RIG_RX_SIZE);
	f->rq.rec[0] = __builtin_bswap32(3);
	rig_send(&f->sq, 0, 64, 1, 0);
	rig_go(f);
	rig_expect_frame(f, p, 64);
	assert_int_equal(rig_apply(f->r, SCX_DP_RQ_STATE, f->rq.rqn, 3), 0);
	for (i = 1; i < 3; i++)
		rig_expect_error(&f->rx_cq, 0xe, (uint16_t)i, 0x05);
	assert_int_equal(rig_apply(f->r, SCX_DP_RQ_STATE, f->rq.rqn, 1), 0);
	f->rq.rec[0] = __builtin_bswap32(4);
	rig_send(&f->sq, 0, 64, 1, 0);
	rig_go(f);
	assert_int_equal(rig_cqe_counter(rig_expect_frame(f, p, 64)), 3);
	for (i = RIG_RX_SIZE; i < 3 * RIG_RX_SIZE; i++)
		assert_int_equal(buffers[i], 0x5a);
}

/* A deleted key is gone at once, for a queue that used it a moment ago too. */
static void
test_key_deleted(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 64, 5, 6);

	rig_empw_inline(&f->sq, p, 64, 1);
	rig_go(f);
	rig_expect_frame(f, p, 64);
	assert_int_equal(rig_apply(f->r, SCX_DP_MKEY_DEL, RIG_KEY, 0), 0);
	assert_int_equal(rig_apply(f->r, SCX_DP_MKEY_DEL, RIG_KEY, 0), -2);
	rig_empw_inline(&f->sq, p, 64, 1);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	rig_expect_refusal(f->r, SCX_DP_R_RQ_KEY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, rig_port_setup, rig_port_teardown)
		T(test_too_long),
		T(test_bad_key),
		T(test_bounds),
		T(test_below),
		T(test_inline_bit),
		T(test_read_only_key),
		T(test_record_overrun),
		T(test_record_back),
		T(test_record_back_to_the_next),
		T(test_record_ahead_of_the_group),
		T(test_record_back_and_flush),
		T(test_flushed_are_let_go),
		T(test_key_deleted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
