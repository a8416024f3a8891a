/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of the small objects: protection and transport domains, UAR pages, queue counters, and
 * what the port says of itself. Each is called by cmd.c with a checked mailbox.
 */
#include <string.h>

#include "hca.h"

/* A new object whose number goes into field of the answer. */
static int
make(struct scx_fw_call *c, enum scx_fw_kind kind, uint32_t field)
{
	struct scx_fw_obj *obj = scx_fw_new(c, kind);

	if (obj == NULL)
		return -1;
	crl_prm_set(c->out, field, obj->num);
	c->made.num = obj->num;
	return 0;
}

int
scx_cmd_alloc_pd(struct scx_fw_call *c)
{
	return make(c, SCX_FW_PD, CRL_PRM_ALLOC_PD_OUT_PD);
}

int
scx_cmd_dealloc_pd(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_PD, CRL_PRM_DEALLOC_PD_IN_PD);
}

int
scx_cmd_alloc_uar(struct scx_fw_call *c)
{
	return make(c, SCX_FW_UAR, CRL_PRM_ALLOC_UAR_OUT_UAR);
}

int
scx_cmd_dealloc_uar(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_UAR, CRL_PRM_DEALLOC_UAR_IN_UAR);
}

int
scx_cmd_alloc_td(struct scx_fw_call *c)
{
	return make(c, SCX_FW_TD, CRL_PRM_ALLOC_TRANSPORT_DOMAIN_OUT_TRANSPORT_DOMAIN);
}

int
scx_cmd_dealloc_td(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(
		c, SCX_FW_TD, CRL_PRM_DEALLOC_TRANSPORT_DOMAIN_IN_TRANSPORT_DOMAIN);
}

/* The count of a set that is new starts at 0: whoever had the number before has left some. */
static int
counter_read(struct scx_fw_call *c, uint32_t set, bool clear, uint64_t *count)
{
	struct scx_dp_cmd cmd = {.op = SCX_DP_COUNTER_READ, .num = set, .arg = clear};
	int rc = scx_fw_tell(c, &cmd);

	*count = cmd.result[0];
	return rc;
}

int
scx_cmd_alloc_q_counter(struct scx_fw_call *c)
{
	uint64_t count;
	int rc = make(c, SCX_FW_QCOUNTER, CRL_PRM_ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID);

	if (rc != 0)
		return rc;
	rc = counter_read(c, c->made.num, true, &count);
	if (rc != 0)
		scx_fw_free(c->nic, scx_fw_get(c, SCX_FW_QCOUNTER, c->made.num));
	return rc;
}

int
scx_cmd_query_q_counter(struct scx_fw_call *c)
{
	struct scx_fw_obj *set = scx_fw_get(
		c, SCX_FW_QCOUNTER, crl_prm_get(c->in, CRL_PRM_QUERY_Q_COUNTER_IN_COUNTER_SET_ID));
	uint64_t count;
	int rc;

	if (set == NULL)
		return -1;
	rc = counter_read(
		c, set->num, crl_prm_get(c->in, CRL_PRM_QUERY_Q_COUNTER_IN_CLEAR), &count);
	if (rc == 0)
		crl_prm_set(c->out, CRL_PRM_QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER, (uint32_t)count);
	return rc;
}

int
scx_cmd_dealloc_q_counter(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_QCOUNTER, CRL_PRM_DEALLOC_Q_COUNTER_IN_COUNTER_SET_ID);
}

static int
own_vport(struct scx_fw_call *c, uint32_t other, uint32_t number)
{
	if (other == 0 && number == 0)
		return 0;
	return scx_fw_refuse(
		c, SCX_FW_R_VPORT, c->in, 16, "other_vport %u, vport %u", other, number);
}

int
scx_cmd_query_vport_state(struct scx_fw_call *c)
{
	int rc = own_vport(c, crl_prm_get(c->in, CRL_PRM_QUERY_VPORT_STATE_IN_OTHER_VPORT),
		crl_prm_get(c->in, CRL_PRM_QUERY_VPORT_STATE_IN_VPORT_NUMBER));

	if (rc != 0)
		return rc;
	crl_prm_set(c->out, CRL_PRM_QUERY_VPORT_STATE_OUT_ADMIN_STATE, 1);
	crl_prm_set(c->out, CRL_PRM_QUERY_VPORT_STATE_OUT_STATE, atomic_load(&c->nic->link_up));
	return 0;
}

int
scx_cmd_query_nic_vport(struct scx_fw_call *c)
{
	void *ctx = crl_prm_at(c->out, CRL_PRM_QUERY_NIC_VPORT_CONTEXT_OUT_NIC_VPORT_CONTEXT);
	void *mac = crl_prm_at(ctx, CRL_PRM_NIC_VPORT_CONTEXT_PERMANENT_ADDRESS);
	const uint8_t *m = c->nic->cfg.mac;
	static const uint32_t guids[] = {CRL_PRM_NIC_VPORT_CONTEXT_SYSTEM_IMAGE_GUID,
		CRL_PRM_NIC_VPORT_CONTEXT_PORT_GUID, CRL_PRM_NIC_VPORT_CONTEXT_NODE_GUID};
	int rc = own_vport(c, crl_prm_get(c->in, CRL_PRM_QUERY_NIC_VPORT_CONTEXT_IN_OTHER_VPORT),
		crl_prm_get(c->in, CRL_PRM_QUERY_NIC_VPORT_CONTEXT_IN_VPORT_NUMBER));

	if (rc != 0)
		return rc;
	crl_prm_set(
		ctx, CRL_PRM_NIC_VPORT_CONTEXT_MIN_WQE_INLINE_MODE, c->nic->profile->inline_min);
	if (c->nic->hca != NULL)
		crl_prm_set(ctx, CRL_PRM_NIC_VPORT_CONTEXT_ROCE_EN, c->nic->hca->roce_en);
	/* The kernel's front says it as the kernel does: payload only. */
	crl_prm_set(ctx, CRL_PRM_NIC_VPORT_CONTEXT_MTU,
		c->nic->hca == NULL	      ? c->nic->cfg.mtu
		: c->nic->hca->vport_mtu != 0 ? c->nic->hca->vport_mtu
					      : c->nic->cfg.mtu + SCX_HARD_MTU);
	/* GUIDs as cards have them: the MAC with two bytes between its halves. */
	for (size_t i = 0; i < sizeof(guids) / sizeof(guids[0]); i++)
		crl_prm_set64(ctx, guids[i],
			(uint64_t)m[0] << 56 | (uint64_t)m[1] << 48 | (uint64_t)m[2] << 40 |
				(uint64_t)m[3] << 16 | (uint64_t)m[4] << 8 | m[5]);
	crl_prm_set(mac, CRL_PRM_MAC_ADDRESS_MAC_ADDR_47_32, (uint32_t)m[0] << 8 | m[1]);
	crl_prm_set(mac, CRL_PRM_MAC_ADDRESS_MAC_ADDR_31_0,
		(uint32_t)m[2] << 24 | (uint32_t)m[3] << 16 | (uint32_t)m[4] << 8 | m[5]);
	return 0;
}
