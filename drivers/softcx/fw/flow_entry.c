/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of flow table entries: each matches under its group's mask and leads to one TIR, to a
 * table of a higher level, or nowhere. Called by cmd.c with a checked mailbox, for a guest's kernel
 * only.
 */
#include <stdlib.h>
#include <string.h>

#include "flow_table.h"

static struct scx_fw_obj *
find_fte(struct scx_nic *nic, const struct scx_fw_obj *table, uint32_t index)
{
	struct scx_fw_obj *o = scx_fw_fte_from(nic, table, index);

	return o != NULL && ((struct fte *)o->own)->index == index ? o : NULL;
}

/* The one destination of a forwarding entry; NULL: refused. */
static struct scx_fw_obj *
destination(struct scx_fw_call *c, const void *ctx, uint32_t level)
{
	const uint8_t *dest = c->in + CRL_PRM_SET_FTE_IN_BYTES;
	uint32_t nr = crl_prm_get(ctx, CRL_PRM_FLOW_CONTEXT_DESTINATION_LIST_SIZE), type, id;
	struct scx_fw_obj *to;

	if (nr != 1 || crl_prm_get(ctx, CRL_PRM_FLOW_CONTEXT_FLOW_COUNTER_LIST_SIZE) != 0 ||
		crl_prm_get(ctx, CRL_PRM_FLOW_CONTEXT_EXTENDED_DESTINATION) != 0 ||
		c->in_bytes < CRL_PRM_SET_FTE_IN_BYTES + DEST_BYTES) {
		scx_fw_refuse(c, SCX_FW_R_FTE_ACTION, ctx, 32, "%u destinations", nr);
		return NULL;
	}
	type = crl_prm_get(dest, CRL_PRM_DEST_FORMAT_DESTINATION_TYPE);
	id = crl_prm_get(dest, CRL_PRM_DEST_FORMAT_DESTINATION_ID);
	if (type != DEST_TIR && type != DEST_TABLE) {
		scx_fw_refuse(c, SCX_FW_R_FTE_ACTION, dest, 8, "destination type 0x%x", type);
		return NULL;
	}
	to = scx_fw_get(c, type == DEST_TIR ? SCX_FW_TIR : SCX_FW_FT, id);
	if (to != NULL && type == DEST_TABLE && ((struct ft *)to->own)->level <= level) {
		scx_fw_refuse(c, SCX_FW_R_FT_LEVEL, dest, 8, "level %u, to a table of level %u",
			level, ((struct ft *)to->own)->level);
		return NULL;
	}
	return to;
}

static int
check_value(struct scx_fw_call *c, const struct fg *g, const uint8_t *value)
{
	for (uint32_t i = 0; i < SETS_BYTES; i++)
		if (value[i] & (uint8_t) ~(i < MATCH ? g->mask[i] : 0))
			return scx_fw_refuse(c, SCX_FW_R_FTE_MASK, value + i / 64 * 64, 64,
				"value 0x%02x in byte 0x%x", value[i], i);
	return 0;
}

static int
check_action(struct scx_fw_call *c, const void *ctx, uint32_t action)
{
	if (action == ACTION_ALLOW || action == ACTION_DROP || action == ACTION_FWD)
		return 0;
	return scx_fw_refuse(c, SCX_FW_R_FTE_ACTION, ctx, 32, "action is 0x%x", action);
}

static int
fte_new(struct scx_fw_call *c, const void *ctx, const struct scx_fw_obj *table, uint32_t index)
{
	const uint8_t *value = crl_prm_at(ctx, CRL_PRM_FLOW_CONTEXT_MATCH_VALUE);
	uint32_t action = crl_prm_get(ctx, CRL_PRM_FLOW_CONTEXT_ACTION);
	struct scx_fw_obj *obj, *to = NULL, *group;
	struct fte *e;
	int rc;

	group = scx_fw_get(c, SCX_FW_FG, crl_prm_get(ctx, CRL_PRM_FLOW_CONTEXT_GROUP_ID));
	if (group == NULL)
		return -1;
	if (group->hold[FG_HOLD_FT] != table || index < ((struct fg *)group->own)->first ||
		index > ((struct fg *)group->own)->last)
		return scx_fw_refuse(c, SCX_FW_R_FT_INDEX, NULL, 0,
			"entry %u in group 0x%x of table 0x%x", index, group->num,
			group->hold[FG_HOLD_FT]->num);
	if (check_value(c, group->own, value) != 0 || check_action(c, ctx, action) != 0)
		return -1;
	if (action == ACTION_FWD) {
		to = destination(c, ctx, ((struct ft *)table->own)->level);
		if (to == NULL)
			return -1;
	}
	obj = scx_fw_new(c, SCX_FW_FTE);
	if (obj == NULL)
		return -1;
	scx_fw_hold(obj, group); /* FTE_HOLD_FG */
	if (to != NULL)
		scx_fw_hold(obj, to); /* FTE_HOLD_DEST */
	e = calloc(1, sizeof(*e));
	obj->own = e;
	if (e != NULL) {
		e->index = index;
		e->action = action;
		e->tag = crl_prm_get(ctx, CRL_PRM_FLOW_CONTEXT_FLOW_TAG);
		memcpy(e->value, value, MATCH);
		rc = scx_fw_ft_compile(c);
	} else {
		rc = scx_fw_refuse(c, SCX_FW_R_FULL, NULL, 0, "no memory for an entry");
	}
	if (rc != 0)
		scx_fw_free(c->nic, obj);
	return rc;
}

/* A forwarding entry stays one: what changes is where it leads, or its tag. */
static int
fte_modify(struct scx_fw_call *c, const void *ctx, struct scx_fw_obj *obj, uint32_t level)
{
	uint32_t sel = crl_prm_get(c->in, CRL_PRM_SET_FTE_IN_MODIFY_ENABLE_MASK);
	struct scx_fw_obj *to, *before;
	struct fte *e = obj->own;
	uint32_t tag = e->tag;
	int rc;

	if (sel & ~(uint32_t)(FTE_ACTION | FTE_TAG | FTE_DESTS))
		return scx_fw_refuse(
			c, SCX_FW_R_MODIFY_BITS, c->in, 48, "modify_enable_mask is 0x%x", sel);
	if (e->action != ACTION_FWD || crl_prm_get(ctx, CRL_PRM_FLOW_CONTEXT_ACTION) != ACTION_FWD)
		return scx_fw_refuse(c, SCX_FW_R_FTE_ACTION, ctx, 32, "from action 0x%x to 0x%x",
			e->action, crl_prm_get(ctx, CRL_PRM_FLOW_CONTEXT_ACTION));
	to = before = obj->hold[FTE_HOLD_DEST];
	if (sel & FTE_DESTS)
		to = destination(c, ctx, level);
	if (to == NULL)
		return -1;
	scx_fw_rehold(obj, FTE_HOLD_DEST, to);
	if (sel & FTE_TAG)
		e->tag = crl_prm_get(ctx, CRL_PRM_FLOW_CONTEXT_FLOW_TAG);
	rc = scx_fw_ft_compile(c);
	if (rc != 0) {
		scx_fw_rehold(obj, FTE_HOLD_DEST, before);
		e->tag = tag;
	}
	return rc;
}

int
scx_cmd_set_fte(struct scx_fw_call *c)
{
	const void *ctx = crl_prm_at(c->in, CRL_PRM_SET_FTE_IN_FLOW_CONTEXT);
	uint32_t op = crl_prm_get(c->in, CRL_PRM_CMD_IN_OP_MOD);
	uint32_t index = crl_prm_get(c->in, CRL_PRM_SET_FTE_IN_FLOW_INDEX);
	struct scx_fw_obj *table, *there;

	table = HEAD(c, SET_FTE_IN) == 0 ? TABLE(c, SET_FTE_IN) : NULL;
	if (table == NULL)
		return -1;
	if (op > FTE_MODIFY)
		return scx_fw_refuse(c, SCX_FW_R_OP_MOD, c->in, 8, "op_mod is 0x%x", op);
	there = find_fte(c->nic, table, index);
	if ((op == FTE_NEW) != (there == NULL))
		return scx_fw_refuse(c, there == NULL ? SCX_FW_R_NO_OBJECT : SCX_FW_R_FT_INDEX,
			NULL, 0, "entry %u of table 0x%x is %sthere", index, table->num,
			there == NULL ? "not " : "");
	return op == FTE_NEW ? fte_new(c, ctx, table, index)
			     : fte_modify(c, ctx, there, ((struct ft *)table->own)->level);
}

int
scx_cmd_delete_fte(struct scx_fw_call *c)
{
	uint32_t index = crl_prm_get(c->in, CRL_PRM_DELETE_FTE_IN_FLOW_INDEX);
	struct scx_fw_obj *table, *obj;

	table = HEAD(c, DELETE_FTE_IN) == 0 ? TABLE(c, DELETE_FTE_IN) : NULL;
	if (table == NULL)
		return -1;
	obj = find_fte(c->nic, table, index);
	if (obj == NULL)
		return scx_fw_refuse(c, SCX_FW_R_NO_OBJECT, NULL, 0,
			"entry %u of table 0x%x does not exist", index, table->num);
	scx_fw_free(c->nic, obj);
	return scx_fw_ft_compile(c);
}
