/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command interpreter, as the in-process front and as a guest's kernel reach it: commands of
 * every kind with numbers of objects that exist, wrong lengths, wrong bits, by several contexts;
 * rings whose memory the input fills, and steps of the data path between. Nothing may be touched
 * beside what was given, a refusal tells nothing, a context never gets at another's objects, and in
 * the end everything can be taken down.
 */
#include "fwrig.h"

#define UIDS 3u

struct it {
	struct fwrig *r;
	struct fz f;
	bool guest;
	uint16_t uid[UIDS];
	struct gen gen[UIDS]; /* what each context has */
};

static void
umem(struct it *it, uint32_t u)
{
	uint32_t at = fz_below(&it->f, RIG_BUS >> 12) << 12, how = fz_u8(&it->f), id;
	uint32_t bytes = how & 1 ? RIG_BUS - at : fz_u16(&it->f) % (RIG_BUS - at) + 1;
	struct gen *g = &it->gen[u];

	if (how & 2)
		at = 0, bytes = RIG_BUS;
	if (scx_umem_reg(it->r->nic, it->uid[u], it->r->bus + at, bytes, how & 4 ? 0 : 1, &id) == 0)
		g->num[SCX_FW_UMEM][g->next[SCX_FW_UMEM]++ % GEN_NUMBERS] = id;
}

static void
region(struct it *it, uint32_t u)
{
	uint32_t at = fz_u16(&it->f) % RIG_BUS, bytes = fz_u16(&it->f), lkey, rkey;
	uint64_t iova = fz_u64(&it->f);

	if (bytes > RIG_BUS - at)
		bytes = RIG_BUS - at;
	if (scx_mr_reg(it->r->nic, it->uid[u], gen_number(&it->gen[u], SCX_FW_PD), it->r->bus + at,
		    bytes, iova, fz_u8(&it->f), &lkey, &rkey) == 0 &&
		fz_rarely(&it->f, 4))
		FZ_MUST(scx_mr_dereg(it->r->nic, it->uid[u], lkey) == 0, "key 0x%x", lkey);
}

/* An object that a context made is not another's: whoever asks is refused. */
static void
foreign(struct it *it, uint32_t u)
{
	uint32_t other = (u + 1) % UIDS, kind = fz_below(&it->f, SCX_FW_KINDS);
	struct scx_fw_call c = {.nic = it->r->nic, .uid = it->uid[u], .name = "foreign"};
	uint32_t num = it->gen[other].num[kind][0];
	struct scx_fw_obj *o;

	if (it->uid[u] == 0 || it->uid[u] == it->uid[other] || num == 0)
		return;
	o = scx_fw_get(&c, kind, num);
	FZ_MUST(o == NULL || o->uid == it->uid[u], "%s 0x%x is another's", scx_fw_kind_name(kind),
		num);
}

static void
command(struct it *it, uint32_t u)
{
	struct gen *g = &it->gen[u];
	uint8_t *out;

	gen_command(g, gen_pick(&it->f), it->uid[u]);
	if (fwrig_run(it->r, g, it->uid[u], &out) == 0 && g->out_bytes >= 16)
		gen_made(g, out);
	free(out);
}

static void
flow(struct it *it, uint32_t u)
{
	uint8_t mask[192], match[192];
	uint32_t n = fz_rarely(&it->f, 8) ? fz_below(&it->f, 192) : 64, id, at;

	memset(mask, 0, sizeof(mask));
	memset(match, 0, sizeof(match));
	at = fz_below(&it->f, 64);
	mask[at] = fz_u8(&it->f);
	match[at] = mask[at] & fz_u8(&it->f);
	if (scx_flow_add(it->r->nic, it->uid[u], fz_u8(&it->f), mask, match, n, fz_below(&it->f, 4),
		    gen_number(&it->gen[u], SCX_FW_TIR), fz_u8(&it->f), &id) == 0 &&
		fz_rarely(&it->f, 4))
		FZ_MUST(scx_flow_del(it->r->nic, it->uid[u], id) == 0, "rule 0x%x", id);
}

/* The driver's memory and registers. */
static void
memory(struct it *it)
{
	uint32_t at = fz_u16(&it->f) % RIG_BUS, n = 1 + fz_below(&it->f, 64);
	uint64_t v = fz_u64(&it->f);

	if (n > RIG_BUS - at)
		n = RIG_BUS - at;
	fz_bytes(&it->f, it->r->bus + at, n);
	memcpy(it->r->uar + fz_below(&it->f, RIG_UARS) * RIG_UAR_PAGE +
			(fz_u8(&it->f) & 1 ? 0x800 : 0x20),
		&v, 8);
}

static void
one(struct it *it)
{
	uint32_t what = fz_u8(&it->f), u = what >> 6 == 3 ? 0 : what >> 6;

	switch (what & 15u) {
	case 0:
		umem(it, u);
		break;
	case 1:
		region(it, u);
		break;
	case 2:
		foreign(it, u);
		break;
	case 3:
		memory(it);
		break;
	case 4:
		scx_nic_poll(it->r->nic);
		break;
	case 5:
		if (it->guest)
			scx_eq_doorbell(
				it->r->nic, fz_u8(&it->f), fz_u16(&it->f), fz_u8(&it->f) & 1);
		else
			flow(it, u);
		break;
	case 6:
		flow(it, u);
		break;
	default:
		command(it, u);
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct it it;
	uint32_t how;

	memset(&it, 0, sizeof(it));
	it.f = (struct fz){data, size};
	how = fz_u8(&it.f);
	it.guest = how & 1;
	it.r = fwrig_begin(it.guest);
	for (uint32_t u = 0; u < UIDS; u++) {
		struct gen *g = &it.gen[u];

		if (!it.guest || u > 0)
			FZ_MUST(scx_uid_alloc(it.r->nic, &it.uid[u]) == 0, "no uid");
		g->f = &it.f;
		g->kernel = it.guest && u == 0;
		g->memory = g->kernel ? RIG_BUS_AT : 0;
		g->memory_bytes = RIG_BUS;
		g->num[SCX_FW_EQ][0] = SCX_EQN;
		FZ_MUST(scx_pd_alloc(it.r->nic, it.uid[u], &g->num[SCX_FW_PD][0]) == 0, "PD");
		FZ_MUST(scx_uar_alloc(it.r->nic, it.uid[u], &g->num[SCX_FW_UAR][0]) == 0, "UAR");
		FZ_MUST(scx_umem_reg(it.r->nic, it.uid[u], it.r->bus, RIG_BUS, 1,
				&g->num[SCX_FW_UMEM][0]) == 0,
			"umem");
		if (how >> (u + 1) & 1)
			fwrig_prologue(it.r, g, it.uid[u]);
	}
	for (unsigned n = 0; it.f.n > 0 && n < 200; n++)
		one(&it);
	fwrig_end(it.r, how >> 4 == 15);
	return 0;
}
