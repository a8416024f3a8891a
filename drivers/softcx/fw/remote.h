/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between chan.c, which knows one way to the data path, and remote.c, the way to one that steps on
 * another processor. All of it runs in the thread that turns the NIC, or under step_lock.
 */
#ifndef SCX_FW_REMOTE_H
#define SCX_FW_REMOTE_H

#include "../step.h"
#include "fw.h"

struct scx_fw_remote *scx_fw_remote_new(struct scx_nic *nic); /* takes cfg.step; NULL: no memory */
void scx_fw_remote_free(struct scx_fw_remote *x);	      /* and ends the step */

/* The command in the channel's slot (or a request for counters) over, and whether it is done. */
void scx_fw_remote_post(struct scx_nic *nic, bool stats);
bool scx_fw_remote_done(struct scx_nic *nic, bool stats);
/* Doorbells and frames, one bounded turn. Returns work done, 0 = idle. */
unsigned scx_fw_remote_turn(struct scx_nic *nic, uint64_t ticks);
bool scx_fw_remote_report(struct scx_nic *nic, struct scx_dp_report *out);
bool scx_fw_remote_dead(const struct scx_nic *nic);

#endif /* SCX_FW_REMOTE_H */
