/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inventory: Mellanox network functions and NVIDIA GPUs by PCI, with the RDMA device, uverbs
 * node and netdev that belong to each. First stage of a run. Host only.
 */
#include <stdio.h>
#include <string.h>

#include "doctor.h"

#define VENDOR_MELLANOX 0x15b3u
#define VENDOR_NVIDIA	0x10deu
#define CLASS_NETWORK	0x02u
#define CLASS_DISPLAY	0x03u
#define PCI_MAX		512u

static void
read_pci(const struct doctor *d, struct dr_pci *p, const char *bdf)
{
	memset(p, 0, sizeof(*p));
	snprintf(p->bdf, sizeof(p->bdf), "%.15s", bdf);
	p->vendor = (uint16_t)dr_number(d, 0, "sys/bus/pci/devices/%s/vendor", bdf);
	p->device = (uint16_t)dr_number(d, 0, "sys/bus/pci/devices/%s/device", bdf);
	p->class_code = (uint32_t)dr_number(d, 0, "sys/bus/pci/devices/%s/class", bdf);
	p->node = (int)dr_number(d, -1, "sys/bus/pci/devices/%s/numa_node", bdf);
	dr_link(d, p->driver, sizeof(p->driver), "sys/bus/pci/devices/%s/driver", bdf);
	dr_real(d, p->dir, "sys/bus/pci/devices/%s", bdf);
}

/* The first name in a folder, "" if there is none. */
static void
first_in(const struct doctor *d, char *out, size_t bytes, const char *bdf, const char *folder)
{
	char name[4][DR_NAME];

	out[0] = '\0';
	if (dr_list(d, name, 4, "sys/bus/pci/devices/%s/%s", bdf, folder) > 0)
		snprintf(out, bytes, "%.31s", name[0]);
}

/* Which /dev/infiniband/uverbsN a device has: its own folder says, or the class does. */
static void
find_uverbs(const struct doctor *d, struct dr_nic *n)
{
	char name[64][DR_NAME], ib[32];
	unsigned nr;

	first_in(d, n->uverbs, sizeof(n->uverbs), n->pci.bdf, "infiniband_verbs");
	if (n->uverbs[0] != '\0' || n->ib[0] == '\0')
		return;
	nr = dr_list(d, name, 64, "sys/class/infiniband_verbs");
	for (unsigned i = 0; i < nr; i++)
		if (dr_line(d, ib, sizeof(ib), "sys/class/infiniband_verbs/%s/ibdev", name[i]) &&
			strcmp(ib, n->ib) == 0)
			snprintf(n->uverbs, sizeof(n->uverbs), "%.31s", name[i]);
}

static void
add_nic(struct doctor *d, const struct dr_pci *p)
{
	struct dr_nic *n = &d->nic[d->nr_nics];
	char layer[32], state[32];

	if (d->nr_nics == DR_NICS_MAX)
		return;
	d->nr_nics++;
	n->pci = *p;
	n->model = dr_model(p->device);
	first_in(d, n->ib, sizeof(n->ib), p->bdf, "infiniband");
	first_in(d, n->net, sizeof(n->net), p->bdf, "net");
	find_uverbs(d, n);
	n->ethernet = !dr_line(d, layer, sizeof(layer),
			      "sys/class/infiniband/%s/ports/1/link_layer", n->ib) ||
		      strcmp(layer, "InfiniBand") != 0;
	n->link_up =
		dr_line(d, state, sizeof(state), "sys/class/infiniband/%s/ports/1/state", n->ib) &&
		strncmp(state, "4:", 2) == 0;
	n->usable = n->ib[0] != '\0' && n->ethernet && !(n->model != NULL && n->model->too_old);
}

static void
add_gpu(struct doctor *d, const struct dr_pci *p)
{
	if (d->nr_gpus == DR_GPUS_MAX)
		return;
	d->gpu[d->nr_gpus].pci = *p;
	d->gpu[d->nr_gpus++].chosen = -1;
}

bool
dr_inventory(struct doctor *d)
{
	static char name[PCI_MAX][DR_NAME];
	unsigned n = dr_list(d, name, PCI_MAX, "sys/bus/pci/devices");

	if (n == 0 && !dr_exists(d, "sys/bus"))
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct dr_pci p;

		read_pci(d, &p, name[i]);
		if (p.vendor == VENDOR_MELLANOX && p.class_code >> 16 == CLASS_NETWORK)
			add_nic(d, &p);
		else if (p.vendor == VENDOR_NVIDIA && p.class_code >> 16 == CLASS_DISPLAY)
			add_gpu(d, &p);
	}
	return true;
}
