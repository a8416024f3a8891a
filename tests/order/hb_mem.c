/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the checker knows of: memory, actors, words, CQs. Set up once for each program that runs.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hb_inside.h"

#define REGIONS 128u
#define WORDS	256u
#define CQS	16u

#define HB_NAME(name) #name,
const char *const hb_edge_name[HB_NR_EDGES + 1u] = {HB_EDGES(HB_NAME) "none"};

uint8_t hb_self;
uint8_t *hb_arena;
uint32_t hb_nr_cqs;
static uint32_t used, nr_regions, nr_words, nr_actors;
uint8_t hb_region_of[HB_ARENA / 64u], hb_word_of[HB_ARENA / 4u];
struct hb_cell *hb_cells;
uint32_t *hb_seg_version; /* by 16 bytes */
uint8_t *hb_seg_writer;
struct hb_region hb_regions[REGIONS];
struct hb_word hb_words[WORDS];
struct hb_cq hb_cqs[CQS];
struct hb_actor *hb_actors;
uint8_t hb_edge_map[HB_NR_EDGES];

static void *
map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert(p != MAP_FAILED);
	return p;
}

void
hb_open(void)
{
	uint32_t i;

	hb_arena = map(HB_ARENA);
	hb_cells = map(HB_ARENA / 4u * sizeof(hb_cells[0]));
	hb_seg_version = map(HB_ARENA / 16u * sizeof(hb_seg_version[0]));
	hb_seg_writer = map(HB_ARENA / 16u);
	hb_actors = map(HB_ACTORS * sizeof(hb_actors[0]));
	memset(hb_region_of, 0, sizeof(hb_region_of));
	memset(hb_word_of, 0, sizeof(hb_word_of));
	memset(hb_words, 0, sizeof(hb_words));
	used = 0;
	nr_regions = nr_words = 1; /* 0: none */
	nr_actors = hb_nr_cqs = 0;
	hb_accesses = 0;
	for (i = 0; i < HB_NR_EDGES; i++)
		hb_edge_map[i] = (uint8_t)i;
	hb_self = hb_actor_new("host");
	hb_report_reset();
}

void
hb_close(void)
{
	munmap(hb_arena, HB_ARENA);
	munmap(hb_cells, HB_ARENA / 4u * sizeof(hb_cells[0]));
	munmap(hb_seg_version, HB_ARENA / 16u * sizeof(hb_seg_version[0]));
	munmap(hb_seg_writer, HB_ARENA / 16u);
	munmap(hb_actors, HB_ACTORS * sizeof(hb_actors[0]));
	for (uint32_t i = 0; i < hb_nr_cqs; i++) {
		free(hb_cqs[i].wrote);
		free(hb_cqs[i].entry);
	}
	hb_arena = NULL;
}

void *
hb_alloc(enum hb_kind kind, size_t bytes, const char *name)
{
	uint32_t size = (uint32_t)((bytes + 63u) & ~(size_t)63u), i;

	assert(used + size <= HB_ARENA && nr_regions < REGIONS);
	hb_regions[nr_regions] = (struct hb_region){name, used, size, kind};
	for (i = used / 64u; i < (used + size) / 64u; i++)
		hb_region_of[i] = (uint8_t)nr_regions;
	nr_regions++;
	used += size;
	return hb_arena + used - size;
}

size_t
hb_region_bytes(const void *p)
{
	size_t o = (size_t)((uintptr_t)p - (uintptr_t)hb_arena);
	const struct hb_region *r = &hb_regions[o < HB_ARENA ? hb_region_of[o / 64u] : 0];

	return r->name && r->base == o ? r->bytes : 0;
}

uint8_t
hb_actor_new(const char *name)
{
	struct hb_actor *a = &hb_actors[nr_actors];

	assert(nr_actors < HB_ACTORS);
	snprintf(a->name, sizeof(a->name), "%s", name);
	a->now.t[nr_actors] = a->seen.t[nr_actors] = 1;
	memset(&a->via, HB_NR_EDGES, sizeof(a->via));
	return (uint8_t)nr_actors++;
}

const char *
hb_actor_name(uint8_t actor)
{
	return actor < nr_actors ? hb_actors[actor].name : "nobody";
}

struct hb_word *
hb_word_new(void *at, const char *name, uint8_t rel, uint8_t rel_host, uint8_t acq)
{
	struct hb_word *w = &hb_words[nr_words];

	assert(nr_words < WORDS && (uint32_t)((uint8_t *)at - hb_arena) < HB_ARENA);
	*w = (struct hb_word){.name = name,
		.at = at,
		.rel = rel,
		.rel_host = rel_host,
		.acq = acq,
		.writer = HB_NONE};
	hb_word_of[((uint8_t *)at - hb_arena) / 4u] = (uint8_t)nr_words++;
	return w;
}

struct hb_cq *
hb_cq_new(void *ring, uint32_t entries, const uint64_t *ci, uint8_t actor, uint8_t acq)
{
	struct hb_cq *c = &hb_cqs[hb_nr_cqs++];

	assert(hb_nr_cqs <= CQS);
	*c = (struct hb_cq){.ring = ring, .ci = ci, .entries = entries, .actor = actor, .acq = acq};
	c->wrote = calloc(entries, sizeof(c->wrote[0]));
	c->entry = calloc(entries, sizeof(c->entry[0]));
	return c;
}

void
hb_drop(enum hb_edge edge)
{
	hb_edge_map[edge] = HB_NR_EDGES;
}

void
hb_swap(enum hb_edge a, enum hb_edge b)
{
	hb_edge_map[a] = (uint8_t)b;
	hb_edge_map[b] = (uint8_t)a;
}

int
hb_edge_find(const char *name)
{
	for (uint32_t i = 0; i < HB_NR_EDGES; i++)
		if (strcmp(hb_edge_name[i], name) == 0)
			return (int)i;
	return -1;
}

const char *
hb_place(const void *at, size_t *offset)
{
	uint32_t o = (uint32_t)((const uint8_t *)at - hb_arena);
	const struct hb_region *r = &hb_regions[o < HB_ARENA ? hb_region_of[o / 64u] : 0];

	*offset = o < HB_ARENA ? o - r->base : 0;
	return r->name ? r->name : "memory";
}
