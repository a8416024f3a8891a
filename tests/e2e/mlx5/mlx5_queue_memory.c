/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings and buffers in memory that is not the host's. First, memory that the host cannot touch: the
 * driver gets addresses in a range without access rights, a dma-buf and copy functions, as a GPU's
 * driver would give; the NIC and the test see the bytes elsewhere, so that any direct access of the
 * driver's ends the test. Second, a gpudev. A packet makes its round through both. Arguments:
 * EAL's, with gpu_crl_host0.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drivers/softcx/dmabuf_registry.h"
#include "net.h"

#define ARENA_BYTES (32u << 20)

static struct crl_err err;

/* The far memory: names (no access) and bytes (where they really are). */
static struct {
	uint8_t *names, *bytes;
	size_t used, nr_live;
	int fd;
	unsigned nr_dmabuf, nr_write, nr_map;
	const char *refuse; /* the call that says no */
} far;

static bool
far_refuses(const char *call)
{
	return far.refuse != NULL && strcmp(far.refuse, call) == 0;
}

static void
far_why(void *arg, struct crl_err *why)
{
	(void)arg;
	crl_err_set(why, -EOPNOTSUPP, far.refuse, "move it nearer", "it is too far away");
}

static int
far_alloc(void *arg, size_t bytes, size_t align, void **addr)
{
	(void)arg;
	far.used = (far.used + align - 1) / align * align;
	if (far_refuses("alloc"))
		return -EOPNOTSUPP;
	if (far.used + bytes > ARENA_BYTES)
		return -ENOMEM;
	*addr = far.names + far.used;
	far.used += bytes;
	far.nr_live++;
	return 0;
}

static void
far_free(void *arg, void *addr, size_t bytes)
{
	(void)arg;
	(void)addr;
	(void)bytes;
	far.nr_live--;
}

static void *
far_bytes(const void *name)
{
	return far.bytes + ((const uint8_t *)name - far.names);
}

static int
far_write(void *arg, void *dst, const void *src, size_t bytes)
{
	(void)arg;
	if (far_refuses("write"))
		return -EOPNOTSUPP;
	memcpy(far_bytes(dst), src, bytes);
	far.nr_write++;
	return 0;
}

static int
far_dmabuf(void *arg, void *addr, size_t bytes, uint64_t *offset)
{
	(void)arg;
	(void)bytes;
	if (far_refuses("dmabuf"))
		return -EOPNOTSUPP;
	*offset = (uint64_t)((uint8_t *)addr - far.names);
	far.nr_dmabuf++;
	return fcntl(far.fd, F_DUPFD_CLOEXEC, 0);
}

/* Pages that the host has are where they are, for this "GPU". */
static int
far_map(void *arg, void *addr, size_t bytes, void **dev)
{
	(void)arg;
	if (far_refuses(bytes == CRL_UAR_BYTES && addr != NULL ? "map" : ""))
		return -EOPNOTSUPP;
	*dev = addr;
	far.nr_map++;
	return 0;
}

static void
far_unmap(void *arg, void *addr)
{
	(void)arg;
	(void)addr;
	far.nr_map--;
}

static const struct crl_mem far_mem = {
	.size = sizeof(far_mem),
	.place = CRL_PLACE_GPU,
	.name = "far memory",
	.alloc = far_alloc,
	.free = far_free,
	.write = far_write,
	.dmabuf = far_dmabuf,
	.map_host = far_map,
	.map_mmio = far_map,
	.unmap_host = far_unmap,
	.unmap_mmio = far_unmap,
	.why = far_why,
};

static bool
far_up(void)
{
	far.fd = memfd_create("far", MFD_CLOEXEC);
	if (far.fd < 0 || ftruncate(far.fd, ARENA_BYTES) != 0)
		return false;
	far.names = mmap(NULL, ARENA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	far.bytes = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, far.fd, 0);
	return far.names != MAP_FAILED && far.bytes != MAP_FAILED &&
	       scx_dmabuf_publish(far.fd, far.bytes, ARENA_BYTES) == 0;
}

/* The exported struct as the test can use it: addresses of bytes in the place of names. */
static void
near_dev(struct crl_queue_dev *d)
{
	d->sq.wqe = far_bytes(d->sq.wqe);
	d->sq.dbrec = far_bytes(d->sq.dbrec);
	d->sq.cookie = far_bytes(d->sq.cookie);
	d->sq.end = far_bytes(d->sq.end);
	d->sq.cq.cqe = far_bytes(d->sq.cq.cqe);
	d->sq.cq.dbrec = far_bytes(d->sq.cq.dbrec);
	d->rq.wqe = far_bytes(d->rq.wqe);
	d->rq.dbrec = far_bytes(d->rq.dbrec);
	d->rq.buf = far_bytes(d->rq.buf);
	d->rq.released = far_bytes(d->rq.released);
	d->rq.cq.cqe = far_bytes(d->rq.cq.cqe);
	d->rq.cq.dbrec = far_bytes(d->rq.cq.dbrec);
	d->txbuf.addr = far_bytes(d->txbuf.addr);
}

static void
rounds(struct crl_port *port, struct test_queue *t)
{
	struct crl_match m = {.size = sizeof(m)};
	struct crl_flow *flow;
	uint8_t frame[2048];
	uint64_t cookie;
	uint32_t len;

	must(crl_flow_add(port, &m, &t->q, 1, &flow, &err), &err, "add a flow");
	for (unsigned i = 0; i < 600; i++) { /* more than a lap of the receive ring */
		frame_udp(t->dev.txbuf.addr, t->dev.mac, 7, (uint16_t)i);
		send_at(t, 0, t->dev.txbuf.lkey);
		if (!sent(t, &cookie) || received(t, 1, WAIT_NS, frame, &len) != 0 ||
			memcmp(frame, t->dev.txbuf.addr, FRAME_LEN) != 0) {
			CHECK(false, "round %u: lost or changed", i);
			break;
		}
	}
	must(crl_flow_del(flow, &err), &err, "delete the flow");
}

static void
try_memory(struct crl_port *port, uint32_t index, const struct crl_mem *mem, bool is_far,
	enum crl_uar uar)
{
	struct crl_ctx *ctx = crl_port_ctx(port);
	struct crl_path path = {.size = sizeof(path)};
	struct crl_queue_cfg cfg = {
		.size = sizeof(cfg),
		.flags = CRL_Q_TX | CRL_Q_RX,
		.index = index,
		.tx_depth = 128,
		.rx_depth = 512,
		.rings = mem,
		.uar = uar,
	};
	struct crl_region_cfg rc = {
		.size = sizeof(rc), .flags = CRL_REGION_ALLOC, .bytes = 4096, .mem = mem};
	struct test_queue t;

	must(crl_region_reg(ctx, &rc, &cfg.tx_region, &err), &err, "register a frame");
	must(crl_queue_create(ctx, &cfg, &t.q, &err), &err, "create a queue");
	must(crl_port_attach(port, t.q, &err), &err, "attach it");
	must(crl_queue_export(t.q, &t.dev, &err), &err, "export it");
	must(crl_path(t.q, &path), &err, "path");
	printf("%s\n", path.text);
	CHECK(path.rings == mem->place && path.buffers == mem->place, "path says another place");
	CHECK(uar == CRL_UAR_ANY ? path.uar != CRL_UAR_ANY : path.uar == uar, "another page");
	CHECK(strstr(path.text, mem->name) != NULL, "path does not name the memory");
	if (is_far)
		near_dev(&t.dev);
	crl_rq_refill(&t.dev.rq, NULL);
	rounds(port, &t);
	queue_down(port, &t);
	must(crl_region_dereg(cfg.tx_region, &err), &err, "deregister the frame");
}

/* Two queues on the one page of the context: mapped once, and until the last of them has gone. */
static void
test_shared_page(struct crl_port *port)
{
	struct crl_queue_cfg cfg = {.size = sizeof(cfg),
		.flags = CRL_Q_TX | CRL_Q_RX,
		.index = 9,
		.rings = &far_mem,
		.uar = CRL_UAR_NC_SHARED};
	struct crl_queue *q;

	must(crl_queue_create(crl_port_ctx(port), &cfg, &q, &err), &err, "create a queue");
	CHECK(far.nr_map == 2, "%u mappings, wanted the page and the queue's own", far.nr_map);
	try_memory(port, 2, &far_mem, true, CRL_UAR_NC_SHARED);
	CHECK(far.nr_map == 2, "%u mappings with one queue left", far.nr_map);
	must(crl_queue_destroy(q, &err), &err, "destroy it");
	CHECK(far.nr_live == 0 && far.nr_map == 0, "%zu allocations, %u mappings left", far.nr_live,
		far.nr_map);
}

/* Each of the memory's own calls says no: its words come through, and nothing is left. */
static void
test_refusals(struct crl_ctx *ctx)
{
	static const char *const calls[] = {"alloc", "write", "dmabuf", "map"};
	struct crl_queue_cfg cfg = {
		.size = sizeof(cfg), .flags = CRL_Q_TX | CRL_Q_RX, .rings = &far_mem};
	struct crl_queue *q;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		far.refuse = calls[i];
		refused(crl_queue_create(ctx, &cfg, &q, &err), &err, -EOPNOTSUPP,
			"it is too far away. Fix: move it nearer");
		CHECK(far.nr_live == 0 && far.nr_map == 0, "%s: %zu allocations, %u mappings left",
			calls[i], far.nr_live, far.nr_map);
	}
	far.refuse = NULL;
}

int
main(int argc, char **argv)
{
	struct crl_port_cfg cfg = {.size = sizeof(cfg), .isolate = 1};
	struct crl_port *port;
	struct crl_mem gpu;
	struct crl_eal *eal;

	setvbuf(stdout, NULL, _IOLBF, 0);
	must(crl_eal_init(argc, argv, &eal, &err), &err, "start EAL");
	must(crl_port_open(eal, 0, &cfg, &port, &err), &err, "open the port");
	CHECK(far_up(), "no far memory");
	try_memory(port, 0, &far_mem, true, CRL_UAR_ANY);
	CHECK(far.nr_dmabuf == 6, "%u dma-bufs asked for, wanted 4 rings and 2 regions",
		far.nr_dmabuf);
	CHECK(far.nr_live == 0 && far.nr_map == 0, "%zu allocations, %u mappings left", far.nr_live,
		far.nr_map);
	test_shared_page(port);
	test_refusals(crl_port_ctx(port));
	must(crl_mem_gpudev(eal, 0, &gpu, &err), &err, "use gpudev 0");
	try_memory(port, 1, &gpu, false, CRL_UAR_ANY);
	must(crl_port_close(port, &err), &err, "close the port");
	must(crl_eal_cleanup(eal, &err), &err, "clean EAL up");
	return check_done("mlx5_queue_memory");
}
