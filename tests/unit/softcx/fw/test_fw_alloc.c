/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory runs out: the N-th allocation of the firmware fails, for every N that a life of a NIC with
 * all its objects has. Each time the call says so, nothing leaks (the ASan build is the judge),
 * references are right, and with memory the same works. Allocations come here by --wrap.
 */
#include "fixture.h"

static unsigned countdown; /* 0: none fails; 1: the next one */

static bool
fails_now(void)
{
	return countdown != 0 && --countdown == 0;
}

void *__real_calloc(size_t nr, size_t bytes);
void *__wrap_calloc(size_t nr, size_t bytes);
int __real_posix_memalign(void **p, size_t align, size_t bytes);
int __wrap_posix_memalign(void **p, size_t align, size_t bytes);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg);

void *
__wrap_calloc(size_t nr, size_t bytes)
{
	return fails_now() ? NULL : __real_calloc(nr, bytes);
}

int
__wrap_posix_memalign(void **p, size_t align, size_t bytes)
{
	return fails_now() ? ENOMEM : __real_posix_memalign(p, align, bytes);
}

int
__wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg)
{
	return fails_now() ? EAGAIN : __real_pthread_create(t, a, f, arg);
}

static void
creating_a_nic(void **state)
{
	static uint8_t uar[2 * 4096];
	const struct scx_nic_cfg cfg = {.mtu = 1500, .uar_base = uar, .nr_uar_pages = 2};
	struct scx_nic *nic;
	unsigned n = 1;
	int rc;

	for (;; n++) {
		countdown = n;
		rc = scx_nic_create(&cfg, &nic);
		if (rc == 0)
			break;
		assert_int_equal(-ENOMEM, rc);
	}
	assert_true(n > SCX_FW_KINDS); /* a table a kind, and the NIC and its data path */
	for (countdown = 1; scx_nic_start(&nic, 1) != 0; countdown = ++n)
		assert_true(n < 100);
	scx_nic_stop(&nic, 1);
	countdown = 0;
	scx_nic_destroy(nic);
}

/* Run the command with every allocation of it failing in turn, then whole. */
static uint32_t
each_fails_once(struct fx *fx)
{
	unsigned n;

	for (n = 1;; n++) {
		countdown = n;
		fx_run(fx);
		if (fx->status == CRL_CMD_STAT_OK)
			break;
		assert_int_equal(SCX_SYNDROME | SCX_FW_R_FULL, fx->syndrome);
		assert_true(n < 10);
	}
	assert_true(n > 1); /* at least the object itself was allocated, and did fail */
	countdown = 0;
	return fx_num(fx);
}

static void
making_objects(void **state)
{
	struct fx *fx = *state;
	uint8_t *bits;

	fx_cmd_td(fx), fx->td = each_fails_once(fx);
	fx_cmd_tis(fx), fx->tis = each_fails_once(fx);
	fx_cmd_cq(fx), fx->cq = each_fails_once(fx);
	fx_cmd_sq(fx), fx->sq = each_fails_once(fx);
	fx_cmd_rq(fx), fx->rq = each_fails_once(fx);
	fx_cmd_rqt(fx, 4), fx->rqt = each_fails_once(fx);
	fx_cmd_tir(fx), fx->tir = each_fails_once(fx);
	fx_cmd_rqt(fx, 2);
	crl_prm_set(fx->in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_MODIFY_RQT);
	crl_prm_set(fx->in, CRL_PRM_MODIFY_RQT_IN_RQTN, fx->rqt);
	bits = crl_prm_at(fx->in, CRL_PRM_MODIFY_RQT_IN_BITMASK);
	crl_prm_set(bits, CRL_PRM_RQT_BITMASK_RQN_LIST, 1);
	each_fails_once(fx);
	/* No reference was left behind by what failed: everything goes, in order. */
	fx_destroy(fx, CRL_CMD_OP_DESTROY_TIR, fx->tir);
	fx_destroy(fx, CRL_CMD_OP_DESTROY_RQT, fx->rqt);
	fx_destroy(fx, CRL_CMD_OP_DESTROY_RQ, fx->rq);
	fx_destroy(fx, CRL_CMD_OP_DESTROY_SQ, fx->sq);
	fx_destroy(fx, CRL_CMD_OP_DESTROY_CQ, fx->cq);
	fx_destroy(fx, CRL_CMD_OP_DESTROY_TIS, fx->tis);
	fx_destroy(fx, CRL_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, fx->td);
}

static void
memory_and_rules(void **state)
{
	static const uint8_t any[64];
	struct fx *fx = *state;
	uint32_t id, key;

#define ONCE(call)                              \
	do {                                    \
		countdown = 1;                  \
		assert_int_equal(-ENOSPC, call); \
		countdown = 0;                  \
		assert_int_equal(0, call);      \
	} while (0)
	fx_queues(fx);
	ONCE(scx_pd_alloc(fx->nic, fx->uid, &id));
	ONCE(scx_uar_alloc(fx->nic, fx->uid, &id));
	ONCE(scx_umem_reg(fx->nic, fx->uid, fx->mem, 64, 0, &id));
	ONCE(scx_mr_reg(fx->nic, fx->uid, fx->pdn, fx->mem, 64, 0, 1, &key, &key));
	ONCE(scx_flow_add(fx->nic, fx->uid, 1, any, any, 64, SCX_FLOW_TIR, fx->tir, 0, &id));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(creating_a_nic),
		cmocka_unit_test_setup_teardown(making_objects, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(memory_and_rules, fx_new, fx_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
