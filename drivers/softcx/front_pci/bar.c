/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BAR 0: the initialization segment (PRM: initial_seg), big-endian, and the UAR pages. A UAR page
 * is memory that the data path looks at; what a driver stores into its registers is put there and
 * taken by the step that follows. Event queue registers are rung here.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "../../../gpu_queues/wire/be.h"
#include "../../../gpu_queues/wire/doorbell.h"
#include "../log.h"
#include "pci.h"

#define CMD_REVISION	  5u
#define STARTING_NS	  50000000u
#define SEVERITY_CRITICAL 2u /* as syslog counts */
#define HEALTH_NS	  100000000u
#define SEND_REGS_END	  0xc00u

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The health buffer is all zeros unless there is a syndrome. */
static uint32_t
health(const struct pci_dev *d, uint64_t off)
{
	uint8_t syndrome = 0;

	if (scx_nic_dead_since(d->nic, &syndrome) == 0 || syndrome == 0)
		return 0;
	switch (off) {
	case PCI_ISEG_ASSERT:
		return 0x5c000000u | syndrome;
	case PCI_ISEG_HEALTH_FW:
		return (uint32_t)d->fw_major << 24 | (uint32_t)d->fw_minor << 16 | d->fw_sub;
	case PCI_ISEG_RFR:
		return 1u << 31 | SEVERITY_CRITICAL << 24;
	case PCI_ISEG_SYNDROME:
		return (uint32_t)syndrome << 16;
	}
	return 0;
}

uint32_t
pci_iseg(const struct pci_dev *d, uint64_t off)
{
	uint8_t syndrome;
	uint64_t dead;

	switch (off) {
	case PCI_ISEG_FW_REV:
		return (uint32_t)d->fw_minor << 16 | d->fw_major;
	case PCI_ISEG_CMD_REV:
		return CMD_REVISION << 16 | d->fw_sub;
	case PCI_ISEG_CMDQ_HI:
		return d->cmdq_hi;
	case PCI_ISEG_CMDQ_LO:
		return (uint32_t)(d->cmdq & 0xfffff000) | d->nic_interface << 8 |
		       PCI_CMDQ_LOG_SLOTS << 4 | PCI_CMDQ_LOG_STRIDE;
	case PCI_ISEG_TIME_HI:
		return (uint32_t)(now_ns() >> 32);
	case PCI_ISEG_TIME_LO:
		return (uint32_t)now_ns();
	case PCI_ISEG_INIT:
		return 1u << 30 | (now_ns() < d->starting_until ? 1u << 31 : 0);
	case PCI_ISEG_HEALTH:
		dead = scx_nic_dead_since(d->nic, &syndrome);
		return (uint32_t)((dead != 0 ? dead : now_ns()) / HEALTH_NS) & 0xffffff;
	}
	return off >= PCI_ISEG_ASSERT && off < PCI_ISEG_ASSERT + 64 ? health(d, off) : 0;
}

int
pci_bar_read(struct pci_dev *d, uint64_t off, uint32_t n, uint8_t *to)
{
	if (off > PCI_BAR_BYTES || n > PCI_BAR_BYTES - off)
		return -EINVAL;
	memset(to, 0, n);
	for (uint32_t i = 0; i < n && off + i < PCI_ISEG_BYTES; i++) {
		uint64_t at = off + i;

		to[i] = (uint8_t)(pci_iseg(d, at & ~3ull) >> (24 - at % 4 * 8));
	}
	return 0;
}

static uint32_t
be32(const uint8_t *p)
{
	crl_be32 be;

	memcpy(&be, p, sizeof(be));
	return crl_from_be32(be);
}

/*
 * The address, and what the driver wants of the interface. A software reset ends as disabled; a
 * firmware that had stopped starts anew with it, or with a command queue given again.
 */
static void
command_queue(struct pci_dev *d, uint32_t v)
{
	uint32_t want = v >> 8 & 7, hi = d->cmdq_hi;
	uint8_t syndrome;

	if (want == PCI_NIC_SW_RESET ||
		(want == PCI_NIC_FULL && scx_nic_dead_since(d->nic, &syndrome) != 0)) {
		scx_log(d->cfg.name, "the firmware starts anew");
		if (pci_dev_restart(d) != 0)
			return; /* no NIC: serve.c lets the client go */
		d->starting_until = now_ns() + STARTING_NS;
		d->cmdq_hi = hi;
	}
	d->cmdq_known = true;
	d->cmdq = (uint64_t)d->cmdq_hi << 32 | (v & 0xfffff000);
	d->nic_interface = want == PCI_NIC_SW_RESET ? PCI_NIC_DISABLED : want;
}

void
pci_iseg_write(struct pci_dev *d, uint64_t off, uint32_t v)
{
	switch (off) {
	case PCI_ISEG_CMDQ_HI:
		d->cmdq_hi = v;
		break;
	case PCI_ISEG_CMDQ_LO:
		command_queue(d, v);
		break;
	case PCI_ISEG_CMD_RING:
		scx_nic_poll(d->nic); /* what was rung before the command is before it */
		pci_cmdq_ring(d, v);
		break;
	}
}

/* A register of 8 bytes, which may come in two messages; the data path takes all or nothing. */
static void
ring(struct pci_dev *d, uint64_t off, uint32_t n, const uint8_t *from)
{
	uint8_t bytes[8];
	uint64_t there;

	if (n == 4 && off % 8 == 0) {
		d->half.at = off;
		memcpy(d->half.bytes, from, 4);
		return;
	}
	if (n == 4) {
		if (d->half.at != off - 4)
			return; /* half of a BlueFlame block */
		memcpy(bytes, d->half.bytes, 4);
		memcpy(bytes + 4, from, 4);
		off -= 4;
	} else {
		memcpy(bytes, from, 8);
	}
	d->half.at = 0;
	memcpy(&there, d->uar + off, 8);
	/* A send register may be overwritten, as in a card: records say what was posted. Of two CQs
	   that are armed by one register both are named. */
	if (there != 0 && off % PCI_PAGE == CRL_UAR_CQ_ARM)
		scx_nic_poll(d->nic);
	memcpy(d->uar + off, bytes, 8);
}

static void
uar_write(struct pci_dev *d, uint64_t off, uint32_t n, const uint8_t *from)
{
	uint32_t reg = (uint32_t)(off % PCI_PAGE), v;

	if ((reg == PCI_UAR_EQ_ARM || reg == PCI_UAR_EQ_CI) && n >= 4) {
		v = be32(from);
		scx_eq_doorbell(d->nic, v >> 24, v & 0xffffff, reg == PCI_UAR_EQ_ARM);
		return;
	}
	if (n != 4 && n != 8)
		return;
	if ((reg & ~7u) == CRL_UAR_CQ_ARM || (reg >= CRL_UAR_BF_REG && reg < SEND_REGS_END &&
						     (reg % CRL_UAR_BF_REG_BYTES & ~7u) == 0))
		ring(d, off, n, from);
}

int
pci_bar_write(struct pci_dev *d, uint64_t off, uint32_t n, const uint8_t *from)
{
	if (off > PCI_BAR_BYTES || n > PCI_BAR_BYTES - off)
		return -EINVAL;
	if (off >= PCI_UAR_FIRST * PCI_PAGE)
		uar_write(d, off, n, from);
	else if (off < PCI_ISEG_BYTES && off % 4 == 0)
		for (uint32_t i = 0; i + 4 <= n; i += 4)
			pci_iseg_write(d, off + i, be32(from + i));
	return 0;
}
