/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PRM layouts of drivers/mlx5/prm.h as tables that can be walked at run time: for the check of
 * reserved bits and to name a field in the log.
 */
#ifndef SCX_FW_LAYOUT_H
#define SCX_FW_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../mlx5/prm.h"

#define SCX_LAYOUT_ENUM(L, l, bits) SCX_LAYOUT_##L,
enum scx_layout_id { CRL_PRM_LAYOUTS(SCX_LAYOUT_ENUM) SCX_LAYOUT_COUNT };
#undef SCX_LAYOUT_ENUM

struct scx_layout_field {
	const char *name; /* PRM; NULL ends the table */
	uint16_t off, bits;
	int16_t sub; /* enum scx_layout_id of the layout that fills the field, -1: none */
};

struct scx_layout {
	const char *name; /* PRM */
	uint32_t bytes;
	const struct scx_layout_field *field;
};

extern const struct scx_layout scx_layouts[SCX_LAYOUT_COUNT];

/* A 1 in mask for every bit that a field of the layout covers; mask has the layout's size. */
void scx_layout_mask(enum scx_layout_id id, uint8_t *mask);
/* Index of the first byte of mailbox that has a bit which no field covers; -1: none. */
int scx_layout_reserved(enum scx_layout_id id, const uint8_t *mailbox, uint8_t *bits);
/* The PRM's name of a field of that layout itself, e.g. of CRL_PRM_SQC_CQN: "cqn". */
const char *scx_layout_field_name(enum scx_layout_id id, uint32_t field);

#endif /* SCX_FW_LAYOUT_H */
