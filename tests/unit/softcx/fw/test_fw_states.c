/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The states of send and receive queues: every pair of states, from every state that the queue may
 * be in; what is allowed happens and shows in a query, what is not leaves the queue as it was.
 */
#include "fixture.h"

static const uint32_t states[] = {CRL_Q_STATE_RST, CRL_Q_STATE_RDY, CRL_Q_STATE_ERR};

struct queue_kind {
	uint16_t modify, query;
	size_t num; /* in struct fx */
	uint32_t query_ctx, state;
};

static const struct queue_kind kinds[] = {
	{CRL_CMD_OP_MODIFY_SQ, CRL_CMD_OP_QUERY_SQ, offsetof(struct fx, sq),
		CRL_PRM_QUERY_SQ_OUT_SQ_CONTEXT, CRL_PRM_SQC_STATE},
	{CRL_CMD_OP_MODIFY_RQ, CRL_CMD_OP_QUERY_RQ, offsetof(struct fx, rq),
		CRL_PRM_QUERY_RQ_OUT_RQ_CONTEXT, CRL_PRM_RQC_STATE},
};

static uint32_t
state_of(struct fx *fx, const struct queue_kind *k, uint32_t num)
{
	fx_cmd_num(fx, k->query, num, CRL_PRM_QUERY_SQ_OUT_BYTES);
	fx_ok(fx);
	return crl_prm_get(crl_prm_at(fx->out, k->query_ctx), k->state);
}

static void
step(struct fx *fx, const struct queue_kind *k, uint32_t num, uint32_t from, uint32_t to)
{
	fx_cmd_state(fx, k->modify, num, from, to);
	fx_ok(fx);
}

/* From wherever it is to a state, by allowed steps. */
static void
bring_to(struct fx *fx, const struct queue_kind *k, uint32_t num, uint32_t to)
{
	step(fx, k, num, state_of(fx, k, num), CRL_Q_STATE_RST);
	if (to != CRL_Q_STATE_RST)
		step(fx, k, num, CRL_Q_STATE_RST, CRL_Q_STATE_RDY);
	if (to == CRL_Q_STATE_ERR)
		step(fx, k, num, CRL_Q_STATE_RDY, CRL_Q_STATE_ERR);
	assert_int_equal(to, state_of(fx, k, num));
}

static bool
allowed(uint32_t from, uint32_t to)
{
	if (from == CRL_Q_STATE_RST)
		return to != CRL_Q_STATE_ERR;
	return from == CRL_Q_STATE_RDY || to != CRL_Q_STATE_RDY;
}

static void
one(struct fx *fx, const struct queue_kind *k, uint32_t now, uint32_t from, uint32_t to)
{
	uint32_t num = *(uint32_t *)((uint8_t *)fx + k->num);

	bring_to(fx, k, num, now);
	fx_cmd_state(fx, k->modify, num, from, to);
	if (from != now) {
		fx_refused(fx, SCX_FW_R_STATE_NOW);
		assert_int_equal(CRL_CMD_STAT_BAD_RES_STATE_ERR, fx->status);
	} else if (!allowed(from, to)) {
		fx_refused(fx, SCX_FW_R_STATE_STEP);
	} else {
		fx_ok(fx);
		now = to;
	}
	assert_int_equal(now, state_of(fx, k, num));
}

static void
matrix(void **state)
{
	struct fx *fx = *state;

	fx_queues(fx);
	for (size_t k = 0; k < 2; k++)
		for (size_t now = 0; now < 3; now++)
			for (size_t from = 0; from < 3; from++)
				for (size_t to = 0; to < 3; to++)
					one(fx, &kinds[k], states[now], states[from], states[to]);
}

static void
no_such_state(void **state)
{
	struct fx *fx = *state;

	fx_queues(fx);
	for (size_t k = 0; k < 2; k++) {
		uint32_t num = *(uint32_t *)((uint8_t *)fx + kinds[k].num);

		for (uint32_t bad = 2; bad < 16; bad += bad == 2 ? 2 : 1) {
			fx_cmd_state(fx, kinds[k].modify, num, CRL_Q_STATE_RDY, bad);
			fx_refused(fx, SCX_FW_R_STATE_VALUE);
			fx_cmd_state(fx, kinds[k].modify, num, bad, CRL_Q_STATE_RST);
			fx_refused(fx, SCX_FW_R_STATE_VALUE);
		}
		assert_int_equal(CRL_Q_STATE_RDY, state_of(fx, &kinds[k], num));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(matrix, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(no_such_state, fx_new, fx_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
