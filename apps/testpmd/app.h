/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of carillon-testpmd share: the options, the ports with their queues, the engine
 * that runs them and the errors that came up. Filled by the main lcore; telemetry's thread reads
 * what is marked so.
 *
 * - main.c the order of things, signals, the control loop; plugin.c our gpudev drivers
 * - options.c, option_values.c the command line; foreign.c testpmd's words that are none here
 * - ports.c devices, queues, steering; engine.c lcores and kernels; cpu.c net_mlx5's own queues
 * - stats.c statistics in testpmd's shapes; prompt.c -i; telemetry.c /carillon/...; report.c --json
 */
#ifndef CRL_TESTPMD_APP_H
#define CRL_TESTPMD_APP_H

#include <pthread.h>
#include <stdio.h>

#include "carillon/dpdk.h"
#include "gpu_queues/control.h"
#include "gpu_queues/launch.h"
#include "options.h"

struct crl_tp_queue {
	struct crl_queue *queue;
	struct crl_queue_dev dev;     /* what the engine runs on; its counters are host memory */
	struct crl_watch watch;	      /* heartbeat only: errors come as events */
	struct crl_qstats now;	      /* when stats.c last looked */
	struct crl_qstats base;	      /* at the last start or clear */
	int lcore;		      /* that runs it, -1: a GPU does */
	bool failed;		      /* an event said so */
	struct crl_region *tx_region; /* frames that the engine makes, or --tx-first */
};

/* Packets and bytes of a port: what testpmd takes from rte_eth_stats. */
struct crl_tp_counts {
	uint64_t rx_packets, rx_bytes, rx_missed, rx_errors, rx_nombuf;
	uint64_t tx_packets, tx_bytes, tx_dropped, tx_errors;
};

struct crl_tp_port {
	unsigned device; /* number in eal */
	struct crl_ctx *ctx;
	struct crl_port *port;
	uint16_t id; /* DPDK's */
	int numa_node;
	uint32_t nr_queues;
	struct crl_tp_queue *queues;
	struct crl_flow *flows[CRL_TP_QUEUES_MAX]; /* one for all queues, or one each */
	uint32_t nr_flows;
	struct crl_tp_counts base;     /* of NIC statistics: at the last clear */
	struct crl_tp_counts fwd_base; /* of forward statistics: at the last start or clear */
	struct crl_tp_counts shown;    /* at the last print, for rates */
	uint64_t shown_ns;
};

struct crl_tp_app {
	struct crl_tp_options opt;
	struct crl_eal *eal;
	struct crl_mem gpu_mem; /* of --gpu, or host memory that it reaches, by --rings */
	struct crl_mem *mem;	/* of rings, records and buffers: &gpu_mem; NULL: host memory */
	int cuda_device;	/* -1: engines run on lcores */
	char gpu_model[96];
	struct crl_tp_port ports[CRL_TP_PORTS_MAX];
	uint32_t nr_ports;
	struct crl_engine_run *run[CRL_TP_ENGINES_MAX]; /* each has its share of the queues */
	uint32_t nr_runs;
	struct crl_cuda_facts facts; /* of a GPU's engine; registers 0: there is none */
	uint32_t nr_threads;	     /* of all runs */
	uint32_t cpu_stop;	     /* to cpu.c's lcore */
	int cpu_lcore;		     /* that polls net_mlx5's queues, -1: none */
	int stopped_badly;	     /* an engine did not leave: memory cannot be freed */
	bool stands;		     /* before start and after stop; cpu.c's lcore reads it */
	uint64_t since_ns, ran_ns;   /* forwarding since then, 0: it stands; and before that */
	uint64_t stop_ns;	     /* from the word to stop to the last stream gone */
	struct crl_stop_times stop;  /* its parts, of the engine that took longest */
	/* Errors: written by the control loop, read by telemetry; under the lock. */
	pthread_mutex_t lock;
	struct crl_err errors[CRL_TP_ERRORS_MAX];
	uint64_t nr_errors; /* all that came; the array keeps the first */
	uint64_t nr_failed; /* queues and devices that do no more work */
};

/* plugin.c. Do these EAL arguments, or --gpu, name a gpudev of ours without -d for its driver? */
bool crl_tp_plugin_wanted(int argc, char *const *argv, const char *gpu);
/* Loads librte_gpu_crl.so from beside this program, and prints from where. */
int crl_tp_plugin_load(struct crl_err *err);

/* ports.c. On failure everything that was opened is closed again. */
int crl_tp_memory(struct crl_tp_app *app, struct crl_err *err);
int crl_tp_ports_open(struct crl_tp_app *app, struct crl_err *err);
/* 0, or the first error; goes on whatever fails. */
int crl_tp_ports_close(struct crl_tp_app *app, struct crl_err *err);

/* engine.c. Start (standing still, if app->stands), go on or stand, stop with a bound. */
int crl_tp_engine_check(const struct crl_tp_app *app, struct crl_err *err);
int crl_tp_engine_start(struct crl_tp_app *app, struct crl_err *err);
void crl_tp_engine_go(struct crl_tp_app *app);
/* Waits, with a bound, until all stand: counters then move no more. False: some do not. */
bool crl_tp_engine_stand(struct crl_tp_app *app);
/* All the way: a GPU's kernel ends, and starts again where it stood. */
int crl_tp_engine_leave(struct crl_tp_app *app, bool leave, struct crl_err *err);
int crl_tp_engine_stop(struct crl_tp_app *app, struct crl_err *err);

/* cpu.c, in the shape of rte_eal_remote_launch(): forwards on net_mlx5's queues until
 * app->cpu_stop. */
int crl_tp_cpu_loop(void *app);

/* stats.c */
/* Looks at all queues, once: their counts and the port's are of one moment. */
void crl_tp_counts_get(const struct crl_tp_port *p, struct crl_tp_counts *c);
void crl_tp_counts_sub(struct crl_tp_counts *a, const struct crl_tp_counts *b);
/* Count from here on: as clear port stats, and as clear fwd stats, which a start does as well. */
void crl_tp_clear_nic(struct crl_tp_app *app);
void crl_tp_clear_forward(struct crl_tp_app *app);
void crl_tp_print_config(const struct crl_tp_app *app, FILE *f);
/* The GPU whose kernel is the NIC's data path, -1: none. */
int crl_tp_step_gpu(void);
const char *crl_tp_nic_step(void);
void crl_tp_print_path(const struct crl_tp_app *app, FILE *f);
void crl_tp_print_nic(struct crl_tp_port *p, FILE *f);
void crl_tp_print_forward(struct crl_tp_app *app, FILE *f);
/* The same with numbers given: for tests of the shapes. */
void crl_tp_shape_nic(
	FILE *f, unsigned port, const struct crl_tp_counts *c, const uint64_t rates[4]);
void crl_tp_shape_forward(FILE *f, unsigned port, const struct crl_tp_counts *c);
void crl_tp_shape_total(FILE *f, const struct crl_tp_counts *c);

/* telemetry.c */
int crl_tp_telemetry(struct crl_tp_app *app);

/* report.c: can opt.json be written, as far as that can be told before the run? */
int crl_tp_report_check(const struct crl_tp_app *app, struct crl_err *err);
/* Writes it, by way of a file beside it. */
int crl_tp_report(const struct crl_tp_app *app, struct crl_err *err);

/* prompt.c: takes what can be read from standard input without waiting. True: quit. */
bool crl_tp_prompt(struct crl_tp_app *app);
void crl_tp_prompt_begin(void);

#endif /* CRL_TESTPMD_APP_H */
