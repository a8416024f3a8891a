/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device as a whole: its NIC, which every reset makes anew, and its interrupts. An interrupt
 * that is raised before its eventfd came is raised then.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../front/conf.h"
#include "../log.h"
#include "pci.h"

#define COMMAND_BYTES ((1u << 20) + 4096u) /* of the longest command, and of its answer */

static void
irq(void *arg, uint32_t vector)
{
	struct pci_dev *d = arg;
	const uint64_t one = 1;

	if (vector >= PCI_VECTORS)
		return;
	if (d->irq[vector] < 0) {
		d->irq_pending[vector] = true;
		return;
	}
	/* EAGAIN: nobody took the ones before, so that it is raised already. */
	if (write(d->irq[vector], &one, sizeof(one)) != (ssize_t)sizeof(one) && errno != EAGAIN)
		scx_log(d->cfg.name, "interrupt %u: %s", vector, strerror(errno));
}

static void *
guest_at(void *arg, uint64_t addr, uint64_t bytes)
{
	return pci_mem_at(&((struct pci_dev *)arg)->mem, addr, bytes);
}

static void *
guest_map(void *arg, const struct scx_pages *want, uint64_t *bytes)
{
	return pci_mem_map(&((struct pci_dev *)arg)->mem, want, bytes);
}

static void
guest_unmap(void *arg, void *base, uint64_t bytes)
{
	pci_mem_unmap(&((struct pci_dev *)arg)->mem, base, bytes);
}

static void *
guest_all(void *arg, uint64_t *bytes, const struct scx_extents **holes)
{
	return pci_mem_all(&((struct pci_dev *)arg)->mem, bytes, holes);
}

static void
nic_end(struct pci_dev *d)
{
	if (d->nic == NULL)
		return;
	scx_nic_report(d->nic);
	d->wire = scx_nic_take_wire(d->nic);
	scx_nic_destroy(d->nic);
	d->nic = NULL;
}

int
pci_dev_restart(struct pci_dev *d)
{
	struct scx_nic_cfg cfg = d->cfg;
	int rc;

	nic_end(d);
	d->cmdq = 0;
	d->cmdq_known = false;
	d->waiting = 0;
	d->cmdq_hi = 0;
	d->cmdq_told = false;
	d->nic_interface = 0;
	d->half.at = 0;
	memset(d->uar, 0, PCI_BAR_BYTES);
	cfg.wire = d->wire;
	rc = scx_nic_create(&cfg, &d->nic);
	if (rc == 0)
		d->wire = NULL;
	return rc;
}

int
pci_dev_reset(struct pci_dev *d)
{
	pci_config_init(d);
	return pci_dev_restart(d);
}

static int
identify(struct pci_dev *d)
{
	const struct scx_identity *id =
		scx_identity(d->cfg.profile != NULL ? d->cfg.profile : "cx6dx");

	if (id == NULL)
		return -EINVAL;
	d->device_id = id->pci_device;
	d->fw_major = id->fw_major;
	d->fw_minor = id->fw_minor;
	d->fw_sub = id->fw_sub;
	return 0;
}

int
pci_dev_init(struct pci_dev *d, const struct scx_nic_cfg *cfg, uint8_t *uar)
{
	int rc;

	memset(d, 0, sizeof(*d));
	d->cfg = *cfg;
	d->wire = cfg->wire;
	if (cfg->faults != NULL) {
		d->faults = *cfg->faults;
		d->cfg.faults = &d->faults;
	}
	d->guest = (struct scx_guest){.arg = d,
		.at = guest_at,
		.map = guest_map,
		.unmap = guest_unmap,
		.all = guest_all,
		.irq = irq,
		.nr_irqs = PCI_VECTORS,
		.uar_first = PCI_UAR_FIRST};
	for (uint32_t i = 0; i < PCI_VECTORS; i++)
		d->irq[i] = -1;
	rc = identify(d);
	if (rc == 0)
		rc = pci_mem_init(&d->mem, uar != NULL);
	if (rc != 0)
		return rc;
	d->in = aligned_alloc(8, COMMAND_BYTES);
	d->out = aligned_alloc(8, COMMAND_BYTES);
	d->uar = uar;
	d->own_uar = uar == NULL;
	if (uar == NULL)
		d->uar = mmap(NULL, PCI_BAR_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (d->uar == MAP_FAILED)
		d->uar = NULL;
	rc = -ENOMEM;
	if (d->in == NULL || d->out == NULL || d->uar == NULL)
		goto fail;
	d->cfg.guest = &d->guest;
	d->cfg.uar_base = d->uar;
	d->cfg.nr_uar_pages = PCI_UAR_PAGES;
	rc = pci_dev_reset(d);
	if (rc != 0)
		goto fail;
	return 0;
fail:
	d->wire = NULL; /* stays the caller's */
	pci_dev_fini(d);
	return rc;
}

void
pci_dev_disconnect(struct pci_dev *d)
{
	for (uint32_t i = 0; i < PCI_VECTORS; i++) {
		if (d->irq[i] >= 0)
			close(d->irq[i]);
		d->irq[i] = -1;
		d->irq_pending[i] = false;
	}
	pci_mem_remove(&d->mem, 0, PCI_WINDOW);
}

void
pci_dev_fini(struct pci_dev *d)
{
	nic_end(d);
	pci_dev_disconnect(d);
	pci_mem_fini(&d->mem);
	if (d->uar != NULL && d->own_uar)
		munmap(d->uar, PCI_BAR_BYTES);
	free(d->in);
	free(d->out);
	d->uar = d->in = d->out = NULL;
}

/*
 * A pipe that nobody reads, a socket whose other end is closed: writing to what a client calls its
 * eventfd must neither wait nor end this process.
 */
static bool
takes_irqs(int fd)
{
	char path[32], is[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, is, sizeof(is) - 1);
	is[n > 0 ? n : 0] = '\0';
	return strcmp(is, "anon_inode:[eventfd]") == 0 &&
	       fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

int
pci_dev_set_irqs(struct pci_dev *d, uint32_t start, uint32_t nr, const int *fds, uint32_t nr_fds)
{
	if (start > PCI_VECTORS || nr > PCI_VECTORS - start)
		return -EINVAL;
	for (uint32_t i = 0; i < nr && i < nr_fds; i++)
		if (fds[i] >= 0 && !takes_irqs(fds[i])) /* -1: none, as VFIO says it */
			return -EINVAL;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t v = start + i;

		if (d->irq[v] >= 0)
			close(d->irq[v]);
		d->irq[v] = i < nr_fds ? fds[i] : -1;
		if (d->irq[v] >= 0 && d->irq_pending[v]) {
			d->irq_pending[v] = false;
			irq(d, v);
		}
	}
	return 0;
}
