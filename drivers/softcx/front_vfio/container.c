/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Container and group, as Linux's type 1 IOMMU has them: a driver puts the group into a container,
 * chooses the IOMMU, and makes memory the device's at bus addresses of its choice. Mappings are
 * pinned, do not overlap, and go as they came. Called by hooks.c under the lock.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/mman.h>

#include "../log.h"
#include "vfio.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif
/* What an x86 IOMMU has: not the interrupts' addresses. */
#define IOVA_HOLE_FROM 0xfee00000ull
#define IOVA_HOLE_END  0xfef00000ull

static bool group_taken, attached, iommu_set;

int
vf_group_take(void)
{
	int fd;

	if (group_taken)
		return -EBUSY;
	fd = vf_file_new(VF_GROUP_FILE, 0);
	group_taken = fd >= 0;
	return fd;
}

void
vf_group_give(void)
{
	group_taken = false;
	attached = false;
	iommu_set = false;
}

void
vf_container_closed(void)
{
	uint64_t all = UINT64_MAX;

	vf_device_unmap(0, &all);
	iommu_set = false;
}

struct iommu_info {
	struct vfio_iommu_type1_info info;
	/* struct vfio_iommu_type1_info_cap_iova_range, whose list has no length of its own */
	struct vfio_info_cap_header head;
	uint32_t nr, reserved;
	struct vfio_iova_range range[2];
};

static long
iommu_info(void *arg)
{
	struct iommu_info all = {
		.info = {.argsz = sizeof(all),
			.flags = VFIO_IOMMU_INFO_PGSIZES | VFIO_IOMMU_INFO_CAPS,
			.iova_pgsizes = ~(uint64_t)(PCI_PAGE - 1)},
		.head = {.id = VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE, .version = 1},
		.nr = 2,
		.range = {{0, IOVA_HOLE_FROM - 1}, {IOVA_HOLE_END, PCI_WINDOW - 1}},
	};
	uint32_t argsz;

	memcpy(&argsz, arg, sizeof(argsz));
	if (argsz < offsetof(struct vfio_iommu_type1_info, iova_pgsizes) + 8)
		return -EINVAL;
	if (argsz >= sizeof(all))
		all.info.cap_offset = offsetof(struct iommu_info, head);
	memcpy(arg, &all, argsz < sizeof(all) ? argsz : sizeof(all));
	return 0;
}

/* The memory must be there, and stays there: a model's memory is pinned by nobody touching it. */
static int
pin(const struct vfio_iommu_type1_dma_map *m)
{
	int how = m->flags & VFIO_DMA_MAP_FLAG_WRITE ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;

	if (madvise((void *)(uintptr_t)m->vaddr, m->size, how) == 0)
		return 0;
	if (errno == EINVAL) /* a kernel or a mapping that does not know of it: the first use will
				tell */
		return 0;
	return -EFAULT;
}

static long
map_dma(void *arg)
{
	struct vfio_iommu_type1_dma_map m;
	int rc;

	memcpy(&m, arg, sizeof(m));
	if (m.argsz < sizeof(m) || m.size == 0 ||
		m.flags & ~(uint32_t)(VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE) ||
		!(m.flags & VFIO_DMA_MAP_FLAG_READ) || (m.vaddr | m.iova | m.size) % PCI_PAGE ||
		m.size > UINT64_MAX - m.vaddr)
		return -EINVAL;
	if (m.iova < IOVA_HOLE_END && m.iova + m.size > IOVA_HOLE_FROM)
		return -EINVAL;
	rc = pin(&m);
	if (rc == 0)
		rc = vf_device_map(m.iova, m.size, (void *)(uintptr_t)m.vaddr);
	return rc;
}

static long
unmap_dma(void *arg)
{
	struct vfio_iommu_type1_dma_unmap u;
	uint64_t bytes;
	int rc;

	memcpy(&u, arg, sizeof(u));
	if (u.argsz < offsetof(struct vfio_iommu_type1_dma_unmap, data) || u.flags != 0 ||
		u.size == 0 || (u.iova | u.size) % PCI_PAGE != 0)
		return -EINVAL;
	bytes = u.size;
	rc = vf_device_unmap(u.iova, &bytes);
	u.size = bytes;
	memcpy(arg, &u, offsetof(struct vfio_iommu_type1_dma_unmap, data));
	return rc;
}

long
vf_container_ioctl(unsigned long req, void *arg)
{
	switch (req) {
	case VFIO_GET_API_VERSION:
		return VFIO_API_VERSION;
	case VFIO_CHECK_EXTENSION:
		return (uintptr_t)arg == VFIO_TYPE1_IOMMU || (uintptr_t)arg == VFIO_TYPE1v2_IOMMU;
	case VFIO_SET_IOMMU:
		if (!attached || iommu_set ||
			((uintptr_t)arg != VFIO_TYPE1_IOMMU &&
				(uintptr_t)arg != VFIO_TYPE1v2_IOMMU))
			return -EINVAL;
		iommu_set = true;
		return 0;
	case VFIO_IOMMU_GET_INFO:
		return iommu_set ? iommu_info(arg) : -EINVAL;
	case VFIO_IOMMU_MAP_DMA:
		return iommu_set ? map_dma(arg) : -EINVAL;
	case VFIO_IOMMU_UNMAP_DMA:
		return iommu_set ? unmap_dma(arg) : -EINVAL;
	}
	scx_log(NULL, "vfio: request 0x%lx to the container is not known here", req);
	return -ENOTTY;
}

static long
group_status(void *arg)
{
	struct vfio_group_status s;

	memcpy(&s, arg, sizeof(s));
	if (s.argsz < sizeof(s))
		return -EINVAL;
	s.flags = VFIO_GROUP_FLAGS_VIABLE | (attached ? VFIO_GROUP_FLAGS_CONTAINER_SET : 0);
	memcpy(arg, &s, sizeof(s));
	return 0;
}

long
vf_group_ioctl(unsigned long req, void *arg)
{
	int fd;

	switch (req) {
	case VFIO_GROUP_GET_STATUS:
		return group_status(arg);
	case VFIO_GROUP_SET_CONTAINER:
		memcpy(&fd, arg, sizeof(fd));
		if (attached)
			return -EINVAL;
		if (vf_file_kind(fd) != VF_CONTAINER)
			return -EBADF;
		attached = true;
		return 0;
	case VFIO_GROUP_UNSET_CONTAINER:
		if (!attached)
			return -EINVAL;
		attached = false;
		return 0;
	case VFIO_GROUP_GET_DEVICE_FD:
		if (strcmp(arg, VF_BDF) != 0)
			return -ENODEV;
		return iommu_set ? vf_device_open() : -EINVAL;
	}
	scx_log(NULL, "vfio: request 0x%lx to the group is not known here", req);
	return -ENOTTY;
}
