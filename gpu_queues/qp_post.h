/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage 2 of 4 of an RDMA WRITE on a connected queue pair: as sq_post.h, whose book and control
 * segment it uses. The send side of a queue pair is a struct crl_sq whose sqn is the QP's number;
 * reserve, doorbell and completion are those of a send queue.
 *
 * A write is a control segment, the remote address, and data: one piece by pointer, or up to
 * CRL_INLINE_WRITE_MAX bytes in the WQE. No Ethernet segment, no multi-packet form. PRM: "RDMA
 * operations"; the test holds the bytes against rdma-core's own segment writers. drivers/mlx5 makes
 * no queue pairs yet, and so no NIC has read these.
 */
#ifndef CRL_QP_POST_H
#define CRL_QP_POST_H

#include "sq_post.h"

/* One write: len bytes of src to raddr of the peer, in the region that rkey names there. */
struct crl_write {
	struct crl_piece src;
	uint64_t raddr;
	uint32_t rkey;
	uint32_t rsvd;
};

/* What is left of 63 segments beside control, remote address and the four bytes of the count. */
#define CRL_INLINE_WRITE_MAX ((CRL_WQE_DS_MAX - 2u) * CRL_WQE_SEG_BYTES - 4u)

/* Remote address segment. */
CRL_FN struct crl_seg
crl_seg_raddr(uint64_t raddr, uint32_t rkey)
{
	struct crl_seg s;

	s.q[0] = crl_bswap64(raddr);
	s.q[1] = crl_bswap32(rkey); /* and four reserved bytes */
	return s;
}

/* Segments of a write whose data is inlined when it is 1 to inline_max bytes long. */
CRL_FN uint32_t
crl_write_ds(uint32_t len, uint32_t inline_max)
{
	if (len == 0 || len > inline_max)
		return 3u;
	return 2u + (len + 4u + CRL_WQE_SEG_BYTES - 1u) / CRL_WQE_SEG_BYTES;
}

/* Segment k of such a write, but for the control segment, which is number 0. */
CRL_FN struct crl_seg
crl_seg_write(const struct crl_write *w, uint32_t inline_max, uint32_t k)
{
	if (k == 1u)
		return crl_seg_raddr(w->raddr, w->rkey);
	if (w->src.len == 0 || w->src.len > inline_max)
		return crl_seg_data(w->src.len, w->src.lkey, w->src.iova);
	return crl_seg_inline(w->src.data, w->src.len, k - 2u);
}

/*
 * One write into the crl_wqebbs(crl_write_ds()) WQEBBs reserved at pi. inline_max: at most
 * CRL_INLINE_WRITE_MAX; data up to that length is read now, and its memory is free again. len is at
 * least 1: by pointer 0 would be 2 GiB. signal and cookie: as crl_sq_put_send().
 */
CRL_FN void
crl_qp_put_write(struct crl_sq *sq, uint64_t pi, const struct crl_write *w, uint32_t inline_max,
	bool signal, uint64_t cookie)
{
	uint32_t ds = crl_write_ds(w->src.len, inline_max), k;

	CRL_ASSERT(w->src.len != 0 && inline_max <= CRL_INLINE_WRITE_MAX);
	for (k = 1; k < ds; k++)
		crl_st_seg(crl_sq_seg(sq, pi, k), crl_seg_write(w, inline_max, k));
	signal = signal || crl_sq_signal_due(sq, 1, crl_wqebbs(ds));
	crl_sq_put_ctrl(sq, pi, CRL_OPCODE_RDMA_WRITE, ds, 1, signal, cookie);
}

#endif /* CRL_QP_POST_H */
