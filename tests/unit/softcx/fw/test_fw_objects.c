/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every command's way without mistakes, through the direct front: what is created can be queried,
 * modified, and goes again in the right order only.
 */
#include "fixture.h"

static void
caps_are_readable(void **state)
{
	static const struct {
		uint32_t page, field, want;
	} want[] = {
		{CRL_HCA_CAP_GENERAL, CRL_PRM_HCA_CAP_LOG_MAX_SQ, 11},
		{CRL_HCA_CAP_GENERAL, CRL_PRM_HCA_CAP_CQE_VERSION, 1},
		{CRL_HCA_CAP_GENERAL, CRL_PRM_HCA_CAP_STRIDING_RQ, 0},
		{CRL_HCA_CAP_GENERAL, CRL_PRM_HCA_CAP_SQ_TS_FORMAT, CRL_TS_CAP_FREE_RUNNING},
		{CRL_HCA_CAP_ETH, CRL_PRM_ETH_CAPS_CSUM_CAP, 1},
		{CRL_HCA_CAP_ETH, CRL_PRM_ETH_CAPS_LRO_CAP, 0},
		{CRL_HCA_CAP_ETH, CRL_PRM_ETH_CAPS_RSS_IND_TBL_CAP, 9},
		{CRL_HCA_CAP_ATOMIC, CRL_PRM_HCA_CAP_VHCA_ID, 0},
	};
	struct fx *fx = *state;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		for (uint32_t current = 0; current < 2; current++) {
			static CRL_ALIGNAS(8) uint8_t out[CRL_PRM_QUERY_HCA_CAP_OUT_BYTES];
			uint8_t *in = fx_in(
				fx, CRL_CMD_OP_QUERY_HCA_CAP, CRL_PRM_QUERY_HCA_CAP_IN_BYTES, 16);

			crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, want[i].page << 1 | current);
			assert_int_equal(0, scx_cmd(fx->nic, fx->uid, in, fx->in_bytes, out,
						    sizeof(out), NULL));
			assert_int_equal(0, crl_prm_get(out, CRL_PRM_CMD_OUT_STATUS));
			assert_int_equal(want[i].want,
				crl_prm_get(crl_prm_at(out, CRL_PRM_QUERY_HCA_CAP_OUT_CAPABILITY),
					want[i].field));
		}
	}
}

static void
vport_tells(void **state)
{
	struct fx *fx = *state;
	uint8_t *ctx, *mac;

	fx_in(fx, CRL_CMD_OP_QUERY_VPORT_STATE, CRL_PRM_QUERY_VPORT_STATE_IN_BYTES,
		CRL_PRM_QUERY_VPORT_STATE_OUT_BYTES);
	fx_ok(fx);
	assert_int_equal(1, crl_prm_get(fx->out, CRL_PRM_QUERY_VPORT_STATE_OUT_STATE));
	scx_port_link(fx->nic, 0);
	assert_int_equal(1, fx->nr_events);
	assert_int_equal(SCX_EVENT_PORT_CHANGE, fx->event.type);
	assert_int_equal(SCX_EVENT_PORT_DOWN, fx->event.subtype);
	scx_port_link(fx->nic, 0); /* no change, no event */
	assert_int_equal(1, fx->nr_events);
	fx_ok(fx);
	assert_int_equal(0, crl_prm_get(fx->out, CRL_PRM_QUERY_VPORT_STATE_OUT_STATE));

	fx_in(fx, CRL_CMD_OP_QUERY_NIC_VPORT_CONTEXT, CRL_PRM_QUERY_NIC_VPORT_CONTEXT_IN_BYTES,
		CRL_PRM_QUERY_NIC_VPORT_CONTEXT_OUT_BYTES);
	fx_ok(fx);
	ctx = crl_prm_at(fx->out, CRL_PRM_QUERY_NIC_VPORT_CONTEXT_OUT_NIC_VPORT_CONTEXT);
	mac = crl_prm_at(ctx, CRL_PRM_NIC_VPORT_CONTEXT_PERMANENT_ADDRESS);
	assert_int_equal(0x0200, crl_prm_get(mac, CRL_PRM_MAC_ADDRESS_MAC_ADDR_47_32));
	assert_int_equal(1, crl_prm_get(mac, CRL_PRM_MAC_ADDRESS_MAC_ADDR_31_0));
	assert_int_equal(1500, crl_prm_get(ctx, CRL_PRM_NIC_VPORT_CONTEXT_MTU));
}

static void
small_objects(void **state)
{
	static const struct {
		uint16_t make, drop;
	} pair[] = {
		{CRL_CMD_OP_ALLOC_PD, CRL_CMD_OP_DEALLOC_PD},
		{CRL_CMD_OP_ALLOC_UAR, CRL_CMD_OP_DEALLOC_UAR},
		{CRL_CMD_OP_ALLOC_TRANSPORT_DOMAIN, CRL_CMD_OP_DEALLOC_TRANSPORT_DOMAIN},
	};
	struct fx *fx = *state;

	for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
		uint32_t num;

		fx_in(fx, pair[i].make, 16, 16);
		fx_ok(fx);
		num = fx_num(fx);
		assert_int_not_equal(0, num);
		fx_destroy(fx, pair[i].drop, num);
		fx_cmd_num(fx, pair[i].drop, num, 16);
		fx_refused(fx, SCX_FW_R_NO_OBJECT);
	}
}

static void
queries_tell_what_was_created(void **state)
{
	struct fx *fx = *state;
	uint8_t *ctx;

	fx_queues(fx);
	ctx = FX_QUERY(fx, SQ, SQ_CONTEXT, fx->sq);
	assert_int_equal(fx->cq, crl_prm_get(ctx, CRL_PRM_SQC_CQN));
	assert_int_equal(CRL_Q_STATE_RDY, crl_prm_get(ctx, CRL_PRM_SQC_STATE));
	assert_int_equal(
		FX_LOG_SQ, crl_prm_get(crl_prm_at(ctx, CRL_PRM_SQC_WQ), CRL_PRM_WQ_LOG_WQ_SZ));
	ctx = FX_QUERY(fx, RQ, RQ_CONTEXT, fx->rq);
	assert_int_equal(fx->cq, crl_prm_get(ctx, CRL_PRM_RQC_CQN));
	assert_int_equal(CRL_Q_STATE_RDY, crl_prm_get(ctx, CRL_PRM_RQC_STATE));
	ctx = FX_QUERY(fx, CQ, CQ_CONTEXT, fx->cq);
	assert_int_equal(FX_LOG_CQ, crl_prm_get(ctx, CRL_PRM_CQC_LOG_CQ_SIZE));
	assert_int_equal(0, crl_prm_get(ctx, CRL_PRM_CQC_PRODUCER_COUNTER));
	ctx = FX_QUERY(fx, TIS, TIS_CONTEXT, fx->tis);
	assert_int_equal(fx->td, crl_prm_get(ctx, CRL_PRM_TISC_TRANSPORT_DOMAIN));
	ctx = FX_QUERY(fx, TIR, TIR_CONTEXT, fx->tir);
	assert_int_equal(fx->rqt, crl_prm_get(ctx, CRL_PRM_TIRC_INDIRECT_TABLE));
	ctx = fx_query(fx, CRL_CMD_OP_QUERY_RQT, fx->rqt, CRL_PRM_QUERY_RQT_OUT_BYTES + 16,
		CRL_PRM_QUERY_RQT_OUT_RQT_CONTEXT);
	assert_int_equal(4, crl_prm_get(ctx, CRL_PRM_RQTC_RQT_ACTUAL_SIZE));
	assert_int_equal(fx->rq, crl_from_be32(crl_prm_rqt_list(ctx)[3]));
}

static void
numbers_are_disjoint(void **state)
{
	struct fx *fx = *state;
	uint32_t num[7];

	fx_queues(fx);
	memcpy(num, (uint32_t[]){fx->cq, fx->sq, fx->rq, fx->rqt, fx->tir, fx->tis, fx->td},
		sizeof(num));
	for (size_t i = 0; i < 7; i++)
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(num[i], num[k]);
}

static void
modify_rqt_and_tir(void **state)
{
	struct fx *fx = *state;
	uint8_t *in, *tirc, *ctx;
	uint32_t rq2, rqt2;

	fx_queues(fx);
	fx_cmd_rq(fx), fx_ok(fx), rq2 = fx_num(fx);
	/* The table's two queues become one: the first is then free of it. */
	fx_cmd_rqt(fx, 2);
	crl_prm_set(fx->in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_MODIFY_RQT);
	crl_prm_set(fx->in, CRL_PRM_MODIFY_RQT_IN_RQTN, fx->rqt);
	crl_prm_set(
		crl_prm_at(fx->in, CRL_PRM_MODIFY_RQT_IN_BITMASK), CRL_PRM_RQT_BITMASK_RQN_LIST, 1);
	crl_prm_rqt_list(crl_prm_at(fx->in, CRL_PRM_MODIFY_RQT_IN_CTX))[0] = crl_to_be32(rq2);
	crl_prm_rqt_list(crl_prm_at(fx->in, CRL_PRM_MODIFY_RQT_IN_CTX))[1] = crl_to_be32(rq2);
	fx_ok(fx);
	fx_destroy(fx, CRL_CMD_OP_DESTROY_RQ, fx->rq);
	fx->rq = rq2;
	fx_cmd_num(fx, CRL_CMD_OP_DESTROY_RQ, rq2, 16);
	fx_refused(fx, SCX_FW_R_IN_USE);
	/* A TIR moves to another table, and its old one can go. */
	fx_cmd_rqt(fx, 1), fx_ok(fx), rqt2 = fx_num(fx);
	in = fx_in(fx, CRL_CMD_OP_MODIFY_TIR, CRL_PRM_MODIFY_TIR_IN_BYTES, 16);
	tirc = crl_prm_at(in, CRL_PRM_MODIFY_TIR_IN_CTX);
	crl_prm_set(in, CRL_PRM_MODIFY_TIR_IN_TIRN, fx->tir);
	ctx = crl_prm_at(in, CRL_PRM_MODIFY_TIR_IN_BITMASK);
	crl_prm_set(ctx, CRL_PRM_MODIFY_TIR_BITMASK_INDIRECT_TABLE, 1);
	crl_prm_set(ctx, CRL_PRM_MODIFY_TIR_BITMASK_HASH, 1);
	crl_prm_set(ctx, CRL_PRM_MODIFY_TIR_BITMASK_SELF_LB_EN, 1);
	crl_prm_set(tirc, CRL_PRM_TIRC_INDIRECT_TABLE, rqt2);
	crl_prm_set(tirc, CRL_PRM_TIRC_RX_HASH_FN, CRL_HASH_XOR8);
	fx_ok(fx);
	fx_destroy(fx, CRL_CMD_OP_DESTROY_RQT, fx->rqt);
	ctx = FX_QUERY(fx, TIR, TIR_CONTEXT, fx->tir);
	assert_int_equal(CRL_HASH_XOR8, crl_prm_get(ctx, CRL_PRM_TIRC_RX_HASH_FN));
	assert_int_equal(rqt2, crl_prm_get(ctx, CRL_PRM_TIRC_INDIRECT_TABLE));
	assert_int_equal(fx->td, crl_prm_get(ctx, CRL_PRM_TIRC_TRANSPORT_DOMAIN));
}

static void
modify_rq_switches_stripping(void **state)
{
	struct fx *fx = *state;
	uint8_t *ctx;

	fx_queues(fx);
	ctx = fx_cmd_state(fx, CRL_CMD_OP_MODIFY_RQ, fx->rq, CRL_Q_STATE_RDY, CRL_Q_STATE_RDY);
	crl_prm_set64(fx->in, CRL_PRM_MODIFY_RQ_IN_MODIFY_BITMASK, CRL_MODIFY_RQ_VSD);
	crl_prm_set(ctx, CRL_PRM_RQC_VSD, 0);
	fx_ok(fx);
	ctx = FX_QUERY(fx, RQ, RQ_CONTEXT, fx->rq);
	assert_int_equal(0, crl_prm_get(ctx, CRL_PRM_RQC_VSD));
	assert_int_equal(CRL_Q_STATE_RDY, crl_prm_get(ctx, CRL_PRM_RQC_STATE));
}

/* net_mlx5's drop queue: log2 size 0, and a direct TIR needs no table. */
static void
drop_queue_of_one_entry(void **state)
{
	struct fx *fx = *state;
	uint8_t *rqc, *tirc;

	fx_cmd_td(fx), fx_ok(fx), fx->td = fx_num(fx);
	fx_cmd_cq(fx), fx_ok(fx), fx->cq = fx_num(fx);
	rqc = fx_cmd_rq(fx);
	crl_prm_set(crl_prm_at(rqc, CRL_PRM_RQC_WQ), CRL_PRM_WQ_LOG_WQ_SZ, 0);
	fx_ok(fx), fx->rq = fx_num(fx);
	tirc = fx_cmd_tir(fx);
	crl_prm_set(tirc, CRL_PRM_TIRC_DISP_TYPE, CRL_TIR_DIRECT);
	crl_prm_set(tirc, CRL_PRM_TIRC_INDIRECT_TABLE, 0);
	crl_prm_set(tirc, CRL_PRM_TIRC_INLINE_RQN, fx->rq);
	crl_prm_set(tirc, CRL_PRM_TIRC_RX_HASH_FN, CRL_HASH_NONE);
	fx_ok(fx), fx->tir = fx_num(fx);
	fx_destroy(fx, CRL_CMD_OP_DESTROY_TIR, fx->tir);
	fx_destroy(fx, CRL_CMD_OP_DESTROY_RQ, fx->rq);
	fx_destroy(fx, CRL_CMD_OP_DESTROY_CQ, fx->cq);
	fx_destroy(fx, CRL_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, fx->td);
}

/* page_offset counts in page size / 64: with 16 KiB pages 4 of them are 1024 bytes. */
static void
page_offset_units(void **state)
{
	struct fx *fx = *state;
	uint8_t *cqc = fx_cmd_cq(fx);

	memset(fx->mem + FX_CQ_RING + 1024, 0xff, 4096);
	crl_prm_set(cqc, CRL_PRM_CQC_LOG_PAGE_SIZE, 2);
	crl_prm_set(cqc, CRL_PRM_CQC_PAGE_OFFSET, 4);
	fx_ok(fx), fx->cq = fx_num(fx);
	/* the last offset at which the ring still fits, and the next one */
	cqc = fx_cmd_cq(fx);
	crl_prm_set64(fx->in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_OFFSET, FX_MEM - 8192);
	crl_prm_set(cqc, CRL_PRM_CQC_LOG_PAGE_SIZE, 2);
	crl_prm_set(cqc, CRL_PRM_CQC_PAGE_OFFSET, 16);
	fx_ok(fx);
	crl_prm_set(cqc, CRL_PRM_CQC_PAGE_OFFSET, 17);
	fx_refused(fx, SCX_FW_R_RING_BOUNDS);
}

static void
order_of_destruction(void **state)
{
	static const struct {
		uint16_t drop;
		size_t num;
	} held[] = {
		{CRL_CMD_OP_DESTROY_CQ, offsetof(struct fx, cq)},
		{CRL_CMD_OP_DESTROY_TIS, offsetof(struct fx, tis)},
		{CRL_CMD_OP_DESTROY_RQ, offsetof(struct fx, rq)},
		{CRL_CMD_OP_DESTROY_RQT, offsetof(struct fx, rqt)},
		{CRL_CMD_OP_DESTROY_TIR, offsetof(struct fx, tir)}, /* by the rule */
		{CRL_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, offsetof(struct fx, td)},
		{CRL_CMD_OP_DEALLOC_PD, offsetof(struct fx, pdn)},
		{CRL_CMD_OP_DEALLOC_UAR, offsetof(struct fx, uar)},
	};
	struct fx *fx = *state;
	struct scx_obj obj = {.opcode = CRL_CMD_OP_CREATE_SQ};

	fx_queues(fx);
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		fx_cmd_num(fx, held[i].drop, *(uint32_t *)((uint8_t *)fx + held[i].num), 16);
		fx_refused(fx, SCX_FW_R_IN_USE);
		assert_int_equal(CRL_CMD_STAT_BAD_RES_STATE_ERR, fx->status);
	}
	assert_int_equal(-EBUSY, scx_umem_dereg(fx->nic, fx->uid, fx->umem));
	assert_int_equal(-EBUSY, scx_pd_free(fx->nic, fx->uid, fx->pdn));
	assert_int_equal(0, scx_umem_dereg(fx->nic, fx->uid, fx->umem_ro));
	obj.num = fx->sq;
	assert_int_equal(0, scx_obj_destroy(fx->nic, fx->uid, &obj));
	assert_int_equal(-EINVAL, scx_obj_destroy(fx->nic, fx->uid, &obj));
	obj.opcode = CRL_CMD_OP_CREATE_CQ;
	obj.num = fx->cq;
	assert_int_equal(-EBUSY, scx_obj_destroy(fx->nic, fx->uid, &obj));
	fx_destroy(fx, CRL_CMD_OP_DESTROY_TIS, fx->tis); /* nothing else held it */
	/* The rest is what scx_uid_destroy() of the tear-down must manage; the leak check sees. */
}

/* Also: an object's number and kind come back through scx_cmd(), for the front's handle. */
static void
created_object_is_told(void **state)
{
	struct fx *fx = *state;
	struct scx_obj obj = {0};

	fx_cmd_td(fx);
	assert_int_equal(
		0, scx_cmd(fx->nic, fx->uid, fx->in, fx->in_bytes, fx->out, fx->out_bytes, &obj));
	assert_int_equal(CRL_CMD_OP_ALLOC_TRANSPORT_DOMAIN, obj.opcode);
	assert_int_equal(fx_num(fx), obj.num);
	assert_int_equal(0, scx_obj_destroy(fx->nic, fx->uid, &obj));
}

static void
uid_destroy_leaves_nothing(void **state)
{
	struct fx *fx = *state;

	fx_queues(fx);
	scx_uid_destroy(fx->nic, fx->uid);
	for (unsigned k = 0; k < SCX_FW_KINDS; k++)
		assert_int_equal(0, fx->nic->table[k].used);
	assert_int_equal(0, scx_uid_alloc(fx->nic, &fx->uid));
}

static void
a_nic_that_cannot_be(void **state)
{
	static uint8_t uar[2 * 4096];
	const struct scx_nic_cfg right = {.mtu = 1500, .uar_base = uar, .nr_uar_pages = 2};
	struct scx_nic_cfg cfg[] = {right, right, right, right, right, right};
	struct scx_nic *nic;

	cfg[1].profile = "cx4";
	cfg[2].uar_base = NULL;
	cfg[3].nr_uar_pages = 1;
	cfg[4].mtu = 67;
	cfg[5].mtu = SCX_MTU_MAX + 1;
	assert_int_equal(0, scx_nic_create(&cfg[0], &nic));
	assert_int_equal(0, scx_port_mtu(nic, SCX_MTU_MAX));
	assert_int_equal(-EINVAL, scx_port_mtu(nic, 1u << 20));
	scx_nic_destroy(nic);
	scx_nic_destroy(NULL);
	for (size_t i = 1; i < sizeof(cfg) / sizeof(cfg[0]); i++)
		assert_int_equal(-EINVAL, scx_nic_create(&cfg[i], &nic));
}

static void
profiles_differ(void **state)
{
	struct fx *cx5 = fx_make("cx5"), *bf3 = fx_make("bf3");
	uint8_t *ctx;

	/* cx5: the vport asks for inline headers, and the SQ has to take note. */
	fx_cmd_td(cx5), fx_ok(cx5), cx5->td = fx_num(cx5);
	fx_cmd_tis(cx5), fx_ok(cx5), cx5->tis = fx_num(cx5);
	fx_cmd_cq(cx5), fx_ok(cx5), cx5->cq = fx_num(cx5);
	ctx = fx_cmd_sq(cx5);
	fx_refused(cx5, SCX_FW_R_INLINE_MODE);
	crl_prm_set(ctx, CRL_PRM_SQC_MIN_WQE_INLINE_MODE, CRL_INLINE_L2);
	fx_ok(cx5);
	/* bf3: real-time timestamps only. */
	fx_cmd_cq(bf3), fx_ok(bf3), bf3->cq = fx_num(bf3);
	ctx = fx_cmd_rq(bf3);
	crl_prm_set(ctx, CRL_PRM_RQC_TS_FORMAT, CRL_TS_FREE_RUNNING);
	fx_refused(bf3, SCX_FW_R_TS_FORMAT);
	crl_prm_set(ctx, CRL_PRM_RQC_TS_FORMAT, CRL_TS_REAL_TIME);
	fx_ok(bf3);
	fx_drop(cx5);
	fx_drop(bf3);
	assert_null(scx_fw_profile("cx4"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(caps_are_readable, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(vport_tells, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(small_objects, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(queries_tell_what_was_created, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(numbers_are_disjoint, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(modify_rqt_and_tir, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(modify_rq_switches_stripping, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(drop_queue_of_one_entry, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(page_offset_units, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(order_of_destruction, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(created_object_is_told, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(uid_destroy_leaves_nothing, fx_new, fx_free),
		cmocka_unit_test(a_nic_that_cannot_be),
		cmocka_unit_test(profiles_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
