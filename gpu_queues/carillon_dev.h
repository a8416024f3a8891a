/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carillon for device code: send and receive frames from a CUDA kernel or a host thread, over a
 * struct crl_queue_dev that crl_queue_export() filled. This file is the whole interface; what each
 * call does is in the stage it names.
 *
 * Threads: the send side of a queue belongs to one thread (one lane of a kernel) at a time, the
 * receive side to one, which may be another. Hand-over between threads is the program's own, with
 * the edges of order.h.
 *
 * Returns: CRL_OK; CRL_AGAIN, nothing there or no room; CRL_STUCK, wait_ns passed without progress;
 * CRL_FAILED, the queue is in error: its mailbox has the first error, the control loop decides;
 * CRL_INVALID, the arguments can never be met, nothing was done. Waits are bounded by wait_ns,
 * nanoseconds of the processor's clock; 0 tries once.
 *
 * A kernel that was compiled against another version of these structs is refused by
 * crl_dev_check().
 */
#ifndef CARILLON_DEV_H
#define CARILLON_DEV_H

#include "cq_poll.h"
#include "mem.h"
#include "order.h"
#include "queue.h"
#include "rq_refill.h"
#include "sq_doorbell.h"
#include "sq_post.h"
#include "sq_reserve.h"

/* flags of crl_tx_frame() */
#define CRL_TX_SIGNAL  (1u << 0)       /* ask for a completion of this very frame */
#define CRL_TX_L3_CSUM CRL_ETH_L3_CSUM /* the NIC fills in the IPv4 header checksum */
#define CRL_TX_L4_CSUM CRL_ETH_L4_CSUM /* and that of TCP or UDP */
CRL_STATIC_ASSERT(((CRL_TX_L3_CSUM | CRL_TX_L4_CSUM) & CRL_TX_SIGNAL) == 0, "flags are apart");

/* A send that is over: the cookie given with it, and whether it was sent (CRL_OK, CRL_FAILED). */
struct crl_wc {
	uint64_t cookie;
	enum crl_st status;
};

/*
 * First thing in a kernel. CRL_INVALID: host and kernel were built from different versions; both
 * are in the mailbox of the queue (kind CRL_QERR_ABI: wqe has the host's), nothing else may be
 * called.
 */
CRL_FN enum crl_st
crl_dev_check(struct crl_queue_dev *q)
{
	if (q->abi == CRL_DEV_ABI)
		return CRL_OK;
	crl_qerror_put(q->error, CRL_QERR_ABI, false, 0, q->abi, NULL, NULL);
	return CRL_INVALID;
}

/*
 * Stage 1: room for n frames; *pi names the first, *pi + 1 the next. CRL_AGAIN: no room, and where
 * sends are over, their room comes back with crl_tx_done(): call it, then this again. CRL_STUCK:
 * none was over within wait_ns. CRL_INVALID: n is 0 or more than the ring has.
 */
CRL_FN enum crl_st
crl_tx_reserve(struct crl_queue_dev *q, uint32_t n, uint64_t wait_ns, uint64_t *pi)
{
	uint64_t end = wait_ns ? crl_until(crl_now_ns(), wait_ns) : 0;
	struct crl_sq *sq = &q->sq;
	enum crl_st st;

	for (;;) { /* bound: wait_ns */
		st = crl_sq_reserve(sq, n, pi);
		if (st != CRL_AGAIN || sq->completed != sq->ci)
			return st;
		st = crl_sq_poll(sq, &q->error[CRL_QERROR_SQ], 1);
		if (st == CRL_FAILED)
			return st;
		if (st == CRL_OK || wait_ns == 0)
			return CRL_AGAIN;
		if (crl_now_ns() >= end)
			return CRL_STUCK;
		crl_relax();
	}
}

/* Where this processor sees what WQEs call addr: in the queue's own buffers, or txbuf. Else NULL.
 */
CRL_FN const uint8_t *
crl_tx_data(const struct crl_queue_dev *q, uint64_t addr)
{
	uint64_t at = addr - q->txbuf.iova;

	if (q->txbuf.addr && at < q->txbuf.bytes)
		return q->txbuf.addr + at;
	at = addr - q->rq.buf_iova;
	if (q->rq.buf && at < (uint64_t)q->rq.stride << q->rq.log_depth)
		return q->rq.buf + at;
	return NULL;
}

/*
 * Stage 2: one frame of len bytes at addr (as registered), into reserved room, in the order of the
 * indices. cookie comes back from crl_tx_done(). The frame is the NIC's until then. lkey 0: the
 * queue's default region. data: the frame as this processor sees it. It is read only where the NIC
 * wants the front of each frame in the WQE (sq.inline_hdr); with NULL there, the NIC refuses the
 * frame, and the queue fails with its words.
 */
CRL_FN void
crl_tx_frame_data(struct crl_queue_dev *q, uint64_t pi, const uint8_t *data, uint64_t addr,
	uint32_t len, uint32_t lkey, uint64_t cookie, uint32_t flags)
{
	struct crl_piece piece = {data, addr, len, lkey ? lkey : q->sq.lkey};

	crl_order_payload_before_wqe(); /* pairs with the NIC's payload read; holds the compiler */
	crl_sq_put_send_hdr(&q->sq, pi, &piece, 1, data ? crl_send_hdr(&q->sq, len) : 0,
		flags & (CRL_TX_L3_CSUM | CRL_TX_L4_CSUM), (flags & CRL_TX_SIGNAL) != 0, cookie);
}

/* The same for a frame in the queue's receive buffers or in its txbuf. */
CRL_FN void
crl_tx_frame_key(struct crl_queue_dev *q, uint64_t pi, uint64_t addr, uint32_t len, uint32_t lkey,
	uint64_t cookie, uint32_t flags)
{
	const uint8_t *data = q->sq.inline_hdr ? crl_tx_data(q, addr) : NULL;

	crl_tx_frame_data(q, pi, data, addr, len, lkey, cookie, flags);
}

CRL_FN void
crl_tx_frame(struct crl_queue_dev *q, uint64_t pi, uint64_t addr, uint32_t len, uint64_t cookie,
	uint32_t flags)
{
	crl_tx_frame_key(q, pi, addr, len, 0, cookie, flags);
}

/*
 * Stage 3: all frames below pi_end go to the NIC; one lane, once a burst. Everything reserved must
 * have been written: pi_end is the end of it. The last frame is signalled whatever its flags.
 */
CRL_FN void
crl_tx_ring(struct crl_queue_dev *q, uint64_t pi_end)
{
	CRL_ASSERT(pi_end == q->sq.posted);
	(void)pi_end;
	crl_sq_ring(&q->sq);
}

/*
 * Stage 4: sends that are over, in the order they were posted, up to max; *n how many. CRL_OK: at
 * least one. CRL_AGAIN: none. CRL_FAILED: the queue is in error; *n may be more than 0 and the
 * entries say which were sent; every cookie still comes back, by further calls.
 */
CRL_FN enum crl_st
crl_tx_done(struct crl_queue_dev *q, struct crl_wc *wc, uint32_t max, uint32_t *n)
{
	enum crl_st st = crl_sq_poll(&q->sq, &q->error[CRL_QERROR_SQ], max);

	for (*n = 0; *n < max; (*n)++) {
		wc[*n].status = crl_sq_take(&q->sq, &wc[*n].cookie);
		if (wc[*n].status == CRL_AGAIN)
			break;
	}
	crl_rq_refill(NULL, &q->sq);
	if (st == CRL_FAILED)
		return CRL_FAILED;
	return *n != 0 ? CRL_OK : CRL_AGAIN;
}

/*
 * Received frames, up to max; *n how many. Each is the caller's until crl_rx_release(). Gives back
 * to the NIC first what was released since the last call; the first call gives it all buffers, and
 * before it nothing is received. CRL_FAILED: the queue is in error, *n is 0.
 */
CRL_FN enum crl_st
crl_rx_poll(
	struct crl_queue_dev *q, struct crl_pkt *pkt, uint32_t max, uint64_t wait_ns, uint32_t *n)
{
	uint64_t end = wait_ns ? crl_until(crl_now_ns(), wait_ns) : 0;
	enum crl_st st;

	crl_rq_refill(&q->rq, NULL);
	for (;;) { /* bound: wait_ns */
		st = crl_rq_poll(&q->rq, &q->error[CRL_QERROR_RQ], pkt, max, n);
		if (st != CRL_AGAIN || wait_ns == 0)
			return st;
		if (crl_now_ns() >= end)
			return CRL_STUCK;
		crl_relax();
	}
}

/* The caller is done with a frame; in any order. Its buffer goes to the NIC at the next poll. */
CRL_FN void
crl_rx_release(struct crl_queue_dev *q, const struct crl_pkt *pkt)
{
	crl_rq_release(&q->rq, pkt->index);
}

#endif /* CARILLON_DEV_H */
