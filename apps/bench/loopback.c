// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lines of `carillon-bench loopback`: carillon-testpmd under `softcx run`, its frames going
 * round a loopback wire. With a GPU, engine and NIC step are there; on the host, in CPU threads.
 *
 * Each queue's frames are a flow of its own, which a rule leads back to it: under one rule over all
 * queues the first bursts are one flow and meet in one ring. A port has CRL_PORT_QUEUES_MAX queues,
 * so that 1024 are two ports with a wire each. io: a burst goes round on each queue. stamp: as many
 * frames as a quarter of the ring, a megabyte of them at most, each checked every time it comes by.
 */
#include "programs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/limits.h"

#define SECONDS_MAX  90		    /* a program of a thousand queues needs some seconds to start */
#define FLIGHT_BYTES (1u << 20)	    /* under way a queue: who stops waits until all have arrived */
#define FRAMES_MAX   262144u	    /* in the receive rings of one line, */
#define HOST_BYTES   (768ull << 20) /* and bytes of all of them, where memory is the host's */

/* One line. */
struct loop {
	const char *mode;
	unsigned size, queues; /* bytes with FCS; queues of all ports */
	unsigned ports, depth, in_flight;
	double seconds;
};

/* What the program itself reported. */
struct report {
	double seconds, stop_ms;
	struct json_object *stop; /* its parts, ours to give away; NULL: none */
	uint64_t packets, torn, missed;
};

static uint64_t
get_u64(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? (uint64_t)json_object_get_int64(v) : 0;
}

static double
get_double(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_double(v) : 0;
}

/* Adds up the queues of all ports. False: there is no such report. */
static bool
read_report(const char *file, struct report *r)
{
	struct json_object *root = json_object_from_file(file), *ports, *queues, *q;

	memset(r, 0, sizeof(*r));
	if (!root || !json_object_object_get_ex(root, "ports", &ports)) {
		json_object_put(root);
		return false;
	}
	r->seconds = get_double(root, "seconds");
	r->stop_ms = get_double(root, "stop_ms");
	if (json_object_object_get_ex(root, "stop", &r->stop))
		json_object_get(r->stop);
	for (size_t i = 0; i < json_object_array_length(ports); i++) {
		if (!json_object_object_get_ex(
			    json_object_array_get_idx(ports, i), "queues", &queues))
			continue;
		for (size_t k = 0; k < json_object_array_length(queues); k++) {
			q = json_object_array_get_idx(queues, k);
			r->packets += get_u64(q, "rx_packets");
			r->torn += get_u64(q, "torn");
			r->missed += get_u64(q, "out_of_place");
		}
	}
	json_object_put(root);
	return r->seconds > 0;
}

/*
 * Ports and rings for so many queues: as deep as is good for the rate, as far as memory goes.
 * False: no number of ports has equal shares of them.
 */
static bool
plan(const struct bn_run *run, struct loop *l)
{
	uint64_t slot = (l->size + 191u) / 64u * 64u;

	l->ports = (l->queues + CRL_PORT_QUEUES_MAX - 1u) / CRL_PORT_QUEUES_MAX;
	while (l->queues % l->ports != 0)
		l->ports++;
	l->depth = 2048;
	while (l->depth > 64 &&
		(l->depth * l->queues > FRAMES_MAX ||
			(run->opt->host && l->depth * slot * l->queues > HOST_BYTES)))
		l->depth /= 2;
	l->in_flight = strcmp(l->mode, "io") == 0 ? 32 : l->depth / 4;
	if (l->in_flight > FLIGHT_BYTES / l->size)
		l->in_flight = FLIGHT_BYTES / l->size;
	return l->ports <= CRL_TP_PORTS_MAX;
}

static bool
run_line(const struct bn_run *run, const struct loop *l, struct bn_counts *n, struct report *rep,
	char *why, size_t bytes)
{
	bool gpu = !run->opt->host, io = strcmp(l->mode, "io") == 0;
	char json[BN_PATH], line[700 + BN_PATH], scx[64], how[64], mtu[32] = "";
	int fd = bn_temporary("loopback", json);
	bool ok;

	if (fd < 0) {
		snprintf(why, bytes, "no file can be made in TMPDIR: %s", strerror(errno));
		return false;
	}
	close(fd);
	snprintf(scx, sizeof(scx), "--ports=%u", l->ports);
	if (gpu)
		snprintf(scx, sizeof(scx), "--ports=%u --nic-step=gpu:%d", l->ports,
			run->opt->device);
	snprintf(how, sizeof(how), io ? "--tx-first --queue-flows" : "--in-flight=%u --burst=60",
		l->in_flight);
	if (l->size > 1518)
		snprintf(mtu, sizeof(mtu), " --mtu=%u", l->size - 18u);
	snprintf(line, sizeof(line),
		"carillon-testpmd " BN_EAL "%s -- %s --forward-mode=%s %s"
		" --rxq=%u --txq=%u --rxd=%u --txd=%u --mbuf-size=%u --txpkts=%u%s --duration=%g"
		" --json='%s'",
		gpu ? " --vdev=gpu_crl_cuda0" : "", gpu ? "--gpu=gpu_crl_cuda0" : "", l->mode, how,
		l->queues / l->ports, l->queues / l->ports, l->depth, l->depth,
		(l->size + 191u) / 64u * 64u, l->size - 4u, mtu, l->seconds, json);
	ok = bn_program(run, scx, line, SECONDS_MAX, n, why, bytes);
	if (ok && !read_report(json, rep)) {
		snprintf(why, bytes, "carillon-testpmd left no report");
		ok = false;
	}
	unlink(json);
	return ok;
}

static void
loopback_line(struct bn_run *run, const char *mode, unsigned size, unsigned queues)
{
	bool gpu = !run->opt->host;
	struct loop l = {.mode = mode, .size = size, .queues = queues};
	char what[96], why[900];
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
	struct bn_counts n;
	struct report rep;

	snprintf(what, sizeof(what), "loopback: %s, %u bytes, %u queues", mode, size, queues);
	if (!bn_wanted(run, what))
		return;
	l.seconds = run->opt->seconds > 0 ? run->opt->seconds : run->opt->quick ? 0.2 : 2;
	snprintf(why, sizeof(why), "no number of ports, 1 to %u, has equal shares of them",
		CRL_TP_PORTS_MAX);
	memset(&rep, 0, sizeof(rep));
	if (plan(run, &l) && run_line(run, &l, &n, &rep, why, sizeof(why)))
		snprintf(why, sizeof(why), "nothing came round within %g s", l.seconds);
	if (rep.packets == 0) {
		json_object_put(rep.stop);
		bn_line_missing(run, &s, why);
		run->failed++;
		return;
	}
	r.done = rep.packets;
	r.lost = n.no_buffer + n.no_rule + n.no_match + n.too_long + n.error_cqes + rep.missed;
	r.torn = rep.torn;
	more = json_object_new_object();
	bn_put(more, "mpps", (double)rep.packets / rep.seconds / 1e6);
	bn_put(more, "gbit_s", (double)rep.packets * (size - 4u) * 8 / rep.seconds / 1e9);
	bn_put(more, "bytes", size);
	bn_put(more, "queues", queues);
	bn_put(more, "ports", l.ports);
	bn_put(more, "ring", l.depth);
	bn_put(more, "in_flight_a_queue", l.in_flight);
	bn_put(more, "stop_ms", rep.stop_ms);
	if (rep.stop)
		json_object_object_add(more, "stop", rep.stop);
	bn_line(run, &s, &r, 1, more);
}

/* The list that an option has, or ours. */
static uint32_t
list(const struct bn_list *given, const unsigned *ours, uint32_t nr, const unsigned **out)
{
	*out = given->nr ? given->v : ours;
	return given->nr ? given->nr : nr;
}

void
bn_loopback(struct bn_run *run)
{
	static const unsigned sizes[] = {64, 256, 1500, 9000}, queues[] = {1, 16, 64, 256, 1024};
	const unsigned *size, *queue;
	uint32_t nr_sizes = list(&run->opt->sizes, sizes, 4, &size);
	uint32_t nr_queues = list(&run->opt->queues, queues, 5, &queue);

	if (run->opt->quick && !run->opt->sizes.nr && !run->opt->queues.nr) {
		loopback_line(run, "io", 64, 1);
		loopback_line(run, "io", 64, 16);
		loopback_line(run, "stamp", 9000, 4);
		loopback_line(run, "stamp", 64, 1024);
		return;
	}
	for (uint32_t i = 0; i < nr_sizes; i++)
		for (uint32_t k = 0; k < nr_queues; k++)
			loopback_line(run, "stamp", size[i], queue[k]);
	for (uint32_t k = 0; k < nr_queues && !run->opt->quick; k++)
		loopback_line(run, "io", size[0], queue[k]);
}
