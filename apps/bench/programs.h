/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the sub-commands share that start programs under `softcx run` (softcx.c, loopback.c). One
 * thread, which waits for each program with a bound.
 */
#ifndef CRL_BENCH_PROGRAMS_H
#define CRL_BENCH_PROGRAMS_H

#include "bench.h"

#define BN_EAL "-l 0,1 --no-huge -m 256 --no-shconf --no-telemetry"

/* What softcx counted over one run of a program, all ports together. */
struct bn_counts {
	unsigned long long sent, bytes, received;
	unsigned long long no_buffer, no_rule, no_match, too_long; /* and why what was lost was */
	unsigned long long doorbells, wqes, cqes, error_cqes, read, written, tlps;
};

/*
 * Runs a shell line with softcx's log in a file of its own. False: it failed, and why has its last
 * words. seconds: after so long it is ended.
 */
bool bn_program(const struct bn_run *run, const char *softcx_args, const char *line, int seconds,
	struct bn_counts *n, char *why, size_t bytes);

/* A new file in TMPDIR, opened; -1 with errno. path then has its name, without a quote in it. */
#define BN_PATH 256u
int bn_temporary(const char *what, char path[BN_PATH]);

void bn_put(struct json_object *o, const char *key, double v);

#endif /* CRL_BENCH_PROGRAMS_H */
