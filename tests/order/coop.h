/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of the checking build: coroutines in one thread, so that a run is the same for the same
 * seed, and nothing happens between a hook and the access it announces. pthread_create(),
 * pthread_join(), nanosleep() and sched_yield() of the code under test come here (the linker's
 * --wrap).
 */
#ifndef COOP_H
#define COOP_H

#include <stdbool.h>
#include <stdint.h>

void sched_open(uint64_t seed);
void sched_close(void); /* all coroutines but the caller's must have ended or are thrown away */
/* A coroutine for an actor; it ends when fn returns. Returns its number. */
int sched_new(uint8_t actor, void *(*fn)(void *arg), void *arg);
bool sched_done(int co);
void sched_hold(bool hold); /* hooks let nobody else run meanwhile: for one access seen as two */
void sched_point(void);	    /* a hook: may let another run */
void sched_let_go(void);    /* certainly lets another run, if there is one */
uint64_t sched_random(void);

#endif /* COOP_H */
