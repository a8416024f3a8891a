/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything the firmware refuses, as one list: id, PRM status that the command is answered with,
 * what it means. The words about the particular case stand where it is refused; the data path has a
 * list of its own (dp/refuse.h). The syndrome of a refused command is SCX_SYNDROME | id.
 * tests/unit/test_fw_refuse.c raises each once and fails when one was not raised.
 */
#ifndef SCX_FW_REFUSE_H
#define SCX_FW_REFUSE_H

#define SCX_SYNDROME 0x5c000000u

/* clang-format off */
#define SCX_FW_REFUSE_LIST(X) \
	X(OPCODE, BAD_OP_ERR, "look at the capabilities: what they do not offer has no commands") \
	X(OP_MOD, BAD_PARAM_ERR, "op_mod is 0 unless the command says otherwise") \
	X(IN_SHORT, BAD_INP_LEN_ERR, "give the whole layout, lists included") \
	X(IN_LONG, BAD_INP_LEN_ERR, \
		"give the length of the layout and of the list that it announces") \
	X(OUT_SHORT, BAD_OUTP_LEN_ERR, "make room for the whole answer") \
	X(RESERVED, BAD_PARAM_ERR, "zero what is reserved") \
	X(NOT_OFFERED, BAD_PARAM_ERR, "leave the field 0: no capability bit offers it") \
	X(MODIFY_BITS, BAD_PARAM_ERR, "select only fields that can be modified") \
	X(NO_OBJECT, BAD_RES_ERR, "name an object that exists") \
	X(OTHER_UID, BAD_RES_ERR, "objects belong to the context that made them") \
	X(IN_USE, BAD_RES_STATE_ERR, "destroy what refers to the object first") \
	X(FULL, LIM_ERR, "the capabilities say how many there can be") \
	X(CREATE_STATE, BAD_PARAM_ERR, \
		"queues are created in RST and moved to RDY by a modify command") \
	X(STATE_VALUE, BAD_PARAM_ERR, "the states are RST 0, RDY 1 and ERR 3") \
	X(STATE_NOW, BAD_RES_STATE_ERR, \
		"name the state that the queue is in; an error moves it to ERR") \
	X(STATE_STEP, BAD_RES_STATE_ERR, "from ERR the way to RDY leads through RST") \
	X(CQ_SIZE, BAD_PARAM_ERR, "keep log_cq_size within log_max_cq_sz") \
	X(CQE_SIZE, BAD_PARAM_ERR, "cqe_sz is 0: CQEs have 64 bytes") \
	X(EQN, BAD_PARAM_ERR, "take c_eqn from the event queue query") \
	X(READ_ONLY, BAD_PARAM_ERR, "register the umem with local write access") \
	X(NO_UMEM, BAD_PARAM_ERR, "rings and records of users lie in umems: set the valid bits") \
	X(RING_BOUNDS, BAD_PARAM_ERR, "the whole ring lies inside the umem") \
	X(RING_ALIGN, BAD_PARAM_ERR, "start the ring on a 4096-byte page, or say page_offset") \
	X(RECORD_BOUNDS, BAD_PARAM_ERR, "the record's 8 bytes lie inside its umem") \
	X(RECORD_ALIGN, BAD_PARAM_ERR, "align the doorbell record to 8 bytes") \
	X(RECORD_IN_RING, BAD_PARAM_ERR, "keep the doorbell record out of the ring") \
	X(WQ_TYPE, BAD_PARAM_ERR, "wq_type is 1, cyclic") \
	X(WQ_STRIDE, BAD_PARAM_ERR, \
		"SQ: 6; RQ: between log_min_stride_sz_rq and log_max_stride_sz_rq") \
	X(WQ_SIZE, BAD_PARAM_ERR, "keep log_wq_sz within log_max_wq_sz") \
	X(TIS_LIST, BAD_PARAM_ERR, "an SQ has one TIS: tis_lst_sz is 1") \
	X(INLINE_MODE, BAD_PARAM_ERR, \
		"min_wqe_inline_mode is 0 to 3 and not below what the vport asks for") \
	X(TS_FORMAT, BAD_PARAM_ERR, \
		"take ts_format from sq_ts_format and rq_ts_format, or say DEFAULT") \
	X(RQ_TYPE, BAD_PARAM_ERR, "mem_rq_type is 0: WQEs in the RQ's own memory") \
	X(RQT_TYPE, BAD_PARAM_ERR, "list_q_type is 0: receive queues") \
	X(RQT_SIZE, BAD_PARAM_ERR, "a power of two, within rqt_max_size and log_max_rqt_size") \
	X(TIR_TYPE, BAD_PARAM_ERR, "disp_type is 0 direct or 1 indirect") \
	X(TIR_HASH, BAD_PARAM_ERR, \
		"rx_hash_fn is 0 none, 1 XOR8 or 2 Toeplitz; fields are addresses and ports") \
	X(CAP_PAGE, BAD_PARAM_ERR, "ask for general, Ethernet or NIC flow table capabilities") \
	X(VPORT, BAD_PARAM_ERR, "vport 0, the function's own") \
	X(UMEM_RANGE, BAD_PARAM_ERR, "register bytes that exist") \
	X(UMEM_ACCESS, BAD_PARAM_ERR, "umem access is local write or none") \
	X(MR_RANGE, BAD_PARAM_ERR, "register bytes that exist; iova plus length stays below 2^64") \
	X(MR_ACCESS, BAD_PARAM_ERR, \
		"remote write and atomics need local write; on-demand paging is not offered") \
	X(FLOW_MASK, BAD_PARAM_ERR, "match on outer L2 to L4 fields that the NIC knows") \
	X(FLOW_VALUE, BAD_PARAM_ERR, "a value has no bits outside of its mask") \
	X(FLOW_DEST, BAD_PARAM_ERR, "the destination is a TIR, drop or default miss") \
	X(FLOW_LENGTH, BAD_PARAM_ERR, \
		"match parameters are whole sets of 64 bytes, outer headers first") \
	/* from here on: what only the driver of a PCI device can get wrong */ \
	X(PAGES, BAD_PARAM_ERR, "name pages and addresses that are mapped for the device's use") \
	X(UID, BAD_PARAM_ERR, "name a context that CREATE_UCTX made") \
	X(QP_TYPE, BAD_PARAM_ERR, "st is 0xc, a queue for operations on memory keys") \
	X(HCA_STATE, BAD_SYS_STATE_ERR, \
		"enable, give pages, then INIT_HCA, and back in this order") \
	X(HCA_ENABLED, BAD_RES_STATE_ERR, "a function is enabled once; disable it first") \
	X(ISSI, BAD_PARAM_ERR, "set an interface step sequence id that QUERY_ISSI names") \
	X(PAGE_COUNT, BAD_PARAM_ERR, "give or take as many pages as the lists have") \
	X(CAP_VALUE, BAD_PARAM_ERR, "set a capability to no more than its maximum") \
	X(ROCE, BAD_PARAM_ERR, "look at the capability roce before turning it on") \
	X(REGISTER, BAD_PARAM_ERR, \
		"the registers are PMTU, PTYS, PAOS, PFCC, PPCNT, host endianness") \
	X(REGISTER_VALUE, BAD_PARAM_ERR, "stay inside of what the register's query says") \
	X(EQ_SIZE, BAD_PARAM_ERR, "keep log_eq_size within log_max_eq_sz") \
	X(EQ_VECTOR, BAD_PARAM_ERR, "name a vector of the MSI-X table") \
	X(MKEY_MODE, BAD_PARAM_ERR, "access_mode is 0, all by bus address, or 1, a list of pages") \
	X(FT_TYPE, BAD_PARAM_ERR, "table_type is 0, NIC receive") \
	X(FT_LEVEL, BAD_PARAM_ERR, "a table leads to tables of a higher level") \
	X(FT_INDEX, BAD_PARAM_ERR, "an entry lies inside its group, a group inside its table") \
	X(FTE_MASK, BAD_PARAM_ERR, "an entry matches under the mask of its group") \
	X(FTE_ACTION, BAD_PARAM_ERR, "an entry drops, allows, or forwards to one TIR or table")
/* clang-format on */

#define SCX_FW_REFUSE_ID(id, status, advice) SCX_FW_R_##id,
/* the first that only the driver of a PCI device can earn, and the first of flow tables */
#define SCX_FW_R_GUEST	     SCX_FW_R_PAGES
#define SCX_FW_R_FLOW_TABLES SCX_FW_R_FT_TYPE
enum scx_fw_refusal { SCX_FW_REFUSE_LIST(SCX_FW_REFUSE_ID) SCX_FW_R_COUNT };
#undef SCX_FW_REFUSE_ID

#endif /* SCX_FW_REFUSE_H */
