/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests that hold our layouts against those of others. */
#ifndef WIRE_SAME_H
#define WIRE_SAME_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu_queues/wire/cqe.h"
#include "gpu_queues/wire/doorbell.h"
#include "gpu_queues/wire/wqe.h"

#define FIELD_BYTES(type, field) sizeof(((struct type *)0)->field)

/* Field f of our struct lies where theirs has field g, and is as wide. */
#define SAME(ours, f, theirs, g)                                                                   \
	do {                                                                                       \
		assert_int_equal(offsetof(struct ours, f), offsetof(struct theirs, g));            \
		assert_int_equal(FIELD_BYTES(ours, f), FIELD_BYTES(theirs, g));                    \
	} while (0)

#endif /* WIRE_SAME_H */
