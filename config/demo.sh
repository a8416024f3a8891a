#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The main job, shown from a bare Debian 12: installs, builds, then lets Linux's own ping talk to an
# engine of Carillon's through a software ConnectX.
#
#     ping, UDP client  --  veth  --  softcx  --  rings  --  engine
#     (a network namespace)           (in the place of a ConnectX)
#
# usage: config/demo.sh [--stopped | --pause-lcore] [--no-build]
#   (nothing)       ping v4 and v6 and a UDP client: nothing may be lost
#   --stopped       the counter-proof: the engine is stopped, so the same pings must all be lost
#   --pause-lcore   the control lcore stands still for 2 s under the pings: nothing may be lost
#   --no-build      installs and builds nothing: build/ is there
# Needs root, sudo, or a kernel that lets users make namespaces. Everything runs in namespaces of its
# own, so nothing is left behind, whichever way it ends. What stays: build/, .deps/ and the captures
# in build/demo/. Exit status 0: all was as it should be.
set -uo pipefail
export LC_ALL=C

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${CRL_BUILD:-$top/build}
out=$build/demo
mode=plain
count=100
eal=(-l 0,1 --no-huge -m 256 --no-shconf --file-prefix crl-demo)

say() { printf '\ndemo: %s\n' "$*"; }
die() {
	printf 'demo: %s\n' "$1" >&2
	[ -z "${inside:-}" ] || printf 'demo: what the programs said is in %s\n' "$out" >&2
	exit 1
}
usage() { sed -n 's/^# \{0,1\}//; /^usage:/,/^Needs/p' "$0" | sed '$d'; }

# ---- outside: install, build, enter the namespaces ---------------------------------------------

prepare() {
	"$top/config/setup.sh" || exit 1
	say "build (in $(basename "$build")/; the log is in $(basename "$build")/demo.log)"
	[ -f "$build/build.ninja" ] || meson setup "$build" "$top" >"$build.log" 2>&1 || {
		tail -n 20 "$build.log"
		die "meson setup failed; its log is $build.log"
	}
	rm -f "$build.log"
	ninja -C "$build" >"$build/demo.log" 2>&1 || {
		grep -E -A5 '^FAILED|error:|undefined reference' "$build/demo.log" | head -n 40
		die "the build failed; all of its output is in $build/demo.log"
	}
}

enter() {
	[ -f "$build/build.ninja" ] || die "there is no build in $build: run it without --no-build"
	local unshare=(unshare --net --mount --pid --fork --kill-child --mount-proc)
	mkdir -p "$out" 2>/dev/null && [ -w "$out" ] ||
		die "cannot write into $out: run this as the owner of the tree"
	if [ "$(id -u)" -ne 0 ]; then
		if command -v sudo >/dev/null && sudo -v 2>/dev/null; then
			unshare=(sudo env "PATH=$PATH" "${unshare[@]}")
		elif unshare --user --map-root-user --net true 2>/dev/null; then
			unshare=("${unshare[@]/#unshare/unshare}" --user --map-root-user)
		else
			die "this needs root, sudo, or a kernel that lets users make namespaces"
		fi
	fi
	exec "${unshare[@]}" meson devenv -C "$build" \
		bash "$top/config/demo.sh" --inside "$mode" "$build"
}

# ---- inside: the only process tree of its namespaces -------------------------------------------

# wait_until SECONDS COMMAND...: fails when the command did not succeed in time
wait_until() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

peer() { ip netns exec peer "$@"; }

make_wire() {
	mount -t sysfs sysfs /sys && mount -t tmpfs tmpfs /run || die "no mounts allowed here"
	ip link set lo up
	ip netns add peer || die "this kernel makes no network namespaces"
	ip link add nic0 type veth peer name eth0 netns peer || die "this kernel has no veth"
	ip link set nic0 addrgenmode none arp off up
	# nodad: the engine answers for every address, so the kernel's own doubt would end badly
	ip -n peer link set eth0 addrgenmode none up
	ip -n peer addr add 10.0.0.1/24 dev eth0
	ip -n peer addr add fd00::1/64 dev eth0 nodad
}

# start_engine CAPTURE READY-COMMAND PROGRAM...: in the background, under softcx
start_engine() {
	capture=$out/$1.pcap log=$out/$1.log ready=$2
	shift 2
	: >"$log"
	rm -f prompt && mkfifo prompt && exec {prompt}<>prompt && rm prompt || die "no pipe for the prompt"
	softcx run --wire veth:nic0 --pcap-out "$capture" -- stdbuf -oL "$@" <&"$prompt" >>"$log" 2>&1 &
	engine=$!
	tail -n +1 -F -s 0.2 --pid "$engine" "$log" 2>/dev/null |
		sed -u 's/\x1b\[[0-9;]*[A-Za-z]//g; s/^/    | /' &
	wait_until 30 ready_or_gone || die "the engine was not ready within 30 s"
	kill -0 "$engine" 2>/dev/null || die "the engine's program ended by itself"
	engine_pid=$(pgrep -n -x "$(basename "$1" | cut -c1-15)") || die "there is no process $1"
}

ready_or_gone() { ! kill -0 "$engine" || $ready; }
ping_answered() { peer ping -c 1 -W 1 10.0.0.2; }
udp_answered() { udp_client 1; }

# SIGINT, as from a terminal; the exit status of the program is softcx run's.
stop_engine() {
	kill -INT "$engine" 2>/dev/null
	wait_until 15 eval "! kill -0 $engine" || {
		kill -KILL "$engine"
		die "the engine did not stop within 15 s of SIGINT"
	}
	wait "$engine"
	local rc=$?
	[ $rc -eq 0 ] || die "the engine's program ended with exit status $rc"
}

# pings LOSS: v4 and v6 at once; each must lose exactly LOSS percent
pings() {
	local a family rc=0 pids=()
	for a in 10.0.0.2 fd00::2; do
		peer ping -q -c "$count" -i "$interval" -W 1 -s 56 "$a" >"$out/ping.$a" 2>&1 &
		pids+=($!)
	done
	wait "${pids[@]}"
	for a in 10.0.0.2 fd00::2; do
		family=IPv4
		[ "$a" = 10.0.0.2 ] || family=IPv6
		printf 'demo: ping %s: %s\n' "$family" "$(grep 'packet loss' "$out/ping.$a")"
		grep -q "[ ,]$1% packet loss" "$out/ping.$a" || rc=1
	done
	[ $rc -eq 0 ] || die "wanted $1% packet loss for both"
}

# udp_client COUNT: every datagram must come back from the engine as it was sent.
udp_client() {
	peer /usr/bin/python3 - "$1" <<-'PY'
		import os, socket, sys
		count, back = int(sys.argv[1]), 0
		client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		client.settimeout(1)
		client.connect(("10.0.0.2", 7))
		for i in range(count):
		    sent = i.to_bytes(4, "big") + os.urandom(i % 1400)
		    client.send(sent)
		    try:
		        back += client.recv(2048) == sent
		    except OSError:
		        pass
		print(f"demo: UDP: {count} datagrams sent, {back} came back as they were")
		sys.exit(back != count)
	PY
}

# Wireshark's word on what went over the wire.
judge_capture() {
	local bad frames
	frames=$(tshark -n -r "$capture" 2>/dev/null | wc -l)
	bad=$(tshark -n -r "$capture" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -Y '_ws.malformed ||
		ip.checksum.status == 0 || udp.checksum.status == 0 || icmp.checksum.status == 0 ||
		icmpv6.checksum.status == 0' 2>/dev/null | wc -l)
	[ "$frames" -gt 0 ] || die "the capture $capture is empty"
	[ "$bad" -eq 0 ] || die "Wireshark objects to $bad of $frames frames in $capture"
	say "Wireshark read $frames frames and objects to none: $(basename "$build")/demo/$(basename "$capture")"
}

# The engine's program ends, then its capture is complete.
finish() {
	say "stop (SIGINT)"
	stop_engine
	judge_capture
}

# The program as anybody would start it; its prompt (-i) is only there for --stopped.
start_testpmd() {
	local pmd=(carillon-testpmd "${eal[@]}" -- --forward-mode=icmpecho --auto-start --stats-period=1)
	[ "$mode" != stopped ] || pmd+=(-i)
	say "the NIC and the engine: softcx run --wire veth:nic0 --pcap-out ping.pcap -- ${pmd[*]}"
	start_engine ping ping_answered "${pmd[@]}"
}

demo_plain() {
	start_testpmd
	say "Linux's own ping, $count each by IPv4 and IPv6, from the namespace at the wire's other end"
	interval=0.02
	pings 0
	finish
	# apps/echo knows UDP only, no ARP: the neighbour that ping learned is kept.
	peer ip neigh replace 10.0.0.2 dev eth0 nud permanent \
		lladdr "$(peer ip neigh show 10.0.0.2 | sed -n 's/.*lladdr \([^ ]*\).*/\1/p')"
	say "a packet function of one's own: softcx run --wire veth:nic0 -- carillon-echo ${eal[*]}"
	start_engine udp udp_answered carillon-echo "${eal[@]}"
	udp_client 500 || die "some were lost"
	finish
}

# The NIC goes on, and nobody takes what it receives.
demo_stopped() {
	start_testpmd
	count=20 interval=0.1
	say "stop the engine, by testpmd's command; the same pings, $count each"
	echo stop >&"$prompt"
	wait_until 10 grep -q '^Done' "$log" || die "the engine did not stop"
	pings 100
	say "start it again: it answers"
	echo start >&"$prompt"
	wait_until 10 ping_answered || die "the engine does not answer any more"
	finish
}

demo_pause_lcore() {
	start_testpmd
	interval=0.04
	say "the control lcore stands still for 2 s, in the middle of $count pings each by IPv4 and IPv6"
	(
		sleep 0.5
		"$build/tests/tools/pause-thread" "$engine_pid" main 2
	) &
	local paused=$!
	pings 0
	wait "$paused" || die "the control lcore could not be paused"
	finish
}

inside() {
	mode=$1 build=$2 out=$2/demo inside=1
	trap 'kill $(jobs -p) 2>/dev/null' EXIT
	cd "$out" || exit 1
	rm -f ./*.pcap ./*.log ping.*
	say "a wire: a veth pair, one end for the NIC, the other in a network namespace of its own"
	make_wire
	"demo_${mode//-/_}"
	say "all as it should be"
}

# ---- arguments ---------------------------------------------------------------------------------

if [ "${1:-}" = --inside ]; then
	shift
	inside "$@"
	exit
fi
for arg; do
	case $arg in
	--stopped) mode=stopped ;;
	--pause-lcore) mode=pause-lcore ;;
	--no-build) no_build=1 ;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		printf "demo: unknown option '%s'\n" "$arg" >&2
		usage >&2
		exit 2
		;;
	esac
done
[ -n "${no_build:-}" ] || prepare
enter
