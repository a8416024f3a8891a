/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the edges stand between a protocol's steps, as a line of letters: each edge and each access
 * to memory that another party shares, in the order in which a call carries them out. tests/order
 * says what an edge is for and objects where one is missing; here is every one of them, also those
 * that an execution seldom needs.
 */
#include "book.h"

#include "gpu_queues/mem.h"
#include "gpu_queues/order.h"

static char trace[256];
static uint32_t traced;

static int
tr(char c)
{
	if (traced < sizeof(trace) - 1u)
		trace[traced++] = c;
	trace[traced] = 0;
	return 0;
}

/* edges: capitals */
#define crl_order_payload_before_wqe()	       ((void)tr('P'))
#define crl_order_wqe_before_record()	       ((void)tr('W'))
#define crl_order_wqe_before_record_gpu()      ((void)tr('W'))
#define crl_order_record_before_uar()	       ((void)tr('R'))
#define crl_order_record_before_uar_gpu()      ((void)tr('R'))
#define crl_order_uar_out()		       ((void)tr('O'))
#define crl_order_cqe_before_payload()	       ((void)tr('C'))
#define crl_order_send_done_before_reuse()     ((void)tr('S'))
#define crl_order_reads_before_giveback()      ((void)tr('G'))
#define crl_order_producer_before_ringer()     ((void)tr('N'))
#define crl_order_producer_before_ringer_gpu() ((void)tr('N'))
#define crl_order_ringer_after_producer_gpu()  ((void)tr('A'))
#define crl_order_poller_before_worker()       ((void)tr('L'))
#define crl_order_work_before_word()	       ((void)tr('K'))
#define crl_order_seq_before_error()	       ((void)tr('Q'))
#define crl_order_error_before_seq()	       ((void)tr('E'))
/* loads, stores, a register's store, atomic steps: small letters */
#define crl_ld32(p)	    (tr('l'), (crl_ld32)(p))
#define crl_ld64(p)	    (tr('l'), (crl_ld64)(p))
#define crl_st32(p, v)	    (tr('s'), (crl_st32)(p, v))
#define crl_st64(p, v)	    (tr('s'), (crl_st64)(p, v))
#define crl_st8(p, v)	    (tr('b'), (crl_st8)(p, v))
#define crl_st_be32(p, v)   (tr('r'), (crl_st_be32)(p, v))
#define crl_st_mmio64(p, v) (tr('m'), (crl_st_mmio64)(p, v))
#define crl_cas32(p, a, b)  (tr('x'), (crl_cas32)(p, a, b))
#define crl_cas64(p, a, b)  (tr('x'), (crl_cas64)(p, a, b))
#define crl_add32(p, v)	    (tr('x'), (crl_add32)(p, v))
#define crl_add64(p, v)	    (tr('x'), (crl_add64)(p, v))
#include "gpu_queues/engines/own_warp.h"
#include "gpu_queues/sq_combine.h"
#include "gpu_queues/sq_share.h"

static struct fake_nic n;
static struct crl_stream s;

#define TRACE(call, want)                                                                          \
	do {                                                                                       \
		traced = 0;                                                                        \
		trace[0] = 0;                                                                      \
		call;                                                                              \
		if (strcmp(trace, want) != 0)                                                      \
			print_error("%s\n  is     %s\n  should %s\n", #call, trace, want);         \
		assert_string_equal(trace, want);                                                  \
	} while (0)

static void
open_all(void)
{
	fake_open(&n, 6, 6, 64, false);
	book_sq(&n, 1000);
	memset(&s, 0, sizeof(s));
	s.rx = s.tx = &n.q;
	s.ctl = &n.ctl;
	s.burst = 8;
}

static void
put(uint64_t pi)
{
	struct crl_piece p = {NULL, 0, 60, FAKE_LKEY};

	crl_sq_put_send(&n.q.sq, pi, &p, 1, 0, true, 1);
}

static void
test_share(void **state)
{
	struct crl_sq_share sh;
	uint64_t pi = 0, cookie[4];
	uint32_t nr;

	(void)state;
	open_all();
	crl_share_init(&sh, &n.q.sq);
	TRACE(crl_share_reserve(&sh, &n.q.sq, 1, &pi), "lllxS");
	TRACE(crl_share_enter(&sh, &n.q.sq, n.error, pi, 1, 0), "PlNl");
	put(pi);
	TRACE(crl_share_leave(&sh, &n.q.sq, pi + 1u, true), "WrRmONs");
	TRACE(crl_share_poll(&sh, &n.q.sq, n.error, cookie, 4, &nr), "lxLlNllGSsLs");
	book_cqe(&n.q.sq.cq, n.q.sq.cq.ci, CRL_CQE_REQ, pi);
	TRACE(crl_share_poll(&sh, &n.q.sq, n.error, cookie, 4, &nr), "lxLlNllSGrSsLs");
	assert_int_equal(nr, 1);
	crl_share_reserve(&sh, &n.q.sq, 1, &pi);
	crl_share_enter(&sh, &n.q.sq, n.error, pi, 1, 0);
	put(pi);
	crl_share_leave(&sh, &n.q.sq, pi + 1u, true);
	book_cqe(&n.q.sq.cq, n.q.sq.cq.ci, CRL_CQE_REQ_ERR, pi);
	TRACE(crl_share_poll(&sh, &n.q.sq, n.error, cookie, 4, &nr), "lxLlNllSxlsssbbbbEsGSsLs");
	fake_close(&n);
}

/* Each word of the counts once, and none beyond. */
static void
test_publish(void **state)
{
	(void)state;
	open_all();
	TRACE(crl_stream_publish(&s), "ssssssss"
				      "s"
				      "ssss"
				      "sss"
				      "ssssssss"
				      "ss");
	fake_close(&n);
}

static void
test_combine(void **state)
{
	struct crl_sq_combine c;
	uint64_t pi = 0, number = 0, seen = 0;

	(void)state;
	open_all();
	crl_combine_init(&c, &n.q.sq, 2, 2, false);
	TRACE(crl_combine_reserve(&c, 6, 1, &pi, &number, &seen), "llllAx");
	TRACE(crl_combine_publish(&c, &n.q.sq, n.error, number, pi, 1, 0),
		"NsxAllllllllAWrRmOsNxl");
	TRACE(crl_combine_reserve(&c, 6, 1, &pi, &number, &seen), "llllx");
	TRACE(crl_combine_idle(&c, &n.q.sq, n.error, 0), "xAllllllllllllllllNxl");
	book_cqe(&n.q.sq.cq, n.q.sq.cq.ci, CRL_CQE_REQ, 1000);
	TRACE(crl_combine_idle(&c, &n.q.sq, n.error, 0), "xAllllllllllllllllSGrNsNxl");
	fake_close(&n);
}

static void
test_doorbells(void **state)
{
	struct crl_piece p = {NULL, 0, 60, FAKE_LKEY};
	struct crl_burst b;

	(void)state;
	for (uint32_t gpu = 0; gpu < 2u; gpu++) {
		open_all();
		n.q.sq.signal_every = 100;
		n.q.sq.pi++;
		crl_sq_put_send(&n.q.sq, 1000, &p, 1, 0, false, 1);
		TRACE(gpu ? crl_sq_ring_gpu(&n.q.sq) : crl_sq_ring(&n.q.sq), "bWrRmO");
		b = crl_burst_open(&n.q.sq, 0, 0);
		TRACE(gpu ? crl_burst_ring_gpu(&b, 1) : crl_burst_ring(&b, 1), "WsRmO");
		fake_close(&n);
	}
}

static void
test_polls(void **state)
{
	struct crl_pkt pkt[4];
	uint32_t nr;

	(void)state;
	open_all();
	n.q.sq.pi = n.q.sq.posted = n.q.sq.rung = 1004;
	for (uint32_t i = 0; i < 4u; i++)
		n.q.sq.end[(1000u + i) % 64u] = 1001u + i;
	TRACE(crl_sq_poll(&n.q.sq, n.error, 4), "l");
	TRACE(crl_burst_reap(&n.q.sq, n.error), "llllllllllllllll");
	TRACE(crl_burst_poll_one(&n.q.sq, n.error), "l");
	TRACE(crl_burst_giveback(&n.q.sq.cq), "");
	for (uint32_t i = 0; i < 3u; i++)
		book_cqe(&n.q.sq.cq, n.q.sq.cq.ci + i, CRL_CQE_REQ, 1000u + i);
	TRACE(crl_sq_poll(&n.q.sq, n.error, 1), "lS");
	TRACE(crl_burst_poll_one(&n.q.sq, n.error), "lSGr");
	TRACE(crl_burst_reap(&n.q.sq, n.error), "llllllllllllllllSGr");
	TRACE(crl_rq_poll(&n.q.rq, n.error, pkt, 2, &nr), "l");
	TRACE(crl_rq_refill(&n.q.rq, &n.q.sq), "Gr");
	TRACE(crl_rq_refill(&n.q.rq, &n.q.sq), "");
	fake_close(&n);
}

static void
test_loop(void **state)
{
	bool run;

	(void)state;
	open_all();
	TRACE(crl_stream_begin(&s), "s");
	n.q.stats = NULL;
	TRACE(crl_stream_look(&s, &run), "slll");
	n.ctl.park = CRL_PARK_LEAVE;
	TRACE(crl_stream_look(&s, &run), "slllQKs");
	n.ctl.park = CRL_PARK_NOT;
	TRACE(crl_stream_look(&s, &run), "slllQs");
	n.q.rq.state = CRL_QS_FAILED;
	TRACE(crl_stream_look(&s, &run), "slllKs");
	n.ctl.rearm = 1;
	book_cqe(&n.q.rq.cq, n.q.rq.cq.ci, CRL_CQE_RESP_ERR, 0);
	TRACE(crl_stream_look(&s, &run), "slllQllGrsKs");
	n.ctl.stop = 1;
	TRACE(crl_stream_look(&s, &run), "slllQsGrKs");
	assert_int_equal(s.mode, CRL_MODE_LEFT);
	n.q.abi = 1;
	TRACE(crl_stream_begin(&s), "slsssbbbbEsKs");
	fake_close(&n);
}

static void
test_warp(void **state)
{
	static struct crl_warp_mem mem;
	struct crl_warp w = {1, 0};

	(void)state;
	open_all();
	s.opts.txpkts_nr = 1;
	s.opts.txpkts[0] = 64;
	s.opts.tx_frames_max = 2;
	s.turns = 1;
	s.look_every = 1u << 20;
	s.look_packets = s.look_bytes = UINT64_MAX;
	crl_txonly_warp_turn(&w, &s, &mem);
	book_cqe(&n.q.sq.cq, n.q.sq.cq.ci, CRL_CQE_REQ, n.q.sq.posted - 1u);
	TRACE(crl_txonly_warp_turn(&w, &s, &mem), "llllllllllllllllllllllllllllllllSWGr");
	fake_close(&n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_publish),
		cmocka_unit_test(test_combine),
		cmocka_unit_test(test_doorbells),
		cmocka_unit_test(test_polls),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_warp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
