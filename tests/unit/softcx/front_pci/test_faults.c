/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can go wrong on the way to the firmware and in it: commands with wrong signatures, and a
 * firmware that stops and starts anew, as mlx5_core reads it from the registers.
 */
#include "client.h"

/* The second command after INIT_HCA is the last one. */
static int
setup_health(void **state)
{
	return setup_plan(state, "health=8@2");
}

/* ---- signatures ---- */

static uint8_t
xor8(const uint8_t *p, size_t n)
{
	uint8_t x = 0;

	while (n-- > 0)
		x ^= *p++;
	return x;
}

/* All that prepare() made, as a driver signs it. */
static void
sign(struct client *c)
{
	uint8_t *s = c->mem + CMDQ + 64;

	for (uint32_t box = 0; box < 8; box++) {
		uint8_t *m = c->mem + IN_BOX + box * BOX_STEP;

		m[0x23e] = m[0x23f] = 0;
		m[0x23e] = (uint8_t)~xor8(m + 512, 62);
		m[0x23f] = (uint8_t)~xor8(m, 575);
	}
	s[0x3d] = 0;
	s[0x3d] = (uint8_t)~xor8(s, 64);
}

static void
signatures(void **state)
{
	struct client *c = *state;
	CRL_ALIGNAS(8) uint8_t in[16 + 4096] = {0};
	const uint8_t *box = c->mem + OUT_BOX;
	uint8_t *s;

	hello(c);
	simple(c, CRL_CMD_OP_ENABLE_HCA, 0, 16, 16);
	simple(c, CRL_CMD_OP_QUERY_HCA_CAP, 0, 16, 16 + 4096);
	for (uint32_t k = 0; k < 8; k++)
		memcpy(in + 16 + k * 512, box + k * BOX_STEP, 512);
	assert_int_equal(3, crl_prm_get(in + 16, CRL_PRM_HCA_CAP_CMDIF_CHECKSUM));
	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_SET_HCA_CAP);
	prepare(c, in, sizeof(in), 16), sign(c),
		assert_int_equal(0, ring(c)); /* not yet looked at */
	s = c->mem + CMDQ + 64;
	assert_int_equal(0, s[0x20]);

	memset(in, 0, sizeof(in));
	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_QUERY_ISSI);
	prepare(c, in, 16, 112), assert_int_equal(1, ring(c)); /* no signature at all */
	assert_int_equal(0xff, xor8(s, 64));		       /* but the answer has one */
	s = prepare(c, in, 16, 112), sign(c), s[0x3d] ^= 4, assert_int_equal(1, ring(c));
	prepare(c, in, 600, 112), sign(c), c->mem[IN_BOX + BOX_STEP + 0x210] ^= 1;
	assert_int_equal(1, ring(c)); /* of what stands behind a mailbox's data */
	prepare(c, in, 600, 112), sign(c), c->mem[IN_BOX + 3] ^= 0x80;
	assert_int_equal(1, ring(c)); /* of the data */
	prepare(c, in, 600, 112), sign(c), c->mem[IN_BOX + BOX_STEP + 0x23d] ^= 1;
	assert_int_equal(1, ring(c)); /* a wrong token has a wrong signature too */
	s = prepare(c, in, 16, 112), sign(c), assert_int_equal(0, ring(c));
	assert_int_equal(0, s[0x20]);
	assert_int_equal(0xff, xor8(s, 64));
	assert_int_equal(0xff, xor8(box, 576));
	assert_int_equal(0xff, xor8(box + 512, 63));
}

/* ---- a firmware that stops, and starts anew ---- */

static void
health(void **state)
{
	struct client *c = *state;
	CRL_ALIGNAS(8) uint8_t in[16] = {0};
	uint32_t count;
	uint8_t *s;

	hello(c);
	bring_up(c);
	simple(c, CRL_CMD_OP_QUERY_ISSI, 0, 16, 112);
	assert_int_equal(0, read32(c, 0, 0x23c));
	simple(c, CRL_CMD_OP_ALLOC_PD, 0, 16, 16);
	assert_int_equal(
		8, crl_bswap32(read32(c, 0, 0x23c)) >> 16 & 0xff); /* as mlx5_core reads it */
	assert_int_equal(1, crl_bswap32(read32(c, 0, 0x238)) >> 31);
	count = read32(c, 0, 0x1010);
	usleep(250000);
	assert_int_equal(count, read32(c, 0, 0x1010));
	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_QUERY_ISSI);
	s = prepare(c, in, 16, 112), bar_write(c, 0x18, 1u << 1);
	assert_int_equal(1, s[0x3f]); /* not answered */

	/* A software reset: initializing for a while, and the interface is disabled. */
	bar_write(c, 0x14, (MEM_FROM + CMDQ) | 7u << 8);
	assert_int_equal(1, crl_bswap32(read32(c, 0, 0x14)) >> 8 & 7);
	assert_int_equal(1, crl_bswap32(read32(c, 0, 0x1fc)) >> 31);
	assert_int_equal(0, read32(c, 0, 0x23c));
	usleep(100000);
	assert_int_equal(1u << 30, crl_bswap32(read32(c, 0, 0x1fc)));
	assert_int_not_equal(count, read32(c, 0, 0x1010));
	bar_write(c, 0x14, MEM_FROM + CMDQ);
	assert_int_equal(0, crl_bswap32(read32(c, 0, 0x14)) >> 8 & 7);
	bring_up(c); /* from the start, as after power on */
	simple(c, CRL_CMD_OP_ALLOC_PD, 0, 16, 16);
	simple(c, CRL_CMD_OP_ALLOC_PD, 0, 16, 16);
	assert_int_not_equal(0, read32(c, 0, 0x23c));
	/* A command queue given again is enough. */
	bar_write(c, 0x10, 0);
	bar_write(c, 0x14, MEM_FROM + CMDQ);
	bring_up(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(signatures, setup, teardown),
		cmocka_unit_test_setup_teardown(health, setup_health, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
