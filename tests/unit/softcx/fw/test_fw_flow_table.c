/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow tables: what a chain of them makes of frames, by the rules that the data path is told, and
 * what a driver can get wrong with them.
 */
#include "guest.h"

/* The rules that the data path was told of, seen on their way to it (--wrap). */
static struct scx_dp_rule rules[SCX_DP_RULE_MAX];
static unsigned nr_rules;

int __real_scx_dp_apply(struct scx_dp *dp, struct scx_dp_cmd *cmd);
int __wrap_scx_dp_apply(struct scx_dp *dp, struct scx_dp_cmd *cmd);

int
__wrap_scx_dp_apply(struct scx_dp *dp, struct scx_dp_cmd *cmd)
{
	int rc = __real_scx_dp_apply(dp, cmd);

	if (rc != 0)
		return rc;
	if (cmd->op == SCX_DP_RULE_ADD)
		rules[nr_rules++] = cmd->u.rule;
	for (unsigned i = 0; cmd->op == SCX_DP_RULE_DEL && i < nr_rules; i++)
		if (rules[i].id == cmd->num)
			rules[i--] = rules[--nr_rules];
	return 0;
}

static int
setup(void **state)
{
	nr_rules = 0;
	return guest_new(state);
}

static uint32_t
table(struct fx *fx, uint32_t level, uint32_t miss)
{
	uint8_t *in =
		fx_in(fx, CRL_CMD_OP_CREATE_FLOW_TABLE, CRL_PRM_CREATE_FLOW_TABLE_IN_BYTES, 16);
	uint8_t *ctx = crl_prm_at(in, CRL_PRM_CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);

	crl_prm_set(ctx, CRL_PRM_FLOW_TABLE_LEVEL, level);
	crl_prm_set(ctx, CRL_PRM_FLOW_TABLE_LOG_SIZE, 3);
	if (miss != 0) {
		crl_prm_set(ctx, CRL_PRM_FLOW_TABLE_TABLE_MISS_ACTION, 1);
		crl_prm_set(ctx, CRL_PRM_FLOW_TABLE_TABLE_MISS_ID, miss);
	}
	fx_ok(fx);
	return crl_prm_get(fx->out, CRL_PRM_CREATE_FLOW_TABLE_OUT_TABLE_ID);
}

/* A group over entries first to last; ethertype: mask of it. Returns the match criteria. */
static uint8_t *
cmd_group(struct fx *fx, uint32_t table, uint32_t first, uint32_t last, uint32_t ethertype)
{
	uint8_t *in =
		fx_in(fx, CRL_CMD_OP_CREATE_FLOW_GROUP, CRL_PRM_CREATE_FLOW_GROUP_IN_BYTES, 16);
	uint8_t *mask = crl_prm_at(in, CRL_PRM_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA);

	crl_prm_set(in, CRL_PRM_CREATE_FLOW_GROUP_IN_TABLE_ID, table);
	crl_prm_set(in, CRL_PRM_CREATE_FLOW_GROUP_IN_START_FLOW_INDEX, first);
	crl_prm_set(in, CRL_PRM_CREATE_FLOW_GROUP_IN_END_FLOW_INDEX, last);
	crl_prm_set(in, CRL_PRM_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE, ethertype != 0);
	crl_prm_set(mask, CRL_PRM_MATCH_LYR_2_4_ETHERTYPE, ethertype);
	return mask;
}

static uint32_t
group(struct fx *fx, uint32_t table, uint32_t first, uint32_t last, uint32_t ethertype)
{
	cmd_group(fx, table, first, last, ethertype), fx_ok(fx);
	return crl_prm_get(fx->out, CRL_PRM_CREATE_FLOW_GROUP_OUT_GROUP_ID);
}

/* An entry that leads to type (1: table, 2: TIR) and number; 0: drop. Returns the context. */
static uint8_t *
cmd_fte(struct fx *fx, uint32_t table, uint32_t group, uint32_t index, uint32_t ethertype,
	uint32_t type, uint32_t num)
{
	uint8_t *in = fx_in(fx, CRL_CMD_OP_SET_FLOW_TABLE_ENTRY,
		CRL_PRM_SET_FTE_IN_BYTES + (type != 0 ? 8 : 0), 16);
	uint8_t *ctx = crl_prm_at(in, CRL_PRM_SET_FTE_IN_FLOW_CONTEXT);

	crl_prm_set(in, CRL_PRM_SET_FTE_IN_TABLE_ID, table);
	crl_prm_set(in, CRL_PRM_SET_FTE_IN_FLOW_INDEX, index);
	crl_prm_set(ctx, CRL_PRM_FLOW_CONTEXT_GROUP_ID, group);
	crl_prm_set(ctx, CRL_PRM_FLOW_CONTEXT_ACTION, type != 0 ? 4 : 2);
	crl_prm_set(crl_prm_at(ctx, CRL_PRM_FLOW_CONTEXT_MATCH_VALUE),
		CRL_PRM_MATCH_LYR_2_4_ETHERTYPE, ethertype);
	if (type != 0) {
		crl_prm_set(ctx, CRL_PRM_FLOW_CONTEXT_DESTINATION_LIST_SIZE, 1);
		crl_prm_set(
			in + CRL_PRM_SET_FTE_IN_BYTES, CRL_PRM_DEST_FORMAT_DESTINATION_TYPE, type);
		crl_prm_set(in + CRL_PRM_SET_FTE_IN_BYTES, CRL_PRM_DEST_FORMAT_DESTINATION_ID, num);
	}
	return ctx;
}

static void
destroy(struct fx *fx, uint32_t table)
{
	uint8_t *in =
		fx_in(fx, CRL_CMD_OP_DESTROY_FLOW_TABLE, CRL_PRM_DESTROY_FLOW_TABLE_IN_BYTES, 16);

	crl_prm_set(in, CRL_PRM_DESTROY_FLOW_TABLE_IN_TABLE_ID, table);
	fx_ok(fx);
}

static void
root(struct fx *fx, uint32_t table)
{
	uint8_t *in =
		fx_in(fx, CRL_CMD_OP_SET_FLOW_TABLE_ROOT, CRL_PRM_SET_FLOW_TABLE_ROOT_IN_BYTES, 16);

	crl_prm_set(in, CRL_PRM_SET_FLOW_TABLE_ROOT_IN_TABLE_ID, table);
	fx_ok(fx);
}

/* Where a frame of that ethertype goes, by the rules that the data path has: a TIR, 0: nowhere. */
static uint32_t
leads_to(struct fx *fx, uint32_t ethertype)
{
	const struct scx_dp_rule *best = NULL;

	for (unsigned i = 0; i < nr_rules; i++) {
		const struct scx_dp_rule *r = &rules[i];
		uint32_t mask = crl_prm_get(r->mask, CRL_PRM_MATCH_LYR_2_4_ETHERTYPE);
		uint32_t match = crl_prm_get(r->match, CRL_PRM_MATCH_LYR_2_4_ETHERTYPE);

		if ((ethertype & mask) == match && (best == NULL || r->priority < best->priority))
			best = r;
	}
	return best != NULL && best->dest == SCX_FLOW_TIR ? best->tirn : 0;
}

static void
flow_tables(void **state)
{
	struct fx *fx = *state;
	uint32_t first, second, last, g1, g2, g3, other;

	guest_cmd_eq(fx, 0, 0), fx_ok(fx); /* for the CQ */
	fx_queues(fx);
	nr_rules = 0; /* the one of the fixture is not the tables' */
	fx_cmd_tir(fx), fx_ok(fx), other = fx_num(fx);
	last = table(fx, 9, 0);
	second = table(fx, 5, last); /* what it misses goes on to the last one */
	first = table(fx, 1, 0);
	g1 = group(fx, first, 0, 3, 0xf000);
	g2 = group(fx, second, 0, 7, 0xffff);
	g3 = group(fx, last, 2, 2, 0);
	root(fx, first);
	assert_int_equal(0, leads_to(fx, 0x0800));

	cmd_fte(fx, first, g1, 1, 0x0000, 1, second), fx_ok(fx);
	cmd_fte(fx, second, g2, 4, 0x0800, 2, fx->tir), fx_ok(fx);
	cmd_fte(fx, second, g2, 2, 0x0806, 0, 0), fx_ok(fx);
	cmd_fte(fx, last, g3, 2, 0, 2, other), fx_ok(fx);
	assert_int_equal(fx->tir, leads_to(fx, 0x0800));
	assert_int_equal(0, leads_to(fx, 0x0806));     /* dropped in the second */
	assert_int_equal(other, leads_to(fx, 0x0999)); /* missed in the second */
	assert_int_equal(0, leads_to(fx, 0x86dd));     /* missed in the first */

	/* An entry before all others of its table; then it leads elsewhere; then it is gone. */
	cmd_fte(fx, second, g2, 0, 0x0800, 2, other), fx_ok(fx);
	assert_int_equal(other, leads_to(fx, 0x0800));
	cmd_fte(fx, second, g2, 0, 0x0800, 2, fx->tir);
	fx_refused(fx, SCX_FW_R_FT_INDEX); /* there is one */
	crl_prm_set(fx->in, CRL_PRM_CMD_IN_OP_MOD, 1);
	crl_prm_set(fx->in, CRL_PRM_SET_FTE_IN_MODIFY_ENABLE_MASK, 4);
	fx_ok(fx);
	assert_int_equal(fx->tir, leads_to(fx, 0x0800));
	fx_in(fx, CRL_CMD_OP_DELETE_FLOW_TABLE_ENTRY, CRL_PRM_DELETE_FTE_IN_BYTES, 16);
	crl_prm_set(fx->in, CRL_PRM_DELETE_FTE_IN_TABLE_ID, second);
	crl_prm_set(fx->in, CRL_PRM_DELETE_FTE_IN_FLOW_INDEX, 4);
	fx_ok(fx);
	fx_refused(fx, SCX_FW_R_NO_OBJECT);
	assert_int_equal(fx->tir, leads_to(fx, 0x0800));
	crl_prm_set(fx->in, CRL_PRM_DELETE_FTE_IN_FLOW_INDEX, 0);
	fx_ok(fx);
	assert_int_equal(other, leads_to(fx, 0x0800));
	fx_cmd_num(fx, CRL_CMD_OP_DESTROY_TIR, other, 16);
	fx_refused(fx, SCX_FW_R_IN_USE); /* the last table's entry leads there */
}

static void
flow_table_refusals(void **state)
{
	struct fx *fx = *state;
	uint32_t low, high, g;
	uint8_t *mask, *in;

	high = table(fx, 4, 0);
	low = table(fx, 2, 0);
	in = fx_in(fx, CRL_CMD_OP_CREATE_FLOW_TABLE, CRL_PRM_CREATE_FLOW_TABLE_IN_BYTES, 16);
	crl_prm_set(in, CRL_PRM_CREATE_FLOW_TABLE_IN_TABLE_TYPE, 4);
	fx_refused(fx, SCX_FW_R_FT_TYPE);
	cmd_group(fx, low, 3, 8, 0), fx_refused(fx, SCX_FW_R_FT_INDEX);
	mask = cmd_group(fx, low, 0, 3, 0xffff);
	crl_prm_set(fx->in, CRL_PRM_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE, 0);
	fx_refused(fx, SCX_FW_R_FLOW_MASK);
	crl_prm_set(fx->in, CRL_PRM_CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE, 3);
	mask[64 + 7] = 1;
	fx_refused(fx, SCX_FW_R_FLOW_MASK);
	mask[64 + 7] = 0, fx_ok(fx);
	g = crl_prm_get(fx->out, CRL_PRM_CREATE_FLOW_GROUP_OUT_GROUP_ID);
	cmd_fte(fx, low, g, 4, 0x0800, 1, high), fx_refused(fx, SCX_FW_R_FT_INDEX);
	mask = cmd_fte(fx, low, g, 0, 0x0800, 1, high);
	mask = crl_prm_at(mask, CRL_PRM_FLOW_CONTEXT_MATCH_VALUE);
	mask[0] = 1, fx_refused(fx, SCX_FW_R_FTE_MASK);
	cmd_fte(fx, low, g, 0, 0x0800, 1, low), fx_refused(fx, SCX_FW_R_FT_LEVEL);
	cmd_fte(fx, low, g, 0, 0x0800, 0x99, high), fx_refused(fx, SCX_FW_R_FTE_ACTION);
	cmd_fte(fx, low, g, 0, 0x0800, 1, high), fx_ok(fx);
	fx_in(fx, CRL_CMD_OP_DESTROY_FLOW_TABLE, CRL_PRM_DESTROY_FLOW_TABLE_IN_BYTES, 16);
	crl_prm_set(fx->in, CRL_PRM_DESTROY_FLOW_TABLE_IN_TABLE_ID, high);
	fx_refused(fx, SCX_FW_R_IN_USE);
}

/*
 * A table's number comes up again for one of a lower level. What led to the old one on a miss must
 * not lead to the new one: here that would be a circle without end.
 */
static void
flow_table_number_again(void **state)
{
	struct fx *fx = *state;
	uint32_t high, low, again = 0;

	high = table(fx, 6, 0);
	low = table(fx, 5, high);
	destroy(fx, high);
	while (again != high) {
		if (again != 0)
			destroy(fx, again);
		again = table(fx, 4, low);
	}
	root(fx, again);
	assert_int_equal(0, leads_to(fx, 0x0800));
	root(fx, low);
	assert_int_equal(0, leads_to(fx, 0x0800));
}

static void
every_refusal_was_raised(void **state)
{
	unsigned missing = 0;

	for (unsigned i = SCX_FW_R_FLOW_TABLES; i < SCX_FW_R_COUNT; i++) {
		if (scx_fw_refused(i) == 0) {
			print_error("%s was not raised\n", scx_fw_refusal_name(i));
			missing++;
		}
	}
	assert_int_equal(0, missing);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(flow_tables, setup, guest_free),
		cmocka_unit_test_setup_teardown(flow_table_number_again, setup, guest_free),
		cmocka_unit_test_setup_teardown(flow_table_refusals, setup, guest_free),
		cmocka_unit_test(every_refusal_was_raised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
