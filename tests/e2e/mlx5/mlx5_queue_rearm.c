/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recovery of a queue under a living engine, against a NIC that keeps a CQ's place over a reset of
 * the queue, as a ConnectX does: txonly sends, its key goes bad, the host takes the send queue
 * through ERR, RST and RDY by the commands of the PRM and re-arms, again and again. Without DPDK,
 * under softcx run. Every wait is bounded.
 */
#include <time.h>

#include "drivers/mlx5/internal.h"
#include "gpu_queues/control.h"
#include "gpu_queues/engine.h"
#include "gpu_queues/mem.h"

#include "check.h"

#define WAIT_NS 5000000000ull
#define TIMES	5

static struct crl_err err;
static struct crl_queue *queue;
static struct crl_queue_dev dev;
static struct crl_watch watch;

static void
nap(void)
{
	nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static uint64_t
completions(void)
{
	struct crl_qstats stats;

	crl_queue_stats(queue, &stats);
	return stats.tx_completions;
}

/* Until so many more sends have completed; false: they have not. */
static bool
completes(uint64_t more)
{
	uint64_t until = completions() + more, end = crl_now_ns() + WAIT_NS;

	while (completions() < until && crl_now_ns() < end)
		nap();
	return completions() >= until;
}

/* Until the engine's error is there and it stands. */
static bool
fails(void)
{
	uint64_t end = crl_now_ns() + WAIT_NS;
	struct crl_note note = {.type = CRL_NOTE_LEFT};

	while (note.type != CRL_NOTE_ERROR && crl_now_ns() < end) {
		if (crl_control_step(&watch, 1, crl_now_ns(), WAIT_NS, &note, 1) == 0)
			nap();
	}
	while (!crl_control_parked(&watch) && crl_now_ns() < end)
		nap();
	return note.type == CRL_NOTE_ERROR && note.err.syndrome == CRL_SYND_LOCAL_PROT &&
	       crl_control_parked(&watch);
}

static void
modify(uint32_t from, uint32_t to)
{
	uint32_t in[CRL_PRM_MODIFY_SQ_IN_BYTES / 4] = {0}, out[4] = {0};

	crl_prm_set(in, CRL_PRM_CMD_IN_OPCODE, CRL_CMD_OP_MODIFY_SQ);
	crl_prm_set(in, CRL_PRM_MODIFY_SQ_IN_SQN, crl_queue_sqn(queue));
	crl_prm_set(in, CRL_PRM_MODIFY_SQ_IN_SQ_STATE, from);
	crl_prm_set(crl_prm_at(in, CRL_PRM_MODIFY_SQ_IN_CTX), CRL_PRM_SQC_STATE, to);
	CHECK(mlx5dv_devx_obj_modify(queue->sq.obj, in, sizeof(in), out, sizeof(out)) == 0,
		"from %u to %u", from, to);
}

/* What docs/queue-states.md asks of the host. */
static void
mend(void)
{
	uint64_t end = crl_now_ns() + WAIT_NS;

	modify(CRL_Q_STATE_ERR, CRL_Q_STATE_RST);
	crl_st32(&dev.sq.dbrec[CRL_DBREC_SND_WORD], 0);
	modify(CRL_Q_STATE_RST, CRL_Q_STATE_RDY);
	CHECK(crl_control_rearm(&watch) == 0, "re-arm is refused");
	while (!crl_control_rearmed(&watch) && crl_now_ns() < end)
		nap();
	CHECK(crl_control_rearmed(&watch), "the engine does not answer");
}

static void
run(uint32_t good)
{
	struct crl_stream_cfg stream = {.tx = &dev};
	struct crl_engine_cfg cfg = {.size = sizeof(cfg),
		.engine = crl_engine_find("txonly"),
		.streams = &stream,
		.nr_streams = 1};
	struct crl_engine_run *engine;

	must(crl_engine_start(&cfg, &engine, &err), &err, "start");
	for (unsigned i = 0; i < TIMES; i++) {
		CHECK(completes(300), "time %u: nothing completes", i);
		must(crl_engine_park(engine, WAIT_NS, &err), &err, "park");
		dev.txbuf.lkey = good ^ 0x5a5a00u;
		must(crl_engine_resume(engine, &err), &err, "resume");
		CHECK(fails(), "time %u: no error, or it does not stand", i);
		dev.txbuf.lkey = good;
		mend();
	}
	CHECK(completes(300), "nothing completes after the last time");
	must(crl_engine_stop(engine, WAIT_NS, &err), &err, "stop");
}

int
main(void)
{
	struct crl_region_cfg rc = {.size = sizeof(rc), .flags = CRL_REGION_ALLOC, .bytes = 65536};
	struct crl_queue_cfg qc = {.size = sizeof(qc), .flags = CRL_Q_TX, .tx_depth = 64};
	struct crl_cfg cfg = {.size = sizeof(cfg)};
	struct crl_ctx *ctx;

	setvbuf(stdout, NULL, _IOLBF, 0);
	must(crl_open(&cfg, &ctx, &err), &err, "open");
	must(crl_region_reg(ctx, &rc, &qc.tx_region, &err), &err, "register frames");
	must(crl_queue_create(ctx, &qc, &queue, &err), &err, "create a queue");
	must(crl_queue_export(queue, &dev, &err), &err, "export it");
	watch.ctl = crl_queue_ctl(queue);
	watch.error[0] = &crl_queue_error(queue)[CRL_QERROR_SQ];
	run(dev.txbuf.lkey);
	must(crl_queue_destroy(queue, &err), &err, "destroy it");
	must(crl_region_dereg(qc.tx_region, &err), &err, "deregister frames");
	must(crl_close(ctx, &err), &err, "close");
	return check_done("mlx5_queue_rearm");
}
