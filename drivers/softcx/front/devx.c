/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DevX: commands that a driver writes itself and the kernel passes to the firmware after a look at
 * the opcode: is it one that makes, changes, reads or concerns no object, and does it name the
 * object of the handle it came with. Called through args.c. A command that the firmware refused is
 * -EREMOTEIO with the output mailbox filled, as mlx5_ib has it.
 */
#include <errno.h>
#include <string.h>

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "core.h"
#include "event.h"

enum { OBJ_CREATE = 1, OBJ_MODIFY, OBJ_QUERY, GENERAL };

/* How an object's number stands in a command that names it: bit offset and width, 0: not checked
 * here. */
static const struct opcode {
	uint16_t op;
	uint8_t use;
	uint8_t at, width;
} opcodes[] = {
	{0x100, GENERAL, 0, 0},	   /* QUERY_HCA_CAP */
	{0x200, OBJ_CREATE, 0, 0}, /* MKEY */
	{0x201, OBJ_QUERY, 0x48, 24},
	{0x400, OBJ_CREATE, 0, 0}, /* CQ */
	{0x402, OBJ_QUERY, 0x48, 24},
	{0x403, OBJ_MODIFY, 0x48, 24},
	{0x500, OBJ_CREATE, 0, 0}, /* QP */
	{0x502, OBJ_MODIFY, 0x48, 24},
	{0x503, OBJ_MODIFY, 0x48, 24},
	{0x504, OBJ_MODIFY, 0x48, 24},
	{0x505, OBJ_MODIFY, 0x48, 24},
	{0x507, OBJ_MODIFY, 0x48, 24},
	{0x50a, OBJ_MODIFY, 0x48, 24},
	{0x50b, OBJ_QUERY, 0x48, 24},
	{0x740, GENERAL, 0, 0},	   /* QUERY_ESW_FUNCTIONS */
	{0x752, GENERAL, 0, 0},	   /* QUERY_ESW_VPORT_CONTEXT */
	{0x754, GENERAL, 0, 0},	   /* QUERY_NIC_VPORT_CONTEXT */
	{0x762, GENERAL, 0, 0},	   /* QUERY_HCA_VPORT_CONTEXT */
	{0x76f, GENERAL, 0, 0},	   /* QUERY_VNIC_ENV */
	{0x770, GENERAL, 0, 0},	   /* QUERY_VPORT_COUNTER */
	{0x771, OBJ_CREATE, 0, 0}, /* Q_COUNTER */
	{0x773, OBJ_QUERY, 0xf8, 8},
	{0x783, OBJ_CREATE, 0, 0}, /* SCHEDULING_ELEMENT */
	{0x816, OBJ_CREATE, 0, 0}, /* TRANSPORT_DOMAIN */
	{0x842, GENERAL, 0, 0},	   /* QUERY_LAG */
	{0x900, OBJ_CREATE, 0, 0}, /* TIR */
	{0x901, OBJ_MODIFY, 0x48, 24},
	{0x903, OBJ_QUERY, 0x48, 24},
	{0x904, OBJ_CREATE, 0, 0}, /* SQ */
	{0x905, OBJ_MODIFY, 0x48, 24},
	{0x907, OBJ_QUERY, 0x48, 24},
	{0x908, OBJ_CREATE, 0, 0}, /* RQ */
	{0x909, OBJ_MODIFY, 0x48, 24},
	{0x90b, OBJ_QUERY, 0x48, 24},
	{0x90c, OBJ_CREATE, 0, 0}, /* RMP */
	{0x90d, OBJ_MODIFY, 0x48, 24},
	{0x90f, OBJ_QUERY, 0x48, 24},
	{0x912, OBJ_CREATE, 0, 0}, /* TIS */
	{0x913, OBJ_MODIFY, 0x48, 24},
	{0x915, OBJ_QUERY, 0x48, 24},
	{0x916, OBJ_CREATE, 0, 0}, /* RQT */
	{0x917, OBJ_MODIFY, 0x48, 24},
	{0x919, OBJ_QUERY, 0x48, 24},
	{0x930, OBJ_CREATE, 0, 0}, /* FLOW_TABLE */
	{0x933, OBJ_CREATE, 0, 0}, /* FLOW_GROUP */
	{0x936, OBJ_CREATE, 0, 0}, /* FLOW_TABLE_ENTRY */
	{0x939, OBJ_CREATE, 0, 0}, /* FLOW_COUNTER */
	{0x93b, OBJ_QUERY, 0, 0},
	{0x93d, OBJ_CREATE, 0, 0}, /* PACKET_REFORMAT */
	{0x940, OBJ_CREATE, 0, 0}, /* MODIFY_HEADER */
	{0xa00, OBJ_CREATE, 0, 0}, /* GENERAL_OBJECT */
	{0xa01, OBJ_MODIFY, 0x40, 32},
	{0xa02, OBJ_QUERY, 0x40, 32},
};
#define GENERAL_FIRST 0xb00 /* "general" by number: registers and the like */
#define GENERAL_END   0xd00

/* Width bits at bit offset at of a mailbox; at is never astride two words. */
static uint32_t
mbox_get(const uint8_t *m, unsigned at, unsigned width)
{
	const uint8_t *b = m + at / 32 * 4;
	uint32_t w = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];

	w >>= 32 - width - at % 32;
	return width == 32 ? w : w & ((1u << width) - 1);
}

static const struct opcode *
find_opcode(uint16_t op)
{
	static const struct opcode general = {0, GENERAL, 0, 0};

	for (unsigned i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++)
		if (opcodes[i].op == op)
			return &opcodes[i];
	return op >= GENERAL_FIRST && op < GENERAL_END ? &general : NULL;
}

int
scxf_need_devx(struct scxf_call *c)
{
	int rc = scxf_need_context(c);

	if (rc)
		return rc;
	return c->ctx->devx ? 0 : scxf_refuse(c, -EINVAL, "the context was opened without DevX");
}

/* The command in attribute in_id is one for this use, and names obj (if there is one). */
static int
check_cmd(struct scxf_call *c, uint16_t in_id, unsigned use, const struct scxf_obj *obj,
	const void **in, size_t *bytes)
{
	const struct opcode *o;
	uint16_t op;
	int rc = scxf_need_devx(c);

	if (rc)
		return rc;
	*in = scxf_in(c, in_id, bytes);
	op = mbox_get(*in, 0, 16);
	o = find_opcode(op);
	if (!o || o->use != use)
		return scxf_refuse(c, -EINVAL, "opcode 0x%03x is not one for this method", op);
	if (!obj || !o->width)
		return 0;
	if (*bytes * 8 < (size_t)o->at + o->width ||
		mbox_get(*in, o->at, o->width) != obj->devx.num)
		return scxf_refuse(c, -EINVAL,
			"opcode 0x%03x names another object than the handle's 0x%x", op,
			obj->devx.num);
	return 0;
}

/* 0, -EREMOTEIO when the firmware refused it, or another -errno. */
static int
pass_on(struct scxf_call *c, const void *in, size_t in_bytes, void *out, size_t out_bytes,
	struct scx_obj *obj)
{
	int rc;

	memset(out, 0, out_bytes);
	rc = scx_cmd(c->ctx->dev->nic, c->ctx->uid, in, in_bytes, out, out_bytes, obj);
	if (rc)
		return scxf_refuse(c, rc, "opcode 0x%03x", mbox_get(in, 0, 16));
	return *(const uint8_t *)out ? -EREMOTEIO : 0; /* the firmware logged why */
}

static int
devx_other(struct scxf_call *c)
{
	const void *in;
	size_t in_bytes, out_bytes;
	void *out;
	int rc = check_cmd(c, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, GENERAL, NULL, &in, &in_bytes);

	if (rc)
		return rc;
	out = scxf_out_buf(c, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, &out_bytes);
	return pass_on(c, in, in_bytes, out, out_bytes, NULL);
}

static int
obj_create(struct scxf_call *c)
{
	const void *in;
	size_t in_bytes, out_bytes;
	struct scx_obj obj = {0};
	uint32_t handle;
	void *out;
	int rc =
		check_cmd(c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, OBJ_CREATE, NULL, &in, &in_bytes);

	if (!rc)
		rc = scxf_obj_new(c->ctx, SCXF_DEVX, &handle);
	if (rc)
		return rc;
	out = scxf_out_buf(c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, &out_bytes);
	rc = pass_on(c, in, in_bytes, out, out_bytes, &obj);
	if (rc) {
		scxf_obj_put(c->ctx, handle);
		return rc;
	}
	c->ctx->obj[handle].devx = obj;
	scxf_changed(c->ctx->dev);
	scxf_attr(c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE)->data = handle;
	return 0;
}

static int
obj_destroy(struct scxf_call *c)
{
	struct scxf_obj *o = scxf_attr_obj(c, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE);
	uint32_t handle = scxf_attr(c, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE)->data;
	int rc = scx_obj_destroy(c->ctx->dev->nic, c->ctx->uid, &o->devx);

	if (rc)
		return scxf_refuse(
			c, rc, "object 0x%x made by opcode 0x%03x", o->devx.num, o->devx.opcode);
	scxf_changed(c->ctx->dev);
	scxf_event_forget_obj(c->ctx, handle);
	scxf_obj_put(c->ctx, handle);
	return 0;
}

static int
obj_modify(struct scxf_call *c)
{
	const void *in;
	size_t in_bytes, out_bytes;
	void *out;
	int rc = check_cmd(c, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, OBJ_MODIFY,
		scxf_attr_obj(c, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE), &in, &in_bytes);

	if (rc)
		return rc;
	out = scxf_out_buf(c, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, &out_bytes);
	scxf_changed(c->ctx->dev);
	return pass_on(c, in, in_bytes, out, out_bytes, NULL);
}

static int
obj_query(struct scxf_call *c)
{
	const void *in;
	size_t in_bytes, out_bytes;
	void *out;
	int rc = check_cmd(c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, OBJ_QUERY,
		scxf_attr_obj(c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE), &in, &in_bytes);

	if (rc)
		return rc;
	out = scxf_out_buf(c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, &out_bytes);
	return pass_on(c, in, in_bytes, out, out_bytes, NULL);
}

/* The answer is in the descriptor before this returns: sooner than a NIC, which no reader can mind.
 */
static int
obj_async_query(struct scxf_call *c)
{
	uint8_t record[8 + SCXF_ASYNC_OUT_MAX];
	uint64_t wr_id = scxf_in_u64(c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, 0);
	uint64_t out_bytes = scxf_in_u64(c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, 0);
	int fd = scxf_attr(c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD)->data_s64;
	const void *in;
	size_t in_bytes;
	int rc = check_cmd(c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, OBJ_QUERY,
		scxf_attr_obj(c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE), &in, &in_bytes);

	if (rc)
		return rc;
	if (out_bytes < 16 || out_bytes > SCXF_ASYNC_OUT_MAX)
		return scxf_refuse(
			c, -EINVAL, "an answer of %llu bytes", (unsigned long long)out_bytes);
	memcpy(record, &wr_id, sizeof(wr_id));
	rc = pass_on(c, in, in_bytes, record + 8, out_bytes, NULL);
	if (rc && rc != -EREMOTEIO) /* a refusal travels in the record's mailbox */
		return rc;
	rc = scxf_event_send(c->ctx, fd, record, 8 + out_bytes);
	return rc ? scxf_refuse(c, rc,
			    "descriptor %d is no command channel of this context, or is full", fd)
		  : 0;
}

static int
query_uar(struct scxf_call *c)
{
	uint32_t page = scxf_in_u64(c, MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, 0);

	for (uint32_t h = 1; h < c->ctx->nr_obj; h++)
		if (c->ctx->obj[h].kind == SCXF_UAR && c->ctx->obj[h].num == page) {
			scxf_out(c, MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, &page, sizeof(page));
			return 0;
		}
	return scxf_refuse(c, -EINVAL, "UAR %u is not one of this context", page);
}

static int
query_eqn(struct scxf_call *c)
{
	uint64_t vector = scxf_in_u64(c, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 0);
	uint32_t eqn;
	int rc = scxf_need_context(c);

	if (rc)
		return rc;
	if (vector)
		return scxf_refuse(c, -EINVAL, "completion vector %llu: there is one, 0",
			(unsigned long long)vector);
	eqn = scx_eqn(c->ctx->dev->nic);
	scxf_out(c, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, &eqn, sizeof(eqn));
	return 0;
}

const struct scxf_method scxf_devx_methods[] = {
	METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, devx_other,
		IN(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, 1, 16, ANY),
		OUT(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, 1, 16, ANY)),
	METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR, query_uar,
		IN(MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, 1, 4, 8),
		OUT(MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, 1, 4, 4)),
	METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN, query_eqn,
		IN(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 1, 4, 8),
		OUT(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, 1, 4, 4)),
	METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, obj_create,
		NEW(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE),
		IN(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, 1, 16, ANY),
		OUT(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, 1, 16, ANY)),
	METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, obj_destroy,
		HANDLE(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, 1, SCXF_DEVX)),
	METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, obj_modify,
		HANDLE(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, 1, SCXF_DEVX),
		IN(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, 1, 16, ANY),
		OUT(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, 1, 16, ANY)),
	METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, obj_query,
		HANDLE(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, 1, SCXF_DEVX),
		IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, 1, 16, ANY),
		OUT(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, 1, 16, ANY)),
	METHOD(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY, obj_async_query,
		HANDLE(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, 1, SCXF_DEVX),
		IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, 1, 16, ANY),
		FD_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, 1),
		IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, 1, 8, 8),
		IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, 1, 2, 8)),
	{0},
};
