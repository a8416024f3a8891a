/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's second half: frames, a lane each, into receive queues, and CQEs. Frames of one round
 * that go to the same queue are received together under that queue's lock, which is held until the
 * CQEs are valid. Frames that a plain round cannot receive are kept in k->left for somebody alone.
 */
#ifndef SCX_DP_WORKER_RECEIVE_H
#define SCX_DP_WORKER_RECEIVE_H

#include "worker_copy.h"
#include "worker_send.h"

/* All that was written becomes valid; with let_go the receive queue is let go of. */
CRL_FN void
scx_wpublish(const struct crl_warp *w, struct scx_worker *k, struct scx_wrq *q, bool let_go)
{
	uint32_t n = k->nr_cqes, i;

	let_go = let_go && q->held;
	if (n == 0 && !let_go)
		return;
	crl_warp_sync();
	if (q->held && crl_warp_first()) {
		q->rq->pi = q->pi;
		q->rq->ci = q->rq->look = q->ci;
		q->cq->pi = q->cq->limit = q->cq_pi;
		q->cq->ci = q->cq_ci;
	}
	crl_warp_sync();
	/* pairs with a driver's barrier behind the owner bit, and the next holder's acquire */
	scx_fence_release();
	CRL_EACH_LANE(w, lane)
	{
		for (i = lane; i < n; i += CRL_WARP_LANES)
			scx_st64(k->cqe[i].at, k->cqe[i].tail);
	}
	crl_warp_sync();
	if (crl_warp_first()) {
		if (let_go)
			scx_st32(&k->crew->rq_lock[q->rq - k->dp->rq], 0);
		k->nr_cqes = 0;
		k->sum.cqes += n;
		k->sum.pci_written += n * CRL_CQE_BYTES;
		k->sum.pci_tlps += n;
	}
	crl_warp_sync();
	if (let_go)
		q->held = 0;
}

/* What of a queue stays as it is while workers work. */
CRL_FN void
scx_wrq_read(struct scx_wrq *q, struct scx_rq *rq)
{
	struct scx_cq *cq = rq->cq;

	q->rq = rq;
	q->cq = cq;
	q->ready = rq->q.state == SCX_WQ_RDY;
	q->plain = !rq->q.scatter_fcs && rq->dump == 0 && scx_wcq_plain(cq);
	q->strip = rq->q.vlan_strip;
	q->counter = rq->q.counter_set & (SCX_DP_COUNTER_MAX - 1u);
	q->ring = rq->q.ring.base;
	q->rec = rq->q.dbrec;
	q->pdn = rq->q.pdn;
	q->user_index = rq->q.user_index;
	q->log_depth = rq->q.log_depth;
	q->log_stride = rq->q.log_stride;
	q->cq_ring = cq->q.ring.base;
	q->cq_rec = cq->q.dbrec;
	q->cq_log = cq->q.log_depth;
}

/* Takes the lock of a queue, and its state; the one that is held is let go of. False: the crew is
 * stuck. */
CRL_FN bool
scx_wrq_take(const struct crl_warp *w, struct scx_worker *k, struct scx_wrq *q, struct scx_rq *rq)
{
	uint32_t i = (uint32_t)(rq - k->dp->rq);

	if (q->held && q->rq == rq)
		return true;
	scx_wpublish(w, k, q, true);
	if (crl_warp_first() && !scx_cas32(&k->crew->rq_lock[i], 0, 1u + k->me))
		k->stuck = !scx_crew_lock(k->crew, k->me, i);
	crl_warp_sync();
	if (k->stuck)
		return false;
	if (q->rq != rq)
		scx_wrq_read(q, rq);
	/* the only words that change while workers work: past the first-level cache */
	q->pi = scx_ld16(&rq->pi);
	q->ci = scx_ld16(&rq->ci);
	q->cq_pi = q->cq_free = scx_ld32(&q->cq->pi);
	q->cq_ci = scx_ld32(&q->cq->ci);
	q->held = 1;
	return true;
}

/* Room in the CQ for n more: by what is known of it, or by its record. */
CRL_FN bool
scx_wcq_room(
	const uint32_t *rec, uint32_t pi, uint32_t log, uint32_t *ci, uint32_t *end, uint32_t n)
{
	uint32_t depth = 1u << log, used = (pi - *ci) & (2u * depth - 1u);

	if (used < depth && n <= depth - used)
		return true;
	*end = scx_wcq_free(rec, pi, log, ci);
	return n <= *end - pi;
}

/* A slot in the first lap of its CQ must hold what the driver put there. */
CRL_FN bool
scx_wcqe_fresh(const uint8_t *ring, uint32_t pi, uint32_t log)
{
	const uint8_t *e = ring + (size_t)(pi & ((1u << log) - 1u)) * CRL_CQE_BYTES;

	return pi >> log != 0 || scx_ld32(e + 60) >> 28 == CRL_CQE_INVALID;
}

/* The body of a CQE, and its tail to where publishing finds it. */
CRL_FN void
scx_wcqe_put(struct scx_worker *k, uint32_t at, uint8_t *ring, uint32_t pi, uint32_t log,
	const struct scx_cqe *c)
{
	uint8_t *e = ring + (size_t)(pi & ((1u << log) - 1u)) * CRL_CQE_BYTES;
	uint32_t i;

	for (i = 0; i < 3u; i++) {
		struct scx_16 v = {{c->w[2u * i], c->w[2u * i + 1u]}};

		scx_st128(e + 16u * i, v);
	}
	scx_st64(e + 48, c->w[6]);
	k->cqe[at].at = e + 56;
	k->cqe[at].tail = c->w[7] | (uint64_t)(pi >> log & 1u) << 56;
}

/* A lane's CQE for what it received as index. */
CRL_FN void
scx_wreceive_cqe(
	struct scx_worker *k, const struct scx_wrq *q, const struct scx_wlane *x, uint32_t nth)
{
	struct scx_cqe c;

	c.w[0] = 0;
	c.w[1] = scx_be_pair(0, x->to.hash);
	c.w[2] = x->to.hash_type | (uint64_t)x->seen.complete << 32;
	c.w[3] = scx_be_pair(0, x->seen.info);
	c.w[4] = scx_be_pair(q->user_index, 0);
	c.w[5] = scx_be_pair(0, x->f.len);
	c.w[6] = crl_bswap64(k->clock);
	c.w[7] = scx_cqe_tail(x->to.flow_tag, (uint16_t)(q->ci + nth), CRL_CQE_RESP_SEND);
	scx_wcqe_put(k, k->nr_cqes + nth, q->cq_ring, q->cq_pi + nth, q->cq_log, &c);
}

/* Receive WQEs for n frames, by the record if need be. Returns for how many there are some; more
 * than n: the record cannot be. */
CRL_FN uint32_t
scx_wrq_credit(struct scx_wrq *q, uint32_t n)
{
	uint32_t have = (uint16_t)(q->pi - q->ci);
	uint16_t rec;

	if (have >= n)
		return n;
	rec = (uint16_t)crl_bswap32(scx_ld32_acquire(&q->rec[CRL_DBREC_RCV_WORD]));
	if ((uint16_t)(rec - q->pi) > (1u << q->log_depth) - have)
		return n + 1u;
	q->pi = rec;
	have = (uint16_t)(rec - q->ci);
	return have < n ? have : n;
}

/* Lane 0: what a group of n frames, of which take were received, adds to the counts. */
CRL_FN void
scx_wreceive_count(struct scx_worker *k, const struct scx_wrq *q, uint32_t n, uint32_t take,
	uint32_t sum, uint32_t key)
{
	uint32_t bytes = scx_wsum_bytes(sum), wqe = 1u << q->log_stride;

	k->nr_cqes += take;
	k->sum.pci_written += bytes;
	k->sum.pci_read += (uint64_t)take * wqe;
	k->sum.rq_wqe_bytes += (uint64_t)take * wqe;
	k->sum.pci_tlps += scx_wsum_tlps(sum) + take * scx_pci_read_tlps(wqe);
	k->sum.rx_frames += take;
	k->sum.rx_bytes += bytes;
	k->sum.rx_no_buffer += n - take;
	if (take < n)
		scx_add64(&k->dp->out_of_buffer[q->counter], n - take);
	if (take != 0)
		scx_wkey_keep(k->dp, &k->recv_key, key, q->pdn);
}

/*
 * Bytes and CQEs of the frames of the lanes in group that have a buffer, take of them. Returns what
 * they add to the counts, as scx_wsum_of().
 */
CRL_FN uint32_t
scx_wreceive_bytes(const struct crl_warp *w, struct scx_worker *k, const struct scx_wrq *q,
	struct scx_wlane *x, uint32_t group, uint8_t *const *dst, uint32_t take)
{
	CRL_LANE(uint32_t, part);
	uint32_t chunks;

	CRL_EACH_LANE(w, lane)
	{
		struct scx_wpiece *p = &k->piece[crl_rank(group, lane)];

		part[CRL_AT(lane)] = 0;
		if (dst[CRL_AT(lane)] == NULL)
			continue;
		scx_wcopy_head(&x[CRL_AT(lane)], dst[CRL_AT(lane)], p);
		part[CRL_AT(lane)] = p->chunks;
	}
	chunks = crl_warp_max(part);
	crl_warp_sync();
	if (chunks != 0)
		scx_wcopy(w, k->piece, take, chunks);
	CRL_EACH_LANE(w, lane)
	{
		struct scx_wlane *o = &x[CRL_AT(lane)];
		uint32_t nth = crl_rank(group, lane);

		part[CRL_AT(lane)] = 0;
		if (dst[CRL_AT(lane)] == NULL)
			continue;
		scx_wcopy_tail(o, dst[CRL_AT(lane)], &k->piece[nth]);
		scx_wreceive_cqe(k, q, o, nth);
		part[CRL_AT(lane)] = scx_wsum_of(o->f.len, scx_pci_write_tlps(o->f.len));
	}
	return crl_warp_sum(part);
}

/*
 * The frames of the lanes in group, all for the queue that is held. False: nothing was done, for
 * somebody alone must do it.
 */
CRL_FN bool
scx_wreceive(const struct crl_warp *w, struct scx_worker *k, struct scx_wrq *q, struct scx_wlane *x,
	uint32_t group)
{
	uint32_t n = crl_popcount(group), take = q->plain ? scx_wrq_credit(q, n) : n + 1u, sum;
	CRL_LANE(uint32_t, bad);
	CRL_LANE(uint32_t, key);
	CRL_LANE(uint8_t *, dst);

	if (take > n || !scx_wcq_room(q->cq_rec, q->cq_pi, q->cq_log, &q->cq_ci, &q->cq_free, take))
		return false;
	CRL_EACH_LANE(w, lane)
	{
		struct scx_wlane *o = &x[CRL_AT(lane)];
		uint32_t nth = crl_rank(group, lane), mask = (1u << q->log_depth) - 1u, room;
		struct scx_16 s;

		bad[CRL_AT(lane)] = key[CRL_AT(lane)] = 0;
		dst[CRL_AT(lane)] = NULL;
		if (!(group >> lane & 1u) || nth >= take)
			continue;
		s = scx_ld128(
			q->ring + ((size_t)((uint32_t)(q->ci + nth) & mask) << q->log_stride));
		room = crl_bswap32((uint32_t)s.q[0]);
		key[CRL_AT(lane)] = crl_bswap32((uint32_t)(s.q[0] >> 32));
		if (o->f.len <= room && !(room & CRL_WQE_INLINE) && !(q->strip && o->seen.tagged))
			dst[CRL_AT(lane)] = scx_wkey_at(k->dp, &k->recv_key, key[CRL_AT(lane)],
				q->pdn, crl_bswap64(s.q[1]), o->f.len, true);
		bad[CRL_AT(lane)] = dst[CRL_AT(lane)] == NULL ||
				    !scx_wcqe_fresh(q->cq_ring, q->cq_pi + nth, q->cq_log);
	}
	if (crl_warp_ballot(bad) != 0)
		return false;
	sum = scx_wreceive_bytes(w, k, q, x, group, dst, take);
	key[0] = crl_warp_get32(key, crl_lowest(group));
	crl_warp_sync();
	if (crl_warp_first())
		scx_wreceive_count(k, q, n, take, sum, key[0]);
	crl_warp_sync();
	q->ci = (uint16_t)(q->ci + take);
	q->cq_pi += take;
	return true;
}

/* Frames that no queue takes: counted and gone. Returns the lanes that are left. */
CRL_FN uint32_t
scx_wreceive_none(const struct crl_warp *w, struct scx_worker *k, const struct scx_wlane *x)
{
	CRL_LANE(uint32_t, drop);
	CRL_LANE(uint32_t, none);
	CRL_LANE(uint32_t, some);
	uint32_t nr_drop, nr_none;

	CRL_EACH_LANE(w, lane)
	{
		const struct scx_wlane *o = &x[CRL_AT(lane)];
		bool have = o->f.data != NULL, dropped = have && o->to.dest == SCX_FLOW_DROP;

		drop[CRL_AT(lane)] = dropped;
		none[CRL_AT(lane)] = have && !dropped && o->to.rq == NULL;
		some[CRL_AT(lane)] = have && !dropped && !none[CRL_AT(lane)];
	}
	nr_drop = crl_popcount(crl_warp_ballot(drop));
	nr_none = crl_popcount(crl_warp_ballot(none));
	if (crl_warp_first()) {
		k->sum.rx_dropped += nr_drop;
		k->sum.rx_no_match += nr_none;
	}
	return crl_warp_ballot(some);
}

/* All frames of a round, a queue after the other. False: some are in k->left, or k->stuck. */
CRL_FN bool
scx_wreceive_all(
	const struct crl_warp *w, struct scx_worker *k, struct scx_wrq *q, struct scx_wlane *x)
{
	uint32_t todo = scx_wreceive_none(w, k, x), left = 0, group;
	CRL_LANE(uint64_t, rq);
	CRL_LANE(uint32_t, same);

	while (todo != 0) { /* bound: the lanes */
		uint64_t to;

		CRL_EACH_LANE(w, lane)
		rq[CRL_AT(lane)] = (uint64_t)(uintptr_t)x[CRL_AT(lane)].to.rq;
		to = crl_warp_get64(rq, crl_lowest(todo));
		CRL_EACH_LANE(w, lane)
		same[CRL_AT(lane)] = (todo >> lane & 1u) && rq[CRL_AT(lane)] == to;
		group = crl_warp_ballot(same);
		todo &= ~group;
		if (!scx_wrq_take(w, k, q, (struct scx_rq *)(uintptr_t)to))
			return false;
		if (!q->ready) {
			if (crl_warp_first())
				k->sum.rx_no_match += crl_popcount(group);
		} else if (!scx_wreceive(w, k, q, x, group)) {
			left |= group;
		}
	}
	if (left == 0)
		return true;
	CRL_EACH_LANE(w, lane)
	{
		struct scx_frame *to = &k->left[crl_rank(left, lane)];

		if (!(left >> lane & 1u))
			continue;
		to->data = x[CRL_AT(lane)].f.data;
		to->len = x[CRL_AT(lane)].f.len;
		to->flags = 0;
	}
	crl_warp_sync();
	if (crl_warp_first())
		k->nr_left = crl_popcount(left);
	crl_warp_sync();
	return false;
}

#endif /* SCX_DP_WORKER_RECEIVE_H */
