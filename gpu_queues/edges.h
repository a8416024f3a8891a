/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places where two edges of order.h stand together. On a GPU one fence is both, because it orders
 * everything before it against everything after it, and costs more than all the rest of a burst's
 * bookkeeping; on a host each is called by its name, and so the checker of tests/order sees both.
 */
#ifndef CRL_EDGES_H
#define CRL_EDGES_H

#include "order.h"

/* A receive and a send CQ were looked at: packets may be read, and sent ones' places used again. */
CRL_FN void
crl_edges_cqes_seen(void)
{
	crl_order_cqe_before_payload();
	if (!CRL_ON_GPU)
		crl_order_send_done_before_reuse();
}

/* WQEs were written and packets read: now come the records that announce and give back. */
CRL_FN void
crl_edges_before_records(void)
{
	crl_order_wqe_before_record();
	if (!CRL_ON_GPU)
		crl_order_reads_before_giveback();
}

#endif /* CRL_EDGES_H */
