// SPDX-License-Identifier: BSD-3-Clause
/*
 * /carillon/... of DPDK's telemetry: queues, stats, path, errors. The callbacks run in telemetry's
 * thread and touch only what carillon.h allows from any thread, and the errors under their lock.
 */
#include "app.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <rte_telemetry.h>
#include <rte_version.h>

static struct crl_tp_app *app; /* telemetry hands its callbacks nothing of ours */

/* A number at the beginning of the text: what follows it, or NULL. */
static const char *
number(const char *text, unsigned *v)
{
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return NULL;
	n = strtoul(text, &end, 10);
	*v = n < UINT_MAX ? (unsigned)n : UINT_MAX; /* which nothing has for its number */
	return end;
}

/* "PORT,QUEUE", both optional where one only exists: the queue, or NULL. */
static const struct crl_tp_queue *
queue_of(const char *params, unsigned *port, unsigned *queue)
{
	*port = app->ports[0].id;
	*queue = 0;
	if (params != NULL && *params != '\0') {
		params = number(params, port);
		if (params != NULL && *params == ',')
			params = number(params + 1, queue);
		if (params == NULL || *params != '\0')
			return NULL;
	}
	for (uint32_t i = 0; i < app->nr_ports; i++)
		if (app->ports[i].id == *port && *queue < app->ports[i].nr_queues)
			return &app->ports[i].queues[*queue];
	return NULL;
}

static int
on_queues(const char *cmd, const char *params, struct rte_tel_data *d)
{
	char name[32];

	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	for (uint32_t i = 0; i < app->nr_ports; i++)
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++) {
			snprintf(name, sizeof(name), "%u,%u", app->ports[i].id, k);
			rte_tel_data_add_array_string(d, name);
		}
	return 0;
}

static int
on_stats(const char *cmd, const char *params, struct rte_tel_data *d)
{
	unsigned port, queue;
	const struct crl_tp_queue *q = queue_of(params, &port, &queue);
	struct crl_qstats s;

	if (q == NULL)
		return -EINVAL;
	crl_queue_stats(q->queue, &s);
	rte_tel_data_start_dict(d);
/* The name of 22.11 went with 25.11; the other one came with 23.03. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
#define FIELD(name) rte_tel_data_add_dict_uint(d, #name, s.name)
#else
#define FIELD(name) rte_tel_data_add_dict_u64(d, #name, s.name)
#endif
	FIELD(rx_packets);
	FIELD(rx_bytes);
	FIELD(rx_dropped);
	FIELD(rx_errors);
	FIELD(rx_csum_bad);
	FIELD(rx_polls);
	FIELD(rx_idle_polls);
	FIELD(rx_refills);
	FIELD(tx_packets);
	FIELD(tx_bytes);
	FIELD(tx_dropped);
	FIELD(tx_errors);
	FIELD(tx_doorbells);
	FIELD(tx_full_waits);
	FIELD(tx_completions);
	FIELD(tx_idle_polls);
	FIELD(sq_pi);
	FIELD(sq_ci);
	FIELD(rq_pi);
	FIELD(rq_ci);
#undef FIELD
	return 0;
}

static int
on_path(const char *cmd, const char *params, struct rte_tel_data *d)
{
	unsigned port, queue;
	const struct crl_tp_queue *q = queue_of(params, &port, &queue);
	struct crl_path path = {.size = sizeof(path)};
	char who[64];

	if (q == NULL || crl_path(q->queue, &path) != 0)
		return -EINVAL;
	snprintf(who, sizeof(who), q->lcore >= 0 ? "lcore %d" : "GPU %d",
		q->lcore >= 0 ? q->lcore : app->cuda_device);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "rings", path.rings == CRL_PLACE_GPU ? "gpu" : "host");
	rte_tel_data_add_dict_string(d, "buffers", path.buffers == CRL_PLACE_GPU ? "gpu" : "host");
	rte_tel_data_add_dict_string(d, "doorbell",
		path.uar == CRL_UAR_BF		? "a write-combining page of its own"
		: path.uar == CRL_UAR_NC_SHARED ? "an uncached page that all queues share"
						: "an uncached page of its own");
	rte_tel_data_add_dict_string(
		d, "completion_queue", path.cq_flags & CRL_CQ_COLLAPSED ? "collapsed" : "ordinary");
	rte_tel_data_add_dict_int(d, "numa_node", path.numa_node);
	rte_tel_data_add_dict_string(d, "nic_step", crl_tp_nic_step());
	rte_tel_data_add_dict_string(d, "engine", app->opt.engine->name);
	rte_tel_data_add_dict_string(d, "engine_runs_on", who);
	return 0;
}

static int
on_errors(const char *cmd, const char *params, struct rte_tel_data *d)
{
	char line[RTE_TEL_MAX_STRING_LEN];

	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	pthread_mutex_lock(&app->lock);
	for (uint64_t i = 0; i < app->nr_errors && i < CRL_TP_ERRORS_MAX; i++)
		rte_tel_data_add_array_string(d, crl_err_str(&app->errors[i], line, sizeof(line)));
	pthread_mutex_unlock(&app->lock);
	return 0;
}

int
crl_tp_telemetry(struct crl_tp_app *a)
{
	app = a;
	if (rte_telemetry_register_cmd("/carillon/queues", on_queues,
		    "Carillon's queues, each as port,queue. No parameters") != 0 ||
		rte_telemetry_register_cmd("/carillon/stats", on_stats,
			"Counters of a queue. Parameters: port,queue") != 0 ||
		rte_telemetry_register_cmd("/carillon/path", on_path,
			"Where a queue's rings and doorbell are and who runs its engine. "
			"Parameters: "
			"port,queue") != 0 ||
		rte_telemetry_register_cmd("/carillon/errors", on_errors,
			"The first errors of queues and devices, in words. No parameters") != 0)
		return -ENOMEM;
	return 0;
}
