#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Frames from a Linux netdev through a veth into softcx, through unmodified testpmd and back: each
# must return exactly as its forward mode says, at every length, with tags, options, extension
# headers and fragments. Checksums: inserted on send, judged on receive. Wireshark judges the rest.
. "$(dirname "$0")/lib.sh"
e2e_begin dpdk-testpmd stdbuf tshark mergecap python3

MTU=9000
wire_make $MTU
SCX=(--wire veth:w0)

# through MODE: all frames go in and come back as they should
through()
{
	OUTS=$((OUTS + 1))
	exchange "$IN" "$T/out$OUTS.pcap" --mode "$1" --mac "$MAC" --seconds 10 --rate 20000 ||
		fail "$LABEL, $1"
}

# What returned since the last time, to Wireshark
judge()
{
	mergecap -F pcap -w "$T/merged.pcap" "$T"/out*.pcap
	wire_clean "$T/merged.pcap" "$LABEL"
	rm "$T"/out*.pcap
}

port_mac()
{
	pmd_do "show port info 0"
	MAC=$(sed -n 's/^MAC address: //p' <<<"$PMD_OUT")
}

forwarding()
{
	pmd_do "set fwd $1"
	pmd_do start
	shift
	"$@"
	pmd_do stop
}

# Wrong checksums of the frames that came in are replaced on send.
csum_insert()
{
	OUTS=$((OUTS + 1))
	exchange "$T/csum.pcap" "$T/out$OUTS.pcap" --expect "$(wire_py length "$T/csum.pcap")" \
		--seconds 10 --rate 20000 || fail "$LABEL, csum: not all came back"
}

# The NIC's verdict on each received frame, as net_mlx5 hands it to testpmd.
csum_verdicts()
{
	local good l3bad l4bad

	pmd_do 'set verbose 1'
	pmd_do start
	exchange "$T/csum.pcap" "$T/verdicts" --seconds 0.5 --rate 2000
	pmd_do stop
	pmd_do 'set verbose 0'
	# net_mlx5 says GOOD or UNKNOWN; of a frame with a bad L3 checksum L4 may be either
	good=$(grep -cE 'RX_L4_CKSUM_GOOD.*RX_IP_CKSUM_GOOD' "$PMD_LOG")
	l3bad=$(grep -c 'RX_IP_CKSUM_UNKNOWN' "$PMD_LOG")
	l4bad=$(grep 'RX_L4_CKSUM_UNKNOWN' "$PMD_LOG" | grep -c IP_CKSUM_GOOD)
	is "frames with both checksums good" "$good" 20
	is "frames with a bad IPv4 checksum" "$l3bad" 10
	is "frames with a bad TCP or UDP checksum" "$l4bad" 20
}

OUTS=0
IN=$T/in.pcap
wire_py make all "$IN" --seed "$SEED" --count 200 --max 1514
wire_py make csum "$T/csum.pcap" --seed "$SEED" --count 5 --max 1514
for DEVARGS in '' txqs_min_inline=0 txq_mpw_en=0,txq_inline_max=0; do
	LABEL=${DEVARGS:-defaults}
	note "$LABEL"
	pmd_start "wire-${DEVARGS%%=*}" --rxq=1 --txq=1 --enable-rx-cksum --forward-mode=io
	port_mac
	for mode in io macswap 5tswap mac; do
		forwarding $mode through $mode
	done
	pmd_do 'port stop 0' 20
	for what in ip udp tcp; do
		pmd_do "csum set $what hw 0"
	done
	pmd_do 'port start 0' 20
	forwarding csum csum_insert
	judge
	if [ -z "$DEVARGS" ]; then
		pmd_do 'set fwd rxonly'
		csum_verdicts
	fi
	pmd_quit
done

# Jumbo frames: one big buffer, and a chain of small ones on receive and on send.
DEVARGS=''
LABEL='jumbo, one buffer'
PMD_MB=400
wire_py make sizes "$IN" --seed "$SEED" --count 200 --max 9014
pmd_start jumbo --rxq=1 --txq=1 --max-pkt-len=9018 --mbuf-size=9728 --forward-mode=io
port_mac
forwarding io through io
pmd_quit
judge
LABEL='jumbo, scattered'
# A frame takes eight descriptors: 4096 hold all frames of the exchange, should they come at once.
pmd_start scattered --rxq=1 --txq=1 --max-pkt-len=9018 --enable-scatter --tx-offloads=0x8000 \
	--rxd=4096 --forward-mode=io
port_mac
forwarding io through io
pmd_quit
judge
