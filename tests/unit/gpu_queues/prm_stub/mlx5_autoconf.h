/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's build writes a file of this name with what it found in rdma-core. Its mlx5_prm.h, which
 * test_wire_dpdk.c reads for layouts alone, needs none of that.
 */
