/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fwd.h: forwarding with rings of every shape never stops and never loses a slot, whatever the
 * NIC's pace; frames leave as they came, in order.
 */
#include "io_stream.h"

#include "gpu_queues/engines/macswap.h"
#include "gpu_queues/engines/rxonly.h"

struct tape {
	uint64_t next; /* number in the next frame that leaves */
	uint32_t swapped;
};

static void
check_frame(void *arg, const uint8_t *frame, uint32_t len)
{
	struct tape *t = arg;

	assert_int_equal(len, 64);
	assert_memory_equal(frame + 14, &t->next, 8);
	assert_memory_equal(frame, t->swapped ? "SSSSSSDDDDDD" : "DDDDDDSSSSSS", 12);
	t->next++;
}

/*
 * Sends total frames through; rx_pace, tx_pace: what the NIC does between two turns. Fails when
 * nothing moves for many turns. form: 0 a send a frame, 1 multi-packet by pointer, 2 inlined, 3 a
 * send a frame with its headers inlined.
 */
static void
forward(uint32_t log_sq, uint32_t log_rq, uint32_t burst, uint32_t rx_pace, uint32_t tx_pace,
	int form, uint32_t total)
{
	uint64_t sent = 0, before;
	uint32_t i, quiet = 0;
	struct crl_stream s;
	struct fake_nic n;
	struct tape t = {0, 0};
	uint8_t f[64];

	fake_open(&n, log_sq, log_rq, 128, form == 1 || form == 2);
	n.q.sq.inline_hdr = form == 3 ? CRL_INLINE_HDR_L2 : 0;
	n.q.sq.inline_max =
		form == 2 && log_sq > 0 ? 64 : 0; /* engine.c refuses what does not fit */
	stream_open(&s, &n, burst);
	n.sink = check_frame;
	n.arg = &t;
	while (t.next < total) {
		before = t.next + sent;
		for (i = 0; i < rx_pace && sent < total; i++) {
			make_frame(f, sent);
			sent += fake_receive(&n, f, 64);
		}
		assert_int_not_equal(crl_fwd_turn(&s, crl_io_packet), CRL_TURN_LEFT);
		fake_doorbell(&n);
		fake_send(&n, tx_pace);
		quiet = before == t.next + sent ? quiet + 1 : 0;
		assert_true(quiet < 16); /* deadlock */
	}
	for (i = 0; i < 4; i++)
		crl_fwd_turn(&s, crl_io_packet);
	assert_int_equal(n.q.rq.pi - n.q.rq.ci, 1u << log_rq); /* every slot is the NIC's again */
	assert_true(n.q.sq.ci == n.q.sq.pi);
	assert_int_equal(s.rxc.packets, total);
	assert_int_equal(s.txc.packets, total);
	assert_int_equal(s.rxc.dropped + s.txc.dropped, 0);
	fake_close(&n);
}

static void
no_deadlock(void **state)
{
	static const uint32_t bursts[] = {1, 2, 3, 32, 64}, paces[] = {1, 2, 64};
	uint32_t sq, rq, b, r, t, e;

	for (sq = 0; sq <= 6; sq++)
		for (rq = 0; rq <= 6; rq++)
			for (b = 0; b < 5; b++)
				for (r = 0; r < 3; r++)
					for (t = 0; t < 3; t++)
						for (e = 0; e < 4; e++)
							forward(sq, rq, bursts[b], paces[r],
								paces[t], e, 300);
}

static void
long_run(void **state)
{
	forward(9, 9, 32, 64, 64, true, 200000);
	forward(9, 9, 32, 64, 64, 2, 200000);
	forward(9, 9, 32, 64, 64, false, 200000);
	forward(9, 9, 32, 64, 64, 3, 200000);
	forward(2, 15, 64, 64, 64, true, 100000);
	forward(15, 2, 64, 64, 64, false, 100000);
}

/* What travels in the WQE has left its slot: it is the NIC's again before the send is over. */
static void
inlined_at_once(void **state)
{
	struct tape t = {0, 0};
	struct crl_stream s;
	struct fake_nic n;
	uint8_t f[64];

	fake_open(&n, 4, 2, 128, true);
	n.q.sq.inline_max = 64;
	stream_open(&s, &n, 8);
	n.sink = check_frame;
	n.arg = &t;
	crl_fwd_turn(&s, crl_io_packet);
	for (uint64_t i = 0; i < 3; i++) {
		make_frame(f, i);
		assert_true(fake_receive(&n, f, 64));
		crl_fwd_turn(&s, crl_io_packet);
		assert_int_equal(n.q.rq.pi_told - n.q.rq.ci, 4);
		memset(n.q.rq.buf, 0xee, 4 * 128); /* the NIC may write there at once */
	}
	assert_int_equal(n.q.sq.ci, 0);
	fake_doorbell(&n);
	assert_int_equal(fake_send(&n, 64), 3);
	assert_int_equal(t.next, 3);
	fake_close(&n);
}

/* The rule is needed: the same rings without it stop, which the loop above would see. */
static void
rule_is_needed(void **state)
{
	struct crl_piece p = {NULL, 0, 60, FAKE_LKEY};
	struct fake_nic n;
	uint64_t pi = 0, cookie;
	uint32_t i;

	fake_open(&n, 2, 2, 128, false);
	p.iova = n.q.txbuf.iova;
	n.q.sq.signal_every = 1000;
	for (i = 0; i < 4; i++) {
		assert_int_equal(crl_sq_reserve(&n.q.sq, 1, &pi), CRL_OK);
		crl_sq_put_send(&n.q.sq, pi, &p, 1, 0, false, i);
	}
	n.q.sq.signalled = n.q.sq.posted; /* what a doorbell without the rule would believe */
	crl_sq_ring(&n.q.sq);
	fake_doorbell(&n);
	assert_int_equal(fake_send(&n, 4), 4);
	assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 4), CRL_AGAIN);
	assert_int_equal(crl_sq_take(&n.q.sq, &cookie), CRL_AGAIN);
	assert_int_equal(crl_sq_room(&n.q.sq), 0);
	fake_close(&n);
}

static enum crl_verdict
drop_odd(struct crl_stream *s, struct crl_pkt *pkt)
{
	return pkt->data[14] & 1u ? CRL_DROP : CRL_SEND;
}

static void
count_frame(void *arg, const uint8_t *frame, uint32_t len)
{
	uint64_t *next = arg, nr;

	memcpy(&nr, frame + 14, 8);
	assert_true(nr == *next);
	*next += 2;
}

/* Drops between sends: the runs break, the slots still go back in order and all of them. */
static void
drops_between(void **state)
{
	uint64_t sent = 0, next = 0;
	struct crl_stream s;
	struct fake_nic n;
	uint8_t f[64];
	uint32_t i;

	fake_open(&n, 5, 4, 128, true);
	stream_open(&s, &n, 8);
	n.sink = count_frame;
	n.arg = &next;
	while (next < 4000) {
		for (i = 0; i < 5; i++) {
			make_frame(f, sent);
			sent += fake_receive(&n, f, 64);
		}
		crl_fwd_turn(&s, drop_odd);
		fake_doorbell(&n);
		fake_send(&n, 3);
	}
	assert_true(s.rxc.dropped > 1900);
	assert_int_equal(s.txc.dropped, 0);
	fake_close(&n);
}

static void
macswap(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	struct tape t = {0, 1};
	uint8_t f[64];

	fake_open(&n, 4, 4, 128, true);
	stream_open(&s, &n, 8);
	n.sink = check_frame;
	n.arg = &t;
	crl_fwd_turn(&s, crl_macswap_packet);
	make_frame(f, 0);
	assert_true(fake_receive(&n, f, 64));
	make_frame(f, 1);
	assert_true(fake_receive(&n, f, 64));
	assert_true(fake_receive(&n, f, 13)); /* no Ethernet frame: dropped */
	assert_int_equal(crl_fwd_turn(&s, crl_macswap_packet), CRL_TURN_BUSY);
	fake_doorbell(&n);
	assert_int_equal(fake_send(&n, 8), 1); /* one multi-packet send */
	assert_int_equal(t.next, 2);
	assert_int_equal(s.rxc.dropped, 1);
	assert_int_equal(s.txc.doorbells, 1);
	fake_close(&n);
}

static void
rxonly(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	uint32_t i;

	fake_open(&n, 4, 4, 128, true);
	stream_open(&s, &n, 8);
	s.tx = NULL;
	for (i = 0; i < 1000; i++) {
		crl_fwd_turn(&s, crl_rxonly_packet);
		assert_true(fake_receive_flags(&n, "0123456789", 10, i % 2 ? 7 : 1, 0x28));
	}
	crl_fwd_turn(&s, crl_rxonly_packet);
	assert_int_equal(s.rxc.packets, 1000);
	assert_int_equal(s.rxc.bytes, 10000);
	assert_int_equal(s.rxc.csum_bad, 500);
	assert_int_equal(s.rxc.dropped, 0);
	assert_int_equal(s.rxc.polls, 1001);
	assert_int_equal(s.rxc.idle_polls, 1);
	assert_int_equal(s.rxc.refills, 1001); /* the first gives all slots */
	fake_close(&n);
}

/* A fragment has no checksum of layer 4 to be wrong, nor has what has no layer 4. */
static void
bad_checksums(void **state)
{
	const uint8_t ip4 = CRL_CQE_L3_IPV4 << CRL_CQE_L3_SHIFT, l4 = 1u << CRL_CQE_L4_SHIFT;
	struct crl_pkt pkt = {.types = ip4 | l4, .csum_ok = CRL_CQE_L3_OK | CRL_CQE_L4_OK};

	assert_false(crl_fwd_csum_bad(&pkt));
	pkt.csum_ok = CRL_CQE_L3_OK;
	assert_true(crl_fwd_csum_bad(&pkt));
	pkt.types = ip4 | l4 | CRL_CQE_IP_FRAG;
	assert_false(crl_fwd_csum_bad(&pkt));
	pkt.types = ip4;
	assert_false(crl_fwd_csum_bad(&pkt));
	pkt.csum_ok = CRL_CQE_L4_OK;
	assert_true(crl_fwd_csum_bad(&pkt));
	pkt.types = l4;
	assert_false(crl_fwd_csum_bad(&pkt));
}

/* One frame by pointer among inlined ones, wherever it stands. */
static void
all_inlined(void **state)
{
	static const uint32_t len[][3] = {
		{20, 20, 20}, {200, 20, 20}, {20, 200, 20}, {20, 20, 200}};
	struct crl_sq sq = {.inline_max = 64};
	struct crl_piece piece[3] = {0};

	for (uint32_t i = 0; i < 4u; i++) {
		for (uint32_t k = 0; k < 3u; k++)
			piece[k].len = len[i][k];
		assert_true(crl_fwd_all_inlined(&sq, piece, 3) == (i == 0));
	}
}

/* Nothing is written where the ring is full, or the queue not ready: as one send, or as several in
 * one. */
static void
no_post(void **state)
{
	struct crl_pkt pkt[2] = {{.len = 64}, {.index = 1, .len = 64}};
	struct crl_stream s;
	struct fake_nic n;

	fake_open(&n, 2, 2, 128, true);
	stream_open(&s, &n, 2);
	n.q.sq.state = CRL_QS_FAILED;
	assert_int_equal(crl_fwd_post(&s, pkt, 2), 0);
	assert_int_equal(crl_fwd_post(&s, pkt, 1), 0);
	n.q.sq.state = CRL_QS_READY;
	n.q.sq.pi = 4;
	assert_int_equal(crl_fwd_post(&s, pkt, 2), 0);
	assert_int_equal(n.q.sq.posted, 0);
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_deadlock),
		cmocka_unit_test(long_run),
		cmocka_unit_test(inlined_at_once),
		cmocka_unit_test(rule_is_needed),
		cmocka_unit_test(drops_between),
		cmocka_unit_test(macswap),
		cmocka_unit_test(rxonly),
		cmocka_unit_test(bad_checksums),
		cmocka_unit_test(all_inlined),
		cmocka_unit_test(no_post),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
