/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum (RFC 1071) both ways: verified on the way in, for the CQE's L3_OK, L4_OK
 * and CHECKSUM_COMPLETE; inserted on the way out into a private copy of the frame. Sums are kept in
 * the byte order of memory, which the ones' complement sum allows.
 */
#ifndef SCX_DP_CHECKSUM_H
#define SCX_DP_CHECKSUM_H

#include "parse.h"

CRL_FN uint16_t
scx_fold(uint64_t s)
{
	s = (s & 0xffffffffu) + (s >> 32);
	s = (s & 0xffffffffu) + (s >> 32);
	s = (s & 0xffffu) + (s >> 16);
	s = (s & 0xffffu) + (s >> 16);
	return (uint16_t)s;
}

/* Unfolded sum of n bytes, p being at an even offset of what is summed. */
SCX_FN uint64_t
scx_sum(const uint8_t *p, uint32_t n)
{
	uint64_t s = 0;
	uint32_t w;
	uint16_t h;

	for (; n >= 16; n -= 16, p += 16) {
		uint32_t v[4];

		memcpy(v, p, 16);
		s += (uint64_t)v[0] + v[1] + ((uint64_t)v[2] + v[3]);
	}
	for (; n >= 4; n -= 4, p += 4) {
		memcpy(&w, p, 4);
		s += w;
	}
	if (n >= 2) {
		memcpy(&h, p, 2);
		s += h;
		p += 2;
	}
	if (n & 1)
		s += *p;
	return s;
}

/* The pseudo header of TCP and UDP (RFC 793, RFC 8200 8.1), from the addresses in the frame. */
SCX_FN uint64_t
scx_sum_pseudo(const struct scx_headers *h, const uint8_t *f)
{
	uint64_t addr = h->l3_type == CRL_CQE_L3_IPV4 ? scx_sum(f + h->l3 + 12, 8)
						      : scx_sum(f + h->l3 + 8, 32);

	return addr + crl_bswap16((uint16_t)(h->l3_end - h->l4)) + crl_bswap16(h->proto);
}

/* What the receiving NIC found out about a frame. */
struct scx_verdict {
	uint8_t ok;	   /* CRL_CQE_L2_OK .. */
	uint16_t complete; /* sum over all after the Ethernet header, memory order */
};

SCX_FN void
scx_verify(struct scx_verdict *v, const struct scx_headers *h, const uint8_t *f, uint32_t len)
{
	uint64_t l3 = 0, l4, tail;
	uint32_t l4_at = h->l4 != 0 ? h->l4 : h->l3;

	v->ok = CRL_CQE_L2_OK;
	if (h->l3_type == CRL_CQE_L3_NONE || h->l3_end == 0) {
		v->complete = scx_fold(scx_sum(f + 14, len - 14));
		return;
	}
	/* In pieces, so that each byte is summed once: tags, layer 3, layer 4, padding. */
	l3 = scx_sum(f + h->l3, l4_at - h->l3);
	l4 = scx_sum(f + l4_at, h->l3_end - l4_at);
	tail = 0;
	if (SCX_UNLIKELY(h->l3_end != len)) {
		tail = scx_fold(scx_sum(f + h->l3_end, len - h->l3_end));
		if (h->l3_end & 1)
			tail = crl_bswap16((uint16_t)tail);
	}
	v->complete = scx_fold(scx_sum(f + 14, h->l3 - 14u) + l3 + l4 + tail);
	if (h->l3_type == CRL_CQE_L3_IPV6)
		v->ok |= CRL_CQE_L3_OK;
	/* The length as it was when it was checked: a driver may write to what it sends. */
	else if (scx_fold(scx_sum(f + h->l3, h->ip4_len)) == 0xffff)
		v->ok |= CRL_CQE_L3_OK;
	if (h->l4 == 0)
		return;
	if (h->proto == SCX_PROTO_UDP && f[h->l4 + 6] == 0 && f[h->l4 + 7] == 0) {
		/* RFC 768: the sender made none; RFC 8200 forbids that for IPv6 */
		if (h->l3_type == CRL_CQE_L3_IPV4)
			v->ok |= CRL_CQE_L4_OK;
		return;
	}
	if (scx_fold(l4 + scx_sum_pseudo(h, f)) == 0xffff)
		v->ok |= CRL_CQE_L4_OK;
}

/* cs_flags of the Ethernet segment, into a private copy of the frame. What is not there is left
 * alone. */
SCX_FN void
scx_insert_checksums(uint8_t *f, uint32_t len, uint32_t cs_flags)
{
	struct scx_headers h;
	uint16_t sum;

	scx_parse(&h, f, len);
	if ((cs_flags & CRL_ETH_L3_CSUM) && h.l3_type == CRL_CQE_L3_IPV4 && h.l3_end != 0) {
		uint32_t ihl = (uint32_t)(f[h.l3] & 0xf) * 4;

		memset(f + h.l3 + 10, 0, 2);
		sum = (uint16_t)~scx_fold(scx_sum(f + h.l3, ihl));
		memcpy(f + h.l3 + 10, &sum, 2);
	}
	if ((cs_flags & CRL_ETH_L4_CSUM) && h.l4 != 0) {
		uint32_t at = h.l4 + (h.proto == SCX_PROTO_TCP ? 16u : 6u);

		memset(f + at, 0, 2);
		sum = (uint16_t)~scx_fold(
			scx_sum(f + h.l4, h.l3_end - h.l4) + scx_sum_pseudo(&h, f));
		if (sum == 0 && h.proto == SCX_PROTO_UDP)
			sum = 0xffff; /* RFC 768: 0 means none */
		memcpy(f + at, &sum, 2);
	}
}

#endif /* SCX_DP_CHECKSUM_H */
