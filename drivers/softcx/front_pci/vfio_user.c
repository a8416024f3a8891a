/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of vfio-user (QEMU's docs/interop/vfio-user.rst): a header of 16 bytes, a body,
 * descriptors with the header. Each request is answered at once and in order, unless it says that
 * it wants no answer. All integers are the host's.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "../log.h"
#include "pci.h"

enum {
	MSG_VERSION = 1,
	MSG_DMA_MAP = 2,
	MSG_DMA_UNMAP = 3,
	MSG_DEVICE_INFO = 4,
	MSG_REGION_INFO = 5,
	MSG_IRQ_INFO = 7,
	MSG_SET_IRQS = 8,
	MSG_REGION_READ = 9,
	MSG_REGION_WRITE = 10,
	MSG_RESET = 13,
};
enum { FLAG_REPLY = 1, FLAG_NO_REPLY = 0x10, FLAG_ERROR = 0x20 };
enum { REGION_BAR0 = 0, REGION_CONFIG = 7, REGIONS = 9 }; /* as in Linux's vfio.h */
enum { IRQ_MSIX = 2, IRQS = 5 };
enum { DEVICE_RESET = 1, DEVICE_PCI = 2 };
enum { REGION_READABLE = 1, REGION_WRITABLE = 2 };
enum { IRQ_EVENTFD = 1, IRQ_NORESIZE = 8 };
enum { SET_DATA_NONE = 1, SET_DATA_BOOL = 2, SET_DATA_EVENTFD = 4, SET_TRIGGER = 32 };
enum { MAP_READ = 1, MAP_WRITE = 2, UNMAP_ALL = 2 };
#define VERSION_MINOR 1u
#define CLIENT_WAIT_S 10u /* for the whole of a message, and for room for its answer */
#define FDS_MAX	      8u    /* in one message */
#define TRANSFER_MAX  4096u /* bytes of one region access */
#define BODY_MAX      8192u
#define LATE(err)     ((err) == EINTR || (err) == EAGAIN)
#define CAPABILITIES  "{\"capabilities\":{\"max_msg_fds\":%u,\"max_data_xfer_size\":%u}}"

struct header {
	uint16_t id, cmd;
	uint32_t size, flags, error;
};

struct message {
	struct header h;
	uint8_t body[BODY_MAX + 1]; /* one more: text in it gets its end */
	uint32_t n;		    /* bytes of body */
	int fd[FDS_MAX];	    /* -1: taken by whoever handled the message */
	uint32_t nr_fds;
	uint8_t out[BODY_MAX];
	uint32_t nr_out;
};

static uint32_t
u32(const struct message *m, uint32_t off)
{
	uint32_t v;

	memcpy(&v, m->body + off, sizeof(v));
	return v;
}

static uint64_t
u64(const struct message *m, uint32_t off)
{
	uint64_t v;

	memcpy(&v, m->body + off, sizeof(v));
	return v;
}

/* The answer is words, and begins with argsz, its own size. */
static int
answer(struct message *m, const void *what, uint32_t bytes)
{
	memcpy(m->out, what, bytes);
	m->nr_out = bytes;
	return 0;
}

static int
version(struct message *m)
{
	struct {
		uint16_t major, minor;
		char text[256];
	} v = {.minor = VERSION_MINOR};
	uint16_t major, minor;
	int n;

	if (m->n < 4)
		return -EINVAL;
	memcpy(&major, m->body, sizeof(major));
	memcpy(&minor, m->body + 2, sizeof(minor));
	if (major != 0)
		return -EPROTONOSUPPORT;
	if (minor < v.minor)
		v.minor = minor;
	n = snprintf(v.text, sizeof(v.text), CAPABILITIES, FDS_MAX, TRANSFER_MAX);
	return answer(m, &v, 4u + (uint32_t)n + 1u);
}

/* Memory that is no file (ROMs) or cannot be written is not for a NIC: it stays a hole. */
static int
dma_map(struct pci_dev *d, struct message *m)
{
	if (m->n < 32)
		return -EINVAL;
	if (m->nr_fds == 0 || (u32(m, 4) & (MAP_READ | MAP_WRITE)) != (MAP_READ | MAP_WRITE))
		return 0;
	return pci_mem_add(&d->mem, u64(m, 16), u64(m, 24), m->fd[0], u64(m, 8));
}

static int
dma_unmap(struct pci_dev *d, struct message *m)
{
	int rc;

	if (m->n < 24)
		return -EINVAL;
	if (u32(m, 4) & UNMAP_ALL)
		rc = pci_mem_remove(&d->mem, 0, PCI_WINDOW);
	else
		rc = pci_mem_remove(&d->mem, u64(m, 8), u64(m, 16));
	if (rc != 0 && rc != -ENOENT) /* a hole is gone as soon as it is said */
		return rc;
	return answer(m, m->body, 24);
}

static int
device_info(struct message *m)
{
	const uint32_t info[4] = {sizeof(info), DEVICE_RESET | DEVICE_PCI, REGIONS, IRQS};

	return answer(m, info, sizeof(info));
}

static int
region_info(struct message *m)
{
	struct {
		uint32_t argsz, flags, index, cap_offset;
		uint64_t size, offset;
	} info = {.argsz = sizeof(info)};

	if (m->n < 16)
		return -EINVAL;
	info.index = u32(m, 8);
	if (info.index >= REGIONS)
		return -EINVAL;
	info.size = info.index == REGION_BAR0	  ? PCI_BAR_BYTES
		    : info.index == REGION_CONFIG ? PCI_CONFIG
						  : 0;
	info.flags = info.size != 0 ? REGION_READABLE | REGION_WRITABLE : 0;
	return answer(m, &info, sizeof(info));
}

static int
irq_info(struct message *m)
{
	uint32_t info[4] = {sizeof(info)};

	if (m->n < 16)
		return -EINVAL;
	info[2] = u32(m, 8);
	if (info[2] >= IRQS)
		return -EINVAL;
	if (info[2] == IRQ_MSIX) {
		info[1] = IRQ_EVENTFD | IRQ_NORESIZE;
		info[3] = PCI_VECTORS;
	}
	return answer(m, info, sizeof(info));
}

static int
set_irqs(struct pci_dev *d, struct message *m)
{
	uint32_t flags, start, count;
	int rc;

	if (m->n < 20)
		return -EINVAL;
	flags = u32(m, 4);
	start = u32(m, 12);
	count = u32(m, 16);
	if (u32(m, 8) >= IRQS)
		return -EINVAL;
	if (u32(m, 8) != IRQ_MSIX || !(flags & SET_TRIGGER))
		return 0; /* nothing to mask, and no other interrupt */
	if (flags & SET_DATA_NONE && count == 0)
		return pci_dev_set_irqs(d, 0, PCI_VECTORS, NULL, 0);
	if (!(flags & SET_DATA_EVENTFD))
		return -EINVAL;
	rc = pci_dev_set_irqs(d, start, count, m->fd, m->nr_fds);
	for (uint32_t i = 0; rc == 0 && i < m->nr_fds && i < count; i++)
		m->fd[i] = -1;
	return rc;
}

static int
region_access(struct pci_dev *d, struct message *m, bool write)
{
	uint64_t off;
	uint32_t region, n;
	int rc;

	if (m->n < 16)
		return -EINVAL;
	off = u64(m, 0);
	region = u32(m, 8);
	n = u32(m, 12);
	if (n > TRANSFER_MAX || (write && n > m->n - 16))
		return -EINVAL;
	if (region == REGION_BAR0)
		rc = write ? pci_bar_write(d, off, n, m->body + 16)
			   : pci_bar_read(d, off, n, m->out + 16);
	else if (region == REGION_CONFIG)
		rc = write ? pci_config_write(d, off, n, m->body + 16)
			   : pci_config_read(d, off, n, m->out + 16);
	else
		rc = -EINVAL;
	if (rc != 0)
		return rc;
	memcpy(m->out, m->body, 16);
	m->nr_out = write ? 16 : 16 + n;
	return 0;
}

static int
dispatch(struct pci_dev *d, struct message *m)
{
	switch (m->h.cmd) {
	case MSG_VERSION:
		return version(m);
	case MSG_DMA_MAP:
		return dma_map(d, m);
	case MSG_DMA_UNMAP:
		return dma_unmap(d, m);
	case MSG_DEVICE_INFO:
		return device_info(m);
	case MSG_REGION_INFO:
		return region_info(m);
	case MSG_IRQ_INFO:
		return irq_info(m);
	case MSG_SET_IRQS:
		return set_irqs(d, m);
	case MSG_REGION_READ:
		return region_access(d, m, false);
	case MSG_REGION_WRITE:
		return region_access(d, m, true);
	case MSG_RESET:
		return pci_dev_reset(d);
	}
	scx_log(d->cfg.name, "vfio-user message %u is not known here", m->h.cmd);
	return -EOPNOTSUPP;
}

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * How long a client may take: it can stop in the middle of a message, or send a byte now and then.
 * The socket's own time limit (serve.c) is short, so that there is a look at the clock and at stop.
 */
struct patience {
	const volatile int *stop;
	uint64_t until_ns;
};

static int
still(const struct patience *p)
{
	if (p->stop != NULL && *p->stop)
		return -ECANCELED;
	return now_ns() < p->until_ns ? 0 : -ETIMEDOUT;
}

static int
read_all(int sock, void *to, size_t n, const struct patience *wait)
{
	uint8_t *p = to;

	while (n > 0) {
		ssize_t got = recv(sock, p, n, 0);
		int rc = still(wait);

		if (got == 0)
			return -ECONNRESET;
		if (got < 0 && !LATE(errno))
			return -errno;
		if (got > 0) {
			p += got;
			n -= (size_t)got;
		}
		if (n > 0 && rc != 0)
			return rc;
	}
	return 0;
}

static int
read_header(int sock, struct message *m, const struct patience *wait)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(m->fd))];
	} control;
	struct iovec iov = {.iov_base = &m->h, .iov_len = sizeof(m->h)};
	struct msghdr hdr = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	ssize_t got;

	do
		got = recvmsg(sock, &hdr, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got == 0 ? -ECONNRESET : -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&hdr); c != NULL; c = CMSG_NXTHDR(&hdr, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		m->nr_fds = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(m->fd, CMSG_DATA(c), m->nr_fds * sizeof(int));
		break; /* the kernel makes one of all */
	}
	if (hdr.msg_flags & MSG_CTRUNC)
		return -EPROTO;
	return read_all(sock, (uint8_t *)&m->h + got, sizeof(m->h) - (size_t)got, wait);
}

static int
reply(int sock, const struct message *m, int rc, const struct patience *wait)
{
	struct header h = {.id = m->h.id,
		.cmd = m->h.cmd,
		.size = (uint32_t)sizeof(h) + (rc == 0 ? m->nr_out : 0),
		.flags = FLAG_REPLY | (rc != 0 ? FLAG_ERROR : 0),
		.error = (uint32_t)-rc};
	uint8_t whole[sizeof(h) + sizeof(m->out)], *p = whole;
	size_t left = h.size;

	if (m->h.flags & FLAG_NO_REPLY)
		return 0;
	memcpy(whole, &h, sizeof(h));
	memcpy(whole + sizeof(h), m->out, left - sizeof(h));
	while (left > 0) {
		ssize_t sent = send(sock, p, left, MSG_NOSIGNAL);
		int late = still(wait);

		if (sent < 0 && !LATE(errno))
			return -errno;
		if (sent > 0) {
			p += sent;
			left -= (size_t)sent;
		}
		if (left > 0 && late != 0)
			return late;
	}
	return 0;
}

int
pci_message(struct pci_dev *d, int sock)
{
	static struct message msg; /* one thread */
	struct message *m = &msg;
	struct patience wait = {d->stop, now_ns() + CLIENT_WAIT_S * 1000000000ull};
	int rc;

	m->nr_fds = 0;
	m->nr_out = 0;
	rc = read_header(sock, m, &wait);
	if (rc == 0 && (m->h.size < sizeof(m->h) || m->h.size - sizeof(m->h) > BODY_MAX))
		rc = -EPROTO;
	if (rc == 0) {
		m->n = m->h.size - (uint32_t)sizeof(m->h);
		rc = read_all(sock, m->body, m->n, &wait);
	}
	if (rc == 0)
		rc = reply(sock, m, dispatch(d, m), &wait);
	for (uint32_t i = 0; i < m->nr_fds; i++)
		if (m->fd[i] >= 0)
			close(m->fd[i]);
	return rc;
}
