# SPDX-License-Identifier: BSD-3-Clause
# What cases share, in the guest: read by /init before the case. busybox's shell.

# The NIC's netdev, up, in n; its PCI address in dev.
nic_up() {
	n=$(ls /sys/class/net | grep -v '^lo$' | head -1)
	[ -n "$n" ] || { echo "GUEST no netdev"; return 1; }
	dev=$(basename "$(readlink /sys/class/net/$n/device)")
	ip link set lo up
	ip link set $n up
}

# until_true TENTHS COMMAND...
until_true() {
	left=$1
	shift
	until "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.1
	done
}

running() { [ -d /proc/$pid ]; }
in_log() { grep -q "$1" /tmp/log || ! running; }

# testpmd's count of that name, of the last statistics in the log
count() {
	v=$(grep -o "$1: *[0-9]*" /tmp/log | tail -1)
	v=${v##* }
	echo "${v:-0}"
}
has() { [ "$(count "$1")" -ge "$2" ] || ! running; }

# carillon OPTIONS...: testpmd over Carillon's queues, in the background; says up when it forwards.
carillon() {
	echo "GUEST sha256 $(sha256sum "$(readlink /programs/carillon-testpmd)")"
	: > /tmp/log # by this shell: the program's own comes late on a busy machine, and the last one's words are there
	carillon-testpmd --lcores 0@0,1@0 -a $dev -- --stats-period=1 "$@" > /tmp/log 2>&1 &
	pid=$!
	until_true 300 in_log 'NIC statistics' && running && echo "GUEST up" && return
	cat /tmp/log
	echo "GUEST carillon-testpmd does not start"
	return 1
}

# Ends it, if it has not ended; its exit status is in status.
carillon_end() {
	kill -INT $pid 2> /dev/null
	wait $pid
	status=$?
	grep -vE '^$|####|Throughput|Rx-pps|Tx-pps' /tmp/log | tail -40
	echo "GUEST carillon-testpmd ended with $status"
}

# testpmd OPTIONS...: Debian's, in the background; says up when it forwards.
testpmd() {
	echo "GUEST sha256 $(sha256sum "$(readlink /programs/dpdk-testpmd)")"
	: > /tmp/log
	dpdk-testpmd --lcores 0@0,1@0 -a $dev -- --stats-period=1 --total-num-mbufs=8192 "$@" \
		> /tmp/log 2>&1 < /dev/null &
	pid=$!
	until_true 300 in_log 'NIC statistics' && running && echo "GUEST up" && return
	cat /tmp/log
	echo "GUEST dpdk-testpmd does not start"
	return 1
}

testpmd_end() {
	kill -INT $pid 2> /dev/null
	wait $pid
	status=$?
	grep -vE '^$|####|Throughput|Rx-pps|Tx-pps' /tmp/log | tail -60
	echo "GUEST dpdk-testpmd ended with $status"
}
