/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's side of a running engine: is it alive, did a queue fail, has it left; stop, park,
 * re-arm. Called by the control lcore (drivers/mlx5) or by any loop of a program that embeds the
 * queues. Nothing here waits, starts a thread or calls back. One thread at a time per watch.
 */
#ifndef CRL_CONTROL_H
#define CRL_CONTROL_H

#include "err.h"
#include "queue.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define CRL_WATCH_ERRORS_MAX 4u

/* One engine instance as the host sees it; zero it, set ctl and error[], keep it. */
struct crl_watch {
	struct crl_ctl *ctl;
	struct crl_qerror *error[CRL_WATCH_ERRORS_MAX]; /* mailboxes of its queues, NULL: none */
	uint64_t heartbeat;				/* as last seen */
	uint64_t since_ns;				/* when it last moved */
	uint8_t stalled;				/* CRL_NOTE_STALLED was given */
	uint8_t left;					/* CRL_NOTE_LEFT was given */
};

enum crl_note_type {
	CRL_NOTE_ERROR,	  /* a queue failed; err has all there is */
	CRL_NOTE_STALLED, /* no heartbeat for stall_ns */
	CRL_NOTE_ALIVE,	  /* a heartbeat again after CRL_NOTE_STALLED */
	CRL_NOTE_LEFT,	  /* the engine left its loop */
};

struct crl_note {
	enum crl_note_type type;
	uint32_t watch; /* index of the watch */
	struct crl_err err;
};

/*
 * One look at nr engines. now_ns: crl_now_ns(). Returns how many notes were given, up to max; what
 * did not fit is given by the next call. Taking an error empties its mailbox.
 */
int crl_control_step(struct crl_watch *watch, uint32_t nr, uint64_t now_ns, uint64_t stall_ns,
	struct crl_note *note, int max);

/* Empties one mailbox into err; false: it was empty. NULL is empty. */
bool crl_control_take(struct crl_qerror *error, struct crl_err *err);

/*
 * Ask; the engine obeys within some turns: ctl->done and parked() tell. parked(): it stands, has
 * seen the last park(), and will not go on before the next park(false) or rearm(). A failed one
 * stands whether or not it was asked to.
 */
void crl_control_stop(struct crl_watch *watch);
void crl_control_park(struct crl_watch *watch, bool park);
bool crl_control_parked(const struct crl_watch *watch);

/*
 * After the host reset the failed queues: the NIC's object to RST, the queue's own doorbell record
 * zeroed, the object to RDY. CQ, its memory and its record are left alone, as the NIC goes on where
 * it was in them. The engine then begins again, if it is parked as well after park(false).
 * -EAGAIN: it does not stand still yet. -EBUSY: an error has not been taken from its mailbox.
 * rearmed() and parked() both: its send queue, which had not failed, did in the meantime. Take that
 * error, reset all failed queues, and re-arm again.
 */
int crl_control_rearm(struct crl_watch *watch);
bool crl_control_rearmed(const struct crl_watch *watch);

/* ---- Counters (stats.c) ---- */

/* A copy of counters that an engine is writing, each whole. */
void crl_stats_read(const struct crl_qstats *shared, struct crl_qstats *out);
/*
 * sum += a; and out = now - before, for rates. Index copies are not added but taken from a / now;
 * shortest and longest round trip are those of both, and in out those of now.
 */
void crl_stats_add(struct crl_qstats *sum, const struct crl_qstats *a);
void crl_stats_diff(
	const struct crl_qstats *now, const struct crl_qstats *before, struct crl_qstats *out);

#if defined(__cplusplus)
}
#endif

#endif /* CRL_CONTROL_H */
