/* SPDX-License-Identifier: BSD-3-Clause */
/* wire/: every layout and constant that DPDK's mlx5_prm.h has too is the same there. */
#include <mlx5_prm.h>

#include "wire_same.h"

static void
send_wqe(void **state)
{
	assert_int_equal(sizeof(struct crl_wqe_ctrl), sizeof(struct mlx5_wqe_cseg));
	SAME(crl_wqe_ctrl, opmod_idx_opcode, mlx5_wqe_cseg, opcode);
	SAME(crl_wqe_ctrl, qpn_ds, mlx5_wqe_cseg, sq_ds);
	assert_int_equal(
		offsetof(struct crl_wqe_ctrl, signature), offsetof(struct mlx5_wqe_cseg, flags));
	SAME(crl_wqe_ctrl, imm, mlx5_wqe_cseg, misc);
	assert_int_equal(sizeof(struct crl_wqe_eth), sizeof(struct mlx5_wqe_eseg));
	SAME(crl_wqe_eth, swp_offs, mlx5_wqe_eseg, swp_offs);
	SAME(crl_wqe_eth, cs_flags, mlx5_wqe_eseg, cs_flags);
	SAME(crl_wqe_eth, swp_flags, mlx5_wqe_eseg, swp_flags);
	SAME(crl_wqe_eth, mss, mlx5_wqe_eseg, mss);
	SAME(crl_wqe_eth, metadata, mlx5_wqe_eseg, metadata);
	SAME(crl_wqe_eth, inline_hdr_size, mlx5_wqe_eseg, inline_hdr_sz);
	SAME(crl_wqe_eth, inline_hdr, mlx5_wqe_eseg, inline_data);
	assert_int_equal(sizeof(struct crl_wqe_data), sizeof(struct mlx5_wqe_dseg));
	SAME(crl_wqe_data, byte_count, mlx5_wqe_dseg, bcount);
	SAME(crl_wqe_data, lkey, mlx5_wqe_dseg, lkey);
	SAME(crl_wqe_data, addr, mlx5_wqe_dseg, pbuf);
	SAME(crl_wqe_raddr, addr, mlx5_wqe_rseg, raddr);
	SAME(crl_wqe_raddr, rkey, mlx5_wqe_rseg, rkey);
	assert_int_equal(sizeof(struct mlx5_wqe), CRL_WQEBB_BYTES);
}

static void
cqe(void **state)
{
	assert_int_equal(sizeof(struct crl_cqe64), sizeof(struct mlx5_cqe));
	SAME(crl_cqe64, wqe_id, mlx5_cqe, wqe_id);
	assert_int_equal(offsetof(struct crl_cqe64, lro),
		offsetof(struct mlx5_cqe, lro_tcppsh_abort_dupack));
	SAME(crl_cqe64, rx_hash_result, mlx5_cqe, rx_hash_res);
	SAME(crl_cqe64, rx_hash_type, mlx5_cqe, rx_hash_type);
	SAME(crl_cqe64, check_sum, mlx5_cqe, csum);
	assert_int_equal(
		offsetof(struct crl_cqe64, hds_ip_ext), offsetof(struct mlx5_cqe, hdr_type_etc));
	SAME(crl_cqe64, vlan_info, mlx5_cqe, vlan_info);
	SAME(crl_cqe64, metadata, mlx5_cqe, flow_table_metadata);
	SAME(crl_cqe64, byte_cnt, mlx5_cqe, byte_cnt);
	SAME(crl_cqe64, timestamp, mlx5_cqe, timestamp);
	SAME(crl_cqe64, sop_drop_qpn, mlx5_cqe, sop_drop_qpn);
	SAME(crl_cqe64, wqe_counter, mlx5_cqe, wqe_counter);
	SAME(crl_cqe64, op_own, mlx5_cqe, op_own);
	SAME(crl_err_cqe, srqn, mlx5_error_cqe, srqn);
	SAME(crl_err_cqe, hw_err_synd, mlx5_error_cqe, hw_err_synd);
	SAME(crl_err_cqe, hw_synd_type, mlx5_error_cqe, hw_synd_type);
	SAME(crl_err_cqe, vendor_err_synd, mlx5_error_cqe, vendor_err_synd);
	SAME(crl_err_cqe, syndrome, mlx5_error_cqe, syndrome);
	SAME(crl_err_cqe, s_wqe_opcode_qpn, mlx5_error_cqe, s_wqe_opcode_qpn);
	SAME(crl_err_cqe, wqe_counter, mlx5_error_cqe, wqe_counter);
	SAME(crl_err_cqe, op_own, mlx5_error_cqe, op_own);
}

/* hdr_type_etc is one big-endian word there: byte 28 high, byte 29 low. */
static void
constants(void **state)
{
	assert_int_equal(CRL_OPCODE_EMPW, MLX5_OPCODE_ENHANCED_MPSW);
	assert_int_equal(CRL_WQE_CE_ON_ERROR, MLX5_COMP_ONLY_ERR);
	assert_int_equal(CRL_WQE_CE_ON_FIRST_ERR, MLX5_COMP_ONLY_FIRST_ERR);
	assert_int_equal(CRL_WQE_CE_ALWAYS, MLX5_COMP_ALWAYS);
	assert_int_equal(CRL_WQE_CE_ALWAYS_EVENT, MLX5_COMP_CQE_AND_EQE);
	assert_int_equal(CRL_WQE_CE_SHIFT, MLX5_COMP_MODE_OFFSET);
	assert_int_equal(CRL_WQE_DS_MAX, MLX5_DSEG_MAX);
	assert_int_equal(CRL_WQE_SEG_BYTES, MLX5_WSEG_SIZE);
	assert_int_equal(CRL_WQE_INLINE, MLX5_ETH_WQE_DATA_INLINE);
	assert_int_equal((uint32_t)CRL_ETH_INLINE_VLAN << 16, MLX5_ETH_WQE_VLAN_INSERT);
	assert_int_equal(CRL_ETH_L3_INNER_CSUM, MLX5_ETH_WQE_L3_INNER_CSUM);
	assert_int_equal(CRL_ETH_L4_INNER_CSUM, MLX5_ETH_WQE_L4_INNER_CSUM);
	assert_int_equal(CRL_CQE_L2_OK << 8, MLX5_CQE_RX_L2_HDR_VALID);
	assert_int_equal(CRL_CQE_L3_OK << 8, MLX5_CQE_RX_L3_HDR_VALID);
	assert_int_equal(CRL_CQE_L4_OK << 8, MLX5_CQE_RX_L4_HDR_VALID);
	assert_int_equal(CRL_CQE_IP_EXT, MLX5_CQE_RX_IP_EXT_OPTS_PACKET);
	assert_int_equal(CRL_CQE_IP_FRAG, MLX5_CQE_RX_IP_FRAG_PACKET);
	assert_int_equal(CRL_CQE_L3_IPV6 << CRL_CQE_L3_SHIFT, MLX5_CQE_RX_IPV6_PACKET);
	assert_int_equal(CRL_CQE_L3_IPV4 << CRL_CQE_L3_SHIFT, MLX5_CQE_RX_IPV4_PACKET);
	assert_int_equal(CRL_CQE_L4_TCP << CRL_CQE_L4_SHIFT, MLX5_CQE_RX_TCP_PACKET);
	assert_int_equal(CRL_CQE_L4_UDP << CRL_CQE_L4_SHIFT, MLX5_CQE_RX_UDP_PACKET);
	assert_int_equal(CRL_CQE_L4_SHIFT, MLX5_CQE_L4_TYPE_SHIFT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send_wqe),
		cmocka_unit_test(cqe),
		cmocka_unit_test(constants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
