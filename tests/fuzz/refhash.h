/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second opinion on receive side scaling: the hash of a flow (Microsoft, "RSS hashing
 * functions"), bit by bit of its input, and the queue that a table names for it.
 */
#ifndef CRL_FUZZ_REFHASH_H
#define CRL_FUZZ_REFHASH_H

#include "refnet.h"

#define RQT_MAX 8u

struct ref_rqt {
	uint32_t num, len, rqn[RQT_MAX];
};

struct ref_tir {
	uint32_t num, rqn;
	const struct ref_rqt *rqt; /* NULL: to rqn */
	uint32_t fn, symmetric, v6, udp, fields;
	uint8_t key[48]; /* 40, and zeros */
};

/* Appends n bytes of source or destination, of two that are put in order if the TIR says so. */
FZ_BLIND static uint32_t
ref_hash_put(const struct ref_tir *t, uint8_t *to, const uint8_t *from, const uint8_t *other,
	uint32_t n, bool second)
{
	bool swap = t->symmetric && (second ? memcmp(other, from, n) : memcmp(from, other, n)) > 0;

	memcpy(to, swap ? other : from, n);
	return n;
}

/* From the header bits that rules match on. type: IP 3:2, ports 7:6 */
FZ_BLIND static uint32_t
ref_hash(const struct ref_tir *t, const uint8_t *key, uint8_t *type)
{
	const uint8_t *src = key + 32, *dst = key + 48, *sport = key + (t->udp ? 28 : 20);
	uint32_t bits = ref_be16(key + 18), bytes = t->v6 ? 16 : 4, n = 0, hash = 0;
	uint8_t in[40];

	*type = 0;
	if (t->fn == 0 || (bits >> 9 & 15u) != (t->v6 ? 6 : 4))
		return 0;
	*type = (uint8_t)((t->fields & 3u) << 2);
	if (key[16] == (t->udp ? 17 : 6) && !(bits & 0x2000))
		*type |= (uint8_t)((t->fields & 12u) << 4);
	src += 16 - bytes;
	dst += 16 - bytes;
	if (t->fields & 1)
		n += ref_hash_put(t, in + n, src, dst, bytes, false);
	if (t->fields & 2)
		n += ref_hash_put(t, in + n, dst, src, bytes, true);
	if (t->fields & 4)
		n += ref_hash_put(t, in + n, sport, sport + 2, 2, false);
	if (t->fields & 8)
		n += ref_hash_put(t, in + n, sport + 2, sport, 2, true);
	if (n == 0)
		return 0;
	if (t->fn == 1) {
		for (uint32_t i = 0; i < n; i++)
			hash ^= in[i];
		return ~hash & 0xff;
	}
	for (uint32_t i = 0; i < n * 8; i++)
		if (in[i / 8] >> (7 - i % 8) & 1)
			hash ^= (uint32_t)(ref_be64(t->key + i / 8) << i % 8 >> 32);
	return hash;
}

static inline uint32_t
ref_queue(const struct ref_tir *t, uint32_t hash)
{
	return t->rqt != NULL ? t->rqt->rqn[hash & (t->rqt->len - 1u)] : t->rqn;
}

#endif /* CRL_FUZZ_REFHASH_H */
