/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that only a copy engine reaches. A driver looks and works on its side between any two
 * words that the engine's stand-in moves: what a CQE stands for is there when its owner bit is, and
 * WQEs that were posted at any moment, with their record behind them, are read whole. Seeds decide
 * in which order words go and when the driver acts.
 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>

#include "drivers/softcx/far/far.h"

#define FRAMES 300u
#define LEN    200u
#define SEEDS  8u

struct driver {
	struct rig_port *f;
	uint64_t seed;
	uint32_t posted, sent, received;
	uint32_t between; /* times that something was posted or taken in the middle of a step */
	bool busy;	  /* in a step */
};

static uint32_t
rnd(struct driver *d)
{
	d->seed = d->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(d->seed >> 33);
}

static void
frame_of(uint8_t *frame, uint32_t i)
{
	rig_udp4(frame, LEN, 1, 1);
	for (uint32_t k = 42; k < LEN; k++)
		frame[k] = (uint8_t)(i * 7 + k);
}

/* The next frame: bytes, WQE, record; the register with chance, and in the end for all. */
static void
post(struct driver *d)
{
	uint32_t off = d->posted % 64u * 256u;
	struct rig_port *f = d->f;

	if (d->posted == FRAMES || d->posted - d->sent >= 32u || d->posted - d->received >= 100u)
		return;
	frame_of(f->r->mem + off, d->posted++);
	rig_send(&f->sq, off, LEN, 2, 0);
	if (rnd(d) % 2u == 0) {
		rig_put_be32((uint8_t *)&f->sq.rec[1], f->sq.pi);
		d->between += d->busy;
	} else {
		rig_ring(f->r, &f->sq);
	}
}

/* What is valid now is right now, and comes in order. */
static void
take(struct driver *d)
{
	struct rig_port *f = d->f;
	uint8_t want[LEN];
	const uint8_t *e;

	e = rig_cqe(&f->tx_cq);
	if (e != NULL) {
		assert_int_equal(e[63] >> 4, 0);
		assert_int_equal(rig_cqe_counter(e), (uint16_t)d->sent);
		assert_int_equal(rig_be32(e + 0x38), 0x0au << 24 | f->sq.sqn);
		assert_int_equal(rig_be32(e + 0x20), f->sq.sqn & 0xfff);
		d->sent++;
		d->between += d->busy;
	}
	if (d->f->rx_cq.ci != d->received)
		fail_msg("a CQE was taken twice");
	frame_of(want, d->received);
	e = f->rx_cq.ring + (size_t)(f->rx_cq.ci & 255u) * 64;
	if (e[63] >> 4 == 0xf || (e[63] & 1) != (f->rx_cq.ci >> 8 & 1))
		return;
	rig_expect_frame(f, want, LEN);
	d->received++;
	rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 1);
	d->between += d->busy;
}

static void
look(void *arg)
{
	struct driver *d = arg;

	if (rnd(d) % 8u == 0)
		post(d);
	take(d);
}

static void
run(uint64_t seed)
{
	char text[16];
	struct driver d = {.seed = seed};
	void *port;

	snprintf(text, sizeof(text), "%u", (unsigned)seed);
	setenv("RIG_COPY", text, 1);
	assert_int_equal(rig_port_setup(&port), 0);
	d.f = port;
	scx_mover_seeded_watch(scx_far_mover(d.f->r->far), look, &d);
	for (uint32_t i = 0; i < 20000 && (d.sent < FRAMES || d.received < FRAMES); i++) {
		post(&d);
		rig_ring(d.f->r, &d.f->sq);
		d.busy = true;
		scx_dp_step(d.f->r->dp, NULL, 64);
		d.busy = false;
		take(&d);
	}
	assert_int_equal(d.sent, FRAMES);
	assert_int_equal(d.received, FRAMES);
	assert_true(d.between > FRAMES / 2);
	rig_step(d.f->r, NULL);
	rig_expect_quiet(d.f->r);
	rig_port_teardown(&port);
}

static void
between_words(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run(seed);
}

/* When a command has returned, nothing is on its way: the driver may free what the queue had. */
static void
commands(void **state)
{
	struct rig_port *f;
	void *port;

	setenv("RIG_COPY", "3", 1);
	assert_int_equal(rig_port_setup(&port), 0);
	f = port;
	frame_of(f->r->mem, 0);
	for (uint32_t i = 0; i < 20; i++)
		rig_send(&f->sq, 0, LEN, 2, 0);
	rig_ring(f->r, &f->sq);
	scx_dp_step(f->r->dp, NULL, 64);
	assert_int_equal(rig_apply(f->r, SCX_DP_SQ_DEL, f->sq.sqn, 0), 0);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(f->rx_cq.ring[(size_t)i * 64 + 63] >> 4, 2);
	assert_int_equal(scx_far_copy(f->r->far)->turn(scx_far_copy(f->r->far)->arg), 0);
	rig_port_teardown(&port);
}

static unsigned
takes_none(struct scx_wire *w, const struct scx_frame *f, unsigned nr)
{
	(void)w;
	(void)f;
	(void)nr;
	return 0;
}

static unsigned
has_none(struct scx_wire *w, struct scx_frame *f, unsigned nr)
{
	return takes_none(w, f, nr);
}

static const struct scx_copy *engine;

/* Nothing is pulled that is larger than a CQ, the largest ring here. */
static void
small_pull(void *arg, void *p, size_t bytes)
{
	assert_true(bytes <= 256u * 64u);
	engine->pull(arg, p, bytes);
}

/* A record that is taken back while WQEs wait: those before it are sent; the ring has an end. */
static void
record_back(void **state)
{
	static const struct scx_wire_ops ops = {
		.name = "full", .send = takes_none, .recv = has_none};
	struct scx_wire w = {.ops = &ops};
	struct scx_copy watched;
	struct rig_port *f;
	uint32_t back, i;
	void *port;

	for (back = 1; back <= 60; back += 59) {
		setenv("RIG_COPY", "5", 1);
		assert_int_equal(rig_port_setup(&port), 0);
		f = port;
		engine = scx_far_copy(f->r->far);
		watched = *engine;
		watched.pull = small_pull;
		scx_dp_copy(f->r->dp, &watched);
		for (uint32_t turn = 0; turn < 3; turn++) {
			for (i = 0; i < 60 && turn < 2; i++)
				rig_send(&f->sq, 0, LEN, 2, 0);
			f->sq.pi = (uint16_t)(f->sq.pi - (turn == 2 ? back : 0));
			rig_ring(f->r, &f->sq);
			for (i = 0; i < 8; i++)
				scx_dp_step(f->r->dp, &w, 64);
		}
		rig_step(f->r, NULL);
		for (i = 0; i < 120 - back; i++)
			assert_non_null(rig_cqe(&f->tx_cq));
		assert_null(rig_cqe(&f->tx_cq));
		rig_port_teardown(&port);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between_words),
		cmocka_unit_test(commands),
		cmocka_unit_test(record_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
