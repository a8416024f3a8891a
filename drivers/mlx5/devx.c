/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command plumbing: one function for each way that DevX passes a PRM command to the firmware,
 * each of which tells a refusal by the firmware from one by the kernel. Host only.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

int
crl_devx_create(struct crl_ctx *ctx, const char *step, const void *in, size_t in_bytes, void *out,
	size_t out_bytes, struct mlx5dv_devx_obj **obj, struct crl_err *err)
{
	memset(out, 0, out_bytes);
	errno = 0;
	*obj = mlx5dv_devx_obj_create(ctx->ibv, in, in_bytes, out, out_bytes);
	if (*obj == NULL)
		return crl_fail_cmd(err, step, errno, out);
	return 0;
}

int
crl_devx_modify(struct mlx5dv_devx_obj *obj, const char *step, const void *in, size_t in_bytes,
	void *out, size_t out_bytes, struct crl_err *err)
{
	int ret;

	memset(out, 0, out_bytes);
	ret = mlx5dv_devx_obj_modify(obj, in, in_bytes, out, out_bytes);
	return ret != 0 ? crl_fail_cmd(err, step, crl_errno_of(ret), out) : 0;
}

int
crl_devx_cmd(struct crl_ctx *ctx, const char *step, const void *in, size_t in_bytes, void *out,
	size_t out_bytes, struct crl_err *err)
{
	int ret;

	memset(out, 0, out_bytes);
	ret = mlx5dv_devx_general_cmd(ctx->ibv, in, in_bytes, out, out_bytes);
	return ret != 0 ? crl_fail_cmd(err, step, crl_errno_of(ret), out) : 0;
}

int
crl_devx_query(struct mlx5dv_devx_obj *obj, const char *step, const void *in, size_t in_bytes,
	void *out, size_t out_bytes, struct crl_err *err)
{
	int ret;

	memset(out, 0, out_bytes);
	ret = mlx5dv_devx_obj_query(obj, in, in_bytes, out, out_bytes);
	return ret != 0 ? crl_fail_cmd(err, step, crl_errno_of(ret), out) : 0;
}

int
crl_devx_destroy(struct mlx5dv_devx_obj **obj, const char *step, struct crl_err *err)
{
	int ret;

	if (*obj == NULL)
		return 0;
	ret = mlx5dv_devx_obj_destroy(*obj);
	if (ret != 0)
		return crl_fail_errno(err, crl_errno_of(ret), step,
			"something still uses the object: stop engines and remove flows first",
			"the NIC did not let go of it");
	*obj = NULL;
	return 0;
}
