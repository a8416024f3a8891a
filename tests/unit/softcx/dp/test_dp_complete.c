/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion queues: owner bit over laps, collapsed, overrun and its neglect, arming and events,
 * the bytes that a driver has to put there first; send errors, what they carry and what is flushed.
 */
#include "rig.h"

static void
nops(struct rig_port *f, uint32_t n, uint8_t ce)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		rig_ctrl(&f->sq, 0, 1, ce);
		rig_post(&f->sq, 1);
	}
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
}

/* A second SQ with a CQ of its own, in place of the fixture's. */
static void
with_cq(struct rig_port *f, uint32_t log, int collapsed, int oi)
{
	assert_int_equal(rig_apply(f->r, SCX_DP_SQ_DEL, f->sq.sqn, 0), 0);
	assert_int_equal(rig_apply(f->r, SCX_DP_CQ_DEL, f->tx_cq.cqn, 0), 0);
	rig_cq_free(&f->tx_cq);
	rig_sq_free(&f->sq);
	rig_cq(f->r, &f->tx_cq, log, collapsed, oi);
	rig_sq(f->r, &f->sq, &f->tx_cq, 0x1806, 6);
}

static void
test_laps(void **state)
{
	struct rig_port *f = *state;
	uint32_t i;

	with_cq(f, 2, 0, 0);
	for (i = 0; i < 1000; i++) {
		nops(f, 1, 2);
		rig_expect_sent(f, (uint16_t)i, 0);
		assert_null(rig_cqe(&f->tx_cq));
	}
	rig_expect_quiet(f->r);
}

/* The producer passes 2^16 and the 24 bits of the record are all that counts. */
static void
test_record_bits(void **state)
{
	struct rig_port *f = *state;
	uint32_t i;

	with_cq(f, 2, 0, 0);
	for (i = 0; i < 70000; i++) {
		nops(f, 1, 2);
		rig_expect_sent(f, (uint16_t)i, 0);
		f->tx_cq.rec[0] |= 0xa5; /* bits 31:24 */
	}
	rig_expect_quiet(f->r);
}

static void
test_collapsed(void **state)
{
	struct rig_port *f = *state;
	uint32_t i;

	with_cq(f, 0, 1, 1);
	for (i = 0; i < 300; i++) {
		nops(f, 2, 2); /* the second CQE covers the first */
		assert_int_equal(rig_cqe_counter(f->tx_cq.ring), (uint16_t)(2 * i + 1));
		assert_int_equal(f->tx_cq.ring[63], (2 * i + 1) & 1);
	}
	rig_expect_quiet(f->r);
}

/* One entry, and yet its CQEs are counted against the consumer index. */
static void
test_collapsed_overrun(void **state)
{
	struct rig_port *f = *state;
	uint32_t i;

	with_cq(f, 2, 1, 0);
	for (i = 0; i < 6; i++) {
		nops(f, 2, 2);
		f->tx_cq.rec[0] = crl_bswap32(2u * (i + 1u));
	}
	rig_expect_quiet(f->r);
	nops(f, 4, 2);
	rig_expect_quiet(f->r);
	nops(f, 1, 2);
	assert_int_equal(f->r->report[f->r->nr_reports - 1u].kind, SCX_DP_QUEUE_ERROR);
	rig_expect_refusal(f->r, SCX_DP_R_CQ_OVERRUN);
}

static void
test_overrun(void **state)
{
	struct rig_port *f = *state;
	uint32_t i;

	with_cq(f, 2, 0, 0);
	nops(f, 4, 2);
	rig_expect_quiet(f->r);
	nops(f, 1, 2);
	assert_int_equal(f->r->nr_reports, 3);
	assert_int_equal(f->r->report[1].kind, SCX_DP_CQ_ERROR);
	assert_int_equal(f->r->report[1].num, f->tx_cq.cqn);
	assert_int_equal(f->r->report[2].kind, SCX_DP_QUEUE_ERROR);
	assert_int_equal(f->r->report[2].num, f->sq.sqn);
	rig_expect_refusal(f->r, SCX_DP_R_CQ_OVERRUN);
	for (i = 0; i < 4; i++)
		rig_expect_sent(f, (uint16_t)i, 0); /* none of the four was overwritten */
	assert_null(rig_cqe(&f->tx_cq));
}

static void
test_overrun_ignored(void **state)
{
	struct rig_port *f = *state;

	with_cq(f, 2, 0, 1);
	nops(f, 7, 2);
	rig_expect_quiet(f->r);
	assert_int_equal(rig_cqe_counter(f->tx_cq.ring + 2 * 64), 6);
	assert_int_equal(rig_cqe_counter(f->tx_cq.ring + 3 * 64), 3);
}

/* An RQ whose CQ is full stops as well. */
static void
test_overrun_receive(void **state)
{
	struct rig_port *f = *state;
	struct rig_cq small;
	struct rig_rq rq;
	uint32_t i;

	rig_udp4(f->r->mem, 64, 1, 1);
	rig_cq(f->r, &small, 1, 0, 0);
	rig_rq(f->r, &rq, &small, 0x2900, 4, 4);
	rig_rq_post(&rq, RIG_RX_BASE, RIG_RX_SIZE, 8);
	rig_tir(f->r, RIG_TIR, rq.rqn);
	for (i = 0; i < 3; i++)
		rig_send(&f->sq, 0, 64, 1, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	assert_int_equal(f->r->report[2].num, rq.rqn);
	rig_expect_refusal(f->r, SCX_DP_R_CQ_OVERRUN);
	assert_int_equal(rig_cqe_counter(rig_cqe(&small)), 0);
	assert_int_equal(rig_cqe_counter(rig_cqe(&small)), 1);
	assert_null(rig_cqe(&small));
	rig_cq_free(&small);
	rig_rq_free(&rq);
}

static void
test_init(void **state)
{
	struct rig_port *f = *state;

	with_cq(f, 2, 0, 0);
	f->tx_cq.ring[63] = 0x00;
	f->tx_cq.ring[127] = 0x00;
	nops(f, 2, 2);
	assert_int_equal(f->r->report[0].num, f->tx_cq.cqn);
	rig_expect_refusal(f->r, SCX_DP_R_CQ_NOT_INIT); /* once a CQ */
}

static void
arm(struct rig_port *f, uint32_t sn, int solicited, uint32_t ci)
{
	uint32_t db[2] = {__builtin_bswap32(sn << 28 | (solicited ? 1u << 24 : 0) | ci),
		__builtin_bswap32(f->tx_cq.cqn)};

	f->tx_cq.rec[1] = db[0];
	memcpy(f->r->uar + RIG_PAGE * 4096 + 0x20, db, 8);
	rig_step(f->r, NULL);
}

static uint32_t
events(struct rig_port *f)
{
	uint32_t i, n = 0;

	for (i = 0; i < f->r->nr_reports; i++) {
		assert_int_equal(f->r->report[i].kind, SCX_DP_CQ_EVENT);
		assert_int_equal(f->r->report[i].num, f->tx_cq.cqn);
		n++;
	}
	f->r->nr_reports = 0;
	return n;
}

static void
test_arm(void **state)
{
	struct rig_port *f = *state;

	nops(f, 1, 2);
	assert_int_equal(events(f), 0);
	arm(f, 0, 0, 1); /* all seen: the next one counts, and only that */
	assert_int_equal(events(f), 0);
	nops(f, 3, 2);
	assert_int_equal(events(f), 1);
	nops(f, 1, 2);
	assert_int_equal(events(f), 0);
	arm(f, 1, 0, 3); /* two CQEs came that the driver had not seen: at once */
	assert_int_equal(events(f), 1);
	nops(f, 1, 2);
	assert_int_equal(events(f), 0);
	arm(f, 2, 1, 6); /* solicited only: a plain completion does not count, an error does */
	nops(f, 1, 2);
	assert_int_equal(events(f), 0);
	rig_ctrl(&f->sq, 0x77, 1, 0);
	rig_post(&f->sq, 1);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	assert_int_equal(f->r->nr_reports, 3);
	assert_int_equal(f->r->report[2].kind, SCX_DP_CQ_EVENT);
}

/* Two CQs armed by one register so fast that the first value is never seen. */
static void
test_arm_overwritten(void **state)
{
	struct rig_port *f = *state;
	uint32_t db[2] = {0x10000000u, __builtin_bswap32(f->rx_cq.cqn)};

	rig_udp4(f->r->mem, 64, 1, 1);
	f->tx_cq.rec[1] = __builtin_bswap32(0x10000000u);
	f->rx_cq.rec[1] = __builtin_bswap32(0x10000000u);
	memcpy(f->r->uar + RIG_PAGE * 4096 + 0x20, db, 8);
	rig_send(&f->sq, 0, 64, 2, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	assert_int_equal(f->r->nr_reports, 2);
	assert_int_equal(f->r->report[0].num, f->rx_cq.cqn);
	assert_int_equal(f->r->report[1].num, f->tx_cq.cqn);
}

/* WQEs after the failing one: flushed, a CQE each as CE says, in order; none of them is executed.
 */
static void
test_flush(void **state)
{
	struct rig_port *f = *state;
	struct scx_dp_cmd q = {.op = SCX_DP_QUERY_SQ, .num = f->sq.sqn};
	uint8_t *p = rig_udp4(f->r->mem, 64, 1, 1);

	rig_send(&f->sq, 0, 64, 2, 0);	     /* 0: sent */
	rig_send(&f->sq, RIG_MEM, 64, 1, 0); /* 1: out of bounds; CE 1: the first failure */
	rig_send(&f->sq, 0, 64, 2, 0);	     /* 2: flushed */
	rig_send(&f->sq, 0, 64, 1, 0);	     /* 3: flushed, CE 1: no longer the first failure */
	rig_empw_inline(&f->sq, p, 64, 0);   /* 4, 5: flushed, CE 0: a CQE on error */
	rig_send(&f->sq, 0, 64, 3, 0);	     /* 6 */
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	rig_expect_refusal(f->r, SCX_DP_R_SEG_BOUNDS);
	rig_expect_frame(f, p, 64);
	assert_null(rig_cqe(&f->rx_cq));
	rig_expect_sent(f, 0, 0x0a);
	rig_expect_error(&f->tx_cq, 0xd, 1, 0x04);
	rig_expect_error(&f->tx_cq, 0xd, 2, 0x05);
	rig_expect_error(&f->tx_cq, 0xd, 4, 0x05);
	rig_expect_error(&f->tx_cq, 0xd, 6, 0x05);
	assert_null(rig_cqe(&f->tx_cq));
	assert_int_equal(scx_dp_apply(f->r->dp, &q), 0);
	assert_int_equal(q.result[0], 3);
	assert_int_equal(q.result[1], 7);
	assert_int_equal(q.result[2], 7);
	nops(f, 1, 2); /* posted to a queue in ERR */
	rig_expect_error(&f->tx_cq, 0xd, 7, 0x05);
	/* ERR to RST to RDY: from the start again */
	assert_int_equal(rig_apply(f->r, SCX_DP_SQ_STATE, f->sq.sqn, 0), 0);
	f->sq.pi = 0;
	f->sq.rec[1] = 0;
	assert_int_equal(rig_apply(f->r, SCX_DP_SQ_STATE, f->sq.sqn, 1), 0);
	rig_send(&f->sq, 0, 64, 2, 0);
	rig_go(f);
	rig_expect_frame(f, p, 64);
	rig_expect_sent(f, 0, 0x0a);
}

/* MODIFY_SQ to ERR and MODIFY_RQ to ERR flush what is posted. */
static void
test_to_error(void **state)
{
	struct rig_port *f = *state;
	uint32_t i;

	rig_ctrl(&f->sq, 0, 1, 2);
	rig_post(&f->sq, 1);
	f->sq.rec[1] = __builtin_bswap32(1);
	assert_int_equal(rig_apply(f->r, SCX_DP_SQ_STATE, f->sq.sqn, 3), 0);
	assert_int_equal(rig_apply(f->r, SCX_DP_RQ_STATE, f->rq.rqn, 3), 0);
	rig_step(f->r, NULL);
	rig_expect_error(&f->tx_cq, 0xd, 0, 0x05);
	for (i = 0; i < 128; i++)
		rig_expect_error(&f->rx_cq, 0xe, (uint16_t)i, 0x05);
	assert_null(rig_cqe(&f->rx_cq));
}

/* Timestamps are the caller's clock, big-endian at 0x30. */
static void
test_clock(void **state)
{
	struct rig_port *f = *state;
	static const uint8_t want[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	scx_dp_clock(f->r->dp, 0x0102030405060708ull);
	nops(f, 1, 2);
	assert_memory_equal(rig_cqe(&f->tx_cq) + 0x30, want, 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, rig_port_setup, rig_port_teardown)
		T(test_laps),
		T(test_record_bits),
		T(test_collapsed),
		T(test_collapsed_overrun),
		T(test_overrun),
		T(test_overrun_ignored),
		T(test_overrun_receive),
		T(test_init),
		T(test_arm),
		T(test_arm_overwritten),
		T(test_flush),
		T(test_to_error),
		T(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
