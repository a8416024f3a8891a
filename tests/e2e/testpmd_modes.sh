#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian's testpmd with its unmodified net_mlx5 on a softcx in loopback: every forward mode, with 1
# and 4 queues, with net_mlx5's defaults (enhanced multi-packet send, inline data) and with plain
# SENDs. Nothing may be lost: what was sent is received, waiting in a ring, or counted as missed.
. "$(dirname "$0")/lib.sh"
e2e_begin dpdk-testpmd stdbuf

RXD=512

# What stays in the rings when nobody polls: the modes that only send stop at full rings.
balance()
{
	local lost

	sleep 0.2 # what is under way arrives
	xstats 0
	lost=$((XS[tx_good_packets] - XS[rx_good_packets] - XS[rx_out_of_buffer]))
	[ "$lost" -ge 0 ] && [ "$lost" -le "$2" ] ||
		fail "$1: sent ${XS[tx_good_packets]}, received ${XS[rx_good_packets]}," \
			"out of buffer ${XS[rx_out_of_buffer]}"
	is "$1: errors" "$((XS[rx_errors] + XS[tx_errors] + XS[rx_mbuf_allocation_errors]))" 0
}

# Modes that send what they received: packets go round until stopped.
circling()
{
	pmd_do "set fwd $1"
	pmd_do "start tx_first"
	sleep "$SPAN"
	pmd_do stop
	balance "$1, $QUEUES" $((32 * QUEUES * 2))
	is "$1, $QUEUES queues: out of buffer" "${XS[rx_out_of_buffer]}" 0
	[ "${XS[rx_good_packets]}" -gt $((1000 * QUEUES)) ] ||
		fail "$1, $QUEUES queues: only ${XS[rx_good_packets]} packets"
	pmd_do "set fwd rxonly" # drain
	pmd_do start
	sleep 0.2
	pmd_do stop
	xstats 0
	is "$1, $QUEUES queues: received of sent" "${XS[rx_good_packets]}" "${XS[tx_good_packets]}"
	counters_clear 0
}

# txonly fills the rings, then all is missed; rxonly finds exactly what was not missed.
one_way()
{
	local waiting

	pmd_do "set fwd txonly"
	pmd_do start
	sleep "$SPAN"
	pmd_do stop
	balance txonly $((RXD * QUEUES))
	[ "${XS[tx_good_packets]}" -gt 10000 ] || fail "txonly: only ${XS[tx_good_packets]} packets"
	[ "${XS[rx_out_of_buffer]}" -gt 0 ] || fail "txonly: nothing was out of buffer"
	is "rx_missed_errors" "${XS[rx_missed_errors]}" "${XS[rx_out_of_buffer]}"
	waiting=$((XS[tx_good_packets] - XS[rx_out_of_buffer]))
	pmd_do "set fwd rxonly"
	pmd_do start
	sleep 0.2
	pmd_do stop
	xstats 0
	is "rxonly after txonly" "${XS[rx_good_packets]}" "$waiting"
	# net_mlx5 gives entries back 64 at a time, so that a ring may lack a few
	[ "$waiting" -gt $(((RXD - 128) * QUEUES)) ] ||
		fail "rings were called full with $waiting packets"
	is "bytes" "${XS[rx_good_bytes]}" $((waiting * 64))
	counters_clear 0
}

flowgen()
{
	pmd_do "set fwd flowgen"
	pmd_do start
	sleep "$SPAN"
	pmd_do stop
	balance flowgen $((RXD * QUEUES))
	[ "${XS[rx_good_packets]}" -gt 1000 ] || fail "flowgen: only ${XS[rx_good_packets]} packets"
	if [ "$QUEUES" = 4 ]; then
		for q in 0 1 2 3; do
			[ "${XS[rx_q${q}_packets]}" -gt 0 ] || fail "flowgen: queue $q got nothing"
		done
	fi
	pmd_do "set fwd rxonly"
	pmd_do start
	sleep 0.2
	pmd_do stop
	counters_clear 0
}

# Frames with their FCS behind them: net_mlx5 knows and leaves it out of what it hands on.
keep_crc()
{
	QUEUES=2 DEVARGS=''
	pmd_start crc --rxq=2 --txq=2 --rxd=$RXD --txd=$RXD --disable-crc-strip
	circling macswap
	pmd_quit
}

SPAN=0.3
full && SPAN=2
for DEVARGS in '' txqs_min_inline=0 txq_mpw_en=0,txq_inline_max=0; do
	for QUEUES in 1 4; do
		note "$QUEUES queues, devargs '${DEVARGS}'"
		pmd_start "q$QUEUES-${DEVARGS%%=*}" --rxq=$QUEUES --txq=$QUEUES --rxd=$RXD \
			--txd=$RXD --rss-udp --nb-cores=1 --txonly-multi-flow
		for mode in io macswap 5tswap csum; do
			circling $mode
		done
		one_way
		flowgen
		pmd_quit
	done
done
keep_crc
