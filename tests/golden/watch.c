/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.h. The functions below have the names of rdma-core's, and the executable exports them: the
 * dynamic linker gives them to net_mlx5. Each calls the real one and notes what it answered.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/mlx5dv.h>

#include "../../drivers/mlx5/prm.h"
#include "watch.h"

#undef ibv_reg_mr

#define NOTES_MAX 256

static struct {
	uint32_t id;
	uint8_t *addr;
} umems[NOTES_MAX];
static struct {
	const uint8_t *addr;
	size_t bytes;
	uint32_t lkey;
} keys[NOTES_MAX];
static unsigned nr_umems, nr_keys;
static struct watch_sq last;
static bool have_last;

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
	unsigned int access);

/* RTLD_NEXT would not do: EAL loads net_mlx5 and what it needs outside the global scope. */
static void *
real_function(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_LAZY);
	void *function = handle != NULL ? dlsym(handle, name) : NULL;

	if (function == NULL) {
		fprintf(stderr, "%s: no %s\n", library, name);
		exit(1);
	}
	return function;
}

static uint8_t *
umem_addr(uint64_t id)
{
	for (unsigned i = nr_umems; i-- > 0;)
		if (umems[i].id == id)
			return umems[i].addr;
	return NULL;
}

struct mlx5dv_devx_umem *
mlx5dv_devx_umem_reg(struct ibv_context *ctx, void *addr, size_t size, uint32_t access)
{
	struct mlx5dv_devx_umem *(*real)(struct ibv_context *, void *, size_t, uint32_t) =
		real_function("libmlx5.so.1", "mlx5dv_devx_umem_reg");
	struct mlx5dv_devx_umem *umem = real(ctx, addr, size, access);

	if (umem != NULL && nr_umems < NOTES_MAX) {
		umems[nr_umems].id = umem->umem_id;
		umems[nr_umems++].addr = addr;
	}
	return umem;
}

struct mlx5dv_devx_obj *
mlx5dv_devx_obj_create(struct ibv_context *ctx, const void *in, size_t inlen, void *out,
	size_t outlen)
{
	struct mlx5dv_devx_obj *(*real)(struct ibv_context *, const void *, size_t, void *,
		size_t) = real_function("libmlx5.so.1", "mlx5dv_devx_obj_create");
	struct mlx5dv_devx_obj *obj = real(ctx, in, inlen, out, outlen);
	const uint8_t *wq, *ring, *rec;

	if (obj == NULL || crl_prm_get(in, CRL_PRM_CMD_IN_OPCODE) != CRL_CMD_OP_CREATE_SQ)
		return obj;
	wq = crl_prm_at(crl_prm_at(in, CRL_PRM_CREATE_SQ_IN_CTX), CRL_PRM_SQC_WQ);
	ring = umem_addr(crl_prm_get(wq, CRL_PRM_WQ_WQ_UMEM_ID));
	rec = umem_addr(crl_prm_get(wq, CRL_PRM_WQ_DBR_UMEM_ID));
	if (ring == NULL || rec == NULL)
		return obj;
	last.ring = ring + crl_prm_get64(wq, CRL_PRM_WQ_WQ_UMEM_OFFSET);
	last.dbrec = (const void *)(rec + crl_prm_get64(wq, CRL_PRM_WQ_DBR_ADDR));
	last.log_depth = crl_prm_get(wq, CRL_PRM_WQ_LOG_WQ_SZ);
	last.sqn = crl_prm_get(out, CRL_PRM_CREATE_SQ_OUT_SQN);
	have_last = true;
	return obj;
}

static struct ibv_mr *
note_key(struct ibv_mr *mr)
{
	if (mr != NULL && nr_keys < NOTES_MAX) {
		keys[nr_keys].addr = mr->addr;
		keys[nr_keys].bytes = mr->length;
		keys[nr_keys++].lkey = mr->lkey;
	}
	return mr;
}

struct ibv_mr *
ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *(*real)(struct ibv_pd *, void *, size_t, int) =
		real_function("libibverbs.so.1", "ibv_reg_mr");

	return note_key(real(pd, addr, length, access));
}

struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct ibv_mr *(*real)(struct ibv_pd *, void *, size_t, uint64_t, unsigned int) =
		real_function("libibverbs.so.1", "ibv_reg_mr_iova2");

	return note_key(real(pd, addr, length, iova, access));
}

bool
watch_last_sq(struct watch_sq *sq)
{
	*sq = last;
	return have_last;
}

bool
watch_lkey(const void *addr, uint32_t *lkey)
{
	const uint8_t *p = addr;

	for (unsigned i = nr_keys; i-- > 0;) {
		if (p >= keys[i].addr && p < keys[i].addr + keys[i].bytes) {
			*lkey = keys[i].lkey;
			return true;
		}
	}
	return false;
}
