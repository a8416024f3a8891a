#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Each capability profile under drivers that ask first: what ibv_devinfo is shown; Debian's testpmd
# (net_mlx5 inlines headers where the port wants it and leaves multi-packet sends out there); and
# Carillon's queues, which take a port that wants no inline headers, and say so of one that does.
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
is 'cx5: carillon-testpmd' "$RC" 1
is 'cx5: lines' "$(grep -c '^carillon-testpmd: .*headers inlined in every send.* Fix: ' "$T/crl")" 1
