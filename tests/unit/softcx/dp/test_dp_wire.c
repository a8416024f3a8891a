/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wires without a network, alone and under two data paths: frames come out as they went in, in
 * order, a full one takes no more and loses none, a slow one holds the sender back.
 */
#include "rig.h"

static uint32_t
fill(uint8_t *b, uint32_t i)
{
	uint32_t len = 60 + i * 37 % 9000, k;

	for (k = 0; k < len; k++)
		b[k] = (uint8_t)(i + k);
	return len;
}

static void
check(const struct scx_frame *f, uint32_t i)
{
	static uint8_t want[9100];
	uint32_t len = fill(want, i);

	assert_int_equal(f->len, len);
	assert_int_equal(f->flags, i & 1);
	assert_memory_equal(f->data, want, len);
}

/* All sizes, with bursts that fill it: what is not taken is offered again. */
static void
through(struct scx_wire *in, struct scx_wire *out)
{
	static uint8_t buf[8][9100];
	struct scx_frame f[8], g[5];
	uint32_t sent = 0, got = 0, full = 0;
	unsigned i, n;

	while (got < 20000) {
		for (i = 0; i < 8; i++) {
			f[i].data = buf[i];
			f[i].len = fill(buf[i], sent + i);
			f[i].flags = (sent + i) & 1;
		}
		n = in->ops->send(in, f, 8);
		sent += n;
		full += n < 8;
		n = out->ops->recv(out, g, 5);
		for (i = 0; i < n; i++)
			check(&g[i], got + i);
		got += n;
	}
	assert_true(full > 100);
	while ((n = out->ops->recv(out, g, 5)) > 0) {
		for (i = 0; i < n; i++)
			check(&g[i], got + i);
		got += n;
	}
	assert_int_equal(got, sent);
}

static void
test_loopback(void **state)
{
	struct scx_wire *w = scx_wire_loopback();

	(void)state;
	assert_non_null(w);
	through(w, w);
	w->ops->close(w);
}

static void
test_cable(void **state)
{
	struct scx_wire *a, *b;

	(void)state;
	assert_int_equal(scx_wire_pair(&a, &b), 0);
	through(a, b);
	through(b, a);
	a->ops->close(a);
	b->ops->close(b);
}

/* Two NICs on one cable, both ways. */
static void
test_two_nics(void **state)
{
	struct rig_port f, g;
	struct scx_wire *a, *b;
	void *s = NULL;
	uint8_t *p, *q;
	uint32_t i;

	assert_int_equal(scx_wire_pair(&a, &b), 0);
	f = *(struct rig_port *)*state;
	rig_port_setup(&s); /* the fixture is static: this one is g's now, f has a copy */
	g = *(struct rig_port *)s;
	(void)f;
	p = rig_udp4(g.r->mem, 80, 1, 2);
	rig_send(&((struct rig_port *)s)->sq, 0, 80, 2, 0);
	rig_ring(g.r, &((struct rig_port *)s)->sq);
	rig_step(g.r, a);
	rig_step(f.r, b);
	q = f.r->mem + RIG_RX_BASE;
	assert_memory_equal(q, p, 80);
	assert_int_equal(f.rx_cq.ring[63] >> 4, 2);
	for (i = 0; i < 2; i++)
		assert_int_equal(g.rx_cq.ring[63 + 64 * i] >> 4, 0xf);
	a->ops->close(a);
	b->ops->close(b);
	rig_cq_free(&f.tx_cq);
	rig_cq_free(&f.rx_cq);
	rig_sq_free(&f.sq);
	rig_rq_free(&f.rq);
	rig_free(f.r);
}

/* A wire that takes three frames at a time, and only when asked to. */
static unsigned allowed;
static uint8_t taken[64];
static unsigned nr_taken;

static unsigned
slow_send(struct scx_wire *w, const struct scx_frame *f, unsigned nr)
{
	unsigned n = 0;

	(void)w;
	for (; n < nr && n < allowed; n++)
		taken[nr_taken++] = f[n].data[59];
	allowed -= n;
	return n;
}

static unsigned
slow_recv(struct scx_wire *w, struct scx_frame *f, unsigned nr)
{
	(void)w;
	(void)f;
	(void)nr;
	return 0;
}

/* What the wire did not take is the NIC's own by then: the driver may reuse its memory, delete
 * keys. */
static void
test_slow_wire(void **state)
{
	static const struct scx_wire_ops ops = {
		.name = "slow", .send = slow_send, .recv = slow_recv};
	struct rig_port *f = *state;
	struct scx_wire w = {&ops, 0};
	uint8_t a[64] = {0};
	uint32_t i;

	allowed = 3;
	nr_taken = 0;
	for (i = 0; i < 8; i++) {
		f->r->mem[64 * i + 59] = (uint8_t)i;
		rig_send(&f->sq, 64 * i, 60, i == 7 ? 2 : 1, 0);
	}
	rig_ring(f->r, &f->sq);
	rig_step(f->r, &w);
	assert_int_equal(nr_taken, 3);
	rig_expect_sent(f, 7, 0x0a);
	memset(f->r->mem, 0xee, 4096);
	assert_int_equal(rig_apply(f->r, SCX_DP_MKEY_DEL, RIG_KEY, 0), 0);
	a[59] = 8;
	rig_empw_inline(&f->sq, a, 60, 2);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, &w); /* still full: not even fetched */
	assert_null(rig_cqe(&f->tx_cq));
	allowed = 60;
	rig_step(f->r, &w);
	assert_int_equal(nr_taken, 9);
	for (i = 0; i < 9; i++)
		assert_int_equal(taken[i], i);
	rig_expect_sent(f, 8, 0x29);
	rig_expect_quiet(f->r);
}

/* A wire that takes frames back: it waits for a rule and for a buffer, and nothing is counted lost.
 */
static unsigned given, backs;

static unsigned
patient_recv(struct scx_wire *w, struct scx_frame *f, unsigned nr)
{
	static uint8_t a[64];

	(void)w;
	assert_int_equal(nr, 1);
	if (given == 3)
		return 0;
	f->data = rig_udp4(a, 64, (uint16_t)given, 5);
	f->len = 64;
	f->flags = 0;
	given++;
	return 1;
}

static void
patient_back(struct scx_wire *w)
{
	(void)w;
	given--;
	backs++;
}

static void
test_patient_wire(void **state)
{
	static const struct scx_wire_ops ops = {
		.name = "patient", .send = slow_send, .recv = patient_recv, .back = patient_back};
	struct rig_port *f = *state;
	struct scx_wire w = {&ops, 0};
	struct scx_dp_stats s;
	uint8_t a[64];
	uint32_t i;

	given = backs = 0;
	assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, 1, 0), 0);
	rig_step(f->r, &w);
	assert_int_equal(given, 0);
	assert_int_equal(backs, 1);
	f->rq.pi = 0;
	rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 2);
	rig_rule(f->r, 0, NULL, SCX_FLOW_TIR, RIG_TIR);
	rig_step(f->r, &w);
	assert_int_equal(given, 2);
	rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 2);
	rig_step(f->r, &w);
	assert_int_equal(given, 3);
	for (i = 0; i < 3; i++)
		rig_expect_frame(f, rig_udp4(a, 64, (uint16_t)i, 5), 64);
	scx_dp_stats(f->r->dp, &s);
	assert_int_equal(s.rx_no_buffer + s.rx_no_match, 0);
}

/* A drop rule before the first posted receive buffer is a driver's probe: no frame is lost. */
static void
test_patient_wire_probe(void **state)
{
	static const struct scx_wire_ops ops = {
		.name = "patient", .send = slow_send, .recv = patient_recv, .back = patient_back};
	struct rig_port *f = *state;
	struct scx_wire w = {&ops, 0};
	struct scx_dp_stats s;
	uint32_t drop, credit = f->rq.rec[0];

	given = backs = 0;
	assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, 1, 0), 0);
	f->rq.rec[0] = 0; /* nothing posted */
	drop = rig_rule(f->r, 0, NULL, SCX_FLOW_DROP, 0);
	rig_step(f->r, &w);
	assert_int_equal(given, 0);
	assert_int_equal(backs, 1);
	assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, drop, 0), 0);
	f->rq.rec[0] = credit;
	rig_rule(f->r, 0, NULL, SCX_FLOW_TIR, RIG_TIR);
	rig_step(f->r, &w);
	assert_int_equal(given, 3);
	given = 0;
	drop = rig_rule(f->r, 0, NULL, SCX_FLOW_DROP, 0); /* the newer of two: now it is meant */
	rig_step(f->r, &w);
	scx_dp_stats(f->r->dp, &s);
	assert_int_equal(given, 3);
	assert_int_equal(s.rx_dropped, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, rig_port_setup, rig_port_teardown)
		cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_cable),
		T(test_two_nics),
		T(test_slow_wire),
		T(test_patient_wire),
		T(test_patient_wire_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
