/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * caps.c against a firmware of this file's own: which commands it asks with, to the last bit, and
 * what it makes of each answer. The linker sends mlx5dv_devx_general_cmd() here.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/mlx5/internal.h"
#include "heap.h"

/* What the firmware answers. */
static struct {
	uint32_t wq, cq, min_sq, max_sq, min_rq, max_rq, ts_sq, ts_rq, oi, eth; /* general */
	uint32_t empw, mpw, inline_mode;					/* Ethernet */
	uint32_t vport_inline;
	unsigned fail_at, calls;
} fw;
static struct crl_ctx ctx;
static struct crl_err err;

/* Nothing is set in a command but what it is asked with. */
static void
assert_asked(const void *in, size_t bytes, uint32_t opcode, uint32_t op_mod)
{
	uint32_t want[64] = {0};

	assert_true(bytes <= sizeof(want));
	crl_prm_set(want, CRL_PRM_CMD_IN_OPCODE, opcode);
	crl_prm_set(want, CRL_PRM_CMD_IN_OP_MOD, op_mod);
	assert_memory_equal(in, want, bytes);
}

static void
answer_page(const void *in, size_t bytes, void *out)
{
	uint32_t page = crl_prm_get(in, CRL_PRM_CMD_IN_OP_MOD) >> 1;
	void *cap = crl_prm_at(out, CRL_PRM_QUERY_HCA_CAP_OUT_CAPABILITY);

	assert_asked(in, bytes, CRL_CMD_OP_QUERY_HCA_CAP, page << 1 | CRL_HCA_CAP_CURRENT);
	if (page == CRL_HCA_CAP_GENERAL) {
		crl_prm_set(cap, CRL_PRM_HCA_CAP_LOG_MAX_WQ_SZ, fw.wq);
		crl_prm_set(cap, CRL_PRM_HCA_CAP_LOG_MAX_CQ_SZ, fw.cq);
		crl_prm_set(cap, CRL_PRM_HCA_CAP_LOG_MIN_STRIDE_SZ_SQ, fw.min_sq);
		crl_prm_set(cap, CRL_PRM_HCA_CAP_LOG_MAX_STRIDE_SZ_SQ, fw.max_sq);
		crl_prm_set(cap, CRL_PRM_HCA_CAP_LOG_MIN_STRIDE_SZ_RQ, fw.min_rq);
		crl_prm_set(cap, CRL_PRM_HCA_CAP_LOG_MAX_STRIDE_SZ_RQ, fw.max_rq);
		crl_prm_set(cap, CRL_PRM_HCA_CAP_SQ_TS_FORMAT, fw.ts_sq);
		crl_prm_set(cap, CRL_PRM_HCA_CAP_RQ_TS_FORMAT, fw.ts_rq);
		crl_prm_set(cap, CRL_PRM_HCA_CAP_CQ_OI, fw.oi);
		crl_prm_set(cap, CRL_PRM_HCA_CAP_ETH_NET_OFFLOADS, fw.eth);
		return;
	}
	assert_int_equal(page, CRL_HCA_CAP_ETH);
	crl_prm_set(cap, CRL_PRM_ETH_CAPS_ENHANCED_MULTI_PKT_SEND_WQE, fw.empw);
	crl_prm_set(cap, CRL_PRM_ETH_CAPS_MULTI_PKT_SEND_WQE, fw.mpw);
	crl_prm_set(cap, CRL_PRM_ETH_CAPS_WQE_INLINE_MODE, fw.inline_mode);
}

int __wrap_mlx5dv_devx_general_cmd(
	struct ibv_context *ibv, const void *in, size_t in_bytes, void *out, size_t out_bytes);
int
__wrap_mlx5dv_devx_general_cmd(
	struct ibv_context *ibv, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	(void)ibv;
	for (size_t i = 0; i < out_bytes; i++)
		assert_int_equal(((uint8_t *)out)[i], 0);
	if (++fw.calls == fw.fail_at)
		return EPERM;
	if (crl_prm_get(in, CRL_PRM_CMD_IN_OPCODE) == CRL_CMD_OP_QUERY_NIC_VPORT_CONTEXT) {
		assert_asked(in, in_bytes, CRL_CMD_OP_QUERY_NIC_VPORT_CONTEXT, 0);
		crl_prm_set(crl_prm_at(out, CRL_PRM_QUERY_NIC_VPORT_CONTEXT_OUT_NIC_VPORT_CONTEXT),
			CRL_PRM_NIC_VPORT_CONTEXT_MIN_WQE_INLINE_MODE, fw.vport_inline);
		return 0;
	}
	answer_page(in, in_bytes, out);
	return 0;
}

/* Into a context that has another value than what is told in every field. */
static int
query(void)
{
	int ret;

	memset(&ctx, 0x5a, sizeof(ctx));
	ctx.caps.cq_overrun_ignore = !fw.oi;
	ctx.caps.enhanced_multi_packet = !fw.empw;
	ctx.caps.multi_packet_send = !(fw.empw || fw.mpw);
	fw.calls = 0;
	ret = crl_caps_query(&ctx, &err);
	assert_int_equal(heap_live, 0);
	return ret;
}

static int
usual(void **state)
{
	memset(&fw, 0, sizeof(fw));
	fw.wq = 15;
	fw.cq = 22;
	fw.min_sq = fw.max_sq = 6;
	fw.min_rq = fw.max_rq = 4;
	fw.ts_sq = CRL_TS_CAP_REAL_TIME;
	fw.ts_rq = CRL_TS_CAP_FREE_RUNNING;
	fw.oi = fw.eth = fw.empw = 1;
	fw.inline_mode = CRL_CAP_INLINE_NOT_REQUIRED;
	return 0;
}

static void
as_told(void **state)
{
	assert_int_equal(query(), 0);
	assert_int_equal(fw.calls, 2);
	assert_int_equal(ctx.caps.log_max_wq_sz, 15);
	assert_int_equal(ctx.caps.log_max_cq_sz, 22);
	assert_int_equal(ctx.caps.log_min_stride_sq, 6);
	assert_int_equal(ctx.caps.log_max_stride_sq, 6);
	assert_int_equal(ctx.caps.log_min_stride_rq, 4);
	assert_int_equal(ctx.caps.log_max_stride_rq, 4);
	assert_int_equal(ctx.caps.sq_ts_format, CRL_TS_DEFAULT);
	assert_int_equal(ctx.caps.rq_ts_format, CRL_TS_FREE_RUNNING);
	assert_int_equal(ctx.caps.inline_mode, CRL_INLINE_NONE);
	assert_true(ctx.caps.cq_overrun_ignore);
	assert_true(ctx.caps.enhanced_multi_packet && ctx.caps.multi_packet_send);
	assert_int_equal(ctx.info.log_max_wq_sz, 15);
	assert_int_equal(ctx.info.log_max_cq_sz, 22);
	assert_int_equal(ctx.info.sq_ts_format, CRL_TS_DEFAULT);
	assert_int_equal(ctx.info.rq_ts_format, CRL_TS_FREE_RUNNING);
	assert_int_equal(ctx.info.inline_mode, CRL_INLINE_NONE);
	fw.oi = fw.empw = 0;
	fw.mpw = 1;
	fw.ts_sq = CRL_TS_CAP_BOTH;
	assert_int_equal(query(), 0);
	assert_false(ctx.caps.cq_overrun_ignore || ctx.caps.enhanced_multi_packet);
	assert_true(ctx.caps.multi_packet_send);
	assert_int_equal(ctx.caps.sq_ts_format, CRL_TS_DEFAULT);
	fw.mpw = 0;
	assert_int_equal(query(), 0);
	assert_false(ctx.caps.multi_packet_send);
}

static void
inline_modes(void **state)
{
	fw.inline_mode = CRL_CAP_INLINE_L2;
	assert_int_equal(query(), 0);
	assert_int_equal(ctx.caps.inline_mode, CRL_INLINE_L2);
	fw.inline_mode = CRL_CAP_INLINE_VPORT;
	for (fw.vport_inline = 0; fw.vport_inline <= CRL_INLINE_TCP_UDP; fw.vport_inline++) {
		assert_int_equal(query(), 0);
		assert_int_equal(fw.calls, 3);
		assert_int_equal(ctx.caps.inline_mode, fw.vport_inline);
		assert_int_equal(ctx.info.inline_mode, fw.vport_inline);
	}
	fw.eth = 0; /* no such page: the careful way */
	assert_int_equal(query(), 0);
	assert_int_equal(fw.calls, 1);
	assert_int_equal(ctx.caps.inline_mode, CRL_INLINE_L2);
}

static void
each_fails(void **state)
{
	fw.inline_mode = CRL_CAP_INLINE_VPORT;
	for (fw.fail_at = 1; fw.fail_at <= 3; fw.fail_at++) {
		assert_int_equal(query(), -EPERM);
		assert_int_equal(fw.calls, fw.fail_at);
		assert_int_equal(err.code, -EPERM);
	}
	fw.fail_at = 1; /* what was not told is not taken for told */
	assert_int_equal(query(), -EPERM);
	assert_int_equal(ctx.info.log_max_wq_sz, 0x5a);
	assert_int_equal(ctx.caps.log_max_wq_sz, 0x5a);
	heap_fail_at = 1;
	assert_int_equal(query(), -ENOMEM);
	assert_int_equal(err.code, -ENOMEM);
	assert_int_equal(fw.calls, 0);
}

/* Strides: what the NIC says it takes must have ours in it; where it says nothing, all goes. */
static void
strides(void **state)
{
	static const struct {
		uint32_t min_sq, max_sq, min_rq, max_rq;
		int ret;
	} cases[] = {{0, 0, 0, 0, 0}, {4, 8, 2, 8, 0}, {6, 8, 4, 8, 0}, {4, 6, 2, 4, 0},
		{7, 8, 4, 8, -ENOTSUP}, {4, 5, 4, 8, -ENOTSUP}, {6, 8, 5, 8, -ENOTSUP},
		{6, 8, 2, 3, -ENOTSUP}, {7, 0, 0, 0, 0}, {0, 0, 5, 0, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fw.min_sq = cases[i].min_sq;
		fw.max_sq = cases[i].max_sq;
		fw.min_rq = cases[i].min_rq;
		fw.max_rq = cases[i].max_rq;
		assert_int_equal(query(), cases[i].ret);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(as_told, usual),
		cmocka_unit_test_setup(inline_modes, usual),
		cmocka_unit_test_setup(each_fails, usual),
		cmocka_unit_test_setup(strides, usual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
