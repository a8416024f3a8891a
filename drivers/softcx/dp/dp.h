/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path of the software ConnectX: doorbell -> fetch -> send -> wire -> steer -> receive ->
 * complete. Freestanding: no allocation, no lock, no system call, no libc beyond memcpy and memset;
 * the C and CUDA C++ overlap, because the same step also runs as a CUDA kernel beside the engine.
 *
 * It has tables of its own (contexts, keys, rules) and learns of every change by a command, which
 * it carries out between two steps and acknowledges: the control side (fw/) never touches a table,
 * and a destroy command's acknowledgement means that no further access to that object's memory
 * happens. On a CPU the tables are ordinary memory; for a NIC step on a GPU the same struct lies in
 * GPU memory.
 */
#ifndef SCX_DP_H
#define SCX_DP_H

#include "../../../config/limits.h"
#include "../../../gpu_queues/port.h"
#include "../../../gpu_queues/wire/be.h"

/*
 * Memory of the driver's: bytes at base. A front with guest memory maps the pages of a ring one
 * after the other, so that all of it is contiguous here; there is no other form.
 */
struct scx_buf {
	uint8_t *base;
	uint64_t bytes;
	/* For reports only: SCX_DP_DUMPED. */
	uint64_t at;	/* base as the driver's own processor has it */
	uint32_t dump;	/* the first so many entries are reported as they lie there */
	uint8_t device; /* 1: memory of a GPU */
};

struct scx_dp_cq {
	uint32_t cqn;
	struct scx_buf ring;
	uint32_t *dbrec; /* words 0 and 1, doorbell.h */
	uint32_t log_depth;
	uint32_t uar_page;
	uint8_t collapsed;	/* cc: one CQE slot, rewritten */
	uint8_t overrun_ignore; /* oi: the consumer index is not looked at */
};

struct scx_dp_sq {
	uint32_t sqn, cqn, uar_page, pdn, user_index;
	struct scx_buf ring;
	uint32_t *dbrec;
	uint32_t log_depth; /* of 64-byte WQEBBs */
	uint8_t flush_in_error;
	uint8_t allow_mpw; /* allow_multi_pkt_send_wqe */
	uint8_t allow_tso; /* max_lso_cap was offered to whoever made the queue */
	uint8_t min_inline_mode;
	uint8_t state; /* PRM: 0 RST, 1 RDY, 3 ERR */
};

struct scx_dp_rq {
	uint32_t rqn, cqn, pdn, user_index, counter_set;
	struct scx_buf ring;
	uint32_t *dbrec;
	uint32_t log_depth, log_stride; /* stride bytes = 1 << log_stride, a data segment is 16 */
	uint8_t vlan_strip;		/* !vsd */
	uint8_t scatter_fcs;
	uint8_t start_padding; /* bit 31 of a byte count is leave to pad at the front: never used */
	uint8_t flush_in_error;
	uint8_t state;
};

/*
 * What of a region is really there, for a key to all of a guest's memory: ranges of addresses in
 * ascending order. It stays its owner's, who changes it between two steps only.
 */
#define SCX_EXTENTS_MAX 64u
struct scx_extents {
	uint32_t nr;
	struct {
		uint64_t from, bytes;
	} e[SCX_EXTENTS_MAX];
};

struct scx_dp_mkey {
	uint32_t key; /* index << 8 | variant */
	uint32_t pdn;
	uint64_t iova, bytes;
	uint8_t *base;
	const struct scx_extents *extents; /* NULL: all of it is there */
	uint8_t local_write;
};

/* rx_hash_field_select bits, PRM: TIR context */
struct scx_dp_tir {
	uint32_t tirn;
	uint8_t use_rqt;
	uint32_t rqn, rqtn; /* direct, or through a table */
	uint8_t hash_fn;    /* 0 none, 1 inverted XOR8, 2 Toeplitz */
	uint8_t symmetric;
	uint8_t toeplitz_key[40];
	uint32_t l3_type, l4_type, fields; /* of rx_hash_field_selector_outer */
};

struct scx_dp_rqt {
	uint32_t rqtn, len;
	uint32_t rqn[SCX_DP_RQT_LEN];
};

/*
 * A rule: 64 bytes of fte_match_set_lyr_2_4, outer headers, compared under a mask. The smallest
 * priority wins, and of equal ones the rule added last.
 */
#define SCX_MATCH_BYTES 64u
struct scx_dp_rule {
	uint32_t id, priority, tirn, flow_tag;
	uint8_t dest; /* enum scx_flow_dest */
	CRL_ALIGNAS(8) uint8_t mask[SCX_MATCH_BYTES];
	CRL_ALIGNAS(8) uint8_t match[SCX_MATCH_BYTES];
};

enum scx_dp_op {
	/* SET makes; of a TIR or RQT that is there it replaces (MODIFY_TIR, MODIFY_RQT) */
	SCX_DP_CQ_SET,
	SCX_DP_CQ_DEL,
	SCX_DP_SQ_SET,
	SCX_DP_SQ_STATE,
	SCX_DP_SQ_DEL,
	SCX_DP_RQ_SET,
	SCX_DP_RQ_STATE,
	SCX_DP_RQ_DEL,
	SCX_DP_MKEY_SET,
	SCX_DP_MKEY_DEL,
	SCX_DP_TIR_SET,
	SCX_DP_TIR_DEL,
	SCX_DP_RQT_SET,
	SCX_DP_RQT_DEL,
	SCX_DP_RULE_ADD,
	SCX_DP_RULE_DEL,
	SCX_DP_COUNTER_READ,
	SCX_DP_QUERY_SQ,
	SCX_DP_QUERY_RQ,
	SCX_DP_PORT_SET,
	SCX_DP_QUERY_CQ,      /* result: 1 when it has failed, producer index, consumer index */
	SCX_DP_RQ_VLAN_STRIP, /* arg: 1 strips */
};

struct scx_dp_cmd {
	enum scx_dp_op op;
	uint32_t num;	    /* of the object, for DEL, STATE, READ, QUERY */
	uint32_t arg;	    /* STATE: the new state; READ: 1 clears; PORT_SET: mtu, 0: link down */
	uint64_t result[4]; /* READ: out-of-buffer count of counter set num; QUERY: state, pi, ci */
	union {
		struct scx_dp_cq cq;
		struct scx_dp_sq sq;
		struct scx_dp_rq rq;
		struct scx_dp_mkey mkey;
		struct scx_dp_tir tir;
		struct scx_dp_rqt rqt;
		struct scx_dp_rule rule;
	} u;
};

struct scx_dp;

/*
 * Bytes that a struct scx_dp needs, at an address that is a multiple of 64, and its start state: no
 * objects, link up, MTU 1500. uar: page i at uar + i * 4096.
 */
size_t scx_dp_bytes(void);
void scx_dp_init(struct scx_dp *dp, void *uar, uint32_t nr_uar_pages, uint64_t seed);

/* Faults from now on; NULL: none. Before the first step. */
struct scx_fault_plan;
void scx_dp_faults(struct scx_dp *dp, const struct scx_fault_plan *plan);

/*
 * DMA that completes later, as the plan's dma_delay says: needs so many bytes at an address that is
 * a multiple of 64, which stay the caller's.
 */
size_t scx_dp_late_bytes(void);
void scx_dp_late(struct scx_dp *dp, void *mem);

/*
 * Memory of the driver's that the step does not reach itself: the tables name a copy of it, and
 * these bring bytes over and back, in the order in which they are asked to. What is no such memory
 * they leave alone. Before the first command, not with faults; it stays the caller's.
 */
struct scx_copy {
	void *arg;
	void (*pull)(void *arg, void *p, size_t bytes);
	void (*push)(void *arg, const void *p, size_t bytes);
	void (*wait)(void *arg, bool pushes); /* for all pulls; pushes: and for those */
	unsigned (*turn)(void *arg);	      /* once a step; work that is left, 0: none */
};
void scx_dp_copy(struct scx_dp *dp, const struct scx_copy *copy);

/*
 * Carry out a command. Only between steps, only in the thread that steps. 0, or -errno: table full,
 * no such object.
 */
int scx_dp_apply(struct scx_dp *dp, struct scx_dp_cmd *cmd);

/* Ticks of the device clock (CQE timestamps) from now on; the caller sets it before a step. */
void scx_dp_clock(struct scx_dp *dp, uint64_t ticks);

/* Counters of the port and of the cost of traffic, since start. Read between steps. */
struct scx_dp_stats {
	uint64_t tx_frames, tx_bytes;	   /* frames that the wire took */
	uint64_t rx_frames, rx_bytes;	   /* frames that reached an RQ */
	uint64_t rx_wire;		   /* frames from the wire, whatever became of them */
	uint64_t rx_no_buffer;		   /* out of buffer, all RQs together */
	uint64_t rx_dropped;		   /* by a drop rule */
	uint64_t rx_no_match;		   /* no rule, or its RQ is not ready */
	uint64_t rx_too_long, tx_too_long; /* longer than the port's MTU allows */
	uint64_t tx_errors, rx_errors;	   /* error CQEs, flushes not counted */
	uint64_t doorbells, wqes, cqes;
	uint64_t copied_bytes;		 /* by staging, besides the one copy to the receiver */
	uint64_t flow_hits, flow_misses; /* results found in the cache; rule walks */
	uint64_t reports_lost;		 /* refusals that found the report ring full */
	/*
	 * What of all this would cross PCIe, by a model: WQEs, receive WQEs and payload are read in
	 * requests of up to SCX_PCI_READ bytes, answered by completions of up to SCX_PCI_WRITE;
	 * payload and CQEs are written in pieces of up to SCX_PCI_WRITE; a doorbell is eight bytes
	 * the other way. Doorbell records are left out: when a card reads them is not known.
	 */
	uint64_t pci_read, pci_written; /* bytes, by the NIC */
	uint64_t pci_tlps;		/* both ways, doorbells too */
	/* Of what was read; the rest of it was payload, as what was written besides CQEs. */
	uint64_t wqe_bytes, rq_wqe_bytes;
};
#define SCX_PCI_READ  512u
#define SCX_PCI_WRITE 256u
void scx_dp_stats(const struct scx_dp *dp, struct scx_dp_stats *out);

/* What the data path wants told: taken by the control side after each step. */
enum scx_dp_report_kind {
	SCX_DP_REFUSED,	    /* why, index, value, bytes as below */
	SCX_DP_CQ_EVENT,    /* num: CQ that was armed */
	SCX_DP_CQ_ERROR,    /* num: CQ; value[0]: the event's syndrome, 1 overrun */
	SCX_DP_QUEUE_ERROR, /* num: queue now in ERR; index: WQE; value[0]: syndrome, value[1]: 1
			       RQ, 0 SQ */
	SCX_DP_DUMPED,	    /* why: enum scx_dp_dump; index; value[0]: address, value[1]: 1 in a
			       GPU's memory; bytes: the entry's first, as read from there */
};
enum scx_dp_dump { SCX_DP_DUMP_SQ, SCX_DP_DUMP_RQ, SCX_DP_DUMP_CQ };
struct scx_dp_report {
	enum scx_dp_report_kind kind;
	uint32_t why;	   /* REFUSED: index into refuse.h's list; DUMPED: enum scx_dp_dump */
	uint32_t num;	   /* queue or CQ number */
	uint32_t index;	   /* WQE index */
	uint64_t value[2]; /* what the text of the refusal prints */
	uint8_t bytes[64]; /* the offending bytes */
};
bool scx_dp_take_report(struct scx_dp *dp, struct scx_dp_report *r);

struct scx_wire;
/* One bounded step: about budget frames each way. wire NULL: loopback. Returns work done, 0 = idle.
 */
unsigned scx_dp_step(struct scx_dp *dp, struct scx_wire *wire, unsigned budget);

#endif /* SCX_DP_H */
