/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the VFIO interposer: it plays the part of Linux's VFIO between a user-space driver and
 * the PCI device of ../front_pci, in the driver's own process. A call travels hooks.c (what the
 * program called) -> files.c (which of our descriptors) -> container.c, device.c -> ../front_pci.
 *
 * Threads: everything runs under the lock, the one thread that steps the device included; nobody
 * sleeps under it. There is one device, in a group of its own.
 */
#ifndef SCX_VFIO_H
#define SCX_VFIO_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "../front_pci/pci.h"

#define VF_BDF	 "0000:99:00.0"
#define VF_GROUP "99"
#define VF_SYSFS "/sys/bus/pci/devices/" VF_BDF
#define VF_DEV	 "/dev/vfio/"

/* What a descriptor of ours stands for: each is a memfd, known by its inode. */
enum vf_kind { VF_NONE, VF_CONTAINER, VF_GROUP_FILE, VF_DEVICE };

/*
 * files.c: the lock. What a thread calls while it has the lock comes through the hooks as well, and
 * goes straight on to libc: vf_inside().
 */
extern pthread_mutex_t vf_lock;
void vf_enter(void), vf_leave(void);
bool vf_inside(void);
bool vf_any(void); /* without the lock: is there any descriptor of ours? */

/* Under the lock. fd or -errno; the memfd has that many bytes. */
int vf_file_new(enum vf_kind kind, uint64_t bytes);
enum vf_kind vf_file_kind(int fd);
/* The name in sysfs or /dev of a path: 1 and a descriptor or -errno in *rc; 0: no path of ours. */
int vf_open(const char *path, int flags, int *rc);
int vf_stat(const char *path, struct stat *st);		     /* 1: filled in */
int vf_link(const char *path, char *to, size_t n, long *rc); /* 1: answered, as readlink */
/* A descriptor is about to be closed. */
void vf_close(int fd);

/* container.c: container and group; 0 or more, or -errno */
long vf_container_ioctl(unsigned long req, void *arg);
long vf_group_ioctl(unsigned long req, void *arg);
int vf_group_take(void);
void vf_group_give(void);
void vf_container_closed(void);

/* device.c */
int vf_device_open(void); /* its descriptor, or -errno */
long vf_device_ioctl(unsigned long req, void *arg);
/* Configuration space, by pread and pwrite: 1: *rc is the answer. The BAR is the memfd itself. */
int vf_device_access(void *buf, size_t n, int64_t off, bool write, long *rc);
int vf_device_map(uint64_t iova, uint64_t bytes, void *host); /* 0 or -errno */
int vf_device_unmap(uint64_t iova, uint64_t *bytes);
void vf_device_closed(void);
bool vf_foreign(void); /* this process is a child of the one that has the device */

#endif /* SCX_VFIO_H */
