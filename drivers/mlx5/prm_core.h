/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PRM layouts, part 5: what only the kernel's driver says to a NIC, not a user: bring-up, pages,
 * capabilities, port registers, event queues, memory keys, flow tables. softcx takes them apart;
 * Carillon's driver builds none. Form of the lists: prm.h. Only prm.h includes this file.
 */
#ifndef CRL_PRM_CORE_H
#define CRL_PRM_CORE_H

/* clang-format off */
#define CRL_PRM_CORE_LAYOUTS(Y) \
	Y(ENABLE_HCA_IN, enable_hca_in, 0x080) \
	Y(DISABLE_HCA_IN, disable_hca_in, 0x080) \
	Y(QUERY_ISSI_IN, query_issi_in, 0x080) \
	Y(QUERY_ISSI_OUT, query_issi_out, 0x380) \
	Y(SET_ISSI_IN, set_issi_in, 0x080) \
	Y(QUERY_PAGES_IN, query_pages_in, 0x080) \
	Y(QUERY_PAGES_OUT, query_pages_out, 0x080) \
	Y(MANAGE_PAGES_IN, manage_pages_in, 0x080) \
	Y(MANAGE_PAGES_OUT, manage_pages_out, 0x080) \
	Y(SET_HCA_CAP_IN, set_hca_cap_in, 0x8080) \
	Y(INIT_HCA_IN, init_hca_in, 0x100) \
	Y(TEARDOWN_HCA_IN, teardown_hca_in, 0x080) \
	Y(TEARDOWN_HCA_OUT, teardown_hca_out, 0x080) \
	Y(SET_DRIVER_VERSION_IN, set_driver_version_in, 0x280) \
	Y(QUERY_ADAPTER_IN, query_adapter_in, 0x080) \
	Y(QUERY_ADAPTER_OUT, query_adapter_out, 0x880) \
	Y(QUERY_ADAPTER, query_adapter_param_block, 0x800) \
	Y(ACCESS_REGISTER_IN, access_register_in, 0x080) \
	Y(ACCESS_REGISTER_OUT, access_register_out, 0x080) \
	Y(CREATE_EQ_IN, create_eq_in, 0x880) \
	Y(CREATE_EQ_OUT, create_eq_out, 0x080) \
	Y(DESTROY_EQ_IN, destroy_eq_in, 0x080) \
	Y(QUERY_EQ_IN, query_eq_in, 0x080) \
	Y(QUERY_EQ_OUT, query_eq_out, 0x880) \
	Y(EQC, eqc, 0x200) \
	Y(CREATE_MKEY_IN, create_mkey_in, 0x880) \
	Y(CREATE_MKEY_OUT, create_mkey_out, 0x080) \
	Y(DESTROY_MKEY_IN, destroy_mkey_in, 0x080) \
	Y(MKC, mkc, 0x200) \
	Y(QUERY_SPECIAL_CONTEXTS_IN, query_special_contexts_in, 0x080) \
	Y(QUERY_SPECIAL_CONTEXTS_OUT, query_special_contexts_out, 0x100) \
	Y(CREATE_UMEM_IN, create_umem_in, 0x180) \
	Y(CREATE_UMEM_OUT, create_umem_out, 0x080) \
	Y(DESTROY_UMEM_IN, destroy_umem_in, 0x080) \
	Y(UMEM, umem, 0x100) \
	Y(CREATE_FLOW_TABLE_IN, create_flow_table_in, 0x200) \
	Y(CREATE_FLOW_TABLE_OUT, create_flow_table_out, 0x080) \
	Y(FLOW_TABLE, flow_table_context, 0x140) \
	Y(DESTROY_FLOW_TABLE_IN, destroy_flow_table_in, 0x200) \
	Y(MODIFY_FLOW_TABLE_IN, modify_flow_table_in, 0x200) \
	Y(SET_FLOW_TABLE_ROOT_IN, set_flow_table_root_in, 0x200) \
	Y(CREATE_FLOW_GROUP_IN, create_flow_group_in, 0x2000) \
	Y(CREATE_FLOW_GROUP_OUT, create_flow_group_out, 0x080) \
	Y(DESTROY_FLOW_GROUP_IN, destroy_flow_group_in, 0x200) \
	Y(SET_FTE_IN, set_fte_in, 0x1a00) \
	Y(DELETE_FTE_IN, delete_fte_in, 0x200) \
	Y(FLOW_CONTEXT, flow_context, 0x1800) \
	Y(DEST_FORMAT, dest_format_struct, 0x040) \
	Y(MODIFY_NIC_VPORT_CONTEXT_IN, modify_nic_vport_context_in, 0x1000) \
	Y(NIC_VPORT_SELECT, modify_nic_vport_field_select, 0x020) \
	Y(QUERY_VPORT_COUNTER_IN, query_vport_counter_in, 0x100) \
	Y(MODIFY_CQ_IN, modify_cq_in, 0x880) \
	Y(PMTU_REG, pmtu_reg, 0x080) \
	Y(PAOS_REG, paos_reg, 0x080) \
	Y(PTYS_REG, ptys_reg, 0x200) \
	Y(QUERY_VPORT_COUNTER_OUT, query_vport_counter_out, 0x1080) \
	Y(TRAFFIC_COUNTER, traffic_counter, 0x080) \
	Y(PFCC_REG, pfcc_reg, 0x100) \
	Y(PPCNT_REG, ppcnt_reg, 0x800)

#define CRL_PRM_ENABLE_HCA_IN_FIELDS(F, S, L, l) \
	F(L, l, EMBEDDED_CPU_FUNCTION, embedded_cpu_function, 0x040, 1) \
	F(L, l, FUNCTION_ID, function_id, 0x050, 16)

#define CRL_PRM_DISABLE_HCA_IN_FIELDS(F, S, L, l) \
	F(L, l, EMBEDDED_CPU_FUNCTION, embedded_cpu_function, 0x040, 1) \
	F(L, l, FUNCTION_ID, function_id, 0x050, 16)

#define CRL_PRM_QUERY_ISSI_IN_FIELDS(F, S, L, l)

#define CRL_PRM_QUERY_ISSI_OUT_FIELDS(F, S, L, l) \
	F(L, l, CURRENT_ISSI, current_issi, 0x050, 16) \
	F(L, l, SUPPORTED_ISSI_DW0, supported_issi_dw0, 0x360, 32)

#define CRL_PRM_SET_ISSI_IN_FIELDS(F, S, L, l) \
	F(L, l, CURRENT_ISSI, current_issi, 0x050, 16)

#define CRL_PRM_QUERY_PAGES_IN_FIELDS(F, S, L, l) \
	F(L, l, EMBEDDED_CPU_FUNCTION, embedded_cpu_function, 0x040, 1) \
	F(L, l, FUNCTION_ID, function_id, 0x050, 16)

#define CRL_PRM_QUERY_PAGES_OUT_FIELDS(F, S, L, l) \
	F(L, l, EMBEDDED_CPU_FUNCTION, embedded_cpu_function, 0x040, 1) \
	F(L, l, FUNCTION_ID, function_id, 0x050, 16) \
	F(L, l, NUM_PAGES, num_pages, 0x060, 32)

#define CRL_PRM_MANAGE_PAGES_IN_FIELDS(F, S, L, l) \
	F(L, l, EMBEDDED_CPU_FUNCTION, embedded_cpu_function, 0x040, 1) \
	F(L, l, FUNCTION_ID, function_id, 0x050, 16) \
	F(L, l, INPUT_NUM_ENTRIES, input_num_entries, 0x060, 32)

#define CRL_PRM_MANAGE_PAGES_OUT_FIELDS(F, S, L, l) \
	F(L, l, OUTPUT_NUM_ENTRIES, output_num_entries, 0x040, 32)

#define CRL_PRM_SET_HCA_CAP_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_FUNCTION, other_function, 0x040, 1) \
	F(L, l, FUNCTION_ID, function_id, 0x050, 16) \
	F(L, l, CAPABILITY, capability, 0x080, 32768)

#define CRL_PRM_INIT_HCA_IN_FIELDS(F, S, L, l) \
	F(L, l, SW_OWNER_ID, sw_owner_id, 0x080, 128)

#define CRL_PRM_TEARDOWN_HCA_IN_FIELDS(F, S, L, l) \
	F(L, l, PROFILE, profile, 0x050, 16)

#define CRL_PRM_TEARDOWN_HCA_OUT_FIELDS(F, S, L, l) \
	F(L, l, STATE, state, 0x07f, 1)

#define CRL_PRM_SET_DRIVER_VERSION_IN_FIELDS(F, S, L, l) \
	F(L, l, DRIVER_VERSION, driver_version, 0x080, 512)

#define CRL_PRM_QUERY_ADAPTER_IN_FIELDS(F, S, L, l)

#define CRL_PRM_QUERY_ADAPTER_OUT_FIELDS(F, S, L, l) \
	S(L, l, QUERY_ADAPTER_STRUCT, query_adapter_struct, 0x080, 2048, QUERY_ADAPTER)

#define CRL_PRM_QUERY_ADAPTER_FIELDS(F, S, L, l) \
	F(L, l, IEEE_VENDOR_ID, ieee_vendor_id, 0x0c8, 24) \
	F(L, l, VSD_VENDOR_ID, vsd_vendor_id, 0x0f0, 16) \
	F(L, l, VSD, vsd, 0x100, 1664)

#define CRL_PRM_ACCESS_REGISTER_IN_FIELDS(F, S, L, l) \
	F(L, l, REGISTER_ID, register_id, 0x050, 16) \
	F(L, l, ARGUMENT, argument, 0x060, 32)

#define CRL_PRM_ACCESS_REGISTER_OUT_FIELDS(F, S, L, l)

#define CRL_PRM_CREATE_EQ_IN_FIELDS(F, S, L, l) \
	S(L, l, EQ_CONTEXT_ENTRY, eq_context_entry, 0x080, 512, EQC) \
	F(L, l, EVENT_BITMASK, event_bitmask, 0x2c0, 256)

#define CRL_PRM_CREATE_EQ_OUT_FIELDS(F, S, L, l) \
	F(L, l, EQ_NUMBER, eq_number, 0x058, 8)

#define CRL_PRM_DESTROY_EQ_IN_FIELDS(F, S, L, l) \
	F(L, l, EQ_NUMBER, eq_number, 0x058, 8)

#define CRL_PRM_QUERY_EQ_IN_FIELDS(F, S, L, l) \
	F(L, l, EQ_NUMBER, eq_number, 0x058, 8)

#define CRL_PRM_QUERY_EQ_OUT_FIELDS(F, S, L, l) \
	S(L, l, EQ_CONTEXT_ENTRY, eq_context_entry, 0x080, 512, EQC) \
	F(L, l, EVENT_BITMASK, event_bitmask, 0x2c0, 64)

#define CRL_PRM_EQC_FIELDS(F, S, L, l) \
	F(L, l, STATUS, status, 0x000, 4) \
	F(L, l, EC, ec, 0x00d, 1) \
	F(L, l, OI, oi, 0x00e, 1) \
	F(L, l, ST, st, 0x014, 4) \
	F(L, l, PAGE_OFFSET, page_offset, 0x054, 6) \
	F(L, l, LOG_EQ_SIZE, log_eq_size, 0x063, 5) \
	F(L, l, UAR_PAGE, uar_page, 0x068, 24) \
	F(L, l, INTR, intr, 0x0b4, 12) \
	F(L, l, LOG_PAGE_SIZE, log_page_size, 0x0c3, 5) \
	F(L, l, CONSUMER_COUNTER, consumer_counter, 0x148, 24) \
	F(L, l, PRODUCER_COUNTER, producer_counter, 0x168, 24)

#define CRL_PRM_CREATE_MKEY_IN_FIELDS(F, S, L, l) \
	F(L, l, PG_ACCESS, pg_access, 0x060, 1) \
	F(L, l, MKEY_UMEM_VALID, mkey_umem_valid, 0x061, 1) \
	S(L, l, MEMORY_KEY_MKEY_ENTRY, memory_key_mkey_entry, 0x080, 512, MKC) \
	F(L, l, TRANSLATIONS_OCTWORD_ACTUAL_SIZE, translations_octword_actual_size, 0x300, 32)

#define CRL_PRM_CREATE_MKEY_OUT_FIELDS(F, S, L, l) \
	F(L, l, MKEY_INDEX, mkey_index, 0x048, 24)

#define CRL_PRM_DESTROY_MKEY_IN_FIELDS(F, S, L, l) \
	F(L, l, MKEY_INDEX, mkey_index, 0x048, 24)

#define CRL_PRM_MKC_FIELDS(F, S, L, l) \
	F(L, l, FREE, free, 0x001, 1) \
	F(L, l, UMR_EN, umr_en, 0x010, 1) \
	F(L, l, A, a, 0x011, 1) \
	F(L, l, RW, rw, 0x012, 1) \
	F(L, l, RR, rr, 0x013, 1) \
	F(L, l, LW, lw, 0x014, 1) \
	F(L, l, LR, lr, 0x015, 1) \
	F(L, l, ACCESS_MODE_1_0, access_mode_1_0, 0x016, 2) \
	F(L, l, ACCESS_MODE_4_2, access_mode_4_2, 0x003, 3) \
	F(L, l, RELAXED_ORDERING_WRITE, relaxed_ordering_write, 0x00d, 1) \
	F(L, l, RELAXED_ORDERING_READ, relaxed_ordering_read, 0x1d9, 1) \
	F(L, l, QPN, qpn, 0x020, 24) \
	F(L, l, MKEY_7_0, mkey_7_0, 0x038, 8) \
	F(L, l, LENGTH64, length64, 0x060, 1) \
	F(L, l, PD, pd, 0x068, 24) \
	F(L, l, START_ADDR, start_addr, 0x080, 64) \
	F(L, l, LEN, len, 0x0c0, 64) \
	F(L, l, BSF_OCTWORD_SIZE, bsf_octword_size, 0x100, 32) \
	F(L, l, TRANSLATIONS_OCTWORD_SIZE, translations_octword_size, 0x1a0, 32) \
	F(L, l, LOG_PAGE_SIZE, log_page_size, 0x1db, 5)

#define CRL_PRM_QUERY_SPECIAL_CONTEXTS_IN_FIELDS(F, S, L, l)

#define CRL_PRM_QUERY_SPECIAL_CONTEXTS_OUT_FIELDS(F, S, L, l) \
	F(L, l, DUMP_FILL_MKEY, dump_fill_mkey, 0x040, 32) \
	F(L, l, RESD_LKEY, resd_lkey, 0x060, 32) \
	F(L, l, NULL_MKEY, null_mkey, 0x080, 32)

#define CRL_PRM_CREATE_UMEM_IN_FIELDS(F, S, L, l) \
	S(L, l, UMEM, umem, 0x080, 256, UMEM)

#define CRL_PRM_CREATE_UMEM_OUT_FIELDS(F, S, L, l) \
	F(L, l, UMEM_ID, umem_id, 0x048, 24)

#define CRL_PRM_DESTROY_UMEM_IN_FIELDS(F, S, L, l) \
	F(L, l, UMEM_ID, umem_id, 0x048, 24)

#define CRL_PRM_UMEM_FIELDS(F, S, L, l) \
	F(L, l, ATS, ats, 0x080, 1) \
	F(L, l, LOG_PAGE_SIZE, log_page_size, 0x09b, 5) \
	F(L, l, PAGE_OFFSET, page_offset, 0x0a0, 32) \
	F(L, l, NUM_OF_MTT, num_of_mtt, 0x0c0, 64)

#define CRL_PRM_CREATE_FLOW_TABLE_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16) \
	F(L, l, TABLE_TYPE, table_type, 0x080, 8) \
	S(L, l, FLOW_TABLE_CONTEXT, flow_table_context, 0x0c0, 320, FLOW_TABLE)

#define CRL_PRM_CREATE_FLOW_TABLE_OUT_FIELDS(F, S, L, l) \
	F(L, l, TABLE_ID, table_id, 0x048, 24)

#define CRL_PRM_FLOW_TABLE_FIELDS(F, S, L, l) \
	F(L, l, REFORMAT_EN, reformat_en, 0x000, 1) \
	F(L, l, DECAP_EN, decap_en, 0x001, 1) \
	F(L, l, TERMINATION_TABLE, termination_table, 0x003, 1) \
	F(L, l, TABLE_MISS_ACTION, table_miss_action, 0x004, 4) \
	F(L, l, LEVEL, level, 0x008, 8) \
	F(L, l, LOG_SIZE, log_size, 0x018, 8) \
	F(L, l, TABLE_MISS_ID, table_miss_id, 0x028, 24) \
	F(L, l, LAG_MASTER_NEXT_TABLE_ID, lag_master_next_table_id, 0x048, 24)

#define CRL_PRM_DESTROY_FLOW_TABLE_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16) \
	F(L, l, TABLE_TYPE, table_type, 0x080, 8) \
	F(L, l, TABLE_ID, table_id, 0x0a8, 24)

#define CRL_PRM_MODIFY_FLOW_TABLE_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16) \
	F(L, l, MODIFY_FIELD_SELECT, modify_field_select, 0x070, 16) \
	F(L, l, TABLE_TYPE, table_type, 0x080, 8) \
	F(L, l, TABLE_ID, table_id, 0x0a8, 24) \
	S(L, l, FLOW_TABLE_CONTEXT, flow_table_context, 0x0c0, 320, FLOW_TABLE)

#define CRL_PRM_SET_FLOW_TABLE_ROOT_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16) \
	F(L, l, TABLE_TYPE, table_type, 0x080, 8) \
	F(L, l, TABLE_ID, table_id, 0x0a8, 24) \
	F(L, l, UNDERLAY_QPN, underlay_qpn, 0x0c8, 24)

#define CRL_PRM_CREATE_FLOW_GROUP_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16) \
	F(L, l, TABLE_TYPE, table_type, 0x080, 8) \
	F(L, l, GROUP_TYPE, group_type, 0x08c, 4) \
	F(L, l, TABLE_ID, table_id, 0x0a8, 24) \
	F(L, l, SOURCE_ESWITCH_OWNER_VHCA_ID_VALID, source_eswitch_owner_vhca_id_valid, 0x0c0, 1) \
	F(L, l, START_FLOW_INDEX, start_flow_index, 0x0e0, 32) \
	F(L, l, END_FLOW_INDEX, end_flow_index, 0x120, 32) \
	F(L, l, MATCH_DEFINER_ID, match_definer_id, 0x150, 16) \
	F(L, l, MATCH_CRITERIA_ENABLE, match_criteria_enable, 0x1f8, 8) \
	S(L, l, MATCH_CRITERIA, match_criteria, 0x200, 4096, MATCH_PARAM)

#define CRL_PRM_CREATE_FLOW_GROUP_OUT_FIELDS(F, S, L, l) \
	F(L, l, GROUP_ID, group_id, 0x048, 24)

#define CRL_PRM_DESTROY_FLOW_GROUP_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16) \
	F(L, l, TABLE_TYPE, table_type, 0x080, 8) \
	F(L, l, TABLE_ID, table_id, 0x0a8, 24) \
	F(L, l, GROUP_ID, group_id, 0x0c0, 32)

#define CRL_PRM_SET_FTE_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16) \
	F(L, l, TABLE_TYPE, table_type, 0x080, 8) \
	F(L, l, TABLE_ID, table_id, 0x0a8, 24) \
	F(L, l, IGNORE_FLOW_LEVEL, ignore_flow_level, 0x0c0, 1) \
	F(L, l, MODIFY_ENABLE_MASK, modify_enable_mask, 0x0d8, 8) \
	F(L, l, FLOW_INDEX, flow_index, 0x100, 32) \
	S(L, l, FLOW_CONTEXT, flow_context, 0x200, 6144, FLOW_CONTEXT)

#define CRL_PRM_DELETE_FTE_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16) \
	F(L, l, TABLE_TYPE, table_type, 0x080, 8) \
	F(L, l, TABLE_ID, table_id, 0x0a8, 24) \
	F(L, l, FLOW_INDEX, flow_index, 0x100, 32)

#define CRL_PRM_FLOW_CONTEXT_FIELDS(F, S, L, l) \
	F(L, l, GROUP_ID, group_id, 0x020, 32) \
	F(L, l, FLOW_TAG, flow_tag, 0x048, 24) \
	F(L, l, ACTION, action, 0x070, 16) \
	F(L, l, EXTENDED_DESTINATION, extended_destination, 0x080, 1) \
	F(L, l, DESTINATION_LIST_SIZE, destination_list_size, 0x088, 24) \
	F(L, l, FLOW_COUNTER_LIST_SIZE, flow_counter_list_size, 0x0a8, 24) \
	S(L, l, MATCH_VALUE, match_value, 0x200, 4096, MATCH_PARAM)

#define CRL_PRM_DEST_FORMAT_FIELDS(F, S, L, l) \
	F(L, l, DESTINATION_TYPE, destination_type, 0x000, 8) \
	F(L, l, DESTINATION_ID, destination_id, 0x008, 24)

#define CRL_PRM_MODIFY_NIC_VPORT_CONTEXT_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16) \
	S(L, l, FIELD_SELECT, field_select, 0x060, 32, NIC_VPORT_SELECT) \
	S(L, l, NIC_VPORT_CONTEXT, nic_vport_context, 0x800, 2048, NIC_VPORT_CONTEXT)

#define CRL_PRM_NIC_VPORT_SELECT_FIELDS(F, S, L, l) \
	F(L, l, ROCE_EN, roce_en, 0x01e, 1) \
	F(L, l, MTU, mtu, 0x019, 1) \
	F(L, l, PROMISC, promisc, 0x01b, 1) \
	F(L, l, PERMANENT_ADDRESS, permanent_address, 0x01c, 1) \
	F(L, l, ADDRESSES_LIST, addresses_list, 0x01d, 1) \
	F(L, l, CHANGE_EVENT, change_event, 0x01a, 1) \
	F(L, l, MIN_INLINE, min_inline, 0x018, 1) \
	F(L, l, NODE_GUID, node_guid, 0x016, 1) \
	F(L, l, PORT_GUID, port_guid, 0x017, 1) \
	F(L, l, AFFILIATION, affiliation, 0x012, 1)

#define CRL_PRM_QUERY_VPORT_COUNTER_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, PORT_NUM, port_num, 0x04c, 4) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16) \
	F(L, l, CLEAR, clear, 0x0c0, 1)

#define CRL_PRM_MODIFY_CQ_IN_FIELDS(F, S, L, l) \
	F(L, l, CQN, cqn, 0x048, 24) \
	S(L, l, CQ_CONTEXT, cq_context, 0x080, 512, CQC)

#define CRL_PRM_PMTU_REG_FIELDS(F, S, L, l) \
	F(L, l, LOCAL_PORT, local_port, 0x008, 8) \
	F(L, l, MAX_MTU, max_mtu, 0x020, 16) \
	F(L, l, ADMIN_MTU, admin_mtu, 0x040, 16) \
	F(L, l, OPER_MTU, oper_mtu, 0x060, 16)

#define CRL_PRM_PAOS_REG_FIELDS(F, S, L, l) \
	F(L, l, SWID, swid, 0x000, 8) \
	F(L, l, LOCAL_PORT, local_port, 0x008, 8) \
	F(L, l, ADMIN_STATUS, admin_status, 0x014, 4) \
	F(L, l, OPER_STATUS, oper_status, 0x01c, 4) \
	F(L, l, ASE, ase, 0x020, 1) \
	F(L, l, EE, ee, 0x021, 1) \
	F(L, l, E, e, 0x03e, 2)

#define CRL_PRM_PTYS_REG_FIELDS(F, S, L, l) \
	F(L, l, LOCAL_PORT, local_port, 0x008, 8) \
	F(L, l, PROTO_MASK, proto_mask, 0x01d, 3) \
	F(L, l, ETH_PROTO_CAPABILITY, eth_proto_capability, 0x060, 32) \
	F(L, l, ETH_PROTO_ADMIN, eth_proto_admin, 0x0c0, 32) \
	F(L, l, ETH_PROTO_OPER, eth_proto_oper, 0x120, 32)

#define CRL_PRM_QUERY_VPORT_COUNTER_OUT_FIELDS(F, S, L, l) \
	S(L, l, RECEIVED_ETH_UNICAST, received_eth_unicast, 0x480, 128, TRAFFIC_COUNTER) \
	S(L, l, TRANSMITTED_ETH_UNICAST, transmitted_eth_unicast, 0x500, 128, TRAFFIC_COUNTER)

#define CRL_PRM_TRAFFIC_COUNTER_FIELDS(F, S, L, l) \
	F(L, l, PACKETS, packets, 0x000, 64) \
	F(L, l, OCTETS, octets, 0x040, 64)

#define CRL_PRM_PFCC_REG_FIELDS(F, S, L, l) \
	F(L, l, LOCAL_PORT, local_port, 0x008, 8) \
	F(L, l, PPTX, pptx, 0x040, 1) \
	F(L, l, PPRX, pprx, 0x060, 1)

#define CRL_PRM_PPCNT_REG_FIELDS(F, S, L, l) \
	F(L, l, SWID, swid, 0x000, 8) \
	F(L, l, LOCAL_PORT, local_port, 0x008, 8) \
	F(L, l, PNAT, pnat, 0x010, 2) \
	F(L, l, GRP, grp, 0x01a, 6) \
	F(L, l, CLR, clr, 0x020, 1) \
	F(L, l, PRIO_TC, prio_tc, 0x03d, 3)

/* clang-format on */

#endif /* CRL_PRM_CORE_H */
