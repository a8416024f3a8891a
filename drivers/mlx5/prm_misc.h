/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PRM layouts, part 4: the mailbox headers that all commands share, protection and transport
 * domains, UARs, queue counters and the port's context. Form of the lists: prm.h. Only prm.h
 * includes this file.
 */
#ifndef CRL_PRM_MISC_H
#define CRL_PRM_MISC_H

/* clang-format off */
#define CRL_PRM_MISC_LAYOUTS(Y) \
	Y(CMD_IN, cmd_in, 0x040) \
	Y(CMD_OUT, cmd_out, 0x040) \
	Y(ALLOC_PD_IN, alloc_pd_in, 0x080) \
	Y(ALLOC_PD_OUT, alloc_pd_out, 0x080) \
	Y(DEALLOC_PD_IN, dealloc_pd_in, 0x080) \
	Y(ALLOC_UAR_IN, alloc_uar_in, 0x080) \
	Y(ALLOC_UAR_OUT, alloc_uar_out, 0x080) \
	Y(DEALLOC_UAR_IN, dealloc_uar_in, 0x080) \
	Y(ALLOC_TRANSPORT_DOMAIN_IN, alloc_transport_domain_in, 0x080) \
	Y(ALLOC_TRANSPORT_DOMAIN_OUT, alloc_transport_domain_out, 0x080) \
	Y(DEALLOC_TRANSPORT_DOMAIN_IN, dealloc_transport_domain_in, 0x080) \
	Y(ALLOC_Q_COUNTER_IN, alloc_q_counter_in, 0x080) \
	Y(ALLOC_Q_COUNTER_OUT, alloc_q_counter_out, 0x080) \
	Y(QUERY_Q_COUNTER_IN, query_q_counter_in, 0x100) \
	Y(QUERY_Q_COUNTER_OUT, query_q_counter_out, 0x800) \
	Y(DEALLOC_Q_COUNTER_IN, dealloc_q_counter_in, 0x080) \
	Y(QUERY_NIC_VPORT_CONTEXT_IN, query_nic_vport_context_in, 0x080) \
	Y(QUERY_NIC_VPORT_CONTEXT_OUT, query_nic_vport_context_out, 0x880) \
	Y(NIC_VPORT_CONTEXT, nic_vport_context, 0x800) \
	Y(MAC_ADDRESS, mac_address_layout, 0x040) \
	Y(QUERY_VPORT_STATE_IN, query_vport_state_in, 0x080) \
	Y(QUERY_VPORT_STATE_OUT, query_vport_state_out, 0x080)

#define CRL_PRM_CMD_IN_FIELDS(F, S, L, l) \
	F(L, l, OPCODE, opcode, 0x000, 16) \
	F(L, l, UID, uid, 0x010, 16) \
	F(L, l, OP_MOD, op_mod, 0x030, 16)

#define CRL_PRM_CMD_OUT_FIELDS(F, S, L, l) \
	F(L, l, STATUS, status, 0x000, 8) \
	F(L, l, SYNDROME, syndrome, 0x020, 32)

#define CRL_PRM_ALLOC_PD_IN_FIELDS(F, S, L, l)

#define CRL_PRM_ALLOC_PD_OUT_FIELDS(F, S, L, l) \
	F(L, l, PD, pd, 0x048, 24)

#define CRL_PRM_DEALLOC_PD_IN_FIELDS(F, S, L, l) \
	F(L, l, PD, pd, 0x048, 24)

#define CRL_PRM_ALLOC_UAR_IN_FIELDS(F, S, L, l)

#define CRL_PRM_ALLOC_UAR_OUT_FIELDS(F, S, L, l) \
	F(L, l, UAR, uar, 0x048, 24)

#define CRL_PRM_DEALLOC_UAR_IN_FIELDS(F, S, L, l) \
	F(L, l, UAR, uar, 0x048, 24)

#define CRL_PRM_ALLOC_TRANSPORT_DOMAIN_IN_FIELDS(F, S, L, l)

#define CRL_PRM_ALLOC_TRANSPORT_DOMAIN_OUT_FIELDS(F, S, L, l) \
	F(L, l, TRANSPORT_DOMAIN, transport_domain, 0x048, 24)

#define CRL_PRM_DEALLOC_TRANSPORT_DOMAIN_IN_FIELDS(F, S, L, l) \
	F(L, l, TRANSPORT_DOMAIN, transport_domain, 0x048, 24)

#define CRL_PRM_ALLOC_Q_COUNTER_IN_FIELDS(F, S, L, l)

#define CRL_PRM_ALLOC_Q_COUNTER_OUT_FIELDS(F, S, L, l) \
	F(L, l, COUNTER_SET_ID, counter_set_id, 0x058, 8)

#define CRL_PRM_QUERY_Q_COUNTER_IN_FIELDS(F, S, L, l) \
	F(L, l, CLEAR, clear, 0x0c0, 1) \
	F(L, l, COUNTER_SET_ID, counter_set_id, 0x0f8, 8)

#define CRL_PRM_QUERY_Q_COUNTER_OUT_FIELDS(F, S, L, l) \
	F(L, l, RX_WRITE_REQUESTS, rx_write_requests, 0x080, 32) \
	F(L, l, OUT_OF_BUFFER, out_of_buffer, 0x180, 32) \
	F(L, l, OUT_OF_SEQUENCE, out_of_sequence, 0x1c0, 32) \
	F(L, l, CQ_OVERFLOW, cq_overflow, 0x5c0, 32) \
	F(L, l, RESP_CQE_FLUSH_ERROR, resp_cqe_flush_error, 0x5e0, 32) \
	F(L, l, REQ_CQE_FLUSH_ERROR, req_cqe_flush_error, 0x600, 32)

#define CRL_PRM_DEALLOC_Q_COUNTER_IN_FIELDS(F, S, L, l) \
	F(L, l, COUNTER_SET_ID, counter_set_id, 0x058, 8)

#define CRL_PRM_QUERY_NIC_VPORT_CONTEXT_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16) \
	F(L, l, ALLOWED_LIST_TYPE, allowed_list_type, 0x065, 3)

#define CRL_PRM_QUERY_NIC_VPORT_CONTEXT_OUT_FIELDS(F, S, L, l) \
	S(L, l, NIC_VPORT_CONTEXT, nic_vport_context, 0x080, 2048, NIC_VPORT_CONTEXT)

#define CRL_PRM_NIC_VPORT_CONTEXT_FIELDS(F, S, L, l) \
	F(L, l, MIN_WQE_INLINE_MODE, min_wqe_inline_mode, 0x005, 3) \
	F(L, l, DISABLE_MC_LOCAL_LB, disable_mc_local_lb, 0x01d, 1) \
	F(L, l, DISABLE_UC_LOCAL_LB, disable_uc_local_lb, 0x01e, 1) \
	F(L, l, ROCE_EN, roce_en, 0x01f, 1) \
	F(L, l, ARM_CHANGE_EVENT, arm_change_event, 0x020, 1) \
	F(L, l, EVENT_ON_MTU, event_on_mtu, 0x03b, 1) \
	F(L, l, EVENT_ON_PROMISC_CHANGE, event_on_promisc_change, 0x03c, 1) \
	F(L, l, EVENT_ON_VLAN_CHANGE, event_on_vlan_change, 0x03d, 1) \
	F(L, l, EVENT_ON_MC_ADDRESS_CHANGE, event_on_mc_address_change, 0x03e, 1) \
	F(L, l, EVENT_ON_UC_ADDRESS_CHANGE, event_on_uc_address_change, 0x03f, 1) \
	F(L, l, MTU, mtu, 0x130, 16) \
	F(L, l, SYSTEM_IMAGE_GUID, system_image_guid, 0x140, 64) \
	F(L, l, PORT_GUID, port_guid, 0x180, 64) \
	F(L, l, NODE_GUID, node_guid, 0x1c0, 64) \
	F(L, l, PROMISC_UC, promisc_uc, 0x780, 1) \
	F(L, l, PROMISC_MC, promisc_mc, 0x781, 1) \
	F(L, l, PROMISC_ALL, promisc_all, 0x782, 1) \
	F(L, l, ALLOWED_LIST_TYPE, allowed_list_type, 0x785, 3) \
	F(L, l, ALLOWED_LIST_SIZE, allowed_list_size, 0x794, 12) \
	S(L, l, PERMANENT_ADDRESS, permanent_address, 0x7a0, 64, MAC_ADDRESS)

#define CRL_PRM_MAC_ADDRESS_FIELDS(F, S, L, l) \
	F(L, l, MAC_ADDR_47_32, mac_addr_47_32, 0x010, 16) \
	F(L, l, MAC_ADDR_31_0, mac_addr_31_0, 0x020, 32)

#define CRL_PRM_QUERY_VPORT_STATE_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16)

#define CRL_PRM_QUERY_VPORT_STATE_OUT_FIELDS(F, S, L, l) \
	F(L, l, ADMIN_STATE, admin_state, 0x078, 4) \
	F(L, l, STATE, state, 0x07c, 4)
/* clang-format on */

#endif /* CRL_PRM_MISC_H */
