/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks "link" and "pcie": the port's link and MTU, and the width of the card's PCIe link. One
 * port of a two-port card is often not plugged in, so only the last one without link stops. Host
 * only.
 */
#include <string.h>

#include "doctor.h"

#define MTU_MIN 1500
#define MTU_MAX 9978 /* of mlx5's Ethernet ports */

static bool
is_up(const struct doctor *d, const struct dr_nic *n)
{
	return n->link_up ||
	       dr_number(d, 0, "sys/bus/pci/devices/%s/net/%s/carrier", n->pci.bdf, n->net) == 1;
}

static void
judge_mtu(struct doctor *d, const struct dr_nic *n)
{
	long mtu = dr_number(d, -1, "sys/bus/pci/devices/%s/net/%s/mtu", n->pci.bdf, n->net);
	struct dr_finding *f;

	if (mtu < 0)
		return;
	if (mtu >= MTU_MIN && mtu <= MTU_MAX) {
		f = dr_find(d, DR_OK, "mtu", n->net, "MTU %ld", mtu);
	} else {
		f = dr_find(d, DR_WARN, "mtu_odd", n->net,
			"MTU %ld; longer frames than it are dropped by the port", mtu);
		dr_fix(f, "ip link set %s mtu 1500 (or 9000, on both ends)", n->net);
	}
	dr_evidence(f, "/sys/bus/pci/devices/%s/net/%s/mtu: %ld", n->pci.bdf, n->net, mtu);
}

void
dr_check_link(struct doctor *d)
{
	unsigned up = 0, usable = 0;

	for (unsigned i = 0; i < d->nr_nics; i++) {
		usable += d->nic[i].usable;
		up += d->nic[i].usable && is_up(d, &d->nic[i]);
	}
	for (unsigned i = 0; i < d->nr_nics; i++) {
		const struct dr_nic *n = &d->nic[i];
		struct dr_finding *f;
		char state[DR_NAME];

		if (!n->usable)
			continue;
		if (n->net[0] == '\0') {
			f = dr_find(d, DR_WARN, "no_netdev", n->ib,
				"no netdev in this network namespace: net_mlx5 cannot set its MTU");
			dr_evidence(f, "/sys/bus/pci/devices/%s/net is empty", n->pci.bdf);
			dr_fix(f, "ip link set DEV netns PID, or docker run --network host");
			continue;
		}
		dr_line(d, state, sizeof(state), "sys/class/infiniband/%s/ports/1/state", n->ib);
		if (is_up(d, n)) {
			f = dr_find(d, DR_OK, "up", n->net, "link is up");
		} else {
			f = dr_find(d, up > 0 ? DR_NOTE : DR_STOP, up > 0 ? "down" : "all_down",
				n->net, up > 0 ? "no link on this port" : "no port has a link");
			dr_fix(f, "ip link set %s up; cable, transceiver, peer", n->net);
		}
		dr_evidence(f, "/sys/class/infiniband/%s/ports/1/state: %s", n->ib, state);
		judge_mtu(d, n);
	}
}

void
dr_check_pcie(struct doctor *d)
{
	for (unsigned i = 0; i < d->nr_nics; i++) {
		const struct dr_pci *p = &d->nic[i].pci;
		long now = dr_number(d, 0, "sys/bus/pci/devices/%s/current_link_width", p->bdf);
		long max = dr_number(d, 0, "sys/bus/pci/devices/%s/max_link_width", p->bdf);
		struct dr_finding *f;

		if (!d->nic[i].usable || now <= 0 || max <= 0)
			continue;
		if (now >= max) {
			f = dr_find(d, DR_OK, "width", p->bdf, "PCIe x%ld", now);
		} else {
			f = dr_find(d, DR_WARN, "narrow", p->bdf, "PCIe x%ld of the card's x%ld",
				now, max);
			dr_fix(f, "a slot with all lanes; reseat the card");
		}
		dr_evidence(f,
			"/sys/bus/pci/devices/%s: current_link_width %ld, max_link_width %ld",
			p->bdf, now, max);
	}
}
