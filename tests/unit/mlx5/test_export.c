/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export.c: every field of the struct that an engine runs on, from a queue whose parts all have
 * values of their own. No device.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/mlx5/internal.h"

#define LOG_TX 3u
#define LOG_RX 4u

static struct crl_ctx ctx;
static struct crl_queue q;
static const struct crl_mem host = {.size = sizeof(host), .place = CRL_PLACE_HOST};
static struct crl_shared shared, shared_dev;
static struct ibv_mr rx_mr = {.lkey = 0x111}, tx_mr = {.lkey = 0x222};
static struct crl_region rx_region, tx_region;
static uint8_t mem[6][4096] __attribute__((aligned(64)));
static uint8_t buf[2][64];
static struct crl_err err;

static int
open_queue(void **state)
{
	struct crl_ring_mem *rings[] = {
		&q.sq.ring, &q.tx_cq.ring, &q.rq.ring, &q.rx_cq.ring, &q.aux};

	memset(&ctx, 0, sizeof(ctx));
	memset(&q, 0, sizeof(q));
	memset(&shared, 0, sizeof(shared));
	for (unsigned i = 0; i < 5; i++) {
		rings[i]->addr = mem[i];
		rings[i]->dbrec_off = 1024 + 64 * i;
	}
	rx_region = (struct crl_region){
		.ctx = &ctx, .addr = buf[0], .bytes = 64, .iova = 0x7000, .mr = &rx_mr};
	tx_region = (struct crl_region){
		.ctx = &ctx, .addr = buf[1], .bytes = 48, .iova = 0x9000, .mr = &tx_mr};
	q.ctx = &ctx;
	q.rings = &host;
	q.cfg.flags = CRL_Q_TX | CRL_Q_RX;
	q.cfg.index = 21;
	q.cfg.signal_every = 2;
	q.cfg.rx_buf_bytes = 128;
	q.cfg.rx_headroom = 10;
	q.cfg.tx_inline_max = 60;
	q.cfg.tx_region = &tx_region;
	q.rx_region = &rx_region;
	q.sq.log_depth = LOG_TX;
	q.sq.num = 0x1001;
	q.rq.log_depth = LOG_RX;
	q.rq.num = 0x1002;
	q.tx_cq.log_depth = 5;
	q.tx_cq.cqn = 0x1003;
	q.tx_cq.flags = CRL_CQ_OVERRUN_IGNORE;
	q.rx_cq.log_depth = 6;
	q.rx_cq.cqn = 0x1004;
	q.uar_reg = (uint64_t *)(void *)mem[5];
	q.shared = &shared;
	q.shared_dev = &shared_dev;
	q.port = 3;
	q.mtu = 1514;
	memcpy(q.mac, "\x02\x01\x02\x03\x04\x05", 6);
	return 0;
}

static void
assert_cq(const struct crl_cq *cq, const struct crl_cq_obj *of)
{
	assert_ptr_equal(cq->cqe, of->ring.addr);
	assert_ptr_equal(cq->dbrec, of->ring.addr + of->ring.dbrec_off);
	assert_int_equal(cq->log_depth, of->log_depth);
	assert_int_equal(cq->cqn, of->cqn);
	assert_int_equal(cq->flags, of->flags);
	assert_int_equal(cq->ci, 0);
}

static void
assert_sq(const struct crl_sq *sq, uint32_t lkey)
{
	assert_ptr_equal(sq->wqe, mem[0]);
	assert_ptr_equal(sq->dbrec, mem[0] + 1024);
	assert_ptr_equal(sq->uar, mem[5]);
	assert_ptr_equal(sq->cookie, mem[4]);
	assert_ptr_equal(sq->end, mem[4] + crl_sq_cookie_bytes(LOG_TX));
	assert_int_equal(sq->log_depth, LOG_TX);
	assert_int_equal(sq->sqn, 0x1001);
	assert_int_equal(sq->lkey, lkey);
	assert_int_equal(sq->signal_every, 2);
	assert_int_equal(sq->inline_max, 60);
	assert_int_equal(sq->state, CRL_QS_READY);
	assert_cq(&sq->cq, &q.tx_cq);
}

static void
assert_rq(const struct crl_rq *rq, size_t arrays)
{
	assert_ptr_equal(rq->wqe, mem[2]);
	assert_ptr_equal(rq->dbrec, mem[2] + 1024 + 128);
	assert_ptr_equal(rq->buf, buf[0]);
	assert_ptr_equal(rq->released, mem[4] + arrays);
	assert_int_equal(rq->buf_iova, 0x7000);
	assert_int_equal(rq->log_depth, LOG_RX);
	assert_int_equal(rq->rqn, 0x1002);
	assert_int_equal(rq->stride, 128);
	assert_int_equal(rq->headroom, 10);
	assert_int_equal(rq->lkey, 0x111);
	assert_int_equal(rq->state, CRL_QS_READY);
	assert_cq(&rq->cq, &q.rx_cq);
}

static void
both_sides(void **state)
{
	struct crl_queue_dev dev;

	memset(&dev, 0x5a, sizeof(dev));
	assert_int_equal(crl_queue_export(&q, &dev, &err), 0);
	assert_int_equal(dev.abi, CRL_DEV_ABI);
	assert_int_equal(dev.flags, CRL_Q_TX | CRL_Q_RX);
	assert_int_equal(dev.index, 21);
	assert_int_equal(dev.port, 3);
	assert_int_equal(dev.mtu, 1514);
	assert_memory_equal(dev.mac, "\x02\x01\x02\x03\x04\x05", 6);
	assert_ptr_equal(dev.stats, &shared_dev.stats);
	assert_ptr_equal(dev.error, shared_dev.error);
	assert_ptr_equal(dev.ctl, &shared_dev.ctl);
	assert_ptr_equal(dev.txbuf.addr, buf[1]);
	assert_int_equal(dev.txbuf.iova, 0x9000);
	assert_int_equal(dev.txbuf.bytes, 48);
	assert_int_equal(dev.txbuf.lkey, 0x222);
	assert_sq(&dev.sq, 0x222);
	assert_rq(&dev.rq, crl_sq_cookie_bytes(LOG_TX) + crl_sq_end_bytes(LOG_TX));
	assert_int_equal(crl_queue_sqn(&q), 0x1001);
	assert_int_equal(crl_queue_rqn(&q), 0x1002);
	assert_int_equal(crl_queue_index(&q), 21);
	assert_ptr_equal(crl_queue_ctl(&q), &shared.ctl);
	assert_ptr_equal(crl_queue_error(&q), shared.error);
	assert_ptr_equal(crl_queue_rx_region(&q), &rx_region);
}

static void
one_side(void **state)
{
	struct crl_queue_dev dev;

	q.cfg.tx_region = NULL; /* then the key of the receive buffers, or none */
	assert_int_equal(crl_queue_export(&q, &dev, &err), 0);
	assert_int_equal(dev.sq.lkey, 0x111);
	assert_null(dev.txbuf.addr);
	q.rx_region = NULL;
	q.cfg.flags = CRL_Q_TX;
	assert_int_equal(crl_queue_export(&q, &dev, &err), 0);
	assert_sq(&dev.sq, CRL_LKEY_INVALID);
	assert_null(dev.rq.wqe);
	q.rx_region = &rx_region;
	q.cfg.flags = CRL_Q_RX;
	assert_int_equal(crl_queue_export(&q, &dev, &err), 0);
	assert_null(dev.sq.wqe);
	assert_rq(&dev.rq, 0);
}

/* What the NIC takes decides the form of sends. */
static void
forms(void **state)
{
	struct crl_queue_dev dev;

	assert_int_equal(crl_queue_export(&q, &dev, &err), 0);
	assert_int_equal(dev.sq.flags, 0);
	assert_int_equal(dev.sq.inline_hdr, 0);
	ctx.caps.enhanced_multi_packet = true;
	assert_int_equal(crl_queue_export(&q, &dev, &err), 0);
	assert_int_equal(dev.sq.flags, CRL_SQ_EMPW);
	ctx.caps.inline_mode = CRL_INLINE_L2;
	assert_int_equal(crl_queue_export(&q, &dev, &err), 0);
	assert_int_equal(dev.sq.flags, 0);
	assert_int_equal(dev.sq.inline_hdr, CRL_INLINE_HDR_L2);
}

static void
too_late(void **state)
{
	struct crl_queue_dev dev;

	shared.ctl.heartbeat = 1;
	assert_int_equal(crl_queue_export(&q, &dev, &err), -EBUSY);
	assert_int_equal(err.code, -EBUSY);
	assert_non_null(strstr(err.cause, "an engine or a program has run queue 21"));
	shared.ctl.heartbeat = 0;
	assert_int_equal(crl_queue_export(&q, &dev, &err), 0);
}

/* Each record of each side tells that a program has used the queue without an engine. */
static void
too_late_by_record(void **state)
{
	struct crl_queue_dev dev;

	for (unsigned i = 0; i < 4; i++) { /* send ring, its CQ, receive ring, its CQ */
		uint8_t *record = mem[i] + 1024 + 64u * i;

		record[i == 0 ? 7 : 3] = 1;
		q.cfg.flags = CRL_Q_TX | CRL_Q_RX;
		assert_int_equal(crl_queue_export(&q, &dev, &err), -EBUSY);
		q.cfg.flags = i < 2 ? CRL_Q_RX : CRL_Q_TX; /* a side that it has not */
		assert_int_equal(crl_queue_export(&q, &dev, &err), 0);
		memset(record, 0, 8);
	}
}

static struct crl_path path;

static void
assert_path(const char *text)
{
	memset(&path, 0x5a, sizeof(path));
	path.size = sizeof(path);
	assert_int_equal(crl_path(&q, &path), 0);
	assert_string_equal(path.text, text);
}

/* Where packets go, in numbers and words. */
static void
path_in_words(void **state)
{
	static const struct crl_mem near = {.place = CRL_PLACE_HOST, .name = "near"};
	static const struct crl_mem far = {.place = CRL_PLACE_GPU, .name = "far"};
	struct mlx5dv_devx_uar uar = {.page_id = 77};

	strcpy(ctx.info.name, "mlx5_9");
	strcpy(ctx.numa_why, "because");
	ctx.numa_node = -1;
	q.rings = &far;
	q.buffers = &near;
	q.uar = &uar;
	q.uar_kind = CRL_UAR_BF;
	q.cfg.cq_flags = CRL_CQ_COLLAPSED;
	assert_path(
		"queue 21 on mlx5_9: rings in far, buffers in near, doorbell on a "
		"write-combining (BlueFlame) page of its own, collapsed send CQs, any NUMA node "
		"(because)");
	assert_int_equal(path.rings, CRL_PLACE_GPU);
	assert_int_equal(path.buffers, CRL_PLACE_HOST);
	assert_int_equal(path.uar, CRL_UAR_BF);
	assert_int_equal(path.uar_page, 77);
	assert_int_equal(path.cq_flags, CRL_CQ_COLLAPSED);
	assert_int_equal(path.numa_node, -1);
	q.rings = &near;
	q.buffers = &far;
	q.uar_kind = CRL_UAR_NC_SHARED;
	q.uar_moved = true;
	q.cfg.cq_flags = 0;
	ctx.numa_node = 0;
	assert_path(
		"queue 21 on mlx5_9: rings in near, buffers in far, doorbell on an uncached page "
		"that all queues share rung in GPU memory, ordinary CQs, NUMA node 0");
	assert_int_equal(path.rings, CRL_PLACE_HOST);
	assert_int_equal(path.buffers, CRL_PLACE_GPU);
	assert_int_equal(path.uar, CRL_UAR_NC_SHARED);
	assert_int_equal(path.cq_flags, 0);
	assert_int_equal(path.numa_node, 0);
	q.uar = NULL; /* its destruction was refused half way */
	path.uar_page = 1;
	assert_int_equal(crl_path(&q, &path), 0);
	assert_int_equal(path.uar_page, 0);
	ctx.numa_node = 3;
	q.uar_kind = CRL_UAR_NC_DEDICATED;
	assert_path(
		"queue 21 on mlx5_9: rings in near, buffers in far, doorbell on an uncached page "
		"of its own rung in GPU memory, ordinary CQs, NUMA node 3");
	path.size--;
	path.numa_node = 5;
	assert_int_equal(crl_path(&q, &path), -EINVAL);
	assert_int_equal(path.numa_node, 5);
	assert_string_equal(crl_uar_kind_str(CRL_UAR_ANY), "no page");
}

static void
counters(void **state)
{
	struct crl_qstats stats;

	memset(&stats, 0x5a, sizeof(stats));
	shared.stats.rx_packets = 12;
	shared.stats.tx_bytes = 34;
	crl_queue_stats(&q, &stats);
	assert_int_equal(stats.rx_packets, 12);
	assert_int_equal(stats.tx_bytes, 34);
	assert_int_equal(stats.tx_packets, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(both_sides, open_queue),
		cmocka_unit_test_setup(one_side, open_queue),
		cmocka_unit_test_setup(forms, open_queue),
		cmocka_unit_test_setup(too_late, open_queue),
		cmocka_unit_test_setup(too_late_by_record, open_queue),
		cmocka_unit_test_setup(path_in_words, open_queue),
		cmocka_unit_test_setup(counters, open_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
