/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything the data path refuses or remarks, as one list: id, what it says, what to do about it.
 * The words are a printf format for value[0] and value[1] of struct scx_dp_report, both as unsigned
 * long long. What follows a refusal (error CQE, queue to ERR) is decided where it is raised; the
 * entries whose id starts with REMARK change nothing. tests/unit/test_dp_refuse.c raises each once.
 */
#ifndef SCX_DP_REFUSE_H
#define SCX_DP_REFUSE_H

/* clang-format off */
#define SCX_DP_REFUSE_LIST(X) \
	X(DB_UNKNOWN_SQ, "doorbell names SQ 0x%llx, which is not a queue of UAR page %llu", \
		"ring the page given at CREATE_SQ, with the first qword of that queue's last WQE") \
	X(DB_NOT_READY, "doorbell for a queue in state %llu (page %llu)", \
		"move the SQ to RDY before posting") \
	X(DB_BEFORE_RECORD, "doorbell for WQE index %llu, but the record says %llu", \
		"store the doorbell record and order it before the UAR store") \
	X(SQ_RECORD_OVERRUN, "record says %llu, ahead by more than the ring has (%llu WQEBBs)", \
		"do not post beyond the ring's free WQEBBs; the record counts WQEBBs, not WQEs") \
	X(WQE_SIZE, "control segment says ds %llu, the least for this opcode is %llu", \
		"count the WQE in 16-byte units, control segment included") \
	X(WQE_PAST_RECORD, "WQE of %llu WQEBBs, but only %llu are posted", \
		"post whole WQEs: the record moves past the last WQEBB") \
	X(WQE_INDEX, "control segment carries WQE index %llu, the queue is at %llu", \
		"the index is that of the WQE's first WQEBB, 16 bits, free-running") \
	X(WQE_QPN, "control segment names queue 0x%llx in SQ 0x%llx", \
		"write the SQ number into qpn_ds") \
	X(WQE_OPCODE, "opcode 0x%llx with modifier 0x%llx is not one of this NIC's", \
		"use SEND 0x0a, NOP 0x00, enhanced MPW 0x29; look at the capabilities") \
	X(WQE_TSO, "TSO (mss %llu, ds or bytes %llu): not offered, not TCP, or too much", \
		"segment in software") \
	X(WQE_MPW_OFF, "enhanced MPW (ds %llu) in an SQ that does not allow it (state %llu)", \
		"set allow_multi_pkt_send_wqe in the SQ context") \
	X(WQE_RESERVED, "reserved bits of the control segment are 0x%llx, signature 0x%llx", \
		"zero what is reserved") \
	X(ETH_OFFLOAD, "Ethernet segment has cs_flags, swp_flags 0x%llx, parser offsets 0x%llx", \
		"inner checksums and the software parser are not offered") \
	X(ETH_MSS, "mss %llu in a WQE that is no TSO (opcode 0x%llx)", "write 0 into mss") \
	X(ETH_INLINE_SIZE, "inline header of %llu bytes does not fit a WQE of %llu bytes", \
		"count the inline bytes into ds") \
	X(ETH_INLINE_MIN, "inline header of %llu bytes, min_wqe_inline_mode asks for %llu", \
		"inline at least the headers that the mode names") \
	X(ETH_EMPW_INLINE, "inline header word 0x%llx in an enhanced MPW WQE (ds %llu)", \
		"put packets inline by data segments with bit 31") \
	X(SEG_INLINE_SIZE, "inline segment of %llu bytes, %llu are left in the WQE", \
		"count inline bytes into ds") \
	X(SEG_ZERO, "data segment %llu of a frame has byte count 0, which means 2^31 (ds %llu)", \
		"leave the segment out") \
	X(SEG_KEY, "no memory key 0x%llx of protection domain %llu", \
		"use the lkey of a region of the queue's PD") \
	X(SEG_BOUNDS, "address 0x%llx with %llu bytes is outside of the key's region", \
		"stay inside of the registered region") \
	X(FRAME_SHORT, "frame of %llu bytes, shorter than an Ethernet header (ds %llu)", \
		"send at least 14 bytes") \
	X(FRAME_LONG, "frame of %llu bytes, the NIC takes %llu", \
		"keep to the largest frame of the port") \
	X(REMARK_TX_MTU, "frame of %llu bytes on a port whose MTU allows %llu: dropped", \
		"raise the MTU or send less") \
	X(REMARK_SQ_IMM, "immediate 0x%llx in an Ethernet WQE (opcode 0x%llx)", \
		"write 0 into imm") \
	X(REMARK_FAULT_SEND, "send %llu fails with syndrome 0x%llx, by the fault plan", \
		"leave send-error out of the plan") \
	X(REMARK_FAULT_RECEIVE, "received frame %llu fails (0x%llx), by the fault plan", \
		"leave recv-error out of the plan") \
	X(RQ_RECORD_OVERRUN, "record says %llu, ahead by more than the ring has (%llu WQEs)", \
		"do not post more WQEs than the ring has; the record counts WQEs") \
	X(RQ_KEY, "scatter entry has memory key 0x%llx, unknown in protection domain %llu", \
		"use an lkey of the queue's PD") \
	X(RQ_ACCESS, "scatter entry's key 0x%llx is not writable (address 0x%llx)", \
		"register with local write access") \
	X(RQ_BOUNDS, "scatter entry at 0x%llx with %llu bytes is outside of the key's region", \
		"stay inside of the registered region") \
	X(RQ_TOO_LONG, "frame of %llu bytes, the scatter list takes %llu", \
		"post buffers for the largest frame, or more segments a WQE") \
	X(RQ_INLINE, "scatter entry with byte count 0x%llx has bit 31 set (address 0x%llx)", \
		"scatter entries point to memory") \
	X(CQ_OVERRUN, "CQ full: producer at %llu, its record says %llu were consumed", \
		"size the CQ for all WQEs that can complete, write the record, or set oi") \
	X(CQ_NOT_INIT, "CQE %llu had op_own 0x%llx before the NIC ever wrote it", \
		"fill the CQ with the invalid opcode (0xf0 or 0xf1 in byte 63) before CREATE_CQ") \
	X(CQ_ARM_UNKNOWN, "arm register names CQ 0x%llx, which is not one of UAR page %llu", \
		"arm on the page given at CREATE_CQ")
/* clang-format on */

#define SCX_DP_REFUSE_ID(id, words, advice) SCX_DP_R_##id,
enum scx_dp_refuse { SCX_DP_REFUSE_LIST(SCX_DP_REFUSE_ID) SCX_DP_R_COUNT };
#undef SCX_DP_REFUSE_ID

#endif /* SCX_DP_REFUSE_H */
