/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hb_check sites: each place in the code at which an edge stands, left out alone, while the same
 * edge stays everywhere else. A place is a call in compiled code: one line of a header is several,
 * by what it is inlined in. One program that objects by the edge's name is enough.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"

#define PLACES	1024u
#define PACKETS 3000u
/* Seeds, where a program passes a place rarely; more, as long as somebody should object still. */
#define TRIES	  3u
#define TRIES_MAX 24u

struct place {
	enum hb_edge edge;
	uint32_t pc, by; /* by: the first program that passes it */
	uint64_t objections;
	bool here; /* passed by the program that ran last */
};

/* Places that nobody can object to, and why. */
static const struct {
	enum hb_edge edge;
	const char *at, *in, *why; /* in: NULL, inlined in nothing */
} known[] = {
	{HB_work_before_word, "crl_control_take", "",
		"rearm, which must come before the next error of a queue, has the same edge"},
	{HB_work_before_word, "crl_stream_obey", "",
		"between two control words, which are not judged"},
	{HB_seq_before_error, "crl_control_rearmed", "",
		"between two control words, which are not judged"},
	{HB_wqe_before_record, "crl_edges_before_records", "crl_warp_tell",
		"the compiler's copy for a turn that announces no WQE, and gives back only"},
	{HB_reads_before_giveback, "crl_rq_refill", NULL,
		"of a stream that drains: it read no packet since its last turn, and the edges of "
		"re-arm stand before the next CQE of its failed send queue"},
	{HB_reads_before_giveback, "crl_cq_pass", "crl_sq_rearm",
		"of a warp: its turns have given back again before the NIC, a lap later, looks"},
	{HB_payload_before_wqe, "crl_txonly_burst", "crl_txonly_turn",
		"of a queue that inlines: the WQE is the payload"},
	{HB_payload_before_wqe, "crl_share_enter", "crl_share_abandon", "NOPs have no payload"},
	{HB_send_done_before_reuse, "crl_sq_poll", "crl_warp_reap",
		"of a failed queue, whose room nobody takes before it is reset"},
	{HB_producer_before_ringer, "crl_share_poll", "",
		"who sees the CQE of a WQE has what was ordered before the WQE, by the NIC"},
	{HB_send_done_before_reuse, "crl_share_look", "",
		"crl_share_poll() has it once more, before it frees the room"},
	{HB_send_done_before_reuse, "reap", "", "crl_share_poll() has it"},
};

static struct place place[PLACES];
static uint32_t nr_places;
static uint32_t subject;

static void
passed(enum hb_edge edge, uint32_t pc)
{
	uint32_t i;

	for (i = 0; i < nr_places; i++)
		if (place[i].pc == pc)
			break;
	if (i == PLACES) {
		hb_refuse("checker: more than %u places", PLACES);
		return;
	}
	if (i == nr_places)
		place[nr_places++] = (struct place){.edge = edge, .pc = pc, .by = subject};
	place[i].here = true;
}

/* All places that a program passes and that nobody has objected to yet, one at a time. */
static void
try(uint64_t with_seed)
{
	static const struct mutation none = {-1, -1, -1, false};
	const struct subject *s = &subjects[subject];
	uint32_t i;

	for (i = 0; i < nr_places; i++)
		place[i].here = false;
	hb_edge_passed = passed;
	run_subject(s, PACKETS, with_seed, &none);
	hb_close();
	hb_edge_passed = NULL;
	for (i = 0; i < nr_places; i++) {
		if (!place[i].here || place[i].objections != 0)
			continue;
		hb_dropped_place = place[i].pc;
		run_subject(s, PACKETS, with_seed, &none);
		place[i].objections = hb_objections((uint8_t)place[i].edge);
		hb_close();
		hb_dropped_place = 0;
	}
}

/* Why nobody can object to it; NULL: somebody should. */
static const char *
excuse(const struct place *p, const char *text)
{
	for (uint32_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].edge == p->edge &&
			strncmp(text, known[i].at, strlen(known[i].at)) == 0 &&
			(known[i].in ? strstr(text, known[i].in) != NULL : !strstr(text, ", in ")))
			return known[i].why;
	return NULL;
}

/* Places that have neither an objection nor an excuse. */
static uint32_t
unexplained(const char *self)
{
	uint32_t i, n = 0;
	char text[512];

	for (i = 0; i < nr_places; i++) {
		if (place[i].objections != 0)
			continue;
		hb_place_text(self, place[i].pc, text, sizeof(text));
		n += !excuse(&place[i], text);
	}
	return n;
}

int
sites(const char *self)
{
	uint32_t i, k, known_ones = 0, without = 0;
	const char *why;
	char text[512];

	subject = 0;
	try(seed);
	hb_place_text(self, nr_places > 0 ? place[0].pc : 0, text, sizeof(text));
	if (strstr(text, ":?")) {
		printf("no line numbers in %s, by which reasons are found. Fix: build it with -g, "
		       "as meson's debugoptimized does\n",
			self);
		return 1;
	}
	for (k = 0; k < TRIES_MAX && (k < TRIES || unexplained(self) != 0); k++)
		for (subject = 0; subject < nr_subjects; subject++)
			try(seed + 100u * k + subject);
	for (i = 0; i < nr_places; i++) {
		hb_place_text(self, place[i].pc, text, sizeof(text));
		printf("%-28s %-13s %8llu objections: %s", hb_edge_name[place[i].edge],
			subjects[place[i].by].name, (unsigned long long)place[i].objections, text);
		why = place[i].objections == 0 ? excuse(&place[i], text) : NULL;
		known_ones += why != NULL;
		without += place[i].objections == 0 && !why;
		printf("%s%s\n",
			why			   ? ": "
			: place[i].objections == 0 ? ": WRONG"
						   : "",
			why ? why : "");
	}
	printf("%u places, %u seeds; %u have no objection and a reason, %u neither\n", nr_places, k,
		known_ones, without);
	return (int)without;
}
