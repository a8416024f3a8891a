/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the NIC offers. The capability pages are the scope control: a bit stands here only when the
 * firmware and the data path honour it, and all that is not set reads as zero, which is how a
 * ConnectX says "not offered". Profiles differ where real generations and their settings make
 * drivers behave differently: the inline mode, the timestamp format, the clock.
 */
#include <string.h>

#include "hca.h"

static const struct scx_fw_profile profiles[] = {
	/* as a ConnectX-5 whose vport asks for inline L2 headers */
	{"cx5", CRL_CAP_INLINE_VPORT, CRL_INLINE_L2, CRL_TS_CAP_FREE_RUNNING, 156250},
	{"cx6dx", CRL_CAP_INLINE_NOT_REQUIRED, CRL_INLINE_NONE, CRL_TS_CAP_FREE_RUNNING, 1000000},
	{"cx7", CRL_CAP_INLINE_NOT_REQUIRED, CRL_INLINE_NONE, CRL_TS_CAP_FREE_RUNNING, 1000000},
	/* as a BlueField-3 whose clock was set to real time: free-running timestamps are refused */
	{"bf3", CRL_CAP_INLINE_NOT_REQUIRED, CRL_INLINE_NONE, CRL_TS_CAP_REAL_TIME, 1000000},
};

const struct scx_fw_profile *
scx_fw_profile(const char *name)
{
	if (name == NULL)
		name = "cx6dx";
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		if (strcmp(profiles[i].name, name) == 0)
			return &profiles[i];
	return NULL;
}

bool
scx_fw_ts_ok(const struct scx_nic *nic, uint32_t ts_format)
{
	switch (ts_format) {
	case CRL_TS_DEFAULT:
		return true;
	case CRL_TS_FREE_RUNNING:
		return nic->profile->ts_cap != CRL_TS_CAP_REAL_TIME;
	case CRL_TS_REAL_TIME:
		return nic->profile->ts_cap != CRL_TS_CAP_FREE_RUNNING;
	default:
		return false;
	}
}

static uint32_t
log2_of(uint32_t v)
{
	return 31u - (uint32_t)__builtin_clz(v);
}

struct cap {
	uint32_t field, value;
};

static void
set_all(void *page, const struct cap *caps, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		crl_prm_set(page, caps[i].field, caps[i].value);
}

static void
general(const struct scx_nic *nic, void *page)
{
	const struct cap caps[] = {
		{CRL_PRM_HCA_CAP_LOG_MAX_CQ, log2_of(SCX_DP_CQ_MAX)},
		{CRL_PRM_HCA_CAP_LOG_MAX_CQ_SZ, SCX_LOG_CQ_SZ_MAX},
		{CRL_PRM_HCA_CAP_LOG_MAX_SQ, log2_of(SCX_DP_SQ_MAX)},
		{CRL_PRM_HCA_CAP_LOG_MAX_RQ, log2_of(SCX_DP_RQ_MAX)},
		/* No QPs yet; net_mlx5 takes the number of send queues from it. */
		{CRL_PRM_HCA_CAP_LOG_MAX_QP, log2_of(SCX_DP_SQ_MAX)},
		{CRL_PRM_HCA_CAP_LOG_MAX_WQ_SZ, SCX_LOG_WQ_SZ_MAX},
		{CRL_PRM_HCA_CAP_LOG_MAX_QP_SZ, SCX_LOG_WQ_SZ_MAX},
		{CRL_PRM_HCA_CAP_LOG_MIN_STRIDE_SZ_RQ, SCX_LOG_RQ_STRIDE_MIN},
		{CRL_PRM_HCA_CAP_LOG_MAX_STRIDE_SZ_RQ, SCX_LOG_RQ_STRIDE_MAX},
		{CRL_PRM_HCA_CAP_LOG_MIN_STRIDE_SZ_SQ, SCX_LOG_SQ_STRIDE},
		{CRL_PRM_HCA_CAP_LOG_MAX_STRIDE_SZ_SQ, SCX_LOG_SQ_STRIDE},
		{CRL_PRM_HCA_CAP_MAX_WQE_SZ_SQ, 1024},
		{CRL_PRM_HCA_CAP_MAX_WQE_SZ_RQ, 1u << SCX_LOG_RQ_STRIDE_MAX},
		{CRL_PRM_HCA_CAP_BASIC_CYCLIC_RCV_WQE, 1},
		{CRL_PRM_HCA_CAP_LOG_MAX_TIR, log2_of(SCX_DP_TIR_MAX)},
		{CRL_PRM_HCA_CAP_LOG_MAX_TIS, 10},
		{CRL_PRM_HCA_CAP_LOG_MAX_RQT, log2_of(SCX_DP_RQT_MAX)},
		{CRL_PRM_HCA_CAP_LOG_MAX_RQT_SIZE, log2_of(SCX_DP_RQT_LEN)},
		{CRL_PRM_HCA_CAP_LOG_MAX_PD, 10},
		{CRL_PRM_HCA_CAP_LOG_MAX_TRANSPORT_DOMAIN, 10},
		{CRL_PRM_HCA_CAP_LOG_MAX_MKEY, log2_of(SCX_DP_MKEY_MAX)},
		{CRL_PRM_HCA_CAP_LOG_MAX_MRW_SZ, 48},
		{CRL_PRM_HCA_CAP_LOG_MAX_MSG, log2_of(SCX_DP_FRAME_MAX)},
		{CRL_PRM_HCA_CAP_LOG_MAX_UCTX, 10},
		{CRL_PRM_HCA_CAP_LOG_MAX_UMEM, 13},
		{CRL_PRM_HCA_CAP_LOG_MAX_EQ, 0},
		{CRL_PRM_HCA_CAP_CQ_OI, 1},
		{CRL_PRM_HCA_CAP_CQE_VERSION, 1},
		{CRL_PRM_HCA_CAP_PORT_TYPE, 1}, /* Ethernet */
		{CRL_PRM_HCA_CAP_NUM_PORTS, 1},
		{CRL_PRM_HCA_CAP_ETH_NET_OFFLOADS, 1},
		{CRL_PRM_HCA_CAP_NIC_FLOW_TABLE, 1},
		{CRL_PRM_HCA_CAP_ETH_VIRT, nic->profile->inline_cap == CRL_CAP_INLINE_VPORT},
		{CRL_PRM_HCA_CAP_PAD_TX_ETH_PACKET, 1},
		{CRL_PRM_HCA_CAP_BF, 1},
		{CRL_PRM_HCA_CAP_LOG_BF_REG_SIZE, 9},
		{CRL_PRM_HCA_CAP_UAR_4K, 1},
		{CRL_PRM_HCA_CAP_LOG_UAR_PAGE_SZ, 0},
		{CRL_PRM_HCA_CAP_NUM_OF_UARS_PER_PAGE, 1},
		{CRL_PRM_HCA_CAP_LOG_PG_SZ, 12},
		{CRL_PRM_HCA_CAP_SQ_TS_FORMAT, nic->profile->ts_cap},
		{CRL_PRM_HCA_CAP_RQ_TS_FORMAT, nic->profile->ts_cap},
		{CRL_PRM_HCA_CAP_DEVICE_FREQUENCY_KHZ, nic->profile->khz},
		{CRL_PRM_HCA_CAP_DEVICE_FREQUENCY_MHZ, nic->profile->khz / 1000},
		/* Said aloud, because drivers take a missing zero for a yes: none of these is
		   there. */
		{CRL_PRM_HCA_CAP_STRIDING_RQ, 0},
		{CRL_PRM_HCA_CAP_CQE_COMPRESSION, 0},
		{CRL_PRM_HCA_CAP_CQE_128_ALWAYS, 0},
		{CRL_PRM_HCA_CAP_CQ_MODERATION, 0},
		{CRL_PRM_HCA_CAP_HAIRPIN, 0},
		{CRL_PRM_HCA_CAP_QOS, 0},
		{CRL_PRM_HCA_CAP_ROCE, 0},
		{CRL_PRM_HCA_CAP_HCA_CAP_2, 0},
	};

	set_all(page, caps, sizeof(caps) / sizeof(caps[0]));
}

static void
eth_offloads(const struct scx_nic *nic, void *page)
{
	const struct cap caps[] = {
		{CRL_PRM_ETH_CAPS_CSUM_CAP, 1},
		{CRL_PRM_ETH_CAPS_VLAN_CAP, 1},
		{CRL_PRM_ETH_CAPS_SCATTER_FCS, 1},
		{CRL_PRM_ETH_CAPS_MAX_LSO_CAP, 0},
		{CRL_PRM_ETH_CAPS_WQE_INLINE_MODE, nic->profile->inline_cap},
		{CRL_PRM_ETH_CAPS_RSS_IND_TBL_CAP, log2_of(SCX_DP_RQT_LEN)},
		{CRL_PRM_ETH_CAPS_ENHANCED_MULTI_PKT_SEND_WQE, 1},
	};

	set_all(page, caps, sizeof(caps) / sizeof(caps[0]));
}

/* Rules come through the kernel (scx_flow_add()), one table, no counters, no header changes. */
static void
nic_flow_table(void *page)
{
	void *rx = crl_prm_at(page, CRL_PRM_NIC_FT_CAPS_FLOW_TABLE_PROPERTIES_NIC_RECEIVE);
	const struct cap caps[] = {
		{CRL_PRM_FT_PROP_FT_SUPPORT, 1},
		{CRL_PRM_FT_PROP_FLOW_TAG, 1},
		{CRL_PRM_FT_PROP_LOG_MAX_FT_SIZE, log2_of(SCX_DP_RULE_MAX)},
		{CRL_PRM_FT_PROP_LOG_MAX_FLOW, log2_of(SCX_DP_RULE_MAX)},
		{CRL_PRM_FT_PROP_LOG_MAX_FT_NUM, 0},
		{CRL_PRM_FT_PROP_MAX_FT_LEVEL, 0},
	};

	set_all(rx, caps, sizeof(caps) / sizeof(caps[0]));
}

/* What a kernel's driver is offered besides: event queues, tables of its own making. */
static void
guest_general(const struct scx_nic *nic, void *page)
{
	const struct cap caps[] = {
		{CRL_PRM_HCA_CAP_LOG_MAX_EQ, 5},
		{CRL_PRM_HCA_CAP_MAX_NUM_EQS, 32},
		{CRL_PRM_HCA_CAP_LOG_MAX_EQ_SZ, 22},
		{CRL_PRM_HCA_CAP_LOG_MAX_VLAN_LIST, 8},
		{CRL_PRM_HCA_CAP_LOG_MAX_CURRENT_MC_LIST, 8},
		{CRL_PRM_HCA_CAP_LOG_MAX_CURRENT_UC_LIST, 8},
		{CRL_PRM_HCA_CAP_CMDIF_CHECKSUM, 3},
		{CRL_PRM_HCA_CAP_DRIVER_VERSION, 1},
		{CRL_PRM_HCA_CAP_VPORT_COUNTERS, 1},
		{CRL_PRM_HCA_CAP_MAX_TC, 1},
		{CRL_PRM_HCA_CAP_UMEM_UID_0, 1}, /* a driver's own, without a user context */
		/*
		 * mlx5_ib does not start without XRC, and takes keys from commands where a queue's
		 * operations cannot change their page size. No queue pair carries data.
		 */
		{CRL_PRM_HCA_CAP_XRC, 1},
		{CRL_PRM_HCA_CAP_LOG_MAX_XRCD, 5},
		{CRL_PRM_HCA_CAP_LOG_MAX_SRQ, 5},
		{CRL_PRM_HCA_CAP_LOG_MAX_SRQ_SZ, 15},
		{CRL_PRM_HCA_CAP_UMR_MODIFY_ENTITY_SIZE_DISABLED, 1},
		{CRL_PRM_HCA_CAP_ETH_VIRT, 1},
		{CRL_PRM_HCA_CAP_ROCE, nic->cfg.roce},
	};

	set_all(page, caps, sizeof(caps) / sizeof(caps[0]));
}

static void
guest_eth(void *page)
{
	const struct cap caps[] = {
		/* mlx5_core makes no netdev without it: segments up to 2^16 bytes */
		{CRL_PRM_ETH_CAPS_MAX_LSO_CAP, 16},
		/* nothing sent is ever received by itself, so that blocking it is no work */
		{CRL_PRM_ETH_CAPS_SELF_LB_EN_MODIFIABLE, 1},
		/* the CQE's sum is over all bytes after the Ethernet header, padding too */
		{CRL_PRM_ETH_CAPS_CQE_CHECKSUM_FULL, 1},
	};

	set_all(page, caps, sizeof(caps) / sizeof(caps[0]));
}

/* ft_field_support, bit 0 first: what of the outer headers the data path matches on. */
#define FT_OUTER_KNOWN 0xff0ffe00u /* dmac to ttl, without second tags; sip to tcp_flags */

static void
guest_flow_table(void *page)
{
	void *rx = crl_prm_at(page, CRL_PRM_NIC_FT_CAPS_FLOW_TABLE_PROPERTIES_NIC_RECEIVE);
	const struct cap caps[] = {
		{CRL_PRM_FT_PROP_FLOW_MODIFY_EN, 1},
		{CRL_PRM_FT_PROP_MODIFY_ROOT, 1},
		{CRL_PRM_FT_PROP_IDENTIFIED_MISS_TABLE_MODE, 1},
		{CRL_PRM_FT_PROP_FLOW_TABLE_MODIFY, 1},
		{CRL_PRM_FT_PROP_LOG_MAX_FT_SIZE, 20},
		{CRL_PRM_FT_PROP_LOG_MAX_FT_NUM, 7},
		{CRL_PRM_FT_PROP_MAX_FT_LEVEL, SCX_FT_LEVELS},
		{CRL_PRM_FT_PROP_LOG_MAX_FLOW, 12},
		{CRL_PRM_FT_PROP_LOG_MAX_DESTINATION, 0},
	};
	crl_be32 fields = crl_to_be32(FT_OUTER_KNOWN);

	set_all(rx, caps, sizeof(caps) / sizeof(caps[0]));
	memcpy(crl_prm_at(rx, CRL_PRM_FT_PROP_FT_FIELD_SUPPORT), &fields, sizeof(fields));
	memcpy(crl_prm_at(rx, CRL_PRM_FT_PROP_FT_FIELD_BITMASK_SUPPORT), &fields, sizeof(fields));
}

void
scx_fw_hca_caps(const struct scx_nic *nic, uint32_t which, void *page)
{
	switch (which) {
	case CRL_HCA_CAP_GENERAL:
		general(nic, page);
		if (nic->hca != NULL)
			guest_general(nic, page);
		return;
	case CRL_HCA_CAP_ETH:
		eth_offloads(nic, page);
		if (nic->hca != NULL)
			guest_eth(page);
		return;
	case CRL_HCA_CAP_NIC_FLOW_TABLE:
		nic_flow_table(page);
		if (nic->hca != NULL)
			guest_flow_table(page);
		return;
	}
}

int
scx_cmd_query_hca_cap(struct scx_fw_call *c)
{
	uint32_t op_mod = crl_prm_get(c->in, CRL_PRM_CMD_IN_OP_MOD);
	void *page = crl_prm_at(c->out, CRL_PRM_QUERY_HCA_CAP_OUT_CAPABILITY);

	/* Current and greatest values are the same: what is set lower is only a wish. */
	switch (op_mod >> 1) {
	case CRL_HCA_CAP_GENERAL:
	case CRL_HCA_CAP_ETH:
	case CRL_HCA_CAP_NIC_FLOW_TABLE:
		scx_fw_hca_caps(c->nic, op_mod >> 1, page);
		return 0;
	case CRL_HCA_CAP_ATOMIC: /* asked for without a look at the general page; nothing is offered
				  */
	case CRL_HCA_CAP_DEVICE_MEM:
		return 0;
	case CRL_HCA_CAP_ROCE: /* on a card that has it: no versions, no table of addresses */
		if (c->nic->cfg.roce)
			return 0;
		break;
	}
	return scx_fw_refuse(
		c, SCX_FW_R_CAP_PAGE, NULL, 0, "capability page 0x%x is not offered", op_mod >> 1);
}
