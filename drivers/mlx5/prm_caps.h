/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PRM layouts, part 1: what QUERY_HCA_CAP asks and answers. Of the capability pages only the fields
 * that Carillon reads or that the software ConnectX sets stand here; every other bit reads as zero.
 * Form of the lists: prm.h. Only prm.h includes this file.
 */
#ifndef CRL_PRM_CAPS_H
#define CRL_PRM_CAPS_H

/* clang-format off */
#define CRL_PRM_CAPS_LAYOUTS(Y) \
	Y(QUERY_HCA_CAP_IN, query_hca_cap_in, 0x080) \
	Y(QUERY_HCA_CAP_OUT, query_hca_cap_out, 0x8080) \
	Y(HCA_CAP, cmd_hca_cap, 0x800) \
	Y(ETH_CAPS, per_protocol_networking_offload_caps, 0x800) \
	Y(FT_PROP, flow_table_prop_layout, 0x200) \
	Y(NIC_FT_CAPS, flow_table_nic_cap, 0x8000)

#define CRL_PRM_QUERY_HCA_CAP_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_FUNCTION, other_function, 0x040, 1) \
	F(L, l, FUNCTION_ID, function_id, 0x050, 16)

#define CRL_PRM_QUERY_HCA_CAP_OUT_FIELDS(F, S, L, l) \
	F(L, l, CAPABILITY, capability, 0x080, 32768)

#define CRL_PRM_HCA_CAP_FIELDS(F, S, L, l) \
	F(L, l, HCA_CAP_2, hca_cap_2, 0x020, 1) \
	F(L, l, VHCA_ID, vhca_id, 0x030, 16) \
	F(L, l, LOG_MAX_SRQ_SZ, log_max_srq_sz, 0x080, 8) \
	F(L, l, LOG_MAX_QP_SZ, log_max_qp_sz, 0x088, 8) \
	F(L, l, WQE_INDEX_IGNORE_CAP, wqe_index_ignore_cap, 0x099, 1) \
	F(L, l, LOG_MAX_QP, log_max_qp, 0x09b, 5) \
	F(L, l, LOG_MAX_SRQ, log_max_srq, 0x0ab, 5) \
	F(L, l, TS_CQE_TO_DEST_CQN, ts_cqe_to_dest_cqn, 0x0b2, 1) \
	F(L, l, SCATTER_FCS_W_DECAP_DISABLE, scatter_fcs_w_decap_disable, 0x0bb, 1) \
	F(L, l, LOG_MAX_CQ_SZ, log_max_cq_sz, 0x0c8, 8) \
	F(L, l, ACCESS_REGISTER_USER, access_register_user, 0x0d2, 1) \
	F(L, l, LOG_MAX_CQ, log_max_cq, 0x0db, 5) \
	F(L, l, LOG_MAX_EQ_SZ, log_max_eq_sz, 0x0e0, 8) \
	F(L, l, RELAXED_ORDERING_WRITE, relaxed_ordering_write, 0x0e8, 1) \
	F(L, l, RELAXED_ORDERING_READ, relaxed_ordering_read, 0x0e9, 1) \
	F(L, l, LOG_MAX_MKEY, log_max_mkey, 0x0ea, 6) \
	F(L, l, DUMP_FILL_MKEY, dump_fill_mkey, 0x0f8, 1) \
	F(L, l, LOG_MAX_EQ, log_max_eq, 0x0fc, 4) \
	F(L, l, MAX_INDIRECTION, max_indirection, 0x100, 8) \
	F(L, l, LOG_MAX_MRW_SZ, log_max_mrw_sz, 0x109, 7) \
	F(L, l, NULL_MKEY, null_mkey, 0x119, 1) \
	F(L, l, LOG_MAX_KLM_LIST_SIZE, log_max_klm_list_size, 0x11a, 6) \
	F(L, l, NON_WIRE_SQ, non_wire_sq, 0x120, 1) \
	F(L, l, LOG_MAX_STATIC_SQ_WQ, log_max_static_sq_wq, 0x133, 5) \
	F(L, l, LOG_MAX_RA_REQ_QP, log_max_ra_req_qp, 0x14a, 6) \
	F(L, l, LOG_MAX_RA_RES_QP, log_max_ra_res_qp, 0x15a, 6) \
	F(L, l, END_PAD, end_pad, 0x160, 1) \
	F(L, l, START_PAD, start_pad, 0x163, 1) \
	F(L, l, CACHE_LINE_128BYTE, cache_line_128byte, 0x164, 1) \
	F(L, l, GID_TABLE_SIZE, gid_table_size, 0x170, 16) \
	F(L, l, VPORT_COUNTERS, vport_counters, 0x181, 1) \
	F(L, l, MODIFY_RQ_COUNTER_SET_ID, modify_rq_counter_set_id, 0x184, 1) \
	F(L, l, RQ_DELAY_DROP, rq_delay_drop, 0x185, 1) \
	F(L, l, MAX_QP_CNT, max_qp_cnt, 0x186, 10) \
	F(L, l, PKEY_TABLE_SIZE, pkey_table_size, 0x190, 16) \
	F(L, l, ETH_VIRT, eth_virt, 0x1a3, 1) \
	F(L, l, NIC_FLOW_TABLE, nic_flow_table, 0x1a6, 1) \
	F(L, l, ESWITCH_MANAGER, eswitch_manager, 0x1a7, 1) \
	F(L, l, DEVICE_MEMORY, device_memory, 0x1a8, 1) \
	F(L, l, PORT_TYPE, port_type, 0x1b6, 2) \
	F(L, l, NUM_PORTS, num_ports, 0x1b8, 8) \
	F(L, l, LOG_MAX_MSG, log_max_msg, 0x1c3, 5) \
	F(L, l, MAX_TC, max_tc, 0x1cc, 4) \
	F(L, l, CQE_VERSION, cqe_version, 0x1fc, 4) \
	F(L, l, COMPACT_ADDRESS_VECTOR, compact_address_vector, 0x200, 1) \
	F(L, l, STRIDING_RQ, striding_rq, 0x201, 1) \
	F(L, l, UMR_MODIFY_ENTITY_SIZE_DISABLED, umr_modify_entity_size_disabled, 0x207, 1) \
	F(L, l, CMDIF_CHECKSUM, cmdif_checksum, 0x210, 2) \
	F(L, l, WQ_SIGNATURE, wq_signature, 0x214, 1) \
	F(L, l, QOS, qos, 0x21b, 1) \
	F(L, l, ETH_NET_OFFLOADS, eth_net_offloads, 0x21c, 1) \
	F(L, l, ROCE, roce, 0x21d, 1) \
	F(L, l, ATOMIC, atomic, 0x21e, 1) \
	F(L, l, CQ_OI, cq_oi, 0x220, 1) \
	F(L, l, CQ_RESIZE, cq_resize, 0x221, 1) \
	F(L, l, CQ_MODERATION, cq_moderation, 0x222, 1) \
	F(L, l, CD, cd, 0x22c, 1) \
	F(L, l, IMAICL, imaicl, 0x231, 1) \
	F(L, l, XRC, xrc, 0x23c, 1) \
	F(L, l, UAR_4K, uar_4k, 0x240, 1) \
	F(L, l, UAR_SZ, uar_sz, 0x24a, 6) \
	F(L, l, UMEM_UID_0, umem_uid_0, 0x252, 1) \
	F(L, l, LOG_PG_SZ, log_pg_sz, 0x258, 8) \
	F(L, l, BF, bf, 0x260, 1) \
	F(L, l, DRIVER_VERSION, driver_version, 0x261, 1) \
	F(L, l, PAD_TX_ETH_PACKET, pad_tx_eth_packet, 0x262, 1) \
	F(L, l, LOG_BF_REG_SIZE, log_bf_reg_size, 0x26b, 5) \
	F(L, l, MAX_WQE_SZ_SQ, max_wqe_sz_sq, 0x290, 16) \
	F(L, l, MAX_WQE_SZ_RQ, max_wqe_sz_rq, 0x2b0, 16) \
	F(L, l, FLOW_COUNTER_BULK_ALLOC, flow_counter_bulk_alloc, 0x310, 8) \
	F(L, l, LOG_MAX_TRANSPORT_DOMAIN, log_max_transport_domain, 0x323, 5) \
	F(L, l, LOG_MAX_PD, log_max_pd, 0x32b, 5) \
	F(L, l, LOG_MAX_XRCD, log_max_xrcd, 0x33b, 5) \
	F(L, l, MODIFY_TIS, modify_tis, 0x360, 1) \
	F(L, l, LOG_MAX_RQ, log_max_rq, 0x363, 5) \
	F(L, l, LOG_MAX_SQ, log_max_sq, 0x36b, 5) \
	F(L, l, LOG_MAX_TIR, log_max_tir, 0x373, 5) \
	F(L, l, LOG_MAX_TIS, log_max_tis, 0x37b, 5) \
	F(L, l, BASIC_CYCLIC_RCV_WQE, basic_cyclic_rcv_wqe, 0x380, 1) \
	F(L, l, MEM_RQ_RMP, mem_rq_rmp, 0x382, 1) \
	F(L, l, LOG_MAX_RMP, log_max_rmp, 0x383, 5) \
	F(L, l, LOG_MAX_RQT, log_max_rqt, 0x38b, 5) \
	F(L, l, LOG_MAX_RQT_SIZE, log_max_rqt_size, 0x393, 5) \
	F(L, l, LOG_MAX_TIS_PER_SQ, log_max_tis_per_sq, 0x39b, 5) \
	F(L, l, LOG_MAX_STRIDE_SZ_RQ, log_max_stride_sz_rq, 0x3a3, 5) \
	F(L, l, LOG_MIN_STRIDE_SZ_RQ, log_min_stride_sz_rq, 0x3ab, 5) \
	F(L, l, LOG_MAX_STRIDE_SZ_SQ, log_max_stride_sz_sq, 0x3b3, 5) \
	F(L, l, LOG_MIN_STRIDE_SZ_SQ, log_min_stride_sz_sq, 0x3bb, 5) \
	F(L, l, HAIRPIN, hairpin, 0x3c0, 1) \
	F(L, l, LOG_MAX_WQ_SZ, log_max_wq_sz, 0x3db, 5) \
	F(L, l, NIC_VPORT_CHANGE_EVENT, nic_vport_change_event, 0x3e0, 1) \
	F(L, l, DISABLE_LOCAL_LB_UC, disable_local_lb_uc, 0x3e1, 1) \
	F(L, l, DISABLE_LOCAL_LB_MC, disable_local_lb_mc, 0x3e2, 1) \
	F(L, l, LOG_MAX_VLAN_LIST, log_max_vlan_list, 0x3eb, 5) \
	F(L, l, LOG_MAX_CURRENT_MC_LIST, log_max_current_mc_list, 0x3f3, 5) \
	F(L, l, LOG_MAX_CURRENT_UC_LIST, log_max_current_uc_list, 0x3fb, 5) \
	F(L, l, GENERAL_OBJ_TYPES, general_obj_types, 0x400, 64) \
	F(L, l, SQ_TS_FORMAT, sq_ts_format, 0x440, 2) \
	F(L, l, RQ_TS_FORMAT, rq_ts_format, 0x442, 2) \
	F(L, l, STEERING_FORMAT_VERSION, steering_format_version, 0x444, 4) \
	F(L, l, LOG_MAX_UCTX, log_max_uctx, 0x463, 5) \
	F(L, l, LOG_MAX_UMEM, log_max_umem, 0x46b, 5) \
	F(L, l, MAX_NUM_EQS, max_num_eqs, 0x470, 16) \
	F(L, l, LOG_MAX_L2_TABLE, log_max_l2_table, 0x483, 5) \
	F(L, l, LOG_UAR_PAGE_SZ, log_uar_page_sz, 0x490, 16) \
	F(L, l, DEVICE_FREQUENCY_MHZ, device_frequency_mhz, 0x4c0, 32) \
	F(L, l, DEVICE_FREQUENCY_KHZ, device_frequency_khz, 0x4e0, 32) \
	F(L, l, NUM_OF_UARS_PER_PAGE, num_of_uars_per_page, 0x520, 32) \
	F(L, l, MINI_CQE_RESP_FLOW_TAG, mini_cqe_resp_flow_tag, 0x5ba, 1) \
	F(L, l, CQE_128_ALWAYS, cqe_128_always, 0x5bd, 1) \
	F(L, l, CQE_COMPRESSION_128, cqe_compression_128, 0x5be, 1) \
	F(L, l, CQE_COMPRESSION, cqe_compression, 0x5bf, 1) \
	F(L, l, CQE_COMPRESSION_TIMEOUT, cqe_compression_timeout, 0x5c0, 16) \
	F(L, l, CQE_COMPRESSION_MAX_NUM, cqe_compression_max_num, 0x5d0, 16) \
	F(L, l, NATIVE_PORT_NUM, native_port_num, 0x608, 8) \
	F(L, l, NUM_VHCA_PORTS, num_vhca_ports, 0x610, 8) \
	F(L, l, WAIT_ON_TIME, wait_on_time, 0x68c, 1) \
	F(L, l, UCTX_CAP, uctx_cap, 0x6a0, 32)

#define CRL_PRM_ETH_CAPS_FIELDS(F, S, L, l) \
	F(L, l, CSUM_CAP, csum_cap, 0x000, 1) \
	F(L, l, VLAN_CAP, vlan_cap, 0x001, 1) \
	F(L, l, LRO_CAP, lro_cap, 0x002, 1) \
	F(L, l, LRO_PSH_FLAG, lro_psh_flag, 0x003, 1) \
	F(L, l, LRO_TIME_STAMP, lro_time_stamp, 0x004, 1) \
	F(L, l, WQE_VLAN_INSERT, wqe_vlan_insert, 0x007, 1) \
	F(L, l, SELF_LB_EN_MODIFIABLE, self_lb_en_modifiable, 0x008, 1) \
	F(L, l, MAX_LSO_CAP, max_lso_cap, 0x00b, 5) \
	F(L, l, MULTI_PKT_SEND_WQE, multi_pkt_send_wqe, 0x010, 2) \
	F(L, l, WQE_INLINE_MODE, wqe_inline_mode, 0x012, 2) \
	F(L, l, RSS_IND_TBL_CAP, rss_ind_tbl_cap, 0x014, 4) \
	F(L, l, REG_UMR_SQ, reg_umr_sq, 0x018, 1) \
	F(L, l, SCATTER_FCS, scatter_fcs, 0x019, 1) \
	F(L, l, ENHANCED_MULTI_PKT_SEND_WQE, enhanced_multi_pkt_send_wqe, 0x01a, 1) \
	F(L, l, TUNNEL_LSO_CONST_OUT_IP_ID, tunnel_lso_const_out_ip_id, 0x01b, 1) \
	F(L, l, TUNNEL_LRO_GRE, tunnel_lro_gre, 0x01c, 1) \
	F(L, l, TUNNEL_LRO_VXLAN, tunnel_lro_vxlan, 0x01d, 1) \
	F(L, l, TUNNEL_STATELESS_GRE, tunnel_stateless_gre, 0x01e, 1) \
	F(L, l, TUNNEL_STATELESS_VXLAN, tunnel_stateless_vxlan, 0x01f, 1) \
	F(L, l, SWP, swp, 0x020, 1) \
	F(L, l, SWP_CSUM, swp_csum, 0x021, 1) \
	F(L, l, SWP_LSO, swp_lso, 0x022, 1) \
	F(L, l, CQE_CHECKSUM_FULL, cqe_checksum_full, 0x023, 1) \
	F(L, l, TUNNEL_STATELESS_GENEVE_TX, tunnel_stateless_geneve_tx, 0x024, 1) \
	F(L, l, TUNNEL_STATELESS_MPLS_OVER_UDP, tunnel_stateless_mpls_over_udp, 0x025, 1) \
	F(L, l, TUNNEL_STATELESS_MPLS_OVER_GRE, tunnel_stateless_mpls_over_gre, 0x026, 1) \
	F(L, l, TUNNEL_STATELESS_VXLAN_GPE, tunnel_stateless_vxlan_gpe, 0x027, 1) \
	F(L, l, TUNNEL_STATELESS_IPV4_OVER_VXLAN, tunnel_stateless_ipv4_over_vxlan, 0x028, 1) \
	F(L, l, TUNNEL_STATELESS_IP_OVER_IP, tunnel_stateless_ip_over_ip, 0x029, 1) \
	F(L, l, INSERT_TRAILER, insert_trailer, 0x02a, 1) \
	F(L, l, TUNNEL_STATELESS_IP_OVER_IP_RX, tunnel_stateless_ip_over_ip_rx, 0x02c, 1) \
	F(L, l, TUNNEL_STATELESS_IP_OVER_IP_TX, tunnel_stateless_ip_over_ip_tx, 0x02d, 1) \
	F(L, l, MAX_VXLAN_UDP_PORTS, max_vxlan_udp_ports, 0x030, 8) \
	F(L, l, MAX_GENEVE_OPT_LEN, max_geneve_opt_len, 0x03e, 1) \
	F(L, l, TUNNEL_STATELESS_GENEVE_RX, tunnel_stateless_geneve_rx, 0x03f, 1) \
	F(L, l, LRO_MIN_MSS_SIZE, lro_min_mss_size, 0x050, 16) \
	F(L, l, LRO_TIMER_SUPPORTED_PERIODS, lro_timer_supported_periods, 0x180, 128)

#define CRL_PRM_FT_PROP_FIELDS(F, S, L, l) \
	F(L, l, FT_SUPPORT, ft_support, 0x000, 1) \
	F(L, l, FLOW_TAG, flow_tag, 0x001, 1) \
	F(L, l, FLOW_MODIFY_EN, flow_modify_en, 0x003, 1) \
	F(L, l, MODIFY_ROOT, modify_root, 0x004, 1) \
	F(L, l, IDENTIFIED_MISS_TABLE_MODE, identified_miss_table_mode, 0x005, 1) \
	F(L, l, FLOW_TABLE_MODIFY, flow_table_modify, 0x006, 1) \
	F(L, l, LOG_MAX_FT_SIZE, log_max_ft_size, 0x022, 6) \
	F(L, l, MAX_FT_LEVEL, max_ft_level, 0x038, 8) \
	F(L, l, LOG_MAX_FT_NUM, log_max_ft_num, 0x078, 8) \
	F(L, l, LOG_MAX_FLOW_COUNTER, log_max_flow_counter, 0x090, 8) \
	F(L, l, LOG_MAX_DESTINATION, log_max_destination, 0x098, 8) \
	F(L, l, LOG_MAX_FLOW, log_max_flow, 0x0b8, 8) \
	F(L, l, FT_FIELD_SUPPORT, ft_field_support, 0x100, 128) \
	F(L, l, FT_FIELD_BITMASK_SUPPORT, ft_field_bitmask_support, 0x180, 128)

#define CRL_PRM_NIC_FT_CAPS_FIELDS(F, S, L, l) \
	F(L, l, NIC_RX_MULTI_PATH_TIRS, nic_rx_multi_path_tirs, 0x000, 1) \
	S(L, l, FLOW_TABLE_PROPERTIES_NIC_RECEIVE, \
	  flow_table_properties_nic_receive, 0x200, 512, FT_PROP) \
	S(L, l, FLOW_TABLE_PROPERTIES_NIC_TRANSMIT, \
	  flow_table_properties_nic_transmit, 0x800, 512, FT_PROP)
/* clang-format on */

#endif /* CRL_PRM_CAPS_H */
