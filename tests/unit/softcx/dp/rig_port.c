/* SPDX-License-Identifier: BSD-3-Clause */
/* See rig.h: one SQ and one RQ on a loopback. */
#include "rig.h"

int
rig_port_setup(void **state)
{
	static struct rig_port f;

	f.r = rig_new(1);
	rig_cq(f.r, &f.tx_cq, 8, 0, 0);
	rig_cq(f.r, &f.rx_cq, 8, 0, 0);
	rig_sq(f.r, &f.sq, &f.tx_cq, 0x1805, 6);
	rig_rq(f.r, &f.rq, &f.rx_cq, 0x2803, 8, 4);
	rig_tir(f.r, RIG_TIR, f.rq.rqn);
	rig_rule(f.r, 0, NULL, SCX_FLOW_TIR, RIG_TIR);
	rig_rq_post(&f.rq, RIG_RX_BASE, RIG_RX_SIZE, 128);
	*state = &f;
	return 0;
}

int
rig_port_teardown(void **state)
{
	struct rig_port *f = *state;

	rig_cq_free(&f->tx_cq);
	rig_cq_free(&f->rx_cq);
	rig_sq_free(&f->sq);
	rig_rq_free(&f->rq);
	rig_free(f->r);
	return 0;
}

const uint8_t *
rig_expect_frame(struct rig_port *f, const uint8_t *frame, uint32_t len)
{
	const uint8_t *e = rig_cqe(&f->rx_cq);
	uint32_t slot;

	assert_non_null(e);
	assert_int_equal(e[63] >> 4, 2);
	assert_int_equal(rig_be32(e + 0x2c), len);
	assert_int_equal(rig_be32(e + 0x20), f->rq.rqn & 0xfff);
	slot = rig_cqe_counter(e) & ((1u << f->rq.log) - 1);
	assert_memory_equal(f->r->mem + RIG_RX_BASE + slot * RIG_RX_SIZE, frame, len);
	return e;
}

void
rig_expect_sent(struct rig_port *f, uint16_t index, uint8_t opcode)
{
	const uint8_t *e = rig_cqe(&f->tx_cq);

	assert_non_null(e);
	assert_int_equal(e[63] >> 4, 0);
	assert_int_equal(rig_cqe_counter(e), index);
	assert_int_equal(rig_be32(e + 0x38), (uint32_t)opcode << 24 | f->sq.sqn);
	assert_int_equal(rig_be32(e + 0x20), f->sq.sqn & 0xfff);
}

void
rig_expect_error(struct rig_cq *cq, uint8_t opcode, uint16_t index, uint8_t syndrome)
{
	const uint8_t *e = rig_cqe(cq);

	assert_non_null(e);
	assert_int_equal(e[63] >> 4, opcode);
	assert_int_equal(rig_cqe_counter(e), index);
	assert_int_equal(e[55], syndrome);
	assert_int_not_equal(e[54], 0);
}

void
rig_go(struct rig_port *f)
{
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	rig_expect_quiet(f->r);
}
