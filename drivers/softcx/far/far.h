/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that whoever steps the data path does not reach, but a copy engine does: a GPU's, for a
 * step in a thread of this processor. Each region has a copy here, which the data path's tables
 * name; dp/far.h brings what is to be read over before it is read, and takes over what was written.
 * A mover is the engine: CUDA's (gpu/mover.cu), or for tests one that moves bytes of this
 * processor's memory in an order and at times of a seed's choice (seeded.c).
 *
 * Threads: regions are added and removed from any; pull, push, wait and turn come from the thread
 * that steps.
 */
#ifndef SCX_FAR_H
#define SCX_FAR_H

#include <stddef.h>
#include <stdint.h>

#include "../dp/dp.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
 * Moves begin in the order in which they were asked for, each after the one before has ended; the
 * bytes of one may arrive in any order, but no eight of them at a multiple of eight in part. 0 or
 * -errno.
 */
struct scx_mover {
	const char *where; /* "the copy engine of GPU 0 (NVIDIA H200)" */
	int device;	   /* CUDA ordinal, -1: it is none */
	void *arg;
	int (*to_here)(void *arg, void *here, const void *there, size_t bytes);
	int (*to_there)(void *arg, void *there, const void *here, size_t bytes);
	int (*wait)(void *arg);	     /* until all of them have ended */
	unsigned (*turn)(void *arg); /* at each step; how many have not ended and need it */
	void *(*alloc)(void *arg, size_t bytes); /* memory of this processor for it, or NULL */
	void (*release)(void *arg, void *here);
	const char *(*why)(void *arg); /* one of them failed: in words */
	void (*end)(void *arg);	       /* all of it, *mover too */
};

struct scx_mover *scx_mover_seeded(uint64_t seed); /* NULL: no memory */
/* For its tests: called after each word that it moves, in the thread that asked or waits. */
void scx_mover_seeded_watch(
	const struct scx_mover *mover, void (*seen)(void *arg), void *arg);

struct scx_far;

/* NULL: no memory, the mover is still the caller's. name: for the log. */
struct scx_far *scx_far_new(struct scx_mover *mover, const char *name);
void scx_far_free(struct scx_far *far);
const struct scx_copy *scx_far_copy(struct scx_far *far);
const struct scx_mover *scx_far_mover(const struct scx_far *far);
/* The copy of a region, at a page's start; NULL: no memory, or no room in the table. */
void *scx_far_add(struct scx_far *far, void *there, size_t bytes);
void scx_far_del(struct scx_far *far, void *here); /* when nothing names it any more */

#if defined(__cplusplus)
}
#endif

#endif /* SCX_FAR_H */
