/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every refusal that the firmware defines is raised here, each by one thing that is wrong in a
 * command that is otherwise right; the last test walks the list and fails if one was left out, so
 * all are in one program: those of commands in general here, those of queues in refuse_queues.c, of
 * what leads packets to them and of memory in refuse_others.c.
 * After each refusal the same command without the mistake goes through, so that the mistake was the
 * cause.
 */
#include "refuse.h"

static void
mailbox(void **state)
{
	struct fx *fx = *state;

	fx_in(fx, 0x0666, 64, 64);
	fx_refused(fx, SCX_FW_R_OPCODE);
	fx_in(fx, 0x0a00, 64, 64); /* CREATE_GENERAL_OBJECT: no type of them is offered */
	fx_refused(fx, SCX_FW_R_OPCODE);

	fx_cmd_td(fx);
	crl_prm_set(fx->in, CRL_PRM_CMD_IN_OP_MOD, 1);
	fx_refused(fx, SCX_FW_R_OP_MOD);

	fx_cmd_td(fx);
	fx->in_bytes -= 4;
	fx_refused(fx, SCX_FW_R_IN_SHORT);
	assert_int_equal(CRL_CMD_STAT_BAD_INP_LEN_ERR, fx->status);
	fx->in_bytes += 8;
	fx_refused(fx, SCX_FW_R_IN_LONG);
	fx->in_bytes -= 4;
	fx->out_bytes -= 4;
	fx_refused(fx, SCX_FW_R_OUT_SHORT);
	assert_int_equal(CRL_CMD_STAT_BAD_OUTP_LEN_ERR, fx->status);
	fx->out_bytes += 4;
	fx_ok(fx);

	fx_cmd_td(fx);
	fx->in[15] = 1;
	fx_refused(fx, SCX_FW_R_RESERVED);
	fx->in[15] = 0;
	fx->in[4] = 0x80; /* between uid and op_mod */
	fx_refused(fx, SCX_FW_R_RESERVED);

	/* Too short to be a command at all, or not aligned: no answer either. */
	assert_int_equal(-EINVAL, scx_cmd(fx->nic, fx->uid, fx->in, 4, fx->out, 16, NULL));
	assert_int_equal(-EINVAL, scx_cmd(fx->nic, fx->uid, fx->in, 16, fx->out, 4, NULL));
	assert_int_equal(-EINVAL, scx_cmd(fx->nic, fx->uid, NULL, 16, fx->out, 16, NULL));
	assert_int_equal(-EINVAL, scx_cmd(fx->nic, fx->uid, fx->in + 1, 16, fx->out, 16, NULL));
}

/* Every command: one byte less or four more than the layout is refused, before anything is looked
 * at. */
static void
lengths_of_all_commands(void **state)
{
#define OP(NAME, value) value,
	static const uint16_t ops[] = {CRL_CMD_USER_OPS(OP)};
	struct fx *fx = *state;
	size_t in, out;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		uint32_t last = 0;

		for (in = 8; in < FX_IN_MAX - 8; in += 4) {
			fx_in(fx, ops[i], in, sizeof(fx->out));
			fx_run(fx);
			assert_int_not_equal(SCX_SYNDROME | SCX_FW_R_OPCODE, fx->syndrome);
			if (fx->syndrome != (SCX_SYNDROME | SCX_FW_R_IN_SHORT))
				break;
			last = (uint32_t)in;
		}
		assert_true(last >= 8 && in >= 16 && in < 1024);
		fx_in(fx, ops[i], in, 8);
		fx_refused(fx, SCX_FW_R_OUT_SHORT);
		fx_in(fx, ops[i], in + 4, sizeof(fx->out));
		if (ops[i] == CRL_CMD_OP_CREATE_RQT || ops[i] == CRL_CMD_OP_MODIFY_RQT)
			continue; /* a list may follow */
		fx_refused(fx, SCX_FW_R_IN_LONG);
		for (out = 8; out <= sizeof(fx->out); out += 4) {
			fx_in(fx, ops[i], in, out);
			fx_run(fx);
			if (fx->syndrome != (SCX_SYNDROME | SCX_FW_R_OUT_SHORT))
				break;
		}
		assert_true(out >= 16);
	}
}

static void
capabilities(void **state)
{
	struct fx *fx = *state;
	uint8_t *in = fx_in(fx, CRL_CMD_OP_QUERY_HCA_CAP, CRL_PRM_QUERY_HCA_CAP_IN_BYTES, 4112);

	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, CRL_HCA_CAP_ROCE << 1);
	fx_refused(fx, SCX_FW_R_CAP_PAGE);
	in = fx_in(fx, CRL_CMD_OP_QUERY_VPORT_STATE, 16, 16);
	crl_prm_set(in, CRL_PRM_QUERY_VPORT_STATE_IN_OTHER_VPORT, 1);
	fx_refused(fx, SCX_FW_R_VPORT);
	in = fx_in(fx, CRL_CMD_OP_QUERY_NIC_VPORT_CONTEXT, 16,
		CRL_PRM_QUERY_NIC_VPORT_CONTEXT_OUT_BYTES);
	crl_prm_set(in, CRL_PRM_QUERY_NIC_VPORT_CONTEXT_IN_VPORT_NUMBER, 3);
	fx_refused(fx, SCX_FW_R_VPORT);
}

static void
every_refusal_was_raised(void **state)
{
	unsigned missing = 0;

	for (unsigned i = 0; i < SCX_FW_R_GUEST; i++) { /* the rest: test_fw_guest.c */
		if (scx_fw_refused(i) == 0) {
			print_error("%s was not raised\n", scx_fw_refusal_name(i));
			missing++;
		}
	}
	assert_int_equal(0, missing);
	scx_nic_report(((struct fx *)*state)->nic);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(mailbox, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(lengths_of_all_commands, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(capabilities, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(refuse_cq, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(refuse_sq, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(refuse_rq, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(refuse_modify, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(refuse_rqt, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(refuse_tir_and_tis, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(refuse_other_uid, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(refuse_tables_fill_up, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(refuse_memory, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(refuse_flows, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(every_refusal_was_raised, fx_new, fx_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
