/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The accessors of drivers/mlx5/prm.h, over every field of every layout: a field's bits and no
 * others are written, what was written is read. That the fields are where the PRM has them is
 * prm_compare.py's part.
 */
#include "fixture.h"

#define BYTES_MAX (CRL_PRM_NIC_FT_CAPS_BYTES + 64)

static uint32_t
field_of(const struct scx_layout_field *f)
{
	return (uint32_t)f->off << 16 | f->bits;
}

/* Bits of buf that are 1, counted as the PRM does. */
static bool
only_field_set(const uint8_t *buf, size_t bytes, const struct scx_layout_field *f)
{
	for (uint32_t bit = 0; bit < bytes * 8; bit++) {
		bool want = bit >= f->off && bit < (uint32_t)f->off + f->bits;

		if (((buf[bit / 8] >> (7 - bit % 8)) & 1) != want)
			return false;
	}
	return true;
}

static void
fields_are_written_and_read(void **state)
{
	static CRL_ALIGNAS(8) uint8_t buf[BYTES_MAX];
	unsigned done = 0;

	for (unsigned i = 0; i < SCX_LAYOUT_COUNT; i++) {
		for (const struct scx_layout_field *f = scx_layouts[i].field; f->name; f++) {
			size_t bytes = scx_layouts[i].bytes;

			if (f->bits > 32 && f->bits != 64)
				continue;
			assert_true(bytes <= sizeof(buf));
			memset(buf, 0, bytes);
			if (f->bits == 64) {
				crl_prm_set64(buf, field_of(f), UINT64_MAX);
				assert_true(only_field_set(buf, bytes, f));
				crl_prm_set64(buf, field_of(f), 0x0123456789abcdef);
				assert_int_equal(
					0x0123456789abcdef, crl_prm_get64(buf, field_of(f)));
				assert_int_equal(0x01, buf[f->off / 8]); /* big-endian */
			} else {
				uint32_t ones = (uint32_t)((1ull << f->bits) - 1);

				crl_prm_set(buf, field_of(f), ones);
				assert_true(only_field_set(buf, bytes, f));
				assert_int_equal(ones, crl_prm_get(buf, field_of(f)));
				memset(buf, 0xff, bytes);
				crl_prm_set(buf, field_of(f), 0);
				assert_int_equal(0, crl_prm_get(buf, field_of(f)));
			}
			done++;
		}
	}
	assert_true(done > 300);
}

/* No two fields of one layout share a bit, and none crosses a word or the layout's end. */
static void
fields_do_not_overlap(void **state)
{
	for (unsigned i = 0; i < SCX_LAYOUT_COUNT; i++) {
		const struct scx_layout *l = &scx_layouts[i];

		for (const struct scx_layout_field *f = l->field; f->name; f++) {
			assert_true((uint32_t)f->off + f->bits <= l->bytes * 8);
			if (f->bits <= 32)
				assert_true(f->off % 32 + f->bits <= 32);
			if (f->sub >= 0)
				assert_int_equal(f->bits, scx_layouts[f->sub].bytes * 8);
			for (const struct scx_layout_field *g = l->field; g < f; g++)
				if (g->off < f->off + f->bits && f->off < g->off + g->bits)
					fail_msg(
						"%s: %s and %s overlap", l->name, f->name, g->name);
		}
	}
}

static void
reserved_bits_are_found(void **state)
{
	CRL_ALIGNAS(8) uint8_t in[CRL_PRM_CREATE_SQ_IN_BYTES] = {0};
	uint8_t bits;

	assert_int_equal(-1, scx_layout_reserved(SCX_LAYOUT_CREATE_SQ_IN, in, &bits));
	crl_prm_set(crl_prm_at(in, CRL_PRM_CREATE_SQ_IN_CTX), CRL_PRM_SQC_CQN, 0xffffff);
	crl_prm_set(in, CRL_PRM_CMD_IN_UID, 0xffff);
	assert_int_equal(-1, scx_layout_reserved(SCX_LAYOUT_CREATE_SQ_IN, in, &bits));
	in[CRL_PRM_CREATE_SQ_IN_BYTES - 1] = 0x10;
	assert_int_equal(CRL_PRM_CREATE_SQ_IN_BYTES - 1,
		scx_layout_reserved(SCX_LAYOUT_CREATE_SQ_IN, in, &bits));
	assert_int_equal(0x10, bits);
	assert_string_equal("cqn", scx_layout_field_name(SCX_LAYOUT_SQC, CRL_PRM_SQC_CQN));
	assert_string_equal("?", scx_layout_field_name(SCX_LAYOUT_SQC, 1u << 16 | 31));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_written_and_read),
		cmocka_unit_test(fields_do_not_overlap),
		cmocka_unit_test(reserved_bits_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
