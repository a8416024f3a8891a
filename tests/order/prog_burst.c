/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts of SENDs by a warp (sq_burst.h): a queue a thread, which fills buffers that came back and
 * writes bursts of all lengths up to the ring's depth, single ones among them; and several threads
 * on one queue (sq_combine.h): four on a queue whose edges are at system scope, and four on each of
 * two small ones where they are at GPU scope, of one block and not. There a fifth does nothing but
 * take completions, so that room is taken by threads who know of it by nothing but its word.
 */
#include "programs.h"

#include <pthread.h>
#include <sched.h>

#include "coop.h"
#include "gpu_queues/sq_burst.h"
#include "gpu_queues/sq_combine.h"

#define FRAME	  64u
#define WAIT_NS	  10000000000u
#define PRODUCERS (3u * NIC_PRODUCERS)
/* Two of the combined queues: their rings, whose CQs are larger, are always all but full. */
#define TIGHT_LOG  4u
#define TIGHT_SLOW 3u

/* The 32 lanes of a warp as one thread plays them, and its table of frames. */
struct lanes {
	struct crl_burst of[CRL_BURST_LANES];
	struct crl_frame *table; /* [2 * depth]: a burst's frames lie one behind the other */
};

/* A queue, a frame buffer for each of its slots, and what its producers share. */
struct line {
	struct nic *nic;
	uint8_t *buf;
	struct crl_sq_combine *words; /* combine only, as the rest */
	uint64_t frames;	      /* of all producers */
};

struct producer {
	struct line *line;
	struct lanes lanes;
	uint32_t nr; /* in its queue */
	uint64_t frames;
};

static struct line lines[PROGRAM_QUEUES_MAX];
static struct producer producers[PRODUCERS]; /* the checker's own book, not judged */

static uint32_t
depth_of(const struct line *l)
{
	return (uint32_t)crl_ring_depth(l->nic->q->sq.log_depth);
}

static void
open_line(struct line *l, struct nic *nic)
{
	*l = (struct line){.nic = nic};
	l->buf = hb_alloc(HB_DATA, depth_of(l) * FRAME, "frames of the bursts");
}

static void
open_producer(struct producer *p, struct line *l, uint32_t nr, uint64_t frames)
{
	*p = (struct producer){.line = l, .nr = nr, .frames = frames};
	p->lanes.table =
		hb_alloc(HB_DATA, 2u * depth_of(l) * sizeof(struct crl_frame), "table of frames");
	for (uint32_t i = 0; i < CRL_BURST_LANES; i++)
		p->lanes.of[i] = crl_burst_open(&l->nic->q->sq, 0, i);
}

/* Frames seq to seq + n - 1 into the buffers of slots pi to pi + n - 1, and into the table. */
static void
fill(struct producer *p, uint32_t pi, uint64_t seq, uint32_t n)
{
	struct line *l = p->line;
	uint32_t i, k, mask = depth_of(l) - 1u;
	struct crl_seg row;

	for (i = 0; i < n; i++, seq++) {
		uint8_t *f = l->buf + ((pi + i) & mask) * FRAME;

		crl_st64(f, p->nr);
		crl_st64(f + 8, seq);
		for (k = 16; k < FRAME; k += 8u)
			crl_st64(f + k, seq * 0x0101010101010101u);
		row.q[0] = (uint64_t)(uintptr_t)f + NIC_IOVA;
		row.q[1] = (uint64_t)NIC_LKEY << 32 | FRAME;
		crl_st_seg(&p->lanes.table[(pi & mask) + i], row);
	}
	crl_order_payload_before_wqe();
}

/* All lanes, beginning anywhere. */
static void
write_lanes(struct producer *p, uint32_t pi, uint32_t n)
{
	const struct crl_frame *frame = &p->lanes.table[pi & (depth_of(p->line) - 1u)];
	uint32_t i, lane, from = (uint32_t)(sched_random() >> 17);

	for (i = 0; i < CRL_BURST_LANES; i++) {
		lane = (from + i) % CRL_BURST_LANES;
		crl_burst_write(&p->lanes.of[lane], pi, frame, n, lane);
	}
}

/* ---- A queue a thread ---- */

static void
ring(struct producer *p, uint32_t n)
{
	if (sched_random() >> 19 & 1u)
		crl_burst_ring(&p->lanes.of[0], n);
	else
		crl_burst_ring_gpu(&p->lanes.of[0], n);
	for (uint32_t i = 0; i < CRL_BURST_LANES; i++)
		crl_burst_next(&p->lanes.of[i], n);
}

static bool
make_room(struct producer *p, uint32_t n)
{
	struct crl_queue_dev *q = p->line->nic->q;
	struct crl_burst *b = &p->lanes.of[0];

	for (uint32_t i = 0; i < program_spins && !crl_burst_fits(b, n); i++) {
		if (crl_burst_room(b, &q->sq, &q->error[CRL_QERROR_SQ], &b->room) == CRL_FAILED)
			return false;
		sched_yield();
	}
	return crl_burst_fits(b, n);
}

/* One frame, and waits until it and all before it are gone, one CQE at a time. */
static bool
send_one(struct producer *p, uint64_t seq)
{
	struct crl_queue_dev *q = p->line->nic->q;
	struct crl_burst *b = &p->lanes.of[0];

	fill(p, b->pi, seq, 1);
	crl_burst_write_one(b, p->lanes.table[b->pi & (depth_of(p->line) - 1u)], 0);
	ring(p, 1);
	crl_burst_close(b, &q->sq);
	for (uint32_t i = 0; i < program_spins && q->sq.ci < q->sq.pi; i++) {
		if (crl_burst_poll_one(&q->sq, &q->error[CRL_QERROR_SQ]) == CRL_FAILED)
			return false;
		sched_yield();
	}
	b->room = (uint32_t)(q->sq.ci + depth_of(p->line));
	return q->sq.ci == q->sq.pi;
}

static void *
burst_main(void *arg)
{
	struct producer *p = arg;
	struct crl_burst *b = &p->lanes.of[0];
	uint64_t seq = 0;
	uint32_t n;

	while (seq < p->frames) {
		n = 1u + (uint32_t)(sched_random() >> 11) % depth_of(p->line);
		n = n < p->frames - seq ? n : (uint32_t)(p->frames - seq);
		n = sched_random() >> 13 & 3u ? n : 1u;
		if (!make_room(p, n))
			break;
		if (n == 1) {
			if (!send_one(p, seq))
				break;
		} else {
			fill(p, b->pi, seq, n);
			write_lanes(p, b->pi, n);
			ring(p, n);
		}
		seq += n;
	}
	if (!make_room(p, depth_of(p->line)) || seq < p->frames)
		hb_refuse("queue %u stopped at %u", p->line->nic->index, (unsigned)seq);
	return NULL;
}

uint64_t
program_burst(const struct program_cfg *cfg, struct nic *nics)
{
	pthread_t thread[PROGRAM_QUEUES_MAX];
	uint64_t sent = 0;
	uint32_t i;

	for (i = 0; i < cfg->queues; i++) {
		open_line(&lines[i], &nics[i]);
		open_producer(&producers[i], &lines[i], 0, cfg->packets / cfg->queues + 1u);
		pthread_create(&thread[i], NULL, burst_main, &producers[i]);
	}
	for (i = 0; i < cfg->queues; i++)
		pthread_join(thread[i], NULL); /* bound: program_spins of each */
	for (i = 0; i < cfg->queues; i++)
		sent += nics[i].sent;
	return sent;
}

/* ---- Several threads on one queue ---- */

static enum crl_st
idle(struct line *l)
{
	struct crl_queue_dev *q = l->nic->q;

	return crl_combine_idle(l->words, &q->sq, &q->error[CRL_QERROR_SQ], WAIT_NS);
}

static bool
publish(struct producer *p, uint64_t seq, uint32_t n, uint64_t *ci_seen)
{
	struct line *l = p->line;
	struct crl_queue_dev *q = l->nic->q;
	uint64_t pi = 0, number = 0;
	enum crl_st st = CRL_AGAIN;

	for (uint32_t i = 0; i < program_spins && st == CRL_AGAIN; i++) {
		st = crl_combine_reserve(l->words, q->sq.log_depth, n, &pi, &number, ci_seen);
		/* Not always: room may come by somebody else's look. */
		if (st == CRL_AGAIN && (sched_random() >> 15 & 3u || idle(l) == CRL_AGAIN))
			sched_yield();
	}
	if (st != CRL_OK)
		return false;
	fill(p, (uint32_t)pi, seq, n);
	write_lanes(p, (uint32_t)pi, n);
	return crl_combine_publish(l->words, &q->sq, &q->error[CRL_QERROR_SQ], number, pi, n,
		       WAIT_NS) == CRL_OK;
}

static void *
combine_main(void *arg)
{
	struct producer *p = arg;
	uint64_t seq = 0, ci_seen = 0;
	uint32_t n;

	while (seq < p->frames) {
		n = 1u + (uint32_t)(sched_random() >> 11) % p->line->words->burst_max;
		n = n < p->frames - seq ? n : (uint32_t)(p->frames - seq);
		if (!publish(p, seq, n, &ci_seen))
			break;
		seq += n;
	}
	if (seq < p->frames)
		hb_refuse("producer %u of queue %u stopped at %u", p->nr, p->line->nic->index,
			(unsigned)seq);
	return NULL;
}

/* Who only takes completions, until all are there. If it gives up, the producers do it still. */
static void *
reap_main(void *arg)
{
	struct line *l = arg;

	for (uint32_t i = 0; i < program_spins && crl_ld64(&l->words->ci) < l->frames; i++) {
		idle(l);
		sched_yield();
	}
	return NULL;
}

static void
open_words(struct line *l, uint32_t nr, uint32_t burst_max, bool gpu_scope, bool in_block)
{
	uint8_t made = HB_producer_before_ringer;
	struct crl_sq_combine *c = hb_alloc(HB_WORD, sizeof(*c), "words of the combined queue");

	crl_combine_init(c, &l->nic->q->sq, nr, burst_max, gpu_scope);
	c->in_block = in_block;
	hb_word_new(&c->unrung, "ranges not rung for", made, made, made);
	hb_word_new(&c->ci, "room", made, made, made);
	for (uint32_t i = 0; i < CRL_COMBINE_PRODUCERS; i++)
		hb_word_new(&c->range[i], "range", made, made, made);
	l->words = c;
}

/* The last completions, by the host; every frame is then gone, once. */
static uint64_t
close_line(struct line *l)
{
	for (uint32_t i = 0; i < program_spins && l->nic->q->sq.ci < l->frames; i++) {
		idle(l);
		sched_let_go();
	}
	if (l->nic->q->sq.ci != l->frames || l->nic->sent != l->frames)
		hb_refuse("%u completed and %u frames of %u", (unsigned)l->nic->q->sq.ci,
			(unsigned)l->nic->sent, (unsigned)l->frames);
	return l->nic->sent;
}

uint64_t
program_combine(const struct program_cfg *cfg, struct nic *nics)
{
	uint64_t each = cfg->packets / PRODUCERS + 1u, sent = 0;
	pthread_t thread[PRODUCERS], reaper[2];
	uint32_t i, k, nr = 0;

	nics[1].slow = nics[2].slow = TIGHT_SLOW;
	nics[1].q->sq.log_depth = nics[2].q->sq.log_depth = TIGHT_LOG;
	for (i = 0; i < 3u; i++)
		open_line(&lines[i], &nics[i]);
	open_words(
		&lines[0], NIC_PRODUCERS, depth_of(&lines[0]) / 2u / NIC_PRODUCERS, false, false);
	/* One frame at a time: slots are taken as soon as they are free. */
	open_words(&lines[1], NIC_PRODUCERS, 1, true, false);
	open_words(&lines[2], NIC_PRODUCERS, 1, true, true);
	for (i = 0; i < 3u; i++) {
		lines[i].frames = NIC_PRODUCERS * each;
		for (k = 0; k < NIC_PRODUCERS; k++)
			open_producer(&producers[nr++], &lines[i], k, each);
	}
	for (i = 0; i < PRODUCERS; i++)
		pthread_create(&thread[i], NULL, combine_main, &producers[i]);
	for (i = 0; i < 2u; i++)
		pthread_create(&reaper[i], NULL, reap_main, &lines[1u + i]);
	for (i = 0; i < PRODUCERS; i++)
		pthread_join(thread[i], NULL); /* bound: program_spins of each */
	for (i = 0; i < 2u; i++)
		pthread_join(reaper[i], NULL); /* bound: program_spins */
	for (i = 0; i < 3u; i++)
		sent += close_line(&lines[i]);
	return sent;
}
