/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * macswap: source and destination MAC address change places, then the frame leaves.
 */
#ifndef CRL_ENGINE_MACSWAP_H
#define CRL_ENGINE_MACSWAP_H

#include "../fwd.h"
#include "../pkt.h"

/* Two bytes at a time: frames begin on even addresses, not on better ones. */
CRL_FN void
crl_mac_swap(uint8_t *eth)
{
	uint32_t i;

	for (i = 0; i < 6u; i += 2u) {
		uint16_t dst = crl_ld16(eth + i), src = crl_ld16(eth + 6u + i);

		crl_st16(eth + i, src);
		crl_st16(eth + 6u + i, dst);
	}
}

CRL_FN enum crl_verdict
crl_macswap_packet(struct crl_stream *s, struct crl_pkt *pkt)
{
	(void)s;
	if (pkt->len < CRL_ETH_HDR_BYTES)
		return CRL_DROP;
	crl_mac_swap(pkt->data);
	return CRL_SEND;
}

#endif /* CRL_ENGINE_MACSWAP_H */
