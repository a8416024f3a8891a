/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands that the fuzz targets make, and how each of their fields is filled, by its name.
 */
#ifndef CRL_FUZZ_CMDOPS_H
#define CRL_FUZZ_CMDOPS_H

#include "drivers/softcx/fw/fw.h"

enum gen_list { GEN_NOTHING, GEN_PAGES, GEN_QUEUES, GEN_DEST, GEN_REGISTER };
struct gen_op {
	uint16_t opcode;
	uint8_t layout, list, makes; /* makes: SCX_FW_KINDS: nothing */
	uint16_t out;
};

/* clang-format off */
#define GEN_(OP, L, out, list, makes) \
	{CRL_CMD_OP_##OP, SCX_LAYOUT_##L, list, makes, out},
#define GEN_MAKE(OP, kind, list) GEN_(OP, OP##_IN, 16, list, SCX_FW_##kind)
#define GEN_DO(OP) GEN_(OP, OP##_IN, 16, GEN_NOTHING, SCX_FW_KINDS)
#define GEN_ASK(OP) GEN_(OP, OP##_IN, CRL_PRM_##OP##_OUT_BYTES, GEN_NOTHING, SCX_FW_KINDS)
static const struct gen_op gen_ops[] = {
	GEN_MAKE(ALLOC_PD, PD, 0) GEN_MAKE(ALLOC_UAR, UAR, 0)
	GEN_MAKE(ALLOC_TRANSPORT_DOMAIN, TD, 0) GEN_MAKE(ALLOC_Q_COUNTER, QCOUNTER, 0)
	GEN_MAKE(CREATE_TIS, TIS, 0) GEN_MAKE(CREATE_CQ, CQ, GEN_PAGES)
	GEN_MAKE(CREATE_SQ, SQ, GEN_PAGES) GEN_MAKE(CREATE_RQ, RQ, GEN_PAGES)
	GEN_MAKE(CREATE_RQT, RQT, GEN_QUEUES) GEN_MAKE(CREATE_TIR, TIR, 0)
	GEN_MAKE(CREATE_EQ, EQ, GEN_PAGES) GEN_MAKE(CREATE_MKEY, MKEY, GEN_PAGES)
	GEN_MAKE(CREATE_FLOW_TABLE, FT, 0) GEN_MAKE(CREATE_FLOW_GROUP, FG, 0)
	GEN_(SET_FLOW_TABLE_ENTRY, SET_FTE_IN, 16, GEN_DEST, SCX_FW_KINDS)
	GEN_(DELETE_FLOW_TABLE_ENTRY, DELETE_FTE_IN, 16, 0, SCX_FW_KINDS)
	GEN_DO(SET_FLOW_TABLE_ROOT) GEN_DO(MODIFY_FLOW_TABLE)
	GEN_DO(MODIFY_SQ) GEN_DO(MODIFY_RQ) GEN_DO(MODIFY_TIR)
	GEN_(MODIFY_RQT, MODIFY_RQT_IN, 16, GEN_QUEUES, SCX_FW_KINDS)
	GEN_ASK(QUERY_CQ) GEN_ASK(QUERY_SQ) GEN_ASK(QUERY_RQ) GEN_ASK(QUERY_TIS) GEN_ASK(QUERY_TIR)
	GEN_ASK(QUERY_RQT) GEN_ASK(QUERY_EQ) GEN_ASK(QUERY_Q_COUNTER) GEN_ASK(QUERY_HCA_CAP)
	GEN_ASK(QUERY_VPORT_STATE) GEN_ASK(QUERY_NIC_VPORT_CONTEXT) GEN_ASK(QUERY_VPORT_COUNTER)
	GEN_ASK(QUERY_ISSI) GEN_ASK(QUERY_PAGES) GEN_ASK(QUERY_ADAPTER)
	GEN_ASK(QUERY_SPECIAL_CONTEXTS)
	GEN_DO(ENABLE_HCA) GEN_DO(DISABLE_HCA) GEN_DO(SET_ISSI) GEN_DO(INIT_HCA)
	GEN_DO(TEARDOWN_HCA) GEN_DO(SET_DRIVER_VERSION) GEN_DO(SET_HCA_CAP)
	GEN_(MANAGE_PAGES, MANAGE_PAGES_IN, 16, GEN_PAGES, SCX_FW_KINDS)
	GEN_(ACCESS_REG, ACCESS_REGISTER_IN, 16, GEN_REGISTER, SCX_FW_KINDS)
	GEN_DO(MODIFY_NIC_VPORT_CONTEXT)
	GEN_DO(DESTROY_CQ) GEN_DO(DESTROY_SQ) GEN_DO(DESTROY_RQ) GEN_DO(DESTROY_TIS)
	GEN_DO(DESTROY_TIR) GEN_DO(DESTROY_RQT) GEN_DO(DESTROY_EQ) GEN_DO(DESTROY_MKEY)
	GEN_DO(DESTROY_FLOW_TABLE) GEN_DO(DESTROY_FLOW_GROUP) GEN_DO(DEALLOC_PD)
	GEN_DO(DEALLOC_UAR) GEN_DO(DEALLOC_TRANSPORT_DOMAIN) GEN_DO(DEALLOC_Q_COUNTER)
	/* what mlx5_ib asks for, and libmlx5 */
	GEN_MAKE(CREATE_UMEM, UMEM, GEN_PAGES) GEN_DO(DESTROY_UMEM)
	GEN_DO(CREATE_UCTX) GEN_DO(DESTROY_UCTX)
	GEN_MAKE(ALLOC_XRCD, XRCD, 0) GEN_DO(DEALLOC_XRCD)
	GEN_MAKE(CREATE_XRC_SRQ, SRQ, GEN_PAGES) GEN_DO(DESTROY_XRC_SRQ)
	GEN_MAKE(CREATE_RMP, SRQ, GEN_PAGES) GEN_DO(DESTROY_RMP)
	GEN_MAKE(CREATE_QP, QP, GEN_PAGES) GEN_DO(DESTROY_QP) GEN_DO(RST2INIT_QP)
	GEN_(INIT2RTR_QP, RST2INIT_QP_IN, 16, 0, SCX_FW_KINDS)
	GEN_(RTR2RTS_QP, RST2INIT_QP_IN, 16, 0, SCX_FW_KINDS)
	GEN_(2ERR_QP, DESTROY_QP_IN, 16, 0, SCX_FW_KINDS)
	GEN_(2RST_QP, DESTROY_QP_IN, 16, 0, SCX_FW_KINDS)
	GEN_ASK(QUERY_QP) GEN_ASK(QUERY_HCA_VPORT_PKEY)
};
/* clang-format on */
#define GEN_OPS	  (sizeof(gen_ops) / sizeof(gen_ops[0]))
#define GEN_MORE  19u /* the last ones, of mlx5_ib */
#define GEN_FIRST (GEN_OPS - GEN_MORE)

enum gen_how {
	GEN_ZERO,
	GEN_CONST,
	GEN_SMALL,
	GEN_NUM,
	GEN_UMEM,
	GEN_PAGE,
	GEN_RECORD,
	GEN_BITS,
	GEN_ONE_OF
};

/* How a field of that name is filled; what is not here stays zero. */
static const struct {
	const char *name;
	uint8_t how;
	uint32_t arg;
} gen_fields[] = {
	{"pd", GEN_NUM, SCX_FW_PD},
	{"transport_domain", GEN_NUM, SCX_FW_TD},
	{"uar", GEN_NUM, SCX_FW_UAR},
	{"uar_page", GEN_NUM, SCX_FW_UAR},
	{"counter_set_id", GEN_NUM, SCX_FW_QCOUNTER},
	{"cqn", GEN_NUM, SCX_FW_CQ},
	{"cqn_snd", GEN_NUM, SCX_FW_CQ},
	{"cqn_rcv", GEN_NUM, SCX_FW_CQ},
	{"xrcd", GEN_NUM, SCX_FW_XRCD},
	{"xrc_srqn", GEN_NUM, SCX_FW_SRQ},
	{"rmpn", GEN_NUM, SCX_FW_SRQ},
	{"srqn_rmpn_xrqn", GEN_NUM, SCX_FW_SRQ},
	{"qpn", GEN_NUM, SCX_FW_QP},
	{"umem_id", GEN_NUM, SCX_FW_UMEM},
	{"uid", GEN_SMALL, 8},
	{"log_xrc_srq_size", GEN_SMALL, 8},
	{"log_rq_size", GEN_SMALL, 8},
	{"log_sq_size", GEN_SMALL, 8},
	{"log_rq_stride", GEN_SMALL, 3},
	{"no_sq", GEN_SMALL, 2},
	{"sqn", GEN_NUM, SCX_FW_SQ},
	{"rqn", GEN_NUM, SCX_FW_RQ},
	{"inline_rqn", GEN_NUM, SCX_FW_RQ},
	{"rqtn", GEN_NUM, SCX_FW_RQT},
	{"indirect_table", GEN_NUM, SCX_FW_RQT},
	{"tirn", GEN_NUM, SCX_FW_TIR},
	{"tisn", GEN_NUM, SCX_FW_TIS},
	{"tis_num_0", GEN_NUM, SCX_FW_TIS},
	{"tis_lst_sz", GEN_CONST, 1},
	{"c_eqn", GEN_NUM, SCX_FW_EQ},
	{"eq_number", GEN_NUM, SCX_FW_EQ},
	{"mkey_index", GEN_NUM, SCX_FW_MKEY},
	{"table_id", GEN_NUM, SCX_FW_FT},
	{"table_miss_id", GEN_NUM, SCX_FW_FT},
	{"group_id", GEN_NUM, SCX_FW_FG},
	{"dbr_umem_id", GEN_NUM, SCX_FW_UMEM},
	{"wq_umem_id", GEN_NUM, SCX_FW_UMEM},
	{"cq_umem_id", GEN_NUM, SCX_FW_UMEM},
	{"dbr_umem_valid", GEN_UMEM, 0},
	{"wq_umem_valid", GEN_UMEM, 0},
	{"cq_umem_valid", GEN_UMEM, 0},
	{"wq_umem_offset", GEN_PAGE, 0},
	{"cq_umem_offset", GEN_PAGE, 0},
	{"dbr_addr", GEN_RECORD, 0},
	{"wq_type", GEN_CONST, 1},
	{"log_wq_stride", GEN_CONST, 6},
	{"log_wq_sz", GEN_SMALL, 8},
	{"log_cq_size", GEN_SMALL, 8},
	{"log_eq_size", GEN_SMALL, 8},
	{"cc", GEN_BITS, 7},
	{"oi", GEN_BITS, 7},
	{"flush_in_error_en", GEN_SMALL, 2},
	{"allow_multi_pkt_send_wqe", GEN_SMALL, 2},
	{"min_wqe_inline_mode", GEN_SMALL, 4},
	{"vsd", GEN_SMALL, 2},
	{"scatter_fcs", GEN_BITS, 3},
	{"user_index", GEN_SMALL, 256},
	{"rqt_max_size", GEN_CONST, 8},
	{"rqt_actual_size", GEN_CONST, 4},
	{"rqn_list", GEN_CONST, 1},
	{"disp_type", GEN_SMALL, 2},
	{"rx_hash_fn", GEN_SMALL, 3},
	{"rx_hash_symmetric", GEN_SMALL, 2},
	{"l3_prot_type", GEN_SMALL, 2},
	{"l4_prot_type", GEN_SMALL, 2},
	{"hash", GEN_SMALL, 2},
	{"level", GEN_SMALL, 66},
	{"log_size", GEN_SMALL, 6},
	{"table_miss_action", GEN_SMALL, 2},
	{"modify_field_select", GEN_CONST, 1},
	{"start_flow_index", GEN_SMALL, 4},
	{"end_flow_index", GEN_SMALL, 16},
	{"match_criteria_enable", GEN_CONST, 1},
	{"flow_index", GEN_SMALL, 16},
	{"flow_tag", GEN_SMALL, 256},
	{"destination_list_size", GEN_CONST, 1},
	{"modify_enable_mask", GEN_SMALL, 8},
	{"access_mode_1_0", GEN_SMALL, 2},
	{"length64", GEN_BITS, 3},
	{"lw", GEN_SMALL, 2},
	{"mkey_7_0", GEN_SMALL, 256},
	{"start_addr", GEN_RECORD, 0},
	{"len", GEN_RECORD, 0},
	{"intr", GEN_SMALL, 4},
	{"current_issi", GEN_SMALL, 3},
	{"input_num_entries", GEN_SMALL, 8},
	{"clear", GEN_SMALL, 2},
	{"action", GEN_ONE_OF, 3},
	{"mtu", GEN_SMALL, 256},
};
#define GEN_FIELDS (sizeof(gen_fields) / sizeof(gen_fields[0]))

#endif /* CRL_FUZZ_CMDOPS_H */
