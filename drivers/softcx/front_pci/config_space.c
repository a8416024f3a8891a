/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PCI configuration space: a ConnectX of the profile's device id with one 64-bit prefetchable BAR
 * and the power management, PCI Express and MSI-X capabilities. A mask says which bits a driver may
 * write; the rest reads as it always did.
 */
#include <errno.h>
#include <string.h>

#include "pci.h"

/* Offsets: PCI Local Bus 3.0, PCI Express Base. */
enum {
	CFG_VENDOR = 0x00,
	CFG_DEVICE = 0x02,
	CFG_COMMAND = 0x04,
	CFG_STATUS = 0x06,
	CFG_CLASS = 0x0a,
	CFG_CACHE_LINE = 0x0c,
	CFG_LATENCY = 0x0d,
	CFG_BAR0 = 0x10,
	CFG_BAR1 = 0x14,
	CFG_SUB_VENDOR = 0x2c,
	CFG_SUB_DEVICE = 0x2e,
	CFG_CAPS = 0x34,
	CFG_INT_LINE = 0x3c,
	CFG_INT_PIN = 0x3d,
	CFG_PM = 0x40,
	CFG_PCIE = 0x60,
	CFG_MSIX = 0x9c,
};
#define VENDOR	      0x15b3u
#define CLASS_ETH     0x0200u
#define STATUS_CAPS   0x0010u
#define COMMAND_MASTER 0x04u
#define COMMAND_BITS  0x0547u /* I/O, memory, master, parity, SERR, INTx off */
#define BAR_64_PREF   0x0cu
#define PCIE_ENDPOINT 0x0002u	  /* capability version 2 */
#define PCIE_DEVCAP   0x10008fe2u /* 512-byte payload, FLR */
#define PCIE_LINK     0x0104u	  /* x16, 16 GT/s */
#define PM_CAP	      0x0003u

static void
put16(uint8_t *c, uint32_t at, uint32_t v)
{
	c[at] = (uint8_t)v;
	c[at + 1] = (uint8_t)(v >> 8);
}

static void
put32(uint8_t *c, uint32_t at, uint32_t v)
{
	put16(c, at, v);
	put16(c, at + 2, v >> 16);
}

void
pci_config_init(struct pci_dev *d)
{
	uint8_t *c = d->config;

	memset(c, 0, PCI_CONFIG);
	put16(c, CFG_VENDOR, VENDOR);
	put16(c, CFG_DEVICE, d->device_id);
	put16(c, CFG_STATUS, STATUS_CAPS);
	put16(c, CFG_CLASS, CLASS_ETH);
	put32(c, CFG_BAR0, BAR_64_PREF);
	put16(c, CFG_SUB_VENDOR, VENDOR);
	put16(c, CFG_SUB_DEVICE, 0x0016);
	c[CFG_CAPS] = CFG_PCIE;
	c[CFG_INT_PIN] = 1;
	put16(c, CFG_PCIE, 0x10 | CFG_MSIX << 8);
	put16(c, CFG_PCIE + 2, PCIE_ENDPOINT);
	put32(c, CFG_PCIE + 4, PCIE_DEVCAP);
	put32(c, CFG_PCIE + 0x0c, PCIE_LINK | 0x00400000);
	put16(c, CFG_PCIE + 0x12, PCIE_LINK);
	put32(c, CFG_PCIE + 0x24, 0x10);
	put16(c, CFG_MSIX, 0x11 | CFG_PM << 8);
	put16(c, CFG_MSIX + 2, PCI_VECTORS - 1);
	put32(c, CFG_MSIX + 4, PCI_MSIX_TABLE);
	put32(c, CFG_MSIX + 8, PCI_MSIX_PBA);
	put16(c, CFG_PM, 0x01);
	put16(c, CFG_PM + 2, PM_CAP);
}

/* Bits of a byte that a driver may change. */
static uint8_t
writable(uint64_t off)
{
	static const struct {
		uint16_t at, bytes;
		uint32_t mask;
	} w[] = {
		{CFG_COMMAND, 2, COMMAND_BITS},
		{CFG_CACHE_LINE, 2, 0xffff},
		{CFG_BAR0, 4, ~(PCI_BAR_BYTES - 1)},
		{CFG_BAR1, 4, 0xffffffff},
		{CFG_INT_LINE, 1, 0xff},
		{CFG_PM + 4, 2, 0x0103},
		{CFG_PCIE + 8, 2, 0x7fff}, /* device control; bit 15, FLR, reads as zero */
		{CFG_PCIE + 0x10, 2, 0x0fff},
		{CFG_PCIE + 0x28, 2, 0xffff},
		{CFG_MSIX + 2, 2, 0xc000},
	};

	for (size_t i = 0; i < sizeof(w) / sizeof(w[0]); i++)
		if (off >= w[i].at && off < (uint64_t)w[i].at + w[i].bytes)
			return (uint8_t)(w[i].mask >> (off - w[i].at) * 8);
	return 0;
}

int
pci_config_read(const struct pci_dev *d, uint64_t off, uint32_t n, uint8_t *to)
{
	if (off > PCI_CONFIG || n > PCI_CONFIG - off)
		return -EINVAL;
	memcpy(to, d->config + off, n);
	return 0;
}

int
pci_config_write(struct pci_dev *d, uint64_t off, uint32_t n, const uint8_t *from)
{
	uint8_t syndrome;

	if (off > PCI_CONFIG || n > PCI_CONFIG - off)
		return -EINVAL;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t mask = writable(off + i), *at = &d->config[off + i];

		if (off + i == CFG_PCIE + 9 && from[i] & 0x80) {
			int rc = pci_dev_reset(d); /* function level reset */

			if (rc != 0)
				return rc;
		}
		if (off + i == CFG_COMMAND && *at & ~from[i] & COMMAND_MASTER &&
			scx_nic_dead_since(d->nic, &syndrome) != 0) {
			/* A driver that recovers switches the device off and on, and waits until
			 * its firmware lives. */
			int rc = pci_dev_restart(d);

			if (rc != 0)
				return rc;
		}
		*at = (uint8_t)((*at & ~mask) | (from[i] & mask));
	}
	return 0;
}
