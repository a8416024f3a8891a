/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.h: slots, room, and indices cut to the wire's bits and made whole again. */
#include "fake_nic.h"

#include "gpu_queues/ring.h"

static void
slots(void **state)
{
	uint32_t log;

	for (log = 0; log <= CRL_LOG_DEPTH_MAX; log++) {
		uint64_t d = crl_ring_depth(log);

		assert_int_equal(d, 1u << log);
		assert_int_equal(crl_ring_slot(0, log), 0);
		assert_int_equal(crl_ring_slot(d - 1, log), d - 1);
		assert_int_equal(crl_ring_slot(d, log), 0);
		assert_int_equal(crl_ring_slot(UINT64_MAX, log), d - 1);
	}
}

static void
room(void **state)
{
	uint32_t log;

	for (log = 0; log <= CRL_LOG_DEPTH_MAX; log++) {
		uint64_t d = crl_ring_depth(log), at = UINT64_MAX - 3;

		assert_int_equal(crl_ring_room(at, at, log), d);
		assert_int_equal(crl_ring_room(at + d, at, log), 0);
		assert_int_equal(crl_ring_room(at + 1, at, log), d - 1);
	}
}

static void
wire_bits(void **state)
{
	static const uint64_t from[] = {
		0, 1, 0xfffe, 0xffff, 0x10000, 0xffffff, 0x1000000, 0x123456789};
	size_t i;
	uint64_t k;

	for (i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		for (k = 0; k <= 0xffff; k++)
			assert_true(
				crl_index_from16(from[i], crl_index16(from[i] + k)) == from[i] + k);
	}
	assert_int_equal(crl_index24(0x1fffffe), 0xfffffe);
	assert_int_equal(crl_index24(0x1000000), 0);
	assert_int_equal(crl_index16(0x1ffff), 0xffff);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots),
		cmocka_unit_test(room),
		cmocka_unit_test(wire_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
