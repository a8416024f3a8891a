/* SPDX-License-Identifier: BSD-3-Clause */
/* wire/: every layout and constant that rdma-core's mlx5dv.h has too is the same there. */
#include <infiniband/mlx5dv.h>

#include "wire_same.h"

static void
send_wqe(void **state)
{
	assert_int_equal(sizeof(struct crl_wqe_ctrl), sizeof(struct mlx5_wqe_ctrl_seg));
	SAME(crl_wqe_ctrl, opmod_idx_opcode, mlx5_wqe_ctrl_seg, opmod_idx_opcode);
	SAME(crl_wqe_ctrl, qpn_ds, mlx5_wqe_ctrl_seg, qpn_ds);
	SAME(crl_wqe_ctrl, signature, mlx5_wqe_ctrl_seg, signature);
	SAME(crl_wqe_ctrl, fm_ce_se, mlx5_wqe_ctrl_seg, fm_ce_se);
	SAME(crl_wqe_ctrl, imm, mlx5_wqe_ctrl_seg, imm);
	assert_int_equal(sizeof(struct crl_wqe_eth), offsetof(struct mlx5_wqe_eth_seg, inline_hdr));
	SAME(crl_wqe_eth, swp_offs, mlx5_wqe_eth_seg, rsvd0);
	SAME(crl_wqe_eth, cs_flags, mlx5_wqe_eth_seg, cs_flags);
	SAME(crl_wqe_eth, swp_flags, mlx5_wqe_eth_seg, rsvd1);
	SAME(crl_wqe_eth, mss, mlx5_wqe_eth_seg, mss);
	SAME(crl_wqe_eth, metadata, mlx5_wqe_eth_seg, rsvd2);
	SAME(crl_wqe_eth, inline_hdr_size, mlx5_wqe_eth_seg, inline_hdr_sz);
	SAME(crl_wqe_eth, inline_hdr, mlx5_wqe_eth_seg, inline_hdr_start);
	assert_int_equal(sizeof(struct crl_wqe_data), sizeof(struct mlx5_wqe_data_seg));
	SAME(crl_wqe_data, byte_count, mlx5_wqe_data_seg, byte_count);
	SAME(crl_wqe_data, lkey, mlx5_wqe_data_seg, lkey);
	SAME(crl_wqe_data, addr, mlx5_wqe_data_seg, addr);
	assert_int_equal(sizeof(struct crl_wqe_raddr), sizeof(struct mlx5_wqe_raddr_seg));
	SAME(crl_wqe_raddr, addr, mlx5_wqe_raddr_seg, raddr);
	SAME(crl_wqe_raddr, rkey, mlx5_wqe_raddr_seg, rkey);
}

static void
cqe(void **state)
{
	assert_int_equal(sizeof(struct crl_cqe64), sizeof(struct mlx5_cqe64));
	SAME(crl_cqe64, wqe_id, mlx5_cqe64, wqe_id);
	SAME(crl_cqe64, ml_path, mlx5_cqe64, ml_path);
	SAME(crl_cqe64, slid, mlx5_cqe64, slid);
	SAME(crl_cqe64, flags_rqpn, mlx5_cqe64, flags_rqpn);
	SAME(crl_cqe64, hds_ip_ext, mlx5_cqe64, hds_ip_ext);
	SAME(crl_cqe64, l4_hdr_type_etc, mlx5_cqe64, l4_hdr_type_etc);
	SAME(crl_cqe64, vlan_info, mlx5_cqe64, vlan_info);
	SAME(crl_cqe64, srqn_uidx, mlx5_cqe64, srqn_uidx);
	SAME(crl_cqe64, metadata, mlx5_cqe64, imm_inval_pkey);
	SAME(crl_cqe64, byte_cnt, mlx5_cqe64, byte_cnt);
	SAME(crl_cqe64, timestamp, mlx5_cqe64, timestamp);
	SAME(crl_cqe64, sop_drop_qpn, mlx5_cqe64, sop_drop_qpn);
	SAME(crl_cqe64, wqe_counter, mlx5_cqe64, wqe_counter);
	SAME(crl_cqe64, signature, mlx5_cqe64, signature);
	SAME(crl_cqe64, op_own, mlx5_cqe64, op_own);
	assert_int_equal(sizeof(struct crl_err_cqe), sizeof(struct mlx5_err_cqe));
	SAME(crl_err_cqe, srqn, mlx5_err_cqe, srqn);
	SAME(crl_err_cqe, vendor_err_synd, mlx5_err_cqe, vendor_err_synd);
	SAME(crl_err_cqe, syndrome, mlx5_err_cqe, syndrome);
	SAME(crl_err_cqe, s_wqe_opcode_qpn, mlx5_err_cqe, s_wqe_opcode_qpn);
	SAME(crl_err_cqe, wqe_counter, mlx5_err_cqe, wqe_counter);
	SAME(crl_err_cqe, op_own, mlx5_err_cqe, op_own);
}

static void
constants(void **state)
{
	assert_int_equal(CRL_OPCODE_NOP, MLX5_OPCODE_NOP);
	assert_int_equal(CRL_OPCODE_RDMA_WRITE, MLX5_OPCODE_RDMA_WRITE);
	assert_int_equal(CRL_OPCODE_SEND, MLX5_OPCODE_SEND);
	assert_int_equal(CRL_OPCODE_TSO, MLX5_OPCODE_TSO);
	assert_int_equal(CRL_WQE_CE_ALWAYS << CRL_WQE_CE_SHIFT, MLX5_WQE_CTRL_CQ_UPDATE);
	assert_int_equal(CRL_ETH_L3_CSUM, MLX5_ETH_WQE_L3_CSUM);
	assert_int_equal(CRL_ETH_L4_CSUM, MLX5_ETH_WQE_L4_CSUM);
	assert_int_equal(CRL_WQE_INLINE, MLX5_INLINE_SEG);
	assert_int_equal(CRL_LKEY_INVALID, MLX5_INVALID_LKEY);
	assert_int_equal(CRL_WQEBB_BYTES, MLX5_SEND_WQE_BB);
	assert_int_equal(CRL_CQE_REQ, MLX5_CQE_REQ);
	assert_int_equal(CRL_CQE_RESP_SEND, MLX5_CQE_RESP_SEND);
	assert_int_equal(CRL_CQE_REQ_ERR, MLX5_CQE_REQ_ERR);
	assert_int_equal(CRL_CQE_RESP_ERR, MLX5_CQE_RESP_ERR);
	assert_int_equal(CRL_CQE_INVALID, MLX5_CQE_INVALID);
	assert_int_equal(CRL_SYND_LOCAL_LENGTH, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	assert_int_equal(CRL_SYND_LOCAL_QP_OP, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	assert_int_equal(CRL_SYND_LOCAL_PROT, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
	assert_int_equal(CRL_SYND_WR_FLUSH, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	assert_int_equal(CRL_SYND_BAD_RESP, MLX5_CQE_SYNDROME_BAD_RESP_ERR);
	assert_int_equal(CRL_SYND_LOCAL_ACCESS, MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR);
	assert_int_equal(CRL_CQE_L2_OK, MLX5_CQE_L2_OK);
	assert_int_equal(CRL_CQE_L3_OK, MLX5_CQE_L3_OK);
	assert_int_equal(CRL_CQE_L4_OK, MLX5_CQE_L4_OK);
	assert_int_equal(CRL_CQE_L3_NONE, MLX5_CQE_L3_HDR_TYPE_NONE);
	assert_int_equal(CRL_CQE_L3_IPV6, MLX5_CQE_L3_HDR_TYPE_IPV6);
	assert_int_equal(CRL_CQE_L3_IPV4, MLX5_CQE_L3_HDR_TYPE_IPV4);
	assert_int_equal(CRL_DBREC_RCV_WORD, MLX5_RCV_DBR);
	assert_int_equal(CRL_DBREC_SND_WORD, MLX5_SND_DBR);
	assert_int_equal(CRL_UAR_CQ_ARM, MLX5_CQ_DOORBELL);
}

/* Owner bit and opcode as rdma-core's own inline functions read them. */
static void
op_own(void **state)
{
	struct mlx5_cqe64 c;
	int i;

	for (i = 0; i < 256; i++) {
		c.op_own = (uint8_t)i;
		assert_int_equal(crl_cqe_opcode(c.op_own), mlx5dv_get_cqe_opcode(&c));
		assert_int_equal(crl_cqe_is_sw_owned(c.op_own, 0, 4),
			mlx5dv_get_cqe_opcode(&c) != MLX5_CQE_INVALID && !mlx5dv_get_cqe_owner(&c));
		assert_int_equal(crl_cqe_is_sw_owned(c.op_own, 16, 4),
			mlx5dv_get_cqe_opcode(&c) != MLX5_CQE_INVALID && mlx5dv_get_cqe_owner(&c));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send_wqe),
		cmocka_unit_test(cqe),
		cmocka_unit_test(constants),
		cmocka_unit_test(op_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
