#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Several ports; net_mlx5's own queues beside Carillon's; and apps/echo as a UDP server for Linux.
# Environment besides lib.sh's: TESTPMD and ECHO (the programs).
. "$(dirname "$0")/../lib.sh"
e2e_begin "$TESTPMD" "$ECHO"
EALOPT=(--no-huge -m 256 --no-shconf --no-telemetry --file-prefix crl)

# json FILE EXPRESSION: what python makes of it, with the report as r
json()
{
	python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# crl NAME OPTIONS...: output in $T/NAME.log, report in $T/NAME.json
crl()
{
	timeout 30 "$SOFTCX" run "${SCX[@]}" -- "$TESTPMD" "${EALOPT[@]}" "${@:2}" --json="$T/$1.json" \
		>"$T/$1.log" 2>&1 || fail "$1: status $?: $(tail -n 5 "$T/$1.log")"
}

ports()
{
	SCX=(--ports 2 --wire cable)
	crl two -l 0,1 -- --forward-mode=macswap --tx-first --duration=1
	is 'two ports, in order' "$(json "$T/two.json" '[p["device"] for p in r["ports"]]')" "['mlx5_0', 'mlx5_1']"
	is 'two ports: both forward' "$(json "$T/two.json" 'all(p["tx_packets"] > 100 for p in r["ports"])')" True
	crl second -l 0,1 -- --forward-mode=txonly --portmask=0x2 --duration=0.3
	is '--portmask=0x2' "$(json "$T/second.json" '[p["device"] for p in r["ports"]]')" "['mlx5_1']"
	find_ports 2
	crl named -l 0,1 -a "${BDFS[1]}" -- --forward-mode=txonly --duration=0.3
	is '-a' "$(json "$T/named.json" '[p["bdf"] for p in r["ports"]]')" "['${BDFS[1]}']"
}

# Starts in the background; PID. Ends with SIGINT by crl_end.
start()
{
	local log=$1 ready=$2

	shift 2
	: >"$log"
	"$SOFTCX" run --wire veth:w0 -- "$@" >"$log" 2>&1 &
	PID=$!
	wait_for 15 grep -q "$ready" "$log" || die "no start: $(tail -n 5 "$log")"
}

# end PROGRAM-NAME
end()
{
	local p

	for p in $(descendants "$PID" "$1"); do
		kill -INT "$p"
	done
	wait_for 10 gone "$PID" || { fail "$1 does not end"; kill -KILL "$PID"; }
	wait "$PID"
	is "$1: status" $? 0
}

# 100 UDP and 100 TCP frames go out, all come back with their MACs swapped.
cpu_queues()
{
	local got

	start "$T/cpu.log" '^Path of port' "$TESTPMD" --lcores '0@0,1@0,2@1' "${EALOPT[@]}" -- \
		--forward-mode=macswap --cpu-queues=2 --json="$T/cpu.json"
	got=$(peer python3 - <<'PY'
import socket, struct, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
s.bind(("w1", 0))
s.settimeout(3)
back = 0
for proto in (17, 6):
    for i in range(100):
        ip = bytes([0x45, 0, 0, 50, 0, i, 0, 0, 64, proto, 0, 0, 10, 1, 0, 1, 10, 1, 0, 2])
        s.send(b"\2\0\0\0\0\1" + b"\2\0\0\0\0\2" + b"\x08\0" + ip + struct.pack("!HH", i, 9) + bytes(26))
        time.sleep(0.001)
try:
    while back < 200:
        f = s.recv(2048)
        back += f[:12] == b"\2\0\0\0\0\2" + b"\2\0\0\0\0\1"
except TimeoutError:
    pass
print(back)
PY
	)
	end carillon-testpm
	is 'CPU queues beside ours: frames that came back' "$got" 200
	is 'UDP to our queue' "$(json "$T/cpu.json" 'r["ports"][0]["queues"][0]["rx_packets"]')" 100
}

echo_server()
{
	local got

	ip -n peer neigh replace 10.1.0.2 lladdr 02:00:00:00:00:01 dev w1
	start "$T/echo.log" 'mlx5_net\|Probe PCI' "$ECHO" -l 0,1 "${EALOPT[@]}"
	got=$(peer python3 - <<'PY'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.5)
s.connect(("10.1.0.2", 7))
good = 0
for i in range(60):
    s.send(b"number %d" % i)
    try:
        good += s.recv(100) == b"number %d" % i
    except TimeoutError:
        pass  # the server was not up yet
    if good == 20:
        break
print(good)
PY
	)
	is 'echo: datagrams that came back' "$got" 20
	end carillon-echo
	grep -q '^echo: received .*, sent 20$' "$T/echo.log" || fail "echo: $(grep echo "$T/echo.log")"
}

ports
wire_make 1500
ip -n peer addr add 10.1.0.1/24 dev w1
cpu_queues
echo_server
