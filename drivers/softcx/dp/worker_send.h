/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's first half: the next WQEs of a send queue become frames, one a lane. Either one
 * multi-packet send of up to 32 frames, or up to 32 SENDs of one WQEBB each. All that fetch.h and
 * send.h would look at is looked at before anything is done; a WQE that is not plain in every bit
 * is left where it is.
 */
#ifndef SCX_DP_WORKER_SEND_H
#define SCX_DP_WORKER_SEND_H

#include "worker.h"

/* What a round takes from the ring. */
struct scx_wround {
	uint32_t frames;  /* lanes 0 to frames - 1 have one each */
	uint32_t bbs;	  /* WQEBBs */
	uint32_t wqes;	  /* 1, or as many as frames */
	uint32_t signals; /* WQEs that ask for a CQE, a bit each */
	uint32_t opcode;
};

/* Control segment of the WQE at index: of our queue, with an opcode and nothing unusual. */
CRL_FN bool
scx_wctrl_plain(const struct scx_wsq *q, struct scx_16 s, uint16_t index, uint32_t opcode)
{
	uint32_t w0 = crl_bswap32((uint32_t)s.q[0]), w1 = crl_bswap32((uint32_t)(s.q[0] >> 32));
	uint32_t w2 = crl_bswap32((uint32_t)s.q[1]), ce = w2 >> CRL_WQE_CE_SHIFT & 3u;

	return w0 == ((uint32_t)index << 8 | opcode) && w1 >> 8 == q->sqn && (w1 & 0xc0u) == 0 &&
	       (w2 & 0xffffff00u) == 0 && s.q[1] >> 32 == 0 && ce <= CRL_WQE_CE_ALWAYS;
}

CRL_FN bool
scx_wctrl_signals(struct scx_16 s)
{
	return (s.q[1] >> (24u + CRL_WQE_CE_SHIFT) & 3u) == CRL_WQE_CE_ALWAYS;
}

CRL_FN uint32_t
scx_wctrl_ds(struct scx_16 s)
{
	return crl_bswap32((uint32_t)(s.q[0] >> 32)) & 0x3fu;
}

/* No offload, nothing inlined, no tag. */
CRL_FN bool
scx_weth_plain(struct scx_16 s)
{
	return s.q[0] == 0 && (s.q[1] >> 32 & 0xffffu) == 0;
}

/* The frame that a data segment names; data NULL: not plain. */
CRL_FN struct scx_wframe
scx_wseg_frame(struct scx_worker *k, const struct scx_wsq *q, struct scx_16 s)
{
	uint32_t len = crl_bswap32((uint32_t)s.q[0]), key = crl_bswap32((uint32_t)(s.q[0] >> 32));
	struct scx_wframe f = {NULL, len};

	/* a bit for inlining makes it longer than any frame */
	if (len >= SCX_FRAME_MIN && len <= k->frame_max)
		f.data = scx_wkey_at(
			k->dp, &k->send_key, key, q->pdn, crl_bswap64(s.q[1]), len, false);
	return f;
}

/* What lanes read of the ring: the SEND that may begin at the lane's WQEBB, and the segments that
 * are frames if the first WQE is a multi-packet send. */
struct scx_wlook {
	CRL_LANE(struct scx_16, ctrl);
	CRL_LANE(struct scx_16, eth);
	CRL_LANE(struct scx_16, data);
	CRL_LANE(struct scx_16, frame);
};

CRL_FN void
scx_wlook(const struct crl_warp *w, const struct scx_wsq *q, struct scx_wlook *l)
{
	uint32_t posted = (uint16_t)(q->pi - q->ci);

	CRL_EACH_LANE(w, lane)
	{
		struct scx_16 none = {{0, 0}};
		bool own = lane < posted;
		uint16_t at = (uint16_t)(q->ci + lane);

		l->ctrl[CRL_AT(lane)] = own ? scx_ld128(scx_wseg(q, at, 0)) : none;
		l->eth[CRL_AT(lane)] = own ? scx_ld128(scx_wseg(q, at, 1)) : none;
		l->data[CRL_AT(lane)] = own ? scx_ld128(scx_wseg(q, at, 2)) : none;
		l->frame[CRL_AT(lane)] =
			2u + lane < 4u * posted ? scx_ld128(scx_wseg(q, q->ci, 2u + lane)) : none;
	}
}

/* One multi-packet send. */
CRL_FN bool
scx_wround_empw(const struct crl_warp *w, struct scx_worker *k, const struct scx_wsq *q,
	const struct scx_wlook *l, struct scx_wround *r, struct scx_wframe *f)
{
	CRL_LANE(uint32_t, word);
	CRL_LANE(uint32_t, bad);
	uint32_t bits;

	/* what lane 0 knows of the head: size, whether it is plain, whether it asks for a CQE */
	CRL_EACH_LANE(w, lane)
	{
		struct scx_16 c = l->ctrl[CRL_AT(lane)];

		word[CRL_AT(lane)] = 0;
		if (lane == 0 && scx_wctrl_plain(q, c, q->ci, CRL_OPCODE_EMPW) &&
			scx_weth_plain(l->eth[CRL_AT(lane)]))
			word[CRL_AT(lane)] =
				scx_wctrl_ds(c) | 0x100u | (scx_wctrl_signals(c) ? 0x200u : 0);
	}
	bits = crl_warp_get32(word, 0);
	r->frames = (bits & 0x3fu) - 2u;
	r->bbs = ((bits & 0x3fu) + 3u) / 4u;
	r->wqes = 1;
	r->signals = bits >> 9;
	r->opcode = CRL_OPCODE_EMPW;
	if (!(bits & 0x100u) || !q->mpw || r->frames - 1u >= CRL_WARP_LANES ||
		r->bbs > (uint16_t)(q->pi - q->ci))
		return false;
	CRL_EACH_LANE(w, lane)
	{
		f[CRL_AT(lane)].data = NULL;
		if (lane < r->frames)
			f[CRL_AT(lane)] = scx_wseg_frame(k, q, l->frame[CRL_AT(lane)]);
		bad[CRL_AT(lane)] = lane < r->frames && f[CRL_AT(lane)].data == NULL;
	}
	return crl_warp_ballot(bad) == 0;
}

/* As many SENDs as are plain before the first that is not. */
CRL_FN bool
scx_wround_sends(const struct crl_warp *w, struct scx_worker *k, const struct scx_wsq *q,
	const struct scx_wlook *l, struct scx_wround *r, struct scx_wframe *f)
{
	CRL_LANE(uint32_t, ok);
	CRL_LANE(uint32_t, signals);

	CRL_EACH_LANE(w, lane)
	{
		struct scx_16 c = l->ctrl[CRL_AT(lane)];

		f[CRL_AT(lane)].data = NULL;
		f[CRL_AT(lane)].len = 0;
		if (scx_wctrl_plain(q, c, (uint16_t)(q->ci + lane), CRL_OPCODE_SEND) &&
			scx_wctrl_ds(c) == 3u && scx_weth_plain(l->eth[CRL_AT(lane)]))
			f[CRL_AT(lane)] = scx_wseg_frame(k, q, l->data[CRL_AT(lane)]);
		ok[CRL_AT(lane)] = f[CRL_AT(lane)].data != NULL;
		signals[CRL_AT(lane)] = scx_wctrl_signals(c);
	}
	r->frames = r->bbs = r->wqes = crl_leading(crl_warp_ballot(ok));
	r->signals = crl_warp_ballot(signals) & crl_lanes_below(r->frames);
	r->opcode = CRL_OPCODE_SEND;
	CRL_EACH_LANE(w, lane)
	{
		if (lane >= r->frames)
			f[CRL_AT(lane)].data = NULL;
	}
	return r->frames != 0;
}

/* The next round of a queue that has work. False: what comes next is not plain. */
CRL_FN bool
scx_wround_take(const struct crl_warp *w, struct scx_worker *k, const struct scx_wsq *q,
	struct scx_wround *r, struct scx_wframe *f)
{
	CRL_LANE(uint32_t, opcode);
	struct scx_wlook l;
	uint32_t op, key;

	scx_wlook(w, q, &l);
	CRL_EACH_LANE(w, lane)
	{
		/* byte 3 of the first word; the key of what would be the first frame */
		opcode[CRL_AT(lane)] = (uint32_t)(l.ctrl[CRL_AT(lane)].q[0] >> 24) & 0xffu;
	}
	op = crl_warp_get32(opcode, 0);
	CRL_EACH_LANE(w, lane)
	opcode[CRL_AT(lane)] = crl_bswap32((uint32_t)(l.data[CRL_AT(lane)].q[0] >> 32));
	key = crl_warp_get32(opcode, 0); /* segment 2 of the first WQE in both forms */
	crl_warp_sync();
	if (crl_warp_first())
		scx_wkey_keep(k->dp, &k->send_key, key, q->pdn);
	crl_warp_sync();
	return op == CRL_OPCODE_EMPW ? scx_wround_empw(w, k, q, &l, r, f)
				     : scx_wround_sends(w, k, q, &l, r, f);
}

#endif /* SCX_DP_WORKER_SEND_H */
