/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Around an engine's iteration: control words, heartbeat, error and stop. The runners
 * (run_threads.c, run_cuda.cu) call an engine's turn function without end; it calls
 * crl_stream_look() and, when that says so, its own work. An iteration is bounded, so that a stop
 * is seen soon whatever the NIC does.
 *
 * A stream leaves only after its sends completed or CRL_DRAIN_NS_MAX passed: the host frees memory
 * next. A failed stream stands still with parked set, heartbeat rising, until the host stops or
 * re-arms it; a parked one, also one that failed, until the host lets it go on.
 */
#ifndef CRL_ENGINE_LOOP_H
#define CRL_ENGINE_LOOP_H

#include "stream.h"

CRL_FN void
crl_stream_set_parked(struct crl_stream *s)
{
	crl_order_work_before_word(); /* pairs with the host's touch of the queues after it saw the
					 word */
	crl_st32(&s->ctl->parked, crl_park_answer(s->park));
}

/* Stands still, with all that it counted told: a glance comes between two looks that tell it. */
CRL_FN void
crl_stream_stand(struct crl_stream *s, uint32_t mode)
{
	s->mode = mode;
	crl_stream_publish(s);
	crl_stream_set_parked(s);
}

/*
 * The host mended the queues that had failed. Sends that hold slots of a receive queue must be over
 * before its indices begin anew; those of a failed send queue are, as the host has reset it. Until
 * then rearmed does not follow rearm. A send queue that fails in this wait was not mended: rearmed
 * follows, parked stays, and the host has another error to take.
 */
CRL_FN void
crl_stream_obey_rearm(struct crl_stream *s, uint32_t rearm)
{
	if (s->tx && s->tx->sq.state != CRL_QS_FAILED) {
		crl_stream_reap(s);
		crl_rq_refill(NULL, &s->tx->sq); /* the next sends' CQEs need the room */
		if (!crl_stream_drained(s))
			return;
		if (s->tx->sq.state == CRL_QS_FAILED) {
			crl_stream_stand(s, CRL_MODE_FAILED);
			goto answer;
		}
	}
	crl_stream_rearm(s);
	s->mode = CRL_MODE_RUN;
	crl_st32(&s->ctl->parked, 0);
answer:
	s->rearmed = rearm;
	crl_order_work_before_word(); /* pairs with the host's look at parked after it saw rearmed
				       */
	crl_st32(&s->ctl->rearmed, rearm);
}

/* Standing still: the queues are the host's, and not even their books are read. */
CRL_FN bool
crl_stream_stands(const struct crl_stream *s)
{
	return s->mode == CRL_MODE_PARKED || s->mode == CRL_MODE_FAILED;
}

/* What the host wants. Who is told to leave has nothing more to see. */
CRL_FN void
crl_stream_obey(struct crl_stream *s)
{
	uint32_t stop = crl_ld32(&s->ctl->stop), park = crl_ld32(&s->ctl->park);
	uint32_t rearm = crl_ld32(&s->ctl->rearm), wish = park & CRL_PARK_WISH;
	bool anew = park != s->park;

	s->park = park;
	if (s->mode == CRL_MODE_RUN && !stop && wish == CRL_PARK_NOT)
		return;		      /* as ever: nothing was handed over */
	crl_order_seq_before_error(); /* pairs with the host's set-up of queues before it raised
					 rearm, took park back or said stop */
	if (stop) {
		s->mode = CRL_MODE_STOPPING;
		s->deadline_ns = crl_now_ns() + CRL_DRAIN_NS_MAX;
		crl_st32(&s->ctl->stopping, 1);
		return;
	}
	if (s->mode == CRL_MODE_FAILED && rearm != s->rearmed && wish == CRL_PARK_NOT) {
		crl_stream_obey_rearm(s, rearm);
	} else if (s->mode == CRL_MODE_RUN && wish != CRL_PARK_NOT) {
		crl_stream_stand(s, CRL_MODE_PARKED);
	} else if (s->mode == CRL_MODE_PARKED && wish == CRL_PARK_NOT) {
		s->mode = CRL_MODE_RUN;
		crl_st32(&s->ctl->parked, 0); /* hands nothing over: no edge */
	} else if (anew && crl_stream_stands(s)) {
		crl_stream_set_parked(s);
	}
}

/* Waits for sends in flight, a bounded step at a time; true when there is no more to wait for. */
CRL_FN bool
crl_stream_drain(struct crl_stream *s)
{
	if (s->tx)
		crl_stream_reap(s);
	crl_rq_refill(s->rx ? &s->rx->rq : NULL, s->tx ? &s->tx->sq : NULL);
	return crl_stream_drained(s) || crl_now_ns() > s->deadline_ns;
}

CRL_FN enum crl_turn
crl_stream_leave(struct crl_stream *s)
{
	s->mode = CRL_MODE_LEFT;
	crl_stream_publish(s);
	crl_order_work_before_word(); /* pairs with the host's freeing of what it saw us leave */
	crl_st32(&s->ctl->done, 1);
	return CRL_TURN_LEFT;
}

/* Whether it is time to look: now and then while work goes on, at every turn otherwise. */
CRL_FN bool
crl_stream_look_due(struct crl_stream *s)
{
	uint64_t packets = s->rxc.packets + s->txc.packets;
	uint64_t bytes = s->rxc.bytes + s->txc.bytes;

	if ((s->turns++ & (s->look_every - 1u)) != 0 && s->mode == CRL_MODE_RUN &&
		packets < s->look_packets && bytes < s->look_bytes)
		return false;
	s->look_packets = packets + s->look_step;
	s->look_bytes = bytes + CRL_LOOK_BYTES;
	return true;
}

/*
 * Between two looks, a look at the words alone: turns, packets and bytes say little of the time
 * that they take where a thousand warps share a memory. Where a clock costs next to nothing.
 */
CRL_FN bool
crl_stream_glance_due(struct crl_stream *s)
{
	uint64_t ticks = crl_ticks();

	if (ticks - s->glanced < CRL_GLANCE_TICKS)
		return false;
	s->glanced = ticks;
	return s->mode == CRL_MODE_RUN;
}

/*
 * Before each iteration. *run: do the work. Otherwise the return value is the turn's.
 */
CRL_FN enum crl_turn
crl_stream_look(struct crl_stream *s, bool *run)
{
	*run = false;
	if (crl_stream_look_due(s)) {
		crl_st64(&s->ctl->heartbeat, s->turns);
		if (!crl_stream_stands(s) && s->mode != CRL_MODE_STOPPING)
			crl_stream_publish(s);
		if (s->mode != CRL_MODE_STOPPING)
			crl_stream_obey(s);
	} else if (crl_stream_glance_due(s)) {
		crl_stream_obey(s);
	}
	if (s->mode == CRL_MODE_RUN && crl_stream_failed(s)) {
		s->mode = CRL_MODE_FAILING;
		s->deadline_ns = crl_now_ns() + CRL_DRAIN_NS_MAX;
	}
	if (s->mode == CRL_MODE_FAILING && crl_stream_drain(s))
		crl_stream_stand(s, CRL_MODE_FAILED);
	if (s->mode == CRL_MODE_STOPPING && crl_stream_drain(s))
		return crl_stream_leave(s);
	*run = s->mode == CRL_MODE_RUN;
	return CRL_TURN_IDLE;
}

/* The host wants the processor of a stream that stands: the runner may end, and begin again later.
 */
CRL_FN bool
crl_stream_is_out(const struct crl_stream *s)
{
	return crl_stream_stands(s) && (s->park & CRL_PARK_WISH) == CRL_PARK_LEAVE;
}

/*
 * First act of a runner, the first of a stream or one after a runner that let go of the processor.
 * False: the queues were filled by a host with another ABI, which the mailbox says, and the stream
 * must not be turned.
 */
CRL_FN bool
crl_stream_begin(struct crl_stream *s)
{
	struct crl_queue_dev *q = s->rx && s->rx->abi != CRL_DEV_ABI ? s->rx : s->tx;

	crl_st32(&s->ctl->abi, CRL_DEV_ABI);
	s->park = 0; /* a runner before may have been told to leave; this one looks */
	if (!q || q->abi == CRL_DEV_ABI)
		return true;
	crl_qerror_put(q->error, CRL_QERR_ABI, q == s->rx, 0, q->abi, NULL, NULL);
	s->mode = CRL_MODE_LEFT;
	crl_order_work_before_word(); /* pairs with the host's read of the mailbox */
	crl_st32(&s->ctl->done, 1);
	return false;
}

#endif /* CRL_ENGINE_LOOP_H */
