/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Check "nic": is there a ConnectX, is it new enough, does the kernel's driver have it. Host only.
 */
#include <string.h>

#include "doctor.h"

static void
judge_model(struct doctor *d, const struct dr_nic *n)
{
	struct dr_finding *f;

	if (n->model == NULL) {
		f = dr_find(d, DR_NOTE, "unknown_id", n->pci.bdf,
			"a Mellanox network device that this version's table does not name");
		dr_fix(f, "none needed if the other checks are well; report the id");
	} else if (n->model->too_old) {
		f = dr_find(
			d, DR_STOP, "too_old", n->pci.bdf, "%s is no mlx5 device", n->model->name);
		dr_fix(f, "use a ConnectX-5 or newer");
	} else if (n->model->doubtful) {
		f = dr_find(d, DR_WARN, "doubtful", n->pci.bdf,
			"%s: the oldest mlx5 generation; it wants headers in the WQE and offers "
			"DevX only in part",
			n->model->name);
		dr_fix(f, "ConnectX-5 or newer; check 'devx' says what this one offers");
	} else {
		f = dr_find(d, DR_OK, "model", n->pci.bdf, "%s", n->model->name);
	}
	dr_evidence(f, "/sys/bus/pci/devices/%s: vendor 0x%04x device 0x%04x", n->pci.bdf,
		n->pci.vendor, n->pci.device);
}

static void
judge_driver(struct doctor *d, const struct dr_nic *n)
{
	struct dr_finding *f;

	if (n->model != NULL && n->model->too_old)
		return;
	if (strcmp(n->pci.driver, "mlx5_core") == 0) {
		f = dr_find(d, DR_OK, "driver", n->pci.bdf, "mlx5_core has it");
	} else if (n->pci.driver[0] == '\0') {
		f = dr_find(d, DR_STOP, "no_driver", n->pci.bdf, "no kernel driver has it");
		dr_fix(f, "modprobe mlx5_core; see the kernel log if it does not take the device");
	} else {
		f = dr_find(d, DR_STOP, "other_driver", n->pci.bdf,
			"%s has it; Carillon and net_mlx5 need mlx5_core, which they share it with",
			n->pci.driver);
		dr_fix(f, "dpdk-devbind.py -b mlx5_core %s", n->pci.bdf);
	}
	dr_evidence(f, "/sys/bus/pci/devices/%s/driver: %s", n->pci.bdf,
		n->pci.driver[0] != '\0' ? n->pci.driver : "(no such link)");
}

static void
judge_vf(struct doctor *d, const struct dr_nic *n)
{
	struct dr_finding *f;

	if (!dr_exists(d, "sys/bus/pci/devices/%s/physfn", n->pci.bdf))
		return;
	f = dr_find(d, DR_WARN, "vf", n->pci.bdf,
		"a virtual function: its frames pass the owner's switch, and DevX may be refused");
	dr_evidence(f, "/sys/bus/pci/devices/%s/physfn is there", n->pci.bdf);
	dr_fix(f, "use the physical function, or set the VF trusted on the host");
}

void
dr_check_nic(struct doctor *d)
{
	struct dr_finding *f;

	for (unsigned i = 0; i < d->nr_nics; i++) {
		judge_model(d, &d->nic[i]);
		judge_driver(d, &d->nic[i]);
		judge_vf(d, &d->nic[i]);
	}
	if (d->nr_nics != 0)
		return;
	f = dr_find(d, DR_STOP, "none", "", "this machine has no ConnectX or BlueField NIC");
	dr_evidence(f, "no device of vendor 0x15b3 and class 0x02 in /sys/bus/pci/devices");
	dr_fix(f, "without a card: softcx run -- PROGRAM; in a virtual machine: pass the card "
		  "through");
}
