/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event queue entries as a driver reads them from a DevX event channel. Called by event.c.
 */
#include <string.h>

#include "event.h"

/* As the hardware writes it: the object's number stands at the end of the data part. */
void
scxf_eqe(const struct scx_event *ev, uint8_t eqe[SCXF_EQE_BYTES])
{
	memset(eqe, 0, SCXF_EQE_BYTES);
	eqe[1] = ev->type;
	eqe[3] = ev->subtype;
	if (ev->type == EV_PORT_CHANGE) {
		eqe[0x28] = ev->obj << 4;
		return;
	}
	if (ev->type == EV_CQ_ERROR) {
		eqe[0x21] = ev->obj >> 16;
		eqe[0x22] = ev->obj >> 8;
		eqe[0x23] = ev->obj;
		return;
	}
	eqe[0x39] = ev->obj >> 16;
	eqe[0x3a] = ev->obj >> 8;
	eqe[0x3b] = ev->obj;
}
