/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum (RFC 1071) over packet bytes, and its update for a changed word (RFC 1624).
 * Words are taken as they lie in memory, which gives the same sum in the same byte order: a
 * checksum that these functions return is stored with crl_st16(), not turned.
 */
#ifndef CRL_CSUM_H
#define CRL_CSUM_H

#include "mem.h"

/* Adds bytes [p, p + len) to a running sum; p is even, an odd last byte counts as followed by 0. */
CRL_FN uint32_t
crl_csum_add(uint32_t sum, const uint8_t *p, uint32_t len)
{
	uint32_t i;

	for (i = 0; i + 1u < len; i += 2u) {
		sum += crl_ld16(p + i);
		sum = (sum & 0xffffu) + (sum >> 16);
	}
	if (len & 1u)
		sum += crl_ld8(p + len - 1u);
	return (sum & 0xffffu) + (sum >> 16);
}

/* Adds one word whose value is given in host order. */
CRL_FN uint32_t
crl_csum_add_word(uint32_t sum, uint16_t v)
{
	return sum + crl_bswap16(v);
}

/* Folds a sum to the 16 bits that go into the header. */
CRL_FN uint16_t
crl_csum_fold(uint32_t sum)
{
	sum = (sum & 0xffffu) + (sum >> 16);
	sum = (sum & 0xffffu) + (sum >> 16);
	return (uint16_t)~sum;
}

/* The checksum after a word changed from was to is, both as they lie in memory: ~(~HC + ~m + m').
 */
CRL_FN uint16_t
crl_csum_update(uint16_t csum, uint16_t was, uint16_t is)
{
	uint32_t sum = (uint16_t)~csum;

	return crl_csum_fold(sum + (uint16_t)~was + is);
}

#endif /* CRL_CSUM_H */
