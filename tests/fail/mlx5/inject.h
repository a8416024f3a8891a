/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failure by counting: the linker sends the driver's own calls to the wrappers in inject.c
 * (--wrap), where the N-th of them fails and every thing that is made or given back is counted.
 * Calls inside libmlx5, DPDK and the C library are not touched. One thread.
 */
#ifndef CRL_TEST_INJECT_H
#define CRL_TEST_INJECT_H

#include <stdbool.h>

/* From now on the n-th call (1 is the next) fails, once; 0: none. */
void inject_arm(unsigned n);
/* The same for the calls that give something back. */
void inject_arm_release(unsigned n);
/* Did it happen? The name of the call that failed, NULL: not yet. */
const char *inject_fired(void);
/* Objects, umems, mappings and the like that were given back after a release had failed: what was
 * not let go of may still use them. */
unsigned inject_early(void);
/* How many calls that can fail came after the one that did: a maker goes no further then. */
unsigned inject_later(void);

/* Things that live: made by a wrapped call and not given back. */
enum inject_kind {
	LIVE_MALLOC,
	LIVE_MAPPING,
	LIVE_FD,
	LIVE_UMEM,
	LIVE_MR,
	LIVE_OBJ,
	LIVE_UAR,
	LIVE_CHANNEL,
	LIVE_PD,
	LIVE_CONTEXT,
	LIVE_LIST,
	LIVE_FLOW,
	LIVE_PROBE,
	LIVE_POOL,
	LIVE_MAP,
	LIVE_KINDS,
};
long inject_live(enum inject_kind kind);
const char *inject_kind_name(enum inject_kind kind);

#endif /* CRL_TEST_INJECT_H */
