/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path under a fuzzer: the tables are made once, for they are large; queues and keys come
 * and go with each input. Rings, records and regions are blocks of exactly their size, so that
 * AddressSanitizer sees a step beside them. A wire keeps what was sent and hands out what the input
 * says.
 */
#ifndef CRL_FUZZ_DPRIG_H
#define CRL_FUZZ_DPRIG_H

#include "drivers/softcx/dp/dp_all.h"
#include "fz.h"

#define RIG_PAGES  3u
#define RIG_PD	   5u
#define RIG_KEYS   3u
#define RIG_WIRE   1024u /* frames that one comparison can hold */
#define RIG_STEPS  4096u
#define RIG_REGION (72u << 10) /* of the first key; room for a TSO's payload */
#define RIG_SMALL  777u	       /* of the second, which is read-only */
#define RIG_TINY   61u

struct rig_sent {
	uint8_t *data;
	uint32_t len;
};

struct rig_wire {
	struct scx_wire w;
	struct rig_sent sent[RIG_WIRE];
	uint32_t nr_sent, most; /* most: frames taken in one call; 0: all */
	struct scx_frame in[64];
	uint32_t nr_in, next_in, backs;
};

struct rig {
	struct scx_dp *dp;
	uint8_t *uar;
	struct rig_wire wire;
	uint8_t *region[RIG_KEYS];
	uint32_t bytes[RIG_KEYS];
	struct scx_dp_mkey key[RIG_KEYS]; /* as it was set; key 0: not there */
	struct scx_extents extents;
	uint32_t refused[SCX_DP_R_COUNT];
	uint32_t nr_queue_errors, nr_cq_errors, nr_cq_events;
};

static unsigned
rig_wire_send(struct scx_wire *w, const struct scx_frame *f, unsigned nr)
{
	struct rig_wire *rw = (struct rig_wire *)w;

	if (rw->most != 0 && nr > rw->most)
		nr = rw->most;
	for (unsigned i = 0; i < nr; i++) {
		struct rig_sent *s;

		FZ_MUST(f[i].len >= 14 && f[i].len <= SCX_DP_FRAME_MAX, "%u bytes", f[i].len);
		if (rw->nr_sent == RIG_WIRE)
			return nr; /* looked at no more */
		s = &rw->sent[rw->nr_sent++];
		s->len = f[i].len;
		s->data = malloc(s->len);
		FZ_MUST(s->data != NULL, "memory");
		memcpy(s->data, f[i].data, s->len);
	}
	return nr;
}

static unsigned
rig_wire_recv(struct scx_wire *w, struct scx_frame *f, unsigned nr)
{
	struct rig_wire *rw = (struct rig_wire *)w;
	unsigned n = 0;

	while (n < nr && rw->next_in < rw->nr_in)
		f[n++] = rw->in[rw->next_in++];
	return n;
}

static inline void
rig_wire_forget(struct rig_wire *rw)
{
	for (uint32_t i = 0; i < rw->nr_sent; i++)
		free(rw->sent[i].data);
	rw->nr_sent = 0;
}

static void
rig_wire_close(struct scx_wire *w)
{
	(void)w;
}

static void
rig_wire_back(struct scx_wire *w)
{
	struct rig_wire *rw = (struct rig_wire *)w;

	rw->backs++;
	rw->next_in--;
}

static const struct scx_wire_ops rig_wire_ops = {
	.name = "fuzz", .send = rig_wire_send, .recv = rig_wire_recv, .close = rig_wire_close};
static const struct scx_wire_ops rig_patient_ops = {.name = "patient",
	.send = rig_wire_send,
	.recv = rig_wire_recv,
	.close = rig_wire_close,
	.back = rig_wire_back};

/* The rig of this process, with nothing in it. */
static inline struct rig *
rig_begin(void)
{
	static const uint32_t bytes[RIG_KEYS] = {RIG_REGION, RIG_SMALL, RIG_TINY};
	static struct rig r;

	if (r.dp == NULL) {
		r.dp = fz_alloc(4096, sizeof(*r.dp));
		r.uar = fz_alloc(4096, RIG_PAGES * CRL_UAR_BYTES);
		scx_dp_init(r.dp, r.uar, RIG_PAGES, 1);
		for (uint32_t k = 0; k < RIG_KEYS; k++) {
			r.bytes[k] = bytes[k];
			r.region[k] = fz_alloc(64, bytes[k]);
		}
	}
	memset(&r.wire, 0, sizeof(r.wire));
	r.wire.w.ops = &rig_wire_ops;
	memset(r.refused, 0, sizeof(r.refused));
	memset(r.key, 0, sizeof(r.key));
	r.nr_queue_errors = r.nr_cq_errors = r.nr_cq_events = 0;
	scx_fault_seed(&r.dp->fault, 1);
	return &r;
}

static inline int
rig_apply(struct rig *r, enum scx_dp_op op, uint32_t num, uint32_t arg)
{
	struct scx_dp_cmd c = {.op = op, .num = num, .arg = arg};

	return scx_dp_apply(r->dp, &c);
}

/* Key k, of region k: iova, and whether the NIC may write. */
static inline void
rig_key(struct rig *r, uint32_t k, uint64_t iova, bool write)
{
	struct scx_dp_cmd c = {.op = SCX_DP_MKEY_SET};
	struct scx_dp_mkey *m = &c.u.mkey;

	if (r->key[k].key != 0)
		return;
	m->key = (0x10u + k) << 8 | 0x21u;
	m->pdn = RIG_PD;
	m->iova = iova;
	m->bytes = r->bytes[k];
	m->base = r->region[k];
	m->local_write = write;
	FZ_MUST(scx_dp_apply(r->dp, &c) == 0, "key %u", k);
	r->key[k] = *m;
}

static inline void
rig_key_gone(struct rig *r, uint32_t k)
{
	if (r->key[k].key == 0)
		return;
	FZ_MUST(rig_apply(r, SCX_DP_MKEY_DEL, r->key[k].key, 0) == 0, "key %u", k);
	r->key[k].key = 0;
}

static inline void
rig_reports(struct rig *r)
{
	struct scx_dp_report rep;

	while (scx_dp_take_report(r->dp, &rep)) {
		switch (rep.kind) {
		case SCX_DP_REFUSED:
			FZ_MUST(rep.why < SCX_DP_R_COUNT, "why %u", rep.why);
			r->refused[rep.why]++;
			break;
		case SCX_DP_CQ_EVENT:
			r->nr_cq_events++;
			break;
		case SCX_DP_CQ_ERROR:
			r->nr_cq_errors++;
			break;
		case SCX_DP_QUEUE_ERROR:
			r->nr_queue_errors++;
			break;
		case SCX_DP_DUMPED:
			FZ_MUST(false, "a dump that nobody asked for");
			break;
		}
	}
}

/* Step until nothing is left to do; it ends. */
static inline void
rig_drain(struct rig *r, struct scx_wire *w)
{
	unsigned n;

	/* A wire that took only a part makes a step without work. */
	for (n = 0; n < RIG_STEPS &&
		    (scx_dp_step(r->dp, w, 64) > 0 || r->dp->batch.taken != r->dp->batch.nr);
		n++)
		rig_reports(r);
	rig_reports(r);
	FZ_MUST(n < RIG_STEPS, "no end of work");
}

/* All gone again, and the data path as it was; the caller has deleted its queues. */
static inline void
rig_end(struct rig *r)
{
	struct scx_dp *dp = r->dp;

	for (uint32_t k = 0; k < RIG_KEYS; k++)
		rig_key_gone(r, k);
	rig_reports(r);
	rig_wire_forget(&r->wire);
	FZ_MUST(dp->pending.nr == 0, "%u CQEs were never made valid", dp->pending.nr);
	FZ_MUST(dp->run_nr == 0 && dp->nr_active == 0, "queues are left");
	dp->batch.nr = dp->batch.taken = dp->batch.nr_done = 0;
	dp->batch.staged = dp->batch.referenced = 0;
	dp->run_head = 0;
	dp->rx_begun = 0;
	dp->clock = 0;
	memset(&dp->stats, 0, sizeof(dp->stats));
	memset(&dp->fault, 0, sizeof(dp->fault));
	memset(dp->out_of_buffer, 0, sizeof(dp->out_of_buffer));
	scx_port_set(dp, 1500);
}

#endif /* CRL_FUZZ_DPRIG_H */
