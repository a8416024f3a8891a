#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# How fast the software ConnectX is, beside programs that do the same work without it. Run by hand:
#
#   meson devenv -C build ../tests/bench/softcx_speed.sh [SECONDS] [ROUNDS]
#
# Nothing is asserted. 64-byte frames (60 without the checksum on veth, where the kernel counts);
# each pair is measured in one run, in alternating order, ROUNDS times (3) of SECONDS each (4), and
# printed with the least, the middle and the largest ratio. The figures are those of a software
# model: they say nothing of any NIC.
. "$(dirname "$0")/../e2e/lib.sh"
SPAN=${SPAN:-${1:-4}} ROUNDS=${ROUNDS:-${2:-3}}
export SPAN ROUNDS
e2e_begin dpdk-testpmd stdbuf

MBUFS=16384 PMD_MB=256
PMD_EXPECT=. # a log line is no failure here

# pps PORT COUNTER: packets a second of that port of the running testpmd
pps()
{
	local first start

	xstats "$1"
	first=${XS[$2]}
	start=$(date +%s%N)
	sleep "$SPAN"
	xstats "$1"
	PPS=$(((XS[$2] - first) * 1000000000 / ($(date +%s%N) - start)))
}

# memif_start: two ports of one testpmd, joined by shared memory
memif_start()
{
	local vdevs=(--vdev "net_memif0,role=server,id=0,socket=$T/memif" --vdev
		"net_memif1,role=client,id=0,socket=$T/memif")

	plain_start memif "${vdevs[@]}" --single-file-segments
}

# plain_start NAME EAL-OPTIONS...: testpmd without softcx, up to the prompt
plain_start()
{
	local name=$1

	shift
	PMD_LOG=$T/$name.log
	: >"$PMD_LOG"
	rm -f "$T/$name.in"
	mkfifo "$T/$name.in"
	exec {PMD_FD}<>"$T/$name.in"
	stdbuf -oL dpdk-testpmd -l "$LCORES" --no-huge -m "$PMD_MB" --no-shconf --no-pci \
		--file-prefix "$name" "$@" -- -i --total-num-mbufs="$MBUFS" --forward-mode=io \
		<"$T/$name.in" >"$PMD_LOG" 2>&1 &
	PMD_PID=$!
	PMD_MARK=0
	pmd_sync 30 || die "testpmd did not reach its prompt"
}

# circle BURSTS: of 32 packets, which go round
circle()
{
	pmd_do "start tx_first $1"
	sleep 0.5
	pps 0 rx_good_packets
	pmd_do stop 20
	pmd_quit
}

loopback_mlx5()
{
	SCX=() DEVARGS=${1:-}
	pmd_start mlx5 --rxq=1 --txq=1 --rxd=1024 --txd=1024 --forward-mode=io
	circle 8
}

loopback_memif()
{
	memif_start
	circle 8
}

# As many packets on their way as carillon-testpmd's --tx-first sends
loopback_mlx5_burst()
{
	SCX=() DEVARGS=''
	pmd_start mlx5 --rxq=1 --txq=1 --rxd=1024 --txd=1024 --forward-mode=io
	circle 1
}

# What reaches the other end of the veth, by the kernel's count
flood()
{
	local first start

	pmd_do 'set fwd txonly'
	pmd_do start
	sleep 0.5
	first=$(peer_packets)
	start=$(date +%s%N)
	sleep "$SPAN"
	PPS=$((($(peer_packets) - first) * 1000000000 / ($(date +%s%N) - start)))
	pmd_do stop 20
	pmd_quit
}

peer_packets()
{
	ip -n peer -s -j link show dev w1 | sed 's/.*"rx":{[^}]*"packets":\([0-9]*\).*/\1/'
}

veth_mlx5()
{
	SCX=(--wire veth:w0) DEVARGS=''
	pmd_start veth --rxq=1 --txq=1 --rxd=1024 --txd=1024 --forward-mode=io
	flood
}

veth_af_packet()
{
	plain_start af_packet --vdev net_af_packet0,iface=w0
	flood
}

# The same frames round the same loopback, by an engine of ours on host threads
loopback_engine()
{
	local log=$T/engine.log

	timeout 60 "$SOFTCX" run -- "$CARILLON_TESTPMD" -l 0,1 --no-huge -m 256 --no-shconf \
		-a "${BDFS[0]}" -- --forward-mode=io --rings=host --rxq=1 --txq=1 --rxd=1024 \
		--txd=1024 --tx-first --duration="$((SPAN + 1))" --stats-period=1 >"$log" 2>&1 ||
		note "carillon-testpmd: status $?: $(tail -n 2 "$log")"
	PPS=$(sed -n 's/.*Rx-pps: *\([1-9][0-9]*\).*/\1/p' "$log" | sort -n | awk '
		{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : 0 }')
}

# versus LABEL A B ARGUMENT-OF-A: median packets a second of each, and the ratios A / B
versus()
{
	local label=$1 a=$2 b=$3 arg=${4:-} i ratios=() of_a=() of_b=()

	for ((i = 0; i < ROUNDS; i++)); do
		if [ $((i % 2)) = 0 ]; then
			$a $arg; of_a+=("$PPS"); $b; of_b+=("$PPS")
		else
			$b; of_b+=("$PPS"); $a $arg; of_a+=("$PPS")
		fi
		ratios+=("$(awk -v a="${of_a[-1]}" -v b="${of_b[-1]}" \
			'BEGIN { printf "%.2f\n", b ? a / b : 0 }')")
	done
	printf '%-44s %12s %12s   %s\n' "$label" "$(middle "${of_a[@]}")" "$(middle "${of_b[@]}")" \
		"$(printf '%s\n' "${ratios[@]}" | sort -n | xargs | awk '
			{ print $1 " / " $(int((NF + 1) / 2)) " / " $NF }')"
}

middle()
{
	printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

wire_make 1500
find_ports 1
echo "Rings, doorbell and NIC step: host memory, a CPU thread of the program's process; strict"
echo "checks on; $(nproc) cores, $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1);" \
	"load $(cut -d' ' -f1-3 /proc/loadavg);" "$ROUNDS rounds of $SPAN s"
printf '%-44s %12s %12s   %s\n' '' 'first, pps' 'second, pps' 'ratio: least / middle / largest'
versus 'testpmd io, softcx loopback : memif pair' loopback_mlx5 loopback_memif
versus '  the same, txq_mpw_en=0,txq_inline_max=0' loopback_mlx5 loopback_memif \
	txq_mpw_en=0,txq_inline_max=0
versus 'txonly to a veth, softcx : net_af_packet' veth_mlx5 veth_af_packet
if [ -n "${CARILLON_TESTPMD:=$(command -v carillon-testpmd)}" ]; then
	versus 'softcx loopback, our engine : testpmd io' loopback_engine loopback_mlx5_burst
else
	echo 'no carillon-testpmd: its engines are not measured'
fi
