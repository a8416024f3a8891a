/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steering: a guest's flow tables, groups and entries made by commands, or a user's rules with
 * priorities; then frames. A plain matcher walks what the commands that went through have made,
 * entry by entry, and says where each frame goes and with which tag. softcx, which makes one list
 * of rules of all tables and remembers results, has to say the same.
 *
 * Half of the inputs are aimed: they name tables, groups and entries that there are, the root leads
 * somewhere, and a frame is another one with a byte or two changed. Arbitrary names are mostly of
 * nothing, and ways through several tables come about too seldom.
 */
#include "drivers/softcx/dp/dp_all.h"
#include "fwrig.h"
#include "refsteer.h"
#include "steerframe.h"

#define TIRS   3u
#define FRAMES 8u
#define TABLES 3u /* of an aimed input, and two groups of each: few, so that they have entries */
#define GROUPS 6u

struct it {
	struct fwrig *r;
	struct fz f;
	struct gen gen;
	struct steer m; /* what was made */
	uint32_t tirn[TIRS], rqn[TIRS];
	uint64_t age;
	uint16_t uid;
	bool aimed;
	uint32_t tables, groups, top; /* made; the last table, which leads to others */
	uint8_t key[FRAMES][64];
	uint8_t frame[FRAMES][STEER_FRAME];
	uint32_t len[FRAMES], nr;
};

static void
check(struct it *it, uint32_t i)
{
	struct scx_frame f = {.data = it->frame[i], .len = it->len[i]};
	struct where want = it->uid ? first_rule(&it->m, it->key[i]) : walk(&it->m, it->key[i]);
	const struct scx_target *to;
	struct scx_seen seen;
	uint32_t rqn = 0;

	scx_examine(&seen, &f);
	FZ_MUST(memcmp(seen.key, it->key[i], 64) == 0, "frame %u: the key", i);
	to = scx_steer(it->r->nic->dp, seen.key);
	FZ_MUST(to->dest == want.dest, "frame %u: destination %u, want %u", i, to->dest, want.dest);
	for (uint32_t t = 0; t < TIRS; t++)
		if (want.dest == SCX_FLOW_TIR && it->tirn[t] == want.tirn)
			rqn = it->rqn[t];
	FZ_MUST((to->rq == NULL ? 0 : to->rq->q.rqn) == rqn, "frame %u: queue 0x%x, want 0x%x", i,
		to->rq == NULL ? 0 : to->rq->q.rqn, rqn);
	FZ_MUST(want.dest == SCX_FLOW_DEFAULT_MISS || to->flow_tag == (want.tag & 0xffffff),
		"frame %u: tag 0x%x, want 0x%x", i, to->flow_tag, want.tag);
}

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
	if (run(it, CRL_CMD_OP_MODIFY_FLOW_TABLE, SCX_LAYOUT_MODIFY_FLOW_TABLE_IN, 0) != 0)
		it->m.table[id].miss = miss;
}

static void
destroy_table(struct it *it)
{
	uint32_t id = some_table(it);

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

/* Some bits that the NIC matches on. */
static void
make_mask(struct it *it, uint8_t *mask)
{
	static const uint8_t at[] = {
		0, 5, 6, 7, 8, 13, 15, 16, 17, 18, 19, 20, 21, 23, 27, 29, 31, 44, 47, 63};
	uint8_t known[64];

	scx_layout_mask(SCX_LAYOUT_MATCH_LYR_2_4, known);
	memset(mask, 0, 64);
	if (fz_u8(&it->f) & 1) { /* a byte that frames differ in, so that tables meet in it */
		uint32_t b = 13, n = it->aimed ? fz_u8(&it->f) : 0;

		for (uint32_t k = 0; it->aimed && it->nr > 0 && k < 64; k++)
			if (it->key[n % it->nr][(n + k) % 64] != it->key[0][(n + k) % 64] &&
				known[(n + k) % 64] != 0) {
				b = (n + k) % 64;
				break;
			}
		mask[b] = known[b];
		return;
	}
	for (uint32_t n = fz_u8(&it->f) & 3u; n > 0; n--) {
		uint32_t i = at[fz_below(&it->f, sizeof(at))];

		mask[i] |= (fz_u8(&it->f) & 1 ? 0xff : fz_u8(&it->f)) & known[i];
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
destroy_group(struct it *it)
{
	uint32_t id = some_group(it);

	crl_prm_set(command(it), CRL_PRM_DESTROY_FLOW_GROUP_IN_GROUP_ID, id);
	if (run(it, CRL_CMD_OP_DESTROY_FLOW_GROUP, SCX_LAYOUT_DESTROY_FLOW_GROUP_IN, 0) != 0)
		it->m.group[id].used = false;
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
	e.dest = e.type == 1 ? some_table(it) : it->tirn[fz_below(&it->f, TIRS)];
	e.tag = how & 16 ? fz_u8(&it->f) : 0;
	make_value(it, g->mask, e.value);
	memcpy(value, e.value, 64);
	at = entry_at(&it->m, e.table, e.index);
	if (it->aimed && at != NULL && (sel & 3u) != 0)
		how = at->used ? how | 32 : how & ~32u;
	if (it->aimed && e.type == 1) /* a table that this one may lead to */
		for (uint32_t n = 0; n < SCX_FT_MAX && !(it->m.table[e.dest].used &&
			     it->m.table[e.dest].level > it->m.table[e.table].level); n++)
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
delete_entry(struct it *it)
{
	uint8_t *in = command(it);
	uint32_t table = some_table(it), index = fz_below(&it->f, 24);
	struct entry *at = entry_at(&it->m, table, index);

	crl_prm_set(in, CRL_PRM_DELETE_FTE_IN_TABLE_ID, table);
	crl_prm_set(in, CRL_PRM_DELETE_FTE_IN_FLOW_INDEX, index);
	if (run(it, CRL_CMD_OP_DELETE_FLOW_TABLE_ENTRY, SCX_LAYOUT_DELETE_FTE_IN, 0) == 0)
		return;
	FZ_MUST(at != NULL && at->used, "no such entry was made");
	at->used = false;
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
	r->tirn = r->dest == SCX_FLOW_TIR ? it->tirn[fz_below(&it->f, TIRS)] : 0;
	r->tag = fz_u8(&it->f);
	r->age = ++it->age;
	make_mask(it, r->mask);
	make_value(it, r->mask, r->value);
	if (scx_flow_add(it->r->nic, it->uid, r->priority, r->mask, r->value, 64, r->dest, r->tirn,
		    r->tag, &r->id) == 0)
		r->used = true;
}

/* ---- frames ---- */

static void
make_frame(struct it *it)
{
	uint32_t i = it->nr < FRAMES ? it->nr++ : fz_below(&it->f, FRAMES);
	uint32_t how = fz_u8(&it->f), of = how % (it->nr ? it->nr : 1);
	struct ref_net net;
	uint8_t *p = it->frame[i];

	it->len[i] = STEER_FRAME;
	if (it->aimed && i > 0 && of != i) {
		memcpy(p, it->frame[of], STEER_FRAME);
		steer_vary(&it->f, p, 1u + (how >> 7));
	} else {
		steer_frame(&it->f, p, how);
	}
	net = ref_parse(p, it->len[i]);
	ref_key(&net, p, it->key[i]);
}

static void
one(struct it *it)
{
	uint32_t what = fz_below(&it->f, 16);

	if (what < 3) {
		make_frame(it);
	} else if (it->uid != 0) {
		add_rule(it);
	} else if (what < 5 && !(it->aimed && it->tables >= TABLES)) {
		make_table(it);
	} else if (what < 8 && !(it->aimed && it->groups >= GROUPS)) {
		make_group(it);
	} else if (what < 12 || (it->aimed && what < 15)) {
		set_entry(it);
	} else {
		switch (fz_below(&it->f, 5)) {
		case 0:
			modify_table(it);
			break;
		case 1:
			destroy_table(it);
			break;
		case 2:
			destroy_group(it);
			break;
		case 3:
			delete_entry(it);
			break;
		default:
			set_root(it);
			break;
		}
	}
}

/* Queues with a TIR each, by the prologue's ways. */
static void
make_tirs(struct it *it)
{
	static const uint16_t ops[] = {CRL_CMD_OP_CREATE_RQ, CRL_CMD_OP_CREATE_TIR};
	struct fz none = {NULL, 0};

	fwrig_prologue(it->r, &it->gen, it->uid);
	it->gen.f = &none;
	it->gen.calm = true;
	for (uint32_t t = 0; t < TIRS * 2; t++) {
		uint8_t *out;
		uint32_t op = 0;

		while (gen_ops[op].opcode != ops[t & 1])
			op++;
		gen_command(&it->gen, op, it->uid);
		if (t & 1) {
			uint8_t *tirc = crl_prm_at(it->gen.in, CRL_PRM_CREATE_TIR_IN_CTX);

			crl_prm_set(tirc, CRL_PRM_TIRC_DISP_TYPE, CRL_TIR_DIRECT);
			crl_prm_set(tirc, CRL_PRM_TIRC_INLINE_RQN, it->rqn[t / 2]);
		}
		FZ_MUST(fwrig_run(it->r, &it->gen, it->uid, &out) == 0, "0x%x", ops[t & 1]);
		*(t & 1 ? &it->tirn[t / 2] : &it->rqn[t / 2]) = ref_be32(out + 8) & 0xffffff;
		free(out);
	}
	it->gen.calm = false;
	/* Only what this file makes; the prologue's own table has number 1. */
	it->m.table[1] = (struct table){it->uid == 0, 3, 0};
	it->gen.f = &it->f;
}

/* What an aimed input begins with: frames that are alike, and of a guest tables that lead on. */
static void
aim(struct it *it)
{
	for (uint32_t i = 0; i < 3; i++)
		make_frame(it);
	if (it->uid != 0)
		return;
	while (it->tables < TABLES)
		make_table(it);
	for (uint32_t i = 0; i < TABLES; i++)
		make_group(it);
	for (uint32_t i = 0; i < 6; i++)
		set_entry(it);
	set_root(it);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct it it;
	bool guest;

	memset(&it, 0, sizeof(it));
	it.f = (struct fz){data, size};
	it.aimed = size > 0 && data[0] >= 128;
	guest = fz_u8(&it.f) % 4 != 0;
	it.r = fwrig_begin(guest);
	it.gen.f = &it.f;
	it.gen.kernel = guest;
	it.gen.memory = guest ? RIG_BUS_AT : 0;
	it.gen.memory_bytes = RIG_BUS;
	it.gen.num[SCX_FW_EQ][0] = SCX_EQN;
	if (!guest)
		FZ_MUST(scx_uid_alloc(it.r->nic, &it.uid) == 0, "no uid");
	FZ_MUST(scx_pd_alloc(it.r->nic, it.uid, &it.gen.num[SCX_FW_PD][0]) == 0, "PD");
	FZ_MUST(scx_uar_alloc(it.r->nic, it.uid, &it.gen.num[SCX_FW_UAR][0]) == 0, "UAR");
	FZ_MUST(scx_umem_reg(
			it.r->nic, it.uid, it.r->bus, RIG_BUS, 1, &it.gen.num[SCX_FW_UMEM][0]) == 0,
		"umem");
	make_tirs(&it);
	it.m.group[1] = (struct group){guest, 1, 3, 3, {0}}; /* the prologue's */
	if (it.aimed)
		aim(&it);
	for (unsigned n = 0; it.f.n > 0 && n < 120; n++) {
		one(&it);
		for (uint32_t i = 0; i < it.nr; i++)
			check(&it, i);
	}
	fwrig_end(it.r, false);
	return 0;
}
