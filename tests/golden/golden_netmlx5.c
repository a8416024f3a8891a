/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Golden bytes: the send WQEs that our writers make are those that unmodified net_mlx5 makes for
 * the same frames. net_mlx5 sends bursts on a device (a softcx in the tests; any ConnectX will do),
 * this program reads its send ring, found by watch.c, and lets crl_sq_put_send() and
 * crl_sq_put_empw() write the same frames into a ring of their own.
 *
 *   golden_netmlx5 send|empw|inline|header|whole EAL-OPTIONS...
 *
 * send: devargs txq_mpw_en=0,txq_inline_max=0. empw: net_mlx5's defaults with few queues. inline:
 * the same with txqs_min_inline=0, which is what many queues have. header: txq_inline_min=18 and
 * no more inlined, as for a NIC that wants layer 2 headers inlined. whole: SENDs with
 * txqs_min_inline=0. The caller gives the devargs.
 * Bytes not compared, and why: masks[] in golden_compare.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "../../gpu_queues/queue_mem.h"
#include "../../gpu_queues/ring.h"
#include "golden.h"

#define DESCRIPTORS	128 /* small, so that the bursts below go round the ring */
#define BURST_MAX	40
#define ROUNDS_MAX	2000
#define NET_MLX5_INLINE 268u /* txq_inline_mpw: 4 * 64 + 12 by default */

struct frame {
	uint32_t len;
	uint32_t segs;	  /* mbufs it is spread over */
	uint64_t offload; /* RTE_MBUF_F_TX_* */
};

static struct rte_mbuf *
make_frame(struct golden *g, const struct frame *f, uint32_t number)
{
	uint32_t left = f->len, part = (f->len + f->segs - 1) / f->segs, at = 0;
	struct rte_mbuf *head = NULL, *m;
	uint8_t *p;

	while (left > 0) {
		m = rte_pktmbuf_alloc(g->pool);
		if (m == NULL)
			return NULL;
		m->data_len = (uint16_t)(left < part ? left : part);
		m->pkt_len = m->data_len;
		p = rte_pktmbuf_mtod(m, uint8_t *);
		for (uint32_t i = 0; i < m->data_len; i++, at++)
			p[i] = (uint8_t)(at * 7 + number * 13 + 1);
		left -= m->data_len;
		if (head == NULL)
			head = m;
		else if (rte_pktmbuf_chain(head, m) != 0)
			return NULL;
	}
	head->ol_flags = f->offload;
	head->l2_len = sizeof(struct rte_ether_hdr);
	head->l3_len = sizeof(struct rte_ipv4_hdr);
	head->l4_len = sizeof(struct rte_udp_hdr);
	return head;
}

/* Send n frames and hold net_mlx5's WQEs against ours. The frames are freed by net_mlx5 later. */
static void
burst(struct golden *g, const struct frame *f, uint32_t n)
{
	struct rte_mbuf *m[BURST_MAX];
	uint32_t done = 0, taken;
	uint16_t sent, end;

	for (uint32_t i = 0; i < n; i++) {
		m[i] = make_frame(g, &f[i], g->frames + i);
		if (m[i] == NULL) {
			fprintf(stderr, "out of mbufs\n");
			g->failed++;
			return;
		}
	}
	/* Copies of the headers are needed after net_mlx5 freed the mbufs: hold them. */
	for (uint32_t i = 0; i < n; i++)
		for (struct rte_mbuf *s = m[i]; s != NULL; s = s->next)
			rte_mbuf_refcnt_update(s, 1);
	for (int tries = 0; tries < 1000; tries++) {
		sent = rte_eth_tx_burst(0, 0, m + done, (uint16_t)(n - done));
		end = (uint16_t)crl_from_be32(g->sq.dbrec[CRL_DBREC_SND_WORD]);
		for (uint32_t k = 0; k < sent; k += taken) {
			taken = golden_compare(g, m + done + k, sent - k);
			if (taken == 0)
				return;
		}
		if (sent != 0 && (uint16_t)g->at != end) {
			fprintf(stderr, "the record says %u, the WQEs end at %lu\n", end,
				(unsigned long)g->at);
			g->failed++;
		}
		done += sent;
		if (done == n)
			break;
		rte_delay_us_sleep(100);
	}
	if (done != n) {
		fprintf(stderr, "net_mlx5 took %u of %u frames\n", done, n);
		g->failed++;
	}
	g->frames += done;
	for (uint32_t i = 0; i < n; i++)
		rte_pktmbuf_free(m[i]);
}

/* Whether a frame of several pieces keeps them: in the other settings net_mlx5 puts them together,
 * as it does with what an inlined header leaves of a first piece if that is 12 bytes or less. */
static bool
one_by_one(const struct golden *g)
{
	return g->setting != GOLDEN_INLINE && g->setting != GOLDEN_WHOLE;
}

/* Lengths where something changes, then offloads, pieces and burst sizes by chance. */
static void
all_bursts(struct golden *g, uint32_t seed)
{
	static const uint16_t lengths[] = {20, 42, 59, 60, 61, 64, 65, 76, 77, 128, 200, 267, 268,
		269, 289, 290, 291, 300, 1000, 1514};
	static const uint64_t offloads[] = {0, 0, RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM,
		RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM,
		RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_TCP_CKSUM};
	uint64_t end = 3 * crl_ring_depth(g->sq.log_depth);
	struct frame f[BURST_MAX];

	for (unsigned i = 0; i < RTE_DIM(lengths); i++) {
		f[0] = (struct frame){lengths[i], 1, 0};
		burst(g, f, 1);
	}
	for (int round = 0; round < ROUNDS_MAX && g->at < end && g->failed == 0; round++) {
		uint32_t n = 1 + (uint32_t)rand_r(&seed) % BURST_MAX;
		bool mixed = rand_r(&seed) % 4 == 0, pieces = rand_r(&seed) % 4 == 0;
		uint64_t offload = offloads[rand_r(&seed) % RTE_DIM(offloads)];

		for (uint32_t i = 0; i < n; i++) {
			f[i].len = lengths[rand_r(&seed) % RTE_DIM(lengths)];
			f[i].segs = pieces && one_by_one(g) && f[i].len > 128
					    ? 1 + (uint32_t)rand_r(&seed) % 4
					    : 1;
			f[i].offload =
				mixed ? offloads[rand_r(&seed) % RTE_DIM(offloads)] : offload;
			if (g->no_csum)
				f[i].offload = 0;
		}
		burst(g, f, n);
	}
	if (g->at < end && g->failed == 0) {
		fprintf(stderr, "the ring was not gone round three times\n");
		g->failed++;
	}
}

static int
port_up(struct golden *g)
{
	struct rte_eth_conf conf = {
		.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM |
				   RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_TCP_CKSUM};
	struct rte_eth_txconf tx = {0};
	struct rte_eth_dev_info info;
	int rc;

	g->pool = rte_pktmbuf_pool_create("golden", 2047, 0, 0, 2176, SOCKET_ID_ANY);
	if (g->pool == NULL)
		return -rte_errno;
	rc = rte_eth_dev_info_get(0, &info);
	if (rc != 0)
		return rc;
	if ((info.tx_offload_capa & conf.txmode.offloads) != conf.txmode.offloads) {
		printf("this device inserts no checksums: frames that ask for them are left out\n");
		conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
		g->no_csum = true;
	}
	tx.offloads = conf.txmode.offloads;
	rc = rte_eth_dev_configure(0, 1, 1, &conf);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(0, 0, 64, SOCKET_ID_ANY, NULL, g->pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(0, 0, DESCRIPTORS, SOCKET_ID_ANY, &tx);
	if (rc == 0)
		rc = rte_eth_dev_start(0);
	return rc;
}

/* A send queue of ours, like net_mlx5's, that no NIC looks at. */
static int
ours_up(struct golden *g)
{
	struct crl_sq *sq = &g->ours;

	if (!watch_last_sq(&g->sq))
		return -ENODEV;
	sq->log_depth = g->sq.log_depth;
	sq->sqn = g->sq.sqn;
	sq->signal_every = UINT32_MAX / 2; /* net_mlx5 decides */
	sq->state = CRL_QS_READY;
	sq->flags = g->setting == GOLDEN_EMPW || g->setting == GOLDEN_INLINE ? CRL_SQ_EMPW : 0;
	sq->inline_hdr = g->setting >= GOLDEN_HEADER ? CRL_INLINE_HDR_L2 : 0;
	sq->inline_max = g->setting == GOLDEN_INLINE ? NET_MLX5_INLINE : 0;
	sq->wqe = aligned_alloc(4096, RTE_ALIGN(crl_sq_ring_bytes(sq->log_depth), 4096));
	sq->cookie = calloc(1, crl_sq_cookie_bytes(sq->log_depth));
	sq->end = calloc(1, crl_sq_end_bytes(sq->log_depth));
	if (sq->wqe == NULL || sq->cookie == NULL || sq->end == NULL)
		return -ENOMEM;
	memset(sq->wqe, 0xee, crl_sq_ring_bytes(sq->log_depth));
	return 0;
}

int
main(int argc, char **argv)
{
	static const char *const names[] = {
		"send", "empw", "inline", "header", "whole"}; /* enum golden_setting */
	const char *seed = getenv("CRL_SEED");
	struct golden g = {.setting = GOLDEN_SEND};
	int rc;

	while (argc > 2 && g.setting < GOLDEN_WHOLE && strcmp(argv[1], names[g.setting]) != 0)
		g.setting++;
	if (argc < 3 || strcmp(argv[1], names[g.setting]) != 0) {
		fprintf(stderr,
			"usage: golden_netmlx5 send|empw|inline|header|whole EAL-OPTIONS...\n");
		return 2;
	}
	argv[1] = argv[0];
	if (rte_eal_init(argc - 1, argv + 1) < 0 || rte_eth_dev_count_avail() == 0) {
		fprintf(stderr, "golden_netmlx5: no port\n");
		return 1;
	}
	rc = port_up(&g);
	if (rc == 0)
		rc = ours_up(&g);
	if (rc != 0) {
		fprintf(stderr, "golden_netmlx5: %s\n", strerror(-rc));
		return 1;
	}
	all_bursts(&g, seed != NULL ? (uint32_t)strtoul(seed, NULL, 0) : 1);
	printf("%s: %u WQEs of %u frames compared, %u failures\n", names[g.setting], g.wqes,
		g.frames, g.failed);
	golden_print_masks();
	rte_eth_dev_stop(0);
	rte_eth_dev_close(0);
	rte_eal_cleanup();
	return g.failed != 0;
}
