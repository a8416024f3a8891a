/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flowgen: sends UDP frames of many flows and drops what it receives, as testpmd's engine of that
 * name: from 10.254.0.0:1000 to 10.253.0.0 + k port 1001, k counting through the flows (--flowgen-
 * flows) frame by frame; MACs 00:01:02:03:04:00 and :01; four bytes shorter than --txpkts, which
 * counts the FCS here.
 *
 * Each frame has a slot of the queue's txbuf to itself until its send completed, because its
 * address is written anew. A frame is one WQEBB, so that the ring's indices count frames and slots.
 */
#ifndef CRL_ENGINE_FLOWGEN_H
#define CRL_ENGINE_FLOWGEN_H

#include "../csum.h"
#include "../fwd.h"
#include "../pkt.h"
#include "txonly.h"

#define CRL_FLOWGEN_SRC	     (10u << 24 | 254u << 16)
#define CRL_FLOWGEN_DST	     (10u << 24 | 253u << 16)
#define CRL_FLOWGEN_SRC_PORT 1000u
#define CRL_FLOWGEN_DST_PORT 1001u
#define CRL_FLOWGEN_FCS	     4u
#define CRL_FLOWGEN_SLOTS    512u /* frames under way at a time, where the txbuf holds as many */

CRL_FN uint32_t
crl_flowgen_len(const struct crl_engine_opts *o)
{
	return crl_txonly_len(o) - CRL_FLOWGEN_FCS;
}

/* Makes all slots' frames, of flow 0. CRL_INVALID: no txbuf, or no frame of this length in it. */
CRL_FN enum crl_st
crl_flowgen_begin(struct crl_stream *s)
{
	const struct crl_txbuf *b = &s->tx->txbuf;
	struct crl_engine_opts o = s->opts;
	uint8_t mac[6] = {0, 1, 2, 3, 4, 0};
	uint32_t len = crl_flowgen_len(&s->opts), i;
	uint64_t k;

	s->tx_stride = (len + CRL_TXONLY_ALIGN - 1u) & ~(CRL_TXONLY_ALIGN - 1u);
	if (b->addr == NULL || len < CRL_TXONLY_HDR_BYTES || s->tx_stride > b->bytes)
		return CRL_INVALID;
	s->tx_slots =
		(uint32_t)(b->bytes / s->tx_stride < CRL_FLOWGEN_SLOTS ? b->bytes / s->tx_stride
								       : CRL_FLOWGEN_SLOTS);
	o.src_ip = CRL_FLOWGEN_SRC;
	o.dst_ip = CRL_FLOWGEN_DST;
	o.src_port = CRL_FLOWGEN_SRC_PORT;
	o.dst_port = CRL_FLOWGEN_DST_PORT;
	for (i = 0; i < 6u; i++)
		o.peer_mac[i] = mac[i];
	o.peer_mac[5] = 1;
	for (k = 0; k < (uint64_t)s->tx_slots * s->tx_stride; k += 2u)
		crl_st16(b->addr + k, 0);
	for (i = 0; i < s->tx_slots; i++)
		crl_txonly_frame(b->addr + (uint64_t)i * s->tx_stride, len, &o, mac);
	s->tx_left = s->opts.tx_frames_max != 0 ? s->opts.tx_frames_max : UINT64_MAX;
	return CRL_OK;
}

/* Gives the frame at p the address of flow k, and its header the checksum that goes with it. */
CRL_FN void
crl_flowgen_mark(uint8_t *p, uint32_t k)
{
	uint32_t dst = CRL_FLOWGEN_DST + k;
	uint8_t *ip = p + CRL_ETH_HDR_BYTES;
	uint16_t was[2] = {crl_ld16(ip + 16), crl_ld16(ip + 18)}, csum = crl_ld16(ip + 10);

	crl_st_be16(ip + 16, (uint16_t)(dst >> 16));
	crl_st_be16(ip + 18, (uint16_t)dst);
	csum = crl_csum_update(csum, was[0], crl_ld16(ip + 16));
	crl_st16(ip + 10, crl_csum_update(csum, was[1], crl_ld16(ip + 18)));
}

/* Up to n frames, as many as slots and ring have room for. Returns how many. */
CRL_FN uint32_t
crl_flowgen_burst(struct crl_stream *s, uint32_t n)
{
	const struct crl_txbuf *b = &s->tx->txbuf;
	struct crl_sq *sq = &s->tx->sq;
	struct crl_piece piece = {NULL, 0, crl_flowgen_len(&s->opts), b->lkey};
	uint64_t room = crl_sq_room(sq), under_way = sq->pi - sq->ci, at, pi;
	uint32_t i;

	if (room > s->tx_slots - under_way)
		room = under_way < s->tx_slots ? s->tx_slots - under_way : 0;
	n = n < room ? n : (uint32_t)room;
	n = n < s->tx_left ? n : (uint32_t)s->tx_left;
	for (i = 0; i < n; i++) {
		at = (sq->pi + i) % s->tx_slots * s->tx_stride;
		crl_flowgen_mark(b->addr + at, s->tx_flow);
		s->tx_flow = s->tx_flow + 1u < s->opts.flows ? s->tx_flow + 1u : 0;
	}
	if (n != 0)
		crl_order_payload_before_wqe();
	for (i = 0; i < n && crl_sq_reserve(sq, 1, &pi) == CRL_OK; i++) {
		at = pi % s->tx_slots * s->tx_stride;
		piece.data = b->addr + at;
		piece.iova = b->iova + at;
		crl_sq_put_send(sq, pi, &piece, 1, s->opts.cs_flags, false, 0);
	}
	s->tx_left -= i;
	s->txc.packets += i;
	s->txc.bytes += (uint64_t)i * piece.len;
	s->txc.full_waits += n == 0;
	s->txc.doorbells += crl_sq_ring(sq);
	return i;
}

CRL_FN enum crl_verdict
crl_flowgen_packet(struct crl_stream *s, struct crl_pkt *pkt)
{
	(void)s;
	(void)pkt;
	return CRL_DROP;
}

/* One bounded iteration: drop what came, send a burst, take completions, give back. */
CRL_FN enum crl_turn
crl_flowgen_turn(struct crl_stream *s)
{
	enum crl_turn turn;
	uint32_t n, back;
	bool run;

	turn = crl_stream_look(s, &run);
	if (!run)
		return turn;
	if (s->tx_slots == 0 && crl_flowgen_begin(s) != CRL_OK)
		return CRL_TURN_IDLE;
	n = crl_fwd_take(s, crl_flowgen_packet);
	n += crl_flowgen_burst(s, s->burst);
	back = crl_stream_reap(s);
	s->rxc.refills += crl_rq_refill(&s->rx->rq, &s->tx->sq) != 0;
	return n != 0 || back != 0 ? CRL_TURN_BUSY : CRL_TURN_IDLE;
}

#endif /* CRL_ENGINE_FLOWGEN_H */
