/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * struct scx_dp: every table of the data path. Nothing outside of this folder looks inside. Each
 * queue is the contract's struct (what the firmware said) followed by what the data path keeps.
 * Indices of work queues are 16 bits as on the wire, those of CQs 32; both run freely.
 */
#ifndef SCX_DP_STATE_H
#define SCX_DP_STATE_H

#include "../../../gpu_queues/wire/cqe.h"
#include "../../../gpu_queues/wire/doorbell.h"
#include "../../../gpu_queues/wire/wqe.h"
#include "../softcx.h"
#include "../wire.h"
#include "dp.h"
#include "fault.h"
#include "refuse.h"
#include "shared.h"

#define SCX_NONE 0xffffffffu /* no slot, end of a list */

enum scx_wq_state { SCX_WQ_RST = 0, SCX_WQ_RDY = 1, SCX_WQ_ERR = 3 }; /* PRM: SQ and RQ state */

struct scx_cq {
	struct scx_dp_cq q;
	uint32_t pi;	   /* CQEs written */
	uint32_t limit;	   /* up to here CQEs are written without looking at room again */
	uint32_t mask;	   /* index to slot; 0 when collapsed */
	uint32_t ci;	   /* the driver's record when last looked at */
	uint32_t arm_seen; /* arm word acted upon last */
	uint32_t next;	   /* on the same UAR page */
	uint8_t used, failed;
	uint8_t armed;	   /* 0 no, 1 next CQE, 2 next solicited or error CQE */
	uint8_t init_told; /* CQ_NOT_INIT was reported */
	uint32_t users;	   /* queues that complete into it */
	uint32_t dump;	   /* CQEs that are still to be reported */
};

struct scx_sq {
	struct scx_dp_sq q;
	struct scx_cq *cq;
	struct scx_dp_mkey *mkey; /* of the last lookup */
	uint16_t pi;		  /* posted, by the record at the last doorbell */
	uint16_t ci;		  /* fetched */
	uint16_t ahead;		  /* asked for by prefetches */
	uint8_t used;
	uint8_t runnable;	/* stands in dp->run */
	uint8_t first_err_told; /* CE 1: only the first failure makes a CQE */
	uint8_t imm_told;
	uint32_t next; /* on the same UAR page */
	uint32_t dump; /* WQEs that are still to be reported */
};

struct scx_rq {
	struct scx_dp_rq q;
	struct scx_cq *cq;
	struct scx_dp_mkey *mkey;
	uint16_t pi, ci;
	uint16_t look; /* ci and the frames of this group that are still to be delivered */
	uint8_t used;
	uint32_t dump;
};

struct scx_page {
	uint32_t sq, cq; /* heads of the lists of queues that name this page */
};

/* WQEBBs that are on their way into the cache while one is worked on. */
#define SCX_FETCH_AHEAD	  32u
#define SCX_REPORTS	  512u /* power of two */
#define SCX_REPORTS_KEPT  256u /* refusals leave so many for events, which must not be lost */

/* One batch of frames on their way out, see send.h. */
#define SCX_BATCH	 64u
#define SCX_WQE_FRAMES	 61u /* most frames of one WQE: ds 63, two segments are the header */
#define SCX_BATCH_FRAMES (SCX_BATCH + SCX_WQE_FRAMES)
#define SCX_BATCH_WQES	 128u
#define SCX_STAGE_BYTES	 (2u << 20)
#define SCX_STAGE_WQE_MAX                                                                          \
	(SCX_WQE_FRAMES * (SCX_DP_FRAME_MAX + 64u) + 1024u) /* most that one WQE stages */
CRL_STATIC_ASSERT(SCX_STAGE_WQE_MAX < SCX_STAGE_BYTES, "an empty stage takes the largest WQE");

enum scx_done_kind { SCX_DONE_OK, SCX_DONE_EVENT, SCX_DONE_ERROR, SCX_DONE_FLUSH };
struct scx_done {
	struct scx_sq *sq;
	uint16_t index; /* of the WQE */
	uint8_t kind, opcode, syndrome, vendor, ce;
};

struct scx_batch {
	uint32_t nr, taken; /* frames, and how many of them the wire took */
	uint32_t nr_done;
	uint32_t staged;     /* bytes of stage[] in use */
	uint32_t referenced; /* bytes of frames that still lie in the driver's memory */
	struct scx_frame frame[SCX_BATCH_FRAMES];
	struct scx_done done[SCX_BATCH_WQES + 1];
};

/*
 * CQEs written but for their last qword, which is what makes them valid. Those of a group are made
 * valid together, in order, because a driver that polls takes the cache line of the next CQE away
 * from the NIC just before it would write it.
 */
#define SCX_PENDING_MAX 64u
struct scx_pending {
	uint32_t nr;
	struct {
		uint8_t *at;
		uint64_t tail;
		const struct scx_cq *cq;
	} cqe[SCX_PENDING_MAX];
};

/* Where frames of a flow go. */
struct scx_target {
	struct scx_rq *rq; /* NULL: drop */
	uint32_t hash, flow_tag;
	uint8_t hash_type; /* as in the CQE */
	uint8_t dest;	   /* enum scx_flow_dest */
};

/* One slot of the flow-result cache, see steer.h. */
struct scx_flow {
	CRL_ALIGNAS(64) uint64_t key[8];
	uint64_t generation;
	struct scx_target to;
};

struct scx_dp {
	struct scx_batch batch;
	struct scx_pending pending;
	uint8_t *uar;
	uint32_t nr_uar_pages, nr_active;
	uint32_t active[SCX_UAR_PAGES_MAX]; /* pages that a queue names */
	struct scx_page page[SCX_UAR_PAGES_MAX];
	uint32_t run_head, run_nr;
	uint32_t run[SCX_DP_SQ_MAX]; /* ring of SQs with WQEs to fetch */
	uint64_t clock;
	uint32_t frame_max; /* by the port's MTU */
	uint8_t link_up;
	uint8_t rx_begun; /* a receive buffer has been posted; only a patient wire asks */
	struct scx_fault fault;
	struct scx_late *late; /* late.h; NULL: DMA completes at once */
	const struct scx_copy *copy; /* far.h; NULL: the driver's memory is in reach */
	struct scx_dp_stats stats;
	uint64_t out_of_buffer[SCX_DP_COUNTER_MAX];

	uint64_t generation;		      /* of everything that a flow's result depends on */
	CRL_ALIGNAS(64) uint64_t relevant[8]; /* header bits that any rule or hash looks at, */
	uint8_t relevant_old;		      /* or looked at once: steer.h */
	uint32_t nr_rules;
	uint16_t rule_order[SCX_DP_RULE_MAX]; /* slots of rule[], first match first */
	uint16_t rule_free[SCX_DP_RULE_MAX];
	struct scx_dp_rule rule[SCX_DP_RULE_MAX];
	struct scx_flow flow[SCX_FLOW_SLOTS];

	struct scx_cq cq[SCX_DP_CQ_MAX];
	struct scx_sq sq[SCX_DP_SQ_MAX];
	struct scx_rq rq[SCX_DP_RQ_MAX];
	struct scx_dp_mkey mkey[SCX_DP_MKEY_MAX]; /* bytes 0: free */
	struct scx_dp_tir tir[SCX_DP_TIR_MAX];
	uint8_t tir_used[SCX_DP_TIR_MAX];
	struct scx_dp_rqt rqt[SCX_DP_RQT_MAX]; /* len 0: free */

	uint32_t report_head, nr_reports;
	struct scx_dp_report report[SCX_REPORTS];
	CRL_ALIGNAS(64) uint8_t stage[SCX_STAGE_BYTES];
};

/* What crosses PCIe, by the model that dp.h tells of. */
CRL_FN uint32_t
scx_pci_read_tlps(uint32_t bytes)
{
	return (bytes + SCX_PCI_READ - 1u) / SCX_PCI_READ +
	       (bytes + SCX_PCI_WRITE - 1u) / SCX_PCI_WRITE;
}

CRL_FN uint32_t
scx_pci_write_tlps(uint32_t bytes)
{
	return (bytes + SCX_PCI_WRITE - 1u) / SCX_PCI_WRITE;
}

SCX_FN void
scx_pci_read(struct scx_dp *dp, uint32_t bytes)
{
	dp->stats.pci_read += bytes;
	dp->stats.pci_tlps += scx_pci_read_tlps(bytes);
}

SCX_FN void
scx_pci_write(struct scx_dp *dp, uint32_t bytes)
{
	dp->stats.pci_written += bytes;
	dp->stats.pci_tlps += scx_pci_write_tlps(bytes);
}

/* Queue a report for the control side; refusals and dumps may be lost (counted), events find room
 * kept for them. */
SCX_FN struct scx_dp_report *
scx_report(struct scx_dp *dp, enum scx_dp_report_kind kind, uint32_t num)
{
	struct scx_dp_report *r;

	if (dp->nr_reports == SCX_REPORTS ||
		((kind == SCX_DP_REFUSED || kind == SCX_DP_DUMPED) &&
			dp->nr_reports >= SCX_REPORTS - SCX_REPORTS_KEPT)) {
		dp->stats.reports_lost++;
		return NULL;
	}
	r = &dp->report[(dp->report_head + dp->nr_reports++) & (SCX_REPORTS - 1u)];
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->num = num;
	return r;
}

SCX_SLOW void
scx_refuse(struct scx_dp *dp, enum scx_dp_refuse why, uint32_t num, uint32_t index,
	const void *bytes, size_t nr_bytes, uint64_t v0, uint64_t v1)
{
	struct scx_dp_report *r = scx_report(dp, SCX_DP_REFUSED, num);

	if (r == NULL)
		return;
	r->why = (uint32_t)why;
	r->index = index;
	r->value[0] = v0;
	r->value[1] = v1;
	if (nr_bytes > 0)
		memcpy(r->bytes, bytes, nr_bytes < sizeof(r->bytes) ? nr_bytes : sizeof(r->bytes));
}

#endif /* SCX_DP_STATE_H */
