/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probes of a live machine: who runs this, what the loader finds, and each RDMA device opened
 * by Carillon's own code, as a program would. Nothing is left behind. They set the facts that
 * facts.c keeps. Host only.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>

#include "carillon/carillon.h"
#include "doctor.h"

/* Part of rdma-core's ABI since 45; older headers lack the name. */
#define UAR_NC_DEDICATED (1u << 31)
#define CAP_IPC_LOCK_BIT 14 /* capability(7) */

/* A copy without the version in its name: the newest function it has says what it is at least. */
static unsigned
least_version(void *mlx5)
{
	static const struct {
		const char *function;
		unsigned version;
	} since[] = {
		{"mlx5dv_devx_uar_export_dmabuf_fd", 62},
		{"mlx5dv_reg_dmabuf_mr", 54},
		{"mlx5dv_create_steering_anchor", 42},
		{"mlx5dv_get_vfio_device_list", 37},
		{"mlx5dv_devx_umem_reg_ex", 35},
	};

	for (size_t i = 0; i < sizeof(since) / sizeof(since[0]); i++)
		if (mlx5 != NULL && dlsym(mlx5, since[i].function) != NULL)
			return since[i].version;
	return 0;
}

/* The file is libibverbs.so.1.14.44.0: rdma-core's version is its third number. */
static void
probe_rdma_core(struct doctor *d)
{
	void *mlx5 = dlopen("libmlx5.so.1", RTLD_LAZY);
	void *lib = dlopen("libibverbs.so.1", RTLD_LAZY);
	struct link_map *map;
	char real[PATH_MAX];
	const char *number;
	unsigned abi, minor, version;

	dr_fact_set(d, "lib.mlx5_provider", "%d", mlx5 != NULL);
	if (lib == NULL || dlinfo(lib, RTLD_DI_LINKMAP, &map) != 0 ||
		realpath(map->l_name, real) == NULL)
		return;
	number = strstr(real, ".so.");
	if (number == NULL || sscanf(number, ".so.%u.%u.%u", &abi, &minor, &version) != 3) {
		dr_fact_set(d, "lib.rdma-core", "%u", least_version(mlx5));
		dr_fact_set(d, "lib.rdma-core.file", "%s, by its functions at least this version",
			real);
		return;
	}
	dr_fact_set(d, "lib.rdma-core", "%u", version);
	dr_fact_set(d, "lib.rdma-core.file", "%s", real);
}

/* rte_version() says "DPDK 22.11.11". Which librte_eal: the one of the version built against. */
static void
probe_dpdk(struct doctor *d)
{
	void *lib = dlopen("librte_eal.so." DR_DPDK_ABI, RTLD_LAZY);
	const char *(*version)(void);
	const char *said;

	if (lib == NULL)
		return;
	*(void **)&version = dlsym(lib, "rte_version");
	if (version == NULL)
		return;
	said = version();
	dr_fact_set(d, "lib.dpdk", "%s", said + strcspn(said, "0123456789"));
	dr_fact_set(d, "lib.net_mlx5", "%d",
		dlopen("librte_net_mlx5.so." DR_DPDK_ABI, RTLD_LAZY) != NULL);
}

static void
probe_limits(struct doctor *d)
{
	char text[4096], *caps;
	struct rlimit r;

	dr_fact_set(d, "uid", "%u", (unsigned)geteuid());
	text[dr_bytes(d, text, sizeof(text) - 1, "proc/self/status")] = '\0';
	caps = strstr(text, "CapEff:");
	if (caps != NULL)
		dr_fact_set(d, "cap_ipc_lock", "%d",
			(int)(strtoull(caps + 7, NULL, 16) >> CAP_IPC_LOCK_BIT & 1u));
	if (getrlimit(RLIMIT_MEMLOCK, &r) != 0)
		return;
	if (r.rlim_cur == RLIM_INFINITY)
		dr_fact_set(d, "memlock", "unlimited");
	else
		dr_fact_set(d, "memlock", "%llu", (unsigned long long)r.rlim_cur);
}

static const char *
uar_kind(struct ibv_context *ibv)
{
	struct mlx5dv_devx_uar *uar = mlx5dv_devx_alloc_uar(ibv, UAR_NC_DEDICATED);
	const char *kind = "nc_dedicated";

	if (uar == NULL) {
		uar = mlx5dv_devx_alloc_uar(ibv, MLX5DV_UAR_ALLOC_TYPE_BF);
		kind = "bf";
	}
	if (uar == NULL) {
		uar = mlx5dv_devx_alloc_uar(ibv, MLX5DV_UAR_ALLOC_TYPE_NC);
		kind = "nc_shared";
	}
	if (uar == NULL)
		return "none";
	mlx5dv_devx_free_uar(uar);
	return kind;
}

static void
key_of(char key[DR_NAME], const char *ib, const char *what)
{
	snprintf(key, DR_NAME, "devx.%.31s%s%s", ib, what[0] != '\0' ? "." : "", what);
}

static void
probe_devx(struct doctor *d, const char *ib)
{
	struct crl_cfg cfg = {.size = sizeof(cfg), .device = ib};
	struct crl_info info = {.size = sizeof(info)};
	struct crl_ctx *ctx;
	struct crl_err err;
	char key[DR_NAME], text[DR_TEXT];

	key_of(key, ib, "");
	if (crl_open(&cfg, &ctx, &err) != 0) {
		dr_fact_set(d, key, "%s", crl_err_str(&err, text, sizeof(text)));
		return;
	}
	dr_fact_set(d, key, "ok");
	if (crl_info(ctx, &info) == 0) {
		key_of(key, ib, "log_max_wq_sz");
		dr_fact_set(d, key, "%u", info.log_max_wq_sz);
		key_of(key, ib, "inline_mode");
		dr_fact_set(d, key, "%u", info.inline_mode);
		key_of(key, ib, "ts_format");
		dr_fact_set(d, key, "%u", info.sq_ts_format);
		key_of(key, ib, "events");
		dr_fact_set(d, key, "%u", info.events);
		key_of(key, ib, "events_why");
		dr_fact_set(d, key, "%s", info.events_why);
	}
	key_of(key, ib, "uar");
	dr_fact_set(d, key, "%s", uar_kind(crl_ibv_context(ctx)));
	(void)crl_close(ctx, NULL);
}

void
dr_probe(struct doctor *d)
{
	probe_limits(d);
	probe_rdma_core(d);
	probe_dpdk(d);
	if (d->nic_sys[0] != '\0')
		dr_fact_set(d, "software_nic", "%s", d->nic_sys);
	for (unsigned i = 0; i < d->nr_nics; i++)
		if (d->nic[i].usable)
			probe_devx(d, d->nic[i].ib);
	if (d->nr_gpus > 0)
		dr_probe_cuda(d);
}
