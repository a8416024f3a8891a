#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The software ConnectX with a fault plan: an injected error reaches carillon-testpmd's words and exit
# status; and what a NIC may do early (slots that were given back filled at once, records read between
# doorbells) or late (DMA, in any order that PCI Express allows) harms neither our engines nor unmodified testpmd.
# Environment besides lib.sh's: TESTPMD (carillon-testpmd).
. "$(dirname "$0")/../lib.sh"
e2e_begin dpdk-testpmd stdbuf python3 "$TESTPMD"
export XDG_RUNTIME_DIR=$T
EALOPT=(-l '0,1' --no-huge -m 256 --no-shconf --no-telemetry --file-prefix crl)

# crl NAME PLAN OPTIONS...
crl()
{
	local name=$1 plan=$2

	shift 2
	timeout 30 "$SOFTCX" run --seed="$SEED" --faults="$plan" -- "$TESTPMD" "${EALOPT[@]}" -- "$@" \
		--duration=0.5 --json="$T/$name.json" >"$T/$name.log" 2>&1
	RC=$?
}

json()
{
	python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); p=r["ports"][0]; print(eval(sys.argv[2]))' \
		"$T/$1.json" "$2"
}

"$SOFTCX" run --faults=late -- true >"$T/plan.log" 2>&1 && fail 'a plan that is none is taken'
grep -q "faults.*'late' is none of send-error=N" "$T/plan.log" || fail "plan: $(cat "$T/plan.log")"

for error in send recv; do
	for mode in io macswap flowgen; do
		first=(--tx-first)
		[ $mode = flowgen ] && first=()
		crl $error-$mode $error-error=300 --forward-mode=$mode "${first[@]}"
		is "$error error, $mode: status" "$RC" 1
		is "$error error, $mode: its queue stopped" \
			"$(grep -c "^carillon-testpmd: .*queue 0x.* stopped at WQE .* Fix: " "$T/$error-$mode.log")" 1
		is "$error error, $mode: in the report" \
			"$(json $error-$mode 'r["errors_total"] > 0 and "stopped" in r["errors"][0]')" True
	done
done

for mode in pingpong flowgen icmpecho 5tswap; do
	first=()
	[ $mode = 5tswap ] && first=(--tx-first)
	crl early-$mode overwrite,records --forward-mode=$mode --rxd=64 --txd=64 "${first[@]}"
	is "early NIC, $mode: status" "$RC" 0
	! grep -E 'refused|carillon-testpmd: ' "$T/early-$mode.log" || fail "early NIC, $mode: complaints"
done
is 'early NIC, pingpong: all back and right' "$(json early-pingpong \
	'p["queues"][0]["rtt_count"] >= p["tx_packets"] - 1 > 100 and p["rx_errors"] + p["tx_dropped"] == 0')" True
is 'early NIC, 5tswap: packets' "$(json early-5tswap 'p["tx_packets"] > 1000')" True

for mode in pingpong icmpecho; do
	crl late-$mode dma-delay=8,overwrite --forward-mode=$mode --rxd=64 --txd=64
	is "DMA that is late, $mode: status" "$RC" 0
	! grep -E 'refused|carillon-testpmd: ' "$T/late-$mode.log" || fail "DMA that is late, $mode: complaints"
done
is 'DMA that is late, pingpong: all back and right' "$(json late-pingpong \
	'p["queues"][0]["rtt_count"] >= p["tx_packets"] - 1 > 10 and p["rx_errors"] + p["tx_dropped"] == 0')" True

wire_make 1500
SCX=(--wire veth:w0 --faults overwrite,records,dma-delay=8)
wire_py make all "$T/in.pcap" --seed "$SEED" --count 200 --max 1514
pmd_start early_late --rxq=1 --txq=1 --rxd=512 --txd=256 --forward-mode=io
pmd_do 'show port info 0'
MAC=$(sed -n 's/^MAC address: //p' <<<"$PMD_OUT")
for mode in io macswap; do
	pmd_do "set fwd $mode"
	pmd_do start
	exchange "$T/in.pcap" "$T/out.pcap" --mode $mode --mac "$MAC" --seconds 10 --rate 5000 ||
		fail "early NIC, testpmd $mode"
	pmd_do stop
done
pmd_quit
