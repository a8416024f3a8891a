// SPDX-License-Identifier: BSD-3-Clause
/*
 * Testpmds under `softcx run`, started and counted by what softcx says in the end, and the lines of
 * `carillon-bench economy`. No GPU is needed.
 */
#include "programs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The log of softcx, as far as it is of interest: a few hundred bytes a port stand at its end. */
#define LOG_BYTES 16384

/*
 * Three numbers behind words, with other words between them, added up over all ports. False: not
 * one port has said so.
 */
static bool
scan(const char *text, const char *words, unsigned long long *a, unsigned long long *b,
	unsigned long long *c)
{
	unsigned long long x[3];
	bool found = false;

	*a = *b = *c = 0;
	for (text = strstr(text, words); text; text = strstr(text, words)) {
		text += strlen(words);
		memset(x, 0, sizeof(x));
		if (sscanf(text, "%llu%*[^0-9]%llu%*[^0-9]%llu", &x[0], &x[1], &x[2]) < 1)
			continue;
		*a += x[0];
		*b += x[1];
		*c += x[2];
		found = true;
	}
	return found;
}

static bool
read_log(const char *file, struct bn_counts *n)
{
	unsigned long long e, x, y;
	char text[LOG_BYTES];
	size_t got;
	FILE *f = fopen(file, "r");

	memset(n, 0, sizeof(*n));
	if (!f)
		return false;
	/* What counts stands at the end. */
	if (fseek(f, -(long)sizeof(text) + 1, SEEK_END) != 0)
		rewind(f);
	got = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[got] = '\0';
	if (!scan(text, ": sent ", &n->sent, &n->bytes, &n->received) ||
		!scan(text, "not received: no buffer ", &n->no_buffer, &n->no_rule, &n->no_match) ||
		!scan(text, "doorbells ", &n->doorbells, &n->wqes, &n->cqes) ||
		!scan(text, "error CQEs send ", &n->error_cqes, &e, &x) ||
		!scan(text, "PCIe, modelled: ", &n->read, &n->written, &n->tlps))
		return false;
	n->error_cqes += e;
	return scan(text, "not sent: too long ", &n->too_long, &x, &y);
}

/* The last line that a program wrote, where it says what was wrong; empty: none. */
static void
last_words(const char *file, char *words, size_t bytes)
{
	char line[400];
	FILE *f = fopen(file, "r");

	words[0] = '\0';
	while (f && fgets(line, sizeof(line), f))
		if (line[0] != '\n' && line[0] != ' ')
			snprintf(words, bytes, "%.*s", (int)bytes - 1, line);
	words[strcspn(words, "\n")] = '\0';
	if (f)
		fclose(f);
}

/* A signal that ends us: the program ends first, and no other is started. */
static volatile sig_atomic_t told, program;

static void
on_signal(int sig)
{
	told = sig;
	if (program > 0)
		kill((pid_t)program, SIGINT);
}

/* Never returns. The program goes when we do, however that happens. */
static void
become(const char *cmd, const char *dir, pid_t parent)
{
	const char *before = getenv("PATH");
	char *path = NULL;

	signal(SIGPIPE, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
		_exit(127);
	if (dir != NULL && (asprintf(&path, "%s:%s", dir, before ? before : "/usr/bin:/bin") < 0 ||
				   setenv("PATH", path, 1) != 0))
		_exit(127);
	execl("/bin/sh", "sh", "-c", cmd, NULL);
	_exit(127);
}

/* As system(), which is deaf to SIGINT while the program runs. */
static int
shell(const char *cmd, const char *dir)
{
	static const int sigs[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction act = {.sa_handler = on_signal}, was[3];
	pid_t parent = getpid(), pid;
	int status = -1;

	for (int i = 0; i < 3; i++)
		sigaction(sigs[i], &act, &was[i]);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 3; i++)
			sigaction(sigs[i], &was[i], NULL);
		become(cmd, dir, parent);
	}
	program = (sig_atomic_t)pid;
	if (pid > 0 && told != 0)
		kill(pid, SIGINT);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		; /* timeout(1), which is what waits, has a bound */
	program = 0;
	for (int i = 0; i < 3; i++)
		sigaction(sigs[i], &was[i], NULL);
	return status;
}

int
bn_temporary(const char *what, char path[BN_PATH])
{
	const char *dir = getenv("TMPDIR");
	int n = snprintf(path, BN_PATH, "%s/carillon-%s-XXXXXX", dir && *dir ? dir : "/tmp", what);

	if (n >= (int)BN_PATH || strchr(path, '\'')) { /* it stands in quotes in a shell's line */
		errno = ENAMETOOLONG;
		return -1;
	}
	return mkstemp(path);
}

bool
bn_program(const struct bn_run *run, const char *softcx_args, const char *line, int seconds,
	struct bn_counts *n, char *why, size_t bytes)
{
	char log[BN_PATH], out[BN_PATH + 4], words[300], *cmd = NULL;
	int fd = bn_temporary("bench", log), rc = -1;

	if (fd < 0) {
		snprintf(why, bytes, "mkstemp: %s", strerror(errno));
		return false;
	}
	close(fd);
	if (asprintf(&cmd,
		    "exec timeout -s INT -k 5 %d softcx run --log='%s' %s -- %s >'%s.out' 2>&1",
		    seconds, log, softcx_args, line, log) > 0)
		rc = told != 0 ? -1 : shell(cmd, run->opt->tools);
	free(cmd);
	snprintf(out, sizeof(out), "%s.out", log);
	last_words(out, words, sizeof(words));
	snprintf(
		why, bytes, "%s (status %d of: softcx run %s -- %s)", words, rc, softcx_args, line);
	if (told != 0) {
		snprintf(why, bytes, "ended by signal %d", (int)told);
		rc = -1;
	}
	if (rc == 0 && !read_log(log, n)) {
		snprintf(why, bytes, "softcx's log has not the figures");
		rc = -1;
	}
	unlink(log);
	unlink(out);
	return rc == 0;
}

void
bn_put(struct json_object *o, const char *key, double v)
{
	json_object_object_add(o, key, bn_number(v));
}

/* One program at one size. Returns TLPs a packet, 0 when it was not measured. */
static double
economy_line(struct bn_run *run, bool ours, unsigned size, double *bytes)
{
	char what[96], line[400], why[900];
	struct bn_setting s = {
		.what = what,
		.placement = "host memory",
		.trigger = "UAR in host memory",
		.nic_step = "softcx, a CPU thread",
		.fence = "system scope",
		.clock = "none: counts",
		.unit = "none",
	};
	struct bn_result r = {0};
	struct json_object *more;
	struct bn_counts n;
	double p;

	snprintf(what, sizeof(what), "economy: %s, io, %u bytes a packet",
		ours ? "carillon-testpmd" : "dpdk-testpmd over net_mlx5", size);
	if (!bn_wanted(run, what))
		return 0;
	/* Sizes count the FCS, which no buffer has. testpmd ends at the end of its input. */
	if (ours)
		snprintf(line, sizeof(line),
			"carillon-testpmd " BN_EAL " -- --forward-mode=io --tx-first"
			" --txpkts=%u --duration=%s",
			size - 4u, run->opt->quick ? "0.3" : "2");
	else
		snprintf(line, sizeof(line),
			"sh -c 'sleep %s | dpdk-testpmd " BN_EAL " -- --tx-first"
			" --forward-mode=io --total-num-mbufs=8192 --txpkts=%u'",
			run->opt->quick ? "2" : "4", size - 4u);
	if (!bn_program(run, "", line, 60, &n, why, sizeof(why)) || n.sent == 0) {
		bn_line_missing(run, &s, why);
		run->failed++;
		return 0;
	}
	p = (double)n.sent;
	r.done = n.sent;
	r.lost = n.sent - n.received > 4096u ? n.sent - n.received : 0; /* under way at the end */
	r.lost += n.no_buffer + n.error_cqes;
	more = json_object_new_object();
	*bytes = ((double)n.read + (double)n.written + 8.0 * (double)n.doorbells) / p;
	bn_put(more, "bytes_a_packet", *bytes);
	bn_put(more, "tlps_a_packet", (double)n.tlps / p);
	bn_put(more, "read_a_packet", (double)n.read / p);
	bn_put(more, "written_a_packet", (double)n.written / p);
	bn_put(more, "doorbells_a_packet", (double)n.doorbells / p);
	bn_put(more, "wqes_a_packet", (double)n.wqes / p);
	bn_put(more, "cqes_a_packet", (double)n.cqes / p);
	bn_line(run, &s, &r, 1, more);
	return (double)n.tlps / p;
}

void
bn_economy(struct bn_run *run)
{
	static const unsigned size[] = {64, 256, 1500};
	double tlps[2], bytes[2] = {0};

	for (uint32_t i = 0; i < (run->opt->quick ? 1 : 3); i++) {
		for (int theirs = 0; theirs < 2; theirs++)
			tlps[theirs] = economy_line(run, !theirs, size[i], &bytes[theirs]);
		if (tlps[0] > 0 && tlps[1] > 0)
			bn_note(run, "economy, %u bytes, ours over net_mlx5: bytes %.2f, TLPs %.2f",
				size[i], bytes[0] / bytes[1], tlps[0] / tlps[1]);
	}
}
