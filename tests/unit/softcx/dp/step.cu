/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path as a kernel: that it compiles is the test (dp_cuda). The parts are headers for
 * this; a call of something that only the host has shows here as a warning, which fails the test.
 */
#include "drivers/softcx/dp/dp_all.h"

__global__ void
step(struct scx_dp *dp, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		scx_doorbells(dp);
		scx_step_turnaround(dp, 64);
	}
}

__global__ void
apply(struct scx_dp *dp, struct scx_dp_cmd *cmd, int *rc)
{
	*rc = scx_apply(dp, cmd);
	scx_cqe_publish(dp);
}

__global__ void
init(struct scx_dp *dp, void *uar, uint32_t nr_uar_pages, uint64_t seed)
{
	scx_state_init(dp, uar, nr_uar_pages, seed);
}
