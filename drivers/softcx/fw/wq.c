/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wq that the contexts of send and receive queues end with: sizes, protection domain, where
 * ring and record lie. Called by cmd_wq.c.
 */
#include "ring.h"

static const uint32_t wq_not_offered[] = {
	CRL_PRM_WQ_WQ_SIGNATURE,
	CRL_PRM_WQ_CD_SLAVE,
	CRL_PRM_WQ_HDS_SKIP_FIRST_SGE,
	CRL_PRM_WQ_LOG2_HDS_BUF_SIZE,
	CRL_PRM_WQ_LWM,
	CRL_PRM_WQ_HW_COUNTER,
	CRL_PRM_WQ_SW_COUNTER,
	CRL_PRM_WQ_LOG_HAIRPIN_NUM_PACKETS,
	CRL_PRM_WQ_LOG_HAIRPIN_DATA_SZ,
	CRL_PRM_WQ_LOG_WQE_NUM_OF_STRIDES,
	CRL_PRM_WQ_TWO_BYTE_SHIFT_EN,
	CRL_PRM_WQ_LOG_WQE_STRIDE_SIZE,
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

int
scx_fw_wq_check(struct scx_fw_call *c, const void *wq, uint32_t stride_min, uint32_t stride_max)
{
	uint32_t type = crl_prm_get(wq, CRL_PRM_WQ_WQ_TYPE);
	uint32_t stride = crl_prm_get(wq, CRL_PRM_WQ_LOG_WQ_STRIDE);
	uint32_t size = crl_prm_get(wq, CRL_PRM_WQ_LOG_WQ_SZ);

	static const uint32_t end_padding[] = {CRL_PRM_WQ_END_PADDING_MODE};

	if (!scx_fw_fields_zero(c, SCX_LAYOUT_WQ, wq, wq_not_offered, NR(wq_not_offered)))
		return -1;
	/* mlx5_core asks for it unseen; leave to write up to the next cache line is not a duty. */
	if (c->nic->cfg.guest == NULL && !scx_fw_fields_zero(c, SCX_LAYOUT_WQ, wq, end_padding, 1))
		return -1;
	if (type != CRL_WQ_CYCLIC)
		return scx_fw_refuse(c, SCX_FW_R_WQ_TYPE, wq, 4, "wq_type is %u", type);
	if (stride < stride_min || stride > stride_max)
		return scx_fw_refuse(c, SCX_FW_R_WQ_STRIDE, NULL, 0,
			"log_wq_stride is %u, offered: %u to %u", stride, stride_min, stride_max);
	if (size > SCX_LOG_WQ_SZ_MAX)
		return scx_fw_refuse(c, SCX_FW_R_WQ_SIZE, NULL, 0,
			"log_wq_sz is %u, the most is %u", size, SCX_LOG_WQ_SZ_MAX);
	return 0;
}

/* The wq of a context: protection domain, ring and record; the rest is the queue's own business. */
int
scx_fw_wq_place(
	struct scx_fw_call *c, struct scx_fw_obj *obj, const void *wq, struct scx_fw_ring *r)
{
	uint32_t pd = crl_prm_get(wq, CRL_PRM_WQ_PD);

	*r = (struct scx_fw_ring){
		.ring_valid = crl_prm_get(wq, CRL_PRM_WQ_WQ_UMEM_VALID),
		.ring_umem = crl_prm_get(wq, CRL_PRM_WQ_WQ_UMEM_ID),
		.ring_off = crl_prm_get64(wq, CRL_PRM_WQ_WQ_UMEM_OFFSET),
		.page_offset = crl_prm_get(wq, CRL_PRM_WQ_PAGE_OFFSET),
		.log_page_size = crl_prm_get(wq, CRL_PRM_WQ_LOG_WQ_PG_SZ),
		.record_valid = crl_prm_get(wq, CRL_PRM_WQ_DBR_UMEM_VALID),
		.record_umem = crl_prm_get(wq, CRL_PRM_WQ_DBR_UMEM_ID),
		.record_off = crl_prm_get64(wq, CRL_PRM_WQ_DBR_ADDR),
		.bytes = 1ull << (crl_prm_get(wq, CRL_PRM_WQ_LOG_WQ_SZ) +
				  crl_prm_get(wq, CRL_PRM_WQ_LOG_WQ_STRIDE)),
		.pas = (const uint8_t *)wq + CRL_PRM_WQ_BYTES,
	};
	/* mlx5_core's queue for what is to be dropped is in domain 0, where there are no keys. */
	if ((pd != 0 || c->uid != 0 || c->nic->cfg.guest == NULL) &&
		scx_fw_get_hold(c, obj, SCX_FW_PD, pd) == NULL)
		return -1;
	return scx_fw_ring(c, obj, r);
}
