// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lines of `carillon-bench economy` and `loopback`: testpmds under `softcx run`, started and
 * counted by what softcx says in the end. No GPU is needed; with one, `loopback` takes the engine
 * and the NIC step there.
 */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EAL "-l 0,1 --no-huge -m 256 --no-shconf --no-telemetry"

/* What softcx counted over one run of a program. */
struct counts {
	unsigned long long sent, bytes, received, received_bytes, on_wire;
	unsigned long long doorbells, wqes, cqes, no_buffer, error_cqes, read, written, tlps;
};

static bool
scan(const char *text, const char *format, unsigned long long *a, unsigned long long *b,
	unsigned long long *c)
{
	const char *at = strstr(text, format);
	int n = (int)strlen(format);

	/* The words up to the first number stand in format; numbers follow as the log has them. */
	if (!at)
		return false;
	n = sscanf(at + n, "%llu%*[^0-9]%llu%*[^0-9]%llu", a, b, c);
	return n >= 1;
}

/* The log of softcx, as far as it is of interest. */
static bool
read_log(const char *file, struct counts *n)
{
	unsigned long long e, x;
	char text[16384];
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
	return scan(text, "sent ", &n->sent, &n->bytes, &n->received) &&
	       scan(text, "not received: no buffer ", &n->no_buffer, &x, &x) &&
	       scan(text, "doorbells ", &n->doorbells, &n->wqes, &n->cqes) &&
	       scan(text, "error CQEs send ", &n->error_cqes, &e, &x) &&
	       scan(text, "PCIe, modelled: ", &n->read, &n->written, &n->tlps);
}

/*
 * Runs a shell line with softcx's log in a file of its own. False: it failed, and why has its last
 * words. seconds: after so long it is ended.
 */
static bool
run_program(const struct bn_run *run, const char *softcx_args, const char *line, int seconds,
	struct counts *n, char *why, size_t bytes)
{
	const char *dir = run->opt->tools;
	char log[] = "/tmp/carillon-bench-XXXXXX", *cmd = NULL;
	int fd = mkstemp(log), rc = -1;

	if (fd < 0) {
		snprintf(why, bytes, "mkstemp: %s", strerror(errno));
		return false;
	}
	close(fd);
	if (asprintf(&cmd,
		    "PATH=%s%s\"$PATH\"; timeout -s INT -k 5 %d softcx run --log=%s %s -- %s "
		    ">%s.out 2>&1",
		    dir ? dir : "", dir ? ":" : "", seconds, log, softcx_args, line, log) > 0)
		rc = system(cmd);
	free(cmd);
	snprintf(why, bytes, "status %d of: softcx run %s -- %s", rc, softcx_args, line);
	if (rc == 0 && !read_log(log, n)) {
		snprintf(why, bytes, "softcx's log has not the figures");
		rc = -1;
	}
	unlink(log);
	if (asprintf(&cmd, "%s.out", log) > 0)
		unlink(cmd);
	free(cmd);
	return rc == 0;
}

static void
put(struct json_object *o, const char *key, double v)
{
	json_object_object_add(o, key, bn_number(v));
}

/* One program at one size. Returns TLPs a packet, 0 when it was not measured. */
static double
economy_line(struct bn_run *run, bool ours, unsigned size, double *bytes)
{
	char what[96], line[400], why[300];
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
	struct counts n;
	double p;

	snprintf(what, sizeof(what), "economy: %s, io, %u bytes a packet",
		ours ? "carillon-testpmd" : "dpdk-testpmd over net_mlx5", size);
	if (!bn_wanted(run, what))
		return 0;
	/* Sizes count the FCS, which no buffer has. testpmd ends at the end of its input. */
	if (ours)
		snprintf(line, sizeof(line),
			"carillon-testpmd " EAL " -- --forward-mode=io --tx-first"
			" --txpkts=%u --duration=%s",
			size - 4u, run->opt->quick ? "0.3" : "2");
	else
		snprintf(line, sizeof(line),
			"sh -c 'sleep %s | dpdk-testpmd " EAL " -- --tx-first"
			" --forward-mode=io --total-num-mbufs=8192 --txpkts=%u'",
			run->opt->quick ? "2" : "4", size - 4u);
	if (!run_program(run, "", line, 60, &n, why, sizeof(why)) || n.sent == 0) {
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
	put(more, "bytes_a_packet", *bytes);
	put(more, "tlps_a_packet", (double)n.tlps / p);
	put(more, "read_a_packet", (double)n.read / p);
	put(more, "written_a_packet", (double)n.written / p);
	put(more, "doorbells_a_packet", (double)n.doorbells / p);
	put(more, "wqes_a_packet", (double)n.wqes / p);
	put(more, "cqes_a_packet", (double)n.cqes / p);
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

/* ---- loopback ---- */

static void
loopback_line(struct bn_run *run, unsigned size, unsigned queues)
{
	bool gpu = !run->opt->host;
	double seconds = run->opt->quick ? 0.5 : 3;
	char what[96], line[500], scx[64], why[300];
	struct bn_setting s = {
		.what = what,
		.placement = gpu ? "GPU memory" : "host memory",
		.trigger = gpu ? "UAR in GPU memory" : "UAR in host memory",
		.nic_step = gpu ? "softcx, a kernel on the same GPU" : "softcx, a CPU thread",
		.fence = "system scope",
		.clock = "duration of the engine",
		.unit = "none",
	};
	struct bn_result r = {0};
	struct json_object *more;
	struct counts n;

	snprintf(what, sizeof(what), "loopback: io, %u bytes, %u queues", size, queues);
	if (!bn_wanted(run, what))
		return;
	snprintf(scx, sizeof(scx), gpu ? "--nic-step=gpu:%d" : "", run->opt->device);
	snprintf(line, sizeof(line),
		"carillon-testpmd " EAL "%s -- %s --forward-mode=io --tx-first"
		" --rxq=%u --txq=%u --rxd=256 --txd=256 --mbuf-size=%u --txpkts=%u --duration=%g",
		gpu ? " --vdev=gpu_crl_cuda0" : "", gpu ? "--gpu=gpu_crl_cuda0" : "", queues,
		queues, (size + 191u) / 64u * 64u, size - 4u, seconds);
	if (!run_program(run, scx, line, 60, &n, why, sizeof(why)) || n.sent == 0) {
		bn_line_missing(run, &s, why);
		run->failed++;
		return;
	}
	r.done = n.sent;
	r.lost = n.no_buffer + n.error_cqes;
	more = json_object_new_object();
	put(more, "mpps", (double)n.sent / seconds / 1e6);
	put(more, "gbit_s", (double)n.bytes * 8 / seconds / 1e9);
	bn_line(run, &s, &r, 1, more);
}

void
bn_loopback(struct bn_run *run)
{
	static const unsigned size[] = {64, 256, 1500, 9000},
			      queues[] = {1, 2, 4, 16, 64, 256, 1024};

	for (uint32_t i = 0; i < (run->opt->quick ? 1 : 4); i++)
		loopback_line(run, size[i], 1);
	for (uint32_t i = 1; i < (run->opt->quick ? 2 : 7); i++)
		loopback_line(run, 64, queues[i]);
}
