/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Object tables: numbers, owners and references. A number is base + slot with a base of its own for
 * each kind, so that a number of the wrong kind never happens to fit; SQ, RQ and (later) QP and SRQ
 * numbers thus never meet. A slot is reused as late as possible, so that a stale number is noticed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fw.h"

/* clang-format off */
static const struct {
	const char *name;
	uint32_t max, first, base;
} kinds[SCX_FW_KINDS] = {
	[SCX_FW_FLOW] = {"flow", SCX_DP_RULE_MAX, 0, 0x8000},
	[SCX_FW_FTE] = {"flow table entry", SCX_FTE_MAX, 0, 0}, /* has an index of its own */
	[SCX_FW_FG] = {"flow group", SCX_FG_MAX, 1, 0},
	[SCX_FW_FT] = {"flow table", SCX_FT_MAX, 1, 0},
	[SCX_FW_TIR] = {"TIR", SCX_DP_TIR_MAX, 0, 0x5000},
	[SCX_FW_RQT] = {"RQT", SCX_DP_RQT_MAX, 0, 0x4000},
	[SCX_FW_RQ] = {"RQ", SCX_DP_RQ_MAX, 0, 0x20000},
	[SCX_FW_SQ] = {"SQ", SCX_DP_SQ_MAX, 0, 0x30000},
	[SCX_FW_QP] = {"queue pair", 64, 0, 0x50000},
	[SCX_FW_SRQ] = {"shared receive queue", 64, 0, 0x40000},
	[SCX_FW_TIS] = {"TIS", SCX_SMALL_OBJ_MAX, 0, 0x3000},
	[SCX_FW_CQ] = {"CQ", SCX_DP_CQ_MAX, 0, 0x10000},
	[SCX_FW_EQ] = {"event queue", 64, SCX_EQN, 0}, /* 8 bits */
	[SCX_FW_QCOUNTER] = {"queue counter set", SCX_DP_COUNTER_MAX, 1, 0}, /* 8 bits; 0: none */
	/* the index; a key is index << 8 | variant */
	[SCX_FW_MKEY] = {"memory key", SCX_DP_MKEY_MAX, 0, 0x1000},
	[SCX_FW_UMEM] = {"umem", SCX_UMEM_MAX, 0, 0x6000},
	[SCX_FW_UAR] = {"UAR page", 0, 1, 0}, /* max: pages that the front has */
	[SCX_FW_XRCD] = {"XRC domain", 64, 1, 0},
	[SCX_FW_TD] = {"transport domain", SCX_SMALL_OBJ_MAX, 0, 0x2000},
	[SCX_FW_PD] = {"protection domain", SCX_SMALL_OBJ_MAX, 0, 0x1000},
};
/* clang-format on */

const char *
scx_fw_kind_name(enum scx_fw_kind kind)
{
	return kinds[kind].name;
}

int
scx_fw_tables_init(struct scx_nic *nic)
{
	for (unsigned k = 0; k < SCX_FW_KINDS; k++) {
		struct scx_fw_table *t = &nic->table[k];

		t->max = k == SCX_FW_UAR ? nic->cfg.nr_uar_pages : kinds[k].max;
		t->first = k == SCX_FW_UAR && nic->cfg.guest != NULL ? nic->cfg.guest->uar_first
								     : kinds[k].first;
		t->next = t->first;
		t->base = kinds[k].base;
		t->slot = calloc(t->max ? t->max : 1, sizeof(t->slot[0]));
		if (t->slot == NULL)
			return -ENOMEM; /* scx_fw_tables_fini() frees what there is */
	}
	return 0;
}

void
scx_fw_tables_fini(struct scx_nic *nic)
{
	for (unsigned k = 0; k < SCX_FW_KINDS; k++) {
		struct scx_fw_table *t = &nic->table[k];

		for (uint32_t i = 0; t->slot != NULL && i < t->max; i++)
			if (t->slot[i] != NULL)
				scx_fw_free(nic, t->slot[i]);
		free(t->slot);
		t->slot = NULL;
	}
}

struct scx_fw_obj *
scx_fw_new(struct scx_fw_call *c, enum scx_fw_kind kind)
{
	struct scx_fw_table *t = &c->nic->table[kind];
	struct scx_fw_obj *obj = NULL;
	uint32_t at = t->next;

	for (uint32_t n = 0; n < t->max; n++, at++) {
		if (at >= t->max)
			at = t->first;
		if (at < t->max && t->slot[at] == NULL) {
			obj = calloc(1, sizeof(*obj));
			break;
		}
	}
	if (obj == NULL) {
		scx_fw_refuse(c, SCX_FW_R_FULL, NULL, 0, "no %s for another %s, there are %u",
			t->used < t->max - t->first ? "memory" : "number", kinds[kind].name,
			t->used);
		return NULL;
	}
	obj->kind = kind;
	obj->num = t->base + at;
	obj->uid = c->uid;
	t->slot[at] = obj;
	t->next = at + 1;
	t->used++;
	return obj;
}

void
scx_fw_free(struct scx_nic *nic, struct scx_fw_obj *obj)
{
	struct scx_fw_table *t = &nic->table[obj->kind];

	for (uint32_t i = 0; i < obj->nr_hold; i++)
		obj->hold[i]->refs--;
	scx_fw_list_set(obj, NULL, 0);
	if (obj->map != NULL)
		nic->cfg.guest->unmap(nic->cfg.guest->arg, obj->map, obj->map_bytes);
	free(obj->own);
	t->slot[obj->num - t->base] = NULL;
	t->used--;
	free(obj);
}

/* The kernel uses all, and what it makes for all may use what is the kernel's own. */
static bool
may_use(uint16_t uid, uint16_t owner)
{
	return uid == 0 || owner == uid || owner == SCX_UID_SHARED ||
	       (uid == SCX_UID_SHARED && owner == 0);
}

struct scx_fw_obj *
scx_fw_get(struct scx_fw_call *c, enum scx_fw_kind kind, uint32_t num)
{
	const struct scx_fw_table *t = &c->nic->table[kind];
	struct scx_fw_obj *obj = NULL;

	if (num >= t->base && num - t->base < t->max)
		obj = t->slot[num - t->base];
	if (obj == NULL) {
		scx_fw_refuse(c, SCX_FW_R_NO_OBJECT, NULL, 0, "%s 0x%x does not exist",
			kinds[kind].name, num);
		return NULL;
	}
	if (!may_use(c->uid, obj->uid)) {
		scx_fw_refuse(c, SCX_FW_R_OTHER_UID, NULL, 0,
			"%s 0x%x belongs to uid %u, the caller is uid %u", kinds[kind].name, num,
			obj->uid, c->uid);
		return NULL;
	}
	return obj;
}

void
scx_fw_hold(struct scx_fw_obj *user, struct scx_fw_obj *used)
{
	assert(user->nr_hold < SCX_HOLDS_MAX);
	user->hold[user->nr_hold++] = used;
	used->refs++;
}

struct scx_fw_obj *
scx_fw_get_hold(struct scx_fw_call *c, struct scx_fw_obj *user, enum scx_fw_kind kind, uint32_t num)
{
	struct scx_fw_obj *used = scx_fw_get(c, kind, num);

	if (used != NULL)
		scx_fw_hold(user, used);
	return used;
}

void
scx_fw_rehold(struct scx_fw_obj *user, uint32_t at, struct scx_fw_obj *used)
{
	assert(at < user->nr_hold);
	used->refs++;
	user->hold[at]->refs--;
	user->hold[at] = used;
}

void
scx_fw_list_set(struct scx_fw_obj *rqt, struct scx_fw_obj **list, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		list[i]->refs++;
	for (uint32_t i = 0; i < rqt->nr_list; i++)
		rqt->list[i]->refs--;
	free(rqt->list);
	rqt->list = list;
	rqt->nr_list = nr;
}

/* The command that makes the data path forget an object; false: it never knew of it. */
static bool
dp_del(const struct scx_fw_obj *obj, struct scx_dp_cmd *cmd)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->num = obj->num;
	switch (obj->kind) {
	case SCX_FW_FLOW:
		cmd->op = SCX_DP_RULE_DEL;
		return true;
	case SCX_FW_TIR:
		cmd->op = SCX_DP_TIR_DEL;
		return true;
	case SCX_FW_RQT:
		cmd->op = SCX_DP_RQT_DEL;
		return true;
	case SCX_FW_RQ:
		cmd->op = SCX_DP_RQ_DEL;
		return true;
	case SCX_FW_SQ:
		cmd->op = SCX_DP_SQ_DEL;
		return true;
	case SCX_FW_CQ:
		cmd->op = SCX_DP_CQ_DEL;
		return true;
	case SCX_FW_MKEY:
		cmd->op = SCX_DP_MKEY_DEL;
		cmd->num = obj->access; /* the whole key, kept there */
		return true;
	default:
		return false;
	}
}

int
scx_fw_tell(struct scx_fw_call *c, struct scx_dp_cmd *cmd)
{
	int rc = scx_fw_dp(c->nic, cmd);

	if (rc == 0)
		return 0;
	return scx_fw_refuse(c, SCX_FW_R_FULL, NULL, 0,
		"the data path answered %s to its command %d", strerror(-rc), cmd->op);
}

int
scx_fw_destroy(struct scx_fw_call *c, struct scx_fw_obj *obj)
{
	struct scx_dp_cmd cmd;

	if (obj->refs > 0)
		return scx_fw_refuse(c, SCX_FW_R_IN_USE, NULL, 0, "%u objects refer to %s 0x%x",
			obj->refs, kinds[obj->kind].name, obj->num);
	if (dp_del(obj, &cmd)) {
		int rc = scx_fw_tell(c, &cmd);

		if (rc != 0)
			return rc;
	}
	scx_fw_free(c->nic, obj);
	return 0;
}

int
scx_fw_destroy_num(struct scx_fw_call *c, enum scx_fw_kind kind, uint32_t field)
{
	struct scx_fw_obj *obj = scx_fw_get(c, kind, crl_prm_get(c->in, field));

	return obj != NULL ? scx_fw_destroy(c, obj) : -1;
}
