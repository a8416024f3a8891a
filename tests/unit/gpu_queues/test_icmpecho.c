/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engines/icmpecho.h and csum.h against frames made by hand here, with checksums computed here by
 * another way (big-endian words, one's complement sum in 64 bits).
 */
#include "fake_nic.h"

#include "gpu_queues/engines/icmpecho.h"

#define ROOM 2046u

struct bench {
	struct fake_nic n;
	struct crl_stream s;
	struct crl_pkt pkt;
	CRL_ALIGNAS(16) uint8_t buf[2048];
};

static const uint8_t peer[6] = {0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
static const uint8_t ours[6] = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55};

static void
open_bench(struct bench *b)
{
	fake_open(&b->n, 2, 2, 64, false);
	memset(&b->s, 0, sizeof(b->s));
	b->s.rx = b->s.tx = &b->n.q;
	memset(b->buf, 0xa5, sizeof(b->buf));
}

/* Judges a frame; what it became is at b->pkt.data. */
static enum crl_verdict
judge(struct bench *b, const uint8_t *frame, uint32_t len)
{
	memset(&b->pkt, 0, sizeof(b->pkt));
	b->pkt.data = b->buf + 2;
	b->pkt.len = len;
	b->pkt.room = ROOM;
	memcpy(b->pkt.data, frame, len);
	return crl_icmpecho_packet(&b->s, &b->pkt);
}

/* The checksum of a message, with an optional IPv6 pseudo header: 0 when it is right. */
static uint16_t
check(const uint8_t *p, uint32_t len, const uint8_t *v6)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < len; i++)
		sum += (uint64_t)p[i] << (i % 2 ? 0 : 8);
	for (i = 8; v6 && i < 40; i++)
		sum += (uint64_t)v6[i] << (i % 2 ? 0 : 8);
	if (v6)
		sum += len + 58;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void
put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Ethernet header with tags VLAN tags; returns its length. */
static uint32_t
eth(uint8_t *f, const uint8_t *dst, uint32_t tags, uint16_t type)
{
	uint32_t at = 12, i;

	memcpy(f, dst, 6);
	memcpy(f + 6, peer, 6);
	for (i = 0; i < tags; i++) {
		put16(f + at, i + 1 < tags ? 0x88a8 : 0x8100);
		put16(f + at + 2, (uint16_t)(100 + i));
		at += 4;
	}
	put16(f + at, type);
	return at + 2;
}

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
		cmocka_unit_test(echo6),
		cmocka_unit_test(neighbour),
		cmocka_unit_test(neighbour_dropped),
		cmocka_unit_test(csum_update),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
