/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the NIC can: QUERY_HCA_CAP (current values), read once when a context opens and reduced to
 * what queue creation has to decide. A capability that Carillon cannot do without is refused here,
 * in words. Host only.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

#define CAPS_STEP "query capabilities"

static int
query_page(struct crl_ctx *ctx, uint32_t page, uint8_t *out, struct crl_err *err)
{
	uint32_t in[CRL_PRM_QUERY_HCA_CAP_IN_BYTES / 4] = {0};

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_QUERY_HCA_CAP);
	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, page << 1 | CRL_HCA_CAP_CURRENT);
	return crl_devx_cmd(
		ctx, CAPS_STEP, in, sizeof(in), out, CRL_PRM_QUERY_HCA_CAP_OUT_BYTES, err);
}

/* Which time stamp format a queue asks for: free running where that is all there is, else the
 * default. */
static uint8_t
ts_format(uint32_t cap)
{
	return cap == CRL_TS_CAP_FREE_RUNNING ? CRL_TS_FREE_RUNNING : CRL_TS_DEFAULT;
}

static void
read_general(struct crl_ctx *ctx, const void *cap)
{
	struct crl_caps *c = &ctx->caps;

	c->log_max_wq_sz = (uint8_t)crl_prm_get(cap, CRL_PRM_HCA_CAP_LOG_MAX_WQ_SZ);
	c->log_max_cq_sz = (uint8_t)crl_prm_get(cap, CRL_PRM_HCA_CAP_LOG_MAX_CQ_SZ);
	c->log_min_stride_sq = (uint8_t)crl_prm_get(cap, CRL_PRM_HCA_CAP_LOG_MIN_STRIDE_SZ_SQ);
	c->log_max_stride_sq = (uint8_t)crl_prm_get(cap, CRL_PRM_HCA_CAP_LOG_MAX_STRIDE_SZ_SQ);
	c->log_min_stride_rq = (uint8_t)crl_prm_get(cap, CRL_PRM_HCA_CAP_LOG_MIN_STRIDE_SZ_RQ);
	c->log_max_stride_rq = (uint8_t)crl_prm_get(cap, CRL_PRM_HCA_CAP_LOG_MAX_STRIDE_SZ_RQ);
	c->sq_ts_format = ts_format(crl_prm_get(cap, CRL_PRM_HCA_CAP_SQ_TS_FORMAT));
	c->rq_ts_format = ts_format(crl_prm_get(cap, CRL_PRM_HCA_CAP_RQ_TS_FORMAT));
	c->cq_overrun_ignore = crl_prm_get(cap, CRL_PRM_HCA_CAP_CQ_OI);
}

static int
query_inline_of_vport(struct crl_ctx *ctx, struct crl_err *err)
{
	uint32_t in[CRL_PRM_QUERY_NIC_VPORT_CONTEXT_IN_BYTES / 4] = {0};
	uint32_t out[CRL_PRM_QUERY_NIC_VPORT_CONTEXT_OUT_BYTES / 4];
	int ret;

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_QUERY_NIC_VPORT_CONTEXT);
	ret = crl_devx_cmd(
		ctx, "query the port's inline mode", in, sizeof(in), out, sizeof(out), err);
	if (ret != 0)
		return ret;
	ctx->caps.inline_mode = (uint8_t)crl_prm_get(
		crl_prm_at(out, CRL_PRM_QUERY_NIC_VPORT_CONTEXT_OUT_NIC_VPORT_CONTEXT),
		CRL_PRM_NIC_VPORT_CONTEXT_MIN_WQE_INLINE_MODE);
	return 0;
}

static int
read_eth(struct crl_ctx *ctx, const void *cap, struct crl_err *err)
{
	ctx->caps.enhanced_multi_packet =
		crl_prm_get(cap, CRL_PRM_ETH_CAPS_ENHANCED_MULTI_PKT_SEND_WQE) > 0;
	ctx->caps.multi_packet_send = ctx->caps.enhanced_multi_packet ||
				      crl_prm_get(cap, CRL_PRM_ETH_CAPS_MULTI_PKT_SEND_WQE) > 0;
	switch (crl_prm_get(cap, CRL_PRM_ETH_CAPS_WQE_INLINE_MODE)) {
	case CRL_CAP_INLINE_NOT_REQUIRED:
		ctx->caps.inline_mode = CRL_INLINE_NONE;
		return 0;
	case CRL_CAP_INLINE_VPORT:
		return query_inline_of_vport(ctx, err);
	default:
		ctx->caps.inline_mode = CRL_INLINE_L2;
		return 0;
	}
}

static int
check(const struct crl_caps *c, struct crl_err *err)
{
	/* 0: firmware that does not say; then any stride goes. */
	bool sq_stride = c->log_max_stride_sq == 0 ||
			 (c->log_min_stride_sq <= 6 && c->log_max_stride_sq >= 6);
	bool rq_stride = c->log_max_stride_rq == 0 ||
			 (c->log_min_stride_rq <= 4 && c->log_max_stride_rq >= 4);

	if (!sq_stride || !rq_stride)
		return crl_err_set(err, -ENOTSUP, CAPS_STEP, "update the firmware",
			"the NIC does not take 64-byte send and 16-byte receive WQEs");
	return 0;
}

int
crl_caps_query(struct crl_ctx *ctx, struct crl_err *err)
{
	uint8_t *out = calloc(1, CRL_PRM_QUERY_HCA_CAP_OUT_BYTES);
	const void *cap;
	int ret;

	if (out == NULL)
		return crl_fail_errno(err, ENOMEM, CAPS_STEP, "", "no memory");
	cap = crl_prm_at(out, CRL_PRM_QUERY_HCA_CAP_OUT_CAPABILITY);
	ret = query_page(ctx, CRL_HCA_CAP_GENERAL, out, err);
	if (ret != 0)
		goto done;
	read_general(ctx, cap);
	if (crl_prm_get(cap, CRL_PRM_HCA_CAP_ETH_NET_OFFLOADS)) {
		ret = query_page(ctx, CRL_HCA_CAP_ETH, out, err);
		if (ret == 0)
			ret = read_eth(ctx, cap, err);
	} else {
		ctx->caps.inline_mode = CRL_INLINE_L2;
	}
	if (ret == 0)
		ret = check(&ctx->caps, err);
	ctx->info.log_max_wq_sz = ctx->caps.log_max_wq_sz;
	ctx->info.log_max_cq_sz = ctx->caps.log_max_cq_sz;
	ctx->info.sq_ts_format = ctx->caps.sq_ts_format;
	ctx->info.rq_ts_format = ctx->caps.rq_ts_format;
	ctx->info.inline_mode = ctx->caps.inline_mode;
done:
	free(out);
	return ret;
}
