/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between host code and libcarillon_cuda, which is built where there is an nvcc: plain C, so that
 * engine.c finds the three functions with dlsym() and links no CUDA.
 */
#ifndef CRL_LAUNCH_H
#define CRL_LAUNCH_H

#include "err.h"
#include "stream.h"

#if defined(__cplusplus)
extern "C" {
#endif

struct crl_cuda_run;

#define CRL_CUDA_LIBRARY "libcarillon_cuda.so.0"

/* The CRL_DEV_ABI of the kernels. */
uint32_t crl_cuda_abi(void);
/* What crl_layout() is to them. */
uint32_t crl_cuda_layout(void);

/*
 * Starts a kernel, by its name, on device, one block a stream. The streams and the queues they
 * point to are copied to the GPU; every address in them is one that the GPU can use. The kernel
 * leaves when each stream's ctl->stop is set. spare_sms multiprocessors are left to other resident
 * kernels: -EINVAL when the blocks do not all fit on the rest. -ENOSYS: no kernel of that name.
 * -EIO: CUDA refused; err says what.
 */
int crl_cuda_start(const char *kernel, int device, struct crl_stream *const *streams, uint32_t nr,
	uint32_t spare_sms, struct crl_cuda_run **run, struct crl_err *err);

/* engine.c's: the kernel of libcarillon_cuda for an engine with these options, complete: stamp has
 * one of its own for long frames, which takes more registers. */
const char *crl_engine_kernel(const char *engine, const struct crl_engine_opts *opts);

/* What a kernel takes of a GPU. */
struct crl_cuda_facts {
	const char *kernel;		  /* its name */
	uint32_t registers, shared_bytes; /* of a thread; of a block */
	uint32_t per_sm, sms;		  /* blocks that fit on a multiprocessor; those there are */
};

/* Also loads all kernels for the device, which beside a resident one would wait for its end.
 * -ENOSYS: no kernel of that name. -EIO: CUDA. */
int crl_cuda_facts(const char *kernel, int device, struct crl_cuda_facts *facts);

/* engine.c's: the same of a run's own kernel, as it was before its start. -ENOTSUP: it has none. */
struct crl_engine_run;
int crl_engine_facts(const struct crl_engine_run *run, struct crl_cuda_facts *facts);

/*
 * Waits up to wait_ns for the kernel's end, looking at watch meanwhile, copies queue states back,
 * frees. -ETIMEDOUT: it still runs, nothing was freed. -EIO: it ended with a CUDA error, all is
 * freed.
 */
struct crl_stop_watch;
int crl_cuda_stop(struct crl_cuda_run *run, uint64_t wait_ns, struct crl_stop_watch *watch,
	struct crl_err *err);

/*
 * Of streams that were told CRL_PARK_LEAVE: waits for the kernel's end, -ETIMEDOUT. And starts it
 * again where it stood.
 */
int crl_cuda_park(struct crl_cuda_run *run, uint64_t wait_ns, struct crl_err *err);
int crl_cuda_resume(struct crl_cuda_run *run, struct crl_err *err);

#if defined(__cplusplus)
}
#endif

#endif /* CRL_LAUNCH_H */
