/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ACCESS_REG, the registers of the port, and the vport context as a kernel's driver changes it.
 * Called by cmd.c with a checked mailbox, for a guest's kernel only. The register's bytes follow
 * the input and the output layout.
 */
#include <string.h>

#include "hca.h"

enum {
	REG_PMTU = 0x5003,
	REG_PTYS = 0x5004,
	REG_PAOS = 0x5006,
	REG_PFCC = 0x5007,
	REG_PPCNT = 0x5008,
	REG_NODE_DESC = 0x6001,
	REG_HOST_ENDIANNESS = 0x7004,
};
enum { REG_WRITE = 0, REG_QUERY = 1 }; /* op_mod */
enum { PAOS_UP = 1, PAOS_DOWN = 2 };   /* admin_status, oper_status */
#define SPEED_100G   (1u << 23)	       /* of eth_proto_*: 100GBASE-LR4 */
#define PTYS_ETH     4u		       /* proto_mask */
#define PPCNT_802_3  0u		       /* grp */
#define PPCNT_VALUES 8u		       /* where the counters start */

struct reg {
	struct scx_fw_call *c;
	const uint8_t *in;
	uint8_t *out;
	bool query;
};

static int
pmtu(struct reg *r)
{
	struct scx_nic *nic = r->c->nic;
	uint32_t mtu = crl_prm_get(r->in, CRL_PRM_PMTU_REG_ADMIN_MTU);

	if (!r->query) {
		if (mtu < SCX_MTU_MIN + SCX_HARD_MTU || mtu > SCX_HW_MTU_MAX)
			return scx_fw_refuse(r->c, SCX_FW_R_REGISTER_VALUE, r->in, 16,
				"admin_mtu is %u, %u to %u are offered", mtu,
				SCX_MTU_MIN + SCX_HARD_MTU, SCX_HW_MTU_MAX);
		nic->cfg.mtu = mtu - SCX_HARD_MTU;
		return scx_fw_port_set(nic) == 0 ? 0
						 : scx_fw_refuse(r->c, SCX_FW_R_FULL, NULL, 0,
							   "the data path did not take the MTU");
	}
	crl_prm_set(r->out, CRL_PRM_PMTU_REG_LOCAL_PORT, 1);
	crl_prm_set(r->out, CRL_PRM_PMTU_REG_MAX_MTU, SCX_HW_MTU_MAX);
	crl_prm_set(r->out, CRL_PRM_PMTU_REG_ADMIN_MTU, nic->cfg.mtu + SCX_HARD_MTU);
	crl_prm_set(r->out, CRL_PRM_PMTU_REG_OPER_MTU, nic->cfg.mtu + SCX_HARD_MTU);
	return 0;
}

static int
ptys(struct reg *r)
{
	if (!r->query) {
		if (crl_prm_get(r->in, CRL_PRM_PTYS_REG_ETH_PROTO_ADMIN) & ~SPEED_100G)
			return scx_fw_refuse(r->c, SCX_FW_R_REGISTER_VALUE, r->in, 32,
				"eth_proto_admin is 0x%x, 0x%x is offered",
				crl_prm_get(r->in, CRL_PRM_PTYS_REG_ETH_PROTO_ADMIN), SPEED_100G);
		return 0;
	}
	crl_prm_set(r->out, CRL_PRM_PTYS_REG_LOCAL_PORT, 1);
	crl_prm_set(r->out, CRL_PRM_PTYS_REG_PROTO_MASK, PTYS_ETH);
	crl_prm_set(r->out, CRL_PRM_PTYS_REG_ETH_PROTO_CAPABILITY, SPEED_100G);
	crl_prm_set(r->out, CRL_PRM_PTYS_REG_ETH_PROTO_ADMIN, SPEED_100G);
	if (atomic_load(&r->c->nic->link_up))
		crl_prm_set(r->out, CRL_PRM_PTYS_REG_ETH_PROTO_OPER, SPEED_100G);
	return 0;
}

/* The port is up when the driver wants it; what is at the other end of the wire has no say. */
static int
paos(struct reg *r)
{
	struct scx_nic *nic = r->c->nic;
	uint32_t want = crl_prm_get(r->in, CRL_PRM_PAOS_REG_ADMIN_STATUS);

	if (!r->query) {
		struct scx_event ev = {.type = SCX_EVENT_PORT_CHANGE, .obj = 1};

		if (want != PAOS_UP && want != PAOS_DOWN)
			return scx_fw_refuse(r->c, SCX_FW_R_REGISTER_VALUE, r->in, 16,
				"admin_status is %u", want);
		nic->hca->admin_up = want == PAOS_UP;
		if (atomic_exchange(&nic->link_up, want == PAOS_UP) == (want == PAOS_UP))
			return 0;
		if (scx_fw_port_set(nic) != 0)
			return scx_fw_refuse(r->c, SCX_FW_R_FULL, NULL, 0,
				"the data path did not take the link's state");
		ev.subtype = want == PAOS_UP ? SCX_EVENT_PORT_ACTIVE : SCX_EVENT_PORT_DOWN;
		scx_fw_event(nic, &ev);
		return 0;
	}
	crl_prm_set(r->out, CRL_PRM_PAOS_REG_LOCAL_PORT, 1);
	crl_prm_set(
		r->out, CRL_PRM_PAOS_REG_ADMIN_STATUS, nic->hca->admin_up ? PAOS_UP : PAOS_DOWN);
	crl_prm_set(r->out, CRL_PRM_PAOS_REG_OPER_STATUS,
		atomic_load(&nic->link_up) ? PAOS_UP : PAOS_DOWN);
	return 0;
}

/* Pause frames: the settings are kept; no wire of ours ever asks for a pause. */
static int
pfcc(struct reg *r)
{
	if (!r->query) {
		r->c->nic->hca->pptx = (uint8_t)crl_prm_get(r->in, CRL_PRM_PFCC_REG_PPTX);
		r->c->nic->hca->pprx = (uint8_t)crl_prm_get(r->in, CRL_PRM_PFCC_REG_PPRX);
		return 0;
	}
	crl_prm_set(r->out, CRL_PRM_PFCC_REG_LOCAL_PORT, 1);
	crl_prm_set(r->out, CRL_PRM_PFCC_REG_PPTX, r->c->nic->hca->pptx);
	crl_prm_set(r->out, CRL_PRM_PFCC_REG_PPRX, r->c->nic->hca->pprx);
	return 0;
}

/* IEEE 802.3 counters; a group that this NIC counts nothing for reads as zeros. */
static int
ppcnt(struct reg *r)
{
	struct scx_dp_stats s;

	if (!r->query) /* there is no room for counters in the answer, and nothing to set */
		return scx_fw_refuse(r->c, SCX_FW_R_REGISTER_VALUE, r->in, 16,
			"port counters are read, and cleared by nobody");
	if (crl_prm_get(r->in, CRL_PRM_PPCNT_REG_LOCAL_PORT) != 1)
		return scx_fw_refuse(r->c, SCX_FW_R_REGISTER_VALUE, r->in, 16, "local_port is %u",
			crl_prm_get(r->in, CRL_PRM_PPCNT_REG_LOCAL_PORT));
	memcpy(r->out, r->in, PPCNT_VALUES);
	if (crl_prm_get(r->in, CRL_PRM_PPCNT_REG_GRP) != PPCNT_802_3)
		return 0;
	if (scx_fw_stats(r->c->nic, &s) != 0)
		return scx_fw_refuse(r->c, SCX_FW_R_FULL, NULL, 0, "the data path does not answer");
	r->out += PPCNT_VALUES;
	crl_prm_set64(r->out, 64, s.tx_frames);
	crl_prm_set64(r->out + 0x08, 64, s.rx_wire);
	crl_prm_set64(r->out + 0x20, 64, s.tx_bytes);
	crl_prm_set64(r->out + 0x28, 64, s.rx_bytes);
	return 0;
}

/* 64 bytes of text that an administrator may change. */
static int
node_desc(struct reg *r)
{
	char *desc = r->c->nic->hca->node_desc;

	if (r->query)
		memcpy(r->out, desc, SCX_NODE_DESC_BYTES);
	else
		memcpy(desc, r->in, SCX_NODE_DESC_BYTES);
	return 0;
}

/* The host says how it stores integers; the bytes on the bus are the PRM's either way. */
static int
endianness(struct reg *r)
{
	if (r->query)
		memset(r->out, 0, 16);
	return 0;
}

static const struct {
	uint32_t id, bytes;
	int (*run)(struct reg *r);
} regs[] = {
	{REG_PMTU, CRL_PRM_PMTU_REG_BYTES, pmtu},
	{REG_PTYS, CRL_PRM_PTYS_REG_BYTES, ptys},
	{REG_PAOS, CRL_PRM_PAOS_REG_BYTES, paos},
	{REG_PFCC, CRL_PRM_PFCC_REG_BYTES, pfcc},
	{REG_PPCNT, CRL_PRM_PPCNT_REG_BYTES, ppcnt},
	{REG_NODE_DESC, SCX_NODE_DESC_BYTES, node_desc},
	{REG_HOST_ENDIANNESS, 16, endianness},
};

int
scx_cmd_access_reg(struct scx_fw_call *c)
{
	uint32_t id = crl_prm_get(c->in, CRL_PRM_ACCESS_REGISTER_IN_REGISTER_ID);
	uint32_t op = crl_prm_get(c->in, CRL_PRM_CMD_IN_OP_MOD);
	size_t in = c->in_bytes - CRL_PRM_ACCESS_REGISTER_IN_BYTES;
	size_t out = c->out_bytes - CRL_PRM_ACCESS_REGISTER_OUT_BYTES;
	struct reg r = {.c = c,
		.in = c->in + CRL_PRM_ACCESS_REGISTER_IN_BYTES,
		.out = c->out + CRL_PRM_ACCESS_REGISTER_OUT_BYTES,
		.query = op == REG_QUERY};

	if (op > REG_QUERY)
		return scx_fw_refuse(c, SCX_FW_R_OP_MOD, c->in, 8, "op_mod is 0x%x", op);
	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		if (regs[i].id != id)
			continue;
		if (in < regs[i].bytes)
			return scx_fw_refuse(c, SCX_FW_R_IN_SHORT, NULL, 0,
				"%zu bytes of register 0x%x, which has %u", in, id, regs[i].bytes);
		if (r.query && out < regs[i].bytes)
			return scx_fw_refuse(c, SCX_FW_R_OUT_SHORT, NULL, 0,
				"room for %zu bytes of register 0x%x, which has %u", out, id,
				regs[i].bytes);
		return regs[i].run(&r);
	}
	return scx_fw_refuse(c, SCX_FW_R_REGISTER, c->in, 16, "register 0x%x is not offered", id);
}

/* ---- the vport ---- */

static const uint32_t select_not_offered[] = {
	CRL_PRM_NIC_VPORT_SELECT_MIN_INLINE,
	CRL_PRM_NIC_VPORT_SELECT_NODE_GUID,
	CRL_PRM_NIC_VPORT_SELECT_PORT_GUID,
	CRL_PRM_NIC_VPORT_SELECT_AFFILIATION,
};

/*
 * Lists of addresses and promiscuous modes say what a switch in the NIC would let through to this
 * vport. There is none: every frame of the wire meets the flow tables, which is what a port that
 * stands alone on a cable sees with all of them set. RoCE is turned on where its capability is set
 * alone, as cards do it (tests/corpus/commands.txt, roce-off); it is read back, and no frame
 * depends on it.
 */
int
scx_cmd_modify_nic_vport(struct scx_fw_call *c)
{
	const void *sel = crl_prm_at(c->in, CRL_PRM_MODIFY_NIC_VPORT_CONTEXT_IN_FIELD_SELECT);
	const void *ctx = crl_prm_at(c->in, CRL_PRM_MODIFY_NIC_VPORT_CONTEXT_IN_NIC_VPORT_CONTEXT);
	uint32_t mtu = crl_prm_get(ctx, CRL_PRM_NIC_VPORT_CONTEXT_MTU);
	uint32_t roce = crl_prm_get(ctx, CRL_PRM_NIC_VPORT_CONTEXT_ROCE_EN);
	bool set_roce = crl_prm_get(sel, CRL_PRM_NIC_VPORT_SELECT_ROCE_EN) != 0;

	if (crl_prm_get(c->in, CRL_PRM_MODIFY_NIC_VPORT_CONTEXT_IN_OTHER_VPORT) != 0 ||
		crl_prm_get(c->in, CRL_PRM_MODIFY_NIC_VPORT_CONTEXT_IN_VPORT_NUMBER) != 0)
		return scx_fw_refuse(c, SCX_FW_R_VPORT, c->in, 16, "another vport");
	if (!scx_fw_fields_zero(c, SCX_LAYOUT_NIC_VPORT_SELECT, sel, select_not_offered,
		    sizeof(select_not_offered) / sizeof(select_not_offered[0])))
		return -1;
	if (set_roce && roce && !c->nic->cfg.roce)
		return scx_fw_refuse(c, SCX_FW_R_ROCE, NULL, 0, "the capability roce is 0");
	if (crl_prm_get(sel, CRL_PRM_NIC_VPORT_SELECT_MTU)) {
		if (mtu < SCX_MTU_MIN + SCX_HARD_MTU || mtu > SCX_HW_MTU_MAX)
			return scx_fw_refuse(
				c, SCX_FW_R_REGISTER_VALUE, NULL, 0, "the vport's MTU is %u", mtu);
		c->nic->hca->vport_mtu = mtu;
	}
	if (set_roce)
		c->nic->hca->roce_en = (uint8_t)roce;
	return 0;
}

/* The data path does not tell unicast from multicast: all counts stand under unicast. */
int
scx_cmd_query_vport_counter(struct scx_fw_call *c)
{
	void *rx = crl_prm_at(c->out, CRL_PRM_QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_UNICAST);
	void *tx = crl_prm_at(c->out, CRL_PRM_QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_UNICAST);
	const size_t least = CRL_PRM_QUERY_VPORT_COUNTER_OUT_BYTES;
	struct scx_dp_stats s;

	if (crl_prm_get(c->in, CRL_PRM_QUERY_VPORT_COUNTER_IN_OTHER_VPORT) != 0)
		return scx_fw_refuse(c, SCX_FW_R_VPORT, c->in, 16, "another vport");
	if (crl_prm_get(c->in, CRL_PRM_QUERY_VPORT_COUNTER_IN_CLEAR) != 0)
		return scx_fw_refuse(c, SCX_FW_R_NOT_OFFERED, c->in, 32, "clear is set");
	if (c->out_bytes < least)
		return scx_fw_refuse(c, SCX_FW_R_OUT_SHORT, NULL, 0, "room for %zu bytes of %zu",
			c->out_bytes, least);
	if (scx_fw_stats(c->nic, &s) != 0)
		return scx_fw_refuse(c, SCX_FW_R_FULL, NULL, 0, "the data path does not answer");
	crl_prm_set64(rx, CRL_PRM_TRAFFIC_COUNTER_PACKETS, s.rx_frames);
	crl_prm_set64(rx, CRL_PRM_TRAFFIC_COUNTER_OCTETS, s.rx_bytes);
	crl_prm_set64(tx, CRL_PRM_TRAFFIC_COUNTER_PACKETS, s.tx_frames);
	crl_prm_set64(tx, CRL_PRM_TRAFFIC_COUNTER_OCTETS, s.tx_bytes);
	return 0;
}
