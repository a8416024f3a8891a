// SPDX-License-Identifier: BSD-3-Clause
/*
 * carillon-soak: frames with a number and a CRC go round on a port that hears itself, for as long
 * as one likes; every one is checked, and every round's end is counted out. The last line says what
 * was lost, torn, leaked and doubled; exit status 0 means none.
 *
 *   carillon-soak [EAL options] -- [options], for example:
 *   softcx run -- carillon-soak -l 0 --no-huge -m 256 -- --packets=10000000 --queues=4
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../output.h"
#include "commit.h"
#include "gpu_queues/mem.h"
#include "soak.h"

#define WARM_ROUNDS 2 /* in which libraries make what they keep */
#define NEVER_NS    (100ull * 365 * 86400 * 1000000000)

static struct soak soak;

static void
on_signal(int sig)
{
	(void)sig;
	__atomic_store_n(&soak.stop, 1, __ATOMIC_RELAXED);
}

static int
complain(const struct crl_err *err)
{
	char line[512];

	fflush(stdout);
	fprintf(stderr, "carillon-soak: %s\n", crl_err_str(err, line, sizeof(line)));
	return EXIT_FAILURE;
}

static void
setting(const struct soak_options *o, char *out, size_t bytes)
{
	snprintf(out, bytes,
		"%u queues, %u forwarders (%s), %u threads each, rings %u/%u, burst %u, sizes "
		"%u-%u, "
		"inline %u, signal %u, %s send CQs, %u send errors a round, %u rounds, seed %llu",
		o->queues, o->forwarders, o->forward->name, o->threads, o->tx_depth, o->rx_depth,
		o->burst, o->size_min, o->size_max, o->inline_max, o->signal_every,
		o->collapsed ? "collapsed" : "ordinary", o->faults, o->rounds,
		(unsigned long long)o->seed);
}

#define LLU(x) ((unsigned long long)(x))

static bool
good(const struct soak *s)
{
	return s->lost + s->torn + s->leaked + s->dup + s->unplanned == 0 &&
	       s->errors == s->planned && s->good > 0;
}

static int
report_json(const struct soak *s, const char *words, double t)
{
	FILE *f = strcmp(s->opt.json, "-") == 0 ? stdout : fopen(s->opt.json, "a");

	if (f == NULL) {
		fprintf(stderr, "carillon-soak: --json %s: %s\n", s->opt.json, strerror(errno));
		return -1;
	}
	fprintf(f,
		"{\"program\":\"carillon-soak\",\"commit\":\"%s\",\"setting\":\"%s\",\"seconds\":%"
		".3f,"
		"\"packets\":%llu,\"sent\":%llu,\"bytes\":%llu,\"forwarded\":%llu,\"lost\":%llu,"
		"\"torn\":%llu,\"leaked\":%llu,\"dup\":%llu,\"errors_planned\":%llu,"
		"\"errors_seen\":%llu,\"errors_other\":%llu,\"unsent\":%llu,\"ring_laps\":%llu,"
		"\"wraps_16bit\":%llu,\"wraps_24bit\":%llu,\"limits\":%llu,\"rss_kb\":[%llu,%llu],"
		"\"good\":%s}\n",
		SOAK_COMMIT, words, t, LLU(s->good), LLU(s->sent), LLU(s->bytes), LLU(s->forwarded),
		LLU(s->lost), LLU(s->torn), LLU(s->leaked), LLU(s->dup), LLU(s->planned),
		LLU(s->errors), LLU(s->unplanned), LLU(s->flushed), LLU(s->laps), LLU(s->wraps16),
		LLU(s->wraps24), LLU(s->limits), LLU(s->rss_from_kb), LLU(s->rss_to_kb),
		good(s) ? "true" : "false");
	if (f == stdout ? fflush(f) : fclose(f)) {
		fprintf(stderr, "carillon-soak: --json %s: %s\n", s->opt.json, strerror(errno));
		return -1;
	}
	return 0;
}

static int
report(const struct soak *s)
{
	double t = (double)(s->end_ns - s->start_ns) / 1e9;
	char words[512];
	int ret = 0;

	setting(&s->opt, words, sizeof(words));
	printf("soak: commit %s: %s\n", SOAK_COMMIT, words);
	printf("soak: %llu packets checked in %.1f s (%.3f million a second), %llu bytes; %llu of "
	       "them forwarded\n",
		LLU(s->good), t, (double)s->good / 1e6 / t, LLU(s->bytes), LLU(s->forwarded));
	printf("soak: %llu laps of rings, %llu wraps of 16-bit indices, %llu of 24-bit ones\n",
		LLU(s->laps), LLU(s->wraps16), LLU(s->wraps24));
	printf("soak: %llu send errors planned, %llu seen, %llu others; %llu frames came back "
	       "unsent, as they must\n",
		LLU(s->planned), LLU(s->errors), LLU(s->unplanned), LLU(s->flushed));
	printf("soak: resident %llu kB after the second round, %llu kB after the last; %llu limits "
	       "tried\n",
		LLU(s->rss_from_kb), LLU(s->rss_to_kb), LLU(s->limits));
	if (s->good == 0)
		fprintf(stderr, "carillon-soak: not one packet came round and was checked; it had "
				"%.3f s: give it more --seconds or --packets\n",
			t);
	if (s->opt.json != NULL)
		ret = report_json(s, words, t);
	printf("soak: lost=%llu torn=%llu leaked=%llu dup=%llu\n", LLU(s->lost), LLU(s->torn),
		LLU(s->leaked), LLU(s->dup));
	return ret == 0 && good(s) && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int
rounds(struct soak *s, struct crl_err *err)
{
	uint64_t n = s->opt.rounds, left = s->opt.packets, packets, until;
	uint64_t span = s->opt.seconds > 0 ? (uint64_t)(s->opt.seconds * 1e9) : NEVER_NS;
	struct soak_leaks base, now;
	int ret;

	s->start_ns = crl_now_ns();
	for (s->round = 0; s->round < n && !s->stop; s->round++) {
		/* what is left is counted from the warm rounds on, so there is one more at least */
		if (s->round > WARM_ROUNDS && crl_now_ns() - s->start_ns >= span)
			break;
		s->seed = s->opt.seed * 1000003u + s->round * 97u;
		packets = left / (n - s->round);
		left -= packets;
		until = s->start_ns + span / n * (s->round + 1u);
		ret = soak_round(s, packets, until, err);
		if (ret != 0)
			return ret;
		if (s->opt.plant.leak[0] != '\0')
			soak_leak(s, s->opt.plant.leak);
		soak_leaks_count(&now);
		if (s->round < WARM_ROUNDS) {
			base = now;
			s->rss_from_kb = (uint64_t)now.rss_kb;
		}
		s->rss_to_kb = (uint64_t)now.rss_kb;
		s->leaked += soak_leaks_compare(&base, &now);
	}
	s->end_ns = crl_now_ns();
	return 0;
}

static int
run(struct soak *s, struct crl_err *err)
{
	int ret;

	if (s->opt.limits) {
		ret = soak_limits(s);
		if (ret < 0)
			return crl_err_set(err, -EPROTO, "try the limits", "see the lines above",
				"a limit is not where it should be");
		s->limits = (uint64_t)ret;
	}
	ret = rounds(s, err);
	return ret;
}

/* Index of the "--" that ends EAL's options, or argc. */
static int
find_dashes(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		;
	return i;
}

int
main(int argc, char **argv)
{
	int dashes = find_dashes(argc, argv), ret, status = EXIT_FAILURE;
	struct crl_err err = {0};
	char dummy[] = "carillon-soak", *none[] = {dummy, NULL};

	output_watch("carillon-soak");
	soak_leaks_begin(argv);
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		soak_options_parse(argc, argv, &soak.opt);
	} else if (dashes < argc) {
		argv[dashes] = dummy;
		soak_options_parse(argc - dashes, argv + dashes, &soak.opt);
	} else {
		soak_options_parse(1, none, &soak.opt);
	}
	if (soak.opt.json != NULL && strcmp(soak.opt.json, "-") != 0 &&
		(ret = output_check_file(soak.opt.json)) != 0) {
		fprintf(stderr, "carillon-soak: --json %s: %s\n", soak.opt.json, strerror(ret));
		return EXIT_FAILURE;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	ret = crl_eal_init(dashes, argv, &soak.eal, &err);
	if (ret < 0)
		return complain(&err);
	ret = run(&soak, &err);
	if (ret != 0) {
		complain(&err);
		fflush(NULL);
		_exit(EXIT_FAILURE); /* what an engine may still use cannot be freed */
	}
	status = report(&soak);
	if (crl_eal_cleanup(soak.eal, &err) != 0)
		status = complain(&err);
	return status;
}
