/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What reaches a device from outside of any call: its netdev goes down, comes up and gets another
 * MTU; the program closes the device and leaves everything that it made there. With the argument
 * "unmap" it unmaps a ring under a queue and rings the doorbell, which ends it; mlx5_outside.sh
 * looks at the words. Runs under softcx run, without DPDK. Every wait is bounded.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "check.h"
#include "gpu_queues/mem.h"

#define WAIT_MS 5000
#define NETDEV	"scx0"

static struct crl_err err;

static struct crl_ctx *
open_first(void)
{
	struct crl_cfg cfg = {.size = sizeof(cfg)};
	struct crl_ctx *ctx;

	must(crl_open(&cfg, &ctx, &err), &err, "open");
	return ctx;
}

static void
set_netdev(bool up, int mtu)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = {.ifr_name = NETDEV};

	CHECK(ioctl(fd, SIOCGIFFLAGS, &r) == 0, "flags of " NETDEV);
	r.ifr_flags = (short)(up ? r.ifr_flags | IFF_UP : r.ifr_flags & ~IFF_UP);
	CHECK(ioctl(fd, SIOCSIFFLAGS, &r) == 0, "set flags of " NETDEV);
	r.ifr_mtu = mtu;
	CHECK(ioctl(fd, SIOCSIFMTU, &r) == 0, "set the MTU of " NETDEV);
	close(fd);
}

static enum ibv_port_state
port_state(struct crl_ctx *ctx)
{
	struct ibv_port_attr attr;

	return ibv_query_port(crl_ibv_context(ctx), 1, &attr) == 0 ? attr.state : IBV_PORT_NOP;
}

/* The next event, which must be of the link; its code: 0 up, -ENETDOWN down, 1 none came. */
static int
link_event(struct crl_ctx *ctx)
{
	struct pollfd p = {.fd = crl_event_fd(ctx), .events = POLLIN};
	struct crl_event ev;

	if (poll(&p, 1, WAIT_MS) != 1 || crl_event_next(ctx, &ev, 1) != 1)
		return 1;
	CHECK(ev.type == CRL_EVENT_LINK && ev.queue == NULL, "event type %d", ev.type);
	return ev.err.code;
}

static void
test_link(void)
{
	struct crl_ctx *ctx = open_first();
	struct crl_event ev;

	CHECK(crl_event_next(ctx, &ev, 1) == 0, "an event before anything happened");
	CHECK(port_state(ctx) == IBV_PORT_ACTIVE, "not up at the start");
	for (int i = 0; i < 3; i++) {
		set_netdev(false, 1500);
		CHECK(link_event(ctx) == -ENETDOWN, "round %d: no word of a link down", i);
		CHECK(port_state(ctx) == IBV_PORT_DOWN, "round %d: the port is not down", i);
		set_netdev(true, 1500);
		CHECK(link_event(ctx) == 0, "round %d: no word of a link up", i);
		CHECK(port_state(ctx) == IBV_PORT_ACTIVE, "round %d: the port is not up", i);
	}
	CHECK(crl_event_next(ctx, &ev, 1) == 0, "more events than changes");
	must(crl_close(ctx, &err), &err, "close");
}

/* The NIC's side of an open goes with its last descriptor: then event descriptors end. */
static void
test_close(void)
{
	static struct crl_ctx *left; /* as one forgets it: still pointed to, so no leak of memory */
	struct ibv_context *ibv = crl_ibv_context(left = open_first());
	int events = fcntl(ibv->async_fd, F_DUPFD_CLOEXEC, 0);
	int twin = fcntl(ibv->cmd_fd, F_DUPFD_CLOEXEC, 0);
	struct pollfd p = {.fd = events, .events = POLLIN};

	CHECK(events >= 0 && twin >= 0, "no duplicates");
	/* Without a word to libibverbs: its UAR pages stay mapped, as in a program that forgets. */
	close(ibv->cmd_fd);
	CHECK(poll(&p, 1, 200) == 0, "gone while a duplicate is open");
	munmap(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, twin, 0), 4096);
	CHECK(poll(&p, 1, 200) == 0, "gone while it was mapped, and a duplicate is open");
	close(twin);
	CHECK(poll(&p, 1, 200) == 0, "gone while register pages are mapped");
	close(events);
}

/* In an orderly close nothing is mapped any more. */
static void
test_orderly_close(void)
{
	struct crl_ctx *ctx = open_first();
	int events = fcntl(crl_ibv_context(ctx)->async_fd, F_DUPFD_CLOEXEC, 0);
	struct pollfd p = {.fd = events, .events = POLLIN};

	must(crl_close(ctx, &err), &err, "close");
	CHECK(poll(&p, 1, WAIT_MS) == 1 && (p.revents & POLLHUP), "the open stays on the NIC");
	close(events);
}

static struct {
	void *addr;
	size_t bytes;
} ring;

static int
ring_alloc(void *arg, size_t bytes, size_t align, void **addr)
{
	ring.bytes = bytes;
	ring.addr = mmap(
		NULL, bytes + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ring.addr == MAP_FAILED)
		return -ENOMEM;
	*addr = ring.addr = (void *)(((uintptr_t)ring.addr + align - 1) / align * align);
	return 0;
}

static void
ring_free(void *arg, void *addr, size_t bytes)
{
	munmap(addr, bytes);
}

static int
unmap(void)
{
	struct crl_mem mem = {
		.size = sizeof(mem), .name = "its own", .alloc = ring_alloc, .free = ring_free};
	struct crl_queue_cfg cfg = {
		.size = sizeof(cfg), .flags = CRL_Q_TX, .tx_depth = 64, .rings = &mem};
	struct timespec wait = {.tv_sec = WAIT_MS / 1000};
	struct crl_queue_dev dev;
	struct crl_queue *q;

	must(crl_queue_create(open_first(), &cfg, &q, &err), &err, "create a queue");
	must(crl_queue_export(q, &dev, &err), &err, "export it");
	munmap(ring.addr, ring.bytes);
	crl_st_mmio64(dev.sq.uar, 1);
	nanosleep(&wait, NULL);
	printf("FAIL: still here\n");
	return 1;
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "unmap") == 0)
		return unmap();
	test_link();
	test_orderly_close();
	test_close();
	return check_done("mlx5_outside");
}
