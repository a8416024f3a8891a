/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a queue may be: checks of crl_queue_cfg with the limits named, and the defaults of fields
 * left zero. No device is touched. Host only.
 */
#include <errno.h>

#include "internal.h"

#define CFG_STEP "check the queue's config"

#define DEFAULT_DEPTH 1024u
/* 33 cache lines: buffers at a power of two would share few sets of a cache (docs/speed.md). */
#define DEFAULT_BUF_BYTES 2112u
/* What 63 units of 16 bytes leave beside the control, Ethernet and inline headers. */
#define INLINE_MAX    ((CRL_WQE_DS_MAX - 2u) * CRL_WQE_SEG_BYTES - 4u)
#define BUF_BYTES_MAX 65536u

/* A multi-packet send has no room for inlined headers. */
bool
crl_takes_empw(const struct crl_ctx *ctx)
{
	return ctx->caps.enhanced_multi_packet && ctx->caps.inline_mode == CRL_INLINE_NONE;
}

static uint32_t
log2_floor(uint32_t v)
{
	return 31u - (uint32_t)__builtin_clz(v);
}

int
crl_depth_check(const char *what, uint32_t depth, uint8_t *log2, struct crl_err *err)
{
	uint32_t below, above;

	if (depth > CRL_DEPTH_MAX)
		return crl_err_set(err, -EINVAL, CFG_STEP, "use 32768 or less, a power of two",
			"%s depth %u is above %u", what, depth, CRL_DEPTH_MAX);
	if (depth < CRL_DEPTH_MIN)
		return crl_err_set(err, -EINVAL, CFG_STEP, "use a power of two from 1 to 32768",
			"%s depth %u is below %u", what, depth, CRL_DEPTH_MIN);
	below = 1u << log2_floor(depth);
	above = below << 1;
	if (depth != below)
		return crl_err_set(err, -EINVAL, CFG_STEP,
			"use the nearest power of two named here",
			"%s depth %u is no power of two: the nearest are %u and %u", what, depth,
			below, above);
	*log2 = (uint8_t)log2_floor(depth);
	return 0;
}

static int
check_depth_cap(const struct crl_ctx *ctx, const char *what, uint8_t log2, struct crl_err *err)
{
	uint32_t most = ctx->caps.log_max_wq_sz < ctx->caps.log_max_cq_sz ? ctx->caps.log_max_wq_sz
									  : ctx->caps.log_max_cq_sz;

	/* 0: the firmware does not say; then it will refuse what it cannot do. */
	if (most == 0 || log2 <= most)
		return 0;
	return crl_err_set(err, -ENOTSUP, CFG_STEP, "use a shallower queue",
		"%s depth %u is more than the NIC's %u", what, 1u << log2, 1u << most);
}

static int
check_tx(const struct crl_ctx *ctx, struct crl_queue_cfg *c, uint8_t *log2, struct crl_err *err)
{
	int ret = crl_depth_check("send", c->tx_depth, log2, err);

	if (ret == 0)
		ret = check_depth_cap(ctx, "send", *log2, err);
	if (ret != 0)
		return ret;
	if (ctx->caps.inline_mode != CRL_INLINE_NONE && ctx->caps.inline_mode != CRL_INLINE_L2)
		return crl_err_set(err, -ENOTSUP, CFG_STEP,
			"set the port's inline mode to link or none (devlink dev eswitch ... "
			"inline-mode link)",
			"the NIC wants more than layer 2 headers inlined in every send (mode %u)",
			ctx->caps.inline_mode);
	if (c->tx_inline_max > 0 && !crl_takes_empw(ctx))
		return crl_err_set(err, -ENOTSUP, CFG_STEP, "set it to 0",
			"tx_inline_max is %u and the NIC takes no multi-packet sends%s",
			c->tx_inline_max,
			ctx->caps.inline_mode == CRL_INLINE_L2 ? " where it wants headers inlined"
							       : "");
	if (c->tx_inline_max > INLINE_MAX)
		return crl_err_set(err, -EINVAL, CFG_STEP, "use that or less",
			"tx_inline_max %u is above %u, which a WQE has room for", c->tx_inline_max,
			INLINE_MAX);
	if (c->tx_region != NULL && c->tx_region->ctx != ctx)
		return crl_err_set(err, -EINVAL, CFG_STEP, "register it with this context",
			"tx_region belongs to another context");
	return 0;
}

static int
check_rx(const struct crl_ctx *ctx, struct crl_queue_cfg *c, uint8_t *log2, struct crl_err *err)
{
	int ret = crl_depth_check("receive", c->rx_depth, log2, err);

	if (ret == 0)
		ret = check_depth_cap(ctx, "receive", *log2, err);
	if (ret != 0)
		return ret;
	if (c->rx_buf_bytes % 64 != 0 || c->rx_buf_bytes > BUF_BYTES_MAX)
		return crl_err_set(err, -EINVAL, CFG_STEP, "use a multiple of 64 up to 65536",
			"receive buffers of %u bytes", c->rx_buf_bytes);
	if (c->rx_headroom >= c->rx_buf_bytes)
		return crl_err_set(err, -EINVAL, CFG_STEP, "leave room for the frame",
			"headroom of %u bytes in buffers of %u", c->rx_headroom, c->rx_buf_bytes);
	if (c->rx_headroom % 2 != 0)
		return crl_err_set(err, -EINVAL, CFG_STEP, "use an even number",
			"headroom of %u bytes: fields of a frame lie on even addresses",
			c->rx_headroom);
	return 0;
}

static void
fill_defaults(struct crl_queue_cfg *c)
{
	if (c->tx_depth == 0)
		c->tx_depth = DEFAULT_DEPTH;
	if (c->rx_depth == 0)
		c->rx_depth = DEFAULT_DEPTH;
	if (c->rx_buf_bytes == 0)
		c->rx_buf_bytes = DEFAULT_BUF_BYTES;
}

/* The bound of selective signalling: beyond it zero-copy forwarding can wait for itself. */
static int
check_signal(struct crl_queue_cfg *c, uint32_t log_tx, uint32_t log_rx, struct crl_err *err)
{
	uint32_t most = crl_signal_every(
		UINT32_MAX, c->flags & CRL_Q_RX ? log_rx : CRL_LOG_DEPTH_MAX, log_tx);

	if (c->signal_every > most)
		return crl_err_set(err, -EINVAL, CFG_STEP, "use that or less, or 0",
			"signal_every %u is above %u, a quarter of the shallower ring",
			c->signal_every, most);
	c->signal_every = crl_signal_every(
		c->signal_every, c->flags & CRL_Q_RX ? log_rx : CRL_LOG_DEPTH_MAX, log_tx);
	return 0;
}

int
crl_queue_cfg_check(const struct crl_ctx *ctx, const struct crl_queue_cfg *cfg,
	struct crl_queue_cfg *full, struct crl_err *err)
{
	uint8_t log_tx = 0, log_rx = 0;
	struct crl_queue *other;
	int ret = crl_check_size(err, CFG_STEP, CRL_SIZE_OF(cfg), sizeof(*cfg));

	if (ret != 0)
		return ret;
	*full = *cfg;
	if ((cfg->flags & (CRL_Q_TX | CRL_Q_RX)) == 0 || (cfg->flags & ~(CRL_Q_TX | CRL_Q_RX)) != 0)
		return crl_err_set(err, -EINVAL, CFG_STEP, "use CRL_Q_TX, CRL_Q_RX or both",
			"flags is 0x%x", cfg->flags);
	if ((cfg->cq_flags & ~(CRL_CQ_COLLAPSED | CRL_CQ_OVERRUN_IGNORE)) != 0 ||
		cfg->uar > CRL_UAR_NC_SHARED)
		return crl_err_set(err, -EINVAL, CFG_STEP, "use the values of carillon.h",
			"cq_flags is 0x%x, uar %u", cfg->cq_flags, (unsigned)cfg->uar);
	if ((cfg->cq_flags & CRL_CQ_COLLAPSED) && !(cfg->flags & CRL_Q_TX))
		return crl_err_set(err, -EINVAL, CFG_STEP, "leave CRL_CQ_COLLAPSED out",
			"collapsed CQs are for sends, and the queue has no send side");
	if (cfg->cq_flags != 0 && !ctx->caps.cq_overrun_ignore)
		return crl_err_set(err, -ENOTSUP, CFG_STEP,
			"leave CRL_CQ_OVERRUN_IGNORE and CRL_CQ_COLLAPSED out",
			"the NIC cannot ignore CQ overruns");
	LIST_FOREACH(other, &ctx->queues, link)
	if (other->cfg.index == cfg->index)
		return crl_err_set(err, -EINVAL, CFG_STEP, "use an index of its own",
			"queue %u lives already", cfg->index);
	fill_defaults(full);
	if (full->flags & CRL_Q_TX)
		ret = check_tx(ctx, full, &log_tx, err);
	if (ret == 0 && (full->flags & CRL_Q_RX))
		ret = check_rx(ctx, full, &log_rx, err);
	if (ret == 0 && (full->flags & CRL_Q_TX))
		ret = check_signal(full, log_tx, log_rx, err);
	if (ret == 0 && cfg->rings != NULL)
		ret = crl_mem_check(cfg->rings, err);
	if (ret == 0 && cfg->buffers != NULL)
		ret = crl_mem_check(cfg->buffers, err);
	return ret;
}
