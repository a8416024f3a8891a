/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queues as device code sees them: plain structs of addresses, filled by drivers/mlx5, used by
 * sq_*.h, cq_poll.h and rq_refill.h in a kernel or a host thread. No pointer to code, no host call.
 *
 * Who owns what: the constants are written once by the host before an engine starts. The indices of
 * a queue belong to the engine that runs it (README.md has the table); the host reads the copies in
 * struct crl_qstats. Indices are 64 bits and free-running; ring.h masks them.
 */
#ifndef CRL_QUEUE_H
#define CRL_QUEUE_H

#include "port.h"
#include "wire/be.h"
#include "wire/cqe.h"
#include "wire/doorbell.h"
#include "wire/wqe.h"

/* Raised whenever the layout or the meaning of a struct below changes: host and device object must agree. */
#define CRL_DEV_ABI 1u

enum crl_st {
	CRL_OK = 0,
	CRL_AGAIN = 1,	/* nothing there, no room: try again */
	CRL_STUCK = 2,	/* a bounded wait ran out: the other side made no progress */
	CRL_FAILED = 3, /* the queue is in error: the control loop decides */
};

struct crl_cq {
	struct crl_cqe64 *cqe;
	crl_be32 *dbrec;     /* words CRL_DBREC_CQ_CI and CRL_DBREC_CQ_ARM */
	uint64_t ci;
	uint32_t log_depth;
	uint32_t cqn;
	uint32_t flags;	     /* CRL_CQ_* */
	uint32_t rsvd;
};

#define CRL_CQ_COLLAPSED      1u /* one CQE, rewritten: may lose the first syndrome */
#define CRL_CQ_OVERRUN_IGNORE 2u /* the NIC does not look at our consumer index */

struct crl_sq {
	uint8_t *wqe;	     /* ring of 1 << log_depth WQEBBs */
	crl_be32 *dbrec;     /* the record's send word */
	uint64_t *uar;	     /* doorbell register */
	uint64_t *cookie;    /* [depth] by slot of the WQE's first WQEBB: the caller's, comes back at completion */
	uint64_t *end;	     /* [depth] by slot of the first WQEBB: index after the WQE's last WQEBB */
	uint64_t pi;	     /* next WQEBB to reserve */
	uint64_t posted;     /* WQEBBs written and in order, rung or not */
	uint64_t rung;	     /* WQEBBs the NIC was told of */
	uint64_t ci;	     /* WQEBBs known to be completed */
	uint64_t signalled;  /* index after the last WQE that asked for a CQE */
	uint32_t log_depth;
	uint32_t sqn;
	uint32_t lkey;	     /* of the default region: frames given without a key */
	uint32_t signal_every; /* a CQE at least every so many WQEs (design: min(N, rx/4, sq/4)) */
	struct crl_cq cq;
};

struct crl_rq {
	struct crl_wqe_data *wqe; /* ring of 1 << log_depth data segments; slot i always names buffer i */
	crl_be32 *dbrec;	  /* the record's receive word */
	uint8_t *buf;		  /* buffers, slot i at buf + i * stride, as this processor sees them */
	uint8_t *released;	  /* [depth] 1 = slot given back by the app, not yet by us to the NIC */
	uint64_t buf_iova;	  /* the same buffers as WQEs name them */
	uint64_t pi;		  /* slots given to the NIC */
	uint64_t ci;		  /* packets taken from the CQ */
	uint32_t log_depth;
	uint32_t rqn;
	uint32_t stride;	  /* bytes from buffer to buffer */
	uint32_t headroom;	  /* bytes before the frame in each buffer */
	uint32_t lkey;
	uint32_t rsvd;
	struct crl_cq cq;
};

/* Counters an engine writes and the host reads, one cache line a direction; memory the host can read. */
struct crl_qstats {
	uint64_t rx_packets, rx_bytes, rx_dropped, rx_errors, rx_csum_bad, rx_polls, rx_idle_polls, rx_refills;
	uint64_t tx_packets, tx_bytes, tx_dropped, tx_errors, tx_doorbells, tx_full_waits, tx_completions, tx_idle_polls;
	uint64_t sq_pi, sq_ci, rq_pi, rq_ci; /* copies for inspection */
	uint64_t heartbeat;		     /* rises while the engine runs */
	uint64_t rsvd[11];
};
CRL_STATIC_ASSERT(sizeof(struct crl_qstats) == 256, "four cache lines");

/* Error mailbox: the first error of a queue, kept until the host takes it. Written by the engine. */
struct crl_qerror {
	uint32_t seq; /* 0 none; the engine fills the rest, orders, then stores 1 */
	uint32_t status; /* enum crl_st */
	uint32_t queue;  /* SQ or RQ number */
	uint32_t wqe;	 /* WQE counter of the CQE */
	uint8_t syndrome, vendor, is_rx, rsvd0;
	uint8_t cqe[64];
	uint8_t wqe_bytes[64];
	uint8_t rsvd[44];
};
CRL_STATIC_ASSERT(sizeof(struct crl_qerror) == 192, "three cache lines");

/* Control words, host memory that both sides see: the host writes, the engine reads, and the reverse below. */
struct crl_ctl {
	uint32_t stop;	 /* host: 1 = leave the loop */
	uint32_t park;	 /* host: 1 = stand still, touch no queue */
	uint32_t rsvd0[14];
	uint32_t parked; /* engine: 1 while standing still */
	uint32_t done;	 /* engine: 1 = left the loop, drained as far as it could */
	uint32_t abi;	 /* engine: the CRL_DEV_ABI it was compiled with */
	uint32_t rsvd1[13];
};
CRL_STATIC_ASSERT(sizeof(struct crl_ctl) == 128, "a cache line a writer");

struct crl_queue_dev {
	uint32_t abi;	/* CRL_DEV_ABI of the host that filled it */
	uint32_t flags; /* CRL_Q_* */
	uint32_t index; /* of the queue within its port */
	uint32_t rsvd;
	struct crl_sq sq;
	struct crl_rq rq;
	struct crl_qstats *stats;
	struct crl_qerror *error;
	struct crl_ctl *ctl;
};

#define CRL_Q_TX 1u
#define CRL_Q_RX 2u

#endif /* CRL_QUEUE_H */
