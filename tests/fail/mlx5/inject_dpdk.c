/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers of inject.h for the DPDK part's calls into DPDK. One thread. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_mbuf.h>
#include <rte_pmd_mlx5.h>

#include "inject.h"

bool inject_fails(const char *name, int code);
bool inject_release_fails(const char *name);
void inject_count(enum inject_kind kind, long n);

/* A call that returns -errno and sets rte_errno. */
#define RTE_ASKER(name, code, params, args)                                                        \
	int __real_##name params;                                                                  \
	int __wrap_##name params;                                                                  \
	int __wrap_##name params                                                                   \
	{                                                                                          \
		if (!inject_fails(#name, code))                                                    \
			return __real_##name args;                                                 \
		rte_errno = code;                                                                  \
		return -code;                                                                      \
	}

/* clang-format off */
RTE_ASKER(rte_eth_dev_configure, EINVAL,
	  (uint16_t id, uint16_t rx, uint16_t tx, const struct rte_eth_conf *c), (id, rx, tx, c))
RTE_ASKER(rte_eth_rx_queue_setup, ENOMEM,
	  (uint16_t id, uint16_t q, uint16_t n, unsigned s, const struct rte_eth_rxconf *c,
	   struct rte_mempool *mp),
	  (id, q, n, s, c, mp))
RTE_ASKER(rte_eth_tx_queue_setup, ENOMEM,
	  (uint16_t id, uint16_t q, uint16_t n, unsigned s, const struct rte_eth_txconf *c),
	  (id, q, n, s, c))
RTE_ASKER(rte_eth_dev_start, EIO, (uint16_t id), (id))
RTE_ASKER(rte_eth_dev_set_mtu, EINVAL, (uint16_t id, uint16_t mtu), (id, mtu))
RTE_ASKER(rte_eth_dev_get_mtu, EIO, (uint16_t id, uint16_t *mtu), (id, mtu))
RTE_ASKER(rte_eth_macaddr_get, EIO, (uint16_t id, struct rte_ether_addr *mac), (id, mac))
RTE_ASKER(rte_eth_dev_info_get, EIO, (uint16_t id, struct rte_eth_dev_info *i), (id, i))
RTE_ASKER(rte_eth_promiscuous_enable, EIO, (uint16_t id), (id))
RTE_ASKER(rte_flow_isolate, EINVAL, (uint16_t id, int on, struct rte_flow_error *e), (id, on, e))
/* clang-format on */

/* EAL starts once in a process: the test arms failures only before this call, or at it. */
int __real_rte_eal_init(int argc, char **argv);
int __wrap_rte_eal_init(int argc, char **argv);
int
__wrap_rte_eal_init(int argc, char **argv)
{
	if (inject_fails("rte_eal_init", EINVAL)) {
		rte_errno = EINVAL;
		return -1;
	}
	return __real_rte_eal_init(argc, argv);
}

int __real_rte_dev_probe(const char *devargs);
int __wrap_rte_dev_probe(const char *devargs);
int
__wrap_rte_dev_probe(const char *devargs)
{
	int ret;

	if (inject_fails("rte_dev_probe", ENODEV))
		return -ENODEV;
	ret = __real_rte_dev_probe(devargs);
	inject_count(LIVE_PROBE, ret == 0);
	inject_count(LIVE_FD, -(ret == 0)); /* the imported context has it now */
	return ret;
}

int __real_rte_dev_remove(struct rte_device *dev);
int __wrap_rte_dev_remove(struct rte_device *dev);
int
__wrap_rte_dev_remove(struct rte_device *dev)
{
	int ret;

	if (inject_release_fails("rte_dev_remove"))
		return -EBUSY;
	ret = __real_rte_dev_remove(dev);
	inject_count(LIVE_PROBE, -(ret == 0));
	return ret;
}

struct rte_mempool *__real_rte_pktmbuf_pool_create(
	const char *name, unsigned n, unsigned cache, uint16_t priv, uint16_t room, int socket);
struct rte_mempool *__wrap_rte_pktmbuf_pool_create(
	const char *name, unsigned n, unsigned cache, uint16_t priv, uint16_t room, int socket);
struct rte_mempool *
__wrap_rte_pktmbuf_pool_create(
	const char *name, unsigned n, unsigned cache, uint16_t priv, uint16_t room, int socket)
{
	struct rte_mempool *mp;

	if (inject_fails("rte_pktmbuf_pool_create", ENOMEM)) {
		rte_errno = ENOMEM;
		return NULL;
	}
	mp = __real_rte_pktmbuf_pool_create(name, n, cache, priv, room, socket);
	inject_count(LIVE_POOL, mp != NULL);
	return mp;
}

void __real_rte_mempool_free(struct rte_mempool *mp);
void __wrap_rte_mempool_free(struct rte_mempool *mp);
void
__wrap_rte_mempool_free(struct rte_mempool *mp)
{
	inject_count(LIVE_POOL, -(mp != NULL));
	__real_rte_mempool_free(mp);
}

struct rte_flow *__real_rte_flow_create(uint16_t id, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *e);
struct rte_flow *__wrap_rte_flow_create(uint16_t id, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *e);
struct rte_flow *
__wrap_rte_flow_create(uint16_t id, const struct rte_flow_attr *attr,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *e)
{
	struct rte_flow *f;

	if (inject_fails("rte_flow_create", ENOSPC)) {
		rte_errno = ENOSPC;
		e->message = "injected";
		return NULL;
	}
	f = __real_rte_flow_create(id, attr, pattern, actions, e);
	inject_count(LIVE_FLOW, f != NULL);
	return f;
}

int __real_rte_flow_destroy(uint16_t id, struct rte_flow *f, struct rte_flow_error *e);
int __wrap_rte_flow_destroy(uint16_t id, struct rte_flow *f, struct rte_flow_error *e);
int
__wrap_rte_flow_destroy(uint16_t id, struct rte_flow *f, struct rte_flow_error *e)
{
	int ret;

	if (inject_release_fails("rte_flow_destroy")) {
		rte_errno = EBUSY;
		return -EBUSY;
	}
	ret = __real_rte_flow_destroy(id, f, e);
	inject_count(LIVE_FLOW, -(ret == 0));
	return ret;
}

int __real_rte_pmd_mlx5_external_rx_queue_id_map(uint16_t id, uint16_t idx, uint32_t hw);
int __wrap_rte_pmd_mlx5_external_rx_queue_id_map(uint16_t id, uint16_t idx, uint32_t hw);
int
__wrap_rte_pmd_mlx5_external_rx_queue_id_map(uint16_t id, uint16_t idx, uint32_t hw)
{
	int ret;

	if (inject_fails("rte_pmd_mlx5_external_rx_queue_id_map", EEXIST)) {
		rte_errno = EEXIST;
		return -EEXIST;
	}
	ret = __real_rte_pmd_mlx5_external_rx_queue_id_map(id, idx, hw);
	inject_count(LIVE_MAP, ret == 0);
	return ret;
}

int __real_rte_pmd_mlx5_external_rx_queue_id_unmap(uint16_t id, uint16_t idx);
int __wrap_rte_pmd_mlx5_external_rx_queue_id_unmap(uint16_t id, uint16_t idx);
int
__wrap_rte_pmd_mlx5_external_rx_queue_id_unmap(uint16_t id, uint16_t idx)
{
	int ret;

	if (inject_release_fails("rte_pmd_mlx5_external_rx_queue_id_unmap")) {
		rte_errno = EINVAL;
		return -EINVAL;
	}
	ret = __real_rte_pmd_mlx5_external_rx_queue_id_unmap(id, idx);
	inject_count(LIVE_MAP, -(ret == 0));
	return ret;
}

int __real_rte_eth_dev_stop(uint16_t id);
int __wrap_rte_eth_dev_stop(uint16_t id);
int
__wrap_rte_eth_dev_stop(uint16_t id)
{
	return inject_release_fails("rte_eth_dev_stop") ? -EBUSY : __real_rte_eth_dev_stop(id);
}

int __real_asprintf(char **out, const char *fmt, ...);
int __wrap_asprintf(char **out, const char *fmt, ...);
int
__wrap_asprintf(char **out, const char *fmt, ...)
{
	va_list ap;
	int ret;

	if (inject_fails("asprintf", ENOMEM))
		return -1;
	va_start(ap, fmt);
	ret = vasprintf(out, fmt, ap);
	va_end(ap);
	inject_count(LIVE_MALLOC, ret >= 0);
	return ret;
}
