/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames through objects that commands have made: what the data path does shows in queries,
 * counters and states. WQEs are written by hand.
 */
#include "fixture.h"

/* Post a 60-byte frame by hand (SEND, one data segment) and a receive buffer; ring; step. */
static void
send_one(struct fx *fx, uint16_t pi, bool with_buffer)
{
	uint8_t *wqe = fx->mem + FX_SQ_RING + (pi & 63u) * 64,
		*seg = fx->mem + FX_RQ_RING + (pi & 63u) * 16;
	crl_be32 *rec;

	memset(wqe, 0, 64);
	((crl_be32 *)wqe)[0] = crl_to_be32((uint32_t)pi << 8 | 0x0a);
	((crl_be32 *)wqe)[1] = crl_to_be32(fx->sq << 8 | 3);
	((crl_be32 *)wqe)[2] = crl_to_be32(2 << 2); /* CE: always a CQE */
	((crl_be32 *)wqe)[8] = crl_to_be32(60);
	((crl_be32 *)wqe)[9] = crl_to_be32(fx->lkey);
	*(crl_be64 *)(wqe + 40) = crl_to_be64((uintptr_t)fx->mem + FX_DATA);
	((crl_be32 *)seg)[0] = crl_to_be32(2048);
	((crl_be32 *)seg)[1] = crl_to_be32(fx->lkey);
	*(crl_be64 *)(seg + 8) = crl_to_be64((uintptr_t)fx->mem + FX_DATA + 4096);
	rec = (crl_be32 *)(fx->mem + FX_RQ_DBREC);
	if (with_buffer)
		rec[0] = crl_to_be32(pi + 1u);
	rec = (crl_be32 *)(fx->mem + FX_SQ_DBREC);
	rec[1] = crl_to_be32(pi + 1u);
	*(uint64_t *)(fx->uar_mem + fx->uar * 4096 + 0x800) = *(uint64_t *)wqe;
	fx_poll(fx);
}

static void
a_frame_goes_through(void **state)
{
	struct fx *fx = *state;
	uint8_t *frame = fx->mem + FX_DATA, *ctx;

	memset(frame, 0xff, 6);
	memcpy(frame + 6, "\2\0\0\0\0\1\x88\xb5 through the firmware's objects", 40);
	fx_queues(fx);
	send_one(fx, 0, true);
	assert_memory_equal(frame, frame + 4096, 60);
	ctx = FX_QUERY(fx, SQ, SQ_CONTEXT, fx->sq);
	assert_int_equal(1, crl_prm_get(crl_prm_at(ctx, CRL_PRM_SQC_WQ), CRL_PRM_WQ_HW_COUNTER));
	ctx = FX_QUERY(fx, CQ, CQ_CONTEXT, fx->cq);
	assert_int_equal(2, crl_prm_get(ctx, CRL_PRM_CQC_PRODUCER_COUNTER)); /* sent, received */
}

static void
an_error_shows_in_the_state(void **state)
{
	struct fx *fx = *state;
	uint8_t *ctx;

	fx_queues(fx);
	fx->lkey ^= 0x100; /* no such key */
	send_one(fx, 0, true);
	ctx = FX_QUERY(fx, SQ, SQ_CONTEXT, fx->sq);
	assert_int_equal(CRL_Q_STATE_ERR, crl_prm_get(ctx, CRL_PRM_SQC_STATE));
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->sq, CRL_Q_STATE_RDY, CRL_Q_STATE_RST);
	fx_refused(fx, SCX_FW_R_STATE_NOW);
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->sq, CRL_Q_STATE_ERR, CRL_Q_STATE_RST);
	fx_ok(fx);
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->sq, CRL_Q_STATE_RST, CRL_Q_STATE_RDY);
	fx_ok(fx);
}

static void
a_counter_set_is_held(void **state)
{
	struct fx *fx = *state;
	uint8_t *in, *rqc;
	uint32_t set;

	fx_in(fx, CRL_CMD_OP_ALLOC_Q_COUNTER, CRL_PRM_ALLOC_Q_COUNTER_IN_BYTES, 16);
	fx_ok(fx);
	set = crl_prm_get(fx->out, CRL_PRM_ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID);
	assert_in_range(set, 1, 255);
	fx_cmd_cq(fx), fx_ok(fx), fx->cq = fx_num(fx);
	rqc = fx_cmd_rq(fx);
	crl_prm_set(rqc, CRL_PRM_RQC_COUNTER_SET_ID, set);
	fx_ok(fx), fx->rq = fx_num(fx);
	in = fx_in(fx, CRL_CMD_OP_DEALLOC_Q_COUNTER, CRL_PRM_DEALLOC_Q_COUNTER_IN_BYTES, 16);
	crl_prm_set(in, CRL_PRM_DEALLOC_Q_COUNTER_IN_COUNTER_SET_ID, set);
	fx_refused(fx, SCX_FW_R_IN_USE);
	in = fx_in(fx, CRL_CMD_OP_QUERY_Q_COUNTER, CRL_PRM_QUERY_Q_COUNTER_IN_BYTES,
		CRL_PRM_QUERY_Q_COUNTER_OUT_BYTES);
	crl_prm_set(in, CRL_PRM_QUERY_Q_COUNTER_IN_COUNTER_SET_ID, set);
	fx_ok(fx);
	assert_int_equal(0, crl_prm_get(fx->out, CRL_PRM_QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER));
	fx_destroy(fx, CRL_CMD_OP_DESTROY_RQ, fx->rq);
	in = fx_in(fx, CRL_CMD_OP_DEALLOC_Q_COUNTER, CRL_PRM_DEALLOC_Q_COUNTER_IN_BYTES, 16);
	crl_prm_set(in, CRL_PRM_DEALLOC_Q_COUNTER_IN_COUNTER_SET_ID, set);
	fx_ok(fx);
}

/* The out-of-buffer count of the set that the RQ names, its reading and clearing. */
static void
out_of_buffer_is_counted(void **state)
{
	struct fx *fx = *state;
	uint8_t *in;
	uint32_t set;

	fx_in(fx, CRL_CMD_OP_ALLOC_Q_COUNTER, CRL_PRM_ALLOC_Q_COUNTER_IN_BYTES, 16);
	fx_ok(fx);
	set = crl_prm_get(fx->out, CRL_PRM_ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID);
	fx->counter_set = set;
	fx_queues(fx);
	for (uint16_t pi = 0; pi < 3; pi++)
		send_one(fx, pi, false);
	for (uint32_t clear = 0; clear < 3; clear++) {
		in = fx_in(fx, CRL_CMD_OP_QUERY_Q_COUNTER, CRL_PRM_QUERY_Q_COUNTER_IN_BYTES,
			CRL_PRM_QUERY_Q_COUNTER_OUT_BYTES);
		crl_prm_set(in, CRL_PRM_QUERY_Q_COUNTER_IN_COUNTER_SET_ID, set);
		crl_prm_set(in, CRL_PRM_QUERY_Q_COUNTER_IN_CLEAR, clear == 1);
		fx_ok(fx);
		assert_int_equal(clear < 2 ? 3 : 0,
			crl_prm_get(fx->out, CRL_PRM_QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_frame_goes_through, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(an_error_shows_in_the_state, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(a_counter_set_is_held, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(out_of_buffer_is_counted, fx_new, fx_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
