/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a stop takes, and which part of it: looked at by whoever waits for the engine's end.
 * Host code, between engine.c and its runners.
 */
#ifndef CRL_STOP_H
#define CRL_STOP_H

#include "engine.h"
#include "mem.h"

struct crl_stop_watch {
	struct crl_stream *const *stream; /* [nr] */
	uint32_t nr, seen, left;	  /* of the first so many it is known */
	uint64_t told_ns;
	struct crl_stop_times *times;
};

/* One look at the control words, as far as nothing is missing. */
static inline void
crl_stop_look(struct crl_stop_watch *w)
{
	while (w->seen < w->nr && crl_ld32(&w->stream[w->seen]->ctl->stopping) != 0)
		w->seen++;
	while (w->left < w->nr && crl_ld32(&w->stream[w->left]->ctl->done) != 0)
		w->left++;
	if (w->seen == w->nr && w->times->ns[CRL_STOP_SEEN] == 0)
		w->times->ns[CRL_STOP_SEEN] = crl_now_ns() - w->told_ns;
	if (w->left == w->nr && w->times->ns[CRL_STOP_LEFT] == 0)
		w->times->ns[CRL_STOP_LEFT] = crl_now_ns() - w->told_ns;
}

#endif /* CRL_STOP_H */
