/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splitting an EAL command line; see eal_args.h. EAL's own parser runs on what is left, so that
 * only the options that name devices are understood here, in all their spellings. Host only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eal_args.h"
#include "internal.h"

#define ARGS_STEP "read the EAL arguments"

/* An allow list that allows nothing: no host bridge has a function 7 that a driver would take. */
#define NO_DEVICE "0000:00:00.7"

enum device_option { NOT_ONE, ALLOW, BLOCK };

/*
 * Is argv[i] an option that names a device? Then *value is its value (NULL: it is missing) and
 * *words how many arguments it takes.
 */
static enum device_option
device_option(int argc, char **argv, int i, const char **value, int *words)
{
	static const struct {
		enum device_option kind;
		const char *brief, *full;
	} options[] = {{ALLOW, "-a", "--allow"}, {BLOCK, "-b", "--block"}};
	const char *arg = argv[i];

	for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
		size_t len = strlen(options[k].full);

		*words = 1;
		if (strcmp(arg, options[k].brief) == 0 || strcmp(arg, options[k].full) == 0) {
			*value = i + 1 < argc ? argv[i + 1] : NULL;
			*words = *value != NULL ? 2 : 1;
			return options[k].kind;
		}
		if (strncmp(arg, options[k].full, len) == 0 && arg[len] == '=') {
			*value = arg + len + 1;
			return options[k].kind;
		}
		if (strncmp(arg, options[k].brief, 2) == 0) {
			*value = arg + 2;
			return options[k].kind;
		}
	}
	return NOT_ONE;
}

/* "pci:BDF,devargs" to its parts; false when it names no PCI address. */
static bool
parse_device(const char *value, char bdf[16], const char **devargs)
{
	char name[32];
	size_t len;

	if (strncmp(value, "pci:", 4) == 0)
		value += 4;
	len = strcspn(value, ",");
	if (len >= sizeof(name))
		return false;
	memcpy(name, value, len);
	name[len] = '\0';
	*devargs = value[len] == ',' ? value + len + 1 : "";
	return crl_bdf_parse(name, bdf) == 0;
}

static bool
is_ours(const char *bdf, const char (*bdfs)[16], unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		if (strcmp(bdfs[i], bdf) == 0)
			return true;
	return false;
}

/* No more than there are in the machine, each once: there is room. */
static void
keep(struct crl_eal_args *out, const char *bdf, const char *devargs)
{
	struct crl_eal_dev *dev = &out->devs[out->nr_devs++];

	snprintf(dev->bdf, sizeof(dev->bdf), "%s", bdf);
	dev->devargs = devargs;
}

static int
keep_named(struct crl_eal_args *out, const char *bdf, const char *devargs, struct crl_err *err)
{
	for (unsigned i = 0; i < out->nr_devs; i++)
		if (strcmp(out->devs[i].bdf, bdf) == 0)
			return crl_err_set(
				err, -EINVAL, ARGS_STEP, "name it once", "-a names %s twice", bdf);
	keep(out, bdf, devargs);
	return 0;
}

static void
put(struct crl_eal_args *out, char *arg, int from)
{
	out->from[out->argc] = from;
	out->argv[out->argc++] = arg;
}

/* What the first pass over the arguments finds. */
struct found {
	unsigned nr_allow;	/* of any device */
	unsigned nr_allow_left; /* of devices that are EAL's */
	char blocked[CRL_EAL_DEVS_MAX][16];
	unsigned nr_blocked; /* of mlx5 devices, each once */
};

static int
look(char **argv, int end, const char (*bdfs)[16], unsigned nr, struct found *f,
	struct crl_eal_args *out, struct crl_err *err)
{
	int words = 1, ret = 0;

	for (int i = 1; i < end && ret == 0; i += words) {
		const char *value = NULL, *devargs;
		char bdf[16];
		enum device_option kind = device_option(end, argv, i, &value, &words);
		bool ours = kind != NOT_ONE && value != NULL &&
			    parse_device(value, bdf, &devargs) && is_ours(bdf, bdfs, nr);

		if (kind == NOT_ONE && strcmp(argv[i], "--no-pci") == 0)
			return crl_err_set(err, -EINVAL, ARGS_STEP,
				"leave it out, and name the devices with -a",
				"with --no-pci net_mlx5 cannot take a ConnectX");
		if (kind == ALLOW) {
			f->nr_allow++;
			f->nr_allow_left += !ours;
			if (ours)
				ret = keep_named(out, bdf, devargs, err);
		} else if (ours && !is_ours(bdf, (const char(*)[16])f->blocked, f->nr_blocked)) {
			strcpy(f->blocked[f->nr_blocked++], bdf);
		}
	}
	return ret;
}

/* Without -a: every mlx5 device that no -b names. */
static void
keep_all(const char (*bdfs)[16], unsigned nr, const struct found *f, struct crl_eal_args *out)
{
	for (unsigned i = 0; i < nr; i++)
		if (!is_ours(bdfs[i], (const char(*)[16])f->blocked, f->nr_blocked))
			keep(out, bdfs[i], "");
}

static void
insert(struct crl_eal_args *out, const struct found *f)
{
	static char allow[] = "-a", block[] = "-b";

	if (f->nr_allow > 0 && f->nr_allow_left == 0) {
		snprintf(out->inserts[0], sizeof(out->inserts[0]), NO_DEVICE);
		put(out, allow, 0);
		put(out, out->inserts[0], 0);
	}
	if (f->nr_allow > 0)
		return;
	for (unsigned i = 0; i < out->nr_devs; i++) {
		memcpy(out->inserts[i], out->devs[i].bdf, sizeof(out->devs[i].bdf));
		put(out, block, 0);
		put(out, out->inserts[i], 0);
	}
}

static void
copy_rest(int argc, char **argv, int end, const char (*bdfs)[16], unsigned nr,
	struct crl_eal_args *out)
{
	int words = 1;

	for (int i = 1; i < end; i += words) {
		const char *value = NULL, *devargs;
		char bdf[16];

		if (device_option(end, argv, i, &value, &words) == ALLOW && value != NULL &&
			parse_device(value, bdf, &devargs) && is_ours(bdf, bdfs, nr))
			continue;
		for (int w = 0; w < words; w++)
			put(out, argv[i + w], i + w);
	}
	for (int i = end; i < argc; i++) /* the program's own */
		put(out, argv[i], i);
}

int
crl_eal_args_split(int argc, char **argv, const char (*bdfs)[16], unsigned nr,
	struct crl_eal_args *out, struct crl_err *err)
{
	/* What there is, a -b and an address for each device at most, and a NULL behind them. */
	const size_t room = (size_t)argc + 2 * CRL_EAL_DEVS_MAX + 1;
	struct found f = {0};
	int end = 1, ret;

	memset(out, 0, sizeof(*out));
	if (argc < 1)
		return crl_err_set(err, -EINVAL, ARGS_STEP, "pass main()'s arguments",
			"there is no program name");
	if (nr > CRL_EAL_DEVS_MAX)
		return crl_err_set(
			err, -EINVAL, ARGS_STEP, "", "more than %u mlx5 devices", CRL_EAL_DEVS_MAX);
	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	ret = look(argv, end, bdfs, nr, &f, out, err);
	if (ret != 0)
		return ret;
	if (f.nr_allow == 0)
		keep_all(bdfs, nr, &f, out);
	out->argv = calloc(room, sizeof(*out->argv));
	out->from = calloc(room, sizeof(*out->from));
	if (out->argv == NULL || out->from == NULL) {
		crl_eal_args_free(out);
		return crl_fail_errno(err, ENOMEM, ARGS_STEP, "", "no memory");
	}
	put(out, argv[0], 0);
	insert(out, &f);
	copy_rest(argc, argv, end, bdfs, nr, out);
	return 0;
}

int
crl_eal_args_used(const struct crl_eal_args *args, int argc, int used)
{
	/* The argument after it is the first that EAL left alone, or there is none. */
	int next = used + 1 < args->argc ? args->from[used + 1] : argc;

	return next - 1;
}

void
crl_eal_args_free(struct crl_eal_args *args)
{
	free(args->argv);
	free(args->from);
	args->argv = NULL;
	args->from = NULL;
}

bool
crl_devargs_has(const char *devargs, const char *key)
{
	size_t len = strlen(key);

	for (const char *p = devargs; *p != '\0'; p += strcspn(p, ",")) {
		p += *p == ',';
		if (strncmp(p, key, len) == 0 && p[len] == '=')
			return true;
	}
	return false;
}
