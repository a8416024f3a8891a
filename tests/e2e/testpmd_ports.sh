#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two ports of softcx under one unmodified testpmd, paired: what comes in on one wire leaves on the
# other, unchanged, in both directions at once; again after the ports were stopped and started, and
# after one was taken away and came back.
. "$(dirname "$0")/lib.sh"
e2e_begin dpdk-testpmd stdbuf python3 tshark

for i in 0 1; do
	ip netns add peer$i
	ip link add w$i mtu 1500 type veth peer name p$i mtu 1500 || die 'no veth pair'
	ip link set p$i netns peer$i
	ip link set w$i addrgenmode none arp off up
	ip -n peer$i link set p$i addrgenmode none up
done
find_ports 2
PORTS=2
SCX=(--wire veth:w) # w0 and w1

from_peer()
{
	ip netns exec "peer$1" python3 "$E2E_DIR/wire.py" exchange "p$1" "${@:2}" --rate 10000 --delay 0.7
}

pmd_start ports --rxq=2 --txq=2 --rss-udp --port-topology=paired --forward-mode=io
pmd_do 'show port info 1'
pmd_do start
for i in 0 1; do
	wire_py make udp "$T/in$i.pcap" --seed $((SEED + i)) --count 2000 --max $((60 + 40 * i))
done
for i in 0 1; do
	from_peer $i "$T/in$i.pcap" "$T/out$i.pcap" --expect 2000 --seconds 10 &
	WAIT[i]=$!
done
for i in 0 1; do
	wait "${WAIT[i]}" || fail "into port $((1 - i)): not all came out of port $i"
done
for i in 0 1; do
	wire_py diff "$T/in$i.pcap" "$T/out$((1 - i)).pcap" io || fail "from port $i"
	wire_clean "$T/out$i.pcap"
done
xstats 0
is 'port 0 sent' "${XS[tx_good_packets]}" 2000
xstats 1
is 'port 1 received' "${XS[rx_good_packets]}" 2000

# Traffic again after each port was stopped and started, and after one was taken away and came back.
pmd_do stop
pmd_do 'port stop all' 20
pmd_do 'port start all' 20
pmd_do start
from_peer 0 "$T/in0.pcap" "$T/none.pcap" --seconds 0.2
xstat_wait 1 tx_good_packets 4000 5
pmd_do stop
pmd_do 'port stop 1' 20
pmd_do 'port close 1' 20
pmd_do 'device detach '"${BDFS[1]}" 20
pmd_do "port attach ${BDFS[1]}" 20
grep -q 'is attached' <<<"$PMD_OUT" || fail "port not attached again: $PMD_OUT"
pmd_do 'port start all' 20
pmd_do start
counters_clear all
from_peer 0 "$T/in0.pcap" "$T/none.pcap" --seconds 0.2
xstat_wait 0 rx_good_packets 2000 5
pmd_quit
