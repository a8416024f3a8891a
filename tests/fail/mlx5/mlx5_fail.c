/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each call of the driver's that can fail fails once, at its N-th time, for all N until all goes
 * well: no crash, nothing left behind, and an error that names step and cause. Then the same for
 * the calls that give things back: what is refused once is given back at the next try. Arguments:
 * EAL's; without any only the DevX part is tried. With CHECK_FIRST in the environment it ends at
 * the first failure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <carillon/dpdk.h>

#include "drivers/mlx5/dpdk_internal.h"
#include "inject.h"

#define ROUNDS_MAX  1000u /* calls of one scenario */
#define SECONDS_MAX 100u

static int failures;
static struct crl_err err;

/* What is built, so that a scenario that stops half-way is taken down by one function. */
static struct {
	struct crl_ctx *ctx;
	struct crl_port *port;
	struct crl_region *region;
	struct crl_queue *queue[2];
	struct crl_flow *flow;
	bool attached[2];
} w;

static long baseline[LIVE_KINDS];

static void
complain(const char *what, unsigned n)
{
	char line[512];

	failures++;
	printf("FAIL: call %u (%s): %s (%s)\n", n, inject_fired() ? inject_fired() : "none", what,
		crl_err_str(&err, line, sizeof(line)));
	if (getenv("CHECK_FIRST") != NULL) /* one is enough: tests/mutation */
		exit(1);
}

static void
take_baseline(void)
{
	for (int k = 0; k < LIVE_KINDS; k++)
		baseline[k] = inject_live(k);
}

static void
check_live(unsigned n)
{
	char what[128];

	for (int k = 0; k < LIVE_KINDS; k++) {
		if (inject_live(k) == baseline[k])
			continue;
		snprintf(what, sizeof(what), "%ld %s left", inject_live(k) - baseline[k],
			inject_kind_name(k));
		complain(what, n);
		baseline[k] = inject_live(k);
	}
}

/* ret of a call under injection: an error must be told in words. */
static bool
failed(int ret, unsigned n)
{
	if (ret >= 0)
		return false;
	if (err.code != ret || err.step[0] == '\0' || err.cause[0] == '\0')
		complain("the error says too little", n);
	if (inject_fired() == NULL)
		complain("failed without cause", n);
	return true;
}

/* One try at giving back all that is there, in order; returns the first refusal. */
static int
take_down(void)
{
	int ret = crl_flow_del(w.flow, &err);

	if (ret == 0)
		w.flow = NULL;
	for (int i = 0; i < 2 && ret == 0; i++) {
		if (w.attached[i])
			ret = crl_port_detach(w.port, w.queue[i], &err);
		if (ret != 0)
			break;
		w.attached[i] = false;
		ret = crl_queue_destroy(w.queue[i], &err);
		if (ret == 0)
			w.queue[i] = NULL;
	}
	if (ret == 0)
		ret = crl_region_dereg(w.region, &err);
	if (ret == 0) {
		w.region = NULL;
		ret = crl_port_close(w.port, &err);
	}
	if (ret == 0)
		w.port = NULL;
	return ret;
}

static int
build_queues(struct crl_ctx *ctx, unsigned n)
{
	struct crl_region_cfg rc = {.size = sizeof(rc), .flags = CRL_REGION_ALLOC, .bytes = 4096};
	int ret = crl_region_reg(ctx, &rc, &w.region, &err);
	uint64_t missed;

	for (unsigned i = 0; i < 2 && !failed(ret, n); i++) {
		struct crl_queue_cfg cfg = {
			.size = sizeof(cfg),
			.flags = i ? CRL_Q_RX : CRL_Q_TX | CRL_Q_RX,
			.index = i,
			.tx_depth = 16,
			.rx_depth = 16,
			.tx_region = w.region,
		};

		ret = crl_queue_create(ctx, &cfg, &w.queue[i], &err);
	}
	if (!failed(ret, n)) {
		ret = crl_missed(ctx, &missed, &err);
		failed(ret, n);
	}
	return ret;
}

static int
build_port(struct crl_eal *eal, unsigned n, bool isolate)
{
	struct crl_port_cfg pc = {.size = sizeof(pc),
		.nr_cpu_rxq = 1,
		.cpu_depth = 64,
		.mtu = 1500,
		.isolate = isolate,
		.promiscuous = !isolate};
	struct crl_match m = {.size = sizeof(m), .fields = CRL_MATCH_IPV4 | CRL_MATCH_UDP};
	int ret = crl_port_open(eal, 0, &pc, &w.port, &err);

	if (failed(ret, n))
		return ret;
	ret = build_queues(crl_eal_ctx(eal, 0), n);
	for (unsigned i = 0; i < 2 && ret == 0; i++) {
		ret = crl_port_attach(w.port, w.queue[i], &err);
		w.attached[i] = ret == 0;
		failed(ret, n);
	}
	if (ret == 0) {
		ret = crl_flow_add(w.port, &m, w.queue, 2, &w.flow, &err);
		failed(ret, n);
	}
	return ret;
}

static int
open_and_build(struct crl_eal *eal, unsigned n, bool isolate)
{
	struct crl_cfg cfg = {.size = sizeof(cfg)};
	int ret;

	if (eal != NULL)
		return build_port(eal, n, isolate);
	ret = crl_open(&cfg, &w.ctx, &err);
	if (failed(ret, n))
		return ret;
	return build_queues(w.ctx, n);
}

static void
end_round(unsigned n)
{
	inject_arm(0);
	if (take_down() != 0)
		complain("what was built does not come down", n);
	if (w.ctx != NULL && crl_close(w.ctx, &err) != 0)
		complain("the context does not close", n);
	w.ctx = NULL;
	check_live(n);
}

/* A call whose failure may go untold, as there is another way. No other may. */
static bool
may_go_on(const char *call)
{
	static const char *const calls[] = {"mlx5dv_devx_alloc_uar"}; /* the next kind */

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(call, calls[i]) == 0)
			return true;
	return false;
}

/* A config that is refused leaves nothing behind. */
static void
refused_config(void)
{
	struct crl_queue_cfg qc = {.size = sizeof(qc), .flags = CRL_Q_TX, .tx_depth = 17};
	struct crl_cfg cfg = {.size = sizeof(cfg)};

	inject_arm(0);
	if (crl_open(&cfg, &w.ctx, &err) != 0) {
		complain("does not open", 0);
		return;
	}
	take_baseline();
	if (crl_queue_create(w.ctx, &qc, &w.queue[0], &err) != -EINVAL)
		complain("a depth of 17 was not refused", 0);
	check_live(0);
	if (crl_close(w.ctx, &err) != 0)
		complain("the context does not close", 0);
	w.ctx = NULL;
	take_baseline();
}

/* A port whose slots are all taken says so. */
static void
full_port(struct crl_eal *eal)
{
	struct crl_port_queue was[CRL_PORT_QUEUES_MAX];
	int ret;

	inject_arm(0);
	if (open_and_build(eal, 0, true) != 0 || crl_flow_del(w.flow, &err) != 0 ||
		crl_port_detach(w.port, w.queue[1], &err) != 0) {
		complain("does not build", 0);
		return;
	}
	w.flow = NULL;
	w.attached[1] = false;
	memcpy(was, w.port->queues, sizeof(was));
	for (unsigned i = 0; i < CRL_PORT_QUEUES_MAX; i++)
		w.port->queues[i].queue = w.queue[0];
	ret = crl_port_attach(w.port, w.queue[1], &err);
	if (ret != -ENOSPC || strstr(err.cause, "a port takes 1000 queues") == NULL)
		complain("a full port was not told", 0);
	memcpy(w.port->queues, was, sizeof(was));
	end_round(0);
}

static void
fail_each(struct crl_eal *eal, bool isolate, const char *name)
{
	unsigned n = 1, told = 0;

	for (; n < ROUNDS_MAX; n++) {
		const char *fired;
		int ret;

		inject_arm(n);
		memset(&err, 0, sizeof(err));
		ret = open_and_build(eal, n, isolate);
		fired = inject_fired();
		told += ret != 0;
		if (ret != 0 && getenv("CHECK_VERBOSE") != NULL)
			printf("%3u %-40s %s: %s\n", n, fired ? fired : "-", err.step, err.cause);
		if (fired != NULL && ret == 0 && !may_go_on(fired))
			complain("it was not told", n);
		if (ret != 0 && inject_later() != 0)
			complain("more was tried after the failure", n);
		end_round(n);
		if (fired == NULL && ret == 0)
			break;
	}
	if (n == ROUNDS_MAX || n < 20)
		complain("the scenario does not come to its end, or has hardly any calls", n);
	printf("%s: %u calls, %u failures told\n", name, n - 1, told);
}

static void
refuse_each(struct crl_eal *eal, const char *name)
{
	unsigned n = 1;

	for (; n < ROUNDS_MAX; n++) {
		bool fired;
		int ret;

		inject_arm(0);
		if (open_and_build(eal, n, true) != 0)
			complain("does not build", n);
		inject_arm_release(n);
		memset(&err, 0, sizeof(err));
		ret = take_down();
		fired = inject_fired() != NULL;
		failed(ret, n);
		if (fired && ret == 0)
			complain("a refusal was not told", n);
		if (inject_early() != 0)
			complain("more was given back after the refusal", n);
		end_round(n);
		if (!fired)
			break;
	}
	printf("%s: %u refusals\n", name, n - 1);
	if (n == ROUNDS_MAX || n < 5)
		complain("the scenario does not come to its end, or has hardly any calls", n);
}

/* EAL starts once: every failure before that, then the start. */
static struct crl_eal *
start_eal(int argc, char **argv)
{
	struct crl_eal *eal;

	for (unsigned n = 1; n < ROUNDS_MAX; n++) {
		int ret;

		inject_arm(n);
		memset(&err, 0, sizeof(err));
		ret = crl_eal_init(argc, argv, &eal, &err);
		if (ret >= 0) {
			printf("EAL: started at round %u\n", n);
			inject_arm(0);
			return eal;
		}
		failed(ret, n);
		check_live(n);
	}
	complain("EAL never starts", ROUNDS_MAX);
	return NULL;
}

int
main(int argc, char **argv)
{
	struct crl_eal *eal;

	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(SECONDS_MAX);
	take_baseline();
	fail_each(NULL, false, "DevX");
	refuse_each(NULL, "DevX, giving back");
	refused_config();
	if (argc > 1) {
		eal = start_eal(argc, argv);
		if (eal == NULL)
			return 1;
		take_baseline();
		full_port(eal);
		fail_each(eal, true, "port, isolated");
		fail_each(eal, false, "port beside CPU queues");
		refuse_each(eal, "port, giving back");
		if (crl_eal_cleanup(eal, &err) != 0)
			complain("EAL does not clean up", 0);
	}
	printf("%d failures\n", failures);
	return failures != 0;
}
