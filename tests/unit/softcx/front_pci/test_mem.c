/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guest's memory by its edges: what lies in one map, and all of it, has an address; what begins
 * before it, ends behind it or lies in a hole has none, for every size. Judged by a plain list of
 * the maps, which come and go in an order that a seed chooses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "drivers/softcx/front_pci/pci.h"

#define SLOTS 8u /* places where a map can be, four pages each */
#define SLOT  (4u * PCI_PAGE)

struct maps {
	struct pci_mem mem;
	uint64_t from[SLOTS], bytes[SLOTS]; /* bytes 0: none */
	int fd;
};

static int
setup(void **state)
{
	struct maps *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	assert_int_equal(0, pci_mem_init(&m->mem, false));
	m->fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(0, ftruncate(m->fd, SLOTS * SLOT));
	assert_int_equal(0, fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK));
	*state = m;
	return 0;
}

static int
teardown(void **state)
{
	struct maps *m = *state;

	pci_mem_fini(&m->mem);
	close(m->fd);
	free(m);
	return 0;
}

static int
there(const struct maps *m, uint64_t at, uint64_t bytes)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (m->bytes[i] != 0 && at >= m->from[i] && at + bytes <= m->from[i] + m->bytes[i])
			return 1;
	return 0;
}

/* Around every page's edge, of maps and of holes, with every small size and the larger ones. */
static void
look(struct maps *m)
{
	static const uint64_t sizes[] = {1, 2, 4, 8, 63, 64, 65, 512, 4096, 4097, SLOT, SLOT + 1};

	for (uint64_t edge = 0; edge <= SLOTS * SLOT; edge += PCI_PAGE)
		for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
			for (int64_t d = -66; d <= 66; d++) {
				uint64_t at = edge + (uint64_t)d, n = sizes[k];
				uint8_t *is;

				if ((int64_t)at < 0)
					continue;
				is = pci_mem_at(&m->mem, at, n);
				assert_ptr_equal(is, there(m, at, n) ? m->mem.window + at : NULL);
			}
}

static void
edges(void **state)
{
	struct maps *m = *state;

	srand(1);
	for (unsigned round = 0; round < 60; round++) {
		unsigned i = (unsigned)rand() % SLOTS, pages = 1 + (unsigned)rand() % 4;

		if (m->bytes[i] != 0) {
			assert_int_equal(0, pci_mem_remove(&m->mem, m->from[i], m->bytes[i]));
			m->bytes[i] = 0;
		} else {
			m->bytes[i] = pages * PCI_PAGE;
			m->from[i] = i * SLOT + (uint64_t)rand() % (5 - pages) * PCI_PAGE;
			assert_int_equal(0,
				pci_mem_add(&m->mem, m->from[i], m->bytes[i], m->fd, i * SLOT));
		}
		look(m);
	}
}

/* Numbers that wrap, and the window's end. */
static void
far_away(void **state)
{
	struct maps *m = *state;

	assert_int_equal(0, pci_mem_add(&m->mem, PCI_WINDOW - SLOT, SLOT, m->fd, 0));
	assert_ptr_equal(m->mem.window + PCI_WINDOW - 8, pci_mem_at(&m->mem, PCI_WINDOW - 8, 8));
	assert_null(pci_mem_at(&m->mem, PCI_WINDOW - 8, 9));
	assert_null(pci_mem_at(&m->mem, PCI_WINDOW, 1));
	assert_null(pci_mem_at(&m->mem, PCI_WINDOW - 8, UINT64_MAX));
	assert_null(pci_mem_at(&m->mem, UINT64_MAX, 1));
	assert_null(pci_mem_at(&m->mem, UINT64_MAX - 7, 16));
	assert_int_not_equal(0, pci_mem_add(&m->mem, PCI_WINDOW, SLOT, m->fd, 0));
	assert_int_not_equal(0, pci_mem_add(&m->mem, 0, UINT64_MAX - PCI_PAGE + 1, m->fd, 0));
	assert_int_not_equal(0, pci_mem_remove(&m->mem, PCI_WINDOW - SLOT, UINT64_MAX));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(edges, setup, teardown),
		cmocka_unit_test_setup_teardown(far_away, setup, teardown),
	};

	return cmocka_run_group_tests_name("guest memory", tests, NULL, NULL);
}
