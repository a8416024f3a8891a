/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carillon's queues on the software ConnectX's data path, in one process and without firmware,
 * verbs or EAL: for tests that want many queues, many settings or all of it under a sanitizer. One
 * arena holds all that the NIC may touch, under one key. Whoever calls rig_step() is the NIC.
 */
#ifndef SOAK_RIG_H
#define SOAK_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/softcx/dp/dp.h"
#include "drivers/softcx/softcx.h"
#include "drivers/softcx/wire.h"
#include "gpu_queues/queue.h"

#define RIG_QUEUES_MAX 16u
#define RIG_IOVA       0x500000000000ull
#define RIG_FRAME      64u

struct rig {
	struct scx_dp *dp;
	uint8_t *uar, *arena;
	size_t used, bytes;
	uint32_t next; /* of all object numbers */
	uint32_t reports;
};

struct rig_queue {
	struct crl_queue_dev dev;
	struct crl_qstats stats;
	struct crl_qerror error[2];
	struct crl_ctl ctl;
	uint32_t tirn, rule;
};

struct rig_cfg {
	uint32_t index; /* below RIG_QUEUES_MAX: its doorbell page, and the last byte of its MAC */
	uint32_t log_tx, log_rx, signal_every;
	bool empw;
};

struct rig *rig_new(size_t bytes, uint64_t seed);
void rig_free(struct rig *r);
/* Memory that the NIC knows, aligned to 4096; gone with rig_reset(). */
uint8_t *rig_take(struct rig *r, size_t bytes);
/* Objects made, ready, and a rule that leads the queue's MAC to it; txbuf has tx_bytes. */
void rig_queue_open(struct rig *r, struct rig_queue *q, const struct rig_cfg *cfg, size_t tx_bytes);
void rig_queue_close(struct rig *r, struct rig_queue *q);
/* All queues are closed: their memory is free. */
void rig_reset(struct rig *r);
/* One bounded step of the NIC; every report of trouble is counted in r->reports. */
unsigned rig_step(struct rig *r, struct scx_wire *wire, unsigned budget);

#endif /* SOAK_RIG_H */
