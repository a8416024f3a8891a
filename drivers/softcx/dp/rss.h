/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which RQ of a TIR (transport interface receive) a flow goes to: hash over the selected fields,
 * low bits index the indirection table (RQT). Fields that a packet does not have count as zero
 * bytes, so that a fragment is hashed by its addresses and what is not IP, or of the other IP
 * version, has hash 0 and goes to the table's entry 0. Runs once a flow; steer.h keeps the result.
 */
#ifndef SCX_DP_RSS_H
#define SCX_DP_RSS_H

#include "parse.h"

/* selected_fields of rx_hash_field_select, PRM */
#define SCX_HASH_SRC_IP	     (1u << 0)
#define SCX_HASH_DST_IP	     (1u << 1)
#define SCX_HASH_L4_SRC	     (1u << 2)
#define SCX_HASH_L4_DST	     (1u << 3)
#define SCX_HASH_ALL	     0xfu
#define SCX_HASH_L3_IPV4     0u /* l3_prot_type */
#define SCX_HASH_L3_IPV6     1u
#define SCX_HASH_L4_TCP	     0u /* l4_prot_type */
#define SCX_HASH_L4_UDP	     1u
#define SCX_HASH_FN_XOR8     1u
#define SCX_HASH_FN_TOEPLITZ 2u
#define SCX_HASH_BYTES	     36u /* two IPv6 addresses, two ports */

/* Microsoft, "RSS hashing functions": for each set bit of the input the key's 32 bits from there.
 */
SCX_FN uint32_t
scx_toeplitz(const uint8_t *key, const uint8_t *in, uint32_t n)
{
	uint32_t window =
		(uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | (uint32_t)key[2] << 8 | key[3];
	uint32_t hash = 0, i, b;

	for (i = 0; i < n; i++) {
		for (b = 0; b < 8; b++) {
			if (in[i] >> (7 - b) & 1)
				hash ^= window;
			window = window << 1 | (uint32_t)(key[i + 4] >> (7 - b) & 1);
		}
	}
	return hash;
}

/* a and b of n bytes, the smaller one first: what rx_hash_symmetric makes of source and
 * destination. */
SCX_FN void
scx_hash_sort(uint8_t *a, uint8_t *b, uint32_t n)
{
	uint8_t t[16];
	uint32_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	if (i == n || a[i] < b[i])
		return;
	memcpy(t, a, n);
	memcpy(a, b, n);
	memcpy(b, t, n);
}

/* The hash's input, from a key of parse.h; returns its length. *type: as in the CQE (IP 3:2, L4
 * 7:6). */
SCX_FN uint32_t
scx_hash_input(const struct scx_dp_tir *t, const uint8_t *key, uint8_t *in, uint8_t *type)
{
	uint16_t version = scx_get_be16(key + SCX_KEY_BITS) & (0xfu << 9);
	bool v6 = t->l3_type == SCX_HASH_L3_IPV6, tcp = t->l4_type == SCX_HASH_L4_TCP;
	uint32_t skip = v6 ? 0 : 12, bytes = 16 - skip, n = 0;
	const uint8_t *ports = key + (tcp ? SCX_KEY_TCP : SCX_KEY_UDP);
	uint8_t ip[2][16], port[2][2];

	*type = 0;
	if (version != (v6 ? SCX_KEY_V6 : SCX_KEY_V4))
		return 0;
	memcpy(ip[0], key + SCX_KEY_SRC + skip, bytes);
	memcpy(ip[1], key + SCX_KEY_DST + skip, bytes);
	memcpy(port[0], ports, 2);
	memcpy(port[1], ports + 2, 2);
	if (t->symmetric) {
		scx_hash_sort(ip[0], ip[1], bytes);
		scx_hash_sort(port[0], port[1], 2);
	}
	*type = (uint8_t)((t->fields & 3u) << 2);
	if (key[SCX_KEY_PROTO] == (tcp ? SCX_PROTO_TCP : SCX_PROTO_UDP) &&
		!(scx_get_be16(key + SCX_KEY_BITS) & SCX_KEY_FRAG))
		*type |= (uint8_t)((t->fields >> 2 & 3u) << 6);
	if (t->fields & SCX_HASH_SRC_IP) {
		memcpy(in + n, ip[0], bytes);
		n += bytes;
	}
	if (t->fields & SCX_HASH_DST_IP) {
		memcpy(in + n, ip[1], bytes);
		n += bytes;
	}
	if (t->fields & SCX_HASH_L4_SRC) {
		memcpy(in + n, port[0], 2);
		n += 2;
	}
	if (t->fields & SCX_HASH_L4_DST) {
		memcpy(in + n, port[1], 2);
		n += 2;
	}
	return n;
}

SCX_FN uint32_t
scx_rss_hash(const struct scx_dp_tir *t, const uint8_t *key, uint8_t *type)
{
	uint8_t in[SCX_HASH_BYTES], x = 0;
	uint32_t n, i;

	*type = 0;
	/* What a TIR without a hash selects is not among the relevant bits, and tells nothing. */
	if (t->hash_fn != SCX_HASH_FN_TOEPLITZ && t->hash_fn != SCX_HASH_FN_XOR8)
		return 0;
	n = scx_hash_input(t, key, in, type);
	if (n == 0)
		return 0;
	if (t->hash_fn == SCX_HASH_FN_TOEPLITZ)
		return scx_toeplitz(t->toeplitz_key, in, n);
	for (i = 0; i < n; i++)
		x ^= in[i];
	return (uint8_t)~x;
}

#endif /* SCX_DP_RSS_H */
