/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tests/corpus/error_cqes.txt, whose path comes in CRL_CORPUS, as records: what real cards wrote,
 * and what they were given.
 */
#ifndef SCX_TEST_CORPUS_H
#define SCX_TEST_CORPUS_H

#include <stdint.h>

#define CORPUS_MAX     128u
#define CORPUS_WQE_MAX 256u

struct corpus {
	char id[32], reporter[8], link[160];
	int index; /* -1: not said */
	_Alignas(64) uint8_t cqe[64]; /* as in a ring: they are read as what they are */
	_Alignas(64) uint8_t wqe[CORPUS_WQE_MAX];
	int has_cqe;
	uint32_t wqe_bytes;
	char fields[160]; /* of a line "wqesays", with a blank before each */
	long syndrome, vendor, hw, type, opcode, wqeop, queue, wqe_counter; /* -1: not said */
};

extern struct corpus corpus[CORPUS_MAX];
extern unsigned corpus_nr;

int corpus_load(void **state); /* cmocka group set-up */
const struct corpus *corpus_find(const char *id);
long corpus_said(const char *line, const char *name); /* name=HEX; -1: not there */
/* The formula of drivers/softcx/dp/syndrome.h, written out byte by byte. */
uint8_t corpus_signature(const uint8_t *cqe, unsigned number);

#endif /* SCX_TEST_CORPUS_H */
