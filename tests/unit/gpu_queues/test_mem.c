/* SPDX-License-Identifier: BSD-3-Clause */
/* mem.h, wire/be.h and queue_mem.h: bytes where they belong, whatever the width. */
#include "fake_nic.h"

#include "gpu_queues/mem.h"
#include "gpu_queues/order.h"

static void
widths(void **state)
{
	CRL_ALIGNAS(16) uint8_t m[16] = {1, 2, 3, 4, 5, 6, 7, 8};

	assert_int_equal(crl_ld8(m + 1), 2);
	assert_int_equal(crl_ld16(m), 0x0201);
	assert_int_equal(crl_ld32(m + 4), 0x08070605);
	assert_true(crl_ld64(m) == 0x0807060504030201ull);
	assert_int_equal(crl_ld_be16(m), 0x0102);
	assert_int_equal(crl_ld_be32(m + 4), 0x05060708);
	crl_st_be16(m + 8, 0xabcd);
	crl_st_be32(m + 12, 0x11223344);
	crl_st8(m + 10, 0x55);
	assert_memory_equal(m + 8, "\xab\xcd\x55\x00\x11\x22\x33\x44", 8);
	crl_st16(m, 0x9988);
	crl_st32(m + 4, 1);
	assert_memory_equal(m, "\x88\x99\x03\x04\x01\x00\x00\x00", 8);
	crl_st64(m, 0x0102030405060708ull);
	crl_st_mmio64(m + 8, 0x1112131415161718ull);
	assert_memory_equal(
		m, "\x08\x07\x06\x05\x04\x03\x02\x01\x18\x17\x16\x15\x14\x13\x12\x11", 16);
}

static void
segment_store(void **state)
{
	CRL_ALIGNAS(16) uint8_t m[48];
	struct crl_seg s = {{0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull}};
	CRL_ALIGNAS(4) uint8_t copy[16];
	int i;

	memset(m, 0xee, sizeof(m));
	crl_st_seg(m + 16, s);
	for (i = 0; i < 16; i++) {
		assert_int_equal(m[i], 0xee);
		assert_int_equal(m[16 + i], i);
		assert_int_equal(m[32 + i], 0xee);
	}
	crl_copy32(copy, m + 16, 16);
	assert_memory_equal(copy, m + 16, 16);
}

static void
wire_words(void **state)
{
	crl_be16 a = crl_to_be16(0x1234);
	crl_be32 b = crl_to_be32(0x12345678);
	crl_be64 c = crl_to_be64(0x123456789abcdef0ull);

	assert_memory_equal(&a, "\x12\x34", 2);
	assert_memory_equal(&b, "\x12\x34\x56\x78", 4);
	assert_memory_equal(&c, "\x12\x34\x56\x78\x9a\xbc\xde\xf0", 8);
	assert_int_equal(crl_from_be16(a), 0x1234);
	assert_int_equal(crl_from_be32(b), 0x12345678);
	assert_true(crl_from_be64(c) == 0x123456789abcdef0ull);
}

static void
sizes(void **state)
{
	assert_int_equal(crl_sq_ring_bytes(0), 64);
	assert_int_equal(crl_sq_ring_bytes(15), 2u << 20);
	assert_int_equal(crl_sq_cookie_bytes(4), 128);
	assert_int_equal(crl_sq_end_bytes(4), 128);
	assert_int_equal(crl_rq_ring_bytes(3), 128);
	assert_int_equal(crl_rq_released_bytes(3), 8);
	assert_int_equal(crl_rq_buf_bytes(15, 16384), 512u << 20);
	assert_int_equal(crl_cq_ring_bytes(2), 256);
	assert_true(crl_depth_ok(15));
	assert_false(crl_depth_ok(16));
}

static void
signal_rule(void **state)
{
	uint32_t rx, tx, n;

	for (rx = 0; rx <= CRL_LOG_DEPTH_MAX; rx++) {
		for (tx = 0; tx <= CRL_LOG_DEPTH_MAX; tx++) {
			n = crl_signal_every(0, rx, tx);
			assert_true(n >= 1 && n <= 32);
			assert_true(n == 1 || (4 * n <= 1u << rx && 4 * n <= 1u << tx));
		}
	}
	assert_int_equal(crl_signal_every(8, 15, 15), 8);
	assert_int_equal(crl_signal_every(0, 15, 15), 32);
	assert_int_equal(crl_signal_every(8, 3, 15), 2);
	assert_int_equal(crl_signal_every(8, 0, 0), 1);
}

static void
fills(void **state)
{
	CRL_ALIGNAS(16) uint8_t cq[256], rqm[64], rel[4];
	struct crl_rq rq;
	uint32_t i;

	memset(cq, 0x55, sizeof(cq));
	crl_cq_fill(cq, 2);
	for (i = 0; i < 256; i++)
		assert_int_equal(cq[i], i % 64 == 63 ? 0xf1 : 0);
	for (i = 0; i < 8; i++)
		assert_false(crl_cqe_is_sw_owned(cq[63], i, 2));
	memset(&rq, 0, sizeof(rq));
	rq.log_depth = 2;
	rq.stride = 2048;
	rq.headroom = 128;
	rq.lkey = 0x11223344;
	rq.buf_iova = 0x100000000ull;
	crl_rq_fill(rqm, &rq);
	assert_memory_equal(
		rqm + 16, "\x00\x00\x07\x80\x11\x22\x33\x44\x00\x00\x00\x01\x00\x00\x08\x80", 16);
	crl_rq_fill_released(rel, 2);
	assert_memory_equal(rel, "\x01\x01\x01\x01", 4);
}

/* The edges are callable and leave memory alone; that they order is what tests/ptx and others show.
 */
static void
edges(void **state)
{
	uint32_t word = 7;

	crl_order_payload_before_wqe();
	crl_order_wqe_before_record();
	crl_order_record_before_uar();
	crl_order_uar_out();
	crl_order_cqe_before_payload();
	crl_order_reads_before_giveback();
	crl_order_send_done_before_reuse();
	crl_order_producer_before_ringer();
	crl_order_poller_before_worker();
	crl_order_wqe_before_published_index();
	crl_order_cq_arm();
	crl_order_error_before_seq();
	crl_order_seq_before_error();
	crl_order_work_before_word();
	assert_int_equal(word, 7);
}

static void
clock_rises(void **state)
{
	uint64_t a = crl_now_ns(), b;
	int i;

	for (i = 0; i < 1000; i++) {
		crl_relax();
		b = crl_now_ns();
		assert_true(b >= a);
		a = b;
	}
}

static void
ends_of_waits(void **state)
{
	assert_true(crl_until(5, 0) == 5 && crl_until(5, 7) == 12);
	assert_true(crl_until(UINT64_MAX - 4u, 3) == UINT64_MAX - 1u);
	assert_true(crl_until(UINT64_MAX - 3u, 3) == UINT64_MAX);
	assert_true(crl_until(UINT64_MAX - 3u, 4) == UINT64_MAX);
	assert_true(crl_until(1, UINT64_MAX) == UINT64_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths),
		cmocka_unit_test(segment_store),
		cmocka_unit_test(wire_words),
		cmocka_unit_test(sizes),
		cmocka_unit_test(signal_rule),
		cmocka_unit_test(fills),
		cmocka_unit_test(edges),
		cmocka_unit_test(clock_rises),
		cmocka_unit_test(ends_of_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
