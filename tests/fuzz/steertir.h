/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where rules of the target steer lead to: queues, tables of queues, TIRs that hash and such that
 * do not, made and changed by commands.
 */
#ifndef CRL_FUZZ_STEERTIR_H
#define CRL_FUZZ_STEERTIR_H

#include "steermake.h"

/* The list of a table's queues behind the context; returns its bytes. */
static uint32_t
put_queues(struct it *it, struct ref_rqt *t, uint8_t *in, uint8_t *ctx)
{
	uint32_t how = fz_u8(&it->f);

	t->len = 1u << (how & 3u);
	crl_prm_set(ctx, CRL_PRM_RQTC_RQT_MAX_SIZE, RQT_MAX);
	crl_prm_set(ctx, CRL_PRM_RQTC_RQT_ACTUAL_SIZE, t->len);
	for (uint32_t i = 0; i < t->len; i++) {
		t->rqn[i] = it->m.tir[(how >> 2) * (i + 1u) % 31u % DIRECT].rqn;
		ref_put16(in + i * 4u, t->rqn[i] >> 16);
		ref_put16(in + i * 4u + 2, t->rqn[i]);
	}
	return t->len * 4u;
}

static void
make_rqt(struct it *it, struct ref_rqt *t)
{
	uint8_t *in = command(it);
	uint32_t more = put_queues(it, t, in + CRL_PRM_CREATE_RQT_IN_BYTES,
		crl_prm_at(in, CRL_PRM_CREATE_RQT_IN_RQT_CONTEXT));

	t->num = run(it, CRL_CMD_OP_CREATE_RQT, SCX_LAYOUT_CREATE_RQT_IN, more);
	FZ_MUST(t->num != 0, "no table of queues");
}

static void
modify_rqt(struct it *it)
{
	struct ref_rqt *t = &it->m.rqt[fz_below(&it->f, RQTS)], to = {.num = t->num};
	uint8_t *in = command(it);
	uint32_t more = put_queues(it, &to, in + CRL_PRM_MODIFY_RQT_IN_BYTES,
		crl_prm_at(in, CRL_PRM_MODIFY_RQT_IN_CTX));

	crl_prm_set(in, CRL_PRM_MODIFY_RQT_IN_RQTN, t->num);
	crl_prm_set(crl_prm_at(in, CRL_PRM_MODIFY_RQT_IN_BITMASK), CRL_PRM_RQT_BITMASK_RQN_LIST, 1);
	if (run(it, CRL_CMD_OP_MODIFY_RQT, SCX_LAYOUT_MODIFY_RQT_IN, more) != 0)
		*t = to;
}

/* How the TIR hashes, or not at all. */
static void
put_hash(struct it *it, struct ref_tir *t, uint8_t *tirc)
{
	uint32_t how = fz_u8(&it->f);
	uint8_t *outer = crl_prm_at(tirc, CRL_PRM_TIRC_RX_HASH_FIELD_SELECTOR_OUTER);

	t->fn = how & 1 ? CRL_HASH_TOEPLITZ : how & 2 ? CRL_HASH_XOR8 : CRL_HASH_NONE;
	t->symmetric = how >> 2 & 1;
	t->udp = how >> 3 & 1;
	t->v6 = how >> 4 & 1;
	t->fields = how & 32 ? 15 : fz_below(&it->f, 16);
	fz_pattern(t->key, 40, how >> 6);
	crl_prm_set(tirc, CRL_PRM_TIRC_RX_HASH_FN, t->fn);
	crl_prm_set(tirc, CRL_PRM_TIRC_RX_HASH_SYMMETRIC, t->symmetric);
	memcpy(crl_prm_at(tirc, CRL_PRM_TIRC_RX_HASH_TOEPLITZ_KEY), t->key, 40);
	crl_prm_set(outer, CRL_PRM_RX_HASH_FIELDS_L3_PROT_TYPE, t->v6);
	crl_prm_set(outer, CRL_PRM_RX_HASH_FIELDS_L4_PROT_TYPE, t->udp);
	crl_prm_set(outer, CRL_PRM_RX_HASH_FIELDS_SELECTED_FIELDS, t->fields);
}

static void
make_tir(struct it *it, struct ref_tir *t, const struct ref_rqt *rqt)
{
	uint8_t *in = command(it), *tirc = crl_prm_at(in, CRL_PRM_CREATE_TIR_IN_CTX);

	t->rqt = rqt;
	if (rqt != NULL) {
		put_hash(it, t, tirc);
		crl_prm_set(tirc, CRL_PRM_TIRC_DISP_TYPE, CRL_TIR_INDIRECT);
		crl_prm_set(tirc, CRL_PRM_TIRC_INDIRECT_TABLE, rqt->num);
	} else {
		crl_prm_set(tirc, CRL_PRM_TIRC_INLINE_RQN, t->rqn);
	}
	crl_prm_set(tirc, CRL_PRM_TIRC_TRANSPORT_DOMAIN, it->gen.num[SCX_FW_TD][0]);
	t->num = run(it, CRL_CMD_OP_CREATE_TIR, SCX_LAYOUT_CREATE_TIR_IN, 0);
	FZ_MUST(t->num != 0, "no TIR");
}

static void
modify_tir(struct it *it)
{
	struct ref_tir *t = &it->m.tir[fz_below(&it->f, TIRS)], to = *t;
	uint32_t how = fz_u8(&it->f);
	uint8_t *in = command(it), *tirc = crl_prm_at(in, CRL_PRM_MODIFY_TIR_IN_CTX),
		*bits = crl_prm_at(in, CRL_PRM_MODIFY_TIR_IN_BITMASK);

	crl_prm_set(in, CRL_PRM_MODIFY_TIR_IN_TIRN, t->num);
	crl_prm_set(bits, CRL_PRM_MODIFY_TIR_BITMASK_HASH, how & 3u ? 1 : 0);
	put_hash(it, &to, tirc);
	if (!(how & 3u)) {
		to = *t;
		to.rqt = t->rqt != NULL ? &it->m.rqt[how >> 2 & 1] : NULL;
		crl_prm_set(bits, CRL_PRM_MODIFY_TIR_BITMASK_INDIRECT_TABLE, 1);
		crl_prm_set(tirc, CRL_PRM_TIRC_INDIRECT_TABLE, it->m.rqt[how >> 2 & 1].num);
	}
	if (run(it, CRL_CMD_OP_MODIFY_TIR, SCX_LAYOUT_MODIFY_TIR_IN, 0) != 0)
		*t = to;
}

static void
change_hash(struct it *it)
{
	if (!it->hashed)
		return;
	if (fz_u8(&it->f) & 1)
		modify_rqt(it);
	else
		modify_tir(it);
}

/* Queues with a TIR each, and TIRs that hash over some of them. */
static void
make_tirs(struct it *it)
{
	struct fz none = {NULL, 0};
	uint32_t rq = 0;

	fwrig_prologue(it->r, &it->gen, it->uid);
	/* The prologue's TIR hashes: what that looks at would tell flows apart in all inputs. */
	crl_prm_set(command(it), CRL_PRM_DESTROY_TIR_IN_TIRN, it->gen.num[SCX_FW_TIR][0]);
	FZ_MUST(run(it, CRL_CMD_OP_DESTROY_TIR, SCX_LAYOUT_DESTROY_TIR_IN, 0) != 0, "a TIR stays");
	while (gen_ops[rq].opcode != CRL_CMD_OP_CREATE_RQ)
		rq++;
	it->gen.calm = true;
	for (uint32_t t = 0; t < DIRECT; t++) {
		uint8_t *out;

		it->gen.f = &none;
		gen_command(&it->gen, rq, it->uid);
		FZ_MUST(fwrig_run(it->r, &it->gen, it->uid, &out) == 0, "no queue");
		it->m.tir[t].rqn = ref_be32(out + 8) & 0xffffff;
		free(out);
		make_tir(it, &it->m.tir[t], NULL);
	}
	it->gen.calm = false;
	it->gen.f = &it->f;
	for (uint32_t t = 0; it->hashed && t < RQTS; t++) {
		make_rqt(it, &it->m.rqt[t]);
		make_tir(it, &it->m.tir[DIRECT + t], &it->m.rqt[t]);
	}
	/* Only what this file makes; the prologue's own table has number 1. */
	it->m.table[1] = (struct table){it->uid == 0, 3, 0};
}

#endif /* CRL_FUZZ_STEERTIR_H */
