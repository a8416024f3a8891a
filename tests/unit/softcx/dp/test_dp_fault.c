/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fault plan: its text, an error at the named send or frame and at no other, slots that were
 * given back filled at once, records read without a ring.
 */
#include "rig.h"

#include "drivers/softcx/fault.h"

static void
plan(struct rig_port *f, const char *spec)
{
	struct scx_fault_plan p;
	char why[160];

	assert_int_equal(scx_fault_parse(spec, &p, why, sizeof(why)), 0);
	scx_dp_faults(f->r->dp, &p);
}

static void
texts(void **state)
{
	static const char *const bad[] = {"send-error", "send-error=", "send-error=0",
		"send-error=-1", "send-error=1x", "overwrite=1", "records,", "nonsense",
		"send-error=99999999999999999999", "overwrite,,records", "dma-delay", "pages=0@1",
		"pages=1", "pages=1@0", "pages=513@1", "pages= 1@1", "health=256@1", "health=-1@1",
		"link-flap=0", "link-flap",
		"pages=1@1,pages=1@1,pages=1@1,pages=1@1,pages=1@1,pages=1@1,pages=1@1,pages=1@1,"
		"pages=1@1",
		"dma-delay=0", "dma-delay=256",
		"a-very-long-word-that-is-longer-than-any-word-of-a-plan-could-be-in-its-life"};
	struct scx_fault_plan p;
	char why[160];

	(void)state;
	assert_int_equal(scx_fault_parse("", &p, why, sizeof(why)), 0);
	assert_true(p.send_error == 0 && p.recv_error == 0 && !p.overwrite && !p.records);
	assert_int_equal(
		scx_fault_parse("records,recv-error=7,dma-delay=255,overwrite,send-error=12", &p,
			why, sizeof(why)),
		0);
	assert_true(p.send_error == 12 && p.recv_error == 7 && p.overwrite && p.records &&
		    p.dma_delay == 255);
	assert_int_equal(scx_fault_parse("pages=64@2,health=8@9,pages=-3@7,link-flap=50", &p, why,
				 sizeof(why)),
		0);
	assert_true(p.nr_pages == 2 && p.pages[0].nr == 64 && p.pages[0].at == 2 &&
		    p.pages[1].nr == -3 && p.pages[1].at == 7);
	assert_true(p.health.nr == 8 && p.health.at == 9 && p.link_flap == 50);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why[0] = '\0';
		/* a comma at the end ends the list */
		assert_int_equal(scx_fault_parse(bad[i], &p, why, sizeof(why)),
			strcmp(bad[i], "records,") == 0 ? 0 : -22);
	}
	assert_non_null(strstr(why, "a-very-long"));
}

static void
send_error(void **state)
{
	struct rig_port *f = *state;
	uint8_t syndrome;
	const uint8_t *e;
	int i;

	plan(f, "send-error=3");
	rig_udp4(f->r->mem, 64, 1, 1);
	rig_ctrl(&f->sq, 0, 1, 0); /* a NOP is no send */
	rig_post(&f->sq, 1);
	for (i = 0; i < 4; i++)
		rig_send(&f->sq, 0, 64, 2, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	rig_expect_sent(f, 1, 0x0a);
	rig_expect_sent(f, 2, 0x0a);
	e = rig_cqe(&f->tx_cq);
	assert_non_null(e);
	syndrome = e[55];
	assert_true(syndrome == 0x01 || syndrome == 0x02 || syndrome == 0x04);
	rig_expect_error(&f->tx_cq, 0xd, 4, 0x05); /* flushed */
	for (i = 0; i < 2; i++)
		rig_expect_frame(f, f->r->mem, 64);
	assert_null(rig_cqe(&f->rx_cq));
}

static void
recv_error(void **state)
{
	struct rig_port *f = *state;
	int i;

	plan(f, "recv-error=3");
	rig_udp4(f->r->mem, 64, 1, 1);
	for (i = 0; i < 4; i++)
		rig_send(&f->sq, 0, 64, 2, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	for (i = 0; i < 2; i++)
		rig_expect_frame(f, f->r->mem, 64);
	rig_expect_error(&f->rx_cq, 0xe, 2, 0x04);
	rig_expect_error(&f->rx_cq, 0xe, 3, 0x05);
}

/* All 128 buffers used and 4 given back: these are filled when the NIC sees it, and no others. */
static void
overwrite(void **state)
{
	struct rig_port *f = *state;
	uint8_t *buf = f->r->mem + RIG_RX_BASE;
	uint32_t i, k;

	plan(f, "overwrite");
	rig_udp4(f->r->mem, 64, 1, 1);
	for (i = 0; i < 128; i++) {
		rig_send(&f->sq, 0, 64, 2, 0);
		rig_go(f);
		rig_expect_sent(f, (uint16_t)i, 0x0a);
		rig_expect_frame(f, f->r->mem, 64);
	}
	assert_memory_equal(buf, f->r->mem, 64);
	/* slots 128 to 131 of the ring, with the first four buffers */
	rig_rq_post(&f->rq, RIG_RX_BASE - 128 * RIG_RX_SIZE, RIG_RX_SIZE, 4);
	rig_send(&f->sq, 0, 64, 2, 0);
	rig_go(f);
	assert_non_null(rig_cqe(&f->rx_cq));
	assert_memory_equal(buf, f->r->mem, 64);
	for (k = 64; k < 4 * RIG_RX_SIZE; k++)
		assert_int_equal(buf[k], 0xdb);
	assert_memory_equal(buf + 4 * RIG_RX_SIZE, f->r->mem, 64);
}

static void
records(void **state)
{
	struct rig_port *f = *state;
	uint32_t i;

	rig_udp4(f->r->mem, 64, 1, 1);
	rig_send(&f->sq, 0, 64, 2, 0);
	f->sq.rec[1] = 0x01000000; /* one WQEBB, big-endian; nobody rings */
	for (i = 0; i < 2000; i++)
		scx_dp_step(f->r->dp, NULL, 64);
	assert_null(rig_cqe(&f->tx_cq));
	plan(f, "records");
	for (i = 0; i < 2000; i++)
		scx_dp_step(f->r->dp, NULL, 64);
	rig_expect_sent(f, 0, 0x0a);
	rig_expect_frame(f, f->r->mem, 64);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, rig_port_setup, rig_port_teardown)
		cmocka_unit_test(texts),
		T(send_error),
		T(recv_error),
		T(overwrite),
		T(records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
