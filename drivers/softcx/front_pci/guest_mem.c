/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guest's memory, as DMA_MAP hands it over: files to map. All of it is mapped once in a window
 * as large as the bus, so that an address is an index; a ring that is a list of pages is mapped a
 * second time, page after page, so that the data path finds it in one piece.
 *
 * Holes of the window are private zero pages, not missing ones: a doorbell record whose memory was
 * taken away while its queue lived reads as zero then, and nothing faults. Keys to all of memory
 * look at the list of what is there instead (struct scx_extents).
 *
 * A device in the driver's own process (../front_vfio) is handed addresses instead of files:
 * "direct". Nothing is mapped then, and a list of pages must be in one piece where it is, as it is
 * when one call made all of it the device's. There is no key to all of memory.
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
pci_mem_init(struct pci_mem *m, bool direct)
{
	memset(m, 0, sizeof(*m));
	m->direct = direct;
	m->known = calloc(1, sizeof(*m->known));
	m->max = direct ? PCI_EXTENTS_DIRECT : SCX_EXTENTS_MAX;
	m->e = calloc(m->max, sizeof(*m->e));
	if (m->known == NULL || m->e == NULL) {
		pci_mem_fini(m);
		return -ENOMEM;
	}
	if (direct)
		return 0;
	m->window = mmap(NULL, PCI_WINDOW, HOLE_PROT, HOLE_FLAGS, -1, 0);
	if (m->window == MAP_FAILED) {
		int rc = -errno;

		m->window = NULL;
		pci_mem_fini(m);
		return rc;
	}
	return 0;
}

void
pci_mem_fini(struct pci_mem *m)
{
	if (m->e != NULL)
		pci_mem_remove(m, 0, PCI_WINDOW);
	if (m->window != NULL)
		munmap(m->window, PCI_WINDOW);
	free(m->e);
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

/* Where nothing else is, and inside of what can be told the data path. */
static int
check_place(const struct pci_mem *m, uint64_t from, uint64_t bytes)
{
	if (bytes == 0 || (from | bytes) % PCI_PAGE != 0 || from > PCI_WINDOW ||
		bytes > PCI_WINDOW - from)
		return -EINVAL;
	if (m->nr == m->max)
		return -ENOSPC;
	for (uint32_t i = 0; i < m->nr; i++)
		if (from < m->e[i].from + m->e[i].bytes && m->e[i].from < from + bytes)
			return -EEXIST;
	return 0;
}

int
pci_mem_add_host(struct pci_mem *m, uint64_t from, uint64_t bytes, void *host)
{
	int rc = check_place(m, from, bytes);

	if (rc != 0 || (uintptr_t)host % PCI_PAGE != 0)
		return rc != 0 ? rc : -EINVAL;
	m->e[m->nr++] = (struct pci_extent){.from = from, .bytes = bytes, .host = host, .fd = -1};
	return 0;
}

int
pci_mem_add(struct pci_mem *m, uint64_t from, uint64_t bytes, int fd, uint64_t offset)
{
	struct pci_extent *e = &m->e[m->nr];
	int rc;

	rc = offset % PCI_PAGE != 0 ? -EINVAL : check_place(m, from, bytes);
	if (rc != 0)
		return rc;
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
		if (!m->direct && mmap(m->window + e->from, e->bytes, HOLE_PROT,
					  HOLE_FLAGS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return -errno;
		if (!m->direct)
			close(e->fd);
		*e = m->e[--m->nr];
		rc = 0;
	}
	if (!m->direct)
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

	const struct pci_extent *e = find(m, addr, bytes);

	if (e == NULL)
		return NULL;
	return m->direct ? e->host + (addr - e->from) : m->window + addr;
}

/* One piece of the bus, in ascending order of `done`, which is where it stands in the list. */
struct piece {
	uint64_t addr, bytes;
};

/*
 * The next piece of the list: what is left of a page, and the pages that follow it on the bus, so
 * that few calls map all of it.
 */
static struct piece
next_piece(const struct scx_pages *w, uint64_t done)
{
	uint64_t size = 1ull << w->log_page, at = w->from + done, i = at >> w->log_page;
	uint64_t off = at & (size - 1), left = w->most - done;
	struct piece p = {w->page[i] + off, size - off};

	while (p.bytes < left && i + 1 < w->nr && w->page[i + 1] == w->page[i] + size) {
		p.bytes += size;
		i++;
	}
	if (p.bytes > left)
		p.bytes = left;
	return p;
}

/* The piece's memory, as far as one range of it goes; what is left is the next piece. */
static const struct pci_extent *
find_piece(const struct pci_mem *m, struct piece *p)
{
	const struct pci_extent *e = find(m, p->addr, 1);

	if (e != NULL && p->bytes > e->from + e->bytes - p->addr)
		p->bytes = e->from + e->bytes - p->addr;
	return e;
}

/* Memory of this process: it is where it is, and must be in one piece there. */
static void *
map_direct(const struct pci_mem *m, const struct scx_pages *w, uint64_t *bytes)
{
	uint8_t *base = NULL;
	uint64_t done = 0;

	while (done < w->most) {
		struct piece p = next_piece(w, done);
		const struct pci_extent *e = find_piece(m, &p);
		uint8_t *at = e != NULL ? e->host + (p.addr - e->from) : NULL;

		if (at == NULL || (base != NULL && at != base + done)) {
			if (done >= w->least)
				break;
			return NULL;
		}
		if (base == NULL)
			base = at;
		done += p.bytes;
	}
	*bytes = done;
	return base;
}

static uint64_t
page_up(uint64_t bytes)
{
	return (bytes + PCI_PAGE - 1) & ~(uint64_t)(PCI_PAGE - 1);
}

void *
pci_mem_map(void *mem, const struct scx_pages *w, uint64_t *bytes)
{
	const struct pci_mem *m = mem;
	uint64_t skip = w->from % PCI_PAGE, all = page_up(skip + w->most), done = 0;
	uint8_t *base;

	if (m->direct)
		return map_direct(m, w, bytes);
	base = mmap(NULL, all, PROT_NONE, HOLE_FLAGS, -1, 0);
	if (base == MAP_FAILED)
		return NULL;
	while (done < w->most) {
		struct piece p = next_piece(w, done);
		uint64_t off = p.addr % PCI_PAGE;
		const struct pci_extent *e = find_piece(m, &p);

		if (e == NULL || (skip + done) % PCI_PAGE != off ||
			mmap(base + skip + done - off, page_up(off + p.bytes),
				PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, e->fd,
				(off_t)(e->offset + p.addr - off - e->from)) == MAP_FAILED) {
			if (e == NULL && done >= w->least)
				break;
			munmap(base, all);
			return NULL;
		}
		done += p.bytes;
	}
	if (page_up(skip + done) < all)
		munmap(base + page_up(skip + done), all - page_up(skip + done));
	*bytes = done;
	return base + skip;
}

void
pci_mem_unmap(void *mem, void *base, uint64_t bytes)
{
	uint64_t skip = (uintptr_t)base % PCI_PAGE;

	if (!((struct pci_mem *)mem)->direct)
		munmap((uint8_t *)base - skip, page_up(skip + bytes));
}

void *
pci_mem_all(void *mem, uint64_t *bytes, const struct scx_extents **holes)
{
	struct pci_mem *m = mem;

	*bytes = m->direct ? 0 : PCI_WINDOW;
	*holes = m->known;
	return m->window;
}
