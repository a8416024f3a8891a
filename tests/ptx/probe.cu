// SPDX-License-Identifier: BSD-3-Clause
// Two kernels, the least that has every edge of the data path: what ptx_mutants.sh breaks.
#include "gpu_queues/engines/macswap.h"
#include "gpu_queues/engines/txonly.h"

extern "C" __global__ void
probe_forward(struct crl_stream *s)
{
	while (crl_fwd_turn(s, crl_macswap_packet) != CRL_TURN_LEFT) // forever: leaves on ctl->stop
		crl_relax();
}

extern "C" __global__ void
probe_send(struct crl_stream *s)
{
	while (crl_txonly_turn(s) != CRL_TURN_LEFT) // forever: leaves on ctl->stop
		crl_relax();
}
