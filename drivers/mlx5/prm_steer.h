/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PRM layouts, part 3: where packets go. Transport interfaces (TIS, send side; TIR, receive side),
 * the receive queue table (RQT) that RSS indexes, and the match parameters of a steering rule.
 * Form of the lists: prm.h. Only prm.h includes this file.
 */
#ifndef CRL_PRM_STEER_H
#define CRL_PRM_STEER_H

/* clang-format off */
#define CRL_PRM_STEER_LAYOUTS(Y) \
	Y(TISC, tisc, 0x500) \
	Y(CREATE_TIS_IN, create_tis_in, 0x600) \
	Y(CREATE_TIS_OUT, create_tis_out, 0x080) \
	Y(QUERY_TIS_IN, query_tis_in, 0x080) \
	Y(QUERY_TIS_OUT, query_tis_out, 0x580) \
	Y(DESTROY_TIS_IN, destroy_tis_in, 0x080) \
	Y(RQTC, rqtc, 0x780) \
	Y(RQ_NUM, rq_num, 0x020) \
	Y(CREATE_RQT_IN, create_rqt_in, 0x880) \
	Y(CREATE_RQT_OUT, create_rqt_out, 0x080) \
	Y(MODIFY_RQT_IN, modify_rqt_in, 0x880) \
	Y(RQT_BITMASK, rqt_bitmask, 0x040) \
	Y(QUERY_RQT_IN, query_rqt_in, 0x080) \
	Y(QUERY_RQT_OUT, query_rqt_out, 0x880) \
	Y(DESTROY_RQT_IN, destroy_rqt_in, 0x080) \
	Y(RX_HASH_FIELDS, rx_hash_field_select, 0x020) \
	Y(TIRC, tirc, 0x780) \
	Y(CREATE_TIR_IN, create_tir_in, 0x880) \
	Y(CREATE_TIR_OUT, create_tir_out, 0x080) \
	Y(MODIFY_TIR_IN, modify_tir_in, 0x880) \
	Y(MODIFY_TIR_BITMASK, modify_tir_bitmask, 0x040) \
	Y(QUERY_TIR_IN, query_tir_in, 0x080) \
	Y(QUERY_TIR_OUT, query_tir_out, 0x880) \
	Y(DESTROY_TIR_IN, destroy_tir_in, 0x080) \
	Y(MATCH_LYR_2_4, fte_match_set_lyr_2_4, 0x200) \
	Y(MATCH_MISC, fte_match_set_misc, 0x200) \
	Y(MATCH_PARAM, fte_match_param, 0x1000)

#define CRL_PRM_TISC_FIELDS(F, S, L, l) \
	F(L, l, STRICT_LAG_TX_PORT_AFFINITY, strict_lag_tx_port_affinity, 0x000, 1) \
	F(L, l, TLS_EN, tls_en, 0x001, 1) \
	F(L, l, LAG_TX_PORT_AFFINITY, lag_tx_port_affinity, 0x004, 4) \
	F(L, l, PRIO, prio, 0x00c, 4) \
	F(L, l, TRANSPORT_DOMAIN, transport_domain, 0x128, 24) \
	F(L, l, UNDERLAY_QPN, underlay_qpn, 0x148, 24) \
	F(L, l, PD, pd, 0x168, 24)

#define CRL_PRM_CREATE_TIS_IN_FIELDS(F, S, L, l) \
	S(L, l, CTX, ctx, 0x100, 1280, TISC)

#define CRL_PRM_CREATE_TIS_OUT_FIELDS(F, S, L, l) \
	F(L, l, TISN, tisn, 0x048, 24)

#define CRL_PRM_QUERY_TIS_IN_FIELDS(F, S, L, l) \
	F(L, l, TISN, tisn, 0x048, 24)

#define CRL_PRM_QUERY_TIS_OUT_FIELDS(F, S, L, l) \
	S(L, l, TIS_CONTEXT, tis_context, 0x080, 1280, TISC)

#define CRL_PRM_DESTROY_TIS_IN_FIELDS(F, S, L, l) \
	F(L, l, TISN, tisn, 0x048, 24)

#define CRL_PRM_RQTC_FIELDS(F, S, L, l) \
	F(L, l, LIST_Q_TYPE, list_q_type, 0x0a5, 3) \
	F(L, l, RQT_MAX_SIZE, rqt_max_size, 0x0b0, 16) \
	F(L, l, RQ_VHCA_ID_FORMAT, rq_vhca_id_format, 0x0c0, 1) \
	F(L, l, RQT_ACTUAL_SIZE, rqt_actual_size, 0x0d0, 16)

#define CRL_PRM_RQ_NUM_FIELDS(F, S, L, l) \
	F(L, l, RQ_NUM, rq_num, 0x008, 24)

#define CRL_PRM_CREATE_RQT_IN_FIELDS(F, S, L, l) \
	S(L, l, RQT_CONTEXT, rqt_context, 0x100, 1920, RQTC)

#define CRL_PRM_CREATE_RQT_OUT_FIELDS(F, S, L, l) \
	F(L, l, RQTN, rqtn, 0x048, 24)

#define CRL_PRM_MODIFY_RQT_IN_FIELDS(F, S, L, l) \
	F(L, l, RQTN, rqtn, 0x048, 24) \
	S(L, l, BITMASK, bitmask, 0x080, 64, RQT_BITMASK) \
	S(L, l, CTX, ctx, 0x100, 1920, RQTC)

#define CRL_PRM_RQT_BITMASK_FIELDS(F, S, L, l) \
	F(L, l, RQN_LIST, rqn_list, 0x03f, 1)

#define CRL_PRM_QUERY_RQT_IN_FIELDS(F, S, L, l) \
	F(L, l, RQTN, rqtn, 0x048, 24)

#define CRL_PRM_QUERY_RQT_OUT_FIELDS(F, S, L, l) \
	S(L, l, RQT_CONTEXT, rqt_context, 0x100, 1920, RQTC)

#define CRL_PRM_DESTROY_RQT_IN_FIELDS(F, S, L, l) \
	F(L, l, RQTN, rqtn, 0x048, 24)

#define CRL_PRM_RX_HASH_FIELDS_FIELDS(F, S, L, l) \
	F(L, l, L3_PROT_TYPE, l3_prot_type, 0x000, 1) \
	F(L, l, L4_PROT_TYPE, l4_prot_type, 0x001, 1) \
	F(L, l, SELECTED_FIELDS, selected_fields, 0x002, 30)

#define CRL_PRM_TIRC_FIELDS(F, S, L, l) \
	F(L, l, DISP_TYPE, disp_type, 0x020, 4) \
	F(L, l, TLS_EN, tls_en, 0x024, 1) \
	F(L, l, LRO_TIMEOUT_PERIOD_USECS, lro_timeout_period_usecs, 0x084, 16) \
	F(L, l, PACKET_MERGE_MASK, packet_merge_mask, 0x094, 4) \
	F(L, l, LRO_MAX_IP_PAYLOAD_SIZE, lro_max_ip_payload_size, 0x098, 8) \
	F(L, l, INLINE_RQN, inline_rqn, 0x0e8, 24) \
	F(L, l, RX_HASH_SYMMETRIC, rx_hash_symmetric, 0x100, 1) \
	F(L, l, TUNNELED_OFFLOAD_EN, tunneled_offload_en, 0x102, 1) \
	F(L, l, INDIRECT_TABLE, indirect_table, 0x108, 24) \
	F(L, l, RX_HASH_FN, rx_hash_fn, 0x120, 4) \
	F(L, l, SELF_LB_BLOCK, self_lb_block, 0x126, 2) \
	F(L, l, TRANSPORT_DOMAIN, transport_domain, 0x128, 24) \
	F(L, l, RX_HASH_TOEPLITZ_KEY, rx_hash_toeplitz_key, 0x140, 320) \
	S(L, l, RX_HASH_FIELD_SELECTOR_OUTER, \
	  rx_hash_field_selector_outer, 0x280, 32, RX_HASH_FIELDS) \
	S(L, l, RX_HASH_FIELD_SELECTOR_INNER, \
	  rx_hash_field_selector_inner, 0x2a0, 32, RX_HASH_FIELDS)

#define CRL_PRM_CREATE_TIR_IN_FIELDS(F, S, L, l) \
	S(L, l, CTX, ctx, 0x100, 1920, TIRC)

#define CRL_PRM_CREATE_TIR_OUT_FIELDS(F, S, L, l) \
	F(L, l, TIRN, tirn, 0x048, 24)

#define CRL_PRM_MODIFY_TIR_IN_FIELDS(F, S, L, l) \
	F(L, l, TIRN, tirn, 0x048, 24) \
	S(L, l, BITMASK, bitmask, 0x080, 64, MODIFY_TIR_BITMASK) \
	S(L, l, CTX, ctx, 0x100, 1920, TIRC)

#define CRL_PRM_MODIFY_TIR_BITMASK_FIELDS(F, S, L, l) \
	F(L, l, SELF_LB_EN, self_lb_en, 0x03b, 1) \
	F(L, l, HASH, hash, 0x03d, 1) \
	F(L, l, INDIRECT_TABLE, indirect_table, 0x03e, 1) \
	F(L, l, PACKET_MERGE, packet_merge, 0x03f, 1)

#define CRL_PRM_QUERY_TIR_IN_FIELDS(F, S, L, l) \
	F(L, l, TIRN, tirn, 0x048, 24)

#define CRL_PRM_QUERY_TIR_OUT_FIELDS(F, S, L, l) \
	S(L, l, TIR_CONTEXT, tir_context, 0x100, 1920, TIRC)

#define CRL_PRM_DESTROY_TIR_IN_FIELDS(F, S, L, l) \
	F(L, l, TIRN, tirn, 0x048, 24)

#define CRL_PRM_MATCH_LYR_2_4_FIELDS(F, S, L, l) \
	F(L, l, SMAC_47_16, smac_47_16, 0x000, 32) \
	F(L, l, SMAC_15_0, smac_15_0, 0x020, 16) \
	F(L, l, ETHERTYPE, ethertype, 0x030, 16) \
	F(L, l, DMAC_47_16, dmac_47_16, 0x040, 32) \
	F(L, l, DMAC_15_0, dmac_15_0, 0x060, 16) \
	F(L, l, FIRST_PRIO, first_prio, 0x070, 3) \
	F(L, l, FIRST_CFI, first_cfi, 0x073, 1) \
	F(L, l, FIRST_VID, first_vid, 0x074, 12) \
	F(L, l, IP_PROTOCOL, ip_protocol, 0x080, 8) \
	F(L, l, IP_DSCP, ip_dscp, 0x088, 6) \
	F(L, l, IP_ECN, ip_ecn, 0x08e, 2) \
	F(L, l, CVLAN_TAG, cvlan_tag, 0x090, 1) \
	F(L, l, SVLAN_TAG, svlan_tag, 0x091, 1) \
	F(L, l, FRAG, frag, 0x092, 1) \
	F(L, l, IP_VERSION, ip_version, 0x093, 4) \
	F(L, l, TCP_FLAGS, tcp_flags, 0x097, 9) \
	F(L, l, TCP_SPORT, tcp_sport, 0x0a0, 16) \
	F(L, l, TCP_DPORT, tcp_dport, 0x0b0, 16) \
	F(L, l, IPV4_IHL, ipv4_ihl, 0x0d0, 4) \
	F(L, l, TTL_HOPLIMIT, ttl_hoplimit, 0x0d8, 8) \
	F(L, l, UDP_SPORT, udp_sport, 0x0e0, 16) \
	F(L, l, UDP_DPORT, udp_dport, 0x0f0, 16) \
	F(L, l, SRC_IPV4_SRC_IPV6, src_ipv4_src_ipv6, 0x100, 128) \
	F(L, l, DST_IPV4_DST_IPV6, dst_ipv4_dst_ipv6, 0x180, 128)

#define CRL_PRM_MATCH_MISC_FIELDS(F, S, L, l) \
	F(L, l, SOURCE_SQN, source_sqn, 0x008, 24) \
	F(L, l, SOURCE_PORT, source_port, 0x030, 16) \
	F(L, l, OUTER_SECOND_VID, outer_second_vid, 0x044, 12) \
	F(L, l, GRE_PROTOCOL, gre_protocol, 0x070, 16) \
	F(L, l, VXLAN_VNI, vxlan_vni, 0x0a0, 24) \
	F(L, l, OUTER_IPV6_FLOW_LABEL, outer_ipv6_flow_label, 0x0ec, 20) \
	F(L, l, BTH_DST_QP, bth_dst_qp, 0x148, 24)

#define CRL_PRM_MATCH_PARAM_FIELDS(F, S, L, l) \
	S(L, l, OUTER_HEADERS, outer_headers, 0x000, 512, MATCH_LYR_2_4) \
	S(L, l, MISC_PARAMETERS, misc_parameters, 0x200, 512, MATCH_MISC) \
	S(L, l, INNER_HEADERS, inner_headers, 0x400, 512, MATCH_LYR_2_4)
/* clang-format on */

#endif /* CRL_PRM_STEER_H */
