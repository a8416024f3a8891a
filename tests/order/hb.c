/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks and judgement of the happens-before checker; hb.h says how it thinks.
 */
#include <string.h>

#include "adv.h"
#include "coop.h"

uint64_t hb_accesses;
bool hb_rmw;
uint32_t hb_dropped_place;
void (*hb_edge_passed)(enum hb_edge edge, uint32_t pc);
void (*hb_word_stored)(struct hb_word *w);

static uint8_t missing(uint8_t a, uint8_t of, uint32_t t);

const struct hb_vc *
hb_now(uint8_t actor)
{
	return &hb_actors[actor].now;
}

const struct hb_vc *
hb_front(uint8_t actor, enum hb_edge edge)
{
	return &hb_actors[actor].front[edge];
}

uint8_t
hb_missing(uint8_t a, uint8_t of, uint32_t time)
{
	return missing(a, of, time);
}

static void
join(struct hb_vc *to, const struct hb_vc *from)
{
	for (uint32_t i = 0; i < HB_ACTORS; i++)
		to->t[i] = to->t[i] < from->t[i] ? from->t[i] : to->t[i];
}

static void
tick(uint8_t self)
{
	hb_actors[self].now.t[self]++;
	hb_actors[self].seen.t[self]++;
}

void
hb_edge(enum hb_edge edge)
{
	struct hb_actor *a = &hb_actors[hb_self];
	uint32_t pc = (uint32_t)(uintptr_t)__builtin_return_address(0), e = hb_edge_map[edge];

	if (hb_edge_passed)
		hb_edge_passed(edge, pc);
	if (e == HB_NR_EDGES || pc == hb_dropped_place)
		return;
	if (a->pending[e]) {
		join(&a->now, &a->pend[e]);
		a->pending[e] = false;
	}
	a->front[e] = a->now;
	tick(hb_self);
	if (e == HB_payload_before_wqe)
		a->payload[++a->version % HB_VERSIONS] = a->front[e];
}

void
hb_fork(uint8_t parent, uint8_t child)
{
	join(&hb_actors[child].now, &hb_actors[parent].now);
	join(&hb_actors[child].seen, &hb_actors[parent].seen);
	tick(parent);
}

void
hb_join(uint8_t parent, uint8_t child)
{
	join(&hb_actors[parent].now, &hb_actors[child].now);
	join(&hb_actors[parent].seen, &hb_actors[child].seen);
}

void
hb_host_knows(uint8_t nic_actor)
{
	hb_join(hb_self, nic_actor);
}

/* The name of the edge for want of which actor a does not have time t of actor of. */
static uint8_t
missing(uint8_t a, uint8_t of, uint32_t t)
{
	for (uint32_t e = 0; e < HB_NR_EDGES; e++) /* told in order, but not taken so */
		if (hb_actors[a].pend[e].t[of] >= t)
			return (uint8_t)e;
	return hb_actors[a].seen.t[of] >= t ? hb_actors[a].via.edge[of] : HB_NR_EDGES;
}

/* What actor a has to tell with a word: all it has seen, of which front is ordered by edge rel. */
static void
tell(struct hb_word *w, const struct hb_actor *a, uint8_t rel)
{
	w->now = a->now;
	w->seen = a->seen;
	for (uint32_t i = 0; i < HB_ACTORS; i++)
		w->via.edge[i] = a->now.t[i] >= a->seen.t[i] ? rel : a->via.edge[i];
}

/* What actor a has seen with a word, and will have in order after edge acq. */
static void
hear(struct hb_actor *a, const struct hb_word *w, uint8_t acq)
{
	for (uint32_t i = 0; i < HB_ACTORS; i++) {
		if (w->seen.t[i] <= a->seen.t[i])
			continue;
		a->seen.t[i] = w->seen.t[i];
		a->via.edge[i] = w->front.t[i] >= w->seen.t[i] ? acq : w->via.edge[i];
	}
}

/* Word stores: the writer's clocks go with the word. */
static void
word_store(struct hb_word *w, uint32_t pc)
{
	struct hb_actor *a = &hb_actors[hb_self];
	bool alone = w->writer == HB_NONE || w->writer == hb_self;
	uint8_t rel = hb_self == 0 ? w->rel_host : w->rel;
	struct hb_side was = {w->writer, true, w->pc}, is = {hb_self, true, pc};
	struct hb_vc told = w->front;

	/* Of the host's hb_words and those it empties only the store's order matters, not who is
	 * next. */
	if (w->writer != HB_NONE && w->writer != hb_self && w->writer != 0 && hb_self != 0 &&
		!w->heard && a->now.t[w->writer] < w->time)
		hb_object(missing(hb_self, w->writer, w->time), w->at, was, is);
	adv_store((uint32_t)(w->at - hb_arena) / 4u, hb_self, a->now.t[hb_self],
		!alone && a->now.t[w->writer] < w->time && !w->heard);
	memcpy(&w->old, w->at, sizeof(w->old));
	w->writer = hb_self;
	w->heard = 0;
	w->time = a->now.t[hb_self];
	w->pc = pc;
	tell(w, a, rel);
	if (rel != HB_NR_EDGES)
		w->front = a->front[rel];
	else
		memset(&w->front, 0, sizeof(w->front));
	if (hb_rmw)
		join(&w->front, &told);
	if (hb_word_stored)
		hb_word_stored(w);
}

static void
word_load(struct hb_word *w)
{
	struct hb_actor *a = &hb_actors[hb_self];

	w->heard = 1;
	if (w->acq == HB_NR_EDGES || w->writer == HB_NONE || w->writer == hb_self)
		return;
	join(&a->pend[w->acq], &w->front);
	a->pending[w->acq] = true;
	hear(a, w, w->acq);
}

static void
note_read(struct hb_cell *c, uint8_t actor, uint32_t time, uint32_t pc)
{
	uint32_t i, k = HB_READS;

	for (i = 0; i < HB_READS; i++) {
		if (c->r_time[i] != 0 && c->r_actor[i] == actor) {
			k = i;
			break;
		}
		if (c->r_time[i] == 0 && k == HB_READS)
			k = i;
	}
	if (k == HB_READS) {
		hb_refuse("checker: more than %u readers of one place", HB_READS);
		return;
	}
	c->r_time[k] = time;
	c->r_pc[k] = pc;
	c->r_nr[k] = hb_accesses;
	c->r_actor[k] = actor;
}

/* Judges one cell for a thread. */
static void
cell_thread(uint8_t *at, struct hb_cell *c, bool write, uint32_t pc)
{
	struct hb_actor *a = &hb_actors[hb_self];
	struct hb_side is = {hb_self, write, pc};
	bool loose = c->w_time != 0 && c->w_actor != hb_self && a->now.t[c->w_actor] < c->w_time;
	uint32_t i, cell = (uint32_t)(c - hb_cells);

	if (loose)
		hb_object(missing(hb_self, c->w_actor, c->w_time), at,
			(struct hb_side){c->w_actor, true, c->w_pc}, is);
	if (!write) {
		adv_load(cell, hb_self, loose);
		note_read(c, hb_self, a->now.t[hb_self], pc);
		return;
	}
	for (i = 0; i < HB_READS; i++) {
		if (c->r_time[i] != 0 && c->r_actor[i] != hb_self &&
			a->now.t[c->r_actor[i]] < c->r_time[i]) {
			hb_object(missing(hb_self, c->r_actor[i], c->r_time[i]), at,
				(struct hb_side){c->r_actor[i], false, c->r_pc[i]}, is);
			adv_late_reader(cell, i);
		}
		c->r_time[i] = 0;
	}
	adv_store(cell, hb_self, a->now.t[hb_self], loose);
	c->w_actor = hb_self;
	c->w_time = a->now.t[hb_self];
	c->w_pc = pc;
}

/* A look at the last four bytes of a CQE. True: there is an entry, which is as good as a read. */
static bool
tail_load(uint8_t *at)
{
	struct hb_actor *a = &hb_actors[hb_self];
	uint32_t i, slot;

	for (i = 0; i < hb_nr_cqs; i++) {
		struct hb_cq *q = &hb_cqs[i];

		if (at < q->ring || at >= q->ring + q->entries * 64u)
			continue;
		slot = (uint32_t)(at - q->ring) / 64u;
		if (q->wrote[slot] <= *q->ci)
			return false;
		join(&a->pend[q->acq], &q->entry[slot].front);
		hear(a, &q->entry[slot], q->acq);
		a->pending[q->acq] = true;
		return true;
	}
	return false;
}

void
hb_access(void *p, size_t n, bool write, bool whole, void *where)
{
	uint32_t off = (uint32_t)((uintptr_t)p - (uintptr_t)hb_arena), k,
		 pc = (uint32_t)(uintptr_t)where;
	const struct hb_region *r;

	adv_settle();
	sched_point();
	hb_accesses++;
	if ((uintptr_t)p - (uintptr_t)hb_arena >= HB_ARENA || n == 0)
		return;
	r = &hb_regions[hb_region_of[off / 64u]];
	if (r->kind == HB_RELAXED || r->name == NULL)
		return;
	if (r->kind == HB_CQE && !write && off % 64u >= 60u) {
		if (!whole)
			hb_refuse("a plain load of an entry's owner byte, which the NIC may write "
				  "meanwhile");
		if (tail_load(p)) /* an entry that is there: from now on in use */
			note_read(&hb_cells[off / 4u], hb_self, hb_actors[hb_self].now.t[hb_self],
				pc);
		return;
	}
	for (k = off / 4u; k <= (off + n - 1u) / 4u; k++) {
		if (hb_word_of[k] != 0) {
			if (write)
				word_store(&hb_words[hb_word_of[k]], pc);
			else
				word_load(&hb_words[hb_word_of[k]]);
			continue;
		}
		if (r->kind == HB_WORD)
			continue;
		if (r->kind == HB_WQE && write) {
			hb_seg_version[k / 4u] = hb_actors[hb_self].version;
			hb_seg_writer[k / 4u] = hb_self;
		}
		cell_thread(hb_arena + k * 4u, &hb_cells[k], write, pc);
	}
}

struct hb_auth
hb_payload_auth(const void *seg)
{
	static const struct hb_vc nothing;
	uint32_t i = (uint32_t)((const uint8_t *)seg - hb_arena) / 16u;
	struct hb_actor *a = &hb_actors[hb_seg_writer[i]];
	struct hb_auth auth = {&nothing, &a->now, HB_payload_before_wqe, hb_seg_writer[i]};

	if (hb_seg_version[i] != 0 && a->version - hb_seg_version[i] < HB_VERSIONS)
		auth.order = &a->payload[hb_seg_version[i] % HB_VERSIONS];
	return auth;
}

/* One earlier access against the authority under which the NIC does one now; true: not ordered. */
static bool
judge_nic(uint8_t *at, struct hb_side was, uint32_t time, struct hb_side is,
	const struct hb_auth *auth)
{
	if (time == 0 || was.actor == is.actor || auth->order->t[was.actor] >= time)
		return false;
	hb_object(
		auth->known->t[was.actor] >= time ? auth->edge : missing(auth->by, was.actor, time),
		at, was, is);
	return true;
}

/* An access of the NIC's begins: true when its n bytes at p are in the arena. */
static bool
nic_access(uint8_t actor, const void *p, size_t n, const char *does)
{
	adv_settle();
	hb_accesses++;
	if ((uintptr_t)p - (uintptr_t)hb_arena >= HB_ARENA || n == 0) {
		hb_refuse("the NIC %s %zu bytes outside of all memory", does, n);
		return false;
	}
	tick(actor);
	return true;
}

void
hb_nic_read(
	uint8_t actor, void *to, const void *p, size_t n, enum hb_op op, const struct hb_auth *auth)
{
	uint32_t off = (uint32_t)((const uint8_t *)p - hb_arena), k, b, v;
	bool loose;

	memset(to, 0, n);
	if (!nic_access(actor, p, n, "reads"))
		return;
	for (k = off / 4u; k <= (off + n - 1u) / 4u; k++) {
		struct hb_cell *c = &hb_cells[k];

		loose = judge_nic(hb_arena + k * 4u, (struct hb_side){c->w_actor, true, c->w_pc},
			c->w_time, (struct hb_side){actor, false, op}, auth);
		v = adv_fetch(k, actor, loose);
		for (b = 0; b < 4u; b++)
			if (k * 4u + b - off < n) /* the cell may begin before and end behind */
				((uint8_t *)to)[k * 4u + b - off] = (uint8_t)(v >> 8u * b);
		note_read(c, actor, hb_actors[actor].now.t[actor], op);
	}
}

void
hb_nic_write(uint8_t actor, void *p, size_t n, enum hb_op op, const struct hb_auth *auth)
{
	uint32_t off = (uint32_t)((uint8_t *)p - hb_arena), k, i;
	struct hb_side is = {actor, true, op};
	bool loose;

	if (!nic_access(actor, p, n, "writes"))
		return;
	for (k = off / 4u; k <= (off + n - 1u) / 4u; k++) {
		struct hb_cell *c = &hb_cells[k];

		loose = judge_nic(hb_arena + k * 4u, (struct hb_side){c->w_actor, true, c->w_pc},
			c->w_time, is, auth);
		for (i = 0; i < HB_READS; i++) {
			if (judge_nic(hb_arena + k * 4u,
				    (struct hb_side){c->r_actor[i], false, c->r_pc[i]},
				    c->r_time[i], is, auth))
				adv_late_reader(k, i);
			c->r_time[i] = 0;
		}
		adv_store(k, actor, hb_actors[actor].now.t[actor], loose);
		c->w_actor = actor;
		c->w_time = hb_actors[actor].now.t[actor];
		c->w_pc = op;
	}
}

void
hb_nic_entry(struct hb_cq *cq, uint64_t index)
{
	uint32_t slot = (uint32_t)(index % cq->entries);

	cq->wrote[slot] = index + 1u;
	cq->entry[slot].front = hb_actors[cq->actor].now;
	tell(&cq->entry[slot], &hb_actors[cq->actor], HB_NR_EDGES);
}

void
hb_nic_saw(uint8_t actor, const struct hb_word *w)
{
	join(&hb_actors[actor].now, &w->front);
	hear(&hb_actors[actor], w, HB_NR_EDGES);
}

/* A host's access by code that has no hooks. */
void
hb_host_write(void *p, size_t n)
{
	hb_access(p, n, true, true, (void *)(uintptr_t)HB_OP_HOST);
}
