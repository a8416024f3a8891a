/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checksums against a reference by the book (rig_sum16): inserted for IPv4, TCP, UDP over both IPs
 * at every length, verified on the way in, broken in every byte, CHECKSUM_COMPLETE.
 */
#include "rig.h"

struct shape {
	int six, tcp, options, tag;
};

/* Zeroed checksums; returns the offset of layer 4. */
static uint32_t
build(uint8_t *f, uint32_t len, const struct shape *s)
{
	uint32_t l3 = s->tag ? 18 : 14, i, l4;

	for (i = 0; i < len; i++)
		f[i] = (uint8_t)(i * 37 + len);
	if (s->tag)
		memcpy(f + 12, "\x81\x00\x00\x05", 4);
	if (s->six) {
		memcpy(f + l3 - 2, "\x86\xdd\x60\0\0\0", 6);
		l4 = l3 + 40 + (s->options ? 8u : 0u);
		rig_put_be32(f + l3 + 4, (len - l3 - 40) << 16);
		f[l3 + 6] = s->options ? 60 : s->tcp ? 6 : 17;
		f[l3 + 7] = 64;
		if (s->options) {
			f[l3 + 40] = s->tcp ? 6 : 17;
			f[l3 + 41] = 0;
		}
	} else {
		l4 = l3 + (s->options ? 32u : 20u);
		memcpy(f + l3 - 2, "\x08\x00", 2);
		f[l3] = s->options ? 0x48 : 0x45;
		f[l3 + 2] = (uint8_t)((len - l3) >> 8);
		f[l3 + 3] = (uint8_t)(len - l3);
		f[l3 + 6] = f[l3 + 7] = 0;
		f[l3 + 9] = s->tcp ? 6 : 17;
	}
	if (s->tcp) {
		f[l4 + 12] = 0x50;
		f[l4 + 13] = 0x18;
	} else {
		f[l4 + 4] = (uint8_t)((len - l4) >> 8);
		f[l4 + 5] = (uint8_t)(len - l4);
	}
	return l4;
}

/* 0xffff when the sums come out right; l3 only for IPv4. */
static void
sums(const uint8_t *f, uint32_t len, const struct shape *s, uint32_t l4, uint16_t *ip, uint16_t *tu)
{
	uint32_t l3 = s->tag ? 18 : 14, alen = s->six ? 32 : 8, at = l3 + (s->six ? 8 : 12);

	*ip = s->six ? 0xffff : rig_sum16(f + l3, s->options ? 32 : 20, 0);
	*tu = rig_sum16(f + l4, len - l4, rig_sum16(f + at, alen, (s->tcp ? 6u : 17u) + len - l4));
}

static void
test_insert(void **state)
{
	struct rig_port *f = *state;
	uint32_t n, len, l4;

	for (n = 0; n < 16; n++) {
		struct shape s = {n & 1, n >> 1 & 1, n >> 2 & 1, n >> 3 & 1};

		for (len = 110; len < 240; len++) {
			const uint8_t *e, *got;
			uint16_t ip, tu;

			l4 = build(f->r->mem, len, &s);
			rig_send(&f->sq, 0, len, 1, 0xc0);
			rig_go(f);
			e = rig_cqe(&f->rx_cq);
			got = f->r->mem + RIG_RX_BASE + (rig_cqe_counter(e) & 255u) * RIG_RX_SIZE;
			sums(got, len, &s, l4, &ip, &tu);
			assert_int_equal(ip, 0xffff);
			assert_int_equal(tu, 0xffff);
			assert_int_equal(e[0x1c], 7);
			assert_int_equal(e[0x1d],
				(s.six ? 1 : 2) << 2 | (s.tcp ? 4 : 2) << 4 | (s.options ? 2 : 0));
			assert_int_equal(rig_be16(e + 0x14), rig_sum16(got + 14, len - 14, 0));
			/* nothing but the checksums was touched, and the driver's copy not at all
			 */
			assert_memory_equal(got, f->r->mem, 14);
			rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 1);
		}
	}
}

/* A UDP checksum that comes out as 0 is sent as 0xffff. */
static void
test_udp_zero(void **state)
{
	struct rig_port *f = *state;
	struct shape s = {0, 0, 0, 0};
	const uint8_t *e, *got;
	uint16_t ip, tu;
	uint32_t l4 = build(f->r->mem, 120, &s);

	f->r->mem[118] = f->r->mem[119] = 0;
	f->r->mem[l4 + 6] = f->r->mem[l4 + 7] = 0;
	sums(f->r->mem, 120, &s, l4, &ip, &tu);
	f->r->mem[118] = (uint8_t)((uint16_t)~tu >> 8);
	f->r->mem[119] = (uint8_t)~tu;
	rig_send(&f->sq, 0, 120, 1, 0xc0);
	rig_go(f);
	e = rig_cqe(&f->rx_cq);
	got = f->r->mem + RIG_RX_BASE + rig_cqe_counter(e) * RIG_RX_SIZE;
	assert_int_equal(rig_be16(got + l4 + 6), 0xffff);
	assert_int_equal(e[0x1c], 7);
}

/* Each single flag does its own layer only. */
static void
test_flags(void **state)
{
	struct rig_port *f = *state;
	struct shape s = {0, 1, 0, 0};
	uint32_t l4 = build(f->r->mem, 120, &s), flags;

	for (flags = 0; flags < 4; flags++) {
		const uint8_t *e, *got;
		uint16_t ip, tu;

		rig_send(&f->sq, 0, 120, 1, (uint8_t)(flags << 6));
		rig_go(f);
		e = rig_cqe(&f->rx_cq);
		got = f->r->mem + RIG_RX_BASE + rig_cqe_counter(e) * RIG_RX_SIZE;
		sums(got, 120, &s, l4, &ip, &tu);
		assert_int_equal(ip == 0xffff, flags & 1);
		assert_int_equal(tu == 0xffff, flags >> 1);
		assert_int_equal(e[0x1c] & 6, flags << 1);
	}
}

/* A right frame with any one byte of what is summed changed is not vouched for. */
static void
test_broken(void **state)
{
	struct rig_port *f = *state;
	uint8_t a[100];
	uint32_t i;

	rig_udp4(a, sizeof(a), 1, 2);
	for (i = 14; i < sizeof(a); i++) {
		const uint8_t *e;
		uint8_t was = a[i];

		a[i] ^= 0x40;
		rig_empw_inline(&f->sq, a, sizeof(a), 1);
		rig_go(f);
		e = rig_cqe(&f->rx_cq);
		assert_int_not_equal(e[0x1c] & 6, 6);
		a[i] = was;
		rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 1);
	}
	/* padding after the IP packet is none of its business, but CHECKSUM_COMPLETE has it */
	rig_udp4(a, 53, 1, 2);
	memset(a + 53, 0x77, 11);
	rig_empw_inline(&f->sq, a, 64, 1);
	rig_go(f);
	assert_int_equal(rig_expect_frame(f, a, 64)[0x1c], 7);
}

/* No UDP checksum: fine over IPv4, not over IPv6. */
static void
test_udp_none(void **state)
{
	struct rig_port *f = *state;
	struct shape s = {0, 0, 0, 0};
	uint32_t l4;

	for (s.six = 0; s.six < 2; s.six++) {
		uint16_t ip, tu;

		l4 = build(f->r->mem, 120, &s);
		f->r->mem[l4 + 6] = f->r->mem[l4 + 7] = 0;
		sums(f->r->mem, 120, &s, l4, &ip, &tu);
		rig_send(&f->sq, 0, 120, 1, 0x40);
		rig_go(f);
		assert_int_equal(rig_cqe(&f->rx_cq)[0x1c], s.six ? 3 : 7);
	}
}

/* A wire that vouches for its frames is believed. */
static unsigned
one_frame(struct scx_wire *w, struct scx_frame *f, unsigned nr)
{
	static uint8_t a[100];

	(void)nr;
	if (w->flags == 0)
		return 0;
	w->flags = 0;
	rig_udp4(a, sizeof(a), 1, 2);
	a[40] ^= 1;
	f->data = a;
	f->len = sizeof(a);
	f->flags = SCX_FRAME_CSUM_VALID;
	return 1;
}

static void
test_vouched(void **state)
{
	static const struct scx_wire_ops ops = {.name = "one", .recv = one_frame};
	struct rig_port *f = *state;
	struct scx_wire w = {&ops, 2};

	rig_step(f->r, &w);
	assert_int_equal(rig_cqe(&f->rx_cq)[0x1c], 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, rig_port_setup, rig_port_teardown)
		T(test_insert),
		T(test_udp_zero),
		T(test_flags),
		T(test_broken),
		T(test_udp_none),
		T(test_vouched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
