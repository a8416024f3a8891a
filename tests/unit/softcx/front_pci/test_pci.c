/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver at the other end of the socket: it shares memory by DMA_MAP, finds the device in its
 * configuration space, brings it up by the command queue, takes interrupts from eventfds. Then all
 * that a client can get wrong: the server refuses it, or lets the client go, and serves the next.
 */
#include "client.h"

/* Steps of the data path, counted on their way: --wrap. */
static unsigned steps;
unsigned __real_scx_nic_poll(struct scx_nic *nic);
unsigned __wrap_scx_nic_poll(struct scx_nic *nic);

unsigned
__wrap_scx_nic_poll(struct scx_nic *nic)
{
	__atomic_add_fetch(&steps, 1, __ATOMIC_RELAXED);
	return __real_scx_nic_poll(nic);
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
	assert_int_equal(1u << 30, crl_bswap32(read32(c, 0, 0x1fc))); /* up, can reset itself */
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
	/* Only an eventfd is written to: the server must not wait, nor die of it. */
	assert_int_equal(EINVAL, message(c, 8, (uint32_t[5]){20, 36, 2, 3, 1}, 20, c->fd));
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

/* The server is told to end while a client keeps it waiting: it does, and lets the client go. */
static void
an_end_in_half_a_message(void **state)
{
	struct client *c = *state;
	struct timespec from, to;
	uint8_t b = 0;

	hello(c);
	for (int i = 0; i < 7; i++) /* of a header of 16 */
		assert_int_equal(1, send(c->sock, &b, 1, 0));
	usleep(50000);
	clock_gettime(CLOCK_MONOTONIC, &from);
	c->stop = 1;
	assert_true(recv(c->sock, &b, 1, 0) <= 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_in_range(to.tv_sec - from.tv_sec, 0, 4); /* not the 10 that a client may take */
}

/*
 * Doorbells that have come are all in their registers before the data path looks: it does not work
 * on one while a hundred that are as good as done grow old behind it.
 */
static void
doorbells_do_not_age(void **state)
{
	enum { RINGS = 400 };
	struct {
		uint16_t id, cmd;
		uint32_t size, flags, error;
		uint64_t off;
		uint32_t region, count;
		uint8_t data[8];
	} m[RINGS];
	struct client *c = *state;
	unsigned before;

	memset(m, 0, sizeof(m));
	for (uint32_t i = 0; i < RINGS; i++) {
		m[i].id = (uint16_t)(i + 1);
		m[i].cmd = 10;
		m[i].size = sizeof(m[0]);
		m[i].flags = 1u << 4; /* no reply */
		m[i].off = PCI_UAR_FIRST * PCI_PAGE + 0x800;
		m[i].count = 8;
		m[i].data[0] = 1;
	}
	read32(c, 0, 0);
	before = __atomic_load_n(&steps, __ATOMIC_RELAXED);
	assert_int_equal(sizeof(m), send(c->sock, m, sizeof(m), 0));
	read32(c, 0, 0);
	assert_in_range(__atomic_load_n(&steps, __ATOMIC_RELAXED) - before, 0, RINGS / 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(found_and_brought_up, setup, teardown),
		cmocka_unit_test_setup_teardown(long_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(delivery_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_messages, setup, teardown),
		cmocka_unit_test_setup_teardown(doorbells_do_not_age, setup, teardown),
		cmocka_unit_test_setup_teardown(the_next_client, setup, teardown),
		cmocka_unit_test_setup_teardown(an_end_in_half_a_message, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
