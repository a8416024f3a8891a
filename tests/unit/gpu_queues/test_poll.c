/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq_poll.h and rq_refill.h: owner bits over many laps, wraps at 2^16 and 2^24, each error that a
 * CQE can show, cookies in order with multi-WQEBB sends, release in any order, give-back in order.
 */
#include "fake_nic.h"

#include "gpu_queues/cq_poll.h"
#include "gpu_queues/rq_refill.h"
#include "gpu_queues/sq_doorbell.h"
#include "gpu_queues/sq_post.h"
#include "gpu_queues/sq_reserve.h"

static void
post(struct fake_nic *n, uint32_t pieces, bool signal, uint64_t cookie)
{
	struct crl_piece p[16];
	uint32_t i;
	uint64_t pi = 0;

	for (i = 0; i < pieces; i++)
		p[i] = (struct crl_piece){NULL, n->q.txbuf.iova, 60, FAKE_LKEY};
	assert_int_equal(crl_sq_reserve(&n->q.sq, crl_wqebbs(2 + pieces), &pi), CRL_OK);
	crl_sq_put_send(&n->q.sq, pi, p, pieces, 0, signal, cookie);
}

static void
ring(struct fake_nic *n)
{
	assert_true(crl_sq_ring(&n->q.sq));
	assert_true(fake_doorbell(n));
}

/* Sends in groups of every size; the cookies come back once, in order, at every depth, past 2^16.
 */
static void
cookies(void **state)
{
	uint64_t next, back, cookie;
	struct fake_nic n;
	uint32_t log, i, group, want;

	for (log = 0; log <= CRL_LOG_DEPTH_MAX; log++) {
		fake_open(&n, log, 15, 64, false);
		want = log < 12 ? 70000 : 140000;
		next = back = 1;
		for (group = 1; next < want; group = group % (1u << log) + 1u) {
			for (i = 0; i < group; i++)
				post(&n, 1, false, next++);
			ring(&n);
			assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 64), CRL_AGAIN);
			assert_int_equal(crl_sq_take(&n.q.sq, &cookie), CRL_AGAIN);
			assert_int_equal(fake_send(&n, group), group);
			while (crl_sq_poll(&n.q.sq, &n.error[0], 64) == CRL_OK) {
				while (crl_sq_take(&n.q.sq, &cookie) == CRL_OK)
					assert_true(cookie == back++);
			}
			assert_true(back == next);
			crl_rq_refill(NULL, &n.q.sq);
		}
		fake_close(&n);
	}
}

/* Sends of 1 to 4 WQEBBs: the CQE names the first, the end table knows the last. */
static void
end_table(void **state)
{
	uint64_t next = 1, back = 1, cookie;
	struct fake_nic n;
	uint32_t round;

	fake_open(&n, 3, 15, 64, false);
	for (round = 0; round < 40000; round++) {
		post(&n, 1 + round % 13, round % 3 == 0, next++);
		if (crl_sq_room(&n.q.sq) >= 4 && round % 5)
			continue;
		ring(&n);
		fake_send(&n, 8);
		assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 8), CRL_OK);
		while (crl_sq_take(&n.q.sq, &cookie) == CRL_OK)
			assert_true(cookie == back++);
		assert_true(back == next && crl_sq_room(&n.q.sq) == 8);
		crl_rq_refill(NULL, &n.q.sq);
	}
	fake_close(&n);
}

static void
collapsed(void **state)
{
	uint64_t next = 1, back = 1, cookie;
	struct fake_nic n;
	uint32_t round;

	fake_open(&n, 4, 15, 64, false);
	n.q.sq.cq.flags = CRL_CQ_COLLAPSED;
	for (round = 0; round < 20000; round++) {
		post(&n, 1 + round % 7, true, next++);
		post(&n, 1, true, next++);
		ring(&n);
		assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 8), CRL_AGAIN);
		fake_send(&n, 1 + round % 2);
		assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 8), CRL_OK);
		assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 8), CRL_AGAIN);
		fake_send(&n, 2);
		crl_sq_poll(&n.q.sq, &n.error[0], 8);
		while (crl_sq_take(&n.q.sq, &cookie) == CRL_OK)
			assert_true(cookie == back++);
		assert_true(back == next);
		assert_false(crl_cq_giveback(&n.q.sq.cq));
	}
	assert_int_equal(n.scq_rec[0].be, 0);
	fake_close(&n);
}

/* WQE 3 of 5 fails: those before were sent, it and those after were not, each cookie comes once. */
static void
send_error(void **state)
{
	uint64_t cookie, i;
	struct fake_nic n;

	fake_open(&n, 4, 15, 64, false);
	n.q.sq.signal_every = 16;
	n.fail_at = 2;
	for (i = 0; i < 5; i++)
		post(&n, 1, false, 100 + i);
	ring(&n);
	fake_send(&n, 5);
	assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 8), CRL_FAILED);
	assert_int_equal(n.q.sq.state, CRL_QS_FAILED);
	for (i = 0; i < 5; i++) {
		assert_int_equal(crl_sq_take(&n.q.sq, &cookie), i < 2 ? CRL_OK : CRL_FAILED);
		assert_true(cookie == 100 + i);
	}
	assert_int_equal(crl_sq_take(&n.q.sq, &cookie), CRL_AGAIN);
	assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 8), CRL_FAILED);
	assert_int_equal(n.error[0].seq, 1);
	assert_int_equal(n.error[0].status, CRL_FAILED);
	assert_int_equal(n.error[0].queue, FAKE_SQN);
	assert_int_equal(n.error[0].wqe, 2);
	assert_int_equal(n.error[0].syndrome, CRL_SYND_LOCAL_PROT);
	assert_int_equal(n.error[0].vendor, 0x77);
	assert_int_equal(n.error[0].is_rx, 0);
	assert_int_equal(n.error[0].kind, CRL_QERR_CQE);
	assert_memory_equal(n.error[0].wqe_bytes, n.q.sq.wqe + 2 * 64, 64);
	assert_memory_equal(n.error[0].cqe, n.q.sq.cq.cqe, 64);
	/* and not the one copied over the other */
	assert_int_equal(n.error[0].cqe[0x37], CRL_SYND_LOCAL_PROT);
	assert_int_equal(n.error[0].wqe_bytes[3], CRL_OPCODE_SEND);
	fake_close(&n);
}

/* No more CQEs are taken than were asked for, and none where nothing is under way. */
static void
poll_at_most(void **state)
{
	uint64_t cookie;
	struct fake_nic n;
	uint32_t i;

	fake_open(&n, 3, 15, 64, false);
	for (i = 0; i < 3; i++)
		post(&n, 1, true, 1 + i);
	ring(&n);
	fake_send(&n, 3);
	assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 0), CRL_AGAIN);
	assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 1), CRL_OK);
	assert_int_equal(n.q.sq.completed, 1);
	assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 5), CRL_OK);
	assert_int_equal(n.q.sq.completed, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(crl_sq_take(&n.q.sq, &cookie), CRL_OK);
	assert_int_equal(crl_sq_take(&n.q.sq, &cookie), CRL_AGAIN);
	fake_close(&n);
}

/* What no NIC should write: another opcode, or a counter that is not in flight. */
static void
send_nonsense(void **state)
{
	struct fake_nic n;
	uint32_t bad;

	for (bad = 0; bad < 2; bad++) {
		fake_open(&n, 4, 15, 64, false);
		post(&n, 1, true, 1);
		ring(&n);
		fake_cqe(&n, false, bad ? CRL_CQE_REQ : CRL_CQE_RESP_SEND, bad ? 1 : 0, 0);
		assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 8), CRL_FAILED);
		assert_int_equal(n.error[0].kind, bad ? CRL_QERR_COUNTER : CRL_QERR_OPCODE);
		assert_int_equal(n.error[0].syndrome, 0);
		fake_close(&n);
	}
}

/* The first error stays; a queue without a mailbox fails all the same. */
static void
mailbox_keeps_first(void **state)
{
	struct fake_nic n;

	fake_open(&n, 4, 15, 64, false);
	crl_qerror_put(&n.error[0], CRL_QERR_OPCODE, true, 5, 6, NULL, NULL);
	crl_qerror_put(&n.error[0], CRL_QERR_COUNTER, false, 7, 8, NULL, NULL);
	assert_int_equal(n.error[0].kind, CRL_QERR_OPCODE);
	assert_int_equal(n.error[0].queue, 5);
	crl_qerror_put(NULL, CRL_QERR_COUNTER, false, 7, 8, NULL, NULL);
	n.fail_at = 0;
	post(&n, 1, true, 1);
	ring(&n);
	fake_send(&n, 1);
	assert_int_equal(crl_sq_poll(&n.q.sq, NULL, 8), CRL_FAILED);
	fake_close(&n);
}

/* Packets through every depth, past 2^16 slots, released at once; the CQ's record follows. */
static void
receive(void **state)
{
	struct crl_pkt pkt[64];
	struct fake_nic n;
	uint32_t log, i, got, burst;
	uint64_t sent, seen;

	for (log = 0; log <= CRL_LOG_DEPTH_MAX; log++) {
		fake_open(&n, 0, log, 64, false);
		assert_false(fake_receive(&n, "x", 1)); /* nothing was given to the NIC yet */
		assert_int_equal(crl_rq_refill(&n.q.rq, NULL), 1u << log);
		assert_int_equal(crl_rq_refill(&n.q.rq, NULL), 0);
		assert_int_equal(crl_rq_poll(&n.q.rq, &n.error[1], pkt, 64, &got), CRL_AGAIN);
		for (sent = seen = 0, burst = 1; seen < 70000; burst = burst % 70 + 1) {
			for (i = 0; i < burst && fake_receive(&n, &sent, 8); i++)
				sent++;
			while (crl_rq_poll(&n.q.rq, &n.error[1], pkt, 64, &got) == CRL_OK) {
				for (i = 0; i < got; i++, seen++) {
					assert_true(pkt[i].index == seen && pkt[i].len == 8);
					assert_memory_equal(pkt[i].data, &seen, 8);
					assert_true(
						pkt[i].iova == (uintptr_t)pkt[i].data + FAKE_IOVA);
					assert_int_equal(pkt[i].room, 62);
					crl_rq_release(&n.q.rq, pkt[i].index);
				}
				crl_rq_refill(&n.q.rq, NULL);
			}
			assert_true(seen == sent);
			assert_int_equal(crl_from_be32(n.rcq_rec[0]), seen & 0xffffff);
			assert_int_equal(
				crl_from_be32(n.rq_rec[0]), (uint16_t)(seen + (1u << log)));
		}
		fake_close(&n);
	}
}

/* A CQ's consumer index goes round 2^24 in its record. */
static void
cq_record_wraps(void **state)
{
	struct fake_nic n;

	fake_open(&n, 4, 4, 64, false);
	n.q.rq.cq.ci = n.q.rq.cq.ci_told = 0xffffff;
	assert_false(crl_cq_giveback(&n.q.rq.cq));
	n.q.rq.cq.ci = 0x1000001;
	assert_true(crl_cq_giveback(&n.q.rq.cq));
	assert_int_equal(crl_from_be32(n.rcq_rec[0]), 1);
	n.q.rq.cq.ci++;
	n.q.rq.cq.flags = CRL_CQ_OVERRUN_IGNORE;
	assert_false(crl_cq_giveback(&n.q.rq.cq));
	assert_false(crl_giveback_due(&n.q.rq, NULL, 0)); /* nor a fence for it, at each turn */
	assert_int_equal(crl_from_be32(n.rcq_rec[0]), 1);
	fake_close(&n);
}

/* Released backwards: nothing goes back before the oldest, then all at once. */
static void
release_in_order(void **state)
{
	struct crl_pkt pkt[8];
	struct fake_nic n;
	uint32_t got, i;

	fake_open(&n, 0, 3, 64, false);
	crl_rq_refill(&n.q.rq, NULL);
	for (i = 0; i < 8; i++)
		assert_true(fake_receive(&n, "frame", 5));
	assert_false(fake_receive(&n, "frame", 5));
	assert_int_equal(crl_rq_poll(&n.q.rq, &n.error[1], pkt, 8, &got), CRL_OK);
	assert_int_equal(got, 8);
	for (i = 7; i > 0; i--) {
		crl_rq_release(&n.q.rq, i);
		assert_int_equal(crl_rq_refill(&n.q.rq, NULL), 0);
		assert_int_equal(crl_from_be32(n.rq_rec[0]), 8);
	}
	crl_rq_release(&n.q.rq, 0);
	assert_int_equal(crl_rq_refill(&n.q.rq, NULL), 8);
	assert_int_equal(crl_from_be32(n.rq_rec[0]), 16);
	fake_close(&n);
}

static void
packet_fields(void **state)
{
	struct crl_pkt pkt;
	struct fake_nic n;
	uint32_t got;

	fake_open(&n, 0, 2, 256, false);
	crl_rq_refill(&n.q.rq, NULL);
	n.q.rq.cq.cqe[0].rx_hash_result = crl_to_be32(0xdeadbeef);
	n.q.rq.cq.cqe[0].metadata = crl_to_be32(0x01020304);
	n.q.rq.cq.cqe[0].vlan_info = crl_to_be16(0x1064);
	fake_receive_flags(&n, "abc", 3, CRL_CQE_L2_OK | CRL_CQE_L4_OK, 0x29);
	assert_int_equal(crl_rq_poll(&n.q.rq, &n.error[1], &pkt, 1, &got), CRL_OK);
	assert_int_equal(pkt.hash, 0xdeadbeef);
	assert_int_equal(pkt.metadata, 0x01020304);
	assert_int_equal(pkt.vlan, 0x1064);
	assert_int_equal(pkt.csum_ok, CRL_CQE_L2_OK | CRL_CQE_L4_OK);
	assert_int_equal(pkt.types, 0x29);
	fake_close(&n);
}

/* Two good packets, then each thing that can be wrong: the good ones are given, then the queue
 * fails. */
static void
receive_errors(void **state)
{
	static const uint8_t kinds[] = {
		CRL_QERR_CQE, CRL_QERR_OPCODE, CRL_QERR_COUNTER, CRL_QERR_LENGTH};
	struct crl_pkt pkt[8];
	struct fake_nic n;
	uint32_t got, i;

	for (i = 0; i < 4; i++) {
		fake_open(&n, 0, 3, 64, false);
		crl_rq_refill(&n.q.rq, NULL);
		fake_receive(&n, "one", 3);
		fake_receive(&n, "two", 3);
		n.q.rq.cq.cqe[2].byte_cnt = crl_to_be32(63); /* a buffer has 62 */
		fake_cqe(&n, true,
			i == 0	 ? CRL_CQE_RESP_ERR
			: i == 1 ? CRL_CQE_REQ
				 : CRL_CQE_RESP_SEND,
			i == 2 ? 3 : 2, CRL_SYND_WR_FLUSH);
		assert_int_equal(crl_rq_poll(&n.q.rq, &n.error[1], pkt, 8, &got), CRL_FAILED);
		assert_int_equal(got, 2);
		assert_int_equal(n.error[1].kind, kinds[i]);
		assert_int_equal(n.error[1].is_rx, 1);
		assert_int_equal(n.error[1].queue, FAKE_RQN);
		assert_int_equal(n.error[1].wqe, 2);
		assert_int_equal(n.error[1].cqe[0x3d], i == 2 ? 3 : 2);
		assert_memory_equal(n.error[1].wqe_bytes, "\x00\x00\x00\x3e\x00\x00\xab\xcd", 8);
		assert_int_equal(n.error[1].syndrome, i == 0 ? CRL_SYND_WR_FLUSH : 0);
		assert_int_equal(crl_rq_poll(&n.q.rq, &n.error[1], pkt, 8, &got), CRL_FAILED);
		assert_int_equal(got, 0);
		crl_rq_release(&n.q.rq, 0);
		assert_int_equal(
			crl_rq_refill(&n.q.rq, NULL), 0); /* a failed queue gets no buffers */
		fake_close(&n);
	}
}

/*
 * A CQE that names the second WQEBB of a WQE: the table of ends has an older lap's entry there,
 * which lies behind what is completed already.
 */
static void
middle_of_a_wqe(void **state)
{
	struct fake_nic n;
	uint64_t cookie;
	uint32_t i;

	fake_open(&n, 2, 15, 64, false);
	for (i = 0; i < 4; i++)
		post(&n, 1, true, i);
	ring(&n);
	fake_send(&n, 4);
	assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 8), CRL_OK);
	while (crl_sq_take(&n.q.sq, &cookie) == CRL_OK)
		;
	crl_rq_refill(NULL, &n.q.sq);
	post(&n, 6, true, 77);
	ring(&n);
	fake_cqe(&n, false, CRL_CQE_REQ, 5, 0);
	assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 8), CRL_FAILED);
	assert_int_equal(n.error[0].kind, CRL_QERR_COUNTER);
	assert_true(n.q.sq.completed == 4);
	assert_int_equal(crl_sq_take(&n.q.sq, &cookie), CRL_FAILED);
	assert_true(cookie == 77);
	fake_close(&n);
}

/* An error far from index 0 names its own WQE; a queue that is not ready gives no packets. */
static void
receive_error_late(void **state)
{
	struct crl_pkt pkt[8];
	struct fake_nic n;
	struct crl_rq *rq = &n.q.rq;
	uint32_t got;

	fake_open(&n, 0, 3, 64, false);
	rq->ci = rq->pi = rq->pi_told = rq->cq.ci = rq->cq.ci_told = 0xc00d;
	n.rq_at = n.rcq_pi = 0xc00d;
	n.rcq_rec[0] = crl_to_be32(0xc00d);
	crl_rq_refill(rq, NULL);
	fake_cqe(&n, true, CRL_CQE_RESP_ERR, 0xc00d, CRL_SYND_WR_FLUSH);
	rq->state = CRL_QS_RESET;
	assert_int_equal(crl_rq_poll(rq, &n.error[1], pkt, 8, &got), CRL_FAILED);
	assert_int_equal(n.error[1].seq, 0);
	rq->state = CRL_QS_READY;
	assert_int_equal(crl_rq_poll(rq, &n.error[1], pkt, 8, &got), CRL_FAILED);
	assert_int_equal(n.error[1].seq, 1);
	assert_int_equal(n.error[1].wqe, 0xc00d);
	assert_memory_equal(n.error[1].wqe_bytes, &rq->wqe[5], 16);
	fake_close(&n);
}

/* A WQE cannot end where it began; a frame may fill its buffer to the last byte. */
static void
limits(void **state)
{
	struct fake_nic n;
	struct crl_pkt pkt;
	uint8_t f[64] = {0};
	uint32_t got;

	fake_open(&n, 3, 3, 64, false);
	post(&n, 1, true, 0);
	ring(&n);
	n.q.sq.end[0] = 0;
	assert_int_equal(fake_send(&n, 1), 1);
	assert_int_equal(crl_sq_poll(&n.q.sq, &n.error[0], 8), CRL_FAILED);
	assert_int_equal(n.error[0].kind, CRL_QERR_COUNTER);
	assert_true(crl_rq_refill(&n.q.rq, NULL) != 0 && fake_receive(&n, f, 64 - FAKE_HEADROOM));
	assert_int_equal(crl_rq_poll(&n.q.rq, &n.error[1], &pkt, 1, &got), CRL_OK);
	assert_true(got == 1 && pkt.len == 64 - FAKE_HEADROOM && pkt.room == pkt.len);
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cookies),
		cmocka_unit_test(end_table),
		cmocka_unit_test(collapsed),
		cmocka_unit_test(send_error),
		cmocka_unit_test(poll_at_most),
		cmocka_unit_test(send_nonsense),
		cmocka_unit_test(middle_of_a_wqe),
		cmocka_unit_test(mailbox_keeps_first),
		cmocka_unit_test(receive),
		cmocka_unit_test(cq_record_wraps),
		cmocka_unit_test(release_in_order),
		cmocka_unit_test(packet_fields),
		cmocka_unit_test(receive_errors),
		cmocka_unit_test(receive_error_late),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
