/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers against the scalar data path: two ports in the same state are given the same random WQEs
 * and buffers, one is stepped by lanes in random orders, the other as ever. Every byte that a
 * driver sees, and every counter, must be equal; and workers must have done the plain work
 * themselves.
 */
#include "rig.h"

#include <stdlib.h>

#include "drivers/softcx/dp/dp_all.h"

#define PORTS  2u
#define QUEUES 3u
#define LOG    6u
#define ROUNDS 400u
#define BUF    256u

struct port {
	struct rig *r;
	struct rig_cq tx_cq[QUEUES], rx_cq[QUEUES];
	struct rig_sq sq[QUEUES];
	struct rig_rq rq[QUEUES];
};

static uint64_t seed;

static uint32_t
rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % n;
}

/* Queue q on a page of its own; its frames come back to it by their destination MAC. */
static void
open_port(struct port *p)
{
	struct scx_dp_cmd c = {.op = SCX_DP_SQ_SET};
	uint8_t mac[6] = {2, 0, 0, 0, 0, 0};
	uint32_t q;

	memset(p, 0, sizeof(*p));
	p->r = rig_new(3);
	for (q = 0; q < QUEUES; q++) {
		rig_cq(p->r, &p->tx_cq[q], LOG, 0, 0);
		rig_cq(p->r, &p->rx_cq[q], LOG, 0, 0);
		rig_sq(p->r, &p->sq[q], &p->tx_cq[q], 0x1800 + q, LOG);
		rig_apply(p->r, SCX_DP_SQ_DEL, 0x1800 + q, 0);
		c.u.sq = (struct scx_dp_sq){.sqn = 0x1800 + q,
			.cqn = p->tx_cq[q].cqn,
			.uar_page = q,
			.pdn = RIG_PD,
			.user_index = q,
			.log_depth = LOG,
			.ring = {p->sq[q].ring, 64u << LOG},
			.dbrec = p->sq[q].rec,
			.flush_in_error = 1,
			.allow_mpw = 1};
		assert_int_equal(scx_dp_apply(p->r->dp, &c), 0);
		assert_int_equal(rig_apply(p->r, SCX_DP_SQ_STATE, 0x1800 + q, 1), 0);
		rig_rq(p->r, &p->rq[q], &p->rx_cq[q], 0x2800 + q, LOG, 4);
		rig_tir(p->r, RIG_TIR + q, p->rq[q].rqn);
		mac[5] = (uint8_t)q;
		rig_rule(p->r, 0, mac, SCX_FLOW_TIR, RIG_TIR + q);
	}
}

static void
close_port(struct port *p)
{
	uint32_t q;

	for (q = 0; q < QUEUES; q++) {
		rig_cq_free(&p->tx_cq[q]);
		rig_cq_free(&p->rx_cq[q]);
		rig_sq_free(&p->sq[q]);
		rig_rq_free(&p->rq[q]);
	}
	rig_free(p->r);
}

/* A frame at slot: of queue to, of any length; now and then not plain. */
static void
make_frame(uint8_t *f, uint32_t len, uint32_t to)
{
	uint32_t i, kind = rnd(12);

	rig_udp4(f, len, (uint16_t)rnd(4), 7);
	for (i = 42; i < len; i++)
		f[i] = (uint8_t)rnd(256);
	if (kind == 1)
		f[24] ^= 1; /* a wrong checksum */
	if (kind == 2)
		f[12] = 0x81, f[13] = 0; /* a tag */
	if (kind == 3)
		f[23] = 6;
	if (kind == 4)
		f[40] = f[41] = 0;
	f[0] = 2;
	f[5] = (uint8_t)to;
}

/* One WQE of either form, the same on both ports. */
static void
post(struct port *port, uint32_t q, uint32_t *slot)
{
	uint32_t n = rnd(3) == 0 ? 1u + rnd(40) : 0, i, k, len, at, ce = rnd(3),
		 cs = rnd(9) == 0 ? 0xc0 : 0;
	uint32_t nr = n == 0 ? 1 : n, to = rnd(4) == 0 ? rnd(QUEUES + 1u) : q, same = rnd(2);
	uint8_t f[BUF];

	for (k = 0; k < PORTS; k++) {
		rig_ctrl(&port[k].sq[q], n == 0 ? 0x0a : 0x29, 2u + nr, (uint8_t)ce);
		rig_eth(&port[k].sq[q], (uint8_t)cs, 0);
	}
	for (i = 0; i < nr; i++) {
		len = rnd(10) == 0 ? 40 + rnd(30) : 64 + rnd(150);
		at = (*slot)++ % 512u * BUF + (rnd(5) == 0 ? 2u : 0);
		make_frame(f, len, same ? to : rnd(QUEUES));
		for (k = 0; k < PORTS; k++) {
			memcpy(port[k].r->mem + at, f, len);
			rig_dseg(&port[k].sq[q], 32u + 16u * i, len, RIG_KEY, RIG_IOVA + at);
		}
	}
	for (k = 0; k < PORTS; k++)
		rig_post(&port[k].sq[q], 2u + nr);
}

static void
ring(struct port *p, uint32_t q)
{
	uint8_t *reg = p->r->uar + q * 4096 + 0x800;

	rig_put_be32((uint8_t *)&p->sq[q].rec[1], p->sq[q].pi);
	rig_put_be32(reg, (uint32_t)(uint16_t)(p->sq[q].pi - 1u) << 8 | 0x0a);
	rig_put_be32(reg + 4, p->sq[q].sqn << 8 | 3);
}

/* What a driver of the port sees, and its books. */
static void
same(const struct port *a, const struct port *b)
{
	struct scx_dp_stats sa, sb;
	uint32_t q;

	assert_memory_equal(a->r->mem, b->r->mem, RIG_MEM);
	for (q = 0; q < QUEUES; q++) {
		assert_memory_equal(a->tx_cq[q].ring, b->tx_cq[q].ring, 64u << LOG);
		assert_memory_equal(a->rx_cq[q].ring, b->rx_cq[q].ring, 64u << LOG);
	}
	scx_dp_stats(a->r->dp, &sa);
	scx_dp_stats(b->r->dp, &sb);
	sa.flow_hits = sa.flow_misses = sb.flow_hits = sb.flow_misses = 0;
	assert_memory_equal(&sa, &sb, sizeof(sa));
}

static void
take_cqes(struct rig_cq *cq)
{
	while (rig_cqe(cq) != NULL)
		;
}

/* Buffers for most of what comes; sometimes there is none. */
static void
give_buffers(struct port *port, const uint32_t *taken)
{
	uint32_t q, k, n;

	for (q = 0; q < QUEUES; q++) {
		n = (1u << LOG) - (uint16_t)(port[0].rq[q].pi - taken[q]);
		for (k = 0, n = rnd(8) == 0 ? 0 : n; k < PORTS; k++)
			rig_rq_post(&port[k].rq[q], (1u << 20) + q * (1u << 18), 2048, n);
	}
}

static void
take_all(struct port *port, uint32_t *taken)
{
	struct scx_dp_cmd c = {.op = SCX_DP_QUERY_RQ};
	uint32_t q, k;

	for (k = 0; k < PORTS; k++)
		for (q = 0; q < QUEUES; q++) {
			c.num = 0x2800 + q;
			assert_int_equal(scx_dp_apply(port[k].r->dp, &c), 0);
			taken[q] = (uint32_t)c.result[2];
			take_cqes(&port[k].tx_cq[q]);
			take_cqes(&port[k].rx_cq[q]);
		}
}

static void
run(uint64_t with)
{
	uint32_t i, k, q, n, slot = 0, taken[QUEUES] = {0};
	struct port port[PORTS];

	seed = with * 0x9e3779b97f4a7c15ull;
	open_port(&port[0]);
	open_port(&port[1]);
	for (i = 0; i < ROUNDS; i++) {
		give_buffers(port, taken);
		q = rnd(QUEUES);
		for (n = 1u + rnd(3); n > 0; n--)
			post(port, q, &slot);
		for (k = 0; k < PORTS; k++) {
			scx_dp_clock(port[k].r->dp, i);
			ring(&port[k], q);
		}
		rig_step(port[0].r, NULL);
		unsetenv("RIG_CREW");
		rig_step(port[1].r, NULL);
		setenv("RIG_CREW", "1", 1);
		same(&port[0], &port[1]);
		take_all(port, taken);
	}
	close_port(&port[0]);
	close_port(&port[1]);
}

static void
as_the_scalar_path(void **state)
{
	uint64_t i;

	setenv("RIG_CREW", "1", 1);
	for (i = 1; i <= 4; i++)
		run(i);
	assert_true(rig_crew_plain() > 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_scalar_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
