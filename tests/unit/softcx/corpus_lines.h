/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of tests/corpus, for the tests that read them: the file named by CRL_CORPUS a line at a
 * time, and bytes as people printed them.
 */
#ifndef SCX_TEST_CORPUS_LINES_H
#define SCX_TEST_CORPUS_LINES_H

#include <stdint.h>

/* Fails the test when there is no file. line: without its end. */
void corpus_lines(void (*read_line)(const char *line));
/* Hex digits with anything between them, at most most bytes of them; how many. */
uint32_t corpus_hex(const char *text, uint8_t *to, uint32_t most);

#endif /* SCX_TEST_CORPUS_LINES_H */
