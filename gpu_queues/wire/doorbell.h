/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two ways a NIC learns of new work. A doorbell record is eight bytes of ordinary memory per
 * queue: word 0 is the receive counter, word 1 the send counter (SQ and RQ records of one queue may
 * be separate records; each uses its own word). A CQ's record has the consumer index in word 0 and
 * the arm word in word 1. The UAR (user access region) page holds registers: a send doorbell is one
 * 8-byte store of a WQE's first qword at offset 0x800. PRM: "Doorbell record", "UAR page format".
 */
#ifndef CRL_WIRE_DOORBELL_H
#define CRL_WIRE_DOORBELL_H

#include "be.h"

#define CRL_DBREC_RCV_WORD  0u /* RQ: [15:0] WQEs posted, free-running */
#define CRL_DBREC_SND_WORD  1u /* SQ: [15:0] WQEBBs posted, free-running */
#define CRL_DBREC_CQ_CI	    0u /* CQ: [23:0] CQEs consumed, free-running */
#define CRL_DBREC_CQ_ARM    1u /* CQ: [29:28] sequence, [24] next or solicited, [23:0] ci */
#define CRL_DBREC_BYTES	    8u
#define CRL_DBREC_ALIGN	    64u /* one cache line a record, so that two queues never share one */
#define CRL_DBREC_WQ_MASK   0xffffu
#define CRL_DBREC_CQ_MASK   0xffffffu

#define CRL_UAR_BYTES	     4096u
#define CRL_UAR_CQ_ARM	     0x20u  /* 8 bytes: arm word, CQ number */
#define CRL_UAR_BF_REG	     0x800u /* send doorbell, 8 bytes or a BlueFlame block */
#define CRL_UAR_BF_REG_BYTES 0x100u /* distance to the second register of the page */

#define CRL_CQ_ARM_SN_SHIFT  28u
#define CRL_CQ_ARM_SOLICITED (1u << 24)

#endif /* CRL_WIRE_DOORBELL_H */
