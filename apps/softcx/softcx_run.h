/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `softcx run`, in the order main.c calls them: options, the program's fitness, the
 * machine (namespaces, netdevs, sysfs tree), the program itself. One process, one thread. Each
 * function that fails has printed one line that names cause and fix, and returns the exit status
 * to end with.
 */
#ifndef SOFTCX_RUN_H
#define SOFTCX_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "drivers/softcx/front/conf.h"

#define RUN_EXIT_FAILED	   1
#define RUN_EXIT_USAGE	   64  /* EX_USAGE: what argp exits with as well */
#define RUN_EXIT_UNFIT	   126 /* as a shell: found, but cannot be run */
#define RUN_EXIT_NOT_FOUND 127

#define RUN_BDF_FMT  "0000:99:00.%u" /* PCI address of port i */
#define RUN_VFIO_BDF "0000:99:00.0"  /* the device of `softcx vfio` */
#define RUN_NIC_FMT  "scx%u"	     /* its netdev, inside */
#define RUN_PATH     512

struct run {
	struct scx_conf conf; /* what libsoftcx.so is told */
	unsigned nr_wires; /* --wire options: the i-th is port i's, a single one is everybody's */
	char wire_name[SCX_CONF_PORTS_MAX][16]; /* veth:NAME; empty: another wire */
	char **argv;				/* the program and its arguments */
	char program[RUN_PATH];			/* where it is */
	char library[RUN_PATH];			/* libsoftcx.so */
	char asan[RUN_PATH];  /* of a sanitizer's runtime that has to come first; empty: none */
	char sysfs[RUN_PATH]; /* root of the sysfs tree that rdma-core and DPDK are pointed to */
};

void run_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* options.c: 0, or exits through argp. argv starts at "run". */
int run_options(int argc, char **argv, struct run *run);
/* files.c: those that the configuration names; with none, nothing is wrong. */
int run_check_files(const struct scx_conf *conf);
/* program.c: what LD_PRELOAD does not reach is refused, by name. */
int run_find_program(struct run *run);
/* lib: the one to preload, of the front in that folder of drivers/softcx */
int run_find_library(struct run *run, const char *front, const char *lib);

/* machine.c */
int run_make_machine(struct run *run);
/* What SIGPIPE did before it was ours: the program gets it so. */
extern void (*run_sigpipe)(int sig);
bool run_device_was_opened(const struct run *run);
/* Lines of its log, or frames of a capture, were not written. */
bool run_output_was_lost(const struct run *run);

/* netdev.c: inside the new network namespace; caller_ns and caller_sock belong to the one outside.
 */
int run_make_netdevs(struct run *run, int caller_ns, int caller_sock);
/* At once, when nothing uses them any more. A failure is no matter: they go with the namespace. */
void run_remove_netdevs(const struct run *run);

/* sysfs.c: the tree, on the tmpfs at run->sysfs. */
int run_make_sysfs(const struct run *run);

/* child.c: runs it to its end; returns its exit status, 128 + signal if one ended it. */
int run_program(const struct run *run);

/* serve.c: `softcx serve`; the exit status. */
int cmd_serve(int argc, char **argv);

/* vfio.c: `softcx vfio`; does not return when all went well. */
int cmd_vfio(int argc, char **argv);

#endif /* SOFTCX_RUN_H */
