/* SPDX-License-Identifier: BSD-3-Clause */
/* engines/icmpecho.h: ICMPv6 echo and neighbour solicitations. */
#include "echo_frames.h"

/* IPv6 header for an ICMPv6 message of bytes, from fe80::1 to dst. */
static uint32_t
ip6(uint8_t *f, uint32_t tags, const uint8_t *dst_mac, const uint8_t *dst, uint32_t bytes)
{
	uint32_t at = eth(f, dst_mac, tags, 0x86dd);
	uint8_t *ip = f + at;

	memset(ip, 0, 40);
	ip[0] = 0x60;
	put16(ip + 4, (uint16_t)bytes);
	ip[6] = 58;
	ip[7] = 255;
	ip[8] = 0xfe;
	ip[9] = 0x80;
	ip[23] = 1;
	memcpy(ip + 24, dst, 16);
	return at;
}

static const uint8_t host6[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};

static void
echo6(void **state)
{
	static uint8_t f[2048];
	uint32_t tags, data, at, i;
	uint8_t *icmp, *ip;
	struct bench b;

	open_bench(&b);
	for (tags = 0; tags < 3; tags++) {
		for (data = 0; data < 1400; data += data < 70 ? 1 : 101) {
			at = ip6(f, tags, ours, host6, 8 + data);
			icmp = f + at + 40;
			memset(icmp, 0, 8);
			icmp[0] = 128;
			for (i = 0; i < data; i++)
				icmp[8 + i] = (uint8_t)(i * 13);
			put16(icmp + 2, check(icmp, 8 + data, f + at));
			assert_int_equal(judge(&b, f, at + 48 + data), CRL_SEND);
			ip = b.pkt.data + at;
			assert_memory_equal(b.pkt.data, peer, 6);
			assert_memory_equal(ip + 8, f + at + 24, 16);
			assert_memory_equal(ip + 24, f + at + 8, 16);
			assert_int_equal(ip[40], 129);
			assert_int_equal(check(ip + 40, 8 + data, ip), 0);
			assert_int_equal(judge(&b, f, at + 47 + data), CRL_DROP);
		}
	}
	f[14 + 8 + 24] = 0xff; /* to a group */
	assert_int_equal(judge(&b, f, 1448), CRL_DROP);
	fake_close(&b.n);
}

/* A solicitation, with the source address option that Linux sends or without any option. */
static uint32_t
solicit(uint8_t *f, uint32_t tags, bool option)
{
	static const uint8_t mac[6] = {0x33, 0x33, 0xff, 0, 0, 2};
	static const uint8_t group[16] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 2};
	uint32_t bytes = option ? 32 : 24, at = ip6(f, tags, mac, group, bytes);
	uint8_t *icmp = f + at + 40;

	memset(icmp, 0, 32);
	icmp[0] = 135;
	memcpy(icmp + 8, host6, 16);
	icmp[24] = 1;
	icmp[25] = 1;
	memcpy(icmp + 26, peer, 6);
	put16(icmp + 2, check(icmp, bytes, f + at));
	return at;
}

static void
neighbour(void **state)
{
	uint32_t tags, option, at;
	uint8_t f[128], *ip;
	struct bench b;

	open_bench(&b);
	for (tags = 0; tags < 3; tags++) {
		for (option = 0; option < 2; option++) {
			at = solicit(f, tags, option);
			assert_int_equal(judge(&b, f, at + 40 + (option ? 32 : 24)), CRL_SEND);
			ip = b.pkt.data + at;
			assert_int_equal(b.pkt.len, at + 72);
			assert_memory_equal(b.pkt.data, peer, 6);
			assert_memory_equal(b.pkt.data + 6, ours, 6);
			assert_memory_equal(ip, "\x60\x00\x00\x00\x00\x20\x3a\xff", 8);
			assert_memory_equal(ip + 8, host6, 16);
			assert_memory_equal(ip + 24, f + at + 8, 16);
			assert_int_equal(ip[40], 136);
			assert_memory_equal(ip + 44, "\x60\x00\x00\x00", 4);
			assert_memory_equal(ip + 48, host6, 16);
			assert_memory_equal(ip + 64, "\x02\x01\x02\x11\x22\x33\x44\x55", 8);
			assert_int_equal(check(ip + 40, 32, ip), 0);
		}
	}
	fake_close(&b.n);
}

static void
neighbour_dropped(void **state)
{
	uint8_t f[128], *icmp;
	uint32_t at;
	struct bench b;

	open_bench(&b);
	at = solicit(f, 0, true);
	f[at + 40 + 30] ^= 1; /* checksum */
	assert_int_equal(judge(&b, f, at + 72), CRL_DROP);
	at = solicit(f, 0, true);
	f[at + 7] = 64; /* came through a router */
	assert_int_equal(judge(&b, f, at + 72), CRL_DROP);
	at = solicit(f, 0, true);
	icmp = f + at + 40;
	memset(f + at + 8, 0, 16); /* duplicate address detection */
	put16(icmp + 2, 0);
	put16(icmp + 2, check(icmp, 32, f + at));
	assert_int_equal(judge(&b, f, at + 72), CRL_DROP);
	at = solicit(f, 0, true);
	f[at + 6] = 0; /* an extension header */
	assert_int_equal(judge(&b, f, at + 72), CRL_DROP);
	fake_close(&b.n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(echo6),
		cmocka_unit_test(neighbour),
		cmocka_unit_test(neighbour_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
