/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event descriptors of the interposer, as the method files use them: see event.c.
 */
#ifndef SCX_FRONT_EVENT_H
#define SCX_FRONT_EVENT_H

#include "front.h"

#define EV_COMP	       0x00 /* PRM event types */
#define EV_CQ_ERROR    0x04
#define EV_PORT_CHANGE 0x09

#define SCXF_EQE_BYTES 64u

/* PRM: EQE. Type at byte 1, subtype at byte 3, data from 0x20. */
void scxf_eqe(const struct scx_event *ev, uint8_t eqe[SCXF_EQE_BYTES]);

#define SCXF_ASYNC_OUT_MAX 8192u /* bytes of an asynchronous command's answer */

/* A record into the command channel fd. 0; -EBADF: none of ctx; -EAGAIN: nobody reads, it is full.
 */
int scxf_event_send(struct scxf_ctx *ctx, int fd, const void *record, size_t bytes);

#endif /* SCX_FRONT_EVENT_H */
