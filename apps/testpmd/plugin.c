// SPDX-License-Identifier: BSD-3-Clause
/*
 * Finds librte_gpu_crl.so, the DPDK plugin with our gpudev drivers, beside this program, so that
 * nobody has to give -d. Loading it before EAL starts registers the drivers, as -d would do. Main
 * lcore, before crl_eal_init().
 */
#include "app.h"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN "librte_gpu_crl.so"
#define DRIVER "gpu_crl_"

/* From this program's folder: a build tree, an installed prefix, one folder for libraries. */
static const char *const places[] = {
	"../../drivers/gpu/" PLUGIN, CRL_TP_PLUGIN_FROM_BIN "/" PLUGIN, "../lib/" PLUGIN};

/* The value of EAL's option name at argv[i], in the spellings that getopt_long takes, or NULL. */
static const char *
value_of(int argc, char *const *argv, int i, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(argv[i], name, len) != 0)
		return NULL;
	if (argv[i][len] == '\0')
		return i + 1 < argc ? argv[i + 1] : NULL;
	if (name[1] != '-')
		return argv[i] + len; /* -dFILE */
	return argv[i][len] == '=' ? argv[i] + len + 1 : NULL;
}

bool
crl_tp_plugin_wanted(int argc, char *const *argv, const char *gpu)
{
	bool wanted = strncmp(gpu, DRIVER, strlen(DRIVER)) == 0;

	for (int i = 1; i < argc; i++) {
		const char *vdev = value_of(argc, argv, i, "--vdev");
		const char *file = value_of(argc, argv, i, "-d");

		if (file != NULL && strstr(file, PLUGIN) != NULL)
			return false; /* the user's own, from wherever it is */
		wanted |= vdev != NULL && strncmp(vdev, DRIVER, strlen(DRIVER)) == 0;
	}
	return wanted;
}

int
crl_tp_plugin_load(struct crl_err *err)
{
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *dir;

	if (n < 0)
		return crl_err_set(err, -errno, "load " PLUGIN, "mount /proc, or give -d FILE",
			"this program's own folder cannot be found");
	self[n] = '\0';
	dir = dirname(self);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *real;

		snprintf(path, sizeof(path), "%s/%s", dir, places[i]);
		real = realpath(path, NULL);
		if (real == NULL)
			continue;
		snprintf(path, sizeof(path), "%s", real);
		free(real);
		/* Never closed: EAL keeps the drivers that it registers. */
		if (dlopen(path, RTLD_NOW | RTLD_GLOBAL) == NULL)
			return crl_err_set(err, -ELIBACC, "load " PLUGIN,
				"build it against this DPDK, or give -d FILE", "%s", dlerror());
		printf("Loaded %s\n", path);
		return 0;
	}
	return crl_err_set(err, -ENOENT, "load " PLUGIN,
		"build it (config/setup.sh fetches DPDK's driver headers), or give -d FILE",
		"it is not in %s/%s, nor where the build tree has it", dir, CRL_TP_PLUGIN_FROM_BIN);
}
