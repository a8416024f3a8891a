/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of transport interfaces and receive queue tables: where packets leave from and which
 * queue they end in. Called by cmd.c with a checked mailbox.
 */
#include <stdlib.h>
#include <string.h>

#include "fw.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* ---- TIS ---- */

static const uint32_t tisc_not_offered[] = {
	CRL_PRM_TISC_STRICT_LAG_TX_PORT_AFFINITY,
	CRL_PRM_TISC_TLS_EN,
	CRL_PRM_TISC_LAG_TX_PORT_AFFINITY,
	CRL_PRM_TISC_UNDERLAY_QPN,
	CRL_PRM_TISC_PD,
};

int
scx_cmd_create_tis(struct scx_fw_call *c)
{
	const void *tisc = crl_prm_at(c->in, CRL_PRM_CREATE_TIS_IN_CTX);
	struct scx_fw_obj *obj;

	if (!scx_fw_fields_zero(c, SCX_LAYOUT_TISC, tisc, tisc_not_offered, NR(tisc_not_offered)))
		return -1;
	obj = scx_fw_new(c, SCX_FW_TIS);
	if (obj == NULL)
		return -1;
	if (scx_fw_get_hold(c, obj, SCX_FW_TD, crl_prm_get(tisc, CRL_PRM_TISC_TRANSPORT_DOMAIN)) ==
		NULL) {
		scx_fw_free(c->nic, obj);
		return -1;
	}
	memcpy(obj->ctx, tisc, CRL_PRM_TISC_BYTES);
	crl_prm_set(c->out, CRL_PRM_CREATE_TIS_OUT_TISN, obj->num);
	c->made.num = obj->num;
	return 0;
}

int
scx_cmd_query_tis(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_TIS, crl_prm_get(c->in, CRL_PRM_QUERY_TIS_IN_TISN));

	if (obj == NULL)
		return -1;
	memcpy(crl_prm_at(c->out, CRL_PRM_QUERY_TIS_OUT_TIS_CONTEXT), obj->ctx, CRL_PRM_TISC_BYTES);
	return 0;
}

int
scx_cmd_destroy_tis(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_TIS, CRL_PRM_DESTROY_TIS_IN_TISN);
}

/* ---- RQT ---- */

static int
check_rqt(struct scx_fw_call *c, const void *rqtc, uint32_t max)
{
	uint32_t actual = crl_prm_get(rqtc, CRL_PRM_RQTC_RQT_ACTUAL_SIZE);
	size_t list =
		c->in_bytes - CRL_PRM_CREATE_RQT_IN_BYTES; /* MODIFY_RQT has the same length */

	if (crl_prm_get(rqtc, CRL_PRM_RQTC_LIST_Q_TYPE) != 0)
		return scx_fw_refuse(c, SCX_FW_R_RQT_TYPE, NULL, 0, "list_q_type is %u",
			crl_prm_get(rqtc, CRL_PRM_RQTC_LIST_Q_TYPE));
	if (crl_prm_get(rqtc, CRL_PRM_RQTC_RQ_VHCA_ID_FORMAT) != 0)
		return scx_fw_refuse(
			c, SCX_FW_R_NOT_OFFERED, NULL, 0, "rqtc.rq_vhca_id_format is 1");
	if (actual == 0 || (actual & (actual - 1)) != 0 || actual > max || max > SCX_DP_RQT_LEN)
		return scx_fw_refuse(c, SCX_FW_R_RQT_SIZE, NULL, 0,
			"rqt_actual_size is %u, rqt_max_size %u, the NIC's most %u", actual, max,
			SCX_DP_RQT_LEN);
	if (list < actual * sizeof(uint32_t))
		return scx_fw_refuse(c, SCX_FW_R_IN_SHORT, NULL, 0,
			"a list of %zu bytes for %u queues", list, actual);
	if (list > actual * sizeof(uint32_t))
		return scx_fw_refuse(c, SCX_FW_R_IN_LONG, NULL, 0,
			"a list of %zu bytes for %u queues", list, actual);
	return 0;
}

/* Read the list of queues, tell the data path, and make obj hold them. */
static int
set_rqt(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *rqtc)
{
	uint32_t nr = crl_prm_get(rqtc, CRL_PRM_RQTC_RQT_ACTUAL_SIZE);
	const crl_be32 *in = crl_prm_rqt_list(rqtc);
	struct scx_fw_obj **list = calloc(nr, sizeof(list[0]));
	struct scx_dp_cmd cmd = {.op = SCX_DP_RQT_SET};
	int rc = -1;

	if (list == NULL)
		return scx_fw_refuse(c, SCX_FW_R_FULL, NULL, 0, "no memory for %u entries", nr);
	cmd.u.rqt.rqtn = obj->num;
	cmd.u.rqt.len = nr;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t word = crl_from_be32(in[i]);

		if (word >> 24 != 0) {
			scx_fw_refuse(c, SCX_FW_R_RESERVED, &in[i], 4,
				"entry %u of the list is 0x%08x", i, word);
			goto fail;
		}
		list[i] = scx_fw_get(c, SCX_FW_RQ, word);
		if (list[i] == NULL)
			goto fail;
		cmd.u.rqt.rqn[i] = word;
	}
	rc = scx_fw_tell(c, &cmd);
	if (rc != 0)
		goto fail;
	scx_fw_list_set(obj, list, nr);
	return 0;
fail:
	free(list);
	return rc;
}

int
scx_cmd_create_rqt(struct scx_fw_call *c)
{
	const void *rqtc = crl_prm_at(c->in, CRL_PRM_CREATE_RQT_IN_RQT_CONTEXT);
	struct scx_fw_obj *obj;
	int rc = check_rqt(c, rqtc, crl_prm_get(rqtc, CRL_PRM_RQTC_RQT_MAX_SIZE));

	if (rc != 0)
		return rc;
	obj = scx_fw_new(c, SCX_FW_RQT);
	if (obj == NULL)
		return -1;
	rc = set_rqt(c, obj, rqtc);
	if (rc != 0) {
		scx_fw_free(c->nic, obj);
		return rc;
	}
	memcpy(obj->ctx, rqtc, CRL_PRM_RQTC_BYTES);
	crl_prm_set(c->out, CRL_PRM_CREATE_RQT_OUT_RQTN, obj->num);
	c->made.num = obj->num;
	return 0;
}

int
scx_cmd_modify_rqt(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_RQT, crl_prm_get(c->in, CRL_PRM_MODIFY_RQT_IN_RQTN));
	const void *bits = crl_prm_at(c->in, CRL_PRM_MODIFY_RQT_IN_BITMASK);
	const void *rqtc = crl_prm_at(c->in, CRL_PRM_MODIFY_RQT_IN_CTX);
	int rc;

	if (obj == NULL)
		return -1;
	if (!crl_prm_get(bits, CRL_PRM_RQT_BITMASK_RQN_LIST))
		return scx_fw_refuse(
			c, SCX_FW_R_MODIFY_BITS, bits, 8, "the list of queues is not selected");
	rc = check_rqt(c, rqtc, crl_prm_get(obj->ctx, CRL_PRM_RQTC_RQT_MAX_SIZE));
	if (rc == 0)
		rc = set_rqt(c, obj, rqtc);
	if (rc == 0)
		crl_prm_set(obj->ctx, CRL_PRM_RQTC_RQT_ACTUAL_SIZE, obj->nr_list);
	return rc;
}

int
scx_cmd_query_rqt(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_RQT, crl_prm_get(c->in, CRL_PRM_QUERY_RQT_IN_RQTN));
	void *rqtc = crl_prm_at(c->out, CRL_PRM_QUERY_RQT_OUT_RQT_CONTEXT);
	crl_be32 *out = crl_prm_rqt_list(rqtc);
	size_t room = (c->out_bytes - CRL_PRM_QUERY_RQT_OUT_BYTES) / sizeof(uint32_t);

	if (obj == NULL)
		return -1;
	if (room < obj->nr_list)
		return scx_fw_refuse(c, SCX_FW_R_OUT_SHORT, NULL, 0,
			"room for %zu entries, the table has %u", room, obj->nr_list);
	memcpy(rqtc, obj->ctx, CRL_PRM_RQTC_BYTES);
	for (uint32_t i = 0; i < obj->nr_list; i++)
		out[i] = crl_to_be32(obj->list[i]->num);
	return 0;
}

int
scx_cmd_destroy_rqt(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_RQT, CRL_PRM_DESTROY_RQT_IN_RQTN);
}

/* ---- TIR ---- */

enum { TIR_HOLD_TARGET, TIR_HOLD_TD }; /* places in hold[]; the domain may be absent */

static const uint32_t tirc_not_offered[] = {
	CRL_PRM_TIRC_TLS_EN,
	CRL_PRM_TIRC_LRO_TIMEOUT_PERIOD_USECS,
	CRL_PRM_TIRC_PACKET_MERGE_MASK,
	CRL_PRM_TIRC_LRO_MAX_IP_PAYLOAD_SIZE,
	CRL_PRM_TIRC_TUNNELED_OFFLOAD_EN,
};

static const uint32_t inner_not_offered[] = {
	CRL_PRM_RX_HASH_FIELDS_L3_PROT_TYPE,
	CRL_PRM_RX_HASH_FIELDS_L4_PROT_TYPE,
	CRL_PRM_RX_HASH_FIELDS_SELECTED_FIELDS,
};

static int
check_tir(struct scx_fw_call *c, const void *tirc)
{
	const void *outer = crl_prm_at(tirc, CRL_PRM_TIRC_RX_HASH_FIELD_SELECTOR_OUTER);
	const void *inner = crl_prm_at(tirc, CRL_PRM_TIRC_RX_HASH_FIELD_SELECTOR_INNER);
	uint32_t fields = crl_prm_get(outer, CRL_PRM_RX_HASH_FIELDS_SELECTED_FIELDS);
	uint32_t fn = crl_prm_get(tirc, CRL_PRM_TIRC_RX_HASH_FN);
	uint32_t disp = crl_prm_get(tirc, CRL_PRM_TIRC_DISP_TYPE);

	if (!scx_fw_fields_zero(c, SCX_LAYOUT_TIRC, tirc, tirc_not_offered, NR(tirc_not_offered)) ||
		!scx_fw_fields_zero(c, SCX_LAYOUT_RX_HASH_FIELDS, inner, inner_not_offered,
			NR(inner_not_offered)))
		return -1;
	if (disp != CRL_TIR_DIRECT && disp != CRL_TIR_INDIRECT)
		return scx_fw_refuse(c, SCX_FW_R_TIR_TYPE, NULL, 0, "disp_type is %u", disp);
	/* mlx5_core makes TIRs for IPsec unasked: its flows are told apart by addresses alone. */
	if (c->nic->cfg.guest != NULL && c->uid == 0)
		fields &= ~(uint32_t)CRL_HASH_IPSEC_SPI;
	if (fn > CRL_HASH_TOEPLITZ || fields & ~(uint32_t)(CRL_HASH_IPSEC_SPI - 1))
		return scx_fw_refuse(c, SCX_FW_R_TIR_HASH, NULL, 0,
			"rx_hash_fn is %u, selected_fields 0x%x", fn, fields);
	return 0;
}

/* What a TIR sends packets to: an RQ, or a table of them. */
static struct scx_fw_obj *
target(struct scx_fw_call *c, const void *tirc)
{
	if (crl_prm_get(tirc, CRL_PRM_TIRC_DISP_TYPE) == CRL_TIR_DIRECT)
		return scx_fw_get(c, SCX_FW_RQ, crl_prm_get(tirc, CRL_PRM_TIRC_INLINE_RQN));
	return scx_fw_get(c, SCX_FW_RQT, crl_prm_get(tirc, CRL_PRM_TIRC_INDIRECT_TABLE));
}

static int
tell_tir(struct scx_fw_call *c, uint32_t tirn, const void *tirc)
{
	const void *outer = crl_prm_at(tirc, CRL_PRM_TIRC_RX_HASH_FIELD_SELECTOR_OUTER);
	struct scx_dp_cmd cmd = {.op = SCX_DP_TIR_SET};
	struct scx_dp_tir *tir = &cmd.u.tir;

	tir->tirn = tirn;
	tir->use_rqt = crl_prm_get(tirc, CRL_PRM_TIRC_DISP_TYPE) == CRL_TIR_INDIRECT;
	tir->rqn = crl_prm_get(tirc, CRL_PRM_TIRC_INLINE_RQN);
	tir->rqtn = crl_prm_get(tirc, CRL_PRM_TIRC_INDIRECT_TABLE);
	tir->hash_fn = (uint8_t)crl_prm_get(tirc, CRL_PRM_TIRC_RX_HASH_FN);
	tir->symmetric = (uint8_t)crl_prm_get(tirc, CRL_PRM_TIRC_RX_HASH_SYMMETRIC);
	memcpy(tir->toeplitz_key, crl_prm_at(tirc, CRL_PRM_TIRC_RX_HASH_TOEPLITZ_KEY),
		sizeof(tir->toeplitz_key));
	tir->l3_type = crl_prm_get(outer, CRL_PRM_RX_HASH_FIELDS_L3_PROT_TYPE);
	tir->l4_type = crl_prm_get(outer, CRL_PRM_RX_HASH_FIELDS_L4_PROT_TYPE);
	tir->fields = crl_prm_get(outer, CRL_PRM_RX_HASH_FIELDS_SELECTED_FIELDS) &
		      ~(uint32_t)CRL_HASH_IPSEC_SPI;
	return scx_fw_tell(c, &cmd);
}

static int
fill_tir(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *tirc)
{
	uint32_t td = crl_prm_get(tirc, CRL_PRM_TIRC_TRANSPORT_DOMAIN);
	struct scx_fw_obj *to = target(c, tirc);

	if (to == NULL)
		return -1;
	scx_fw_hold(obj, to); /* TIR_HOLD_TARGET */
	/* 0 is the default domain: net_mlx5 makes its drop TIR in it, before it has one of its own
	 */
	if (td != 0 && scx_fw_get_hold(c, obj, SCX_FW_TD, td) == NULL)
		return -1;
	return tell_tir(c, obj->num, tirc);
}

int
scx_cmd_create_tir(struct scx_fw_call *c)
{
	const void *tirc = crl_prm_at(c->in, CRL_PRM_CREATE_TIR_IN_CTX);
	struct scx_fw_obj *obj;
	int rc = check_tir(c, tirc);

	if (rc != 0)
		return rc;
	obj = scx_fw_new(c, SCX_FW_TIR);
	if (obj == NULL)
		return -1;
	rc = fill_tir(c, obj, tirc);
	if (rc != 0) {
		scx_fw_free(c->nic, obj);
		return rc;
	}
	memcpy(obj->ctx, tirc, CRL_PRM_TIRC_BYTES);
	crl_prm_set(c->out, CRL_PRM_CREATE_TIR_OUT_TIRN, obj->num);
	c->made.num = obj->num;
	return 0;
}

/* The context that results from old when the selected groups of fields come from the command. */
static void
merge_tir(void *tirc, const void *from, const void *bits)
{
	if (crl_prm_get(bits, CRL_PRM_MODIFY_TIR_BITMASK_HASH)) {
		crl_prm_set(
			tirc, CRL_PRM_TIRC_RX_HASH_FN, crl_prm_get(from, CRL_PRM_TIRC_RX_HASH_FN));
		crl_prm_set(tirc, CRL_PRM_TIRC_RX_HASH_SYMMETRIC,
			crl_prm_get(from, CRL_PRM_TIRC_RX_HASH_SYMMETRIC));
		/* Key and selectors stand one after the other. */
		memcpy(crl_prm_at(tirc, CRL_PRM_TIRC_RX_HASH_TOEPLITZ_KEY),
			crl_prm_at(from, CRL_PRM_TIRC_RX_HASH_TOEPLITZ_KEY),
			40 + 2 * CRL_PRM_RX_HASH_FIELDS_BYTES);
	}
	if (crl_prm_get(bits, CRL_PRM_MODIFY_TIR_BITMASK_INDIRECT_TABLE))
		crl_prm_set(tirc, CRL_PRM_TIRC_INDIRECT_TABLE,
			crl_prm_get(from, CRL_PRM_TIRC_INDIRECT_TABLE));
	if (crl_prm_get(bits, CRL_PRM_MODIFY_TIR_BITMASK_SELF_LB_EN))
		crl_prm_set(tirc, CRL_PRM_TIRC_SELF_LB_BLOCK,
			crl_prm_get(from, CRL_PRM_TIRC_SELF_LB_BLOCK));
}

int
scx_cmd_modify_tir(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_TIR, crl_prm_get(c->in, CRL_PRM_MODIFY_TIR_IN_TIRN));
	const void *bits = crl_prm_at(c->in, CRL_PRM_MODIFY_TIR_IN_BITMASK);
	CRL_ALIGNAS(8) uint8_t tirc[CRL_PRM_TIRC_BYTES];
	struct scx_fw_obj *to;
	int rc;

	if (obj == NULL)
		return -1;
	if (crl_prm_get(bits, CRL_PRM_MODIFY_TIR_BITMASK_PACKET_MERGE))
		return scx_fw_refuse(c, SCX_FW_R_MODIFY_BITS, bits, 8, "LRO is not offered");
	memcpy(tirc, obj->ctx, sizeof(tirc));
	merge_tir(tirc, crl_prm_at(c->in, CRL_PRM_MODIFY_TIR_IN_CTX), bits);
	rc = check_tir(c, tirc);
	if (rc != 0)
		return rc;
	to = target(c, tirc);
	if (to == NULL)
		return -1;
	rc = tell_tir(c, obj->num, tirc);
	if (rc != 0)
		return rc;
	scx_fw_rehold(obj, TIR_HOLD_TARGET, to);
	memcpy(obj->ctx, tirc, sizeof(tirc));
	return 0;
}

int
scx_cmd_query_tir(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_TIR, crl_prm_get(c->in, CRL_PRM_QUERY_TIR_IN_TIRN));

	if (obj == NULL)
		return -1;
	memcpy(crl_prm_at(c->out, CRL_PRM_QUERY_TIR_OUT_TIR_CONTEXT), obj->ctx, CRL_PRM_TIRC_BYTES);
	return 0;
}

int
scx_cmd_destroy_tir(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_TIR, CRL_PRM_DESTROY_TIR_IN_TIRN);
}
