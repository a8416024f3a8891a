/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver in miniature for tests of the firmware: a NIC on loopback, one user context with a
 * protection domain, a UAR page and a region of memory that is both umem and MR, and the commands
 * that make each kind of object with values that are right. A test changes one thing and looks.
 */
#ifndef SCX_TEST_FIXTURE_H
#define SCX_TEST_FIXTURE_H

#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "drivers/mlx5/prm.h"
#include "drivers/softcx/fw/fw.h"
#include "drivers/softcx/softcx.h"

#define FX_UAR_PAGES 8u
#define FX_MEM	     (1u << 20)
#define FX_IN_MAX    4096u /* bytes of the largest mailbox here */

/* Where things lie in the memory; rings on pages, records behind them. */
#define FX_CQ_RING  0x0000u
#define FX_SQ_RING  0x4000u
#define FX_RQ_RING  0x8000u
#define FX_CQ_DBREC 0xc000u
#define FX_SQ_DBREC 0xc040u
#define FX_RQ_DBREC 0xc080u
#define FX_DATA	    0x10000u

#define FX_LOG_CQ 6u
#define FX_LOG_SQ 6u
#define FX_LOG_RQ 6u

struct fx {
	struct scx_nic *nic;
	uint8_t *uar_mem, *mem;
	uint16_t uid;
	uint32_t pdn, uar, umem, umem_ro, lkey;
	uint32_t td, tis, cq, sq, rq, rqt, tir; /* numbers, 0: not made */
	uint32_t counter_set;			/* of RQs made from now on, 0: none */
	unsigned nr_events;
	struct scx_event event; /* the last one */
	/* mailboxes: fx_in() zeroes both, fx_run() hands them over */
	CRL_ALIGNAS(8) uint8_t in[FX_IN_MAX], out[FX_IN_MAX + 16];
	size_t in_bytes, out_bytes;
	uint32_t status, syndrome;
};

int fx_new(void **state); /* cmocka set-up: profile cx6dx */
int fx_free(void **state);
struct fx *fx_make(const char *profile);
struct fx *fx_make_guest(const char *profile, const struct scx_guest *guest, bool roce);
void fx_drop(struct fx *fx);
void fx_poll(struct fx *fx); /* until what was rung is done */

/* A new command of that opcode and layout sizes; returns the input mailbox. */
uint8_t *fx_in(struct fx *fx, uint16_t opcode, size_t in_bytes, size_t out_bytes);
uint32_t fx_run(struct fx *fx);			 /* status */
uint32_t fx_run_as(struct fx *fx, uint16_t uid); /* the same for another context */
uint32_t fx_num(struct fx *fx);			 /* number of the created object, from the answer */
void fx_ok(struct fx *fx); /* run, and fail the test unless the status is OK */
/* Run, and fail unless it is refused for that reason, with status and syndrome. */
void fx_refused(struct fx *fx, enum scx_fw_refusal why);

/* Fill in commands that would succeed; each returns the context (or mailbox where there is none).
 */
uint8_t *fx_cmd_td(struct fx *fx);
uint8_t *fx_cmd_tis(struct fx *fx);
uint8_t *fx_cmd_cq(struct fx *fx);
uint8_t *fx_cmd_sq(struct fx *fx);
uint8_t *fx_cmd_rq(struct fx *fx);
uint8_t *fx_cmd_rqt(struct fx *fx, unsigned nr); /* nr times fx->rq */
uint8_t *fx_cmd_tir(struct fx *fx);
uint8_t *fx_cmd_state(
	struct fx *fx, uint16_t modify_opcode, uint32_t num, uint32_t from, uint32_t to);
uint8_t *fx_cmd_num(
	struct fx *fx, uint16_t opcode, uint32_t num, size_t out_bytes); /* number at 0x48 */

void fx_queues(struct fx *fx); /* TD to TIR, queues RDY, and one rule: everything to the TIR */
void fx_destroy(struct fx *fx, uint16_t opcode, uint32_t num);

/* A query; returns the context in the answer. */
uint8_t *fx_query(struct fx *fx, uint16_t opcode, uint32_t num, size_t out_bytes, uint32_t ctx);
#define FX_QUERY(fx, OP, CTX, num)                                                                 \
	fx_query(fx, CRL_CMD_OP_QUERY_##OP, num, CRL_PRM_QUERY_##OP##_OUT_BYTES,                   \
		CRL_PRM_QUERY_##OP##_OUT_##CTX)

#endif /* SCX_TEST_FIXTURE_H */
