#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Several ports: as many devices, PCI functions and netdevs, each with a MAC of its own; over a cable
# what one sends the other receives, and a capture of each port shows it.
. "$(dirname "$0")/lib.sh"
e2e_begin ibv_devinfo dpdk-testpmd tcpdump stdbuf

"$SOFTCX" run --ports 3 --profile cx7 -- ibv_devinfo >"$T/out" 2>&1 || fail "ibv_devinfo: $(cat "$T/out")"
is "devices" "$(grep -c '^hca_id:' "$T/out")" 3
is "of the profile's kind" "$(grep -c 'vendor_part_id:.*4129' "$T/out")" 3
is "different GUIDs" "$(grep node_guid "$T/out" | sort -u | wc -l)" 3
# shellcheck disable=SC2016
"$SOFTCX" run --ports 2 -- sh -c 'ls "$SYSFS_PCI_DEVICES" /sys/class/net; cat /sys/class/net/scx*/address' \
	>"$T/out" 2>/dev/null
for word in 0000:99:00.0 0000:99:00.1 scx0 scx1 02:5c:78:00:00:00 02:5c:78:00:00:01; do
	grep -qx "$word" "$T/out" || fail "not seen inside: $word"
done

# One run after the other finds the name of its wire free, and makes it.
for ((i = 1; i <= 8; i++)); do
	"$SOFTCX" run --ports 2 --wire veth:after -- ibv_devinfo >"$T/out" 2>&1 || fail "run $i: $(cat "$T/out")"
	is "run $i: netdevs made" "$(grep -c 'made the netdev after[01]' "$T/out")" 2
done

PORTS=2 SCX=(--wire cable --pcap-out "$T/cap" --log "$T/log")
pmd_start cable --forward-mode=mac
pmd_do 'start tx_first'
sleep 0.5
pmd_do 'stop'
xstats 1
[ "${XS[rx_good_packets]}" -gt 31 ] || fail "port 1 received ${XS[rx_good_packets]}"
pmd_quit
for p in 0 1; do
	n=$(tcpdump -nr "$T/cap.$p" 2>/dev/null | wc -l)
	[ "$n" -gt 31 ] || fail "the capture of port $p has $n frames"
done
