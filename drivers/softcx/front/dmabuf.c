/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table behind ../dmabuf_registry.h: inode of a dma-buf to address and length. Filled by
 * whoever exports GPU memory, read by mem.c when a region or umem is registered by descriptor.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>

#include "../dmabuf_registry.h"
#include "core.h"

#define DMABUF_MAX 8192 /* a queue has two or three */

static struct {
	dev_t st_dev;
	ino_t st_ino;
	uint8_t *addr;
	uint8_t *here; /* where the data path finds it; NULL: not asked for yet */
	size_t bytes;
} table[DMABUF_MAX];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

/* Index of the entry for this inode; if none, of a free entry; -1: none of both. */
static int
find(const struct stat *st)
{
	int free_at = -1;

	for (int i = 0; i < DMABUF_MAX; i++) {
		if (table[i].bytes && table[i].st_ino == st->st_ino &&
			table[i].st_dev == st->st_dev)
			return i;
		if (!table[i].bytes && free_at < 0)
			free_at = i;
	}
	return free_at;
}

__attribute__((visibility("default"))) int
softcx_dmabuf_add(int fd, void *addr, size_t bytes)
{
	struct stat st;
	int i, rc = 0;

	if (scxf_fstat(fd, &st))
		return -errno;
	if (!bytes)
		return -EINVAL;
	pthread_mutex_lock(&table_lock);
	i = find(&st);
	if (i < 0) {
		rc = -ENOSPC;
	} else if (table[i].bytes) {
		rc = -EEXIST;
	} else {
		table[i].st_dev = st.st_dev;
		table[i].st_ino = st.st_ino;
		table[i].addr = addr;
		table[i].here = NULL;
		table[i].bytes = bytes;
	}
	pthread_mutex_unlock(&table_lock);
	return rc;
}

__attribute__((visibility("default"))) void
softcx_dmabuf_del(int fd)
{
	struct stat st;
	int i;

	if (scxf_fstat(fd, &st))
		return;
	pthread_mutex_lock(&table_lock);
	i = find(&st);
	if (i >= 0 && table[i].bytes && table[i].here && table[i].here != table[i].addr)
		scxf_far_del(table[i].here);
	if (i >= 0)
		table[i].bytes = 0;
	pthread_mutex_unlock(&table_lock);
}

/* Where offset of the dma-buf is; -EBADF: no descriptor or never published; -EINVAL: out of its
 * bounds; -ENOMEM: no copy of it to be had. */
int
scxf_dmabuf_find(int fd, uint64_t offset, uint64_t bytes, struct scx_dmabuf *m)
{
	struct stat st;
	int i, rc = -EBADF;

	if (scxf_fstat(fd, &st))
		return -EBADF;
	pthread_mutex_lock(&table_lock);
	i = find(&st);
	if (i >= 0 && table[i].bytes) {
		rc = -EINVAL;
		if (bytes <= table[i].bytes && offset <= table[i].bytes - bytes) {
			if (!table[i].here)
				table[i].here = scxf_far_add(table[i].addr, table[i].bytes);
			m->addr = table[i].here + offset;
			m->at = (uint64_t)(uintptr_t)table[i].addr + offset;
			rc = table[i].here ? 0 : -ENOMEM;
		}
	}
	pthread_mutex_unlock(&table_lock);
	if (rc)
		return rc;
	m->bytes = bytes;
	m->offset = offset;
	m->fd = fd;
	m->device = scxf_gpu_holds(m->addr);
	return 0;
}
