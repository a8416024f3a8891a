// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a mapping of this process is made of, read from /proc/self/smaps: a ConnectX's doorbell page
 * is I/O memory (VmFlags io or pf), a software ConnectX's is plain. CUDA wants to be told which,
 * and guessing by trial would hide a wrong page.
 */
#include "crl_gpu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* True for the header line of a mapping: "start-end perms offset dev inode path". */
static bool
is_header(const char *line, uintptr_t *start, uintptr_t *end)
{
	unsigned long long s, e;
	char perms[8];

	if (sscanf(line, "%llx-%llx %7s", &s, &e, perms) != 3)
		return false;
	*start = (uintptr_t)s;
	*end = (uintptr_t)e;
	return true;
}

int
crl_gpu_page_is_io(const void *addr, bool *io)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	uintptr_t start = 0, end = 0, at = (uintptr_t)addr;
	char line[1024];
	int ret = -ENOENT;

	if (f == NULL)
		return -errno;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (is_header(line, &start, &end))
			continue;
		if (at < start || at >= end || strncmp(line, "VmFlags:", 8) != 0)
			continue;
		*io = strstr(line, " io") != NULL || strstr(line, " pf") != NULL;
		ret = 0;
		break;
	}
	fclose(f);
	return ret;
}
