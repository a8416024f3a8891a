/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the uverbs interposer: it plays the part of the kernel between libibverbs and the model
 * library (../softcx.h). A call travels interpose.c -> args.c (the kernel's generic checks) -> a
 * method in core.c, devx.c, mem.c, flow.c or event.c -> softcx.h.
 *
 * Threads: every ioctl of every device runs under scxf_lock, which the model may hold up for as
 * long as its data path takes to acknowledge. Events come in the data path's thread and take only
 * event.c's own lock, under which no scx_* function is called.
 */
#ifndef SCX_FRONT_H
#define SCX_FRONT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <rdma/rdma_user_ioctl_cmds.h>

#include "../log.h"
#include "../softcx.h"
#include "conf.h"

#define SCXF_UAR_PAGES 1024u /* of a device: its whole UAR space */
#define SCXF_UAR_BYTES 4096u
#define SCXF_FD_MIN    512 /* our own descriptors live above, out of the program's way */

struct scxf_ctx;

/* A device: one port of the software ConnectX. All of them come up at the first open of any. */
struct scxf_dev {
	char name[16]; /* mlx5_0 */
	unsigned index;
	const struct scx_conf_port *port;
	const struct scx_identity *identity;
	struct scx_nic *nic;
	uint8_t *uar_base; /* SCXF_UAR_PAGES pages; those in use are pages of a context's memfd */
	uint32_t mtu;
	bool link_up, netdev_gone;
	struct scx_wire *pcap; /* a wire that waits for a quiet program, or NULL */
	uint8_t *uar_gpu;      /* the same pages in GPU memory, of a step on a GPU; else NULL */
	uint32_t nr_receiving; /* flows that lead to a TIR */
};

/* What a handle stands for. */
enum scxf_kind {
	SCXF_FREE, /* slot of the table not in use */
	SCXF_PD,
	SCXF_MR,
	SCXF_UMEM,
	SCXF_UAR,
	SCXF_DEVX,
	SCXF_MATCHER,
	SCXF_FLOW,
};

struct scxf_matcher {
	uint32_t priority;
	uint8_t criteria;
	uint16_t mask_bytes;
	uint8_t mask[640]; /* fte_match_param, as much as was given */
	uint32_t nr_flows;
};

struct scxf_obj {
	enum scxf_kind kind;
	uint32_t num;	 /* pdn, lkey, umem id, UAR page or flow id */
	uint32_t users;	 /* handles that refer to this one: it cannot go before them */
	uint32_t parent; /* handle of the PD or matcher that it counts in, 0: none */
	bool receives;	 /* a flow that leads to a TIR */
	uint64_t pinned, pinned_bytes; /* host memory that the GPU was told of; 0: none */
	struct scx_obj devx;
	struct scxf_matcher *matcher;
};

/* One open of a device: known by the inode of its memfd, whose pages are the UAR pages. */
struct scxf_ctx {
	struct scxf_dev *dev;
	struct scxf_ctx *next;
	dev_t st_dev;
	ino_t st_ino;
	int memfd;  /* our own open of it: what the program has is another, whose end is noticed */
	int wd;	    /* by this number */
	bool alive; /* GET_CONTEXT went well */
	bool devx;  /* and asked for DevX */
	uint16_t uid;
	struct scxf_obj *obj; /* index: handle; slot 0 stays free, so that no handle is 0 */
	uint32_t nr_obj;
};

extern pthread_mutex_t scxf_lock;

/* fstat without the hook, which takes scxf_lock. */
static inline int
scxf_fstat(int fd, struct stat *st)
{
	return fstatat(fd, "", st, AT_EMPTY_PATH);
}

/* device.c */
int scxf_dev_path(const char *path);	  /* index of the device with that path, -1: none of ours */
int scxf_open(unsigned index, int flags); /* descriptor, or -errno */
void scxf_mtu_changed(const char *netdev, uint32_t mtu); /* takes scxf_lock itself */
unsigned softcx_objects(void);
bool scxf_forked(void); /* this process is a child of the one that opened the device */

int scxf_move_high(int fd); /* the same open file, numbered from SCXF_FD_MIN on */
void scxf_look_at_all(void); /* at every port's netdev; under scxf_lock */
void scxf_changed(struct scxf_dev *dev); /* the program made, changed or destroyed something */

/* gpu.c: 0 and cfg's step or copy, neither for a plain thread of this processor; -errno and words.
 */
int scxf_step_make(struct scxf_dev *dev, const struct scx_conf *conf, uint64_t seed,
	struct scx_nic_cfg *cfg, char *err, size_t bytes);
bool scxf_step_on_gpu(void);
bool scxf_needs_gpu(void);	       /* for stepping, or for copies */
bool scxf_gpu_holds(const void *addr); /* it is memory that this processor does not reach */
/* With a copy engine: the copy of a dma-buf's memory, NULL: none to be had. Else addr itself. */
void *scxf_far_add(void *addr, size_t bytes);
void scxf_far_del(void *here);
void scxf_far_end(void); /* all of them, after the NICs */
/* Host memory that the step must reach; of no effect unless it runs on a GPU. */
int scxf_gpu_pin(uint64_t addr, uint64_t bytes, char *err, size_t err_bytes);
void scxf_gpu_unpin(uint64_t addr, uint64_t bytes);

/* context.c */
extern _Atomic unsigned scxf_nr_ctx;		   /* read without the lock: is there any? */
int scxf_ctx_new(struct scxf_dev *dev, int flags); /* descriptor, or -errno */
void scxf_ctx_reap(void);			   /* of those that the program has let go of */
struct scxf_ctx *scxf_ctx_of(dev_t st_dev, ino_t st_ino);
struct scxf_ctx *scxf_ctx_of_ino(ino_t st_ino); /* memfds are of one file system */
int scxf_uar_map(struct scxf_ctx *ctx, uint32_t page);
void scxf_uar_unmap(struct scxf_ctx *ctx, uint32_t page);

/* watch.c. netns: where netdevs stayed outside, or NULL. 0 or -errno. */
int scxf_watch_start(const char *netns);
void scxf_watch_stop(void);
void scxf_watch_look(struct scxf_dev *dev); /* under scxf_lock */
int scxf_watch_close(int fd);		    /* a number for scxf_watch_forget(), or -1 */
void scxf_watch_forget(int wd);

/* crash.c */
void scxf_crash_words(void);

/* handle.c */
int scxf_obj_new(struct scxf_ctx *ctx, enum scxf_kind kind, uint32_t *handle); /* 0 or -ENOMEM */
struct scxf_obj *scxf_obj_get(struct scxf_ctx *ctx, enum scxf_kind kind, uint64_t handle, int *rc);
void scxf_obj_put(struct scxf_ctx *ctx, uint32_t handle);
void scxf_obj_put_all(struct scxf_ctx *ctx);

/* What an attribute of a method may look like; the kernel's generic rules in args.c. */
enum scxf_attr_type {
	SCXF_IN,
	SCXF_OUT,
	SCXF_HANDLE,
	SCXF_NEW,
	SCXF_FD_IN,
	SCXF_FD_NEW,
	SCXF_ENUM
};
struct scxf_attr_spec {
	uint16_t id;
	uint8_t type; /* enum scxf_attr_type */
	uint8_t mandatory;
	uint16_t min, max; /* bytes; IN, OUT */
	uint8_t kind;	   /* HANDLE: enum scxf_kind; ENUM: number of elements */
};

#define SCXF_ATTRS_MAX 12

struct scxf_call;
struct scxf_method {
	uint16_t object, method;
	const char *name;
	int (*run)(struct scxf_call *call);	    /* 0 or -errno */
	struct scxf_attr_spec attr[SCXF_ATTRS_MAX]; /* ends with an all-zero entry or the array */
};

struct scxf_call {
	struct scxf_ctx *ctx;
	int fd; /* the device's, as the caller gave it */
	const struct scxf_method *method;
	struct ib_uverbs_attr
		*attr[SCXF_ATTRS_MAX];	      /* index: as in method->attr; NULL: not given */
	struct scxf_obj *obj[SCXF_ATTRS_MAX]; /* HANDLE: looked up */
};

/* args.c */
int scxf_ioctl(struct scxf_ctx *ctx, int fd, struct ib_uverbs_ioctl_hdr *hdr); /* 0 or -errno */
struct ib_uverbs_attr *scxf_attr(struct scxf_call *c, uint16_t id);	       /* NULL: not given */
struct scxf_obj *scxf_attr_obj(struct scxf_call *c, uint16_t id);
const void *scxf_in(struct scxf_call *c, uint16_t id, size_t *bytes);
uint64_t scxf_in_u64(struct scxf_call *c, uint16_t id, uint64_t if_absent);
void scxf_out(struct scxf_call *c, uint16_t id, const void *data, size_t bytes);
void *scxf_out_buf(
	struct scxf_call *c, uint16_t id, size_t *bytes); /* to be filled in place, all of it */
/* -errno with a line in the log: what the driver did wrong. */
int scxf_refuse(struct scxf_call *c, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The method tables, each ends with name NULL. */
extern const struct scxf_method scxf_core_methods[], scxf_devx_methods[], scxf_mem_methods[],
	scxf_flow_methods[], scxf_event_methods[];

/* event.c */
void scxf_event(void *dev, const struct scx_event *ev); /* in the data path's thread */
void scxf_event_forget_obj(struct scxf_ctx *ctx, uint32_t handle);
void scxf_event_forget_ctx(struct scxf_ctx *ctx);

/* flow.c */
void scxf_matcher_free(struct scxf_obj *obj);

#endif /* SCX_FRONT_H */
