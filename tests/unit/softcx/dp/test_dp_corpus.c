/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes from real cards, tests/corpus/error_cqes.txt: decoded with gpu_queues' layout, and produced
 * by the software ConnectX. The file's path comes in CRL_CORPUS.
 */
#include <stdio.h>
#include <stdlib.h>

#include "corpus.h"
#include "gpu_queues/err.h"
#include "gpu_queues/queue.h"
#include "gpu_queues/wire/cqe.h"
#include "rig.h"

static void
test_size(void **state)
{
	unsigned reporters = 0, dumps = 0;

	(void)state;
	for (unsigned i = 0; i < corpus_nr; i++) {
		int first = 1;

		for (unsigned k = 0; k < i; k++)
			first = first && strcmp(corpus[k].reporter, corpus[i].reporter) != 0;
		reporters += (unsigned)first;
		dumps += (unsigned)corpus[i].has_cqe;
		assert_int_equal(strncmp(corpus[i].link, "https://", 8), 0);
		assert_true(corpus[i].has_cqe || corpus[i].syndrome >= 0);
		printf("%-18s %s\n", corpus[i].id, corpus[i].link);
	}
	printf("%u records of %u reporters, %u with all bytes\n", corpus_nr, reporters, dumps);
	assert_true(corpus_nr >= 30 && reporters >= 10 && dumps >= 20);
}

/* Every dump, by our layout: its fields are what the program said, and nothing lies elsewhere. */
static void
test_decode(void **state)
{
	(void)state;
	for (unsigned i = 0; i < corpus_nr; i++) {
		const struct corpus *r = &corpus[i];
		const struct crl_err_cqe *e = (const void *)r->cqe;
		uint32_t opcode = crl_cqe_opcode(e->op_own);
		uint32_t op_qpn = crl_from_be32(e->s_wqe_opcode_qpn);

		if (!r->has_cqe || opcode == CRL_CQE_REQ)
			continue;
		print_message("%s\n", r->id);
		assert_true(opcode == CRL_CQE_REQ_ERR || opcode == CRL_CQE_RESP_ERR);
		assert_string_not_equal(crl_syndrome_str(e->syndrome), "unknown syndrome");
		assert_true(r->syndrome < 0 || r->syndrome == e->syndrome);
		assert_true(r->vendor < 0 || r->vendor == e->vendor_err_synd);
		assert_true(r->opcode < 0 || r->opcode == (long)opcode);
		assert_true(r->queue < 0 || r->queue == (long)(op_qpn & 0xffffff));
		if (opcode == CRL_CQE_RESP_ERR) {
			assert_int_equal(op_qpn >> 24, 0);
			continue;
		}
		for (unsigned b = 0; b < 32; b++)
			assert_int_equal(r->cqe[b], 0);
		for (unsigned b = 36; b < 52; b++)
			assert_int_equal(r->cqe[b], 0);
		assert_int_not_equal(op_qpn >> 24, 0);
		assert_int_equal(e->op_own & 0x0e, 0x02);
	}
}

/* What an owner of the card is told: memory that does not answer is not a matter of its key. */
static void
test_words(void **state)
{
	static const struct {
		const char *id, *fix;
	} told[] = {
		{"nvmf-receive-1", "carillon-doctor"},
		{"dpdk-send-1", "use its key"},
		{"umr-1", "create it again"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		const struct corpus *r = corpus_find(told[i].id);
		struct crl_qerror qe = {.kind = CRL_QERR_CQE};
		struct crl_err err;

		qe.syndrome = r->cqe[55];
		qe.vendor = r->cqe[54];
		memcpy(qe.cqe, r->cqe, 64);
		crl_err_from_qerror(&err, &qe);
		assert_non_null(strstr(err.fix, told[i].fix));
		assert_memory_equal(err.cqe_bytes, r->cqe, 64);
	}
}

static void
test_signature(void **state)
{
	unsigned known = 0;

	(void)state;
	for (unsigned i = 0; i < corpus_nr; i++) {
		if (corpus[i].index < 0)
			continue;
		known++;
		assert_int_equal(corpus[i].cqe[62],
			corpus_signature(corpus[i].cqe, (unsigned)corpus[i].index));
	}
	assert_true(known >= 4);
}

/* An SQ like the card's: its number, user index and inline mode; CQ and SQ where the card's were.
 */
static void
like_the_card(struct rig_port *f, struct rig_sq *sq, uint32_t sqn, uint32_t user, uint8_t mode,
	unsigned index, uint16_t wqe)
{
	struct scx_dp_cmd c = {.op = SCX_DP_SQ_SET};

	memset(sq, 0, sizeof(*sq));
	sq->log = 8;
	sq->sqn = sqn;
	sq->cq = &f->tx_cq;
	sq->ring = calloc(1, (size_t)64 << sq->log);
	assert_non_null(sq->ring);
	c.u.sq.sqn = sqn;
	c.u.sq.cqn = f->tx_cq.cqn;
	c.u.sq.uar_page = RIG_PAGE;
	c.u.sq.pdn = RIG_PD;
	c.u.sq.user_index = user;
	c.u.sq.ring.base = sq->ring;
	c.u.sq.ring.bytes = (uint64_t)64 << sq->log;
	c.u.sq.dbrec = sq->rec;
	c.u.sq.log_depth = sq->log;
	c.u.sq.flush_in_error = 1;
	c.u.sq.min_inline_mode = mode;
	assert_int_equal(scx_dp_apply(f->r->dp, &c), 0);
	assert_int_equal(rig_apply(f->r, SCX_DP_SQ_STATE, sqn, 1), 0);
	for (unsigned i = 0; i < wqe; i++) {
		rig_ctrl(sq, 0x00, 1, i < index ? 2 : 0); /* NOP */
		rig_post(sq, 1);
	}
	rig_ring(f->r, sq);
	rig_step(f->r, NULL);
	for (unsigned i = 0; i < index; i++)
		assert_non_null(rig_cqe(&f->tx_cq));
	assert_null(rig_cqe(&f->tx_cq));
}

static void
same_bytes(struct rig_port *f, struct rig_sq *sq, const struct corpus *r, enum scx_dp_refuse why)
{
	const uint8_t *e;

	rig_ring(f->r, sq);
	rig_step(f->r, NULL);
	rig_expect_refusal(f->r, why);
	e = rig_cqe(&f->tx_cq);
	assert_non_null(e);
	assert_memory_equal(e, r->cqe, 64);
	rig_sq_free(sq);
}

/* The very WQE of the report: softcx answers it with the card's 64 bytes. */
static void
test_same_wqe(void **state)
{
	const struct corpus *r = corpus_find("eth-inline");
	struct rig_port *f = *state;
	struct rig_sq sq;

	assert_int_equal(r->wqe_bytes, 64);
	like_the_card(f, &sq, 0x1dbb, 0, 1, 8, 0xf);
	rig_put(&sq, 0, r->wqe, 64);
	rig_post(&sq, 3);
	same_bytes(f, &sq, r, SCX_DP_R_ETH_INLINE_MIN);
}

static void
same_bounds(struct rig_port *f, const char *id)
{
	const struct corpus *r = corpus_find(id);
	struct rig_sq sq;

	like_the_card(f, &sq, rig_be32(r->cqe + 56) & 0xffffff, rig_be32(r->cqe + 32), 0,
		(unsigned)r->index, rig_be16(r->cqe + 60));
	rig_send(&sq, RIG_MEM - 10, 100, 0, 0);
	same_bytes(f, &sq, r, SCX_DP_R_SEG_BOUNDS);
}

static void
test_same_bounds_1(void **state)
{
	same_bounds(*state, "dpdk-send-1");
}

static void
test_same_bounds_2(void **state)
{
	same_bounds(*state, "dpdk-send-2");
}

/* softcx's error CQE has, of a report's, all that does not tell queues and places apart. */
static void
like(const uint8_t *e, const char *id, unsigned index)
{
	const struct corpus *r = corpus_find(id);
	long syndrome = r->has_cqe ? r->cqe[55] : r->syndrome;
	long vendor = r->has_cqe ? r->cqe[54] : r->vendor;

	assert_non_null(e);
	assert_int_equal(e[55], syndrome);
	assert_int_equal(e[54], vendor);
	if (r->has_cqe || r->hw >= 0) {
		assert_int_equal(e[52], r->has_cqe ? r->cqe[52] : r->hw);
		assert_int_equal(e[53], r->has_cqe ? r->cqe[53] : r->type);
	}
	assert_int_equal(e[63] >> 4, r->has_cqe ? r->cqe[63] >> 4 : r->opcode);
	assert_int_equal(e[63] & 0x0e, 0x02);
	assert_int_equal(e[62], corpus_signature(e, index));
}

static void
test_send_key(void **state)
{
	struct rig_port *f = *state;

	rig_ctrl(&f->sq, 0x0a, 3, 2);
	rig_eth(&f->sq, 0, 0);
	rig_dseg(&f->sq, 32, 100, RIG_KEY + 0x100, RIG_IOVA);
	rig_post(&f->sq, 3);
	rig_send(&f->sq, 0, 100, 2, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	like(rig_cqe(&f->tx_cq), "ucx-3", 0);
	like(rig_cqe(&f->tx_cq), "verbs-words-1", 1);
	rig_expect_refusal(f->r, SCX_DP_R_SEG_KEY);
}

/* A segment of no bytes is one of 2 GiB to a card, which no key covers. */
static void
test_send_nothing(void **state)
{
	struct rig_port *f = *state;

	rig_send(&f->sq, 0, 0, 2, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	like(rig_cqe(&f->tx_cq), "ucx-3", 0);
	rig_expect_refusal(f->r, SCX_DP_R_SEG_ZERO);
}

static void
test_receive_key(void **state)
{
	struct rig_port *f = *state;
	const uint8_t *e;

	rig_put_be32(f->rq.ring + 4, RIG_KEY + 0x100);
	rig_udp4(f->r->mem, 100, 5, 6);
	rig_send(&f->sq, 0, 100, 0, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	rig_expect_refusal(f->r, SCX_DP_R_RQ_KEY);
	e = rig_cqe(&f->rx_cq);
	like(e, "ucx-words-3", 0);
	assert_int_equal(rig_be32(e + 56), rig_be32(corpus_find("eth-receive")->cqe + 56));
	like(rig_cqe(&f->rx_cq), "nvme-words-1", 1);
}

static void
test_receive_wqe(void **state)
{
	struct rig_port *f = *state;

	rig_put_be32(f->rq.ring, 0x80000010); /* inline data in a receive WQE */
	rig_udp4(f->r->mem, 100, 5, 6);
	rig_send(&f->sq, 0, 100, 0, 0);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	rig_expect_refusal(f->r, SCX_DP_R_RQ_INLINE);
	like(rig_cqe(&f->rx_cq), "ucx-words-9", 0);
}

static void
test_send_wqe(void **state)
{
	const struct corpus *r = corpus_find("ucx-words-6");
	struct rig_port *f = *state;
	const uint8_t *e;

	rig_ctrl(&f->sq, 0x0a, 1, 2); /* a SEND without segments */
	rig_post(&f->sq, 1);
	rig_ring(f->r, &f->sq);
	rig_step(f->r, NULL);
	rig_expect_refusal(f->r, SCX_DP_R_WQE_SIZE);
	e = rig_cqe(&f->tx_cq);
	assert_non_null(e);
	assert_int_equal(e[55], r->syndrome);
	assert_int_equal(e[54], r->vendor);
}

#define ON_A_PORT(t) cmocka_unit_test_setup_teardown(t, rig_port_setup, rig_port_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_signature),
		ON_A_PORT(test_same_wqe),
		ON_A_PORT(test_same_bounds_1),
		ON_A_PORT(test_same_bounds_2),
		ON_A_PORT(test_send_key),
		ON_A_PORT(test_send_nothing),
		ON_A_PORT(test_receive_key),
		ON_A_PORT(test_receive_wqe),
		ON_A_PORT(test_send_wqe),
	};

	return cmocka_run_group_tests(tests, corpus_load, NULL);
}
