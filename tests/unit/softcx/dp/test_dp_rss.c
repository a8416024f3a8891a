/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RSS: Toeplitz against Microsoft's published vectors ("Verifying the RSS Hash Calculation") and
 * DPDK's rte_softrss; then frames through a TIR and a table into queues, with every choice of
 * fields, what is not hashed, and tables that change.
 */
#include "rig.h"

#include <rte_thash.h>

#include "drivers/softcx/dp/dp_all.h"

static const uint8_t ms_key[40] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25,
	0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb,
	0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

struct vector {
	uint8_t dst[16], src[16];
	uint16_t dport, sport;
	uint32_t ip, tcp;
};

static const struct vector v4[] = {
	{{161, 142, 100, 80}, {66, 9, 149, 187}, 1766, 2794, 0x323e8fc2, 0x51ccc178},
	{{65, 69, 140, 83}, {199, 92, 111, 2}, 4739, 14230, 0xd718262a, 0xc626b0ea},
	{{12, 22, 207, 184}, {24, 19, 198, 95}, 38024, 12898, 0xd2d0a5de, 0x5c2b394a},
	{{209, 142, 163, 6}, {38, 27, 205, 30}, 2217, 48228, 0x82989176, 0xafc7327f},
	{{202, 188, 127, 2}, {153, 39, 163, 191}, 1303, 44251, 0x5d1809c5, 0x10e828a2},
};

static const struct vector v6[] = {
	{{0x3f, 0xfe, 0x25, 0x01, 0x02, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1},
		{0x3f, 0xfe, 0x25, 0x01, 0x02, 0, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7}, 1766, 2794,
		0x2cc18cd5, 0x40207d3d},
	{{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
		{0x3f, 0xfe, 5, 1, 0, 8, 0, 0, 2, 0x60, 0x97, 0xff, 0xfe, 0x40, 0xef, 0xab}, 4739,
		14230, 0x0f0c461c, 0xdde51bbf},
	{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0xf8, 0xff, 0xfe, 0x21, 0x67, 0xcf},
		{0x3f, 0xfe, 0x19, 0, 0x45, 0x45, 0, 3, 2, 0, 0xf8, 0xff, 0xfe, 0x21, 0x67, 0xcf},
		38024, 44251, 0x4b61e985, 0x02d1feef},
};

/* A TCP frame of the vector, 80 bytes; checksums do not matter here. */
static void
frame_of(const struct vector *v, int six, uint8_t *f)
{
	uint32_t l4 = six ? 54 : 34, alen = six ? 16 : 4;

	memset(f, 0, 80);
	f[12] = six ? 0x86 : 0x08;
	f[13] = six ? 0xdd : 0x00;
	if (six) {
		f[14] = 0x60;
		f[19] = 26;
		f[20] = 6;
	} else {
		f[14] = 0x45;
		f[17] = 66;
		f[23] = 6;
	}
	memcpy(f + l4 - 2 * alen, v->src, alen);
	memcpy(f + l4 - alen, v->dst, alen);
	f[l4] = (uint8_t)(v->sport >> 8);
	f[l4 + 1] = (uint8_t)v->sport;
	f[l4 + 2] = (uint8_t)(v->dport >> 8);
	f[l4 + 3] = (uint8_t)v->dport;
	f[l4 + 12] = 0x50;
}

static void
set_tir(struct rig *r, uint32_t l3, uint32_t l4, uint32_t fields, int symmetric)
{
	struct scx_dp_cmd c = {.op = SCX_DP_TIR_SET};

	c.u.tir.tirn = RIG_TIR;
	c.u.tir.use_rqt = 1;
	c.u.tir.rqtn = 0x55;
	c.u.tir.hash_fn = 2;
	c.u.tir.symmetric = (uint8_t)symmetric;
	memcpy(c.u.tir.toeplitz_key, ms_key, 40);
	c.u.tir.l3_type = l3;
	c.u.tir.l4_type = l4;
	c.u.tir.fields = fields;
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
}

static void
set_table(struct rig *r, uint32_t len, const uint32_t *rqn)
{
	struct scx_dp_cmd c = {.op = SCX_DP_RQT_SET};

	c.u.rqt.rqtn = 0x55;
	c.u.rqt.len = len;
	memcpy(c.u.rqt.rqn, rqn, len * sizeof(*rqn));
	assert_int_equal(scx_dp_apply(r->dp, &c), 0);
}

/* Send the frame; the CQE at the fixture's RQ says this hash. */
static const uint8_t *
expect_hash(struct rig_port *f, const uint8_t *frame, uint32_t hash)
{
	const uint8_t *e;

	rig_empw_inline(&f->sq, frame, 80, 1);
	rig_go(f);
	e = rig_expect_frame(f, frame, 80);
	assert_int_equal(rig_be32(e + 0x0c), hash);
	return e;
}

static void
test_vectors(void **state)
{
	struct rig_port *f = *state;
	uint8_t frame[80];
	uint32_t i, one = f->rq.rqn;

	set_table(f->r, 1, &one);
	for (i = 0; i < 5; i++) {
		frame_of(&v4[i], 0, frame);
		set_tir(f->r, 0, 0, 3, 0);
		assert_int_equal(expect_hash(f, frame, v4[i].ip)[0x10], 0x0c);
		set_tir(f->r, 0, 0, 15, 0);
		assert_int_equal(expect_hash(f, frame, v4[i].tcp)[0x10], 0xcc);
	}
	for (i = 0; i < 3; i++) {
		frame_of(&v6[i], 1, frame);
		set_tir(f->r, 1, 0, 3, 0);
		expect_hash(f, frame, v6[i].ip);
		set_tir(f->r, 1, 0, 15, 0);
		expect_hash(f, frame, v6[i].tcp);
	}
}

static void
test_softrss(void **state)
{
	uint8_t in[36], key[40];
	uint32_t words[9], i, n, k;
	struct scx_fault rng;

	(void)state;
	scx_fault_seed(&rng, 42);
	for (i = 0; i < 2000; i++) {
		n = 4 * (1 + i % 9);
		for (k = 0; k < 40; k++)
			key[k] = (uint8_t)scx_fault_rand(&rng);
		for (k = 0; k < n; k++)
			in[k] = (uint8_t)scx_fault_rand(&rng);
		for (k = 0; k < n / 4; k++)
			words[k] = rig_be32(in + 4 * k);
		assert_int_equal(scx_toeplitz(key, in, n), rte_softrss(words, n / 4, key));
	}
}

/* Each single field and each pair alone: equal to Toeplitz over just these bytes. */
static void
test_fields(void **state)
{
	struct rig_port *f = *state;
	uint8_t frame[80], in[12];
	uint32_t fields, n, one = f->rq.rqn;

	set_table(f->r, 1, &one);
	frame_of(&v4[1], 0, frame);
	for (fields = 0; fields < 16; fields++) {
		n = 0;
		if (fields & 1)
			n += (uint32_t)(memcpy(in + n, frame + 26, 4) != NULL) * 4;
		if (fields & 2)
			n += (uint32_t)(memcpy(in + n, frame + 30, 4) != NULL) * 4;
		if (fields & 4)
			n += (uint32_t)(memcpy(in + n, frame + 34, 2) != NULL) * 2;
		if (fields & 8)
			n += (uint32_t)(memcpy(in + n, frame + 36, 2) != NULL) * 2;
		set_tir(f->r, 0, 0, fields, 0);
		expect_hash(f, frame, n ? scx_toeplitz(ms_key, in, n) : 0);
	}
}

/* Both directions of a connection have one hash; without the bit they do not. */
static void
test_symmetric(void **state)
{
	struct rig_port *f = *state;
	struct vector back = v4[2];
	uint8_t there[80], back_frame[80];
	uint32_t one = f->rq.rqn, h[2];
	const uint8_t *e;

	memcpy(back.src, v4[2].dst, 4);
	memcpy(back.dst, v4[2].src, 4);
	back.sport = v4[2].dport;
	back.dport = v4[2].sport;
	set_table(f->r, 1, &one);
	frame_of(&v4[2], 0, there);
	frame_of(&back, 0, back_frame);
	set_tir(f->r, 0, 0, 15, 1);
	rig_empw_inline(&f->sq, there, 80, 1);
	rig_go(f);
	e = rig_expect_frame(f, there, 80);
	h[0] = rig_be32(e + 0x0c);
	expect_hash(f, back_frame, h[0]);
	set_tir(f->r, 0, 0, 15, 0);
	rig_empw_inline(&f->sq, back_frame, 80, 1);
	rig_go(f);
	h[1] = rig_be32(rig_expect_frame(f, back_frame, 80) + 0x0c);
	assert_int_not_equal(h[1], v4[2].tcp);
}

/* What has not the fields: a fragment by addresses, UDP in a TCP TIR likewise, the rest hash 0. */
static void
test_absent(void **state)
{
	struct rig_port *f = *state;
	uint8_t frame[80];
	uint32_t one = f->rq.rqn;

	set_table(f->r, 1, &one);
	set_tir(f->r, 0, 0, 15, 0);
	frame_of(&v4[0], 0, frame);
	frame[20] = 0x20; /* more fragments */
	assert_int_equal(expect_hash(f, frame, v4[0].ip)[0x1d] & 0x80, 0x80);
	frame_of(&v4[0], 0, frame);
	frame[23] = 17;
	expect_hash(f, frame, v4[0].ip);
	frame_of(&v6[0], 1, frame);
	expect_hash(f, frame, 0);
	frame_of(&v4[0], 0, frame);
	frame[13] = 0x06; /* ARP */
	assert_int_equal(expect_hash(f, frame, 0)[0x10], 0);
}

static void
test_xor8(void **state)
{
	struct scx_dp_tir t;
	struct scx_headers h;
	uint8_t frame[80], x = 0, type;
	uint32_t i;

	(void)state;
	memset(&t, 0, sizeof(t));
	t.hash_fn = 1;
	t.fields = 15;
	frame_of(&v4[3], 0, frame);
	scx_parse(&h, frame, 80);
	for (i = 26; i < 38; i++)
		x ^= frame[i];
	assert_int_equal(scx_rss_hash(&t, (const uint8_t *)h.key, &type), (uint8_t)~x);
}

/* A TIR without a hash says that nothing was hashed, whatever it selects. */
static void
test_none(void **state)
{
	struct scx_dp_tir t = {.fields = 15};
	struct scx_headers h;
	uint8_t frame[80], type = 0xcc;

	(void)state;
	frame_of(&v4[3], 0, frame);
	scx_parse(&h, frame, 80);
	assert_int_equal(scx_rss_hash(&t, (const uint8_t *)h.key, &type), 0);
	assert_int_equal(type, 0);
}

/* Every entry of a table of 128, over four queues; then the table changes under the same flows. */
static void
test_table(void **state)
{
	struct rig_port *f = *state;
	struct rig_cq cq[4];
	struct rig_rq rq[4];
	struct vector v = v4[0];
	uint32_t table[128], hit[128] = {0}, i, k, h, lap, left = 128;
	uint8_t frame[80];

	for (k = 0; k < 4; k++) {
		rig_cq(f->r, &cq[k], 12, 0, 0);
		rig_rq(f->r, &rq[k], &cq[k], 0x2a00 + k, 12, 4);
		rig_rq_post(&rq[k], RIG_RX_BASE, 128, 4096);
	}
	set_tir(f->r, 0, 0, 15, 0);
	for (lap = 0; lap < 2; lap++) {
		for (i = 0; i < 128; i++)
			table[i] = rq[(i * 7 + i / 16 + lap) & 3].rqn;
		set_table(f->r, 128, table);
		for (i = 0; i < 2000; i++) {
			v.sport = (uint16_t)(i * 31);
			frame_of(&v, 0, frame);
			h = scx_toeplitz(ms_key, frame + 26, 12);
			rig_empw_inline(&f->sq, frame, 80, 1);
			rig_go(f);
			left -= hit[h & 127]++ == 0;
			for (k = 0; k < 4; k++) {
				const uint8_t *e = rig_cqe(&cq[k]);

				assert_int_equal(e != NULL, table[h & 127] == rq[k].rqn);
				if (e != NULL)
					assert_int_equal(rig_be32(e + 0x0c), h);
			}
		}
	}
	assert_int_equal(left, 0);
	for (k = 0; k < 4; k++) {
		rig_cq_free(&cq[k]);
		rig_rq_free(&rq[k]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, rig_port_setup, rig_port_teardown)
		T(test_vectors),
		T(test_softrss),
		T(test_fields),
		T(test_symmetric),
		T(test_absent),
		T(test_xor8),
		T(test_none),
		T(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
