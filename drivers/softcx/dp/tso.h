/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP segmentation (opcode 0x0e, PRM: LSO): inlined headers up to TCP's end, then the payload of
 * many segments. Each segment is put together in the stage: lengths, IPv4 identification, sequence
 * number and flags follow from its place, checksums are made anew. Only queues of a kernel's driver
 * have it (allow_tso); others are refused. Included by send.h.
 */
#ifndef SCX_DP_TSO_H
#define SCX_DP_TSO_H

#include "send.h"

#define SCX_TSO_BYTES_MAX 65536u /* capability max_lso_cap: 2^16 */
#define SCX_TCP_FIN_PSH	  0x09u	 /* on the last segment only */
#define SCX_TCP_CWR	  0x80u	 /* on the first only, RFC 3168 */

/* Where IP and TCP start in the inlined headers. False: not TCP, or not all of it is there. */
struct scx_tso {
	const uint8_t *hdr;
	uint32_t hdr_len, l3, l4, mss;
	bool v4;
};

SCX_SLOW bool
scx_tso_headers(struct scx_tso *t)
{
	uint32_t type, at = 12;

	if (t->hdr_len < SCX_ETH_HLEN + 40u)
		return false;
	type = scx_get_be16(t->hdr + at);
	if (type == SCX_ETH_VLAN) {
		at += SCX_VLAN_HLEN;
		type = scx_get_be16(t->hdr + at);
	}
	t->l3 = at + 2;
	t->v4 = type == SCX_ETH_IPV4;
	if (t->v4)
		t->l4 = t->l3 + (uint32_t)(t->hdr[t->l3] & 0xf) * 4;
	else if (type == SCX_ETH_IPV6)
		t->l4 = t->l3 + 40u;
	else
		return false;
	return t->l4 + 20u <= t->hdr_len && t->l4 >= t->l3 + 20u &&
	       t->hdr[t->l3 + (t->v4 ? 9u : 6u)] == SCX_PROTO_TCP &&
	       t->l4 + (uint32_t)(t->hdr[t->l4 + 12] >> 4) * 4 == t->hdr_len;
}

/* The segments' payload in one piece. Returns its bytes, 0 after failing the WQE. */
SCX_SLOW uint32_t
scx_tso_payload(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q, uint32_t off,
	uint8_t *to)
{
	uint32_t total = 0;

	for (; off < q->bytes; off += CRL_WQE_SEG_BYTES) {
		uint32_t len = scx_ld_be32(q->w + off);
		const uint8_t *data;

		if ((len & CRL_WQE_INLINE) || len > SCX_TSO_BYTES_MAX - total) {
			scx_wqe_refuse(
				dp, sq, q, SCX_DP_R_WQE_TSO, CRL_SYND_LOCAL_QP_OP, len, total);
			return 0;
		}
		data = scx_segment_at(dp, sq, q, q->w + off, len);
		if (data == NULL)
			return 0;
		scx_await(dp);
		memcpy(to + total, data, len);
		total += len;
	}
	return total;
}

/* Segment number i, payload bytes at..at + n of total. */
SCX_SLOW void
scx_tso_segment(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q,
	const struct scx_tso *t, uint32_t i, const uint8_t *payload, uint32_t n, bool last)
{
	uint32_t len = t->hdr_len + n, out = len < SCX_FRAME_MIN ? SCX_FRAME_MIN : len;
	uint8_t *f = scx_stage(dp, out);
	uint8_t *ip = f + t->l3, *tcp = f + t->l4;
	uint32_t seq;

	memcpy(f, t->hdr, t->hdr_len);
	memcpy(f + t->hdr_len, payload, n);
	memset(f + len, 0, out - len);
	if (t->v4) {
		scx_put_be16(ip + 2, (uint16_t)(len - t->l3));
		scx_put_be16(ip + 4, (uint16_t)(scx_get_be16(ip + 4) + i));
	} else {
		scx_put_be16(ip + 4, (uint16_t)(len - t->l4));
	}
	seq = ((uint32_t)scx_get_be16(tcp + 4) << 16 | scx_get_be16(tcp + 6)) + i * t->mss;
	scx_put_be16(tcp + 4, (uint16_t)(seq >> 16));
	scx_put_be16(tcp + 6, (uint16_t)seq);
	if (!last)
		tcp[13] &= (uint8_t)~SCX_TCP_FIN_PSH;
	if (i > 0)
		tcp[13] &= (uint8_t)~SCX_TCP_CWR;
	scx_insert_checksums(f, len, CRL_ETH_L3_CSUM | CRL_ETH_L4_CSUM);
	dp->stats.copied_bytes += len;
	scx_frame_out(dp, sq, q, f, out, true);
}

SCX_SLOW bool
scx_send_tso(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q)
{
	uint32_t w = scx_ld_be32(q->w + 20), inl = scx_get_be16(q->w + 28), total, i, at;
	struct scx_tso t;
	uint8_t *payload;

	if (scx_ld32(q->w + 16) != 0 || (w & 0x00ff0000u) != 0 || (w >> 24 & ~SCX_CS_KNOWN) != 0)
		return scx_wqe_refuse(
			dp, sq, q, SCX_DP_R_ETH_OFFLOAD, CRL_SYND_LOCAL_QP_OP, w >> 16, 0);
	if ((inl & CRL_ETH_INLINE_VLAN) || 14u + inl > q->bytes - 16u)
		return scx_wqe_refuse(
			dp, sq, q, SCX_DP_R_ETH_INLINE_SIZE, CRL_SYND_LOCAL_QP_OP, inl, q->bytes);
	t.hdr = q->w + 30;
	t.hdr_len = inl;
	t.mss = w & 0xffffu;
	payload = scx_stage(dp, SCX_TSO_BYTES_MAX);
	if (t.mss == 0 || !scx_tso_headers(&t))
		return scx_wqe_refuse(dp, sq, q, SCX_DP_R_WQE_TSO, CRL_SYND_LOCAL_QP_OP, t.mss,
			q->bytes / CRL_WQE_SEG_BYTES);
	total = scx_tso_payload(dp, sq, q, 16u + ((14u + inl + 15u) & ~15u), payload);
	if (total == 0)
		return sq->q.state == SCX_WQ_ERR
			       ? false
			       : scx_wqe_refuse(dp, sq, q, SCX_DP_R_WQE_TSO, CRL_SYND_LOCAL_QP_OP,
					 t.mss, q->bytes / CRL_WQE_SEG_BYTES);
	/* As many frames as any WQE can make: an mss of 1100 bytes is the least for 64 KiB. */
	if ((total + t.mss - 1) / t.mss > SCX_WQE_FRAMES || t.hdr_len + t.mss > SCX_DP_FRAME_MAX)
		return scx_wqe_refuse(
			dp, sq, q, SCX_DP_R_WQE_TSO, CRL_SYND_LOCAL_LENGTH, t.mss, total);
	for (i = 0, at = 0; at < total; i++, at += t.mss) {
		uint32_t n = total - at < t.mss ? total - at : t.mss;

		scx_tso_segment(dp, sq, q, &t, i, payload + at, n, at + n == total);
	}
	return true;
}

#endif /* SCX_DP_TSO_H */
