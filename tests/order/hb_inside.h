/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checker's state, shared by hb_mem.c, which makes it, and hb.c, which judges by it. Each four
 * bytes of judged memory have a cell: who wrote last and when, and the last read of up to HB_READS
 * actors since.
 */
#ifndef HB_INSIDE_H
#define HB_INSIDE_H

#include "hb.h"

#define HB_ARENA    (8u << 20)
#define HB_VERSIONS 2048u /* payload edges remembered: more than WQEs in flight */
#define HB_READS    6u

struct hb_cell {
	uint32_t w_time, w_pc;
	uint32_t r_time[HB_READS], r_pc[HB_READS];
	uint32_t old, saw; /* adv.c: before the last store; who loaded what it left, a bit each */
	uint64_t r_nr[HB_READS]; /* hb_accesses at the last read */
	uint8_t w_actor, r_actor[HB_READS];
};

struct hb_actor {
	char name[24];
	struct hb_vc now;  /* ordered before this actor's next access */
	struct hb_vc seen; /* the same, had nobody forgotten an edge */
	struct hb_via via;
	struct hb_vc front[HB_NR_EDGES];
	struct hb_vc pend[HB_NR_EDGES]; /* seen, but its edge has not come yet */
	bool pending[HB_NR_EDGES];
	uint32_t version;
	struct hb_vc payload[HB_VERSIONS];
};

struct hb_region {
	const char *name;
	uint32_t base, bytes;
	enum hb_kind kind;
};

extern uint8_t *hb_arena;
extern struct hb_cell *hb_cells;
extern uint32_t *hb_seg_version; /* by 16 bytes: the writer's payload edge before the store */
extern uint8_t *hb_seg_writer;
extern struct hb_actor *hb_actors;
extern uint8_t hb_region_of[HB_ARENA / 64u], hb_word_of[HB_ARENA / 4u]; /* 0: none */
extern struct hb_region hb_regions[];
extern struct hb_word hb_words[];
extern struct hb_cq hb_cqs[];
extern uint32_t hb_nr_cqs;
extern uint8_t hb_edge_map[HB_NR_EDGES]; /* what stands in an edge's place; HB_NR_EDGES: nothing */

#endif /* HB_INSIDE_H */
