/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The programs that run under the checker: engines on several threads with a host that watches,
 * fails, re-arms, parks and stops them, and programs of the test's own that split a queue's work
 * between threads. All are compiled with hooks.
 */
#ifndef ORDER_PROGRAMS_H
#define ORDER_PROGRAMS_H

#include "gpu_queues/engine.h"
#include "nic.h"

struct program_cfg {
	const char *engine;
	uint64_t packets; /* of all queues together */
	uint32_t queues, threads, log_depth;
	bool fail; /* a send fails half-way, and the queue is re-armed */
	bool deaf; /* the NIC reads records at doorbells only */
	bool own;  /* engines run on threads of the program's own */
};

#define PROGRAM_QUEUES_MAX 4u
#define PROGRAM_BURST	   16u /* of engines */

/* Looks at a word before a thread says that the other is gone; the host at its engines: five times
 * as many. */
#define PROGRAM_SPINS 4000000u
extern uint32_t program_spins; /* PROGRAM_SPINS, unless somebody is less patient */

/* Returns packets that went through; fewer than asked for: it stood still, which is an error. */
uint64_t program_engine(const struct program_cfg *cfg, struct nic *nics);
uint64_t program_first(const struct program_cfg *cfg, struct nic *nics);
uint64_t program_own(const struct program_cfg *cfg, struct nic *nics);
uint64_t program_dev(const struct program_cfg *cfg, struct nic *nics);
uint64_t program_warp(const struct program_cfg *cfg, struct nic *nics);
uint64_t program_own_warp(const struct program_cfg *cfg, struct nic *nics);
uint64_t program_naive_submit(const struct program_cfg *cfg, struct nic *nics);
uint64_t program_naive_poll(const struct program_cfg *cfg, struct nic *nics);
uint64_t program_burst(const struct program_cfg *cfg, struct nic *nics);
uint64_t program_combine(const struct program_cfg *cfg, struct nic *nics);
uint64_t program_share(const struct program_cfg *cfg, struct nic *nics);
uint64_t program_split(const struct program_cfg *cfg, struct nic *nics);

/* Runs an engine, of which e may be a form of its own. opts: NULL, defaults. */
uint64_t program_start(const struct program_cfg *cfg, struct nic *nics, const struct crl_engine *e,
	const struct crl_engine_opts *opts);

#endif /* ORDER_PROGRAMS_H */
