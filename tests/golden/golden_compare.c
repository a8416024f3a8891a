/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * golden.h: one WQE of net_mlx5's, taken apart and made again. Our writers get the frames, the
 * index and the queue number, nothing of net_mlx5's bytes but what masks[] says.
 */
#include <stdio.h>
#include <string.h>

#include "../../gpu_queues/sq_post.h"
#include "../../gpu_queues/sq_reserve.h"
#include "golden.h"

/* What is not compared, and what our writers are told instead of deciding it. */
enum { MASK_PADDING, MASK_SIGNAL, MASKS };
static struct {
	const char *what;
	unsigned long differed;
} masks[MASKS] = {
	[MASK_PADDING] = {"bytes behind an inlined frame up to its segment's end: the NIC reads "
			  "as many as the count says; net_mlx5 leaves there what was, we write "
			  "zeros",
		0},
	[MASK_SIGNAL] = {"whether to ask for a CQE is each driver's own rule: our writer is told "
			 "what net_mlx5 chose, and must write that choice as the same bits",
		0},
};

static void
fail(struct golden *g, const char *what, uint64_t index, const uint8_t *theirs, const uint8_t *mine,
	uint32_t bytes)
{
	g->failed++;
	fprintf(stderr, "WQE %lu: %s\n", (unsigned long)index, what);
	for (uint32_t i = 0; i < bytes; i += 16) {
		fprintf(stderr, "  segment %2u  net_mlx5 ", i / 16);
		for (uint32_t k = 0; k < 16; k++)
			fprintf(stderr, "%02x", theirs[i + k]);
		fprintf(stderr, "  ours ");
		for (uint32_t k = 0; k < 16; k++)
			fprintf(stderr, "%02x", mine[i + k]);
		fprintf(stderr, "%s\n", memcmp(theirs + i, mine + i, 16) == 0 ? "" : "  <--");
	}
}

static uint32_t
cs_flags_of(uint64_t offload)
{
	uint32_t flags = 0;

	if (offload & RTE_MBUF_F_TX_IP_CKSUM)
		flags |= CRL_ETH_L3_CSUM;
	if ((offload & RTE_MBUF_F_TX_L4_MASK) != 0)
		flags |= CRL_ETH_L4_CSUM;
	return flags;
}

/* The pieces of a frame; their number. */
static uint32_t
pieces_of(struct golden *g, const struct rte_mbuf *m, struct crl_piece *piece)
{
	uint32_t n = 0;

	for (; m != NULL; m = m->next, n++) {
		piece[n].data = rte_pktmbuf_mtod(m, const uint8_t *);
		piece[n].iova = (uintptr_t)piece[n].data; /* net_mlx5 names memory by address */
		piece[n].len = m->data_len;
		if (!watch_lkey(piece[n].data, &piece[n].lkey))
			g->failed++;
	}
	return n;
}

/* Frames in a multi-packet send of ds segments; padding[i] = 1 for bytes behind inlined data. */
static uint32_t
empw_frames(const uint8_t *wqe, uint32_t ds, uint8_t *padding)
{
	uint32_t n = 0, at = 2 * CRL_WQE_SEG_BYTES, count, end;

	while (at < ds * CRL_WQE_SEG_BYTES) {
		count = crl_from_be32(*(const crl_be32 *)(wqe + at));
		n++;
		if (!(count & CRL_WQE_INLINE)) {
			at += CRL_WQE_SEG_BYTES;
			continue;
		}
		end = at + 4 + (count & ~CRL_WQE_INLINE);
		at = (end + CRL_WQE_SEG_BYTES - 1) & ~(CRL_WQE_SEG_BYTES - 1);
		if (at <= CRL_WQE_DS_MAX * CRL_WQE_SEG_BYTES)
			memset(padding + end, 1, at - end);
	}
	return n;
}

/* A WQE, straightened where it runs over the end of its ring. */
static void
copy_wqe(uint8_t *to, const uint8_t *ring, uint32_t log_depth, uint64_t index, uint32_t ds)
{
	uint64_t bytes = crl_ring_depth(log_depth) * CRL_WQEBB_BYTES;

	for (uint32_t i = 0; i < ds * CRL_WQE_SEG_BYTES; i++)
		to[i] = ring[(index * CRL_WQEBB_BYTES + i) % bytes];
}

static void
compare(struct golden *g, const uint8_t *theirs, uint32_t ds, const uint8_t *padding)
{
	uint8_t mine[CRL_WQE_DS_MAX * CRL_WQE_SEG_BYTES];
	bool differ = false;

	copy_wqe(mine, g->ours.wqe, g->ours.log_depth, g->at, ds);
	for (uint32_t i = 0; i < ds * CRL_WQE_SEG_BYTES; i++) {
		if (theirs[i] == mine[i])
			continue;
		if (padding[i])
			masks[MASK_PADDING].differed++;
		else
			differ = true;
	}
	if (differ)
		fail(g, "differs", g->at, theirs, mine, ds * CRL_WQE_SEG_BYTES);
	g->wqes++;
}

/* How many of the frames our own rule would put into one WQE: the same as net_mlx5's. */
static uint32_t
fit_of(const struct golden *g, const struct crl_piece *piece, uint32_t nr, uint32_t *ds)
{
	return crl_empw_fit(&g->ours, piece, nr, CRL_WQE_DS_MAX, ds);
}

/* net_mlx5's SEND of ds segments made again from one frame. */
static void
send_again(struct golden *g, uint64_t pi, const struct rte_mbuf *m, uint32_t ds, bool signal,
	uint8_t *padding)
{
	struct crl_piece piece[CRL_WQE_DS_MAX];
	uint32_t nr = pieces_of(g, m, piece), cs = cs_flags_of(m->ol_flags), end;

	if (g->setting != GOLDEN_WHOLE || nr != 1 || piece[0].len > GOLDEN_WHOLE_MAX) {
		crl_sq_put_send(&g->ours, pi, piece, nr, cs, signal, 0);
		return;
	}
	crl_sq_put_send_inline(&g->ours, pi, piece, cs, signal, 0);
	end = 30 + piece[0].len;
	memset(padding + end, 1, ds * CRL_WQE_SEG_BYTES > end ? ds * CRL_WQE_SEG_BYTES - end : 0);
}

uint32_t
golden_compare(struct golden *g, struct rte_mbuf **m, uint32_t left)
{
	uint8_t theirs[CRL_WQE_DS_MAX * CRL_WQE_SEG_BYTES], padding[sizeof(theirs)] = {0};
	const struct crl_wqe_ctrl *ctrl = (const void *)theirs;
	struct crl_piece piece[CRL_WQE_DS_MAX];
	uint32_t ds, n = 1, nr = 0, fit = 0;
	uint64_t pi;
	bool signal;

	copy_wqe(theirs, g->sq.ring, g->sq.log_depth, g->at, 1);
	ds = crl_wqe_ds(ctrl);
	copy_wqe(theirs, g->sq.ring, g->sq.log_depth, g->at, ds);
	signal = crl_wqe_ce(ctrl) == CRL_WQE_CE_ALWAYS;
	masks[MASK_SIGNAL].differed += signal;
	g->ours.ci = g->ours.completed = g->ours.pi; /* all room */
	if (ds < 3 || crl_sq_reserve(&g->ours, crl_wqebbs(ds), &pi) != CRL_OK || pi != g->at) {
		fail(g, "cannot be taken apart", g->at, theirs, theirs, ds * CRL_WQE_SEG_BYTES);
		return 0;
	}
	if (crl_wqe_opcode(ctrl) == CRL_OPCODE_SEND) {
		send_again(g, pi, m[0], ds, signal, padding);
	} else if (crl_wqe_opcode(ctrl) == CRL_OPCODE_EMPW) {
		n = empw_frames(theirs, ds, padding);
		for (uint32_t i = 0; i < n && i < left; i++)
			nr += pieces_of(g, m[i], piece + nr);
		if (n > left || nr != n || fit_of(g, piece, nr, &fit) != n || fit != ds) {
			fail(g, "other frames in it", g->at, theirs, theirs,
				ds * CRL_WQE_SEG_BYTES);
			return 0;
		}
		crl_sq_put_empw(&g->ours, pi, piece, nr, cs_flags_of(m[0]->ol_flags), signal, 0);
	} else {
		fail(g, "another opcode", g->at, theirs, theirs, ds * CRL_WQE_SEG_BYTES);
		return 0;
	}
	compare(g, theirs, ds, padding);
	g->at += crl_wqebbs(ds);
	return n;
}

void
golden_print_masks(void)
{
	for (int i = 0; i < MASKS; i++)
		printf("masked, differed %lu times: %s\n", masks[i].differed, masks[i].what);
}
