/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guest's memory, as DMA_MAP hands it over: files to map. All of it is mapped once in a window
 * as large as the bus, so that an address is an index; a ring that is a list of pages is mapped a
 * second time, page after page, so that the data path finds it in one piece.
 *
 * Holes of the window are private zero pages, not missing ones: a doorbell record whose memory was
 * taken away while its queue lived reads as zero then, and nothing faults. Keys to all of memory
 * look at the list of what is there instead (struct scx_extents).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../dp/dp.h"
#include "../log.h"
#include "pci.h"

#define HOLE_PROT  (PROT_READ | PROT_WRITE)
#define HOLE_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

int
pci_mem_init(struct pci_mem *m)
{
	memset(m, 0, sizeof(*m));
	m->known = calloc(1, sizeof(*m->known));
	if (m->known == NULL)
		return -ENOMEM;
	m->window = mmap(NULL, PCI_WINDOW, HOLE_PROT, HOLE_FLAGS, -1, 0);
	if (m->window == MAP_FAILED) {
		int rc = -errno;

		free(m->known);
		m->known = NULL;
		m->window = NULL;
		return rc;
	}
	return 0;
}

void
pci_mem_fini(struct pci_mem *m)
{
	if (m->window != NULL) {
		pci_mem_remove(m, 0, PCI_WINDOW);
		munmap(m->window, PCI_WINDOW);
	}
	free(m->known);
	memset(m, 0, sizeof(*m));
}

/* For the data path: in ascending order, and what touches is one. */
static void
tell_known(struct pci_mem *m)
{
	struct scx_extents *k = m->known;

	k->nr = 0;
	for (uint64_t from = 0;;) {
		const struct pci_extent *best = NULL;

		for (uint32_t i = 0; i < m->nr; i++)
			if (m->e[i].from >= from && (best == NULL || m->e[i].from < best->from))
				best = &m->e[i];
		if (best == NULL)
			return;
		from = best->from + best->bytes;
		if (k->nr > 0 && k->e[k->nr - 1].from + k->e[k->nr - 1].bytes == best->from) {
			k->e[k->nr - 1].bytes += best->bytes;
			continue;
		}
		k->e[k->nr].from = best->from;
		k->e[k->nr++].bytes = best->bytes;
	}
}

/* A file that could be cut short would end this process at the next access. */
static int
check_file(int fd, uint64_t offset, uint64_t bytes)
{
	struct stat st;
	int seals;

	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || offset > (uint64_t)st.st_size ||
		bytes > (uint64_t)st.st_size - offset)
		return -EINVAL;
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		scx_log(NULL, "memory is in a file that is not sealed against shrinking: whoever "
			      "does that ends this process");
	return 0;
}

int
pci_mem_add(struct pci_mem *m, uint64_t from, uint64_t bytes, int fd, uint64_t offset)
{
	struct pci_extent *e = &m->e[m->nr];
	int rc;

	if (bytes == 0 || (from | bytes | offset) % PCI_PAGE != 0 || from > PCI_WINDOW ||
		bytes > PCI_WINDOW - from)
		return -EINVAL;
	if (m->nr == PCI_EXTENTS_MAX)
		return -ENOSPC;
	for (uint32_t i = 0; i < m->nr; i++)
		if (from < m->e[i].from + m->e[i].bytes && m->e[i].from < from + bytes)
			return -EEXIST;
	rc = check_file(fd, offset, bytes);
	if (rc != 0)
		return rc;
	*e = (struct pci_extent){.from = from, .bytes = bytes, .offset = offset};
	e->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (e->fd < 0)
		return -errno;
	if (mmap(m->window + from, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		    (off_t)offset) == MAP_FAILED) {
		rc = -errno;
		close(e->fd);
		return rc;
	}
	m->nr++;
	tell_known(m);
	return 0;
}

int
pci_mem_remove(struct pci_mem *m, uint64_t from, uint64_t bytes)
{
	int rc = -ENOENT;

	if (bytes > UINT64_MAX - from)
		return -EINVAL;
	for (uint32_t i = 0; i < m->nr; i++)
		if (m->e[i].from < from + bytes && from < m->e[i].from + m->e[i].bytes &&
			(m->e[i].from < from || m->e[i].from + m->e[i].bytes > from + bytes))
			return -EINVAL; /* a part of what was mapped as one */
	for (uint32_t i = 0; i < m->nr;) {
		struct pci_extent *e = &m->e[i];

		if (e->from < from || e->from >= from + bytes) {
			i++;
			continue;
		}
		if (mmap(m->window + e->from, e->bytes, HOLE_PROT, HOLE_FLAGS | MAP_FIXED, -1, 0) ==
			MAP_FAILED)
			return -errno;
		close(e->fd);
		*e = m->e[--m->nr];
		rc = 0;
	}
	tell_known(m);
	return rc;
}

static const struct pci_extent *
find(const struct pci_mem *m, uint64_t addr, uint64_t bytes)
{
	for (uint32_t i = 0; i < m->nr; i++) {
		uint64_t off = addr - m->e[i].from;

		if (addr >= m->e[i].from && off < m->e[i].bytes && bytes <= m->e[i].bytes - off)
			return &m->e[i];
	}
	return NULL;
}

void *
pci_mem_at(void *mem, uint64_t addr, uint64_t bytes)
{
	struct pci_mem *m = mem;

	return find(m, addr, bytes) != NULL ? m->window + addr : NULL;
}

/* Pages that follow each other on the bus are mapped by one call: the kernel's maps are few. */
static uint32_t
run_length(const uint64_t *page, uint32_t nr, uint32_t log_page)
{
	uint32_t n = 1;

	while (n < nr && page[n] == page[n - 1] + (1ull << log_page))
		n++;
	return n;
}

void *
pci_mem_map(void *mem, const uint64_t *page, uint32_t nr, uint32_t log_page)
{
	uint64_t bytes = (uint64_t)nr << log_page, done = 0;
	uint8_t *base = mmap(NULL, bytes, PROT_NONE, HOLE_FLAGS, -1, 0);

	if (base == MAP_FAILED)
		return NULL;
	for (uint32_t i = 0, n; i < nr; i += n) {
		const struct pci_extent *e;
		uint64_t len;

		n = run_length(page + i, nr - i, log_page);
		len = (uint64_t)n << log_page;
		e = find(mem, page[i], len);
		if (e == NULL || page[i] % PCI_PAGE != 0 ||
			mmap(base + done, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
				e->fd, (off_t)(e->offset + page[i] - e->from)) == MAP_FAILED) {
			munmap(base, bytes);
			return NULL;
		}
		done += len;
	}
	return base;
}

void
pci_mem_unmap(void *mem, void *base, uint64_t bytes)
{
	munmap(base, bytes);
}

void *
pci_mem_all(void *mem, uint64_t *bytes, const struct scx_extents **holes)
{
	struct pci_mem *m = mem;

	*bytes = PCI_WINDOW;
	*holes = m->known;
	return m->window;
}
