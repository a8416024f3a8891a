#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# carillon-testpmd on a softcx: every engine with 1 and 4 queues, its report, telemetry, signals, prompt;
# and that its statistics have the shapes of unmodified testpmd's.
# Environment besides lib.sh's: TESTPMD (the program), PLUGIN (librte_gpu_crl.so).
. "$(dirname "$0")/../lib.sh"
e2e_begin dpdk-testpmd ping "$TESTPMD"
export XDG_RUNTIME_DIR=$T

EALOPT=(-l '0,1' --no-huge -m 256 --no-shconf --file-prefix crl)

# crl NAME OPTIONS...: to its end; output in $T/NAME.log, status in RC
crl()
{
	local name=$1

	shift
	timeout 30 "$SOFTCX" run "${SCX[@]}" -- "$TESTPMD" "${EALOPT[@]}" -- "$@" >"$T/$name.log" 2>&1
	RC=$?
}

# crl_start NAME OPTIONS...: in the background, up to where packets flow; its pid in PID
crl_start()
{
	CRL_LOG=$T/$1.log
	: >"$CRL_LOG"
	shift
	"$SOFTCX" run "${SCX[@]}" -- "$TESTPMD" "${EALOPT[@]}" -- "$@" >"$CRL_LOG" 2>&1 &
	PID=$!
	wait_for 15 grep -q '^Path of port' "$CRL_LOG" || die "no start: $(tail -n 5 "$CRL_LOG")"
}

# The signal goes to the program, not to softcx run.
crl_signal()
{
	local p

	for p in $(descendants "$PID" carillon-testpm); do
		kill "-$1" "$p"
	done
	wait_for 10 gone "$PID" || { fail "no end after SIG$1"; kill -KILL "$PID"; }
	wait "$PID"
	RC=$?
}

# json FILE EXPRESSION: what python makes of it, with the report as r and its first port as p
json()
{
	python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); p=r["ports"][0]; print(eval(sys.argv[2]))' \
		"$1" "$2"
}

good_end()
{
	is "$1: status" "$RC" 0
	grep -q '^Bye\.\.\.' "$T/$1.log" || fail "$1: no orderly end"
	! grep -E 'refused|carillon-testpmd: ' "$T/$1.log" || fail "$1: complaints"
}

modes()
{
	local q mode opt

	for q in 1 4; do
		for mode in io macswap txonly; do
			opt=()
			[ $mode = txonly ] || opt=(--tx-first)
			crl $mode$q --forward-mode=$mode --rxq=$q --txq=$q "${opt[@]}" --duration=0.7 \
				--json="$T/$mode$q.json"
			good_end $mode$q
			[ "$(json "$T/$mode$q.json" 'p["tx_packets"] > 1000 and p["tx_errors"] == 0')" = True ] ||
				fail "$mode, $q queues: few packets: $(json "$T/$mode$q.json" p)"
			is "$mode, $q queues: report" "$(json "$T/$mode$q.json" 'len(p["queues"])')" "$q"
		done
		is "txonly, $q queues: bytes" \
			"$(json "$T/txonly$q.json" 'p["tx_bytes"] == 64 * p["tx_packets"]')" True
	done
	is 'io: packets that came back' "$(json "$T/io1.json" 'p["rx_packets"] > 1000')" True
	crl 5tswap2 --forward-mode=5tswap --rxq=2 --txq=2 --tx-first --duration=0.5 --json="$T/5tswap2.json"
	good_end 5tswap2
	is '5tswap: packets' "$(json "$T/5tswap2.json" 'p["tx_packets"] > 1000 and p["tx_errors"] == 0')" True
	# Flows spread over all queues, which one flow does not.
	crl flowgen4 --forward-mode=flowgen --rxq=4 --txq=4 --flowgen-flows=256 --duration=0.5 \
		--json="$T/flowgen4.json"
	good_end flowgen4
	is 'flowgen: each queue sends and receives' "$(json "$T/flowgen4.json" \
		'min(min(q["tx_packets"], q["rx_packets"]) for q in p["queues"]) > 500')" True
	is 'flowgen: the FCS is counted in' \
		"$(json "$T/flowgen4.json" 'p["tx_bytes"] == 60 * p["tx_packets"]')" True
	crl pingpong1 --forward-mode=pingpong --txpkts=200 --duration=0.5 --json="$T/pingpong1.json"
	good_end pingpong1
	is 'pingpong: each frame back' "$(json "$T/pingpong1.json" \
		'p["queues"][0]["rtt_count"] >= p["tx_packets"] - 1 > 100')" True
	is 'pingpong: and right' "$(json "$T/pingpong1.json" 'p["rx_errors"] + p["tx_dropped"]')" 0
	crl pingpong2 --forward-mode=pingpong --rxq=2 --txq=2 --duration=0.5
	is 'pingpong with two queues: status' "$RC" 1
	grep -q 'pingpong: queue 1.* Fix: ' "$T/pingpong2.log" ||
		fail "pingpong2: $(tail -n 3 "$T/pingpong2.log")"
}

# Two and four engines in one process share the queues; each frame is checked, none is lost.
engines()
{
	local n EALOPT=(--lcores '0@0,1@1,2@0,3@1,4@0' --no-huge -m 256 --no-shconf --file-prefix crl)

	for n in 2 4; do
		crl engines$n --forward-mode=stamp --rxq=6 --txq=6 --rxd=256 --txd=256 --in-flight=32 \
			--nb-cores=4 --engines=$n --duration=0.5 --json="$T/engines$n.json"
		good_end engines$n
		is "$n engines: torn or out of place" \
			"$(json "$T/engines$n.json" 'sum(q["torn"] + q["out_of_place"] for q in p["queues"])')" 0
		is "$n engines: every queue has packets" \
			"$(json "$T/engines$n.json" 'min(q["rx_packets"] for q in p["queues"]) > 32')" True
		is "$n engines: lcores" \
			"$(json "$T/engines$n.json" 'len({q["lcore"] for q in p["queues"]})')" 4
		is "$n engines: lost" "$(json "$T/engines$n.json" 'p["rx_missed"]')" 0
	done
}

# Frames that do not fit into the buffers: the NIC stops the queue, and it is told of in words.
queue_error()
{
	crl error --forward-mode=io --mbuf-size=64 --txpkts=100 --tx-first --duration=0.7 --json="$T/error.json"
	is 'queue error: status' "$RC" 1
	# One queue, though a CQE and the NIC's event tell of it.
	grep -q '^carillon-testpmd: forward: 1 queue, or device, failed' "$T/error.log" ||
		fail "queue error: no word at the end: $(tail -n 5 "$T/error.log")"
	grep -q '^carillon-testpmd: .*stopped.*local length error.* Fix: .*--mbuf-size' "$T/error.log" ||
		fail "queue error: $(tail -n 5 "$T/error.log")"
	is 'queue error: in the report' \
		"$(json "$T/error.json" 'r["errors_total"] > 0 and any("length" in e for e in r["errors"])')" True
	# Buffers that nobody chose have room for what the MTU lets in.
	crl jumbo --forward-mode=io --mtu=9000 --txpkts=9014 --tx-first --duration=0.5 --json="$T/jumbo.json"
	good_end jumbo
	is 'jumbo: received' "$(json "$T/jumbo.json" 'p["rx_packets"] > 32')" True
	crl long --forward-mode=txonly --txpkts=2000 --duration=0.3
	[ "$RC" != 0 ] || fail 'a frame longer than the MTU is not refused'
	grep -q '^carillon-testpmd: .*2000 bytes.* Fix: ' "$T/long.log" || fail "MTU: $(tail -n 3 "$T/long.log")"
}

# Linux's ping, and frames from a raw socket, over a veth.
wire()
{
	local q mac

	wire_make 1500
	ip -n peer addr add 10.1.0.1/24 dev w1
	ip -n peer addr add fd00::1/64 dev w1 nodad
	SCX=(--wire veth:w0)
	for q in 1 4; do
		crl_start echo$q --forward-mode=icmpecho --rxq=$q --txq=$q
		for to in 10.1.0.2 fd00::2; do
			peer ping -q -n -c 20 -i 0.01 -W 2 $to >"$T/ping" 2>&1
			grep -q ' 20 received.* 0% packet loss' "$T/ping" ||
				fail "ping $to, $q queues: $(tail -n 3 "$T/ping")"
		done
		# A link that went down and came up again carries on, and both are told of.
		ip link set w0 down
		wait_for 5 grep -qx 'Port 0: link state change event, link down' "$CRL_LOG" ||
			fail 'no word of a link down'
		ip link set w0 up
		wait_for 5 grep -qx 'Port 0: link state change event, link up' "$CRL_LOG" ||
			fail 'no word of a link up'
		for to in 10.1.0.2 fd00::2; do
			peer ping -q -n -c 5 -i 0.01 -W 2 $to >"$T/ping" 2>&1
			grep -q ' 5 received' "$T/ping" ||
				fail "ping $to after the link came up: $(tail -n 3 "$T/ping")"
		done
		# The answer to ARP and to neighbour solicitation names the port's own address.
		mac=$(sed -n 's/^Port 0: //p' "$CRL_LOG" | tr 'A-F' 'a-f')
		is 'neighbours with the port as their address' "$(ip -n peer neigh show dev w1 | grep -c "$mac")" 2
		crl_signal INT
		good_end echo$q
		ip -n peer neigh flush dev w1
	done
	crl_start rx --forward-mode=rxonly --rxq=4 --txq=0 --json="$T/rx.json"
	peer python3 -c '
import socket, struct
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("w1", 0))
for i in range(1000):
    ip = bytes([0x45, 0, 0, 50, 0, 0, 0, 0, 64, 17, 0, 0, 10, 1, 0, 1, 10, 1, i >> 8, i & 255])
    udp = struct.pack("!HHHH", 1000 + i, 9, 30, 0)
    s.send(b"\2\0\0\0\0\1" + b"\2\0\0\0\0\2" + b"\x08\0" + ip + udp + bytes(22))
'
	sleep 0.5
	crl_signal TERM
	good_end rx
	# ARP and router solicitations of the kernel may come on top.
	[ "$(json "$T/rx.json" '1000 <= p["rx_packets"] < 1050')" = True ] ||
		fail "rxonly: $(json "$T/rx.json" 'p["rx_packets"]') of 1000 frames"
	[ "$(json "$T/rx.json" 'all(q["rx_packets"] > 100 for q in p["queues"])')" = True ] ||
		fail "rxonly: RSS leaves queues out: $(json "$T/rx.json" '[q["rx_packets"] for q in p["queues"]]')"
	SCX=()
}

# 1000 frames to w1's other end, from a raw socket
frames()
{
	peer python3 -c '
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("w1", 0))
for i in range(1000):
    s.send(b"\2\0\0\0\0\1" + b"\2\0\0\0\0\2" + b"\x88\xb5" + bytes(46))
'
}

# Frames for which a standing engine leaves no buffer are the port's RX-missed, and the two clears.
counts()
{
	mkfifo "$T/say"
	SCX=(--wire veth:w0)
	CRL_LOG=$T/missed.log
	"$SOFTCX" run "${SCX[@]}" -- "$TESTPMD" "${EALOPT[@]}" -- -i --forward-mode=rxonly --rxd=32 \
		<"$T/say" >"$CRL_LOG" 2>&1 &
	PID=$!
	exec 8>"$T/say"
	wait_for 15 grep -q '^Path of port' "$CRL_LOG" || die "no start: $(tail -n 5 "$CRL_LOG")"
	printf '%s\n' start stop >&8
	wait_for 5 grep -q '^Done' "$CRL_LOG" || fail 'no end of stop'
	sleep 0.2
	frames
	sleep 0.5
	printf '%s\n' 'show port stats all' start >&8
	sleep 0.3
	printf '%s\n' 'clear port stats all' 'show port stats all' 'show fwd stats all' quit >&8
	exec 8>&-
	wait_for 10 gone "$PID" || kill -KILL "$PID"
	wait "$PID"
	is 'counts: status' $? 0
	[ "$(sed -n 's/.*RX-missed: \([0-9]*\).*/\1/p' "$CRL_LOG" | head -n 1)" -ge 900 ] ||
		fail "RX-missed: $(grep -m 1 RX-missed "$CRL_LOG")"
	is 'counts: after the clear' \
		"$(grep RX-missed "$CRL_LOG" | sed -n '2s/.*packets: \([0-9]*\) *RX-missed: \([0-9]*\) .*/\1 \2/p')" \
		'0 0'
	! grep -q 'Forward Stats for RX Port' "$CRL_LOG" || fail 'the queue counts from before the clear'
	SCX=()
}

ask='
import json, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(5)
s.connect(sys.argv[1])
s.recv(1 << 16)
for command in sys.argv[2:]:
    s.send(command.encode())
    print(json.dumps(json.loads(s.recv(1 << 16))))
'

telemetry()
{
	local sock

	crl_start tel --forward-mode=io --tx-first --rxq=2 --txq=2
	sock=$(find "$T/dpdk" /var/run/dpdk -name 'dpdk_telemetry.v2*' 2>/dev/null | head -n 1)
	sleep 0.3
	python3 -c "$ask" "$sock" /carillon/queues /carillon/stats,0,1 /carillon/path,0,0 \
		/carillon/errors /carillon/stats,9,9 /carillon/stats,0, /carillon/stats,,1 \
		/carillon/stats,4294967296,0 /carillon/stats,0,-4294967295 >"$T/told" 2>&1 ||
		fail "telemetry: $(cat "$T/told")"
	is 'telemetry: queues' "$(sed -n 1p "$T/told")" '{"/carillon/queues": ["0,0", "0,1"]}'
	grep -q '"/carillon/stats".*"tx_doorbells"' "$T/told" || fail "telemetry: $(cat "$T/told")"
	grep -q '"/carillon/path".*"rings": "host".*"doorbell": ".*"engine": "io".*"lcore 1"' "$T/told" ||
		fail "telemetry: $(cat "$T/told")"
	is 'telemetry: errors' "$(sed -n 4p "$T/told")" '{"/carillon/errors": []}'
	is 'telemetry: no such queue' "$(sed -n '5,$p' "$T/told" | grep -cx '{"/carillon/stats": null}')" 5
	crl_signal INT
	good_end tel
}

prompt()
{
	{
		sleep 2
		printf '%s\n' 'show port stats 0' stop start start ' show  port stats 0 ' 'show port stats 7' \
			'show port stats x' 'nonsense' 'start tx_first'
		sleep 0.3
		printf '%s\n' resume park 'show port stats 0'
		sleep 0.2
		printf '%s\n' 'show port stats 0' stop resume
		sleep 0.3
		printf '%s\n' stop 'show fwd stats all' 'show port stats 0' 'clear port stats all' \
			'show port stats all' quit
	} | timeout 30 "$SOFTCX" run --log "$T/prompt.scx" -- "$TESTPMD" "${EALOPT[@]}" -- -i --forward-mode=macswap \
		--tx-first --json="$T/prompt.json" >"$T/prompt.log" 2>&1
	RC=$?
	is 'prompt: status' $RC 0
	is 'prompt: shown' "$(grep -c 'NIC statistics for port 0' "$T/prompt.log")" 6
	# Nothing moves before start, also no first burst.
	is 'prompt: before start' "$(sed -n 's/.*\(TX-packets: [0-9]*\) *TX-errors.*/\1/p' "$T/prompt.log" |
		head -n 1)" 'TX-packets: 0'
	for words in 'Not parked' 'Parked in' 'Parked: resume first' 'Resumed'; do
		is "prompt: $words" "$(grep -c "$words" "$T/prompt.log")" 1
	done
	# What stands still receives nothing, and goes on with the same 32 frames.
	is 'prompt: packets while parked and after' \
		"$(sed -n 's/.*RX-packets: \([0-9]*\) *RX-missed.*/\1/p' "$T/prompt.log" |
		awk 'NR == 3 { a = $1 } NR == 4 { print ($1 == a) } NR == 5 { print ($1 > a) }' | xargs)" '1 1'
	grep -q 'no buffer 0, drop rule 0, no match 0, too long 0' "$T/prompt.scx" || fail 'lost while parked'
	# Two counts of the same bytes: the engine's, and what the NIC read.
	is 'prompt: WQE bytes' "$(json "$T/prompt.json" 'p["queues"][0]["memory_bytes_counted"]["wqes_stored"]')" \
		"$(sed -n 's/.*memory, counted: bytes read of WQEs \([0-9]*\),.*/\1/p' "$T/prompt.scx")"
	is 'prompt: payload' "$(json "$T/prompt.json" 'p["queues"][0]["memory_bytes_counted"]["payload_sent"]')" \
		"$(sed -n 's/.*of payload \([0-9]*\); bytes written.*/\1/p' "$T/prompt.scx")"
	for words in 'Packet forwarding not started' 'Packet forwarding already started' \
		'Invalid port 7' 'Bad arguments'; do
		is "prompt: $words" "$(grep -c "$words" "$T/prompt.log")" 1
	done
	is 'prompt: unknown command' "$(grep -c "Command not found: 'nonsense'" "$T/prompt.log")" 1
	is 'prompt: a command of testpmd' "$(grep -c 'first start sends a burst' "$T/prompt.log")" 1
	# A stop's statistics are those of engines that stand: queue, port and sum agree, and do so again.
	is 'prompt: forward statistics' "$(grep -c 'Forward statistics for port 0' "$T/prompt.log")" 2
	is 'prompt: figures of a stop' "$(sed -n 's/^  RX-packets: \([0-9]*\) *\(TX-packets\|RX-dropped\).*/\1/p' \
		"$T/prompt.log" | sort | uniq -c | awk '{ print $1 }')" 6
	# Rates are of the time from start to stop: the two seconds before are none of it.
	is 'prompt: seconds' "$(json "$T/prompt.json" '0.5 < r["seconds"] < 2')" True
}

# A netdev that is taken away under the program: told of, and the end is an orderly one.
gone_netdev()
{
	SCX=(--wire veth:away0)
	crl_start away --forward-mode=txonly
	ip link del away0
	wait_for 5 grep -q 'softcx mlx5_0: its netdev is gone.* fix: ' "$CRL_LOG" ||
		fail 'no word of a netdev that is gone'
	crl_signal INT
	good_end away
	SCX=()
}

# SIGSEGV from somebody else means an end as well, though the softcx in the program has words for its own.
crash()
{
	crl_start crash --forward-mode=io --tx-first
	crl_signal SEGV
	is 'crash: status' "$RC" 139
}

# The lines of testpmd's blocks with every number and the padding after it made alike.
shapes()
{
	sed -n -E '/(NIC statistics for|Forward statistics for|Accumulated forward)/,/^  (#|-|\+)+ *$/p' "$1" |
		sed -E 's/[0-9]+/N/g; s/N +/N /g; s/: +N/: N/g' | sort -u
}

same_shapes()
{
	find_ports 1
	timeout -s INT 4 "$SOFTCX" run -- stdbuf -oL dpdk-testpmd -l 0,1 --no-huge -m 256 --no-shconf \
		--file-prefix pmd -a "${BDFS[0]}" -- --forward-mode=macswap --tx-first --stats-period=1 \
		--total-num-mbufs=4096 >"$T/theirs.log" 2>&1
	crl ours --forward-mode=macswap --tx-first --stats-period=1 --duration=2.2
	good_end ours
	shapes "$T/theirs.log" >"$T/theirs"
	shapes "$T/ours.log" >"$T/ours"
	[ "$(wc -l <"$T/theirs")" -ge 12 ] || fail "testpmd printed no statistics: $(tail -n 3 "$T/theirs.log")"
	diff "$T/theirs" "$T/ours" || fail "shapes differ from testpmd's"
}

modes
engines
queue_error
wire
counts
telemetry
prompt
gone_netdev
crash
same_shapes
