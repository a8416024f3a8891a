/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files that a user-space driver looks for: the device's entry in sysfs, its group and the
 * container in /dev/vfio. What is opened is a memfd, so that whatever else the program does with
 * the descriptor works by itself. A descriptor that was duplicated is gone with its first close.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../front/conf.h"
#include "vfio.h"

#define FILES_MAX  16u
#define FD_MIN	   512 /* our own descriptors live above, out of the program's way */
#define VFIO_MAJOR 10
#define LINK	   "../../../../kernel/iommu_groups/" VF_GROUP

pthread_mutex_t vf_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	enum vf_kind kind;
	dev_t dev;
	ino_t ino;
	int fd;
} files[FILES_MAX];
static _Atomic unsigned nr_files;
static __thread bool inside;

void
vf_enter(void)
{
	pthread_mutex_lock(&vf_lock);
	inside = true;
}

void
vf_leave(void)
{
	inside = false;
	pthread_mutex_unlock(&vf_lock);
}

bool
vf_inside(void)
{
	return inside;
}

bool
vf_any(void)
{
	return nr_files != 0;
}

int
vf_file_new(enum vf_kind kind, uint64_t bytes)
{
	struct stat st;
	int fd, high, rc;

	for (unsigned i = 0; i < FILES_MAX; i++) {
		if (files[i].kind != VF_NONE)
			continue;
		fd = memfd_create("softcx-vfio", MFD_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (ftruncate(fd, (off_t)bytes) != 0 || fstat(fd, &st) != 0) {
			rc = -errno;
			close(fd);
			return rc;
		}
		high = fcntl(fd, F_DUPFD_CLOEXEC, FD_MIN);
		if (high >= 0) {
			close(fd);
			fd = high;
		}
		files[i].kind = kind;
		files[i].dev = st.st_dev;
		files[i].ino = st.st_ino;
		files[i].fd = fd;
		nr_files++;
		return fd;
	}
	return -EMFILE;
}

static int
find(int fd)
{
	struct stat st;

	if (nr_files == 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	for (unsigned i = 0; i < FILES_MAX; i++)
		if (files[i].kind != VF_NONE && files[i].dev == st.st_dev &&
			files[i].ino == st.st_ino)
			return (int)i;
	return -1;
}

enum vf_kind
vf_file_kind(int fd)
{
	int i = find(fd);

	return i >= 0 ? files[i].kind : VF_NONE;
}

void
vf_close(int fd)
{
	int i = find(fd);
	enum vf_kind kind;

	if (i < 0)
		return;
	kind = files[i].kind;
	files[i].kind = VF_NONE;
	nr_files--;
	switch (kind) {
	case VF_DEVICE:
		vf_device_closed();
		break;
	case VF_CONTAINER:
		vf_container_closed();
		break;
	case VF_GROUP_FILE:
		vf_group_give();
		break;
	case VF_NONE:
		break;
	}
}

/* A file of sysfs: its text. */
static int
text_file(const char *text)
{
	int fd = memfd_create("softcx-sysfs", MFD_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text) || lseek(fd, 0, SEEK_SET) != 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

/* What the profile is called in sysfs, or NULL. */
static const struct scx_identity *
identity(void)
{
	static struct scx_conf conf;
	const char *text = getenv(SCX_CONF_ENV);
	char err[128];

	if (text == NULL || scx_conf_parse(text, &conf, err, sizeof(err)) != 0)
		return NULL;
	return scx_identity(conf.profile);
}

int
vf_open(const char *path, int flags, int *rc)
{
	const struct scx_identity *id;
	char text[16];

	if (strcmp(path, VF_DEV "vfio") == 0) {
		*rc = vf_file_new(VF_CONTAINER, 0);
		return 1;
	}
	if (strcmp(path, VF_DEV VF_GROUP) == 0) {
		*rc = vf_group_take();
		return 1;
	}
	if (strncmp(path, VF_SYSFS "/", sizeof(VF_SYSFS)) != 0)
		return 0;
	path += sizeof(VF_SYSFS);
	path += strspn(path, "/");
	id = identity();
	*rc = -ENOENT;
	if (id == NULL)
		return 1;
	if (strcmp(path, "vendor") == 0)
		*rc = text_file("0x15b3\n");
	if (strcmp(path, "device") == 0) {
		snprintf(text, sizeof(text), "0x%04x\n", id->pci_device);
		*rc = text_file(text);
	}
	return 1;
}

int
vf_stat(const char *path, struct stat *st)
{
	size_t n = strlen(path);

	memset(st, 0, sizeof(*st));
	st->st_nlink = 1;
	st->st_blksize = 4096;
	while (n > 1 && path[n - 1] == '/')
		n--;
	if (n == sizeof(VF_SYSFS) - 1 && memcmp(path, VF_SYSFS, n) == 0) {
		st->st_mode = S_IFDIR | 0755;
		return 1;
	}
	if (strcmp(path, VF_DEV "vfio") != 0 && strcmp(path, VF_DEV VF_GROUP) != 0)
		return 0;
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = makedev(VFIO_MAJOR, strcmp(path, VF_DEV "vfio") == 0 ? 196 : 1);
	return 1;
}

int
vf_link(const char *path, char *to, size_t n, long *rc)
{
	size_t bytes = sizeof(LINK) - 1;

	if (strcmp(path, VF_SYSFS "/iommu_group") != 0)
		return 0;
	bytes = bytes < n ? bytes : n;
	memcpy(to, LINK, bytes);
	*rc = (long)bytes;
	return 1;
}
