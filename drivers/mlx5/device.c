/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts: finding the device by PCI address or RDMA name, opening it for DevX, and closing it
 * once nothing depends on it any more. Host only.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define OPEN_STEP  "open the device"
#define CLOSE_STEP "close the context"

CRL_PUBLIC int
crl_bdf_parse(const char *text, char bdf[16])
{
	unsigned domain = 0, bus, dev, fn;
	char colon_dot[4] = {0};
	int used = 0;

	if (sscanf(text, "%4x:%2x:%2x%1[.]%1x%n", &domain, &bus, &dev, colon_dot, &fn, &used) !=
			5 ||
		text[used] != '\0') {
		domain = 0;
		if (sscanf(text, "%2x:%2x%1[.]%1x%n", &bus, &dev, colon_dot, &fn, &used) != 4 ||
			text[used] != '\0')
			return -EINVAL;
	}
	if (text[strspn(text, "0123456789abcdefABCDEF:.")] != '\0' || dev > 31 || fn > 7)
		return -EINVAL;
	snprintf(bdf, 16, "%04x:%02x:%02x.%x", domain & 0xffff, bus & 0xff, dev, fn);
	return 0;
}

CRL_PUBLIC void
crl_dev_name_get(struct ibv_device *dev, struct crl_dev_name *name)
{
	char path[sizeof(dev->ibdev_path) + sizeof("/device/numa_node")], target[PATH_MAX];
	FILE *f;
	int node;

	memset(name, 0, sizeof(*name));
	snprintf(name->name, sizeof(name->name), "%s", ibv_get_device_name(dev));
	name->numa_node = -1;
	snprintf(path, sizeof(path), "%s/device", dev->ibdev_path);
	if (realpath(path, target) == NULL)
		return;
	crl_bdf_parse(strrchr(target, '/') + 1, name->bdf); /* what is none stays "" */
	snprintf(path, sizeof(path), "%s/device/numa_node", dev->ibdev_path);
	f = fopen(path, "re");
	if (f == NULL)
		return;
	if (fscanf(f, "%d", &node) == 1)
		name->numa_node = node;
	fclose(f);
}

/* "mlx5_0 (0000:01:00.0), ..." for error messages. */
static void
list_devices(struct ibv_device **list, int n, char *buf, size_t bytes)
{
	buf[0] = '\0';
	for (int i = 0; i < n; i++) {
		struct crl_dev_name name;

		crl_dev_name_get(list[i], &name);
		crl_append(buf, bytes, "%s%s (%s)", i ? ", " : "", name.name,
			name.bdf[0] ? name.bdf : "no PCI address");
	}
}

static int
find_device(struct ibv_device **list, int n, const char *wanted, struct ibv_device **dev,
	struct crl_err *err)
{
	char bdf[16], there[160];
	bool is_bdf;

	list_devices(list, n, there, sizeof(there));
	if (n == 0)
		return crl_err_set(err, -ENODEV, OPEN_STEP,
			"load mlx5_ib and rdma-core's providers, or run under softcx run",
			"this machine has no RDMA device");
	if (wanted == NULL) {
		if (n > 1)
			return crl_err_set(err, -ENOTUNIQ, OPEN_STEP, "name one",
				"there are %d devices: %s", n, there);
		*dev = list[0];
		return 0;
	}
	is_bdf = crl_bdf_parse(wanted, bdf) == 0;
	for (int i = 0; i < n; i++) {
		struct crl_dev_name name;

		crl_dev_name_get(list[i], &name);
		if (strcmp(name.name, wanted) == 0 || (is_bdf && strcmp(name.bdf, bdf) == 0)) {
			*dev = list[i];
			return 0;
		}
	}
	return crl_err_set(err, -ENODEV, OPEN_STEP, "use one of those",
		"no RDMA device %s; there is %s", wanted, there);
}

static int
open_verbs(struct crl_ctx *ctx, struct ibv_device *dev, struct crl_err *err)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	const char *name = ibv_get_device_name(dev);

	if (!mlx5dv_is_supported(dev))
		return crl_err_set(err, -ENOTSUP, OPEN_STEP, "use a ConnectX-5 or newer",
			"%s is no mlx5 device", name);
	errno = 0;
	ctx->ibv = mlx5dv_open_device(dev, &attr);
	if (ctx->ibv == NULL)
		return crl_fail_errno(err, errno, OPEN_STEP,
			errno == EACCES || errno == EPERM
				? "give this user access to /dev/infiniband/uverbs*, or run as root"
			: errno == EOPNOTSUPP
				? "DevX must be allowed: root, or a kernel with devx for users"
				: "see what the kernel (dmesg) or softcx said of it",
			"%s does not open for DevX", name);
	return 0;
}

static int
open_pd(struct crl_ctx *ctx, struct crl_err *err)
{
	struct mlx5dv_pd pd = {0};
	struct mlx5dv_obj obj = {.pd = {.out = &pd}};
	int ret;

	errno = 0;
	ctx->pd = ibv_alloc_pd(ctx->ibv);
	if (ctx->pd == NULL)
		return crl_fail_errno(
			err, errno, "allocate a protection domain", "", "the kernel refused it");
	obj.pd.in = ctx->pd;
	ret = mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD);
	if (ret != 0) {
		ibv_dealloc_pd(ctx->pd);
		return crl_fail_errno(err, crl_errno_of(ret), "look up the protection domain", "",
			"libmlx5 does not say its number");
	}
	ctx->pdn = pd.pdn;
	return 0;
}

static void
fill_info(struct crl_ctx *ctx, struct ibv_device *dev, const struct ibv_device_attr *attr)
{
	struct crl_dev_name name;
	struct crl_info *info = &ctx->info;

	crl_dev_name_get(dev, &name);
	info->size = sizeof(*info);
	snprintf(info->name, sizeof(info->name), "%s", name.name);
	snprintf(info->bdf, sizeof(info->bdf), "%s", name.bdf);
	snprintf(info->fw_ver, sizeof(info->fw_ver), "%s", attr->fw_ver);
	info->vendor_part_id = (uint16_t)attr->vendor_part_id;
	info->numa_node = name.numa_node;
}

/* All of the context that is made after verbs are open. */
static int
open_rest(struct crl_ctx *ctx, struct ibv_device *dev, struct crl_err *err)
{
	struct ibv_device_attr_ex attr;
	int ret = ibv_query_device_ex(ctx->ibv, NULL, &attr);

	if (ret != 0)
		return crl_fail_errno(err, crl_errno_of(ret), "query the device", "",
			"the kernel does not describe it");
	fill_info(ctx, dev, &attr.orig_attr);
	ret = mlx5dv_devx_query_eqn(ctx->ibv, 0, &ctx->eqn);
	if (ret != 0)
		return crl_fail_errno(err, crl_errno_of(ret), "find the event queue",
			"see the kernel log", "vector 0 has none");
	ret = crl_caps_query(ctx, err);
	if (ret != 0)
		return ret;
	crl_mem_host_init(ctx);
	ret = open_pd(ctx, err);
	if (ret != 0)
		return ret;
	ret = crl_td_create(ctx, err);
	if (ret != 0)
		goto undo_pd;
	ret = crl_events_open(ctx, err);
	if (ret != 0)
		goto undo_td;
	return 0;

undo_td:
	crl_td_destroy(ctx);
undo_pd:
	ibv_dealloc_pd(ctx->pd);
	return ret;
}

CRL_PUBLIC int
crl_list_devices(struct ibv_device ***list, int *n, struct crl_err *err)
{
	static const char step[] = "list RDMA devices",
			  fix[] = "load mlx5_ib and rdma-core's providers, or run under softcx run";

	errno = 0;
	*list = ibv_get_device_list(n);
	if (*list != NULL)
		return 0;
	/* What libibverbs says of a kernel without RDMA. */
	if (errno == ENOSYS)
		return crl_err_set(err, -ENODEV, step, fix, "this kernel has no RDMA device");
	return crl_fail_errno(err, errno, step, fix, "libibverbs found none");
}

CRL_PUBLIC int
crl_open(const struct crl_cfg *cfg, struct crl_ctx **out, struct crl_err *err)
{
	struct ibv_device **list, *dev = NULL;
	struct crl_ctx *ctx;
	int n, ret = crl_check_size(err, OPEN_STEP, CRL_SIZE_OF(cfg), sizeof(*cfg));

	if (ret != 0)
		return ret;
	if (cfg->flags != 0)
		return crl_err_set(
			err, -EINVAL, OPEN_STEP, "set it to 0", "flags is 0x%x", cfg->flags);
	ret = crl_list_devices(&list, &n, err);
	if (ret != 0)
		return ret;
	ret = find_device(list, n, cfg->device, &dev, err);
	if (ret != 0)
		goto undo_list;
	ctx = calloc(1, sizeof(*ctx));
	if (ctx == NULL) {
		ret = crl_fail_errno(err, ENOMEM, OPEN_STEP, "", "no memory");
		goto undo_list;
	}
	LIST_INIT(&ctx->regions);
	LIST_INIT(&ctx->queues);
	ret = open_verbs(ctx, dev, err);
	if (ret != 0)
		goto undo_ctx;
	ret = open_rest(ctx, dev, err);
	if (ret != 0)
		goto undo_verbs;
	ibv_free_device_list(list);
	*out = ctx;
	return 0;

undo_verbs:
	ibv_close_device(ctx->ibv);
undo_ctx:
	free(ctx);
undo_list:
	ibv_free_device_list(list);
	return ret;
}

CRL_PUBLIC int
crl_ctx_idle(const struct crl_ctx *ctx, struct crl_err *err)
{
	const struct crl_region *r;

	if (ctx->port_name[0] != '\0')
		return crl_err_set(err, -EBUSY, CLOSE_STEP, "close it first", "port %s is open",
			ctx->port_name);
	if (!LIST_EMPTY(&ctx->queues))
		return crl_err_set(err, -EBUSY, CLOSE_STEP, "destroy it first", "queue %u lives",
			LIST_FIRST(&ctx->queues)->cfg.index);
	LIST_FOREACH(r, &ctx->regions, link)
	if (!r->orphan)
		return crl_err_set(err, -EBUSY, CLOSE_STEP, "deregister it first",
			"the region of %zu bytes at %p lives", r->bytes, r->addr);
	return 0;
}

/* The context stays, whatever the errno of what refused. */
static int
busy(struct crl_err *err)
{
	if (err != NULL)
		err->code = -EBUSY;
	return -EBUSY;
}

CRL_PUBLIC int
crl_close(struct crl_ctx *ctx, struct crl_err *err)
{
	int ret;

	if (ctx == NULL)
		return 0;
	ret = crl_ctx_idle(ctx, err);
	if (ret != 0)
		return ret;
	while (!LIST_EMPTY(&ctx->regions)) /* orphans */
		if (crl_region_dereg(LIST_FIRST(&ctx->regions), err) != 0)
			return busy(err);
	/* Then what objects of the program's own can hold; until here the context is as it was. */
	ret = ibv_dealloc_pd(ctx->pd);
	if (ret != 0 && !ctx->left) {
		crl_fail_errno(err, crl_errno_of(ret), CLOSE_STEP,
			"destroy what your program made with it first, and close again",
			"the protection domain is in use");
		return busy(err);
	}
	crl_events_close(ctx);
	crl_td_destroy(ctx);
	/* What is still alive now dies with the file descriptor. */
	ret = 0;
	errno = 0;
	if (ibv_close_device(ctx->ibv) != 0)
		ret = crl_err_set(err, -EIO, CLOSE_STEP, "",
			"verbs did not close (errno %d), and the context is gone", errno);
	free(ctx);
	return ret;
}

CRL_PUBLIC int
crl_info(const struct crl_ctx *ctx, struct crl_info *info)
{
	if (info->size != sizeof(*info))
		return -EINVAL;
	*info = ctx->info;
	return 0;
}

CRL_PUBLIC struct ibv_context *
crl_ibv_context(const struct crl_ctx *ctx)
{
	return ctx->ibv;
}

CRL_PUBLIC struct ibv_pd *
crl_ibv_pd(const struct crl_ctx *ctx)
{
	return ctx->pd;
}
