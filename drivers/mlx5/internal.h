/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of this folder share: the objects behind carillon.h's names, and the steps a queue
 * is built from. Nothing here is installed. Host only; threads as carillon.h says.
 */
#ifndef CRL_MLX5_INTERNAL_H
#define CRL_MLX5_INTERNAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "carillon/carillon.h"
#include "gpu_queues/queue_mem.h"
#include "gpu_queues/queue_state.h"
#include "prm.h"

/* Exported: carillon.h's functions, and the few of these that libcarillon_dpdk shares. */
#define CRL_PUBLIC __attribute__((visibility("default")))

/* ---- err.c ---- */

/* The errno of a library's call that returned ret: 0, the errno itself, or -1 and errno has it. */
int crl_errno_of(int ret);
/* crl_err_set() with the code and the words of errno_value, which are appended to the cause. */
int crl_fail_errno(struct crl_err *err, int errno_value, const char *step, const char *fix,
	const char *cause, ...) __attribute__((format(printf, 5, 6)));
/* The same of a call of mem's that returned code, with mem's own words where it has some. */
int crl_fail_mem(struct crl_err *err, const struct crl_mem *mem, int code, const char *step,
	const char *fix, const char *cause, ...) __attribute__((format(printf, 6, 7)));
/* From a command's output mailbox, or from errno_value when the firmware never saw the command. */
int crl_fail_cmd(struct crl_err *err, const char *step, int errno_value, const void *out);
/* More words at the end of those in buf, as far as there is room. */
void crl_append(char *buf, size_t bytes, const char *words, ...)
	__attribute__((format(printf, 3, 4)));
/* -EINVAL unless the caller's struct is as large as the first version of it, given in known. */
int crl_check_size(struct crl_err *err, const char *step, uint32_t size, size_t known);
/* What a caller's config says of itself; a pointer to none says nothing. */
#define CRL_SIZE_OF(cfg) ((cfg) != NULL ? (cfg)->size : 0u)

/* ---- device.c, caps.c, td.c ---- */

struct crl_caps {
	uint8_t log_max_wq_sz, log_max_cq_sz;
	uint8_t log_min_stride_sq, log_max_stride_sq, log_min_stride_rq, log_max_stride_rq;
	uint8_t sq_ts_format, rq_ts_format; /* as a queue context says it, CRL_TS_* */
	uint8_t inline_mode;		    /* CRL_INLINE_* */
	bool cq_overrun_ignore, multi_packet_send, enhanced_multi_packet;
};

struct crl_ctx {
	struct ibv_context *ibv;
	struct ibv_pd *pd;
	uint32_t pdn, eqn, tdn, tisn;
	struct mlx5dv_devx_obj *td, *tis, *counter;
	uint32_t counter_set; /* 0: the function's own, shared by all */
	uint32_t missed_seen; /* what the counter set had at the last look: it has 32 bits */
	uint64_t missed;
	struct crl_caps caps;
	struct mlx5dv_devx_event_channel *events; /* NULL: see events_why */
	int poll_fd;				  /* epoll over the channel and the async fd */
	char events_why[64];
	struct crl_mem host; /* arg: this context */
	int numa_node;	     /* host memory is bound to it, -1: not bound */
	char numa_why[64];   /* why not bound */
	struct crl_info info;
	uint64_t next_id; /* of queues, for event cookies; never reused */
	bool left; /* the NIC keeps objects of a queue that could not be made, till the fd goes */
	LIST_HEAD(, crl_region) regions;
	LIST_HEAD(, crl_queue) queues;
	char port_name[32]; /* of the imported port that lives on this context, "": none */
};

int crl_caps_query(struct crl_ctx *ctx, struct crl_err *err);
int crl_td_create(struct crl_ctx *ctx, struct crl_err *err);
void crl_td_destroy(struct crl_ctx *ctx);

/* 0, or -EBUSY with the name of something that was made from ctx and lives. device.c */
int crl_ctx_idle(const struct crl_ctx *ctx, struct crl_err *err);

/* An mlx5 device of this machine, as ibv_get_device_list() and sysfs show it. */
struct crl_dev_name {
	char name[64];
	char bdf[16]; /* "": not a PCI device */
	int numa_node;
};
/* The list to be freed by ibv_free_device_list(), or -ENODEV in words. */
int crl_list_devices(struct ibv_device ***list, int *n, struct crl_err *err);
void crl_dev_name_get(struct ibv_device *dev, struct crl_dev_name *name);
/* "01:00.0" and "0000:01:00.0", any case, to the long form in lower case. -EINVAL: it is neither.
 */
int crl_bdf_parse(const char *text, char bdf[16]);

/* ---- devx.c ---- */

/* Run a command that makes an object; step names it in errors. out is out_bytes long, zeroed here.
 */
int crl_devx_create(struct crl_ctx *ctx, const char *step, const void *in, size_t in_bytes,
	void *out, size_t out_bytes, struct mlx5dv_devx_obj **obj, struct crl_err *err);
int crl_devx_modify(struct mlx5dv_devx_obj *obj, const char *step, const void *in, size_t in_bytes,
	void *out, size_t out_bytes, struct crl_err *err);
int crl_devx_query(struct mlx5dv_devx_obj *obj, const char *step, const void *in, size_t in_bytes,
	void *out, size_t out_bytes, struct crl_err *err);
/* A command without an object of its own. */
int crl_devx_cmd(struct crl_ctx *ctx, const char *step, const void *in, size_t in_bytes, void *out,
	size_t out_bytes, struct crl_err *err);
int crl_devx_destroy(struct mlx5dv_devx_obj **obj, const char *step, struct crl_err *err);

/* ---- mem.c, umem.c ---- */

void crl_mem_host_init(struct crl_ctx *ctx);
int crl_mem_check(const struct crl_mem *mem, struct crl_err *err);
int crl_mem_take(
	const struct crl_mem *mem, size_t bytes, size_t align, void **addr, struct crl_err *err);
void crl_mem_give(const struct crl_mem *mem, void *addr, size_t bytes);
int crl_mem_put(
	const struct crl_mem *mem, void *dst, const void *src, size_t bytes, struct crl_err *err);
size_t crl_mem_page(const struct crl_mem *mem); /* alignment of everything that is registered */

int crl_umem_reg(struct crl_ctx *ctx, const struct crl_mem *mem, void *addr, size_t bytes,
	struct mlx5dv_devx_umem **umem, struct crl_err *err);
void crl_umem_dereg(struct mlx5dv_devx_umem **umem);

struct crl_region {
	struct crl_ctx *ctx;
	const struct crl_mem *mem;
	void *addr;
	size_t bytes;
	uint64_t iova;
	struct ibv_mr *mr;
	bool owned;	    /* memory is freed with the region */
	unsigned nr_queues; /* that use it */
	bool orphan;	    /* of a queue that could not be made: goes when the context closes */
	LIST_ENTRY(crl_region) link;
};

/* ---- Queues: uar.c cq.c sq.c rq.c queue.c ---- */

/* A ring with its doorbell record behind it, one umem of its own. */
struct crl_ring_mem {
	uint8_t *addr;	    /* as the engine's processor and the NIC name it */
	size_t bytes;	    /* whole pages */
	uint32_t dbrec_off; /* of the record's own 64-byte line */
	struct mlx5dv_devx_umem *umem;
};

struct crl_cq_obj {
	struct crl_ring_mem ring;
	struct mlx5dv_devx_obj *obj;
	uint32_t cqn;
	uint8_t log_depth;
	uint32_t flags; /* CRL_CQ_* */
};

struct crl_wq_obj {
	struct crl_ring_mem ring;
	struct mlx5dv_devx_obj *obj;
	uint32_t num; /* SQ or RQ number */
	uint8_t log_depth;
};

struct crl_shared { /* one page of host memory */
	struct crl_qstats stats;
	struct crl_qerror error[2]; /* CRL_QERROR_SQ, CRL_QERROR_RQ */
	struct crl_ctl ctl;
};

struct crl_queue {
	struct crl_ctx *ctx;
	uint64_t id;
	struct crl_queue_cfg cfg; /* defaults filled in */
	const struct crl_mem *rings, *buffers;
	uint8_t *mem; /* of all rings and of the engine's arrays */
	size_t mem_bytes;
	struct crl_ring_mem aux; /* cookie, end and released arrays; no umem */
	struct mlx5dv_devx_uar *uar;
	enum crl_uar uar_kind;
	uint64_t *uar_reg; /* as the engine sees it */
	bool uar_moved; /* the engine rings at another address: a software NIC's, in GPU memory */
	bool uar_mapped;
	struct crl_cq_obj tx_cq, rx_cq;
	struct crl_wq_obj sq, rq;
	struct crl_region *rx_region;
	struct crl_shared *shared;
	struct crl_shared *shared_dev; /* as the engine sees it */
	bool shared_mapped;
	bool attached; /* a port maps it, and said: */
	uint16_t port, mtu;
	uint8_t mac[6];
	LIST_ENTRY(crl_queue) link;
};

int crl_uar_get(struct crl_queue *q, struct crl_err *err);
void crl_uar_put(struct crl_queue *q);
const char *crl_uar_kind_str(enum crl_uar kind);
/* What a part has made when it fails is there still: its destroy function takes it away. */
int crl_cq_create(
	struct crl_queue *q, struct crl_cq_obj *cq, const char *step, struct crl_err *err);
int crl_cq_destroy(struct crl_queue *q, struct crl_cq_obj *cq, struct crl_err *err);
int crl_sq_create(struct crl_queue *q, struct crl_err *err);
int crl_rq_create(struct crl_queue *q, struct crl_err *err);
/* The receive side as an engine sees it, whether or not the NIC knows of it yet. export.c */
void crl_rq_export(const struct crl_queue *q, struct crl_rq *rq);
int crl_wq_destroy(
	struct crl_queue *q, struct crl_wq_obj *wq, const char *step, struct crl_err *err);
int crl_ring_reg(struct crl_queue *q, struct crl_ring_mem *ring, struct crl_err *err);
/* Whether queues of this context send several frames in one WQE. */
bool crl_takes_empw(const struct crl_ctx *ctx);
/* Checks cfg, fills defaults in. queue_cfg.c */
int crl_queue_cfg_check(const struct crl_ctx *ctx, const struct crl_queue_cfg *cfg,
	struct crl_queue_cfg *full, struct crl_err *err);
/* 0 and *log2, or -EINVAL with the nearest powers of two in err. */
int crl_depth_check(const char *what, uint32_t depth, uint8_t *log2, struct crl_err *err);

/* ---- event.c ---- */

int crl_events_open(struct crl_ctx *ctx, struct crl_err *err);
void crl_events_close(struct crl_ctx *ctx);
int crl_events_subscribe(struct crl_queue *q, struct crl_err *err);

#endif /* CRL_MLX5_INTERNAL_H */
