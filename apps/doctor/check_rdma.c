/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Check "rdma": the RDMA device of each NIC, its uverbs node, whether this user may open it, and
 * the modules without which neither is there. Host only.
 */
#include <stdio.h>
#include <string.h>

#include "doctor.h"

static void
judge_no_device(struct doctor *d, const struct dr_nic *n)
{
	bool ib = dr_exists(d, "sys/module/mlx5_ib"), uverbs = dr_exists(d, "sys/module/ib_uverbs");
	struct dr_finding *f = dr_find(d, DR_STOP, ib ? "no_device" : "no_mlx5_ib", n->pci.bdf,
		"the NIC has no RDMA device");

	dr_evidence(f,
		"/sys/bus/pci/devices/%s/infiniband is not there; modules: mlx5_ib %s, "
		"ib_uverbs %s",
		n->pci.bdf, ib ? "loaded" : "not loaded", uverbs ? "loaded" : "not loaded");
	dr_fix(f, ib ? "see the kernel log for mlx5_ib; `devlink dev param` may have RDMA off"
		     : "modprobe mlx5_ib (Debian: package linux-image of the full flavour)");
}

static void
judge_node(struct doctor *d, const struct dr_nic *n)
{
	struct dr_finding *f;
	unsigned mode;
	bool may;

	if (n->uverbs[0] == '\0') {
		f = dr_find(d, DR_STOP, "no_uverbs", n->ib, "the RDMA device has no uverbs node");
		dr_evidence(f, "/sys/class/infiniband_verbs has none for %s", n->ib);
		dr_fix(f, "modprobe ib_uverbs");
		return;
	}
	may = dr_may_write(d, &mode, "dev/infiniband/%s", n->uverbs);
	if (mode == 0) {
		f = dr_find(
			d, DR_STOP, "no_node", n->ib, "/dev/infiniband/%s is missing", n->uverbs);
		dr_evidence(f, "/sys/class/infiniband_verbs/%s is there, its device node is not",
			n->uverbs);
		dr_fix(f, dr_exists(d, ".dockerenv") || dr_exists(d, "run/.containerenv")
				  ? "start the container with --device /dev/infiniband"
				  : "udev makes it: is udevd running, is ib_uverbs loaded?");
		return;
	}
	if (may) {
		f = dr_find(d, DR_OK, "node", n->ib, "%s may be opened", n->uverbs);
	} else {
		f = dr_find(
			d, DR_STOP, "permission", n->ib, "this user may not open %s", n->uverbs);
		dr_fix(f, "run as root, or give the user access: group rdma, or a udev rule");
	}
	dr_evidence(f, "/dev/infiniband/%s: mode %04o, uid %ld", n->uverbs, mode,
		dr_fact_number(d, -1, "uid"));
}

void
dr_check_rdma(struct doctor *d)
{
	for (unsigned i = 0; i < d->nr_nics; i++) {
		const struct dr_nic *n = &d->nic[i];
		struct dr_finding *f;

		if ((n->model != NULL && n->model->too_old) ||
			strcmp(n->pci.driver, "mlx5_core") != 0)
			continue; /* check "nic" said why */
		if (n->ib[0] == '\0') {
			judge_no_device(d, n);
			continue;
		}
		if (!n->ethernet) {
			f = dr_find(d, DR_STOP, "infiniband", n->ib,
				"the port speaks InfiniBand; Carillon sends Ethernet frames");
			dr_evidence(f, "/sys/class/infiniband/%s/ports/1/link_layer: InfiniBand",
				n->ib);
			dr_fix(f,
				"mlxconfig -d %s set LINK_TYPE_P1=2, then reset the card, if it "
				"is a VPI card",
				n->pci.bdf);
		}
		judge_node(d, n);
	}
}
