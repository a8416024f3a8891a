/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every refusal and remark of the data path is raised at least once in this program; those that
 * fail a WQE with its CQE, its syndrome and the queue in ERR. The last test counts that none is
 * missing.
 */
#include "rig.h"

#include <stdio.h>

#include "drivers/softcx/fault.h"

static uint32_t raised[SCX_DP_R_COUNT];

static void
expect(struct rig_port *f, enum scx_dp_refuse why)
{
	raised[why] += f->r->seen[why];
	rig_expect_refusal(f->r, why);
}

/* The WQE at index 0 was made wrong: it fails so, nothing is sent, and the queue is in ERR. */
static void
fails(struct rig_port *f, enum scx_dp_refuse why, uint8_t syndrome)
{
	struct scx_dp_cmd q = {.op = SCX_DP_QUERY_SQ, .num = f->sq.sqn};

	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	assert_int_equal(f->r->report[0].num, f->sq.sqn);
	assert_memory_equal(f->r->report[0].bytes, f->sq.ring, 16);
	expect(f, why);
	rig_expect_error(&f->tx_cq, 0xd, 0, syndrome);
	assert_null(rig_cqe(&f->tx_cq));
	assert_null(rig_cqe(&f->rx_cq));
	assert_int_equal(scx_dp_apply(f->r->dp, &q), 0);
	assert_int_equal(q.result[0], 3);
}

/* A good SEND at index 0, to be made wrong. */
static void
good(struct rig_port *f)
{
	rig_udp4(f->r->mem, 64, 1, 1);
	rig_send(&f->sq, 0, 64, 2, 0);
}

#define CASE(name, why, syndrome, change)                                                          \
	static void name(void **state)                                                             \
	{                                                                                          \
		struct rig_port *f = *state;                                                       \
		uint8_t *w = f->sq.ring;                                                           \
                                                                                                   \
		good(f);                                                                           \
		(void)w;                                                                           \
		change;                                                                            \
		fails(f, SCX_DP_R_##why, syndrome);                                                \
	}

/* clang-format off */
CASE(wqe_size, WQE_SIZE, 0x02, w[7] = 1)
CASE(wqe_size_none, WQE_SIZE, 0x02, w[7] = 0)
CASE(wqe_past_record, WQE_PAST_RECORD, 0x02, w[7] = 5)
CASE(wqe_index, WQE_INDEX, 0x02, w[2] = 1)
CASE(wqe_qpn, WQE_QPN, 0x02, w[6] ^= 1)
CASE(wqe_opcode, WQE_OPCODE, 0x02, w[3] = 0x08)
CASE(wqe_opmod, WQE_OPCODE, 0x02, w[0] = 1)
CASE(wqe_tso, WQE_TSO, 0x02, w[3] = 0x0e)
CASE(wqe_reserved, WQE_RESERVED, 0x02, w[9] = 1)
CASE(wqe_signature, WQE_RESERVED, 0x02, w[8] = 1)
CASE(eth_inner, ETH_OFFLOAD, 0x02, w[20] = 0x10)
CASE(eth_swp, ETH_OFFLOAD, 0x02, w[16] = 3)
CASE(eth_swp_flags, ETH_OFFLOAD, 0x02, w[21] = 1)
CASE(eth_mss, ETH_MSS, 0x02, w[23] = 1)
CASE(eth_inline_size, ETH_INLINE_SIZE, 0x02, w[29] = 19)
CASE(seg_inline_size, SEG_INLINE_SIZE, 0x02, (w[32] = 0x80, w[35] = 13))
CASE(seg_zero, SEG_ZERO, 0x04, w[35] = 0)
CASE(seg_key, SEG_KEY, 0x04, w[39] ^= 1)
CASE(seg_key_index, SEG_KEY, 0x04, w[37] ^= 1)
CASE(seg_bounds, SEG_BOUNDS, 0x04, rig_put_be32(w + 44, RIG_MEM - 63))
CASE(seg_below, SEG_BOUNDS, 0x04, rig_put_be32(w + 40, 0))
CASE(frame_short, FRAME_SHORT, 0x01, w[35] = 13)
CASE(frame_long, FRAME_LONG, 0x01, rig_put_be32(w + 32, 16385))
CASE(frame_huge, FRAME_LONG, 0x01, rig_put_be32(w + 32, 1u << 21))
/* clang-format on */

static void
seg_other_pd(void **state)
{
	struct rig_port *f = *state;
	struct scx_dp_cmd c = {.op = SCX_DP_MKEY_SET};

	c.u.mkey.key = 0x4400;
	c.u.mkey.pdn = RIG_PD + 1;
	c.u.mkey.bytes = 4096;
	c.u.mkey.base = f->r->mem;
	assert_int_equal(scx_dp_apply(f->r->dp, &c), 0);
	good(f);
	rig_put_be32(f->sq.ring + 36, 0x4400);
	rig_put_be32(f->sq.ring + 40, 0);
	rig_put_be32(f->sq.ring + 44, 0);
	fails(f, SCX_DP_R_SEG_KEY, 0x04);
}

/* A bad frame in an enhanced MPW: none of its frames is sent. */
static void
empw_second_bad(void **state)
{
	struct rig_port *f = *state;

	rig_udp4(f->r->mem, 64, 1, 1);
	rig_ctrl(&f->sq, 0x29, 4, 2);
	rig_dseg(&f->sq, 32, 64, RIG_KEY, RIG_IOVA);
	rig_dseg(&f->sq, 48, 64, RIG_KEY + 0x100, RIG_IOVA);
	rig_post(&f->sq, 4);
	fails(f, SCX_DP_R_SEG_KEY, 0x04);
}

static void
empw_inline_header(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[64] = {0};

	rig_empw_inline(&f->sq, a, 64, 2);
	f->sq.ring[29] = 2;
	fails(f, SCX_DP_R_ETH_EMPW_INLINE, 0x02);
}

static void
empw_inline_size(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[64] = {0};

	rig_empw_inline(&f->sq, a, 64, 2);
	rig_put_be32(f->sq.ring + 32, 0x80000000u | 77);
	fails(f, SCX_DP_R_SEG_INLINE_SIZE, 0x02);
}

static void
empw_short(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[64] = {0};

	rig_empw_inline(&f->sq, a, 13, 2);
	fails(f, SCX_DP_R_FRAME_SHORT, 0x01);
}

/* An SQ with other properties in place of the fixture's. */
static void
other_sq(struct rig_port *f, int mpw, uint8_t inline_mode)
{
	struct scx_dp_cmd c = {.op = SCX_DP_SQ_SET};

	assert_int_equal(rig_apply(f->r, SCX_DP_SQ_DEL, f->sq.sqn, 0), 0);
	c.u.sq.sqn = f->sq.sqn;
	c.u.sq.cqn = f->tx_cq.cqn;
	c.u.sq.uar_page = RIG_PAGE;
	c.u.sq.pdn = RIG_PD;
	c.u.sq.ring.base = f->sq.ring;
	c.u.sq.ring.bytes = (uint64_t)64 << f->sq.log;
	c.u.sq.dbrec = f->sq.rec;
	c.u.sq.log_depth = f->sq.log;
	c.u.sq.flush_in_error = 1;
	c.u.sq.allow_mpw = (uint8_t)mpw;
	c.u.sq.min_inline_mode = inline_mode;
	c.u.sq.state = 1;
	assert_int_equal(scx_dp_apply(f->r->dp, &c), 0);
}

static void
mpw_off(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[64] = {0};

	other_sq(f, 0, 0);
	rig_empw_inline(&f->sq, a, 64, 2);
	fails(f, SCX_DP_R_WQE_MPW_OFF, 0x02);
}

static void
send_inline(struct rig_port *f, uint32_t inl)
{
	uint32_t at = 16 + ((14 + inl + 15) & ~15u);

	rig_udp4(f->r->mem, 100, 1, 1);
	rig_ctrl(&f->sq, 0x0a, at / 16 + 1, 2);
	rig_eth(&f->sq, 0, (uint16_t)inl);
	rig_put(&f->sq, 30, f->r->mem, inl);
	rig_dseg(&f->sq, at, 100 - inl, RIG_KEY, RIG_IOVA + inl);
	rig_post(&f->sq, at / 16 + 1);
}

/* Modes L2, IP and L4 want 14, 34 and 42 bytes of this UDP frame; one less is refused. */
static void
inline_mode(void **state)
{
	static const uint32_t least[4] = {0, 14, 34, 42};
	struct rig_port *f = *state;
	uint8_t mode;

	for (mode = 1; mode < 4; mode++) {
		other_sq(f, 1, mode);
		f->sq.pi = 0;
		f->sq.rec[1] = 0;
		send_inline(f, least[mode]);
		rig_go(f);
		rig_expect_frame(f, f->r->mem, 100);
		assert_non_null(rig_cqe(&f->tx_cq));
		assert_int_equal(rig_apply(f->r, SCX_DP_SQ_STATE, f->sq.sqn, 0), 0);
		f->sq.pi = 0;
		f->sq.rec[1] = 0;
		assert_int_equal(rig_apply(f->r, SCX_DP_SQ_STATE, f->sq.sqn, 1), 0);
		send_inline(f, least[mode] - 1);
		fails(f, SCX_DP_R_ETH_INLINE_MIN, 0x01);
	}
}

static void
sq_record(void **state)
{
	struct rig_port *f = *state;

	good(f);
	f->sq.pi = 65; /* of 64 */
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	expect(f, SCX_DP_R_SQ_RECORD_OVERRUN);
	assert_null(rig_cqe(&f->tx_cq));
	assert_null(rig_cqe(&f->rx_cq));
}

static void
doorbells(void **state)
{
	struct rig_port *f = *state;
	uint8_t db[8] = {0, 0, 0, 0x0a, 0, 0x99, 0x99, 3};

	memcpy(f->r->uar + RIG_PAGE * 4096 + 0x800, db, 8);
	rig_step(f->r, NULL);
	expect(f, SCX_DP_R_DB_UNKNOWN_SQ);
	/* rung before the record was stored; then the record: nothing comes of it without a ring */
	good(f);
	db[1] = 0;
	db[2] = 9;
	db[5] = (uint8_t)(f->sq.sqn >> 8);
	db[6] = (uint8_t)f->sq.sqn;
	memcpy(f->r->uar + RIG_PAGE * 4096 + 0x800, db, 8);
	rig_step(f->r, NULL);
	expect(f, SCX_DP_R_DB_BEFORE_RECORD);
	assert_null(rig_cqe(&f->rx_cq));
	assert_int_equal(rig_apply(f->r, SCX_DP_SQ_STATE, f->sq.sqn, 0), 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	expect(f, SCX_DP_R_DB_NOT_READY);
	memcpy(f->r->uar + RIG_PAGE * 4096 + 0x20, "\0\0\0\1\0\0\x77\x77", 8);
	rig_step(f->r, NULL);
	expect(f, SCX_DP_R_CQ_ARM_UNKNOWN);
}

static void
remarks(void **state)
{
	struct rig_port *f = *state;

	good(f);
	f->sq.ring[15] = 1;
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	expect(f, SCX_DP_R_REMARK_SQ_IMM);
	rig_expect_frame(f, f->r->mem, 64);
	rig_udp4(f->r->mem, 1600, 1, 1);
	rig_send(&f->sq, 0, 1600, 2, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	expect(f, SCX_DP_R_REMARK_TX_MTU);
	assert_null(rig_cqe(&f->rx_cq));
}

/* The receive side's and the CQs', in short: test_dp_receive and test_dp_complete look closer. */
static void
receive_side(void **state)
{
	static const uint32_t seg[][4] = {{64, 0x1a2c, 0x1234, 0}, {64, RIG_KEY, 0x1233, 0},
		{63, RIG_KEY, 0x1234, 0}, {0x80000040u, RIG_KEY, 0x1234, 0}, {64, 0x3301, 0, 0}};
	static const enum scx_dp_refuse why[] = {SCX_DP_R_RQ_KEY, SCX_DP_R_RQ_BOUNDS,
		SCX_DP_R_RQ_TOO_LONG, SCX_DP_R_RQ_INLINE, SCX_DP_R_RQ_ACCESS};
	struct rig_port *f = *state;
	struct scx_dp_cmd c = {.op = SCX_DP_MKEY_SET};
	uint32_t i, k;

	c.u.mkey.key = 0x3301;
	c.u.mkey.pdn = RIG_PD;
	c.u.mkey.bytes = 4096;
	c.u.mkey.base = f->r->mem;
	assert_int_equal(scx_dp_apply(f->r->dp, &c), 0);
	for (i = 0; i < 6; i++) {
		assert_int_equal(rig_apply(f->r, SCX_DP_RQ_STATE, f->rq.rqn, 0), 0);
		assert_int_equal(rig_apply(f->r, SCX_DP_RQ_STATE, f->rq.rqn, 1), 0);
		for (k = 0; k < 4 && i < 5; k++)
			rig_put_be32(f->rq.ring + 4 * k, seg[i][k]);
		f->rq.rec[0] = __builtin_bswap32(i < 5 ? 1 : 300);
		good(f);
		rig_ring(f->r, &f->sq);
		rig_step(f->r, NULL);
		expect(f, i < 5 ? why[i] : SCX_DP_R_RQ_RECORD_OVERRUN);
	}
}

static void
completion_side(void **state)
{
	struct rig_port *f = *state;
	struct rig_cq cq;
	struct rig_sq sq;
	uint32_t i;

	rig_cq(f->r, &cq, 0, 0, 0);
	cq.ring[63] = 0;
	rig_sq(f->r, &sq, &cq, 0x1900, 4);
	for (i = 0; i < 2; i++) {
		rig_ctrl(&sq, 0, 1, 2);
		rig_post(&sq, 1);
		rig_ring(f->r, &sq);
		rig_step(f->r, NULL);
		expect(f, i == 0 ? SCX_DP_R_CQ_NOT_INIT : SCX_DP_R_CQ_OVERRUN);
	}
	rig_cq_free(&cq);
	rig_sq_free(&sq);
}

/* The fault plan's two remarks; test_dp_fault.c has what they do. */
static void
fault_plan(void **state)
{
	const struct scx_fault_plan plan = {.send_error = 2, .recv_error = 1};
	struct rig_port *f = *state;

	scx_dp_faults(f->r->dp, &plan);
	good(f);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	expect(f, SCX_DP_R_REMARK_FAULT_RECEIVE);
	good(f);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	expect(f, SCX_DP_R_REMARK_FAULT_SEND);
}

/* Floods of refusals leave room for events: the ring keeps it, and counts what it could not take.
 */
static void
flood(void **state)
{
	struct rig_port *f = *state;
	struct scx_dp_report rep;
	struct scx_dp_stats s;
	uint32_t i, n = 0;

	for (i = 0; i < 1000; i++) {
		uint8_t db[8] = {0, (uint8_t)(i >> 8), (uint8_t)i, 0, 0, 0x77, 0x77, 0};

		memcpy(f->r->uar + RIG_PAGE * 4096 + 0x800, db, 8);
		scx_dp_step(f->r->dp, NULL, 64);
	}
	scx_dp_stats(f->r->dp, &s);
	while (scx_dp_take_report(f->r->dp, &rep))
		n++;
	assert_int_equal(n + s.reports_lost, 1000);
	assert_true(n >= 100 && s.reports_lost > 0);
}

static void
all_raised(void **state)
{
#define NAME(id, words, advice) #id,
	static const char *const name[] = {SCX_DP_REFUSE_LIST(NAME)};
	uint32_t i, missing = 0;

	(void)state;
	for (i = 0; i < SCX_DP_R_COUNT; i++) {
		if (raised[i] == 0) {
			print_error("never raised: %s\n", name[i]);
			missing++;
		}
	}
	print_message("refusals of the data path: %u defined, %u triggered\n",
		(unsigned)SCX_DP_R_COUNT, (unsigned)SCX_DP_R_COUNT - missing);
	assert_int_equal(missing, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, rig_port_setup, rig_port_teardown)
		T(wqe_size),
		T(wqe_size_none),
		T(wqe_past_record),
		T(wqe_index),
		T(wqe_qpn),
		T(wqe_opcode),
		T(wqe_opmod),
		T(wqe_tso),
		T(wqe_reserved),
		T(wqe_signature),
		T(eth_inner),
		T(eth_swp),
		T(eth_swp_flags),
		T(eth_mss),
		T(eth_inline_size),
		T(seg_inline_size),
		T(seg_zero),
		T(seg_key),
		T(seg_key_index),
		T(seg_bounds),
		T(seg_below),
		T(frame_short),
		T(frame_long),
		T(frame_huge),
		T(seg_other_pd),
		T(empw_second_bad),
		T(empw_inline_header),
		T(empw_inline_size),
		T(empw_short),
		T(mpw_off),
		T(inline_mode),
		T(sq_record),
		T(doorbells),
		T(remarks),
		T(receive_side),
		T(completion_side),
		T(fault_plan),
		T(flood),
		cmocka_unit_test(all_raised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
