/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The forwarding loop where numbers are at their ends: rings of one entry and of the most there may
 * be, bursts of one and of the most, indices that pass 2^16 (the wire's), 2^24 (a CQ's record),
 * 2^32 and 2^55 (a cookie's), CQs of every kind; and a WQE that fails at each place of a burst.
 * Every frame has its number: none is lost, doubled or out of order.
 */
#include "fake_nic.h"

#include "gpu_queues/engines/io.h"

#define STRIDE 128u

static const uint64_t base[] = {0, (1ull << 16) - 3u, (1ull << 24) - 3u, (1ull << 32) - 3u,
	(1ull << 55) - 3u};

static struct {
	uint64_t next;
	uint32_t len;
} seen;

static void
sink(void *arg, const uint8_t *frame, uint32_t len)
{
	uint64_t nr;

	(void)arg;
	memcpy(&nr, frame + 14, sizeof(nr));
	assert_int_equal(len, seen.len);
	assert_true(nr == seen.next++);
}

static bool
feed(struct fake_nic *n, uint64_t nr)
{
	uint8_t f[STRIDE];

	memset(f, 0xab, sizeof(f));
	memcpy(f + 14, &nr, sizeof(nr));
	return fake_receive(n, f, seen.len);
}

/* A queue pair that has worked for so long, and a stream on it. */
static void
open_at(struct fake_nic *n, struct crl_stream *s, uint32_t log_sq, uint32_t log_rq, uint64_t at)
{
	struct crl_sq *sq = &n->q.sq;
	struct crl_rq *rq = &n->q.rq;

	sq->pi = sq->posted = sq->rung = sq->completed = sq->ci = sq->signalled = at;
	sq->cq.ci = sq->cq.ci_told = n->scq_pi = n->sq_at = n->sq_told = at;
	rq->pi = rq->pi_told = rq->ci = rq->cq.ci = rq->cq.ci_told = at;
	n->rcq_pi = n->rq_at = at;
	n->sq_rec[CRL_DBREC_SND_WORD] = crl_to_be32(crl_index16(at));
	n->rq_rec[CRL_DBREC_RCV_WORD] = crl_to_be32(crl_index16(at));
	n->scq_rec[CRL_DBREC_CQ_CI] = n->rcq_rec[CRL_DBREC_CQ_CI] = crl_to_be32(crl_index24(at));
	sq->signal_every = crl_signal_every(0, log_rq, log_sq);
	n->sink = sink;
	memset(&seen, 0, sizeof(seen));
	memset(s, 0, sizeof(*s));
	s->rx = s->tx = &n->q;
	s->ctl = &n->ctl;
	s->tx_lkey = FAKE_LKEY;
	assert_true(crl_stream_begin(s));
}

static void
forward(struct fake_nic *n, struct crl_stream *s, uint32_t total)
{
	uint64_t fed = 0, turns;

	for (turns = 0; turns < 40u * total && n->frames < total; turns++) {
		while (fed < total && feed(n, fed))
			fed++;
		crl_fwd_turn(s, crl_io_packet);
		fake_doorbell(n);
		fake_send(n, 1u + turns % 7u);
	}
	assert_int_equal(n->frames, total);
	assert_int_equal(n->error[0].seq + n->error[1].seq, 0);
	for (turns = 0; turns < 200u && !crl_stream_drained(s); turns++)
		crl_fwd_turn(s, crl_io_packet);
	assert_true(crl_stream_drained(s));
	assert_true(s->rxc.packets == total && s->txc.packets == total);
	assert_int_equal(s->txc.errors + s->txc.dropped + s->rxc.dropped, 0);
}

/* form: SENDs; multi-packet ones; those with frames in them. */
static void
one(uint32_t log_sq, uint32_t log_rq, uint32_t form, uint32_t burst, uint64_t at, uint32_t cq)
{
	struct crl_stream s;
	struct fake_nic n;

	if (log_sq == 0 && form == 2)
		form = 1; /* two WQEBBs: crl_engine_start() refuses it */
	fake_open(&n, log_sq, log_rq, STRIDE, form != 0);
	n.q.sq.cq.flags = cq;
	n.q.rq.cq.flags = cq & CRL_CQ_OVERRUN_IGNORE;
	n.q.sq.inline_max = form == 2 ? 60 : 0;
	open_at(&n, &s, log_sq, log_rq, at);
	s.burst = burst;
	seen.len = form == 2 ? 48 : 64;
	forward(&n, &s, log_sq > 8 || log_rq > 8 ? 300 : (4u << log_rq) + 20u);
	fake_close(&n);
}

static void
sizes(void **state)
{
	static const uint32_t bursts[] = {1, 3, CRL_BURST_MAX};
	static const uint32_t flags[] = {0, CRL_CQ_COLLAPSED, CRL_CQ_OVERRUN_IGNORE};

	(void)state;
	for (uint32_t log = 0; log <= 5; log++)
		for (uint32_t i = 0; i < 5u * 3u * 3u * 3u; i++) {
			uint32_t form = i / 9u % 3u, burst = bursts[i % 3u];
			uint32_t cq = flags[i / 3u % 3u];

			one(log, log, form, burst, base[i / 27u], cq);
			one(log, 5u - log, form, burst, base[i / 27u], cq);
		}
}

static void
largest(void **state)
{
	const uint32_t log = 15;

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		one(log, log, i % 3u, CRL_BURST_MAX, base[i], i % 2u ? CRL_CQ_COLLAPSED : 0);
		one(0, log, 0, CRL_BURST_MAX, base[i], 0);
		one(log, 0, 1, CRL_BURST_MAX, base[i], 0);
	}
}

/* WQE number k fails; all before it were sent, it and those behind it were not. */
static void
fails(uint32_t log, uint32_t burst, uint64_t at, uint32_t k)
{
	uint64_t fed = 0, turns;
	struct crl_stream s;
	struct fake_nic n;

	fake_open(&n, log, log, STRIDE, false);
	open_at(&n, &s, log, log, at);
	s.burst = burst;
	seen.len = 64;
	n.fail_at = at + k;
	for (turns = 0; turns < 1000u && s.mode != CRL_MODE_FAILED; turns++) {
		while (feed(&n, fed))
			fed++;
		crl_fwd_turn(&s, crl_io_packet);
		if (turns % 3u == 2u || s.mode != CRL_MODE_RUN) {
			fake_doorbell(&n);
			fake_send(&n, 64);
		}
	}
	assert_int_equal(s.mode, CRL_MODE_FAILED);
	assert_int_equal(n.frames, k);
	assert_int_equal(n.error[0].seq, 1);
	assert_int_equal(n.error[0].wqe, crl_index16(at + k));
	assert_int_equal(n.error[0].syndrome, CRL_SYND_LOCAL_PROT);
	assert_int_equal(n.error[0].wqe_bytes[1] << 8 | n.error[0].wqe_bytes[2],
		crl_index16(at + k));
	assert_int_equal(s.txc.completions, k);
	assert_true(s.txc.errors == s.txc.packets - k && s.txc.errors > 0);
	assert_true(n.q.sq.ci == n.q.sq.posted && n.q.sq.posted == at + s.txc.packets);
	fake_close(&n);
}

static void
failures(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		for (uint32_t log = 0; log <= 4; log++)
			for (uint32_t k = 0; k < (2u << log) + 3u; k++) {
				fails(log, 1, base[i], k);
				fails(log, CRL_BURST_MAX, base[i], k);
			}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(largest),
		cmocka_unit_test(failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
