/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The firmware as a kernel's driver meets it: bring-up and pages, event queues, keys and rings by
 * bus address, port registers. Every refusal that only such a driver can earn is raised here but
 * for those of flow tables; the last test fails if one was left out.
 */
#include "guest.h"

static uint8_t *
manage_pages(struct fx *fx, uint32_t op_mod, uint32_t nr, uint64_t first)
{
	uint8_t *in = fx_in(fx, CRL_CMD_OP_MANAGE_PAGES,
		CRL_PRM_MANAGE_PAGES_IN_BYTES + (op_mod == 1 ? nr * 8 : 0),
		CRL_PRM_MANAGE_PAGES_OUT_BYTES + (op_mod == 2 ? nr * 8 : 0));

	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, op_mod);
	crl_prm_set(in, CRL_PRM_MANAGE_PAGES_IN_INPUT_NUM_ENTRIES, nr);
	for (uint32_t i = 0; op_mod == 1 && i < nr; i++)
		crl_prm_set64(
			in + CRL_PRM_MANAGE_PAGES_IN_BYTES + i * 8, 64, first + (uint64_t)i * 4096);
	return in;
}

static uint32_t
pages_wanted(struct fx *fx, uint32_t op_mod)
{
	uint8_t *in = fx_in(fx, CRL_CMD_OP_QUERY_PAGES, 16, 16);

	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, op_mod);
	fx_ok(fx);
	return crl_prm_get(fx->out, CRL_PRM_QUERY_PAGES_OUT_NUM_PAGES);
}

static void
simple(struct fx *fx, uint16_t opcode, size_t in_bytes)
{
	fx_in(fx, opcode, in_bytes, 16);
}

static void
bring_up(struct fx *fx)
{
	uint32_t n;

	simple(fx, CRL_CMD_OP_ENABLE_HCA, 16), fx_ok(fx);
	n = pages_wanted(fx, 1);
	assert_int_equal(SCX_PAGES_BOOT, n);
	manage_pages(fx, 1, n, 0), fx_ok(fx);
	n = pages_wanted(fx, 2);
	assert_int_equal(SCX_PAGES_INIT, n);
	manage_pages(fx, 1, n, SCX_PAGES_BOOT * 4096), fx_ok(fx);
	simple(fx, CRL_CMD_OP_INIT_HCA, CRL_PRM_INIT_HCA_IN_BYTES), fx_ok(fx);
	assert_int_equal(0, pages_wanted(fx, 3));
}

static void
up_and_down(void **state)
{
	struct fx *fx = *state;
	uint8_t seen[SCX_PAGES_BOOT + SCX_PAGES_INIT] = {0}, *in;
	uint32_t left = sizeof(seen), n;

	simple(fx, CRL_CMD_OP_INIT_HCA, CRL_PRM_INIT_HCA_IN_BYTES);
	fx_refused(fx, SCX_FW_R_HCA_STATE);
	/* The first edition of the layout is half as long, and some drivers know no other. */
	simple(fx, CRL_CMD_OP_INIT_HCA, 16), fx_refused(fx, SCX_FW_R_HCA_STATE);
	simple(fx, CRL_CMD_OP_INIT_HCA, 12), fx_refused(fx, SCX_FW_R_IN_SHORT);
	in = fx_in(fx, CRL_CMD_OP_SET_ISSI, 16, 16);
	crl_prm_set(in, CRL_PRM_SET_ISSI_IN_CURRENT_ISSI, 2);
	fx_refused(fx, SCX_FW_R_ISSI);
	bring_up(fx);
	simple(fx, CRL_CMD_OP_ENABLE_HCA, 16), fx_refused(fx, SCX_FW_R_HCA_ENABLED);
	simple(fx, CRL_CMD_OP_DISABLE_HCA, 16), fx_refused(fx, SCX_FW_R_HCA_STATE);
	simple(fx, CRL_CMD_OP_TEARDOWN_HCA, 16), fx_ok(fx);
	simple(fx, CRL_CMD_OP_DISABLE_HCA, 16), fx_refused(fx, SCX_FW_R_HCA_STATE);
	/* All pages come back, each once. */
	while (left > 0) {
		manage_pages(fx, 2, 100, 0), fx_ok(fx);
		n = crl_prm_get(fx->out, CRL_PRM_MANAGE_PAGES_OUT_OUTPUT_NUM_ENTRIES);
		assert_in_range(n, 1, left);
		for (uint32_t i = 0; i < n; i++) {
			uint64_t at =
				crl_prm_get64(fx->out + CRL_PRM_MANAGE_PAGES_OUT_BYTES + i * 8, 64);

			assert_in_range(at / 4096, 0, sizeof(seen) - 1);
			assert_int_equal(0, seen[at / 4096]++);
		}
		left -= n;
	}
	simple(fx, CRL_CMD_OP_DISABLE_HCA, 16), fx_ok(fx);
}

static void
pages_and_capabilities(void **state)
{
	struct fx *fx = *state;
	uint8_t *in, page[CRL_PRM_HCA_CAP_BYTES];

	simple(fx, CRL_CMD_OP_ENABLE_HCA, 16), fx_ok(fx);
	in = manage_pages(fx, 1, 4, 0);
	crl_prm_set(in, CRL_PRM_MANAGE_PAGES_IN_INPUT_NUM_ENTRIES, 5);
	fx_refused(fx, SCX_FW_R_PAGE_COUNT);
	manage_pages(fx, 1, 4, BUS_BYTES - 4096), fx_refused(fx, SCX_FW_R_PAGES);
	manage_pages(fx, 1, 4, 12), fx_refused(fx, SCX_FW_R_PAGES);
	assert_int_equal(SCX_PAGES_BOOT, pages_wanted(fx, 1));
	fx_in(fx, CRL_CMD_OP_QUERY_HCA_CAP, 16, CRL_PRM_QUERY_HCA_CAP_OUT_BYTES);
	fx_ok(fx);
	memcpy(page, crl_prm_at(fx->out, CRL_PRM_QUERY_HCA_CAP_OUT_CAPABILITY), sizeof(page));
	assert_in_range(crl_prm_get(page, CRL_PRM_HCA_CAP_LOG_MAX_EQ), 2, 8);
	assert_int_equal(0, crl_prm_get(page, CRL_PRM_HCA_CAP_ROCE));
}

/* ---- event queues ---- */

static void
event_queues(void **state)
{
	struct fx *fx = *state;
	uint8_t *e = bus + EQ_AT;
	uint32_t eqn;

	assert_false(scx_eq_takes(fx->nic, SCX_EVENT_COMMAND));
	crl_prm_set(guest_cmd_eq(fx, 1, 0), CRL_PRM_EQC_LOG_EQ_SIZE, 23);
	fx_refused(fx, SCX_FW_R_EQ_SIZE);
	guest_cmd_eq(fx, VECTORS, 0), fx_refused(fx, SCX_FW_R_EQ_VECTOR);
	guest_cmd_eq(fx, 1, 0), fx->in_bytes -= 8, fx_refused(fx, SCX_FW_R_IN_SHORT);
	guest_cmd_eq(fx, 1, 1u << SCX_EVENT_COMMAND | 1u << SCX_EVENT_PORT_CHANGE);
	fx_ok(fx), eqn = crl_prm_get(fx->out, CRL_PRM_CREATE_EQ_OUT_EQ_NUMBER);
	assert_true(scx_eq_takes(fx->nic, SCX_EVENT_COMMAND));
	memset(e, 0xff, 64u << EQ_LOG);

	/* Not armed: an entry, no interrupt. Arming tells of it at once. */
	scx_eq_command_done(fx->nic, 1u << 5);
	assert_int_equal(0, irqs[1]);
	assert_int_equal(SCX_EVENT_COMMAND, e[1]);
	assert_int_equal(1u << 5, e[0x23]);
	assert_int_equal(0, e[63] & 1);
	scx_eq_doorbell(fx->nic, eqn, 0, 1);
	assert_int_equal(1, irqs[1]);
	scx_eq_doorbell(fx->nic, eqn, 1, 1);
	assert_int_equal(1, irqs[1]);
	scx_port_link(fx->nic, 0);
	assert_int_equal(2, irqs[1]);
	assert_int_equal(SCX_EVENT_PORT_CHANGE, e[64 + 1]);
	assert_int_equal(SCX_EVENT_PORT_DOWN, e[64 + 3]);
	assert_int_equal(0x10, e[64 + 0x28]);

	/* One interrupt for each arming; the owner bit is 1 in the second lap; full is full. */
	for (uint32_t i = 0; i < 20; i++)
		scx_eq_command_done(fx->nic, 1);
	assert_int_equal(2, irqs[1]);
	assert_int_equal(1, e[63] & 1);
	assert_int_equal(0, e[64 + 63] & 1);
	scx_eq_doorbell(fx->nic, eqn + 7, 0, 1); /* none of that number: told, and nothing else */
	fx_cmd_num(fx, CRL_CMD_OP_DESTROY_EQ, 0, 16);
	crl_prm_set(fx->in, CRL_PRM_DESTROY_EQ_IN_EQ_NUMBER, eqn);
	fx_ok(fx);
	assert_false(scx_eq_takes(fx->nic, SCX_EVENT_COMMAND));
}

/* ---- keys and registers ---- */

static uint8_t *
cmd_mkey(struct fx *fx, uint32_t mode, uint64_t start, uint64_t len, uint32_t pages)
{
	uint8_t *in =
		fx_in(fx, CRL_CMD_OP_CREATE_MKEY, CRL_PRM_CREATE_MKEY_IN_BYTES + pages * 8, 16);
	uint8_t *mkc = crl_prm_at(in, CRL_PRM_CREATE_MKEY_IN_MEMORY_KEY_MKEY_ENTRY);

	crl_prm_set(mkc, CRL_PRM_MKC_ACCESS_MODE_1_0, mode);
	crl_prm_set(mkc, CRL_PRM_MKC_LW, 1);
	crl_prm_set(mkc, CRL_PRM_MKC_LR, 1);
	crl_prm_set(mkc, CRL_PRM_MKC_QPN, 0xffffff);
	crl_prm_set(mkc, CRL_PRM_MKC_PD, fx->pdn);
	crl_prm_set(mkc, CRL_PRM_MKC_MKEY_7_0, 0x42);
	crl_prm_set64(mkc, CRL_PRM_MKC_START_ADDR, start);
	crl_prm_set64(mkc, CRL_PRM_MKC_LEN, len);
	crl_prm_set(mkc, CRL_PRM_MKC_LOG_PAGE_SIZE, 12);
	for (uint32_t i = 0; i < pages; i++)
		crl_prm_set64(in + CRL_PRM_CREATE_MKEY_IN_BYTES + i * 8, 64, 0x10000 + i * 4096);
	return mkc;
}

static void
keys(void **state)
{
	struct fx *fx = *state;
	uint32_t index;

	cmd_mkey(fx, 2, 0, 4096, 1), fx_refused(fx, SCX_FW_R_MKEY_MODE);
	cmd_mkey(fx, 1, 0x7000, 0, 1), fx_refused(fx, SCX_FW_R_MR_RANGE);
	cmd_mkey(fx, 1, 0x7800, 4096, 1), fx_refused(fx, SCX_FW_R_IN_SHORT); /* spans two pages */
	cmd_mkey(fx, 0, BUS_BYTES, 4096, 0), fx_refused(fx, SCX_FW_R_MR_RANGE);
	cmd_mkey(fx, 1, 0x7800, 4096, 2), fx_ok(fx);
	index = crl_prm_get(fx->out, CRL_PRM_CREATE_MKEY_OUT_MKEY_INDEX);
	fx_cmd_num(fx, CRL_CMD_OP_DESTROY_MKEY, 0, 16);
	crl_prm_set(fx->in, CRL_PRM_DESTROY_MKEY_IN_MKEY_INDEX, index);
	fx_ok(fx);
	/* A user cannot have any of it. */
	cmd_mkey(fx, 0, 0, 4096, 0);
	fx_run_as(fx, 1);
	assert_int_equal(SCX_SYNDROME | SCX_FW_R_OPCODE, fx->syndrome);
}

static uint8_t *
cmd_umem(struct fx *fx, uint32_t log_page, uint32_t offset, uint32_t pages, uint64_t flags)
{
	uint8_t *in =
		fx_in(fx, CRL_CMD_OP_CREATE_UMEM, CRL_PRM_CREATE_UMEM_IN_BYTES + pages * 8, 16);
	uint8_t *umem = crl_prm_at(in, CRL_PRM_CREATE_UMEM_IN_UMEM);

	crl_prm_set(umem, CRL_PRM_UMEM_LOG_PAGE_SIZE, log_page);
	crl_prm_set(umem, CRL_PRM_UMEM_PAGE_OFFSET, offset);
	crl_prm_set64(umem, CRL_PRM_UMEM_NUM_OF_MTT, pages);
	for (uint64_t i = 0; i < pages; i++)
		crl_prm_set64(in + CRL_PRM_CREATE_UMEM_IN_BYTES + i * 8, 64,
			(0x10000 + (i << (12 + log_page))) | flags);
	return umem;
}

/* By a list of pages, as libmlx5's VFIO driver makes them; its pages end behind its memory. */
static void
umems(void **state)
{
	struct fx *fx = *state;
	struct scx_fw_obj *umem;
	uint32_t id;

	crl_prm_set(cmd_umem(fx, 0, 0, 1, 3), CRL_PRM_UMEM_ATS, 1);
	fx_refused(fx, SCX_FW_R_NOT_OFFERED);
	cmd_umem(fx, 0, 0, 0, 3), fx_refused(fx, SCX_FW_R_UMEM_RANGE);
	cmd_umem(fx, 0, 4096, 1, 3), fx_refused(fx, SCX_FW_R_UMEM_RANGE);
	cmd_umem(fx, 20, 0, 1, 3), fx_refused(fx, SCX_FW_R_UMEM_RANGE);
	cmd_umem(fx, 0, 0, 2, 3), fx->in_bytes -= 8, fx_refused(fx, SCX_FW_R_IN_SHORT);
	cmd_umem(fx, 0, 0, 1, 2), fx_refused(fx, SCX_FW_R_UMEM_ACCESS);
	cmd_umem(fx, 10, 64, 1, 1), fx_ok(fx); /* one page of 4 MiB on a bus of 2 */
	id = crl_prm_get(fx->out, CRL_PRM_CREATE_UMEM_OUT_UMEM_ID);
	umem = fx->nic->table[SCX_FW_UMEM].slot[id - fx->nic->table[SCX_FW_UMEM].base];
	assert_ptr_equal(bus + 0x10040, umem->base);
	assert_in_range(umem->bytes, BUS_BYTES - 0x10040 - 4096, BUS_BYTES - 0x10040);
	assert_int_equal(0, umem->access);	    /* nothing writes into it */
	fx_in(fx, CRL_CMD_OP_DESTROY_UMEM, 48, 16); /* as long as the command that made it */
	crl_prm_set(fx->in, CRL_PRM_DESTROY_UMEM_IN_UMEM_ID, id);
	fx_ok(fx);
	fx->in[47] = 1, fx_refused(fx, SCX_FW_R_IN_LONG);
	cmd_umem(fx, 0, 0, 3, 3), fx_ok(fx);
	cmd_umem(fx, 0, 0, 1, 3), fx_run_as(fx, 5);
	assert_int_equal(SCX_SYNDROME | SCX_FW_R_UID, fx->syndrome);
}

static uint8_t *
cmd_reg(struct fx *fx, uint32_t id, uint32_t op_mod)
{
	uint8_t *in = fx_in(fx, CRL_CMD_OP_ACCESS_REG, 16 + 256, 16 + 256);

	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, op_mod);
	crl_prm_set(in, CRL_PRM_ACCESS_REGISTER_IN_REGISTER_ID, id);
	return in + 16;
}

static void
registers(void **state)
{
	struct fx *fx = *state;
	uint8_t *r;

	cmd_reg(fx, 0x9999, 1), fx_refused(fx, SCX_FW_R_REGISTER);
	r = cmd_reg(fx, 0x5003, 0);
	crl_prm_set(r, CRL_PRM_PMTU_REG_ADMIN_MTU, 20);
	fx_refused(fx, SCX_FW_R_REGISTER_VALUE);
	crl_prm_set(r, CRL_PRM_PMTU_REG_ADMIN_MTU, 9022);
	fx_ok(fx);
	cmd_reg(fx, 0x5003, 1), fx_ok(fx);
	assert_int_equal(9022, crl_prm_get(fx->out + 16, CRL_PRM_PMTU_REG_OPER_MTU));
	assert_int_equal(9000, fx->nic->cfg.mtu);
	r = cmd_reg(fx, 0x5006, 0);
	crl_prm_set(r, CRL_PRM_PAOS_REG_ADMIN_STATUS, 2);
	fx_ok(fx);
	cmd_reg(fx, 0x5006, 1), fx_ok(fx);
	assert_int_equal(2, crl_prm_get(fx->out + 16, CRL_PRM_PAOS_REG_OPER_STATUS));
	cmd_reg(fx, 0x5003, 2), fx_refused(fx, SCX_FW_R_OP_MOD);
	/* Counters are not written; a write has no room for them in its answer. */
	cmd_reg(fx, 0x5008, 1), fx_refused(fx, SCX_FW_R_REGISTER_VALUE); /* of no port */
	r = cmd_reg(fx, 0x5008, 1);
	crl_prm_set(r, CRL_PRM_PPCNT_REG_LOCAL_PORT, 1), fx_ok(fx);
	cmd_reg(fx, 0x5008, 0);
	fx->out_bytes = 16;
	fx_refused(fx, SCX_FW_R_REGISTER_VALUE);
	assert_int_equal(0xee, fx->out[16]);
}

static void
set_capabilities(void **state)
{
	struct fx *fx = *state;
	CRL_ALIGNAS(8) uint8_t in[CRL_PRM_SET_HCA_CAP_IN_BYTES] = {0}, out[16];
	uint8_t *page = crl_prm_at(in, CRL_PRM_SET_HCA_CAP_IN_CAPABILITY);

	simple(fx, CRL_CMD_OP_ENABLE_HCA, 16), fx_ok(fx);
	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_SET_HCA_CAP);
	scx_fw_hca_caps(fx->nic, CRL_HCA_CAP_GENERAL, page);
	crl_prm_set(page, CRL_PRM_HCA_CAP_LOG_MAX_QP, 1); /* less is always right */
	assert_int_equal(0, scx_cmd(fx->nic, 0, in, sizeof(in), out, sizeof(out), NULL));
	assert_int_equal(0, out[0]);
	crl_prm_set(page, CRL_PRM_HCA_CAP_ROCE, 1);
	assert_int_equal(0, scx_cmd(fx->nic, 0, in, sizeof(in), out, sizeof(out), NULL));
	assert_int_equal(
		SCX_SYNDROME | SCX_FW_R_CAP_VALUE, crl_prm_get(out, CRL_PRM_CMD_OUT_SYNDROME));
}

static uint32_t
roce_now(struct fx *fx)
{
	fx_in(fx, CRL_CMD_OP_QUERY_NIC_VPORT_CONTEXT, CRL_PRM_QUERY_NIC_VPORT_CONTEXT_IN_BYTES,
		CRL_PRM_QUERY_NIC_VPORT_CONTEXT_OUT_BYTES);
	fx_ok(fx);
	return crl_prm_get(
		crl_prm_at(fx->out, CRL_PRM_QUERY_NIC_VPORT_CONTEXT_OUT_NIC_VPORT_CONTEXT),
		CRL_PRM_NIC_VPORT_CONTEXT_ROCE_EN);
}

static void
roce_page(struct fx *fx)
{
	uint8_t *in = fx_in(fx, CRL_CMD_OP_QUERY_HCA_CAP, 16, CRL_PRM_QUERY_HCA_CAP_OUT_BYTES);

	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, CRL_HCA_CAP_ROCE << 1);
}

/* As a card whose RoCE is off: neither its page nor turning it on; off it is already. */
static void
without_roce(void **state)
{
	struct fx *fx = *state;

	simple(fx, CRL_CMD_OP_ENABLE_HCA, 16), fx_ok(fx);
	roce_page(fx), fx_refused(fx, SCX_FW_R_CAP_PAGE);
	cmd_roce(fx, 1), fx_refused(fx, SCX_FW_R_ROCE);
	assert_int_equal(CRL_CMD_STAT_BAD_PARAM_ERR, fx->status);
	assert_int_equal(0, roce_now(fx));
	cmd_roce(fx, 0), fx_ok(fx);
	assert_int_equal(0, roce_now(fx));
}

/* As one whose RoCE is on: turned on and off; the page, all zeros, offers nothing else. */
static void
with_roce(void **state)
{
	struct fx *fx = *state;
	uint8_t page[CRL_PRM_HCA_CAP_BYTES] = {0};

	simple(fx, CRL_CMD_OP_ENABLE_HCA, 16), fx_ok(fx);
	scx_fw_hca_caps(fx->nic, CRL_HCA_CAP_GENERAL, page);
	assert_int_equal(1, crl_prm_get(page, CRL_PRM_HCA_CAP_ROCE));
	roce_page(fx), fx_ok(fx);
	memset(page, 0, sizeof(page));
	assert_memory_equal(
		crl_prm_at(fx->out, CRL_PRM_QUERY_HCA_CAP_OUT_CAPABILITY), page, sizeof(page));
	cmd_roce(fx, 1), fx_ok(fx);
	assert_int_equal(1, roce_now(fx));
	cmd_roce(fx, 0), fx_ok(fx);
	assert_int_equal(0, roce_now(fx));
}

/* ---- what mlx5_ib makes for users, and for itself ---- */

static uint16_t
new_user(struct fx *fx)
{
	fx->uid = 0;
	fx_in(fx, CRL_CMD_OP_CREATE_UCTX, CRL_PRM_CREATE_UCTX_IN_BYTES, 16), fx_ok(fx);
	return (uint16_t)crl_prm_get(fx->out, CRL_PRM_CREATE_UCTX_OUT_UID);
}

static void
user_gone(struct fx *fx, uint16_t uid)
{
	fx->uid = 0;
	fx_in(fx, CRL_CMD_OP_DESTROY_UCTX, 16, 16);
	crl_prm_set(fx->in, CRL_PRM_DESTROY_UCTX_IN_UID, uid);
}

/* A CQ of the user's, in a umem, on the event queue that the kernel made for all. */
static void
user_cq(struct fx *fx, uint32_t umem, uint32_t eqn)
{
	uint8_t *cqc = fx_cmd_cq(fx);

	crl_prm_set(fx->in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_ID, umem);
	crl_prm_set(cqc, CRL_PRM_CQC_DBR_UMEM_ID, umem);
	crl_prm_set64(cqc, CRL_PRM_CQC_DBR_ADDR, 0x1000);
	crl_prm_set(cqc, CRL_PRM_CQC_C_EQN, eqn);
}

static void
users(void **state)
{
	struct fx *fx = *state;
	uint16_t uid = new_user(fx), other = new_user(fx);
	uint32_t umem, eqn, kernels, uar = fx->uar;

	fx->uid = 0;
	fx_in(fx, CRL_CMD_OP_ALLOC_UAR, 16, 16), fx_ok(fx);
	fx->uar = crl_prm_get(fx->out, CRL_PRM_ALLOC_UAR_OUT_UAR);
	guest_cmd_eq(fx, 0, 0), fx_ok(fx);
	kernels = crl_prm_get(fx->out, CRL_PRM_CREATE_EQ_OUT_EQ_NUMBER);
	fx->uid = SCX_UID_SHARED; /* as mlx5_core names the queues for completions */
	guest_cmd_eq(fx, 1, 0), fx_ok(fx);
	eqn = crl_prm_get(fx->out, CRL_PRM_CREATE_EQ_OUT_EQ_NUMBER);
	fx_in(fx, CRL_CMD_OP_ALLOC_PD, 16, 16), fx_refused(fx, SCX_FW_R_OPCODE);

	fx->uid = uid;
	cmd_umem(fx, 0, 0, 1, 3), fx_ok(fx);
	umem = crl_prm_get(fx->out, CRL_PRM_CREATE_UMEM_OUT_UMEM_ID);
	fx_in(fx, CRL_CMD_OP_ALLOC_UAR, 16, 16), fx_ok(fx);
	fx->uar = crl_prm_get(fx->out, CRL_PRM_ALLOC_UAR_OUT_UAR);
	user_cq(fx, umem, eqn), fx_refused(fx, SCX_FW_R_RECORD_BOUNDS); /* the ring fills it */
	fx_destroy(fx, CRL_CMD_OP_DESTROY_UMEM, umem);
	cmd_umem(fx, 0, 0, 3, 1), fx_ok(fx);
	umem = crl_prm_get(fx->out, CRL_PRM_CREATE_UMEM_OUT_UMEM_ID);
	user_cq(fx, umem, eqn), fx_refused(fx, SCX_FW_R_READ_ONLY);
	fx_destroy(fx, CRL_CMD_OP_DESTROY_UMEM, umem);
	cmd_umem(fx, 0, 0, 3, 3), fx_ok(fx);
	umem = crl_prm_get(fx->out, CRL_PRM_CREATE_UMEM_OUT_UMEM_ID);
	user_cq(fx, umem, kernels), fx_refused(fx, SCX_FW_R_OTHER_UID);
	user_cq(fx, umem, eqn);
	fx_run_as(fx, other);
	assert_int_equal(SCX_SYNDROME | SCX_FW_R_OTHER_UID, fx->syndrome);
	user_cq(fx, umem, eqn), fx_ok(fx), fx->cq = fx_num(fx);
	user_gone(fx, uid), fx_refused(fx, SCX_FW_R_IN_USE);
	fx->uid = uid;
	fx_destroy(fx, CRL_CMD_OP_DESTROY_CQ, fx->cq), fx->cq = 0;
	fx_destroy(fx, CRL_CMD_OP_DESTROY_UMEM, umem);
	fx_destroy(fx, CRL_CMD_OP_DEALLOC_UAR, fx->uar), fx->uar = uar;
	user_gone(fx, uid), fx_ok(fx);
	user_gone(fx, uid), fx_refused(fx, SCX_FW_R_UID);
	fx_in(fx, CRL_CMD_OP_ALLOC_PD, 16, 16);
	fx_run_as(fx, uid);
	assert_int_equal(SCX_SYNDROME | SCX_FW_R_UID, fx->syndrome);
	user_gone(fx, other), fx_ok(fx);
}

static void
queue_pair(void **state)
{
	static const uint16_t steps[] = {
		CRL_CMD_OP_RST2INIT_QP, CRL_CMD_OP_INIT2RTR_QP, CRL_CMD_OP_RTR2RTS_QP};
	struct fx *fx = *state;
	uint8_t *in, *qpc;

	in = fx_in(fx, CRL_CMD_OP_CREATE_QP, CRL_PRM_CREATE_QP_IN_BYTES + 8, 16);
	qpc = crl_prm_at(in, CRL_PRM_CREATE_QP_IN_QPC);
	fx_refused(fx, SCX_FW_R_QP_TYPE); /* RC */
	crl_prm_set(qpc, CRL_PRM_QPC_ST, 0xc);
	fx_refused(fx, SCX_FW_R_NO_OBJECT); /* no CQ */
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		in = fx_in(fx, steps[i], CRL_PRM_RST2INIT_QP_IN_BYTES, 16);
		crl_prm_set(in, CRL_PRM_RST2INIT_QP_IN_QPN, 0x50000);
		fx_refused(fx, SCX_FW_R_NO_OBJECT);
	}
}

static void
every_refusal_was_raised(void **state)
{
	unsigned missing = 0;

	for (unsigned i = SCX_FW_R_GUEST; i < SCX_FW_R_FLOW_TABLES; i++) {
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
		cmocka_unit_test_setup_teardown(up_and_down, guest_new, guest_free),
		cmocka_unit_test_setup_teardown(pages_and_capabilities, guest_new, guest_free),
		cmocka_unit_test_setup_teardown(event_queues, guest_new, guest_free),
		cmocka_unit_test_setup_teardown(keys, guest_new, guest_free),
		cmocka_unit_test_setup_teardown(umems, guest_new, guest_free),
		cmocka_unit_test_setup_teardown(registers, guest_new, guest_free),
		cmocka_unit_test_setup_teardown(set_capabilities, guest_new, guest_free),
		cmocka_unit_test_setup_teardown(without_roce, guest_new, guest_free),
		cmocka_unit_test_setup_teardown(with_roce, guest_new_roce, guest_free),
		cmocka_unit_test_setup_teardown(users, guest_new, guest_free),
		cmocka_unit_test_setup_teardown(queue_pair, guest_new, guest_free),
		cmocka_unit_test(every_refusal_was_raised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
