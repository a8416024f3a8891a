/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive side: scatter lists, credit from the record, out of buffer, tags, FCS, what a CQE
 * says of a frame.
 */
#include "rig.h"

static uint64_t
out_of_buffer(struct rig *r, uint32_t clear)
{
	struct scx_dp_cmd c = {.op = SCX_DP_COUNTER_READ, .num = 3, .arg = clear};

	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
	return c.result[0];
}

/* Credit is what the record said; it is read again when that is used up, and only then. */
static void
test_credit(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 64, 1, 1);
	struct scx_dp_stats s;
	uint32_t i;

	for (i = 0; i < 130; i++) {
		rig_send(&f->sq, 0, 64, 1, 0);
		rig_go(f);
		if (i < 128)
			rig_expect_frame(f, p, 64);
	}
	assert_null(rig_cqe(&f->rx_cq));
	assert_int_equal(out_of_buffer(f->r, 0), 2);
	assert_int_equal(out_of_buffer(f->r, 1), 2);
	assert_int_equal(out_of_buffer(f->r, 0), 0);
	rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 1);
	rig_send(&f->sq, 0, 64, 1, 0);
	rig_go(f);
	assert_int_equal(rig_cqe_counter(rig_expect_frame(f, p, 64)), 128);
	scx_dp_stats(f->r->dp, &s);
	assert_int_equal(s.rx_no_buffer, 2);
	assert_int_equal(s.rx_frames, 129);
	assert_int_equal(s.tx_frames, 131);
	assert_int_equal(s.rx_bytes, 129 * 64);
}

/* An RQ in RST takes nothing; net_mlx5 moves it to RDY before it posts; a reset starts at 0. */
static void
test_states(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 64, 1, 1);
	struct scx_dp_cmd q = {.op = SCX_DP_QUERY_RQ, .num = f->rq.rqn};

	assert_int_equal(rig_apply(f->r, SCX_DP_RQ_STATE, f->rq.rqn, 0), 0);
	rig_send(&f->sq, 0, 64, 1, 0);
	rig_go(f);
	assert_null(rig_cqe(&f->rx_cq));
	f->rq.pi = 0;
	f->rq.rec[0] = 0;
	assert_int_equal(rig_apply(f->r, SCX_DP_RQ_STATE, f->rq.rqn, 1), 0);
	rig_send(&f->sq, 0, 64, 1, 0);
	rig_go(f);
	assert_null(rig_cqe(&f->rx_cq));
	assert_int_equal(out_of_buffer(f->r, 0), 1);
	rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 2);
	rig_send(&f->sq, 0, 64, 1, 0);
	rig_go(f);
	assert_int_equal(rig_cqe_counter(rig_expect_frame(f, p, 64)), 0);
	assert_int_equal(scx_dp_apply(f->r->dp, &q), 0);
	assert_int_equal(q.result[0], 1);
	assert_int_equal(q.result[1], 2);
	assert_int_equal(q.result[2], 1);
}

/* A queue of one WQE: the drop queue of net_mlx5 has log size 0. */
static void
test_log_zero(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 64, 1, 1);
	struct rig_rq one;
	uint32_t i;

	rig_rq(f->r, &one, &f->rx_cq, 0x2900, 0, 4);
	rig_tir(f->r, RIG_TIR, one.rqn);
	for (i = 0; i < 3; i++) {
		rig_rq_post(&one, RIG_RX_BASE, RIG_RX_SIZE, 1);
		rig_send(&f->sq, 0, 64, 1, 0);
		rig_send(&f->sq, 0, 64, 1, 0);
		rig_go(f);
		assert_int_equal(rig_cqe_counter(rig_cqe(&f->rx_cq)), i);
		assert_null(rig_cqe(&f->rx_cq));
		assert_memory_equal(f->r->mem + RIG_RX_BASE, p, 64);
	}
	rig_rq_free(&one);
}

static void
put_seg(uint8_t *w, uint32_t len, uint32_t key, uint64_t addr)
{
	uint32_t v[4] = {__builtin_bswap32(len), __builtin_bswap32(key),
		__builtin_bswap32((uint32_t)(addr >> 32)), __builtin_bswap32((uint32_t)addr)};

	memcpy(w, v, 16);
}

/* Four entries a WQE; all lengths of frame up to what they take; a terminator ends the list. */
static void
test_scatter(void **state)
{
	struct rig_port *f = *state;
	struct rig_rq rq;
	uint8_t *m = f->r->mem + RIG_RX_BASE, *p = f->r->mem;
	uint32_t len, i;

	rig_rq(f->r, &rq, &f->rx_cq, 0x2900, 4, 6);
	rig_tir(f->r, RIG_TIR, rq.rqn);
	for (i = 0; i < 16; i++) {
		put_seg(rq.ring + i * 64, 50, RIG_KEY, RIG_IOVA + RIG_RX_BASE);
		put_seg(rq.ring + i * 64 + 16, 1, RIG_KEY, RIG_IOVA + RIG_RX_BASE + 1000);
		put_seg(rq.ring + i * 64 + 32, 200, RIG_KEY, RIG_IOVA + RIG_RX_BASE + 2000);
		put_seg(rq.ring + i * 64 + 48, 0, 0x100, 0);
	}
	for (len = 60; len <= 251; len++) {
		memset(m, 0xdd, 4096);
		rig_udp4(p, len, 5, 6);
		rq.rec[0] = __builtin_bswap32(len - 59);
		rig_send(&f->sq, 0, len, 1, 0);
		rig_go(f);
		assert_int_equal(rig_be32(rig_cqe(&f->rx_cq) + 0x2c), len);
		assert_memory_equal(m, p, 50);
		assert_int_equal(m[50], 0xdd);
		assert_int_equal(m[1000], p[50]);
		assert_int_equal(m[1001], 0xdd);
		assert_memory_equal(m + 2000, p + 51, len - 51);
		assert_int_equal(m[2000 + len - 51], 0xdd);
	}
	rig_rq_free(&rq);
}

/* Replace the fixture's RQ by one with other properties. */
static void
other_rq(struct rig_port *f, int strip, int fcs)
{
	struct scx_dp_cmd c = {.op = SCX_DP_RQ_SET};

	assert_int_equal(rig_apply(f->r, SCX_DP_RQ_DEL, f->rq.rqn, 0), 0);
	c.u.rq.rqn = f->rq.rqn;
	c.u.rq.cqn = f->rx_cq.cqn;
	c.u.rq.pdn = RIG_PD;
	c.u.rq.user_index = f->rq.rqn & 0xfff;
	c.u.rq.ring.base = f->rq.ring;
	c.u.rq.ring.bytes = 4096;
	c.u.rq.dbrec = f->rq.rec;
	c.u.rq.log_depth = 8;
	c.u.rq.log_stride = 4;
	c.u.rq.vlan_strip = (uint8_t)strip;
	c.u.rq.scatter_fcs = (uint8_t)fcs;
	c.u.rq.state = 1;
	assert_int_equal(scx_dp_apply(f->r->dp, &c), 0);
}

static void
test_vlan_strip(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[100], *p = f->r->mem;
	const uint8_t *e;

	other_rq(f, 1, 0);
	rig_udp4(a, sizeof(a), 5, 6);
	memcpy(p, a, 12);
	memcpy(p + 12, "\x81\x00\x2f\xfe", 4);
	memcpy(p + 16, a + 12, 88);
	rig_send(&f->sq, 0, 104, 1, 0);
	rig_go(f);
	e = rig_expect_frame(f, a, sizeof(a));
	assert_int_equal(rig_be16(e + 0x1e), 0x2ffe);
	assert_int_equal(e[0x1d], 1 | 2 << 2 | 2 << 4);
	assert_int_equal(e[0x1c], 7);
	/* a service tag stays, and so does an untagged frame */
	p[12] = 0x88;
	p[13] = 0xa8;
	rig_send(&f->sq, 0, 104, 1, 0);
	rig_go(f);
	e = rig_expect_frame(f, p, 104);
	assert_int_equal(rig_be16(e + 0x1e), 0);
	assert_int_equal(e[0x1d] & 1, 0);
	other_rq(f, 0, 0);
	f->rq.pi = 0;
	rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 128);
	p[12] = 0x81;
	p[13] = 0x00;
	rig_send(&f->sq, 0, 104, 1, 0);
	rig_go(f);
	rig_expect_frame(f, p, 104);
}

/* CRC-32 bit by bit, as IEEE 802.3 defines it. */
static uint32_t
crc32_slow(const uint8_t *p, uint32_t n)
{
	uint32_t c = 0xffffffffu, i, b;

	for (i = 0; i < n; i++) {
		c ^= p[i];
		for (b = 0; b < 8; b++)
			c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
	}
	return ~c;
}

static void
test_fcs(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[104];
	uint32_t fcs;

	assert_int_equal(crc32_slow((const uint8_t *)"123456789", 9), 0xcbf43926u);
	other_rq(f, 0, 1);
	memcpy(f->r->mem, rig_udp4(a, 100, 5, 6), 100);
	fcs = crc32_slow(a, 100);
	memcpy(a + 100, &fcs, 4);
	rig_send(&f->sq, 0, 100, 1, 0);
	rig_go(f);
	rig_expect_frame(f, a, 104);
}

static void
test_jumbo(void **state)
{
	struct rig_port *f = *state;
	uint8_t *p = rig_udp4(f->r->mem, 9014, 5, 6);
	struct scx_dp_stats s;
	const uint8_t *e;

	rig_send(&f->sq, 0, 9014, 2, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	rig_expect_refusal(f->r, SCX_DP_R_REMARK_TX_MTU);
	rig_expect_sent(f, 0, 0x0a); /* gone, but no error of the queue */
	scx_dp_stats(f->r->dp, &s);
	assert_int_equal(s.tx_too_long, 1);
	assert_int_equal(rig_apply(f->r, SCX_DP_PORT_SET, 0, 9000), 0);
	f->rq.pi = 0;
	rig_rq_post(&f->rq, RIG_RX_BASE, 9216, 128);
	rig_send(&f->sq, 0, 9014, 2, 0);
	rig_go(f);
	e = rig_cqe(&f->rx_cq);
	assert_int_equal(rig_be32(e + 0x2c), 9014);
	assert_memory_equal(f->r->mem + RIG_RX_BASE, p, 9014);
	assert_int_equal(e[0x1c], 7);
}

static void
test_link_down(void **state)
{
	struct rig_port *f = *state;

	rig_udp4(f->r->mem, 64, 5, 6);
	assert_int_equal(rig_apply(f->r, SCX_DP_PORT_SET, 0, 0), 0);
	rig_send(&f->sq, 0, 64, 2, 0);
	rig_go(f);
	assert_null(rig_cqe(&f->rx_cq));
	rig_expect_sent(f, 0, 0x0a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, rig_port_setup, rig_port_teardown)
		T(test_credit),
		T(test_states),
		T(test_log_zero),
		T(test_scatter),
		T(test_vlan_strip),
		T(test_fcs),
		T(test_jumbo),
		T(test_link_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
