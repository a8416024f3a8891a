/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The send side of the data path: arbitrary bytes in the ring, arbitrary records, doorbells and
 * keys that come and go. refsend.h says beforehand which frames leave and which CQEs are written;
 * where the input does what it does not follow (a full CQ, a step cut short), only that nothing is
 * read or written beside what was given.
 */
#include "refsend.h"

struct it {
	struct rig *r;
	struct fz f;
	struct ref ref;
	uint8_t *ring, *cq_ring;
	uint32_t *rec, *cq_rec;
	uint32_t log, cq_log, cq_ci, cq_flags;
	uint16_t pi; /* where the next WQE that is made goes */
};

static void
poke(struct it *it, uint32_t off, const void *bytes, uint32_t n)
{
	uint32_t size = 64u << it->log;

	for (uint32_t i = 0; i < n; i++)
		it->ring[(it->pi * 64u + off + i) % size] = ((const uint8_t *)bytes)[i];
}

static void
poke32(struct it *it, uint32_t off, uint32_t v)
{
	uint8_t b[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};

	poke(it, off, b, 4);
}

/* A data segment that is right more often than not. */
static void
data_segment(struct it *it, uint32_t off, uint32_t max)
{
	uint32_t k = fz_below(&it->f, RIG_KEYS), len = fz_len(&it->f, max);
	const struct scx_dp_mkey *m = &it->r->key[k];
	uint64_t room = m->bytes > len ? m->bytes - len : 0;
	uint64_t at = m->iova + (room ? fz_u16(&it->f) % (room + 1) : 0);

	if (fz_rarely(&it->f, 16))
		at ^= 1ull << fz_below(&it->f, 64);
	if (fz_rarely(&it->f, 16))
		at = m->iova + m->bytes - fz_below(&it->f, 64);
	poke32(it, off, len);
	poke32(it, off + 4, fz_rarely(&it->f, 16) ? fz_u32(&it->f) : m->key);
	poke32(it, off + 8, (uint32_t)(at >> 32));
	poke32(it, off + 12, (uint32_t)at);
}

/* The headers that inlined bytes start with: where checksums and TSO find something to do. */
static uint32_t
headers(struct fz *f, uint8_t *h, bool tso)
{
	static const uint8_t v4[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 8, 0, 0x45, 0, 0, 46, 0,
		1, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 80, 0, 81, 0, 0, 0, 1, 0, 0, 0,
		2, 0x50, 0x18, 1, 0, 0, 0, 0, 0};
	static const uint8_t v6[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x86, 0xdd, 0x60, 0, 0,
		0, 0, 20, 6, 64, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xfe, 0x80,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 80, 0, 81, 0, 0, 0, 1, 0, 0, 0, 2,
		0x50, 0x19, 1, 0, 0, 0, 0, 0};
	uint32_t how = fz_u8(f), n = how & 1 ? sizeof(v6) : sizeof(v4), at = 0;

	if (how & 2) { /* a tag */
		memcpy(h, how & 1 ? v6 : v4, 12);
		h[12] = 0x81;
		h[13] = h[14] = 0;
		h[15] = 7;
		at = 4;
		memcpy(h + 16, (how & 1 ? v6 : v4) + 12, n - 12);
	} else {
		memcpy(h, how & 1 ? v6 : v4, n);
	}
	n += at;
	if (how & 4 && !tso)
		h[at + (how & 1 ? 20 : 23)] = 17;
	for (uint32_t i = 0; i < (how >> 4 & 3u); i++) {
		uint32_t where = fz_below(f, n);

		h[where] = fz_u8(f);
	}
	return how & 8 ? n : n - fz_below(f, 4);
}

/* One WQE at pi, mostly a right one. */
static void
make_wqe(struct it *it)
{
	static const uint8_t ops[] = {CRL_OPCODE_SEND, CRL_OPCODE_SEND, CRL_OPCODE_EMPW,
		CRL_OPCODE_EMPW, CRL_OPCODE_TSO, CRL_OPCODE_NOP};
	uint8_t op = ops[fz_below(&it->f, sizeof(ops))], flags = fz_u8(&it->f), hdr[96];
	uint32_t segs = fz_below(&it->f, flags & 1 ? 8 : 3), off = 32, inl = 0, word = 0, ds, mss;

	poke32(it, 0, (uint32_t)it->pi << 8 | op);
	poke32(it, 8, (uint32_t)(flags >> 1 & 3u) << 2);
	poke32(it, 12, flags & 0x80 ? 5 : 0);
	poke32(it, 16, 0);
	mss = op == CRL_OPCODE_TSO ? fz_u16(&it->f) % 3000u : 0;
	poke32(it, 20, (flags & 8 ? 0xc0000000u : 0) | mss);
	poke32(it, 24, 0);
	if (op == CRL_OPCODE_TSO || (op == CRL_OPCODE_SEND && flags & 0x10)) {
		inl = word = headers(&it->f, hdr, op == CRL_OPCODE_TSO);
		poke(it, 30, hdr, inl);
		off = 16u + ((14u + inl + 15u) & ~15u);
	} else if (op == CRL_OPCODE_SEND && flags & 0x20) {
		word = 0x8000u | (flags & 0x40 ? 1 : 0);
	}
	poke32(it, 28, word << 16 | (inl >= 2 ? (uint32_t)hdr[0] << 8 | hdr[1] : 0x0123u));
	for (uint32_t i = 0; i < segs && op != CRL_OPCODE_NOP; i++) {
		uint32_t n = fz_below(&it->f, 128);

		if (op == CRL_OPCODE_TSO || n % 2 == 0) {
			data_segment(it, off, op == CRL_OPCODE_TSO ? 40000 : 1600);
			off += 16;
			continue;
		}
		poke32(it, off, 0x80000000u | n);
		fz_bytes(&it->f, hdr, n < 60 ? n : 60);
		poke(it, off + 4, hdr, n < 60 ? n : 60);
		off += (4u + n + 15u) & ~15u;
	}
	ds = op == CRL_OPCODE_NOP ? 1 : (off / 16u) & 0x3fu;
	if (fz_rarely(&it->f, 8)) /* one segment more or less than there are */
		ds = (ds + (fz_u8(&it->f) & 1 ? 1u : 63u)) & 0x3fu;
	poke32(it, 4, REF_SQN << 8 | ds);
	if (fz_rarely(&it->f, 8)) { /* and something wrong */
		uint8_t b = fz_u8(&it->f);

		poke(it, fz_below(&it->f, 64), &b, 1);
	}
	it->pi = (uint16_t)(it->pi + (ds + 3u) / 4u);
}

static void
raw_bytes(struct it *it)
{
	uint8_t b[64];
	uint32_t at = fz_u8(&it->f), n = 1 + fz_below(&it->f, 64);

	fz_bytes(&it->f, b, n);
	poke(it, at, b, n);
}

static void
ring(struct it *it)
{
	uint32_t how = fz_u8(&it->f);
	uint64_t v = crl_bswap64((uint64_t)it->pi << 40 | (uint64_t)REF_SQN << 8 | 1);

	*it->rec = crl_bswap32(how & 1 ? fz_u16(&it->f) : it->pi);
	if (how & 2)
		v = fz_u64(&it->f);
	memcpy(it->r->uar + REF_PAGE * CRL_UAR_BYTES + CRL_UAR_BF_REG + (how >> 2 & 3u) * 0x100u,
		&v, 8);
}

static void
step(struct it *it)
{
	if (fz_rarely(&it->f, 16)) {
		scx_dp_step(it->r->dp, &it->r->wire.w, 1);
		rig_reports(it->r);
		it->ref.off = true; /* what is on its way now is not modelled */
		return;
	}
	ref_run(&it->ref, it->r, it->ring);
	rig_drain(it->r, &it->r->wire.w);
	ref_compare(&it->ref, it->r, it->cq_ring, it->cq_log);
	rig_wire_forget(&it->r->wire);
	if (it->ref.state != SCX_WQ_ERR || it->ref.off || fz_rarely(&it->f, 4))
		return;
	/* Made ready again, else an input sees little but flushes. */
	*it->rec = 0;
	it->pi = 0;
	for (uint32_t to = SCX_WQ_RST; to <= SCX_WQ_RDY; to++) {
		FZ_MUST(rig_apply(it->r, SCX_DP_SQ_STATE, REF_SQN, to) == 0, "state %u", to);
		ref_state(&it->ref, (uint8_t)to, 0);
	}
}

static void
state(struct it *it)
{
	static const uint8_t states[] = {SCX_WQ_RST, SCX_WQ_RDY, SCX_WQ_ERR, SCX_WQ_RDY};
	uint8_t to = states[fz_below(&it->f, 4)];

	step(it);
	FZ_MUST(rig_apply(it->r, SCX_DP_SQ_STATE, REF_SQN, to) == 0, "state %u", to);
	ref_state(&it->ref, to, (uint16_t)crl_bswap32(*it->rec));
	if (it->ref.pi == 0)
		it->pi = 0;
}

static void
other(struct it *it)
{
	uint32_t what = fz_u8(&it->f), k = what >> 4 & 3u;

	switch (what & 7u) {
	case 0:
		step(it);
		it->ref.consumed = it->ref.nr_cqes;
		*it->cq_rec = crl_bswap32(it->ref.nr_cqes);
		if (what & 8) {
			*it->cq_rec = fz_u32(&it->f);
			it->ref.off = true;
		}
		break;
	case 1:
		step(it);
		rig_apply(it->r, SCX_DP_PORT_SET, 0, what & 8 ? 0 : fz_u16(&it->f));
		break;
	case 2:
		step(it);
		if (k < RIG_KEYS)
			rig_key_gone(it->r, k);
		break;
	case 3:
		if (k < RIG_KEYS)
			rig_key(it->r, k, fz_u64(&it->f) % (UINT64_MAX - RIG_REGION), what & 8);
		break;
	case 4:
		memcpy(it->r->uar + REF_PAGE * CRL_UAR_BYTES + CRL_UAR_CQ_ARM,
			(uint64_t[]){crl_bswap64((uint64_t)fz_u32(&it->f) << 32 |
						 (what & 8 ? REF_CQN : fz_u32(&it->f)))},
			8);
		it->cq_rec[1] = fz_u32(&it->f);
		break;
	case 5:
		it->r->wire.most = fz_below(&it->f, 4);
		break;
	case 6:
		fz_bytes(&it->f, it->r->region[k % RIG_KEYS] + fz_below(&it->f, 32),
			1 + fz_below(&it->f, 29));
		break;
	default:
		it->pi = fz_u16(&it->f);
		break;
	}
}

static void
make_queue(struct it *it)
{
	struct scx_dp_cmd c = {.op = SCX_DP_CQ_SET};
	uint32_t how = fz_u16(&it->f);

	it->log = how & 7u;
	it->cq_log = how & 8 ? 8 : how >> 4 & 7u;
	it->cq_flags = how >> 7 & 3u;
	it->ring = fz_alloc(4096, 64u << it->log);
	it->cq_ring = fz_alloc(4096, 64u << it->cq_log);
	it->rec = (uint32_t *)fz_alloc(8, 8) + CRL_DBREC_SND_WORD;
	it->cq_rec = fz_alloc(8, 8);
	for (uint32_t i = 0; i < 1u << it->cq_log; i++)
		it->cq_ring[i * 64 + 63] = 0xf1;
	c.u.cq = (struct scx_dp_cq){.cqn = REF_CQN,
		.ring = {it->cq_ring, 64u << it->cq_log},
		.dbrec = it->cq_rec,
		.log_depth = it->cq_log,
		.uar_page = REF_PAGE,
		.collapsed = (it->cq_flags & 1) != 0,
		.overrun_ignore = (it->cq_flags & 2) != 0};
	FZ_MUST(scx_dp_apply(it->r->dp, &c) == 0, "CQ");
	c.op = SCX_DP_SQ_SET;
	c.u.sq = (struct scx_dp_sq){.sqn = REF_SQN,
		.cqn = REF_CQN,
		.uar_page = REF_PAGE,
		.pdn = RIG_PD,
		.user_index = 0x123456,
		.ring = {it->ring, 64u << it->log},
		.dbrec = it->rec - CRL_DBREC_SND_WORD,
		.log_depth = it->log,
		.flush_in_error = how >> 9 & 1,
		.allow_mpw = (how >> 10 & 3u) != 3,
		.allow_tso = how >> 12 & 1,
		.min_inline_mode = how >> 13 & 1 ? (uint8_t)(how >> 14 & 3u) : 0};
	FZ_MUST(scx_dp_apply(it->r->dp, &c) == 0, "SQ");
	FZ_MUST(rig_apply(it->r, SCX_DP_SQ_STATE, REF_SQN, SCX_WQ_RDY) == 0, "ready");
	ref_begin(&it->ref, &c.u.sq);
	it->ref.off = (it->cq_flags & 1) != 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t iova[RIG_KEYS] = {0x7f0000000000, 0x1000, UINT64_MAX - RIG_TINY};
	static struct it it;

	it.r = rig_begin();
	it.f = (struct fz){data, size};
	it.pi = 0;

	for (uint32_t k = 0; k < RIG_KEYS; k++) {
		fz_pattern(it.r->region[k], k == 0 ? 4096 : it.r->bytes[k], k);
		rig_key(it.r, k, iova[k], k == 0);
	}
	make_queue(&it);
	for (unsigned ops = 0; it.f.n > 0 && ops < 200; ops++) {
		switch (fz_below(&it.f, 10)) {
		case 0:
		case 1:
		case 2:
		case 3:
			make_wqe(&it);
			break;
		case 4:
			raw_bytes(&it);
			break;
		case 5:
			ring(&it);
			break;
		case 6: /* as a driver does */
			*it.rec = crl_bswap32(it.pi);
			it.r->uar[REF_PAGE * CRL_UAR_BYTES + CRL_UAR_BF_REG] = 1;
			step(&it);
			break;
		case 7:
			step(&it);
			break;
		case 8:
			state(&it);
			break;
		default:
			other(&it);
			break;
		}
	}
	step(&it);
	FZ_MUST(rig_apply(it.r, SCX_DP_SQ_DEL, REF_SQN, 0) == 0, "SQ");
	FZ_MUST(rig_apply(it.r, SCX_DP_CQ_DEL, REF_CQN, 0) == 0, "CQ");
	memset(it.r->uar, 0, RIG_PAGES * CRL_UAR_BYTES);
	ref_frames_forget(&it.ref);
	rig_end(it.r);
	free(it.ring);
	free(it.cq_ring);
	free(it.rec - CRL_DBREC_SND_WORD);
	free(it.cq_rec);
	return 0;
}
