/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carillon-loop: packets go round between engines and the software ConnectX's data path, both on
 * GPUs and without a driver, and each is checked every time. The smallest thing that shows what two
 * GPUs make of the ordering contract; with --soak many packets of it.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output.h"
#include "loop.h"

static const char usage[] =
	"usage: carillon-loop [options]\n"
	"  --nic auto|fused|same|peer  who steps the NIC: blocks of the engine's kernel, a second\n"
	"                              kernel on its GPU, a kernel on another GPU (auto)\n"
	"  --engine-gpu N, --nic-gpu N CUDA ordinals (0; the next)\n"
	"  --queues N --active N       queue pairs (64), and those with packets (all)\n"
	"  --frame N                   bytes of a packet, 64 to 9600 (64)\n"
	"  --in-flight N --depth N     packets under way a queue (half of the ring), ring (1024)\n"
	"  --burst N --workers N       of an engine (64); warps of the NIC (one a queue, 264)\n"
	"  --packets N                 each queue sends exactly N, then all of them end\n"
	"  --seconds S                 at most so long (10)\n"
	"  --soak N                    until N packets of all queues have been checked\n"
	"  --json                      one line of JSON\n"
	"The minimal reproducer: carillon-loop --nic peer --queues 1 --packets 100000\n";

enum {
	O_NIC = 1,
	O_EGPU,
	O_NGPU,
	O_QUEUES,
	O_ACTIVE,
	O_FRAME,
	O_FLIGHT,
	O_DEPTH,
	O_BURST,
	O_WORKERS,
	O_PACKETS,
	O_SECONDS,
	O_SOAK,
	O_JSON,
	O_HELP
};

static const struct option longs[] = {
	{"nic", 1, NULL, O_NIC},
	{"engine-gpu", 1, NULL, O_EGPU},
	{"nic-gpu", 1, NULL, O_NGPU},
	{"queues", 1, NULL, O_QUEUES},
	{"active", 1, NULL, O_ACTIVE},
	{"frame", 1, NULL, O_FRAME},
	{"in-flight", 1, NULL, O_FLIGHT},
	{"depth", 1, NULL, O_DEPTH},
	{"burst", 1, NULL, O_BURST},
	{"workers", 1, NULL, O_WORKERS},
	{"packets", 1, NULL, O_PACKETS},
	{"seconds", 1, NULL, O_SECONDS},
	{"soak", 1, NULL, O_SOAK},
	{"json", 0, NULL, O_JSON},
	{"help", 0, NULL, O_HELP},
	{NULL, 0, NULL, 0},
};

static const char *const places[] = {"auto", "fused", "same", "peer"};

/* A number that takes up all of s. */
static double
number(const char *s)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || *end != '\0' || v < 0) {
		fprintf(stderr, "carillon-loop: \"%s\" is no number\n", s);
		exit(2);
	}
	return v;
}

static enum crl_loop_place
place(const char *s)
{
	unsigned i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strcmp(s, places[i]) == 0)
			return (enum crl_loop_place)i;
	fprintf(stderr, "carillon-loop: --nic %s: auto, fused, same or peer\n", s);
	exit(2);
}

static void
options(int argc, char **argv, struct crl_loop_cfg *c, int *json)
{
	int o;

	while ((o = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		double v = o != O_NIC && optarg ? number(optarg) : 0;

		switch (o) {
		case O_NIC:
			c->place = place(optarg);
			break;
		case O_EGPU:
			c->engine_gpu = (int)v;
			break;
		case O_NGPU:
			c->nic_gpu = (int)v;
			break;
		case O_QUEUES:
			c->queues = (uint32_t)v;
			break;
		case O_ACTIVE:
			c->active = (uint32_t)v;
			break;
		case O_FRAME:
			c->frame = (uint32_t)v;
			break;
		case O_FLIGHT:
			c->in_flight = (uint32_t)v;
			break;
		case O_DEPTH:
			c->depth = (uint32_t)v;
			break;
		case O_BURST:
			c->burst = (uint32_t)v;
			break;
		case O_WORKERS:
			c->workers = (uint32_t)v;
			break;
		case O_PACKETS:
			c->packets = (uint64_t)v;
			break;
		case O_SECONDS:
			c->seconds = v;
			break;
		case O_SOAK:
			c->stop_at = v;
			break;
		case O_JSON:
			*json = 1;
			break;
		case O_HELP:
			fputs(usage, stdout);
			exit(0);
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (optind != argc) {
		fputs(usage, stderr);
		exit(2);
	}
}

static void
print_kernel(const char *name, const struct crl_loop_kernel *k)
{
	printf("%-8s%u warps of %s, %u registers a lane, %u bytes of shared memory a warp; "
	       "%u fit on each of %u multiprocessors\n",
		name, k->blocks, k->name, k->registers, k->shared_bytes, k->per_sm, k->sms);
}

static void
print_text(const struct crl_loop_cfg *c, const struct crl_loop_result *r)
{
	printf("engine  %s\nNIC     step in %s: %s\n", r->engine_where, r->nic_where, r->why);
	printf("setting queues %u, frame %u bytes, in flight %u, burst %u; doorbells in the NIC's "
	       "GPU "
	       "memory, rings and buffers in the engine's\n",
		c->queues, c->frame, c->in_flight, c->burst);
	print_kernel("engine", &r->engine);
	print_kernel("NIC", &r->nic);
	printf("rate    %.3f Mpps, %.1f Gbit/s of frames, over %.2f s\n",
		(double)r->received / r->seconds / 1e6,
		(double)r->received * c->frame * 8 / r->seconds / 1e9, r->seconds);
	printf("packet  %.4f WQEs, %.4f CQEs, %.4f doorbells\n",
		(double)r->wqes / (double)r->nic_sent, (double)r->cqes / (double)r->nic_sent,
		(double)r->doorbells / (double)r->nic_sent);
	printf("memory  counted, bytes a packet: WQEs %.1f, receive WQEs %.1f, payload %.1f read "
	       "and %.1f written by the NIC; CQEs %.1f, records and registers %.2f\n",
		(double)r->wqe_bytes / (double)r->nic_sent,
		(double)r->rq_wqe_bytes / (double)r->nic_sent,
		(double)r->payload_read / (double)r->nic_sent,
		(double)r->payload_written / (double)r->nic_sent,
		(double)r->cqes * 64 / (double)r->nic_sent,
		(double)r->doorbells * 12 / (double)r->nic_sent);
	printf("stop    %.2f ms\n", r->stop_ms);
	printf("NIC     sent %" PRIu64 ", received %" PRIu64 ", no buffer %" PRIu64
	       ", lost otherwise %" PRIu64 ", reports %u\n",
		r->nic_sent, r->nic_received, r->nic_no_buffer, r->nic_lost, r->reports);
	printf("checked %" PRIu64 " packets of %" PRIu64 " sent: %" PRIu64 " lost, %" PRIu64
	       " torn, %" PRIu64 " out of place\n",
		r->received, r->sent, r->lost, r->torn, r->missed);
}

static void
print_json(const struct crl_loop_cfg *c, const struct crl_loop_result *r)
{
	printf("{\"engine\":\"%s\",\"nic\":\"%s\",\"why\":\"%s\",\"queues\":%u,\"frame\":%u,"
	       "\"in_flight\":%u,\"burst\":%u,\"workers\":%u,",
		r->engine_where, r->nic_where, r->why, c->queues, c->frame, c->in_flight, c->burst,
		r->nic.blocks);
	printf("\"engine_kernel\":\"%s\",\"engine_registers\":%u,\"nic_registers\":%u,"
	       "\"seconds\":%.4f,\"mpps\":%.4f,\"stop_ms\":%.3f,",
		r->engine.name, r->engine.registers, r->nic.registers, r->seconds,
		(double)r->received / r->seconds / 1e6, r->stop_ms);
	printf("\"sent\":%" PRIu64 ",\"checked\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"torn\":%" PRIu64
	       ",\"out_of_place\":%" PRIu64 ",\"no_buffer\":%" PRIu64 ",\"wqes\":%" PRIu64
	       ",\"cqes\":%" PRIu64 ",\"doorbells\":%" PRIu64 ",\"wqe_bytes\":%" PRIu64
	       ",\"rq_wqe_bytes\":%" PRIu64 ",\"payload_read\":%" PRIu64
	       ",\"payload_written\":%" PRIu64 ",\"reports\":%u}\n",
		r->sent, r->received, r->lost, r->torn, r->missed, r->nic_no_buffer, r->wqes,
		r->cqes, r->doorbells, r->wqe_bytes, r->rq_wqe_bytes, r->payload_read,
		r->payload_written, r->reports);
}

/* As crl_loop_run() takes what is 0, for the report. */
static void
fill(struct crl_loop_cfg *c)
{
	c->queues = c->queues ? c->queues : 64;
	c->frame = c->frame ? c->frame : 64;
	c->depth = c->depth ? c->depth : 1024;
	c->in_flight = c->in_flight ? c->in_flight : c->depth / 2;
	c->burst = c->burst ? c->burst : 64;
	if (c->stop_at > 0 && c->seconds == 0)
		c->seconds = 3600;
}

int
main(int argc, char **argv)
{
	struct crl_loop_cfg cfg = {.size = sizeof(cfg), .nic_gpu = -1};
	struct crl_loop_result res;
	char err[512] = "";
	int json = 0, rc;

	output_watch("carillon-loop");
	options(argc, argv, &cfg, &json);
	fill(&cfg);
	rc = crl_loop_run(&cfg, &res, err, sizeof(err));
	if (rc != 0) {
		fprintf(stderr, "carillon-loop: %s\n", err);
		return 1;
	}
	if (json)
		print_json(&cfg, &res);
	else
		print_text(&cfg, &res);
	return res.lost + res.torn + res.missed + res.nic_no_buffer + res.nic_lost + res.reports !=
	       0;
}
