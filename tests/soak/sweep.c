/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Depth and signalling, each from 1 to 64, for zero-copy forwarding. For every pair the driver's
 * own check says whether such a queue may be, and must say so in words where it may not; the rule
 * is computed here anew. Whatever an engine may be started with must forward: frames come as long
 * as less than depth of them are under way, and a wire that waits for buffers makes a lost
 * completion a standstill, which a count of turns finds. Engine and NIC take turns in one thread,
 * by a seed.
 *
 * usage: soak_sweep [EVERY]: of the 4096 pairs every EVERY-th, 1 by default
 */
#include <errno.h>

#include "drivers/mlx5/internal.h"
#include "gpu_queues/engine.h"
#include "gpu_queues/engines/macswap.h"
#include "rig.h"

#define MOST	   64u
#define STILL_MAX  4000u /* turns of both sides without a frame: nothing will ever move */
#define LAPS	   16u
#define BUDGET_MAX 8u

/* The other end: numbered frames in, the same with their addresses swapped back. */
struct far_end {
	struct scx_wire wire;
	uint8_t frame[MOST][RIG_FRAME];
	uint64_t out, back, total;
	uint64_t lent, kept; /* frames that the NIC holds; one it gave back */
	uint32_t depth, wrong;
};

static struct {
	struct rig *rig;
	struct rig_queue q;
	struct far_end far;
	uint64_t rand, still, seen;
	bool stuck, naive;
} t;

static uint64_t
rand_next(void)
{
	uint64_t z = t.rand += 0x9e3779b97f4a7c15ull; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static unsigned
far_recv(struct scx_wire *w, struct scx_frame *f, unsigned nr)
{
	struct far_end *e = (struct far_end *)w;
	uint8_t *p = e->frame[e->out % MOST];

	if (nr == 0 || e->out == e->total || e->out - e->back >= e->depth)
		return 0;
	memset(p, (int)e->out, RIG_FRAME);
	memcpy(p, t.q.dev.mac, 6);
	memcpy(p + 6, "\2\0\0\0\0\x77\x88\xb5", 8);
	memcpy(p + 16, &e->out, 8);
	*f = (struct scx_frame){.data = p, .len = RIG_FRAME};
	e->out++;
	return 1;
}

/* There was no buffer for it: it comes again. */
static void
far_again(struct scx_wire *w)
{
	((struct far_end *)w)->out--;
}

static unsigned
far_send(struct scx_wire *w, const struct scx_frame *f, unsigned nr)
{
	struct far_end *e = (struct far_end *)w;
	uint64_t number;
	unsigned i;

	for (i = 0; i < nr; i++, e->back++) {
		memcpy(&number, f[i].data + 16, 8);
		e->wrong += f[i].len != RIG_FRAME || number != e->back ||
			    memcmp(f[i].data, "\2\0\0\0\0\x77", 6) != 0 ||
			    memcmp(f[i].data + 6, t.q.dev.mac, 6) != 0 ||
			    f[i].data[RIG_FRAME - 1u] != (uint8_t)e->back;
	}
	return nr;
}

/* As a program might: rings whenever it has something, and asks for a CQE when the count says so.
 */
static void
naive_turn(struct crl_stream *s)
{
	struct crl_sq *sq = &s->tx->sq;
	struct crl_piece piece;
	struct crl_pkt pkt;
	uint64_t pi;
	uint32_t n;

	crl_rq_refill(&s->rx->rq, sq);
	crl_stream_reap(s);
	if (crl_sq_room(sq) == 0)
		return;
	crl_rq_poll(&s->rx->rq, s->rx->error, &pkt, 1, &n);
	if (n == 0 || crl_sq_reserve(sq, 1, &pi) != CRL_OK)
		return;
	crl_mac_swap(pkt.data);
	piece = (struct crl_piece){pkt.data, pkt.iova, pkt.len, s->tx_lkey};
	crl_sq_put_send(sq, pi, &piece, 1, 0, false, crl_cookie_slots(pkt.index, 1));
	crl_order_wqe_before_record();
	crl_st_be32(&sq->dbrec[CRL_DBREC_SND_WORD], crl_index16(sq->posted));
	crl_order_record_before_uar();
	crl_st_mmio64(sq->uar, sq->db);
	sq->rung = sq->posted;
}

/* One turn of the engine and some of the NIC; asks the engine to leave when all is back or stuck.
 */
static enum crl_turn
turn(struct crl_stream *s)
{
	uint64_t r = rand_next(), moved;
	enum crl_turn turn = CRL_TURN_BUSY;
	uint32_t i;

	for (i = 0; i < (r & 3u); i++)
		rig_step(t.rig, &t.far.wire, 1u + (unsigned)(r >> 8) % BUDGET_MAX);
	moved = t.far.out + t.far.back + s->txc.completions;
	t.still = moved == t.seen ? t.still + 1u : 0;
	t.seen = moved;
	t.stuck = t.still > STILL_MAX && t.far.back < t.far.total;
	if (t.stuck || (t.far.back == t.far.total && t.still > 16u))
		crl_st32(&s->ctl->stop, 1);
	if (t.naive && s->mode == CRL_MODE_RUN && !crl_ld32(&s->ctl->stop))
		naive_turn(s);
	else
		turn = crl_fwd_turn(s, crl_macswap_packet);
	return turn == CRL_TURN_LEFT ? turn : CRL_TURN_BUSY; /* no sleeping between turns */
}

static const struct crl_engine sweep = {
	"sweep", "macswap and a NIC by turns", CRL_Q_RX | CRL_Q_TX, turn, NULL, 0};

/* 0, or what the engine's start refused. Frames of the far end: a few laps, and what depth allows.
 */
static int
forward(uint32_t depth, const struct rig_cfg *cfg, struct crl_err *err)
{
	static const struct scx_wire_ops ops = {
		.name = "far end", .send = far_send, .recv = far_recv, .back = far_again};
	struct crl_stream_cfg stream = {.rx = &t.q.dev, .tx = &t.q.dev};
	struct crl_engine_cfg e = {.size = sizeof(e),
		.flags = CRL_ENGINE_OWN_THREADS,
		.engine = &sweep,
		.streams = &stream,
		.nr_streams = 1,
		.burst = 1u + (uint32_t)(rand_next() % CRL_BURST_MAX)};
	struct crl_engine_run *run;
	int ret;

	rig_queue_open(t.rig, &t.q, cfg, 0);
	memset(&t.far, 0, sizeof(t.far));
	t.far.wire.ops = &ops;
	t.far.depth = depth;
	t.far.total = LAPS * ((1u << cfg->log_rx) + depth);
	t.still = t.seen = 0;
	t.stuck = false;
	ret = crl_engine_start(&e, &run, err);
	if (ret == 0) {
		assert_int_equal(crl_engine_work(run, 0), 0);
		assert_int_equal(crl_engine_stop(run, 1000000000, err), 0);
	}
	rig_queue_close(t.rig, &t.q);
	rig_reset(t.rig);
	return ret;
}

static uint32_t
log2_up(uint32_t v)
{
	uint32_t log = 0;

	while (1u << log < v)
		log++;
	return log;
}

static bool
says(const struct crl_err *err, uint32_t number)
{
	char word[16];

	snprintf(word, sizeof(word), " %u", number);
	return strstr(err->cause, word) != NULL && err->fix[0] != '\0' && err->code < 0;
}

/* What the driver says of such a queue, both rings as deep. Returns whether it may be. */
static bool
driver_allows(uint32_t depth, uint32_t every)
{
	struct crl_queue_cfg cfg = {.size = sizeof(cfg),
				     .flags = CRL_Q_TX | CRL_Q_RX,
				     .tx_depth = depth,
				     .rx_depth = depth,
				     .signal_every = every},
			     full;
	bool power = (depth & (depth - 1u)) == 0;
	uint32_t most = depth >= 8u ? depth / 4u : 1u;
	struct crl_err err = {0};
	struct crl_ctx ctx;
	int ret;

	memset(&ctx, 0, sizeof(ctx));
	LIST_INIT(&ctx.queues);
	ret = crl_queue_cfg_check(&ctx, &cfg, &full, &err);
	assert_int_equal(ret, power && every <= most ? 0 : -EINVAL);
	if (ret == 0)
		assert_int_equal(full.signal_every, every);
	else if (!power)
		assert_true(says(&err, depth));
	else
		assert_true(says(&err, every) && says(&err, most));
	return ret == 0;
}

static uint32_t nr_allowed, nr_run, nr_refused;

static void
pair(uint32_t depth, uint32_t every, bool equal)
{
	struct rig_cfg cfg = {.log_rx = log2_up(depth), .signal_every = every};
	struct crl_err err = {0};
	int ret;

	cfg.log_tx = equal ? cfg.log_rx : (uint32_t)(rand_next() % 7u);
	cfg.empw = rand_next() & 1u;
	ret = forward(depth, &cfg, &err);
	assert_int_equal(ret, every <= 1u << cfg.log_tx ? 0 : -EINVAL);
	if (ret != 0) {
		assert_true(says(&err, every));
		nr_refused++;
		return;
	}
	if (t.stuck || t.far.wrong != 0 || t.far.back != t.far.total)
		fail_msg("depth %u, a CQE every %u sends, rings of 2^%u and 2^%u, seed state %llx: "
			 "%llu of %llu frames, %u wrong%s",
			depth, every, cfg.log_tx, cfg.log_rx, (unsigned long long)t.rand,
			(unsigned long long)t.far.back, (unsigned long long)t.far.total,
			t.far.wrong, t.stuck ? ", nothing moves" : "");
	nr_run++;
}

static uint32_t step = 1;

static void
every_pair_forwards_or_is_refused(void **state)
{
	uint32_t depth, every, k = 0;

	(void)state;
	for (depth = 1; depth <= MOST; depth++)
		for (every = 1; every <= MOST; every++) {
			bool allowed = driver_allows(depth, every);

			nr_allowed += allowed;
			if (k++ % step != 0 && !allowed)
				continue;
			pair(depth, every, true);
			pair(depth, every, false);
		}
	assert_int_equal(t.rig->reports, 0);
	printf("4096 pairs: the driver allows %u; %u runs forwarded all their frames, %u were "
	       "refused by the engine\n",
		nr_allowed, nr_run, nr_refused);
}

/* Without a CQE for the last send before the bell, four slots wait for an eighth send for ever. */
static void
a_rule_left_out_is_a_standstill(void **state)
{
	struct rig_cfg cfg = {.log_rx = 2, .log_tx = 3, .signal_every = 8};
	struct crl_err err = {0};

	(void)state;
	t.naive = true;
	assert_int_equal(forward(4, &cfg, &err), 0);
	t.naive = false;
	assert_true(t.stuck && t.far.back == 4);
	assert_int_equal(forward(4, &cfg, &err), 0);
	assert_true(!t.stuck && t.far.back == t.far.total);
}

static int
setup(void **state)
{
	const char *seed = getenv("CRL_SEED");

	(void)state;
	t.rand = seed ? strtoull(seed, NULL, 0) : 1;
	t.rig = rig_new(1u << 20, t.rand);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rig_free(t.rig);
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_left_out_is_a_standstill),
		cmocka_unit_test(every_pair_forwards_or_is_refused),
	};

	if (argc > 1)
		step = (uint32_t)strtoul(argv[1], NULL, 10);
	step = step ? step : 1;
	return cmocka_run_group_tests(tests, setup, teardown);
}
