/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h's hash, worked out elsewhere for a few fields, and that each of a field's three words
 * counts, and where it stands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu_queues/layout.h"

static void
known(void **state)
{
	(void)state;
	assert_int_equal(crl_layout_add(2166136261u, 1, 2, 3), 0x56cf9a35u);
	assert_int_equal(crl_layout_add(2166136261u, 3, 2, 1), 0x3e92cae6u);
	assert_int_equal(crl_layout_add(2166136261u, 0xffffffffu, 0, 0x80000000u), 0xf669b82eu);
}

/* Two structs of one size: two fields that change places, one that grows at the other's cost. */
struct first {
	uint32_t left, right;
	uint8_t end[8];
};
struct swapped {
	uint32_t right, left;
	uint8_t end[8];
};
struct grown {
	uint32_t left;
	uint16_t right;
	uint8_t end[10];
};

#define LIST(F, S) F(S, left) F(S, right) F(S, end)

static void
structs(void **state)
{
	uint32_t h, a, b, c;

	(void)state;
	h = 1;
	LIST(CRL_LAYOUT_FIELD, struct first) a = h;
	h = 1;
	LIST(CRL_LAYOUT_FIELD, struct swapped) b = h;
	h = 1;
	LIST(CRL_LAYOUT_FIELD, struct grown) c = h;
	assert_true(a != b && b != c && c != a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known),
		cmocka_unit_test(structs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
