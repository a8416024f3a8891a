/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hooks: what a program sees of /dev/infiniband/uverbs*. Loaded by LD_PRELOAD. Only open, stat,
 * ioctl, socket and madvise are hooked, each variant that libibverbs or an older program may have
 * been compiled to; everything else works on the memfd by itself (device.c). There is no
 * constructor: a program that never opens a device pays one string comparison an open.
 *
 * RDMA netlink is refused, because a kernel with InfiniBand built in would answer "no devices", and
 * libibverbs then never looks at sysfs.
 */
#undef _FILE_OFFSET_BITS /* else open and open64, and their like, are one name here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "front.h"

#define HOOK __attribute__((visibility("default")))

/* The next definition of the function of this name: libc's, or a sanitizer's. */
#define REAL(name)                                                                                 \
	static __typeof__(&name) real_##name;                                                      \
	if (!real_##name)                                                                          \
	real_##name = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* Old glibc had these instead of stat and its kin; programs built against it still call them. */
int __xstat(int ver, const char *path, struct stat *st);
int __xstat64(int ver, const char *path, struct stat64 *st);
int __lxstat(int ver, const char *path, struct stat *st);
int __lxstat64(int ver, const char *path, struct stat64 *st);
int __fxstat(int ver, int fd, struct stat *st);
int __fxstat64(int ver, int fd, struct stat64 *st);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

/* 1: it was a device of ours, *rc is the answer. */
static int
open_device(const char *path, int flags, int *rc)
{
	int index = scxf_dev_path(path);

	if (index < 0)
		return 0;
	if (scxf_forked()) {
		errno = EIO;
		*rc = -1;
		return 1;
	}
	pthread_mutex_lock(&scxf_lock);
	*rc = scxf_open(index, flags);
	pthread_mutex_unlock(&scxf_lock);
	if (*rc < 0) {
		errno = -*rc;
		*rc = -1;
	}
	return 1;
}

static mode_t
mode_of(int flags, va_list ap)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;
}

HOOK int
open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;
	int rc;

	REAL(open);
	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return open_device(path, flags, &rc) ? rc : real_open(path, flags, mode);
}

HOOK int
open64(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;
	int rc;

	REAL(open64);
	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return open_device(path, flags, &rc) ? rc : real_open64(path, flags, mode);
}

HOOK int
openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;
	int rc;

	REAL(openat);
	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return open_device(path, flags, &rc) ? rc : real_openat(dir, path, flags, mode);
}

HOOK int
openat64(int dir, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;
	int rc;

	REAL(openat64);
	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return open_device(path, flags, &rc) ? rc : real_openat64(dir, path, flags, mode);
}

/* What _FORTIFY_SOURCE makes of the four when there is no mode. */
HOOK int
__open_2(const char *path, int flags)
{
	int rc;

	REAL(__open_2);
	return open_device(path, flags, &rc) ? rc : real___open_2(path, flags);
}

HOOK int
__open64_2(const char *path, int flags)
{
	int rc;

	REAL(__open64_2);
	return open_device(path, flags, &rc) ? rc : real___open64_2(path, flags);
}

HOOK int
__openat_2(int dir, const char *path, int flags)
{
	int rc;

	REAL(__openat_2);
	return open_device(path, flags, &rc) ? rc : real___openat_2(dir, path, flags);
}

HOOK int
__openat64_2(int dir, const char *path, int flags)
{
	int rc;

	REAL(__openat64_2);
	return open_device(path, flags, &rc) ? rc : real___openat64_2(dir, path, flags);
}

_Static_assert(sizeof(struct stat) == sizeof(struct stat64),
	"one layout for both, as on every 64-bit Linux");

/* A character device with the number that sysfs tells, as udev would have made it. */
static void
fill_stat(unsigned index, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFCHR | 0666;
	st->st_nlink = 1;
	st->st_blksize = 4096;
	st->st_rdev = makedev(SCX_UVERBS_MAJOR, SCX_UVERBS_MINOR + index);
}

static int
stat_device(const char *path, void *st)
{
	int index = scxf_dev_path(path);

	if (index < 0 || !getenv(SCX_CONF_ENV))
		return 0;
	fill_stat(index, st);
	return 1;
}

/* After a successful fstat: if it was one of our memfds, it looks like the device. */
static int
fstat_device(int rc, void *buf)
{
	struct stat *st = buf;
	struct scxf_ctx *ctx;
	bool forked;

	if (rc || !scxf_nr_ctx || !S_ISREG(st->st_mode))
		return rc;
	/* In a child the lock may be held by a thread that does not exist there; nobody else
	 * changes the list then, and whatever moment it was copied at, it can be read. */
	forked = scxf_forked();
	if (!forked)
		pthread_mutex_lock(&scxf_lock);
	ctx = scxf_ctx_of(st->st_dev, st->st_ino);
	if (ctx)
		fill_stat(ctx->dev->index, st);
	if (!forked)
		pthread_mutex_unlock(&scxf_lock);
	return rc;
}

#define STAT_HOOK(name, type)                                                                      \
	HOOK int name(const char *path, type *st)                                                  \
	{                                                                                          \
		REAL(name);                                                                        \
		return stat_device(path, st) ? 0 : real_##name(path, st);                          \
	}
#define XSTAT_HOOK(name, type)                                                                     \
	HOOK int name(int ver, const char *path, type *st)                                         \
	{                                                                                          \
		REAL(name);                                                                        \
		return stat_device(path, st) ? 0 : real_##name(ver, path, st);                     \
	}
#define FSTAT_HOOK(name, type)                                                                     \
	HOOK int name(int fd, type *st)                                                            \
	{                                                                                          \
		REAL(name);                                                                        \
		return fstat_device(real_##name(fd, st), st);                                      \
	}
#define FXSTAT_HOOK(name, type)                                                                    \
	HOOK int name(int ver, int fd, type *st)                                                   \
	{                                                                                          \
		REAL(name);                                                                        \
		return fstat_device(real_##name(ver, fd, st), st);                                 \
	}

STAT_HOOK(stat, struct stat)
STAT_HOOK(stat64, struct stat64)
STAT_HOOK(lstat, struct stat)
STAT_HOOK(lstat64, struct stat64)
XSTAT_HOOK(__xstat, struct stat)
XSTAT_HOOK(__xstat64, struct stat64)
XSTAT_HOOK(__lxstat, struct stat)
XSTAT_HOOK(__lxstat64, struct stat64)
FSTAT_HOOK(fstat, struct stat)
FSTAT_HOOK(fstat64, struct stat64)
FXSTAT_HOOK(__fxstat, struct stat)
FXSTAT_HOOK(__fxstat64, struct stat64)

/* -1: not a device of ours; else the ioctl's answer is in *rc. */
static int
ioctl_device(int fd, void *arg, int *rc)
{
	struct scxf_ctx *ctx;
	struct stat st;

	if (scxf_fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -1;
	if (scxf_forked()) {
		*rc = -EIO; /* the device stayed with the parent */
		return 0;
	}
	pthread_mutex_lock(&scxf_lock);
	ctx = scxf_ctx_of(st.st_dev, st.st_ino);
	if (ctx)
		*rc = arg ? scxf_ioctl(ctx, fd, arg) : -EFAULT;
	pthread_mutex_unlock(&scxf_lock);
	return ctx ? 0 : -1;
}

/* A program sets its port's MTU on the netdev; the NIC behind has to hear of it. */
static int
set_mtu(int rc, const struct ifreq *r)
{
	char name[IFNAMSIZ + 1] = "";

	if (!rc && r && scxf_nr_ctx && !scxf_forked()) {
		memcpy(name, r->ifr_name, IFNAMSIZ);
		scxf_mtu_changed(name, r->ifr_mtu);
	}
	return rc;
}

HOOK int
ioctl(int fd, unsigned long req, ...)
{
	va_list ap;
	void *arg;
	int rc;

	REAL(ioctl);
	va_start(ap, req);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (req == SIOCSIFMTU)
		return set_mtu(real_ioctl(fd, req, arg), arg);
	if (req != RDMA_VERBS_IOCTL || !scxf_nr_ctx || ioctl_device(fd, arg, &rc))
		return real_ioctl(fd, req, arg);
	if (rc) {
		errno = -rc;
		return -1;
	}
	return 0;
}

HOOK int
socket(int domain, int type, int protocol)
{
	REAL(socket);
	if (domain == AF_NETLINK && protocol == NETLINK_RDMA) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	return real_socket(domain, type, protocol);
}

/*
 * libibverbs keeps registered pages from a forked child with MADV_DONTFORK, unless the kernel says
 * by RDMA netlink that it copies them, as every kernel since 5.12 does. It would ask in vain here,
 * so that we say it: nothing is to be done. Otherwise each registration reads all of the process's
 * mappings (net_mlx5 has it look for huge pages), which takes a minute for a thousand queues.
 */
int ibv_fork_init(void);

HOOK int
ibv_fork_init(void)
{
	return 0;
}

/*
 * Where it was asked for past that hook, it advises on what a dma-buf's registration has for an
 * address: the offset, where nothing is mapped. A child cannot use the device anyway, so that such
 * advice is moot.
 */
HOOK int
madvise(void *addr, size_t bytes, int advice)
{
	REAL(madvise);
	int rc = real_madvise(addr, bytes, advice);

	if (rc != 0 && errno == ENOMEM && (advice == MADV_DONTFORK || advice == MADV_DOFORK))
		return 0;
	return rc;
}
