/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a driver gives the NIC: memory regions (by address and by dma-buf), DevX umems, UAR
 * pages. Called through args.c. The kernel pins the pages here, and fails when there are none or
 * when they may not be written; so does this, because the model reads and writes them from a thread
 * of its own, where a bad address would be a crash instead of an errno.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "core.h"

#define PAGE 4096ull
#define ACCESS_OPT                                                                                 \
	(((1u << 10) - 1)                                                                          \
		<< 20) /* IB_UVERBS_ACCESS_OPTIONAL_RANGE: hints, ignored when not known */
#define ACCESS_KNOWN                                                                               \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |                            \
		IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |                    \
		IB_UVERBS_ACCESS_MW_BIND | IB_UVERBS_ACCESS_HUGETLB)

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

static int
check_access(struct scxf_call *c, uint32_t access)
{
	if (access & ~(ACCESS_KNOWN | ACCESS_OPT))
		return scxf_refuse(
			c, -EOPNOTSUPP, "access flags 0x%x", access & ~(ACCESS_KNOWN | ACCESS_OPT));
	if (access & (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC) &&
		!(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return scxf_refuse(
			c, -EINVAL, "access flags 0x%x: remote write without local write", access);
	return 0;
}

/* Mapped, and writable where asked, by the kernel's own list: for what cannot be populated (device
 * memory). */
static int
check_maps(uint64_t from, uint64_t to, bool write)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long a, b;
	char perm[5], line[512];

	if (!f)
		return -EFAULT;
	while (from < to && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %4s", &a, &b, perm) == 3 && a <= from && from < b) {
			if (perm[0] != 'r' || (write && perm[1] != 'w'))
				break;
			from = b; /* the list is sorted: the next piece, if any, is below */
		}
	fclose(f);
	return from < to ? -EFAULT : 0;
}

/* What pin() did for the GPU is undone when the object goes. */
static void
remember_pin(struct scxf_obj *obj, uint64_t addr, uint64_t bytes)
{
	obj->pinned = scxf_step_on_gpu() ? addr : 0;
	obj->pinned_bytes = bytes;
}

static void
forget_pin(uint64_t addr, uint64_t bytes)
{
	if (addr)
		scxf_gpu_unpin(addr, bytes);
}

static int
pin(struct scxf_call *c, uint64_t addr, uint64_t bytes, uint32_t access)
{
	char err[256] = "out of memory";
	uint64_t from = addr & ~(PAGE - 1), to = (addr + bytes + PAGE - 1) & ~(PAGE - 1);
	bool write = access & IB_UVERBS_ACCESS_LOCAL_WRITE;
	int rc = 0;

	if (!bytes || addr + bytes < addr || to < from)
		return scxf_refuse(c, -EINVAL, "%llu bytes at 0x%llx", (unsigned long long)bytes,
			(unsigned long long)addr);
	if (madvise((void *)(uintptr_t)from, to - from,
		    write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ))
		rc = errno == EINVAL ? check_maps(from, to, write) : -EFAULT;
	if (rc)
		return scxf_refuse(c, rc, "%llu bytes at 0x%llx are not all mapped%s",
			(unsigned long long)bytes, (unsigned long long)addr,
			write ? " writable" : "");
	rc = scxf_gpu_pin(addr, bytes, err, sizeof(err));
	return rc ? scxf_refuse(c, rc, "%llu bytes at 0x%llx: %s", (unsigned long long)bytes,
			    (unsigned long long)addr, err)
		  : 0;
}

/* handle gets a new MR of pd; the pointer to pd's slot does not outlive scxf_obj_new(). */
static int
mr_new(struct scxf_call *c, uint32_t pd_handle, void *start, uint64_t bytes, uint64_t iova,
	uint32_t access, uint32_t *handle, uint32_t *lkey, uint32_t *rkey)
{
	int rc = scxf_obj_new(c->ctx, SCXF_MR, handle);
	struct scxf_obj *obj = c->ctx->obj;

	if (rc)
		return rc;
	rc = scx_mr_reg(c->ctx->dev->nic, c->ctx->uid, obj[pd_handle].num, start, bytes, iova,
		access, lkey, rkey);
	if (rc) {
		scxf_obj_put(c->ctx, *handle);
		return scxf_refuse(c, rc, "the NIC took no key for it");
	}
	obj[*handle].num = *lkey;
	obj[*handle].parent = pd_handle;
	obj[pd_handle].users++;
	return 0;
}

int
scxf_reg_mr(struct scxf_call *c)
{
	const struct ib_uverbs_reg_mr *req = scxf_in(c, UVERBS_ATTR_CORE_IN, NULL);
	struct ib_uverbs_reg_mr_resp r = {0};
	int rc;

	if ((req->start & (PAGE - 1)) != (req->hca_va & (PAGE - 1)))
		return scxf_refuse(c, -EINVAL, "start and hca_va differ within the page");
	rc = check_access(c, req->access_flags);
	if (rc)
		return rc;
	if (!scxf_obj_get(c->ctx, SCXF_PD, req->pd_handle, &rc))
		return scxf_refuse(c, -EINVAL, "protection domain handle %u", req->pd_handle);
	rc = pin(c, req->start, req->length, req->access_flags);
	if (rc)
		return rc;
	rc = mr_new(c, req->pd_handle, (void *)(uintptr_t)req->start, req->length, req->hca_va,
		req->access_flags, &r.mr_handle, &r.lkey, &r.rkey);
	if (rc) {
		scxf_gpu_unpin(req->start, req->length);
		return rc;
	}
	remember_pin(&c->ctx->obj[r.mr_handle], req->start, req->length);
	scxf_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	return 0;
}

static int
reg_dmabuf_mr(struct scxf_call *c)
{
	uint32_t pd = scxf_attr(c, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE)->data, handle, lkey, rkey;
	uint64_t offset = scxf_in_u64(c, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 0);
	uint64_t bytes = scxf_in_u64(c, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 0);
	uint64_t iova = scxf_in_u64(c, UVERBS_ATTR_REG_DMABUF_MR_IOVA, 0);
	uint32_t access = scxf_in_u64(c, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 0);
	int fd = (int)scxf_in_u64(c, UVERBS_ATTR_REG_DMABUF_MR_FD, 0);
	struct scx_dmabuf m;
	int rc = check_access(c, access);

	if (rc)
		return rc;
	if ((offset & (PAGE - 1)) != (iova & (PAGE - 1)))
		return scxf_refuse(c, -EINVAL, "offset and iova differ within the page");
	rc = scxf_dmabuf_find(fd, offset, bytes, &m);
	if (rc)
		return scxf_refuse(c, rc,
			"descriptor %d is no dma-buf of a Carillon GPU driver, or is too short",
			fd);
	rc = mr_new(c, pd, m.addr, bytes, iova, access, &handle, &lkey, &rkey);
	if (rc)
		return rc;
	scxf_attr(c, UVERBS_ATTR_REG_DMABUF_MR_HANDLE)->data = handle;
	scxf_out(c, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, &lkey, sizeof(lkey));
	scxf_out(c, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, &rkey, sizeof(rkey));
	return 0;
}

static int
mr_free(struct scxf_call *c, uint64_t handle)
{
	int rc;
	struct scxf_obj *mr = scxf_obj_get(c->ctx, SCXF_MR, handle, &rc);
	uint64_t pinned, bytes;

	if (rc)
		return scxf_refuse(c, rc, "memory region handle %llu", (unsigned long long)handle);
	rc = scx_mr_dereg(c->ctx->dev->nic, c->ctx->uid, mr->num);
	if (rc)
		return scxf_refuse(c, rc, "memory region with lkey 0x%x", mr->num);
	pinned = mr->pinned;
	bytes = mr->pinned_bytes;
	scxf_obj_put(c->ctx, handle);
	forget_pin(pinned, bytes);
	return 0;
}

static int
mr_destroy(struct scxf_call *c)
{
	return mr_free(c, scxf_attr(c, UVERBS_ATTR_DESTROY_MR_HANDLE)->data);
}

int
scxf_dereg_mr_write(struct scxf_call *c)
{
	const struct ib_uverbs_dereg_mr *req = scxf_in(c, UVERBS_ATTR_CORE_IN, NULL);

	return mr_free(c, req->mr_handle);
}

/* m->fd: -1, named by address */
static int
umem_new(struct scxf_call *c, const struct scx_dmabuf *m, uint32_t access, uint32_t *handle,
	uint32_t *id)
{
	int rc = scxf_obj_new(c->ctx, SCXF_UMEM, handle);

	if (rc)
		return rc;
	rc = m->fd < 0 ? scx_umem_reg(c->ctx->dev->nic, c->ctx->uid, m->addr, m->bytes, access, id)
		       : scx_umem_reg_dmabuf(c->ctx->dev->nic, c->ctx->uid, m, access, id);
	if (rc) {
		scxf_obj_put(c->ctx, *handle);
		return scxf_refuse(c, rc, "no umem left");
	}
	c->ctx->obj[*handle].num = *id;
	return 0;
}

static int
umem_reg(struct scxf_call *c)
{
	uint64_t addr = scxf_in_u64(c, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 0);
	uint64_t bytes = scxf_in_u64(c, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 0);
	uint32_t access = scxf_in_u64(c, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, 0), handle, id;
	uint64_t pgsz = scxf_in_u64(c, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, UINT64_MAX);
	struct ib_uverbs_attr *fd = scxf_attr(c, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD);
	struct scx_dmabuf m = {.addr = (void *)(uintptr_t)addr, .bytes = bytes, .fd = -1};
	int rc = scxf_need_devx(c);

	if (!rc)
		rc = check_access(c, access);
	if (rc)
		return rc;
	if (!(pgsz & ~(PAGE - 1)))
		return scxf_refuse(c, -EINVAL, "pgsz_bitmap 0x%llx allows no page of 4 KiB or more",
			(unsigned long long)pgsz);
	if (fd)
		rc = scxf_dmabuf_find(fd->data_s64, addr, bytes, &m);
	else
		rc = pin(c, addr, bytes, access);
	if (rc)
		return fd ? scxf_refuse(c, rc,
				    "descriptor %lld is no dma-buf of a Carillon GPU driver, or is "
				    "too short",
				    (long long)fd->data_s64)
			  : rc;
	rc = umem_new(c, &m, access, &handle, &id);
	if (rc && !fd)
		scxf_gpu_unpin(addr, bytes);
	if (rc)
		return rc;
	if (!fd)
		remember_pin(&c->ctx->obj[handle], addr, bytes);
	scxf_attr(c, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE)->data = handle;
	scxf_out(c, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &id, sizeof(id));
	return 0;
}

static int
umem_dereg(struct scxf_call *c)
{
	const struct scxf_obj *umem = scxf_attr_obj(c, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE);
	uint64_t pinned = umem->pinned, bytes = umem->pinned_bytes;
	uint32_t id = umem->num;
	int rc = scx_umem_dereg(c->ctx->dev->nic, c->ctx->uid, id);

	if (rc)
		return scxf_refuse(c, rc, "umem %u is in use", id);
	scxf_obj_put(c->ctx, scxf_attr(c, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE)->data);
	forget_pin(pinned, bytes);
	return 0;
}

static int
uar_alloc(struct scxf_call *c)
{
	uint64_t type = scxf_in_u64(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 0), offset;
	uint32_t page, handle, bytes = SCXF_UAR_BYTES;
	int rc = scxf_need_context(c);

	if (rc)
		return rc;
	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return scxf_refuse(c, -EOPNOTSUPP, "UAR type %llu", (unsigned long long)type);
	rc = scxf_obj_new(c->ctx, SCXF_UAR, &handle);
	if (rc)
		return rc;
	rc = scx_uar_alloc(c->ctx->dev->nic, c->ctx->uid, &page);
	if (rc) {
		scxf_obj_put(c->ctx, handle);
		return scxf_refuse(c, rc, "no UAR page left");
	}
	rc = scxf_uar_map(c->ctx, page);
	if (rc) {
		scx_uar_free(c->ctx->dev->nic, c->ctx->uid, page);
		scxf_obj_put(c->ctx, handle);
		return scxf_refuse(c, rc, "UAR page %u cannot be mapped", page);
	}
	c->ctx->obj[handle].num = page;
	offset = (uint64_t)page *
		 SCXF_UAR_BYTES; /* in the device's own memfd, so that mmap needs no help */
	scxf_attr(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE)->data = handle;
	scxf_out(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset));
	scxf_out(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &bytes, sizeof(bytes));
	scxf_out(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &page, sizeof(page));
	return 0;
}

static int
uar_destroy(struct scxf_call *c)
{
	uint32_t page = scxf_attr_obj(c, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE)->num;
	int rc = scx_uar_free(c->ctx->dev->nic, c->ctx->uid, page);

	if (rc)
		return scxf_refuse(c, rc, "UAR page %u is in use", page);
	scxf_uar_unmap(c->ctx, page);
	scxf_obj_put(c->ctx, scxf_attr(c, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE)->data);
	return 0;
}

const struct scxf_method scxf_mem_methods[] = {
	METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr_destroy,
		HANDLE(UVERBS_ATTR_DESTROY_MR_HANDLE, 1, SCXF_MR)),
	METHOD(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, reg_dmabuf_mr,
		NEW(UVERBS_ATTR_REG_DMABUF_MR_HANDLE),
		HANDLE(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 1, SCXF_PD),
		IN(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 1, 8, 8),
		IN(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 1, 8, 8),
		IN(UVERBS_ATTR_REG_DMABUF_MR_IOVA, 1, 8, 8),
		IN(UVERBS_ATTR_REG_DMABUF_MR_FD, 1, 4, 8),
		IN(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 1, 4, 8),
		OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 1, 4, 4),
		OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 1, 4, 4)),
	METHOD(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, umem_reg,
		NEW(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE),
		IN(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 1, 8, 8),
		IN(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 1, 8, 8),
		IN(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, 0, 4, 8),
		OUT(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, 1, 4, 4),
		IN(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 0, 8, 8),
		FD_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, 0)),
	METHOD(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, umem_dereg,
		HANDLE(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, 1, SCXF_UMEM)),
	METHOD(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, uar_alloc,
		NEW(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE),
		IN(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 1, 4, 8),
		OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 1, 8, 8),
		OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 1, 4, 8),
		OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 1, 4, 4)),
	METHOD(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, uar_destroy,
		HANDLE(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, 1, SCXF_UAR)),
	{0},
};
