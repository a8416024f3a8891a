/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PRM layouts, part 2: completion, send and receive queues, and the work queue (wq) that the
 * contexts of send and receive queues end with. Offsets in umems are bytes. Form of the lists:
 * prm.h. Only prm.h includes this file.
 */
#ifndef CRL_PRM_QUEUES_H
#define CRL_PRM_QUEUES_H

/* clang-format off */
#define CRL_PRM_QUEUES_LAYOUTS(Y) \
	Y(CQC, cqc, 0x200) \
	Y(CREATE_CQ_IN, create_cq_in, 0x880) \
	Y(CREATE_CQ_OUT, create_cq_out, 0x080) \
	Y(QUERY_CQ_IN, query_cq_in, 0x080) \
	Y(QUERY_CQ_OUT, query_cq_out, 0x880) \
	Y(DESTROY_CQ_IN, destroy_cq_in, 0x080) \
	Y(WQ, wq, 0x600) \
	Y(SQC, sqc, 0x780) \
	Y(CREATE_SQ_IN, create_sq_in, 0x880) \
	Y(CREATE_SQ_OUT, create_sq_out, 0x080) \
	Y(MODIFY_SQ_IN, modify_sq_in, 0x880) \
	Y(QUERY_SQ_IN, query_sq_in, 0x080) \
	Y(QUERY_SQ_OUT, query_sq_out, 0x880) \
	Y(DESTROY_SQ_IN, destroy_sq_in, 0x080) \
	Y(RQC, rqc, 0x780) \
	Y(CREATE_RQ_IN, create_rq_in, 0x880) \
	Y(CREATE_RQ_OUT, create_rq_out, 0x080) \
	Y(MODIFY_RQ_IN, modify_rq_in, 0x880) \
	Y(QUERY_RQ_IN, query_rq_in, 0x080) \
	Y(QUERY_RQ_OUT, query_rq_out, 0x880) \
	Y(DESTROY_RQ_IN, destroy_rq_in, 0x080)

#define CRL_PRM_CQC_FIELDS(F, S, L, l) \
	F(L, l, STATUS, status, 0x000, 4) \
	F(L, l, DBR_UMEM_VALID, dbr_umem_valid, 0x006, 1) \
	F(L, l, CQE_SZ, cqe_sz, 0x008, 3) \
	F(L, l, CC, cc, 0x00b, 1) \
	F(L, l, SCQE_BREAK_MODERATION_EN, scqe_break_moderation_en, 0x00d, 1) \
	F(L, l, OI, oi, 0x00e, 1) \
	F(L, l, CQ_PERIOD_MODE, cq_period_mode, 0x00f, 2) \
	F(L, l, CQE_COMP_EN, cqe_comp_en, 0x011, 1) \
	F(L, l, MINI_CQE_RES_FORMAT, mini_cqe_res_format, 0x012, 2) \
	F(L, l, ST, st, 0x014, 4) \
	F(L, l, DBR_UMEM_ID, dbr_umem_id, 0x020, 32) \
	F(L, l, PAGE_OFFSET, page_offset, 0x054, 6) \
	F(L, l, MINI_CQE_RES_FORMAT_EXT, mini_cqe_res_format_ext, 0x05c, 2) \
	F(L, l, LOG_CQ_SIZE, log_cq_size, 0x063, 5) \
	F(L, l, UAR_PAGE, uar_page, 0x068, 24) \
	F(L, l, CQ_PERIOD, cq_period, 0x084, 12) \
	F(L, l, CQ_MAX_COUNT, cq_max_count, 0x090, 16) \
	F(L, l, C_EQN, c_eqn, 0x0b8, 8) \
	F(L, l, LOG_PAGE_SIZE, log_page_size, 0x0c3, 5) \
	F(L, l, LAST_NOTIFIED_INDEX, last_notified_index, 0x108, 24) \
	F(L, l, LAST_SOLICIT_INDEX, last_solicit_index, 0x128, 24) \
	F(L, l, CONSUMER_COUNTER, consumer_counter, 0x148, 24) \
	F(L, l, PRODUCER_COUNTER, producer_counter, 0x168, 24) \
	F(L, l, DBR_ADDR, dbr_addr, 0x1c0, 64)

#define CRL_PRM_CREATE_CQ_IN_FIELDS(F, S, L, l) \
	S(L, l, CQ_CONTEXT, cq_context, 0x080, 512, CQC) \
	F(L, l, CQ_UMEM_OFFSET, cq_umem_offset, 0x280, 64) \
	F(L, l, CQ_UMEM_ID, cq_umem_id, 0x2c0, 32) \
	F(L, l, CQ_UMEM_VALID, cq_umem_valid, 0x2e0, 1)

#define CRL_PRM_CREATE_CQ_OUT_FIELDS(F, S, L, l) \
	F(L, l, CQN, cqn, 0x048, 24)

#define CRL_PRM_QUERY_CQ_IN_FIELDS(F, S, L, l) \
	F(L, l, CQN, cqn, 0x048, 24)

#define CRL_PRM_QUERY_CQ_OUT_FIELDS(F, S, L, l) \
	S(L, l, CQ_CONTEXT, cq_context, 0x080, 512, CQC)

#define CRL_PRM_DESTROY_CQ_IN_FIELDS(F, S, L, l) \
	F(L, l, CQN, cqn, 0x048, 24)

#define CRL_PRM_WQ_FIELDS(F, S, L, l) \
	F(L, l, WQ_TYPE, wq_type, 0x000, 4) \
	F(L, l, WQ_SIGNATURE, wq_signature, 0x004, 1) \
	F(L, l, END_PADDING_MODE, end_padding_mode, 0x005, 2) \
	F(L, l, CD_SLAVE, cd_slave, 0x007, 1) \
	F(L, l, HDS_SKIP_FIRST_SGE, hds_skip_first_sge, 0x020, 1) \
	F(L, l, LOG2_HDS_BUF_SIZE, log2_hds_buf_size, 0x021, 3) \
	F(L, l, PAGE_OFFSET, page_offset, 0x02b, 5) \
	F(L, l, LWM, lwm, 0x030, 16) \
	F(L, l, PD, pd, 0x048, 24) \
	F(L, l, UAR_PAGE, uar_page, 0x068, 24) \
	F(L, l, DBR_ADDR, dbr_addr, 0x080, 64) \
	F(L, l, HW_COUNTER, hw_counter, 0x0c0, 32) \
	F(L, l, SW_COUNTER, sw_counter, 0x0e0, 32) \
	F(L, l, LOG_WQ_STRIDE, log_wq_stride, 0x10c, 4) \
	F(L, l, LOG_WQ_PG_SZ, log_wq_pg_sz, 0x113, 5) \
	F(L, l, LOG_WQ_SZ, log_wq_sz, 0x11b, 5) \
	F(L, l, DBR_UMEM_VALID, dbr_umem_valid, 0x120, 1) \
	F(L, l, WQ_UMEM_VALID, wq_umem_valid, 0x121, 1) \
	F(L, l, LOG_HAIRPIN_NUM_PACKETS, log_hairpin_num_packets, 0x123, 5) \
	F(L, l, LOG_HAIRPIN_DATA_SZ, log_hairpin_data_sz, 0x12b, 5) \
	F(L, l, LOG_WQE_NUM_OF_STRIDES, log_wqe_num_of_strides, 0x134, 4) \
	F(L, l, TWO_BYTE_SHIFT_EN, two_byte_shift_en, 0x138, 1) \
	F(L, l, LOG_WQE_STRIDE_SIZE, log_wqe_stride_size, 0x13d, 3) \
	F(L, l, DBR_UMEM_ID, dbr_umem_id, 0x140, 32) \
	F(L, l, WQ_UMEM_ID, wq_umem_id, 0x160, 32) \
	F(L, l, WQ_UMEM_OFFSET, wq_umem_offset, 0x180, 64)

#define CRL_PRM_SQC_FIELDS(F, S, L, l) \
	F(L, l, RLKY, rlky, 0x000, 1) \
	F(L, l, CD_MASTER, cd_master, 0x001, 1) \
	F(L, l, FRE, fre, 0x002, 1) \
	F(L, l, FLUSH_IN_ERROR_EN, flush_in_error_en, 0x003, 1) \
	F(L, l, ALLOW_MULTI_PKT_SEND_WQE, allow_multi_pkt_send_wqe, 0x004, 1) \
	F(L, l, MIN_WQE_INLINE_MODE, min_wqe_inline_mode, 0x005, 3) \
	F(L, l, STATE, state, 0x008, 4) \
	F(L, l, REG_UMR, reg_umr, 0x00c, 1) \
	F(L, l, ALLOW_SWP, allow_swp, 0x00d, 1) \
	F(L, l, HAIRPIN, hairpin, 0x00e, 1) \
	F(L, l, NON_WIRE, non_wire, 0x00f, 1) \
	F(L, l, STATIC_SQ_WQ, static_sq_wq, 0x010, 1) \
	F(L, l, TS_FORMAT, ts_format, 0x01a, 2) \
	F(L, l, USER_INDEX, user_index, 0x028, 24) \
	F(L, l, CQN, cqn, 0x048, 24) \
	F(L, l, HAIRPIN_PEER_RQ, hairpin_peer_rq, 0x068, 24) \
	F(L, l, HAIRPIN_PEER_VHCA, hairpin_peer_vhca, 0x090, 16) \
	F(L, l, TS_CQE_TO_DEST_CQN, ts_cqe_to_dest_cqn, 0x0c8, 24) \
	F(L, l, PACKET_PACING_RATE_LIMIT_INDEX, packet_pacing_rate_limit_index, 0x0f0, 16) \
	F(L, l, TIS_LST_SZ, tis_lst_sz, 0x100, 16) \
	F(L, l, QOS_QUEUE_GROUP_ID, qos_queue_group_id, 0x110, 16) \
	F(L, l, TIS_NUM_0, tis_num_0, 0x168, 24) \
	S(L, l, WQ, wq, 0x180, 1536, WQ)

#define CRL_PRM_CREATE_SQ_IN_FIELDS(F, S, L, l) \
	S(L, l, CTX, ctx, 0x100, 1920, SQC)

#define CRL_PRM_CREATE_SQ_OUT_FIELDS(F, S, L, l) \
	F(L, l, SQN, sqn, 0x048, 24)

#define CRL_PRM_MODIFY_SQ_IN_FIELDS(F, S, L, l) \
	F(L, l, SQ_STATE, sq_state, 0x040, 4) \
	F(L, l, SQN, sqn, 0x048, 24) \
	F(L, l, MODIFY_BITMASK, modify_bitmask, 0x080, 64) \
	S(L, l, CTX, ctx, 0x100, 1920, SQC)

#define CRL_PRM_QUERY_SQ_IN_FIELDS(F, S, L, l) \
	F(L, l, SQN, sqn, 0x048, 24)

#define CRL_PRM_QUERY_SQ_OUT_FIELDS(F, S, L, l) \
	S(L, l, SQ_CONTEXT, sq_context, 0x100, 1920, SQC)

#define CRL_PRM_DESTROY_SQ_IN_FIELDS(F, S, L, l) \
	F(L, l, SQN, sqn, 0x048, 24)

#define CRL_PRM_RQC_FIELDS(F, S, L, l) \
	F(L, l, RLKY, rlky, 0x000, 1) \
	F(L, l, DELAY_DROP_EN, delay_drop_en, 0x001, 1) \
	F(L, l, SCATTER_FCS, scatter_fcs, 0x002, 1) \
	F(L, l, VSD, vsd, 0x003, 1) \
	F(L, l, MEM_RQ_TYPE, mem_rq_type, 0x004, 4) \
	F(L, l, STATE, state, 0x008, 4) \
	F(L, l, FLUSH_IN_ERROR_EN, flush_in_error_en, 0x00d, 1) \
	F(L, l, HAIRPIN, hairpin, 0x00e, 1) \
	F(L, l, TS_FORMAT, ts_format, 0x01a, 2) \
	F(L, l, USER_INDEX, user_index, 0x028, 24) \
	F(L, l, CQN, cqn, 0x048, 24) \
	F(L, l, COUNTER_SET_ID, counter_set_id, 0x060, 8) \
	F(L, l, RMPN, rmpn, 0x088, 24) \
	F(L, l, HAIRPIN_PEER_SQ, hairpin_peer_sq, 0x0a8, 24) \
	F(L, l, HAIRPIN_PEER_VHCA, hairpin_peer_vhca, 0x0d0, 16) \
	S(L, l, WQ, wq, 0x180, 1536, WQ)

#define CRL_PRM_CREATE_RQ_IN_FIELDS(F, S, L, l) \
	S(L, l, CTX, ctx, 0x100, 1920, RQC)

#define CRL_PRM_CREATE_RQ_OUT_FIELDS(F, S, L, l) \
	F(L, l, RQN, rqn, 0x048, 24)

#define CRL_PRM_MODIFY_RQ_IN_FIELDS(F, S, L, l) \
	F(L, l, RQ_STATE, rq_state, 0x040, 4) \
	F(L, l, RQN, rqn, 0x048, 24) \
	F(L, l, MODIFY_BITMASK, modify_bitmask, 0x080, 64) \
	S(L, l, CTX, ctx, 0x100, 1920, RQC)

#define CRL_PRM_QUERY_RQ_IN_FIELDS(F, S, L, l) \
	F(L, l, RQN, rqn, 0x048, 24)

#define CRL_PRM_QUERY_RQ_OUT_FIELDS(F, S, L, l) \
	S(L, l, RQ_CONTEXT, rq_context, 0x100, 1920, RQC)

#define CRL_PRM_DESTROY_RQ_IN_FIELDS(F, S, L, l) \
	F(L, l, RQN, rqn, 0x048, 24)
/* clang-format on */

#endif /* CRL_PRM_QUEUES_H */
