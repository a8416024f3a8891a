/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of carillon-soak: what its files share. A round makes a port's queues, lets numbered and
 * checked frames go round on them, takes all of it down and counts what is left. Threads: a flow's
 * sending half belongs to the thread of its queue, its checking half to the thread of the queue
 * that its frames come back to; the main thread reads counters, and all the rest between rounds.
 */
#ifndef CRL_SOAK_H
#define CRL_SOAK_H

#include <stdio.h>

#include "carillon/dpdk.h"
#include "gpu_queues/engine.h"
#include "gpu_queues/sq_reserve.h"

#define SOAK_QUEUES_MAX	 64u
#define SOAK_FRAME_MAX	 9018u
#define SOAK_FRAME_MIN	 60u
#define SOAK_HEADROOM	 2u /* what the CRC covers then lies on eight bytes */
#define SOAK_HDR_BYTES	 42u
#define SOAK_PIECES_MAX	 3u
#define SOAK_STOP_NS_MAX 5000000000u
#define SOAK_SEND_PORT	 4000u /* UDP destination port that leads to queue 0 */
#define SOAK_BAD_KEY	 0xdeadbe00u

/* What is done wrong on purpose, so that a run shows that it would be seen. Numbers of a frame of
 * flow 0 in the first round, counted from 1; 0: none. */
struct soak_plant {
	uint64_t tear, drop, dup;
	char leak[16]; /* fd, map, heap, thread or object; "": none */
};

struct soak_options {
	uint64_t packets; /* of all rounds */
	double seconds;	  /* 0: no bound but packets */
	double patience;  /* seconds without a packet anywhere: the round is over */
	uint32_t rounds, queues, threads, forwarders, tx_depth, rx_depth, burst, signal_every,
		inline_max;
	uint32_t size_min, size_max; /* bytes of a frame without FCS */
	uint32_t faults;	     /* send errors a round */
	uint64_t seed;
	const struct crl_engine *forward;
	const char *json;
	bool limits, collapsed;
	struct soak_plant plant;
};

/* The two halves of a flow: what its sender counts, and what is seen where it arrives. */
struct soak_flow {
	CRL_ALIGNAS(64) uint64_t sent; /* given to the NIC; less those that came back unsent */
	uint64_t quota, bytes;
	uint64_t flushed; /* of a failed queue: came back unsent */
	uint64_t bad_at;  /* frame that is given a key of nobody's, UINT64_MAX: none */
	uint32_t failed;  /* 1: its queue stopped */
	CRL_ALIGNAS(64) uint64_t taken; /* arrived, and their receive slots given back */
	uint64_t expect;		/* number of the next frame */
	uint64_t good, gaps, torn, dup;
	uint8_t header[SOAK_HDR_BYTES];	 /* as sent */
	uint8_t arrives[SOAK_HDR_BYTES]; /* as received: a forwarder may have changed it */
};

struct soak_queue {
	struct crl_queue_dev dev;
	struct crl_queue *queue;
	struct crl_region *tx;
	struct crl_flow *rule;
	struct crl_ctl ctl[2]; /* of the sending and of the checking stream */
	const struct soak *soak;
	struct soak_flow *sends, *checks; /* NULL for a forwarder's queue */
	uint64_t rand;
	uint32_t slots, stride;	   /* frames in tx */
	uint64_t slot_pi, slot_ci; /* used; of those, free again */
	uint32_t window;	   /* frames under way, at most */
};

struct soak_leaks {
	long fds, maps, threads, heap_bytes, rss_kb, huge_kb, mempools, mbufs_out, eal_bytes,
		objects;
};

struct soak {
	struct soak_options opt;
	struct crl_eal *eal;
	struct crl_port *port;
	struct crl_ctx *ctx;
	struct soak_queue *queue; /* [queues + forwarders] */
	struct soak_flow *flow;	  /* [queues] */
	uint32_t nr_queues, nr_open;
	struct crl_engine_run *run[3]; /* checkers, forwarders, senders */
	uint32_t round;
	uint64_t seed;
	/* Sums of the rounds that are over. */
	uint64_t sent, good, bytes, lost, torn, dup, flushed, forwarded;
	uint64_t planned, errors, unplanned; /* send errors: asked for, seen, and others */
	uint64_t laps, wraps16, wraps24;     /* of rings, of 16-bit and of 24-bit indices */
	uint64_t leaked, limits;	     /* things; limits that were tried */
	uint64_t start_ns, end_ns;
	uint64_t rss_from_kb, rss_to_kb;
	void *kept; /* left behind on purpose */
	int stop;   /* a signal came */
};

/* ---- options.c ---- exits with words when they are wrong */
void soak_options_parse(int argc, char **argv, struct soak_options *o);

/* ---- engine.c ---- */
extern const struct crl_engine soak_sender, soak_checker;
/* The headers of flow i's frames; a forwarder in between if through is not NULL. */
void soak_flow_init(struct soak *s, uint32_t i, const uint8_t *mac, uint16_t to_port, bool swapped);

/* ---- queues.c ---- */
int soak_open(struct soak *s, struct crl_err *err);
int soak_close(struct soak *s, struct crl_err *err);

/* ---- round.c ---- */
/* packets: of this round; until_ns: it ends early then. */
int soak_round(struct soak *s, uint64_t packets, uint64_t until_ns, struct crl_err *err);

/* ---- leaks.c ---- */
/* First of all: starts the program again, so that the heap can be counted. */
void soak_leaks_begin(char **argv);
void soak_leaks_count(struct soak_leaks *l);
/* Prints what has grown since; returns how many things. */
uint64_t soak_leaks_compare(const struct soak_leaks *from, const struct soak_leaks *to);
/* Leaves something behind on purpose. */
void soak_leak(struct soak *s, const char *what);

/* ---- limits.c ---- every limit, and half as much again: how many were as they should be, or
 * -1 and words on standard error */
int soak_limits(struct soak *s);

#endif /* CRL_SOAK_H */
