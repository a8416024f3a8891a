/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adversary: memory that keeps the ordering contract and nothing more. Where the checker finds
 * two accesses without an order between them, this makes what hardware may make of it come true, by
 * a seed, in the very bytes that the engine and the NIC work on:
 *
 *   a load of what somebody stored without an order to it gets the old bytes or the new, four at a
 *   time; once an actor has seen the new ones it does not see the old ones again
 *   a store over another's, with no order between them, may be undone: the other's lands later
 *   a load that is not ordered before a later store may get what that store will bring: the run is
 *   made again from its seed, and this time the load, known by its number, gets that
 *
 * Code that has an edge wherever the contract wants one never meets any of it. The verdict is that
 * of the data: a frame, WQE, report or count that is wrong (hb_refuse()), or nothing that moves.
 */
#ifndef ORDER_ADV_H
#define ORDER_ADV_H

#include "hb_inside.h"

/* A load that shall get what a later store brings. */
struct adv_foresight {
	uint64_t access; /* hb_accesses at the load; 0: none */
	uint32_t cell, value;
};

extern bool adv_on;
/* Before a run, and again before each further run of the same seed. seen may be NULL. */
void adv_open(uint64_t seed, const struct adv_foresight *seen);
/* Loads of the run so far that a later store could have reached; how many. */
uint32_t adv_foresights(const struct adv_foresight **list);
/* One of two, by the seed. */
bool adv_coin(void);

/* The last announced access has happened: what had to be put back or looked at after it. */
void adv_settle(void);
/* A thread is about to load the cell. loose: the last store to it is not ordered before that. */
void adv_load(uint32_t cell, uint8_t actor, bool loose);
/* What the NIC gets of it. */
uint32_t adv_fetch(uint32_t cell, uint8_t actor, bool loose);
/* Somebody is about to store to it, with clock time. loose: the last store may land later. */
void adv_store(uint32_t cell, uint8_t actor, uint32_t time, bool loose);
/* And reader i of the cell, not ordered before that store, may have been late. */
void adv_late_reader(uint32_t cell, uint32_t i);

#endif /* ORDER_ADV_H */
