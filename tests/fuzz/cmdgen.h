/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands for the firmware out of a fuzzer's bytes: right ones, field by field by their names in
 * the PRM's layouts, with numbers of objects that exist; then some bytes changed. So what stands
 * behind the first checks is reached as well.
 */
#ifndef CRL_FUZZ_CMDGEN_H
#define CRL_FUZZ_CMDGEN_H

#include "drivers/softcx/fw/fw.h"
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

enum gen_list { GEN_NOTHING, GEN_PAGES, GEN_QUEUES, GEN_DEST, GEN_REGISTER };
struct gen_op {
	uint16_t opcode;
	uint8_t layout, list, makes; /* makes: SCX_FW_KINDS: nothing */
	uint16_t out;
};

/* clang-format off */
#define GEN_(OP, L, out, list, makes) \
	{CRL_CMD_OP_##OP, SCX_LAYOUT_##L, list, makes, out},
#define GEN_MAKE(OP, kind, list) GEN_(OP, OP##_IN, 16, list, SCX_FW_##kind)
#define GEN_DO(OP) GEN_(OP, OP##_IN, 16, GEN_NOTHING, SCX_FW_KINDS)
#define GEN_ASK(OP) GEN_(OP, OP##_IN, CRL_PRM_##OP##_OUT_BYTES, GEN_NOTHING, SCX_FW_KINDS)
static const struct gen_op gen_ops[] = {
	GEN_MAKE(ALLOC_PD, PD, 0) GEN_MAKE(ALLOC_UAR, UAR, 0)
	GEN_MAKE(ALLOC_TRANSPORT_DOMAIN, TD, 0) GEN_MAKE(ALLOC_Q_COUNTER, QCOUNTER, 0)
	GEN_MAKE(CREATE_TIS, TIS, 0) GEN_MAKE(CREATE_CQ, CQ, GEN_PAGES)
	GEN_MAKE(CREATE_SQ, SQ, GEN_PAGES) GEN_MAKE(CREATE_RQ, RQ, GEN_PAGES)
	GEN_MAKE(CREATE_RQT, RQT, GEN_QUEUES) GEN_MAKE(CREATE_TIR, TIR, 0)
	GEN_MAKE(CREATE_EQ, EQ, GEN_PAGES) GEN_MAKE(CREATE_MKEY, MKEY, GEN_PAGES)
	GEN_MAKE(CREATE_FLOW_TABLE, FT, 0) GEN_MAKE(CREATE_FLOW_GROUP, FG, 0)
	GEN_(SET_FLOW_TABLE_ENTRY, SET_FTE_IN, 16, GEN_DEST, SCX_FW_KINDS)
	GEN_(DELETE_FLOW_TABLE_ENTRY, DELETE_FTE_IN, 16, 0, SCX_FW_KINDS)
	GEN_DO(SET_FLOW_TABLE_ROOT) GEN_DO(MODIFY_FLOW_TABLE)
	GEN_DO(MODIFY_SQ) GEN_DO(MODIFY_RQ) GEN_DO(MODIFY_TIR)
	GEN_(MODIFY_RQT, MODIFY_RQT_IN, 16, GEN_QUEUES, SCX_FW_KINDS)
	GEN_ASK(QUERY_CQ) GEN_ASK(QUERY_SQ) GEN_ASK(QUERY_RQ) GEN_ASK(QUERY_TIS) GEN_ASK(QUERY_TIR)
	GEN_ASK(QUERY_RQT) GEN_ASK(QUERY_EQ) GEN_ASK(QUERY_Q_COUNTER) GEN_ASK(QUERY_HCA_CAP)
	GEN_ASK(QUERY_VPORT_STATE) GEN_ASK(QUERY_NIC_VPORT_CONTEXT) GEN_ASK(QUERY_VPORT_COUNTER)
	GEN_ASK(QUERY_ISSI) GEN_ASK(QUERY_PAGES) GEN_ASK(QUERY_ADAPTER)
	GEN_ASK(QUERY_SPECIAL_CONTEXTS)
	GEN_DO(ENABLE_HCA) GEN_DO(DISABLE_HCA) GEN_DO(SET_ISSI) GEN_DO(INIT_HCA)
	GEN_DO(TEARDOWN_HCA) GEN_DO(SET_DRIVER_VERSION) GEN_DO(SET_HCA_CAP)
	GEN_(MANAGE_PAGES, MANAGE_PAGES_IN, 16, GEN_PAGES, SCX_FW_KINDS)
	GEN_(ACCESS_REG, ACCESS_REGISTER_IN, 16, GEN_REGISTER, SCX_FW_KINDS)
	GEN_DO(MODIFY_NIC_VPORT_CONTEXT)
	GEN_DO(DESTROY_CQ) GEN_DO(DESTROY_SQ) GEN_DO(DESTROY_RQ) GEN_DO(DESTROY_TIS)
	GEN_DO(DESTROY_TIR) GEN_DO(DESTROY_RQT) GEN_DO(DESTROY_EQ) GEN_DO(DESTROY_MKEY)
	GEN_DO(DESTROY_FLOW_TABLE) GEN_DO(DESTROY_FLOW_GROUP) GEN_DO(DEALLOC_PD)
	GEN_DO(DEALLOC_UAR) GEN_DO(DEALLOC_TRANSPORT_DOMAIN) GEN_DO(DEALLOC_Q_COUNTER)
};
/* clang-format on */
#define GEN_OPS (sizeof(gen_ops) / sizeof(gen_ops[0]))

enum gen_how {
	GEN_ZERO,
	GEN_CONST,
	GEN_SMALL,
	GEN_NUM,
	GEN_UMEM,
	GEN_PAGE,
	GEN_RECORD,
	GEN_BITS,
	GEN_ONE_OF
};

/* How a field of that name is filled; what is not here stays zero. */
static const struct {
	const char *name;
	uint8_t how;
	uint32_t arg;
} gen_fields[] = {
	{"pd", GEN_NUM, SCX_FW_PD},
	{"transport_domain", GEN_NUM, SCX_FW_TD},
	{"uar", GEN_NUM, SCX_FW_UAR},
	{"uar_page", GEN_NUM, SCX_FW_UAR},
	{"counter_set_id", GEN_NUM, SCX_FW_QCOUNTER},
	{"cqn", GEN_NUM, SCX_FW_CQ},
	{"sqn", GEN_NUM, SCX_FW_SQ},
	{"rqn", GEN_NUM, SCX_FW_RQ},
	{"inline_rqn", GEN_NUM, SCX_FW_RQ},
	{"rqtn", GEN_NUM, SCX_FW_RQT},
	{"indirect_table", GEN_NUM, SCX_FW_RQT},
	{"tirn", GEN_NUM, SCX_FW_TIR},
	{"tisn", GEN_NUM, SCX_FW_TIS},
	{"tis_num_0", GEN_NUM, SCX_FW_TIS},
	{"tis_lst_sz", GEN_CONST, 1},
	{"c_eqn", GEN_NUM, SCX_FW_EQ},
	{"eq_number", GEN_NUM, SCX_FW_EQ},
	{"mkey_index", GEN_NUM, SCX_FW_MKEY},
	{"table_id", GEN_NUM, SCX_FW_FT},
	{"table_miss_id", GEN_NUM, SCX_FW_FT},
	{"group_id", GEN_NUM, SCX_FW_FG},
	{"dbr_umem_id", GEN_NUM, SCX_FW_UMEM},
	{"wq_umem_id", GEN_NUM, SCX_FW_UMEM},
	{"cq_umem_id", GEN_NUM, SCX_FW_UMEM},
	{"dbr_umem_valid", GEN_UMEM, 0},
	{"wq_umem_valid", GEN_UMEM, 0},
	{"cq_umem_valid", GEN_UMEM, 0},
	{"wq_umem_offset", GEN_PAGE, 0},
	{"cq_umem_offset", GEN_PAGE, 0},
	{"dbr_addr", GEN_RECORD, 0},
	{"wq_type", GEN_CONST, 1},
	{"log_wq_stride", GEN_CONST, 6},
	{"log_wq_sz", GEN_SMALL, 8},
	{"log_cq_size", GEN_SMALL, 8},
	{"log_eq_size", GEN_SMALL, 8},
	{"cc", GEN_BITS, 7},
	{"oi", GEN_BITS, 7},
	{"flush_in_error_en", GEN_SMALL, 2},
	{"allow_multi_pkt_send_wqe", GEN_SMALL, 2},
	{"min_wqe_inline_mode", GEN_SMALL, 4},
	{"vsd", GEN_SMALL, 2},
	{"scatter_fcs", GEN_BITS, 3},
	{"user_index", GEN_SMALL, 256},
	{"rqt_max_size", GEN_CONST, 8},
	{"rqt_actual_size", GEN_CONST, 4},
	{"rqn_list", GEN_CONST, 1},
	{"disp_type", GEN_SMALL, 2},
	{"rx_hash_fn", GEN_SMALL, 3},
	{"rx_hash_symmetric", GEN_SMALL, 2},
	{"l3_prot_type", GEN_SMALL, 2},
	{"l4_prot_type", GEN_SMALL, 2},
	{"hash", GEN_SMALL, 2},
	{"level", GEN_SMALL, 66},
	{"log_size", GEN_SMALL, 6},
	{"table_miss_action", GEN_SMALL, 2},
	{"modify_field_select", GEN_CONST, 1},
	{"start_flow_index", GEN_SMALL, 4},
	{"end_flow_index", GEN_SMALL, 16},
	{"match_criteria_enable", GEN_CONST, 1},
	{"flow_index", GEN_SMALL, 16},
	{"flow_tag", GEN_SMALL, 256},
	{"destination_list_size", GEN_CONST, 1},
	{"modify_enable_mask", GEN_SMALL, 8},
	{"access_mode_1_0", GEN_SMALL, 2},
	{"length64", GEN_BITS, 3},
	{"lw", GEN_SMALL, 2},
	{"mkey_7_0", GEN_SMALL, 256},
	{"start_addr", GEN_RECORD, 0},
	{"len", GEN_RECORD, 0},
	{"intr", GEN_SMALL, 4},
	{"current_issi", GEN_SMALL, 3},
	{"input_num_entries", GEN_SMALL, 8},
	{"clear", GEN_SMALL, 2},
	{"action", GEN_ONE_OF, 3},
	{"mtu", GEN_SMALL, 256},
};
#define GEN_FIELDS (sizeof(gen_fields) / sizeof(gen_fields[0]))

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

/* What follows the layout. */
static inline void
gen_list(struct gen *g)
{
	uint32_t n;

	switch (g->op->list) {
	case GEN_PAGES:
		gen_pages(g);
		break;
	case GEN_QUEUES:
		n = 1u << fz_below(g->f, 4);
		crl_prm_set(crl_prm_at(g->in, g->op->opcode == CRL_CMD_OP_CREATE_RQT
						      ? CRL_PRM_CREATE_RQT_IN_RQT_CONTEXT
						      : CRL_PRM_MODIFY_RQT_IN_CTX),
			CRL_PRM_RQTC_RQT_ACTUAL_SIZE, n);
		for (uint32_t i = 0; i < n; i++, g->in_bytes += 4)
			gen_put32(g, g->in_bytes, gen_number(g, SCX_FW_RQ));
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
	if (g->op->opcode == CRL_CMD_OP_CREATE_TIS)
		crl_prm_set(crl_prm_at(g->in, CRL_PRM_CREATE_TIS_IN_CTX), CRL_PRM_TISC_PD, 0);
	if (g->op->opcode == CRL_CMD_OP_CREATE_MKEY)
		crl_prm_set64(crl_prm_at(g->in, CRL_PRM_CREATE_MKEY_IN_MEMORY_KEY_MKEY_ENTRY),
			CRL_PRM_MKC_LEN, g->calm ? 64 : fz_u16(g->f) % 20000u);
	if (g->op->opcode == CRL_CMD_OP_CREATE_FLOW_TABLE && g->calm)
		crl_prm_set(crl_prm_at(g->in, CRL_PRM_CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT),
			CRL_PRM_FLOW_TABLE_TABLE_MISS_ACTION, 0);
}

/* A command into g->in; op: index into gen_ops. */
static inline void
gen_command(struct gen *g, uint32_t op, uint32_t uid)
{
	uint32_t wrong;

	g->op = &gen_ops[op];
	g->in_bytes = scx_layouts[g->op->layout].bytes;
	g->out_bytes = g->op->out;
	memset(g->in, 0, sizeof(g->in));
	gen_fill(g, g->in, g->op->layout);
	ref_put16(g->in, g->op->opcode);
	ref_put16(g->in + 2, uid);
	if (fz_rarely(g->f, 3))
		ref_put16(g->in + 6, fz_u8(g->f)); /* op_mod */
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
