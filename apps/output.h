/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program prints is what it is for: where standard output takes no more (a full disk, a pipe
 * whose reader has gone), the program says so and does not exit with 0. For main(), before all
 * else; a library never does this.
 */
#ifndef APPS_OUTPUT_H
#define APPS_OUTPUT_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *output_program;

/* The last of the handlers: nothing comes after it that its _exit() would leave out. */
static inline void
output_end(void)
{
	bool failed = ferror(stdout) != 0;

	errno = 0;
	if (failed) {
		clearerr(stdout); /* why is forgotten: it will most likely fail so again */
		putchar('\n');
	}
	if (fflush(stdout) == 0 && !failed)
		return;
	fprintf(stderr, "%s: standard output: %s\n", output_program,
		errno != 0 ? strerror(errno) : "it took not all that was written");
	_exit(EXIT_FAILURE);
}

/*
 * Where a standard stream is closed, the next file that is opened would become it, and be read or
 * written by mistake. A stand-in ends at once when it is read, and fails when it is written.
 */
static inline void
output_fill(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			return; /* no /dev/null: so be it */
}

static inline void
output_watch(const char *program)
{
	output_fill();
	output_program = program;
	signal(SIGPIPE, SIG_IGN); /* an error instead, for which output_end() has words */
	atexit(output_end);
}

/*
 * Whether a file of that name can be made or written, without a trace: 0, or an errno. For before
 * a long run, which would be lost if only its end found out.
 */
static inline int
output_check_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	struct stat st;
	int err = 0;

	if (stat(path, &st) == 0)
		return S_ISDIR(st.st_mode) ? EISDIR : access(path, W_OK) == 0 ? 0 : errno;
	if (errno != ENOENT || *path == '\0')
		return errno;
	folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	if (folder == NULL)
		return ENOMEM;
	if (access(folder, W_OK | X_OK) != 0)
		err = errno;
	free(folder);
	return err;
}

#endif /* APPS_OUTPUT_H */
