/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port with queues of ours on it, frames, and one packet sent and received by host code: what the
 * tests with EAL share. Every wait is bounded.
 */
#ifndef CRL_TEST_NET_H
#define CRL_TEST_NET_H

#include <carillon/dpdk.h>

#include "gpu_queues/cq_poll.h"
#include "gpu_queues/rq_refill.h"
#include "gpu_queues/sq_doorbell.h"
#include "gpu_queues/sq_reserve.h"

#include "check.h"

#define WAIT_NS	  2000000000ull /* for what must come */
#define NOT_NS	  100000000ull	/* for what must not */
#define FRAME_LEN 60u

struct test_queue {
	struct crl_queue *q;
	struct crl_queue_dev dev;
};

static inline void
queue_up(struct crl_ctx *ctx, struct crl_port *port, uint32_t index, struct crl_region *tx,
	struct test_queue *t)
{
	struct crl_queue_cfg cfg = {
		.size = sizeof(cfg),
		.flags = CRL_Q_TX | CRL_Q_RX,
		.index = index,
		.tx_depth = 256,
		.rx_depth = 512,
		.tx_region = tx,
	};
	struct crl_err err;

	must(crl_queue_create(ctx, &cfg, &t->q, &err), &err, "create a queue");
	must(crl_port_attach(port, t->q, &err), &err, "attach it");
	must(crl_queue_export(t->q, &t->dev, &err), &err, "export it");
	crl_rq_refill(&t->dev.rq, NULL);
}

static inline void
queue_down(struct crl_port *port, struct test_queue *t)
{
	struct crl_err err;

	must(crl_port_detach(port, t->q, &err), &err, "detach a queue");
	must(crl_queue_destroy(t->q, &err), &err, "destroy it");
}

/* Ethernet, IPv4, UDP to 10.0.0.2; flow varies the source port. */
static inline void
frame_udp(uint8_t *f, const uint8_t *mac, uint16_t dst_port, uint16_t flow)
{
	static const uint8_t head[] = {
		0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2};
	uint32_t sum = 0;

	memset(f, 0, FRAME_LEN);
	memcpy(f, mac, 6);
	memcpy(f + 6, "\x02\x00\x00\x00\x00\x01\x08\x00", 8);
	memcpy(f + 14, head, sizeof(head));
	for (unsigned i = 0; i < sizeof(head); i += 2)
		sum += (uint32_t)(head[i] << 8 | head[i + 1]);
	sum = ~(sum + (sum >> 16)) & 0xffff;
	f[24] = (uint8_t)(sum >> 8);
	f[25] = (uint8_t)sum;
	f[34] = (uint8_t)(flow >> 8);
	f[35] = (uint8_t)flow;
	f[36] = (uint8_t)(dst_port >> 8);
	f[37] = (uint8_t)dst_port;
	f[39] = 26;
	memcpy(f + 42, "packet of ours", 14);
}

/* Post one frame at offset at of the queue's txbuf. */
static inline void
send_at(struct test_queue *t, uint32_t at, uint32_t lkey)
{
	struct crl_sq *sq = &t->dev.sq;
	struct crl_piece piece = {.data = t->dev.txbuf.addr + at,
		.iova = t->dev.txbuf.iova + at,
		.len = FRAME_LEN,
		.lkey = lkey};
	uint64_t pi;
	enum crl_st st = crl_sq_reserve(sq, crl_wqebbs(3), &pi);

	CHECK(st == CRL_OK, "reserve returned %d", (int)st);
	if (st != CRL_OK)
		return;
	crl_sq_put_send(sq, pi, &piece, 1, 0, true, 0x1000 + at);
	crl_sq_ring(sq);
}

/* The next send completion's cookie; false: none in time. */
static inline bool
sent(struct test_queue *t, uint64_t *cookie)
{
	uint64_t end = crl_now_ns() + WAIT_NS;

	while (crl_now_ns() < end) {
		enum crl_st st = crl_sq_poll(&t->dev.sq, &t->dev.error[CRL_QERROR_SQ], 16);

		if (st == CRL_FAILED)
			return false;
		if (crl_sq_take(&t->dev.sq, cookie) == CRL_OK)
			return true;
	}
	return false;
}

/* The next packet of any of nr queues within wait_ns: which queue, or -1. It is copied to frame. */
static inline int
received(struct test_queue *t, unsigned nr, uint64_t wait_ns, uint8_t *frame, uint32_t *len)
{
	uint64_t end = crl_now_ns() + wait_ns;

	while (crl_now_ns() < end) {
		for (unsigned i = 0; i < nr; i++) {
			struct crl_pkt pkt;
			uint32_t n = 0;

			crl_rq_poll(&t[i].dev.rq, &t[i].dev.error[CRL_QERROR_RQ], &pkt, 1, &n);
			if (n == 0)
				continue;
			*len = pkt.len;
			memcpy(frame, pkt.data, pkt.len < 2048 ? pkt.len : 2048);
			crl_rq_release(&t[i].dev.rq, pkt.index);
			crl_rq_refill(&t[i].dev.rq, &t[i].dev.sq);
			return (int)i;
		}
	}
	return -1;
}

#endif /* CRL_TEST_NET_H */
