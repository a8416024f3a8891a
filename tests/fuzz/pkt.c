/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet functions and parsers on frames that a network peer may send. The engines icmpecho,
 * macswap and 5tswap: what they answer is checked by the book, what they drop is untouched, and
 * nothing beyond the frame's buffer is read or written. softcx's two parsers and its checksums
 * against refnet.h.
 */
#include "drivers/softcx/dp/dp_all.h"
#include "gpu_queues/engines/5tswap.h"
#include "gpu_queues/engines/icmpecho.h"
#include "gpu_queues/engines/macswap.h"

#include "fz.h"
#include "refnet.h"

static const uint8_t mac[6] = {2, 0x11, 0x22, 0x33, 0x44, 0x55};

/* A frame: from a list of good ones, with changes; or all of it the input's. Returns its length. */
static uint32_t
make_frame(struct fz *f, uint8_t *p, uint32_t max)
{
	uint32_t how = fz_u8(f), at = 14, len, type = how >> 3 & 7u, payload = fz_u8(f) % 100u;

	fz_pattern(p, max, how);
	if (how < 24) { /* raw */
		len = fz_len(f, max);
		fz_bytes(f, p, len);
		return len;
	}
	for (uint32_t tags = how & 3u; tags > 0; tags--, at += 4) {
		ref_put16(p + at - 2, fz_u8(f) & 1 ? 0x88a8 : 0x8100);
		ref_put16(p + at, fz_u16(f));
	}
	if (type == 7) { /* ARP */
		static const uint8_t arp[] = {0, 1, 8, 0, 6, 4, 0, 1};

		ref_put16(p + at - 2, 0x0806);
		memcpy(p + at, arp, 8);
		len = at + 28;
	} else if (type & 1) { /* IPv6 */
		ref_put16(p + at - 2, 0x86dd);
		memcpy(p + at, "\x60\0\0\0\0\0\0\xff", 8);
		ref_put16(p + at + 4, 8 + payload);
		p[at + 6] = type == 3 ? 17 : type == 5 ? 6 : 58;
		p[at + 40] = fz_u8(f) & 1 ? 135 : 128;
		p[at + 41] = 0;
		if (type == 3)
			ref_put16(p + at + 44, 8 + payload);
		len = at + 48 + payload;
	} else {
		uint32_t words = 5 + (fz_u8(f) & 3u);

		ref_put16(p + at - 2, 0x0800);
		p[at] = (uint8_t)(0x40 | words);
		ref_put16(p + at + 2, words * 4 + 8 + payload);
		ref_put16(p + at + 6, fz_rarely(f, 8) ? fz_u16(f) : 0x4000);
		p[at + 9] = type == 2 ? 17 : type == 6 ? 6 : 1;
		if (type != 2 && type != 6)
			memcpy(p + at + words * 4, "\x08\0", 2);
		len = at + words * 4 + 8 + payload;
	}
	len = len < max ? len : max;
	if (how >= 128) { /* right checksums */
		ref_insert(p, len, true, true);
		if (p[at + 6] == 58 && ref_be16(p + at - 2) == 0x86dd && len >= at + 48 + payload) {
			uint32_t sum = ref_sum(p + at + 8, 32, 58 + 8 + payload);

			ref_put16(p + at + 42, 0);
			ref_put16(p + at + 42, ~ref_sum(p + at + 40, 8 + payload, sum));
		}
	}
	for (uint32_t n = fz_u8(f) & 3u; n > 0 && len > 0; n--) {
		uint32_t where = fz_u8(f) % (len < 100 ? len : 100);

		p[where] = fz_u8(f);
	}
	return fz_rarely(f, 8) ? len - len % (1u + fz_u8(f)) : len + (len + 6 < max ? how & 5u : 0);
}

/* ---- the engines ---- */

/* 16-bit words of both, wherever they stand, have the same sum: a swap changes no checksum. */
static void
same_sum(const uint8_t *a, const uint8_t *b, uint32_t n)
{
	FZ_MUST(ref_sum(a, n, 0) % 0xffff == ref_sum(b, n, 0) % 0xffff, "a sum changed");
}

static void
check_swap(const uint8_t *was, const uint8_t *is, uint32_t len, bool five)
{
	struct ref_net a = ref_parse(was, len), b = ref_parse(is, len);

	FZ_MUST(memcmp(was, is + 6, 6) == 0 && memcmp(was + 6, is, 6) == 0, "addresses");
	if (!five) {
		FZ_MUST(memcmp(was + 12, is + 12, len - 12) == 0, "more than addresses");
		return;
	}
	same_sum(was, is, len);
	if (a.ver == 0)
		return;
	FZ_MUST(a.ver == b.ver && memcmp(a.src, b.dst, 16) == 0 && memcmp(a.dst, b.src, 16) == 0,
		"layer 3");
	if (a.l4 == 0 || a.options)
		return;
	FZ_MUST(a.l4 == b.l4 && a.sport == b.dport && a.dport == b.sport, "ports");
	FZ_MUST(ref_l4_sum(&a, was) == ref_l4_sum(&b, is), "the checksum of layer 4");
}

static void
check_arp(const uint8_t *was, const uint8_t *is, uint32_t at)
{
	const uint8_t *q = was + at, *a = is + at;

	FZ_MUST(ref_be16(q + 6) == 1 && ref_be16(a + 6) == 2, "no answer to a request");
	FZ_MUST(memcmp(is, was + 6, 6) == 0 && memcmp(is + 6, mac, 6) == 0, "Ethernet");
	FZ_MUST(memcmp(a + 8, mac, 6) == 0 && memcmp(a + 14, q + 24, 4) == 0 &&
			memcmp(a + 18, q + 8, 6) == 0 && memcmp(a + 24, q + 14, 4) == 0,
		"ARP fields");
	FZ_MUST(ref_be32(q + 14) != 0 && ref_be32(q + 14) != ref_be32(q + 24),
		"the asker's address would be taken away");
}

static void
check_echo4(const uint8_t *was, const uint8_t *is, uint32_t len, uint32_t at)
{
	uint32_t ihl = (was[at] & 15u) * 4, total = ref_be16(was + at + 2), n = total - ihl;
	bool good, ok;

	FZ_MUST(was[at + ihl] == 8 && is[at + ihl] == 0 && was[at + 9] == 1, "not an echo");
	FZ_MUST(memcmp(is, was + 6, 6) == 0, "not to the asker");
	FZ_MUST(memcmp(is + at + 16, was + at + 12, 4) == 0, "not to the asker's address");
	FZ_MUST(memcmp(is + at + ihl + 4, was + at + ihl + 4, len - at - ihl - 4) == 0, "payload");
	good = ref_sum(was + at, ihl, 0) == 0xffff;
	ok = ref_sum(is + at, ihl, 0) == 0xffff;
	FZ_MUST(ok == good || was[at + 16] >> 4 == 14, "IP checksum %d, was %d", ok, good);
	good = ref_sum(was + at + ihl, n, 0) == 0xffff;
	ok = ref_sum(is + at + ihl, n, 0) == 0xffff;
	FZ_MUST(ok == good, "ICMP checksum %d, was %d", ok, good);
}

static uint32_t
icmp6_sum(const uint8_t *ip)
{
	uint32_t n = ref_be16(ip + 4);

	return ref_sum(ip + 40, n, ref_sum(ip + 8, 32, n + 58));
}

static void
check_echo6(const uint8_t *was, const uint8_t *is, uint32_t out_len, uint32_t at)
{
	const uint8_t *q = was + at, *a = is + at;

	FZ_MUST(q[6] == 58 && memcmp(is, was + 6, 6) == 0, "not to the asker");
	FZ_MUST(memcmp(a + 24, q + 8, 16) == 0, "not to the asker's address");
	if (q[40] == 128) {
		FZ_MUST(a[40] == 129 && memcmp(a + 8, q + 24, 16) == 0, "echo");
		FZ_MUST((icmp6_sum(a) == 0xffff) == (icmp6_sum(q) == 0xffff), "checksum");
		return;
	}
	FZ_MUST(q[40] == 135 && a[40] == 136 && q[7] == 255 && a[7] == 255, "solicitation");
	FZ_MUST(memcmp(a + 8, q + 48, 16) == 0 && memcmp(a + 48, q + 48, 16) == 0, "target");
	FZ_MUST(ref_be16(a + 4) == 32 && out_len == at + 72 && memcmp(a + 66, mac, 6) == 0,
		"option");
	FZ_MUST(icmp6_sum(a) == 0xffff && icmp6_sum(q) == 0xffff, "checksum");
}

static void
check_icmpecho(const uint8_t *was, const uint8_t *is, uint32_t len, uint32_t out_len)
{
	uint32_t at = 14, type = ref_be16(was + 12);

	for (uint32_t tags = 0; tags < 2 && (type == 0x8100 || type == 0x88a8); tags++, at += 4)
		type = ref_be16(was + at + 2);
	FZ_MUST(memcmp(was + 12, is + 12, at - 12) == 0, "tags");
	if (type == 0x0806)
		check_arp(was, is, at);
	else if (type == 0x0800)
		check_echo4(was, is, len, at);
	else if (type == 0x86dd)
		check_echo6(was, is, out_len, at);
	else
		FZ_MUST(false, "an answer to type 0x%x", type);
}

static void
engines(struct fz *f, uint32_t which)
{
	static uint8_t was[2048];
	struct crl_queue_dev tx = {.mac = {2, 0x11, 0x22, 0x33, 0x44, 0x55}};
	struct crl_stream s = {.tx = &tx};
	uint32_t len = make_frame(f, was, 1600), room = len + fz_below(f, 64);
	struct crl_pkt pkt = {.len = len, .room = room};
	enum crl_verdict v;

	pkt.data = fz_alloc(16, room);
	memcpy(pkt.data, was, len);
	v = which == 0	 ? crl_icmpecho_packet(&s, &pkt)
	    : which == 1 ? crl_macswap_packet(&s, &pkt)
			 : crl_5tswap_packet(&s, &pkt);
	FZ_MUST(pkt.len <= room, "%u bytes in a buffer of %u", pkt.len, room);
	if (v == CRL_DROP)
		FZ_MUST(memcmp(pkt.data, was, len) == 0 && pkt.len == len, "dropped, but changed");
	else if (which == 0)
		check_icmpecho(was, pkt.data, len, pkt.len);
	else
		check_swap(was, pkt.data, len, which == 2);
	if (which != 0)
		FZ_MUST(pkt.len == len && (v == CRL_SEND) == (len >= 14), "length or verdict");
	free(pkt.data);
}

/* ---- softcx ---- */

static void
check_seen(const struct scx_seen *s, const struct ref_net *r, const uint8_t *f, uint32_t len)
{
	uint32_t l3 = r->ver == 4 ? CRL_CQE_L3_IPV4 : r->ver == 6 ? CRL_CQE_L3_IPV6 : 0, l4 = 0;
	uint32_t ok = CRL_CQE_L2_OK, want;
	bool none = r->l4 != 0 && r->proto == 17 && ref_be16(f + r->l4 + 6) == 0;
	uint8_t key[64];

	ref_key(r, f, key);
	FZ_MUST(memcmp(s->key, key, 64) == 0, "the key");
	if (r->l4 != 0 && r->proto == 6)
		l4 = !(r->flags & 0x10)		    ? CRL_CQE_L4_TCP
		     : r->l4 + r->tcp_len >= r->end ? CRL_CQE_L4_TCP_EMPTY_ACK
						    : CRL_CQE_L4_TCP_ACK;
	else if (r->l4 != 0)
		l4 = CRL_CQE_L4_UDP;
	if (r->end != 0 && (r->ver == 6 || ref_sum(f + r->l3, r->ihl * 4, 0) == 0xffff))
		ok |= CRL_CQE_L3_OK;
	if (r->l4 != 0 && (none ? r->ver == 4 : ref_l4_sum(r, f) == 0xffff))
		ok |= CRL_CQE_L4_OK;
	want = ok << 24 | (r->frag ? CRL_CQE_IP_FRAG << 16 : 0) |
	       (r->options ? CRL_CQE_IP_EXT << 16 : 0) | l3 << 18 | l4 << 20;
	FZ_MUST(s->info == want, "info 0x%08x, want 0x%08x", s->info, want);
	FZ_MUST(s->vlan == r->tci && s->tagged == (r->tag_type == 0x8100), "tag");
	FZ_MUST(crl_bswap16(s->complete) % 0xffff == ref_sum(f + 14, len - 14, 0) % 0xffff,
		"sum 0x%x", s->complete);
}

static void
parsers(struct fz *f, bool insert)
{
	static uint8_t was[2048];
	uint32_t len = make_frame(f, was, 1600);
	struct scx_frame frame = {.flags = 0};
	struct scx_seen seen, any;
	struct ref_net r;
	uint8_t *p;

	if (len < 14)
		return;
	p = fz_alloc(16, len);
	memcpy(p, was, len);
	if (insert) {
		uint32_t cs = fz_u8(f) & 0xc0u;

		scx_insert_checksums(p, len, cs);
		ref_insert(was, len, cs & 0x40, cs & 0x80);
		FZ_MUST(memcmp(p, was, len) == 0, "checksums inserted");
	}
	r = ref_parse(p, len);
	frame.data = p;
	frame.len = len;
	memset(&seen, 0x11, sizeof(seen));
	memset(&any, 0x22, sizeof(any));
	scx_examine(&seen, &frame);
	scx_examine_any(&any, &frame);
	check_seen(&seen, &r, p, len);
	check_seen(&any, &r, p, len);
	free(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz f = {data, size};

	for (unsigned n = 0; f.n > 0 && n < 64; n++) {
		uint32_t what = fz_below(&f, 5);

		if (what < 3)
			engines(&f, what);
		else
			parsers(&f, what == 3);
	}
	return 0;
}
