/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue built and taken apart against fake_devx.h and fake_queue.h: the order of the calls, the
 * commands bit by bit, what lies in memory when the NIC is told of it, and for every call that
 * fails or is refused, that nothing is tried after it and nothing is left.
 */
#include "fake_queue.h"

static struct crl_ctx ctx;
static struct crl_err err;
static struct fake_mem host = {.name = "h"}, rings = {.name = "r", .litter = 0xee},
		       bufs = {.name = "b", .litter = 0xee};
static struct crl_mem ring_mem, buf_mem;
static struct crl_queue_cfg cfg;
static struct mlx5dv_devx_event_channel channel;

static int
start(void **state)
{
	memset(&fx, 0, sizeof(fx));
	memset(&ctx, 0, sizeof(ctx));
	memset(&err, 0, sizeof(err));
	uar_refuse = 0;
	uar_shared_users = 0;
	heap_live = 0;
	ctx.events = &channel;
	ctx.pdn = 0x31;
	ctx.tisn = 0x32;
	ctx.eqn = 0x33;
	ctx.counter_set = 0x34;
	ctx.next_id = 6;
	ctx.caps = (struct crl_caps){.sq_ts_format = 2,
		.rq_ts_format = 1,
		.cq_overrun_ignore = true,
		.inline_mode = CRL_INLINE_L2,
		.multi_packet_send = true};
	LIST_INIT(&ctx.queues);
	LIST_INIT(&ctx.regions);
	ctx.host = fake_plain(&host);
	ring_mem = fake_memory(&rings);
	ring_mem.dmabuf = NULL;
	buf_mem = fake_plain(&bufs);
	cfg = (struct crl_queue_cfg){.size = sizeof(cfg),
		.flags = CRL_Q_TX | CRL_Q_RX,
		.index = 3,
		.tx_depth = 16,
		.rx_depth = 64,
		.rx_buf_bytes = 128,
		.rx_headroom = 2,
		.uar = CRL_UAR_BF,
		.rings = &ring_mem,
		.buffers = &buf_mem};
	return 0;
}

/* Whatever was done, nothing is left. */
static void
assert_clean(void)
{
	assert_int_equal(fake_live(), 0);
	assert_int_equal(host.live | rings.live | bufs.live, 0);
	assert_int_equal(rings.host | rings.mmio, 0);
	assert_int_equal(uar_shared_users, 0);
	assert_int_equal(heap_live, 0);
	assert_true(LIST_EMPTY(&ctx.queues) && LIST_EMPTY(&ctx.regions));
}

static int
end(void **state)
{
	assert_clean();
	return 0;
}

#define EVENTS_OF_BOTH "events-cq events-cq events-sq events-rq "
#define BUILT                                                                                      \
	"alloc-r write-r alloc-h host-r alloc-b mr uar-bf mmio-r write-r umem cq write-r umem cq " \
	"umem sq ready-sq write-r write-r umem rq ready-rq " EVENTS_OF_BOTH
#define TAKEN_APART "-rq -umem -sq -umem -cq -umem -cq -umem -mmio-r -uar -mr -b -host-r -h -r "

static void
order(void **state)
{
	struct crl_queue *q;

	assert_int_equal(crl_queue_create(&ctx, &cfg, &q, &err), 0);
	assert_string_equal(fx.list, BUILT);
	assert_ptr_equal(LIST_FIRST(&ctx.queues), q);
	assert_int_equal(q->id, 7);
	assert_int_equal(q->rx_region->nr_queues, 1);
	assert_int_equal(bufs.bytes, 64 * 128);
	assert_int_equal(host.bytes, 4096);
	assert_ptr_equal(q->shared, host.addr);
	assert_int_equal((uintptr_t)q->shared_dev, (uintptr_t)host.addr + DEV_SHIFT);
	assert_int_equal((uintptr_t)q->uar_reg, (uintptr_t)q->uar->reg_addr + DEV_SHIFT);
	assert_true(q->uar_moved);
	assert_int_equal(q->tx_cq.cqn, fake_number_of(fake_thing("cq", 0)));
	assert_int_equal(q->rx_cq.cqn, fake_number_of(fake_thing("cq", 1)));
	assert_int_equal(q->sq.num, fake_number_of(fake_thing("sq", 0)));
	assert_int_equal(q->rq.num, fake_number_of(fake_thing("rq", 0)));
	assert_int_equal(q->uar_kind, CRL_UAR_BF);
	assert_int_equal(crl_queue_destroy(q, &err), 0);
	assert_string_equal(fx.list, BUILT TAKEN_APART);
	assert_int_equal(crl_queue_destroy(NULL, &err), 0);
}

static void
one_side(void **state)
{
	struct crl_queue *q;

	cfg.flags = CRL_Q_TX;
	assert_int_equal(crl_queue_create(&ctx, &cfg, &q, &err), 0);
	assert_string_equal(fx.list, "alloc-r write-r alloc-h host-r uar-bf mmio-r write-r umem cq "
				     "umem sq ready-sq events-cq events-sq ");
	/* SQ and CQ of 1 KiB with a record each, and 16 cookies and ends: three pages. */
	assert_int_equal(rings.bytes, 3 * 4096);
	assert_int_equal(crl_queue_destroy(q, &err), 0);
	cfg.flags = CRL_Q_RX;
	fx.used = 0;
	assert_int_equal(crl_queue_create(&ctx, &cfg, &q, &err), 0);
	assert_string_equal(fx.list,
		"alloc-r write-r alloc-h host-r alloc-b mr uar-bf mmio-r write-r umem cq "
		"write-r write-r umem rq ready-rq events-cq events-rq ");
	/* RQ of 1 KiB, CQ of 4 KiB and a record: four pages with what the engine notes. */
	assert_int_equal(rings.bytes, 4 * 4096);
	assert_int_equal(crl_queue_destroy(q, &err), 0);
}

/* Memory without functions of its own is written and rung as it is. */
static void
plain_memory(void **state)
{
	struct crl_queue *q;

	cfg.rings = cfg.buffers = NULL;
	assert_int_equal(crl_queue_create(&ctx, &cfg, &q, &err), 0);
	assert_string_equal(fx.list, "alloc-h alloc-h alloc-h mr uar-bf umem cq umem cq umem sq "
				     "ready-sq umem rq ready-rq " EVENTS_OF_BOTH);
	assert_ptr_equal(q->shared_dev, q->shared);
	assert_ptr_equal(q->uar_reg, q->uar->reg_addr);
	assert_false(q->uar_moved || q->uar_mapped || q->shared_mapped);
	assert_int_equal(crl_queue_destroy(q, &err), 0);
	cfg.rings = &ring_mem; /* buffers go where the rings are */
	fx.used = 0;
	assert_int_equal(crl_queue_create(&ctx, &cfg, &q, &err), 0);
	assert_non_null(strstr(fx.list, "host-r alloc-r mr "));
	assert_int_equal(crl_queue_destroy(q, &err), 0);
}

static void
assert_umem(unsigned n, const struct crl_ring_mem *ring)
{
	const struct mlx5dv_devx_umem_in *in = &fake_thing("umem", n)->umem_in;

	assert_ptr_equal(in->addr, ring->addr);
	assert_int_equal(in->size, ring->bytes);
	assert_int_equal(in->access, IBV_ACCESS_LOCAL_WRITE);
	assert_true(in->pgsz_bitmap == (UINT64_MAX & ~4095ull));
	assert_true(in->comp_mask == 0);
}

static void
assert_cq_command(const struct crl_queue *q, unsigned n, const struct crl_cq_obj *cq, uint32_t cc,
	uint32_t oi)
{
	uint32_t in[CRL_PRM_CREATE_CQ_IN_BYTES / 4] = {0};
	void *cqc = crl_prm_at(in, CRL_PRM_CREATE_CQ_IN_CQ_CONTEXT);
	const struct fake_thing *t = fake_thing("cq", n);

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_CREATE_CQ);
	crl_prm_set(in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_VALID, 1);
	crl_prm_set(in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_ID, fake_thing("umem", n)->u.umem.umem_id);
	crl_prm_set(cqc, CRL_PRM_CQC_LOG_CQ_SIZE, cq->log_depth);
	crl_prm_set(cqc, CRL_PRM_CQC_UAR_PAGE, q->uar->page_id);
	crl_prm_set(cqc, CRL_PRM_CQC_C_EQN, 0x33);
	crl_prm_set(cqc, CRL_PRM_CQC_DBR_UMEM_VALID, 1);
	crl_prm_set(cqc, CRL_PRM_CQC_DBR_UMEM_ID, fake_thing("umem", n)->u.umem.umem_id);
	crl_prm_set64(cqc, CRL_PRM_CQC_DBR_ADDR, 64ull << cq->log_depth);
	crl_prm_set(cqc, CRL_PRM_CQC_CC, cc);
	crl_prm_set(cqc, CRL_PRM_CQC_OI, oi);
	assert_int_equal(t->bytes, sizeof(in));
	assert_memory_equal(t->in, in, sizeof(in));
	assert_umem(n, &cq->ring);
	assert_int_equal(cq->ring.dbrec_off, 64u << cq->log_depth);
}

static void
fill_wq(void *wq, uint32_t log_stride, uint32_t log_depth, uint32_t umem, uint64_t record)
{
	crl_prm_set(wq, CRL_PRM_WQ_WQ_TYPE, CRL_WQ_CYCLIC);
	crl_prm_set(wq, CRL_PRM_WQ_PD, 0x31);
	crl_prm_set(wq, CRL_PRM_WQ_LOG_WQ_STRIDE, log_stride);
	crl_prm_set(wq, CRL_PRM_WQ_LOG_WQ_SZ, log_depth);
	crl_prm_set(wq, CRL_PRM_WQ_WQ_UMEM_VALID, 1);
	crl_prm_set(wq, CRL_PRM_WQ_WQ_UMEM_ID, umem);
	crl_prm_set(wq, CRL_PRM_WQ_DBR_UMEM_VALID, 1);
	crl_prm_set(wq, CRL_PRM_WQ_DBR_UMEM_ID, umem);
	crl_prm_set64(wq, CRL_PRM_WQ_DBR_ADDR, record);
}

static void
assert_sq_command(const struct crl_queue *q)
{
	uint32_t in[CRL_PRM_CREATE_SQ_IN_BYTES / 4] = {0};
	void *sqc = crl_prm_at(in, CRL_PRM_CREATE_SQ_IN_CTX), *wq = crl_prm_at(sqc, CRL_PRM_SQC_WQ);
	const struct fake_thing *t = fake_thing("sq", 0);

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_CREATE_SQ);
	crl_prm_set(sqc, CRL_PRM_SQC_FLUSH_IN_ERROR_EN, 1);
	crl_prm_set(sqc, CRL_PRM_SQC_ALLOW_MULTI_PKT_SEND_WQE, 1);
	crl_prm_set(sqc, CRL_PRM_SQC_MIN_WQE_INLINE_MODE, CRL_INLINE_L2);
	crl_prm_set(sqc, CRL_PRM_SQC_TS_FORMAT, 2);
	crl_prm_set(sqc, CRL_PRM_SQC_CQN, q->tx_cq.cqn);
	crl_prm_set(sqc, CRL_PRM_SQC_TIS_LST_SZ, 1);
	crl_prm_set(sqc, CRL_PRM_SQC_TIS_NUM_0, 0x32);
	fill_wq(wq, 6, 4, fake_thing("umem", 2)->u.umem.umem_id, 16 * 64);
	crl_prm_set(wq, CRL_PRM_WQ_UAR_PAGE, q->uar->page_id);
	assert_int_equal(t->bytes, sizeof(in));
	assert_memory_equal(t->in, in, sizeof(in));
	assert_umem(2, &q->sq.ring);
}

static void
assert_rq_command(const struct crl_queue *q)
{
	uint32_t in[CRL_PRM_CREATE_RQ_IN_BYTES / 4] = {0};
	uint32_t ready[CRL_PRM_MODIFY_RQ_IN_BYTES / 4] = {0};
	void *rqc = crl_prm_at(in, CRL_PRM_CREATE_RQ_IN_CTX);
	const struct fake_thing *t = fake_thing("rq", 0);

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_CREATE_RQ);
	crl_prm_set(rqc, CRL_PRM_RQC_VSD, 1);
	crl_prm_set(rqc, CRL_PRM_RQC_FLUSH_IN_ERROR_EN, 1);
	crl_prm_set(rqc, CRL_PRM_RQC_TS_FORMAT, 1);
	crl_prm_set(rqc, CRL_PRM_RQC_CQN, q->rx_cq.cqn);
	crl_prm_set(rqc, CRL_PRM_RQC_COUNTER_SET_ID, 0x34);
	fill_wq(crl_prm_at(rqc, CRL_PRM_RQC_WQ), 4, 6, fake_thing("umem", 3)->u.umem.umem_id,
		64 * 16);
	assert_int_equal(t->bytes, sizeof(in));
	assert_memory_equal(t->in, in, sizeof(in));
	assert_umem(3, &q->rq.ring);
	/* From RST, which is 0, to RDY. */
	crl_prm_set(ready, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_MODIFY_RQ);
	crl_prm_set(ready, CRL_PRM_MODIFY_RQ_IN_RQN, q->rq.num);
	crl_prm_set(crl_prm_at(ready, CRL_PRM_MODIFY_RQ_IN_CTX), CRL_PRM_RQC_STATE, 1);
	assert_memory_equal(fx.modify, ready, sizeof(ready));
}

static void
commands(void **state)
{
	uint32_t ready[CRL_PRM_MODIFY_SQ_IN_BYTES / 4] = {0};
	struct crl_queue *q;

	assert_int_equal(crl_queue_create(&ctx, &cfg, &q, &err), 0);
	assert_cq_command(q, 0, &q->tx_cq, 0, 0);
	assert_cq_command(q, 1, &q->rx_cq, 0, 0);
	assert_sq_command(q);
	assert_rq_command(q);
	assert_int_equal(crl_queue_destroy(q, &err), 0);
	start(state);
	cfg.flags = CRL_Q_TX;
	cfg.cq_flags = CRL_CQ_COLLAPSED; /* which needs the other */
	assert_int_equal(crl_queue_create(&ctx, &cfg, &q, &err), 0);
	assert_cq_command(q, 0, &q->tx_cq, 1, 1);
	crl_prm_set(ready, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_MODIFY_SQ);
	crl_prm_set(ready, CRL_PRM_MODIFY_SQ_IN_SQN, q->sq.num);
	crl_prm_set(crl_prm_at(ready, CRL_PRM_MODIFY_SQ_IN_CTX), CRL_PRM_SQC_STATE, 1);
	assert_memory_equal(fx.modify, ready, sizeof(ready));
	assert_int_equal(crl_queue_destroy(q, &err), 0);
	start(state);
	cfg.cq_flags = CRL_CQ_COLLAPSED | CRL_CQ_OVERRUN_IGNORE;
	assert_int_equal(crl_queue_create(&ctx, &cfg, &q, &err), 0);
	assert_cq_command(q, 1, &q->rx_cq, 0, 1); /* collapsed is for sends */
	assert_int_equal(crl_queue_destroy(q, &err), 0);
}

/* No two parts share a byte or a record's line, and what is not told is zero. */
static void
memory_of_a_queue(void **state)
{
	struct crl_queue *q;
	size_t off = 0;

	assert_int_equal(crl_queue_create(&ctx, &cfg, &q, &err), 0);
	const struct {
		const struct crl_ring_mem *ring;
		size_t bytes;
	} parts[] = {{&q->sq.ring, 1024}, {&q->tx_cq.ring, 1024}, {&q->rq.ring, 1024},
		{&q->rx_cq.ring, 4096}, {&q->aux, 2 * 16 * 8 + 64}};

	for (unsigned i = 0; i < 5; i++) {
		assert_ptr_equal(parts[i].ring->addr, q->mem + off);
		assert_int_equal(parts[i].ring->dbrec_off, parts[i].bytes);
		assert_int_equal(parts[i].ring->bytes, i == 3 ? 8192 : 4096);
		off += parts[i].ring->bytes;
		for (size_t at = parts[i].bytes; at < parts[i].ring->bytes && i < 4; at++)
			assert_int_equal(parts[i].ring->addr[at], 0);
	}
	assert_int_equal(off, rings.bytes);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(q->tx_cq.ring.addr[64 * i + 63], 0xf1);
	for (unsigned i = 0; i < 64; i++) {
		const struct crl_wqe_data *d = (const void *)(q->rq.ring.addr + 16 * i);

		assert_int_equal(q->rx_cq.ring.addr[64 * i + 63], 0xf1);
		assert_int_equal(crl_from_be32(d->lkey), q->rx_region->mr->lkey);
		assert_true(crl_from_be64(d->addr) == (uintptr_t)bufs.addr + 128 * i + 2);
	}
	for (unsigned i = 0; i < 64; i++) /* behind 16 cookies and 16 ends: none is released */
		assert_int_equal(q->aux.addr[2 * 16 * 8 + i], 1);
	assert_int_equal(crl_queue_destroy(q, &err), 0);
}

/* After the call that failed there is giving back and nothing else. */
static void
assert_only_undone(void)
{
	const char *p = strchr(fx.list, '!');

	assert_non_null(p);
	for (p++; *p != '\0'; p++)
		if (p[-1] == ' ' && *p != '-')
			fail_msg("after the failure: %s", fx.list);
}

static void
each_fails(void **state)
{
	struct crl_queue *q = NULL;
	unsigned n;

	for (n = 1;; n++) {
		start(state);
		fx.fail_at = n;
		fx.fail_with = n % 2 ? ENOSPC : ENODEV;
		if (crl_queue_create(&ctx, &cfg, &q, &err) == 0)
			break;
		assert_int_equal(err.code, -fx.fail_with);
		assert_true(err.step[0] && err.cause[0]);
		assert_only_undone();
		assert_clean();
		assert_null(q);
	}
	assert_int_equal(n, 27); /* all of BUILT */
	assert_int_equal(crl_queue_destroy(q, &err), 0);
}

static void
no_memory(void **state)
{
	struct crl_queue *q = NULL;
	unsigned n;

	for (n = 1;; n++) {
		start(state);
		heap_fail_at = n;
		if (crl_queue_create(&ctx, &cfg, &q, &err) == 0)
			break;
		assert_int_equal(err.code, -ENOMEM);
		assert_true(err.step[0] && err.cause[0]);
		assert_clean();
		assert_null(q);
	}
	heap_fail_at = 0;
	assert_int_equal(n, 7); /* queue, zeros, region, two CQs and the receive queue's image */
	assert_int_equal(crl_queue_destroy(q, &err), 0);
}

/* What is refused is told, ends the try, and goes at the next. */
static void
each_refused(void **state)
{
	struct crl_queue *q;
	unsigned n;

	for (n = 1;; n++) {
		start(state);
		assert_int_equal(crl_queue_create(&ctx, &cfg, &q, &err), 0);
		fx.used = 0;
		fx.refuse_at = n;
		fx.negative = n % 2;
		if (crl_queue_destroy(q, &err) == 0)
			break;
		assert_int_equal(err.code, -EBUSY);
		assert_true(err.step[0] && err.cause[0]);
		assert_string_equal(strchr(fx.list, '!'), "! ");
		assert_ptr_equal(LIST_FIRST(&ctx.queues), q);
		assert_int_equal(q->rx_region->nr_queues, 1);
		assert_int_equal(crl_queue_destroy(q, &err), 0);
		assert_clean();
	}
	assert_int_equal(n, 6); /* RQ, SQ, two CQs, the buffers' key */
}

/* Half built, and the NIC keeps the key: the region stays with the context, the rest goes. */
static void
orphan(void **state)
{
	struct crl_region *left, sent_from = {.ctx = &ctx};
	struct crl_queue *q = NULL;

	cfg.tx_region = &sent_from;
	fx.fail_at = 16; /* the send queue */
	fx.fail_with = ENOSPC;
	fx.refuse_at = 3; /* of two CQs and the key */
	assert_int_equal(crl_queue_create(&ctx, &cfg, &q, &err), -ENOSPC);
	assert_int_equal(err.code, -ENOSPC);
	left = LIST_FIRST(&ctx.regions);
	assert_true(left->orphan);
	assert_int_equal(left->nr_queues | sent_from.nr_queues, 0);
	assert_int_equal(fake_live(), 1);
	assert_int_equal(bufs.live, 1);
	assert_int_equal(rings.live | host.live, 0);
	assert_int_equal(crl_region_dereg(left, &err), 0);
	assert_false(ctx.left);
	start(state); /* it keeps a CQ: the context is to close over it */
	fx.fail_at = 16;
	fx.refuse_at = 1;
	assert_int_not_equal(crl_queue_create(&ctx, &cfg, &q, &err), 0);
	assert_true(ctx.left);
	fx.nr = rings.mmio = uar_shared_users = 0;
}

static void
busy(void **state)
{
	struct crl_queue *q, *q2;

	assert_int_equal(crl_queue_create(&ctx, &cfg, &q, &err), 0);
	fx.used = 0;
	fx.list[0] = '\0';
	q->attached = true;
	strcpy(ctx.port_name, "the port");
	assert_int_equal(crl_queue_destroy(q, &err), -EBUSY);
	assert_string_equal(err.cause, "port the port still maps queue 3");
	q->attached = false;
	q->shared->ctl.owned = 1;
	assert_int_equal(crl_queue_destroy(q, &err), -EBUSY);
	assert_string_equal(err.cause, "an engine runs queue 3");
	q->shared->ctl.owned = 0;
	assert_string_equal(fx.list, "");
	cfg.tx_depth = 17; /* and one that cannot be is not begun */
	assert_int_equal(crl_queue_create(&ctx, &cfg, &q2, &err), -EINVAL);
	assert_string_equal(fx.list, "");
	assert_int_equal(crl_queue_destroy(q, &err), 0);
}

/* A region of the program's is held by each queue that sends from it, and by no other. */
static void
held_region(void **state)
{
	struct crl_region_cfg rc = {
		.size = sizeof(rc), .flags = CRL_REGION_ALLOC, .bytes = 4096, .mem = &buf_mem};
	struct crl_queue *q[2];

	assert_int_equal(crl_region_reg(&ctx, &rc, &cfg.tx_region, &err), 0);
	assert_int_equal(crl_queue_create(&ctx, &cfg, &q[0], &err), 0);
	cfg.index = 4;
	cfg.flags = CRL_Q_TX;
	assert_int_equal(crl_queue_create(&ctx, &cfg, &q[1], &err), 0);
	assert_int_equal(cfg.tx_region->nr_queues, 2);
	assert_int_equal(crl_region_dereg(cfg.tx_region, &err), -EBUSY);
	assert_string_equal(err.cause, "queue 4 uses it");
	assert_int_equal(crl_queue_destroy(q[1], &err), 0);
	assert_int_equal(cfg.tx_region->nr_queues, 1);
	assert_int_equal(crl_region_dereg(cfg.tx_region, &err), -EBUSY);
	assert_string_equal(err.cause, "queue 3 uses it");
	assert_int_equal(crl_region_dereg(q[0]->rx_region, &err), -EBUSY);
	assert_string_equal(err.cause, "queue 3 uses it");
	assert_int_equal(crl_queue_destroy(q[0], &err), 0);
	fx.fail_at = fx.calls + 5; /* the doorbell page of one that is not made */
	fx.fail_with = ENOSPC;
	assert_int_equal(crl_queue_create(&ctx, &cfg, &q[0], &err), -ENOSPC);
	assert_int_equal(cfg.tx_region->nr_queues, 0);
	assert_int_equal(crl_region_dereg(cfg.tx_region, &err), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(order, start, end),
		cmocka_unit_test_setup_teardown(one_side, start, end),
		cmocka_unit_test_setup_teardown(plain_memory, start, end),
		cmocka_unit_test_setup_teardown(commands, start, end),
		cmocka_unit_test_setup_teardown(memory_of_a_queue, start, end),
		cmocka_unit_test_setup_teardown(each_fails, start, end),
		cmocka_unit_test_setup_teardown(no_memory, start, end),
		cmocka_unit_test_setup_teardown(each_refused, start, end),
		cmocka_unit_test_setup_teardown(orphan, start, end),
		cmocka_unit_test_setup_teardown(busy, start, end),
		cmocka_unit_test_setup_teardown(held_region, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
