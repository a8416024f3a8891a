// SPDX-License-Identifier: BSD-3-Clause
/*
 * Long frames by all lanes of a warp: softcx's copy with its checksum sums, and stamp's check. Each
 * length from 1 to 9100 bytes, many frames at a time, lanes in random orders, buffers on and off 16
 * bytes; judged by the code for one lane. And how soon an engine looks at its control words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/softcx/dp/dp_all.h"
#include "gpu_queues/engine_loop.h"
#include "gpu_queues/engines/stamp_warp.h"

#define LEN_MAX 9100u
#define STRIDE	9216u
#define FRAMES	CRL_WARP_LANES

static uint8_t *in, *out;
static uint64_t seed = 20261130;

static uint32_t
rnd(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33);
}

static struct crl_warp
order(void)
{
	struct crl_warp w = {rnd() | 1u, rnd()};

	return w;
}

static int
make(void **state)
{
	(void)state;
	in = aligned_alloc(64, FRAMES * STRIDE);
	out = aligned_alloc(64, FRAMES * STRIDE);
	return in && out ? 0 : -1;
}

static int
unmake(void **state)
{
	(void)state;
	free(in);
	free(out);
	return 0;
}

/* The sum of a frame's bytes behind its head, a byte at a time. */
static uint16_t
sum_behind(const uint8_t *p, uint32_t len)
{
	uint64_t sum = 0;

	for (uint32_t i = SCX_WORKER_FRAME; i < len; i++)
		sum += (uint32_t)p[i] << (i % 2u * 8u);
	return scx_fold(sum);
}

/* n frames of these lengths, the i-th to shift[i] bytes off its slot. */
static void
copy_and_judge(const uint32_t *len, const uint32_t *shift, uint32_t n)
{
	static struct scx_wlane x[FRAMES];
	struct scx_wpiece piece[FRAMES];
	struct crl_warp w = order();
	uint32_t chunks = 0, i, k;

	memset(out, 0xee, FRAMES * STRIDE);
	memset(x, 0, sizeof(x));
	for (i = 0; i < n; i++) {
		uint8_t *from = in + i * STRIDE;

		x[i].f = (struct scx_wframe){from, len[i]};
		x[i].in_head = len[i] >= SCX_WORKER_FRAME;
		x[i].sum_due = x[i].in_head;
		for (k = 0; x[i].in_head && k < SCX_WORKER_FRAME / 16u; k++)
			x[i].head[k] = scx_ld128(from + 16u * k);
		scx_wcopy_head(&x[i], out + i * STRIDE + shift[i], &piece[i]);
		chunks = piece[i].chunks > chunks ? piece[i].chunks : chunks;
	}
	if (chunks != 0)
		scx_wcopy(&w, piece, n, chunks);
	for (i = 0; i < n; i++) {
		uint8_t *to = out + i * STRIDE + shift[i];

		scx_wcopy_tail(&x[i], to, &piece[i]);
		assert_memory_equal(to, in + i * STRIDE, len[i]);
		assert_int_equal(to[len[i]], 0xee);
		assert_true(shift[i] == 0 || to[-1] == 0xee);
		if (x[i].in_head)
			assert_int_equal(x[i].seen.complete, sum_behind(in + i * STRIDE, len[i]));
	}
}

static void
copies(void **state)
{
	uint32_t len[FRAMES], shift[FRAMES], next = 1, n, i;

	(void)state;
	for (i = 0; i < FRAMES * STRIDE; i++)
		in[i] = (uint8_t)rnd();
	while (next <= LEN_MAX) {
		n = 1u + rnd() % FRAMES;
		for (i = 0; i < n; i++, next++) {
			len[i] = next <= LEN_MAX ? next : 1u + rnd() % LEN_MAX;
			shift[i] = rnd() % 4u == 0 ? rnd() % 16u : 0;
		}
		if (rnd() % 8u == 0) /* short and long ones together */
			len[rnd() % n] = 1u + rnd() % LEN_MAX;
		copy_and_judge(len, shift, n);
	}
	memset(in, 0, FRAMES * STRIDE); /* a sum of nothing but zeros is 0, not 0xffff */
	len[0] = LEN_MAX;
	shift[0] = 0;
	copy_and_judge(len, shift, 1);
}

/* ---- stamp ---- */

/* Frame i of so many bytes as stamp sends it with number i, off its slot by shift. */
static void
stamped(uint8_t *slot, uint32_t len, uint32_t queue, uint64_t number)
{
	memset(slot, 0xee, len + 32u);
	crl_st16(slot + CRL_STAMP_AT - 2u, CRL_STAMP_MARK);
	crl_stamp_exchange(slot, len, queue, 0, number);
}

static void
stamp_round(uint32_t from, uint32_t n)
{
	struct crl_queue_dev rx = {.index = 5};
	struct crl_stream s = {.rx = &rx, .tx = &rx, .opts = {.in_flight = 100}};
	struct crl_warp_long l[FRAMES];
	struct crl_warp w = order();
	uint32_t chunks = 0, i, got[FRAMES], want[FRAMES];
	struct crl_pkt pkt[FRAMES];

	for (i = 0; i < n; i++) {
		uint32_t shift = rnd() % 8u == 0 ? 2u : 0, len = from + i;
		uint8_t *a = in + i * STRIDE + shift, *b = out + i * STRIDE + shift;

		stamped(a, len, rx.index, 1000u + i);
		if (rnd() % 3u == 0) /* a bit of the number or the pattern is another */
			a[CRL_STAMP_AT + rnd() % (8u + 4u * crl_stamp_words(len))] ^= 1u
										      << rnd() % 8u;
		memcpy(b, a, len + 32u);
		pkt[i] = (struct crl_pkt){.data = a, .len = len, .index = 1000u + i};
		want[i] = crl_stamp_packet(&s, &pkt[i]);
		pkt[i].data = b;
		got[i] = crl_stamp_long(&s, &pkt[i], &l[i]);
		if (l[i].chunks == 0)
			got[i] = crl_stamp_packet(&s, &pkt[i]);
		assert_true(l[i].chunks != 0 || len < CRL_STAMP_LONG || shift != 0);
		chunks = l[i].chunks > chunks ? l[i].chunks : chunks;
	}
	if (chunks != 0)
		crl_stamp_all(&w, &s, l, n, chunks);
	for (i = 0; i < n; i++) {
		got[i] |= l[i].bad ? CRL_TORN : 0;
		assert_int_equal(got[i], want[i]);
		assert_memory_equal(out + i * STRIDE, in + i * STRIDE, from + i + 32u);
	}
}

static void
stamps(void **state)
{
	uint32_t len, n;

	(void)state;
	memset(in, 0xee, FRAMES * STRIDE);
	memset(out, 0xee, FRAMES * STRIDE);
	for (len = CRL_STAMP_BYTES; len + FRAMES <= LEN_MAX; len += n) {
		n = 1u + rnd() % FRAMES;
		stamp_round(len, n);
	}
}

/* First frames: the same bytes as one lane makes. */
static void
first_frames(void **state)
{
	static struct crl_warp_mem m;
	struct crl_queue_dev q = {.index = 2};
	struct crl_stream s = {.rx = &q, .tx = &q, .opts = {.txpkts_nr = 1}, .seq = 64};
	struct crl_warp w = order();

	(void)state;
	q.txbuf.addr = in;
	for (uint32_t len = CRL_STAMP_BYTES; len < LEN_MAX; len += 1u + rnd() % 97u) {
		uint32_t n = 1u + rnd() % FRAMES;

		s.opts.txpkts[0] = (uint16_t)len;
		s.tx_stride = (len + 63u) & ~63u;
		memset(in, 0, FRAMES * STRIDE);
		memset(out, 0, FRAMES * STRIDE);
		crl_stamp_warp_slots(&w, &s, &m, n);
		for (uint32_t i = 0; i < n; i++)
			crl_stamp_exchange(out + i * s.tx_stride, len, q.index, 0, s.seq + i);
		assert_memory_equal(in, out, FRAMES * STRIDE);
	}
}

/*
 * However long its frames, an engine has looked at its control words before it read a megabyte: a
 * warp that has 64 frames of 9000 bytes a turn looks at every one.
 */
static void
looks(void **state)
{
	static const uint32_t size[] = {60, 1500, 9000};
	struct crl_stream s = {.look_every = CRL_WARP_LOOK_EVERY, .look_step = CRL_WARP_LOOK_STEP};

	(void)state;
	for (uint32_t i = 0; i < 3u; i++) {
		uint64_t since = 0;

		for (uint32_t turn = 0; turn < 1000u; turn++) {
			since = crl_stream_look_due(&s) ? 0 : since;
			s.rxc.packets += 60;
			s.rxc.bytes += 60ull * size[i];
			since += 60ull * size[i];
			assert_true(since <= (1u << 20));
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies),
		cmocka_unit_test(stamps),
		cmocka_unit_test(first_frames),
		cmocka_unit_test(looks),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
