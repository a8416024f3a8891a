/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream that a warp turns, frames that come, and what must hold after any turn. */
#ifndef WARP_TURN_H
#define WARP_TURN_H

#include "book.h"

#include "gpu_queues/engines/own_warp.h"
#include "gpu_queues/fwd_warp.h"

#define STRIDE 256u

static struct fake_nic n;
static struct crl_stream s, before;
static struct crl_warp warp;
static struct crl_warp_mem mem;

/* Frames on their way, by number. */
static uint32_t len_of[1u << 16];
static uint8_t csum_of[1u << 16], types_of[1u << 16];
static uint64_t came, answered, left, nr_expected;

static inline void
open_all(uint32_t log_sq, uint32_t log_rq, uint32_t burst)
{
	fake_open(&n, log_sq, log_rq, STRIDE, false);
	memset(&s, 0, sizeof(s));
	s.rx = s.tx = &n.q;
	s.ctl = &n.ctl;
	s.tx_lkey = FAKE_LKEY;
	s.burst = burst;
	warp = (struct crl_warp){book_below(1000) * 2u + 1u, book_below(1000)};
	came = answered = left = nr_expected = 0;
	assert_true(crl_stream_begin(&s));
	crl_warp_begin(&warp, &s);
	assert_int_equal(s.loose, 1u << log_rq);
	assert_true(s.look_every == CRL_WARP_LOOK_EVERY && s.look_step == CRL_WARP_LOOK_STEP);
}

static inline void
frame_comes(void)
{
	uint8_t f[STRIDE];
	uint32_t k = (uint32_t)came & 0xffffu, len = STRIDE - FAKE_HEADROOM;

	len = book_below(8) ? 60u + book_below(len - 59u) : len;
	memset(f, (int)k, sizeof(f));
	memcpy(f, &came, 8);
	csum_of[k] = (uint8_t)(book_below(8) ? CRL_CQE_L3_OK | CRL_CQE_L4_OK : book_below(8));
	types_of[k] = (uint8_t)(CRL_CQE_L3_IPV4 << CRL_CQE_L3_SHIFT | 1u << CRL_CQE_L4_SHIFT);
	len_of[k] = len;
	came += fake_receive_flags(&n, f, len, csum_of[k], types_of[k]);
}

static inline uint64_t
loose_there(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 1u << n.q.rq.log_depth; i++)
		sum += n.q.rq.released[i] != 0;
	return sum;
}

/* After any turn: what the NIC was told is what the books say, and nothing is left untold. */
static inline void
check_told(uint64_t pi_told, uint64_t rung)
{
	assert_true(n.q.rq.pi_told == n.q.rq.pi && n.q.sq.rung == n.q.sq.posted);
	assert_true(n.q.sq.pi == n.q.sq.posted);
	assert_int_equal(crl_from_be32(n.rq_rec[CRL_DBREC_RCV_WORD]), (uint16_t)n.q.rq.pi);
	assert_int_equal(crl_from_be32(n.sq_rec[CRL_DBREC_SND_WORD]), (uint16_t)n.q.sq.posted);
	assert_int_equal(crl_from_be32(n.rcq_rec[0]), n.q.rq.cq.ci & 0xffffffu);
	assert_int_equal(crl_from_be32(n.scq_rec[0]), n.q.sq.cq.ci & 0xffffffu);
	assert_int_equal(s.rxc.refills, before.rxc.refills + (n.q.rq.pi != pi_told));
	assert_int_equal(s.txc.doorbells, before.txc.doorbells + (n.q.sq.posted != rung));
	assert_int_equal(s.loose, loose_there());
}

static inline void
nic_turn(uint32_t sends)
{
	fake_doorbell(&n);
	fake_send(&n, sends);
}

static inline uint32_t
pending(void)
{
	return (uint32_t)(came - answered);
}

#endif /* WARP_TURN_H */
