/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A net_mlx5 port on a device that Carillon opened: probed with our command fd and protection
 * domain, because net_mlx5 takes queues of ours only on an imported context; then configured,
 * started, and given our receive queues under external ids. Main lcore.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_pmd_mlx5.h>

#include "dpdk_internal.h"

#define OPEN_STEP  "open the port"
#define CLOSE_STEP "close the port"

/* The name of DPDK 23.11 and later, and the one before. */
#ifdef RTE_PMD_MLX5_EXTERNAL_RX_QUEUE_ID_MIN
#define EXT_ID_MIN RTE_PMD_MLX5_EXTERNAL_RX_QUEUE_ID_MIN
#else
#define EXT_ID_MIN MLX5_EXTERNAL_RX_QUEUE_ID_MIN
#endif

_Static_assert(CRL_PORT_QUEUES_MAX <= UINT16_MAX - EXT_ID_MIN + 1u, "a slot is an external id");

#define DEFAULT_CPU_DEPTH 512u
#define MBUF_CACHE	  128u
#define FRAME_OVERHEAD	  (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 8u) /* and two VLAN tags */

uint16_t
crl_port_ext_id(unsigned slot)
{
	return (uint16_t)(EXT_ID_MIN + slot);
}

static int
check_devargs(const char *devargs, struct crl_err *err)
{
	static const char *const taken[] = {"cmd_fd", "pd_handle"};

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (crl_devargs_has(devargs, taken[i]))
			return crl_err_set(err, -EINVAL, OPEN_STEP, "leave it out of -a",
				"%s is Carillon's to give", taken[i]);
	if (crl_devargs_has(devargs, "dv_flow_en") && strstr(devargs, "dv_flow_en=1") == NULL)
		return crl_err_set(err, -EINVAL, OPEN_STEP, "use dv_flow_en=1 or leave it out",
			"external queues need dv_flow_en=1, not what is in \"%s\"", devargs);
	return 0;
}

/* The imported context owns fd once there is one; before that a failed probe leaves it to us. */
static void
close_if_left(int fd, const struct stat *as)
{
	struct stat now;

	if (fstat(fd, &now) == 0 && now.st_ino == as->st_ino && now.st_dev == as->st_dev)
		close(fd);
}

static int
probe(struct crl_port *port, struct crl_err *err)
{
	const struct crl_eal_dev *dev = &port->eal->args.devs[port->index];
	struct stat as;
	char *devargs;
	int fd, ret = check_devargs(dev->devargs, err);

	if (ret != 0)
		return ret;
	fd = fcntl(port->ctx->ibv->cmd_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0 || fstat(fd, &as) != 0) {
		ret = crl_fail_errno(err, errno, OPEN_STEP, "raise the limit of open files",
			"cannot share the device's fd with net_mlx5");
		if (fd >= 0)
			close(fd);
		return ret;
	}
	ret = asprintf(&devargs, "%s,cmd_fd=%d,pd_handle=%u%s%s%s", dev->bdf, fd,
		port->ctx->pd->handle,
		crl_devargs_has(dev->devargs, "dv_flow_en") ? "" : ",dv_flow_en=1",
		dev->devargs[0] != '\0' ? "," : "", dev->devargs);
	if (ret == -1) {
		close(fd);
		return crl_fail_errno(err, ENOMEM, OPEN_STEP, "", "no memory");
	}
	ret = rte_dev_probe(devargs);
	if (ret != 0) {
		close_if_left(fd, &as);
		ret = crl_fail_rte(err, -ret, OPEN_STEP,
			"see net_mlx5's own message (--log-level=pmd.net.mlx5:debug); is its "
			"driver loaded?",
			"net_mlx5 did not take %s", devargs);
	}
	free(devargs);
	return ret;
}

/* The DPDK device that the probe made, by which it can be taken away again whatever else fails. */
static struct rte_device *
find_device(const char *bdf)
{
	struct rte_device *dev, *found = NULL;
	struct rte_dev_iterator it;

	RTE_DEV_FOREACH(dev, "bus=pci", &it)
	if (strcmp(rte_dev_name(dev), bdf) == 0)
		found = dev;
	return found;
}

static int
find_port(struct crl_port *port, struct crl_err *err)
{
	uint16_t id;

	RTE_ETH_FOREACH_DEV(id)
	{
		struct rte_eth_dev_info info;

		if (rte_eth_dev_info_get(id, &info) == 0 && info.device != NULL &&
			info.device == port->dev) {
			port->id = id;
			return 0;
		}
	}
	return crl_err_set(err, -ENODEV, OPEN_STEP,
		"load it: -d librte_net_mlx5.so, or link a DPDK that has it",
		"no driver made a port of %s: net_mlx5 is not there", port->ctx->info.bdf);
}

/* Take the device away from net_mlx5 again, ports and all, so that our context can close. */
static int
unprobe(struct crl_port *port, struct crl_err *err)
{
	int ret = port->dev != NULL ? rte_dev_remove(port->dev) : 0;

	if (ret != 0)
		return crl_fail_rte(err, -ret, CLOSE_STEP, "see net_mlx5's own message",
			"net_mlx5 does not let go of %s", port->ctx->info.bdf);
	return 0;
}

static int
make_pool(struct crl_port *port, const struct crl_port_cfg *cfg, uint16_t depth, int socket,
	struct crl_err *err)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "crl_cpu_%u", port->id);
	port->mp = rte_pktmbuf_pool_create(name, cfg->nr_cpu_rxq * 2u * depth + MBUF_CACHE * 2u,
		MBUF_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, socket);
	if (port->mp == NULL)
		return crl_fail_rte(err, rte_errno, "make a pool for the CPU queues",
			"give EAL more memory (-m)", "%u queues of %u", cfg->nr_cpu_rxq, depth);
	return 0;
}

static int
setup_queues(struct crl_port *port, const struct crl_port_cfg *cfg, struct crl_err *err)
{
	const uint16_t nr_tx = cfg->nr_cpu_txq ? cfg->nr_cpu_txq : 1;
	const uint16_t depth = cfg->cpu_depth ? cfg->cpu_depth : DEFAULT_CPU_DEPTH;
	const int socket = rte_eth_dev_socket_id(port->id);
	struct rte_mempool *mp = cfg->mp;
	int ret = 0;

	if (cfg->nr_cpu_rxq > 0 && mp == NULL) {
		ret = make_pool(port, cfg, depth, socket, err);
		mp = port->mp;
	}
	for (uint16_t i = 0; i < cfg->nr_cpu_rxq && ret == 0; i++) {
		ret = rte_eth_rx_queue_setup(port->id, i, depth, (unsigned)socket, NULL, mp);
		if (ret != 0)
			crl_fail_rte(err, -ret, "set a CPU receive queue up",
				"give EAL more memory (-m)", "queue %u of %u", i, depth);
	}
	for (uint16_t i = 0; i < nr_tx && ret == 0; i++) {
		ret = rte_eth_tx_queue_setup(port->id, i, depth, (unsigned)socket, NULL);
		if (ret != 0)
			crl_fail_rte(err, -ret, "set a CPU send queue up",
				"give EAL more memory (-m)", "queue %u of %u", i, depth);
	}
	return ret;
}

static int
configure(struct crl_port *port, const struct crl_port_cfg *cfg, struct crl_err *err)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	uint16_t mtu = cfg->mtu;
	int ret = rte_eth_dev_info_get(port->id, &info);

	if (ret == 0 && mtu == 0)
		ret = rte_eth_dev_get_mtu(port->id, &mtu);
	if (ret != 0)
		return crl_fail_rte(err, -ret, "configure the port", "", "net_mlx5 does not say");
	if (cfg->nr_cpu_rxq > 1) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
			info.flow_type_rss_offloads &
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP);
	}
	conf.rxmode.mtu = mtu;
	if (mtu + FRAME_OVERHEAD > RTE_MBUF_DEFAULT_DATAROOM)
		conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
	ret = rte_eth_dev_configure(
		port->id, cfg->nr_cpu_rxq, cfg->nr_cpu_txq ? cfg->nr_cpu_txq : 1, &conf);
	if (ret != 0)
		return crl_fail_rte(err, -ret, "configure the port", "ask for fewer CPU queues",
			"%u receive and %u send queues, MTU %u", cfg->nr_cpu_rxq,
			cfg->nr_cpu_txq ? cfg->nr_cpu_txq : 1, mtu);
	ret = setup_queues(port, cfg, err);
	if (ret == 0 && cfg->mtu != 0) {
		ret = rte_eth_dev_set_mtu(port->id, cfg->mtu);
		if (ret != 0)
			crl_fail_rte(err, -ret, "set the MTU", "use one the port allows", "%u",
				cfg->mtu);
	}
	return ret;
}

static int
start(struct crl_port *port, const struct crl_port_cfg *cfg, struct crl_err *err)
{
	struct rte_flow_error flow_err = {0};
	int ret;

	/* Before the port is configured, as net_mlx5 then makes no rules of its own. */
	if (cfg->isolate && rte_flow_isolate(port->id, 1, &flow_err) != 0)
		return crl_fail_rte(err, rte_errno, "isolate the port", "run without isolation",
			"%s", flow_err.message ? flow_err.message : "net_mlx5 gives no reason");
	ret = configure(port, cfg, err);
	if (ret != 0)
		return ret;
	ret = rte_eth_dev_start(port->id);
	if (ret != 0)
		return crl_fail_rte(err, -ret, "start the port", "see net_mlx5's own message",
			"port %u", port->id);
	if (cfg->promiscuous && !cfg->isolate) {
		ret = rte_eth_promiscuous_enable(port->id);
		if (ret != 0) {
			rte_eth_dev_stop(port->id);
			return crl_fail_rte(err, -ret, "make the port promiscuous", "leave it out",
				"port %u", port->id);
		}
	}
	return 0;
}

CRL_PUBLIC int
crl_port_open(struct crl_eal *eal, unsigned i, const struct crl_port_cfg *cfg,
	struct crl_port **out, struct crl_err *err)
{
	struct crl_port *port;
	int ret = crl_check_size(err, OPEN_STEP, CRL_SIZE_OF(cfg), sizeof(*cfg));

	if (ret != 0)
		return ret;
	if (i >= eal->args.nr_devs)
		return crl_err_set(err, -EINVAL, OPEN_STEP, "use a smaller index",
			"device %u of %u", i, eal->args.nr_devs);
	if (eal->port[i] != NULL)
		return crl_err_set(err, -EBUSY, OPEN_STEP, "close it first", "port %s is open",
			eal->ctx[i]->port_name);
	port = calloc(1, sizeof(*port)); /* zeros: no queues, no flows */
	if (port == NULL)
		return crl_fail_errno(err, ENOMEM, OPEN_STEP, "", "no memory");
	port->eal = eal;
	port->index = i;
	port->ctx = eal->ctx[i];
	ret = probe(port, err);
	if (ret != 0)
		goto undo_port;
	port->dev = find_device(port->ctx->info.bdf);
	ret = find_port(port, err);
	if (ret != 0)
		goto undo_probe;
	ret = start(port, cfg, err);
	if (ret != 0)
		goto undo_probe;
	snprintf(port->ctx->port_name, sizeof(port->ctx->port_name), "%u (%s)", port->id,
		port->ctx->info.bdf);
	eal->port[i] = port;
	*out = port;
	return 0;

undo_probe:
	unprobe(port, NULL);
	rte_mempool_free(port->mp);
undo_port:
	free(port);
	return ret;
}

CRL_PUBLIC int
crl_port_close(struct crl_port *port, struct crl_err *err)
{
	int ret;

	if (port == NULL)
		return 0;
	if (!LIST_EMPTY(&port->flows))
		return crl_err_set(err, -EBUSY, CLOSE_STEP, "delete them first",
			"flows of port %s live", port->ctx->port_name);
	for (unsigned i = 0; i < CRL_PORT_QUEUES_MAX; i++)
		if (port->queues[i].queue != NULL)
			return crl_err_set(err, -EBUSY, CLOSE_STEP, "detach it first",
				"queue %u is attached", port->queues[i].queue->cfg.index);
	ret = rte_eth_dev_stop(port->id);
	if (ret != 0)
		return crl_fail_rte(err, -ret, CLOSE_STEP, "see net_mlx5's own message",
			"port %u does not stop", port->id);
	ret = unprobe(port, err);
	if (ret != 0)
		return ret;
	rte_mempool_free(port->mp);
	port->ctx->port_name[0] = '\0';
	port->eal->port[port->index] = NULL;
	free(port);
	return 0;
}

CRL_PUBLIC uint16_t
crl_port_id(const struct crl_port *port)
{
	return port->id;
}

CRL_PUBLIC struct crl_ctx *
crl_port_ctx(const struct crl_port *port)
{
	return port->ctx;
}
