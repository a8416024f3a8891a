/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The 64-byte completion queue entry, in its normal and its error form. The NIC writes byte 63
 * last; its low bit is the owner bit, which flips every time the CQ wraps, and its high nibble the
 * opcode.
 * PRM: "Completion queue entry format", "Error CQE"; rdma-core: struct mlx5_cqe64, mlx5_err_cqe.
 */
#ifndef CRL_WIRE_CQE_H
#define CRL_WIRE_CQE_H

#include "be.h"

#define CRL_CQE_BYTES 64u

/* Opcodes: op_own bits 7:4. */
#define CRL_CQE_REQ	 0x0u /* a send completed */
#define CRL_CQE_RESP_SEND 0x2u /* a packet was received */
#define CRL_CQE_REQ_ERR	 0xdu
#define CRL_CQE_RESP_ERR 0xeu
#define CRL_CQE_INVALID	 0xfu /* never written by the NIC: the driver puts it there at start */

/* Syndromes of an error CQE (byte 55), PRM and mlx5dv.h. */
#define CRL_SYND_LOCAL_LENGTH	0x01u
#define CRL_SYND_LOCAL_QP_OP	0x02u
#define CRL_SYND_LOCAL_PROT	0x04u
#define CRL_SYND_WR_FLUSH	0x05u
#define CRL_SYND_BAD_RESP	0x10u
#define CRL_SYND_LOCAL_ACCESS	0x11u

/* hds_ip_ext (byte 28), receive side: what the NIC verified. */
#define CRL_CQE_L2_OK (1u << 0)
#define CRL_CQE_L3_OK (1u << 1)
#define CRL_CQE_L4_OK (1u << 2)

/*
 * l4_hdr_type_etc (byte 29): [7] fragment, [6:4] L4 type, [3:2] L3 type, [0] VLAN stripped into
 * vlan_info.
 */
#define CRL_CQE_CV		 (1u << 0)
#define CRL_CQE_IP_EXT		 (1u << 1) /* IPv4 options or IPv6 extension headers */
#define CRL_CQE_IP_FRAG		 (1u << 7)
#define CRL_CQE_L3_SHIFT	 2u
#define CRL_CQE_L3_NONE		 0u
#define CRL_CQE_L3_IPV6		 1u
#define CRL_CQE_L3_IPV4		 2u
#define CRL_CQE_L4_SHIFT	 4u
#define CRL_CQE_L4_NONE		 0u
#define CRL_CQE_L4_TCP		 1u
#define CRL_CQE_L4_UDP		 2u
#define CRL_CQE_L4_TCP_EMPTY_ACK 3u
#define CRL_CQE_L4_TCP_ACK	 4u

struct crl_cqe64 {
	uint8_t rsvd0[2];
	crl_be16 wqe_id;	 /* 0x02 */
	uint8_t lro[8];		 /* 0x04: LRO fields, 0 */
	crl_be32 rx_hash_result; /* 0x0c: RSS hash */
	uint8_t rx_hash_type;	 /* 0x10 */
	uint8_t ml_path;	 /* 0x11 */
	uint8_t rsvd12[2];
	crl_be16 check_sum;	 /* 0x14: CHECKSUM_COMPLETE over all after the Ethernet header */
	crl_be16 slid;		 /* 0x16 */
	crl_be32 flags_rqpn;	 /* 0x18 */
	uint8_t hds_ip_ext;	 /* 0x1c: CRL_CQE_L2_OK .. */
	uint8_t l4_hdr_type_etc; /* 0x1d */
	crl_be16 vlan_info;	 /* 0x1e: stripped tag */
	crl_be32 srqn_uidx;	 /* 0x20: user index of the queue */
	crl_be32 metadata;	 /* 0x24: flow table metadata, immediate */
	uint8_t rsvd28[4];
	crl_be32 byte_cnt;	/* 0x2c: bytes received */
	crl_be64 timestamp;	/* 0x30 */
	crl_be32 sop_drop_qpn;	/* 0x38: [31:24] send opcode, [23:0] queue number */
	crl_be16 wqe_counter;	/* 0x3c: index of the WQE's first WQEBB; receive: of the RQ WQE */
	uint8_t signature;	/* 0x3e */
	uint8_t op_own;		/* 0x3f: [7:4] opcode, [3:2] format, [1] solicited, [0] owner */
};

CRL_STATIC_ASSERT(sizeof(struct crl_cqe64) == CRL_CQE_BYTES, "PRM: CQE");
CRL_STATIC_ASSERT(offsetof(struct crl_cqe64, rx_hash_result) == 0x0c, "PRM: CQE");
CRL_STATIC_ASSERT(offsetof(struct crl_cqe64, check_sum) == 0x14, "PRM: CQE");
CRL_STATIC_ASSERT(offsetof(struct crl_cqe64, hds_ip_ext) == 0x1c, "PRM: CQE");
CRL_STATIC_ASSERT(offsetof(struct crl_cqe64, byte_cnt) == 0x2c, "PRM: CQE");
CRL_STATIC_ASSERT(offsetof(struct crl_cqe64, sop_drop_qpn) == 0x38, "PRM: CQE");
CRL_STATIC_ASSERT(offsetof(struct crl_cqe64, wqe_counter) == 0x3c, "PRM: CQE");
CRL_STATIC_ASSERT(offsetof(struct crl_cqe64, op_own) == 0x3f, "PRM: CQE");

struct crl_err_cqe {
	uint8_t rsvd0[32];
	crl_be32 srqn;		     /* 0x20 */
	uint8_t rsvd24[16];
	uint8_t hw_err_synd;	     /* 0x34: hardware syndrome, undocumented in public */
	uint8_t hw_synd_type;	     /* 0x35 */
	uint8_t vendor_err_synd;     /* 0x36 */
	uint8_t syndrome;	     /* 0x37: CRL_SYND_* */
	crl_be32 s_wqe_opcode_qpn;   /* 0x38: [31:24] opcode of the WQE, [23:0] queue number */
	crl_be16 wqe_counter;	     /* 0x3c */
	uint8_t signature;	     /* 0x3e */
	uint8_t op_own;		     /* 0x3f */
};

CRL_STATIC_ASSERT(sizeof(struct crl_err_cqe) == CRL_CQE_BYTES, "PRM: error CQE");
CRL_STATIC_ASSERT(offsetof(struct crl_err_cqe, vendor_err_synd) == 0x36, "PRM: error CQE");
CRL_STATIC_ASSERT(offsetof(struct crl_err_cqe, syndrome) == 0x37, "PRM: error CQE");
CRL_STATIC_ASSERT(offsetof(struct crl_err_cqe, wqe_counter) == 0x3c, "PRM: error CQE");
CRL_STATIC_ASSERT(offsetof(struct crl_err_cqe, op_own) == 0x3f, "PRM: error CQE");

CRL_FN uint32_t
crl_cqe_opcode(uint8_t op_own)
{
	return op_own >> 4;
}

/* True when the entry at consumer index ci was written by the NIC in this lap of the ring. */
CRL_FN bool
crl_cqe_is_sw_owned(uint8_t op_own, uint64_t ci, uint32_t log_depth)
{
	return crl_cqe_opcode(op_own) != CRL_CQE_INVALID && (op_own & 1u) == (ci >> log_depth & 1u);
}

#endif /* CRL_WIRE_CQE_H */
