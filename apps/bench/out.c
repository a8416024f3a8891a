// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a run says: a table on standard output, a line as soon as it is measured, and JSON. A line
 * that lost or tore something makes the exit status 1, as does one that could not be measured.
 */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "commit.h"

static void
put(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, json_object_new_string(value ? value : "none"));
}

struct json_object *
bn_number(double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6g", value);
	return json_object_new_double_s(value, text);
}

static void
put_num(struct json_object *o, const char *key, double value)
{
	json_object_object_add(o, key, bn_number(value));
}

static void
put_int(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_int64((int64_t)value));
}

static struct json_object *
describe_gpu(const struct bn_gpu *g)
{
	struct json_object *o = json_object_new_object();

	put(o, "name", g->name);
	put_int(o, "multiprocessors", (uint64_t)g->sms);
	put_int(o, "devices", (uint64_t)g->devices);
	put_num(o, "clock_mhz_max", g->sm_clock_khz / 1000.0);
	put_int(o, "driver", (uint64_t)g->driver);
	put_int(o, "runtime", (uint64_t)g->runtime);
	put(o, "doca_header", g->doca_from);
	return o;
}

int
bn_run_begin(struct bn_run *run, const struct bn_options *opt)
{
	char date[32], host[256];
	time_t now = time(NULL);
	struct utsname u;
	bool gpu;

	uname(&u);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	snprintf(host, sizeof(host), "%s %s, %ld processors", u.sysname, u.release,
		sysconf(_SC_NPROCESSORS_ONLN));
	run->root = json_object_new_object();
	run->lines = json_object_new_array();
	if (!run->root || !run->lines)
		return 1;
	gpu = run->api.gpu;
	put(run->root, "program", "carillon-bench");
	put(run->root, "version", BN_VERSION);
	put(run->root, "commit", BN_COMMIT);
	put(run->root, "bench", opt->bench);
	put(run->root, "date", date);
	put(run->root, "on", gpu ? "gpu" : run->api.post ? "host" : "programs");
	put(run->root, "machine", host);
	json_object_object_add(run->root, "gpu", gpu ? describe_gpu(&run->gpu) : NULL);
	json_object_object_add(run->root, "lines", run->lines);
	printf("carillon-bench %s, commit %s, %s, %s\n", opt->bench, BN_COMMIT, date, host);
	if (gpu)
		printf("on %s, %d SMs, driver %d, runtime %d; DOCA GPUNetIO header: %s\n",
			run->gpu.name, run->gpu.sms, run->gpu.driver, run->gpu.runtime,
			run->gpu.doca_from);
	else if (run->api.post)
		printf("on host threads: figures of this program's soundness, not of a GPU\n");
	printf("what | rings | trigger | NIC step | fences | clock | samples | figures\n");
	return 0;
}

bool
bn_wanted(const struct bn_run *run, const char *what)
{
	return !run->opt->only || strstr(what, run->opt->only) != NULL;
}

static struct json_object *
begin_line(const struct bn_setting *s)
{
	struct json_object *o = json_object_new_object();

	put(o, "what", s->what);
	put(o, "placement", s->placement);
	put(o, "trigger", s->trigger);
	put(o, "nic_step", s->nic_step);
	put(o, "fence", s->fence);
	put(o, "clock", s->clock);
	put(o, "unit", s->unit);
	printf("%s | %s | %s | %s | %s | %s | ", s->what, s->placement, s->trigger, s->nic_step,
		s->fence, s->clock);
	return o;
}

void
bn_line_missing(struct bn_run *run, const struct bn_setting *s, const char *why)
{
	struct json_object *o = begin_line(s);

	put(o, "missing", why);
	put_int(o, "samples", 0);
	printf("0 | not measured: %s\n", why);
	fflush(stdout);
	json_object_array_add(run->lines, o);
}

static void
print_more(struct json_object *more)
{
	json_object_object_foreach(more, key, value)
	{
		printf(", %s %s", key, json_object_get_string(value));
	}
}

void
bn_line(struct bn_run *run, const struct bn_setting *s, struct bn_result *r, double scale,
	struct json_object *more)
{
	struct json_object *o = begin_line(s);
	struct bn_quantiles q;
	bool some = bn_quantiles(r->sample, r->nr_samples, scale, &q) == 0;

	put_int(o, "samples", r->nr_samples);
	put_int(o, "done", r->done);
	put_int(o, "lost", r->lost);
	put_int(o, "torn", r->torn);
	if (r->registers)
		put_int(o, "registers", r->registers);
	printf("%u | ", r->nr_samples);
	if (some) {
		put_num(o, "min", q.min);
		put_num(o, "p50", q.p50);
		put_num(o, "p99", q.p99);
		put_num(o, "p999", q.p999);
		put_num(o, "max", q.max);
		put_num(o, "mean", q.mean);
		printf("p50 %.6g p99 %.6g p99.9 %.6g max %.6g %s, ", q.p50, q.p99, q.p999, q.max,
			s->unit);
	}
	printf("done %lu, lost %lu, torn %lu", r->done, r->lost, r->torn);
	if (more) {
		print_more(more);
		json_object_object_foreach(more, key, value)
		{
			json_object_object_add(o, key, json_object_get(value));
		}
		json_object_put(more);
	}
	printf("\n");
	fflush(stdout);
	json_object_array_add(run->lines, o);
	run->lost += r->lost;
	run->torn += r->torn;
	free(r->sample);
	r->sample = NULL;
}

void
bn_note(struct bn_run *run, const char *format, ...)
{
	struct json_object *notes;
	char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (!json_object_object_get_ex(run->root, "notes", &notes)) {
		notes = json_object_new_array();
		json_object_object_add(run->root, "notes", notes);
	}
	json_object_array_add(notes, json_object_new_string(text));
	printf("note: %s\n", text);
	fflush(stdout);
}

int
bn_run_end(struct bn_run *run)
{
	const struct bn_options *opt = run->opt;
	size_t n = json_object_array_length(run->lines);
	bool bad = run->lost || run->torn || run->failed || n == 0;

	put_int(run->root, "lost", run->lost);
	put_int(run->root, "torn", run->torn);
	put_int(run->root, "failed", run->failed);
	printf("%zu lines, %u failed, lost %lu, torn %lu\n", n, run->failed, run->lost, run->torn);
	if (n == 0)
		fprintf(stderr, "carillon-bench: no line was measured%s%s\n",
			opt->only ? ": none has in its name " : "", opt->only ? opt->only : "");
	if (opt->json && json_object_to_file_ext(opt->json, run->root, JSON_C_TO_STRING_PRETTY)) {
		fprintf(stderr, "carillon-bench: %s: %s\n", opt->json, json_util_get_last_err());
		bad = true;
	}
	if (opt->plot && bn_plot(run->root, opt->plot) != 0)
		bad = true;
	json_object_put(run->root);
	return bad;
}
