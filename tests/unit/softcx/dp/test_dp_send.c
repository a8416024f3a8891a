/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The send path from ring to frame, through the loopback into an RQ: SEND, enhanced MPW, NOP,
 * gather lists, inline headers, tags, padding, completion modes, wrap in the ring and of the 16-bit
 * index.
 */
#include "rig.h"

static void
test_send(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem + 64, 100, 9, 9);

	rig_send(&f->sq, 64, 100, 2, 0);
	rig_go(f);
	rig_expect_frame(f, p, 100);
	rig_expect_sent(f, 0, 0x0a);
	assert_null(rig_cqe(&f->tx_cq));
}

/* The record alone, and a ring without a changed record: neither fetches anything. */
static void
test_record_is_not_enough(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 100, 9, 9);

	rig_send(&f->sq, 0, 100, 2, 0);
	f->sq.rec[1] = __builtin_bswap32(f->sq.pi);
	rig_step(f->r, NULL);
	assert_null(rig_cqe(&f->rx_cq));
	rig_go(f);
	rig_expect_frame(f, p, 100);
	rig_step(f->r, NULL);
	assert_null(rig_cqe(&f->rx_cq));
}

/* 70,000 WQEs of one WQEBB: the index passes 2^16, a CQE carries it. */
static void
test_index_wrap(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 60, 9, 9);
	uint32_t i;

	for (i = 0; i < 70000; i++) {
		p[42] = (uint8_t)i;
		rig_send(&f->sq, 0, 60, 2, 0);
		rig_go(f);
		rig_expect_frame(f, p, 60);
		rig_expect_sent(f, (uint16_t)i, 0x0a);
		rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 1);
	}
	assert_int_equal(f->sq.pi, (uint16_t)70000);
}

/* Inline frames of every size to 800: each WQE begins at another place of the 64-WQEBB ring. */
static void
test_empw_wrap(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[800];
	uint32_t len, at;

	for (len = 60; len <= sizeof(a); len++) {
		at = f->sq.pi;
		rig_empw_inline(&f->sq, rig_udp4(a, len, (uint16_t)len, 2), len, len & 1 ? 2 : 1);
		rig_go(f);
		rig_expect_frame(f, a, len);
		if (len & 1)
			rig_expect_sent(f, (uint16_t)at, 0x29);
		assert_null(rig_cqe(&f->tx_cq));
		rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 1);
	}
}

/* Inline and pointer frames mixed in one WQE, as net_mlx5 does at its inline limit. */
static void
test_empw_mixed(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[70], *b = rig_udp4(f->r->mem + 128, 300, 3, 4),
		       *c = rig_udp4(f->r->mem + 1024, 64, 5, 6);

	rig_udp4(a, sizeof(a), 1, 2);
	rig_ctrl(&f->sq, 0x29, 2 + 5 + 1 + 5 + 1, 2);
	rig_put32(&f->sq, 32, 0x80000000u | sizeof(a));
	rig_put(&f->sq, 36, a, sizeof(a));
	rig_dseg(&f->sq, 32 + 80, 300, RIG_KEY, RIG_IOVA + 128);
	rig_put32(&f->sq, 32 + 96, 0x80000000u | sizeof(a));
	rig_put(&f->sq, 32 + 100, a, sizeof(a));
	rig_dseg(&f->sq, 32 + 176, 64, RIG_KEY, RIG_IOVA + 1024);
	rig_post(&f->sq, 14);
	rig_go(f);
	rig_expect_frame(f, a, sizeof(a));
	rig_expect_frame(f, b, 300);
	rig_expect_frame(f, a, sizeof(a));
	rig_expect_frame(f, c, 64);
	rig_expect_sent(f, 0, 0x29);
}

/* Sixty pointers, the most that ds leaves room for; twice, so that the batch is filled beyond its
 * mark. */
static void
test_empw_many(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 128, 3, 4);
	uint32_t i, k;

	for (k = 0; k < 2; k++) {
		rig_ctrl(&f->sq, 0x29, 62, k ? 2 : 1);
		for (i = 0; i < 60; i++)
			rig_dseg(&f->sq, 32 + 16 * i, 128, RIG_KEY, RIG_IOVA);
		rig_post(&f->sq, 62);
	}
	rig_go(f);
	for (i = 0; i < 120; i++)
		rig_expect_frame(f, p, 128);
	rig_expect_sent(f, 16, 0x29);
}

static void
test_nop_and_modes(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 60, 9, 9);
	uint32_t ce;

	rig_ctrl(&f->sq, 0x00, 1, 2);
	rig_post(&f->sq, 1);
	rig_ctrl(&f->sq, 0x00, 63, 1); /* a long one fills the ring up to its end */
	rig_post(&f->sq, 63);
	for (ce = 0; ce < 3; ce++)
		rig_send(&f->sq, 0, 60, (uint8_t)ce, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	rig_expect_quiet(f->r);
	rig_send(&f->sq, 0, 60, 3, 0); /* CQE and event, armed or not */
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	assert_int_equal(f->r->nr_reports, 1);
	assert_int_equal(f->r->report[0].kind, SCX_DP_CQ_EVENT);
	assert_int_equal(f->r->report[0].num, f->tx_cq.cqn);
	rig_expect_sent(f, 0, 0x00);
	rig_expect_sent(f, 19, 0x0a);
	rig_expect_sent(f, 20, 0x0a);
	assert_null(rig_cqe(&f->tx_cq));
	for (ce = 0; ce < 4; ce++)
		rig_expect_frame(f, p, 60);
}

static void
test_gather(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[200];
	uint32_t i;

	rig_udp4(a, sizeof(a), 7, 8);
	memcpy(f->r->mem + 5000, a, 42);
	memcpy(f->r->mem + 9001, a + 42, 1);
	memcpy(f->r->mem + 77, a + 43, 157);
	for (i = 0; i < 40; i++) { /* ds 5: each WQE begins at another place */
		rig_ctrl(&f->sq, 0x0a, 5, 1);
		rig_dseg(&f->sq, 32, 42, RIG_KEY, RIG_IOVA + 5000);
		rig_dseg(&f->sq, 48, 1, RIG_KEY, RIG_IOVA + 9001);
		rig_dseg(&f->sq, 64, 157, RIG_KEY, RIG_IOVA + 77);
		rig_post(&f->sq, 5);
		rig_go(f);
		rig_expect_frame(f, a, sizeof(a));
	}
	assert_null(rig_cqe(&f->tx_cq));
}

/* Every length of inline header, then the rest by pointer, then all of it inline. */
static void
test_inline_header(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[200];
	uint32_t inl, at, i;

	rig_udp4(a, sizeof(a), 7, 8);
	memcpy(f->r->mem, a, sizeof(a));
	for (inl = 0; inl <= sizeof(a); inl++) {
		at = 16 + ((14 + inl + 15) & ~15u);
		i = (at + (inl < sizeof(a) ? 16 : 0)) / 16;
		rig_ctrl(&f->sq, 0x0a, i, 1);
		rig_eth(&f->sq, 0, (uint16_t)inl);
		rig_put(&f->sq, 30, a, inl);
		if (inl < sizeof(a))
			rig_dseg(&f->sq, at, (uint32_t)sizeof(a) - inl, RIG_KEY, RIG_IOVA + inl);
		rig_post(&f->sq, i);
		rig_go(f);
		rig_expect_frame(f, a, sizeof(a));
		rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 1);
	}
}

/* Inline data segments among pointers, as net_mlx5 makes of small mbuf segments. */
static void
test_inline_segment(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[100];

	rig_udp4(a, sizeof(a), 7, 8);
	memcpy(f->r->mem, a, sizeof(a));
	rig_ctrl(&f->sq, 0x0a, 2 + 2 + 1 + 1, 2);
	rig_put32(&f->sq, 32, 0x80000000u | 20);
	rig_put(&f->sq, 36, a, 20);
	rig_dseg(&f->sq, 64, 70, RIG_KEY, RIG_IOVA + 20);
	rig_put32(&f->sq, 80, 0x80000000u | 10);
	rig_put(&f->sq, 84, a + 90, 10);
	rig_post(&f->sq, 6);
	rig_go(f);
	rig_expect_frame(f, a, sizeof(a));
}

static void
test_vlan_insert(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[60], out[64];
	static const uint8_t tag[4] = {0x81, 0x00, 0x61, 0x23}, qinq[4] = {0x88, 0xa8, 0x0f, 0xff};

	memcpy(f->r->mem, rig_udp4(a, sizeof(a), 7, 8), sizeof(a));
	memcpy(out, a, 12);
	memcpy(out + 16, a + 12, 48);
	rig_ctrl(&f->sq, 0x0a, 3, 1);
	rig_put32(&f->sq, 28, 0x80006123);
	rig_dseg(&f->sq, 32, 60, RIG_KEY, RIG_IOVA);
	rig_post(&f->sq, 3);
	rig_go(f);
	memcpy(out + 12, tag, 4);
	rig_expect_frame(f, out, sizeof(out));
	rig_ctrl(&f->sq, 0x0a, 3, 1);
	rig_put32(&f->sq, 28, 0x80010fff);
	rig_dseg(&f->sq, 32, 60, RIG_KEY, RIG_IOVA);
	rig_post(&f->sq, 3);
	rig_go(f);
	memcpy(out + 12, qinq, 4);
	rig_expect_frame(f, out, sizeof(out));
}

static void
test_padding(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[60] = {0};
	uint32_t len;

	for (len = 14; len < 60; len++) {
		memset(a, 0, sizeof(a));
		memset(a, 0xee, len);
		memset(f->r->mem, 0xff, 64);
		memcpy(f->r->mem, a, len);
		rig_send(&f->sq, 0, len, 1, 0);
		rig_empw_inline(&f->sq, a, len, 1);
		rig_go(f);
		rig_expect_frame(f, a, 60);
		rig_expect_frame(f, a, 60);
	}
}

/* Two queues of one page ring faster than the register can hold: both are served. */
static void
test_two_queues_one_register(void **state)
{
	struct rig_port *f = *state;
	struct rig_sq other;
	uint8_t *a = rig_udp4(f->r->mem, 60, 1, 1), *b = rig_udp4(f->r->mem + 64, 60, 2, 2);

	rig_sq(f->r, &other, &f->tx_cq, 0x1806, 4);
	rig_send(&f->sq, 0, 60, 1, 0);
	rig_send(&other, 64, 60, 1, 0);
	rig_ring(f->r, &f->sq);
	rig_ring(f->r, &other);
	rig_step(f->r, NULL);
	rig_expect_quiet(f->r);
	rig_expect_frame(f, b, 60); /* the page's list has the newer queue first */
	rig_expect_frame(f, a, 60);
	/* A deleted queue is not looked at again, even with its record moved. */
	rig_send(&other, 64, 60, 1, 0);
	rig_ring(f->r, &other);
	assert_int_equal(rig_apply(f->r, SCX_DP_SQ_DEL, other.sqn, 0), 0);
	assert_int_equal(rig_apply(f->r, SCX_DP_SQ_DEL, other.sqn, 0), -2);
	rig_sq_free(&other);
	rig_step(f->r, NULL);
	assert_null(rig_cqe(&f->rx_cq));
	rig_expect_refusal(f->r, SCX_DP_R_DB_UNKNOWN_SQ);
}

/* NVSHMEM's doorbell: an index with opcode 0, one past the last WQE; and the other registers. */
static void
test_other_doorbells(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 60, 1, 1), db[8] = {0};
	uint32_t reg;

	for (reg = 0x800; reg < 0xc00; reg += 0x100) {
		rig_send(&f->sq, 0, 60, 1, 0);
		f->sq.rec[1] = __builtin_bswap32(f->sq.pi);
		db[2] = (uint8_t)f->sq.pi;
		db[5] = (uint8_t)(f->sq.sqn >> 8);
		db[6] = (uint8_t)f->sq.sqn;
		memcpy(f->r->uar + RIG_PAGE * 4096 + reg, db, 8);
		rig_step(f->r, NULL);
		rig_expect_quiet(f->r);
		rig_expect_frame(f, p, 60);
	}
}

/* A queue that was reset may ring with the very value it rang before. */
static void
test_same_doorbell_again(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 60, 1, 1);
	uint32_t i;

	for (i = 0; i < 3; i++) {
		rig_send(&f->sq, 0, 60, 1, 0);
		rig_go(f);
		rig_expect_frame(f, p, 60);
		assert_int_equal(rig_apply(f->r, SCX_DP_SQ_STATE, f->sq.sqn, 0), 0);
		f->sq.pi = 0;
		f->sq.rec[1] = 0;
		assert_int_equal(rig_apply(f->r, SCX_DP_SQ_STATE, f->sq.sqn, 1), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, rig_port_setup, rig_port_teardown)
		T(test_send),
		T(test_record_is_not_enough),
		T(test_index_wrap),
		T(test_empw_wrap),
		T(test_empw_mixed),
		T(test_empw_many),
		T(test_nop_and_modes),
		T(test_gather),
		T(test_inline_header),
		T(test_inline_segment),
		T(test_vlan_insert),
		T(test_padding),
		T(test_two_queues_one_register),
		T(test_other_doorbells),
		T(test_same_doorbell_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
