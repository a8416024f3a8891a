/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rig's step by workers (dp/crew.h) where RIG_CREW is set: tests of the data path then judge
 * what warps do in the place of the scalar code. RIG_CREW is a seed, which decides how many workers
 * there are and in which order their lanes are played. One thread plays all of them, each worker
 * gone while another has its turn; what is left to whoever answers the host is done at the end.
 */
#include "rig.h"

#include <stdlib.h>

#include "drivers/softcx/dp/dp_all.h"

static struct scx_crew *crew;
static struct scx_worker *worker;
static uint64_t seed, plain;

static uint64_t
rnd(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 33;
}

static void
make(void)
{
	crew = aligned_alloc(64, (sizeof(*crew) + 63u) & ~(size_t)63u);
	worker = aligned_alloc(64, (sizeof(*worker) + 63u) & ~(size_t)63u);
	assert_non_null(crew);
	assert_non_null(worker);
	memset(crew, 0, sizeof(*crew));
	memset(worker, 0, sizeof(*worker));
	scx_crew_init(crew, 1u + (uint32_t)rnd() % 3u);
}

bool
rig_has_crew(void)
{
	const char *env = getenv("RIG_CREW");

	if (env == NULL)
		return false;
	if (seed == 0) {
		seed = strtoull(env, NULL, 0) * 2u + 1u;
		make();
	}
	return true;
}

/* A crew remembers flows of one data path. */
void
rig_crew_forget(void)
{
	if (crew != NULL)
		memset(crew->flow, 0, sizeof(crew->flow));
}

uint64_t
rig_crew_plain(void)
{
	return plain;
}

unsigned
rig_crew_step(struct scx_dp *dp)
{
	struct crl_warp w;
	unsigned work = 0;
	uint32_t i, n;

	for (i = 0; i < crew->nr; i++) {
		w.mul = (uint32_t)rnd() | 1u;
		w.add = (uint32_t)rnd();
		scx_worker_begin(worker, dp, crew, i);
		for (n = 0; n < 4u; n++) {
			work += scx_worker_turn(&w, worker);
			plain += worker->sum.wqes;
			scx_worker_count(worker);
		}
		scx_worker_end(worker);
	}
	/* left to whoever answers the host */
	return work + (dp->run_nr > 0 ? scx_step_turnaround(dp, 64) : 0);
}
