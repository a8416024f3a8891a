/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The doctor's files, from a fuzzer's input: see faketree.c.
 */
#ifndef CRL_FUZZ_FAKETREE_H
#define CRL_FUZZ_FAKETREE_H

#include "apps/doctor/doctor.h"
#include "fz.h"

void faketree(struct fz *f);

#endif /* CRL_FUZZ_FAKETREE_H */
