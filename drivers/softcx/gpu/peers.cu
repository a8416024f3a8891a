/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * May a kernel on one GPU read and write the memory of another, both ways: an engine and a step
 * that are not on the same one. Host code alone, for the table at the end of step.cu.
 */
#include <cerrno>
#include <cuda_runtime.h>

#include "peers.h"

/* One way. That it was so before is as good. */
static bool
reach(int from, int to)
{
	int can = 0;
	cudaError_t e = cudaDeviceCanAccessPeer(&can, from, to);

	if (e == cudaSuccess && can)
		e = cudaSetDevice(from);
	if (e == cudaSuccess && can)
		e = cudaDeviceEnablePeerAccess(to, 0);
	cudaGetLastError();
	return can && (e == cudaSuccess || e == cudaErrorPeerAccessAlreadyEnabled);
}

int
scx_peers_cuda(int a, int b)
{
	int before = 0;
	bool both;

	cudaGetDevice(&before);
	both = reach(a, b) && reach(b, a);
	cudaSetDevice(before);
	return both ? 0 : -ENOTSUP;
}
