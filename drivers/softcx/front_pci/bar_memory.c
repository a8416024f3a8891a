/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A BAR that is memory, for a driver in the same process: nobody hears of a store, so that the
 * registers are looked at in turn, as the data path does with UAR pages. What was stored is taken
 * out, or replaced by what the register reads as. Two stores between two looks are one: a command
 * slot whose ring was overwritten is noticed because it stays the NIC's.
 */
#include <string.h>
#include <time.h>

#include "../../../gpu_queues/wire/be.h"
#include "pci.h"

#define EQ_PAGES_MAX 32u
#define HEALTH_NS    50000000u /* between two looks at the clock for the counter */
#define LOST_NS	     1000000u  /* a slot that is the NIC's for so long was rung */

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint32_t *
reg(struct pci_dev *d, uint64_t off)
{
	return (uint32_t *)(void *)(d->uar + off);
}

static uint32_t
big(uint32_t v)
{
	crl_be32 be = crl_to_be32(v);
	uint32_t raw;

	memcpy(&raw, &be, sizeof(raw));
	return raw;
}

/* The same the other way round: swapping is its own inverse. */
#define FROM_BIG(raw) big(raw)

static void
put(struct pci_dev *d, uint64_t off)
{
	__atomic_store_n(reg(d, off), big(pci_iseg(d, off)), __ATOMIC_RELEASE);
}

/* What changes by itself. */
static void
tick(struct pci_dev *d)
{
	for (uint64_t off = PCI_ISEG_INIT; off < PCI_ISEG_ASSERT + 64; off += 4)
		put(d, off);
	put(d, PCI_ISEG_TIME_HI);
	put(d, PCI_ISEG_TIME_LO);
	put(d, PCI_ISEG_HEALTH);
}

void
pci_bar_fill(struct pci_dev *d)
{
	for (uint64_t off = 0; off < PCI_ISEG_TIME_HI; off += 4)
		put(d, off);
	tick(d);
}

/*
 * The address is whole when its lower half is there: that one is written last. What is stored over
 * a store that came meanwhile would be lost, so that the register is exchanged, not stored.
 */
static unsigned
take_address(struct pci_dev *d)
{
	uint32_t *lo = reg(d, PCI_ISEG_CMDQ_LO), raw = __atomic_load_n(lo, __ATOMIC_ACQUIRE);
	const struct scx_nic *nic = d->nic;

	if (raw == big(pci_iseg(d, PCI_ISEG_CMDQ_LO)))
		return 0;
	pci_iseg_write(d, PCI_ISEG_CMDQ_HI,
		FROM_BIG(__atomic_load_n(reg(d, PCI_ISEG_CMDQ_HI), __ATOMIC_ACQUIRE)));
	pci_iseg_write(d, PCI_ISEG_CMDQ_LO, FROM_BIG(raw));
	if (d->nic != nic) /* made anew, and the BAR is empty */
		pci_bar_fill(d);
	__atomic_compare_exchange_n(lo, &raw, big(pci_iseg(d, PCI_ISEG_CMDQ_LO)), false,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return 1;
}

/* Slots rung, and those that must have been. */
static unsigned
take_ring(struct pci_dev *d, uint64_t now)
{
	uint32_t rung =
		FROM_BIG(__atomic_exchange_n(reg(d, PCI_ISEG_CMD_RING), 0, __ATOMIC_ACQ_REL));
	uint32_t waiting;

	if (rung == 0) {
		waiting = pci_cmdq_waiting(d);
		if (waiting != d->waiting || waiting == 0) {
			d->waiting = waiting;
			d->waiting_since = now;
			return 0;
		}
		if (now - d->waiting_since < LOST_NS)
			return 0;
		rung = waiting;
	}
	d->waiting = 0;
	pci_cmdq_ring(d, rung);
	return 1;
}

/* Of two stores the arming one was the later: a driver arms last. */
static unsigned
take_eq(struct pci_dev *d, uint32_t page)
{
	const uint32_t at[] = {PCI_UAR_EQ_CI, PCI_UAR_EQ_ARM};
	unsigned done = 0;

	for (unsigned i = 0; i < 2; i++) {
		uint32_t *r = reg(d, (uint64_t)page * PCI_PAGE + at[i]);
		uint32_t v;

		if (__atomic_load_n(r, __ATOMIC_RELAXED) == 0)
			continue;
		v = FROM_BIG(__atomic_exchange_n(r, 0, __ATOMIC_ACQ_REL));
		scx_eq_doorbell(d->nic, v >> 24, v & 0xffffff, at[i] == PCI_UAR_EQ_ARM);
		done++;
	}
	return done;
}

unsigned
pci_bar_poll(struct pci_dev *d)
{
	uint32_t page[EQ_PAGES_MAX];
	unsigned nr = scx_eq_pages(d->nic, page, EQ_PAGES_MAX), done = 0;
	uint64_t now = now_ns();

	if (now - d->health_at >= HEALTH_NS) {
		d->health_at = now;
		tick(d);
	}
	done += take_address(d);
	done += take_ring(d, now);
	for (unsigned i = 0; i < nr; i++)
		done += take_eq(d, page[i]);
	return done;
}
