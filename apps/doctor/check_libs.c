/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks "rdma-core" and "dpdk": the versions that this machine's loader finds, and what each of
 * them brings. Facts lib.rdma-core, lib.dpdk, lib.net_mlx5. Host only.
 */
#include <string.h>

#include "doctor.h"

void
dr_check_rdma_core(struct doctor *d)
{
	const char *have = dr_fact(d, "lib.rdma-core");
	const char *where = dr_fact(d, "lib.rdma-core.file");
	struct dr_finding *f;

	if (have == NULL) {
		f = dr_find(d, DR_STOP, "missing", "", "libibverbs is not there");
		dr_evidence(f, "the loader finds no libibverbs.so.1");
		dr_fix(f, "apt-get install rdma-core ibverbs-providers");
		return;
	}
	if (dr_version_cmp(have, "35") < 0) {
		f = dr_find(
			d, DR_STOP, "old", "", "rdma-core %s lacks mlx5dv_devx_umem_reg_ex", have);
		dr_fix(f, "rdma-core 35 or newer (Debian 12 has 44, Ubuntu 22.04 has 39)");
	} else if (dr_version_cmp(have, "45") < 0) {
		f = dr_find(d, DR_NOTE, "no_nc_dedicated", "",
			"rdma-core %s has no uncached doorbell page of a queue's own", have);
		dr_fix(f, "works, with BlueFlame pages; NC_DEDICATED is there from 45 on");
	} else {
		f = dr_find(d, DR_OK, "version", "", "rdma-core %s: has NC_DEDICATED%s", have,
			dr_version_cmp(have, "62") >= 0 ? ", and a UAR as a dma-buf" : "");
	}
	dr_evidence(f, "libibverbs is %s", where != NULL ? where : have);
	if (dr_fact_number(d, 1, "lib.mlx5_provider") == 0) {
		f = dr_find(d, DR_STOP, "no_provider", "", "libibverbs has no mlx5 provider");
		dr_evidence(f, "the loader finds no libmlx5.so.1");
		dr_fix(f, "apt-get install ibverbs-providers");
	}
}

void
dr_check_dpdk(struct doctor *d)
{
	const char *have = dr_fact(d, "lib.dpdk");
	struct dr_finding *f;

	if (have == NULL) {
		f = dr_find(d, DR_STOP, "missing", "", "DPDK's EAL is not there");
		dr_evidence(f, "the loader finds no librte_eal.so of the version built against");
		dr_fix(f, "apt-get install dpdk; programs without DPDK (libcarillon) work without");
		return;
	}
	if (dr_version_cmp(have, "22.11") < 0) {
		f = dr_find(d, DR_STOP, "old", "",
			"DPDK %s has not the external queues that Carillon maps", have);
		dr_fix(f, "DPDK 22.11 or newer (Debian 12 has 22.11, Ubuntu 24.04 has 23.11)");
	} else {
		f = dr_find(d, DR_OK, "version", "", "DPDK %s: external receive queues%s", have,
			dr_version_cmp(have, "24.07") >= 0 ? ", and send queues in rte_flow" : "");
	}
	dr_evidence(f, "rte_version() of the loader's librte_eal: %s", have);
	if (dr_fact_number(d, 1, "lib.net_mlx5") == 0) {
		f = dr_find(d, DR_STOP, "no_net_mlx5", "", "DPDK has no net_mlx5 here");
		dr_evidence(f, "the loader finds no librte_net_mlx5 of DPDK %s", have);
		dr_fix(f,
			"apt-get install librte-net-mlx5-23, or build DPDK with libmlx5's headers");
	}
}
