/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is reported of the first entries of a ring (struct scx_buf): as many as were asked for, with
 * the bytes that lie there, by the address that the driver knows, and no more. With workers too,
 * which leave such a ring to the scalar path and take it up again afterwards.
 */
#include "rig.h"

#include "drivers/softcx/fault.h"

#include <stdlib.h>

#define ASKED 3u
#define SENT  20u
#define AT    0x7700000000ull

struct dump {
	struct rig *r;
	struct rig_cq tx_cq, rx_cq;
	struct rig_sq sq;
	struct rig_rq rq;
};

static void
cq(struct dump *d, struct rig_cq *cq)
{
	struct scx_dp_cmd c = {.op = SCX_DP_CQ_SET};

	rig_cq(d->r, cq, 8, 0, 0);
	assert_int_equal(rig_apply(d->r, SCX_DP_CQ_DEL, cq->cqn, 0), 0);
	c.u.cq.cqn = cq->cqn;
	c.u.cq.ring.base = rig_at(d->r, cq->ring, 64u << 8);
	c.u.cq.ring.bytes = 64u << 8;
	c.u.cq.ring.at = AT + cq->cqn * 65536ull;
	c.u.cq.ring.dump = ASKED;
	c.u.cq.ring.device = 1;
	c.u.cq.dbrec = rig_at(d->r, cq->rec, 8);
	c.u.cq.log_depth = 8;
	c.u.cq.uar_page = RIG_PAGE;
	assert_int_equal(scx_dp_apply(d->r->dp, &c), 0);
}

static void
sq(struct dump *d)
{
	struct scx_dp_cmd c = {.op = SCX_DP_SQ_SET};

	rig_sq(d->r, &d->sq, &d->tx_cq, 0x1805, 6);
	assert_int_equal(rig_apply(d->r, SCX_DP_SQ_DEL, d->sq.sqn, 0), 0);
	c.u.sq.sqn = d->sq.sqn;
	c.u.sq.cqn = d->tx_cq.cqn;
	c.u.sq.uar_page = RIG_PAGE;
	c.u.sq.pdn = RIG_PD;
	c.u.sq.ring.base = rig_at(d->r, d->sq.ring, 64u << 6);
	c.u.sq.ring.bytes = 64u << 6;
	c.u.sq.ring.at = AT;
	c.u.sq.ring.dump = ASKED;
	c.u.sq.dbrec = rig_at(d->r, d->sq.rec, 8);
	c.u.sq.log_depth = 6;
	assert_int_equal(scx_dp_apply(d->r->dp, &c), 0);
	assert_int_equal(rig_apply(d->r, SCX_DP_SQ_STATE, d->sq.sqn, 1), 0);
}

static void
rq(struct dump *d)
{
	struct scx_dp_cmd c = {.op = SCX_DP_RQ_SET};

	rig_rq(d->r, &d->rq, &d->rx_cq, 0x2803, 8, 4);
	assert_int_equal(rig_apply(d->r, SCX_DP_RQ_DEL, d->rq.rqn, 0), 0);
	c.u.rq.rqn = d->rq.rqn;
	c.u.rq.cqn = d->rx_cq.cqn;
	c.u.rq.pdn = RIG_PD;
	c.u.rq.ring.base = rig_at(d->r, d->rq.ring, 16u << 8);
	c.u.rq.ring.bytes = 16u << 8;
	c.u.rq.ring.at = AT + 4096;
	c.u.rq.ring.dump = ASKED;
	c.u.rq.dbrec = rig_at(d->r, d->rq.rec, 8);
	c.u.rq.log_depth = 8;
	c.u.rq.log_stride = 4;
	assert_int_equal(scx_dp_apply(d->r->dp, &c), 0);
	assert_int_equal(rig_apply(d->r, SCX_DP_RQ_STATE, d->rq.rqn, 1), 0);
}

static int
setup(void **state)
{
	static struct dump d;

	d.r = rig_new(1);
	cq(&d, &d.tx_cq);
	cq(&d, &d.rx_cq);
	sq(&d);
	rq(&d);
	rig_tir(d.r, RIG_TIR, d.rq.rqn);
	rig_rule(d.r, 0, NULL, SCX_FLOW_TIR, RIG_TIR);
	rig_rq_post(&d.rq, RIG_RX_BASE, RIG_RX_SIZE, 128);
	*state = &d;
	return 0;
}

static int
teardown(void **state)
{
	struct dump *d = *state;

	rig_cq_free(&d->tx_cq);
	rig_cq_free(&d->rx_cq);
	rig_sq_free(&d->sq);
	rig_rq_free(&d->rq);
	rig_free(d->r);
	return 0;
}

/* The nth report of one kind and queue. */
static const struct scx_dp_report *
nth(const struct rig *r, enum scx_dp_dump why, uint32_t num, uint32_t n)
{
	for (uint32_t i = 0; i < r->nr_reports; i++) {
		if (r->report[i].kind != SCX_DP_DUMPED || r->report[i].why != (uint32_t)why ||
			r->report[i].num != num)
			continue;
		if (n-- == 0)
			return &r->report[i];
	}
	return NULL;
}

static void
expect(const struct rig *r, enum scx_dp_dump why, uint32_t num, const uint8_t *ring,
	uint32_t entry, uint64_t at, bool device)
{
	for (uint32_t i = 0; i < ASKED; i++) {
		const struct scx_dp_report *p = nth(r, why, num, i);

		assert_non_null(p);
		assert_int_equal(p->index, i);
		assert_true(p->value[0] == at + (uint64_t)i * entry);
		assert_int_equal(p->value[1], device);
		assert_memory_equal(p->bytes, ring + (size_t)i * entry, entry);
	}
	assert_null(nth(r, why, num, ASKED));
}

static void
send(struct dump *d, uint32_t nr)
{
	rig_udp4(d->r->mem, 80, 1, 1);
	for (uint32_t i = 0; i < nr; i++) {
		rig_send(&d->sq, 0, 80, 2, 0);
		rig_ring(d->r, &d->sq);
		rig_step(d->r, NULL);
		assert_non_null(rig_cqe(&d->tx_cq));
		assert_non_null(rig_cqe(&d->rx_cq));
	}
}

static void
the_first_of_each(void **state)
{
	struct dump *d = *state;
	uint64_t plain = rig_crew_plain();

	send(d, SENT);
	expect(d->r, SCX_DP_DUMP_SQ, d->sq.sqn, d->sq.ring, 64, AT, false);
	expect(d->r, SCX_DP_DUMP_RQ, d->rq.rqn, d->rq.ring, 16, AT + 4096, false);
	expect(d->r, SCX_DP_DUMP_CQ, d->tx_cq.cqn, d->tx_cq.ring, 64,
		AT + d->tx_cq.cqn * 65536ull, true);
	expect(d->r, SCX_DP_DUMP_CQ, d->rx_cq.cqn, d->rx_cq.ring, 64,
		AT + d->rx_cq.cqn * 65536ull, true);
	assert_int_equal(d->r->nr_reports, 4 * ASKED);
	/* and workers have taken up the rest */
	if (rig_has_crew())
		assert_int_equal(rig_crew_plain() - plain, SENT - ASKED);
}

/* CQEs that come late are told of with the qword that makes them valid. */
static void
late(void **state)
{
	const struct scx_fault_plan plan = {.dma_delay = 8};
	struct dump *d = *state;
	void *mem;

	if (rig_has_crew() || d->r->far != NULL)
		return; /* a fault plan is the scalar path's affair, over memory in reach */
	mem = aligned_alloc(64, (scx_dp_late_bytes() + 63) & ~(size_t)63);
	assert_non_null(mem);
	scx_dp_faults(d->r->dp, &plan);
	scx_dp_late(d->r->dp, mem);
	send(d, SENT);
	expect(d->r, SCX_DP_DUMP_CQ, d->rx_cq.cqn, d->rx_cq.ring, 64,
		AT + d->rx_cq.cqn * 65536ull, true);
	free(mem);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_first_of_each, setup, teardown),
		cmocka_unit_test_setup_teardown(late, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
