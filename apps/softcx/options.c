/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of `softcx run`: see run_options() in softcx_run.h. Parsed by glibc's argp, in order,
 * so that the program's own options are left alone.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "drivers/softcx/fault.h"
#include "softcx_run.h"

enum {
	OPT_PORTS = 256,
	OPT_PROFILE,
	OPT_STEP,
	OPT_HOST_DOORBELLS,
	OPT_WIRE,
	OPT_PCAP_OUT,
	OPT_SEED,
	OPT_FAULTS,
	OPT_LOG,
	OPT_LOG_DUMP
};

static const struct argp_option options[] = {
	{"ports", OPT_PORTS, "N", 0, "ports, each a device of its own (1 to 8, default 1)", 0},
	{"profile", OPT_PROFILE, "P", 0, "capabilities of cx5, cx6dx (default), cx7 or bf3", 0},
	{"wire", OPT_WIRE, "W", 0,
		"where frames go, once for all ports or once a port: loopback (default: back to "
		"the port "
		"that sent them); cable (port 0 to port 1, 2 to 3); veth:NAME (a Linux netdev "
		"outside: "
		"bound if it is there, made if not; once for several ports: NAME0, NAME1, ...); "
		"pcap:IN,OUT (from one capture file and to another, either may be empty)",
		0},
	{"pcap-out", OPT_PCAP_OUT, "FILE", 0,
		"copy of all frames, both directions (several ports: FILE.0, FILE.1, ...)", 0},
	{"seed", OPT_SEED, "S", 0, "of all that is random in the model (default: random, printed)",
		0},
	{"faults", OPT_FAULTS, "SPEC", 0,
		"what the NIC does wrong, or as early as it may: send-error=N, recv-error=N (the "
		"Nth completes in error), dma-delay=N (writes arrive up to N steps later, in any "
		"order that PCI Express allows), overwrite (what was given back), records (read "
		"between doorbells); with commas between",
		0},
	{"nic-step", OPT_STEP, "WHO", 0,
		"who steps the data path: cpu, a thread of the program (default); gpu or gpu:N, a "
		"kernel on that GPU, which reaches rings in its memory; copy or copy:N, a thread "
		"of the program that reaches them through that GPU's copy engine; for tests: "
		"remote, a thread behind the GPU's protocol, and copy-test, one behind a copy "
		"engine's stand-in",
		0},
	{"host-doorbells", OPT_HOST_DOORBELLS, NULL, 0,
		"with --nic-step gpu: engines on that GPU ring in host memory, not in its own", 0},
	{"log", OPT_LOG, "FILE", 0,
		"where the model writes what it has to say, behind what the file has (default: "
		"standard error)",
		0},
	{"log-dump", OPT_LOG_DUMP, "N", 0,
		"and there: each umem, the umems of each queue, and the first N WQEs and CQEs of "
		"each ring, read where they lie",
		0},
	{0},
};

/* A path that still means the same after a chdir. */
static int
absolute(const char *path, char *out, size_t bytes)
{
	char cwd[RUN_PATH] = "";
	int n;

	if (*path != '/' && !getcwd(cwd, sizeof(cwd)))
		return -1;
	n = snprintf(out, bytes, "%s%s%s", cwd, *path == '/' ? "" : "/", path);
	return n < 0 || (size_t)n >= bytes || strchr(out, '\n') ? -1 : 0;
}

static int
parse_veth(const char *name, char *out, char *err, size_t err_bytes)
{
	/*
	 * Room for the port's number, and what Linux forbids in a name, takes for a pattern or has
	 * in /proc/sys/net beside the netdevs.
	 */
	if (!*name || strlen(name) > 14 || strpbrk(name, "/:% \t\n\v\f\r") || !strcmp(name, ".") ||
		!strcmp(name, "..") || !strcmp(name, "all") || !strcmp(name, "default")) {
		snprintf(err, err_bytes,
			"veth:NAME wants the name of a netdev, 1 to 14 characters, not '%s'", name);
		return -1;
	}
	strcpy(out, name);
	return 0;
}

static int
parse_pcap(const char *files, struct scx_conf_port *p, char *err, size_t err_bytes)
{
	const char *comma = strrchr(files, ',');
	char in[SCX_CONF_PATH];

	if (!comma || (comma == files && !comma[1]) || (size_t)(comma - files) >= sizeof(in)) {
		snprintf(err, err_bytes,
			"pcap:IN,OUT wants two files with a comma between (either may be empty), "
			"not '%s'",
			files);
		return -1;
	}
	memcpy(in, files, comma - files);
	in[comma - files] = 0;
	if ((*in && absolute(in, p->in, sizeof(p->in))) ||
		(comma[1] && absolute(comma + 1, p->out, sizeof(p->out)))) {
		snprintf(err, err_bytes, "the file names in '%s' are too long", files);
		return -1;
	}
	if (*in && access(p->in, R_OK)) {
		snprintf(err, err_bytes, "capture file %s: %s", in, strerror(errno));
		return -1;
	}
	return 0;
}

static int
parse_wire(const char *text, struct run *run, char *err, size_t err_bytes)
{
	struct scx_conf_port *p = &run->conf.port[run->nr_wires];

	if (run->nr_wires == SCX_CONF_PORTS_MAX) {
		snprintf(err, err_bytes, "more than %u of them", SCX_CONF_PORTS_MAX);
		return -1;
	}
	run->nr_wires++;
	if (!strcmp(text, "loopback")) {
		p->wire = SCX_CONF_LOOPBACK;
		return 0;
	}
	if (!strcmp(text, "cable")) {
		p->wire = SCX_CONF_CABLE;
		return 0;
	}
	if (!strncmp(text, "veth:", 5)) {
		p->wire = SCX_CONF_VETH;
		return parse_veth(text + 5, run->wire_name[run->nr_wires - 1], err, err_bytes);
	}
	if (!strncmp(text, "pcap:", 5)) {
		p->wire = SCX_CONF_PCAP;
		return parse_pcap(text + 5, p, err, err_bytes);
	}
	snprintf(err, err_bytes, "no wire '%s': loopback, cable, veth:NAME or pcap:IN,OUT", text);
	return -1;
}

static void
number(struct argp_state *state, const char *what, const char *text, uint64_t min, uint64_t max,
	uint64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoull(text, &end, 0);
	if (errno || *text < '0' || *text > '9' || *end || *v < min || *v > max)
		argp_failure(state, RUN_EXIT_USAGE, 0,
			"--%s wants a number from %llu to %llu, not '%s'", what,
			(unsigned long long)min, (unsigned long long)max, text);
}

static void
path_option(struct argp_state *state, const char *what, const char *text, char *out)
{
	if (!*text || strlen(text) >= SCX_CONF_PATH || strchr(text, '\n') ||
		absolute(text, out, SCX_CONF_PATH))
		argp_failure(state, RUN_EXIT_USAGE, 0, "--%s wants 1 to %u characters on one line",
			what, SCX_CONF_PATH - 1);
}

static void
parse_step(struct argp_state *state, const char *text, struct scx_conf *c)
{
	char who[16];
	uint64_t v;

	snprintf(who, sizeof(who), "%.*s", (int)strcspn(text, ":"), text);
	if (scx_conf_step(who, &c->step) || (strchr(text, ':') && c->step != SCX_CONF_STEP_GPU &&
						    c->step != SCX_CONF_STEP_COPY)) {
		argp_failure(state, RUN_EXIT_USAGE, 0,
			"--nic-step wants cpu, gpu, gpu:N, copy, copy:N, remote or copy-test, not "
			"'%s'",
			text);
		return;
	}
	if (strchr(text, ':')) {
		number(state, "nic-step", strchr(text, ':') + 1, 0, SCX_CONF_GPU_MAX, &v);
		c->gpu = v;
	}
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct run *run = state->input;
	char err[RUN_PATH] = "too long";
	struct scx_fault_plan plan;
	uint64_t v;

	switch (key) {
	case OPT_PORTS:
		number(state, "ports", arg, 1, SCX_CONF_PORTS_MAX, &v);
		run->conf.nr_ports = v;
		return 0;
	case OPT_PROFILE:
		if (!scx_identity(arg))
			argp_failure(state, RUN_EXIT_USAGE, 0,
				"no profile '%s': cx5, cx6dx, cx7 or bf3", arg);
		snprintf(run->conf.profile, sizeof(run->conf.profile), "%s", arg);
		return 0;
	case OPT_WIRE:
		if (parse_wire(arg, run, err, sizeof(err)))
			argp_failure(state, RUN_EXIT_USAGE, 0, "--wire: %s", err);
		return 0;
	case OPT_PCAP_OUT:
		path_option(state, "pcap-out", arg, run->conf.port[0].tap);
		return 0;
	case OPT_SEED:
		number(state, "seed", arg, 0, UINT64_MAX, &run->conf.seed);
		return 0;
	case OPT_FAULTS:
		if (scx_fault_parse(arg, &plan, err, sizeof(err)) ||
			strlen(arg) >= sizeof(run->conf.faults))
			argp_failure(state, RUN_EXIT_USAGE, 0, "--faults: %s", err);
		if (plan.nr_pages != 0 || plan.health.at != 0 || plan.link_flap != 0)
			argp_failure(state, RUN_EXIT_USAGE, 0,
				"--faults: pages, health and link-flap are of a PCI device's "
				"firmware: softcx serve, softcx vfio");
		snprintf(run->conf.faults, sizeof(run->conf.faults), "%s", arg);
		return 0;
	case OPT_STEP:
		parse_step(state, arg, &run->conf);
		return 0;
	case OPT_HOST_DOORBELLS:
		run->conf.host_doorbells = 1;
		return 0;
	case OPT_LOG:
		path_option(state, "log", arg, run->conf.log);
		return 0;
	case OPT_LOG_DUMP:
		number(state, "log-dump", arg, 0, SCX_CONF_DUMP_MAX, &v);
		run->conf.log_dump = v;
		return 0;
	case ARGP_KEY_ARGS:
		run->argv = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_failure(state, RUN_EXIT_USAGE, 0,
			"no program; usage: softcx run [OPTION...] -- PROGRAM [ARGUMENT...]");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "-- PROGRAM [ARGUMENT...]",
	.doc = "Runs PROGRAM with a software ConnectX under it: devices mlx5_0, mlx5_1, ... at PCI "
	       "addresses "
	       "0000:99:00.0, 0000:99:00.1, ..., in network and mount namespaces of the program's "
	       "own.",
};

/* One --wire is for all ports: a netdev's name gets the port's number then. */
static int
share_wire(struct run *run)
{
	struct scx_conf *c = &run->conf;
	char name[sizeof(run->wire_name[0])];

	if (run->nr_wires > 1 && run->nr_wires != c->nr_ports) {
		run_say("%u times --wire for %u ports: give it once for all, or once a port",
			run->nr_wires, c->nr_ports);
		return RUN_EXIT_USAGE;
	}
	if (run->nr_wires > 1 || c->nr_ports == 1)
		return 0;
	if (c->port[0].wire == SCX_CONF_PCAP) {
		run_say("--wire pcap:IN,OUT is for one port, not %u: give --wire once a port",
			c->nr_ports);
		return RUN_EXIT_USAGE;
	}
	strcpy(name, run->wire_name[0]);
	for (unsigned i = 0; i < c->nr_ports; i++) {
		c->port[i].wire = c->port[0].wire;
		if (name[0]) /* at most 14 characters and one digit */
			snprintf(run->wire_name[i], sizeof(run->wire_name[i]), "%.14s%u", name,
				i % 10);
	}
	return 0;
}

/* What only the whole command line shows. */
static int
finish(struct run *run)
{
	struct scx_conf *c = &run->conf;
	char tap[SCX_CONF_PATH - 2];
	int rc = share_wire(run);

	if (rc)
		return rc;
	if (c->faults[0] && c->step != SCX_CONF_STEP_CPU) {
		run_say("--faults goes with --nic-step cpu only");
		return RUN_EXIT_USAGE;
	}
	if (c->host_doorbells && c->step != SCX_CONF_STEP_GPU) {
		run_say("--host-doorbells goes with --nic-step gpu only");
		return RUN_EXIT_USAGE;
	}
	for (unsigned i = 0; i < c->nr_ports; i += 2)
		if ((c->port[i].wire == SCX_CONF_CABLE) !=
			(i + 1 < c->nr_ports && c->port[i + 1].wire == SCX_CONF_CABLE)) {
			run_say("--wire cable joins ports in pairs, 0 to 1, 2 to 3: --ports must "
				"be even, and both ends cable");
			return RUN_EXIT_USAGE;
		}
	if (!c->port[0].tap[0] || c->nr_ports == 1)
		return run_check_files(c);
	if (strlen(c->port[0].tap) >= sizeof(tap)) {
		run_say("--pcap-out: the file name is too long");
		return RUN_EXIT_USAGE;
	}
	strcpy(tap, c->port[0].tap);
	for (unsigned i = 0; i < c->nr_ports; i++)
		snprintf(c->port[i].tap, sizeof(c->port[i].tap), "%s.%u", tap, i);
	return run_check_files(c);
}

int
run_options(int argc, char **argv, struct run *run)
{
	static char name[] = "softcx run";

	strcpy(run->conf.profile, "cx6dx");
	run->conf.nr_ports = 1;
	if (getrandom(&run->conf.seed, 4, 0) != 4) /* 32 bits are easier to type again */
		run->conf.seed = (uint64_t)getpid();
	for (unsigned i = 0; i < SCX_CONF_PORTS_MAX; i++) {
		static const uint8_t mac[6] = {0x02, 0x5c, 0x78, 0, 0, 0};

		memcpy(run->conf.port[i].mac, mac, sizeof(mac));
		run->conf.port[i].mac[5] = i;
		run->conf.port[i].mtu = 1500;
	}
	argv[0] = name;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, run))
		return RUN_EXIT_USAGE;
	return finish(run);
}
