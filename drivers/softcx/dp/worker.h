/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker of crew.h: one warp, and what it remembers. It does the plain work of a loopback port
 * (multi-packet sends and SENDs of whole frames by pointer, received into one buffer each) with a
 * lane a frame, to the same bytes as send.h, receive.h and complete.h. Whatever is not plain it
 * leaves untouched, becomes alone and lets those files do it: errors, refusals, offloads, inlined
 * and short frames, events, queues that share a page or a CQ.
 *
 * In reading order: worker.h, worker_send.h (WQEs to frames), worker_steer.h (frames to targets),
 * worker_copy.h (their bytes), worker_receive.h (targets to CQEs), worker_alone.h (what is not
 * plain), worker_turn.h (doorbells, and all of it together).
 */
#ifndef SCX_DP_WORKER_H
#define SCX_DP_WORKER_H

#include "batch.h"
#include "crew.h"

#define SCX_WORKER_PAGES 8u   /* doorbell pages that one worker looks after */
#define SCX_PAGE_QUEUES	 4u   /* send queues of a page, one a register at most */
#define SCX_WORKER_CQES	 128u /* written and not yet valid */
#define SCX_WORKER_FRAME 64u  /* frames that are at least so long are looked at in registers, */
#define SCX_WORKER_SHORT 60u  /* and those of this length, Ethernet's shortest without FCS */

/* A send queue. */
struct scx_wsq {
	struct scx_sq *sq;
	uint8_t *ring, *cq_ring;
	uint32_t *rec, *cq_rec;
	uint32_t sqn, pdn, user_index, log_depth, mpw;
	uint32_t cq_log, cq_pi, cq_ci, cq_free; /* cq_free: CQE index up to which there is room */
	uint16_t pi, ci;
};

/* A page: its queues are k->q[first] on. */
struct scx_wpage {
	uint32_t page, first, nr;
	uint32_t plain; /* 0: its work is done by whoever is alone */
};

/* The receive queue that was last received into, and while held its state. */
struct scx_wrq {
	struct scx_rq *rq; /* NULL: none */
	struct scx_cq *cq;
	uint8_t *ring, *cq_ring;
	uint32_t *rec, *cq_rec;
	uint32_t pdn, user_index, log_depth, log_stride, counter;
	uint32_t cq_log, cq_pi, cq_ci, cq_free;
	uint16_t pi, ci;
	uint8_t held, ready, plain, strip;
};

/* A key that was looked up; bytes 0: none. */
struct scx_wkey {
	uint32_t key, pdn, write;
	uint64_t iova, bytes;
	uint8_t *base;
};

/* Of a frame that is received, the part that all lanes copy: whole chunks behind its head. */
struct scx_wpiece {
	const uint8_t *from;
	uint8_t *to;
	uint32_t chunks, sum;
};

struct scx_worker {
	struct scx_dp *dp;
	struct scx_crew *crew;
	uint32_t me; /* which worker */
	uint32_t nr_pages, nr_queues, frame_max;
	uint32_t stuck; /* 1: the crew is, and this one does nothing any more */
	uint64_t clock; /* as of this turn */
	struct scx_wpage page[SCX_WORKER_PAGES];
	struct scx_wsq q[SCX_WORKER_PAGES * SCX_PAGE_QUEUES];
	struct scx_wrq rq;
	struct scx_wkey send_key, recv_key;
	/* Steering, and the result of the last frame that was led somewhere. */
	uint64_t relevant[8], generation;
	struct scx_flow last;
	/* CQEs of this round, valid when their tails are stored. */
	struct {
		uint8_t *at;
		uint64_t tail;
	} cqe[SCX_WORKER_CQES];
	uint32_t nr_cqes;
	struct scx_wpiece piece[CRL_WARP_LANES]; /* worker_copy.h */
	/* Frames that could not be received by a plain round: somebody alone does it. */
	struct scx_frame left[CRL_WARP_LANES];
	uint32_t nr_left;
	struct scx_dp_stats sum; /* since the last rest */
};

/* A frame on its way, in the lane that has it. */
struct scx_wframe {
	const uint8_t *data; /* NULL: this lane has none */
	uint32_t len;
};

/*
 * Bytes and TLPs of the lanes' frames, added up in one sum: 32 frames of 9216 bytes and more fit
 * into 20 bits, and their TLPs into the other 12.
 */
CRL_FN uint32_t
scx_wsum_of(uint32_t bytes, uint32_t tlps)
{
	return bytes | tlps << 20;
}

CRL_FN uint32_t
scx_wsum_bytes(uint32_t sum)
{
	return sum & 0xfffffu;
}

CRL_FN uint32_t
scx_wsum_tlps(uint32_t sum)
{
	return sum >> 20;
}

CRL_FN const uint8_t *
scx_wseg(const struct scx_wsq *q, uint16_t wqe, uint32_t k)
{
	uint32_t mask = (4u << q->log_depth) - 1u;

	return q->ring + (size_t)((wqe * 4u + k) & mask) * CRL_WQE_SEG_BYTES;
}

/* Bytes of a key's region, or NULL: not found, not all of it there, or of a kind that is not plain.
 */
CRL_FN uint8_t *
scx_wkey_at(struct scx_dp *dp, const struct scx_wkey *last, uint32_t key, uint32_t pdn,
	uint64_t iova, uint32_t bytes, bool write)
{
	const struct scx_dp_mkey *m;
	uint64_t off;

	if (SCX_LIKELY(last->bytes != 0 && last->key == key && last->pdn == pdn)) {
		off = iova - last->iova;
		if (off > last->bytes || bytes > last->bytes - off || (write && !last->write))
			return NULL;
		return last->base + off;
	}
	m = &dp->mkey[key >> 8 & (SCX_DP_MKEY_MAX - 1u)];
	if (m->bytes == 0 || m->key != key || m->pdn != pdn || m->extents != NULL ||
		(write && !m->local_write))
		return NULL;
	return scx_mkey_at(m, iova, bytes);
}

/* One lane: what it will find faster the next time. */
SCX_FN void
scx_wkey_keep(struct scx_dp *dp, struct scx_wkey *last, uint32_t key, uint32_t pdn)
{
	const struct scx_dp_mkey *m = &dp->mkey[key >> 8 & (SCX_DP_MKEY_MAX - 1u)];

	if ((last->bytes != 0 && last->key == key && last->pdn == pdn) || m->bytes == 0 ||
		m->key != key || m->pdn != pdn || m->extents != NULL)
		return;
	last->key = key;
	last->pdn = pdn;
	last->write = m->local_write;
	last->iova = m->iova;
	last->bytes = m->bytes;
	last->base = m->base;
}

/* CQEs up to which index a CQ has room, by its record; the index that was read in *ci. */
CRL_FN uint32_t
scx_wcq_free(const uint32_t *rec, uint32_t pi, uint32_t log, uint32_t *ci)
{
	uint32_t depth = 1u << log, used;

	*ci = crl_bswap32(scx_ld32_acquire(&rec[CRL_DBREC_CQ_CI]));
	used = (pi - *ci) & (2u * depth - 1u);
	return used < depth ? pi + depth - used : pi;
}

/* A CQ that one queue has to itself, and that needs nothing but its CQEs; none to be reported. */
CRL_FN bool
scx_wcq_plain(const struct scx_cq *cq)
{
	return cq->used && !cq->failed && cq->armed == 0 && cq->users == 1u && !cq->q.collapsed &&
	       !cq->q.overrun_ignore && cq->dump == 0;
}

CRL_FN bool
scx_wsq_plain(const struct scx_sq *sq)
{
	return sq->q.state == SCX_WQ_RDY && !sq->runnable && sq->dump == 0 &&
	       sq->q.min_inline_mode == SCX_INLINE_NONE && scx_wcq_plain(sq->cq);
}

/* One lane: a queue, from the tables. */
SCX_FN void
scx_wsq_read(struct scx_wsq *q, struct scx_sq *sq)
{
	q->sq = sq;
	q->ring = sq->q.ring.base;
	q->rec = sq->q.dbrec;
	q->sqn = sq->q.sqn;
	q->pdn = sq->q.pdn;
	q->user_index = sq->q.user_index;
	q->log_depth = sq->q.log_depth;
	q->mpw = sq->q.allow_mpw;
	q->cq_ring = sq->cq->q.ring.base;
	q->cq_rec = sq->cq->q.dbrec;
	q->cq_log = sq->cq->q.log_depth;
	q->cq_pi = q->cq_free = sq->cq->pi;
	q->cq_ci = sq->cq->ci;
	q->pi = sq->pi;
	q->ci = sq->ci;
}

/* One lane: the queues of a page, which are plain all or none. */
SCX_FN void
scx_wpage_read(struct scx_worker *k, struct scx_wpage *p, uint32_t page, bool plain)
{
	struct scx_dp *dp = k->dp;
	uint32_t s;

	p->page = page;
	p->first = k->nr_queues;
	p->nr = 0;
	p->plain = plain;
	for (s = dp->page[page].sq; s != SCX_NONE && p->plain; s = dp->sq[s].next) {
		p->plain = p->nr < SCX_PAGE_QUEUES && scx_wsq_plain(&dp->sq[s]);
		if (p->plain)
			scx_wsq_read(&k->q[p->first + p->nr++], &dp->sq[s]);
	}
	p->plain = p->plain && p->nr != 0;
	p->nr = p->plain ? p->nr : 0;
	k->nr_queues += p->nr;
}

/* One lane: its indices back into the tables, for whoever is alone next. */
SCX_FN void
scx_wsq_write(const struct scx_wsq *q)
{
	struct scx_sq *sq = q->sq;

	sq->pi = q->pi;
	sq->ci = sq->ahead = q->ci;
	sq->cq->pi = sq->cq->limit = q->cq_pi;
	sq->cq->ci = q->cq_ci;
}

/* One lane: everything, after somebody was alone. Nothing is plain under a fault plan. */
SCX_SLOW void
scx_worker_read(struct scx_worker *k)
{
	struct scx_dp *dp = k->dp;
	bool plain = dp->link_up && !dp->fault.plan.records && !dp->fault.plan.overwrite &&
		     dp->fault.plan.send_error == 0 && dp->fault.plan.recv_error == 0 &&
		     dp->fault.plan.dma_delay == 0;
	uint32_t i;

	k->nr_pages = k->nr_queues = 0;
	for (i = k->me; i < dp->nr_active && k->nr_pages < SCX_WORKER_PAGES; i += k->crew->nr)
		scx_wpage_read(k, &k->page[k->nr_pages++], dp->active[i], plain);
	k->frame_max = dp->frame_max;
	k->rq.rq = NULL;
	k->rq.held = 0;
	memset(&k->send_key, 0, sizeof(k->send_key));
	memset(&k->recv_key, 0, sizeof(k->recv_key));
	for (i = 0; i < 8u; i++)
		k->relevant[i] = dp->relevant[i];
	k->generation = dp->generation;
	k->last.generation = 0;
	k->nr_cqes = k->nr_left = 0;
}

/* One lane: what was counted, to all that the port counts. */
SCX_SLOW void
scx_worker_count(struct scx_worker *k)
{
	uint64_t *to = (uint64_t *)&k->dp->stats, *from = (uint64_t *)&k->sum;
	uint32_t i;

	for (i = 0; i < sizeof(k->sum) / sizeof(*from); i++) {
		if (from[i] != 0)
			scx_add64(&to[i], from[i]);
		from[i] = 0;
	}
}

/* One lane: before a rest or the end, everything where others look for it. */
SCX_SLOW void
scx_worker_write(struct scx_worker *k)
{
	uint32_t i;

	for (i = 0; i < k->nr_queues; i++)
		scx_wsq_write(&k->q[i]);
	scx_worker_count(k);
}

#endif /* SCX_DP_WORKER_H */
