/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * icmpecho's answers and what the swapping engines swap against answers worked out here, byte by
 * byte from the RFCs' layouts: questions of every kind, cut short, tagged, and with bytes of theirs
 * changed. The whole buffer is compared, so that a byte written where none belongs is seen.
 */
#include "book.h"
#include "bytes.h"

#include "gpu_queues/engines/5tswap.h"
#include "gpu_queues/engines/icmpecho.h"

#define ROOM 160u

static const uint8_t own[8] = {0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee};

static void
swap(uint8_t *a, uint8_t *b, uint32_t len)
{
	uint8_t t[16];

	memcpy(t, a, len);
	memcpy(a, b, len);
	memcpy(b, t, len);
}

static void
from_own(uint8_t *eth)
{
	memcpy(eth, eth + 6, 6);
	memcpy(eth + 6, own, 6);
}

static bool
all(const uint8_t *p, uint32_t len, uint8_t v)
{
	while (len > 0 && p[len - 1u] == v)
		len--;
	return len == 0;
}

/* The checksum that a reply of another type has: what it was, with the difference taken off. */
static void
new_type(uint8_t *icmp, uint32_t type, uint32_t bytes)
{
	uint32_t was = be16(icmp), csum = be16(icmp + 2), sum;

	icmp[0] = (uint8_t)type;
	sum = (~csum & 0xffffu) + (~was & 0xffffu) + be16(icmp);
	sum = (sum & 0xffffu) + (sum >> 16);
	sum = (sum & 0xffffu) + (sum >> 16);
	put16(icmp + 2, ~sum);
	if (bytes && be16(icmp + 2) == 0 && all(icmp, bytes, 0))
		put16(icmp + 2, 0xffff);
}

static bool
want_arp(uint8_t *eth, uint8_t *arp, uint32_t len)
{
	static const uint8_t head[8] = {0, 1, 8, 0, 6, 4, 0, 1};

	if (len < 28u || memcmp(arp, head, 8) != 0 || memcmp(arp + 14, arp + 24, 4) == 0 ||
		all(arp + 14, 4, 0))
		return false;
	from_own(eth);
	arp[7] = 2;
	memcpy(arp + 18, arp + 8, 6);
	memcpy(arp + 8, own, 6);
	swap(arp + 14, arp + 24, 4);
	return true;
}

static bool
want_ipv4(uint8_t *eth, uint8_t *ip, uint32_t len)
{
	uint32_t ihl = (ip[0] & 15u) * 4u, total = be16(ip + 2), host;
	uint8_t *icmp = ip + ihl;

	if (len < 20u || ip[0] >> 4 != 4 || ihl < 20u || total > len || total < ihl + 8u ||
		(be16(ip + 6) & 0x3fffu) != 0 || ip[9] != 1 || icmp[0] != 8 || icmp[1] != 0 ||
		all(ip + 16, 4, 0xff))
		return false;
	if (ip[16] >= 224 && ip[16] < 240) {
		from_own(eth);
		memcpy(ip + 16, ip + 12, 4);
		host = ip[15] & 3u;
		ip[15] = (uint8_t)((ip[15] & ~3u) + (host == 1u ? 2u : 1u));
		put16(ip + 10, 0);
		put16(ip + 10, ~sum16(0, ip, ihl));
	} else {
		swap(eth, eth + 6, 6);
		swap(ip + 12, ip + 16, 4);
	}
	new_type(icmp, 0, total - ihl);
	return true;
}

static uint32_t
sum6(const uint8_t *ip, uint32_t bytes)
{
	return sum16(sum16(bytes + 58u, ip + 8, 32), ip + 40, bytes);
}

static bool
want_ipv6(uint8_t *eth, uint8_t *ip, uint32_t *len, uint32_t room)
{
	uint32_t at = (uint32_t)(ip - eth), have = *len - at, bytes = be16(ip + 4);
	uint8_t *icmp = ip + 40;

	if (have < 48u || ip[0] >> 4 != 6 || ip[6] != 58 || bytes < 8u || bytes > have - 40u)
		return false;
	if (icmp[0] == 128 && icmp[1] == 0 && ip[24] != 0xff) {
		swap(eth, eth + 6, 6);
		swap(ip + 8, ip + 24, 16);
		new_type(icmp, 129, 0);
		return true;
	}
	if (icmp[0] != 135 || icmp[1] != 0 || bytes < 24u || ip[7] != 255 || icmp[8] == 0xff ||
		all(ip + 8, 16, 0) || at + 72u > room || sum6(ip, bytes) != 0xffffu)
		return false;
	from_own(eth);
	put16(ip + 4, 32);
	memcpy(ip + 24, ip + 8, 16);
	memcpy(ip + 8, icmp + 8, 16);
	memset(icmp, 0, 8);
	icmp[0] = 136;
	icmp[4] = 0x60;
	icmp[24] = 2;
	icmp[25] = 1;
	memcpy(icmp + 26, own, 6);
	put16(icmp + 2, ~sum6(ip, 32));
	*len = at + 72u;
	return true;
}

/* The answer to the frame of *len bytes at eth, in its place; false: there is none. */
static bool
want_answer(uint8_t *eth, uint32_t *len, uint32_t room)
{
	uint32_t at = 12, tags;

	for (tags = 0; tags < 2u && *len >= at + 2u; tags++, at += 4u)
		if (be16(eth + at) != 0x8100u && be16(eth + at) != 0x88a8u)
			break;
	if (*len < at + 2u)
		return false;
	switch (be16(eth + at)) {
	case 0x0806:
		return want_arp(eth, eth + at + 2u, *len - at - 2u);
	case 0x0800:
		return want_ipv4(eth, eth + at + 2u, *len - at - 2u);
	case 0x86dd:
		return want_ipv6(eth, eth + at + 2u, len, room);
	}
	return false;
}

enum {
	ARP,
	PING,
	PING_GROUP,
	PING_ZERO, /* its checksum is all there is in it */
	PING6,
	SOLICIT,
	KINDS,
};

static uint32_t
make_ipv4(uint8_t *ip, uint32_t kind)
{
	uint32_t ihl = 20u + 4u * (book_below(4) == 0), bytes = 8u + book_below(20);

	memset(ip, 0, ihl + bytes);
	ip[0] = (uint8_t)(0x40u | ihl / 4u);
	put16(ip + 2, ihl + bytes);
	ip[6] = book_below(3) ? 0 : 0x40;
	ip[8] = 64;
	ip[9] = 1;
	for (uint32_t i = 12; i < 20u; i++)
		ip[i] = (uint8_t)book_rnd();
	ip[12] = 198;
	ip[16] = (uint8_t)(kind == PING_GROUP ? 223u + book_below(18) : 198u);
	if (book_below(12) == 0)
		memset(ip + 16 + 2u * book_below(2), 0xff, 2 + 2 * book_below(2));
	put16(ip + 10, ~sum16(0, ip, ihl));
	ip[ihl] = 8;
	for (uint32_t i = 4; kind != PING_ZERO && i < bytes; i++)
		ip[ihl + i] = (uint8_t)book_rnd();
	put16(ip + ihl + 2, ~sum16(0, ip + ihl, bytes));
	return ihl + bytes;
}

static uint32_t
make_ipv6(uint8_t *ip, uint32_t kind)
{
	uint32_t bytes = kind == PING6 ? 8u + book_below(20) : 24u + 8u * book_below(2);

	for (uint32_t i = 0; i < 40u + bytes; i++)
		ip[i] = (uint8_t)book_rnd();
	ip[0] = 0x60;
	put16(ip + 4, bytes);
	ip[6] = 58;
	ip[7] = 255;
	ip[8] = ip[24] = 0xfe;
	ip[24] = kind == SOLICIT || book_below(9) == 0 ? 0xff : 0x20;
	ip[40] = kind == PING6 ? 128 : 135;
	ip[41] = 0;
	ip[48] = kind == SOLICIT && book_below(9) ? 0xfe : ip[48];
	if (book_below(12) == 0)
		memset(ip + 8, 0, 16);
	put16(ip + 42, 0);
	put16(ip + 42, ~sum6(ip, bytes));
	return 40u + bytes;
}

/* A question of some kind, with tags; where its own part begins in *inner. */
static uint32_t
make_question(uint8_t *eth, uint32_t *inner)
{
	static const uint32_t type[KINDS] = {0x0806, 0x0800, 0x0800, 0x0800, 0x86dd, 0x86dd};
	uint32_t kind = book_below(KINDS), at = 12, tags = book_below(4) ? 0 : book_below(4), len;
	uint8_t *p;

	for (uint32_t i = 0; i < ROOM; i++)
		eth[i] = (uint8_t)book_rnd();
	for (; tags > 0; tags--, at += 4u)
		put16(eth + at, book_below(2) ? 0x8100 : 0x88a8);
	put16(eth + at, type[kind]);
	*inner = at + 2u;
	p = eth + at + 2u;
	if (kind == ARP) {
		memcpy(p, "\0\1\10\0\6\4\0\1", 8);
		len = 28;
		if (book_below(8) == 0)
			memcpy(p + 14, p + 24, 4);
		if (book_below(8) == 0)
			memset(p + 14 + 2u * book_below(2), 0, 2 + 2 * book_below(2));
	} else {
		len = kind < PING6 ? make_ipv4(p, kind) : make_ipv6(p, kind);
	}
	return at + 2u + len;
}

static void
ask(uint32_t changes)
{
	uint8_t got[ROOM], want[ROOM];
	struct crl_queue_dev q = {.mtu = 1500};
	struct crl_stream s = {.rx = &q, .tx = &q};
	struct crl_pkt pkt = {.data = got, .room = ROOM};
	uint32_t inner, full = make_question(want, &inner), len;
	bool answered;

	memcpy(q.mac, own, sizeof(q.mac));
	for (; changes > 0; changes--)
		want[12u + book_below(inner + 44u - 12u)] =
			(uint8_t)(book_rnd() >> (book_rnd() & 7u));
	pkt.len = full + (book_below(3) ? 0 : book_below(6));
	if (book_below(3) == 0)
		pkt.len = book_below(2) ? book_below(full) : full - 1u;
	pkt.room = book_below(6) ? ROOM : inner + 71u + book_below(3);
	pkt.room = pkt.room < pkt.len ? pkt.len : pkt.room;
	len = pkt.len;
	memcpy(got, want, ROOM);
	answered = want_answer(want, &len, pkt.room);
	assert_int_equal(crl_icmpecho_packet(&s, &pkt), answered ? CRL_SEND : CRL_DROP);
	assert_int_equal(pkt.len, len);
	assert_memory_equal(got, want, ROOM);
}

static void
test_icmpecho(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 60000u; i++)
		ask(book_below(3) ? 0 : 1u + book_below(2));
}

/* ---- 5tswap, macswap ---- */

static void
want_swap(uint8_t *eth, uint32_t len)
{
	uint32_t at = 12, proto, l4;
	uint8_t *ip;

	swap(eth, eth + 6, 6);
	while (len >= at + 6u && (be16(eth + at) == 0x8100u || be16(eth + at) == 0x88a8u))
		at += 4u;
	ip = eth + at + 2u;
	if (be16(eth + at) == 0x0800u && len >= at + 22u) {
		swap(ip + 12, ip + 16, 4);
		l4 = at + 2u + (ip[0] & 15u) * 4u;
		proto = ip[9];
		if ((ip[0] & 15u) < 5u)
			return;
	} else if (be16(eth + at) == 0x86ddu && len >= at + 42u) {
		swap(ip + 8, ip + 24, 16);
		l4 = at + 42u;
		proto = ip[6];
	} else {
		return;
	}
	if ((proto == 17u && l4 + 8u <= len) || (proto == 6u && l4 + 20u <= len))
		swap(eth + l4, eth + l4 + 2u, 2);
}

static void
test_swaps(void **state)
{
	static const uint32_t type[] = {0x0800, 0x86dd, 0x0806}, proto[] = {17, 6, 1};
	uint8_t got[ROOM], want[ROOM];
	struct crl_pkt pkt = {.data = got, .room = ROOM};
	struct crl_stream s = {.burst = 1};

	(void)state;
	for (uint32_t i = 0; i < 60000u; i++) {
		uint32_t at = 12, kind = book_below(3), l4;
		bool answered;

		for (uint32_t k = 0; k < ROOM; k++)
			want[k] = (uint8_t)book_rnd();
		for (uint32_t tags = book_below(2) ? 0 : book_below(5); tags > 0; tags--, at += 4u)
			put16(want + at, book_below(2) ? 0x8100 : 0x88a8);
		put16(want + at, type[kind]);
		want[at + 2u] =
			(uint8_t)(kind ? 0x60u : 0x40u + (book_below(4) ? 5u : book_below(16)));
		want[at + (kind ? 8u : 11u)] = (uint8_t)proto[book_below(3)];
		l4 = at + 2u + (kind ? 40u : (want[at + 2u] & 15u) * 4u);
		pkt.len = l4 + (book_below(2) ? 7u : 18u) + book_below(4);
		if (book_below(3) == 0)
			pkt.len = book_below(2) ? book_below(l4)
						: at + 2u + (kind ? 39u : 19u) + book_below(3);
		if (book_below(8) == 0)
			pkt.len = 12u + book_below(4);
		answered = pkt.len >= 14u;
		memcpy(got, want, ROOM);
		if (answered && i % 4u == 0)
			swap(want, want + 6, 6);
		else if (answered)
			want_swap(want, pkt.len);
		assert_int_equal(
			i % 4u == 0 ? crl_macswap_packet(&s, &pkt) : crl_5tswap_packet(&s, &pkt),
			answered ? CRL_SEND : CRL_DROP);
		assert_memory_equal(got, want, ROOM);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_icmpecho),
		cmocka_unit_test(test_swaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
