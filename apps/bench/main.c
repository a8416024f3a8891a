// SPDX-License-Identifier: BSD-3-Clause
/*
 * carillon-bench: what the queues cost, each line with where rings, trigger and NIC step were, the
 * scope of the fences, the clock and the number of samples. See apps/bench/README.md.
 */
#include "../output.h"
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	void (*run)(struct bn_run *);
	bool needs_api; /* GPU or host threads; the others start programs */
	const char *words;
} benches[] = {
	{"post", bn_post, true, "WQEs a second and cycles a post, beside the DOCA GPUNetIO header"},
	{"rtt", bn_rtt, true, "post to completion, beside two that only exchange flags"},
	{"poll", bn_poll, true, "one warp that serves 1 to 1024 queues"},
	{"trigger", bn_trigger, true, "from data ready in a kernel to the doorbell, by six paths"},
	{"litmus", bn_litmus, true, "is an edge ever seen the wrong way round"},
	{"tax", bn_tax, true, "what a resident engine costs a matrix product and a copy"},
	{"economy", bn_economy, false, "bytes, TLPs, doorbells and CQEs a packet, beside net_mlx5"},
	{"loopback", bn_loopback, false, "packets a second through softcx, by size and queues"},
};
#define NR_BENCHES (sizeof(benches) / sizeof(benches[0]))

static void
usage(FILE *f)
{
	fputs("usage: carillon-bench BENCH [OPTION]...\n", f);
	for (size_t i = 0; i < NR_BENCHES; i++)
		fprintf(f, "  %-9s %s\n", benches[i].name, benches[i].words);
	fputs("  plot FILE.json IMAGE   draws what an earlier run wrote\n"
	      "options:\n"
	      "  --on gpu|host   kernels, or the same code in host threads (default gpu)\n"
	      "  --device N      which GPU (default 0)\n"
	      "  --json FILE     the lines as JSON\n"
	      "  --plot FILE     a picture, .svg or .png, by gnuplot\n"
	      "  --only WORD     lines with WORD in their name\n"
	      "  --samples N     launches or repeats of a line\n"
	      "  --rounds N      rounds of a line\n"
	      "  --sizes N,...   loopback: bytes of a frame, FCS counted, 64 to 9600\n"
	      "  --queues N,...  loopback: how many queues, 1 to 8000\n"
	      "  --seconds S     loopback: of a line\n"
	      "  --quick         few lines and samples: does the program work\n"
	      "  --tools DIR     where softcx and the testpmds are (default: PATH)\n"
	      "  --tear          breaks one WQE before it is checked: the exit status must be 1\n"
	      "Exit status: 0; 1 when something was lost, torn or could not be measured; 2 "
	      "usage.\n"
	      "What only a GPU or NVIDIA's header can be asked is no failure where it is not.\n",
		f);
}

static bool
number(const char *text, uint64_t max, uint64_t *n)
{
	char *end;

	*n = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && *n <= max;
}

enum {
	ON = 1,
	DEVICE,
	JSON,
	PLOT,
	ONLY,
	SAMPLES,
	ROUNDS,
	QUICK,
	TOOLS,
	TEAR,
	HELP,
	SIZES,
	QUEUES,
	SECONDS
};

static const struct option long_options[] = {{"on", required_argument, NULL, ON},
	{"device", required_argument, NULL, DEVICE}, {"json", required_argument, NULL, JSON},
	{"plot", required_argument, NULL, PLOT}, {"only", required_argument, NULL, ONLY},
	{"samples", required_argument, NULL, SAMPLES}, {"rounds", required_argument, NULL, ROUNDS},
	{"quick", no_argument, NULL, QUICK}, {"tools", required_argument, NULL, TOOLS},
	{"tear", no_argument, NULL, TEAR}, {"sizes", required_argument, NULL, SIZES},
	{"queues", required_argument, NULL, QUEUES}, {"seconds", required_argument, NULL, SECONDS},
	{"help", no_argument, NULL, HELP}, {NULL, 0, NULL, 0}};

/* "64,1500" into numbers from min to max. */
static bool
numbers(const char *text, unsigned min, unsigned max, struct bn_list *l)
{
	const size_t room = sizeof(l->v) / sizeof(l->v[0]);
	char *end;

	for (l->nr = 0; l->nr < room && *text >= '0' && *text <= '9'; text = end + 1) {
		unsigned long v = strtoul(text, &end, 10);

		if (v < min || v > max || (*end != ',' && *end != '\0'))
			return false;
		l->v[l->nr++] = (unsigned)v;
		if (*end == '\0')
			return true;
	}
	return false;
}

static bool
take_loopback(struct bn_options *o, int c, const char *value)
{
	char *end;

	switch (c) {
	case SIZES:
		return numbers(value, 64, 9600, &o->sizes);
	case QUEUES:
		return numbers(value, 1, 8000, &o->queues);
	case SECONDS:
		o->seconds = strtod(value, &end);
		return end != value && *end == '\0' && o->seconds >= 0.01 && o->seconds <= 3600;
	default:
		return false;
	}
}

static bool
is_picture(const char *file)
{
	size_t n = strlen(file);

	return n > 4 && (!strcmp(file + n - 4, ".svg") || !strcmp(file + n - 4, ".png"));
}

/* One option. False: its value is wrong. */
static bool
take(struct bn_options *o, int c, const char *value)
{
	uint64_t n = 0;

	switch (c) {
	case ON:
		o->host = strcmp(value, "host") == 0;
		return o->host || strcmp(value, "gpu") == 0;
	case DEVICE:
		o->device = number(value, 63, &n) ? (int)n : -1;
		return o->device >= 0;
	case JSON:
		o->json = value;
		return true;
	case PLOT:
		o->plot = value;
		return is_picture(value);
	case ONLY:
		o->only = value;
		return true;
	case SAMPLES:
		o->samples = number(value, 1000000, &n) ? (uint32_t)n : 0;
		return o->samples != 0;
	case ROUNDS:
		return number(value, (uint64_t)1 << 31, &o->rounds) && o->rounds != 0;
	case QUICK:
		o->quick = true;
		return true;
	case TOOLS:
		o->tools = value;
		return true;
	case TEAR:
		o->tear = true;
		return true;
	default:
		return take_loopback(o, c, value);
	}
}

static bool
can_write(const char *file)
{
	int err = file ? output_check_file(file) : 0;

	if (err != 0)
		fprintf(stderr, "carillon-bench: cannot write %s: %s\n", file, strerror(err));
	return err == 0;
}

static int
plot_file(int argc, char **argv)
{
	struct json_object *root;
	int rc;

	if (argc != 4) {
		usage(stderr);
		return 2;
	}
	if (!is_picture(argv[3])) {
		fprintf(stderr, "carillon-bench: %s: a picture's name ends with .svg or .png\n",
			argv[3]);
		return 2;
	}
	if (!can_write(argv[3]))
		return 1;
	root = json_object_from_file(argv[2]);
	if (!root) {
		fprintf(stderr, "carillon-bench: %s: %s\n", argv[2], json_util_get_last_err());
		return 1;
	}
	rc = bn_plot(root, argv[3]);
	json_object_put(root);
	return rc != 0;
}

static int
run_bench(size_t which, struct bn_options *o)
{
	struct bn_run run = {.opt = o};
	char why[256] = "";

	/* Now, for it would be a pity afterwards. */
	if (!can_write(o->json) || !can_write(o->plot))
		return 1;
	if (benches[which].needs_api && bn_api_open(&run, why, sizeof(why)) != 0) {
		fprintf(stderr,
			"carillon-bench: %s; --on host runs the same code in host threads\n", why);
		return 1;
	}
	if (bn_run_begin(&run, o) != 0)
		return 1;
	benches[which].run(&run);
	return bn_run_end(&run);
}

int
main(int argc, char **argv)
{
	struct bn_options o = {0};
	size_t which = 0;
	int c, at = 0;

	output_watch("carillon-bench");
	if (argc > 1 && strcmp(argv[1], "plot") == 0)
		return plot_file(argc, argv);
	while ((c = getopt_long(argc, argv, "", long_options, &at)) != -1) {
		if (c == HELP) {
			usage(stdout);
			return 0;
		}
		if (!take(&o, c, optarg)) {
			if (c != '?')
				fprintf(stderr, "carillon-bench: '%s' is no value for --%s\n",
					optarg, long_options[at].name);
			return 2;
		}
	}
	while (optind < argc && which < NR_BENCHES && strcmp(argv[optind], benches[which].name))
		which++;
	if (optind + 1 != argc || which == NR_BENCHES) {
		if (which == NR_BENCHES && optind < argc)
			fprintf(stderr, "carillon-bench: there is no bench '%s'\n", argv[optind]);
		usage(stderr);
		return 2;
	}
	o.bench = benches[which].name;
	return run_bench(which, &o);
}
