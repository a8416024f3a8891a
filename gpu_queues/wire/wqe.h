/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work queue entries as the NIC reads them, once for the GPU, the host and the software ConnectX.
 * Send WQEs are built from 16-byte segments in 64-byte building blocks (WQEBB); receive WQEs of a
 * cyclic RQ are one or more data segments. Field names and offsets: "mlx5 Adapters Programmer's
 * Reference Manual" (PRM), sections on WQE format; the test tests/unit/test_wire_peers.c holds them
 * against rdma-core's mlx5dv.h and, where it is fetched, DPDK's mlx5_prm.h.
 */
#ifndef CRL_WIRE_WQE_H
#define CRL_WIRE_WQE_H

#include "be.h"

#define CRL_WQEBB_BYTES	     64u
#define CRL_WQE_SEG_BYTES    16u
#define CRL_WQE_DS_MAX	     63u /* the ds field is six bits */
#define CRL_WQE_INDEX_BITS   16u /* the WQE index on the wire; our own indices are 64 bits */

/* Opcodes (control segment, byte 3). */
#define CRL_OPCODE_NOP	      0x00u
#define CRL_OPCODE_RDMA_WRITE 0x08u
#define CRL_OPCODE_SEND	      0x0au
#define CRL_OPCODE_TSO	      0x0eu
#define CRL_OPCODE_EMPW	      0x29u /* enhanced multi-packet send: many frames in one */

/* Control segment, byte 11: completion mode in bits 3:2, solicited event in bit 1. */
#define CRL_WQE_CE_SHIFT	 2u
#define CRL_WQE_CE_ON_ERROR	 0x0u /* CQE only if this WQE fails */
#define CRL_WQE_CE_ON_FIRST_ERR	 0x1u /* CQE only for the first failure */
#define CRL_WQE_CE_ALWAYS	 0x2u
#define CRL_WQE_CE_ALWAYS_EVENT	 0x3u /* CQE and an event */

/* Ethernet segment, byte 4: what the NIC shall fill in. */
#define CRL_ETH_L3_CSUM	      (1u << 6) /* outer IPv4 header checksum */
#define CRL_ETH_L4_CSUM	      (1u << 7) /* outer TCP or UDP checksum */
#define CRL_ETH_L3_INNER_CSUM (1u << 4)
#define CRL_ETH_L4_INNER_CSUM (1u << 5)

/* Ethernet segment, inline header size word: bit 15 asks for the VLAN tag in the next two bytes. */
#define CRL_ETH_INLINE_VLAN 0x8000u
#define CRL_ETH_INLINE_MASK 0x03ffu

/* Byte count word of a segment: bit 31 says that the data follows in the WQE itself. */
#define CRL_WQE_INLINE 0x80000000u

/* The invalid lkey: with byte count 0 it ends a scatter list (rdma-core: MLX5_INVALID_LKEY). */
#define CRL_LKEY_INVALID 0x100u

struct crl_wqe_ctrl {
	crl_be32 opmod_idx_opcode; /* 0x0: [31:24] opmod, [23:8] WQE index, [7:0] opcode */
	crl_be32 qpn_ds;	   /* 0x4: [31:8] SQ number, [5:0] size in 16-byte units */
	uint8_t signature;	   /* 0x8: 0, signatures are not used */
	uint8_t rsvd[2];	   /* 0x9 */
	uint8_t fm_ce_se;	   /* 0xb: [7:5] fence, [3:2] CE, [1] SE */
	crl_be32 imm;		   /* 0xc: immediate, 0 for Ethernet */
};

CRL_STATIC_ASSERT(sizeof(struct crl_wqe_ctrl) == 16, "PRM: control segment");
CRL_STATIC_ASSERT(offsetof(struct crl_wqe_ctrl, qpn_ds) == 0x4, "PRM: control segment");
CRL_STATIC_ASSERT(offsetof(struct crl_wqe_ctrl, fm_ce_se) == 0xb, "PRM: control segment");

struct crl_wqe_eth {
	crl_be32 swp_offs;	  /* 0x0: software parser offsets, 0 */
	uint8_t cs_flags;	  /* 0x4: CRL_ETH_* */
	uint8_t swp_flags;	  /* 0x5: 0 */
	crl_be16 mss;		  /* 0x6: TSO payload bytes a frame, else 0 */
	crl_be32 metadata;	  /* 0x8: flow metadata, 0 */
	crl_be16 inline_hdr_size; /* 0xc: [15] VLAN insert, [9:0] bytes inlined */
	uint8_t inline_hdr[2];	  /* 0xe: the inline header starts here, runs into later segments;
				   *      with VLAN insert these two bytes are the tag */
};

CRL_STATIC_ASSERT(sizeof(struct crl_wqe_eth) == 16, "PRM: Ethernet segment");
CRL_STATIC_ASSERT(offsetof(struct crl_wqe_eth, cs_flags) == 0x4, "PRM: Ethernet segment");
CRL_STATIC_ASSERT(offsetof(struct crl_wqe_eth, inline_hdr_size) == 0xc, "PRM: Ethernet segment");
CRL_STATIC_ASSERT(offsetof(struct crl_wqe_eth, inline_hdr) == 0xe, "PRM: Ethernet segment");

struct crl_wqe_data {
	crl_be32 byte_count; /* 0x0: bytes, [31] = CRL_WQE_INLINE */
	crl_be32 lkey;	     /* 0x4 */
	crl_be64 addr;	     /* 0x8 */
};

CRL_STATIC_ASSERT(sizeof(struct crl_wqe_data) == 16, "PRM: data segment");
CRL_STATIC_ASSERT(offsetof(struct crl_wqe_data, lkey) == 0x4, "PRM: data segment");
CRL_STATIC_ASSERT(offsetof(struct crl_wqe_data, addr) == 0x8, "PRM: data segment");

/* Pointers as the NIC sees them: byte order of the fields is the wire's, alignment 16. */
struct crl_wqe_raddr {
	crl_be64 addr; /* 0x0: remote address */
	crl_be32 rkey; /* 0x8 */
	crl_be32 rsvd; /* 0xc */
};

CRL_STATIC_ASSERT(sizeof(struct crl_wqe_raddr) == 16, "PRM: remote address segment");

CRL_FN uint32_t
crl_wqe_opcode(const struct crl_wqe_ctrl *c)
{
	return crl_from_be32(c->opmod_idx_opcode) & 0xff;
}

CRL_FN uint16_t
crl_wqe_index(const struct crl_wqe_ctrl *c)
{
	return (uint16_t)(crl_from_be32(c->opmod_idx_opcode) >> 8);
}

CRL_FN uint32_t
crl_wqe_qpn(const struct crl_wqe_ctrl *c)
{
	return crl_from_be32(c->qpn_ds) >> 8;
}

CRL_FN uint32_t
crl_wqe_ds(const struct crl_wqe_ctrl *c)
{
	return crl_from_be32(c->qpn_ds) & 0x3f;
}

CRL_FN uint32_t
crl_wqe_ce(const struct crl_wqe_ctrl *c)
{
	return c->fm_ce_se >> CRL_WQE_CE_SHIFT & 3u;
}

#endif /* CRL_WIRE_WQE_H */
