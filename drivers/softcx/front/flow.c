/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernel flow steering as libmlx5 asks for it: a matcher holds mask and priority, a flow joins it
 * with a value and a destination. Called through args.c; each flow becomes one rule of the model.
 * What the model cannot do (egress tables, counters, header rewriting, a table as destination) is
 * refused here with -EOPNOTSUPP, as mlx5_ib does where a card cannot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "core.h"

#define OP_CREATE_TIR 0x900
#define SECTION_BYTES 64u /* outer headers, misc, inner headers, misc 2 to 5 of fte_match_param */
#define FLAGS_EGRESS  4u  /* IB_FLOW_ATTR_FLAGS_EGRESS */
#define MATCH_BYTES   (MLX5_IB_DW_MATCH_PARAM * 4u)

void
scxf_matcher_free(struct scxf_obj *obj)
{
	free(obj->matcher);
	obj->matcher = NULL;
}

/* Sections of the mask that the criteria do not enable are not looked at by the hardware either. */
static void
matcher_set_mask(struct scxf_matcher *m, const uint8_t *mask, size_t bytes)
{
	m->mask_bytes = bytes;
	for (size_t i = 0; i < bytes; i++)
		m->mask[i] = m->criteria >> (i / SECTION_BYTES) & 1 ? mask[i] : 0;
}

static int
matcher_create(struct scxf_call *c)
{
	struct ib_uverbs_attr *type = scxf_attr(c, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE);
	uint64_t ft = scxf_in_u64(
		c, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX);
	uint64_t flags = scxf_in_u64(c, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, 0);
	struct scxf_matcher *m;
	uint32_t handle;
	size_t bytes;
	const uint8_t *mask = scxf_in(c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, &bytes);
	int rc = scxf_need_context(c);

	if (rc)
		return rc;
	if (type->attr_data.enum_data.elem_id != MLX5_IB_FLOW_TYPE_NORMAL || type->len != 2)
		return scxf_refuse(c, -EOPNOTSUPP, "flow type %u: only normal flows",
			type->attr_data.enum_data.elem_id);
	if (ft != MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX || flags & FLAGS_EGRESS)
		return scxf_refuse(c, -EOPNOTSUPP,
			"table type %llu, flags 0x%llx: only NIC receive tables",
			(unsigned long long)ft, (unsigned long long)flags);
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	rc = scxf_obj_new(c->ctx, SCXF_MATCHER, &handle);
	if (rc) {
		free(m);
		return rc;
	}
	m->priority = type->data & 0xffff;
	m->criteria = scxf_in_u64(c, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, 0);
	matcher_set_mask(m, mask, bytes);
	c->ctx->obj[handle].matcher = m;
	scxf_attr(c, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE)->data = handle;
	return 0;
}

static int
matcher_destroy(struct scxf_call *c)
{
	struct scxf_obj *o = scxf_attr_obj(c, MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE);

	if (o->users)
		return scxf_refuse(c, -EBUSY, "the matcher still has %u flows", o->users);
	scxf_obj_put(c->ctx, scxf_attr(c, MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE)->data);
	return 0;
}

/* Where the flow goes: a TIR by handle, or by flag nowhere or to what would have happened anyway.
 */
static int
flow_dest(struct scxf_call *c, enum scx_flow_dest *dest, uint32_t *tirn)
{
	const struct scxf_obj *devx = scxf_attr_obj(c, MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX);
	uint64_t flags = scxf_in_u64(c, MLX5_IB_ATTR_CREATE_FLOW_FLAGS, 0);

	*tirn = 0;
	if (flags == MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP && !devx) {
		*dest = SCX_FLOW_DROP;
		return 0;
	}
	if (flags == MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS && !devx) {
		*dest = SCX_FLOW_DEFAULT_MISS;
		return 0;
	}
	if (flags || !devx)
		return scxf_refuse(c, -EINVAL,
			"a flow needs one destination: flags 0x%llx, %s object",
			(unsigned long long)flags, devx ? "an" : "no");
	if (devx->devx.opcode != OP_CREATE_TIR)
		return scxf_refuse(c, -EOPNOTSUPP,
			"the destination was made by opcode 0x%03x: only TIRs", devx->devx.opcode);
	*dest = SCX_FLOW_TIR;
	*tirn = devx->devx.num;
	return 0;
}

static int
flow_create(struct scxf_call *c)
{
	uint32_t matcher = scxf_attr(c, MLX5_IB_ATTR_CREATE_FLOW_MATCHER)->data, tirn, handle, id;
	uint32_t tag = scxf_in_u64(c, MLX5_IB_ATTR_CREATE_FLOW_TAG, 0);
	const struct scxf_matcher *m = scxf_attr_obj(c, MLX5_IB_ATTR_CREATE_FLOW_MATCHER)->matcher;
	uint8_t value[MATCH_BYTES] = {0};
	enum scx_flow_dest dest = SCX_FLOW_DROP;
	size_t bytes, extra;
	const void *in = scxf_in(c, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, &bytes);
	int rc = flow_dest(c, &dest, &tirn);

	if (rc)
		return rc;
	scxf_in(c, MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, &extra);
	if (extra)
		return scxf_refuse(
			c, -EOPNOTSUPP, "flow actions: header rewriting and encapsulation");
	scxf_in(c, MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX, &extra);
	if (extra)
		return scxf_refuse(c, -EOPNOTSUPP, "flow counters");
	memcpy(value, in, bytes);
	for (size_t i = 0; i < bytes; i++) /* outside of the mask nothing is looked at */
		value[i] &= i < m->mask_bytes ? m->mask[i] : 0;
	rc = scxf_obj_new(c->ctx, SCXF_FLOW, &handle);
	if (rc)
		return rc;
	rc = scx_flow_add(c->ctx->dev->nic, c->ctx->uid, m->priority, m->mask, value, m->mask_bytes,
		dest, tirn, tag, &id);
	if (rc) {
		scxf_obj_put(c->ctx, handle);
		return scxf_refuse(c, rc, "the NIC took no such rule");
	}
	c->ctx->obj[handle].num = id;
	c->ctx->obj[handle].receives = dest == SCX_FLOW_TIR;
	c->ctx->dev->nr_receiving += dest == SCX_FLOW_TIR;
	scxf_changed(c->ctx->dev);
	c->ctx->obj[handle].parent = matcher;
	c->ctx->obj[matcher].users++;
	scxf_attr(c, MLX5_IB_ATTR_CREATE_FLOW_HANDLE)->data = handle;
	return 0;
}

static int
flow_free(struct scxf_call *c, uint16_t attr)
{
	int rc = scx_flow_del(c->ctx->dev->nic, c->ctx->uid, scxf_attr_obj(c, attr)->num);

	if (rc)
		return scxf_refuse(c, rc, "flow %u", scxf_attr_obj(c, attr)->num);
	c->ctx->dev->nr_receiving -= scxf_attr_obj(c, attr)->receives;
	scxf_changed(c->ctx->dev);
	scxf_obj_put(c->ctx, scxf_attr(c, attr)->data);
	return 0;
}

static int
flow_destroy(struct scxf_call *c)
{
	return flow_free(c, UVERBS_ATTR_DESTROY_FLOW_HANDLE);
}

static int
flow_destroy_mlx5(struct scxf_call *c)
{
	return flow_free(c, MLX5_IB_ATTR_DESTROY_FLOW_HANDLE);
}

const struct scxf_method scxf_flow_methods[] = {
	METHOD(MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE, matcher_create,
		NEW(MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE),
		IN(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, 1, 1, MATCH_BYTES),
		ENUM(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, 4),
		IN(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, 1, 1, 1),
		IN(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, 0, 4, 8),
		IN(MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, 0, 4, 8)),
	METHOD(MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_DESTROY, matcher_destroy,
		HANDLE(MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, 1, SCXF_MATCHER)),
	METHOD(UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW, flow_create,
		NEW(MLX5_IB_ATTR_CREATE_FLOW_HANDLE),
		IN(MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, 1, 1, MATCH_BYTES),
		HANDLE(MLX5_IB_ATTR_CREATE_FLOW_MATCHER, 1, SCXF_MATCHER),
		HANDLE(MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX, 0, SCXF_DEVX),
		IN(MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, 0, 0, ANY),
		IN(MLX5_IB_ATTR_CREATE_FLOW_TAG, 0, 4, 8),
		IN(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX, 0, 0, ANY),
		IN(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, 0, 0, ANY),
		IN(MLX5_IB_ATTR_CREATE_FLOW_FLAGS, 0, 4, 8)),
	METHOD(UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY, flow_destroy,
		HANDLE(UVERBS_ATTR_DESTROY_FLOW_HANDLE, 1, SCXF_FLOW)),
	METHOD(UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_DESTROY_FLOW, flow_destroy_mlx5,
		HANDLE(MLX5_IB_ATTR_DESTROY_FLOW_HANDLE, 1, SCXF_FLOW)),
	{0},
};
