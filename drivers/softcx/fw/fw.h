/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the firmware of the software ConnectX. A command travels cmd.c (table, lengths,
 * reserved bits) -> cmd_*.c (what the command means) -> object.c (tables, owners, references) ->
 * chan.c (the data path is told, and has acknowledged when the call returns). nic.c makes and ends
 * all of it.
 *
 * Threads: whatever is declared here runs under nic->lock, except what chan.c says of itself.
 */
#ifndef SCX_FW_H
#define SCX_FW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../mlx5/prm.h"
#include "../dp/dp.h"
#include "../dp/refuse.h"
#include "../log.h"
#include "../softcx.h"
#include "../wire.h"
#include "layout.h"
#include "refuse.h"

#define SCX_UID_MAX                                                                                \
	1024u /* contexts at a time; uid 0 is the kernel's, which may use any object               \
	       */
#define SCX_UID_SHARED 0xffffu /* objects that the kernel made for all: event queues */
#define SCX_HOLDS_MAX  6u      /* objects that one refers to, an RQT's list not counted */
#define SCX_EQN	       1u
#define SCX_PAGE       4096u /* the adapter's page: units of log_page_size */

/* Kinds, users before what they use: a context's leftovers are destroyed in this order. */
enum scx_fw_kind {
	SCX_FW_FLOW,
	SCX_FW_FTE, /* entries, groups and tables of flow steering: flow_table.c */
	SCX_FW_FG,
	SCX_FW_FT,
	SCX_FW_TIR,
	SCX_FW_RQT,
	SCX_FW_RQ,
	SCX_FW_SQ,
	SCX_FW_QP, /* and SRQs: cmd_qp.c */
	SCX_FW_SRQ,
	SCX_FW_TIS,
	SCX_FW_CQ,
	SCX_FW_EQ,
	SCX_FW_QCOUNTER,
	SCX_FW_MKEY,
	SCX_FW_UMEM,
	SCX_FW_UAR,
	SCX_FW_XRCD,
	SCX_FW_TD,
	SCX_FW_PD,
	SCX_FW_KINDS,
};

struct scx_fw_obj {
	enum scx_fw_kind kind;
	uint32_t num;
	uint16_t uid;
	uint32_t refs;				/* objects that refer to this one */
	struct scx_fw_obj *hold[SCX_HOLDS_MAX]; /* that this one refers to */
	uint32_t nr_hold;
	struct scx_fw_obj **list; /* RQT: the same for its queues; owned */
	uint32_t nr_list;
	uint8_t *base; /* umem */
	uint64_t bytes;
	uint64_t at; /* umem: base as its owner has it, and whether that is a GPU */
	uint8_t device;
	void *map; /* pages of the guest's that were mapped for it */
	uint64_t map_bytes;
	void *own; /* of its kind's own file: freed with it */
	uint32_t access;
	CRL_ALIGNAS(8)
	uint8_t ctx[CRL_PRM_SQC_BYTES]; /* as the create command gave it, for queries */
};

struct scx_fw_table {
	struct scx_fw_obj **slot;
	uint32_t max, first, base; /* slots first..max-1 are used; number = base + slot */
	uint32_t next; /* where the search for a free slot starts: numbers are reused late */
	uint32_t used;
};

struct scx_fw_profile;
struct scx_fw_remote;
struct scx_fw_thread;
struct scx_fw_hca; /* hca.h: what there is only with a guest */

/* The way to the data path, chan.c. */
struct scx_fw_chan {
	atomic_int state; /* enum in chan.c */
	struct scx_dp_cmd cmd;
	struct scx_dp_stats stats;
	int rc;
	bool stuck; /* the stepping thread did not answer in time: nothing is asked of it any more
		     */
};

struct scx_nic {
	pthread_mutex_t lock;	   /* the control side */
	pthread_mutex_t step_lock; /* the data path, when no thread of scx_nic_start() steps it */
	struct scx_nic_cfg cfg;
	char name[32];
	const struct scx_fw_profile *profile;
	struct scx_fw_table table[SCX_FW_KINDS];
	uint8_t uid_used[SCX_UID_MAX];
	uint16_t uid_next;
	uint8_t mkey_variant;
	atomic_bool link_up;
	void *late; /* memory of dp's, for a fault plan that delays DMA */
	struct scx_dp *dp;	      /* NULL: it steps elsewhere, */
	struct scx_fw_remote *remote; /* and this is the way to it, remote.c */
	struct scx_fw_chan chan;
	struct scx_fw_thread *thread;		     /* NULL: scx_nic_poll() or a command steps */
	_Atomic uint64_t refused[SCX_FW_R_COUNT];    /* times */
	_Atomic uint64_t dp_refused[SCX_DP_R_COUNT]; /* the same of the data path's */
	uint64_t clock_khz;
	struct scx_fw_hca *hca; /* NULL: no guest */
};

/* A command on its way. */
struct scx_fw_call {
	struct scx_nic *nic;
	uint16_t uid;
	const char *name; /* of the command or function, for the log */
	const uint8_t *in;
	size_t in_bytes;
	uint8_t *out;
	size_t out_bytes;
	struct scx_obj made; /* by a create command */
	uint32_t status, syndrome;
};

/* refuse.c: every refusal goes through here. Count it, log the first of a kind, set status;
 * -EREMOTEIO. */
int scx_fw_refuse(struct scx_fw_call *c, enum scx_fw_refusal why, const void *bytes,
	size_t nr_bytes, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
uint64_t scx_fw_refused(enum scx_fw_refusal why); /* times, all NICs of the process together */
const char *scx_fw_refusal_name(enum scx_fw_refusal why);
void scx_fw_dp_refused(struct scx_nic *nic, const struct scx_dp_report *r);
void scx_fw_refusal_report(struct scx_nic *nic);

/* dump.c: what cfg.log_dump asks to be told. d: NULL, by address. */
void scx_fw_log_umem(
	struct scx_nic *nic, const struct scx_fw_obj *umem, const struct scx_dmabuf *d);
void scx_fw_dumped(struct scx_nic *nic, const struct scx_dp_report *r);

/* object.c */
int scx_fw_tables_init(struct scx_nic *nic);
void scx_fw_tables_fini(struct scx_nic *nic);
const char *scx_fw_kind_name(enum scx_fw_kind kind);
/* A new object of the call's uid, or NULL: refused. scx_fw_free() drops what it holds as well. */
struct scx_fw_obj *scx_fw_new(struct scx_fw_call *c, enum scx_fw_kind kind);
void scx_fw_free(struct scx_nic *nic, struct scx_fw_obj *obj);
/* The object of that number, if it is the caller's; NULL: refused. */
struct scx_fw_obj *scx_fw_get(struct scx_fw_call *c, enum scx_fw_kind kind, uint32_t num);
void scx_fw_hold(struct scx_fw_obj *user, struct scx_fw_obj *used);
struct scx_fw_obj *scx_fw_get_hold(
	struct scx_fw_call *c, struct scx_fw_obj *user, enum scx_fw_kind kind, uint32_t num);
/* Replace hold[at]; used may be NULL only if at is the last one. */
void scx_fw_rehold(struct scx_fw_obj *user, uint32_t at, struct scx_fw_obj *used);
void scx_fw_list_set(struct scx_fw_obj *rqt, struct scx_fw_obj **list, uint32_t nr);
/* Tell the data path and free the object; refused while something refers to it. */
int scx_fw_destroy(struct scx_fw_call *c, struct scx_fw_obj *obj);
/* The same for the object whose number is in that field of the command. */
int scx_fw_destroy_num(struct scx_fw_call *c, enum scx_fw_kind kind, uint32_t field);
/* 0, or refused: the data path has no room or does not know the object. */
int scx_fw_tell(struct scx_fw_call *c, struct scx_dp_cmd *cmd);

/* chan.c */
int scx_fw_dp(
	struct scx_nic *nic, struct scx_dp_cmd *cmd); /* carried out when it returns; 0 or -errno */
int scx_fw_stats(struct scx_nic *nic, struct scx_dp_stats *stats);
/* One turn of whoever steps: a command if there is one, a step, the reports. Work done, 0 = idle.
 */
unsigned scx_fw_turn(struct scx_nic *nic, uint64_t now_ns);
uint64_t scx_fw_now_ns(void);

/* nic.c: an event for whoever takes it, front or event queue. */
void scx_fw_event(struct scx_nic *nic, const struct scx_event *ev);
int scx_fw_uid_alloc(struct scx_nic *nic, uint16_t *uid); /* 0 or -ENOSPC */
bool scx_fw_uid_known(const struct scx_nic *nic, uint32_t uid);
int scx_fw_port_set(struct scx_nic *nic); /* the data path learns of MTU and link; 0 or -errno */

/* cmd.c */
bool scx_fw_fields_zero(struct scx_fw_call *c, enum scx_layout_id id, const void *layout,
	const uint32_t *fields, size_t nr);		 /* false: refused as NOT_OFFERED */
enum scx_fw_kind scx_fw_kind_of(uint16_t create_opcode); /* SCX_FW_KINDS: no create command */

/* The commands: c->in has been checked against its layout; 0 or refused. */
typedef int (*scx_fw_command)(struct scx_fw_call *c);
int scx_cmd_query_hca_cap(struct scx_fw_call *c);
int scx_cmd_alloc_pd(struct scx_fw_call *c), scx_cmd_dealloc_pd(struct scx_fw_call *c);
int scx_cmd_alloc_uar(struct scx_fw_call *c), scx_cmd_dealloc_uar(struct scx_fw_call *c);
int scx_cmd_alloc_td(struct scx_fw_call *c), scx_cmd_dealloc_td(struct scx_fw_call *c);
int scx_cmd_alloc_q_counter(struct scx_fw_call *c), scx_cmd_query_q_counter(struct scx_fw_call *c);
int scx_cmd_dealloc_q_counter(struct scx_fw_call *c);
int scx_cmd_query_vport_state(struct scx_fw_call *c),
	scx_cmd_query_nic_vport(struct scx_fw_call *c);
int scx_cmd_create_cq(struct scx_fw_call *c), scx_cmd_query_cq(struct scx_fw_call *c);
int scx_cmd_destroy_cq(struct scx_fw_call *c);
int scx_cmd_create_sq(struct scx_fw_call *c), scx_cmd_modify_sq(struct scx_fw_call *c);
int scx_cmd_query_sq(struct scx_fw_call *c), scx_cmd_destroy_sq(struct scx_fw_call *c);
int scx_cmd_create_rq(struct scx_fw_call *c), scx_cmd_modify_rq(struct scx_fw_call *c);
int scx_cmd_query_rq(struct scx_fw_call *c), scx_cmd_destroy_rq(struct scx_fw_call *c);
int scx_cmd_create_tis(struct scx_fw_call *c), scx_cmd_query_tis(struct scx_fw_call *c);
int scx_cmd_destroy_tis(struct scx_fw_call *c);
int scx_cmd_create_rqt(struct scx_fw_call *c), scx_cmd_modify_rqt(struct scx_fw_call *c);
int scx_cmd_query_rqt(struct scx_fw_call *c), scx_cmd_destroy_rqt(struct scx_fw_call *c);
int scx_cmd_create_tir(struct scx_fw_call *c), scx_cmd_modify_tir(struct scx_fw_call *c);
int scx_cmd_query_tir(struct scx_fw_call *c), scx_cmd_destroy_tir(struct scx_fw_call *c);
/* With a guest only: */
int scx_cmd_enable_hca(struct scx_fw_call *c), scx_cmd_disable_hca(struct scx_fw_call *c);
int scx_cmd_query_issi(struct scx_fw_call *c), scx_cmd_set_issi(struct scx_fw_call *c);
int scx_cmd_query_pages(struct scx_fw_call *c), scx_cmd_manage_pages(struct scx_fw_call *c);
int scx_cmd_set_hca_cap(struct scx_fw_call *c), scx_cmd_init_hca(struct scx_fw_call *c);
int scx_cmd_teardown_hca(struct scx_fw_call *c), scx_cmd_query_adapter(struct scx_fw_call *c);
int scx_cmd_set_driver_version(struct scx_fw_call *c), scx_cmd_access_reg(struct scx_fw_call *c);
int scx_cmd_modify_nic_vport(struct scx_fw_call *c);
int scx_cmd_query_vport_counter(struct scx_fw_call *c);
int scx_cmd_create_eq(struct scx_fw_call *c), scx_cmd_query_eq(struct scx_fw_call *c);
int scx_cmd_destroy_eq(struct scx_fw_call *c);
int scx_cmd_create_mkey(struct scx_fw_call *c), scx_cmd_destroy_mkey(struct scx_fw_call *c);
int scx_cmd_query_special_contexts(struct scx_fw_call *c);
int scx_cmd_create_uctx(struct scx_fw_call *c), scx_cmd_destroy_uctx(struct scx_fw_call *c);
int scx_cmd_create_umem(struct scx_fw_call *c), scx_cmd_destroy_umem(struct scx_fw_call *c);
int scx_cmd_query_pkey(struct scx_fw_call *c);
int scx_cmd_alloc_xrcd(struct scx_fw_call *c), scx_cmd_dealloc_xrcd(struct scx_fw_call *c);
int scx_cmd_create_xrc_srq(struct scx_fw_call *c), scx_cmd_destroy_xrc_srq(struct scx_fw_call *c);
int scx_cmd_create_rmp(struct scx_fw_call *c), scx_cmd_destroy_rmp(struct scx_fw_call *c);
int scx_cmd_create_qp(struct scx_fw_call *c), scx_cmd_destroy_qp(struct scx_fw_call *c);
int scx_cmd_modify_qp(struct scx_fw_call *c), scx_cmd_query_qp(struct scx_fw_call *c);
int scx_cmd_create_ft(struct scx_fw_call *c), scx_cmd_modify_ft(struct scx_fw_call *c);
int scx_cmd_destroy_ft(struct scx_fw_call *c), scx_cmd_set_ft_root(struct scx_fw_call *c);
int scx_cmd_create_fg(struct scx_fw_call *c), scx_cmd_destroy_fg(struct scx_fw_call *c);
int scx_cmd_set_fte(struct scx_fw_call *c), scx_cmd_delete_fte(struct scx_fw_call *c);

/* caps.c: what a profile offers, and the bounds that the commands check against. */
struct scx_fw_profile {
	const char *name;
	uint8_t inline_cap; /* eth_caps.wqe_inline_mode */
	uint8_t inline_min; /* what the vport asks for, CRL_INLINE_* */
	uint8_t ts_cap;	    /* CRL_TS_CAP_* of SQs and RQs */
	uint32_t khz;	    /* of the device clock */
};
const struct scx_fw_profile *scx_fw_profile(const char *name); /* NULL: no such profile */
bool scx_fw_ts_ok(const struct scx_nic *nic, uint32_t ts_format);

#define SCX_LOG_CQ_SZ_MAX     22u
#define SCX_LOG_WQ_SZ_MAX     CRL_LOG_DEPTH_MAX
#define SCX_LOG_RQ_STRIDE_MIN 4u
#define SCX_LOG_RQ_STRIDE_MAX 9u
#define SCX_LOG_SQ_STRIDE     6u

#endif /* SCX_FW_H */
