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
#include "engines/icmpecho.h"
#include "engines/io.h"
#include "engines/macswap.h"
#include "engines/rxonly.h"
#include "engines/txfirst.h"
#include "engines/txonly.h"

#define STEP "start engine"

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
rxonly_turn(struct crl_stream *s)
{
	return crl_fwd_turn(s, crl_rxonly_packet);
}

static enum crl_turn
txonly_turn(struct crl_stream *s)
{
	return crl_txonly_turn(s);
}

static int
txonly_check(const struct crl_stream *s, struct crl_err *err)
{
	uint32_t len = crl_txonly_len(&s->opts), nr = s->opts.txpkts_nr;
	const struct crl_queue_dev *q = s->tx;

	if (s->opts.txpkts[0] < CRL_TXONLY_HDR_BYTES)
		return crl_err_set(err, -EINVAL, STEP, "give a first segment of 42 bytes or more",
			"txonly: the first segment has %u bytes and must hold the headers",
			s->opts.txpkts[0]);
	if (q->mtu != 0 && len > q->mtu)
		return crl_err_set(err, -EINVAL, STEP,
			"give smaller --txpkts or raise the port's MTU",
			"txonly: a frame of %u bytes, the port sends up to %u", len, q->mtu);
	if (q->txbuf.addr == NULL || q->txbuf.bytes < len)
		return crl_err_set(err, -EINVAL, STEP, "give the queue a txbuf",
			"txonly: queue %u has %llu bytes for frames of its own, a frame has %u",
			q->index, (unsigned long long)q->txbuf.bytes, len);
	if (crl_wqebbs(2u + nr) > crl_ring_depth(q->sq.log_depth))
		return crl_err_set(err, -EINVAL, STEP, "use a deeper ring or fewer segments",
			"txonly: %u segments need %u WQEBBs, the ring has %llu", nr,
			crl_wqebbs(2u + nr), (unsigned long long)crl_ring_depth(q->sq.log_depth));
	return 0;
}

const struct crl_engine crl_engines[] = {
	{"icmpecho", "answers ARP, ping, ping6 and IPv6 neighbour solicitations",
		CRL_Q_RX | CRL_Q_TX, icmpecho_turn, NULL},
	{"io", "sends each frame as it came", CRL_Q_RX | CRL_Q_TX, io_turn, NULL},
	{"macswap", "sends each frame with its MAC addresses swapped", CRL_Q_RX | CRL_Q_TX,
		macswap_turn, NULL},
	{"rxonly", "counts and drops", CRL_Q_RX, rxonly_turn, NULL},
	{"txonly", "sends UDP frames without end", CRL_Q_TX, txonly_turn, txonly_check},
	{NULL, NULL, 0, NULL, NULL},
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
