/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive side's one look at a frame takes plain frames through registers. Here it has to say
 * the same as the general parser, for random frames that are plain but for a bit here and there.
 */
#include "rig.h"

#include "drivers/softcx/dp/dp_all.h"

static void
compare(const uint8_t *f, uint32_t len)
{
	struct scx_frame frame = {f, len, 0};
	struct scx_seen quick, any;

	memset(&quick, 0x11, sizeof(quick));
	memset(&any, 0x22, sizeof(any));
	scx_examine(&quick, &frame);
	scx_examine_any(&any, &frame);
	assert_memory_equal(quick.key, any.key, sizeof(any.key));
	assert_int_equal(quick.info, any.info);
	assert_int_equal(quick.complete, any.complete);
	assert_int_equal(quick.vlan, any.vlan);
	assert_int_equal(quick.tagged, any.tagged);
}

/* A plain frame, TCP or UDP, with right checksums, perhaps padded. */
static uint32_t
plain(struct scx_fault *rng, uint8_t *f)
{
	uint64_t x = scx_fault_rand(rng);
	uint32_t len = 60 + (uint32_t)(x & 127), pad = x >> 8 & 1 ? (uint32_t)(x >> 9 & 15) : 0, i;

	if (len - pad < 54)
		pad = 0;
	for (i = 0; i < len; i++)
		f[i] = (uint8_t)scx_fault_rand(rng);
	rig_udp4(f, len - pad, (uint16_t)(x >> 16), (uint16_t)(x >> 32));
	if (x >> 48 & 1) {
		f[23] = 6;
		f[46] = (uint8_t)(0x50 | (x >> 49 & 0x31));
		scx_insert_checksums(f, len, CRL_ETH_L3_CSUM | CRL_ETH_L4_CSUM);
	}
	return len;
}

static void
test_same(void **state)
{
	struct scx_fault rng;
	uint8_t f[256];
	uint32_t i, len, ok = 0;

	(void)state;
	scx_fault_seed(&rng, 3);
	for (i = 0; i < 200000; i++) {
		struct scx_frame frame = {f, 0, 0};
		struct scx_seen s;
		uint64_t x = scx_fault_rand(&rng);

		frame.len = len = plain(&rng, f);
		scx_examine(&s, &frame);
		ok += s.info >> 24 == 7;
		compare(f, len);
		if (x & 1) /* one bit of the headers */
			f[12 + (x >> 8) % 36] ^= (uint8_t)(1u << (x >> 16 & 7));
		if (x & 2) /* and one anywhere */
			f[(x >> 24) % len] ^= (uint8_t)(1u << (x >> 40 & 7));
		compare(f, len);
	}
	assert_int_equal(ok, 200000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_same)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
