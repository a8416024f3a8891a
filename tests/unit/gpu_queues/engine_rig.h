/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues beside a NIC of the test's own, for engines on host threads: opened, configured, fed.
 */
#ifndef TEST_ENGINE_RIG_H
#define TEST_ENGINE_RIG_H

#include "fake_nic.h"

#include "gpu_queues/engine.h"

#define QUEUES 8
#define S_NS   1000000000ull

static struct fake_nic nic[QUEUES];

static inline void
open_all(uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		fake_open(&nic[i], 6, 6, 128, i % 2);
		nic[i].q.index = i;
		nic[i].threaded = true;
	}
}

static inline void
close_all(uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++)
		fake_close(&nic[i]);
}

static inline void
config(struct crl_engine_cfg *cfg, struct crl_stream_cfg *s, uint32_t nr, const char *name)
{
	uint32_t i;

	memset(cfg, 0, sizeof(*cfg));
	memset(s, 0, nr * sizeof(*s));
	for (i = 0; i < nr; i++)
		s[i].rx = s[i].tx = &nic[i].q;
	cfg->size = sizeof(*cfg);
	cfg->engine = crl_engine_find(name);
	cfg->streams = s;
	cfg->nr_streams = nr;
}

/* The NIC: feeds each queue until it has sent total frames, for at most some seconds. */
static inline void
feed(uint32_t nr, uint32_t total)
{
	uint64_t end = crl_now_ns() + 60 * S_NS;
	uint32_t i, fed[QUEUES] = {0}, open = nr;
	uint8_t f[64] = {1, 2, 3};

	while (open > 0) {
		assert_true(crl_now_ns() < end);
		for (i = 0, open = 0; i < nr; i++) {
			while (fed[i] < total && fake_receive(&nic[i], f, 64))
				fed[i]++;
			fake_doorbell(&nic[i]);
			fake_send(&nic[i], 64);
			open += nic[i].frames < total;
		}
		crl_relax();
	}
}

#endif
