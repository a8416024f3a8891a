/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues of a port: each receive queue gets an external id under which rte_flow rules can name it,
 * and each queue learns the port's address and MTU for its engine. Main lcore.
 */
#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_pmd_mlx5.h>

#include "dpdk_internal.h"

#define ATTACH_STEP "attach a queue"
#define DETACH_STEP "detach a queue"

int
crl_port_slot(const struct crl_port *port, const struct crl_queue *queue)
{
	for (unsigned i = 0; i < CRL_PORT_QUEUES_MAX; i++)
		if (queue != NULL && port->queues[i].queue == queue)
			return (int)i;
	return -1;
}

static int
free_slot(const struct crl_port *port)
{
	for (unsigned i = 0; i < CRL_PORT_QUEUES_MAX; i++)
		if (port->queues[i].queue == NULL)
			return (int)i;
	return -1;
}

static int
learn(struct crl_port *port, struct crl_queue *q, struct crl_err *err)
{
	struct rte_ether_addr mac;
	uint16_t mtu;
	int ret = rte_eth_macaddr_get(port->id, &mac);

	if (ret == 0)
		ret = rte_eth_dev_get_mtu(port->id, &mtu);
	if (ret != 0)
		return crl_fail_rte(err, -ret, ATTACH_STEP, "",
			"port %u does not say its address and MTU", port->id);
	q->port = port->id;
	q->mtu = (uint16_t)(mtu + RTE_ETHER_HDR_LEN);
	memcpy(q->mac, mac.addr_bytes, sizeof(q->mac));
	return 0;
}

CRL_PUBLIC int
crl_port_attach(struct crl_port *port, struct crl_queue *q, struct crl_err *err)
{
	int slot, ret;

	if (q->ctx != port->ctx)
		return crl_err_set(err, -EINVAL, ATTACH_STEP, "create it with crl_port_ctx()",
			"queue %u belongs to %s", q->cfg.index, q->ctx->info.bdf);
	if (q->attached)
		return crl_err_set(err, -EINVAL, ATTACH_STEP, "attach it once",
			"queue %u is attached", q->cfg.index);
	slot = free_slot(port);
	if (slot < 0)
		return crl_err_set(err, -ENOSPC, ATTACH_STEP, "use fewer queues, or a second port",
			"a port takes %u queues, as net_mlx5 has so many external ids",
			CRL_PORT_QUEUES_MAX);
	ret = learn(port, q, err);
	if (ret != 0)
		return ret;
	if (q->cfg.flags & CRL_Q_RX) {
		ret = rte_pmd_mlx5_external_rx_queue_id_map(
			port->id, crl_port_ext_id((unsigned)slot), q->rq.num);
		if (ret != 0)
			return crl_fail_rte(err, rte_errno, ATTACH_STEP,
				"see net_mlx5's own message (--log-level=pmd.net.mlx5:debug)",
				"net_mlx5 did not map receive queue 0x%x", q->rq.num);
	}
	q->attached = true;
	port->queues[slot].queue = q;
	return 0;
}

CRL_PUBLIC int
crl_port_detach(struct crl_port *port, struct crl_queue *q, struct crl_err *err)
{
	int slot = crl_port_slot(port, q), ret;

	if (slot < 0)
		return crl_err_set(err, -EINVAL, DETACH_STEP, "detach it from its own port",
			"queue %u is not attached here", q->cfg.index);
	if (port->queues[slot].nr_flows > 0)
		return crl_err_set(err, -EBUSY, DETACH_STEP, "delete the flows first",
			"%u flows lead to queue %u", port->queues[slot].nr_flows, q->cfg.index);
	if (q->cfg.flags & CRL_Q_RX) {
		ret = rte_pmd_mlx5_external_rx_queue_id_unmap(
			port->id, crl_port_ext_id((unsigned)slot));
		if (ret != 0)
			return crl_fail_rte(err, rte_errno, DETACH_STEP, "delete its flows first",
				"net_mlx5 did not let go of receive queue 0x%x", q->rq.num);
	}
	q->attached = false;
	port->queues[slot].queue = NULL;
	return 0;
}
