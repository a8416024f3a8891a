/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 5tswap: source and destination change places at layers 2, 3 and 4, as far as the frame has them,
 * then it leaves: MAC, IPv4 or IPv6 behind any number of VLAN tags, UDP or TCP ports. As testpmd's:
 * a layer that is not understood ends the work and not the frame. Checksums stay right, because
 * their words change places only. Unlike testpmd nothing is touched that the frame does not have.
 */
#ifndef CRL_ENGINE_5TSWAP_H
#define CRL_ENGINE_5TSWAP_H

#include "../fwd.h"
#include "../pkt.h"
#include "macswap.h"

/* Ports are the first words of both headers; l4: len bytes from there on. */
CRL_FN void
crl_5tswap_ports(uint8_t *l4, uint32_t len, uint32_t proto)
{
	if ((proto == CRL_IPPROTO_UDP && len >= CRL_UDP_BYTES) ||
		(proto == CRL_IPPROTO_TCP && len >= CRL_TCP_BYTES))
		crl_pkt_swap(l4, l4 + 2, 2);
}

CRL_FN void
crl_5tswap_ipv4(uint8_t *ip, uint32_t len)
{
	uint32_t ihl;

	if (len < CRL_IPV4_BYTES)
		return;
	ihl = (crl_ld8(ip) & 0xfu) * 4u;
	crl_pkt_swap(ip + 12, ip + 16, 4);
	if (ihl >= CRL_IPV4_BYTES && ihl <= len)
		crl_5tswap_ports(ip + ihl, len - ihl, crl_ld8(ip + 9));
}

CRL_FN void
crl_5tswap_ipv6(uint8_t *ip, uint32_t len)
{
	if (len < CRL_IPV6_BYTES)
		return;
	crl_pkt_swap(ip + 8, ip + 24, 16);
	crl_5tswap_ports(ip + CRL_IPV6_BYTES, len - CRL_IPV6_BYTES, crl_ld8(ip + 6));
}

CRL_FN enum crl_verdict
crl_5tswap_packet(struct crl_stream *s, struct crl_pkt *pkt)
{
	uint32_t at = CRL_ETH_HDR_BYTES, type;

	(void)s;
	if (pkt->len < CRL_ETH_HDR_BYTES)
		return CRL_DROP;
	crl_mac_swap(pkt->data);
	type = crl_ld_be16(pkt->data + 12);
	while ((type == CRL_ETHERTYPE_VLAN || type == CRL_ETHERTYPE_QINQ) &&
		at + CRL_VLAN_HDR_BYTES <= pkt->len) { /* bound: the frame's length */
		type = crl_ld_be16(pkt->data + at + 2);
		at += CRL_VLAN_HDR_BYTES;
	}
	if (type == CRL_ETHERTYPE_IPV4)
		crl_5tswap_ipv4(pkt->data + at, pkt->len - at);
	else if (type == CRL_ETHERTYPE_IPV6)
		crl_5tswap_ipv6(pkt->data + at, pkt->len - at);
	return CRL_SEND;
}

#endif /* CRL_ENGINE_5TSWAP_H */
