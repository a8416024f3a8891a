/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of the host: "hugepages" and "memlock" for EAL and registered memory, "numa" for where the
 * NIC is, "place" for what is true of the surroundings (NVIDIA's own stack, a container). Host
 * only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define MEMLOCK_MIN (64l << 20)

static long
meminfo(const struct doctor *d, const char *key)
{
	char text[8192], *at;
	size_t n = dr_bytes(d, text, sizeof(text) - 1, "proc/meminfo");

	text[n] = '\0';
	at = strstr(text, key);
	return at != NULL ? strtol(at + strlen(key), NULL, 10) : -1;
}

/* Free hugepages of any size on a node; -1: not said. */
static long
free_on_node(const struct doctor *d, int node)
{
	char size[8][DR_NAME];
	unsigned n = dr_list(d, size, 8, "sys/devices/system/node/node%d/hugepages", node);
	long sum = n > 0 ? 0 : -1;

	for (unsigned i = 0; i < n; i++)
		sum += dr_number(d, 0, "sys/devices/system/node/node%d/hugepages/%s/free_hugepages",
			node, size[i]);
	return sum;
}

void
dr_check_hugepages(struct doctor *d)
{
	long total = meminfo(d, "HugePages_Total:"), unused = meminfo(d, "HugePages_Free:");
	char other[8][DR_NAME];
	unsigned nr = dr_list(d, other, 8, "sys/kernel/mm/hugepages");
	struct dr_finding *f;

	/* meminfo counts the default size only. */
	for (unsigned i = 0; i < nr && total <= 0; i++) {
		total = dr_number(d, 0, "sys/kernel/mm/hugepages/%s/nr_hugepages", other[i]);
		unused = dr_number(d, 0, "sys/kernel/mm/hugepages/%s/free_hugepages", other[i]);
	}
	if (total < 0) {
		f = dr_find(d, DR_WARN, "no_kernel", "",
			"the kernel has no hugepages: EAL starts only with --no-huge");
		dr_fix(f, "add --no-huge -m 512, or a kernel with CONFIG_HUGETLBFS");
		dr_evidence(f, "no HugePages_Total in /proc/meminfo");
		return;
	}
	if (total == 0) {
		f = dr_find(d, DR_WARN, "none", "", "no hugepages: EAL starts only with --no-huge");
		dr_fix(f, "dpdk-hugepages.py --setup 2G, or add --no-huge -m 512");
	} else if (unused == 0) {
		f = dr_find(d, DR_WARN, "all_used", "", "all %ld hugepages are in use", total);
		dr_fix(f, "reserve more, or remove files of dead programs from /dev/hugepages");
	} else {
		f = dr_find(d, DR_OK, "free", "", "%ld of %ld hugepages are free", unused, total);
	}
	dr_evidence(f, "/proc/meminfo: HugePages_Total %ld, HugePages_Free %ld",
		meminfo(d, "HugePages_Total:"), meminfo(d, "HugePages_Free:"));
	for (unsigned i = 0; i < d->nr_nics && total > 0 && unused > 0; i++) {
		const struct dr_pci *p = &d->nic[i].pci;

		if (!d->nic[i].usable || p->node < 0 || free_on_node(d, p->node) != 0)
			continue;
		f = dr_find(d, DR_WARN, "not_on_node", p->bdf,
			"no free hugepage on the NIC's NUMA node %d", p->node);
		dr_evidence(f, "/sys/devices/system/node/node%d/hugepages: 0 free", p->node);
		dr_fix(f, "dpdk-hugepages.py --node %d --setup 1G", p->node);
	}
}

void
dr_check_memlock(struct doctor *d)
{
	const char *said = dr_fact(d, "memlock");
	struct dr_finding *f;

	if (said == NULL)
		return;
	if (strcmp(said, "unlimited") == 0 || strtol(said, NULL, 10) >= MEMLOCK_MIN ||
		dr_fact_number(d, 0, "cap_ipc_lock") != 0) {
		f = dr_find(d, DR_OK, "limit", "", "memory may be locked");
	} else {
		f = dr_find(d, DR_STOP, "low", "",
			"this user may lock %ld KiB: rings and buffers do not register",
			strtol(said, NULL, 10) >> 10);
		dr_fix(f, "ulimit -l unlimited; /etc/security/limits.d: * - memlock unlimited; "
			  "docker run --ulimit memlock=-1");
	}
	dr_evidence(f, "RLIMIT_MEMLOCK %s, CAP_IPC_LOCK %ld", said,
		dr_fact_number(d, -1, "cap_ipc_lock"));
}

bool
dr_several_nodes(const struct doctor *d)
{
	char online[DR_NAME];

	dr_line(d, online, sizeof(online), "sys/devices/system/node/online");
	return strpbrk(online, "-,") != NULL;
}

void
dr_check_numa(struct doctor *d)
{
	char online[DR_NAME];

	dr_line(d, online, sizeof(online), "sys/devices/system/node/online");
	for (unsigned i = 0; i < d->nr_nics; i++) {
		const struct dr_pci *p = &d->nic[i].pci;
		struct dr_finding *f;

		if (!d->nic[i].usable)
			continue;
		if (p->node < 0 && dr_several_nodes(d)) {
			f = dr_find(d, DR_WARN, "unknown", p->bdf,
				"the machine has several NUMA nodes and does not say the NIC's");
			dr_fix(f, "BIOS: update it; until then pin by hand: numactl, -l");
		} else {
			f = dr_find(d, DR_OK, "node", p->bdf, "NUMA node %d", p->node);
		}
		dr_evidence(f, "/sys/bus/pci/devices/%s/numa_node: %d; nodes online: %s", p->bdf,
			p->node, online[0] != '\0' ? online : "not said");
	}
}

void
dr_check_place(struct doctor *d)
{
	bool ofed = dr_exists(d, "sys/module/mlx_compat");
	struct dr_finding *f;

	if (ofed) {
		f = dr_find(d, DR_NOTE, "ofed", "", "NVIDIA's own driver stack (OFED, DOCA-OFED)");
		dr_evidence(f, "/sys/module/mlx_compat is there");
		dr_fix(f, "none needed; its rdma-core must be the one that Carillon is built with");
	}
	if (dr_exists(d, ".dockerenv") || dr_exists(d, "run/.containerenv")) {
		f = dr_find(d, DR_NOTE, "container", "", "this is a container");
		dr_evidence(f, dr_exists(d, ".dockerenv") ? "/.dockerenv is there"
							  : "/run/.containerenv is there");
		dr_fix(f, "--device /dev/infiniband --cap-add IPC_LOCK,NET_RAW,NET_ADMIN "
			  "--ulimit memlock=-1 --network host -v /dev/hugepages:/dev/hugepages");
	}
	if (dr_fact(d, "software_nic") != NULL) {
		f = dr_find(
			d, DR_OK, "softcx", "", "the NIC is software: nothing here proves a card");
		dr_evidence(f, "SYSFS_PATH is %s", dr_fact(d, "software_nic"));
	}
}
