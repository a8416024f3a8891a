/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The judge is libmlx5's VFIO driver, as Debian built it: it brings the device up, gives it pages,
 * speaks the command interface, makes memory keys and umems. This program drives it by its public
 * functions alone: an event queue with an interrupt, queues by DevX, frames round a loopback with
 * contents compared, a send with a wrong key, and everything taken down in order.
 *
 *   vfio_driver [FRAMES [MS]]
 *
 * MS: so long it then processes events alone, such as the NIC's requests for pages.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vfio_driver.h"

#define PCI_NAME "0000:99:00.0"
#define WAIT_NS	 5000000000ll

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void
open_device(struct driver *d)
{
	struct mlx5dv_vfio_context_attr attr = {.pci_name = PCI_NAME};
	struct ibv_device **list = mlx5dv_get_vfio_device_list(&attr);
	struct mlx5dv_pd dv_pd;
	struct mlx5dv_obj obj;

	if (list == NULL)
		die("no VFIO device %s: %s", PCI_NAME, strerror(errno));
	d->ctx = ibv_open_device(list[0]);
	if (d->ctx == NULL)
		die("open: %s", strerror(errno));
	ibv_free_device_list(list);
	d->pd = ibv_alloc_pd(d->ctx);
	if (d->pd == NULL)
		die("protection domain: %s", strerror(errno));
	obj.pd.in = d->pd;
	obj.pd.out = &dv_pd;
	if (mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD) != 0)
		die("mlx5dv_init_obj: %s", strerror(errno));
	d->pdn = dv_pd.pdn;
	if (mlx5dv_devx_query_eqn(d->ctx, 0, &d->async_eqn) != 0)
		die("event queue number: %s", strerror(errno));
	d->uar = mlx5dv_devx_alloc_uar(d->ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	if (d->uar == NULL)
		die("UAR: %s", strerror(errno));
}

/* The receive buffers do not start on a page: the key's list of pages says so. */
static void
make_memory(struct driver *d)
{
	const size_t rings = MEM_BYTES, bufs = (size_t)BUF_BYTES << LOG_RQ;
	uint8_t *p;

	if (posix_memalign((void **)&d->mem, 4096, rings) != 0 ||
		posix_memalign((void **)&p, 4096, 2 * bufs + 8192) != 0)
		die("memory");
	memset(d->mem, 0, rings);
	memset(p, 0, 2 * bufs + 8192);
	d->tx = p;
	d->rx = p + bufs + 4096 + 130;
	d->umem = mlx5dv_devx_umem_reg(d->ctx, d->mem, rings, IBV_ACCESS_LOCAL_WRITE);
	if (d->umem == NULL)
		die("umem: %s", strerror(errno));
	d->tx_mr = ibv_reg_mr(d->pd, d->tx, bufs, 0);
	d->rx_mr = ibv_reg_mr(d->pd, d->rx, bufs, IBV_ACCESS_LOCAL_WRITE);
	if (d->tx_mr == NULL || d->rx_mr == NULL)
		die("memory region: %s", strerror(errno));
}

static void
record(struct driver *d, uint64_t at, uint32_t word, uint32_t v)
{
	__atomic_store_n((uint32_t *)(void *)(d->mem + AT_RECORDS + at) + word, crl_bswap32(v),
		__ATOMIC_RELEASE);
}

static void
post_receive(struct driver *d)
{
	uint32_t slot = d->rq_pi++ & ((1u << LOG_RQ) - 1);
	struct crl_wqe_data seg = {crl_to_be32(BUF_BYTES), crl_to_be32(d->rx_mr->lkey),
		crl_to_be64((uintptr_t)d->rx + (uint64_t)slot * BUF_BYTES)};

	memcpy(d->mem + AT_RQ + slot * sizeof(seg), &seg, sizeof(seg));
	record(d, 128, CRL_DBREC_RCV_WORD, d->rq_pi & CRL_DBREC_WQ_MASK);
}

static void
post_send(struct driver *d, uint32_t bytes, uint32_t lkey)
{
	uint32_t slot = d->sq_pi & ((1u << LOG_SQ) - 1);
	struct {
		struct crl_wqe_ctrl c;
		struct crl_wqe_eth e;
		struct crl_wqe_data s;
		uint8_t rest[16];
	} w = {.c = {.opmod_idx_opcode = crl_to_be32((d->sq_pi & 0xffff) << 8 | CRL_OPCODE_SEND),
		       .qpn_ds = crl_to_be32(d->sqn << 8 | 3),
		       .fm_ce_se = CRL_WQE_CE_ALWAYS << CRL_WQE_CE_SHIFT},
		.s = {crl_to_be32(bytes), crl_to_be32(lkey),
			crl_to_be64((uintptr_t)d->tx + (uint64_t)slot * BUF_BYTES)}};
	uint64_t ring;

	memcpy(d->mem + AT_SQ + slot * sizeof(w), &w, sizeof(w));
	d->sq_pi++;
	record(d, 64, CRL_DBREC_SND_WORD, d->sq_pi & CRL_DBREC_WQ_MASK);
	memcpy(&ring, &w, sizeof(ring));
	__atomic_store_n((uint64_t *)d->uar->reg_addr, ring, __ATOMIC_RELEASE);
}

/* The next CQE of send (0) or receive (1) queue; NULL: none in time. */
static const struct crl_cqe64 *
next_cqe(struct driver *d, unsigned which)
{
	uint64_t ring = which ? AT_RECV_CQ : AT_SEND_CQ;
	const uint8_t *e = d->mem + ring + (d->ci[which] & ((1u << LOG_CQ) - 1)) * 64;
	int64_t end = now_ns() + WAIT_NS;

	while (!crl_cqe_is_sw_owned(
		__atomic_load_n(e + 63, __ATOMIC_ACQUIRE), d->ci[which], LOG_CQ)) {
		if (now_ns() > end)
			return NULL;
		mlx5dv_vfio_process_events(d->ctx);
	}
	d->ci[which]++;
	record(d, which ? 192 : 0, CRL_DBREC_CQ_CI, d->ci[which] & CRL_DBREC_CQ_MASK);
	return (const struct crl_cqe64 *)(const void *)e;
}

/* Arm the receive CQ; the interrupt of its event queue must come, with an entry for that CQ. */
static void
arm(struct driver *d)
{
	uint32_t word = (d->arm_sn++ & 3) << CRL_CQ_ARM_SN_SHIFT | (d->ci[1] & CRL_DBREC_CQ_MASK);
	uint64_t ring = (uint64_t)crl_bswap32(d->cqn[1]) << 32 | crl_bswap32(word);
	uint8_t *eq_arm = (uint8_t *)d->uar->base_addr + 0x40;
	int64_t end = now_ns() + WAIT_NS;

	__atomic_store_n((uint32_t *)(void *)eq_arm,
		crl_bswap32(d->eqn << 24 | (d->eq_ci & 0xffffff)), __ATOMIC_RELEASE);
	/* One register for two event queues, libmlx5's own too: in a BAR that is memory, the next
	 * store would overwrite this one before it is taken. */
	while (__atomic_load_n((uint32_t *)(void *)eq_arm, __ATOMIC_ACQUIRE) != 0)
		if (now_ns() > end)
			die("the event queue's register was not taken");
	record(d, 192, CRL_DBREC_CQ_ARM, word);
	__atomic_store_n((uint64_t *)(void *)((uint8_t *)d->uar->base_addr + CRL_UAR_CQ_ARM), ring,
		__ATOMIC_RELEASE);
}

static void
wait_interrupt(struct driver *d)
{
	struct pollfd p = {.fd = d->msi->fd, .events = POLLIN};
	const uint8_t *e = (uint8_t *)d->eq->vaddr + (d->eq_ci & ((1u << LOG_EQ) - 1)) * 64;
	uint64_t n;

	if (poll(&p, 1, (int)(WAIT_NS / 1000000)) != 1 || read(p.fd, &n, sizeof(n)) != sizeof(n))
		die("no interrupt from the receive CQ");
	if ((__atomic_load_n(e + 63, __ATOMIC_ACQUIRE) & 1) != (d->eq_ci >> LOG_EQ & 1))
		die("an interrupt, but no entry in the event queue");
	if (e[1] != 0 || crl_prm_get(e, (0x20 + 24) * 8 << 16 | 32) != d->cqn[1])
		die("event type 0x%x of CQ 0x%x, not of 0x%x", e[1],
			crl_prm_get(e, (0x20 + 24) * 8 << 16 | 32), d->cqn[1]);
	d->eq_ci++;
}

static uint32_t
frame_bytes(uint32_t i)
{
	return 60 + i * 97 % (FRAME_MAX - 60 + 1);
}

static void
fill_frame(uint8_t *to, uint32_t i, uint32_t bytes)
{
	static const uint8_t head[14] = {
		2, 0x5c, 0x78, 0, 0, 0, 2, 0x5c, 0x78, 0, 0, 1, 0x88, 0xb5};

	memcpy(to, head, sizeof(head));
	for (uint32_t k = sizeof(head); k < bytes; k++)
		to[k] = (uint8_t)(i * 31 + k * 7);
}

static void
one_frame(struct driver *d, uint32_t i)
{
	uint32_t slot = d->sq_pi & ((1u << LOG_SQ) - 1), bytes = frame_bytes(i);
	const struct crl_cqe64 *c;
	const uint8_t *got;

	fill_frame(d->tx + (size_t)slot * BUF_BYTES, i, bytes);
	post_send(d, bytes, d->tx_mr->lkey);
	c = next_cqe(d, 0);
	if (c == NULL || crl_cqe_opcode(c->op_own) != CRL_CQE_REQ)
		die("frame %u: %s", i, c == NULL ? "not sent in time" : "error CQE");
	c = next_cqe(d, 1);
	if (c == NULL || crl_cqe_opcode(c->op_own) != CRL_CQE_RESP_SEND)
		die("frame %u: %s", i, c == NULL ? "not received in time" : "error CQE");
	got = d->rx + (size_t)(crl_from_be16(c->wqe_counter) & ((1u << LOG_RQ) - 1)) * BUF_BYTES;
	if (crl_from_be32(c->byte_cnt) != bytes ||
		memcmp(got, d->tx + (size_t)slot * BUF_BYTES, bytes) != 0)
		die("frame %u: %u bytes came, not the %u that were sent", i,
			crl_from_be32(c->byte_cnt), bytes);
	post_receive(d);
}

/* A key that is none: an error CQE, and the queue is in error. */
static void
wrong_key(struct driver *d)
{
	const struct crl_err_cqe *c;

	post_send(d, 60, d->tx_mr->lkey ^ 0x55);
	c = (const struct crl_err_cqe *)(const void *)next_cqe(d, 0);
	if (c == NULL || crl_cqe_opcode(c->op_own) != CRL_CQE_REQ_ERR)
		die("a send with a wrong key did not complete in error");
	printf("wrong key: error CQE, syndrome 0x%x, vendor 0x%x, queue 0x%x\n", c->syndrome,
		c->vendor_err_synd, crl_from_be32(c->s_wqe_opcode_qpn) & 0xffffff);
	if (c->syndrome != CRL_SYND_LOCAL_PROT ||
		(crl_from_be32(c->s_wqe_opcode_qpn) & 0xffffff) != d->sqn)
		die("not the error that a wrong key is");
}

/* Refused while the memory key lives: status and syndrome come through libmlx5 as errno. */
static void
refused(struct driver *d)
{
	uint8_t *in = cmd(d, CRL_CMD_OP_DEALLOC_PD, CRL_PRM_DEALLOC_PD_IN_BYTES);
	int rc;

	crl_prm_set(in, CRL_PRM_DEALLOC_PD_IN_PD, d->pdn);
	rc = mlx5dv_devx_general_cmd(d->ctx, d->in, d->in_bytes, d->out, 16);
	printf("protection domain in use: %s, status 0x%x\n", strerror(rc),
		crl_prm_get(d->out, CRL_PRM_CMD_OUT_STATUS));
	if (rc == 0 ||
		crl_prm_get(d->out, CRL_PRM_CMD_OUT_STATUS) != CRL_CMD_STAT_BAD_RES_STATE_ERR)
		die("a protection domain in use was freed");
}

static void
take_down(struct driver *d)
{
	uint8_t *in = cmd(d, CRL_CMD_OP_SET_FLOW_TABLE_ROOT, CRL_PRM_SET_FLOW_TABLE_ROOT_IN_BYTES);

	crl_prm_set(in, CRL_PRM_CMD_IN_OP_MOD, 1); /* no root any more */
	crl_prm_set(in, CRL_PRM_SET_FLOW_TABLE_ROOT_IN_TABLE_ID, d->table);
	general(d, "SET_FLOW_TABLE_ROOT", 16);
	destroy_objects(d);
	if (mlx5dv_devx_destroy_eq(d->eq) != 0 || mlx5dv_devx_free_msi_vector(d->msi) != 0)
		die("event queue or vector: %s", strerror(errno));
	if (ibv_dereg_mr(d->tx_mr) != 0 || ibv_dereg_mr(d->rx_mr) != 0)
		die("memory region: %s", strerror(errno));
	if (mlx5dv_devx_umem_dereg(d->umem) != 0)
		die("umem: %s", strerror(errno));
	mlx5dv_devx_free_uar(d->uar);
	if (ibv_dealloc_pd(d->pd) != 0)
		die("protection domain: %s", strerror(errno));
	if (ibv_close_device(d->ctx) != 0)
		die("close: %s", strerror(errno));
}

/* Page requests are handled inside of libmlx5, when events are processed. */
static void
process_for(struct driver *d, unsigned ms)
{
	struct pollfd p = {.fd = mlx5dv_vfio_get_events_fd(d->ctx), .events = POLLIN};
	int64_t end = now_ns() + (int64_t)ms * 1000000;
	int rc;

	while (now_ns() < end) {
		poll(&p, 1, 10);
		rc = mlx5dv_vfio_process_events(d->ctx);
		if (rc != 0)
			die("processing events: %s", strerror(rc));
	}
}

int
main(int argc, char **argv)
{
	static struct driver d;
	uint32_t frames = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000;
	unsigned ms = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	open_device(&d);
	make_memory(&d);
	make_eq(&d);
	make_objects(&d);
	for (uint32_t i = 0; i < (1u << LOG_RQ) - 1; i++)
		post_receive(&d);
	arm(&d);
	one_frame(&d, 0);
	wait_interrupt(&d);
	for (uint32_t i = 1; i < frames; i++)
		one_frame(&d, i);
	printf("%u frames went round, contents compared\n", frames);
	process_for(&d, ms);
	refused(&d);
	wrong_key(&d);
	take_down(&d);
	printf("vfio_driver: ok\n");
	return 0;
}
