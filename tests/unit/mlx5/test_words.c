/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors in words: firmware answers, errnos, config checks that touch no device. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/mlx5/internal.h"

static struct crl_err err;

static void
test_status(void **state)
{
	(void)state;
	assert_string_equal(crl_fw_status_str(0x00), "ok");
	assert_string_equal(crl_fw_status_str(0x03), "bad parameter");
	assert_string_equal(crl_fw_status_str(0x51), "bad output length");
	assert_string_equal(crl_fw_status_str(0x77), "unknown status");
	for (unsigned i = 0; i < 256; i++)
		assert_non_null(crl_fw_status_str((uint8_t)i));
}

static void
test_refused_command(void **state)
{
	uint32_t out[4] = {0};
	char line[512];

	(void)state;
	crl_prm_set(out, CRL_PRM_CMD_OUT_STATUS, CRL_CMD_STAT_BAD_PARAM_ERR);
	crl_prm_set(out, CRL_PRM_CMD_OUT_SYNDROME, 0x12ab34);
	/* Whatever errno the library made of it, the mailbox counts. */
	assert_int_equal(crl_fail_cmd(&err, "create send queue", EINVAL, out), -EREMOTEIO);
	assert_int_equal(err.code, -EREMOTEIO);
	assert_int_equal(err.fw_status, 3);
	assert_int_equal(err.fw_syndrome, 0x12ab34);
	crl_err_str(&err, line, sizeof(line));
	assert_non_null(strstr(line, "create send queue: firmware refused it: bad parameter"));
	assert_non_null(strstr(line, "0x0012ab34"));
	assert_int_equal(crl_fail_cmd(NULL, "x", EINVAL, out), -EREMOTEIO);
}

/* A caller that passes no config, or one that it forgot to fill, is told so. */
static void
test_no_config(void **state)
{
	struct crl_region_cfg region = {0};
	struct crl_queue_cfg full;
	struct crl_region *r;
	struct crl_ctx *ctx;

	(void)state;
	assert_int_equal(crl_open(NULL, &ctx, &err), -EINVAL);
	assert_non_null(strstr(err.cause, "no config struct"));
	assert_int_equal(crl_open(NULL, &ctx, NULL), -EINVAL);
	assert_int_equal(crl_region_reg(NULL, NULL, &r, &err), -EINVAL);
	assert_int_equal(crl_region_reg(NULL, &region, &r, &err), -EINVAL);
	assert_int_equal(crl_queue_cfg_check(NULL, NULL, &full, &err), -EINVAL);
	assert_true(err.step[0] && err.cause[0] && err.fix[0]);
}

static void
test_kernel_refused(void **state)
{
	uint32_t out[4] = {0};

	(void)state;
	assert_int_equal(crl_fail_cmd(&err, "create send queue", EPERM, out), -EPERM);
	assert_int_equal(err.fw_status, 0);
	assert_non_null(strstr(err.fix, "root"));
	/* A call that fails without an errno is a failure still. */
	assert_int_equal(crl_fail_cmd(&err, "create send queue", 0, out), -EIO);
}

static void
test_errno(void **state)
{
	(void)state;
	assert_int_equal(crl_fail_errno(&err, ENOSPC, "step", "fix", "%d things", 3), -ENOSPC);
	assert_non_null(strstr(err.cause, "3 things: No space left on device (errno 28)"));
	assert_string_equal(err.fix, "fix");
	assert_int_equal(crl_fail_errno(NULL, 0, "step", "", "x"), -EIO);
}

static void
test_depth(void **state)
{
	static const struct {
		uint32_t depth;
		const char *words;
	} bad[] = {{0, "below 1"}, {3, "2 and 4"}, {1000, "512 and 1024"},
		{32767, "16384 and 32768"}, {32769, "above 32768"}, {UINT32_MAX, "above 32768"}};
	uint8_t log2;

	(void)state;
	for (unsigned k = 0; k <= 15; k++) {
		assert_int_equal(crl_depth_check("send", 1u << k, &log2, &err), 0);
		assert_int_equal(log2, k);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(crl_depth_check("send", bad[i].depth, &log2, &err), -EINVAL);
		assert_non_null(strstr(err.cause, bad[i].words));
	}
}

static void
test_caps_limit_queues(void **state)
{
	struct crl_ctx ctx = {.caps = {.log_max_wq_sz = 9, .log_max_cq_sz = 12}};
	struct crl_queue_cfg full, cfg = {
					   .size = sizeof(cfg),
					   .flags = CRL_Q_TX | CRL_Q_RX,
					   .tx_depth = 512,
					   .rx_depth = 512,
				   };

	(void)state;
	LIST_INIT(&ctx.queues);
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), 0);
	assert_int_equal(full.signal_every, 32);
	cfg.rx_depth = 1024;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), -ENOTSUP);
	assert_non_null(strstr(err.cause, "more than the NIC's 512"));
	cfg.rx_depth = 16;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), 0);
	assert_int_equal(full.signal_every, 4);
	cfg.cq_flags = CRL_CQ_OVERRUN_IGNORE;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), -ENOTSUP);
	cfg.cq_flags = 0;
	cfg.tx_inline_max = 64;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), -ENOTSUP);
	ctx.caps.enhanced_multi_packet = true;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), 0);
	cfg.tx_inline_max = 973;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), -EINVAL);
	cfg.tx_inline_max = 64;
	ctx.caps.inline_mode = CRL_INLINE_L2;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), -ENOTSUP);
	assert_non_null(strstr(err.cause, "where it wants headers inlined"));
	cfg.tx_inline_max = 0;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), 0);
	for (ctx.caps.inline_mode = CRL_INLINE_IP; ctx.caps.inline_mode <= CRL_INLINE_TCP_UDP;
		ctx.caps.inline_mode++) {
		assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), -ENOTSUP);
		assert_non_null(strstr(err.cause, "more than layer 2 headers"));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_refused_command),
		cmocka_unit_test(test_no_config),
		cmocka_unit_test(test_kernel_refused),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_caps_limit_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
