/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory keys: from (key, address, length) of a WQE to bytes this processor can reach. A key is
 * found by its index, must be current in its variant byte and belong to the queue's protection
 * domain; bounds are checked by subtraction, so that no sum can wrap.
 */
#ifndef SCX_DP_DMA_H
#define SCX_DP_DMA_H

#include "state.h"

/* The key's entry, or NULL. *last is the caller's memory of the key it used before. */
SCX_FN struct scx_dp_mkey *
scx_mkey(struct scx_dp *dp, struct scx_dp_mkey **last, uint32_t key, uint32_t pdn)
{
	struct scx_dp_mkey *m = *last;

	/* A deleted key has no bytes and key 0, so a remembered entry is as good as a fresh
	 * look-up. */
	if (SCX_LIKELY(m != NULL && m->key == key && m->bytes != 0 && m->pdn == pdn))
		return m;
	m = &dp->mkey[key >> 8 & (SCX_DP_MKEY_MAX - 1u)];
	if (m->bytes == 0 || m->key != key || m->pdn != pdn)
		return NULL;
	*last = m;
	return m;
}

/* Whether a region with holes has all of these bytes in one piece. */
SCX_SLOW bool
scx_extents_have(const struct scx_extents *x, uint64_t iova, uint64_t bytes)
{
	uint32_t i;

	for (i = 0; i < x->nr; i++) {
		uint64_t off = iova - x->e[i].from;

		if (off <= x->e[i].bytes && bytes <= x->e[i].bytes - off)
			return true;
	}
	return false;
}

/* Where iova lies, or NULL when any of the bytes is outside of the region. */
SCX_FN uint8_t *
scx_mkey_at(const struct scx_dp_mkey *m, uint64_t iova, uint64_t bytes)
{
	uint64_t off = iova - m->iova; /* wraps to a huge offset when iova is below the region */

	if (off > m->bytes || bytes > m->bytes - off)
		return NULL;
	if (SCX_UNLIKELY(m->extents != NULL) && !scx_extents_have(m->extents, iova, bytes))
		return NULL;
	return m->base + off;
}

#endif /* SCX_DP_DMA_H */
