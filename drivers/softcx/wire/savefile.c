/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a capture file: see savefile.h. Called by the data path's thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../log.h"
#include "savefile.h"

#define BUFFER_BYTES (1u << 20)
#define RECORD_BYTES 16u
#define SNAP_BYTES   262144
#define FLUSH_NS     (20ull * 1000 * 1000)
#define ROOM_MS	     5000 /* for a pipe whose reader is slow */

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/*
 * The file below libpcap's FILE: a pipe is not waited for without end, neither for a reader nor for
 * room, for the NIC stands still meanwhile.
 */
static ssize_t
fd_write(void *cookie, const char *bytes, size_t n)
{
	struct scx_savefile *s = cookie;
	struct pollfd p = {.fd = s->fd, .events = POLLOUT};
	size_t done = 0;

	while (done < n && !s->stuck) {
		ssize_t rc = write(s->fd, bytes + done, n - done);

		if (rc > 0)
			done += (size_t)rc;
		else if (rc == 0 || (errno != EAGAIN && errno != EINTR))
			break;
		else if (errno == EAGAIN && poll(&p, 1, ROOM_MS) == 0) {
			errno = ETIMEDOUT;
			s->stuck = true;
		}
	}
	return (ssize_t)done;
}

static int
fd_close(void *cookie)
{
	return close(((struct scx_savefile *)cookie)->fd);
}

/* A file that another program of the same run writes would be cut down, and written by both. */
static int
take_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	return flock(fd, LOCK_EX | LOCK_NB) != 0 || ftruncate(fd, 0) != 0 ? -1 : 0;
}

static FILE *
open_file(struct scx_savefile *s, const char *path)
{
	FILE *f = NULL;
	int err;

	s->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
	if (s->fd < 0)
		return NULL;
	if (take_file(s->fd) == 0)
		f = fopencookie(s, "w",
			(cookie_io_functions_t){.write = fd_write, .close = fd_close});
	if (f == NULL) {
		err = errno;
		close(s->fd);
		errno = err;
	}
	return f;
}

int
scx_savefile_open(struct scx_savefile *s, const char *path, char *err, size_t err_bytes)
{
	FILE *f;
	int rc;

	memset(s, 0, sizeof(*s));
	if (!path)
		return 0;
	s->lib = scx_pcap(err, err_bytes);
	if (!s->lib)
		return -ENOENT;
	f = open_file(s, path);
	if (!f) {
		rc = -errno;
		snprintf(err, err_bytes, "capture file %s: %s", path,
			rc == -ENXIO	     ? "nobody reads this pipe: start its reader first"
			: rc == -EWOULDBLOCK ? "another program writes it: end that first"
					     : strerror(-rc));
		return rc;
	}
	s->buffer = malloc(BUFFER_BYTES);
	s->format = s->lib->open_dead_with_tstamp_precision(
		DLT_EN10MB, SNAP_BYTES, PCAP_TSTAMP_PRECISION_NANO);
	if (!s->buffer || !s->format || setvbuf(f, s->buffer, _IOFBF, BUFFER_BYTES))
		goto fail;
	s->to = s->lib->dump_fopen(s->format, f);
	if (!s->to)
		goto fail;
	/* the header, so that an empty capture is one */
	if (s->lib->dump_flush(s->to)) {
		rc = -errno;
		snprintf(err, err_bytes, "capture file %s: %s", path, strerror(-rc));
		scx_savefile_close(s);
		return rc;
	}
	return 0;
fail:
	snprintf(err, err_bytes, "capture file %s: out of memory", path);
	fclose(f);
	if (s->format)
		s->lib->close(s->format);
	free(s->buffer);
	memset(s, 0, sizeof(*s));
	return -ENOMEM;
}

static void
hand_over(struct scx_savefile *s)
{
	/* after a failed write libpcap drops records silently and flushes nothing, successfully */
	if (s->pending && (s->lib->dump_flush(s->to) || ferror(s->lib->dump_file(s->to)))) {
		scx_log("pcap", "the capture file takes no more: %s", strerror(errno));
		scx_log_lose();
		s->pending = 0; /* lost: closing does not come here again */
		scx_savefile_close(s);
		return;
	}
	s->pending = 0;
}

void
scx_savefile_write(struct scx_savefile *s, const struct scx_frame *f, unsigned nr)
{
	struct pcap_pkthdr h;
	uint64_t now;

	if (!s->to || !nr)
		return;
	now = clock_ns(CLOCK_REALTIME);
	h.ts.tv_sec = now / 1000000000;
	h.ts.tv_usec = now % 1000000000; /* nanoseconds: the file says so */
	for (unsigned i = 0; i < nr && s->to; i++) {
		/* the buffer never overflows by itself, which would cut a record in two */
		if (s->pending + RECORD_BYTES + f[i].len > BUFFER_BYTES - 64)
			hand_over(s);
		if (!s->to)
			return;
		h.caplen = h.len = f[i].len;
		s->lib->dump((u_char *)s->to, &h, f[i].data);
		if (!s->pending)
			s->since_ns = clock_ns(CLOCK_MONOTONIC);
		s->pending += RECORD_BYTES + f[i].len;
	}
	if (s->to && clock_ns(CLOCK_MONOTONIC) - s->since_ns > FLUSH_NS)
		hand_over(s);
}

void
scx_savefile_idle(struct scx_savefile *s)
{
	if (s->to && s->pending)
		hand_over(s);
}

void
scx_savefile_close(struct scx_savefile *s)
{
	if (s->to && s->pending)
		hand_over(s);
	if (s->to)
		s->lib->dump_close(s->to);
	if (s->format)
		s->lib->close(s->format);
	free(s->buffer);
	memset(s, 0, sizeof(*s));
}
