// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a round makes and takes down again: a port, its queues with the memory they send from, and a
 * rule for each. Main thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "soak.h"

#define BUF_ALIGN 64u
#define SLOTS_MAX 1024u

static uint32_t
align_up(uint32_t v, uint32_t a)
{
	return (v + a - 1u) / a * a;
}

/*
 * Frames under way at a time. Each occupies one slot where it is received. A forwarder's slot is
 * free again only after its send completed, which may be after the frame arrived: it can hold
 * those under way, as many that have arrived since it last looked, and the burst it is at.
 */
static uint32_t
window(const struct soak_options *o)
{
	uint32_t w = o->rx_depth, each;

	if (o->plant.dup != 0 && w > 1u)
		w--; /* the one that is sent twice */
	if (o->forwarders == 0)
		return w;
	each = (o->queues + o->forwarders - 1u) / o->forwarders;
	w = o->rx_depth > o->burst ? (o->rx_depth - o->burst) / 2u / each : 0;
	return w != 0 ? w : 1u;
}

static int
tx_memory(struct soak *s, struct soak_queue *q, struct crl_err *err)
{
	struct crl_region_cfg cfg = {.size = sizeof(cfg), .flags = CRL_REGION_ALLOC};

	q->stride = align_up(s->opt.size_max + SOAK_HEADROOM, BUF_ALIGN);
	q->slots = q->window + s->opt.burst < SLOTS_MAX ? q->window + s->opt.burst : SLOTS_MAX;
	cfg.bytes = align_up(q->slots * q->stride, 65536u);
	return crl_region_reg(s->ctx, &cfg, &q->tx, err);
}

static int
queue_open(struct soak *s, uint32_t i, struct crl_err *err)
{
	const struct soak_options *o = &s->opt;
	struct soak_queue *q = &s->queue[i];
	struct crl_queue_cfg cfg = {
		.size = sizeof(cfg),
		.flags = CRL_Q_TX | CRL_Q_RX,
		.index = i,
		.tx_depth = o->tx_depth,
		.rx_depth = o->rx_depth,
		.rx_headroom = SOAK_HEADROOM,
		.rx_buf_bytes = align_up(o->size_max + SOAK_HEADROOM, BUF_ALIGN),
		.tx_inline_max = o->inline_max,
		.signal_every = o->signal_every,
		.cq_flags = o->collapsed ? CRL_CQ_COLLAPSED : 0,
	};
	struct crl_match match = {.size = sizeof(match),
		.fields = CRL_MATCH_IPV4 | CRL_MATCH_UDP | CRL_MATCH_DST_PORT,
		.dst_port = (uint16_t)(SOAK_SEND_PORT + i)};
	int ret;

	q->soak = s;
	q->window = window(o);
	q->rand = s->seed + i;
	ret = i < o->queues ? tx_memory(s, q, err) : 0;
	if (ret != 0)
		return ret;
	cfg.tx_region = q->tx;
	ret = crl_queue_create(s->ctx, &cfg, &q->queue, err);
	if (ret != 0)
		goto undo_region;
	ret = crl_port_attach(s->port, q->queue, err);
	if (ret != 0)
		goto undo_queue;
	ret = crl_queue_export(q->queue, &q->dev, err);
	if (ret != 0)
		goto undo_attach;
	ret = crl_flow_add(s->port, &match, &q->queue, 1, &q->rule, err);
	if (ret != 0)
		goto undo_attach;
	return 0;

undo_attach:
	crl_port_detach(s->port, q->queue, NULL);
undo_queue:
	crl_queue_destroy(q->queue, NULL);
undo_region:
	if (q->tx != NULL)
		crl_region_dereg(q->tx, NULL);
	return ret;
}

static int
queue_close(struct soak *s, struct soak_queue *q, struct crl_err *err)
{
	int ret = crl_flow_del(q->rule, err);

	if (ret == 0)
		ret = crl_port_detach(s->port, q->queue, err);
	if (ret == 0)
		ret = crl_queue_destroy(q->queue, err);
	if (ret == 0 && q->tx != NULL)
		ret = crl_region_dereg(q->tx, err);
	return ret;
}

/* Who sends to whom: without forwarders to the next queue, else to one of them, which sends back.
 */
static void
flows_init(struct soak *s)
{
	const struct soak_options *o = &s->opt;
	uint32_t i, to, checks;

	for (i = 0; i < o->queues; i++) {
		to = o->forwarders ? o->queues + i % o->forwarders : (i + 1u) % o->queues;
		checks = o->forwarders ? i : to;
		s->queue[i].sends = &s->flow[i];
		s->queue[checks].checks = &s->flow[i];
		soak_flow_init(s, i, s->queue[i].dev.mac, (uint16_t)(SOAK_SEND_PORT + to),
			o->forwarders != 0);
	}
}

int
soak_close(struct soak *s, struct crl_err *err)
{
	int ret = 0;

	for (; s->nr_open > 0 && ret == 0; s->nr_open -= ret == 0)
		ret = queue_close(s, &s->queue[s->nr_open - 1u], err);
	if (ret == 0)
		ret = crl_port_close(s->port, err);
	if (ret != 0)
		return ret;
	free(s->queue);
	free(s->flow);
	s->queue = NULL;
	s->flow = NULL;
	return 0;
}

int
soak_open(struct soak *s, struct crl_err *err)
{
	struct crl_port_cfg cfg = {.size = sizeof(cfg), .isolate = 1};
	uint32_t i, mtu = s->opt.size_max - RTE_ETHER_HDR_LEN;
	int ret;

	s->nr_queues = s->opt.queues + s->opt.forwarders;
	s->queue = aligned_alloc(64, s->nr_queues * sizeof(s->queue[0]));
	s->flow = aligned_alloc(64, s->opt.queues * sizeof(s->flow[0]));
	if (s->queue == NULL || s->flow == NULL)
		return crl_err_set(err, -ENOMEM, "begin a round", NULL, "no memory");
	memset(s->queue, 0, s->nr_queues * sizeof(s->queue[0]));
	memset(s->flow, 0, s->opt.queues * sizeof(s->flow[0]));
	cfg.mtu = (uint16_t)(mtu > RTE_ETHER_MTU ? mtu : RTE_ETHER_MTU);
	ret = crl_port_open(s->eal, 0, &cfg, &s->port, err);
	if (ret != 0)
		return ret;
	s->ctx = crl_port_ctx(s->port);
	for (i = 0; i < s->nr_queues; i++) {
		ret = queue_open(s, i, err);
		if (ret != 0)
			break;
		s->nr_open++;
	}
	if (ret != 0) {
		soak_close(s, NULL);
		return ret;
	}
	flows_init(s);
	return 0;
}
