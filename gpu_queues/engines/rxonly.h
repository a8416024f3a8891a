/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rxonly: every frame is counted and its slot given back at once.
 */
#ifndef CRL_ENGINE_RXONLY_H
#define CRL_ENGINE_RXONLY_H

#include "../fwd.h"

CRL_FN enum crl_verdict
crl_rxonly_packet(struct crl_stream *s, struct crl_pkt *pkt)
{
	(void)s;
	(void)pkt;
	return CRL_DROP;
}

#endif /* CRL_ENGINE_RXONLY_H */
