/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver and a firmware small enough to be read at once, for tests of the data path: one UAR
 * page, a region of packet memory, queues over plain arrays. WQEs are written byte by byte with
 * offsets of their own, not with the structs of gpu_queues/wire, so that a mistake there shows
 * here.
 */
#ifndef SCX_TEST_RIG_H
#define SCX_TEST_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "drivers/softcx/dp/dp.h"
#include "drivers/softcx/dp/refuse.h"
#include "drivers/softcx/softcx.h"
#include "drivers/softcx/wire.h"

#define RIG_PD	    7u
#define RIG_KEY	    0x00001a2bu
#define RIG_IOVA    0x123400000000ull
#define RIG_MEM	    (4u << 20)
#define RIG_PAGES   4u
#define RIG_PAGE    1u
#define RIG_REPORTS 64u

struct rig_cq {
	uint8_t *ring;
	uint32_t rec[2];
	uint32_t log, ci, cqn;
	int collapsed;
};

struct rig_sq {
	uint8_t *ring;
	uint32_t rec[2];
	uint32_t log, sqn;
	uint16_t pi;
	struct rig_cq *cq;
};

struct rig_rq {
	uint8_t *ring;
	uint32_t rec[2];
	uint32_t log, log_stride, rqn;
	uint16_t pi;
	struct rig_cq *cq;
};

struct rig {
	struct scx_dp *dp;
	struct scx_far *far; /* RIG_COPY: rings, records and memory are reached by a copy engine */
	uint8_t *uar, *mem;
	uint32_t next_cqn, next_rule;
	uint32_t seen[SCX_DP_R_COUNT]; /* refusals by id */
	struct scx_dp_report report[RIG_REPORTS];
	uint32_t nr_reports;
};

struct rig *rig_new(uint64_t seed);
void rig_free(struct rig *r);

void rig_cq(struct rig *r, struct rig_cq *cq, uint32_t log, int collapsed, int oi);
void rig_sq(struct rig *r, struct rig_sq *sq, struct rig_cq *cq, uint32_t sqn, uint32_t log);
void rig_rq(struct rig *r, struct rig_rq *rq, struct rig_cq *cq, uint32_t rqn, uint32_t log,
	uint32_t log_stride);
void rig_cq_free(struct rig_cq *cq);
void rig_sq_free(struct rig_sq *sq);
void rig_rq_free(struct rig_rq *rq);
int rig_apply(struct rig *r, enum scx_dp_op op, uint32_t num, uint32_t arg);
void rig_tir(struct rig *r, uint32_t tirn, uint32_t rqn);
/* Rule on the destination MAC (NULL: all frames); returns its id. */
uint32_t rig_rule(struct rig *r, uint32_t priority, const uint8_t *dmac, enum scx_flow_dest dest,
	uint32_t tirn);

/* WQE parts; all put at the queue's pi, nothing is rung. */
uint8_t *rig_wqebb(struct rig_sq *sq, uint32_t off); /* off bytes after the WQE's start, wrapped */
void rig_put(struct rig_sq *sq, uint32_t off, const void *bytes, uint32_t n);
void rig_put32(struct rig_sq *sq, uint32_t off, uint32_t v);
void rig_ctrl(struct rig_sq *sq, uint8_t opcode, uint32_t ds, uint8_t ce);
void rig_eth(struct rig_sq *sq, uint8_t cs_flags, uint16_t inline_word);
void rig_dseg(struct rig_sq *sq, uint32_t off, uint32_t len, uint32_t key, uint64_t addr);
void rig_post(struct rig_sq *sq, uint32_t ds);	 /* move pi past it; record untouched */
void rig_ring(struct rig *r, struct rig_sq *sq); /* record and UAR, as DPDK */
/* A whole SEND by pointer at RIG_IOVA + off, a whole EMPW frame inline. */
void rig_send(struct rig_sq *sq, uint32_t off, uint32_t len, uint8_t ce, uint8_t cs_flags);
void rig_empw_inline(struct rig_sq *sq, const uint8_t *frame, uint32_t len, uint8_t ce);

/* Post nr buffers of size bytes, at RIG_IOVA + base + slot * size. */
void rig_rq_post(struct rig_rq *rq, uint32_t base, uint32_t size, uint32_t nr);

/* Step until idle, collecting reports. */
void rig_step(struct rig *r, struct scx_wire *w);
/* rig_crew.c: whether workers step, what they do in one step, and WQEs they did not do alone. */
bool rig_has_crew(void);
void rig_crew_forget(void);
unsigned rig_crew_step(struct scx_dp *dp);
uint64_t rig_crew_plain(void);
/* Where the data path finds the driver's memory: there, or in a copy of it. */
void *rig_at(struct rig *r, void *p, size_t bytes);
/* Next CQE of the driver's, or NULL; taken, the record is written. */
const uint8_t *rig_cqe(struct rig_cq *cq);
uint16_t rig_cqe_counter(const uint8_t *cqe);
void rig_put_be32(uint8_t *p, uint32_t v); /* big-endian */
uint32_t rig_be32(const uint8_t *p);
uint16_t rig_be16(const uint8_t *p);
/* The one refusal since the last call must be this one. */
void rig_expect_refusal(struct rig *r, enum scx_dp_refuse why);
void rig_expect_quiet(struct rig *r);

/* A UDP frame over IPv4 with right checksums, of len bytes; returns f. */
uint8_t *rig_udp4(uint8_t *f, uint32_t len, uint16_t sport, uint16_t dport);
/* RFC 1071 by the book, as an independent reference: 16 bits at a time, big-endian. */
uint16_t rig_sum16(const uint8_t *p, uint32_t n, uint32_t start);

/*
 * The set-up most tests want: one SQ and one RQ on the loopback, everything received by the RQ, 128
 * buffers of 2048 bytes posted. rig_port.c.
 */
struct rig_port {
	struct rig *r;
	struct rig_cq tx_cq, rx_cq;
	struct rig_sq sq;
	struct rig_rq rq;
};
#define RIG_RX_BASE (1u << 20)
#define RIG_RX_SIZE 2048u
#define RIG_TIR	    0x33u

int rig_port_setup(void **state);
int rig_port_teardown(void **state);
/* The next received frame is these bytes; returns its CQE. */
const uint8_t *rig_expect_frame(struct rig_port *f, const uint8_t *frame, uint32_t len);
/* The next send CQE is of this WQE. */
void rig_expect_sent(struct rig_port *f, uint16_t index, uint8_t opcode);
/* The next CQE of this CQ is an error with this syndrome. */
void rig_expect_error(struct rig_cq *cq, uint8_t opcode, uint16_t index, uint8_t syndrome);
/* Ring, step, and all must be quiet. */
void rig_go(struct rig_port *f);

#endif /* SCX_TEST_RIG_H */
