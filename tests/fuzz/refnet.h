/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second opinion on frames: headers and checksums read slowly and by the book (IEEE 802.1Q, RFC
 * 791, 8200, 9293, 768, 1071), a byte at a time. Shares nothing with the code that it judges.
 */
#ifndef CRL_FUZZ_REFNET_H
#define CRL_FUZZ_REFNET_H

#include "fz.h"

struct ref_net {
	uint32_t tags, tag_type, tci; /* of the first tag */
	uint32_t type;		      /* after the tags */
	uint32_t ver, l3, end;	      /* IP version 0, 4, 6; end 0: its length does not fit */
	uint32_t ihl, proto, tos, ttl;
	bool frag, options;
	uint32_t l4; /* 0: no TCP or UDP that is all there */
	uint32_t sport, dport, flags;
	uint32_t tcp_len; /* of its header, as it says */
	uint8_t src[16], dst[16];
};

static inline uint32_t
ref_be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t
ref_be32(const uint8_t *p)
{
	return ref_be16(p) << 16 | ref_be16(p + 2);
}

static inline uint64_t
ref_be64(const uint8_t *p)
{
	return (uint64_t)ref_be32(p) << 32 | ref_be32(p + 4);
}

/* The ones' complement sum of 16-bit words in network order; an odd byte has a zero after it. */
static inline uint32_t
ref_sum(const uint8_t *p, uint32_t n, uint32_t sum)
{
	for (uint32_t i = 0; i < n; i++) {
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

static inline void
ref_l4(struct ref_net *r, const uint8_t *f, uint32_t at)
{
	if (r->frag || r->end == 0)
		return;
	if (r->proto == 6 && at + 20 <= r->end) {
		r->flags = ref_be16(f + at + 12) & 0x1ff;
		r->tcp_len = (uint32_t)(f[at + 12] >> 4) * 4;
	} else if (!(r->proto == 17 && at + 8 <= r->end)) {
		return;
	}
	r->l4 = at;
	r->sport = ref_be16(f + at);
	r->dport = ref_be16(f + at + 2);
}

static inline void
ref_ip4(struct ref_net *r, const uint8_t *f, uint32_t len, uint32_t at)
{
	uint32_t total = ref_be16(f + at + 2);

	r->ver = 4;
	r->l3 = at;
	r->ihl = f[at] & 15u;
	r->options = r->ihl > 5;
	r->tos = f[at + 1];
	r->ttl = f[at + 8];
	r->proto = f[at + 9];
	r->frag = (ref_be16(f + at + 6) & 0x3fff) != 0;
	memcpy(r->src + 12, f + at + 12, 4);
	memcpy(r->dst + 12, f + at + 16, 4);
	if (r->ihl >= 5 && total >= r->ihl * 4 && at + total <= len)
		r->end = at + total;
	ref_l4(r, f, at + r->ihl * 4);
}

static inline bool
ref_is_extension(uint32_t next)
{
	return next == 0 || next == 43 || next == 44 || next == 60;
}

static inline void
ref_ip6(struct ref_net *r, const uint8_t *f, uint32_t len, uint32_t at)
{
	uint32_t next = f[at + 6], h = at + 40;

	r->ver = 6;
	r->l3 = at;
	r->tos = (ref_be16(f + at) >> 4) & 0xff;
	r->ttl = f[at + 7];
	memcpy(r->src, f + at + 8, 16);
	memcpy(r->dst, f + at + 24, 16);
	if (h + ref_be16(f + at + 4) <= len)
		r->end = h + ref_be16(f + at + 4);
	for (unsigned i = 0; i < 8 && ref_is_extension(next); i++) {
		r->options = true;
		if (h + 8 > len)
			break;
		if (next == 44) {
			r->frag = true;
			next = f[h];
			break;
		}
		next = f[h];
		h += 8 + f[h + 1] * 8u;
	}
	r->proto = next;
	ref_l4(r, f, h);
}

/* len >= 14 */
static inline struct ref_net
ref_parse(const uint8_t *f, uint32_t len)
{
	struct ref_net r;
	uint32_t at = 12;

	memset(&r, 0, sizeof(r));
	r.type = ref_be16(f + at);
	while ((r.type == 0x8100 || r.type == 0x88a8) && r.tags < 2 && at + 6 <= len) {
		if (r.tags++ == 0) {
			r.tag_type = r.type;
			r.tci = ref_be16(f + at + 2);
		}
		at += 4;
		r.type = ref_be16(f + at);
	}
	at += 2;
	if (r.type == 0x0800 && at + 20 <= len && f[at] >> 4 == 4)
		ref_ip4(&r, f, len, at);
	else if (r.type == 0x86dd && at + 40 <= len && f[at] >> 4 == 6)
		ref_ip6(&r, f, len, at);
	return r;
}

/* The sum that a right TCP or UDP packet has: 0xffff. */
static inline uint32_t
ref_l4_sum(const struct ref_net *r, const uint8_t *f)
{
	uint32_t n = r->end - r->l4, sum = r->proto + (n >> 16) + (n & 0xffff);

	if (r->ver == 4)
		sum = ref_sum(f + r->l3 + 12, 8, sum);
	else
		sum = ref_sum(f + r->l3 + 8, 32, sum);
	return ref_sum(f + r->l4, n, sum);
}

static inline void
ref_put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* What the sender's checksum offload makes of a frame. */
static inline void
ref_insert(uint8_t *f, uint32_t len, bool l3, bool l4)
{
	struct ref_net r = ref_parse(f, len);
	uint32_t at, sum;

	if (l3 && r.ver == 4 && r.end != 0) {
		ref_put16(f + r.l3 + 10, 0);
		ref_put16(f + r.l3 + 10, ~ref_sum(f + r.l3, r.ihl * 4, 0));
	}
	if (!l4 || r.l4 == 0)
		return;
	at = r.l4 + (r.proto == 6 ? 16u : 6u);
	ref_put16(f + at, 0);
	sum = ~ref_l4_sum(&r, f) & 0xffff;
	ref_put16(f + at, sum == 0 && r.proto == 17 ? 0xffff : sum);
}

/* fte_match_set_lyr_2_4 (PRM), bit offsets as documented there. */
static inline void
ref_key(const struct ref_net *r, const uint8_t *f, uint8_t key[64])
{
	memset(key, 0, 64);
	memcpy(key, f + 6, 6);
	ref_put16(key + 6, r->type);
	memcpy(key + 8, f, 6);
	ref_put16(key + 14, r->tci);
	key[16] = (uint8_t)r->proto;
	key[17] = (uint8_t)r->tos;
	ref_put16(key + 18, (r->tag_type == 0x8100 ? 0x8000u : 0u) |
				    (r->tag_type == 0x88a8 ? 0x4000u : 0u) |
				    (r->frag ? 0x2000u : 0u) | r->ver << 9 | r->flags);
	if (r->l4 != 0) {
		ref_put16(key + (r->proto == 6 ? 20 : 28), r->sport);
		ref_put16(key + (r->proto == 6 ? 22 : 30), r->dport);
	}
	key[26] = (uint8_t)(r->ihl << 4);
	key[27] = (uint8_t)r->ttl;
	memcpy(key + 32, r->src, 16);
	memcpy(key + 48, r->dst, 16);
}

#endif /* CRL_FUZZ_REFNET_H */
