/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What net_mlx5 gave to the device: the test program stands between it and rdma-core, notes memory
 * registrations and the creation of send queues, and changes nothing. Host, control thread.
 */
#ifndef CRL_GOLDEN_WATCH_H
#define CRL_GOLDEN_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "../../gpu_queues/wire/be.h"

struct watch_sq {
	const uint8_t *ring;   /* the send queue's WQEBBs */
	const crl_be32 *dbrec; /* its doorbell record; the send word counts WQEBBs posted */
	uint32_t log_depth;
	uint32_t sqn;
};

/* The send queue that was created last; false: none. */
bool watch_last_sq(struct watch_sq *sq);

/* The key of the memory registration that holds this byte; false: none does. */
bool watch_lkey(const void *addr, uint32_t *lkey);

#endif /* CRL_GOLDEN_WATCH_H */
