/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The happens-before checker: a race detector in which the NIC is a party and an ordering edge is
 * known by its name. The device headers and engines are compiled once more with the compiler's hook
 * at each memory access (hb_tsan.c) and an order.h whose functions call hb_edge(); the NIC (nic.c)
 * reports its own accesses. An access that is not ordered after the one it depends on is an
 * objection: address, both accesses with their source lines, and the name of the edge that is
 * missing.
 *
 * Ordering is kept in vector clocks. An actor's own time rises at each of its edges. front[E] is
 * what was ordered before its last edge E. A word (record, register, control word) carries its
 * writer's front of the one edge that must stand before such a word; who reads the word has that
 * only after the edge that must stand behind such a read. So two edges exchanged are as wrong as
 * one missing, and no other fence makes up for it.
 *
 * All actors are coroutines of one thread (coop.c) that change at hooks only, chosen by a seed: a
 * hook fires before its access, and nobody runs between the two.
 */
#ifndef HB_H
#define HB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hb_edges.h"

#define HB_ACTORS 24u
#define HB_NONE	  255u

struct hb_vc {
	uint32_t t[HB_ACTORS];
};

/* By actor: the edge for want of which its time is seen and yet not ordered. */
struct hb_via {
	uint8_t edge[HB_ACTORS];
};

/* What memory is for, which says how an access to it is judged. */
enum hb_kind {
	HB_DATA, /* no two actors without an order between them */
	HB_WQE,	 /* the same; a store remembers the payload edge it follows */
	HB_CQE, /* the same, but for the last four bytes of an entry, where the NIC is waited for */
	HB_WORD,    /* nothing but words, each of which hb_word_new() names */
	HB_RELAXED, /* counters that may be read at any time */
};

/* A word and the last store to it. */
struct hb_word {
	const char *name;
	uint8_t *at;
	uint8_t rel, rel_host; /* the edge before a store, by an engine and by the host */
	uint8_t acq;	       /* the edge after a load; HB_NR_EDGES: none, it carries nothing on */
	uint8_t writer;	       /* actor, HB_NONE: nobody yet */
	uint8_t heard;	       /* somebody loaded what the last store left: it has landed */
	uint32_t time, pc;
	uint32_t value;	    /* of a copy: what the NIC read when it took it */
	uint32_t old;	    /* what stood there before the last store */
	struct hb_vc front; /* what the edge before the store ordered */
	struct hb_vc now;   /* what was ordered before the store itself */
	struct hb_vc seen;  /* what the writer had seen, edges or not */
	struct hb_via via;
};

/* A CQ: how the checker tells a look at an entry that is there from one that is not yet. */
struct hb_cq {
	uint8_t *ring;
	const uint64_t *ci;    /* the consumer's index */
	uint64_t *wrote;       /* [depth] index after the entry last written to this slot */
	struct hb_word *entry; /* [depth] the NIC's clocks when it wrote that */
	uint32_t entries;
	uint8_t actor; /* the side of the NIC that writes it */
	uint8_t acq;   /* the edge after a look that found an entry */
};

/* ---- Setting up (hb.c) ---- */
void hb_open(void);
void hb_close(void);
/* Zeroed memory whose accesses are judged; aligned to 64. Lives until hb_close(). */
void *hb_alloc(enum hb_kind kind, size_t bytes, const char *name);
/* Of the memory that hb_alloc() returned as p; 0: none of its. */
size_t hb_region_bytes(const void *p);
uint8_t hb_actor_new(const char *name);
struct hb_word *hb_word_new(void *at, const char *name, uint8_t rel, uint8_t rel_host, uint8_t acq);
struct hb_cq *hb_cq_new(
	void *ring, uint32_t entries, const uint64_t *ci, uint8_t actor, uint8_t acq);
/* An edge that is not carried out, and two that stand in each other's place. */
void hb_drop(enum hb_edge edge);
void hb_swap(enum hb_edge a, enum hb_edge b);
/* The same for an edge at one place of the program only; 0: nowhere. And who wants to know places.
 */
extern uint32_t hb_dropped_place;
extern void (*hb_edge_passed)(enum hb_edge edge, uint32_t pc);
int hb_edge_find(const char *name);
extern const char *const hb_edge_name[HB_NR_EDGES + 1u];

/* ---- What happens ---- */
void hb_access(void *p, size_t n, bool write, bool whole, void *pc); /* by the running thread */
extern uint8_t hb_self;						     /* the running actor */
/* The store that hb_access() announces is an atomic operation's: what the word told before it, it
 * tells still (a release sequence). */
extern bool hb_rmw;
extern uint64_t hb_accesses;
void hb_fork(uint8_t parent, uint8_t child);
void hb_join(uint8_t parent, uint8_t child);

/*
 * The NIC's accesses: pc is one of HB_OP_*. auth: what is ordered before them, by edge; known: what
 * the actor who gave the authority knew, told, for the name of the missing edge; by: that actor.
 */
enum hb_op { HB_OP_NONE, HB_OP_WQE, HB_OP_PAYLOAD, HB_OP_FRAME, HB_OP_CQE, HB_OP_HOST, HB_OP_NR };
struct hb_auth {
	const struct hb_vc *order, *known;
	uint8_t edge, by;
};
/* Into to: what the NIC gets, which is what stands there, or what adv.h makes of it. */
void hb_nic_read(uint8_t actor, void *to, const void *p, size_t n, enum hb_op op,
	const struct hb_auth *auth);
void hb_nic_write(uint8_t actor, void *p, size_t n, enum hb_op op, const struct hb_auth *auth);
/* The authority for the payload of the WQE segment at seg: its writer's last payload edge. */
struct hb_auth hb_payload_auth(const void *seg);
/* The NIC wrote entry index of cq; the next store of the running actor follows at once. */
void hb_nic_entry(struct hb_cq *cq, uint64_t index);
/* The NIC has seen a word: what the word's writer ordered before it is behind the NIC's next entry.
 */
void hb_nic_saw(uint8_t actor, const struct hb_word *w);
/* The host is sure that a NIC actor is done (an object was reset), and may write its memory. */
void hb_host_knows(uint8_t nic_actor);
void hb_host_write(void *p, size_t n);
const struct hb_vc *hb_now(uint8_t actor);
const struct hb_vc *hb_front(uint8_t actor, enum hb_edge edge);
/* The edge for want of which actor a does not have the given time of actor of. */
uint8_t hb_missing(uint8_t a, uint8_t of, uint32_t time);
/* Called at each store to a word, when the word has its new writer; the NIC's rules of registers.
 */
extern void (*hb_word_stored)(struct hb_word *w);

/* ---- Objections (hb_report.c) ---- */
struct hb_side {
	uint8_t actor;
	bool write;
	uint32_t pc;
};
void hb_object(uint8_t edge, const void *at, struct hb_side first, struct hb_side second);
/* A rule of the NIC's that has nothing to do with order. */
void hb_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t hb_objections(uint8_t edge); /* HB_NR_EDGES: those without an edge, refusals included */
/* Called at the first refusal of a run, with its words, if not NULL. */
extern void (*hb_refused)(const char *text);
void hb_print_objections(const char *program);
void hb_report_reset(void);
/* Function, file and line of a place in the code, and what it is inlined in. */
void hb_place_text(const char *program, uint32_t pc, char *text, size_t bytes);
const char *hb_place(const void *at, size_t *offset); /* name of the memory at an address */
const char *hb_actor_name(uint8_t actor);

/* What the functions of the checking build's order.h call. */
void hb_edge(enum hb_edge edge);

#endif /* HB_H */
