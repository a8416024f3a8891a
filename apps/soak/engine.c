// SPDX-License-Identifier: BSD-3-Clause
/*
 * The soak's two engines. One takes what came, judges every byte of it, gives the slots back and
 * tells the sender; the other sends numbered frames in every form a WQE has, from slots that are
 * written again only when their sends completed. Both run on engines' threads.
 *
 * No frame is ever lost for want of a buffer: a flow has no more frames under way than the
 * receive ring that they come back to has slots.
 */
#include "gpu_queues/fwd.h"

#include "frame.h"

#define GATHER_FIRST 48u /* bytes of a gathered frame's first piece; the others share the rest */
#define NOP_MAX	     3u

/* How a burst is written. */
enum form {
	FORM_SEND,
	FORM_EMPW,
	FORM_GATHER,
	FORM_NOP_FIRST,
	FORMS,
};

static uint64_t
rand_next(uint64_t *state)
{
	uint64_t z = *state += SOAK_FILL_MUL; /* splitmix64 */

	z = (z ^ z >> 30) * SOAK_FILL_STEP;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

void
soak_flow_init(struct soak *s, uint32_t i, const uint8_t *mac, uint16_t to_port, bool swapped)
{
	uint8_t *h = s->flow[i].header, *a = s->flow[i].arrives;
	uint32_t sum = 0, k;

	memset(h, 0, SOAK_HDR_BYTES);
	memcpy(h, mac, 6);
	memcpy(h + 6, mac, 6);
	soak_put16(h + 12, 0x0800);
	memcpy(h + 14, "\x45\0\0\0\0\0\x40\0\x40\x11\0\0\xc6\x12\0\1\xc6\x13\0\2", 20);
	for (k = 14; k < 34; k += 2)
		sum += soak_get16(h + k);
	soak_put16(h + 24, soak_fold(sum));
	soak_put16(h + 34, SOAK_SEND_PORT + i);
	soak_put16(h + 36, to_port);
	memcpy(a, h, SOAK_HDR_BYTES);
	if (!swapped)
		return;
	memcpy(a + 26, h + 30, 4);
	memcpy(a + 30, h + 26, 4);
	memcpy(a + 34, h + 36, 2);
	memcpy(a + 36, h + 34, 2);
}

/* One frame that arrived where flow f's frames do: 1, or 0 when it was here before. */
static uint32_t
judge(const struct soak_queue *q, struct soak_flow *f, const struct crl_pkt *pkt)
{
	uint16_t flow = (uint16_t)(f - q->soak->flow);
	uint64_t number = 0;

	if (!soak_frame_check(pkt->data, pkt->len, f->arrives, flow, &number)) {
		f->torn++;
		f->expect++; /* whichever it was, the next one is the next */
		return 1;
	}
	if (number < f->expect) {
		f->dup++;
		return 0;
	}
	f->gaps += number - f->expect;
	f->expect = number + 1u;
	f->good++;
	return 1;
}

static uint32_t
take(struct crl_stream *s, struct soak_queue *q)
{
	struct crl_pkt pkt[CRL_BURST_MAX];
	struct soak_flow *f = q->checks;
	uint32_t n, i, came = 0;

	crl_rq_poll(&q->dev.rq, &q->dev.error[CRL_QERROR_RQ], pkt, s->burst, &n);
	for (i = 0; i < n; i++) {
		came += judge(q, f, &pkt[i]);
		s->rxc.bytes += pkt[i].len;
		crl_rq_release(&q->dev.rq, pkt[i].index);
	}
	s->rxc.packets += n;
	crl_rq_refill(&q->dev.rq, NULL);
	if (n != 0) /* the slots are the NIC's again before the sender may count on them */
		__atomic_store_n(&f->taken, f->taken + came, __ATOMIC_RELEASE);
	return n;
}

static uint32_t
frame_len(struct soak_queue *q)
{
	const struct soak_options *o = &q->soak->opt;
	uint32_t span = o->size_max - o->size_min + 1u;

	return span == 1u ? o->size_min : o->size_min + (uint32_t)(rand_next(&q->rand) % span);
}

/* How many frames may be made now: window, quota, slots, and the ring for the worst form. */
static uint32_t
budget(struct crl_stream *s, const struct soak_queue *q)
{
	struct soak_flow *f = q->sends;
	uint64_t under_way = f->sent - __atomic_load_n(&f->taken, __ATOMIC_ACQUIRE);
	uint64_t n = under_way < q->window ? q->window - under_way : 0, room;
	uint32_t worst = crl_wqebbs(2u + crl_empw_segs(q->dev.sq.inline_max, q->dev.sq.inline_max));

	if (worst < 2u && q->dev.sq.log_depth > 0) /* a gathered frame's */
		worst = 2;
	room = crl_sq_room(&q->dev.sq) / worst;
	n = n < f->quota - f->sent ? n : f->quota - f->sent;
	n = n < q->slots - (q->slot_pi - q->slot_ci) ? n : q->slots - (q->slot_pi - q->slot_ci);
	n = n < room ? n : room;
	return n < s->burst ? (uint32_t)n : s->burst;
}

/* What is to be done wrong with the last of n frames from number on; n may become less for it. */
enum planted {
	PLANT_NONE,
	PLANT_TEAR,
	PLANT_DROP,
	PLANT_DUP,
};

static enum planted
planted(const struct soak_queue *q, uint64_t number, uint32_t *n)
{
	const struct soak_plant *p = &q->soak->opt.plant;
	const uint64_t at[] = {0, p->tear, p->drop, p->dup};
	uint32_t i;

	if (q->soak->round != 0 || q->sends != q->soak->flow)
		return PLANT_NONE;
	for (i = PLANT_TEAR; i <= PLANT_DUP; i++) {
		if (at[i] > number && at[i] <= number + *n) {
			*n = (uint32_t)(at[i] - number);
			return (enum planted)i;
		}
	}
	return PLANT_NONE;
}

/* The next frame into the next slot. */
static void
make(struct soak_queue *q, struct crl_piece *piece, uint64_t number)
{
	uint64_t at = q->slot_pi++ % q->slots * q->stride + SOAK_HEADROOM;
	uint8_t *p = q->dev.txbuf.addr + at;

	piece->data = p;
	piece->iova = q->dev.txbuf.iova + at;
	piece->len = frame_len(q);
	piece->lkey = number == q->sends->bad_at ? SOAK_BAD_KEY : q->dev.txbuf.lkey;
	soak_frame_make(
		p, q->sends->header, (uint16_t)(q->sends - q->soak->flow), number, piece->len);
}

/* Cookies: slots that come back, above eight bits that mean nothing to the stream's own drain. */
static void
post_send(struct soak_queue *q, const struct crl_piece *piece, enum form form, uint32_t slots)
{
	struct crl_piece part[SOAK_PIECES_MAX] = {*piece, *piece, *piece};
	uint32_t rest = piece->len - GATHER_FIRST, nr = form == FORM_GATHER ? 3u : 1u;
	struct crl_sq *sq = &q->dev.sq;
	uint64_t pi;

	if (nr == 3u) {
		part[0].len = GATHER_FIRST - 8u;
		part[1].iova += part[0].len;
		part[1].len = 8u + rest / 2u;
		part[2].iova = part[1].iova + part[1].len;
		part[2].len = rest - rest / 2u;
	}
	if (crl_sq_reserve(sq, crl_wqebbs(2u + nr), &pi) != CRL_OK) {
		CRL_ASSERT(false); /* budget() kept room */
		return;
	}
	crl_sq_put_send(sq, pi, part, nr, 0, false, (uint64_t)slots << 8);
}

static void
post_empw(struct soak_queue *q, const struct crl_piece *piece, uint32_t n)
{
	struct crl_sq *sq = &q->dev.sq;
	uint32_t i, fit, ds = 0;
	uint64_t pi;

	for (i = 0; i < n; i += fit) {
		fit = n - i < CRL_EMPW_FRAMES_MAX ? n - i : CRL_EMPW_FRAMES_MAX;
		fit = crl_empw_fit(sq, piece + i, fit, crl_sq_room(sq), &ds);
		CRL_ASSERT(fit != 0);
		if (fit == 0 || crl_sq_reserve(sq, crl_wqebbs(ds), &pi) != CRL_OK)
			return;
		crl_sq_put_empw(sq, pi, piece + i, fit, 0, false, (uint64_t)fit << 8);
	}
}

static void
post(struct soak_queue *q, const struct crl_piece *piece, uint32_t n)
{
	uint64_t rand = rand_next(&q->rand), pi;
	enum form form = rand % FORMS;
	uint32_t i, nop = 1u + (rand >> 8) % NOP_MAX;

	if (form == FORM_GATHER && q->dev.sq.log_depth == 0)
		form = FORM_SEND;
	if (form == FORM_NOP_FIRST && crl_sq_room(&q->dev.sq) >= nop + n &&
		crl_sq_reserve(&q->dev.sq, nop, &pi) == CRL_OK)
		crl_sq_put_nop(&q->dev.sq, pi, nop, false, 0);
	if (form == FORM_EMPW && (q->dev.sq.flags & CRL_SQ_EMPW)) {
		post_empw(q, piece, n);
		return;
	}
	for (i = 0; i < n; i++)
		post_send(q, &piece[i], form, 1);
}

static uint32_t
send_some(struct crl_stream *s, struct soak_queue *q)
{
	struct crl_piece piece[CRL_BURST_MAX];
	struct soak_flow *f = q->sends;
	uint32_t n = budget(s, q), made, i;
	uint64_t number = f->sent, bytes = 0;
	enum planted wrong;

	if (n == 0)
		return 0;
	wrong = planted(q, number, &n);
	made = n - (wrong == PLANT_DROP);
	for (i = 0; i < made; i++) {
		make(q, &piece[i], number + i);
		bytes += piece[i].len;
	}
	if (wrong == PLANT_TEAR) /* as if an old byte had stayed */
		*(uint8_t *)(uintptr_t)(piece[made - 1u].data + piece[made - 1u].len - 1u) ^= 1u;
	crl_order_payload_before_wqe();
	post(q, piece, made);
	if (wrong == PLANT_DUP)
		post_send(q, &piece[made - 1u], FORM_SEND, 0);
	f->bytes += bytes;
	__atomic_store_n(&f->sent, number + n, __ATOMIC_RELAXED);
	s->txc.packets += n;
	s->txc.bytes += bytes;
	s->txc.doorbells += crl_sq_ring(&q->dev.sq);
	return n;
}

/* Slots of completed sends. What a failed queue gives back was never sent. */
static uint32_t
reap(struct crl_stream *s, struct soak_queue *q)
{
	struct crl_sq *sq = &q->dev.sq;
	enum crl_st st;
	uint64_t cookie;
	uint32_t n = 0;

	if (sq->completed < sq->rung)
		crl_sq_poll(sq, &q->dev.error[CRL_QERROR_SQ], s->burst);
	while ((st = crl_sq_take(sq, &cookie)) != CRL_AGAIN) {
		q->slot_ci += cookie >> 8;
		if (st == CRL_FAILED)
			q->sends->flushed += cookie >> 8;
		n++;
	}
	crl_rq_refill(NULL, sq);
	if (sq->state == CRL_QS_FAILED)
		__atomic_store_n(&q->sends->failed, 1, __ATOMIC_RELEASE);
	s->txc.completions += n;
	return n;
}

static enum crl_turn
send_turn(struct crl_stream *s)
{
	struct soak_queue *q = (struct soak_queue *)s->tx; /* its first member */
	enum crl_turn turn;
	uint32_t n;
	bool run;

	turn = crl_stream_look(s, &run);
	if (!run)
		return turn;
	n = send_some(s, q);
	n += reap(s, q);
	return n != 0 ? CRL_TURN_BUSY : CRL_TURN_IDLE;
}

static enum crl_turn
check_turn(struct crl_stream *s)
{
	struct soak_queue *q = (struct soak_queue *)s->rx; /* its first member */
	enum crl_turn turn;
	bool run;

	turn = crl_stream_look(s, &run);
	if (!run)
		return turn;
	return take(s, q) != 0 ? CRL_TURN_BUSY : CRL_TURN_IDLE;
}

/* Two streams a queue, so that a send queue that fails on purpose stops nobody's receiving. */
const struct crl_engine soak_sender = {
	"soaksend", "sends numbered frames", CRL_Q_TX, send_turn, NULL, 0};
const struct crl_engine soak_checker = {
	"soakchk", "checks every frame that comes", CRL_Q_RX, check_turn, NULL, 0};
