/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers to match fields, and rules: priorities, masks, drop, and every change while frames of
 * cached flows keep coming. The last test compares with a plain list of rules, walked for each
 * frame.
 */
#include "rig.h"

#include "drivers/softcx/dp/dp_all.h"

static const uint8_t to_us[6] = {2, 0, 0, 0, 0, 1}; /* rig_udp4's destination */

static int
received(struct rig_port *f)
{
	uint8_t a[64];

	rig_empw_inline(&f->sq, rig_udp4(a, 64, 7, 8), 64, 1);
	rig_go(f);
	rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 1);
	return rig_cqe(&f->rx_cq) != NULL;
}

static uint32_t
tag(struct rig_port *f)
{
	const uint8_t *e;
	uint8_t a[64];

	rig_empw_inline(&f->sq, rig_udp4(a, 64, 7, 8), 64, 1);
	rig_go(f);
	rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 1);
	e = rig_cqe(&f->rx_cq);
	return e == NULL ? 0 : rig_be32(e + 0x38);
}

/* The smaller priority wins, of equals the newer; deleting one uncovers the next. */
static void
test_priorities(void **state)
{
	struct rig_port *f = *state;
	uint32_t all = f->r->next_rule - 1, a, b, c;
	struct scx_dp_stats s;

	assert_int_equal(tag(f), 0xab0000 | all);
	a = rig_rule(f->r, 5, to_us, SCX_FLOW_TIR, RIG_TIR);
	assert_int_equal(tag(f), 0xab0000 | all);
	assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, all, 0), 0);
	assert_int_equal(tag(f), 0xab0000 | a);
	b = rig_rule(f->r, 5, NULL, SCX_FLOW_TIR, RIG_TIR);
	assert_int_equal(tag(f), 0xab0000 | b);
	c = rig_rule(f->r, 4, to_us, SCX_FLOW_DROP, 0);
	assert_int_equal(tag(f), 0);
	scx_dp_stats(f->r->dp, &s);
	assert_int_equal(s.rx_dropped, 1);
	assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, c, 0), 0);
	assert_int_equal(tag(f), 0xab0000 | b);
	assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, b, 0), 0);
	assert_int_equal(tag(f), 0xab0000 | a);
	assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, a, 0), 0);
	assert_int_equal(received(f), 0);
	assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, a, 0), -2);
	scx_dp_stats(f->r->dp, &s);
	assert_int_equal(s.rx_no_match, 1);
}

/* The same flow is cached, and each of these changes counts from the next frame on. */
static void
test_changes(void **state)
{
	struct rig_port *f = *state;
	struct scx_dp_stats s;
	uint32_t miss, id;

	assert_int_equal(received(f), 1);
	scx_dp_stats(f->r->dp, &s);
	miss = (uint32_t)s.flow_misses;
	assert_int_equal(received(f), 1);
	scx_dp_stats(f->r->dp, &s);
	assert_int_equal(s.flow_misses, miss);
	assert_int_equal(rig_apply(f->r, SCX_DP_TIR_DEL, RIG_TIR, 0), 0);
	assert_int_equal(received(f), 0);
	rig_tir(f->r, RIG_TIR, 0x2aaa); /* no such queue */
	assert_int_equal(received(f), 0);
	rig_tir(f->r, RIG_TIR, f->rq.rqn);
	assert_int_equal(received(f), 1);
	id = rig_rule(f->r, 0, to_us, SCX_FLOW_DEFAULT_MISS, 0);
	assert_int_equal(received(f), 0);
	assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, id, 0), 0);
	assert_int_equal(received(f), 1);
	assert_int_equal(rig_apply(f->r, SCX_DP_RQ_DEL, f->rq.rqn, 0), 0);
	assert_int_equal(received(f), 0);
}

static void
test_table_full(void **state)
{
	struct rig_port *f = *state;
	struct scx_dp_cmd c = {.op = SCX_DP_RULE_ADD};
	uint32_t i;

	for (i = 1; i < SCX_DP_RULE_MAX; i++)
		rig_rule(f->r, 9, to_us, SCX_FLOW_DROP, 0);
	c.u.rule.id = 99999;
	assert_int_equal(scx_dp_apply(f->r->dp, &c), -28);
	c.u.rule.id = 5;
	assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, 7, 0), 0);
	assert_int_equal(scx_dp_apply(f->r->dp, &c), -17);
	c.u.rule.id = 99999;
	assert_int_equal(scx_dp_apply(f->r->dp, &c), 0);
	for (i = 2; i < SCX_DP_RULE_MAX; i++)
		if (i != 7)
			assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, i, 0), 0);
	assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, 99999, 0), 0);
	assert_int_equal(received(f), 1);
}

/* Where the PRM puts each field: bit offsets of fte_match_set_lyr_2_4, written out by hand. */
static void
test_fields(void **state)
{
	struct scx_headers h;
	const uint8_t *k = (const uint8_t *)h.key;
	uint8_t f[128];

	(void)state;
	rig_udp4(f, 100, 0x1234, 0x5678);
	f[15] = 0xb9; /* DSCP 46, ECN 1 */
	scx_parse(&h, f, 100);
	assert_memory_equal(k, "\x02\0\0\0\0\x02", 6);
	assert_int_equal(rig_be16(k + 6), 0x0800);
	assert_memory_equal(k + 8, "\x02\0\0\0\0\x01", 6);
	assert_int_equal(k[16], 17);
	assert_int_equal(k[17], 0xb9);
	assert_int_equal(rig_be16(k + 18), 4 << 9);
	assert_int_equal(rig_be32(k + 20), 0);
	assert_int_equal(k[26], 0x50);
	assert_int_equal(k[27], 64);
	assert_int_equal(rig_be32(k + 28), 0x12345678);
	assert_int_equal(rig_be32(k + 44), 0xc6120001);
	assert_int_equal(rig_be32(k + 60), 0xc6120002);
	assert_int_equal(rig_be32(k + 32), 0);
}

/* TCP flags, tags, IPv6 with a chain of extension headers, a fragment header. */
static void
test_fields_more(void **state)
{
	struct scx_headers h;
	const uint8_t *k = (const uint8_t *)h.key;
	uint8_t f[160] = {0};

	(void)state;
	memcpy(f + 12, "\x88\xa8\xa0\x05\x81\x00\x00\x06\x86\xdd\x6a\xb0\x00\x00\x00\x28\x00\x07",
		18);
	f[30] = 0xfe; /* source */
	f[61] = 0x99; /* destination's last byte */
	f[62] = 60;   /* hop-by-hop, then destination options of 16 bytes, then TCP */
	f[70] = 6;
	f[71] = 1;
	memcpy(f + 86, "\x00\x50\x00\x51", 4);
	f[98] = 0x51;	 /* header length 5, NS */
	f[99] = 0x12;	 /* SYN ACK */
	f[27] = 24 + 20; /* payload length: extension headers and TCP */
	scx_parse(&h, f, sizeof(f));
	assert_int_equal(rig_be16(k + 14), 0xa005);
	assert_int_equal(rig_be16(k + 6), 0x86dd);
	assert_int_equal(k[16], 6);
	assert_int_equal(k[17], 0xab);
	assert_int_equal(rig_be16(k + 18), 1 << 14 | 6 << 9 | 0x112);
	assert_int_equal(rig_be32(k + 20), 0x00500051);
	assert_int_equal(k[27], 7);
	assert_int_equal(k[32], 0xfe);
	assert_int_equal(k[63], 0x99);
	assert_int_equal(h.options, 1);
	assert_int_equal(h.l4, 86);
	assert_int_equal(h.l4_type, CRL_CQE_L4_TCP_EMPTY_ACK);
	f[62] = 44;
	f[70] = 6;
	scx_parse(&h, f, sizeof(f));
	assert_int_equal(rig_be16(k + 18), 1 << 14 | 1 << 13 | 6 << 9);
	assert_int_equal(k[16], 6);
	assert_int_equal(rig_be32(k + 20), 0);
	assert_int_equal(h.frag, 1);
	assert_int_equal(h.l4, 0);
}

/* Truncated at every length: nothing is read beyond it, and no field is made up. */
static void
test_truncated(void **state)
{
	static const uint8_t types[][2] = {{8, 0}, {0x86, 0xdd}, {0x81, 0}, {0x88, 0xa8}, {8, 6}};
	struct scx_headers h;
	struct scx_verdict v;
	uint32_t len, t, seed;

	(void)state;
	for (seed = 0; seed < 40; seed++)
		for (t = 0; t < 5; t++)
			for (len = 14; len < 120; len++) {
				uint8_t *f = test_malloc(len); /* at its end stands a guard */
				struct scx_fault rng;
				uint32_t i;

				scx_fault_seed(&rng, seed * 1000 + len);
				for (i = 0; i < len; i++)
					f[i] = (uint8_t)scx_fault_rand(&rng);
				memcpy(f + 12, types[t], 2);
				if (len > 14)
					f[14] = t == 1 ? 0x60 : 0x45 + (uint8_t)(seed & 7);
				scx_parse(&h, f, len);
				assert_true(h.l3_end <= len);
				assert_true(h.l4 == 0 || h.l4 < h.l3_end);
				scx_verify(&v, &h, f, len);
				test_free(f);
			}
}

struct naive {
	uint32_t id, priority;
	uint16_t sport_mask, sport;
	uint8_t drop;
};

/* Random rules come and go on UDP source ports; a list walked by hand says what each frame meets.
 */
static void
test_against_list(void **state)
{
	struct rig_port *f = *state;
	struct naive list[32];
	uint32_t nr = 0, i, k, round;
	struct scx_fault rng;
	uint8_t a[64];

	assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, f->r->next_rule - 1, 0), 0);
	scx_fault_seed(&rng, 7);
	for (round = 0; round < 6000; round++) {
		uint64_t x = scx_fault_rand(&rng);
		struct naive *best = NULL;
		const uint8_t *e;
		uint16_t port = (uint16_t)(x >> 16 & 15);

		if ((x & 7) == 0 && nr < 32) {
			struct scx_dp_cmd c = {.op = SCX_DP_RULE_ADD};
			struct naive n = {f->r->next_rule++, (uint32_t)(x >> 32 & 3),
				(uint16_t)(x >> 40 & 15), 0, (uint8_t)(x >> 50 & 1)};

			n.sport = (uint16_t)(x >> 44) & n.sport_mask;
			c.u.rule.id = n.id;
			c.u.rule.priority = n.priority;
			c.u.rule.dest = n.drop ? SCX_FLOW_DROP : SCX_FLOW_TIR;
			c.u.rule.tirn = RIG_TIR;
			c.u.rule.flow_tag = n.id;
			c.u.rule.mask[29] = (uint8_t)n.sport_mask;
			c.u.rule.match[29] = (uint8_t)n.sport;
			assert_int_equal(scx_dp_apply(f->r->dp, &c), 0);
			list[nr++] = n;
		} else if ((x & 7) == 1 && nr > 0) {
			k = (uint32_t)(x >> 32) % nr;
			assert_int_equal(rig_apply(f->r, SCX_DP_RULE_DEL, list[k].id, 0), 0);
			memmove(&list[k], &list[k + 1], (--nr - k) * sizeof(list[0]));
		}
		for (i = 0; i < nr; i++) /* in order of age: a later equal is better */
			if ((port & list[i].sport_mask) == list[i].sport &&
				(best == NULL || list[i].priority <= best->priority))
				best = &list[i];
		rig_empw_inline(&f->sq, rig_udp4(a, 64, port, 8), 64, 1);
		rig_go(f);
		e = rig_cqe(&f->rx_cq);
		assert_int_equal(e != NULL, best != NULL && !best->drop);
		if (e != NULL) {
			assert_int_equal(rig_be32(e + 0x38), best->id);
			rig_rq_post(&f->rq, RIG_RX_BASE, RIG_RX_SIZE, 1);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, rig_port_setup, rig_port_teardown)
		T(test_priorities),
		T(test_changes),
		T(test_table_full),
		T(test_fields),
		T(test_fields_more),
		T(test_truncated),
		T(test_against_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
