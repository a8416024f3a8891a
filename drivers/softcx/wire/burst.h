/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many frames onto a netdev with one system call and one softirq. A packet socket, and AF_XDP in
 * copy mode as well, let the kernel go through its whole receive machinery of a veth's peer after
 * each frame; here a small BPF program takes the frames from memory shared with us and hands them
 * to the netdev while softirqs wait, and the peer gets them as a batch. Its owner is a wire; all
 * functions are called from the thread that steps the NIC. The first send moves that thread to the
 * network namespace in which the burst was opened.
 */
#ifndef SCX_WIRE_BURST_H
#define SCX_WIRE_BURST_H

#include "../wire.h"

#define SCX_BURST_NR	    128u  /* frames of one call */
#define SCX_BURST_FRAME_MAX 2048u /* bytes */
/* Fewer frames than this are cheaper through a packet socket: a call costs 2.5 us by itself. */
#define SCX_BURST_LEAST 4u

struct scx_burst;

/* 0, or -errno and in *step what was tried: the kernel has no BPF, or no CAP_BPF and CAP_NET_ADMIN.
 */
int scx_burst_open(unsigned ifindex, struct scx_burst **b, const char **step);
void scx_burst_close(struct scx_burst *b);

/*
 * Send up to nr frames of 14 to SCX_BURST_FRAME_MAX bytes in order. Returns how many left, and in
 * *err 0, or the error of the one after those: -ENETDOWN, -EINVAL when the netdev is gone.
 */
unsigned scx_burst_send(struct scx_burst *b, const struct scx_frame *f, unsigned nr, int *err);

#endif /* SCX_WIRE_BURST_H */
