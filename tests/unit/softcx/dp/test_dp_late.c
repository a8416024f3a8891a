/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DMA that completes later: what a driver may see on the way is what PCI Express allows, each of
 * the orders that it allows is really seen, and nothing stays behind. One step at a time; between
 * two steps the test looks at the memory as a driver would.
 */
#include "rig.h"

#include <stdlib.h>

#include "drivers/softcx/fault.h"

#define DELAY	  8u
#define FRAME	  1000u /* four pieces */
#define PIECE	  256u
#define PIECES	  4u
#define STEPS_MAX 400
#define FRAMES	  120u /* fewer than buffers */

struct late {
	struct rig_port *f;
	void *mem;
};

static int
setup(void **state)
{
	const struct scx_fault_plan plan = {.dma_delay = DELAY};
	struct late *l = calloc(1, sizeof(*l));
	void *port;

	assert_int_equal(0, rig_port_setup(&port));
	l->f = port;
	l->mem = aligned_alloc(64, (scx_dp_late_bytes() + 63) & ~(size_t)63);
	assert_non_null(l->mem);
	scx_dp_faults(l->f->r->dp, &plan);
	scx_dp_late(l->f->r->dp, l->mem);
	*state = l;
	return 0;
}

static int
teardown(void **state)
{
	struct late *l = *state;

	rig_port_teardown((void **)&l->f);
	free(l->mem);
	free(l);
	return 0;
}

/* The driver's view of its next CQE, not taken. */
static bool
ready(const struct rig_cq *cq)
{
	uint8_t own = __atomic_load_n(
		&cq->ring[(size_t)(cq->ci & ((1u << cq->log) - 1)) * 64 + 63], __ATOMIC_ACQUIRE);

	return own >> 4 != 0xf && (own & 1) == (cq->ci >> cq->log & 1);
}

/* One frame out; what is in its receive buffer is filled first, so that arrivals can be seen. */
static uint8_t *
send_one(struct rig_port *f, uint32_t i)
{
	uint8_t *buf = f->r->mem + RIG_RX_BASE + (size_t)(i % 128) * RIG_RX_SIZE;
	uint8_t *frame = f->r->mem;

	rig_udp4(frame, FRAME, 1, 1);
	for (uint32_t k = 42; k < FRAME; k++)
		frame[k] = (uint8_t)(0x80 | (k + i)); /* never the fill */
	memset(buf, 0, FRAME);
	rig_send(&f->sq, 0, FRAME, 2, 0);
	rig_ring(f->r, &f->sq);
	return buf;
}

/* Pieces of the frame that have arrived, as a bit mask; none of them in part. */
static unsigned
arrived(const uint8_t *buf, const uint8_t *frame)
{
	unsigned mask = 0;

	for (unsigned p = 0; p < PIECES; p++) {
		uint32_t from = p * PIECE, n = p == PIECES - 1 ? FRAME - from : PIECE;

		if (memcmp(buf + from, frame + from, n) == 0)
			mask |= 1u << p;
	}
	return mask;
}

struct seen {
	unsigned hole;	     /* a later piece there, an earlier one not */
	unsigned data_early; /* all bytes there, the CQE not yet */
	unsigned send_first; /* the sender's CQE before the receiver's */
	unsigned receive_first;
	unsigned waited; /* rung, and not a byte moved in that step */
	uint64_t trace;	 /* of all that was seen, in order */
};

static void
note(struct seen *s, unsigned v)
{
	s->trace = (s->trace ^ v) * 0x100000001b3ull;
}

static void
watch(struct rig_port *f, uint32_t i, struct seen *s)
{
	const uint8_t *buf = send_one(f, i);
	bool sent = false, received = false;
	int step;

	for (step = 0; step < STEPS_MAX && !(sent && received); step++) {
		unsigned mask;

		scx_dp_step(f->r->dp, NULL, 64);
		mask = arrived(buf, f->r->mem);
		note(s, mask | (unsigned)ready(&f->rx_cq) << 8 | (unsigned)ready(&f->tx_cq) << 9);
		s->waited += step == 0 && mask == 0 && !ready(&f->tx_cq);
		s->hole += (mask & (mask + 1)) != 0;
		s->data_early += mask == 0xf && !received && !ready(&f->rx_cq);
		if (!received && ready(&f->rx_cq)) {
			assert_int_equal(0xf, mask); /* what the CQE stands for is there */
			received = true;
			s->receive_first += !sent && !ready(&f->tx_cq);
		}
		if (!sent && ready(&f->tx_cq)) {
			sent = true;
			s->send_first += !received;
		}
	}
	assert_true(sent && received);
	assert_non_null(rig_cqe(&f->tx_cq));
	rig_expect_frame(f, f->r->mem, FRAME);
}

static struct seen
watch_all(struct rig_port *f)
{
	struct seen s = {0};

	for (uint32_t i = 0; i < FRAMES; i++)
		watch(f, i, &s);
	return s;
}

static void
orders(void **state)
{
	struct late *l = *state;
	struct seen s = watch_all(l->f);

	assert_true(s.hole > 10);
	assert_true(s.data_early > 10);
	assert_true(s.send_first > 10);
	assert_true(s.receive_first > 10);
	assert_true(s.waited > 10);
	rig_expect_quiet(l->f->r);
}

static void
repeats(void **state)
{
	struct late *l = *state;
	uint64_t first = watch_all(l->f).trace;
	void *again = l;

	teardown(&again);
	assert_int_equal(0, setup(state));
	l = *state;
	assert_true(first == watch_all(l->f).trace);
}

/* CQEs of one CQ become valid in order, whatever their frames do. */
static void
in_order(void **state)
{
	struct late *l = *state;
	struct rig_port *f = l->f;
	uint32_t got = 0;

	rig_udp4(f->r->mem, FRAME, 1, 1);
	for (uint32_t i = 0; i < 60; i++)
		rig_send(&f->sq, 0, FRAME, 2, 0);
	rig_ring(f->r, &f->sq);
	for (int step = 0; step < STEPS_MAX && got < 60; step++) {
		uint32_t valid = 0;

		scx_dp_step(f->r->dp, NULL, 64);
		for (uint32_t i = 0; i < 60; i++) {
			uint8_t own = f->rx_cq.ring[(size_t)i * 64 + 63];

			if (own >> 4 == 0xf)
				break;
			valid++;
		}
		for (uint32_t i = valid; i < 60; i++)
			assert_int_equal(0xf, f->rx_cq.ring[(size_t)i * 64 + 63] >> 4);
		got = valid;
	}
	assert_int_equal(60, got);
}

/* An event never comes before its CQE. */
static void
events(void **state)
{
	struct late *l = *state;
	struct rig_port *f = l->f;
	struct scx_dp_report rep;
	int told = 0;

	for (uint32_t i = 0; i < 60; i++) {
		send_one(f, i);
		rig_put_be32((uint8_t *)&f->rx_cq.rec[1], f->rx_cq.ci & 0xffffff);
		rig_put_be32(f->r->uar + 4096 * RIG_PAGE + 0x24, f->rx_cq.cqn);
		for (int step = 0; step < STEPS_MAX && !(ready(&f->tx_cq) && told == (int)i + 1);
			step++) {
			scx_dp_step(f->r->dp, NULL, 64);
			while (scx_dp_take_report(f->r->dp, &rep)) {
				assert_int_equal(SCX_DP_CQ_EVENT, rep.kind);
				assert_true(ready(&f->rx_cq));
				told++;
			}
		}
		assert_int_equal(i + 1, told);
		assert_non_null(rig_cqe(&f->tx_cq));
		assert_non_null(rig_cqe(&f->rx_cq));
	}
}

/* A command, such as one that destroys the queue, finds nothing on its way. */
static void
commands(void **state)
{
	struct late *l = *state;
	struct rig_port *f = l->f;
	const uint8_t *buf = send_one(f, 0);
	static uint8_t after[FRAME];

	for (int step = 0; step < STEPS_MAX && arrived(buf, f->r->mem) == 0; step++)
		scx_dp_step(f->r->dp, NULL, 64);
	assert_int_equal(0, rig_apply(f->r, SCX_DP_PORT_SET, 0, 1500));
	assert_int_equal(0xf, arrived(buf, f->r->mem));
	assert_true(ready(&f->rx_cq));
	memcpy(after, buf, FRAME);
	for (int step = 0; step < 50; step++)
		scx_dp_step(f->r->dp, NULL, 64);
	assert_memory_equal(after, buf, FRAME);
}

static uint64_t
wqes_read(struct rig_port *f)
{
	struct scx_dp_stats stats;

	scx_dp_stats(f->r->dp, &stats);
	return stats.wqes;
}

/*
 * A driver that writes a frame's buffer anew once the NIC has read the WQE, and before the send's
 * CQE: some frames leave with what it wrote too early, some do not. With the CQE, none.
 */
static void
reads_late(void **state)
{
	struct late *l = *state;
	struct rig_port *f = l->f;
	uint32_t i, spoilt = 0, whole = 0, step;
	uint8_t *buf, was;
	bool early;

	for (i = 0; i < FRAMES; i++) {
		buf = send_one(f, i);
		was = f->r->mem[500];
		early = i % 2u == 0; /* every other frame: as a driver must */
		for (step = 0; step < STEPS_MAX; step++) {
			if (early ? wqes_read(f) > i : ready(&f->tx_cq))
				break;
			scx_dp_step(f->r->dp, NULL, 64);
		}
		f->r->mem[500] = 1;
		for (; step < STEPS_MAX && !(ready(&f->tx_cq) && ready(&f->rx_cq)); step++)
			scx_dp_step(f->r->dp, NULL, 64);
		assert_true(buf[500] == was || (buf[500] == 1 && early));
		spoilt += buf[500] == 1;
		whole += early && buf[500] == was;
		assert_non_null(rig_cqe(&f->tx_cq));
		assert_non_null(rig_cqe(&f->rx_cq));
	}
	assert_true(spoilt > 5u && whole > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_late, setup, teardown),
		cmocka_unit_test_setup_teardown(orders, setup, teardown),
		cmocka_unit_test_setup_teardown(repeats, setup, teardown),
		cmocka_unit_test_setup_teardown(in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(events, setup, teardown),
		cmocka_unit_test_setup_teardown(commands, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
