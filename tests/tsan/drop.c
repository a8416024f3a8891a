/* SPDX-License-Identifier: BSD-3-Clause */
/* The edge that is left out (tsan.h); edges.c sets it before there are threads. */
#include <stddef.h>

extern const char *tsan_drop;
const char *tsan_drop;
