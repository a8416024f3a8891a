/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one engine instance is: a receive queue, a send queue (either may be missing, and they may
 * be of different ports), control words, options and counts. It lies in the memory of the processor
 * that runs it, is built by engine.c on the host, and is plain data, so that it can be copied to a
 * GPU.
 *
 * A queue's receive side belongs to one stream at a time, and so does its send side.
 */
#ifndef CRL_STREAM_H
#define CRL_STREAM_H

#include "cq_poll.h"
#include "mem.h"
#include "order.h"
#include "queue.h"
#include "queue_rearm.h"
#include "rq_refill.h"

/* Options of the engines in engines/; zero means the default that is named. */
struct crl_engine_opts {
	uint8_t peer_mac[6];		 /* txonly, where frames go: 02:00:00:00:00:00 */
	uint16_t txpkts_nr;		 /* txonly, segments of a frame: 1 */
	uint16_t txpkts[CRL_TXPKTS_MAX]; /* txonly, bytes of each segment: 64 */
	uint32_t src_ip;		 /* txonly, host order: 198.18.0.1 */
	uint32_t dst_ip;		 /* txonly: 198.18.0.2 */
	uint16_t src_port;		 /* txonly: 9 */
	uint16_t dst_port;		 /* txonly: 9 */
	uint32_t cs_flags;		 /* sending engines, CRL_ETH_L3_CSUM, CRL_ETH_L4_CSUM: 0 */
	uint64_t tx_frames_max;		 /* own frames that a stream sends: 0 without end */
	uint32_t tx_first;		 /* engines that forward: 1 sends a burst first: 0 */
	uint32_t own_flow;  /* txonly and first bursts: 1 adds the queue's index to dst_port: 0 */
	uint32_t in_flight; /* stamp, frames under way a queue: 64 */
	uint32_t flows;	    /* flowgen, flows it goes through: 1024 */
	uint32_t user[8];   /* a program's own packet function's */
};

enum crl_mode {
	CRL_MODE_RUN = 0,
	CRL_MODE_PARKED = 1,   /* the host asked: queues untouched */
	CRL_MODE_FAILING = 2,  /* a queue failed: the other side's sends are waited for */
	CRL_MODE_FAILED = 3,   /* standing still until re-arm or stop */
	CRL_MODE_STOPPING = 4, /* sends in flight are waited for */
	CRL_MODE_LEFT = 5,
};

/* What one iteration did, for the runner's back-off. */
enum crl_turn {
	CRL_TURN_BUSY = 0,
	CRL_TURN_IDLE = 1,
	CRL_TURN_LEFT = 2, /* never call again */
};

/* In the order of struct crl_qstats. */
struct crl_rx_count {
	uint64_t packets, bytes, dropped, errors, csum_bad, polls, idle_polls, refills;
};

struct crl_tx_count {
	uint64_t packets, bytes, dropped, errors, doorbells, full_waits, completions, idle_polls;
};

/* Round trips; in the order of struct crl_qstats. */
struct crl_rtt_count {
	uint64_t count, sum_ns, min_ns, max_ns;
};

/* What stamp found; in the order of struct crl_qstats. */
struct crl_stamp_count {
	uint64_t torn, missed;
};

struct crl_stream {
	struct crl_queue_dev *rx; /* NULL: none */
	struct crl_queue_dev *tx; /* NULL: none; may equal rx */
	struct crl_ctl *ctl;
	uint32_t tx_lkey; /* of rx's buffers as tx's device knows them */
	uint32_t burst;	  /* packets an iteration, 1 to CRL_BURST_MAX */
	uint32_t mode;	  /* enum crl_mode */
	uint32_t rearmed;
	uint32_t park; /* ctl->park as last seen */
	uint32_t rsvd;
	uint64_t turns;
	uint64_t look_packets; /* look at the control words again at this many packets, */
	uint64_t look_bytes;   /* or bytes */
	uint32_t look_every;   /* turns between two looks, a power of two, */
	uint32_t look_step;    /* or packets */
	uint64_t deadline_ns;  /* of FAILING and STOPPING */
	uint64_t glanced;      /* crl_ticks() of the last glance at the control words */
	uint64_t tx_left;      /* engines with frames of their own: still to send */
	uint32_t tx_slots;     /* prepared frames in tx's txbuf */
	uint32_t tx_stride;    /* bytes from one to the next */
	uint32_t tx_flow;      /* flowgen: the next frame's */
	uint32_t waiting;      /* pingpong: number seq is under way */
	uint64_t seq;	       /* pingpong: number of the frame under way, or of the next;
				* stamp: frames put under way */
	uint64_t sent_ns;      /* pingpong: when it left */
	struct crl_rx_count rxc;
	struct crl_tx_count txc;
	struct crl_rtt_count rtt; /* pingpong */
	struct crl_stamp_count stamp;
	uint64_t loose; /* a warp's: slots marked in rq.released, which collect has not met yet */
	struct crl_engine_opts opts;
};

/* Counters and index copies to where the host reads them; they may be some iterations old. */
CRL_FN void
crl_stream_publish(struct crl_stream *s)
{
	struct crl_qstats *q;
	uint32_t i;

	if (s->rx && s->rx->stats) {
		q = s->rx->stats;
		for (i = 0; i < sizeof(s->rxc) / 8u; i++)
			crl_st64(&q->rx_packets + i, (&s->rxc.packets)[i]);
		crl_st64(&q->rq_pi, s->rx->rq.pi);
		for (i = 0; i < sizeof(s->rtt) / 8u; i++)
			crl_st64(&q->rtt_count + i, (&s->rtt.count)[i]);
		crl_st64(&q->torn, s->stamp.torn);
		crl_st64(&q->missed, s->stamp.missed);
		crl_st64(&q->rq_ci, s->rx->rq.ci);
	}
	if (s->tx && s->tx->stats) {
		q = s->tx->stats;
		for (i = 0; i < sizeof(s->txc) / 8u; i++)
			crl_st64(&q->tx_packets + i, (&s->txc.packets)[i]);
		crl_st64(&q->sq_pi, s->tx->sq.pi);
		crl_st64(&q->sq_ci, s->tx->sq.ci);
	}
}

/*
 * A cookie of a forwarding send: the receive slots that its completion frees, as first index and
 * count. 56 bits of index are enough for a century at any line rate. 0: none.
 */
CRL_FN uint64_t
crl_cookie_slots(uint64_t first, uint32_t count)
{
	return first << 8 | count;
}

CRL_FN void
crl_cookie_release(struct crl_rq *rq, uint64_t cookie)
{
	uint64_t i, first = cookie >> 8;

	for (i = first; i < first + (cookie & 0xffu); i++)
		crl_rq_release(rq, i);
}

/* All cookies there are: completed sends, or everything in flight of a failed queue. */
CRL_FN uint32_t
crl_stream_take_all(struct crl_stream *s)
{
	enum crl_st st;
	uint64_t cookie;
	uint32_t n = 0;

	while ((st = crl_sq_take(&s->tx->sq, &cookie)) != CRL_AGAIN) {
		if (s->rx)
			crl_cookie_release(&s->rx->rq, cookie);
		s->txc.completions += st == CRL_OK;
		s->txc.errors += st != CRL_OK;
		n++;
	}
	return n;
}

/* Polls send completions and frees what they held. Returns how many WQEs came back. */
CRL_FN uint32_t
crl_stream_reap(struct crl_stream *s)
{
	struct crl_sq *sq = &s->tx->sq;

	if (sq->state == CRL_QS_READY && sq->completed < sq->rung) {
		if (crl_sq_poll(sq, &s->tx->error[CRL_QERROR_SQ], s->burst) == CRL_AGAIN)
			s->txc.idle_polls++;
	}
	return crl_stream_take_all(s);
}

CRL_FN bool
crl_stream_failed(const struct crl_stream *s)
{
	return (s->rx && s->rx->rq.state == CRL_QS_FAILED) ||
	       (s->tx && s->tx->sq.state == CRL_QS_FAILED);
}

/* The NIC holds none of our frames, or never will tell. */
CRL_FN bool
crl_stream_drained(const struct crl_stream *s)
{
	return !s->tx || s->tx->sq.ci == s->tx->sq.posted;
}

/* The host has reset the failed queues: begin again from index 0 with them, not with their CQs. */
CRL_FN void
crl_stream_rearm(struct crl_stream *s)
{
	if (s->tx && s->tx->sq.state == CRL_QS_FAILED) {
		crl_stream_take_all(s);
		crl_sq_rearm(&s->tx->sq);
	}
	if (s->rx && s->rx->rq.state == CRL_QS_FAILED) {
		crl_rq_rearm(&s->rx->rq);
		crl_rq_release_all(&s->rx->rq);
	}
}

#endif /* CRL_STREAM_H */
