/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's middle: what each lane's frame is, and which queue it goes to. Plain UDP over IPv4 is
 * examined from sixteen words in registers, to the same result as examine.h, which does the rest;
 * its checksums are known when the frame has been copied (worker_copy.h).
 * Results of steering are remembered per worker: the last one, then a small cache of its own.
 */
#ifndef SCX_DP_WORKER_STEER_H
#define SCX_DP_WORKER_STEER_H

#include "worker.h"

/* What a lane knows of its frame. */
struct scx_wlane {
	struct scx_wframe f;
	struct scx_seen seen;
	struct scx_target to;
	struct scx_16 head[SCX_WORKER_FRAME / 16u]; /* its first bytes, and zeros, when in_head */
	uint8_t in_head, sum_due;
	uint16_t ip, l4, pseudo; /* with sum_due: sums of the head, folded */
};

CRL_FN uint32_t
scx_whead(const struct scx_wlane *x, uint32_t word)
{
	return (uint32_t)(x->head[word / 4u].q[word / 2u % 2u] >> 32u * (word % 2u));
}

/* UDP over IPv4 without options that fills its frame. False: something else. */
CRL_FN bool
scx_wexamine(struct scx_wlane *x)
{
	uint32_t w3 = scx_whead(x, 3), w4 = scx_whead(x, 4), w5 = scx_whead(x, 5);
	uint32_t w6 = scx_whead(x, 6), w7 = scx_whead(x, 7), w8 = scx_whead(x, 8);
	uint32_t total = crl_bswap16((uint16_t)w4), i;
	uint64_t ip, l4, pseudo;

	if ((w3 & 0x00ffffffu) != 0x00450008u || (w5 & 0x0000ff3fu) != 0 ||
		w5 >> 24 != SCX_PROTO_UDP || total < 28u || total + 14u != x->f.len)
		return false;
	ip = (uint64_t)(w3 & 0xffff0000u) + w4 + w5 + w6 + w7 + (w8 & 0xffffu);
	l4 = w8 & 0xffff0000u;
	for (i = 9; i < 16u; i++)
		l4 += scx_whead(x, i);
	pseudo = (uint64_t)(w6 & 0xffff0000u) + w7 + (w8 & 0xffffu) +
		 crl_bswap16((uint16_t)(total - 20u)) + (SCX_PROTO_UDP << 8);
	x->ip = scx_fold(ip);
	x->l4 = scx_fold(l4);
	x->pseudo = scx_fold(pseudo);
	x->sum_due = 1;
	x->seen.vlan = 0;
	x->seen.tagged = 0;
	/* as scx_examine_plain() */
	x->seen.key[0] = (uint64_t)(scx_whead(x, 1) >> 16) | (uint64_t)scx_whead(x, 2) << 16 |
			 (uint64_t)(w3 & 0xffffu) << 48;
	x->seen.key[1] = scx_whead(x, 0) | (uint64_t)(scx_whead(x, 1) & 0xffffu) << 32;
	x->seen.key[2] = SCX_PROTO_UDP | (w3 >> 24) << 8 | 0x08u << 16;
	x->seen.key[3] = 0x50u << 16 | (uint64_t)(w5 >> 16 & 0xffu) << 24 |
			 (uint64_t)(w8 >> 16 | scx_whead(x, 9) << 16) << 32;
	x->seen.key[4] = x->seen.key[6] = 0;
	x->seen.key[5] = (uint64_t)(w6 >> 16 | w7 << 16) << 32;
	x->seen.key[7] = (uint64_t)(w7 >> 16 | w8 << 16) << 32;
	return true;
}

/* And its checksums, with the sum of the bytes behind the head. Sums that were folded add up to the
 * same, and are 0 only where all bytes are. */
CRL_FN void
scx_wexamined(struct scx_wlane *x, uint32_t rest)
{
	uint64_t l4 = (uint64_t)x->l4 + rest;
	uint32_t ok = CRL_CQE_L2_OK;

	if (x->ip == 0xffff)
		ok |= CRL_CQE_L3_OK;
	if (scx_fold(l4 + x->pseudo) == 0xffff || (scx_whead(x, 10) & 0xffffu) == 0)
		ok |= CRL_CQE_L4_OK;
	x->seen.complete = scx_fold(x->ip + l4);
	x->seen.info = ok << 24 | CRL_CQE_L3_IPV4 << (CRL_CQE_L3_SHIFT + 16u) |
		       CRL_CQE_L4_UDP << (CRL_CQE_L4_SHIFT + 16u);
}

/* A frame's first 64 bytes, or all of a shortest one and not a byte behind it. */
CRL_FN void
scx_whead_read(struct scx_wlane *x)
{
	const uint8_t *last = x->f.data + SCX_WORKER_FRAME - 16u;
	uint32_t i;

	for (i = 0; i < SCX_WORKER_FRAME / 16u - 1u; i++)
		x->head[i] = scx_ld128(x->f.data + 16u * i);
	if (x->f.len != SCX_WORKER_SHORT) {
		x->head[i] = scx_ld128(last);
		return;
	}
	x->head[i].q[0] = scx_ld64(last);
	x->head[i].q[1] = scx_ld32(last + 8);
}

/* The frames' first bytes, then what they are. */
CRL_FN void
scx_wlook_at(const struct crl_warp *w, const struct scx_wframe *f, struct scx_wlane *x)
{
	CRL_EACH_LANE(w, lane)
	{
		struct scx_wlane *o = &x[CRL_AT(lane)];
		struct scx_seen seen; /* apart: what a call is given lies in memory */
		struct scx_frame any;

		o->f = f[CRL_AT(lane)];
		o->in_head = o->sum_due = 0;
		if (o->f.data == NULL)
			continue;
		if (((uintptr_t)o->f.data & 15u) == 0 &&
			(o->f.len >= SCX_WORKER_FRAME || o->f.len == SCX_WORKER_SHORT)) {
			scx_whead_read(o);
			o->in_head = 1;
			if (SCX_LIKELY(scx_wexamine(o)))
				continue;
		}
		any.data = o->f.data;
		any.len = o->f.len;
		any.flags = 0;
		scx_examine(&seen, &any);
		o->seen = seen;
	}
}

/* The flow entry fl says where frames of this key go. */
CRL_FN bool
scx_wflow_is(const struct scx_flow *fl, const uint64_t *key, uint64_t generation)
{
	uint64_t diff = fl->generation ^ generation;
	uint32_t i;

	for (i = 0; i < 8u; i++)
		diff |= key[i] ^ fl->key[i];
	return diff == 0;
}

/* One lane: walk the rules, and remember. */
SCX_SLOW void
scx_wsteer_walk(struct scx_worker *k, const uint64_t *key)
{
	struct scx_flow *fl = &k->crew->flow[k->me][scx_flow_slot(key) % SCX_WORKER_FLOWS];
	uint32_t i;

	for (i = 0; i < 8u; i++)
		fl->key[i] = key[i];
	fl->generation = k->generation;
	scx_steer_walk(k->dp, key, &fl->to);
	k->sum.flow_misses++;
}

/* Where each frame goes. */
CRL_FN void
scx_wsteer(const struct crl_warp *w, struct scx_worker *k, struct scx_wlane *x)
{
	CRL_LANE(uint32_t, miss);
	uint32_t missing, at, i;

	CRL_EACH_LANE(w, lane)
	{
		struct scx_wlane *o = &x[CRL_AT(lane)];

		miss[CRL_AT(lane)] = 0;
		if (o->f.data == NULL)
			continue;
		for (i = 0; i < 8u; i++)
			o->seen.key[i] &= k->relevant[i];
		if (SCX_LIKELY(scx_wflow_is(&k->last, o->seen.key, k->generation)))
			o->to = k->last.to;
		else
			miss[CRL_AT(lane)] = 1;
	}
	missing = crl_warp_ballot(miss);
	crl_warp_sync();		     /* all have read k->last */
	while (SCX_UNLIKELY(missing != 0)) { /* bound: the lanes */
		at = crl_lowest(missing);
		CRL_EACH_LANE(w, lane)
		{
			struct scx_wlane *o = &x[CRL_AT(lane)];
			struct scx_flow *fl;

			if (lane != at)
				continue;
			fl = &k->crew->flow[k->me][scx_flow_slot(o->seen.key) % SCX_WORKER_FLOWS];
			if (!scx_wflow_is(fl, o->seen.key, k->generation))
				scx_wsteer_walk(k, o->seen.key);
			k->last = *fl;
		}
		crl_warp_sync();
		CRL_EACH_LANE(w, lane)
		{
			struct scx_wlane *o = &x[CRL_AT(lane)];

			if (!(missing >> lane & 1u) ||
				!scx_wflow_is(&k->last, o->seen.key, k->generation))
				continue;
			o->to = k->last.to;
			miss[CRL_AT(lane)] = 0;
		}
		missing = crl_warp_ballot(miss);
		crl_warp_sync();
	}
}

#endif /* SCX_DP_WORKER_STEER_H */
