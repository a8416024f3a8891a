/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checks, in the order in which they run and are reported. Host only.
 */
#include "doctor.h"

const struct dr_check dr_checks[] = {
	{"nic", "ConnectX present, new enough, with mlx5_core", dr_check_nic},
	{"rdma", "RDMA device, /dev/infiniband, modules", dr_check_rdma},
	{"firmware", "version", dr_check_firmware},
	{"devx", "opens for DevX, capabilities", dr_check_devx},
	{"uar", "kind of doorbell page", dr_check_uar},
	{"rdma-core", "version and what it brings", dr_check_rdma_core},
	{"dpdk", "version, net_mlx5", dr_check_dpdk},
	{"gpu", "NVIDIA driver", dr_check_gpu},
	{"gpu-data", "NIC reaches GPU memory: dma-buf, nvidia-peermem", dr_check_gpu_data},
	{"gpu-control", "GPU reaches the NIC's doorbell", dr_check_gpu_control},
	{"bar1", "the GPU's window", dr_check_bar1},
	{"iommu", "translation", dr_check_iommu},
	{"acs", "redirection by bridges", dr_check_acs},
	{"path", "distance of GPU and NIC, and the choice", dr_check_path},
	{"link", "link and MTU", dr_check_link},
	{"pcie", "lanes", dr_check_pcie},
	{"hugepages", "for EAL", dr_check_hugepages},
	{"memlock", "limit", dr_check_memlock},
	{"numa", "the NIC's node", dr_check_numa},
	{"place", "OFED, container, software NIC", dr_check_place},
};
const unsigned dr_nr_checks = sizeof(dr_checks) / sizeof(dr_checks[0]);
