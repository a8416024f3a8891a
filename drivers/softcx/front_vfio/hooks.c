/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hooks: what a program sees of /dev/vfio and of one PCI device in sysfs. Loaded by LD_PRELOAD,
 * through `softcx vfio`. Reads, poll, mmap and the like work on the memfds by themselves; config
 * space alone is read and written here.
 */
#undef _FILE_OFFSET_BITS /* else open and open64, and their like, are one name here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vfio.h"

#define HOOK __attribute__((visibility("default")))

/* The next definition of the function of this name: libc's, or a sanitizer's. */
#define REAL(name)                                                                                 \
	static __typeof__(&name) real_##name;                                                      \
	if (!real_##name)                                                                          \
	real_##name = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t __pread_chk(int fd, void *buf, size_t n, off_t off, size_t room);
ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t off, size_t room);
ssize_t __readlink_chk(const char *path, char *to, size_t n, size_t room);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

/* errno's way to say it. */
static long
answer(long rc)
{
	if (rc >= 0)
		return rc;
	errno = (int)-rc;
	return -1;
}

static int
open_ours(const char *path, int flags, int *rc)
{
	int is;

	if (path == NULL || path[0] != '/' || vf_inside())
		return 0;
	vf_enter();
	is = vf_open(path, flags, rc);
	vf_leave();
	if (is)
		*rc = (int)answer(*rc);
	return is;
}

#define OPEN_HOOK(name)                                                                            \
	HOOK int name(const char *path, int flags, ...)                                            \
	{                                                                                          \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
		int rc;                                                                            \
                                                                                                   \
		REAL(name);                                                                        \
		va_start(ap, flags);                                                               \
		mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t)    \
									   : 0;                    \
		va_end(ap);                                                                        \
		return open_ours(path, flags, &rc) ? rc : real_##name(path, flags, mode);          \
	}
#define OPEN2_HOOK(name)                                                                           \
	HOOK int name(const char *path, int flags)                                                 \
	{                                                                                          \
		int rc;                                                                            \
                                                                                                   \
		REAL(name);                                                                        \
		return open_ours(path, flags, &rc) ? rc : real_##name(path, flags);                \
	}
#define OPENAT_HOOK(name)                                                                          \
	HOOK int name(int dir, const char *path, int flags, ...)                                   \
	{                                                                                          \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
		int rc;                                                                            \
                                                                                                   \
		REAL(name);                                                                        \
		va_start(ap, flags);                                                               \
		mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t)    \
									   : 0;                    \
		va_end(ap);                                                                        \
		return open_ours(path, flags, &rc) ? rc : real_##name(dir, path, flags, mode);     \
	}
#define STAT_HOOK(name, type)                                                                      \
	HOOK int name(const char *path, type *st)                                                  \
	{                                                                                          \
		REAL(name);                                                                        \
		return vf_stat(path, (struct stat *)st) ? 0 : real_##name(path, st);               \
	}

OPEN_HOOK(open)
OPEN_HOOK(open64)
OPEN2_HOOK(__open_2)
OPEN2_HOOK(__open64_2)
OPENAT_HOOK(openat)
OPENAT_HOOK(openat64)
STAT_HOOK(stat, struct stat)
STAT_HOOK(stat64, struct stat64)
STAT_HOOK(lstat, struct stat)
STAT_HOOK(lstat64, struct stat64)

_Static_assert(sizeof(struct stat) == sizeof(struct stat64),
	"one layout for both, as on every 64-bit Linux");

HOOK ssize_t
readlink(const char *path, char *to, size_t n)
{
	long rc;

	REAL(readlink);
	return vf_link(path, to, n, &rc) ? rc : real_readlink(path, to, n);
}

HOOK ssize_t
__readlink_chk(const char *path, char *to, size_t n, size_t room)
{
	long rc;

	REAL(__readlink_chk);
	return n <= room && vf_link(path, to, n, &rc) ? rc : real___readlink_chk(path, to, n, room);
}

static int
access_ours(int fd, void *buf, size_t n, int64_t off, bool write, long *rc)
{
	int is = 0;

	if (off < (int64_t)PCI_BAR_BYTES || vf_inside())
		return 0;
	vf_enter();
	if (vf_file_kind(fd) == VF_DEVICE)
		is = vf_device_access(buf, n, off, write, rc);
	vf_leave();
	if (is)
		*rc = answer(*rc);
	return is;
}

#define PREAD_HOOK(name, off_type)                                                                 \
	HOOK ssize_t name(int fd, void *buf, size_t n, off_type off)                               \
	{                                                                                          \
		long rc;                                                                           \
                                                                                                   \
		REAL(name);                                                                        \
		return access_ours(fd, buf, n, off, false, &rc) ? rc                               \
								: real_##name(fd, buf, n, off);    \
	}
#define PREAD_CHK_HOOK(name, off_type)                                                             \
	HOOK ssize_t name(int fd, void *buf, size_t n, off_type off, size_t room)                  \
	{                                                                                          \
		long rc;                                                                           \
                                                                                                   \
		REAL(name);                                                                        \
		return n <= room && access_ours(fd, buf, n, off, false, &rc)                       \
			       ? rc                                                                \
			       : real_##name(fd, buf, n, off, room);                               \
	}
#define PWRITE_HOOK(name, off_type)                                                                \
	HOOK ssize_t name(int fd, const void *buf, size_t n, off_type off)                         \
	{                                                                                          \
		long rc;                                                                           \
                                                                                                   \
		REAL(name);                                                                        \
		return access_ours(fd, (void *)(uintptr_t)buf, n, off, true, &rc)                  \
			       ? rc                                                                \
			       : real_##name(fd, buf, n, off);                                     \
	}

PREAD_HOOK(pread, off_t)
PREAD_HOOK(pread64, off64_t)
PREAD_CHK_HOOK(__pread_chk, off_t)
PREAD_CHK_HOOK(__pread64_chk, off64_t)
PWRITE_HOOK(pwrite, off_t)
PWRITE_HOOK(pwrite64, off64_t)

#define VFIO_TYPE_OF(req) ((req) >> 8 & 0xff)

HOOK int
ioctl(int fd, unsigned long req, ...)
{
	enum vf_kind kind;
	va_list ap;
	void *arg;
	long rc = -ENOTTY;

	REAL(ioctl);
	va_start(ap, req);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (VFIO_TYPE_OF(req) != ';' || vf_inside() || vf_foreign())
		return real_ioctl(fd, req, arg);
	vf_enter();
	kind = vf_file_kind(fd);
	if (kind == VF_CONTAINER)
		rc = vf_container_ioctl(req, arg);
	else if (kind == VF_GROUP_FILE)
		rc = vf_group_ioctl(req, arg);
	else if (kind == VF_DEVICE)
		rc = vf_device_ioctl(req, arg);
	vf_leave();
	return kind == VF_NONE ? real_ioctl(fd, req, arg) : (int)answer(rc);
}

HOOK int
close(int fd)
{
	REAL(close);
	if (vf_any() && !vf_inside() && !vf_foreign()) {
		vf_enter();
		vf_close(fd);
		vf_leave();
	}
	return real_close(fd);
}
