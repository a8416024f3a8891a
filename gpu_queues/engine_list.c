/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engines there are, and their options in words. Host code: each turn function is the host's
 * instance of the loop that run_cuda.cu compiles for GPUs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "launch.h"
#include "engines/5tswap.h"
#include "engines/flowgen.h"
#include "engines/icmpecho.h"
#include "engines/io.h"
#include "engines/macswap.h"
#include "engines/pingpong.h"
#include "engines/rxonly.h"
#include "engines/stamp.h"
#include "engines/txfirst.h"
#include "engines/txonly.h"

#define STEP "start engine"

static enum crl_turn
fivetswap_turn(struct crl_stream *s)
{
	return crl_txfirst_due(s) ? crl_txfirst_turn(s) : crl_fwd_turn(s, crl_5tswap_packet);
}

static enum crl_turn
flowgen_turn(struct crl_stream *s)
{
	return crl_flowgen_turn(s);
}

static enum crl_turn
icmpecho_turn(struct crl_stream *s)
{
	return crl_txfirst_due(s) ? crl_txfirst_turn(s) : crl_fwd_turn(s, crl_icmpecho_packet);
}

static enum crl_turn
io_turn(struct crl_stream *s)
{
	return crl_txfirst_due(s) ? crl_txfirst_turn(s) : crl_fwd_turn(s, crl_io_packet);
}

static enum crl_turn
macswap_turn(struct crl_stream *s)
{
	return crl_txfirst_due(s) ? crl_txfirst_turn(s) : crl_fwd_turn(s, crl_macswap_packet);
}

static enum crl_turn
pingpong_turn(struct crl_stream *s)
{
	return crl_pingpong_turn(s);
}

static enum crl_turn
rxonly_turn(struct crl_stream *s)
{
	return crl_fwd_turn(s, crl_rxonly_packet);
}

static enum crl_turn
stamp_turn(struct crl_stream *s)
{
	return crl_stamp_due(s) ? crl_stamp_first_turn(s) : crl_fwd_turn(s, crl_stamp_packet);
}

static enum crl_turn
txonly_turn(struct crl_stream *s)
{
	return crl_txonly_turn(s);
}

/* A frame of len bytes of the engine's own, the first min of them in one piece. */
static int
own_check(const struct crl_stream *s, const char *name, uint32_t len, uint32_t min,
	struct crl_err *err)
{
	const struct crl_queue_dev *q = s->tx;

	if (s->opts.txpkts[0] < min)
		return crl_err_set(err, -EINVAL, STEP, "give a longer first segment",
			"%s: the first segment has %u bytes and must hold %u", name,
			s->opts.txpkts[0], min);
	if (q->mtu != 0 && len > q->mtu)
		return crl_err_set(err, -EINVAL, STEP,
			"give smaller --txpkts or raise the port's MTU",
			"%s: a frame of %u bytes, the port sends up to %u", name, len, q->mtu);
	if (q->txbuf.addr == NULL || q->txbuf.bytes < len)
		return crl_err_set(err, -EINVAL, STEP, "give the queue a txbuf",
			"%s: queue %u has %llu bytes for frames of its own, a frame has %u", name,
			q->index, (unsigned long long)q->txbuf.bytes, len);
	return 0;
}

static int
txonly_check(const struct crl_stream *s, struct crl_err *err)
{
	uint32_t nr = s->opts.txpkts_nr;
	int rc = own_check(s, "txonly", crl_txonly_len(&s->opts), CRL_TXONLY_HDR_BYTES, err);

	if (rc == 0 && crl_wqebbs(2u + nr) > crl_ring_depth(s->tx->sq.log_depth))
		return crl_err_set(err, -EINVAL, STEP, "use a deeper ring or fewer segments",
			"txonly: %u segments need %u WQEBBs, the ring has %llu", nr,
			crl_wqebbs(2u + nr),
			(unsigned long long)crl_ring_depth(s->tx->sq.log_depth));
	return rc;
}

static int
one_segment(const struct crl_stream *s, const char *name, struct crl_err *err)
{
	if (s->opts.txpkts_nr == 1u)
		return 0;
	return crl_err_set(err, -EINVAL, STEP, "give one length",
		"%s: %u segments, its frames are one piece", name, s->opts.txpkts_nr);
}

static int
flowgen_check(const struct crl_stream *s, struct crl_err *err)
{
	int rc = one_segment(s, "flowgen", err);

	return rc != 0 ? rc
		       : own_check(s, "flowgen", crl_flowgen_len(&s->opts),
				 CRL_TXONLY_HDR_BYTES + CRL_FLOWGEN_FCS, err);
}

/* Frames come back to the queue that the NIC spreads them to, which with several is another one. */
static int
pingpong_check(const struct crl_stream *s, struct crl_err *err)
{
	int rc = one_segment(s, "pingpong", err);

	if (rc == 0 && s->rx->index != 0)
		return crl_err_set(err, -EINVAL, STEP, "give --rxq=1 --txq=1",
			"pingpong: queue %u, and a frame comes back to one queue of the port",
			s->rx->index);
	return rc != 0 ? rc
		       : own_check(
				 s, "pingpong", crl_txonly_len(&s->opts), CRL_PINGPONG_BYTES, err);
}

/* All frames under way must find a place in the receive ring, where they wait for the first look.
 */
static int
stamp_check(const struct crl_stream *s, struct crl_err *err)
{
	uint64_t depth = crl_ring_depth(s->rx->rq.log_depth);
	int rc = one_segment(s, "stamp", err);

	if (rc == 0 && s->rx != s->tx)
		return crl_err_set(err, -EINVAL, STEP, "forward each port to itself",
			"stamp: frames of queue %u leave by another", s->rx->index);
	if (rc == 0 && s->opts.in_flight > depth / 2u)
		return crl_err_set(err, -EINVAL, STEP, "use a deeper receive ring or fewer frames",
			"stamp: %u frames under way, and a ring of %llu", s->opts.in_flight,
			(unsigned long long)depth);
	return rc != 0 ? rc : own_check(s, "stamp", crl_txonly_len(&s->opts), CRL_STAMP_BYTES, err);
}

const struct crl_engine crl_engines[] = {
	{"5tswap", "sends each frame with its MAC, IP and port pairs swapped", CRL_Q_RX | CRL_Q_TX,
		fivetswap_turn, NULL, 0},
	{"flowgen", "sends UDP frames of many flows, drops what comes", CRL_Q_RX | CRL_Q_TX,
		flowgen_turn, flowgen_check, CRL_FLOWGEN_SLOTS},
	{"icmpecho", "answers ARP, ping, ping6 and IPv6 neighbour solicitations",
		CRL_Q_RX | CRL_Q_TX, icmpecho_turn, NULL, 0},
	{"io", "sends each frame as it came", CRL_Q_RX | CRL_Q_TX, io_turn, NULL, 0},
	{"macswap", "sends each frame with its MAC addresses swapped", CRL_Q_RX | CRL_Q_TX,
		macswap_turn, NULL, 0},
	{"pingpong", "one numbered frame under way: checks it, times its round trip",
		CRL_Q_RX | CRL_Q_TX, pingpong_turn, pingpong_check, 1},
	{"rxonly", "counts and drops", CRL_Q_RX, rxonly_turn, NULL, 0},
	{"stamp", "numbered frames go round, and each is checked every time", CRL_Q_RX | CRL_Q_TX,
		stamp_turn, stamp_check, CRL_STAMP_SLOTS},
	{"txonly", "sends UDP frames without end", CRL_Q_TX, txonly_turn, txonly_check,
		CRL_BURST_MAX},
	{NULL, NULL, 0, NULL, NULL, 0},
};

const struct crl_engine *
crl_engine_find(const char *name)
{
	const struct crl_engine *e;

	for (e = crl_engines; e->name; e++) {
		if (name && strcmp(e->name, name) == 0)
			return e;
	}
	return NULL;
}

const char *
crl_engine_names(char *buf, size_t bytes)
{
	const struct crl_engine *e;
	size_t at = 0;

	if (bytes > 0)
		buf[0] = '\0';
	for (e = crl_engines; e->name && at < bytes; e++)
		at += (size_t)snprintf(buf + at, bytes - at, "%s%s", at ? ", " : "", e->name);
	return buf;
}

void
crl_engine_opts_default(struct crl_engine_opts *o)
{
	static const uint8_t peer[6] = {0x02, 0, 0, 0, 0, 0};

	if (o->peer_mac[0] == 0 && memcmp(o->peer_mac, o->peer_mac + 1, 5) == 0)
		memcpy(o->peer_mac, peer, sizeof(peer));
	if (o->txpkts_nr == 0) {
		o->txpkts_nr = 1;
		o->txpkts[0] = 64;
	}
	o->src_ip = o->src_ip ? o->src_ip : 198u << 24 | 18u << 16 | 1u;
	o->dst_ip = o->dst_ip ? o->dst_ip : 198u << 24 | 18u << 16 | 2u;
	o->src_port = o->src_port ? o->src_port : 9u;
	o->dst_port = o->dst_port ? o->dst_port : 9u;
	o->in_flight = o->in_flight ? o->in_flight : 64u;
	o->flows = o->flows ? o->flows : 1024u;
}

int
crl_engine_opts_txpkts(struct crl_engine_opts *o, const char *list, struct crl_err *err)
{
	const char *p = list, *fix = "give lengths as 64 or 64,128,...";
	uint16_t nr = 0, len[CRL_TXPKTS_MAX];
	unsigned long v;
	char *end;

	do {
		if (nr == CRL_TXPKTS_MAX)
			return crl_err_set(err, -EINVAL, "read --txpkts", fix,
				"more than %u segments in \"%s\"", CRL_TXPKTS_MAX, list);
		v = strtoul(p, &end, 10);
		if (end == p || *p == '-' || v == 0 || v > UINT16_MAX ||
			(*end != ',' && *end != '\0'))
			return crl_err_set(err, -EINVAL, "read --txpkts", fix,
				"\"%s\" is no list of lengths", list);
		len[nr++] = (uint16_t)v;
		p = end + 1;
	} while (*end == ',');
	memcpy(o->txpkts, len, nr * sizeof(len[0]));
	o->txpkts_nr = nr;
	return 0;
}

const char *
crl_engine_kernel(const char *engine, const struct crl_engine_opts *opts)
{
	if (strcmp(engine, "stamp") == 0 && crl_txonly_len(opts) >= CRL_STAMP_LONG)
		return "stamp_long";
	return engine;
}
