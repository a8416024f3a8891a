/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event descriptors of the interposer, as the method files use them: see event.c.
 */
#ifndef SCX_FRONT_EVENT_H
#define SCX_FRONT_EVENT_H

#include "front.h"

#define SCXF_ASYNC_OUT_MAX 8192u /* bytes of an asynchronous command's answer */

/* A record into the command channel fd. 0; -EBADF: none of ctx; -EAGAIN: nobody reads, it is full.
 */
int scxf_event_send(struct scxf_ctx *ctx, int fd, const void *record, size_t bytes);

#endif /* SCX_FRONT_EVENT_H */
