/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a warp has beside its stream, and how an engine that reads or writes whole frames has all
 * lanes at work on the long ones (wide.h): fwd_warp.h's, and engines/stamp_warp.h's.
 */
#ifndef CRL_WARP_LONG_H
#define CRL_WARP_LONG_H

#include "fwd.h"
#include "sq_warp.h"
#include "warp.h"

/* A frame that all lanes look at. */
struct crl_warp_long {
	uint8_t *data;
	uint32_t chunks; /* of 16 bytes from data on; 0: none */
	uint32_t bad;
	uint64_t was, is; /* stamp: its number, and the next one */
};

/* Room of one warp, beside its stream. */
struct crl_warp_mem {
	struct crl_piece frame[CRL_WARP_LANES]; /* to be sent, in this order */
	uint64_t cookie[CRL_WARP_LANES];	/* what each frees if it leaves in a SEND */
	struct crl_warp_long longs[CRL_WARP_LANES];
};

/*
 * For an engine that reads or writes whole frames. A function of the first kind is asked before the
 * packet function: it says in *l what all lanes have to do of a frame, and its verdict so far; with
 * chunks 0 the packet function has the frame. One of the second kind does it for n frames, chunks
 * in the longest; bad in an entry then means CRL_TORN.
 */
typedef uint32_t (*crl_warp_long_fn)(
	const struct crl_stream *s, const struct crl_pkt *pkt, struct crl_warp_long *l);
typedef void (*crl_warp_all_fn)(const struct crl_warp *w, const struct crl_stream *s,
	struct crl_warp_long *l, uint32_t n, uint32_t chunks);

/* What all lanes do of n packets; verdicts so far, and those after it, in flags. */
CRL_FN void
crl_warp_judge_long(const struct crl_warp *w, struct crl_stream *s, struct crl_warp_mem *m,
	crl_warp_all_fn all, uint32_t n, uint32_t *flags)
{
	CRL_LANE(uint32_t, chunks);
	uint32_t most;

	CRL_EACH_LANE(w, lane)
	chunks[CRL_AT(lane)] = lane < n ? m->longs[lane].chunks : 0;
	most = crl_warp_max(chunks);
	crl_warp_sync();
	if (most == 0)
		return;
	all(w, s, m->longs, n, most);
	CRL_EACH_LANE(w, lane)
	{
		if (lane < n && m->longs[lane].bad != 0)
			flags[CRL_AT(lane)] |= CRL_TORN;
	}
}

#endif /* CRL_WARP_LONG_H */
