/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steering: a guest's flow tables, groups and entries made by commands, or a user's rules with
 * priorities, and TIRs that hash; then frames. A plain matcher walks what the commands that went
 * through have made, entry by entry, and says where each frame goes, with which tag and hash.
 * softcx, which makes one list of rules of all tables and remembers results, has to say the same.
 *
 * Most inputs are aimed, because arbitrary names are mostly of nothing and arbitrary masks hit no
 * frame: they name tables, groups and entries that there are, the root leads somewhere, and frames
 * and masks differ in a few bits of three bytes, which bytes these are differs from input to input.
 * An aimed input also goes on where its bytes end, with such as follow from its first ones: so a
 * short one tries as many commands as a long one, and libFuzzer need not grow it first.
 */
#include "drivers/softcx/dp/dp_all.h"
#include "steermake.h"
#include "steertir.h"

#define STREAM 512u /* bytes of an aimed input, its own and those that follow */
#define SEED   5u   /* of them: those that tell what follows */

static void
check(struct it *it, uint32_t i)
{
	struct scx_frame f = {.data = it->frame[i], .len = it->len[i]};
	struct where want = it->uid ? first_rule(&it->m, it->key[i]) : walk(&it->m, it->key[i]);
	const struct ref_tir *tir = NULL;
	const struct scx_target *to;
	struct scx_seen seen;
	uint32_t rqn = 0, hash = 0;
	uint8_t type = 0;

	memcpy(seen.key, it->key[i], 64);
	if (it->len[i] != 0) {
		scx_examine(&seen, &f);
		FZ_MUST(memcmp(seen.key, it->key[i], 64) == 0, "frame %u: the key", i);
	}
	to = scx_steer(it->r->nic->dp, seen.key);
	FZ_MUST(to->dest == want.dest, "frame %u: destination %u, want %u", i, to->dest, want.dest);
	for (uint32_t t = 0; t < TIRS; t++)
		if (want.dest == SCX_FLOW_TIR && it->m.tir[t].num == want.tirn)
			tir = &it->m.tir[t];
	if (tir != NULL) {
		hash = ref_hash(tir, it->key[i], &type);
		rqn = ref_queue(tir, hash);
	}
	FZ_MUST((to->rq == NULL ? 0 : to->rq->q.rqn) == rqn, "frame %u: queue 0x%x, want 0x%x", i,
		to->rq == NULL ? 0 : to->rq->q.rqn, rqn);
	FZ_MUST(to->hash == hash && to->hash_type == type,
		"frame %u: hash 0x%x, type 0x%x, want 0x%x, 0x%x", i, to->hash, to->hash_type, hash,
		type);
	FZ_MUST(want.dest == SCX_FLOW_DEFAULT_MISS || to->flow_tag == (want.tag & 0xffffff),
		"frame %u: tag 0x%x, want 0x%x", i, to->flow_tag, want.tag);
}

/* The headers of another frame, but for a hot bit or two: what rules see, though no frame has it.
 */
static void
make_key(struct it *it, uint32_t i, uint32_t how)
{
	uint32_t of = how % it->nr, h = (how >> 3) % HOT, again = fz_u8(&it->f);
	uint8_t *p = it->key[i];

	it->len[i] = 0;
	memmove(p, it->key[of], 64);
	for (uint32_t n = 0; n < 2; n++, h = again % HOT) {
		uint8_t low = it->bits[h] & (uint8_t)-it->bits[h];
		uint8_t to = (again >> n * 2 & 4u ? low : 0) |
			     (again >> n * 2 & 8u ? it->bits[h] ^ low : 0);

		p[it->hot[h]] = (uint8_t)((p[it->hot[h]] & ~it->bits[h]) | to);
	}
	if ((again & 0xe0) == 0xe0)
		p[again * 7u % 64u] ^= it->known[again * 7u % 64u] & (uint8_t)(1u << (how & 7u));
}

static void
make_frame(struct it *it)
{
	uint32_t i = it->nr < FRAMES ? it->nr++ : fz_below(&it->f, FRAMES);
	uint32_t how = fz_u8(&it->f), of = how % (it->nr ? it->nr : 1);
	struct ref_net net;
	uint8_t *p = it->frame[i];

	if (it->aimed && i > 1 && how < 224) {
		make_key(it, i, how);
		return;
	}
	it->len[i] = STEER_FRAME;
	if (it->aimed && i > 0 && of != i && it->len[of] != 0) {
		memcpy(p, it->frame[of], STEER_FRAME);
		steer_vary(&it->f, p, 1u + (how >> 7));
	} else {
		steer_frame(&it->f, p, how);
	}
	net = ref_parse(p, it->len[i]);
	ref_key(&net, p, it->key[i]);
}

/* Of an input that is not aimed: anything. */
static void
any(struct it *it, uint32_t what)
{
	if (what < 5) {
		make_table(it);
	} else if (what < 8) {
		make_group(it);
	} else if (what < 12) {
		set_entry(it);
	} else {
		switch (fz_below(&it->f, 6)) {
		case 0:
			modify_table(it);
			break;
		case 1:
			remove_table(it, some_table(it));
			break;
		case 2:
			remove_group(it, some_group(it));
			break;
		case 3:
			delete_entry(it);
			break;
		case 4:
			change_hash(it);
			break;
		default:
			set_root(it);
			break;
		}
	}
}

static void
aimed(struct it *it, uint32_t what)
{
	switch (what) {
	case 3:
	case 4:
		delete_entry(it);
		break;
	case 5:
		modify_table(it);
		break;
	case 6:
		if (it->groups < GROUPS)
			make_group(it);
		else
			remove_group(it, some_group(it));
		break;
	case 7:
		raze(it);
		break;
	case 8:
		set_root(it);
		break;
	default:
		set_entry(it);
		break;
	}
}

static void
one(struct it *it)
{
	uint32_t what = fz_below(&it->f, 16);

	if (what < 2 || (!it->aimed && what < 3))
		make_frame(it);
	else if (it->aimed && what == 2)
		change_hash(it);
	else if (it->uid != 0)
		add_rule(it);
	else if (it->aimed)
		aimed(it, what);
	else
		any(it, what);
}

/* What an aimed input begins with: frames that are alike, and of a guest tables that lead on. */
static void
aim(struct it *it)
{
	static const uint8_t often[] = {
		7, 13, 15, 16, 17, 18, 19, 21, 23, 27, 29, 31, 44, 47, 60, 63};

	for (uint32_t h = 0; h < HOT; h++) {
		uint32_t at = fz_u8(&it->f), bits = fz_u8(&it->f);

		at = at & 1 ? often[(at >> 1) % sizeof(often)] : (at >> 1) % 64u;
		it->hot[h] = (uint8_t)(it->known[at] != 0 ? at : 16);
		it->bits[h] = it->known[it->hot[h]] &
			      (uint8_t)(1u << (bits & 7u) | 1u << (bits >> 4 & 7u));
	}
	for (uint32_t i = 0; i < 4; i++)
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

/* The input, and of an aimed one what follows. */
static void
read_input(struct it *it, const uint8_t *data, size_t size)
{
	static uint8_t stream[STREAM];
	uint8_t seed[SEED] = {0};

	it->f = (struct fz){data, size};
	it->aimed = size > 0 && data[0] >= 64;
	if (!it->aimed || size >= STREAM)
		return;
	memcpy(seed, data, size < SEED ? size : SEED);
	fz_pattern(stream, STREAM, ref_be32(seed) * 2654435761u + seed[4]);
	memcpy(stream, data, size);
	it->f = (struct fz){stream, STREAM};
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct it it;
	uint32_t how;
	bool guest;

	memset(&it, 0, sizeof(it));
	read_input(&it, data, size);
	how = fz_u8(&it.f);
	guest = how % 4 != 0;
	it.hashed = how & 4;
	scx_layout_mask(SCX_LAYOUT_MATCH_LYR_2_4, it.known);
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
