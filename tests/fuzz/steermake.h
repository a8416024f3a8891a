/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the target steer makes by commands: tables, groups, entries, queues with TIRs, a user's
 * rules; and what of it went through, noted in the form that refsteer.h reads.
 */
#ifndef CRL_FUZZ_STEERMAKE_H
#define CRL_FUZZ_STEERMAKE_H

#include "fwrig.h"
#include "refsteer.h"
#include "steerframe.h"

#define FRAMES 8u
#define HOT    3u /* bytes that an aimed input's frames and masks mostly differ in */
#define TABLES 3u /* of an aimed input, and two groups of each: few, so that they have entries */
#define GROUPS 6u

struct it {
	struct fwrig *r;
	struct fz f;
	struct gen gen;
	struct steer m; /* what was made */
	uint64_t age;
	uint16_t uid;
	bool aimed,
		hashed; /* hashed: some TIRs hash, so that the headers for that tell flows apart */
	uint32_t tables, groups, top; /* made; the last table, which leads to others */
	uint8_t hot[HOT], bits[HOT];  /* two bits of each */
	uint8_t known[64];	      /* bits that can be matched on */
	uint8_t key[FRAMES][64];
	uint8_t frame[FRAMES][STEER_FRAME];
	uint32_t len[FRAMES], nr; /* len 0: a key that is no frame's */
};

/* ---- commands, and what they have made ---- */

static uint32_t
run(struct it *it, uint16_t opcode, uint8_t layout, uint32_t more)
{
	uint8_t *out;
	uint32_t status, num;

	it->gen.in_bytes = scx_layouts[layout].bytes + more;
	it->gen.out_bytes = 16;
	ref_put16(it->gen.in, opcode);
	ref_put16(it->gen.in + 2, it->uid);
	status = fwrig_run(it->r, &it->gen, it->uid, &out);
	num = ref_be32(out + 8) & 0xffffff;
	free(out);
	return status != 0 ? 0 : num != 0 ? num : UINT32_MAX;
}

static uint8_t *
command(struct it *it)
{
	memset(it->gen.in, 0, sizeof(it->gen.in));
	return it->gen.in;
}

/* Of an aimed input the next one from v on that there is. */
#define NEXT_USED(it, array, v, max)                                                               \
	for (uint32_t n_ = 0; (it)->aimed && n_ < (max) && !(array)[v].used; n_++)                 \
	(v) = ((v) + 1u) % (max)

static uint32_t
some_table(struct it *it)
{
	uint32_t id = fz_below(&it->f, SCX_FT_MAX);

	NEXT_USED(it, it->m.table, id, SCX_FT_MAX);
	return id;
}

static uint32_t
some_group(struct it *it)
{
	uint32_t id = fz_below(&it->f, SCX_FG_MAX);

	NEXT_USED(it, it->m.group, id, SCX_FG_MAX);
	return id;
}

static uint32_t
some_tir(struct it *it)
{
	return it->m.tir[fz_below(&it->f, it->hashed ? TIRS : DIRECT)].num;
}

static void
make_table(struct it *it)
{
	uint8_t *in = command(it),
		*ctx = crl_prm_at(in, CRL_PRM_CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);
	uint32_t level = fz_below(&it->f, 8), miss = fz_u8(&it->f) & 1 ? some_table(it) : 0, id;

	if (it->aimed) /* levels fall, so that a new table leads to those before it */
		level = it->tables < TABLES ? TABLES - it->tables++ : level;
	crl_prm_set(ctx, CRL_PRM_FLOW_TABLE_LEVEL, level);
	crl_prm_set(ctx, CRL_PRM_FLOW_TABLE_LOG_SIZE, 4);
	crl_prm_set(ctx, CRL_PRM_FLOW_TABLE_TABLE_MISS_ACTION, miss != 0);
	crl_prm_set(ctx, CRL_PRM_FLOW_TABLE_TABLE_MISS_ID, miss);
	id = run(it, CRL_CMD_OP_CREATE_FLOW_TABLE, SCX_LAYOUT_CREATE_FLOW_TABLE_IN, 0);
	if (id == 0)
		return;
	FZ_MUST(id < SCX_FT_MAX && !it->m.table[id].used, "table %u", id);
	FZ_MUST(miss == 0 || it->m.table[miss].level > level, "on a miss to level %u",
		it->m.table[miss].level);
	it->m.table[id] = (struct table){true, level, miss};
	it->top = id;
}

static void
modify_table(struct it *it)
{
	uint8_t *in = command(it),
		*ctx = crl_prm_at(in, CRL_PRM_MODIFY_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);
	uint32_t id = some_table(it), miss = some_table(it);

	crl_prm_set(in, CRL_PRM_MODIFY_FLOW_TABLE_IN_TABLE_ID, id);
	crl_prm_set(in, CRL_PRM_MODIFY_FLOW_TABLE_IN_MODIFY_FIELD_SELECT, 1);
	crl_prm_set(ctx, CRL_PRM_FLOW_TABLE_TABLE_MISS_ACTION, miss != 0);
	crl_prm_set(ctx, CRL_PRM_FLOW_TABLE_TABLE_MISS_ID, miss);
	if (run(it, CRL_CMD_OP_MODIFY_FLOW_TABLE, SCX_LAYOUT_MODIFY_FLOW_TABLE_IN, 0) == 0)
		return;
	FZ_MUST(miss == 0 || it->m.table[miss].level > it->m.table[id].level,
		"on a miss to level %u", it->m.table[miss].level);
	it->m.table[id].miss = miss;
}

static void
remove_table(struct it *it, uint32_t id)
{
	crl_prm_set(command(it), CRL_PRM_DESTROY_FLOW_TABLE_IN_TABLE_ID, id);
	if (run(it, CRL_CMD_OP_DESTROY_FLOW_TABLE, SCX_LAYOUT_DESTROY_FLOW_TABLE_IN, 0) == 0)
		return;
	it->m.table[id].used = false;
	for (uint32_t i = 0; i < SCX_FT_MAX; i++)
		if (it->m.table[i].miss == id)
			it->m.table[i].miss = 0;
	if (it->m.root == id)
		it->m.root = 0;
}

static void
set_root(struct it *it)
{
	uint32_t id = it->aimed && (fz_u8(&it->f) & 3u) ? it->top : some_table(it);
	uint8_t *in = command(it);

	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, id == 0);
	crl_prm_set(in, CRL_PRM_SET_FLOW_TABLE_ROOT_IN_TABLE_ID, id);
	if (run(it, CRL_CMD_OP_SET_FLOW_TABLE_ROOT, SCX_LAYOUT_SET_FLOW_TABLE_ROOT_IN, 0) != 0)
		it->m.root = id;
}

/* A byte that tables and frames meet in, of an aimed input. */
static void
hot_mask(struct it *it, uint8_t *mask, uint32_t how)
{
	for (uint32_t n = 0; n < 1u + (how >> 5 & 1); n++) {
		uint32_t h = ((how >> 3) + n) % HOT;

		mask[it->hot[h]] = how & 64 ? it->known[it->hot[h]] : it->bits[h];
	}
	if ((how & 0x84) == 0x84)
		mask[it->hot[how % HOT]] &= it->bits[0] & (uint8_t)-it->bits[0];
}

/* Some bits that the NIC matches on. */
static void
make_mask(struct it *it, uint8_t *mask)
{
	static const uint8_t at[] = {
		0, 5, 6, 7, 8, 13, 15, 16, 17, 18, 19, 20, 21, 23, 27, 29, 31, 44, 47, 63};
	uint32_t how = fz_u8(&it->f);

	memset(mask, 0, 64);
	if (it->aimed && how & 3u) {
		hot_mask(it, mask, how);
		return;
	}
	for (uint32_t n = how >> 2 & 3u; n > 0; n--) {
		uint32_t i = at[fz_below(&it->f, sizeof(at))];

		mask[i] |= (fz_u8(&it->f) & 1 ? 0xff : fz_u8(&it->f)) & it->known[i];
	}
}

/* A value under it, mostly one that some frame has. */
static void
make_value(struct it *it, const uint8_t *mask, uint8_t *value)
{
	uint32_t k = fz_below(&it->f, it->nr ? it->nr : 1), at = fz_u8(&it->f), bits = 0;

	/* of an aimed input often of a frame that has any of these bits: zeros tell little */
	for (uint32_t n = 0; n == 0 || (it->aimed && at & 1 && bits == 0 && n < it->nr); n++) {
		const uint8_t *key = it->key[(k + n) % FRAMES];

		for (uint32_t i = 0; i < 64; i++)
			bits |= value[i] = key[i] & mask[i];
	}
	if (at >= 192)
		value[at - 192] ^= (uint8_t)(fz_u8(&it->f) & mask[at - 192]);
	else if (it->aimed && at >= 128) /* another one of the same bits */
		value[it->hot[at % HOT]] ^= (uint8_t)(fz_u8(&it->f) & mask[it->hot[at % HOT]]);
}

static void
make_group(struct it *it)
{
	uint8_t *in = command(it),
		*mask = crl_prm_at(in, CRL_PRM_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA);
	uint32_t table = some_table(it), first = fz_below(&it->f, 16), id;
	uint32_t last = first + fz_below(&it->f, 8);

	if (it->aimed) { /* beside each other, of each table in turn */
		first &= 12u;
		last = first + 3u;
		table = (it->top + SCX_FT_MAX - it->groups % TABLES) % SCX_FT_MAX;
		NEXT_USED(it, it->m.table, table, SCX_FT_MAX);
	}
	make_mask(it, mask);
	crl_prm_set(in, CRL_PRM_CREATE_FLOW_GROUP_IN_TABLE_ID, table);
	crl_prm_set(in, CRL_PRM_CREATE_FLOW_GROUP_IN_START_FLOW_INDEX, first);
	crl_prm_set(in, CRL_PRM_CREATE_FLOW_GROUP_IN_END_FLOW_INDEX, last);
	crl_prm_set(in, CRL_PRM_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE, 1);
	id = run(it, CRL_CMD_OP_CREATE_FLOW_GROUP, SCX_LAYOUT_CREATE_FLOW_GROUP_IN, 0);
	if (id == 0)
		return;
	FZ_MUST(id < SCX_FG_MAX && !it->m.group[id].used && it->m.table[table].used, "group %u",
		id);
	it->groups++;
	it->m.group[id] = (struct group){true, table, first, last, {0}};
	memcpy(it->m.group[id].mask, mask, 64);
}

static void
remove_group(struct it *it, uint32_t id)
{
	crl_prm_set(command(it), CRL_PRM_DESTROY_FLOW_GROUP_IN_GROUP_ID, id);
	if (run(it, CRL_CMD_OP_DESTROY_FLOW_GROUP, SCX_LAYOUT_DESTROY_FLOW_GROUP_IN, 0) != 0)
		it->m.group[id].used = false;
}

/* What went through can be: it is in its group, under its mask, and leads to a higher level. sel:
 * of what is new all that may change, 0 for all of it. */
static void
entry_may(const struct it *it, const struct entry *e, uint32_t sel)
{
	const struct group *g = &it->m.group[e->group];

	if (sel == 0) {
		FZ_MUST(g->used && e->index >= g->first && e->index <= g->last,
			"entry %u of %u to %u", e->index, g->first, g->last);
		for (uint32_t i = 0; i < 64; i++)
			FZ_MUST(!(e->value[i] & ~g->mask[i]), "value 0x%x in byte %u", e->value[i],
				i);
	}
	if ((sel == 0 || sel & 4) && e->action == 4 && e->type == 1)
		FZ_MUST(it->m.table[e->dest].used &&
				it->m.table[e->dest].level > it->m.table[e->table].level,
			"from level %u to %u", it->m.table[e->table].level,
			it->m.table[e->dest].level);
}

static void
set_entry(struct it *it)
{
	uint8_t *in = command(it), *ctx = crl_prm_at(in, CRL_PRM_SET_FTE_IN_FLOW_CONTEXT);
	uint8_t *value = crl_prm_at(ctx, CRL_PRM_FLOW_CONTEXT_MATCH_VALUE), *d;
	uint32_t how = fz_u8(&it->f), id = some_group(it), sel = fz_below(&it->f, 8);
	const struct group *g = &it->m.group[id];
	struct entry e = {.used = true, .table = g->table, .group = id}, *at;

	e.index = g->first + fz_below(&it->f, it->aimed ? 4 : 8);
	e.action = how & 3u ? 4 : how & 4 ? 2 : 1;
	e.type = how & 8 ? 1 : 2;
	e.dest = e.type == 1 ? some_table(it) : some_tir(it);
	e.tag = how & 16 ? fz_u8(&it->f) : 0;
	make_value(it, g->mask, e.value);
	if (it->aimed && (sel & 7u) == 7u && (how & 0xc0) == 0xc0)
		e.value[it->hot[how % HOT]] |= it->bits[how % HOT]; /* beside the mask: refused */
	memcpy(value, e.value, 64);
	at = entry_at(&it->m, e.table, e.index);
	if (it->aimed && at != NULL && (sel & 3u) != 0)
		how = at->used ? how | 32 : how & ~32u;
	if (it->aimed && e.type == 1) /* a table that this one may lead to */
		for (uint32_t n = 0; n < SCX_FT_MAX && !(it->m.table[e.dest].used &&
							       it->m.table[e.dest].level >
								       it->m.table[e.table].level);
			n++)
			e.dest = (e.dest + 1u) % SCX_FT_MAX;
	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, how >> 5 & 1);
	crl_prm_set(in, CRL_PRM_SET_FTE_IN_TABLE_ID, e.table);
	crl_prm_set(in, CRL_PRM_SET_FTE_IN_FLOW_INDEX, e.index);
	crl_prm_set(in, CRL_PRM_SET_FTE_IN_MODIFY_ENABLE_MASK, how & 32 ? sel : 0);
	crl_prm_set(ctx, CRL_PRM_FLOW_CONTEXT_GROUP_ID, id);
	crl_prm_set(ctx, CRL_PRM_FLOW_CONTEXT_FLOW_TAG, e.tag);
	crl_prm_set(ctx, CRL_PRM_FLOW_CONTEXT_ACTION, e.action);
	crl_prm_set(ctx, CRL_PRM_FLOW_CONTEXT_DESTINATION_LIST_SIZE, e.action == 4);
	d = in + CRL_PRM_SET_FTE_IN_BYTES;
	crl_prm_set(d, CRL_PRM_DEST_FORMAT_DESTINATION_TYPE, e.type);
	crl_prm_set(d, CRL_PRM_DEST_FORMAT_DESTINATION_ID, e.dest);
	if (run(it, CRL_CMD_OP_SET_FLOW_TABLE_ENTRY, SCX_LAYOUT_SET_FTE_IN, 8) == 0)
		return;
	FZ_MUST(at != NULL && at->used == (how >> 5 & 1), "entry %u", e.index);
	entry_may(it, &e, how & 32 ? sel | 8u : 0);
	if (!(how & 32)) {
		*at = e;
		return;
	}
	if (sel & 4) {
		at->type = e.type;
		at->dest = e.dest;
	}
	if (sel & 2)
		at->tag = e.tag;
}

static void
remove_entry(struct it *it, uint32_t table, uint32_t index)
{
	struct entry *at = entry_at(&it->m, table, index);
	uint8_t *in = command(it);

	crl_prm_set(in, CRL_PRM_DELETE_FTE_IN_TABLE_ID, table);
	crl_prm_set(in, CRL_PRM_DELETE_FTE_IN_FLOW_INDEX, index);
	if (run(it, CRL_CMD_OP_DELETE_FLOW_TABLE_ENTRY, SCX_LAYOUT_DELETE_FTE_IN, 0) == 0)
		return;
	FZ_MUST(at != NULL && at->used, "no such entry was made");
	at->used = false;
}

static void
delete_entry(struct it *it)
{
	uint32_t table = some_table(it), index = fz_below(&it->f, 24), which = index;

	NEXT_USED(it, it->m.entry, which, SCX_FTE_MAX);
	if (it->aimed && it->m.entry[which].used)
		remove_entry(it, it->m.entry[which].table, it->m.entry[which].index);
	else
		remove_entry(it, table, index);
}

/* A table that has nothing in it any more, its number free again; and another one like it. */
static void
raze(struct it *it)
{
	uint32_t id = some_table(it);
	struct entry *at = it->m.entry;

	for (uint32_t i = 0; i < SCX_FTE_MAX; i++)
		if (at[i].used && (at[i].table == id || (at[i].action == 4 && at[i].type == 1 &&
								at[i].dest == id)))
			remove_entry(it, at[i].table, at[i].index);
	for (uint32_t g = 0; g < SCX_FG_MAX; g++)
		if (it->m.group[g].used && it->m.group[g].table == id) {
			remove_group(it, g);
			it->groups -= it->groups > 0;
		}
	remove_table(it, id);
	if (!it->m.table[id].used && it->tables > 0)
		it->tables--;
	make_table(it);
	make_group(it);
	set_entry(it);
}

/* ---- rules of a user ---- */

static void
add_rule(struct it *it)
{
	struct rule *r = &it->m.rule[fz_below(&it->f, RULES)];

	if (r->used) {
		FZ_MUST(scx_flow_del(it->r->nic, it->uid, r->id) == 0, "rule 0x%x", r->id);
		r->used = false;
		return;
	}
	r->priority = fz_below(&it->f, 4);
	r->dest = fz_below(&it->f, 3);
	r->tirn = r->dest == SCX_FLOW_TIR ? some_tir(it) : 0;
	r->tag = fz_u8(&it->f);
	r->age = ++it->age;
	make_mask(it, r->mask);
	make_value(it, r->mask, r->value);
	if (scx_flow_add(it->r->nic, it->uid, r->priority, r->mask, r->value, 64, r->dest, r->tirn,
		    r->tag, &r->id) == 0)
		r->used = true;
}

#endif /* CRL_FUZZ_STEERMAKE_H */
