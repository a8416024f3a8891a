/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PRM layouts, part 6: what mlx5_ib asks of a NIC for its users and for itself: user contexts,
 * and the few queue pairs and shared receive queues without which it does not start. softcx
 * takes them apart; Carillon's driver builds none. Form of the lists: prm.h. Only prm.h includes
 * this file.
 */
#ifndef CRL_PRM_VERBS_H
#define CRL_PRM_VERBS_H

/* clang-format off */
#define CRL_PRM_VERBS_LAYOUTS(Y) \
	Y(CREATE_UCTX_IN, create_uctx_in, 0x200) \
	Y(CREATE_UCTX_OUT, create_uctx_out, 0x080) \
	Y(UCTX, uctx, 0x180) \
	Y(DESTROY_UCTX_IN, destroy_uctx_in, 0x080) \
	Y(ALLOC_XRCD_IN, alloc_xrcd_in, 0x080) \
	Y(ALLOC_XRCD_OUT, alloc_xrcd_out, 0x080) \
	Y(DEALLOC_XRCD_IN, dealloc_xrcd_in, 0x080) \
	Y(CREATE_XRC_SRQ_IN, create_xrc_srq_in, 0x880) \
	Y(CREATE_XRC_SRQ_OUT, create_xrc_srq_out, 0x080) \
	Y(XRC_SRQC, xrc_srqc, 0x200) \
	Y(DESTROY_XRC_SRQ_IN, destroy_xrc_srq_in, 0x080) \
	Y(CREATE_RMP_IN, create_rmp_in, 0x880) \
	Y(CREATE_RMP_OUT, create_rmp_out, 0x080) \
	Y(RMPC, rmpc, 0x780) \
	Y(DESTROY_RMP_IN, destroy_rmp_in, 0x080) \
	Y(CREATE_QP_IN, create_qp_in, 0x880) \
	Y(CREATE_QP_OUT, create_qp_out, 0x080) \
	Y(DESTROY_QP_IN, destroy_qp_in, 0x080) \
	Y(QPC, qpc, 0x740) \
	Y(ADS, ads, 0x160) \
	Y(RST2INIT_QP_IN, rst2init_qp_in, 0x880) \
	Y(QUERY_QP_IN, query_qp_in, 0x080) \
	Y(QUERY_QP_OUT, query_qp_out, 0x880) \
	Y(QUERY_HCA_VPORT_PKEY_IN, query_hca_vport_pkey_in, 0x080) \
	Y(QUERY_HCA_VPORT_PKEY_OUT, query_hca_vport_pkey_out, 0x080)

#define CRL_PRM_CREATE_UCTX_IN_FIELDS(F, S, L, l) \
	S(L, l, UCTX, uctx, 0x080, 384, UCTX)

#define CRL_PRM_CREATE_UCTX_OUT_FIELDS(F, S, L, l) \
	F(L, l, UID, uid, 0x050, 16)

#define CRL_PRM_UCTX_FIELDS(F, S, L, l) \
	F(L, l, CAP, cap, 0x000, 32)

#define CRL_PRM_DESTROY_UCTX_IN_FIELDS(F, S, L, l) \
	F(L, l, UID, uid, 0x050, 16)

#define CRL_PRM_ALLOC_XRCD_IN_FIELDS(F, S, L, l)

#define CRL_PRM_ALLOC_XRCD_OUT_FIELDS(F, S, L, l) \
	F(L, l, XRCD, xrcd, 0x048, 24)

#define CRL_PRM_DEALLOC_XRCD_IN_FIELDS(F, S, L, l) \
	F(L, l, XRCD, xrcd, 0x048, 24)

#define CRL_PRM_CREATE_XRC_SRQ_IN_FIELDS(F, S, L, l) \
	S(L, l, XRC_SRQ_CONTEXT_ENTRY, xrc_srq_context_entry, 0x080, 512, XRC_SRQC) \
	F(L, l, XRC_SRQ_UMEM_VALID, xrc_srq_umem_valid, 0x2e0, 1)

#define CRL_PRM_CREATE_XRC_SRQ_OUT_FIELDS(F, S, L, l) \
	F(L, l, XRC_SRQN, xrc_srqn, 0x048, 24)

#define CRL_PRM_XRC_SRQC_FIELDS(F, S, L, l) \
	F(L, l, STATE, state, 0x000, 4) \
	F(L, l, LOG_XRC_SRQ_SIZE, log_xrc_srq_size, 0x004, 4) \
	F(L, l, WQ_SIGNATURE, wq_signature, 0x020, 1) \
	F(L, l, CONT_SRQ, cont_srq, 0x021, 1) \
	F(L, l, RLKY, rlky, 0x023, 1) \
	F(L, l, BASIC_CYCLIC_RCV_WQE, basic_cyclic_rcv_wqe, 0x024, 1) \
	F(L, l, LOG_RQ_STRIDE, log_rq_stride, 0x025, 3) \
	F(L, l, XRCD, xrcd, 0x028, 24) \
	F(L, l, PAGE_OFFSET, page_offset, 0x040, 6) \
	F(L, l, DBR_UMEM_VALID, dbr_umem_valid, 0x047, 1) \
	F(L, l, CQN, cqn, 0x048, 24) \
	F(L, l, USER_INDEX_EQUAL_XRC_SRQN, user_index_equal_xrc_srqn, 0x080, 1) \
	F(L, l, LOG_PAGE_SIZE, log_page_size, 0x082, 6) \
	F(L, l, USER_INDEX, user_index, 0x088, 24) \
	F(L, l, PD, pd, 0x0c8, 24) \
	F(L, l, LWM, lwm, 0x0e0, 16) \
	F(L, l, WQE_CNT, wqe_cnt, 0x0f0, 16) \
	F(L, l, DB_RECORD_ADDR_H, db_record_addr_h, 0x140, 32) \
	F(L, l, DB_RECORD_ADDR_L, db_record_addr_l, 0x160, 30)

#define CRL_PRM_DESTROY_XRC_SRQ_IN_FIELDS(F, S, L, l) \
	F(L, l, XRC_SRQN, xrc_srqn, 0x048, 24)

#define CRL_PRM_CREATE_RMP_IN_FIELDS(F, S, L, l) \
	S(L, l, CTX, ctx, 0x100, 1920, RMPC)

#define CRL_PRM_CREATE_RMP_OUT_FIELDS(F, S, L, l) \
	F(L, l, RMPN, rmpn, 0x048, 24)

#define CRL_PRM_RMPC_FIELDS(F, S, L, l) \
	F(L, l, STATE, state, 0x008, 4) \
	F(L, l, BASIC_CYCLIC_RCV_WQE, basic_cyclic_rcv_wqe, 0x020, 1) \
	S(L, l, WQ, wq, 0x180, 1536, WQ)

#define CRL_PRM_DESTROY_RMP_IN_FIELDS(F, S, L, l) \
	F(L, l, RMPN, rmpn, 0x048, 24)

#define CRL_PRM_CREATE_QP_IN_FIELDS(F, S, L, l) \
	F(L, l, INPUT_QPN, input_qpn, 0x048, 24) \
	F(L, l, OPT_PARAM_MASK, opt_param_mask, 0x080, 32) \
	F(L, l, ECE, ece, 0x0a0, 32) \
	S(L, l, QPC, qpc, 0x0c0, 1856, QPC) \
	F(L, l, WQ_UMEM_VALID, wq_umem_valid, 0x860, 1)

#define CRL_PRM_CREATE_QP_OUT_FIELDS(F, S, L, l) \
	F(L, l, QPN, qpn, 0x048, 24) \
	F(L, l, ECE, ece, 0x060, 32)

#define CRL_PRM_DESTROY_QP_IN_FIELDS(F, S, L, l) \
	F(L, l, QPN, qpn, 0x048, 24)

#define CRL_PRM_QPC_FIELDS(F, S, L, l) \
	F(L, l, STATE, state, 0x000, 4) \
	F(L, l, ST, st, 0x008, 8) \
	F(L, l, PM_STATE, pm_state, 0x013, 2) \
	F(L, l, END_PADDING_MODE, end_padding_mode, 0x01c, 2) \
	F(L, l, LATENCY_SENSITIVE, latency_sensitive, 0x023, 1) \
	F(L, l, PD, pd, 0x028, 24) \
	F(L, l, MTU, mtu, 0x040, 3) \
	F(L, l, LOG_MSG_MAX, log_msg_max, 0x043, 5) \
	F(L, l, LOG_RQ_SIZE, log_rq_size, 0x049, 4) \
	F(L, l, LOG_RQ_STRIDE, log_rq_stride, 0x04d, 3) \
	F(L, l, NO_SQ, no_sq, 0x050, 1) \
	F(L, l, LOG_SQ_SIZE, log_sq_size, 0x051, 4) \
	F(L, l, TS_FORMAT, ts_format, 0x058, 2) \
	F(L, l, RLKY, rlky, 0x05b, 1) \
	F(L, l, COUNTER_SET_ID, counter_set_id, 0x060, 8) \
	F(L, l, UAR_PAGE, uar_page, 0x068, 24) \
	F(L, l, USER_INDEX, user_index, 0x088, 24) \
	F(L, l, LOG_PAGE_SIZE, log_page_size, 0x0a3, 5) \
	F(L, l, REMOTE_QPN, remote_qpn, 0x0a8, 24) \
	S(L, l, PRIMARY_ADDRESS_PATH, primary_address_path, 0x0c0, 352, ADS) \
	F(L, l, LOG_ACK_REQ_FREQ, log_ack_req_freq, 0x380, 4) \
	F(L, l, LOG_SRA_MAX, log_sra_max, 0x388, 3) \
	F(L, l, RETRY_COUNT, retry_count, 0x38d, 3) \
	F(L, l, RNR_RETRY, rnr_retry, 0x390, 3) \
	F(L, l, FRE, fre, 0x394, 1) \
	F(L, l, NEXT_SEND_PSN, next_send_psn, 0x3c8, 24) \
	F(L, l, CQN_SND, cqn_snd, 0x3e8, 24) \
	F(L, l, DETH_SQPN, deth_sqpn, 0x408, 24) \
	F(L, l, LOG_RRA_MAX, log_rra_max, 0x488, 3) \
	F(L, l, ATOMIC_MODE, atomic_mode, 0x48c, 4) \
	F(L, l, RRE, rre, 0x490, 1) \
	F(L, l, RWE, rwe, 0x491, 1) \
	F(L, l, RAE, rae, 0x492, 1) \
	F(L, l, PAGE_OFFSET, page_offset, 0x494, 6) \
	F(L, l, MIN_RNR_NAK, min_rnr_nak, 0x4a3, 5) \
	F(L, l, NEXT_RCV_PSN, next_rcv_psn, 0x4a8, 24) \
	F(L, l, XRCD, xrcd, 0x4c8, 24) \
	F(L, l, CQN_RCV, cqn_rcv, 0x4e8, 24) \
	F(L, l, DBR_ADDR, dbr_addr, 0x500, 64) \
	F(L, l, Q_KEY, q_key, 0x540, 32) \
	F(L, l, RQ_TYPE, rq_type, 0x565, 3) \
	F(L, l, SRQN_RMPN_XRQN, srqn_rmpn_xrqn, 0x568, 24) \
	F(L, l, HW_SQ_WQEBB_COUNTER, hw_sq_wqebb_counter, 0x5a0, 16) \
	F(L, l, SW_SQ_WQEBB_COUNTER, sw_sq_wqebb_counter, 0x5b0, 16) \
	F(L, l, HW_RQ_COUNTER, hw_rq_counter, 0x5c0, 32) \
	F(L, l, SW_RQ_COUNTER, sw_rq_counter, 0x5e0, 32)

#define CRL_PRM_ADS_FIELDS(F, S, L, l) \
	F(L, l, PKEY_INDEX, pkey_index, 0x010, 16) \
	F(L, l, ACK_TIMEOUT, ack_timeout, 0x040, 5) \
	F(L, l, SRC_ADDR_INDEX, src_addr_index, 0x048, 8) \
	F(L, l, STAT_RATE, stat_rate, 0x054, 4) \
	F(L, l, HOP_LIMIT, hop_limit, 0x058, 8) \
	F(L, l, TCLASS, tclass, 0x064, 8) \
	F(L, l, FLOW_LABEL, flow_label, 0x06c, 20) \
	F(L, l, UDP_SPORT, udp_sport, 0x110, 16) \
	F(L, l, ETH_PRIO, eth_prio, 0x121, 3) \
	F(L, l, SL, sl, 0x124, 4) \
	F(L, l, VHCA_PORT_NUM, vhca_port_num, 0x128, 8)

#define CRL_PRM_RST2INIT_QP_IN_FIELDS(F, S, L, l) \
	F(L, l, QPN, qpn, 0x048, 24) \
	F(L, l, OPT_PARAM_MASK, opt_param_mask, 0x080, 32) \
	F(L, l, ECE, ece, 0x0a0, 32) \
	S(L, l, QPC, qpc, 0x0c0, 1856, QPC)

#define CRL_PRM_QUERY_QP_IN_FIELDS(F, S, L, l) \
	F(L, l, QPN, qpn, 0x048, 24)

#define CRL_PRM_QUERY_QP_OUT_FIELDS(F, S, L, l) \
	F(L, l, OPT_PARAM_MASK, opt_param_mask, 0x080, 32) \
	F(L, l, ECE, ece, 0x0a0, 32) \
	S(L, l, QPC, qpc, 0x0c0, 1856, QPC)

#define CRL_PRM_QUERY_HCA_VPORT_PKEY_IN_FIELDS(F, S, L, l) \
	F(L, l, OTHER_VPORT, other_vport, 0x040, 1) \
	F(L, l, PORT_NUM, port_num, 0x04c, 4) \
	F(L, l, VPORT_NUMBER, vport_number, 0x050, 16) \
	F(L, l, PKEY_INDEX, pkey_index, 0x070, 16)

/* The answer ends with 16 reserved bits and a key for each. */
#define CRL_PRM_QUERY_HCA_VPORT_PKEY_OUT_FIELDS(F, S, L, l)

/* clang-format on */

#endif /* CRL_PRM_VERBS_H */
