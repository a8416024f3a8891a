/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words after "--" on carillon-testpmd's command line: testpmd's own, as it spells them, and a
 * few of ours. Parsed once by main.c, read by everyone, changed by nobody.
 */
#ifndef CRL_TESTPMD_OPTIONS_H
#define CRL_TESTPMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/limits.h"
#include "gpu_queues/engine.h"

enum crl_tp_rings {
	CRL_TP_RINGS_DEFAULT, /* in GPU memory when --gpu was given, else in host memory */
	CRL_TP_RINGS_HOST,
	CRL_TP_RINGS_GPU,
};

struct crl_tp_options {
	const struct crl_engine *engine; /* --forward-mode */
	struct crl_engine_opts engine_opts;
	uint32_t rxq, txq;	 /* queues a port */
	uint32_t rxd, txd;	 /* entries of each, a power of two */
	uint32_t burst;		 /* packets an iteration */
	uint32_t engines;	 /* runs, kernels on a GPU, that share the queues */
	uint32_t nb_cores;	 /* worker lcores that run engines */
	uint32_t cpu_queues;	 /* queues of net_mlx5 itself beside ours, a port */
	uint32_t mbuf_bytes;	 /* from receive buffer to receive buffer; 0: by the port's MTU */
	uint32_t mtu;		 /* 0: as the port is */
	uint32_t tx_inline;	 /* frames up to so many bytes are inlined */
	uint32_t stats_period_s; /* 0: none */
	uint64_t portmask;	 /* bit i: device i of -a, or of the machine */
	double duration_s;	 /* 0: until a signal */
	bool auto_start, tx_first, interactive, flow_isolate, help;
	enum crl_tp_rings rings;
	char gpu[64];	/* gpudev name, or "host"; empty: none */
	char json[256]; /* file for the report at the end; empty: none */
};

/*
 * argv[0] is skipped. 0, or -EINVAL with what was wrong and what to write instead in err. Prints
 * nothing. May be called again.
 */
int
crl_tp_options_parse(int argc, char *const *argv, struct crl_tp_options *o, struct crl_err *err);

/*
 * foreign.c: testpmd's word, an option without its dashes or a command, that is none here: what to
 * do instead. NULL: not testpmd's, as far as we know.
 */
const char *crl_tp_foreign_option(const char *word);
const char *crl_tp_foreign_command(const char *line);

/* The text of --help. */
extern const char crl_tp_usage[];

#endif /* CRL_TESTPMD_OPTIONS_H */
