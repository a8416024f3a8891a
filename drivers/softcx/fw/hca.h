/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the firmware keeps only for a NIC that is a PCI device, with a kernel's driver on top: the
 * bring-up state, the pages that the driver gave, the port as its registers say it, and where
 * steering starts.
 */
#ifndef SCX_FW_HCA_H
#define SCX_FW_HCA_H

#include "fw.h"

enum scx_hca_state { SCX_HCA_OFF, SCX_HCA_ENABLED, SCX_HCA_RUNNING };

#define SCX_PAGES_BOOT 64u /* asked for before INIT_HCA; nothing is kept in them */
#define SCX_PAGES_INIT                                                                             \
	256u /* asked for by QUERY_PAGES for initialization, the boot pages apart                  \
	      */
#define SCX_PAGES_MAX	    4096u
#define SCX_NODE_DESC_BYTES 64u
#define SCX_FT_LEVELS                                                                              \
	128u		    /* newer kernels ask for more than 64 without a look at the capability \
			     */
#define SCX_ISSI_KNOWN 0x3u /* a bit for each: 0 and 1 */
/* What a frame has besides the payload that an MTU counts: header, two tags. */
#define SCX_HARD_MTU   22u
#define SCX_HW_MTU_MAX (SCX_MTU_MAX + SCX_HARD_MTU)

struct scx_fw_hca {
	enum scx_hca_state state;
	uint32_t issi;
	uint64_t page[SCX_PAGES_MAX]; /* bus addresses */
	uint32_t nr_pages;
	uint32_t vport_mtu; /* what the driver wrote last; 0: nothing yet */
	uint8_t admin_up, roce_en;
	uint8_t pptx, pprx; /* PFCC: kept, and no pause frame is ever made */
	char node_desc[SCX_NODE_DESC_BYTES];
	uint32_t ft_root; /* number of the flow table that received frames meet; 0: none */
	/* plan.c; all start over with the NIC, except what a front hands to the next one */
	uint64_t commands; /* since INIT_HCA */
	uint64_t chance, dead_ns, flap_ns;
	uint32_t pages_done; /* of the plan, a bit for each */
	uint8_t syndrome;
	uint8_t checksum;      /* cmdif_checksum as the driver set it */
	uint64_t given, taken; /* pages, since creation */
	uint32_t nr_rules;     /* that the data path has of flow_table.c's */
};

int scx_fw_hca_init(struct scx_nic *nic); /* 0 or -ENOMEM */
void scx_fw_hca_fini(struct scx_nic *nic);
void scx_fw_eq_event(struct scx_nic *nic, const struct scx_event *ev); /* eq.c */
void scx_fw_plan_command(struct scx_nic *nic);			       /* plan.c */
void scx_fw_plan_turn(struct scx_nic *nic);
void scx_fw_hca_caps(const struct scx_nic *nic, uint32_t page, void *out); /* caps.c */
/* flow_walk.c: tell the data path where frames go now; 0 or refused, with nothing changed. */
int scx_fw_ft_compile(struct scx_fw_call *c);

#endif /* SCX_FW_HCA_H */
