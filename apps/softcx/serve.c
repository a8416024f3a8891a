/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `softcx serve`: its options, and what they make. The NIC is a PCI device for whoever connects,
 * such as QEMU's vfio-user-pci; SIGINT and SIGTERM end it, with the report.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "../../drivers/softcx/fault.h"
#include "../../drivers/softcx/front/conf.h"
#include "../../drivers/softcx/front_pci/serve.h"
#include "../../drivers/softcx/log.h"
#include "../../drivers/softcx/wire.h"
#include "softcx_run.h"

enum {
	OPT_SOCKET = 256,
	OPT_PROFILE,
	OPT_WIRE,
	OPT_PCAP_OUT,
	OPT_SEED,
	OPT_FAULTS,
	OPT_LOG,
	OPT_MAC,
	OPT_MTU
};
#define ERR_BYTES 256u

static const struct argp_option options[] = {
	{"socket", OPT_SOCKET, "PATH", 0, "the unix socket to serve at; must not exist yet", 0},
	{"profile", OPT_PROFILE, "P", 0, "capabilities of cx5, cx6dx (default), cx7 or bf3", 0},
	{"wire", OPT_WIRE, "W", 0,
		"where frames go: loopback (default), veth:NAME (a Linux netdev that is there), "
		"pcap:IN,OUT (capture files, either may be empty)",
		0},
	{"pcap-out", OPT_PCAP_OUT, "FILE", 0, "copy of all frames, both directions", 0},
	{"seed", OPT_SEED, "S", 0, "of all that is random in the model (default: random, printed)",
		0},
	{"faults", OPT_FAULTS, "SPEC", 0,
		"what the NIC does wrong or late on purpose (drivers/softcx/fault.h)", 0},
	{"mac", OPT_MAC, "MAC", 0, "of the port (default 02:5c:78:00:00:00)", 0},
	{"mtu", OPT_MTU, "BYTES", 0, "of the port at start (default 1500)", 0},
	{"log", OPT_LOG, "FILE", 0, "where the model writes (default: standard error)", 0},
	{0},
};

struct serve {
	struct scx_nic_cfg cfg;
	struct scx_fault_plan faults;
	const char *socket, *tap, *log;
	char *wire, *in, *out; /* argv's, cut at the comma */
};

static volatile int stop;

static void
on_signal(int sig)
{
	stop = 1;
}

static int
number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno != 0 || *text < '0' || *text > '9' || *end != '\0' || *value > max;
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct serve *s = state->input;
	static const uint8_t no_mac[6];
	char err[ERR_BYTES];
	uint64_t n;

	switch (key) {
	case OPT_SOCKET:
		s->socket = arg;
		return 0;
	case OPT_PROFILE:
		if (scx_identity(arg) == NULL)
			argp_error(state, "no profile '%s'", arg);
		s->cfg.profile = arg;
		return 0;
	case OPT_WIRE:
		s->wire = arg;
		return 0;
	case OPT_PCAP_OUT:
		s->tap = arg;
		return 0;
	case OPT_SEED:
		if (number(arg, UINT64_MAX, &s->cfg.seed))
			argp_error(state, "--seed wants a number, not '%s'", arg);
		return 0;
	case OPT_FAULTS:
		if (scx_fault_parse(arg, &s->faults, err, sizeof(err)) != 0)
			argp_error(state, "--faults: %s", err);
		s->cfg.faults = &s->faults;
		return 0;
	case OPT_MAC:
		if (scx_conf_mac(arg, s->cfg.mac) != 0 || (s->cfg.mac[0] & 1) ||
			memcmp(s->cfg.mac, no_mac, sizeof(no_mac)) == 0)
			argp_error(state,
				"--mac wants the six bytes of one station, such as "
				"02:5c:78:00:00:00, not '%s'",
				arg);
		return 0;
	case OPT_MTU:
		if (number(arg, SCX_MTU_MAX, &n) || n < SCX_MTU_MIN)
			argp_error(state, "--mtu wants %u to %u, not '%s'", SCX_MTU_MIN,
				SCX_MTU_MAX, arg);
		s->cfg.mtu = (uint32_t)n;
		return 0;
	case OPT_LOG:
		s->log = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "no argument '%s' is known", arg);
		return 0;
	case ARGP_KEY_END:
		if (s->socket == NULL || *s->socket == '\0')
			argp_error(state, "--socket is missing");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int
keep(const char *option, const char *from, char *to)
{
	if (from == NULL)
		return 0;
	if (strlen(from) < SCX_CONF_PATH) {
		strcpy(to, from);
		return 0;
	}
	run_say("%s: a name of %u characters at most", option, SCX_CONF_PATH - 1);
	return RUN_EXIT_USAGE;
}

/* The same look at the files as `softcx run` takes. */
static int
check_files(struct serve *s)
{
	static struct scx_conf c;
	struct scx_conf_port *p = &c.port[0];
	int rc;

	c.nr_ports = 1;
	if (s->wire != NULL && strncmp(s->wire, "pcap:", 5) == 0) {
		s->in = s->wire + 5;
		s->out = strchr(s->in, ',');
		if (s->out != NULL)
			*s->out++ = '\0';
		s->in = *s->in != '\0' ? s->in : NULL;
		s->out = s->out != NULL && *s->out != '\0' ? s->out : NULL;
		if (s->in == NULL && s->out == NULL) {
			run_say("--wire pcap:IN,OUT wants a file, or two");
			return RUN_EXIT_USAGE;
		}
	}
	rc = keep("--wire", s->in, p->in);
	if (rc == 0)
		rc = keep("--wire", s->out, p->out);
	if (rc == 0)
		rc = keep("--pcap-out", s->tap, p->tap);
	if (rc == 0)
		rc = keep("--log", s->log, c.log);
	return rc != 0 ? rc : run_check_files(&c);
}

static int
open_wire(struct serve *s, char *err)
{
	struct scx_wire *w = NULL, *tapped;
	int rc = 0;

	if (s->wire == NULL || strcmp(s->wire, "loopback") == 0) {
		if (s->tap != NULL)
			w = scx_wire_loopback();
	} else if (strncmp(s->wire, "veth:", 5) == 0) {
		rc = scx_wire_veth(s->wire + 5, &w, err, ERR_BYTES);
	} else if (strncmp(s->wire, "pcap:", 5) == 0) {
		rc = scx_wire_pcap(s->in, s->out, &w, err, ERR_BYTES);
	} else {
		snprintf(err, ERR_BYTES, "no wire '%s'", s->wire);
		return -EINVAL;
	}
	if (rc == 0 && s->tap != NULL) {
		rc = w != NULL ? scx_wire_tap(w, s->tap, &tapped, err, ERR_BYTES) : -ENOMEM;
		if (rc == 0)
			w = tapped;
		else if (w != NULL)
			w->ops->close(w);
	}
	if (rc == 0)
		s->cfg.wire = w;
	return rc;
}

/* Who has the name: another server, one that was killed, or something else. */
static void
say_taken(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct stat st;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode))
		run_say("%s: that is there already, and it is no socket: give another name", path);
	else if (sock >= 0 && connect(sock, (struct sockaddr *)&a, sizeof(a)) != 0 &&
		 errno == ECONNREFUSED)
		run_say("%s: a socket that nobody serves, left by a server that was killed: "
			"rm %s",
			path, path);
	else
		run_say("%s: another server has it: end that, or give another name", path);
	if (sock >= 0)
		close(sock);
}

int
cmd_serve(int argc, char **argv)
{
	static const struct argp argp = {options, parse, NULL,
		"softcx serve: a software ConnectX as a vfio-user PCI device.", NULL, NULL, NULL};
	struct serve s = {.cfg = {.profile = "cx6dx", .name = "mlx5_pci", .mtu = 1500}};
	const uint8_t mac[6] = {0x02, 0x5c, 0x78, 0, 0, 0};
	const struct sigaction act = {.sa_handler = on_signal};
	static char name[] = "softcx serve";
	char err[ERR_BYTES] = "";
	int rc;

	memcpy(s.cfg.mac, mac, sizeof(mac));
	if (getrandom(&s.cfg.seed, sizeof(s.cfg.seed), 0) != (ssize_t)sizeof(s.cfg.seed))
		s.cfg.seed = 1;
	argp_err_exit_status = RUN_EXIT_USAGE;
	argv[0] = name;
	argp_parse(&argp, argc, argv, 0, NULL, &s);
	rc = check_files(&s);
	if (rc != 0)
		return rc;
	if (s.log != NULL && (rc = scx_log_open(s.log)) != 0) {
		run_say("%s: %s", s.log, strerror(-rc));
		return RUN_EXIT_USAGE;
	}
	rc = open_wire(&s, err);
	if (rc != 0) {
		run_say("%s", *err ? err : strerror(-rc));
		return RUN_EXIT_USAGE;
	}
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	rc = scx_serve(&s.cfg, s.socket, &stop);
	if (rc == -EADDRINUSE)
		say_taken(s.socket);
	else if (rc != 0)
		run_say("%s: %s", s.socket, strerror(-rc));
	if (scx_log_lost())
		run_say("log or capture is not whole: see above");
	return rc == 0 && !scx_log_lost() ? 0 : 1;
}
