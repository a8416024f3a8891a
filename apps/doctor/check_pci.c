/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks "iommu" and "acs": what stands between a GPU and a NIC on PCIe. An IOMMU that translates,
 * or a switch port told to send all peer traffic up to the root, makes of one hop many. Host only.
 */
#include <stdio.h>
#include <string.h>

#include "doctor.h"

#define CONFIG_BYTES  4096u
#define EXT_CAP_FIRST 0x100u
#define EXT_CAP_ACS   0x000du
#define ACS_CTRL      0x06u
#define ACS_REDIRECTS 0x1cu /* request redirect, completion redirect, upstream forwarding */

static void
judge_iommu(struct doctor *d, const struct dr_pci *p)
{
	char group[DR_NAME], type[DR_NAME];
	struct dr_finding *f;

	if (!dr_link(d, group, sizeof(group), "sys/bus/pci/devices/%s/iommu_group", p->bdf))
		return;
	dr_line(d, type, sizeof(type), "sys/kernel/iommu_groups/%s/type", group);
	if (strcmp(type, "identity") == 0) {
		f = dr_find(d, DR_OK, "identity", p->bdf, "the IOMMU passes its addresses through");
	} else {
		f = dr_find(d, DR_WARN, "translates", p->bdf,
			"the IOMMU translates its DMA: transfers between GPU and NIC go by the "
			"root");
		dr_fix(f, "kernel command line: iommu=pt (or intel_iommu=off, amd_iommu=off)");
	}
	dr_evidence(f, "/sys/kernel/iommu_groups/%s/type: %s", group,
		type[0] != '\0' ? type : "cannot be read");
}

void
dr_check_iommu(struct doctor *d)
{
	struct dr_finding *f;
	unsigned before = d->nr_findings;

	for (unsigned i = 0; i < d->nr_nics; i++)
		if (d->nic[i].usable)
			judge_iommu(d, &d->nic[i].pci);
	for (unsigned i = 0; i < d->nr_gpus; i++)
		judge_iommu(d, &d->gpu[i].pci);
	if (d->nr_findings != before || d->nr_nics + d->nr_gpus == 0)
		return;
	f = dr_find(d, DR_OK, "off", "", "no IOMMU before NICs and GPUs");
	dr_evidence(f, "no iommu_group in their folders in /sys/bus/pci/devices");
}

static uint32_t
le(const uint8_t *p, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned i = bytes; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* ACS control of a bridge; -1: it has no ACS, -2: its extended config cannot be read. */
static int
acs_control(const struct doctor *d, const char *dir)
{
	uint8_t c[CONFIG_BYTES];
	size_t n = dr_bytes(d, c, sizeof(c), "%s/config", dir);
	unsigned at = EXT_CAP_FIRST;

	if (n < CONFIG_BYTES)
		return n <= 256 ? -2 : -1;
	for (unsigned hops = 0; hops < 64 && at >= EXT_CAP_FIRST && at + 8 <= n; hops++) {
		uint32_t head = le(c + at, 4);

		if ((head & 0xffffu) == EXT_CAP_ACS)
			return (int)le(c + at + ACS_CTRL, 2);
		at = head >> 20;
	}
	return -1;
}

/* Every bridge above the device is judged once; seen holds those judged before. */
static void
walk_up(struct doctor *d, const struct dr_pci *p, char seen[][16], unsigned *nr_seen, bool *blind)
{
	char dir[PATH_MAX], *slash;

	snprintf(dir, sizeof(dir), "%s", p->dir);
	while ((slash = strrchr(dir, '/')) != NULL) {
		const char *bdf;
		struct dr_finding *f;
		bool known = false;
		int ctrl;

		*slash = '\0';
		slash = strrchr(dir, '/');
		bdf = slash != NULL ? slash + 1 : dir;
		if (strlen(bdf) != 12 || bdf[4] != ':' || bdf[10] != '.')
			return;
		for (unsigned i = 0; i < *nr_seen && !known; i++)
			known = strcmp(seen[i], bdf) == 0;
		if (known || *nr_seen == 64)
			continue;
		snprintf(seen[(*nr_seen)++], 16, "%.15s", bdf);
		ctrl = acs_control(d, dir);
		*blind |= ctrl == -2;
		if (ctrl < 0 || (ctrl & (int)ACS_REDIRECTS) == 0)
			continue;
		f = dr_find(d, DR_WARN, "redirects", bdf,
			"this bridge sends traffic between its devices up to the root");
		dr_evidence(f, "/%s/config: ACS control 0x%04x", dir, ctrl);
		dr_fix(f, "setpci -s %s ECAP_ACS+6.w=0000 (at each boot), or ACS off in the BIOS",
			bdf);
	}
}

void
dr_check_acs(struct doctor *d)
{
	char seen[64][16];
	unsigned nr_seen = 0, before = d->nr_findings;
	bool blind = false;
	struct dr_finding *f;

	/* Without a GPU nothing travels between two devices. */
	if (d->nr_gpus == 0 || d->nr_nics == 0)
		return;
	for (unsigned i = 0; i < d->nr_nics; i++)
		if (d->nic[i].usable)
			walk_up(d, &d->nic[i].pci, seen, &nr_seen, &blind);
	for (unsigned i = 0; i < d->nr_gpus; i++)
		walk_up(d, &d->gpu[i].pci, seen, &nr_seen, &blind);
	if (blind) {
		f = dr_find(
			d, DR_NOTE, "blind", "", "whether bridges redirect (ACS) cannot be seen");
		dr_evidence(f, "the kernel shows only 64 bytes of config space, uid %ld",
			dr_fact_number(d, -1, "uid"));
		dr_fix(f, "run the doctor as root");
	} else if (d->nr_findings == before && nr_seen > 0) {
		f = dr_find(d, DR_OK, "direct", "", "no bridge redirects peer traffic");
		dr_evidence(f, "ACS control of %u bridges read", nr_seen);
	}
}
