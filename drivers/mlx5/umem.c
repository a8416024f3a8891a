/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling the NIC of memory: umems for rings and doorbell records (named by offset in commands),
 * memory regions for packets (named by key in WQEs). Memory that has a dma-buf is registered
 * through it, everything else by address. Host only.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

#define RELEASE_FIX "destroy it first"

int
crl_umem_reg(struct crl_ctx *ctx, const struct crl_mem *mem, void *addr, size_t bytes,
	struct mlx5dv_devx_umem **umem, struct crl_err *err)
{
	struct mlx5dv_devx_umem_in in = {
		.addr = addr,
		.size = bytes,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.pgsz_bitmap = UINT64_MAX & ~4095ull, /* pages of 4 KiB and more */
	};
	uint64_t offset = 0;
	int fd = -1, code;

	if (mem->dmabuf != NULL) {
		fd = mem->dmabuf(mem->arg, addr, bytes, &offset);
		if (fd < 0)
			return crl_fail_mem(err, mem, fd, "export rings as a dma-buf",
				"needs an open GPU driver with dma-buf support", "%zu bytes of %s",
				bytes, mem->name);
		in.addr = (void *)(uintptr_t)offset;
		in.comp_mask = MLX5DV_UMEM_MASK_DMABUF;
		in.dmabuf_fd = fd;
	}
	errno = 0;
	*umem = mlx5dv_devx_umem_reg_ex(ctx->ibv, &in);
	code = errno;
	if (fd >= 0)
		close(fd);
	if (*umem == NULL)
		return crl_fail_errno(err, code, "register rings with the NIC",
			fd >= 0 ? "the kernel must import dma-bufs for DevX and copy on fork"
				: "raise the locked memory limit (ulimit -l)",
			"%zu bytes of %s%s", bytes, mem->name, fd >= 0 ? " by dma-buf" : "");
	return 0;
}

void
crl_umem_dereg(struct mlx5dv_devx_umem **umem)
{
	if (*umem != NULL)
		mlx5dv_devx_umem_dereg(*umem);
	*umem = NULL;
}

static int
region_mr(struct crl_region *r, struct crl_err *err)
{
	uint64_t offset = 0;
	int fd = -1, code;

	errno = 0;
	if (r->mem->dmabuf != NULL) {
		fd = r->mem->dmabuf(r->mem->arg, r->addr, r->bytes, &offset);
		if (fd < 0)
			return crl_fail_mem(err, r->mem, fd, "export a region as a dma-buf",
				"needs an open GPU driver with dma-buf support", "%zu bytes of %s",
				r->bytes, r->mem->name);
		r->mr = ibv_reg_dmabuf_mr(
			r->ctx->pd, offset, r->bytes, r->iova, fd, IBV_ACCESS_LOCAL_WRITE);
	} else {
		r->mr = ibv_reg_mr_iova(
			r->ctx->pd, r->addr, r->bytes, r->iova, IBV_ACCESS_LOCAL_WRITE);
	}
	code = errno;
	if (fd >= 0)
		close(fd);
	if (r->mr == NULL)
		return crl_fail_errno(err, code, "register a region",
			fd >= 0 ? "the kernel must import dma-bufs for regions (5.12 or newer)"
				: "map all of it writable, or raise ulimit -l (locked memory)",
			"%zu bytes of %s at %p", r->bytes, r->mem->name, r->addr);
	return 0;
}

CRL_PUBLIC int
crl_region_reg(struct crl_ctx *ctx, const struct crl_region_cfg *cfg, struct crl_region **region,
	struct crl_err *err)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	struct crl_region *r;
	int ret = crl_check_size(err, "register a region", CRL_SIZE_OF(cfg), sizeof(*cfg));

	if (ret != 0)
		return ret;
	if (cfg->bytes == 0 || (cfg->flags & ~CRL_REGION_ALLOC) != 0 ||
		(cfg->addr == NULL && !(cfg->flags & CRL_REGION_ALLOC)))
		return crl_err_set(err, -EINVAL, "register a region",
			"give bytes, and either addr or CRL_REGION_ALLOC",
			"%zu bytes at %p with flags 0x%x is no region", cfg->bytes, cfg->addr,
			cfg->flags);
	if (cfg->mem != NULL) {
		ret = crl_mem_check(cfg->mem, err);
		if (ret != 0)
			return ret;
	}
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return crl_fail_errno(err, ENOMEM, "register a region", "", "no memory");
	r->ctx = ctx;
	r->mem = cfg->mem != NULL ? cfg->mem : &ctx->host;
	r->addr = cfg->addr;
	r->bytes = cfg->bytes;
	r->owned = cfg->flags & CRL_REGION_ALLOC;
	if (r->owned) {
		size_t page = crl_mem_page(r->mem);

		r->bytes = (cfg->bytes + page - 1) / page * page;
		ret = crl_mem_take(r->mem, r->bytes, page, &r->addr, err);
		if (ret != 0)
			goto undo_region;
	}
	r->iova = cfg->iova != 0 ? cfg->iova : (uint64_t)(uintptr_t)r->addr;
	if (((r->iova ^ (uintptr_t)r->addr) & (page_bytes - 1)) != 0) {
		ret = crl_err_set(err, -EINVAL, "register a region",
			"give an iova with the address's offset in its page, or 0",
			"iova 0x%" PRIx64 " and address %p lie at different offsets in their "
			"pages of %" PRIu64 " bytes",
			r->iova, r->addr, page_bytes);
		goto undo_memory;
	}
	ret = region_mr(r, err);
	if (ret != 0)
		goto undo_memory;
	LIST_INSERT_HEAD(&ctx->regions, r, link);
	*region = r;
	return 0;

undo_memory:
	if (r->owned)
		crl_mem_give(r->mem, r->addr, r->bytes);
undo_region:
	free(r);
	return ret;
}

CRL_PUBLIC int
crl_region_dereg(struct crl_region *r, struct crl_err *err)
{
	struct crl_queue *q;
	int ret;

	if (r == NULL)
		return 0;
	if (r->nr_queues > 0) {
		LIST_FOREACH(q, &r->ctx->queues, link)
		if (q->rx_region == r || q->cfg.tx_region == r)
			return crl_err_set(err, -EBUSY, "deregister a region", RELEASE_FIX,
				"queue %u uses it", q->cfg.index);
	}
	ret = ibv_dereg_mr(r->mr);
	if (ret != 0)
		return crl_fail_errno(err, crl_errno_of(ret), "deregister a region", RELEASE_FIX,
			"the NIC did not let go of key 0x%x", r->mr->lkey);
	if (r->owned)
		crl_mem_give(r->mem, r->addr, r->bytes);
	LIST_REMOVE(r, link);
	free(r);
	return 0;
}

CRL_PUBLIC uint32_t
crl_region_lkey(const struct crl_region *r)
{
	return r->mr->lkey;
}

CRL_PUBLIC void *
crl_region_addr(const struct crl_region *r)
{
	return r->addr;
}

CRL_PUBLIC uint64_t
crl_region_iova(const struct crl_region *r)
{
	return r->iova;
}

CRL_PUBLIC size_t
crl_region_bytes(const struct crl_region *r)
{
	return r->bytes;
}
