/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Index arithmetic, nothing else. Every index in Carillon is 64 bits and free-running: it counts
 * entries since the queue was made and never wraps in the life of a machine. This file is the only
 * place where one is masked to find a slot, cut to the bits the wire has, or made whole again.
 */
#ifndef CRL_RING_H
#define CRL_RING_H

#include "port.h"

CRL_FN uint64_t
crl_ring_depth(uint32_t log_depth)
{
	return (uint64_t)1 << log_depth;
}

/* The slot of an index: where in the ring its entry lies. */
CRL_FN uint32_t
crl_ring_slot(uint64_t index, uint32_t log_depth)
{
	return (uint32_t)(index & (crl_ring_depth(log_depth) - 1u));
}

/* Entries that can still be produced: depth less those between ci and pi. */
CRL_FN uint64_t
crl_ring_room(uint64_t pi, uint64_t ci, uint32_t log_depth)
{
	return crl_ring_depth(log_depth) - (pi - ci);
}

/* The 16 bits of an index that WQEs, send records and CQEs carry. */
CRL_FN uint16_t
crl_index16(uint64_t index)
{
	return (uint16_t)(index & 0xffffu);
}

/* The 24 bits of a CQ's consumer index that its record carries. */
CRL_FN uint32_t
crl_index24(uint64_t index)
{
	return (uint32_t)(index & 0xffffffu);
}

/*
 * The first index at or after from whose low 16 bits are w. Right whenever the true index lies less
 * than 65536 after from, which holds as no ring is deeper than 32768.
 */
CRL_FN uint64_t
crl_index_from16(uint64_t from, uint16_t w)
{
	return from + (uint16_t)(w - crl_index16(from));
}

#endif /* CRL_RING_H */
