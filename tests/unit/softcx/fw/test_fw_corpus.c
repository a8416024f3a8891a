/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands that real cards answered, tests/corpus/commands.txt: decoded with the PRM tables, and
 * answered alike by the software ConnectX. The file's path comes in CRL_CORPUS.
 */
#include "../corpus_lines.h"
#include "guest.h"

#define RECORDS_MAX 64
#define BOX_MAX	    1024u

struct box {
	CRL_ALIGNAS(8) uint8_t b[BOX_MAX];
	uint32_t n;
};

struct record {
	char id[32], reporter[8], link[160], name[40], words[40];
	uint32_t opcode, op_mod, status, syndrome;
	struct box in, out;
};

static struct record records[RECORDS_MAX];
static unsigned nr;

static void
append(struct box *box, const char *text)
{
	box->n += corpus_hex(text, box->b + box->n, BOX_MAX - box->n);
}

static void
read_line(const char *line)
{
	struct record *r = nr > 0 ? &records[nr - 1] : NULL;

	if (strncmp(line, "record ", 7) == 0) {
		assert_true(nr < RECORDS_MAX);
		r = &records[nr++];
		assert_int_equal(2, sscanf(line, "record %31s %7s", r->id, r->reporter));
		return;
	}
	if (r == NULL)
		return;
	if (strncmp(line, "link ", 5) == 0)
		snprintf(r->link, sizeof(r->link), "%.159s", line + 5);
	else if (strncmp(line, "cmd ", 4) == 0)
		assert_int_equal(
			3, sscanf(line, "cmd %39s %x %x", r->name, &r->opcode, &r->op_mod));
	else if (strncmp(line, "status ", 7) == 0)
		assert_int_equal(2, sscanf(line, "status %x %39[^\n]", &r->status, r->words));
	else if (strncmp(line, "syndrome ", 9) == 0)
		r->syndrome = (uint32_t)strtoul(line + 9, NULL, 16);
	else if (strncmp(line, "in ", 3) == 0)
		append(&r->in, line + 3);
	else if (strncmp(line, "out ", 4) == 0)
		append(&r->out, line + 4);
}

static int
load(void **state)
{
	(void)state;
	corpus_lines(read_line);
	return 0;
}

static const struct record *
find(const char *id)
{
	for (unsigned i = 0; i < nr; i++)
		if (strcmp(records[i].id, id) == 0)
			return &records[i];
	fail_msg("no record %s", id);
	return NULL;
}

static const char *
words_of(uint32_t status)
{
	switch (status) {
#define WORDS(NAME, value, words)                                                                  \
	case value:                                                                                \
		return words;
		CRL_CMD_STATS(WORDS)
#undef WORDS
	}
	return "";
}

static const char *
name_of(uint32_t opcode)
{
	switch (opcode) {
#define OP(NAME, value)                                                                            \
	case value:                                                                                \
		return #NAME;
		CRL_CMD_OPS(OP)
#undef OP
	}
	return "";
}

static void
the_list(void **state)
{
	unsigned reporters = 0;

	(void)state;
	for (unsigned i = 0; i < nr; i++) {
		int first = 1;

		for (unsigned k = 0; k < i; k++)
			first = first && strcmp(records[k].reporter, records[i].reporter) != 0;
		reporters += (unsigned)first;
		assert_int_equal(0, strncmp(records[i].link, "https://", 8));
		printf("%-16s %s\n", records[i].id, records[i].link);
	}
	printf("%u commands of %u reporters\n", nr, reporters);
	assert_true(nr >= 8 && reporters >= 8);
}

/* Names and words are the kernel's; what a dump says of the answer is what its bytes say. */
static void
decoded(void **state)
{
	(void)state;
	for (unsigned i = 0; i < nr; i++) {
		const struct record *r = &records[i];

		print_message("%s\n", r->id);
		assert_string_equal(r->name, name_of(r->opcode));
		assert_string_equal(r->words, words_of(r->status));
		if (r->out.n > 0) {
			assert_int_equal(r->status, crl_prm_get(r->out.b, CRL_PRM_CMD_OUT_STATUS));
			assert_int_equal(
				r->syndrome, crl_prm_get(r->out.b, CRL_PRM_CMD_OUT_SYNDROME));
		}
		if (r->in.n > 0) {
			assert_int_equal(r->opcode, crl_prm_get(r->in.b, CRL_PRM_CMD_IN_OPCODE));
			assert_int_equal(r->op_mod, crl_prm_get(r->in.b, CRL_PRM_CMD_IN_OP_MOD));
		}
	}
}

/* The queue pairs' contexts, field by field as the report's program had made them. */
static void
queue_pairs(void **state)
{
	static const char *const ids[] = {"qp-made-1", "qp-made-2", "qp-limit"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct record *r = find(ids[i]);
		const uint8_t *qpc = crl_prm_at(r->in.b, CRL_PRM_CREATE_QP_IN_QPC);
		uint32_t pages = (r->in.n - CRL_PRM_CREATE_QP_IN_BYTES) / 8;

		assert_int_equal(0, crl_prm_get(qpc, CRL_PRM_QPC_STATE));
		assert_int_equal(0, crl_prm_get(qpc, CRL_PRM_QPC_ST)); /* RC */
		assert_int_equal(3, crl_prm_get(qpc, CRL_PRM_QPC_PM_STATE));
		assert_int_equal(0x18, crl_prm_get(qpc, CRL_PRM_QPC_PD));
		assert_int_equal(7, crl_prm_get(qpc, CRL_PRM_QPC_LOG_RQ_SIZE));
		assert_int_equal(0, crl_prm_get(qpc, CRL_PRM_QPC_LOG_RQ_STRIDE));
		assert_int_equal(9, crl_prm_get(qpc, CRL_PRM_QPC_LOG_SQ_SIZE));
		assert_int_equal(i == 2 ? 0x16 : 0x15, crl_prm_get(qpc, CRL_PRM_QPC_UAR_PAGE));
		assert_int_equal(0x0003ff5d + i, crl_prm_get(qpc, CRL_PRM_QPC_USER_INDEX));
		assert_int_equal(0x10d, crl_prm_get(qpc, CRL_PRM_QPC_CQN_SND));
		assert_int_equal(0x10d, crl_prm_get(qpc, CRL_PRM_QPC_CQN_RCV));
		assert_int_equal(i == 0 ? 2 : i == 1 ? 10 : 10, pages);
		if (i < 2)
			assert_int_equal(
				0x40121 + i, crl_prm_get(r->out.b, CRL_PRM_CREATE_QP_OUT_QPN));
	}
}

/* The command in fx is the record's: refused for that reason, with the card's status. */
static void
alike(struct fx *fx, const char *id, enum scx_fw_refusal why)
{
	const struct record *r = find(id);

	assert_int_equal(r->opcode, crl_prm_get(fx->in, CRL_PRM_CMD_IN_OPCODE));
	fx_refused(fx, why);
	assert_int_equal(r->status, fx->status);
}

static uint8_t *
cmd_mkey(struct fx *fx)
{
	uint8_t *in = fx_in(fx, CRL_CMD_OP_CREATE_MKEY, CRL_PRM_CREATE_MKEY_IN_BYTES + 8, 16);
	uint8_t *mkc = crl_prm_at(in, CRL_PRM_CREATE_MKEY_IN_MEMORY_KEY_MKEY_ENTRY);

	crl_prm_set(mkc, CRL_PRM_MKC_ACCESS_MODE_1_0, 1);
	crl_prm_set(mkc, CRL_PRM_MKC_LR, 1);
	crl_prm_set(mkc, CRL_PRM_MKC_QPN, 0xffffff);
	crl_prm_set(mkc, CRL_PRM_MKC_PD, fx->pdn);
	crl_prm_set64(mkc, CRL_PRM_MKC_LEN, 4096);
	crl_prm_set(mkc, CRL_PRM_MKC_LOG_PAGE_SIZE, 12);
	crl_prm_set64(in + CRL_PRM_CREATE_MKEY_IN_BYTES, 64, 0x10000);
	return mkc;
}

static void
of_a_kernel(void **state)
{
	struct fx *fx = *state;
	uint32_t bit = (CRL_PRM_MKC_LOG_PAGE_SIZE >> 16) - 1, page = 0x40;
	uint8_t *in, *mkc;

	fx_in(fx, CRL_CMD_OP_QUERY_HCA_CAP, 16,
		CRL_PRM_QUERY_HCA_CAP_OUT_BYTES > sizeof(fx->out)
			? sizeof(fx->out)
			: CRL_PRM_QUERY_HCA_CAP_OUT_BYTES);
	crl_prm_set(fx->in, CRL_PRM_CMD_IN_OP_MOD, page);
	alike(fx, "caps-page", SCX_FW_R_CAP_PAGE);

	in = fx_in(fx, CRL_CMD_OP_ACCESS_REG, 16 + 256, 16 + 256);
	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, 1);
	crl_prm_set(in, CRL_PRM_ACCESS_REGISTER_IN_REGISTER_ID, 0x5008);
	crl_prm_set(in + 16, CRL_PRM_PPCNT_REG_LOCAL_PORT, 2);
	alike(fx, "ppcnt-port", SCX_FW_R_REGISTER_VALUE);

	cmd_roce(fx, 1);
	alike(fx, "roce-off", SCX_FW_R_ROCE);

	fx_in(fx, CRL_CMD_OP_ENABLE_HCA, CRL_PRM_ENABLE_HCA_IN_BYTES, 16), fx_ok(fx);
	fx_in(fx, CRL_CMD_OP_ENABLE_HCA, CRL_PRM_ENABLE_HCA_IN_BYTES, 16);
	alike(fx, "enable-again", SCX_FW_R_HCA_ENABLED);

	mkc = cmd_mkey(fx);
	mkc[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	alike(fx, "mkey-page", SCX_FW_R_RESERVED);
	cmd_mkey(fx), fx_ok(fx);
	fx_cmd_num(fx, CRL_CMD_OP_DEALLOC_PD, fx->pdn, 16);
	alike(fx, "pd-in-use", SCX_FW_R_IN_USE);
	for (unsigned i = 0; i < 1u << 20; i++) {
		cmd_mkey(fx);
		if (fx_run(fx) != CRL_CMD_STAT_OK)
			break;
	}
	cmd_mkey(fx);
	alike(fx, "mkey-limit", SCX_FW_R_FULL);
}

static void
of_a_user(void **state)
{
	struct fx *fx = *state;
	uint8_t *rqtc;

	fx_queues(fx);
	rqtc = fx_cmd_rqt(fx, 4);
	crl_prm_set(rqtc, CRL_PRM_RQTC_RQT_MAX_SIZE, 2);
	alike(fx, "rqt-max", SCX_FW_R_RQT_SIZE);
}

static int
real_time_new(void **state)
{
	*state = fx_make("bf3");
	return 0;
}

static void
of_a_real_time_card(void **state)
{
	struct fx *fx = *state;

	fx_queues(fx);
	crl_prm_set(fx_cmd_sq(fx), CRL_PRM_SQC_TS_FORMAT, CRL_TS_FREE_RUNNING);
	alike(fx, "sq-timestamp", SCX_FW_R_TS_FORMAT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_list),
		cmocka_unit_test(decoded),
		cmocka_unit_test(queue_pairs),
		cmocka_unit_test_setup_teardown(of_a_kernel, guest_new, guest_free),
		cmocka_unit_test_setup_teardown(of_a_user, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(of_a_real_time_card, real_time_new, fx_free),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
