/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PRM layouts as tables, made from the lists in drivers/mlx5/prm.h: see layout.h. Called by the
 * command interpreter for every mailbox, before any command looks at it.
 */
#include <assert.h>
#include <string.h>

#include "layout.h"

#define LARGEST_IN 0x1100u /* bytes of the largest input layout, lists not counted */

/* clang-format off */
#define FIELD(L, l, NAME, name, off, bits) {#name, off, (uint16_t)(bits), -1},
#define NESTED(L, l, NAME, name, off, bits, SUB) {#name, off, (uint16_t)(bits), SCX_LAYOUT_##SUB},
#define TABLE(L, l, bits) \
	static const struct scx_layout_field l##_fields[] = { \
		CRL_PRM_##L##_FIELDS(FIELD, NESTED, L, l){NULL, 0, 0, -1}};
CRL_PRM_LAYOUTS(TABLE)

#define ENTRY(L, l, bits) {#l, (bits) / 8, l##_fields},
const struct scx_layout scx_layouts[SCX_LAYOUT_COUNT] = {CRL_PRM_LAYOUTS(ENTRY)};
/* clang-format on */

static void
mask_fields(const struct scx_layout *layout, uint32_t base, uint8_t *mask)
{
	for (const struct scx_layout_field *f = layout->field; f->name != NULL; f++) {
		if (f->sub >= 0) {
			mask_fields(&scx_layouts[f->sub], base + f->off, mask);
			continue;
		}
		for (uint32_t bit = base + f->off; bit < base + f->off + f->bits; bit++)
			mask[bit / 8] |= (uint8_t)(0x80u >> bit % 8);
	}
}

void
scx_layout_mask(enum scx_layout_id id, uint8_t *mask)
{
	memset(mask, 0, scx_layouts[id].bytes);
	mask_fields(&scx_layouts[id], 0, mask);
}

int
scx_layout_reserved(enum scx_layout_id id, const uint8_t *mailbox, uint8_t *bits)
{
	uint8_t mask[LARGEST_IN];

	assert(scx_layouts[id].bytes <= sizeof(mask));
	scx_layout_mask(id, mask);
	mask_fields(&scx_layouts[SCX_LAYOUT_CMD_IN], 0, mask);
	for (uint32_t i = 0; i < scx_layouts[id].bytes; i++) {
		*bits = mailbox[i] & (uint8_t)~mask[i];
		if (*bits != 0)
			return (int)i;
	}
	return -1;
}

const char *
scx_layout_field_name(enum scx_layout_id id, uint32_t field)
{
	for (const struct scx_layout_field *f = scx_layouts[id].field; f->name != NULL; f++)
		if (f->off == crl_prm_off(field) && f->bits == crl_prm_bits(field))
			return f->name;
	return "?";
}
