/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * eal.c with devices, contexts and an EAL of this file's own: which devices are taken, in which
 * order things are opened and closed, what a failure undoes, and in which words it is told.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_per_lcore.h>

#include "drivers/mlx5/dpdk_internal.h"
#include "heap.h"

RTE_DEFINE_PER_LCORE(int, _rte_errno);

#define DEVS 36

static struct ibv_device dev[DEVS];
static struct ibv_device *list[DEVS + 1];
static struct crl_ctx ctx[DEVS];
static struct crl_eal *eal;
static struct crl_err err;

static struct {
	char log[1024], eal_argv[256];
	size_t used;
	unsigned calls, fail_at, givers, refuse_at,
		busy; /* busy: the context that is not idle + 1 */
	int fail_with, nr_devs, lists, contexts, eal_used, cleaned, gpus;
} w;

static void
note(const char *word, const char *what)
{
	w.used += (size_t)snprintf(w.log + w.used, sizeof(w.log) - w.used, "%s%s ", word, what);
	assert_true(w.used < sizeof(w.log));
}

static bool
fails(void)
{
	if (++w.calls != w.fail_at)
		return false;
	note("!", "");
	return true;
}

/* Devices: the second is no mlx5, the third no PCI device, and the rest in falling order. */
int __wrap_crl_list_devices(struct ibv_device ***out, int *n, struct crl_err *why);
int
__wrap_crl_list_devices(struct ibv_device ***out, int *n, struct crl_err *why)
{
	note("list", "");
	if (fails())
		return crl_err_set(why, -EACCES, "list", "", "none");
	for (int i = 0; i < w.nr_devs; i++)
		list[i] = &dev[i];
	*n = w.nr_devs;
	*out = list;
	w.lists++;
	return 0;
}

void __wrap_ibv_free_device_list(struct ibv_device **l);
void
__wrap_ibv_free_device_list(struct ibv_device **l)
{
	assert_ptr_equal(l, list);
	w.lists--;
}

bool __wrap_mlx5dv_is_supported(struct ibv_device *d);
bool
__wrap_mlx5dv_is_supported(struct ibv_device *d)
{
	return d != &dev[1];
}

void __wrap_crl_dev_name_get(struct ibv_device *d, struct crl_dev_name *name);
void
__wrap_crl_dev_name_get(struct ibv_device *d, struct crl_dev_name *name)
{
	int i = (int)(d - dev);

	memset(name, 0, sizeof(*name));
	if (i != 2)
		snprintf(name->bdf, sizeof(name->bdf), "0000:%02x:00.0", 0x50 - i);
}

int __wrap_crl_open(const struct crl_cfg *cfg, struct crl_ctx **out, struct crl_err *why);
int
__wrap_crl_open(const struct crl_cfg *cfg, struct crl_ctx **out, struct crl_err *why)
{
	assert_int_equal(cfg->size, sizeof(*cfg));
	assert_int_equal(cfg->flags, 0);
	note("+", cfg->device + 5);
	if (fails())
		return crl_err_set(why, -EPERM, "open", "", "it does not");
	strcpy(ctx[w.contexts].info.bdf, cfg->device);
	*out = &ctx[w.contexts++];
	return 0;
}

int __wrap_crl_close(struct crl_ctx *c, struct crl_err *why);
int
__wrap_crl_close(struct crl_ctx *c, struct crl_err *why)
{
	if (c == NULL)
		return 0;
	note("-", c->info.bdf + 5);
	if (++w.givers == w.refuse_at) {
		note("!", "");
		return crl_err_set(why, -EBUSY, "close", "", "it stays");
	}
	w.contexts--;
	return 0;
}

int __wrap_crl_ctx_idle(const struct crl_ctx *c, struct crl_err *why);
int
__wrap_crl_ctx_idle(const struct crl_ctx *c, struct crl_err *why)
{
	note("idle-", c->info.bdf + 5);
	return c + 1 - ctx == w.busy ? crl_err_set(why, -EBUSY, "idle", "", "a queue lives") : 0;
}

int
rte_eal_init(int argc, char **argv)
{
	note("eal", "");
	w.eal_argv[0] = '\0';
	for (int i = 0; i < argc; i++)
		crl_append(w.eal_argv, sizeof(w.eal_argv), "%s%s", i ? " " : "", argv[i]);
	assert_null(argv[argc]);
	if (!fails())
		return w.eal_used;
	rte_errno = w.fail_with;
	return -1;
}

int
rte_eal_cleanup(void)
{
	note("-eal", "");
	w.cleaned++;
	return ++w.givers == w.refuse_at ? -EFAULT : 0;
}

const char *
rte_strerror(int errnum)
{
	return errnum == ENODEV ? "gone" : "odd";
}

void
crl_gpudev_put_all(struct crl_eal *e)
{
	assert_ptr_equal(e, eal);
	note("-gpus", "");
	w.gpus++;
}

static int
start(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	memset(&err, 0, sizeof(err));
	memset(ctx, 0, sizeof(ctx));
	heap_live = 0;
	w.eal_used = 1000; /* all */
	w.nr_devs = 5;	   /* of which 50:, 4d: and 4c: are ours */
	eal = NULL;
	return 0;
}

static void
assert_clean(void)
{
	assert_int_equal(w.lists | w.contexts, 0);
	assert_int_equal(heap_live, 0);
}

/* Splits a line of words; argv[0] is p. */
static int
init(const char *line)
{
	static char words[256], *argv[32];
	int argc = 0, ret;

	strcpy(words, line);
	for (char *p = strtok(words, " "); p != NULL; p = strtok(NULL, " "))
		argv[argc++] = p;
	argv[argc] = NULL;
	w.used = 0;
	ret = crl_eal_init(argc, argv, &eal, &err);
	if (ret >= 0)
		assert_string_equal(argv[ret], "p"); /* as rte_eal_init() leaves it */
	return ret;
}

static void
starts(void **state)
{
	(void)state;
	w.eal_used = 8; /* p -b B -b B -b B -l 0: up to the 0, which is the caller's second */
	assert_int_equal(init("p -l 0 -- x"), 2);
	assert_string_equal(w.log, "list +4c:00.0 +4d:00.0 +50:00.0 eal ");
	assert_string_equal(
		w.eal_argv, "p -b 0000:4c:00.0 -b 0000:4d:00.0 -b 0000:50:00.0 -l 0 -- x");
	assert_int_equal(crl_eal_nr_devices(eal), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_ptr_equal(crl_eal_ctx(eal, i), &ctx[i]);
	assert_null(crl_eal_ctx(eal, 3));
	w.used = 0;
	assert_int_equal(crl_eal_cleanup(eal, &err), 0);
	assert_string_equal(w.log, "idle-4c:00.0 idle-4d:00.0 idle-50:00.0 -4c:00.0 -4d:00.0 "
				   "-50:00.0 -gpus -eal ");
	assert_clean();
	assert_int_equal(crl_eal_cleanup(NULL, &err), 0);
	w.eal_used = 0; /* it stopped before the first, which is the caller's own */
	assert_int_equal(init("p -a 0000:02:00.0 -a 0000:4c:00.0"), 0);
	assert_int_equal(crl_eal_nr_devices(eal), 1);
	assert_int_equal(crl_eal_cleanup(eal, &err), 0);
}

static void
words(void **state)
{
	(void)state;
	assert_int_equal(crl_fail_rte(&err, ENODEV, "step", "fix", "%d things", 3), -ENODEV);
	assert_string_equal(err.cause, "3 things: gone (rte_errno 19)");
	assert_string_equal(err.step, "step");
	assert_string_equal(err.fix, "fix");
	assert_int_equal(crl_fail_rte(NULL, ENODEV, "step", "fix", "x"), -ENODEV);
}

static void
each_fails(void **state)
{
	static const int codes[] = {-EACCES, -EPERM, -EPERM, -EPERM, -ENODEV};
	static const char *const undone[] = {
		"", "", "-4c:00.0 ", "-4c:00.0 -4d:00.0 ", "-4c:00.0 -4d:00.0 -50:00.0 "};

	for (unsigned n = 1; n <= 5; n++) {
		start(state);
		w.fail_at = n;
		w.fail_with = ENODEV;
		assert_int_equal(init("p"), codes[n - 1]);
		assert_int_equal(err.code, codes[n - 1]);
		assert_string_equal(strchr(w.log, '!') + 2, undone[n - 1]);
		assert_clean();
		assert_null(eal);
	}
	assert_string_equal(err.cause,
		"rte_eal_init failed, and EAL's own message is above: gone (rte_errno 19)");
	for (unsigned n = 1; n <= 3; n++) { /* itself and two lists of arguments */
		start(state);
		heap_fail_at = n;
		assert_int_equal(init("p"), -ENOMEM);
		assert_string_equal(w.log, "list ");
		assert_clean();
	}
	start(state);
	assert_int_equal(init("p --no-pci"), -EINVAL);
	assert_clean();
}

/* What helps when EAL does not start follows from its errno. */
static void
fixes(void **state)
{
	static const struct {
		int code, ret;
		const char *fix;
	} rows[] = {{EINVAL, -EINVAL, "mend the EAL option"},
		{EIO, -EIO, "if another DPDK program runs"},
		{EAGAIN, -EAGAIN, "if another DPDK program runs"},
		{ENOMEM, -ENOMEM, "without hugepages"}, {-ENODEV, -ENODEV, "without hugepages"},
		{0, -EIO, "without hugepages"}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(state);
		w.fail_at = 5;
		w.fail_with = rows[i].code;
		assert_int_equal(init("p"), rows[i].ret);
		assert_ptr_equal(strstr(err.fix, rows[i].fix), err.fix);
	}
}

static void
none_left(void **state)
{
	(void)state;
	assert_int_equal(init("p -a 0000:99:00.0"), -ENODEV);
	assert_string_equal(err.cause, "the arguments leave no mlx5 device; there is "
				       "0000:4c:00.0, 0000:4d:00.0, 0000:50:00.0");
	assert_string_equal(w.log, "list ");
	assert_clean();
	w.nr_devs = 0;
	assert_int_equal(init("p"), -ENODEV);
	assert_string_equal(err.cause, "this machine has no mlx5 device");
	assert_clean();
}

/* More than there is room for: as many as there is, the first of the list. */
static void
many(void **state)
{
	(void)state;
	w.nr_devs = DEVS;
	assert_int_equal(init("p"), 0);
	assert_int_equal(crl_eal_nr_devices(eal), CRL_EAL_DEVS_MAX);
	assert_string_equal(crl_eal_ctx(eal, 0)->info.bdf, "0000:2f:00.0");
	eal->port[0] = (struct crl_port *)eal; /* what lies behind the last context */
	assert_null(crl_eal_ctx(eal, CRL_EAL_DEVS_MAX));
	assert_int_equal(crl_eal_cleanup(eal, &err), 0);
	assert_clean();
	start(state);
	w.nr_devs = DEVS;
	w.fail_at = CRL_EAL_DEVS_MAX + 2; /* EAL */
	w.fail_with = ENODEV;
	assert_int_equal(init("p"), -ENODEV);
	assert_int_equal(w.givers, CRL_EAL_DEVS_MAX);
	assert_clean();
}

/* All or none, as far as the NIC lets go; what was closed is not closed again. */
static void
cleanup(void **state)
{
	(void)state;
	assert_int_equal(init("p"), 0);
	for (w.busy = 1; w.busy <= 3; w.busy++) {
		w.used = 0;
		assert_int_equal(crl_eal_cleanup(eal, &err), -EBUSY);
		assert_string_equal(err.cause, "a queue lives");
		assert_null(strchr(w.log, '+'));
		assert_null(strstr(w.log, " -"));
	}
	w.busy = 0;
	w.refuse_at = 2;
	w.used = 0;
	assert_int_equal(crl_eal_cleanup(eal, &err), -EBUSY);
	assert_string_equal(w.log, "idle-4c:00.0 idle-4d:00.0 idle-50:00.0 -4c:00.0 -4d:00.0 ! ");
	assert_int_equal(w.contexts, 2);
	w.refuse_at = 0;
	w.used = 0;
	assert_int_equal(crl_eal_cleanup(eal, &err), 0);
	assert_string_equal(w.log, "idle-4d:00.0 idle-50:00.0 -4d:00.0 -50:00.0 -gpus -eal ");
	assert_clean();
	start(state);
	assert_int_equal(init("p"), 0);
	w.refuse_at = 4; /* EAL's own end */
	assert_int_equal(crl_eal_cleanup(eal, &err), -EFAULT);
	assert_string_equal(err.cause, "rte_eal_cleanup failed: odd (rte_errno 14)");
	assert_clean();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(starts, start),
		cmocka_unit_test_setup(words, start),
		cmocka_unit_test_setup(each_fails, start),
		cmocka_unit_test_setup(fixes, start),
		cmocka_unit_test_setup(none_left, start),
		cmocka_unit_test_setup(many, start),
		cmocka_unit_test_setup(cleanup, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
