/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_loop.h: control words are obeyed, a stop waits for sends but not for ever, a failed queue
 * stops its stream, re-arm starts it again or meets another error, a queue of another ABI is not
 * touched.
 */
#include "io_stream.h"

#include "gpu_queues/control.h"

static void
park_and_stop(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	uint64_t beat;
	uint8_t f[64];

	fake_open(&n, 4, 4, 128, false);
	stream_open(&s, &n, 8);
	assert_int_equal(n.ctl.abi, CRL_DEV_ABI);
	turn(&s, 1);
	n.ctl.park = 1;
	turn(&s, CRL_LOOK_EVERY + 1);
	assert_int_equal(n.ctl.parked, crl_park_answer(n.ctl.park));
	make_frame(f, 0);
	fake_receive(&n, f, 64);
	beat = n.ctl.heartbeat;
	turn(&s, 10);
	assert_true(n.ctl.heartbeat > beat); /* alive */
	assert_int_equal(s.rxc.packets, 0);  /* and still */
	n.ctl.park = 0;
	turn(&s, 3);
	assert_int_equal(n.ctl.parked, 0);
	assert_int_equal(s.rxc.packets, 1);
	/* A frame is in the NIC's hands: the stream stays until it is out. */
	n.ctl.stop = 1;
	assert_int_not_equal(turn(&s, 100), CRL_TURN_LEFT);
	assert_int_equal(n.ctl.done, 0);
	fake_doorbell(&n);
	fake_send(&n, 1);
	assert_int_equal(turn(&s, 2), CRL_TURN_LEFT);
	assert_int_equal(n.ctl.done, 1);
	assert_int_equal(n.stats.rx_packets, 1);
	assert_int_equal(n.stats.tx_packets, 1);
	assert_int_equal(n.stats.tx_completions, 1);
	assert_int_equal(n.stats.sq_pi, 1);
	assert_int_equal(n.stats.rq_ci, 1);
	fake_close(&n);
}

/* What a kernel does: out of its loop where told to leave, and a new one where told to go on. */
static void
leave_and_begin_again(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	uint8_t f[64];
	uint32_t i, again;

	(void)state;
	fake_open(&n, 4, 4, 128, false);
	stream_open(&s, &n, 8);
	turn(&s, 1); /* posts the buffers */
	for (again = 1; again <= 3; again++) {
		n.ctl.park = CRL_PARK_LEAVE;
		for (i = 0; i < 1000 && !crl_stream_is_out(&s); i++)
			turn(&s, 1);
		assert_true(crl_stream_is_out(&s));
		assert_int_equal(n.ctl.parked, crl_park_answer(n.ctl.park));
		make_frame(f, again);
		assert_true(fake_receive(&n, f, 64));
		/* told to leave yet: the next runner leaves as well, and touches nothing */
		assert_true(crl_stream_begin(&s));
		assert_false(crl_stream_is_out(&s));
		turn(&s, 1);
		assert_true(crl_stream_is_out(&s));
		assert_int_equal(s.rxc.packets, again - 1);
		n.ctl.park = CRL_PARK_NOT;
		assert_true(crl_stream_begin(&s));
		for (i = 0; i < 1000 && !crl_stream_is_out(&s) && s.rxc.packets < again; i++)
			turn(&s, 1);
		assert_int_equal(s.rxc.packets, again);
		assert_int_equal(n.ctl.parked, 0);
		fake_doorbell(&n);
		fake_send(&n, 1);
	}
	fake_close(&n);
}

/* A NIC that never completes: the stream leaves after its bound, not before. */
static void
stop_is_bounded(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	uint64_t start;
	uint8_t f[64];

	fake_open(&n, 4, 4, 128, false);
	stream_open(&s, &n, 8);
	turn(&s, 1);
	make_frame(f, 0);
	fake_receive(&n, f, 64);
	turn(&s, 1);
	n.ctl.stop = 1;
	start = crl_now_ns();
	while (crl_fwd_turn(&s, crl_io_packet) != CRL_TURN_LEFT)
		assert_true(crl_now_ns() - start < 4ull * CRL_DRAIN_NS_MAX);
	assert_true(crl_now_ns() - start >= CRL_DRAIN_NS_MAX);
	fake_close(&n);
}

static void
fail_and_rearm(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	uint8_t f[64];
	uint32_t i;

	fake_open(&n, 4, 4, 128, false);
	stream_open(&s, &n, 8);
	turn(&s, 1);
	n.fail_at = 1;
	for (i = 0; i < 3; i++) {
		make_frame(f, i);
		assert_true(fake_receive(&n, f, 64));
	}
	turn(&s, 1);
	fake_doorbell(&n);
	fake_send(&n, 3);
	turn(&s, 4);
	assert_int_equal(s.mode, CRL_MODE_FAILED);
	assert_int_equal(n.ctl.parked, crl_park_answer(n.ctl.park));
	assert_int_equal(n.error[0].wqe, 1);
	assert_int_equal(s.txc.completions, 1);
	assert_int_equal(s.txc.errors, 2);
	turn(&s, 50);
	assert_int_equal(s.mode, CRL_MODE_FAILED); /* nobody mended it */
	fake_reset_send(&n);
	n.frames = 0;
	n.ctl.rearm++;
	turn(&s, 2);
	assert_int_equal(s.mode, CRL_MODE_RUN);
	assert_int_equal(n.ctl.parked, 0);
	assert_int_equal(n.ctl.rearmed, n.ctl.rearm);
	for (i = 0; i < 40; i++) {
		make_frame(f, i);
		assert_true(fake_receive(&n, f, 64));
		turn(&s, 1);
		fake_doorbell(&n);
		fake_send(&n, 8);
	}
	assert_int_equal(n.frames, 40);
	fake_close(&n);
}

/* The receive side fails while sends are in flight: they are waited for before the stream parks. */
static void
receive_side_fails(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	uint8_t f[64];

	fake_open(&n, 4, 4, 128, false);
	stream_open(&s, &n, 8);
	turn(&s, 1);
	make_frame(f, 0);
	fake_receive(&n, f, 64);
	fake_cqe(&n, true, CRL_CQE_RESP_ERR, 1, CRL_SYND_WR_FLUSH);
	turn(&s, 3);
	assert_int_equal(s.mode, CRL_MODE_FAILING);
	assert_int_equal(n.ctl.parked, 0);
	fake_doorbell(&n);
	fake_send(&n, 1);
	turn(&s, 1);
	assert_int_equal(s.mode, CRL_MODE_FAILED);
	assert_int_equal(n.ctl.parked, crl_park_answer(n.ctl.park));
	fake_reset_receive(&n);
	n.ctl.rearm++;
	turn(&s, 2);
	assert_true(fake_receive(&n, f, 64));
	turn(&s, 1);
	assert_int_equal(s.rxc.packets, 2);
	fake_close(&n);
}

/* No send side: nothing to wait for, and the stream begins again when told to. */
static void
receive_only_fails(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	uint8_t f[64];

	fake_open(&n, 4, 4, 128, false);
	stream_open(&s, &n, 8);
	s.tx = NULL;
	turn(&s, 1);
	make_frame(f, 0);
	fake_receive(&n, f, 64);
	fake_cqe(&n, true, CRL_CQE_RESP_ERR, 1, CRL_SYND_WR_FLUSH);
	turn(&s, 3);
	assert_int_equal(s.mode, CRL_MODE_FAILED);
	assert_int_equal(n.ctl.parked, crl_park_answer(n.ctl.park));
	assert_int_equal(s.rxc.packets, 1);
	fake_reset_receive(&n);
	n.ctl.rearm++;
	turn(&s, 2);
	assert_int_equal(s.mode, CRL_MODE_RUN);
	assert_int_equal(n.ctl.rearmed, n.ctl.rearm);
	assert_int_equal(n.ctl.parked, 0);
	assert_true(fake_receive(&n, f, 64));
	turn(&s, 1);
	assert_int_equal(s.rxc.packets, 2);
	n.ctl.stop = 1;
	assert_int_equal(turn(&s, CRL_LOOK_EVERY + 1), CRL_TURN_LEFT);
	fake_close(&n);
}

/* A send that outlives the bound still names slots: re-arm waits for it. */
static void
rearm_waits_for_sends(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	uint8_t f[64];

	fake_open(&n, 4, 4, 128, false);
	stream_open(&s, &n, 8);
	turn(&s, 1);
	make_frame(f, 0);
	fake_receive(&n, f, 64);
	fake_cqe(&n, true, CRL_CQE_RESP_ERR, 1, CRL_SYND_WR_FLUSH);
	while (n.ctl.parked == 0)
		turn(&s, 1);
	fake_reset_receive(&n);
	n.ctl.rearm++;
	turn(&s, 10);
	assert_int_equal(n.ctl.rearmed, 0);
	assert_int_equal(s.mode, CRL_MODE_FAILED);
	fake_doorbell(&n);
	fake_send(&n, 1);
	turn(&s, 2);
	assert_int_equal(n.ctl.rearmed, 1);
	assert_true(fake_receive(&n, f, 64));
	turn(&s, 1);
	assert_int_equal(s.rxc.packets, 2);
	fake_close(&n);
}

/*
 * The send queue fails while re-arm waits for it: it was not mended, so its indices must not begin
 * anew. The stream stands on, and the host has a second error, and re-arms again.
 */
static void
rearm_meets_error(void **state)
{
	struct crl_stream s;
	struct crl_watch w;
	struct fake_nic n;
	uint8_t f[64];

	fake_open(&n, 4, 4, 128, false);
	stream_open(&s, &n, 8);
	w = (struct crl_watch){.ctl = &n.ctl};
	turn(&s, 1);
	make_frame(f, 0);
	n.fail_at = 0;
	fake_receive(&n, f, 64);
	fake_cqe(&n, true, CRL_CQE_RESP_ERR, 1, CRL_SYND_WR_FLUSH);
	while (!crl_control_parked(&w))
		turn(&s, 1);
	fake_reset_receive(&n);
	assert_int_equal(crl_control_rearm(&w), 0);
	turn(&s, 10);
	assert_false(crl_control_rearmed(&w) || crl_control_parked(&w));
	assert_int_equal(n.error[0].seq, 0);
	n.ctl.parked = 0;
	n.stats.tx_errors = 0;
	fake_doorbell(&n);
	fake_send(&n, 1);
	crl_stream_obey(&s);
	assert_true(crl_control_parked(&w) && n.stats.tx_errors == 1); /* both said anew */
	turn(&s, 2);
	assert_int_equal(n.error[0].seq, 1);
	assert_true(crl_control_rearmed(&w) && crl_control_parked(&w));
	assert_int_equal(s.mode, CRL_MODE_FAILED);
	assert_int_equal(n.q.sq.state, CRL_QS_FAILED);
	assert_int_equal(n.q.sq.pi, 1);
	turn(&s, 10); /* once is enough */
	assert_true(crl_control_rearmed(&w) && crl_control_parked(&w));
	fake_reset_send(&n);
	assert_int_equal(crl_control_rearm(&w), 0);
	turn(&s, 2);
	assert_int_equal(s.mode, CRL_MODE_RUN);
	assert_true(crl_control_rearmed(&w) && !crl_control_parked(&w));
	assert_true(fake_receive(&n, f, 64));
	turn(&s, 1);
	fake_doorbell(&n);
	assert_int_equal(fake_send(&n, 8), 1);
	fake_close(&n);
}

static void
stale_abi(void **state)
{
	struct crl_stream s;
	struct fake_nic n;

	fake_open(&n, 4, 4, 128, false);
	n.q.abi = CRL_DEV_ABI + 1;
	memset(&s, 0, sizeof(s));
	s.rx = s.tx = &n.q;
	s.ctl = &n.ctl;
	assert_false(crl_stream_begin(&s));
	assert_int_equal(n.ctl.done, 1);
	assert_int_equal(n.ctl.abi, CRL_DEV_ABI);
	assert_int_equal(n.error[0].kind, CRL_QERR_ABI);
	assert_int_equal(n.error[0].wqe, CRL_DEV_ABI + 1);
	fake_close(&n);
}

/* One side's queue alone is another ABI's. */
static void
stale_side(void **state)
{
	struct crl_stream s;
	struct fake_nic rx, tx;

	for (uint32_t i = 0; i < 2; i++) {
		struct fake_nic *stale = i == 0 ? &rx : &tx;

		fake_open(&rx, 4, 4, 128, false);
		fake_open(&tx, 4, 4, 128, false);
		stale->q.abi = CRL_DEV_ABI - 1;
		memset(&s, 0, sizeof(s));
		s.rx = &rx.q;
		s.tx = &tx.q;
		s.ctl = &rx.ctl;
		assert_false(crl_stream_begin(&s));
		assert_int_equal(s.mode, CRL_MODE_LEFT);
		assert_int_equal(rx.ctl.done, 1);
		assert_int_equal(stale->error[0].kind, CRL_QERR_ABI);
		assert_int_equal(stale->error[0].is_rx, i == 0);
		assert_int_equal((i == 0 ? &tx : &rx)->error[0].seq, 0);
		fake_close(&rx);
		fake_close(&tx);
	}
}

/* The host's word is answered by who stands, and by nobody else. */
static void
answers_who_stands(void **state)
{
	struct crl_stream s;
	struct fake_nic n;

	fake_open(&n, 4, 4, 128, false);
	stream_open(&s, &n, 8);
	s.mode = CRL_MODE_FAILING;
	n.ctl.park = 1;
	crl_stream_obey(&s);
	assert_true(s.park == 1 && n.ctl.parked == 0);
	s.mode = CRL_MODE_FAILED;
	s.park = 0;
	crl_stream_obey(&s);
	assert_int_equal(n.ctl.parked, crl_park_answer(1));
	fake_close(&n);
}

/* A stream that a glance stops, between two looks, has told of all that it did. */
static void
stands_with_counts(void **state)
{
	struct crl_stream s;
	struct fake_nic n;
	uint8_t f[64];

	fake_open(&n, 4, 4, 128, false);
	stream_open(&s, &n, 8);
	turn(&s, 1);
	make_frame(f, 0);
	fake_receive(&n, f, 64);
	turn(&s, 1); /* the next look is many turns away */
	assert_true(s.rxc.packets == 1 && n.stats.rx_packets == 0);
	n.ctl.park = 1;
	crl_stream_obey(&s);
	assert_int_equal(n.ctl.parked, crl_park_answer(1));
	assert_true(n.stats.rx_packets == 1 && n.stats.sq_pi == 1);
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(park_and_stop),
		cmocka_unit_test(leave_and_begin_again),
		cmocka_unit_test(stop_is_bounded),
		cmocka_unit_test(fail_and_rearm),
		cmocka_unit_test(receive_side_fails),
		cmocka_unit_test(receive_only_fails),
		cmocka_unit_test(rearm_waits_for_sends),
		cmocka_unit_test(rearm_meets_error),
		cmocka_unit_test(answers_who_stands),
		cmocka_unit_test(stands_with_counts),
		cmocka_unit_test(stale_abi),
		cmocka_unit_test(stale_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
