/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User memory by a list of pages, as the owner of a PCI device registers it: libmlx5's VFIO driver
 * with user context 0. Called by cmd.c with a checked mailbox. A user of the in-process front
 * registers by address, mem.c.
 */
#include "hca.h"
#include "ring.h"

#define MTT_READ	(1u << 0) /* of an entry of the list */
#define MTT_WRITE	(1u << 1)
#define IBV_LOCAL_WRITE 1u /* IBV_ACCESS_LOCAL_WRITE */

static int
check(struct scx_fw_call *c, const void *umem, struct scx_pages *part)
{
	uint64_t nr = crl_prm_get64(umem, CRL_PRM_UMEM_NUM_OF_MTT);

	part->log_page = SCX_LOG_PAGE + crl_prm_get(umem, CRL_PRM_UMEM_LOG_PAGE_SIZE);
	part->from = crl_prm_get(umem, CRL_PRM_UMEM_PAGE_OFFSET);
	if (crl_prm_get(umem, CRL_PRM_UMEM_ATS) != 0)
		return scx_fw_refuse(c, SCX_FW_R_NOT_OFFERED, umem, 32, "umem.ats is set");
	if (part->log_page > SCX_LOG_PAGE_MAX || nr == 0 || nr > SCX_FW_PAGES_MAX ||
		part->from >= 1ull << part->log_page)
		return scx_fw_refuse(c, SCX_FW_R_UMEM_RANGE, umem, 32,
			"%llu pages of 2^%u bytes, from byte %llu on", (unsigned long long)nr,
			part->log_page, (unsigned long long)part->from);
	/* The last page may be larger than the memory in it; nothing says where that ends. */
	part->most = (nr << part->log_page) - part->from;
	part->least = nr == 1 ? 1 : ((nr - 1) << part->log_page) - part->from + 1;
	return 0;
}

int
scx_cmd_create_umem(struct scx_fw_call *c)
{
	const void *umem = crl_prm_at(c->in, CRL_PRM_CREATE_UMEM_IN_UMEM);
	const uint8_t *mtt = c->in + CRL_PRM_CREATE_UMEM_IN_BYTES;
	struct scx_pages part = {.nr = 0};
	struct scx_fw_obj *obj;
	int rc = check(c, umem, &part);

	if (rc != 0)
		return rc;
	obj = scx_fw_new(c, SCX_FW_UMEM);
	if (obj == NULL)
		return -1;
	rc = scx_fw_pages(c, obj, mtt, &part);
	if (rc != 0) {
		scx_fw_free(c->nic, obj);
		return rc;
	}
	obj->base = obj->map;
	obj->bytes = obj->map_bytes;
	obj->access = mtt[7] & MTT_WRITE ? IBV_LOCAL_WRITE : 0;
	if (!(mtt[7] & MTT_READ)) {
		scx_fw_free(c->nic, obj);
		return scx_fw_refuse(c, SCX_FW_R_UMEM_ACCESS, mtt, 8, "an entry without READ");
	}
	crl_prm_set(c->out, CRL_PRM_CREATE_UMEM_OUT_UMEM_ID, obj->num);
	return 0;
}

int
scx_cmd_destroy_umem(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_UMEM, CRL_PRM_DESTROY_UMEM_IN_UMEM_ID);
}
