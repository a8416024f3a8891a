/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The happens-before check as a program.
 *   hb_check intact N    every engine and program, N packets each, with the adversary at work: no
 *                        objection, and every byte as it must be
 *   hb_check naive       two programs of a kind often seen: refused and objected to
 *   hb_check drops       each edge of order.h left out: objected to, by its name and no other
 *   hb_check swaps       each two edges in each other's place: objected to by one name or both
 *   hb_check sites       each edge left out at one place only: objected to by its name (sites.c)
 *   hb_check corrupts    each edge left out, and the adversary makes something of it: wrong bytes,
 *                        or nothing that moves (corrupt.c)
 *   hb_check one NAME N [EDGE]   one program, with an edge left out: prints the objections
 * A last argument --seed=S chooses another schedule. Exit status: 0 as it should be, 1 not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_queues/engine.h"
#include "adv.h"
#include "check.h"
#include "coop.h"
#include "traffic.h"

#define DROP_PACKETS 2000u

uint64_t seed = 1;
static const char *self;
static bool quit;

static void *
nic_main(void *arg)
{
	struct nic *nics = arg;
	uint32_t i;

	while (!quit) { /* forever: leaves when the program has ended */
		i = (uint32_t)(sched_random() >> 9) % PROGRAM_QUEUES_MAX;
		if (nics[i].q)
			nic_step(&nics[i]);
		sched_let_go();
	}
	return NULL;
}

uint64_t
run_subject(const struct subject *s, uint64_t packets, uint64_t with_seed, const struct mutation *m)
{
	struct program_cfg cfg = {.engine = s->engine,
		.packets = packets,
		.queues = 3,
		.threads = with_seed % 2u ? 3u : 2u,
		.log_depth = 5u + (uint32_t)(with_seed % 3u),
		.fail = s->fail,
		.deaf = m->deaf};
	static struct nic nics[PROGRAM_QUEUES_MAX];
	uint64_t done;
	uint32_t i;
	int co;

	hb_open();
	memset(nics, 0, sizeof(nics));
	for (i = 0; i < cfg.queues; i++)
		nic_open(&nics[i], i, cfg.log_depth, s->empw, i == 1u ? 96u : 0);
	for (i = 0; i < cfg.queues; i++) {
		nics[i].peer = &nics[(i + cfg.queues - 1u) % cfg.queues];
		nics[i].returns = &nics[(i + 1u) % cfg.queues];
		nics[i].deaf = cfg.deaf;
		nics[i].traffic =
			traffic_of(s->run == program_first || !s->engine ? s->name : s->engine);
	}
	if (m->drop >= 0)
		hb_drop((enum hb_edge)m->drop);
	if (m->a >= 0)
		hb_swap((enum hb_edge)m->a, (enum hb_edge)m->b);
	sched_open(with_seed);
	quit = false;
	co = sched_new(nics[0].tx, nic_main, nics);
	done = s->run(&cfg, nics);
	quit = true;
	while (!sched_done(co)) /* bound: it looks at quit after each step */
		sched_let_go();
	sched_close();
	return done;
}

static uint64_t
all_objections(void)
{
	uint64_t n = 0;

	for (uint32_t e = 0; e <= HB_NR_EDGES; e++)
		n += hb_objections((uint8_t)e);
	return n;
}

static int
intact(uint64_t packets)
{
	static const struct mutation none = {-1, -1, -1, false};
	uint64_t total = 0, done;
	int bad = subject_missing() != NULL;

	if (bad)
		printf("engine %s is not run here\n", subject_missing());
	for (uint32_t i = 0; i < nr_subjects; i++) {
		adv_open(seed + i, NULL);
		done = run_subject(&subjects[i], packets, seed + i, &none);
		printf("%-13s seed %llu: %llu packets, %llu accesses, %llu objections\n",
			subjects[i].name, (unsigned long long)(seed + i), (unsigned long long)done,
			(unsigned long long)hb_accesses, (unsigned long long)all_objections());
		fflush(stdout);
		bad += done < packets || all_objections() != 0;
		hb_print_objections(self);
		hb_close();
		total += done;
	}
	printf("%llu packets in all\n", (unsigned long long)total);
	return bad;
}

/* Runs all programs; for two edges exchanged until one is objected to. 0: as it should be. */
static int
mutant(const struct mutation *m, const char *title)
{
	uint64_t a = 0, b = 0, others = 0;

	for (uint32_t i = 0; i < nr_subjects && (m->drop >= 0 || a + b == 0); i++) {
		run_subject(&subjects[i], DROP_PACKETS, seed + i, m);
		for (int e = 0; e <= (int)HB_NR_EDGES; e++) {
			uint64_t n = hb_objections((uint8_t)e);

			if (e == m->drop || e == m->a)
				a += n;
			else if (e == m->b)
				b += n;
			else
				others += n;
			if (n != 0 && m->drop >= 0 && e != m->drop)
				printf("  %s, seed %llu: %llu objections that name %s\n",
					subjects[i].name, (unsigned long long)(seed + i),
					(unsigned long long)n, hb_edge_name[e]);
		}
		hb_close();
	}
	printf("%-64s %llu", title, (unsigned long long)a);
	if (m->a >= 0)
		printf(" + %llu", (unsigned long long)b);
	printf(" objections%s\n",
		a + b == 0 || (m->drop >= 0 && others > a / 16u) ? ": WRONG" : "");
	fflush(stdout);
	return a + b == 0 || (m->drop >= 0 && others > a / 16u);
}

/* Each must be refused by a rule of the NIC's, and objected to for want of its edge. */
static int
naive(void)
{
	static const struct mutation none = {-1, -1, -1, false};
	static const struct {
		struct subject s;
		uint8_t edge;
	} list[] = {
		{{"naive_submit", program_naive_submit, NULL, false, false},
			HB_producer_before_ringer},
		{{"naive_poll", program_naive_poll, NULL, false, false}, HB_cqe_before_payload},
	};
	int bad = 0;

	for (uint32_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		run_subject(&list[i].s, DROP_PACKETS, seed, &none);
		printf("%s:\n", list[i].s.name);
		hb_print_objections(self);
		if (hb_objections(list[i].edge) == 0 || hb_objections(HB_NR_EDGES) == 0) {
			printf("%s was not objected to as it must be\n", list[i].s.name);
			bad++;
		}
		hb_close();
	}
	return bad;
}

static int
drops(void)
{
	char title[96];
	int bad = 0;

	for (int e = 0; e < (int)HB_NR_EDGES; e++) {
		struct mutation m = {e, -1, -1, false};

		snprintf(title, sizeof(title), "without %s", hb_edge_name[e]);
		bad += mutant(&m, title);
	}
	return bad;
}

static int
swaps(void)
{
	char title[96];
	int bad = 0;

	for (int a = 0; a < (int)HB_NR_EDGES; a++)
		for (int b = a + 1; b < (int)HB_NR_EDGES; b++) {
			struct mutation m = {-1, a, b, false};

			snprintf(title, sizeof(title), "%s and %s exchanged", hb_edge_name[a],
				hb_edge_name[b]);
			bad += mutant(&m, title);
		}
	return bad;
}

static int
one(const char *name, uint64_t packets, const char *edge)
{
	struct mutation m = {edge ? hb_edge_find(edge) : -1, -1, -1, false};
	uint64_t done;
	int bad;

	if (edge && m.drop < 0) {
		printf("order.h has no edge %s\n", edge);
		return 1;
	}
	for (uint32_t i = 0; i < nr_subjects; i++) {
		if (strcmp(subjects[i].name, name) != 0)
			continue;
		done = run_subject(&subjects[i], packets, seed, &m);
		hb_print_objections(self);
		printf("%llu packets, %llu objections\n", (unsigned long long)done,
			(unsigned long long)all_objections());
		bad = done < packets || all_objections() != 0;
		hb_close();
		return bad;
	}
	printf("there is no program %s\n", name);
	return 1;
}

int
main(int argc, char **argv)
{
	int bad = 1;

	self = argv[0];
	if (argc > 1 && strncmp(argv[argc - 1], "--seed=", 7) == 0) {
		seed = strtoull(argv[--argc] + 7, NULL, 0);
		argv[argc] = NULL;
	}
	if (argc == 3 && strcmp(argv[1], "intact") == 0)
		bad = intact(strtoull(argv[2], NULL, 0));
	else if (argc == 2 && strcmp(argv[1], "drops") == 0)
		bad = drops();
	else if (argc == 2 && strcmp(argv[1], "naive") == 0)
		bad = naive();
	else if (argc == 2 && strcmp(argv[1], "swaps") == 0)
		bad = swaps();
	else if (argc == 2 && strcmp(argv[1], "corrupts") == 0)
		bad = corrupts();
	else if (argc == 2 && strcmp(argv[1], "sites") == 0)
		bad = sites(self);
	else if ((argc == 4 || argc == 5) && strcmp(argv[1], "one") == 0)
		bad = one(argv[2], strtoull(argv[3], NULL, 0), argv[4]);
	else
		printf("usage: hb_check intact N | naive | drops | swaps | sites | corrupts | one "
		       "NAME N [EDGE] [--seed=S]\n");
	return bad != 0;
}
