#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The capture file as a wire: what comes in from one file goes through unmodified testpmd in mode io
# and out to another, byte by byte the same; and the tap beside a wire holds both directions.
. "$(dirname "$0")/lib.sh"
e2e_begin dpdk-testpmd stdbuf python3

# --no-flush-rx: else testpmd throws away what came before it starts to forward.
for KIND in sizes mixed; do
	wire_py make $KIND "$T/in.pcap" --seed "$SEED" --count 50
	N=$(wire_py length "$T/in.pcap")
	SCX=(--wire "pcap:$T/in.pcap,$T/out.pcap" --pcap-out "$T/tap.pcap")
	pmd_start "pcap-$KIND" --rxq=1 --txq=1 --forward-mode=io --no-flush-rx -a
	xstat_wait 0 tx_good_packets "$N" 10
	pmd_quit
	wire_py diff "$T/in.pcap" "$T/out.pcap" io || fail "$KIND: out is not in"
	# A file is a wire that keeps the order.
	python3 - "$E2E_DIR" "$T/in.pcap" "$T/out.pcap" <<-'P' || fail "$KIND: the order changed"
		import sys
		sys.path.insert(0, sys.argv[1])
		sys.dont_write_bytecode = True
		import wire
		sent = [f.ljust(60, b'\0') for f in wire.pcap_read(sys.argv[2])]
		sys.exit(sent != wire.pcap_read(sys.argv[3]))
	P
	is "$KIND: frames beside the wire" "$(wire_py length "$T/tap.pcap")" $((2 * N))
done

# icmpecho, from a file: ARP and echo requests are all answered
wire_py make echo "$T/in.pcap" --seed "$SEED" --count 200
SCX=(--wire "pcap:$T/in.pcap,$T/out.pcap")
pmd_start pcap-echo --rxq=1 --txq=1 --forward-mode=icmpecho --no-flush-rx -a
xstat_wait 0 tx_good_packets 400 10
pmd_quit
wire_py echoes "$T/in.pcap" "$T/out.pcap" || fail 'icmpecho: not all answered'

# A file that is not there, and one that is no capture: one line, no hang
SCX=()
"$SOFTCX" run --wire "pcap:$T/nosuch.pcap,$T/out.pcap" -- ibv_devinfo >"$T/err" 2>&1 &&
	fail 'a missing capture file was taken'
grep -q nosuch.pcap "$T/err" || fail "the message does not name the file: $(cat "$T/err")"
head -c 100 /dev/zero >"$T/zero.pcap"
"$SOFTCX" run --wire "pcap:$T/zero.pcap,$T/out.pcap" -- ibv_devinfo >"$T/err" 2>&1 &&
	fail 'zeros were taken for a capture'
grep -q zero.pcap "$T/err" || fail "the message does not name the file: $(cat "$T/err")"
