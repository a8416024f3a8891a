/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wire: where frames go that the NIC sends, and where those come from that it receives. The data
 * path calls both functions from its own thread only. Frames carry no FCS; the NIC has padded them
 * to 60 bytes already.
 */
#ifndef SCX_WIRE_H
#define SCX_WIRE_H

#include <stddef.h>
#include <stdint.h>

struct scx_wire;

/* The sender vouches for all checksums of this frame (VIRTIO_NET_HDR). */
#define SCX_FRAME_CSUM_VALID 1u

struct scx_frame {
	const uint8_t *data; /* starts at the destination MAC; VLAN tags are in place */
	uint32_t len;	     /* bytes */
	uint32_t flags;	     /* SCX_FRAME_* */
};

struct scx_wire_ops {
	const char *name;
	/*
	 * Take up to nr frames; returns how many were taken (the rest comes again), never waits.
	 * The bytes are the wire's own copy or sent when it returns.
	 */
	unsigned (*send)(struct scx_wire *w, const struct scx_frame *f, unsigned nr);
	/* Up to nr received frames; they point into the wire's memory until the next recv. */
	unsigned (*recv)(struct scx_wire *w, struct scx_frame *f, unsigned nr);
	void (*close)(struct scx_wire *w);
	/*
	 * NULL: what the NIC has no rule or no buffer for is lost, as on any wire. Else the data
	 * path asks recv for one frame at a time, and hands one that it could not place back before
	 * it asks again; it counts nothing then, and the wire decides how often to try.
	 */
	void (*back)(struct scx_wire *w);
};

/* The first member of every wire's own struct. */
struct scx_wire {
	const struct scx_wire_ops *ops;
	uint32_t flags; /* SCX_WIRE_* */
};

/*
 * All that is sent comes back on the same port: the data path hands frames over itself, with one
 * copy from the sender's memory to the receiver's. send() and recv() work as well, for a wrapper.
 */
#define SCX_WIRE_TURNAROUND 1u

/* What a NIC without a wire of its own uses: everything sent is received again on the same port. */
struct scx_wire *scx_wire_loopback(void);
/* Two ends of one cable: what a sends, b receives. */
int scx_wire_pair(struct scx_wire **a, struct scx_wire **b);
/* A packet socket on a netdev of the calling thread's network namespace. */
int scx_wire_veth(const char *netdev, struct scx_wire **w, char *err, size_t err_bytes);
/* Frames from a capture file come in, frames sent go to another; either may be NULL. */
int scx_wire_pcap(
	const char *in, const char *out, struct scx_wire **w, char *err, size_t err_bytes);
/*
 * Any thread. From the first call on no frame comes until the program receives (rules lead
 * somewhere) and has changed nothing for a second; each call is such a change. A program that has
 * just started its port may throw away what came before it looked (testpmd flushes its queues).
 */
void scx_wire_pcap_changed(struct scx_wire *w, int receives);
/* Wraps w: a copy of every frame of both directions goes to a capture file. */
int scx_wire_tap(struct scx_wire *w, const char *pcap_out, struct scx_wire **tapped, char *err,
	size_t err_bytes);

#endif /* SCX_WIRE_H */
