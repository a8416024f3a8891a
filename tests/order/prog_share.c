/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four producers on one send queue, by sq_share.h, each with buffers of its own that it fills anew
 * when whoever polled said that their sends are over. One range in eight is given up.
 */
#include "programs.h"

#include <pthread.h>
#include <sched.h>

#include "coop.h"
#include "gpu_queues/sq_share.h"

#define BUFFERS 8u /* of a producer */
#define GROUP	3u /* frames of a range, at most */
#define TURN_NS 10000000000u
#define FRAME	64u

struct share {
	struct nic *nic;
	struct crl_sq_share *sh;
	uint64_t *
		over; /* [NIC_PRODUCERS * BUFFERS] words: number of the send that is over, plus 1 */
	uint64_t frames;  /* of each producer */
	uint64_t cookies; /* that came back, all together */
	uint64_t last[NIC_PRODUCERS];
};

struct producer {
	struct share *s;
	uint32_t nr;
};

static struct share share; /* the checker's own book, not judged */

/* Takes completions and tells their producers. */
static void
reap(struct share *s)
{
	struct crl_queue_dev *q = s->nic->q;
	uint64_t cookie[8];
	uint32_t i, n, p;

	crl_share_poll(s->sh, &q->sq, &q->error[CRL_QERROR_SQ], cookie, 8, &n);
	if (n == 0)
		return;
	crl_order_send_done_before_reuse(); /* pairs with the producer's before it fills a buffer */
	for (i = 0; i < n; i++) {
		if (cookie[i] == 0)
			continue; /* a NOP */
		p = (uint32_t)(cookie[i] >> 48) - 1u;
		crl_st64(&s->over[p * BUFFERS + (cookie[i] & 0xffffffffu) % BUFFERS],
			(cookie[i] & 0xffffffffu) + 1u);
		__atomic_fetch_add(&s->cookies, 1, __ATOMIC_RELAXED);
	}
}

/* Frame seq of producer p into its buffer, once the send before it from there is over. */
static bool
fill(struct share *s, uint32_t p, uint64_t seq)
{
	uint8_t *f = s->nic->q->txbuf.addr + (p * BUFFERS + seq % BUFFERS) * FRAME;
	uint32_t i;

	for (i = 0; seq >= BUFFERS && i < program_spins; i++) {
		if (crl_ld64(&s->over[p * BUFFERS + seq % BUFFERS]) == seq - BUFFERS + 1u)
			break;
		reap(s);
		sched_yield();
	}
	if (i == program_spins) {
		hb_refuse("a send of producer %u never came back", p);
		return false;
	}
	crl_order_send_done_before_reuse(); /* pairs with reap() of whoever polled */
	crl_st64(f, p);
	crl_st64(f + 8, seq);
	for (i = 16; i < FRAME; i += 8u)
		crl_st64(f + i, seq * 0x0101010101010101u);
	return true;
}

static enum crl_st
reserve(struct share *s, uint32_t n, uint64_t *pi)
{
	enum crl_st st = CRL_AGAIN;

	for (uint32_t i = 0; i < program_spins && st == CRL_AGAIN; i++) {
		st = crl_share_reserve(s->sh, &s->nic->q->sq, n, pi);
		if (st == CRL_AGAIN)
			reap(s);
	}
	return st;
}

static bool
send(struct share *s, uint32_t p, uint64_t seq, uint32_t n)
{
	struct crl_queue_dev *q = s->nic->q;
	struct crl_piece piece = {NULL, 0, FRAME, NIC_LKEY};
	uint64_t pi = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (!fill(s, p, seq + i))
			return false;
	if (reserve(s, n, &pi) != CRL_OK ||
		crl_share_enter(s->sh, &q->sq, &q->error[CRL_QERROR_SQ], pi, n, TURN_NS) != CRL_OK)
		return false;
	for (i = 0; i < n; i++) {
		piece.iova = q->txbuf.iova + (p * BUFFERS + (seq + i) % BUFFERS) * FRAME;
		crl_sq_put_send(
			&q->sq, pi + i, &piece, 1, 0, false, (uint64_t)(p + 1u) << 48 | (seq + i));
	}
	crl_share_leave(s->sh, &q->sq, pi + n, true);
	return true;
}

static void *
producer_main(void *arg)
{
	struct producer *me = arg;
	struct share *s = me->s;
	struct crl_queue_dev *q = s->nic->q;
	uint64_t seq = 0, pi;
	uint32_t n;

	while (seq < s->frames) {
		n = 1u + (uint32_t)(sched_random() >> 11) % GROUP;
		n = n < s->frames - seq ? n : (uint32_t)(s->frames - seq);
		if (sched_random() >> 13 & 7u) {
			if (!send(s, me->nr, seq, n))
				break;
			seq += n;
		} else if (reserve(s, n, &pi) != CRL_OK ||
			   crl_share_abandon(s->sh, &q->sq, &q->error[CRL_QERROR_SQ], pi, n,
				   TURN_NS) != CRL_OK) {
			break;
		}
	}
	if (seq < s->frames)
		hb_refuse("producer %u stopped at %u", me->nr, (unsigned)seq);
	return NULL;
}

uint64_t
program_share(const struct program_cfg *cfg, struct nic *nics)
{
	struct producer p[NIC_PRODUCERS];
	pthread_t thread[NIC_PRODUCERS];
	uint8_t made = HB_producer_before_ringer, over = HB_send_done_before_reuse;
	uint32_t i;

	share = (struct share){.nic = &nics[0], .frames = cfg->packets / NIC_PRODUCERS + 1u};
	share.sh = hb_alloc(HB_WORD, sizeof(*share.sh), "words of the shared queue");
	share.over = hb_alloc(HB_WORD, NIC_PRODUCERS * BUFFERS * sizeof(uint64_t), "sends over");
	crl_share_init(share.sh, &nics[0].q->sq);
	hb_word_new(&share.sh->turn, "turn", made, made, made);
	hb_word_new(&share.sh->ci, "room", over, over, over);
	hb_word_new(&share.sh->poller, "poller", HB_poller_before_worker, HB_poller_before_worker,
		HB_poller_before_worker);
	for (i = 0; i < NIC_PRODUCERS * BUFFERS; i++)
		hb_word_new(&share.over[i], "send over", over, over, over);
	for (i = 0; i < NIC_PRODUCERS; i++) {
		p[i] = (struct producer){&share, i};
		pthread_create(&thread[i], NULL, producer_main, &p[i]);
	}
	for (i = 0; i < NIC_PRODUCERS; i++)
		pthread_join(thread[i], NULL); /* bound: program_spins of each */
	for (i = 0; i < program_spins && share.cookies < share.frames * NIC_PRODUCERS; i++) {
		reap(&share);
		sched_let_go();
	}
	if (share.cookies != share.frames * NIC_PRODUCERS || nics[0].sent != share.cookies)
		hb_refuse("%u cookies and %u frames", (unsigned)share.cookies,
			(unsigned)nics[0].sent);
	return nics[0].sent;
}
