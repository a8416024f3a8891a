/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log: see log.h. The descriptor is moved up, away from the small numbers that the program
 * under test may expect to get, or may close wholesale.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

#define LOG_FD_MIN 512

static int log_fd = 2;

int scx_log_open(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
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

void scx_log(const char *who, const char *fmt, ...)
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
	if (write(log_fd, line, n) < 0) {
		/* nowhere left to say it */
	}
	errno = saved;
}

void scx_log_bytes(const char *who, const void *bytes, size_t n)
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
