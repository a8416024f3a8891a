/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carillon-bench from the inside: one run of one sub-command, its lines, and where its work is
 * done. Every measuring function has one signature for GPU (libcarillon_bench_cuda) and host
 * threads (host_*.c); which of the two a run uses is in struct bn_api. Threads: one.
 */
#ifndef CRL_BENCH_H
#define CRL_BENCH_H

#include <json-c/json.h>

#include "bench_cuda.h"

struct bn_api {
	bool gpu;
	int (*post)(const struct bn_post_cfg *, struct bn_result *);
	int (*litmus)(const struct bn_litmus_cfg *, struct bn_result *);
	int (*rtt)(const struct bn_rtt_cfg *, struct bn_result *);
	int (*poll)(const struct bn_poll_cfg *, struct bn_result *);
	int (*trigger)(const struct bn_trigger_cfg *, struct bn_result *);
	int (*tax)(const struct bn_tax_cfg *, struct bn_result *);
};

/* Numbers of an option. */
struct bn_list {
	unsigned v[16];
	uint32_t nr;
};

struct bn_options {
	const char *bench;
	const char *json, *plot;
	bool host, quick, tear;
	int device;
	uint32_t samples;  /* launches or repeats of a line; 0: the bench's own */
	uint64_t rounds;   /* litmus, rtt, poll, trigger; 0: the bench's own */
	struct bn_list sizes, queues; /* loopback; none: its own */
	double seconds;		      /* loopback, of a line; 0: its own */
	const char *only;  /* lines whose name has this in it; NULL: all */
	const char *tools; /* folder of softcx and carillon-testpmd; NULL: PATH */
};

struct bn_run {
	const struct bn_options *opt;
	struct bn_api api;
	struct bn_gpu gpu;
	struct json_object *root, *lines;
	uint64_t lost, torn;
	uint32_t failed; /* lines that could not be measured */
};

/* What every line names. Strings live as long as the call. */
struct bn_setting {
	const char *what, *placement, *trigger, *nic_step, *fence, *clock, *unit;
};

/* ---- out.c ---- */
int bn_run_begin(struct bn_run *run, const struct bn_options *opt);
/* Writes the JSON and the plot. Returns the program's exit status. */
int bn_run_end(struct bn_run *run);
/* Whether --only wants it. */
bool bn_wanted(const struct bn_run *run, const char *what);
/* A line that could not be measured, in words. */
void bn_line_missing(struct bn_run *run, const struct bn_setting *s, const char *why);
/*
 * A measured line: quantiles of the samples times scale, counts. more: further fields, taken over;
 * may be NULL. Frees the samples.
 */
void bn_line(struct bn_run *run, const struct bn_setting *s, struct bn_result *r, double scale,
	struct json_object *more);
/* As JSON, in six digits. */
struct json_object *bn_number(double value);
void bn_note(struct bn_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- rounds.c: what several sub-commands use ---- */
extern const char *const bn_scope_name[]; /* by enum bn_scope */
/* Rounds of a line: --rounds, or these; --quick takes a twentieth. */
uint64_t bn_rounds(const struct bn_run *run, uint64_t gpu, uint64_t host);
/* A line that failed with rc; what cannot be asked of host threads is no failure. */
void bn_failed(struct bn_run *run, const struct bn_setting *s, struct bn_result *r, int rc);

/* ---- hist.c: quantiles by GSL's histograms ---- */
struct bn_quantiles {
	double min, p50, p99, p999, max, mean;
};
int bn_quantiles(const uint64_t *sample, uint32_t n, double scale, struct bn_quantiles *q);

/* ---- api.c ---- */
int bn_api_open(struct bn_run *run, char *why, size_t bytes);

/* ---- plot.c: by gnuplot. From JSON files to .svg or .png. ---- */
int bn_plot(struct json_object *root, const char *file);

/* ---- the sub-commands ---- */
void bn_post(struct bn_run *run);
void bn_litmus(struct bn_run *run);
void bn_rtt(struct bn_run *run);
void bn_poll(struct bn_run *run);
void bn_trigger(struct bn_run *run);
void bn_tax(struct bn_run *run);
void bn_economy(struct bn_run *run);
void bn_loopback(struct bn_run *run);

/* ---- host_*.c ---- */
int bn_host_post(const struct bn_post_cfg *cfg, struct bn_result *out);
int bn_host_litmus(const struct bn_litmus_cfg *cfg, struct bn_result *out);
int bn_host_rtt(const struct bn_rtt_cfg *cfg, struct bn_result *out);
int bn_host_poll(const struct bn_poll_cfg *cfg, struct bn_result *out);
int bn_host_trigger(const struct bn_trigger_cfg *cfg, struct bn_result *out);
int bn_host_tax(const struct bn_tax_cfg *cfg, struct bn_result *out);

#endif /* CRL_BENCH_H */
