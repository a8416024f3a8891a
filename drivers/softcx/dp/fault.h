/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded chance: the one source of randomness of the data path, so that a run repeats from its
 * printed seed. Faults that use it (a payload that lands after its CQE, an old word shown before an
 * ordering edge) hook in at scx_dma_write() and scx_cqe_write().
 */
#ifndef SCX_DP_FAULT_H
#define SCX_DP_FAULT_H

#include "shared.h"

struct scx_fault {
	uint64_t state;
};

CRL_FN void
scx_fault_seed(struct scx_fault *f, uint64_t seed)
{
	f->state = seed;
}

/* splitmix64 (Steele, Lea, Flood 2014): every seed is a good one, also 0. */
CRL_FN uint64_t
scx_fault_rand(struct scx_fault *f)
{
	uint64_t z = f->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

#endif /* SCX_DP_FAULT_H */
