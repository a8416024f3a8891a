/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * td.c and devx.c against fake_devx.h: the commands, bit by bit, what each failure undoes and how
 * it is told, and the 32-bit counter of missed packets that a program sees as 64 bits.
 */
#include "fake_devx.h"

static struct crl_ctx ctx;
static struct crl_err err;

static int
start(void **state)
{
	(void)state;
	memset(&fx, 0, sizeof(fx));
	memset(&ctx, 0, sizeof(ctx));
	memset(&err, 0, sizeof(err));
	ctx.tdn = ctx.tisn = ctx.counter_set = 0x5a;
	return 0;
}

/* Nothing of a command is set but what it is made with. */
static void
assert_command(const void *got, size_t bytes, uint32_t opcode, uint32_t field, uint32_t value)
{
	uint32_t want[256] = {0};

	assert_true(bytes <= sizeof(want));
	crl_prm_set(want, CRL_PRM_CMD_IN_OPCODE, opcode);
	if (field != 0)
		crl_prm_set(want, field, value);
	assert_memory_equal(got, want, bytes);
}

static void
made(void **state)
{
	uint32_t in[CRL_PRM_CREATE_TIS_IN_BYTES / 4] = {0};
	const struct fake_thing *t;

	(void)state;
	assert_int_equal(crl_td_create(&ctx, &err), 0);
	assert_string_equal(fx.list, "td tis counter ");
	assert_int_equal(ctx.tdn, fake_number(0));
	assert_int_equal(ctx.tisn, fake_number(1));
	assert_int_equal(ctx.counter_set, fake_number(2));
	assert_int_equal(ctx.info.own_counter, 1);
	t = fake_thing("td", 0);
	assert_int_equal(t->bytes, CRL_PRM_ALLOC_TRANSPORT_DOMAIN_IN_BYTES);
	assert_command(t->in, t->bytes, CRL_CMD_OP_ALLOC_TRANSPORT_DOMAIN, 0, 0);
	t = fake_thing("counter", 0);
	assert_int_equal(t->bytes, CRL_PRM_ALLOC_Q_COUNTER_IN_BYTES);
	assert_command(t->in, t->bytes, CRL_CMD_OP_ALLOC_Q_COUNTER, 0, 0);
	t = fake_thing("tis", 0);
	assert_int_equal(t->bytes, sizeof(in));
	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_CREATE_TIS);
	crl_prm_set(crl_prm_at(in, CRL_PRM_CREATE_TIS_IN_CTX), CRL_PRM_TISC_TRANSPORT_DOMAIN,
		fake_number(0));
	assert_memory_equal(t->in, in, sizeof(in));
	crl_td_destroy(&ctx);
	assert_string_equal(fx.list, "td tis counter -counter -tis -td ");
	crl_td_destroy(&ctx); /* once more harms nothing */
	assert_int_equal(fake_live(), 0);
}

static void
each_fails(void **state)
{
	static const char *const lists[] = {"td ! ", "td tis ! -td ", "td tis counter ! -tis -td "};
	static const char *const steps[] = {
		"allocate a transport domain", "create TIS", "allocate a counter set"};

	for (unsigned n = 1; n <= 3; n++) {
		start(state);
		fx.fail_at = n;
		fx.fail_with = EPERM;
		assert_int_equal(crl_td_create(&ctx, &err), -EPERM);
		assert_string_equal(fx.list, lists[n - 1]);
		assert_int_equal(err.code, -EPERM);
		assert_string_equal(err.step, steps[n - 1]);
		assert_int_equal(err.fw_status, 0);
		assert_int_equal(fake_live(), 0);
		assert_int_equal(ctx.tisn, n > 2 ? fake_number(1) : 0x5a);
		assert_int_equal(ctx.info.own_counter, 0);
		/* It does not say why; what an older failure left is not its reason. */
		start(state);
		fx.fail_at = n;
		errno = EPERM;
		assert_int_equal(crl_td_create(&ctx, &err), -EIO);
	}
}

/* The firmware says no: told by its own words, but for the counter, without which queues run. */
static void
firmware_refuses(void **state)
{
	uint64_t missed = 3;

	for (unsigned n = 1; n <= 2; n++) {
		start(state);
		fx.fail_at = n;
		fx.fail_with = EREMOTEIO;
		fx.fw_status = CRL_CMD_STAT_BAD_PARAM_ERR;
		assert_int_equal(crl_td_create(&ctx, &err), -EREMOTEIO);
		assert_int_equal(err.fw_status, CRL_CMD_STAT_BAD_PARAM_ERR);
		assert_int_equal(err.fw_syndrome, 0xabcd);
		assert_int_equal(fake_live(), 0);
	}
	start(state);
	fx.fail_at = 3;
	fx.fw_status = CRL_CMD_STAT_NO_RES_ERR;
	ctx.counter_set = 0;
	assert_int_equal(crl_td_create(&ctx, &err), 0);
	assert_int_equal(ctx.counter_set, 0);
	assert_int_equal(ctx.info.own_counter, 0);
	memset(&err, 0, sizeof(err));
	assert_int_equal(crl_missed(&ctx, &missed, &err), -ENOTSUP);
	assert_int_equal(err.code, -ENOTSUP);
	assert_int_equal(missed, 3);
	assert_string_equal(fx.list, "td tis counter ! ");
	crl_td_destroy(&ctx);
	assert_int_equal(fake_live(), 0);
}

static void
missed(void **state)
{
	static const struct {
		uint32_t seen;
		uint64_t told;
	} looks[] = {{5, 5}, {5, 5}, {0xfffffff0u, 0xfffffff0u}, {0x10, 0x100000010ull},
		{0x0f, 0x20000000full}};
	uint64_t packets;

	(void)state;
	assert_int_equal(crl_td_create(&ctx, &err), 0);
	for (unsigned i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		fx.missed = looks[i].seen;
		assert_int_equal(crl_missed(&ctx, &packets, &err), 0);
		assert_true(packets == looks[i].told);
		assert_command(fx.modify, CRL_PRM_QUERY_Q_COUNTER_IN_BYTES,
			CRL_CMD_OP_QUERY_Q_COUNTER, CRL_PRM_QUERY_Q_COUNTER_IN_COUNTER_SET_ID,
			fake_number(2));
	}
	fx.missed = 0x1f;
	for (unsigned negative = 0; negative <= 1; negative++) {
		fx.calls = 0;
		fx.fail_at = 1;
		fx.fail_with = ENODEV;
		fx.negative = negative;
		packets = 3;
		assert_int_equal(crl_missed(&ctx, &packets, &err), -ENODEV);
		assert_int_equal(err.code, -ENODEV);
		assert_string_equal(err.step, "read missed packets");
		assert_int_equal(packets, 3);
	}
	assert_int_equal(crl_missed(&ctx, &packets, &err), 0); /* and nothing was lost by it */
	assert_true(packets == 0x20000001full);
	crl_td_destroy(&ctx);
}

/* What the NIC does not let go of is told, and stays to be given back again. */
static void
kept(void **state)
{
	struct mlx5dv_devx_obj *td;

	(void)state;
	assert_int_equal(crl_td_create(&ctx, &err), 0);
	td = ctx.td;
	for (unsigned negative = 0; negative <= 1; negative++) {
		fx.givers = 0;
		fx.refuse_at = 1;
		fx.negative = negative;
		assert_int_equal(crl_devx_destroy(&ctx.td, "destroy it", &err), -EBUSY);
		assert_int_equal(err.code, -EBUSY);
		assert_string_equal(err.step, "destroy it");
		assert_ptr_equal(ctx.td, td);
	}
	fx.refuse_at = 0;
	assert_int_equal(crl_devx_destroy(&ctx.td, "", &err), 0);
	assert_null(ctx.td);
	crl_td_destroy(&ctx);
	assert_int_equal(fake_live(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(made, start),
		cmocka_unit_test_setup(each_fails, start),
		cmocka_unit_test_setup(firmware_refuses, start),
		cmocka_unit_test_setup(missed, start),
		cmocka_unit_test_setup(kept, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
