/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the layouts of drivers/mlx5/prm.h as text, for prm_compare.py: "L name bits", then
 * "F layout field offset bits"; "O name value" an opcode, "S name value" a status.
 */
#include <stdio.h>

#include "drivers/softcx/fw/layout.h"

#define OP(NAME, value)		printf("O %s %u\n", #NAME, value);
#define STAT(NAME, value, text) printf("S %s %u\n", #NAME, value);

int
main(void)
{
	for (unsigned i = 0; i < SCX_LAYOUT_COUNT; i++) {
		const struct scx_layout *l = &scx_layouts[i];

		printf("L %s %u\n", l->name, l->bytes * 8);
		for (const struct scx_layout_field *f = l->field; f->name != NULL; f++)
			printf("F %s %s %u %u\n", l->name, f->name, f->off, f->bits);
	}
	CRL_CMD_OPS(OP)
	CRL_CMD_STATS(STAT)
	return 0;
}
