/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queues as device code sees them: plain structs of addresses, filled by drivers/mlx5, used by
 * sq_*.h, cq_poll.h and rq_refill.h in a kernel or a host thread. No pointer to code, no host call.
 *
 * Who owns what: the constants are written once by the host before an engine starts. The indices of
 * a queue belong to the engine that runs it (README.md has the table); the host reads the copies in
 * struct crl_qstats. Indices are 64 bits and free-running; ring.h masks them. queue_mem.h has the
 * sizes of every table and the functions that fill them before the NIC is told of a queue.
 */
#ifndef CRL_QUEUE_H
#define CRL_QUEUE_H

#include "../config/limits.h"
#include "port.h"
#include "wire/be.h"
#include "wire/cqe.h"
#include "wire/doorbell.h"
#include "wire/wqe.h"

/* Raised whenever the layout or the meaning of a struct below changes: host and device object must
 * agree. */
#define CRL_DEV_ABI 3u /* 1: first light; 2: crl_sq.inline_hdr; 3: crl_ctl.stopping, .park */

enum crl_st {
	CRL_OK = 0,
	CRL_AGAIN = 1,	 /* nothing there, no room: try again */
	CRL_STUCK = 2,	 /* a bounded wait ran out: the other side made no progress */
	CRL_FAILED = 3,	 /* the queue is in error: the control loop decides */
	CRL_INVALID = 4, /* the caller asked for what can never be: nothing was done */
};

/* State of an SQ or RQ as its engine knows it; README.md has the transitions. */
enum crl_qs {
	CRL_QS_RESET = 0, /* indices 0, nothing told to the NIC */
	CRL_QS_READY = 1, /* work flows */
	CRL_QS_FAILED =
		2, /* an error CQE was seen: touched again only after crl_sq_rearm, crl_rq_rearm */
};

struct crl_cq {
	struct crl_cqe64 *cqe;
	crl_be32 *dbrec;  /* words CRL_DBREC_CQ_CI and CRL_DBREC_CQ_ARM */
	uint64_t ci;	  /* CQEs consumed */
	uint64_t ci_told; /* of those, the NIC was told */
	uint32_t log_depth;
	uint32_t cqn;
	uint32_t flags; /* CRL_CQ_* */
	uint32_t rsvd;
};

#define CRL_CQ_COLLAPSED      1u /* one CQE, rewritten: may lose the first syndrome; sends only */
#define CRL_CQ_OVERRUN_IGNORE 2u /* the NIC does not look at our consumer index */

struct crl_sq {
	/* Constants, set by the host. */
	uint8_t *wqe;	  /* ring of 1 << log_depth WQEBBs */
	crl_be32 *dbrec;  /* the record's two words; the send word is CRL_DBREC_SND_WORD */
	uint64_t *uar;	  /* doorbell register */
	uint64_t *cookie; /* [depth] by slot of the WQE's first WQEBB: the caller's, comes back at
			     completion */
	uint64_t *end;	  /* [depth] by slot of the first WQEBB: index after the WQE's last WQEBB */
	uint32_t log_depth;
	uint32_t sqn;
	uint32_t lkey;	       /* of the default region: frames given without a key */
	uint32_t signal_every; /* a CQE at least every so many frames or WQEBBs: crl_signal_every()
				*/
	uint32_t flags;	       /* CRL_SQ_* */
	uint32_t inline_max;   /* frames up to so many bytes travel inside the WQE; 0: none. Needs
				  CRL_SQ_EMPW */
	uint32_t inline_hdr;   /* bytes of each frame's front that the NIC wants in the WQE: 0 or
				  CRL_INLINE_HDR_L2, and then without CRL_SQ_EMPW */
	uint32_t rsvd;
	/* Owned by the engine; each is a WQEBB index, ci <= completed <= rung <= posted <= pi <= ci
	 * + depth. */
	uint64_t pi;	    /* next to reserve */
	uint64_t posted;    /* written, rung or not */
	uint64_t rung;	    /* the NIC was told of */
	uint64_t completed; /* the NIC said it is done with */
	uint64_t ci;	    /* given back to the caller with their cookies */
	uint64_t signalled; /* index after the last WQE that asked for a CQE */
	uint64_t last;	    /* first WQEBB of the last WQE written */
	uint64_t db; /* first qword of that WQE as it stands in memory: what the register takes */
	uint32_t unsignalled; /* frames or WQEBBs, whichever are more, since the last WQE that asked
			       */
	uint32_t state;	      /* enum crl_qs */
	struct crl_cq cq;
};

#define CRL_INLINE_HDR_L2 18u /* Ethernet and VLAN header, what net_mlx5 inlines for that mode */

#define CRL_SQ_EMPW 1u /* the NIC takes enhanced multi-packet sends (opcode 0x29) on this queue */

struct crl_rq {
	/* Constants, set by the host. */
	struct crl_wqe_data
		*wqe;	   /* ring of 1 << log_depth data segments; slot i always names buffer i */
	crl_be32 *dbrec;   /* the record's two words; the receive word is CRL_DBREC_RCV_WORD */
	uint8_t *buf;	   /* buffers, slot i at buf + i * stride, as this processor sees them */
	uint8_t *released; /* [depth] 1 = slot given back by the app, not yet by us to the NIC */
	uint64_t buf_iova; /* the same buffers as WQEs name them */
	uint32_t log_depth;
	uint32_t rqn;
	uint32_t stride;   /* bytes from buffer to buffer */
	uint32_t headroom; /* bytes before the frame in each buffer; even, as GPUs load aligned */
	uint32_t lkey;
	uint32_t state;	  /* enum crl_qs; owned by the engine, as are the indices */
	uint64_t pi;	  /* slots given to the NIC */
	uint64_t pi_told; /* of those, the NIC was told */
	uint64_t ci;	  /* packets taken from the CQ; ci <= pi <= ci + depth */
	struct crl_cq cq;
};

/* A registered piece of memory that frames of our own are sent from (txonly); addr 0: none. */
struct crl_txbuf {
	uint8_t *addr; /* as this processor sees it */
	uint64_t iova; /* as WQEs name it */
	uint64_t bytes;
	uint32_t lkey;
	uint32_t rsvd;
};

/* Counters an engine writes and the host reads, one cache line a direction; memory the host can
 * read. */
struct crl_qstats {
	uint64_t rx_packets, rx_bytes, rx_dropped, rx_errors, rx_csum_bad, rx_polls, rx_idle_polls,
		rx_refills;
	uint64_t tx_packets, tx_bytes, tx_dropped, tx_errors, tx_doorbells, tx_full_waits,
		tx_completions, tx_idle_polls;
	uint64_t sq_pi, sq_ci, rq_pi, rq_ci;			/* copies for inspection */
	uint64_t rtt_count, rtt_sum_ns, rtt_min_ns, rtt_max_ns; /* pingpong's round trips */
	uint64_t torn, missed; /* stamp's: frames with wrong bytes; frames that did not come */
	uint64_t rsvd[6];
};
CRL_STATIC_ASSERT(sizeof(struct crl_qstats) == 256, "four cache lines");

/* Error mailbox: the first error of a queue, kept until the host takes it. Written by the engine.
 */
struct crl_qerror {
	uint32_t seq;	 /* 0 none; the engine fills the rest, orders, then stores 1 */
	uint32_t status; /* enum crl_st */
	uint32_t queue;	 /* SQ or RQ number */
	uint32_t wqe;	 /* WQE counter of the CQE */
	uint8_t syndrome, vendor, is_rx, kind; /* kind: CRL_QERR_* */
	uint8_t cqe[64];
	uint8_t wqe_bytes[64];
	uint8_t rsvd[44];
};
CRL_STATIC_ASSERT(sizeof(struct crl_qerror) == 192, "three cache lines");

#define CRL_QERR_CQE	 0u /* an error CQE; syndrome and vendor are its own */
#define CRL_QERR_OPCODE	 1u /* a CQE with an opcode that this queue cannot get */
#define CRL_QERR_COUNTER 2u /* a CQE for a WQE that is not outstanding */
#define CRL_QERR_ABI                                                                               \
	3u /* queue and engine were built with different CRL_DEV_ABI: wqe has the queue's */
#define CRL_QERR_TURN	5u /* a producer's turn did not come (sq_share.h); wqe has its range */
#define CRL_QERR_LENGTH 4u /* a receive CQE that reports more bytes than the buffer has */

/* What the host wants of an engine that runs. */
enum crl_park {
	CRL_PARK_NOT = 0,
	CRL_PARK_STAND = 1, /* stand still, touch no queue */
	CRL_PARK_LEAVE = 2, /* and let go of the processor: a kernel ends, to be started again */
};

/*
 * ctl->park has the wish in its low bits and a number above them, which rises with each new wish.
 * An engine that stands answers in ctl->parked with the last word it saw. So an answer to an
 * earlier wish is never taken for one to this, however soon the host asks again.
 */
#define CRL_PARK_WISH 3u

/* The word for a wish after word; the same one if that is its wish: it may have been answered. */
CRL_FN uint32_t
crl_park_next(uint32_t word, uint32_t wish)
{
	return (word & CRL_PARK_WISH) == wish ? word : (word | CRL_PARK_WISH) + 1u + wish;
}

/* What an engine that stands says to a park word; never 0, which one that runs says. */
CRL_FN uint32_t
crl_park_answer(uint32_t word)
{
	return word | CRL_PARK_WISH;
}

/* Control words of one engine instance, host memory that both sides see; a writer a cache line. */
struct crl_ctl {
	uint32_t stop;	/* host: 1 = leave the loop */
	uint32_t park;	/* host: crl_park_next() of a wish */
	uint32_t rearm; /* host: raised by one after failed queues were reset and made ready */
	uint32_t owned; /* host: 1 from crl_engine_start() until that run is freed */
	uint32_t rsvd0[12];
	uint32_t parked;    /* engine: crl_park_answer() while it stands still, else 0 */
	uint32_t done;	    /* engine: 1 = left the loop, drained as far as it could */
	uint32_t abi;	    /* engine: the CRL_DEV_ABI it was compiled with */
	uint32_t rearmed;   /* engine: the value of rearm it has obeyed */
	uint64_t heartbeat; /* engine: rises while the loop turns */
	uint32_t stopping;  /* engine: 1 = it has seen stop, and waits for its sends */
	uint32_t rsvd1[9];
};
CRL_STATIC_ASSERT(sizeof(struct crl_ctl) == 128, "a cache line a writer");
CRL_STATIC_ASSERT(offsetof(struct crl_ctl, parked) == 64, "a cache line a writer");

struct crl_queue_dev {
	uint32_t abi;	/* CRL_DEV_ABI of the host that filled it */
	uint32_t flags; /* CRL_Q_* */
	uint32_t index; /* of the queue within its port */
	uint16_t port;	/* for the reader of statistics */
	uint16_t mtu;	/* largest frame without FCS that the port sends */
	uint8_t mac[8]; /* of the port, six bytes and two of zero */
	struct crl_sq sq;
	struct crl_rq rq;
	struct crl_txbuf txbuf; /* txonly's frames */
	struct crl_qstats *stats;
	struct crl_qerror *error; /* [2]: CRL_QERROR_SQ, CRL_QERROR_RQ */
	struct crl_ctl *ctl; /* of the engine that runs this queue's receive side, or all of it */
};

#define CRL_Q_TX 1u
#define CRL_Q_RX 2u

#define CRL_QERROR_SQ 0u
#define CRL_QERROR_RQ 1u

#endif /* CRL_QUEUE_H */
