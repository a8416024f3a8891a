/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sysfs in a folder, with three RDMA devices: the first on NUMA node 3, the second with no number
 * where its node should stand, the third no PCI device. ib3 leads to a device that is not there. To
 * be included by one file of a test.
 */
#ifndef CRL_TEST_FAKE_SYSFS_H
#define CRL_TEST_FAKE_SYSFS_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <infiniband/verbs.h>

static struct ibv_device dev[3];
static int sysfs_files; /* that are open */

FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *
__wrap_fopen64(const char *path, const char *mode)
{
	FILE *f = __real_fopen64(path, mode);

	sysfs_files += f != NULL;
	return f;
}

int __real_fclose(FILE *f);
int __wrap_fclose(FILE *f);
int
__wrap_fclose(FILE *f)
{
	sysfs_files--;
	return __real_fclose(f);
}

static char root[] = "/tmp/crl_sysfs_XXXXXX";

static void
put(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int
make_sysfs(void **state)
{
	static const char *const folders[] = {
		"0000:01:00.0", "0000:81:00.1", "virtual", "ib0", "ib1", "ib2", "ib3"};
	char path[256], target[256];

	(void)state;
	if (mkdtemp(root) == NULL)
		return -1;
	for (int i = 0; i < 7; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		if (mkdir(path, 0700) != 0)
			return -1;
	}
	snprintf(path, sizeof(path), "%s/ib3/device", root);
	if (symlink("../0000:99:00.0", path) != 0)
		return -1;
	for (int i = 0; i < 3; i++) {
		snprintf(dev[i].name, sizeof(dev[i].name), "mlx5_%d", i);
		snprintf(dev[i].ibdev_path, sizeof(dev[i].ibdev_path), "%s/ib%d", root, i);
		snprintf(path, sizeof(path), "%s/ib%d/device", root, i);
		snprintf(target, sizeof(target), "../%s", folders[i]);
		if (symlink(target, path) != 0)
			return -1;
	}
	put("0000:01:00.0/numa_node", "3\n");
	put("0000:81:00.1/numa_node", "what\n");
	return 0;
}

static int
remove_sysfs(void **state)
{
	char line[128];

	(void)state;
	snprintf(line, sizeof(line), "rm -r %s", root);
	return system(line);
}

#endif /* CRL_TEST_FAKE_SYSFS_H */
