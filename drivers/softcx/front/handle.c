/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handles of one open device: a table a context, so that a handle of another context is unknown
 * here, as in the kernel. Called by the methods, under scxf_lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "front.h"

#define OBJ_MAX (1u << 20) /* of a context: far above what any driver makes, but a bound */

int
scxf_obj_new(struct scxf_ctx *ctx, enum scxf_kind kind, uint32_t *handle)
{
	struct scxf_obj *grown;
	uint32_t h, nr;

	for (h = 1; h < ctx->nr_obj; h++)
		if (ctx->obj[h].kind == SCXF_FREE)
			goto found;
	nr = ctx->nr_obj ? ctx->nr_obj * 2 : 64;
	if (nr > OBJ_MAX)
		return -ENOMEM;
	grown = realloc(ctx->obj, nr * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + ctx->nr_obj, 0, (nr - ctx->nr_obj) * sizeof(*grown));
	h = ctx->nr_obj ? ctx->nr_obj : 1;
	ctx->obj = grown;
	ctx->nr_obj = nr;
found:
	memset(&ctx->obj[h], 0, sizeof(ctx->obj[h]));
	ctx->obj[h].kind = kind;
	*handle = h;
	return 0;
}

/* NULL and *rc as the kernel's lookup has it: no such handle -ENOENT, one of another kind -EINVAL.
 */
struct scxf_obj *
scxf_obj_get(struct scxf_ctx *ctx, enum scxf_kind kind, uint64_t handle, int *rc)
{
	if (!handle || handle >= ctx->nr_obj || ctx->obj[handle].kind == SCXF_FREE) {
		*rc = -ENOENT;
		return NULL;
	}
	if (ctx->obj[handle].kind != kind) {
		*rc = -EINVAL;
		return NULL;
	}
	*rc = 0;
	return &ctx->obj[handle];
}

void
scxf_obj_put(struct scxf_ctx *ctx, uint32_t handle)
{
	struct scxf_obj *o = &ctx->obj[handle];

	if (o->parent)
		ctx->obj[o->parent].users--;
	scxf_matcher_free(o);
	memset(o, 0, sizeof(*o));
}

void
scxf_obj_put_all(struct scxf_ctx *ctx)
{
	for (uint32_t h = 1; h < ctx->nr_obj; h++)
		if (ctx->obj[h].kind != SCXF_FREE)
			scxf_matcher_free(&ctx->obj[h]);
	free(ctx->obj);
	ctx->obj = NULL;
	ctx->nr_obj = 0;
}
