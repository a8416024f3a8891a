/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of libcarillon_dpdk share: the objects behind dpdk.h's names. Not installed. Host
 * only; main lcore.
 */
#ifndef CRL_MLX5_DPDK_INTERNAL_H
#define CRL_MLX5_DPDK_INTERNAL_H

#include <rte_flow.h>
#include <rte_mempool.h>

#include "carillon/dpdk.h"
#include "eal_args.h"
#include "internal.h"

struct crl_gpu;

struct crl_gpudev {
	struct crl_gpu *gpu; /* a reference of ours; NULL: not used */
	int16_t dev_id;
	char name[96];
	char near_name[96]; /* of host memory that this GPU reaches */
	struct crl_err why; /* the last failure of a call into drivers/gpu */
};

struct crl_eal {
	struct crl_eal_args args;
	struct crl_ctx *ctx[CRL_EAL_DEVS_MAX];	 /* one for each of args.devs */
	struct crl_port *port[CRL_EAL_DEVS_MAX]; /* NULL: not open */
	struct crl_gpudev gpudev[CRL_GPUDEVS_MAX];
};

struct crl_port_queue {
	struct crl_queue *queue; /* NULL: free */
	unsigned nr_flows;
};

struct crl_port {
	struct crl_eal *eal;
	unsigned index; /* in eal */
	struct crl_ctx *ctx;
	struct rte_device *dev;
	uint16_t id;
	struct rte_mempool *mp;				   /* ours, NULL: the caller's or none */
	struct crl_port_queue queues[CRL_PORT_QUEUES_MAX]; /* slot i has external id min + i */
	LIST_HEAD(, crl_flow) flows;
};

struct crl_flow {
	struct crl_port *port;
	struct rte_flow *rte;
	unsigned nr_queues;
	uint16_t slots[CRL_FLOW_QUEUES_MAX];
	LIST_ENTRY(crl_flow) link;
};

/* Fills err from a DPDK call that failed with this rte_errno. */
int crl_fail_rte(struct crl_err *err, int rte_error, const char *step, const char *fix,
	const char *cause, ...) __attribute__((format(printf, 5, 6)));
/* The external receive queue id of a slot. */
uint16_t crl_port_ext_id(unsigned slot);
/* The slot of an attached queue, or -1. */
int crl_port_slot(const struct crl_port *port, const struct crl_queue *queue);
void crl_gpudev_put_all(struct crl_eal *eal);

#endif /* CRL_MLX5_DPDK_INTERNAL_H */
