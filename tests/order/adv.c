/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adversary of adv.h. A hook fires before its access and nobody runs in between, so that an old
 * value is put into memory at the hook and taken out again at the next one, whoever's that is.
 */
#include "adv.h"

#include <string.h>

#define AFTER_MAX 8192u /* cells touched by one access, the host's resets included */
#define SEEN_MAX  256u

enum after { AFTER_PUT_BACK, AFTER_LOOK };

static struct {
	enum after what;
	uint32_t cell, value; /* to put back; or what was there before the store */
	uint64_t access;      /* of the reader that may have been late */
} after[AFTER_MAX];
static uint32_t nr_after, nr_seen;
static struct adv_foresight seen[SEEN_MAX], given;
static uint64_t state;

bool adv_on;

void
adv_open(uint64_t seed, const struct adv_foresight *foresight)
{
	static const struct adv_foresight none;

	adv_on = true;
	state = seed * 0xd1342543de82ef95u + 1u;
	nr_after = nr_seen = 0;
	given = foresight ? *foresight : none;
}

uint32_t
adv_foresights(const struct adv_foresight **list)
{
	*list = seen;
	return nr_seen;
}

bool
adv_coin(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 40 & 1u;
}

static uint32_t
value_of(uint32_t cell)
{
	uint32_t v;

	memcpy(&v, hb_arena + cell * 4u, sizeof(v));
	return v;
}

static void
set(uint32_t cell, uint32_t v)
{
	memcpy(hb_arena + cell * 4u, &v, sizeof(v));
}

static void
later(enum after what, uint32_t cell, uint32_t value, uint64_t access)
{
	if (nr_after == AFTER_MAX)
		return;
	after[nr_after].what = what;
	after[nr_after].cell = cell;
	after[nr_after].value = value;
	after[nr_after++].access = access;
}

void
adv_settle(void)
{
	uint32_t i, v;

	for (i = 0; i < nr_after; i++) {
		v = value_of(after[i].cell);
		if (after[i].what == AFTER_PUT_BACK)
			set(after[i].cell, after[i].value);
		else if (v != after[i].value && nr_seen < SEEN_MAX)
			seen[nr_seen++] = (struct adv_foresight){after[i].access, after[i].cell, v};
	}
	nr_after = 0;
}

/* What a load of the cell gets, if it is not what stands there. */
static bool
other_value(uint32_t cell, uint8_t actor, bool loose, uint32_t *v)
{
	struct hb_cell *c = &hb_cells[cell];

	if (given.access == hb_accesses && given.cell == cell && given.access != 0) {
		*v = given.value;
		return true;
	}
	if (!loose || (c->saw >> actor & 1u))
		return false;
	if (adv_coin()) {
		*v = c->old;
		return true;
	}
	c->saw |= 1u << actor;
	return false;
}

void
adv_load(uint32_t cell, uint8_t actor, bool loose)
{
	uint32_t v;

	if (!adv_on || !other_value(cell, actor, loose, &v))
		return;
	later(AFTER_PUT_BACK, cell, value_of(cell), 0);
	set(cell, v);
}

uint32_t
adv_fetch(uint32_t cell, uint8_t actor, bool loose)
{
	uint32_t v;

	if (adv_on && other_value(cell, actor, loose, &v))
		return v;
	return value_of(cell);
}

void
adv_store(uint32_t cell, uint8_t actor, uint32_t time, bool loose)
{
	struct hb_cell *c = &hb_cells[cell];

	if (!adv_on)
		return;
	if (loose && c->saw == 0 && adv_coin())
		later(AFTER_PUT_BACK, cell, value_of(cell), 0);
	/* Stores with no edge between them are one: what was there before the first is the old. */
	if (c->w_actor != actor || c->w_time != time || c->saw != 0)
		c->old = value_of(cell);
	c->saw = 0;
}

void
adv_late_reader(uint32_t cell, uint32_t i)
{
	if (adv_on)
		later(AFTER_LOOK, cell, value_of(cell), hb_cells[cell].r_nr[i]);
}
