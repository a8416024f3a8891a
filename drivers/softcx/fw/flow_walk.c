/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From flow tables to rules. The data path knows one list of rules; so at every change the tables
 * are walked from the root, and each way through them becomes one rule: the masks of its entries
 * together, their values together, and where the last one leads. A table that a frame leaves
 * without a match leads to its miss table or nowhere, and that is a rule as well. The order of the
 * rules is that of the walk.
 */
#include <stdlib.h>
#include <string.h>

#include "flow_table.h"

struct walk {
	struct scx_fw_call *c;
	struct scx_dp_rule *rule;
	uint32_t nr;
	bool full;
};

struct path {
	uint32_t tag;
	uint8_t mask[MATCH], value[MATCH];
};

static struct scx_fw_obj *
table_of(const struct scx_fw_obj *fte)
{
	return fte->hold[FTE_HOLD_FG]->hold[FG_HOLD_FT];
}

static struct scx_fw_obj *
ft_find(struct scx_nic *nic, uint32_t id)
{
	const struct scx_fw_table *t = &nic->table[SCX_FW_FT];

	return id < t->max ? t->slot[id] : NULL;
}

static void
emit(struct walk *w, const struct path *p, uint8_t dest, uint32_t tirn)
{
	struct scx_dp_rule *r;

	if (w->nr == SCX_DP_RULE_MAX) {
		w->full = true;
		return;
	}
	r = &w->rule[w->nr];
	memset(r, 0, sizeof(*r));
	r->id = RULE_ID + w->nr;
	r->priority = w->nr++;
	r->dest = dest;
	r->tirn = tirn;
	r->flow_tag = p->tag;
	memcpy(r->mask, p->mask, MATCH);
	memcpy(r->match, p->value, MATCH);
}

/* p and what the entry asks for besides; false: no frame can match both. */
static bool
narrow(struct path *p, const struct scx_fw_obj *obj)
{
	const struct fg *g = obj->hold[FTE_HOLD_FG]->own;
	const struct fte *e = obj->own;

	for (uint32_t i = 0; i < MATCH; i++) {
		if ((p->value[i] ^ e->value[i]) & p->mask[i] & g->mask[i])
			return false;
		p->mask[i] |= g->mask[i];
		p->value[i] |= e->value[i];
	}
	if (e->tag != 0)
		p->tag = e->tag;
	return true;
}

struct scx_fw_obj *
scx_fw_fte_from(struct scx_nic *nic, const struct scx_fw_obj *table, uint32_t from)
{
	const struct scx_fw_table *t = &nic->table[SCX_FW_FTE];
	struct scx_fw_obj *best = NULL;

	for (uint32_t i = 0; i < t->max; i++) {
		struct scx_fw_obj *o = t->slot[i];

		if (o == NULL || o->own == NULL || table_of(o) != table)
			continue;
		if (((struct fte *)o->own)->index < from)
			continue;
		if (best == NULL ||
			((struct fte *)o->own)->index < ((struct fte *)best->own)->index)
			best = o;
	}
	return best;
}

/* Levels rise from table to table, so that this ends; depth is at most LEVELS_MAX. */
static void
walk_table(struct walk *w, const struct scx_fw_obj *table, const struct path *p)
{
	const struct ft *ft = table->own;
	struct scx_fw_obj *o, *miss;
	uint32_t from = 0;

	while (!w->full && (o = scx_fw_fte_from(w->c->nic, table, from)) != NULL) {
		const struct fte *e = o->own;
		struct path q = *p;

		from = e->index + 1;
		if (!narrow(&q, o))
			continue;
		if (e->action & ACTION_DROP)
			emit(w, &q, SCX_FLOW_DROP, 0);
		else if (!(e->action & ACTION_FWD))
			emit(w, &q, SCX_FLOW_DEFAULT_MISS, 0);
		else if (o->hold[FTE_HOLD_DEST]->kind == SCX_FW_TIR)
			emit(w, &q, SCX_FLOW_TIR, o->hold[FTE_HOLD_DEST]->num);
		else
			walk_table(w, o->hold[FTE_HOLD_DEST], &q);
	}
	miss = ft->miss_action == MISS_TABLE ? ft_find(w->c->nic, ft->miss_table) : NULL;
	if (miss != NULL)
		walk_table(w, miss, p);
	else
		emit(w, p, SCX_FLOW_DEFAULT_MISS, 0);
}

static int
tell(struct scx_fw_call *c, enum scx_dp_op op, uint32_t num, const struct scx_dp_rule *rule)
{
	struct scx_dp_cmd cmd = {.op = op, .num = num};

	if (rule != NULL)
		cmd.u.rule = *rule;
	return scx_fw_tell(c, &cmd);
}

int
scx_fw_ft_compile(struct scx_fw_call *c)
{
	struct scx_fw_hca *hca = c->nic->hca;
	struct walk w = {.c = c};
	struct path all = {.tag = 0};
	struct scx_fw_obj *root = ft_find(c->nic, hca->ft_root);
	int rc = 0;

	w.rule = malloc(SCX_DP_RULE_MAX * sizeof(*w.rule));
	if (w.rule == NULL)
		return scx_fw_refuse(c, SCX_FW_R_FULL, NULL, 0, "no memory for the rules");
	if (hca->ft_root != 0 && root != NULL)
		walk_table(&w, root, &all);
	if (w.full) {
		free(w.rule);
		return scx_fw_refuse(c, SCX_FW_R_FULL, NULL, 0,
			"more than %u ways through the tables", SCX_DP_RULE_MAX);
	}
	while (rc == 0 && hca->nr_rules > 0) {
		rc = tell(c, SCX_DP_RULE_DEL, RULE_ID + hca->nr_rules - 1, NULL);
		if (rc == 0)
			hca->nr_rules--;
	}
	for (uint32_t i = 0; rc == 0 && i < w.nr; i++) {
		rc = tell(c, SCX_DP_RULE_ADD, 0, &w.rule[i]);
		if (rc == 0)
			hca->nr_rules++;
	}
	free(w.rule);
	return rc;
}
