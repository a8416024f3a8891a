/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command interpreter: finds the command, checks both lengths and every bit that the layout
 * does not know, and only then lets the command look at the mailbox. Called by fronts through
 * scx_cmd(), in any thread; one command at a time.
 */
#include <errno.h>
#include <string.h>

#include "hca.h"

#define OUT_MIN CRL_PRM_ALLOC_PD_OUT_BYTES /* 16: status, syndrome and a number */

struct command {
	uint16_t opcode;
	uint16_t in_bytes, out_bytes; /* of the layouts */
	const char *name;
	enum scx_layout_id in;
	scx_fw_command run;
	enum scx_fw_kind makes; /* SCX_FW_KINDS: not a create command */
	uint8_t list;		/* a list may follow the input layout */
	uint8_t any_op_mod;
	uint8_t guest; /* enum: a command to a NIC that is a PCI device */
	uint8_t least; /* bytes of the layout's first edition, which drivers still send; 0: all */
};

#define GROWN_MAX CRL_PRM_INIT_HCA_IN_BYTES /* of the layouts that have grown */

/* clang-format off */
#define CMD_(OP, L, out, run, makes, list, any) \
	{CRL_CMD_OP_##OP, CRL_PRM_##L##_BYTES, out, #OP, SCX_LAYOUT_##L, \
		run, makes, list, any, 0, 0}
#define KERNEL_(OP, L, out, run, list, any) \
	{CRL_CMD_OP_##OP, CRL_PRM_##L##_BYTES, out, #OP, SCX_LAYOUT_##L, \
		run, SCX_FW_KINDS, list, any, GUEST_KERNEL, 0}
#define KERNEL_GREW(OP, run, least) \
	{CRL_CMD_OP_##OP, CRL_PRM_##OP##_IN_BYTES, CRL_PRM_CMD_OUT_BYTES, #OP, \
		SCX_LAYOUT_##OP##_IN, run, SCX_FW_KINDS, 0, 0, GUEST_KERNEL, least}
#define KERNEL(OP, run) KERNEL_(OP, OP##_IN, CRL_PRM_CMD_OUT_BYTES, run, 0, 0)
#define KERNEL_LIST(OP, run) KERNEL_(OP, OP##_IN, OUT_MIN, run, 1, 1)
#define KERNEL_QUERY(OP, run) KERNEL_(OP, OP##_IN, CRL_PRM_##OP##_OUT_BYTES, run, 0, 1)
#define FOR_USER(OP, run, list) \
	{CRL_CMD_OP_##OP, CRL_PRM_##OP##_IN_BYTES, OUT_MIN, #OP, SCX_LAYOUT_##OP##_IN, \
		run, SCX_FW_KINDS, list, 0, GUEST_FOR_USER, 0}
#define CREATE(OP, run, KIND, list) CMD_(OP, OP##_IN, OUT_MIN, run, SCX_FW_##KIND, list, 0)
#define CMD(OP, run) CMD_(OP, OP##_IN, OUT_MIN, run, SCX_FW_KINDS, 0, 0)
#define QUERY(OP, run) CMD_(OP, OP##_IN, CRL_PRM_##OP##_OUT_BYTES, run, SCX_FW_KINDS, 0, 0)

enum { LIST_PAS = 2 }; /* a list of pages, from a kernel only */
/* From the kernel for itself; also in the name of a user; also for all of them. */
enum { GUEST_KERNEL = 1, GUEST_FOR_USER = 2, GUEST_FOR_ALL = 3 };

static const struct command commands[] = {
	CMD_(QUERY_HCA_CAP, QUERY_HCA_CAP_IN, CRL_PRM_QUERY_HCA_CAP_OUT_BYTES,
		scx_cmd_query_hca_cap, SCX_FW_KINDS, 0, 1),
	QUERY(QUERY_VPORT_STATE, scx_cmd_query_vport_state),
	QUERY(QUERY_NIC_VPORT_CONTEXT, scx_cmd_query_nic_vport),
	CREATE(ALLOC_PD, scx_cmd_alloc_pd, PD, 0),
	CMD(DEALLOC_PD, scx_cmd_dealloc_pd),
	CREATE(ALLOC_UAR, scx_cmd_alloc_uar, UAR, 0),
	CMD(DEALLOC_UAR, scx_cmd_dealloc_uar),
	CREATE(ALLOC_TRANSPORT_DOMAIN, scx_cmd_alloc_td, TD, 0),
	CMD(DEALLOC_TRANSPORT_DOMAIN, scx_cmd_dealloc_td),
	CREATE(ALLOC_Q_COUNTER, scx_cmd_alloc_q_counter, QCOUNTER, 0),
	QUERY(QUERY_Q_COUNTER, scx_cmd_query_q_counter),
	CMD(DEALLOC_Q_COUNTER, scx_cmd_dealloc_q_counter),
	CREATE(CREATE_CQ, scx_cmd_create_cq, CQ, LIST_PAS),
	QUERY(QUERY_CQ, scx_cmd_query_cq),
	CMD(DESTROY_CQ, scx_cmd_destroy_cq),
	CREATE(CREATE_SQ, scx_cmd_create_sq, SQ, LIST_PAS),
	CMD(MODIFY_SQ, scx_cmd_modify_sq),
	QUERY(QUERY_SQ, scx_cmd_query_sq),
	CMD(DESTROY_SQ, scx_cmd_destroy_sq),
	CREATE(CREATE_RQ, scx_cmd_create_rq, RQ, LIST_PAS),
	CMD(MODIFY_RQ, scx_cmd_modify_rq),
	QUERY(QUERY_RQ, scx_cmd_query_rq),
	CMD(DESTROY_RQ, scx_cmd_destroy_rq),
	CREATE(CREATE_TIS, scx_cmd_create_tis, TIS, 0),
	QUERY(QUERY_TIS, scx_cmd_query_tis),
	CMD(DESTROY_TIS, scx_cmd_destroy_tis),
	CREATE(CREATE_RQT, scx_cmd_create_rqt, RQT, 1),
	CMD_(MODIFY_RQT, MODIFY_RQT_IN, OUT_MIN, scx_cmd_modify_rqt, SCX_FW_KINDS, 1, 0),
	QUERY(QUERY_RQT, scx_cmd_query_rqt),
	CMD(DESTROY_RQT, scx_cmd_destroy_rqt),
	CREATE(CREATE_TIR, scx_cmd_create_tir, TIR, 0),
	CMD(MODIFY_TIR, scx_cmd_modify_tir),
	QUERY(QUERY_TIR, scx_cmd_query_tir),
	CMD(DESTROY_TIR, scx_cmd_destroy_tir),
	KERNEL(ENABLE_HCA, scx_cmd_enable_hca),
	KERNEL(DISABLE_HCA, scx_cmd_disable_hca),
	KERNEL_QUERY(QUERY_ISSI, scx_cmd_query_issi),
	KERNEL(SET_ISSI, scx_cmd_set_issi),
	KERNEL_QUERY(QUERY_PAGES, scx_cmd_query_pages),
	KERNEL_LIST(MANAGE_PAGES, scx_cmd_manage_pages),
	KERNEL_(SET_HCA_CAP, SET_HCA_CAP_IN, CRL_PRM_CMD_OUT_BYTES, scx_cmd_set_hca_cap, 0, 1),
	/* libmlx5's VFIO driver knows no sw_owner_id */
	KERNEL_GREW(INIT_HCA, scx_cmd_init_hca, 16),
	KERNEL(TEARDOWN_HCA, scx_cmd_teardown_hca),
	KERNEL_QUERY(QUERY_ADAPTER, scx_cmd_query_adapter),
	KERNEL(SET_DRIVER_VERSION, scx_cmd_set_driver_version),
	KERNEL_(ACCESS_REG, ACCESS_REGISTER_IN, OUT_MIN, scx_cmd_access_reg, 1, 1),
	KERNEL_(MODIFY_NIC_VPORT_CONTEXT, MODIFY_NIC_VPORT_CONTEXT_IN, OUT_MIN,
		scx_cmd_modify_nic_vport, 1, 0),
	KERNEL_(QUERY_VPORT_COUNTER, QUERY_VPORT_COUNTER_IN, OUT_MIN, scx_cmd_query_vport_counter,
		0, 0),
	{CRL_CMD_OP_CREATE_EQ, CRL_PRM_CREATE_EQ_IN_BYTES, OUT_MIN, "CREATE_EQ",
		SCX_LAYOUT_CREATE_EQ_IN, scx_cmd_create_eq, SCX_FW_KINDS, 1, 1, GUEST_FOR_ALL, 0},
	KERNEL_QUERY(QUERY_EQ, scx_cmd_query_eq),
	KERNEL(DESTROY_EQ, scx_cmd_destroy_eq),
	KERNEL_LIST(CREATE_MKEY, scx_cmd_create_mkey),
	KERNEL(DESTROY_MKEY, scx_cmd_destroy_mkey),
	KERNEL_QUERY(QUERY_SPECIAL_CONTEXTS, scx_cmd_query_special_contexts),
	KERNEL_(CREATE_FLOW_TABLE, CREATE_FLOW_TABLE_IN, OUT_MIN, scx_cmd_create_ft, 0, 0),
	KERNEL(MODIFY_FLOW_TABLE, scx_cmd_modify_ft),
	KERNEL(DESTROY_FLOW_TABLE, scx_cmd_destroy_ft),
	KERNEL_(SET_FLOW_TABLE_ROOT, SET_FLOW_TABLE_ROOT_IN, OUT_MIN, scx_cmd_set_ft_root, 0, 1),
	KERNEL_(CREATE_FLOW_GROUP, CREATE_FLOW_GROUP_IN, OUT_MIN, scx_cmd_create_fg, 0, 0),
	KERNEL(DESTROY_FLOW_GROUP, scx_cmd_destroy_fg),
	KERNEL_(SET_FLOW_TABLE_ENTRY, SET_FTE_IN, OUT_MIN, scx_cmd_set_fte, 1, 1),
	KERNEL_(CREATE_UCTX, CREATE_UCTX_IN, OUT_MIN, scx_cmd_create_uctx, 0, 0),
	KERNEL(DESTROY_UCTX, scx_cmd_destroy_uctx),
	FOR_USER(CREATE_UMEM, scx_cmd_create_umem, 1),
	FOR_USER(DESTROY_UMEM, scx_cmd_destroy_umem, 0),
	KERNEL_(QUERY_HCA_VPORT_PKEY, QUERY_HCA_VPORT_PKEY_IN, OUT_MIN, scx_cmd_query_pkey, 0, 0),
	FOR_USER(ALLOC_XRCD, scx_cmd_alloc_xrcd, 0),
	FOR_USER(DEALLOC_XRCD, scx_cmd_dealloc_xrcd, 0),
	KERNEL_(CREATE_XRC_SRQ, CREATE_XRC_SRQ_IN, OUT_MIN, scx_cmd_create_xrc_srq, 1, 0),
	KERNEL(DESTROY_XRC_SRQ, scx_cmd_destroy_xrc_srq),
	KERNEL_(CREATE_RMP, CREATE_RMP_IN, OUT_MIN, scx_cmd_create_rmp, 1, 0),
	KERNEL(DESTROY_RMP, scx_cmd_destroy_rmp),
	KERNEL_(CREATE_QP, CREATE_QP_IN, OUT_MIN, scx_cmd_create_qp, 1, 0),
	KERNEL(DESTROY_QP, scx_cmd_destroy_qp),
	KERNEL_(RST2INIT_QP, RST2INIT_QP_IN, OUT_MIN, scx_cmd_modify_qp, 0, 0),
	KERNEL_(INIT2RTR_QP, RST2INIT_QP_IN, OUT_MIN, scx_cmd_modify_qp, 0, 0),
	KERNEL_(RTR2RTS_QP, RST2INIT_QP_IN, OUT_MIN, scx_cmd_modify_qp, 0, 0),
	KERNEL_(2ERR_QP, DESTROY_QP_IN, CRL_PRM_CMD_OUT_BYTES, scx_cmd_modify_qp, 0, 0),
	KERNEL_(2RST_QP, DESTROY_QP_IN, CRL_PRM_CMD_OUT_BYTES, scx_cmd_modify_qp, 0, 0),
	KERNEL_QUERY(QUERY_QP, scx_cmd_query_qp),
	KERNEL_(DELETE_FLOW_TABLE_ENTRY, DELETE_FTE_IN, OUT_MIN, scx_cmd_delete_fte, 0, 0),
};
/* clang-format on */

static const struct command *
find(uint16_t opcode)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].opcode == opcode)
			return &commands[i];
	return NULL;
}

enum scx_fw_kind
scx_fw_kind_of(uint16_t create_opcode)
{
	const struct command *cmd = find(create_opcode);

	return cmd != NULL ? cmd->makes : SCX_FW_KINDS;
}

bool
scx_fw_fields_zero(struct scx_fw_call *c, enum scx_layout_id id, const void *layout,
	const uint32_t *fields, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t value = crl_prm_get(layout, fields[i]);

		if (value == 0)
			continue;
		scx_fw_refuse(c, SCX_FW_R_NOT_OFFERED,
			(const uint8_t *)layout + crl_prm_off(fields[i]) / 32 * 4, 4,
			"%s.%s is 0x%x", scx_layouts[id].name, scx_layout_field_name(id, fields[i]),
			value);
		return false;
	}
	return true;
}

/*
 * More than the layout: a list where none is, unless it is the driver of a PCI device and all
 * zeros. libmlx5's VFIO driver destroys umems with the length that it creates them with.
 */
static bool
too_long(const struct scx_fw_call *c, const struct command *cmd)
{
	if (c->in_bytes <= cmd->in_bytes)
		return false;
	if (c->nic->cfg.guest == NULL)
		return cmd->list == 0 || cmd->list == LIST_PAS;
	if (cmd->list != 0)
		return false;
	for (size_t i = cmd->in_bytes; i < c->in_bytes; i++)
		if (c->in[i] != 0)
			return true;
	return false;
}

static int
check_lengths(struct scx_fw_call *c, const struct command *cmd)
{
	if (c->in_bytes < (cmd->least != 0 ? cmd->least : cmd->in_bytes))
		return scx_fw_refuse(c, SCX_FW_R_IN_SHORT, c->in, c->in_bytes,
			"input of %zu bytes, the layout has %u", c->in_bytes, cmd->in_bytes);
	if (too_long(c, cmd))
		return scx_fw_refuse(c, SCX_FW_R_IN_LONG, c->in + cmd->in_bytes,
			c->in_bytes - cmd->in_bytes, "input of %zu bytes, the layout has %u",
			c->in_bytes, cmd->in_bytes);
	if (c->out_bytes < cmd->out_bytes)
		return scx_fw_refuse(c, SCX_FW_R_OUT_SHORT, NULL, 0,
			"room for %zu bytes, the answer has %u", c->out_bytes, cmd->out_bytes);
	return 0;
}

static int
run(struct scx_fw_call *c, const struct command *cmd)
{
	uint32_t op_mod = crl_prm_get(c->in, CRL_PRM_CMD_IN_OP_MOD);
	CRL_ALIGNAS(8) uint8_t whole[GROWN_MAX] = {0};
	uint8_t bits;
	int at;
	int rc = check_lengths(c, cmd);

	if (rc != 0)
		return rc;
	if (c->in_bytes < cmd->in_bytes) { /* what a first edition does not have is zero */
		memcpy(whole, c->in, c->in_bytes);
		c->in = whole;
		c->in_bytes = cmd->in_bytes;
	}
	at = scx_layout_reserved(cmd->in, c->in, &bits);
	if (at >= 0)
		return scx_fw_refuse(c, SCX_FW_R_RESERVED, c->in + at / 16 * 16, 16,
			"reserved bits 0x%02x are set in byte 0x%x of the input", bits, at);
	if (op_mod != 0 && !cmd->any_op_mod)
		return scx_fw_refuse(c, SCX_FW_R_OP_MOD, c->in, 8, "op_mod is 0x%x", op_mod);
	return cmd->run(c);
}

/* No command at all: there is no room for opcode or status. */
static bool
mailboxes_ok(const void *in, size_t in_bytes, const void *out, size_t out_bytes)
{
	return in != NULL && out != NULL && (uintptr_t)in % 4 == 0 && (uintptr_t)out % 4 == 0 &&
	       in_bytes >= CRL_PRM_CMD_IN_BYTES && out_bytes >= CRL_PRM_CMD_OUT_BYTES;
}

static bool
may(const struct scx_nic *nic, const struct command *cmd, uint16_t uid)
{
	if (cmd->guest == 0)
		return uid != SCX_UID_SHARED;
	if (nic->cfg.guest == NULL)
		return false;
	switch (cmd->guest) {
	case GUEST_FOR_USER:
		return uid != SCX_UID_SHARED;
	case GUEST_FOR_ALL:
		return uid == 0 || uid == SCX_UID_SHARED;
	default:
		return uid == 0;
	}
}

int
scx_cmd(struct scx_nic *nic, uint16_t uid, const void *in, size_t in_bytes, void *out,
	size_t out_bytes, struct scx_obj *obj)
{
	struct scx_fw_call c = {.nic = nic,
		.uid = uid,
		.name = "command",
		.in = in,
		.in_bytes = in_bytes,
		.out = out,
		.out_bytes = out_bytes};
	const struct command *cmd;
	uint16_t opcode;

	if (!mailboxes_ok(in, in_bytes, out, out_bytes))
		return -EINVAL;
	memset(out, 0, out_bytes);
	opcode = (uint16_t)crl_prm_get(in, CRL_PRM_CMD_IN_OPCODE);
	cmd = find(opcode);
	if (cmd != NULL && !may(nic, cmd, uid))
		cmd = NULL;
	pthread_mutex_lock(&nic->lock);
	if (nic->cfg.guest != NULL && uid != 0 && uid != SCX_UID_SHARED &&
		!scx_fw_uid_known(nic, uid)) {
		scx_fw_refuse(&c, SCX_FW_R_UID, in, 16, "uid %u", uid);
	} else if (cmd == NULL) {
		scx_fw_refuse(&c, SCX_FW_R_OPCODE, in, in_bytes < 64 ? in_bytes : 64,
			"opcode 0x%x is not offered", opcode);
	} else {
		c.name = cmd->name;
		if (run(&c, cmd) != 0)
			memset(out, 0, out_bytes);
		else if (obj != NULL && cmd->makes != SCX_FW_KINDS)
			*obj = (struct scx_obj){.opcode = opcode, .num = c.made.num};
	}
	crl_prm_set(out, CRL_PRM_CMD_OUT_STATUS, c.status);
	crl_prm_set(out, CRL_PRM_CMD_OUT_SYNDROME, c.syndrome);
	pthread_mutex_unlock(&nic->lock);
	if (nic->hca != NULL)
		scx_fw_plan_command(nic);
	return 0;
}

int
scx_obj_destroy(struct scx_nic *nic, uint16_t uid, const struct scx_obj *obj)
{
	struct scx_fw_call c = {.nic = nic, .uid = uid, .name = "object destroy"};
	enum scx_fw_kind kind = scx_fw_kind_of(obj->opcode);
	struct scx_fw_obj *o;
	int rc = -EINVAL;

	if (kind == SCX_FW_KINDS)
		return -EINVAL;
	pthread_mutex_lock(&nic->lock);
	o = scx_fw_get(&c, kind, obj->num);
	if (o != NULL)
		rc = scx_fw_destroy(&c, o) == 0 ? 0 : -EBUSY;
	pthread_mutex_unlock(&nic->lock);
	return rc;
}
