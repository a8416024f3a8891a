/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carillon for host programs: open a ConnectX, register memory, create queues whose rings lie in
 * GPU or host memory, export them to the code that will run them, and take their errors. This part
 * links libibverbs and libmlx5 only; what needs DPDK (ports, steering, the control lcore) is in
 * dpdk.h.
 *
 * Threads: one context and everything made from it belong to one thread at a time; the caller
 * serialises. Two contexts are independent. crl_queue_stats(), crl_path(), crl_info() and
 * crl_event_fd() may be called from any thread while the object lives. No function starts a thread,
 * calls back, prints, exits or waits without a bound. None
 * may be used after fork() in the child.
 *
 * Returns: 0 or -errno, and on failure *err says which step failed, why, and what to do about it.
 * err may be NULL. Whatever a failed call had built is undone before it returns, and its
 * out-parameter is not touched. Each function lists the causes of its own; every one can also
 * return
 *   -EINVAL    an argument is out of its range, or a struct's size is none that this version knows
 *   -ENOMEM    no memory
 *   -EREMOTEIO the firmware refused a command: err->fw_status and fw_syndrome hold its answer
 *   -EIO       the device went away
 *
 * Sizes: each config struct starts with its own size, as sizeof says where the caller was compiled.
 * Fields left zero mean the default named beside them.
 *
 * Steering: this part makes no rules. A queue receives what a flow of dpdk.h leads to it, or,
 * without DPDK, a rule of the program's own: a TIR over crl_queue_rqn() by
 * mlx5dv_devx_obj_create(), a rule to it by mlx5dv_create_flow(), both on crl_ibv_context(), and
 * both gone before the queue goes. The data path is gpu_queues/carillon_dev.h, or an engine
 * (gpu_queues/engine.h), over what crl_queue_export() fills. tests/install/embed.c is a program
 * that does all of it.
 *
 * Parents and children: region and queue are children of a context, flow and port (dpdk.h) of what
 * they were made from. A parent refuses to close while children live (-EBUSY) and err names one.
 */
#ifndef CARILLON_H
#define CARILLON_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpu_queues/err.h"
#include "gpu_queues/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crl_ctx;
struct crl_region;
struct crl_queue;
struct ibv_context;
struct ibv_pd;

/* ---- Errors ---- struct crl_err, crl_err_str() and crl_syndrome_str(): gpu_queues/err.h */

/* Words for a PRM command status; never NULL. Any thread. */
const char *crl_fw_status_str(uint8_t status);

/* ---- Context ---- */

struct crl_cfg {
	uint32_t size;	    /* sizeof(struct crl_cfg) */
	uint32_t flags;	    /* 0 */
	const char *device; /* PCI address "0000:01:00.0" or "01:00.0", or RDMA name "mlx5_0"; NULL:
			       the only one */
};

/*
 * Opens the device for DevX and reads its capabilities. The context owns one protection domain,
 * transport domain and TIS.
 *   -ENODEV    no RDMA device, or none of that name; err lists those there are
 *   -ENOTUNIQ  device is NULL and there are several; err lists them
 *   -EACCES    no permission on /dev/infiniband/uverbsN
 *   -ENOTSUP   not an mlx5 device, or DevX is not allowed to this user, or a capability is missing
 */
int crl_open(const struct crl_cfg *cfg, struct crl_ctx **ctx, struct crl_err *err);

/*
 * -EBUSY: a region, queue or port lives, err names one; or what the program made with crl_ibv_pd()
 * itself. Then the context stays as it was. After any other answer it is gone.
 */
int crl_close(struct crl_ctx *ctx, struct crl_err *err);

/* The device as it described itself. */
struct crl_info {
	uint32_t size;		 /* sizeof(struct crl_info), set by the caller */
	int numa_node;		 /* of the NIC, -1: unknown */
	char name[64];		 /* mlx5_0 */
	char bdf[16];		 /* 0000:01:00.0 */
	char fw_ver[64];	 /* 22.41.1000 */
	uint16_t vendor_part_id; /* PCI device id */
	uint8_t log_max_wq_sz;	 /* largest SQ and RQ, log2 of entries */
	uint8_t log_max_cq_sz;
	uint8_t sq_ts_format; /* 0 free running, 1 default, 2 real time: as queues are created */
	uint8_t rq_ts_format;
	uint8_t inline_mode; /* headers to inline in each send: 0 none, 1 L2, 2 IP, 3 L4 */
	uint8_t own_counter; /* 1: crl_missed() counts this context's queues alone */
	uint8_t events;	     /* 1: the NIC's async events are subscribed to, 0: see events_why */
	char events_why[64];
};

/* -EINVAL only. */
int crl_info(const struct crl_ctx *ctx, struct crl_info *info);

/*
 * Packets that found no buffer in a receive queue of this context since it was opened. The NIC's
 * counter has 32 bits and wraps: call it at least once a second where packets may be lost at line
 * rate, and from one thread at a time.
 *   -ENOTSUP   the NIC gave this context no counter set of its own
 */
int crl_missed(struct crl_ctx *ctx, uint64_t *packets, struct crl_err *err);

/* The verbs objects behind a context, for programs that add their own; they stay the context's. */
struct ibv_context *crl_ibv_context(const struct crl_ctx *ctx);
struct ibv_pd *crl_ibv_pd(const struct crl_ctx *ctx);

/* ---- Memory ---- */

enum crl_place {
	CRL_PLACE_HOST, /* ordinary memory, on the NIC's NUMA node when Carillon allocates it */
	CRL_PLACE_GPU,	/* memory of a GPU; the host may be unable to touch it */
};

/*
 * Where memory comes from: filled by dpdk.h's crl_mem_gpudev(), or by a program that embeds
 * Carillon (CUDA's own calls). All functions return 0 (or an fd) or -errno. A NULL function means:
 * not needed, the memory is the host's. The struct and arg stay the caller's and live as long as
 * any queue or region made with them.
 */
struct crl_mem {
	uint32_t size; /* sizeof(struct crl_mem) */
	enum crl_place place;
	const char *name; /* for messages and crl_path(): "gpudev 0 (gpu_crl_cuda0)" */
	void *arg;
	/* bytes is a multiple of align, align a power of two of at least 4096. */
	int (*alloc)(void *arg, size_t bytes, size_t align, void **addr);
	void (*free)(void *arg, void *addr, size_t bytes);
	/* Copy to and from it; complete when it returns. NULL: plain loads and stores do. */
	int (*write)(void *arg, void *dst, const void *src, size_t bytes);
	int (*read)(void *arg, void *dst, const void *src, size_t bytes);
	/*
	 * A dma-buf fd over [addr, addr + bytes), which the caller closes; *offset: of addr in it.
	 * NULL: register by address.
	 */
	int (*dmabuf)(void *arg, void *addr, size_t bytes, uint64_t *offset);
	/* Make host memory, or a NIC register page, usable by the GPU at *dev. NULL: as it is. */
	int (*map_host)(void *arg, void *addr, size_t bytes, void **dev);
	int (*map_mmio)(void *arg, void *addr, size_t bytes, void **dev);
	void (*unmap_host)(void *arg, void *addr);
	void (*unmap_mmio)(void *arg, void *addr);
	/* Fills err with why the last of these calls failed. NULL: its errno is all there is. */
	void (*why)(void *arg, struct crl_err *err);
};

/* Plain memory on the NUMA node of ctx's NIC (numa_node -1: any). Lives as long as ctx. */
const struct crl_mem *crl_mem_host(const struct crl_ctx *ctx);

#define CRL_REGION_ALLOC 1u /* take the bytes from mem: addr is ignored, freed with the region */

struct crl_region_cfg {
	uint32_t size;	/* sizeof(struct crl_region_cfg) */
	uint32_t flags; /* CRL_REGION_* */
	void *addr;	/* caller's, must outlive the region */
	size_t bytes;
	const struct crl_mem *mem; /* of addr, or where to take it from; NULL: crl_mem_host() */
	uint64_t iova;		   /* what WQEs will say, at addr's offset in its page; 0: addr */
};

/*
 * Registers all of [addr, addr + bytes) for sends and receives, or refuses.
 *   -EFAULT    the range is not (wholly) mapped
 *   -EOPNOTSUPP GPU memory that cannot be exported as a dma-buf, or a kernel that cannot import it
 */
int crl_region_reg(struct crl_ctx *ctx, const struct crl_region_cfg *cfg,
	struct crl_region **region, struct crl_err *err);
/* -EBUSY: a queue uses it; err names the queue. */
int crl_region_dereg(struct crl_region *region, struct crl_err *err);

uint32_t crl_region_lkey(const struct crl_region *region);
void *crl_region_addr(const struct crl_region *region);
uint64_t crl_region_iova(const struct crl_region *region);
size_t crl_region_bytes(const struct crl_region *region);

/* ---- Queues ---- */

/* How a queue's doorbell page is had. */
enum crl_uar {
	CRL_UAR_ANY,	      /* the first that works of those below; crl_path() says which */
	CRL_UAR_NC_DEDICATED, /* one uncached page of its own; rdma-core 45 and newer */
	CRL_UAR_BF,	      /* one write-combining page of its own */
	CRL_UAR_NC_SHARED,    /* the one uncached page of the context: where neither is to be had */
};

struct crl_queue_cfg {
	uint32_t size;	       /* sizeof(struct crl_queue_cfg) */
	uint32_t flags;	       /* CRL_Q_TX, CRL_Q_RX or both (gpu_queues/queue.h) */
	uint32_t index;	       /* of the queue in its port: 0, 1, ...; unique within the context */
	uint32_t tx_depth;     /* WQEBBs of 64 bytes, a power of two up to CRL_DEPTH_MAX; 0: 1024 */
	uint32_t rx_depth;     /* packets, likewise; 0: 1024 */
	uint32_t rx_buf_bytes; /* bytes from buffer to buffer, a multiple of 64; 0: 2112 */
	uint32_t rx_headroom;  /* bytes before each frame; even, less than rx_buf_bytes */
	uint32_t tx_inline_max; /* frames up to so many bytes travel in the WQE; 0: none */
	uint32_t signal_every;	/* WQEs a send completion; 0: min(32, rx_depth / 4, tx_depth / 4) */
	uint32_t cq_flags;	/* CRL_CQ_COLLAPSED (the send side's, and its overruns are ignored),
				   CRL_CQ_OVERRUN_IGNORE */
	enum crl_uar uar;
	const struct crl_mem *rings;   /* SQ, RQ, CQs and records; NULL: crl_mem_host() */
	const struct crl_mem *buffers; /* receive buffers; NULL: as rings */
	struct crl_region *tx_region;  /* of frames sent without a key; NULL: receive buffers */
};

/*
 * Creates the objects and moves them to RDY. The receive ring is filled (slot i names buffer i) but
 * not given to the NIC: the engine does that first (gpu_queues/rq_refill.h).
 *   -EINVAL    a depth is no power of two or out of range (err names the nearest), index taken, ...
 *   -ENOTSUP   the device cannot: too deep, no such UAR kind (err says what is there)
 */
int crl_queue_create(struct crl_ctx *ctx, const struct crl_queue_cfg *cfg, struct crl_queue **queue,
	struct crl_err *err);
/*
 * Destroys the objects first, then frees the memory. The engine must have stopped (ctl->done, or
 * never started). -EBUSY: a port still maps it for steering (dpdk.h), or crl_engine_start()'s run
 * has not been stopped; err says which.
 */
int crl_queue_destroy(struct crl_queue *queue, struct crl_err *err);

/*
 * Addresses and ABI stamp, by value, as the engine's processor sees them: copy it where the engine
 * finds it, once: the indices in it are those of a fresh queue, and whoever runs it carries them
 * on; a second engine, or carillon_dev.h's calls after an engine has stopped, take the same struct.
 * Its mac and mtu are 0 before crl_port_attach() (dpdk.h) or without a port.
 *
 *   -EBUSY     an engine or a program has run it already: the NIC's indices moved, destroy and
 *              create again. Of rings in GPU memory only an engine's run is noticed
 */
int crl_queue_export(struct crl_queue *queue, struct crl_queue_dev *dev, struct crl_err *err);

/*
 * Control words, counters and error mailbox: host memory, the queue's. Any thread. Engines count;
 * carillon_dev.h's calls do not, the counters of such a queue stay 0.
 */
struct crl_ctl *crl_queue_ctl(const struct crl_queue *queue);
struct crl_qerror *crl_queue_error(const struct crl_queue *queue); /* [2]: CRL_QERROR_SQ, _RQ */
void crl_queue_stats(const struct crl_queue *queue, struct crl_qstats *stats);

uint32_t crl_queue_index(const struct crl_queue *queue);
uint32_t crl_queue_sqn(const struct crl_queue *queue);		       /* 0: no send side */
uint32_t crl_queue_rqn(const struct crl_queue *queue);		       /* 0: no receive side */
struct crl_region *crl_queue_rx_region(const struct crl_queue *queue); /* NULL: no receive side */

/* The path a packet of this queue takes, as a fact to print beside every figure. */
struct crl_path {
	uint32_t size; /* sizeof(struct crl_path), set by the caller */
	enum crl_place rings, buffers;
	enum crl_uar uar;  /* what it got, never CRL_UAR_ANY */
	uint32_t uar_page; /* page number, as in the queue's context */
	uint32_t cq_flags;
	int numa_node;	/* of host memory, -1: not bound */
	char text[256]; /* the same in one line of words */
};
int crl_path(const struct crl_queue *queue, struct crl_path *path);

/* ---- Events ---- */

enum crl_event_type {
	CRL_EVENT_QUEUE_ERROR, /* error mailbox of an engine or of carillon_dev.h: queue stopped;
				  err has syndrome, WQE and CQE bytes */
	CRL_EVENT_CQ_ERROR,    /* the NIC reports an overrun or access error of a CQ */
	CRL_EVENT_WQ_ERROR,    /* the NIC reports an error of an SQ or RQ; where a CQE tells of it
				  as well, CRL_EVENT_QUEUE_ERROR comes too, before or after, with
				  more words */
	CRL_EVENT_LINK,	       /* port went up or down: err.code 0 up, -ENETDOWN down */
	CRL_EVENT_DEVICE,      /* the device is in a fatal state */
	CRL_EVENT_LOST,	       /* events were dropped by the kernel: look at every queue */
};

struct crl_event {
	enum crl_event_type type;
	struct crl_queue *queue; /* NULL: the whole device */
	struct crl_err err;
};

/*
 * Becomes readable (poll, epoll) when the NIC has an event. Error mailboxes are memory that an
 * engine writes and make no fd readable: call crl_event_next() at least every few milliseconds, as
 * the control lcore of dpdk.h does. -ENOTSUP: the device has no events, see crl_info.
 */
int crl_event_fd(const struct crl_ctx *ctx);

/*
 * Takes up to max events, never waits. Returns how many, 0: none; -EIO: the device went away.
 * Taking an engine's error empties its mailbox: take it here or by gpu_queues/control.h, not by
 * both.
 */
int crl_event_next(struct crl_ctx *ctx, struct crl_event *events, int max);

#ifdef __cplusplus
}
#endif

#endif /* CARILLON_H */
