/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PCI front, from the socket's side: vfio-user messages of every kind, cut short or longer than
 * they say, with descriptors or without; memory that is mapped, taken away and mapped again while
 * queues use it; and behind it the command queue with mailboxes whose tokens, numbers, lengths and
 * pointers are wrong. The server may refuse or let the client go, but touch nothing else: pages of
 * the window that were no memory of the guest's during an input must not have been read or written.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmdgen.h"
#include "drivers/softcx/front_pci/pci.h"
#include "drivers/softcx/log.h"
#include "vfiomust.h"

#define MEM_BYTES   (256u << 10)
#define MEM_AT	    0x100000u
#define CMDQ	    (MEM_AT + 0x1000u)
#define IN_BOX	    0x2000u
#define OUT_BOX	    0x8000u
#define BOX_STEP    1024u
#define TOKEN	    0x5au
#define BAR_UAR	    (PCI_UAR_FIRST * PCI_PAGE)
#define SMALL_BYTES 12345u
#define FIRST_FD    64 /* descriptors below are taken, whatever this process was started with */

struct it {
	struct fz f;
	struct pci_dev *d;
	int sock[2], fd, irq, small_fd, ro_fd,
		free_fd; /* free_fd: the next descriptor there will be */
	uint8_t *mem;
	bool gone;
	struct gen gen;
	uint16_t id;
};

/* Pages of the window: which were the guest's in this input, and which somebody has touched. */
#define WINDOW_PAGES (PCI_WINDOW / PCI_PAGE)
static uint8_t was_memory[WINDOW_PAGES], touched[WINDOW_PAGES];

struct head {
	uint16_t id, cmd;
	uint32_t size, flags, error;
};

/* Of what goes with a message: of nothing none are asked for. */
static uint64_t
file_bytes(const struct it *it, int fd)
{
	return fd < 0 ? NO_FILE : fd == it->fd ? MEM_BYTES : fd == it->small_fd ? SMALL_BYTES : 0;
}

/* What the server wrote back: whole messages that answer what was asked. */
static void
answers(struct it *it, uint16_t cmd, bool fails)
{
	static uint8_t buf[16384];
	struct head h;
	ssize_t n = recv(it->sock[0], buf, sizeof(buf), MSG_DONTWAIT);

	if (n <= 0)
		return;
	FZ_MUST((size_t)n >= sizeof(h), "%zd bytes", n);
	memcpy(&h, buf, sizeof(h));
	FZ_MUST(h.size == (uint32_t)n && h.cmd == cmd && h.id == it->id && (h.flags & 0xf) == 1,
		"answer of %zd bytes says size %u, message %u id %u, flags 0x%x", n, h.size, h.cmd,
		h.id, h.flags);
	FZ_MUST(((h.flags & 0x20) != 0) == (h.error != 0) && h.error < 200, "error %u", h.error);
	FZ_MUST(h.error != 0 || !fails, "message %u went through", cmd);
}

static void
note_memory(const struct pci_mem *m)
{
	uint64_t mapped = 0, known = 0;

	for (uint32_t i = 0; i < m->nr; i++) {
		memset(was_memory + m->e[i].from / PCI_PAGE, 1, m->e[i].bytes / PCI_PAGE);
		mapped += m->e[i].bytes;
	}
	for (uint32_t i = 0; i < m->known->nr; i++)
		known += m->known->e[i].bytes;
	FZ_MUST(mapped == known, "0x%llx bytes are mapped, the data path is told of 0x%llx",
		(unsigned long long)mapped, (unsigned long long)known);
}

/*
 * A page is there from its first access on, whoever made it: the kernel says which are. A queue may
 * still read its record where memory was and is no more (guest_mem.c).
 */
static void
holes_untouched(const struct pci_mem *m)
{
	FZ_MUST(mincore(m->window, PCI_WINDOW, touched) == 0, "errno %d", errno);
	for (uint32_t i = 0; i < WINDOW_PAGES; i++)
		FZ_MUST(was_memory[i] || !(touched[i] & 1),
			"page 0x%x of the bus was never memory, and was read or written", i);
	FZ_MUST(madvise(m->window, PCI_WINDOW, MADV_DONTNEED) == 0, "errno %d", errno);
	memset(was_memory, 0, sizeof(was_memory));
}

static void
send_message(struct it *it, uint16_t cmd, const void *body, uint32_t n, uint32_t says, int fd,
	uint32_t nr_fds, uint32_t flags)
{
	struct head h = {++it->id, cmd, says, flags, 0};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(16 * sizeof(int))];
	} control;
	struct iovec iov[2] = {{&h, sizeof(h)}, {(void *)(uintptr_t)body, n}};
	struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};
	int fds[16];

	if (it->gone)
		return;
	if (nr_fds > 0 && fd >= 0) {
		for (uint32_t i = 0; i < nr_fds; i++)
			fds[i] = fd;
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, nr_fds * sizeof(int));
	}
	FZ_MUST(sendmsg(it->sock[0], &m, MSG_DONTWAIT) == (ssize_t)(16 + n), "errno %d", errno);
	if (says > 16 + n || says < 16)
		shutdown(it->sock[0], SHUT_WR); /* else the server waits for the rest */
	if (pci_message(it->d, it->sock[1]) != 0 || says != 16 + n)
		it->gone = true;
	else if (!(flags & 0x10))
		answers(it, cmd,
			must_fail(cmd, body, n, nr_fds > 0 ? file_bytes(it, fd) : NO_FILE));
	FZ_MUST(it->d->nic != NULL, "no NIC after message %u", cmd);
	note_memory(&it->d->mem);
	scx_nic_poll(it->d->nic);
}

static void
region_write(struct it *it, uint32_t region, uint64_t off, const void *data, uint32_t n)
{
	struct {
		uint64_t off;
		uint32_t region, count;
		uint8_t data[64];
	} a = {off, region, n, {0}};

	memcpy(a.data, data, n);
	send_message(it, 10, &a, 16 + n, 32 + n, -1, 0, 0);
}

static void
bar32(struct it *it, uint64_t off, uint32_t v)
{
	const crl_be32 be = crl_to_be32(v);

	region_write(it, 0, off, &be, 4);
}

static void
dma(struct it *it, bool map, uint64_t from, uint64_t bytes, uint64_t offset, int fd, uint32_t flags)
{
	const struct {
		uint32_t argsz, flags;
		uint64_t offset, from, bytes;
	} m = {32, flags, offset, from, bytes};
	const struct {
		uint32_t argsz, flags;
		uint64_t from, bytes;
	} u = {24, flags & 2, from, bytes};

	if (map)
		send_message(it, 2, &m, sizeof(m), 16 + sizeof(m), fd, fd >= 0, 0);
	else
		send_message(it, 3, &u, sizeof(u), 16 + sizeof(u), -1, 0, 0);
}

static void
be32_put(uint8_t *p, uint32_t v)
{
	ref_put16(p, v >> 16);
	ref_put16(p + 2, v);
}

/* A chain of mailboxes for len bytes, at an offset of the memory. */
static void
boxes(struct it *it, uint32_t at, const uint8_t *data, uint32_t len, uint32_t wrong)
{
	uint32_t nr = 0;

	for (uint32_t off = 16; off < len && at + BOX_STEP <= MEM_BYTES; off += 512, nr++) {
		uint8_t *m = it->mem + at;

		if (data != NULL)
			memcpy(m, data + off, len - off < 512 ? len - off : 512);
		at += BOX_STEP;
		be32_put(m + 0x230, 0);
		be32_put(m + 0x234, MEM_AT + at);
		be32_put(m + 0x238, nr);
		m[0x23d] = TOKEN;
		if (wrong == 1 + nr)
			m[0x23d] ^= fz_u8(&it->f);
		if (wrong == 5 + nr)
			be32_put(m + 0x238, fz_u8(&it->f));
		if (wrong == 9 + nr)
			be32_put(m + 0x230 + (fz_u8(&it->f) & 4u), fz_u32(&it->f));
	}
}

static void
slot_put(struct it *it, uint32_t i, uint32_t in_len, uint32_t out_len)
{
	uint8_t *s = it->mem + (CMDQ - MEM_AT) + i * 64;

	memset(s, 0, 64);
	s[0] = 7;
	be32_put(s + 4, in_len);
	be32_put(s + 0xc, MEM_AT + IN_BOX);
	memcpy(s + 0x10, it->gen.in, in_len < 16 ? in_len : 16);
	be32_put(s + 0x34, MEM_AT + OUT_BOX);
	be32_put(s + 0x38, out_len);
	s[0x3c] = TOKEN;
	s[0x3f] = 1;
}

/* One command through the queue. Delivery statuses are from a list; the slot is the driver's then.
 */
static void
command(struct it *it)
{
	uint32_t i = fz_below(&it->f, 32), wrong = fz_u8(&it->f);
	uint8_t *s = it->mem + (CMDQ - MEM_AT) + i * 64, delivery;

	gen_command(&it->gen, gen_pick(&it->f), 0);
	boxes(it, IN_BOX, it->gen.in, it->gen.in_bytes, wrong);
	boxes(it, OUT_BOX, NULL, it->gen.out_bytes, wrong - 16u);
	slot_put(it, i, it->gen.in_bytes, it->gen.out_bytes);
	if (wrong >= 224) {
		uint32_t at = fz_below(&it->f, 64);

		s[at] = fz_u8(&it->f);
	}
	bar32(it, 0x18, wrong == 223 ? fz_u32(&it->f) : 1u << i);
	delivery = s[0x3f];
	if (it->gone || delivery & 1 || wrong >= 223)
		return; /* not seen: no memory there, or the queue is elsewhere */
	FZ_MUST(delivery >> 1 <= 0x10, "delivery status 0x%x", delivery >> 1);
	if (delivery == 0 && s[0x20] == 0)
		gen_made(&it->gen, s + 0x20);
}

/* Any message at all. */
static void
raw(struct it *it)
{
	static uint8_t body[9000];
	uint32_t how = fz_u8(&it->f), n = how & 1 ? fz_u16(&it->f) % 8300u : fz_below(&it->f, 64);
	uint32_t said = 16 + n;
	int fds[] = {it->fd, it->irq, it->small_fd, it->ro_fd};

	memset(body, how, sizeof(body));
	fz_bytes(&it->f, body, n < 64 ? n : 64);
	if ((how & 0xe) == 0xe)
		said = fz_u16(&it->f);
	send_message(it, fz_below(&it->f, 15), body, n, said, fds[how >> 4 & 3u],
		how >> 6 == 3 ? fz_below(&it->f, 12) : how >> 6, how & 0x20 ? 0x10 : 0);
}

/* A region access with sensible fields. */
static void
access_region(struct it *it)
{
	static const uint32_t regs[] = {0, 4, 0x10, 0x14, 0x18, 0x1000, 0x1010, 0x20, 0x40, 0x48,
		0x800, 0x804, 0x900, 0xa00, 0xb00, 0xc00, 0x60, 0x68, 0x69, 0x70, 0x9e, 0x44};
	uint32_t how = fz_u8(&it->f), n = how & 1 ? 4 : how & 2 ? 8 : fz_below(&it->f, 48);
	uint64_t off = regs[fz_below(&it->f, sizeof(regs) / sizeof(regs[0]))];
	uint8_t data[64];

	fz_bytes(&it->f, data, n);
	if (how & 4)
		off += BAR_UAR + fz_below(&it->f, 4) * PCI_PAGE;
	if (how & 8)
		off = fz_u32(&it->f) % (PCI_BAR_BYTES + 64);
	if ((how & 0xd0) == 0xd0) /* more than the message has */
		send_message(it, 10, (uint64_t[2]){off, (1ull + n) << 32 | (how & 32 ? 7 : 0)}, 16,
			32, -1, 0, 0);
	else if (how & 16)
		region_write(it, how & 32 ? 7 : 0, off, data, n);
	else if (how & 64)
		send_message(it, 9,
			(uint64_t[2]){off, (uint64_t)fz_u16(&it->f) << 32 | (how & 32 ? 7 : 0)}, 16,
			32, -1, 0, 0);
	else
		send_message(it, 9, (uint64_t[2]){off, (uint64_t)n << 32 | (how & 32 ? 7 : 0)}, 16,
			32, -1, 0, 0);
}

/* Interrupts: vectors in and out of range, with what is an eventfd and what is none. */
static void
interrupts(struct it *it)
{
	static const uint32_t flags[] = {36, 36, 36, 33, 34, 4, 32};
	uint32_t how = fz_u8(&it->f);
	uint32_t body[5] = {20, flags[fz_below(&it->f, 7)], how & 1 ? 2 : fz_below(&it->f, 6),
		fz_below(&it->f, 40), fz_below(&it->f, 40)};

	if (how & 0x80)
		body[3 + (how & 1)] = fz_u32(&it->f);
	send_message(it, 8, body, sizeof(body), 16 + sizeof(body), how & 2 ? it->fd : it->irq,
		how >> 2 & 7u, 0);
}

static void
mapping(struct it *it)
{
	uint32_t how = fz_u8(&it->f);
	uint64_t page = fz_u8(&it->f), bytes = (uint64_t)fz_u8(&it->f) << 12, offset;
	int fd = how & 4 ? it->small_fd : how & 8 ? it->ro_fd : it->fd;

	if (how & 16) {
		dma(it, how & 1, fz_u64(&it->f), fz_u64(&it->f), fz_u64(&it->f), fd, 3);
		return;
	}
	if (how & 2) {
		dma(it, how & 1, MEM_AT, MEM_BYTES + (page % 8 == 7 ? PCI_PAGE : 0), 0, it->fd, 3);
		return;
	}
	offset = (uint64_t)fz_below(&it->f, 32) << 12;
	if ((how & 0x60) == 0x60) /* to the end of the file, or a page more */
		bytes = MEM_BYTES - offset + (bytes & PCI_PAGE);
	dma(it, how & 1, page << 12, bytes, offset, fd, how & 32 ? 3 : fz_u8(&it->f));
}

static void
memory(struct it *it)
{
	uint32_t at = fz_u32(&it->f) % MEM_BYTES, n = 1 + fz_below(&it->f, 64);

	fz_bytes(&it->f, it->mem + at, n < MEM_BYTES - at ? n : MEM_BYTES - at);
}

/*
 * The numbers of descriptors reach libFuzzer by comparisons, and those that are free hang on who
 * started this process and on its limits: from here on they do not.
 */
static void
take_low_fds(void)
{
	struct rlimit most;
	int fd;

	FZ_MUST(getrlimit(RLIMIT_NOFILE, &most) == 0, "errno %d", errno);
	most.rlim_cur = most.rlim_max < 1024 ? most.rlim_max : 1024;
	FZ_MUST(setrlimit(RLIMIT_NOFILE, &most) == 0, "errno %d", errno);
	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd < FIRST_FD);
	FZ_MUST(fd >= 0 && close(fd) == 0, "errno %d", errno);
}

static void
begin(struct it *it)
{
	static const struct scx_nic_cfg cfg = {.profile = "cx6dx",
		.name = "fuzz",
		.seed = 1,
		.mtu = 1500,
		.mac = {2, 0, 0, 0, 0, 1}};
	static struct pci_dev dev;
	static struct it made;
	char path[32];

	if (made.d == NULL) {
		take_low_fds();
		FZ_MUST(scx_log_open("/dev/null") == 0, "the log");
		made.d = &dev;
		FZ_MUST(pci_dev_init(&dev, &cfg, NULL) == 0, "no device");
		/* an access makes its page, and not the two megabytes around it */
		FZ_MUST(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0, "errno %d", errno);
		made.fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		made.small_fd = memfd_create("small", MFD_CLOEXEC);
		made.irq = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		FZ_MUST(ftruncate(made.fd, MEM_BYTES) == 0, "memory");
		FZ_MUST(ftruncate(made.small_fd, SMALL_BYTES) == 0, "memory");
		FZ_MUST(fcntl(made.fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0, "seal");
		snprintf(path, sizeof(path), "/proc/self/fd/%d", made.fd);
		made.ro_fd = open(path, O_RDONLY | O_CLOEXEC);
		FZ_MUST(made.ro_fd >= 0 && made.irq >= 0, "errno %d", errno);
		made.mem = mmap(NULL, MEM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, made.fd, 0);
		FZ_MUST(made.mem != MAP_FAILED, "memory");
	}
	*it = made;
	it->d->starting_until = 0;
	it->free_fd = fcntl(it->fd, F_DUPFD_CLOEXEC, 0);
	close(it->free_fd);
	FZ_MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, it->sock) == 0, "socket");
	memset(it->mem, 0, MEM_BYTES);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct it it;
	uint32_t how;
	int fd;

	begin(&it);
	it.f = (struct fz){data, size};
	it.gen.f = &it.f;
	it.gen.kernel = true;
	it.gen.memory = MEM_AT + 0x10000;
	it.gen.memory_bytes = MEM_BYTES - 0x10000;
	how = fz_u8(&it.f);
	if (how & 1)
		dma(&it, true, MEM_AT, MEM_BYTES, 0, it.fd, 3);
	if (how & 2) {
		bar32(&it, 0x10, 0);
		bar32(&it, 0x14, CMDQ);
	}
	for (unsigned n = 0; it.f.n > 0 && !it.gone && n < 100; n++) {
		switch (fz_below(&it.f, 8)) {
		case 0:
			if (fz_u8(&it.f) & 1)
				interrupts(&it);
			else
				raw(&it);
			break;
		case 1:
		case 2:
			access_region(&it);
			break;
		case 3:
			mapping(&it);
			break;
		case 4:
			memory(&it);
			break;
		default:
			command(&it);
			break;
		}
	}
	FZ_MUST(close(it.sock[0]) == 0 && close(it.sock[1]) == 0, "not closed by us alone");
	/* As the server does when a client has gone. */
	FZ_MUST(pci_dev_reset(it.d) == 0, "no reset");
	pci_dev_disconnect(it.d);
	FZ_MUST(it.d->mem.nr == 0, "%u maps are left", it.d->mem.nr);
	holes_untouched(&it.d->mem);
	for (uint32_t i = 0; i < PCI_VECTORS; i++)
		FZ_MUST(it.d->irq[i] < 0, "vector %u has a descriptor that is closed", i);
	/* Of what came with messages nothing stays open, and nothing else was closed. */
	fd = fcntl(it.fd, F_DUPFD_CLOEXEC, 0);
	FZ_MUST(fd == it.free_fd && close(fd) == 0, "descriptor %d, and %d before", fd, it.free_fd);
	return 0;
}
