// SPDX-License-Identifier: BSD-3-Clause
/*
 * --json: what was run, on which path, and what came of it. Written beside the file and renamed, so
 * that a reader never sees half of it. Main lcore, after the engine has left.
 */
#include "app.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>
#include <rte_version.h>

static void
put_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static void
put_str(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, json_object_new_string(v));
}

/*
 * What engine and NIC moved through the queue's memory, by its counters and the sizes on the wire;
 * no profiler has measured it. Consumer records of CQs, which are told of now and then, are not in
 * it, nor what a mode reads of a frame.
 */
static struct json_object *
memory_report(const struct crl_qstats *s)
{
	struct json_object *o = json_object_new_object();

	put_u64(o, "wqes_stored", s->sq_pi * CRL_WQEBB_BYTES);
	put_u64(o, "send_records_stored", s->tx_doorbells * sizeof(crl_be32));
	put_u64(o, "registers_stored", s->tx_doorbells * sizeof(uint64_t));
	put_u64(o, "receive_records_stored", s->rx_refills * sizeof(crl_be32));
	put_u64(o, "cqes_read", (s->tx_completions + s->rx_packets + s->rx_errors) * CRL_CQE_BYTES);
	put_u64(o, "payload_received", s->rx_bytes);
	put_u64(o, "payload_sent", s->tx_bytes);
	return o;
}

/* What the engine's kernel takes of its GPU. */
static struct json_object *
kernel_report(const struct crl_tp_app *app)
{
	struct json_object *o = json_object_new_object();
	uint32_t blocks = 0;

	for (uint32_t i = 0; i < app->nr_ports; i++)
		blocks += app->ports[i].nr_queues;
	put_str(o, "kernel", app->facts.kernel);
	put_u64(o, "blocks", blocks);
	put_u64(o, "multiprocessors", app->facts.sms);
	put_u64(o, "blocks_that_fit_on_one", app->facts.per_sm);
	put_u64(o, "registers_a_thread", app->facts.registers);
	put_u64(o, "shared_bytes_a_block", app->facts.shared_bytes);
	return o;
}

static struct json_object *
queue_report(const struct crl_tp_app *app, const struct crl_tp_queue *q, uint32_t index)
{
	struct json_object *o = json_object_new_object();
	struct crl_path path = {.size = sizeof(path)};
	struct crl_qstats s;

	crl_queue_stats(q->queue, &s);
	put_u64(o, "queue", index);
	if (crl_path(q->queue, &path) == 0) {
		put_str(o, "path", path.text);
		put_str(o, "rings", path.rings == CRL_PLACE_GPU ? "gpu" : "host");
		put_str(o, "buffers", path.buffers == CRL_PLACE_GPU ? "gpu" : "host");
	}
	if (q->lcore >= 0)
		put_u64(o, "lcore", (uint64_t)q->lcore);
	else
		put_u64(o, "gpu", (uint64_t)app->cuda_device);
	put_u64(o, "rx_packets", s.rx_packets);
	put_u64(o, "rx_bytes", s.rx_bytes);
	put_u64(o, "rx_dropped", s.rx_dropped);
	put_u64(o, "rx_errors", s.rx_errors);
	put_u64(o, "rx_csum_bad", s.rx_csum_bad);
	put_u64(o, "rx_idle_polls", s.rx_idle_polls);
	put_u64(o, "tx_packets", s.tx_packets);
	put_u64(o, "tx_bytes", s.tx_bytes);
	put_u64(o, "tx_dropped", s.tx_dropped);
	put_u64(o, "tx_errors", s.tx_errors);
	put_u64(o, "tx_doorbells", s.tx_doorbells);
	put_u64(o, "tx_completions", s.tx_completions);
	put_u64(o, "tx_full_waits", s.tx_full_waits);
	json_object_object_add(o, "memory_bytes_counted", memory_report(&s));
	if (strcmp(app->opt.engine->name, "stamp") == 0) {
		put_u64(o, "torn", s.torn);
		put_u64(o, "out_of_place", s.missed);
	}
	if (s.rtt_count != 0) {
		put_u64(o, "rtt_count", s.rtt_count);
		put_u64(o, "rtt_min_ns", s.rtt_min_ns);
		put_u64(o, "rtt_mean_ns", s.rtt_sum_ns / s.rtt_count);
		put_u64(o, "rtt_max_ns", s.rtt_max_ns);
	}
	return o;
}

static struct json_object *
port_report(const struct crl_tp_app *app, const struct crl_tp_port *p, double seconds)
{
	struct json_object *o = json_object_new_object(), *queues = json_object_new_array();
	struct crl_info info = {.size = sizeof(info)};
	struct crl_tp_counts c;

	crl_tp_counts_get(p, &c);
	put_u64(o, "port", p->id);
	if (crl_info(p->ctx, &info) == 0) {
		put_str(o, "device", info.name);
		put_str(o, "bdf", info.bdf);
		put_str(o, "firmware", info.fw_ver);
	}
	put_u64(o, "rx_packets", c.rx_packets);
	put_u64(o, "rx_bytes", c.rx_bytes);
	put_u64(o, "rx_missed", c.rx_missed);
	put_u64(o, "rx_errors", c.rx_errors);
	put_u64(o, "tx_packets", c.tx_packets);
	put_u64(o, "tx_bytes", c.tx_bytes);
	put_u64(o, "tx_dropped", c.tx_dropped);
	put_u64(o, "tx_errors", c.tx_errors);
	json_object_object_add(o, "rx_pps",
		json_object_new_double(seconds > 0 ? (double)c.rx_packets / seconds : 0));
	json_object_object_add(o, "tx_pps",
		json_object_new_double(seconds > 0 ? (double)c.tx_packets / seconds : 0));
	for (uint32_t i = 0; i < p->nr_queues; i++)
		json_object_array_add(queues, queue_report(app, &p->queues[i], i));
	json_object_object_add(o, "queues", queues);
	return o;
}

/* When each part of the stop was over, in ms from the word on. */
static struct json_object *
stop_report(const struct crl_tp_app *app)
{
	static const char *const names[CRL_STOP_PARTS] = {[CRL_STOP_SEEN] = "word_seen_ms",
		[CRL_STOP_LEFT] = "sends_over_ms",
		[CRL_STOP_ENDED] = "kernel_ended_ms",
		[CRL_STOP_FETCHED] = "states_back_ms",
		[CRL_STOP_FREED] = "all_freed_ms"};
	struct json_object *o = json_object_new_object();

	for (uint32_t i = 0; i < CRL_STOP_PARTS; i++)
		json_object_object_add(
			o, names[i], json_object_new_double((double)app->stop.ns[i] / 1e6));
	return o;
}

static struct json_object *
build(const struct crl_tp_app *app)
{
	double seconds = (double)app->ran_ns / 1e9;
	struct json_object *o = json_object_new_object();
	struct json_object *ports = json_object_new_array(), *errors = json_object_new_array();
	char line[512];

	put_str(o, "program", "carillon-testpmd");
	put_str(o, "version", CRL_TP_VERSION);
	put_str(o, "dpdk", rte_version());
	put_str(o, "nic_step", crl_tp_nic_step());
	put_str(o, "forward_mode", app->opt.engine->name);
	json_object_object_add(o, "seconds", json_object_new_double(seconds));
	json_object_object_add(o, "stop_ms", json_object_new_double((double)app->stop_ns / 1e6));
	json_object_object_add(o, "stop", stop_report(app));
	put_u64(o, "rxd", app->opt.rxd);
	put_u64(o, "txd", app->opt.txd);
	put_u64(o, "burst", app->opt.burst);
	put_u64(o, "cores", app->nr_threads);
	put_u64(o, "engines", app->opt.engines);
	if (app->facts.registers != 0)
		json_object_object_add(o, "engine_kernel", kernel_report(app));
	for (uint32_t i = 0; i < app->nr_ports; i++)
		json_object_array_add(ports, port_report(app, &app->ports[i], seconds));
	json_object_object_add(o, "ports", ports);
	put_u64(o, "errors_total", app->nr_errors);
	for (uint64_t i = 0; i < app->nr_errors && i < CRL_TP_ERRORS_MAX; i++)
		json_object_array_add(errors,
			json_object_new_string(crl_err_str(&app->errors[i], line, sizeof(line))));
	json_object_object_add(o, "errors", errors);
	return o;
}

static int
cannot_write(const char *path, int error, struct crl_err *err)
{
	return crl_err_set(err, error != 0 ? -error : -EIO, "--json",
		"give a file in a folder that can be written, with room", "cannot write %s: %s",
		path, strerror(error != 0 ? error : EIO));
}

/* A pipe or a device: there is nothing to put in its place, so it is written as it is. */
static bool
is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

int
crl_tp_report_check(const struct crl_tp_app *app, struct crl_err *err)
{
	const char *path = app->opt.json, *slash = strrchr(path, '/');
	char folder[sizeof(app->opt.json)] = ".";
	struct stat st;

	if (path[0] == '\0')
		return 0;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return cannot_write(path, EISDIR, err);
	if (is_special(path))
		return access(path, W_OK) == 0 ? 0 : cannot_write(path, errno, err);
	if (slash != NULL)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path) + 1, path);
	return access(folder, W_OK | X_OK) == 0 ? 0 : cannot_write(path, errno, err);
}

int
crl_tp_report(const struct crl_tp_app *app, struct crl_err *err)
{
	const char *path = app->opt.json;
	struct json_object *o;
	char beside[300];
	int ret = 0;

	if (path[0] == '\0')
		return 0;
	if (is_special(path))
		snprintf(beside, sizeof(beside), "%s", path);
	else
		snprintf(beside, sizeof(beside), "%s.%d.part", path, getpid());
	o = build(app);
	if (json_object_to_file_ext(beside, o, JSON_C_TO_STRING_PRETTY) != 0 ||
		(strcmp(beside, path) != 0 && rename(beside, path) != 0)) {
		ret = cannot_write(path, errno, err);
		if (strcmp(beside, path) != 0)
			unlink(beside);
	}
	json_object_put(o);
	return ret;
}
