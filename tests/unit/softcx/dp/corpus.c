/* SPDX-License-Identifier: BSD-3-Clause */
/* See corpus.h. */
#include "corpus.h"

#include <stdio.h>
#include <stdlib.h>

#include "../corpus_lines.h"
#include "rig.h"

struct corpus corpus[CORPUS_MAX];
unsigned corpus_nr;

/* To the right end of 64 bytes. */
static void
read_cqe(const char *text, uint8_t out[64])
{
	uint8_t b[64];
	uint32_t n = corpus_hex(text, b, 64);

	memset(out, 0, 64);
	memcpy(out + 64 - n, b, n);
}

long
corpus_said(const char *line, const char *name)
{
	char key[24];
	const char *at;

	snprintf(key, sizeof(key), " %s=", name);
	at = strstr(line, key);
	return at != NULL ? strtol(at + strlen(key), NULL, 16) : -1;
}

static struct corpus *
new_record(const char *line)
{
	struct corpus *r = &corpus[corpus_nr++];

	assert_true(corpus_nr <= CORPUS_MAX);
	memset(r, 0, sizeof(*r));
	r->index = -1;
	r->syndrome = r->vendor = r->hw = r->type = r->opcode = r->wqeop = -1;
	r->queue = r->wqe_counter = -1;
	assert_int_equal(sscanf(line, "record %31s %7s", r->id, r->reporter), 2);
	return r;
}

static void
read_line(const char *line)
{
	struct corpus *r = corpus_nr > 0 ? &corpus[corpus_nr - 1] : NULL;

	if (strncmp(line, "record ", 7) == 0) {
		new_record(line);
	} else if (strncmp(line, "link ", 5) == 0) {
		snprintf(r->link, sizeof(r->link), "%.159s", line + 5);
	} else if (strncmp(line, "index ", 6) == 0) {
		r->index = atoi(line + 6);
	} else if (strncmp(line, "cqe ", 4) == 0) {
		read_cqe(line + 4, r->cqe);
		r->has_cqe = 1;
	} else if (strncmp(line, "wqe ", 4) == 0) {
		r->wqe_bytes +=
			corpus_hex(line + 4, r->wqe + r->wqe_bytes, CORPUS_WQE_MAX - r->wqe_bytes);
	} else if (strncmp(line, "wqesays ", 8) == 0) {
		snprintf(r->fields, sizeof(r->fields), "%.159s", line + 7);
	} else if (strncmp(line, "says ", 5) == 0) {
		r->syndrome = corpus_said(line, "syndrome");
		r->vendor = corpus_said(line, "vendor");
		r->hw = corpus_said(line, "hw");
		r->type = corpus_said(line, "type");
		r->opcode = corpus_said(line, "opcode");
		r->wqeop = corpus_said(line, "wqeop");
		r->queue = corpus_said(line, "queue");
		r->wqe_counter = corpus_said(line, "wqe");
	}
}

int
corpus_load(void **state)
{
	(void)state;
	corpus_lines(read_line);
	return 0;
}

const struct corpus *
corpus_find(const char *id)
{
	for (unsigned i = 0; i < corpus_nr; i++)
		if (strcmp(corpus[i].id, id) == 0)
			return &corpus[i];
	fail_msg("no record %s", id);
	return NULL;
}

uint8_t
corpus_signature(const uint8_t *cqe, unsigned number)
{
	uint8_t x = (uint8_t)(0xff ^ number ^ number >> 8 ^ number >> 16);

	for (unsigned i = 0; i < 64; i++)
		if (i != 62)
			x ^= cqe[i];
	return x;
}
