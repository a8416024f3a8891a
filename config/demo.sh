#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The main job, shown from a bare Debian 12: installs, builds, then lets Linux's own ping talk to an
# engine of Carillon's through a software ConnectX.
#
#     ping, UDP client  --  veth  --  softcx  --  rings  --  engine
#     (a network namespace)           (in the place of a ConnectX)
#
# usage: config/demo.sh [--stopped | --pause-lcore]
#   (nothing)       ping v4 and v6 and a UDP client: nothing may be lost
#   --stopped       the counter-proof: the engine is stopped, so the same pings must all be lost
#   --pause-lcore   the control lcore stands still for 2 s under the pings: nothing may be lost
# Needs root, sudo, or a kernel that lets users make namespaces. Everything runs in namespaces of its
# own, so nothing is left behind, whichever way it ends. What stays: build/, .deps/ and the capture,
# build/demo/wire.pcap. Exit status 0: all was as it should be.
set -uo pipefail
export LC_ALL=C

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${CRL_BUILD:-$top/build}
out=$build/demo
mode=plain
count=100

say() { printf '\ndemo: %s\n' "$*"; }
die() {
	printf 'demo: %s\n' "$1" >&2
	[ -z "${inside:-}" ] || printf 'demo: what the programs said is in %s\n' "$out/engine.log" >&2
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
		grep -E -A5 'FAILED|error' "$build/demo.log" | head -n 40
		die "the build failed; all of its output is in $build/demo.log"
	}
}

enter() {
	local unshare=(unshare --net --mount --pid --fork --kill-child --mount-proc)
	mkdir -p "$out"
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

start_engine() {
	local what=$1
	shift
	say "$what: softcx run --wire veth:nic0 --pcap-out wire.pcap -- $*"
	: >"$out/engine.log"
	rm -f prompt && mkfifo prompt && exec {prompt}<>prompt && rm prompt || die "no pipe for the prompt"
	softcx run --wire veth:nic0 --pcap-out "$out/wire.pcap" -- stdbuf -oL "$@" \
		<&"$prompt" >>"$out/engine.log" 2>&1 &
	engine=$!
	tail -n +1 -F -s 0.2 --pid "$engine" "$out/engine.log" 2>/dev/null |
		sed -u 's/\x1b\[[0-9;]*[A-Za-z]//g; s/^/    | /' &
	wait_until 30 answers_or_gone || die "no answer from the engine within 30 s"
	kill -0 "$engine" 2>/dev/null || die "the engine's program ended by itself"
	engine_pid=$(pgrep -n -x "$(basename "$1" | cut -c1-15)") || die "there is no process $1"
}

answers_or_gone() { ! kill -0 "$engine" || answers; }
answers() { kill -0 "$engine" && peer ping -c 1 -W 1 10.0.0.2; }

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

# A UDP client of the peer's: every datagram must come back from the engine as it was sent.
udp_client() {
	peer /usr/bin/python3 - "$1" "$2" <<-'PY'
		import os, socket, sys
		target, count = sys.argv[1], int(sys.argv[2])
		family = socket.AF_INET6 if ":" in target else socket.AF_INET
		client = socket.socket(family, socket.SOCK_DGRAM)
		client.settimeout(1)
		client.connect((target, 7))
		back = 0
		for i in range(count):
		    sent = i.to_bytes(4, "big") + os.urandom(i % 1400)
		    client.send(sent)
		    try:
		        back += client.recv(2048) == sent
		    except (TimeoutError, ConnectionRefusedError):
		        pass
		print(f"demo: UDP to {target}: {count} datagrams sent, {back} came back as they were")
		sys.exit(back != count)
	PY
}

# Wireshark's word on what went over the wire.
judge_capture() {
	local bad frames
	frames=$(tshark -n -r "$out/wire.pcap" 2>/dev/null | wc -l)
	bad=$(tshark -n -r "$out/wire.pcap" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -Y '_ws.malformed ||
		ip.checksum.status == 0 || udp.checksum.status == 0 || icmp.checksum.status == 0 ||
		icmpv6.checksum.status == 0' 2>/dev/null | wc -l)
	[ "$frames" -gt 0 ] || die "the capture $out/wire.pcap is empty"
	[ "$bad" -eq 0 ] || die "Wireshark objects to $bad of $frames frames in $out/wire.pcap"
	say "Wireshark read $frames frames of the capture and objects to none: build/demo/wire.pcap"
}

# The program as anybody would start it; its prompt (-i) is only there for --stopped.
engine_command() {
	pmd=(carillon-testpmd -l 0,1 --no-huge -m 256 --no-shconf --file-prefix crl-demo
		-- --forward-mode=icmpecho --auto-start --stats-period=1)
	[ "$mode" != stopped ] || pmd+=(-i)
}

demo_plain() {
	say "Linux's own ping, $count each by IPv4 and IPv6, from the namespace at the wire's other end"
	interval=0.02
	pings 0
}

# The NIC goes on, and nobody takes what it receives.
demo_stopped() {
	count=20 interval=0.1
	say "stop the engine, by testpmd's command; the same pings, $count each"
	echo stop >&"$prompt"
	wait_until 10 grep -q '^Done' "$out/engine.log" || die "the engine did not stop"
	pings 100
	say "start it again: it answers"
	echo start >&"$prompt"
	wait_until 10 answers || die "the engine does not answer any more"
}

demo_pause_lcore() {
	interval=0.04
	say "the control lcore stands still for 2 s, in the middle of $count pings each by IPv4 and IPv6"
	(
		sleep 0.5
		"$build/tests/tools/pause-thread" "$engine_pid" main 2
	) &
	local paused=$!
	pings 0
	wait "$paused" || die "the control lcore could not be paused"
}

inside() {
	mode=$1 build=$2 out=$2/demo inside=1
	trap 'kill $(jobs -p) 2>/dev/null' EXIT
	cd "$out" || exit 1
	rm -f wire.pcap engine.log ping.*
	say "a wire: a veth pair, one end for the NIC, the other in a network namespace of its own"
	make_wire
	engine_command
	start_engine "the NIC and the engine" "${pmd[@]}"
	"demo_${mode//-/_}"
	say "stop (SIGINT)"
	stop_engine
	judge_capture
	say "all as it should be"
}

# ---- arguments ---------------------------------------------------------------------------------

case ${1:-} in
--inside)
	shift
	inside "$@"
	exit
	;;
'') ;;
--stopped) mode=stopped ;;
--pause-lcore) mode=pause-lcore ;;
-h | --help)
	usage
	exit 0
	;;
*)
	printf "demo: unknown option '%s'\n" "$1" >&2
	usage >&2
	exit 2
	;;
esac
[ $# -le 1 ] || die "one option at most"
prepare
enter
