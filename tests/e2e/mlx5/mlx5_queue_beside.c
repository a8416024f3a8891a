/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU queues of net_mlx5 beside ours on one port, both ways; and what a port, its queues and its
 * flows refuse while something depends on them. Argument list: EAL's.
 */
#include <errno.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "net.h"

static struct crl_err err;
static struct test_queue ours;

/* Frames of the CPU receive queue with that UDP port, within wait_ns. */
static bool
cpu_received(uint16_t port_id, uint16_t udp_port, uint64_t wait_ns)
{
	uint64_t end = crl_now_ns() + wait_ns;
	bool found = false;

	while (!found && crl_now_ns() < end) {
		struct rte_mbuf *m[16];
		uint16_t n = rte_eth_rx_burst(port_id, 0, m, 16);

		for (uint16_t i = 0; i < n; i++) {
			const uint8_t *f = rte_pktmbuf_mtod(m[i], const uint8_t *);

			found = found || (f[36] << 8 | f[37]) == udp_port;
			rte_pktmbuf_free(m[i]);
		}
	}
	return found;
}

static void
cpu_send(uint16_t port_id, struct rte_mempool *mp, uint16_t udp_port)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	CHECK(m != NULL, "no mbuf");
	if (m == NULL)
		return;
	frame_udp((uint8_t *)rte_pktmbuf_append(m, FRAME_LEN), ours.dev.mac, udp_port, 9);
	CHECK(rte_eth_tx_burst(port_id, 0, &m, 1) == 1, "CPU queue sent nothing");
}

static void
our_send(uint16_t udp_port)
{
	uint64_t cookie;

	frame_udp(ours.dev.txbuf.addr, ours.dev.mac, udp_port, 7);
	send_at(&ours, 0, ours.dev.txbuf.lkey);
	CHECK(sent(&ours, &cookie), "our send did not complete");
}

static void
test_traffic(uint16_t id, struct rte_mempool *mp)
{
	uint8_t frame[2048];
	uint32_t len;

	our_send(4000);
	CHECK(received(&ours, 1, WAIT_NS, frame, &len) == 0, "ours to ours: lost");
	our_send(5000);
	CHECK(cpu_received(id, 5000, WAIT_NS), "ours to CPU: lost");
	cpu_send(id, mp, 4000);
	CHECK(received(&ours, 1, WAIT_NS, frame, &len) == 0, "CPU to ours: lost");
	cpu_send(id, mp, 5001);
	CHECK(cpu_received(id, 5001, WAIT_NS), "CPU to CPU: lost");
	CHECK(received(&ours, 1, NOT_NS, frame, &len) < 0, "ours got a packet of the CPU's");
}

static void
refuse_match(struct crl_port *port, struct crl_match m, const char *words)
{
	struct crl_flow *flow;

	m.size = sizeof(m);
	refused(crl_flow_add(port, &m, &ours.q, 1, &flow, &err), &err, -EINVAL, words);
}

static void
test_matches(struct crl_port *port)
{
	struct crl_match any = {.size = sizeof(any)};
	struct crl_flow *flow;

	refuse_match(port, (struct crl_match){.fields = 1u << 30}, "does not know");
	refuse_match(port, (struct crl_match){.fields = CRL_MATCH_IPV4 | CRL_MATCH_IPV6},
		"IPv4 and IPv6");
	refuse_match(port,
		(struct crl_match){.fields = CRL_MATCH_IPV4 | CRL_MATCH_UDP | CRL_MATCH_TCP},
		"UDP and TCP");
	refuse_match(port, (struct crl_match){.fields = CRL_MATCH_DST_IP}, "addresses need");
	refuse_match(port, (struct crl_match){.fields = CRL_MATCH_UDP}, "UDP and TCP need");
	refuse_match(port, (struct crl_match){.fields = CRL_MATCH_IPV4 | CRL_MATCH_DST_PORT},
		"ports need");
	refuse_match(
		port, (struct crl_match){.fields = CRL_MATCH_VLAN, .vlan_id = 5000}, "VLAN ids");
	refused(crl_flow_add(port, &any, &ours.q, 0, &flow, &err), &err, -EINVAL, "0 queues");
	any.size = 1;
	refused(crl_flow_add(port, &any, &ours.q, 1, &flow, &err), &err, -EINVAL, "1 bytes");
}

static void
test_parents(struct crl_eal *eal, struct crl_port *port)
{
	struct crl_port_cfg cfg = {.size = sizeof(cfg)};
	struct crl_mem mem;
	struct crl_port *p;

	refused(crl_port_open(eal, 0, &cfg, &p, &err), &err, -EBUSY, "is open");
	refused(crl_port_open(eal, 9, &cfg, &p, &err), &err, -EINVAL, "device 9");
	refused(crl_port_close(port, &err), &err, -EBUSY, "flows");
	refused(crl_port_detach(port, ours.q, &err), &err, -EBUSY, "1 flows lead to queue 5");
	refused(crl_port_attach(port, ours.q, &err), &err, -EINVAL, "is attached");
	refused(crl_queue_destroy(ours.q, &err), &err, -EBUSY, "still maps queue 5");
	refused(crl_eal_cleanup(eal, &err), &err, -EBUSY, "is open");
	refused(crl_close(crl_eal_ctx(eal, 0), &err), &err, -EBUSY, "is open");
	refused(crl_mem_gpudev(eal, 31, &mem, &err), &err, -ENODEV, "no gpudev 31");
}

int
main(int argc, char **argv)
{
	struct crl_port_cfg cfg = {.size = sizeof(cfg), .nr_cpu_rxq = 1, .promiscuous = 1};
	struct crl_match m = {.size = sizeof(m),
		.fields = CRL_MATCH_IPV4 | CRL_MATCH_UDP | CRL_MATCH_DST_PORT,
		.dst_port = 4000};
	struct crl_region_cfg rc = {.size = sizeof(rc), .flags = CRL_REGION_ALLOC, .bytes = 4096};
	struct rte_mempool *mp;
	struct crl_region *tx;
	struct crl_port *port;
	struct crl_flow *flow;
	struct crl_eal *eal;

	setvbuf(stdout, NULL, _IOLBF, 0);
	must(crl_eal_init(argc, argv, &eal, &err), &err, "start EAL");
	mp = rte_pktmbuf_pool_create("tx", 255, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	CHECK(mp != NULL, "no pool");
	must(crl_port_open(eal, 0, &cfg, &port, &err), &err, "open the port");
	must(crl_region_reg(crl_eal_ctx(eal, 0), &rc, &tx, &err), &err, "register a frame");
	queue_up(crl_eal_ctx(eal, 0), port, 5, tx, &ours);
	must(crl_flow_add(port, &m, &ours.q, 1, &flow, &err), &err, "add a flow");
	test_traffic(crl_port_id(port), mp);
	test_matches(port);
	test_parents(eal, port);
	must(crl_flow_del(flow, &err), &err, "delete the flow");
	refused(crl_port_close(port, &err), &err, -EBUSY, "queue 5 is attached");
	queue_down(port, &ours);
	must(crl_region_dereg(tx, &err), &err, "deregister the frame");
	must(crl_port_close(port, &err), &err, "close the port");
	/* And once more: what was taken back can be had again. */
	must(crl_port_open(eal, 0, &cfg, &port, &err), &err, "open the port again");
	must(crl_port_close(port, &err), &err, "close it again");
	rte_mempool_free(mp);
	must(crl_eal_cleanup(eal, &err), &err, "clean EAL up");
	return check_done("mlx5_queue_beside");
}
