/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * WQEs that drivers gave to real cards, from public reports: decoded with gpu_queues' layout field
 * by field, and given to the software ConnectX, which answers as the card did.
 */
#include <stdio.h>
#include <stdlib.h>

#include "corpus.h"
#include "gpu_queues/wire/cqe.h"
#include "gpu_queues/wire/wqe.h"
#include "rig.h"

#define AT_ETH 16u

static void
same(const struct corpus *r, const char *name, uint64_t got)
{
	long said = corpus_said(r->fields, name);

	if (said >= 0 && (uint64_t)said != got)
		fail_msg("%s: %s is 0x%llx, the report says 0x%lx", r->id, name,
			(unsigned long long)got, (unsigned long)said);
}

static void
decode(const struct corpus *r)
{
	const struct crl_wqe_ctrl *c = (const void *)r->wqe;
	const struct crl_wqe_eth *e = (const void *)(r->wqe + AT_ETH);
	long at = corpus_said(r->fields, "data_at");
	const struct crl_wqe_data *d = (const void *)(r->wqe + (at > 0 ? at : 0));

	same(r, "op", crl_wqe_opcode(c));
	same(r, "index", crl_wqe_index(c));
	same(r, "qpn", crl_wqe_qpn(c));
	same(r, "ds", crl_wqe_ds(c));
	same(r, "ce", crl_wqe_ce(c));
	same(r, "cs", e->cs_flags);
	same(r, "mss", crl_from_be16(e->mss));
	same(r, "inline", crl_from_be16(e->inline_hdr_size) & CRL_ETH_INLINE_MASK);
	if (at < 0)
		return;
	assert_true((uint32_t)at + sizeof(*d) <= r->wqe_bytes);
	same(r, "bytes", crl_from_be32(d->byte_count));
	same(r, "lkey", crl_from_be32(d->lkey));
	same(r, "addr", crl_from_be64(d->addr));
}

/* What the CQE says of the WQE is what the WQE says of itself. */
static void
test_decode(void **state)
{
	unsigned nr = 0, reporters = 0;

	(void)state;
	for (unsigned i = 0; i < corpus_nr; i++) {
		const struct corpus *r = &corpus[i];
		const struct crl_wqe_ctrl *c = (const void *)r->wqe;
		bool first = true;

		if (r->wqe_bytes == 0)
			continue;
		print_message("%-12s %s\n", r->id, r->link);
		assert_true(r->wqe_bytes % 16 == 0 && crl_wqe_ds(c) * 16 <= r->wqe_bytes);
		assert_true(corpus_said(r->fields, "op") >= 0);
		decode(r);
		if (r->has_cqe)
			assert_int_equal(crl_wqe_opcode(c), r->cqe[56]);
		nr++;
		for (unsigned k = 0; k < i; k++)
			first = first && (corpus[k].wqe_bytes == 0 ||
						 strcmp(corpus[k].reporter, r->reporter) != 0);
		reporters += first;
	}
	printf("%u WQEs of %u reporters\n", nr, reporters);
	assert_true(nr >= 5 && reporters >= 5);
}

/* Two in sequence, of a ring that had gone round: no index within a ring of 2^14 fits, a number
 * does. */
static void
test_signature_rounds(void **state)
{
	const struct corpus *a = corpus_find("xsk-1"), *b = corpus_find("xsk-2");
	unsigned fits = 0;

	(void)state;
	for (unsigned n = 0x2022; n < 1u << 24; n += 1u << 14) {
		bool fit = corpus_signature(a->cqe, n) == a->cqe[62] &&
			   corpus_signature(b->cqe, n + 1) == b->cqe[62];

		assert_false(fit && n < 1u << 14);
		fits += fit;
	}
	assert_true(fits > 0);
}

/* An SQ with the number of the report's, with the WQE in it, rung. */
static void
give(struct rig_port *f, struct rig_sq *sq, const struct corpus *r, uint32_t sqn)
{
	rig_sq(f->r, sq, &f->tx_cq, sqn, 8);
	rig_put(sq, 0, r->wqe, r->wqe_bytes);
	rig_post(sq, r->wqe_bytes / 16);
	rig_ring(f->r, sq);
	rig_step(f->r, NULL);
}

/* The card's CQE but for the hardware syndrome, the place in the queue and the signature. */
static void
refused_alike(struct rig_port *f, const char *id, enum scx_dp_refuse why)
{
	const struct corpus *r = corpus_find(id);
	uint32_t op_qpn =
		r->has_cqe ? rig_be32(r->cqe + 56) : (uint32_t)r->wqe[3] << 24 | (uint32_t)r->queue;
	struct rig_sq sq;
	const uint8_t *e;

	give(f, &sq, r, op_qpn & 0xffffff);
	rig_expect_refusal(f->r, why);
	e = rig_cqe(&f->tx_cq);
	assert_non_null(e);
	assert_int_equal(e[63] >> 4, CRL_CQE_REQ_ERR);
	assert_int_equal(e[55], r->has_cqe ? r->cqe[55] : r->syndrome);
	if (r->vendor != 0)
		assert_int_equal(e[54], r->cqe[54]);
	assert_int_equal(rig_be32(e + 56), op_qpn);
	rig_sq_free(&sq);
}

static void
test_umr(void **state)
{
	refused_alike(*state, "umr-klm", SCX_DP_R_WQE_OPCODE);
}

static void
test_torn(void **state)
{
	refused_alike(*state, "xsk-1", SCX_DP_R_WQE_QPN);
}

static void
test_no_opcode(void **state)
{
	refused_alike(*state, "op-1e", SCX_DP_R_WQE_OPCODE);
}

/* A frame that was sent: the very WQE, with a key and memory where it says. */
static void
test_sent(void **state)
{
	const struct corpus *r = corpus_find("verbs-send");
	struct rig_port *f = *state;
	struct scx_dp_cmd c = {.op = SCX_DP_MKEY_SET};
	struct rig_sq sq;
	const uint8_t *e;

	c.u.mkey.key = (uint32_t)corpus_said(r->fields, "lkey");
	c.u.mkey.pdn = RIG_PD;
	c.u.mkey.iova = (uint64_t)corpus_said(r->fields, "addr");
	c.u.mkey.bytes = (uint64_t)corpus_said(r->fields, "bytes");
	c.u.mkey.base =
		rig_at(f->r, rig_udp4(f->r->mem, (uint32_t)c.u.mkey.bytes, 5, 6), c.u.mkey.bytes);
	assert_int_equal(scx_dp_apply(f->r->dp, &c), 0);
	give(f, &sq, r, (uint32_t)corpus_said(r->fields, "qpn"));
	e = rig_cqe(&f->tx_cq);
	assert_non_null(e);
	assert_memory_equal(e + 56, r->cqe + 56, 6); /* opcode, queue, WQE counter */
	assert_int_equal(e[63] >> 4, r->cqe[63] >> 4);
	rig_expect_frame(f, f->r->mem, (uint32_t)c.u.mkey.bytes);
	rig_sq_free(&sq);
}

#define ON_A_PORT(t) cmocka_unit_test_setup_teardown(t, rig_port_setup, rig_port_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_signature_rounds),
		ON_A_PORT(test_umr),
		ON_A_PORT(test_torn),
		ON_A_PORT(test_no_opcode),
		ON_A_PORT(test_sent),
	};

	return cmocka_run_group_tests(tests, corpus_load, NULL);
}
