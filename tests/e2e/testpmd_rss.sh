#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# RSS of softcx under unmodified net_mlx5: the hash equals Microsoft's published vectors, and each
# queue gets exactly the number of frames that DPDK's rte_softrss computes, for whole tables, for a
# table in another order, and for 3 queues (a table whose size is not theirs).
. "$(dirname "$0")/lib.sh"
e2e_begin dpdk-testpmd stdbuf python3 "${RSS_EXPECT:?}"

MS_KEY=6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa
MS_TCP=(0x51ccc178 0xc626b0ea 0x5c2b394a 0xafc7327f 0x10e828a2 0x40207d3d 0xdde51bbf 0x02d1feef)
MS_IP=(0x323e8fc2 0xd718262a 0xd2d0a5de 0x82989176 0x5d1809c5 0x2cc18cd5 0x0f0c461c 0x4b61e985)

wire_make 1500
SCX=(--wire veth:w0)

# send CAPTURE: and wait until net_mlx5 has all of it
send()
{
	counters_clear 0
	exchange "$1" "$T/out.pcap" --seconds 0 --rate 20000
	xstat_wait 0 rx_good_packets "$(wire_py length "$1")" 5
}

# spread LABEL QUEUES EXPECT-ARGUMENTS...
spread()
{
	local label=$1 queues=$2 q n
	declare -A want=()

	shift 2
	while read -r q n; do
		want[$q]=$n
	done < <("$RSS_EXPECT" "$@")
	for ((q = 0; q < queues; q++)); do
		is "$label: queue $q" "${XS[rx_q${q}_packets]}" "${want[$q]:-0}"
	done
	[ "${#want[@]}" -gt 1 ] || fail "$label: the expectation spreads nothing"
}

# vectors LABEL HASH...: the hash of each frame of the capture, as its CQE told it. A queue's frames
# keep their order, but queues are polled in turn: compare as sets.
vectors()
{
	local label=$1 from got

	shift
	pmd_do 'set verbose 1'
	from=$(stat -c %s "$PMD_LOG")
	send "$T/ms.pcap"
	pmd_do 'set verbose 0'
	got=$(tail -c +"$from" "$PMD_LOG" | grep -oE 'RSS hash=0x[0-9a-f]+' | sed 's/.*=0x//' |
		sort | xargs)
	is "$label" "$got" "$(printf '%x\n' "$@" | sort | xargs)"
}

# rss_rule PATTERN TYPE QUEUES
rss_rule()
{
	local rss="rss func toeplitz key $MS_KEY key_len 40 types $2 end queues $3 end"

	pmd_do "flow create 0 ingress pattern eth / $1 / end actions $rss / end"
	grep -q 'Flow rule .* created' <<<"$PMD_OUT" || fail "no rule: $PMD_OUT"
}

wire_py make microsoft "$T/ms.pcap"
wire_py make flows "$T/flows.pcap" --seed "$SEED" --count 1000

for QUEUES in 4 3; do
	pmd_start "rss$QUEUES" --rxq=$QUEUES --txq=$QUEUES --rss-ip --forward-mode=rxonly
	pmd_do 'show port 0 rss-hash key'
	KEY=$(grep -oiE '\b[0-9a-f]{80}\b' <<<"$PMD_OUT")
	[ -n "$KEY" ] || die "no RSS key in: $PMD_OUT"
	pmd_do 'show port info 0'
	SIZE=$(sed -n 's/^Redirection table size: //p' <<<"$PMD_OUT")
	note "$QUEUES queues, key ${KEY:0:16}..., table of $SIZE"
	pmd_do start

	send "$T/flows.pcap"
	mapfile -t ALL < <(seq 0 $((QUEUES - 1)))
	spread "addresses, $QUEUES queues" $QUEUES "$KEY" l3 "$SIZE" "$T/flows.pcap" "${ALL[@]}"

	if [ "$QUEUES" = 4 ]; then
		# the table, turned round, by the API of its own
		pmd_do 'port config 0 rss reta (0,3),(1,3),(2,1),(3,0)'
		send "$T/flows.pcap"
		spread 'turned table' 4 "$KEY" l3 4 "$T/flows.pcap" 3 3 1 0
		# rules of our own key, over ports too, in an odd order
		for t in ipv4 ipv6; do
			for p in udp tcp; do
				rss_rule "$t / $p" "$t-$p" '2 0 1 3'
			done
		done
		send "$T/flows.pcap"
		spread 'ports, rules' 4 "$MS_KEY" l4 4 "$T/flows.pcap" 2 0 1 3
		vectors 'Microsoft, with ports' "${MS_TCP[@]}"
		pmd_do 'flow flush 0'
		for t in ipv4 ipv6; do
			rss_rule $t $t '0 1 2 3'
		done
		vectors 'Microsoft, addresses' "${MS_IP[@]}"
	fi
	pmd_quit
done
