/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands for the firmware out of a fuzzer's bytes: right ones, field by field by their names in
 * the PRM's layouts, with numbers of objects that exist; then some bytes changed. So what stands
 * behind the first checks is reached as well.
 */
#ifndef CRL_FUZZ_CMDGEN_H
#define CRL_FUZZ_CMDGEN_H

#include "cmdops.h"
#include "fz.h"
#include "refnet.h"

#define GEN_NUMBERS 4u
#define GEN_IN_MAX  8192u
#define GEN_OUT_MAX 4352u

struct gen {
	struct fz *f;
	uint32_t num[SCX_FW_KINDS][GEN_NUMBERS]; /* of objects made lately; 0: none yet */
	uint32_t next[SCX_FW_KINDS];
	bool calm;		       /* nothing wrong for once */
	bool kernel;		       /* names pages and bus addresses, not umems */
	uint64_t memory, memory_bytes; /* where those may be */
	const struct gen_op *op;
	CRL_ALIGNAS(8) uint8_t in[GEN_IN_MAX];
	uint32_t in_bytes, out_bytes;
};

/* Which of the above each field of each layout is; found once. */
static inline const uint8_t *
gen_names(uint32_t layout)
{
	static uint8_t *names[SCX_LAYOUT_COUNT];
	const struct scx_layout_field *f = scx_layouts[layout].field;
	uint32_t n = 0, i;

	if (names[layout] != NULL)
		return names[layout];
	while (f[n].name != NULL)
		n++;
	names[layout] = calloc(n + 1, 1);
	FZ_MUST(names[layout] != NULL, "memory");
	for (uint32_t k = 0; k < n; k++) {
		for (i = 0; i < GEN_FIELDS && strcmp(gen_fields[i].name, f[k].name) != 0; i++)
			;
		names[layout][k] = (uint8_t)(i < GEN_FIELDS ? i + 1 : 0);
	}
	return names[layout];
}

static inline uint32_t
gen_number(struct gen *g, uint32_t kind)
{
	uint32_t how = g->calm ? 0 : fz_u8(g->f), n = g->num[kind][how % GEN_NUMBERS];

	if (n == 0)
		n = g->num[kind][0];
	return how >= 250 ? fz_u32(g->f) & 0xffffff : n;
}

static inline uint64_t
gen_value(struct gen *g, uint32_t rule)
{
	uint32_t arg = gen_fields[rule].arg;
	uint64_t base = g->kernel ? g->memory : 0, nr = (uint64_t)(g->op - gen_ops);

	if (g->calm && gen_fields[rule].how == GEN_SMALL)
		return arg > 3 ? 3 : arg - 1;
	if (g->calm && gen_fields[rule].how == GEN_PAGE)
		return (nr << 12) % g->memory_bytes;
	if (g->calm && gen_fields[rule].how == GEN_RECORD)
		return base + g->memory_bytes - 4096 + nr * 16 % 4096;
	switch (gen_fields[rule].how) {
	case GEN_CONST:
		return arg;
	case GEN_SMALL:
		return fz_u8(g->f) % arg;
	case GEN_BITS:
		return fz_u8(g->f) % arg == arg - 1;
	case GEN_ONE_OF:
		return 1u << fz_u8(g->f) % arg;
	case GEN_NUM:
		return gen_number(g, arg);
	case GEN_UMEM:
		return !g->kernel;
	case GEN_PAGE:
		return (uint64_t)fz_below(g->f, (uint32_t)(g->memory_bytes >> 12)) << 12;
	case GEN_RECORD:
		return base + (fz_u16(g->f) * 8u) % g->memory_bytes;
	}
	return 0;
}

static inline void
gen_fill(struct gen *g, uint8_t *at, uint32_t layout)
{
	const uint8_t *names = gen_names(layout);
	const struct scx_layout_field *f = scx_layouts[layout].field;

	for (; f->name != NULL; f++, names++) {
		uint32_t field = (uint32_t)f->off << 16 | f->bits;
		uint64_t v;

		if (f->sub >= 0) {
			gen_fill(g, at + f->off / 8, (uint32_t)f->sub);
			continue;
		}
		if (*names == 0)
			continue;
		v = gen_value(g, *names - 1u);
		if (f->bits == 64)
			crl_prm_set64(at, field, v);
		else if (f->bits <= 32)
			crl_prm_set(at, field, (uint32_t)(v & ((1ull << f->bits) - 1)));
	}
}

static inline void
gen_put32(struct gen *g, uint32_t at, uint32_t v)
{
	ref_put16(g->in + at, v >> 16);
	ref_put16(g->in + at + 2, v);
}

static inline void
gen_pages(struct gen *g)
{
	uint64_t at = g->calm ? (uint64_t)(g->op - gen_ops) : fz_u8(g->f);
	uint64_t page = g->memory + (at << 12) % g->memory_bytes;
	uint32_t nr = 1 + fz_below(g->f, 12), step = fz_rarely(g->f, 4) ? fz_u32(g->f) : 4096;

	if (!g->kernel)
		return;
	for (uint32_t i = 0; i < nr; i++, page += step, g->in_bytes += 8) {
		gen_put32(g, g->in_bytes, (uint32_t)(page >> 32));
		gen_put32(g, g->in_bytes + 4, (uint32_t)page);
	}
	if (g->op->opcode == CRL_CMD_OP_CREATE_UMEM) {
		crl_prm_set64(crl_prm_at(g->in, CRL_PRM_CREATE_UMEM_IN_UMEM),
			CRL_PRM_UMEM_NUM_OF_MTT, nr);
		g->in[CRL_PRM_CREATE_UMEM_IN_BYTES + 7] |=
			fz_rarely(g->f, 8) ? 0 : 3; /* read, write */
	}
	if (g->op->opcode == CRL_CMD_OP_CREATE_MKEY)
		crl_prm_set(crl_prm_at(g->in, CRL_PRM_CREATE_MKEY_IN_MEMORY_KEY_MKEY_ENTRY),
			CRL_PRM_MKC_LOG_PAGE_SIZE, 12 + fz_u8(g->f) / 240u);
}

static inline void
gen_register(struct gen *g)
{
	static const uint16_t ids[] = {0x5003, 0x5004, 0x5006, 0x5007, 0x5008, 0x7004};
	static const uint16_t bytes[] = {16, 64, 16, 32, 256, 16};
	uint32_t i = fz_below(g->f, 6), how = fz_u8(g->f);

	ref_put16(g->in + 10, ids[i]);
	ref_put16(g->in + 6, how & 1);
	fz_bytes(g->f, g->in + 16, how & 2 ? 4 : 0);
	g->in_bytes += bytes[i];
	g->out_bytes += how & 4 ? bytes[i] : fz_u8(g->f);
	if (how & 8)
		gen_put32(g, 16 + fz_below(g->f, 3) * 4, 90 + fz_u16(g->f) % 16400u);
}

static inline void
gen_rqt(struct gen *g, uint32_t max, uint32_t nr)
{
	uint8_t *ctx = crl_prm_at(g->in, g->op->opcode == CRL_CMD_OP_CREATE_RQT
						 ? CRL_PRM_CREATE_RQT_IN_RQT_CONTEXT
						 : CRL_PRM_MODIFY_RQT_IN_CTX);

	crl_prm_set(ctx, CRL_PRM_RQTC_RQT_MAX_SIZE, max);
	crl_prm_set(ctx, CRL_PRM_RQTC_RQT_ACTUAL_SIZE, nr);
}

/* What follows the layout. */
static inline void
gen_list(struct gen *g)
{
	uint32_t n, how, num = 0;

	switch (g->op->list) {
	case GEN_PAGES:
		gen_pages(g);
		break;
	case GEN_QUEUES:
		how = fz_u8(g->f);
		n = 1u << (how >= 240 ? how & 7u : how & 3u); /* or more than there is room for */
		gen_rqt(g, how >= 240 ? 128 : 8, how >> 4 == 14 ? n << 1 : n);
		for (uint32_t i = 0; i < n; i++, g->in_bytes += 4) {
			num = i < 8 || i % 32 == 0 ? gen_number(g, SCX_FW_RQ) : num;
			gen_put32(g, g->in_bytes, num);
		}
		break;
	case GEN_DEST:
		n = fz_below(g->f, 3);
		gen_put32(g, g->in_bytes,
			n == 0 ? 1u << 24 | gen_number(g, SCX_FW_FT)
			       : 2u << 24 | gen_number(g, SCX_FW_TIR));
		g->in_bytes += 8;
		break;
	case GEN_REGISTER:
		gen_register(g);
		break;
	}
}

/* Match criteria, values and keys are bytes: some of them. */
static inline void
gen_bytes(struct gen *g)
{
	uint32_t at = g->op->opcode == CRL_CMD_OP_CREATE_FLOW_GROUP	 ? 0x40
		      : g->op->opcode == CRL_CMD_OP_SET_FLOW_TABLE_ENTRY ? 0x80
		      : g->op->opcode == CRL_CMD_OP_CREATE_EQ		 ? 0x58
									 : 0;
	uint32_t nr = fz_below(g->f, 4);

	for (uint32_t i = 0; at != 0 && i < nr; i++) {
		uint32_t where = fz_below(g->f, 64);

		g->in[at + where] = fz_u8(g->f);
	}
}

/* Where states go from and to. */
static inline void
gen_states(struct gen *g)
{
	static const uint8_t from_to[][2] = {
		{0, 1}, {0, 1}, {1, 3}, {3, 0}, {1, 0}, {1, 1}, {3, 1}};
	const uint8_t *s = from_to[fz_below(g->f, 7)];

	if (g->op->opcode == CRL_CMD_OP_MODIFY_SQ) {
		crl_prm_set(g->in, CRL_PRM_MODIFY_SQ_IN_SQ_STATE, s[0]);
		crl_prm_set(crl_prm_at(g->in, CRL_PRM_MODIFY_SQ_IN_CTX), CRL_PRM_SQC_STATE, s[1]);
	} else if (g->op->opcode == CRL_CMD_OP_MODIFY_RQ) {
		crl_prm_set(g->in, CRL_PRM_MODIFY_RQ_IN_RQ_STATE, s[0]);
		crl_prm_set(crl_prm_at(g->in, CRL_PRM_MODIFY_RQ_IN_CTX), CRL_PRM_RQC_STATE, s[1]);
		if (fz_rarely(g->f, 4))
			crl_prm_set64(
				g->in, CRL_PRM_MODIFY_RQ_IN_MODIFY_BITMASK, CRL_MODIFY_RQ_VSD);
	}
}

/* What the names alone do not say: fields that are zero in one place only. */
static inline void
gen_tame(struct gen *g)
{
	uint8_t *tirc = g->op->opcode == CRL_CMD_OP_CREATE_TIR
				? crl_prm_at(g->in, CRL_PRM_CREATE_TIR_IN_CTX)
			: g->op->opcode == CRL_CMD_OP_MODIFY_TIR
				? crl_prm_at(g->in, CRL_PRM_MODIFY_TIR_IN_CTX)
				: NULL;

	if (!g->calm && fz_rarely(g->f, 16))
		return;
	if (tirc != NULL) {
		memset(crl_prm_at(tirc, CRL_PRM_TIRC_RX_HASH_FIELD_SELECTOR_INNER), 0, 4);
		crl_prm_set(crl_prm_at(tirc, CRL_PRM_TIRC_RX_HASH_FIELD_SELECTOR_OUTER),
			CRL_PRM_RX_HASH_FIELDS_SELECTED_FIELDS, g->calm ? 15 : fz_u8(g->f) & 31);
	}
	if (g->op->opcode == CRL_CMD_OP_CREATE_RMP) {
		uint8_t *rmpc = crl_prm_at(g->in, CRL_PRM_CREATE_RMP_IN_CTX);

		crl_prm_set(rmpc, CRL_PRM_RMPC_STATE, CRL_Q_STATE_RDY);
		crl_prm_set(
			crl_prm_at(rmpc, CRL_PRM_RMPC_WQ), CRL_PRM_WQ_WQ_TYPE, CRL_WQ_LINKED_LIST);
	}
	if (g->op->opcode == CRL_CMD_OP_MANAGE_PAGES && !g->calm)
		ref_put16(g->in + 6, 1u + (fz_u8(g->f) & 1)); /* given, taken back */
	if (g->op->opcode == CRL_CMD_OP_CREATE_QP)
		crl_prm_set(crl_prm_at(g->in, CRL_PRM_CREATE_QP_IN_QPC), CRL_PRM_QPC_ST, 0x0c);
	if (g->op->opcode == CRL_CMD_OP_CREATE_TIS)
		crl_prm_set(crl_prm_at(g->in, CRL_PRM_CREATE_TIS_IN_CTX), CRL_PRM_TISC_PD, 0);
	if (g->op->opcode == CRL_CMD_OP_CREATE_MKEY)
		crl_prm_set64(crl_prm_at(g->in, CRL_PRM_CREATE_MKEY_IN_MEMORY_KEY_MKEY_ENTRY),
			CRL_PRM_MKC_LEN, g->calm ? 64 : fz_u16(g->f) % 20000u);
	if (g->op->opcode == CRL_CMD_OP_CREATE_FLOW_TABLE && g->calm)
		crl_prm_set(crl_prm_at(g->in, CRL_PRM_CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT),
			CRL_PRM_FLOW_TABLE_TABLE_MISS_ACTION, 0);
}

/* Index into gen_ops. */
static inline uint32_t
gen_pick(struct fz *f)
{
	uint32_t v = fz_u8(f);

	return v < 256u - 2 * GEN_MORE ? v % GEN_FIRST : GEN_FIRST + v % GEN_MORE;
}

/* A command into g->in; op: index into gen_ops. */
static inline void
gen_command(struct gen *g, uint32_t op, uint32_t uid)
{
	uint32_t wrong, mod;

	g->op = &gen_ops[op];
	g->in_bytes = scx_layouts[g->op->layout].bytes;
	g->out_bytes = g->op->out;
	memset(g->in, 0, sizeof(g->in));
	gen_fill(g, g->in, g->op->layout);
	ref_put16(g->in, g->op->opcode);
	ref_put16(g->in + 2, uid);
	if (fz_rarely(g->f, 3)) {
		mod = fz_u8(g->f);
		ref_put16(g->in + 6, mod & 0x80 ? mod & 3u : mod); /* op_mod */
	}
	gen_tame(g);
	gen_states(g);
	gen_bytes(g);
	gen_list(g);
	wrong = fz_u8(g->f);
	for (uint32_t i = 0; i < (wrong & 3u) && wrong & 0x80; i++) {
		uint32_t where = fz_u16(g->f) % g->in_bytes;

		g->in[where] ^= fz_u8(g->f);
	}
	if ((wrong & 0x7c) == 0x7c) {
		g->in_bytes = 8 + fz_u16(g->f) % (GEN_IN_MAX / 2) / 4 * 4;
		g->out_bytes = 8 + fz_u16(g->f) % GEN_OUT_MAX / 4 * 4;
	}
}

/* A command went through: remember what it made. */
static inline void
gen_made(struct gen *g, const uint8_t *out)
{
	uint32_t kind = g->op->makes;

	if (kind != SCX_FW_KINDS)
		g->num[kind][g->next[kind]++ % GEN_NUMBERS] = ref_be32(out + 8) & 0xffffff;
}

#endif /* CRL_FUZZ_CMDGEN_H */
