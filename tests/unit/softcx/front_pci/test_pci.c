/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver at the other end of the socket: it shares memory by DMA_MAP, finds the device in its
 * configuration space, brings it up by the command queue, takes interrupts from eventfds. Then all
 * that a client can get wrong: the server refuses it, or lets the client go, and serves the next.
 */
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "drivers/mlx5/prm.h"
#include "drivers/softcx/front_pci/pci.h"
#include "drivers/softcx/front_pci/serve.h"

#define MEM_BYTES (4u << 20)
#define MEM_FROM  0x100000u /* on the bus */
#define CMDQ	  0x1000u   /* offsets in the memory */
#define IN_BOX	  0x2000u
#define OUT_BOX	  0x10000u
#define BOX_STEP  1024u
#define GIVEN	  0x100000u /* pages for the firmware */
#define EQ_RING	  0x80000u
#define TOKEN	  0x5au
#define WAIT_MS	  5000

struct client {
	pthread_t server;
	volatile int stop;
	char dir[64], path[96];
	int sock, fd, irq;
	uint8_t *mem;
	uint16_t id;
	uint8_t reply[8192];
	uint32_t nr_reply;
};

static void *
server(void *arg)
{
	struct client *c = arg;
	const struct scx_nic_cfg cfg = {.profile = "cx6dx",
		.name = "pci",
		.seed = 1,
		.mtu = 1500,
		.mac = {2, 0, 0, 0, 0, 1}};

	return (void *)(intptr_t)scx_serve(&cfg, c->path, &c->stop);
}

static void
dial(struct client *c)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	const struct timeval wait = {.tv_sec = WAIT_MS / 1000};

	c->sock = socket(AF_UNIX, SOCK_STREAM, 0);
	strcpy(a.sun_path, c->path);
	for (int i = 0; i < 500; i++) {
		if (connect(c->sock, (struct sockaddr *)&a, sizeof(a)) == 0)
			break;
		usleep(10000);
	}
	setsockopt(c->sock, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
}

static int
setup(void **state)
{
	struct client *c = calloc(1, sizeof(*c));

	strcpy(c->dir, "/tmp/softcx-pci.XXXXXX");
	assert_non_null(mkdtemp(c->dir));
	snprintf(c->path, sizeof(c->path), "%s/sock", c->dir);
	assert_int_equal(0, pthread_create(&c->server, NULL, server, c));
	c->fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(0, ftruncate(c->fd, MEM_BYTES));
	assert_int_equal(0, fcntl(c->fd, F_ADD_SEALS, F_SEAL_SHRINK));
	c->mem = mmap(NULL, MEM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	assert_ptr_not_equal(MAP_FAILED, c->mem);
	c->irq = eventfd(0, EFD_NONBLOCK);
	dial(c);
	*state = c;
	return 0;
}

static int
teardown(void **state)
{
	struct client *c = *state;
	void *rc;

	close(c->sock);
	c->stop = 1;
	pthread_join(c->server, &rc);
	assert_null(rc);
	munmap(c->mem, MEM_BYTES);
	close(c->fd);
	close(c->irq);
	assert_int_equal(0, rmdir(c->dir)); /* the socket is gone */
	free(c);
	return 0;
}

/* Send a message, and a descriptor unless it is -1; returns the error of the answer. */
static int
message(struct client *c, uint16_t cmd, const void *body, uint32_t n, int fd)
{
	struct {
		uint16_t id, cmd;
		uint32_t size, flags, error;
	} h = {++c->id, cmd, 16 + n, 0, 0};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov[2] = {{&h, 16}, {(void *)(uintptr_t)body, n}};
	struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};

	if (fd >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
	}
	assert_int_equal(16 + n, sendmsg(c->sock, &m, 0));
	assert_int_equal(16, recv(c->sock, &h, 16, MSG_WAITALL));
	assert_int_equal(c->id, h.id);
	assert_int_equal(1, h.flags & 1);
	c->nr_reply = h.size - 16;
	assert_true(c->nr_reply <= sizeof(c->reply));
	if (c->nr_reply > 0)
		assert_int_equal(c->nr_reply, recv(c->sock, c->reply, c->nr_reply, MSG_WAITALL));
	assert_int_equal(h.error != 0, (h.flags & 0x20) != 0);
	return (int)h.error;
}

struct access {
	uint64_t off;
	uint32_t region, count;
	uint8_t data[64];
};

static int
write_region(struct client *c, uint32_t region, uint64_t off, const void *data, uint32_t n)
{
	struct access a = {off, region, n, {0}};

	memcpy(a.data, data, n);
	return message(c, 10, &a, 16 + n, -1);
}

static uint32_t
read32(struct client *c, uint32_t region, uint64_t off)
{
	const struct access a = {off, region, 4, {0}};
	uint32_t v;

	assert_int_equal(0, message(c, 9, &a, 16, -1));
	assert_int_equal(20, c->nr_reply);
	memcpy(&v, c->reply + 16, 4);
	return v;
}

static void
bar_write(struct client *c, uint64_t off, uint32_t v)
{
	const crl_be32 be = crl_to_be32(v);

	assert_int_equal(0, write_region(c, 0, off, &be, 4));
}

static int
dma(struct client *c, uint16_t cmd, uint64_t from, uint64_t bytes, int fd)
{
	const struct {
		uint32_t argsz, flags;
		uint64_t offset, from, bytes;
	} map = {32, 3, 0, from, bytes};
	const struct {
		uint32_t argsz, flags;
		uint64_t from, bytes;
	} unmap = {24, 0, from, bytes};

	return cmd == 2 ? message(c, 2, &map, sizeof(map), fd)
			: message(c, 3, &unmap, sizeof(unmap), -1);
}

static void
hello(struct client *c)
{
	static const char v[] = "\0\0\1\0{\"capabilities\":{}}";

	assert_int_equal(0, message(c, 1, v, sizeof(v), -1));
	assert_int_equal(0, c->reply[0] | c->reply[1]);
	assert_non_null(strstr((char *)c->reply + 4, "max_msg_fds"));
	assert_int_equal(0, dma(c, 2, MEM_FROM, MEM_BYTES, c->fd));
	bar_write(c, 0x10, 0);
	bar_write(c, 0x14, MEM_FROM + CMDQ);
}

/* ---- commands ---- */

static void
put64(uint8_t *at, uint64_t v)
{
	crl_prm_set64(at, 64, v);
}

/* in[] into slot 1 and mailboxes. */
static uint8_t *
prepare(struct client *c, const uint8_t *in, uint32_t in_len, uint32_t out_len)
{
	uint8_t *s = c->mem + CMDQ + 64;

	memset(s, 0, 64);
	s[0] = 7;
	crl_prm_set(s, 0x20 << 16 | 32, in_len);
	put64(s + 8, MEM_FROM + IN_BOX);
	memcpy(s + 0x10, in, in_len < 16 ? in_len : 16);
	put64(s + 0x30, MEM_FROM + OUT_BOX);
	crl_prm_set(s, 0x1c0 << 16 | 32, out_len);
	s[0x3c] = TOKEN;
	s[0x3f] = 1;
	for (uint32_t box = 0; box < 8; box++) {
		for (uint32_t out = 0; out < 2; out++) {
			uint32_t at = (out ? OUT_BOX : IN_BOX) + box * BOX_STEP;

			memset(c->mem + at, 0, 576);
			put64(c->mem + at + 0x230, MEM_FROM + at + BOX_STEP);
			crl_prm_set(c->mem + at, 0x11c0u << 16 | 32, box);
			c->mem[at + 0x23d] = TOKEN;
			if (!out && 16 + box * 512 < in_len)
				memcpy(c->mem + at, in + 16 + box * 512,
					in_len - 16 - box * 512 < 512 ? in_len - 16 - box * 512
								      : 512);
		}
	}
	return s;
}

/* Ring slot 1; the delivery status. The answer is complete when the message is answered. */
static uint32_t
ring(struct client *c)
{
	uint8_t *s = c->mem + CMDQ + 64;

	bar_write(c, 0x18, 1u << 1);
	assert_int_equal(0, __atomic_load_n(s + 0x3f, __ATOMIC_ACQUIRE) & 1);
	return s[0x3f] >> 1;
}

/* Run, with no mistake: the first 16 bytes of the answer. */
static uint8_t *
command(struct client *c, const uint8_t *in, uint32_t in_len, uint32_t out_len)
{
	uint8_t *s = prepare(c, in, in_len, out_len);

	assert_int_equal(0, ring(c));
	return s + 0x20;
}

static uint8_t *
simple(struct client *c, uint16_t opcode, uint32_t op_mod, uint32_t in_len, uint32_t out_len)
{
	CRL_ALIGNAS(8) uint8_t in[64] = {0};
	uint8_t *out;

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, opcode);
	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, op_mod);
	out = command(c, in, in_len, out_len);
	if (out[0] != 0)
		fail_msg("opcode 0x%x: status 0x%x", opcode, out[0]);
	return out;
}

static void
give_pages(struct client *c, uint32_t what, uint32_t first)
{
	uint32_t nr = crl_prm_get(
		simple(c, CRL_CMD_OP_QUERY_PAGES, what, 16, 16), CRL_PRM_QUERY_PAGES_OUT_NUM_PAGES);
	CRL_ALIGNAS(8) uint8_t in[16 + 8 * 400] = {0};

	assert_in_range(nr, 1, 400);
	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_MANAGE_PAGES);
	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, 1);
	crl_prm_set(in, CRL_PRM_MANAGE_PAGES_IN_INPUT_NUM_ENTRIES, nr);
	for (uint32_t i = 0; i < nr; i++)
		put64(in + 16 + i * 8, MEM_FROM + GIVEN + (first + i) * 4096ull);
	assert_int_equal(0, command(c, in, 16 + nr * 8, 16)[0]);
}

static void
bring_up(struct client *c)
{
	simple(c, CRL_CMD_OP_ENABLE_HCA, 0, 16, 16);
	give_pages(c, 1, 0);
	give_pages(c, 2, 64);
	simple(c, CRL_CMD_OP_INIT_HCA, 0, 32, 16);
}

static void
found_and_brought_up(void **state)
{
	struct client *c = *state;
	const struct {
		uint32_t argsz, flags, index, start, count;
	} irqs = {20, 4 | 32, 2, 3, 1};
	CRL_ALIGNAS(8) uint8_t in[CRL_PRM_CREATE_EQ_IN_BYTES + 8] = {0};
	struct pollfd p = {.fd = c->irq, .events = POLLIN};
	uint8_t *eqc = crl_prm_at(in, CRL_PRM_CREATE_EQ_IN_EQ_CONTEXT_ENTRY);
	uint32_t uar, eqn, health;
	uint64_t n;

	hello(c);
	assert_int_equal(0x101d15b3, read32(c, 7, 0));
	assert_int_equal(0x0200, read32(c, 7, 8) >> 16);
	assert_int_equal(5, crl_bswap32(read32(c, 0, 4)) >> 16);
	assert_int_equal(0, read32(c, 0, 0x1fc)); /* not initializing */
	health = crl_bswap32(read32(c, 0, 0x1010));
	assert_int_equal(0, message(c, 8, &irqs, sizeof(irqs), c->irq));
	bring_up(c);

	uar = crl_prm_get(simple(c, CRL_CMD_OP_ALLOC_UAR, 0, 16, 16), CRL_PRM_ALLOC_UAR_OUT_UAR);
	assert_in_range(uar, PCI_UAR_FIRST, PCI_UAR_PAGES - 1);
	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_CREATE_EQ);
	crl_prm_set(eqc, CRL_PRM_EQC_LOG_EQ_SIZE, 6);
	crl_prm_set(eqc, CRL_PRM_EQC_INTR, 3);
	crl_prm_set(eqc, CRL_PRM_EQC_UAR_PAGE, uar);
	put64(crl_prm_at(in, CRL_PRM_CREATE_EQ_IN_EVENT_BITMASK), 1u << SCX_EVENT_COMMAND);
	put64(in + CRL_PRM_CREATE_EQ_IN_BYTES, MEM_FROM + EQ_RING);
	eqn = crl_prm_get(command(c, in, sizeof(in), 16), CRL_PRM_CREATE_EQ_OUT_EQ_NUMBER);
	assert_int_equal(0, c->mem[EQ_RING + 1]); /* the command itself makes no entry */

	/* Armed: the next command's completion is an entry and an interrupt. */
	bar_write(c, uar * 4096 + 0x40, eqn << 24);
	assert_int_equal(0, poll(&p, 1, 0));
	simple(c, CRL_CMD_OP_QUERY_ISSI, 0, 16, CRL_PRM_QUERY_ISSI_OUT_BYTES);
	assert_int_equal(1, poll(&p, 1, WAIT_MS));
	assert_int_equal(8, read(c->irq, &n, 8));
	assert_int_equal(SCX_EVENT_COMMAND, c->mem[EQ_RING + 1]);
	assert_int_equal(1u << 1, c->mem[EQ_RING + 0x23]);
	usleep(150000);
	assert_int_not_equal(health, crl_bswap32(read32(c, 0, 0x1010)));
}

/* Answers longer than a mailbox, through the chain. */
static void
long_answers(void **state)
{
	struct client *c = *state;
	CRL_ALIGNAS(8) uint8_t page[512];
	const uint8_t *box = c->mem + OUT_BOX;

	hello(c);
	bring_up(c);
	simple(c, CRL_CMD_OP_QUERY_HCA_CAP, 0, 16, 16 + 4096);
	memcpy(page, box, sizeof(page)); /* the page starts where the mailboxes do */
	assert_int_equal(1, crl_prm_get(page, CRL_PRM_HCA_CAP_PORT_TYPE));
	assert_int_equal(22, crl_prm_get(page, CRL_PRM_HCA_CAP_LOG_MAX_EQ_SZ));
}

static void
delivery_errors(void **state)
{
	struct client *c = *state;
	/* All that prepare() copies, whatever length it is told. */
	CRL_ALIGNAS(8) uint8_t in[16 + 8 * 512] = {0};
	uint8_t *s;

	hello(c);
	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_QUERY_ISSI);
	s = prepare(c, in, 16, 112), s[0] = 1, assert_int_equal(0x10, ring(c));
	prepare(c, in, 4, 112), assert_int_equal(7, ring(c));
	prepare(c, in, 2u << 20, 112), assert_int_equal(7, ring(c));
	prepare(c, in, 16, 0), assert_int_equal(8, ring(c));
	prepare(c, in, 600, 112), c->mem[IN_BOX + BOX_STEP + 0x23d] ^= 1;
	assert_int_equal(2, ring(c)); /* token */
	prepare(c, in, 600, 112), c->mem[IN_BOX + BOX_STEP + 0x23b] = 7;
	assert_int_equal(3, ring(c)); /* block number */
	s = prepare(c, in, 600, 112), put64(s + 8, MEM_FROM + IN_BOX + 8);
	assert_int_equal(5, ring(c)); /* alignment */
	s = prepare(c, in, 600, 112), put64(s + 8, MEM_FROM + MEM_BYTES);
	assert_int_equal(5, ring(c)); /* not there */
	s = prepare(c, in, 16, 112), put64(s + 0x30, ~0xfffull);
	assert_int_equal(4, ring(c));
	prepare(c, in, 16, 112), assert_int_equal(0, ring(c));
	/* Not the NIC's slot, no queue at all: nothing happens. */
	bar_write(c, 0x18, ~0u);
	bar_write(c, 0x14, 0xfffff000);
	bar_write(c, 0x18, ~0u);
}

static void
wrong_messages(void **state)
{
	struct client *c = *state;
	const struct access huge = {0, 0, 1u << 30, {0}}, past = {PCI_BAR_BYTES - 2, 0, 4, {0}},
			    far = {~0ull, 7, 4, {0}}, nowhere = {0, 3, 4, {0}};
	const uint32_t region[4] = {16, 0, 9, 0}, irq[5] = {20, 36, 2, 30, 8};
	uint8_t byte = 0;

	hello(c);
	assert_int_equal(EOPNOTSUPP, message(c, 99, NULL, 0, -1));
	assert_int_equal(EINVAL, message(c, 2, &byte, 1, c->fd));
	assert_int_equal(EINVAL, message(c, 5, region, sizeof(region), -1));
	assert_int_equal(EINVAL, message(c, 8, irq, sizeof(irq), -1));
	assert_int_equal(EINVAL, message(c, 9, &huge, 16, -1));
	assert_int_equal(EINVAL, message(c, 9, &past, 16, -1));
	assert_int_equal(EINVAL, message(c, 9, &far, 16, -1));
	assert_int_equal(EINVAL, message(c, 9, &nowhere, 16, -1));
	assert_int_equal(EINVAL, message(c, 10, &huge, 20, -1));
	/* Memory: twice, past its file, past the bus, not a page; half of a mapping taken away. */
	assert_int_equal(EEXIST, dma(c, 2, MEM_FROM, 4096, c->fd));
	assert_int_equal(EINVAL, dma(c, 2, 0x10000000, MEM_BYTES + 4096, c->fd));
	assert_int_equal(EINVAL, dma(c, 2, ~0xfffull, 4096, c->fd));
	assert_int_equal(EINVAL, dma(c, 2, 0x10000010, 4096, c->fd));
	assert_int_equal(EINVAL, dma(c, 3, MEM_FROM, 4096, -1));
	assert_int_equal(0, dma(c, 2, 0x20000000, 4096, -1)); /* a ROM: a hole */
	assert_int_equal(0, dma(c, 3, MEM_FROM, MEM_BYTES, -1));
	bar_write(c, 0x18, ~0u); /* the queue's memory is gone */
	assert_int_equal(0, dma(c, 2, MEM_FROM, MEM_BYTES, c->fd));
	bring_up(c);
	assert_int_equal(0, message(c, 13, NULL, 0, -1)); /* reset */
	bar_write(c, 0x14, MEM_FROM + CMDQ);
	bring_up(c);
}

/* A client that breaks the protocol goes; the next finds a NIC that knows nothing of it. */
static void
the_next_client(void **state)
{
	struct client *c = *state;
	const uint32_t bad[4] = {1 | 1 << 16, 1u << 24, 0, 0};
	uint8_t b;

	hello(c);
	bring_up(c);
	assert_int_equal(16, send(c->sock, bad, 16, 0));
	assert_int_equal(0, recv(c->sock, &b, 1, 0));
	close(c->sock);
	dial(c);
	hello(c);
	bring_up(c);
	close(c->sock); /* in the middle of everything */
	dial(c);
	hello(c);
	bring_up(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(found_and_brought_up, setup, teardown),
		cmocka_unit_test_setup_teardown(long_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(delivery_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_messages, setup, teardown),
		cmocka_unit_test_setup_teardown(the_next_client, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
