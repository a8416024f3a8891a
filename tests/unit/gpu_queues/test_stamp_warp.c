/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stamp by a warp against stamp by one thread: two queues with the same frames coming back, some of
 * them with other bytes, cut short or another's. What leaves is equal byte by byte, and every count
 * of frames, of torn and of missed ones; frames short and long, on 16 bytes and off them.
 */
#include "book.h"

#include "gpu_queues/engines/stamp_warp.h"

#define FRAMES 64u
#define STRIDE 512u

struct side {
	struct fake_nic n;
	struct crl_stream s;
	uint8_t out[FRAMES][STRIDE];
	uint32_t len[FRAMES], nr;
};

static struct side one, warp;
static struct crl_warp lanes;
static struct crl_warp_mem mem;

static void
on_frame(void *arg, const uint8_t *frame, uint32_t len)
{
	struct side *d = arg;

	assert_true(d->nr < FRAMES && len <= STRIDE);
	memcpy(d->out[d->nr], frame, len);
	d->len[d->nr++] = len;
}

static void
open_side(struct side *d, const struct crl_engine_opts *o, uint32_t headroom, uint64_t bytes)
{
	fake_open(&d->n, 7, 6, STRIDE, false);
	d->n.sink = on_frame;
	d->n.arg = d;
	d->n.q.rq.headroom = headroom;
	d->n.q.index = 3;
	crl_rq_fill(d->n.q.rq.wqe, &d->n.q.rq);
	d->n.q.txbuf.bytes = bytes;
	d->nr = 0;
	memset(&d->s, 0, sizeof(d->s));
	d->s.rx = d->s.tx = &d->n.q;
	d->s.ctl = &d->n.ctl;
	d->s.tx_lkey = FAKE_LKEY;
	d->s.burst = 64;
	d->s.opts = *o;
	assert_true(crl_stream_begin(&d->s));
}

static void
turn_both(void)
{
	bool due = crl_stamp_due(&one.s);
	uint64_t loose = 0;
	enum crl_turn a, b;

	assert_int_equal(crl_stamp_due(&warp.s), due);
	lanes = (struct crl_warp){book_below(1000) * 2u + 1u, book_below(1000)};
	a = due ? crl_stamp_first_turn(&one.s) : crl_fwd_turn(&one.s, crl_stamp_packet);
	b = crl_stamp_warp_turn(&lanes, &warp.s, &mem);
	for (uint32_t i = 0; i < 64u; i++)
		loose += warp.n.q.rq.released[i] != 0;
	assert_true(loose == warp.s.loose || crl_stamp_due(&warp.s) || warp.s.mode != CRL_MODE_RUN);
	if (!due)
		return;
	assert_int_equal(a, b);
	assert_int_equal(one.s.rxc.refills, warp.s.rxc.refills);
	assert_int_equal(one.s.txc.doorbells, warp.s.txc.doorbells);
	assert_int_equal(one.s.txc.completions, warp.s.txc.completions);
	assert_true(one.s.seq == warp.s.seq && one.s.tx_slots == warp.s.tx_slots);
}

static void
compare(void)
{
	assert_int_equal(one.nr, warp.nr);
	for (uint32_t i = 0; i < one.nr; i++) {
		assert_int_equal(one.len[i], warp.len[i]);
		assert_memory_equal(one.out[i], warp.out[i], one.len[i]);
	}
	assert_true(one.s.rxc.packets == warp.s.rxc.packets && one.s.rxc.bytes == warp.s.rxc.bytes);
	assert_true(one.s.rxc.dropped == warp.s.rxc.dropped);
	assert_true(one.s.txc.packets == warp.s.txc.packets && one.s.txc.bytes == warp.s.txc.bytes);
	assert_memory_equal(one.n.txmem, warp.n.txmem, 65536);
	assert_int_equal(one.s.stamp.torn, warp.s.stamp.torn);
	assert_int_equal(one.s.stamp.missed, warp.s.stamp.missed);
}

/* What left comes back to both, now and then changed; one in so many. */
static void
come_back(uint32_t one_in)
{
	uint8_t f[STRIDE];
	uint32_t nr = one.nr, len;

	for (uint32_t i = 0; i < nr; i++) {
		len = one.len[i];
		memcpy(f, one.out[i], len);
		if (book_below(one_in) == 0)
			f[book_below(len)] ^= (uint8_t)(1u << book_below(8));
		if (book_below(one_in) == 0)
			f[46u + book_below(len - 46u)] ^= 1u;
		if (book_below(4u * one_in) == 0)
			len = 50u + book_below(len - 49u);
		if (book_below(4u * one_in) == 0)
			continue; /* lost */
		assert_int_equal(fake_receive(&one.n, f, len), fake_receive(&warp.n, f, len));
	}
	one.nr = warp.nr = 0;
}

static void
nic_turns(void)
{
	one.n.threaded = warp.n.threaded = true; /* more rings than looks */
	fake_doorbell(&one.n);
	fake_doorbell(&warp.n);
	fake_send(&one.n, 1000);
	fake_send(&warp.n, 1000);
}

static void
test_same(void **state)
{
	struct crl_engine_opts o;
	uint64_t all = 0;

	(void)state;
	for (uint32_t i = 0; i < 400u; i++) {
		uint32_t headroom = book_below(3) ? 0 : 2u, steps = 12;

		memset(&o, 0, sizeof(o));
		o.txpkts_nr = 1;
		o.txpkts[0] = (uint16_t)(60u + book_below(book_below(2) ? 90 : 440));
		o.in_flight = 1u + book_below(60);
		o.tx_frames_max = book_below(3) ? 0 : o.in_flight + book_below(200);
		open_side(&one, &o, headroom, 512u * (1u + book_below(70)));
		open_side(&warp, &o, headroom, one.n.q.txbuf.bytes);
		lanes = (struct crl_warp){1, 0};
		crl_warp_begin(&lanes, &warp.s);
		memset(&mem, 0xee, sizeof(mem));
		for (; steps > 0; steps--) {
			for (uint32_t k = book_below(2); k < 4u; k++)
				turn_both();
			nic_turns();
			compare();
			come_back(book_below(2) ? 6 : 1000);
		}
		all += one.s.rxc.packets;
		fake_close(&one.n);
		fake_close(&warp.n);
	}
	assert_true(all > 20000u);
}

/* Told to stand, or with no frame of that length: both do nothing, and say so. */
static void
test_none(void **state)
{
	struct crl_engine_opts o = {.txpkts_nr = 1, .txpkts = {300}, .in_flight = 8};

	(void)state;
	open_side(&one, &o, 0, 200);
	open_side(&warp, &o, 0, 200);
	turn_both();
	assert_true(warp.s.tx_slots == 0 && warp.n.uar == 0);
	one.n.q.txbuf.bytes = warp.n.q.txbuf.bytes = 65536;
	one.n.ctl.park = warp.n.ctl.park = CRL_PARK_LEAVE;
	turn_both();
	assert_true(warp.s.tx_slots == 0 && warp.n.uar == 0 && warp.s.mode == CRL_MODE_PARKED);
	one.n.ctl.park = warp.n.ctl.park = CRL_PARK_NOT;
	turn_both();
	assert_true(warp.s.seq == 8 && warp.s.loose == 0);
	one.n.ctl.stop = warp.n.ctl.stop = 1;
	nic_turns();
	compare();
	one.s.seq = warp.s.seq = 0;
	one.s.turns = warp.s.turns = 0;
	turn_both();
	assert_int_equal(warp.s.mode, CRL_MODE_LEFT);
	fake_close(&one.n);
	fake_close(&warp.n);
}

/* Frames that no lane had to look at, and one whose chunks are wrong: who is blamed. */
static void
some(const struct crl_warp *w, const struct crl_stream *s, struct crl_warp_long *l, uint32_t n,
	uint32_t chunks)
{
	(void)w;
	assert_ptr_equal(s, &warp.s);
	assert_int_equal(chunks, 9);
	for (uint32_t i = 0; i < n; i++)
		l[i].bad = i % 3u == 1u;
}

static void
nobody(const struct crl_warp *w, const struct crl_stream *s, struct crl_warp_long *l, uint32_t n,
	uint32_t chunks)
{
	fail();
}

static void
test_blame(void **state)
{
	uint32_t flags[CRL_WARP_LANES];

	(void)state;
	lanes = (struct crl_warp){7, 5};
	for (uint32_t nr = 0; nr <= CRL_WARP_LANES; nr++) {
		memset(&mem, 0, sizeof(mem));
		for (uint32_t i = 0; i < CRL_WARP_LANES; i++) {
			flags[i] = 0x100u | i;
			mem.longs[i].chunks = i < nr ? i % 10u : 77u;
			mem.longs[i].bad = i >= nr;
		}
		if (nr != 0)
			mem.longs[nr - 1u].chunks = 9;
		crl_warp_judge_long(&lanes, &warp.s, &mem, nr ? some : nobody, nr, flags);
		for (uint32_t i = 0; i < CRL_WARP_LANES; i++)
			assert_int_equal(flags[i],
				0x100u | i | (i < nr && i % 3u == 1u ? (uint32_t)CRL_TORN : 0));
		for (uint32_t i = 0; i < nr; i++)
			mem.longs[i].chunks = 0;
		crl_warp_judge_long(&lanes, &warp.s, &mem, nobody, nr, flags);
	}
}

/* Which frames are worth all lanes, and how lanes share them. */
static void
test_shapes(void **state)
{
	CRL_ALIGNAS(16) static uint8_t frame[32];
	struct crl_wide g;

	(void)state;
	for (uint32_t len = 64; len < 400u; len++)
		for (uint32_t off = 0; off < 16u; off += 2u)
			assert_int_equal(crl_stamp_chunks(frame + off, len),
				len < 128u || off != 0 ? 0 : ((len - 56u) / 4u - 2u) / 4u);
	for (uint32_t chunks = 1; chunks < 700u; chunks++) {
		uint32_t group = chunks <= 4u ? 4u : chunks <= 8u ? 8u : chunks <= 16u ? 16u : 32u;

		g = crl_wide_begin(chunks);
		assert_true(g.lanes == group && g.steps == (chunks + group - 1u) / group);
		assert_true(g.row == 0 && g.step == 0);
		for (uint32_t k = 1; k < 3u * g.steps; k++) {
			crl_wide_next(&g);
			assert_int_equal(g.step, k % g.steps);
			assert_int_equal(g.row, k / g.steps * (32u / group));
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_blame),
		cmocka_unit_test(test_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
