/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow tables, groups and entries of a guest's driver, as flow_table.c and flow_entry.c keep them
 * and flow_walk.c makes rules of them.
 */
#ifndef SCX_FW_FLOW_TABLE_H
#define SCX_FW_FLOW_TABLE_H

#include "hca.h"

#define MATCH	     SCX_MATCH_BYTES
#define SETS_BYTES   512u /* match parameters of a command */
#define LEVELS_MAX   SCX_FT_LEVELS
#define LOG_SIZE_MAX 20u
#define RULE_ID	     0x1000000u /* out of the way of scx_flow_add()'s numbers */
#define DEST_BYTES   8u

enum { FT_NIC_RX = 0 };			   /* table_type */
enum { MISS_DEFAULT = 0, MISS_TABLE = 1 }; /* table_miss_action */
enum { ACTION_ALLOW = 1, ACTION_DROP = 2, ACTION_FWD = 4 };
enum { DEST_TABLE = 1, DEST_TIR = 2 };		     /* destination_type */
enum { ENABLE_OUTER = 1 };			     /* match_criteria_enable */
enum { FTE_NEW = 0, FTE_MODIFY = 1 };		     /* op_mod of SET_FTE */
enum { FTE_ACTION = 1, FTE_TAG = 2, FTE_DESTS = 4 }; /* modify_enable_mask */
enum { FG_HOLD_FT };
enum { FTE_HOLD_FG, FTE_HOLD_DEST }; /* places in hold[]; the destination may be absent */

struct ft {
	uint32_t level, log_size, miss_action, miss_table;
};

struct fg {
	uint32_t first, last;
	uint8_t mask[MATCH];
};

struct fte {
	uint32_t index, action, tag;
	uint8_t value[MATCH];
};

/* What all these commands start with: NIC receive, and no other vport. 0 or refused. */
int scx_fw_ft_head(struct scx_fw_call *c, uint32_t type, uint32_t other, uint32_t vport);
#define HEAD(c, L)                                                                                 \
	scx_fw_ft_head(c, crl_prm_get((c)->in, CRL_PRM_##L##_TABLE_TYPE),                          \
		crl_prm_get((c)->in, CRL_PRM_##L##_OTHER_VPORT),                                   \
		crl_prm_get((c)->in, CRL_PRM_##L##_VPORT_NUMBER))
#define TABLE(c, L) scx_fw_get(c, SCX_FW_FT, crl_prm_get((c)->in, CRL_PRM_##L##_TABLE_ID))

/* flow_walk.c: the table's entry with the least index from `from` on; NULL: none. */
struct scx_fw_obj *scx_fw_fte_from(
	struct scx_nic *nic, const struct scx_fw_obj *table, uint32_t from);

#endif /* SCX_FW_FLOW_TABLE_H */
