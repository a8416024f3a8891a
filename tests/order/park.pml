/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Park, resume and re-arm (gpu_queues/control.c, engine_loop.h) as a model for spin: a host that asks
 * and lets go as soon as it likes, and a stream that looks now and then, fails, and is mended. Each
 * load and each store of a control word is a step; sequentially consistent, as order is tests/order's
 * subject. Searched through: a host that was told that the stream stands has the queues alone until it
 * lets go of them; and a stream that is asked to stand says so.
 *
 * Words are as in queue.h with N numbers: wishes 0 and 1, number * 2 + wish; answers number + 1.
 * Wrong on purpose, each must be found: NO_NUMBER (as it was before: a word that is 1 while it
 * stands), EARLY (the answer before the last touch), REARM_ALONE (parked() looks at no rearm), N=4 (a
 * host that goes through all numbers while the stream does not look).
 */
#ifndef N
#define N 16
#endif
#ifndef ASKS
#define ASKS 5
#endif

#define RUN 0
#define PARKED 1
#define FAILED 2

byte park, parked, rearm, rearmed; /* the control words */
bool host_has, engine_has;	   /* who touches the queues */

#ifdef NO_NUMBER
#define NEXT(word, wish) (wish)
#define ANSWER(word) 1
#else
#define NEXT(word, wish) ((((word) / 2 + 1) % N) * 2 + (wish))
#define ANSWER(word) ((word) / 2 + 1)
#endif

/* control.c: crl_control_parked() */
inline look_parked()
{
	goes = (rearmed != rearm && park % 2 == 0);
#ifdef REARM_ALONE
	goes = false;
#endif
	stands = (parked == ANSWER(park) && !goes)
}

proctype host()
{
	byte asks;
	bool goes, stands;

	do
	:: asks == ASKS -> break
	:: else ->
		asks++;
		park = NEXT(park, 1);
		if
		:: parked == ANSWER(park) -> /* for ever: an end state that is none */
			look_parked();
			if
			:: stands
			:: else -> goto on
			fi
		:: asks < ASKS -> goto on /* does not wait */
		fi;
		host_has = true;
		assert(!engine_has);
		host_has = false;
on:
		park = NEXT(park, 0);
		do
		:: true -> break
		:: look_parked();
			if
			:: stands -> /* it failed: the host mends it, and lets go of it so */
				host_has = true;
				assert(!engine_has);
				host_has = false;
				rearm = 1 - rearm
			:: else
			fi
		od;
		goes = false;
		stands = false
	od
}

proctype stream()
{
	byte mode, seen, word, want, fails;

	do
	:: true ->
		/* one look */
		word = park;
		want = rearm;
		if
		:: mode == FAILED && want != rearmed && word % 2 == 0 ->
			engine_has = true;
			assert(!host_has);
			engine_has = false;
			mode = RUN;
			parked = 0;
			rearmed = want
		:: mode == RUN && word % 2 == 1 -> mode = PARKED; parked = ANSWER(word)
		:: mode == PARKED && word % 2 == 0 -> mode = RUN; parked = 0
		:: mode != RUN && word != seen && (word % 2 == 1 || want == rearmed) && mode + word % 2 != 1 ->
			parked = ANSWER(word)
		:: else
		fi;
		seen = word;
		word = 0;
		want = 0;
		/* one piece of work */
		if
		:: mode == RUN ->
			engine_has = true;
			assert(!host_has);
#ifdef EARLY
			parked = ANSWER(seen);
#endif
			if
			:: true
			:: fails < 2 -> fails++; mode = FAILED
			fi;
			engine_has = false;
			if
			:: mode == FAILED -> parked = ANSWER(seen)
			:: else
			fi
		:: mode != RUN && park == seen && rearm == rearmed -> /* nothing to see: until there is */
end:			(park != seen || rearm != rearmed)
		:: else
		fi
	od
}

init
{
	atomic { run host(); run stream() }
}
