/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See fixture.h. The commands are built with the layouts of drivers/mlx5/prm.h, which
 * tests/unit/mlx5/test_prm.c holds against the headers of others.
 */
#include <time.h>

#include "fixture.h"
#include "drivers/softcx/step.h"

static void
on_event(void *arg, const struct scx_event *ev)
{
	struct fx *fx = arg;

	fx->event = *ev;
	fx->nr_events++;
}

struct fx *
fx_make(const char *profile)
{
	return fx_make_guest(profile, NULL, false);
}

struct fx *
fx_make_guest(const char *profile, const struct scx_guest *guest, bool roce)
{
	struct fx *fx = calloc(1, sizeof(*fx));
	struct scx_nic_cfg cfg = {.profile = profile,
		.name = "fx",
		.seed = 1,
		.mtu = 1500,
		.mac = {2, 0, 0, 0, 0, 1},
		.event = on_event,
		.event_arg = fx,
		.guest = guest,
		.roce = roce,
		.nr_uar_pages = FX_UAR_PAGES};
	uint32_t rkey;

	assert_non_null(fx);
	assert_int_equal(0, posix_memalign((void **)&fx->uar_mem, 4096, FX_UAR_PAGES * 4096));
	assert_int_equal(0, posix_memalign((void **)&fx->mem, 4096, FX_MEM));
	memset(fx->uar_mem, 0, FX_UAR_PAGES * 4096);
	memset(fx->mem, 0, FX_MEM);
	memset(fx->mem + FX_CQ_RING, 0xff, 64u << FX_LOG_CQ);
	cfg.uar_base = fx->uar_mem;
	if (getenv("FX_REMOTE") != NULL) {
		struct scx_step_cfg step = {.seed = 1, .nr_uar_pages = FX_UAR_PAGES};

		cfg.step = scx_step_thread(&step);
		assert_non_null(cfg.step);
	}
	assert_int_equal(0, scx_nic_create(&cfg, &fx->nic));
	assert_int_equal(0, scx_uid_alloc(fx->nic, &fx->uid));
	assert_int_equal(0, scx_pd_alloc(fx->nic, fx->uid, &fx->pdn));
	assert_int_equal(0, scx_uar_alloc(fx->nic, fx->uid, &fx->uar));
	assert_int_equal(0, scx_umem_reg(fx->nic, fx->uid, fx->mem, FX_MEM, 1, &fx->umem));
	assert_int_equal(0, scx_umem_reg(fx->nic, fx->uid, fx->mem, FX_MEM, 0, &fx->umem_ro));
	assert_int_equal(0, scx_mr_reg(fx->nic, fx->uid, fx->pdn, fx->mem, FX_MEM,
				    (uintptr_t)fx->mem, 1, &fx->lkey, &rkey));
	return fx;
}

/* A step behind the GPU's protocol takes what time it takes: some 20 ms here are for it. */
void
fx_poll(struct fx *fx)
{
	const struct timespec nap = {.tv_nsec = 100000};

	for (int i = 0; i < 10; i++)
		scx_nic_poll(fx->nic);
	for (int i = 0; i < 200 && getenv("FX_REMOTE") != NULL; i++) {
		scx_nic_poll(fx->nic);
		nanosleep(&nap, NULL);
	}
}

void
fx_drop(struct fx *fx)
{
	scx_uid_destroy(fx->nic, fx->uid);
	scx_nic_destroy(fx->nic);
	free(fx->uar_mem);
	free(fx->mem);
	free(fx);
}

int
fx_new(void **state)
{
	*state = fx_make(NULL);
	return 0;
}

int
fx_free(void **state)
{
	fx_drop(*state);
	return 0;
}

uint8_t *
fx_in(struct fx *fx, uint16_t opcode, size_t in_bytes, size_t out_bytes)
{
	assert_true(in_bytes <= sizeof(fx->in) && out_bytes <= sizeof(fx->out));
	memset(fx->in, 0, sizeof(fx->in));
	memset(fx->out, 0xee, sizeof(fx->out));
	fx->in_bytes = in_bytes;
	fx->out_bytes = out_bytes;
	crl_prm_set(fx->in, CRL_PRM_CMD_IN_OPCODE, opcode);
	return fx->in;
}

uint32_t
fx_run_as(struct fx *fx, uint16_t uid)
{
	assert_int_equal(
		0, scx_cmd(fx->nic, uid, fx->in, fx->in_bytes, fx->out, fx->out_bytes, NULL));
	fx->status = crl_prm_get(fx->out, CRL_PRM_CMD_OUT_STATUS);
	fx->syndrome = crl_prm_get(fx->out, CRL_PRM_CMD_OUT_SYNDROME);
	return fx->status;
}

uint32_t
fx_run(struct fx *fx)
{
	return fx_run_as(fx, fx->uid);
}

uint32_t
fx_num(struct fx *fx)
{
	return crl_prm_get(
		fx->out, CRL_PRM_CREATE_SQ_OUT_SQN); /* all have it there, but for counters */
}

void
fx_ok(struct fx *fx)
{
	if (fx_run(fx) != CRL_CMD_STAT_OK)
		fail_msg("opcode 0x%x refused: %s", crl_prm_get(fx->in, CRL_PRM_CMD_IN_OPCODE),
			scx_fw_refusal_name(fx->syndrome & 0xff));
}

void
fx_refused(struct fx *fx, enum scx_fw_refusal why)
{
	uint64_t before = scx_fw_refused(why);

	fx_run(fx);
	if (fx->syndrome != (SCX_SYNDROME | (uint32_t)why))
		fail_msg("wanted %s, got status 0x%x, %s", scx_fw_refusal_name(why), fx->status,
			fx->status ? scx_fw_refusal_name(fx->syndrome & 0xff) : "OK");
	assert_int_not_equal(CRL_CMD_STAT_OK, fx->status);
	assert_int_equal(before + 1, scx_fw_refused(why));
}

uint8_t *
fx_cmd_td(struct fx *fx)
{
	return fx_in(fx, CRL_CMD_OP_ALLOC_TRANSPORT_DOMAIN, CRL_PRM_ALLOC_TRANSPORT_DOMAIN_IN_BYTES,
		CRL_PRM_ALLOC_TRANSPORT_DOMAIN_OUT_BYTES);
}

uint8_t *
fx_cmd_tis(struct fx *fx)
{
	uint8_t *tisc = crl_prm_at(fx_in(fx, CRL_CMD_OP_CREATE_TIS, CRL_PRM_CREATE_TIS_IN_BYTES,
					   CRL_PRM_CREATE_TIS_OUT_BYTES),
		CRL_PRM_CREATE_TIS_IN_CTX);

	crl_prm_set(tisc, CRL_PRM_TISC_TRANSPORT_DOMAIN, fx->td);
	return tisc;
}

uint8_t *
fx_cmd_cq(struct fx *fx)
{
	uint8_t *in = fx_in(
		fx, CRL_CMD_OP_CREATE_CQ, CRL_PRM_CREATE_CQ_IN_BYTES, CRL_PRM_CREATE_CQ_OUT_BYTES);
	uint8_t *cqc = crl_prm_at(in, CRL_PRM_CREATE_CQ_IN_CQ_CONTEXT);

	crl_prm_set(in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_VALID, 1);
	crl_prm_set(in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_ID, fx->umem);
	crl_prm_set64(in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_OFFSET, FX_CQ_RING);
	crl_prm_set(cqc, CRL_PRM_CQC_DBR_UMEM_VALID, 1);
	crl_prm_set(cqc, CRL_PRM_CQC_DBR_UMEM_ID, fx->umem);
	crl_prm_set64(cqc, CRL_PRM_CQC_DBR_ADDR, FX_CQ_DBREC);
	crl_prm_set(cqc, CRL_PRM_CQC_LOG_CQ_SIZE, FX_LOG_CQ);
	crl_prm_set(cqc, CRL_PRM_CQC_UAR_PAGE, fx->uar);
	crl_prm_set(cqc, CRL_PRM_CQC_C_EQN, scx_eqn(fx->nic));
	return cqc;
}

static void
fill_wq(struct fx *fx, uint8_t *wq, uint32_t log_stride, uint32_t log_sz, uint32_t ring,
	uint32_t dbrec)
{
	crl_prm_set(wq, CRL_PRM_WQ_WQ_TYPE, CRL_WQ_CYCLIC);
	crl_prm_set(wq, CRL_PRM_WQ_PD, fx->pdn);
	crl_prm_set(wq, CRL_PRM_WQ_LOG_WQ_STRIDE, log_stride);
	crl_prm_set(wq, CRL_PRM_WQ_LOG_WQ_SZ, log_sz);
	crl_prm_set(wq, CRL_PRM_WQ_DBR_UMEM_VALID, 1);
	crl_prm_set(wq, CRL_PRM_WQ_WQ_UMEM_VALID, 1);
	crl_prm_set(wq, CRL_PRM_WQ_DBR_UMEM_ID, fx->umem);
	crl_prm_set(wq, CRL_PRM_WQ_WQ_UMEM_ID, fx->umem);
	crl_prm_set64(wq, CRL_PRM_WQ_WQ_UMEM_OFFSET, ring);
	crl_prm_set64(wq, CRL_PRM_WQ_DBR_ADDR, dbrec);
}

uint8_t *
fx_cmd_sq(struct fx *fx)
{
	uint8_t *sqc = crl_prm_at(fx_in(fx, CRL_CMD_OP_CREATE_SQ, CRL_PRM_CREATE_SQ_IN_BYTES,
					  CRL_PRM_CREATE_SQ_OUT_BYTES),
		CRL_PRM_CREATE_SQ_IN_CTX);
	uint8_t *wq = crl_prm_at(sqc, CRL_PRM_SQC_WQ);

	crl_prm_set(sqc, CRL_PRM_SQC_CQN, fx->cq);
	crl_prm_set(sqc, CRL_PRM_SQC_TIS_LST_SZ, 1);
	crl_prm_set(sqc, CRL_PRM_SQC_TIS_NUM_0, fx->tis);
	crl_prm_set(sqc, CRL_PRM_SQC_FLUSH_IN_ERROR_EN, 1);
	crl_prm_set(sqc, CRL_PRM_SQC_TS_FORMAT, CRL_TS_DEFAULT);
	crl_prm_set(sqc, CRL_PRM_SQC_USER_INDEX, 0x51);
	crl_prm_set(wq, CRL_PRM_WQ_UAR_PAGE, fx->uar);
	fill_wq(fx, wq, 6, FX_LOG_SQ, FX_SQ_RING, FX_SQ_DBREC);
	return sqc;
}

uint8_t *
fx_cmd_rq(struct fx *fx)
{
	uint8_t *rqc = crl_prm_at(fx_in(fx, CRL_CMD_OP_CREATE_RQ, CRL_PRM_CREATE_RQ_IN_BYTES,
					  CRL_PRM_CREATE_RQ_OUT_BYTES),
		CRL_PRM_CREATE_RQ_IN_CTX);

	crl_prm_set(rqc, CRL_PRM_RQC_CQN, fx->cq);
	crl_prm_set(rqc, CRL_PRM_RQC_VSD, 1);
	crl_prm_set(rqc, CRL_PRM_RQC_COUNTER_SET_ID, fx->counter_set);
	crl_prm_set(rqc, CRL_PRM_RQC_FLUSH_IN_ERROR_EN, 1);
	crl_prm_set(rqc, CRL_PRM_RQC_TS_FORMAT, CRL_TS_DEFAULT);
	crl_prm_set(rqc, CRL_PRM_RQC_USER_INDEX, 0x52);
	fill_wq(fx, crl_prm_at(rqc, CRL_PRM_RQC_WQ), 4, FX_LOG_RQ, FX_RQ_RING, FX_RQ_DBREC);
	return rqc;
}

uint8_t *
fx_cmd_rqt(struct fx *fx, unsigned nr)
{
	uint8_t *rqtc = crl_prm_at(fx_in(fx, CRL_CMD_OP_CREATE_RQT,
					   CRL_PRM_CREATE_RQT_IN_BYTES + nr * sizeof(uint32_t),
					   CRL_PRM_CREATE_RQT_OUT_BYTES),
		CRL_PRM_CREATE_RQT_IN_RQT_CONTEXT);

	crl_prm_set(rqtc, CRL_PRM_RQTC_RQT_MAX_SIZE, SCX_DP_RQT_LEN);
	crl_prm_set(rqtc, CRL_PRM_RQTC_RQT_ACTUAL_SIZE, nr);
	for (unsigned i = 0; i < nr; i++)
		crl_prm_rqt_list(rqtc)[i] = crl_to_be32(fx->rq);
	return rqtc;
}

uint8_t *
fx_cmd_tir(struct fx *fx)
{
	uint8_t *tirc = crl_prm_at(fx_in(fx, CRL_CMD_OP_CREATE_TIR, CRL_PRM_CREATE_TIR_IN_BYTES,
					   CRL_PRM_CREATE_TIR_OUT_BYTES),
		CRL_PRM_CREATE_TIR_IN_CTX);
	uint8_t *outer = crl_prm_at(tirc, CRL_PRM_TIRC_RX_HASH_FIELD_SELECTOR_OUTER);

	crl_prm_set(tirc, CRL_PRM_TIRC_DISP_TYPE, CRL_TIR_INDIRECT);
	crl_prm_set(tirc, CRL_PRM_TIRC_INDIRECT_TABLE, fx->rqt);
	crl_prm_set(tirc, CRL_PRM_TIRC_TRANSPORT_DOMAIN, fx->td);
	crl_prm_set(tirc, CRL_PRM_TIRC_RX_HASH_FN, CRL_HASH_TOEPLITZ);
	memset(crl_prm_at(tirc, CRL_PRM_TIRC_RX_HASH_TOEPLITZ_KEY), 0x5a, 40);
	crl_prm_set(
		outer, CRL_PRM_RX_HASH_FIELDS_SELECTED_FIELDS, CRL_HASH_SRC_IP | CRL_HASH_DST_IP);
	return tirc;
}

/* MODIFY_SQ and MODIFY_RQ have the same places for number, states and context. */
uint8_t *
fx_cmd_state(struct fx *fx, uint16_t modify_opcode, uint32_t num, uint32_t from, uint32_t to)
{
	uint8_t *in = fx_in(fx, modify_opcode, CRL_PRM_MODIFY_SQ_IN_BYTES, 16);
	uint8_t *ctx = crl_prm_at(in, CRL_PRM_MODIFY_SQ_IN_CTX);

	crl_prm_set(in, CRL_PRM_MODIFY_SQ_IN_SQ_STATE, from);
	crl_prm_set(in, CRL_PRM_MODIFY_SQ_IN_SQN, num);
	crl_prm_set(ctx, CRL_PRM_SQC_STATE, to);
	return ctx;
}

uint8_t *
fx_cmd_num(struct fx *fx, uint16_t opcode, uint32_t num, size_t out_bytes)
{
	uint8_t *in = fx_in(fx, opcode, CRL_PRM_DESTROY_SQ_IN_BYTES, out_bytes);

	crl_prm_set(in, CRL_PRM_DESTROY_SQ_IN_SQN, num);
	return in;
}

void
fx_destroy(struct fx *fx, uint16_t opcode, uint32_t num)
{
	fx_cmd_num(fx, opcode, num, 16);
	fx_ok(fx);
}

void
fx_queues(struct fx *fx)
{
	static const uint8_t any[64];
	uint32_t id;

	fx_cmd_td(fx), fx_ok(fx), fx->td = fx_num(fx);
	fx_cmd_tis(fx), fx_ok(fx), fx->tis = fx_num(fx);
	fx_cmd_cq(fx), fx_ok(fx), fx->cq = fx_num(fx);
	fx_cmd_sq(fx), fx_ok(fx), fx->sq = fx_num(fx);
	fx_cmd_rq(fx), fx_ok(fx), fx->rq = fx_num(fx);
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, fx->sq, CRL_Q_STATE_RST, CRL_Q_STATE_RDY), fx_ok(fx);
	fx_cmd_state(fx, CRL_CMD_OP_MODIFY_RQ, fx->rq, CRL_Q_STATE_RST, CRL_Q_STATE_RDY), fx_ok(fx);
	fx_cmd_rqt(fx, 4), fx_ok(fx), fx->rqt = fx_num(fx);
	fx_cmd_tir(fx), fx_ok(fx), fx->tir = fx_num(fx);
	assert_int_equal(
		0, scx_flow_add(fx->nic, fx->uid, 1, any, any, 64, SCX_FLOW_TIR, fx->tir, 0, &id));
}

uint8_t *
fx_query(struct fx *fx, uint16_t opcode, uint32_t num, size_t out_bytes, uint32_t ctx)
{
	fx_cmd_num(fx, opcode, num, out_bytes);
	fx_ok(fx);
	return crl_prm_at(fx->out, ctx);
}
