// SPDX-License-Identifier: BSD-3-Clause
/*
 * --cpu-queues: what net_mlx5's own queues receive beside ours, forwarded by an lcore as the engine
 * would: io sends it back, macswap exchanges the MACs first, the others free it. One worker lcore.
 */
#include "app.h"

#include <string.h>
#include <time.h>

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#define CPU_BURST 32

static void
swap_macs(struct rte_mbuf *m)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	struct rte_ether_addr mac = eth->dst_addr;

	eth->dst_addr = eth->src_addr;
	eth->src_addr = mac;
}

static unsigned
forward(uint16_t port, uint16_t queue, bool send, bool swap)
{
	struct rte_mbuf *m[CPU_BURST];
	uint16_t n = rte_eth_rx_burst(port, queue, m, CPU_BURST), sent = 0;

	for (uint16_t i = 0; swap && i < n; i++)
		swap_macs(m[i]);
	if (send && n != 0)
		sent = rte_eth_tx_burst(port, queue, m, n);
	for (uint16_t i = sent; i < n; i++)
		rte_pktmbuf_free(m[i]);
	return n;
}

int
crl_tp_cpu_loop(void *arg)
{
	struct crl_tp_app *app = arg;
	bool swap = strcmp(app->opt.engine->name, "macswap") == 0;
	bool send = swap || strcmp(app->opt.engine->name, "io") == 0;
	struct timespec nap = {0, 50000};

	while (!__atomic_load_n(
		&app->cpu_stop, __ATOMIC_RELAXED)) { /* forever, until app->cpu_stop */
		bool stands = __atomic_load_n(&app->stands, __ATOMIC_RELAXED);
		unsigned n = 0;

		for (uint32_t i = 0; i < app->nr_ports && !stands; i++)
			for (uint16_t q = 0; q < app->opt.cpu_queues; q++)
				n += forward(app->ports[i].id, q, send, swap);
		if (n == 0)
			nanosleep(&nap,
				NULL); /* with fewer cores than threads somebody else needs it */
	}
	return 0;
}
