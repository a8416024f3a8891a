/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet bytes, for packet functions: numbers of the protocols and the moves that engines share.
 * Frames begin on even addresses and header fields lie on even offsets, so that all is done in
 * pairs of bytes.
 */
#ifndef CRL_PKT_H
#define CRL_PKT_H

#include "mem.h"

#define CRL_ETH_HDR_BYTES  14u
#define CRL_VLAN_HDR_BYTES 4u
#define CRL_ETHERTYPE_IPV4 0x0800u
#define CRL_ETHERTYPE_ARP  0x0806u
#define CRL_ETHERTYPE_VLAN 0x8100u
#define CRL_ETHERTYPE_IPV6 0x86ddu
#define CRL_ETHERTYPE_QINQ 0x88a8u

#define CRL_ARP_BYTES  28u
#define CRL_IPV4_BYTES 20u
#define CRL_IPV6_BYTES 40u
#define CRL_UDP_BYTES  8u
#define CRL_TCP_BYTES  20u

#define CRL_IPPROTO_ICMP   1u
#define CRL_IPPROTO_TCP	   6u
#define CRL_IPPROTO_UDP	   17u
#define CRL_IPPROTO_ICMPV6 58u

/* n bytes, an even number, from src to dst, which do not overlap. */
CRL_FN void
crl_pkt_copy(uint8_t *dst, const uint8_t *src, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i += 2u)
		crl_st16(dst + i, crl_ld16(src + i));
}

CRL_FN void
crl_pkt_swap(uint8_t *a, uint8_t *b, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i += 2u) {
		uint16_t t = crl_ld16(a + i);

		crl_st16(a + i, crl_ld16(b + i));
		crl_st16(b + i, t);
	}
}

CRL_FN bool
crl_pkt_is_zero(const uint8_t *p, uint32_t n)
{
	uint16_t any = 0;
	uint32_t i;

	for (i = 0; i < n; i += 2u)
		any |= crl_ld16(p + i);
	return any == 0;
}

/* The port's MAC into a packet. */
CRL_FN void
crl_pkt_put_mac(uint8_t *p, const uint8_t *mac)
{
	uint32_t i;

	for (i = 0; i < 6u; i += 2u)
		crl_st16(p + i, (uint16_t)(mac[i] | mac[i + 1u] << 8));
}

#endif /* CRL_PKT_H */
