/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens of a device. Each is a memfd whose pages are its UAR pages: mmap, dup, close and passing it
 * along work without a hook, and its inode is its name. Called by device.c, interpose.c and mem.c,
 * under scxf_lock.
 *
 * Without a hook on close, watch.c hears of an open that the program has let go of, and the next
 * open looks as well (a child may hold what the program has closed): no descriptor and no mapping
 * of that inode is left in the process.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "front.h"

_Atomic unsigned scxf_nr_ctx;

static struct scxf_ctx *contexts;

struct scxf_ctx *
scxf_ctx_of(dev_t st_dev, ino_t st_ino)
{
	for (struct scxf_ctx *c = contexts; c; c = c->next)
		if (c->st_ino == st_ino && c->st_dev == st_dev)
			return c;
	return NULL;
}

struct scxf_ctx *
scxf_ctx_of_ino(ino_t st_ino)
{
	for (struct scxf_ctx *c = contexts; c; c = c->next)
		if (c->st_ino == st_ino)
			return c;
	return NULL;
}

static bool
in_descriptors(const struct scxf_ctx *ctx)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	bool found = !d; /* not to be told: keep it */

	while (d && !found && (e = readdir(d))) {
		struct stat st;

		found = e->d_name[0] != '.' && atoi(e->d_name) != ctx->memfd &&
			!fstatat(dirfd(d), e->d_name, &st, 0) && st.st_ino == ctx->st_ino &&
			st.st_dev == ctx->st_dev;
	}
	if (d)
		closedir(d);
	return found;
}

/* Mapped by the program, other than by us into a device's UAR space. */
static bool
in_mappings(const struct scxf_ctx *ctx)
{
	const uint8_t *base = ctx->dev->uar_base, *end = base + SCXF_UAR_PAGES * SCXF_UAR_BYTES;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = !f;
	unsigned long a, ino;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%*x %*s %*x %*x:%*x %lu", &a, &ino) == 2 &&
			ino == ctx->st_ino)
			found = (uint8_t *)a < base || (uint8_t *)a >= end;
	if (f)
		fclose(f);
	return found;
}

static void
ctx_free(struct scxf_ctx *ctx)
{
	scxf_event_forget_ctx(ctx);
	scxf_watch_forget(ctx->wd);
	if (ctx->alive)
		scx_uid_destroy(ctx->dev->nic, ctx->uid);
	for (uint32_t h = 1; h < ctx->nr_obj; h++)
		if (ctx->obj[h].kind == SCXF_UAR)
			scxf_uar_unmap(ctx, ctx->obj[h].num);
		else if (ctx->obj[h].kind == SCXF_FLOW)
			ctx->dev->nr_receiving -= ctx->obj[h].receives;
	scxf_obj_put_all(ctx);
	close(ctx->memfd);
	free(ctx);
}

void
scxf_ctx_reap(void)
{
	for (struct scxf_ctx **at = &contexts; *at;) {
		struct scxf_ctx *ctx = *at;

		if (in_descriptors(ctx) || in_mappings(ctx)) {
			at = &ctx->next;
			continue;
		}
		*at = ctx->next;
		scxf_nr_ctx--;
		ctx_free(ctx);
	}
}

int
scxf_ctx_new(struct scxf_dev *dev, int flags)
{
	struct scxf_ctx *ctx = calloc(1, sizeof(*ctx));
	int memfd, fd = -1, rc;
	char path[64];
	struct stat st;

	if (!ctx)
		return -ENOMEM;
	memfd = memfd_create(dev->name, MFD_CLOEXEC);
	if (memfd < 0 || ftruncate(memfd, SCXF_UAR_PAGES * SCXF_UAR_BYTES) ||
		scxf_fstat(memfd, &st)) {
		rc = -errno;
		goto fail;
	}
	memfd = scxf_move_high(memfd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memfd);
	fd = open(path, O_RDWR | (flags & O_CLOEXEC));
	if (fd < 0) {
		rc = -errno;
		goto fail;
	}
	ctx->dev = dev;
	ctx->memfd = memfd;
	ctx->wd = scxf_watch_close(fd);
	ctx->st_dev = st.st_dev;
	ctx->st_ino = st.st_ino;
	ctx->next = contexts;
	__atomic_store_n(
		&contexts, ctx, __ATOMIC_RELEASE); /* a forked child looks without the lock */
	scxf_nr_ctx++;
	return fd;
fail:
	if (memfd >= 0)
		close(memfd);
	free(ctx);
	return rc;
}

/* From now on the page of the NIC's UAR space is that of the context's memfd, which the program
 * maps. */
int
scxf_uar_map(struct scxf_ctx *ctx, uint32_t page)
{
	uint8_t *at = ctx->dev->uar_base + page * SCXF_UAR_BYTES;

	if (page >= SCXF_UAR_PAGES)
		return -EINVAL;
	if (mmap(at, SCXF_UAR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, ctx->memfd,
		    page * SCXF_UAR_BYTES) != at)
		return -errno;
	return 0;
}

void
scxf_uar_unmap(struct scxf_ctx *ctx, uint32_t page)
{
	uint8_t *at = ctx->dev->uar_base + page * SCXF_UAR_BYTES;

	/*
	 * MAP_FIXED over it: never a moment without memory there, the data path reads it all the
	 * time. Private as its neighbours are, so that the kernel makes one mapping of them: shared
	 * pages stay mappings of their own, one more each time a program makes and drops a page.
	 */
	if (mmap(at, SCXF_UAR_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		scx_log(ctx->dev->name, "UAR page %u stays mapped: %s", page, strerror(errno));
}
