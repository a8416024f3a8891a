// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every limit that a program of Carillon's can meet, reached and then exceeded by half: the first
 * must work, the second be refused in words. What was made is taken down again. Main thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_queues/queue_mem.h"
#include "soak.h"

#define MANY (CRL_PORT_QUEUES_MAX + CRL_PORT_QUEUES_MAX / 2u)

static const struct crl_queue_cfg queue_cfg = {
	.size = sizeof(queue_cfg), .flags = CRL_Q_TX | CRL_Q_RX, .tx_depth = 64, .rx_depth = 64};

static int
try_queue(struct soak *s, const struct crl_queue_cfg *cfg, struct crl_err *err)
{
	struct crl_queue *q;
	int ret = crl_queue_create(s->ctx, cfg, &q, err);

	return ret != 0 ? ret : crl_queue_destroy(q, err);
}

static int
try_tx_depth(struct soak *s, uint32_t v, struct crl_err *err)
{
	struct crl_queue_cfg cfg = queue_cfg;

	cfg.tx_depth = v;
	return try_queue(s, &cfg, err);
}

static int
try_rx_depth(struct soak *s, uint32_t v, struct crl_err *err)
{
	struct crl_queue_cfg cfg = queue_cfg;

	cfg.rx_depth = v;
	return try_queue(s, &cfg, err);
}

static int
try_buffer(struct soak *s, uint32_t v, struct crl_err *err)
{
	struct crl_queue_cfg cfg = queue_cfg;

	cfg.rx_buf_bytes = v;
	return try_queue(s, &cfg, err);
}

static int
try_inline(struct soak *s, uint32_t v, struct crl_err *err)
{
	struct crl_queue_cfg cfg = queue_cfg;

	cfg.tx_inline_max = v;
	return try_queue(s, &cfg, err);
}

static int
try_signal(struct soak *s, uint32_t v, struct crl_err *err)
{
	struct crl_queue_cfg cfg = queue_cfg;

	cfg.signal_every = v;
	return try_queue(s, &cfg, err);
}

/* n queues on one port, and one rule that spreads over as many as a rule takes. */
static int
try_queues(struct soak *s, uint32_t n, struct crl_err *err)
{
	struct crl_match all = {.size = sizeof(all), .fields = CRL_MATCH_IPV4 | CRL_MATCH_UDP};
	struct crl_queue_cfg cfg = queue_cfg;
	struct crl_queue *q[MANY] = {NULL};
	struct crl_flow *flow;
	uint32_t made = 0;
	int ret = 0;

	for (; ret == 0 && made < n; made += ret == 0) {
		cfg.index = made;
		ret = crl_queue_create(s->ctx, &cfg, &q[made], err);
		if (ret != 0)
			break;
		ret = crl_port_attach(s->port, q[made], err);
		if (ret != 0)
			crl_queue_destroy(q[made], NULL);
	}
	if (ret == 0)
		ret = crl_flow_add(s->port, &all, q,
			n < CRL_FLOW_QUEUES_MAX ? n : CRL_FLOW_QUEUES_MAX, &flow, err);
	if (ret == 0)
		crl_flow_del(flow, NULL);
	while (made-- > 0) {
		crl_port_detach(s->port, q[made], NULL);
		crl_queue_destroy(q[made], NULL);
	}
	return ret;
}

/* One queue, named n times by one rule: what a rule may name is checked before the queues are. */
static int
try_rule(struct soak *s, uint32_t n, struct crl_err *err)
{
	struct crl_match all = {.size = sizeof(all), .fields = CRL_MATCH_IPV4 | CRL_MATCH_UDP};
	struct crl_queue *q, *list[MANY];
	struct crl_flow *flow;
	int ret = crl_queue_create(s->ctx, &queue_cfg, &q, err);

	if (ret != 0)
		return ret;
	ret = crl_port_attach(s->port, q, err);
	for (uint32_t i = 0; i < n; i++)
		list[i] = q;
	if (ret == 0)
		ret = crl_flow_add(s->port, &all, list, n, &flow, err);
	if (ret == 0)
		crl_flow_del(flow, NULL);
	crl_port_detach(s->port, q, NULL);
	crl_queue_destroy(q, NULL);
	return ret;
}

static int
try_burst(struct soak *s, uint32_t v, struct crl_err *err)
{
	struct crl_queue_dev dev;
	struct crl_stream_cfg stream = {.rx = &dev, .tx = &dev};
	struct crl_engine_cfg cfg = {.size = sizeof(cfg),
		.engine = s->opt.forward,
		.streams = &stream,
		.nr_streams = 1,
		.burst = v};
	struct crl_engine_run *run;
	struct crl_queue *q;
	int ret = crl_queue_create(s->ctx, &queue_cfg, &q, err);

	if (ret != 0)
		return ret;
	ret = crl_queue_export(q, &dev, err);
	if (ret == 0)
		ret = crl_engine_start(&cfg, &run, err);
	if (ret == 0)
		ret = crl_engine_stop(run, SOAK_STOP_NS_MAX, err);
	crl_queue_destroy(q, NULL);
	return ret;
}

static int
try_pieces(struct soak *s, uint32_t n, struct crl_err *err)
{
	struct crl_engine_opts o = {0};
	char list[4 * MANY] = "";

	(void)s;
	for (uint32_t i = 0; i < n; i++)
		strcat(list, i ? ",64" : "64");
	return crl_engine_opts_txpkts(&o, list, err);
}

static const struct {
	const char *what;
	uint32_t limit;
	int (*try)(struct soak *s, uint32_t v, struct crl_err *err);
} limits[] = {
	{"send ring", CRL_DEPTH_MAX, try_tx_depth},
	{"receive ring", CRL_DEPTH_MAX, try_rx_depth},
	{"bytes of a receive buffer", 65536, try_buffer},
	{"inlined bytes", (CRL_WQE_DS_MAX - 2u) * CRL_WQE_SEG_BYTES - 4u, try_inline},
	{"sends a completion", 64 / 4, try_signal},
	{"queues of a port", CRL_PORT_QUEUES_MAX, try_queues},
	{"queues of a rule", CRL_FLOW_QUEUES_MAX, try_rule},
	{"frames a turn", CRL_BURST_MAX, try_burst},
	{"segments of a frame", CRL_TXPKTS_MAX, try_pieces},
};

static int
wrong(const char *what, uint32_t v, const char *how, const struct crl_err *err)
{
	char line[512];

	fprintf(stderr, "carillon-soak: limit, %s: %u %s: %s\n", what, v, how,
		crl_err_str(err, line, sizeof(line)));
	return -1;
}

int
soak_limits(struct soak *s)
{
	struct crl_port_cfg cfg = {.size = sizeof(cfg), .isolate = 1};
	size_t i, n = sizeof(limits) / sizeof(limits[0]);
	struct crl_err err = {0};
	int ret = 0;

	if (crl_port_open(s->eal, 0, &cfg, &s->port, &err) != 0)
		return wrong("port", 1, "does not open", &err);
	s->ctx = crl_port_ctx(s->port);
	for (i = 0; i < n; i++) {
		uint32_t v = limits[i].limit, more = v + v / 2u;

		memset(&err, 0, sizeof(err));
		if (limits[i].try(s, v, &err) != 0)
			ret = wrong(limits[i].what, v, "is refused", &err);
		memset(&err, 0, sizeof(err));
		if (limits[i].try(s, more, &err) == 0)
			ret = wrong(limits[i].what, more, "is not refused", &err);
		else if (err.cause[0] == '\0' || err.fix[0] == '\0')
			ret = wrong(limits[i].what, more, "is refused without words", &err);
	}
	if (crl_port_close(s->port, &err) != 0)
		ret = wrong("port", 1, "does not close", &err);
	return ret != 0 ? ret : (int)n;
}
