/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of findings, in the order in which the checks made them. Host only.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "doctor.h"

/* What a file said may be any bytes; JSON is UTF-8, and a terminal obeys some of them. */
static void
printable(char *text)
{
	for (; *text != '\0'; text++)
		if (!isprint((unsigned char)*text))
			*text = '?';
}

struct dr_finding *
dr_find(struct doctor *d, enum dr_level level, const char *id, const char *subject, const char *say,
	...)
{
	/* When the list is full its last entry is written over: there is always one to fill. */
	struct dr_finding *f = &d->finding[d->nr_findings < DR_FINDINGS_MAX ? d->nr_findings++
									    : DR_FINDINGS_MAX - 1];
	va_list ap;

	f->check = d->check;
	f->level = level;
	f->evidence[0] = '\0';
	f->fix[0] = '\0';
	snprintf(f->id, sizeof(f->id), "%s.%s", d->check, id);
	snprintf(f->subject, sizeof(f->subject), "%s", subject);
	va_start(ap, say);
	vsnprintf(f->say, sizeof(f->say), say, ap);
	va_end(ap);
	printable(f->subject);
	printable(f->say);
	return f;
}

void
dr_evidence(struct dr_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->evidence, sizeof(f->evidence), fmt, ap);
	va_end(ap);
	printable(f->evidence);
}

void
dr_fix(struct dr_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->fix, sizeof(f->fix), fmt, ap);
	va_end(ap);
	printable(f->fix);
}

unsigned
dr_count(const struct doctor *d, enum dr_level level)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->nr_findings; i++)
		n += d->finding[i].level == level;
	return n;
}
