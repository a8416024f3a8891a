/* SPDX-License-Identifier: BSD-3-Clause */
/* See corpus_lines.h. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "corpus_lines.h"

void
corpus_lines(void (*read_line)(const char *line))
{
	const char *path = getenv("CRL_CORPUS");
	char line[512];
	FILE *f;

	assert_non_null(path);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		read_line(line);
	}
	fclose(f);
}

uint32_t
corpus_hex(const char *text, uint8_t *to, uint32_t most)
{
	uint32_t n = 0, digits = 0;
	char pair[3] = "";

	for (; *text != '\0'; text++) {
		if (!isxdigit((unsigned char)*text))
			continue;
		pair[digits++ % 2] = *text;
		if (digits % 2 != 0)
			continue;
		assert_true(n < most);
		to[n++] = (uint8_t)strtoul(pair, NULL, 16);
	}
	assert_int_equal(digits % 2, 0);
	return n;
}
