/* SPDX-License-Identifier: BSD-3-Clause */
/* What mlx5_prm.h takes from the mlx5_glue.h of DPDK: the declarations of rdma-core. */
#include <infiniband/mlx5dv.h>
