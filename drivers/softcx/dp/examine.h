/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that the receive side wants to know of a frame, from one look at it. The plain case (no tag,
 * IPv4 without options, no fragment, TCP or UDP) is done in registers; everything else goes through
 * parse.h and checksum.h, which say the same of plain frames:
 * tests/unit/softcx/dp/test_dp_examine.c.
 */
#ifndef SCX_DP_EXAMINE_H
#define SCX_DP_EXAMINE_H

#include "checksum.h"

struct scx_seen {
	CRL_ALIGNAS(64) uint64_t key[8]; /* match fields, parse.h */
	uint32_t info;	   /* the CQE's word at 0x1c without tag: checks, L4 and L3 type, flags */
	uint16_t complete; /* CHECKSUM_COMPLETE, memory order */
	uint16_t vlan;	   /* first tag */
	uint8_t tagged;	   /* the first tag is a customer tag, which a queue may strip */
};

CRL_FN uint64_t
scx_get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

CRL_FN uint32_t
scx_get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

SCX_SLOW void
scx_examine_any(struct scx_seen *s, const struct scx_frame *f)
{
	struct scx_headers h;
	struct scx_verdict v;

	scx_parse(&h, f->data, f->len);
	scx_verify(&v, &h, f->data, f->len);
	if (f->flags & SCX_FRAME_CSUM_VALID) {
		v.ok |= h.l3_end != 0 ? CRL_CQE_L3_OK : 0;
		v.ok |= h.l4 != 0 ? CRL_CQE_L4_OK : 0;
	}
	memcpy(s->key, h.key, sizeof(s->key));
	s->info = (uint32_t)v.ok << 24 | (h.frag ? CRL_CQE_IP_FRAG : 0) << 16 |
		  (h.options ? CRL_CQE_IP_EXT : 0) << 16 |
		  (uint32_t)h.l3_type << (CRL_CQE_L3_SHIFT + 16u) |
		  (uint32_t)h.l4_type << (CRL_CQE_L4_SHIFT + 16u);
	s->complete = v.complete;
	s->vlan = h.vlan;
	s->tagged = h.nr_tags > 0 && scx_get_be16(f->data + 12) == SCX_ETH_VLAN;
}

/* The TCP part of the plain case: flags into the key, which of the three types it is. */
SCX_FN uint32_t
scx_examine_tcp(struct scx_seen *s, const uint8_t *p, uint32_t total)
{
	uint32_t data = (uint32_t)(p[46] >> 4) * 4;

	/* key[2]: bits at bytes 2 and 3, ports at 4 to 7 */
	s->key[2] |= (uint64_t)(p[46] & 1u) << 16 | (uint64_t)p[47] << 24 |
		     (uint64_t)scx_get32(p + 34) << 32;
	return !(p[47] & 0x10)	     ? CRL_CQE_L4_TCP
	       : 20u + data >= total ? CRL_CQE_L4_TCP_EMPTY_ACK
				     : CRL_CQE_L4_TCP_ACK;
}

SCX_FN void
scx_examine_plain(struct scx_seen *s, const uint8_t *p, uint32_t len, uint32_t total, bool tcp)
{
	uint64_t ip = (uint64_t)scx_get32(p + 14) + scx_get32(p + 18) + scx_get32(p + 22) +
		      scx_get32(p + 26) + scx_get32(p + 30);
	uint64_t l4 = scx_sum(p + 34, total - 20u), tail = 0;
	uint64_t pseudo = (uint64_t)scx_get32(p + 26) + scx_get32(p + 30) +
			  crl_bswap16((uint16_t)(total - 20u)) + ((uint32_t)p[23] << 8);
	uint32_t type = CRL_CQE_L4_UDP, ok = CRL_CQE_L2_OK;

	s->key[0] = scx_get64(p + 6);			  /* source MAC, type */
	s->key[1] = scx_get64(p) & 0x0000ffffffffffffull; /* destination MAC, no tag */
	s->key[2] = (uint64_t)p[23] | (uint64_t)p[15] << 8 | 0x08ull << 16; /* version 4 */
	s->key[3] = 0x50ull << 16 | (uint64_t)p[22] << 24;		    /* header length, TTL */
	s->key[4] = s->key[6] = 0;
	s->key[5] = (uint64_t)scx_get32(p + 26) << 32;
	s->key[7] = (uint64_t)scx_get32(p + 30) << 32;
	if (tcp)
		type = scx_examine_tcp(s, p, total);
	else
		s->key[3] |= (uint64_t)scx_get32(p + 34) << 32;
	if (SCX_UNLIKELY(total + 14u != len)) {
		tail = scx_fold(scx_sum(p + 14 + total, len - 14u - total));
		if (total & 1u)
			tail = crl_bswap16((uint16_t)tail);
	}
	s->complete = scx_fold(ip + l4 + tail);
	if (SCX_LIKELY(scx_fold(ip) == 0xffff))
		ok |= CRL_CQE_L3_OK;
	if (SCX_LIKELY(scx_fold(l4 + pseudo) == 0xffff) || (!tcp && p[40] == 0 && p[41] == 0))
		ok |= CRL_CQE_L4_OK;
	s->info = ok << 24 | CRL_CQE_L3_IPV4 << (CRL_CQE_L3_SHIFT + 16u) |
		  type << (CRL_CQE_L4_SHIFT + 16u);
	s->vlan = 0;
	s->tagged = 0;
}

/* f: a frame of at least 14 bytes. */
SCX_FN void
scx_examine(struct scx_seen *s, const struct scx_frame *f)
{
	const uint8_t *p = f->data;
	uint32_t len = f->len, total;
	bool tcp;

	/* Ethernet type, IP version and header length; then no fragment */
	if (SCX_UNLIKELY(len < 54 || f->flags != 0 ||
			 (scx_get32(p + 12) & 0x00ffffffu) != 0x00450008u ||
			 (scx_get32(p + 20) & 0x0000ff3fu) != 0)) {
		scx_examine_any(s, f);
		return;
	}
	total = scx_get_be16(p + 16);
	tcp = p[23] == SCX_PROTO_TCP;
	if (SCX_UNLIKELY((!tcp && p[23] != SCX_PROTO_UDP) || total < (tcp ? 40u : 28u) ||
			 total + 14u > len)) {
		scx_examine_any(s, f);
		return;
	}
	scx_examine_plain(s, p, len, total, tcp);
}

#endif /* SCX_DP_EXAMINE_H */
