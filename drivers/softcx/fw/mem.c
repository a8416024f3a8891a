/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel does for a user without a command of the user's: protection domains, umems,
 * memory regions, UAR pages and steering rules. Called by fronts, in any thread; memory stays the
 * front's, and when a function that gives something back has returned, the data path has let go of
 * it.
 */
#include <errno.h>
#include <string.h>

#include "fw.h"

/* IBV_ACCESS_*, as the uverbs ABI has them. */
#define ACCESS_LOCAL_WRITE   (1u << 0)
#define ACCESS_REMOTE_WRITE  (1u << 1)
#define ACCESS_REMOTE_READ   (1u << 2)
#define ACCESS_REMOTE_ATOMIC (1u << 3)
#define ACCESS_RELAXED	     (1u << 20) /* relaxed ordering: allowed, and not made use of */

/* errno of a refused call: what the kernel makes of the firmware's status. */
static int
errno_of(const struct scx_fw_call *c)
{
	switch (c->status) {
	case CRL_CMD_STAT_LIM_ERR:
		return -ENOSPC;
	case CRL_CMD_STAT_BAD_RES_STATE_ERR:
		return -EBUSY;
	default:
		return -EINVAL;
	}
}

static int
alloc(struct scx_nic *nic, uint16_t uid, enum scx_fw_kind kind, const char *name, uint32_t *num)
{
	struct scx_fw_call c = {.nic = nic, .uid = uid, .name = name};
	struct scx_fw_obj *obj;

	pthread_mutex_lock(&nic->lock);
	obj = scx_fw_new(&c, kind);
	if (obj != NULL)
		*num = obj->num;
	pthread_mutex_unlock(&nic->lock);
	return obj != NULL ? 0 : errno_of(&c);
}

static int
release(struct scx_nic *nic, uint16_t uid, enum scx_fw_kind kind, const char *name, uint32_t num)
{
	struct scx_fw_call c = {.nic = nic, .uid = uid, .name = name};
	struct scx_fw_obj *obj;
	int rc = -1;

	pthread_mutex_lock(&nic->lock);
	obj = scx_fw_get(&c, kind, num);
	if (obj != NULL)
		rc = scx_fw_destroy(&c, obj);
	pthread_mutex_unlock(&nic->lock);
	return rc == 0 ? 0 : errno_of(&c);
}

int
scx_pd_alloc(struct scx_nic *nic, uint16_t uid, uint32_t *pdn)
{
	return alloc(nic, uid, SCX_FW_PD, "alloc_pd", pdn);
}

int
scx_pd_free(struct scx_nic *nic, uint16_t uid, uint32_t pdn)
{
	return release(nic, uid, SCX_FW_PD, "dealloc_pd", pdn);
}

int
scx_uar_alloc(struct scx_nic *nic, uint16_t uid, uint32_t *page)
{
	return alloc(nic, uid, SCX_FW_UAR, "alloc_uar", page);
}

int
scx_uar_free(struct scx_nic *nic, uint16_t uid, uint32_t page)
{
	return release(nic, uid, SCX_FW_UAR, "dealloc_uar", page);
}

static bool
range_ok(const void *addr, uint64_t bytes)
{
	return addr != NULL && bytes > 0 && bytes <= UINTPTR_MAX - (uintptr_t)addr;
}

static int
umem_check(struct scx_fw_call *c, const void *addr, uint64_t bytes, uint32_t access)
{
	if (!range_ok(addr, bytes))
		return scx_fw_refuse(c, SCX_FW_R_UMEM_RANGE, NULL, 0, "%llu bytes at %p",
			(unsigned long long)bytes, addr);
	if (access &
		~(ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ | ACCESS_RELAXED))
		return scx_fw_refuse(c, SCX_FW_R_UMEM_ACCESS, NULL, 0, "access 0x%x", access);
	return 0;
}

static int
umem_new(struct scx_nic *nic, uint16_t uid, const struct scx_dmabuf *m, uint32_t access,
	uint32_t *umem_id)
{
	struct scx_fw_call c = {.nic = nic, .uid = uid, .name = "umem registration"};
	struct scx_fw_obj *obj = NULL;

	pthread_mutex_lock(&nic->lock);
	if (umem_check(&c, m->addr, m->bytes, access) == 0)
		obj = scx_fw_new(&c, SCX_FW_UMEM);
	if (obj != NULL) {
		obj->base = m->addr;
		obj->bytes = m->bytes;
		obj->at = m->at;
		obj->device = m->device != 0;
		obj->access = access;
		*umem_id = obj->num;
	}
	if (obj != NULL && nic->cfg.log_dump != 0)
		scx_fw_log_umem(nic, obj, m->fd >= 0 ? m : NULL);
	pthread_mutex_unlock(&nic->lock);
	return obj != NULL ? 0 : errno_of(&c);
}

int
scx_umem_reg(struct scx_nic *nic, uint16_t uid, void *addr, uint64_t bytes, uint32_t access,
	uint32_t *umem_id)
{
	const struct scx_dmabuf m = {
		.addr = addr, .bytes = bytes, .at = (uint64_t)(uintptr_t)addr, .fd = -1};

	return umem_new(nic, uid, &m, access, umem_id);
}

int
scx_umem_reg_dmabuf(struct scx_nic *nic, uint16_t uid, const struct scx_dmabuf *d, uint32_t access,
	uint32_t *umem_id)
{
	return umem_new(nic, uid, d, access, umem_id);
}

int
scx_umem_dereg(struct scx_nic *nic, uint16_t uid, uint32_t umem_id)
{
	return release(nic, uid, SCX_FW_UMEM, "umem deregistration", umem_id);
}

static int
mr_check(struct scx_fw_call *c, const void *start, uint64_t bytes, uint64_t iova, uint32_t access)
{
	const uint32_t known = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
			       ACCESS_REMOTE_ATOMIC | ACCESS_RELAXED;

	if (!range_ok(start, bytes) || bytes > UINT64_MAX - iova)
		return scx_fw_refuse(c, SCX_FW_R_MR_RANGE, NULL, 0, "%llu bytes at %p, iova 0x%llx",
			(unsigned long long)bytes, start, (unsigned long long)iova);
	if (access & ~known || (access & (ACCESS_REMOTE_WRITE | ACCESS_REMOTE_ATOMIC) &&
				       !(access & ACCESS_LOCAL_WRITE)))
		return scx_fw_refuse(c, SCX_FW_R_MR_ACCESS, NULL, 0, "access 0x%x", access);
	return 0;
}

/* The key's low byte changes each time, so that a key of a region long gone does not fit by chance.
 */
static int
mr_make(struct scx_fw_call *c, struct scx_fw_obj *obj, uint32_t pdn, struct scx_dp_cmd *cmd)
{
	struct scx_dp_mkey *key = &cmd->u.mkey;
	int rc;

	if (scx_fw_get_hold(c, obj, SCX_FW_PD, pdn) == NULL)
		return -1;
	key->key = obj->num << 8 | c->nic->mkey_variant;
	key->pdn = pdn;
	rc = scx_fw_tell(c, cmd);
	if (rc == 0) {
		obj->access = key->key; /* scx_fw_destroy() names the whole key */
		c->nic->mkey_variant += 7;
	}
	return rc;
}

int
scx_mr_reg(struct scx_nic *nic, uint16_t uid, uint32_t pdn, void *start, uint64_t bytes,
	uint64_t iova, uint32_t access, uint32_t *lkey, uint32_t *rkey)
{
	struct scx_fw_call c = {.nic = nic, .uid = uid, .name = "memory registration"};
	struct scx_dp_cmd cmd = {.op = SCX_DP_MKEY_SET};
	struct scx_fw_obj *obj = NULL;
	int rc;

	cmd.u.mkey.iova = iova;
	cmd.u.mkey.bytes = bytes;
	cmd.u.mkey.base = start;
	cmd.u.mkey.local_write = access & ACCESS_LOCAL_WRITE;
	pthread_mutex_lock(&nic->lock);
	rc = mr_check(&c, start, bytes, iova, access);
	if (rc == 0)
		obj = scx_fw_new(&c, SCX_FW_MKEY);
	if (obj != NULL) {
		rc = mr_make(&c, obj, pdn, &cmd);
		if (rc != 0)
			scx_fw_free(nic, obj);
	}
	pthread_mutex_unlock(&nic->lock);
	if (obj == NULL || rc != 0)
		return errno_of(&c);
	*lkey = cmd.u.mkey.key;
	*rkey = cmd.u.mkey.key;
	return 0;
}

int
scx_mr_dereg(struct scx_nic *nic, uint16_t uid, uint32_t lkey)
{
	struct scx_fw_call c = {.nic = nic, .uid = uid, .name = "memory deregistration"};
	struct scx_fw_obj *obj;
	int rc = -1;

	pthread_mutex_lock(&nic->lock);
	obj = scx_fw_get(&c, SCX_FW_MKEY, lkey >> 8);
	if (obj != NULL && obj->access != lkey)
		scx_fw_refuse(&c, SCX_FW_R_NO_OBJECT, NULL, 0, "memory key 0x%x is 0x%x today",
			lkey, obj->access);
	else if (obj != NULL)
		rc = scx_fw_destroy(&c, obj);
	pthread_mutex_unlock(&nic->lock);
	return rc == 0 ? 0 : errno_of(&c);
}
