// SPDX-License-Identifier: BSD-3-Clause
/*
 * --tx-first: an engine that receives, with a burst of txonly's frames sent before its first turn,
 * so that something goes round. Runs in an engine's thread; the frames' completions free nothing
 * and are taken by the engine's own turns.
 */
#include "app.h"

#include "gpu_queues/engines/txonly.h"

static const struct crl_engine *inner;

static enum crl_turn
first_turn(struct crl_stream *s)
{
	bool run;

	if (s->tx_slots != 0)
		return inner->turn(s);
	/* Nothing is sent by a stream that is to stand still or to leave. */
	enum crl_turn turn = crl_stream_look(s, &run);

	if (!run)
		return turn;
	if (crl_txonly_begin(s) == CRL_OK) {
		s->tx_left = s->burst;
		crl_txonly_burst(s);
	}
	if (s->tx_slots == 0)
		s->tx_slots = 1; /* it cannot be done: not again at each turn */
	return CRL_TURN_BUSY;
}

static int
check(const struct crl_stream *s, struct crl_err *err)
{
	return inner->check != NULL ? inner->check(s, err) : 0;
}

const struct crl_engine *
crl_tp_tx_first(const struct crl_engine *engine)
{
	static struct crl_engine first;

	inner = engine;
	first = *engine;
	first.turn = first_turn;
	first.check = check;
	return &first;
}
