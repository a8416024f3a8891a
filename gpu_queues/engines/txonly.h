/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * txonly: sends UDP frames as fast as the ring takes them, testpmd's: 198.18.0.1:9 to 198.18.0.2:9,
 * TTL 64, identification 0, UDP checksum 0, zeros as payload, in one or more segments (--txpkts).
 * Frames are made once, in the queue's txbuf, when the engine starts; the NIC only reads them, so
 * that one frame may be in many sends at a time and a send frees nothing but its room in the ring.
 */
#ifndef CRL_ENGINE_TXONLY_H
#define CRL_ENGINE_TXONLY_H

#include "../csum.h"
#include "../fwd.h"

#define CRL_TXONLY_HDR_BYTES 42u /* Ethernet, IPv4, UDP */
#define CRL_TXONLY_ALIGN     64u /* frames begin on cache lines */

CRL_FN uint32_t
crl_txonly_len(const struct crl_engine_opts *o)
{
	uint32_t i, len = 0;

	for (i = 0; i < o->txpkts_nr; i++)
		len += o->txpkts[i];
	return len;
}

/* One frame of len bytes at p, which is zero there, from MAC mac. */
CRL_FN void
crl_txonly_frame(uint8_t *p, uint32_t len, const struct crl_engine_opts *o, const uint8_t *mac)
{
	uint8_t *ip = p + 14;
	uint32_t i;

	for (i = 0; i < 6u; i += 2u) {
		crl_st16(p + i, (uint16_t)(o->peer_mac[i] | o->peer_mac[i + 1u] << 8));
		crl_st16(p + 6u + i, (uint16_t)(mac[i] | mac[i + 1u] << 8));
	}
	crl_st_be16(p + 12, 0x0800);
	crl_st_be16(ip, 0x4500);
	crl_st_be16(ip + 2, (uint16_t)(len - 14u));
	crl_st_be16(ip + 8, 64u << 8 | 17u);
	crl_st_be16(ip + 12, (uint16_t)(o->src_ip >> 16));
	crl_st_be16(ip + 14, (uint16_t)o->src_ip);
	crl_st_be16(ip + 16, (uint16_t)(o->dst_ip >> 16));
	crl_st_be16(ip + 18, (uint16_t)o->dst_ip);
	crl_st_be16(ip + 20, o->src_port);
	crl_st_be16(ip + 22, o->dst_port);
	crl_st_be16(ip + 24, (uint16_t)(len - 34u));
	crl_st16(ip + 10, crl_csum_fold(crl_csum_add(0, ip, 20)));
}

/*
 * Makes the frames; the first thing a stream of this engine does, on its processor. CRL_INVALID: no
 * txbuf, or a frame does not fit into it, or its first segment does not hold the headers.
 */
CRL_FN enum crl_st
crl_txonly_begin(struct crl_stream *s)
{
	const struct crl_txbuf *b = &s->tx->txbuf;
	uint32_t len, i;
	uint64_t k;

	if (s->opts.txpkts_nr == 0 || s->opts.txpkts_nr > CRL_TXPKTS_MAX)
		return CRL_INVALID;
	len = crl_txonly_len(&s->opts);
	s->tx_stride = (len + CRL_TXONLY_ALIGN - 1u) & ~(CRL_TXONLY_ALIGN - 1u);
	if (b->addr == NULL || s->opts.txpkts[0] < CRL_TXONLY_HDR_BYTES ||
		s->tx_stride > b->bytes)
		return CRL_INVALID;
	s->tx_slots = (uint32_t)(b->bytes / s->tx_stride < CRL_BURST_MAX ? b->bytes / s->tx_stride
									 : CRL_BURST_MAX);
	if (s->opts.own_flow != 0)
		s->opts.dst_port = (uint16_t)(s->opts.dst_port + s->tx->index);
	for (k = 0; k < (uint64_t)s->tx_slots * s->tx_stride; k += 8u)
		crl_st64(b->addr + k, 0);
	for (i = 0; i < s->tx_slots; i++)
		crl_txonly_frame(b->addr + (uint64_t)i * s->tx_stride, len, &s->opts, s->tx->mac);
	s->tx_left = s->opts.tx_frames_max != 0 ? s->opts.tx_frames_max : UINT64_MAX;
	return CRL_OK;
}

/* The segments of the frame in slot i. */
CRL_FN void
crl_txonly_pieces(const struct crl_stream *s, uint32_t i, struct crl_piece *piece)
{
	uint64_t at = (uint64_t)(i % s->tx_slots) * s->tx_stride;
	uint32_t k;

	for (k = 0; k < s->opts.txpkts_nr; k++) {
		piece[k].data = s->tx->txbuf.addr + at;
		piece[k].iova = s->tx->txbuf.iova + at;
		piece[k].len = s->opts.txpkts[k];
		piece[k].lkey = s->tx->txbuf.lkey;
		at += s->opts.txpkts[k];
	}
}

/* Writes up to n frames of several segments, a SEND each. Returns how many. */
CRL_FN uint32_t
crl_txonly_post_gather(struct crl_stream *s, uint32_t n)
{
	struct crl_piece piece[CRL_TXPKTS_MAX];
	struct crl_sq *sq = &s->tx->sq;
	uint32_t i, nr = s->opts.txpkts_nr, first = s->opts.txpkts[0];
	uint32_t ds = crl_send_ds(crl_send_hdr(sq, first), first, nr);
	uint64_t pi;

	for (i = 0; i < n; i++) {
		if (crl_sq_reserve(sq, crl_wqebbs(ds), &pi) != CRL_OK)
			break;
		crl_txonly_pieces(s, i, piece);
		crl_sq_put_send(sq, pi, piece, nr, s->opts.cs_flags, false, 0);
	}
	return i;
}

/* Writes up to n frames of one segment, in multi-packet sends. Returns how many. */
CRL_FN uint32_t
crl_txonly_post_empw(struct crl_stream *s, uint32_t n)
{
	struct crl_piece piece[CRL_EMPW_FRAMES_MAX];
	struct crl_sq *sq = &s->tx->sq;
	uint32_t i, k, fit, ds = 0;
	uint64_t pi;

	for (k = 0; k < n && k < CRL_EMPW_FRAMES_MAX; k++)
		crl_txonly_pieces(s, k, &piece[k]);
	for (i = 0; i < n; i += fit) {
		fit = n - i < CRL_EMPW_FRAMES_MAX ? n - i : CRL_EMPW_FRAMES_MAX;
		fit = crl_empw_fit(sq, piece, fit, crl_sq_room(sq), &ds);
		if (fit == 0 || crl_sq_reserve(sq, crl_wqebbs(ds), &pi) != CRL_OK)
			break;
		crl_sq_put_empw(sq, pi, piece, fit, s->opts.cs_flags, false, 0);
	}
	return i;
}

CRL_FN uint32_t
crl_txonly_burst(struct crl_stream *s)
{
	uint32_t n = s->tx_left < s->burst ? (uint32_t)s->tx_left : s->burst;
	bool empw = (s->tx->sq.flags & CRL_SQ_EMPW) && s->opts.txpkts_nr == 1u;

	if (n == 0)
		return 0;
	crl_order_payload_before_wqe();
	n = empw ? crl_txonly_post_empw(s, n) : crl_txonly_post_gather(s, n);
	s->tx_left -= n;
	s->txc.packets += n;
	s->txc.bytes += (uint64_t)n * crl_txonly_len(&s->opts);
	s->txc.full_waits += n == 0;
	s->txc.doorbells += crl_sq_ring(&s->tx->sq);
	return n;
}

/* One bounded iteration: send a burst, take completions, tell the CQ. */
CRL_FN enum crl_turn
crl_txonly_turn(struct crl_stream *s)
{
	enum crl_turn turn;
	uint32_t n, back;
	bool run;

	turn = crl_stream_look(s, &run);
	if (!run)
		return turn;
	if (s->tx_slots == 0 && crl_txonly_begin(s) != CRL_OK)
		return CRL_TURN_IDLE;
	n = crl_txonly_burst(s);
	back = crl_stream_reap(s);
	crl_rq_refill(NULL, &s->tx->sq);
	return n != 0 || back != 0 ? CRL_TURN_BUSY : CRL_TURN_IDLE;
}

#endif /* CRL_ENGINE_TXONLY_H */
