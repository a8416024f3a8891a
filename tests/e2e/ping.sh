#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Linux's own ping against a softcx on a veth, answered by unmodified testpmd: sizes from the
# smallest to 9000 bytes, fragments, floods, v4 and v6; nothing lost. tcpdump writes down the wire,
# Wireshark judges it.
. "$(dirname "$0")/lib.sh"
e2e_begin dpdk-testpmd stdbuf ping tcpdump tshark

MTU=9000
wire_make $MTU
ip -n peer addr add 10.1.0.1/24 dev w1
ip -n peer addr add fd00::1/64 dev w1 nodad
SCX=(--wire veth:w0)
PMD_MB=400
SIZES='14 18 42 56 128 1000 1472 1473 2000 4000 8192 8972'
full && SIZES="$(seq 14 97 8972) 8972"

# pings TARGET COUNT PING-OPTIONS...: none lost. ping waits for the last reply no longer than two
# round trips or its interval; where the interval is short, dump_end has the last word.
pings()
{
	local target=$1 count=$2 out

	shift 2
	out=$(timeout $((20 * ${CRL_SLOW:-1})) ip netns exec peer ping -q -n -c "$count" -W 2 "$@" "$target" 2>&1)
	if grep -qE 'duplicates|errors|wrong|corrupted' <<<"$out"; then
		fail "ping $* $target: $out"
	elif ! grep -q "$count packets transmitted, $count received.* 0% packet loss" <<<"$out"; then
		if [ -n "${SHORT:-}" ] && grep -q "$count packets transmitted, [1-9]" <<<"$out"; then
			note "ping $* $target did not wait: $(grep transmitted <<<"$out")"
			return
		fi
		fail "ping $* $target: $(tail -n 3 <<<"$out")"
		return 1
	fi
}

battery()
{
	local target=$1 size most=8972 jobs=() job

	[[ $target != *:* ]] || most=8952
	pings "$target" 2 -i 0.5 || return
	for size in $SIZES; do
		[ "$size" -lt "$most" ] || size=$most
		{ pings "$target" 2 -i 0.5 -s "$size" -M 'do'; exit $((FAILED != 0)); } &
		jobs+=($!)
		[ $((${#jobs[@]} % 12)) != 0 ] || wait "${jobs[@]: -12}"
	done
	for job in "${jobs[@]}"; do
		wait "$job" || FAILED=$((FAILED + 1))
	done
	pings "$target" 20 -l 20 -i 0.5
	SHORT=1
	pings "$target" "${FLOOD:-3000}" -f
	pings "$target" 300 -f -s 1400
	pings "$target" 50 -f -s 8900 -p a55a
	SHORT=
}

dump_start()
{
	: >"$T/tcpdump.log" # the last dump's "listening on" is no answer
	ip netns exec peer tcpdump -q -i w1 -s 0 -B 32768 -U --immediate-mode -w "$T/$1.pcap" >"$T/tcpdump.log" 2>&1 &
	DUMP=$!
	wait_for 5 grep -q 'listening on' "$T/tcpdump.log" || die "tcpdump: $(cat "$T/tcpdump.log")"
}

# What tcpdump has not written when it is told to stop, it throws away.
dump_written()
{
	local before

	before=$(stat -c %s "$1")
	sleep 0.3
	[ "$(stat -c %s "$1")" = "$before" ]
}

dump_end()
{
	wait_for 10 dump_written "$T/$1.pcap" || fail 'tcpdump does not come to rest'
	stop_pid $DUMP
	grep -q '^0 packets dropped by kernel' "$T/tcpdump.log" ||
		fail "tcpdump lost some: $(tail -n 1 "$T/tcpdump.log")"
	wire_py answered "$T/$1.pcap" || fail 'not all were answered'
	wire_clean "$T/$1.pcap"
	[ "$(wire_py length "$T/$1.pcap")" -gt 1000 ] || fail 'the capture is too short to judge'
}

full && FLOOD=50000
note 'testpmd, icmpecho, IPv4'
pmd_start echo --rxq=1 --txq=1 --forward-mode=icmpecho --max-pkt-len=9018 --mbuf-size=9728 -a
dump_start echo
battery 10.1.0.2
pmd_quit
dump_end echo

# Mode 5tswap turns a request round; the kernel answers it, and the answer is turned round again. So
# fragments and IPv6, which icmpecho does not know, go through unmodified testpmd too.
note 'testpmd, 5tswap, IPv4 and IPv6, fragments'
pmd_start swap --rxq=1 --txq=1 --forward-mode=5tswap --max-pkt-len=9018 --mbuf-size=9728 -a
ip -n peer neigh replace 10.1.0.2 lladdr 02:00:00:00:0b:02 dev w1 nud permanent
ip -n peer neigh replace fd00::2 lladdr 02:00:00:00:0b:02 dev w1 nud permanent
dump_start swap
FLOOD=1000
for target in 10.1.0.2 fd00::2; do
	battery $target
	for size in 9001 20000 65507; do
		pings $target 2 -i 0.5 -s $size
	done
done
pmd_quit
dump_end swap

# Our own testpmd answers v4 and v6, and asks nothing of the peer: it answers ARP and neighbour
# solicitations too.
[ -n "${CARILLON_TESTPMD:-}" ] || exit 0
note 'carillon-testpmd, icmpecho, IPv4 and IPv6'
ip -n peer neigh flush dev w1
ip -n peer neigh del 10.1.0.2 dev w1 2>/dev/null
ip -n peer neigh del fd00::2 dev w1 2>/dev/null
PMD_LOG=$T/ours.log
"$SOFTCX" run --wire veth:w0 -- "$CARILLON_TESTPMD" -l 0,1 --no-huge -m 256 --no-shconf \
	-a "${BDFS[0]}" -- --forward-mode=icmpecho --mbuf-size=9216 --rxd=1024 --txd=1024 \
	--stats-period=1 </dev/null >"$PMD_LOG" 2>&1 &
OURS=$!
wait_for 20 grep -q 'NIC statistics for port 0' "$PMD_LOG" || die 'carillon-testpmd does not start'
dump_start ours
for target in 10.1.0.2 fd00::2; do
	battery $target
done
stop_pid $OURS 10
is 'exit status of carillon-testpmd' "$RC" 0
dump_end ours
pmd_clean
