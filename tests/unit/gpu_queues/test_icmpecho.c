/* SPDX-License-Identifier: BSD-3-Clause */
/* engines/icmpecho.h for ARP and IPv4, and csum.h. */
#include "echo_frames.h"

/* An echo request of data bytes behind an IPv4 header of ihl words; returns the frame's length. */
static uint32_t
ping4(uint8_t *f, uint32_t tags, uint32_t ihl, uint32_t data, uint16_t seed)
{
	uint32_t at = eth(f, ours, tags, 0x0800), i;
	uint8_t *ip = f + at, *icmp = ip + ihl * 4;

	memset(ip, 0, ihl * 4 + 8);
	ip[0] = (uint8_t)(0x40 | ihl);
	put16(ip + 2, (uint16_t)(ihl * 4 + 8 + data));
	put16(ip + 4, 0x1234);
	ip[8] = 64;
	ip[9] = 1;
	memcpy(ip + 12, "\x0a\x00\x00\x01\x0a\x00\x00\x02", 8);
	for (i = 20; i < ihl * 4; i++)
		ip[i] = 1;
	put16(ip + 10, check(ip, ihl * 4, NULL));
	icmp[0] = 8;
	put16(icmp + 4, seed);
	put16(icmp + 6, (uint16_t)(seed * 7));
	for (i = 0; i < data; i++)
		icmp[8 + i] = (uint8_t)(i * 31 + seed);
	put16(icmp + 2, check(icmp, 8 + data, NULL));
	return at + ihl * 4 + 8 + data;
}

static void
echo4(void **state)
{
	static uint8_t f[2048];
	uint32_t tags, ihl, data, len, at;
	uint16_t seed;
	struct bench b;

	open_bench(&b);
	for (tags = 0; tags < 3; tags++) {
		for (ihl = 5; ihl <= 15; ihl += 5) {
			for (data = 0; data < 1400; data += data < 70 ? 1 : 101) {
				seed = (uint16_t)(data * 40503u + tags);
				len = ping4(f, tags, ihl, data, seed);
				assert_int_equal(judge(&b, f, len), CRL_SEND);
				at = 14 + 4 * tags;
				assert_int_equal(b.pkt.len, len);
				assert_memory_equal(b.pkt.data, peer, 6);
				assert_memory_equal(b.pkt.data + 6, ours, 6);
				assert_memory_equal(b.pkt.data + 12, f + 12, at - 12);
				assert_memory_equal(b.pkt.data + at + 12,
					"\x0a\x00\x00\x02\x0a\x00\x00\x01", 8);
				assert_int_equal(check(b.pkt.data + at, ihl * 4, NULL), 0);
				at += ihl * 4;
				assert_int_equal(b.pkt.data[at], 0);
				assert_int_equal(check(b.pkt.data + at, 8 + data, NULL), 0);
				assert_memory_equal(b.pkt.data + at + 4, f + at + 4, 4 + data);
			}
		}
	}
	fake_close(&b.n);
}

/* Every checksum value that a request can have: also those where the update carries or turns to 0.
 */
static void
echo4_all_checksums(void **state)
{
	uint8_t f[64], *icmp = f + 34;
	uint32_t seq, len;
	struct bench b;

	open_bench(&b);
	for (seq = 0; seq <= 0xffff; seq++) {
		len = ping4(f, 0, 5, 2, 0);
		put16(icmp + 2, 0);
		put16(icmp + 6, (uint16_t)seq);
		put16(icmp + 2, check(icmp, 10, NULL));
		assert_int_equal(judge(&b, f, len), CRL_SEND);
		assert_int_equal(check(b.pkt.data + 34, 10, NULL), 0);
	}
	fake_close(&b.n);
}

static void
echo4_dropped(void **state)
{
	uint8_t f[128], g[128];
	uint32_t len = ping4(f, 0, 5, 20, 3), i;
	struct bench b;

	open_bench(&b);
	/* Short in every way. */
	for (i = 0; i < len; i++)
		assert_int_equal(judge(&b, f, i), CRL_DROP);
#define DROPPED(change)                                                                            \
	do {                                                                                       \
		memcpy(g, f, sizeof(g));                                                           \
		change;                                                                            \
		assert_int_equal(judge(&b, g, len), CRL_DROP);                                     \
	} while (0)
	DROPPED(put16(g + 12, 0x1234));	  /* another protocol */
	DROPPED(g[14] = 0x65);		  /* version */
	DROPPED(g[14] = 0x44);		  /* header length */
	DROPPED(put16(g + 16, 27));	  /* total length */
	DROPPED(put16(g + 20, 0x2000));	  /* first fragment */
	DROPPED(put16(g + 20, 0x0001));	  /* a later one */
	DROPPED(g[23] = 17);		  /* UDP */
	DROPPED(g[34] = 0);		  /* a reply */
	DROPPED(g[35] = 1);		  /* another code */
	DROPPED(memset(g + 30, 0xff, 4)); /* broadcast */
	memcpy(g, f, sizeof(g));
	put16(g + 20, 0x4000); /* don't fragment: fine */
	assert_int_equal(judge(&b, g, len), CRL_SEND);
	fake_close(&b.n);
}

/* A group is pinged: the answer comes from us, not from the group. */
static void
echo4_multicast(void **state)
{
	static const uint8_t group[6] = {0x01, 0x00, 0x5e, 0x00, 0x00, 0x01};
	uint8_t f[128];
	uint32_t len = ping4(f, 0, 5, 9, 3);
	struct bench b;

	open_bench(&b);
	memcpy(f, group, 6);
	memcpy(f + 30, "\xe0\x00\x00\x01", 4);
	put16(f + 24, 0);
	put16(f + 24, check(f + 14, 20, NULL));
	assert_int_equal(judge(&b, f, len), CRL_SEND);
	assert_memory_equal(b.pkt.data, peer, 6);
	assert_memory_equal(b.pkt.data + 6, ours, 6);
	assert_memory_equal(b.pkt.data + 26, "\x0a\x00\x00\x02\x0a\x00\x00\x01", 8);
	assert_int_equal(check(b.pkt.data + 14, 20, NULL), 0);
	assert_int_equal(check(b.pkt.data + 34, 17, NULL), 0);
	fake_close(&b.n);
}

static void
arp(void **state)
{
	static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint8_t f[64], g[64];
	uint32_t tags, at, i;
	struct bench b;

	open_bench(&b);
	for (tags = 0; tags < 3; tags++) {
		memset(f, 0, sizeof(f));
		at = eth(f, all, tags, 0x0806);
		memcpy(f + at, "\x00\x01\x08\x00\x06\x04\x00\x01", 8);
		memcpy(f + at + 8, peer, 6);
		memcpy(f + at + 14, "\xc0\xa8\x00\x01", 4);
		memcpy(f + at + 24, "\xc0\xa8\x00\x02", 4);
		assert_int_equal(judge(&b, f, 60), CRL_SEND);
		assert_int_equal(b.pkt.len, 60);
		assert_memory_equal(b.pkt.data, peer, 6);
		assert_memory_equal(b.pkt.data + 6, ours, 6);
		assert_memory_equal(b.pkt.data + at, "\x00\x01\x08\x00\x06\x04\x00\x02", 8);
		assert_memory_equal(b.pkt.data + at + 8, ours, 6);
		assert_memory_equal(b.pkt.data + at + 14, "\xc0\xa8\x00\x02", 4);
		assert_memory_equal(b.pkt.data + at + 18, peer, 6);
		assert_memory_equal(b.pkt.data + at + 24, "\xc0\xa8\x00\x01", 4);
		for (i = 0; i < 8; i++) { /* each fixed byte matters */
			memcpy(g, f, sizeof(g));
			g[at + i] ^= 0x40;
			assert_int_equal(judge(&b, g, 60), CRL_DROP);
		}
		assert_int_equal(judge(&b, f, at + 27), CRL_DROP);
		memcpy(g, f, sizeof(g));
		memset(g + at + 14, 0, 4); /* a probe */
		assert_int_equal(judge(&b, g, 60), CRL_DROP);
		memcpy(g + at + 14, g + at + 24, 4); /* an announcement */
		assert_int_equal(judge(&b, g, 60), CRL_DROP);
	}
	fake_close(&b.n);
}

/* The update equals the sum computed anew, for random words. */
static void
csum_update(void **state)
{
	uint8_t m[32];
	uint32_t i, k, at;
	uint16_t was, old;

	srand(7);
	for (i = 0; i < 100000; i++) {
		for (k = 0; k < sizeof(m); k++)
			m[k] = (uint8_t)rand();
		put16(m + 2, 0);
		put16(m + 2, check(m, sizeof(m), NULL));
		at = 4 + 2 * (i % 14);
		was = crl_ld16(m + at);
		old = crl_ld16(m + 2);
		put16(m + at, (uint16_t)rand());
		crl_st16(m + 2, crl_csum_update(old, was, crl_ld16(m + at)));
		assert_int_equal(check(m, sizeof(m), NULL), 0);
		assert_int_equal(
			crl_csum_fold(crl_csum_add(0, m, 31)), crl_bswap16(check(m, 31, NULL)));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(echo4),
		cmocka_unit_test(echo4_all_checksums),
		cmocka_unit_test(echo4_dropped),
		cmocka_unit_test(echo4_multicast),
		cmocka_unit_test(arp),
		cmocka_unit_test(csum_update),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
