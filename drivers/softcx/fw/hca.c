/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of hca.h from a NIC's creation to its end. A reset of the device is a new NIC: the
 * front destroys this one and creates another.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "hca.h"

int
scx_fw_hca_init(struct scx_nic *nic)
{
	nic->hca = calloc(1, sizeof(*nic->hca));
	if (nic->hca == NULL)
		return -ENOMEM;
	nic->hca->admin_up = 1;
	nic->hca->chance = nic->cfg.seed;
	snprintf(nic->hca->node_desc, sizeof(nic->hca->node_desc), "softcx %s", nic->name);
	return 0;
}

void
scx_fw_hca_fini(struct scx_nic *nic)
{
	free(nic->hca);
	nic->hca = NULL;
}
