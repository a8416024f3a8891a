/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of flow tables and of the groups in them. Called by cmd.c with a checked mailbox, for a
 * guest's kernel only.
 */
#include <stdlib.h>
#include <string.h>

#include "flow_table.h"

int
scx_fw_ft_head(struct scx_fw_call *c, uint32_t type, uint32_t other, uint32_t vport)
{
	if (other != 0 || vport != 0)
		return scx_fw_refuse(
			c, SCX_FW_R_VPORT, c->in, 16, "other_vport %u, vport %u", other, vport);
	if (type != FT_NIC_RX)
		return scx_fw_refuse(c, SCX_FW_R_FT_TYPE, c->in, 32, "table_type is 0x%x", type);
	return 0;
}
static const uint32_t ft_not_offered[] = {
	CRL_PRM_FLOW_TABLE_REFORMAT_EN,
	CRL_PRM_FLOW_TABLE_DECAP_EN,
	CRL_PRM_FLOW_TABLE_TERMINATION_TABLE,
	CRL_PRM_FLOW_TABLE_LAG_MASTER_NEXT_TABLE_ID,
};

static int
check_miss(struct scx_fw_call *c, const void *ctx, uint32_t level)
{
	uint32_t action = crl_prm_get(ctx, CRL_PRM_FLOW_TABLE_TABLE_MISS_ACTION);
	struct scx_fw_obj *to;

	if (action == MISS_DEFAULT)
		return 0;
	if (action != MISS_TABLE)
		return scx_fw_refuse(
			c, SCX_FW_R_NOT_OFFERED, ctx, 4, "table_miss_action is %u", action);
	to = scx_fw_get(c, SCX_FW_FT, crl_prm_get(ctx, CRL_PRM_FLOW_TABLE_TABLE_MISS_ID));
	if (to == NULL)
		return -1;
	if (((struct ft *)to->own)->level <= level)
		return scx_fw_refuse(c, SCX_FW_R_FT_LEVEL, ctx, 8,
			"level %u, on a miss to a table of level %u", level,
			((struct ft *)to->own)->level);
	return 0;
}

int
scx_cmd_create_ft(struct scx_fw_call *c)
{
	const void *ctx = crl_prm_at(c->in, CRL_PRM_CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);
	uint32_t level = crl_prm_get(ctx, CRL_PRM_FLOW_TABLE_LEVEL);
	uint32_t size = crl_prm_get(ctx, CRL_PRM_FLOW_TABLE_LOG_SIZE);
	struct scx_fw_obj *obj;
	struct ft *ft;
	int rc = HEAD(c, CREATE_FLOW_TABLE_IN);

	if (rc != 0 || !scx_fw_fields_zero(c, SCX_LAYOUT_FLOW_TABLE, ctx, ft_not_offered,
			       sizeof(ft_not_offered) / sizeof(ft_not_offered[0])))
		return -1;
	if (level >= LEVELS_MAX || size > LOG_SIZE_MAX)
		return scx_fw_refuse(
			c, SCX_FW_R_FT_LEVEL, ctx, 8, "level %u, log_size %u", level, size);
	rc = check_miss(c, ctx, level);
	if (rc != 0)
		return rc;
	obj = scx_fw_new(c, SCX_FW_FT);
	if (obj == NULL)
		return -1;
	ft = calloc(1, sizeof(*ft));
	if (ft == NULL) {
		scx_fw_free(c->nic, obj);
		return scx_fw_refuse(c, SCX_FW_R_FULL, NULL, 0, "no memory for a flow table");
	}
	ft->level = level;
	ft->log_size = size;
	ft->miss_action = crl_prm_get(ctx, CRL_PRM_FLOW_TABLE_TABLE_MISS_ACTION);
	ft->miss_table = crl_prm_get(ctx, CRL_PRM_FLOW_TABLE_TABLE_MISS_ID);
	obj->own = ft;
	crl_prm_set(c->out, CRL_PRM_CREATE_FLOW_TABLE_OUT_TABLE_ID, obj->num);
	return 0;
}

int
scx_cmd_modify_ft(struct scx_fw_call *c)
{
	const void *ctx = crl_prm_at(c->in, CRL_PRM_MODIFY_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);
	uint32_t sel = crl_prm_get(c->in, CRL_PRM_MODIFY_FLOW_TABLE_IN_MODIFY_FIELD_SELECT);
	struct scx_fw_obj *obj;
	struct ft *ft, before;
	int rc = HEAD(c, MODIFY_FLOW_TABLE_IN);

	obj = rc == 0 ? TABLE(c, MODIFY_FLOW_TABLE_IN) : NULL;
	if (obj == NULL)
		return -1;
	ft = obj->own;
	if (sel != 1)
		return scx_fw_refuse(
			c, SCX_FW_R_MODIFY_BITS, c->in, 16, "modify_field_select is 0x%x", sel);
	rc = check_miss(c, ctx, ft->level);
	if (rc != 0)
		return rc;
	before = *ft;
	ft->miss_action = crl_prm_get(ctx, CRL_PRM_FLOW_TABLE_TABLE_MISS_ACTION);
	ft->miss_table = crl_prm_get(ctx, CRL_PRM_FLOW_TABLE_TABLE_MISS_ID);
	rc = scx_fw_ft_compile(c);
	if (rc != 0)
		*ft = before;
	return rc;
}

/* A number that comes up again is not led to by those that named the table that had it before. */
static void
forget_misses(struct scx_nic *nic, uint32_t num)
{
	const struct scx_fw_table *t = &nic->table[SCX_FW_FT];

	for (uint32_t i = t->first; i < t->max; i++) {
		struct ft *ft = t->slot[i] != NULL ? t->slot[i]->own : NULL;

		if (ft != NULL && ft->miss_action == MISS_TABLE && ft->miss_table == num)
			ft->miss_action = MISS_DEFAULT;
	}
}

/* What leads to it on a miss leads nowhere then; entries that lead to it forbid it. */
int
scx_cmd_destroy_ft(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj =
		HEAD(c, DESTROY_FLOW_TABLE_IN) == 0 ? TABLE(c, DESTROY_FLOW_TABLE_IN) : NULL;
	uint32_t num;
	int rc;

	if (obj == NULL)
		return -1;
	num = obj->num;
	rc = scx_fw_destroy(c, obj);
	if (rc != 0)
		return rc;
	forget_misses(c->nic, num);
	if (num == c->nic->hca->ft_root)
		c->nic->hca->ft_root = 0;
	return scx_fw_ft_compile(c);
}

int
scx_cmd_set_ft_root(struct scx_fw_call *c)
{
	uint32_t op = crl_prm_get(c->in, CRL_PRM_CMD_IN_OP_MOD), before = c->nic->hca->ft_root;
	int rc = HEAD(c, SET_FLOW_TABLE_ROOT_IN);

	if (rc != 0)
		return rc;
	if (op > 1)
		return scx_fw_refuse(c, SCX_FW_R_OP_MOD, c->in, 8, "op_mod is 0x%x", op);
	if (op == 0 && TABLE(c, SET_FLOW_TABLE_ROOT_IN) == NULL)
		return -1;
	c->nic->hca->ft_root =
		op == 0 ? crl_prm_get(c->in, CRL_PRM_SET_FLOW_TABLE_ROOT_IN_TABLE_ID) : 0;
	rc = scx_fw_ft_compile(c);
	if (rc != 0)
		c->nic->hca->ft_root = before;
	return rc;
}

static int
check_mask(struct scx_fw_call *c, const uint8_t *mask, uint32_t enable)
{
	uint8_t known[CRL_PRM_MATCH_LYR_2_4_BYTES];

	scx_layout_mask(SCX_LAYOUT_MATCH_LYR_2_4, known);
	for (uint32_t i = 0; i < SETS_BYTES; i++)
		if (mask[i] & (uint8_t) ~(i < MATCH && enable & ENABLE_OUTER ? known[i] : 0))
			return scx_fw_refuse(c, SCX_FW_R_FLOW_MASK, mask + i / 64 * 64, 64,
				"mask 0x%02x in byte 0x%x of the criteria, enabled 0x%x", mask[i],
				i, enable);
	return 0;
}

int
scx_cmd_create_fg(struct scx_fw_call *c)
{
	const uint8_t *mask = crl_prm_at(c->in, CRL_PRM_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA);
	uint32_t first = crl_prm_get(c->in, CRL_PRM_CREATE_FLOW_GROUP_IN_START_FLOW_INDEX);
	uint32_t last = crl_prm_get(c->in, CRL_PRM_CREATE_FLOW_GROUP_IN_END_FLOW_INDEX);
	uint32_t enable = crl_prm_get(c->in, CRL_PRM_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE);
	struct scx_fw_obj *obj, *table;
	struct fg *g;

	table = HEAD(c, CREATE_FLOW_GROUP_IN) == 0 ? TABLE(c, CREATE_FLOW_GROUP_IN) : NULL;
	if (table == NULL)
		return -1;
	if (first > last || last >= 1u << ((struct ft *)table->own)->log_size)
		return scx_fw_refuse(c, SCX_FW_R_FT_INDEX, NULL, 0,
			"group from %u to %u in a table of %u", first, last,
			1u << ((struct ft *)table->own)->log_size);
	if (crl_prm_get(c->in, CRL_PRM_CREATE_FLOW_GROUP_IN_GROUP_TYPE) != 0)
		return scx_fw_refuse(c, SCX_FW_R_NOT_OFFERED, c->in, 32, "group_type is not 0");
	if (check_mask(c, mask, enable) != 0)
		return -1;
	obj = scx_fw_new(c, SCX_FW_FG);
	if (obj == NULL)
		return -1;
	g = calloc(1, sizeof(*g));
	if (g == NULL) {
		scx_fw_free(c->nic, obj);
		return scx_fw_refuse(c, SCX_FW_R_FULL, NULL, 0, "no memory for a flow group");
	}
	g->first = first;
	g->last = last;
	memcpy(g->mask, mask, MATCH);
	obj->own = g;
	scx_fw_hold(obj, table); /* FG_HOLD_FT */
	crl_prm_set(c->out, CRL_PRM_CREATE_FLOW_GROUP_OUT_GROUP_ID, obj->num);
	return 0;
}

int
scx_cmd_destroy_fg(struct scx_fw_call *c)
{
	if (HEAD(c, DESTROY_FLOW_GROUP_IN) != 0)
		return -1;
	return scx_fw_destroy_num(c, SCX_FW_FG, CRL_PRM_DESTROY_FLOW_GROUP_IN_GROUP_ID);
}
