/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the queue tests share: checks that count instead of stopping, so that one run shows every
 * failure, and calls that must succeed. Exit status of a test: check_done().
 */
#ifndef CRL_TEST_CHECK_H
#define CRL_TEST_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <carillon/carillon.h>

static int check_failed;
static int check_passed;

#define CHECK(cond, ...)                                                                           \
	do {                                                                                       \
		if (cond) {                                                                        \
			check_passed++;                                                            \
		} else {                                                                           \
			check_failed++;                                                            \
			printf("FAIL %s:%d: %s: ", __FILE__, __LINE__, #cond);                     \
			printf(__VA_ARGS__);                                                       \
			printf("\n");                                                              \
		}                                                                                  \
	} while (0)

/* For calls without which the test cannot go on. */
static inline void
must(int ret, const struct crl_err *err, const char *what)
{
	char line[512];

	if (ret >= 0)
		return;
	printf("FAIL %s = %d: %s\n", what, ret, crl_err_str(err, line, sizeof(line)));
	exit(1);
}

/* A refusal: right code, and words that name cause and step. */
static inline void
refused(int ret, const struct crl_err *err, int code, const char *words)
{
	char line[512];

	crl_err_str(err, line, sizeof(line));
	CHECK(ret == code, "returned %d, wanted %d (%s)", ret, code, line);
	CHECK(err->code == ret && err->step[0] && err->cause[0], "err not filled: %s", line);
	CHECK(strstr(line, words) != NULL, "\"%s\" is not in \"%s\"", words, line);
	if (getenv("CHECK_VERBOSE") != NULL)
		printf("  refused: %s\n", line);
}

static inline int
check_done(const char *name)
{
	printf("%s: %d checks passed, %d failed\n", name, check_passed, check_failed);
	return check_failed != 0;
}

#endif /* CRL_TEST_CHECK_H */
