/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Linux's mlx5_core does and programs on uverbs do not, found by running it on softcx: a first
 * arm word of all zeros, padding bits in receive entries, TCP segmentation, a key to memory with
 * holes. tests/guest has the driver itself.
 */
#include "rig.h"

#define SQN	 0x1807u
#define RQN	 0x2807u
#define HDR	 54u /* Ethernet, IPv4, TCP */
#define MSS	 1000u
#define PAYLOAD	 2500u
#define PADDING	 0x80000000u
#define CHECKS	 0x06u /* byte 0x1c of a CQE: L3 and L4 are right */
#define HOLE_KEY 0x00001b2cu

static void
test_first_arm_word_is_zero(void **state)
{
	struct rig_port *f = *state;
	uint32_t db[2] = {0, __builtin_bswap32(f->tx_cq.cqn)};

	f->tx_cq.rec[1] = 0;
	memcpy(f->r->uar + RIG_PAGE * 4096 + 0x20, db, 8);
	rig_step(f->r, NULL);
	assert_int_equal(0, f->r->nr_reports);
	rig_ctrl(&f->sq, 0, 1, 2);
	rig_post(&f->sq, 1);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	assert_int_equal(1, f->r->nr_reports);
	assert_int_equal(SCX_DP_CQ_EVENT, f->r->report[0].kind);
	assert_int_equal(f->tx_cq.cqn, f->r->report[0].num);
	f->r->nr_reports = 0;
}

/* An RQ like the fixture's, but a kernel's; and where all frames go. */
static void
kernel_rq(struct rig_port *f)
{
	struct scx_dp_cmd c = {.op = SCX_DP_RQ_SET};

	assert_int_equal(0, rig_apply(f->r, SCX_DP_RQ_DEL, f->rq.rqn, 0));
	memset(f->rq.ring, 0, 16u << f->rq.log);
	f->rq.rec[0] = 0;
	f->rq.pi = 0;
	f->rq.rqn = RQN;
	c.u.rq = (struct scx_dp_rq){.rqn = RQN,
		.cqn = f->rx_cq.cqn,
		.pdn = RIG_PD,
		.user_index = RQN & 0xfff,
		.ring = {f->rq.ring, 16u << f->rq.log},
		.dbrec = f->rq.rec,
		.log_depth = f->rq.log,
		.log_stride = 4,
		.start_padding = 1};
	assert_int_equal(0, scx_dp_apply(f->r->dp, &c));
	assert_int_equal(0, rig_apply(f->r, SCX_DP_RQ_STATE, RQN, 1));
	rig_tir(f->r, RIG_TIR, RQN);
}

static void
test_padding_bit(void **state)
{
	struct rig_port *f = *state;
	uint8_t frame[100];

	kernel_rq(f);
	rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 8);
	for (uint32_t i = 0; i < 8; i++)
		rig_put_be32(f->rq.ring + i * 16, RIG_RX_SIZE | PADDING);
	memcpy(f->r->mem, rig_udp4(frame, sizeof(frame), 1, 2), sizeof(frame));
	rig_send(&f->sq, 0, sizeof(frame), 2, 0);
	rig_go(f);
	rig_expect_frame(f, frame, sizeof(frame));
}

static void
kernel_sq(struct rig_port *f)
{
	struct scx_dp_cmd c = {.op = SCX_DP_SQ_SET};

	assert_int_equal(0, rig_apply(f->r, SCX_DP_SQ_DEL, f->sq.sqn, 0));
	f->sq.sqn = SQN;
	c.u.sq = (struct scx_dp_sq){.sqn = SQN,
		.cqn = f->tx_cq.cqn,
		.uar_page = RIG_PAGE,
		.pdn = RIG_PD,
		.user_index = SQN & 0xfff,
		.ring = {f->sq.ring, 64u << f->sq.log},
		.dbrec = f->sq.rec,
		.log_depth = f->sq.log,
		.flush_in_error = 1,
		.allow_tso = 1};
	assert_int_equal(0, scx_dp_apply(f->r->dp, &c));
	assert_int_equal(0, rig_apply(f->r, SCX_DP_SQ_STATE, SQN, 1));
}

/* Header and pointer of a WQE whose payload is at offset 0 of the memory. */
static void
tso(struct rig_port *f, const uint8_t *hdr, uint16_t mss, uint32_t payload)
{
	const uint8_t mss_be[2] = {(uint8_t)(mss >> 8), (uint8_t)mss};

	rig_ctrl(&f->sq, 0x0e, 7, 2);
	rig_eth(&f->sq, 0xc0, HDR);
	rig_put(&f->sq, 22, mss_be, 2);
	rig_put(&f->sq, 30, hdr, HDR);
	rig_dseg(&f->sq, 96, payload, RIG_KEY, RIG_IOVA);
	rig_post(&f->sq, 7);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
}

static void
headers(uint8_t *h)
{
	rig_udp4(h, HDR, 0x1111, 0x2222);
	h[18] = 0xff, h[19] = 0xff; /* identification: wraps at the second segment */
	h[23] = 6;
	memset(h + 34, 0, 20);
	rig_put_be32(h + 34, 0x11112222);
	rig_put_be32(h + 38, 0xffffff00); /* sequence number: wraps as well */
	h[46] = 5 << 4;
	h[47] = 0x80 | 0x10 | 0x08 | 0x01; /* CWR, ACK, PSH, FIN */
}

static void
test_tso(void **state)
{
	static const uint8_t flags[3] = {0x90, 0x10, 0x19};
	struct rig_port *f = *state;
	uint8_t h[HDR];
	uint32_t i;

	kernel_sq(f);
	headers(h);
	for (i = 0; i < PAYLOAD; i++)
		f->r->mem[i] = (uint8_t)(i * 7 + i / 251);
	tso(f, h, MSS, PAYLOAD);
	rig_expect_quiet(f->r);
	for (i = 0; i < 3; i++) {
		uint32_t n = i < 2 ? MSS : PAYLOAD - 2 * MSS;
		const uint8_t *e = rig_cqe(&f->rx_cq), *got;

		assert_non_null(e);
		assert_int_equal(HDR + n, rig_be32(e + 0x2c));
		assert_int_equal(CHECKS, e[0x1c] & CHECKS);
		got = f->r->mem + RIG_RX_BASE + (rig_cqe_counter(e) & 0xff) * RIG_RX_SIZE;
		assert_memory_equal(h, got, 16);
		assert_int_equal(HDR - 14 + n, rig_be16(got + 16));
		assert_int_equal((uint16_t)(0xffff + i), rig_be16(got + 18));
		assert_int_equal(0xffffff00u + i * MSS, rig_be32(got + 38));
		assert_int_equal(flags[i], got[47]);
		assert_memory_equal(f->r->mem + i * MSS, got + HDR, n);
	}
	assert_null(rig_cqe(&f->rx_cq));
	rig_expect_sent(f, 0, 0x0e);
}

static void
test_tso_refused(void **state)
{
	struct rig_port *f = *state;
	uint8_t h[HDR];

	kernel_sq(f);
	headers(h);
	h[23] = 17; /* not TCP */
	tso(f, h, MSS, PAYLOAD);
	rig_expect_refusal(f->r, SCX_DP_R_WQE_TSO);
	assert_null(rig_cqe(&f->rx_cq));
	rig_expect_error(&f->tx_cq, 13, 0, 0x02);
}

/* A WQE that points into a hole fails; beside the hole it does not. */
static void
test_holes(void **state)
{
	static const struct scx_extents there = {2, {{0, 4096}, {8192, 4096}}};
	struct rig_port *f = *state;
	struct scx_dp_cmd c = {.op = SCX_DP_MKEY_SET};
	uint8_t frame[100];

	c.u.mkey = (struct scx_dp_mkey){.key = HOLE_KEY,
		.pdn = RIG_PD,
		.bytes = 1u << 20,
		.base = f->r->mem,
		.extents = &there,
		.local_write = 1};
	assert_int_equal(0, scx_dp_apply(f->r->dp, &c));
	memcpy(f->r->mem + 8192, rig_udp4(frame, sizeof(frame), 1, 2), sizeof(frame));
	for (uint32_t i = 0; i < 2; i++) {
		rig_ctrl(&f->sq, 0x0a, 3, 2);
		rig_eth(&f->sq, 0, 0);
		rig_dseg(&f->sq, 32, sizeof(frame), HOLE_KEY, i == 0 ? 8192 : 4050);
		rig_post(&f->sq, 3);
		rig_ring(f->r, &f->sq);
		rig_step(f->r, NULL);
		if (i == 0) {
			rig_expect_quiet(f->r);
			rig_expect_frame(f, frame, sizeof(frame));
			rig_expect_sent(f, 0, 0x0a);
		}
	}
	rig_expect_refusal(f->r, SCX_DP_R_SEG_BOUNDS);
	rig_expect_error(&f->tx_cq, 13, 1, 0x04);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_first_arm_word_is_zero, rig_port_setup, rig_port_teardown),
		cmocka_unit_test_setup_teardown(
			test_padding_bit, rig_port_setup, rig_port_teardown),
		cmocka_unit_test_setup_teardown(test_tso, rig_port_setup, rig_port_teardown),
		cmocka_unit_test_setup_teardown(
			test_tso_refused, rig_port_setup, rig_port_teardown),
		cmocka_unit_test_setup_teardown(test_holes, rig_port_setup, rig_port_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
