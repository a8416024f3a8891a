/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mailbox layouts of the ConnectX command interface (PRM), once: the driver builds commands
 * with them, the software ConnectX takes them apart with them, and a test holds every field against
 * Linux's and DPDK's headers. Host only: no command is ever built on a GPU.
 *
 * A layout is a list macro CRL_PRM_<LAYOUT>_FIELDS(F, S, L, l) in one of the six prm_*.h:
 *	F(L, l, NAME, name, bit offset, bits)		a field; name is the PRM's
 *	S(L, l, NAME, name, bit offset, bits, LAYOUT)	another layout inside this one
 * Bits that no line names are reserved: zero from the driver, refused by softcx when they are not.
 * Offsets count from the most significant bit of the first byte, as in the PRM's tables. The head
 * of every command (opcode, uid, op_mod; status, syndrome) is CMD_IN and CMD_OUT and is not
 *repeated.
 *
 * From the lists come CRL_PRM_<LAYOUT>_<NAME> (bit offset << 16 | bits) and CRL_PRM_<LAYOUT>_BYTES:
 *	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_CREATE_SQ);
 *	void *sqc = crl_prm_at(in, CRL_PRM_CREATE_SQ_IN_CTX);
 *	crl_prm_set(sqc, CRL_PRM_SQC_CQN, cqn);
 * Mailboxes are 4-byte aligned, start out as zeros, and belong to the caller.
 */
#ifndef CRL_PRM_H
#define CRL_PRM_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "../../gpu_queues/wire/be.h"
#include "prm_caps.h"
#include "prm_core.h"
#include "prm_misc.h"
#include "prm_queues.h"
#include "prm_steer.h"
#include "prm_verbs.h"

/*
 * Opcodes: Y(NAME, value). Objects other than these are not part of what Carillon uses. Those of
 * the second list are a kernel's, to a NIC of its own.
 */
/* clang-format off */
#define CRL_CMD_USER_OPS(Y) \
	Y(QUERY_HCA_CAP, 0x100) \
	Y(CREATE_CQ, 0x400) Y(DESTROY_CQ, 0x401) Y(QUERY_CQ, 0x402) \
	Y(QUERY_VPORT_STATE, 0x750) Y(QUERY_NIC_VPORT_CONTEXT, 0x754) \
	Y(ALLOC_Q_COUNTER, 0x771) Y(DEALLOC_Q_COUNTER, 0x772) Y(QUERY_Q_COUNTER, 0x773) \
	Y(ALLOC_PD, 0x800) Y(DEALLOC_PD, 0x801) \
	Y(ALLOC_UAR, 0x802) Y(DEALLOC_UAR, 0x803) \
	Y(ALLOC_TRANSPORT_DOMAIN, 0x816) Y(DEALLOC_TRANSPORT_DOMAIN, 0x817) \
	Y(CREATE_TIR, 0x900) Y(MODIFY_TIR, 0x901) Y(DESTROY_TIR, 0x902) Y(QUERY_TIR, 0x903) \
	Y(CREATE_SQ, 0x904) Y(MODIFY_SQ, 0x905) Y(DESTROY_SQ, 0x906) Y(QUERY_SQ, 0x907) \
	Y(CREATE_RQ, 0x908) Y(MODIFY_RQ, 0x909) Y(DESTROY_RQ, 0x90a) Y(QUERY_RQ, 0x90b) \
	Y(CREATE_TIS, 0x912) Y(DESTROY_TIS, 0x914) Y(QUERY_TIS, 0x915) \
	Y(CREATE_RQT, 0x916) Y(MODIFY_RQT, 0x917) Y(DESTROY_RQT, 0x918) Y(QUERY_RQT, 0x919)
#define CRL_CMD_KERNEL_OPS(Y) \
	Y(QUERY_ADAPTER, 0x101) Y(INIT_HCA, 0x102) Y(TEARDOWN_HCA, 0x103) \
	Y(ENABLE_HCA, 0x104) Y(DISABLE_HCA, 0x105) Y(QUERY_PAGES, 0x107) Y(MANAGE_PAGES, 0x108) \
	Y(SET_HCA_CAP, 0x109) Y(QUERY_ISSI, 0x10a) Y(SET_ISSI, 0x10b) \
	Y(SET_DRIVER_VERSION, 0x10d) \
	Y(CREATE_MKEY, 0x200) Y(DESTROY_MKEY, 0x202) Y(QUERY_SPECIAL_CONTEXTS, 0x203) \
	Y(CREATE_EQ, 0x301) Y(DESTROY_EQ, 0x302) Y(QUERY_EQ, 0x303) \
	Y(MODIFY_NIC_VPORT_CONTEXT, 0x755) Y(QUERY_VPORT_COUNTER, 0x770) Y(ACCESS_REG, 0x805) \
	Y(SET_FLOW_TABLE_ROOT, 0x92f) Y(CREATE_FLOW_TABLE, 0x930) Y(DESTROY_FLOW_TABLE, 0x931) \
	Y(CREATE_FLOW_GROUP, 0x933) Y(DESTROY_FLOW_GROUP, 0x934) \
	Y(SET_FLOW_TABLE_ENTRY, 0x936) Y(DELETE_FLOW_TABLE_ENTRY, 0x938) \
	Y(MODIFY_FLOW_TABLE, 0x93c) \
	Y(CREATE_QP, 0x500) Y(DESTROY_QP, 0x501) Y(RST2INIT_QP, 0x502) Y(INIT2RTR_QP, 0x503) \
	Y(RTR2RTS_QP, 0x504) Y(2ERR_QP, 0x507) Y(2RST_QP, 0x50a) Y(QUERY_QP, 0x50b) \
	Y(QUERY_HCA_VPORT_PKEY, 0x765) Y(CREATE_XRC_SRQ, 0x705) Y(DESTROY_XRC_SRQ, 0x706) \
	Y(ALLOC_XRCD, 0x80e) Y(DEALLOC_XRCD, 0x80f) \
	Y(CREATE_RMP, 0x90c) Y(DESTROY_RMP, 0x90e) \
	Y(CREATE_UCTX, 0xa04) Y(DESTROY_UCTX, 0xa06) \
	Y(CREATE_UMEM, 0xa08) Y(DESTROY_UMEM, 0xa0a)
#define CRL_CMD_OPS(Y) CRL_CMD_USER_OPS(Y) CRL_CMD_KERNEL_OPS(Y)

/* What a command answers: Y(NAME, value, words). */
#define CRL_CMD_STATS(Y) \
	Y(OK, 0x00, "ok") \
	Y(INT_ERR, 0x01, "internal error") \
	Y(BAD_OP_ERR, 0x02, "bad operation") \
	Y(BAD_PARAM_ERR, 0x03, "bad parameter") \
	Y(BAD_SYS_STATE_ERR, 0x04, "bad system state") \
	Y(BAD_RES_ERR, 0x05, "bad resource") \
	Y(RES_BUSY, 0x06, "resource busy") \
	Y(LIM_ERR, 0x08, "limits exceeded") \
	Y(BAD_RES_STATE_ERR, 0x09, "bad resource state") \
	Y(IX_ERR, 0x0a, "bad index") \
	Y(NO_RES_ERR, 0x0f, "no resources") \
	Y(BAD_INP_LEN_ERR, 0x50, "bad input length") \
	Y(BAD_OUTP_LEN_ERR, 0x51, "bad output length")
/* clang-format on */

#define CRL_CMD_OP_ENUM(NAME, value)	    CRL_CMD_OP_##NAME = value,
#define CRL_CMD_STAT_ENUM(NAME, value, txt) CRL_CMD_STAT_##NAME = value,
enum crl_cmd_op { CRL_CMD_OPS(CRL_CMD_OP_ENUM) };
enum crl_cmd_stat { CRL_CMD_STATS(CRL_CMD_STAT_ENUM) };

/* All layouts: Y(LAYOUT, name in the PRM headers of Linux, bits). */
#define CRL_PRM_LAYOUTS(Y)                                                                         \
	CRL_PRM_MISC_LAYOUTS(Y)                                                                    \
	CRL_PRM_CAPS_LAYOUTS(Y)                                                                    \
	CRL_PRM_QUEUES_LAYOUTS(Y)                                                                  \
	CRL_PRM_STEER_LAYOUTS(Y)                                                                   \
	CRL_PRM_CORE_LAYOUTS(Y)                                                                    \
	CRL_PRM_VERBS_LAYOUTS(Y)

/* clang-format off */
#define CRL_PRM_ENUM_F(L, l, NAME, name, off, bits) CRL_PRM_##L##_##NAME = (off) << 16 | (bits),
#define CRL_PRM_ENUM_S(L, l, NAME, name, off, bits, SUB) CRL_PRM_ENUM_F(L, l, NAME, name, off, bits)
#define CRL_PRM_ENUM_L(L, l, bits) \
	CRL_PRM_##L##_FIELDS(CRL_PRM_ENUM_F, CRL_PRM_ENUM_S, L, l) \
	CRL_PRM_##L##_BYTES = (bits) / 8,
/* clang-format on */
enum crl_prm_field { CRL_PRM_LAYOUTS(CRL_PRM_ENUM_L) };

/* Values of fields, where a number would not speak for itself. */
enum {
	CRL_HCA_CAP_GENERAL =
		0x0, /* op_mod of QUERY_HCA_CAP: page << 1 | 1 for the current, 0 the most */
	CRL_HCA_CAP_ETH = 0x1,
	CRL_HCA_CAP_ATOMIC = 0x3,
	CRL_HCA_CAP_ROCE = 0x4,
	CRL_HCA_CAP_NIC_FLOW_TABLE = 0x7,
	CRL_HCA_CAP_QOS = 0xc,
	CRL_HCA_CAP_DEVICE_MEM = 0xf,
	CRL_HCA_CAP_GENERAL_2 = 0x20,
	CRL_HCA_CAP_CURRENT = 1,

	CRL_Q_STATE_RST = 0, /* sqc.state, rqc.state */
	CRL_Q_STATE_RDY = 1,
	CRL_Q_STATE_ERR = 3,

	CRL_CQ_STATUS_OVERFLOW = 9, /* cqc.status */
	CRL_CQ_STATUS_WRITE_FAIL = 10,

	CRL_WQ_LINKED_LIST = 0, /* wq.wq_type */
	CRL_WQ_CYCLIC = 1,
	CRL_WQ_LINKED_LIST_STRIDING = 2,
	CRL_WQ_CYCLIC_STRIDING = 3,

	CRL_MEM_RQ_INLINE = 0, /* rqc.mem_rq_type */
	CRL_MEM_RQ_RMP = 1,

	CRL_TS_FREE_RUNNING = 0, /* sqc.ts_format, rqc.ts_format */
	CRL_TS_DEFAULT = 1,
	CRL_TS_REAL_TIME = 2,

	CRL_TS_CAP_FREE_RUNNING = 0, /* hca_cap.sq_ts_format, rq_ts_format */
	CRL_TS_CAP_REAL_TIME = 1,
	CRL_TS_CAP_BOTH = 2,

	CRL_INLINE_NONE = 0, /* sqc.min_wqe_inline_mode */
	CRL_INLINE_L2 = 1,
	CRL_INLINE_IP = 2,
	CRL_INLINE_TCP_UDP = 3,

	CRL_CAP_INLINE_L2 = 0, /* eth_caps.wqe_inline_mode */
	CRL_CAP_INLINE_VPORT = 1,
	CRL_CAP_INLINE_NOT_REQUIRED = 2,

	CRL_MODIFY_RQ_VSD = 1 << 1, /* modify_rq_in.modify_bitmask */
	CRL_MODIFY_RQ_SCATTER_FCS = 1 << 2,
	CRL_MODIFY_RQ_COUNTER_SET = 1 << 3,

	CRL_TIR_DIRECT = 0, /* tirc.disp_type */
	CRL_TIR_INDIRECT = 1,

	CRL_HASH_NONE = 0, /* tirc.rx_hash_fn */
	CRL_HASH_XOR8 = 1,
	CRL_HASH_TOEPLITZ = 2,

	CRL_HASH_L3_IPV4 = 0, /* rx_hash_fields */
	CRL_HASH_L3_IPV6 = 1,
	CRL_HASH_L4_TCP = 0,
	CRL_HASH_L4_UDP = 1,
	CRL_HASH_SRC_IP = 1 << 0,
	CRL_HASH_DST_IP = 1 << 1,
	CRL_HASH_L4_SPORT = 1 << 2,
	CRL_HASH_L4_DPORT = 1 << 3,
	CRL_HASH_IPSEC_SPI = 1 << 4,
};

static inline uint32_t
crl_prm_off(uint32_t field)
{
	return field >> 16;
}

static inline uint32_t
crl_prm_bits(uint32_t field)
{
	return field & 0xffff;
}

/* A layout inside another one, or a field of more than 64 bits: where its bytes start. */
static inline void *
crl_prm_at(const void *layout, uint32_t field)
{
	assert(crl_prm_off(field) % 32 == 0);
	return (uint8_t *)(uintptr_t)layout + crl_prm_off(field) / 8;
}

/* A field of at most 32 bits; the PRM lets none of them cross a 32-bit word. */
static inline uint32_t
crl_prm_get(const void *layout, uint32_t field)
{
	uint32_t off = crl_prm_off(field), bits = crl_prm_bits(field);
	uint32_t word = crl_from_be32(((const crl_be32 *)layout)[off / 32]);

	assert(bits > 0 && off % 32 + bits <= 32);
	return (uint32_t)((word >> (32 - off % 32 - bits)) & ((1ull << bits) - 1));
}

static inline void
crl_prm_set(void *layout, uint32_t field, uint32_t value)
{
	uint32_t off = crl_prm_off(field), bits = crl_prm_bits(field), shift = 32 - off % 32 - bits;
	uint32_t mask = (uint32_t)((1ull << bits) - 1);
	crl_be32 *word = (crl_be32 *)layout + off / 32;

	assert(bits > 0 && off % 32 + bits <= 32);
	assert((value & ~mask) == 0);
	*word = crl_to_be32((crl_from_be32(*word) & ~(mask << shift)) | value << shift);
}

/* A field of 64 bits. */
static inline uint64_t
crl_prm_get64(const void *layout, uint32_t field)
{
	const crl_be32 *words = (const crl_be32 *)layout + crl_prm_off(field) / 32;

	assert(crl_prm_off(field) % 32 == 0 && crl_prm_bits(field) == 64);
	return (uint64_t)crl_from_be32(words[0]) << 32 | crl_from_be32(words[1]);
}

static inline void
crl_prm_set64(void *layout, uint32_t field, uint64_t value)
{
	crl_be32 *words = (crl_be32 *)layout + crl_prm_off(field) / 32;

	assert(crl_prm_off(field) % 32 == 0 && crl_prm_bits(field) == 64);
	words[0] = crl_to_be32((uint32_t)(value >> 32));
	words[1] = crl_to_be32((uint32_t)value);
}

/* The receive queues at the end of an RQT context: entry i is 8 reserved bits and a number. */
static inline crl_be32 *
crl_prm_rqt_list(const void *rqtc)
{
	return (crl_be32 *)((uint8_t *)(uintptr_t)rqtc + CRL_PRM_RQTC_BYTES);
}

#endif /* CRL_PRM_H */
