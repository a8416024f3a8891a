/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading below the root. Where SYSFS_PATH is set (rdma-core's own variable, which a software NIC
 * uses), its tree is laid over sys/: a file is taken from there if it is there. Host only.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"

/* The two places of a path: [0] in the overlay or "", [1] below the root. */
struct places {
	char at[2][PATH_MAX + 16];
};

static void
places(const struct doctor *d, struct places *p, const char *fmt, va_list ap)
{
	char path[PATH_MAX];

	vsnprintf(path, sizeof(path), fmt, ap);
	p->at[0][0] = '\0';
	if (d->nic_sys[0] != '\0' && strncmp(path, "sys/", 4) == 0 &&
		snprintf(p->at[0], sizeof(p->at[0]), "%s/%s", d->nic_sys, path + 4) >=
			(int)sizeof(p->at[0]))
		p->at[0][0] = '\0';
	if (snprintf(p->at[1], sizeof(p->at[1]), "%s/%s", d->root, path) >= (int)sizeof(p->at[1]))
		p->at[1][0] = '\0';
}

/* The place that is there, the root's if neither is. */
static const char *
place(const struct places *p)
{
	struct stat st;

	return p->at[0][0] != '\0' && lstat(p->at[0], &st) == 0 ? p->at[0] : p->at[1];
}

#define PLACES(d, p, fmt)                                                                          \
	do {                                                                                       \
		va_list ap;                                                                        \
		va_start(ap, fmt);                                                                 \
		places(d, p, fmt, ap);                                                             \
		va_end(ap);                                                                        \
	} while (0)

bool
dr_exists(const struct doctor *d, const char *fmt, ...)
{
	struct places p;
	struct stat st;

	PLACES(d, &p, fmt);
	return stat(place(&p), &st) == 0;
}

static size_t
slurp(const char *path, void *out, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t got = 0;
	ssize_t n;

	if (fd < 0)
		return 0;
	while (got < bytes && (n = read(fd, (char *)out + got, bytes - got)) > 0)
		got += (size_t)n;
	close(fd);
	return got;
}

size_t
dr_bytes(const struct doctor *d, void *out, size_t bytes, const char *fmt, ...)
{
	struct places p;

	PLACES(d, &p, fmt);
	return slurp(place(&p), out, bytes);
}

bool
dr_line(const struct doctor *d, char *out, size_t bytes, const char *fmt, ...)
{
	struct places p;
	size_t n;

	PLACES(d, &p, fmt);
	n = slurp(place(&p), out, bytes - 1);
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return n != 0;
}

long
dr_number(const struct doctor *d, long otherwise, const char *fmt, ...)
{
	struct places p;
	char text[64], *end;
	long value;
	size_t n;

	PLACES(d, &p, fmt);
	n = slurp(place(&p), text, sizeof(text) - 1);
	text[n] = '\0';
	value = strtol(text, &end, 0);
	return end == text ? otherwise : value;
}

bool
dr_link(const struct doctor *d, char *out, size_t bytes, const char *fmt, ...)
{
	struct places p;
	char target[PATH_MAX];
	const char *last;
	ssize_t n;

	PLACES(d, &p, fmt);
	out[0] = '\0';
	n = readlink(place(&p), target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	last = strrchr(target, '/');
	snprintf(out, bytes, "%s", last != NULL ? last + 1 : target);
	return true;
}

bool
dr_real(const struct doctor *d, char out[PATH_MAX], const char *fmt, ...)
{
	struct places p;
	char real[PATH_MAX], base[PATH_MAX];
	const char *there;
	bool overlay;

	PLACES(d, &p, fmt);
	there = place(&p);
	overlay = there == p.at[0];
	out[0] = '\0';
	if (realpath(there, real) == NULL)
		return false;
	if (realpath(overlay ? d->nic_sys : d->root[0] != '\0' ? d->root : "/", base) == NULL)
		return false;
	if (strcmp(base, "/") == 0)
		base[0] = '\0';
	if (strncmp(real, base, strlen(base)) != 0)
		return false;
	return snprintf(out, PATH_MAX, "%s%s", overlay ? "sys" : "",
		       real + strlen(base) + (overlay ? 0 : 1)) < PATH_MAX;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

unsigned
dr_list(const struct doctor *d, char name[][DR_NAME], unsigned max, const char *fmt, ...)
{
	struct places p;
	unsigned n = 0;

	PLACES(d, &p, fmt);
	for (int i = 0; i < 2; i++) {
		DIR *dir = p.at[i][0] != '\0' ? opendir(p.at[i]) : NULL;
		struct dirent *e;

		while (dir != NULL && n < max && (e = readdir(dir)) != NULL) {
			bool seen = e->d_name[0] == '.' || strlen(e->d_name) >= DR_NAME;

			for (unsigned k = 0; k < n && !seen; k++)
				seen = strcmp(name[k], e->d_name) == 0;
			if (!seen)
				memcpy(name[n++], e->d_name, strlen(e->d_name) + 1);
		}
		if (dir != NULL)
			closedir(dir);
	}
	qsort(name, n, DR_NAME, by_name);
	return n;
}

bool
dr_may_write(const struct doctor *d, unsigned *mode, const char *fmt, ...)
{
	struct places p;
	struct stat st;
	int fd;

	PLACES(d, &p, fmt);
	*mode = 0;
	if (stat(place(&p), &st) != 0)
		return false;
	*mode = st.st_mode & 07777u;
	if (d->live) {
		/* Opening is the proof; a uverbs file that is only opened has no effect. */
		fd = open(place(&p), O_RDWR | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0)
			close(fd);
		return fd >= 0;
	}
	return dr_fact_number(d, 0, "uid") == 0 || (st.st_mode & 6u) == 6u;
}
