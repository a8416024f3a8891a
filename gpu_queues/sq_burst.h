/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stages 2 and 3 of a send, many frames at once: bursts of SENDs by the 32 lanes of a warp, out of
 * a table of frames, for a queue that carries nothing else. The bytes are sq_post.h's; what is kept
 * is less: a warp has what it needs of its queue in registers (struct crl_burst), and the queue's
 * book (struct crl_sq) is brought up to date when somebody looks at it.
 *
 *   all lanes   crl_burst_open() once
 *   lane 0      crl_burst_room() when crl_burst_fits() says no; tells the others (a shuffle)
 *   all lanes   crl_burst_write(), each its quarter of every eighth WQE; then __syncwarp(), which
 *               orders their stores before what lane 0 does next
 *   lane 0      crl_burst_ring(); all lanes: crl_burst_next()
 *   lane 0      crl_burst_close() in the end: the book is right again
 *
 * Only the last SEND of a burst asks for a CQE. No cookies: who wants them uses sq_post.h or
 * sq_warp.h. Threads: as sq_post.h. A host runs the lanes one after another.
 */
#ifndef CRL_SQ_BURST_H
#define CRL_SQ_BURST_H

#include "cq_poll.h"
#include "sq_doorbell.h"
#include "sq_post.h"
#include "sq_reserve.h"

#define CRL_BURST_LANES 32u
#define CRL_BURST_DS	3u   /* control, Ethernet, data; the fourth segment of the WQEBB is 0 */
#define CRL_BURST_STEP	8u   /* WQEs that the lanes write at once, four lanes each .. */
#define CRL_BURST_BYTES 512u /* .. and bytes */
#define CRL_BURST_GROUP 32u  /* WQEs, four a lane, whose frames travel together */

/* A frame of a table: sixteen bytes, one load. In memory of the sender alone. */
struct crl_frame {
	CRL_ALIGNAS(16) uint64_t iova; /* as the NIC names it */
	uint32_t len;		       /* bytes */
	uint32_t lkey;
};
CRL_STATIC_ASSERT(sizeof(struct crl_frame) == 16, "one load");

/* The sender's own memory, or the GPU's at rest: an ordinary load of sixteen bytes. */
CRL_FN struct crl_frame
crl_ld_frame(const struct crl_frame *at)
{
	const struct crl_seg s = *(const struct crl_seg *)at;
	struct crl_frame f;

	f.iova = s.q[0];
	f.len = (uint32_t)s.q[1];
	f.lkey = (uint32_t)(s.q[1] >> 32);
	return f;
}

/* For crl_perm(): a word turned round; the other word as it is; a 16-bit index into a control
 * segment's first word, whose last byte is the opcode. */
#define CRL_BURST_SWAP 0x0123u
#define CRL_BURST_KEEP 0x7654u
#define CRL_BURST_CTRL 0x4015u

/*
 * One lane's view of a queue. A segment's word is either a word of its frame, byte-swapped, or a
 * word that is the same in every WQE, and one crl_perm() decides: no lane takes another way.
 */
struct crl_burst {
	uint8_t *wqe; /* ring, at the lane's segment of a WQEBB in slot 0 */
	crl_be32 *dbrec;
	uint64_t *uar;
	uint32_t bytes;	    /* of the ring */
	uint32_t pi;	    /* next WQEBB, low 32 bits */
	uint32_t room;	    /* up to this index there is room, low 32 bits */
	uint32_t same[3];   /* words 0 to 2; word 3 is 0 where it is not the frame's */
	uint32_t asked;	    /* word 2 when the WQE asks for a CQE */
	uint32_t sel0, sel; /* of word 0; of the others */
};

/* All lanes. lane % 4: control, Ethernet, data, zeros. */
CRL_FN struct crl_burst
crl_burst_open(const struct crl_sq *sq, uint32_t cs_flags, uint32_t lane)
{
	struct crl_seg c =
		crl_seg_ctrl(CRL_OPCODE_SEND, 0, sq->sqn, CRL_BURST_DS, CRL_WQE_CE_ON_FIRST_ERR);
	struct crl_seg a =
		crl_seg_ctrl(CRL_OPCODE_SEND, 0, sq->sqn, CRL_BURST_DS, CRL_WQE_CE_ALWAYS);
	struct crl_seg e = crl_seg_eth(cs_flags), s = {{0, 0}};
	uint32_t k = lane % 4u;
	struct crl_burst b;

	s = k == 0 ? c : k == 1u ? e : s;
	b.wqe = sq->wqe + k * CRL_WQE_SEG_BYTES;
	b.dbrec = sq->dbrec;
	b.uar = sq->uar;
	b.bytes = CRL_WQEBB_BYTES << sq->log_depth;
	b.pi = (uint32_t)sq->pi;
	b.room = (uint32_t)(sq->ci + crl_ring_depth(sq->log_depth));
	b.same[0] = k == 0 ? CRL_OPCODE_SEND : (uint32_t)s.q[0];
	b.same[1] = (uint32_t)(s.q[0] >> 32);
	b.same[2] = (uint32_t)s.q[1];
	b.asked = k == 0 ? (uint32_t)a.q[1] : b.same[2];
	b.sel = k == 2u ? CRL_BURST_SWAP : CRL_BURST_KEEP;
	b.sel0 = k == 0 ? CRL_BURST_CTRL : b.sel;
	return b;
}

/* Lane's segment of the SEND at index, whose frame is f; word2: same[2] or asked. Pure. */
CRL_FN struct crl_seg
crl_burst_seg(const struct crl_burst *b, uint32_t index, struct crl_frame f, uint32_t word2)
{
	uint32_t x = crl_perm(b->sel0 == CRL_BURST_CTRL ? index : f.len, b->same[0], b->sel0);
	uint32_t y = crl_perm(f.lkey, b->same[1], b->sel);
	uint32_t z = crl_perm((uint32_t)(f.iova >> 32), word2, b->sel);
	uint32_t w = crl_perm((uint32_t)f.iova, 0, b->sel);
	struct crl_seg s = {{(uint64_t)y << 32 | x, (uint64_t)w << 32 | z}};

	return s;
}

/* A lane on its way through a burst. */
struct crl_burst_at {
	uint8_t *wqe;
	const struct crl_frame *frame;
	uint32_t index; /* of its next WQE */
	uint32_t last;	/* of the burst's last WQE */
};

/* Of the last WQE of a burst's last group, which may be the burst's last. */
CRL_FN uint32_t
crl_burst_word2(const struct crl_burst *b, const struct crl_burst_at *at)
{
	return at->index + 3u * CRL_BURST_STEP == at->last ? b->asked : b->same[2];
}

/* Lane's frames of a group. */
CRL_FN void
crl_burst_load(struct crl_frame f[4], const struct crl_frame *at)
{
	uint32_t k;

	CRL_UNROLL(4)
	for (k = 0; k < 4u; k++)
		f[k] = crl_ld_frame(at + k * CRL_BURST_STEP);
}

/* Lane's segments of a group; word2: of its last WQE. */
CRL_FN void
crl_burst_store(const struct crl_burst *b, struct crl_burst_at *at, const struct crl_frame f[4],
	uint32_t word2)
{
	uint32_t k;

	CRL_UNROLL(4)
	for (k = 0; k < 4u; k++)
		crl_st_seg(at->wqe + k * CRL_BURST_BYTES,
			crl_burst_seg(b, at->index + k * CRL_BURST_STEP, f[k],
				k == 3u ? word2 : b->same[2]));
	at->wqe += 4u * CRL_BURST_BYTES;
	at->frame += CRL_BURST_GROUP;
	at->index += CRL_BURST_GROUP;
}

/*
 * Lane's segments of all whole groups of n WQEs, at least one, that do not run over the ring's end.
 * A group's four frames are loaded before the group before it is stored, as no load passes a store
 * to a ring: so a lane waits for its table once a burst and not once a group. The loads of a group
 * stand together: a GPU can wait for all loads of a kind, not for the first of them.
 */
CRL_FN void
crl_burst_groups(const struct crl_burst *b, struct crl_burst_at *at, uint32_t n)
{
	struct crl_frame now[4], next[4];

	crl_burst_load(now, at->frame);
	for (; n >= 3u * CRL_BURST_GROUP; n -= 2u * CRL_BURST_GROUP) {
		crl_burst_load(next, at->frame + CRL_BURST_GROUP);
		crl_burst_store(b, at, now, b->same[2]);
		crl_burst_load(now, at->frame + CRL_BURST_GROUP);
		crl_burst_store(b, at, next, b->same[2]);
	}
	if (n >= 2u * CRL_BURST_GROUP) {
		crl_burst_load(next, at->frame + CRL_BURST_GROUP);
		crl_burst_store(b, at, now, b->same[2]);
		crl_burst_store(b, at, next, crl_burst_word2(b, at));
	} else {
		crl_burst_store(b, at, now, crl_burst_word2(b, at));
	}
}

/* The same, a WQE at a time: what is less than a group, and what runs over the ring's end. */
CRL_FN void
crl_burst_rest(const struct crl_burst *b, struct crl_burst_at *at)
{
	for (; (int32_t)(at->last - at->index) >= 0; at->index += CRL_BURST_STEP) {
		crl_st_seg(b->wqe + ((at->index * CRL_WQEBB_BYTES) & (b->bytes - 1u)),
			crl_burst_seg(b, at->index, crl_ld_frame(at->frame),
				at->index == at->last ? b->asked : b->same[2]));
		at->frame += CRL_BURST_STEP;
	}
}

/*
 * Lane's part of the n SENDs at pi (32 bits of it), for which there is room; frame: n of them.
 * Every lane of the warp calls it with the same arguments.
 */
CRL_FN void
crl_burst_write(const struct crl_burst *b, uint32_t pi, const struct crl_frame *frame, uint32_t n,
	uint32_t lane)
{
	uint32_t off = (pi * CRL_WQEBB_BYTES) & (b->bytes - 1u);
	struct crl_burst_at at = {b->wqe + off + lane / 4u * CRL_WQEBB_BYTES, frame + lane / 4u,
		pi + lane / 4u, pi + n - 1u};

	if (n >= CRL_BURST_GROUP && off + n * CRL_WQEBB_BYTES <= b->bytes)
		crl_burst_groups(b, &at, n);
	crl_burst_rest(b, &at);
}

/* A burst of one frame by one thread, which has lane 0's view. Asks for a CQE. */
CRL_FN void
crl_burst_write_one(const struct crl_burst *b, struct crl_frame f, uint32_t cs_flags)
{
	uint8_t *at = b->wqe + ((b->pi * CRL_WQEBB_BYTES) & (b->bytes - 1u));
	struct crl_seg c = {
		{(uint64_t)b->same[1] << 32 | crl_perm(b->pi, CRL_OPCODE_SEND, CRL_BURST_CTRL),
			b->asked}};

	crl_st_seg(at, c);
	crl_st_seg(at + CRL_WQE_SEG_BYTES, crl_seg_eth(cs_flags));
	crl_st_seg(at + 2u * CRL_WQE_SEG_BYTES, crl_seg_data(f.len, f.lkey, f.iova));
}

/* Lane 0: what the register takes for a burst that ends before index end. */
CRL_FN uint64_t
crl_burst_db(const struct crl_burst *b, uint32_t end)
{
	return (uint64_t)b->same[1] << 32 | crl_perm(end - 1u, CRL_OPCODE_SEND, CRL_BURST_CTRL);
}

/* Lane 0, after all lanes wrote the n SENDs at pi: both edges, as every post. */
CRL_FN void
crl_burst_ring(struct crl_burst *b, uint32_t n)
{
	crl_order_wqe_before_record(); /* pairs with the NIC's fetch after it reads the record */
	crl_st32(&b->dbrec[CRL_DBREC_SND_WORD], crl_bswap32((b->pi + n) & 0xffffu));
	crl_order_record_before_uar(); /* pairs with the NIC's record read at the register write */
	crl_st_mmio64(b->uar, crl_burst_db(b, b->pi + n));
	crl_order_uar_out();
}

/* The same with both edges at GPU scope: for rings and records in this GPU's own memory only. */
CRL_FN void
crl_burst_ring_gpu(struct crl_burst *b, uint32_t n)
{
	crl_order_wqe_before_record_gpu(); /* pairs with the NIC's fetch after it reads the record
					    */
	crl_st32(&b->dbrec[CRL_DBREC_SND_WORD], crl_bswap32((b->pi + n) & 0xffffu));
	crl_order_record_before_uar_gpu(); /* pairs with the NIC's record read */
	crl_st_mmio64(b->uar, crl_burst_db(b, b->pi + n));
	crl_order_uar_out();
}

/* All lanes: the n SENDs are on their way. */
CRL_FN void
crl_burst_next(struct crl_burst *b, uint32_t n)
{
	b->pi += n;
}

/* Whether there is room for n more, as far as is known without a look at memory. */
CRL_FN bool
crl_burst_fits(const struct crl_burst *b, uint32_t n)
{
	return (int32_t)(b->room - b->pi - n) >= 0;
}

/* Where a look at a CQ looks: a NIC writes its CQEs in order, and after an error only errors. */
CRL_FN uint32_t
crl_burst_probe(uint32_t i)
{
	return i < 4u ? i : i < 8u ? 2u * i - 3u : i < 10u ? 8u * i - 49u : 16u * i - 129u;
}

/* What was read of the CQ goes back to the NIC; nothing, no fence either, where it ignores that. */
CRL_FN void
crl_burst_giveback(struct crl_cq *cq)
{
	if (!crl_cq_owes(cq))
		return;
	crl_order_reads_before_giveback(); /* pairs with the NIC's next write to these entries */
	crl_cq_giveback(cq);
}

#define CRL_BURST_PROBES 16u /* entries 0 to 3, 5, 7, 9, 11, 15, 23, 31, 47, .. 111 from here */

/*
 * Completions of a queue of bursts, in an ordinary CQ: room comes back at once. Probes some entries
 * ahead, all loads on their way together; the last that is there stands for all before it. Returns
 * as crl_sq_poll(), which it leaves errors to.
 */
CRL_FN enum crl_st
crl_burst_reap(struct crl_sq *sq, struct crl_qerror *error)
{
	uint32_t tail[CRL_BURST_PROBES], i, n = 0, last = 0;
	bool there[CRL_BURST_PROBES];
	enum crl_st st = CRL_OK;
	uint64_t w;

	CRL_ASSERT(!(sq->cq.flags & CRL_CQ_COLLAPSED));
	if (sq->state != CRL_QS_READY)
		return CRL_FAILED;
	CRL_UNROLL(16)
	for (i = 0; i < CRL_BURST_PROBES; i++)
		there[i] = crl_cq_peek(&sq->cq, sq->cq.ci + crl_burst_probe(i), &tail[i]);
	CRL_UNROLL(16)
	for (i = 0; i < CRL_BURST_PROBES; i++) {
		if (there[i] && crl_burst_probe(i) < crl_ring_depth(sq->cq.log_depth) &&
			crl_cqe_opcode(crl_tail_op_own(tail[i])) == CRL_CQE_REQ) {
			last = tail[i];
			n = crl_burst_probe(i) + 1u;
		}
	}
	if (n == 0 && !there[0])
		return CRL_AGAIN;
	w = crl_index_from16(sq->completed, crl_tail_counter(last));
	if (n == 0 || w >= sq->rung) { /* an error, which needs no book entry of the WQE */
		st = crl_sq_poll(sq, error, 1);
	} else {
		sq->completed = w + 1u; /* a SEND of a burst is one WQEBB */
		sq->cq.ci += n;
		crl_order_send_done_before_reuse(); /* pairs with the NIC's last read of these WQEs
						     */
	}
	sq->ci = sq->completed;
	crl_burst_giveback(&sq->cq);
	return st;
}

/*
 * One completion, if it is there: for who waits for each. Returns as crl_sq_poll(), which it leaves
 * errors to; room comes back at once.
 */
CRL_FN enum crl_st
crl_burst_poll_one(struct crl_sq *sq, struct crl_qerror *error)
{
	enum crl_st st = CRL_OK;
	uint32_t tail;
	uint64_t w;

	if (!crl_cq_peek(&sq->cq, sq->cq.ci, &tail))
		return sq->state == CRL_QS_READY ? CRL_AGAIN : CRL_FAILED;
	w = crl_index_from16(sq->completed, crl_tail_counter(tail));
	if (crl_cqe_opcode(crl_tail_op_own(tail)) != CRL_CQE_REQ || w >= sq->rung) {
		st = crl_sq_poll(sq, error, 1);
	} else {
		sq->completed = w + 1u;
		sq->cq.ci++;
		crl_order_send_done_before_reuse(); /* pairs with the NIC's last read of the WQE */
	}
	sq->ci = sq->completed;
	crl_burst_giveback(&sq->cq);
	return st;
}

/* Lane 0: the book as of the last burst that was rung for. */
CRL_FN void
crl_burst_close(const struct crl_burst *b, struct crl_sq *sq)
{
	sq->pi += (uint32_t)(b->pi - (uint32_t)sq->pi);
	sq->posted = sq->rung = sq->signalled = sq->pi;
	sq->unsignalled = 0;
	sq->last = sq->pi - 1u;
	sq->db = crl_burst_db(b, b->pi);
}

/*
 * Lane 0: brings the book up to date, looks at completions once, and says to what index there is
 * room now: for b->room of all lanes. CRL_FAILED: the queue is in error, its mailbox has it.
 */
CRL_FN enum crl_st
crl_burst_room(
	const struct crl_burst *b, struct crl_sq *sq, struct crl_qerror *error, uint32_t *room)
{
	enum crl_st st;

	crl_burst_close(b, sq);
	st = crl_burst_reap(sq, error);
	*room = (uint32_t)(sq->ci + crl_ring_depth(sq->log_depth));
	return st;
}

#endif /* CRL_SQ_BURST_H */
