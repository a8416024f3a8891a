#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Each capability profile under drivers that ask first: what ibv_devinfo is shown; Debian's testpmd
# (net_mlx5 inlines headers where the port wants it and leaves multi-packet sends out there); and
# Carillon's queues, which do the same, each engine that sends on the port that wants headers.
. "$(dirname "$0")/lib.sh"
e2e_begin ibv_devinfo dpdk-testpmd stdbuf "${CARILLON_TESTPMD:-carillon-testpmd}"
export XDG_RUNTIME_DIR=$T

# profile NAME DEVICE-ID FIRMWARE
profile()
{
	local name=$1

	"$SOFTCX" run --profile "$name" -- ibv_devinfo >"$T/out" 2>"$T/err" ||
		fail "$name: ibv_devinfo: $(cat "$T/err")"
	grep -q "vendor_part_id:[[:space:]]*$2\$" "$T/out" && grep -q "fw_ver:[[:space:]]*$3\." "$T/out" ||
		fail "$name: $(grep -E 'part_id|fw_ver' "$T/out" | xargs)"

	SCX=(--profile "$name")
	pmd_start "pmd-$name" --rxq=2 --txq=2 --forward-mode=io
	pmd_do 'start tx_first'
	sleep 0.3
	pmd_do stop
	xstats 0
	[ "${XS[rx_good_packets]}" -gt 1000 ] || fail "$name: testpmd received ${XS[rx_good_packets]}"
	is "$name: testpmd's errors" "$((XS[rx_errors] + XS[tx_errors]))" 0
	pmd_do 'set link-down port 0'
	wait_for 5 link down || fail "$name: the link stays up: $PMD_OUT"
	pmd_do 'set link-up port 0'
	wait_for 5 link up || fail "$name: the link stays down: $PMD_OUT"
	pmd_quit

	timeout 30 "$SOFTCX" run --profile "$name" -- "$CARILLON_TESTPMD" -l 0,1 --no-huge -m 256 --no-shconf \
		--file-prefix "crl-$name" -- --forward-mode=io --tx-first --duration=0.3 --json="$T/$name.json" \
		>"$T/crl" 2>&1
	RC=$?
}

link()
{
	pmd_do 'show port info 0'
	grep -q "Link status: $1" <<<"$PMD_OUT"
}

moves()
{
	is "$1: carillon-testpmd" "$RC" 0
	python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["ports"][0]["rx_packets"] < 1000)' \
		"$T/$1.json" || fail "$1: carillon-testpmd: $(tail -n 5 "$T/crl")"
}

profile cx6dx 4125 22
moves cx6dx
profile cx7 4129 28
moves cx7
profile bf3 41692 32
moves bf3
profile cx5 4119 16
moves cx5

# engine MODE COUNTER OPTIONS...: on a port that wants layer 2 headers in each send
engine()
{
	local mode=$1 counter=$2

	shift 2
	timeout 30 "$SOFTCX" run --profile cx5 -- "$CARILLON_TESTPMD" -l 0,1 --no-huge -m 256 --no-shconf \
		--file-prefix "cx5-$mode" -- --forward-mode="$mode" --duration=0.3 --json="$T/$mode.json" "$@" \
		>"$T/crl" 2>&1 || fail "cx5 $mode: status $?: $(tail -n 3 "$T/crl")"
	grep -q 'triggered 0$' "$T/crl" || fail "cx5 $mode: $(grep refusals "$T/crl")"
	python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["ports"][0][sys.argv[2]] < 1000)' \
		"$T/$mode.json" "$counter" || fail "cx5 $mode: $(tail -n 5 "$T/crl")"
}

engine macswap rx_packets --tx-first
engine 5tswap rx_packets --tx-first --burst=1
engine txonly tx_packets
engine txonly tx_packets --txpkts=64,200,9,9
engine flowgen rx_packets
engine pingpong rx_packets --txpkts=60
timeout 30 "$SOFTCX" run --profile cx5 -- "$CARILLON_TESTPMD" -l 0,1 --no-huge -m 256 --no-shconf \
	--file-prefix cx5-inline -- --tx-inline=100 >"$T/crl" 2>&1
is 'cx5, --tx-inline: status' "$?" 1
is 'cx5, --tx-inline: lines' \
	"$(grep -c '^carillon-testpmd: .*where it wants headers inlined.* Fix: ' "$T/crl")" 1
