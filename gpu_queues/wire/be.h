/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Big-endian words of the NIC's formats, as one-member structs: assigning a plain integer to a wire
 * field, or adding two wire fields, does not compile in any of the four compilers. The hosts and
 * the GPUs Carillon runs on are little-endian; port assumptions are asserted here once.
 */
#ifndef CRL_WIRE_BE_H
#define CRL_WIRE_BE_H

#include "../port.h"

typedef struct {
	uint16_t be;
} crl_be16;

typedef struct {
	uint32_t be;
} crl_be32;

typedef struct {
	uint64_t be;
} crl_be64;

CRL_STATIC_ASSERT(sizeof(crl_be16) == 2 && sizeof(crl_be32) == 4 && sizeof(crl_be64) == 8,
		  "a wire word is as wide as its name says");
#if defined(__BYTE_ORDER__)
CRL_STATIC_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "no big-endian processors");
#endif

/* Byte swaps in plain C: gcc and clang make one bswap of each, nvcc one or two PRMT. */
CRL_FN uint16_t
crl_bswap16(uint16_t v)
{
	return (uint16_t)((uint32_t)v << 8 | v >> 8);
}

CRL_FN uint32_t
crl_bswap32(uint32_t v)
{
	return v << 24 | (v & 0xff00u) << 8 | (v >> 8 & 0xff00u) | v >> 24;
}

CRL_FN uint64_t
crl_bswap64(uint64_t v)
{
	return (uint64_t)crl_bswap32((uint32_t)v) << 32 | crl_bswap32((uint32_t)(v >> 32));
}

CRL_FN crl_be16
crl_to_be16(uint16_t v)
{
	crl_be16 w = {crl_bswap16(v)};
	return w;
}

CRL_FN crl_be32
crl_to_be32(uint32_t v)
{
	crl_be32 w = {crl_bswap32(v)};
	return w;
}

CRL_FN crl_be64
crl_to_be64(uint64_t v)
{
	crl_be64 w = {crl_bswap64(v)};
	return w;
}

CRL_FN uint16_t
crl_from_be16(crl_be16 w)
{
	return crl_bswap16(w.be);
}

CRL_FN uint32_t
crl_from_be32(crl_be32 w)
{
	return crl_bswap32(w.be);
}

CRL_FN uint64_t
crl_from_be64(crl_be64 w)
{
	return crl_bswap64(w.be);
}

#endif /* CRL_WIRE_BE_H */
