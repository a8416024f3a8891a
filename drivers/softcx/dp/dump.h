/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries of rings as they lie in the driver's memory, reported to the control side: the first few
 * of each ring, for a log that was asked to show them.
 */
#ifndef SCX_DP_DUMP_H
#define SCX_DP_DUMP_H

#include "far.h"

/* The entry at p; read by whole words, for the driver may be at it. */
SCX_SLOW void
scx_dump(struct scx_dp *dp, enum scx_dp_dump what, uint32_t num, uint32_t index,
	const struct scx_buf *ring, const uint8_t *p, uint32_t bytes)
{
	struct scx_dp_report *r = scx_report(dp, SCX_DP_DUMPED, num);
	uint32_t i;

	if (r == NULL)
		return;
	r->why = (uint32_t)what;
	r->index = index;
	r->value[0] = ring->at + (uint64_t)(p - ring->base);
	r->value[1] = ring->device;
	scx_look(dp, p, bytes);
	for (i = 0; i < bytes / 8u && i < sizeof(r->bytes) / 8u; i++) {
		uint64_t w = scx_ld64(p + 8u * i);

		memcpy(r->bytes + 8u * i, &w, sizeof(w));
	}
}

#endif /* SCX_DP_DUMP_H */
