/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doorbell pages, one for each queue. The best is an uncached page of the queue's own
 * (NC_DEDICATED), which rdma-core knows from version 45 on and older ones refuse; a dynamic
 * BlueFlame page, also the queue's own but mapped write-combining, is what every version has,
 * unless the kernel found that write combining does not work, as in many virtual machines. Then
 * there is the one uncached page of the whole context: queues ring it with single 8-byte stores
 * that name the queue, so that sharing it needs no lock. Host only.
 */
#include <errno.h>

#include "internal.h"

/* The value is part of rdma-core's ABI; headers older than 45 lack the name. */
#define UAR_NC_DEDICATED (1u << 31)

static const struct {
	enum crl_uar kind;
	uint32_t flags;
	const char *words;
} kinds[] = {
	{CRL_UAR_NC_DEDICATED, UAR_NC_DEDICATED, "an uncached page of its own"},
	{CRL_UAR_BF, MLX5DV_UAR_ALLOC_TYPE_BF, "a write-combining (BlueFlame) page of its own"},
	{CRL_UAR_NC_SHARED, MLX5DV_UAR_ALLOC_TYPE_NC, "an uncached page that all queues share"},
};

const char *
crl_uar_kind_str(enum crl_uar kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].kind == kind)
			return kinds[i].words;
	return "no page";
}

/* Another queue that has mapped the same page for the same processor; NULL: none. */
static const struct crl_queue *
mapped_too(const struct crl_queue *q)
{
	const struct crl_queue *other;

	LIST_FOREACH(other, &q->ctx->queues, link)
	if (other != q && other->uar == q->uar && other->uar_mapped &&
		other->rings->arg == q->rings->arg &&
		other->rings->map_mmio == q->rings->map_mmio)
		return other;
	return NULL;
}

static int
map_for_engine(struct crl_queue *q, struct crl_err *err)
{
	uint8_t *page = q->uar->base_addr, *dev = NULL;
	const struct crl_queue *other;
	size_t in_page = (size_t)((uint8_t *)q->uar->reg_addr - page);
	int ret;

	q->uar_reg = q->uar->reg_addr;
	if (q->rings->map_mmio == NULL)
		return 0;
	other = mapped_too(q);
	if (other != NULL) {
		q->uar_reg = other->uar_reg;
		q->uar_mapped = true;
		q->uar_moved = other->uar_moved;
		return 0;
	}
	ret = q->rings->map_mmio(q->rings->arg, page, CRL_UAR_BYTES, (void **)&dev);
	if (ret != 0)
		return crl_fail_mem(err, q->rings, ret, "map the doorbell page for the GPU",
			"the GPU driver must be able to register I/O memory (run as root)",
			"page %u on %s", q->uar->page_id, q->rings->name);
	q->uar_reg = (uint64_t *)(void *)(dev + in_page);
	q->uar_mapped = true;
	q->uar_moved = dev != page;
	return 0;
}

int
crl_uar_get(struct crl_queue *q, struct crl_err *err)
{
	int code = EOPNOTSUPP, ret;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && q->uar == NULL; i++) {
		if (q->cfg.uar != CRL_UAR_ANY && q->cfg.uar != kinds[i].kind)
			continue;
		errno = 0;
		q->uar = mlx5dv_devx_alloc_uar(q->ctx->ibv, kinds[i].flags);
		code = errno;
		q->uar_kind = kinds[i].kind;
	}
	if (q->uar == NULL)
		return crl_fail_errno(err, code, "allocate a doorbell page",
			q->cfg.uar == CRL_UAR_NC_DEDICATED
				? "use CRL_UAR_ANY, or rdma-core 45 and newer"
				: "use fewer queues",
			"%s",
			q->cfg.uar == CRL_UAR_ANY ? "no kind of page"
						  : crl_uar_kind_str(q->cfg.uar));
	ret = map_for_engine(q, err);
	if (ret != 0)
		crl_uar_put(q);
	return ret;
}

void
crl_uar_put(struct crl_queue *q)
{
	if (q->uar == NULL)
		return;
	if (q->uar_mapped && mapped_too(q) == NULL)
		q->rings->unmap_mmio(q->rings->arg, q->uar->base_addr);
	q->uar_mapped = false;
	mlx5dv_devx_free_uar(q->uar);
	q->uar = NULL;
}
