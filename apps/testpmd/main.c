// SPDX-License-Identifier: BSD-3-Clause
/*
 * carillon-testpmd: testpmd's command line over Carillon's queues. This file has the order of
 * things: options, EAL, memory, ports, engine, control loop, and all of it back. The main lcore
 * only controls and prints; packets are the engine's.
 */
#include "../output.h"
#include "app.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LOOP_NS	   2000000     /* between two rounds of the control loop */
#define STALL_NS   2000000000u /* an engine without heartbeat for so long is reported */
#define MISSED_NS  1000000000u /* a 32-bit counter of the NIC's: read before it can wrap twice */
#define EVENTS_MAX 8

static volatile sig_atomic_t signalled;

static void
on_signal(int sig)
{
	signalled = sig;
}

static int
complain(const struct crl_err *err)
{
	char line[512];

	fflush(stdout);
	fprintf(stderr, "carillon-testpmd: %s\n", crl_err_str(err, line, sizeof(line)));
	return EXIT_FAILURE;
}

static void
keep_error(struct crl_tp_app *app, const struct crl_err *err)
{
	pthread_mutex_lock(&app->lock);
	if (app->nr_errors < CRL_TP_ERRORS_MAX)
		app->errors[app->nr_errors] = *err;
	app->nr_errors++;
	pthread_mutex_unlock(&app->lock);
}

/* Testpmd's line of it. A link that goes down is no failure: it comes up again. */
static void
on_link(const struct crl_tp_app *app, const struct crl_ctx *ctx, bool up)
{
	for (uint32_t i = 0; i < app->nr_ports; i++)
		if (app->ports[i].ctx == ctx)
			printf("\nPort %u: link state change event, link %s\n", app->ports[i].id,
				up ? "up" : "down");
}

/* Whether a queue, or a device, fails with it: a CQE and the NIC's event may tell of one. */
static bool
is_new_failure(struct crl_tp_app *app, const struct crl_event *ev)
{
	for (uint32_t i = 0; i < app->nr_ports && ev->queue != NULL; i++)
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++) {
			struct crl_tp_queue *q = &app->ports[i].queues[k];
			bool known = q->failed;

			if (q->queue != ev->queue)
				continue;
			q->failed = true;
			return !known;
		}
	return ev->type != CRL_EVENT_LOST;
}

static void
on_event(void *arg, struct crl_ctx *ctx, const struct crl_event *ev)
{
	struct crl_tp_app *app = arg;
	char line[512];

	if (ev->type == CRL_EVENT_LINK) {
		on_link(app, ctx, ev->err.code == 0);
		return;
	}
	keep_error(app, &ev->err);
	app->nr_failed += is_new_failure(app, ev);
	fprintf(stderr, "carillon-testpmd: %s\n", crl_err_str(&ev->err, line, sizeof(line)));
}

/* Heartbeats: an engine that stands still without having been asked is told of, once. */
static void
watch_engines(struct crl_tp_app *app)
{
	struct crl_note note[EVENTS_MAX];

	for (uint32_t i = 0; i < app->nr_ports; i++)
		for (uint32_t k = 0; k < app->ports[i].nr_queues; k++) {
			struct crl_watch *w = &app->ports[i].queues[k].watch;
			int n = crl_control_step(w, 1, crl_now_ns(), STALL_NS, note, EVENTS_MAX);

			for (int j = 0; j < n; j++)
				if (note[j].type == CRL_NOTE_STALLED)
					fprintf(stderr,
						"carillon-testpmd: port %u queue %u: no sign of "
						"life from its engine for %u s\n",
						app->ports[i].id, k,
						(unsigned)(STALL_NS / 1000000000u));
		}
}

/* The library's count is the wire's 32 bits made longer, as long as somebody looks. */
static void
count_missed(const struct crl_tp_app *app)
{
	uint64_t packets;

	for (uint32_t i = 0; i < app->nr_ports; i++)
		crl_missed(app->ports[i].ctx, &packets, NULL);
}

static void
print_period(struct crl_tp_app *app)
{
	if (isatty(STDOUT_FILENO))
		fputs("\033[2J\033[1;1H", stdout);
	printf("\nPort statistics ====================================");
	for (uint32_t i = 0; i < app->nr_ports; i++)
		crl_tp_print_nic(&app->ports[i], stdout);
	fflush(stdout);
}

static void
control_loop(struct crl_tp_app *app)
{
	struct crl_ctx *ctxs[CRL_TP_PORTS_MAX];
	struct crl_lcore lcore = {.size = sizeof(lcore),
		.ctxs = ctxs,
		.nr_ctxs = app->nr_ports,
		.event = on_event,
		.arg = app};
	uint64_t period = (uint64_t)app->opt.stats_period_s * 1000000000u;
	uint64_t next = crl_now_ns() + period;
	uint64_t count_at = crl_now_ns() + MISSED_NS;
	uint64_t until = crl_now_ns() + (uint64_t)(app->opt.duration_s * 1e9);
	struct timespec nap = {0, LOOP_NS};

	for (uint32_t i = 0; i < app->nr_ports; i++)
		ctxs[i] = app->ports[i].ctx;
	for (;;) { /* forever: leaves on a signal, --duration, quit, or a device that went away */
		int ret = crl_lcore_once(&lcore);

		if (signalled || (app->opt.duration_s > 0 && crl_now_ns() >= until))
			return;
		if (ret < 0) {
			struct crl_err err = {0};

			crl_err_set(&err, ret, "control", "see dmesg", "a device went away");
			keep_error(app, &err);
			app->nr_failed++;
			complain(&err);
			return;
		}
		watch_engines(app);
		if (crl_now_ns() >= count_at) {
			count_missed(app);
			count_at += MISSED_NS;
		}
		if (period != 0 && crl_now_ns() >= next) {
			print_period(app);
			next += period;
		}
		if (app->opt.interactive && crl_tp_prompt(app))
			return;
		nanosleep(&nap, NULL);
	}
}

/* Everything between open ports and closed ones. */
static int
forward(struct crl_tp_app *app, struct crl_err *err)
{
	bool stood;
	int ret;

	app->stands = app->opt.interactive && !app->opt.auto_start;
	ret = crl_tp_engine_start(app, err);
	if (ret != 0)
		return ret;
	if (crl_tp_telemetry(app) != 0)
		fprintf(stderr, "carillon-testpmd: telemetry does not take our commands\n");
	crl_tp_print_config(app, stdout);
	crl_tp_print_path(app, stdout);
	if (app->opt.interactive)
		crl_tp_prompt_begin();
	fflush(stdout);
	control_loop(app);
	stood = app->stands; /* then a stop has printed all of this, or there was no start */
	if (!stood)
		printf("Telling cores to stop...\nWaiting for lcores to finish...\n");
	ret = crl_tp_engine_stop(app, err);
	if (!stood) {
		crl_tp_print_forward(app, stdout);
		printf("\nDone.\n");
	}
	if (ret == 0)
		ret = crl_tp_report(app, err);
	if (ret == 0 && app->nr_failed > 0)
		ret = crl_err_set(err, -EIO, "forward", "see the lines above",
			"%llu queue%s, or device%s, failed", (unsigned long long)app->nr_failed,
			app->nr_failed == 1 ? "" : "s", app->nr_failed == 1 ? "" : "s");
	return ret;
}

static int
run(struct crl_tp_app *app, struct crl_err *err)
{
	struct crl_err close_err = {0};
	uint64_t told;
	int ret, close_ret;

	ret = crl_tp_memory(app, err);
	if (ret == 0)
		ret = crl_tp_engine_check(app, err);
	if (ret == 0)
		ret = crl_tp_ports_open(app, err);
	if (ret != 0)
		return ret;
	ret = forward(app, err);
	if (app->stopped_badly) {
		/* Its memory is in use and cannot be freed: the kernel does that with the process.
		 */
		complain(err);
		fflush(NULL);
		_exit(EXIT_FAILURE);
	}
	told = crl_now_ns();
	close_ret = crl_tp_ports_close(app, &close_err);
	printf("Queues destroyed and ports closed within %.1f ms\n",
		(double)(crl_now_ns() - told) / 1e6);
	if (ret == 0 && close_ret != 0) {
		*err = close_err;
		ret = close_ret;
	}
	return ret;
}

/* Index of the "--" that ends EAL's options, or argc. */
static int
find_dashes(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		;
	return i;
}

static void
catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal};

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

/* Each allocation on a GPU has a dma-buf, which is a file: a thousand queues are some thousand. */
static void
raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files); /* refused: whoever runs out of them says so */
	}
}

int
main(int argc, char **argv)
{
	static struct crl_tp_app app = {.lock = PTHREAD_MUTEX_INITIALIZER, .cpu_lcore = -1};
	int dashes = find_dashes(argc, argv), ret;
	struct crl_err err = {0}, cleanup = {0};

	output_watch("carillon-testpmd");
	/* Our own options first: nothing is set up when the user learns of a mistake. */
	if (crl_tp_options_parse(argc - dashes, argv + dashes, &app.opt, &err) != 0)
		return complain(&err);
	if (app.opt.help || (argc == 2 && strcmp(argv[1], "--help") == 0)) {
		fputs(crl_tp_usage, stdout);
		return EXIT_SUCCESS;
	}
	if (crl_tp_report_check(&app, &err) != 0)
		return complain(&err);
	setvbuf(stdout, NULL, _IOLBF, 0); /* in order with what libraries say on stderr */
	catch_signals();
	raise_files();
	if (crl_tp_plugin_wanted(dashes, argv, app.opt.gpu) && crl_tp_plugin_load(&err) != 0)
		return complain(&err);
	ret = crl_eal_init(dashes, argv, &app.eal, &err);
	if (ret < 0)
		return complain(&err);
	ret = run(&app, &err);
	if (crl_eal_cleanup(app.eal, &cleanup) != 0 && ret == 0) {
		err = cleanup;
		ret = -EBUSY;
	}
	if (ret != 0)
		return complain(&err);
	printf("\nBye...\n");
	return EXIT_SUCCESS;
}
