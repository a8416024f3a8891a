/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plain matcher: tables, groups, entries and rules as the commands that went through have made
 * them, and where a frame with given headers goes, found entry by entry.
 */
#ifndef CRL_FUZZ_REFSTEER_H
#define CRL_FUZZ_REFSTEER_H

#include "config/limits.h"
#include "drivers/softcx/softcx.h"
#include "fz.h"
#include "refhash.h"

#define RULES  64u
#define RQTS   2u
#define TIRS   5u
#define DIRECT 3u /* of them: these lead to one queue each, the others hash */

struct table {
	bool used;
	uint32_t level, miss; /* miss: a table's number, 0: nowhere */
};

struct group {
	bool used;
	uint32_t table, first, last;
	uint8_t mask[64];
};

struct entry {
	bool used;
	uint32_t table, group, index, action, type, dest, tag;
	uint8_t value[64];
};

struct rule {
	bool used;
	uint32_t id, priority, dest, tirn, tag;
	uint64_t age;
	uint8_t mask[64], value[64];
};

struct steer {
	struct table table[SCX_FT_MAX];
	struct group group[SCX_FG_MAX];
	struct entry entry[SCX_FTE_MAX];
	struct rule rule[RULES];
	uint32_t root;
	struct ref_rqt rqt[RQTS];
	struct ref_tir tir[TIRS];
};

struct where {
	uint32_t dest, tirn, tag; /* dest: SCX_FLOW_* */
};

FZ_BLIND static bool
matches(const uint8_t *key, const uint8_t *mask, const uint8_t *value)
{
	uint8_t diff = 0;

	for (uint32_t i = 0; i < 64; i++)
		diff |= (uint8_t)((key[i] & mask[i]) ^ value[i]);
	return diff == 0;
}

/* The entry of that index, or a free one. */
FZ_BLIND static struct entry *
entry_at(struct steer *m, uint32_t table, uint32_t index)
{
	for (uint32_t i = 0; i < SCX_FTE_MAX; i++)
		if (m->entry[i].used && m->entry[i].table == table && m->entry[i].index == index)
			return &m->entry[i];
	for (uint32_t i = 0; i < SCX_FTE_MAX; i++)
		if (!m->entry[i].used)
			return &m->entry[i];
	return NULL;
}

FZ_BLIND static struct where
walk(const struct steer *m, const uint8_t *key)
{
	struct where w = {SCX_FLOW_DEFAULT_MISS, 0, 0};
	uint32_t at = m->root;

	while (at != 0 && m->table[at].used) { /* levels rise */
		const struct entry *best = NULL;

		for (uint32_t i = 0; i < SCX_FTE_MAX; i++) {
			const struct entry *e = &m->entry[i];

			if (e->used && e->table == at &&
				matches(key, m->group[e->group].mask, e->value) &&
				(best == NULL || e->index < best->index))
				best = e;
		}
		if (best == NULL) {
			at = m->table[at].miss;
			continue;
		}
		w.tag = best->tag != 0 ? best->tag : w.tag;
		if (best->action == 4 && best->type == 1) {
			at = best->dest;
			continue;
		}
		w.dest = best->action == 2   ? SCX_FLOW_DROP
			 : best->action == 4 ? SCX_FLOW_TIR
					     : SCX_FLOW_DEFAULT_MISS;
		w.tirn = best->dest;
		return w;
	}
	return w;
}

FZ_BLIND static struct where
first_rule(const struct steer *m, const uint8_t *key)
{
	struct where w = {SCX_FLOW_DEFAULT_MISS, 0, 0};
	const struct rule *best = NULL;

	for (uint32_t i = 0; i < RULES; i++) {
		const struct rule *r = &m->rule[i];

		if (r->used && matches(key, r->mask, r->value) &&
			(best == NULL || r->priority < best->priority ||
				(r->priority == best->priority && r->age > best->age)))
			best = r;
	}
	if (best != NULL)
		w = (struct where){best->dest, best->tirn, best->tag};
	return w;
}

#endif /* CRL_FUZZ_REFSTEER_H */
