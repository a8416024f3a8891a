/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doorbell pages against fake_queue.h: which kinds are tried and in which order, how a kind that is
 * not to be had is told, and one page of several queues, which each processor maps once.
 */
#include "fake_queue.h"

static struct crl_ctx ctx;
static struct crl_queue q[3];
static struct crl_err err;
static struct fake_mem gpu = {.name = "gpu"}, other = {.name = "other"};
static struct crl_mem gpu_mem, other_mem, plain;
static uint64_t shift = DEV_SHIFT;

static int
map(void *arg, void *addr, size_t bytes, void **dev)
{
	int ret = fake_map_mmio(arg, addr, bytes, dev);

	if (ret == 0)
		*dev = (void *)((uintptr_t)addr + shift);
	return ret;
}

/* Of another processor whose functions need no argument to tell them apart. */
static int
map_twice(void *arg, void *addr, size_t bytes, void **dev)
{
	int ret = map(arg, addr, bytes, dev);

	if (ret == 0)
		*dev = (void *)((uintptr_t)*dev + shift);
	return ret;
}

static struct crl_mem
mapping(struct fake_mem *m)
{
	struct crl_mem mem = fake_memory(m);

	mem.map_mmio = map;
	return mem;
}

static int
start(void **state)
{
	(void)state;
	memset(&fx, 0, sizeof(fx));
	memset(&ctx, 0, sizeof(ctx));
	memset(&err, 0, sizeof(err));
	memset(q, 0, sizeof(q));
	uar_refuse = 0;
	uar_shared_users = 0;
	shift = DEV_SHIFT;
	gpu_mem = mapping(&gpu);
	other_mem = mapping(&other);
	plain = (struct crl_mem){.name = "plain"};
	LIST_INIT(&ctx.queues);
	for (unsigned i = 0; i < 3; i++) {
		q[i].ctx = &ctx;
		q[i].rings = &plain;
		LIST_INSERT_HEAD(&ctx.queues, &q[i], link);
	}
	return 0;
}

static int
end(void **state)
{
	(void)state;
	assert_int_equal(fake_live(), 0);
	assert_int_equal(uar_shared_users, 0);
	assert_int_equal(gpu.mmio | other.mmio, 0);
	return 0;
}

static void
assert_got(enum crl_uar kind, const char *list)
{
	fx.used = 0;
	assert_int_equal(crl_uar_get(&q[0], &err), 0);
	assert_string_equal(fx.list, list);
	assert_int_equal(q[0].uar_kind, kind);
	assert_ptr_equal(q[0].uar_reg, q[0].uar->reg_addr);
	assert_false(q[0].uar_mapped);
	crl_uar_put(&q[0]);
	assert_null(q[0].uar);
}

static void
best_first(void **state)
{
	(void)state;
	assert_got(CRL_UAR_NC_DEDICATED, "uar-own-nc ");
	uar_refuse = 1u << CRL_UAR_NC_DEDICATED;
	assert_got(CRL_UAR_BF, "uar-own-nc uar-bf ");
	uar_refuse |= 1u << CRL_UAR_BF;
	assert_got(CRL_UAR_NC_SHARED, "uar-own-nc uar-bf uar-nc ");
	uar_refuse |= 1u << CRL_UAR_NC_SHARED;
	fx.used = 0;
	assert_int_equal(crl_uar_get(&q[0], &err), -EOPNOTSUPP);
	assert_string_equal(fx.list, "uar-own-nc uar-bf uar-nc ");
	assert_non_null(strstr(err.cause, "no kind of page: "));
	assert_string_equal(err.fix, "use fewer queues");
	assert_null(q[0].uar);
	crl_uar_put(&q[0]); /* harms nothing */
}

/* One that is asked for is that or none. */
static void
one_kind(void **state)
{
	static const struct {
		enum crl_uar kind;
		const char *list, *words, *fix;
	} kinds[] = {
		{CRL_UAR_NC_DEDICATED, "uar-own-nc ", "an uncached page of its own: ",
			"use CRL_UAR_ANY, or rdma-core 45 and newer"},
		{CRL_UAR_BF, "uar-bf ",
			"a write-combining (BlueFlame) page of its own: ", "use fewer queues"},
		{CRL_UAR_NC_SHARED, "uar-nc ",
			"an uncached page that all queues share: ", "use fewer queues"},
	};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		q[0].cfg.uar = kinds[i].kind;
		uar_refuse = 0;
		assert_got(kinds[i].kind, kinds[i].list);
		uar_refuse = 1u << kinds[i].kind;
		fx.used = 0;
		assert_int_equal(crl_uar_get(&q[0], &err), -EOPNOTSUPP);
		assert_string_equal(fx.list, kinds[i].list);
		assert_ptr_equal(strstr(err.cause, kinds[i].words), err.cause);
		assert_string_equal(err.fix, kinds[i].fix);
		/* It fails and does not say why; what an older failure left is not its reason. */
		uar_refuse = 0;
		fx.fail_at = fx.calls + 1;
		errno = EPERM;
		assert_int_equal(crl_uar_get(&q[0], &err), -EIO);
	}
	assert_string_equal(crl_uar_kind_str(CRL_UAR_ANY), "no page");
}

static void
mapped_once(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		q[i].cfg.uar = CRL_UAR_NC_SHARED;
		q[i].rings = i < 2 ? &gpu_mem : &other_mem;
		assert_int_equal(crl_uar_get(&q[i], &err), 0);
		assert_true(q[i].uar_mapped);
		assert_true(q[i].uar_moved);
		assert_int_equal((uintptr_t)q[i].uar_reg, (uintptr_t)q[i].uar->reg_addr + shift);
	}
	assert_string_equal(fx.list, "uar-nc mmio-gpu uar-nc uar-nc mmio-other ");
	fx.used = 0;
	crl_uar_put(&q[0]);
	assert_false(q[0].uar_mapped);
	crl_uar_put(&q[2]);
	crl_uar_put(&q[1]);
	assert_string_equal(fx.list, "-uar -mmio-other -uar -mmio-gpu -uar ");
}

/* Processors of which one has the argument of the other, as two that have none, are still two. */
static void
mapped_by_another(void **state)
{
	(void)state;
	other_mem.arg = gpu_mem.arg;
	other_mem.map_mmio = map_twice;
	for (unsigned i = 0; i < 2; i++) {
		q[i].cfg.uar = CRL_UAR_NC_SHARED;
		q[i].rings = i ? &other_mem : &gpu_mem;
		assert_int_equal(crl_uar_get(&q[i], &err), 0);
		assert_int_equal(
			(uintptr_t)q[i].uar_reg, (uintptr_t)q[i].uar->reg_addr + (i + 1u) * shift);
	}
	crl_uar_put(&q[0]);
	crl_uar_put(&q[1]);
	assert_string_equal(
		fx.list, "uar-nc mmio-gpu uar-nc mmio-gpu -mmio-gpu -uar -mmio-gpu -uar ");
}

/* Pages of their own are mapped each, though they are of one memory. */
static void
own_pages(void **state)
{
	(void)state;
	shift = 0; /* the GPU has the page where this processor has it */
	for (unsigned i = 0; i < 2; i++) {
		q[i].cfg.uar = CRL_UAR_BF;
		q[i].rings = &gpu_mem;
		assert_int_equal(crl_uar_get(&q[i], &err), 0);
		assert_true(q[i].uar_mapped);
		assert_false(q[i].uar_moved);
		assert_ptr_equal(q[i].uar_reg, q[i].uar->reg_addr);
	}
	assert_ptr_not_equal(q[0].uar_reg, q[1].uar_reg);
	crl_uar_put(&q[0]);
	crl_uar_put(&q[1]);
	assert_string_equal(
		fx.list, "uar-bf mmio-gpu uar-bf mmio-gpu -mmio-gpu -uar -mmio-gpu -uar ");
}

static void
not_mapped(void **state)
{
	(void)state;
	q[0].rings = &gpu_mem;
	fx.fail_at = 2;
	fx.fail_with = EPERM;
	assert_int_equal(crl_uar_get(&q[0], &err), -EPERM);
	assert_string_equal(fx.list, "uar-own-nc mmio-gpu ! -uar ");
	assert_int_equal(err.code, -EPERM);
	assert_non_null(strstr(err.cause, "on gpu: it says no"));
	assert_null(q[0].uar);
	/* One that shares the page but has not mapped it does not count as one that has. */
	q[0].cfg.uar = q[1].cfg.uar = CRL_UAR_NC_SHARED;
	q[0].rings = &plain;
	plain.arg = gpu_mem.arg;
	q[1].rings = &gpu_mem;
	assert_int_equal(crl_uar_get(&q[0], &err), 0);
	fx.used = 0;
	assert_int_equal(crl_uar_get(&q[1], &err), 0);
	assert_string_equal(fx.list, "uar-nc mmio-gpu ");
	fx.used = 0;
	crl_uar_put(&q[1]);
	crl_uar_put(&q[0]);
	assert_string_equal(fx.list, "-mmio-gpu -uar -uar ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(best_first, start, end),
		cmocka_unit_test_setup_teardown(one_kind, start, end),
		cmocka_unit_test_setup_teardown(mapped_once, start, end),
		cmocka_unit_test_setup_teardown(mapped_by_another, start, end),
		cmocka_unit_test_setup_teardown(own_pages, start, end),
		cmocka_unit_test_setup_teardown(not_mapped, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
