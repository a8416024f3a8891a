/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the structs that a program and the library share look like, as one number: name, offset and
 * size of each field, hashed. Both are compiled with this header, each with its own; a field that
 * moved, also one that changed places with another of its size, gives another number, and
 * crl_engine_start() refuses. The compiler folds it into a constant. A field that is not listed is
 * an error here: the sizes add up to the struct's, with the bytes of padding that are named.
 */
#ifndef CRL_LAYOUT_H
#define CRL_LAYOUT_H

#include "cq_poll.h"
#include "stream.h"

#define CRL_LAYOUT_CQ(F, S)                                                                        \
	F(S, cqe)                                                                                  \
	F(S, dbrec) F(S, ci) F(S, ci_told) F(S, log_depth) F(S, cqn) F(S, flags) F(S, rsvd)
#define CRL_LAYOUT_SQ(F, S)                                                                        \
	F(S, wqe)                                                                                  \
	F(S, dbrec)                                                                                \
	F(S, uar)                                                                                  \
	F(S, cookie) F(S, end) F(S, log_depth) F(S, sqn) F(S, lkey) F(S, signal_every) F(S, flags) \
		F(S, inline_max) F(S, inline_hdr) F(S, rsvd) F(S, pi) F(S, posted) F(S, rung)      \
			F(S, completed) F(S, ci) F(S, signalled) F(S, last) F(S, db)               \
				F(S, unsignalled) F(S, state) F(S, cq)
#define CRL_LAYOUT_RQ(F, S)                                                                        \
	F(S, wqe)                                                                                  \
	F(S, dbrec)                                                                                \
	F(S, buf)                                                                                  \
	F(S, released) F(S, buf_iova) F(S, log_depth) F(S, rqn) F(S, stride) F(S, headroom)        \
		F(S, lkey) F(S, state) F(S, pi) F(S, pi_told) F(S, ci) F(S, cq)
#define CRL_LAYOUT_TXBUF(F, S) F(S, addr) F(S, iova) F(S, bytes) F(S, lkey) F(S, rsvd)
#define CRL_LAYOUT_QUEUE(F, S)                                                                     \
	F(S, abi)                                                                                  \
	F(S, flags)                                                                                \
	F(S, index)                                                                                \
	F(S, port) F(S, mtu) F(S, mac) F(S, sq) F(S, rq) F(S, txbuf) F(S, stats) F(S, error)       \
		F(S, ctl)
#define CRL_LAYOUT_CTL(F, S)                                                                       \
	F(S, stop)                                                                                 \
	F(S, park)                                                                                 \
	F(S, rearm)                                                                                \
	F(S, owned) F(S, rsvd0) F(S, parked) F(S, done) F(S, abi) F(S, rearmed) F(S, heartbeat)    \
		F(S, stopping) F(S, rsvd1)
#define CRL_LAYOUT_QERROR(F, S)                                                                    \
	F(S, seq)                                                                                  \
	F(S, status)                                                                               \
	F(S, queue)                                                                                \
	F(S, wqe) F(S, syndrome) F(S, vendor) F(S, is_rx) F(S, kind) F(S, cqe) F(S, wqe_bytes)     \
		F(S, rsvd)
#define CRL_LAYOUT_QSTATS(F, S)                                                                    \
	F(S, rx_packets)                                                                           \
	F(S, rx_bytes)                                                                             \
	F(S, rx_dropped)                                                                           \
	F(S, rx_errors) F(S, rx_csum_bad) F(S, rx_polls) F(S, rx_idle_polls) F(S, rx_refills)      \
		F(S, tx_packets) F(S, tx_bytes) F(S, tx_dropped) F(S, tx_errors)                   \
			F(S, tx_doorbells) F(S, tx_full_waits) F(S, tx_completions)                \
				F(S, tx_idle_polls) F(S, sq_pi) F(S, sq_ci) F(S, rq_pi)            \
					F(S, rq_ci) F(S, rtt_count) F(S, rtt_sum_ns)               \
						F(S, rtt_min_ns) F(S, rtt_max_ns) F(S, torn)       \
							F(S, missed) F(S, rsvd)
#define CRL_LAYOUT_PKT(F, S)                                                                       \
	F(S, data)                                                                                 \
	F(S, iova)                                                                                 \
	F(S, index)                                                                                \
	F(S, len) F(S, room) F(S, hash) F(S, metadata) F(S, csum_ok) F(S, types) F(S, vlan)
#define CRL_LAYOUT_OPTS(F, S)                                                                      \
	F(S, peer_mac)                                                                             \
	F(S, txpkts_nr)                                                                            \
	F(S, txpkts)                                                                               \
	F(S, src_ip) F(S, dst_ip) F(S, src_port) F(S, dst_port) F(S, cs_flags) F(S, tx_frames_max) \
		F(S, tx_first) F(S, own_flow) F(S, in_flight) F(S, flows) F(S, user)
#define CRL_LAYOUT_STREAM(F, S)                                                                    \
	F(S, rx)                                                                                   \
	F(S, tx)                                                                                   \
	F(S, ctl)                                                                                  \
	F(S, tx_lkey) F(S, burst) F(S, mode) F(S, rearmed) F(S, park) F(S, rsvd) F(S, turns)       \
		F(S, look_packets) F(S, look_bytes) F(S, look_every) F(S, look_step)               \
			F(S, deadline_ns) F(S, glanced) F(S, tx_left) F(S, tx_slots)               \
				F(S, tx_stride) F(S, tx_flow) F(S, waiting) F(S, seq)              \
					F(S, sent_ns) F(S, rxc) F(S, txc) F(S, rtt) F(S, stamp)    \
						F(S, loose) F(S, opts)

/* Of all of them: list, struct, bytes of padding. */
#define CRL_LAYOUTS(L)                                                                             \
	L(CRL_LAYOUT_CQ, struct crl_cq, 0)                                                         \
	L(CRL_LAYOUT_SQ, struct crl_sq, 0)                                                         \
	L(CRL_LAYOUT_RQ, struct crl_rq, 0)                                                         \
	L(CRL_LAYOUT_TXBUF, struct crl_txbuf, 0)                                                   \
	L(CRL_LAYOUT_QUEUE, struct crl_queue_dev, 0)                                               \
	L(CRL_LAYOUT_CTL, struct crl_ctl, 0)                                                       \
	L(CRL_LAYOUT_QERROR, struct crl_qerror, 0)                                                 \
	L(CRL_LAYOUT_QSTATS, struct crl_qstats, 0)                                                 \
	L(CRL_LAYOUT_PKT, struct crl_pkt, 4)                                                       \
	L(CRL_LAYOUT_OPTS, struct crl_engine_opts, 0)                                              \
	L(CRL_LAYOUT_STREAM, struct crl_stream, 0)

#define CRL_LAYOUT_SIZE(S, field) +sizeof(((S *)NULL)->field)
#define CRL_LAYOUT_WHOLE(list, S, pad)                                                             \
	CRL_STATIC_ASSERT(sizeof(S) == (pad)list(CRL_LAYOUT_SIZE, S), "a field is not in the "     \
								      "list");
CRL_LAYOUTS(CRL_LAYOUT_WHOLE)

/* Length, first, middle and last byte of a name: the compiler folds these, and not a loop. */
#define CRL_LAYOUT_NAME(text)                                                                      \
	((uint32_t)(sizeof(text) - 1u) << 24 | (uint32_t)(uint8_t)(text)[0] << 16 |                \
		(uint32_t)(uint8_t)(text)[sizeof(text) / 2u - 1u] << 8 |                           \
		(uint32_t)(uint8_t)(text)[sizeof(text) - 2u])

/* FNV-1a, a word at a time. */
static inline uint32_t
crl_layout_add(uint32_t h, uint32_t name, uint32_t offset, uint32_t bytes)
{
	h = (h ^ name) * 16777619u;
	h = (h ^ offset) * 16777619u;
	h = (h ^ bytes) * 16777619u;
	return h ^ h >> 15;
}

#define CRL_LAYOUT_FIELD(S, field)                                                                 \
	h = crl_layout_add(h, CRL_LAYOUT_NAME(#field), (uint32_t)offsetof(S, field),               \
		(uint32_t)sizeof(((S *)NULL)->field));
#define CRL_LAYOUT_STRUCT(list, S, pad)                                                            \
	list(CRL_LAYOUT_FIELD, S) h =                                                              \
		crl_layout_add(h, CRL_LAYOUT_NAME(#S), pad, (uint32_t)sizeof(S));

static inline uint32_t
crl_layout(void)
{
	uint32_t h = 2166136261u;

	CRL_LAYOUTS(CRL_LAYOUT_STRUCT)
	return h;
}

#endif /* CRL_LAYOUT_H */
