/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io: every frame leaves as it came. testpmd's default engine, and the cost floor of all others.
 */
#ifndef CRL_ENGINE_IO_H
#define CRL_ENGINE_IO_H

#include "../fwd.h"

CRL_FN enum crl_verdict
crl_io_packet(struct crl_stream *s, struct crl_pkt *pkt)
{
	(void)s;
	(void)pkt;
	return CRL_SEND;
}

#endif /* CRL_ENGINE_IO_H */
