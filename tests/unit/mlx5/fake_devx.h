/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel and firmware that write down what they are asked: the linker sends the driver's DevX
 * calls here (--wrap). Each call is a word in a list, any of them can fail, by an errno or by the
 * firmware's answer, and every thing made has to be given back once. Mailboxes are kept, so that a
 * test can compare them whole. To be included by one file of a test. One thread.
 */
#ifndef CRL_TEST_FAKE_DEVX_H
#define CRL_TEST_FAKE_DEVX_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/mlx5/internal.h"

#define FAKES_MAX 32u

/* A thing that was made; its address is what the driver holds. */
struct fake_thing {
	union {
		struct mlx5dv_devx_umem umem;
		struct mlx5dv_devx_uar uar;
		struct ibv_mr mr;
	} u; /* first */
	const char *what;
	bool alive;
	uint8_t in[1024]; /* the command it was made by */
	size_t bytes;
	struct mlx5dv_devx_umem_in umem_in;
};

static struct {
	char list[2048];
	size_t used;
	unsigned calls, fail_at; /* of all calls; 1: the first */
	unsigned givers, refuse_at;
	int fail_with;	   /* errno; 0: it is left as it was */
	uint8_t fw_status; /* the firmware's, where it is a command that fails */
	bool negative;	   /* calls that return an errno return -1 and set it */
	struct fake_thing thing[FAKES_MAX];
	unsigned nr;
	uint8_t modify[1024]; /* the last */
	uint32_t missed;
} fx;

static void __attribute__((format(printf, 1, 2))) fake_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fx.used += (size_t)vsnprintf(fx.list + fx.used, sizeof(fx.list) - fx.used, fmt, ap);
	va_end(ap);
	assert_true(fx.used < sizeof(fx.list));
}

/* Is this the call that fails? Then errno is set as the test wants it. */
static bool
fake_fails(void)
{
	if (++fx.calls != fx.fail_at)
		return false;
	fake_note("! ");
	if (fx.fail_with != 0)
		errno = fx.fail_with;
	return true;
}

static bool
fake_refuses(void)
{
	if (++fx.givers != fx.refuse_at)
		return false;
	fake_note("! ");
	errno = EBUSY;
	return true;
}

/* What a call that returns an errno returns when it fails. */
static int
fake_code(void)
{
	return fx.negative ? -1 : errno;
}

static struct fake_thing *
fake_make(const char *what)
{
	struct fake_thing *t = &fx.thing[fx.nr];

	assert_true(fx.nr++ < FAKES_MAX);
	memset(t, 0, sizeof(*t));
	t->what = what;
	t->alive = true;
	return t;
}

static void
fake_give(void *p, const char *what)
{
	struct fake_thing *t = p;

	assert_true(t >= fx.thing && t < fx.thing + fx.nr);
	assert_string_equal(t->what, what);
	assert_true(t->alive);
	t->alive = false;
}

/* Zero: all that was made was given back. */
static unsigned
fake_live(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < fx.nr; i++)
		n += fx.thing[i].alive;
	return n;
}

/* The n-th thing of that name, 0 the first; NULL: there are fewer. */
static __attribute__((unused)) struct fake_thing *
fake_thing(const char *what, unsigned n)
{
	for (unsigned i = 0; i < fx.nr; i++)
		if (strcmp(fx.thing[i].what, what) == 0 && n-- == 0)
			return &fx.thing[i];
	return NULL;
}

/* The number of the n-th object that is made, from 0. */
static uint32_t
fake_number(unsigned n)
{
	return 0x41 + n;
}

/* What the firmware called it. */
static uint32_t __attribute__((unused)) fake_number_of(const struct fake_thing *t)
{
	assert_non_null(t);
	return fake_number((unsigned)(t - fx.thing));
}

static const struct {
	uint32_t opcode, number; /* where the answer has the object's number */
	const char *what;
} fake_ops[] = {
	{CRL_CMD_OP_ALLOC_TRANSPORT_DOMAIN, CRL_PRM_ALLOC_TRANSPORT_DOMAIN_OUT_TRANSPORT_DOMAIN,
		"td"},
	{CRL_CMD_OP_CREATE_TIS, CRL_PRM_CREATE_TIS_OUT_TISN, "tis"},
	{CRL_CMD_OP_ALLOC_Q_COUNTER, CRL_PRM_ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID, "counter"},
	{CRL_CMD_OP_CREATE_CQ, CRL_PRM_CREATE_CQ_OUT_CQN, "cq"},
	{CRL_CMD_OP_CREATE_SQ, CRL_PRM_CREATE_SQ_OUT_SQN, "sq"},
	{CRL_CMD_OP_CREATE_RQ, CRL_PRM_CREATE_RQ_OUT_RQN, "rq"},
};

static unsigned
fake_op(const void *in)
{
	for (unsigned i = 0; i < sizeof(fake_ops) / sizeof(fake_ops[0]); i++)
		if (fake_ops[i].opcode == crl_prm_get(in, CRL_PRM_CMD_IN_OPCODE))
			return i;
	fail_msg("opcode 0x%x", crl_prm_get(in, CRL_PRM_CMD_IN_OPCODE));
	return 0;
}

static void
fake_answer(void *out, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(((uint8_t *)out)[i], 0);
}

static void
fake_refusal(void *out)
{
	crl_prm_set(out, CRL_PRM_CMD_OUT_STATUS, fx.fw_status);
	crl_prm_set(out, CRL_PRM_CMD_OUT_SYNDROME, fx.fw_status ? 0xabcdu : 0);
}

struct mlx5dv_devx_obj *__wrap_mlx5dv_devx_obj_create(
	struct ibv_context *c, const void *in, size_t in_bytes, void *out, size_t out_bytes);
struct mlx5dv_devx_obj *
__wrap_mlx5dv_devx_obj_create(
	struct ibv_context *c, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	unsigned op = fake_op(in);
	struct fake_thing *t;

	(void)c;
	fake_note("%s ", fake_ops[op].what);
	fake_answer(out, out_bytes);
	if (fake_fails()) {
		fake_refusal(out);
		return NULL;
	}
	t = fake_make(fake_ops[op].what);
	assert_true(in_bytes <= sizeof(t->in));
	memcpy(t->in, in, in_bytes);
	t->bytes = in_bytes;
	crl_prm_set(out, fake_ops[op].number, fake_number(fx.nr - 1));
	return (struct mlx5dv_devx_obj *)t;
}

int __wrap_mlx5dv_devx_obj_modify(
	struct mlx5dv_devx_obj *o, const void *in, size_t in_bytes, void *out, size_t out_bytes);
int
__wrap_mlx5dv_devx_obj_modify(
	struct mlx5dv_devx_obj *o, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	fake_note("ready-%s ", ((struct fake_thing *)o)->what);
	fake_answer(out, out_bytes);
	assert_true(in_bytes <= sizeof(fx.modify));
	memset(fx.modify, 0, sizeof(fx.modify));
	memcpy(fx.modify, in, in_bytes);
	if (!fake_fails())
		return 0;
	fake_refusal(out);
	return fake_code();
}

int __wrap_mlx5dv_devx_obj_query(
	struct mlx5dv_devx_obj *o, const void *in, size_t in_bytes, void *out, size_t out_bytes);
int
__wrap_mlx5dv_devx_obj_query(
	struct mlx5dv_devx_obj *o, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	fake_note("query-%s ", ((struct fake_thing *)o)->what);
	fake_answer(out, out_bytes);
	memset(fx.modify, 0, sizeof(fx.modify));
	memcpy(fx.modify, in, in_bytes);
	if (!fake_fails()) {
		crl_prm_set(out, CRL_PRM_QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER, fx.missed);
		return 0;
	}
	fake_refusal(out);
	return fake_code();
}

int __wrap_mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *o);
int
__wrap_mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *o)
{
	fake_note("-%s ", ((struct fake_thing *)o)->what);
	if (fake_refuses())
		return fake_code();
	fake_give(o, ((struct fake_thing *)o)->what);
	return 0;
}

struct mlx5dv_devx_umem *__wrap_mlx5dv_devx_umem_reg_ex(
	struct ibv_context *c, struct mlx5dv_devx_umem_in *in);
struct mlx5dv_devx_umem *
__wrap_mlx5dv_devx_umem_reg_ex(struct ibv_context *c, struct mlx5dv_devx_umem_in *in)
{
	struct fake_thing *t;

	(void)c;
	fake_note("umem ");
	if (fake_fails())
		return NULL;
	t = fake_make("umem");
	t->umem_in = *in;
	t->u.umem.umem_id = fake_number(fx.nr - 1);
	return &t->u.umem;
}

int __wrap_mlx5dv_devx_umem_dereg(struct mlx5dv_devx_umem *u);
int
__wrap_mlx5dv_devx_umem_dereg(struct mlx5dv_devx_umem *u)
{
	fake_note("-umem ");
	fake_give(u, "umem");
	return 0;
}

#endif /* CRL_TEST_FAKE_DEVX_H */
