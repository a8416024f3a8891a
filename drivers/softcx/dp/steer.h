/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a frame's headers to an RQ: rules in order of priority under their masks, then TIR, hash and
 * table. The walk is done once a flow; its result is cached under those header bits that any rule
 * or hash looks at. Each change of a rule, TIR, RQT or RQ raises the generation, and a cached
 * result of an older generation is none: a change holds from the next frame on, and costs one walk
 * a flow.
 */
#ifndef SCX_DP_STEER_H
#define SCX_DP_STEER_H

#include "rss.h"

/* Bits that a TIR with a hash looks at. */
SCX_SLOW void
scx_relevant_hash(struct scx_dp *dp)
{
	static const uint8_t hashed[][2] = {/* offset, bytes of what rss.h reads */
		{SCX_KEY_PROTO, 1}, {SCX_KEY_TCP, 4}, {SCX_KEY_UDP, 4}, {SCX_KEY_SRC, 16},
		{SCX_KEY_DST, 16}};
	uint8_t *bits = (uint8_t *)dp->relevant;
	uint32_t i;

	for (i = 0; i < sizeof(hashed) / sizeof(hashed[0]); i++)
		memset(bits + hashed[i][0], 0xff, hashed[i][1]);
	bits[SCX_KEY_BITS] |= (uint8_t)((SCX_KEY_FRAG | 0xfu << 9) >> 8);
}

/* Bits that the mask of a rule has. */
SCX_SLOW void
scx_relevant_rule(struct scx_dp *dp, const struct scx_dp_rule *r)
{
	uint8_t *bits = (uint8_t *)dp->relevant;
	uint32_t b;

	for (b = 0; b < SCX_MATCH_BYTES; b++)
		bits[b] |= r->mask[b];
}

/* All of them from all there is. */
SCX_SLOW void
scx_relevant_all(struct scx_dp *dp)
{
	bool hash = false;
	uint32_t i;

	dp->relevant_old = 0;
	memset(dp->relevant, 0, sizeof(dp->relevant));
	for (i = 0; i < dp->nr_rules; i++)
		scx_relevant_rule(dp, &dp->rule[dp->rule_order[i]]);
	for (i = 0; i < SCX_DP_TIR_MAX; i++)
		hash |= dp->tir_used[i] && dp->tir[i].hash_fn != 0;
	if (hash)
		scx_relevant_hash(dp);
}

/*
 * After every change; what was cached is none. Something new adds its bits. What goes leaves its
 * bits until the next new one: too many of them are right and only make more of the keys differ. So
 * a thousand rules are made and taken away in a time that does not grow with their square.
 */
SCX_SLOW void
scx_steer_changed(struct scx_dp *dp)
{
	dp->generation++;
}

SCX_SLOW void
scx_steer_new_rule(struct scx_dp *dp, const struct scx_dp_rule *r)
{
	scx_steer_changed(dp);
	if (dp->relevant_old)
		scx_relevant_all(dp);
	else
		scx_relevant_rule(dp, r);
}

SCX_SLOW void
scx_steer_new_tir(struct scx_dp *dp, const struct scx_dp_tir *t)
{
	scx_steer_changed(dp);
	if (dp->relevant_old)
		scx_relevant_all(dp);
	else if (t->hash_fn != 0)
		scx_relevant_hash(dp);
}

SCX_SLOW void
scx_steer_gone(struct scx_dp *dp)
{
	scx_steer_changed(dp);
	dp->relevant_old = 1;
}

SCX_FN bool
scx_rule_matches(const struct scx_dp_rule *r, const uint64_t *key)
{
	uint64_t mask[8], match[8], diff = 0;
	uint32_t i;

	memcpy(mask, r->mask, sizeof(mask));
	memcpy(match, r->match, sizeof(match));
	for (i = 0; i < 8; i++)
		diff |= (key[i] & mask[i]) ^ match[i];
	return diff == 0;
}

SCX_FN struct scx_rq *
scx_rq_find(struct scx_dp *dp, uint32_t rqn)
{
	struct scx_rq *rq = &dp->rq[rqn & (SCX_DP_RQ_MAX - 1u)];

	return rq->used && rq->q.rqn == rqn ? rq : NULL;
}

/* TIR to RQ; NULL when the TIR, its table or its queue is not there. */
SCX_FN struct scx_rq *
scx_tir_rq(struct scx_dp *dp, uint32_t tirn, const uint64_t *key, struct scx_target *to)
{
	uint32_t slot = tirn & (SCX_DP_TIR_MAX - 1u);
	const struct scx_dp_tir *t = &dp->tir[slot];
	const struct scx_dp_rqt *rqt;

	if (!dp->tir_used[slot] || t->tirn != tirn)
		return NULL;
	to->hash = scx_rss_hash(t, (const uint8_t *)key, &to->hash_type);
	if (!t->use_rqt)
		return scx_rq_find(dp, t->rqn);
	rqt = &dp->rqt[t->rqtn & (SCX_DP_RQT_MAX - 1u)];
	if (rqt->len == 0 || rqt->rqtn != t->rqtn)
		return NULL;
	/* A power of two is the rule, and then this is the low bits; anything else is once a flow.
	 */
	return scx_rq_find(dp, rqt->rqn[to->hash % rqt->len]);
}

/* The walk, for a key under the relevant bits. */
SCX_SLOW void
scx_steer_walk(struct scx_dp *dp, const uint64_t *key, struct scx_target *to)
{
	uint32_t i;

	memset(to, 0, sizeof(*to));
	to->dest = SCX_FLOW_DEFAULT_MISS;
	for (i = 0; i < dp->nr_rules; i++) {
		const struct scx_dp_rule *r = &dp->rule[dp->rule_order[i]];

		if (!scx_rule_matches(r, key))
			continue;
		to->dest = r->dest;
		to->flow_tag = r->flow_tag & 0xffffffu;
		if (r->dest == SCX_FLOW_TIR)
			to->rq = scx_tir_rq(dp, r->tirn, key, to);
		return;
	}
}

/* Multilinear hash: eight independent multiplications, so that its latency is one of them. */
CRL_FN uint32_t
scx_flow_slot(const uint64_t *k)
{
	uint64_t h = k[0] * 0x9e3779b97f4a7c15ull + k[1] * 0xbf58476d1ce4e5b9ull +
		     k[2] * 0x94d049bb133111ebull + k[3] * 0xd6e8feb86659fd93ull +
		     k[4] * 0xff51afd7ed558ccdull + k[5] * 0xc4ceb9fe1a85ec53ull +
		     k[6] * 0x2545f4914f6cdd1dull + k[7] * 0x9fb21c651e98df25ull;

	return (uint32_t)(h >> 52) & (SCX_FLOW_SLOTS - 1u);
}
CRL_STATIC_ASSERT(SCX_FLOW_SLOTS <= 1u << 12, "scx_flow_slot takes the top 12 bits");

/* Where frames with these headers go; walked for if it is not cached. Valid until the next call. */
SCX_FN const struct scx_target *
scx_steer(struct scx_dp *dp, const uint64_t *headers)
{
	uint64_t key[8], diff = 0;
	struct scx_flow *fl;
	uint32_t i;

	for (i = 0; i < 8; i++)
		key[i] = headers[i] & dp->relevant[i];
	fl = &dp->flow[scx_flow_slot(key)];
	for (i = 0; i < 8; i++)
		diff |= key[i] ^ fl->key[i];
	if (SCX_LIKELY((diff | (fl->generation ^ dp->generation)) == 0))
		return &fl->to;
	dp->stats.flow_misses++;
	memcpy(fl->key, key, sizeof(key));
	fl->generation = dp->generation;
	scx_steer_walk(dp, key, &fl->to);
	return &fl->to;
}

#endif /* SCX_DP_STEER_H */
