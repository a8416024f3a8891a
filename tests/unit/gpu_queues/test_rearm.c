/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue_rearm.h under a stream: a CQ goes on over a re-arm, as no command resets it. What was
 * flushed into it is passed over, and there is room in it for what comes after.
 */
#include "io_stream.h"

/*
 * Sends that were waited for have filled their CQ: the NIC hears that it is read before the first
 * doorbell after it, or that doorbell's CQEs find no room.
 */
static void
rearm_makes_room(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	uint8_t f[64] = {0};
	bool run = false;
	uint32_t i;

	fake_open(&n, 4, 4, 128, false);
	n.q.sq.signal_every = 1;
	stream_open(&s, &n, 16);
	turn(&s, 1);
	for (i = 0; i < 15; i++)
		assert_true(fake_receive(&n, f, 64));
	fake_cqe(&n, true, CRL_CQE_RESP_ERR, 15, CRL_SYND_WR_FLUSH);
	while (n.ctl.parked == 0)
		turn(&s, 1);
	fake_reset_receive(&n);
	n.ctl.rearm++;
	fake_doorbell(&n);
	assert_int_equal(fake_send(&n, 16), 15);
	for (i = 0; i < 10 && n.ctl.rearmed == 0; i++)
		crl_stream_look(&s, &run); /* after the last of these an engine may send */
	assert_int_equal(n.ctl.rearmed, 1);
	assert_true(run);
	assert_int_equal(crl_from_be32(n.scq_rec[CRL_DBREC_CQ_CI]), 15);
	fake_close(&n);
}

/*
 * All that a ring holds is flushed, and the queue is mended, lap after lap of a CQ that nobody
 * resets; collapsed: its one entry says nothing of the queue after it.
 */
static void
rearm_passes_flushed(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	uint8_t f[64] = {0};
	uint32_t i, k, lap;

	for (k = 0; k < 2; k++) {
		fake_open(&n, 4, 4, 128, false);
		n.q.sq.cq.flags = k ? CRL_CQ_COLLAPSED : 0;
		stream_open(&s, &n, 16);
		turn(&s, 1);
		for (lap = 0; lap < 9; lap++) {
			for (i = 0; i < 3u + lap; i++)
				assert_true(fake_receive(&n, f, 64));
			turn(&s, 1);
			fake_doorbell(&n);
			n.fail_at = n.sq_at + lap % 3u;
			fake_send(&n, 16);
			turn(&s, 8);
			assert_int_equal(s.mode, CRL_MODE_FAILED);
			n.error[0].seq = 0;
			fake_reset_send(&n);
			n.ctl.rearm++;
			turn(&s, 2);
			assert_int_equal(n.ctl.rearmed, lap + 1u);
			assert_int_equal(s.mode, CRL_MODE_RUN);
			assert_true(k || n.q.sq.cq.ci == n.scq_pi);
			for (i = 0; i < lap; i++)
				assert_true(fake_receive(&n, f, 64));
			turn(&s, 1);
			assert_int_equal(s.mode, CRL_MODE_RUN);
			fake_doorbell(&n);
			assert_int_equal(fake_send(&n, 16), lap);
			turn(&s, 2);
			assert_int_equal(n.q.sq.ci, lap);
		}
		fake_close(&n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rearm_makes_room),
		cmocka_unit_test(rearm_passes_flushed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
