/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's turn: the gate and the registers of its pages in one look, then the queues that have
 * work, a few rounds each.
 */
#ifndef SCX_DP_WORKER_TURN_H
#define SCX_DP_WORKER_TURN_H

#include "worker_alone.h"
#include "worker_receive.h"

#define SCX_WORKER_ROUNDS 8u /* of one queue in one turn */

/* Room and fresh slots for the send CQEs of a round; the queue's CQ index when last read in *ci. */
CRL_FN bool
scx_wsent_room(const struct crl_warp *w, const struct scx_wsq *q, uint32_t n, uint32_t *ci)
{
	CRL_LANE(uint32_t, bad);
	uint32_t end;

	*ci = q->cq_ci;
	if (n == 0)
		return true;
	if (!scx_wcq_room(q->cq_rec, q->cq_pi, q->cq_log, ci, &end, n))
		return false;
	CRL_EACH_LANE(w, lane)
	bad[CRL_AT(lane)] = lane < n && !scx_wcqe_fresh(q->cq_ring, q->cq_pi + lane, q->cq_log);
	return crl_warp_ballot(bad) == 0;
}

/* Send CQEs of a round whose frames are received. */
CRL_FN void
scx_wsent(const struct crl_warp *w, struct scx_worker *k, const struct scx_wsq *q,
	const struct scx_wround *r)
{
	CRL_EACH_LANE(w, lane)
	{
		struct scx_cqe c;
		uint32_t nth = crl_rank(r->signals, lane);

		if (!(r->signals >> lane & 1u))
			continue;
		c.w[0] = c.w[1] = c.w[2] = c.w[3] = c.w[5] = 0;
		c.w[4] = scx_be_pair(q->user_index, 0);
		c.w[6] = crl_bswap64(k->clock);
		c.w[7] = scx_cqe_tail(
			r->opcode << 24 | q->sqn, (uint16_t)(q->ci + lane), CRL_CQE_REQ);
		scx_wcqe_put(k, k->nr_cqes + nth, q->cq_ring, q->cq_pi + nth, q->cq_log, &c);
	}
	crl_warp_sync();
}

/* What a round of frames adds to the counts, and where the queue is now; lane 0. */
CRL_FN void
scx_wround_end(struct scx_worker *k, struct scx_wsq *q, const struct scx_wround *r, uint32_t sum,
	uint32_t cq_ci, bool done)
{
	uint32_t n = done ? crl_popcount(r->signals) : 0, bytes = scx_wsum_bytes(sum);
	uint32_t wqe = r->bbs / r->wqes * CRL_WQEBB_BYTES;

	k->sum.wqes += r->wqes;
	k->sum.tx_frames += r->frames;
	k->sum.tx_bytes += bytes;
	k->sum.pci_read += bytes + (uint64_t)r->bbs * CRL_WQEBB_BYTES;
	k->sum.wqe_bytes += (uint64_t)r->bbs * CRL_WQEBB_BYTES;
	k->sum.pci_tlps += scx_wsum_tlps(sum) + r->wqes * scx_pci_read_tlps(wqe);
	k->sum.rx_wire += r->frames - k->nr_left;
	k->sum.flow_hits += r->frames - k->nr_left;
	k->nr_cqes += n;
	q->cq_pi += n;
	q->cq_ci = cq_ci;
	if (done)
		q->ci = (uint16_t)(q->ci + r->bbs);
}

enum scx_wresult { SCX_W_DONE, SCX_W_NOT_PLAIN, SCX_W_LEFT };

/* One round of a queue that has work. */
CRL_FN enum scx_wresult
scx_wround(const struct crl_warp *w, struct scx_worker *k, struct scx_wsq *q, struct scx_wrq *rq,
	struct scx_wround *r)
{
	CRL_LANE(struct scx_wframe, f);
	CRL_LANE(struct scx_wlane, x);
	CRL_LANE(uint32_t, len);
	uint32_t ci, sum;
	bool done;

	if (!scx_wround_take(w, k, q, r, f) || !scx_wsent_room(w, q, crl_popcount(r->signals), &ci))
		return SCX_W_NOT_PLAIN;
	scx_wlook_at(w, f, x);
	scx_wsteer(w, k, x);
	done = scx_wreceive_all(w, k, rq, x);
	if (done)
		scx_wsent(w, k, q, r);
	CRL_EACH_LANE(w, lane)
	{
		uint32_t n = f[CRL_AT(lane)].data != NULL ? f[CRL_AT(lane)].len : 0;

		len[CRL_AT(lane)] = scx_wsum_of(n, scx_pci_read_tlps(n));
	}
	sum = crl_warp_sum(len);
	crl_warp_sync();
	if (crl_warp_first())
		scx_wround_end(k, q, r, sum, ci, done);
	crl_warp_sync();
	return done ? SCX_W_DONE : SCX_W_LEFT;
}

/* A queue that has work: some rounds. */
CRL_FN unsigned
scx_wrun(const struct crl_warp *w, struct scx_worker *k, struct scx_wsq *q)
{
	enum scx_wresult res = SCX_W_DONE;
	struct scx_wrq rq = k->rq;
	struct scx_wround r;
	unsigned work = 0;
	uint32_t sqn = q->sqn;
	uint16_t from = q->ci;

	while (res == SCX_W_DONE && from != q->pi && work < SCX_WORKER_ROUNDS) {
		if (k->nr_cqes > SCX_WORKER_CQES - 2u * CRL_WARP_LANES)
			scx_wpublish(w, k, &rq, false);
		res = scx_wround(w, k, q, &rq, &r);
		if (res == SCX_W_DONE)
			from = q->ci;
		work++;
	}
	scx_wpublish(w, k, &rq, true);
	if (crl_warp_first())
		k->rq = rq;
	crl_warp_sync();
	if (res == SCX_W_DONE)
		return work;
	if (crl_warp_first() && res == SCX_W_NOT_PLAIN) {
		scx_walone_queue(k, sqn);
	} else if (crl_warp_first()) {
		struct scx_wround copy = r; /* apart: what a call is given lies in memory */

		scx_walone_left(k, sqn, &copy, from);
	}
	crl_warp_sync();
	return work;
}

/* The records of a page's queues, a lane each, and whether what was rung agrees with them. */
CRL_FN bool
scx_wrecords(const struct crl_warp *w, const struct scx_worker *k, const struct scx_wpage *p,
	const uint64_t *raw, uint32_t *rec)
{
	CRL_LANE(uint32_t, bad);
	uint32_t i, r;

	CRL_EACH_LANE(w, lane)
	{
		const struct scx_wsq *q = &k->q[p->first + (lane < p->nr ? lane : 0)];

		rec[CRL_AT(lane)] = (uint16_t)crl_bswap32(scx_ld32(&q->rec[CRL_DBREC_SND_WORD]));
		bad[CRL_AT(lane)] =
			lane < p->nr && (uint16_t)(rec[CRL_AT(lane)] - q->ci) > 1u << q->log_depth;
	}
	scx_fence_acquire(); /* pairs with the driver's barrier between WQEs and record */
	if (crl_warp_ballot(bad) != 0)
		return false;
	/* each raw names a queue of the page, and no WQE behind that queue's record */
	CRL_EACH_LANE(w, lane)
	bad[CRL_AT(lane)] = raw[CRL_AT(lane)] != 0;
	for (i = 0; i < p->nr; i++) {
		r = crl_warp_get32(rec, i);
		CRL_EACH_LANE(w, lane)
		{
			uint32_t w0 = crl_bswap32((uint32_t)raw[CRL_AT(lane)]);
			uint32_t w1 = crl_bswap32((uint32_t)(raw[CRL_AT(lane)] >> 32));

			if (w1 >> 8 == k->q[p->first + i].sqn &&
				(int16_t)(uint16_t)((w0 >> 8) - r) <= 0)
				bad[CRL_AT(lane)] = 0;
		}
	}
	return crl_warp_ballot(bad) == 0;
}

/*
 * Registers of page j hold something, a bit each in bits. False: it was done alone, and the pages
 * are numbered anew.
 */
CRL_FN bool
scx_wrung(const struct crl_warp *w, struct scx_worker *k, uint32_t j, uint32_t bits)
{
	const struct scx_wpage *p = &k->page[j];
	CRL_LANE(uint64_t, raw);
	CRL_LANE(uint32_t, rec);
	uint64_t all[SCX_SEND_REGS] = {0};
	bool plain = p->plain && bits >> SCX_WARM == 0;
	uint32_t i;

	CRL_EACH_LANE(w, lane)
	{
		raw[CRL_AT(lane)] = 0;
		if (plain && lane < SCX_SEND_REGS && (bits >> lane & 1u))
			raw[CRL_AT(lane)] = scx_take64(scx_wreg(k->dp, p->page, lane));
	}
	crl_warp_sync();
	/* a record was stored before its register */
	if (!plain || !scx_wrecords(w, k, p, raw, rec)) {
		for (i = 0; i < SCX_SEND_REGS; i++)
			all[i] = crl_warp_get64(raw, i);
		if (crl_warp_first())
			scx_walone_rung(k, p->page, all, SCX_SEND_REGS);
		crl_warp_sync();
		return false;
	}
	CRL_EACH_LANE(w, lane)
	{
		if (lane < p->nr)
			k->q[p->first + lane].pi = (uint16_t)rec[CRL_AT(lane)];
	}
	if (crl_warp_first()) {
		k->sum.doorbells += crl_popcount(bits);
		k->sum.pci_tlps += crl_popcount(bits);
	}
	crl_warp_sync();
	return true;
}

/* Somebody wants to be alone. */
CRL_FN void
scx_wrest(struct scx_worker *k)
{
	if (crl_warp_first() && !k->stuck) {
		scx_worker_write(k);
		k->stuck = !scx_crew_rest(k->crew, k->me);
		if (!k->stuck)
			scx_worker_read(k);
	}
	crl_warp_sync();
}

/* What one look finds: the gate in lane 7, the clock in lane 6, registers in the others. */
CRL_FN uint64_t
scx_wlook_reg(const struct scx_worker *k, uint32_t base, uint32_t lane)
{
	uint32_t j = base + lane / 8u, r = lane % 8u;

	if (lane == 7u)
		return scx_ld32(&k->crew->gate) & 1u;
	if (lane == 6u)
		return scx_ld64(&k->dp->clock);
	return j < k->nr_pages && r <= SCX_WARM ? scx_ld64(scx_wreg(k->dp, k->page[j].page, r)) : 0;
}

/* One bounded turn. Returns work done, 0 = idle. */
CRL_FN unsigned
scx_worker_turn(const struct crl_warp *w, struct scx_worker *k)
{
	CRL_LANE(uint64_t, reg);
	CRL_LANE(uint32_t, set);
	uint32_t base, hit, j;
	uint64_t clock;
	unsigned work = 0;

	for (base = 0; base == 0 || base < k->nr_pages; base += 4u) {
		CRL_EACH_LANE(w, lane)
		{
			reg[CRL_AT(lane)] = scx_wlook_reg(k, base, lane);
			set[CRL_AT(lane)] = lane != 6u && reg[CRL_AT(lane)] != 0;
		}
		clock = crl_warp_get64(reg, 6);
		if (crl_warp_first())
			k->clock = clock;
		hit = crl_warp_ballot(set);
		if (hit >> 7 & 1u) {
			scx_wrest(k);
			return 1;
		}
		for (j = 0; j < 4u; j++) {
			if (!(hit >> 8u * j & 0x1fu))
				continue;
			if (!scx_wrung(w, k, base + j, hit >> 8u * j & 0x1fu))
				return work + 1u;
			work++;
		}
	}
	crl_warp_sync();
	for (j = 0; j < k->nr_queues; j++)
		if (k->q[j].ci != k->q[j].pi)
			work += scx_wrun(w, k, &k->q[j]);
	return work;
}

/* All lanes, before the first turn and after the last. */
CRL_FN void
scx_worker_begin(struct scx_worker *k, struct scx_dp *dp, struct scx_crew *crew, uint32_t me)
{
	if (crl_warp_first()) {
		memset(&k->sum, 0, sizeof(k->sum));
		k->dp = dp;
		k->crew = crew;
		k->me = me;
		k->stuck = !scx_crew_join(crew, me);
		if (!k->stuck)
			scx_worker_read(k);
	}
	crl_warp_sync();
}

CRL_FN void
scx_worker_end(struct scx_worker *k)
{
	crl_warp_sync();
	if (crl_warp_first() && !k->stuck) {
		scx_worker_write(k);
		scx_crew_leave(k->crew, k->me);
	}
	crl_warp_sync();
}

#endif /* SCX_DP_WORKER_TURN_H */
