/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory keys of a guest's kernel: over all of the bus (a kernel's own buffers), or over a list of
 * pages. Called by cmd.c with a checked mailbox. A user of the in-process front gets its keys from
 * mem.c.
 */
#include <string.h>

#include "hca.h"
#include "ring.h"

enum { MKEY_PA = 0, MKEY_MTT = 1 }; /* access_mode */
#define RESERVED_LKEY 0x100u	    /* ends a scatter list; no key of ours has the index 1 */

/* umr_en is leave to change the key by a queue's operation: mlx5_ib gives it with every key. */
static const uint32_t mkc_not_offered[] = {
	CRL_PRM_MKC_FREE,
	CRL_PRM_MKC_A,
	CRL_PRM_MKC_BSF_OCTWORD_SIZE,
};

static int
check(struct scx_fw_call *c, const void *mkc)
{
	uint32_t mode = crl_prm_get(mkc, CRL_PRM_MKC_ACCESS_MODE_4_2) << 2 |
			crl_prm_get(mkc, CRL_PRM_MKC_ACCESS_MODE_1_0);
	uint64_t start = crl_prm_get64(mkc, CRL_PRM_MKC_START_ADDR);
	uint64_t len = crl_prm_get64(mkc, CRL_PRM_MKC_LEN);
	bool all = crl_prm_get(mkc, CRL_PRM_MKC_LENGTH64);

	if (!scx_fw_fields_zero(c, SCX_LAYOUT_MKC, mkc, mkc_not_offered,
		    sizeof(mkc_not_offered) / sizeof(mkc_not_offered[0])))
		return -1;
	if (mode != MKEY_PA && mode != MKEY_MTT)
		return scx_fw_refuse(c, SCX_FW_R_MKEY_MODE, mkc, 4, "access_mode is %u", mode);
	if (all && mode != MKEY_PA)
		return scx_fw_refuse(
			c, SCX_FW_R_MKEY_MODE, mkc, 16, "length64 with access_mode %u", mode);
	if (!all && (len == 0 || len > UINT64_MAX - start))
		return scx_fw_refuse(c, SCX_FW_R_MR_RANGE, mkc, 32, "0x%llx bytes at 0x%llx",
			(unsigned long long)len, (unsigned long long)start);
	if (mode == MKEY_MTT &&
		(crl_prm_get(mkc, CRL_PRM_MKC_LOG_PAGE_SIZE) < SCX_LOG_PAGE ||
			crl_prm_get(mkc, CRL_PRM_MKC_LOG_PAGE_SIZE) > SCX_LOG_PAGE_MAX))
		return scx_fw_refuse(c, SCX_FW_R_MR_RANGE, NULL, 0, "log_page_size is %u",
			crl_prm_get(mkc, CRL_PRM_MKC_LOG_PAGE_SIZE));
	return 0;
}

/* Where the region's bytes are. */
static int
place(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *mkc, struct scx_dp_mkey *key)
{
	const struct scx_guest *g = c->nic->cfg.guest;
	uint32_t log_page = crl_prm_get(mkc, CRL_PRM_MKC_LOG_PAGE_SIZE);
	uint64_t within, bus;
	int rc;

	key->iova = crl_prm_get64(mkc, CRL_PRM_MKC_START_ADDR);
	key->bytes = crl_prm_get64(mkc, CRL_PRM_MKC_LEN);
	if (crl_prm_get(mkc, CRL_PRM_MKC_ACCESS_MODE_1_0) == MKEY_MTT) {
		within = key->iova & ((1ull << log_page) - 1);
		rc = scx_fw_pages(c, obj, c->in + CRL_PRM_CREATE_MKEY_IN_BYTES,
			&(struct scx_pages){.log_page = log_page,
				.from = within,
				.least = key->bytes,
				.most = key->bytes});
		key->base = obj->map;
		return rc;
	}
	key->base = g->all(g->arg, &bus, &key->extents);
	if (crl_prm_get(mkc, CRL_PRM_MKC_LENGTH64)) {
		key->iova = 0;
		key->bytes = bus;
		return 0;
	}
	if (key->iova > bus || key->bytes > bus - key->iova)
		return scx_fw_refuse(c, SCX_FW_R_MR_RANGE, mkc, 32, "0x%llx bytes at 0x%llx",
			(unsigned long long)key->bytes, (unsigned long long)key->iova);
	key->base += key->iova;
	return 0;
}

static int
fill(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *mkc)
{
	struct scx_dp_cmd cmd = {.op = SCX_DP_MKEY_SET};
	struct scx_dp_mkey *key = &cmd.u.mkey;
	int rc;

	key->key = obj->num << 8 | crl_prm_get(mkc, CRL_PRM_MKC_MKEY_7_0);
	key->pdn = crl_prm_get(mkc, CRL_PRM_MKC_PD);
	key->local_write = (uint8_t)crl_prm_get(mkc, CRL_PRM_MKC_LW);
	if (scx_fw_get_hold(c, obj, SCX_FW_PD, key->pdn) == NULL)
		return -1;
	rc = place(c, obj, mkc, key);
	if (rc == 0)
		rc = scx_fw_tell(c, &cmd);
	obj->access = key->key; /* scx_fw_destroy() names the whole key */
	return rc;
}

int
scx_cmd_create_mkey(struct scx_fw_call *c)
{
	const void *mkc = crl_prm_at(c->in, CRL_PRM_CREATE_MKEY_IN_MEMORY_KEY_MKEY_ENTRY);
	struct scx_fw_obj *obj;
	int rc = check(c, mkc);

	if (rc != 0)
		return rc;
	obj = scx_fw_new(c, SCX_FW_MKEY);
	if (obj == NULL)
		return -1;
	rc = fill(c, obj, mkc);
	if (rc != 0) {
		scx_fw_free(c->nic, obj);
		return rc;
	}
	crl_prm_set(c->out, CRL_PRM_CREATE_MKEY_OUT_MKEY_INDEX, obj->num);
	return 0;
}

int
scx_cmd_destroy_mkey(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_MKEY, CRL_PRM_DESTROY_MKEY_IN_MKEY_INDEX);
}

int
scx_cmd_query_special_contexts(struct scx_fw_call *c)
{
	crl_prm_set(c->out, CRL_PRM_QUERY_SPECIAL_CONTEXTS_OUT_RESD_LKEY, RESERVED_LKEY);
	return 0;
}
