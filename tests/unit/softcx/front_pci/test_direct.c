/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device in the driver's own process: memory by its addresses, and a BAR that is memory, whose
 * registers are taken when the device is polled. No thread here: each poll is a call.
 */
#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "drivers/mlx5/prm.h"
#include "drivers/softcx/front_pci/pci.h"

#define MEM_BYTES (1u << 20)
#define MEM_FROM  0x100000u
#define CMDQ	  0x1000u

struct dev {
	struct pci_dev pci;
	uint8_t *bar, *mem;
};

static int
setup(void **state)
{
	const struct scx_nic_cfg cfg = {
		.profile = "cx6dx", .name = "direct", .seed = 1, .mtu = 1500, .mac = {2}};
	struct dev *d = calloc(1, sizeof(*d));

	d->bar = mmap(
		NULL, PCI_BAR_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(MAP_FAILED, d->bar);
	assert_int_equal(0, posix_memalign((void **)&d->mem, 4096, MEM_BYTES));
	memset(d->mem, 0, MEM_BYTES);
	assert_int_equal(0, pci_dev_init(&d->pci, &cfg, d->bar));
	pci_bar_fill(&d->pci);
	*state = d;
	return 0;
}

static int
teardown(void **state)
{
	struct dev *d = *state;

	pci_dev_fini(&d->pci);
	munmap(d->bar, PCI_BAR_BYTES);
	free(d->mem);
	free(d);
	return 0;
}

static void
store(struct dev *d, uint64_t off, uint32_t v)
{
	crl_be32 be = crl_to_be32(v);

	memcpy(d->bar + off, &be, sizeof(be));
}

static uint32_t
load(const struct dev *d, uint64_t off)
{
	return crl_prm_get(d->bar + off, 32);
}

/* A piece of the list, as the firmware asks for it; where it is in mem, -1: nowhere. */
static long
map(struct dev *d, const uint64_t *page, uint32_t nr, uint32_t log_page, uint64_t from,
	uint64_t least, uint64_t most, uint64_t *bytes)
{
	const struct scx_pages want = {page, nr, log_page, from, least, most};
	uint8_t *at = pci_mem_map(&d->pci.mem, &want, bytes);

	return at != NULL ? at - d->mem : -1;
}

static void
memory(void **state)
{
	struct dev *d = *state;
	struct pci_mem *m = &d->pci.mem;
	const uint64_t two[2] = {MEM_FROM, MEM_FROM + 0x4000},
		       back[2] = {MEM_FROM + 0x4000, MEM_FROM};
	uint64_t n;

	assert_int_equal(0, pci_mem_add_host(m, MEM_FROM, 0x4000, d->mem));
	assert_int_equal(-EEXIST, pci_mem_add_host(m, MEM_FROM + 0x3000, 0x4000, d->mem));
	assert_int_equal(-EINVAL, pci_mem_add_host(m, MEM_FROM + 0x8000, 0x4000, d->mem + 1));
	assert_int_equal(0, pci_mem_add_host(m, MEM_FROM + 0x4000, 0x3000, d->mem + 0x4000));
	assert_ptr_equal(d->mem + 8, pci_mem_at(m, MEM_FROM + 8, 8));
	assert_null(pci_mem_at(m, MEM_FROM + 0x6ffc, 8));
	/* Two ranges that are neighbours in memory too, and the last page ends early. */
	assert_int_equal(0x40, map(d, two, 2, 14, 0x40, 0x6000, 0x7fc0, &n));
	assert_int_equal(0x6fc0, n);
	assert_int_equal(-1, map(d, two, 2, 14, 0x40, 0x7000, 0x7fc0, &n));
	assert_int_equal(-1, map(d, back, 2, 14, 0, 0x6000, 0x7000, &n));
	/* One large page, of which the first bytes are not there but passed over. */
	assert_int_equal(0x2000, map(d, &(uint64_t){0}, 1, 22, MEM_FROM + 0x2000, 1, 1u << 20, &n));
	assert_int_equal(0x5000, n);
	assert_int_equal(-EINVAL, pci_mem_remove(m, MEM_FROM, 0x1000));
	assert_int_equal(0, pci_mem_remove(m, MEM_FROM, 0x7000));
	assert_int_equal(0, m->nr);
}

static uint8_t *
slot(struct dev *d, uint32_t i, uint16_t opcode, uint32_t out_len)
{
	uint8_t *s = d->mem + CMDQ + (size_t)i * 64;

	memset(s, 0, 64);
	s[0] = 7;
	crl_prm_set(s, 0x20 << 16 | 32, 16);
	crl_prm_set(s + 16, CRL_PRM_CMD_IN_OPCODE, opcode);
	crl_prm_set(s, 0x1c0 << 16 | 32, out_len);
	s[0x3f] = 1;
	return s;
}

static void
registers(void **state)
{
	struct dev *d = *state;
	uint8_t *a, *b;

	assert_int_equal(0x56, load(d, PCI_ISEG_CMDQ_LO) & 0xff);
	assert_int_equal(5, load(d, PCI_ISEG_CMD_REV) >> 16);
	assert_int_equal(0, pci_mem_add_host(&d->pci.mem, 0, MEM_BYTES, d->mem)); /* from 0 on */
	store(d, PCI_ISEG_CMDQ_HI, 0);
	store(d, PCI_ISEG_CMDQ_LO, CMDQ);
	pci_bar_poll(&d->pci);
	assert_int_equal(CMDQ | 0x56, load(d, PCI_ISEG_CMDQ_LO)); /* as the register reads */

	a = slot(d, 0, CRL_CMD_OP_ENABLE_HCA, 16);
	store(d, PCI_ISEG_CMD_RING, 1);
	pci_bar_poll(&d->pci);
	assert_int_equal(0, a[0x3f]);
	assert_int_equal(0, a[0x20]);
	assert_int_equal(0, load(d, PCI_ISEG_CMD_RING));

	/* The second ring overwrites the first one; a millisecond later its slot is done too. */
	a = slot(d, 0, CRL_CMD_OP_ALLOC_PD, 16);
	b = slot(d, 31, CRL_CMD_OP_ALLOC_PD, 16);
	store(d, PCI_ISEG_CMD_RING, 1);
	store(d, PCI_ISEG_CMD_RING, 1u << 31);
	pci_bar_poll(&d->pci);
	assert_int_equal(0, b[0x3f]);
	assert_int_equal(1, a[0x3f]);
	for (int i = 0; i < 100 && a[0x3f] != 0; i++) {
		usleep(1000);
		pci_bar_poll(&d->pci);
	}
	assert_int_equal(0, a[0x3f]);

	/* Another state of the interface than full; all of it is kept and read back. */
	store(d, PCI_ISEG_CMDQ_LO, CMDQ | 1u << 8);
	pci_bar_poll(&d->pci);
	assert_int_equal(CMDQ | 0x156, load(d, PCI_ISEG_CMDQ_LO));
}

/* As libmlx5 sets them: one of all is there, and later it is taken away. */
static void
interrupts(void **state)
{
	struct dev *d = *state;
	int fds[PCI_VECTORS], none = -1, not_one = open("/dev/null", O_WRONLY);
	uint64_t n;

	for (unsigned i = 0; i < PCI_VECTORS; i++)
		fds[i] = -1;
	fds[3] = eventfd(0, EFD_NONBLOCK);
	assert_int_equal(-EINVAL, pci_dev_set_irqs(&d->pci, 0, 1, &not_one, 1));
	close(not_one);
	assert_int_equal(0, pci_dev_set_irqs(&d->pci, 0, PCI_VECTORS, fds, PCI_VECTORS));
	d->pci.guest.irq(&d->pci, 3);
	d->pci.guest.irq(&d->pci, 4); /* nobody listens */
	assert_int_equal(sizeof(n), read(fds[3], &n, sizeof(n)));
	assert_int_equal(1, n);
	assert_int_equal(0, pci_dev_set_irqs(&d->pci, 3, 1, &none, 1));
	assert_int_equal(-1, d->pci.irq[3]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory, setup, teardown),
		cmocka_unit_test_setup_teardown(registers, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupts, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
