/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NICs for fuzz targets that speak to the firmware: one with a guest's bus, one without, both made
 * once, because their tables are large, and emptied after each input.
 */
#ifndef CRL_FUZZ_FWRIG_H
#define CRL_FUZZ_FWRIG_H

#include <assert.h>

#include "cmdgen.h"
#include "drivers/softcx/fw/hca.h"

#define RIG_BUS	     (64u << 10)
#define RIG_BUS_AT   0x10000u /* where the bus's memory starts */
#define RIG_VECTORS  4u
#define RIG_UARS     8u
#define RIG_UAR_PAGE 4096u

struct fwrig {
	struct scx_nic *nic;
	uint8_t *bus, *uar;
	struct scx_extents extents;
	uint32_t irqs, mapped;
};

static void *
fwrig_at(void *arg, uint64_t addr, uint64_t bytes)
{
	struct fwrig *r = arg;

	if (addr < RIG_BUS_AT || addr - RIG_BUS_AT > RIG_BUS ||
		bytes > RIG_BUS - (addr - RIG_BUS_AT))
		return NULL;
	return r->bus + (addr - RIG_BUS_AT);
}

/* Pages that follow each other, as they lie; the mapping itself is the PCI front's. */
static void *
fwrig_map(void *arg, const struct scx_pages *want, uint64_t *bytes)
{
	struct fwrig *r = arg;
	uint64_t whole = (uint64_t)want->nr << want->log_page;
	uint8_t *at;

	FZ_MUST(want->nr > 0 && want->from + want->most <= whole && want->least <= want->most,
		"%u pages of 2^%u, from %llu", want->nr, want->log_page,
		(unsigned long long)want->from);
	for (uint32_t i = 1; i < want->nr; i++)
		if (want->page[i] != want->page[i - 1] + (1ull << want->log_page))
			return NULL;
	*bytes = want->most;
	at = fwrig_at(r, want->page[0] + want->from, want->most);
	if (at == NULL) {
		*bytes = want->least;
		at = fwrig_at(r, want->page[0] + want->from, want->least);
	}
	r->mapped += at != NULL;
	return at;
}

static void
fwrig_unmap(void *arg, void *base, uint64_t bytes)
{
	struct fwrig *r = arg;

	FZ_MUST((uint8_t *)base >= r->bus && (uint8_t *)base + bytes <= r->bus + RIG_BUS,
		"not what was mapped");
	FZ_MUST(r->mapped > 0, "unmapped twice");
	r->mapped--;
}

static void *
fwrig_all(void *arg, uint64_t *bytes, const struct scx_extents **holes)
{
	struct fwrig *r = arg;

	*bytes = RIG_BUS_AT + RIG_BUS;
	*holes = &r->extents;
	return (uint8_t *)((uintptr_t)r->bus - RIG_BUS_AT);
}

static void
fwrig_irq(void *arg, uint32_t vector)
{
	struct fwrig *r = arg;

	FZ_MUST(vector < RIG_VECTORS, "vector %u", vector);
	r->irqs++;
}

static inline void
fwrig_make(struct fwrig *r, bool guest)
{
	static struct scx_guest g = {.at = fwrig_at,
		.map = fwrig_map,
		.unmap = fwrig_unmap,
		.all = fwrig_all,
		.irq = fwrig_irq,
		.nr_irqs = RIG_VECTORS,
		.uar_first = 1};
	struct scx_nic_cfg cfg = {.name = "fuzz",
		.seed = 1,
		.mac = {2, 0, 0, 0, 0, 1},
		.mtu = 1500,
		.nr_uar_pages = RIG_UARS};

	r->bus = fz_alloc(4096, RIG_BUS);
	r->uar = fz_alloc(4096, RIG_UARS * RIG_UAR_PAGE);
	r->extents = (struct scx_extents){.nr = 1, .e = {{RIG_BUS_AT, RIG_BUS}}};
	g.arg = r;
	cfg.uar_base = r->uar;
	cfg.guest = guest ? &g : NULL;
	FZ_MUST(scx_log_open("/dev/null") == 0, "the log");
	FZ_MUST(scx_nic_create(&cfg, &r->nic) == 0, "no NIC");
}

/* The NIC of this process, as new. */
static inline struct fwrig *
fwrig_begin(bool guest)
{
	static struct fwrig rigs[2];
	struct fwrig *r = &rigs[guest];

	if (r->nic == NULL)
		fwrig_make(r, guest);
	memset(r->bus, 0, RIG_BUS);
	memset(r->uar, 0, RIG_UARS * RIG_UAR_PAGE);
	return r;
}

static inline uint32_t fwrig_run(struct fwrig *r, struct gen *g, uint16_t uid, uint8_t **answer);

/* One of each kind of object, as a driver starts. */
static inline void
fwrig_prologue(struct fwrig *r, struct gen *g, uint16_t uid)
{
	static const uint16_t first[] = {CRL_CMD_OP_ENABLE_HCA, CRL_CMD_OP_ALLOC_TRANSPORT_DOMAIN,
		CRL_CMD_OP_ALLOC_Q_COUNTER, CRL_CMD_OP_CREATE_EQ, CRL_CMD_OP_CREATE_TIS,
		CRL_CMD_OP_CREATE_CQ, CRL_CMD_OP_CREATE_SQ, CRL_CMD_OP_CREATE_RQ,
		CRL_CMD_OP_CREATE_RQT, CRL_CMD_OP_CREATE_TIR, CRL_CMD_OP_CREATE_MKEY,
		CRL_CMD_OP_CREATE_FLOW_TABLE, CRL_CMD_OP_CREATE_FLOW_GROUP};
	struct fz none = {NULL, 0}, *f = g->f;

	g->f = &none;
	g->calm = true;
	for (uint32_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		uint8_t *out;
		uint32_t op = 0;

		while (gen_ops[op].opcode != first[i])
			op++;
		gen_command(g, op, uid);
		if (fwrig_run(r, g, uid, &out) == 0)
			gen_made(g, out);
		else if (getenv("FZ_VERBOSE") != NULL)
			fprintf(stderr, "prologue: 0x%x: 0x%x, syndrome 0x%x\n", first[i], out[0],
				ref_be32(out + 4));
		free(out);
	}
	g->calm = false;
	g->f = f;
}

/*
 * All objects can be destroyed, and then nothing is left of the input. words: refusals are told
 * anew by the next one, which costs.
 */
static inline void
fwrig_end(struct fwrig *r, bool words)
{
	struct scx_nic *nic = r->nic;
	struct scx_fw_call c = {.nic = nic, .name = "end"};

	if (nic->hca != NULL) {
		nic->hca->ft_root = 0;
		FZ_MUST(scx_fw_ft_compile(&c) == 0, "rules stay");
	}
	for (unsigned uid = 0; uid < SCX_UID_MAX; uid++)
		if (uid < 8 || nic->uid_used[uid])
			scx_uid_destroy(nic, (uint16_t)uid);
	for (unsigned k = 0; k < SCX_FW_KINDS; k++) {
		FZ_MUST(nic->table[k].used == 0, "%u of %s are left", nic->table[k].used,
			scx_fw_kind_name(k));
		nic->table[k].next = nic->table[k].first;
	}
	FZ_MUST(r->mapped == 0, "%u maps are left", r->mapped);
	nic->uid_next = 1;
	nic->mkey_variant = 0;
	nic->cfg.mtu = 1500;
	atomic_store(&nic->link_up, true);
	FZ_MUST(scx_fw_port_set(nic) == 0, "the port");
	if (words) { /* are made again */
		memset(nic->refused, 0, sizeof(nic->refused));
		memset(nic->dp_refused, 0, sizeof(nic->dp_refused));
	}
	if (nic->hca != NULL) {
		memset(nic->hca, 0, sizeof(*nic->hca));
		nic->hca->admin_up = 1;
	}
}

/* A command in blocks of exactly its size. Returns its status; *out is the caller's to free. */
static inline uint32_t
fwrig_run(struct fwrig *r, struct gen *g, uint16_t uid, uint8_t **answer)
{
	uint8_t *in = fz_alloc(8, g->in_bytes), *out = fz_alloc(8, g->out_bytes);
	uint32_t status;

	memcpy(in, g->in, g->in_bytes);
	memset(out, 0xa5, g->out_bytes);
	FZ_MUST(scx_cmd(r->nic, uid, in, g->in_bytes, out, g->out_bytes, NULL) == 0, "no answer");
	FZ_MUST(memcmp(in, g->in, g->in_bytes) == 0, "the command was written to");
	free(in);
	status = out[0];
	for (uint32_t i = 8; status != 0 && i < g->out_bytes; i++)
		FZ_MUST(out[i] == 0, "a refusal tells byte 0x%x", i);
	FZ_MUST(status == 0 ? ref_be32(out + 4) == 0
			    : (ref_be32(out + 4) & 0xffffff00u) == SCX_SYNDROME,
		"status %u, syndrome 0x%x", status, ref_be32(out + 4));
	*answer = out;
	return status;
}

#endif /* CRL_FUZZ_FWRIG_H */
