/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long frames by the 32 lanes of a warp: a group of lanes takes a frame, 16 bytes a lane, so that
 * what a warp loads or stores at once are whole lines in a row. Short frames have small groups,
 * several frames at a time; the groups of all frames of a call are equal, as wide as the longest
 * frame can use. Who has such work goes through it step by step, some steps ahead with its loads:
 * a step is chunk number step * lanes + (lane's place in its group) of frame row + (lane's group).
 */
#ifndef CRL_WIDE_H
#define CRL_WIDE_H

#include "warp.h"

#define CRL_WIDE_BYTES 16u
#define CRL_WIDE_AHEAD 8u /* steps whose loads are under way together */

struct crl_wide {
	uint32_t lanes; /* of a group: 4, 8, 16 or 32 */
	uint32_t steps; /* that a group needs for the longest frame */
	uint32_t row, step;
};

/* For frames of up to so many chunks of 16 bytes, at least one. */
CRL_FN struct crl_wide
crl_wide_begin(uint32_t chunks)
{
	struct crl_wide g = {4u, 0, 0, 0};

	while (g.lanes < CRL_WARP_LANES && g.lanes < chunks)
		g.lanes *= 2u;
	g.steps = (chunks + g.lanes - 1u) / g.lanes;
	return g;
}

CRL_FN void
crl_wide_next(struct crl_wide *g)
{
	if (++g->step == g->steps) {
		g->step = 0;
		g->row += CRL_WARP_LANES / g->lanes;
	}
}

CRL_FN uint32_t
crl_wide_frame(const struct crl_wide *g, uint32_t lane)
{
	return g->row + lane / g->lanes;
}

CRL_FN uint32_t
crl_wide_chunk(const struct crl_wide *g, uint32_t lane)
{
	return g->step * g->lanes + lane % g->lanes;
}

#endif /* CRL_WIDE_H */
