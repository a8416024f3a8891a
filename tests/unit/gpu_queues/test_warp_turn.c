/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A warp's turns one by one: after each, every counter, record and index is what a model says that
 * knows only how much had come, how much room there was and what the packet function answers. Then
 * CQEs that cannot be, in every place, and what stands still while the host has the queues.
 */
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
static uint64_t came, answered, left, expected[1u << 16], nr_expected;

static void
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

static void
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

static uint32_t
verdict(uint64_t k)
{
	static const uint32_t answer[] = {CRL_SEND, CRL_SEND, CRL_SEND, CRL_DROP,
		CRL_SEND | CRL_TORN, CRL_DROP | CRL_MISSED, CRL_SEND, CRL_SEND};

	return answer[(k * 2654435761u >> 7) & 7u];
}

static enum crl_verdict
judge(struct crl_stream *st, struct crl_pkt *pkt)
{
	uint64_t k;

	assert_ptr_equal(st, &s);
	memcpy(&k, pkt->data, 8);
	assert_int_equal(pkt->len, len_of[k & 0xffffu]);
	return (enum crl_verdict)verdict(k);
}

static void
on_frame(void *arg, const uint8_t *frame, uint32_t len)
{
	uint64_t k;

	(void)arg;
	memcpy(&k, frame, 8);
	assert_true(left < nr_expected && k == expected[left & 0xffffu]);
	assert_int_equal(len, len_of[k & 0xffffu]);
	assert_int_equal(frame[len - 1u], k & 0xffu);
	left++;
}

static uint64_t
loose_there(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 1u << n.q.rq.log_depth; i++)
		sum += n.q.rq.released[i] != 0;
	return sum;
}

/* What the next so many frames add to the counts. */
static void
count(struct crl_stream *want, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++, answered++) {
		uint32_t k = (uint32_t)answered & 0xffffu, v = verdict(answered);
		bool sends = (v & CRL_SEND) && s.tx;

		want->rxc.packets++;
		want->rxc.bytes += len_of[k];
		want->rxc.csum_bad += (csum_of[k] & (CRL_CQE_L3_OK | CRL_CQE_L4_OK)) !=
				      (CRL_CQE_L3_OK | CRL_CQE_L4_OK);
		want->rxc.dropped += s.tx && !sends;
		want->txc.packets += sends;
		want->txc.bytes += sends ? len_of[k] : 0;
		want->stamp.torn += (v & CRL_TORN) != 0;
		want->stamp.missed += (v & CRL_MISSED) != 0;
		if (sends)
			expected[nr_expected++ & 0xffffu] = answered;
	}
}

/* After any turn: what the NIC was told is what the books say, and nothing is left untold. */
static void
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

/* One turn with so much to see; good: of the frames there, those that can be. */
static void
turn_once(uint64_t good, uint32_t seen)
{
	uint64_t pi = n.q.sq.pi, sq_ci = n.q.sq.ci, told = n.q.rq.pi_told, rung = n.q.sq.rung, room;
	uint32_t max = s.burst < 30u ? s.burst : s.burst / 30u * 30u, nr, back, took;
	enum crl_turn turn;

	before = s;
	turn = crl_fwd_warp_turn(&warp, &s, &mem, judge);
	seen = seen < max ? seen : max;
	room = s.tx ? (1ull << n.q.sq.log_depth) - (pi - n.q.sq.ci) : UINT64_MAX;
	back = (uint32_t)(s.txc.completions - before.txc.completions);
	nr = seen < room ? seen : (uint32_t)room;
	took = nr < good ? nr : (uint32_t)good;
	assert_true((back != 0) == (n.q.sq.ci != sq_ci));
	before.rxc.polls++;
	before.rxc.idle_polls += seen == 0;
	before.txc.full_waits += nr < seen;
	count(&before, took);
	assert_int_equal(turn, nr != 0 || back != 0 ? CRL_TURN_BUSY : CRL_TURN_IDLE);
	if (took != nr)
		return; /* the queue failed: check_failed() */
	check_told(told, rung);
	before.rxc.refills = s.rxc.refills;
	before.txc.doorbells = s.txc.doorbells;
	before.txc.completions = s.txc.completions;
	assert_memory_equal(&s.rxc, &before.rxc, sizeof(s.rxc));
	assert_memory_equal(&s.txc, &before.txc, sizeof(s.txc));
	assert_memory_equal(&s.stamp, &before.stamp, sizeof(s.stamp));
	assert_true(n.q.rq.ci == answered && n.q.rq.cq.ci == answered);
}

static void
nic_turn(uint32_t sends)
{
	fake_doorbell(&n);
	fake_send(&n, sends);
}

static uint32_t
pending(void)
{
	return (uint32_t)(came - answered);
}

static void
random_queue(void)
{
	open_all(book_below(8), book_below(8), 1u + book_below(64));
	n.sink = on_frame;
	n.q.sq.flags = book_below(2) ? CRL_SQ_EMPW : 0;
	n.q.sq.inline_hdr = book_below(4) ? 0 : CRL_INLINE_HDR_L2;
	s.opts.cs_flags = book_below(2) ? CRL_ETH_L3_CSUM : 0;
	if (book_below(8) == 0)
		s.tx = NULL;
}

static void
test_turns(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 300u; i++) {
		random_queue();
		for (uint32_t t = 0; t < 60u; t++) {
			turn_once(UINT64_MAX, pending());
			for (uint32_t k = book_below(3) ? book_below(70) : 0; k > 0; k--)
				frame_comes();
			nic_turn(book_below(3) ? book_below(80) : 0);
		}
		nic_turn(1000);
		assert_int_equal(left, nr_expected);
		fake_close(&n);
	}
}

static const struct {
	uint32_t opcode, counter, long_by, kind; /* added to what a good one has */
} impossible[] = {
	{CRL_CQE_RESP_ERR, 0, 0, CRL_QERR_CQE},
	{CRL_CQE_REQ, 0, 0, CRL_QERR_OPCODE},
	{CRL_CQE_RESP_SEND, 1, 0, CRL_QERR_COUNTER},
	{CRL_CQE_RESP_SEND, 0x8000, 0, CRL_QERR_COUNTER},
	{CRL_CQE_RESP_SEND, 0, 1, CRL_QERR_LENGTH},
};

static void
check_failed(uint32_t kind)
{
	const struct crl_qerror *e = &n.error[CRL_QERROR_RQ];
	uint64_t slot = n.q.rq.ci & ((1u << n.q.rq.log_depth) - 1u);

	assert_int_equal(n.q.rq.state, CRL_QS_FAILED);
	assert_true(n.q.rq.ci == answered && s.rxc.packets == before.rxc.packets);
	assert_true(s.txc.packets == before.txc.packets && s.rxc.dropped == before.rxc.dropped);
	assert_true(e->seq == 1 && e->is_rx == 1 && e->kind == kind && e->queue == FAKE_RQN);
	assert_int_equal(e->wqe, (uint16_t)answered);
	assert_memory_equal(e->wqe_bytes, &n.q.rq.wqe[slot], 16);
	assert_memory_equal(e->cqe, &n.q.rq.cq.cqe[slot], sizeof(e->cqe));
	assert_int_equal(n.error[CRL_QERROR_SQ].seq, 0);
}

/* Among frames that are good, one CQE that is not: those before it are as ever, it is told. */
static void
test_impossible(void **state)
{
	uint32_t good, nr;

	(void)state;
	for (uint32_t i = 0; i < 3000u; i++) {
		const uint32_t how = i % 5u;

		open_all(7, 7, 64);
		n.sink = on_frame;
		n.q.rq.cq.cqn = 1;
		came = answered = n.rq_at = n.rcq_pi = book_below(65536);
		n.q.rq.ci = n.q.rq.pi = n.q.rq.pi_told = n.q.rq.cq.ci = came;
		n.q.rq.cq.ci_told = came;
		n.rcq_rec[0] = crl_to_be32((uint32_t)came);
		turn_once(UINT64_MAX, 0);
		good = book_below(62);
		nr = good + 1u + book_below(62u - good);
		for (uint32_t k = 0; k < nr; k++) {
			uint64_t slot = n.rq_at & 127u;

			frame_comes();
			if (k != good)
				continue;
			came--;
			n.rcq_pi--;
			n.q.rq.cq.cqe[slot].byte_cnt =
				crl_to_be32(STRIDE - FAKE_HEADROOM + impossible[how].long_by);
			fake_cqe(&n, true, (uint8_t)impossible[how].opcode,
				(uint16_t)(n.rq_at - 1u + impossible[how].counter), 0x11);
			came++;
		}
		n.q.rq.cq.cqn = 0x99;
		if (good < 60u) {
			turn_once(good, nr);
			check_failed(impossible[how].kind);
			nic_turn(100);
			assert_int_equal(left, nr_expected);
		}
		fake_close(&n);
	}
}

/* A CQE of a buffer that the NIC was never given. */
static void
test_never_given(void **state)
{
	(void)state;
	open_all(4, 4, 64);
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	for (uint32_t k = 0; k < 16u; k++)
		frame_comes();
	n.q.rq.pi_told = 9;
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	assert_true(s.rxc.packets == 9 && n.error[CRL_QERROR_RQ].kind == CRL_QERR_COUNTER);
	fake_close(&n);
}

/*
 * What was released while a stream waits, fails or stops is met again when it goes on: loose is
 * what the table has, in whatever mode the stream was.
 */
static void
test_modes(void **state)
{
	enum crl_turn turn = CRL_TURN_IDLE;

	(void)state;
	for (uint32_t i = 0; i < 60u; i++) {
		open_all(5, 5, 16);
		n.sink = on_frame;
		crl_fwd_warp_turn(&warp, &s, &mem, judge);
		for (uint32_t k = 0; k < 14u; k++)
			frame_comes();
		turn_once(UINT64_MAX, pending());
		n.fail_at = book_below(nr_expected);
		nic_turn(100);
		for (uint32_t k = 0; k < 6u; k++)
			turn = crl_fwd_warp_turn(&warp, &s, &mem, judge);
		assert_true(s.mode == CRL_MODE_FAILED && turn == CRL_TURN_IDLE);
		if (i % 3u == 0) { /* it stands: its books are the host's, who changes them */
			n.q.rq.released[3] ^= 1u;
			s.loose = 77;
			crl_fwd_warp_turn(&warp, &s, &mem, judge);
			assert_int_equal(s.loose, 77);
			n.q.rq.released[3] ^= 1u;
		}
		crl_cq_fill(n.q.sq.cq.cqe, 5);
		memset(n.sq_rec, 0, sizeof(n.sq_rec));
		memset(n.scq_rec, 0, sizeof(n.scq_rec));
		n.sq_at = n.sq_told = n.scq_pi = n.uar = n.uar_seen = 0;
		n.fail_at = UINT64_MAX;
		n.ctl.rearm++;
		crl_fwd_warp_turn(&warp, &s, &mem, judge);
		assert_true(s.mode == CRL_MODE_RUN && s.loose == loose_there());
		assert_int_equal(n.q.rq.pi - n.q.rq.ci, 32);
		n.ctl.stop = 1;
		s.turns = 0;
		turn = crl_fwd_warp_turn(&warp, &s, &mem, judge);
		assert_int_equal(turn, CRL_TURN_LEFT);
		fake_close(&n);
	}
}

/* A receive queue that fails while its frames are under way: what comes back is in the table. */
static void
test_rx_fails(void **state)
{
	(void)state;
	open_all(5, 5, 16);
	n.sink = on_frame;
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	for (uint32_t k = 0; k < 14u; k++)
		frame_comes();
	turn_once(UINT64_MAX, pending());
	fake_cqe(&n, true, CRL_CQE_RESP_ERR, (uint16_t)n.rq_at, 0x11);
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	nic_turn(7);
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	assert_true(s.mode == CRL_MODE_FAILING && s.loose == loose_there());
	nic_turn(100);
	crl_fwd_warp_turn(&warp, &s, &mem, judge);
	assert_true(s.mode == CRL_MODE_FAILED && n.q.sq.ci == n.q.sq.posted);
	fake_close(&n);
}

static void
any_frame(void *arg, const uint8_t *frame, uint32_t len)
{
	(void)frame;
	assert_true(len == *(uint32_t *)arg);
	left++;
}

/* Of so many frames those that go into multi-packet sends of up to 30, and one that is left over
 * into a SEND. */
static uint32_t
model_empw(uint32_t frames, uint64_t room)
{
	uint32_t at = 0, k, bbs;

	while (at < frames) {
		k = frames - at < 30u ? frames - at : 30u;
		bbs = k > 1u ? (2u + k + 3u) / 4u : 1u;
		if (bbs > room)
			break;
		room -= bbs;
		at += k;
	}
	return at;
}

/* txonly's and flowgen's turns: as much as there is room for, and every count. */
static void
own_turn(bool flowgen, uint32_t frames)
{
	uint64_t pi = n.q.sq.pi, told = n.q.rq.pi_told, rung = n.q.sq.rung, room, sent, mine;
	uint32_t max = s.burst < 30u ? s.burst : s.burst / 30u * 30u, rx = pending(), back;
	static uint8_t was[65536];
	enum crl_turn turn;

	before = s;
	memcpy(was, n.txmem, sizeof(was));
	turn = flowgen ? crl_flowgen_warp_turn(&warp, &s, &mem)
		       : crl_txonly_warp_turn(&warp, &s, &mem);
	rx = !flowgen ? 0 : rx < max ? rx : max;
	room = (1ull << n.q.sq.log_depth) - (pi - n.q.sq.ci);
	if (flowgen && room > s.tx_slots - (pi - n.q.sq.ci))
		room = s.tx_slots > pi - n.q.sq.ci ? s.tx_slots - (pi - n.q.sq.ci) : 0;
	for (uint64_t k = n.q.sq.ci; before.tx_slots != 0 && k < pi; k++) /* the NIC reads these */
		assert_memory_equal(was + k % s.tx_slots * s.tx_stride,
			n.txmem + k % s.tx_slots * s.tx_stride, s.tx_stride);
	sent = s.txc.packets - before.txc.packets;
	back = (uint32_t)(s.txc.completions - before.txc.completions);
	mine = before.tx_slots ? before.tx_left : frames;
	mine = mine < max ? mine : max;
	if (!(n.q.sq.flags & CRL_SQ_EMPW) || flowgen || s.opts.txpkts_nr != 1u)
		assert_int_equal(sent, mine < room ? mine : room);
	else
		assert_int_equal(sent, model_empw((uint32_t)mine, room));
	assert_int_equal(s.txc.bytes - before.txc.bytes, sent * (flowgen ? 60u : 64u));
	assert_true(s.tx_left == (before.tx_slots ? before.tx_left : frames) - sent);
	assert_true(turn == (sent || back || rx || (flowgen && n.q.sq.ci != n.q.sq.pi)
					    ? CRL_TURN_BUSY
					    : CRL_TURN_IDLE));
	if (!flowgen) /* who has no frame left waits for no room */
		assert_int_equal(s.txc.full_waits - before.txc.full_waits, mine != 0 && sent == 0);
	answered += rx;
	assert_int_equal(s.rxc.packets - before.rxc.packets, rx);
	assert_int_equal(s.rxc.polls - before.rxc.polls, flowgen);
	assert_int_equal(s.rxc.idle_polls - before.rxc.idle_polls, flowgen && rx == 0);
	if (flowgen)
		check_told(told, rung);
	assert_true(n.q.sq.rung == n.q.sq.posted && n.q.sq.posted == n.q.sq.pi);
	assert_int_equal(s.txc.doorbells, before.txc.doorbells + (n.q.sq.posted != rung));
}

static void
test_own(void **state)
{
	uint32_t len, frames;

	(void)state;
	for (uint32_t i = 0; i < 300u; i++) {
		open_all(book_below(8), 5, 1u + book_below(64));
		n.sink = any_frame;
		n.arg = &len;
		len = i & 1u ? 60 : 64; /* flowgen's, txonly's */
		n.q.sq.flags = book_below(2) ? CRL_SQ_EMPW : 0;
		n.q.txbuf.bytes = 64u * (1u + book_below(100));
		frames = 1u + book_below(book_below(2) ? 2000 : 60);
		s.opts.txpkts_nr = (uint16_t)(1u + book_below(2));
		s.opts.txpkts[0] = s.opts.txpkts_nr == 1u ? 64 : 44;
		s.opts.txpkts[1] = 20;
		s.opts.tx_frames_max = frames;
		s.opts.flows = 1u + book_below(50);
		memset(&mem, 0xee, sizeof(mem));
		for (uint32_t t = 0; t < 40u; t++) {
			own_turn(i & 1u, frames);
			for (uint32_t k = i & 1u ? book_below(70) : 0; k > 0; k--)
				frame_comes();
			nic_turn(book_below(3) ? book_below(80) : 0);
		}
		assert_true(came != 0 || !(i & 1u));
		for (uint64_t k = 0; k < 1u << n.q.sq.log_depth; k++)
			assert_int_equal(n.q.sq.cookie[k], 0);
		fake_close(&n);
	}
}

/* An engine that can have no frames, or is told to stand: nothing is done. */
static void
test_none(void **state)
{
	(void)state;
	open_all(4, 4, 8);
	s.opts.txpkts_nr = 1;
	s.opts.txpkts[0] = 10; /* not even its headers */
	s.opts.flows = 4;
	assert_int_equal(crl_txonly_warp_turn(&warp, &s, &mem), CRL_TURN_IDLE);
	assert_int_equal(crl_flowgen_warp_turn(&warp, &s, &mem), CRL_TURN_IDLE);
	assert_true(n.uar == 0 && s.tx_slots == 0 && s.rxc.polls == 0);
	s.opts.txpkts[0] = 64;
	n.ctl.park = CRL_PARK_WISH & 1u;
	s.turns = 0;
	assert_int_equal(crl_txonly_warp_turn(&warp, &s, &mem), CRL_TURN_IDLE);
	assert_int_equal(crl_flowgen_warp_turn(&warp, &s, &mem), CRL_TURN_IDLE);
	assert_true(n.uar == 0 && s.tx_slots == 0 && s.mode == CRL_MODE_PARKED);
	n.ctl.stop = 1;
	assert_int_equal(crl_txonly_warp_turn(&warp, &s, &mem), CRL_TURN_LEFT);
	fake_close(&n);
	assert_true(crl_warp_can(&(struct crl_stream){.tx = NULL}));
	assert_true(crl_warp_can(&s));
	n.q.sq.inline_max = 1;
	assert_false(crl_warp_can(&s));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_never_given),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_rx_fails),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
