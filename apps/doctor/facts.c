/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The facts that are no files: versions of libraries, limits, what DevX and CUDA said. The probes
 * set them on a machine; for a tree under --root they come from its file "facts", a line each, the
 * key first. A fact that nobody set is unknown, and checks say so. Host only.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

void
dr_fact_set(struct doctor *d, const char *key, const char *fmt, ...)
{
	va_list ap;

	if (d->nr_facts == DR_FACTS_MAX)
		return;
	snprintf(d->fact[d->nr_facts].key, DR_NAME, "%s", key);
	va_start(ap, fmt);
	vsnprintf(d->fact[d->nr_facts++].value, DR_TEXT, fmt, ap);
	va_end(ap);
}

static const char *
look_up(const struct doctor *d, const char *fmt, va_list ap)
{
	char key[DR_NAME];

	vsnprintf(key, sizeof(key), fmt, ap);
	for (unsigned i = 0; i < d->nr_facts; i++)
		if (strcmp(d->fact[i].key, key) == 0)
			return d->fact[i].value;
	return NULL;
}

const char *
dr_fact(const struct doctor *d, const char *fmt, ...)
{
	const char *value;
	va_list ap;

	va_start(ap, fmt);
	value = look_up(d, fmt, ap);
	va_end(ap);
	return value;
}

long
dr_fact_number(const struct doctor *d, long otherwise, const char *fmt, ...)
{
	const char *value;
	char *end;
	long n;
	va_list ap;

	va_start(ap, fmt);
	value = look_up(d, fmt, ap);
	va_end(ap);
	if (value == NULL)
		return otherwise;
	n = strtol(value, &end, 0);
	return end == value ? otherwise : n;
}

void
dr_facts_load(struct doctor *d)
{
	char path[PATH_MAX + 16], line[DR_NAME + DR_TEXT];
	FILE *f;

	snprintf(path, sizeof(path), "%s/facts", d->root);
	f = fopen(path, "re");
	if (f == NULL)
		return;
	while (fgets(line, sizeof(line), f) != NULL) {
		char *value = line + strcspn(line, " \t\n");

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || *value == '\0')
			continue;
		*value++ = '\0';
		dr_fact_set(d, line, "%s", value);
	}
	fclose(f);
}

int
dr_version_cmp(const char *a, const char *b)
{
	while (*a != '\0' || *b != '\0') {
		char *ea, *eb;
		long na = strtol(a, &ea, 10), nb = strtol(b, &eb, 10);

		if (na != nb)
			return na < nb ? -1 : 1;
		if (ea == a && eb == b)
			return 0;
		a = *ea == '.' ? ea + 1 : ea + strlen(ea);
		b = *eb == '.' ? eb + 1 : eb + strlen(eb);
	}
	return 0;
}
