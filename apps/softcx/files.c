/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of the command line, looked at before anything is made: what is read is a file, what is
 * written can be, and none of them is another under the same or a second name. The program's first
 * open of the device would find out as well, or never, and says it in words of its own. Called by
 * options.c, serve.c and vfio.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "../output.h"
#include "softcx_run.h"

#define FILES_MAX (3 * SCX_CONF_PORTS_MAX + 1) /* in, out and tap of each port, and the log */

struct named {
	const char *option, *path;
	bool written;
};

static unsigned
list(const struct scx_conf *c, struct named *f)
{
	unsigned n = 0;

	f[n++] = (struct named){"--log", c->log, true};
	for (unsigned i = 0; i < c->nr_ports; i++) {
		f[n++] = (struct named){"--wire", c->port[i].in, false};
		f[n++] = (struct named){"--wire", c->port[i].out, true};
		f[n++] = (struct named){"--pcap-out", c->port[i].tap, true};
	}
	return n;
}

/* One file, whatever it is called. A device may be there twice: /dev/null, or a terminal. */
static bool
same(const char *a, const char *b)
{
	struct stat s, t;
	bool there = !stat(a, &s), both = there && !stat(b, &t);

	if (there && S_ISCHR(s.st_mode))
		return false;
	return !strcmp(a, b) || (both && s.st_dev == t.st_dev && s.st_ino == t.st_ino);
}

static int
check_one(const struct named *f)
{
	struct stat st;
	int err = 0;

	if (f->written)
		err = output_check_file(f->path);
	else if (stat(f->path, &st))
		err = errno;
	if (err) {
		run_say("%s: cannot %s %s: %s", f->option, f->written ? "write" : "read", f->path,
			strerror(err));
		return RUN_EXIT_USAGE;
	}
	if (f->written || S_ISREG(st.st_mode))
		return 0;
	/* the data path would stand still whenever nothing comes */
	run_say("%s: %s is no file: what is read has to be one", f->option, f->path);
	return RUN_EXIT_USAGE;
}

int
run_check_files(const struct scx_conf *c)
{
	struct named f[FILES_MAX];
	unsigned n = list(c, f);
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++) {
		if (!*f[i].path)
			continue;
		rc = check_one(&f[i]);
		for (unsigned k = 0; k < i && !rc; k++) {
			if (!*f[k].path || (!f[i].written && !f[k].written) ||
				!same(f[i].path, f[k].path))
				continue;
			run_say("%s: %s is the file of another %s already: give each its own",
				f[i].option, f[i].path, f[k].option);
			rc = RUN_EXIT_USAGE;
		}
	}
	return rc;
}
