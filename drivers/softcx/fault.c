/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a fault plan's text; see fault.h.
 */
#include "fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DMA_DELAY_MAX 255u
#define PAGES_MAX     512 /* at a time */
#define FLAP_MS_MAX   60000u

static int
parse_count(const char *text, uint64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoull(text, &end, 10);
	return errno != 0 || *text < '0' || *text > '9' || *end != '\0' || *v == 0 ? -EINVAL : 0;
}

/* N@C, N with a sign. */
static int
parse_at(const char *text, int64_t min, int64_t max, struct scx_fault_at *to)
{
	char *end;
	int64_t nr;

	errno = 0;
	nr = strtoll(text, &end, 10);
	if (errno != 0 || end == text || *end != '@' || nr < min || nr > max || *text == ' ')
		return -EINVAL;
	to->nr = (int32_t)nr;
	return parse_count(end + 1, &to->at);
}

/* The words of a PCI device's firmware; 1: none of them. */
static int
parse_firmware(const char *word, const char *value, struct scx_fault_plan *plan)
{
	uint64_t n;

	if (strcmp(word, "pages") == 0) {
		if (plan->nr_pages == SCX_FAULT_PAGES_MAX)
			return -EINVAL;
		if (parse_at(value, -PAGES_MAX, PAGES_MAX, &plan->pages[plan->nr_pages]) != 0 ||
			plan->pages[plan->nr_pages].nr == 0)
			return -EINVAL;
		plan->nr_pages++;
		return 0;
	}
	if (strcmp(word, "health") == 0)
		return parse_at(value, 0, 255, &plan->health);
	if (strcmp(word, "link-flap") != 0)
		return 1;
	if (parse_count(value, &n) != 0 || n > FLAP_MS_MAX)
		return -EINVAL;
	plan->link_flap = (uint32_t)n;
	return 0;
}

static int
parse_word(char *word, struct scx_fault_plan *plan)
{
	char *value = strchr(word, '=');
	uint64_t n;

	if (value != NULL)
		*value++ = '\0';
	if (strcmp(word, "send-error") == 0 && value != NULL)
		return parse_count(value, &plan->send_error);
	if (strcmp(word, "recv-error") == 0 && value != NULL)
		return parse_count(value, &plan->recv_error);
	if (strcmp(word, "dma-delay") == 0 && value != NULL) {
		if (parse_count(value, &n) != 0 || n > DMA_DELAY_MAX)
			return -EINVAL;
		plan->dma_delay = (uint32_t)n;
		return 0;
	}
	if (value != NULL)
		return parse_firmware(word, value, plan) == 0 ? 0 : -EINVAL;
	if (strcmp(word, "overwrite") == 0)
		plan->overwrite = 1;
	else if (strcmp(word, "records") == 0)
		plan->records = 1;
	else
		return -EINVAL;
	return 0;
}

int
scx_fault_parse(const char *spec, struct scx_fault_plan *plan, char *why, size_t why_bytes)
{
	char word[64];
	size_t n;

	memset(plan, 0, sizeof(*plan));
	while (*spec != '\0') {
		n = strcspn(spec, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : sizeof(word)),
			spec);
		if (n >= sizeof(word) || parse_word(word, plan) != 0) {
			snprintf(why, why_bytes,
				"'%.*s' is none of send-error=N, recv-error=N, dma-delay=N, "
				"overwrite, records, pages=N@C, health=S@C, link-flap=MS",
				(int)(n < 60 ? n : 60), spec);
			return -EINVAL;
		}
		spec += n + (spec[n] == ',');
	}
	return 0;
}
