// SPDX-License-Identifier: BSD-3-Clause
/*
 * Statistics in the shapes that testpmd prints, because people grep them; and the lines that
 * testpmd has no need of: which path the packets take. Main lcore.
 */
#include "app.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "drivers/softcx/dmabuf_registry.h"

#define NIC_BORDER "########################"
#define FWD_BORDER "----------------------"
#define ACC_BORDER "+++++++++++++++"

/*
 * What the NIC had no buffer for, in our queues. Without a counter set of its own the context
 * cannot tell, and net_mlx5's count has it all.
 */
static uint64_t
missed(const struct crl_tp_port *p)
{
	uint64_t packets = 0;

	return crl_missed(p->ctx, &packets, NULL) == 0 ? packets : 0;
}

/* Ours and, where there are CPU queues, net_mlx5's. */
void
crl_tp_counts_get(const struct crl_tp_port *p, struct crl_tp_counts *c)
{
	struct rte_eth_stats cpu;

	memset(c, 0, sizeof(*c));
	for (uint32_t i = 0; i < p->nr_queues; i++) {
		struct crl_qstats *q = &p->queues[i].now;

		crl_queue_stats(p->queues[i].queue, q);
		c->rx_packets += q->rx_packets;
		c->rx_bytes += q->rx_bytes;
		c->rx_errors += q->rx_errors;
		c->tx_packets += q->tx_packets;
		c->tx_bytes += q->tx_bytes;
		c->tx_dropped += q->tx_dropped;
		c->tx_errors += q->tx_errors;
	}
	c->rx_missed = missed(p);
	if (rte_eth_stats_get(p->id, &cpu) != 0)
		return;
	c->rx_packets += cpu.ipackets;
	c->rx_bytes += cpu.ibytes;
	c->rx_missed += cpu.imissed;
	c->rx_errors += cpu.ierrors;
	c->rx_nombuf += cpu.rx_nombuf;
	c->tx_packets += cpu.opackets;
	c->tx_bytes += cpu.obytes;
	c->tx_errors += cpu.oerrors;
}

void
crl_tp_counts_sub(struct crl_tp_counts *a, const struct crl_tp_counts *b)
{
	uint64_t *x = (uint64_t *)a;
	const uint64_t *y = (const uint64_t *)b;

	for (size_t i = 0; i < sizeof(*a) / sizeof(*x); i++)
		x[i] = x[i] > y[i] ? x[i] - y[i] : 0;
}

static void
counts_add(struct crl_tp_counts *a, const struct crl_tp_counts *b)
{
	uint64_t *x = (uint64_t *)a;
	const uint64_t *y = (const uint64_t *)b;

	for (size_t i = 0; i < sizeof(*a) / sizeof(*x); i++)
		x[i] += y[i];
}

void
crl_tp_clear_forward(struct crl_tp_app *app)
{
	for (uint32_t i = 0; i < app->nr_ports; i++) {
		struct crl_tp_port *p = &app->ports[i];

		crl_tp_counts_get(p, &p->fwd_base);
		for (uint32_t k = 0; k < p->nr_queues; k++)
			p->queues[k].base = p->queues[k].now;
	}
}

void
crl_tp_clear_nic(struct crl_tp_app *app)
{
	crl_tp_clear_forward(app);
	for (uint32_t i = 0; i < app->nr_ports; i++)
		app->ports[i].base = app->ports[i].fwd_base;
}

/* rates: packets received, bytes received, packets sent, bytes sent, a second each. */
void
crl_tp_shape_nic(FILE *f, unsigned port, const struct crl_tp_counts *c, const uint64_t rates[4])
{
	fprintf(f, "\n  %s NIC statistics for port %-2u %s\n", NIC_BORDER, port, NIC_BORDER);
	fprintf(f,
		"  RX-packets: %-10" PRIu64 " RX-missed: %-10" PRIu64 " RX-bytes:  %-" PRIu64 "\n",
		c->rx_packets, c->rx_missed, c->rx_bytes);
	fprintf(f, "  RX-errors: %-" PRIu64 "\n", c->rx_errors);
	fprintf(f, "  RX-nombuf:  %-10" PRIu64 "\n", c->rx_nombuf);
	fprintf(f,
		"  TX-packets: %-10" PRIu64 " TX-errors: %-10" PRIu64 " TX-bytes:  %-" PRIu64 "\n",
		c->tx_packets, c->tx_errors, c->tx_bytes);
	fprintf(f, "\n  Throughput (since last show)\n");
	fprintf(f, "  Rx-pps: %12" PRIu64 "          Rx-bps: %12" PRIu64 "\n", rates[0],
		rates[1] * 8);
	fprintf(f, "  Tx-pps: %12" PRIu64 "          Tx-bps: %12" PRIu64 "\n", rates[2],
		rates[3] * 8);
	fprintf(f, "  %s############################%s\n", NIC_BORDER, NIC_BORDER);
}

void
crl_tp_print_nic(struct crl_tp_port *p, FILE *f)
{
	struct crl_tp_counts now, diff;
	uint64_t ns = crl_now_ns(), rates[4] = {0}, passed = ns - p->shown_ns;

	crl_tp_counts_get(p, &now);
	diff = now;
	crl_tp_counts_sub(&diff, &p->shown);
	if (p->shown_ns != 0 && passed != 0) {
		double s = (double)passed / 1e9;

		rates[0] = (uint64_t)((double)diff.rx_packets / s);
		rates[1] = (uint64_t)((double)diff.rx_bytes / s);
		rates[2] = (uint64_t)((double)diff.tx_packets / s);
		rates[3] = (uint64_t)((double)diff.tx_bytes / s);
	}
	p->shown = now;
	p->shown_ns = ns;
	crl_tp_counts_sub(&now, &p->base);
	crl_tp_shape_nic(f, p->id, &now, rates);
}

void
crl_tp_shape_forward(FILE *f, unsigned port, const struct crl_tp_counts *c)
{
	uint64_t dropped = c->tx_dropped + c->tx_errors;

	fprintf(f, "\n  %s Forward statistics for port %-2u %s\n", FWD_BORDER, port, FWD_BORDER);
	fprintf(f,
		"  RX-packets: %-14" PRIu64 " RX-dropped: %-14" PRIu64 "RX-total: %-" PRIu64 "\n",
		c->rx_packets, c->rx_missed, c->rx_packets + c->rx_missed);
	if (c->rx_errors + c->rx_nombuf > 0) {
		fprintf(f, "  RX-error: %-" PRIu64 "\n", c->rx_errors);
		fprintf(f, "  RX-nombufs: %-14" PRIu64 "\n", c->rx_nombuf);
	}
	fprintf(f,
		"  TX-packets: %-14" PRIu64 " TX-dropped: %-14" PRIu64 "TX-total: %-" PRIu64 "\n",
		c->tx_packets, dropped, c->tx_packets + dropped);
	fprintf(f, "  %s--------------------------------%s\n", FWD_BORDER, FWD_BORDER);
}

void
crl_tp_shape_total(FILE *f, const struct crl_tp_counts *c)
{
	uint64_t dropped = c->tx_dropped + c->tx_errors;

	fprintf(f, "\n  %s Accumulated forward statistics for all ports%s\n", ACC_BORDER,
		ACC_BORDER);
	fprintf(f,
		"  RX-packets: %-14" PRIu64 " RX-dropped: %-14" PRIu64 "RX-total: %-" PRIu64 "\n",
		c->rx_packets, c->rx_missed, c->rx_packets + c->rx_missed);
	fprintf(f,
		"  TX-packets: %-14" PRIu64 " TX-dropped: %-14" PRIu64 "TX-total: %-" PRIu64 "\n",
		c->tx_packets, dropped, c->tx_packets + dropped);
	if (c->rx_nombuf > 0)
		fprintf(f, "  RX-nombufs: %-14" PRIu64 "\n", c->rx_nombuf);
	fprintf(f, "  %s++++++++++++++++++++++++++++++++++++++++++++++%s\n", ACC_BORDER,
		ACC_BORDER);
}

/* A queue that moved nothing is not printed, as testpmd does it. */
static void
print_queue(const struct crl_tp_port *p, uint32_t i, FILE *f)
{
	struct crl_qstats q;

	crl_stats_diff(&p->queues[i].now, &p->queues[i].base, &q);
	if (q.rx_packets == 0 && q.tx_packets == 0 && q.rx_dropped == 0 && q.tx_dropped == 0)
		return;
	fprintf(f,
		"\n  ------- Forward Stats for RX Port=%2u/Queue=%2u -> TX Port=%2u/Queue=%2u "
		"-------\n",
		p->id, i, p->id, i);
	fprintf(f,
		"  RX-packets: %-14" PRIu64 " TX-packets: %-14" PRIu64 " TX-dropped: %-14" PRIu64
		"\n",
		q.rx_packets, q.tx_packets, q.tx_dropped + q.rx_dropped);
	fprintf(f,
		"  RX-bad-checksum: %-9" PRIu64 " RX-errors: %-15" PRIu64 " TX-errors: %-14" PRIu64
		"\n",
		q.rx_csum_bad, q.rx_errors, q.tx_errors);
	fprintf(f,
		"  Doorbells: %-15" PRIu64 " Completions: %-13" PRIu64 " Ring-full: %-14" PRIu64
		"\n",
		q.tx_doorbells, q.tx_completions, q.tx_full_waits);
}

void
crl_tp_print_forward(struct crl_tp_app *app, FILE *f)
{
	struct crl_tp_counts total = {0}, c[CRL_TP_PORTS_MAX];

	for (uint32_t i = 0; i < app->nr_ports; i++) {
		crl_tp_counts_get(&app->ports[i], &c[i]);
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++)
			print_queue(&app->ports[i], k, f);
	}
	for (uint32_t i = 0; i < app->nr_ports; i++) {
		crl_tp_counts_sub(&c[i], &app->ports[i].fwd_base);
		crl_tp_shape_forward(f, app->ports[i].id, &c[i]);
		counts_add(&total, &c[i]);
	}
	crl_tp_shape_total(f, &total);
}

static void
print_lcore(const struct crl_tp_app *app, int lcore, FILE *f)
{
	unsigned streams = 0;

	for (uint32_t i = 0; i < app->nr_ports; i++)
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++)
			streams += app->ports[i].queues[k].lcore == lcore;
	if (streams == 0)
		return;
	if (lcore < 0)
		fprintf(f, "GPU %d (%s) forwards packets on %u streams:\n", app->cuda_device,
			app->gpu_model, streams);
	else
		fprintf(f, "Logical Core %d (socket %u) forwards packets on %u streams:\n", lcore,
			rte_lcore_to_socket_id((unsigned)lcore), streams);
	for (uint32_t i = 0; i < app->nr_ports; i++)
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++) {
			const struct crl_tp_port *p = &app->ports[i];
			const uint8_t *m = app->opt.engine_opts.peer_mac;

			if (p->queues[k].lcore == lcore)
				fprintf(f,
					"  RX P=%u/Q=%u (socket %d) -> TX P=%u/Q=%u (socket %d) "
					"peer=%02X:%02X:%02X:%02X:%02X:%02X\n",
					p->id, k, p->numa_node, p->id, k, p->numa_node, m[0], m[1],
					m[2], m[3], m[4], m[5]);
		}
}

void
crl_tp_print_config(const struct crl_tp_app *app, FILE *f)
{
	uint32_t streams = 0;

	for (uint32_t i = 0; i < app->nr_ports; i++)
		streams += app->ports[i].nr_queues;
	fprintf(f,
		"%s packet forwarding - ports=%u - cores=%u - streams=%u - NUMA support enabled\n",
		app->opt.engine->name, app->nr_ports, app->nr_threads, streams);
	for (int lcore = -1; lcore < RTE_MAX_LCORE; lcore++)
		print_lcore(app, lcore, f);
	fprintf(f, "\n  %s packet forwarding packets/burst=%u\n", app->opt.engine->name,
		app->opt.burst);
	fprintf(f, "  nb forwarding cores=%u - nb forwarding ports=%u\n", app->opt.nb_cores,
		app->nr_ports);
	for (uint32_t i = 0; i < app->nr_ports; i++) {
		fprintf(f, "  port %u: RX queue number: %u Tx queue number: %u\n", app->ports[i].id,
			app->opt.rxq, app->opt.txq);
		fprintf(f, "    RX desc=%u - TX desc=%u\n", app->opt.rxd, app->opt.txd);
	}
}

int
crl_tp_step_gpu(void)
{
	return softcx_step_gpu != NULL ? softcx_step_gpu() : -1;
}

/* Who executes the queues' WQEs: libsoftcx.so in this process, or a ConnectX. */
const char *
crl_tp_nic_step(void)
{
	static char text[80];

	if (crl_tp_step_gpu() >= 0) {
		snprintf(text, sizeof(text), "a kernel of the software ConnectX on GPU %d",
			crl_tp_step_gpu());
		return text;
	}
	if (softcx_copy_gpu != NULL && softcx_copy_gpu() >= 0) {
		snprintf(text, sizeof(text),
			"a CPU thread of the software ConnectX, by GPU %d's copy engine",
			softcx_copy_gpu());
		return text;
	}
	return softcx_dmabuf_add != NULL ? "a CPU thread of the software ConnectX" : "the NIC";
}

/* One line a queue: where its rings, doorbell and NIC step are, and who runs the engine. */
void
crl_tp_print_path(const struct crl_tp_app *app, FILE *f)
{
	for (uint32_t i = 0; i < app->nr_ports; i++)
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++) {
			const struct crl_tp_queue *q = &app->ports[i].queues[k];
			struct crl_path path = {.size = sizeof(path)};
			char who[128];

			if (crl_path(q->queue, &path) != 0)
				continue;
			if (q->lcore >= 0)
				snprintf(who, sizeof(who), "a host thread on lcore %d", q->lcore);
			else
				snprintf(who, sizeof(who), "a resident kernel on GPU %d (%s)",
					app->cuda_device, app->gpu_model);
			fprintf(f, "Path of port %u %s; NIC step in %s; engine run by %s\n",
				app->ports[i].id, path.text, crl_tp_nic_step(), who);
		}
}
