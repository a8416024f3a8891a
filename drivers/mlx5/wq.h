/* SPDX-License-Identifier: BSD-3-Clause */
/* What sq.c and rq.c share: the work queue part of a queue's context. Host only. */
#ifndef CRL_MLX5_WQ_H
#define CRL_MLX5_WQ_H

#include "internal.h"

/* Words of the answer to a command that answers nothing but its status. */
#define CRL_PRM_CMD_OUT_WORDS 4u

void crl_wq_fill(
	const struct crl_queue *q, const struct crl_wq_obj *obj, uint32_t log_stride, void *wq);

#endif /* CRL_MLX5_WQ_H */
