/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Check "path": how far each GPU is from each NIC on PCIe, in nvidia-smi's words, and which NIC
 * Carillon would pair it with. The trap: the first device in the list may be the far one. Host
 * only.
 */
#include <string.h>

#include "doctor.h"

const char *
dr_path_word(enum dr_path path)
{
	static const char *const words[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};

	return words[path];
}

/* How many path components two folders share, and how many each has. */
static unsigned
shared(const char *a, const char *b, unsigned *na, unsigned *nb)
{
	unsigned same = 0;
	bool equal = true;

	*na = *nb = 0;
	while (*a != '\0' || *b != '\0') {
		size_t la = strcspn(a, "/"), lb = strcspn(b, "/");

		*na += la != 0;
		*nb += lb != 0;
		equal = equal && la != 0 && la == lb && memcmp(a, b, la) == 0;
		same += equal;
		a += la + (a[la] == '/');
		b += lb + (b[lb] == '/');
	}
	return same;
}

/*
 * sys/devices/pci0000:00/ROOT PORT/SWITCH UP/SWITCH DOWN/DEVICE: sharing the switch's upstream port
 * is one switch between them; sharing less but a root port, several; sharing the host bridge alone,
 * the processor's own. Where there is one NUMA node, devices need not say that they are on it, and
 * in virtual machines they do not.
 */
static enum dr_path
between(const struct doctor *d, const struct dr_pci *a, const struct dr_pci *b)
{
	unsigned na, nb, same = shared(a->dir, b->dir, &na, &nb);

	if (same >= 4)
		return na - same <= 2 && nb - same <= 2 ? DR_PIX : DR_PXB;
	if (same == 3)
		return DR_PHB;
	return a->node == b->node || !dr_several_nodes(d) ? DR_NODE : DR_SYS;
}

/* Nearest first; of those as near, one with a link; then the first in the list. */
static int
choose(const struct doctor *d, const struct dr_pci *gpu, enum dr_path *path, int *first)
{
	int best = -1;

	*first = -1;
	for (unsigned i = 0; i < d->nr_nics; i++) {
		enum dr_path p = between(d, gpu, &d->nic[i].pci);

		if (!d->nic[i].usable)
			continue;
		if (*first < 0)
			*first = (int)i;
		if (best < 0 || p < *path ||
			(p == *path && d->nic[i].link_up && !d->nic[best].link_up)) {
			best = (int)i;
			*path = p;
		}
	}
	return best;
}

static void
judge_distance(struct doctor *d, const struct dr_gpu *g, const struct dr_nic *n)
{
	struct dr_finding *f;

	if (g->path <= DR_PXB) {
		f = dr_find(
			d, DR_OK, "near", g->pci.bdf, "NIC %s, %s", n->ib, dr_path_word(g->path));
	} else if (g->path < DR_SYS) {
		f = dr_find(d, DR_NOTE, "host_bridge", g->pci.bdf,
			"its nearest NIC %s is %s away: by the processor's PCIe root", n->ib,
			dr_path_word(g->path));
		dr_fix(f, "works; slots under one PCIe switch are faster");
	} else if (g->pci.node < 0 || n->pci.node < 0) {
		f = dr_find(d, DR_WARN, "maybe_far", g->pci.bdf,
			"its nearest NIC %s may be SYS away: NUMA nodes are not said",
			n->ib);
		dr_fix(f, "BIOS: update it; until then measure, and prefer a pair on one switch");
	} else {
		f = dr_find(d, DR_WARN, "far", g->pci.bdf,
			"its nearest NIC %s is SYS away: every byte passes between sockets", n->ib);
		dr_fix(f, "use a GPU on the NIC's socket, or move the NIC");
	}
	dr_evidence(f, "/%s and /%s; NUMA nodes %d and %d", g->pci.dir, n->pci.dir, g->pci.node,
		n->pci.node);
}

void
dr_check_path(struct doctor *d)
{
	for (unsigned i = 0; i < d->nr_gpus; i++) {
		struct dr_gpu *g = &d->gpu[i];
		enum dr_path of_first;
		struct dr_finding *f;
		int first;

		g->chosen = choose(d, &g->pci, &g->path, &first);
		if (g->chosen < 0)
			continue;
		judge_distance(d, g, &d->nic[g->chosen]);
		of_first = between(d, &g->pci, &d->nic[first].pci);
		if (of_first <= g->path)
			continue;
		f = dr_find(d, DR_WARN, "first_is_far", g->pci.bdf,
			"the first NIC, %s, is %s away; %s is %s", d->nic[first].ib,
			dr_path_word(of_first), d->nic[g->chosen].ib, dr_path_word(g->path));
		dr_evidence(f, "a program that takes the first device takes %s (%s)",
			d->nic[first].ib, d->nic[first].pci.bdf);
		dr_fix(f, "name it: -a %s", d->nic[g->chosen].pci.bdf);
	}
}
