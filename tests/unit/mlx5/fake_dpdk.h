/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK as port.c and attach.c see it: devices, ports, queues and external ids that write down what
 * is asked of them, of which each call can fail, and each can be refused where it gives something
 * back. To be included by one file of a test. One thread.
 */
#ifndef CRL_TEST_FAKE_DPDK_H
#define CRL_TEST_FAKE_DPDK_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_per_lcore.h>
#include <rte_pmd_mlx5.h>

#include "drivers/mlx5/dpdk_internal.h"
#include "heap.h"

RTE_DEFINE_PER_LCORE(int, _rte_errno);

struct rte_device {
	const char *name;
};

static struct {
	char list[1024];
	size_t used;
	unsigned calls, fail_at, givers, refuse_at;
	int fail_with;
	bool no_driver; /* a probe makes a device and no port */
	enum { CLOSES_FD, KEEPS_FD, REUSES_FD } failed_probe; /* what becomes of its descriptor */
	char devargs[256];
	int fd; /* that a probe is given */
	int probed, pools, maps;
	struct rte_eth_conf conf;
	char pool_name[64];
	unsigned pool_size, pool_cache, pool_room;
	int socket;
	const struct rte_mempool *mp;
	uint16_t mapped_id;
	uint32_t mapped_rqn;
} dp;

static struct rte_device devices[] = {{"0000:00:1f.2"}, {"0000:99:00.0"}, {"0000:99:00.1"}};
static struct rte_mempool *const fake_pool = (void *)&dp.pool_size;

static void __attribute__((format(printf, 1, 2))) note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	dp.used += (size_t)vsnprintf(dp.list + dp.used, sizeof(dp.list) - dp.used, fmt, ap);
	va_end(ap);
	assert_true(dp.used < sizeof(dp.list));
}

static bool
fails(void)
{
	if (++dp.calls != dp.fail_at)
		return false;
	note("! ");
	rte_errno = errno = dp.fail_with;
	return true;
}

static bool
refuses(void)
{
	if (++dp.givers != dp.refuse_at)
		return false;
	note("! ");
	rte_errno = EBUSY;
	return true;
}

/* ---- the C library's ---- */

int __real_fcntl64(int fd, int cmd, ...);
int __wrap_fcntl64(int fd, int cmd, ...);
int
__wrap_fcntl64(int fd, int cmd, ...)
{
	if (cmd == F_GETFD)
		return __real_fcntl64(fd, cmd);
	assert_int_equal(cmd, F_DUPFD_CLOEXEC);
	note("dup ");
	dp.fd = fails() ? -1 : __real_fcntl64(fd, cmd, 0);
	return dp.fd;
}

int __real_fstat64(int fd, struct stat *st);
int __wrap_fstat64(int fd, struct stat *st);
int
__wrap_fstat64(int fd, struct stat *st)
{
	note("stat ");
	return fails() ? -1 : __real_fstat64(fd, st);
}

int __wrap_asprintf(char **out, const char *fmt, ...);
int
__wrap_asprintf(char **out, const char *fmt, ...)
{
	va_list ap;

	note("words ");
	if (fails())
		return -1;
	*out = __wrap_malloc(256);
	va_start(ap, fmt);
	vsnprintf(*out, 256, fmt, ap);
	va_end(ap);
	return (int)strlen(*out);
}

/* ---- devices ---- */

int
rte_dev_probe(const char *devargs)
{
	note("probe ");
	snprintf(dp.devargs, sizeof(dp.devargs), "%s", devargs);
	assert_int_equal(dp.fd, atoi(strstr(devargs, "cmd_fd=") + 7));
	assert_true(__real_fcntl64(dp.fd, F_GETFD) == FD_CLOEXEC);
	if (fails()) {
		if (dp.failed_probe != KEEPS_FD)
			close(dp.fd);
		if (dp.failed_probe == REUSES_FD)
			assert_int_equal(memfd_create("another file", 0), dp.fd);
		return -dp.fail_with;
	}
	dp.probed++;
	return 0;
}

int
rte_dev_remove(struct rte_device *dev)
{
	note("-probe ");
	assert_ptr_equal(dev, &devices[1]);
	if (refuses())
		return -EBUSY;
	dp.probed--;
	close(dp.fd);
	return 0;
}

const char *
rte_dev_name(const struct rte_device *dev)
{
	return dev->name;
}

int
rte_dev_iterator_init(struct rte_dev_iterator *it, const char *str)
{
	assert_string_equal(str, "bus=pci");
	memset(it, 0, sizeof(*it));
	return 0;
}

struct rte_device *
rte_dev_iterator_next(struct rte_dev_iterator *it)
{
	uintptr_t i = (uintptr_t)it->bus_str;

	it->bus_str = (const char *)(i + 1);
	return i < 3 && (i != 1 || dp.probed) ? &devices[i]
	       : i < 3			      ? rte_dev_iterator_next(it)
					      : NULL;
}

/* ---- ports: 4 is of another device, 5 does not answer, 6 has no device, 7 is ours ---- */

uint64_t
rte_eth_find_next_owned_by(uint16_t id, const uint64_t owner)
{
	assert_int_equal(owner, RTE_ETH_DEV_NO_OWNER);
	id = id < 4 ? 4 : id;
	return id <= (dp.no_driver ? 6 : 7) ? id : RTE_MAX_ETHPORTS;
}

int
rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info)
{
	memset(info, 0, sizeof(*info));
	if (id == 5) {
		info->device = &devices[1];
		return -EIO;
	}
	if (id == 7)
		note("info ");
	info->device = id == 4 ? &devices[0] : id == 7 ? &devices[1] : NULL;
	info->flow_type_rss_offloads = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_ESP;
	return id == 7 && fails() ? -dp.fail_with : 0;
}

#define ANSWER(...)                                                                                \
	note(__VA_ARGS__);                                                                         \
	return fails() ? -dp.fail_with : 0

int
rte_eth_dev_get_mtu(uint16_t id, uint16_t *mtu)
{
	*mtu = 1600;
	ANSWER("mtu-of-%u ", id);
}

int
rte_eth_dev_set_mtu(uint16_t id, uint16_t mtu)
{
	ANSWER("mtu-%u=%u ", id, mtu);
}

int
rte_eth_macaddr_get(uint16_t id, struct rte_ether_addr *mac)
{
	memcpy(mac->addr_bytes, "\x02\x03\x04\x05\x06\x07", 6);
	ANSWER("mac-of-%u ", id);
}

int
rte_eth_dev_configure(uint16_t id, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf)
{
	dp.conf = *conf;
	ANSWER("configure-%u:%u,%u ", id, rx, tx);
}

int
rte_eth_dev_socket_id(uint16_t id)
{
	assert_int_equal(id, 7);
	return 1;
}

int
rte_eth_rx_queue_setup(uint16_t id, uint16_t i, uint16_t n, unsigned socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *mp)
{
	assert_null(conf);
	assert_int_equal(socket, 1);
	dp.mp = mp;
	ANSWER("rx-%u.%u:%u ", id, i, n);
}

int
rte_eth_tx_queue_setup(
	uint16_t id, uint16_t i, uint16_t n, unsigned socket, const struct rte_eth_txconf *conf)
{
	assert_null(conf);
	assert_int_equal(socket, 1);
	ANSWER("tx-%u.%u:%u ", id, i, n);
}

int
rte_eth_dev_start(uint16_t id)
{
	ANSWER("start-%u ", id);
}

int
rte_eth_dev_stop(uint16_t id)
{
	note("-start-%u ", id);
	return refuses() ? -EBUSY : 0;
}

int
rte_eth_promiscuous_enable(uint16_t id)
{
	ANSWER("promiscuous-%u ", id);
}

int
rte_flow_isolate(uint16_t id, int on, struct rte_flow_error *why)
{
	assert_int_equal(on, 1);
	note("isolate-%u ", id);
	if (!fails())
		return 0;
	why->message = dp.fail_with == ENOTSUP ? "it is late" : NULL;
	return -dp.fail_with;
}

struct rte_mempool *
rte_pktmbuf_pool_create(
	const char *name, unsigned n, unsigned cache, uint16_t priv, uint16_t room, int socket)
{
	note("pool ");
	assert_int_equal(priv, 0);
	snprintf(dp.pool_name, sizeof(dp.pool_name), "%s", name);
	dp.pool_size = n;
	dp.pool_cache = cache;
	dp.pool_room = room;
	dp.socket = socket;
	if (fails())
		return NULL;
	dp.pools++;
	return fake_pool;
}

void
rte_mempool_free(struct rte_mempool *mp)
{
	if (mp == NULL)
		return;
	note("-pool ");
	assert_ptr_equal(mp, fake_pool);
	dp.pools--;
}

int
rte_pmd_mlx5_external_rx_queue_id_map(uint16_t id, uint16_t idx, uint32_t rqn)
{
	note("map-%u ", id);
	dp.mapped_id = idx;
	dp.mapped_rqn = rqn;
	if (fails())
		return -1;
	dp.maps++;
	return 0;
}

int
rte_pmd_mlx5_external_rx_queue_id_unmap(uint16_t id, uint16_t idx)
{
	note("-map-%u ", id);
	dp.mapped_id = idx;
	if (refuses())
		return -1;
	dp.maps--;
	return 0;
}

/* eal.c's, with what it was given in the words. */
int
crl_fail_rte(struct crl_err *err, int rte_error, const char *step, const char *fix,
	const char *cause, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, cause);
	vsnprintf(text, sizeof(text), cause, ap);
	va_end(ap);
	return crl_err_set(err, -rte_error, step, fix, "%s [%d]", text, rte_error);
}

#endif /* CRL_TEST_FAKE_DPDK_H */
