/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * icmpecho: answers ARP requests, ICMP and ICMPv6 echo requests and IPv6 neighbour solicitations,
 * for any address, as testpmd's engine of that name does for IPv4; everything else is dropped. The
 * answer is made in the buffer of the question. One or two VLAN tags (802.1Q, 802.1ad) stay as they
 * are.
 *
 * Dropped on purpose: fragments (testpmd sees no echo request in them either); questions from
 * nobody, that is ARP probes and announcements (RFC 5227) and duplicate address detection (RFC
 * 4862), whose answer would take the asker's address away; echo to a broadcast or IPv6 multicast
 * address.
 *
 * An echo reply differs from its request in one word, so its checksum is updated, not computed, and
 * a bad request stays a bad reply. IPv4: RFC 791, 792, 826. IPv6: RFC 8200, 4443, 4861.
 */
#ifndef CRL_ENGINE_ICMPECHO_H
#define CRL_ENGINE_ICMPECHO_H

#include "../csum.h"
#include "../fwd.h"
#include "../pkt.h"
#include "macswap.h"

#define CRL_ICMP_BYTES	    8u
#define CRL_ND_BYTES	    24u /* solicitation or advertisement without options */
#define CRL_ND_OPTION_BYTES 8u	/* one link-layer address option */

#define CRL_ICMP_ECHO_REPLY	0u
#define CRL_ICMP_ECHO_REQUEST	8u
#define CRL_ICMPV6_ECHO_REQUEST 128u
#define CRL_ICMPV6_ECHO_REPLY	129u
#define CRL_ICMPV6_ND_SOLICIT	135u
#define CRL_ICMPV6_ND_ADVERT	136u
#define CRL_ND_FLAGS		0x6000u /* solicited, override: RFC 4861 4.4 */
#define CRL_ND_OPTION_TARGET	0x0201u /* target link-layer address, one unit of 8 bytes */

/* Back to the sender, from our own MAC: for questions that were asked of a multicast address. */
CRL_FN void
crl_eth_answer(uint8_t *eth, const uint8_t *mac)
{
	crl_pkt_copy(eth, eth + 6, 6);
	crl_pkt_put_mac(eth + 6, mac);
}

/* arp: RFC 826 packet. Offsets: 0 hardware, 2 protocol, 4 lengths, 6 op, 8 sha, 14 spa, 18 tha, 24
 * tpa. */
CRL_FN enum crl_verdict
crl_echo_arp(uint8_t *eth, uint8_t *arp, uint32_t len, const uint8_t *mac)
{
	bool same;

	if (len < CRL_ARP_BYTES || crl_ld_be16(arp) != 1u ||
		crl_ld_be16(arp + 2) != CRL_ETHERTYPE_IPV4 || crl_ld_be16(arp + 4) != 0x0604u ||
		crl_ld_be16(arp + 6) != 1u)
		return CRL_DROP;
	same = crl_ld16(arp + 14) == crl_ld16(arp + 24) && crl_ld16(arp + 16) == crl_ld16(arp + 26);
	if (same || crl_pkt_is_zero(arp + 14, 4))
		return CRL_DROP; /* an announcement or a probe */
	crl_eth_answer(eth, mac);
	crl_st_be16(arp + 6, 2);
	crl_pkt_copy(arp + 18, arp + 8, 6);
	crl_pkt_put_mac(arp + 8, mac);
	crl_pkt_swap(arp + 14, arp + 24, 4);
	return CRL_SEND;
}

/* A group was pinged: answer from a neighbour of the asker's address, as testpmd, with a new
 * checksum. */
CRL_FN void
crl_echo_from_neighbour(uint8_t *ip, uint32_t ihl)
{
	uint32_t asker = (uint32_t)crl_ld_be16(ip + 12) << 16 | crl_ld_be16(ip + 14);
	uint32_t self = (asker & ~3u) | ((asker & 3u) == 1u ? 2u : 1u);

	crl_pkt_copy(ip + 16, ip + 12, 4);
	crl_st_be16(ip + 12, (uint16_t)(self >> 16));
	crl_st_be16(ip + 14, (uint16_t)self);
	crl_st16(ip + 10, 0);
	crl_st16(ip + 10, crl_csum_fold(crl_csum_add(0, ip, ihl)));
}

/*
 * Request to reply, in place. A message that is zero but for its checksum must not get 0 there,
 * which the update gives and which means the same in one's complement: then the sum is taken anew.
 */
CRL_FN void
crl_echo_turn_reply(uint8_t *icmp, uint32_t bytes)
{
	uint16_t was = crl_ld16(icmp), csum = crl_ld16(icmp + 2);

	crl_st_be16(icmp, CRL_ICMP_ECHO_REPLY << 8);
	csum = crl_csum_update(csum, was, crl_ld16(icmp));
	crl_st16(icmp + 2, csum);
	if (csum == 0 && crl_csum_add(0, icmp, bytes) == 0)
		crl_st16(icmp + 2, 0xffffu);
}

/* ip: RFC 791. Offsets: 0 version and length, 2 total length, 6 flags, 9 protocol, 12 src, 16 dst.
 */
CRL_FN enum crl_verdict
crl_echo_ipv4(uint8_t *eth, uint8_t *ip, uint32_t len, const uint8_t *mac)
{
	uint32_t ihl, total;
	uint8_t *icmp;

	if (len < CRL_IPV4_BYTES || crl_ld8(ip) >> 4 != 4u)
		return CRL_DROP;
	ihl = (crl_ld8(ip) & 0xfu) * 4u;
	total = crl_ld_be16(ip + 2);
	if (ihl < CRL_IPV4_BYTES || total > len || total < ihl + CRL_ICMP_BYTES ||
		(crl_ld_be16(ip + 6) & 0x3fffu) != 0 || crl_ld8(ip + 9) != CRL_IPPROTO_ICMP)
		return CRL_DROP;
	icmp = ip + ihl;
	if (crl_ld_be16(icmp) != CRL_ICMP_ECHO_REQUEST << 8 ||
		(crl_ld16(ip + 16) == 0xffffu && crl_ld16(ip + 18) == 0xffffu))
		return CRL_DROP;
	if (crl_ld8(ip + 16) >> 4 == 0xeu) {
		crl_eth_answer(eth, mac);
		crl_echo_from_neighbour(ip, ihl);
	} else {
		crl_mac_swap(eth);
		crl_pkt_swap(ip + 12, ip + 16, 4);
	}
	crl_echo_turn_reply(icmp, total - ihl);
	return CRL_SEND;
}

/* Sum over what ICMPv6 checks: addresses, length, protocol, message (RFC 8200 8.1). */
CRL_FN uint32_t
crl_icmpv6_sum(const uint8_t *ip, uint32_t bytes)
{
	uint32_t sum = crl_csum_add(0, ip + 8, 32);

	sum = crl_csum_add_word(sum, (uint16_t)bytes);
	sum = crl_csum_add_word(sum, CRL_IPPROTO_ICMPV6);
	return crl_csum_add(sum, ip + CRL_IPV6_BYTES, bytes);
}

/*
 * icmp: neighbour solicitation, RFC 4861 4.3: 0 type and code, 2 checksum, 4 reserved, 8 target.
 * Becomes the advertisement with our MAC; *pkt_len and the IPv6 length change, as options differ.
 */
CRL_FN enum crl_verdict
crl_echo_solicit(struct crl_pkt *pkt, uint8_t *ip, uint32_t bytes, const uint8_t *mac)
{
	uint32_t out = CRL_ND_BYTES + CRL_ND_OPTION_BYTES;
	uint8_t *icmp = ip + CRL_IPV6_BYTES;
	uint32_t new_len = (uint32_t)(icmp - pkt->data) + out;

	if (bytes < CRL_ND_BYTES || crl_ld8(ip + 7) != 255u || crl_ld8(icmp + 8) == 0xffu ||
		crl_pkt_is_zero(ip + 8, 16) || new_len > pkt->room ||
		crl_csum_fold(crl_icmpv6_sum(ip, bytes)) != 0)
		return CRL_DROP;
	crl_eth_answer(pkt->data, mac);
	crl_st_be16(ip + 4, (uint16_t)out);
	crl_pkt_copy(ip + 24, ip + 8, 16);
	crl_pkt_copy(ip + 8, icmp + 8, 16);
	crl_st_be16(icmp, CRL_ICMPV6_ND_ADVERT << 8);
	crl_st16(icmp + 2, 0);
	crl_st_be16(icmp + 4, CRL_ND_FLAGS);
	crl_st16(icmp + 6, 0);
	crl_st_be16(icmp + CRL_ND_BYTES, CRL_ND_OPTION_TARGET);
	crl_pkt_put_mac(icmp + CRL_ND_BYTES + 2, mac);
	crl_st16(icmp + 2, crl_csum_fold(crl_icmpv6_sum(ip, out)));
	pkt->len = new_len;
	return CRL_SEND;
}

/* ip: RFC 8200. Offsets: 4 payload length, 6 next header, 7 hop limit, 8 src, 24 dst. */
CRL_FN enum crl_verdict
crl_echo_ipv6(struct crl_pkt *pkt, uint8_t *ip, uint32_t len, const uint8_t *mac)
{
	uint32_t bytes;
	uint8_t *icmp = ip + CRL_IPV6_BYTES;
	uint16_t was;

	if (len < CRL_IPV6_BYTES + CRL_ICMP_BYTES || crl_ld8(ip) >> 4 != 6u ||
		crl_ld8(ip + 6) != CRL_IPPROTO_ICMPV6)
		return CRL_DROP;
	bytes = crl_ld_be16(ip + 4);
	if (bytes < CRL_ICMP_BYTES || bytes > len - CRL_IPV6_BYTES)
		return CRL_DROP;
	was = crl_ld16(icmp);
	if (crl_ld_be16(icmp) == CRL_ICMPV6_ND_SOLICIT << 8)
		return crl_echo_solicit(pkt, ip, bytes, mac);
	if (crl_ld_be16(icmp) != CRL_ICMPV6_ECHO_REQUEST << 8 || crl_ld8(ip + 24) == 0xffu)
		return CRL_DROP;
	crl_mac_swap(pkt->data);
	crl_pkt_swap(ip + 8, ip + 24, 16);
	crl_st_be16(icmp, CRL_ICMPV6_ECHO_REPLY << 8);
	crl_st16(icmp + 2, crl_csum_update(crl_ld16(icmp + 2), was, crl_ld16(icmp)));
	return CRL_SEND;
}

CRL_FN enum crl_verdict
crl_icmpecho_packet(struct crl_stream *s, struct crl_pkt *pkt)
{
	const uint8_t *mac = s->tx->mac;
	uint32_t at = CRL_ETH_HDR_BYTES, type, tags;

	if (pkt->len < CRL_ETH_HDR_BYTES)
		return CRL_DROP;
	type = crl_ld_be16(pkt->data + 12);
	for (tags = 0; tags < 2u && (type == CRL_ETHERTYPE_VLAN || type == CRL_ETHERTYPE_QINQ);
		tags++) {
		if (pkt->len < at + 4u)
			return CRL_DROP;
		type = crl_ld_be16(pkt->data + at + 2);
		at += 4u;
	}
	if (type == CRL_ETHERTYPE_ARP)
		return crl_echo_arp(pkt->data, pkt->data + at, pkt->len - at, mac);
	if (type == CRL_ETHERTYPE_IPV4)
		return crl_echo_ipv4(pkt->data, pkt->data + at, pkt->len - at, mac);
	if (type == CRL_ETHERTYPE_IPV6)
		return crl_echo_ipv6(pkt, pkt->data + at, pkt->len - at, mac);
	return CRL_DROP;
}

#endif /* CRL_ENGINE_ICMPECHO_H */
