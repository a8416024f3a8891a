/* SPDX-License-Identifier: BSD-3-Clause */
/* See client.h. */
#include "client.h"

static void *
server(void *arg)
{
	struct client *c = arg;
	const struct scx_nic_cfg cfg = {.profile = "cx6dx",
		.name = "pci",
		.seed = 1,
		.mtu = 1500,
		.faults = &c->faults,
		.mac = {2, 0, 0, 0, 0, 1}};

	return (void *)(intptr_t)scx_serve(&cfg, c->path, &c->stop);
}

void
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

int
setup_plan(void **state, const char *plan)
{
	struct client *c = calloc(1, sizeof(*c));
	char why[256];

	assert_int_equal(0, scx_fault_parse(plan, &c->faults, why, sizeof(why)));
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

int
setup(void **state)
{
	return setup_plan(state, "");
}

int
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
int
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

int
write_region(struct client *c, uint32_t region, uint64_t off, const void *data, uint32_t n)
{
	struct access a = {off, region, n, {0}};

	memcpy(a.data, data, n);
	return message(c, 10, &a, 16 + n, -1);
}

uint32_t
read32(struct client *c, uint32_t region, uint64_t off)
{
	const struct access a = {off, region, 4, {0}};
	uint32_t v;

	assert_int_equal(0, message(c, 9, &a, 16, -1));
	assert_int_equal(20, c->nr_reply);
	memcpy(&v, c->reply + 16, 4);
	return v;
}

void
bar_write(struct client *c, uint64_t off, uint32_t v)
{
	const crl_be32 be = crl_to_be32(v);

	assert_int_equal(0, write_region(c, 0, off, &be, 4));
}

int
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

void
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

void
put64(uint8_t *at, uint64_t v)
{
	crl_prm_set64(at, 64, v);
}

/* in[] into slot 1 and mailboxes. */
uint8_t *
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
uint32_t
ring(struct client *c)
{
	uint8_t *s = c->mem + CMDQ + 64;

	bar_write(c, 0x18, 1u << 1);
	assert_int_equal(0, __atomic_load_n(s + 0x3f, __ATOMIC_ACQUIRE) & 1);
	return s[0x3f] >> 1;
}

/* Run, with no mistake: the first 16 bytes of the answer. */
uint8_t *
command(struct client *c, const uint8_t *in, uint32_t in_len, uint32_t out_len)
{
	uint8_t *s = prepare(c, in, in_len, out_len);

	assert_int_equal(0, ring(c));
	return s + 0x20;
}

uint8_t *
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

void
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

void
bring_up(struct client *c)
{
	simple(c, CRL_CMD_OP_ENABLE_HCA, 0, 16, 16);
	give_pages(c, 1, 0);
	give_pages(c, 2, 64);
	simple(c, CRL_CMD_OP_INIT_HCA, 0, 32, 16);
}
