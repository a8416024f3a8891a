/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One look at running engines, and the words with which the host steers them. Host code, called
 * from the control loop; nothing waits here. The engine's half is engine_loop.h.
 */
#include <errno.h>
#include <string.h>

#include "control.h"
#include "mem.h"
#include "order.h"

bool
crl_control_take(struct crl_qerror *e, struct crl_err *err)
{
	struct crl_qerror copy;

	if (!e || crl_ld32(&e->seq) == 0)
		return false;
	crl_order_seq_before_error(); /* pairs with the engine's fill before it stored seq */
	crl_copy32(&copy, e, sizeof(copy));
	crl_order_work_before_word(); /* pairs with the engine's next fill after it saw seq 0 */
	crl_st32(&e->seq, 0);
	crl_err_from_qerror(err, &copy);
	return true;
}

/* Whether the heartbeat's state changed; a note then. */
static bool
check_heartbeat(struct crl_watch *w, uint64_t now_ns, uint64_t stall_ns, struct crl_note *note)
{
	uint64_t beat = crl_ld64(&w->ctl->heartbeat);

	uint32_t park = crl_ld32(&w->ctl->park);

	if ((park & CRL_PARK_WISH) == CRL_PARK_LEAVE &&
		crl_ld32(&w->ctl->parked) == crl_park_answer(park))
		w->since_ns = now_ns; /* nobody is there to raise it */
	if (beat != w->heartbeat || w->since_ns == 0) {
		w->heartbeat = beat;
		w->since_ns = now_ns;
		if (!w->stalled)
			return false;
		w->stalled = 0;
		note->type = CRL_NOTE_ALIVE;
		crl_err_set(&note->err, 0, "watch engine", NULL, "its heartbeat rises again");
		return true;
	}
	if (w->stalled || now_ns - w->since_ns < stall_ns)
		return false;
	w->stalled = 1;
	note->type = CRL_NOTE_STALLED;
	crl_err_set(&note->err, -ETIMEDOUT, "watch engine",
		"see whether its thread or kernel still runs", "no heartbeat for %llu ms",
		(unsigned long long)((now_ns - w->since_ns) / 1000000u));
	return true;
}

static bool
check_left(struct crl_watch *w, struct crl_note *note)
{
	if (w->left || crl_ld32(&w->ctl->done) == 0)
		return false;
	crl_order_seq_before_error(); /* pairs with the engine's last touch of its queues before it
					 left */
	w->left = 1;
	note->type = CRL_NOTE_LEFT;
	crl_err_set(&note->err, 0, "watch engine", NULL, "it left its loop");
	return true;
}

int
crl_control_step(struct crl_watch *watch, uint32_t nr, uint64_t now_ns, uint64_t stall_ns,
	struct crl_note *note, int max)
{
	uint32_t i, k;
	int n = 0;

	for (i = 0; i < nr; i++) {
		for (k = 0; k < CRL_WATCH_ERRORS_MAX && n < max; k++) {
			if (!crl_control_take(watch[i].error[k], &note[n].err))
				continue;
			note[n].type = CRL_NOTE_ERROR;
			note[n++].watch = i;
		}
		if (n < max && check_left(&watch[i], &note[n]))
			note[n++].watch = i;
		if (n < max && !watch[i].left &&
			check_heartbeat(&watch[i], now_ns, stall_ns, &note[n]))
			note[n++].watch = i;
	}
	return n;
}

void
crl_control_stop(struct crl_watch *watch)
{
	crl_st32(&watch->ctl->stop, 1);
}

void
crl_control_park(struct crl_watch *watch, bool park)
{
	uint32_t next =
		crl_park_next(crl_ld32(&watch->ctl->park), park ? CRL_PARK_STAND : CRL_PARK_NOT);

	if (!park)
		crl_order_work_before_word(); /* pairs with the engine's use of the queues after it
						 saw park gone: the host may have touched them */
	crl_st32(&watch->ctl->park, next);
}

bool
crl_control_parked(const struct crl_watch *watch)
{
	uint32_t park = crl_ld32(&watch->ctl->park);
	bool goes = !crl_control_rearmed(watch) && (park & CRL_PARK_WISH) == CRL_PARK_NOT;
	bool parked = crl_ld32(&watch->ctl->parked) == crl_park_answer(park) && !goes;

	crl_order_seq_before_error(); /* pairs with the engine's last touch of its queues before it
					 parked */
	return parked;
}

int
crl_control_rearm(struct crl_watch *watch)
{
	uint32_t k, next;

	if (!crl_control_parked(watch))
		return -EAGAIN;
	for (k = 0; k < CRL_WATCH_ERRORS_MAX; k++) {
		if (watch->error[k] && crl_ld32(&watch->error[k]->seq) != 0)
			return -EBUSY;
	}
	next = crl_ld32(&watch->ctl->rearm) + 1u;
	crl_order_work_before_word(); /* pairs with the engine's use of the queues after it saw
					 rearm */
	crl_st32(&watch->ctl->rearm, next);
	return 0;
}

bool
crl_control_rearmed(const struct crl_watch *watch)
{
	bool rearmed = crl_ld32(&watch->ctl->rearmed) == crl_ld32(&watch->ctl->rearm);

	crl_order_seq_before_error(); /* pairs with the engine's store of parked before it */
	return rearmed;
}
