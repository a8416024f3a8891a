/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue pair and the least NIC that can run it, in one thread and in plain memory: it acts only
 * when told to, one WQE at a time, and fails the test when the driver breaks a rule that a NIC
 * relies on. It shares the layouts with gpu_queues and no code of the data path.
 */
#ifndef FAKE_NIC_H
#define FAKE_NIC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu_queues/queue_mem.h"
#include "gpu_queues/queue_state.h"

#define FAKE_IOVA     0x700000000000ull /* what WQEs add to an address of ours */
#define FAKE_SQN      0x1234u
#define FAKE_RQN      0x4321u
#define FAKE_LKEY     0xabcdu
#define FAKE_HEADROOM 2u

/* Called for each frame that leaves. */
typedef void (*fake_sink)(void *arg, const uint8_t *frame, uint32_t len);

struct fake_nic {
	struct crl_queue_dev q;
	struct crl_qstats stats;
	struct crl_qerror error[2];
	struct crl_ctl ctl;
	uint64_t uar;	   /* the register */
	uint64_t uar_seen; /* its value at the last look */
	crl_be32 sq_rec[2], rq_rec[2], scq_rec[2], rcq_rec[2];
	uint64_t sq_told; /* WQEBBs that record and register announced */
	uint64_t sq_at;	  /* WQEBBs executed */
	uint64_t rq_at;	  /* slots filled */
	uint64_t scq_pi, rcq_pi;
	uint64_t fail_at; /* sq_at at which a WQE fails, UINT64_MAX: never */
	bool threaded;	  /* an engine runs beside us: record and register are seen apart */
	uint32_t wqes, frames, cqes;
	fake_sink sink;
	void *arg;
	uint8_t *txmem; /* for frames of the test's own */
};

/* log_sq, log_rq: depths; stride: bytes a receive buffer; empw: CRL_SQ_EMPW. */
void fake_open(struct fake_nic *n, uint32_t log_sq, uint32_t log_rq, uint32_t stride, bool empw);
void fake_close(struct fake_nic *n);
/* Reads register and record; true when new work was announced. */
bool fake_doorbell(struct fake_nic *n);
/* Executes up to max WQEs of what was announced; returns how many. */
uint32_t fake_send(struct fake_nic *n, uint32_t max);
/* A frame arrives. False: no buffer, it is lost. */
bool fake_receive(struct fake_nic *n, const void *frame, uint32_t len);
/* The same with other L3/L4 bytes in the CQE. */
bool fake_receive_flags(
	struct fake_nic *n, const void *frame, uint32_t len, uint8_t csum_ok, uint8_t types);
/* A raw CQE into the receive or send CQ. */
void fake_cqe(struct fake_nic *n, bool rx, uint8_t opcode, uint16_t counter, uint8_t syndrome);
/* What the host does with a queue in error: RST, its record zeroed, RDY. The CQ goes on. */
void fake_reset_send(struct fake_nic *n);
void fake_reset_receive(struct fake_nic *n);

#endif /* FAKE_NIC_H */
