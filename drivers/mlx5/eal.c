/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL start-up: keep the mlx5 devices back, open each for DevX, then let EAL have the rest of its
 * arguments. The contexts come first, so that a device that does not open is told before EAL takes
 * memory. Main lcore.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "dpdk_internal.h"

#define EAL_STEP "start EAL"

int
crl_fail_rte(struct crl_err *err, int rte_error, const char *step, const char *fix,
	const char *cause, ...)
{
	int code = rte_error > 0 ? -rte_error : rte_error < 0 ? rte_error : -EIO;
	char text[sizeof(((struct crl_err *)NULL)->cause)];
	va_list ap;

	va_start(ap, cause);
	vsnprintf(text, sizeof(text), cause, ap);
	va_end(ap);
	return crl_err_set(
		err, code, step, fix, "%s: %s (rte_errno %d)", text, rte_strerror(-code), -code);
}

static int
by_address(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* PCI addresses of the machine's mlx5 devices into bdfs, in the order in which DPDK numbers ports.
 */
static int
list_mlx5(char (*bdfs)[16], unsigned max, unsigned *nr, struct crl_err *err)
{
	struct ibv_device **list;
	int n, ret = crl_list_devices(&list, &n, err);

	if (ret != 0)
		return ret;
	*nr = 0;
	for (int i = 0; i < n && *nr < max; i++) {
		struct crl_dev_name name;

		if (!mlx5dv_is_supported(list[i]))
			continue;
		crl_dev_name_get(list[i], &name);
		if (name.bdf[0] != '\0')
			memcpy(bdfs[(*nr)++], name.bdf, sizeof(name.bdf));
	}
	ibv_free_device_list(list);
	qsort(bdfs, *nr, sizeof(*bdfs), by_address);
	return 0;
}

static int
check_found(const struct crl_eal_args *args, char (*bdfs)[16], unsigned nr, struct crl_err *err)
{
	char there[160] = "";

	if (args->nr_devs > 0)
		return 0;
	for (unsigned i = 0; i < nr; i++)
		crl_append(there, sizeof(there), "%s%s", i ? ", " : "", bdfs[i]);
	if (nr == 0)
		return crl_err_set(err, -ENODEV, EAL_STEP,
			"load mlx5_ib and rdma-core's providers, or run under softcx run",
			"this machine has no mlx5 device");
	return crl_err_set(err, -ENODEV, EAL_STEP, "name one of those with -a",
		"the arguments leave no mlx5 device; there is %s", there);
}

/* EAL prints what it minds; what most often helps follows from the errno. */
static const char *
fix_of(int error)
{
	switch (error) {
	case EINVAL:
		return "mend the EAL option; the program's own options go behind --";
	case EIO: /* the lock of its config */
	case EAGAIN:
		return "if another DPDK program runs here, give --file-prefix NAME";
	default:
		return "without hugepages give --no-huge -m 512";
	}
}

static void
close_all(struct crl_eal *eal)
{
	for (unsigned i = 0; i < eal->args.nr_devs; i++)
		if (eal->ctx[i] != NULL)
			crl_close(eal->ctx[i], NULL);
}

static int
open_all(struct crl_eal *eal, struct crl_err *err)
{
	for (unsigned i = 0; i < eal->args.nr_devs; i++) {
		struct crl_cfg cfg = {.size = sizeof(cfg), .device = eal->args.devs[i].bdf};
		int ret = crl_open(&cfg, &eal->ctx[i], err);

		if (ret != 0)
			return ret;
	}
	return 0;
}

CRL_PUBLIC int
crl_eal_init(int argc, char **argv, struct crl_eal **out, struct crl_err *err)
{
	char bdfs[CRL_EAL_DEVS_MAX][16];
	struct crl_eal *eal;
	unsigned nr = 0;
	int ret, used;

	ret = list_mlx5(bdfs, CRL_EAL_DEVS_MAX, &nr, err);
	if (ret != 0)
		return ret;
	eal = calloc(1, sizeof(*eal));
	if (eal == NULL)
		return crl_fail_errno(err, ENOMEM, EAL_STEP, "", "no memory");
	ret = crl_eal_args_split(argc, argv, (const char(*)[16])bdfs, nr, &eal->args, err);
	if (ret != 0)
		goto undo_eal;
	ret = check_found(&eal->args, bdfs, nr, err);
	if (ret == 0)
		ret = open_all(eal, err);
	if (ret != 0)
		goto undo_ctx;
	used = rte_eal_init(eal->args.argc, eal->args.argv);
	if (used < 0) {
		ret = crl_fail_rte(err, rte_errno, EAL_STEP, fix_of(rte_errno),
			"rte_eal_init failed, and EAL's own message is above");
		goto undo_ctx;
	}
	ret = crl_eal_args_used(&eal->args, argc, used);
	argv[ret] = argv[0];
	*out = eal;
	return ret;

undo_ctx:
	close_all(eal);
	crl_eal_args_free(&eal->args);
undo_eal:
	free(eal);
	return ret;
}

CRL_PUBLIC int
crl_eal_cleanup(struct crl_eal *eal, struct crl_err *err)
{
	int ret = 0;

	if (eal == NULL)
		return 0;
	/* All or none, as far as the NIC lets go. */
	for (unsigned i = 0; i < eal->args.nr_devs && ret == 0; i++)
		if (eal->ctx[i] != NULL)
			ret = crl_ctx_idle(eal->ctx[i], err);
	for (unsigned i = 0; i < eal->args.nr_devs && ret == 0; i++) {
		ret = crl_close(eal->ctx[i], err);
		if (ret != -EBUSY)
			eal->ctx[i] = NULL;
	}
	if (ret != 0)
		return ret;
	crl_gpudev_put_all(eal);
	ret = rte_eal_cleanup();
	if (ret != 0)
		ret = crl_fail_rte(err, -ret, "clean EAL up", "", "rte_eal_cleanup failed");
	crl_eal_args_free(&eal->args);
	free(eal);
	return ret;
}

CRL_PUBLIC unsigned
crl_eal_nr_devices(const struct crl_eal *eal)
{
	return eal->args.nr_devs;
}

CRL_PUBLIC struct crl_ctx *
crl_eal_ctx(const struct crl_eal *eal, unsigned i)
{
	return i < eal->args.nr_devs ? eal->ctx[i] : NULL;
}
