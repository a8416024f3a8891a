#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# rte_flow rules of unmodified testpmd and net_mlx5 on softcx: queue, drop and RSS actions,
# priorities, matches from L2 to L4, and rules that come and go under traffic without a lost frame.
. "$(dirname "$0")/lib.sh"
e2e_begin dpdk-testpmd stdbuf python3 "${RSS_EXPECT:?}"

wire_make 1500
SCX=(--wire veth:w0)
EACH=25
wire_py make ports "$T/ports.pcap" --seed "$SEED" --count $EACH # to each port
wire_py make mixed "$T/mixed.pcap" --seed "$SEED" --count 4

rule()
{
	pmd_do "flow create 0 $*"
	RULE=$(sed -n 's/.*Flow rule #\([0-9]*\) created.*/\1/p' <<<"$PMD_OUT")
	[ -n "$RULE" ] || fail "no rule from '$*': $(tail -n 3 <<<"$PMD_OUT")"
}

unrule()
{
	pmd_do "flow destroy 0 rule $1"
	grep -q "Flow rule #$1 destroyed" <<<"$PMD_OUT" || fail "rule $1 not destroyed: $PMD_OUT"
}

# frames CAPTURE Q0 Q1 Q2 Q3 LABEL: send it, each queue gets that many; a '-' is not looked at
frames()
{
	local file=$1 label=$6 q total=0 want

	shift
	counters_clear 0
	exchange "$file" "$T/out.pcap" --seconds 0.1 --rate 20000
	for q in 1 2 3 4; do
		[ "${!q}" = - ] || total=$((total + ${!q}))
	done
	case "$*" in
	*-*) xstats 0 ;;
	*) xstat_wait 0 rx_good_packets $total 3 ;;
	esac
	for q in 0 1 2 3; do
		want=$((q + 1))
		want=${!want}
		[ "$want" = - ] || is "$label: queue $q" "${XS[rx_q${q}_packets]}" "$want"
	done
	is "$label: out of buffer" "${XS[rx_out_of_buffer]}" 0
}

pmd_start rules --rxq=4 --txq=4 --rss-udp --forward-mode=rxonly
pmd_do start

UDP='eth / ipv4 / udp'
rule "ingress pattern $UDP dst is 5000 / end actions queue index 3 / end"; R0=$RULE
rule "ingress pattern $UDP dst is 5001 / end actions queue index 1 / end"; R1=$RULE
rule "ingress pattern $UDP dst is 5002 / end actions drop / end"; R2=$RULE
rule "ingress pattern $UDP dst is 5003 / end actions queue index 0 / end"; R3=$RULE
frames "$T/ports.pcap" $EACH $EACH 0 $EACH 'queue and drop'

# A smaller number wins, whichever came first; taken away, the one below it rules again.
rule "priority 1 ingress pattern $UDP / end actions queue index 2 / end"; WIDE=$RULE
frames "$T/ports.pcap" $EACH $EACH 0 $EACH 'a wide rule of lower priority'
unrule "$R0"
frames "$T/ports.pcap" $EACH $EACH $EACH 0 'falls to the wide rule'
unrule "$R2"
frames "$T/ports.pcap" $EACH $EACH $((2 * EACH)) 0 'drop taken away'
unrule "$WIDE"; unrule "$R1"; unrule "$R3"
rule "priority 2 ingress pattern $UDP dst is 5001 / end actions drop / end"
rule "priority 0 ingress pattern $UDP / end actions queue index 1 / end"
frames "$T/ports.pcap" 0 $((4 * EACH)) 0 0 'drop of lower priority'
pmd_do 'flow flush 0'

# RSS over a part of the queues, exactly as rte_softrss says.
KEY=6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa
RSS="rss func toeplitz key $KEY key_len 40 types ipv4-udp end queues 1 3 end"
rule "ingress pattern $UDP / end actions $RSS / end"
declare -A WANT=()
while read -r q n; do WANT[$q]=$n; done < <("$RSS_EXPECT" $KEY l4 2 "$T/ports.pcap" 1 3)
frames "$T/ports.pcap" 0 "${WANT[1]}" 0 "${WANT[3]}" 'RSS over queues 1 and 3'
pmd_do 'flow flush 0'

# Matches of each layer.
rule 'ingress pattern eth src is 02:00:00:00:0a:01 / end actions queue index 2 / end'
frames "$T/ports.pcap" 0 0 $((4 * EACH)) 0 'source MAC'
pmd_do 'flow flush 0'
MASKED='ipv4 src is 10.1.0.1 dst spec 10.1.0.0 dst mask 255.255.0.0'
rule "ingress pattern eth / $MASKED / end actions queue index 1 / end"
frames "$T/ports.pcap" 0 $((4 * EACH)) 0 0 'addresses under a mask'
pmd_do 'flow flush 0'
REST='priority 2 ingress pattern eth / end actions queue index 0 / end'
rule "$REST"
rule 'ingress pattern eth / ipv4 dst is 10.9.9.9 / end actions drop / end'
rule 'ingress pattern eth type is 0x88b5 / end actions queue index 1 / end'
rule 'ingress pattern eth / ipv6 / tcp / end actions queue index 2 / end'
rule 'ingress pattern eth / ipv4 proto is 253 / end actions queue index 3 / end'
frames "$T/mixed.pcap" 48 4 4 4 'mixed: Ethernet type and IP protocol'
pmd_do 'flow flush 0'
rule "$REST"
rule 'ingress pattern eth / vlan vid is 100 / end actions queue index 3 / end'
frames "$T/mixed.pcap" 48 0 0 12 'mixed: VLAN id'
pmd_do 'flow flush 0'

# Rules that come and go under traffic: whichever holds, no frame is lost.
ROUNDS=40
full && ROUNDS=400
wire_py make ports "$T/many.pcap" --seed "$SEED" --count $((ROUNDS * 40))
SENT=$(wire_py length "$T/many.pcap")
counters_clear 0
exchange "$T/many.pcap" "$T/out.pcap" --seconds 0.1 --rate 2000 &
SENDER=$!
for ((i = 0; i < ROUNDS; i++)); do
	PORT="$UDP dst is $((5000 + i % 4))"
	RSS="rss func toeplitz types ipv4-udp end queues $((i % 3)) 3 end"
	rule "priority $((i % 3)) ingress pattern $PORT / end actions queue index $((i % 4)) / end"
	A=$RULE
	rule "ingress pattern $UDP / end actions $RSS / end"
	unrule "$A"
	unrule "$RULE"
	gone $SENDER && break
done
note "$i rounds of rules while $SENT frames came"
[ "$i" -gt 5 ] || fail "only $i rounds of rules under traffic"
wait_for 60 gone $SENDER || die 'the sender does not end'
xstat_wait 0 rx_good_packets "$SENT" 3
is 'out of buffer under changing rules' "${XS[rx_out_of_buffer]}" 0

# What net_mlx5 or the device cannot do is refused, and said.
PMD_EXPECT='mlx5_net|refused'
pmd_do 'flow create 0 ingress pattern eth / end actions queue index 99 / end'
grep -qi 'error' <<<"$PMD_OUT" || fail "a rule to queue 99 was taken: $PMD_OUT"
pmd_quit
