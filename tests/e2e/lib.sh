# SPDX-License-Identifier: BSD-3-Clause
#
# What the end-to-end tests share. A test sources this file and calls e2e_begin, which starts it
# once more as the first process of network, mount and pid namespaces of its own: whatever way it
# ends, the kernel then removes every netdev, mount and process it made. Every wait has a bound.
#
# The programs under test are never changed: they are the distribution's, run under `softcx run`.
# Environment: SOFTCX (the program softcx), CRL_E2E=full (longer lists; default: short), CRL_SEED,
# CRL_SLOW (all waits this many times as long, for programs under sanitizers; default: 1),
# CRL_NIC_STEP (who steps the software ConnectX: cpu, remote or gpu; default: cpu).

set -u
E2E_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
SOFTCX=${SOFTCX:-softcx}
SEED=${CRL_SEED:-$((RANDOM * 32768 + RANDOM))}
FAILED=0

full()
{
	[ "${CRL_E2E:-}" = full ]
}

note()
{
	printf '%s: %s\n' "$NAME" "$*"
}

# A failure that does not hinder the rest of the test.
fail()
{
	FAILED=$((FAILED + 1))
	note "FAIL: $*" >&2
}

die()
{
	fail "$*"
	if [ -n "${PMD_LOG:-}" ] && [ -f "$PMD_LOG" ]; then
		tail -n 40 "$PMD_LOG" >&2
	fi
	exit 1
}

# Exit status 77 tells meson that the test could not run; the line says why.
skip()
{
	echo "SKIP: $*"
	exit 77
}

# is WHAT GOT WANTED
is()
{
	[ "$2" = "$3" ] || fail "$1: got $2, wanted $3"
}

# Program names that the test needs; starts the test again inside the namespaces.
e2e_begin()
{
	local p

	NAME=$(basename "$0" .sh)
	[ "$(id -u)" = 0 ] || skip "namespaces need root"
	for p in "$SOFTCX" "$@"; do
		command -v "$p" >/dev/null || skip "no program $p"
	done
	if [ -z "${E2E_INSIDE:-}" ]; then
		SOFTCX=$(command -v "$SOFTCX") E2E_INSIDE=1 CRL_SEED=$SEED \
			exec unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0"
	fi
	unset E2E_INSIDE
	mount -t sysfs sysfs /sys || skip "cannot mount sysfs"
	T=$(mktemp -d)
	for p in /run /dev/shm /var/tmp "$T"; do # in /var/tmp a killed net_mlx5 leaves a socket
		mount -t tmpfs tmpfs "$p" || skip "cannot mount a tmpfs"
	done
	trap e2e_end EXIT
	trap 'exit 143' TERM INT HUP
	ip link set lo up
}

e2e_end()
{
	local rc=$?

	trap - EXIT
	[ "$FAILED" = 0 ] || rc=1
	if [ "$rc" = 1 ] && [ -n "${E2E_KEEP:-}" ]; then
		cp -r "$T" "$E2E_KEEP"
	fi
	cd /
	umount -l "$T"
	rmdir "$T"
	[ "$rc" != 0 ] || note "ok"
	exit "$rc"
}

# wait_for SECONDS COMMAND...: 1 if the command did not succeed in that time
wait_for()
{
	local end=$((SECONDS + $1 * ${CRL_SLOW:-1} + 1))

	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

gone()
{
	! kill -0 "$1" 2>/dev/null
}

# descendants PID [COMMAND]: PID and the processes below it; with COMMAND only those of that name
descendants()
{
	ps -eo pid=,ppid=,comm= | awk -v top="$1" -v name="${2:-}" '
		{ parent[$1] = $2; comm[$1] = $3 }
		END {
			for (p in parent) {
				for (q = p; q != top && q in parent; q = parent[q])
					;
				if (q == top && (name == "" || comm[p] == name))
					print p
			}
		}'
}

# stop_pid PID [SECONDS]: SIGINT, then SIGKILL; its exit status in RC
stop_pid()
{
	kill -INT "$1" 2>/dev/null
	wait_for "${2:-5}" gone "$1" || kill -KILL "$1" 2>/dev/null
	wait "$1"
	RC=$?
}

# PCI addresses of the ports that softcx makes, in BDFS
find_ports()
{
	local list='ls "$SYSFS_PCI_DEVICES"'

	mapfile -t BDFS < <("$SOFTCX" run --ports "$1" -- sh -c "$list" 2>/dev/null | sort)
	[ "${#BDFS[@]}" -ge "$1" ] || die "softcx shows ${#BDFS[@]} PCI devices, wanted $1"
}

# wire_make MTU: a veth pair; w0 is the NIC's end, w1 the peer's, in a network namespace of its own
wire_make()
{
	ip netns add peer || die "no network namespace"
	ip link add w0 mtu "$1" type veth peer name w1 mtu "$1" || die "no veth pair"
	ip link set w1 netns peer
	ip link set w0 addrgenmode none arp off up
	ip -n peer link set lo up
	ip -n peer link set w1 addrgenmode none up
}

peer()
{
	ip netns exec peer "$@"
}

wire_py()
{
	python3 "$E2E_DIR/wire.py" "$@"
}

# exchange IN OUT OPTIONS...: from the peer's end of the wire, wire.py's verb
exchange()
{
	peer python3 "$E2E_DIR/wire.py" exchange w1 "$@"
}

#
# testpmd, spoken to through its prompt. Set before pmd_start: SCX (options of softcx run), PORTS,
# DEVARGS (of every port), LCORES, MBUFS, PMD_MB, EAL. Rings are large unless the options say otherwise:
# a sender that has waited for a busy machine sends what it missed at once.
#
SCX=() BDFS=() PORTS=1 DEVARGS='' LCORES=0,1 MBUFS=20000 PMD_MB=192 EAL=()

# pmd_start NAME TESTPMD-OPTIONS...: up to the prompt
pmd_start()
{
	local name=$1 b allow=()

	shift
	[ "${#BDFS[@]}" -ge "$PORTS" ] || find_ports "$PORTS"
	for b in "${BDFS[@]:0:PORTS}"; do
		allow+=(-a "$b${DEVARGS:+,$DEVARGS}")
	done
	PMD_LOG=$T/$name.log
	: >"$PMD_LOG"
	rm -f "$T/$name.in"
	mkfifo "$T/$name.in"
	exec {PMD_FD}<>"$T/$name.in"
	"$SOFTCX" run --ports "$PORTS" --nic-step "${CRL_NIC_STEP:-cpu}" "${SCX[@]}" -- \
		stdbuf -oL dpdk-testpmd -l "$LCORES" --no-huge -m "$PMD_MB" --no-shconf \
		--file-prefix "$name" "${allow[@]}" \
		"${EAL[@]}" -- -i --total-num-mbufs="$MBUFS" \
		--rxd=2048 --txd=2048 "$@" <"$T/$name.in" >"$PMD_LOG" 2>&1 &
	PMD_PID=$!
	PMD_MARK=0
	pmd_sync 30 || die "testpmd did not reach its prompt"
}

pmd_say()
{
	printf '%s\n' "$1" >&"$PMD_FD"
}

pmd_reached()
{
	grep -q "# mark $1" "$PMD_LOG" || gone "$PMD_PID"
}

# Until all that was said is done: testpmd echoes a comment line after the command before it.
pmd_sync()
{
	PMD_MARK=$((PMD_MARK + 1))
	pmd_say "# mark $PMD_MARK"
	wait_for "${1:-10}" pmd_reached "$PMD_MARK" && ! gone "$PMD_PID"
}

# pmd_do COMMAND [SECONDS]: what it printed is in PMD_OUT
pmd_do()
{
	local from

	from=$(stat -c %s "$PMD_LOG")
	pmd_say "$1"
	pmd_sync "${2:-10}" || die "testpmd does not answer after '$1'"
	PMD_OUT=$(tail -c +"$((from + 1))" "$PMD_LOG" | tr -d '\r')
}

# xstats PORT: all extended counters, in XS[name]
declare -A XS
xstats()
{
	local k v

	pmd_do "show port xstats $1"
	XS=()
	while IFS=': ' read -r k v; do
		[[ $v =~ ^[0-9]+$ ]] && XS[$k]=$v
	done <<<"$PMD_OUT"
	[ "${#XS[@]}" -gt 5 ] || die "no extended statistics of port $1"
}

# xstat_wait PORT NAME VALUE SECONDS: wait until the counter has that value
xstat_equal()
{
	xstats "$1"
	[ "${XS[$2]}" = "$3" ]
}

xstat_wait()
{
	wait_for "$4" xstat_equal "$1" "$2" "$3" || fail "port $1 $2: ${XS[$2]}, wanted $3"
}

# counters_clear PORT|all: net_mlx5's own counts and the device's have a command each
counters_clear()
{
	pmd_do "clear port stats $1"
	pmd_do "clear port xstats $1"
}

pmd_quit()
{
	pmd_say quit
	wait_for 15 gone "$PMD_PID" || fail "testpmd does not quit"
	kill -KILL "$PMD_PID" 2>/dev/null
	wait "$PMD_PID"
	RC=$?
	exec {PMD_FD}>&-
	[ "$RC" = 0 ] || { fail "testpmd ended with status $RC"; tail -n 20 "$PMD_LOG" >&2; }
	pmd_clean
}

# The log of a run in which nothing was done wrong names no refusal and no driver error.
pmd_clean()
{
	local wrong='refused|mlx5_(net|common): .*(fail|error|unable)|PANIC|Segmentation'

	if grep -niE "$wrong" "$PMD_LOG" | grep -vE "${PMD_EXPECT:-^$}" >"$T/complaints"; then
		fail "complaints in the log of $(basename "$PMD_LOG"):"
		head -n 10 "$T/complaints" >&2
	fi
}

# wire_clean PCAP [WHAT]: Wireshark's word on a capture: nothing malformed, no bad checksum. The
# payloads are random, so only the protocols that the test speaks are dissected.
wire_clean()
{
	local p wrong=_ws.malformed options=()
	local known='frame|eth|ethertype|vlan|ieee8021ad|ip|ipv6|ipv6\..*|udp|tcp|icmp|icmpv6|arp|data|llc'

	export WIRESHARK_CONFIG_DIR=$T/wireshark
	if [ ! -d "$WIRESHARK_CONFIG_DIR" ]; then
		mkdir "$WIRESHARK_CONFIG_DIR"
		tshark -G protocols 2>/dev/null | cut -f 3 | grep -vxE "$known" \
			>"$WIRESHARK_CONFIG_DIR/disabled_protos"
	fi
	for p in ip udp tcp; do
		options+=(-o "$p.check_checksum:TRUE")
	done
	for p in ip udp tcp icmp icmpv6; do
		wrong+=" || $p.checksum.status == 0"
	done
	tshark -n -r "$1" "${options[@]}" -Y "$wrong" >"$T/tshark" 2>"$T/tshark.err" ||
		fail "tshark cannot read $1: $(cat "$T/tshark.err")"
	[ ! -s "$T/tshark" ] || { fail "${2:-$1}: tshark objects:"; head -n 5 "$T/tshark" >&2; }
}
