/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mailboxes made at random from fixed seeds: wholly random ones, right commands with bits turned,
 * and right commands with numbers of other objects, of random lengths. Nothing may crash (the ASan
 * build is the judge), no answer may be anything but OK or a refusal of the list, nothing is left
 * after the context is closed, and a right command still goes through at the end.
 */
#include "fixture.h"

#define ROUNDS 20000u

static uint64_t seed;

static uint32_t
rnd(void)
{
	/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" */
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (uint32_t)(seed * 0x2545f4914f6cdd1dull >> 32);
}

static const uint16_t ops[] = {
#define OP(NAME, value) value,
	CRL_CMD_OPS(OP)};

static void
right_command(struct fx *fx)
{
	switch (rnd() % 9) {
	case 0:
		fx_cmd_td(fx);
		break;
	case 1:
		fx_cmd_tis(fx);
		break;
	case 2:
		fx_cmd_cq(fx);
		break;
	case 3:
		fx_cmd_sq(fx);
		break;
	case 4:
		fx_cmd_rq(fx);
		break;
	case 5:
		fx_cmd_rqt(fx, 1u << rnd() % 4);
		break;
	case 6:
		fx_cmd_tir(fx);
		break;
	case 7:
		fx_cmd_state(fx, rnd() % 2 ? CRL_CMD_OP_MODIFY_SQ : CRL_CMD_OP_MODIFY_RQ,
			rnd() % 2 ? fx->sq : fx->rq, rnd() % 4, rnd() % 4);
		break;
	default:
		fx_cmd_num(fx, ops[rnd() % (sizeof(ops) / sizeof(ops[0]))], rnd() & 0xffffff,
			FX_IN_MAX);
		break;
	}
}

/* Numbers that exist, so that wrong kinds and right ones both happen. */
static uint32_t
some_number(struct fx *fx)
{
	const uint32_t all[] = {fx->td, fx->tis, fx->cq, fx->sq, fx->rq, fx->rqt, fx->tir, fx->pdn,
		fx->uar, fx->umem, fx->umem_ro, 0, 1, 0xffffff};

	return all[rnd() % (sizeof(all) / sizeof(all[0]))];
}

static void
spoil(struct fx *fx)
{
	for (uint32_t n = rnd() % 4; n > 0; n--) {
		uint32_t at = rnd() % (uint32_t)fx->in_bytes;

		fx->in[at] ^= (uint8_t)(1u << rnd() % 8);
	}
	if (rnd() % 3 == 0)
		((crl_be32 *)fx->in)[rnd() % (fx->in_bytes / 4)] = crl_to_be32(some_number(fx));
	if (rnd() % 16 == 0)
		fx->in_bytes = 8 + rnd() % 300;
	if (rnd() % 16 == 0)
		fx->out_bytes = 8 + rnd() % 300;
}

static void
random_mailbox(struct fx *fx)
{
	fx_in(fx, ops[rnd() % (sizeof(ops) / sizeof(ops[0]))], 16 + rnd() % 512 / 4 * 4,
		16 + rnd() % 4096);
	for (size_t i = 2; i < fx->in_bytes; i++)
		fx->in[i] = rnd() % 4 ? 0 : (uint8_t)rnd();
}

static void
check_answer(struct fx *fx, uint32_t status)
{
	if (status == CRL_CMD_STAT_OK) {
		assert_int_equal(0, fx->syndrome);
		return;
	}
	assert_int_equal(SCX_SYNDROME, fx->syndrome & 0xffffff00);
	assert_in_range(fx->syndrome & 0xff, 0, SCX_FW_R_COUNT - 1);
	for (size_t i = 8; i < fx->out_bytes; i++)
		assert_int_equal(0, fx->out[i]);	/* a refusal tells nothing else */
	assert_int_equal(0xee, fx->out[fx->out_bytes]); /* and nothing behind the room given */
}

static void
fuzz(uint64_t with_seed)
{
	struct fx *fx = fx_make(NULL);
	unsigned ok = 0;

	seed = with_seed;
	fx_queues(fx);
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (rnd() % 4 == 0) {
			random_mailbox(fx);
		} else {
			right_command(fx);
			spoil(fx);
		}
		check_answer(fx, fx_run(fx));
		ok += fx->status == CRL_CMD_STAT_OK;
		if (i % 64 == 0)
			scx_nic_poll(fx->nic);
	}
	print_message("seed %llu: %u of %u commands went through\n", (unsigned long long)with_seed,
		ok, ROUNDS);
	assert_true(
		ok > ROUNDS / 100); /* else the mistakes hide everything behind the first checks */
	scx_uid_destroy(fx->nic, fx->uid);
	for (unsigned k = 0; k < SCX_FW_KINDS; k++)
		assert_int_equal(0, fx->nic->table[k].used);
	assert_int_equal(0, scx_uid_alloc(fx->nic, &fx->uid));
	fx_cmd_td(fx);
	fx_ok(fx);
	fx_drop(fx);
}

static void
fixed_seeds(void **state)
{
	fuzz(1);
	fuzz(20261129);
	fuzz(0x9e3779b97f4a7c15ull);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_seeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
