/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * softcx, the software ConnectX: the model library as its fronts see it. A front (the uverbs
 * interposer, unit tests, later a vfio-user PCI device) plays the part of the kernel or the bus: it
 * hands over commands, memory registrations and UAR pages, and gets numbers and events back.
 *
 * Threads: all scx_* functions of one NIC may be called from any thread; the control side is
 * serialized by one mutex inside. The data path runs in one thread that scx_nic_start() makes, or
 * wherever a test calls scx_nic_poll(). A call that destroys an object returns only after the data
 * path has let go of it, because the caller frees the memory next.
 *
 * Returns: 0 or -errno. A command the firmware refuses is not an errno: scx_cmd() returns 0 and the
 * output mailbox carries status and syndrome, as from a ConnectX; the kernel front turns that into
 * EREMOTEIO, which is what mlx5_ib does.
 */
#ifndef SCX_SOFTCX_H
#define SCX_SOFTCX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scx_copy;
struct scx_nic;
struct scx_step;
struct scx_wire;
struct scx_fault_plan;
struct scx_extents; /* dp/dp.h */

/* PRM event types and subtypes that this NIC makes. */
enum {
	SCX_EVENT_COMPLETION = 0x00,	 /* obj: CQ number */
	SCX_EVENT_CQ_ERROR = 0x04,	 /* obj: CQ number */
	SCX_EVENT_WQ_CATAS_ERROR = 0x05, /* obj: queue number, subtype: SCX_EVENT_QUEUE_* */
	SCX_EVENT_COMMAND = 0x0a,	 /* obj: bit mask of command queue slots */
	SCX_EVENT_PAGE_REQUEST = 0x0b,	 /* obj: pages wanted; negative: given back */
	SCX_EVENT_PORT_CHANGE = 0x09,	 /* obj: port, 1; subtype: SCX_EVENT_PORT_* */

	SCX_EVENT_QUEUE_RQ = 1,
	SCX_EVENT_QUEUE_SQ = 2,
	SCX_EVENT_PORT_DOWN = 1,
	SCX_EVENT_PORT_ACTIVE = 4,
};

/* Async events, handed to the front in the thread that caused them; must not call back. */
struct scx_event {
	uint8_t type; /* SCX_EVENT_* */
	uint8_t subtype;
	uint32_t obj; /* CQ, SQ or RQ number, or port */
};

/*
 * A list of pages of 1 << log_page bytes. Only part of it is wanted: a driver's page may be larger
 * than the memory that it made the device's.
 */
struct scx_pages {
	const uint64_t *page; /* bus addresses */
	uint32_t nr, log_page;
	uint64_t from;	      /* bytes of the first page that are passed over */
	uint64_t least, most; /* bytes from there on */
};

/*
 * What a front that is a PCI device brings along: memory that a driver names by its address on the
 * bus, and interrupts. The functions are called in the thread that steps or commands. The data path
 * wants rings as contiguous bytes, so that a list of pages is mapped rather than walked.
 */
struct scx_guest {
	void *arg;
	/* The bytes at a bus address; NULL: not all of them are the driver's memory. */
	void *(*at)(void *arg, uint64_t addr, uint64_t bytes);
	/*
	 * Pages one after the other: the address of byte `from` of them and in *bytes how many
	 * there are; NULL: they are not the driver's, or no room. unmap() takes both as they were.
	 */
	void *(*map)(void *arg, const struct scx_pages *want, uint64_t *bytes);
	void (*unmap)(void *arg, void *base, uint64_t bytes);
	/*
	 * All of the bus: the bytes at address a are at the result plus a, up to *bytes of them. It
	 * has holes, which `holes` knows of.
	 */
	void *(*all)(void *arg, uint64_t *bytes, const struct scx_extents **holes);
	void (*irq)(void *arg, uint32_t vector); /* MSI-X */
	uint32_t nr_irqs;
	uint32_t uar_first; /* number of the first UAR page that a driver can be given */
};

struct scx_nic_cfg {
	const char *profile; /* capability profile: cx5, cx6dx, cx7, bf3; NULL: cx6dx */
	const char *name;    /* for the log: mlx5_0 */
	uint64_t seed;	     /* of everything that is random here; printed at start */
	uint8_t mac[6];	     /* of the port */
	uint32_t mtu;	     /* of the port's wire, bytes of Ethernet payload */
	const struct scx_fault_plan *faults; /* fault.h; NULL: none; copied */
	void (*event)(void *arg, const struct scx_event *ev);
	void *event_arg;
	struct scx_wire *wire; /* wire.h; closed by scx_nic_destroy(); NULL: loopback */
	void *uar_base;	       /* memory of the UAR pages: page i at uar_base + i * 4096 */
	uint32_t nr_uar_pages;
	struct scx_step *step; /* step.h: who steps the data path, the NIC's; NULL: its thread */
	const struct scx_guest *guest; /* NULL: the kernel's part is played by the front */
	const struct scx_copy *copy; /* dp/dp.h, for umems and regions out of the step's reach */
	/* A guest's general page says RoCE, and it can be turned on; its page offers nothing. */
	bool roce;
	/* Not 0: umems and what lies in them go to the log, and so many of the first entries of
	 * each ring, as the data path finds or leaves them. */
	uint32_t log_dump;
};

/* -EINVAL: profile, UAR memory or MTU; -EOPNOTSUPP: two of faults, a copy engine and a step of its
 * own. Wire and step stay the caller's then. */
int scx_nic_create(const struct scx_nic_cfg *cfg, struct scx_nic **nic);
void scx_nic_destroy(struct scx_nic *nic);
/* The NIC's wire becomes the caller's, before scx_nic_destroy(); no step may follow. */
struct scx_wire *scx_nic_take_wire(struct scx_nic *nic);

/* A user context (one open of the device): every object belongs to the uid that made it. */
int scx_uid_alloc(struct scx_nic *nic, uint16_t *uid);
void scx_uid_destroy(struct scx_nic *nic, uint16_t uid); /* and all that it still owns, in order */

/*
 * One PRM command. in and out are the mailboxes, both of the length given; out is filled with
 * status, syndrome and results. If obj is not NULL it gets the number and kind of an object that
 * the command created.
 */
struct scx_obj {
	uint16_t opcode; /* of the command that made it: identifies the kind */
	uint32_t num;
};
int scx_cmd(struct scx_nic *nic, uint16_t uid, const void *in, size_t in_bytes, void *out,
	size_t out_bytes, struct scx_obj *obj);
/* Destroy what a create command made: -EBUSY while something refers to it, as firmware answers. */
int scx_obj_destroy(struct scx_nic *nic, uint16_t uid, const struct scx_obj *obj);

/* What the kernel does for a user without a PRM command of the user's: */
int scx_pd_alloc(struct scx_nic *nic, uint16_t uid, uint32_t *pdn);
int scx_pd_free(struct scx_nic *nic, uint16_t uid, uint32_t pdn);
int scx_umem_reg(struct scx_nic *nic, uint16_t uid, void *addr, uint64_t bytes, uint32_t access,
	uint32_t *umem_id);
/* The same for memory that was named by a dma-buf. */
struct scx_dmabuf {
	void *addr; /* of the first byte, for the data path */
	uint64_t bytes;
	uint64_t at;	 /* what its owner calls that byte, for the log; as are the rest */
	uint64_t offset; /* in the dma-buf */
	int fd;
	int device; /* 1: memory of a GPU */
};
int scx_umem_reg_dmabuf(struct scx_nic *nic, uint16_t uid, const struct scx_dmabuf *d,
	uint32_t access, uint32_t *umem_id);
int scx_umem_dereg(struct scx_nic *nic, uint16_t uid, uint32_t umem_id);
/* start: where the bytes are in this process; iova: what WQEs will say; access: IBV_ACCESS_* */
int scx_mr_reg(struct scx_nic *nic, uint16_t uid, uint32_t pdn, void *start, uint64_t bytes,
	uint64_t iova, uint32_t access, uint32_t *lkey, uint32_t *rkey);
int scx_mr_dereg(struct scx_nic *nic, uint16_t uid, uint32_t lkey);
int scx_uar_alloc(struct scx_nic *nic, uint16_t uid, uint32_t *page);
int scx_uar_free(struct scx_nic *nic, uint16_t uid, uint32_t page);
uint32_t scx_eqn(struct scx_nic *nic);

/*
 * NIC receive steering, one table per port: rules in priority order (smaller first), the first that
 * matches wins; equal priority: the newer one, as long as nothing better is known. match and mask
 * are fte_match_param of
 * the PRM (outer headers, 64 bytes, then misc); a mask bit this NIC does not match on is refused.
 */
enum scx_flow_dest { SCX_FLOW_TIR, SCX_FLOW_DROP, SCX_FLOW_DEFAULT_MISS };
int scx_flow_add(struct scx_nic *nic, uint16_t uid, uint32_t priority, const void *mask,
	const void *match, size_t match_bytes, enum scx_flow_dest dest, uint32_t tirn,
	uint32_t flow_tag, uint32_t *flow_id);
int scx_flow_del(struct scx_nic *nic, uint16_t uid, uint32_t flow_id);

/*
 * With a guest only. Whether some event queue takes events of that type: a command's completion is
 * told by one, SCX_EVENT_COMMAND, if that was so when the command was taken.
 */
int scx_eq_takes(struct scx_nic *nic, uint8_t type);
void scx_eq_command_done(struct scx_nic *nic, uint32_t slots); /* bit mask */
/* The driver wrote an event queue's consumer index; arm: and wants the next interrupt. */
void scx_eq_doorbell(struct scx_nic *nic, uint32_t eqn, uint32_t ci, int arm);
/* The firmware wants pages, or (negative) would give some back: an event, if a queue takes it. */
void scx_page_request(struct scx_nic *nic, int32_t pages);
/*
 * Firmware that has failed: no command is to be handed to it and its counter stands still, until a
 * front makes a new NIC. The time in ns at which it stopped and its health syndrome; 0: it lives.
 */
void scx_nic_die(struct scx_nic *nic, uint8_t syndrome);
uint64_t scx_nic_dead_since(const struct scx_nic *nic, uint8_t *syndrome);
/* cmdif_checksum as SET_HCA_CAP left it: 0 none, 1 input, 3 input and output are signed. */
uint32_t scx_cmd_checksum(const struct scx_nic *nic);
/* UAR pages that event queues name, each once; how many. For a front that has to look at them. */
unsigned scx_eq_pages(struct scx_nic *nic, uint32_t *page, unsigned max);

/* Port state, as ethtool or the wire sees it. */
int scx_port_mtu(struct scx_nic *nic, uint32_t mtu); /* bytes of Ethernet payload; 0 or -errno */
void scx_port_link(struct scx_nic *nic, int up);     /* makes a port change event */

/* The data path: its own thread, or one bounded step at a time (returns what it did, 0 = idle). */
/* The name of that thread, as ps and debuggers show it. Faults of its own reach its handlers. */
#define SCX_STEP_THREAD "softcx"
/* One thread steps them all; -EBUSY: one of them has a thread, -EAGAIN: no thread to be had. */
int scx_nic_start(struct scx_nic **nics, unsigned nr);
/* Ends the threads that step them, for all NICs that were started together with one of these. */
void scx_nic_stop(struct scx_nic **nics, unsigned nr);
unsigned scx_nic_poll(struct scx_nic *nic);

/* End-of-run figures and the refusal count, to the log. */
void scx_nic_report(struct scx_nic *nic);
/* Objects of all kinds that live now. */
unsigned scx_nic_objects(struct scx_nic *nic);

#endif /* SCX_SOFTCX_H */
