/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver of one send and one receive queue over libmlx5's public DevX functions and its VFIO
 * driver: what vfio_driver.c and vfio_objects.c share. One thread.
 */
#ifndef TESTS_VFIO_DRIVER_H
#define TESTS_VFIO_DRIVER_H

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/mlx5/prm.h"
#include "gpu_queues/wire/be.h"
#include "gpu_queues/wire/cqe.h"
#include "gpu_queues/wire/doorbell.h"
#include "gpu_queues/wire/wqe.h"

#define LOG_CQ	 7u
#define LOG_SQ	 6u
#define LOG_RQ	 6u
#define LOG_EQ	 5u
#define OBJS_MAX 16u
/* Where things lie in the umem. */
enum {
	AT_SEND_CQ = 0x0,
	AT_RECV_CQ = 0x4000,
	AT_SQ = 0x8000,
	AT_RQ = 0xa000,
	AT_RECORDS = 0xb000,
	MEM_BYTES = 0xc000,
};
#define FRAME_MAX 1514u
#define BUF_BYTES 2048u

struct driver {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *tx_mr, *rx_mr;
	struct mlx5dv_devx_uar *uar;
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_msi_vector *msi;
	struct mlx5dv_devx_eq *eq;
	struct mlx5dv_devx_obj *obj[OBJS_MAX]; /* as made; destroyed the other way round */
	unsigned nr_objs;
	uint32_t pdn, async_eqn, eqn, cqn[2], tdn, tisn, sqn, rqn, tirn, table, group;
	uint8_t *mem, *tx, *rx;
	uint32_t sq_pi, rq_pi, ci[2], eq_ci, arm_sn;
	CRL_ALIGNAS(8) uint8_t in[4096], out[4096];
	size_t in_bytes;
};

void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
uint8_t *cmd(struct driver *d, uint16_t opcode, size_t bytes); /* a new command: its mailbox */
void general(struct driver *d, const char *name, size_t out_bytes);
void make_eq(struct driver *d);
void make_objects(struct driver *d);
void destroy_objects(struct driver *d);

#endif /* TESTS_VFIO_DRIVER_H */
