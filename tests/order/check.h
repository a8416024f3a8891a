/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the modes of hb_check share: the programs under test, and one run of one of them.
 */
#ifndef ORDER_CHECK_H
#define ORDER_CHECK_H

#include "programs.h"

struct subject {
	const char *name;
	uint64_t (*run)(const struct program_cfg *cfg, struct nic *nics);
	const char *engine; /* NULL: a program of ours */
	bool fail, empw;
};

struct mutation {
	int drop, a, b; /* edges; negative: none */
	bool deaf;	/* the NIC reads records at doorbells only */
};

extern const struct subject subjects[];
extern const uint32_t nr_subjects;
extern uint64_t seed;

/* An engine that is no subject; NULL: none. */
const char *subject_missing(void);

/* One program once; objections are then in the report, until hb_close(). Returns packets. */
uint64_t run_subject(
	const struct subject *s, uint64_t packets, uint64_t with_seed, const struct mutation *m);
/* The mode of corrupt.c; how many results are not as they should be. */
int corrupts(void);
/* The mode of sites.c; how many places nobody objected to. */
int sites(const char *self);

#endif /* ORDER_CHECK_H */
