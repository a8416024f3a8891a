#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The suite's testpmd answers Linux's ping over a veth pair: none lost, nothing refused.
. /carillon/tests/e2e/lib.sh
e2e_begin dpdk-testpmd stdbuf ping
wire_make 1500
ip -n peer addr add 10.1.0.1/24 dev w1
SCX=(--wire veth:w0)
pmd_start echo --rxq=1 --txq=1 --forward-mode=icmpecho
pmd_do 'show port info 0'
MAC=$(sed -n 's/^MAC address: //p' <<< "$PMD_OUT")
ip -n peer neigh add 10.1.0.2 lladdr "$MAC" dev w1
pmd_do start
for size in 56 1472; do
	for attempt in 1 2; do # a machine that is busy loses a frame now and then, at the veth
		out=$(timeout 30 ip netns exec peer ping -q -n -c 30 -i 0.05 -W 2 -s $size 10.1.0.2 2>&1)
		! grep -q '30 packets transmitted, 30 received' <<< "$out" || break
		[ $attempt = 1 ] || fail "$size bytes: $(tail -n 3 <<< "$out")"
	done
done
pmd_do stop
pmd_quit
