/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checking build's NIC: executes sends, receives frames, completes, a small step at a time as a
 * coroutine, and tells the checker of every access with the authority it has for it: a WQE by the
 * record that counted it, a payload by its WQE, a receive slot and a CQE slot by the record that
 * gave it back. It reads a record when the register was written and, as hardware may, at any time.
 */
#ifndef ORDER_NIC_H
#define ORDER_NIC_H

#include "gpu_queues/queue_mem.h"
#include "gpu_queues/queue_state.h"
#include "hb.h"

#define NIC_IOVA      0x700000000000ull
#define NIC_LKEY      0xabcdu
#define NIC_FRAME     256u /* bytes of the longest frame here */
#define NIC_HEADROOM  2u
#define NIC_PRODUCERS 4u
#define NIC_NEVER     UINT64_MAX
#define NIC_ROUND     64u /* frames that go round, at most, and bytes of each */

struct nic;

/* What goes over the wire of one queue pair. */
struct nic_traffic {
	/* Frame number seq for this queue into buf; its length. 0: none now. */
	uint32_t (*make)(struct nic *n, uint64_t seq, uint8_t *buf);
	/* A frame that left by this queue; false: it is not what it should be. */
	bool (*check)(struct nic *n, const uint8_t *frame, uint32_t len);
};

struct nic {
	struct crl_queue_dev *q;
	struct crl_ctl *ctl;
	struct nic *peer;	    /* whose frames leave by our send queue */
	struct nic *returns;	    /* the other way round: where our frames leave */
	uint64_t by[NIC_PRODUCERS]; /* frames that left, by producer */
	uint8_t loop[NIC_FRAME];
	uint32_t loop_len;		     /* a frame that left and is to come back */
	uint8_t round[NIC_ROUND][NIC_ROUND]; /* stamp's frames that left, by number */
	uint32_t first;			     /* frames of txonly's that leave before all others */
	const struct nic_traffic *traffic;
	uint32_t index;
	uint8_t tx, rx; /* actors: the two sides are as good as two devices */
	struct hb_word *sdb, *uar, *rdb, *scq_rec, *rcq_rec, *arm, *arm_reg;
	struct hb_word sdb_seen, rdb_seen, scq_seen, rcq_seen; /* as last sampled */
	struct hb_cq *scq, *rcq;
	uint64_t *arm_page;
	uint64_t rang, rang_seen;
	struct hb_word uar_was; /* the last store to the register */
	/* adv.h: the record, the arm word, may not have been there when its register was written */
	bool loose, arm_loose;
	bool deaf;     /* reads records at doorbells only */
	uint32_t slow; /* 0, or sleeps through so many steps for one that it makes */
	uint32_t arm_rang, arm_seen;
	CRL_ALIGNAS(16) uint8_t wqe[CRL_WQE_DS_MAX * CRL_WQE_SEG_BYTES]; /* as fetched */
	uint64_t sq_at, sq_told, rq_at, rq_told, scq_pi, rcq_pi;
	uint64_t fail_at;   /* the WQE index that fails, NIC_NEVER: none */
	uint64_t failed_at; /* and the one that did */
	bool failed, resetting;
	uint64_t sent, received; /* frames that left, frames handed to the driver */
	uint64_t next;		 /* number of the next frame that must leave by this queue */
};

/* Makes a queue pair of 1 << log entries a ring and its NIC. */
void nic_open(struct nic *n, uint32_t index, uint32_t log, bool empw, uint32_t inline_max);
/* Some steps of one kind or the other, chosen by the schedule's seed. */
void nic_step(struct nic *n);
/* As the firmware resets the send queue and its CQ; the caller is the host. */
void nic_reset_send(struct nic *n);

#endif /* ORDER_NIC_H */
