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
#ifndef D
#define D 4
#endif
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
		/* One step: whatever the NIC does meanwhile it might as well have done before. */
		d_step {
			do
			:: at < upto && at < done ->
				assert(slot[at % D] == SENT);
				slot[at % D] = FREE;
				at++
			:: else -> break
			od;
			assert(at >= completed);
			completed = at
		}
#ifndef EARLY_ROOM
		ci = completed;
#endif
		d_step { poller = false; upto = 0; at = 0; got = false } /* what is dead is 0: fewer states */
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
			:: d_step { c > p -> p = 0; c = 0 } /* an old ticket */
#ifndef NO_ROOM
			:: d_step { c <= p && p - c + n > D -> p = 0; c = 0 } -> poll()
			:: d_step { c <= p && p - c + n <= D -> c = 0 } ->
#else
			:: d_step { c <= p -> c = 0 } ->
#endif
				d_step {
					in = (ticket == p);
					if
					:: in -> ticket = p + n
					:: else -> p = 0
					fi
				};
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
		/* One step: nobody looks at these slots before rung says so, or it is found here. */
		d_step {
			i = 0;
			do
			:: i == n -> break
			:: else ->
				assert(slot[(p + i) % D] == FREE);
				slot[(p + i) % D] = WRITTEN;
				i++
			od;
			i = 0
		}
		if
		:: failed
		:: !failed -> rung = p + n
		fi;
		d_step { turn = p + n; k++; p = 0; n = 0; in = false }
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
