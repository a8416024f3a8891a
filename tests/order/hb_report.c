/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objections: kept once for each pair of places, printed with source lines, which addr2line finds.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hb.h"

#define KEPT	 64u
#define REFUSALS 16u
#define INLINED	 " (inlined by) "

struct objection {
	const void *at;
	struct hb_side first, second;
	uint64_t times;
	uint8_t edge;
};

static const char *const op_name[HB_OP_NR] = {"nothing", "the NIC's fetch of a WQE",
	"the NIC's read of a payload", "the NIC's write of a received frame",
	"the NIC's write of a CQE", "the host's set-up of a queue"};

static struct objection kept[KEPT];
static char refusal[REFUSALS][160];
static uint32_t nr_kept, nr_refusals;
static uint64_t count[HB_NR_EDGES + 1u];
void (*hb_refused)(const char *text);

void
hb_report_reset(void)
{
	memset(kept, 0, sizeof(kept));
	memset(count, 0, sizeof(count));
	nr_kept = nr_refusals = 0;
}

uint64_t
hb_objections(uint8_t edge)
{
	return count[edge];
}

void
hb_object(uint8_t edge, const void *at, struct hb_side first, struct hb_side second)
{
	uint32_t i;

	count[edge]++;
	for (i = 0; i < nr_kept; i++)
		if (kept[i].edge == edge && kept[i].first.pc == first.pc &&
			kept[i].second.pc == second.pc) {
			kept[i].times++;
			return;
		}
	if (nr_kept < KEPT)
		kept[nr_kept++] = (struct objection){at, first, second, 1, edge};
}

void
hb_refuse(const char *format, ...)
{
	va_list ap;
	char text[sizeof(refusal[0])];
	uint32_t i;

	count[HB_NR_EDGES]++;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (hb_refused)
		hb_refused(text);
	for (i = 0; i < nr_refusals; i++)
		if (strcmp(refusal[i], text) == 0)
			return;
	if (nr_refusals < REFUSALS)
		memcpy(refusal[nr_refusals++], text, sizeof(text));
}

/* "crl_cq_peek at cq_poll.h:122, in ...": the first two places outside of mem.h and order.h. */
void
hb_place_text(const char *program, uint32_t pc, char *text, size_t bytes)
{
	char command[512], line[512];
	int shown = 0;
	size_t at = 0;
	FILE *f;

	text[0] = '\0';
	snprintf(command, sizeof(command), "addr2line -f -s -p -i -e '%s' 0x%x 2>&1", program,
		pc - 1u);
	f = popen(command, "r");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (shown == 2 || strstr(line, "mem.h:") || strstr(line, "hb_order.h:"))
			continue;
		if (strncmp(line, INLINED, strlen(INLINED)) == 0)
			memmove(line, line + strlen(INLINED), strlen(line) - strlen(INLINED) + 1u);
		at += (size_t)snprintf(text + at, bytes - at, "%s%s", shown++ ? ", in " : "", line);
		at = at < bytes ? at : bytes - 1u;
	}
	pclose(f);
}

static void
print_side(const char *program, const char *which, const struct hb_side *s)
{
	char text[512];

	printf("  %s: %s by %s", which, s->write ? "store" : "load", hb_actor_name(s->actor));
	if (s->pc < HB_OP_NR) {
		printf(", %s\n", op_name[s->pc]);
		return;
	}
	hb_place_text(program, s->pc, text, sizeof(text));
	printf(", %s\n", text);
}

void
hb_print_objections(const char *program)
{
	size_t offset;
	uint32_t i;

	for (i = 0; i < nr_refusals; i++)
		printf("refused: %s\n", refusal[i]);
	for (i = 0; i < nr_kept; i++) {
		const char *place = hb_place(kept[i].at, &offset);

		printf("objection at %p, %s + %zu, %llu times: ", kept[i].at, place, offset,
			(unsigned long long)kept[i].times);
		if (kept[i].edge < HB_NR_EDGES)
			printf("crl_order_%s is missing between\n", hb_edge_name[kept[i].edge]);
		else
			printf("nothing told the second of the first\n");
		print_side(program, "first", &kept[i].first);
		print_side(program, "then", &kept[i].second);
	}
}
