/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers are read once a frame, into the 64 bytes of fte_match_set_lyr_2_4 (PRM; the layout rules
 * are written in) and into the few offsets that checksums and CQEs need. Ethernet, up to two VLAN
 * tags, IPv4 with options, IPv6 with extension headers, TCP, UDP. A fragment has no layer 4, as for
 * the NIC: its later parts carry no ports, so the first one's are not looked at either.
 */
#ifndef SCX_DP_PARSE_H
#define SCX_DP_PARSE_H

#include "state.h"

struct scx_headers {
	CRL_ALIGNAS(64) uint64_t key[8]; /* fte_match_set_lyr_2_4, as in memory */
	uint16_t l3, l4;		 /* offsets; l4 0: none recognized */
	uint16_t l3_end; /* end of the IP packet by its own length; 0: no IP, or the length is wrong
			  */
	uint16_t vlan;	 /* first tag */
	uint8_t nr_tags;
	uint8_t l3_type, l4_type; /* CRL_CQE_L3_*, CRL_CQE_L4_*, as in the CQE */
	uint8_t frag, options;
	uint8_t ip4_len; /* bytes of an IPv4 header */
	uint8_t proto;
};

/* Byte offsets of the fields in the key, from the bit offsets in the PRM. */
#define SCX_KEY_SMAC	  0u
#define SCX_KEY_ETHERTYPE 6u
#define SCX_KEY_DMAC	  8u
#define SCX_KEY_VLAN	  14u /* priority, CFI, VID of the first tag */
#define SCX_KEY_PROTO	  16u
#define SCX_KEY_TOS	  17u /* DSCP, ECN */
#define SCX_KEY_BITS	  18u /* [15] cvlan, [14] svlan, [13] frag, [12:9] IP, [8:0] TCP flags */
#define SCX_KEY_TCP	  20u /* source, destination port */
#define SCX_KEY_IHL	  26u /* [7:4] */
#define SCX_KEY_TTL	  27u
#define SCX_KEY_UDP	  28u
#define SCX_KEY_SRC	  32u /* 16 bytes; IPv4 in the last four */
#define SCX_KEY_DST	  48u

#define SCX_ETH_VLAN  0x8100u
#define SCX_ETH_QINQ  0x88a8u
#define SCX_ETH_IPV4  0x0800u
#define SCX_ETH_IPV6  0x86ddu
#define SCX_PROTO_TCP 6u
#define SCX_PROTO_UDP 17u

#define SCX_KEY_CVLAN 0x8000u
#define SCX_KEY_SVLAN 0x4000u
#define SCX_KEY_FRAG  0x2000u
#define SCX_KEY_V4    (4u << 9)
#define SCX_KEY_V6    (6u << 9)

SCX_FN void
scx_parse_l4(struct scx_headers *h, const uint8_t *f, uint32_t len, uint32_t off, uint16_t *bits)
{
	uint8_t *key = (uint8_t *)h->key;

	if (h->frag || h->l3_end == 0)
		return;
	if (h->proto == SCX_PROTO_TCP && off + 20 <= h->l3_end) {
		uint32_t data = off + (uint32_t)(f[off + 12] >> 4) * 4;

		h->l4 = (uint16_t)off;
		h->l4_type = !(f[off + 13] & 0x10) ? CRL_CQE_L4_TCP
			     : data >= h->l3_end   ? CRL_CQE_L4_TCP_EMPTY_ACK
						   : CRL_CQE_L4_TCP_ACK;
		*bits |= (uint16_t)((uint32_t)(f[off + 12] & 1u) << 8 | f[off + 13]);
		memcpy(key + SCX_KEY_TCP, f + off, 4);
	} else if (h->proto == SCX_PROTO_UDP && off + 8 <= h->l3_end) {
		h->l4 = (uint16_t)off;
		h->l4_type = CRL_CQE_L4_UDP;
		memcpy(key + SCX_KEY_UDP, f + off, 4);
	}
	(void)len;
}

SCX_FN void
scx_parse_ipv4(struct scx_headers *h, const uint8_t *f, uint32_t len, uint32_t off, uint16_t *bits)
{
	uint8_t *key = (uint8_t *)h->key;
	uint32_t ihl = (uint32_t)(f[off] & 0xf) * 4, total;

	*bits |= SCX_KEY_V4;
	h->l3 = (uint16_t)off;
	h->l3_type = CRL_CQE_L3_IPV4;
	h->options = ihl > 20;
	h->ip4_len = (uint8_t)ihl;
	h->proto = key[SCX_KEY_PROTO] = f[off + 9];
	key[SCX_KEY_TOS] = f[off + 1];
	key[SCX_KEY_IHL] = (uint8_t)(f[off] << 4);
	key[SCX_KEY_TTL] = f[off + 8];
	memcpy(key + SCX_KEY_SRC + 12, f + off + 12, 4);
	memcpy(key + SCX_KEY_DST + 12, f + off + 16, 4);
	if ((scx_get_be16(f + off + 6) & 0x3fffu) != 0) { /* more fragments, or an offset */
		h->frag = 1;
		*bits |= SCX_KEY_FRAG;
	}
	total = scx_get_be16(f + off + 2);
	if (ihl >= 20 && total >= ihl && off + total <= len)
		h->l3_end = (uint16_t)(off + total);
	scx_parse_l4(h, f, len, off + ihl, bits);
}

SCX_FN void
scx_parse_ipv6(struct scx_headers *h, const uint8_t *f, uint32_t len, uint32_t off, uint16_t *bits)
{
	uint8_t *key = (uint8_t *)h->key;
	uint32_t total = 40u + scx_get_be16(f + off + 4), at = off + 40, i;
	uint8_t next = f[off + 6];

	*bits |= SCX_KEY_V6;
	h->l3 = (uint16_t)off;
	h->l3_type = CRL_CQE_L3_IPV6;
	key[SCX_KEY_TOS] = (uint8_t)(scx_get_be16(f + off) >> 4);
	key[SCX_KEY_TTL] = f[off + 7];
	memcpy(key + SCX_KEY_SRC, f + off + 8, 16);
	memcpy(key + SCX_KEY_DST, f + off + 24, 16);
	if (off + total <= len)
		h->l3_end = (uint16_t)(off + total);
	/* RFC 8200: hop-by-hop 0, routing 43, fragment 44, destination options 60 */
	for (i = 0; i < SCX_IPV6_EXT_MAX && (next == 0 || next == 43 || next == 44 || next == 60);
		i++) {
		h->options = 1;
		if (at + 8 > len)
			break;
		if (next == 44) {
			h->frag = 1;
			*bits |= SCX_KEY_FRAG;
			next = f[at];
			break;
		}
		next = f[at];
		at += 8u + (uint32_t)f[at + 1] * 8;
	}
	h->proto = key[SCX_KEY_PROTO] = next;
	scx_parse_l4(h, f, len, at, bits);
}

/* f: a frame of at least 14 bytes. */
SCX_FN void
scx_parse(struct scx_headers *h, const uint8_t *f, uint32_t len)
{
	uint8_t *key = (uint8_t *)h->key;
	uint32_t off = 12;
	uint16_t type = scx_get_be16(f + 12), bits = 0;

	memset(h, 0, sizeof(*h));
	memcpy(key + SCX_KEY_SMAC, f + 6, 6);
	memcpy(key + SCX_KEY_DMAC, f, 6);
	while (SCX_UNLIKELY((type == SCX_ETH_VLAN || type == SCX_ETH_QINQ) && h->nr_tags < 2 &&
			    off + 6 <= len)) {
		if (h->nr_tags++ == 0) {
			h->vlan = scx_get_be16(f + off + 2);
			memcpy(key + SCX_KEY_VLAN, f + off + 2, 2);
			bits |= type == SCX_ETH_VLAN ? SCX_KEY_CVLAN : SCX_KEY_SVLAN;
		}
		off += 4;
		type = scx_get_be16(f + off);
	}
	scx_put_be16(key + SCX_KEY_ETHERTYPE, type);
	off += 2;
	if (type == SCX_ETH_IPV4 && off + 20 <= len && f[off] >> 4 == 4)
		scx_parse_ipv4(h, f, len, off, &bits);
	else if (type == SCX_ETH_IPV6 && off + 40 <= len && f[off] >> 4 == 6)
		scx_parse_ipv6(h, f, len, off, &bits);
	scx_put_be16(key + SCX_KEY_BITS, bits);
}

#endif /* SCX_DP_PARSE_H */
