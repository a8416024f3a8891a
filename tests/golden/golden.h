/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two halves of golden_netmlx5 share: golden_netmlx5.c sends frames with net_mlx5,
 * golden_compare.c holds each WQE that came of it against ours.
 */
#ifndef CRL_GOLDEN_H
#define CRL_GOLDEN_H

#include <rte_mbuf.h>

#include "../../gpu_queues/queue.h"
#include "watch.h"

enum golden_setting { GOLDEN_SEND, GOLDEN_EMPW, GOLDEN_INLINE, GOLDEN_HEADER, GOLDEN_WHOLE };

#define GOLDEN_WHOLE_MAX 290u /* what net_mlx5 inlines into a SEND by default */

struct golden {
	enum golden_setting setting;
	struct watch_sq sq;
	struct rte_mempool *pool;
	struct crl_sq ours;
	uint64_t at; /* index of the next WQE of net_mlx5's, free-running */
	unsigned wqes, frames, failed;
	bool no_csum; /* the device does not insert checksums */
};

/*
 * The WQE of net_mlx5's at g->at, made again by our writers from the frames at m and compared;
 * g->at moves on. Returns how many of the left frames it took; 0: it cannot be, and was counted as
 * a failure.
 */
uint32_t golden_compare(struct golden *g, struct rte_mbuf **m, uint32_t left);

/* What was masked, and how often it differed. */
void golden_print_masks(void);

#endif /* CRL_GOLDEN_H */
