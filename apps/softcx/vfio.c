/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `softcx vfio`: its options, and the program with them. The program finds a PCI device in sysfs
 * and its group in /dev/vfio; libsoftcx_vfio.so plays both, and the NIC, in the program's own
 * process. No namespaces and no privileges are needed.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "drivers/softcx/fault.h"
#include "drivers/softcx/wire.h"
#include "softcx_run.h"

enum { OPT_PROFILE = 256, OPT_WIRE, OPT_PCAP_OUT, OPT_SEED, OPT_FAULTS, OPT_LOG };
#define ERR_BYTES 256u

static const struct argp_option options[] = {
	{"profile", OPT_PROFILE, "P", 0, "capabilities of cx5, cx6dx (default), cx7 or bf3", 0},
	{"wire", OPT_WIRE, "W", 0,
		"where frames go: loopback (default), veth:NAME (a Linux netdev that is there), "
		"pcap:IN,OUT (capture files, either may be empty)",
		0},
	{"pcap-out", OPT_PCAP_OUT, "FILE", 0, "copy of all frames, both directions", 0},
	{"seed", OPT_SEED, "S", 0, "of all that is random in the model (default: random, printed)",
		0},
	{"faults", OPT_FAULTS, "SPEC", 0, "what the NIC does wrong (drivers/softcx/fault.h)", 0},
	{"log", OPT_LOG, "FILE", 0, "where the model writes (default: standard error)", 0},
	{0},
};

static void
keep(struct argp_state *state, const char *option, const char *text, char *to, size_t bytes)
{
	if (strlen(text) >= bytes)
		argp_error(state, "--%s: '%s' is longer than %zu bytes", option, text, bytes - 1);
	else
		strcpy(to, text);
}

static void
parse_wire(struct argp_state *state, char *arg, struct scx_conf_port *p)
{
	char *out;

	if (strncmp(arg, "veth:", 5) == 0) {
		p->wire = SCX_CONF_VETH;
		keep(state, "wire", arg + 5, p->netdev, sizeof(p->netdev));
	} else if (strncmp(arg, "pcap:", 5) == 0) {
		p->wire = SCX_CONF_PCAP;
		out = strchr(arg + 5, ',');
		if (out != NULL)
			*out++ = '\0';
		keep(state, "wire", arg + 5, p->in, sizeof(p->in));
		if (out != NULL)
			keep(state, "wire", out, p->out, sizeof(p->out));
		if (p->in[0] == '\0' && p->out[0] == '\0')
			argp_error(state, "--wire pcap:IN,OUT wants a file, or two");
	} else if (strcmp(arg, "loopback") != 0) {
		argp_error(state, "no wire '%s'", arg);
	}
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct run *run = state->input;
	struct scx_conf_port *p = &run->conf.port[0];
	struct scx_fault_plan plan;
	char err[ERR_BYTES], *end;

	switch (key) {
	case OPT_PROFILE:
		if (scx_identity(arg) == NULL)
			argp_error(state, "no profile '%s'", arg);
		keep(state, "profile", arg, run->conf.profile, sizeof(run->conf.profile));
		return 0;
	case OPT_WIRE:
		parse_wire(state, arg, p);
		return 0;
	case OPT_PCAP_OUT:
		keep(state, "pcap-out", arg, p->tap, sizeof(p->tap));
		return 0;
	case OPT_SEED:
		errno = 0;
		run->conf.seed = strtoull(arg, &end, 10);
		if (errno != 0 || *arg < '0' || *arg > '9' || *end != '\0')
			argp_error(state, "--seed wants a number, not '%s'", arg);
		return 0;
	case OPT_FAULTS:
		if (scx_fault_parse(arg, &plan, err, sizeof(err)) != 0)
			argp_error(state, "--faults: %s", err);
		keep(state, "faults", arg, run->conf.faults, sizeof(run->conf.faults));
		return 0;
	case OPT_LOG:
		keep(state, "log", arg, run->conf.log, sizeof(run->conf.log));
		return 0;
	case ARGP_KEY_ARGS:
		run->argv = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no program");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int
become(const struct run *run)
{
	static char text[SCX_CONF_BYTES], preload[4 * RUN_PATH];
	const char *before = getenv("LD_PRELOAD");
	int n;

	if (scx_conf_format(&run->conf, text, sizeof(text)) != 0) {
		run_say("a file name with a newline in it");
		return RUN_EXIT_USAGE;
	}
	n = snprintf(preload, sizeof(preload), "%s%s%s%s%s", run->asan, run->asan[0] ? ":" : "",
		run->library, before && *before ? ":" : "", before ? before : "");
	if (n >= (int)sizeof(preload)) {
		run_say("LD_PRELOAD: %zu bytes are more than there is room for; shorten it",
			strlen(before));
		return RUN_EXIT_USAGE;
	}
	if (setenv(SCX_CONF_ENV, text, 1) != 0 || setenv("LD_PRELOAD", preload, 1) != 0) {
		run_say("environment: %s", strerror(errno));
		return RUN_EXIT_FAILED;
	}
	signal(SIGPIPE, run_sigpipe);
	execv(run->program, run->argv);
	run_say("%s: %s", run->program, strerror(errno));
	return errno == ENOENT ? RUN_EXIT_NOT_FOUND : RUN_EXIT_UNFIT;
}

int
cmd_vfio(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "-- PROGRAM [ARGUMENT...]",
		"softcx vfio: PROGRAM, with a software ConnectX at " RUN_VFIO_BDF " in /dev/vfio.",
		NULL, NULL, NULL};
	static struct run run = {.conf = {.profile = "cx6dx",
					 .nr_ports = 1,
					 .port = {{.mac = {0x02, 0x5c, 0x78}, .mtu = 1500}}}};
	static char name[] = "softcx vfio";
	int rc;

	if (getrandom(&run.conf.seed, sizeof(run.conf.seed), 0) != (ssize_t)sizeof(run.conf.seed))
		run.conf.seed = 1;
	argp_err_exit_status = RUN_EXIT_USAGE;
	argv[0] = name;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run);
	rc = run_check_files(&run.conf);
	if (rc == 0)
		rc = run_find_program(&run);
	if (rc == 0)
		rc = run_find_library(&run, "front_vfio", "libsoftcx_vfio.so");
	return rc != 0 ? rc : become(&run);
}
