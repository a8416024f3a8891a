/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steering rules of the port's receive table: see softcx.h. The front hands over what a driver gave
 * to the kernel; here it is held against what the data path matches on.
 */
#include <errno.h>
#include <string.h>

#include "fw.h"

#define SET_BYTES 64u /* of one match set; the first is the outer headers */
#define SETS_MAX  10u

static int
check(struct scx_fw_call *c, const uint8_t *mask, const uint8_t *match, size_t bytes, uint32_t dest)
{
	uint8_t known[CRL_PRM_MATCH_LYR_2_4_BYTES];

	if (bytes < SET_BYTES || bytes % SET_BYTES != 0 || bytes > SETS_MAX * SET_BYTES)
		return scx_fw_refuse(
			c, SCX_FW_R_FLOW_LENGTH, NULL, 0, "match parameters of %zu bytes", bytes);
	scx_layout_mask(SCX_LAYOUT_MATCH_LYR_2_4, known);
	for (size_t i = 0; i < bytes; i++) {
		if (mask[i] & (uint8_t) ~(i < sizeof(known) ? known[i] : 0))
			return scx_fw_refuse(c, SCX_FW_R_FLOW_MASK,
				mask + i / SET_BYTES * SET_BYTES, SET_BYTES,
				"mask 0x%02x in byte 0x%zx of the match parameters", mask[i], i);
		if (match[i] & (uint8_t)~mask[i])
			return scx_fw_refuse(c, SCX_FW_R_FLOW_VALUE,
				match + i / SET_BYTES * SET_BYTES, SET_BYTES,
				"value 0x%02x under mask 0x%02x in byte 0x%zx", match[i], mask[i],
				i);
	}
	if (dest > SCX_FLOW_DEFAULT_MISS)
		return scx_fw_refuse(c, SCX_FW_R_FLOW_DEST, NULL, 0, "destination %u", dest);
	return 0;
}

static int
add(struct scx_fw_call *c, struct scx_dp_cmd *cmd, uint32_t *id)
{
	struct scx_dp_rule *rule = &cmd->u.rule;
	struct scx_fw_obj *obj = scx_fw_new(c, SCX_FW_FLOW);
	int rc = -1;

	if (obj == NULL)
		return -1;
	rule->id = obj->num;
	if (rule->dest != SCX_FLOW_TIR || scx_fw_get_hold(c, obj, SCX_FW_TIR, rule->tirn) != NULL)
		rc = scx_fw_tell(c, cmd);
	if (rc != 0) {
		scx_fw_free(c->nic, obj);
		return rc;
	}
	*id = obj->num;
	return 0;
}

static int
errno_of(const struct scx_fw_call *c)
{
	return c->status == CRL_CMD_STAT_LIM_ERR		    ? -ENOSPC
	       : c->syndrome == (SCX_SYNDROME | SCX_FW_R_FLOW_MASK) ? -EOPNOTSUPP
								    : -EINVAL;
}

int
scx_flow_add(struct scx_nic *nic, uint16_t uid, uint32_t priority, const void *mask,
	const void *match, size_t match_bytes, enum scx_flow_dest dest, uint32_t tirn,
	uint32_t flow_tag, uint32_t *flow_id)
{
	struct scx_fw_call c = {.nic = nic, .uid = uid, .name = "flow rule"};
	struct scx_dp_cmd cmd = {.op = SCX_DP_RULE_ADD};
	int rc;

	pthread_mutex_lock(&nic->lock);
	rc = check(&c, mask, match, match_bytes, (uint32_t)dest);
	if (rc == 0) {
		cmd.u.rule.priority = priority;
		cmd.u.rule.dest = (uint8_t)dest;
		cmd.u.rule.tirn = tirn;
		cmd.u.rule.flow_tag = flow_tag;
		memcpy(cmd.u.rule.mask, mask, SCX_MATCH_BYTES);
		memcpy(cmd.u.rule.match, match, SCX_MATCH_BYTES);
		rc = add(&c, &cmd, flow_id);
	}
	pthread_mutex_unlock(&nic->lock);
	return rc == 0 ? 0 : errno_of(&c);
}

int
scx_flow_del(struct scx_nic *nic, uint16_t uid, uint32_t flow_id)
{
	struct scx_fw_call c = {.nic = nic, .uid = uid, .name = "flow rule removal"};
	struct scx_fw_obj *obj;
	int rc = -1;

	pthread_mutex_lock(&nic->lock);
	obj = scx_fw_get(&c, SCX_FW_FLOW, flow_id);
	if (obj != NULL)
		rc = scx_fw_destroy(&c, obj);
	pthread_mutex_unlock(&nic->lock);
	return rc == 0 ? 0 : errno_of(&c);
}
