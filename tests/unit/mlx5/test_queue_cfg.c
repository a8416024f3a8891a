/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a queue may be, as a table: configs at both sides of every limit, each alone at fault, so
 * that a check that is missing, or one that comes too late, shows.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/mlx5/internal.h"

static int
no_alloc(void *arg, size_t bytes, size_t align, void **addr)
{
	return -ENOMEM;
}

static void
no_free(void *arg, void *addr, size_t bytes)
{
}

static struct crl_ctx ctx, other;
static struct crl_region here = {.ctx = &ctx}, elsewhere = {.ctx = &other};
static struct crl_queue alive = {.cfg = {.index = 4}}, second = {.cfg = {.index = 9}};
static const struct crl_mem good = {
	.size = sizeof(good), .name = "x", .alloc = no_alloc, .free = no_free};
static const struct crl_mem bad = {.size = sizeof(bad), .name = "x", .alloc = no_alloc};

/* A NIC that takes everything. */
static const struct crl_caps all = {.log_max_wq_sz = 15,
	.log_max_cq_sz = 15,
	.cq_overrun_ignore = true,
	.enhanced_multi_packet = true,
	.inline_mode = CRL_INLINE_NONE};

#define BOTH (CRL_Q_TX | CRL_Q_RX)
#define SIZED(bytes, sides, ...)                                                                   \
	{                                                                                          \
		.size = (bytes), .flags = (sides), __VA_ARGS__                                     \
	}
#define Q(sides, ...) SIZED(sizeof(struct crl_queue_cfg), sides, __VA_ARGS__)

static const struct {
	struct crl_queue_cfg cfg;
	int ret;
	const char *words; /* of the refusal */
} rows[] = {
	{Q(CRL_Q_TX, .index = 0), 0, ""},
	{Q(CRL_Q_RX, .index = 0), 0, ""},
	{Q(0, .index = 0), -EINVAL, "flags is 0x0"},
	{Q(4, .index = 0), -EINVAL, "flags is 0x4"},
	{Q(BOTH | 4, .index = 0), -EINVAL, "flags is 0x7"},
	{SIZED(4, BOTH, .index = 0), -EINVAL, "config struct says it has 4 bytes"},
	{SIZED(0, BOTH, .index = 0), -EINVAL, "its size is 0"},
	/* Depths: each side by itself, and where a later check would pass. */
	{Q(BOTH, .tx_depth = 1, .rx_depth = 1), 0, ""},
	{Q(BOTH, .tx_depth = 32768, .rx_depth = 32768), 0, ""},
	{Q(BOTH, .tx_depth = 17), -EINVAL, "send depth 17 is no power of two"},
	{Q(BOTH, .rx_depth = 17), -EINVAL, "receive depth 17 is no power of two"},
	{Q(BOTH, .tx_depth = 65536), -EINVAL, "send depth 65536 is above 32768"},
	{Q(BOTH, .rx_depth = 65536), -EINVAL, "receive depth 65536 is above 32768"},
	{Q(BOTH, .tx_depth = 17, .rings = &good), -EINVAL, "send depth"},
	{Q(BOTH, .rx_depth = 17, .buffers = &good), -EINVAL, "receive depth"},
	{Q(CRL_Q_TX, .rx_depth = 17), 0, ""}, /* of no side that is there */
	{Q(CRL_Q_RX, .tx_depth = 17), 0, ""},
	/* Values that are not carillon.h's. */
	{Q(BOTH, .cq_flags = CRL_CQ_COLLAPSED), 0, ""},
	{Q(BOTH, .cq_flags = CRL_CQ_OVERRUN_IGNORE), 0, ""},
	{Q(BOTH, .cq_flags = 3), 0, ""},
	{Q(BOTH, .cq_flags = 4), -EINVAL, "cq_flags is 0x4, uar 0"},
	{Q(BOTH, .cq_flags = 5), -EINVAL, "cq_flags is 0x5"},
	{Q(BOTH, .cq_flags = 4, .uar = CRL_UAR_NC_SHARED + 1), -EINVAL, "cq_flags is 0x4, uar 4"},
	{Q(BOTH, .uar = CRL_UAR_NC_SHARED), 0, ""},
	{Q(BOTH, .uar = CRL_UAR_NC_SHARED + 1), -EINVAL, "cq_flags is 0x0, uar 4"},
	{Q(CRL_Q_TX, .cq_flags = CRL_CQ_COLLAPSED), 0, ""},
	{Q(CRL_Q_RX, .cq_flags = CRL_CQ_COLLAPSED), -EINVAL, "collapsed CQs are for"},
	{Q(CRL_Q_RX, .cq_flags = CRL_CQ_OVERRUN_IGNORE), 0, ""},
	/* An index is one queue's. */
	{Q(BOTH, .index = 4), -EINVAL, "queue 4 lives already"},
	{Q(BOTH, .index = 9), -EINVAL, "queue 9 lives already"},
	{Q(BOTH, .index = 5), 0, ""},
	/* Buffers and headroom. */
	{Q(BOTH, .rx_buf_bytes = 64), 0, ""},
	{Q(BOTH, .rx_buf_bytes = 65536), 0, ""},
	{Q(BOTH, .rx_buf_bytes = 65600), -EINVAL, "receive buffers of 65600 bytes"},
	{Q(BOTH, .rx_buf_bytes = 65), -EINVAL, "receive buffers of 65 bytes"},
	{Q(BOTH, .rx_buf_bytes = 63), -EINVAL, "receive buffers of 63 bytes"},
	{Q(BOTH, .rx_buf_bytes = 96), -EINVAL, "receive buffers of 96 bytes"},
	{Q(BOTH, .rx_buf_bytes = 128, .rx_headroom = 126), 0, ""},
	{Q(BOTH, .rx_buf_bytes = 128, .rx_headroom = 128), -EINVAL,
		"headroom of 128 bytes in buffers"},
	{Q(BOTH, .rx_headroom = 2110), 0, ""},
	{Q(BOTH, .rx_headroom = 2111), -EINVAL, "headroom of 2111 bytes: fields"},
	{Q(BOTH, .rx_headroom = 1), -EINVAL, "headroom of 1 bytes: fields"},
	{Q(BOTH, .rx_headroom = 2112), -EINVAL, "headroom of 2112 bytes in buffers of 2112"},
	{Q(CRL_Q_TX, .rx_headroom = 9999), 0, ""},
	/* Inline bytes, and whose region. */
	{Q(BOTH, .tx_inline_max = 972), 0, ""},
	{Q(BOTH, .tx_inline_max = 973), -EINVAL, "tx_inline_max 973 is above 972"},
	{Q(CRL_Q_RX, .tx_inline_max = 973), 0, ""},
	{Q(BOTH, .tx_region = &here), 0, ""},
	{Q(BOTH, .tx_region = &elsewhere), -EINVAL, "tx_region belongs to another context"},
	/* Signalling: a quarter of the shallower ring, of both when there are both. */
	{Q(BOTH, .tx_depth = 64, .rx_depth = 16, .signal_every = 4), 0, ""},
	{Q(BOTH, .tx_depth = 64, .rx_depth = 16, .signal_every = 5), -EINVAL,
		"signal_every 5 is above 4, a quarter"},
	{Q(BOTH, .tx_depth = 16, .rx_depth = 64, .signal_every = 5), -EINVAL,
		"signal_every 5 is above"},
	{Q(CRL_Q_TX, .tx_depth = 64, .rx_depth = 16, .signal_every = 16), 0, ""},
	{Q(CRL_Q_TX, .tx_depth = 64, .rx_depth = 16, .signal_every = 17), -EINVAL,
		"signal_every 17 is above 16"},
	{Q(CRL_Q_RX, .rx_depth = 16, .signal_every = 99), 0, ""},
	/* Memory: each of the two, and the first that is at fault is told. */
	{Q(BOTH, .rings = &good, .buffers = &good), 0, ""},
	{Q(BOTH, .rings = &bad), -EINVAL, ""},
	{Q(BOTH, .buffers = &bad), -EINVAL, ""},
	{Q(BOTH, .rings = &bad, .buffers = &good), -EINVAL, ""},
	{Q(BOTH, .rings = &good, .buffers = &bad), -EINVAL, ""},
	{Q(BOTH, .signal_every = 9999, .rings = &good, .buffers = &good), -EINVAL, "signal_every"},
};

static int
start(void **state)
{
	(void)state;
	ctx = (struct crl_ctx){.caps = all};
	LIST_INIT(&ctx.queues);
	LIST_INSERT_HEAD(&ctx.queues, &alive, link);
	LIST_INSERT_HEAD(&ctx.queues, &second, link);
	return 0;
}

static void
expect(const struct crl_queue_cfg *cfg, int ret, const char *words)
{
	struct crl_err err = {0};
	struct crl_queue_cfg full;
	char text[512];

	assert_int_equal(crl_queue_cfg_check(&ctx, cfg, &full, NULL), ret);
	assert_int_equal(crl_queue_cfg_check(&ctx, cfg, &full, &err), ret);
	assert_int_equal(err.code, ret);
	crl_err_str(&err, text, sizeof(text));
	if (strstr(text, words) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", words, text);
	assert_int_equal(
		err.step[0] != '\0' && err.cause[0] != '\0' && err.fix[0] != '\0', ret != 0);
	if (ret != 0)
		return;
	assert_int_equal(full.tx_depth, cfg->tx_depth ? cfg->tx_depth : 1024);
	assert_int_equal(full.rx_depth, cfg->rx_depth ? cfg->rx_depth : 1024);
	assert_int_equal(full.rx_buf_bytes, cfg->rx_buf_bytes ? cfg->rx_buf_bytes : 2112);
}

static void
table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(&rows[i].cfg, rows[i].ret, rows[i].words);
}

/* The same config on NICs that lack something each. */
static void
what_the_nic_lacks(void **state)
{
	struct crl_queue_cfg cfg = Q(BOTH, .tx_depth = 512, .rx_depth = 256);

	(void)state;
	ctx.caps.log_max_wq_sz = 9;
	expect(&cfg, 0, "");
	ctx.caps.log_max_wq_sz = 8;
	expect(&cfg, -ENOTSUP, "send depth 512 is more than the NIC's 256");
	cfg.tx_depth = 256;
	cfg.rx_depth = 512;
	expect(&cfg, -ENOTSUP, "receive depth 512 is more than the NIC's 256");
	ctx.caps.log_max_wq_sz = 15;
	ctx.caps.log_max_cq_sz = 8;
	expect(&cfg, -ENOTSUP, "receive depth 512 is more than the NIC's 256");
	cfg.rx_depth = 256;
	expect(&cfg, 0, "");
	ctx.caps.log_max_cq_sz = 0; /* it does not say */
	cfg.rx_depth = 32768;
	expect(&cfg, 0, "");
	cfg.cq_flags = CRL_CQ_OVERRUN_IGNORE;
	expect(&cfg, 0, "");
	ctx.caps.cq_overrun_ignore = false;
	expect(&cfg, -ENOTSUP, "cannot ignore CQ overruns");
	cfg.flags = CRL_Q_TX;
	cfg.cq_flags = CRL_CQ_COLLAPSED;
	expect(&cfg, -ENOTSUP, "cannot ignore CQ overruns");
	cfg.flags = CRL_Q_RX | CRL_Q_TX;
	cfg.cq_flags = 0;
	expect(&cfg, 0, "");
	cfg.tx_inline_max = 1;
	ctx.caps.enhanced_multi_packet = false;
	expect(&cfg, -ENOTSUP, "tx_inline_max is 1 and the NIC takes no multi-packet sends. Fix");
	cfg.flags = CRL_Q_RX;
	expect(&cfg, 0, "");
	ctx.caps.inline_mode = CRL_INLINE_IP;
	expect(&cfg, 0, "");
	cfg.flags = BOTH;
	expect(&cfg, -ENOTSUP, "more than layer 2 headers inlined in every send (mode 2)");
}

static void
depths(void **state)
{
	struct crl_err err;
	uint8_t log2 = 99;

	(void)state;
	assert_int_equal(crl_depth_check("send", 0, &log2, &err), -EINVAL);
	assert_string_equal(err.cause, "send depth 0 is below 1");
	assert_int_equal(crl_depth_check("send", 5, &log2, &err), -EINVAL);
	assert_string_equal(err.cause, "send depth 5 is no power of two: the nearest are 4 and 8");
	assert_int_equal(crl_depth_check("send", 32769, &log2, &err), -EINVAL);
	assert_int_equal(crl_depth_check("send", 49152, &log2, &err), -EINVAL);
	assert_int_equal(crl_depth_check("send", 7, &log2, NULL), -EINVAL);
	assert_int_equal(log2, 99);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(table, start),
		cmocka_unit_test_setup(what_the_nic_lacks, start),
		cmocka_unit_test(depths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
