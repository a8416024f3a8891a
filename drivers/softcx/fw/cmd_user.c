/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User contexts: what a guest's kernel makes for a user before it can command a queue. Each has the
 * uid that the user's objects belong to. Called by cmd.c with a checked mailbox.
 */
#include "hca.h"

int
scx_cmd_create_uctx(struct scx_fw_call *c)
{
	const void *uctx = crl_prm_at(c->in, CRL_PRM_CREATE_UCTX_IN_UCTX);
	uint16_t uid;

	if (crl_prm_get(uctx, CRL_PRM_UCTX_CAP) != 0) /* uctx_cap offers none */
		return scx_fw_refuse(c, SCX_FW_R_NOT_OFFERED, uctx, 4, "uctx.cap is 0x%x",
			crl_prm_get(uctx, CRL_PRM_UCTX_CAP));
	if (scx_fw_uid_alloc(c->nic, &uid) != 0)
		return scx_fw_refuse(
			c, SCX_FW_R_FULL, NULL, 0, "%u contexts are there", SCX_UID_MAX - 1);
	crl_prm_set(c->out, CRL_PRM_CREATE_UCTX_OUT_UID, uid);
	return 0;
}

static const struct scx_fw_obj *
owned_by(const struct scx_nic *nic, uint16_t uid)
{
	for (unsigned k = 0; k < SCX_FW_KINDS; k++) {
		const struct scx_fw_table *t = &nic->table[k];

		for (uint32_t i = 0; i < t->max && t->used > 0; i++)
			if (t->slot[i] != NULL && t->slot[i]->uid == uid)
				return t->slot[i];
	}
	return NULL;
}

int
scx_cmd_destroy_uctx(struct scx_fw_call *c)
{
	uint32_t uid = crl_prm_get(c->in, CRL_PRM_DESTROY_UCTX_IN_UID);
	const struct scx_fw_obj *left;

	if (!scx_fw_uid_known(c->nic, uid))
		return scx_fw_refuse(c, SCX_FW_R_UID, c->in, 16, "uid %u", uid);
	left = owned_by(c->nic, (uint16_t)uid);
	if (left != NULL)
		return scx_fw_refuse(c, SCX_FW_R_IN_USE, NULL, 0, "%s 0x%x belongs to uid %u",
			scx_fw_kind_name(left->kind), left->num, uid);
	c->nic->uid_used[uid] = 0;
	return 0;
}
