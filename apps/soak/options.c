// SPDX-License-Identifier: BSD-3-Clause
/*
 * carillon-soak's options, behind EAL's and a "--". Parsed by glibc's argp, whose words come out
 * for what it does not know.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "soak.h"

enum {
	OPT_PACKETS = 256,
	OPT_SECONDS,
	OPT_ROUNDS,
	OPT_QUEUES,
	OPT_THREADS,
	OPT_FORWARD,
	OPT_FORWARDERS,
	OPT_TXD,
	OPT_RXD,
	OPT_RING,
	OPT_BURST,
	OPT_SIGNAL,
	OPT_INLINE,
	OPT_COLLAPSED,
	OPT_SIZES,
	OPT_FAULTS,
	OPT_PLANT,
	OPT_LIMITS,
	OPT_PATIENCE,
	OPT_SEED,
	OPT_JSON,
};

static const struct argp_option options[] = {
	{"packets", OPT_PACKETS, "N", 0, "of all rounds (default 1000000)", 0},
	{"seconds", OPT_SECONDS, "S", 0, "ends then, whatever was sent (default: no bound)", 0},
	{"rounds", OPT_ROUNDS, "N", 0,
		"everything is made and taken down so often, and what is left is counted; the "
		"second is the measure for those after it (default 4)",
		0},
	{"queues", OPT_QUEUES, "N", 0, "that send and check, a flow each (default 2)", 0},
	{"threads", OPT_THREADS, "N", 0,
		"for sending, as many for checking, as many for forwarding (default 1)", 0},
	{"forward", OPT_FORWARD, "ENGINE", 0, "engine in between (default 5tswap)", 0},
	{"forwarders", OPT_FORWARDERS, "N", 0, "queues with that engine (default 0)", 0},
	{"ring", OPT_RING, "N", 0, "depth of all rings, a power of two (default 256)", 0},
	{"txd", OPT_TXD, "N", 0, "of send rings", 0},
	{"rxd", OPT_RXD, "N", 0, "of receive rings", 0},
	{"burst", OPT_BURST, "N", 0, "frames a turn (1 to 64, default 32)", 0},
	{"signal", OPT_SIGNAL, "N", 0, "a completion at least every N sends (default: the rule)",
		0},
	{"inline", OPT_INLINE, "N", 0, "frames up to N bytes travel in the WQE (default 0)", 0},
	{"collapsed", OPT_COLLAPSED, NULL, 0, "send CQs of one entry", 0},
	{"sizes", OPT_SIZES, "A[-B]", 0,
		"bytes of a frame, 60 to 9018, by chance from A to B (default 64)", 0},
	{"faults", OPT_FAULTS, "N", 0,
		"queues whose sending fails once a round, at a frame by the seed", 0},
	{"plant", OPT_PLANT, "LIST", 0,
		"done wrong on purpose, to see it found: tear=N, drop=N, dup=N (frame N of the "
		"first "
		"flow), leak=fd, map, heap, thread or object (a round); with commas between",
		0},
	{"limits", OPT_LIMITS, NULL, 0, "first every limit, and half as much again", 0},
	{"patience", OPT_PATIENCE, "S", 0,
		"a round is over when nothing moved for so long (default 10)", 0},
	{"seed", OPT_SEED, "N", 0, "of all that is by chance (default 1)", 0},
	{"json", OPT_JSON, "FILE", 0, "the result as one line of JSON; - is standard output", 0},
	{0},
};

static uint64_t
number(struct argp_state *state, const char *what, const char *text, uint64_t min, uint64_t max)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || v < min || v > max)
		argp_failure(state, EXIT_FAILURE, 0,
			"--%s wants a number from %llu to %llu, not '%s'", what,
			(unsigned long long)min, (unsigned long long)max, text);
	return v;
}

static double
seconds(struct argp_state *state, const char *what, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= 0 && v <= 1e6))
		argp_failure(state, EXIT_FAILURE, 0, "--%s wants seconds, not '%s'", what, text);
	return v;
}

static void
parse_sizes(struct argp_state *state, char *text, struct soak_options *o)
{
	char *dash = strchr(text, '-');

	if (dash != NULL)
		*dash++ = '\0';
	o->size_min = (uint32_t)number(state, "sizes", text, SOAK_FRAME_MIN, SOAK_FRAME_MAX);
	o->size_max = dash == NULL
			      ? o->size_min
			      : (uint32_t)number(state, "sizes", dash, o->size_min, SOAK_FRAME_MAX);
}

static void
parse_plant(struct argp_state *state, char *text, struct soak_plant *p)
{
	static const char *const leaks[] = {"fd", "map", "heap", "thread", "object"};
	char *save, *word, *value;
	size_t i;

	for (word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		value = strchr(word, '=');
		if (value != NULL)
			*value++ = '\0';
		if (value != NULL && strcmp(word, "leak") == 0) {
			for (i = 0; i < 5 && strcmp(value, leaks[i]) != 0; i++)
				;
			if (i == 5)
				argp_failure(
					state, EXIT_FAILURE, 0, "--plant: no leak '%s'", value);
			else
				snprintf(p->leak, sizeof(p->leak), "%s", value);
		} else if (value != NULL && strcmp(word, "tear") == 0) {
			p->tear = number(state, "plant=tear", value, 1, UINT64_MAX);
		} else if (value != NULL && strcmp(word, "drop") == 0) {
			p->drop = number(state, "plant=drop", value, 1, UINT64_MAX);
		} else if (value != NULL && strcmp(word, "dup") == 0) {
			p->dup = number(state, "plant=dup", value, 1, UINT64_MAX);
		} else {
			argp_failure(state, EXIT_FAILURE, 0,
				"--plant: '%s' is none of tear=N, drop=N, dup=N, leak=WHAT", word);
		}
	}
}

static error_t
parse_size_option(int key, char *arg, struct argp_state *state, struct soak_options *o)
{
	switch (key) {
	case OPT_RING:
		o->tx_depth = o->rx_depth = (uint32_t)number(state, "ring", arg, 1, UINT32_MAX);
		return 0;
	case OPT_TXD:
		o->tx_depth = (uint32_t)number(state, "txd", arg, 1, UINT32_MAX);
		return 0;
	case OPT_RXD:
		o->rx_depth = (uint32_t)number(state, "rxd", arg, 1, UINT32_MAX);
		return 0;
	case OPT_BURST:
		o->burst = (uint32_t)number(state, "burst", arg, 1, CRL_BURST_MAX);
		return 0;
	case OPT_SIGNAL:
		o->signal_every = (uint32_t)number(state, "signal", arg, 1, UINT32_MAX);
		return 0;
	case OPT_INLINE:
		o->inline_max = (uint32_t)number(state, "inline", arg, 0, UINT32_MAX);
		return 0;
	case OPT_COLLAPSED:
		o->collapsed = true;
		return 0;
	case OPT_SIZES:
		parse_sizes(state, arg, o);
		return 0;
	case OPT_FAULTS:
		o->faults = (uint32_t)number(state, "faults", arg, 0, SOAK_QUEUES_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct soak_options *o = state->input;

	switch (key) {
	case OPT_PACKETS:
		o->packets = number(state, "packets", arg, 1, UINT64_MAX);
		return 0;
	case OPT_SECONDS:
		o->seconds = seconds(state, "seconds", arg);
		return 0;
	case OPT_PATIENCE:
		o->patience = seconds(state, "patience", arg);
		return 0;
	case OPT_ROUNDS:
		o->rounds = (uint32_t)number(state, "rounds", arg, 1, 1000000);
		return 0;
	case OPT_QUEUES:
		o->queues = (uint32_t)number(state, "queues", arg, 1, SOAK_QUEUES_MAX);
		return 0;
	case OPT_THREADS:
		o->threads = (uint32_t)number(state, "threads", arg, 1, SOAK_QUEUES_MAX);
		return 0;
	case OPT_FORWARDERS:
		o->forwarders = (uint32_t)number(state, "forwarders", arg, 0, SOAK_QUEUES_MAX);
		return 0;
	case OPT_FORWARD:
		o->forward = crl_engine_find(arg);
		if (o->forward == NULL || strcmp(arg, "5tswap") != 0)
			argp_failure(state, EXIT_FAILURE, 0,
				"--forward wants an engine that sends frames back to where they "
				"came from by their UDP ports, which is 5tswap, not '%s'",
				arg);
		return 0;
	case OPT_PLANT:
		parse_plant(state, arg, &o->plant);
		return 0;
	case OPT_LIMITS:
		o->limits = true;
		return 0;
	case OPT_SEED:
		o->seed = number(state, "seed", arg, 0, UINT64_MAX);
		return 0;
	case OPT_JSON:
		o->json = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_failure(state, EXIT_FAILURE, 0, "'%s' is no option", arg);
		return 0;
	case ARGP_KEY_END:
		if (o->queues + o->forwarders > SOAK_QUEUES_MAX)
			argp_failure(state, EXIT_FAILURE, 0,
				"%u queues and %u forwarders: a port has %u queues at most",
				o->queues, o->forwarders, SOAK_QUEUES_MAX);
		return 0;
	default:
		return parse_size_option(key, arg, state, o);
	}
}

void
soak_options_parse(int argc, char **argv, struct soak_options *o)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "[EAL OPTION...] --",
		.doc = "Numbered frames go round on a port that hears itself, and every byte of "
		       "every frame is checked; then everything is taken down, and what is left "
		       "is counted. Exit status 0: nothing was lost, torn, doubled or leaked.",
	};

	*o = (struct soak_options){.packets = 1000000,
		.rounds = 4,
		.queues = 2,
		.threads = 1,
		.tx_depth = 256,
		.rx_depth = 256,
		.burst = 32,
		.size_min = 64,
		.size_max = 64,
		.patience = 10,
		.seed = 1,
		.forward = crl_engine_find("5tswap")};
	argp_parse(&argp, argc, argv, 0, NULL, o);
}
