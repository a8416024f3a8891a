/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carillon_dev.h's calls under the checker, as a program of one's own makes them: each thread takes
 * the frames of one queue, swaps their MACs in place, sends them by the next queue, and gives each
 * buffer back when its send is over.
 */
#include "programs.h"

#include <pthread.h>

#include "gpu_queues/carillon_dev.h"
#include "gpu_queues/engines/macswap.h"
#include "coop.h"

#define BURST 6u

struct forward {
	struct crl_queue_dev *rx, *tx;
	uint64_t frames, sent, over;
	struct crl_pkt pkt[BURST];
	uint32_t nr, at; /* of pkt: there are, left already */
};

/* Sends that are over: their buffers go back. */
static bool
reap(struct forward *f)
{
	struct crl_wc wc[BURST];
	struct crl_pkt pkt = {0};
	uint32_t n = 0;

	if (crl_tx_done(f->tx, wc, BURST, &n) == CRL_FAILED)
		return false;
	f->over += n;
	while (n-- > 0) {
		pkt.index = wc[n].cookie;
		crl_rx_release(f->rx, &pkt);
	}
	return true;
}

static bool
send(struct forward *f)
{
	uint32_t i, n = f->nr - f->at;
	enum crl_st st;
	uint64_t pi;

	st = crl_tx_reserve(f->tx, n, 0, &pi);
	if (st != CRL_OK)
		return st == CRL_AGAIN;
	for (i = 0; i < n; i++) {
		const struct crl_pkt *p = &f->pkt[f->at++];

		crl_mac_swap(p->data);
		crl_tx_frame(f->tx, pi + i, p->iova, p->len, p->index, i == 1u ? CRL_TX_SIGNAL : 0);
	}
	crl_tx_ring(f->tx, pi + n);
	f->sent += n;
	return true;
}

static void *
forward_main(void *arg)
{
	struct forward *f = arg;
	uint64_t was = 0;
	uint32_t idle;

	for (idle = 0; idle < program_spins && (f->sent < f->frames || f->over < f->sent); idle++) {
		if (f->at == f->nr && f->sent < f->frames) {
			f->at = 0;
			if (crl_rx_poll(f->rx, f->pkt, BURST, 0, &f->nr) == CRL_FAILED)
				break;
		}
		if ((f->at < f->nr && !send(f)) || !reap(f))
			break;
		idle = f->over != was ? 0 : idle;
		was = f->over;
		sched_let_go();
	}
	if (f->over < f->frames)
		hb_refuse("a thread stopped at %u", (unsigned)f->over);
	return NULL;
}

uint64_t
program_dev(const struct program_cfg *cfg, struct nic *nics)
{
	struct forward f[PROGRAM_QUEUES_MAX] = {0};
	pthread_t thread[PROGRAM_QUEUES_MAX];
	uint64_t sent = 0;
	uint32_t i;

	for (i = 0; i < cfg->queues; i++) {
		if (crl_dev_check(nics[i].q) != CRL_OK)
			hb_refuse("queue %u is of another version", i);
		f[i].rx = nics[i].q;
		f[i].tx = nics[(i + 1u) % cfg->queues].q;
		f[i].frames = cfg->packets / cfg->queues + 1u;
		pthread_create(&thread[i], NULL, forward_main, &f[i]);
	}
	for (i = 0; i < cfg->queues; i++)
		pthread_join(thread[i], NULL); /* bound: program_spins of each */
	for (i = 0; i < cfg->queues; i++) /* a queue's frames are those of the thread before it */
		sent += nics[i].sent;
	return sent;
}
