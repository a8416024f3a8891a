/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.c with a machine of this file's own: devices with a sysfs in a folder, and the calls that
 * open one, written down, of which any can fail. Which device is taken, in which words another is
 * refused, what a failure undoes, and what keeps a context from closing.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "drivers/mlx5/internal.h"
#include "fake_sysfs.h"
#include "heap.h"

static struct ibv_context ibv;
static struct ibv_pd pd = {.handle = 5};
static struct crl_err err;
static struct crl_cfg cfg = {.size = sizeof(cfg)};

static struct {
	char list[512];
	size_t used;
	unsigned calls, fail_at, givers, refuse_at, refuse_to; /* refuse_to: and those up to it */
	int fail_with, nr_devs;
	bool negative, foreign; /* foreign: the device is no mlx5 */
	int lists, contexts, pds, tds, events;
	int regions; /* that were deregistered */
} w;

static bool
called(const char *word)
{
	w.used += (size_t)snprintf(w.list + w.used, sizeof(w.list) - w.used, "%s ", word);
	if (++w.calls != w.fail_at)
		return false;
	w.used += (size_t)snprintf(w.list + w.used, sizeof(w.list) - w.used, "! ");
	if (w.fail_with != 0)
		errno = w.fail_with;
	return true;
}

static bool
gave(const char *word)
{
	w.used += (size_t)snprintf(w.list + w.used, sizeof(w.list) - w.used, "-%s ", word);
	w.givers++;
	if (w.givers != w.refuse_at && (w.givers < w.refuse_at || w.givers > w.refuse_to))
		return false;
	errno = EBUSY;
	return true;
}

static int
code(void)
{
	return w.negative ? -1 : errno;
}

#define WRAP(type, name, ...)                                                                      \
	type __wrap_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__)

WRAP(struct ibv_device **, ibv_get_device_list, int *n)
{
	static struct ibv_device *list[4];

	if (called("list"))
		return NULL;
	for (int i = 0; i < w.nr_devs; i++)
		list[i] = &dev[i];
	list[w.nr_devs] = NULL;
	*n = w.nr_devs;
	w.lists++;
	return list;
}

WRAP(void, ibv_free_device_list, struct ibv_device **list)
{
	assert_ptr_equal(list[0], w.nr_devs ? &dev[0] : NULL);
	gave("list");
	w.lists--;
}

WRAP(bool, mlx5dv_is_supported, struct ibv_device *d)
{
	(void)d;
	return !w.foreign;
}

WRAP(struct ibv_context *, mlx5dv_open_device, struct ibv_device *d,
	struct mlx5dv_context_attr *attr)
{
	assert_int_equal(attr->flags, MLX5DV_CONTEXT_FLAGS_DEVX);
	if (called("open"))
		return NULL;
	ibv.device = d;
	w.contexts++;
	return &ibv;
}

WRAP(int, ibv_query_device, struct ibv_context *c, struct ibv_device_attr *attr)
{
	assert_ptr_equal(c, &ibv);
	strcpy(attr->fw_ver, "22.41.1000");
	attr->vendor_part_id = 0x101d;
	return called("query") ? code() : 0;
}

WRAP(int, mlx5dv_devx_query_eqn, struct ibv_context *c, uint32_t vector, uint32_t *eqn)
{
	assert_ptr_equal(c, &ibv);
	assert_int_equal(vector, 0);
	*eqn = 12;
	return called("eqn") ? code() : 0;
}

WRAP(struct ibv_pd *, ibv_alloc_pd, struct ibv_context *c)
{
	assert_ptr_equal(c, &ibv);
	if (called("pd"))
		return NULL;
	w.pds++;
	return &pd;
}

WRAP(int, ibv_dealloc_pd, struct ibv_pd *p)
{
	assert_ptr_equal(p, &pd);
	if (gave("pd"))
		return EBUSY;
	w.pds--;
	return 0;
}

WRAP(int, mlx5dv_init_obj, struct mlx5dv_obj *obj, uint64_t type)
{
	assert_int_equal(type, MLX5DV_OBJ_PD);
	assert_ptr_equal(obj->pd.in, &pd);
	obj->pd.out->pdn = 0x77;
	return called("pdn") ? code() : 0;
}

WRAP(int, ibv_close_device, struct ibv_context *c)
{
	assert_ptr_equal(c, &ibv);
	w.contexts--;
	return gave("open") ? -1 : 0;
}

static int
part(const char *word, struct crl_err *why, int *count)
{
	if (called(word))
		return crl_err_set(why, -errno, word, "", "it fails");
	if (count != NULL)
		++*count;
	return 0;
}

WRAP(int, crl_caps_query, struct crl_ctx *c, struct crl_err *why)
{
	(void)c;
	return part("caps", why, NULL);
}

WRAP(int, crl_td_create, struct crl_ctx *c, struct crl_err *why)
{
	assert_int_equal(c->pdn, 0x77);
	assert_non_null(crl_mem_host(c)->alloc);
	return part("td", why, &w.tds);
}

WRAP(void, crl_td_destroy, struct crl_ctx *c)
{
	(void)c;
	gave("td");
	w.tds--;
}

WRAP(int, crl_events_open, struct crl_ctx *c, struct crl_err *why)
{
	(void)c;
	return part("events", why, &w.events);
}

WRAP(void, crl_events_close, struct crl_ctx *c)
{
	(void)c;
	gave("events");
	w.events--;
}

WRAP(int, crl_region_dereg, struct crl_region *r, struct crl_err *why)
{
	if (gave("region"))
		return crl_err_set(why, -EBUSY, "region", "", "it stays");
	LIST_REMOVE(r, link);
	w.regions++;
	return 0;
}

static int
start(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	memset(&err, 0, sizeof(err));
	w.nr_devs = 1;
	heap_live = 0;
	cfg.device = NULL;
	cfg.flags = 0;
	return 0;
}

static void
assert_clean(void)
{
	assert_int_equal(w.lists | w.contexts | w.pds | w.tds | w.events | sysfs_files, 0);
	assert_int_equal(heap_live, 0);
}

#define OPENED "list open query eqn caps pd pdn td events -list "

static void
opened(void **state)
{
	struct crl_info info = {.size = sizeof(info)};
	struct crl_ctx *ctx;

	(void)state;
	assert_int_equal(crl_open(&cfg, &ctx, &err), 0);
	assert_string_equal(w.list, OPENED);
	assert_int_equal(ctx->eqn, 12);
	assert_int_equal(ctx->pdn, 0x77);
	assert_ptr_equal(crl_ibv_context(ctx), &ibv);
	assert_ptr_equal(crl_ibv_pd(ctx), &pd);
	assert_true(LIST_EMPTY(&ctx->queues) && LIST_EMPTY(&ctx->regions));
	assert_int_equal(crl_info(ctx, &info), 0);
	assert_int_equal(info.size, sizeof(info));
	assert_string_equal(info.name, "mlx5_0");
	assert_string_equal(info.bdf, "0000:01:00.0");
	assert_string_equal(info.fw_ver, "22.41.1000");
	assert_int_equal(info.vendor_part_id, 0x101d);
	assert_int_equal(info.numa_node, 3);
	assert_int_equal(crl_close(ctx, &err), 0);
	assert_string_equal(w.list, OPENED "-pd -events -td -open ");
	assert_clean();
	assert_int_equal(crl_close(NULL, &err), 0);
}

static void
each_fails(void **state)
{
	static const char *const undone[] = {"", "-list ", "-open -list ", "-open -list ",
		"-open -list ", "-open -list ", "-pd -open -list ", "-pd -open -list ",
		"-td -pd -open -list "};
	struct crl_ctx *ctx = NULL;
	char *after;

	for (unsigned n = 1; n <= 9; n++) {
		for (unsigned negative = 0; negative <= 1; negative++) {
			start(state);
			w.fail_at = n;
			w.fail_with = n == 1 ? ENOMEM : ENODEV;
			w.negative = negative;
			assert_int_equal(crl_open(&cfg, &ctx, &err), -w.fail_with);
			assert_int_equal(err.code, -w.fail_with);
			assert_true(err.step[0] && err.cause[0]);
			after = strchr(w.list, '!');
			assert_non_null(after);
			assert_string_equal(after + 2, undone[n - 1]);
			assert_clean();
			assert_null(ctx);
		}
		start(state); /* it does not say why, and an older failure is not the reason */
		w.fail_at = n;
		errno = 0;
		if (n == 1 || n == 2 || n == 6) {
			errno = EPERM;
			assert_int_equal(crl_open(&cfg, &ctx, &err), -EIO);
			assert_clean();
		}
	}
	start(state);
	heap_fail_at = 1;
	assert_int_equal(crl_open(&cfg, &ctx, &err), -ENOMEM);
	assert_string_equal(w.list, "list -list ");
	assert_clean();
}

/* What a program can do about it follows from the errno. */
static void
fixes(void **state)
{
	static const struct {
		int code;
		const char *fix;
	} rows[] = {{EACCES, "give this user access"}, {EPERM, "give this user access"},
		{EOPNOTSUPP, "DevX must be allowed"}, {ENODEV, "see what the kernel"}};
	struct crl_ctx *ctx;

	for (unsigned i = 0; i < 4; i++) {
		start(state);
		w.fail_at = 2;
		w.fail_with = rows[i].code;
		assert_int_equal(crl_open(&cfg, &ctx, &err), -rows[i].code);
		assert_ptr_equal(strstr(err.fix, rows[i].fix), err.fix);
		assert_ptr_equal(strstr(err.cause, "mlx5_0 does not open for DevX"), err.cause);
	}
	start(state);
	w.foreign = true;
	assert_int_equal(crl_open(&cfg, &ctx, &err), -ENOTSUP);
	assert_string_equal(err.cause, "mlx5_0 is no mlx5 device");
	assert_string_equal(w.list, "list -list ");
	start(state);
	w.fail_at = 1;
	w.fail_with = ENOSYS;
	assert_int_equal(crl_open(&cfg, &ctx, &err), -ENODEV);
	assert_string_equal(err.cause, "this kernel has no RDMA device");
	start(state);
	cfg.flags = 1;
	assert_int_equal(crl_open(&cfg, &ctx, &err), -EINVAL);
	assert_string_equal(err.cause, "flags is 0x1");
	assert_string_equal(w.list, "");
	cfg.flags = 0;
	cfg.size--;
	assert_int_equal(crl_open(&cfg, &ctx, &err), -EINVAL);
	cfg.size++;
	assert_string_equal(w.list, "");
}

#define ALL "mlx5_0 (0000:01:00.0), mlx5_1 (0000:81:00.1), mlx5_2 (no PCI address)"

static void
which(void **state)
{
	static const struct {
		const char *wanted;
		int nr, found; /* found: the device, or -errno */
		const char *cause;
	} rows[] = {
		{NULL, 0, -ENODEV, "this machine has no RDMA device"},
		{"mlx5_0", 0, -ENODEV, "this machine has no RDMA device"},
		{NULL, 1, 0, ""},
		{NULL, 3, -ENOTUNIQ, "there are 3 devices: " ALL},
		{NULL, 2, -ENOTUNIQ,
			"there are 2 devices: mlx5_0 (0000:01:00.0), mlx5_1 (0000:81:00.1)"},
		{"mlx5_0", 3, 0, ""},
		{"mlx5_1", 3, 1, ""},
		{"mlx5_2", 3, 2, ""},
		{"01:00.0", 3, 0, ""},
		{"0000:81:00.1", 3, 1, ""},
		{"81:00.1", 1, -ENODEV, "no RDMA device 81:00.1; there is mlx5_0 (0000:01:00.0)"},
		{"mlx5_3", 3, -ENODEV, "no RDMA device mlx5_3; there is " ALL},
		{"", 3, -ENODEV, "no RDMA device ; there is " ALL},
		{"0000:02:00.0", 3, -ENODEV, "no RDMA device 0000:02:00.0; there is " ALL},
	};
	struct crl_ctx *ctx;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		start(state);
		w.nr_devs = rows[i].nr;
		cfg.device = rows[i].wanted;
		if (rows[i].found < 0) {
			assert_int_equal(crl_open(&cfg, &ctx, &err), rows[i].found);
			assert_string_equal(err.cause, rows[i].cause);
			assert_string_equal(w.list, "list -list ");
		} else {
			assert_int_equal(crl_open(&cfg, &ctx, &err), 0);
			assert_ptr_equal(ibv.device, &dev[rows[i].found]);
			assert_int_equal(crl_close(ctx, &err), 0);
		}
		assert_clean();
	}
}

static void
names(void **state)
{
	struct ibv_device gone = dev[0];
	struct crl_dev_name name;

	(void)state;
	crl_dev_name_get(&dev[0], &name);
	assert_string_equal(name.bdf, "0000:01:00.0");
	assert_int_equal(name.numa_node, 3);
	crl_dev_name_get(&dev[1], &name); /* no number there */
	assert_string_equal(name.bdf, "0000:81:00.1");
	assert_int_equal(name.numa_node, -1);
	crl_dev_name_get(&dev[2], &name); /* no file there */
	assert_string_equal(name.name, "mlx5_2");
	assert_string_equal(name.bdf, "");
	assert_int_equal(name.numa_node, -1);
	snprintf(gone.ibdev_path, sizeof(gone.ibdev_path), "%s/ib3", root); /* leads nowhere */
	crl_dev_name_get(&gone, &name);
	assert_string_equal(name.bdf, "");
	strcat(gone.ibdev_path, "x");
	memset(&name, 0x5a, sizeof(name));
	crl_dev_name_get(&gone, &name);
	assert_string_equal(name.name, "mlx5_0");
	assert_string_equal(name.bdf, "");
	assert_int_equal(name.numa_node, -1);
	memset(gone.ibdev_path, 'x', sizeof(gone.ibdev_path) - 1); /* as long as there is room */
	crl_dev_name_get(&gone, &name);
	assert_string_equal(name.bdf, "");
}

/* What keeps a context open, in words; orphans do not, if the NIC lets go of them. */
static void
closing(void **state)
{
	struct crl_region region = {.bytes = 77}, orphan = {.orphan = true};
	struct crl_queue queue = {.cfg = {.index = 8}};
	struct crl_ctx *ctx;

	(void)state;
	assert_int_equal(crl_open(&cfg, &ctx, &err), 0);
	w.used = 0;
	w.list[0] = '\0';
	strcpy(ctx->port_name, "0 (it)");
	assert_int_equal(crl_close(ctx, &err), -EBUSY);
	assert_string_equal(err.cause, "port 0 (it) is open");
	ctx->port_name[0] = '\0';
	LIST_INSERT_HEAD(&ctx->queues, &queue, link);
	assert_int_equal(crl_close(ctx, &err), -EBUSY);
	assert_string_equal(err.cause, "queue 8 lives");
	LIST_REMOVE(&queue, link);
	LIST_INSERT_HEAD(&ctx->regions, &region, link);
	LIST_INSERT_HEAD(&ctx->regions, &orphan, link);
	assert_int_equal(crl_close(ctx, &err), -EBUSY);
	assert_ptr_equal(strstr(err.cause, "the region of 77 bytes at "), err.cause);
	LIST_REMOVE(&region, link);
	assert_string_equal(w.list, "");
	w.givers = 0;
	w.refuse_at = 1;
	assert_int_equal(crl_close(ctx, &err), -EBUSY);
	assert_string_equal(err.cause, "it stays");
	assert_int_equal(w.contexts, 1);
	w.used = 0;
	assert_int_equal(crl_close(ctx, &err), 0);
	assert_string_equal(w.list, "-region -pd -events -td -open ");
	assert_clean();
}

/* Held by something of the program's, the context stays as it was, and closes when that is gone. */
static void
closing_refused(void **state)
{
	struct crl_ctx *ctx;

	start(state);
	assert_int_equal(crl_open(&cfg, &ctx, &err), 0);
	w.givers = 0;
	w.refuse_at = 1;
	w.used = 0;
	assert_int_equal(crl_close(ctx, &err), -EBUSY);
	assert_int_equal(err.code, -EBUSY);
	assert_ptr_equal(strstr(err.cause, "the protection domain is in use: "), err.cause);
	assert_string_equal(w.list, "-pd ");
	w.used = 0;
	assert_int_equal(crl_close(ctx, &err), 0);
	assert_string_equal(w.list, "-pd -events -td -open ");
	assert_clean();
	start(state); /* held by what a failed call of ours had to leave */
	assert_int_equal(crl_open(&cfg, &ctx, &err), 0);
	w.givers = 0;
	w.refuse_at = 1;
	ctx->left = true;
	assert_int_equal(crl_close(ctx, &err), 0);
	w.pds--;
	assert_clean();
	start(state); /* the last step: there is nothing left to try again */
	assert_int_equal(crl_open(&cfg, &ctx, &err), 0);
	w.givers = 0;
	w.refuse_at = 4;
	assert_int_equal(crl_close(ctx, &err), -EIO);
	assert_ptr_equal(strstr(err.cause, "verbs did not"), err.cause);
	assert_clean();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(opened, start),
		cmocka_unit_test_setup(each_fails, start),
		cmocka_unit_test_setup(fixes, start),
		cmocka_unit_test_setup(which, start),
		cmocka_unit_test_setup(names, start),
		cmocka_unit_test_setup(closing, start),
		cmocka_unit_test_setup(closing_refused, start),
	};

	return cmocka_run_group_tests(tests, make_sysfs, remove_sysfs);
}
