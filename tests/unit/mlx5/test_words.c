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
	assert_int_equal(crl_fail_cmd(&err, "create send queue", EACCES, out), -EACCES);
	assert_non_null(strstr(err.fix, "root"));
	assert_int_equal(crl_fail_cmd(&err, "create send queue", EIO, out), -EIO);
	assert_string_equal(err.fix, "see the kernel log");
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
	errno = EPERM;
	assert_int_equal(crl_errno_of(-1), EPERM);
	assert_int_equal(crl_errno_of(ENOSPC), ENOSPC);
	assert_int_equal(crl_errno_of(0), 0);
}

static struct crl_err told; /* what memory says of its last failure */

static void
tell(void *arg, struct crl_err *why)
{
	assert_ptr_equal(arg, &told);
	*why = told;
}

/* Memory's own words come through where they are of this failure, and are any. */
static void
test_memory_says(void **state)
{
	struct crl_mem mem = {.arg = &told};

	(void)state;
	assert_int_equal(crl_fail_mem(&err, &mem, -ENOSPC, "step", "fix", "%d pages", 3), -ENOSPC);
	assert_string_equal(err.cause, "3 pages: No space left on device (errno 28)");
	assert_string_equal(err.fix, "fix");
	mem.why = tell;
	crl_err_set(&told, -ENOSPC, "theirs", "their fix", "it is full");
	assert_int_equal(crl_fail_mem(&err, &mem, -ENOSPC, "step", "fix", "%d pages", 3), -ENOSPC);
	assert_int_equal(err.code, -ENOSPC);
	assert_string_equal(err.step, "step");
	assert_string_equal(err.cause, "3 pages: it is full");
	assert_string_equal(err.fix, "their fix");
	told.fix[0] = '\0';
	assert_int_equal(crl_fail_mem(&err, &mem, -ENOSPC, "step", "fix", "%d pages", 3), -ENOSPC);
	assert_string_equal(err.cause, "3 pages: it is full");
	assert_string_equal(err.fix, "fix");
	told.cause[0] = '\0';
	assert_int_equal(crl_fail_mem(&err, &mem, -ENOSPC, "step", "fix", "%d pages", 3), -ENOSPC);
	assert_string_equal(err.cause, "3 pages: No space left on device (errno 28)");
	crl_err_set(&told, -EPERM, "older", "their fix", "of another call");
	assert_int_equal(crl_fail_mem(&err, &mem, -ENOSPC, "step", "fix", "%d pages", 3), -ENOSPC);
	assert_string_equal(err.cause, "3 pages: No space left on device (errno 28)");
	assert_string_equal(err.fix, "fix");
	assert_int_equal(crl_fail_mem(NULL, &mem, -ENOSPC, "step", "fix", "x"), -ENOSPC);
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

/* Fields of 64 bits and wide ones, by value and by byte. */
static void
test_fields(void **state)
{
	const uint32_t at32 = 32u << 16 | 64u, wide = 0u << 16 | 0x2000u;
	uint32_t layout[3] = {0};
	uint64_t v = 0x0123456789abcdefull;

	(void)state;
	crl_prm_set64(layout, at32, v);
	assert_memory_equal(layout, "\0\0\0\0\x01\x23\x45\x67\x89\xab\xcd\xef", 12);
	assert_true(crl_prm_get64(layout, at32) == v);
	crl_prm_set64(layout, at32, 0xfedcba9800000000ull);
	assert_memory_equal(layout, "\0\0\0\0\xfe\xdc\xba\x98\0\0\0\0", 12);
	assert_true(crl_prm_get64(layout, at32) == 0xfedcba9800000000ull);
	assert_int_equal(crl_prm_bits(wide), 0x2000);
	assert_int_equal(crl_prm_bits(0x1234u << 16 | 0x1001u), 0x1001);
	assert_int_equal(crl_prm_off(0x1234u << 16 | 0x1001u), 0x1234);
	crl_prm_set(layout, 8u << 16 | 24u, 0xabcdef);
	crl_prm_set(layout, 0u << 16 | 8u, 0x12);
	assert_memory_equal(layout, "\x12\xab\xcd\xef", 4);
	assert_int_equal(crl_prm_get(layout, 8u << 16 | 24u), 0xabcdef);
	assert_int_equal(crl_prm_get(layout, 0u << 16 | 32u), 0x12abcdef);
}

static void
test_edges_of_a_config(void **state)
{
	struct crl_ctx ctx = {.caps = {.enhanced_multi_packet = true}}, other = {.eqn = 1};
	struct crl_region region = {.ctx = &other};
	struct crl_queue_cfg full, cfg = {.size = sizeof(cfg), .flags = CRL_Q_TX | CRL_Q_RX};

	(void)state;
	LIST_INIT(&ctx.queues);
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), 0);
	assert_int_equal(full.tx_depth, 1024);
	assert_int_equal(full.rx_depth, 1024);
	assert_int_equal(full.rx_buf_bytes, 2112);
	assert_int_equal(full.signal_every, 32);
	cfg.tx_inline_max = 972;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), 0);
	cfg.rx_buf_bytes = 65536;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), 0);
	cfg.rx_buf_bytes = 65536 + 64;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), -EINVAL);
	cfg.rx_buf_bytes = 128;
	cfg.rx_headroom = 126;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), 0);
	cfg.rx_headroom = 128;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), -EINVAL);
	cfg.rx_headroom = 0;
	cfg.tx_region = &region;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), -EINVAL);
	assert_non_null(strstr(err.cause, "another context"));
	region.ctx = &ctx;
	assert_int_equal(crl_queue_cfg_check(&ctx, &cfg, &full, &err), 0);
}

static int
no_alloc(void *arg, size_t bytes, size_t align, void **addr)
{
	return -ENOMEM;
}

static void
no_free(void *arg, void *addr, size_t bytes)
{
}

static int
no_map(void *arg, void *p, size_t bytes, void **dev)
{
	return -ENOMEM;
}

static void
no_unmap(void *arg, void *p)
{
}

/* An allocator must be whole: each function that is missing is told. */
static void
test_allocator(void **state)
{
	const struct crl_mem good = {.size = sizeof(good),
		.name = "x",
		.alloc = no_alloc,
		.free = no_free,
		.map_host = no_map,
		.unmap_host = no_unmap,
		.map_mmio = no_map,
		.unmap_mmio = no_unmap};
	struct crl_mem mem;

	(void)state;
	assert_int_equal(crl_mem_check(&good, &err), 0);
#define LACKS(field)                                                                               \
	do {                                                                                       \
		mem = good;                                                                        \
		mem.field = 0;                                                                     \
		assert_int_equal(crl_mem_check(&mem, &err), -EINVAL);                              \
		assert_int_equal(err.code, -EINVAL);                                               \
	} while (0)
	LACKS(size);
	LACKS(name);
	LACKS(alloc);
	LACKS(free);
	LACKS(map_host);
	LACKS(unmap_host);
	LACKS(map_mmio);
	LACKS(unmap_mmio);
#undef LACKS
	mem = good;
	mem.map_host = NULL;
	mem.unmap_host = NULL;
	mem.map_mmio = NULL;
	mem.unmap_mmio = NULL;
	assert_int_equal(crl_mem_check(&mem, &err), 0);
	mem.place = CRL_PLACE_GPU;
	assert_int_equal(crl_mem_page(&mem), 65536);
	mem.place = CRL_PLACE_HOST;
	assert_int_equal(crl_mem_page(&mem), 4096);
}

static void
test_numa(void **state)
{
	struct crl_ctx ctx = {.numa_node = 5, .info = {.numa_node = -1}};

	(void)state;
	crl_mem_host_init(&ctx);
	assert_int_equal(ctx.numa_node, -1);
	assert_non_null(strstr(ctx.numa_why, "is not known"));
	ctx.info.numa_node = 1000;
	ctx.numa_node = 5;
	crl_mem_host_init(&ctx);
	assert_int_equal(ctx.numa_node, -1);
	assert_true(ctx.numa_why[0]);
	assert_int_equal(crl_mem_check(crl_mem_host(&ctx), &err), 0);
}

static void
test_small_answers(void **state)
{
	struct crl_ctx ctx = {.info = {.sq_ts_format = 1}};
	struct crl_info info = {.size = 1};
	uint64_t missed = 7;

	(void)state;
	assert_int_equal(crl_info(&ctx, &info), -EINVAL);
	assert_int_equal(info.sq_ts_format, 0);
	assert_int_equal(crl_missed(&ctx, &missed, &err), -ENOTSUP);
	assert_int_equal(missed, 7);
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
		cmocka_unit_test(test_memory_says),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_caps_limit_queues),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_edges_of_a_config),
		cmocka_unit_test(test_allocator),
		cmocka_unit_test(test_numa),
		cmocka_unit_test(test_small_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
