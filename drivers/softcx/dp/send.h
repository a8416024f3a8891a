/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From WQEs to frames. A frame whose bytes lie together in the driver's memory (an inline segment
 * of an enhanced MPW, a single data segment) and that goes out as it is stays there until the wire
 * or the receiver took it; its CQE waits as long. Everything else (gather lists, inline headers
 * before data, VLAN insertion, checksums, padding to 60 bytes, WQEs that wrap) is put together in
 * dp->stage.
 */
#ifndef SCX_DP_SEND_H
#define SCX_DP_SEND_H

#include "checksum.h"
#include "fetch.h"

#define SCX_FRAME_MIN 60u /* without FCS; IEEE 802.3 */
#define SCX_ETH_HLEN  14u
#define SCX_VLAN_HLEN 4u
#define SCX_WQE_HDR   32u /* control and Ethernet segment */
#define SCX_CS_KNOWN  (CRL_ETH_L3_CSUM | CRL_ETH_L4_CSUM)

/* Inline modes: PRM, SQ context min_wqe_inline_mode */
enum scx_inline_mode { SCX_INLINE_NONE, SCX_INLINE_L2, SCX_INLINE_IP, SCX_INLINE_L4 };

/* One piece of a frame: where it lies. */
struct scx_gather {
	uint32_t nr, len; /* len: sum, checked against SCX_DP_FRAME_MAX */
	struct {
		const uint8_t *data;
		uint32_t len;
	} part[CRL_WQE_DS_MAX + 3];
};

/* Append a finished frame. False when it was dropped for its length, which is no error of the
 * queue. */
SCX_FN void
scx_frame_out(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q, const uint8_t *data,
	uint32_t len, bool staged)
{
	struct scx_frame *f;

	if (SCX_UNLIKELY(len > dp->frame_max)) {
		dp->stats.tx_too_long++;
		scx_refuse(dp, SCX_DP_R_REMARK_TX_MTU, sq->q.sqn, q->index, q->w, CRL_WQEBB_BYTES,
			len, dp->frame_max);
		return;
	}
	f = &dp->batch.frame[dp->batch.nr++];
	f->data = data;
	f->len = len;
	f->flags = 0;
	if (!staged)
		dp->batch.referenced += (len + 63u) & ~63u;
}

/* A private copy of one piece, padded and with checksums. */
SCX_FN void
scx_frame_stage(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q, const uint8_t *data,
	uint32_t len, uint32_t cs_flags)
{
	uint32_t out = len < SCX_FRAME_MIN ? SCX_FRAME_MIN : len;
	uint8_t *copy = scx_stage(dp, out);

	scx_await(dp);
	scx_copy(copy, data, len);
	memset(copy + len, 0, out - len);
	if (cs_flags != 0)
		scx_insert_checksums(copy, len, cs_flags);
	dp->stats.copied_bytes += len;
	scx_frame_out(dp, sq, q, copy, out, true);
}

SCX_SLOW bool
scx_frame_bad_length(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q, uint64_t len)
{
	if (len < SCX_ETH_HLEN)
		return scx_wqe_refuse(
			dp, sq, q, SCX_DP_R_FRAME_SHORT, CRL_SYND_LOCAL_LENGTH, len, q->bytes / 16);
	return scx_wqe_refuse(
		dp, sq, q, SCX_DP_R_FRAME_LONG, CRL_SYND_LOCAL_LENGTH, len, SCX_DP_FRAME_MAX);
}

/* The bytes of a data segment, or NULL after failing the WQE. */
SCX_FN const uint8_t *
scx_segment_at(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q, const uint8_t *seg,
	uint32_t len)
{
	uint32_t key = scx_ld_be32(seg + 4);
	uint64_t addr = crl_bswap64(scx_ld64(seg + 8));
	const struct scx_dp_mkey *m;
	const uint8_t *p;

	if (SCX_UNLIKELY(len == 0)) {
		/* to a card it is 2 GiB: what it complains of is the key */
		scx_wqe_refuse(dp, sq, q, SCX_DP_R_SEG_ZERO, CRL_SYND_LOCAL_PROT,
			(uint64_t)(seg - q->w) / CRL_WQE_SEG_BYTES, q->bytes / CRL_WQE_SEG_BYTES);
		return NULL;
	}
	m = scx_mkey(dp, &sq->mkey, key, sq->q.pdn);
	if (SCX_UNLIKELY(m == NULL)) {
		scx_wqe_refuse(dp, sq, q, SCX_DP_R_SEG_KEY, CRL_SYND_LOCAL_PROT, key, sq->q.pdn);
		return NULL;
	}
	p = scx_mkey_at(m, addr, len);
	if (SCX_UNLIKELY(p == NULL))
		scx_wqe_refuse(dp, sq, q, SCX_DP_R_SEG_BOUNDS, CRL_SYND_LOCAL_PROT, addr, len);
	else
		scx_pci_read(dp, len);
	if (p != NULL)
		scx_pull(dp, p, len);
	return p;
}

/* The Ethernet segment's offload requests, common to SEND and enhanced MPW. */
SCX_FN bool
scx_check_eth(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q, uint32_t *cs_flags)
{
	uint32_t swp = scx_ld32(q->w + 16), w = scx_ld_be32(q->w + 20);

	*cs_flags = w >> 24;
	if (SCX_UNLIKELY(swp != 0 || (w & 0x00ff0000u) != 0 || (*cs_flags & ~SCX_CS_KNOWN) != 0))
		return scx_wqe_refuse(dp, sq, q, SCX_DP_R_ETH_OFFLOAD, CRL_SYND_LOCAL_QP_OP,
			w >> 16, crl_bswap32(swp));
	if (SCX_UNLIKELY((w & 0xffffu) != 0))
		return scx_wqe_refuse(
			dp, sq, q, SCX_DP_R_ETH_MSS, CRL_SYND_LOCAL_QP_OP, w & 0xffffu, q->opcode);
	return true;
}

/* Enhanced multi-packet send: after the two header segments every segment is one frame. */
SCX_FN bool
scx_send_empw(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q)
{
	uint32_t off, cs_flags, inl;
	const uint8_t *data;

	if (SCX_UNLIKELY(!sq->q.allow_mpw))
		return scx_wqe_refuse(dp, sq, q, SCX_DP_R_WQE_MPW_OFF, CRL_SYND_LOCAL_QP_OP,
			q->bytes / 16, sq->q.state);
	if (SCX_UNLIKELY(!scx_check_eth(dp, sq, q, &cs_flags)))
		return false;
	inl = scx_get_be16(q->w + 28);
	if (SCX_UNLIKELY(inl != 0 || sq->q.min_inline_mode != SCX_INLINE_NONE))
		return scx_wqe_refuse(dp, sq, q, SCX_DP_R_ETH_EMPW_INLINE, CRL_SYND_LOCAL_QP_OP,
			inl, q->bytes / 16);
	for (off = SCX_WQE_HDR; off < q->bytes;) {
		uint32_t len = scx_ld_be32(q->w + off);

		if (len & CRL_WQE_INLINE) {
			len &= ~CRL_WQE_INLINE;
			data = q->w + off + 4;
			if (SCX_UNLIKELY(len > q->bytes - off - 4u))
				return scx_wqe_refuse(dp, sq, q, SCX_DP_R_SEG_INLINE_SIZE,
					CRL_SYND_LOCAL_QP_OP, len, q->bytes - off - 4u);
			off += (4u + len + 15u) & ~15u;
		} else {
			data = scx_segment_at(dp, sq, q, q->w + off, len);
			if (SCX_UNLIKELY(data == NULL))
				return false;
			scx_prefetch_read(data);
			off += CRL_WQE_SEG_BYTES;
		}
		if (SCX_UNLIKELY(len < SCX_ETH_HLEN || len > SCX_DP_FRAME_MAX))
			return scx_frame_bad_length(dp, sq, q, len);
		if (SCX_LIKELY(len >= SCX_FRAME_MIN && cs_flags == 0))
			scx_frame_out(dp, sq, q, data, len, false);
		else
			scx_frame_stage(dp, sq, q, data, len, cs_flags);
	}
	return true;
}

SCX_FN void
scx_gather_add(struct scx_gather *g, const uint8_t *data, uint32_t len)
{
	if (len == 0)
		return;
	g->part[g->nr].data = data;
	g->part[g->nr++].len = len;
	g->len += len;
}

/* Collect a SEND's pieces from offset off on: data segments, inline or by pointer. */
SCX_FN bool
scx_gather_segments(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q, uint32_t off,
	struct scx_gather *g)
{
	while (off < q->bytes) {
		uint32_t len = scx_ld_be32(q->w + off);
		const uint8_t *data;

		if (len & CRL_WQE_INLINE) {
			len &= ~CRL_WQE_INLINE;
			data = q->w + off + 4;
			if (len > q->bytes - off - 4u)
				return scx_wqe_refuse(dp, sq, q, SCX_DP_R_SEG_INLINE_SIZE,
					CRL_SYND_LOCAL_QP_OP, len, q->bytes - off - 4u);
			off += (4u + len + 15u) & ~15u;
		} else {
			data = scx_segment_at(dp, sq, q, q->w + off, len);
			if (data == NULL)
				return false;
			off += CRL_WQE_SEG_BYTES;
		}
		/* Checked a segment at a time, so that no sum of them wraps. */
		if (len > SCX_DP_FRAME_MAX - g->len)
			return scx_frame_bad_length(dp, sq, q, (uint64_t)g->len + len);
		scx_gather_add(g, data, len);
	}
	return true;
}

/* Bytes that min_wqe_inline_mode wants inlined, for the headers at the front of the frame. */
SCX_SLOW uint32_t
scx_inline_least(const struct scx_sq *sq, const uint8_t *hdr, uint32_t len)
{
	struct scx_headers h;

	if (sq->q.min_inline_mode == SCX_INLINE_L2 || len < SCX_ETH_HLEN)
		return SCX_ETH_HLEN;
	/* What is inlined is all there is to parse: enough is there when the wanted layer was
	 * found. */
	scx_parse(&h, hdr, len);
	if (h.l3_type == CRL_CQE_L3_NONE)
		return scx_get_be16((uint8_t *)h.key + SCX_KEY_ETHERTYPE) == SCX_ETH_IPV4
			       ? SCX_ETH_HLEN + 20u
		       : scx_get_be16((uint8_t *)h.key + SCX_KEY_ETHERTYPE) == SCX_ETH_IPV6
			       ? SCX_ETH_HLEN + 40u
			       : SCX_ETH_HLEN;
	if (sq->q.min_inline_mode == SCX_INLINE_IP || h.frag)
		return h.l3 +
		       (h.l3_type == CRL_CQE_L3_IPV4 ? (uint32_t)(hdr[h.l3] & 0xf) * 4 : 40u);
	return h.l3 + (h.l3_type == CRL_CQE_L3_IPV4 ? (uint32_t)(hdr[h.l3] & 0xf) * 4 : 40u) +
	       (h.proto == SCX_PROTO_TCP	  ? 20u
		       : h.proto == SCX_PROTO_UDP ? 8u
						  : 0u);
}

/* The pieces, with the tag put in after the addresses, into the stage. */
SCX_FN void
scx_send_gathered(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q,
	const struct scx_gather *g, uint32_t tag, uint32_t cs_flags)
{
	uint32_t hole = tag != 0 ? SCX_VLAN_HLEN : 0u, len = g->len + hole, i;
	uint32_t out = len < SCX_FRAME_MIN ? SCX_FRAME_MIN : len;
	uint8_t *copy = scx_stage(dp, out), *to = copy + hole;

	scx_await(dp);
	for (i = 0; i < g->nr; i++) {
		memcpy(to, g->part[i].data, g->part[i].len);
		to += g->part[i].len;
	}
	if (hole != 0) {
		uint8_t addresses[12];

		memcpy(addresses, copy + hole, sizeof(addresses));
		memcpy(copy, addresses, sizeof(addresses));
		scx_put_be16(copy + 12, (uint16_t)(tag >> 16));
		scx_put_be16(copy + 14, (uint16_t)tag);
	}
	memset(copy + len, 0, out - len);
	if (cs_flags != 0)
		scx_insert_checksums(copy, len, cs_flags);
	dp->stats.copied_bytes += len;
	scx_frame_out(dp, sq, q, copy, out, true);
}

/* SEND: one frame, headers inlined or not, then a gather list. */
SCX_FN bool
scx_send_one(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q)
{
	uint32_t cs_flags, word, inl, tag = 0;
	struct scx_gather g;

	if (SCX_UNLIKELY(!scx_check_eth(dp, sq, q, &cs_flags)))
		return false;
	word = scx_get_be16(q->w + 28);
	inl = word & CRL_ETH_INLINE_MASK;
	if (word & CRL_ETH_INLINE_VLAN) {
		/* Insert: type 0x8100, or 0x88a8 when bit 0 is set; nothing is inlined then. */
		tag = (word & 1u ? SCX_ETH_QINQ : SCX_ETH_VLAN) << 16 | scx_get_be16(q->w + 30);
		inl = 0;
	}
	if (SCX_UNLIKELY(14u + inl > q->bytes - 16u))
		return scx_wqe_refuse(
			dp, sq, q, SCX_DP_R_ETH_INLINE_SIZE, CRL_SYND_LOCAL_QP_OP, inl, q->bytes);
	g.nr = 0;
	g.len = 0;
	scx_gather_add(&g, q->w + 30, inl);
	if (SCX_UNLIKELY(sq->q.min_inline_mode != SCX_INLINE_NONE)) {
		uint32_t least = scx_inline_least(sq, q->w + 30, inl);

		if (inl < least)
			return scx_wqe_refuse(dp, sq, q, SCX_DP_R_ETH_INLINE_MIN,
				CRL_SYND_LOCAL_LENGTH, inl, least);
	}
	if (!scx_gather_segments(dp, sq, q, 16u + ((14u + inl + 15u) & ~15u), &g))
		return false;
	if (SCX_UNLIKELY(g.len < SCX_ETH_HLEN))
		return scx_frame_bad_length(dp, sq, q, g.len);
	if (g.nr == 1 && tag == 0 && cs_flags == 0 && g.len >= SCX_FRAME_MIN) {
		scx_prefetch_read(g.part[0].data);
		scx_frame_out(dp, sq, q, g.part[0].data, g.len, false);
	} else {
		scx_send_gathered(dp, sq, q, &g, tag, cs_flags);
	}
	return true;
}

/* The fault plan's turn: true when it failed this WQE. */
SCX_SLOW bool
scx_send_fault(struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q)
{
	static const uint8_t syndromes[] = {
		CRL_SYND_LOCAL_LENGTH, CRL_SYND_LOCAL_QP_OP, CRL_SYND_LOCAL_PROT};
	uint8_t syndrome;

	/* A NOP sends nothing; newer kernels post hundreds to try write combining. */
	if (q->opcode == CRL_OPCODE_NOP || ++dp->fault.sends != dp->fault.plan.send_error)
		return false;
	syndrome = syndromes[scx_fault_rand(&dp->fault) % sizeof(syndromes)];
	scx_wqe_refuse(dp, sq, q, SCX_DP_R_REMARK_FAULT_SEND, syndrome, dp->fault.sends, syndrome);
	return true;
}

SCX_SLOW bool scx_send_tso(
	struct scx_dp *dp, struct scx_sq *sq, const struct scx_wqe *q); /* tso.h */

/* Execute the next WQE of the queue. A WQE that fails sends none of its frames. */
SCX_FN void
scx_send_next(struct scx_dp *dp, struct scx_sq *sq)
{
	struct scx_batch *b = &dp->batch;
	uint32_t nr = b->nr, referenced = b->referenced;
	struct scx_wqe q;
	bool ok;

	if (SCX_UNLIKELY(sq->q.state != SCX_WQ_RDY)) {
		scx_flush_one(dp, sq);
		return;
	}
	if (SCX_UNLIKELY(!scx_fetch(dp, sq, &q)))
		return;
	if (SCX_UNLIKELY(dp->fault.plan.send_error != 0) && scx_send_fault(dp, sq, &q))
		return;
	if (SCX_LIKELY(q.opcode == CRL_OPCODE_EMPW))
		ok = scx_send_empw(dp, sq, &q);
	else if (q.opcode == CRL_OPCODE_SEND)
		ok = scx_send_one(dp, sq, &q);
	else if (q.opcode == CRL_OPCODE_TSO)
		ok = scx_send_tso(dp, sq, &q);
	else
		ok = true; /* NOP */
	if (SCX_UNLIKELY(!ok)) {
		b->nr = nr;
		b->referenced = referenced;
		return;
	}
	if (q.ce >= CRL_WQE_CE_ALWAYS)
		scx_done(
			dp, sq, &q, q.ce == CRL_WQE_CE_ALWAYS ? SCX_DONE_OK : SCX_DONE_EVENT, 0, 0);
}

#include "tso.h" /* which needs all of the above */

#endif /* SCX_DP_SEND_H */
