/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_post.h and qp_post.h against rdma-core: WQEs that are put together here by the segment writers
 * and structs of its public mlx5dv.h, as its own libmlx5 does, and by ours; equal but for the bytes
 * that belong to no segment's data. Sends with inlined headers, inlined altogether and by pointer;
 * RDMA writes, which nothing else here reads yet: softcx has no queue pairs.
 */
#include <infiniband/mlx5dv.h>

#include "fake_nic.h"

#include "gpu_queues/qp_post.h"
#include "gpu_queues/sq_reserve.h"

#define WQE_MAX (CRL_WQE_DS_MAX * CRL_WQE_SEG_BYTES)

static uint8_t payload[1100];
static uint64_t seed = 0x853c49e6748fea9bull;

static uint32_t
rnd(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % below;
}

/* The rest of len inlined bytes to the end of its segment is the padding of whoever wrote it. */
static uint32_t
up16(uint32_t n)
{
	return (n + 15u) & ~15u;
}

static void
their_ctrl(uint8_t *w, const struct crl_sq *sq, uint64_t pi, uint8_t opcode, uint32_t bytes,
	bool signal)
{
	mlx5dv_set_ctrl_seg((struct mlx5_wqe_ctrl_seg *)w, (uint16_t)pi, opcode, 0, sq->sqn,
		signal ? MLX5_WQE_CTRL_CQ_UPDATE : CRL_WQE_CE_ON_FIRST_ERR << 2,
		(uint8_t)(bytes / 16u), 0, 0);
}

/* Returns the bytes of the WQE. */
static uint32_t
their_send(uint8_t *w, const struct crl_piece *p, uint32_t nr, uint32_t hdr, uint8_t cs)
{
	uint32_t at, i, skip = hdr;

	mlx5dv_set_eth_seg((struct mlx5_wqe_eth_seg *)(w + 16), cs, 0, (uint16_t)hdr,
		(uint8_t *)(uintptr_t)p[0].data);
	at = 16u + up16(offsetof(struct mlx5_wqe_eth_seg, inline_hdr_start) + hdr);
	for (i = 0; i < nr; i++, skip = 0) {
		if (p[i].len == skip)
			continue;
		mlx5dv_set_data_seg((struct mlx5_wqe_data_seg *)(w + at), p[i].len - skip,
			p[i].lkey, p[i].iova + skip);
		at += 16u;
	}
	return at;
}

static uint32_t
their_write(uint8_t *w, const struct crl_write *wr, bool inlined)
{
	struct mlx5_wqe_raddr_seg *r = (struct mlx5_wqe_raddr_seg *)(w + 16);
	struct mlx5_wqe_inl_data_seg *d = (struct mlx5_wqe_inl_data_seg *)(w + 32);

	r->raddr = htobe64(wr->raddr);
	r->rkey = htobe32(wr->rkey);
	r->reserved = 0;
	if (!inlined) {
		mlx5dv_set_data_seg((struct mlx5_wqe_data_seg *)(w + 32), wr->src.len, wr->src.lkey,
			wr->src.iova);
		return 48u;
	}
	d->byte_count = htobe32(wr->src.len | MLX5_INLINE_SEG);
	memcpy(d + 1, wr->src.data, wr->src.len);
	return up16(32u + 4u + wr->src.len);
}

static void
same(const struct crl_sq *sq, uint64_t pi, const uint8_t *theirs, uint32_t bytes)
{
	uint32_t k;

	for (k = 0; k < bytes / 16u; k++)
		assert_memory_equal(crl_sq_seg(sq, pi, k), theirs + 16u * k, 16);
	assert_int_equal(sq->posted, pi + (bytes + 63u) / 64u);
}

static struct crl_piece
piece(uint32_t len)
{
	struct crl_piece p = {payload + 2u * rnd(20), seed * 3u, len, rnd(0x7fffffffu)};

	return p;
}

static uint64_t
fresh(struct fake_nic *n, uint32_t bbs)
{
	struct crl_sq *sq = &n->q.sq;
	uint64_t pi = seed >> rnd(60u);

	sq->pi = sq->posted = sq->rung = sq->completed = sq->ci = sq->signalled = pi;
	sq->unsignalled = 0;
	sq->signal_every = UINT32_MAX; /* only those that ask */
	sq->sqn = rnd(1u << 24);
	assert_int_equal(crl_sq_reserve(sq, bbs, &pi), CRL_OK);
	return pi;
}

/* One to three pieces; the front inlined as a NIC wants it, or not at all. */
static void
sends(void **state)
{
	uint8_t theirs[WQE_MAX];
	struct crl_piece p[3];
	uint32_t i, k, nr, hdr, bytes, cs;
	struct fake_nic n;
	uint64_t pi;
	bool signal;

	fake_open(&n, 6, 3, 64, false);
	for (i = 0; i < 30000u; i++) {
		n.q.sq.inline_hdr = rnd(2) ? CRL_INLINE_HDR_L2 : 0;
		nr = 1u + rnd(3);
		for (k = 0; k < nr; k++)
			p[k] = piece((nr == 1u ? 1u : 18u) + rnd(rnd(4) ? 30u : 900u));
		hdr = p[0].len < n.q.sq.inline_hdr ? p[0].len : n.q.sq.inline_hdr;
		cs = rnd(4) << 6;
		signal = rnd(2);
		memset(theirs, 0, sizeof(theirs));
		bytes = their_send(theirs, p, nr, hdr, (uint8_t)cs);
		assert_int_equal(
			crl_send_ds(crl_send_hdr(&n.q.sq, p[0].len), p[0].len, nr), bytes / 16u);
		pi = fresh(&n, (bytes + 63u) / 64u);
		their_ctrl(theirs, &n.q.sq, pi, MLX5_OPCODE_SEND, bytes, signal);
		crl_sq_put_send(&n.q.sq, pi, p, nr, cs, signal, i);
		same(&n.q.sq, pi, theirs, bytes);
	}
	fake_close(&n);
}

/* Every length that there is, once with each kind of CQE. */
static void
inlined_sends(void **state)
{
	uint8_t theirs[WQE_MAX];
	struct crl_piece p;
	uint32_t len, bytes;
	struct fake_nic n;
	uint64_t pi;

	fake_open(&n, 6, 3, 64, false);
	for (len = 2; len <= 2u * CRL_INLINE_SEND_MAX + 1u; len++) {
		p = piece(len / 2u);
		memset(theirs, 0, sizeof(theirs));
		bytes = their_send(theirs, &p, 1, len / 2u, 0xc0);
		pi = fresh(&n, crl_wqebbs(1u + crl_eth_segs(len / 2u)));
		their_ctrl(theirs, &n.q.sq, pi, MLX5_OPCODE_SEND, bytes, len & 1u);
		crl_sq_put_send_inline(&n.q.sq, pi, &p, 0xc0, len & 1u, len);
		same(&n.q.sq, pi, theirs, bytes);
	}
	assert_int_equal(bytes, WQE_MAX); /* the longest fills a WQE */
	fake_close(&n);
}

static void
writes(void **state)
{
	uint8_t theirs[WQE_MAX];
	struct crl_write w;
	uint32_t i, bytes, most;
	struct fake_nic n;
	uint64_t pi;

	fake_open(&n, 6, 3, 64, false);
	for (i = 2; i <= 2u * CRL_INLINE_WRITE_MAX + 201u; i++) {
		w = (struct crl_write){piece(i / 2u), seed * 7u, rnd(0x7fffffffu), 0};
		most = i & 1u ? CRL_INLINE_WRITE_MAX : rnd(CRL_INLINE_WRITE_MAX);
		memset(theirs, 0, sizeof(theirs));
		bytes = their_write(theirs, &w, w.src.len <= most);
		assert_int_equal(crl_write_ds(w.src.len, most), bytes / 16u);
		pi = fresh(&n, (bytes + 63u) / 64u);
		their_ctrl(theirs, &n.q.sq, pi, MLX5_OPCODE_RDMA_WRITE, bytes, i & 1u);
		crl_qp_put_write(&n.q.sq, pi, &w, most, i & 1u, i);
		same(&n.q.sq, pi, theirs, bytes);
	}
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends),
		cmocka_unit_test(inlined_sends),
		cmocka_unit_test(writes),
	};
	size_t i;

	for (i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7u + i / 251u + 1u);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
