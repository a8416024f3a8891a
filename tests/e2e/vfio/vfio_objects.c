/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects of vfio_driver.c: DevX commands through libmlx5's VFIO driver. A command that fails
 * ends the program with its name, status and syndrome.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vfio_driver.h"

void
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("vfio_driver: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

uint8_t *
cmd(struct driver *d, uint16_t opcode, size_t bytes)
{
	memset(d->in, 0, sizeof(d->in));
	memset(d->out, 0, sizeof(d->out));
	d->in_bytes = bytes;
	crl_prm_set(d->in, CRL_PRM_CMD_IN_OPCODE, opcode);
	return d->in;
}

/* The number of what was created is where field says. */
static uint32_t
create(struct driver *d, const char *name, size_t out_bytes, uint32_t field)
{
	if (d->nr_objs == OBJS_MAX)
		die("%s: too many objects", name);
	d->obj[d->nr_objs] = mlx5dv_devx_obj_create(d->ctx, d->in, d->in_bytes, d->out, out_bytes);
	if (d->obj[d->nr_objs] == NULL)
		die("%s: %s, status 0x%x, syndrome 0x%x", name, strerror(errno),
			crl_prm_get(d->out, CRL_PRM_CMD_OUT_STATUS),
			crl_prm_get(d->out, CRL_PRM_CMD_OUT_SYNDROME));
	d->nr_objs++;
	return crl_prm_get(d->out, field);
}

void
general(struct driver *d, const char *name, size_t out_bytes)
{
	int rc = mlx5dv_devx_general_cmd(d->ctx, d->in, d->in_bytes, d->out, out_bytes);

	if (rc != 0)
		die("%s: %s, status 0x%x, syndrome 0x%x", name, strerror(rc),
			crl_prm_get(d->out, CRL_PRM_CMD_OUT_STATUS),
			crl_prm_get(d->out, CRL_PRM_CMD_OUT_SYNDROME));
}

/* A completion EQ of the program's own, on an MSI-X vector of its own. */
void
make_eq(struct driver *d)
{
	uint8_t *eqc;

	d->msi = mlx5dv_devx_alloc_msi_vector(d->ctx);
	if (d->msi == NULL)
		die("MSI vector: %s", strerror(errno));
	eqc = crl_prm_at(cmd(d, CRL_CMD_OP_CREATE_EQ, CRL_PRM_CREATE_EQ_IN_BYTES),
		CRL_PRM_CREATE_EQ_IN_EQ_CONTEXT_ENTRY);
	crl_prm_set(eqc, CRL_PRM_EQC_LOG_EQ_SIZE, LOG_EQ);
	crl_prm_set(eqc, CRL_PRM_EQC_UAR_PAGE, d->uar->page_id);
	crl_prm_set(eqc, CRL_PRM_EQC_INTR, (uint32_t)d->msi->vector);
	d->eq = mlx5dv_devx_create_eq(
		d->ctx, d->in, d->in_bytes, d->out, CRL_PRM_CREATE_EQ_OUT_BYTES);
	if (d->eq == NULL)
		die("CREATE_EQ: %s, syndrome 0x%x", strerror(errno),
			crl_prm_get(d->out, CRL_PRM_CMD_OUT_SYNDROME));
	d->eqn = crl_prm_get(d->out, CRL_PRM_CREATE_EQ_OUT_EQ_NUMBER);
	for (unsigned i = 0; i < 1u << LOG_EQ; i++)
		((uint8_t *)d->eq->vaddr)[i * 64 + 63] = 1;
}

static uint32_t
make_cq(struct driver *d, uint64_t ring, uint64_t record, uint32_t eqn)
{
	uint8_t *in = cmd(d, CRL_CMD_OP_CREATE_CQ, CRL_PRM_CREATE_CQ_IN_BYTES);
	uint8_t *cqc = crl_prm_at(in, CRL_PRM_CREATE_CQ_IN_CQ_CONTEXT);

	crl_prm_set(in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_VALID, 1);
	crl_prm_set(in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_ID, d->umem->umem_id);
	crl_prm_set64(in, CRL_PRM_CREATE_CQ_IN_CQ_UMEM_OFFSET, ring);
	crl_prm_set(cqc, CRL_PRM_CQC_DBR_UMEM_VALID, 1);
	crl_prm_set(cqc, CRL_PRM_CQC_DBR_UMEM_ID, d->umem->umem_id);
	crl_prm_set64(cqc, CRL_PRM_CQC_DBR_ADDR, record);
	crl_prm_set(cqc, CRL_PRM_CQC_LOG_CQ_SIZE, LOG_CQ);
	crl_prm_set(cqc, CRL_PRM_CQC_UAR_PAGE, d->uar->page_id);
	crl_prm_set(cqc, CRL_PRM_CQC_C_EQN, eqn);
	for (unsigned i = 0; i < 1u << LOG_CQ; i++)
		d->mem[ring + i * 64 + 63] = CRL_CQE_INVALID << 4;
	return create(d, "CREATE_CQ", CRL_PRM_CREATE_CQ_OUT_BYTES, CRL_PRM_CREATE_CQ_OUT_CQN);
}

static void
fill_wq(struct driver *d, uint8_t *wq, uint32_t log_stride, uint32_t log_sz, uint64_t ring,
	uint64_t record)
{
	crl_prm_set(wq, CRL_PRM_WQ_WQ_TYPE, CRL_WQ_CYCLIC);
	crl_prm_set(wq, CRL_PRM_WQ_PD, d->pdn);
	crl_prm_set(wq, CRL_PRM_WQ_LOG_WQ_STRIDE, log_stride);
	crl_prm_set(wq, CRL_PRM_WQ_LOG_WQ_SZ, log_sz);
	crl_prm_set(wq, CRL_PRM_WQ_DBR_UMEM_VALID, 1);
	crl_prm_set(wq, CRL_PRM_WQ_WQ_UMEM_VALID, 1);
	crl_prm_set(wq, CRL_PRM_WQ_DBR_UMEM_ID, d->umem->umem_id);
	crl_prm_set(wq, CRL_PRM_WQ_WQ_UMEM_ID, d->umem->umem_id);
	crl_prm_set64(wq, CRL_PRM_WQ_WQ_UMEM_OFFSET, ring);
	crl_prm_set64(wq, CRL_PRM_WQ_DBR_ADDR, record);
}

/* Create in RST, move to RDY; the two modify commands have the same places. */
static void
ready(struct driver *d, uint16_t opcode, const char *name, uint32_t num)
{
	uint8_t *in = cmd(d, opcode, CRL_PRM_MODIFY_SQ_IN_BYTES);
	int rc;

	crl_prm_set(in, CRL_PRM_MODIFY_SQ_IN_SQ_STATE, CRL_Q_STATE_RST);
	crl_prm_set(in, CRL_PRM_MODIFY_SQ_IN_SQN, num);
	crl_prm_set(crl_prm_at(in, CRL_PRM_MODIFY_SQ_IN_CTX), CRL_PRM_SQC_STATE, CRL_Q_STATE_RDY);
	rc = mlx5dv_devx_obj_modify(d->obj[d->nr_objs - 1], d->in, d->in_bytes, d->out, 16);
	if (rc != 0)
		die("%s: %s, syndrome 0x%x", name, strerror(rc),
			crl_prm_get(d->out, CRL_PRM_CMD_OUT_SYNDROME));
}

static void
make_sq(struct driver *d)
{
	uint8_t *sqc = crl_prm_at(
		cmd(d, CRL_CMD_OP_CREATE_SQ, CRL_PRM_CREATE_SQ_IN_BYTES), CRL_PRM_CREATE_SQ_IN_CTX);
	uint8_t *wq = crl_prm_at(sqc, CRL_PRM_SQC_WQ);

	crl_prm_set(sqc, CRL_PRM_SQC_CQN, d->cqn[0]);
	crl_prm_set(sqc, CRL_PRM_SQC_TIS_LST_SZ, 1);
	crl_prm_set(sqc, CRL_PRM_SQC_TIS_NUM_0, d->tisn);
	crl_prm_set(sqc, CRL_PRM_SQC_FLUSH_IN_ERROR_EN, 1);
	crl_prm_set(sqc, CRL_PRM_SQC_TS_FORMAT, CRL_TS_DEFAULT);
	crl_prm_set(wq, CRL_PRM_WQ_UAR_PAGE, d->uar->page_id);
	fill_wq(d, wq, 6, LOG_SQ, AT_SQ, AT_RECORDS + 64);
	d->sqn = create(d, "CREATE_SQ", CRL_PRM_CREATE_SQ_OUT_BYTES, CRL_PRM_CREATE_SQ_OUT_SQN);
	ready(d, CRL_CMD_OP_MODIFY_SQ, "MODIFY_SQ", d->sqn);
}

static void
make_rq(struct driver *d)
{
	uint8_t *rqc = crl_prm_at(
		cmd(d, CRL_CMD_OP_CREATE_RQ, CRL_PRM_CREATE_RQ_IN_BYTES), CRL_PRM_CREATE_RQ_IN_CTX);

	crl_prm_set(rqc, CRL_PRM_RQC_CQN, d->cqn[1]);
	crl_prm_set(rqc, CRL_PRM_RQC_VSD, 1);
	crl_prm_set(rqc, CRL_PRM_RQC_FLUSH_IN_ERROR_EN, 1);
	crl_prm_set(rqc, CRL_PRM_RQC_TS_FORMAT, CRL_TS_DEFAULT);
	fill_wq(d, crl_prm_at(rqc, CRL_PRM_RQC_WQ), 4, LOG_RQ, AT_RQ, AT_RECORDS + 128);
	d->rqn = create(d, "CREATE_RQ", CRL_PRM_CREATE_RQ_OUT_BYTES, CRL_PRM_CREATE_RQ_OUT_RQN);
	ready(d, CRL_CMD_OP_MODIFY_RQ, "MODIFY_RQ", d->rqn);
}

/* Everything received goes to the one RQ: a table, a group that looks at nothing, an entry. */
static void
make_steering(struct driver *d)
{
	uint8_t *in, *ctx;

	ctx = crl_prm_at(cmd(d, CRL_CMD_OP_CREATE_TIR, CRL_PRM_CREATE_TIR_IN_BYTES),
		CRL_PRM_CREATE_TIR_IN_CTX);
	crl_prm_set(ctx, CRL_PRM_TIRC_DISP_TYPE, CRL_TIR_DIRECT);
	crl_prm_set(ctx, CRL_PRM_TIRC_INLINE_RQN, d->rqn);
	crl_prm_set(ctx, CRL_PRM_TIRC_TRANSPORT_DOMAIN, d->tdn);
	d->tirn =
		create(d, "CREATE_TIR", CRL_PRM_CREATE_TIR_OUT_BYTES, CRL_PRM_CREATE_TIR_OUT_TIRN);

	cmd(d, CRL_CMD_OP_CREATE_FLOW_TABLE, CRL_PRM_CREATE_FLOW_TABLE_IN_BYTES);
	d->table = create(d, "CREATE_FLOW_TABLE", CRL_PRM_CREATE_FLOW_TABLE_OUT_BYTES,
		CRL_PRM_CREATE_FLOW_TABLE_OUT_TABLE_ID);
	in = cmd(d, CRL_CMD_OP_CREATE_FLOW_GROUP, CRL_PRM_CREATE_FLOW_GROUP_IN_BYTES);
	crl_prm_set(in, CRL_PRM_CREATE_FLOW_GROUP_IN_TABLE_ID, d->table);
	d->group = create(d, "CREATE_FLOW_GROUP", CRL_PRM_CREATE_FLOW_GROUP_OUT_BYTES,
		CRL_PRM_CREATE_FLOW_GROUP_OUT_GROUP_ID);
	in = cmd(d, CRL_CMD_OP_SET_FLOW_TABLE_ENTRY, CRL_PRM_SET_FTE_IN_BYTES + 8);
	ctx = crl_prm_at(in, CRL_PRM_SET_FTE_IN_FLOW_CONTEXT);
	crl_prm_set(in, CRL_PRM_SET_FTE_IN_TABLE_ID, d->table);
	crl_prm_set(ctx, CRL_PRM_FLOW_CONTEXT_GROUP_ID, d->group);
	crl_prm_set(ctx, CRL_PRM_FLOW_CONTEXT_ACTION, 4); /* forward */
	crl_prm_set(ctx, CRL_PRM_FLOW_CONTEXT_DESTINATION_LIST_SIZE, 1);
	crl_prm_set(in + CRL_PRM_SET_FTE_IN_BYTES, CRL_PRM_DEST_FORMAT_DESTINATION_TYPE, 2);
	crl_prm_set(in + CRL_PRM_SET_FTE_IN_BYTES, CRL_PRM_DEST_FORMAT_DESTINATION_ID, d->tirn);
	create(d, "SET_FLOW_TABLE_ENTRY", 16, CRL_PRM_CMD_OUT_STATUS);
	in = cmd(d, CRL_CMD_OP_SET_FLOW_TABLE_ROOT, CRL_PRM_SET_FLOW_TABLE_ROOT_IN_BYTES);
	crl_prm_set(in, CRL_PRM_SET_FLOW_TABLE_ROOT_IN_TABLE_ID, d->table);
	general(d, "SET_FLOW_TABLE_ROOT", 16);
}

void
make_objects(struct driver *d)
{
	uint8_t *ctx;

	cmd(d, CRL_CMD_OP_ALLOC_TRANSPORT_DOMAIN, CRL_PRM_ALLOC_TRANSPORT_DOMAIN_IN_BYTES);
	d->tdn = create(d, "ALLOC_TRANSPORT_DOMAIN", CRL_PRM_ALLOC_TRANSPORT_DOMAIN_OUT_BYTES,
		CRL_PRM_ALLOC_TRANSPORT_DOMAIN_OUT_TRANSPORT_DOMAIN);
	ctx = crl_prm_at(cmd(d, CRL_CMD_OP_CREATE_TIS, CRL_PRM_CREATE_TIS_IN_BYTES),
		CRL_PRM_CREATE_TIS_IN_CTX);
	crl_prm_set(ctx, CRL_PRM_TISC_TRANSPORT_DOMAIN, d->tdn);
	d->tisn =
		create(d, "CREATE_TIS", CRL_PRM_CREATE_TIS_OUT_BYTES, CRL_PRM_CREATE_TIS_OUT_TISN);
	d->cqn[0] = make_cq(d, AT_SEND_CQ, AT_RECORDS, d->async_eqn);
	d->cqn[1] = make_cq(d, AT_RECV_CQ, AT_RECORDS + 192, d->eqn);
	make_sq(d);
	make_rq(d);
	make_steering(d);
}

void
destroy_objects(struct driver *d)
{
	int rc;

	while (d->nr_objs > 0) {
		rc = mlx5dv_devx_obj_destroy(d->obj[--d->nr_objs]);
		if (rc != 0)
			die("destroying object %u: %s", d->nr_objs, strerror(rc));
	}
}
