/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all queues of a context share: the transport domain and the TIS that send queues leave
 * through, and the counter set that receive queues count missed packets in. Host only.
 */
#include <errno.h>

#include "internal.h"

static int
counter_create(struct crl_ctx *ctx, struct crl_err *err)
{
	uint32_t in[CRL_PRM_ALLOC_Q_COUNTER_IN_BYTES / 4] = {0};
	uint32_t out[CRL_PRM_ALLOC_Q_COUNTER_OUT_BYTES / 4];
	int ret;

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_ALLOC_Q_COUNTER);
	ret = crl_devx_create(ctx, "allocate a counter set", in, sizeof(in), out, sizeof(out),
		&ctx->counter, err);
	/* A function that gets no set of its own (some VFs) counts in set 0; crl_info says so. */
	if (ret == -EREMOTEIO)
		return 0;
	if (ret != 0)
		return ret;
	ctx->counter_set = crl_prm_get(out, CRL_PRM_ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID);
	ctx->info.own_counter = 1;
	return 0;
}

static int
tis_create(struct crl_ctx *ctx, struct crl_err *err)
{
	uint32_t in[CRL_PRM_CREATE_TIS_IN_BYTES / 4] = {0};
	uint32_t out[CRL_PRM_CREATE_TIS_OUT_BYTES / 4];
	void *tisc = crl_prm_at(in, CRL_PRM_CREATE_TIS_IN_CTX);
	int ret;

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_CREATE_TIS);
	crl_prm_set(tisc, CRL_PRM_TISC_TRANSPORT_DOMAIN, ctx->tdn);
	ret = crl_devx_create(ctx, "create TIS", in, sizeof(in), out, sizeof(out), &ctx->tis, err);
	if (ret == 0)
		ctx->tisn = crl_prm_get(out, CRL_PRM_CREATE_TIS_OUT_TISN);
	return ret;
}

int
crl_td_create(struct crl_ctx *ctx, struct crl_err *err)
{
	uint32_t in[CRL_PRM_ALLOC_TRANSPORT_DOMAIN_IN_BYTES / 4] = {0};
	uint32_t out[CRL_PRM_ALLOC_TRANSPORT_DOMAIN_OUT_BYTES / 4];
	int ret;

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_ALLOC_TRANSPORT_DOMAIN);
	ret = crl_devx_create(ctx, "allocate a transport domain", in, sizeof(in), out, sizeof(out),
		&ctx->td, err);
	if (ret != 0)
		return ret;
	ctx->tdn = crl_prm_get(out, CRL_PRM_ALLOC_TRANSPORT_DOMAIN_OUT_TRANSPORT_DOMAIN);
	ret = tis_create(ctx, err);
	if (ret == 0)
		ret = counter_create(ctx, err);
	if (ret != 0)
		crl_td_destroy(ctx);
	return ret;
}

void
crl_td_destroy(struct crl_ctx *ctx)
{
	/* No caller could do anything about a failure: the objects then die with the device's fd.
	 */
	crl_devx_destroy(&ctx->counter, "", NULL);
	crl_devx_destroy(&ctx->tis, "", NULL);
	crl_devx_destroy(&ctx->td, "", NULL);
}

CRL_PUBLIC int
crl_missed(struct crl_ctx *ctx, uint64_t *packets, struct crl_err *err)
{
	uint32_t in[CRL_PRM_QUERY_Q_COUNTER_IN_BYTES / 4] = {0};
	uint32_t out[CRL_PRM_QUERY_Q_COUNTER_OUT_BYTES / 4], seen;
	int ret;

	if (ctx->counter == NULL)
		return crl_err_set(err, -ENOTSUP, "read missed packets",
			"look at the port's counters", "the NIC gave this function no counter set");
	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_QUERY_Q_COUNTER);
	crl_prm_set(in, CRL_PRM_QUERY_Q_COUNTER_IN_COUNTER_SET_ID, ctx->counter_set);
	ret = crl_devx_query(
		ctx->counter, "read missed packets", in, sizeof(in), out, sizeof(out), err);
	if (ret != 0)
		return ret;
	seen = (uint32_t)crl_prm_get(out, CRL_PRM_QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER);
	ctx->missed += (uint32_t)(seen - ctx->missed_seen);
	ctx->missed_seen = seen;
	*packets = ctx->missed;
	return 0;
}
