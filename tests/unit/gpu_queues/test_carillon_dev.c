/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carillon_dev.h as a program would use it: send, receive, wait with bounds, and each status that
 * each call can return.
 */
#include "fake_nic.h"

#include "gpu_queues/carillon_dev.h"

#define MS 1000000ull

static void
send_and_take(void **state)
{
	struct crl_queue_dev *q;
	struct crl_wc wc[8];
	struct fake_nic n;
	uint64_t pi = 0, i, back = 0;
	uint32_t got, round;

	fake_open(&n, 3, 3, 128, false);
	q = &n.q;
	for (round = 0; round < 20000; round++) {
		assert_int_equal(crl_tx_reserve(q, 5, 0, &pi), CRL_OK);
		for (i = 0; i < 5; i++)
			crl_tx_frame(
				q, pi + i, q->txbuf.iova, 60, pi + i, i == 1 ? CRL_TX_SIGNAL : 0);
		crl_tx_ring(q, pi + 5);
		assert_int_equal(crl_tx_done(q, wc, 8, &got), CRL_AGAIN);
		assert_int_equal(got, 0);
		assert_true(fake_doorbell(&n));
		fake_send(&n, 2); /* the second was signalled by its flag */
		assert_int_equal(crl_tx_done(q, wc, 1, &got), CRL_OK);
		assert_int_equal(got, 1); /* no more than asked for */
		assert_true(wc[0].cookie == back && wc[0].status == CRL_OK);
		fake_send(&n, 3);
		assert_int_equal(crl_tx_done(q, wc, 8, &got), CRL_OK);
		assert_int_equal(got, 4);
		assert_true(wc[3].cookie == back + 4);
		back += 5;
	}
	assert_int_equal(n.frames, 100000);
	fake_close(&n);
}

static void
count_bytes(void *arg, const uint8_t *frame, uint32_t len)
{
	assert_memory_equal(frame, arg, len);
}

/* Where the NIC wants headers in the WQE: frames in the queue's buffers, in txbuf, and elsewhere.
 */
static void
inlined_headers(void **state)
{
	static CRL_ALIGNAS(2) uint8_t mine[100];
	uint64_t pi = 0, at = (uint64_t)(uintptr_t)mine + FAKE_IOVA;
	struct fake_nic n;
	uint32_t i;

	fake_open(&n, 3, 3, 128, false);
	n.q.sq.inline_hdr = CRL_INLINE_HDR_L2;
	for (i = 0; i < sizeof(mine); i++)
		mine[i] = (uint8_t)(i + 1u);
	memcpy(n.txmem + 4000, mine, 60);
	memcpy(n.q.rq.buf + 7 * 128 + 28, mine, 60);
	n.sink = count_bytes;
	n.arg = mine;
	assert_int_equal(crl_tx_reserve(&n.q, 4, 0, &pi), CRL_OK);
	crl_tx_frame(&n.q, pi, n.q.txbuf.iova + 4000, 60, 0, 0);
	crl_tx_frame(&n.q, pi + 1, n.q.rq.buf_iova + 7 * 128 + 28, 60, 0, 0);
	crl_tx_frame_data(&n.q, pi + 2, mine, at, 100, 0, 0, 0);
	crl_tx_frame_data(&n.q, pi + 3, mine, at, 18, 0, 0, 0);
	crl_tx_ring(&n.q, pi + 4);
	assert_true(fake_doorbell(&n));
	assert_int_equal(fake_send(&n, 4), 4);
	assert_int_equal(n.frames, 4);
	/* One past each end is nobody's: by pointer, which such a NIC refuses. */
	assert_null(crl_tx_data(&n.q, n.q.txbuf.iova + n.q.txbuf.bytes));
	assert_null(crl_tx_data(&n.q, n.q.rq.buf_iova + 8 * 128));
	assert_ptr_equal(crl_tx_data(&n.q, n.q.rq.buf_iova + 8 * 128 - 1), n.q.rq.buf + 1023);
	fake_close(&n);
}

static void
reserve_waits(void **state)
{
	struct crl_wc wc[8];
	struct fake_nic n;
	uint64_t pi = 0, start;
	uint32_t i, got;

	fake_open(&n, 3, 3, 128, false);
	assert_int_equal(crl_tx_reserve(&n.q, 9, MS, &pi), CRL_INVALID);
	assert_int_equal(crl_tx_reserve(&n.q, 0, MS, &pi), CRL_INVALID);
	assert_int_equal(crl_tx_reserve(&n.q, 8, MS, &pi), CRL_OK);
	for (i = 0; i < 8; i++)
		crl_tx_frame(&n.q, pi + i, n.q.txbuf.iova, 60, i, 0);
	crl_tx_ring(&n.q, pi + 8);
	assert_int_equal(crl_tx_reserve(&n.q, 1, 0, &pi), CRL_AGAIN);
	start = crl_now_ns();
	assert_int_equal(crl_tx_reserve(&n.q, 1, 5 * MS, &pi), CRL_STUCK);
	assert_true(crl_now_ns() - start >= 5 * MS && crl_now_ns() - start < 5000 * MS);
	fake_doorbell(&n);
	fake_send(&n, 8);
	assert_int_equal(crl_tx_reserve(&n.q, 1, 5000 * MS, &pi), CRL_AGAIN); /* cookies first */
	assert_int_equal(crl_tx_reserve(&n.q, 1, 5000 * MS, &pi), CRL_AGAIN);
	assert_int_equal(crl_tx_done(&n.q, wc, 8, &got), CRL_OK);
	assert_int_equal(crl_tx_reserve(&n.q, 1, 0, &pi), CRL_OK);
	fake_close(&n);
}

static void
keys_and_checksums(void **state)
{
	struct fake_nic n;
	uint64_t pi = 0;

	fake_open(&n, 2, 2, 128, false);
	n.q.sq.signal_every = 4; /* by the rule alone neither is signalled */
	assert_int_equal(crl_tx_reserve(&n.q, 2, 0, &pi), CRL_OK);
	crl_tx_frame(&n.q, pi, 0x1000, 60, 0, CRL_TX_L3_CSUM | CRL_TX_L4_CSUM);
	crl_tx_frame_key(&n.q, pi + 1, 0x1000, 60, 0x99, 0, CRL_TX_SIGNAL);
	assert_int_equal(n.q.sq.wqe[16 + 4], 0xc0);
	assert_memory_equal(n.q.sq.wqe + 36, "\x00\x00\xab\xcd", 4);
	assert_int_equal(n.q.sq.wqe[64 + 16 + 4], 0);
	assert_memory_equal(n.q.sq.wqe + 64 + 36, "\x00\x00\x00\x99", 4);
	assert_int_not_equal(n.q.sq.wqe[11], CRL_WQE_CE_ALWAYS << 2);
	assert_int_equal(n.q.sq.wqe[64 + 11], CRL_WQE_CE_ALWAYS << 2);
	fake_close(&n);
}

static void
failed_send(void **state)
{
	struct crl_wc wc[8];
	struct fake_nic n;
	uint64_t pi = 0;
	uint32_t got, i;

	fake_open(&n, 3, 3, 128, false);
	assert_int_equal(crl_tx_reserve(&n.q, 4, 0, &pi), CRL_OK);
	for (i = 0; i < 4; i++)
		crl_tx_frame(&n.q, pi + i, n.q.txbuf.iova, 60, 10 + i, 0);
	crl_tx_ring(&n.q, pi + 4);
	n.fail_at = 1;
	fake_doorbell(&n);
	fake_send(&n, 4);
	assert_int_equal(crl_tx_done(&n.q, wc, 8, &got), CRL_FAILED);
	assert_int_equal(got, 4);
	for (i = 0; i < 4; i++)
		assert_true(wc[i].cookie == 10 + i && wc[i].status == (i ? CRL_FAILED : CRL_OK));
	assert_int_equal(crl_tx_reserve(&n.q, 1, 5000 * MS, &pi), CRL_FAILED);
	assert_int_equal(crl_tx_done(&n.q, wc, 8, &got), CRL_FAILED);
	assert_int_equal(got, 0);
	fake_close(&n);
}

/* Who asks for room in a full ring is the first to hear of the error, whether he waits or not. */
static void
failed_reserve(void **state)
{
	struct fake_nic n;
	uint64_t pi = 0;
	uint32_t i;

	fake_open(&n, 2, 2, 128, false);
	assert_int_equal(crl_tx_reserve(&n.q, 4, 0, &pi), CRL_OK);
	for (i = 0; i < 4; i++)
		crl_tx_frame(&n.q, pi + i, n.q.txbuf.iova, 60, i, 0);
	crl_tx_ring(&n.q, pi + 4);
	n.fail_at = 0;
	fake_doorbell(&n);
	fake_send(&n, 1);
	assert_int_equal(crl_tx_reserve(&n.q, 1, 0, &pi), CRL_FAILED);
	fake_close(&n);
}

static void
receive(void **state)
{
	struct crl_pkt pkt[4];
	struct fake_nic n;
	uint64_t start, seen = 0;
	uint32_t got, i;

	fake_open(&n, 2, 3, 128, false);
	assert_int_equal(crl_rx_poll(&n.q, pkt, 4, 0, &got), CRL_AGAIN);
	start = crl_now_ns();
	assert_int_equal(crl_rx_poll(&n.q, pkt, 4, 5 * MS, &got), CRL_STUCK);
	assert_true(crl_now_ns() - start >= 5 * MS);
	while (seen < 70000) {
		for (i = 0; i < 6; i++)
			fake_receive(&n, &seen, 8);
		assert_int_equal(crl_rx_poll(&n.q, pkt, 4, 1000 * MS, &got), CRL_OK);
		for (i = got; i-- > 0; seen++)
			crl_rx_release(&n.q, &pkt[i]);
	}
	n.rcq_pi = n.q.rq.cq.ci;
	fake_cqe(&n, true, CRL_CQE_RESP_ERR, 0, CRL_SYND_WR_FLUSH);
	assert_int_equal(crl_rx_poll(&n.q, pkt, 4, 1000 * MS, &got), CRL_FAILED);
	assert_int_equal(n.error[1].syndrome, CRL_SYND_WR_FLUSH);
	fake_close(&n);
}

static void
check(void **state)
{
	struct fake_nic n;

	fake_open(&n, 2, 2, 128, false);
	assert_int_equal(crl_dev_check(&n.q), CRL_OK);
	n.q.abi = 77;
	assert_int_equal(crl_dev_check(&n.q), CRL_INVALID);
	assert_int_equal(n.error[0].kind, CRL_QERR_ABI);
	assert_int_equal(n.error[0].wqe, 77);
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send_and_take),
		cmocka_unit_test(inlined_headers),
		cmocka_unit_test(reserve_waits),
		cmocka_unit_test(keys_and_checksums),
		cmocka_unit_test(failed_send),
		cmocka_unit_test(failed_reserve),
		cmocka_unit_test(receive),
		cmocka_unit_test(check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
