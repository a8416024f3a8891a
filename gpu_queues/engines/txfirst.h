/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first burst of an engine that forwards: with opts.tx_first set, a burst of txonly's frames is
 * sent before the engine's own first turn, so that something goes round on a wire that leads back.
 * The frames' completions free nothing and are taken by the engine's own turns.
 */
#ifndef CRL_ENGINE_TXFIRST_H
#define CRL_ENGINE_TXFIRST_H

#include "txonly.h"

/* Whether the stream's next turn is crl_txfirst_turn(): once, before all others. */
CRL_FN bool
crl_txfirst_due(const struct crl_stream *s)
{
	return s->opts.tx_first != 0 && s->tx && s->tx_slots == 0;
}

/* Slots are given to the NIC first: what comes back would find none. */
CRL_FN enum crl_turn
crl_txfirst_turn(struct crl_stream *s)
{
	enum crl_turn turn;
	bool run;

	turn = crl_stream_look(s, &run);
	if (!run)
		return turn; /* nothing is sent by a stream that is to stand still or to leave */
	crl_rq_refill(s->rx ? &s->rx->rq : NULL, &s->tx->sq);
	if (crl_txonly_begin(s) == CRL_OK) {
		s->tx_left = s->burst;
		crl_txonly_burst(s);
	}
	if (s->tx_slots == 0)
		s->tx_slots = 1; /* it cannot be done: not again at each turn */
	return CRL_TURN_BUSY;
}

#endif /* CRL_ENGINE_TXFIRST_H */
