/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer's place where there is none: runs a target on the inputs of its corpus file, each once,
 * in memory of exactly its size. `fuzz_replay_X FILE...`; a name that does not end in .txt is one
 * raw input. A corpus file has an input a line, in base64; what follows a space is a remark.
 */
#include "fz.h"

#define LINE_MAX_BYTES (1u << 20)

static int
value(int c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c == '\0' ? NULL : strchr(digits, c);

	return at == NULL ? -1 : (int)(at - digits);
}

/* Decodes in place; returns the bytes. */
static size_t
decode(uint8_t *text)
{
	uint32_t bits = 0, nr = 0;
	size_t n = 0;

	for (const uint8_t *p = text; value(*p) >= 0; p++) {
		bits = bits << 6 | (uint32_t)value(*p);
		nr += 6;
		if (nr < 8)
			continue;
		nr -= 8;
		text[n++] = (uint8_t)(bits >> nr);
	}
	return n;
}

static void
run(const uint8_t *data, size_t n)
{
	uint8_t *exact = fz_alloc(16, n);

	memcpy(exact, data, n);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
}

static bool
is_corpus(const char *path)
{
	size_t n = strlen(path);

	return n > 4 && strcmp(path + n - 4, ".txt") == 0;
}

int
main(int argc, char **argv)
{
	static char line[LINE_MAX_BYTES];
	unsigned nr = 0, number = 0;

	run((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");

		if (f == NULL) {
			fprintf(stderr, "replay: cannot open %s\n", argv[i]);
			return 2;
		}
		if (!is_corpus(argv[i])) {
			run((uint8_t *)line, fread(line, 1, sizeof(line), f));
			nr++;
		}
		for (number = 1; is_corpus(argv[i]) && fgets(line, sizeof(line), f); number++) {
			if (line[0] == '#' || line[0] == '\n')
				continue;
			if (getenv("FZ_VERBOSE") != NULL)
				fprintf(stderr, "%s:%u\n", argv[i], number);
			run((uint8_t *)line, decode((uint8_t *)line));
			nr++;
		}
		fclose(f);
	}
	printf("%u inputs replayed\n", nr);
	return 0;
}
