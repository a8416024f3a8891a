/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The send path from ring to frame, through the loopback into an RQ: SEND, enhanced MPW, NOP,
 * gather lists, inline headers, tags, checksums, padding, wrap in the ring and of the 16-bit index.
 */
#include "rig.h"

struct fix {
	struct rig *r;
	struct rig_cq tx_cq, rx_cq;
	struct rig_sq sq;
	struct rig_rq rq;
};

#define RX_BASE (1u << 20)
#define RX_SIZE 2048u

static int setup(void **state)
{
	static struct fix f;

	f.r = rig_new(1);
	rig_cq(f.r, &f.tx_cq, 8, 0, 0);
	rig_cq(f.r, &f.rx_cq, 8, 0, 0);
	rig_sq(f.r, &f.sq, &f.tx_cq, 0x1805, 6);
	rig_rq(f.r, &f.rq, &f.rx_cq, 0x2803, 8, 4);
	rig_tir(f.r, 0x33, f.rq.rqn);
	rig_rule(f.r, 0, NULL, SCX_FLOW_TIR, 0x33);
	rig_rq_post(&f.rq, RX_BASE, RX_SIZE, 128);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	rig_cq_free(&f->tx_cq);
	rig_cq_free(&f->rx_cq);
	rig_sq_free(&f->sq);
	rig_rq_free(&f->rq);
	rig_free(f->r);
	return 0;
}

/* The next received frame is these bytes. */
static void expect_frame(struct fix *f, const uint8_t *frame, uint32_t len)
{
	const uint8_t *e = rig_cqe(&f->rx_cq);
	uint32_t slot;

	assert_non_null(e);
	assert_int_equal(e[63] >> 4, 2);
	assert_int_equal(rig_be32(e + 0x2c), len);
	slot = rig_cqe_counter(e) & 255u;
	assert_memory_equal(f->r->mem + RX_BASE + slot * RX_SIZE, frame, len);
}

static void expect_sent(struct fix *f, uint16_t index, uint8_t opcode)
{
	const uint8_t *e = rig_cqe(&f->tx_cq);

	assert_non_null(e);
	assert_int_equal(e[63] >> 4, 0);
	assert_int_equal(rig_cqe_counter(e), index);
	assert_int_equal(rig_be32(e + 0x38), (uint32_t)opcode << 24 | f->sq.sqn);
	assert_int_equal(rig_be32(e + 0x20), f->sq.sqn & 0xfff);
}

static void test_send(void **state)
{
	struct fix *f = *state;
	uint8_t *p = rig_udp4(f->r->mem + 64, 100, 9, 9);

	rig_send(&f->sq, 64, 100, 2, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	expect_frame(f, p, 100);
	expect_sent(f, 0, 0x0a);
	assert_null(rig_cqe(&f->tx_cq));
	rig_expect_quiet(f->r);
}

static void test_empw_inline(void **state)
{
	struct fix *f = *state;
	uint8_t a[64];
	uint32_t i;

	rig_udp4(a, sizeof(a), 1, 2);
	for (i = 0; i < 3000; i++) { /* laps of the ring; every fifth WQE wraps in it */
		a[60] = (uint8_t)i;
		rig_empw_inline(&f->sq, a, sizeof(a), i & 1 ? 2 : 1);
		rig_ring(f->r, &f->sq);
		rig_step(f->r, NULL);
		expect_frame(f, a, sizeof(a));
		if (i & 1)
			expect_sent(f, (uint16_t)(f->sq.pi - 2), 0x29);
		assert_null(rig_cqe(&f->tx_cq));
		rig_rq_post(&f->rq, RX_BASE, RX_SIZE, 1);
	}
	rig_expect_quiet(f->r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_send, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empw_inline, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
