/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an error CQE holds beside its syndrome: vendor and hardware syndromes, which no public
 * document explains, and the signature. They are taken from what real cards wrote, as public bug
 * reports show it: tests/corpus/error_cqes.txt has the reports with their links, and the unit test
 * dp_corpus compares. A cause that no report shows has the vendor syndrome of its nearest kin and
 * no hardware syndrome.
 */
#ifndef SCX_DP_SYNDROME_H
#define SCX_DP_SYNDROME_H

#include "../../../gpu_queues/wire/cqe.h"
#include "../../../gpu_queues/wire/doorbell.h"

#define SCX_VENDOR_TX_KEY    0x52u /* hardware syndrome 0x92: no such key */
#define SCX_VENDOR_TX_BOUNDS 0x53u /* 0x9d: the key does not cover the address */
#define SCX_VENDOR_TX_WQE    0x68u /* with syndromes "local operation" and "local length" */
#define SCX_VENDOR_RX_PROT   0x32u /* 0x92 */
#define SCX_VENDOR_RX_WQE    0xd6u
#define SCX_VENDOR_FLUSH     0xf9u

/* Hardware syndrome (bits 7:0) and its type (bits 15:8), by what goes with them on cards. */
CRL_FN uint32_t
scx_hw_syndrome(uint8_t syndrome, uint8_t vendor)
{
	if (syndrome == CRL_SYND_LOCAL_PROT)
		return vendor == SCX_VENDOR_TX_BOUNDS ? 0x9du : 0x92u;
	if (syndrome == CRL_SYND_LOCAL_LENGTH && vendor == SCX_VENDOR_TX_WQE)
		return 0x1060u; /* an Ethernet WQE without the headers that it must have inline */
	return 0;
}

/*
 * The signature makes the exclusive or of all bytes, and of the CQE's number since the ring was
 * made, 24 bits, 0xff. No document says so; the dumps whose number is known agree on it, and of a
 * ring that had gone round two in sequence fit no index within the ring.
 */
CRL_FN uint8_t
scx_cqe_signature(const uint64_t *word, uint32_t number)
{
	uint64_t x = 0;
	uint32_t i;

	for (i = 0; i < CRL_CQE_BYTES / 8u; i++)
		x ^= word[i];
	x ^= x >> 32;
	x ^= x >> 16;
	x ^= x >> 8;
	number &= CRL_DBREC_CQ_MASK;
	return (uint8_t) ~(x ^ number ^ number >> 8 ^ number >> 16);
}

#endif /* SCX_DP_SYNDROME_H */
