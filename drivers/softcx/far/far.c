/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of regions, and the data path's three wishes made moves of bytes: see far.h. What lies
 * in no region is this processor's own memory, and there is nothing to move.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../log.h"
#include "far.h"

#define REGIONS_MAX 1024

struct region {
	uint8_t *here, *there;
	size_t bytes; /* 0: free */
};

struct scx_far {
	struct scx_copy copy;
	struct scx_mover *mover;
	const char *name;
	pthread_mutex_t lock; /* of the table */
	unsigned nr, last;    /* entries in use lie below nr; the one found last */
	struct region region[REGIONS_MAX];
	/* of the thread that steps */
	bool failed;  /* nothing is moved any more: the NIC sees and does nothing */
	bool pulling; /* since the last wait */
};

static bool
holds(const struct region *r, const uint8_t *p, size_t bytes)
{
	return r->bytes != 0 && p >= r->here && (size_t)(p - r->here) <= r->bytes &&
	       bytes <= r->bytes - (size_t)(p - r->here);
}

/* Where p is over there; NULL: it is this processor's own. */
static uint8_t *
there(struct scx_far *far, const uint8_t *p, size_t bytes)
{
	uint8_t *at = NULL;

	pthread_mutex_lock(&far->lock);
	for (unsigned i = 0; i < far->nr && !holds(&far->region[far->last], p, bytes); i++)
		far->last = i;
	if (holds(&far->region[far->last], p, bytes))
		at = far->region[far->last].there + (p - far->region[far->last].here);
	pthread_mutex_unlock(&far->lock);
	return at;
}

static void
moved(struct scx_far *far, int rc)
{
	if (rc == 0 || far->failed)
		return;
	far->failed = true;
	scx_log(far->name, "%s has failed: %s; the NIC is dead", far->mover->where,
		far->mover->why(far->mover->arg));
}

static void
pull(void *arg, void *p, size_t bytes)
{
	struct scx_far *far = arg;
	uint8_t *from = far->failed ? NULL : there(far, p, bytes);

	if (from == NULL)
		return;
	far->pulling = true;
	moved(far, far->mover->to_here(far->mover->arg, p, from, bytes));
}

static void
push(void *arg, const void *p, size_t bytes)
{
	struct scx_far *far = arg;
	uint8_t *to = far->failed ? NULL : there(far, p, bytes);

	if (to != NULL)
		moved(far, far->mover->to_there(far->mover->arg, to, p, bytes));
}

static void
await(void *arg, bool pushes)
{
	struct scx_far *far = arg;

	if (far->failed || (!far->pulling && !pushes))
		return;
	far->pulling = false;
	moved(far, far->mover->wait(far->mover->arg));
}

static unsigned
turn(void *arg)
{
	struct scx_far *far = arg;

	return far->failed ? 0 : far->mover->turn(far->mover->arg);
}

struct scx_far *
scx_far_new(struct scx_mover *mover, const char *name)
{
	struct scx_far *far = calloc(1, sizeof(*far));

	if (far == NULL)
		return NULL;
	far->mover = mover;
	far->name = name;
	far->copy = (struct scx_copy){far, pull, push, await, turn};
	pthread_mutex_init(&far->lock, NULL);
	return far;
}

void
scx_far_free(struct scx_far *far)
{
	if (far == NULL)
		return;
	for (unsigned i = 0; i < far->nr; i++)
		if (far->region[i].bytes != 0)
			far->mover->release(far->mover->arg, far->region[i].here);
	far->mover->end(far->mover->arg);
	pthread_mutex_destroy(&far->lock);
	free(far);
}

const struct scx_copy *
scx_far_copy(struct scx_far *far)
{
	return &far->copy;
}

const struct scx_mover *
scx_far_mover(const struct scx_far *far)
{
	return far->mover;
}

void *
scx_far_add(struct scx_far *far, void *addr, size_t bytes)
{
	void *here = far->mover->alloc(far->mover->arg, bytes);
	unsigned i;

	if (here == NULL)
		return NULL;
	pthread_mutex_lock(&far->lock);
	for (i = 0; i < REGIONS_MAX && far->region[i].bytes != 0; i++)
		;
	if (i < REGIONS_MAX)
		far->region[i] = (struct region){here, addr, bytes};
	if (i >= far->nr && i < REGIONS_MAX)
		far->nr = i + 1;
	pthread_mutex_unlock(&far->lock);
	if (i < REGIONS_MAX)
		return here;
	far->mover->release(far->mover->arg, here);
	return NULL;
}

void
scx_far_del(struct scx_far *far, void *here)
{
	pthread_mutex_lock(&far->lock);
	for (unsigned i = 0; i < far->nr; i++)
		if (far->region[i].bytes != 0 && far->region[i].here == here)
			far->region[i].bytes = 0;
	pthread_mutex_unlock(&far->lock);
	far->mover->release(far->mover->arg, here);
}
