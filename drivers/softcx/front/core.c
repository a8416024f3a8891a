/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs that are not mlx5's own: opening a context, importing it, device and port attributes,
 * protection domains. Called through args.c. Attributes tell only what the model honours: what is
 * not claimed here, libmlx5 and net_mlx5 leave alone.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "front.h"
#include "core.h"

#define QPT_RAW_PACKET	  (1u << 8)  /* ib_user: bit of IB_QPT_RAW_PACKET in supported_qpts */
#define DEV_RAW_IP_CSUM	  (1u << 26) /* IBV_DEVICE_RAW_IP_CSUM */
#define RAW_CVLAN_STRIP	  (1u << 0)  /* IBV_RAW_PACKET_CAP_* */
#define RAW_SCATTER_FCS	  (1u << 1)
#define RAW_IP_CSUM	  (1u << 2)
#define DEVEX_SCATTER_FCS (1ull << 34) /* IBV_DEVICE_RAW_SCATTER_FCS */
#define PORT_DOWN	  1
#define PORT_ACTIVE	  4
#define PHYS_DISABLED	  3
#define PHYS_LINK_UP	  5
#define WIDTH_4X	  2
#define SPEED_25G	  32
#define LINK_ETHERNET	  2

uint64_t
scxf_fw_ver(const struct scxf_dev *dev)
{
	const struct scx_identity *id = dev->identity;

	return (uint64_t)id->fw_major << 32 | (uint64_t)id->fw_minor << 16 | id->fw_sub;
}

/* EUI-64 of the port's MAC, as mlx5 makes it. */
static uint64_t
node_guid(const struct scxf_dev *dev)
{
	const uint8_t *m = dev->port->mac;
	uint8_t g[8] = {m[0], m[1], m[2], 0, 0, m[3], m[4], m[5]};
	uint64_t v;

	memcpy(&v, g, sizeof(v));
	return v;
}

static void
fill_ucontext(const struct scxf_dev *dev, struct mlx5_ib_alloc_ucontext_resp *r,
	unsigned max_cqe_version)
{
	*r = (struct mlx5_ib_alloc_ucontext_resp){
		.qp_tab_size = 1u << 17,
		.bf_reg_size = 512,
		.tot_bfregs = 0, /* all UARs are allocated one by one */
		.cache_line_size = 64,
		.max_sq_desc_sz = 1024,
		.max_rq_desc_sz = 512,
		.max_send_wqebb = 1u << 15,
		.max_recv_wr = 1u << 15,
		.max_srq_recv_wr = 1u << 15,
		.num_ports = 1,
		.cqe_version = max_cqe_version ? 1 : 0,
		.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE,
		.eth_min_inline = dev->identity->inline_l2 ? MLX5_USER_INLINE_MODE_L2
							   : MLX5_USER_INLINE_MODE_NONE,
		.log_uar_size = 12,
		.num_uars_per_page = 1,
		.num_dyn_bfregs = SCXF_UAR_PAGES,
	};
}

/* What both ways to a context answer: how many completion vectors, what optional things the core
 * has. */
static void
answer_context(struct scxf_call *c, uint16_t uctx_attr, unsigned max_cqe_version)
{
	struct mlx5_ib_alloc_ucontext_resp r;
	uint64_t core = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	uint32_t vectors = 1;
	size_t room;

	fill_ucontext(c->ctx->dev, &r, max_cqe_version);
	scxf_out_buf(c, uctx_attr, &room);
	r.response_length = room < sizeof(r) ? room : sizeof(r);
	scxf_out(c, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	scxf_out(c, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &core, sizeof(core));
	scxf_out(c, uctx_attr, &r, sizeof(r));
}

static int
get_context(struct scxf_call *c)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {0};
	size_t bytes;
	const void *uhw = scxf_in(c, UVERBS_ATTR_UHW_IN, &bytes);
	int rc;

	if (c->ctx->alive)
		return scxf_refuse(c, -EINVAL, "this open of the device has a context already");
	if (bytes < offsetof(struct mlx5_ib_alloc_ucontext_req_v2, lib_caps) + sizeof(req.lib_caps))
		return scxf_refuse(c, -EINVAL,
			"a request of %zu bytes: libmlx5 of rdma-core 30 or later is needed",
			bytes);
	memcpy(&req, uhw, bytes < sizeof(req) ? bytes : sizeof(req));
	if (req.flags & ~MLX5_IB_ALLOC_UCTX_DEVX || req.comp_mask || req.reserved0 ||
		req.reserved1 || req.reserved2)
		return scxf_refuse(c, -EINVAL, "unknown flags 0x%x or comp_mask 0x%x", req.flags,
			req.comp_mask);
	if (!(req.lib_caps & MLX5_LIB_CAP_DYN_UAR))
		return scxf_refuse(c, -EOPNOTSUPP,
			"libmlx5 without dynamic UARs: rdma-core 30 or later is needed");
	rc = scx_uid_alloc(c->ctx->dev->nic, &c->ctx->uid);
	if (rc)
		return scxf_refuse(c, rc, "no user id left");
	c->ctx->alive = true;
	c->ctx->devx = req.flags & MLX5_IB_ALLOC_UCTX_DEVX;
	answer_context(c, UVERBS_ATTR_UHW_OUT, req.max_cqe_version);
	return 0;
}

int
scxf_need_context(struct scxf_call *c)
{
	return c->ctx->alive ? 0
			     : scxf_refuse(c, -EINVAL, "no context yet on this open of the device");
}

/* An import: another libibverbs context over the same open file. */
static int
query_context(struct scxf_call *c)
{
	int rc = scxf_need_context(c);

	if (!rc)
		answer_context(c, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, 1);
	return rc;
}

static int
query_port(struct scxf_call *c)
{
	const struct scxf_dev *dev = c->ctx->dev;
	uint64_t port = scxf_in_u64(c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 0);
	uint32_t mtu = dev->mtu;
	struct ib_uverbs_query_port_resp_ex r = {
		.legacy_resp =
			{
				.max_msg_sz = 1u << 30,
				.state = dev->link_up ? PORT_ACTIVE : PORT_DOWN,
				.phys_state = dev->link_up ? PHYS_LINK_UP : PHYS_DISABLED,
				.max_mtu = 5,
				.active_mtu = mtu >= 4096   ? 5
					      : mtu >= 2048 ? 4
					      : mtu >= 1024 ? 3
					      : mtu >= 512  ? 2
							    : 1,
				.active_width = WIDTH_4X,
				.active_speed = SPEED_25G,
				.max_vl_num = 1,
				.link_layer = LINK_ETHERNET,
			},
	};

	if (port != 1)
		return scxf_refuse(c, -EINVAL, "port %llu: this device has port 1 only",
			(unsigned long long)port);
	scxf_out(c, UVERBS_ATTR_QUERY_PORT_RESP, &r, sizeof(r));
	return 0;
}

/* E-Switch data of a port: there is no E-Switch here, and mlx5_ib answers so in that case. */
static int
query_vport(struct scxf_call *c)
{
	return -EOPNOTSUPP;
}

static void
fill_device(const struct scxf_dev *dev, struct ib_uverbs_query_device_resp *r)
{
	*r = (struct ib_uverbs_query_device_resp){
		.fw_ver = scxf_fw_ver(dev),
		.node_guid = node_guid(dev),
		.sys_image_guid = node_guid(dev),
		.max_mr_size = UINT64_MAX,
		.page_size_cap = ~(uint64_t)0xfff,
		.vendor_id = 0x02c9,
		.vendor_part_id = dev->identity->pci_device,
		.device_cap_flags = DEV_RAW_IP_CSUM,
		.max_qp = 1u << 17,
		.max_qp_wr = 1u << 15,
		.max_sge = 30,
		.max_cq = 1u << 12,
		.max_cqe = (1u << 22) - 1,
		.max_mr = 1u << 12,
		.max_pd = 1u << 20,
		.local_ca_ack_delay = 16,
		.phys_port_cnt = 1,
	};
}

static int
query_device(struct scxf_call *c)
{
	struct ib_uverbs_query_device_resp r;

	fill_device(c->ctx->dev, &r);
	scxf_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	return 0;
}

static int
query_device_ex(struct scxf_call *c)
{
	struct ib_uverbs_ex_query_device_resp r = {
		.device_cap_flags_ex = DEV_RAW_IP_CSUM | DEVEX_SCATTER_FCS,
		.max_wq_type_rq = 1u << 11,
		.raw_packet_caps = RAW_CVLAN_STRIP | RAW_SCATTER_FCS | RAW_IP_CSUM,
		.rss_caps =
			{
				.supported_qpts = QPT_RAW_PACKET,
				.max_rwq_indirection_tables = 256,
				.max_rwq_indirection_table_size = 512,
			},
	};
	struct mlx5_ib_query_device_resp m = {
		.rss_caps = {.rx_hash_fields_mask = 0xff, .rx_hash_function = 1 /* Toeplitz */},
		.mlx5_ib_support_multi_pkt_send_wqes = MLX5_IB_ALLOW_MPW | MLX5_IB_SUPPORT_EMPW,
	};
	size_t room;

	fill_device(c->ctx->dev, &r.base);
	scxf_out_buf(c, UVERBS_ATTR_CORE_OUT, &room);
	r.response_length = room < sizeof(r) ? room : sizeof(r);
	scxf_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	scxf_out_buf(c, UVERBS_ATTR_UHW_OUT, &room);
	m.response_length = room < sizeof(m) ? room : sizeof(m);
	scxf_out(c, UVERBS_ATTR_UHW_OUT, &m, sizeof(m));
	return 0;
}

static int
alloc_pd(struct scxf_call *c)
{
	struct ib_uverbs_alloc_pd_resp r;
	struct mlx5_ib_alloc_pd_resp m;
	int rc = scxf_obj_new(c->ctx, SCXF_PD, &r.pd_handle);

	if (rc)
		return rc;
	rc = scx_pd_alloc(c->ctx->dev->nic, c->ctx->uid, &m.pdn);
	if (rc) {
		scxf_obj_put(c->ctx, r.pd_handle);
		return scxf_refuse(c, rc, "no protection domain left");
	}
	c->ctx->obj[r.pd_handle].num = m.pdn;
	scxf_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	scxf_out(c, UVERBS_ATTR_UHW_OUT, &m, sizeof(m));
	return 0;
}

static int
free_pd(struct scxf_call *c, uint64_t handle)
{
	int rc;
	struct scxf_obj *pd = scxf_obj_get(c->ctx, SCXF_PD, handle, &rc);

	if (rc)
		return scxf_refuse(
			c, rc, "protection domain handle %llu", (unsigned long long)handle);
	if (pd->users)
		return scxf_refuse(c, -EBUSY, "protection domain %u still has %u memory regions",
			pd->num, pd->users);
	rc = scx_pd_free(c->ctx->dev->nic, c->ctx->uid, pd->num);
	if (rc)
		return scxf_refuse(c, rc, "protection domain %u is in use", pd->num);
	scxf_obj_put(c->ctx, handle);
	return 0;
}

static int
pd_destroy(struct scxf_call *c)
{
	return free_pd(c, scxf_attr(c, UVERBS_ATTR_DESTROY_PD_HANDLE)->data);
}

static int
pd_query(struct scxf_call *c)
{
	uint32_t pdn = scxf_attr_obj(c, MLX5_IB_ATTR_QUERY_PD_HANDLE)->num;

	scxf_out(c, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pdn, sizeof(pdn));
	return 0;
}

static int
dealloc_pd(struct scxf_call *c)
{
	const struct ib_uverbs_dealloc_pd *req = scxf_in(c, UVERBS_ATTR_CORE_IN, NULL);

	return free_pd(c, req->pd_handle);
}

/* The commands that still travel in write(2) clothes, inside the ioctl. */
static const struct write_cmd {
	uint32_t cmd;
	uint16_t in, out; /* least bytes of the core part: fewer is -ENOSPC, which libibverbs probes
			     for */
	int (*run)(struct scxf_call *c);
} write_cmds[] = {
	{IB_USER_VERBS_CMD_QUERY_DEVICE, 0, sizeof(struct ib_uverbs_query_device_resp),
		query_device},
	{IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, 0,
		offsetof(struct ib_uverbs_ex_query_device_resp, odp_caps), query_device_ex},
	{IB_USER_VERBS_CMD_ALLOC_PD, sizeof(struct ib_uverbs_alloc_pd),
		sizeof(struct ib_uverbs_alloc_pd_resp), alloc_pd},
	{IB_USER_VERBS_CMD_DEALLOC_PD, sizeof(struct ib_uverbs_dealloc_pd), 0, dealloc_pd},
	{IB_USER_VERBS_CMD_REG_MR, sizeof(struct ib_uverbs_reg_mr),
		sizeof(struct ib_uverbs_reg_mr_resp), scxf_reg_mr},
	{IB_USER_VERBS_CMD_DEREG_MR, sizeof(struct ib_uverbs_dereg_mr), 0, scxf_dereg_mr_write},
};

static int
invoke_write(struct scxf_call *c)
{
	uint32_t cmd = scxf_in_u64(c, UVERBS_ATTR_WRITE_CMD, 0);
	size_t in, out;

	scxf_in(c, UVERBS_ATTR_CORE_IN, &in);
	scxf_out_buf(c, UVERBS_ATTR_CORE_OUT, &out);
	for (unsigned i = 0; i < sizeof(write_cmds) / sizeof(write_cmds[0]); i++) {
		const struct write_cmd *w = &write_cmds[i];
		int rc;

		if (w->cmd != cmd)
			continue;
		if (in < w->in || out < w->out)
			return -ENOSPC; /* not logged: this is how libibverbs asks whether we are
					   here */
		rc = scxf_need_context(c);
		return rc ? rc : w->run(c);
	}
	return scxf_refuse(c, -EOPNOTSUPP, "write command 0x%x is not offered", cmd);
}

const struct scxf_method scxf_core_methods[] = {
	METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, invoke_write,
		IN(UVERBS_ATTR_CORE_IN, 0, 0, ANY), OUT(UVERBS_ATTR_CORE_OUT, 0, 0, ANY),
		IN(UVERBS_ATTR_WRITE_CMD, 1, 4, 8), IN(UVERBS_ATTR_UHW_IN, 0, 0, ANY),
		OUT(UVERBS_ATTR_UHW_OUT, 0, 0, ANY)),
	METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, get_context,
		OUT(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 0, 4, 4),
		OUT(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 0, 8, 8),
		IN(UVERBS_ATTR_UHW_IN, 0, 0, ANY), OUT(UVERBS_ATTR_UHW_OUT, 0, 0, ANY)),
	METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, query_context,
		OUT(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 0, 4, 4),
		OUT(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, 0, 8, 8),
		OUT(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, 1, 8, ANY)),
	METHOD(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, query_port,
		IN(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, 1, 8),
		OUT(UVERBS_ATTR_QUERY_PORT_RESP, 1, sizeof(struct ib_uverbs_query_port_resp), ANY)),
	METHOD(UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT, query_vport,
		IN(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 1, 4, 8),
		OUT(MLX5_IB_ATTR_QUERY_PORT, 1, 8, ANY)),
	METHOD(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, pd_destroy,
		HANDLE(UVERBS_ATTR_DESTROY_PD_HANDLE, 1, SCXF_PD)),
	METHOD(UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, pd_query,
		HANDLE(MLX5_IB_ATTR_QUERY_PD_HANDLE, 1, SCXF_PD),
		OUT(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, 1, 4, 4)),
	{0},
};
