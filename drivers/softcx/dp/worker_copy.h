/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's copy: what stands behind the first 64 bytes of the frames of a group, from where they
 * lie to their buffers, and the sum of it for the checksums, in one go. A lane has its own frame's
 * head in registers and its last bytes, fewer than 16; all between them is copied by all lanes
 * (gpu_queues/wide.h), each frame's lines in a row.
 */
#ifndef SCX_DP_WORKER_COPY_H
#define SCX_DP_WORKER_COPY_H

#include "../../../gpu_queues/wide.h"
#include "worker_steer.h"

/* Sixteen-bit words of sixteen bytes, added up: 32768 words still fit. */
CRL_FN uint32_t
scx_wsum16(struct scx_16 v)
{
	uint32_t sum = 0, i, word;

	for (i = 0; i < 4u; i++) {
		word = (uint32_t)(v.q[i / 2u] >> 32u * (i % 2u));
		sum += (word & 0xffffu) + (word >> 16);
	}
	return sum;
}

/* All chunks of n pieces, of which the longest has so many. Sums into the pieces. */
CRL_FN void
scx_wcopy(const struct crl_warp *w, struct scx_wpiece *p, uint32_t n, uint32_t chunks)
{
	struct crl_wide g = crl_wide_begin(chunks), at;
	CRL_LANE(uint32_t, sum[CRL_WIDE_AHEAD]);
	uint32_t i;

	for (; g.row < n; g = at) { /* bound: the steps of 32 pieces */
		CRL_EACH_LANE(w, lane)
		{
			struct scx_16 v[CRL_WIDE_AHEAD], none = {{0, 0}};

			at = g;
			SCX_UNROLL(8)
			for (i = 0; i < CRL_WIDE_AHEAD; i++, crl_wide_next(&at)) {
				uint32_t f = crl_wide_frame(&at, lane);
				uint32_t c = crl_wide_chunk(&at, lane);

				/* behind the acquire of the doorbell plain loads will do */
				v[i] = f < n && c < p[f].chunks
					       ? ((const struct scx_16 *)p[f].from)[c]
					       : none;
			}
			at = g;
			SCX_UNROLL(8)
			for (i = 0; i < CRL_WIDE_AHEAD; i++, crl_wide_next(&at)) {
				uint32_t f = crl_wide_frame(&at, lane);
				uint32_t c = crl_wide_chunk(&at, lane);

				if (f < n && c < p[f].chunks)
					scx_st128(p[f].to + (size_t)c * CRL_WIDE_BYTES, v[i]);
				sum[i][CRL_AT(lane)] = scx_wsum16(v[i]);
			}
		}
		at = g;
		SCX_UNROLL(8)
		for (i = 0; i < CRL_WIDE_AHEAD; i++, crl_wide_next(&at)) {
			crl_warp_sum_groups(sum[i], g.lanes);
			CRL_EACH_LANE(w, lane)
			{
				uint32_t f = crl_wide_frame(&at, lane);

				if (lane % g.lanes == 0 && f < n)
					p[f].sum += sum[i][CRL_AT(lane)];
			}
		}
	}
	crl_warp_sync();
}

/* A lane's own part before that: the head, or all of a frame that no wide copy is for. Its entry
 * says how much is left for all lanes. */
CRL_FN void
scx_wcopy_head(const struct scx_wlane *x, uint8_t *dst, struct scx_wpiece *p)
{
	uint32_t i;

	p->from = x->f.data + SCX_WORKER_FRAME;
	p->to = dst + SCX_WORKER_FRAME;
	p->chunks = p->sum = 0;
	if (!x->in_head || ((uintptr_t)dst & 15u) != 0) {
		scx_copy(dst, x->f.data, x->f.len);
		return;
	}
	for (i = 0; i < SCX_WORKER_FRAME / 16u - 1u; i++)
		scx_st128(dst + 16u * i, x->head[i]);
	if (x->f.len == SCX_WORKER_SHORT) {
		scx_st64(dst + 16u * i, x->head[i].q[0]);
		scx_st32(dst + 16u * i + 8u, (uint32_t)x->head[i].q[1]);
		return;
	}
	scx_st128(dst + 16u * i, x->head[i]);
	p->chunks = (x->f.len - SCX_WORKER_FRAME) / CRL_WIDE_BYTES;
}

/* And after it: the last bytes, and what the checksums are. */
CRL_FN void
scx_wcopy_tail(struct scx_wlane *x, const uint8_t *dst, const struct scx_wpiece *p)
{
	uint32_t at = SCX_WORKER_FRAME + p->chunks * CRL_WIDE_BYTES;
	uint32_t sum = p->sum;

	if (x->in_head && ((uintptr_t)dst & 15u) == 0 && at < x->f.len)
		scx_copy(p->to + (at - SCX_WORKER_FRAME), x->f.data + at, x->f.len - at);
	if (!x->sum_due)
		return;
	for (; at + 2u <= x->f.len; at += 2u)
		sum += (uint32_t)x->f.data[at] | (uint32_t)x->f.data[at + 1u] << 8;
	scx_wexamined(x, at < x->f.len ? sum + x->f.data[at] : sum);
}

#endif /* SCX_DP_WORKER_COPY_H */
