/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A GPU's copy engine as a mover (../far/far.h): asynchronous copies on one stream of their own,
 * which neither wait for a resident kernel nor make one wait. Copies of one stream begin and end in
 * order. Host memory is allocated before an engine starts, as that does wait for a kernel.
 *
 * Threads: the one that steps moves and waits; regions come and go from any.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#include "../far/far.h"
#include "mover.h"

struct cuda_mover {
	struct scx_mover mover;
	int device;
	cudaStream_t stream;
	char where[96], why[200];
};

/* A thread that comes for the first time may use any device. */
static cudaError_t
enter(const struct cuda_mover *m)
{
	static thread_local int mine = -1;
	cudaError_t e;

	if (mine == m->device)
		return cudaSuccess;
	e = cudaSetDevice(m->device);
	if (e == cudaSuccess)
		mine = m->device;
	return e;
}

static int
done(struct cuda_mover *m, cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return 0;
	snprintf(m->why, sizeof(m->why), "%s: %s", what, cudaGetErrorString(e));
	return -EIO;
}

static int
move(void *arg, void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	struct cuda_mover *m = (struct cuda_mover *)arg;
	cudaError_t e = enter(m);

	if (e == cudaSuccess)
		e = cudaMemcpyAsync(dst, src, bytes, kind, m->stream);
	return done(m, e, "cudaMemcpyAsync");
}

static int
to_here(void *arg, void *here, const void *there, size_t bytes)
{
	return move(arg, here, there, bytes, cudaMemcpyDeviceToHost);
}

static int
to_there(void *arg, void *there, const void *here, size_t bytes)
{
	return move(arg, there, here, bytes, cudaMemcpyHostToDevice);
}

static int
wait_all(void *arg)
{
	struct cuda_mover *m = (struct cuda_mover *)arg;
	cudaError_t e = enter(m);

	if (e == cudaSuccess)
		e = cudaStreamSynchronize(m->stream);
	return done(m, e, "cudaStreamSynchronize");
}

/* The engine goes on by itself. */
static unsigned
turn(void *arg)
{
	(void)arg;
	return 0;
}

/* Called by the program's threads too: their device stays what it was. */
static int
swap_device(const struct cuda_mover *m)
{
	int before = 0;

	cudaGetDevice(&before);
	cudaSetDevice(m->device);
	return before;
}

static void *
alloc(void *arg, size_t bytes)
{
	struct cuda_mover *m = (struct cuda_mover *)arg;
	int before = swap_device(m);
	void *p = NULL;

	if (done(m, cudaHostAlloc(&p, bytes, cudaHostAllocPortable), "cudaHostAlloc") != 0)
		p = NULL;
	cudaSetDevice(before);
	return p;
}

static void
release(void *arg, void *here)
{
	int before = swap_device((struct cuda_mover *)arg);

	cudaFreeHost(here);
	cudaSetDevice(before);
}

static const char *
why(void *arg)
{
	return ((struct cuda_mover *)arg)->why;
}

static void
end(void *arg)
{
	struct cuda_mover *m = (struct cuda_mover *)arg;
	int before = swap_device(m);

	cudaStreamDestroy(m->stream);
	cudaSetDevice(before);
	free(m);
}

int
scx_mover_cuda(int device, struct scx_mover **out, char *err, size_t bytes)
{
	struct cuda_mover *m = (struct cuda_mover *)calloc(1, sizeof(*m));
	struct cudaDeviceProp prop;
	int rc;

	if (m == NULL)
		return -ENOMEM;
	m->device = device;
	rc = done(m, cudaSetDevice(device), "cudaSetDevice");
	if (rc == 0)
		rc = done(m, cudaGetDeviceProperties(&prop, device), "cudaGetDeviceProperties");
	if (rc == 0)
		rc = done(m, cudaStreamCreateWithFlags(&m->stream, cudaStreamNonBlocking),
			"stream");
	if (rc != 0) {
		snprintf(err, bytes, "GPU %d: %s", device, m->why);
		free(m);
		return rc;
	}
	snprintf(m->where, sizeof(m->where), "the copy engine of GPU %d (%.60s)", device,
		prop.name);
	m->mover = {m->where, device, m, to_here, to_there, wait_all, turn, alloc, release, why,
		end};
	*out = &m->mover;
	return 0;
}
