/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes and judges the frames of traffic.h. The transformations are written here a second time, by
 * whole fields, so that an engine's own code does not judge itself.
 */
#include "traffic.h"

#include <string.h>

#define HDR 42u /* Ethernet, IPv4, UDP; the same for ICMP echo */

static void
put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint32_t
get16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

/* RFC 1071, over whole bytes. */
static uint32_t
sum16(const uint8_t *p, uint32_t n)
{
	uint32_t s = 0, i;

	for (i = 0; i < n; i++)
		s += i % 2u ? p[i] : (uint32_t)p[i] << 8;
	while (s >> 16)
		s = (s & 0xffffu) + (s >> 16);
	return s;
}

static uint32_t
length_of(uint64_t seq)
{
	return 60u + (uint32_t)(seq * 2654435761u >> 7) % 120u;
}

static void
fill_payload(uint8_t *p, uint32_t n, uint64_t seq)
{
	uint32_t i;

	memcpy(p, &seq, sizeof(seq));
	for (i = 8; i < n; i++)
		p[i] = (uint8_t)(seq * 31u + i);
}

/* Ethernet and IPv4 for protocol proto; the rest of the header and the payload are zero. */
static void
fill_ipv4(struct nic *n, uint8_t *f, uint32_t len, uint8_t proto)
{
	memset(f, 0, len);
	memcpy(f, "\x02\x00\x00\x00\x00", 5);
	f[5] = (uint8_t)n->index;
	memcpy(f + 6, "\x02\x99\x00\x00\x00\x77", 6);
	put16(f + 12, 0x0800);
	f[14] = 0x45;
	put16(f + 16, len - 14u);
	f[22] = 64;
	f[23] = proto;
	memcpy(f + 26, "\x0a\x00\x00\x02\x0a\x00\x00", 7);
	f[33] = (uint8_t)(1u + n->index);
	put16(f + 24, ~sum16(f + 14, 20) & 0xffffu);
}

static uint32_t
make_udp(struct nic *n, uint64_t seq, uint8_t *f)
{
	uint32_t len = length_of(seq);

	fill_ipv4(n, f, len, 17);
	put16(f + 34, 1000u + (uint32_t)seq % 1000u);
	put16(f + 36, 9);
	put16(f + 38, len - 34u);
	fill_payload(f + HDR, len - HDR, seq);
	return len;
}

/* The frame that entered as the next one that must leave here. After an error the first to leave
 * says. */
static uint32_t
expected(struct nic *n, uint8_t *f, const uint8_t *left)
{
	if (n->next == NIC_NEVER)
		memcpy(&n->next, left + HDR, sizeof(n->next));
	return n->peer->traffic->make(n->peer, n->next++, f);
}

static bool
check_io(struct nic *n, const uint8_t *f, uint32_t len)
{
	uint8_t want[NIC_FRAME];

	return expected(n, want, f) == len && memcmp(want, f, len) == 0;
}

static void
swap(uint8_t *a, uint8_t *b, uint32_t n)
{
	uint8_t t[16];

	memcpy(t, a, n);
	memcpy(a, b, n);
	memcpy(b, t, n);
}

static bool
check_macswap(struct nic *n, const uint8_t *f, uint32_t len)
{
	uint8_t want[NIC_FRAME];

	if (expected(n, want, f) != len)
		return false;
	swap(want, want + 6, 6);
	return memcmp(want, f, len) == 0;
}

static bool
check_5tswap(struct nic *n, const uint8_t *f, uint32_t len)
{
	uint8_t want[NIC_FRAME];

	if (expected(n, want, f) != len)
		return false;
	swap(want, want + 6, 6);
	swap(want + 26, want + 30, 4);
	swap(want + 34, want + 36, 2);
	return memcmp(want, f, len) == 0;
}

/* Every eighth question is an ARP request. */
static uint32_t
make_question(struct nic *n, uint64_t seq, uint8_t *f)
{
	uint32_t len = length_of(seq);

	if (seq % 8u == 7u) {
		fill_ipv4(n, f, 60, 0);
		memset(f + 14, 0, 46);
		memset(f, 0xff, 6);
		put16(f + 12, 0x0806);
		memcpy(f + 14, "\x00\x01\x08\x00\x06\x04\x00\x01", 8);
		memcpy(f + 22, f + 6, 6);
		memcpy(f + 28, "\x0a\x00\x00\x02", 4);
		put16(f + 38, 0x0a00);
		put16(f + 40, (uint32_t)seq & 0xffffu);
		return 60;
	}
	fill_ipv4(n, f, len, 1);
	f[34] = 8;
	fill_payload(f + HDR, len - HDR, seq);
	put16(f + 36, ~sum16(f + 34, len - 34u) & 0xffffu);
	return len;
}

static bool
check_answer(struct nic *n, const uint8_t *f, uint32_t len)
{
	uint8_t want[NIC_FRAME];

	if (expected(n, want, f) != len || memcmp(f, want + 6, 6) != 0)
		return false;
	if (get16(want + 12) == 0x0806) /* an answer to who asked, from what was asked for */
		return get16(f + 20) == 2 && memcmp(f + 28, want + 38, 4) == 0 &&
		       memcmp(f + 32, want + 22, 10) == 0;
	swap(want + 26, want + 30, 4);
	return f[34] == 0 && sum16(f + 34, len - 34u) == 0xffffu &&
	       memcmp(f + 14, want + 14, 20) == 0 && memcmp(f + 38, want + 38, len - 38u) == 0;
}

static bool
check_nothing(struct nic *n, const uint8_t *f, uint32_t len)
{
	(void)n;
	(void)f;
	(void)len;
	return false; /* an engine that drops sends nothing */
}

static uint32_t
make_nothing(struct nic *n, uint64_t seq, uint8_t *f)
{
	(void)n;
	(void)seq;
	(void)f;
	return 0;
}

static bool
is_txonly(const uint8_t *f, uint32_t len)
{
	return len == 64 && get16(f + 12) == 0x0800 && sum16(f + 14, 20) == 0xffffu &&
	       memcmp(f + 26, "\xc6\x12\x00\x01\xc6\x12\x00\x02", 8) == 0 && get16(f + 36) == 9;
}

static bool
check_txonly(struct nic *n, const uint8_t *f, uint32_t len)
{
	n->next++;
	return is_txonly(f, len);
}

/* io, after a burst of txonly's. */
static bool
check_first(struct nic *n, const uint8_t *f, uint32_t len)
{
	if (n->first == 0)
		return check_io(n, f, len);
	n->first--;
	return is_txonly(f, len);
}

static bool
check_flowgen(struct nic *n, const uint8_t *f, uint32_t len)
{
	uint32_t flow = (uint32_t)(n->next++ % 1024u);

	return len == 60 && sum16(f + 14, 20) == 0xffffu && get16(f + 36) == 1001 &&
	       memcmp(f, "\0\1\2\3\4\1\0\1\2\3\4\0\x08\0", 14) == 0 && get16(f + 30) == 0x0afd &&
	       get16(f + 32) == flow;
}

/* What left, once: it comes back by the receive queue beside the one it left by. */
static uint32_t
make_pong(struct nic *n, uint64_t seq, uint8_t *f)
{
	struct nic *by = n->returns;

	(void)seq;
	if (by->loop_len == 0)
		return 0;
	memcpy(f, by->loop, by->loop_len);
	by->loop_len = 0;
	return 64;
}

static bool
check_ping(struct nic *n, const uint8_t *f, uint32_t len)
{
	bool right = len == 64 && get16(f + 42) == 0x6372 &&
		     ((uint64_t)get16(f + 48) << 16 | get16(f + 50)) == n->next++ &&
		     n->loop_len == 0;

	memcpy(n->loop, f, len);
	n->loop_len = len;
	return right;
}

/* stamp: mark, number and pattern, least byte first; what left comes back to its own queue. */
static bool
check_stamp(struct nic *n, const uint8_t *f, uint32_t len)
{
	uint32_t k, want, word, top = 0x9e3779b9u;
	uint64_t seq;

	memcpy(&seq, f + 48, sizeof(seq));
	memcpy(n->round[n->next % NIC_ROUND], f, NIC_ROUND);
	if (len != NIC_ROUND || f[46] != 0x54 || f[47] != 0x53 || seq != n->next++)
		return false;
	for (k = 0; k < 2u; k++) { /* of queue 0 of a port */
		want = (uint32_t)seq * 2654435761u + (uint32_t)(seq >> 32) + (k + 1u) * top;
		want ^= want >> 15;
		memcpy(&word, f + 56u + 4u * k, sizeof(word));
		if (word != want)
			return false;
	}
	return true;
}

static uint32_t
make_stamp(struct nic *n, uint64_t seq, uint8_t *f)
{
	if (seq == n->next)
		return 0;
	memcpy(f, n->round[seq % NIC_ROUND], NIC_ROUND);
	return NIC_ROUND;
}

/* Frames of 64 bytes of one value, which rises from batch to batch. */
static bool
check_split(struct nic *n, const uint8_t *f, uint32_t len)
{
	uint32_t round = (uint32_t)(n->next++ / 4u) + 1u;

	return len == 64 && memcmp(f, &round, 4) == 0 && memcmp(f, f + 4, 60) == 0;
}

/* Producers of one queue: each one's frames in its own order, which their numbers say. */
static bool
check_share(struct nic *n, const uint8_t *f, uint32_t len)
{
	uint64_t seq;

	memcpy(&seq, f + 8, sizeof(seq));
	return len == 64 && f[0] < NIC_PRODUCERS && seq == n->by[f[0]]++ &&
	       memcmp(f + 16, f + 32, 16) == 0;
}

static const struct {
	const char *engine;
	struct nic_traffic traffic;
} list[] = {
	{"5tswap", {make_udp, check_5tswap}},
	{"burst", {make_nothing, check_share}},
	{"combine", {make_nothing, check_share}},
	{"dev", {make_udp, check_macswap}},
	{"flowgen", {make_udp, check_flowgen}},
	{"icmpecho", {make_question, check_answer}},
	{"io", {make_udp, check_io}},
	{"macswap", {make_udp, check_macswap}},
	{"pingpong", {make_pong, check_ping}},
	{"naive_poll", {make_udp, check_nothing}},
	{"rxonly", {make_udp, check_nothing}},
	{"share", {make_nothing, check_share}},
	{"split", {make_udp, check_split}},
	{"stamp", {make_stamp, check_stamp}},
	{"txfirst", {make_udp, check_first}},
	{"txonly", {make_nothing, check_txonly}},
};

const struct nic_traffic *
traffic_of(const char *engine)
{
	for (uint32_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (strcmp(list[i].engine, engine) == 0)
			return &list[i].traffic;
	return NULL;
}
