// SPDX-License-Identifier: BSD-3-Clause
/*
 * The smallest complete program over Carillon's queues: a UDP echo server. packet() is yours to
 * change; the rest brings one queue of one NIC up, runs packet() on a worker lcore until Ctrl-C,
 * and takes all of it down. Copy this folder; its Makefile needs pkg-config only.
 *
 *   echo [EAL options], for example: softcx run -- carillon-echo -l 0,1 --no-huge -m 256
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "carillon/dpdk.h"
#include "gpu_queues/engine.h"
#include "gpu_queues/engines/icmpecho.h"

static volatile sig_atomic_t stop;

static void
on_signal(int sig)
{
	stop = sig;
}

/* The packet function: an IPv4 UDP datagram goes back to who sent it, everything else is dropped.
 */
static enum crl_verdict
packet(struct crl_stream *s, struct crl_pkt *pkt)
{
	uint8_t *eth = pkt->data, *ip = eth + 14, *udp = ip + 20;

	if (pkt->len < 42 || crl_ld_be16(eth + 12) != 0x0800 || crl_ld8(ip) != 0x45 ||
		crl_ld8(ip + 9) != 17 || (crl_ld_be16(ip + 6) & 0x3fff) != 0)
		return CRL_DROP;
	crl_mac_swap(eth);
	crl_pkt_swap(ip + 12, ip + 16, 4); /* no checksum changes: the sums have the same terms */
	crl_pkt_swap(udp, udp + 2, 2);
	return CRL_SEND;
}

static enum crl_turn
turn(struct crl_stream *s)
{
	return crl_fwd_turn(s, packet);
}

static const struct crl_engine echo = {
	"echo", "sends UDP back", CRL_Q_RX | CRL_Q_TX, turn, NULL, 0};

static int
worker(void *run)
{
	return crl_engine_work(run, 0);
}

/* Runs the engine on the first worker lcore and takes the NIC's events until Ctrl-C. */
static int
serve(struct crl_ctx *ctx, struct crl_queue *queue, struct crl_err *err)
{
	struct crl_lcore control = {.size = sizeof(control), .ctxs = &ctx, .nr_ctxs = 1};
	struct crl_queue_dev dev;
	struct crl_stream_cfg stream = {.rx = &dev, .tx = &dev};
	struct crl_engine_cfg cfg = {.size = sizeof(cfg),
		.flags = CRL_ENGINE_OWN_THREADS,
		.engine = &echo,
		.streams = &stream,
		.nr_streams = 1,
		.nr_threads = 1};
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);
	struct crl_engine_run *run;
	struct crl_qstats stats;
	int ret;

	if (lcore >= RTE_MAX_LCORE)
		return crl_err_set(err, -EINVAL, "start",
			"give EAL two, as -l 0,1 or --lcores=0@0,1@0", "there is no worker lcore");
	ret = crl_queue_export(queue, &dev, err);
	if (ret == 0)
		ret = crl_engine_start(&cfg, &run, err);
	if (ret != 0)
		return ret;
	rte_eal_remote_launch(worker, run, lcore);
	while (!stop && crl_lcore_once(&control) >= 0)
		usleep(10000); /* forever: leaves on Ctrl-C, or when the NIC is gone */
	ret = crl_engine_stop(run, 2000000000, err); /* waits 2 s at most */
	crl_queue_stats(queue, &stats);
	printf("echo: received %llu, sent %llu\n", (unsigned long long)stats.rx_packets,
		(unsigned long long)stats.tx_packets);
	if (ret != 0)
		_exit(1); /* memory that the engine still uses cannot be freed */
	rte_eal_wait_lcore(lcore);
	return 0;
}

int
main(int argc, char **argv)
{
	struct crl_queue_cfg queue_cfg = {.size = sizeof(queue_cfg), .flags = CRL_Q_RX | CRL_Q_TX};
	struct crl_port_cfg port_cfg = {.size = sizeof(port_cfg), .isolate = 1};
	struct crl_match everything = {.size = sizeof(everything)};
	struct crl_queue *queue = NULL;
	struct crl_port *port = NULL;
	struct crl_flow *flow = NULL;
	struct crl_eal *eal = NULL;
	struct crl_err err = {0};
	char line[512];
	int ret;

	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	ret = crl_eal_init(argc, argv, &eal, &err);
	if (ret >= 0)
		ret = crl_port_open(eal, 0, &port_cfg, &port, &err);
	if (ret == 0)
		ret = crl_queue_create(crl_port_ctx(port), &queue_cfg, &queue, &err);
	if (ret == 0)
		ret = crl_port_attach(port, queue, &err);
	if (ret == 0)
		ret = crl_flow_add(port, &everything, &queue, 1, &flow, &err);
	if (ret == 0)
		ret = serve(crl_port_ctx(port), queue, &err);
	if (ret < 0)
		fprintf(stderr, "echo: %s\n", crl_err_str(&err, line, sizeof(line)));
	/* Back in the order of a stack; what was never made is NULL. */
	if (flow)
		crl_flow_del(flow, NULL);
	if (queue && crl_port_detach(port, queue, NULL) <= 0)
		crl_queue_destroy(queue, NULL);
	if (port)
		crl_port_close(port, NULL);
	if (eal)
		crl_eal_cleanup(eal, NULL);
	if (fflush(stdout) != 0) {
		perror("echo: standard output");
		return 1;
	}
	return ret < 0;
}
