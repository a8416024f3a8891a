/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log: see log.h. The descriptor is moved up, away from the small numbers that the program
 * under test may expect to get, or may close wholesale.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

#define LOG_FD_MIN 512
#define ROOM_MS	   5000 /* for a pipe whose reader is slow; after that no more until it reads */

static int log_fd = 2;
static char mark[256]; /* file that says that something was lost; empty: none */
static bool lost;

void
scx_log_mark(const char *file)
{
	snprintf(mark, sizeof(mark), "%s", file);
	if (lost)
		scx_log_lose();
}

void
scx_log_lose(void)
{
	int fd;

	__atomic_store_n(&lost, true, __ATOMIC_RELAXED);
	if (!mark[0])
		return;
	fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
}

bool
scx_log_lost(void)
{
	return __atomic_load_n(&lost, __ATOMIC_RELAXED);
}

/* 0: there is room, or write() will say what is wrong. */
static int
await_room(int fd)
{
	static int patience = ROOM_MS;
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int rc = poll(&p, 1, __atomic_load_n(&patience, __ATOMIC_RELAXED));

	__atomic_store_n(&patience, rc == 0 ? 0 : ROOM_MS, __ATOMIC_RELAXED);
	return rc == 0 ? ETIMEDOUT : 0;
}

/*
 * All n bytes; 0 or an errno. A pipe whose reader has gone, or does not read, must not end the
 * program above us, or hold it for ever.
 */
static int
put(int fd, const char *line, size_t n)
{
	const struct timespec now = {0, 0};
	sigset_t pipe, before, pending;
	ssize_t done;
	int err = 0;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	while (n > 0 && err == 0) {
		err = await_room(fd);
		if (err != 0)
			break;
		done = write(fd, line, n);
		if (done > 0) {
			line += done;
			n -= (size_t)done;
		} else if (done == 0 || (errno != EINTR && errno != EAGAIN)) {
			err = done == 0 ? ENOSPC : errno;
		}
	}
	if (err == EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe, NULL, &now); /* ours */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* A line for the log; when that takes no more, it goes to standard error with all that follow. */
static void
put_line(const char *line, size_t n)
{
	int fd = __atomic_load_n(&log_fd, __ATOMIC_RELAXED), err = put(fd, line, n);
	char why[160];

	if (err == 0 || fd == 2)
		return; /* nowhere left to say it */
	if (__atomic_exchange_n(&log_fd, 2, __ATOMIC_RELAXED) != 2) {
		snprintf(why, sizeof(why),
			"softcx: the log takes no more: %s; what follows comes here\n",
			strerror(err));
		put(2, why, strlen(why));
		scx_log_lose();
	}
	put(2, line, n);
}

int
scx_log_open(const char *file)
{
	/* not blocking: a pipe without a reader would be waited for */
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
	int high;

	if (fd < 0)
		return -errno;
	high = fcntl(fd, F_DUPFD_CLOEXEC, LOG_FD_MIN);
	if (high >= 0) { /* else the limit of open files is small: the low one does as well */
		close(fd);
		fd = high;
	}
	log_fd = fd;
	return 0;
}

void
scx_log(const char *who, const char *fmt, ...)
{
	int saved = errno;
	char line[1024];
	va_list ap;
	int n, m;

	n = snprintf(line, sizeof(line) / 2, who ? "softcx %s: " : "softcx: ", who);
	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	if (m < 0)
		m = 0;
	n += m;
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	put_line(line, (size_t)n);
	errno = saved;
}

void
scx_log_bytes(const char *who, const void *bytes, size_t n)
{
	const uint8_t *b = bytes;

	for (size_t at = 0; at < n; at += 32) {
		char text[32 * 2 + 8 + 1];
		size_t t = 0;

		for (size_t i = at; i < n && i < at + 32; i++)
			t += snprintf(text + t, sizeof(text) - t, "%s%02x",
				i > at && i % 4 == 0 ? " " : "", b[i]);
		scx_log(who, "  %03zx: %s", at, text);
	}
}
