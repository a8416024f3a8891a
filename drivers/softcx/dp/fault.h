/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded chance: the one source of randomness of the data path, so that a run repeats from its
 * printed seed; and the plan of faults that the NIC carries out, with what it has counted for it.
 */
#ifndef SCX_DP_FAULT_H
#define SCX_DP_FAULT_H

#include "../fault.h"
#include "shared.h"

#define SCX_FAULT_FILL	  0xdb /* what a slot that was given back is filled with */
#define SCX_FAULT_RECORDS 16u  /* one look at the records in so many looks at the registers */

struct scx_fault {
	uint64_t state;
	struct scx_fault_plan plan;
	uint64_t sends, receives; /* counted while the plan has an error to come */
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
