/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loopback run without a driver: queues in GPU memory, made by hand; engines that drive them as
 * persistent kernels (libcarillon_cuda); workers of the software ConnectX's data path
 * (drivers/softcx/dp/crew.h) that fetch, receive and complete. Every packet is numbered and checked
 * on the GPU each time it goes round (gpu_queues/engines/stamp.h).
 *
 * Threads: one run at a time. Returns 0 or -errno and words.
 */
#ifndef CRL_LOOP_H
#define CRL_LOOP_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define CRL_LOOP_QUEUES_MAX 1024u

/* Who steps the NIC. */
enum crl_loop_place {
	CRL_LOOP_AUTO = 0,  /* another GPU if there is one, else a kernel of its own */
	CRL_LOOP_FUSED = 1, /* further blocks of the engine's own kernel, launched cooperatively */
	CRL_LOOP_SAME = 2,  /* a second kernel on the engine's GPU */
	CRL_LOOP_PEER = 3,  /* a kernel on another GPU */
};

struct crl_loop_cfg {
	uint32_t size; /* sizeof(struct crl_loop_cfg) */
	enum crl_loop_place place;
	int engine_gpu, nic_gpu; /* CUDA ordinals; nic_gpu: CRL_LOOP_PEER and AUTO, -1: the next */
	uint32_t queues;	 /* 0: 64 */
	uint32_t active;	 /* queues with packets: 0: all */
	uint32_t frame;		 /* bytes, 0: 64 */
	uint32_t in_flight;	 /* packets a queue, 0: 512 */
	uint32_t depth;		 /* of the rings, 0: 1024 */
	uint32_t burst;		 /* 0: 64 */
	uint32_t workers;	 /* warps that step the NIC, 0: one a queue */
	uint64_t packets;	 /* a queue sends so many and ends; 0: without end */
	double seconds;		 /* at most so long, 0: 10 */
	double stop_at;		 /* packets, of all queues, after which it is stopped; 0: never */
};

/* What a kernel takes of a GPU. */
struct crl_loop_kernel {
	uint32_t blocks, registers, shared_bytes, per_sm, sms;
	const char *name;
};

struct crl_loop_result {
	char engine_where[128], nic_where[128], why[192]; /* why: that placement was chosen */
	struct crl_loop_kernel engine, nic;
	double seconds; /* of traffic, host's clock */
	double stop_ms; /* from the stop word to the last engine's leave, 0: it ended by itself */
	uint64_t sent, received, nic_sent, nic_received, nic_no_buffer, nic_lost;
	uint64_t lost, torn, missed;
	uint64_t wqes, cqes, doorbells, sent_bytes;
	/* Counted by the NIC: bytes of WQEs, of receive WQEs and of payload that it read. */
	uint64_t wqe_bytes, rq_wqe_bytes, payload_read, payload_written;
	uint32_t reports; /* refusals and errors of the NIC, which a good run has none of */
};

/*
 * -EINVAL: an option. -ENODEV: no such GPU. -ENOTSUP: GPUs without peer access, or no cooperative
 * launch. -ENOSPC: the kernels do not fit on the GPU together. -ETIMEDOUT: an engine did not stop.
 * -EIO: CUDA.
 */
int crl_loop_run(
	const struct crl_loop_cfg *cfg, struct crl_loop_result *res, char *err, size_t err_bytes);

#if defined(__cplusplus)
}
#endif

#endif /* CRL_LOOP_H */
