/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpu_queues/sq_share.h as a model for spin: P producers of M ranges of one or two WQEBBs on a ring
 * of D, a NIC, and whoever finds nobody else polling. Steps are those of the code: each load, each
 * compare and swap, each store of a shared word by itself; sequentially consistent, as order is
 * tests/order's subject. Searched through: no slot is written before it is free or sent before it
 * is written, each is sent once, in the order of tickets, nobody waits for ever.
 *
 * GONE: producer 0 vanishes with its first range; the others must all come to an end.
 * Wrong on purpose, each must be found: NO_ROOM, NO_TURN, EARLY_ROOM, TWO_POLLERS, NO_FAIL (with GONE).
 */
#ifndef P
#define P 3
#endif
#ifndef M
#define M 2
#endif
#define D 4
#define ALL 16 /* more than all WQEBBs there can be */

#define FREE 0
#define WRITTEN 1
#define SENT 2

byte ticket, turn, rung, done, ci, completed, over;
byte slot[D];
bool poller, failed;
byte gone;

inline poll()
{
	d_step { got = !poller; poller = true }
#ifdef TWO_POLLERS
	got = true;
#endif
	if
	:: got ->
		upto = turn;
		at = completed;
#ifdef EARLY_ROOM
		ci = upto;
#endif
		do
		:: at < upto && at < done ->
			assert(slot[at % D] == SENT);
			slot[at % D] = FREE;
			at++
		:: else -> break
		od;
		assert(at >= completed);
		completed = at;
#ifndef EARLY_ROOM
		ci = completed;
#endif
		poller = false
	:: else
	fi
}

proctype producer(byte me)
{
	byte p, c, n, k, i, upto, at;
	bool got, in;

	k = 0;
	do
	:: k == M -> break
	:: else ->
		if
		:: n = 1
		:: n = 2
		fi;
		in = false;
		do
		:: failed -> goto end
		:: else ->
			p = ticket;
			c = ci;
			if
			:: c > p /* an old ticket */
#ifndef NO_ROOM
			:: c <= p && p - c + n > D -> poll()
			:: c <= p && p - c + n <= D ->
#else
			:: c <= p ->
#endif
				d_step { in = (ticket == p); if :: in -> ticket = p + n :: else fi };
				if
				:: in -> break
				:: else
				fi
			fi
		od;
#ifdef GONE
		if
		:: me == 0 -> gone = 1; goto end
		:: else
		fi;
#endif
#ifndef NO_TURN
		if
		:: turn == p
		:: failed -> goto end
#ifndef NO_FAIL
		:: timeout -> failed = true; goto end
#endif
		fi;
#endif
		i = 0;
		do
		:: i == n -> break
		:: else ->
			assert(slot[(p + i) % D] == FREE);
			slot[(p + i) % D] = WRITTEN;
			i++
		od;
		if
		:: failed
		:: !failed -> rung = p + n
		fi;
		turn = p + n;
		k++
	od;
end:	over++
}

proctype nic()
{
end_nic: /* it may stand here for ever */
	do
	:: done < rung ->
		assert(slot[done % D] == WRITTEN);
		slot[done % D] = SENT;
		done++
	od
}

init
{
	byte upto, at, i;
	bool got;

	atomic {
		run nic();
		i = 0;
		do
		:: i == P -> break
		:: else -> run producer(i); i++
		od
	}
	over == P;
	if
	:: failed || gone
	:: else ->
		done == ticket;
		poll();
		assert(ci == ticket && turn == ticket && rung == ticket)
	fi
}
