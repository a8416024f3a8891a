// SPDX-License-Identifier: BSD-3-Clause
/*
 * Queues whose rings, records and buffers are "GPU" memory: the gpudev plugin over the stand-in for
 * libcuda, so that the whole way of device memory to the NIC is walked without a GPU: allocation,
 * dma-buf, registration by descriptor, doorbell page registered with the GPU. One queue sends,
 * another receives what the loopback wire brings back; host threads run the engines, as the
 * stand-in's memory is theirs too.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_gpudev.h>

#include "carillon/dpdk.h"
#include "gpu_queues/engine.h"
#include "tests/unit/gpu/fake_cuda.h"

static struct crl_err err;

static int
say(const char *what)
{
	char line[512];

	printf("FAIL: %s: %s\n", what, crl_err_str(&err, line, sizeof(line)));
	return 1;
}

static int
start(const char *name, struct crl_queue_dev *rx, struct crl_queue_dev *tx,
	struct crl_engine_run **run)
{
	struct crl_stream_cfg stream = {.rx = rx, .tx = tx};
	struct crl_engine_cfg cfg = {.size = sizeof(cfg),
		.engine = crl_engine_find(name),
		.streams = &stream,
		.nr_streams = 1};

	return crl_engine_start(&cfg, run, &err);
}

static int
run_engines(struct crl_queue *tx, struct crl_queue *rx)
{
	struct crl_engine_run *send = NULL, *receive = NULL;
	struct crl_queue_dev tx_dev, rx_dev;
	struct crl_qstats t = {0}, r = {0};

	if (crl_queue_export(tx, &tx_dev, &err) != 0 || crl_queue_export(rx, &rx_dev, &err) != 0)
		return say("export");
	if (start("rxonly", &rx_dev, NULL, &receive) != 0 ||
		start("txonly", NULL, &tx_dev, &send) != 0)
		return say("start");
	for (int i = 0; i < 500 && r.rx_packets < 10000; i++) {
		usleep(10000);
		crl_queue_stats(rx, &r);
	}
	if (crl_engine_stop(send, 3000000000, &err) != 0 ||
		crl_engine_stop(receive, 3000000000, &err) != 0)
		return say("stop");
	crl_queue_stats(rx, &r);
	crl_queue_stats(tx, &t);
	printf("sent %llu, received %llu, errors %llu\n", (unsigned long long)t.tx_packets,
		(unsigned long long)r.rx_packets, (unsigned long long)(t.tx_errors + r.rx_errors));
	return r.rx_packets < 10000 || t.tx_errors + r.rx_errors != 0 ||
	       r.rx_bytes != 64 * r.rx_packets;
}

static int
with_queues(struct crl_eal *eal, struct crl_port *port, const struct crl_mem *mem)
{
	struct crl_region_cfg region_cfg = {
		.size = sizeof(region_cfg), .flags = CRL_REGION_ALLOC, .bytes = 65536, .mem = mem};
	struct crl_queue_cfg tx_cfg = {
		.size = sizeof(tx_cfg), .flags = CRL_Q_TX, .index = 0, .rings = mem};
	struct crl_queue_cfg rx_cfg = {
		.size = sizeof(rx_cfg), .flags = CRL_Q_RX, .index = 1, .rings = mem};
	struct crl_match everything = {.size = sizeof(everything)};
	struct crl_ctx *ctx = crl_port_ctx(port);
	struct crl_region *region;
	struct crl_queue *tx, *rx;
	struct crl_flow *flow;
	int bad;

	if (crl_region_reg(ctx, &region_cfg, &region, &err) != 0)
		return say("region");
	tx_cfg.tx_region = region;
	if (crl_queue_create(ctx, &tx_cfg, &tx, &err) != 0 ||
		crl_queue_create(ctx, &rx_cfg, &rx, &err) != 0)
		return say("queue");
	if (crl_port_attach(port, rx, &err) != 0 ||
		crl_flow_add(port, &everything, &rx, 1, &flow, &err) != 0)
		return say("steering");
	bad = run_engines(tx, rx);
	if (crl_flow_del(flow, &err) != 0 || crl_port_detach(port, rx, &err) != 0 ||
		crl_queue_destroy(rx, &err) != 0 || crl_queue_destroy(tx, &err) != 0 ||
		crl_region_dereg(region, &err) != 0)
		return say("taking down");
	return bad;
}

int
main(int argc, char **argv)
{
	struct crl_port_cfg port_cfg = {.size = sizeof(port_cfg), .isolate = 1};
	struct crl_port *port;
	struct crl_eal *eal;
	struct crl_mem mem;
	int bad;

	if (crl_eal_init(argc, argv, &eal, &err) < 0)
		return say("EAL");
	if (crl_mem_gpudev(eal, 0, &mem, &err) != 0)
		return say("gpudev");
	if (crl_port_open(eal, 0, &port_cfg, &port, &err) != 0)
		return say("port");
	bad = with_queues(eal, port, &mem);
	if (fake_cuda()->allocs != 0 || fake_cuda()->registered != 0)
		bad = printf("FAIL: %d allocations and %d registrations are left\n",
			fake_cuda()->allocs, fake_cuda()->registered);
	printf("%d dma-bufs were handed out\n", fake_cuda()->exports);
	if (fake_cuda()->exports == 0)
		bad = printf("FAIL: nothing went by dma-buf\n");
	if (bad)
		return 1; /* what the failure left behind goes with the process */
	if (crl_port_close(port, &err) != 0)
		return say("close");
	return crl_eal_cleanup(eal, &err) != 0 ? say("clean up") : 0;
}
