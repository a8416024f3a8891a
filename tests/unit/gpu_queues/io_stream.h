/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream that forwards from and to one queue of a fake NIC, its turns, and numbered frames. */
#ifndef IO_STREAM_H
#define IO_STREAM_H

#include "fake_nic.h"

#include "gpu_queues/engines/io.h"

static inline void
make_frame(uint8_t *f, uint64_t nr)
{
	memset(f, 0, 64);
	memcpy(f, "DDDDDDSSSSSS", 12);
	memcpy(f + 14, &nr, 8);
}

static inline void
stream_open(struct crl_stream *s, struct fake_nic *n, uint32_t burst)
{
	memset(s, 0, sizeof(*s));
	s->rx = s->tx = &n->q;
	s->ctl = &n->ctl;
	s->tx_lkey = FAKE_LKEY;
	s->burst = burst;
	assert_true(crl_stream_begin(s));
}

/* Turns until what is asked for shows, at most so many. */
static inline enum crl_turn
turn(struct crl_stream *s, uint32_t nr)
{
	enum crl_turn t = CRL_TURN_BUSY;

	while (nr-- > 0 && t != CRL_TURN_LEFT)
		t = crl_fwd_turn(s, crl_io_packet);
	return t;
}

#endif /* IO_STREAM_H */
